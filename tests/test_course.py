"""The class folder: what is in it, that it runs without a network, and what it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile

import nbformat
import pytest
from conftest import LANGUAGES, ROOT, unwrapped
from nbclient import NotebookClient

from rageval_kit import course
from rageval_kit.__main__ import main
from rageval_kit.course import make_course, student_copy
from rageval_kit.fonts import korean_font
from rageval_kit.slides import mark_slides, to_slides
from rageval_kit.wording import current_language


def files(folder):
    """Every file in a folder and below, by its path within it."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


# ---------------------------------------------------------------- the course of this clone


@pytest.fixture(scope="module", params=LANGUAGES)
def made(request, tmp_path_factory):
    """The class folder of a language. Its slides, which take long, are tried apart."""
    folder = tmp_path_factory.mktemp(request.param) / "class"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rageval_kit.slides.to_slides", lambda notebook, title, language: title)
        counts = make_course(request.param, folder)
    return request.param, folder, counts


def test_it_holds_what_a_class_needs_and_nothing_else(made):
    language, folder, counts = made
    sources = {path.name for path in (ROOT / "notebooks" / language).glob("*.ipynb")}
    assert {path.name for path in (folder / "notebooks").glob("*.ipynb")} == sources
    assert files(folder / "slides") == {name.replace("ipynb", "html") for name in sources}
    assert counts["notebooks"] == counts["slides"] == len(sources)
    assert {path.name for path in folder.iterdir()} == {
        ".course.json", "LICENSE", "README.md", "data", "notebooks", "pyproject.toml",
        "rageval_kit", "requirements.txt", "slides",
    }  # fmt: skip
    assert not [
        name for name in files(folder) if re.search("solved|pycache|test_|checkpoint", name)
    ]


def test_its_notebooks_have_no_outputs_and_the_same_code(made):
    language, folder, _ = made
    for path in (folder / "notebooks").glob("*.ipynb"):
        copy = nbformat.read(path, as_version=4)
        source = nbformat.read(ROOT / "notebooks" / language / path.name, as_version=4)
        nbformat.validate(copy)
        cells = [cell for cell in copy.cells if cell.cell_type == "code"]
        assert [c.source for c in cells] == [
            c.source for c in source.cells if c.cell_type == "code"
        ]
        assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


def test_its_kit_and_data_are_those_of_the_clone(made):
    _, folder, _ = made
    for name in files(folder / "data"):
        assert (folder / "data" / name).read_bytes() == (ROOT / "data" / name).read_bytes()
    kit = {name for name in files(ROOT / "rageval_kit") if "__pycache__" not in name}
    assert files(folder / "rageval_kit") == kit
    assert {"lecture", "campus"} <= {path.name for path in (folder / "data").iterdir()}


def test_its_requirements_are_the_tested_set_without_the_tests(made):
    _, folder, _ = made
    wanted = (folder / "requirements.txt").read_text(encoding="utf-8")
    everything = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert set(wanted.splitlines()) < set(everything.splitlines())
    for line in ("faiss-cpu==", "jupyter==", "-e ."):
        assert f"\n{line}" in wanted
    assert "pytest" not in wanted


def test_the_zip_beside_it_holds_the_same_files(made):
    _, folder, _ = made
    with zipfile.ZipFile(folder.with_name("rageval_course.zip")) as packed:
        assert packed.testzip() is None
        assert set(packed.namelist()) == files(folder)


def test_every_link_in_it_leads_somewhere(made):
    _, folder, _ = made
    texts = {folder / "README.md": (folder / "README.md").read_text(encoding="utf-8")}
    for path in (folder / "notebooks").rglob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        texts[path] = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for path, text in texts.items():
        for _, target, _ in course._LINK.findall(text):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


# ---------------------------------------------------------------- offline

CUT = """\
import socket

_connect = socket.socket.connect

def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
        raise OSError("the network is cut")
    return _connect(self, address)

def getaddrinfo(host, *rest, **more):
    raise OSError("the network is cut")

socket.socket.connect = connect
socket.getaddrinfo = getaddrinfo
"""


