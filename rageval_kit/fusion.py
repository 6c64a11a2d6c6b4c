"""Fuse several searches into one ranking: from results to results, by doc_id.

Dense and lexical search fail on different questions; a document that both find is seldom wrong. A
fusion needs no model and no judgements, only the rankings.
"""

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Any, Literal, TypeAlias, get_args

from rageval_kit.comparison import Runs, names_of
from rageval_kit.messages import as_cutoff, count, is_number, name_some, shown, wrong_type
from rageval_kit.rankings import (
    Hit,
    Results,
    ResultsLike,
    as_rankings,
    direction,
    refuse_repeated_hits,
    refuse_unlike_ids,
    run_both_ways,
    warn_of_depth,
)

Method: TypeAlias = Literal["rrf", "min_max"]
Missing: TypeAlias = Literal["error", "empty"]
Points: TypeAlias = list[float]  # of each hit of a ranking, best first

_CONSTANT = 60  # of reciprocal rank fusion: Cormack et al. (2009), and everybody since
_LARGEST = 1e300  # a sum of such numbers is still a number


def fuse(
    runs: Runs,
    k: int,
    method: Method = "rrf",
    weights: Mapping[str, float] | None = None,
    missing_queries: Missing = "error",
) -> Results:
    """Return the k best documents of several runs together, query by query.

    A document's score is the sum over the runs of weight times points, **higher is better**::

        "rrf"       1 / (60 + rank), rank from 1: reciprocal rank fusion (Cormack et al., 2009)
        "min_max"   (score - lowest) / (highest - lowest) of the run's scores for that query;
                    distances (lower is better) are turned round, (highest - score) / (...)

    A run gives a document that it did not find 0 points. So does ``"min_max"`` to the last document
    of each ranking, to all where the scores of a ranking are equal, and to a ranking's only one:
    search deeper than k, since the lowest score decides how much the others count. (Scores that lie
    within 1e-9 are noise: as in ranx, 1e-9 then stands for highest - lowest.)

    Equal sums have one order: the better of a document's best ranks first, and of the same rank the
    run that was named first.

    Args:
        runs: ``{"dense": results, "bm25": other}``, each in a form that `relevance_matrix` takes;
            100 hits a query are usual.
        k: how many documents of the fusion are kept.
        method: how ranks or scores become points.
        weights: of each run, by name, 0 or more; None: 1 each.
        missing_queries: a query that a run lacks is an ``"error"``, or ``"empty"``, as if the run
            had found nothing. (A ranking that is there and empty counts as found nothing.)

    Returns:
        `Results`; a hit is that of the first run that found it, and what other runs know of it.

    >>> dense = {"q1": [{"doc_id": "A", "score": 0.9}, {"doc_id": "B", "score": 0.8}]}
    >>> bm25 = {"q1": [{"doc_id": "B", "score": 7.0}, {"doc_id": "C", "score": 3.0}]}
    >>> for hit in fuse({"dense": dense, "bm25": bm25}, k=3)["q1"]:
    ...     print(hit["doc_id"], round(hit["score"], 5))
    B 0.03252
    A 0.01639
    C 0.01613

    Raises:
        ValueError: a document appears twice in a ranking, a run lacks a query, min_max has no
            scores or cannot tell whether lower or higher is better, or a weight, k or name is odd.
        KeyError: weights name another run, or not all.
        TypeError: runs is no dict of named results.
    """
    k = as_cutoff(k)
    _want_choice("method", method, get_args(Method))
    _want_choice("missing_queries", missing_queries, get_args(Missing))
    share = _read_weights(weights, names_of(runs))

    # Every run is read once; a query stands where the first run that has it puts it.
    read = {name: _read(name, results) for name, results in runs.items()}
    query_ids = list(dict.fromkeys(query_id for run in read.values() for query_id in run))
    refuse_unlike_ids(read)
    warn_of_depth(read, k)
    if missing_queries == "error":
        _refuse_missing(read, query_ids)

    # Query by query; what is known of the runs is known of the fusion.
    points_of = {name: _ways_to_points(name, run, method) for name, run in read.items()}
    hits = {}
    for query_id in query_ids:
        rankings = {name: run.get(query_id, []) for name, run in read.items()}
        points = {name: points_of[name](ranking) for name, ranking in rankings.items()}
        hits[query_id] = _add_up(rankings, points, share)[:k]
    questions: dict[Any, str] = {}
    folded: dict[Any, Any] = {}
    for run in reversed(read.values()):
        questions |= run.questions
        folded |= run.folded
    name = f"{method} of {name_some(list(read))}"
    return Results(hits, k, name, lower_is_better=False, questions=questions, folded=folded)


