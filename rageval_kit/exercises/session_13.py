"""Session 13, faithfulness: a screen by words, what deceives it, and when to say nothing."""

from random import Random
from typing import Any

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made
from rageval_kit.grounding import faithfulness
from rageval_kit.language import split_sentences
from rageval_kit.wording import current_language

# ---------------------------------------------------------------- 13-1: the share of words


def share_supported(words: list[str], source: list[str]) -> float:
    if not words:
        return float("nan")  # nothing is claimed, so nothing is unsupported
    supported = [word for word in words if word in source]
    return len(supported) / len(words)


def share_of_source(words: list[str], source: list[str]) -> float:
    if not words:
        return float("nan")
    return sum(word in words for word in source) / len(source)


def zero_for_nothing(words: list[str], source: list[str]) -> float:
    return share_supported(words, source) if words else 0.0


def one_for_nothing(words: list[str], source: list[str]) -> float:
    return share_supported(words, source) if words else 1.0


def share_unsupported(words: list[str], source: list[str]) -> float:
    return 1 - share_supported(words, source)


def share_in_both(words: list[str], source: list[str]) -> float:
    if not words:
        return float("nan")
    return len({*words} & {*source}) / len({*words} | {*source})


def _words(random: Random) -> tuple[list[str], list[str]]:
    known = ["vacuum", "storage", "rows", "table", "server"]
    words = random.sample([*known, "backup", "night", "account"], random.randint(2, 6))
    return [] if random.random() < 0.2 else words, known


# ---------------------------------------------------------------- 13-2: deceive the screen

_SOURCES = {
    "en": "The library opens at nine on weekdays. Borrowed books must be returned before the "
    "semester ends. Lost books are replaced by the borrower.",
    "ko": "도서관은 평일 아침에 문을 연다. 빌린 책은 학기가 끝나기 전에 반납해야 한다. "
    "잃어버린 책은 빌린 사람이 새로 사서 갚는다.",
}
_DECEIVING = {
    _SOURCES["en"]: (
        "Whatever someone takes home has to come back in term time.",
        "Borrowed books are replaced before the semester ends. Lost books must be returned.",
    ),
    _SOURCES["ko"]: (
        "가져간 자료는 방학 시작 이전까지 돌려주어야 합니다.",
        "잃어버린 책은 학기가 끝나기 전에 반납해야 한다. 빌린 책은 새로 사서 갚는다.",
    ),
}
_LEAST_WORDS = 4


def rule_of_two_answers(answer: Any, source: str) -> str:
    """Judge two answers: other words (below 0.5), and the source's words otherwise (1.0)."""
    other_words, its_words = (str(text).strip() for text in answer)
    for text in (other_words, its_words):
        found = faithfulness(text, source)
        if len(found.supported) + len(found.unsupported) < _LEAST_WORDS:
            return "too_short"

    if faithfulness(other_words, source).score >= 0.5:
        return "words_of_the_source"
    if faithfulness(its_words, source).score < 1:
        return "word_of_your_own"
    sentences = [sentence.rstrip(".!?") for sentence in split_sentences(its_words)]
    return "copied" if all(sentence in source for sentence in sentences) else RIGHT


# ---------------------------------------------------------------- 13-3: a threshold

Query = tuple[float, bool]  # the distance of its best hit, and whether it is answerable


def _rates(queries: list[Query], threshold: float) -> tuple[float, float]:
    """Return the share of unanswerable queries answered, and of answerable ones refused."""
    of_each: dict[bool, list[float]] = {True: [], False: []}
    for distance, answerable in queries:
        of_each[answerable].append(distance)
    answered = sum(distance <= threshold for distance in of_each[False]) / len(of_each[False])
    refused = sum(distance > threshold for distance in of_each[True]) / len(of_each[True])
    return answered, refused


def threshold_of(queries: list[Query], wanted: float) -> list[float]:
    fit = [d for d, _ in queries if _rates(queries, d)[0] <= wanted]
    best = max(fit)  # the largest refuses the fewest
    return [best, _rates(queries, best)[1]]


