"""Exercises: each right answer is taken, each mistake is known by its value, in both languages."""

import re
import sys
import threading
import warnings
from contextlib import suppress
from decimal import Decimal
from random import Random
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rageval_kit import exercises as kit
from rageval_kit.exercises import ask, check, given, hint, kinds, set_seed, solution
from rageval_kit.exercises.kinds import RIGHT, WRONG, Exercise, Function, Made, same
from rageval_kit.wording import set_language

NAMES = [name for session in kit.sessions() for name in kit.exercises_of(session)]
MISTAKES = [
    (name, key)
    for session in kit.sessions()
    for name, exercise in kit.exercises_of(session).items()
    for key in exercise.mistakes
]
LANGUAGES = ("en", "ko")
SEEDS = range(12)


@pytest.fixture(autouse=True)
def as_at_the_start():
    yield
    set_language("en")
    set_seed(0)
    kit._hints_given.clear()


def drawn(name, seed):
    exercise = kit.exercises_of(name[:2])[name]
    return exercise, exercise.draw(Random(f"{seed} {name}"))


def answer_of(exercise, way, its_given):
    return way if isinstance(exercise, Function) else way(*its_given)


@pytest.mark.parametrize("name", NAMES)
def test_the_right_answer_is_right_with_every_seed(name):
    for seed in SEEDS:
        exercise, its_given = drawn(name, seed)
        assert exercise.judge(answer_of(exercise, exercise.right, its_given), its_given) == RIGHT


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_mistake_is_known_by_what_comes_out_of_it(name, mistake):
    for seed in SEEDS:
        exercise, its_given = drawn(name, seed)
        answer = answer_of(exercise, exercise.mistakes[mistake], its_given)
        assert exercise.judge(answer, its_given) == mistake


@pytest.mark.parametrize("name", [n for n in NAMES if type(drawn(n, 0)[0]) is Exercise])
def test_neighbours_have_other_numbers(name):
    assert len({repr(drawn(name, seed)[1]) for seed in SEEDS}) > 1


def test_at_least_forty_mistakes_are_known_and_three_exercises_a_session():
    assert len(MISTAKES) >= 40
    for session in kit.sessions():
        assert len(kit.exercises_of(session)) >= 3


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("session", kit.sessions())
def test_every_exercise_has_its_words_in_each_language(session, language):
    texts, exercises = kit.texts_of(session, language), kit.exercises_of(session)
    assert list(texts) == [*exercises, "quiz"]
    for name, exercise in exercises.items():
        words = texts[name]
        assert words.keys() == {"right", "hints", "solution", "mistakes"}
        assert len(words["hints"]) == 2
        assert list(words["mistakes"]) == list(exercise.mistakes)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("session", kit.sessions())
def test_a_quiz_has_ten_questions_and_explains_every_choice(session, language):
    quiz = kit.texts_of(session, language)["quiz"]
    assert len(quiz) == 10
    for question in quiz:
        choices = [(question["right"], question["why"]), *map(tuple, question["wrong"])]
        assert len(choices) == len({choice for choice, _ in choices}) == 4
        assert all(len(why) > 10 for _, why in choices)


@pytest.mark.parametrize("session", kit.sessions())
def test_the_korean_is_korean(session):
    texts = kit.texts_of(session, "ko")
    words = [text for name in kit.exercises_of(session) for text in texts[name]["hints"]]
    words += [
        text for question in texts["quiz"] for text in (question["question"], question["why"])
    ]
    for text in words:
        assert re.search("[가-힣]", text), text


# ------------------------------------------------------------------------------- written reports

WRITTEN = {
    "as it is": lambda report: report,
    "without the last full stop": lambda report: report.rstrip("."),
    "on lines": lambda report: report.replace(". ", ".\n"),
    "with a mark": lambda report: report[:-1] + "!",
    "with an abbreviation": lambda report: report[:-1] + " (vs. others).",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN.keys())
@pytest.mark.parametrize("name", ["06-6", "11-4", "17-4", "21-5"])
def test_a_report_of_five_sentences_is_right_however_they_are_written(name, written, language):
    set_language(language)
    for seed in SEEDS:
        exercise, its_given = drawn(name, seed)
        assert exercise.judge(written(exercise.right(*its_given)), its_given) == RIGHT


