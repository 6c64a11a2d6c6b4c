"""Session 21, the whole grid: how many systems, how far the best is flattered, and what to take."""

from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made, Way
from rageval_kit.exercises.student_reports import OTHER_THAN, figures, verdict_of, verdicts
from rageval_kit.language import split_sentences
from rageval_kit.wording import current_language, say

# ---------------------------------------------------------------- 21-1: how many are made


def counts(axes: dict[str, int], axis: str) -> list[int]:
    whole = _product(axes)
    larger = _product(axes | {axis: axes[axis] + 1})
    one_at_a_time = 1 + sum(values - 1 for values in axes.values())
    return [whole, one_at_a_time, larger - whole, larger - 1]


def counts_by_sum(axes: dict[str, int], axis: str) -> list[int]:
    _, one_at_a_time, _, _ = counts(axes, axis)
    return [sum(axes.values()), one_at_a_time, 1, sum(axes.values())]


def counts_with_all_values_one_at_a_time(axes: dict[str, int], axis: str) -> list[int]:
    whole, _, new, factor = counts(axes, axis)
    return [whole, sum(axes.values()), new, factor]


def counts_with_all_made_again(axes: dict[str, int], axis: str) -> list[int]:
    whole, one_at_a_time, new, factor = counts(axes, axis)
    return [whole, one_at_a_time, whole + new, factor]


def counts_with_one_new(axes: dict[str, int], axis: str) -> list[int]:
    whole, one_at_a_time, _, factor = counts(axes, axis)
    return [whole, one_at_a_time, 1, factor]


def counts_with_baseline_compared(axes: dict[str, int], axis: str) -> list[int]:
    whole, one_at_a_time, new, factor = counts(axes, axis)
    return [whole, one_at_a_time, new, factor + 1]


def _product(axes: dict[str, int]) -> int:
    product = 1
    for values in axes.values():
        product *= values
    return product


def _axes(random: Random) -> tuple[dict[str, int], str]:
    axes = {"model": random.randint(2, 4), "size": random.randint(3, 5), "hybrid": 2}
    return axes, random.choice(["model", "size"])


# ---------------------------------------------------------------- 21-2: chosen and measured apart

Scores: TypeAlias = dict[str, dict[str, float]]  # by system: a value a query


def promised(scores: Scores, half: list[str]) -> float:
    best = max(scores, key=lambda name: _mean(scores[name], half))
    others = [query_id for query_id in scores[best] if query_id not in half]
    return _mean(scores[best], others)


def promised_of_the_best_of_all(scores: Scores, half: list[str]) -> float:
    best = max(scores, key=lambda name: sum(scores[name].values()))
    others = [query_id for query_id in scores[best] if query_id not in half]
    return _mean(scores[best], others)


def promised_on_the_half_that_chose(scores: Scores, half: list[str]) -> float:
    return max(_mean(values, half) for values in scores.values())


def promised_on_all(scores: Scores, half: list[str]) -> float:
    best = max(scores, key=lambda name: _mean(scores[name], half))
    return _mean(scores[best], list(scores[best]))


def promised_of_the_best_of_the_others(scores: Scores, half: list[str]) -> float:
    values = next(iter(scores.values()))
    others = [query_id for query_id in values if query_id not in half]
    return max(_mean(values, others) for values in scores.values())


def _mean(values: dict[str, float], query_ids: list[str]) -> float:
    return sum(values[query_id] for query_id in query_ids) / len(query_ids)


def _scores(random: Random) -> tuple[Scores, list[str]]:
    query_ids = [f"q{number}" for number in range(1, 9)]
    scores = {
        name: {query_id: random.randint(10, 99) / 100 for query_id in query_ids}
        for name in ("cedar", "maple", "willow")
    }
    return scores, sorted(random.sample(query_ids, 4))


# ---------------------------------------------------------------- 21-3: the best of n equal ones


def best_of_equals(low: float, high: float, n: int) -> list[float]:
    return [high - (high - low) * 0.5**n, (low + high) / 2]


def best_is_the_mean(low: float, high: float, n: int) -> list[float]:
    return [(low + high) / 2, (low + high) / 2]


def best_keeps_its_luck(low: float, high: float, n: int) -> list[float]:
    return [best_of_equals(low, high, n)[0]] * 2


def best_is_always_lucky(low: float, high: float, n: int) -> list[float]:
    return [high, (low + high) / 2]


def best_of_all_lucky(low: float, high: float, n: int) -> list[float]:
    return [low + (high - low) * 0.5**n, (low + high) / 2]


