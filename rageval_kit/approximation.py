"""Exact or fast: how much of an exact search an approximate one finds, and what it saves."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rageval_kit.indexes import index_bytes
from rageval_kit.judgements import AllQA, as_queries
from rageval_kit.messages import as_cutoff, count, name_some, warn_user, wrong_type
from rageval_kit.rankings import (
    Hit,
    Results,
    ResultsLike,
    as_rankings,
    refuse_unlike_ids,
    warn_of_depth,
)
from rageval_kit.search import FaissIndex
from rageval_kit.vectorstore import refuse_other_stores

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS

_SAME = 1e-6  # scores that differ by so small a share are one


def agreement(exact: ResultsLike, other: ResultsLike, k: int) -> pd.DataFrame:
    """Return the share of the exact first k that the other results have in their first k.

    What the literature on approximate search calls recall@k, and FAISS the intersection measure:
    no judgement is needed. What is tied with the exact rank k, by its score in either, counts as
    found; search a few hits deeper than k where the other has no scores of its own.

    Args:
        exact: the results of an exact search, in any form that the metrics take.
        other: of an approximate one, or of anything to compare: fewer dimensions, another model.
        k: how many hits of each query are compared.

    Returns:
        A row a query and the column ``Agreement@k``, from 0 to 1, higher is better. NaN where the
        exact search found nothing; 0, with a warning, where the other has no results.

    >>> exact = {"q1": [{"doc_id": "A"}, {"doc_id": "B"}], "q2": [{"doc_id": "C"}]}
    >>> other = {"q1": [{"doc_id": "B"}, {"doc_id": "D"}], "q2": [{"doc_id": "C"}]}
    >>> agreement(exact, other, k=2)
              Agreement@2
    query_id
    q1                0.5
    q2                1.0

    Raises:
        ValueError: k is not a positive integer, both have not one query in common, or ids differ
            only by Unicode form.
        TypeError: these are no results, or ids are texts in one and integers in the other.
        KeyError: a column is missing.
    """
    k = as_cutoff(k)
    exact, other = as_rankings(exact), as_rankings(other)
    _compare_searches(exact, other, k)
    shares = [_share(ranking, other.get(query, []), k) for query, ranking in exact.items()]
    query_ids = pd.Index(list(exact), name="query_id", dtype=object)
    return pd.DataFrame({f"Agreement@{k}": shares}, index=query_ids, dtype=float)


def _compare_searches(exact: Results, other: Results, k: int) -> None:
    """Refuse results of other queries, and warn of some, and of a search that was not so deep."""
    refuse_unlike_ids({"exact": exact, "other": other})
    missing = [query for query in exact if query not in other]
    if len(missing) == len(exact):
        raise ValueError(
            f"The two results have not one query in common: {name_some(list(exact)) or 'none'} and "
            f"{name_some(list(other)) or 'none'}. Search the same all_qa twice."
        )
    if missing:
        warn_user(
            f"no other results for {count(len(missing), 'query')}, which agree in nothing: "
            f"{name_some(missing)}."
        )
    strangers = [query for query in other if query not in exact]
    if strangers:
        warn_user(f"queries without exact results are left out: {name_some(strangers)}.")

    warn_of_depth({"exact": exact, "other": other}, k)


def _share(exact: Sequence[Hit], other: Sequence[Hit], k: int) -> float:
    """Return the share for one query.

    >>> exact = [{"doc_id": "A", "score": 0.1}, {"doc_id": "B", "score": 0.2}]
    >>> _share(exact, [{"doc_id": "A", "score": 0.1}, {"doc_id": "C", "score": 0.2}], 2)
    1.0
    """
    if not exact:
        return math.nan
    wanted = {hit["doc_id"] for hit in exact[:k]}

    # As good as the hit at rank k, though another was named there.
    last = exact[:k][-1].get("score")
    if len(exact) >= k:
        wanted_too = {hit["doc_id"] for hit in (*exact[k:], *other) if _is(hit.get("score"), last)}
    else:
        wanted_too = set()
    found = {hit["doc_id"] for hit in other[:k]} & (wanted | wanted_too)
    return min(len(found), len(wanted)) / len(wanted)


def _is(score: float | None, last: float | None) -> bool:
    if score is None or last is None:
        return False
    return math.isclose(score, last, rel_tol=_SAME, abs_tol=1e-12)


# ---------------------------------------------------------------- what an index costs


def index_costs(stores: Mapping[str, "FAISS"], all_qa: AllQA, k: int = 10) -> pd.DataFrame:
    """Return what each store finds of the first's, how large its index is, and how long it takes.

    The questions are embedded once, by the model of the first store.

    Args:
        stores: ``{name: store}`` of `build_vectorstore`, with one model and the same documents; the
            first is exact.
        all_qa: dicts with ``query_id`` and ``question``.
        k: how many hits a query.

    Returns:
        A row a store: ``Agreement@k`` (the mean, see `agreement`), ``bytes`` of the index, all it
        holds included, ``bytes_per_vector``, and ``ms_per_query``, the median over the questions,
        searched one by one without their embedding. The last is another number each time.

    >>> from rageval_kit import build_vectorstore, load_embeddings
    >>> docs = [{"doc_id": f"d{n}", "content": "page " * n} for n in range(1, 9)]
    >>> chars = load_embeddings("chars")
    >>> stores = {text: build_vectorstore(docs, chars, index=text) for text in ("Flat", "SQ8")}
    >>> costs = index_costs(stores, [{"query_id": "q1", "question": "page"}], k=3)
    >>> costs.drop(columns="ms_per_query")
           Agreement@3  bytes  bytes_per_vector
    index
    Flat           1.0  65581            8197.6
    SQ8            1.0  32849            4106.1

    Raises:
        TypeError: stores is no dict of FAISS stores.
        ValueError: the first is not exact, or another has other documents or another model.
    """
    k = as_cutoff(k)
    if not isinstance(stores, Mapping) or not stores:
        raise wrong_type("stores", '{"Flat": build_vectorstore(docs, embeddings), ...}', stores)
    for store in stores.values():
        refuse_other_stores(store)
    questions = [qa["question"] for qa in as_queries(all_qa, ("query_id", "question"))]
    indexes = {name: FaissIndex(store) for name, store in stores.items()}
    _refuse_other_indexes(indexes)

    # One embedding for all; the first store's hits are the exact ones.
    vectors = next(iter(indexes.values())).embed(questions)
    found = {name: _hits(index, vectors, k) for name, index in indexes.items()}
    exact = next(iter(found.values()))
    rows = []
    for name, store in stores.items():
        size = index_bytes(store.index)
        rows.append({
            f"Agreement@{k}": agreement(exact, found[name], k)[f"Agreement@{k}"].mean(),
            "bytes": size,
            "bytes_per_vector": round(size / store.index.ntotal, 1),
            "ms_per_query": _median_ms(store.index, vectors, k),
        })  # fmt: skip
    return pd.DataFrame(rows, index=pd.Index(list(stores), name="index"))


def _refuse_other_indexes(indexes: Mapping[str, FaissIndex]) -> None:
    (name, first), *others = indexes.items()
    if not first.is_exact:
        raise ValueError(f'The first store ({name}) is not exact. Begin with one of index="Flat".')
    for its, index in others:
        if index.text_hashes() != first.text_hashes() or index.model != first.model:
            raise ValueError(
                f"{its} has other documents or another model than {name} ({index.model}, "
                f"{first.model}): build both from the same docs and embeddings."
            )


def _hits(index: FaissIndex, vectors: np.ndarray, k: int) -> dict[int, list[Hit]]:
    return {
        row: [{"doc_id": index.document(at)["doc_id"], "score": score} for at, score in ranking]
        for row, ranking in enumerate(index.search(vectors, k))
    }


def _median_ms(index: Any, vectors: np.ndarray, k: int) -> float:
    k = min(k, index.ntotal)
    index.search(vectors[:1], k)  # the first search is slower than any other
    taken = []
    for row in range(len(vectors)):
        start = time.perf_counter()
        index.search(vectors[row : row + 1], k)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken) * 1000)
