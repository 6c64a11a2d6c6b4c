"""Files in the forms that people bring: tables of rows, and texts with a title. A reader a form.

Cells come in as they are written, numbers of JSON too: 001, 1e5 and 10,912 stay what they are.
Nothing of a file is carried out: no eval, no pickle, no macro, no link that leads out of a folder.
"""

import csv
import json
import os
import re
import sys
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rageval_kit.columns import is_known, named
from rageval_kit.documents import read_document, refuse_odd_columns, stored_id
from rageval_kit.files import NO_TEXT, open_text, read_blocks, refuse_bomb
from rageval_kit.messages import (
    count,
    is_list,
    missing_extra,
    show_progress,
    shown,
    wrong_type,
)
from rageval_kit.wording import say, say_count

Row = Mapping[str, Any]


class Table(NamedTuple):
    """Rows under named columns; ``said`` is what is worth saying about how they were read."""

    where: str
    columns: Sequence[str]
    rows: Iterable[Row]
    said: str = ""


class Text(NamedTuple):
    """A text with the title it has within; a PDF has one a page."""

    title: str
    pages: list[str]


class Both(NamedTuple):
    """Documents and questions that came in one object."""

    documents: Table
    questions: Table


# ---------------------------------------------------------------- which form


def read_table(path: Path, encoding: str | None) -> Table | Both:
    """Read a table by the ending of its name.

    Raises:
        OSError: there is no such file, or it cannot be read.
        ValueError: it is of another form, cut short, or protected by a password.
    """
    reader = TABLES.get(ending(path))
    if reader is None:
        raise _not_a_form(path, TABLES)
    _refuse_other_form(path)
    return reader(path, encoding)


def read_text_file(path: Path, encoding: str | None) -> Text:
    """Read a text by the ending of its name; errors as `read_table`."""
    _refuse_other_form(path)
    text = _TEXTS[ending(path)](path, encoding)
    if not any(page.strip() for page in text.pages):
        scanned = " Is it scanned? Then it needs OCR first." if ending(path) == ".pdf" else ""
        raise ValueError(f"{path} holds no text.{scanned} Take it out, or fill it.")
    return text


def is_text(path: Path) -> bool:
    """Say whether a file is a document of its own, and no table."""
    return ending(path) in _TEXTS


def ending(path: Path) -> str:
    """Return the ending that says the form; that of a packed file stands before .gz."""
    packed = path.suffix.lower() == ".gz"
    return (Path(path.stem) if packed else path).suffix.lower()


def _not_a_form(path: Path, readers: Mapping[str, Any]) -> ValueError:
    cure = _CURES.get(ending(path), "Save it as one of these.")
    known = ", ".join(readers)
    return ValueError(f"{path}: {ending(path) or 'no ending'} is not read here ({known}). {cure}")


_CURES = {
    ".xls": "Open it in Excel and save it as .xlsx or CSV.",
    ".zip": "It is a zip: unpack it, and give the folder or the file.",
    ".docx": "Save it as text, HTML or PDF.",
    ".hwp": "Save it as text, HTML or PDF.",
    ".yaml": "Save it as JSON.",
    ".yml": "Save it as JSON.",
    ".pkl": "It is a pickle, which can run any program and is never opened: save it as Parquet.",
    ".pickle": "It is a pickle, which can run any program and is never opened: save it as Parquet.",
}

_OLE = b"\xd0\xcf\x11\xe0"
_HTML = re.compile(rb"\s*(<\?xml[^>]*>\s*)?<(!doctype html|html)\b", re.I)


