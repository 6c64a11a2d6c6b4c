"""Write a class folder: the course in one language, to teach from, also where there is no Git.

It holds the lecture's notebooks without outputs, the students' exercises, slides, the data, the
kit, what pip needs, and the lecturer's README. A zip of it stands beside.
"""

import hashlib
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from posixpath import dirname, normpath, relpath
from typing import Any

from rageval_kit.course_data import COURSE, data_folder
from rageval_kit.messages import count, describe, name_some, show_progress, shown, typed
from rageval_kit.wording import say

CLONE = Path(__file__).parent.parent
_COPIED = ("data", "notebooks", "rageval_kit")  # folders of the clone
_LIST = ".course.json"  # in a class folder: its language, and the fingerprints of files and zip
_ZIP = f"{COURSE}.zip"
_LEFT_OUT = re.compile(r"(^|/)(__pycache__|\.ipynb_checkpoints)/|(\.sqlite|(^|/)\.DS_Store|~)$")
_DATA = re.compile(r'data_folder\(\s*"(\w+)"')
_LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")

Notebook = dict[str, Any]


def make_course(language: str, out: str | Path) -> dict[str, int]:
    """Write the class folder of a language, whole or not at all, and its zip beside it.

    Args:
        language: ``"ko"`` or ``"en"``: a folder of ``notebooks`` in the clone.
        out: the folder to make. One that was made so before, in the same language, is replaced if
            nothing has changed in it, nor in its zip.

    Returns:
        How many ``notebooks``, ``exercises`` and ``slides`` it holds. There are no slides where
        nbconvert is not installed.

    Raises:
        TypeError: out is no path.
        ValueError: there is no such language, the kit stands in no clone, or no folder can be made
            there, or it holds something else, or what somebody changed, or the zip is another's.
        OSError: it cannot be written.
    """
    places = _places(language)
    target = _target(out)
    _refuse_what_is_not_ours(target, language)

    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as beside:
        folder = Path(beside, "new")
        _copy(places, folder)
        slides = _make_slides(places, language, folder / "slides")
        packed = _write_list_and_zip(folder, language, Path(beside, "zip"))

        _refuse_what_is_not_ours(target, language)  # the slides took minutes
        _take_place(folder, Path(beside, "old"), target)
        packed.replace(target.with_name(_ZIP))

    # What was written.
    exercises = sum(place.startswith("notebooks/exercises/") for place in places.values())
    notebooks = sum(place.endswith(".ipynb") for place in places.values()) - exercises
    return {"notebooks": notebooks, "exercises": exercises, "slides": slides}


def student_copy(master: Notebook) -> Notebook:
    r"""Return the student's notebook of a solved master, as nbgrader would make it.

    What stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` becomes ``...``, in the
    place of the first marker; so does the whole of a cell that nbgrader calls a solution and that
    has no markers. ``### BEGIN HIDDEN TESTS`` to ``### END HIDDEN TESTS`` goes, and so do outputs
    and counts. Metadata and the ids of cells stay, so the same master gives the same copy.

    Args:
        master: the notebook as nbformat or json reads it; it is not changed.

    Raises:
        ValueError: it is no notebook, or a cell is none, or a region is not ended, or not begun, or
            stands within another; the message names the cell.

    >>> source = "def dcg(gains):\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
    >>> cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": source, "outputs": []}
    >>> print(student_copy({"cells": [cell]})["cells"][0]["source"])
    def dcg(gains):
        ...
    """
    _refuse_what_is_no_notebook(master, "the master")
    copy = without_outputs(master)
    for cell in copy["cells"]:
        text = "".join(cell["source"])
        is_solution = cell["metadata"].get("nbgrader", {}).get("solution", False)
        if is_solution and "BEGIN SOLUTION" not in text:
            cell["source"] = "..."
            continue
        where = f"cell {shown(cell.get('id', text))}"
        text = _without(text, "SOLUTION", "...", where)
        cell["source"] = _without(text, "HIDDEN TESTS", None, where)
    return copy


