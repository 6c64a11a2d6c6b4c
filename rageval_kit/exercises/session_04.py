"""Session 4, nDCG: a sum that is discounted, and divided by the best that it could be."""

import math
from itertools import pairwise
from random import Random
from typing import Any

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made

# ---------------------------------------------------------------- 04-1: DCG by hand


def dcg(gains: list[float], k: int) -> float:
    total = 0.0
    for rank, gain in enumerate(gains[:k], start=1):
        total += gain / math.log2(rank + 1)
    return total


def dcg_with_ln(gains: list[float], k: int) -> float:
    return sum(gain / math.log(rank + 1) for rank, gain in enumerate(gains[:k], start=1))


def dcg_not_cut(gains: list[float], k: int) -> float:
    return dcg(gains, len(gains))


def dcg_by_rank(gains: list[float], k: int) -> float:
    return sum(gain / rank for rank, gain in enumerate(gains[:k], start=1))


def dcg_one_rank_late(gains: list[float], k: int) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:k], start=1))


def dcg_from_rank_0(gains: list[float], k: int) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k]))


def _gains_and_cutoff(random: Random) -> tuple[list[float], int]:
    gains = [float(random.random() < 0.5) for _ in range(random.randint(5, 8))]
    return gains, random.randint(2, 4)


# ---------------------------------------------------------------- 04-2: the ideal


def idcg(grades: list[float], k: int) -> float:
    best_first = sorted(grades, reverse=True)
    return dcg(best_first, k)


def idcg_not_sorted(grades: list[float], k: int) -> float:
    return dcg(grades, k)


def idcg_not_cut(grades: list[float], k: int) -> float:
    return dcg(sorted(grades, reverse=True), len(grades))


def idcg_worst_first(grades: list[float], k: int) -> float:
    return dcg(sorted(grades), k)


def idcg_exponential(grades: list[float], k: int) -> float:
    return idcg([2**grade - 1 for grade in grades], k)


def _grades_and_cutoff(random: Random) -> tuple[list[float], int]:
    return [float(random.randint(1, 3)) for _ in range(random.randint(3, 6))], random.randint(1, 4)


# ---------------------------------------------------------------- 04-3: nDCG of one query


def ndcg(gains: list[float], n_relevant: int, k: int) -> float:
    return dcg(gains, k) / idcg([1.0] * n_relevant, k)


def ndcg_of_what_came(gains: list[float], n_relevant: int, k: int) -> float:
    return dcg(gains, k) / idcg(gains, k)


def ndcg_ideal_not_cut(gains: list[float], n_relevant: int, k: int) -> float:
    return dcg(gains, k) / idcg([1.0] * n_relevant, n_relevant)


def ndcg_over_k(gains: list[float], n_relevant: int, k: int) -> float:
    return dcg(gains, k) / k


def ndcg_not_divided(gains: list[float], n_relevant: int, k: int) -> float:
    return dcg(gains, k)


def _query(random: Random) -> tuple[list[float], int, int]:
    gains = [0.0, 1.0, *(float(random.random() < 0.4) for _ in range(3))]
    random.shuffle(gains)
    k = random.choice([3, 4])
    return gains, max(int(sum(gains)), k) + random.randint(1, 3), k


# ---------------------------------------------------------------- 04-4: as k grows


def trend(gains: list[float], n_relevant: int) -> list[str]:
    return _steps([ndcg(gains, n_relevant, k) for k in range(1, len(gains) + 1)])


def trend_of_dcg(gains: list[float], n_relevant: int) -> list[str]:
    return _steps([dcg(gains, k) for k in range(1, len(gains) + 1)])


def trend_of_precision(gains: list[float], n_relevant: int) -> list[str]:
    return _steps([sum(gains[:k]) / k for k in range(1, len(gains) + 1)])


def _steps(values: list[float]) -> list[str]:
    """Say of each value but the first what it does from the one before it."""
    words = []
    for before, after in pairwise(values):
        stays = math.isclose(before, after)
        words.append("stays" if stays else "rises" if after > before else "falls")
    return words


def _a_ranking(random: Random) -> tuple[list[float], int]:
    gains = [1.0, *(float(random.random() < 0.5) for _ in range(4))]
    return gains, int(sum(gains)) + random.randint(0, 1)


# ---------------------------------------------------------------- 04-5: a case that shows the fault


def rule_of_the_case(case: Any) -> str:
    """Judge a case (gains, n_relevant, k): an nDCG without its IDCG is to be above 1 there."""
    gains, n_relevant, k = case
    if not set(gains) <= {0, 1}:
        return "other_gains"
    if sum(gains) > n_relevant:
        return "more_found_than_there_are"
    if not any(gains[:k]):
        return "nothing_found"
    return RIGHT if dcg(gains, k) > 1 else "not_above_1"


EXERCISES: dict[str, Exercise] = {
    "04-1": Function(
        given=_gains_and_cutoff,
        right=dcg,
        mistakes={
            "natural_logarithm": dcg_with_ln,
            "not_cut": dcg_not_cut,
            "reciprocal_rank": dcg_by_rank,
            "one_rank_late": dcg_one_rank_late,
            "from_rank_0": dcg_from_rank_0,
        },
    ),
    "04-2": Function(
        given=_grades_and_cutoff,
        right=idcg,
        mistakes={
            "not_sorted": idcg_not_sorted,
            "not_cut": idcg_not_cut,
            "worst_first": idcg_worst_first,
            "exponential_gain": idcg_exponential,
        },
    ),
    "04-3": Exercise(
        given=_query,
        right=ndcg,
        mistakes={
            "ideal_of_what_came": ndcg_of_what_came,
            "ideal_not_cut": ndcg_ideal_not_cut,
            "divided_by_k": ndcg_over_k,
            "not_divided": ndcg_not_divided,
        },
    ),
    "04-4": Exercise(
        given=_a_ranking,
        right=trend,
        mistakes={"like_dcg": trend_of_dcg, "like_precision": trend_of_precision},
    ),
    "04-5": Made(
        given=lambda random: (),
        right=lambda: ([1.0, 1.0, 0.0], 2, 3),
        mistakes={
            "other_gains": lambda: ([3.0, 0.0, 0.0], 1, 3),
            "more_found_than_there_are": lambda: ([1.0, 1.0, 1.0], 1, 3),
            "nothing_found": lambda: ([0.0, 0.0, 0.0], 2, 3),
            "not_above_1": lambda: ([1.0, 0.0, 0.0], 1, 3),
        },
        rule=rule_of_the_case,
    ),
}
