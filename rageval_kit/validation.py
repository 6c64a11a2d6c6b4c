"""Validate documents and all_qa against each other before anything is measured."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import pandas as pd

from rageval_kit.documents import Docs, Loaded, Record, as_records
from rageval_kit.findings import Finding, Report, print_report
from rageval_kit.judgements import (
    AllQA,
    JudgementError,
    as_all_qa,
    as_queries,
    is_relevant,
    relevant_grades,
)
from rageval_kit.language import equal_text_key
from rageval_kit.messages import is_list, printable, shown, typed, wrong_type
from rageval_kit.passages import passage_problems
from rageval_kit.wording import say, say_count, say_some, to_say

# Looking for the nearest id compares texts one by one; beyond this many comparisons it is left out.
_MOST_COMPARISONS = 300_000


def validate_dataset(docs: Docs, all_qa: AllQA) -> Report:
    """Check documents and queries against each other, print the verdict and return the report.

    Errors are what makes a metric wrong: a relevant_doc_id that is in no document, a repeated,
    missing, empty or non-text id, ids that differ only by type, white space, case or Unicode
    form, a grade that is not a number, a relevant passage that does not stand in its document
    once. Warnings are what makes it misleading: equal texts, repeated questions, queries without a
    relevant document, questions that are a document's text or title, questions and documents in
    different Unicode forms. How `load_documents` and `load_questions` read their files is printed
    first.

    >>> docs = [{"doc_id": "doc_001", "title": "RAG", "content": "Retrieval comes first."}]
    >>> all_qa = [{"query_id": "q03", "question": "What is first?", "relevant_doc_ids": ["doc_9"]}]
    >>> report = validate_dataset(docs, all_qa)
    [FAIL] 1 document, 1 query: 1 error, 0 warnings
      error: q03 -> doc_9: this relevant_doc_id is in no document. Correct the id, or add ...
    >>> len(report)
    1

    Raises:
        TypeError: docs or all_qa is not a list of dicts (or a DataFrame), or the two are swapped.
    """
    report = find_problems(docs, all_qa)
    for records in (docs, all_qa):
        if isinstance(records, Loaded):
            print_report(printable(records.note))
    print_report(report)
    return report


def find_problems(docs: Docs, all_qa: AllQA) -> Report:
    """Return the report of `validate_dataset` without printing it."""
    is_of_grades, all_qa = not is_list(all_qa), as_all_qa(all_qa)  # pytrec's dict, ranx's Qrels
    documents, queries = as_records(docs, "docs"), as_records(all_qa, "all_qa")
    if documents and "query_id" in documents[0] and "doc_id" not in documents[0]:
        raise wrong_type("docs", "a list of documents", documents)
    if queries and "query_id" not in queries[0] and {"doc_id", "content"} <= set(queries[0]):
        raise wrong_type("all_qa", "a list of queries", queries)

    findings = [*_empty(documents, "document"), *_empty(queries, "query")]
    of_query = ["query_id", "question", "relevant_doc_ids"]

    # Judgements alone have no questions; as a table they can be read as a whole or not.
    columns = set(all_qa) if isinstance(all_qa, pd.DataFrame) else set()
    is_table = "doc_id" in columns and "relevant_doc_ids" not in columns
    if is_table or is_of_grades:
        of_query.remove("question")
    if is_table:
        try:
            queries = as_queries(all_qa)
        except (KeyError, TypeError, ValueError) as error:
            queries, what = [], str(error.args[0]).rstrip(".")
            where, cure = say("table of judgements"), say("Then validate again")
            findings.append(Finding("error", "table", where, what, cure))

    # A query may name passages in place of documents.
    judged = [{"relevant_doc_ids": [], **qa} if "relevant_passages" in qa else qa for qa in queries]

    # One look at each thing that can be wrong.
    findings += [
        *_missing(documents, "document", ["doc_id", "title", "content"]),
        *_missing(judged, "query", of_query),
        *_ids(documents, "document", "doc_id"),
        *_ids(queries, "query", "query_id"),
        *_contents(documents, "document", "doc_id", ["title", "content"], _judged_by(queries)),
        *_contents(queries, "query", "query_id", ["question"], {}),
        *_commands(documents, "document", ["doc_id", "title", "content"]),
        *_commands(queries, "query", ["query_id", "question", "ground_truth"]),
        *_untitled(documents),
        *_judgements(documents, queries),
        *_passages(documents, queries),
        *_texts(documents, queries),
        *_copied_questions(documents, queries),
        *_unicode_forms(documents, queries),
    ]
    checked = f"{say_count(len(documents), 'document')}, {say_count(len(queries), 'query')}"
    return Report(findings, checked)


# What the records are called, one and all.
_NAMES = {"document": to_say("document"), "query": to_say("query")}
_ALL = {"document": to_say("all documents"), "query": to_say("all queries")}
_PLACES = {"document": to_say("documents {places}"), "query": to_say("queries {places}")}


def _empty(records: Sequence[Record], name: str) -> Iterator[Finding]:
    if not records:
        noun = say(_NAMES[name])
        what, cure = (
            say("there is no {noun}", noun=noun),
            say("Load at least one {noun}", noun=noun),
        )
        yield Finding("error", "empty", say(_ALL[name]), what, cure)


# ---------------------------------------------------------------- fields and ids


def _missing(records: Sequence[Record], name: str, wanted: Sequence[str]) -> Iterator[Finding]:
    """Find fields that are missing; the first of the wanted is the id."""
    for field in wanted:
        lacking = [place for place, record in enumerate(records, 1) if field not in record]
        if len(lacking) == len(records) > 1:
            what = say(
                "the field {field} is missing in every one (found {found})",
                field=field,
                found=_fields(records[0]),
            )
            cure = say("Add {field}, or rename what holds it", field=field)
            yield Finding("error", "field", say(_ALL[name]), what, cure)
            continue
        for place in lacking:
            record = records[place - 1]
            where = _where(record, name, wanted[0], place)
            found = _fields(record)
            what = say("the field {field} is missing (found {found})", field=field, found=found)
            yield Finding("error", "field", where, what, say("Add {field}", field=field))


def _contents(
    records: Sequence[Record],
    name: str,
    id_field: str,
    fields: Sequence[str],
    judged_by: Mapping[Any, Sequence[str]],
) -> Iterator[Finding]:
    """Find fields that hold no text, or a broken one; a title may be empty.

    A document that is judged all the same is named with its queries: both ends want mending.
    """
    for place, record in enumerate(records, 1):
        for field in filter(record.__contains__, fields):
            value = record[field]
            if not isinstance(value, str) or not (value.strip() or field == "title"):
                judges = judged_by.get(shown(record.get(id_field)), [])
                what, cure = _no_content(field, value, say(_NAMES[name]), judges)
            elif half := _HALF.search(value):
                found = repr(half[0])
                what = say("{field} holds half a character, {found}", field=field, found=found)
                cure = say(
                    "Read the file again as UTF-8, or take the half out: no model can read it"
                )
            else:
                continue
            yield Finding("error", "field", _where(record, name, id_field, place), what, cure)


def _no_content(field: str, value: Any, noun: str, judges: Sequence[str]) -> tuple[str, str]:
    """Say that a field holds no text, and who judged the record all the same."""
    found = shown(value)
    if judges:
        what = say(
            "{field} must be a text that is not empty, found {found}; it is judged for {queries}",
            field=field,
            found=found,
            queries=say_some(judges),
        )
        cure = say(
            "Give it a {field}, or take the {noun} and its judgements out", field=field, noun=noun
        )
        return what, cure
    what = say("{field} must be a text that is not empty, found {found}", field=field, found=found)
    return what, say("Give it a {field}, or take the {noun} out", field=field, noun=noun)


def _commands(records: Sequence[Record], name: str, fields: Sequence[str]) -> Iterator[Finding]:
    """Find texts with control characters: a table that is printed in a terminal shows them as is.

    The first of the fields is the id.
    """
    holding = []
    for record in records:
        texts = [value for value in map(record.get, fields) if isinstance(value, str)]
        if any(map(_COMMAND.search, texts)):
            holding.append(record.get(fields[0]))
    if holding:
        counted = say_count(len(holding), name)
        what = say("control characters in {counted}: a terminal obeys them", counted=counted)
        cure = say(r"Take them out: re.sub(r'[\x07\x08\x1b\x9b]', '', text)")
        yield Finding("warning", "control characters", say_some(holding), what, cure)


_COMMAND = re.compile("[\x07\x08\x1b\x9b]")  # bell, backspace, and what begins an ANSI escape


def _judged_by(queries: Sequence[Record]) -> dict[str, list[str]]:
    """Return the queries that judge each document, which is known by its id as it is shown."""
    judged_by: dict[str, list[str]] = defaultdict(list)
    for position, qa in enumerate(queries, start=1):
        try:
            name, grades = _read(qa, position)
        except (JudgementError, KeyError):  # a finding of its own
            continue
        for doc_id in grades:
            judged_by[shown(doc_id)].append(name)
    return judged_by


def _untitled(documents: Sequence[Record]) -> Iterator[Finding]:
    titles = [doc.get("title") for doc in documents]
    n = sum(isinstance(title, str) and not title.strip() for title in titles)
    if n:
        what = say("{n:,} of {all:,} documents have an empty title", n=n, all=len(documents))
        cure = say("Nothing to do if the collection has no titles")
        yield Finding("warning", "title", say("corpus"), what, cure)


_HALF = re.compile("[\ud800-\udfff]")  # of a character beyond U+FFFF, such as an emoji


def _where(record: Record, name: str, id_field: str, place: int) -> str:
    return f"{say(_NAMES[name])} {place} ({id_field} {shown(record.get(id_field))})"


def _fields(record: Record) -> str:
    return ", ".join(map(str, record)) or say("nothing")


def _ids(records: Sequence[Record], name: str, id_field: str) -> Iterator[Finding]:
    """Find ids that are no texts, that appear twice, and that look like another."""
    positions: dict[tuple[type, Any], list[int]] = defaultdict(list)
    for position, record in enumerate(records, start=1):
        if id_field not in record:
            continue
        value = record[id_field]
        if not isinstance(value, str) or not value.strip():
            what = say(
                "{field} must be a text that is not empty, found {found}",
                field=id_field,
                found=typed(value),
            )
            yield _no_text(value, f"{say(_NAMES[name])} {position}", what)
        if isinstance(value, (str, Real)) and value == value:  # NaN is unequal to itself
            positions[type(value), value].append(position)

    for (_, value), where in positions.items():
        if len(where) > 1:
            an_id, places = f"{id_field} {shown(value)}", say_some(where)
            what = say("{an_id} appears {n} times", an_id=an_id, n=len(where))
            noun = say(_NAMES[name])
            cure = say("Give every {noun} an id of its own, or remove the repeats", noun=noun)
            yield Finding("error", "repeated id", say(_PLACES[name], places=places), what, cure)

    alike: dict[str, list[Any]] = defaultdict(list)
    for _, value in positions:
        alike[_canonical(value)].append(value)
    for values in alike.values():
        if len(values) > 1:
            both = say(" and ").join(map(shown, values))
            by = _difference(*values[:2])
            what = say("{both} differ only by {by}", both=both, by=by)
            cure = say("Write an id in one way everywhere")
            yield Finding("error", "confusable ids", f"{id_field}s", what, cure)


def _named(an_id: Any) -> str:
    return an_id if isinstance(an_id, str) else shown(an_id)


def _no_text(value: Any, where: str, what: str) -> Finding:
    if isinstance(value, Real) and value == value:
        cure = say('Make it a text: "{text}"', text=_canonical(value))
    else:
        cure = say("Give it an id")
    return Finding("error", "id type", where, what, cure)


def _canonical(value: Any) -> str:
    """Return the id without what no eye sees: type, outer white space, case, Unicode form."""
    if isinstance(value, Integral) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    text = " ".join(_named(value).split()).casefold()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _difference(one: Any, other: Any) -> str:
    if type(one) is not type(other):
        types = type(one).__name__, type(other).__name__
        return say("type ({one} and {other})", one=types[0], other=types[1])
    nfc = [unicodedata.normalize("NFC", value) for value in (one, other)]
    spaced = [" ".join(value.split()) for value in nfc]
    differences = {
        say("Unicode form (NFC and NFD)"): (one, other) != (nfc[0], nfc[1]),
        say("white space"): nfc != spaced,
        say("case"): spaced[0] != spaced[1],
    }
    return say(" and ").join(name for name, differ in differences.items() if differ)


# ---------------------------------------------------------------- judgements


def _judgements(documents: Sequence[Record], queries: Sequence[Record]) -> Iterator[Finding]:
    """Find judgements that cannot be read, and those of no document."""
    corpus = _Corpus(documents)
    for position, qa in enumerate(queries, start=1):
        if "relevant_doc_ids" not in qa:
            continue
        try:
            name, grades = _read(qa, position)
        except JudgementError as error:
            yield Finding("error", "judgement", *error.said())
            continue

        yield from _few_or_repeated(name, grades, len(qa["relevant_doc_ids"]))
        for doc_id in grades:
            if not (isinstance(doc_id, str) and doc_id in corpus.texts):
                yield corpus.problem_of(doc_id, f"{name} -> {_named(doc_id)}")


def _read(qa: Record, position: int) -> tuple[str, dict[Any, float]]:
    """Return what the query is called, and its grades."""
    query_id = qa.get("query_id")
    name = query_id if isinstance(query_id, str) else f"{say(_NAMES['query'])} {position}"
    return name, relevant_grades({**qa, "query_id": name})


def _few_or_repeated(name: str, grades: dict[Any, float], listed: int) -> Iterator[Finding]:
    if not any(map(is_relevant, grades.values())):
        what = say(
            "this query has no relevant document; metrics leave it out and count it as excluded"
        )
        cure = say("Judge it, or keep it as unanswerable on purpose")
        yield Finding("warning", "no relevant", name, what, cure)
    if len(grades) < listed:
        what = say("a document appears twice in relevant_doc_ids; it counts once")
        yield Finding("warning", "repeated judgement", name, what, say("Remove the repeat"))


def _passages(documents: Sequence[Record], queries: Sequence[Record]) -> Iterator[Finding]:
    """Find passages that cannot be read, and those that do not stand in their document, once."""
    pairs = [(doc.get("doc_id"), doc.get("content")) for doc in documents]
    texts = {
        doc_id: text for doc_id, text in pairs if isinstance(doc_id, str) and isinstance(text, str)
    }
    for qa in queries:
        if "relevant_passages" in qa:
            for error in passage_problems(qa, texts):
                yield Finding("error", "passage", *error.said())


class _Corpus:
    """The ids of the documents, in which those that all_qa names are looked up."""

    def __init__(self, documents: Sequence[Record]) -> None:
        ids = [doc["doc_id"] for doc in documents if isinstance(doc.get("doc_id"), (str, Real))]
        self.texts = dict.fromkeys(doc_id for doc_id in ids if isinstance(doc_id, str))
        self._alike = {_canonical(doc_id): doc_id for doc_id in ids}
        self._comparisons = 0

    def problem_of(self, doc_id: Any, where: str) -> Finding:
        """Say why this relevant_doc_id is none of the documents."""
        twin = self._alike.get(_canonical(doc_id))
        if twin is not None and (type(twin), twin) != (type(doc_id), doc_id):
            what = say(
                "{doc_id} differs from the corpus's {twin} only by {by}",
                doc_id=shown(doc_id),
                twin=shown(twin),
                by=_difference(doc_id, twin),
            )
            cure = say("Write the id as text and in the same way on both sides")
            return Finding("error", "confusable ids", where, what, cure)
        if not isinstance(doc_id, str):
            what = say("a relevant_doc_id must be a text, found {found}", found=typed(doc_id))
            return _no_text(doc_id, where, what)

        self._comparisons += len(self.texts)
        look = self._comparisons <= _MOST_COMPARISONS
        near = get_close_matches(doc_id, self.texts, cutoff=0.8) if look else []
        what = say("this relevant_doc_id is in no document")
        what += say("; near it: {near}", near=", ".join(near)) if near else ""
        cure = say("Correct the id, or add the document to the corpus")
        return Finding("error", "not in corpus", where, what, cure)


# ---------------------------------------------------------------- texts


def _texts(documents: Sequence[Record], queries: Sequence[Record]) -> Iterator[Finding]:
    """Find texts that are equal but for Unicode form and white space."""
    same_text = _groups((doc.get("content"), doc.get("doc_id")) for doc in documents)
    for text, doc_ids in same_text.items():
        if len(doc_ids) > 1:
            begins = repr(text[:30])
            what = say(
                "{n} documents have the same content ({begins}...)", n=len(doc_ids), begins=begins
            )
            cure = say("Keep one: copies inflate some scores and crowd out others")
            yield Finding("warning", "equal texts", say_some(doc_ids), what, cure)

    for question, query_ids in _groups(_asked(queries)).items():
        if len(query_ids) > 1:
            asked = repr(question[:40])
            what = say("the question {asked} is asked {n} times", asked=asked, n=len(query_ids))
            cure = say("Keep one: a repeated query weighs double in every mean")
            yield Finding("warning", "repeated question", say_some(query_ids), what, cure)


def _copied_questions(documents: Sequence[Record], queries: Sequence[Record]) -> Iterator[Finding]:
    """Find questions that are a title, as in every FAQ, a content, or both together."""
    parts = {
        say("title"): ["title"],
        say("content"): ["content"],
        say("title and content"): ["title", "content"],
    }
    texts = {
        part: _groups((_joined(doc, fields), doc.get("doc_id")) for doc in documents)
        for part, fields in parts.items()
    }

    # The first part that fits; one finding for all.
    copied: dict[str, tuple[str, str]] = {}
    for question, query_ids in _groups(_asked(queries)).items():
        part = next((part for part, groups in texts.items() if question in groups), None)
        if part:
            copied |= dict.fromkeys(query_ids, (part, texts[part][question][0]))
    if copied:
        of_each = Counter(part for part, _ in copied.values())
        counts = [say("{n:,} the {part}", n=n, part=part) for part, n in of_each.items()]
        query_id, (part, doc_id) = next(iter(copied.items()))
        what = say(
            "{n:,} of {all:,} questions are literally the text of a document ({counts}): "
            "{query_id} is the {part} of {doc_id}",
            n=len(copied),
            all=len(queries),
            counts=", ".join(counts),
            query_id=query_id,
            part=part,
            doc_id=doc_id,
        )
        cure = say(
            "Ask as a user would: a copied text is found too easily. Or search without titles"
        )
        yield Finding("warning", "question is a document", say_some(list(copied)), what, cure)


def _joined(record: Record, fields: Sequence[str]) -> str:
    """Return the fields as one text; "" if one of them holds none."""
    texts = [text for field in fields if isinstance(text := record.get(field), str)]
    return " ".join(texts) if len(texts) == len(fields) and all(map(str.strip, texts)) else ""


def _asked(queries: Sequence[Record]) -> list[tuple[Any, Any]]:
    return [(qa.get("question"), qa.get("query_id")) for qa in queries]


def _unicode_forms(documents: Sequence[Record], queries: Sequence[Record]) -> Iterator[Finding]:
    """Find questions in one Unicode form and documents in the other: they share hardly a letter."""
    asked = Counter(_form(qa.get("question")) for qa in queries)
    written = Counter(_form(doc.get("content")) for doc in documents)
    for form, other in (("NFC", "NFD"), ("NFD", "NFC")):
        if asked[form] and written[other]:
            what = say(
                "{asked:,} of {queries:,} questions are in Unicode form {form}, {written:,} of "
                "{documents:,} documents in {other}",
                asked=asked[form],
                queries=len(queries),
                form=form,
                written=written[other],
                documents=len(documents),
                other=other,
            )
            cure = say('Bring all texts to one form: unicodedata.normalize("NFC", text)')
            yield Finding("warning", "Unicode form", say("texts"), what, cure)


def _form(text: Any) -> str:
    """Return NFD where a letter is in two parts (macOS, PDF), NFC where it could be; else ""."""
    if not isinstance(text, str) or text.isascii():
        return ""
    if len(unicodedata.normalize("NFC", text)) < len(text):
        return "NFD"
    return "" if unicodedata.is_normalized("NFD", text) else "NFC"


def _groups(pairs: Iterable[tuple[Any, Any]]) -> dict[str, list[str]]:
    """Return the members of each text, under what equal texts share."""
    groups: dict[str, list[str]] = defaultdict(list)
    for text, member in pairs:
        if isinstance(text, str) and text.strip():
            groups[equal_text_key(text)].append(_named(member))
    return groups
