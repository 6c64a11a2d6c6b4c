"""nbgrader assigns every master, grades what students hand in and exports the grades, in its own environment."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.notebooks
FOLDER = Path(__file__).parent.parent / "notebooks"
GRADING = Path(__file__).parent / "grading.py"
SOLUTION = re.compile(r"( *)### BEGIN SOLUTION\n.*?### END SOLUTION", re.DOTALL)
HIDDEN = re.compile(r"\n### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", re.DOTALL)


@pytest.fixture(scope="module")
def nbgrader_python(tmp_path_factory):
    """A Python with nbgrader, which sees the kit and the packages of this one besides."""
    folder = tmp_path_factory.mktemp("nbgrader")
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", vars=paths))
    ours = [sysconfig.get_path("purelib"), str(FOLDER.parent)]
    (packages / "ours.pth").write_text("\n".join(ours), encoding="utf-8")

    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "nbgrader==0.9.6"]
    done = subprocess.run(pip, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nbgrader cannot be installed here: {done.stderr.strip()[-200:]}")
    return python


def grade(python, course, masters, submissions):
    """Assign, autograde and export; return what a student sees, and the scores exported."""
    course.mkdir()
    submissions.mkdir(exist_ok=True)
    command = [python, GRADING, course, masters, submissions]
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])  # it calls alembic by its name
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": path},
        cwd=course,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def handed_in(master, folder, change):
    """Write a student's notebook: the master with its solutions changed, without hidden tests."""
    notebook = nbformat.read(master, as_version=4)
    for cell in notebook.cells:
        cell.source = SOLUTION.sub(change, HIDDEN.sub("", cell.source))
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / master.name)


def seventeen(found):
    """A wrong answer in place of a solution: in a function (indented) or for a value."""
    return f"{found[1]}return 17.0" if found[1] else "answer = answers = 17.0"


@pytest.mark.parametrize("language", ["ko", "en"])
def test_nbgrader_assigns_every_master_without_its_solutions(nbgrader_python, tmp_path, language):
    masters = FOLDER / language / "exercises" / "solved"
    graded = grade(nbgrader_python, tmp_path / "course", masters, tmp_path / "nobody")
    assert sorted(graded["released"]) == sorted(path.name for path in masters.glob("*.ipynb"))
    for name, text in graded["released"].items():
        assert "BEGIN SOLUTION" not in text and "HIDDEN" not in text, name


def test_nbgrader_gives_all_points_to_right_answers_and_none_to_wrong_or_empty(
    nbgrader_python, tmp_path
):
    master = FOLDER / "ko" / "exercises" / "solved" / "04_ndcg.ipynb"
    masters, students = tmp_path / "masters", tmp_path / "students"
    masters.mkdir()
    (masters / master.name).write_bytes(master.read_bytes())
    handed_in(master, students / "right", lambda found: found[0])
    handed_in(master, students / "wrong", seventeen)
    handed_in(master, students / "empty", lambda found: f"{found[1]}...")

    graded = grade(nbgrader_python, tmp_path / "course", masters, students)
    most = graded["scores"]["right"][1]
    assert most >= 4
    assert graded["scores"] == {"right": [most, most], "wrong": [0, most], "empty": [0, most]}