def _add_up(
    rankings: Mapping[str, Sequence[Hit]], points: Mapping[str, Points], share: Mapping[str, float]
) -> list[Hit]:
    """Return all documents of the rankings of one query, best sum first."""
    parts: dict[Any, Points] = {}
    best_rank: dict[Any, int] = {}
    documents: dict[Any, Hit] = {}
    for name, ranking in rankings.items():
        for rank, (hit, its) in enumerate(zip(ranking, points[name], strict=True), start=1):
            doc_id = hit["doc_id"]
            parts.setdefault(doc_id, []).append(share[name] * its)
            best_rank[doc_id] = min(rank, best_rank.get(doc_id, rank))
            documents[doc_id] = {**hit, **documents.get(doc_id, {})}

    # Summed exactly, so that equal sums are equal; of these who came first in any run, then the
    # order in which the runs were named, which the dict has.
    scores = {doc_id: fsum(its) for doc_id, its in parts.items()}
    order = sorted(scores, key=lambda doc_id: (-scores[doc_id], best_rank[doc_id]))
    return [{**documents[doc_id], "score": scores[doc_id]} for doc_id in order]


# ---------------------------------------------------------------- from ranks or scores to points


def _ways_to_points(name: str, run: Results, method: Method) -> Callable[[Sequence[Hit]], Points]:
    """Return the function that gives the points of one ranking of this run."""
    if method == "rrf":
        return _reciprocal_ranks
    lower = _direction_of(name, run)
    return lambda ranking: _min_max(ranking, lower)


def _reciprocal_ranks(ranking: Sequence[Hit]) -> Points:
    return [1 / (_CONSTANT + rank) for rank in range(1, len(ranking) + 1)]


def _min_max(ranking: Sequence[Hit], lower_is_better: bool) -> Points:
    """Return the scores between 0, the worst of the ranking, and 1; as ranx does."""
    scores = [float(hit["score"]) for hit in ranking]
    if not scores:
        return []
    lowest, highest = min(scores), max(scores)
    span = max(highest - lowest, 1e-9)  # of equal scores
    if lower_is_better:
        return [(highest - score) / span for score in scores]
    return [(score - lowest) / span for score in scores]


def _direction_of(name: str, run: Results) -> bool:
    """Say whether lower scores are better; refuse a run without scores, or that does not tell."""
    for query_id, ranking in run.items():
        for rank, hit in enumerate(ranking, start=1):
            if hit.get("score") is None or abs(float(hit["score"])) > _LARGEST:
                raise ValueError(
                    f"The run {name!r}, {query_id}, rank {rank}: the score of {hit['doc_id']} is "
                    f'{hit.get("score")}. method="rrf" needs ranks alone.'
                )
    if run_both_ways(run):
        raise ValueError(
            f"The run {name!r}: the scores rise in one ranking and fall in another. Is lower or "
            "higher better? Say it, results.lower_is_better = True, or look at the search."
        )
    return bool(direction(run))  # None: all scores of a ranking are equal, and worth 0


# ---------------------------------------------------------------- what is refused


def _want_choice(name: str, found: Any, choices: Sequence[str]) -> None:
    if not isinstance(found, str) or found not in choices:
        known = ", ".join(map(repr, choices))
        raise ValueError(f"{name}={shown(found)} is not known. Choose one of: {known}.")


def _read_weights(weights: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the weight of each run."""
    if weights is None:
        return dict.fromkeys(names, 1.0)
    if not isinstance(weights, Mapping):
        example = ", ".join(f'"{name}": 1' for name in names[:2])
        raise wrong_type("weights", f"a dict such as {{{example}}}, or None", weights)
    if set(weights) != set(names):
        odd = [name for name in weights if name not in names]
        what = f"name no run: {name_some(odd)}" if odd else "lack a run"
        raise KeyError(f"weights {what}. Give one to each of: {name_some(names)}.")

    for name, weight in weights.items():
        if not is_number(weight) or not 0 <= float(weight) <= _LARGEST:
            raise ValueError(f"The weight of {name!r} must be 0 or more, found {shown(weight)}.")
    if not any(weights.values()):
        raise ValueError("All weights are 0: no run would count. Give one of them 1.")
    return {name: float(weight) for name, weight in weights.items()}


def _read(name: str, results: ResultsLike) -> Results:
    """Return a run as rankings; an error says which run it is."""
    try:
        run = as_rankings(results)
        refuse_repeated_hits(run)
    except (KeyError, TypeError, ValueError) as error:
        kind = next(of for of in (KeyError, TypeError, ValueError) if isinstance(error, of))
        raise kind(f"The run {name!r}: {error.args[0]}") from None
    return run


def _refuse_missing(read: Mapping[str, Results], query_ids: Sequence[Any]) -> None:
    for name, run in read.items():
        lost = [query_id for query_id in query_ids if query_id not in run]
        if lost:
            raise ValueError(
                f"The run {name!r} lacks {count(len(lost), 'query')}: {name_some(lost)}. Search "
                'all runs with the same queries, or choose missing_queries="empty", as if it had '
                "found nothing."
            )
