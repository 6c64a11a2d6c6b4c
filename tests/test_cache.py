"""The cache file: what changed, broken rows, locks, threads, odd paths, and whose error it is."""

import json
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import numpy as np
import pytest
from conftest import ROOT, Letters

from rageval_kit import add_documents, build_vectorstore, generate_answers, search_all
from rageval_kit.cache import Cache, open_cache

ALL_QA = [
    {"query_id": "q01", "question": "What is cut?"},
    {"query_id": "q02", "question": "무엇을 쓰나?"},
]

pytestmark = pytest.mark.usefixtures("new_session")


def store_of(*numbers):
    return build_vectorstore(
        [
            {"doc_id": f"d{n}", "title": "", "content": f"text {n} is cut {'x' * n}"}
            for n in numbers
        ],
        Letters(),
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache.sqlite"


@pytest.fixture(params=["memory", "file"])
def cache(request, path):
    return None if request.param == "memory" else path


@pytest.fixture
def written(path):
    """A file with the two questions, asked of three documents."""
    search_all(store_of(1, 2, 3), ALL_QA, 3, cache=path)
    return path


def change(path, sql, *values):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute(sql, values).rowcount > 0


# ---------------------------------------------------------------- what changed


def test_what_changed_is_said_against_the_index_that_was_asked_last(cache):
    a, b, c = store_of(1, 2, 3), store_of(1, 2, 3, 4), store_of(1, 2, 3, 5)
    for store in (a, b, a):
        search_all(store, ALL_QA, 2, cache=cache)
    assert search_all(c, ALL_QA, 2, cache=cache).changed == (
        "documents since the last search: 1 added (d5)"
    )


def test_an_index_that_grows_is_compared_with_its_last_state(cache):
    store = store_of(1, 2)
    said = [search_all(store, ALL_QA, 2, cache=cache).changed]
    for number in (3, 4):
        add_documents(store, [{"doc_id": f"d{number}", "content": f"more {number}"}])
        said.append(search_all(store, ALL_QA, 2, cache=cache).changed)
    assert said == [
        "",
        "documents since the last search: 1 added (d3)",
        "documents since the last search: 1 added (d4)",
    ]


def test_two_stores_with_questions_of_their_own_do_not_disturb_each_other(path):
    other = [{"query_id": "q", "question": "Another?"}]
    search_all(store_of(1, 2), ALL_QA, 2, cache=path)
    search_all(store_of(7, 8, 9), other, 2, cache=path)
    assert search_all(store_of(1, 2, 3), ALL_QA, 2, cache=path).changed == (
        "documents since the last search: 1 added (d3)"
    )


def test_going_to_and_fro_between_two_indexes_is_no_change(cache):
    for k in (1, 2):
        search_all(store_of(1, 2), ALL_QA, k, cache=cache)
        results = search_all(store_of(1, 2, 3), ALL_QA, k, cache=cache)
    assert (results.searched, results.changed) == (2, "")


def test_a_change_in_one_of_two_chunks_of_a_document_is_a_change(cache):
    from langchain_core.documents import Document

    from rageval_kit.vectorstore import assemble, flat_index

    def chunked(first):
        chunks = [
            Document(id=f"c{n}", page_content=text, metadata={"doc_id": "d1"})
            for n, text in enumerate([first, "the second chunk"])
        ]
        return assemble(chunks, flat_index(np.eye(2, 32, dtype=np.float32)), Letters())

    search_all(chunked("the first chunk"), ALL_QA, 2, cache=cache)
    assert search_all(chunked("edited"), ALL_QA, 2, cache=cache).changed == (
        "documents since the last search: 1 changed (d1)"
    )


def test_contents_that_cannot_be_read_are_not_compared_with(written):
    change(written, "UPDATE indexes SET contents = '{'")
    results = search_all(store_of(1, 2, 3, 4), ALL_QA, 3, cache=written)
    assert (results.searched, results.changed) == (2, "")


# ---------------------------------------------------------------- rows that cannot be read


@pytest.mark.parametrize(
    "ranking",
    [
        "not JSON",
        "[[0, 0.5], [1, 0.",
        "null",
        None,
        "7",
        "[7]",
        '["ab"]',
        "[[999, 0.5]]",
        "[[3, 0.5]]",
        "[[-1, 0.5]]",
        "[[0.0, 0.5]]",
        "[[true, 0.5]]",
        "[[0, null]]",
        '[[0, "0.5"]]',
        "[[0, 0.5, 1]]",
        b"\xff\xfe[[0, 0.5]]",
        "[" * 100_000,
    ],
)
@pytest.mark.parametrize("k", [2, 3])
def test_a_ranking_that_cannot_be_read_is_searched_again_and_replaced(written, ranking, k):
    right = search_all(store_of(1, 2, 3), ALL_QA, k, cache=written)
    change(written, "UPDATE rankings SET ranking = ? WHERE question = ?", ranking, b"What is cut?")
    again = search_all(store_of(1, 2, 3), ALL_QA, k, cache=written)
    assert (again, again.searched) == (right, 1)
    assert search_all(store_of(1, 2, 3), ALL_QA, k, cache=written).searched == 0


def test_half_an_emoji_in_a_question_is_kept(path):
    all_qa = [{"query_id": "q", "question": "What is \ud83d?"}]
    first = search_all(store_of(1, 2), all_qa, 2, cache=path)
    again = search_all(store_of(1, 2), all_qa, 2, cache=path)
    assert (again, again.cached) == (first, 1)


@pytest.mark.parametrize("answer", ["", "답은 42입니다.", "half \ud83d", "two\nlines"])
def test_an_answer_comes_back_as_it_was(path, answer):
    with open_cache(path) as stored:
        stored.keep_answer("key", answer)
    with open_cache(path) as stored:
        assert (stored.answer("key"), stored.answer("other")) == (answer, None)


# ---------------------------------------------------------------- locks and threads


@pytest.fixture
def busy(written):
    """The file, while another session writes to it."""
    with closing(sqlite3.connect(written, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield written


def test_a_search_that_is_known_needs_no_lock(busy):
    assert search_all(store_of(1, 2, 3), ALL_QA, 3, cache=busy).cached == 2


def test_nor_does_one_of_an_index_that_was_not_asked_last(written):
    search_all(store_of(1, 2), ALL_QA, 2, cache=written)
    with closing(sqlite3.connect(written, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        assert search_all(store_of(1, 2, 3), ALL_QA, 3, cache=written).cached == 2
        assert time.monotonic() - started < 30  # it does not wait for the lock, which takes 60 s


def test_a_file_that_stays_locked_is_named_with_the_reason(busy, monkeypatch):
    monkeypatch.setattr("rageval_kit.cache._PATIENCE", 0)
    with pytest.raises(ValueError, match=r"cache\.sqlite .*locked.*another session"):
        search_all(store_of(1, 2, 3), [{"query_id": "q", "question": "New?"}], 3, cache=busy)


def test_a_read_only_file_gives_what_it_has(written):
    written.chmod(0o444)
    assert search_all(store_of(1, 2, 3), ALL_QA, 3, cache=written).cached == 2


def test_threads_share_the_session(cache):
    failed, barrier = [], threading.Barrier(4)
    stores = [store_of(1, 2, 3), store_of(1, 2, 3, 4)]

    def search(number):
        barrier.wait()
        try:
            for word in range(20):
                all_qa = [{"query_id": f"q{n}", "question": f"{n} {word}?"} for n in range(5)]
                search_all(stores[number % 2], all_qa, 2, cache=cache)
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=search, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert (
        search_all(stores[0], [{"query_id": "q", "question": "4 19?"}], 2, cache=cache).cached == 1
    )


def test_a_model_that_searches_while_it_embeds_is_no_deadlock(cache):
    inner = store_of(7, 8)

    class Searching(Letters):
        def embed_query(self, text):
            if text == "What is cut?":
                search_all(inner, [{"query_id": "q", "question": "inner?"}], 1, cache=cache)
            return super().embed_query(text)

    docs = [{"doc_id": "d1", "content": "text"}]
    store = build_vectorstore(docs, Searching())
    assert len(search_all(store, ALL_QA, 1, cache=cache)["q01"]) == 1


# ---------------------------------------------------------------- paths


@pytest.mark.parametrize("odd", ["", " ", ":memory:", "a\0b.sqlite"])
def test_what_is_no_file_is_refused(odd):
    with pytest.raises(ValueError, match=r"is no file.* None"):
        search_all(store_of(1), ALL_QA, 1, cache=odd)


@pytest.mark.parametrize("odd", [True, 7, ["cache.sqlite"], b"cache.sqlite"])
def test_what_is_no_path_is_refused(odd):
    with pytest.raises(TypeError, match="cache must be the path of a file"):
        search_all(store_of(1), ALL_QA, 1, cache=odd)


def test_a_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        search_all(store_of(1), ALL_QA, 1, cache=tmp_path)


def odd_path(tmp_path, kind):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "cache.sqlite")
    return {
        "the parent is a file": tmp_path / "file" / "cache.sqlite",
        "a grandparent is a file": tmp_path / "file" / "folder" / "cache.sqlite",
        "a dangling link": tmp_path / "dangling",
        "the name is too long": tmp_path / ("x" * 300),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ["the parent is a file", "a grandparent is a file", "a dangling link", "the name is too long"],
)
def test_a_path_that_cannot_be_is_not_blamed_on_another_session(tmp_path, kind):
    path = odd_path(tmp_path, kind)
    with pytest.raises(ValueError, match="cannot be used as a cache") as caught:
        search_all(store_of(1), ALL_QA, 1, cache=path)
    assert str(path) in str(caught.value)
    assert "another path" in str(caught.value)
    assert "session" not in str(caught.value)
    assert "Errno" not in str(caught.value)


def test_a_missing_table_is_not_blamed_on_another_session(written):
    with closing(sqlite3.connect(written)) as db:
        db.execute("DROP TABLE rankings")
    with pytest.raises(ValueError, match="no such table: rankings") as caught:
        search_all(store_of(1, 2, 3), ALL_QA, 3, cache=written)
    assert "session" not in str(caught.value)


def test_a_cache_of_an_earlier_version_is_refused_with_the_cure(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE rankings (question TEXT)")
        db.execute("PRAGMA user_version = 2")
    with pytest.raises(ValueError, match="delete the file if it is an old cache"):
        search_all(store_of(1), ALL_QA, 1, cache=path)


# ---------------------------------------------------------------- whose error it is


def test_an_sqlite_error_of_the_users_model_is_the_users(path):
    class Failing(Letters):
        def embed_query(self, text):
            raise sqlite3.OperationalError("my own table is locked")

    store = store_of(1, 2)
    store.embedding_function = Failing()
    with pytest.raises(ValueError, match="Failing.* failed on 1 question .*my own table") as caught:
        search_all(store, ALL_QA[:1], 1, cache=path)
    assert "search cache" not in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)


def test_nor_is_one_of_a_language_model_blamed_on_the_cache(path):
    from langchain_core.runnables import RunnableLambda

    def fail(inputs):
        raise sqlite3.OperationalError("no such table: mine")

    results = search_all(store_of(1, 2), ALL_QA, 1)
    with pytest.raises(sqlite3.OperationalError, match="no such table: mine"):
        generate_answers(RunnableLambda(fail), ALL_QA, results, 1, cache=path)


def test_a_batch_that_fails_while_it_is_written_leaves_nothing_of_it(path):
    with closing(Cache(path)) as cache:
        with pytest.raises(ValueError, match="cannot be used as a cache"):
            cache.store("f", {"one": [(0, 0.5)], "two": [(0, 0.5)]}, object())
        assert cache.rankings("f", ["one", "two"], 1, size=1) == {}
        cache.store("f", {"one": [(0, 0.5)]}, 1)
        assert cache.rankings("f", ["one"], 1, size=1) == {"one": [(0, 0.5)]}


# ---------------------------------------------------------------- the end of Python

AT_THE_END = """
import atexit, sqlite3, threading

opened = []
connect = sqlite3.connect

class Recorded(sqlite3.Connection):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        opened.append(self)

def say_what_is_open():
    for db in opened:
        try:
            db.execute("SELECT 1")
            print("open")
        except sqlite3.ProgrammingError:
            print("closed")

sqlite3.connect = lambda *arguments, **options: connect(*arguments, factory=Recorded, **options)
atexit.register(say_what_is_open)  # first of all, so it is called last

from rageval_kit.cache import Cache, open_cache

with open_cache(None) as cache:
    cache.keep_answer("key", "answer")
try:
    Cache(__import__("sys").argv[1])
except ValueError as error:
    print(type(error).__name__)
thread = threading.Thread(target=lambda: cache.keep_answer("other", "answer"))
thread.start()
thread.join()
print(cache.answer("other"))
"""


def test_no_connection_is_left_open_when_python_ends(tmp_path):
    # Python 3.13 and later say so themselves: ResourceWarning: unclosed database.
    (tmp_path / "other.txt").write_text("no cache" * 1000)
    command = [sys.executable, "-X", "dev", "-W", "always::ResourceWarning", "-c", AT_THE_END]
    done = subprocess.run(
        [*command, str(tmp_path / "other.txt")],
        capture_output=True, text=True, cwd=ROOT, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["ValueError", "answer", "closed", "closed"], done.stderr
    assert "ResourceWarning" not in done.stderr


def test_the_connection_of_the_session_is_closed_with_it():
    with open_cache(None) as cache:
        db, close = cache._db, cache.close
    close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")


def test_the_file_holds_no_more_than_its_tables(written):
    with closing(sqlite3.connect(written)) as db:
        tables = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        (contents,) = db.execute("SELECT contents FROM indexes").fetchone()
    assert tables == ["indexes", "rankings", "answers", "models", "vectors"]
    assert sorted(json.loads(contents)["texts"]) == ["d1", "d2", "d3"]
