"""Session 1, the dataset: two people who judge, what a label costs, what is an error."""

from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kappa import (
    agreement,
    kappa,
    kappa_not_divided,
    kappa_of_equal_chances,
)
from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made
from rageval_kit.validation import find_problems

Dataset: TypeAlias = tuple[list[dict[str, Any]], list[dict[str, Any]]]

# ---------------------------------------------------------------- 01-1: kappa of two judges


def kappa_of_the_relevant(one: list[object], other: list[object]) -> float:
    chance = one.count(1) / len(one) * other.count(1) / len(other)
    return (agreement(one, other) - chance) / (1 - chance)


def _two_judges(random: Random) -> tuple[list[int], list[int]]:
    one = [1, 0, *(int(random.random() < 0.3) for _ in range(8))]
    random.shuffle(one)
    other = [1 - label if random.random() < 0.25 else label for label in one]
    return one, other


# ---------------------------------------------------------------- 01-2: what wrong labels cost


def hit_rate_of_the_perfect(n_queries: int, n_wrong: int, n_unanswerable: int) -> float:
    evaluated = n_queries - n_unanswerable
    return (evaluated - n_wrong) / evaluated


def unanswerable_as_misses(n_queries: int, n_wrong: int, n_unanswerable: int) -> float:
    return (n_queries - n_unanswerable - n_wrong) / n_queries


def unanswerable_as_hits(n_queries: int, n_wrong: int, n_unanswerable: int) -> float:
    return (n_queries - n_wrong) / n_queries


def wrong_left_out(n_queries: int, n_wrong: int, n_unanswerable: int) -> float:
    return 1.0


def _counts(random: Random) -> tuple[int, int, int]:
    return random.choice([20, 24, 30, 40]), random.randint(2, 6), random.randint(2, 5)


# ---------------------------------------------------------------- 01-3: error or warning


def verdicts(datasets: list[Dataset]) -> list[str]:
    reports = [find_problems(docs, all_qa) for docs, all_qa in datasets]
    return ["error" if report.errors else "warning" for report in reports]


def all_errors(datasets: list[Dataset]) -> list[str]:
    return ["error"] * len(datasets)


def turned_round(datasets: list[Dataset]) -> list[str]:
    return ["warning" if verdict == "error" else "error" for verdict in verdicts(datasets)]


def no_answer_is_an_error(datasets: list[Dataset]) -> list[str]:
    labels = [[qa["relevant_doc_ids"] for qa in all_qa] for _, all_qa in datasets]
    return [
        "error" if [] in its else verdict
        for its, verdict in zip(labels, verdicts(datasets), strict=True)
    ]


def copy_is_an_error(datasets: list[Dataset]) -> list[str]:
    n_texts = [(len(docs), len({doc["content"] for doc in docs})) for docs, _ in datasets]
    return [
        "error" if different < n_docs else verdict
        for (n_docs, different), verdict in zip(n_texts, verdicts(datasets), strict=True)
    ]


_TITLES = ["Library", "Residence hall", "Shuttle bus"]
_TEXTS = ["It opens at nine.", "A room costs 200 a month.", "It leaves at gate two."]
_QUESTIONS = ["When can I borrow a book?", "What is the rent?", "Where do I get on?"]


def _clean() -> Dataset:
    docs = [
        {"doc_id": f"d{n}", "title": title, "content": text}
        for n, (title, text) in enumerate(zip(_TITLES, _TEXTS, strict=True), start=1)
    ]
    all_qa = [
        {"query_id": f"q{n}", "question": question, "relevant_doc_ids": [f"d{n}"]}
        for n, question in enumerate(_QUESTIONS, start=1)
    ]
    return docs, all_qa


