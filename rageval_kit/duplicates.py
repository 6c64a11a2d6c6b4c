"""What repeats do to the scores: find copies, fold them, and build indexes that hold them on purpose."""

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.documents import Docs, as_docs, read_document
from rageval_kit.judgements import AllQA
from rageval_kit.language import split_sentences
from rageval_kit.messages import as_cutoff, name_some
from rageval_kit.rankings import Results, ResultsLike, as_rankings, knowledge
from rageval_kit.search import search_all
from rageval_kit.vectorstore import embed_documents, stored_documents, to_documents

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

SourceOf: TypeAlias = Mapping[str, str] | Callable[[Mapping[str, Any]], str]

_BLOCK = 1_000  # vectors searched at a time
_UNCHANGED = 1 - 1e-6  # cosine of a vector with itself, but for float noise


# ---------------------------------------------------------------- find


def find_duplicates(docs: Docs, vectorstore: "FAISS", threshold: float = 0.95) -> pd.DataFrame:
    """Find exact copies and near copies among the documents.

    Exact copies have the same content after Unicode (NFKC) and white-space normalisation. Near copies
    have vectors with a cosine above the threshold; they are found by FAISS's range search, block by
    block, so that the pairs of a large corpus are never in memory at once.

    Args:
        docs: the documents.
        vectorstore: their FAISS store, which has the vectors.
        threshold: cosine; look at what is just above and below it before you trust it.

    Returns:
        A row a copy: ``group`` (from 1), ``doc_id``, ``copy_of`` (the group's first document in corpus
        order), ``kind`` (exact or near), ``cosine`` of the two, and ``differs``: what one has and the
        other has not.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is a cosine between 0 and 1, found {threshold!r}.")
    texts = {doc["doc_id"]: _content(doc) for doc in as_docs(docs)}
    ids = [
        str(document.metadata.get("doc_id", document.id))
        for document in stored_documents(vectorstore)
    ]
    strangers = sorted(set(ids) ^ texts.keys())
    if strangers:
        raise ValueError(
            f"docs and vectorstore hold different documents: {name_some(strangers)}. Build the store anew."
        )
    vectors = _unit_vectors(vectorstore)
    pairs = [
        *_equal_texts([_normalised(texts[doc_id]) for doc_id in ids]),
        *_near_pairs(vectors, threshold),
    ]
    rows = []
    for group, members in enumerate(_connected(len(ids), pairs), start=1):
        first, *copies = members
        for copy in copies:
            one, other = texts[ids[first]], texts[ids[copy]]
            kind = "exact" if _normalised(one) == _normalised(other) else "near"
            cosine = float(vectors[first] @ vectors[copy])
            rows.append(
                (group, ids[copy], ids[first], kind, round(cosine, 4), _differs(one, other))
            )
    return pd.DataFrame(rows, columns=["group", "doc_id", "copy_of", "kind", "cosine", "differs"])


def _content(doc: Mapping[str, Any]) -> str:
    content = doc.get("content")
    return content if isinstance(content, str) else ""  # an empty cell of a table


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _equal_texts(texts: list[str]) -> Iterator[tuple[int, int]]:
    first: dict[str, int] = {}
    for position, text in enumerate(texts):
        if text and first.setdefault(text, position) != position:
            yield first[text], position


def _unit_vectors(vectorstore: "FAISS") -> np.ndarray:
    vectors = vectorstore.index.reconstruct_n(0, vectorstore.index.ntotal)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _near_pairs(vectors: np.ndarray, threshold: float) -> Iterator[tuple[int, int]]:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    for start in range(0, len(vectors), _BLOCK):
        limits, _, found = index.range_search(vectors[start : start + _BLOCK], threshold)
        rows = start + np.repeat(np.arange(len(limits) - 1), np.diff(limits).astype(int))
        later = found > rows
        yield from zip(rows[later].tolist(), found[later].tolist(), strict=True)


def _connected(n: int, pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Return the groups of two and more that the pairs connect, members in order."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not pairs:
        return []
    one, other = np.array(pairs).T
    _, labels = connected_components(
        coo_array((np.ones(len(one)), (one, other)), shape=(n, n)), directed=False
    )
    groups = defaultdict(list)
    for position, label in enumerate(labels):
        groups[label].append(position)
    return [members for members in groups.values() if len(members) > 1]


def _differs(one: str, other: str) -> str:
    """Say which sentences the copy lacks and which it has more."""
    before, after = (split_sentences(_normalised(text)) for text in (one, other))
    changes = list(difflib.ndiff(before, after))
    lacks = [line[2:] for line in changes if line.startswith("- ")]
    has = [line[2:] for line in changes if line.startswith("+ ")]
    said = [
        f"{name}: {' '.join(lines)[:80]}"
        for name, lines in (("lacks", lacks), ("adds", has))
        if lines
    ]
    return "; ".join(said) or "nothing"


# ---------------------------------------------------------------- fold


def fold(results: ResultsLike, source_of: SourceOf, k: int) -> Results:
    """Turn hits of chunks or copies into hits of their source documents: the first stays, the gap is closed.

    Args:
        results: searched deeper than k, since repeats fall away; `search_folded` searches as deep as needed.
        source_of: ``{chunk_id: source_id}`` (a doc_id that is not in it is its own source), or a
            function from a hit to the source's doc_id.
        k: how many documents must remain.

    Raises:
        ValueError: fewer than k documents remain for a query, although its ranking was cut off.
    """
    k, results = as_cutoff(k), as_rankings(results)
    folded = {query_id: _fold_ranking(hits, source_of) for query_id, hits in results.items()}
    short = _cut_short(folded, results, k)
    if short:
        raise ValueError(
            f"Fewer than {k} documents remain for {name_some(short)}: repeats took their places. Search deeper than "
            f"k={max(map(len, results.values()))}, or use search_folded(...), which does."
        )
    return results.with_hits({query_id: hits[:k] for query_id, hits in folded.items()}, k)


def search_folded(
    vectorstore: Any, all_qa: AllQA, k: int, source_of: SourceOf, cache: Any = None
) -> Results:
    """Search and fold, as deep as it takes to leave k documents for every query. Arguments: `search_all`, `fold`."""
    k = as_cutoff(k)
    depth = 2 * k
    while True:
        results = search_all(vectorstore, all_qa, depth, cache)
        folded = {query_id: _fold_ranking(hits, source_of) for query_id, hits in results.items()}
        if not _cut_short(folded, results, k):
            return results.with_hits({query_id: hits[:k] for query_id, hits in folded.items()}, k)
        depth *= 2


def _fold_ranking(hits: Sequence[Mapping[str, Any]], source_of: SourceOf) -> list[dict[str, Any]]:
    if not callable(source_of) and not isinstance(source_of, Mapping):
        raise TypeError(
            "source_of must be a dict {chunk_id: source_id} or a function from a hit to its source, "
            f"found {type(source_of).__name__}."
        )
    first: dict[str, dict[str, Any]] = {}
    for hit in hits:
        source = (
            source_of(hit) if callable(source_of) else source_of.get(hit["doc_id"], hit["doc_id"])
        )
        first.setdefault(source, {**hit, "doc_id": source})
    return list(first.values())


def _cut_short(folded: Mapping[str, list[Any]], results: Results, k: int) -> list[str]:
    """Name the queries with fewer than k documents whose ranking would have gone on."""
    depth = knowledge(results).get("k", 0) or max(map(len, results.values()), default=0)
    return [
        query_id
        for query_id, hits in folded.items()
        if len(hits) < k and len(results[query_id]) >= depth
    ]


# ---------------------------------------------------------------- indexes that hold copies


def duplicate_index(
    vectorstore: "FAISS",
    times: int = 2,
    share: float = 1.0,
    change: Callable[[str], str] | None = None,
    rng: np.random.Generator | int = 0,
) -> tuple["FAISS", dict[str, str]]:
    """Build an index in which documents stand several times, for the experiment: originals before copies.

    Args:
        vectorstore: the store of the originals; it is not changed.
        times: how often a copied document stands in the new index, itself included.
        share: the share of the documents that is copied; which ones is drawn at random.
        change: for near copies: turns a document's content into the copy's, which is then embedded. None
            copies text and vector as they are, and embeds nothing.
        rng: a seed, or a generator to draw from.

    Returns:
        The new store, and ``source_of``: the doc_id of each copy (such as ``doc_001#2``) -> its original.
    """
    if times < 2 or not 0 < share <= 1:
        raise ValueError(
            f"times must be at least 2 and share in 0..1 and above 0, found times={times}, share={share}."
        )
    documents = stored_documents(vectorstore)
    n = len(documents)
    chosen = np.arange(n)
    if share < 1:
        chosen = np.random.default_rng(rng).choice(n, round(n * share), replace=False)
    vectors = vectorstore.index.reconstruct_n(0, n)
    copies: list[Document] = []
    copy_vectors: list[np.ndarray] = []
    source_of: dict[str, str] = {}
    for number in range(
        2, times + 1 if len(chosen) else 2
    ):  # a small share of few documents may be none
        batch = [_copy(documents[position], number, change) for position in chosen]
        source_of |= {
            str(copy.id): documents[position].metadata["doc_id"]
            for copy, position in zip(batch, chosen, strict=True)
        }
        copies += batch
        copy_vectors.append(
            vectors[chosen]
            if change is None
            else embed_documents(batch, vectorstore.embedding_function)
        )
    everything, all_vectors = [*documents, *copies], np.concatenate([vectors, *copy_vectors])
    store = type(vectorstore).from_embeddings(
        [
            (document.page_content, vector)
            for document, vector in zip(everything, all_vectors, strict=True)
        ],
        vectorstore.embedding_function,
        metadatas=[document.metadata for document in everything],
        ids=[str(document.id) for document in everything],
        distance_strategy=vectorstore.distance_strategy,
        normalize_L2=vectorstore._normalize_L2,
    )
    return store, source_of


def _copy(document: "Document", number: int, change: Callable[[str], str] | None) -> "Document":
    doc_id = f"{document.metadata['doc_id']}#{number}"
    text = document.page_content
    if change:
        hit = read_document(document)
        (changed,) = to_documents(
            [{"doc_id": doc_id, "title": hit["title"], "content": change(hit["content"])}]
        )
        text = changed.page_content
    return document.model_copy(
        update={
            "id": doc_id,
            "page_content": text,
            "metadata": document.metadata | {"doc_id": doc_id},
        }
    )


def unread_tails(docs: Docs, embeddings: "Embeddings") -> pd.DataFrame:
    """Find documents whose last sentence the model never reads: their vector does not change without it.

    Models cut long texts off. A copy that differs only behind the cut is a near copy as text, and an
    exact copy to the model.

    Returns:
        A row a document of two sentences or more: ``doc_id``, ``sentences``, ``cosine`` of the vectors
        with and without the last sentence, and whether it is ``unread`` (cosine 1).
    """
    rows = [doc for doc in as_docs(docs) if len(split_sentences(_content(doc))) > 1]
    if not rows:
        return pd.DataFrame(columns=["doc_id", "sentences", "cosine", "unread"])
    shorter = [dict(doc) | {"content": _without_last_sentence(doc["content"])} for doc in rows]
    whole, cut = (
        _normalise(embed_documents(to_documents(version), embeddings))
        for version in (rows, shorter)
    )
    cosine = (whole * cut).sum(axis=1)
    return pd.DataFrame(
        {
            "doc_id": [doc["doc_id"] for doc in rows],
            "sentences": [len(split_sentences(doc["content"])) for doc in rows],
            "cosine": cosine,
            "unread": cosine >= _UNCHANGED,
        }
    )


def _without_last_sentence(text: str) -> str:
    text = text.rstrip()
    return text[: -len(split_sentences(text)[-1])].rstrip()


def _normalise(vectors: np.ndarray) -> np.ndarray:
    vectors = vectors.astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
