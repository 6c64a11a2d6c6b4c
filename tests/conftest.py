"""What several tests share: the bundled datasets, the default embeddings and their store."""

import warnings
from pathlib import Path

import pytest

from rageval_kit import build_vectorstore, load_dataset, load_embeddings

ROOT = Path(__file__).parent.parent


def pytest_addoption(parser):
    parser.addoption(
        "--update-notebooks",
        action="store_true",
        help="rewrite the committed outputs of the notebooks",
    )


@pytest.fixture(scope="session")
def embeddings():
    return load_embeddings()


@pytest.fixture(params=["ko", "en"])
def lecture(request):
    return load_dataset(ROOT / "data" / "lecture" / request.param)


@pytest.fixture
def lecture_ko():
    return load_dataset(ROOT / "data" / "lecture" / "ko")


@pytest.fixture
def vectorstore(lecture_ko, embeddings):
    return build_vectorstore(lecture_ko.docs, embeddings)


def hits(*doc_ids):
    """A ranking of these documents, without scores."""
    return [{"doc_id": doc_id} for doc_id in doc_ids]


def scored(*pairs):
    """A ranking of (doc_id, score)."""
    return [{"doc_id": doc_id, "score": score} for doc_id, score in pairs]


def query(relevant, query_id="q1", **fields):
    """A query with its relevant documents: a list, or doc_id -> grade."""
    return {"query_id": query_id, "relevant_doc_ids": relevant, **fields}


def caught(call):
    """The messages of the warnings that a call gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in seen]
