"""Session 21, the whole grid: how many are compared, how the best is flattered, and a report."""

import re
from math import prod
from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made

# ---------------------------------------------------------------- 21-1: how many?


def counts(models: int, sizes: int, hybrid: int) -> list[int]:
    axes = (models, sizes, hybrid)
    return [prod(axes), prod(axes) - 1, sum(axes) - len(axes), models * sizes]


def counts_by_sum(models: int, sizes: int, hybrid: int) -> list[int]:
    n = models + sizes + hybrid
    return [n, n - 1, *counts(models, sizes, hybrid)[2:]]


def counts_with_baseline(models: int, sizes: int, hybrid: int) -> list[int]:
    systems, others, few, embedded = counts(models, sizes, hybrid)
    return [systems, others + 1, few + 1, embedded]


def counts_of_pairs(models: int, sizes: int, hybrid: int) -> list[int]:
    systems, _, few, embedded = counts(models, sizes, hybrid)
    return [systems, systems * (systems - 1) // 2, few, embedded]


def counts_embedded_each(models: int, sizes: int, hybrid: int) -> list[int]:
    return [*counts(models, sizes, hybrid)[:3], models * sizes * hybrid]


def _axes(random: Random) -> tuple[int, int, int]:
    return random.randint(2, 4), random.randint(3, 6), 2


# ---------------------------------------------------------------- 21-2: the value held out

Scores: TypeAlias = dict[str, list[float]]  # by system: a value a query


def held_out(scores: Scores, choosing: list[int], measuring: list[int]) -> float:
    def mean(name: str, queries: list[int]) -> float:
        return sum(scores[name][query] for query in queries) / len(queries)

    best = max(scores, key=lambda name: mean(name, choosing))
    return mean(best, measuring)


def measured_where_chosen(scores: Scores, choosing: list[int], measuring: list[int]) -> float:
    return held_out(scores, choosing, choosing)


def chosen_where_measured(scores: Scores, choosing: list[int], measuring: list[int]) -> float:
    return held_out(scores, measuring, measuring)


def chosen_on_all(scores: Scores, choosing: list[int], measuring: list[int]) -> float:
    return held_out(scores, choosing + measuring, measuring)


def measured_on_all(scores: Scores, choosing: list[int], measuring: list[int]) -> float:
    return held_out(scores, choosing, choosing + measuring)


def _scores(random: Random) -> tuple[Scores, list[int], list[int]]:
    n, queries = 8, random.sample(range(8), 8)
    scores = {name: [random.randint(0, 1000) / 1000 for _ in range(n)] for name in "ABCD"}
    return scores, sorted(queries[:4]), sorted(queries[4:])


# ---------------------------------------------------------------- 21-3: which may be called better

Rows: TypeAlias = dict[str, tuple[float, float]]  # by system: difference to the baseline, and p


def better_after_holm(rows: Rows) -> set[str]:
    better, left = set(), len(rows)
    for name in sorted(rows, key=lambda name: rows[name][1]):
        difference, p = rows[name]
        if p * left >= 0.05:
            break
        if difference > 0:
            better.add(name)
        left -= 1
    return better


def better_without_correction(rows: Rows) -> set[str]:
    return {name for name, (difference, p) in rows.items() if p < 0.05 and difference > 0}


def named_by_the_report(rows: Rows) -> set[str]:
    return {name for name, (_, p) in rows.items() if p < 0.05}


def better_after_bonferroni(rows: Rows) -> set[str]:
    few = {name: (difference, p * len(rows)) for name, (difference, p) in rows.items()}
    return better_without_correction(few)


def better_or_worse(rows: Rows) -> set[str]:
    return better_after_holm({name: (abs(difference), p) for name, (difference, p) in rows.items()})


def the_largest_difference(rows: Rows) -> set[str]:
    return {max(rows, key=lambda name: rows[name][0])}


def _rows(random: Random) -> tuple[Rows]:
    ps = [
        random.randint(1, 3) / 1000,
        random.randint(50, 79) / 10_000,
        random.randint(90, 120) / 10_000,
        random.randint(25, 45) / 1000,
        random.randint(100, 400) / 1000,
        random.randint(500, 900) / 1000,
    ]
    differences = [random.randint(50, 90) / 1000 for _ in ps]
    differences[0] = -differences[0]
    names = random.sample("ABCDEF", 6)
    rows = dict(zip(names, zip(differences, ps, strict=True), strict=True))
    return (dict(sorted(rows.items())),)


# ---------------------------------------------------------------- 21-4: a report of five sentences

Table: TypeAlias = dict[str, dict[str, Any]]  # by system


def choice(table: Table) -> str:
    like_the_best = [name for name, row in table.items() if not row["told_from_best"]]
    return min(like_the_best, key=lambda name: table[name]["characters"])


def judge_of_report(answer: dict[str, str], table: Table, queries: int) -> str:
    system, report = answer["system"], answer["report"]
    row = table[system]
    ends = re.findall(r"[.!?](?=\s|$)", report.strip())
    says_better = bool(re.search(r"\bbetter than|더 낫|더 나은|더 나음", report))
    says_open = bool(re.search(r"cannot tell|판단 불가", report))
    is_told = (row["p_holm"] or 1) < 0.05

    # The choice, then the form, the figures and the verdict: the first fault is said.
    faults = {
        "told_worse": row["told_from_best"],
        "dearer": system != choice(table),
        "not_five": len(ends) != 5,
        "not_named": not re.search(rf"(?<!\w){system}(?!\d)", report),
        "flattered": not _holds(report, row["held_out"]),
        "figure_missing": not (_holds(report, queries) and _holds(report, row["characters"])),
        "verdict_disagrees": (says_better, says_open) != (is_told, not is_told),
    }
    return next((fault for fault, is_so in faults.items() if is_so), RIGHT)


def _holds(report: str, value: float) -> bool:
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", report)
    return any(abs(float(number.replace(",", "")) - value) < 5e-4 for number in numbers)


def report_of(table: Table, queries: int) -> dict[str, str]:
    return _report(table, queries, choice(table))


def _report(table: Table, queries: int, system: str, **changed: Any) -> dict[str, str]:
    row = table[system] | changed
    verdict = f"{system} is better than the baseline"
    if (row["p_holm"] or 1) >= 0.05:
        verdict = f"whether {system} beats the baseline we cannot tell"
    report = (
        f"We take {system}. It was measured on {queries} queries. "
        f"On queries held out it has {row['held_out']:.3f}. By our test {verdict}. "
        f"It hands on {row['characters']} characters a question."
    )
    return {"system": system, "report": report}


def report_of_cheapest(table: Table, queries: int) -> dict[str, str]:
    return _report(table, queries, min(table, key=lambda name: table[name]["characters"]))


def report_of_best(table: Table, queries: int) -> dict[str, str]:
    return _report(table, queries, max(table, key=lambda name: table[name]["mean"]))


def report_in_one_sentence(table: Table, queries: int) -> dict[str, str]:
    answer = report_of(table, queries)
    return answer | {"report": answer["report"].replace(". ", ", ")}


def report_without_name(table: Table, queries: int) -> dict[str, str]:
    answer = report_of(table, queries)
    return answer | {"report": answer["report"].replace(answer["system"], "it")}


def report_of_the_mean(table: Table, queries: int) -> dict[str, str]:
    system = choice(table)
    return _report(table, queries, system, held_out=table[system]["mean"])


def report_without_queries(table: Table, queries: int) -> dict[str, str]:
    answer = report_of(table, queries)
    return answer | {"report": answer["report"].replace(f"{queries} queries", "many queries")}


def report_with_other_verdict(table: Table, queries: int) -> dict[str, str]:
    system = choice(table)
    other = 1.0 if table[system]["p_holm"] < 0.05 else 0.001
    return _report(table, queries, system, p_holm=other)


def _table(random: Random) -> tuple[Table, int]:
    # From the best to the baseline: mean, p, told from the best, characters.
    rows: list[tuple[Any, ...]] = [
        (random.randint(815, 830) / 1000, 0.001, False, random.randint(6000, 7000)),
        (random.randint(800, 812) / 1000, 0.004, False, random.randint(3000, 4000)),
        (random.randint(780, 795) / 1000, random.choice([0.031, 0.084]), False, 2100),
        (random.randint(700, 730) / 1000, 1.0, True, random.randint(800, 1000)),
        (random.randint(670, 690) / 1000, None, True, random.randint(1200, 1500)),
    ]
    names = ("mean", "p_holm", "told_from_best", "characters")
    systems = [dict(zip(names, row, strict=True)) for row in rows]
    for row in systems:
        row["held_out"] = round(row["mean"] - random.randint(6, 12) / 1000, 3)
    keys = random.sample(["S1", "S2", "S3", "S4", "S5"], len(systems))
    return dict(sorted(zip(keys, systems, strict=True))), random.randint(110, 290)


EXERCISES: dict[str, Exercise] = {
    "21-1": Exercise(
        given=_axes,
        right=counts,
        mistakes={
            "sum_of_values": counts_by_sum,
            "baseline_with_itself": counts_with_baseline,
            "all_pairs": counts_of_pairs,
            "embedded_for_each": counts_embedded_each,
        },
    ),
    "21-2": Function(
        given=_scores,
        right=held_out,
        mistakes={
            "measured_where_chosen": measured_where_chosen,
            "chosen_where_measured": chosen_where_measured,
            "chosen_on_all": chosen_on_all,
            "measured_on_all": measured_on_all,
        },
    ),
    "21-3": Exercise(
        given=_rows,
        right=better_after_holm,
        mistakes={
            "no_correction": better_without_correction,
            "as_reported": named_by_the_report,
            "bonferroni": better_after_bonferroni,
            "worse_ones_too": better_or_worse,
            "largest_only": the_largest_difference,
        },
    ),
    "21-4": Made(
        given=_table,
        right=report_of,
        mistakes={
            "told_worse": report_of_cheapest,
            "dearer": report_of_best,
            "not_five": report_in_one_sentence,
            "not_named": report_without_name,
            "flattered": report_of_the_mean,
            "figure_missing": report_without_queries,
            "verdict_disagrees": report_with_other_verdict,
        },
        rule=judge_of_report,
    ),
}
