"""Search every query of all_qa once, and keep the results.

With LangChain's FAISS store the queries are embedded as one batch, searched in one index call and
cached; so they are with the kit's BM25, by their words. Any other vector store or retriever is
asked in its own order, several queries at once.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rageval_kit.cache import Cache, Ranking, open_cache
from rageval_kit.documents import Record, doc_id_of, looks_made_up, read_document
from rageval_kit.identity import is_known, model_name, model_settings, without_cache
from rageval_kit.indexes import is_exact, unwritten_settings
from rageval_kit.judgements import AllQA, as_queries
from rageval_kit.messages import (
    as_cutoff,
    count,
    name_some,
    show_progress,
    warn_user,
    wrong_type,
)
from rageval_kit.rankings import Hit, Results
from rageval_kit.retrievers import AnyStore, warn_of_few
from rageval_kit.vectors import (
    Side,
    alike,
    ask,
    batches,
    first_words,
    note_needed,
    probe,
    refuse_zeros,
    unit,
)
from rageval_kit.vectorstore import is_faiss, kept_settings, stored_documents, stored_lengths
from rageval_kit.wording import say, say_some, to_say

if TYPE_CHECKING:
    from langchain_core.documents import Document

Search: TypeAlias = Callable[[Mapping[Any, str], int, str | Path | None], Results]

_BATCH = 256  # queries embedded together
_SEARCHED_AT_ONCE = 4096  # FAISS's own block; of fewer it multiplies matrices half as fast
_CELLS = 2**22  # scores held at once: queries times hits
_BYTES = 2**20  # of an index, hashed at once
_SEARCHED = "What was searched before is kept: the same call goes on from there."
_SPARE = 16  # hits fetched beyond k, to see where a tie ends

# Between equal scores of vectors of length 1, twice what was seen; grows with the squared length.
_NOISE = 2e-6


def search_all(
    vectorstore: Any,
    all_qa: AllQA,
    k: int,
    cache: str | Path | None = None,
    content: str | None = None,
    at_once: int = 8,
) -> Results:
    """Return the first k hits of every query.

    A FAISS store's results are cached under the query's text and a fingerprint of the index
    (vectors, documents, embedding model), so that a changed index is searched again by itself. A
    model of your own class may change unseen: its questions are embedded singly and every time.
    Those of `build_bm25` are cached under the query's words and the documents and theirs. Equal
    scores have one order: the document that was indexed first comes first. Of an approximate index
    a cached result counts for the same k only.

    Any other store cannot be looked into. Its results are cached if you say what it holds: under
    that ``content``, the store's class, code and settings, and the question. When its documents
    change, give the content another name.

    Args:
        vectorstore: from `build_vectorstore` or `build_bm25`, any LangChain vector store (Chroma,
            Qdrant, pgvector, ...), any retriever or other Runnable, or a function ``question ->
            documents``, which may be asynchronous; documents are LangChain's, pairs of one and its
            score, or hits.
        all_qa: dicts with ``query_id`` and ``question`` (or a DataFrame).
        k: how many hits a query; fewer come back if the store holds fewer.
        cache: path of an SQLite file; None keeps the results in memory while Python runs.
        content: what a store holds that is neither FAISS's nor BM25, such as ``"handbook
            2026-11-30"``, and how its server is set (pgvector's hnsw.ef_search), which the kit
            cannot see; those two tell by themselves.
        at_once: how many queries such a store is asked at a time; 1 for one that allows no threads.

    Returns:
        `Results`, a dict ``{query_id: [hit, ...]}`` in the order of all_qa. With the kit's store
        ``score`` is the squared L2 distance, **lower is better**. A retriever's hits have no
        ``score``.

    >>> from rageval_kit import build_vectorstore, load_embeddings
    >>> docs = [{"doc_id": "A", "title": "", "content": "Apples are red."},
    ...         {"doc_id": "B", "title": "", "content": "Buses are late."}]
    >>> vectorstore = build_vectorstore(docs, load_embeddings("chars"))
    >>> results = search_all(vectorstore, [{"query_id": "q1", "question": "Are buses late?"}], k=1)
    >>> results["q1"][0]["doc_id"], results.score_name
    ('B', 'squared L2 distance')

    Raises:
        ValueError: k is not a positive integer, a query_id appears twice, a question is empty, the
            model gives NaN, zeros or vectors of another width than the index, the cache is no file
            that can be used, or a query of another store failed: the message names it, and says
            what is kept.
        KeyError: a query has no query_id or question.
        TypeError: one of these is not a text, or the vectorstore cannot be searched.
    """
    # What is asked for, before anything is embedded.
    k = as_cutoff(k)
    search = as_search(vectorstore, content, at_once)
    queries = as_queries(all_qa, ("query_id", "question"))
    results = search({qa["query_id"]: qa["question"] for qa in queries}, k, cache)
    look_over(results, queries, vectorstore)
    return results


def as_search(vectorstore: Any, content: str | None, at_once: int) -> Search:
    """Return the function that searches this store: it remembers what it embedded or was told.

    Raises:
        TypeError, ValueError: the vectorstore cannot be searched, or an argument is wrong.
    """
    at_once = as_cutoff(at_once, "at_once", most=1_000)
    if content is not None and (not isinstance(content, str) or not content.strip()):
        raise wrong_type("content", 'a text such as "handbook 2026-11-30", or None', content)
    if is_faiss(vectorstore):
        return partial(search_cached, FaissIndex(vectorstore))
    if gives_index(vectorstore):
        return partial(search_cached, vectorstore.as_index())
    return AnyStore(vectorstore, content, at_once).search


def gives_index(vectorstore: Any) -> bool:
    """Say whether it is a retriever of the kit's, which is searched through an `Index`."""
    return hasattr(type(vectorstore), "as_index")


