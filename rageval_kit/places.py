"""Where a text stands in a document: found exactly, or the passage that is nearest to it.

Exactly means: the same letters in the same case. How they are written makes no difference: the
Unicode form (NFC, NFD, full width), white space and line ends, the shape of quotes and dashes, and
what no eye sees (soft hyphens, zero-width blanks).
"""

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
    return [(starts[at], ends[at + len(wanted) - 1]) for at in starts_of(wanted, written)]


def starts_of(wanted: str, text: str) -> Iterator[int]:
    """Yield where a text begins in another, to the letter; two of them may overlap.

    >>> list(starts_of("aa", "aaab"))
    [0, 1]
    """
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


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


# ---------------------------------------------------------------- in a whole corpus


class Place(NamedTuple):
    """Where a passage stands: ``content[start:end]`` of a document, and how alike the two are."""

    doc_id: str
    start: int
    end: int
    similarity: float = 1.0


class PassageFinder:
    """Finds passages in the contents of documents.

    >>> docs = [{"doc_id": "doc_001", "title": "RAG", "content": "First search, then answer."}]
    >>> finder = PassageFinder(docs)
    >>> finder.find("then  answer")
    [Place(doc_id='doc_001', start=14, end=25, similarity=1.0)]
    >>> finder.find("then we answer"), finder.nearest("search then answer.")
    ([], Place(doc_id='doc_001', start=6, end=26, similarity=0.97...))
    """

    def __init__(self, docs: Sequence[Record]) -> None:
        self._docs = docs
        self._contents = [field_text(doc, "content") for doc in docs]
        self._written = [written_alike(content) for content in self._contents]

    def find(self, passage: str) -> list[Place]:
        """Return every place where the passage stands, in the order of the documents."""
        wanted = written_alike(passage)
        places = [
            Place(self._docs[row]["doc_id"], *place)
            for row in self._may_hold(wanted)
            if wanted in self._written[row]
            for place in find_text(passage, self._contents[row])
        ]
        # A document as it was embedded begins with its title.
        whole = [] if places else self._whole.get(wanted, [])
        return places + [
            Place(self._docs[row]["doc_id"], 0, len(self._contents[row])) for row in whole
        ]

    def nearest(self, passage: str) -> Place | None:
        """Return the stretch of as many words that is most alike; None if no word is shared.

        The similarity is difflib's ratio of characters, from 0 to 1.
        """
        words = written_alike(passage).split()
        shared: Counter[int] = Counter()
        for word in sorted(set(words), key=lambda word: len(self._holding.get(word, ())))[:30]:
            rows = self._holding.get(word, ())
            shared.update(dict.fromkeys(rows, 1 / (1 + len(rows))))

        # In the documents that share the rarest words, the stretch that is most alike.
        near = []
        for row, _ in shared.most_common(5):
            content = self._contents[row]
            for start, end in _most_words(words, content):
                alike = _similarity(words, content[start:end])
                near.append(Place(self._docs[row]["doc_id"], start, end, alike))
        return max(near, key=lambda place: place.similarity, default=None)

    def _may_hold(self, wanted: str) -> Iterable[int]:
        """Return the documents that hold the rarest whole word of the passage, else all."""
        inner = wanted.split(" ")[1:-1]
        if not inner:
            return range(len(self._docs))
        return min((self._holding.get(word, ()) for word in inner), key=len)

    @cached_property
    def _holding(self) -> dict[str, list[int]]:
        """The documents that hold each word, by their row."""
        holding: dict[str, list[int]] = defaultdict(list)
        for row, written in enumerate(self._written):
            for word in set(written.split(" ")):
                holding[word].append(row)
        return dict(holding)

    @cached_property
    def _whole(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = defaultdict(list)
        for row, doc in enumerate(self._docs):
            rows[written_alike(text_of(doc))].append(row)
        return dict(rows)


def _similarity(words: Sequence[str], stretch: str) -> float:
    written = written_alike(stretch)
    return SequenceMatcher(None, " ".join(words), written, autojunk=False).ratio()


def _most_words(words: Sequence[str], content: str) -> list[tuple[int, int]]:
    """Return the first stretches of as many words that share most of them, as (start, end)."""
    found = [(written_alike(word[0]), *word.span()) for word in re.finditer(r"\S+", content)]
    n = min(len(words), len(found))
    missing, overlap, most = Counter(words), 0, 1
    best: list[tuple[int, int]] = []

    # One word comes in, one goes out: a word counts as often as the passage has it.
    for last, (word, _, end) in enumerate(found):
        overlap += missing[word] > 0
        missing[word] -= 1
        if last >= n:
            out = found[last - n][0]
            missing[out] += 1
            overlap -= missing[out] > 0
        if last >= n - 1 and overlap >= most:
            best = best if overlap == most else []
            most = overlap
            best.append((found[last - n + 1][1], end))
    return best[:5]
