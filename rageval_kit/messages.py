"""Small checks and messages that every room uses."""

import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, TypeVar

T = TypeVar("T")


def as_cutoff(k: Any, name: str = "k") -> int:
    """Return k as an int if it is a positive integer.

    Raises:
        ValueError: k is anything else; True, 2.5 and "3" are.
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"{name} must be a positive integer such as 5, found {k!r}.")
    return int(k)


def name_some(values: Sequence[Any]) -> str:
    """Name the first few of many, and say how many more there are.

    >>> name_some(["q01", "q02", "q03", "q04", "q05", "q06", "q07"])
    'q01, q02, q03, q04, q05 and 2 more'
    """
    shown = ", ".join(map(str, values[:5]))
    return shown if len(values) <= 5 else f"{shown} and {len(values) - 5:,} more"


def plural(noun: str) -> str:
    """Return the plural of "document" or "query".

    >>> plural("document"), plural("query")
    ('documents', 'queries')
    """
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def count(number: int, noun: str) -> str:
    """Return the number and the noun in its form.

    >>> count(1, "query"), count(1200, "query")
    ('1 query', '1,200 queries')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def show_progress(steps: Sequence[T], what: str, unit: str) -> Iterable[T]:
    """Go through the steps with a progress bar, which appears only for work of several steps and seconds."""
    if len(steps) < 2 or os.environ.get("TQDM_DISABLE", "0") not in (
        "",
        "0",
    ):  # tqdm heeds it outside notebooks only
        return steps
    from tqdm.auto import tqdm

    bar: Iterable[T] = tqdm(steps, desc=what, unit=unit, delay=3, leave=False)
    return bar


def warn_user(message: str) -> None:
    """Warn at the line outside the kit that led here, so that the user sees their own line."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "rageval_kit":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
