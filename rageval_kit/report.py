"""Findings and the report that gathers them: what is wrong, where, and what to do."""

from dataclasses import asdict, dataclass

import pandas as pd

from rageval_kit.checks import count

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
        for name, sentences, most in (("error", self.errors, _ERRORS), ("warning", self.warnings, _WARNINGS)):
            lines += [f"  {name}: {sentence}" for sentence in sentences[:most]]
            if len(sentences) > most:
                lines.append(f"  ... and {count(len(sentences) - most, f'more {name}')}: report.to_frame() lists all")
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a finding: ``severity, kind, where, what, cure``."""
        columns = list(Finding.__dataclass_fields__)
        return pd.DataFrame([asdict(finding) for finding in self.findings], columns=columns)

    def raise_if_errors(self) -> None:
        """Raise ValueError with the whole report if there is an error."""
        if self.errors:
            raise ValueError(str(self))