@pytest.fixture
def cut_off(tmp_path):
    """The environment of a Python that has no network, and knows no other kit than its folder's."""
    (tmp_path / "sitecustomize.py").write_text(CUT)
    closed = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return lambda folder: {
        **os.environ, **closed, "PYTHONPATH": f"{folder}{os.pathsep}{tmp_path}", "TQDM_DISABLE": "1"
    }  # fmt: skip


@pytest.mark.notebooks
def test_a_notebook_of_the_copy_runs_without_a_network_on_the_kit_of_the_copy(made, cut_off):
    language, folder, _ = made
    if language != "ko":
        pytest.skip("one is enough: the other has the same code")
    notebook = nbformat.read(folder / "notebooks" / "02_search.ipynb", as_version=4)
    tried = "import socket\ntry:\n    socket.create_connection(('pypi.org', 443))\n"
    tried += "except OSError as error:\n    print(error)\n"
    tried += "import rageval_kit\nprint(rageval_kit.__file__, docs[0]['doc_id'])"
    notebook.cells.append(nbformat.v4.new_code_cell(tried))
    where = {"metadata": {"path": folder / "notebooks"}}
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where)
    client.execute(env=cut_off(folder))
    said = notebook.cells[-1].outputs[0].text
    assert said == f"the network is cut\n{folder / 'rageval_kit' / '__init__.py'} doc_001\n"


def test_check_says_in_the_copy_that_it_is_whole_and_runs_offline(made, cut_off):
    language, folder, counts = made
    if language != "en":
        pytest.skip("one is enough: the other has the same code")
    said = unwrapped(run_in(folder, cut_off(folder), "check").stdout)
    n = counts["notebooks"] + counts["exercises"]
    assert f"[OK] course: {n} notebooks, data found: campus," in said
    assert re.search(r"default embeddings: \d+ dimensions, .* with the network cut", said)
    assert str(folder) in said  # the writable folder


