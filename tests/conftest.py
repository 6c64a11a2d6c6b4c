"""What several tests share: the bundled data and their search, one embedding, small helpers."""

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from rageval_kit import build_vectorstore, load_dataset, load_embeddings, search_all

ROOT = Path(__file__).parent.parent
LANGUAGES = ("ko", "en")


def pytest_addoption(parser):
    parser.addoption(
        "--update-notebooks",
        action="store_true",
        help="rewrite the committed outputs of the notebooks",
    )


# ---------------------------------------------------------------- the bundled data

# The default embedding takes 2 seconds to load, and the campus handbook 6 to embed: once for all.


@pytest.fixture(scope="session")
def embeddings():
    return load_embeddings()


@pytest.fixture
def loaded_once(embeddings, monkeypatch):
    """Let load_embeddings() return the one default embedding of the tests."""
    default = "rageval_kit.local_embeddings.SentenceEncoderEmbeddings"
    monkeypatch.setattr(default, lambda: embeddings)


@pytest.fixture(scope="session")
def bundled_store(embeddings):
    """A function: the store of a bundled dataset, such as lecture/ko. Only to be read."""

    @cache
    def store(name):
        return build_vectorstore(load_dataset(ROOT / "data" / name).docs, embeddings)

    return store


@pytest.fixture(scope="session")
def bundled_search(bundled_store):
    """A function: docs, all_qa and results of a bundled dataset. Only to be read."""

    @cache
    def search(name, k=5):
        docs, all_qa = load_dataset(ROOT / "data" / name)
        return docs, all_qa, search_all(bundled_store(name), all_qa, k)

    return search


@pytest.fixture(params=LANGUAGES)
def lecture(request):
    return load_dataset(ROOT / "data" / "lecture" / request.param)


@pytest.fixture
def lecture_ko():
    return load_dataset(ROOT / "data" / "lecture" / "ko")


@pytest.fixture
def vectorstore(bundled_store):
    """The store of the Korean lecture. Only to be read."""
    return bundled_store("lecture/ko")


@pytest.fixture(params=LANGUAGES)
def lecture_search(request, bundled_search):
    """docs, all_qa and results of the lecture in either language. Only to be read."""
    return bundled_search(f"lecture/{request.param}")


# ---------------------------------------------------------------- queries, rankings, tables


def query(relevant, query_id="q1", **fields):
    """A query with its relevant documents: a list, or doc_id -> grade."""
    return {"query_id": query_id, "relevant_doc_ids": relevant, **fields}


def asking(n):
    """n queries, q0, q1, ..., each with the one relevant document A."""
    return [query(["A"], f"q{i}") for i in range(n)]


def hits(*doc_ids):
    """A ranking of these documents, without scores."""
    return [{"doc_id": doc_id} for doc_id in doc_ids]


def scored(*pairs):
    """A ranking of (doc_id, score)."""
    return [{"doc_id": doc_id, "score": score} for doc_id, score in pairs]


def ids(ranking):
    return [hit["doc_id"] for hit in ranking]


def ranks_of(results):
    """The table of results: a row a hit, with its rank."""
    rows = [
        (query_id, hit["doc_id"], rank)
        for query_id, ranking in results.items()
        for rank, hit in enumerate(ranking, start=1)
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])


def scores_of(run):
    """The table of a run, query_id -> doc_id -> score: a row a pair."""
    rows = [(q, doc_id, score) for q, scores in run.items() for doc_id, score in scores.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"score": float})


def merged(cases):
    """Several random cases as one, with query_ids of their own: one call takes as long as many.

    A case is a tuple of dicts by query_id, and so is what comes back.
    """
    together = tuple({} for _ in cases[0])
    for number, case in enumerate(cases):
        for whole, part in zip(together, case, strict=True):
            whole.update({f"{number}.{query_id}": value for query_id, value in part.items()})
    return together


# ---------------------------------------------------------------- an embedding of letters


class Letters(Embeddings):
    """Count letters, and the calls."""

    def __init__(self, model="letters", dimensions=32):
        self.model = model
        self.dimensions = dimensions
        self._batches, self._singles = [], []

    def embed_documents(self, texts):
        self._batches.append(list(texts))
        return [self._vector(text) for text in texts]

    def embed_query(self, text):
        self._singles.append(text)
        return self._vector(text)

    def forget_calls(self):
        self._batches.clear()
        self._singles.clear()

    @property
    def calls(self):
        return len(self._batches), len(self._singles)

    def _vector(self, text):
        letters = [ord(letter) % self.dimensions for letter in text]
        vector = np.bincount(letters, minlength=self.dimensions)
        return (vector / np.linalg.norm(vector)).tolist()


@pytest.fixture
def letters_are_known(monkeypatch):
    """Let Letters count as a class of LangChain's, which does not change while Python runs."""
    settle(monkeypatch, "conftest")


@pytest.fixture
def classes_are_known(letters_are_known, monkeypatch):
    """And so the classes that the tests define."""
    settle(monkeypatch, "test_")


def settle(monkeypatch, module):
    from rageval_kit import identity

    before = identity._is_settled
    monkeypatch.setattr(
        identity, "_is_settled", lambda name: name.startswith(module) or before(name)
    )


@pytest.fixture
def letters():
    return Letters()


@pytest.fixture
def new_session(monkeypatch):
    """Let no test find in memory what another has searched."""
    monkeypatch.setattr("rageval_kit.cache._session", None)


class Recorded(FakeListChatModel):
    """A fake chat model that gives its replies in turn, and keeps its prompts."""

    def _call(self, messages, *arguments, **settings):
        PROMPTS.append(messages[0].text)
        return super()._call(messages, *arguments, **settings)


PROMPTS = []


@pytest.fixture
def no_prompts(new_session):
    """Let no test see what another has asked."""
    PROMPTS.clear()


# ---------------------------------------------------------------- what is said


def caught(call):
    """The messages of the warnings that a call gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in seen]


def unwrapped(text):
    """The text on one line, as it was before it was wrapped to 80 columns."""
    return " ".join(text.split())
