"""Vectors kept in a file: nothing is lost or paid for twice, and two models are never mixed."""

import sqlite3
import threading
import time
from contextlib import closing

import numpy as np
import pytest
from conftest import Letters, ids
from langchain_core.embeddings import Embeddings
from local_openai import local_openai

from rageval_kit import (
    build_vectorstore,
    cached_embeddings,
    load_embeddings,
    load_vectorstore,
    save_vectorstore,
    search_all,
)
from rageval_kit.vectors import PROBE

OPENAI = "openai:text-embedding-3-small"
TEXTS = [f"text {n} is {'x' * n}" for n in range(1, 11)]
DOCS = [{"doc_id": f"d{n}", "title": "", "content": text} for n, text in enumerate(TEXTS)]
ALL_QA = [{"query_id": f"q{n}", "question": f"which is {'x' * n}?"} for n in (3, 7)]

pytestmark = pytest.mark.usefixtures("new_session")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.sqlite"


@pytest.fixture
def server(monkeypatch):
    with local_openai(monkeypatch) as server:
        yield server


class Failing(Letters):
    """Fail at one request of documents."""

    def __init__(self, at):
        super().__init__()
        self._at, self._asked = at, 0

    def embed_documents(self, texts):
        self._asked += texts != [PROBE]
        if texts != [PROBE] and self._asked == self._at:
            raise ConnectionError("the line is down")
        return super().embed_documents(texts)


class Passages(Letters):
    """Embed a document unlike a query, as E5 does."""

    def embed_documents(self, texts):
        return super().embed_documents([f"zzzzzzzz {text}" for text in texts])


# ---------------------------------------------------------------- what is kept


def test_vectors_are_the_models_own(path):
    model = cached_embeddings(Letters(), path)
    wanted = np.asarray(Letters().embed_documents(TEXTS), dtype=np.float32)
    for _ in range(2):
        assert np.array_equal(np.asarray(model.embed_documents(TEXTS), dtype=np.float32), wanted)


def test_it_is_a_langchain_embeddings_object_of_plain_numbers(path):
    model = cached_embeddings(Letters(), path)
    assert isinstance(model, Embeddings)
    assert {
        type(number) for number in model.embed_documents(["a"])[0] + model.embed_query("a")
    } == {float}
    assert model.embed_documents([]) == []


def test_a_text_is_asked_once_whatever_the_store_the_chunking_and_the_session(path):
    model = cached_embeddings(Letters(), path)
    build_vectorstore(DOCS, model)
    build_vectorstore([*DOCS[5:], {"doc_id": "new", "content": "another text"}], model)
    assert (model.texts, model.characters) == (11, sum(map(len, TEXTS)) + len("another text"))
    later = cached_embeddings(Letters(), path)
    build_vectorstore(DOCS, later)
    assert (later.texts, later.requests) == (0, 0)


def test_a_repeated_text_is_asked_once(path):
    model = cached_embeddings(Letters(), path)
    vectors = model.embed_documents(["a", "b", "a"])
    assert (model.texts, vectors[0]) == (2, vectors[2])


def test_the_two_sides_are_kept_apart(path, server):
    model = cached_embeddings(load_embeddings(OPENAI), path)
    model.embed_documents(["a text"])
    model.embed_query("a text")
    model.embed_query("a text")
    assert (model.texts, model.requests) == (2, 2)


def test_an_asymmetric_model_finds_what_it_finds_without_the_file(path):
    plain = search_all(build_vectorstore(DOCS, Passages()), ALL_QA, 3)
    for _ in range(2):
        store = build_vectorstore(DOCS, cached_embeddings(Passages(), path))
        results = search_all(store, ALL_QA, 3, cache=path)
        assert {q: ids(hits) for q, hits in results.items()} == {
            q: ids(hits) for q, hits in plain.items()
        }


def test_two_models_in_one_file_are_never_mixed(path):
    for model in (Letters(), Passages(), Letters(dimensions=16)):
        assert np.allclose(
            cached_embeddings(model, path).embed_documents(["a text"]),
            model.embed_documents(["a text"]),
        )


def test_two_deployments_of_one_name_are_never_mixed(path, monkeypatch):
    vectors = []
    for turned in (False, True):
        with local_openai(monkeypatch) as server:
            server.turned = turned
            vectors += cached_embeddings(load_embeddings(OPENAI), path).embed_documents(["a text"])
    assert vectors[0] == vectors[1][::-1] != vectors[1]


