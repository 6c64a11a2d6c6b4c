"""Read and write files as people bring them, and say in words what is wrong with them.

JSON lines; runs (TREC) and relevance judgements (TREC and BEIR); each packed (.gz) or not. A line
of a run is ``query_id Q0 doc_id rank score name``. A judgement is ``query_id 0 doc_id grade``
(TREC) or ``query-id corpus-id score`` parted by tabs, often under a header (BEIR). A file whose
name ends in .csv or .tsv holds either as a table with a header, quoted where needed, and so any id.
Ids are read as texts and kept as they are written: 09081824 and 830e2936 are ids, not numbers.
"""

import codecs
import csv
import gzip
import io
import json
import os
import re
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, TextIO, cast

import numpy as np
import pandas as pd

from rageval_kit.columns import QRELS, RUN, recognise
from rageval_kit.judgements import AllQA, read_judgements, refuse_repeated
from rageval_kit.messages import name_some, shown, warn_user, wrong_type
from rageval_kit.rankings import Hit, ResultsLike, as_rankings, direction, run_both_ways

_RUN = ("query_id", "Q0", "doc_id", "rank", "score", "name")
_TREC_QRELS = ("query_id", "0", "doc_id", "relevance")
_BEIR_QRELS = ("query_id", "doc_id", "relevance")
_TABLE_OF_RUN = ("query_id", "doc_id", "rank", "score", "name")
_KINDS = {3: "BEIR judgements: load_qrels", 4: "TREC judgements: load_qrels", 6: "a run: load_run"}

# The header of judgements, with or without the column of zeros. In another order it is none, and
# its last word is then refused as a grade.
_HEADER = re.compile(
    r"(query|qid|topic)[\w-]*\s+(\w+\s+)?(corpus|doc)[\w-]*\s+(score|rel|label|grade)\w*", re.I
)
_LFS_POINTER = b"version https://git-lfs"
_UNPACKED_SAFELY = 100 * 2**20
_NOT_IN_TREC = (
    r"[\s\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]|^$",
    "holds white space or a character that is not seen, or is empty: TREC's form cannot hold it. "
    "Save to a path that ends in .csv or .tsv, which hold any id",
)
_IN_NO_FILE = r"[\x00\ud800-\udfff]|^$"
_JSON = re.compile(r'\s*[\[{]\s*["{]')

# How a file begins that is no text, the endings that it may then have, what it is, and a cure.
NO_TEXT = (
    (b"PK\x03\x04", (".xlsx",), "a zip, as Excel's .xlsx is", "Unpack it, or name it .xlsx"),
    (b"PK\x05\x06", (), "an empty zip", "Unpack it again"),
    (b"%PDF", (".pdf",), "a PDF", "Name it .pdf"),
    (b"PAR1", (".parquet",), "a Parquet file", "Name it .parquet"),
    (b"ARROW1", (), "an Arrow file", "Save it as Parquet or CSV"),
    (b"\x1f\x8b", (), "packed with gzip", "Name it .gz"),
    (b"\x80\x04", (), "a pickle, which is never opened", "Save it as Parquet or CSV"),
    (b"\x80\x05", (), "a pickle, which is never opened", "Save it as Parquet or CSV"),
    (b"SQLite format 3", (), "an SQLite database", "Save the table as CSV"),
)


# ---------------------------------------------------------------- runs and judgements


def load_run(path: str | Path) -> pd.DataFrame:
    """Read a run in TREC's form; of a .csv or .tsv the columns ``query_id, doc_id, score``.

    Returns:
        ``query_id, doc_id, score``, a row a hit, in the order of the file; the run's name is in
        ``.attrs["name"]``. As in trec_eval the score decides the order (falling; equal scores by
        doc_id descending) and the rank that the file gives is not used.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file cannot be read as a run; the message names file and line.
    """
    text = read_text(path)
    table = _read_columns(path, text, RUN, ("query_id", "doc_id", "score"))
    if table is None:
        table = _read_lines_of_run(path, text)
    if table.empty:
        raise ValueError(f"{path} holds no hit, only a header. Add lines below it.")

    run = table[["query_id", "doc_id"]].assign(score=_numbers(path, table, "score"))
    run.attrs = {"name": table["name"].iloc[0]} if "name" in table else {}
    return run.reset_index(drop=True)