def look_over(results: Results, queries: Sequence[Record], vectorstore: Any) -> None:
    """Warn of fewer hits than were asked for, and of ids that LangChain made up."""
    if not is_faiss(vectorstore) and not gives_index(vectorstore):
        warn_of_few(vectorstore, results)

    # Made up is what looks so where the judgements call documents otherwise.
    judged: set[Any] = set()
    for qa in queries:
        relevant = qa.get("relevant_doc_ids")
        if isinstance(relevant, (list, tuple, dict)):
            judged.update(doc_id for doc_id in relevant if isinstance(doc_id, str))
    if not judged or any(map(looks_made_up, judged)):
        return

    found = dict.fromkeys(hit["doc_id"] for hits in results.values() for hit in hits)
    strange = [doc_id for doc_id in found if looks_made_up(doc_id)]
    if strange:
        warn_user(
            f"{len(strange)} of {count(len(found), 'document')} found have ids such as "
            f"{strange[0]}, which LangChain makes up, and the judgements name documents otherwise "
            f"({name_some(sorted(judged)[:2])}): they can never count as relevant. Give every "
            'document metadata={"doc_id": "doc_001"}; in place of the vectorstore behind a '
            "ParentDocumentRetriever search the retriever itself."
        )


# ---------------------------------------------------------------- a batch at a time, cached


def search_cached(
    index: "Index", questions: Mapping[Any, str], k: int, cache: str | Path | None
) -> Results:
    """Return the first k hits of every question, from the cache where it has them."""
    asked = {query_id: index.asked(question) for query_id, question in questions.items()}
    texts = list(dict.fromkeys(asked.values()))  # a question asked twice is searched once
    if index.embeds:
        note_needed([text for text in texts if text not in index.noted])  # once, however deep
        index.noted.update(texts)
    with open_cache(cache) as stored:
        # What is known needs no vector; else a question is looked at by its own.
        key = index.key(stored)
        kept = stored.rankings(key, texts, k, index.size, exact=index.is_exact)
        rankings = kept if index.is_known else {}
        missing = [text for text in texts if text not in rankings]

        # Against the index that was asked before, so before this one is noted.
        changed = ""
        if not stored.was_asked_last(key):
            now = {"model": index.model, "texts": index.text_hashes()}
            before = stored.contents_before(key, missing)
            changed = _what_changed(before, now) if before else ""
            stored.note_asked(key, now)
        known, found = _search_missing(index, stored, key, missing, k)

    # Only the documents that were found are read.
    rankings = rankings | known | found
    positions = {at for ranking in rankings.values() for at, _ in ranking}
    documents = {at: index.document(at) for at in positions}
    hits = {
        query_id: [{**documents[at], "score": score} for at, score in rankings[text]]
        for query_id, text in asked.items()
    }

    wanted = min(k, index.size)
    short = [query_id for query_id, ranking in hits.items() if len(ranking) < wanted]
    if short:
        warn_user(f"Fewer than {count(wanted, 'hit')} for {name_some(short)}: {index.why_few}")
    return Results(
        hits,
        k,
        index.score_name,
        index.lower_is_better,
        index.fingerprint,
        searched=sum(text in found for text in asked.values()),
        changed=changed or (say(_OTHERWISE) if kept.keys() & found else ""),
        questions=questions,
    )


