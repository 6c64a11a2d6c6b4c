"""The judge of odd calls: what may come of a call, and what is a fault.

``judge(case)`` makes the call and accepts

* a right value, where the oracle (oracle.py, plain Python from the definitions) can know it, or
* the kit's own sentence: an exception that a ``raise`` of the package raised, with a text that says
  what is wrong. A refusal of what is right is a fault too.

fuzz_inputs.py makes the calls, fuzz_expected.py says what is right; a public name that is missing
in them fails the test.
"""

import contextlib
import dis
import functools
import io
import linecache
import os
import shutil
import signal
import tempfile
import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_expected import AFTER_REFUSAL, EXPECT, Wrong
from fuzz_inputs import Lazy, Mine, case, parameters, pyplot, realise, same
from oracle import Refused, Unknown

import rageval_kit

PACKAGE = str(Path(rageval_kit.__file__).parent)
N_SECONDS = 20  # a call on a handful of documents that takes longer hangs


class Slow(BaseException):
    """The call does not end."""


@dataclass
class Outcome:
    """What came of a call.

    kind: right (checked), value (nothing known to check it by), refused (in the kit's words), own
    (what the fuzzer passed in failed). The faults: unexplained, wrong, slow; fuzzer, its own.
    """

    kind: str
    what: str = ""
    where: str = ""

    @property
    def is_fault(self):
        return self.kind in ("unexplained", "wrong", "slow", "fuzzer")


@dataclass
class Seen:
    """What a check may look at: the value, the arguments as the call got them, what was said."""

    value: Any
    arguments: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    printed: str = ""


N_LETTERS = 4_000  # a longer message shows the input whole, in place of saying what is wrong
# What Python raises for a path that is a folder, a file or forbidden is what a caller waits for:
# where the kit raises it itself, with a sentence, it is explained.
OF_PATHS = (IsADirectoryError, NotADirectoryError, FileExistsError, PermissionError)
EXPLAINED = (ValueError, TypeError, KeyError, ImportError, FileNotFoundError, *OF_PATHS)


def judge(a_case):
    """Make the call and say what came of it."""
    # The arguments as the call gets them, and once more, to see whether it changes them.
    arguments = realise(a_case.arguments)
    before = realise({p: v for p, v in a_case.arguments.items() if not isinstance(v, Lazy)})
    must = parameters(a_case.name)
    positional = [value for p, value in arguments.items() if must.get(p)]
    keywords = {p: value for p, value in arguments.items() if not must.get(p)}

    # The call; what it prints and warns of is kept.
    error = value = None
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # as strict as a terminal
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(screen),
        alarm(),
    ):
        warnings.simplefilter("always")
        try:
            value = getattr(rageval_kit, a_case.name)(*positional, **keywords)
            if type(value).__module__.startswith("rageval_kit"):
                repr(value)
                str(value)
        except (Exception, Slow) as thrown_one:
            error = thrown_one
    screen.flush()
    said = [str(warning.message) for warning in caught]
    seen = Seen(value, arguments, said, screen.buffer.getvalue().decode())

    # An end, words of the kit's own, no words of numpy's, and no hand on the arguments.
    if isinstance(error, Slow):
        return Outcome("slow", f"no end after {N_SECONDS} s", place_of(error))
    if error is not None and not is_explained(error):
        return Outcome("own") if is_own(error) else unexplained(error)
    if strange := strange_warning(caught):
        return strange
    changed = [p for p in before if not same(before[p], arguments[p])]
    if changed:
        return Outcome("wrong", f"the call changed its argument {', '.join(changed)}")

    # Then what the definitions say.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = compare_with_expected(a_case, seen, error)
    return strange_warning(caught) or outcome


def unexplained(error):
    name, length = type(error).__name__, len(str(error))
    if isinstance(error, EXPLAINED) and length > N_LETTERS:
        name = f"{name} of {length:,} letters"
    return Outcome("unexplained", f"{name}: {error}"[:300], place_of(error))


def strange_warning(caught):
    """Return the fault of a warning that is numpy's or pandas' and not the kit's, if any."""
    for warning in caught:
        if warning.filename.startswith(PACKAGE) and warning.category is not UserWarning:
            line = linecache.getline(warning.filename, warning.lineno).strip()
            where = f"{Path(warning.filename).name} {line}"
            return Outcome(
                "unexplained", f"{warning.category.__name__}: {warning.message}"[:300], where
            )
    return None


