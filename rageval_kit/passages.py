"""Gold passages, which survive every chunking: matched with hits, cut to one context, and scored.

A query's ``relevant_passages`` say where in a document its answer stands, as a text that stands
there once, or as start and end: ``[{"doc_id": "A", "text": "Pay by May."}]``. Hits of chunks cover
them, wherever the borders of the chunks run.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rageval_kit.documents import Docs, Record, as_docs, field_text
from rageval_kit.judgements import AllQA, JudgementError, as_queries, read_judgements
from rageval_kit.messages import (
    as_cutoff,
    count,
    is_number,
    name_some,
    shown,
    typed,
    warn_user,
    wrong_type,
)
from rageval_kit.places import find_text
from rageval_kit.rankings import Hit, Results, ResultsLike, as_rankings, read_hits
from rageval_kit.wording import to_say

_FLOAT_NOISE = 1e-9  # of a share times a number of letters
_EXAMPLE = '{"doc_id": "doc_001", "text": "..."}'


class Span(NamedTuple):
    """Characters of a document, from start up to end: a passage, or a chunk."""

    doc_id: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """What a passage is called in results: ``"A:0-11"``."""
        return f"{self.doc_id}:{self.start}-{self.end}"


# ---------------------------------------------------------------- gold passages


def read_passages(qa: Record, texts: Mapping[str, str]) -> list[Span]:
    """Return where the relevant passages of a query stand.

    Args:
        qa: with ``relevant_passages``.
        texts: the content of every document, by doc_id.

    >>> qa = {"query_id": "q1", "relevant_passages": [{"doc_id": "A", "text": "No refund."}]}
    >>> read_passages(qa, {"A": "Pay by May. No refund."})
    [Span(doc_id='A', start=12, end=22)]

    Raises:
        KeyError: the query has no ``relevant_passages``.
        JudgementError: a passage cannot be read, is not found, or stands there several times.
    """
    return [_read_passage(passage, texts, where) for where, passage in _passages_of(qa)]


def passage_problems(qa: Record, texts: Mapping[str, str]) -> Iterator[JudgementError]:
    """Give what is wrong with the passages of a query, an error each."""
    try:
        passages = list(_passages_of(qa))
    except JudgementError as error:
        yield error
        return
    for where, passage in passages:
        try:
            place = _read_passage(passage, texts, where)
            _check_text(place, passage, texts[place.doc_id], where)
        except JudgementError as error:
            yield error


def _passages_of(qa: Record) -> Iterator[tuple[str, Any]]:
    """Give each passage of a query, and what an error calls it."""
    where = f"{qa.get('query_id')}: relevant_passages"
    if "relevant_passages" not in qa:
        found = name_some(list(qa))
        raise KeyError(
            f"{where} is missing (found {found}). Give a list such as [{_EXAMPLE}], [] if there is "
            "none."
        )
    passages = qa["relevant_passages"]
    if isinstance(passages, np.ndarray):
        passages = passages.tolist()
    if not isinstance(passages, (list, tuple)):
        what, cure = to_say("must be a list of dicts, found {found}"), to_say("Write {meant}")
        meant = f"[{_EXAMPLE}]"
        raise JudgementError(where, what, cure, found=typed(passages), meant=meant)
    for number, passage in enumerate(passages, start=1):
        yield f"{where}, entry {number}", passage


def _read_passage(passage: Any, texts: Mapping[str, str], where: str) -> Span:
    if not isinstance(passage, Mapping) or not isinstance(passage.get("doc_id"), str):
        what = to_say("a passage must be a dict with doc_id and text, found {found}")
        cure = to_say("Write {meant}")
        raise JudgementError(where, what, cure, found=shown(passage), meant=_EXAMPLE)
    doc_id = passage["doc_id"]
    if doc_id not in texts:
        what = to_say("the document {doc_id} is not found")
        cure = to_say("Correct the doc_id, or add the document")
        raise JudgementError(where, what, cure, doc_id=shown(doc_id))

    # Start and end are taken at their word; a text must stand in the document, once.
    if "start" in passage or "end" in passage:
        span = _span_of(passage)
        if span is None or span[0] == span[1]:
            start, end = (shown(passage.get(field)) for field in ("start", "end"))
            what = to_say(
                "start and end must be whole numbers, start first, found {start} and {end}"
            )
            cure = to_say("Count characters from 0; the end is the first one behind the passage")
            raise JudgementError(where, what, cure, start=start, end=end)
        return Span(doc_id, *span)
    return Span(doc_id, *_find_once(passage.get("text"), texts[doc_id], where, doc_id))


def _span_of(record: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return start and end; None if they are no whole numbers, or the end comes first."""
    span: list[Any] = [record.get("start"), record.get("end")]
    if not all(is_number(value) and value % 1 == 0 for value in span):
        return None
    start, end = map(int, span)
    return (start, end) if 0 <= start <= end else None


