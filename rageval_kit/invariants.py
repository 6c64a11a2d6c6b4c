"""What no table of averages can show: cheap to check, and a sure sign of a mistake."""

from collections.abc import Iterator
from itertools import pairwise

import pandas as pd

from rageval_kit.findings import Finding
from rageval_kit.formulas import Metric, find_metric
from rageval_kit.wording import say, to_say

# A mean over queries and a sum of doubles differ from the exact value in the last digits.
_ROUNDING = 1e-9
_TOO_LARGE = to_say(
    "Look for repeated documents, or for a denominator that forgets relevant documents"
)


def score_findings(summary: pd.DataFrame) -> Iterator[Finding]:
    """Find averages outside 0..1, MRR above HitRate, or a metric that falls where it can only rise.

    Args:
        summary: a row a metric, a column a cutoff, as `evaluate` returns it.
    """
    table = {str(metric): _by_cutoff(values) for metric, values in summary.iterrows()}
    for name, values in table.items():
        metric = metric_called(name)
        if metric is None:
            continue
        for k, value in values.items():
            if metric.is_share and not -_ROUNDING <= value <= 1 + _ROUNDING:
                what = say("{value:.4g} is outside 0..1", value=value)
                yield Finding("error", "range", f"{name}@{k}", what, say(_TOO_LARGE))
        for (k, value), (deeper, later) in pairwise(values.items()):
            if metric.rises and later < value - _ROUNDING:
                what = say(
                    "falls from {value:.4g} at k={k} to {later:.4g} at k={deeper}, and can only "
                    "rise with k",
                    value=value,
                    k=k,
                    later=later,
                    deeper=deeper,
                )
                cure = say("Is a distance sorted descending?")
                yield Finding("error", "falls with k", name, what, cure)

    for k, hit in table.get("HitRate", {}).items():
        rr = table.get("MRR", {}).get(k, 0.0)
        if rr > hit + _ROUNDING:
            what = say(
                "MRR {rr:.4g} is above HitRate {hit:.4g}, and 1 / rank is at most 1 where "
                "something was found",
                rr=rr,
                hit=hit,
            )
            cure = say("Average both over the same queries")
            yield Finding("error", "MRR above HitRate", f"k={k}", what, cure)


def metric_called(name: str) -> Metric | None:
    """Return the metric whose means stand in a row of this name; None for one of the user's."""
    try:
        return find_metric(name).metric
    except ValueError:
        return None


def _by_cutoff(values: pd.Series) -> dict[int, float]:
    """Return the known values by cutoff, in order; columns read from a file are texts."""
    known = values.dropna().items()
    return dict(sorted((int(str(k)), float(value)) for k, value in known if str(k).isdecimal()))
