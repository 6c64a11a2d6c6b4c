"""Other stores than FAISS: every way to ask, several at once, failures, and what is kept."""

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from copy import copy
from functools import partial
from uuid import SafeUUID

import pytest
from conftest import Letters, caught, ids
from langchain_core.documents import Document
from langchain_core.prompt_values import StringPromptValue
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import Field
from sklearn.utils import RegressorTags

from rageval_kit import search_all, search_folded

TEXTS = {f"d{n}": f"text {n} is cut {'x' * n}" for n in range(6)}
DOCUMENTS = [Document(text, metadata={"doc_id": doc_id}) for doc_id, text in TEXTS.items()]
CONTENT = "handbook 2026-11-30"

pytestmark = pytest.mark.usefixtures("new_session")


def queries(n):
    return [{"query_id": f"q{number}", "question": f"what about {number}?"} for number in range(n)]


def found_for(question, k=4):
    """A ranking that depends on the question."""
    number = int("".join(filter(str.isdigit, question)) or 0)
    return [DOCUMENTS[(number + rank) % len(DOCUMENTS)] for rank in range(k)]


def ids_of(results):
    return {query_id: ids(hits) for query_id, hits in results.items()}


RIGHT = {
    qa["query_id"]: [d.metadata["doc_id"] for d in found_for(qa["question"])] for qa in queries(40)
}


def right(n):
    return {f"q{number}": RIGHT[f"q{number}"] for number in range(n)}


class Counting(BaseRetriever):
    """Count the questions in public fields, and fail at one of them."""

    asked: list = Field(default_factory=list)
    calls: int = 0
    fails_at: int = 0
    k: int = 4

    def _get_relevant_documents(self, query, *, run_manager):
        self.asked.append(query)
        self.calls += 1
        if self.calls == self.fails_at:
            raise TimeoutError("no answer")
        return found_for(query, self.k)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache.sqlite"


# ---------------------------------------------------------------- every way to ask


async def asynchronous(question):
    await asyncio.sleep(0)
    return found_for(question)


class OnlyAsynchronous(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        raise NotImplementedError

    async def _aget_relevant_documents(self, query, *, run_manager):
        return await asynchronous(query)


class AsynchronousStore:
    def similarity_search_with_score(self, query, k):
        raise NotImplementedError

    async def asimilarity_search_with_score(self, query, k):
        return [(document, -float(rank)) for rank, document in enumerate(found_for(query, k))]


class Object:
    def __call__(self, question):
        return found_for(question)


def as_pairs(question):
    return [(document, 1 / rank) for rank, document in enumerate(found_for(question), start=1)]


def as_hits(question):
    return [
        {"doc_id": document.metadata["doc_id"], "content": document.page_content, "more": 1}
        for document in found_for(question)
    ]


@pytest.mark.parametrize(
    "store",
    [
        found_for,
        asynchronous,
        lambda question: asynchronous(question + ""),
        partial(found_for, k=4),
        Object(),
        as_pairs,
        as_hits,
        RunnableLambda(found_for),
        RunnableLambda(lambda question: question) | found_for,
        Counting(),
        OnlyAsynchronous(),
        AsynchronousStore(),
    ],
    ids=[
        "function", "async function", "promise", "partial", "object", "pairs", "hits", "Runnable",
        "chain", "retriever", "async retriever", "async store",
    ],
)  # fmt: skip
@pytest.mark.parametrize("at_once", [1, 8])
def test_whatever_is_asked_finds_the_same(store, at_once):
    results = search_all(store, queries(20), 4, at_once=at_once)
    assert ids_of(results) == right(20)
    assert results["q3"][0]["content"] == TEXTS["d3"]


def test_scores_of_pairs_are_kept_with_their_direction():
    results = search_all(as_pairs, queries(2), 2)
    assert [hit["score"] for hit in results["q0"]] == [1, 0.5]
    assert (results.score_name, results.lower_is_better) == ("score of as_pairs", False)


def test_every_search_waits_in_one_loop_since_connections_belong_to_it():
    loops = []

    async def connected(question):
        loops.append(asyncio.get_running_loop())
        return found_for(question)

    for _ in range(2):
        search_all(connected, queries(3), 4)
    assert len(loops) == 6
    assert len(set(loops)) == 1


def test_a_store_of_another_loop_is_told_what_to_do():
    async def elsewhere(question):
        raise RuntimeError("got Future <Future pending> attached to a different loop")

    with pytest.raises(ValueError, match=r"^q0: .*event loop of yours.*PGEngine\.from_conn"):
        search_all(elsewhere, queries(1), 4)


class Partial(InMemoryVectorStore):
    """Look at a part of itself, as an approximate index does."""

    def similarity_search_with_score(self, query, k=4, **kwargs):
        found = super().similarity_search_with_score(query, k, **kwargs)
        return found[: 2 if "1" in query else 4]


@pytest.mark.parametrize(
    ("k", "found"), [(4, "Fewer than 4 hits for q1,"), (5, "at most 4 hits a query")]
)
def test_an_index_that_looks_at_too_few_is_told_of(k, found):
    store = Partial(Letters())
    store.add_documents(DOCUMENTS)
    (said,) = caught(lambda: search_all(store, queries(3), k))
    assert found in said
    assert "hnsw.ef_search" in said


def test_a_store_is_asked_where_a_loop_already_runs():
    async def in_a_notebook():
        return search_all(asynchronous, queries(3), 4)

    assert ids_of(asyncio.run(in_a_notebook())) == right(3)


# ---------------------------------------------------------------- several at once


def test_eight_are_asked_at_once_and_come_back_in_the_order_of_the_questions():
    together = threading.Barrier(8, timeout=20)

    def store(question):
        together.wait()
        time.sleep(0.02 if question == "what about 0?" else 0)  # the first comes last
        return found_for(question)

    results = search_all(store, queries(16), 4)
    assert list(results) == list(right(16))
    assert ids_of(results) == right(16)


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_more_are_asked_at_once_than_is_said(at_once):
    lock, now, most, threads = threading.Lock(), [0], [0], set()

    def store(question):
        threads.add(threading.get_ident())
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.005)
        with lock:
            now[0] -= 1
        return found_for(question)

    search_all(store, queries(12), 4, at_once=at_once)
    assert most[0] == at_once
    assert (threads == {threading.get_ident()}) == (at_once == 1)


