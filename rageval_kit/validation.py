"""Validate documents and all_qa against each other before anything is measured."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any

import pandas as pd

from rageval_kit.documents import Docs, as_records
from rageval_kit.findings import Finding, Report
from rageval_kit.judgements import AllQA, relevant_grades
from rageval_kit.messages import count, name_some, plural

# Looking for the nearest id compares texts one by one; beyond this many comparisons it is left out.
_MOST_COMPARISONS = 300_000


def validate_dataset(docs: Docs, all_qa: AllQA) -> Report:
    """Check documents and queries against each other, print the verdict and return the report.

    Errors are what makes a metric wrong: a relevant_doc_id that is in no document, a repeated,
    missing, empty or non-text id, ids that differ only by type, white space, case or Unicode
    form, a grade that is not a number. Warnings are what makes it misleading: equal texts,
    repeated questions, queries without a relevant document, a question that is a document's text.

    >>> docs = [{"doc_id": "doc_001", "title": "RAG", "content": "Retrieval comes first."}]
    >>> all_qa = [{"query_id": "q03", "question": "What comes first?", "relevant_doc_ids": ["doc_999"]}]
    >>> report = validate_dataset(docs, all_qa)
    [FAIL] 1 document, 1 query: 1 error, 0 warnings
      error: q03 -> doc_999: this relevant_doc_id is in no document. Correct the id, or add the document to the corpus.
    >>> len(report)
    1

    Raises:
        TypeError: docs or all_qa is not a list of dicts (or a DataFrame), or the two are swapped.
    """
    report = find_problems(docs, all_qa)
    print(report)
    return report


def find_problems(docs: Docs, all_qa: AllQA) -> Report:
    """Return the report of `validate_dataset` without printing it."""
    documents, queries = as_records(docs, "docs"), as_records(all_qa, "all_qa")
    if documents and "query_id" in documents[0] and "doc_id" not in documents[0]:
        raise TypeError(
            "The first argument looks like queries. Write validate_dataset(docs, all_qa)."
        )
    is_qrels_table = isinstance(all_qa, pd.DataFrame) and "doc_id" in all_qa
    query_fields = (
        ("query_id", "relevant_doc_ids")
        if is_qrels_table
        else ("query_id", "question", "relevant_doc_ids")
    )
    findings = [
        *_fields(documents, "document", "doc_id", ("doc_id", "title", "content")),
        *_ids(documents, "document", "doc_id"),
        *_fields(queries, "query", "query_id", query_fields),
        *_ids(queries, "query", "query_id"),
        *_judgements(documents, queries),
        *_texts(documents, queries),
        *(
            _repeated_judgements(all_qa)
            if isinstance(all_qa, pd.DataFrame) and is_qrels_table
            else ()
        ),
    ]
    return Report(findings, f"{count(len(documents), 'document')}, {count(len(queries), 'query')}")


def _fields(
    records: list[Mapping[str, Any]], name: str, id_field: str, wanted: Sequence[str]
) -> Iterator[Finding]:
    if not records:
        yield Finding(
            "error",
            "empty",
            f"all {plural(name)}",
            f"there is no {name}",
            f"Load at least one {name}",
        )
    untitled = 0
    for position, record in enumerate(records, start=1):
        where = f"{name} {position} ({id_field} {record.get(id_field)!r})"
        for field in wanted:
            value = record.get(field)
            if field not in record:
                found = ", ".join(map(str, record))
                yield Finding(
                    "error",
                    "field",
                    where,
                    f"the field {field} is missing (found {found})",
                    f"Add {field}",
                )
            elif field == "title" and isinstance(value, str) and value == "":
                untitled += 1
            elif field not in (id_field, "relevant_doc_ids") and not (
                isinstance(value, str) and value.strip()
            ):
                what = f"{field} must be a text that is not empty, found {value!r}"
                yield Finding(
                    "error", "field", where, what, f"Give it a {field}, or take the {name} out"
                )
    if untitled:
        what = f"{untitled:,} of {len(records):,} documents have an empty title"
        yield Finding(
            "warning", "title", "corpus", what, "Nothing to do if the collection has no titles"
        )


def _ids(records: list[Mapping[str, Any]], name: str, id_field: str) -> Iterator[Finding]:
    positions: dict[tuple[type, Any], list[int]] = defaultdict(list)
    for position, record in enumerate(records, start=1):
        if id_field not in record:
            continue
        value = record[id_field]
        if not isinstance(value, str) or not value.strip():
            what = f"{id_field} must be a text that is not empty, found {type(value).__name__} {value!r}"
            yield Finding(
                "error", "id type", f"{name} {position}", what, f'Make it a text: "{value}"'
            )
        if (
            isinstance(value, (str, Real)) and value == value
        ):  # NaN has no key: it is unequal to itself
            positions[type(value), value].append(position)
    for (_, value), where in positions.items():
        if len(where) > 1:
            what = f"{id_field} {value!r} stands {len(where)} times"
            cure = f"Give every {name} an id of its own, or remove the repeats"
            yield Finding("error", "repeated id", f"{plural(name)} {name_some(where)}", what, cure)
    alike: dict[str, list[Any]] = defaultdict(list)
    for _, value in positions:
        alike[_canonical(value)].append(value)
    for values in alike.values():
        if len(values) > 1:
            what = f"{' and '.join(map(repr, values))} differ only by {_difference(*values[:2])}"
            yield Finding(
                "error", "confusable ids", f"{id_field}s", what, "Write an id in one way everywhere"
            )


def _judgements(
    documents: list[Mapping[str, Any]], queries: list[Mapping[str, Any]]
) -> Iterator[Finding]:
    known = [doc["doc_id"] for doc in documents if isinstance(doc.get("doc_id"), (str, Real))]
    known_set = {(type(doc_id), doc_id) for doc_id in known}
    canonical = {_canonical(doc_id): doc_id for doc_id in known}
    texts = sorted({doc_id for doc_id in known if isinstance(doc_id, str)})
    comparisons = 0
    for qa in queries:
        if "relevant_doc_ids" not in qa:
            continue
        query_id = qa.get("query_id")
        try:
            grades = relevant_grades(qa)
        except (TypeError, ValueError) as error:
            where, _, what = str(error).partition(": ")
            what, _, cure = what.partition(". ")
            yield Finding(
                "error", "judgement", where, what, cure.rstrip(".") or "Give a list of doc_ids"
            )
            continue
        if not any(grade > 0 for grade in grades.values()):
            what = (
                "this query has no relevant document; metrics leave it out and count it as excluded"
            )
            yield Finding(
                "warning",
                "no relevant",
                f"{query_id}",
                what,
                "Judge it, or keep it as unanswerable on purpose",
            )
        if len(grades) < len(qa["relevant_doc_ids"]):
            what = "a document is listed twice in relevant_doc_ids; it counts once"
            yield Finding("warning", "repeated judgement", f"{query_id}", what, "Remove the repeat")
        for doc_id in grades:
            if (type(doc_id), doc_id) in known_set and isinstance(doc_id, str):
                continue
            where, cure = (
                f"{query_id} -> {doc_id}",
                "Correct the id, or add the document to the corpus",
            )
            twin = canonical.get(_canonical(doc_id))
            if twin is not None and (type(twin), twin) != (type(doc_id), doc_id):
                what = f"{doc_id!r} differs from the corpus's {twin!r} only by {_difference(doc_id, twin)}"
                cure = "Write the id as text and in the same way on both sides"
                yield Finding("error", "confusable ids", where, what, cure)
                continue
            if not isinstance(doc_id, str):
                what = f"a relevant_doc_id must be a text, found {type(doc_id).__name__} {doc_id!r}"
                yield Finding("error", "id type", where, what, f'Make it a text: "{doc_id}"')
                continue
            comparisons += len(texts)
            near = (
                get_close_matches(doc_id, texts, cutoff=0.8)
                if comparisons <= _MOST_COMPARISONS
                else []
            )
            what = "this relevant_doc_id is in no document" + (
                f"; near it: {', '.join(near)}" if near else ""
            )
            yield Finding("error", "not in corpus", where, what, cure)


def _repeated_judgements(qrels: pd.DataFrame) -> Iterator[Finding]:
    repeated = qrels[qrels.duplicated(["query_id", "doc_id"])]
    for query_id, doc_id in dict.fromkeys(
        zip(repeated["query_id"], repeated["doc_id"], strict=True)
    ):
        what = "this document is judged twice for this query"
        yield Finding(
            "error", "repeated judgement", f"{query_id} -> {doc_id}", what, "Keep one judgement"
        )


def _texts(
    documents: list[Mapping[str, Any]], queries: list[Mapping[str, Any]]
) -> Iterator[Finding]:
    same_text = _groups((doc.get("content"), doc.get("doc_id")) for doc in documents)
    for text, doc_ids in same_text.items():
        if len(doc_ids) > 1:
            what = f"{len(doc_ids)} documents have the same content ({text[:30]!r}...)"
            yield Finding(
                "warning",
                "equal texts",
                name_some(doc_ids),
                what,
                "Keep one: copies inflate some scores and crowd out others",
            )
    for question, query_ids in _groups(
        (qa.get("question"), qa.get("query_id")) for qa in queries
    ).items():
        if len(query_ids) > 1:
            what = f"the question {question[:40]!r} is asked {len(query_ids)} times"
            yield Finding(
                "warning",
                "repeated question",
                name_some(query_ids),
                what,
                "Keep one: a repeated query weighs double in every mean",
            )
        if question in same_text:
            what = f"the question is literally the text of {name_some(same_text[question])}"
            yield Finding(
                "warning",
                "question is a document",
                name_some(query_ids),
                what,
                "Ask as a user would: a copied text is found too easily",
            )


def _groups(pairs: Iterable[tuple[Any, Any]]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for text, member in pairs:
        if isinstance(text, str) and text.strip():
            groups[" ".join(text.split())].append(member)
    return groups


def _canonical(value: Any) -> str:
    """Return the id without what the eye cannot see: type, outer white space, case, Unicode form."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = " ".join(str(value).split()).casefold()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _difference(one: Any, other: Any) -> str:
    if type(one) is not type(other):
        return f"type ({type(one).__name__} and {type(other).__name__})"
    nfc = [unicodedata.normalize("NFC", value) for value in (one, other)]
    spaced = [" ".join(value.split()) for value in nfc]
    differences = {
        "Unicode form (NFC and NFD)": (one, other) != (nfc[0], nfc[1]),
        "white space": nfc != spaced,
        "case": spaced[0] != spaced[1],
    }
    return " and ".join(name for name, differ in differences.items() if differ)
