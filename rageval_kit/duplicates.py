"""What repeats do to the scores: find copies, fold them, and build indexes that hold some."""

import difflib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from rageval_kit.documents import Docs, Record, as_docs, doc_id_of, field_text, read_document
from rageval_kit.indexes import flat_index
from rageval_kit.judgements import (
    AllQA,
    as_objects,
    as_queries,
    read_judgements,
    refuse_strange_ids,
    relevant_grades,
)
from rageval_kit.language import equal_text_key, split_sentences
from rageval_kit.messages import (
    as_cutoff,
    is_number,
    name_some,
    shown,
    warn_user,
    wrong_type,
)
from rageval_kit.rankings import Hit, Results, ResultsLike, as_rankings, direction, run_both_ways
from rageval_kit.search import as_search, look_over
from rageval_kit.vectors import unit
from rageval_kit.vectorstore import (
    assemble,
    embed_documents,
    kept_settings,
    refuse_other_stores,
    stored_documents,
    stored_vectors,
    to_documents,
)
from rageval_kit.wording import say, to_say

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

FoldBy: TypeAlias = Literal["first", "max", "mean", "sum"]
SourceOf: TypeAlias = Mapping[str, str] | Callable[[Mapping[str, Any]], str]

_BLOCK = 1_000  # vectors searched at a time
_UNCHANGED = 1 - 1e-6  # cosine of a vector with itself, but for float noise
_MOST = 10_000_000  # documents in an index that holds copies


# ---------------------------------------------------------------- find


def find_duplicates(docs: Docs, vectorstore: "FAISS", threshold: float = 0.95) -> pd.DataFrame:
    """Find exact copies and near copies among the documents.

    Exact copies have the same content but for its Unicode form (NFKC) and white space. Near copies
    have vectors with a cosine above the threshold; they are found by FAISS's range search, block by
    block, so that the pairs of a large corpus are never in memory at once.

    Args:
        docs: the documents.
        vectorstore: their FAISS store, which has the vectors.
        threshold: cosine; look at what is just above and below it before you trust it.

    Returns:
        A row a copy: ``group`` (from 1), ``doc_id``, ``copy_of`` (the group's first document in
        corpus order), ``kind`` (exact or near), ``cosine`` of the two, and ``differs``: what one
        has and the other has not.

    >>> from rageval_kit import build_vectorstore, load_embeddings
    >>> docs = [{"doc_id": "A", "content": "It rains."}, {"doc_id": "B", "content": "It  rains."}]
    >>> find_duplicates(docs, build_vectorstore(docs, load_embeddings("chars")))[["doc_id", "kind"]]
      doc_id   kind
    0      B  exact

    Raises:
        ValueError: the threshold is no cosine, or docs and vectorstore hold different documents.
        TypeError, KeyError: docs are not documents with a content, or the store is not FAISS's.
    """
    if not is_number(threshold) or not 0 < threshold <= 1:
        raise ValueError(f"threshold is a cosine between 0 and 1, found {threshold!r}.")
    docs = as_docs(docs, ("doc_id", "content"))
    contents = {doc["doc_id"]: field_text(doc, "content") for doc in docs}
    refuse_other_stores(vectorstore)
    stored = stored_documents(vectorstore)
    ids = [doc_id_of(document) for document in stored]
    _refuse_other_documents(ids, contents)

    # Group what is alike; a group is known by its first document.
    texts = [equal_text_key(contents[doc_id]) for doc_id in ids]
    whole = [equal_text_key(document.page_content) for document in stored]
    vectors = unit(stored_vectors(vectorstore))
    first = _first_alike(texts, whole, vectors, threshold)

    # A row a copy, groups in the order of their first documents.
    copies = np.flatnonzero(first != np.arange(len(ids)))
    copies = copies[np.argsort(first[copies], kind="stable")]
    groups, _ = pd.factorize(first[copies])
    rows = []
    for group, original, copy in zip(groups + 1, first[copies], copies, strict=True):
        one, other = texts[original], texts[copy]
        kind = "exact" if one == other else "near"
        cosine = round(float(vectors[original] @ vectors[copy]), 4)
        rows.append((group, ids[copy], ids[original], kind, cosine, _differs(one, other)))
    return pd.DataFrame(rows, columns=["group", "doc_id", "copy_of", "kind", "cosine", "differs"])


