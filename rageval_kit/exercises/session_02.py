"""Session 2, the search: distance and cosine, which direction is better, what is searched again."""

import math
from random import Random
from typing import Any

from rageval_kit.exercises.kinds import RIGHT, WRONG, Exercise, Function, Made

# ---------------------------------------------------------------- 02-1: one in terms of the other


def distance_and_cosine(cosine: float, distance: float) -> list[float]:
    return [2 - 2 * cosine, 1 - distance / 2]


def one_minus(cosine: float, distance: float) -> list[float]:
    return [1 - cosine, 1 - distance]


def not_squared(cosine: float, distance: float) -> list[float]:
    return [math.sqrt(2 - 2 * cosine), 1 - distance**2 / 2]


def answers_swapped(cosine: float, distance: float) -> list[float]:
    return distance_and_cosine(cosine, distance)[::-1]


def _cosine_and_distance(random: Random) -> tuple[float, float]:
    return random.randint(20, 90) / 100, random.randint(20, 180) / 100


# ---------------------------------------------------------------- 02-2: best first


def best_first(hits: list[dict[str, Any]], lower_is_better: bool) -> list[str]:
    ordered = sorted(hits, key=lambda hit: hit["score"], reverse=not lower_is_better)
    return [hit["doc_id"] for hit in ordered]


def always_largest_first(hits: list[dict[str, Any]], lower_is_better: bool) -> list[str]:
    return best_first(hits, lower_is_better=False)


def always_smallest_first(hits: list[dict[str, Any]], lower_is_better: bool) -> list[str]:
    return best_first(hits, lower_is_better=True)


def worst_first(hits: list[dict[str, Any]], lower_is_better: bool) -> list[str]:
    return best_first(hits, not lower_is_better)


def in_order_of_ids(hits: list[dict[str, Any]], lower_is_better: bool) -> list[str]:
    return sorted(hit["doc_id"] for hit in hits)


def _hits(random: Random) -> tuple[list[dict[str, Any]], bool]:
    scores = random.sample(range(10, 190), 5)
    ids = random.sample(range(1, 10), 5)
    hits = [
        {"doc_id": f"d{number}", "score": score / 100}
        for number, score in zip(ids, scores, strict=True)
    ]
    return hits, random.random() < 0.5


# ---------------------------------------------------------------- 02-3: searched again?


def searched(n_queries: int, steps: list[dict[str, Any]]) -> list[int]:
    deepest: dict[Any, int] = {}  # k of what is known of an index and a question
    counts = []

    # A query is searched if this question was never put to this index, or not so deep.
    for step in steps:
        reworded = [number < step["reworded"] for number in range(n_queries)]
        keys = [(step["index"], number, new) for number, new in enumerate(reworded)]
        counts.append(sum(deepest.get(key, 0) < step["k"] for key in keys))
        deepest |= {key: max(step["k"], deepest.get(key, 0)) for key in keys}
    return counts


def never_kept(n_queries: int, steps: list[dict[str, Any]]) -> list[int]:
    return [n_queries for _ in steps]


def smaller_k_searched(n_queries: int, steps: list[dict[str, Any]]) -> list[int]:
    seen: set[Any] = set()
    counts = []
    for step in steps:
        keys = {(step["index"], n, n < step["reworded"], step["k"]) for n in range(n_queries)}
        counts.append(len(keys - seen))
        seen |= keys
    return counts


def reworded_searches_all(n_queries: int, steps: list[dict[str, Any]]) -> list[int]:
    return [n_queries if n else 0 for n in searched(n_queries, steps)]


def index_forgotten(n_queries: int, steps: list[dict[str, Any]]) -> list[int]:
    return searched(n_queries, [step | {"index": "A"} for step in steps])


def _steps(random: Random) -> tuple[int, list[dict[str, Any]]]:
    n_queries = random.randint(8, 20)
    kinds = [
        {"index": "A", "reworded": 0, "k": 5},
        {"index": "A", "reworded": 0, "k": 3},
        {"index": "A", "reworded": 0, "k": 8},
        {"index": "A", "reworded": random.randint(1, 3), "k": 5},
        {"index": "B", "reworded": 0, "k": 5},
    ]
    later = random.sample(kinds[1:], 4)
    return n_queries, [kinds[0], *later, random.choice(kinds[:2])]


# ---------------------------------------------------------------- 02-4: beyond 2


def rule_of_the_vectors(answer: Any, distance: float) -> str:
    """Judge two vectors of length 1 that are to have a given squared L2 distance."""
    u, v = ([float(number) for number in vector] for vector in answer)
    if len(u) != len(v):
        return "unlike_in_size"
    if not all(math.isclose(math.hypot(*vector), 1, abs_tol=0.01) for vector in (u, v)):
        return "not_of_length_1"

    # The squared distance, and what it is taken for.
    plain = math.dist(u, v)
    if math.isclose(plain**2, distance, abs_tol=0.02):
        return RIGHT
    if math.isclose(4 - plain**2, distance, abs_tol=0.02):
        return "other_sign"
    return "at_most_2" if plain**2 <= 2.01 else WRONG


def _on_the_circle(distance: float) -> tuple[list[float], list[float]]:
    cosine = 1 - distance / 2
    return [1.0, 0.0], [cosine, math.sqrt(1 - cosine**2)]


EXERCISES: dict[str, Exercise] = {
    "02-1": Exercise(
        given=_cosine_and_distance,
        right=distance_and_cosine,
        mistakes={
            "one_minus": one_minus,
            "not_squared": not_squared,
            "answers_swapped": answers_swapped,
        },
    ),
    "02-2": Function(
        given=_hits,
        right=best_first,
        mistakes={
            "always_largest_first": always_largest_first,
            "always_smallest_first": always_smallest_first,
            "worst_first": worst_first,
            "in_order_of_ids": in_order_of_ids,
        },
    ),
    "02-3": Exercise(
        given=_steps,
        right=searched,
        mistakes={
            "never_kept": never_kept,
            "smaller_k_searched": smaller_k_searched,
            "reworded_searches_all": reworded_searches_all,
            "index_forgotten": index_forgotten,
        },
    ),
    "02-4": Made(
        given=lambda random: (random.choice([2.3, 2.5, 2.8, 3.2, 3.6]),),
        right=_on_the_circle,
        mistakes={
            "unlike_in_size": lambda distance: ([1.0, 0.0], [1.0, 0.0, 0.0]),
            "not_of_length_1": lambda distance: ([0.0, 0.0], [math.sqrt(distance), 0.0]),
            "other_sign": lambda distance: _on_the_circle(4 - distance),
            "at_most_2": lambda distance: _on_the_circle(2.0),
        },
        rule=rule_of_the_vectors,
    ),
}
