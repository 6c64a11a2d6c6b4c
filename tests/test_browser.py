"""The judging form in a real browser: JupyterLab, driven by playwright in a headless Chromium.

Skipped where either is missing: ``pip install playwright`` and a chromium on the PATH, in
``CHROMIUM`` or from ``playwright install chromium``.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from conftest import ROOT

playwright = pytest.importorskip("playwright.sync_api")
pytest.importorskip("ipywidgets")
pytest.importorskip("jupyterlab")

CELL = """\
from rageval_kit import judging_form, load_judged, pool_results
docs = [{"doc_id": d, "title": d, "content": f"Text of {d}: <i>30,000</i> $5 and $6."} for d in "ABCD"]
all_qa = [{"query_id": "q1", "question": "How much?", "relevant_doc_ids": []}]
pool = pool_results({"one": {"q1": [{"doc_id": d} for d in "ABCD"]}}, all_qa)
judging_form(pool, docs, "judged.csv", judge="anna")
"""


@pytest.fixture
def chromium():
    """A headless browser, or a skip."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as tools:
        try:
            browser = tools.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def notebook(tmp_path):
    """The address of a notebook with the form in its cell, in a JupyterLab of its own."""
    cell = {"cell_type": "code", "id": "form", "metadata": {}, "outputs": [], "source": CELL}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cell["execution_count"] = None
    content = {
        "cells": [cell],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "judge.ipynb").write_text(json.dumps(content))

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token="]
    home = {
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
    }
    environ = {**os.environ, **home, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={tmp_path}"]
    with open(tmp_path / "lab.log", "w") as log:
        lab = subprocess.Popen(command, env=environ, stdout=log, stderr=log, cwd=tmp_path)
    try:
        wait_for(lambda: urlopen(f"{address}/api", timeout=1).status == 200)
        yield f"{address}/doc/tree/judge.ipynb"
    finally:
        lab.terminate()
        lab.wait(20)


def wait_for(holds, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise TimeoutError(f"after {seconds} seconds it does not hold")


def test_the_form_is_used_by_mouse_and_keys(chromium, notebook, tmp_path):
    page = chromium.new_page()
    page.goto(notebook)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Control+Enter")

    def grades():
        lines = Path(tmp_path / "judged.csv").read_text("utf-8-sig").splitlines()[1:]
        return [line.split(",")[2] for line in lines]

    # A click, then keys: each is on disk at once.
    three = page.get_by_role("button", name="3: answers it")
    three.click(timeout=60_000)
    wait_for(lambda: grades() == ["3"], 10)
    field = page.get_by_placeholder("click here for the keys")
    field.click()
    field.press_sequentially("02", delay=50)
    wait_for(lambda: grades() == ["3", "0", "2"], 10)
    page.get_by_text("3 of 4 judged").wait_for(timeout=10_000)
    field.press("u")
    wait_for(lambda: grades() == ["3", "0", "2", ""], 10)
    page.get_by_text("2 of 4 judged").wait_for(timeout=10_000)

    # Texts are shown as they are written, neither as HTML nor as formulas.
    assert page.get_by_text(re.compile(r": <i>30,000</i> \$5 and \$6\.$")).last.is_visible()
    field.press_sequentially("11", delay=50)
    page.get_by_text("All is judged").wait_for(timeout=10_000)
    assert three.is_disabled()