def _refuse_other_form(path: Path) -> None:
    """Refuse a file that is something else than its name says."""
    start = next(read_blocks(path), b"")
    for first, endings, what, cure in NO_TEXT:
        if start.startswith(first) and ending(path) not in endings:
            raise ValueError(f"{path} is {what}. {cure}.")
    if start.startswith(_OLE):
        protected = "EncryptedPackage".encode("utf-16-le") in b"".join(read_blocks(path))
        what = "protected by a password" if protected else "of an old Office form (.xls, .doc)"
        raise ValueError(f"{path} is {what}. Save it without one, as .xlsx, CSV or PDF.")

    plain = start.removeprefix(b"\xef\xbb\xbf")
    if ending(path) not in (".html", ".htm", ".md", ".markdown") and _HTML.match(plain):
        title = re.search(rb"<title[^>]*>([^<]*)", start, re.I)
        said = shown(title[1].decode("utf-8", "replace").strip()) if title else "no title"
        raise ValueError(
            f"{path} is an HTML page ({said}), perhaps an error page in place of the file. "
            "Download it again."
        )


def want_package(name: str, extra: str, path: Path) -> Any:
    """Return a package that an extra brings; say which where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_extra(str(path), extra, error) from None


@contextmanager
def _whole(path: Path, form: str) -> Iterator[None]:
    """Say of a broken file that it is; its reader raises whatever it stumbles over."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"{path} is not a whole {form} ({error}). Save it again.") from None


# ---------------------------------------------------------------- tables


def _csv(path: Path, encoding: str | None) -> Table:
    """Read CSV as rows of texts, one at a time: a million of them take no more than their dicts."""
    with open_text(path, encoding, newline="") as file:
        first = file.readline()
        if told := re.fullmatch(r"sep=(.)\s*", first):  # a line for Excel alone
            first = file.readline()
        separator = told[1] if told else _separator(first)
        known = file.encoding

    rows = _csv_rows(path, known, separator, skip=bool(told))
    columns = _header(path, next(rows, []))
    dicts = ({name: row[place] for name, place in columns.items()} for row in rows)
    said = "" if known.startswith("utf-8") else known.upper()
    return Table(str(path), list(columns), dicts, said)


def _header(path: Path, cells: Sequence[Any]) -> dict[str, int]:
    """Return the place of each column that has a name."""
    names = ["" if cell is None else str(cell).strip() for cell in cells]
    named = [name for name in names if name and not name.startswith("Unnamed: ")]
    twice = next((name for name in named if named.count(name) > 1), None)
    if not named or twice is not None:
        what = f"the column {twice!r} appears twice" if named else "there is no header"
        raise ValueError(f"{path}: {what}. The first line must name each column once.")
    return {name: names.index(name) for name in named}


def _separator(header: str) -> str:
    """Return what parts the columns of a header: comma, tab, semicolon or bar."""
    outside = re.sub(r'"[^"]*"', "", header)
    return max(",\t;|", key=outside.count)


def _csv_rows(path: Path, encoding: str, separator: str, skip: bool) -> Iterator[list[str]]:
    """Yield the header and each row that is not blank, as wide as the header has names."""
    most = csv.field_size_limit(sys.maxsize)  # a document may be long
    try:
        with open_text(path, encoding, newline="") as file:
            if skip:
                file.readline()
            named, width, reader = 0, 0, csv.reader(file, delimiter=separator, strict=True)
            for row in reader:
                if not any(row):
                    continue
                # Columns at the end that have no name, and cells that are empty there, are none.
                width = width or len(row)
                while row and not row[-1] and len(row) > named:
                    row.pop()
                named = named or len(row)
                if not named <= len(row) <= width:
                    raise _wrong_width(path, reader.line_num + skip, len(row), named)
                yield row[:named]
    except csv.Error as error:
        cut = " Was it cut short?" if "unexpected end" in str(error) else ""
        raise ValueError(
            f"{path}, line {reader.line_num + skip}: {error}; a quote is open.{cut} "
            "Save it again as CSV."
        ) from None
    finally:
        csv.field_size_limit(most)


