"""Records in any shape as rows under columns: dicts, DataFrames, LangChain documents, JSON.

What other tools nest is laid out flat; documents and questions that come in one are told apart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rageval_kit.columns import is_known, named
from rageval_kit.documents import read_document, refuse_odd_columns, stored_id
from rageval_kit.messages import is_list, shown, wrong_type

Row = Mapping[str, Any]


class Table(NamedTuple):
    """Rows under named columns; ``said`` is what is worth saying about how they were read."""

    where: str
    columns: Sequence[str]
    rows: Iterable[Row]
    said: str = ""


class Both(NamedTuple):
    """Documents and questions that came in one object."""

    documents: Table
    questions: Table


# ---------------------------------------------------------------- rows


def table_of(source: Any, name: str) -> Table | Both:
    """Return the rows of what is no path: a DataFrame, dicts, LangChain documents or a loader.

    Raises:
        TypeError: it is none of these.
    """
    load = getattr(source, "lazy_load", None) or getattr(source, "load", None)
    if isinstance(source, pd.DataFrame):
        refuse_odd_columns(source, name)
        rows = source.itertuples(index=False, name=None)
        dicts = (dict(zip(source.columns, row, strict=True)) for row in rows)
        return Table(name, list(source.columns), dicts)
    if callable(load):  # a loader of LangChain's
        return rows_of(list(load()), name)
    if isinstance(source, Mapping):
        if hasattr(source, "num_rows"):
            raise ValueError(
                f"{name} holds the splits {named(list(source))}. Give one: {name}['train']."
            )
        return tables_of(source, name)
    if not is_list(source):
        raise wrong_type(name, "a path, a DataFrame or a list of dicts", source)
    return rows_of(list(source), name)


def rows_of(records: Sequence[Any], where: str) -> Table:
    """Return records as a table; what tools nest within a record is laid out flat."""
    rows = []
    for position, record in enumerate(records, start=1):
        if hasattr(record, "page_content") and hasattr(record, "metadata"):
            rows.append(_of_langchain(record))
        elif isinstance(record, Mapping):
            rows.append(_flat(record))
        else:
            wanted = "a dict or a LangChain document"
            raise wrong_type(f"{where}, entry {position},", wanted, record)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    _want_names(columns, where)
    return Table(where, columns, rows)


def _want_names(keys: Iterable[Any], where: str) -> None:
    odd = [key for key in keys if not isinstance(key, str)]
    if odd:
        raise wrong_type(f"{where}: every key", "a text", odd[0])


# What promptfoo, LangSmith, LangChain and MS MARCO nest.
_NESTED = ("vars", "inputs", "outputs", "reference_outputs", "metadata", "passages")


def _flat(record: Row) -> Row:
    nested = [name for name in _NESTED if isinstance(record.get(name), Mapping)]
    if not nested:
        return record
    flat = {name: value for name, value in record.items() if name not in nested}
    for name in nested:
        flat = {**record[name], **flat}
    for check in record.get("assert") or []:  # promptfoo's answer
        flat.setdefault("expected", check.get("value"))
    return flat


def _of_langchain(document: Any) -> Row:
    """Return a LangChain document as a row; a loader's has its file and page for an id."""
    if stored_id(document) is not None:
        return {**document.metadata, **read_document(document)}
    row = {**document.metadata, "content": document.page_content}
    if "source" in row:
        source, page = str(row["source"]), row.get("page")
        row["doc_id"] = source
        row.setdefault("title", Path(source).stem)
        if isinstance(page, int):  # LangChain counts pages from 0
            row.update(doc_id=f"{source}#page={page + 1}", source_id=source, page=page + 1)
    return row


