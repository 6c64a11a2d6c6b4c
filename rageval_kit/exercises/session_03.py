"""Session 3, HitRate and MRR: the first relevant document, and tables that cannot be."""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made

Ranks: TypeAlias = list[int | None]  # of the first relevant document a query; None: not found

# ---------------------------------------------------------------- 03-1: the reciprocal rank


def reciprocal_rank(ranking: list[str], relevant: list[str], k: int) -> float:
    for rank, doc_id in enumerate(ranking[:k], start=1):
        if doc_id in relevant:
            return 1 / rank
    return 0.0


def not_cut(ranking: list[str], relevant: list[str], k: int) -> float:
    return reciprocal_rank(ranking, relevant, len(ranking))


def mean_over_hits(ranking: list[str], relevant: list[str], k: int) -> float:
    ranks = [rank for rank, doc_id in enumerate(ranking[:k], start=1) if doc_id in relevant]
    return sum(1 / rank for rank in ranks) / len(ranks) if ranks else 0.0


def of_the_last(ranking: list[str], relevant: list[str], k: int) -> float:
    ranks = [rank for rank, doc_id in enumerate(ranking[:k], start=1) if doc_id in relevant]
    return 1 / ranks[-1] if ranks else 0.0


def rank_itself(ranking: list[str], relevant: list[str], k: int) -> float:
    value = reciprocal_rank(ranking, relevant, k)
    return 1 / value if value else 0.0


def hit_or_not(ranking: list[str], relevant: list[str], k: int) -> float:
    return float(any(doc_id in relevant for doc_id in ranking[:k]))


def _ranking_and_relevant(random: Random) -> tuple[list[str], list[str], int]:
    ranking = [f"d{number}" for number in random.sample(range(1, 9), 8)]
    relevant = random.sample([*ranking, "d9"], 2)
    return ranking, relevant, random.randint(3, 6)


# ---------------------------------------------------------------- 03-2: HitRate and MRR by head


def hit_rate_and_mrr(ranks: Ranks, k: int) -> list[float]:
    found = [rank for rank in ranks if rank is not None and rank <= k]
    return [len(found) / len(ranks), sum(1 / rank for rank in found) / len(ranks)]


def found_only(ranks: Ranks, k: int) -> list[float]:
    found = [rank for rank in ranks if rank is not None and rank <= k]
    return [len(found) / len(ranks), sum(1 / rank for rank in found) / max(len(found), 1)]


def without_the_missing(ranks: Ranks, k: int) -> list[float]:
    return hit_rate_and_mrr([rank for rank in ranks if rank is not None], k)


def as_deep_as_it_goes(ranks: Ranks, k: int) -> list[float]:
    return hit_rate_and_mrr(ranks, k=100)


def one_over_the_mean_rank(ranks: Ranks, k: int) -> list[float]:
    found = [rank for rank in ranks if rank is not None and rank <= k]
    return [len(found) / len(ranks), len(found) / max(sum(found), 1)]


def _first_ranks(random: Random) -> tuple[Ranks, int]:
    ranks: Ranks = [*random.choices([1, 2, 3, 4], k=4), random.randint(6, 9), None]
    random.shuffle(ranks)
    return ranks, random.choice([3, 5])


# ---------------------------------------------------------------- 03-3: a table that cannot be


def rule_of_the_table(answer: Any, rule: int) -> str:
    """Judge a table of HitRate and MRR at k = 1 and 5 that is to break one of the three rules."""
    (hit_1, hit_5), (mrr_1, mrr_5) = answer["HitRate"], answer["MRR"]
    if not all(0 <= value <= 1 for value in (hit_1, hit_5, mrr_1, mrr_5)):
        return "no_score"
    broken = {
        1: hit_5 < hit_1 or mrr_5 < mrr_1,
        2: mrr_1 > hit_1 or mrr_5 > hit_5,
        3: mrr_1 != hit_1,
    }
    if not any(broken.values()):
        return "possible"
    if not broken[rule]:
        return "another_rule"
    return "more_than_one" if sum(broken.values()) > 1 else RIGHT