def _search_missing(
    index: "Index", stored: Cache, key: str, missing: Sequence[str], k: int
) -> tuple[dict[str, Ranking], dict[str, Ranking]]:
    """Return what the cache has for a question's own vector, and what was searched.

    Embedded in small batches and searched in large ones; where a batch fails, those before it are
    searched and kept all the same.
    """
    known: dict[str, Ranking] = {}
    found: dict[str, Ranking] = {}
    waiting: dict[str, Any] = {}  # embedded, to be searched

    def search_waiting() -> None:
        if waiting:
            rankings = index.search(list(waiting.values()), k)
            new = dict(zip(waiting, rankings, strict=True))
            own = None if index.is_known else waiting
            stored.store(key, new, k, own, index.is_exact)
            found.update(new)
            waiting.clear()

    parts = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
    try:
        for batch in show_progress(parts, "searching", "query", len):
            vectors = dict(zip(batch, index.embed(batch), strict=True))
            if not index.is_known:
                known |= stored.rankings(key, batch, k, index.size, vectors, index.is_exact)
            waiting |= {text: vectors[text] for text in batch if text not in known}
            if len(waiting) >= _SEARCHED_AT_ONCE:
                search_waiting()
    finally:
        search_waiting()
    return known, found


_OTHERWISE = to_say("the model embeds questions otherwise (settings, prompt) since the last search")