def test_a_class_that_was_edited_gives_its_own_vectors(path):
    for word in ("one", "other"):  # a notebook's cell, edited and run again

        class Own(Letters):
            prefix = word

            def embed_documents(self, texts):
                return super().embed_documents([self.prefix + text for text in texts])

        vectors = cached_embeddings(Own(), path).embed_documents(["a text"])
        assert np.allclose(vectors, Letters().embed_documents([f"{word}a text"]))


def test_queries_of_ones_own_class_are_asked_each_time(path):
    class Synonyms(Letters):
        words: frozenset = frozenset()

        def embed_query(self, text):
            return super().embed_query("xxxxxxx" if text in self.words else text)

    model = Synonyms()
    cached = cached_embeddings(model, path)
    before = cached.embed_query("seven")
    model.words = frozenset({"seven"})
    assert cached.embed_query("seven") != before
    assert np.allclose(cached.embed_query("seven"), Letters().embed_query("xxxxxxx"))


def test_a_vector_that_cannot_be_read_is_asked_again(path):
    cached_embeddings(Letters(), path).embed_documents(TEXTS)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE vectors SET vector = substr(vector, 1, 7)")
    model = cached_embeddings(Letters(), path)
    assert np.allclose(model.embed_documents(TEXTS), Letters().embed_documents(TEXTS))
    assert model.texts == len(TEXTS)


# ---------------------------------------------------------------- with the rest of the kit


def test_a_store_is_the_same_with_and_without_the_file(path, tmp_path):
    plain = build_vectorstore(DOCS, Letters())
    save_vectorstore(plain, tmp_path / "store")
    loaded = load_vectorstore(tmp_path / "store", cached_embeddings(Letters(), path))
    results = search_all(loaded, ALL_QA, 3, cache=tmp_path / "cache.sqlite")
    assert results == search_all(plain, ALL_QA, 3)
    assert search_all(plain, ALL_QA, 3, cache=tmp_path / "cache.sqlite").cached == 2


def test_a_store_built_with_the_file_is_loaded_without_it(path, tmp_path):
    save_vectorstore(
        build_vectorstore(DOCS, cached_embeddings(Letters(), path)), tmp_path / "store"
    )
    assert load_vectorstore(tmp_path / "store", Letters()).index.ntotal == 10


def test_vectors_results_and_answers_may_share_a_file(path, server):
    model = cached_embeddings(load_embeddings(OPENAI), path)
    store = build_vectorstore(DOCS, model)
    first = search_all(store, ALL_QA, 3, cache=path)
    again = search_all(store, ALL_QA, 3, cache=path)
    assert (again, again.cached, again.changed) == (first, 2, "")
    server.requests.clear()
    again = search_all(build_vectorstore(DOCS, model), ALL_QA, 5, cache=path)
    assert (again.searched, server.requests) == (2, [])  # deeper, with the vectors that are kept


# ---------------------------------------------------------------- failures


def test_a_failure_half_way_keeps_every_finished_batch(path):
    docs = [{"doc_id": f"d{n}", "content": f"text {n}"} for n in range(743)]
    failing = cached_embeddings(Failing(at=9), path)
    with pytest.raises(
        ValueError, match=r"failed on 64 texts .*\"text 512\".*the line is down.*kept in"
    ):
        build_vectorstore(docs, failing)
    later = cached_embeddings(Failing(at=0), path)
    assert build_vectorstore(docs, later).index.ntotal == 743
    assert (failing.texts, later.texts, later.requests) == (512, 743 - 512, 4)


def test_a_failure_without_the_file_says_what_would_have_kept_it():
    with pytest.raises(
        ValueError, match=r"10 documents \(d0, d1, .*the line is down.*cached_embeddings"
    ):
        build_vectorstore(DOCS, Failing(at=1))


def test_a_text_that_is_refused_is_found_and_the_others_are_kept(path, server):
    server.longest = 200
    docs = [{"doc_id": f"d{n}", "content": f"text {n}"} for n in range(64)]
    docs[37]["content"] = "The annual report in full. " * 20
    model = cached_embeddings(load_embeddings(OPENAI), path)
    with pytest.raises(
        ValueError, match=r'failed on 1 text .*"The annual report.*maximum context.*split'
    ) as caught:
        build_vectorstore(docs, model)
    assert caught.value.__cause__.status_code == 400
    assert model.texts == 37
    assert model.requests <= 13

    docs[37]["content"] = "The annual report in short."
    build_vectorstore(docs, model)
    assert model.texts == 64