@pytest.mark.parametrize("name", ["06-6", "11-4", "17-4", "21-5"])
def test_a_report_of_four_or_six_sentences_is_told(name):
    exercise, its_given = drawn(name, 0)
    report = exercise.right(*its_given)
    for other in (report.replace(". ", ", ", 1), f"So be it. {report}"):
        assert "not_five" in exercise.judge(other, its_given)


# ------------------------------------------------------------------------------------- the doors


def test_an_answer_that_is_not_there_is_not_attempted(capsys):
    assert not check("04-3", ...)
    assert "[not attempted] 04-3" in capsys.readouterr().out


def test_a_function_without_a_body_is_not_attempted(capsys):
    assert not check("04-1", lambda gains, k: ...)
    assert not check("04-1", lambda gains, k: None)
    assert capsys.readouterr().out.count("[not attempted]") == 2


def test_a_wrong_answer_is_told_its_likely_mistake(capsys):
    set_seed(3)
    gains, n_relevant, k = given("04-3")
    exercise = kit.exercises_of("04")["04-3"]
    assert not check("04-3", exercise.mistakes["not_divided"](gains, n_relevant, k))
    assert "This is DCG" in " ".join(capsys.readouterr().out.split())


def test_an_answer_that_no_mistake_explains_is_wrong_and_pointed_to_the_hint(capsys):
    assert not check("04-3", -3)
    assert "-3 is not right. hint('04-3')" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "answer", "sentence"),
    [
        ("00-1", "[1, 2]", "the answer is a list of numbers; found str '[1, 2]'."),
        ("00-1", ["1", "2"], "the answer is a list of numbers; found list ['1', '2']."),
        ("00-2", "0.5", "the answer is a number; found str '0.5'."),
        ("06-1", ["HitRate@5"], "the answer is a dict with the keys 'A', 'B', 'C', 'D', 'E'"),
        ("04-5", None, "the answer is a tuple (a list of numbers, a number, a number)"),
        ("04-1", 1.5, "give the function itself, without parentheses; found float 1.5."),
    ],
)
def test_an_answer_of_another_form_is_told_the_form(name, answer, sentence, capsys):
    assert not check(name, answer)
    assert sentence in " ".join(capsys.readouterr().out.split())


def test_a_number_that_is_rounded_too_far_is_told_the_decimals(capsys):
    set_seed(20260012)
    its_given = given("04-3")
    assert not check("04-3", round(kit.exercises_of("04")["04-3"].right(*its_given), 2))
    assert "is rounded too far: give 3 decimals" in " ".join(capsys.readouterr().out.split())


def test_a_wrong_function_is_shown_a_case(capsys):
    assert not check("04-1", lambda gains, k: 17)
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(r"with \(\[.*\], \d\) it returns 17, and [\d.]+ is right", out)


def test_a_function_that_forgets_return_is_told(capsys):
    assert not check("04-1", lambda gains, k: None)
    assert "it returns None" in capsys.readouterr().out


@pytest.mark.parametrize("open_parts", [{"A": ..., "B": ...}, [..., ...]])
def test_an_answer_that_is_open_in_all_its_parts_is_not_attempted(open_parts, capsys):
    assert not check("06-1", open_parts)
    assert "[not attempted]" in capsys.readouterr().out


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("answer", [None, "x", 0, float("nan"), [], [1], {1: 2}, {1}, len, [None]])
@pytest.mark.parametrize("name", NAMES)
def test_no_answer_ends_in_a_traceback(name, answer, language, capsys):
    set_language(language)
    assert not check(name, answer)
    assert capsys.readouterr().out


def test_an_error_in_the_answer_is_said_and_stops_nothing(capsys):
    assert not check("04-1", lambda gains, k: gains["k"])
    assert "TypeError" in capsys.readouterr().out


def ends_python(gains, k):
    sys.exit()


def never_ends(gains, k):
    while True: pass  # fmt: skip  # noqa: E701