def _find_once(text: Any, whole: str, where: str, doc_id: str) -> tuple[int, int]:
    places = _places_of(text, whole)
    if places is None:
        what = to_say("the text must be one that is not empty, found {found}")
        cure = to_say("Copy the passage from the document")
        raise JudgementError(where, what, cure, found=shown(text))
    if len(places) == 1:
        return places[0]

    # The first of several may be the wrong one.
    its = {"text": shown(text), "doc_id": doc_id}
    if not places:
        what = to_say("the text {text} of {doc_id} is not found there")
        cure = to_say("Copy it from the document, or give start and end")
        raise JudgementError(where, what, cure, **its)
    what = to_say("the text {text} of {doc_id} appears there {n} times, at {starts}")
    starts = name_some([start for start, _ in places])
    cure = to_say("Give start and end")
    raise JudgementError(where, what, cure, n=len(places), starts=starts, **its)


def _places_of(text: Any, whole: str) -> list[tuple[int, int]] | None:
    """Return where a text stands; None if there is nothing to look for."""
    try:
        return find_text(text, whole)
    except (TypeError, ValueError):  # no text, or an empty one
        return None


def _check_text(place: Span, passage: Record, whole: str, where: str) -> None:
    """Refuse start and end where the document ends before, or says something else."""
    if place.end > len(whole):
        what = to_say("end {end:,} is behind the end of {doc_id}, {length:,}")
        cure = to_say("Count characters of its content, from 0")
        its = {"end": place.end, "doc_id": place.doc_id, "length": len(whole)}
        raise JudgementError(where, what, cure, **its)
    stands, text = whole[place.start : place.end], passage.get("text")
    if _places_of(text, stands) == []:
        what = to_say("{place} is {stands}, and the text is {text}")
        cure = to_say("Correct one of the two, or leave one out")
        its = {"place": place.name, "stands": shown(stands), "text": shown(text)}
        raise JudgementError(where, what, cure, **its)


# ---------------------------------------------------------------- chunks


class _Chunks:
    """The chunks by doc_id, and the texts of their sources as far as a chunk holds them."""

    def __init__(self, chunks: Docs) -> None:
        # Where each stands, if that is as long as it is.
        wanted = ("doc_id", "content", "source_id", "start", "end")
        self.places: dict[str, Span] = {}
        contents: dict[str, list[tuple[Span, str]]] = defaultdict(list)
        for chunk in as_docs(chunks, wanted):
            span, content = _span_of(chunk), field_text(chunk, "content")
            source = chunk["source_id"]
            if not (isinstance(source, str) and span and span[1] - span[0] == len(content)):
                claimed = ", ".join(f"{field} {shown(chunk[field])}" for field in wanted[2:])
                raise ValueError(
                    f"{chunk['doc_id']}: {claimed} are no place of its content, "
                    f"{count(len(content), 'character')}. Give the chunks of "
                    "split_documents(docs, splitter)."
                )
            place = Span(source, *span)
            self.places[chunk["doc_id"]] = place
            contents[place.doc_id].append((place, content))

        # By source: its text, and the starts and ends of its chunks.
        self.texts = {source: _joined(its) for source, its in contents.items()}
        self.spans = {
            source: np.array([place[1:] for place, _ in its]).T for source, its in contents.items()
        }

    def place_of(self, hit: Hit, where: str) -> Span:
        """Return where a hit stands; one that was cut ends early."""
        place = self.places.get(hit["doc_id"])
        if place is None:
            raise ValueError(
                f"{where}: the hit {shown(hit['doc_id'])} is not found among the chunks. Search a "
                "store that was built from these chunks."
            )
        claimed = {"source_id": place.doc_id, "start": place.start, "end": place.end} | hit
        source, span = claimed["source_id"], _span_of(claimed)
        if source != place.doc_id or not span or span[0] != place.start or span[1] > place.end:
            start, end = claimed["start"], claimed["end"]
            raise ValueError(
                f"{where}: the hit {hit['doc_id']} stands at {shown(source)}, {shown(start)} to "
                f"{shown(end)}, the chunk of this id at {place.name}. Are they of two chunkings? "
                "Search a store that was built from these chunks."
            )
        return place._replace(end=span[1])

    def places_of(self, hits: Sequence[Hit], query_id: Any) -> list[Span]:
        """Return where the hits of a query stand, best first."""
        twice = pd.Index([hit["doc_id"] for hit in hits])
        if not twice.is_unique:
            raise ValueError(
                f"{query_id}: the chunk {twice[twice.duplicated()][0]!r} appears twice in the "
                "ranking. Keep the first of each."
            )
        return [
            self.place_of(hit, f"results, {query_id}, rank {rank}")
            for rank, hit in enumerate(hits, start=1)
        ]

    def gold(self, queries: Sequence[Record]) -> dict[Any, list[Span]]:
        """Return the relevant passages of every query."""
        return {qa["query_id"]: read_passages(qa, self.texts) for qa in queries}

    def meeting(self, passage: Span, strict: bool) -> list[Span]:
        """Return the chunks that share a character with a passage, or touch it if not strict."""
        starts, ends = self.spans[passage.doc_id]
        reach = 0 if strict else 1
        meet = (starts < passage.end + reach) & (passage.start < ends + reach)
        spans = zip(starts[meet].tolist(), ends[meet].tolist(), strict=True)
        return [Span(passage.doc_id, *span) for span in spans]

    def letters_of(self, passage: Span) -> np.ndarray:
        """Return of each character of a passage whether a chunk holds it and it is not blank."""
        text = self.texts[passage.doc_id][passage.start : passage.end]
        return np.array([not letter.isspace() for letter in text], dtype=bool)


