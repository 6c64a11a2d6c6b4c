"""The README's Python runs and prints what it says, and its main command prints the table it shows."""

import doctest
import re
import subprocess
import sys

import pytest
from conftest import ROOT

from rageval_kit.__main__ import main

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_examples_print_what_they_show(monkeypatch):
    monkeypatch.chdir(ROOT)
    results = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted > 5
    assert results.failed == 0


def test_main_command_prints_the_lines_that_are_shown():
    printed = subprocess.run(
        [sys.executable, "-m", "rageval_kit"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL).group(1)
    for line in filter(str.strip, shown.splitlines()):
        assert line in printed.splitlines()


def test_windows_twins_say_the_same_as_the_commands():
    for end in ("python -m rageval_kit", "python -m pytest"):
        unix = re.search(rf"^python3 .*{re.escape(end)}$", README, re.MULTILINE).group(0)
        windows = re.search(rf"^py .*{re.escape(end)}$", README, re.MULTILINE).group(0)
        assert (
            unix.replace("python3", "py").replace(" &&", ";").replace("/bin/", "\\Scripts\\")
            == windows
        )


def test_every_notebook_is_in_the_table():
    listed = re.findall(r"^\| `(\d\d_\w+)` \|", README, re.MULTILINE)
    assert listed == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_the_install_is_announced_as_long_and_silent():
    start = README.partition("## Start")[2].partition("## The notebooks")[0]
    for words in (
        "two minutes",
        "1 GB",
        "prints nothing",
        "fonts-nanum",
        "No matching distribution",
    ):
        assert words in start


def test_the_options_that_are_shown_exist(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    known = capsys.readouterr().out
    for option in re.findall(r"(?<=\s)--[a-z]+(?= )", README.partition("## The notebooks")[0]):
        assert option in known
