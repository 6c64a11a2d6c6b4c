"""HitRate, MRR, nDCG, Precision and Recall, as DataFrames.

First the formulas: each takes the relevance matrix (n queries, K ranks) and returns the metric's
value at every cutoff 1..K at once, shape (n, K). Then the functions that a user calls.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, Unpack

import numpy as np
import pandas as pd

from rageval_kit.checks import as_cutoff
from rageval_kit.dataset import Records
from rageval_kit.inputs import ResultsLike
from rageval_kit.relevance import Policies, Relevance, relevance_matrix

Formula: TypeAlias = Callable[[Relevance], np.ndarray]
Cutoffs: TypeAlias = int | Sequence[int]


# ---------------------------------------------------------------- the formulas


def _hit_rate(matrix: Relevance) -> np.ndarray:
    return np.maximum.accumulate(matrix.hits, axis=1)


def _reciprocal_rank(matrix: Relevance) -> np.ndarray:
    return np.maximum.accumulate(matrix.hits / matrix.ranks, axis=1)  # the first relevant has the largest 1 / rank


def _ndcg(matrix: Relevance) -> np.ndarray:
    discount = 1 / np.log2(matrix.ranks + 1)
    dcg = np.cumsum(matrix.gains * discount, axis=1)
    idcg = np.cumsum(matrix.ideal * discount, axis=1)
    return np.divide(dcg, idcg, out=np.zeros_like(dcg), where=idcg > 0)


def _precision(matrix: Relevance) -> np.ndarray:
    return np.cumsum(matrix.hits, axis=1) / matrix.ranks


def _recall(matrix: Relevance) -> np.ndarray:
    return np.cumsum(matrix.hits, axis=1) / np.maximum(matrix.n_relevant, 1)[:, None]


FORMULAS: dict[str, Formula] = {
    "HitRate": _hit_rate,
    "RR": _reciprocal_rank,
    "nDCG": _ndcg,
    "Precision": _precision,
    "Recall": _recall,
}
_NAMES_OF_MEANS = {"RR": "MRR"}  # the field's name for the mean of reciprocal ranks


# ---------------------------------------------------------------- what a user calls


def hit_rate(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return whether anything relevant stands in the first k: 1 or 0. Also called Success@k.

    Args:
        all_qa, results: see `relevance_matrix`.
        ks: the cutoffs, positive integers.
        policies: see `Policies`.

    Returns:
        A row a query, a column a cutoff: ``HitRate@1, HitRate@3, ...``; ``.mean()`` is the average
        over the evaluated queries, and ``.attrs`` holds the policies and the counts.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002"}, {"doc_id": "doc_001"}, {"doc_id": "doc_003"}]}
    >>> hit_rate(all_qa, results, ks=(1, 3))
              HitRate@1  HitRate@3
    query_id
    q01             0.0        1.0
    """
    return _one_metric("HitRate", all_qa, results, ks, policies)


def mrr(all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]) -> pd.DataFrame:
    """Return the reciprocal rank: 1 / rank of the first relevant document in the first k, else 0.

    MRR@k is the mean over the queries (Voorhees, TREC-8 question answering track, 1999). Arguments
    and the form of the result are those of `hit_rate`, with columns ``RR@k``.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002"}, {"doc_id": "doc_001"}, {"doc_id": "doc_003"}]}
    >>> mrr(all_qa, results, ks=(1, 3))
              RR@1  RR@3
    query_id
    q01        0.0   0.5
    """
    return _one_metric("RR", all_qa, results, ks, policies)


