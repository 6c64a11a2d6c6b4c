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
from rageval_kit.documents import read_document
from rageval_kit.identity import model_name, model_settings
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
from rageval_kit.vectorstore import (
    as_vectors,
    is_faiss,
    kept_settings,
    refuse_zeros,
    stored_documents,
    stored_lengths,
    unit,
)

if TYPE_CHECKING:
    from langchain_core.documents import Document

_BATCH = 256  # queries embedded, searched and stored together
_SPARE = 16  # hits fetched beyond k, to see where a tie ends

# Cosine of one text embedded twice: services give not quite the same numbers each time.
_ALIKE = 0.9999

# Between equal scores of vectors of length 1, twice what was seen; grows with the squared length.
_NOISE = 2e-6


def search_all(vectorstore: Any, all_qa: AllQA, k: int, cache: str | Path | None = None) -> Results:
    """Return the first k hits of every query.

    A FAISS store's results are cached under the query's text and a fingerprint of the index
    (vectors, documents, embedding model), so that a changed index is searched again by itself.
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
        fingerprint: a hash of all that decides what a search finds.
        score_name, lower_is_better: what the scores are, and their direction.
    """

    model: str
    documents: list[Hit]
    text_hashes: dict[str, str]
    fingerprint: str
    score_name: str
    lower_is_better: bool

    def embed(self, questions: Sequence[str]) -> np.ndarray:
        """Return a vector a question."""

    def search(self, vectors: np.ndarray, k: int) -> list[Ranking]:
        """Return the first k of each vector, best first, equal scores in the order of documents."""


def search_cached(
    index: CachedIndex, questions: Mapping[Any, str], k: int, cache: str | Path | None
) -> Results:
    """Return the first k hits of every question, from the cache where it has them."""
    texts = list(dict.fromkeys(questions.values()))  # a question asked twice is searched once
    with open_cache(cache) as stored:
        rankings = stored.rankings(index.fingerprint, texts, k, len(index.documents))
        missing = [text for text in texts if text not in rankings]

        # Against the index that was asked before, so before this one is noted.
        before = stored.contents_before(index.fingerprint, missing)
        now = {"model": index.model, "texts": index.text_hashes}
        stored.note_asked(index.fingerprint, now)

        batches = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
        for batch in show_progress(batches, "searching", "query", len):
            vectors = index.embed(batch)
            refuse_zeros(vectors.any(axis=1), batch, "question")
            found = dict(zip(batch, index.search(vectors, k), strict=True))
            stored.store(index.fingerprint, found, k)
            rankings |= found

    hits = {
        query_id: [{**index.documents[at], "score": score} for at, score in rankings[question]]
        for query_id, question in questions.items()
    }
    new = set(missing)
    return Results(
        hits,
        k,
        index.score_name,
        index.lower_is_better,
        index.fingerprint,
        searched=sum(question in new for question in questions.values()),
        changed=_what_changed(before, now) if before else "",
        questions=questions,
    )


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


# Whether a model embeds a query as it embeds a document, by its class and settings. A class that is
# defined again is another class.
_embeds_alike: dict[tuple[type, str], bool] = {}


