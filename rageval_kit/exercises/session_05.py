"""Session 5, Precision and Recall: one numerator, and two denominators to mix up."""

from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made

Pair: TypeAlias = tuple[list[float], list[float]]

# ---------------------------------------------------------------- 05-1: Precision by hand


def precision(ranking: list[str], relevant: list[str], k: int) -> float:
    found = [doc_id for doc_id in ranking[:k] if doc_id in relevant]
    return len(found) / k


def precision_by_hits(ranking: list[str], relevant: list[str], k: int) -> float:
    return precision(ranking, relevant, k) * k / len(ranking[:k])


def precision_by_relevant(ranking: list[str], relevant: list[str], k: int) -> float:
    return recall(ranking, relevant, k)


def precision_not_cut(ranking: list[str], relevant: list[str], k: int) -> float:
    return precision(ranking, relevant, len(ranking)) * len(ranking) / k


# ---------------------------------------------------------------- 05-2: Recall by hand


def recall(ranking: list[str], relevant: list[str], k: int) -> float:
    found = [doc_id for doc_id in ranking[:k] if doc_id in relevant]
    return len(found) / len(relevant)


def recall_by_k(ranking: list[str], relevant: list[str], k: int) -> float:
    return precision(ranking, relevant, k)


def recall_of_what_fits(ranking: list[str], relevant: list[str], k: int) -> float:
    return recall(ranking, relevant, k) * len(relevant) / min(len(relevant), k)


def recall_not_cut(ranking: list[str], relevant: list[str], k: int) -> float:
    return recall(ranking, relevant, len(ranking))


def _search(random: Random) -> tuple[list[str], list[str], int]:
    corpus = list("ABCDEFGHIJ")
    ranking = random.sample(corpus, random.randint(3, 8))
    return ranking, random.sample(corpus, random.randint(1, 6)), random.randint(2, 6)


# ---------------------------------------------------------------- 05-3: the best possible


def best_possible(n_relevant: list[int], k: int) -> Pair:
    best_precision = [min(n, k) / k for n in n_relevant]
    best_recall = [min(n, k) / n for n in n_relevant]
    return best_precision, best_recall


def best_swapped(n_relevant: list[int], k: int) -> Pair:
    best_precision, best_recall = best_possible(n_relevant, k)
    return best_recall, best_precision


def best_above_one(n_relevant: list[int], k: int) -> Pair:
    return [n / k for n in n_relevant], [k / n for n in n_relevant]


def best_is_one(n_relevant: list[int], k: int) -> Pair:
    return [1.0 for _ in n_relevant], [1.0 for _ in n_relevant]


def best_recall_is_one(n_relevant: list[int], k: int) -> Pair:
    return best_possible(n_relevant, k)[0], [1.0 for _ in n_relevant]


def _three_queries(random: Random) -> tuple[list[int], int]:
    k = random.choice([4, 5, 6])
    return [1, random.randint(2, k - 1), k + random.randint(2, 4)], k


# ---------------------------------------------------------------- 05-4: a case that shows the fault


def rule_of_two_searches(searches: Any, k: int) -> str:
    """Judge two searches, (hits, relevant hits) each: only the faulty tool may prefer the first."""
    (hits_a, found_a), (hits_b, found_b) = searches
    if min(hits_a, hits_b) < 1:
        return "no_hits"
    if max(hits_a, hits_b) > k:
        return "more_than_k"
    if found_a > hits_a or found_b > hits_b:
        return "more_relevant_than_hits"
    if found_a / hits_a <= found_b / hits_b:
        return "tool_prefers_b"
    return RIGHT if found_a < found_b else "both_prefer_a"


# ---------------------------------------------------------------- 05-5: a curve read backwards


def gains_of(precisions: list[float]) -> list[int]:
    counts = counts_of(precisions)
    return [after - before for before, after in zip([0, *counts], counts, strict=False)]


def counts_of(precisions: list[float]) -> list[int]:
    return [round(k * value) for k, value in enumerate(precisions, start=1)]


def gains_where_it_rises(precisions: list[float]) -> list[int]:
    return [int(b > a) for a, b in zip([0.0, *precisions], precisions, strict=False)]


def gains_where_it_is_high(precisions: list[float]) -> list[int]:
    return [int(value >= 0.5) for value in precisions]


def _precisions(random: Random) -> tuple[list[float]]:
    gains = [int(random.random() < 0.5) for _ in range(7)]
    return ([round(sum(gains[:k]) / k, 3) for k in range(1, 8)],)


EXERCISES: dict[str, Exercise] = {
    "05-1": Function(
        given=_search,
        right=precision,
        mistakes={
            "divided_by_hits": precision_by_hits,
            "divided_by_relevant": precision_by_relevant,
            "not_cut": precision_not_cut,
        },
    ),
    "05-2": Function(
        given=_search,
        right=recall,
        mistakes={
            "divided_by_k": recall_by_k,
            "divided_by_what_fits": recall_of_what_fits,
            "not_cut": recall_not_cut,
        },
    ),
    "05-3": Exercise(
        given=_three_queries,
        right=best_possible,
        mistakes={
            "swapped": best_swapped,
            "above_one": best_above_one,
            "always_one": best_is_one,
            "recall_always_one": best_recall_is_one,
        },
    ),
    "05-4": Made(
        given=lambda random: (random.choice([8, 10, 12]),),
        right=lambda k: ((1, 1), (k, 4)),
        mistakes={
            "no_hits": lambda k: ((0, 0), (k, 4)),
            "more_than_k": lambda k: ((1, 1), (k + 1, 4)),
            "more_relevant_than_hits": lambda k: ((1, 2), (k, 4)),
            "tool_prefers_b": lambda k: ((4, 1), (4, 2)),
            "both_prefer_a": lambda k: ((2, 2), (4, 1)),
        },
        rule=rule_of_two_searches,
    ),
    "05-5": Exercise(
        given=_precisions,
        right=gains_of,
        mistakes={
            "counts": counts_of,
            "where_it_rises": gains_where_it_rises,
            "where_it_is_high": gains_where_it_is_high,
        },
    ),
}