def _first_alike(
    texts: Sequence[str], whole: Sequence[str], vectors: np.ndarray, threshold: float
) -> np.ndarray:
    """Return for every document the first of its group: equal content, or vectors that are near."""
    import faiss

    everyone, distinct = np.arange(len(texts)), _first_of_each(whole)
    first = _join(_join(everyone, everyone, _first_of_each(texts)), everyone, distinct)

    # Block by block; of documents whose whole text is equal only the first is compared.
    compared = np.unique(distinct)
    index = flat_index(vectors[compared], faiss.METRIC_INNER_PRODUCT)
    for start in range(0, len(compared), _BLOCK):
        block = compared[start : start + _BLOCK]
        limits, _, found = index.range_search(vectors[block], threshold)
        first = _join(first, np.repeat(block, np.diff(limits.astype(int))), compared[found])
    return first


def _refuse_other_documents(ids: Sequence[str], contents: Mapping[str, str]) -> None:
    """Refuse a store that does not hold each of the documents, once."""
    strangers = sorted(set(ids) ^ contents.keys())
    if strangers:
        found = f"docs and vectorstore hold different documents: {name_some(strangers)}"
        raise ValueError(f"{found}. Rebuild the store: build_vectorstore(docs, embeddings).")
    twice = [doc_id for doc_id, times in Counter(ids).items() if times > 1]
    if twice:
        found = f"A doc_id appears twice in the vectorstore: {name_some(twice)}"
        raise ValueError(f"{found}. Give each document its own id and rebuild the store.")


