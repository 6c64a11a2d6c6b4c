"""Exercises that check themselves: what you are given, whether you are right and why not, hints.

``check("04-2", answer)`` is exercise 2 of session 4. Its right answer is computed from the numbers
that your seed drew; nothing is stored, sent or counted.

>>> set_seed(7)
>>> gains, n_relevant, k = given("04-3")
>>> check("04-3", ...).right
[not attempted] 04-3: put your answer in place of ... and run the cell again.
False
"""

import ast
import tomllib
from collections.abc import Mapping, ValuesView
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import (
    Parameter,
    getsource,
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
    signature,
)
from numbers import Integral
from random import Random
from textwrap import dedent, fill
from typing import Any
from unicodedata import normalize

from rageval_kit.exercises.kinds import (
    NOT_ATTEMPTED,
    PERCENTAGE,
    RIGHT,
    WRONG,
    Exercise,
    FailedError,
    Function,
    Given,
    Way,
    are_alike,
    rounded,
    same,
)
from rageval_kit.exercises.running import EndlessError
from rageval_kit.messages import in_short, name_some, shown, typed
from rageval_kit.wording import current_language, say, say_count

__all__ = ["ask", "check", "given", "hint", "set_seed", "solution"]

_LETTERS = "abcd"
_WITHOUT_A_VALUE = (isgeneratorfunction, iscoroutinefunction, isasyncgenfunction)
_WIDTHS = {"en": 100, "ko": 60}  # of a printed line: a Korean letter is as wide as two others

_seed = 0
_hints_given: dict[str, int] = {}


@dataclass(frozen=True)
class Outcome:
    """Whether an answer is right, and what was printed. It is true if the answer is right."""

    right: bool
    text: str

    def __bool__(self) -> bool:
        return self.right

    def _ipython_display_(self) -> None:
        """Show nothing below a cell: it is printed already."""


def set_seed(seed: int) -> None:
    """Choose the numbers of all exercises: whoever has another seed has others.

    Raises:
        TypeError: the seed is no integer.
        ValueError: it has more than 100 digits.
    """
    global _seed
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed is an integer, such as your student number; found {typed(seed)}.")
    if abs(int(seed)) >= 10**100:
        raise ValueError("seed has at most 100 digits, as a student number has. Choose another.")
    _seed = int(seed)


def given(name: str) -> Any:
    """Return what an exercise gives: one value, or a tuple of several.

    Raises:
        KeyError: there is no such exercise.
    """
    drawn = deepcopy(_drawn(name))
    return drawn[0] if len(drawn) == 1 else drawn


def check(name: str, answer: Any) -> Outcome:
    """Say whether an answer is right and, where it is not, which mistake it looks like.

    Args:
        name: the exercise, ``"04-2"``, or the ten questions of a session, ``"04-quiz"``.
        answer: a value or a function, as the exercise asks for; of a quiz a dict such as
            ``{1: "a", 2: "c"}``.

    Returns:
        What was printed; true if the answer is right. A function is tried on many cases;
        what it prints is not shown. One that has not ended after ten seconds is stopped and wrong,
        but for a call into C that never ends (time.sleep): then interrupt the kernel.

    Raises:
        KeyError: there is no such exercise.
        KeyboardInterrupt: the check was interrupted.
    """
    outcome = _checked_quiz(name, answer) if _is_quiz(name) else _checked(name, answer)
    print(outcome.text)
    return outcome