def _refuse_what_is_no_notebook(master: Any, what: str) -> None:
    parts = {"cells": list, "metadata": dict}
    fields = {"metadata": {}, **master} if isinstance(master, dict) else {}
    if not all(isinstance(fields.get(name), kind) for name, kind in parts.items()):
        found = describe(master)
        raise ValueError(f"{what} is a notebook, as json reads it, with cells; found {found}.")

    # What every cell has, as Jupyter and nbformat write it.
    for number, cell in enumerate(master["cells"], start=1):
        fields = cell if isinstance(cell, dict) else {}
        lines, metadata = fields.get("source"), fields.get("metadata")
        if not (isinstance(lines, str | list) and all(isinstance(line, str) for line in lines)):
            odd = "source, a text or a list of lines"
        elif not (isinstance(metadata, dict) and isinstance(metadata.get("nbgrader", {}), dict)):
            odd = "metadata, a dict, which may be empty"
        elif not isinstance(fields.get("cell_type"), str):
            odd = 'cell_type, "code" or "markdown"'
        else:
            continue
        found = f"cell {number} of {what} is {shown(cell)}, without its {odd}"
        raise ValueError(f"{found}. Save it with Jupyter, or read it with nbformat.")


def _without(text: str, region: str, instead: str | None, where: str) -> str:
    """Return the text with each region replaced by a line, or by none."""
    kept: list[str] = []
    is_within = False
    for line in text.split("\n"):
        begins, ends = f"BEGIN {region}" in line, f"END {region}" in line
        if begins == is_within and (begins or ends):
            found = "stands within another" if begins else "has no BEGIN before it"
            raise ValueError(f"{where}: {line.strip()!r} {found}. Write BEGIN and END in turn.")
        if begins and instead is not None:
            kept.append(line[: len(line) - len(line.lstrip())] + instead)
        if not (begins or ends or is_within):
            kept.append(line)
        is_within = begins or (is_within and not ends)

    if is_within:
        raise ValueError(f"{where}: BEGIN {region} has no END {region} after it. Write one.")
    return "\n".join(kept).rstrip("\n")


def without_outputs(notebook: Notebook) -> Notebook:
    """Return a copy of a notebook without outputs, counts and timings."""
    copy = deepcopy(notebook)
    for cell in copy["cells"]:
        cell["metadata"].pop("execution", None)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    copy.get("metadata", {}).pop("widgets", None)
    return copy


# ---------------------------------------------------------------- what goes where


def _places(language: str) -> dict[str, str]:
    """Return {file of the clone: its place in the class folder}."""
    source = CLONE / "notebooks"
    languages = sorted({path.parent.name for path in source.glob("*/*.ipynb")})
    if not languages:
        found = f"{CLONE} has no notebooks/<language>"
        raise ValueError(f"a class folder is made from a clone of the project; {found}.")
    if language not in languages:
        raise ValueError(f"--language is one of {', '.join(languages)}; found {shown(language)}.")

    # What is taught, and the lecturer's README.
    home = source / language
    lectures = sorted(home.glob("*.ipynb"))
    exercises = sorted(home.glob("exercises/*.ipynb"))
    places = {_name(path, CLONE): f"notebooks/{path.name}" for path in lectures}
    places |= {_name(path, CLONE): f"notebooks/exercises/{path.name}" for path in exercises}
    places[f"notebooks/{language}/README.md"] = "README.md"

    # What it needs to run.
    needed = [CLONE / name for name in ("LICENSE", "pyproject.toml", "requirements.txt")]
    needed += _files(CLONE / "rageval_kit")
    for name in data_names([*lectures, *exercises]):
        needed += _files(CLONE / "data" / name)
    return places | {_name(path, CLONE): _name(path, CLONE) for path in needed}


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _files(folder: Path) -> list[Path]:
    """Return the files in a folder and below that belong to the course: no caches, no backups."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if not _LEFT_OUT.search(_name(path, folder))]


def data_names(notebooks: list[Path]) -> list[str]:
    """Return the names of the data sets that notebooks, and the exercises' checks, ask for."""
    checks = (CLONE / "rageval_kit" / "exercises").glob("*.py")
    texts = [path.read_text(encoding="utf-8").replace('\\"', '"') for path in (*notebooks, *checks)]
    return sorted({name for text in texts for name in _DATA.findall(text)})


# ---------------------------------------------------------------- writing


def _copy(places: dict[str, str], folder: Path) -> None:
    for source, place in places.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(_content(source, places))


def _content(source: str, places: dict[str, str]) -> bytes:
    """Return what a file of the clone holds in the class folder."""
    if source.endswith(".ipynb"):
        notebook = without_outputs(_notebook(source))
        _relink_cells(notebook, source, places)
        return f"{json.dumps(notebook, ensure_ascii=False, indent=1)}\n".encode()
    data = (CLONE / source).read_bytes()
    if source.startswith("notebooks/"):
        return _relinked(data.decode(), source, places).encode()
    if source == "requirements.txt":
        return _to_run(data.decode()).encode()
    return data


