"""What an exercise is: what it gives, what is right, and the mistakes that it recognises.

A mistake is not stored as a number. It is made of what the student was given, as the student would
make it: the wrong answer that comes out of it is recognised by its value.
"""

import math
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from random import Random
from typing import Any, ClassVar, TypeAlias

from rageval_kit.exercises.running import stopped_after, tried
from rageval_kit.wording import say, to_say

RIGHT, WRONG, NOT_ATTEMPTED = "right", "wrong", "not attempted"
PERCENTAGE = "percentage"  # a mistake that every exercise knows: 34.5 or "34.5 %" for 0.345

Given: TypeAlias = tuple[Any, ...]
Way: TypeAlias = Callable[..., Any]  # from what is given to an answer, right or wrong

_FORMS: dict[type, str] = {
    bool: to_say("True or False"),
    Real: to_say("a number"),
    str: to_say("a string"),
    Mapping: to_say("a dict"),
    set: to_say("a set"),
}
_A_LIST = to_say("a list")
_LISTS = {"a number": to_say("a list of numbers"), "a string": to_say("a list of strings")}

_PER_CENT = re.compile(
    r"\s*([-+]?\d+(?:[.,]\d+)?)\s*(?:[%％]|per ?cent|퍼센트|프로)\s*", re.IGNORECASE
)

_CASES = 30  # that a student's function is tried on
_DRAWS = 1_000


class FailedError(Exception):
    """A student's function ended in an error: the case, and the error."""


@dataclass(frozen=True)
class Exercise:
    """An exercise with one right answer. Its words stand in ``texts/<language>/NN.toml``.

    Attributes:
        given: draws what the student is given, a tuple.
        right: makes the right answer of it.
        mistakes: by key, what makes a wrong answer of it, as a student would.
        decimals: to how many decimals numbers are compared.
    """

    given: Callable[[Random], Given]
    right: Way
    mistakes: Mapping[str, Way] = field(default_factory=dict)
    decimals: int = 3

    def draw(self, random: Random) -> Given:
        """Draw what is given, so that no mistake gives the right answer or that of another."""
        for _ in range(_DRAWS):
            given = self.given(random)
            answers = [way(*deepcopy(given)) for way in self.ways().values()]
            if not any(self.same(a, b) for i, a in enumerate(answers) for b in answers[:i]):
                return given
        raise RuntimeError("No draw tells the mistakes of this exercise apart.")

    def judge(self, answer: Any, given: Given) -> str:
        """Return RIGHT, the key of the mistake that was recognised, PERCENTAGE or WRONG."""
        for key, way in self.ways().items():
            if self.same(answer, way(*deepcopy(given))):
                return key
        right = self.right(*deepcopy(given))
        return PERCENTAGE if self.same(with_shares(answer, right), right) else WRONG

    def wanted(self, given: Given) -> str:
        """Return the form of an answer, in words: ``a list of numbers``."""
        return form(self.right(*deepcopy(given)))

    def ways(self) -> dict[str, Way]:
        """Return what makes the right answer, and every mistake, by its key."""
        return {RIGHT: self.right, **self.mistakes}

    def same(self, answer: Any, wanted: Any) -> bool:
        """Say whether two answers are equal, numbers to `decimals`."""
        return same(answer, wanted, self.decimals)