def tables_of(value: Any, where: str) -> Table | Both:
    """Return the rows of what JSON holds.

    A list of objects; an object of columns, of texts by id or of objects by id; or documents and
    questions in one: the kit's, LlamaIndex's and SQuAD's.

    Raises:
        ValueError: it is an object of other keys.
    """
    if isinstance(value, list):
        return rows_of(value, where)
    if not isinstance(value, Mapping):
        found = f"a list or an object was wanted, found {shown(value)}"
        raise ValueError(f"{where}: {found}. Save a list of objects.")
    _want_names(value, where)
    for keys, reader in _SHAPES:
        if keys <= value.keys():
            try:
                return reader(value, where)
            except (KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{where} has the keys {named(sorted(keys))}, but within them something is "
                    f"missing or of another kind: {error}. Save it again, whole."
                ) from None
    return _of_object(value, where)


def _of_object(value: Row, where: str) -> Table:
    # One record; columns, which pandas writes by row; objects or texts by id.
    parts, known = list(value.values()), any(map(is_known, value))
    if known and not any(isinstance(part, (list, Mapping)) for part in parts):
        return rows_of([value], where)
    if known and all(isinstance(part, list) for part in parts) and len({*map(len, parts)}) == 1:
        return _of_columns(value, where)
    if known and all(isinstance(part, Mapping) for part in parts):
        return _of_columns({name: list(part.values()) for name, part in value.items()}, where)
    if parts and all(isinstance(part, Mapping) and any(map(is_known, part)) for part in parts):
        return rows_of([{"id": key, **part} for key, part in value.items()], where)
    if parts and all(isinstance(part, str) for part in parts):
        return rows_of([{"id": key, "text": part} for key, part in value.items()], where)
    raise ValueError(
        f"{where} is one object with the keys {named(list(value))}, which is no form known here. "
        "Give the list of records that is in it: json.load(file)[key]."
    )


def _of_columns(columns: Row, where: str) -> Table:
    cells = zip(*columns.values(), strict=True)
    return rows_of([dict(zip(columns, row, strict=True)) for row in cells], where)


# ---------------------------------------------------------------- documents and questions in one


def _kit(value: Row, where: str) -> Both:
    return Both(*(rows_of(value[part], f"{where}: {part}") for part in ("docs", "all_qa")))


def _llama_index(value: Row, where: str) -> Both:
    documents = [{"doc_id": key, "content": text} for key, text in value["corpus"].items()]
    questions = [
        {"query_id": key, "question": text, "relevant_doc_ids": value["relevant_docs"].get(key)}
        for key, text in value["queries"].items()
    ]
    return Both(rows_of(documents, where), rows_of(questions, where))


def _squad(value: Row, where: str) -> Both:
    """Read SQuAD and KorQuAD: every paragraph is a document, p0, p1, ..."""
    documents: list[Row] = []
    questions: list[Row] = []
    for entry in value["data"]:
        for paragraph in entry.get("paragraphs", [entry]):  # KorQuAD 2 has a page an entry
            doc_id = f"p{len(documents)}"
            title, content = entry.get("title", ""), paragraph["context"]
            documents.append({"doc_id": doc_id, "title": title, "content": content})
            questions += [_squad_question(qa, doc_id) for qa in paragraph["qas"]]
    return Both(rows_of(documents, where), rows_of(questions, where))


def _squad_question(qa: Row, doc_id: str) -> Row:
    answers = qa.get("answers") or qa.get("answer") or []
    answer = answers[0] if isinstance(answers, list) and answers else answers
    record = {"query_id": qa["id"], "question": qa["question"]}
    if not answer or qa.get("is_impossible"):
        return {**record, "relevant_doc_ids": []}
    return {**record, "relevant_doc_ids": [doc_id], "ground_truth": answer["text"]}


_SHAPES: tuple[tuple[set[str], Callable[[Any, str], Table | Both]], ...] = (
    ({"docs", "all_qa"}, _kit),
    ({"queries", "corpus", "relevant_docs"}, _llama_index),
    ({"data", "version"}, _squad),
    ({"tests"}, lambda value, where: rows_of(value["tests"], where)),  # promptfoo
)