def _read_lines_of_run(path: str | Path, text: str) -> pd.DataFrame:
    table = _read_table(path, text, _RUN, r"\s+")
    swapped = ~table["rank"].str.fullmatch(r"-?\d+")
    if swapped.any():
        line: Any = swapped.idxmax()
        what = f"the rank {table.loc[line, 'rank']!r} is not a whole number."
        raise wrong_line(path, line, f"{what} Are rank and score swapped?", _RUN)
    return table


def load_qrels(path: str | Path) -> pd.DataFrame:
    """Read relevance judgements in TREC's or BEIR's form, with or without a header.

    The columns of a .csv are ``query_id, doc_id, relevance``, or as other tools call them.

    Returns:
        ``query_id, doc_id, relevance``, a row a judgement; usable as all_qa in every metric
        function. Grades of 0 and less are judged and not relevant; the same line twice counts once.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file cannot be read as judgements; the message names file and line.
    """
    text = read_text(path)
    table = _read_columns(path, text, QRELS, _BEIR_QRELS)
    if table is None:
        table = _read_lines_of_qrels(path, text)
    if table.empty:
        raise ValueError(f"{path} holds no judgement, only a header. Add lines below it.")

    # One judgement a query and document.
    table = table.assign(relevance=_numbers(path, table, "relevance"))
    table = table[["query_id", "doc_id", "relevance"]].drop_duplicates()
    again = table.duplicated(["query_id", "doc_id"])
    if again.any():
        line: Any = again.idxmax()
        query_id, doc_id = table.loc[line, ["query_id", "doc_id"]]
        what = f"{query_id} -> {doc_id} has another grade above. Keep one."
        raise wrong_line(path, line, what)
    return table.reset_index(drop=True)


def _read_lines_of_qrels(path: str | Path, text: str) -> pd.DataFrame:
    lines = [line.strip("\r\n") for line in text.split("\n") if line.strip()]

    # Tabs part the fields if they do so in every line, since ids may hold spaces then; but four
    # fields of which the second is 0 are TREC's, whatever parts them.
    fields = [line.split() for line in lines]
    is_trec = all(len(parts) == 4 and parts[1] in ("0", "Q0") for parts in fields)
    by_tabs = not is_trec and {line.count("\t") for line in lines} in ({2}, {3})
    n_fields = len(lines[0].strip().split("\t")) if by_tabs else len(fields[0])
    names = _BEIR_QRELS if n_fields == 3 else _TREC_QRELS

    table = _read_table(path, text, names, "\t" if by_tabs else r"\s+")
    return table.iloc[1:] if _HEADER.fullmatch(lines[0].strip()) else table


def save_run(results: ResultsLike, path: str | Path, name: str = "rageval_kit") -> None:
    """Write results as a run that other tools rank in the same order, in TREC's form.

    TREC's form cannot hold an id with a blank, such as a file's name. A path that ends in .csv or
    .tsv gets a table with a header, which can: ``query_id, doc_id, rank, score, name``.

    Distances are written with a minus sign, since tools expect a higher score to be better. Equal
    scores are stepped down in the last digit of a float32, since tools order ties by doc_id.
    Results without scores get ``k, k - 1, ...``.

    Args:
        results: in any of the forms that `relevance_matrix` lists.
        path: the file; packed if it ends in .gz. It is written whole or not at all.
        name: the run's name.

    Raises:
        ValueError: an id or the name holds what the form cannot hold; or scores rise in one
            ranking and fall in another.
    """
    rankings = as_rankings(results)
    lower_is_better = direction(rankings)
    if run_both_ways(rankings):
        found = "The scores rise in one place and fall in another: which are the better ones?"
        raise ValueError(f"{found} Order all rankings alike, or leave the scores out.")

    rows = []
    for query_id, ranking in rankings.items():
        scores = falling_scores(ranking, lower_is_better)
        for rank, (hit, score) in enumerate(zip(ranking, scores, strict=True), start=1):
            rows.append((query_id, hit["doc_id"], rank, score, name))
    if _column_mark(path):
        _write_columns(path, _TABLE_OF_RUN, rows)
        return

    docs = [hit["doc_id"] for ranking in rankings.values() for hit in ranking]
    _refuse_unwritable([name, *rankings, *docs], *_NOT_IN_TREC)
    _write(path, ["{} Q0 {} {} {!r} {}\n".format(*row) for row in rows])