def compare_with_expected(a_case, seen, error):
    """Hold the value, or the refusal, to what the definitions say of the arguments."""
    # What the oracle makes of them: a check, a must, or nothing.
    doubts, must_refuse, check = [], "", None
    try:
        check = EXPECT[a_case.name](a_case.arguments, doubts)
    except Refused as why:
        must_refuse = str(why) or "it must be refused"
    except Unknown as why:
        doubts.append(str(why))

    # A refusal is right where it must be, or where there is a doubt.
    if error is not None:
        after = AFTER_REFUSAL.get(a_case.name)
        broken = after(a_case.arguments, seen) if after else None
        if broken:
            return Outcome("wrong", broken)
        if check is not None and not doubts:
            what = f"refused what is right: {type(error).__name__}: {error}"
            return Outcome("wrong", what[:300], place_of(error))
        return Outcome("refused", str(error)[:300], place_of(error))
    # A value is right where the check says so.
    if must_refuse:
        return Outcome("wrong", f"accepted: {must_refuse}"[:300])
    if check is None:
        return Outcome("value")
    try:
        return Outcome("value" if check(seen) is NotImplemented else "right")
    except Wrong as why:
        return Outcome("wrong", str(why)[:300])
    except Unknown:
        return Outcome("value")
    except Exception as later:  # what came back fails when it is used
        if is_own(later):
            return Outcome("own")
        if place_of(later) == "outside the package":
            raise
        return Outcome("refused") if is_explained(later) else unexplained(later)


@contextlib.contextmanager
def alarm():
    """Raise `Slow` when the block does not end; where the system has no such alarm, wait."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(*_):
        raise Slow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, N_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def frames_of(error):
    trace, found = error.__traceback__, []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def is_explained(error):
    """Say whether a raise of the package raised it, with a text that a reader can use."""
    of_kit = type(error).__module__.startswith("rageval_kit") and isinstance(error, EXPLAINED)
    if type(error) not in EXPLAINED and not of_kit:
        return False
    last = frames_of(error)[-1]
    if not last.tb_frame.f_code.co_filename.startswith(PACKAGE) or not raises_here(last):
        return False
    return is_sentence(error.args[0] if error.args else "")


def raises_here(trace):
    """Say whether the frame stands on a raise, not on something that failed within its text."""
    return trace.tb_lasti in raises_of(trace.tb_frame.f_code)


@functools.cache
def raises_of(code):
    """Return where in the code something is raised."""
    steps = dis.get_instructions(code)
    return {step.offset for step in steps if step.opname == "RAISE_VARARGS"}


def is_sentence(text):
    """Say whether the text has some length, and ends as a sentence or with a command."""
    if not isinstance(text, str) or not 20 <= len(text.strip()) <= N_LETTERS:
        return False
    last = text.strip().rsplit(". ", maxsplit=1)[-1]
    return text.strip()[-1] in ".?!)" or ": " in last


def is_own(error):
    """Say whether a function, model or store of the fuzzer's is to blame."""
    while error is not None:
        if isinstance(error, Mine):
            return True
        error = error.__cause__ or error.__context__
    return False


def place_of(error):
    """Return where in the package it came from: file, function and line of code."""
    for trace in reversed(frames_of(error)):
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(PACKAGE):
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            return f"{Path(code.co_filename).name} {code.co_name}: {line}"
    return "outside the package"


@contextlib.contextmanager
def workplace():
    """Go to an empty folder, without a key, and leave nothing behind."""
    home, key = Path.cwd(), os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(home)
            if key is not None:
                os.environ["OPENAI_API_KEY"] = key


def run(seed, numbers, names=None):
    """Yield (number, case, outcome) of these numbers, in a folder of their own."""
    with workplace() as folder:
        for number in numbers:
            a_case = case(seed, number, names)
            try:
                outcome = judge(a_case)
            except Exception as error:  # of the fuzzer's own, which must be set right
                last = frames_of(error)[-1]
                where = f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
                outcome = Outcome("fuzzer", f"{type(error).__name__}: {error}"[:300], where)
            yield number, a_case, outcome
            if a_case.name.startswith("plot"):
                pyplot().close("all")
            if number % 200 == 0:
                for path in folder.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