def _checked(name: str, answer: Any) -> Outcome:
    exercise, words = _exercise(name), _texts(_session_of(name))[name]
    try:
        verdict, unknown = _judged(exercise, answer, _drawn(name))
    except KeyboardInterrupt:
        print(_line(say("wrong"), name, say("interrupted: your answer had not ended.")))
        raise
    except BaseException as error:  # also SystemExit, which is no Exception
        return Outcome(False, _line(say("wrong"), name, _of_an_error(name, answer, error)))

    # What is said of each verdict.
    if verdict == RIGHT:
        return Outcome(True, _line(say("right"), name, words["right"]))
    if verdict == NOT_ATTEMPTED:
        cure = say("put your answer in place of ... and run the cell again.")
        if callable(answer):
            cure = say("it returns None. Put its lines in place of ... and end it with return.")
        return Outcome(False, _line(say("not attempted"), name, cure))
    if verdict == WRONG:
        cure = say("hint({name}) helps.", name=repr(name))
        return Outcome(False, _line(say("wrong"), name, f"{unknown} {cure}"))
    if verdict == PERCENTAGE:
        cure = say("this is in per cent. Give the share itself: 0.345, not 34.5 %.")
        return Outcome(False, _line(say("wrong"), name, cure))
    return Outcome(False, _line(say("wrong"), name, words["mistakes"][verdict]))


def _judged(exercise: Exercise, answer: Any, its_given: Given) -> tuple[str, str]:
    """Return the verdict and, of a wrong answer that no known mistake explains, what to say."""
    if _is_open(answer):
        return NOT_ATTEMPTED, ""
    if isinstance(exercise, Function) and callable(answer):
        attempts = exercise.attempts(answer, its_given)
        verdict = exercise.verdict(attempts)
        return verdict, _of_a_function(exercise, answer, attempts) if verdict == WRONG else ""
    verdict = exercise.judge(answer, its_given)
    return verdict, _of_a_wrong_answer(exercise, answer, its_given) if verdict == WRONG else ""


def _is_open(answer: Any) -> bool:
    """Say whether an answer still is ..., as a whole or in all its parts."""
    parts = answer.values() if isinstance(answer, Mapping) else answer
    if isinstance(parts, (list, tuple, ValuesView)) and parts:
        return all(part is ... for part in parts)
    return answer is ...


def _of_an_error(name: str, answer: Any, error: BaseException) -> str:
    """Say what a function ended in, or in what form an answer is wanted that could not be read."""
    exercise = _exercise(name)
    if not isinstance(exercise, Function):
        return _of_another_form(exercise, answer, _drawn(name))
    if isinstance(error, EndlessError):
        return say(
            "it was stopped after {n} seconds. It is too slow, or a loop in it has no end, such as "
            "a while whose condition stays true.",
            n=exercise.seconds,
        )

    # An error of the function's own: two have words of their own.
    case, its_error = error.args if isinstance(error, FailedError) else (_drawn(name), error)
    if isinstance(its_error, SystemExit):
        return say("it ends Python, by exit() or quit(). End it with return.")
    ended = ": ".join(filter(None, [type(its_error).__name__, in_short(its_error)]))
    arguments = _wrong_arguments(exercise, answer, case)
    return arguments or say(
        "with {case} it ends in an error, {error}", case=shown(case, 200), error=ended
    )


def _of_another_form(exercise: Exercise, answer: Any, its_given: Given) -> str:
    wanted, found = exercise.wanted(its_given), typed(answer)
    return say("the answer is {wanted}; found {found}.", wanted=wanted, found=found)


def _wrong_arguments(exercise: Exercise, answer: Any, its_given: Given) -> str:
    """Say what a function is called with, where it cannot be called so; "" where it can."""
    called = list(signature(exercise.right).parameters)
    try:
        its = signature(answer)
    except Exception:  # what is written in C may not tell
        return ""
    try:
        its.bind(*called)
    except TypeError:
        bare = [each.replace(annotation=Parameter.empty) for each in its.parameters.values()]
        takes = str(its.replace(parameters=bare, return_annotation=Parameter.empty))
        return say(
            "your function is called with {arguments} ({names}), such as {case}; it takes {found}.",
            arguments=say_count(len(called), "argument"),
            names=", ".join(called),
            case=shown(its_given, 200),
            found=in_short(takes),
        )
    return ""


def _of_a_function(exercise: Function, answer: Way, attempts: list[tuple[Given, Any]]) -> str:
    """Say where a wrong function differs, or why it returns no value."""
    if any(kind(answer) for kind in _WITHOUT_A_VALUE):
        return say("it has yield or async, and so returns no value. End it with return.")
    case, found, wanted = exercise.first_difference(attempts)
    values = {"case": shown(case, 200), "found": shown(found), "wanted": shown(wanted)}
    return say("with {case} it returns {found}, and {wanted} is right.", **values)