def best_falls_below(low: float, high: float, n: int) -> list[float]:
    return [best_of_equals(low, high, n)[0], low]


def _lucky(random: Random) -> tuple[float, float, int]:
    low = random.randint(60, 80) / 100
    return low, round(low + random.choice([0.04, 0.06, 0.08]), 2), random.randint(2, 4)


# ---------------------------------------------------------------- 21-4: the cheapest that will do

Table: TypeAlias = dict[str, dict[str, Any]]  # by system: what is known of it
_A_MILLION = 1_000_000


def cheapest(table: Table, questions: int, prices: dict[str, float]) -> list[Any]:
    bills = {name: _bill(row, questions, prices) for name, row in table.items() if row["like_best"]}
    return _least(bills)


def take_the_best(table: Table, questions: int, prices: dict[str, float]) -> list[Any]:
    best = max(table, key=lambda name: table[name]["mean"])
    return [best, _bill(table[best], questions, prices)]


def take_the_cheapest_of_all(table: Table, questions: int, prices: dict[str, float]) -> list[Any]:
    return _least({name: _bill(row, questions, prices) for name, row in table.items()})


def forget_the_reading(table: Table, questions: int, prices: dict[str, float]) -> list[Any]:
    return cheapest(table, 0, prices)


def read_one_question(table: Table, questions: int, prices: dict[str, float]) -> list[Any]:
    return cheapest(table, 1, prices)


def forget_the_embedding(table: Table, questions: int, prices: dict[str, float]) -> list[Any]:
    return cheapest(table, questions, prices | {"embed": 0.0})


def _bill(row: dict[str, Any], questions: int, prices: dict[str, float]) -> float:
    embedding = row["characters_embedded"] * prices["embed"]
    reading = questions * row["characters_a_query"] * prices["read"]
    return float((embedding + reading) / _A_MILLION)


def _least(bills: dict[str, float]) -> list[Any]:
    name = min(bills, key=lambda name: bills[name])
    return [name, bills[name]]


def _priced_systems(random: Random) -> tuple[Table, int, dict[str, float]]:
    small = random.randint(5, 7) * 100
    table = {
        "small, 300": {"mean": 0.59, "like_best": False, "characters_a_query": small},
        "large, 80": {"mean": 0.66, "like_best": False, "characters_a_query": small + 50},
        "large, 300": {"mean": 0.80, "like_best": True, "characters_a_query": 4 * small},
        "large, whole": {"mean": 0.82, "like_best": True, "characters_a_query": 12 * small},
    }
    sizes = [random.randint(5, 9), *(random.randint(*ends) for ends in [(20, 29), (14, 19)]), 12]
    for row, size in zip(table.values(), sizes, strict=True):
        row["characters_embedded"] = size * _A_MILLION
    return table, random.randint(2, 9) * 10_000, {"embed": 0.1, "read": 0.5}


# ---------------------------------------------------------------- 21-5: decide, with a report

_TOLD = {
    "en": (
        "We compared {n} systems. "
        "The best may be promised {held_out}, on queries held out. "
        "Its neighbour is cheaper to read, and differs from the baseline by {difference} "
        "[{low}, {high}]. "
        "The verdict is: {said}. We take {taken}."
    ),
    "ko": (
        "시스템 {n}개를 비교했습니다. "
        "가장 높은 시스템에 약속할 수 있는 값은 따로 떼어 둔 질의의 {held_out}입니다. "
        "그것과 구별되지 않으면서 읽는 비용이 더 적은 시스템이 있고, 기준과의 차이는 {difference} "
        "[{low}, {high}]입니다. "
        "판정: {said}. 고른 시스템은 {taken}입니다."
    ),
}


def rule_of_the_report(text: str, table: Table, held_out: float) -> str:
    """Judge a report: five sentences, the count, the promise, interval, verdict, the choice."""
    sentences = split_sentences(text)
    if len(sentences) != 5:
        return "not_five_sentences"
    taken, best = _to_take(table), _best(table)
    if [name for name in table if name in sentences[-1]] != [taken]:
        return "other_system"

    # The figures: the count, what is promised, and the difference with its interval.
    told, row = figures(text), table[taken]
    if len(table) not in told:
        return "without_count"
    if held_out not in told or table[best]["mean"] in told:
        return "flattered"
    if not told >= {abs(row[column]) for column in ("difference", "low", "high")}:
        return "without_interval"
    return RIGHT if verdicts(text) == {verdict_of(row["p_holm"])} else "other_verdict"