@dataclass(frozen=True)
class Function(Exercise):
    """An exercise whose answer is a function: it is tried on many cases.

    ``right`` and the mistakes are functions of the same arguments, in a file of their own names, so
    that their code is the solution. What the student is given is one case.

    Attributes:
        seconds: that a student's function may take for all cases.
    """

    seconds: ClassVar[float] = 10

    def draw(self, random: Random) -> Given:
        """Draw one case. It need not tell all mistakes apart: the cases together do."""
        return self.given(random)

    def judge(self, answer: Any, given: Given) -> str:
        """Return RIGHT, the key of the mistake that was recognised, PERCENTAGE or WRONG.

        Raises: as `attempts` and `verdict`.
        """
        return self.verdict(self.attempts(answer, given)) if callable(answer) else WRONG

    def attempts(self, answer: Way, given: Given) -> list[tuple[Given, Any]]:
        """Return every case and what a student's function makes of it, the student's own first.

        Raises:
            EndlessError: it had not done all cases in time.
        """
        cases = [given, *(self.given(Random(case)) for case in range(_CASES))]
        with stopped_after(self.seconds):
            return [(case, tried(answer, case)) for case in cases]

    def verdict(self, attempts: list[tuple[Given, Any]]) -> str:
        """Return what `attempts` say: see `judge`.

        Raises:
            FailedError: the student's function ended in an error.
        """
        if all(value is None or value is ... for _, value in attempts):
            return NOT_ATTEMPTED

        # A mistake may end in an error, such as log2(1) below the line; any other error is raised.
        for key, way in self.ways().items():
            if all(self.same(value, tried(way, case)) for case, value in attempts):
                return key
        for case, value in attempts:
            if isinstance(value, NotImplementedError):  # what nbgrader puts in place of a solution
                return NOT_ATTEMPTED
            if isinstance(value, BaseException):
                raise FailedError(case, value)

        rights = [self.right(*deepcopy(case)) for case, _ in attempts]
        as_shares = [
            with_shares(value, right) for (_, value), right in zip(attempts, rights, strict=True)
        ]
        return PERCENTAGE if all(map(self.same, as_shares, rights)) else WRONG

    def first_difference(self, attempts: list[tuple[Given, Any]]) -> tuple[Given, Any, Any]:
        """Return the first case where a wrong function differs: it, what came and what is right."""
        rights = (self.right(*deepcopy(case)) for case, _ in attempts)
        case, found, wanted = next(
            (case, value, right)
            for (case, value), right in zip(attempts, rights, strict=True)
            if not self.same(value, right)
        )
        return case, rounded(found, self.decimals), rounded(wanted, self.decimals)


@dataclass(frozen=True)
class Made(Exercise):
    """An exercise with many right answers: what the student makes is judged by a rule.

    ``right`` and the mistakes make one example each.

    Attributes:
        rule: from the answer and what is given to RIGHT, the key of a mistake, or WRONG.
    """

    rule: Callable[..., str] = field(kw_only=True)

    def wanted(self, given: Given) -> str:
        """Return the form of an answer, in words: ``a tuple (a list, a number)``."""
        example = self.right(*deepcopy(given))
        if isinstance(example, Mapping):
            return say("a dict with the keys {keys}", keys=", ".join(map(repr, example)))
        if isinstance(example, (list, tuple)):
            return say("a tuple ({parts})", parts=", ".join(map(form, example)))
        return form(example)

    def draw(self, random: Random) -> Given:
        """Draw what is given."""
        return self.given(random)

    def judge(self, answer: Any, given: Given) -> str:
        """Return what the rule says.

        Raises:
            Exception: whatever comes of an answer in a form that the rule cannot read.
        """
        return self.rule(answer, *deepcopy(given))


def same(answer: Any, wanted: Any, decimals: int) -> bool:
    """Say whether two answers are equal: numbers to some decimals, texts but for case and blanks.

    A list, a tuple, an array and a Series of the same values are equal, and two errors of a kind.

    >>> same(0.87719, 0.8772, 3), same([1, "Q01 "], (1.0, "q01"), 3), same(1, True, 3)
    (True, True, False)
    """
    try:
        return _same(answer, wanted, decimals)
    except Exception:  # a number too large for a float, an object whose == fails
        return False


def _same(answer: Any, wanted: Any, decimals: int) -> bool:
    answer, wanted = _plain(answer), _plain(wanted)
    if isinstance(wanted, bool) or isinstance(answer, bool):
        return answer is wanted
    if isinstance(wanted, Real) and isinstance(answer, Real):
        return _close(float(answer), float(wanted), decimals)
    if isinstance(wanted, str) and isinstance(answer, str):
        return answer.strip().casefold() == wanted.strip().casefold()
    if isinstance(wanted, Mapping) and isinstance(answer, Mapping):
        keys_alike = answer.keys() == wanted.keys()
        return keys_alike and all(same(answer[key], wanted[key], decimals) for key in wanted)
    if isinstance(wanted, list) and isinstance(answer, list):
        pairs = zip(answer, wanted, strict=False)
        return len(answer) == len(wanted) and all(same(a, b, decimals) for a, b in pairs)
    alike = type(answer) is type(wanted)
    return alike and (isinstance(wanted, Exception) or bool(answer == wanted))


