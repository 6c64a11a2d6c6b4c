"""Findings and the report that gathers them: what is wrong, where, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import pandas as pd

from rageval_kit.messages import count, name_some

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
        return f"{self.where}: {self.what}. {self.cure}{'' if self.cure.endswith('?') else '.'}"


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
        counts = f"{count(len(self.errors), 'error')}, {count(len(self.warnings), 'warning')}"
        lines = [f"{verdict} {self.checked}: {counts}"]
        for name, sentences, most in (
            ("error", self.errors, _ERRORS),
            ("warning", self.warnings, _WARNINGS),
        ):
            lines += [f"  {name}: {sentence}" for sentence in sentences[:most]]
            if len(sentences) > most:
                lines.append(
                    f"  ... and {count(len(sentences) - most, f'more {name}')}: report.to_frame() lists all"
                )
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a finding: ``severity, kind, where, what, cure``."""
        columns = list(Finding.__dataclass_fields__)
        return pd.DataFrame([asdict(finding) for finding in self.findings], columns=columns)

    def raise_if_errors(self) -> None:
        """Raise ValueError with the whole report if there is an error."""
        if self.errors:
            raise ValueError(str(self))


# ---------------------------------------------------------------- what cannot be

Rankings = Mapping[Any, Sequence[Mapping[str, Any]]]

# A mean over queries and a sum of doubles differ from the exact value in the last digits.
_ROUNDING = 1e-9
_IN_0_TO_1 = ("HitRate", "MRR", "nDCG", "Precision", "Recall", "MAP", "F1", "Judged")


def ranking_findings(rankings: Rankings, lower_is_better: bool | None = None) -> Iterator[Finding]:
    """Find rankings that are not in the order of their scores, or that are all the same.

    Args:
        rankings: the lecture's dict of lists of hits, best first.
        lower_is_better: the scores' direction, where it is known.
    """
    yield from _order(rankings, lower_is_better)
    documents = [tuple(hit["doc_id"] for hit in ranking) for ranking in rankings.values()]
    if len(documents) > 1 and len(documents[0]) > 1 and len(set(documents)) == 1:
        what = f"all {len(documents)} queries have the same ranking"
        cure = "Look at how queries are embedded: the question may not reach the model"
        yield Finding("warning", "same ranking", "results", what, cure)


def _order(rankings: Rankings, lower_is_better: bool | None) -> Iterator[Finding]:
    rising, falling, mixed = [], [], []
    for query_id, ranking in rankings.items():
        scores = [hit["score"] for hit in ranking if hit.get("score") is not None]
        rises = any(later > earlier for earlier, later in pairwise(scores))
        falls = any(later < earlier for earlier, later in pairwise(scores))
        if rises and falls:
            mixed.append(query_id)
        elif rises:
            rising.append(query_id)
        elif falls:
            falling.append(query_id)
    if mixed:
        what = "the scores neither fall nor rise along the ranking"
        cure = "Order the hits by their score: falling for a similarity, rising for a distance"
        yield Finding("error", "order", name_some(mixed), what, cure)
    if lower_is_better is None and rising and falling:
        fewer = min(rising, falling, key=len)
        what = "the scores run the other way than those of the other queries"
        yield Finding(
            "error", "order", name_some(fewer), what, "Order all rankings alike: best first"
        )
    if lower_is_better and falling:
        what = "the scores are distances (lower is better) and fall along the ranking: the worst come first"
        yield Finding("error", "order", name_some(falling), what, "Order distances rising")
    if lower_is_better is False and rising:
        what = "the scores are similarities (higher is better) and rise along the ranking: the worst come first"
        yield Finding("error", "order", name_some(rising), what, "Order similarities falling")


def score_findings(summary: pd.DataFrame) -> Iterator[Finding]:
    """Find what no averages can be: outside 0..1, MRR above HitRate, or a metric that falls where it can only rise.

    Args:
        summary: a row a metric, a column a cutoff, as `evaluate` returns it (or copied from a publication).
    """
    table = {str(metric): _by_cutoff(values) for metric, values in summary.iterrows()}
    for metric, values in table.items():
        for k, value in values.items():
            if metric in _IN_0_TO_1 and not -_ROUNDING <= value <= 1 + _ROUNDING:
                what = f"{value:.4g} is outside 0..1"
                cure = "Look for repeated documents, or for a denominator that forgets relevant documents"
                yield Finding("error", "range", f"{metric}@{k}", what, cure)
        for (k, value), (deeper, later) in pairwise(values.items()):
            if metric in ("HitRate", "MRR", "Recall", "MAP") and later < value - _ROUNDING:
                what = f"falls from {value:.4g} at k={k} to {later:.4g} at k={deeper}, and can only rise with k"
                yield Finding(
                    "error", "falls with k", metric, what, "Is a distance sorted descending?"
                )
    for k, hit in table.get("HitRate", {}).items():
        rr = table.get("MRR", {}).get(k, 0.0)
        if rr > hit + _ROUNDING:
            what = f"MRR {rr:.4g} is above HitRate {hit:.4g}, and 1 / rank is at most 1 where something was found"
            yield Finding(
                "error", "MRR above HitRate", f"k={k}", what, "Average both over the same queries"
            )


def _by_cutoff(values: pd.Series) -> dict[int, float]:
    """Return the known values by cutoff, in order; columns read from a file are texts."""
    cutoffs = {
        int(str(k)): float(value) for k, value in values.dropna().items() if str(k).isdecimal()
    }
    return dict(sorted(cutoffs.items()))