def _joined(contents: Sequence[tuple[Span, str]]) -> str:
    """Return a source's text as its chunks hold it, blank where none does."""
    letters = [" "] * max(place.end for place, _ in contents)
    for place, content in contents:
        letters[place.start : place.end] = content
    return "".join(letters)


# ---------------------------------------------------------------- hits as passages found


class Matched(NamedTuple):
    """Queries whose relevant documents are passages, and results that find them."""

    all_qa: list[dict[str, Any]]
    results: Results


def match_passages(
    results: ResultsLike, chunks: Docs, all_qa: AllQA, coverage: float = 0.5
) -> Matched:
    """Turn hits of chunks into passages found, for every metric and every chunking.

    A passage is found by the hit with which the hits so far hold enough of it: what two of them
    share counts once, and half of it in each of two is the whole. White space does not count, since
    splitters cut it off. A hit that finds no passage stays as a hit of nothing relevant.

    Args:
        results: the hits of a search in these chunks, in any form.
        chunks: from `split_documents`.
        all_qa: with ``relevant_passages``: ``{"doc_id", "text"}`` or ``{"doc_id", "start", "end"}``
            each, of the documents that were split.
        coverage: the share of a passage that must be held, above 0 and at most 1.

    Returns:
        ``(all_qa, results)`` for any metric function. The relevant documents are passages, called
        ``"A:0-11"``, the same for every chunking. A hit that finds two passages takes two ranks,
        so that no metric passes 1: to measure what a context held, cut the hits before
        (`cut_results`), and read Recall at a k behind the last rank.

    >>> from rageval_kit import split_documents
    >>> chunks = split_documents([{"doc_id": "A", "content": "Pay by May. No refund."}], 12)
    >>> all_qa = [{"query_id": "q1", "relevant_passages": [{"doc_id": "A", "text": "by May"}]}]
    >>> gold, found = match_passages({"q1": [{"doc_id": "A#1"}]}, chunks, all_qa)
    >>> gold[0]["relevant_doc_ids"], found["q1"]
    (['A:4-10'], [{'doc_id': 'A:4-10'}])

    Raises:
        ValueError: a passage is not found once in the chunks, a hit is none of the chunks, or the
            coverage is no share.
        KeyError, TypeError: a field is missing or of another kind.
    """
    if not is_number(coverage) or not 0 < coverage <= 1:
        raise ValueError(f"coverage is a share above 0 and at most 1, found {shown(coverage)}.")
    known, rankings, queries = _Chunks(chunks), as_rankings(results), as_queries(all_qa)
    gold = known.gold(queries)
    found = {}
    for query_id, hits in rankings.items():
        wanted = gold.get(query_id, [])
        found[query_id] = list(
            _find(hits, known.places_of(hits, query_id), wanted, known, coverage)
        )

    # No depth is known: a hit may take several ranks.
    return Matched(_with_gold(queries, gold), rankings.with_hits(found, 0))


