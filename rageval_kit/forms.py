"""Files that hold a table, in the forms that people bring: a reader a form.

Cells come in as they are written, numbers of JSON too: 001, 1e5 and 10,912 stay what they are.
Nothing of a file is carried out: no eval, no pickle, no macro.
"""

import csv
import json
import re
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from rageval_kit.files import NO_TEXT, open_text, read_blocks, refuse_bomb
from rageval_kit.messages import (
    count,
    missing_extra,
    shown,
)
from rageval_kit.records import Both, Row, Table, rows_of, tables_of
from rageval_kit.wording import say, say_count

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
    refuse_other_form(path)
    return reader(path, encoding)


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


def refuse_other_form(path: Path) -> None:
    """Refuse a file that is something else than its name says.

    Raises:
        ValueError: it is.
    """
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
    """Return a package that an extra brings.

    Raises:
        ImportError: it is missing; the error names the extra.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_extra(str(path), extra, error) from None


@contextmanager
def whole(path: Path, form: str) -> Iterator[None]:
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
    with whole(path, "Parquet file, or is protected"):
        file = parquet.ParquetFile(path)
        names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
    return Table(str(path), names, _parquet_rows(path, file))


def _parquet_rows(path: Path, file: Any) -> Iterator[Row]:
    with whole(path, "Parquet file"):
        for batch in file.iter_batches():
            yield from batch.to_pylist()


def _excel(path: Path, encoding: str | None) -> Table:
    """Read the first sheet that holds something."""
    openpyxl = want_package("openpyxl", "excel", path)
    with whole(path, ".xlsx"), zipfile.ZipFile(path) as packed:
        size = sum(member.file_size for member in packed.infolist())
    refuse_bomb(path, size)

    # Styles that openpyxl does not know are no news here.
    with whole(path, ".xlsx"), warnings.catch_warnings():
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