def _what_changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say in words how an index differs from the one that was last asked."""
    # The documents, by their texts' hashes.
    old, new = before["texts"], now["texts"]
    changes = {
        to_say("{n} added ({ids})"): new.keys() - old.keys(),
        to_say("{n} removed ({ids})"): old.keys() - new.keys(),
        to_say("{n} changed ({ids})"): {
            doc_id for doc_id in new.keys() & old.keys() if new[doc_id] != old[doc_id]
        },
    }
    said = [say(how, n=len(ids), ids=say_some(sorted(ids))) for how, ids in changes.items() if ids]
    sentences = []
    if said:
        sentences.append(say("documents since the last search: {changes}", changes=", ".join(said)))

    # The model; else it is what has no name: vectors, order, a setting.
    if before["model"] != now["model"]:
        sentences.append(
            say("embeddings were {before}, now {now}", before=before["model"], now=now["model"])
        )
    return "; ".join(sentences) or say(
        "the same texts, with other vectors, order or settings since the last search"
    )


# ---------------------------------------------------------------- what is searched


class Index(ABC):
    """Documents in an order, and a way to search them: what `search_cached` sees of an index.

    Attributes:
        size: how many documents it holds.
        model: a name of what a question is searched with, for a reader.
        is_known: whether `key` tells all that it does; else it may change unseen.
        is_exact: whether a question is compared with every document.
        embeds: whether a question becomes a vector.
        fingerprint: a hash of all that decides what a search finds, but for the queries' vectors.
        score_name, lower_is_better: what the scores are, and their direction.
        why_few: a sentence's end: why a question may find fewer documents than there are.
        noted: the questions of which it was counted that they need a vector.
    """

    model: str
    is_known: bool
    is_exact = True
    embeds = False
    fingerprint: str
    score_name: str
    lower_is_better: bool
    why_few: str

    def __init__(self, documents: "Sequence[Document]") -> None:
        self.size = len(documents)
        self._documents = documents
        self._doc_ids = [doc_id_of(document) for document in documents]
        self._contents = [_content(document) for document in documents]
        self.noted: set[str] = set()

    def document(self, position: int) -> Hit:
        """Return ``{"doc_id", "title", "content"}``."""
        return read_document(self._documents[position])

    def stored(self, position: int) -> "Document":
        """Return a copy of a LangChain document: who edits it edits no index."""
        return self._documents[position].model_copy(deep=True)

    def text_hashes(self) -> dict[str, str]:
        """Return a hash of each document's content, by doc_id; chunks of one doc_id share one.

        A document whose id LangChain made up is called by its first words: the id is another one
        after a rebuild.
        """
        hashes: dict[str, str] = {}
        for position, content in enumerate(self._contents):
            name = self._doc_ids[position]
            if looks_made_up(name):
                name = first_words(self.document(position)["content"])
            hashes[name] = _hash(hashes[name] + content) if name in hashes else content
        return hashes

    def asked(self, question: str) -> str:
        """Return what of a question decides what it finds: it is searched and kept under that."""
        return question

    def key(self, stored: Cache) -> str:
        """Return under what the rankings of this index are kept, beside `asked`."""
        return self.fingerprint

    @abstractmethod
    def embed(self, asked: Sequence[str]) -> Any:
        """Return what each is searched with, in order."""

    @abstractmethod
    def search(self, vectors: Any, k: int) -> list[Ranking]:
        """Return the first k of each, best first, equal scores in the order of documents."""


# ---------------------------------------------------------------- FAISS


class FaissIndex(Index):
    """LangChain's FAISS store: vectors and documents in one order."""

    embeds = True
    why_few = (
        "the index searches only a part of itself (an approximate one, such as IVF or HNSW). Let "
        "it look at more: a larger nprobe or efSearch."
    )

    def __init__(self, store: Any) -> None:
        import faiss

        self._index, self._embeddings = store.index, _query_model(store.embedding_function)
        self._told = kept_settings(store)
        self._vectors: dict[str, np.ndarray] = {}  # of questions
        if not hasattr(self._embeddings, "embed_query"):
            wanted = "a LangChain Embeddings object such as load_embeddings()"
            raise wrong_type("the vectorstore's embedding_function", wanted, self._embeddings)
        stored = stored_documents(store)
        if not stored:
            raise ValueError(
                "The vectorstore holds no document (were all deleted?): add some, or rebuild it."
            )

        super().__init__(stored)
        self.model = model_name(store.embedding_function)
        self.is_known = is_known(self._embeddings)
        self.is_exact = is_exact(self._index)
        metric = self._index.metric_type
        self.lower_is_better = metric != faiss.METRIC_INNER_PRODUCT
        self.score_name = {
            faiss.METRIC_INNER_PRODUCT: to_say("inner product"),
            faiss.METRIC_L2: to_say("squared L2 distance"),
        }.get(metric, to_say("distance"))
        self._look_at_lengths(store)

        # All that decides what a search finds. An id that is not in the metadata, as LangChain
        # makes them up, is none of it: identity is the content.
        settings = model_settings(without_cache(self._embeddings)) if self.is_known else None
        told_of_index = self._told | unwritten_settings(self._index)
        told = json.dumps([self._contents, told_of_index, settings], default=str)
        digest = hashlib.sha256(told.encode())
        in_pieces = faiss.PyCallbackIOWriter(digest.update, _BYTES)  # type: ignore[attr-defined]
        faiss.write_index(self._index, in_pieces)
        self.fingerprint = digest.hexdigest()[:32]

    def _look_at_lengths(self, store: Any) -> None:
        """Refuse vectors of zeros, and warn of cosines that are none."""
        lengths = stored_lengths(store)
        self._shortest, self._longest = 0.0, 0.0  # not known
        if lengths is None:
            return
        refuse_zeros(lengths, self._doc_ids)
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
        is_unit = self._shortest > 0.999 and self._longest < 1.001
        lengths = np.linalg.norm(vectors, axis=1)
        odd = lengths[np.abs(lengths - 1) > 0.01]
        if is_unit and self.lower_is_better and odd.size:
            self._shortest = 0.0
            warn_user(
                f"The stored vectors have length 1 and a question's has {odd[0]:.4g}, so that a "
                "distance d is no cosine of 1 - d / 2. Was the store made with normalize_L2=True? "
                "FAISS.load_local(...) forgets that and must be given it again."
            )

    def key(self, stored: Cache) -> str:
        """Return the fingerprint, and of a known model what it is called in this cache."""
        if not self.is_known:
            return self.fingerprint
        vector = probe(self._embeddings, "query", self._index.d)
        return f"{self.fingerprint}-{stored.known_model('query', vector)}"

    def embed(self, asked: Sequence[str]) -> np.ndarray:
        """Embed what this object has not embedded before."""
        new = [question for question in asked if question not in self._vectors]
        if new:
            self._vectors |= zip(new, self._embed(new), strict=True)
        vectors = np.stack([self._vectors[question] for question in asked])
        refuse_zeros(np.linalg.norm(vectors, axis=1), asked, "question")
        return vectors

    def _embed(self, questions: Sequence[str]) -> np.ndarray:
        """Embed as one batch if the model is known to embed a query as a document, else singly.

        Asked of the probe, never of a question: it would stay in whatever keeps the vectors of this
        model's documents.
        """
        side: Side = "query"
        as_one = len(questions) > 1 and self.is_known
        if as_one and alike(probe(self._embeddings, "query"), probe(self._embeddings, "document")):
            parts, side = batches(questions, _BATCH), "document"
        else:
            parts = [slice(None)]
        vectors = [
            ask(self._embeddings, its, its, "question", side, self._index.d, _SEARCHED)
            for its in (questions[part] for part in parts)
        ]
        return np.concatenate(vectors)

    def search(self, vectors: Any, k: int) -> list[Ranking]:
        """Return the first k of each vector, best first, equal scores in the order of documents.

        FAISS orders identical vectors by its own inner workings, and float noise moves equal scores
        apart. Scores that differ by no more than noise are therefore one tie, with one score, in
        the order of the documents. For example, best first:

            score     0.30   0.50   0.50 + noise   0.50 + noise   0.70
            document     7      9              4              6      2
            tie          0      1              1              1      2
            returned     7      4              6              9      2    (4, 6, 9 with score 0.50)
        """
        vectors = np.stack(vectors)
        if self._told["normalize_L2"]:
            vectors = unit(vectors)
        else:
            self._compare_lengths(vectors)
        k = min(k, self.size)
        fetch = k + _SPARE if self.is_exact else k
        return self._search(np.ascontiguousarray(vectors, dtype=np.float32), k, fetch)

    def _search(self, vectors: np.ndarray, k: int, fetch: int) -> list[Ranking]:
        """Fetch so many of each vector, and more where the tie at rank k reaches to the last."""
        # No more at once than memory holds.
        fetch = min(fetch, self.size)
        rows = max(1, _CELLS // fetch)
        if len(vectors) > rows:
            parts = [vectors[start : start + rows] for start in range(0, len(vectors), rows)]
            return [ranking for part in parts for ranking in self._search(part, k, fetch)]

        # In the order of the documents where scores differ by noise.
        scores, positions = self._scored(vectors, fetch)
        noise = _NOISE * np.maximum(np.square(vectors).sum(axis=1), 1e-30)
        ties, shared = group_ties(scores, noise)
        order = np.lexsort((positions, ties))[:, :k]
        best = np.take_along_axis(positions, order, axis=1).tolist()
        their = np.take_along_axis(shared, order, axis=1).tolist()
        rankings = [
            [(at, _shown(score)) for at, score in zip(*ranking, strict=True) if at >= 0]
            for ranking in zip(best, their, strict=True)
        ]

        # Deeper where the tie may go on.
        goes_on = (ties[:, k - 1] == ties[:, -1]) & (positions[:, -1] >= 0)
        if self.is_exact and fetch < self.size and goes_on.any():
            deeper = self._search(vectors[goes_on], k, 2 * fetch)
            for row, ranking in zip(np.flatnonzero(goes_on), deeper, strict=True):
                rankings[row] = ranking
        return rankings

    def _scored(self, vectors: np.ndarray, fetch: int) -> tuple[np.ndarray, np.ndarray]:
        """Return scores and positions, best first.

        For many queries FAISS multiplies matrices, and the last digit of a score then depends on
        the other queries. A flat index works each found score out again by itself.
        """
        import faiss

        scores, positions = self._index.search(vectors, fetch)
        if not self.is_exact or self.score_name == "distance":
            return scores, positions

        x, again, labels = map(faiss.swig_ptr, (vectors, scores, positions))
        self._index.compute_distance_subset(len(vectors), x, fetch, again, labels)
        order = np.argsort(scores if self.lower_is_better else -scores, axis=1, kind="stable")
        return np.take_along_axis(scores, order, 1), np.take_along_axis(positions, order, 1)


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
    return _hash(f"{document.metadata}\0{document.page_content}")


def _shown(score: float) -> float:
    """Return the score as the shortest decimal with seven digits: what a float32 holds."""
    return float(f"{score:.7g}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
