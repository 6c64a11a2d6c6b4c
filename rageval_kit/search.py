"""Search every query of all_qa once, and keep the results.

With LangChain's FAISS store the queries are embedded as one batch, searched in one index call and
cached. Any other vector store or retriever is asked query by query, in its own order.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rageval_kit.cache import Cache, Ranking, open_cache
from rageval_kit.documents import read_document
from rageval_kit.embeddings import embeddings_name, embeddings_settings
from rageval_kit.judgements import AllQA, as_queries
from rageval_kit.messages import as_cutoff, count, name_some, show_progress, warn_user
from rageval_kit.rankings import Hit, Results, direction
from rageval_kit.vectorstore import stored_documents

if TYPE_CHECKING:
    from langchain_core.documents import Document

_BATCH = 256  # queries embedded, searched and stored together
_SPARE = 16  # hits fetched beyond k, to see where a tie ends
_ALIKE = (
    0.9999  # cosine of one text embedded twice: services give not quite the same numbers each time
)
_NOISE = 2e-6  # between equal scores of vectors of length 1, twice what was seen; it grows with the squared length


def search_all(vectorstore: Any, all_qa: AllQA, k: int, cache: str | Path | None = None) -> Results:
    """Return the first k hits of every query.

    A FAISS store's results are cached under the query's text and a fingerprint of the index (vectors,
    documents, embedding model), so that a changed index is searched anew by itself. Equal scores
    have one order: the document that was indexed first comes first.

    Args:
        vectorstore: from `build_vectorstore`, any LangChain vector store, or any retriever (an object
            with ``invoke(question) -> documents``). Only FAISS stores are cached.
        all_qa: dicts with ``query_id`` and ``question`` (or a DataFrame).
        k: how many hits a query; fewer come back if the store holds fewer.
        cache: path of an SQLite file; None keeps the results in memory while Python runs.

    Returns:
        `Results`, a dict ``{query_id: [hit, ...]}``. With the kit's store ``score`` is the squared
        L2 distance, **lower is better**. A retriever's hits have no ``score``.

    Raises:
        ValueError: k is not a positive integer, a query_id stands twice, a question is empty, the
            model gives NaN or vectors of another width than the index.
        KeyError, TypeError: a query has no query_id or question, or it is not a text.
    """
    k = as_cutoff(k)
    questions = {
        qa["query_id"]: qa["question"] for qa in as_queries(all_qa, ("query_id", "question"))
    }
    if hasattr(vectorstore, "index_to_docstore_id") and vectorstore.embeddings is not None:
        return _search_faiss(_FaissIndex(vectorstore), questions, k, cache)
    if cache is not None:
        warn_user(
            f"A {type(vectorstore).__name__} cannot be fingerprinted, so its results are not cached: "
            "they could be stale without a sign. FAISS stores are cached."
        )
    return _search_one_by_one(vectorstore, questions, k)


def as_hit(document: "Document", score: float | None) -> Hit:
    """Return a LangChain document as a hit, with its score where there is one."""
    hit = read_document(document)
    return hit if score is None else hit | {"score": score}


# ---------------------------------------------------------------- FAISS: one batch, cached


@dataclass(frozen=True)
class _FaissIndex:
    """A FAISS store seen as vectors and documents in one order."""

    store: Any

    @cached_property
    def documents(self) -> list["Document"]:
        return stored_documents(self.store)

    @cached_property
    def text_hashes(self) -> dict[str, str]:
        return {
            str(document.id): _hash(
                document.page_content, json.dumps(document.metadata, default=str)
            )
            for document in self.documents
        }

    @cached_property
    def model(self) -> str:
        return json.dumps(
            [embeddings_name(self.store.embeddings), embeddings_settings(self.store.embeddings)],
            default=str,
        )

    @cached_property
    def fingerprint(self) -> str:
        import faiss

        documents = json.dumps(list(self.text_hashes.items()))
        return _hash(
            self.model,
            str(self.store._normalize_L2),
            documents,
            faiss.serialize_index(self.store.index).tobytes(),
        )

    @property
    def higher_is_better(self) -> bool:
        import faiss

        return bool(self.store.index.metric_type == faiss.METRIC_INNER_PRODUCT)

    @property
    def score_name(self) -> str:
        import faiss

        names = {
            faiss.METRIC_INNER_PRODUCT: "inner product",
            faiss.METRIC_L2: "squared L2 distance",
        }
        return names.get(self.store.index.metric_type, "distance")


def _hash(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def _search_faiss(
    index: _FaissIndex, questions: Mapping[str, str], k: int, cache: str | Path | None
) -> Results:
    if not index.documents:
        raise ValueError(
            "The vectorstore holds no document (were all deleted?): add documents, or build it anew."
        )
    texts = list(dict.fromkeys(questions.values()))  # a question asked twice is searched once
    with open_cache(cache) as stored:
        rankings = stored.rankings(index.fingerprint, texts, k)
        missing = [text for text in texts if text not in rankings]
        changed = _what_changed(index, stored, missing)
        if missing:
            stored.remember_index(
                index.fingerprint, embeddings_name(index.store.embeddings), index.text_hashes
            )
        for batch in _batches(missing):
            found = dict(
                zip(batch, _rank(index, _embed_queries(index, batch, stored), k), strict=True)
            )
            stored.store(index.fingerprint, found, k)
            rankings |= found
    hits = {
        query_id: [
            as_hit(index.documents[position], score) for position, score in rankings[question]
        ]
        for query_id, question in questions.items()
    }
    anew = set(missing)
    searched = sum(question in anew for question in questions.values())
    return Results(
        hits, k, index.score_name, not index.higher_is_better, index.fingerprint, searched, changed
    )


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in show_progress(range(0, len(texts), _BATCH), "searching", "batch"):
        yield texts[start : start + _BATCH]


def _embed_queries(index: _FaissIndex, texts: list[str], stored: Cache) -> np.ndarray:
    """Embed the queries as one batch, or one by one if the model embeds a query unlike a document."""
    embeddings, width = index.store.embeddings, index.store.index.d
    alike = stored.embeds_queries_alike(index.model)
    if len(texts) == 1 or alike is False:
        return _as_vectors([embeddings.embed_query(text) for text in texts], texts, width)
    vectors = _as_vectors(embeddings.embed_documents(texts), texts, width)
    if alike is None:
        first = embeddings.embed_query(texts[0])
        alike = _cosine(_as_vectors([first], texts[:1], width)[0], vectors[0]) > _ALIKE
        stored.remember_queries_alike(index.model, alike)
        if not alike:
            others = [embeddings.embed_query(text) for text in texts[1:]]
            vectors = _as_vectors([first, *others], texts, width)
    return vectors


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other) or 1.0))


def _as_vectors(
    embedded: Sequence[Sequence[float]], texts: Sequence[str], width: int
) -> np.ndarray:
    """Return the vectors as float32 (texts, width), or say what is wrong with them."""
    vectors = np.asarray(embedded, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise ValueError(
            f"The embeddings gave an array of shape {vectors.shape} for {count(len(texts), 'question')}; "
            "wanted one vector each."
        )
    if vectors.shape[1] != width:
        raise ValueError(
            f"The index holds vectors of {width} dimensions, the embeddings give {vectors.shape[1]} for a question. "
            "Search with the model the vectorstore was built with, or build it anew."
        )
    broken = [
        text for text, vector in zip(texts, vectors, strict=True) if not np.isfinite(vector).all()
    ]
    if broken:
        raise ValueError(
            f"The embeddings gave NaN or infinite numbers for the question: {name_some(broken)}."
        )
    return vectors


def _rank(index: _FaissIndex, vectors: np.ndarray, k: int) -> list[Ranking]:
    """Search all vectors in one call and return the first k of each, ties in the order of the corpus.

    FAISS orders identical vectors by its own inner workings, and float noise moves equal scores
    apart. Scores that differ by no more than noise are therefore one tie, with one score, and more
    is fetched as long as a tie reaches past what was fetched.
    """
    faiss_index = index.store.index
    vectors = np.array(vectors, order="C")
    if index.store._normalize_L2:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
    k = min(k, faiss_index.ntotal)
    fetch = min(k + _SPARE, faiss_index.ntotal)
    noise = _NOISE * np.maximum(np.square(vectors).sum(axis=1, keepdims=True), 1e-30)
    while True:
        scores, positions = faiss_index.search(vectors, fetch)
        ties = np.cumsum(np.abs(np.diff(scores, axis=1, prepend=scores[:, :1])) > noise, axis=1)
        ties_reach_further = (ties[:, k - 1] == ties[:, -1]) & (positions[:, -1] >= 0)
        if fetch == faiss_index.ntotal or not ties_reach_further.any():
            break
        fetch = min(2 * fetch, faiss_index.ntotal)
    order = np.lexsort((positions, ties))[:, :k]
    starts_tie = np.diff(ties, axis=1, prepend=-1) > 0
    first_of_tie = np.maximum.accumulate(np.where(starts_tie, np.arange(fetch), 0), axis=1)
    shared = np.take_along_axis(scores, first_of_tie, axis=1)
    return [
        [
            (int(position), _shown(score))
            for position, score in zip(row[o], values[o], strict=True)
            if position >= 0
        ]
        for row, values, o in zip(positions, shared, order, strict=True)
    ]


def _shown(score: np.float32) -> float:
    """Return the score as the shortest decimal with seven digits: what a float32 holds."""
    return float(f"{score:.7g}")


def _what_changed(index: _FaissIndex, stored: Cache, missing: Sequence[str]) -> str:
    """Say in words how the index differs from the one that these questions were last put to."""
    if not missing or stored.knows_index(index.fingerprint):
        return ""
    last = stored.last_index_asked(missing)
    if last is None:
        return ""
    embeddings, before = last
    now, model = index.text_hashes, embeddings_name(index.store.embeddings)
    changes = {
        "added": sorted(now.keys() - before.keys()),
        "removed": sorted(before.keys() - now.keys()),
        "changed": sorted(
            doc_id for doc_id in now.keys() & before.keys() if now[doc_id] != before[doc_id]
        ),
    }
    said = [f"{len(ids)} {how} ({name_some(ids)})" for how, ids in changes.items() if ids]
    sentences = [f"documents since the last search: {', '.join(said)}"] if said else []
    if embeddings != model:
        sentences.append(f"embeddings were {embeddings}, now {model}")
    return (
        "; ".join(sentences)
        or "the same texts, with other vectors, order or settings since the last search"
    )


# ---------------------------------------------------------------- any other store or retriever


def _search_one_by_one(store: Any, questions: Mapping[str, str], k: int) -> Results:
    hits = {}
    for query_id, question in show_progress(list(questions.items()), "searching", "query"):
        found = _ask(store, question, k)
        hits[query_id] = [as_hit(document, score) for document, score in found[:k]]
    deepest = max(map(len, hits.values()))
    if deepest < k:
        warn_user(
            f"The {type(store).__name__} returned at most {count(deepest, 'hit')} a query although k={k}. "
            f'If the corpus is larger, ask for more: as_retriever(search_kwargs={{"k": {k}}}).'
        )
    scored = any("score" in hit for ranking in hits.values() for hit in ranking)
    return Results(
        hits,
        k,
        score_name=f"score of {type(store).__name__}" if scored else None,
        lower_is_better=direction(Results(hits)),
        searched=len(hits),
        questions=questions,
    )


def _ask(store: Any, question: str, k: int) -> list[tuple["Document", float | None]]:
    if hasattr(store, "similarity_search_with_score"):
        try:
            return [
                (document, float(score))
                for document, score in store.similarity_search_with_score(question, k=k)
            ]
        except NotImplementedError:
            return [(document, None) for document in store.similarity_search(question, k=k)]
    if hasattr(store, "invoke"):
        return [(document, None) for document in store.invoke(question)]
    raise TypeError(
        f"A LangChain vector store or retriever is wanted, found {type(store).__name__}: use build_vectorstore(...)."
    )