class Batched(Runnable):
    """A retriever with a batch of its own, such as one request for many questions."""

    def __init__(self):
        self._batches = []

    def invoke(self, question, config=None, **kwargs):
        raise AssertionError("asked one by one")

    def batch(self, questions, config=None, *, return_exceptions=False, **kwargs):
        self._batches.append((len(questions), config["max_concurrency"]))
        return [
            ConnectionError("gone") if "9" in question else found_for(question)
            for question in questions
        ]


def test_a_batch_of_its_own_is_used():
    store = Batched()
    assert ids_of(search_all(store, queries(9), 4, at_once=4)) == right(9)
    assert store._batches == [(4, 4), (4, 4), (1, 4)]


def test_a_failure_within_a_batch_keeps_the_others_of_it(path):
    options = {"cache": path, "content": CONTENT, "at_once": 4}
    with pytest.raises(
        ValueError, match=r"^q9: .*ConnectionError: gone.*11 of 20 queries are kept"
    ):
        search_all(Batched(), queries(20), 4, **options)
    assert search_all(Batched(), queries(9), 4, **options).cached == 9


def test_one_that_allows_no_threads_is_told_the_cure():
    with closing(sqlite3.connect(":memory:")) as db:

        def store(question):
            db.execute("SELECT 1")
            return found_for(question)

        with pytest.raises(
            ValueError, match=r"q\d: The store failed \(ProgrammingError.*at_once=1"
        ):
            search_all(store, queries(3), 4)
        assert ids_of(search_all(store, queries(3), 4, at_once=1)) == right(3)


# ---------------------------------------------------------------- failing, and going on


@pytest.mark.parametrize("at_once", [1, 8])
def test_a_retriever_that_fails_at_query_20_of_26_goes_on_from_there(path, at_once):
    retriever = Counting(fails_at=20)
    options = {"cache": path, "content": CONTENT, "at_once": at_once}
    with pytest.raises(
        ValueError, match=r"^q\d+: The Counting failed \(TimeoutError: no answer\)"
    ) as said:
        search_all(retriever, queries(26), 4, **options)
    n_kept = retriever.calls - 1
    assert f"{n_kept} of 26 queries are kept" in str(said.value)
    assert n_kept == 19 if at_once == 1 else 19 <= n_kept < 26
    assert isinstance(said.value.__cause__, TimeoutError)

    results = search_all(retriever, queries(26), 4, **options)
    assert (results.searched, results.cached, retriever.calls) == (26 - n_kept, n_kept, 27)
    assert ids_of(results) == right(26)
    assert search_all(retriever, queries(26), 4, **options).cached == 26


