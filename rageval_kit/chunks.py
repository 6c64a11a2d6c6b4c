"""Split documents into chunks that know where they stand: source_id, start, end.

A chunk is a document like any other. Its content is its source's content from start to end, so that
gold passages can be found in it however the documents are split.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Protocol

from rageval_kit.documents import Docs, as_docs, field_text
from rageval_kit.messages import as_cutoff, shown, wrong_type
from rageval_kit.places import find_text, starts_of

_START, _END = itemgetter(0), itemgetter(1)
_INK, _WORD = re.compile(r"\S"), re.compile(r"\w+")
_HALF = "\ufffd"  # what stands for half a character, where a splitter cut by tokens


class Splitter(Protocol):
    """Any of LangChain's text splitters, or an object of yours with ``split_text``."""

    def split_text(self, text: str) -> list[Any]:
        """Return the pieces of a text, in order: texts, or documents with ``page_content``."""


def split_documents(docs: Docs, splitter: Splitter | int) -> list[dict[str, Any]]:
    """Split the content of every document into chunks, and place each where its text stands.

    A chunk keeps its source's other fields. The title among them is embedded before its content, as
    every document's is: that changes what is found. Split documents without a title to leave it
    out.

    Args:
        docs: the documents, in any form that `build_vectorstore` takes.
        splitter: a LangChain text splitter, or any object with ``split_text``; or a number of
            characters, for LangChain's RecursiveCharacterTextSplitter without overlap.

    Returns:
        Documents ``{"doc_id": "A#1", "title", "content", "source_id": "A", "start", "end"}``, in
        reading order. ``content`` is ``doc["content"][start:end]``, whatever the splitter did to
        white space. Hits of a store built from them keep the three fields.

    >>> docs = [{"doc_id": "A", "title": "Fees", "content": "Pay by May. No refund."}]
    >>> for chunk in split_documents(docs, 12):
    ...     print(chunk["doc_id"], chunk["start"], chunk["end"], chunk["content"])
    A#1 0 11 Pay by May.
    A#2 12 22 No refund.

    Raises:
        ValueError: a chunk stands nowhere in its document, or a document has no text.
        TypeError, KeyError: docs or splitter is of another kind.
    """
    splitter = _as_splitter(splitter)
    chunks = []
    for doc in as_docs(docs, ("doc_id", "content")):
        doc_id, text = doc["doc_id"], field_text(doc, "content")
        places = place(_pieces(splitter, text, doc_id), text, doc_id)
        if not places:
            raise ValueError(f"{doc_id} has no text to split: take it out, or give it a content.")
        for number, (start, end) in enumerate(places, start=1):
            its = {"doc_id": f"{doc_id}#{number}", "content": text[start:end]}
            chunks.append({**doc, **its, "source_id": doc_id, "start": start, "end": end})

    as_docs(chunks)  # "A" in three chunks beside a document "A#2"
    return chunks


def _as_splitter(splitter: Any) -> Splitter:
    if hasattr(splitter, "split_text"):
        return splitter
    if (
        callable(splitter)
        or isinstance(splitter, (str, type(None)))
        or hasattr(splitter, "__len__")
    ):
        wanted = "a LangChain text splitter, an object with split_text, or a number such as 800"
        raise wrong_type("splitter", wanted, splitter)

    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(
        chunk_size=as_cutoff(splitter, "splitter"), chunk_overlap=0
    )


def _pieces(splitter: Splitter, text: str, doc_id: str) -> list[str]:
    """Return the texts that the splitter makes, without empty ones."""
    found = splitter.split_text(text)
    wanted = "a list of texts"
    if not isinstance(found, (list, tuple)):
        raise wrong_type(f"{doc_id}: what the splitter makes of it", wanted, found)
    pieces = [getattr(piece, "page_content", piece) for piece in found]
    for piece in pieces:
        if not isinstance(piece, str):
            raise wrong_type(f"{doc_id}: what the splitter makes of it", wanted, piece)
    return [piece for piece in pieces if piece.replace(_HALF, "").strip()]


def place(pieces: Sequence[str], text: str, doc_id: str) -> list[tuple[int, int]]:
    r"""Return start and end of each piece, by walking through the text in order.

    A piece begins behind the beginning of the one before, and ends behind its end if it can. Where
    its text stands several times, it is the last place that leaves nothing out and room for those
    that follow, else the first:

    >>> place(["la la", "la la", "do"], "la la la la\ndo", "song")
    [(0, 5), (6, 11), (12, 14)]

    Raises:
        ValueError: a piece stands nowhere, or not in this order.
    """
    everywhere = {piece: _places_of(piece, text) for piece in pieces}

    # From the back: the latest place that leaves room for those that follow.
    latest = []
    start, end = len(text), len(text) + 1
    for number, piece in zip(range(len(pieces), 0, -1), reversed(pieces), strict=True):
        found = everywhere[piece]
        before = bisect_left(found, start, key=_START)
        before = min(before, bisect_left(found, end, key=_END)) or before
        if not before:
            where = "before the one behind it" if found else "in the document"
            raise ValueError(
                f"{doc_id}: chunk {number} ({shown(piece)}) is not found {where}. A splitter must "
                "give the document's own text, in order: put titles or summaries before the chunks "
                "after splitting."
            )
        start, end = found[before - 1]
        latest.append(before)

    # From the front: the last that leaves nothing out between it and the one before.
    placed: list[tuple[int, int]] = []
    start, end = -1, 0
    for piece, before in zip(pieces, reversed(latest), strict=True):
        found = everywhere[piece]
        first = bisect_right(found, start, key=_START)
        behind = max(first, bisect_right(found, end, key=_END))
        first = behind if behind < before else first
        ink = _INK.search(text, end)
        gapless = bisect_right(found, ink.start() if ink else len(text), key=_START)
        placed.append(found[max(first, min(gapless, before) - 1)])
        start, end = placed[-1][0], max(end, placed[-1][1])
    return placed


def _places_of(piece: str, text: str) -> list[tuple[int, int]]:
    """Return every place of a piece, in order: to the letter, else as it may have been changed."""
    places = [(at, at + len(piece)) for at in starts_of(piece, text)]
    if places:
        return places

    # White space was changed, or a letter cut in two; or the separators were thrown away.
    halves = piece.startswith(_HALF), piece.endswith(_HALF)
    places = [_with_halves(text, found, halves) for found in find_text(piece.strip(_HALF), text)]
    words = r"\W*".join(map(re.escape, _WORD.findall(piece)))
    return places or [found.span() for found in re.finditer(words, text) if words]


def _with_halves(text: str, place: tuple[int, int], halves: tuple[bool, bool]) -> tuple[int, int]:
    """Return a place with the letters of which only half stands in the piece, before and behind."""
    start, end = place
    if halves[0]:
        start = max(0, len(text[:start].rstrip()) - 1)
    if halves[1]:
        behind = _INK.search(text, end)
        end = behind.end() if behind else end
    return start, end