def _table(*values: float) -> dict[str, list[float]]:
    hit_1, hit_5, mrr_1, mrr_5 = values
    return {"HitRate": [hit_1, hit_5], "MRR": [mrr_1, mrr_5]}


def _impossible(rule: int) -> dict[str, list[float]]:
    breaking = {1: (0.6, 0.8, 0.6, 0.5), 2: (0.4, 0.5, 0.4, 0.6), 3: (0.5, 0.7, 0.4, 0.5)}
    return _table(*breaking[rule])


# ---------------------------------------------------------------- 03-4: more hits, the same MRR


def least_of_all(ranks: dict[str, int | None]) -> list[Any]:
    return [_nearest_below(ranks), 5]


def to_the_top(ranks: dict[str, int | None]) -> list[Any]:
    return [_nearest_below(ranks), 1]


def from_the_farthest(ranks: dict[str, int | None]) -> list[Any]:
    return [max(_found(ranks), key=lambda query_id: ranks[query_id] or 0), 5]


def what_was_not_found(ranks: dict[str, int | None]) -> list[Any]:
    return [next(query_id for query_id, rank in ranks.items() if rank is None), 5]


def what_was_a_hit(ranks: dict[str, int | None]) -> list[Any]:
    hits = [query_id for query_id in _found(ranks) if (ranks[query_id] or 0) <= 5]
    return [max(hits, key=lambda query_id: ranks[query_id] or 0), 1]


def _found(ranks: dict[str, int | None]) -> Sequence[str]:
    return [query_id for query_id, rank in ranks.items() if rank is not None]


def _nearest_below(ranks: dict[str, int | None]) -> str:
    below = [query_id for query_id in _found(ranks) if (ranks[query_id] or 0) > 5]
    return min(below, key=lambda query_id: ranks[query_id] or 0)


def _ranks_of_six(random: Random) -> tuple[dict[str, int | None]]:
    below = random.sample([6, 7, 8, 9, 10], 2)
    values = [1, *random.sample([2, 3, 4], 2), *below, None]
    random.shuffle(values)
    return ({f"q{number}": rank for number, rank in enumerate(values, start=1)},)


EXERCISES: dict[str, Exercise] = {
    "03-1": Function(
        given=_ranking_and_relevant,
        right=reciprocal_rank,
        mistakes={
            "not_cut": not_cut,
            "mean_over_hits": mean_over_hits,
            "of_the_last": of_the_last,
            "rank_itself": rank_itself,
            "hit_or_not": hit_or_not,
        },
    ),
    "03-2": Exercise(
        given=_first_ranks,
        right=hit_rate_and_mrr,
        mistakes={
            "found_only": found_only,
            "without_the_missing": without_the_missing,
            "as_deep_as_it_goes": as_deep_as_it_goes,
            "one_over_the_mean_rank": one_over_the_mean_rank,
        },
    ),
    "03-3": Made(
        given=lambda random: (random.choice([1, 2, 3]),),
        right=_impossible,
        mistakes={
            "no_score": lambda rule: _table(0.5, 1.2, 0.5, 0.9),
            "possible": lambda rule: _table(0.5, 0.8, 0.5, 0.6),
            "another_rule": lambda rule: _impossible(rule % 3 + 1),
            "more_than_one": lambda rule: _table(0.5, 0.4, 0.6, 0.3),
        },
        rule=rule_of_the_table,
    ),
    "03-4": Exercise(
        given=_ranks_of_six,
        right=least_of_all,
        mistakes={
            "to_the_top": to_the_top,
            "from_the_farthest": from_the_farthest,
            "what_was_not_found": what_was_not_found,
            "what_was_a_hit": what_was_a_hit,
        },
    ),
}