class FaissIndex:
    """LangChain's FAISS store as `search_cached` sees it: vectors and documents in one order."""

    def __init__(self, store: Any) -> None:
        import faiss

        self._index, self._embeddings = store.index, store.embedding_function
        self._told = kept_settings(store)
        if not hasattr(self._embeddings, "embed_query"):
            wanted = "a LangChain Embeddings object such as load_embeddings()"
            raise wrong_type("the vectorstore's embedding_function", wanted, self._embeddings)
        stored = stored_documents(store)
        if not stored:
            raise ValueError(
                "The vectorstore holds no document (were all deleted?): add some, or rebuild it."
            )

        self.model = model_name(self._embeddings)
        self._settings = _hash(json.dumps(model_settings(self._embeddings), default=str))
        self.documents = [read_document(document) for document in stored]
        self.text_hashes = _text_hashes(self.documents, stored)

        metric = self._index.metric_type
        self.lower_is_better = metric != faiss.METRIC_INNER_PRODUCT
        self.score_name = {
            faiss.METRIC_INNER_PRODUCT: "inner product",
            faiss.METRIC_L2: "squared L2 distance",
        }.get(metric, "distance")
        self._look_at_lengths(store)

        # All that decides what a search finds: a change of any of these is another fingerprint.
        doc_ids = [document["doc_id"] for document in self.documents]
        told = json.dumps([doc_ids, self.text_hashes, self._told], default=str)
        vectors = faiss.serialize_index(self._index).tobytes()
        self.fingerprint = _hash(self.model, self._settings, told, vectors)

    def _look_at_lengths(self, store: Any) -> None:
        """Refuse vectors of zeros, and warn of cosines that are none."""
        lengths = stored_lengths(store)
        self._shortest, self._longest = 0.0, 0.0  # not known
        if lengths is None:
            return
        refuse_zeros(lengths, [document["doc_id"] for document in self.documents])
        self._shortest, self._longest = float(lengths.min()), float(lengths.max())

        # LangChain's FAISS builds an index of L2 distances for COSINE, too.
        is_cosine = self._told["distance_strategy"].name == "COSINE" and self.lower_is_better
        if is_cosine and not self._told["normalize_L2"] and self._longest > 1.001 * self._shortest:
            warn_user(
                "The store was made with DistanceStrategy.COSINE, for which LangChain's FAISS "
                "builds an index of L2 distances, and the lengths of its vectors differ "
                f"({self._shortest:.4g} to {self._longest:.4g}): its order is not that of the "
                "cosine. Rebuild it with normalize_L2=True and no distance_strategy; "
                "FAISS.load_local(...) forgets normalize_L2 and must be given it again."
            )

    def _compare_lengths(self, vectors: np.ndarray) -> None:
        """Warn, once, of queries that have not the length 1 of all stored vectors."""
        is_unit = 0.999 < self._shortest and self._longest < 1.001
        lengths = np.linalg.norm(vectors, axis=1)
        odd = lengths[np.abs(lengths - 1) > 0.01]
        if is_unit and self.lower_is_better and odd.size:
            self._shortest = 0.0
            warn_user(
                f"The stored vectors have length 1 and a question's has {odd[0]:.4g}, so that a "
                "distance d is no cosine of 1 - d / 2. Was the store made with normalize_L2=True? "
                "FAISS.load_local(...) forgets that and must be given it again."
            )

    def embed(self, questions: Sequence[str]) -> np.ndarray:
        """Embed as one batch, or one by one if the model embeds a query unlike a document."""
        model = (type(self._embeddings), self._settings)
        if len(questions) == 1 or _embeds_alike.get(model) is False:
            return self._embed_singly(questions)
        embedded = self._embeddings.embed_documents(list(questions))
        vectors = as_vectors(embedded, questions, self._index.d, "question")

        # Not known yet: embed the first once more, as a query.
        if model not in _embeds_alike:
            single = self._embed_singly(questions[:1])
            cosine = float(unit(single)[0] @ unit(vectors[:1])[0])
            _embeds_alike[model] = cosine > _ALIKE
            if not _embeds_alike[model]:
                return np.concatenate([single, self._embed_singly(questions[1:])])
        return vectors

    def _embed_singly(self, questions: Sequence[str]) -> np.ndarray:
        embedded = [self._embeddings.embed_query(question) for question in questions]
        return as_vectors(embedded, questions, self._index.d, "question")

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
        else:
            self._compare_lengths(vectors)
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


def _text_hashes(documents: Sequence[Hit], stored: Sequence["Document"]) -> dict[str, str]:
    """Return a hash of each document's text and metadata; chunks of one doc_id share one."""
    hashes: dict[str, str] = {}
    for document, its in zip(documents, stored, strict=True):
        doc_id, metadata = document["doc_id"], repr(sorted(its.metadata.items(), key=repr))
        hashes[doc_id] = _hash(hashes.get(doc_id, ""), its.page_content, metadata)
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