def save_qrels(all_qa: AllQA, path: str | Path) -> None:
    """Write the judgements of all_qa: to a .tsv in BEIR's form, to a .csv as a table, else TREC's.

    TREC's form cannot hold an id with a blank; the other two, which have a header, hold any.

    A query without a judgement has no line in such a file, and is named in a warning.

    Raises:
        ValueError: an id holds what the form cannot hold, or a grade is not a whole number.
    """
    judged = read_judgements(all_qa)
    refuse_repeated(judged)
    broken = judged.grades[judged.grades != np.floor(judged.grades)]
    if len(broken):
        found = f"Grades in a file are whole numbers, found {broken[0]:g}"
        raise ValueError(f"{found}. Scale them first, for example x 10.")
    without = judged.query_ids.delete(judged.rows).tolist()
    if without:
        warn_user(f"not written, since nothing is judged for them: {name_some(without)}.")

    queries = judged.query_ids.to_numpy()[judged.rows]
    grades = [f"{grade:.0f}" for grade in judged.grades]
    mark = _column_mark(path)
    if mark:
        header = ("query-id", "corpus-id", "score") if mark == "\t" else _BEIR_QRELS
        _write_columns(path, header, list(zip(queries, judged.docs, grades, strict=True)))
        return
    _refuse_unwritable([*queries, *judged.docs], *_NOT_IN_TREC)
    _write(path, list(map("{} 0 {} {}\n".format, queries, judged.docs, grades)))


# ---------------------------------------------------------------- tables with a header


def _column_mark(path: str | Path) -> str | None:
    """Return what parts the columns of a .csv or .tsv (or .csv.gz); None for any other file."""
    name = Path(as_path(path).name.removesuffix(".gz"))
    return {".csv": ",", ".tsv": "\t"}.get(name.suffix)


def _read_columns(
    path: str | Path, text: str, fields: Mapping[str, str], wanted: Sequence[str]
) -> pd.DataFrame | None:
    """Read a .csv or .tsv with a header as texts; the index counts the lines from 1.

    Args:
        path, text: the file, and what it holds.
        fields: what each column may be called.
        wanted: the fields that there must be, with something in every row.

    Returns:
        None for any other file, and for a .tsv that is no such table: its lines are BEIR's or
        TREC's, where a quote is a letter as any other.
    """
    mark = _column_mark(path)
    if mark is None:
        return None
    try:
        return _rows_under_header(path, text, mark, fields, wanted)
    except ValueError:
        if mark == "\t":
            return None
        raise


def _rows_under_header(
    path: str | Path, text: str, mark: str, fields: Mapping[str, str], wanted: Sequence[str]
) -> pd.DataFrame:
    rows: dict[int, list[str]] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        for row in reader:
            if any(map(str.strip, row)):
                rows[reader.line_num] = row
    except csv.Error as error:
        raise wrong_line(path, reader.line_num, f"not CSV ({error}). Fix the quotes.") from None

    # The header says which column is which, in any order.
    first, header = next(iter(rows.items()), (1, []))
    columns = recognise(header, fields, {}, str(path))
    if not set(wanted) <= set(columns):
        what = f"a header with {', '.join(wanted)} was wanted, found {name_some(header)}."
        raise wrong_line(path, first, f"{what} Rename the columns.")

    # Every row holds as many fields, and none of the wanted is empty.
    rows.pop(first, None)
    places = {field: header.index(column) for field, column in columns.items()}
    for line, row in rows.items():
        empty = len(row) == len(header) and any(not row[places[field]] for field in wanted)
        if empty or len(row) != len(header):
            found = "an empty one" if empty else len(row)
            what = f"{len(header)} fields were wanted, found {found}."
            raise wrong_line(path, line, what, header)
    cells = {field: [row[place] for row in rows.values()] for field, place in places.items()}
    return pd.DataFrame(cells, index=list(rows), dtype=object)