def test_after_a_failure_no_other_question_is_asked():
    retriever = Counting(fails_at=3)
    with pytest.raises(ValueError, match=r"What \d+ queries found is lost: cache=.*content="):
        search_all(retriever, queries(200), 4)
    assert retriever.calls <= 3 + 8 + 7


def test_what_is_kept_while_python_runs_is_said_to_be_kept():
    retriever = Counting(fails_at=5)
    with pytest.raises(ValueError, match="4 of 6 queries are kept"):
        search_all(retriever, queries(6), 4, content=CONTENT, at_once=1)
    assert search_all(retriever, queries(6), 4, content=CONTENT).searched == 2


def test_several_failures_are_counted(path):
    together = threading.Barrier(8, timeout=20)

    def store(question):
        together.wait()
        raise RuntimeError("down")

    with pytest.raises(
        ValueError, match=r"^q0: .*RuntimeError: down\)\. So did 7 other queries\.$"
    ):
        search_all(store, queries(30), 4)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "gave None"),
        ("a text", "gave str 'a text'"),
        ([1], "gave list"),
        ([{"doc_id": 7}], "gave"),
        ([(DOCUMENTS[0], "high")], "the score 'high' for d0"),
        ([(DOCUMENTS[0], float("nan"))], "the score nan for d0"),
        ([Document("text")], "no doc_id"),
    ],
    ids=["None", "text", "numbers", "id a number", "score a text", "score NaN", "no id"],
)
def test_an_answer_that_is_none_names_its_query_and_what_is_kept(path, answer, said):
    def store(question):
        return answer if question == "what about 2?" else found_for(question)

    with pytest.raises((TypeError, ValueError), match=rf"^q2: .*{said}.*2 of 5 queries are kept"):
        search_all(store, queries(5), 4, cache=path, content=CONTENT, at_once=1)


# ---------------------------------------------------------------- what is kept, and under what


def in_memory(model=None):
    store = InMemoryVectorStore(model or Letters())
    store.add_documents(DOCUMENTS)
    return store


def test_a_store_in_another_session_is_known_by_its_content(path):
    first = search_all(in_memory(), queries(5), 3, cache=path, content=CONTENT)
    model = Letters()
    again = search_all(in_memory(model), queries(5), 3, cache=path, content=CONTENT)
    assert (again, again.searched, again.cached) == (first, 0, 5)
    assert (again.score_name, again.lower_is_better) == (first.score_name, first.lower_is_better)
    assert model.calls == (1, 0)  # its documents


@pytest.mark.parametrize(
    "other",
    [
        lambda: (in_memory(), "handbook 2026-12-01", queries(3)),
        lambda: (in_memory(Letters(dimensions=16)), CONTENT, queries(3)),
        lambda: (in_memory().as_retriever(), CONTENT, queries(3)),
        lambda: (
            in_memory(),
            CONTENT,
            [qa | {"question": qa["question"] + "!"} for qa in queries(3)],
        ),
    ],
    ids=["content", "model", "class", "questions"],
)
def test_whatever_else_changes_is_asked_again(path, other):
    search_all(in_memory(), queries(3), 3, cache=path, content=CONTENT)
    store, content, all_qa = other()
    assert search_all(store, all_qa, 3, cache=path, content=content).searched == 3


@pytest.mark.parametrize(
    "options",
    [
        {"search_kwargs": {"k": 5}},
        {"search_kwargs": {"k": 4, "filter": str}},
        {"search_type": "mmr"},
    ],
    ids=["k", "filter", "type"],
)
def test_another_setting_of_a_retriever_is_asked_again(path, options):
    before = in_memory().as_retriever(search_kwargs={"k": 4})
    assert search_all(before, queries(2), 3, cache=path, content=CONTENT).searched == 2
    again = in_memory().as_retriever(search_kwargs={"k": 4})
    assert search_all(again, queries(2), 3, cache=path, content=CONTENT).searched == 0
    now = in_memory().as_retriever(**options)
    keep = search_all(now, queries(2), 3, cache=path, content=CONTENT)
    assert keep.searched == 2


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (RegressorTags(poor_score=False), RegressorTags(poor_score=True)),
        (StringPromptValue(text="40"), StringPromptValue(text="200")),
        (SafeUUID.safe, SafeUUID.unsafe),
    ],
    ids=["dataclass", "pydantic", "enum"],
)
def test_an_option_that_a_library_keeps_in_named_fields_counts(path, before, now):
    def asked(option):
        retriever = in_memory().as_retriever(search_kwargs={"k": 4, "option": option})
        return search_all(retriever, queries(2), 3, cache=path, content=CONTENT).searched

    assert [asked(before), asked(copy(before)), asked(now)] == [2, 0, 2]


