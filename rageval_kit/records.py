"""Documents and all_qa as plain dicts, in whichever form they come: what every room reads them with."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

Records: TypeAlias = Sequence[Mapping[str, Any]] | pd.DataFrame


def as_records(records: Records, what: str) -> list[Mapping[str, Any]]:
    """Return docs or all_qa as a list of dicts; ``what`` names it in an error.

    A DataFrame of all_qa may have a row a query (``relevant_doc_ids`` in a cell) or a row a
    judgement (``query_id, doc_id`` and, where graded, ``relevance``).
    """
    if isinstance(records, pd.DataFrame):
        if (
            what == "all_qa"
            and "relevant_doc_ids" not in records
            and {"query_id", "doc_id"} <= set(records)
        ):
            return _grouped_qrels(records)
        return [
            dict(zip(records.columns, row, strict=True))
            for row in records.itertuples(index=False, name=None)
        ]
    if isinstance(records, (str, bytes, Mapping)) or not isinstance(records, Iterable):
        raise TypeError(
            f"{what} must be a list of dicts or a DataFrame, found {type(records).__name__}."
        )
    records = list(records)
    for position, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise TypeError(
                f"{what}, entry {position}: a dict was wanted, found {type(record).__name__}."
            )
    return records


def _grouped_qrels(qrels: pd.DataFrame) -> list[Mapping[str, Any]]:
    grades = qrels["relevance"] if "relevance" in qrels else pd.Series(1.0, index=qrels.index)
    grouped: dict[Any, dict[str, Any]] = {}
    for query_id, doc_id, grade in zip(qrels["query_id"], qrels["doc_id"], grades, strict=True):
        query = grouped.setdefault(query_id, {"query_id": query_id, "relevant_doc_ids": {}})
        query["relevant_doc_ids"][doc_id] = grade
    if "question" in qrels:
        for query_id, question in zip(qrels["query_id"], qrels["question"], strict=True):
            grouped[query_id]["question"] = question
    return list(grouped.values())


def relevant_grades(qa: Mapping[str, Any]) -> dict[Any, float]:
    """Return the judged documents of one query with their grades; a plain list means grade 1.

    >>> relevant_grades({"query_id": "q10", "relevant_doc_ids": ["doc_004", "doc_007"]})
    {'doc_004': 1.0, 'doc_007': 1.0}

    Raises:
        KeyError: the query has no ``relevant_doc_ids``.
        TypeError: it is not a list or a dict, or holds something else than ids.
        ValueError: a grade is not a finite number.
    """
    if "relevant_doc_ids" not in qa:
        found = ", ".join(map(str, qa))
        raise KeyError(
            f"{_where(qa)} is missing (found {found}). Give a list of doc_ids, [] if there is none."
        )
    relevant = qa["relevant_doc_ids"]
    if isinstance(relevant, dict):
        # Nearly every grade is an int; the full check of one takes ten times as long.
        return {
            doc_id: float(grade) if type(grade) is int else _as_grade(grade, qa, doc_id)
            for doc_id, grade in relevant.items()
        }
    if isinstance(relevant, np.ndarray):
        relevant = relevant.tolist()
    if not isinstance(relevant, (list, tuple, set, frozenset)):
        cure = (
            f"Write [{relevant!r}]."
            if isinstance(relevant, str) and "[" not in relevant
            else "Write ['doc_001']."
        )
        raise TypeError(
            f"{_where(qa)} must be a list or a dict, found {type(relevant).__name__} {relevant!r}. {cure}"
        )
    if any(isinstance(doc_id, (list, tuple, set, dict, np.ndarray)) for doc_id in relevant):
        raise TypeError(
            f"{_where(qa)} holds a list within the list: {relevant!r}. Write ['doc_001', 'doc_002']."
        )
    return dict.fromkeys(relevant, 1.0)


def _where(qa: Mapping[str, Any]) -> str:
    return f"{qa.get('query_id')}: relevant_doc_ids"


def _as_grade(grade: Any, qa: Mapping[str, Any], doc_id: Any) -> float:
    if isinstance(grade, bool) or not isinstance(grade, Real) or not np.isfinite(float(grade)):
        raise ValueError(
            f"{_where(qa)}, {doc_id!r}: the grade must be a finite number, found {grade!r}. "
            "Write 1 for relevant, 0 for not."
        )
    return float(grade)
