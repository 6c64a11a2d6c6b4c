"""Read and write any file as people bring it, and say in words what is wrong with it.

Texts in whatever encoding, JSON lines, packed (.gz) or not; a save is whole or has not happened.
"""

import codecs
import gzip
import json
import os
import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, TextIO, cast

from rageval_kit.messages import shown, wrong_type

_LFS_POINTER = b"version https://git-lfs"
_UNPACKED_SAFELY = 100 * 2**20
IN_NO_FILE = r"[\x00\ud800-\udfff]|^$"  # what no file can hold as an id

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


def nfc(name: str) -> str:
    """Return a file's name in one Unicode form: macOS hands out Hangul in jamo (NFD)."""
    return unicodedata.normalize("NFC", name)


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


def is_writable(text: str) -> bool:
    """Say whether a file can hold a text as an id: not empty, no NUL, no half a character."""
    return not re.search(IN_NO_FILE, text)


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


def wrong_line(path: Any, line: Any, what: str, order: Sequence[str] = ()) -> ValueError:
    """Return the error for a line of a file; ``order`` is that of its fields."""
    wanted = f" The order is: {' '.join(order)}." if order else ""
    return ValueError(f"{path}, line {line}: {what}{wanted}")
