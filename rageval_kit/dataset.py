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

from rageval_kit.files import as_path, load_qrels, not_found, read_jsonl, wrong_line
from rageval_kit.messages import count, name_some, shown, wrong_type

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
        FileNotFoundError: there is no such folder, or a file is missing in it.
        NotADirectoryError: it is a file.
        ValueError: a file cannot be read as what it should be; the message names file and line.
        TypeError: the folder is no path.
    """
    folder = as_path(folder, "folder")
    if split is not None and not isinstance(split, str):
        raise wrong_type("split", 'a text such as "test"', split)
    _refuse_no_dataset(folder)
    is_beir = (folder / "qrels").is_dir()
    corpus = _read(folder / "corpus.jsonl", is_beir)
    queries = _read(folder / "queries.jsonl", is_beir)

    # The kit's own form: the lines as they are.
    if not is_beir:
        if split is not None:
            asked = f"split={shown(split)} was asked for, but {folder} has no folder qrels"
            raise ValueError(f"{asked}. Leave split out.")
        return Dataset(corpus, queries)

    # BEIR's: other names, and the judgements in a file of their own.
    docs = []
    for record in corpus:
        title = record.get("title", "")
        docs.append({"doc_id": record["_id"], "title": title, "content": record["text"]})
    return Dataset(docs, _judged_queries(queries, _qrels_path(folder / "qrels", split)))


def _refuse_no_dataset(folder: Path) -> None:
    """Refuse what is no folder of a dataset, and name the datasets that lie below it."""
    if folder.is_file():
        raise NotADirectoryError(f"{folder} is a file. Give its folder: {folder.parent}.")
    if not folder.is_dir():
        raise not_found(folder)
    if not (folder / "corpus.jsonl").exists():
        found = [*folder.glob("*/corpus.jsonl"), *folder.glob("*/*/corpus.jsonl")]
        below = name_some(sorted(str(path.parent) for path in found))
        hint = f"Datasets below it: {below}. Give one of them." if found else "Is it the folder?"
        raise FileNotFoundError(f"{folder / 'corpus.jsonl'} not found. {hint}")


def _read(path: Path, is_beir: bool) -> list[Record]:
    """Return the objects of a file; those of BEIR's form have an _id and a text."""
    lines = read_jsonl(path)
    for line, record in lines if is_beir else []:
        missing = {"_id", "text"} - record.keys()
        if missing:
            what = f"no field {', '.join(sorted(missing))} (found {', '.join(record)})."
            form = "A folder with qrels is read in BEIR's form: _id, title, text."
            raise wrong_line(path, line, f"{what} {form}")
        found = record["_id"]
        if not isinstance(found, str):
            raise wrong_line(path, line, f'_id must be a text, found {found!r}. Write "{found}".')
    return [record for _, record in lines]


def _qrels_path(folder: Path, split: str | None) -> Path:
    splits = {path.stem: path for path in sorted(folder.glob("*.tsv"))}
    wanted = split or ("test" if len(splits) != 1 else next(iter(splits)))
    if wanted not in splits:
        found = f"{folder} has no {wanted}.tsv; splits found: {', '.join(splits) or 'none'}"
        raise ValueError(f"{found}. Choose one: load_dataset(folder, split=...)")
    return splits[wanted]


def _judged_queries(queries: list[Record], qrels_path: Path) -> list[Record]:
    """Return the queries that the file judges, each with its grades."""
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for query_id, doc_id, grade in load_qrels(qrels_path).itertuples(index=False):
        grades[query_id][doc_id] = grade

    unknown = sorted(grades.keys() - {record["_id"] for record in queries})
    if unknown:
        found = f"{count(len(unknown), 'query')} not found in queries.jsonl"
        cure = "Are the two files of one dataset?"
        raise ValueError(f"{qrels_path}: {found}: {name_some(unknown)}. {cure}")

    judged = []
    for record in queries:
        query_id, question = record["_id"], record["text"]
        if query_id in grades:
            qa = {"query_id": query_id, "question": question, "relevant_doc_ids": grades[query_id]}
            judged.append(qa)
    return judged
