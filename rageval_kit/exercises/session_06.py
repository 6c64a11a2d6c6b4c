"""Session 6, which metric when: a choice for each reader, and evaluations that look right."""

import math
import unicodedata
from collections.abc import Sequence
from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import NOT_ATTEMPTED, RIGHT, Exercise, Function, Made, Way
from rageval_kit.exercises.session_04 import ndcg, ndcg_of_what_came
from rageval_kit.exercises.student_reports import figures
from rageval_kit.language import split_sentences
from rageval_kit.wording import current_language

Hits: TypeAlias = list[tuple[str, float]]
Table: TypeAlias = dict[str, dict[str, float]]

# ---------------------------------------------------------------- 06-1: which metric when


def choices(prompt: int, page: int, depth: int) -> dict[str, str]:
    return {
        "A": f"HitRate@{prompt}",
        "B": f"Recall@{prompt}",
        "C": f"MRR@{page}",
        "D": f"nDCG@{page}",
        "E": f"Recall@{depth}",
    }


def rule_of_choices(answer: Any, prompt: int, page: int, depth: int) -> str:
    """Judge a metric with its k for each situation; the first that is wrong is explained."""
    for situation, metric in choices(prompt, page, depth).items():
        chosen = answer.get(situation, ...)
        if chosen is ...:
            return NOT_ATTEMPTED
        if chosen.strip().casefold() != metric.casefold():
            return f"in_{situation}"
    return RIGHT


def _choosing(situation: str, metric: str) -> Way:
    return lambda *its_given: {**choices(*its_given), situation: metric}


# ---------------------------------------------------------------- 06-2: one relevant document


def five_metrics(rank: int, k: int) -> list[float]:
    """Return HitRate, RR, nDCG, Precision and Recall."""
    return [1.0, 1 / rank, 1 / math.log2(rank + 1), 1 / k, 1.0]


def five_with_precision_one(rank: int, k: int) -> list[float]:
    return [1.0, 1 / rank, 1 / math.log2(rank + 1), 1.0, 1.0]


def five_with_recall_by_k(rank: int, k: int) -> list[float]:
    return [1.0, 1 / rank, 1 / math.log2(rank + 1), 1 / k, 1 / k]


def five_with_one_discount(rank: int, k: int) -> list[float]:
    return [1.0, 1 / rank, 1 / rank, 1 / k, 1.0]


def five_with_precision_at_the_rank(rank: int, k: int) -> list[float]:
    return [1.0, 1 / rank, 1 / math.log2(rank + 1), 1 / rank, 1.0]


def _rank_and_cutoff(random: Random) -> tuple[int, int]:
    rank = random.choice([2, 3, 4])
    return rank, rank + random.randint(1, 5)


# ---------------------------------------------------------------- 06-3: four programs, four cases


