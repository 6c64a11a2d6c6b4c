"""Search every query of all_qa once, and keep the results.

With LangChain's FAISS store the queries are embedded as one batch, searched in one index call and
cached. Any other vector store or retriever is asked query by query, in its own order.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rageval_kit.cache import Ranking, open_cache
from rageval_kit.documents import read_document, stored_id
from rageval_kit.identity import is_known, model_name, model_settings, without_cache
from rageval_kit.judgements import AllQA, as_queries
from rageval_kit.messages import (
    as_cutoff,
    count,
    describe,
    name_some,
    show_progress,
    warn_user,
    wrong_type,
)
from rageval_kit.rankings import Hit, Results, direction
from rageval_kit.vectors import Side, alike, ask, batches, first_words, probe, unit
from rageval_kit.vectorstore import is_faiss, kept_settings, stored_documents

if TYPE_CHECKING:
    from langchain_core.documents import Document

_BATCH = 256  # queries embedded, searched and stored together
_SEARCHED = "What was searched before is kept: the same call goes on from there."
_SPARE = 16  # hits fetched beyond k, to see where a tie ends

# Between equal scores of vectors of length 1, twice what was seen; grows with the squared length.
_NOISE = 2e-6


def search_all(vectorstore: Any, all_qa: AllQA, k: int, cache: str | Path | None = None) -> Results:
    """Return the first k hits of every query.

    A FAISS store's results are cached under the query's text and a fingerprint of the index
    (vectors, documents, embedding model), so that a changed index is searched again by itself. A
    model of your own class may change unseen: its questions are embedded singly and every time.
    Equal scores have one order: the document that was indexed first comes first.

    Args:
        vectorstore: from `build_vectorstore`, any LangChain vector store, or any retriever (an
            object with ``invoke(question) -> documents``). Only FAISS stores are cached.
        all_qa: dicts with ``query_id`` and ``question`` (or a DataFrame).
        k: how many hits a query; fewer come back if the store holds fewer.
        cache: path of an SQLite file; None keeps the results in memory while Python runs.

    Returns:
        `Results`, a dict ``{query_id: [hit, ...]}``. With the kit's store ``score`` is the squared
        L2 distance, **lower is better**. A retriever's hits have no ``score``.

    >>> from rageval_kit import build_vectorstore, load_embeddings
    >>> docs = [{"doc_id": "A", "title": "", "content": "Apples are red."},
    ...         {"doc_id": "B", "title": "", "content": "Buses are late."}]
    >>> vectorstore = build_vectorstore(docs, load_embeddings("chars"))
    >>> results = search_all(vectorstore, [{"query_id": "q1", "question": "Are buses late?"}], k=1)
    >>> results["q1"][0]["doc_id"], results.score_name
    ('B', 'squared L2 distance')

    Raises:
        ValueError: k is not a positive integer, a query_id appears twice, a question is empty, the
            model gives NaN or vectors of another width than the index, or the cache is no file that
            can be used.
        KeyError: a query has no query_id or question.
        TypeError: one of these is not a text, or the vectorstore cannot be searched.
    """
    # What is asked for, before anything is embedded.
    k = as_cutoff(k)
    if not any(hasattr(vectorstore, way) for way in ("similarity_search", "invoke")):
        wanted = "a LangChain vector store or retriever, such as build_vectorstore(...)"
        raise wrong_type("vectorstore", wanted, vectorstore)
    queries = as_queries(all_qa, ("query_id", "question"))
    questions = {qa["query_id"]: qa["question"] for qa in queries}

    # FAISS in batches and from the cache; any other store query by query.
    if is_faiss(vectorstore):
        return search_cached(FaissIndex(vectorstore), questions, k, cache)
    if cache is not None:
        warn_user(
            f"A {type(vectorstore).__name__} cannot be fingerprinted, so its results are not "
            "cached: they could be stale without a sign. FAISS stores are cached."
        )
    return _search_one_by_one(vectorstore, questions, k)


# ---------------------------------------------------------------- a batch at a time, cached


class CachedIndex(Protocol):
    """What `search_cached` needs of a store. `FaissIndex` has it; another store may.

    Attributes:
        model: a name of the embedding model, for a reader.
        documents: ``{"doc_id", "title", "content"}`` each, in the order of their vectors.
        text_hashes: a hash of each document's text, by doc_id: tells what changed.
        fingerprint: a hash of all that decides what a search finds, but for the queries' vectors.
        probe: what the model makes of one fixed query, where that tells how it embeds every other;
            None for a model of which each query's own vector must be looked at.
        score_name, lower_is_better: what the scores are, and their direction.
    """

    model: str
    documents: list[Hit]
    text_hashes: dict[str, str]
    fingerprint: str
    score_name: str
    lower_is_better: bool

    @property
    def probe(self) -> np.ndarray | None:
        """See above; asked for where it is needed only, since it may cost a request."""

    def embed(self, questions: Sequence[str]) -> np.ndarray:
        """Return a vector a question."""

    def search(self, vectors: np.ndarray, k: int) -> list[Ranking]:
        """Return the first k of each vector, best first, equal scores in the order of documents."""


def search_cached(
    index: CachedIndex, questions: Mapping[Any, str], k: int, cache: str | Path | None
) -> Results:
    """Return the first k hits of every question, from the cache where it has them."""
    texts = list(dict.fromkeys(questions.values()))  # a question asked twice is searched once
    rankings: dict[str, Ranking] = {}
    with open_cache(cache) as stored:
        # What is known under a probe needs no vector; else a question is looked at by its own.
        key, size = index.fingerprint, len(index.documents)
        if index.probe is not None:
            key = f"{key}-{stored.known_model('query', index.probe)}"
            rankings = stored.rankings(key, texts, k, size)
        missing = [text for text in texts if text not in rankings]

        # Against the index that was asked before, so before this one is noted.
        before = stored.contents_before(key, missing)
        now = {"model": index.model, "texts": index.text_hashes}
        stored.note_asked(key, now)

        new: set[str] = set()
        otherwise = False
        for start in show_progress(range(0, len(missing), _BATCH), "searching", "batch"):
            batch = missing[start : start + _BATCH]
            vectors = dict(zip(batch, index.embed(batch), strict=True))
            if index.probe is None:
                rankings |= stored.rankings(key, batch, k, size, vectors)
                batch = [text for text in batch if text not in rankings]
                otherwise |= bool(stored.rankings(key, batch, k, size))
            if batch:
                found = index.search(np.stack([vectors[text] for text in batch]), k)
                rankings |= zip(batch, found, strict=True)
                kept = None if index.probe is not None else vectors
                stored.store(key, {text: rankings[text] for text in batch}, k, kept)
                new |= set(batch)

    hits = {
        query_id: [{**index.documents[at], "score": score} for at, score in rankings[question]]
        for query_id, question in questions.items()
    }
    changed = _what_changed(before, now) if before else _OTHERWISE if otherwise else ""
    return Results(
        hits,
        k,
        index.score_name,
        index.lower_is_better,
        index.fingerprint,
        searched=sum(question in new for question in questions.values()),
        changed=changed,
        questions=questions,
    )


_OTHERWISE = "the model embeds questions otherwise (settings, prompt) since the last search"


def _what_changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say in words how an index differs from the one that was last asked."""
    # The documents, by their texts' hashes.
    old, new = before["texts"], now["texts"]
    changes = {
        "added": new.keys() - old.keys(),
        "removed": old.keys() - new.keys(),
        "changed": {doc_id for doc_id in new.keys() & old.keys() if new[doc_id] != old[doc_id]},
    }
    said = [f"{len(ids)} {how} ({name_some(sorted(ids))})" for how, ids in changes.items() if ids]
    sentences = [f"documents since the last search: {', '.join(said)}"] if said else []

    # The model; else it is what has no name: vectors, order, a setting.
    if before["model"] != now["model"]:
        sentences.append(f"embeddings were {before['model']}, now {now['model']}")
    return (
        "; ".join(sentences)
        or "the same texts, with other vectors, order or settings since the last search"
    )