def never_ends_nor_lets_errors_out(gains, k):
    while True:
        try:
            gains["k"]
        except Exception:
            continue


def never_ends_after_a_deep_recursion(gains, k):
    def deeper(n):
        return deeper(n + 1)

    with suppress(RecursionError):
        deeper(0)
    while True:
        with suppress(BaseException):
            gains = [*gains]


def has_yield(gains, k):
    yield 1.0


async def has_async(gains, k):
    return 1.0


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_function_that_ends_python_is_wrong_and_told_so(language, capsys):
    set_language(language)
    assert not check("04-1", ends_python)
    assert "exit()" in capsys.readouterr().out


def test_exit_of_a_notebook_does_not_end_its_kernel(capsys, monkeypatch):
    class Shell:
        def ask_exit(self):
            raise AssertionError("the kernel would end")

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert not check("04-1", lambda gains, k: shell.ask_exit())
    assert "it ends Python" in capsys.readouterr().out
    assert not vars(shell)


@pytest.mark.parametrize(
    "function", [never_ends, never_ends_nor_lets_errors_out, never_ends_after_a_deep_recursion]
)
def test_a_function_that_never_ends_is_stopped_and_the_next_is_checked(
    function, capsys, monkeypatch
):
    monkeypatch.setattr(kinds.Function, "seconds", 0.3)
    threads = threading.active_count()
    assert not check("04-1", function)
    assert "stopped after 0.3 seconds" in capsys.readouterr().out
    assert threading.active_count() == threads
    assert check("04-1", kit.exercises_of("04")["04-1"].right)


def test_an_interrupted_check_says_so_and_leaves_all_as_it_was(capsys):
    def interrupted(gains, k):
        raise KeyboardInterrupt

    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        check("04-1", interrupted)
    assert "[wrong] 04-1: interrupted" in capsys.readouterr().out
    assert threading.active_count() == threads
    assert check("04-1", kit.exercises_of("04")["04-1"].right)


@pytest.mark.parametrize(
    ("function", "takes"),
    [
        (lambda: 1, "()"),
        (lambda gains: 1, "(gains)"),
        (lambda a, b, c: 1, "(a, b, c)"),
        (lambda gains, *, k=5: 1, "(gains, *, k=5)"),
    ],
)
def test_a_function_of_other_arguments_is_told_those_it_is_called_with(function, takes, capsys):
    set_seed(7)
    assert not check("04-1", function)
    out = " ".join(capsys.readouterr().out.split())
    assert "is called with 2 arguments (gains, k), such as ([1.0, 0.0, " in out
    assert f"it takes {takes}." in out

    set_language("ko")
    assert not check("04-1", function)
    assert "인자 2개(gains, k)" in capsys.readouterr().out


def test_an_error_is_told_with_the_case_that_ends_in_it(capsys):
    set_seed(7)
    right, its_given = kit.exercises_of("04")["04-1"].right, given("04-1")

    def fails_elsewhere(gains, k):
        return right(gains, k) if (gains, k) == its_given else gains["k"]

    assert not check("04-1", fails_elsewhere)
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(r"with \(\[[01., ]*\], \d\) it ends in an error, TypeError: list indices", out)
    assert str(its_given) not in out


def test_a_function_that_changes_with_its_calls_is_told_what_it_returned(capsys):
    right, calls = kit.exercises_of("04")["04-1"].right, []

    def wrong_once(gains, k):
        calls.append(k)
        return 7.0 if len(calls) == 5 else right(gains, k)

    assert not check("04-1", wrong_once)
    assert "it returns 7.0, and" in capsys.readouterr().out
    assert len(calls) == 31  # each case once


def test_what_a_function_does_to_the_language_ends_with_it(capsys):
    right = kit.exercises_of("04")["04-1"].right
    assert check("04-1", lambda gains, k: set_language("ko") or right(gains, k))
    assert "[right]" in capsys.readouterr().out


def test_a_function_may_import_what_takes_its_time():
    right = kit.exercises_of("04")["04-1"].right

    def imports(gains, k):
        sys.modules.pop("statistics", None)
        import statistics

        return right(gains, k) + 0 * statistics.mean(gains)

    assert check("04-1", imports)