def _write_columns(path: str | Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    _refuse_unwritable(
        [str(value) for row in rows for value in row],
        _IN_NO_FILE,
        "is empty, or holds NUL or half a character (a lone surrogate), which no text can keep",
    )

    # Quoted where needed, as csv.writer does in Python 3.13: older ones forget a lone \r.
    mark = _column_mark(path) or ""
    needs_quotes = re.compile(rf'[{mark}"\r\n]')

    def cell(value: Any) -> str:
        text = str(value)
        return '"{}"'.format(text.replace('"', '""')) if needs_quotes.search(text) else text

    _write(path, [mark.join(map(cell, row)) + "\n" for row in (header, *rows)])


# ---------------------------------------------------------------- lines of fields


def _read_table(path: str | Path, text: str, names: Sequence[str], separator: str) -> pd.DataFrame:
    """Read fields as texts; the index counts the lines of the file from 1."""
    if _JSON.match(text):
        found = f"{path} holds JSON. A dataset is read by load_dataset(folder)"
        cure = "json.loads(path.read_text()) gives a dict of dicts, which is taken as it is"
        raise ValueError(f"{found}; {cure}.")
    try:
        with warnings.catch_warnings():
            # pandas' word for fields that it would drop
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.StringIO(text), sep=separator, header=None, names=list(names), index_col=False,
                dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE, skip_blank_lines=False,
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        where = re.search(r"in line (\d+), saw (\d+)", str(error))
        line, found = where.groups() if where else ("1", "more")
        raise _wrong_count(path, text, names, line, found) from None

    # Blank lines are none; a line with a field too few has an empty one.
    table.index += 1
    empty = table.isna() | (table == "")
    table = table[~empty.all(axis=1)]
    short = empty.loc[table.index].any(axis=1)
    if short.any():
        first: Any = short.idxmax()
        raise _wrong_count(path, text, names, first, (~empty.loc[first]).sum())

    # TREC's second field, which says nothing, in the place of the doc_id.
    second, docs = table[[names[1], "doc_id"]].isin(["0", "Q0"]).all()
    if len(table) > 1 and docs and not second:
        what = f"the doc_id of every line is {table['doc_id'].iloc[0]}."
        raise wrong_line(path, table.index[0], what, names)
    return table.apply(lambda column: column.str.strip())


def _wrong_count(path: Any, text: str, names: Sequence[str], line: Any, found: Any) -> ValueError:
    n_fields = len(text.lstrip().partition("\n")[0].split())
    other = _KINDS.get(n_fields) if n_fields != len(names) else None
    if n_fields == 1 and "," in text.partition("\n")[0]:
        other = "CSV, whose name must end in .csv"
    looks = f" It looks like {other}." if other else ""
    what = f"{len(names)} fields were wanted, found {found}.{looks}"
    return wrong_line(path, line, what, names)


def wrong_line(path: Any, line: Any, what: str, order: Sequence[str] = ()) -> ValueError:
    """Return the error for a line of a file; ``order`` is that of its fields."""
    wanted = f" The order is: {' '.join(order)}." if order else ""
    return ValueError(f"{path}, line {line}: {what}{wanted}")


def _numbers(path: str | Path, table: pd.DataFrame, column: str) -> pd.Series:
    numbers = pd.to_numeric(table[column], errors="coerce").astype(float)
    # A score may be infinite, and ranks first or last; a grade may not.
    broken = numbers.isna() if column == "score" else numbers.isna() | np.isinf(numbers)
    if broken.any():
        line: Any = broken.idxmax()
        what = f"the {column} {table.loc[line, column]!r} is not a number."
        raise wrong_line(path, line, what, table.columns.tolist())
    return numbers


def falling_scores(ranking: Sequence[Hit], lower_is_better: bool | None) -> list[float]:
    """Return scores that fall from each hit to the next, so far as a float32 tells them apart."""
    if any(hit.get("score") is None for hit in ranking):
        return [float(len(ranking) - position) for position in range(len(ranking))]
    scores = [-float(hit["score"]) if lower_is_better else float(hit["score"]) for hit in ranking]
    with np.errstate(over="ignore"):  # what is too large for a float32 is infinite
        for position in range(1, len(scores)):
            below = float(np.nextafter(np.float32(scores[position - 1]), np.float32(-np.inf)))
            scores[position] = min(scores[position], below)
    return scores


def is_writable(text: str) -> bool:
    """Say whether a file can hold a text as an id: not empty, no NUL, no half a character."""
    return not re.search(_IN_NO_FILE, text)


def _refuse_unwritable(ids: Sequence[Any], unwritable: str, why: str) -> None:
    """Refuse what would be read back as something else, such as an id with a blank."""
    broken = next((value for value in ids if re.search(unwritable, str(value))), None)
    if broken is not None:
        raise ValueError(f"{shown(broken)} {why}. Or give it another name.")


def _write(path: str | Path, lines: Sequence[str]) -> None:
    data = "".join(lines).encode("utf-8")
    # mtime=0: the same results give the same file.
    path = as_path(path)
    write_whole({path: gzip.compress(data, mtime=0) if path.suffix == ".gz" else data})


# ---------------------------------------------------------------- any file


def as_path(path: str | Path, name: str = "path") -> Path:
    """Return the path that was given as a text or a Path.

    Raises:
        TypeError: it is something else.
        ValueError: it is empty, too long, or holds a NUL character or half a character.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type(name, "a path such as 'data/lecture/ko'", path)
    try:
        written = os.fsencode(path)
    except UnicodeEncodeError:  # half a character: a lone surrogate
        written = b""
    longest = max(map(len, written.split(os.fsencode(os.sep))))
    if not written or b"\0" in written or longest > 255 or len(written) > 4_000:
        what = "is empty, too long, or holds a NUL or half a character"
        raise ValueError(f"{name} {shown(os.fspath(path))} {what}. Give a path.")
    return Path(path)


def write_whole(files: Mapping[Path, bytes]) -> None:
    """Write files whole or not at all: beside their places first, and when all are, into them.

    They take their places in the order given: a kill between two leaves the first of them new. A
    link in such a place is replaced, and not followed.

    Raises:
        OSError: one cannot be written; the files that stood there before are unchanged.
    """
    for path in files:
        if os.path.exists(path) and not os.path.isfile(path):
            raise IsADirectoryError(f"{path} is a folder or a device. Give the path of a file.")

    beside = {path: path.with_name(f"{path.name[:200]}.tmp-{token_hex(4)}") for path in files}
    try:
        for path, data in files.items():
            with open(beside[path], "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path in files:
            os.replace(beside[path], path)
            _flush_folder(path.parent)
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        for left in beside.values():
            left.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Let the disk keep the order in which names were given, where a folder can be opened."""
    with suppress(OSError):  # Windows opens none
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def no_formula(cell: Any) -> Any:
    r"""Return the cell with an apostrophe before a formula, and before apostrophes before one.

    So it can be undone: ``table.replace(r"^'(?='*[-=+@\t\r\n])", "", regex=True)``.

    >>> no_formula("=1+2"), no_formula("'=1+2"), no_formula("1+2"), no_formula(-0.5)
    ("'=1+2", "''=1+2", '1+2', -0.5)
    """
    is_formula = isinstance(cell, str) and re.match(r"'*[-=+@\t\r\n]", cell)
    return f"'{cell}" if is_formula else cell


def make_folder(folder: Path) -> None:
    """Make a folder where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "a file has that name" if folder.is_file() else error.strerror or error
        found = f"{folder} cannot be made a folder: {reason}"
        raise type(error)(f"{found}. Give another path.") from None


def not_found(path: Path) -> FileNotFoundError:
    """Return the error for a path that leads nowhere; a relative one is read from somewhere."""
    here = "" if path.is_absolute() else f" It was looked for in {Path.cwd()}."
    return FileNotFoundError(f"{path} not found.{here}")


def read_blocks(path: str | Path) -> Iterator[bytes]:
    """Yield what a file holds, unpacked where it is called .gz, a mebibyte at a time.

    Raises:
        OSError: there is no such file, or it cannot be read.
        ValueError: it is not gzip though called so, is a bomb, or is a Git LFS pointer.
    """
    path = as_path(path)
    if not os.path.exists(path):
        raise not_found(path)
    try:
        with open(path, "rb") as file:
            if file.read(len(_LFS_POINTER)) == _LFS_POINTER:
                found = f"{path} is a Git LFS pointer, not the data"
                raise ValueError(f"{found}. Fetch it: git lfs pull")
            file.seek(0)
            packed = path.suffix == ".gz"
            reader = gzip.GzipFile(fileobj=file) if packed else file
            size = 0
            while block := reader.read(2**20):
                size += len(block)
                if packed:
                    refuse_bomb(path, size)
                yield block
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        found = f"{path} is not a whole gzip file ({error})"
        raise ValueError(f"{found}. Pack it again, or name it without .gz.") from None
    except OSError as error:
        found = f"{path} cannot be read: {error.strerror or error}"
        raise type(error)(f"{found}. Give the path of a file.") from None


def refuse_bomb(path: Path, size: int) -> None:
    """Refuse a packed file that unpacks to more than any text does: text shrinks 3 to 20 times."""
    if size > max(_UNPACKED_SAFELY, 200 * path.stat().st_size):
        raise ValueError(
            f"{path} unpacks to more than 200 times its size, as a zip bomb does. Unpack it "
            "yourself if you trust it."
        )


def read_text(path: str | Path) -> str:
    """Return the text of a UTF-8 file, with or without BOM, packed (.gz) or not.

    Raises:
        OSError: there is no such file, or it cannot be read.
        ValueError: it is not UTF-8, empty, not gzip though called so, or a Git LFS pointer.
    """
    _refuse_no_text(path)
    with open_text(path, "utf-8-sig", newline="") as file:
        text = file.read()
    if not text.strip():
        raise _empty(path)
    return text


def _refuse_no_text(path: str | Path) -> None:
    """Refuse a file that is known by its first bytes, and name it."""
    start = next(read_blocks(path), b"")
    for first, endings, what, cure in NO_TEXT:
        if start.startswith(first):
            read_by_others = "Save it as text, or read it with pandas and give the DataFrame"
            raise ValueError(f"{path} is {what}. {read_by_others if endings else cure}.")


def open_text(path: str | Path, encoding: str | None = None, newline: str | None = None) -> TextIO:
    """Open a text file, packed (.gz) or not, that was read through once to know its encoding.

    Args:
        path: the file.
        encoding: None means UTF-8, UTF-16 if it begins with its mark, else CP949; the encoding is
            ``file.encoding``.
        newline: as Python's ``open`` takes it.

    Raises:
        OSError: there is no such file, or it cannot be read.
        ValueError: it is in another encoding, empty, not text, or as in `read_blocks`.
    """
    start = next(read_blocks(path), b"")
    if not start:
        raise _empty(path)
    if encoding is not None and not isinstance(encoding, str):
        raise wrong_type("encoding", 'a text such as "cp949"', encoding)
    tried = [encoding] if encoding else ["utf-8-sig", "cp949"]
    if not encoding and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        tried = ["utf-16"]

    failed = [_failure(path, name) for name in tried]
    if None not in failed:
        names = " nor ".join(name.upper().removesuffix("-SIG") for name in tried)
        cure = "Save it as UTF-8, or say what it is, such as encoding='cp1252'."
        if tried == ["utf-8-sig"]:
            cure = f"Save it as UTF-8{_other_encoding(path, start)}."
        raise ValueError(f"{path} is not {names} (byte {failed[0]}). {cure}")
    known = tried[failed.index(None)]
    if b"\0" in start and not known.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32")):
        raise ValueError(
            f"{path} is not text: it holds NUL bytes. Give a text file, or its encoding, such as "
            "encoding='utf-16-le'."
        )
    opener = gzip.open if as_path(path).suffix == ".gz" else open
    return cast(TextIO, opener(path, "rt", encoding=known, newline=newline))


def _other_encoding(path: str | Path, start: bytes) -> str:
    """Say what encoding a file has that is not UTF-8, and how it is read; "" if nothing fits."""
    is_utf_16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if is_utf_16 else "cp949"
    if _failure(path, encoding) is not None:
        return ", if it is a text at all"
    found = f"it is {encoding.upper()}, as files from Excel may be"
    return f"; {found}: path.read_text(encoding={encoding!r})"


def _empty(path: str | Path) -> ValueError:
    return ValueError(f"{path} is empty. Give a file that holds something.")


def _failure(path: str | Path, encoding: str) -> int | None:
    """Return the first byte that cannot be read in this encoding, None if all can."""
    try:
        b"".decode(encoding)  # refuses what is a codec and no encoding, such as zlib
        decoder = codecs.getincrementaldecoder(encoding)()
    except (LookupError, ValueError):
        raise ValueError(
            f"{path}: encoding={shown(encoding)} is not known. Give one that Python knows: "
            "'utf-8', 'cp949', 'utf-16', ..."
        ) from None

    read = 0
    try:
        for block in read_blocks(path):
            waiting = len(decoder.getstate()[0])
            decoder.decode(block)
            read += len(block)
        waiting = len(decoder.getstate()[0])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return read - waiting + error.start
    return None


def read_jsonl(path: str | Path) -> list[tuple[int, dict[str, Any]]]:
    """Return (line number, object) for each line of a JSON lines file.

    Raises:
        OSError, ValueError: as `read_text`, and for a line that is not a JSON object.
    """
    records = []
    # split("\n"), not splitlines(): a text may hold U+2028, which JSON leaves unescaped.
    for line, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            records.append((line, _json_object(text, path, line)))
    return records


def _json_object(text: str, path: str | Path, line: int) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:  # a number or a nesting may be too long, too
        what = f"not JSON ({getattr(error, 'msg', error)}). One JSON object a line is wanted."
        raise wrong_line(path, line, what) from None
    if not isinstance(record, dict):
        what = f"a JSON object was wanted, found {type(record).__name__}."
        raise wrong_line(path, line, what)
    return record