# ---------------------------------------------------------------- FAISS


class FaissIndex:
    """LangChain's FAISS store as `search_cached` sees it: vectors and documents in one order."""

    def __init__(self, store: Any) -> None:
        import faiss

        self._index, self._embeddings = store.index, _query_model(store.embedding_function)
        self._told = kept_settings(store)
        if not hasattr(self._embeddings, "embed_query"):
            wanted = "a LangChain Embeddings object such as load_embeddings()"
            raise wrong_type("the vectorstore's embedding_function", wanted, self._embeddings)
        stored = stored_documents(store)
        if not stored:
            raise ValueError(
                "The vectorstore holds no document (were all deleted?): add some, or rebuild it."
            )

        self.model = model_name(store.embedding_function)
        self._is_known = is_known(self._embeddings)
        self.documents = [read_document(document) for document in stored]
        contents = [_content(document) for document in stored]
        self.text_hashes = _text_hashes(stored, contents)

        # All that decides what a search finds. An id that is not in the metadata, as LangChain
        # makes them up, is none of it: identity is the content.
        settings = model_settings(without_cache(self._embeddings)) if self._is_known else None
        told = json.dumps([contents, self._told, settings], default=str)
        self.fingerprint = _hash(told, faiss.serialize_index(self._index).tobytes())

        metric = self._index.metric_type
        self.lower_is_better = metric != faiss.METRIC_INNER_PRODUCT
        self.score_name = {
            faiss.METRIC_INNER_PRODUCT: "inner product",
            faiss.METRIC_L2: "squared L2 distance",
        }.get(metric, "distance")

    @property
    def probe(self) -> np.ndarray | None:
        """What a known model makes of one fixed query; None for a model that may change unseen."""
        return probe(self._embeddings, "query", self._index.d) if self._is_known else None

    def embed(self, questions: Sequence[str]) -> np.ndarray:
        """Embed as one batch if the model is known to embed a query as a document, else singly.

        Asked of the probe, never of a question: it would stay in whatever keeps the vectors of this
        model's documents.
        """
        side: Side = "query"
        as_one = len(questions) > 1 and self._is_known
        if as_one and alike(probe(self._embeddings, "query"), probe(self._embeddings, "document")):
            parts, side = batches(questions, _BATCH), "document"
        else:
            parts = [slice(None)]
        vectors = [
            ask(self._embeddings, its, its, "question", side, self._index.d, _SEARCHED)
            for its in (questions[part] for part in parts)
        ]
        return np.concatenate(vectors)

    def search(self, vectors: np.ndarray, k: int) -> list[Ranking]:
        """Search all vectors in one call and return the first k of each.

        FAISS orders identical vectors by its own inner workings, and float noise moves equal scores
        apart. Scores that differ by no more than noise are therefore one tie, with one score, in
        the order of the documents. For example, best first:

            score     0.30   0.50   0.50 + noise   0.50 + noise   0.70
            document     7      9              4              6      2
            tie          0      1              1              1      2
            returned     7      4              6              9      2    (4, 6, 9 with score 0.50)
        """
        if self._told["normalize_L2"]:
            vectors = unit(vectors)
        k = min(k, self._index.ntotal)
        noise = _NOISE * np.maximum(np.square(vectors).sum(axis=1), 1e-30)

        # Fetch more as long as the tie at rank k reaches to the last that was fetched.
        fetch = min(k + _SPARE, self._index.ntotal)
        while True:
            scores, positions = self._index.search(np.ascontiguousarray(vectors), fetch)
            ties, shared = group_ties(scores, noise)
            goes_on = (ties[:, k - 1] == ties[:, -1]) & (positions[:, -1] >= 0)
            if fetch == self._index.ntotal or not goes_on.any():
                break
            fetch = min(2 * fetch, self._index.ntotal)

        order = np.lexsort((positions, ties))[:, :k]
        positions = np.take_along_axis(positions, order, axis=1)
        shared = np.take_along_axis(shared, order, axis=1)
        return [
            [(int(at), _shown(score)) for at, score in zip(*ranking, strict=True) if at >= 0]
            for ranking in zip(positions, shared, strict=True)
        ]