def threshold_smallest(queries: list[Query], wanted: float) -> list[float]:
    best = min(d for d, _ in queries)
    return [best, _rates(queries, best)[1]]


def threshold_of_all(queries: list[Query], wanted: float) -> list[float]:
    def share(limit: float) -> float:
        return sum(d <= limit and not answerable for d, answerable in queries) / len(queries)

    best = max(d for d, _ in queries if share(d) <= wanted)
    return [best, _rates(queries, best)[1]]


def price_as_answered(queries: list[Query], wanted: float) -> list[float]:
    best, refused = threshold_of(queries, wanted)
    return [best, 1 - refused]


def price_of_all(queries: list[Query], wanted: float) -> list[float]:
    best, _ = threshold_of(queries, wanted)
    return [best, sum(d > best and answerable for d, answerable in queries) / len(queries)]


def _some_queries(random: Random) -> tuple[list[Query], float]:
    places = random.sample(range(90, 160), 12)
    easy = [(place / 100, True) for place in sorted(places)[:3]]
    rest = [(place / 100, False) for place in sorted(places)[3:7]]
    late = [(place / 100, True) for place in sorted(places)[7:]]
    queries = [*easy, *rest, *late]
    swapped = random.randrange(4, 6)  # the kinds overlap
    queries[swapped], queries[8] = (queries[swapped][0], True), (queries[8][0], False)
    random.shuffle(queries)
    return queries, random.choice([0.25, 0.5])


# ---------------------------------------------------------------- 13-4: a mean with refusals

Scores = dict[str, float | None]


def mean_faithfulness(scores: Scores) -> float:
    known = [score for score in scores.values() if score is not None]
    return sum(known) / len(known)


def none_as_zero(scores: Scores) -> float:
    return sum(score or 0.0 for score in scores.values()) / len(scores)


def none_as_one(scores: Scores) -> float:
    return sum(1.0 if score is None else score for score in scores.values()) / len(scores)


def share_in_the_first_band(scores: Scores) -> float:
    known = [score for score in scores.values() if score is not None]
    return sum(score >= 0.9 for score in known) / len(known)


def _some_scores(random: Random) -> tuple[Scores]:
    values: list[float | None] = [random.choice([1.0, 0.9, 0.75, 0.5, 0.2]) for _ in range(6)]
    values += [None] * random.randint(1, 3)
    random.shuffle(values)
    return ({f"q{number}": score for number, score in enumerate(values, start=1)},)


EXERCISES: dict[str, Exercise] = {
    "13-1": Function(
        given=_words,
        right=share_supported,
        mistakes={
            "share_of_source": share_of_source,
            "zero_for_nothing": zero_for_nothing,
            "one_for_nothing": one_for_nothing,
            "unsupported": share_unsupported,
            "in_both": share_in_both,
        },
    ),
    "13-2": Made(
        given=lambda random: (_SOURCES[current_language()],),
        right=lambda source: _DECEIVING[source],
        mistakes={
            "too_short": lambda source: ("A b.", _DECEIVING[source][1]),
            "words_of_the_source": lambda source: (source, _DECEIVING[source][1]),
            "word_of_your_own": lambda source: (_DECEIVING[source][0], _DECEIVING[source][0]),
            "copied": lambda source: (_DECEIVING[source][0], source),
        },
        rule=rule_of_two_answers,
    ),
    "13-3": Exercise(
        given=_some_queries,
        right=threshold_of,
        mistakes={
            "smallest": threshold_smallest,
            "share_of_all": threshold_of_all,
            "answered_not_refused": price_as_answered,
            "price_of_all": price_of_all,
        },
    ),
    "13-4": Exercise(
        given=_some_scores,
        right=mean_faithfulness,
        mistakes={
            "none_as_zero": none_as_zero,
            "none_as_one": none_as_one,
            "first_band": share_in_the_first_band,
        },
    ),
}
