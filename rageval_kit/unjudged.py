"""What the unjudged documents could change: the bounds of a score, and of a comparison.

A document that nobody judged counts as irrelevant. Whoever finds what the pool of the judgements
did not hold is punished for it: ``Judged@k`` says how much of a ranking is judged, the functions
here what the rest could be worth.
"""

from collections.abc import Iterator, Mapping
from typing import Unpack

import numpy as np
import pandas as pd

from rageval_kit.comparison import Runs, as_generator, matrices_of, names_of
from rageval_kit.formulas import METRICS, THE_FIVE, Formula
from rageval_kit.judgements import AllQA, Judgements, as_objects, read_judgements
from rageval_kit.messages import as_cutoff
from rageval_kit.metrics import Column, Cutoffs, Metrics, as_columns, matrix_for, values_of
from rageval_kit.pooling import as_pool, unjudged_hits
from rageval_kit.rankings import Hit, Results, ResultsLike, as_rankings
from rageval_kit.relevance import Policies

_ROUNDING = 1e-12


def score_bounds(
    all_qa: AllQA,
    results: ResultsLike,
    k: Cutoffs = 10,
    metrics: Metrics = THE_FIVE,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return what a score is worth when the unjudged hits are irrelevant, left out, or the best.

    Args:
        all_qa, results, metrics, policies: see `per_query`.
        k: the cutoff, or several.

    Returns:
        A row a metric, means over the queries that have a judged relevant document:

        * ``as_irrelevant``: what `evaluate` says;
        * ``left_out``: with the unjudged hits taken out of the rankings, and the gaps closed
          (Sakai's condensed lists, 2007): fairer to a run that the pool did not hold;
        * ``at_best``: the most that a query can have when its first m unjudged hits have the best
          grade of all_qa, m being chosen for it. It is exact where all grades are alike. Relevant
          documents that no run found would still lower recall and nDCG;
        * ``judged``: the share of the first k hits that is judged.

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": {"A": 1, "B": 0}}]
    >>> results = {"q1": [{"doc_id": "new"}, {"doc_id": "A"}]}
    >>> score_bounds(all_qa, results, k=2, metrics=["RR"])
            as_irrelevant  left_out  at_best  judged
    metric
    MRR@2             0.5       1.0      1.0     0.5

    Raises:
        ValueError, KeyError, TypeError: as `relevance_matrix`.
    """
    columns, judged = as_columns(metrics, k), read_judgements(all_qa)
    matrix = matrix_for(columns, judged, results, policies)

    # The same ranks, with the first m of the unjudged judged the best.
    plain = best = values_of(columns, matrix)
    for more in _judged_best(judged, unjudged_hits(matrix)):
        better = matrix_for(columns, more, results, policies)
        best = np.fmax(best, values_of(columns, better))

    # And without any of them.
    alone = _without_unjudged(judged, results, int(matrix.ranks[-1]))
    left_out = values_of(columns, matrix_for(columns, judged, alone, policies))
    shares = values_of([Column(METRICS["Judged"], column.cutoff) for column in columns], matrix)

    # Means over the same queries: one without a relevant document would have only a best.
    table = {}
    names = ("as_irrelevant", "left_out", "at_best", "judged")
    for place, column in enumerate(columns):
        measured = ~np.isnan(plain[:, place])
        of_column = [values[measured, place] for values in (plain, left_out, best, shares)]
        means = [values.mean() if values.size else np.nan for values in of_column]
        table[column.label_of_mean] = dict(zip(names, means, strict=True))
    return pd.DataFrame.from_dict(table, orient="index").rename_axis("metric")


def _judged_best(judged: Judgements, pairs: pd.DataFrame) -> Iterator[Judgements]:
    """Yield the judgements with the best grade for the first pair of each query, the first two, ...

    Of pairs that are preferred in this order, the best m are the first m, whatever m is.
    """
    best = max(float(judged.grades.max(initial=0)), 1.0)
    places = pairs.groupby("row").cumcount()
    for m in range(1, int(places.max()) + 2 if len(pairs) else 1):
        some = pairs[places < m]
        more = judged._replace(
            rows=np.append(judged.rows, some["row"].to_numpy(dtype=int)),
            docs=np.append(judged.docs, as_objects(some["doc_id"].tolist())),
            grades=np.append(judged.grades, np.full(len(some), best)),
        )
        yield more.in_order()


def _without_unjudged(judged: Judgements, results: ResultsLike, depth: int) -> Results:
    """Return the rankings of judged documents only.

    A document that comes again below the depth, where no metric looked, does not move up into it.
    """
    rankings = as_rankings(results)
    known = set(zip(judged.query_ids[judged.rows], judged.docs, strict=True))
    hits: dict[str, list[Hit]] = {}
    for query_id, ranking in rankings.items():
        kept = hits[query_id] = []
        seen: set[str] = set()
        for rank, hit in enumerate(ranking, start=1):
            counts = rank <= depth or hit["doc_id"] not in seen
            if counts and (query_id, hit["doc_id"]) in known:
                kept.append(hit)
            seen.add(hit["doc_id"])
    return rankings.with_hits(hits, rankings.k)


# ---------------------------------------------------------------- of a comparison


def pool_to_settle(
    runs: Runs,
    all_qa: AllQA,
    metric: str | Formula = "nDCG",
    k: int = 10,
    seed: int = 0,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return the least that must be judged until unjudged documents cannot turn a comparison.

    The run that is ahead stays ahead whatever the other judgements would say, if the documents of
    this pool turn out irrelevant, as they count now. If some do not, judge, add, and ask again: an
    empty pool says that the comparison is settled. It is settled for these queries; whether it
    holds for others, `compare` says.

    Args:
        runs: exactly two, ``{"old": results, "new": results}``, searched to the same depth.
        all_qa, metric, k, policies: see `differences`.
        seed: of the order, see `pool_results`.

    Returns:
        A pool, as of `pool_results`. Its ``attrs`` hold ``ahead``, the name of the run that is;
        ``difference``, by how much, and ``at_worst``, how much is left of it when what the other
        run alone found, or ranked higher, has the best grade (exact for nDCG, precision and recall
        where all grades are alike); ``unjudged``, how many documents could lessen it. The pool is
        chosen query by query, where a judgement settles most.

    >>> all_qa = [{"query_id": q, "relevant_doc_ids": ["A"]} for q in ("q1", "q2", "q3")]
    >>> old = {q: [{"doc_id": "A"}] for q in ("q1", "q2", "q3")}
    >>> new = {"q1": [{"doc_id": "A"}], "q2": [{"doc_id": "B"}], "q3": [{"doc_id": "C"}]}
    >>> pool = pool_to_settle({"old": old, "new": new}, all_qa, "Precision", k=1)
    >>> len(pool), pool.attrs["ahead"], pool.attrs["unjudged"]
    (1, 'old', 2)

    Raises:
        ValueError: there are not two runs, or they differ in queries or depth; as `differences`.
        TypeError: runs is not a dict from names to results.
    """
    if isinstance(runs, Mapping) and len(runs) != 2:
        raise ValueError(f"a comparison is settled of exactly two runs, found {len(runs)}.")
    names, columns, rng = names_of(runs), as_columns([metric], as_cutoff(k)), as_generator(seed)
    judged = read_judgements(all_qa)
    matrices = matrices_of(runs, judged, columns, policies)
    values = {name: values_of(columns, matrix)[:, 0] for name, matrix in matrices.items()}

    # Who is ahead, and which documents could lessen that.
    change = values[names[0]] - values[names[1]]
    ahead, other = names if np.nansum(change) >= 0 else names[::-1]
    change = values[ahead] - values[other]
    pairs = _side_by_side(unjudged_hits(matrices[ahead]), unjudged_hits(matrices[other]))

    # The worst of each query: those that the other ranks higher, or alone found, are the best.
    worst = change
    for preferred in (["row", "lost"], ["row", "found", "lost"]):
        for more in _judged_best(judged, pairs.sort_values(preferred)):
            both = (matrix_for(columns, more, runs[name], policies) for name in (ahead, other))
            ours, theirs = (values_of(columns, matrix)[:, 0] for matrix in both)
            worst = np.fmin(worst, np.where(np.isnan(change), np.nan, ours - theirs))

    # Judged is where most is settled, until the rest cannot turn the sum.
    swing = np.nan_to_num(change - worst)
    chosen = _enough(swing, pairs, float(np.nansum(change)))
    pool = as_pool(judged, pairs[pairs["row"].isin(chosen)], rng)
    n = max(int((~np.isnan(change)).sum()), 1)
    pool.attrs = {
        "ahead": ahead,
        "difference": float(np.nansum(change) / n),
        "at_worst": float(np.nansum(worst) / n),
        "unjudged": int((swing[pairs["row"].to_numpy(dtype=int)] > _ROUNDING).sum()),
    }
    return pool


def _side_by_side(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Return the unjudged documents of two runs, and what each is worth to us but not to the other.

    ``lost``: by the ranks, as nDCG discounts them; ``found``: by which of the two found it.
    """
    both = ours.merge(theirs, on=["row", "doc_id"], how="outer", suffixes=("", "_theirs"))
    worth = [(1 / np.log2(both[rank] + 2)).fillna(0) for rank in ("rank", "rank_theirs")]
    found = [worth_of_one.gt(0).astype(int) for worth_of_one in worth]
    return both.assign(lost=worth[0] - worth[1], found=found[0] - found[1])


def _enough(swing: np.ndarray, pairs: pd.DataFrame, total: float) -> list[int]:
    """Return the queries to judge so that what the others could take stays below the total."""
    size = np.bincount(pairs["row"].to_numpy(dtype=int), minlength=len(swing))
    rows = np.flatnonzero(swing > _ROUNDING)
    best_first = rows[np.argsort(-swing[rows] / size[rows], kind="stable")]
    left = swing[best_first].sum() - np.cumsum(np.append(0.0, swing[best_first]))
    return best_first[: int(np.argmax(left <= max(total - _ROUNDING, _ROUNDING)))].tolist()
