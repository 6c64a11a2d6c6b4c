"""What an exercise is: what it gives, what is right, and the mistakes that it recognises.

A mistake is not stored as a number. It is made of what the student was given, as the student would
make it: the wrong answer that comes out of it is recognised by its value.
"""

import inspect
import io
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field
from numbers import Real
from random import Random
from time import monotonic
from types import FrameType
from typing import Any, TypeAlias

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

_CASES = 30  # that a student's function is tried on
_DRAWS = 1_000
SECONDS = 10  # that a student's function may take for all of them


class FailedError(Exception):
    """A student's function ended in an error: the case, and the error."""


class EndlessError(BaseException):
    """A student's function did not end in time. No ``except Exception`` of theirs takes it."""


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
    """

    def draw(self, random: Random) -> Given:
        """Draw one case. It need not tell all mistakes apart: the cases together do."""
        return self.given(random)

    def judge(self, answer: Any, given: Given) -> str:
        """Return RIGHT, the key of the mistake that was recognised, PERCENTAGE or WRONG.

        Raises:
            FailedError: the student's function ended in an error.
            EndlessError: it had not done all cases after SECONDS.
        """
        if not callable(answer):
            return WRONG
        cases, end = self._cases(given), monotonic() + SECONDS
        answers = [_tried(answer, case, end) for case in cases]
        if all(value is None or value is ... for value in answers):
            return NOT_ATTEMPTED

        # A mistake may end in an error, such as log2(1) below the line; any other error is raised.
        for key, way in self.ways().items():
            wanted = [_tried(way, case) for case in cases]
            if all(map(self.same, answers, wanted)):
                return key
        for case, value in zip(cases, answers, strict=True):
            if isinstance(value, NotImplementedError):  # what nbgrader puts in place of a solution
                return NOT_ATTEMPTED
            if isinstance(value, BaseException):
                raise FailedError(case, value)

        rights = [self.right(*deepcopy(case)) for case in cases]
        as_shares = list(map(with_shares, answers, rights))
        return PERCENTAGE if all(map(self.same, as_shares, rights)) else WRONG

    def first_difference(self, answer: Way, given: Given) -> tuple[Given, Any, Any]:
        """Return the first case where a wrong function differs: it, what came and what is right."""
        end = monotonic() + SECONDS
        for case in self._cases(given):
            found, wanted = _tried(answer, case, end), self.right(*deepcopy(case))
            if not self.same(found, wanted):
                return case, rounded(found, self.decimals), rounded(wanted, self.decimals)
        return given, ..., self.right(*deepcopy(given))  # it does not return the same twice

    def _cases(self, given: Given) -> list[Given]:
        """Return the cases that a function is tried on: the student's own first."""
        return [given, *(self.given(Random(case)) for case in range(_CASES))]


def _tried(way: Way, case: Given, end: float | None = None) -> Any:
    """Return what a function makes of a case, or the error that it ends in, and print nothing.

    A student's function has an end, of `monotonic`.
    """
    try:
        unread = io.StringIO()
        with (
            redirect_stdout(unread),
            redirect_stderr(unread),
            warnings.catch_warnings(),
            _kernel_that_stays(),
        ):
            warnings.simplefilter("ignore")
            value = way(*deepcopy(case)) if end is None else _in_time(way, deepcopy(case), end)
            if inspect.iscoroutine(value):  # else Python warns that nobody awaits it
                value.close()
            return value
    except (KeyboardInterrupt, EndlessError):
        raise
    except BaseException as error:  # also SystemExit, which is no Exception
        return error


@contextmanager
def _kernel_that_stays() -> Iterator[None]:
    """Let exit() and quit() of a notebook raise SystemExit, as Python's own do: they end it."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if not shell:
        yield
        return
    shell.ask_exit = sys.exit  # which hides the shell's own
    try:
        yield
    finally:
        vars(shell).pop("ask_exit", None)


def _in_time(way: Way, case: Given, end: float) -> Any:
    """Return what a function makes of a case, unless the end comes before.

    The clock is looked at before each instruction of Python: that can be done on every system and
    in every thread, and nothing is left running. A single call into C that never ends is not
    stopped, nor is anything while a debugger watches the lines itself.
    """
    if sys.gettrace() is not None:
        return way(*case)

    def look(frame: FrameType, *_: Any) -> Any:
        frame.f_trace_opcodes = True  # the lines alone leave out that of "while True: pass"
        if monotonic() > end:
            raise EndlessError(SECONDS)
        return look

    sys.settrace(look)
    try:
        return way(*case)
    finally:
        sys.settrace(None)


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
    if isinstance(answer, str) and answer.strip().endswith("%"):
        number = _number(answer.strip().removesuffix("%"))
    else:
        number = _number(answer) if isinstance(answer, Real) else math.nan
        if not abs(number) > 1:  # 0.4 is no 0.004
            return False
    return _close(number, 100 * right, 1) or number == round(100 * right)


def _number(written: Any) -> float:
    """Return a number, NaN where it is none, or larger than any float."""
    try:
        return float(written)
    except (ValueError, OverflowError):
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
    if hasattr(value, "to_dict") and not isinstance(value, Mapping):
        return _plain(value.to_dict() if value.ndim == 2 else value.tolist())
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return list(value) if isinstance(value, tuple) else value
