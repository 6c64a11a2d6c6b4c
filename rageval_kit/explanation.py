"""Why this number: one cell of a metric's table, with the formula filled in."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np
import pandas as pd

from rageval_kit.inputs import ResultsLike, read_hits, read_judgements
from rageval_kit.messages import name_some
from rageval_kit.metrics import Column, as_columns, fractions_of, matrix_for, of_query
from rageval_kit.records import Records, as_records, relevant_grades
from rageval_kit.relevance import Policies


@dataclass(frozen=True, repr=False)
class Explanation:
    """The arithmetic of one cell; prints as text, and its last number is the cell's.

    Attributes:
        query_id, column: the cell, for example ``"q10"`` and ``"nDCG@5"``.
        ranking: a row a rank, with the document, its gain, and what the metric does with it.
        lines: the arithmetic in words, a line a step.
        value: the cell's number.
    """

    query_id: Any
    column: str
    ranking: pd.DataFrame
    lines: list[str]
    value: float

    def __str__(self) -> str:
        table = self.ranking.to_string(float_format=lambda value: f"{value:.4g}")
        return "\n".join([f"{self.column} of {self.query_id}", "", table, "", *self.lines])

    def __repr__(self) -> str:
        return str(self)


def explain(
    all_qa: Records,
    results: ResultsLike,
    query_id: Any,
    metric: str = "nDCG",
    k: int = 5,
    **policies: Unpack[Policies],
) -> Explanation:
    """Show how one number came about: the ranking, the formula with its numbers, the policy.

    Args:
        all_qa, results: see `relevance_matrix`.
        query_id: the row of the table.
        metric: the name of a metric, with or without a cutoff: ``"nDCG"``, ``"nDCG@10"``.
        k: the cutoff, where the name has none.
        policies: see `Policies`; give those of the table that is to be explained.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> results = {"q01": [{"doc_id": "doc_001"}, {"doc_id": "doc_002"}, {"doc_id": "doc_004"}]}
    >>> print(explain(all_qa, results, "q01", "nDCG", k=3))
    nDCG@3 of q01
    <BLANKLINE>
           doc_id  gain  discount  gain x discount
    rank
    1     doc_001     1         1                1
    2     doc_002     0    0.6309                0
    3     doc_004     1       0.5              0.5
    <BLANKLINE>
    relevant documents in the whole corpus: 2 (doc_001, doc_004)
    discount = 1 / log2(rank + 1)
    DCG@3 = 1 x 1 + 1 x 0.5 = 1.5
    IDCG@3: the relevant documents of the whole corpus on the first ranks = 1 x 1 + 1 x 0.6309 = 1.631
    nDCG@3 = DCG@3 / IDCG@3 = 1.5 / 1.631 = 0.9197207891481876

    Raises:
        KeyError: no query of all_qa has this query_id.
        ValueError: the metric is not known, or has no arithmetic to show (a function of yours).
    """
    (column,) = as_columns([metric], k)
    if column.name not in _ARITHMETIC:
        raise ValueError(
            f"{column.name} is a function of yours: only the kit's own metrics can be explained."
        )
    one, its_results, grades = _only(all_qa, results, query_id)
    matrix = matrix_for([column], one, its_results, policies)
    value = float(of_query(column, fractions_of([column], matrix), matrix)[0])
    k = len(matrix.ranks) if column.cutoff == "R" else column.cutoff
    docs = _ranked_docs(one, its_results, k, fold=matrix.policies["duplicates"] == "unique")
    cell = _Cell(
        label=column.label,
        k=k,
        docs=docs,
        gains=matrix.gains[0, :k],
        ideal=matrix.ideal[0, :k],
        judged=matrix.judged[0, :k],
        new=matrix.new[0, :k],
        relevant=[doc_id for doc_id, grade in grades.items() if grade > 0],
    )
    ranking = pd.DataFrame(
        {"doc_id": docs, "gain": cell.gains[: len(docs)]},
        index=pd.RangeIndex(1, len(docs) + 1, name="rank"),
    )
    notes = _notes(column, cell, matrix.policies)
    if not cell.relevant and column.name not in ("Judged", "Unique"):
        arithmetic = [column.label]
    else:
        extra, arithmetic = _ARITHMETIC[column.name](cell)
        ranking = ranking.assign(**{name: values[: len(docs)] for name, values in extra.items()})
    arithmetic[-1] += f" = {value!r}"
    return Explanation(query_id, column.label, ranking, [*notes, *arithmetic], value)


class _Cell(NamedTuple):
    """One query at one cutoff: what the arithmetic needs."""

    label: str
    k: int
    docs: list[Any]
    gains: np.ndarray
    ideal: np.ndarray
    judged: np.ndarray
    new: np.ndarray
    relevant: list[Any]

    @property
    def hit_ranks(self) -> list[int]:
        return [int(rank) for rank in np.flatnonzero(self.gains > 0) + 1]


def _only(
    all_qa: Records, results: ResultsLike, query_id: Any
) -> tuple[Records, ResultsLike, dict[Any, float]]:
    """Return all_qa and results of this one query, and its grades."""
    queries = [qa for qa in as_records(all_qa, "all_qa") if qa.get("query_id") == query_id]
    if not queries:
        raise KeyError(f"all_qa has no query {query_id!r}.")
    if isinstance(results, pd.DataFrame) and "query_id" in results:
        its_own = results[results["query_id"] == query_id]
        results = its_own if len(its_own) else results
    elif isinstance(results, Mapping) and query_id in results:
        results = {query_id: results[query_id]}
    return queries[:1], results, relevant_grades(queries[0])


def _ranked_docs(all_qa: Records, results: ResultsLike, k: int, fold: bool) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said once already
        docs = read_hits(results, read_judgements(all_qa), depth=None if fold else k).docs.tolist()
    return list(dict.fromkeys(docs))[:k] if fold else docs


def _notes(column: Column, cell: _Cell, policies: Policies) -> list[str]:
    """Say what the arithmetic rests on: G, what came back, and the policy where one applied."""
    if column.name in ("Judged", "Unique"):
        notes = []
    elif cell.relevant:
        notes = [
            f"relevant documents in the whole corpus: {len(cell.relevant)} ({name_some(cell.relevant)})"
        ]
    else:
        treatment = {
            "exclude": "left out of the mean",
            "zero": "counted as 0",
            "one": "counted as 1",
        }
        policy = policies["no_relevant"]
        notes = [
            f'no document is relevant to this query: with no_relevant="{policy}" it is {treatment[policy]}'
        ]
    if len(cell.docs) < cell.k:
        notes.append(
            f"only {len(cell.docs)} of {cell.k} hits came back; the other ranks hold nothing"
        )
    if len(set(cell.docs)) < len(cell.docs):
        notes.append(
            'a document stands more than once: with duplicates="position" each of its slots counts'
        )
    if column.name == "nDCG" and policies["gain"] == "exponential":
        notes.append('with gain="exponential" a grade g is worth 2 ** g - 1')
    return notes


# ---------------------------------------------------------------- the arithmetic of each metric
# A function a metric: more columns for the ranking, and the lines; the last one gets "= value" behind it.

_Arithmetic: TypeAlias = tuple[dict[str, np.ndarray], list[str]]


def _hit_rate(cell: _Cell) -> _Arithmetic:
    found = f"at rank {name_some(cell.hit_ranks)}" if cell.hit_ranks else "nowhere"
    return {}, [
        f"relevant documents in the first {cell.k}: {found}",
        f"{cell.label}, 1 if there is one, else 0",
    ]


def _reciprocal_rank(cell: _Cell) -> _Arithmetic:
    if not cell.hit_ranks:
        return {}, [f"no relevant document in the first {cell.k}", cell.label]
    return {}, [f"{cell.label} = 1 / rank of the first relevant document = 1 / {cell.hit_ranks[0]}"]


def _ndcg(cell: _Cell) -> _Arithmetic:
    discount = 1 / np.log2(np.arange(2, cell.k + 2))
    dcg, idcg = float((cell.gains * discount).sum()), float((cell.ideal * discount).sum())
    at = cell.label.partition("@")[2]
    return {"discount": discount, "gain x discount": cell.gains * discount}, [
        "discount = 1 / log2(rank + 1)",
        f"DCG@{at} = {_products(cell.gains, discount)} = {dcg:.4g}",
        f"IDCG@{at}: the relevant documents of the whole corpus on the first ranks = "
        f"{_products(cell.ideal, discount)} = {idcg:.4g}",
        f"{cell.label} = DCG@{at} / IDCG@{at} = {dcg:.4g} / {idcg:.4g}",
    ]


def _products(gains: np.ndarray, discount: np.ndarray) -> str:
    terms = [
        f"{gain:g} x {weight:.4g}" for gain, weight in zip(gains, discount, strict=True) if gain > 0
    ]
    return " + ".join(terms) or "0"


def _precision(cell: _Cell) -> _Arithmetic:
    return {}, [
        f"the denominator is k = {cell.k}, also where fewer hits came back",
        f"{cell.label} = relevant in the first {cell.k} / k = {len(cell.hit_ranks)} / {cell.k}",
    ]


def _recall(cell: _Cell) -> _Arithmetic:
    return {}, [
        f"the denominator is every relevant document of the corpus, found or not: {len(cell.relevant)}",
        f"{cell.label} = relevant in the first {cell.k} / all relevant = {len(cell.hit_ranks)} / {len(cell.relevant)}",
    ]


def _average_precision(cell: _Cell) -> _Arithmetic:
    precision_at_rank = np.cumsum(cell.gains > 0) / np.arange(1, cell.k + 1)
    terms = [f"{found}/{rank}" for found, rank in enumerate(cell.hit_ranks, start=1)]
    return {"precision at rank": precision_at_rank}, [
        f"the denominator is every relevant document of the corpus, found or not: {len(cell.relevant)}",
        f"{cell.label} = sum of the precision at each relevant rank / all relevant "
        f"= ({' + '.join(terms) or '0'}) / {len(cell.relevant)}",
    ]


def _r_precision(cell: _Cell) -> _Arithmetic:
    r = len(cell.relevant)
    return {}, [
        f"R is the number of relevant documents of the corpus: {r}",
        f"{cell.label} = relevant in the first R / R = {sum(rank <= r for rank in cell.hit_ranks)} / {r}",
    ]


def _f1(cell: _Cell) -> _Arithmetic:
    found, relevant = len(cell.hit_ranks), len(cell.relevant)
    return {}, [
        f"Precision = {found} / {cell.k}, Recall = {found} / {relevant}",
        f"{cell.label} = 2 x Precision x Recall / (Precision + Recall) = 2 x {found} / ({cell.k} + {relevant})",
    ]


def _judged(cell: _Cell) -> _Arithmetic:
    return {"judged": cell.judged}, [
        f"the denominator is what came back in the first {cell.k}: {len(cell.docs)}",
        f"{cell.label} = judged / came back = {int(cell.judged.sum())} / {len(cell.docs)}",
    ]


def _unique(cell: _Cell) -> _Arithmetic:
    return {"new": cell.new}, [f"{cell.label} = different documents in the first {cell.k}"]


_ARITHMETIC: dict[str, Callable[[_Cell], _Arithmetic]] = {
    "HitRate": _hit_rate,
    "RR": _reciprocal_rank,
    "nDCG": _ndcg,
    "Precision": _precision,
    "Recall": _recall,
    "AP": _average_precision,
    "R-precision": _r_precision,
    "F1": _f1,
    "Judged": _judged,
    "Unique": _unique,
}
