"""Session 11, how sure: many comparisons, few queries, and a report that says so."""

import math
from random import Random
from typing import Any

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made
from rageval_kit.exercises.student_reports import (
    CANNOT_TELL,
    OTHER_THAN,
    figures,
    verdict_of,
    verdicts,
)
from rageval_kit.language import split_sentences
from rageval_kit.wording import current_language, say

# ---------------------------------------------------------------- 11-1: Holm's correction


def holm(p: list[float]) -> list[float]:
    corrected, largest = dict.fromkeys(range(len(p)), 0.0), 0.0
    for done, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, (len(p) - done) * p[place])
        corrected[place] = min(largest, 1.0)
    return list(corrected.values())


def all_times_all(p: list[float]) -> list[float]:
    return [min(len(p) * value, 1.0) for value in p]


def without_running_maximum(p: list[float]) -> list[float]:
    ranked = sorted(p)
    return [min((len(p) - ranked.index(value)) * value, 1.0) for value in p]


def not_capped(p: list[float]) -> list[float]:
    ranked = sorted(p)
    products = [(len(p) - done) * value for done, value in enumerate(ranked)]
    return [max(products[: ranked.index(value) + 1]) for value in p]


def in_sorted_order(p: list[float]) -> list[float]:
    return holm(sorted(p))


def largest_times_all(p: list[float]) -> list[float]:
    ranked = sorted(p)
    return [min((ranked.index(value) + 1) * value, 1.0) for value in p]


def _some_p(random: Random) -> tuple[list[float]]:
    some = random.sample(range(1, 60), random.randint(2, 4)) + random.sample(range(400, 900), 2)
    p = [number / 1000 for number in some]
    random.shuffle(p)
    return (p,)


# ---------------------------------------------------------------- 11-2: more queries


def interval_then(low: float, high: float, n: int, n_then: int) -> list[float]:
    middle, half = (low + high) / 2, (high - low) / 2
    half *= math.sqrt(n / n_then)
    return [middle - half, middle + half]


def interval_by_n(low: float, high: float, n: int, n_then: int) -> list[float]:
    return interval_then(low, high, n**2, n_then**2)


def interval_wider(low: float, high: float, n: int, n_then: int) -> list[float]:
    return interval_then(low, high, n_then, n)


def both_limits_shrink(low: float, high: float, n: int, n_then: int) -> list[float]:
    return [limit * math.sqrt(n / n_then) for limit in (low, high)]


def interval_unchanged(low: float, high: float, n: int, n_then: int) -> list[float]:
    return [low, high]


def _an_interval(random: Random) -> tuple[float, float, int, int]:
    middle, half = random.randint(20, 50) / 1000, random.randint(30, 70) / 1000
    n = random.choice([50, 60, 80, 100])
    return round(middle - half, 3), round(middle + half, 3), n, n * random.choice([4, 9, 16])


# ---------------------------------------------------------------- 11-3: the best of many


def chance_of_a_winner(tried: int) -> float:
    return 1 - 0.95**tried


def chances_added(tried: int) -> float:
    return 0.05 * tried


def chance_of_one(tried: int) -> float:
    return 0.05


def chance_of_none(tried: int) -> float:
    return 0.95**tried


# ---------------------------------------------------------------- 11-4: a report

Facts = dict[str, Any]

_TOLD = {
    "en": (
        "{tried} variants were compared with the old search on {n} queries. "
        "The metric was nDCG@10, chosen beforehand. "
        "The best variant is {difference} higher, interval {low} to {high}. "
        "After Holm's correction p is {p_holm}: {verdict}. "
        "Repeat it with new queries."
    ),
    "ko": (
        "변형 {tried}가지를 질의 {n}개로 이전 검색과 비교했습니다. "
        "지표는 미리 정한 nDCG@10입니다. "
        "가장 좋은 변형은 {difference} 높고, 구간은 {low}에서 {high}까지입니다. "
        "홀름 보정을 하면 p는 {p_holm}이고, 판정은 '{verdict}'입니다. "
        "새 질의로 다시 비교하십시오."
    ),
}


def report(facts: Facts) -> str:
    return _report(facts, verdict_of(facts["p_holm"]))


def _report(facts: Facts, verdict: str) -> str:
    return _TOLD[current_language()].format(verdict=say(verdict), **facts)


def _report_with_the_other_verdict(facts: Facts) -> str:
    return _report(facts, OTHER_THAN[verdict_of(facts["p_holm"])])


def rule_of_the_report(text: str, facts: Facts) -> str:
    """Judge a report by its sentences, its figures and whether its verdict is that of p_holm."""
    if len(split_sentences(text)) != 5:
        return "not_five_sentences"
    told = figures(text)
    if facts["tried"] not in told:
        return "comparisons_not_counted"
    wanted = {abs(facts[key]) for key in ("n", "difference", "low", "high", "p_holm")}
    if not told >= wanted:
        return "figure_missing"

    # "Better, or not, we cannot tell" says that we cannot.
    said = verdicts(text)
    if CANNOT_TELL in said:
        said = {CANNOT_TELL}
    return RIGHT if said == {verdict_of(facts["p_holm"])} else "other_verdict"


def _facts(random: Random) -> tuple[Facts]:
    difference = random.randint(28, 45)
    half = difference - random.randint(3, 9)  # the interval of one comparison excludes 0
    low, high = (difference - half) / 1000, (difference + half) / 1000
    p_holm = random.choice([random.randint(11, 39), random.randint(61, 240)]) / 1000
    numbers: Facts = {"n": random.randint(180, 320), "tried": random.randint(6, 12)}
    numbers |= {"difference": difference / 1000, "low": low, "high": high, "p_holm": p_holm}
    return (numbers,)


EXERCISES: dict[str, Exercise] = {
    "11-1": Function(
        given=_some_p,
        right=holm,
        mistakes={
            "all_times_all": all_times_all,
            "no_running_maximum": without_running_maximum,
            "not_capped": not_capped,
            "in_sorted_order": in_sorted_order,
            "largest_times_all": largest_times_all,
        },
    ),
    "11-2": Exercise(
        given=_an_interval,
        right=interval_then,
        mistakes={
            "width_by_n": interval_by_n,
            "wider": interval_wider,
            "limits_shrink": both_limits_shrink,
            "unchanged": interval_unchanged,
        },
    ),
    "11-3": Exercise(
        given=lambda random: (random.randint(4, 18),),
        right=chance_of_a_winner,
        mistakes={
            "chances_added": chances_added,
            "chance_of_one": chance_of_one,
            "chance_of_none": chance_of_none,
        },
        decimals=2,
    ),
    "11-4": Made(
        given=_facts,
        right=report,
        mistakes={
            "not_five_sentences": lambda facts: report(facts) + " " + report(facts),
            "comparisons_not_counted": lambda facts: report(facts | {"tried": ""}),
            "figure_missing": lambda facts: report(facts | {"low": ""}),
            "other_verdict": _report_with_the_other_verdict,
        },
        rule=rule_of_the_report,
    ),
}
