"""Rerank what was found with a slower, finer scorer of question and text: results in, results out.

A search compares vectors or words that were made before anybody asked; a reranker reads question
and document together. It can only reorder what was found: search deeper than you want to see.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rageval_kit.cache import Cache, open_cache
from rageval_kit.documents import stored_id, text_of
from rageval_kit.judgements import AllQA, as_queries
from rageval_kit.messages import (
    as_cutoff,
    count,
    describe,
    is_list,
    is_number,
    name_some,
    show_progress,
    shown,
    warn_user,
    wrong_type,
)
from rageval_kit.rankings import Hit, Results, ResultsLike, as_rankings, refuse_repeated_hits
from rageval_kit.retrievers import identity_of, name_of
from rageval_kit.vectors import PROBE

Pair: TypeAlias = tuple[str, str]  # of a question and a text
Order: TypeAlias = list[tuple[int, float | None]]  # position in what was asked, score; best first

_BATCH = 64  # pairs scored together, and kept at once
_PROBES = (PROBE, PROBE[:60], "37 maps of the harbour. 항구의 지도 서른일곱 장.")
_KEPT = "What was scored before is kept: the same call goes on from there."


def rerank(
    results: ResultsLike,
    all_qa: AllQA,
    scorer: Any,
    depth: int,
    k: int,
    cache: str | Path | None = None,
) -> Results:
    """Score the first hits of every query again, and return the k best.

    Each pair of a question and a text is scored once and kept at once: after a failure the same
    call goes on where it stopped. A scorer is known by its class, code and settings, and by what it
    says of three fixed pairs, which it is asked at every call; what a function of yours reads
    elsewhere is seen only there.

    Args:
        results: the hits with their ``content``, searched to ``depth``, of any search or `fuse`.
        all_qa: dicts with ``query_id`` and ``question``.
        scorer: one of LangChain's cross-encoders (``score`` of pairs), a function from a list of
            pairs ``(question, text)`` to as many scores, **higher is better**, or one of
            LangChain's document compressors (``compress_documents``), which orders the texts of a
            question itself, and may leave some out. A text is title, line break, and content.
        depth: how many hits a query are scored; those behind are cut off.
        k: how many are returned, at most ``depth``: what was not scored has no place among what
            was.
        cache: path of an SQLite file; None keeps the scores in memory while Python runs.

    Returns:
        `Results`; equal scores keep their order. ``searched`` counts the queries of which something
        was scored now, and ``score`` is the scorer's (none, where a compressor gives none).

    >>> def overlap(pairs):
    ...     return [len(set(one.split()) & set(other.split())) for one, other in pairs]
    >>> all_qa = [{"query_id": "q1", "question": "red apples"}]
    >>> hits = [{"doc_id": "A", "content": "green pears"}, {"doc_id": "B", "content": "red apples"}]
    >>> rerank({"q1": hits}, all_qa, overlap, depth=2, k=1)["q1"]
    [{'doc_id': 'B', 'content': 'red apples', 'score': 2.0}]

    Raises:
        ValueError: k is above depth, a document appears twice in a ranking, the scorer failed, or
            gave too few scores, or NaN.
        KeyError: results has no entry for a query, a query has no question, or a hit no content.
        TypeError: the scorer cannot be asked or gives no numbers, or arguments are swapped.
    """
    # What is asked, before anything is scored.
    depth, k = as_cutoff(depth, "depth"), as_cutoff(k)
    if k > depth:
        raise ValueError(
            f"k={k} is above depth={depth}: what is not scored has no place among what is. Choose "
            "a larger depth, or a smaller k."
        )
    kind = _kind_of(scorer)
    asked, found = _read(results, all_qa, depth)

    with open_cache(cache) as stored, identity_of(scorer) as identity:
        judge = kind(scorer, stored, identity)
        orders = judge.order(asked)

    # The hits in their new order.
    hits = {
        its.query_id: _reordered(its.hits, order) for its, order in zip(asked, orders, strict=True)
    }
    _warn_of_left_out(asked, hits, k, scorer)
    scored = any("score" in hit for ranking in hits.values() for hit in ranking)
    known = found.known | {
        "k": k,
        "score_name": f"score of {name_of(scorer)}" if scored else None,
        "lower_is_better": False if scored else None,
        "searched": len(judge.scored_now),
        "changed": "",
    }
    return Results({query_id: ranking[:k] for query_id, ranking in hits.items()}, **known)


class _Asked(NamedTuple):
    """A query, its first hits, and their texts."""

    query_id: Any
    question: str
    hits: Sequence[Hit]
    texts: Sequence[str]


def _read(results: ResultsLike, all_qa: AllQA, depth: int) -> tuple[list[_Asked], Results]:
    """Return what is to be scored, in the order of all_qa, and what is known of the search."""
    queries = as_queries(all_qa, ("query_id", "question"))
    rankings = as_rankings(results, ("content",))
    found = rankings.only([qa["query_id"] for qa in queries])
    refuse_repeated_hits(found)

    if len(found) < len(rankings):
        strange = [query_id for query_id in rankings if query_id not in found]
        queries_left = count(len(strange), "query")
        warn_user(f"results of {queries_left} not in all_qa are left out: {name_some(strange)}.")
    if 0 < found.k < depth:
        warn_user(
            f"depth={depth} is deeper than the search, which asked for k={found.k}. Search deeper, "
            "or choose a smaller depth."
        )

    asked = []
    for qa in queries:
        hits = found[qa["query_id"]][:depth]
        asked.append(_Asked(qa["query_id"], qa["question"], hits, [text_of(hit) for hit in hits]))
    return asked, found


def _reordered(hits: Sequence[Hit], order: Order) -> list[Hit]:
    """Return the hits in this order, with the new scores in place of the old ones."""
    ranking = []
    for position, score in order:
        hit = {field: value for field, value in hits[position].items() if field != "score"}
        ranking.append(hit if score is None else {**hit, "score": score})
    return ranking


def _warn_of_left_out(
    asked: Sequence[_Asked], hits: Mapping[Any, Sequence[Hit]], k: int, scorer: Any
) -> None:
    few = [its.query_id for its in asked if len(hits[its.query_id]) < min(k, len(its.hits))]
    if few:
        warn_user(
            f"The {name_of(scorer)} left out documents, so that fewer than k={k} remain for "
            f"{name_some(few)}. Has it a top_n or a threshold of its own? Give it another."
        )


# ---------------------------------------------------------------- the kinds of scorers


def _kind_of(scorer: Any) -> "type[_Judge]":
    """Return how this scorer is asked."""
    if not isinstance(scorer, type):
        if hasattr(scorer, "compress_documents"):
            return _Compressor
        if hasattr(scorer, "score") or (callable(scorer) and not hasattr(scorer, "invoke")):
            return _OfPairs
    wanted = (
        "a function from a list of (question, text) pairs to scores, or one of LangChain's "
        "cross-encoders or document compressors"
    )
    raise wrong_type("scorer", wanted, scorer)


class _Judge(ABC):
    """A scorer, and what it has said before.

    Attributes:
        scored_now: the query_ids of which something was scored in this call.
    """

    def __init__(self, scorer: Any, stored: Cache, identity: str) -> None:
        self._scorer, self._stored = scorer, stored
        self.scored_now: set[Any] = set()
        self._name = name_of(scorer)
        self._model = stored.known_model(f"scorer {identity}", np.array(self._probe()))

    @abstractmethod
    def _probe(self) -> list[float]:
        """Return numbers that tell this scorer from another one."""

    @abstractmethod
    def order(self, asked: Sequence[_Asked]) -> list[Order]:
        """Return the order of the hits of each query."""

    def _key(self, *told: Any) -> str:
        return hashlib.sha256(json.dumps([self._model, *told]).encode()).hexdigest()

    def _kept(self, key: str) -> Any:
        try:
            return json.loads(self._stored.answer(key) or "null")
        except (ValueError, RecursionError):
            return None  # what cannot be read is scored again

    def _ask(self, ask: Callable[..., Any], what: str, **given: Any) -> Any:
        """Return what the scorer gives, or say on what it failed."""
        try:
            came = ask(**given) if given else ask()
            return list(came) if is_list(came) else came
        except Exception as error:
            raise ValueError(
                f"The {self._name} failed on {what} ({type(error).__name__}: {str(error)[:300]}). "
                f"{_KEPT}"
            ) from error


class _OfPairs(_Judge):
    """A cross-encoder, or a function of a list of pairs."""

    def _probe(self) -> list[float]:
        names = [f"the fixed pair {n}" for n in range(1, len(_PROBES) + 1)]
        return self._scores([(PROBE, text) for text in _PROBES], names)

    def order(self, asked: Sequence[_Asked]) -> list[Order]:
        """Score what was never scored, batch by batch, each kept before the next."""
        names: dict[Pair, str] = {}
        for its in asked:
            for hit, text in zip(its.hits, its.texts, strict=True):
                names.setdefault((its.question, text), f"{its.query_id} with {hit['doc_id']}")
        scores = {pair: self._kept(self._key(*pair)) for pair in names}
        new = [pair for pair, score in scores.items() if type(score) is not float]

        parts = [new[start : start + _BATCH] for start in range(0, len(new), _BATCH)]
        for part in show_progress(parts, "reranking", "pair", len):
            found = self._scores(part, [names[pair] for pair in part])
            scores |= zip(part, found, strict=True)
            keys = [self._key(*pair) for pair in part]
            self._stored.keep_answers(dict(zip(keys, map(json.dumps, found), strict=True)))

        # Equal scores keep their order.
        fresh, orders = set(new), []
        for its in asked:
            pairs = [(its.question, text) for text in its.texts]
            if not fresh.isdisjoint(pairs):
                self.scored_now.add(its.query_id)
            order = [(at, scores[pair]) for at, pair in enumerate(pairs)]
            orders.append(sorted(order, key=lambda place: -place[1]))
        return orders

    def _scores(self, pairs: Sequence[Pair], names: Sequence[str]) -> list[float]:
        """Return the scores of one batch, checked."""
        score = getattr(self._scorer, "score", self._scorer)
        what = f"{count(len(pairs), 'pair')} ({name_some(names)})"
        came = self._ask(lambda: score(list(pairs)), what)
        if not isinstance(came, list) or len(came) != len(pairs):
            found = count(len(came), "score") if isinstance(came, list) else describe(came)
            raise ValueError(
                f"The {self._name} gave {found} for {what}; one each was wanted. {_KEPT}"
            )
        return [self._number(one, name) for one, name in zip(came, names, strict=True)]

    def _number(self, score: Any, name: str) -> float:
        score = _plain(score)
        if not is_number(score):
            raise TypeError(
                f"The {self._name} gave {shown(score)} for {name}; one number was wanted. {_KEPT}"
            )
        if score != score:
            raise ValueError(
                f"The {self._name} gave NaN for {name}: the order then means nothing. Look at the "
                f"text and at the scorer. {_KEPT}"
            )
        return float(score)


class _Compressor(_Judge):
    """One of LangChain's document compressors, asked query by query."""

    def _probe(self) -> list[float]:
        texts = [str(n) for n in range(len(_PROBES))]
        hits = [{"doc_id": doc_id} for doc_id in texts]
        order = self._compress(_Asked("the fixed texts", PROBE, hits, _PROBES))

        # Of each text its score, else its place from the end; 0 where it was left out.
        numbers = [0.0] * len(hits)
        for place, (position, score) in enumerate(order):
            numbers[position] = float(len(hits) - place) if score is None else score
        return numbers

    def order(self, asked: Sequence[_Asked]) -> list[Order]:
        """Ask for the queries whose texts were never ordered, each kept before the next."""
        orders = []
        for its in show_progress(asked, "reranking", "query"):
            doc_ids = [str(hit["doc_id"]) for hit in its.hits]  # as it is told them
            key = self._key(its.question, doc_ids, list(its.texts))
            order = _as_order(self._kept(key), len(its.hits))
            if order is None and its.hits:
                order = self._compress(its)
                self._stored.keep_answer(key, json.dumps(order))
                self.scored_now.add(its.query_id)
            orders.append(order or [])
        return orders

    def _compress(self, its: _Asked) -> Order:
        """Return the order that the compressor gives to the texts of one query."""
        from langchain_core.documents import Document

        at = {str(hit["doc_id"]): position for position, hit in enumerate(its.hits)}
        documents = [
            Document(page_content=text, metadata={"doc_id": doc_id}, id=doc_id)
            for doc_id, text in zip(at, its.texts, strict=False)
        ]
        ask = self._scorer.compress_documents
        came = self._ask(ask, f"{its.query_id}", documents=documents, query=its.question)
        if not isinstance(came, list) or not all(hasattr(one, "metadata") for one in came):
            raise TypeError(
                f"The {self._name} gave {describe(came)} for {its.query_id}; a list of LangChain "
                f"documents was wanted. {_KEPT}"
            )

        order: Order = []
        for document in came:
            doc_id = stored_id(document)
            if doc_id not in at or at[doc_id] in [position for position, _ in order]:
                how = "twice" if doc_id in at else "which it was not given"
                raise ValueError(
                    f"The {self._name} gave {shown(doc_id)} for {its.query_id} {how}. A reranker "
                    "returns each document once, with its metadata. Fix it, or give a function."
                )
            order.append((at[doc_id], self._score_of(document, f"{its.query_id} with {doc_id}")))
        scored = all(score is not None for _, score in order)
        return order if scored else [(position, None) for position, _ in order]

    def _score_of(self, document: Any, name: str) -> float | None:
        score = _plain(document.metadata.get("relevance_score"))
        if score is not None and (not is_number(score) or score != score):
            raise ValueError(
                f"The {self._name} gave the relevance_score {shown(score)} for {name}. {_KEPT}"
            )
        return None if score is None else float(score)


def _plain(score: Any) -> Any:
    """Return a number of numpy's or PyTorch's as Python's."""
    is_single = hasattr(score, "item") and getattr(score, "ndim", 1) == 0
    return score.item() if is_single else score


def _as_order(kept: Any, size: int) -> Order | None:
    """Return an order that was kept; None if it cannot be one of so many hits."""
    try:
        order = [(position, score) for position, score in kept]
    except (TypeError, ValueError):
        return None
    sound = all(
        type(position) is int and 0 <= position < size and (score is None or type(score) is float)
        for position, score in order
    )
    return order if sound else None