def _five_datasets(random: Random) -> tuple[list[Dataset]]:
    datasets = [_clean() for _ in range(5)]
    at = [random.randrange(3) for _ in datasets]

    # Three mistakes that make a number wrong, and two that make it misleading.
    datasets[0][1][at[0]]["relevant_doc_ids"] = ["d9"]
    datasets[1][0][at[1]]["content"] = "  "
    datasets[2][1][at[2]]["relevant_doc_ids"] = str([f"d{at[2] + 1}"])
    datasets[3][1][at[3]]["relevant_doc_ids"] = []
    datasets[4][0].append(datasets[4][0][at[4]] | {"doc_id": "d4"})
    random.shuffle(datasets)
    return (datasets,)


# ---------------------------------------------------------------- 01-4: repair a dataset


def repaired(docs: list[dict[str, Any]], all_qa: list[dict[str, Any]]) -> Dataset:
    return _clean()


def rule_of_the_repair(
    answer: Any, docs: list[dict[str, Any]], all_qa: list[dict[str, Any]]
) -> str:
    """Judge a repaired dataset: clean, and with all that was there."""
    its_docs, its_qa = answer
    wanted_docs, wanted_qa = _clean()

    # What was thrown away to be rid of a message.
    if {qa["query_id"] for qa in its_qa} < {qa["query_id"] for qa in wanted_qa}:
        return "query_deleted"
    if {str(doc["doc_id"]) for doc in its_docs} < {doc["doc_id"] for doc in wanted_docs}:
        return "document_deleted"
    report = find_problems(its_docs, its_qa)
    if report.errors:
        return "still_errors"
    if report.warnings:
        return "still_warnings"
    return RIGHT if its_qa == wanted_qa else "wrong_label"


def _broken(random: Random) -> Dataset:
    docs, all_qa = _clean()
    at, other = random.sample(range(3), 2)
    all_qa[at]["relevant_doc_ids"] = [f"d0{at + 1}"]
    all_qa[other]["relevant_doc_ids"] = f"d{other + 1}"
    docs.append(dict(docs[at]))
    docs.append(docs[other] | {"doc_id": "d4"})
    return docs, all_qa


def _with_only(keep_docs: int, keep_queries: int) -> Dataset:
    docs, all_qa = _clean()
    return docs[:keep_docs], all_qa[:keep_queries]


def _with_one_label(docs: list[dict[str, Any]], all_qa: list[dict[str, Any]]) -> Dataset:
    return _clean()[0], [qa | {"relevant_doc_ids": ["d1"]} for qa in _clean()[1]]


def _with_the_copy(docs: list[dict[str, Any]], all_qa: list[dict[str, Any]]) -> Dataset:
    copy = next(doc for doc in docs if doc["doc_id"] == "d4")
    return [*_clean()[0], deepcopy(copy)], _clean()[1]


EXERCISES: dict[str, Exercise] = {
    "01-1": Function(
        given=_two_judges,
        right=kappa,
        mistakes={
            "agreement_only": agreement,
            "two_coins": kappa_of_equal_chances,
            "not_divided": kappa_not_divided,
            "chance_of_the_relevant": kappa_of_the_relevant,
        },
    ),
    "01-2": Exercise(
        given=_counts,
        right=hit_rate_of_the_perfect,
        mistakes={
            "unanswerable_as_misses": unanswerable_as_misses,
            "unanswerable_as_hits": unanswerable_as_hits,
            "wrong_left_out": wrong_left_out,
        },
    ),
    "01-3": Exercise(
        given=_five_datasets,
        right=verdicts,
        mistakes={
            "all_errors": all_errors,
            "turned_round": turned_round,
            "no_answer_is_an_error": no_answer_is_an_error,
            "copy_is_an_error": copy_is_an_error,
        },
    ),
    "01-4": Made(
        given=_broken,
        right=repaired,
        mistakes={
            "query_deleted": lambda docs, all_qa: _with_only(3, 2),
            "document_deleted": lambda docs, all_qa: _with_only(2, 3),
            "still_errors": lambda docs, all_qa: (_clean()[0], all_qa),
            "still_warnings": _with_the_copy,
            "wrong_label": _with_one_label,
        },
        rule=rule_of_the_repair,
    ),
}
