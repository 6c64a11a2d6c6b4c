"""The relevant documents of a question, from what people write in a cell.

Ids, texts that are found in the documents, or files that an answer cites. What was found how is
gathered on the way, and said at the end.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from rageval_kit.cells import as_list, as_number, as_text, flat
from rageval_kit.documents import Docs, Record, as_docs, field_text
from rageval_kit.files import nfc
from rageval_kit.messages import count, name_some, printable, shown, warn_user
from rageval_kit.places import PassageFinder, Place, written_alike
from rageval_kit.records import Row, Table
from rageval_kit.wording import in_english, say, say_count, say_some, to_say

Relevant: TypeAlias = str | Callable[[Row], Any] | Sequence[str] | None
TEXT_FIELDS = ("text", "content", "passage_text")


class Gold:
    """Reads the relevant documents of a row: ids, texts that are found in the documents, or files.

    What was found how is gathered, and said at the end.
    """

    def __init__(
        self, docs: Docs | None, columns: Mapping[str, str], relevant: Relevant, near: float | None
    ) -> None:
        self._docs = None if docs is None else as_docs(docs)
        self._ids = {doc["doc_id"] for doc in self._docs or []}
        self._sources = {field_text(doc, "source_id") for doc in self._docs or []} - {""}
        self._columns, self._relevant, self._near = columns, relevant, near
        self.graded = "relevance" in columns
        self._finder: PassageFinder | None = None
        self._lost: list[tuple[str, str]] = []
        self._repeated: list[str] = []
        self._nearly = self._cited = 0

    def of(
        self, row: Row, cited: Sequence[str], query: dict[str, Any], where: str
    ) -> dict[str, float]:
        """Return the documents of a row with their grades; passages go into the query."""
        # A known id is one, whatever it looks like.
        value = self._value(row, cited, where)
        grade = 1.0
        if "relevance" in self._columns:
            grade = as_number(cell(row, self._columns, "relevance"), "grade", where)
        if isinstance(value, str) and value in self._ids:
            return {value: grade}

        # Texts, which the documents hold.
        if self._is_text(value, where):
            texts = members(as_list(value, where, of_ids=False), TEXT_FIELDS)
            found = [self._find(as_text(text, where), query, where) for text in texts]
            return {doc_id: grade for doc_ids in found for doc_id in doc_ids}

        # Ids, with grades or without.
        listed = as_list(value, where, of_ids=True)
        if isinstance(listed, Mapping):
            self.graded = True
            grades = {
                as_text(key, where): as_number(of, "grade", where) for key, of in listed.items()
            }
            return {doc_id: of for key, of in grades.items() for doc_id in self._known(key, where)}
        group = next((part for part in listed if isinstance(part, list) and len(part) > 1), None)
        if group is not None:
            raise ValueError(
                f"{where}: {shown(group)} are alternatives, of which one is enough; the kit counts "
                "each. Choose one, or take all: relevant=lambda row: a list of ids."
            )
        keys = [as_text(key, where) for key in members(listed, ("doc_id", "id"))]
        return {doc_id: grade for key in keys for doc_id in self._known(key, where)}

    def _value(self, row: Row, cited: Sequence[str], where: str) -> Any:
        """Return what says which documents are relevant: of a function, a column, the answer."""
        if callable(self._relevant):
            try:
                return self._relevant(row)
            except Exception as error:
                failed = f"{where}: the function relevant= failed ({type(error).__name__}: {error})"
                raise ValueError(f"{failed}. It is given a row as a dict; fix it.") from error
        if self._relevant is not None and not isinstance(self._relevant, str):
            return []
        column = self._columns.get("relevant") or self._columns.get("texts")
        self._cited += bool(not column and cited)
        return row.get(column) if column else list(cited)

    def _is_text(self, value: Any, where: str) -> bool:
        """Say whether a cell holds texts: by its column, or no id where the column was named."""
        if "texts" in self._columns:
            return True
        if self._relevant is None or self._docs is None:
            return False
        listed = as_list(value, where, of_ids=False)
        ids = [part for part in flat(as_list(value, where, of_ids=True)) if isinstance(part, str)]
        texts = [part for part in flat(listed) if isinstance(part, str)]
        return not self._ids.intersection(ids) and any(re.search(r"\s", text) for text in texts)

    def _known(self, key: str, where: str) -> list[str]:
        """Return the documents that a cell names, which the documents tell where they are given."""
        several = [part.strip() for part in key.split(",")]
        if key in self._ids or (self._docs is None and not _unclear(key)):
            return [key]

        # Several parted by a comma, which only the documents can tell from one id.
        if self._docs is None:
            raise ValueError(
                f"{where}: is {shown(key)} one id or {len(several)}? Give the documents, which "
                "tell: load_questions(..., docs); or part ids by ;"
            )
        if all(part in self._ids for part in several):
            return several
        if nfc(key) in self._ids:  # a file's name as macOS writes it
            return [nfc(key)]

        # A page of a file; a file of which only the chunks are there.
        file = key.partition("#page=")[0]
        if file in self._ids:
            return [file]
        if key in self._sources or file in self._sources:
            raise ValueError(
                f"{where}: {shown(key)} is a file, and docs are its chunks or pages. Load the "
                "questions with the whole documents, and use search_folded(..., source_of), which "
                "turns hits of chunks into hits of their files."
            )
        return [key] if key else []

    def _find(self, text: str, query: dict[str, Any], where: str) -> list[str]:
        """Return the documents that hold a text, and keep where."""
        if self._docs is None:
            raise ValueError(
                f"{where}: the relevant documents are given as texts, which are looked for in the "
                "documents: load_questions(..., docs). Without a corpus, load_pairs makes one of "
                "the texts."
            )
        if not written_alike(text):
            return []

        # Where it stands; what is nearly the same only if that was asked for.
        self._finder = self._finder or PassageFinder(self._docs)
        places = self._finder.find(text)
        if not places and self._near is not None:
            nearest = self._finder.nearest(text)
            places = [nearest] if nearest and nearest.similarity >= self._near else []
            self._nearly += len(places)
        if not places:
            self._lost.append((query["query_id"], text))
        if len(places) > 1:
            listed = name_some([f"{place.doc_id} at {place.start}" for place in places])
            self._repeated.append(f"{query['query_id']} {shown(text)} ({listed})")

        # Of a document the first place.
        first: dict[str, Place] = {}
        for place in places:
            first.setdefault(place.doc_id, place)
        passages = query.setdefault("relevant_passages", [])
        for place in first.values():
            passage = {"doc_id": place.doc_id, "start": place.start, "end": place.end}
            if passage not in passages:
                passages.append(passage)
        return list(first)

    # ------------------------------------------------------------ what is said at the end

    def refuse_lost(self, table: Table, queries: Sequence[Record]) -> None:
        """Refuse gold that was not found, and questions without any; name what stands twice."""
        # What was not found would be a query without a relevant document.
        if self._lost:
            listed = "; ".join(self._nearest(*lost) for lost in self._lost[:5])
            raise ValueError(
                f"{table.where}: {count(len(self._lost), 'gold text')} not found in the documents: "
                f"{listed}. Correct them, take the rows out, or where the nearest differs by "
                "little allow it: near=0.9."
            )
        if self._repeated:
            warn_user(
                f"{count(len(self._repeated), 'gold text')} found in several places; every "
                f"document that holds one is taken as relevant: {name_some(self._repeated)}."
            )

        # No relevant document at all, and not on purpose.
        none = not any(query["relevant_doc_ids"] for query in queries)
        if none and not isinstance(self._relevant, (list, tuple)):
            with in_english():
                said = [say("no relevant documents")]
                note = note_of(len(queries), "question", self._columns, table, said)
            left = "with relevant=[] they can be loaded without"
            if "ground_truth" in self._columns:
                left += ", and answers measured: answer_accuracy"
            raise ValueError(
                f"{table.where}: {note}. Retrieval is measured against relevant documents: name "
                f"their column, relevant=..., or give a function from a row to them; {left}."
            )

    def _nearest(self, query_id: str, text: str) -> str:
        place = self._finder.nearest(text) if self._finder else None
        if place is None:
            return f"{query_id} {shown(text)} (nothing near it)"
        at = f"{place.doc_id} at {place.start} to {place.end}, similarity {place.similarity:.2f}"
        return f"{query_id} {shown(text)} (nearest: {at})"

    def said(self, queries: Sequence[Record]) -> list[str]:
        """Return what the note says of the relevant documents."""
        without = sum(not query["relevant_doc_ids"] for query in queries)
        answers = say_count(self._cited, "answer")
        if without < len(queries):
            lacking = say("{n:,} without relevant documents", n=without)
        else:
            lacking = say("no relevant documents")
        facts = {
            say("relevant_doc_ids <- files in {answers}", answers=answers): self._cited,
            say("{n:,} found by near={near}", n=self._nearly, near=self._near): self._nearly,
            lacking: without,
        }
        return [fact for fact, number in facts.items() if number]


def _unclear(key: str) -> bool:
    """Say whether a cell may be one id or several: a comma that parts no thousands."""
    return "," in key and not re.fullmatch(r"\d{1,3}(,\d{3})+", key)


def members(listed: Any, fields: Sequence[str]) -> Iterable[Any]:
    """Return the members of a list; of a dict within it, the field that is meant."""
    members = flat(listed) if isinstance(listed, list) else [listed]
    for member in members:
        if isinstance(member, Mapping):
            yield next((member[field] for field in fields if field in member), None)
        else:
            yield member


# ---------------------------------------------------------------- cells and notes


def cell(row: Row, columns: Mapping[str, str], field: str) -> Any:
    """Return what a row has in the column of a field; None where no column is."""
    return row.get(columns[field]) if field in columns else None


_KIT_NAMES = {
    "relevant": "relevant_doc_ids",
    "texts": to_say("relevant_doc_ids, found in the documents"),
}


def note_of(
    n: int, noun: str, columns: Mapping[str, str], table: Table, more: Sequence[str] = ()
) -> str:
    """Say in one line what was recognised, and what was left out."""
    read = ", ".join(
        f'{say(_KIT_NAMES[field]) if field in _KIT_NAMES else field} <- "{column}"'
        for field, column in columns.items()
    )
    parts = [say("read {counted}: {columns}", counted=say_count(n, noun), columns=read), *more]

    # The columns that nothing was read from.
    others = [f'"{name}"' for name in table.columns if name not in columns.values()]
    parts += [say("left out: {others}", others=say_some(others))] if others else []
    return printable("; ".join(parts + ([table.said] if table.said else [])))