@pytest.mark.parametrize(
    "said",
    ["70 %", "70,0 %", "70.0％", "70 percent", "70 per cent", "70 퍼센트", 70, 70.0, 69, 70.04],
)
def test_shares_are_recognised_however_the_per_cent_are_written(said):
    assert kinds.with_shares(said, 0.7) == (0.7 if said != 69 else 69)


def test_a_half_per_cent_may_be_rounded_either_way_and_a_small_number_is_no_share():
    assert [kinds.with_shares(n, 0.125) for n in (12, 13, 14)] == [0.125, 0.125, 14]
    assert kinds.with_shares(2, 0.016) == 2
    assert kinds.with_shares(float("inf"), 0.125) == float("inf")
    assert kinds.with_shares(Decimal("12.5"), 0.125) == 0.125


def test_a_letter_of_another_keyboard_is_taken_and_one_that_is_none_is_wrong(capsys):
    check("04-quiz", {1: "ａ", 2: "x"})
    out = capsys.readouterr().out
    assert "1 a:" in out and "[wrong] 2: choose a, b, c or d." in out
    assert "[not attempted] 3:" in out


def test_a_function_that_may_be_called_otherwise_too_is_taken():
    right = kit.exercises_of("04")["04-1"].right
    assert check("04-1", lambda *values: right(values[0], k=values[1]))
    assert check("04-1", lambda gains, k, base=2: right(gains, k))


@pytest.mark.parametrize("function", [has_yield, has_async])
def test_a_function_that_returns_no_value_is_told_why(function, capsys, recwarn):
    assert not check("04-1", function)
    assert "it has yield or async" in capsys.readouterr().out
    assert not recwarn.list


def test_what_is_given_may_be_changed_without_harm():
    gains, _, _ = given("04-3")
    gains.clear()
    assert given("04-3")[0]


def test_a_student_may_change_what_the_function_is_given():
    right = kit.exercises_of("04")["04-1"].right

    def careless(gains, k):
        value = right(gains, k)
        gains.clear()
        return value

    assert check("04-1", careless)


def test_hints_come_one_after_the_other_and_the_last_stays(capsys):
    for _ in range(3):
        hint("04-1")
    first, second, third = capsys.readouterr().out.split("Hint ")[1:]
    assert first.startswith("1 of 2") and second.startswith("2 of 2") and third == second


def test_a_solution_shows_the_code_or_the_value_of_your_numbers(capsys):
    solution("04-1")
    assert "def dcg(" in capsys.readouterr().out
    solution("04-3")
    value = kit.exercises_of("04")["04-3"].right(*given("04-3"))
    assert f"With your numbers: {round(value, 3)}" in capsys.readouterr().out


