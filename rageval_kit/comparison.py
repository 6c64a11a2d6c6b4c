"""Is one run really better than another? Intervals, tests and verdicts over the queries.

The unit is the query: every interval and test resamples queries, the same ones for every run.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from typing import Any, TypeAlias, Unpack

import numpy as np
import pandas as pd

from rageval_kit.formulas import THE_FIVE, Formula
from rageval_kit.judgements import AllQA, Judgements, read_judgements
from rageval_kit.messages import (
    as_cutoff,
    count,
    is_number,
    name_some,
    shown,
    warn_user,
    wrong_type,
)
from rageval_kit.metrics import (
    Column,
    Cutoffs,
    Metrics,
    as_columns,
    matrix_for,
    values_of,
    what_was_decided,
)
from rageval_kit.rankings import ResultsLike, knowledge
from rageval_kit.relevance import Policies, Relevance
from rageval_kit.wording import say

Runs: TypeAlias = Mapping[str, ResultsLike]

_COLUMNS = (
    "metric", "run", "mean", "low", "high", "difference", "difference_low", "difference_high",
    "p", "p_holm", "wins", "ties", "losses", "effect_size",
)  # fmt: skip
_LEVEL = 0.05  # two-sided: 95 % intervals, verdicts at p < 0.05 after Holm's correction
_POWER = 0.8  # for the number of queries that could tell
_CELLS = 4_000_000  # resampled queries held in memory at a time
_ROUNDING = 1e-12  # of a mean of values between 0 and 1
_MOST_RESAMPLES = 10_000_000
_OUT_OF_REACH = 1_000  # times the queries at hand: nobody will judge so many
_FAR_FEWER = 0.9  # of the hits that another run has
_K = 10  # where the search was at least as deep


def compare(
    runs: Runs,
    all_qa: AllQA,
    k: Cutoffs | None = None,
    baseline: str | None = None,
    metrics: Metrics = THE_FIVE,
    resamples: int = 10_000,
    seed: int = 0,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Compare runs with a baseline: a row a metric and run, with intervals, a test and a verdict.

    Args:
        runs: ``{"name": results, ...}``, all searched with the same queries and to the same depth;
            a single one gets its means and intervals.
        all_qa: see `relevance_matrix`. Queries for which a metric is NaN are left out for every
            run.
        k: the cutoff of metrics that are named without one; None is 10, or the depth of the
            shallowest search where that is less.
        baseline: the run that the others are compared with; None means the first.
        metrics: see `per_query`.
        resamples: how often queries are resampled (bootstrap) and signs are flipped (test).
        seed: of the random numbers; the same seed gives the same table.
        policies: see `Policies`.

    Returns:
        Indexed by metric and run:

        * ``mean``, ``low``, ``high``: the mean over queries and its 95 % percentile bootstrap
          interval;
        * ``difference``, ``difference_low``, ``difference_high``: to the baseline, interval paired;
        * ``p``: of the two-sided paired randomization test (Fisher), ``p_holm`` after Holm's
          correction over all comparisons of the table;
        * ``wins, ties, losses``: queries on which the run is better, equal, worse;
        * ``effect_size``: mean difference / its standard deviation over queries (Cohen's d for
          pairs);
        * ``verdict``: better, worse, or cannot tell, then with about how many queries could: 80 %
          power for the difference seen, at the level that Holm's correction starts from; more than
          a thousand times as many as there are is "next to no difference". That number is as
          uncertain as the difference is: behind it stands how many are needed at least, for the
          largest difference in the interval. The smallest is none, which no number of queries
          tells.

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
        ValueError: no run, runs of other queries or asked for another depth, no such baseline.
        TypeError: runs is not a dict from names to results.
    """
    names = names_of(runs)
    baseline = as_baseline(baseline, names, "run")
    columns = as_columns(metrics, _shallowest(runs) if k is None else k)
    rng = as_generator(seed)

    # One matrix a run gives the value of every query and metric: (queries, runs, metrics).
    matrices = matrices_of(runs, read_judgements(all_qa), columns, policies)
    values = np.stack([values_of(columns, matrix) for matrix in matrices.values()], axis=1)
    labels = [column.label_of_mean for column in columns]
    rows = compare_values(values, names, names.index(baseline), labels, resamples, rng)
    table = with_verdicts(rows, resamples)
    n_compared = int(table["p"].count())
    chosen = {"baseline": baseline, "resamples": resamples, "seed": seed, "comparisons": n_compared}
    indexes = {name: knowledge(run).get("index") for name, run in runs.items()}
    decided = what_was_decided(matrices[baseline], runs[baseline])
    table.attrs = decided | chosen | {"indexes": indexes}
    return table