def with_shares(answer: Any, right: Any) -> Any:
    """Return an answer in which each number that is its share in per cent is that share.

    >>> with_shares([34.5, "100 %", 7], [0.3452, 1.0, 7.0])
    [0.3452, 1.0, 7]
    """
    answer, right = _plain(answer), _plain(right)
    if isinstance(right, list) and isinstance(answer, list) and len(answer) == len(right):
        return list(map(with_shares, answer, right))
    if isinstance(right, Mapping) and isinstance(answer, Mapping):
        return {key: with_shares(value, right.get(key)) for key, value in answer.items()}
    return right if _is_percentage(answer, right) else answer


def _is_percentage(answer: Any, right: Any) -> bool:
    """Say whether an answer is a share times 100, to a decimal or none, or says so by its sign."""
    if not (isinstance(right, float) and abs(right) <= 1):
        return False
    if isinstance(answer, str):
        said = _PER_CENT.fullmatch(answer)
        number = float(said[1].replace(",", ".")) if said else math.nan
    else:
        number = _number(answer) if isinstance(answer, Real) else math.nan
        if not abs(number) > 1:  # 0.4 is no 0.004
            return False
    is_whole = abs(number) >= 10 and number.is_integer()
    return _close(number, 100 * right, 0 if is_whole else 1)


def _number(written: Real) -> float:
    """Return a number, NaN where it is larger than any float."""
    try:
        return float(written)
    except OverflowError:
        return math.nan


def form(value: Any) -> str:
    """Say what a value is: a number, a list of strings.

    >>> form(0.5), form(("q1", "q2")), form({"q1": 2})
    ('a number', 'a list of strings', 'a dict')
    """
    words = _form(_plain(value))
    return say(words)


def _form(value: Any) -> str:
    for kind, words in _FORMS.items():
        if isinstance(value, kind):
            return words
    if not isinstance(value, list):
        return to_say("something else")
    of_parts = {_form(_plain(part)) for part in value}
    return _LISTS.get(of_parts.pop(), _A_LIST) if len(of_parts) == 1 else _A_LIST


def are_alike(answer: Any, wanted: Any) -> bool:
    """Say whether an answer has the form that is wanted; a list may be empty, or of several kinds.

    >>> are_alike(1, 0.5), are_alike("0.5", 0.5), are_alike([], [0.5])
    (True, False, True)
    """
    forms = _form(_plain(answer)), _form(_plain(wanted))
    are_lists = {*forms} <= {_A_LIST, *_LISTS.values()}
    return forms[0] == forms[1] or (are_lists and _A_LIST in forms)


def rounded(value: Any, decimals: int) -> Any:
    """Return a value with all numbers in it rounded."""
    value = _plain(value)
    if isinstance(value, float):
        return round(value, decimals)
    if isinstance(value, list):
        return [rounded(part, decimals) for part in value]
    if isinstance(value, Mapping):
        return {key: rounded(part, decimals) for key, part in value.items()}
    return value


def _close(answer: float, wanted: float, decimals: int) -> bool:
    if math.isnan(answer) or math.isnan(wanted):
        return math.isnan(answer) and math.isnan(wanted)
    return answer == wanted or abs(answer - wanted) <= 0.5001 * 10**-decimals


def _plain(value: Any) -> Any:
    """Return Python's own value for one of numpy or pandas, and a list for a tuple."""
    if isinstance(value, type):
        return value
    if isinstance(value, Decimal):
        return float(value)
    if hasattr(value, "to_dict") and not isinstance(value, Mapping):
        return _plain(value.to_dict() if value.ndim == 2 else value.tolist())
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return list(value) if isinstance(value, tuple) else value