def _wrong_width(path: Path, line: int, found: int, wanted: int) -> ValueError:
    more = "Quote a cell that holds the separator" if found > wanted else "Was it cut short"
    end = "." if found > wanted else "? Save it again as CSV."
    return ValueError(
        f"{path}, line {line}: {count(wanted, 'cell')} were wanted, found {found}. {more}{end}"
    )


def _json_lines(path: Path, encoding: str | None) -> Table:
    records = []
    with open_text(path, encoding) as file:
        for line, text in enumerate(file, start=1):
            if text.strip():
                records.append(_parse(f"{path}, line {line}", text))
    return rows_of(records, str(path))


def _json(path: Path, encoding: str | None) -> Table | Both:
    with open_text(path, encoding) as file:
        return tables_of(_parse(str(path), file.read()), str(path))


def _parse(where: str, text: str) -> Any:
    """Return what the JSON says; numbers as they are written."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError) as error:
        at_end = getattr(error, "pos", 0) >= len(text.rstrip()) - 1 or "Untermin" in str(error)
        cut = " Was it cut short?" if at_end else ""
        raise ValueError(f"{where}: not JSON ({error}).{cut} Save it again as JSON.") from None


def _parquet(path: Path, encoding: str | None) -> Table:
    parquet = want_package("pyarrow.parquet", "parquet", path)
    with _whole(path, "Parquet file, or is protected"):
        file = parquet.ParquetFile(path)
        names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
    return Table(str(path), names, _parquet_rows(path, file))


def _parquet_rows(path: Path, file: Any) -> Iterator[Row]:
    with _whole(path, "Parquet file"):
        for batch in file.iter_batches():
            yield from batch.to_pylist()


def _excel(path: Path, encoding: str | None) -> Table:
    """Read the first sheet that holds something."""
    openpyxl = want_package("openpyxl", "excel", path)
    with _whole(path, ".xlsx"), zipfile.ZipFile(path) as packed:
        size = sum(member.file_size for member in packed.infolist())
    refuse_bomb(path, size)

    # Styles that openpyxl does not know are no news here.
    with _whole(path, ".xlsx"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            for sheet in book.worksheets:
                cells = ([_excel_cell(cell) for cell in row] for row in sheet.iter_rows())
                rows = [row for row in cells if any(value not in (None, "") for value in row)]
                if rows:
                    break
            title, others = sheet.title, len(book.sheetnames) - 1
    if not rows:
        raise ValueError(f"{path} is empty. Give a workbook that holds something.")

    # A row may be shorter than the header.
    columns = _header(path, rows[0])
    dicts = [
        {name: row[place] for name, place in columns.items() if place < len(row)}
        for row in rows[1:]
    ]
    its = {"title": repr(title), "others": say_count(others, "other")}
    said = say("sheet {title}, not {others}", **its) if others else ""
    return Table(str(path), list(columns), dicts, said)


def _excel_cell(cell: Any) -> Any:
    """Return what the cell shows: 1 in the format 000 is 001."""
    zeros = re.fullmatch("0+", getattr(cell, "number_format", "") or "")
    if zeros and isinstance(cell.value, int):
        return str(cell.value).zfill(len(zeros[0]))
    return cell.value


TABLES: dict[str, Callable[[Path, str | None], Any]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".xlsx": _excel,
}


# ---------------------------------------------------------------- objects


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


# ---------------------------------------------------------------- texts

_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)??(---|\.\.\.)[ \t]*(\n|$)", re.S)
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})\s*$")


def _plain(path: Path, encoding: str | None) -> Text:
    with open_text(path, encoding) as file:
        return Text("", [file.read()])


def _markdown(path: Path, encoding: str | None) -> Text:
    """Read Markdown as it is written; the title is that of its front matter, or the first heading.

    The heading is looked for outside of code.
    """
    (text,) = _plain(path, encoding).pages
    front = _FRONT_MATTER.match(text)
    if front and (named := re.search(r"^title:[ \t]*(.*\S)", front[0], re.M)):
        return Text(named[1].strip("\"'"), [text])

    fence, above = "", ""
    for line in text[front.end() if front else 0 :].splitlines():
        if mark := re.match(r" {0,3}(```|~~~)", line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence and (heading := _HEADING.match(line)) and heading[1]:
            return Text(heading[1], [text])
        elif not fence and above.strip() and _UNDERLINE.match(line):
            return Text(above.strip(), [text])
        above = line
    return Text("", [text])


def _html(path: Path, encoding: str | None) -> Text:
    (text,) = _plain(path, encoding).pages
    page = _Page()
    with _whole(path, "HTML page"):
        page.feed(text)
        page.close()

    # A line a block, white space as a browser shows it.
    lines = (" ".join(line.split()) for line in "".join(page.text).split("\n"))
    title = " ".join("".join(page.heading or page.title).split())
    return Text(title, [re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()])


class _Page(HTMLParser):
    """Gathers what a reader sees of a page: its text, title and first heading."""

    _UNSEEN = frozenset("script style noscript template head svg".split())
    _INLINE = frozenset(
        "a abbr b bdi cite code del dfn em font i img ins kbd mark q s samp small span strong sub "
        "sup td th time u var wbr".split()
    )
    _HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.title: list[str] = []
        self.heading: list[str] = []
        self._unseen, self._into = 0, self.text

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._unseen += tag in self._UNSEEN
        if tag == "body":
            self._unseen = 0  # whose head was never closed
        elif tag == "title" and not self.title:
            self._into = self.title
        elif tag in self._HEADINGS and not self.heading:
            self._into = self.heading
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in self._UNSEEN))
        if tag == "title" or tag in self._HEADINGS:
            self._into = self.text
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._into is self.title:
            self.title.append(data)
        elif not self._unseen:
            self.text.append(data)
            if self._into is self.heading:
                self.heading.append(data)

    def _break(self, tag: str) -> None:
        if not self._unseen:
            self.text.append(" " if tag in ("td", "th") else "" if tag in self._INLINE else "\n")


def _pdf(path: Path, encoding: str | None) -> Text:
    pypdf = want_package("pypdf", "pdf", path)
    with _whole(path, "PDF"):
        reader = pypdf.PdfReader(path)
        closed = reader.is_encrypted and not reader.decrypt("")
    if closed:
        raise ValueError(f"{path} is protected by a password. Save it without one.")
    with _whole(path, "PDF"):
        pages = show_progress(reader.pages, f"reading {path.name}", "page")
        texts = [page.extract_text() for page in pages]
        title = (reader.metadata or {}).get("/Title")
    return Text(title.strip() if isinstance(title, str) else "", texts)


_TEXTS: dict[str, Callable[[Path, str | None], Text]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _plain,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
}


# ---------------------------------------------------------------- folders


def text_files(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the texts below a folder by their id, in its order, and what else is there.

    The id is the path below the folder, in NFC and with ``/``. Hidden files and folders are passed
    over; so is a link to a folder, whose files come where they are.

    Raises:
        ValueError: a link leads out of the folder.
    """
    inside = Path(os.path.realpath(folder))
    texts: dict[str, Path] = {}
    others: list[str] = []
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        if any(part.startswith(".") for part in below.parts):
            continue
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
            raise ValueError(
                f"{path} is a link that leads out of the folder, to {os.readlink(path)}. Take it "
                "out, or put a copy in its place."
            )
        if path.is_file():
            doc_id = nfc(below.as_posix())
            if is_text(path) and path.stat().st_size:
                texts[doc_id] = path
            else:
                others.append(doc_id if path.stat().st_size else f"{doc_id} (empty)")
    return dict(sorted(texts.items())), others


def nfc(name: str) -> str:
    """Return a file's name in one Unicode form: macOS hands out Hangul in jamo (NFD)."""
    return unicodedata.normalize("NFC", name)