def rr_of_every_hit(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    reciprocals = [1 / rank for rank, gain in enumerate(_gains(relevant, ranking, k), 1) if gain]
    return sum(reciprocals) / len(reciprocals) if reciprocals else 0.0


def precision_of_hits(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    return sum(_gains(relevant, ranking, k)) / len(ranking[:k])


def ndcg_of_hits(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    gains = _gains(relevant, ranking, k)
    return ndcg_of_what_came(gains, len(relevant), k) if any(gains) else 0.0


def recall_with_copies(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    return sum(_gains(relevant, ranking, k)) / len(relevant)


def _gains(relevant: Sequence[str], ranking: Sequence[str], k: int) -> list[float]:
    return [float(doc_id in relevant) for doc_id in ranking[:k]]


def _right_rr(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    ranks = [rank for rank, gain in enumerate(_gains(relevant, ranking, k), 1) if gain]
    return 1 / ranks[0] if ranks else 0.0


def _right_precision(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    return sum(_gains(relevant, ranking, k)) / k


def _right_ndcg(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    return ndcg(_gains(relevant, ranking, k), len(relevant), k)


def _right_recall(relevant: Sequence[str], ranking: Sequence[str], k: int) -> float:
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)


PROGRAMS: dict[str, tuple[Way, Way]] = {
    "a": (rr_of_every_hit, _right_rr),
    "b": (precision_of_hits, _right_precision),
    "c": (ndcg_of_hits, _right_ndcg),
    "d": (recall_with_copies, _right_recall),
}
_CASES = {"a": ("AB", "AB", 2), "b": ("A", "A", 5), "c": ("AB", "Ax", 2), "d": ("AB", "AA", 2)}


def rule_of_cases(cases: Any) -> str:
    """Judge a case (relevant, ranking, k) for each program: it and the right one must differ."""
    if any(cases.get(name, ...) is ... for name in PROGRAMS):
        return NOT_ATTEMPTED
    for name, (wrong, right) in PROGRAMS.items():
        relevant, ranking, k = cases[name]
        if k < 1 or not relevant or not ranking or len(set(relevant)) < len(relevant):
            return "no_case"
        if name != "d" and len(set(ranking)) < len(ranking):
            return "copies"
        if math.isclose(wrong(relevant, ranking, k), right(relevant, ranking, k)):
            return f"{name}_alike"
    return RIGHT


def _with(name: str, case: tuple[str, str, int]) -> Way:
    return lambda: {**_CASES, name: case}


# ---------------------------------------------------------------- 06-4: ids in one form


def same_form(doc_id: Any) -> str:
    if isinstance(doc_id, float):
        doc_id = int(doc_id)
    return unicodedata.normalize("NFC", str(doc_id))


def form_of_floats_left(doc_id: Any) -> str:
    return unicodedata.normalize("NFC", str(doc_id))


def form_not_composed(doc_id: Any) -> str:
    return str(int(doc_id)) if isinstance(doc_id, float) else str(doc_id)


def form_of_str(doc_id: Any) -> str:
    return str(doc_id)


def form_decomposed(doc_id: Any) -> str:
    return unicodedata.normalize("NFD", same_form(doc_id))


def form_of_numbers_left(doc_id: Any) -> Any:
    return unicodedata.normalize("NFC", doc_id) if isinstance(doc_id, str) else doc_id


def _an_id(random: Random) -> tuple[Any]:
    number = random.randint(1, 99)
    composed = f"문서_{number}"
    forms = [number, float(number), composed, unicodedata.normalize("NFD", composed)]
    return (random.choice(forms),)


# ---------------------------------------------------------------- 06-5: a distance as a score


def two_rrs(hits: Hits, relevant: str) -> list[float]:
    return [_rr(sorted(hits, key=_distance), relevant), rr_of_the_largest(hits, relevant)]


def rr_of_the_largest(hits: Hits, relevant: str) -> float:
    return _rr(sorted(hits, key=_distance, reverse=True), relevant)


def two_rrs_swapped(hits: Hits, relevant: str) -> list[float]:
    return two_rrs(hits, relevant)[::-1]


def two_rrs_as_they_stand(hits: Hits, relevant: str) -> list[float]:
    return [_rr(hits, relevant), rr_of_the_largest(hits, relevant)]


def two_ranks(hits: Hits, relevant: str) -> list[float]:
    return [1 / rr for rr in two_rrs(hits, relevant)]


def _rr(hits: Hits, relevant: str) -> float:
    return 1 / (1 + [doc_id for doc_id, _ in hits].index(relevant))


def _distance(hit: tuple[str, float]) -> float:
    return hit[1]


def _hits_in_no_order(random: Random) -> tuple[Hits, str]:
    distances = [number / 100 for number in random.sample(range(90, 180), 6)]
    doc_ids = random.sample("ABCDEF", 6)
    return list(zip(doc_ids, distances, strict=True)), random.choice(doc_ids)


# ---------------------------------------------------------------- 06-6: decide, with a report

_ASKED = "Recall@50"
_TOLD = {
    "en": (
        "A reranker reads the first 50 hits. What is not among them is lost. "
        "So the metric is {metric}. Its values are {figures}. The system I take is {system}."
    ),
    "ko": (
        "재순위화는 앞의 50개를 읽습니다. 그 안에 없는 문서는 잃은 것입니다. "
        "그래서 지표는 {metric}입니다. 값은 {figures}입니다. 고른 시스템은 {system}입니다."
    ),
}


def rule_of_the_report(text: str, table: Table) -> str:
    """Judge a report: five sentences, the figures of the metric that decides, the winner last."""
    sentences = split_sentences(text)
    if len(sentences) != 5:
        return "not_five_sentences"
    if _ASKED not in text:
        return "other_metric"
    if not figures(text) >= {metrics[_ASKED] for metrics in table.values()}:
        return "without_figures"
    named = [system for system in table if system in sentences[-1]]
    return RIGHT if named == [_best(table, _ASKED)] else "other_system"


def _best(table: Table, metric: str) -> str:
    return max(table, key=lambda system: table[system][metric])


def _three_systems(random: Random) -> tuple[Table]:
    """Draw three systems, the best of Recall@50 being the worst at the top of the ranking."""
    names = random.sample(["cedar", "maple", "willow"], 3)
    deep = [*random.sample(range(70, 79), 2), random.randint(90, 97)]
    top = [*random.sample(range(55, 69), 2), random.randint(45, 52)]
    table = {}
    for name, recall, ndcg_at_5 in zip(names, deep, top, strict=True):
        metrics = {_ASKED: recall, "nDCG@5": ndcg_at_5, "MRR@5": ndcg_at_5 + random.randint(2, 5)}
        table[name] = {metric: value / 100 for metric, value in metrics.items()}
    return ({name: table[name] for name in sorted(table)},)


def report(table: Table, metric: str = _ASKED, system: str | None = None) -> str:
    values = ", ".join(f"{name} {metrics[metric]:.2f}" for name, metrics in table.items())
    taken = system or _best(table, metric)
    return _TOLD[current_language()].format(metric=metric, figures=values, system=taken)


def _report_without_figures(table: Table) -> str:
    return f"We measured. We compared. {_ASKED} decides. It is high. I take {_best(table, _ASKED)}."


def _report_for_the_best_at_the_top(table: Table) -> str:
    return report(table, system=_best(table, "nDCG@5"))


EXERCISES: dict[str, Exercise] = {
    "06-1": Made(
        given=lambda random: (random.choice([3, 4, 5, 6]), 10, random.choice([50, 100])),
        right=choices,
        mistakes={
            "in_A": _choosing("A", "nDCG@10"),
            "in_B": _choosing("B", "HitRate@5"),
            "in_C": _choosing("C", "Recall@10"),
            "in_D": _choosing("D", "MRR@10"),
            "in_E": _choosing("E", "nDCG@10"),
        },
        rule=rule_of_choices,
    ),
    "06-2": Exercise(
        given=_rank_and_cutoff,
        right=five_metrics,
        mistakes={
            "precision_one": five_with_precision_one,
            "recall_by_k": five_with_recall_by_k,
            "one_discount": five_with_one_discount,
            "precision_at_the_rank": five_with_precision_at_the_rank,
        },
    ),
    "06-3": Made(
        given=lambda random: (),
        right=lambda: _CASES,
        mistakes={
            "no_case": _with("a", ("", "AB", 2)),
            "copies": _with("b", ("A", "AA", 5)),
            "a_alike": _with("a", ("A", "xA", 2)),
            "b_alike": _with("b", ("AB", "AxB", 3)),
            "c_alike": _with("c", ("AB", "xAB", 3)),
            "d_alike": _with("d", ("AB", "AB", 2)),
        },
        rule=rule_of_cases,
    ),
    "06-4": Function(
        given=_an_id,
        right=same_form,
        mistakes={
            "only_str": form_of_str,
            "not_composed": form_not_composed,
            "floats_left": form_of_floats_left,
            "numbers_left": form_of_numbers_left,
            "decomposed": form_decomposed,
        },
    ),
    "06-5": Exercise(
        given=_hits_in_no_order,
        right=two_rrs,
        mistakes={
            "swapped": two_rrs_swapped,
            "as_they_stand": two_rrs_as_they_stand,
            "ranks": two_ranks,
        },
    ),
    "06-6": Made(
        given=_three_systems,
        right=report,
        mistakes={
            "not_five_sentences": lambda table: "I take cedar.",
            "other_metric": lambda table: report(table, metric="nDCG@5"),
            "without_figures": _report_without_figures,
            "other_system": _report_for_the_best_at_the_top,
        },
        rule=rule_of_the_report,
    ),
}
