"""Is one run really better than another? Intervals, tests and verdicts over the queries.

The unit is the query: every interval and test resamples queries, the same ones for every run.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Unpack

import numpy as np
import pandas as pd

from rageval_kit.formulas import NAMES_OF_MEANS, THE_FIVE
from rageval_kit.inputs import ResultsLike, as_rankings, queries_and_depth, read_judgements
from rageval_kit.messages import as_cutoff, count, name_some
from rageval_kit.metrics import Metrics, as_columns, per_query
from rageval_kit.records import Records, as_records
from rageval_kit.relevance import Policies

Runs: TypeAlias = Mapping[str, ResultsLike]

_LEVEL = 0.05  # two-sided: 95 % intervals, verdicts at p < 0.05 after Holm's correction
_POWER = 0.8  # for the number of queries that could tell
_CELLS = 4_000_000  # resampled queries held in memory at a time
_ROUNDING = 1e-12  # of a mean of values between 0 and 1


def compare(
    runs: Runs,
    all_qa: Records,
    k: int = 10,
    baseline: str | None = None,
    metrics: Metrics = THE_FIVE,
    resamples: int = 10_000,
    seed: int = 0,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Compare runs with a baseline: a row a metric and run, with intervals, a test and a verdict.

    Args:
        runs: ``{"name": results, ...}``, all searched with the same queries and to the same depth.
        all_qa: see `relevance_matrix`. Queries for which a metric is NaN are left out for every run.
        k: the cutoff of metrics that are named without one.
        baseline: the run that the others are compared with; None means the first.
        metrics: see `per_query`.
        resamples: how often queries are resampled (bootstrap) and signs are flipped (test).
        seed: of the random numbers; the same seed gives the same table.
        policies: see `Policies`.

    Returns:
        Indexed by metric and run:

        * ``mean``, ``low``, ``high``: the mean over queries and its 95 % percentile bootstrap interval;
        * ``difference``, ``difference_low``, ``difference_high``: to the baseline, interval paired;
        * ``p``: of the two-sided paired randomization test (Fisher), ``p_holm`` after Holm's correction
          over all comparisons of the table;
        * ``wins, ties, losses``: queries on which the run is better, equal, worse;
        * ``effect_size``: mean difference / its standard deviation over queries (Cohen's d for pairs);
        * ``verdict``: better, worse, or cannot tell, then with about how many queries could: 80 % power
          for the difference seen, at the level that Holm's correction starts from.

    >>> all_qa = [{"query_id": f"q{i}", "relevant_doc_ids": ["A"]} for i in range(40)]
    >>> first = {f"q{i}": [{"doc_id": "A"}, {"doc_id": "B"}] for i in range(40)}
    >>> second = {f"q{i}": [{"doc_id": "B"}, {"doc_id": "A"}] for i in range(40)}
    >>> table = compare({"old": second, "new": first}, all_qa, k=2, metrics=["RR"])
    >>> table.loc["MRR@2", ["mean", "difference", "wins", "verdict"]]
          mean  difference  wins   verdict
    run
    old    0.5         NaN  <NA>  baseline
    new    1.0         0.5    40    better

    Raises:
        ValueError: fewer than two runs, runs of other queries or another depth, no such baseline.
    """
    columns = as_columns(metrics, k)
    deepest = max(
        (column.cutoff for column in columns if column.cutoff != "R"), default=as_cutoff(k)
    )
    baseline = _check(runs, all_qa, deepest, baseline)
    tables = {
        name: per_query(all_qa, results, k, metrics, **policies) for name, results in runs.items()
    }
    values = np.stack(
        [table.to_numpy() for table in tables.values()], axis=1
    )  # (queries, runs, metrics)
    rows = compare_values(
        values,
        list(runs),
        list(runs).index(baseline),
        [column.label for column in columns],
        as_cutoff(resamples, "resamples"),
        np.random.default_rng(seed),
    )
    table = pd.DataFrame(rows).set_index(["metric", "run"])
    tested = table.index.get_level_values("run") != baseline
    table.loc[tested, "p_holm"] = holm(table.loc[tested, "p"].to_numpy())
    n_compared = int(tested.sum())
    if n_compared / (resamples + 1) >= _LEVEL:  # the least p there can be, after the correction
        least = round(n_compared / _LEVEL)
        raise ValueError(
            f"resamples={resamples} cannot tell {count(n_compared, 'comparison')}: use more than {least:,}."
        )
    table = table.astype(dict.fromkeys(["wins", "ties", "losses"], "Int64"))
    table["verdict"] = [_verdict(row, n_compared) for row in table.to_dict("records")]
    table.attrs = tables[baseline].attrs | {
        "baseline": baseline,
        "resamples": resamples,
        "seed": seed,
        "comparisons": n_compared,
    }
    return table


