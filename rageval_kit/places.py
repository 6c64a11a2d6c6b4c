"""Where a text stands in a document: found exactly, or the passage that is nearest to it.

Exactly means: the same letters in the same case. How they are written makes no difference: the
Unicode form (NFC, NFD, full width), white space and line ends, the shape of quotes and dashes, and
what no eye sees (soft hyphens, zero-width blanks).
"""

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import NamedTuple

from rageval_kit.documents import Record, field_text, text_of
from rageval_kit.messages import wrong_type

# A text in units: plain letters; white space with what is not seen; a letter with its marks (as
# Hangul in NFD has them).
_UNSEEN = "\u00ad\u200b-\u200f\u2060\ufeff"
_MARK = "\u0300-\u036f\u1160-\u11ff\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f"
_UNIT = re.compile(
    rf"(?P<plain>(?: (?![\s{_UNSEEN}])|[!-~가-힣](?![{_MARK}]))+)|[\s{_UNSEEN}]+|.[{_MARK}]*",
    re.DOTALL,
)
_BLANK = re.compile(rf"[{_UNSEEN}]*\s[\s{_UNSEEN}]*")
_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛′‵´", "'")
    | dict.fromkeys("“”„‟″‶«»", '"')
    | dict.fromkeys("‐‑‒–—―−﹘﹣", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
)


def find_text(needle: str, text: str) -> list[tuple[int, int]]:
    r"""Return every place of a passage in a text as (start, end), in order; [] if there is none.

    ``text[start:end]`` is the passage as it is written there, without white space around it.

    >>> find_text("a “fee” of 5", 'There is a  "fee"\nof 5.')
    [(9, 22)]
    >>> find_text("fee", "No charge."), find_text("fee", "fee, fee")
    ([], [(0, 3), (5, 8)])

    Raises:
        TypeError: one of the two is not a text.
        ValueError: the passage is empty.
    """
    for value, name in ((needle, "needle"), (text, "text")):
        if not isinstance(value, str):
            raise wrong_type(name, "a text", value)
    wanted = written_alike(needle)
    if not wanted:
        raise ValueError(f"The passage {needle!r} is empty. Give the text to look for.")

    written, starts, ends = _with_places(text)
    places, at = [], written.find(wanted)
    while at >= 0:
        places.append((starts[at], ends[at + len(wanted) - 1]))
        at = written.find(wanted, at + 1)
    return places


def written_alike(text: str) -> str:
    """Return what two passages share that differ only in how they are written.

    >>> written_alike("“7  days” — no more")
    '"7 days" - no more'
    """
    return _UNIT.sub(lambda unit: unit[0] if unit["plain"] else _alike(unit[0]), text).strip()


@lru_cache(maxsize=4)  # the passages of a query often stand in one document
def _with_places(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the text written alike, and where each of its letters starts and ends in the text."""
    letters, starts, ends = [], array("q"), array("q")
    for unit in _UNIT.finditer(text):
        start, end = unit.span()
        if unit["plain"]:
            letters.append(unit[0])
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            alike = _alike(unit[0])
            letters.append(alike)
            starts.extend([start] * len(alike))
            ends.extend([end] * len(alike))
    return "".join(letters), starts, ends


@lru_cache(maxsize=65_536)
def _alike(unit: str) -> str:
    if _BLANK.fullmatch(unit):
        return " "
    return unicodedata.normalize("NFKC", unit.translate(_ALIKE)).translate(_ALIKE)
