"""The door for documents: docs in any form become a list of dicts ``doc_id, title, content``.

The text that is embedded is the title, a line break, and the content; LangChain documents are read
back in the same way.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from rageval_kit.messages import is_list, name_some, shown, typed, wrong_type

if TYPE_CHECKING:
    from langchain_core.documents import Document

Record: TypeAlias = Mapping[str, Any]
Docs: TypeAlias = Sequence[Any] | pd.DataFrame  # of dicts, or of LangChain documents

# A notebook would typeset "costs $5 and $10", in whatever cell of a table, as a formula.
pd.set_option("display.html.use_mathjax", False)

# Where a chunk stands: what a document keeps, in a store and in its hits, beside its text.
PLACE_FIELDS = ("source_id", "start", "end", "page")

# What LangChain makes up where no id is given: a random UUID.
_RANDOM_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class Loaded(list[dict[str, Any]]):
    """The plain list of dicts that a file holds; ``note`` says in one line how it was read."""

    def __init__(self, records: Iterable[dict[str, Any]], note: str) -> None:
        super().__init__(records)
        self.note = note


def as_docs(docs: Docs, want: Sequence[str] = ("doc_id",)) -> list[Record]:
    """Return the documents as a list of dicts, each with an id of its own.

    Args:
        docs: dicts, a table, or LangChain documents.
        want: the fields that every document must have.

    >>> as_docs([{"doc_id": "doc_001", "content": "Retrieval comes first."}])
    [{'doc_id': 'doc_001', 'content': 'Retrieval comes first.'}]

    Raises:
        TypeError: docs is not a list of documents, or a doc_id is not a text.
        KeyError: a field is missing.
        ValueError: a doc_id is empty or appears twice.
    """
    records = as_records(docs, "docs")
    if records and "query_id" in records[0] and "doc_id" not in records[0]:
        raise wrong_type("docs", "a list of documents", records)

    seen: set[str] = set()
    for position, doc in enumerate(records, start=1):
        where = f"docs, entry {position}"
        want_fields(doc, want, where)
        doc_id = doc["doc_id"]
        if not isinstance(doc_id, str):
            raise TypeError(
                f"{where}: doc_id must be a text, found {typed(doc_id)}. "
                "Make it a text, here and in relevant_doc_ids: str(id)."
            )
        if not doc_id.strip():
            raise ValueError(f"{where}: the doc_id is empty. Give every document an id.")
        if doc_id in seen:
            raise ValueError(
                f"doc_id {shown(doc_id)} appears twice (again in {where}). "
                "Give each document its own id."
            )
        seen.add(doc_id)
    return records


def as_records(records: Any, name: str) -> list[Record]:
    """Return docs or all_qa as a list of dicts; ``name`` is what an error calls it."""
    records = as_table(records, name)
    if isinstance(records, pd.DataFrame):
        refuse_odd_columns(records, name)
        rows = records.itertuples(index=False, name=None)
        return [dict(zip(records.columns, row, strict=True)) for row in rows]
    if not is_list(records):
        raise wrong_type(name, "a list of dicts or a DataFrame", records)

    records = [read_document(record) if is_langchain(record) else record for record in records]
    for position, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise wrong_type(f"{name}, entry {position},", "a dict", record)
    return records


def as_table(given: Any, name: str) -> Any:
    """Return a table of polars, pyarrow or datasets as a DataFrame; anything else as it is.

    A row of theirs holds every key of a column of dicts, with None where it has none: those go.
    """
    if isinstance(given, (pd.DataFrame, list, dict)):
        return given
    if hasattr(given, "to_pydict"):  # pyarrow
        columns = given.to_pydict()
    elif hasattr(given, "to_dicts"):  # polars
        columns = given.to_dict(as_series=False)
    elif hasattr(given, "column_names") and hasattr(given, "to_dict"):  # datasets
        columns = given.to_dict()
    else:
        return given

    # pyarrow's may have two columns of a name, of which a dict holds one.
    refuse_odd_columns(pd.DataFrame(columns=list(getattr(given, "column_names", columns))), name)
    without_none = {name: list(map(_without_none, cells)) for name, cells in columns.items()}
    return pd.DataFrame(without_none)


def _without_none(cell: Any) -> Any:
    if not isinstance(cell, dict):
        return cell
    return {key: value for key, value in cell.items() if value is not None}


def want_fields(record: Record, fields: Sequence[str], where: str) -> None:
    """Refuse a record that lacks one of the fields."""
    missing = [field for field in fields if field not in record]
    if missing:
        found = name_some(list(record)) or "nothing"
        raise KeyError(f"{where}: the field {missing[0]} is missing (found {found}). Add it.")


def refuse_odd_columns(table: pd.DataFrame, name: str) -> None:
    """Refuse a table in which a column is called by no text, or two are called alike."""
    odd = [column for column in table.columns if not isinstance(column, str)]
    if odd:
        raise TypeError(f"{name}: every column must be called by a text. Rename {shown(odd[0])}.")
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()][0]
        raise ValueError(f"{name}: the column {twice} appears twice. Keep one of the two.")


# ---------------------------------------------------------------- a document's text


def text_of(doc: Record) -> str:
    r"""Return the text that is embedded: title, line break, content.

    >>> text_of({"doc_id": "doc_001", "title": "RAG", "content": "Retrieval comes first."})
    'RAG\nRetrieval comes first.'

    Raises:
        TypeError: title or content is not a text; an empty cell of a table counts as "".
    """
    return f"{one_line(doc, 'title')}\n{field_text(doc, 'content')}".strip()


def one_line(doc: Record, field: str) -> str:
    """Return a field as one line: a title with a line break could not be read back."""
    return " ".join(field_text(doc, field).split())


def field_text(doc: Record, field: str) -> str:
    """Return a field that should be a text; "" where it is missing or an empty cell."""
    value = doc.get(field)
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    raise TypeError(
        f"{doc.get('doc_id')}: {field} must be a text, found {typed(value)}. Write str(...)."
    )


# ---------------------------------------------------------------- LangChain's documents


def is_langchain(record: Any) -> bool:
    """Say whether it is a LangChain document, or made like one."""
    return hasattr(record, "page_content") and hasattr(record, "metadata")


def stored_id(document: "Document") -> str | None:
    """Return the doc_id of a LangChain document: in its metadata, else its own id, else None."""
    doc_id = document.metadata.get("doc_id")
    doc_id = document.id if doc_id is None else doc_id
    return doc_id if isinstance(doc_id, str) else None


def doc_id_of(document: "Document") -> str:
    """Return the doc_id of a LangChain document.

    Raises:
        ValueError: it has none.
    """
    doc_id = stored_id(document)
    if doc_id is None:
        fields = name_some(list(document.metadata)) or "none"
        raise ValueError(
            f"A document has no doc_id (metadata: {fields}; id: {document.id!r}). Give every "
            'document metadata={"doc_id": "doc_001"}, the id that relevant_doc_ids name.'
        )
    return doc_id


def place_fields(record: Record) -> dict[str, Any]:
    """Return what a document says about where it stands; nothing for one that is no chunk."""
    return {field: record[field] for field in PLACE_FIELDS if field in record}


def looks_made_up(doc_id: Any) -> bool:
    """Say whether an id has the form of those that LangChain makes up where none is given.

    It may still be the user's: LlamaIndex's and AutoRAG's ids have the same form.

    >>> looks_made_up("0b6f3d2c-6f5d-4b3e-9a55-2b5f0a1c9d10"), looks_made_up("doc_001")
    (True, False)
    """
    return isinstance(doc_id, str) and _RANDOM_ID.fullmatch(doc_id) is not None


def read_document(document: "Document") -> dict[str, Any]:
    """Return a LangChain document as ``{"doc_id", "title", "content"}``, and a chunk's place.

    Raises:
        ValueError: it has no doc_id.
    """
    title = document.metadata.get("title")
    title = title if isinstance(title, str) else ""
    first_line, _, rest = document.page_content.partition("\n")
    content = rest if title and first_line == title else document.page_content
    place = place_fields(document.metadata)
    return {"doc_id": doc_id_of(document), "title": title, "content": content, **place}
