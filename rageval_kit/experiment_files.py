"""Keep an experiment in a folder: TREC runs, table.csv, queries.jsonl and record.json.

Every finished system is kept at once: its run first, then a record.json that names it. Each file is
written whole or not at all, so that a kill leaves what was finished.
"""

import io
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.documents import Record
from rageval_kit.experiment_table import Experiment, Facts, as_experiment
from rageval_kit.files import (
    as_path,
    make_folder,
    no_formula,
    read_jsonl,
    read_text,
    write_whole,
)
from rageval_kit.messages import printable
from rageval_kit.rankings import Hit, Results, as_rankings
from rageval_kit.trec import load_run, save_run

_RECORD, _TABLE, _QUERIES, _RUNS = "record.json", "table.csv", "queries.jsonl", "runs"
WORK = "work.sqlite"  # vectors and hits on the way; may be deleted
_VERSION = 1
_OF_NAME = ("settings", "fingerprint", "error")  # what a name has; the rest is of the fingerprint
_APOSTROPHE = r"^'(?='*[-=+@\t\r\n])"  # what no_formula puts before a formula


class Folder:
    """The folder of an experiment that runs, or of one that ended.

    Raises:
        ValueError: its record cannot be read.
        OSError: it cannot be made or written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = as_path(path, "save")
        make_folder(self.path / _RUNS)
        self._kept = self._on_disk()  # by fingerprint

    def _on_disk(self) -> dict[str, Facts]:
        is_new = not (self.path / _RECORD).exists()
        return {} if is_new else _read_record(self.path)["kept"]

    def find(self, fingerprint: str, all_qa: Sequence[Record]) -> tuple[Results, Facts] | None:
        """Return the run that was kept under a fingerprint; None if there is none to be read."""
        with suppress(OSError, ValueError, KeyError):
            facts = self._kept[fingerprint]
            return _read_run(self.path, facts, all_qa), _without_file(facts)
        return None

    def keep(self, name: str, fingerprint: str, run: Results, facts: Facts) -> None:
        """Keep a finished system at once."""
        self._kept = self._on_disk() | self._kept  # another session may have finished others
        before = self._kept.get(fingerprint, {}).get("file")
        file = before or f"{_RUNS}/{_slug(name)}-{fingerprint[:8]}.trec"
        file = _write_run(self.path, file, run)
        self._kept[fingerprint] = {**facts, "file": file}
        self._write({})

    def finish(self, result: Experiment) -> None:
        """Write the table and the whole record, and delete what is no longer of the experiment."""
        used = {its["fingerprint"] for its in result.record["systems"].values()}
        left = [facts for key, facts in self._kept.items() if key not in used]
        self._kept = {key: facts for key, facts in self._kept.items() if key in used}
        cells = result.table.map(_as_cell).rename(index=_as_cell)
        lines = [json.dumps(qa) + "\n" for qa in result.all_qa]
        files = {
            _TABLE: cells.to_csv(lineterminator="\n").encode(),
            _QUERIES: "".join(lines).encode(),
        }
        write_whole({self.path / name: data for name, data in files.items()})
        systems = result.record["systems"]
        named = {name: {f: its[f] for f in _OF_NAME} for name, its in systems.items()}
        self._write({**result.record, "systems": named})

        # Runs that are no longer of the experiment.
        for facts in left:
            with suppress(OSError, TypeError):  # another session was quicker, or it has no hit
                (self.path / facts["file"]).unlink()

    def _write(self, record: Mapping[str, Any]) -> None:
        whole = {"version": _VERSION, **record, "kept": self._kept}
        data = json.dumps(whole, indent=1).encode()
        write_whole({self.path / _RECORD: data})


def save_experiment(result: Experiment, folder: str | Path) -> None:
    """Write an experiment to a folder, as ``experiment(..., save=folder)`` does while it runs.

    ``runs/`` has a run a system in TREC's form (or as a table in .csv where an id holds a blank),
    ``table.csv`` the table, ``queries.jsonl`` the queries with their judgements, and
    ``record.json`` all that made them.

    Raises:
        TypeError: it is no experiment's result.
        OSError: the folder cannot be written.
    """
    result, kept = as_experiment(result), Folder(folder)
    for name, run in result.runs.items():
        facts = result.record["systems"][name]
        kept.keep(
            name, facts["fingerprint"], run, {f: facts[f] for f in facts if f not in _OF_NAME}
        )
    kept.finish(result)


def load_experiment(folder: str | Path) -> Experiment:
    """Read what `save_experiment` or ``experiment(..., save=folder)`` wrote.

    All is as it was.

    Raises:
        FileNotFoundError: there is no such experiment.
        ValueError: a file cannot be read, or the experiment did not end: run it again.
    """
    path = as_path(folder, "folder")
    record = _read_record(path)
    if "systems" not in record:
        raise ValueError(
            f"{path} holds an experiment that did not end. Run it again with the same save=: it "
            "goes on from there."
        )
    kept = record.pop("kept")
    del record["version"]
    try:
        all_qa = [qa for _, qa in read_jsonl(path / _QUERIES)]
        runs = {}
        for name, its in record["systems"].items():
            if not its["error"]:
                of_run = kept[its["fingerprint"]]
                runs[name] = _read_run(path, of_run, all_qa)
                its.update(_without_file(of_run))
        return Experiment(_read_table(path / _TABLE, record), runs, record, all_qa)
    except (KeyError, TypeError, AttributeError) as error:
        raise _broken(path, error) from error


# ---------------------------------------------------------------- file by file


def _read_record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(read_text(path / _RECORD))
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("kept"), dict):
        raise _broken(path, ValueError("no record of an experiment"))
    if record.get("version") != _VERSION:
        raise ValueError(f"{path} was written by another version. Run the experiment again.")
    return record


def _broken(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"{path} cannot be read as an experiment ({type(error).__name__}: {error}). Give the "
        "folder of save=, or another name for a new one."
    )


def _write_run(path: Path, file: str, run: Results) -> str | None:
    """Write a run in TREC's form, as a .csv where that cannot hold an id; None without a hit."""
    if not any(run.values()):
        return None
    try:
        save_run(run, path / file, Path(file).stem)
    except ValueError:
        file = Path(file).with_suffix(".csv").as_posix()
        save_run(run, path / file, Path(file).stem)
    return file


