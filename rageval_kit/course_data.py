"""Find the data of the course wherever a notebook is opened: a clone, an unzipped zip, Colab."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rageval_kit.messages import name_some, shown, wrong_type

BUNDLED = ("campus", "handbook", "lecture")
COURSE = "rageval_course"  # what the zip is called, and the folder that unzipping it may make
_PACKAGE = Path(__file__).parent.parent
_COLAB = (Path("/content"), Path("/content/drive/MyDrive"))


def data_folder(name: str, language: str | None = None) -> Path:
    """Return ``data/<name>/<language>``, looked for wherever the notebook may have been opened.

    It is looked for in the working folder and all folders above it, then beside the package, then
    in Colab's ``/content`` and ``/content/drive/MyDrive``; in each also in a folder
    ``rageval_course``, as unzipping the course may make one.

    Args:
        name: ``"lecture"``, ``"campus"``, ``"handbook"``, or any other folder within ``data``.
        language: ``"ko"`` or ``"en"``, or another folder within that one, such as ``"runs"`` of
            campus. None means the folder itself.

    Raises:
        FileNotFoundError: no folder ``data`` of the course is there; the message says where it was
            looked for and what to do.
        ValueError: the course's data are there and hold no such folder.
        TypeError: name or language is no text.

    >>> data_folder("campus", "ko").parts[-3:]
    ('data', 'campus', 'ko')
    >>> data_folder("handbook").parts[-2:]
    ('data', 'handbook')
    >>> data_folder("lecture", "fr")
    Traceback (most recent call last):
    ValueError: the course's data hold no 'lecture/fr'. Choose one: lecture/en, lecture/ko.
    """
    if not isinstance(name, str):
        raise wrong_type("name", 'a text such as "campus"', name)
    if language is not None and not isinstance(language, str):
        raise wrong_type("language", 'a text such as "ko"', language)

    # The first folder that has it; a folder called data may be anybody's.
    places = list(_places())
    for data in places:
        if name in _folders(data):
            if language is None:
                return data / name
            if language in _folders(data / name):
                return data / name / language

    # The course's data without it, or no data.
    wanted = name if language is None else f"{name}/{language}"
    for data in places:
        if set(BUNDLED) & set(_folders(data)):
            raise _not_there(wanted, data, name)
    raise _nowhere(wanted)


def _places() -> Iterator[Path]:
    """Yield the folders called data to look in, the nearest first."""
    here = _here()
    for root in (here, *here.parents, _PACKAGE, *_COLAB):
        yield root / "data"
        yield root / COURSE / "data"


def _here() -> Path:
    """Return the working folder; where it was deleted, that of the package."""
    with suppress(FileNotFoundError):
        return Path.cwd()
    return _PACKAGE


def _folders(folder: Path) -> list[str]:
    """Return the names of the folders in a folder, none where it cannot be read."""
    with suppress(OSError):
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    return []


def _not_there(wanted: str, data: Path, name: str) -> ValueError:
    """Return the error that names what there is: beside the language, or beside the name."""
    within = [f"{name}/{inner}" for inner in _folders(data / name)] if name in BUNDLED else []
    choices = name_some(within or _folders(data))
    return ValueError(f"the course's data hold no {shown(wanted)}. Choose one: {choices}.")


def _nowhere(wanted: str) -> FileNotFoundError:
    """Return the error that says where was looked, and what to do."""
    here, colab = _here(), " and ".join(map(str, _COLAB))
    looked = f"looked in {here} and the folders above it, beside the package in {_PACKAGE}"
    return FileNotFoundError(
        f"{shown(f'data/{wanted}')} was not found: {looked}, and in {colab}. Upload {COURSE}.zip "
        f"to {here} and unzip it there (in a cell: !unzip -oq {COURSE}.zip), or give load_dataset "
        "the path of the folder."
    )