def _of_a_wrong_answer(exercise: Exercise, answer: Any, its_given: Given) -> str:
    """Say the most helpful thing about an answer that no known mistake explains."""
    if isinstance(exercise, Function):
        return say(
            "give the function itself, without parentheses; found {found}.", found=typed(answer)
        )

    # A value: of another form, too short of decimals, or just wrong.
    right = exercise.right(*deepcopy(its_given))
    if not are_alike(answer, right):
        return _of_another_form(exercise, answer, its_given)
    if any(same(answer, rounded(right, n), 9) for n in range(1, exercise.decimals)):
        decimals = exercise.decimals
        return say(
            "{found} is rounded too far: give {n} decimals.", found=shown(answer), n=decimals
        )
    return say("{found} is not right.", found=shown(answer))


def _line(verdict: str, name: str, text: str) -> str:
    return _filled(f"[{verdict}] {name}: {' '.join(text.split())}")


def _filled(text: str, indent: str = "") -> str:
    width = _WIDTHS[current_language()]
    return fill(text, width, subsequent_indent=indent, break_long_words=False)


def hint(name: str) -> None:
    """Print the next hint of an exercise: the first is a nudge, the second is half the way.

    Raises:
        KeyError: there is no such exercise.
    """
    hints = _texts(_session_of(name))[name]["hints"]
    number = min(_hints_given.get(name, 0), len(hints) - 1)
    _hints_given[name] = number + 1
    text = " ".join(hints[number].split())
    print(_filled(say("Hint {n} of {all}: {hint}", n=number + 1, all=len(hints), hint=text)))


def solution(name: str) -> None:
    """Print how an exercise is solved, and what comes out with your numbers.

    Raises:
        KeyError: there is no such exercise.
    """
    if _is_quiz(name):
        print(quiz_key(name.removesuffix("-quiz")))
        return
    exercise = _exercise(name)
    print(_texts(_session_of(name))[name]["solution"].strip())
    if isinstance(exercise, Function):
        print("\n" + _as_a_student_writes(exercise.right))
    else:
        answer = exercise.right(*deepcopy(_drawn(name)))
        shown_as = rounded(answer, exercise.decimals)
        print("\n" + say("With your numbers: {answer}", answer=shown_as))


def _as_a_student_writes(function: Way) -> str:
    """Return the code of a function without types, whose names a notebook does not have."""
    source = dedent(getsource(function)).strip()
    (definition,) = ast.parse(source).body
    body = source.splitlines()[definition.body[0].lineno - 1 :]  # type: ignore[attr-defined]
    names = ", ".join(signature(function).parameters)
    return "\n".join([f"def {function.__name__}({names}):", *body])


# ---------------------------------------------------------------- the ten questions


def ask(session: str) -> None:
    """Print the ten questions of a session, with their choices in an order of your own.

    Args:
        session: such as ``"04"``.

    Raises:
        KeyError: there is no such session.
    """
    for number, question in enumerate(_texts(session)["quiz"], start=1):
        print(_filled(f"{number}. {' '.join(question['question'].split())}"))
        for letter, (choice, _) in zip(_LETTERS, _choices(session, number), strict=True):
            print(_filled(f"   {letter}) {choice}", indent="      "))
        print()


def quiz_key(session: str) -> dict[int, str]:
    """Return the right letters of a session's questions, in the order of the seed.

    Raises:
        KeyError: there is no such session.
    """
    key = {}
    for number, question in enumerate(_texts(session)["quiz"], start=1):
        choices = [choice for choice, _ in _choices(session, number)]
        key[number] = _LETTERS[choices.index(question["right"])]
    return key


def _is_quiz(name: Any) -> bool:
    return isinstance(name, str) and name in [f"{session}-quiz" for session in sessions()]


def _choices(session: str, number: int) -> list[tuple[str, str]]:
    """Return the choices of a question, each with why it is right or wrong, in the seed's order."""
    question = _texts(session)["quiz"][number - 1]
    choices = [(question["right"], question["why"]), *map(tuple, question["wrong"])]
    return Random(f"{_seed} {session} {number}").sample(choices, len(choices))


