"""Read text files as people bring them, and say in words what is wrong with them."""

import gzip
import json
import os
import zlib
from pathlib import Path
from typing import Any

from rageval_kit.messages import wrong_type

_LFS_POINTER = b"version https://git-lfs"


def as_path(path: str | Path, name: str = "path") -> Path:
    """Return the path that was given as a text or a Path.

    Raises:
        TypeError: it is something else.
        ValueError: it is empty, or holds a NUL character.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type(name, "a path such as 'data/lecture/ko'", path)
    if not str(path) or "\0" in str(path):
        raise ValueError(f"{name} {str(path)!r} is empty or holds a NUL character. Give a path.")
    return Path(path)


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all: beside its place first, and then into it.

    Raises:
        OSError: it cannot be written; a file that stood there before is unchanged.
    """
    path = as_path(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise IsADirectoryError(f"{path} is a folder or a device. Give the path of a file.")

    beside = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def read_text(path: str | Path) -> str:
    """Return the text of a UTF-8 file, with or without BOM, packed (.gz) or not.

    Raises:
        FileNotFoundError: it not found.
        ValueError: it is not UTF-8, empty, not gzip though called so, or a Git LFS pointer.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} not found.")
    try:
        data = path.read_bytes()
        if path.suffix == ".gz" and not data.startswith(_LFS_POINTER):
            data = gzip.decompress(data)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8; "
            "Korean files from Excel are often CP949: path.read_text(encoding='cp949')."
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} is not a whole gzip file ({error}). Pack it again, or name it without .gz."
        ) from None
    if data.startswith(_LFS_POINTER):
        raise ValueError(
            f"{path} is a Git LFS pointer, not the data. Fetch the data with: git lfs pull"
        )
    if not text.strip():
        raise ValueError(f"{path} is empty.")
    return text


def read_jsonl(path: str | Path) -> list[tuple[int, dict[str, Any]]]:
    """Return (line number, object) for each line of a JSON lines file.

    Raises:
        FileNotFoundError, ValueError: as `read_text`, and for a line that is not a JSON object.
    """
    records = []
    # split("\n"), not splitlines(): a text may hold U+2028, which JSON leaves unescaped.
    for line, text in enumerate(read_text(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{path}, line {line}: not JSON ({error.msg}). One JSON object a line is wanted."
            ) from None
        if not isinstance(record, dict):
            raise ValueError(
                f"{path}, line {line}: a JSON object was wanted, found {type(record).__name__}."
            )
        records.append((line, record))
    return records