def _with_gold(queries: Sequence[Record], gold: Mapping[Any, list[Span]]) -> list[dict[str, Any]]:
    """Return the queries with their passages as what is relevant."""
    names = {query_id: [passage.name for passage in its] for query_id, its in gold.items()}
    return [{**qa, "relevant_doc_ids": names[qa["query_id"]]} for qa in queries]


def _find(
    hits: Sequence[Hit],
    places: Sequence[Span],
    passages: Sequence[Span],
    chunks: _Chunks,
    coverage: float,
) -> Iterator[Hit]:
    """Give each hit under the passages that it completes; under its own id if it completes none."""
    # Of every passage that is not found yet, its letters that no hit has held so far.
    unseen = {passage: chunks.letters_of(passage) for passage in passages}
    allowed = {passage: (1 - coverage) * letters.sum() for passage, letters in unseen.items()}

    for hit, place in zip(hits, places, strict=True):
        # What this hit holds that none before did, and what is complete with it.
        completed = []
        for passage in [passage for passage in unseen if passage.doc_id == place.doc_id]:
            start, end = (max(at - passage.start, 0) for at in place[1:])
            new = unseen[passage][start:end]
            if new.any():
                new[:] = False
                if unseen[passage].sum() <= allowed[passage] + _FLOAT_NOISE:
                    completed.append(passage)

        for passage in completed:
            del unseen[passage]
            yield {**hit, "doc_id": passage.name}
        if not completed:
            yield dict(hit)


# ---------------------------------------------------------------- one context for every chunking


def cut_results(
    results: ResultsLike, hits: int | None = None, characters: int | None = None
) -> Results:
    """Cut every ranking after so many hits, or after so many characters: an equal context.

    Ten small chunks are less to read than ten large ones, so that the best chunking by hits can be
    the worst by characters. The hit that crosses the border is cut there, as a prompt would be.

    Args:
        results: deeper than the cut.
        hits: how many hits remain; or
        characters: how many characters of content remain. The hits must have start and end, as
            those of chunks of `split_documents` have. Titles do not count.

    >>> results = {"q1": [{"doc_id": "A#1", "source_id": "A", "start": 0, "end": 11},
    ...                   {"doc_id": "A#2", "source_id": "A", "start": 12, "end": 22}]}
    >>> [(hit["doc_id"], hit["end"]) for hit in cut_results(results, characters=15)["q1"]]
    [('A#1', 11), ('A#2', 16)]

    Raises:
        ValueError: not one of the two is given, or it is not a positive integer.
        KeyError: a hit has no start and end.
        TypeError: results has another form.
    """
    if (hits is None) == (characters is None):
        raise ValueError("Cut by one of the two: hits=10, or characters=4000.")
    rankings = as_rankings(results)
    if hits is not None:
        most = as_cutoff(hits, "hits")
        cut = {query_id: its[:most] for query_id, its in rankings.items()}
        return rankings.with_hits(cut, min(most, rankings.k))

    room = as_cutoff(characters, "characters")
    cut = {query_id: list(_fill(its, room, query_id)) for query_id, its in rankings.items()}
    _warn_of_short(rankings, cut, room)
    return rankings.with_hits(cut, 0)  # no ranking is cut at a rank


def _fill(hits: Sequence[Hit], room: int, query_id: Any) -> Iterator[Hit]:
    """Give hits until there is no more room; the last is cut."""
    for rank, hit in enumerate(hits, start=1):
        span = _span_of(hit)
        if span is None:
            raise KeyError(
                f"results, {query_id}, rank {rank}: the hit {hit['doc_id']} has no start and end. "
                "Search a store that was built from split_documents(docs, splitter), or cut by "
                "hits=."
            )
        start, end = span
        if end - start >= room:
            yield {**hit, "end": start + room, "content": hit.get("content", "")[:room]}
            return
        yield hit
        room -= end - start


def _warn_of_short(rankings: Results, cut: Mapping[Any, list[Hit]], room: int) -> None:
    """Warn where the search ended before the characters did."""
    depth = rankings.k or max(map(len, rankings.values()), default=0)
    short = [
        query_id
        for query_id, hits in cut.items()
        if len(hits) >= depth and sum(hit["end"] - hit["start"] for hit in hits) < room
    ]
    if short:
        warn_user(
            f"the hits of {count(len(short), 'query')} hold fewer than {room:,} characters "
            f"({name_some(short)}): search deeper than k={depth}, else the contexts are not equal."
        )


# ---------------------------------------------------------------- characters of passages


