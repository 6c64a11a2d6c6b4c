"""A system is known again by what it does and reads, and what cannot be seen is named."""

import sqlite3
import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import Letters
from langchain_core.documents import Document

from rageval_kit import build_vectorstore, load_embeddings
from rageval_kit.fingerprints import Fingerprints


def print_of(value):
    return Fingerprints().of(value)


WORDS = ["a", "b"]


def reads_a_global():
    return [word.upper() for word in WORDS]


def calls_another():
    return reads_a_global()


def plus(n, step=1):
    return n + step


class Reader:
    """One's own class, with a setting and a counter."""

    def __init__(self, setting):
        self._setting, self.n = setting, 0

    def invoke(self, question):
        self.n += 1
        return [self._setting]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1], ["1"]),
        ({"a": 1}, {"a": 2}),
        ({1, 2}, {1, 3}),
        (np.zeros(3), np.zeros(4)),
        (np.zeros(3), np.ones(3)),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]})),
        (pd.DataFrame({"a": [["x"]]}), pd.DataFrame({"a": [["y"]]})),
        (Document("a"), Document("b")),
        (Reader("a"), Reader("b")),
        (Letters("a"), Letters("b")),
        (lambda: 1, lambda: 2),
        (partial(plus, 1), partial(plus, 2)),
        (Reader("a").invoke, Reader("b").invoke),
        (len, max),
        (load_embeddings("chars"), Letters()),
    ],
)
def test_what_differs_has_two_fingerprints(one, other):
    assert print_of(one) != print_of(other)
    assert print_of(one) == print_of(one)


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"b", "a", "c"},
        lambda: Reader(["a"]),
        lambda: load_embeddings("chars"),
        lambda: build_vectorstore([{"doc_id": "A", "content": "a"}], Letters()),
        lambda: lambda n: n + 1,
        lambda: pd.Series(["x", None]),
        lambda: partial(plus, step=Document("a", metadata={"n": np.float32(1)})),
    ],
)
def test_what_is_made_again_has_the_same_fingerprint(make):
    assert print_of(make()) == print_of(make())


@pytest.mark.parametrize(
    "function", [reads_a_global, calls_another, lambda: [w * 2 for w in WORDS]]
)
def test_globals_are_followed_also_through_other_functions(function, monkeypatch):
    before = print_of(function)
    monkeypatch.setitem(globals(), "WORDS", ["a", "c"])
    assert print_of(function) != before


def test_what_a_function_closes_over_and_its_defaults_count():
    def made_of(word):
        return lambda: word

    assert print_of(made_of("a")) != print_of(made_of("b"))
    assert print_of(made_of("a")) == print_of(made_of("a"))
    assert print_of(plus) != print_of(lambda n, step=2: n + step)


def test_functions_that_call_each_other_come_to_an_end():
    def one(n):
        return n and other(n - 1)

    def other(n):
        return n and one(n - 1)

    assert print_of(one) == print_of(one)
    loop = []
    loop.append(loop)
    assert print_of(loop) == print_of(loop)


def test_what_a_run_itself_moved_is_no_change():
    calls, reader = [], Reader("a")

    def make():
        calls.append(1)
        return reader.invoke("?")

    hashes = Fingerprints()
    before = hashes.of(make)
    make()
    hashes.leave()
    assert print_of(make) == before
    reader._setting = "b"
    assert print_of(make) != before


@pytest.mark.parametrize(
    ("value", "unseen"),
    [
        (sqlite3.connect(":memory:"), ["Connection"]),
        ([threading.Lock()], []),
        ({"a": [iter([1])]}, []),
    ],
)
def test_what_cannot_be_looked_into_is_named(value, unseen):
    hashes = Fingerprints()
    hashes.of([1, value])
    assert hashes.unseen == unseen


def test_a_client_in_a_model_counts_by_its_class():
    model = Letters()
    model.client = sqlite3.connect(":memory:")
    hashes = Fingerprints()
    hashes.of(model)
    assert hashes.unseen == []


def test_what_is_unseen_in_a_shared_part_is_named_each_time():
    client, hashes = sqlite3.connect(":memory:"), Fingerprints()
    hashes.of([client])
    hashes.unseen.clear()
    hashes.of({"again": client})
    assert hashes.unseen == ["Connection"]


def test_a_compiled_object_of_no_package_is_known_by_name():
    method = pd.Timestamp("2026-01-01").ceil  # of Cython, whose module is its own
    assert print_of(method) == print_of(pd.Timestamp("2026-01-01").ceil)
