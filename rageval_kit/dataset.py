"""Load documents and all_qa that come together.

A dataset is two plain lists of dicts:

* ``docs``: ``doc_id``, ``title``, ``content``;
* ``all_qa``: ``query_id``, ``question``, ``relevant_doc_ids`` (a list, or a dict
  doc_id -> grade) and, where known, the ``ground_truth`` answer.

A folder holds two files, the kit's own and BEIR's being JSON lines, and the judgements within or
beside them; one JSON file holds both in LlamaIndex's form, SQuAD's, or under ``docs`` and
``all_qa``. DataFrames are accepted wherever the lists are.
"""

from collections import defaultdict
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

import pandas as pd

from rageval_kit.cells import as_number, as_text
from rageval_kit.columns import QRELS, named, recognise
from rageval_kit.files import as_path, not_found, read_jsonl, read_text, wrong_line
from rageval_kit.forms import TABLES, ending, read_table
from rageval_kit.loading import Dataset, load_documents, load_questions
from rageval_kit.messages import count, name_some, shown, warn_user, wrong_type
from rageval_kit.records import Both
from rageval_kit.trec import load_qrels

# What the two files of a folder are called, before the ending.
_DOCUMENTS = ("corpus", "docs", "documents")
_QUESTIONS = ("queries", "qa", "questions", "all_qa")


def load_dataset(source: str | Path, split: str | None = None) -> Dataset:
    """Read documents and queries from a folder, or from one JSON file that holds both.

    Args:
        source: a folder with ``corpus`` (or docs, documents) and ``queries`` (or qa, questions,
            all_qa) as .jsonl, .json, .csv, .tsv or .parquet, packed (.gz) or not: the kit's form,
            BEIR's, AutoRAG's. The judgements are in the queries, in ``qrels/<split>.tsv`` or in
            ``qrels.tsv`` (.txt, .jsonl) beside them (query-id, corpus-id, score; or TREC's). Or a
            JSON file in LlamaIndex's form, SQuAD's, or with ``docs`` and ``all_qa``.
        split: which BEIR judgements to use; None means ``test``, or the only file there is.
            BEIR keeps the queries of all splits in one file: all_qa holds those of this split, and
            a warning names those that no split judges.

    Returns:
        ``Dataset(docs, all_qa)``, two lists of dicts in the order of the files.

    Raises:
        FileNotFoundError: there is no such folder, or a file is missing in it.
        NotADirectoryError: it is a file that holds no dataset.
        ValueError: a file cannot be read as what it should be; the message names file and line.
        TypeError: the source is no path.
    """
    folder = as_path(source, "source")
    if split is not None and not isinstance(split, str):
        raise wrong_type("split", 'a text such as "test"', split)
    if folder.is_file() and ending(folder) == ".json":
        return _read_object(folder)
    _refuse_no_folder(folder)
    corpus, queries = (_file(folder, names) for names in (_DOCUMENTS, _QUESTIONS))

    # Judgements beside the queries: BEIR's folder of splits, or one file.
    qrels = folder / "qrels"
    beside = sorted(path for path in folder.glob("qrels.*") if path.is_file())
    if split is not None and not qrels.is_dir():
        asked = f"split={shown(split)} was asked for, but {folder} has no folder qrels"
        raise ValueError(f"{asked}. Leave split out.")
    if qrels.is_dir():
        path = _qrels_path(qrels, split)
        return Dataset(_documents(corpus), _judged_queries(_asked(queries), path, queries))
    if beside:
        all_qa = _judged_queries(load_questions(queries, relevant=[]), beside[0], queries)
        return Dataset(load_documents(corpus), all_qa)

    # Judgements within: the kit's lines as they are, other tables by their columns.
    if {ending(corpus), ending(queries)} == {".jsonl"}:
        docs = [record for _, record in read_jsonl(corpus)]
        return Dataset(docs, [record for _, record in read_jsonl(queries)])
    found = load_documents(corpus)
    return Dataset(found, load_questions(queries, found))


def _read_object(path: Path) -> Dataset:
    if not isinstance(read_table(path, None), Both):
        raise NotADirectoryError(
            f"{path} is a file that does not hold both documents and questions. Read it with "
            "load_documents or load_questions, or give the folder of a dataset."
        )
    docs = load_documents(path)
    return Dataset(docs, load_questions(path, docs))


def _refuse_no_folder(folder: Path) -> None:
    if folder.is_file():
        cure = f"Give its folder: {folder.parent}"
        if not any(folder.parent.glob("corpus.*")):
            cure = "Give a folder with corpus.jsonl and queries.jsonl; load_documents, "
            cure += "load_questions, load_qrels and load_run read files"
        raise NotADirectoryError(f"{folder} is a file. {cure}.")
    if not folder.is_dir():
        raise not_found(folder)