FUNCTIONS = [name for name in NAMES if isinstance(drawn(name, 0)[0], Function)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_code_of_a_solution_is_right_and_asks_for_no_name_of_a_type(name, capsys):
    exercise, its_given = drawn(name, 0)
    solution(name)
    code = capsys.readouterr().out.partition("\ndef ")[2]
    names = dict(vars(sys.modules[exercise.right.__module__]))
    exec(f"def {code}", names)
    function = names[exercise.right.__name__]
    assert function.__annotations__ == {}
    assert exercise.judge(function, its_given) == RIGHT


def test_the_words_come_in_the_language_that_was_chosen(capsys):
    set_language("ko")
    check("04-3", 17)
    assert re.search("[가-힣]", capsys.readouterr().out)


@pytest.mark.parametrize("name", ["04-9", "99-1", "quiz", 4, ["04-1"], None])
def test_an_unknown_exercise_is_refused_with_those_there_are(name):
    for door in (given, hint, solution, lambda n: check(n, 1)):
        with pytest.raises(KeyError, match="No exercise is called"):
            door(name)


def test_an_unknown_session_is_refused_with_those_there_are():
    with pytest.raises(KeyError, match="No session is called '99'"):
        ask("99")


@pytest.mark.parametrize("seed", [True, "7", 1.5, None])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(TypeError, match="seed is an integer"):
        set_seed(seed)


def test_a_seed_is_no_longer_than_a_number_that_python_writes():
    with pytest.raises(ValueError, match="at most 100 digits"):
        set_seed(10**5000)


# -------------------------------------------------------------------------------------- the quiz


def test_the_right_letters_are_right_and_each_is_explained(capsys):
    assert check("04-quiz", kit.quiz_key("04"))
    out = capsys.readouterr().out
    assert out.count("[right]") == 10 and "10 of 10 are right" in out


def test_a_wrong_choice_is_explained_and_an_open_one_is_named(capsys):
    letters = kit.quiz_key("04")
    letters[1] = next(letter for letter in "abcd" if letter != letters[1])
    del letters[2]
    assert not check("04-quiz", letters)
    out = capsys.readouterr().out
    assert "[wrong] 1" in out and "[not attempted] 2" in out and "8 of 10 are right" in out


def test_the_numbers_of_a_quiz_may_be_texts(capsys):
    assert check("04-quiz", {str(number): a for number, a in kit.quiz_key("04").items()})


def test_a_name_without_its_zero_is_told_those_of_the_session():
    with pytest.raises(KeyError, match="'4-1'; there are: 04-1, 04-2"):
        check("4-1", 1)


def test_a_quiz_without_answers_is_not_attempted(capsys):
    assert not check("04-quiz", ...)
    assert "[not attempted]" in capsys.readouterr().out


def test_another_seed_puts_the_choices_in_another_order():
    orders = set()
    for seed in SEEDS:
        set_seed(seed)
        orders.add(tuple(kit.quiz_key("04").values()))
    assert len(orders) > 1


# -------------------------------------------------------------------------------------- the kinds


@pytest.mark.parametrize(
    ("answer", "wanted", "equal"),
    [
        (0.8772, 0.87719, True),
        (0.87, 0.877, False),
        (True, 1, False),
        ("Q01 ", "q01", True),
        ((1, 2), [1, 2], True),
        ([1, 2, 3], [1, 2], False),
        ({"a": 0.5}, {"a": 0.5001}, True),
        (float("nan"), float("nan"), True),
        ("0.5", 0.5, False),
        (None, 0.0, False),
        ({"a", "b"}, {"b", "a"}, True),
    ],
)
def test_answers_are_compared_by_value(answer, wanted, equal):
    assert same(answer, wanted, 3) is equal


def shares(answer):
    """Return ways to write an answer in per cent."""
    if isinstance(answer, list | tuple):
        return [list(parts) for parts in zip(*map(shares, answer), strict=True)]
    percent = 100 * answer
    return [percent, np.float64(percent), round(percent, 1), round(percent), f"{percent:.1f} %"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["03-2", "04-3", "05-3"])  # a list, two numbers
def test_a_share_in_per_cent_is_known_whatever_the_exercise(name, language, capsys):
    set_seed(7)
    set_language(language)
    sentence = {"en": "Give the share itself: 0.345", "ko": "비율로 쓰십시오"}[language]
    for answer in shares(kit.exercises_of(name[:2])[name].right(*given(name))):
        assert not check(name, answer)
        assert sentence in " ".join(capsys.readouterr().out.split())


def test_a_function_that_returns_per_cent_is_known(capsys):
    right = kit.exercises_of("03")["03-1"].right
    assert not check("03-1", lambda *its_given: 100 * right(*its_given))
    assert "Give the share itself" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "right"),
    [(1.0, 0.01), (0.4, 0.004), (200, 2.0), (300, 3), ("x%", 0.5), ("200%", 2.0), (50, "0.5")],
)
def test_what_is_no_share_in_per_cent_stays_as_it_is(answer, right):
    assert kinds.with_shares(answer, right) == answer


def test_numbers_are_drawn_until_every_mistake_shows():
    pairs = Exercise(
        given=lambda random: (random.randint(0, 2),),
        right=lambda n: n * n,
        mistakes={"twice": lambda n: 2 * n},
    )
    assert {pairs.draw(Random(seed)) for seed in range(20)} == {(1,)}


