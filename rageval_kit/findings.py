"""Findings and the report that gathers them: what is wrong, where, and what to do."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rageval_kit.messages import printable
from rageval_kit.rankings import Hits
from rageval_kit.wording import say, say_count, say_some

_ERRORS, _WARNINGS = 20, 5  # how many are printed; warnings often repeat one thing


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (``error``) or doubtful (``warning``): where, what, and its cure."""

    severity: str
    kind: str
    where: str
    what: str
    cure: str

    def __str__(self) -> str:
        end = "" if self.cure.endswith("?") else "."
        return printable(f"{self.where}: {self.what}. {self.cure}{end}")


@dataclass(frozen=True, repr=False)
class Report:
    """What a check found. ``len(report)`` is the number of errors; ``print`` shows all.

    Attributes:
        findings: the errors and warnings.
        checked: what was looked at, in words.
    """

    findings: list[Finding]
    checked: str

    @property
    def errors(self) -> list[str]:
        """The errors, a sentence each: metrics would be wrong or impossible."""
        return [str(finding) for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[str]:
        """The warnings, a sentence each: metrics can be computed but may mislead."""
        return [str(finding) for finding in self.findings if finding.severity == "warning"]

    def __len__(self) -> int:
        return len(self.errors)

    def __repr__(self) -> str:
        return f"Report(errors={len(self.errors)}, warnings={len(self.warnings)})"

    def __str__(self) -> str:
        verdict = "[FAIL]" if self.errors else "[OK]"
        errors, warnings = self.errors, self.warnings
        counts = f"{say_count(len(errors), 'error')}, {say_count(len(warnings), 'warning')}"
        lines = [f"{verdict} {self.checked}: {counts}"]

        # The errors, then the warnings, as many as one reads.
        more_errors = say_count(len(errors) - _ERRORS, "more error")
        more_warnings = say_count(len(warnings) - _WARNINGS, "more warning")
        for name, sentences, most, more in (
            (say("error"), errors, _ERRORS, more_errors),
            (say("warning"), warnings, _WARNINGS, more_warnings),
        ):
            lines += [f"  {name}: {sentence}" for sentence in sentences[:most]]
            if len(sentences) > most:
                lines.append(say("  ... and {more}: report.to_frame() lists all", more=more))
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a finding: ``severity, kind, where, what, cure``."""
        return pd.DataFrame(self.findings, columns=list(Finding.__dataclass_fields__))

    def raise_if_errors(self) -> None:
        """Raise ValueError with the whole report if there is an error."""
        if self.errors:
            raise ValueError(str(self))


def print_report(report: Report | str) -> None:
    r"""Print it; a letter that the output cannot show, as ascii and cp949, becomes ``\xe9``."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(str(report).encode(encoding, "backslashreplace").decode(encoding))


# ---------------------------------------------------------------- of rankings


def order_findings(
    found: Hits, query_ids: pd.Index, lower_is_better: bool | None
) -> Iterator[Finding]:
    """Find rankings that are not in the order of their scores.

    Args:
        found: the hits, by row and rank.
        query_ids: the queries of the rows.
        lower_is_better: the scores' direction, where it is known.
    """
    steps = np.diff(found.scores)
    within = np.diff(found.rows) == 0
    n = len(query_ids)
    rises = np.bincount(found.rows[1:][within & (steps > 0)], minlength=n) > 0
    falls = np.bincount(found.rows[1:][within & (steps < 0)], minlength=n) > 0
    mixed = query_ids[rises & falls].tolist()
    rising, falling = query_ids[rises & ~falls].tolist(), query_ids[falls & ~rises].tolist()

    if mixed:
        what = say("the scores neither fall nor rise along the ranking")
        cure = say("Order the hits by their score: falling for a similarity, rising for a distance")
        yield Finding("error", "order", say_some(mixed), what, cure)
    if lower_is_better is None and rising and falling:
        if len(rising) <= len(falling):
            what = say("the scores rise here and fall in other queries")
        else:
            what = say("the scores fall here and rise in other queries")
        fewer, cure = min(rising, falling, key=len), say("Order all rankings alike: best first")
        yield Finding("error", "order", say_some(fewer), what, cure)
    if lower_is_better and falling:
        what = say(
            "the scores are distances (lower is better) and fall along the ranking: the worst come "
            "first"
        )
        yield Finding("error", "order", say_some(falling), what, say("Order distances rising"))
    if lower_is_better is False and rising:
        what = say(
            "the scores are similarities (higher is better) and rise along the ranking: the worst "
            "come first"
        )
        yield Finding("error", "order", say_some(rising), what, say("Order similarities falling"))


def same_ranking(found: Hits, query_ids: pd.Index) -> Iterator[Finding]:
    """Find queries that all have the same ranking of two documents and more."""
    lengths = np.bincount(found.rows, minlength=len(query_ids))
    depth = int(lengths[0])
    if len(query_ids) < 2 or depth < 2 or (lengths != depth).any():
        return
    rankings = found.docs.reshape(-1, depth)
    if (rankings == rankings[0]).all():
        what = say("all {n} queries have the same ranking", n=len(query_ids))
        cure = say("Look at how queries are embedded: the question may not reach the model")
        yield Finding("warning", "same ranking", "results", what, cure)