def _file(folder: Path, names: Sequence[str]) -> Path:
    """Return the file of this name, whatever its form; else name the datasets below the folder."""
    for name in names:
        found = [path for path in sorted(folder.glob(f"{name}.*")) if ending(path) in TABLES]
        if found:
            return found[0]

    below = [*folder.glob(f"*/{names[0]}.jsonl"), *folder.glob(f"*/*/{names[0]}.jsonl")]
    where = name_some(sorted(str(path.parent) for path in below))
    hint = "Is it the folder? One of texts is read by load_documents."
    if below:
        hint = f"Datasets below it: {where}. Give one of them."
    raise FileNotFoundError(f"{folder / names[0]}.jsonl not found. {hint}")


def _documents(path: Path) -> list[dict[str, Any]]:
    """Read documents in BEIR's form, or in any other by their columns."""
    if ending(path) != ".jsonl":
        return load_documents(path)
    docs = []
    for record in _beir_records(path):
        title = record.get("title", "")
        docs.append({"doc_id": record["_id"], "title": title, "content": record["text"]})
    return docs


def _asked(path: Path) -> list[dict[str, Any]]:
    """Read questions without judgements."""
    if ending(path) != ".jsonl":
        return load_questions(path, relevant=[])
    records = _beir_records(path)
    return [{"query_id": record["_id"], "question": record["text"]} for record in records]


def _beir_records(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file in BEIR's form, which have an _id and a text."""
    lines = read_jsonl(path)
    for line, record in lines:
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


def _judged_queries(
    queries: list[dict[str, Any]], qrels_path: Path, queries_path: Path
) -> list[dict[str, Any]]:
    """Return the queries that the file judges, each with its grades."""
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for query_id, doc_id, grade in _qrels(qrels_path).itertuples(index=False):
        grades[query_id][doc_id] = grade

    unknown = sorted(grades.keys() - {query["query_id"] for query in queries})
    if unknown:
        found = f"{count(len(unknown), 'query')} not found in {queries_path.name}"
        cure = "Are the two files of one dataset?"
        raise ValueError(f"{qrels_path}: {found}: {name_some(unknown)}. {cure}")
    judged = [query for query in queries if query["query_id"] in grades]
    _warn_of_unjudged(queries, grades.keys(), qrels_path, queries_path)
    return [{**query, "relevant_doc_ids": grades[query["query_id"]]} for query in judged]


def _warn_of_unjudged(
    queries: list[dict[str, Any]], judged: Set[str], qrels_path: Path, queries_path: Path
) -> None:
    """Name the queries that no split judges: a judgement was forgotten, or no document answers."""
    unjudged = [query["query_id"] for query in queries if query["query_id"] not in judged]
    if unjudged and qrels_path.parent.name == "qrels":  # the first field of each line is enough
        texts = [read_text(path) for path in qrels_path.parent.glob("*.tsv")]
        known = {line.split("\t")[0].strip() for text in texts for line in text.split("\n")}
        unjudged = [query_id for query_id in unjudged if query_id not in known]
    if unjudged:
        found = f"{count(len(unjudged), 'query')} of {queries_path.name} left out, not judged"
        cure = "Judge them, or add them with relevant_doc_ids=[] if no document answers"
        warn_user(f"{found} in {qrels_path.parent}: {name_some(unjudged)}. {cure}.")


def _qrels(path: Path) -> pd.DataFrame:
    """Read judgements from TREC's and BEIR's forms, or from a table by its columns."""
    if ending(path) not in (".jsonl", ".json", ".csv", ".parquet"):
        return load_qrels(path)
    table = read_table(path, None)
    if isinstance(table, Both):
        raise ValueError(f"{path} holds documents and questions. Judgements were wanted.")
    columns = recognise(table.columns, QRELS, {}, str(path))
    missing = [field for field in ("query_id", "doc_id") if field not in columns]
    if missing:
        raise ValueError(
            f"{path}: no column of the {missing[0]} among {named(table.columns)}. "
            "Judgements have query_id, doc_id and relevance."
        )

    rows = []
    for number, row in enumerate(table.rows, start=1):
        where = f"{path}, row {number}"
        ids = [as_text(row.get(columns[field]), where) for field in ("query_id", "doc_id")]
        grade = 1.0
        if "relevance" in columns:
            grade = as_number(row.get(columns["relevance"]), "grade", where)
        rows.append((*ids, float(grade)))
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