def with_verdicts(rows: Sequence[Mapping[str, Any]], resamples: int) -> pd.DataFrame:
    """Return the rows of `compare_values` as a table, with Holm's p over all and the verdicts.

    Raises:
        ValueError: so few resamples cannot tell as many comparisons.
    """
    table = pd.DataFrame(rows, columns=_COLUMNS).set_index(["metric", "run"])

    # Every comparison of the table counts as one more chance to be wrong.
    tested = table["p"].notna()
    n_compared = int(tested.sum())
    if n_compared:
        table.loc[tested, "p_holm"] = holm(table.loc[tested, "p"].to_numpy())
    if n_compared / (resamples + 1) >= _LEVEL:  # the least p there can be, after the correction
        told = f"resamples={resamples} cannot tell {count(n_compared, 'comparison')}"
        raise ValueError(f"{told}: use more than {round(n_compared / _LEVEL):,}.")

    table = table.astype(dict.fromkeys(["wins", "ties", "losses"], "Int64"))
    table["verdict"] = [_verdict(row, n_compared) for row in table.to_dict("records")]
    return table


def names_of(runs: Runs) -> list[str]:
    """Return the names of the runs."""
    wanted = 'a dict of named runs, such as {"old": results, "new": other}'
    kinds = {type(run) for run in runs.values()} if isinstance(runs, Mapping) else {list}
    if kinds and kinds <= {list, tuple}:  # the hits of one run, which has no name
        raise wrong_type("runs", wanted, runs)
    if len(runs) == 0:
        raise ValueError(f"runs must be {wanted}; found none.")
    odd = [name for name in runs if not isinstance(name, str)]
    if odd:
        raise TypeError(f"runs: every name must be a text, found {shown(odd[0])}. Rename it.")
    return list(runs)


def as_baseline(baseline: Any, names: Sequence[str], noun: str) -> str:
    """Return the name of the baseline, of a run or a system (``noun``); None means the first."""
    if baseline is None:
        return names[0]
    if not isinstance(baseline, str) or baseline not in names:
        near = get_close_matches(baseline, names, n=1) if isinstance(baseline, str) else []
        hint = f" Did you mean {near[0]!r}?" if near else ""
        there = ", ".join(map(repr, names))
        raise ValueError(f"No {noun} is called {shown(baseline)}; there are: {there}.{hint}")
    return baseline


def _shallowest(runs: Runs) -> int:
    """Return 10, or the depth of the shallowest search where it is known and less."""
    return min([_K, *(k for results in runs.values() if (k := knowledge(results).get("k", 0)))])


