"""Session 8, over which queries is the mean: what is divided by what, and who is left out."""

from random import Random
from typing import Any

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made

# ---------------------------------------------------------------- 08-1: macro and pooled


def macro_and_pooled(found: list[int], relevant: list[int]) -> tuple[float, float]:
    recalls = [f / r for f, r in zip(found, relevant, strict=True)]
    return sum(recalls) / len(recalls), sum(found) / sum(relevant)


def averages_swapped(found: list[int], relevant: list[int]) -> tuple[float, float]:
    macro, pooled = macro_and_pooled(found, relevant)
    return pooled, macro


def averages_of_those_that_found(found: list[int], relevant: list[int]) -> tuple[float, float]:
    pairs = [(f, r) for f, r in zip(found, relevant, strict=True) if f]
    if not pairs:
        return 0.0, 0.0
    return macro_and_pooled([f for f, _ in pairs], [r for _, r in pairs])


def pooled_over_queries(found: list[int], relevant: list[int]) -> tuple[float, float]:
    return macro_and_pooled(found, relevant)[0], sum(found) / len(found)


def macro_twice(found: list[int], relevant: list[int]) -> tuple[float, float]:
    macro, _ = macro_and_pooled(found, relevant)
    return macro, macro


def _found_and_relevant(random: Random) -> tuple[list[int], list[int]]:
    relevant = [random.choice([1, 2, 4, 8]) for _ in range(random.randint(3, 5))]
    return [random.randint(0, r) for r in relevant], relevant


# ---------------------------------------------------------------- 08-2: the policies


def by_policy(recalls: list[float], n_unanswerable: int) -> dict[str, float]:
    n = len(recalls)
    return {
        "exclude": sum(recalls) / n,
        "zero": sum(recalls) / (n + n_unanswerable),
        "one": (sum(recalls) + n_unanswerable) / (n + n_unanswerable),
    }


def failures_excluded(recalls: list[float], n_unanswerable: int) -> dict[str, float]:
    found = [recall for recall in recalls if recall]
    return by_policy(recalls, n_unanswerable) | {"exclude": sum(found) / len(found)}


def zero_and_one_swapped(recalls: list[float], n_unanswerable: int) -> dict[str, float]:
    right = by_policy(recalls, n_unanswerable)
    return right | {"zero": right["one"], "one": right["zero"]}


def divided_by_the_answerable(recalls: list[float], n_unanswerable: int) -> dict[str, float]:
    n = len(recalls)
    added = {"zero": sum(recalls) / n, "one": (sum(recalls) + n_unanswerable) / n}
    return by_policy(recalls, n_unanswerable) | added


def divided_by_all(recalls: list[float], n_unanswerable: int) -> dict[str, float]:
    right = by_policy(recalls, n_unanswerable)
    return right | {"exclude": right["zero"]}


def _recalls(random: Random) -> tuple[list[float], int]:
    recalls = [0.0, 1.0, *random.choices([0.25, 0.5, 0.75, 1.0], k=random.randint(2, 4))]
    random.shuffle(recalls)
    return recalls, random.randint(2, 4)


# ---------------------------------------------------------------- 08-3: a case that shows the fault


def rule_of_the_case(case: Any) -> str:
    """Judge a case (ranking, relevant, k) whose forgetful Recall is to be 1 and is wrong."""
    ranking, relevant, k = case
    came_back = [doc_id for doc_id in relevant if doc_id in ranking]
    found = [doc_id for doc_id in relevant if doc_id in ranking[:k]]
    if not relevant:
        return "nothing_relevant"
    if not came_back:
        return "nothing_came"
    if len(found) < len(came_back):
        return "late"
    return RIGHT if len(came_back) < len(relevant) else "all_found"


# ---------------------------------------------------------------- 08-4: two reports


def better_report(a_zero: float, b_exclude: float, n: int, n_unanswerable: int) -> list[Any]:
    a_exclude = a_zero * n / (n - n_unanswerable)
    return ["A" if a_exclude > b_exclude else "B", a_exclude]


def as_they_stand(a_zero: float, b_exclude: float, n: int, n_unanswerable: int) -> list[Any]:
    return ["A" if a_zero > b_exclude else "B", a_zero]


def the_wrong_way(a_zero: float, b_exclude: float, n: int, n_unanswerable: int) -> list[Any]:
    a_exclude = a_zero * (n - n_unanswerable) / n
    return ["A" if a_exclude > b_exclude else "B", a_exclude]


def b_with_zeros(a_zero: float, b_exclude: float, n: int, n_unanswerable: int) -> list[Any]:
    b_zero = b_exclude * (n - n_unanswerable) / n
    return ["A" if a_zero > b_zero else "B", b_zero]


def divided_by_the_unanswerable(
    a_zero: float, b_exclude: float, n: int, n_unanswerable: int
) -> list[Any]:
    a_exclude = a_zero * n / n_unanswerable
    return ["A" if a_exclude > b_exclude else "B", a_exclude]


def _two_reports(random: Random) -> tuple[float, float, int, int]:
    n, n_unanswerable = random.choice([(100, 20), (200, 50), (120, 30), (250, 50)])
    a_exclude = random.randint(80, 92) / 100
    b_exclude = a_exclude + random.choice([-4, -3, -2, 2, 3, 4]) / 100
    return round(a_exclude * (n - n_unanswerable) / n, 4), round(b_exclude, 2), n, n_unanswerable


EXERCISES: dict[str, Exercise] = {
    "08-1": Function(
        given=_found_and_relevant,
        right=macro_and_pooled,
        mistakes={
            "swapped": averages_swapped,
            "failures_dropped": averages_of_those_that_found,
            "pooled_over_queries": pooled_over_queries,
            "macro_twice": macro_twice,
        },
    ),
    "08-2": Exercise(
        given=_recalls,
        right=by_policy,
        mistakes={
            "failures_excluded": failures_excluded,
            "zero_and_one_swapped": zero_and_one_swapped,
            "divided_by_the_answerable": divided_by_the_answerable,
            "divided_by_all": divided_by_all,
        },
    ),
    "08-3": Made(
        given=lambda random: (),
        right=lambda: (["D1", "D7", "D8"], ["D1", "D2"], 3),
        mistakes={
            "nothing_relevant": lambda: (["D1", "D7", "D8"], [], 3),
            "nothing_came": lambda: (["D9", "D7", "D8"], ["D1", "D2"], 3),
            "late": lambda: (["D1", "D7", "D2"], ["D1", "D2", "D3"], 2),
            "all_found": lambda: (["D1", "D2", "D8"], ["D1", "D2"], 3),
        },
        rule=rule_of_the_case,
    ),
    "08-4": Exercise(
        given=_two_reports,
        right=better_report,
        mistakes={
            "as_they_stand": as_they_stand,
            "the_wrong_way": the_wrong_way,
            "b_with_zeros": b_with_zeros,
            "divided_by_the_unanswerable": divided_by_the_unanswerable,
        },
    ),
}