CELL = """
def store(question):
    return found_for("{prompt}" + question)
"""
CLASS = """
class Mine(BaseRetriever):
    {field}
    def _get_relevant_documents(self, query, *, run_manager):
        return found_for({before} + query)
"""


def defined(source):
    names = {"found_for": found_for, "BaseRetriever": BaseRetriever, "__name__": "__main__"}
    exec(source, names)
    return names["store"] if "store" in names else names["Mine"]()


@pytest.mark.parametrize(
    ("source", "edited"),
    [
        (CELL.format(prompt=""), CELL.format(prompt="3")),
        (
            CLASS.format(field="prompt: str = ''", before="self.prompt"),
            CLASS.format(field="prompt: str = '3'", before="self.prompt"),
        ),
        (
            CLASS.format(field="_prompt: str = ''", before="self._prompt"),
            CLASS.format(field="_prompt: str = '3'", before="self._prompt"),
        ),
        (CLASS.format(field="", before="''"), CLASS.format(field="", before="'3'")),
    ],
    ids=["function", "field", "private", "code"],
)
def test_an_edited_cell_is_asked_again_and_one_run_again_is_not(path, source, edited):
    options = {"cache": path, "content": CONTENT}
    search_all(defined(source), queries(2), 3, **options)
    assert search_all(defined(source), queries(2), 3, **options).searched == 0
    results = search_all(defined(edited), queries(2), 3, **options)
    assert results.searched == 2
    assert results == search_all(defined(edited), queries(2), 3)


@pytest.mark.parametrize("made", ["closure", "default", "partial", "RunnableLambda"])
def test_what_a_function_was_made_with_counts(path, made):
    def make(prompt):
        def closure(question):
            return found_for(prompt + question)

        def default(question, prompt=prompt):
            return found_for(prompt + question)

        def two(prompt, question):
            return found_for(prompt + question)

        return {
            "closure": closure,
            "default": default,
            "partial": partial(two, prompt),
            "RunnableLambda": RunnableLambda(closure),
        }[made]

    options = {"cache": path, "content": CONTENT}
    search_all(make(""), queries(2), 3, **options)
    assert search_all(make(""), queries(2), 3, **options).searched == 0
    assert search_all(make("3"), queries(2), 3, **options).searched == 2


def test_a_smaller_k_is_served_from_a_deeper_one_and_a_deeper_one_is_asked(path):
    options = {"cache": path, "content": CONTENT}
    search_all(in_memory(), queries(3), 4, **options)
    smaller = search_all(in_memory(), queries(3), 2, **options)
    assert (smaller, smaller.searched) == (search_all(in_memory(), queries(3), 2), 0)
    assert search_all(in_memory(), queries(3), 5, **options).searched == 3
    assert search_all(in_memory(), queries(3), 5, **options).searched == 0


def test_a_retrievers_answer_serves_every_k(path):
    options = {"cache": path, "content": CONTENT}
    search_all(Counting(), queries(3), 2, **options)
    again = search_all(Counting(), queries(3), 4, **options)
    assert (again.searched, ids_of(again)) == (0, right(3))


def test_a_text_stands_once_in_the_file_and_once_in_memory(path):
    store = in_memory()
    first = search_all(store, queries(30), 4, cache=path, content=CONTENT)
    again = search_all(store, queries(30), 4, cache=path, content=CONTENT)
    for results in (first, search_all(store, queries(30), 4), again):
        hits = [hit for ranking in results.values() for hit in ranking]
        assert len({id(hit["content"]) for hit in hits}) == len({hit["doc_id"] for hit in hits})
        assert len(set(map(id, hits))) == len(hits)  # a hit may be edited
    with closing(sqlite3.connect(path)) as db:
        texts = [bytes(row[0]).decode() for row in db.execute("SELECT answer FROM answers")]
    assert sum("is cut" in text for text in texts) <= len(DOCUMENTS)


