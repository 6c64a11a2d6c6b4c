"""Session 0, reading: where a right document stands, a first score, what no score decides."""

from random import Random
from typing import Any

from rageval_kit.exercises.kinds import RIGHT, Exercise, Made

# ---------------------------------------------------------------- 00-1: where they stand


def ranks_of_the_right(ranking: list[str], right_ids: list[str]) -> list[int]:
    return [rank for rank, doc_id in enumerate(ranking, start=1) if doc_id in right_ids]


def ranks_from_zero(ranking: list[str], right_ids: list[str]) -> list[int]:
    return [place for place, doc_id in enumerate(ranking) if doc_id in right_ids]


def rank_of_the_first(ranking: list[str], right_ids: list[str]) -> list[int]:
    return ranks_of_the_right(ranking, right_ids)[:1]


def ranks_from_the_end(ranking: list[str], right_ids: list[str]) -> list[int]:
    return ranks_of_the_right(ranking[::-1], right_ids)


def _ranking(random: Random) -> tuple[list[str], list[str]]:
    ranking = [f"d{number}" for number in random.sample(range(10, 100), 8)]
    return ranking, random.sample(ranking, 2)


# ---------------------------------------------------------------- 00-2: a first score


def share_right_at_first(rankings: dict[str, list[str]], right_ids: dict[str, list[str]]) -> float:
    answerable = [query_id for query_id, ids in right_ids.items() if ids]
    return n_right_at_first(rankings, right_ids) / len(answerable)


def n_right_at_first(rankings: dict[str, list[str]], right_ids: dict[str, list[str]]) -> int:
    return sum(rankings[query_id][0] in ids for query_id, ids in right_ids.items())


def divided_by_all(rankings: dict[str, list[str]], right_ids: dict[str, list[str]]) -> float:
    return n_right_at_first(rankings, right_ids) / len(right_ids)


def found_anywhere(rankings: dict[str, list[str]], right_ids: dict[str, list[str]]) -> float:
    answerable = [query_id for query_id, ids in right_ids.items() if ids]
    found = [query_id for query_id in answerable if {*rankings[query_id]} & {*right_ids[query_id]}]
    return len(found) / len(answerable)


def nothing_as_right(rankings: dict[str, list[str]], right_ids: dict[str, list[str]]) -> float:
    n_unanswerable = sum(not ids for ids in right_ids.values())
    return (n_right_at_first(rankings, right_ids) + n_unanswerable) / len(right_ids)


def _questions(random: Random) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    rankings, right_ids = {}, {}
    for query_id in ("q1", "q2", "q3", "q4", "q5", "q6"):
        rankings[query_id] = [f"d{number}" for number in random.sample(range(10, 100), 4)]
        right_ids[query_id] = random.choices(rankings[query_id], weights=[5, 2, 1, 1])
    right_ids[random.choice(["q1", "q2", "q3"])] = []
    right_ids[random.choice(["q4", "q5", "q6"])] = ["d1"]  # that no ranking has
    return rankings, right_ids


# ---------------------------------------------------------------- 00-3: what a threshold decides


def decided_wrongly(first_hits: dict[str, tuple[float, bool]], threshold: float) -> list[str]:
    return [
        query_id
        for query_id, (closeness, is_right) in first_hits.items()
        if (closeness >= threshold) != is_right
    ]


def kept_though_wrong(first_hits: dict[str, tuple[float, bool]], threshold: float) -> list[str]:
    wrongly = decided_wrongly(first_hits, threshold)
    return [query_id for query_id in wrongly if not first_hits[query_id][1]]


def dropped_though_right(first_hits: dict[str, tuple[float, bool]], threshold: float) -> list[str]:
    wrongly = decided_wrongly(first_hits, threshold)
    return [query_id for query_id in wrongly if first_hits[query_id][1]]


def decided_rightly(first_hits: dict[str, tuple[float, bool]], threshold: float) -> list[str]:
    wrongly = decided_wrongly(first_hits, threshold)
    return [query_id for query_id in first_hits if query_id not in wrongly]


def _first_hits(random: Random) -> tuple[dict[str, tuple[float, bool]], float]:
    first_hits = {
        f"q{number}": (random.randint(10, 55) / 100, random.random() < 0.5)
        for number in range(1, 7)
    }
    return first_hits, random.choice([0.25, 0.3, 0.35])


# ---------------------------------------------------------------- 00-4: the same score


def rule_of_the_pair(answer: Any) -> str:
    """Judge two rankings and the right documents: one first score, two different rankings."""
    one, other, right_ids = answer
    if len(set(right_ids)) < 2:
        return "one_right_document"
    if any(len(ranking) != 5 or len(set(ranking)) != 5 for ranking in (one, other)):
        return "not_five_documents"
    if one[0] not in right_ids or other[0] not in right_ids:
        return "first_is_wrong"
    if len({*one} & {*right_ids}) == len({*other} & {*right_ids}):
        return "equally_many_found"
    return RIGHT


_FIVE = ["d1", "d2", "d3", "d4", "d5"]
_WITHOUT_D2 = ["d1", "d3", "d4", "d5", "d6"]

EXERCISES: dict[str, Exercise] = {
    "00-1": Exercise(
        given=_ranking,
        right=ranks_of_the_right,
        mistakes={
            "from_zero": ranks_from_zero,
            "first_only": rank_of_the_first,
            "from_the_end": ranks_from_the_end,
        },
    ),
    "00-2": Exercise(
        given=_questions,
        right=share_right_at_first,
        mistakes={
            "divided_by_all": divided_by_all,
            "found_anywhere": found_anywhere,
            "nothing_as_right": nothing_as_right,
            "number_not_share": n_right_at_first,
        },
    ),
    "00-3": Exercise(
        given=_first_hits,
        right=decided_wrongly,
        mistakes={
            "kept_though_wrong": kept_though_wrong,
            "dropped_though_right": dropped_though_right,
            "decided_rightly": decided_rightly,
        },
    ),
    "00-4": Made(
        given=lambda random: (),
        right=lambda: (_FIVE, _WITHOUT_D2, ["d1", "d2"]),
        mistakes={
            "one_right_document": lambda: (_FIVE, _WITHOUT_D2, ["d1"]),
            "not_five_documents": lambda: (_FIVE, ["d1", "d3"], ["d1", "d2"]),
            "first_is_wrong": lambda: (_FIVE, _WITHOUT_D2, ["d2", "d3"]),
            "equally_many_found": lambda: (_FIVE, ["d1", "d3", "d4", "d5", "d2"], ["d1", "d2"]),
        },
        rule=rule_of_the_pair,
    ),
}
