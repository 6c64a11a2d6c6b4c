"""What ``import rageval_kit`` gives: every public name, lazily, and a sentence where it cannot."""

import ast
import importlib
import pkgutil
import pydoc
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT, unwrapped

import rageval_kit

PACKAGE = ROOT / "rageval_kit"
HEAVY = ("numpy", "pandas", "matplotlib", "scipy", "sklearn", "faiss")
HEAVY += ("langchain_core", "langchain_community", "langchain_classic", "threadpoolctl")
MODULES = [module.name for module in pkgutil.iter_modules([str(PACKAGE)]) if module.name[0] != "_"]


def python(code, *options, path=ROOT):
    """Run code in a new Python that finds modules on ``path``, and return what it printed."""
    environment = {"PYTHONPATH": str(path), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *options, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.removesuffix("\n")


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Return a function that makes an environment in which packages are really missing."""

    @cache
    def make(*packages):
        folder = tmp_path_factory.mktemp("without")
        for entry in Path(sysconfig.get_path("purelib")).iterdir():
            if not entry.name.lower().startswith(packages) and entry.suffix != ".pth":
                (folder / entry.name).symlink_to(entry)
        return f"{ROOT}:{folder}"

    return make


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("name", rageval_kit.__all__)
def test_every_public_name_is_there_and_hides_no_module(name):
    assert getattr(rageval_kit, name) is not None
    assert name not in MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_reachable_from_the_package(module):
    assert getattr(rageval_kit, module) is importlib.import_module(f"rageval_kit.{module}")


def test_type_checkers_see_the_same_names_from_the_same_modules():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        node.module.removeprefix("rageval_kit."): " ".join(alias.name for alias in node.names)
        for node in block.body
    }
    assert seen == rageval_kit._NAMES


def test_dir_lists_the_public_names_and_nothing_else():
    assert dir(rageval_kit) == sorted(rageval_kit.__all__)


def test_no_public_name_is_listed_twice():
    assert len(set(rageval_kit.__all__)) == len(" ".join(rageval_kit._NAMES.values()).split())


def test_help_lists_every_public_name():
    page = pydoc.render_doc(rageval_kit, renderer=pydoc.plaintext)
    assert [name for name in rageval_kit.__all__ if name not in page] == []


def test_every_name_has_a_docstring_or_is_a_value():
    plain = {"ANSWER_PROMPT", "DEFAULT_THRESHOLDS", "JUDGE_PROMPT"}
    named = set(rageval_kit.__all__) - plain
    assert [name for name in named if not getattr(rageval_kit, name).__doc__] == []


def test_what_the_notebooks_import_is_public():
    wanted = """holm queries_needed randomization_p resampled_means content_words occurs
        split_sentences normalised_tokens JUDGE_PROMPT Policies plot_lines plot_hits""".split()
    assert set(wanted) <= set(rageval_kit.__all__)


def test_a_name_that_is_misspelled_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        _ = rageval_kit.evalute
    assert not hasattr(rageval_kit, "__version__")


# ---------------------------------------------------------------- what is loaded when


IMPORTS = f"""
import sys

def print_loaded():
    print(*[name for name in {HEAVY} if name in sys.modules])

import rageval_kit
print_loaded()
rageval_kit.load_dataset
print('load_dataset' in vars(rageval_kit))
from rageval_kit import *
evaluate, plot_lines
print_loaded()
"""


@pytest.fixture(scope="module")
def printed():
    """What a new Python has loaded of the heavy packages, and whether it keeps a name."""
    return python(IMPORTS).split("\n")


def test_import_loads_no_package(printed):
    assert printed[0] == ""


def test_a_name_is_looked_up_once(printed):
    assert printed[1] == "True"


def test_all_names_together_load_pandas_and_nothing_heavier(printed):
    assert printed[2] == "numpy pandas"


# ---------------------------------------------------------------- what is missing

SENTENCE = """
import rageval_kit
try:
    rageval_kit.{name}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["evaluate", "plots"])
def test_a_missing_package_is_named_with_the_python_and_the_cure(without, name):
    said = python(SENTENCE.format(name=name), "-S", path=without("pandas"))
    assert f"rageval_kit.{name} cannot be loaded" in said
    assert "No module named 'pandas'" in said
    assert sys.executable in said
    assert "pip install -r requirements.txt" in said


def test_from_import_says_the_same(without):
    code = "try:\n from rageval_kit import search_all\nexcept ImportError as error: print(error)"
    assert "No module named 'numpy'" in python(code, "-S", path=without("numpy"))


def test_an_older_python_is_named():
    code = "import sys; sys.version_info = (3, 10, 13)\n"
    code += "import rageval_kit\nprint(rageval_kit._not_loaded('evaluate', ImportError('Unpack')))"
    assert "Python 3.11 or newer is needed" in python(code)


def test_a_package_that_is_not_asked_for_is_not_missed(without):
    code = "from rageval_kit import evaluate; print(evaluate.__name__)"
    assert python(code, "-S", path=without("matplotlib")) == "evaluate"


# ---------------------------------------------------------------- the check, where one is missing


def check(path, *options):
    command = [sys.executable, *options, "-m", "rageval_kit", "check"]
    environment = {"PYTHONPATH": str(path), "PYTHONIOENCODING": "utf-8", "HOME": "/tmp"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_check_outside_the_environment_names_the_python_and_where_to_go():
    run = check(ROOT, "-S")
    assert (run.returncode, run.stderr) == (1, "")
    assert "[FAIL] numpy: not installed." in run.stdout
    assert sys.executable in run.stdout
    assert ".venv/bin/python" in unwrapped(run.stdout)
    assert "[OK] writable folder" in run.stdout


def test_check_names_every_missing_package_with_its_cure(without):
    packages = ("numpy", "pandas", "threadpoolctl", "matplotlib")
    run = check(without(*packages), "-S")
    assert (run.returncode, run.stderr) == (1, "")
    lines = run.stdout.splitlines()
    for package in packages:
        at = lines.index(f"[FAIL] {package}: not installed.")
        assert "pip install -r requirements.txt" in lines[at + 1]
    assert "[OK] langchain-core" in run.stdout
    assert "checks failed" in run.stdout
    assert "OPENAI_API_KEY" in run.stdout