def as_generator(seed: Any) -> np.random.Generator:
    """Return a generator of random numbers for a seed that is a whole number from 0."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed must be a whole number from 0, found {shown(seed)}.")
    return np.random.default_rng(seed)


def matrices_of(
    runs: Runs, judged: Judgements, columns: Sequence[Column], policies: Policies
) -> dict[str, Relevance]:
    """Return the relevance matrix of every run; refuse runs that cannot be compared."""
    matrices = {}
    for name, run in runs.items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            matrices[name] = matrix_for(columns, judged, run, policies)
        for message in dict.fromkeys(str(warning.message) for warning in said):
            warn_user(f"The run {name!r}: {message}")

    # All are held against the first run.
    first, reference = next(iter(matrices.items()))
    depth = _depth(runs[first], reference)
    for name, matrix in matrices.items():
        unlike = judged.query_ids[matrix.found.searched != reference.found.searched].tolist()
        if unlike:
            raise ValueError(
                f"The runs {first!r} and {name!r} differ in {count(len(unlike), 'query')}: "
                f"{name_some(unlike)}. Search both with the same queries."
            )

        its_depth = _depth(runs[name], matrix)
        if its_depth != depth and min(its_depth, depth) > 0:  # 0: nothing came, which tells nothing
            raise ValueError(
                f"The run {first!r} has {depth} hits a query and {name!r} has {its_depth}: "
                "the comparison would not be fair. Search both with the same k."
            )

    # Of equal depth, they may still have found unlike many: a limit for scores, a lexical search.
    # Queries without any hit were named before.
    came = {name: _mean_of_some(_came(matrix), depth) for name, matrix in matrices.items()}
    if min(came.values()) < _FAR_FEWER * max(came.values()):
        each = ", ".join(f"{name} {mean:.1f}" for name, mean in came.items())
        warn_user(f"hits that came a query, of {depth} asked for: {each}. Empty ranks score 0.")
    return matrices


def _came(matrix: Relevance) -> np.ndarray:
    """Return how many hits came back for each query; repeats that are counted once came too."""
    is_unique = matrix.policies["duplicates"] == "unique"
    return matrix.n_returned + matrix.n_repeats * is_unique


def _mean_of_some(came: np.ndarray, depth: int) -> float:
    """Return how many of the first so many hits came, over the queries that have any."""
    return float(np.minimum(came, depth).sum() / max(np.count_nonzero(came), 1))


def _depth(results: ResultsLike, matrix: Relevance) -> int:
    """Return how many hits a query were asked for, or where that is not known, came back."""
    asked = knowledge(results).get("k", 0) or int(_came(matrix).max(initial=0))
    return min(asked, int(matrix.ranks[-1]))


def compare_values(
    values: np.ndarray,
    names: Sequence[str],
    base: int,
    labels: Sequence[str],
    resamples: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return a row a metric and run, metric by metric.

    Args:
        values: the value of every query: (queries, runs, metrics), NaN where it has none.
        names: of the runs.
        base: the position of the baseline among them.
        labels: of the metrics.
        resamples, rng: see `resampled_means` and `randomization_p`.
    """
    rows = {}
    missing = np.isnan(values).any(axis=1)  # (queries, metrics)

    # Metrics with a value for the same queries share their resamples, which take most of the time.
    for pattern in dict.fromkeys(map(tuple, missing.T.tolist())):
        alike = [m for m in range(len(labels)) if tuple(missing[:, m].tolist()) == pattern]
        of_queries = values[~np.array(pattern)][:, :, alike]
        n, n_runs, n_metrics = of_queries.shape
        if n < 2:
            found = f"{labels[alike[0]]}: {count(n, 'query')} with a value"
            raise ValueError(f"{found}; at least two are needed to compare.")

        # The interval: the same queries are drawn for the means and for the differences.
        changes = of_queries - of_queries[:, [base]]
        both = np.hstack([of_queries, changes]).reshape(n, -1)
        means = resampled_means(both, resamples, rng)
        limits = np.percentile(means, [100 * _LEVEL / 2, 100 * (1 - _LEVEL / 2)], axis=0)
        limits = limits.reshape(2, 2, n_runs, n_metrics)  # low or high, mean or difference, ...

        # The test: could the differences be as large if old and new were only names?
        p = randomization_p(changes.reshape(n, -1), resamples, rng).reshape(n_runs, n_metrics)
        for (place, metric), (run, name) in product(enumerate(alike), enumerate(names)):
            row = {"metric": labels[metric], "run": name, "mean": of_queries[:, run, place].mean()}
            row["low"], row["high"] = limits[:, 0, run, place]
            if run != base:
                change, interval = changes[:, run, place], limits[:, 1, run, place]
                row |= _change_row(change, interval, p[run, place])
            rows[metric, run] = row
    return [rows[metric, run] for metric, run in sorted(rows)]