def _first_of_each(keys: Sequence[str]) -> np.ndarray:
    """Return for each key the position of the first that is equal; an empty one is its own."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(key, at) if key else at for at, key in enumerate(keys)], int)


def _join(first: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Join the groups of each pair; ``first`` is the first member of every document's group.

    >>> _join(np.array([0, 1, 1, 3]), np.array([3]), np.array([2])).tolist()
    [0, 1, 1, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    everyone = np.arange(len(first))
    ends = np.concatenate([one, everyone]), np.concatenate([other, first])
    graph = coo_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(len(first), len(first)))
    _, group = connected_components(graph, directed=False)
    _, its_first = np.unique(group, return_index=True)
    return its_first[group]


def _differs(one: str, other: str) -> str:
    """Say which sentences the copy lacks and which it has more."""
    changes, said = list(difflib.ndiff(split_sentences(one), split_sentences(other))), []
    for name, mark in ((say("lacks"), "- "), (say("adds"), "+ ")):
        sentences = " ".join(line[2:] for line in changes if line.startswith(mark))
        said += [f"{name}: {sentences[:80]}"] if sentences else []
    return "; ".join(said) or say("nothing")


# ---------------------------------------------------------------- fold


def fold(results: ResultsLike, source_of: SourceOf, k: int, by: FoldBy = "first") -> Results:
    """Turn hits of chunks or copies into hits of their sources: the first stays, the gap is closed.

    Args:
        results: searched deeper than k, since repeats fall away; `search_folded` searches as deep
            as needed.
        source_of: ``{chunk_id: source_id}`` (a doc_id that is not in it is its own source), or a
            function from a hit to the source's doc_id.
        k: how many documents are wanted.
        by: where a source is ranked: where its ``"first"`` hit is, or by the ``"max"`` (the best),
            ``"mean"`` or ``"sum"`` of the scores of those of its hits that the search brought.
            Squared L2 distances d are summed as 1 - d / 2, the cosine of vectors of length 1.

    >>> results = {"q1": [{"doc_id": "A#2"}, {"doc_id": "A"}, {"doc_id": "B"}]}
    >>> fold(results, {"A#2": "A"}, k=2)["q1"]
    [{'doc_id': 'A'}, {'doc_id': 'B'}]

    Where fewer than k documents remain for a query although its ranking was cut off, a warning says
    so. all_qa must judge sources too: `fold_judgements`.

    Raises:
        ValueError: the scores are distances that have no sum, or their direction is not known.
        KeyError: a hit has no score to rank by.
        TypeError: results, source_of or what it gives for a hit is of another kind.
    """
    if not isinstance(by, str) or by not in get_args(FoldBy):
        choices = ", ".join(map(repr, get_args(FoldBy)))
        raise ValueError(f"by={shown(by)} is no way to fold. Choose one of: {choices}.")
    k, results = as_cutoff(k), as_rankings(results)
    folded, short = _fold(results, source_of, k, by)
    if short:
        depth, least = max(map(len, results.values())), min(len(folded[q]) for q in short)
        came = f"fewer than {k} documents remain for {name_some(short)} (at least {least})"
        cure = f"Search deeper than k={depth}, or use search_folded(...), which does"
        warn_user(f"{came}: repeats took their places. {cure}.")
    return folded


def fold_judgements(all_qa: AllQA, source_of: SourceOf) -> list[Record]:
    """Turn judgements of chunks or copies into judgements of their sources, as `fold` turns hits.

    A source has the highest grade of its chunks and copies.

    Args:
        all_qa: see `relevance_matrix`.
        source_of: see `fold`; a function gets a hit that holds nothing but the doc_id.

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": {"A#1": 1, "A#2": 2, "B": 0}}]
    >>> fold_judgements(all_qa, {"A#1": "A", "A#2": "A"})
    [{'query_id': 'q1', 'relevant_doc_ids': {'A': 2.0, 'B': 0.0}}]

    Raises:
        TypeError, KeyError: all_qa or source_of is of another kind.
        ValueError: the function needs more of a hit than its doc_id.
    """
    _want_source_of(source_of)
    queries = as_queries(all_qa)
    read_judgements(queries)  # refuses what metrics would refuse

    folded: list[Record] = []
    for qa in queries:
        grades = relevant_grades(qa)
        try:
            sources = _sources([{"doc_id": doc_id} for doc_id in grades], source_of)
        except KeyError as error:
            lacking = f"source_of asks a hit for {error}, and a judgement has only its doc_id"
            raise ValueError(f"{lacking}. Give a dict {{chunk_id: source_id}}.") from error

        highest: dict[Any, float] = {}
        for source, grade in zip(sources, grades.values(), strict=True):
            highest[source] = max(grade, highest.get(source, grade))
        folded.append({**qa, "relevant_doc_ids": highest})
    return folded


def search_folded(
    vectorstore: Any,
    all_qa: AllQA,
    k: int,
    source_of: SourceOf,
    cache: str | Path | None = None,
    content: str | None = None,
    at_once: int = 8,
) -> Results:
    """Search and fold, as deep as it takes to leave k documents for every query.

    A question is embedded once, and asked again only where its hits were too few. Arguments,
    results and errors as in `search_all` and `fold`.
    """
    k = as_cutoff(k)
    search = as_search(vectorstore, content, at_once)
    queries = as_queries(all_qa, ("query_id", "question"))
    questions = {qa["query_id"]: qa["question"] for qa in queries}

    # Twice as deep each time, for those that are short of documents.
    depth = 2 * k
    folded, short = _fold(search(questions, depth, cache), source_of, k)
    while short:
        depth *= 2
        deeper = search({query_id: questions[query_id] for query_id in short}, depth, cache)
        more, short = _fold(deeper, source_of, k)
        folded = folded.with_hits({**folded, **more}, k)
        folded.folded |= more.folded
    look_over(folded, queries, vectorstore)
    return folded


def _fold(
    results: Results, source_of: SourceOf, k: int, by: FoldBy = "first"
) -> tuple[Results, list[Any]]:
    """Return the first k sources of each query, and which have fewer though cut off."""
    _want_source_of(source_of)
    if by != "first":
        results = _ranked_by(by, results, source_of)
    folded: dict[Any, list[Hit]] = {}
    became = {} if callable(source_of) else dict(source_of)
    for query_id, hits in results.items():
        first: dict[Any, Hit] = {}
        for source, hit in zip(_sources(hits, source_of), hits, strict=True):
            first.setdefault(source, {**hit, "doc_id": source})
            became[hit["doc_id"]] = source
        folded[query_id] = list(first.values())

    # A ranking was cut off if it is as long as was asked for, or as the longest where that is
    # not known.
    depth = results.k or max(map(len, results.values()), default=0)
    short = [q for q, hits in folded.items() if len(hits) < k and len(results[q]) >= depth]
    cut = results.with_hits({query_id: hits[:k] for query_id, hits in folded.items()}, k)

    # Who is judged and gone can be told, unless chunks are numbered as documents are.
    gone = {doc_id: source for doc_id, source in became.items() if doc_id != source}
    cut.folded |= gone if gone.keys().isdisjoint(gone.values()) else {}
    return cut, short


def _want_source_of(source_of: Any) -> None:
    if not callable(source_of) and not isinstance(source_of, Mapping):
        wanted = "a dict {chunk_id: source_id} or a function from a hit to its source"
        raise wrong_type("source_of", wanted, source_of)
    if isinstance(source_of, Mapping):
        refuse_strange_ids(as_objects(list(source_of.values())), "doc_id", "source_of")


def _sources(hits: Sequence[Hit], source_of: SourceOf) -> list[Any]:
    """Return the source of each hit."""
    if callable(source_of):
        sources = [source_of(hit) for hit in hits]
    else:
        sources = [source_of.get(hit["doc_id"], hit["doc_id"]) for hit in hits]
    refuse_strange_ids(as_objects(sources), "doc_id", "source_of")
    return sources


def _ranked_by(by: FoldBy, results: Results, source_of: SourceOf) -> Results:
    """Return the hits of every source under one score, made of all of theirs, and ranked by it."""
    lower = _direction_to_fold(results)
    if by == "sum" and lower:
        results, lower = _as_cosines(results), False
    ways: dict[str, Callable[[list[float]], float]] = {"mean": fmean, "sum": sum}
    together = ways.get(by, min if lower else max)

    ranked = {}
    for query_id, hits in results.items():
        sources = _sources(hits, source_of)
        scores: dict[Any, list[float]] = defaultdict(list)
        for source, hit in zip(sources, hits, strict=True):
            scores[source].append(float(hit["score"]))
        score = {source: together(its) for source, its in scores.items()}

        # Equal scores keep their order.
        again = [{**hit, "score": score[source]} for source, hit in zip(sources, hits, strict=True)]
        ranked[query_id] = sorted(again, key=itemgetter("score"), reverse=not lower)
    return results.with_hits(ranked, results.k)


def _direction_to_fold(results: Results) -> bool | None:
    """Say whether lower scores are better; refuse results that do not tell, or have no scores."""
    for query_id, hits in results.items():
        for rank, hit in enumerate(hits, start=1):
            if hit.get("score") is None:
                raise KeyError(
                    f"results, {query_id}, rank {rank}: the hit {hit['doc_id']} has no score to "
                    'fold by. Fold by="first", or keep the scores of the search.'
                )
    if run_both_ways(results):
        raise ValueError(
            "The scores rise in one ranking and fall in another: is lower or higher better? Say "
            "it, results.lower_is_better = True, or look at the search."
        )
    return direction(results)


def _as_cosines(results: Results) -> Results:
    """Return squared L2 distances d as 1 - d / 2: more hits must not make a source worse."""
    if results.score_name != "squared L2 distance":
        raise ValueError(
            "The scores are lower when better, and a sum of them would rank a source the worse "
            'the more of it is found. Fold by="max" or "mean", or turn them into similarities.'
        )
    hits = {
        query_id: [{**hit, "score": 1 - hit["score"] / 2} for hit in its]
        for query_id, its in results.items()
    }
    named = {"score_name": to_say("sum of cosines"), "lower_is_better": False}
    return Results(hits, **results.known | named)


# ---------------------------------------------------------------- indexes that hold copies


def duplicate_index(
    vectorstore: "FAISS",
    times: int = 2,
    share: float = 1.0,
    change: Callable[[str], str] | None = None,
    rng: np.random.Generator | int = 0,
) -> tuple["FAISS", dict[str, str]]:
    """Build an index in which documents appear several times, for the experiment.

    Originals come before copies.

    Args:
        vectorstore: the store of the originals; it is not changed.
        times: how often a copied document is in the new index, itself included.
        share: the share of the documents that is copied; which ones is drawn at random.
        change: for near copies: turns a document's content into the copy's, which is then embedded.
            None copies text and vector as they are, and embeds nothing.
        rng: a seed, or a generator to draw from.

    Returns:
        The new store, and ``source_of``: the doc_id of each copy (``doc_001#2``) -> its original.

    Raises:
        ValueError: times, share or rng is out of range, or a copy would have an id that is taken.
        TypeError: it is not a FAISS store, or change is not a function from a text to a text.
    """
    refuse_other_stores(vectorstore)
    documents, vectors = stored_documents(vectorstore), stored_vectors(vectorstore)
    _refuse_odd_copies(len(documents), times, share, change, rng)

    # Which documents are copied.
    chosen = np.arange(len(documents))
    if share < 1:
        chosen = np.random.default_rng(rng).choice(len(chosen), round(len(chosen) * share), False)

    # The copies, and their vectors.
    numbers = range(2, times + 1)
    copies = [_copy(documents[at], number, change) for number in numbers for at in chosen]
    copied = np.tile(vectors[chosen], (times - 1, 1))
    if change and copies:
        copied = embed_documents(copies, vectorstore.embedding_function, vectorstore.index.d)
        copied = unit(copied) if kept_settings(vectorstore)["normalize_L2"] else copied

    store = assemble(
        [document.model_copy() for document in documents] + copies,
        flat_index(np.concatenate([vectors, copied]), vectorstore.index.metric_type),
        vectorstore.embedding_function,
        **kept_settings(vectorstore),
    )
    ids = [str(copy.id) for copy in copies]
    return store, {doc_id: doc_id.rpartition("#")[0] for doc_id in ids}


def _refuse_odd_copies(n: int, times: int, share: float, change: Any, rng: Any) -> None:
    """Refuse arguments of `duplicate_index` that make no index."""
    # How many copies of how many documents.
    if n == 0:
        raise ValueError("The vectorstore holds no document to copy: add some, or rebuild it.")
    if as_cutoff(times, "times") < 2 or not isinstance(share, Real) or not 0 < share <= 1:
        found = f"times={times}, share={share}"
        raise ValueError(f"times must be at least 2 and share in 0..1 and above 0, found {found}.")
    if n * times > _MOST:
        found = f"times={times:,} of {n:,} documents are more than {_MOST:,}"
        raise ValueError(f"{found}, too many for an index. Take a smaller number.")

    # What they are changed with, and drawn by.
    if change is not None and not callable(change):
        raise wrong_type("change", "a function from a text to a text, or None", change)
    try:
        np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(f"rng must be a seed such as 0, or a Generator, found {rng!r}.") from None


def _copy(document: "Document", number: int, change: Callable[[str], str] | None) -> "Document":
    """Return a copy under an id of its own, with its content changed or as it is."""
    original = read_document(document)
    doc_id = f"{original['doc_id']}#{number}"
    text = document.page_content
    if change:
        content = change(original["content"])
        if not isinstance(content, str):
            raise wrong_type(f"what change makes of {original['doc_id']}", "a text", content)
        changed = original | {"doc_id": doc_id, "content": content}
        text = to_documents([changed])[0].page_content
    metadata = document.metadata | {"doc_id": doc_id}
    return document.model_copy(update={"id": doc_id, "page_content": text, "metadata": metadata})


# ---------------------------------------------------------------- what the model never reads


def unread_tails(docs: Docs, embeddings: "Embeddings") -> pd.DataFrame:
    """Find documents whose last sentence the model never reads: without it the vector is the same.

    Models cut long texts off. A copy that differs only behind the cut is a near copy as text, and
    an exact copy to the model.

    Returns:
        A row a document of two sentences or more: ``doc_id``, ``sentences``, ``cosine`` of the
        vectors with and without the last sentence, and whether it is ``unread`` (cosine 1).

    Raises:
        TypeError, KeyError, ValueError: as `build_vectorstore`.
    """
    rows, read, shorter = [], [], []
    for doc in as_docs(docs, ("doc_id", "content")):
        content = field_text(doc, "content").rstrip()
        sentences = split_sentences(content)
        if len(sentences) > 1:
            rows.append((doc["doc_id"], len(sentences)))
            read.append(doc)
            shorter.append({**doc, "content": content[: -len(sentences[-1])].rstrip()})
    if not rows:
        return pd.DataFrame(columns=["doc_id", "sentences", "cosine", "unread"])

    # A vector of zeros has no cosine, but it can be the same.
    whole, cut = (embed_documents(to_documents(its), embeddings) for its in (read, shorter))
    whole, cut = unit(whole.astype(float)), unit(cut.astype(float))
    cosine = (whole * cut).sum(axis=1)
    unread = (cosine >= _UNCHANGED) | (whole == cut).all(axis=1)
    table = pd.DataFrame(rows, columns=["doc_id", "sentences"])
    return table.assign(cosine=cosine, unread=unread)
