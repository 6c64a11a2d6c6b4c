"""Search every query of all_qa once, and keep the results.

With LangChain's FAISS store the queries are embedded as one batch, searched in one index call and
cached. Any other vector store or retriever is asked query by query, in its own order.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.cache import Ranking, SearchCache, open_cache
from rageval_kit.checks import as_cutoff, name_some, warn_user
from rageval_kit.dataset import Records, as_records
from rageval_kit.embeddings import embeddings_name, embeddings_settings
from rageval_kit.vectorstore import stored_documents

if TYPE_CHECKING:
    from langchain_core.documents import Document

Hit: TypeAlias = dict[str, Any]

_BATCH = 256  # queries embedded, searched and stored together
_SPARE = 16  # hits fetched beyond k, to see where a tie ends
_DECIMALS = 5  # of a score between vectors of length 1; the float noise is below 1e-6


class Results(dict[str, list[Hit]]):
    """The hits of every query: ``{query_id: [{"doc_id", "title", "content", "score"}, ...]}``, best first.

    A dict of lists that also knows what was searched:

    Attributes:
        k: how many hits a query were asked for.
        score_name: what the scores are, e.g. "squared L2 distance"; None without scores.
        lower_is_better: the scores' direction; None where it cannot be told.
        index: the fingerprint of the index that was searched; None for a store that has none.
        searched, cached: how many queries were searched now, and how many came from the cache.
        changed: what changed since these queries were last cached, in words; "" if nothing did.
    """

    def __init__(
        self,
        hits: Mapping[str, list[Hit]],
        k: int,
        score_name: str | None = None,
        lower_is_better: bool | None = None,
        index: str | None = None,
        searched: int = 0,
        changed: str = "",
    ) -> None:
        super().__init__(hits)
        self.k = k
        self.score_name = score_name
        self.lower_is_better = lower_is_better
        self.index = index
        self.searched = searched
        self.cached = len(self) - searched
        self.changed = changed

    def __repr__(self) -> str:
        direction = {True: ", lower is better", False: ", higher is better", None: ""}[self.lower_is_better]
        changed = f"; {self.changed}" if self.changed else ""
        return (
            f"Results of {len(self)} queries, k={self.k}; score: {self.score_name}{direction}; "
            f"{self.searched} searched, {self.cached} from the cache{changed}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a hit: ``query_id, rank, doc_id, title, score``; rank counts from 1."""
        rows = [
            (query_id, rank, hit["doc_id"], hit["title"], hit.get("score", np.nan))
            for query_id, hits in self.items()
            for rank, hit in enumerate(hits, start=1)
        ]
        return pd.DataFrame(rows, columns=["query_id", "rank", "doc_id", "title", "score"])


def search_all(vectorstore: Any, all_qa: Records, k: int, cache: str | Path | None = None) -> Results:
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
    questions = _questions(all_qa)
    if hasattr(vectorstore, "index_to_docstore_id") and vectorstore.embeddings is not None:
        return _search_faiss(_FaissIndex(vectorstore), questions, k, cache)
    if cache is not None:
        warn_user(
            f"A {type(vectorstore).__name__} cannot be fingerprinted, so its results are not cached: "
            "they could be stale without a sign. FAISS stores are cached."
        )
    return _search_one_by_one(vectorstore, questions, k)


def _questions(all_qa: Records) -> dict[str, str]:
    questions: dict[str, str] = {}
    for position, qa in enumerate(as_records(all_qa, "all_qa"), start=1):
        for field in ("query_id", "question"):
            if field not in qa:
                raise KeyError(
                    f"all_qa, entry {position}: the field {field} is missing (found {', '.join(map(str, qa))})."
                )
            if not isinstance(qa[field], str):
                raise TypeError(
                    f"all_qa, entry {position}: {field} must be a text, "
                    f"found {type(qa[field]).__name__} {qa[field]!r}. "
                    "validate_dataset(docs, all_qa) lists every such mistake."
                )
        query_id, question = qa["query_id"], qa["question"]
        if not question.strip():
            raise ValueError(f"{query_id}: the question is empty. Ask something, or take the query out.")
        if query_id in questions:
            raise ValueError(
                f"query_id {query_id!r} stands twice (again in entry {position}). Give each query its own id."
            )
        questions[query_id] = question
    if not questions:
        raise ValueError("all_qa is empty: there is nothing to search for.")
    return questions