def _change_row(change: np.ndarray, limits: np.ndarray, p: float) -> dict[str, Any]:
    mean = change.mean() if abs(change.mean()) > _ROUNDING else 0.0
    spread = change.std(ddof=1)
    return {
        "difference": mean,
        "difference_low": limits[0],
        "difference_high": limits[1],
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
    that memory stays bounded. How often each row was drawn, times the values, is one product.
    """
    values, rng = _as_numbers(values, "values", ndim=2), as_generator(rng)
    n = len(values)
    means = []
    for size in in_parts(resamples, n):
        drawn = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means.append(times.astype(float) @ values / n)
    return np.concatenate(means)


def randomization_p(
    differences: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the two-sided p of each column's mean under random signs: Fisher's paired test.

    The same signs serve every column. With (extreme + 1) / (resamples + 1), as SciPy's
    ``permutation_test`` counts, p is never 0.
    """
    differences, rng = _as_numbers(differences, "differences", ndim=2), as_generator(rng)
    n = len(differences)
    seen = np.abs(differences.mean(axis=0))
    extreme = np.zeros(differences.shape[1], dtype=int)
    for size in in_parts(resamples, n):
        signs = rng.integers(0, 2, size=(size, n), dtype=np.int8) * 2.0 - 1
        # The tolerance lets a flipped sum that is equal but for rounding count as equally extreme.
        extreme += (np.abs(signs @ differences / n) >= seen - _ROUNDING).sum(axis=0)
    return (extreme + 1) / (resamples + 1)


def in_parts(resamples: int, n: int) -> Iterator[int]:
    """Part the resamples of n queries, so that memory stays bounded."""
    resamples = as_cutoff(resamples, "resamples", _MOST_RESAMPLES)
    part = max(1, _CELLS // n)
    for start in range(0, resamples, part):
        yield min(part, resamples - start)


def holm(p: np.ndarray) -> np.ndarray:
    """Return p after Holm's step-down correction (1979) for having made several comparisons.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    p = _as_numbers(p, "p", ndim=1, share=True)
    order = np.argsort(p)
    factors = len(p) - np.arange(len(p))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return corrected


def _verdict(row: Mapping[Any, Any], n_compared: int) -> str:
    if np.isnan(row["p"]):
        return say("baseline")
    if row["p_holm"] < _LEVEL:
        return say("better") if row["difference"] > 0 else say("worse")
    if row["difference"] == 0:
        return say("cannot tell: no difference was seen")
    # What was not told with these queries needs more of them, whatever the approximation says.
    seen, level = row["wins"] + row["ties"] + row["losses"], _LEVEL / n_compared
    needed = max(seen + 1, queries_needed(row["effect_size"], level))
    if needed > _OUT_OF_REACH * seen:
        return say("cannot tell: next to no difference was seen")

    # That many for the difference seen; so many at least, for the largest in its interval.
    ends = abs(row["difference_low"]), abs(row["difference"]), abs(row["difference_high"])
    largest_effect = row["effect_size"] * max(ends) / abs(row["difference"])
    fewest = max(seen + 1, queries_needed(largest_effect, level))
    return say(
        "cannot tell; about {needed:,} queries could (at least {fewest:,})",
        needed=needed,
        fewest=fewest,
    )


def queries_needed(effect_size: float, level: float = _LEVEL) -> int:
    """Return about how many queries tell an effect of this size apart from chance, with 80 % power.

    The normal approximation ((z of level / 2 + z of power) / effect size) squared.

    >>> queries_needed(0.2)
    197
    """
    from scipy.stats import norm

    if not is_number(effect_size) or not abs(effect_size) > _ROUNDING:
        raise ValueError(f"effect_size must be a number and not 0, found {shown(effect_size)}.")
    if not is_number(level) or not 1e-300 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, found {shown(level)}.")
    z = norm.isf(level / 2) + norm.isf(1 - _POWER)
    return max(2, int(np.ceil((z / effect_size) ** 2)))


def _as_numbers(values: Any, name: str, ndim: int, share: bool = False) -> np.ndarray:
    """Return finite numbers as an array of so many dimensions, at least one number."""
    try:
        numbers = np.asarray(values, dtype=float)
        fits = numbers.ndim == ndim and numbers.size > 0 and bool(np.isfinite(numbers).all())
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits or (share and not ((numbers >= 0) & (numbers <= 1)).all()):
        shape = {1: "a list of", 2: "a table, a row a query, of"}[ndim]
        bounds = " between 0 and 1" if share else ""
        raise ValueError(
            f"{name} must be {shape} finite numbers{bounds}, found {shown(values)}. Fix them."
        )
    return numbers


def differences(
    runs: Runs,
    all_qa: AllQA,
    metric: str | Formula = "nDCG",
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Show where two runs differ, the largest gain of the second first, rankings side by side.

    Args:
        runs: exactly two, ``{"old": results, "new": results}``.
        all_qa, metric, k, policies: see `compare`; one metric.

    Returns:
        A row a query: its question where all_qa has it, the value of each run, ``difference``
        (second minus first), and the first k doc_ids of each run, a relevant one marked with ``*``.

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": ["A"]}]
    >>> runs = {"old": {"q1": [{"doc_id": "B"}]}, "new": {"q1": [{"doc_id": "A"}]}}
    >>> differences(runs, all_qa, "RR", k=1)[["difference", "ranking of new"]]
              difference ranking of new
    query_id
    q1               1.0             A*
    """
    if isinstance(runs, Mapping) and len(runs) != 2:
        raise ValueError(f"differences needs exactly two runs, found {len(runs)}: choose two.")
    old, new = names_of(runs)
    columns = as_columns([metric], _shallowest(runs) if k is None else k)
    if len(columns) != 1:
        raise ValueError(f"differences shows one metric at one k. Choose one of {len(columns)}.")
    judged = read_judgements(all_qa)
    matrices = matrices_of(runs, judged, columns, policies)

    table = pd.DataFrame(index=matrices[old].labels)
    for name, matrix in matrices.items():
        table[name] = values_of(columns, matrix)[:, 0]
    table["difference"] = table[new] - table[old]
    for name, matrix in matrices.items():
        table[f"ranking of {name}"] = _marked_rankings(matrix)
    if questions := judged.questions:
        table.insert(0, "question", [questions.get(q, "") for q in judged.query_ids])
    return table.sort_values("difference", ascending=False, kind="stable")


def _marked_rankings(matrix: Relevance) -> list[str]:
    """Return the ranking of each query as a line, with a star behind what is relevant."""
    lines = []
    for row in range(len(matrix.query_ids)):
        marked = zip(matrix.docs(row), matrix.hits[row], strict=False)  # ranks may hold nothing
        lines.append(" ".join(f"{doc}*" if is_hit else str(doc) for doc, is_hit in marked))
    return lines