def test_a_mistake_that_never_shows_is_refused():
    with pytest.raises(RuntimeError, match="tells the mistakes"):
        Exercise(lambda random: (1,), lambda n: n, {"same": lambda n: n}).draw(Random(0))


def test_what_is_made_is_judged_by_its_rule():
    even = Made(
        given=lambda random: (),
        right=lambda: 2,
        rule=lambda answer: RIGHT if answer % 2 == 0 else WRONG,
    )
    assert even.judge(4, ()) == RIGHT and even.judge(3, ()) == WRONG


# ---------------------------------------------------------------- odd answers


class Odd:
    """It cannot be compared, and not be shown."""

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None
    __repr__ = None


class OddError(Exception):
    def __str__(self):
        raise RuntimeError


def fails_oddly(*values):
    raise OddError


NESTED: list = []
for _ in range(5_000):
    NESTED = [NESTED]
WITHIN_ITSELF: list = []
WITHIN_ITSELF.append(WITHIN_ITSELF)
TWO_COLUMNS = pd.DataFrame([[1, 2]], columns=["a", "a"])
ODD_ANSWERS = [None, True, "{x}", 1j, 10**400, [], {"a": Odd()}, Odd(), Odd, pd.NA, pd.Series]
ODD_ANSWERS += [pd.DataFrame({"a": [1]}), np.array([[1]]), iter([]), print, len, fails_oddly]
ODD_ANSWERS += [NESTED, WITHIN_ITSELF, TWO_COLUMNS, {...}, b"0.5", np.void(b"x"), pd.NaT, range(5)]
ODD_ANSWERS += [lambda *values, made=made: made for made in ODD_ANSWERS]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["04-1", "04-3", "04-5", "06-1"])  # each kind, and a dict
def test_an_odd_answer_is_wrong_in_a_sentence(name, language, capsys):
    set_language(language)
    for answer in ODD_ANSWERS:
        assert not check(name, answer)
        assert capsys.readouterr().out.startswith("[")


def test_what_a_function_prints_and_warns_of_is_not_shown(capsys, recwarn):
    right = kit.exercises_of("04")["04-1"].right

    def talks(gains, k):
        print("gains are", gains)
        print("gains are", gains, file=sys.stderr)
        warnings.warn("a warning", stacklevel=1)
        return right(gains, k)

    assert check("04-1", talks)
    out, err = capsys.readouterr()
    assert out.startswith("[right]") and not err
    assert not recwarn.list


def test_the_numbers_that_are_given_are_the_same_in_both_languages():
    for name in set(NAMES) - {"13-2"}:  # which gives a text
        in_english = repr(drawn(name, 3)[1])
        set_language("ko")
        assert repr(drawn(name, 3)[1]) == in_english
        set_language("en")


def test_a_name_without_its_zero_is_answered_with_the_exercises_of_the_session():
    with pytest.raises(KeyError, match="called '4-2'; there are: 04-1, 04-2"):
        given("4-2")


def test_an_integer_of_numpy_is_a_seed():
    set_seed(np.int64(-3))
    numbers = given("04-3")
    set_seed(-3)
    assert given("04-3") == numbers


@pytest.mark.parametrize(
    "written",
    [
        lambda key: {str(number): letter for number, letter in key.items()},
        lambda key: {np.int64(number): f" {letter.upper()}) " for number, letter in key.items()},
        lambda key: list(key.values()),
        lambda key: tuple(key.values()),
    ],
)
def test_letters_are_taken_as_students_write_them(written):
    assert check("04-quiz", written(kit.quiz_key("04")))


def test_an_answer_to_no_question_is_named(capsys):
    key = kit.quiz_key("04")
    assert not check("04-quiz", {number - 1: letter for number, letter in key.items()})
    assert "no question has this number: 0." in capsys.readouterr().out


@pytest.mark.parametrize("session", ["4", 4, ["04"], None, Odd()])
def test_what_is_no_session_is_refused(session):
    for door in (ask, kit.quiz_key):
        with pytest.raises(KeyError, match=r"No session is called .*; there are: 00, 01"):
            door(session)