def _as_hit(document: "Document", score: float | None) -> Hit:
    doc_id = document.metadata.get("doc_id", document.id)
    if not isinstance(doc_id, str):
        raise ValueError(
            f"A document of the store has no doc_id (metadata: {', '.join(document.metadata) or 'none'}; "
            f"id: {document.id!r}). "
            'Give every document metadata={"doc_id": "doc_001"}, the id that relevant_doc_ids name.'
        )
    title = document.metadata.get("title") or ""
    content = document.page_content.removeprefix(f"{title}\n")
    hit: Hit = {"doc_id": doc_id, "title": title, "content": content}
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
        return {str(document.id): _hash(document.model_dump_json()) for document in self.documents}

    @cached_property
    def model(self) -> str:
        return json.dumps(
            [embeddings_name(self.store.embeddings), embeddings_settings(self.store.embeddings)], default=str
        )

    @cached_property
    def fingerprint(self) -> str:
        import faiss

        documents = json.dumps(list(self.text_hashes.items()))
        return _hash(
            self.model, str(self.store._normalize_L2), documents, faiss.serialize_index(self.store.index).tobytes()
        )

    @property
    def higher_is_better(self) -> bool:
        import faiss

        return bool(self.store.index.metric_type == faiss.METRIC_INNER_PRODUCT)

    @property
    def score_name(self) -> str:
        import faiss

        names = {faiss.METRIC_INNER_PRODUCT: "inner product", faiss.METRIC_L2: "squared L2 distance"}
        return names.get(self.store.index.metric_type, "distance")


def _hash(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def _search_faiss(index: _FaissIndex, questions: Mapping[str, str], k: int, cache: str | Path | None) -> Results:
    texts = list(dict.fromkeys(questions.values()))  # a question asked twice is searched once
    with open_cache(cache) as stored:
        rankings = stored.rankings(index.fingerprint, texts, k)
        missing = [text for text in texts if text not in rankings]
        changed = _what_changed(index, stored, missing)
        if missing:
            stored.remember_index(index.fingerprint, embeddings_name(index.store.embeddings), index.text_hashes)
        for batch in _batches(missing):
            found = dict(zip(batch, _rank(index, _embed_queries(index, batch, stored), k), strict=True))
            stored.store(index.fingerprint, found, k)
            rankings |= found
    hits = {
        query_id: [_as_hit(index.documents[position], score) for position, score in rankings[question]]
        for query_id, question in questions.items()
    }
    searched = sum(question in set(missing) for question in questions.values())
    return Results(hits, k, index.score_name, not index.higher_is_better, index.fingerprint, searched, changed)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    from tqdm.auto import tqdm

    for start in tqdm(range(0, len(texts), _BATCH), desc="searching", unit="batch", delay=3, leave=False):
        yield texts[start : start + _BATCH]


def _embed_queries(index: _FaissIndex, texts: list[str], stored: SearchCache) -> np.ndarray:
    """Embed the queries as one batch, or one by one if the model embeds a query unlike a document."""
    embeddings = index.store.embeddings
    alike = stored.embeds_queries_alike(index.model)
    if len(texts) == 1 or alike is False:
        vectors = np.asarray([embeddings.embed_query(text) for text in texts], dtype=np.float32)
    else:
        vectors = np.asarray(embeddings.embed_documents(texts), dtype=np.float32)
        if alike is None:
            first = np.asarray(embeddings.embed_query(texts[0]), dtype=np.float32)
            alike = _cosine(first, vectors[0]) > 0.9999
            stored.remember_queries_alike(index.model, alike)
            if not alike:
                vectors = np.asarray([first, *(embeddings.embed_query(text) for text in texts[1:])], dtype=np.float32)
    _refuse_bad_queries(vectors, texts, index.store.index.d)
    return vectors


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other) or 1.0))


def _refuse_bad_queries(vectors: np.ndarray, texts: Sequence[str], width: int) -> None:
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise ValueError(
            f"The embeddings gave an array of shape {vectors.shape} for {len(texts)} questions; wanted one vector each."
        )
    if vectors.shape[1] != width:
        raise ValueError(
            f"The index holds vectors of {width} dimensions, the embeddings give {vectors.shape[1]} for a question. "
            "Search with the model the vectorstore was built with, or build it anew."
        )
    broken = [text for text, vector in zip(texts, vectors, strict=True) if not np.isfinite(vector).all()]
    if broken:
        raise ValueError(f"The embeddings gave NaN or infinite numbers for the question: {name_some(broken)}.")


