"""Small checks and messages that every room uses."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

T = TypeVar("T")


def as_cutoff(k: Any, name: str = "k", most: int = 10**12) -> int:
    """Return k as an int if it is a positive integer.

    Raises:
        ValueError: k is anything else, as True, 2.5 and "3" are, or larger than the most.
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or int(k) < 1:
        raise ValueError(f"{name} must be a positive integer such as 5, found {shown(k)}.")
    if int(k) > most:
        raise ValueError(f"{name} must be at most {most:,}. Choose a smaller one.")
    return int(k)


def shown(value: Any, most: int = 60) -> str:
    """Return a value as Python writes it, cut where it is longer than `most` letters.

    >>> shown("q1"), shown("x" * 100)
    ("'q1'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...")
    """
    return _cut(value, repr, most)


def typed(value: Any) -> str:
    """Return a value behind its type, as errors say what they found.

    >>> typed(5), typed("q1")
    ('int 5', "str 'q1'")
    """
    return f"{type(value).__name__} {shown(value)}"


def _cut(value: Any, write: Callable[[Any], str], most: int) -> str:
    try:
        text = write(value)
    except Exception:  # a number of 5,000 digits, an object whose own repr fails
        return f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def name_some(values: Sequence[Any]) -> str:
    """Name the first few of many, and say how many more there are.

    >>> name_some(["q01", "q02", "q03", "q04", "q05", "q06", "q07"])
    'q01, q02, q03, q04, q05 and 2 more'
    """
    named = ", ".join(map(in_short, values[:5]))
    return named if len(values) <= 5 else f"{named} and {len(values) - 5:,} more"


def in_short(value: Any) -> str:
    r"""Return a value as it is printed, on one line, cut where it is long.

    >>> print(in_short(ValueError("two" + chr(10) + "lines")))
    two\nlines
    """
    return printable(_cut(value, str, most=200))


def printable(text: str) -> str:
    r"""Return the text with escapes for what could feign a line, or break a terminal.

    >>> print(printable("q1" + chr(10) + "[OK]"))
    q1\n[OK]
    """
    escaped = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(escaped)


def is_list(value: Any) -> bool:
    """Say whether a value is a list of things: no text, no dict, no array of a single number."""
    single = isinstance(value, (str, bytes, Mapping)) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not single


def is_number(value: Any) -> bool:
    """Say whether a value is a number that a float can hold; NaN and infinity are, True is not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


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


def show_progress(
    steps: Sequence[T], what: str, unit: str, size: Callable[[T], int] = lambda step: 1
) -> Iterator[T]:
    """Go through the steps with a progress bar, which appears only for work that lasts.

    Args:
        steps: documents, queries, ... or batches of them.
        what: the work, such as "searching".
        unit: what the bar counts.
        size: how many of them a step is: ``len`` for a batch.

    >>> list(show_progress(["ab", "c"], "reading", "letter", len))
    ['ab', 'c']
    """
    if len(steps) < 2:  # a bar that stands still, and then is full
        yield from steps
        return
    sizes = [size(step) for step in steps]
    with progress_bar(sum(sizes), what, unit) as bar:
        for step, its in zip(steps, sizes, strict=True):
            yield step
            bar.update(its)


def progress_bar(total: int | None, what: str, unit: str) -> Any:
    """Return tqdm's bar, which appears only for work that lasts; without a total it counts.

    In a notebook it is a line of text that is gone when the work is done: a bar of widgets stays in
    the saved file as it stood, with all its state.
    """
    from tqdm import tqdm

    disabled = os.environ.get("TQDM_DISABLE", "0") not in ("", "0")  # tqdm reads it at its import
    few = total is not None and total < 2
    place = {"file": _LineOfANotebook(), "ncols": 80} if _is_in_a_notebook() else {}
    bar = {"total": total, "desc": what, "unit": unit, "delay": 3, "leave": False}
    return tqdm(**bar, **place, disable=disabled or few)


def _is_in_a_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class _LineOfANotebook:
    """What tqdm writes to in a notebook: each line takes the place of the last one."""

    def __init__(self) -> None:
        self._shown: Any = None

    def write(self, text: str) -> None:
        from IPython.display import display

        line = {"text/plain": re.sub(r"\x1b\[A|[\r\n]", "", text).strip()}
        if self._shown is not None:
            self._shown.update(line, raw=True)
        elif line["text/plain"]:
            self._shown = display(line, raw=True, display_id=True)

    def flush(self) -> None:
        """Write nothing more: each line is shown at once."""


def describe(value: Any) -> str:
    """Say what a value looks like to its user: documents, queries, results, a vector store, ...

    >>> describe({"q01": [{"doc_id": "doc_001"}]}), describe([{"query_id": "q01"}]), describe(None)
    ('results (a dict of lists)', 'queries (all_qa)', 'None')
    """
    if value is None or isinstance(value, (str, bytes, Real)):
        return "None" if value is None else typed(value)
    if isinstance(value, type):
        return f"the class {value.__name__} itself"

    for method, what in _KNOWN_BY_METHOD:
        if hasattr(value, method):
            return f"{what} ({type(value).__name__})"

    # A collection is known by its fields, or those of its first entry.
    kind = type(value).__name__
    if isinstance(value, Mapping) and value:
        of = type(next(iter(value.values()))).__name__
        named = {"list": "results (a dict of lists)", "str": "answers (a dict of texts)"}
        single = [f"a single {what}" for field, what in _KNOWN_BY_FIELD.items() if field in value]
        return single[0] if single else named.get(of, f"a dict of {of}")
    if isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
        listed = [what for field, what in _KNOWN_LISTS.items() if field in value[0]]
        return listed[0] if listed else f"a {kind} of dicts"
    return kind


_KNOWN_BY_FIELD = {"query_id": "query", "doc_id": "document"}
_KNOWN_LISTS = {"query_id": "queries (all_qa)", "doc_id": "documents (docs)"}
_KNOWN_BY_METHOD = (
    ("similarity_search", "a vector store"),
    ("embed_query", "an embedding model"),
    ("invoke", "a model or retriever"),
    ("to_csv", "a table"),
)


def wrong_type(name: str, wanted: str, found: Any) -> TypeError:
    """Return the error for an argument of another kind, which asks whether two were swapped.

    >>> print(wrong_type("all_qa", "a list of dicts", {"q01": [{"doc_id": "doc_001"}]}))
    all_qa must be a list of dicts, found results (a dict of lists). Are two arguments swapped?
    >>> print(wrong_type("docs", "a list of dicts", {"doc_id": "A", "content": "Fees."}))
    docs must be a list of dicts, found a single document. Put it into a list: [...].
    """
    what = describe(found)
    cure = " Are two arguments swapped?" if "(" in what else ""
    if what.startswith("a single "):
        cure = " Put it into a list: [...]."
    return TypeError(f"{name} must be {wanted}, found {what}.{cure}")


def missing_extra(what: str, extra: str, error: Exception, otherwise: str = "") -> ImportError:
    """Return the error for what needs an extra that is not installed, with the cure.

    >>> print(missing_extra("kiwi_words", "kiwi", ImportError("No module named 'kiwipiepy'")))
    kiwi_words needs the extra kiwi: pip install -e '.[kiwi]' in the virtual environment
    (No module named 'kiwipiepy').
    """
    return ImportError(
        f"{what} needs the extra {extra}: pip install -e '.[{extra}]' in the virtual environment "
        f"({error}).{otherwise}",
        name=getattr(error, "name", None),
    )


def warn_user(message: str) -> None:
    """Warn at the line outside the kit that led here, so that the user sees their own line."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "rageval_kit":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