def _read_run(path: Path, facts: Facts, all_qa: Sequence[Record]) -> Results:
    """Return a run with the scores in the direction that they had, if it had any."""
    questions = {qa["query_id"]: qa["question"] for qa in all_qa if "question" in qa}
    hits: dict[str, list[Hit]] = {qa["query_id"]: [] for qa in all_qa}
    if facts["file"]:
        hits |= as_rankings(load_run(path / facts["file"]))
    for ranking in hits.values():
        for hit in ranking:
            score = hit.pop("score")
            if facts["scored"]:
                hit["score"] = -score if facts["lower_is_better"] else score
    known = {name: facts[name] for name in ("k", "score_name", "lower_is_better", "index")}
    return Results(hits, **known, questions=questions)


def _read_table(path: Path, record: Mapping[str, Any]) -> pd.DataFrame:
    text = io.StringIO(read_text(path))
    try:
        table = pd.read_csv(text, dtype=str, keep_default_na=False, index_col="system")
        table = table.replace(_APOSTROPHE, "", regex=True)
        return _with_kinds(table, record)
    except ValueError as error:
        raise _broken(path.parent, error) from error


def _with_kinds(table: pd.DataFrame, record: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table of texts with each column of the kind that it had."""
    table.index = pd.Index(record["systems"], name="system")
    for axis in record["axes"]:
        table[axis] = [facts["settings"][axis] for facts in record["systems"].values()]
    for column in table.columns.drop([*record["axes"], "verdict", "error", "like_best"]):
        table[column] = table[column].replace("", np.nan).astype(float)
    known = {"True": True, "False": False}
    table["like_best"] = pd.array([known.get(cell) for cell in table["like_best"]], "boolean")
    for column in ("verdict", "error"):
        table[column] = table[column].tolist()
    return table.rename_axis(columns=record["metrics"][0])


def _as_cell(value: Any) -> Any:
    """Return a cell that is no formula and no two lines."""
    return no_formula(printable(value)) if isinstance(value, str) else value


def _without_file(facts: Facts) -> Facts:
    return {name: value for name, value in facts.items() if name != "file"}


def _slug(name: str) -> str:
    """Return a name as a file's name can hold it.

    >>> _slug("model=chars, size=30"), _slug("한국어 / 모델")
    ('model_chars_size_30', '한국어_모델')
    """
    return re.sub(r"\W+", "_", name).strip("_")[:60]