def group_ties(scores: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each score's tie, from 0, and the score that the tie shares.

    A tie reaches from its first score as far as the noise, and no further: else scores that differ
    by little each would join without end.

    Args:
        scores: a row a query, best first.
        noise: of each query.

    >>> ties, shared = group_ties(np.array([[0.30, 0.50, 0.51, 0.52, 0.70]]), np.array([0.015]))
    >>> ties.tolist(), shared.tolist()
    ([[0, 1, 1, 2, 3]], [[0.3, 0.5, 0.5, 0.52, 0.7]])
    """
    # Rank by rank, for all queries at once.
    ranks = np.ascontiguousarray(scores.T)
    ties, shared = np.zeros(ranks.shape, dtype=int), ranks.copy()
    for rank in range(1, len(ranks)):
        apart = np.abs(ranks[rank] - shared[rank - 1]) > noise
        ties[rank] = ties[rank - 1] + apart
        shared[rank] = np.where(apart, ranks[rank], shared[rank - 1])
    return ties.T, shared.T


def _query_model(embeddings: Any) -> Any:
    """Return the model that embeds the queries: LangChain's cache may keep documents only."""
    if getattr(embeddings, "query_embedding_store", True) is None:
        return embeddings.underlying_embeddings
    return embeddings


def _content(document: "Document") -> str:
    """Return a hash of a document's text and metadata."""
    return _hash(document.page_content, repr(sorted(document.metadata.items(), key=repr)))


def _text_hashes(stored: Sequence["Document"], contents: Sequence[str]) -> dict[str, str]:
    """Return a hash of each document's content, by doc_id; chunks of one doc_id share one.

    A document without doc_id is called by its first words: its own id is LangChain's.
    """
    hashes: dict[str, str] = {}
    for document, content in zip(stored, contents, strict=True):
        name = stored_id(document) or first_words(document.page_content)
        hashes[name] = _hash(hashes.get(name, ""), content)
    return hashes


def _shown(score: np.float32) -> float:
    """Return the score as the shortest decimal with seven digits: what a float32 holds."""
    return float(f"{score:.7g}")


def _hash(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


# ---------------------------------------------------------------- any other store or retriever


def _search_one_by_one(store: Any, questions: Mapping[Any, str], k: int) -> Results:
    hits = {}
    for query_id, question in show_progress(list(questions.items()), "searching", "query"):
        hits[query_id] = _ask(store, question, k)[:k]

    # A retriever has a depth of its own, which may be less than k.
    deepest = max(map(len, hits.values()))
    if deepest < k:
        warn_user(
            f"The {type(store).__name__} returned at most {count(deepest, 'hit')} a query although "
            f"k={k}. If the corpus is larger, ask for more: "
            f'as_retriever(search_kwargs={{"k": {k}}}).'
        )

    # The direction of its scores is told by their order.
    scored = any("score" in hit for ranking in hits.values() for hit in ranking)
    return Results(
        hits,
        k,
        score_name=f"score of {type(store).__name__}" if scored else None,
        lower_is_better=direction(Results(hits)),
        searched=len(hits),
        questions=questions,
    )


def _ask(store: Any, question: str, k: int) -> list[Hit]:
    """Return the hits of one question, with scores where the store gives them."""
    if hasattr(store, "similarity_search_with_score"):
        try:
            pairs = store.similarity_search_with_score(question, k=k)
            return [read_document(document) | {"score": float(score)} for document, score in pairs]
        except NotImplementedError:
            return _as_hits(store, store.similarity_search(question, k=k))
    return _as_hits(store, store.invoke(question))


def _as_hits(store: Any, found: Any) -> list[Hit]:
    if not isinstance(found, (list, tuple)) or not all(hasattr(one, "metadata") for one in found):
        raise TypeError(
            f"The {type(store).__name__} gave {describe(found)} for a question; a list of "
            "LangChain documents was wanted. Give a vector store or a retriever."
        )
    return [read_document(document) for document in found]
