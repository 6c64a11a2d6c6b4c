"""Load documents and all_qa.

A dataset is two plain lists of dicts:

* ``docs``: ``doc_id``, ``title``, ``content``;
* ``all_qa``: ``query_id``, ``question``, ``relevant_doc_ids`` (a list, or a dict
  doc_id -> grade) and, where known, the ``ground_truth`` answer.

Two forms are read from a folder: the kit's own (corpus.jsonl, queries.jsonl) and BEIR's
(corpus.jsonl, queries.jsonl, qrels/*.tsv). DataFrames are accepted wherever the lists are.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.checks import name_some

Record: TypeAlias = dict[str, Any]
Records: TypeAlias = Sequence[Mapping[str, Any]] | pd.DataFrame


class Dataset(NamedTuple):
    """Documents and queries; unpacks as ``docs, all_qa``."""

    docs: list[Record]
    all_qa: list[Record]


# ---------------------------------------------------------------- load


def load_dataset(folder: str | Path, split: str | None = None) -> Dataset:
    """Read documents and queries from a folder in the kit's form or in BEIR's.

    Args:
        folder: holds ``corpus.jsonl`` and ``queries.jsonl``; BEIR's form has the relevance
            judgements in ``qrels/<split>.tsv`` (query-id, corpus-id, score).
        split: which BEIR judgements to use; None means ``test``, or the only file there is.
            BEIR keeps the queries of all splits in one file: all_qa holds those of this split.

    Returns:
        ``Dataset(docs, all_qa)``, two lists of dicts in the order of the files.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file cannot be read as what it should be; the message names file and line.
    """
    folder = Path(folder)
    corpus = _read_jsonl(folder / "corpus.jsonl")
    queries = _read_jsonl(folder / "queries.jsonl")
    qrels_folder = folder / "qrels"
    if not qrels_folder.is_dir():
        if split is not None:
            raise ValueError(f"split={split!r} was asked for, but {folder} has no folder qrels")
        return Dataset([record for _, record in corpus], [record for _, record in queries])
    path = _qrels_path(qrels_folder, split)
    return Dataset(
        [_from_beir(folder / "corpus.jsonl", line, record, "content") for line, record in corpus],
        _judged_queries(folder / "queries.jsonl", queries, path),
    )


def _read_text(path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there. A dataset folder holds corpus.jsonl and queries.jsonl.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8; "
            "Korean files from Excel are often CP949: path.read_text(encoding='cp949')."
        ) from None
    if text.startswith("version https://git-lfs"):
        raise ValueError(f"{path} is a Git LFS pointer, not the data. Fetch the data with: git lfs pull")
    if not text.strip():
        raise ValueError(f"{path} is empty.")
    return text


def _read_jsonl(path: Path) -> list[tuple[int, Record]]:
    records = []
    # split("\n"), not splitlines(): a text may hold U+2028, which JSON leaves unescaped.
    for line, text in enumerate(_read_text(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{path}, line {line}: not JSON ({error.msg}). One JSON object a line is wanted."
            ) from None
        if not isinstance(record, dict):
            raise ValueError(f"{path}, line {line}: a JSON object was wanted, found {type(record).__name__}.")
        records.append((line, record))
    return records


def _from_beir(path: Path, line: int, record: Record, text_field: str) -> Record:
    missing = {"_id", "text"} - record.keys()
    if missing:
        raise ValueError(
            f"{path}, line {line}: no field {', '.join(sorted(missing))} (found {', '.join(record)}). "
            "A folder with qrels is read in BEIR's form: _id, title, text."
        )
    if text_field == "content":
        return {"doc_id": record["_id"], "title": record.get("title", ""), "content": record["text"]}
    return {"query_id": record["_id"], "question": record["text"]}


def _qrels_path(folder: Path, split: str | None) -> Path:
    found = sorted(folder.glob("*.tsv"))
    names = ", ".join(path.stem for path in found) or "none"
    wanted = split or ("test" if len(found) != 1 else found[0].stem)
    path = folder / f"{wanted}.tsv"
    if path not in found:
        raise ValueError(
            f"{folder} has no {wanted}.tsv; splits found: {names}. Choose one: load_dataset(folder, split=...)"
        )
    return path


def _judged_queries(path: Path, queries: list[tuple[int, Record]], qrels_path: Path) -> list[Record]:
    grades = _read_beir_qrels(qrels_path)
    all_qa = []
    for line, record in queries:
        query = _from_beir(path, line, record, "question")
        if query["query_id"] in grades:
            all_qa.append(query | {"relevant_doc_ids": grades[query["query_id"]]})
    unknown = grades.keys() - {query["query_id"] for query in all_qa}
    if unknown:
        raise ValueError(
            f"{qrels_path}: {len(unknown)} query ids are not in {path.name}: {name_some(sorted(unknown))}."
        )
    return all_qa


def _read_beir_qrels(path: Path) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for line, text in enumerate(_read_text(path).splitlines(), start=1):
        fields = text.split("\t")
        if not text.strip() or (line == 1 and fields[-1].strip() == "score"):
            continue
        if len(fields) != 3:
            raise ValueError(f"{path}, line {line}: 3 fields parted by tabs were wanted, found {len(fields)}.")
        query_id, doc_id, score = (field.strip() for field in fields)
        try:
            grades[query_id][doc_id] = float(score)
        except ValueError:
            raise ValueError(f"{path}, line {line}: the score {score!r} is not a number.") from None
    if not grades:
        raise ValueError(f"{path} holds no judgement, only a header.")
    return dict(grades)


# ---------------------------------------------------------------- what the other rooms share


def as_records(records: Records, what: str) -> list[Mapping[str, Any]]:
    """Return docs or all_qa as a list of dicts; ``what`` names it in an error.

    A DataFrame of all_qa may have a row a query (``relevant_doc_ids`` in a cell) or a row a
    judgement (``query_id, doc_id`` and, where graded, ``relevance``).
    """
    if isinstance(records, pd.DataFrame):
        if what == "all_qa" and "relevant_doc_ids" not in records and {"query_id", "doc_id"} <= set(records):
            return _grouped_qrels(records)
        return [dict(zip(records.columns, row, strict=True)) for row in records.itertuples(index=False, name=None)]
    if isinstance(records, (str, bytes, Mapping)) or not isinstance(records, Iterable):
        raise TypeError(f"{what} must be a list of dicts or a DataFrame, found {type(records).__name__}.")
    records = list(records)
    for position, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise TypeError(f"{what}, entry {position}: a dict was wanted, found {type(record).__name__}.")
    return records


def _grouped_qrels(qrels: pd.DataFrame) -> list[Mapping[str, Any]]:
    grades = qrels["relevance"] if "relevance" in qrels else pd.Series(1.0, index=qrels.index)
    grouped: dict[Any, Record] = {}
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
    where = f"{qa.get('query_id')}: relevant_doc_ids"
    if "relevant_doc_ids" not in qa:
        raise KeyError(
            f"{where} is missing (found {', '.join(map(str, qa))}). Give a list of doc_ids, [] if there is none."
        )
    relevant = qa["relevant_doc_ids"]
    if isinstance(relevant, Mapping):
        grades = {doc_id: _as_grade(grade, f"{where}, {doc_id!r}") for doc_id, grade in relevant.items()}
    elif isinstance(relevant, (list, tuple, set, frozenset, np.ndarray)):
        if any(isinstance(doc_id, (list, tuple, set, dict, np.ndarray)) for doc_id in relevant):
            raise TypeError(f"{where} holds a list within the list: {relevant!r}. Write ['doc_001', 'doc_002'].")
        grades = dict.fromkeys(relevant, 1.0)
    else:
        cure = f"Write [{relevant!r}]." if isinstance(relevant, str) and "[" not in relevant else "Write ['doc_001']."
        raise TypeError(f"{where} must be a list or a dict, found {type(relevant).__name__} {relevant!r}. {cure}")
    return grades


def _as_grade(grade: Any, where: str) -> float:
    if isinstance(grade, bool) or not isinstance(grade, Real) or not np.isfinite(float(grade)):
        raise ValueError(
            f"{where}: the grade must be a finite number, found {grade!r}. Write 1 for relevant, 0 for not."
        )
    return float(grade)
