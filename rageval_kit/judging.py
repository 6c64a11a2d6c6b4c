"""A form in the notebook to judge a pool: one document at a time, every click on disk at once."""

import csv
import os
from html import escape
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rageval_kit.documents import Docs
from rageval_kit.files import as_path, make_folder
from rageval_kit.messages import missing_extra, wrong_type
from rageval_kit.pooling import GRADES, load_judged, read_pool
from rageval_kit.wording import say

if TYPE_CHECKING:
    from ipywidgets import VBox

_HEADER = ("query_id", "doc_id", "grade", "judge")


def judging_form(pool: pd.DataFrame, docs: Docs, path: str | Path, judge: str = "one") -> "VBox":
    """Return a form to judge a pool with: buttons, or the keys 0 to 3 and u for undo.

    Each judgement is a line of the file as soon as it is made, and an undo one without a grade:
    whoever opens the form again goes on where they stopped. Several judges may share the file, each
    under a name; none sees the others' grades. `load_judged` reads it.

    Args:
        pool: from `pool_results`.
        docs: what is judged.
        path: of a CSV file, made if it is not found.
        judge: the name that the judgements carry.

    Returns:
        An ipywidgets box (the extra widgets), shown as the last line of a cell.

    Raises:
        ImportError: ipywidgets is not installed.
        KeyError: a document of the pool is not in docs.
        ValueError: the file holds something else than judgements of this pool.
    """
    if not isinstance(judge, str) or not judge.strip():
        raise wrong_type("judge", 'a name such as "Anna"', judge)
    log = _Log(as_path(path), pool, judge.strip())
    return _Form(read_pool(pool, docs), log).box


class _Log:
    """What one judge said, in a file that only grows: the last line about a pair counts."""

    def __init__(self, path: Path, pool: pd.DataFrame, judge: str) -> None:
        if path.suffix.lower() != ".csv":
            raise ValueError(f"{path}: a form writes CSV. Name it .csv.")
        self._path, self._judge = path, judge
        self.grades: dict[tuple[Any, Any], int] = {}
        if path.exists():
            known = load_judged(path, pool)
            mine = known[known["judge"] == judge]
            self.grades = {(q, d): int(grade) for q, d, grade in mine[[*_HEADER[:3]]].to_numpy()}
        else:
            make_folder(path.parent)
            self._write("\ufeff", _HEADER)  # the mark lets Excel read UTF-8

    def judge(self, pair: tuple[Any, Any], grade: int) -> None:
        """Write down a grade, and then know it."""
        self._write("", (*pair, grade, self._judge))
        self.grades[pair] = grade

    def undo(self) -> None:
        """Take back the last grade."""
        pair = next(reversed(self.grades))
        self._write("", (*pair, "", self._judge))
        del self.grades[pair]

    def _write(self, before: str, row: tuple[Any, ...]) -> None:
        """Append a row as one write, so that two judges may share the file."""
        line = StringIO()
        csv.writer(line).writerow(row)
        handle = os.open(self._path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o666)
        try:
            os.write(handle, (before + line.getvalue()).encode("utf-8"))
            os.fsync(handle)
        finally:
            os.close(handle)


class _Form:
    """The widgets, and what happens when one is used."""

    def __init__(self, pairs: list[dict[str, Any]], log: _Log) -> None:
        try:
            import ipywidgets as widgets
        except ImportError as error:
            without = " save_pool writes the pool as CSV or Excel without it."
            raise missing_extra("judging_form", "widgets", error, without) from None
        self._pairs, self._log = pairs, log

        # What is read.
        self.progress = widgets.IntProgress(max=len(pairs), layout={"width": "100%"})
        self.said = widgets.HTML()
        self.shown = widgets.HTML(layout={"max_height": "24em", "overflow": "auto"})

        # What is pressed: a button, or a key in a field.
        self.buttons = [
            widgets.Button(description=f"{grade}: {say(said)}", layout={"width": "auto"})
            for grade, said in GRADES.items()
        ]
        self.undo = widgets.Button(description=say("undo (u)"), layout={"width": "auto"})
        self.keys = widgets.Text(placeholder=say("click here for the keys 0 to 3, u"))
        for grade, button in enumerate(self.buttons):
            button.on_click(lambda _, grade=grade: self._press(str(grade)))
        self.undo.on_click(lambda _: self._press("u"))
        self.keys.observe(self._typed, names="value")

        row = widgets.HBox([*self.buttons, self.undo], layout={"flex_flow": "row wrap"})
        self.box = widgets.VBox([self.progress, self.said, self.shown, row, self.keys])
        self._show()

    def _typed(self, change: dict[str, Any]) -> None:
        """Press what came in behind what stood there.

        The field is never emptied: a key pressed before the browser knew would come twice.
        """
        both = zip(change["old"], change["new"], strict=False)
        stood = len(list(takewhile(lambda pair: pair[0] == pair[1], both)))
        for key in change["new"][stood:]:
            self._press(key)

    def _press(self, key: str) -> None:
        """Do what a key means; what cannot be written is said, and has not happened."""
        pair = self._next()
        try:
            if key in "0123" and pair is not None:
                self._log.judge((pair["query_id"], pair["doc_id"]), int(key))
            elif key == "u" and self._log.grades:
                self._log.undo()
        except OSError as error:
            problem = say("Not saved: {error}. Close the file elsewhere.", error=error)
            self._show(f"<b>{escape(problem)}</b>")
        else:
            self._show()

    def _next(self) -> dict[str, Any] | None:
        """Return the first pair without a grade."""
        judged = self._log.grades
        return next((p for p in self._pairs if (p["query_id"], p["doc_id"]) not in judged), None)

    def _show(self, problem: str = "") -> None:
        pair, n = self._next(), len(self._log.grades)
        self.progress.value = n
        self.undo.disabled = n == 0
        for button in self.buttons:
            button.disabled = pair is None
        judged = say("{n:,} of {all:,} judged", n=n, all=len(self._pairs))
        self.said.value = problem or judged

        # Texts are shown as they are: nothing in them is HTML.
        if pair is None:
            self.shown.value = f"<p>{say('All is judged. Thank you.')}</p>"
            return
        question, title, content = (escape(str(pair[f])) for f in ("question", "title", "content"))
        text = f'<div style="white-space: pre-wrap">{content}</div>'
        self.shown.value = f"<h3>{question}</h3><p><b>{title}</b></p>{text}"
