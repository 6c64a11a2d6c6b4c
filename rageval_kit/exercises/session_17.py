"""Session 17, making a dataset: agreement, the pool, what unjudged documents may be worth."""

from random import Random

from rageval_kit.exercises.kappa import (
    agreement,
    kappa,
    kappa_not_divided,
    kappa_of_equal_chances,
    kappa_of_one_judge,
)
from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made
from rageval_kit.exercises.student_reports import CANNOT_TELL, figures, verdicts
from rageval_kit.language import split_sentences
from rageval_kit.wording import current_language

# ---------------------------------------------------------------- 17-1: kappa by hand


def _two_judges(random: Random) -> tuple[list[int], list[int]]:
    ours = [0, 1, 2, *random.choices([0, 1, 2, 3], [6, 2, 1, 1], k=7)]
    theirs = [grade if random.random() < 0.7 else random.randint(0, 3) for grade in ours]
    return ours, theirs


# ---------------------------------------------------------------- 17-2: what is in the pool


def pooled(rankings: dict[str, list[str]], grades: dict[str, int], k: int) -> list[str]:
    """Return what is to be judged: in the first k of any ranking, and not judged yet."""
    return sorted({doc for ranking in rankings.values() for doc in ranking[:k]} - {*grades})


def pooled_not_cut(rankings: dict[str, list[str]], grades: dict[str, int], k: int) -> list[str]:
    return pooled(rankings, grades, 100)


def pooled_with_zeros(rankings: dict[str, list[str]], grades: dict[str, int], k: int) -> list[str]:
    return pooled(rankings, {doc: grade for doc, grade in grades.items() if grade}, k)


def pooled_with_judged(rankings: dict[str, list[str]], grades: dict[str, int], k: int) -> list[str]:
    return pooled(rankings, {}, k)


def pooled_by_both(rankings: dict[str, list[str]], grades: dict[str, int], k: int) -> list[str]:
    one, other = rankings.values()
    return sorted({*one[:k]} & {*other[:k]} - {*grades})


def _rankings(random: Random) -> tuple[dict[str, list[str]], dict[str, int], int]:
    rankings = {name: random.sample("ABCDEFGH", 5) for name in ("one", "other")}
    judged = random.sample("ABCDEFGH", 3)
    return rankings, dict(zip(judged, (3, 0, 0), strict=True)), 3


# ---------------------------------------------------------------- 17-3: bounds of Precision@k


def precision_bounds(hits: list[str]) -> list[float]:
    """Return Precision if the unjudged hits are irrelevant, and if they are relevant."""
    n, relevant, unjudged = len(hits), hits.count("relevant"), hits.count("unjudged")
    return [relevant / n, (relevant + unjudged) / n]


def precision_of_judged(hits: list[str]) -> list[float]:
    judged = [hit for hit in hits if hit != "unjudged"]
    return [judged.count("relevant") / len(judged)] * 2


def precision_as_irrelevant(hits: list[str]) -> list[float]:
    return [hits.count("relevant") / len(hits)] * 2


def bounds_exchanged(hits: list[str]) -> list[float]:
    return precision_bounds(hits)[::-1]


def share_unjudged(hits: list[str]) -> list[float]:
    return [hits.count("relevant") / len(hits), hits.count("unjudged") / len(hits)]


def _hits(random: Random) -> tuple[list[str]]:
    hits = ["relevant"] * random.randint(1, 3) + ["unjudged"] * random.randint(2, 3)
    hits += ["irrelevant"] * (8 - len(hits))
    return (random.sample(hits, 8),)


# ---------------------------------------------------------------- 17-4: a report of five sentences

_TOLD = {
    "en": (
        "We compared a model with a person on {questions} questions. "
        "They gave equal grades to {agreement} of the pairs. "
        "A judge who always says 0 would agree in {always_0}. "
        "Kappa is {kappa}, with an interval from {low} to {high}. "
        "Whether the model is as good as a second person, these questions cannot tell."
    ),
    "ko": (
        "질문 {questions}개로 모델과 사람의 판정을 비교했습니다. "
        "등급이 같은 쌍의 비율은 {agreement}입니다. "
        "언제나 0이라고 하는 판정자라면 {always_0}이 일치합니다. "
        "카파는 {kappa}이고 구간은 {low}에서 {high}입니다. "
        "모델이 두 번째 사람만큼 잘하는지는 이 질문들로 판단할 수 없습니다."
    ),
}


def report(facts: dict[str, float]) -> str:
    return _TOLD[current_language()].format(**facts)


def rule_of_the_report(text: str, facts: dict[str, float]) -> str:
    """Judge a report: five sentences, the figures that it needs, and a careful verdict."""
    if len(split_sentences(text)) != 5:
        return "not_five"
    told = figures(text)
    if facts["always_0"] not in told:
        return "no_baseline"
    if not told >= {facts[name] for name in ("kappa", "low", "high", "questions")}:
        return "figures_missing"
    return RIGHT if CANNOT_TELL in verdicts(text) else "too_sure"


def report_too_sure(facts: dict[str, float]) -> str:
    return report(facts).replace("cannot tell", "can tell").replace("수 없", "수 있")


def _facts(random: Random) -> tuple[dict[str, float]]:
    middle, half = random.uniform(0.3, 0.5), random.uniform(0.2, 0.25)
    facts = {
        "questions": random.randint(8, 14),
        "agreement": round(random.uniform(0.78, 0.84), 2),
        "always_0": round(random.uniform(0.85, 0.9), 2),
        "kappa": round(middle, 2),
        "low": round(middle - half, 2),
        "high": round(middle + half, 2),
    }
    return (facts,)


EXERCISES: dict[str, Exercise] = {
    "17-1": Function(
        given=_two_judges,
        right=kappa,
        mistakes={
            "agreement": agreement,
            "equal_chances": kappa_of_equal_chances,
            "not_divided": kappa_not_divided,
            "one_judge": kappa_of_one_judge,
        },
    ),
    "17-2": Exercise(
        given=_rankings,
        right=pooled,
        mistakes={
            "not_cut": pooled_not_cut,
            "zeros_again": pooled_with_zeros,
            "judged_again": pooled_with_judged,
            "found_by_both": pooled_by_both,
        },
    ),
    "17-3": Exercise(
        given=_hits,
        right=precision_bounds,
        mistakes={
            "judged_only": precision_of_judged,
            "as_irrelevant": precision_as_irrelevant,
            "exchanged": bounds_exchanged,
            "share_of_unjudged": share_unjudged,
        },
    ),
    "17-4": Made(
        given=_facts,
        right=report,
        mistakes={
            "not_five": lambda facts: report(facts) + " " + report(facts),
            "no_baseline": lambda facts: report(facts | {"always_0": "much"}),
            "figures_missing": lambda facts: report(
                facts | {"kappa": "low", "low": "a", "high": "b"}
            ),
            "too_sure": report_too_sure,
        },
        rule=rule_of_the_report,
    ),
}
