"""What several tests share: the bundled datasets, the default embeddings and their store."""

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