def passage_scores(results: ResultsLike, chunks: Docs, all_qa: AllQA) -> pd.DataFrame:
    """Return how much of the passages the hits hold, and how much else, counted in characters.

    All hits count: cut them first (`cut_results`). With P the characters of a query's passages
    that a hit holds, each counted once (Smith and Troynikov, Evaluating Chunking Strategies for
    Retrieval, 2024):

    * Recall = P / characters of the passages;
    * Precision = P / sum of the hits' lengths, so that what two of them share is paid twice;
    * IoU = P / (that sum + characters of the passages that no hit holds).

    Args:
        results, chunks, all_qa: see `match_passages`.

    Returns:
        A row a query: ``Recall``, ``Precision``, ``IoU``, 0 to 1, higher is better; NaN for a query
        without passages.

    >>> from rageval_kit import split_documents
    >>> chunks = split_documents([{"doc_id": "A", "content": "Pay by May. No refund."}], 12)
    >>> all_qa = [{"query_id": "q1", "relevant_passages": [{"doc_id": "A", "text": "May. No"}]}]
    >>> passage_scores({"q1": [{"doc_id": "A#1"}]}, chunks, all_qa).round(3)
              Recall  Precision    IoU
    query_id
    q1         0.571      0.364  0.286

    Raises:
        ValueError, KeyError, TypeError: as `match_passages`.
    """
    known, rankings, queries = _Chunks(chunks), as_rankings(results), as_queries(all_qa)
    gold = known.gold(queries)
    read_hits(
        rankings, read_judgements(_with_gold(queries, gold)), None
    )  # warns of what is missing

    rows = {}
    for query_id, passages in gold.items():
        hits = known.places_of(rankings.get(query_id, []), query_id)
        held, wanted = _held(passages, hits), _characters(passages)
        length = sum(hit.end - hit.start for hit in hits)
        wholes = [wanted, max(length, 1), length + wanted - held]  # without hits: 0
        rows[query_id] = [held / whole if wanted else np.nan for whole in wholes]
    return _table(rows, ["Recall", "Precision", "IoU"])


def precision_omega(chunks: Docs, all_qa: AllQA, strict: bool = False) -> pd.DataFrame:
    """Return the precision that these chunks allow: of a search that brings all that is needed.

    Of a query's passages and the chunks that meet them: the characters that are in both, divided
    by those that are in either (Smith and Troynikov, 2024). It needs no search and no model.

    Args:
        chunks, all_qa: see `match_passages`.
        strict: whether a chunk must share a character with a passage. As published, a chunk that
            ends where a passage begins counts among those that meet it.

    Returns:
        A row a query: ``Precision-omega``, 0 to 1, higher is better; NaN without passages.

    >>> from rageval_kit import split_documents
    >>> chunks = split_documents([{"doc_id": "A", "content": "Pay by May. No refund."}], 12)
    >>> all_qa = [{"query_id": "q1", "relevant_passages": [{"doc_id": "A", "text": "May. No"}]}]
    >>> precision_omega(chunks, all_qa).round(3)
              Precision-omega
    query_id
    q1                  0.273

    Raises:
        ValueError, KeyError, TypeError: as `match_passages`.
    """
    if not isinstance(strict, bool):
        raise wrong_type("strict", "True or False", strict)
    known = _Chunks(chunks)
    rows = {}
    for query_id, passages in known.gold(as_queries(all_qa)).items():
        meeting = [place for passage in passages for place in known.meeting(passage, strict)]
        either = _characters([*passages, *meeting])
        rows[query_id] = [_held(passages, meeting) / either if either else np.nan]
    return _table(rows, ["Precision-omega"])


def _held(passages: Sequence[Span], hits: Sequence[Span]) -> int:
    """Count the characters of passages that hits hold."""
    return _characters(passages) + _characters(hits) - _characters([*passages, *hits])


def _characters(places: Sequence[Span]) -> int:
    """Count the characters that stand in one of the places, each once.

    >>> _characters([Span("A", 0, 20), Span("A", 15, 35), Span("B", 0, 5)])
    40
    """
    total, before, reached = 0, "", 0
    for doc_id, start, end in sorted(places):
        reached = max(start, reached if doc_id == before else 0)
        total += max(end - reached, 0)
        before, reached = doc_id, max(end, reached)
    return total


def _table(rows: Mapping[Any, Sequence[float]], columns: Sequence[str]) -> pd.DataFrame:
    """Return a row a query, and how many queries have passages."""
    index = pd.Index(list(rows), name="query_id")
    table = pd.DataFrame(list(rows.values()), index=index, columns=list(columns))
    evaluated = int(table.iloc[:, 0].notna().sum())
    table.attrs |= {"evaluated": evaluated, "excluded": len(table) - evaluated}
    return table
