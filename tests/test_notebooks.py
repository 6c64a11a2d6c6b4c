"""Every notebook runs, in a real kernel, and prints what is committed.

After a change on purpose: ``pytest tests/test_notebooks.py --update-notebooks`` rewrites the outputs.
"""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.notebooks
NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
OF_A_MACHINE = re.compile(
    r"/(home|root|work|tmp|usr|Users)/\w|[A-Z]:\\\\|0x[0-9a-f]{6,}|Warning|[\d?](it/s|s/it)|/batch"
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_prints_what_is_committed(path, request):
    committed = nbformat.read(path, as_version=4)
    executed = run(nbformat.read(path, as_version=4), path.parent)
    if request.config.getoption("--update-notebooks"):
        nbformat.write(executed, path)
        return
    assert outputs_as_text(executed) == outputs_as_text(committed)


# Those on data/campus embed a whole handbook: a second language would double their time here. The
# one on data/handbook has none to choose.
ON_LECTURE = [
    path
    for path in NOTEBOOKS
    if not re.search("data/(campus|handbook)", path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("path", ON_LECTURE, ids=lambda path: path.stem)
def test_notebook_runs_with_the_other_language(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace('LANGUAGE = "ko"', 'LANGUAGE = "en"')
    run(notebook, path.parent)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
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