def run_in(folder, environment, *arguments):
    command = [sys.executable, "-m", "rageval_kit", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


# ---------------------------------------------------------------- a small clone


def a_notebook(*cells):
    made = nbformat.v4.new_notebook(cells=list(cells))
    for number, cell in enumerate(made.cells):
        cell.id = f"c{number}"
    return made


def code(source, **metadata):
    output = nbformat.v4.new_output("stream", text="3.14\n")
    return nbformat.v4.new_code_cell(source, outputs=[output], execution_count=3, metadata=metadata)


def text(source):
    return nbformat.v4.new_markdown_cell(source)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with one session, an exercise and its master, and a data set that is asked for."""
    root = tmp_path / "clone"
    session = a_notebook(
        text("See [the card](../../data/small/README.md#size), [exercises](exercises/01_a.ipynb), "
             "[the guide](README.md#terms), [a test](../../tests/test_a.py), [here](#a)."),
        code('data_folder("small", "ko")'),
    )  # fmt: skip
    exercise = a_notebook(text("Back to [it](../01_a.ipynb)."), code("..."))
    contents = {
        "notebooks/README.md": "# both",
        "notebooks/ko/README.md": "# 안내\n\n[1](01_a.ipynb)",
        "notebooks/ko/01_a.ipynb": nbformat.writes(session),
        "notebooks/ko/.ipynb_checkpoints/01_a.ipynb": "{}",
        "notebooks/ko/exercises/01_a.ipynb": nbformat.writes(exercise),
        "notebooks/ko/exercises/solved/01_a.ipynb": nbformat.writes(exercise),
        "notebooks/en/README.md": "# guide",
        "notebooks/en/01_a.ipynb": nbformat.writes(session),
        "data/small/README.md": "card",
        "data/small/ko/corpus.jsonl": "{}",
        "data/other/ko/corpus.jsonl": "{}",
        "rageval_kit/__init__.py": "",
        "rageval_kit/exercises/texts/ko/01.toml": "",
        "rageval_kit/__pycache__/old.pyc": "",
        "rageval_kit.egg-info/PKG-INFO": "",
        "tests/test_a.py": "",
        "LICENSE": "MIT",
        "pyproject.toml": "[project]",
        "requirements.txt": "numpy\n# tests\npytest\n# the kit\n-e .\n",
    }
    for name, content in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
    monkeypatch.setattr(course, "CLONE", root)
    monkeypatch.setattr("rageval_kit.slides.to_slides", lambda notebook, title, language: title)
    return root


IN_THE_CLASS = {
    ".course.json", "LICENSE", "README.md", "pyproject.toml", "requirements.txt",
    "data/small/README.md", "data/small/ko/corpus.jsonl",
    "notebooks/01_a.ipynb", "notebooks/exercises/01_a.ipynb", "slides/01_a.html",
    "rageval_kit/__init__.py", "rageval_kit/exercises/texts/ko/01.toml",
}  # fmt: skip


def test_only_what_the_notebooks_of_a_language_need_is_copied(clone, tmp_path):
    counts = make_course("ko", tmp_path / "class")
    assert files(tmp_path / "class") == IN_THE_CLASS
    assert counts == {"notebooks": 1, "exercises": 1, "slides": 1}


def test_links_lead_where_the_files_are_now_and_others_become_text(clone, tmp_path):
    make_course("ko", tmp_path / "class")
    notebook = json.loads((tmp_path / "class/notebooks/01_a.ipynb").read_text(encoding="utf-8"))
    assert "".join(notebook["cells"][0]["source"]) == (
        "See [the card](../data/small/README.md#size), [exercises](exercises/01_a.ipynb), "
        "[the guide](../README.md#terms), a test, [here](#a)."
    )
    readme = (tmp_path / "class/README.md").read_text(encoding="utf-8")
    assert "[1](notebooks/01_a.ipynb)" in readme


def test_without_nbconvert_there_are_no_slides(clone, tmp_path, monkeypatch):
    monkeypatch.setattr(course, "find_spec", lambda name: None)
    assert make_course("ko", tmp_path / "class")["slides"] == 0
    assert files(tmp_path / "class") == IN_THE_CLASS - {"slides/01_a.html"}


def test_a_folder_that_it_made_is_written_anew(clone, tmp_path):
    make_course("ko", tmp_path / "class")
    (tmp_path / "class/rageval_kit/__pycache__").mkdir()
    (tmp_path / "class/rageval_kit/__pycache__/new.pyc").write_text("")
    (clone / "notebooks/ko/01_a.ipynb").rename(clone / "notebooks/ko/02_b.ipynb")
    make_course("ko", tmp_path / "class")
    assert (tmp_path / "class/notebooks/02_b.ipynb").exists()
    assert not (tmp_path / "class/notebooks/01_a.ipynb").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("notebooks/01_a.ipynb", "notebooks/01_a.ipynb"),
        ("notes.txt", "notes.txt"),
        ("notes.md~", "notes.md~"),
        ("notebooks/results.sqlite", "notebooks/results.sqlite"),
        ("notebooks/.ipynb_checkpoints/01_a-checkpoint.ipynb", "notebooks/.ipynb_checkpoints"),
        ("__pycache__.d/thesis.txt", "__pycache__.d"),
        ("rageval_kit/__pycache__/thesis.txt", "rageval_kit/__pycache__"),
        (".venv/bin/python", ".venv"),
        ("data/small/my.egg-info", "data/small/my.egg-info"),
    ],
)
def test_what_somebody_made_or_changed_is_never_written_over(clone, tmp_path, name, said):
    make_course("ko", tmp_path / "class")
    (tmp_path / "class" / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "class" / name).write_text("mine")
    with pytest.raises(ValueError, match=f"has changed since it was written: {said}. Name another"):
        make_course("ko", tmp_path / "class")
    assert (tmp_path / "class" / name).read_text() == "mine"


def test_an_empty_folder_of_somebody_is_kept(clone, tmp_path):
    make_course("ko", tmp_path / "class")
    (tmp_path / "class/notebooks/results").mkdir()
    with pytest.raises(ValueError, match="has changed since it was written: notebooks/results. "):
        make_course("ko", tmp_path / "class")
    assert (tmp_path / "class/notebooks/results").is_dir()


def test_what_is_changed_while_it_is_written_anew_is_kept(clone, tmp_path, monkeypatch):
    make_course("ko", tmp_path / "class")
    mine = tmp_path / "class/mine.txt"

    def slowly(*_):
        mine.write_text("mine")
        return "slides"

    monkeypatch.setattr("rageval_kit.slides.to_slides", slowly)
    with pytest.raises(ValueError, match="has changed since it was written: mine.txt"):
        make_course("ko", tmp_path / "class")
    assert mine.read_text() == "mine"


def test_another_edition_is_not_written_over(clone, tmp_path):
    make_course("en", tmp_path / "class")
    with pytest.raises(ValueError, match="holds the course in another language, 'en'. Name a fold"):
        make_course("ko", tmp_path / "class")


# ---------------------------------------------------------------- the zip beside it


def test_a_zip_that_it_wrote_is_written_anew_or_again(clone, tmp_path):
    packed = tmp_path / "rageval_course.zip"
    make_course("ko", tmp_path / "class")
    (clone / "notebooks/ko/01_a.ipynb").rename(clone / "notebooks/ko/02_b.ipynb")
    make_course("ko", tmp_path / "class")
    assert "notebooks/02_b.ipynb" in zipfile.ZipFile(packed).namelist()
    packed.unlink()
    make_course("ko", tmp_path / "class")
    assert packed.exists()


@pytest.mark.parametrize("is_made_before", [False, True])
def test_a_zip_of_somebody_is_never_written_over(is_made_before, clone, tmp_path):
    if is_made_before:
        make_course("ko", tmp_path / "class")
    packed = tmp_path / "rageval_course.zip"
    packed.write_text("mine")
    with pytest.raises(ValueError, match="rageval_course.zip beside it was not written with it"):
        make_course("ko", tmp_path / "class")
    assert packed.read_text() == "mine"
    assert (tmp_path / "class").exists() == is_made_before


def test_the_zip_of_the_other_edition_is_never_written_over(clone, tmp_path):
    make_course("ko", tmp_path / "both/ko")
    packed = (tmp_path / "both/rageval_course.zip").read_bytes()
    owner = re.escape(str(tmp_path / "both/ko"))
    with pytest.raises(ValueError, match=f"zip beside it is that of {owner}. Name a folder else"):
        make_course("en", tmp_path / "both/en")
    assert (tmp_path / "both/rageval_course.zip").read_bytes() == packed
    assert not (tmp_path / "both/en").exists()


@pytest.mark.parametrize("listed", [b"{", b"[]", b'{"files": 3}', b"\xff\xfe"])
def test_a_folder_with_a_list_that_cannot_be_read_is_somebody_elses(listed, tmp_path):
    (tmp_path / ".course.json").write_bytes(listed)
    with pytest.raises(ValueError, match="holds something else than a course"):
        course._refuse_what_is_not_ours(tmp_path, "ko")


@pytest.mark.parametrize("master", [None, [], {}, {"cells": None}, {"cells": [], "metadata": 1}])
def test_what_is_no_notebook_has_no_students_copy(master):
    with pytest.raises(ValueError, match="the master is a notebook"):
        student_copy(master)


@pytest.mark.parametrize(
    ("cell", "without"),
    [
        ({"cell_type": "code", "source": ""}, "metadata"),
        ({"cell_type": "code", "source": "", "metadata": {"nbgrader": True}}, "metadata"),
        ({"cell_type": "code", "metadata": {}}, "source"),
        ({"cell_type": "code", "source": [1], "metadata": {}}, "source"),
        ({"source": "", "metadata": {}}, "cell_type"),
        ("x = 1", "source"),
    ],
)
def test_what_is_no_cell_is_refused_with_its_place(cell, without):
    right = {"cell_type": "code", "source": "", "metadata": {}}
    with pytest.raises(ValueError, match=f"cell 2 of the master is .*, without its {without}, "):
        student_copy({"cells": [right, cell]})


def test_a_folder_of_somebody_else_is_refused(clone, tmp_path):
    (tmp_path / "class").mkdir()
    make_course("ko", tmp_path / "class")  # an empty one is not
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter.txt").write_text("1")
    with pytest.raises(ValueError, match="holds something else than a course. Name a folder"):
        make_course("ko", tmp_path / "thesis")
    with pytest.raises(ValueError, match=r"chapter.txt is a file. Name a folder"):
        make_course("ko", tmp_path / "thesis/chapter.txt")


def test_an_unknown_language_is_answered_with_those_there_are(clone, tmp_path):
    with pytest.raises(ValueError, match="--language is one of en, ko; found 'fr'"):
        make_course("fr", tmp_path / "class")
    assert not (tmp_path / "class").exists()


def test_outside_a_clone_the_error_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "CLONE", tmp_path)
    with pytest.raises(ValueError, match="is made from a clone of the project"):
        make_course("ko", tmp_path / "class")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_stopped_on_the_way_it_leaves_nothing_and_what_was_there(
    clone, tmp_path, monkeypatch, error
):
    make_course("ko", tmp_path / "class")
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}

    def fails(*_):
        raise error

    monkeypatch.setattr("rageval_kit.slides.to_slides", fails)
    with pytest.raises((KeyboardInterrupt, OSError)):
        make_course("ko", tmp_path / "class")
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_where_the_new_one_cannot_take_its_place_the_old_one_stays(clone, tmp_path):
    make_course("ko", tmp_path / "class")
    with pytest.raises(FileNotFoundError):
        course._take_place(tmp_path / "no-such", tmp_path / "old", tmp_path / "class")
    assert files(tmp_path / "class") == IN_THE_CLASS


def test_check_names_what_is_missing_from_a_class_folder(clone, tmp_path, monkeypatch):
    make_course("ko", tmp_path / "class")
    for folder in ("class/data/lecture", "class/data/small"):
        (tmp_path / folder).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "class")
    monkeypatch.setattr("rageval_kit.course_data._PACKAGE", tmp_path / "class")
    assert course.look_at_course() == "2 notebooks, data found: small"
    (tmp_path / "class/notebooks/exercises/01_a.ipynb").unlink()
    with pytest.raises(FileNotFoundError, match="has not got notebooks/exercises/01_a.ipynb"):
        course.look_at_course()


# ---------------------------------------------------------------- the command


def test_the_command_says_what_it_wrote_and_what_to_do_next(clone, tmp_path, capsys):
    out = str(tmp_path / "class")
    assert main(["course", "--language", "ko", "--out", out]) == 0
    said = unwrapped(capsys.readouterr().out)
    assert f"{out}에 만들었습니다. 노트북 1개, 연습 문제 1개, 슬라이드 1개." in said
    for step in ("-m venv .venv", "pip install -r requirements.txt", "python -m rageval_kit check"):
        assert step in said
    assert current_language() == "en"

    # In its language.
    assert main(["course", "--language", "en", "--out", str(tmp_path / "other/class")]) == 0
    said = unwrapped(capsys.readouterr().out)
    assert "class: notebooks 1, exercises 0, slides 1; all of it also in rageval_course.zip" in said
    assert "Next: read README.md in that folder, and on every machine run there:" in said


def test_without_nbconvert_the_command_says_how_to_get_slides(clone, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(course, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)  # where there is no virtual environment
    assert main(["course", "--language", "en", "--out", "class"]) == 0
    said = unwrapped(capsys.readouterr().out)
    assert re.search(r"no slides, since nbconvert is missing \(\w+ -m venv .venv, then .venv", said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["course"], "course wants both, such as: course --language ko --out class"),
        (["course", "--language", "ko"], "course wants both"),
        (["course", "--language", "fr", "--out", "class"], "--language is one of en, ko"),
        (["--language", "en"], "A dataset is chosen by --data: --data data/lecture/en"),
    ],
)
def test_a_mistake_is_a_sentence(arguments, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert said in unwrapped(capsys.readouterr().err)
    assert files(tmp_path) == set()


@pytest.mark.skipif(sys.platform == "win32", reason="links and names of Unix")
@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("", "--out '': no class folder can be made there (the name is empty)"),
        (" ", "the name is empty"),
        ("a\nb", "its name has a line break"),
        ("file", "file is a file. Name a folder that is new or empty"),
        ("file/class", "no class folder can be made there"),
        ("loop", "its links lead in a circle"),
        ("loop/class", "its links lead in a circle"),
        ("a\0b", "null"),
        ("x" * 300, "no class folder can be made there"),
        ("rageval_course.zip", "the zip beside it is called rageval_course.zip"),
        ("taken/class", "the zip beside it is called rageval_course.zip"),
        ("clone/data/small/class", "a course is made of what stands in data"),
        ("clone/rageval_kit/new", "a course is made of what stands in rageval_kit"),
        ("clone/notebooks", "a course is made of what stands in notebooks"),
        ("clone", "clone holds something else than a course"),
    ],
)
def test_where_no_class_folder_can_be_made_is_refused(out, said, clone, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "taken/rageval_course.zip").mkdir(parents=True)
    before = files(tmp_path)
    out = f"{tmp_path}/{out}" if out.strip() else out
    assert main(["course", "--language", "ko", "--out", out]) == 1
    assert said in unwrapped(capsys.readouterr().err)
    assert files(tmp_path) == before


def test_the_whole_disk_is_refused(clone):
    with pytest.raises(ValueError, match=r"--out '/': .* \(it is the whole disk\). Name another"):
        make_course("ko", "/")


def test_where_nothing_may_be_written_is_refused(clone, tmp_path, monkeypatch):
    def refused(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("rageval_kit.course.tempfile.TemporaryFile", refused)
    with pytest.raises(ValueError, match=r"can be made there \(Permission denied\). Name another"):
        make_course("ko", tmp_path / "class")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"cells": [', "notebooks/ko/01_a.ipynb is no notebook: Expecting value"),
        ("[]", "notebooks/ko/01_a.ipynb is a notebook, as json reads it, with cells; found list"),
        ('{"cells": [{"source": ""}]}', "cell 1 of notebooks/ko/01_a.ipynb is {'source': ''}"),
    ],
)
def test_a_broken_notebook_of_the_clone_is_named(written, said, clone, tmp_path):
    (clone / "notebooks/ko/01_a.ipynb").write_text(written)
    with pytest.raises(ValueError) as caught:
        make_course("ko", tmp_path / "class")
    assert said in str(caught.value)
    assert not (tmp_path / "class").exists()


def test_a_tilde_is_the_home(clone, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    make_course("ko", "~/class")
    assert (tmp_path / "class/README.md").exists()


@pytest.mark.parametrize("out", [None, 5, ["class"], b"class"])
def test_what_is_no_path_is_refused(out, clone):
    with pytest.raises(TypeError, match="out is a path, such as 'class'"):
        make_course("ko", out)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_stopped_by_a_signal_it_leaves_nothing(tmp_path):
    out = tmp_path / "class"
    command = [sys.executable, "-m", "rageval_kit", "course", "--language", "ko", "--out", str(out)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as run:
        while not list(tmp_path.glob(".class-*/new")) and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)  # as Ctrl-C does
        said = run.stderr.read()
    assert run.returncode == 1
    assert "중단했습니다. 아무것도 쓰지 않았습니다." in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- the student's copy

SOLVED = """\
def dcg(gains):
    # add up
    ### BEGIN SOLUTION
    total = 0
    return total
    ### END SOLUTION

answer = dcg([1])
### BEGIN SOLUTION
answer = answer + 1
### END SOLUTION"""
OPEN = """\
def dcg(gains):
    # add up
    ...

answer = dcg([1])
..."""


def test_a_solution_becomes_dots_that_keep_their_place():
    (cell,) = student_copy(a_notebook(code(SOLVED)))["cells"]
    assert cell["source"] == OPEN


def test_hidden_tests_go():
    source = "check(1)\n### BEGIN HIDDEN TESTS\nassert answer == 2\n### END HIDDEN TESTS\nprint(2)"
    (cell,) = student_copy(a_notebook(code(source)))["cells"]
    assert cell["source"] == "check(1)\nprint(2)"


def test_outputs_and_counts_go_and_ids_and_metadata_stay():
    of_nbgrader = {"grade_id": "04-2", "solution": True, "grade": False, "schema_version": 3}
    master = a_notebook(text("# 4"), code(SOLVED, nbgrader=of_nbgrader))
    kept = nbformat.writes(master)
    copy = student_copy(master)
    assert nbformat.writes(master) == kept
    nbformat.validate(copy)
    first, second = copy["cells"]
    assert (first["id"], first["source"]) == ("c0", "# 4")
    assert (second["id"], second["outputs"], second["execution_count"]) == ("c1", [], None)
    assert second["metadata"]["nbgrader"] == of_nbgrader
    assert nbformat.writes(student_copy(master)) == nbformat.writes(copy)


def test_a_solution_without_markers_goes_as_a_whole():
    answer = text("Precision, because a page has room for ten.")
    answer.metadata["nbgrader"] = {"grade_id": "report", "solution": True, "grade": True}
    (cell,) = student_copy(a_notebook(answer))["cells"]
    assert cell["source"] == "..."


def test_a_notebook_that_json_read_is_copied_too():
    lines = SOLVED.splitlines(keepends=True)
    cell = {"cell_type": "code", "metadata": {}, "source": lines, "outputs": []}
    assert student_copy({"cells": [cell]})["cells"][0]["source"] == OPEN


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("### BEGIN SOLUTION\nx = 1", "BEGIN SOLUTION has no END SOLUTION after it"),
        ("x = 1\n### END SOLUTION", "'### END SOLUTION' has no BEGIN before it"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION", "'### BEGIN SOLUTION' stands within another"),
        ("### BEGIN HIDDEN TESTS\nx", "BEGIN HIDDEN TESTS has no END HIDDEN TESTS"),
    ],
)
def test_markers_that_do_not_pair_are_refused_with_the_cell(source, said):
    with pytest.raises(ValueError, match="cell 'c0': ") as caught:
        student_copy(a_notebook(code(source)))
    assert said in str(caught.value)