def _checked_quiz(name: str, answers: Any) -> Outcome:
    """Say of each answer whether it is right, and why; the quiz is right if all are."""
    session = name.removesuffix("-quiz")
    questions = _texts(session)["quiz"]
    letters = _letters(answers)
    if not letters:
        cure = say("answer with a dict of letters, such as {example}.", example='{1: "a", 2: "c"}')
        return Outcome(False, _line(say("not attempted"), name, cure))

    # A line a question: an answer is explained, right or wrong.
    lines, right = [], 0
    for number, question in enumerate(questions, start=1):
        letter = letters.pop(str(number), "")
        choices = dict(zip(_LETTERS, _choices(session, number), strict=True))
        if letter not in choices:
            verdict = say("wrong") if letter and letter != "..." else say("not attempted")
            lines.append(_line(verdict, str(number), say("choose a, b, c or d.")))
            continue
        choice, why = choices[letter]
        is_right = choice == question["right"]
        right += is_right
        lines.append(_line(say("right") if is_right else say("wrong"), f"{number} {letter}", why))

    # What is left answers no question, such as 0.
    if letters:
        said = say("no question has this number: {numbers}.", numbers=name_some(list(letters)))
        lines.append(_line(say("wrong"), name, said))
    lines.append(say("{right} of {all} are right.", right=right, all=len(questions)))
    return Outcome(right == len(questions) and not letters, "\n".join(lines))


def _letters(answers: Any) -> dict[str, str]:
    """Return {number: letter} of a dict or a list: 1 and "1" are one number, "A)" and "a" a letter.

    >>> _letters({1: "a", "2": "B)"}), _letters(["a", "b"]), _letters("ab")
    ({'1': 'a', '2': 'b'}, {'1': 'a', '2': 'b'}, {})
    """
    if isinstance(answers, list | tuple):
        answers = dict(enumerate(answers, start=1))
    if not isinstance(answers, Mapping):
        return {}
    return {
        in_short(number).strip(): normalize("NFKC", in_short(letter)).strip(" .()").lower()
        for number, letter in answers.items()
    }


# ---------------------------------------------------------------- where things are


@cache
def sessions() -> list[str]:
    """Return the sessions that have exercises: ``["00", "01", ...]``."""
    names = [path.name for path in files(__package__).iterdir()]
    return sorted(name[8:10] for name in names if name.startswith("session_"))


@cache
def exercises_of(session: str) -> dict[str, Exercise]:
    """Return the exercises of a session by their names."""
    module = import_module(f"{__package__}.session_{session}")
    exercises: dict[str, Exercise] = module.EXERCISES
    return exercises


@cache
def texts_of(session: str, language: str) -> dict[str, Any]:
    """Return the texts of a session in a language, as its file has them."""
    path = files(__package__) / "texts" / language / f"{session}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _texts(session: str) -> dict[str, Any]:
    if not isinstance(session, str) or session not in sessions():
        there_are = ", ".join(sessions())
        raise KeyError(f"No session is called {shown(session)}; there are: {there_are}.")
    return texts_of(session, current_language())


def _session_of(name: Any) -> str:
    """Return the session of an exercise, and refuse a name that no exercise has."""
    session = in_short(name).strip().partition("-")[0].zfill(2)
    known = list(exercises_of(session)) if session in sessions() else []
    if not isinstance(name, str) or name not in known:
        near = known or [each for any_one in sessions() for each in exercises_of(any_one)]
        raise KeyError(f"No exercise is called {shown(name)}; there are: {name_some(near)}.")
    return session


def _exercise(name: str) -> Exercise:
    return exercises_of(_session_of(name))[name]


def _drawn(name: str) -> Given:
    return _draw(_session_of(name), name, _seed, current_language())


@cache  # a text that is given is in the language
def _draw(session: str, name: str, seed: int, language: str) -> Given:
    return exercises_of(session)[name].draw(Random(f"{seed} {name}"))
