"""The README's Python runs and prints what it says, and so does its main command."""

import doctest
import re
import subprocess
import sys

import pytest
from conftest import ROOT

from rageval_kit.__main__ import main

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_examples_print_what_they_show(monkeypatch, loaded_once):
    monkeypatch.chdir(ROOT)
    results = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted > 5
    assert results.failed == 0


def test_main_command_prints_the_lines_that_are_shown_and_warns_of_nothing():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "rageval_kit"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert run.stderr == ""
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL).group(1)
    for line in filter(str.strip, shown.splitlines()):
        assert line in run.stdout.splitlines()


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
    assert listed == sorted(path.stem for path in (ROOT / "notebooks" / "ko").glob("*.ipynb"))


def start_section():
    return " ".join(README.partition("## Start")[2].partition("## The notebooks")[0].split())


def test_the_install_is_announced_as_long_and_silent():
    assert "The install takes two to six minutes and 1 GB" in start_section()
    assert "prints nothing meanwhile" in start_section()


def test_the_cures_for_an_old_python_and_a_missing_font_are_named():
    assert "older one pip ends in `No matching distribution found`" in start_section()
    assert "sudo apt install fonts-nanum" in start_section()


def test_the_options_that_are_shown_exist(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    known = capsys.readouterr().out
    for option in re.findall(r"(?<=\s)--[a-z]+(?= )", README.partition("## The notebooks")[0]):
        assert option in known