def _check(runs: Runs, all_qa: Records, k: int, baseline: str | None) -> str:
    """Refuse runs that cannot be compared, and return the baseline's name."""
    if not isinstance(runs, Mapping) or len(runs) < 2:
        raise ValueError(
            'compare needs at least two runs: compare({"name": results, "other": results}, all_qa).'
        )
    if baseline is not None and baseline not in runs:
        raise ValueError(f"No run is called {baseline!r}; there are: {', '.join(runs)}.")
    queries = set(read_judgements(all_qa).query_ids)
    found = {name: queries_and_depth(results) for name, results in runs.items()}
    reference = next(iter(found))
    for name, (its_queries, depth) in found.items():
        other = (its_queries ^ found[reference][0]) & queries
        if other:
            raise ValueError(
                f"The runs {reference!r} and {name!r} differ in {count(len(other), 'query')}: "
                f"{name_some(sorted(other, key=str))}. Search both with the same queries."
            )
        if min(depth, k) != min(found[reference][1], k):
            raise ValueError(
                f"The run {reference!r} has {found[reference][1]} hits a query and {name!r} has {depth}: "
                f"neither comparison would be fair at k={k}. Search both with the same k."
            )
    return baseline if baseline is not None else reference


def compare_values(
    values: np.ndarray,
    names: Sequence[str],
    base: int,
    labels: Sequence[str],
    resamples: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return a row a metric and run; values: (queries, runs, metrics)."""
    rows: dict[int, list[dict[str, Any]]] = {}
    missing = np.isnan(values).any(axis=1)  # (queries, metrics)
    for pattern in dict.fromkeys(map(tuple, missing.T.tolist())):
        # Metrics with a value for the same queries share their resamples, which take most of the time.
        alike = [
            metric for metric in range(len(labels)) if tuple(missing[:, metric].tolist()) == pattern
        ]
        of_queries = values[~np.array(pattern)][:, :, alike]
        if len(of_queries) < 2:
            named = count(len(of_queries), "query")
            raise ValueError(
                f"{labels[alike[0]]}: {named} with a value; at least two are needed to compare."
            )
        differences = of_queries - of_queries[:, [base]]
        n, n_runs, n_metrics = of_queries.shape
        means = resampled_means(np.hstack([of_queries, differences]).reshape(n, -1), resamples, rng)
        limits = np.percentile(means, [100 * _LEVEL / 2, 100 * (1 - _LEVEL / 2)], axis=0)
        limits = limits.reshape(
            2, 2, n_runs, n_metrics
        )  # (low or high, mean or difference, run, metric)
        p = randomization_p(differences.reshape(n, -1), resamples, rng).reshape(n_runs, n_metrics)
        for position, metric in enumerate(alike):
            rows[metric] = [
                _row(
                    labels[metric], name, of_queries[:, run, position], limits[:, :, run, position], p[run, position],
                    differences[:, run, position] if run != base else None,
                )
                for run, name in enumerate(names)
            ]  # fmt: skip
    return [row for metric in range(len(labels)) for row in rows[metric]]


def _row(
    label: str,
    name: str,
    values: np.ndarray,
    limits: np.ndarray,
    p: float,
    change: np.ndarray | None,
) -> dict[str, Any]:
    of_query, _, cutoff = label.partition("@")
    metric = f"{NAMES_OF_MEANS.get(of_query, of_query)}@{cutoff}" if cutoff else of_query
    low, high = limits[:, 0]
    row = {"metric": metric, "run": name, "mean": values.mean(), "low": low, "high": high}
    if change is None:
        return row
    mean = change.mean() if abs(change.mean()) > _ROUNDING else 0.0
    spread = change.std(ddof=1)
    return row | {
        "difference": mean,
        "difference_low": limits[0, 1],
        "difference_high": limits[1, 1],
        "p": p,
        "p_holm": np.nan,  # once all comparisons are known
        "wins": int((change > _ROUNDING).sum()),
        "ties": int((np.abs(change) <= _ROUNDING).sum()),
        "losses": int((change < -_ROUNDING).sum()),
        "effect_size": mean / spread if spread > _ROUNDING else np.inf * mean if mean else 0.0,
    }


def resampled_means(values: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the column means of rows drawn with replacement: (resamples, columns).

    Row r of the result uses row r of ``rng.integers(0, n, size=(resamples, n))``, drawn in parts so
    that memory stays bounded. How often each row was drawn, times the values, is one matrix product.
    """
    n = len(values)
    part = max(1, _CELLS // n)
    means = []
    for start in range(0, resamples, part):
        size = min(part, resamples - start)
        drawn = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means.append(times.astype(float) @ values / n)
    return np.concatenate(means)


def randomization_p(
    differences: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the two-sided p of each column's mean under random signs: Fisher's paired randomization test.

    The same signs serve every column. With (extreme + 1) / (resamples + 1), as SciPy's
    ``permutation_test`` counts, p is never 0.
    """
    n = len(differences)
    seen = np.abs(differences.mean(axis=0))
    extreme = np.zeros(differences.shape[1], dtype=int)
    part = max(1, _CELLS // n)
    for start in range(0, resamples, part):
        size = min(part, resamples - start)
        signs = rng.integers(0, 2, size=(size, n), dtype=np.int8) * 2.0 - 1
        # The tolerance lets a flipped sum that is equal but for rounding count as equally extreme.
        extreme += (np.abs(signs @ differences / n) >= seen - _ROUNDING).sum(axis=0)
    return (extreme + 1) / (resamples + 1)


def holm(p: np.ndarray) -> np.ndarray:
    """Return p after Holm's step-down correction (1979) for having made several comparisons.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    factors = len(p) - np.arange(len(p))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return corrected


def _verdict(row: Mapping[Any, Any], n_compared: int) -> str:
    if np.isnan(row["p"]):
        return "baseline"
    if row["p_holm"] < _LEVEL:
        return "better" if row["difference"] > 0 else "worse"
    if row["difference"] == 0:
        return "cannot tell: no difference was seen"
    # What was not told with these queries needs more of them, whatever the approximation says.
    seen = row["wins"] + row["ties"] + row["losses"]
    needed = max(seen + 1, queries_needed(row["effect_size"], _LEVEL / n_compared))
    return f"cannot tell; about {needed:,} queries could"


def queries_needed(effect_size: float, level: float = _LEVEL) -> int:
    """Return about how many queries tell an effect of this size apart from chance, with 80 % power.

    The normal approximation ((z of level / 2 + z of power) / effect size) squared.

    >>> queries_needed(0.2)
    197
    """
    from scipy.stats import norm

    z = norm.isf(level / 2) + norm.isf(1 - _POWER)
    return max(2, int(np.ceil((z / effect_size) ** 2)))


def differences(
    runs: Runs, all_qa: Records, metric: str = "nDCG", k: int = 10, **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Show where two runs differ, the largest gain of the second first, with both rankings side by side.

    Args:
        runs: exactly two, ``{"old": results, "new": results}``.
        all_qa, metric, k, policies: see `per_query`; one metric.

    Returns:
        A row a query: its question where all_qa has it, the value of each run, ``difference`` (second
        minus first), and the first k doc_ids of each run, a relevant one marked with ``*``.
    """
    if not isinstance(runs, Mapping) or len(runs) != 2:
        raise ValueError(
            f"differences needs exactly two runs, found {len(runs)}: choose two of those compared."
        )
    _check(runs, all_qa, as_cutoff(k), None)
    old, new = runs
    values = {
        name: per_query(all_qa, results, k, [metric], **policies).iloc[:, 0]
        for name, results in runs.items()
    }
    judged = read_judgements(all_qa)
    relevant = set(
        zip(
            judged.query_ids[judged.rows[judged.grades > 0]],
            judged.docs[judged.grades > 0],
            strict=True,
        )
    )
    rankings = {name: as_rankings(results) for name, results in runs.items()}
    table = pd.DataFrame(values)
    table["difference"] = table[new] - table[old]
    for name in runs:
        table[f"ranking of {name}"] = [
            " ".join(
                str(hit["doc_id"]) + ("*" if (query_id, hit["doc_id"]) in relevant else "")
                for hit in rankings[name].get(query_id, [])[:k]
            )
            for query_id in table.index
        ]
    questions = {
        qa["query_id"]: qa["question"] for qa in as_records(all_qa, "all_qa") if "question" in qa
    }
    if questions:
        table.insert(0, "question", [questions.get(query_id, "") for query_id in table.index])
    return table.sort_values("difference", ascending=False, kind="stable")