@pytest.mark.parametrize(
    "broken", [b"x", b"null", b"[]", b"[9, [[1, 2]]]", b'[9, [["x", 0.5]]]', b'["9", []]', b"\xff"]
)
@pytest.mark.parametrize("what", ["ranking", "document"])
def test_an_answer_that_cannot_be_read_is_asked_again(path, broken, what):
    options = {"cache": path, "content": CONTENT}
    first = search_all(in_memory(), queries(3), 6, **options)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        which = (
            "CAST(answer AS TEXT) LIKE '{%'"
            if what == "document"
            else "CAST(answer AS TEXT) LIKE '[%'"
        )
        assert db.execute(f"UPDATE answers SET answer = ? WHERE {which}", [broken]).rowcount > 2
    again = search_all(in_memory(), queries(3), 6, **options)
    assert (again, again.searched) == (first, 3)
    assert search_all(in_memory(), queries(3), 6, **options).searched == 0


@pytest.mark.parametrize("content", ["", " ", 7, ["handbook"], True])
def test_a_content_that_is_no_text_is_refused(content):
    with pytest.raises(TypeError, match=r"content must be a text such as"):
        search_all(found_for, queries(1), 1, content=content)
    with pytest.raises(TypeError, match=r"content must be a text such as"):
        search_folded(in_memory(), queries(1), 1, {}, content=content)


@pytest.mark.parametrize("at_once", [0, -1, 2.5, True, None, "8"])
def test_a_number_at_once_that_is_none_is_refused(at_once):
    with pytest.raises(ValueError, match="at_once must be a positive integer"):
        search_all(found_for, queries(1), 1, at_once=at_once)


def test_a_class_in_place_of_a_store_is_named():
    with pytest.raises(
        TypeError, match="vectorstore must be a LangChain vector store or retriever"
    ):
        search_all(InMemoryVectorStore, queries(1), 1)


# ---------------------------------------------------------------- folding


def test_search_folded_asks_a_retriever_once(path):
    retriever = Counting(k=6)
    folded = search_folded(retriever, queries(3), 2, {f"d{n}": "d" for n in range(5)})
    assert (set(ids(folded["q0"])), retriever.calls) == ({"d", "d5"}, 3)


def test_search_folded_asks_deeper_only_where_documents_are_missing():
    calls = []

    class Copies:
        def similarity_search_with_score(self, query, k):
            calls.append((query, k))
            its = [f"a#{n}" for n in range(9)] if query == "what about 0?" else []
            its += [f"d{n}" for n in range(40)]
            return [(Document("text", metadata={"doc_id": doc_id}), 0.5) for doc_id in its[:k]]

    folded = search_folded(Copies(), queries(3), 3, lambda hit: hit["doc_id"].split("#")[0])
    plain = ["d0", "d1", "d2"]
    assert ids_of(folded) == {"q0": ["a", "d0", "d1"], "q1": plain, "q2": plain}
    assert sorted(calls)[:2] == [("what about 0?", 6), ("what about 0?", 12)]
    assert len(calls) == 4


def test_search_folded_keeps_what_another_store_found(path):
    options = {"cache": path, "content": CONTENT}
    first = search_folded(in_memory(), queries(4), 3, {"d1": "d0"}, **options)
    again = search_folded(in_memory(), queries(4), 3, {"d1": "d0"}, **options)
    assert (again, again.searched) == (first, 0)


# ---------------------------------------------------------------- LangChain's ensembles


def ensemble(**options):
    from langchain_classic.retrievers import EnsembleRetriever

    parts = [in_memory().as_retriever(), Counting()]
    return EnsembleRetriever(retrievers=parts, weights=[0.5, 0.5], **options)


def behind_a_reranker(retriever):
    from langchain_classic.retrievers import ContextualCompressionRetriever
    from langchain_core.documents import BaseDocumentCompressor

    class AsItIs(BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            return documents

    return ContextualCompressionRetriever(base_retriever=retriever, base_compressor=AsItIs())


@pytest.mark.parametrize("wrapped", [lambda store: store, behind_a_reranker])
@pytest.mark.parametrize(("options", "warned"), [({}, True), ({"id_key": "doc_id"}, False)])
def test_an_ensemble_that_adds_up_scores_of_equal_texts_is_warned_of(wrapped, options, warned):
    said = caught(lambda: search_all(wrapped(ensemble(**options)), queries(2), 3))
    assert ['id_key="doc_id"' in message for message in said] == [True] * warned