def _best(table: Table) -> str:
    return max(table, key=lambda name: table[name]["mean"])


def _to_take(table: Table) -> str:
    """Return the one whose hits are the cheapest to read, of those not told from the best."""
    like_best = [name for name, row in table.items() if row["like_best"]]
    return min(like_best, key=lambda name: table[name]["characters_a_query"])


def _four_systems(random: Random) -> tuple[Table, float]:
    """Draw a baseline, two that are like the best (one of them the best), and one that is not."""
    names = random.sample(["cedar", "maple", "willow"], 3)
    base, told = random.randint(600, 650), random.random() < 0.5
    gains = [random.randint(10, 20), random.randint(80, 99), random.randint(100, 120)]
    halves = [random.randint(30, 40), random.randint(*((50, 70) if told else (101, 120))), 75]
    table: Table = {"baseline": {"mean": base / 1000, "like_best": False}}
    for name, gain, half in zip(names, gains, halves, strict=True):
        ends = {
            "difference": gain / 1000,
            "low": (gain - half) / 1000,
            "high": (gain + half) / 1000,
        }
        table[name] = {"mean": (base + gain) / 1000, "like_best": gain >= 80, **ends}

    # What Holm's correction and a reader's bill make of them.
    p_values = [0.8, 0.004 if told else 0.21, 0.003]
    for name, p_holm, characters in zip(names, p_values, [700, 2_100, 6_800], strict=True):
        table[name] |= {"p_holm": p_holm, "characters_a_query": characters}
    table["baseline"]["characters_a_query"] = 650
    table = {name: table[name] for name in sorted(table)}
    return table, (base + gains[-1] - random.randint(11, 25)) / 1000


def report(table: Table, held_out: float, **other: Any) -> str:
    """Write a report; ``other`` says what is wrong in it."""
    taken = _to_take(table)
    row = table[taken]
    facts = {"n": len(table), "held_out": held_out, "taken": taken, **row}
    facts |= {"verdict": verdict_of(row["p_holm"]), **other}
    return _TOLD[current_language()].format(said=say(facts["verdict"]), **facts)


def _with(**other: Way) -> Way:
    """Return what writes a report in which something is wrong, made of the table."""
    return lambda table, held_out: report(
        table, held_out, **{name: way(table) for name, way in other.items()}
    )


def _opposite(table: Table) -> str:
    return OTHER_THAN[verdict_of(table[_to_take(table)]["p_holm"])]


EXERCISES: dict[str, Exercise] = {
    "21-1": Exercise(
        given=_axes,
        right=counts,
        mistakes={
            "added_up": counts_by_sum,
            "baseline_many_times": counts_with_all_values_one_at_a_time,
            "all_made_again": counts_with_all_made_again,
            "one_new": counts_with_one_new,
            "baseline_compared": counts_with_baseline_compared,
        },
    ),
    "21-2": Function(
        given=_scores,
        right=promised,
        mistakes={
            "chosen_on_all": promised_of_the_best_of_all,
            "measured_where_chosen": promised_on_the_half_that_chose,
            "measured_on_all": promised_on_all,
            "chosen_on_the_others": promised_of_the_best_of_the_others,
        },
    ),
    "21-3": Exercise(
        given=_lucky,
        right=best_of_equals,
        mistakes={
            "no_flattery": best_is_the_mean,
            "luck_stays": best_keeps_its_luck,
            "always_lucky": best_is_always_lucky,
            "all_lucky": best_of_all_lucky,
            "luck_turns": best_falls_below,
        },
    ),
    "21-4": Exercise(
        given=_priced_systems,
        right=cheapest,
        mistakes={
            "the_best": take_the_best,
            "the_cheapest_of_all": take_the_cheapest_of_all,
            "nothing_read": forget_the_reading,
            "one_question": read_one_question,
            "nothing_embedded": forget_the_embedding,
        },
    ),
    "21-5": Made(
        given=_four_systems,
        right=report,
        mistakes={
            "not_five_sentences": lambda table, held_out: "We take the best.",
            "other_system": _with(taken=_best),
            "without_count": _with(n=lambda table: "all"),
            "flattered": lambda table, held_out: report(table, table[_best(table)]["mean"]),
            "without_interval": _with(low=lambda table: "", high=lambda table: ""),
            "other_verdict": _with(verdict=_opposite),
        },
        rule=rule_of_the_report,
    ),
}