def ndcg(all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]) -> pd.DataFrame:
    """Return DCG@k / IDCG@k: the discounted gain of the ranking, as a share of the best possible.

    DCG@k = sum of gain / log2(rank + 1) over the first k (Järvelin and Kekäläinen, 2002, with
    trec_eval's discount and linear gain). IDCG@k is the DCG@k of all relevant documents of the
    corpus, best first. Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> results = {"q01": [{"doc_id": "doc_001"}, {"doc_id": "doc_002"}, {"doc_id": "doc_004"}]}
    >>> ndcg(all_qa, results, ks=(1, 3)).round(3)
              nDCG@1  nDCG@3
    query_id
    q01          1.0    0.92
    """
    return _one_metric("nDCG", all_qa, results, ks, policies)


def precision(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return the relevant documents in the first k, divided by k, also when fewer than k came back.

    Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> precision(all_qa, {"q01": [{"doc_id": "doc_001"}]}, ks=(1, 10))
              Precision@1  Precision@10
    query_id
    q01               1.0           0.1
    """
    return _one_metric("Precision", all_qa, results, ks, policies)


def recall(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return the relevant documents in the first k, divided by all relevant documents of the corpus.

    Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> recall(all_qa, {"q01": [{"doc_id": "doc_001"}]}, ks=(1, 10))
              Recall@1  Recall@10
    query_id
    q01            0.5        0.5
    """
    return _one_metric("Recall", all_qa, results, ks, policies)


def per_query(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return all metrics at once: a row a query, a column a metric and cutoff, such as ``nDCG@5``.

    Arguments are those of `hit_rate`.
    """
    return _table(FORMULAS, all_qa, results, ks, policies)


def evaluate(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return the means over the evaluated queries: a row a metric, a column a cutoff.

    Arguments are those of `hit_rate`. The mean of RR is called MRR.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002"}, {"doc_id": "doc_001"}, {"doc_id": "doc_003"}]}
    >>> summary = evaluate(all_qa, results)
    >>> summary.loc["MRR", 3]
    np.float64(0.5)
    """
    table = per_query(all_qa, results, ks, **policies)
    cutoffs = _cutoffs(ks)
    rows = {_NAMES_OF_MEANS.get(name, name): [table[f"{name}@{k}"].mean() for k in cutoffs] for name in FORMULAS}
    summary = pd.DataFrame.from_dict(rows, orient="index", columns=pd.Index(cutoffs, name="k")).rename_axis("metric")
    summary.attrs = table.attrs
    return summary


def _one_metric(name: str, all_qa: Records, results: ResultsLike, ks: Cutoffs, policies: Policies) -> pd.DataFrame:
    return _table({name: FORMULAS[name]}, all_qa, results, ks, policies)


def _table(
    formulas: dict[str, Formula], all_qa: Records, results: ResultsLike, ks: Cutoffs, policies: Policies
) -> pd.DataFrame:
    cutoffs = _cutoffs(ks)
    matrix = relevance_matrix(all_qa, results, max(cutoffs), **policies)
    at = np.array(cutoffs) - 1
    values = [matrix.apply_no_relevant(formula(matrix)[:, at]) for formula in formulas.values()]
    columns = [f"{name}@{k}" for name in formulas for k in cutoffs]
    table = pd.DataFrame(np.hstack(values), index=matrix.query_ids, columns=columns)
    table.attrs = _what_was_decided(matrix, results)
    return table


def _cutoffs(ks: Cutoffs) -> list[int]:
    cutoffs = list(dict.fromkeys(as_cutoff(k, "k") for k in (ks if isinstance(ks, Iterable) else [ks])))
    if not cutoffs:
        raise ValueError("ks is empty: give at least one cutoff, such as ks=(1, 3, 5).")
    return cutoffs


def _what_was_decided(matrix: Relevance, results: ResultsLike) -> dict[Any, Any]:
    """Return the policies, the counts of queries and the index searched, to travel with the numbers."""
    without = int((matrix.n_relevant == 0).sum())
    excluded = without if matrix.policies["no_relevant"] == "exclude" else 0
    return {
        **dict(matrix.policies),
        "evaluated": len(matrix.query_ids) - excluded,
        "excluded": excluded,
        "index": getattr(results, "index", None),
    }