def _notebook(source: str) -> Notebook:
    """Read a notebook of the clone, or say which one cannot be read."""
    try:
        notebook = json.loads((CLONE / source).read_bytes())
    except ValueError as error:  # half written, or with the marks of a merge
        raise ValueError(f"{source} is no notebook: {error}. Restore it from Git.") from None
    _refuse_what_is_no_notebook(notebook, source)
    return dict(notebook)


def _to_run(requirements: str) -> str:
    r"""Return the requirements without those of the tests, which stand under a comment.

    >>> _to_run("pandas==3\n# tests\npytest==9\n# the kit itself\n-e .\n")
    'pandas==3\n# the kit itself\n-e .\n'
    """
    return re.sub(r"^# tests\n(?:[^#\n].*\n)*", "", requirements, flags=re.MULTILINE)


def _relink_cells(notebook: Notebook, source: str, places: dict[str, str]) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = _relinked("".join(cell["source"]), source, places)


def _relinked(text: str, source: str, places: dict[str, str]) -> str:
    """Let a text's links lead where the files are now; a link to what is not there is a text."""

    def new(link: re.Match[str]) -> str:
        to = places.get(normpath(f"{dirname(source)}/{link[2]}"))
        here = dirname(places[source])
        return f"[{link[1]}]({relpath(to, here or '.')}{link[3] or ''})" if to else link[1]

    return _LINK.sub(new, text)


def _make_slides(places: dict[str, str], language: str, folder: Path) -> int:
    """Write the slides, with outputs, and return how many; none where nbconvert is missing."""
    if not find_spec("nbconvert"):
        return 0
    import nbformat

    from rageval_kit.slides import to_slides

    lectures = [name for name, place in places.items() if re.match(r"notebooks/[^/]*ipynb", place)]
    pages = {name: f"slides/{Path(name).stem}.html" for name in lectures}
    folder.mkdir()
    for name in show_progress(lectures, say("slides"), say("notebook")):
        notebook = nbformat.read(CLONE / name, as_version=4)
        _relink_cells(notebook, name, pages)
        page = to_slides(notebook, Path(name).stem, language)
        (folder.parent / pages[name]).write_text(page, encoding="utf-8", newline="\n")
    return len(pages)


def _write_list_and_zip(folder: Path, language: str, path: Path) -> Path:
    """Write the list into the folder, then the zip, whose own fingerprint it cannot hold."""
    files = {_name(file, folder): _fingerprint(file) for file in _files(folder)}
    record = {"language": language, "files": files}
    _write_record(folder, record)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in (*files, _LIST):
            packed.write(folder / name, name)

    _write_record(folder, {**record, "zip": _fingerprint(path)})
    return path


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    text = json.dumps(record, ensure_ascii=False, indent=1)
    (folder / _LIST).write_text(text, encoding="utf-8")


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _take_place(new: Path, old: Path, target: Path) -> None:
    """Put the new folder in the place of the one that is there, which stays if that fails."""
    try:
        if target.exists():
            target.rename(old)
        new.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise


# ---------------------------------------------------------------- where it is written


def _target(out: str | Path) -> Path:
    """Return where the class folder is to stand, beside which can be written, or refuse."""
    if not isinstance(out, str | Path):
        raise TypeError(f"out is a path, such as 'class'; found {typed(out)}.")
    try:
        target = Path(os.path.realpath(os.path.expanduser(out)))
        reason = _why_not_at(target) if str(out).strip() else "the name is empty"
        if not reason:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=target.parent):
                return target
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError as error:  # a letter that no path can have
        reason = str(error)
    found = f"--out {shown(str(out))}: no class folder can be made there ({reason})"
    raise ValueError(f"{found}. Name another one, such as --out class.")


def _why_not_at(target: Path) -> str:
    """Say why a path cannot be that of a class folder; "" where it can."""
    if any(path.is_symlink() for path in (target, *target.parents)):  # though they were followed
        return "its links lead in a circle"
    if not target.name:
        return "it is the whole disk"
    if re.search(r"[\x00-\x1f\x7f]", str(target)):
        return "its name has a line break, or another letter that cannot be seen"
    zip_beside = target.with_name(_ZIP)
    if target == zip_beside or (os.path.lexists(zip_beside) and not zip_beside.is_file()):
        return f"the zip beside it is called {_ZIP}"

    clone = Path(os.path.realpath(CLONE))
    its_own = [name for name in _COPIED if target.is_relative_to(clone / name)]
    return f"a course is made of what stands in {its_own[0]}" if its_own else ""


