"""Session 10, is it better: paired differences, a p by hand, and what an interval says."""

from itertools import product
from random import Random
from typing import Any

import numpy as np

from rageval_kit.comparison import resampled_means
from rageval_kit.exercises.kinds import RIGHT, WRONG, Exercise, Function, Made

Values = dict[str, float | None]  # by query; None where it has no relevant document

# ---------------------------------------------------------------- 10-1: the mean difference


def mean_difference(old: Values, new: Values) -> float:
    changes = []
    for query_id in old:
        before, after = old[query_id], new[query_id]
        if before is not None and after is not None:
            changes.append(after - before)
    return sum(changes) / len(changes)


def difference_of_two_means(old: Values, new: Values) -> float:
    means = []
    for run in (new, old):
        values = [value for value in run.values() if value is not None]
        means.append(sum(values) / len(values))
    return means[0] - means[1]


def none_as_zero(old: Values, new: Values) -> float:
    changes = [(new[query_id] or 0.0) - (old[query_id] or 0.0) for query_id in old]
    return sum(changes) / len(changes)


def old_minus_new(old: Values, new: Values) -> float:
    return -mean_difference(old, new)


def divided_by_all(old: Values, new: Values) -> float:
    both = [q for q in old if old[q] is not None and new[q] is not None]
    return mean_difference(old, new) * len(both) / len(old)


def _two_runs(random: Random) -> tuple[Values, Values]:
    names = [f"q{number}" for number in range(1, 9)]
    old: Values = {name: random.choice([0.0, 0.3, 0.4, 0.5, 0.6, 1.0]) for name in names}
    new: Values = {name: random.choice([0.3, 0.4, 0.5, 0.6, 1.0]) for name in names}
    old["q2"] = None
    new["q7"] = None
    return old, new


# ---------------------------------------------------------------- 10-2: p over every pattern


def exact_p(changes: list[int]) -> float:
    seen = abs(sum(changes))
    as_far = 0
    for signs in product([1, -1], repeat=len(changes)):
        flipped = sum(sign * change for sign, change in zip(signs, changes, strict=True))
        as_far += abs(flipped) >= seen
    return as_far / 2 ** len(changes)


def p_of_one_side(changes: list[int]) -> float:
    seen, sums = sum(changes), _sums(changes)
    return sum(flipped >= seen for flipped in sums) / len(sums)


def p_of_farther_only(changes: list[int]) -> float:
    seen, sums = abs(sum(changes)), _sums(changes)
    return sum(abs(flipped) > seen for flipped in sums) / len(sums)


def p_of_signs_alone(changes: list[int]) -> float:
    return exact_p([1 if change > 0 else -1 for change in changes])


def one_minus_p(changes: list[int]) -> float:
    return 1 - exact_p(changes)


def _sums(changes: list[int]) -> list[int]:
    patterns = product([1, -1], repeat=len(changes))
    return [sum(s * c for s, c in zip(signs, changes, strict=True)) for signs in patterns]


def _six_changes(random: Random) -> tuple[list[int]]:
    return ([random.choice([-9, -4, 1, 2, 5, 7, 11, 20, 33]) for _ in range(6)],)


# ---------------------------------------------------------------- 10-3: read a comparison

Rows = dict[str, dict[str, float]]


def verdicts(rows: Rows) -> dict[str, str]:
    found = {}
    for name, row in rows.items():
        if "difference" not in row:  # the baseline
            continue
        above, below = row["difference_low"] > 0, row["difference_high"] < 0
        found[name] = "better" if above else "worse" if below else "cannot tell"
    return found


def verdicts_by_overlap(rows: Rows) -> dict[str, str]:
    old = rows["old"]
    found = {}
    for name, row in rows.items():
        if "difference" in row:
            above, below = row["low"] > old["high"], row["high"] < old["low"]
            found[name] = "better" if above else "worse" if below else "cannot tell"
    return found


def verdicts_by_mean(rows: Rows) -> dict[str, str]:
    changes = {name: row["difference"] for name, row in rows.items() if "difference" in row}
    return {name: "better" if change > 0 else "worse" for name, change in changes.items()}


def verdicts_without_worse(rows: Rows) -> dict[str, str]:
    found = verdicts(rows)
    return {name: "better" if said == "worse" else said for name, said in found.items()}


def _compared(random: Random) -> tuple[Rows]:
    base = random.randint(480, 560) / 1000
    rows: Rows = {"old": {"mean": base, "low": base - 0.04, "high": base + 0.04}}
    halves = [0.009, 0.014, 0.012, 0.03]  # of the paired intervals
    changes = [0.021, -0.026, 0.006, 0.017]
    for place, number in enumerate(random.sample(range(4), 4)):
        change = changes[number] + random.randint(-2, 2) / 1000
        half, mean = halves[number], base + change
        row = {"mean": mean, "low": mean - 0.04, "high": mean + 0.04, "difference": change}
        row |= {"difference_low": change - half, "difference_high": change + half}
        rows[f"run {'ABCD'[place]}"] = {key: round(value, 3) for key, value in row.items()}
    rows["old"] = {key: round(value, 3) for key, value in rows["old"].items()}
    return (rows,)


# ---------------------------------------------------------------- 10-4: overlap, and yet better

_LEAST = 10  # queries


def rule_of_the_runs(answer: Any, least: int) -> str:
    """Judge two runs whose means' intervals overlap, while that of the difference excludes 0."""
    old, new = (np.asarray(values, dtype=float) for values in answer)
    if len(old) != len(new) or len(old) < least:
        return "not_as_many"
    if min(old.min(), new.min()) < 0 or max(old.max(), new.max()) > 1:
        return "no_scores"

    # As compare does it: the same queries are drawn for both means and for the difference.
    columns = np.stack([old, new, new - old], axis=1)
    means = resampled_means(columns, 2_000, np.random.default_rng(0))
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    if low[2] <= 0 <= high[2]:
        return "difference_includes_0"
    if low[1] > high[0] or low[0] > high[1]:
        return "no_overlap"
    return RIGHT if low[2] > 0 else WRONG


def _spread() -> list[float]:
    return [number / 12 for number in range(12)]


EXERCISES: dict[str, Exercise] = {
    "10-1": Function(
        given=_two_runs,
        right=mean_difference,
        mistakes={
            "two_means": difference_of_two_means,
            "none_as_zero": none_as_zero,
            "old_minus_new": old_minus_new,
            "divided_by_all": divided_by_all,
        },
    ),
    "10-2": Function(
        given=_six_changes,
        right=exact_p,
        mistakes={
            "one_side": p_of_one_side,
            "farther_only": p_of_farther_only,
            "signs_alone": p_of_signs_alone,
            "one_minus_p": one_minus_p,
        },
    ),
    "10-3": Exercise(
        given=_compared,
        right=verdicts,
        mistakes={
            "overlap_of_means": verdicts_by_overlap,
            "higher_mean": verdicts_by_mean,
            "worse_called_better": verdicts_without_worse,
        },
    ),
    "10-4": Made(
        given=lambda random: (_LEAST,),
        right=lambda least: (_spread(), [value + 0.05 for value in _spread()]),
        mistakes={
            "not_as_many": lambda least: (_spread(), _spread()[:-1]),
            "no_scores": lambda least: (_spread(), [value + 0.5 for value in _spread()]),
            "difference_includes_0": lambda least: (_spread(), _spread()[::-1]),
            "no_overlap": lambda least: ([0.1] * 6 + [0.2] * 6, [0.8] * 6 + [0.9] * 6),
        },
        rule=rule_of_the_runs,
    ),
}
