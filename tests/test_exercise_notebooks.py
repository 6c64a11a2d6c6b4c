"""The solved masters are right, and the students' copies are made from them and hold no answer.

After a change on purpose: ``pytest tests/test_exercise_notebooks.py --update-notebooks``.
"""

import contextlib
import io
import json
import re

import nbformat
import pytest
from test_notebooks import FOLDER, name_of

from rageval_kit import exercises
from rageval_kit.course import student_copy
from rageval_kit.wording import say, set_language

pytestmark = pytest.mark.notebooks
KOREAN = sorted(FOLDER.glob("ko/exercises/solved/*.ipynb"))
MASTERS = [*KOREAN, *sorted(FOLDER.glob("en/exercises/solved/*.ipynb"))]
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
CHECK = re.compile(r'check\("([\w-]+)"')


def cells_of(path):
    return nbformat.read(path, as_version=4).cells


def checked_in(cells):
    return [found[1] for cell in cells if (found := CHECK.match(cell.source))]


def test_every_session_has_a_master_in_both_editions():
    lectures = sorted(path.name for path in FOLDER.glob("ko/*.ipynb"))
    assert [path.name for path in KOREAN] == lectures
    assert sorted(path.name for path in FOLDER.glob("en/exercises/solved/*.ipynb")) == lectures
    assert exercises.sessions() == [name[:2] for name in lectures]


@pytest.mark.parametrize("path", KOREAN, ids=name_of)
def test_a_master_checks_every_exercise_and_nbgrader_knows_each(path):
    session, cells = path.stem[:2], cells_of(path)
    wanted = [*exercises.exercises_of(session), f"{session}-quiz"]
    assert checked_in(cells) == wanted
    graded = [cell.metadata.nbgrader for cell in cells if "nbgrader" in cell.metadata]
    assert {meta.schema_version for meta in graded} == {3}
    assert [meta.grade_id for meta in graded if meta.grade] == [f"check-{name}" for name in wanted]
    answers = [meta.grade_id for meta in graded if meta.solution]
    assert answers == [f"answer-{name}" for name in wanted]


def verdicts_of(path):
    """Run a notebook's code, as a kernel would but for the display, and return what checks say."""
    names, verdicts = {}, {}
    for cell in cells_of(path):
        if cell.cell_type == "code":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(cell.source, names)
            if CHECK.match(cell.source):
                found = re.findall(r"^\[([^]]*)\]", printed.getvalue(), re.MULTILINE)
                verdicts[CHECK.match(cell.source)[1]] = set(found)
    return verdicts


@pytest.fixture
def as_at_the_start():
    yield
    set_language("en")
    exercises.set_seed(0)


@pytest.mark.usefixtures("as_at_the_start")
@pytest.mark.parametrize("path", MASTERS, ids=name_of)
def test_every_answer_of_a_master_is_right(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    verdicts = verdicts_of(path)
    assert list(verdicts) == checked_in(cells_of(path))
    assert all(found == {say("right")} for found in verdicts.values()), verdicts


@pytest.mark.parametrize("path", MASTERS, ids=name_of)
def test_the_students_copy_is_made_from_the_master_as_it_is(path, request):
    copy = path.parent.parent / path.name
    made = student_copy(json.loads(path.read_text(encoding="utf-8")))
    if request.config.getoption("--update-notebooks"):
        nbformat.write(nbformat.from_dict(made), copy)
    assert nbformat.read(copy, as_version=4) == nbformat.from_dict(made)


@pytest.mark.parametrize("path", MASTERS, ids=name_of)
def test_no_answer_can_be_read_in_the_students_copy(path):
    copy = (path.parent.parent / path.name).read_text(encoding="utf-8")
    for cell in cells_of(path):
        for lines in SOLUTION.findall(cell.source):
            for line in map(str.strip, lines.splitlines()):
                if re.match("return .{6}|answers? = .{6}", line):
                    assert json.dumps(line, ensure_ascii=False)[1:-1] not in copy


@pytest.mark.usefixtures("as_at_the_start")
@pytest.mark.parametrize("path", MASTERS, ids=name_of)
def test_a_copy_that_nobody_has_filled_in_says_not_attempted_and_no_more(path, monkeypatch):
    monkeypatch.chdir(path.parent.parent)
    verdicts = verdicts_of(path.parent.parent / path.name)
    assert list(verdicts) == checked_in(cells_of(path))
    assert all(found == {say("not attempted")} for found in verdicts.values()), verdicts