def _rank(index: _FaissIndex, vectors: np.ndarray, k: int) -> list[Ranking]:
    """Search all vectors in one call and return the first k of each, ties in the order of the corpus.

    FAISS orders identical vectors by its own inner workings, and float noise moves equal scores
    apart: scores are rounded, and more is fetched as long as a tie reaches past what was fetched.
    """
    faiss_index = index.store.index
    vectors = np.ascontiguousarray(vectors)
    if index.store._normalize_L2:
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    k = min(k, faiss_index.ntotal)
    fetch = min(k + _SPARE, faiss_index.ntotal)
    while True:
        raw, positions = faiss_index.search(vectors, fetch)
        scores = _rounded(raw.astype(np.float64), np.square(vectors).sum(axis=1))
        ties_reach_further = (scores[:, k - 1] == scores[:, -1]) & (positions[:, -1] >= 0)
        if fetch == faiss_index.ntotal or not ties_reach_further.any():
            break
        fetch = min(2 * fetch, faiss_index.ntotal)
    order = np.lexsort((positions, -scores if index.higher_is_better else scores))[:, :k]
    return [
        [(int(position), float(score)) for position, score in zip(row[o], values[o], strict=True) if position >= 0]
        for row, values, o in zip(positions, scores, order, strict=True)
    ]


def _rounded(scores: np.ndarray, squared_lengths: np.ndarray) -> np.ndarray:
    """Round to five decimals for vectors of length 1, and to as many digits for longer or shorter ones."""
    decimals = _DECIMALS - np.round(np.log10(np.maximum(squared_lengths, 1e-30)))
    scale = 10.0 ** decimals[:, None]
    return np.round(scores * scale) / scale


def _what_changed(index: _FaissIndex, stored: SearchCache, missing: Sequence[str]) -> str:
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
        "changed": sorted(doc_id for doc_id in now.keys() & before.keys() if now[doc_id] != before[doc_id]),
    }
    said = [f"{len(ids)} {how} ({name_some(ids)})" for how, ids in changes.items() if ids]
    sentences = [f"documents since the last search: {', '.join(said)}"] if said else []
    if embeddings != model:
        sentences.append(f"embeddings were {embeddings}, now {model}")
    return "; ".join(sentences) or "the same texts, with other vectors, order or settings since the last search"


# ---------------------------------------------------------------- any other store or retriever


def _search_one_by_one(store: Any, questions: Mapping[str, str], k: int) -> Results:
    from tqdm.auto import tqdm

    hits = {}
    for query_id, question in tqdm(questions.items(), desc="searching", unit="query", delay=3, leave=False):
        found = _ask(store, question, k)
        hits[query_id] = [_as_hit(document, score) for document, score in found[:k]]
    lower = _lower_is_better(hits)
    scored = any("score" in hit for ranking in hits.values() for hit in ranking)
    return Results(hits, k, f"score of {type(store).__name__}" if scored else None, lower, searched=len(hits))


def _ask(store: Any, question: str, k: int) -> list[tuple["Document", float | None]]:
    if hasattr(store, "similarity_search_with_score"):
        try:
            return [(document, float(score)) for document, score in store.similarity_search_with_score(question, k=k)]
        except NotImplementedError:
            return [(document, None) for document in store.similarity_search(question, k=k)]
    if hasattr(store, "invoke"):
        return [(document, None) for document in store.invoke(question)]
    raise TypeError(
        f"A LangChain vector store or retriever is wanted, found {type(store).__name__}: use build_vectorstore(...)."
    )


def _lower_is_better(hits: Mapping[str, list[Hit]]) -> bool | None:
    """Tell the direction of a foreign store's scores from the order it gave its hits in."""
    steps = [
        later["score"] - earlier["score"]
        for ranking in hits.values()
        for earlier, later in pairwise(ranking)
        if "score" in earlier and "score" in later
    ]
    rises, falls = any(step > 0 for step in steps), any(step < 0 for step in steps)
    return None if rises == falls else rises
