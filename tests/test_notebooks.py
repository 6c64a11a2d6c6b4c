"""Every notebook of both editions runs, in a real kernel, and prints what is committed.

After a change on purpose: ``pytest tests/test_notebooks.py --update-notebooks`` rewrites the outputs.
"""

import os
import re
from pathlib import Path

import mistune
import nbformat
import pytest
from kernels import IS_POSSIBLE, ForkedKernel
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.notebooks
FOLDER = Path(__file__).parent.parent / "notebooks"
KOREAN = sorted(FOLDER.glob("ko/*.ipynb"))
NOTEBOOKS = [*KOREAN, *sorted(FOLDER.glob("en/*.ipynb"))]


def name_of(path):
    """The edition and the session: ``ko/04_ndcg``, ``ko/exercises/04_ndcg``."""
    return path.relative_to(FOLDER).with_suffix("").as_posix()


OF_A_MACHINE = re.compile(
    r"/(home|root|work|tmp|usr|Users)/\w|[A-Z]:\\\\|0x[0-9a-f]{6,}|[a-z]Warning|[\d?](it/s|s/it)"
    r"|/batch"
)


@pytest.fixture(autouse=True)
def kernels_start_at_once(monkeypatch):
    if IS_POSSIBLE:
        monkeypatch.setattr(
            "jupyter_client.provisioning.local_provisioner.launch_kernel", ForkedKernel
        )


def run(notebook, folder):
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": folder}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    client.execute(
        env={**os.environ, "TQDM_DISABLE": "1"}
    )  # on a slow machine a bar would come in between
    return notebook


def outputs_as_text(notebook):
    """What a reader sees of each code cell, with figures reduced to their presence."""
    seen = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        texts = []
        for output in cell.outputs:
            if output.output_type == "stream":
                texts.append((output.name, output.text))
            elif "image/png" in output.data:
                texts.append(("figure", ""))
            else:
                texts.append((output.output_type, output.data.get("text/plain", "")))
        seen.append({"source": cell.source, "outputs": texts})
    return seen


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_notebook_prints_what_is_committed(path, request):
    committed = nbformat.read(path, as_version=4)
    executed = run(nbformat.read(path, as_version=4), path.parent)
    if request.config.getoption("--update-notebooks"):
        nbformat.write(executed, path)
        return
    assert outputs_as_text(executed) == outputs_as_text(committed)


def test_both_editions_have_the_same_sessions():
    assert [path.name for path in KOREAN] == sorted(p.name for p in FOLDER.glob("en/*.ipynb"))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("ko/**/*.ipynb")), ids=name_of)
def test_both_editions_have_the_same_code_but_for_the_language(path):
    korean = nbformat.read(path, as_version=4).cells
    english = nbformat.read(FOLDER / "en" / path.relative_to(FOLDER / "ko"), as_version=4).cells
    assert [cell.cell_type for cell in korean] == [cell.cell_type for cell in english]

    code = [cell.source for cell in korean if cell.cell_type == "code"]
    other = [cell.source for cell in english if cell.cell_type == "code"]
    assert "\n".join(code).count('\nLANGUAGE = "ko"\n') == 1
    assert [
        source.replace('\nLANGUAGE = "ko"\n', '\nLANGUAGE = "en"\n') for source in code
    ] == other
    assert "LANGUAGE ==" not in "\n".join(code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_the_text_is_in_the_language_of_the_edition_and_asks_before_it_tells(path):
    cells = nbformat.read(path, as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    ask = {"ko": "**실행하기 전에:**", "en": "**Before you run:**"}[path.parent.name]
    assert any(ask in text for text in texts)
    for text in texts:
        prose = re.sub(r"```.*?```|`[^`]*`|\$[^$]*\$", "", text, flags=re.DOTALL)
        hangul, words = len(re.findall("[가-힣]", prose)), len(re.findall("[A-Za-z]{3,}", prose))
        assert (hangul > words if path.parent.name == "ko" else hangul <= words) or not words, text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_notebook_is_fit_to_commit(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.keys() <= {"kernelspec", "language_info"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.execution_count is not None, "every cell is run"
            assert "execution" not in cell.metadata, "no timings"
            assert cell.source.count("\n") < 25, "short cells"
    for cell in outputs_as_text(notebook):
        for kind, text in cell["outputs"]:
            assert kind != "stderr", text
            assert not OF_A_MACHINE.search(text), text
            assert not re.search(r" \\$", text, re.MULTILINE), f"this table wraps: {text}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_every_star_of_the_text_makes_it_bold_or_slanted(path):
    # A Korean particle behind **word(term)** leaves the stars as they are written.
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            shown = re.sub(r"<(code|pre)>.*?</\1>", "", mistune.html(cell.source), flags=re.DOTALL)
            assert "**" not in shown, shown


def test_a_progress_bar_leaves_nothing_in_a_notebook_that_is_run_and_saved(tmp_path):
    waiting = """
import time

from rageval_kit.messages import show_progress

for _ in show_progress(range(3), "embedding", "text"):
    time.sleep(1.6)
"""
    notebook = new_notebook(cells=[new_code_cell(waiting)])
    NotebookClient(notebook, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [output.data for output in notebook.cells[0].outputs]
    assert shown == [{"text/plain": ""}]  # the place where the line stood
    assert "widgets" not in notebook.metadata
