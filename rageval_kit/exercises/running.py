"""A student's function, run: what it returns or ends in, without its prints, and not for ever."""

import ctypes
import inspect
import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from threading import Event, Thread, get_ident
from typing import Any

from rageval_kit.wording import current_language, in_language

_AGAIN = 0.05  # seconds: an "except" without a name may have taken what was to stop it


class EndlessError(BaseException):
    """A student's function did not end in time. No ``except Exception`` of theirs takes it."""


def tried(way: Callable[..., Any], case: tuple[Any, ...]) -> Any:
    """Return what a function makes of a case, or the error that it ends in.

    >>> tried(lambda a, b: a / b, (1, 4)), tried(lambda a, b: a / b, (1, 0))
    (0.25, ZeroDivisionError('division by zero'))
    """
    try:
        unread = io.StringIO()
        with (
            redirect_stdout(unread),
            redirect_stderr(unread),
            warnings.catch_warnings(),
            in_language(current_language()),  # the function may choose another
            _kernel_that_stays(),
        ):
            warnings.simplefilter("ignore")
            value = way(*deepcopy(case))
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


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise EndlessError where a block has not ended in time, from a thread that watches.

    It comes between two instructions of Python, on every system: a single call into C that never
    ends, such as ``time.sleep(1000)``, is not stopped.
    """
    ours, ended = get_ident(), Event()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            _raise_in(ours, EndlessError)
            wait = _AGAIN

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        _end(ended, watcher, ours)


def _end(ended: Event, watcher: Thread, ours: int) -> None:
    """End the watch, though what it raised may come only now."""
    try:
        ended.set()
        watcher.join()
        _raise_in(ours, None)
    except EndlessError:
        _end(ended, watcher, ours)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in another thread at its next instruction; None takes it back."""
    what = ctypes.py_object(error) if error else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