# ---------------------------------------------------------------- a class folder that is there


def _refuse_what_is_not_ours(folder: Path, language: str) -> None:
    """Refuse what holds anything but that which `make_course` wrote: the folder, or its zip."""
    if folder.is_file():
        raise ValueError(f"--out {folder} is a file. Name a folder that is new or empty.")
    if folder.exists() and any(folder.iterdir()):
        record = _record(folder)
        _refuse_what_changed(folder, record.get("files", {}))
        if record.get("language") != language:
            there = shown(record.get("language"))
            found = f"--out {folder} holds the course in another language, {there}"
            raise ValueError(f"{found}. {_elsewhere(language)}, or move this one away.")
    _refuse_another_zip(folder, language)


def _refuse_what_changed(folder: Path, listed: dict[str, str]) -> None:
    """Refuse a folder that is no class folder, or is not as it was written."""
    if not listed:
        found = f"--out {folder} holds something else than a course"
        raise ValueError(f"{found}. Name a folder that is new or empty.")

    changed = set(_strange(folder, listed))
    for name, fingerprint in listed.items():
        path = folder / name
        if not path.is_file() or _fingerprint(path) != fingerprint:
            changed.add(name)
    if changed:
        found = f"--out {folder} has changed since it was written: {name_some(sorted(changed))}"
        raise ValueError(f"{found}. Name another folder, or move this one away.")


def _strange(folder: Path, listed: dict[str, str]) -> Iterator[str]:
    """Yield what was not written into a class folder: files, and folders as a whole."""
    ours = {_LIST, *listed}
    ours |= {str(above) for name in listed for above in PurePosixPath(name).parents}
    for here, folders, files in os.walk(folder):
        for path in (Path(here, name) for name in (*folders, *files)):
            if _name(path, folder) not in ours and not _is_of_a_machine(path):
                yield _name(path, folder)
        folders[:] = [name for name in folders if _name(Path(here, name), folder) in ours]


def _is_of_a_machine(path: Path) -> bool:
    """Say whether Python, or the Finder of a Mac, made it by itself; a checkpoint holds work."""
    if path.name == "__pycache__" and path.is_dir():
        return all(file.is_file() and file.suffix == ".pyc" for file in path.iterdir())
    return path.name == ".DS_Store" and path.is_file()


def _refuse_another_zip(folder: Path, language: str) -> None:
    """Refuse where the zip beside a folder is not the one that was written with it."""
    packed = folder.with_name(_ZIP)
    if not packed.exists():
        return
    made = _fingerprint(packed)
    owners = [path for path in sorted(folder.parent.iterdir()) if _record(path).get("zip") == made]
    if folder in owners:
        return

    # Whose it is, or that nobody knows.
    whose = f"is that of {owners[0]}" if owners else "was not written with it, or has changed since"
    raise ValueError(
        f"--out {folder}: the {_ZIP} beside it {whose}. {_elsewhere(language)}, or move the zip "
        "away."
    )


def _elsewhere(language: str) -> str:
    return f"Name a folder elsewhere, such as --out course/{language}/class"


def _record(folder: Path) -> dict[str, Any]:
    """Return what was listed: language, files, zip; empty where this is no class folder."""
    try:
        record = json.loads((folder / _LIST).read_text(encoding="utf-8"))
        return {**record, "files": dict(record["files"])}
    except (OSError, ValueError, TypeError, KeyError):  # none, or not as it was written
        return {}


def look_at_course() -> str:
    """Say how many notebooks are there, with the data that they ask for.

    Raises:
        FileNotFoundError: files of the class folder, or its data, are missing.
        ValueError: a data set is missing.
    """
    root = data_folder("lecture").parents[1]
    missing = [name for name in _record(root).get("files", {}) if not (root / name).exists()]
    if missing:
        raise FileNotFoundError(f"{root} has not got {name_some(missing)}")

    notebooks = [path for path in _files(root / "notebooks") if path.suffix == ".ipynb"]
    names = data_names(notebooks)
    for name in names:
        data_folder(name)
    return f"{count(len(notebooks), 'notebook')}, data found: {', '.join(names)}"
