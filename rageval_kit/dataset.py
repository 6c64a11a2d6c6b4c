"""Load documents and all_qa.

A dataset is two plain lists of dicts:

* ``docs``: ``doc_id``, ``title``, ``content``;
* ``all_qa``: ``query_id``, ``question``, ``relevant_doc_ids`` (a list, or a dict
  doc_id -> grade) and, where known, the ``ground_truth`` answer.

Two forms are read from a folder: the kit's own (corpus.jsonl, queries.jsonl) and BEIR's
(corpus.jsonl, queries.jsonl, qrels/*.tsv). DataFrames are accepted wherever the lists are.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from rageval_kit.files import load_qrels, read_jsonl
from rageval_kit.messages import name_some

Record: TypeAlias = dict[str, Any]


class Dataset(NamedTuple):
    """Documents and queries; unpacks as ``docs, all_qa``."""

    docs: list[Record]
    all_qa: list[Record]


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
    corpus = read_jsonl(folder / "corpus.jsonl")
    queries = read_jsonl(folder / "queries.jsonl")
    qrels_folder = folder / "qrels"
    if not qrels_folder.is_dir():
        if split is not None:
            raise ValueError(f"split={split!r} was asked for, but {folder} has no folder qrels")
        return Dataset([record for _, record in corpus], [record for _, record in queries])
    path = _qrels_path(qrels_folder, split)
    return Dataset(
        [_document(_from_beir(folder / "corpus.jsonl", line, record)) for line, record in corpus],
        _judged_queries(folder / "queries.jsonl", queries, path),
    )


def _from_beir(path: Path, line: int, record: Record) -> Record:
    missing = {"_id", "text"} - record.keys()
    if missing:
        raise ValueError(
            f"{path}, line {line}: no field {', '.join(sorted(missing))} (found {', '.join(record)}). "
            "A folder with qrels is read in BEIR's form: _id, title, text."
        )
    if not isinstance(record["_id"], str):
        raise ValueError(
            f'{path}, line {line}: _id must be a text, found {record["_id"]!r}. Write "{record["_id"]}".'
        )
    return record


def _document(record: Record) -> Record:
    return {"doc_id": record["_id"], "title": record.get("title", ""), "content": record["text"]}


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


def _judged_queries(
    path: Path, queries: list[tuple[int, Record]], qrels_path: Path
) -> list[Record]:
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for query_id, doc_id, grade in load_qrels(qrels_path).itertuples(index=False):
        grades[query_id][doc_id] = grade
    all_qa = []
    for line, record in queries:
        query_id = _from_beir(path, line, record)["_id"]
        if query_id in grades:
            all_qa.append(
                {
                    "query_id": query_id,
                    "question": record["text"],
                    "relevant_doc_ids": grades[query_id],
                }
            )
    unknown = grades.keys() - {query["query_id"] for query in all_qa}
    if unknown:
        raise ValueError(
            f"{qrels_path}: {len(unknown)} query ids are not in {path.name}: {name_some(sorted(unknown))}."
        )
    return all_qa