def test_a_request_that_is_too_large_as_a_whole_is_sent_in_parts(path, server):
    server.most = 300
    model = cached_embeddings(load_embeddings(OPENAI), path)
    assert len(model.embed_documents([f"{n}" * 50 for n in range(10)])) == 10
    assert model.texts == 10


def test_requests_are_cut_by_number_and_by_characters(path):
    model = Letters()
    cached_embeddings(model, path, batch=3, characters=100).embed_documents(
        ["a" * 60, "b" * 60, "c", "d", "e", "f" * 200, "g"]
    )
    assert [[text[0] for text in batch] for batch in model._batches[1:]] == [
        ["a"], ["b", "c", "d"], ["e"], ["f"], ["g"]
    ]  # fmt: skip


def test_long_documents_are_several_requests_without_the_file_too(letters):
    docs = [{"doc_id": f"d{n}", "content": chr(97 + n) * 40_000} for n in range(5)]
    build_vectorstore(docs, letters)
    assert [len(batch) for batch in letters._batches] == [2, 2, 1]


def test_a_rate_limit_that_stays_keeps_what_was_paid(path, server):
    server.failures = [None, None, *[429] * 10]
    model = cached_embeddings(load_embeddings(OPENAI), path, batch=4)
    with pytest.raises(ValueError, match=r"429.*kept in .*requests_per_minute"):
        build_vectorstore(DOCS, model)
    server.failures.clear()
    build_vectorstore(DOCS, model)
    assert model.texts == 10


@pytest.mark.parametrize(
    ("failure", "said"),
    [(500, "Failure 500"), ("cut JSON", "failed on 10 texts"), ("too few", "9 vectors for 10"),
     ("NaN", "NaN .*text 10 is"), ("width", "3 numbers .*text 10 is")],
)  # fmt: skip
def test_what_a_broken_server_does_is_said_and_not_kept(path, server, failure, said):
    server.failures = [None, *[failure] * 10]
    model = cached_embeddings(load_embeddings(OPENAI), path)
    with pytest.raises(ValueError, match=said):
        model.embed_documents(TEXTS)
    server.failures.clear()
    assert np.isfinite(model.embed_documents(TEXTS)).all()
    assert model.texts == 10


def test_zeros_are_not_kept(path, server):
    server.failures = [None, "zeros"]
    model = cached_embeddings(load_embeddings(OPENAI), path)
    assert not np.any(model.embed_documents(TEXTS)[-1])
    assert np.any(model.embed_documents(TEXTS)[-1])
    assert model.texts == 11


def test_requests_per_minute_are_limited(path):
    model = cached_embeddings(Letters(), path, batch=1, requests_per_minute=600)
    started = time.monotonic()
    model.embed_documents(TEXTS[:4])
    assert 0.35 < time.monotonic() - started < 5


def test_threads_share_the_file(path):
    models = [cached_embeddings(Letters(), path, batch=2) for _ in range(4)]
    failed = []

    def embed(model):
        try:
            assert np.allclose(model.embed_documents(TEXTS), Letters().embed_documents(TEXTS))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=embed, args=[model]) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"embeddings": "chars"}, TypeError, "embeddings must be"),
        ({"path": None}, TypeError, "path"),
        ({"path": 7}, TypeError, "path"),
        ({"path": ":memory:"}, ValueError, "is no file"),
        ({"batch": 0}, ValueError, "batch must be"),
        ({"characters": -1}, ValueError, "characters must be"),
        ({"requests_per_minute": 0}, ValueError, "requests_per_minute must be"),
        ({"requests_per_minute": "9"}, ValueError, "requests_per_minute must be"),
    ],
)
def test_arguments_that_cannot_be_are_refused(path, change, error, said):
    with pytest.raises(error, match=said):
        cached_embeddings(**{"embeddings": Letters(), "path": path} | change)


@pytest.mark.parametrize("texts", ["one text", None, [7], [["a"]]])
def test_what_is_no_list_of_texts_is_refused(path, texts):
    with pytest.raises(TypeError, match="texts must be a list of texts"):
        cached_embeddings(Letters(), path).embed_documents(texts)


def test_a_file_that_is_no_cache_is_refused_before_anything_is_paid(path):
    path.write_text("no cache" * 1000)
    with pytest.raises(ValueError, match=r"vectors\.sqlite cannot be used"):
        cached_embeddings(Letters(), path)


def test_its_repr_names_the_model_and_the_file(path):
    assert repr(cached_embeddings(Letters(), path)) == (
        f"cached_embeddings(Letters(model=letters, dimensions=32), {str(path)!r})"
    )