# ---------------------------------------------------------------- slides


def slide_types(*cells):
    marked = mark_slides(a_notebook(*cells)).cells
    return [(cell.metadata.slideshow.slide_type, cell.source.split("\n")[0]) for cell in marked]


def test_headings_begin_slides_and_code_stays_below_a_short_text():
    cells = text("So it is.\n\n## 2. Why\nBecause."), code("x = 1"), text("One."), code("x")
    assert slide_types(*cells) == [
        ("subslide", "So it is."),
        ("slide", "## 2. Why"),
        ("-", "x = 1"),
        ("-", "One."),
        ("subslide", "x"),
    ]


def test_a_heading_within_code_is_a_comment():
    assert slide_types(text("Run:\n```\n# first\nls\n```\n### Then")) == [
        ("subslide", "Run:"),
        ("subslide", "### Then"),
    ]


@pytest.mark.parametrize("asks", ["**Before you run:** 0 or 1?", "**실행하기 전에:** 0일까요?"])
def test_what_is_asked_about_shows_its_code_and_then_its_output(asks):
    marked = mark_slides(a_notebook(text(asks), code("rank"), text("1."))).cells
    assert [cell.metadata.slideshow.slide_type for cell in marked] == [
        "subslide",
        "-",
        "fragment",
        "-",
    ]
    assert (marked[1].source, marked[1].outputs) == ("rank", [])
    assert (marked[2].source, len(marked[2].outputs)) == ("", 1)


