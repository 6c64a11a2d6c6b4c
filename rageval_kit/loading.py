"""Load documents and questions from any file, folder or table, as the lecture's lists of dicts.

`forms` reads rows and texts, `columns` knows what they are called, `cells` what stands in a cell.
Here the rows become documents, queries, or pairs of both.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rageval_kit.cells import as_list, as_number, as_text, flat
from rageval_kit.columns import DOCUMENTS, PAIRS, QUESTIONS, named, recognise
from rageval_kit.documents import PLACE_FIELDS, Docs, Loaded
from rageval_kit.files import as_path, nfc, not_found
from rageval_kit.forms import ending, read_table
from rageval_kit.gold import TEXT_FIELDS, Gold, Relevant, cell, members, note_of
from rageval_kit.messages import (
    count,
    is_number,
    name_some,
    printable,
    progress_bar,
    show_progress,
    shown,
    warn_user,
    wrong_type,
)
from rageval_kit.records import Both, Row, Table, table_of
from rageval_kit.text_files import is_text, read_text_file, text_files
from rageval_kit.wording import say, say_count, say_some


class Dataset(NamedTuple):
    """Documents and queries; unpacks as ``docs, all_qa``."""

    docs: list[dict[str, Any]]
    all_qa: list[dict[str, Any]]


# ---------------------------------------------------------------- documents


def load_documents(
    source: Any,
    *,
    doc_id: str | None = None,
    title: str | None = None,
    content: str | None = None,
    encoding: str | None = None,
    pages: bool = False,
) -> Loaded:
    """Load documents from a folder, a file or a table.

    Args:
        source: a folder of Markdown, text, HTML or PDF (a document a file; ``doc_id`` is the path
            below the folder, the title its first heading, else the file's name), or one such file;
            a table as CSV, TSV, JSON, JSON lines, Parquet or Excel, packed (.gz) or not; a
            DataFrame, dicts, LangChain documents or a loader, a ``datasets.Dataset``.
        doc_id: the column of the ids; without one they are d0, d1, ...
        title: the column of the titles.
        content: the column of the texts.
        encoding: None means UTF-8, UTF-16 if the file begins with its mark, else CP949.
        pages: a document a page of a PDF (``file.pdf#page=2``, with ``source_id`` and ``page``);
            else a document a file, whose pages a form feed parts.

    Columns that are not named here are known by the names that tools use; ``.note`` of the list
    says which, and `validate_dataset` prints it. PDF, Parquet and Excel need the extras ``pdf``,
    ``parquet`` and ``excel``.

    >>> load_documents([{"id": "001", "제목": "환불", "본문": "7일 안에 환불한다."}])
    [{'doc_id': '001', 'title': '환불', 'content': '7일 안에 환불한다.'}]

    Raises:
        OSError: there is no such file or folder, or it cannot be read.
        ValueError: it is in no form known here, is broken, or has no column of texts.
        KeyError: a column that was named is not there.
        TypeError: the source is none of these.
        ImportError: an extra is missing.
    """
    if not isinstance(pages, bool):
        raise wrong_type("pages", "True or False", pages)

    # Texts: a document a file.
    path = as_path(source, "source") if isinstance(source, (str, Path)) else None
    if path is not None and path.is_dir():
        texts, others = text_files(path)
        if not texts:
            raise ValueError(
                f"{path} holds no Markdown, text, HTML or PDF (found "
                f"{name_some(others) or 'nothing'}). Give the file of a table itself."
            )
        return _read_texts(texts, others, encoding, pages)
    if path is not None and is_text(path):
        return _read_texts({nfc(path.name): path}, [], encoding, pages)

    # Tables: a document a row.
    table = _table(source, "docs", encoding)
    given = {"doc_id": doc_id, "title": title, "content": content}
    return _documents(table.documents if isinstance(table, Both) else table, given)


def _table(source: Any, name: str, encoding: str | None) -> Table | Both:
    if not isinstance(source, (str, Path)):
        return table_of(source, name)
    path = as_path(source, "source")
    if re.match(r"https?:/", str(source)):
        raise ValueError(f"{source} is an address. Download the file, and give its path.")
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder. Give the file, or load_dataset({shown(str(path))})."
        )
    if not path.exists():
        raise not_found(path)
    return read_table(path, encoding)


def _read_texts(
    texts: Mapping[str, Path], others: Sequence[str], encoding: str | None, pages: bool
) -> Loaded:
    """Read files of text, a document a file or a page; all that cannot be read are named."""
    docs: list[dict[str, Any]] = []
    broken: list[str] = []
    for doc_id, path in show_progress(list(texts.items()), "reading files", "file"):
        try:
            text = read_text_file(path, encoding)
        except (ValueError, OSError) as error:
            broken.append(str(error))
            continue

        # A form feed parts the pages, so that a place in the text still tells its page.
        title = text.title or Path(doc_id.removesuffix(".gz")).stem
        if not pages or ending(path) != ".pdf":
            docs.append({"doc_id": doc_id, "title": title, "content": "\f".join(text.pages)})
            continue
        for number, page in enumerate(text.pages, start=1):
            doc = {"doc_id": f"{doc_id}#page={number}", "title": title, "content": page}
            if page.strip():
                docs.append({**doc, "source_id": doc_id, "page": number})

    if broken:
        several = f"{len(broken):,} of {len(texts):,} files cannot be read: "
        raise ValueError((several if len(texts) > 1 else "") + " ".join(broken[:5]))
    n_docs, n_files = say_count(len(docs), "document"), say_count(len(texts), "file")
    note = say("read {documents} from {files}", documents=n_docs, files=n_files)
    note += say("; left out: {others}", others=say_some(others)) if others else ""
    return Loaded(docs, printable(note))


def _documents(table: Table, given: Mapping[str, str | None]) -> Loaded:
    columns = recognise(table.columns, DOCUMENTS, given, table.where)
    if "content" not in columns:
        raise ValueError(
            f"{table.where}: no column of texts among {named(table.columns)}. Name it: "
            "load_documents(..., content=...), or add a header where there is none."
        )

    # A dict a row; where a chunk or a page comes from stays with it.
    docs = []
    for number, row in enumerate(_counted(table.rows)):
        where = f"{table.where}, row {number + 1}"
        doc: dict[str, Any] = {
            "doc_id": _id(row, columns, "doc_id", f"d{number}", where),
            "title": as_text(cell(row, columns, "title"), where),
            "content": as_text(cell(row, columns, "content"), where),
        }
        for field in PLACE_FIELDS:
            if text := as_text(cell(row, columns, field), where):
                doc[field] = text if field == "source_id" else as_number(text, field, where)
        docs.append(doc)
    if not docs:
        raise ValueError(f"{table.where} holds no row, only a header. Add the documents.")
    return Loaded(docs, note_of(len(docs), "document", columns, table))


def _counted(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows; a bar counts them where they are many."""
    with progress_bar(None, "reading", "row") as bar:
        for row in rows:
            yield row
            bar.update()


def _id(row: Row, columns: Mapping[str, str], field: str, otherwise: str, where: str) -> str:
    """Return the id of a row, as it stands in the file."""
    if field not in columns:
        return otherwise
    value = as_text(cell(row, columns, field), where)
    if not value:
        raise ValueError(f"{where}: the {field} ({columns[field]}) is empty. Give every row one.")
    return value


# ---------------------------------------------------------------- questions


def load_questions(  # noqa: PLR0913 - a name a column
    source: Any,
    docs: Docs | None = None,
    *,
    query_id: str | None = None,
    question: str | None = None,
    relevant: Relevant = None,
    relevance: str | None = None,
    ground_truth: str | None = None,
    encoding: str | None = None,
    near: float | None = None,
) -> Loaded:
    """Load questions with their relevant documents from a file or a table.

    Rows of one query_id are one query; without a query_id, rows of one question are, and they are
    q0, q1, ... in order.

    Args:
        source: a table as for `load_documents`, in the form of the kit, BEIR, ragas, AutoRAG,
            LlamaIndex, SQuAD, promptfoo, Azure, or with columns of its own names.
        docs: the documents. Gold that is given as text (``reference_contexts``, 근거) is found in
            them, exactly but for how it is written, see `find_text`; ``relevant_passages`` then
            say where. They also tell whether ``10,912`` is one id or two.
        query_id: the column of the ids.
        question: the column of the questions.
        relevant: the column of the relevant documents, as ids or as texts, one or a list a cell;
            or a function from a row to them; ``[]`` loads questions without any.
        relevance: the column of the grades, where a row is a judgement.
        ground_truth: the column of the right answers.
        encoding: as in `load_documents`.
        near: the least similarity (0 to 1, difflib's ratio of characters) at which the nearest
            passage of the documents is taken for a gold text that is not found; None takes none.

    >>> rows = [{"질문": "며칠 안에 환불하나?", "정답": "7일", "근거문서": "doc_1;doc_2"}]
    >>> all_qa = load_questions(rows)
    >>> all_qa
    [{'query_id': 'q0', 'question': '며칠 안에 환불하나?', 'relevant_doc_ids': ['doc_1', 'doc_2'],
      'ground_truth': '7일'}]
    >>> print(all_qa.note)
    read 1 question: question <- "질문", relevant_doc_ids <- "근거문서", ground_truth <- "정답"

    Raises:
        OSError, ValueError, KeyError, TypeError, ImportError: as `load_documents`; and ValueError
            where no relevant document is given, a gold text is not found, or two rows of a query
            contradict each other.
    """
    if near is not None and not (is_number(near) and 0 < near <= 1):
        raise ValueError(f"near must be a similarity above 0 and up to 1, found {shown(near)}.")
    empty = isinstance(relevant, (list, tuple)) and not relevant
    if not (relevant is None or isinstance(relevant, str) or callable(relevant) or empty):
        raise wrong_type("relevant", "the name of a column, a function or []", relevant)

    given = {"query_id": query_id, "question": question, "relevance": relevance}
    given["ground_truth"] = ground_truth
    read = _table(source, "all_qa", encoding)
    table = read.questions if isinstance(read, Both) else read
    return _questions(table, docs, given, relevant, near)


def _questions(
    table: Table,
    docs: Docs | None,
    given: Mapping[str, str | None],
    relevant: Relevant,
    near: float | None,
) -> Loaded:
    columns = _question_columns(table, given, relevant)
    gold = Gold(docs, columns, relevant, near)
    queries = _grouped(table, columns, gold)
    gold.refuse_lost(table, queries)
    return Loaded(queries, note_of(len(queries), "question", columns, table, gold.said(queries)))


def _question_columns(
    table: Table, given: Mapping[str, str | None], relevant: Relevant
) -> dict[str, str]:
    """Return which column is what; a function or [] says what is relevant in place of columns."""
    fields = dict(QUESTIONS)
    if relevant is not None:
        del fields["texts"]
    elif all(names & {*table.columns} for names in _EVALUATED):
        fields["texts"] = fields["texts"].replace(" contexts ", " ")
    column = relevant if isinstance(relevant, str) else None
    if relevant is not None and column is None:
        del fields["relevant"], fields["relevance"]

    columns = recognise(table.columns, fields, {**given, "relevant": column}, table.where)
    if "relevant" in columns or "relevant_passages" in columns:
        columns.pop("texts", None)
    if "question" not in columns:
        raise ValueError(
            f"{table.where}: no column of questions among {named(table.columns)}. Name it: "
            "load_questions(..., question=...), or add a header where there is none; judgements "
            "alone are read by load_qrels."
        )
    return columns


# What ragas calls the answer of a system and the right one. Beside both, contexts are what a
# retriever brought.
_EVALUATED = ({"answer", "response"}, {"ground_truth", "ground_truths"})


def _grouped(table: Table, columns: Mapping[str, str], gold: Gold) -> list[dict[str, Any]]:
    """Return a dict a query; the rows of one query_id, else of one question, are one."""
    # The query of the row, known by its id or its question.
    queries: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(_counted(table.rows), start=1):
        where = f"{table.where}, row {number}"
        question = as_text(row.get(columns["question"]), where).strip()
        if not question:
            raise ValueError(
                f"{where}: the question ({columns['question']}) is empty. Fill it in, or take the "
                "row out."
            )
        key = _id(row, columns, "query_id", question, where)
        query_id = key if "query_id" in columns else f"q{len(queries)}"
        new = {"query_id": query_id, "question": question, "relevant_doc_ids": {}}
        query = queries.setdefault(key, new)

        # What the row adds must not contradict the rows before it.
        truth, cited = _truth(row, columns, where)
        _agree(query, "question", question, where)
        if truth:
            _agree(query, "ground_truth", truth, where)
        grades = gold.of(row, cited, query, where)
        if "relevant_passages" in columns:
            passages = _passages(row, columns, where)
            query.setdefault("relevant_passages", []).extend(passages)
            grades = {passage["doc_id"]: 1 for passage in passages} | grades
        for doc_id, grade in grades.items():
            if query["relevant_doc_ids"].setdefault(doc_id, grade) != grade:
                raise ValueError(
                    f"{where}: {query_id} -> {doc_id} is judged both "
                    f"{query['relevant_doc_ids'][doc_id]} and {grade}. Keep one."
                )

    # Without grades the documents are a plain list.
    if not queries:
        raise ValueError(f"{table.where} holds no row, only a header. Add the questions.")
    if not gold.graded:
        for query in queries.values():
            query["relevant_doc_ids"] = list(query["relevant_doc_ids"])

    # Where one query names passages, all do.
    if any("relevant_passages" in query for query in queries.values()):
        for query in queries.values():
            query.setdefault("relevant_passages", [])
    return list(queries.values())


def _passages(row: Row, columns: Mapping[str, str], where: str) -> list[dict[str, Any]]:
    """Return the passages of a row in the kit's own form, their places as numbers."""
    passages = as_list(cell(row, columns, "relevant_passages"), where, of_ids=False)
    if not all(isinstance(passage, Mapping) and "doc_id" in passage for passage in passages):
        raise ValueError(
            f"{where}: relevant_passages must be dicts with doc_id and text, or start and end; "
            f"found {shown(passages)}. Correct them."
        )
    places = ("start", "end")
    return [
        {k: as_number(v, k, where) if k in places else v for k, v in passage.items()}
        for passage in passages
    ]


def _agree(query: dict[str, Any], field: str, text: str, where: str) -> None:
    known = query.setdefault(field, text)
    if known != text:
        raise ValueError(
            f"{where}: {query['query_id']} has another {field} above: {shown(known)}, here "
            f"{shown(text)}. Give each query its own query_id."
        )


# Azure writes its sources into the answer; promptfoo how the answer is to be compared.
_CITED = re.compile(r"\s*\[([^\[\]\n]+\.[A-Za-z]{2,5}(?:#page=\d+)?)\]")
_COMPARED = re.compile(
    r"(i?contains|equals|similar|factuality|llm-rubric|answer-relevance)[^:]*:\s*"
)


def _truth(row: Row, columns: Mapping[str, str], where: str) -> tuple[str, list[str]]:
    """Return the right answer, and the files that it cites where no column holds the gold."""
    truth = as_text(cell(row, columns, "ground_truth"), where).strip()
    if columns.get("ground_truth", "").startswith("__"):
        truth = _COMPARED.sub("", truth, count=1)
    if "relevant" in columns or "texts" in columns:
        return truth, []
    return _CITED.sub("", truth), _CITED.findall(truth)


# ---------------------------------------------------------------- pairs


def load_pairs(
    source: Any,
    *,
    query_id: str | None = None,
    question: str | None = None,
    content: str | None = None,
    relevance: str | None = None,
    ground_truth: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Load pairs of a question and a text that answers it; the texts become the corpus.

    For where there is no corpus but the gold texts: ragas' ``reference_contexts``, MS MARCO's
    passages, SQuAD's rows, ``anchor, positive``. Scores on such a corpus are far too good, which a
    warning says: every document answers a question, and nothing else is in the way.

    Args:
        source: a table as for `load_documents`.
        query_id: the column of the ids; without one the questions are q0, q1, ...
        question: the column of the questions.
        content: the column of the texts, one or a list a cell. Equal ones are one document, and
            the documents are d0, d1, ...
        relevance: the column of the grades, 1 and 0 or finer; without one each pair is relevant.
        ground_truth: the column of the right answers.
        encoding: as in `load_documents`.

    Returns:
        ``Dataset(docs, all_qa)``, two lists of dicts.

    Raises:
        OSError, ValueError, KeyError, TypeError, ImportError: as `load_documents`; and ValueError
            where a pair is judged both 0 and 1.
    """
    # Which column is what.
    given = {"query_id": query_id, "question": question, "content": content}
    given |= {"relevance": relevance, "ground_truth": ground_truth}
    read = _table(source, "pairs", encoding)
    table = read.questions if isinstance(read, Both) else read
    columns = recognise(table.columns, PAIRS, given, table.where)
    missing = {"question", "content"} - columns.keys()
    if missing:
        field = min(missing)
        raise ValueError(
            f"{table.where}: no column of the {field} among {named(table.columns)}. Name it: "
            f"load_pairs(..., {field}=...)."
        )

    # The documents of a row; equal texts are one.
    doc_ids: dict[str, str] = {}

    def relevant(row: Row) -> Any:
        found = members(as_list(row.get(columns["content"]), table.where, False), TEXT_FIELDS)
        texts = [as_text(text, table.where) for text in found]
        docs = [doc_ids.setdefault(text, f"d{len(doc_ids)}") for text in texts]
        if "relevance" not in columns:
            return docs
        grades = as_list(row.get(columns["relevance"]), table.where, of_ids=True)
        where = f"{table.where}: {shown(row[columns['question']])}"
        return _graded(docs, list(flat(grades)), where)

    kept = {field: columns.get(field) for field in ("query_id", "question", "ground_truth")}
    all_qa = _questions(table, None, kept, relevant, None)
    docs = [{"doc_id": doc_id, "title": "", "content": text} for text, doc_id in doc_ids.items()]

    # What such a corpus is worth.
    note = note_of(len(all_qa), "question", columns, table)
    warn_user(
        f"{count(len(docs), 'document')} made of the texts of {count(len(all_qa), 'question')}: "
        "every document answers a question, so scores are far too good. Add documents that answer "
        "none, or compare systems only."
    )
    return Dataset(Loaded(docs, note), Loaded(all_qa, note))


def _graded(docs: Sequence[str], grades: Sequence[Any], where: str) -> dict[str, float]:
    """Return the documents of a row with their grades: one for all, or one each."""
    if len(grades) == 1:
        grades = list(grades) * len(docs)
    if len(grades) != len(docs):
        raise ValueError(f"{where} has {len(docs)} texts and {len(grades)} grades. Give one each.")
    graded: dict[str, float] = {}
    for doc_id, value in zip(docs, grades, strict=True):
        grade = as_number(value, "grade", where)
        if graded.setdefault(doc_id, grade) != grade:
            raise ValueError(
                f"{where}: a text is judged both {graded[doc_id]} and {grade}. Keep one."
            )
    return graded