def test_slides_ask_for_no_network_and_hold_code_plots_and_formulas():
    notebook = nbformat.read(ROOT / "notebooks" / "ko" / "04_ndcg.ipynb", as_version=4)
    page = to_slides(notebook, "04_ndcg", "ko")
    assert not re.search(r"""\ssrc=["'](?!data:)""", page)
    assert not re.search(r"<(script|link|img|iframe)[^>]*https?:|@import|url\(", page)
    assert '<html lang="ko">' in page
    assert 'class="display formula"' in page
    for thing in ("data:image/png;base64,", "plot_relevance_matrix", "dataframe"):
        assert thing in page
    assert page.count("<section") == page.count("</section>") > 20


@pytest.mark.skipif(korean_font() is None, reason="no Korean font")
def test_korean_words_in_a_formula_are_drawn_in_a_korean_font(caplog):
    page = to_slides(a_notebook(text("$$r = \\frac{\\text{정답}}{k}$$")), "A title", "ko")
    assert 'class="display formula"' in page
    assert "does not have a glyph" not in caplog.text


def test_a_formula_that_matplotlib_cannot_draw_is_shown_as_it_is_written():
    (cell,) = mark_slides(
        a_notebook(text(r"$$\begin{cases}1\\0\end{cases}$$ costs `$5` or $6."))
    ).cells
    assert cell.source == r"`\begin{cases}1\\0\end{cases}` costs `$5` or $6."


# ---------------------------------------------------------------- the lecturer's guide


def guide_rows(language, n_cells):
    """The rows of the guide's tables that have so many cells."""
    guide = (ROOT / "notebooks" / language / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in guide.splitlines()]
    return [row for row in rows if len(row) == n_cells and not row[0].startswith("--")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_says_the_minutes_that_the_notebooks_say(language, request):
    guide = ROOT / "notebooks" / language / "README.md"
    written = guide.read_text(encoding="utf-8")
    for path in (ROOT / "notebooks" / language).glob("*.ipynb"):
        first = nbformat.read(path, as_version=4).cells[0].source
        minutes = re.search(r"(\d+) ?(?:minutes|분)", first).group(1)
        row = rf"(\| \[{path.stem}\]\([^|]*\|[^|]*\| )\d+"
        written, n_rows = re.subn(row, rf"\g<1>{minutes}", written)
        assert n_rows == 1, path.stem
    if request.config.getoption("--update-notebooks"):
        guide.write_text(written, encoding="utf-8", newline="\n")
    assert guide.read_text(encoding="utf-8") == written


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_plans_of_the_guide_add_up(language):
    total = 0
    totals = []
    for what, minutes in guide_rows(language, 2):
        if what in ("total", "합계"):
            assert int(minutes) == total
            totals.append(total)
        total = 0 if not minutes.isdigit() or what in ("total", "합계") else total + int(minutes)
    assert totals == [120, 480, 960]


def test_both_guides_have_the_same_sessions_minutes_questions_and_terms():
    sessions = [[(row[0], row[2], row[3]) for row in guide_rows(x, 4)[1:23]] for x in LANGUAGES]
    assert sessions[0] == sessions[1]
    assert len(sessions[0]) == 22
    terms = [{frozenset(row[:2]) for row in guide_rows(x, 3)[1:]} for x in LANGUAGES]
    assert terms[0] == terms[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_builds_a_session_on_those_that_its_notebook_names(language):
    before = {row[0][1:3]: row[3] for row in guide_rows(language, 4)[1:23]}
    for path in (ROOT / "notebooks" / language).glob("*.ipynb"):
        first = nbformat.read(path, as_version=4).cells[0].source
        named = re.findall(r"\]\((\d\d)_\w+\.ipynb\)", re.split("Builds on|먼저 볼 것", first)[1])
        assert before[path.name[:2]] == ", ".join(named), path.stem
