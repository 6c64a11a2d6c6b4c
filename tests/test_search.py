"""Searching all queries: form of the results, calls made, cache, ties, other stores, bad input."""

import importlib
import json
import subprocess
import sys
import threading
import time
import tracemalloc

import faiss
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, Letters, caught, ids
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from rageval_kit import Results, add_documents, build_vectorstore, search_all
from rageval_kit.cache import Cache
from rageval_kit.search import FaissIndex, group_ties
from rageval_kit.vectors import PROBE
from rageval_kit.vectorstore import _import_community, assemble, flat_index, to_documents

DOCS = [
    {"doc_id": "doc_001", "title": "트랜스포머", "content": "어텐션을 쓴다."},
    {"doc_id": "doc_002", "title": "RAG", "content": "Retrieval comes first."},
    {"doc_id": "doc_003", "title": "Tokens", "content": "Texts are cut into tokens."},
    {"doc_id": "doc_004", "title": "", "content": "A document without a title."},
]
MORE = [
    {"doc_id": "doc_011", "title": "Variants", "content": "Heads share keys."},
    {"doc_id": "doc_012", "title": "Quantisation", "content": "Fewer bits."},
]
ALL_QA = [
    {"query_id": f"q{i:02}", "question": question}
    for i, question in enumerate(["What is cut?", "무엇을 쓰나?"], 1)
]

CUT = [{"query_id": "q01", "question": "how texts are cut"}]


class Prompted(Letters):
    """Put a prompt before a query, as E5 and other query and passage models do."""

    def __init__(self, query_prompt="query: "):
        super().__init__()
        self.query_prompt = query_prompt

    def embed_query(self, text):
        self._singles.append(text)
        return self._vector(self.query_prompt + text)


pytestmark = pytest.mark.usefixtures("new_session", "letters_are_known")


@pytest.fixture
def store(letters):
    """A store whose embeddings have no calls yet."""
    return built(DOCS, letters)


@pytest.fixture(params=["memory", "file"])
def cache(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "cache.db"


def built(docs, letters):
    store = build_vectorstore(docs, letters)
    letters.forget_calls()
    return store


def queries(n, word="question"):
    return [{"query_id": f"q{i}", "question": f"{word} number {i}"} for i in range(n)]


# ---------------------------------------------------------------- what comes back


def test_results_are_a_dict_of_lists_in_the_order_of_all_qa(store):
    results = search_all(store, ALL_QA[::-1], 3)
    assert isinstance(results, dict)
    assert isinstance(results, Results)
    assert {query_id: len(hits) for query_id, hits in results.items()} == {"q02": 3, "q01": 3}
    assert list(results) == ["q02", "q01"]


def test_a_hit_has_doc_id_title_content_and_score(store):
    hit = search_all(store, [{"query_id": "q", "question": "Texts are cut into tokens."}], 1)["q"][
        0
    ]
    assert list(hit) == ["doc_id", "title", "content", "score"]
    assert {field: hit[field] for field in DOCS[2]} == DOCS[2]


def test_a_hit_without_title_has_its_content(store):
    hits = search_all(store, ALL_QA, 4)["q01"]
    assert {
        field: next(hit for hit in hits if hit["doc_id"] == "doc_004")[field] for field in DOCS[3]
    } == DOCS[3]


@pytest.mark.parametrize("title", [" RAG", "RAG ", "RAG\n"])
def test_a_title_with_white_space_around_it_is_not_in_the_content(letters, title):
    store = built([{"doc_id": "d", "title": title, "content": "Retrieval comes first."}], letters)
    assert search_all(store, ALL_QA, 1)["q01"][0]["content"] == "Retrieval comes first."


def test_a_document_that_is_only_a_title_has_no_content(letters):
    store = built([{"doc_id": "d", "title": "Only a title", "content": ""}], letters)
    assert search_all(store, ALL_QA, 1)["q01"][0]["content"] == ""


def test_texts_and_numbers_of_a_hit_are_pythons_own(store):
    hits = [hit for hits in search_all(store, ALL_QA, 4).values() for hit in hits]
    assert {tuple(type(value) for value in hit.values()) for hit in hits} == {
        (str, str, str, float)
    }


def test_results_can_be_written_as_json(store):
    results = search_all(store, ALL_QA, 3)
    assert json.loads(json.dumps(results)) == results


def test_hits_are_those_of_langchain(lecture_ko, letters):
    store = built(lecture_ko.docs, letters)
    results = search_all(store, lecture_ko.all_qa, 5)
    for qa in lecture_ko.all_qa:
        expected = store.similarity_search_with_score(qa["question"], k=5)
        assert ids(results[qa["query_id"]]) == [
            document.metadata["doc_id"] for document, _ in expected
        ]
        assert [hit["score"] for hit in results[qa["query_id"]]] == pytest.approx(
            [score for _, score in expected], abs=2e-5
        )


def test_scores_are_squared_l2_distances_best_first(store, letters):
    question = ALL_QA[0]["question"]
    distances = np.square(
        store.index.reconstruct_n(0, 4) - np.array(letters.embed_query(question))
    ).sum(axis=1)
    results = search_all(store, ALL_QA, 4)
    assert [hit["score"] for hit in results["q01"]] == pytest.approx(sorted(distances), abs=2e-5)
    assert (results.score_name, results.lower_is_better) == ("squared L2 distance", True)


def test_fewer_hits_come_back_from_a_smaller_corpus(store):
    results = search_all(store, ALL_QA, 100)
    assert [sorted(ids(hits)) for hits in results.values()] == [
        ["doc_001", "doc_002", "doc_003", "doc_004"]
    ] * 2
    assert results.k == 100


def test_a_store_whose_documents_were_all_deleted_is_refused(store):
    store.delete([doc["doc_id"] for doc in DOCS])
    with pytest.raises(ValueError, match="The vectorstore holds no document"):
        search_all(store, ALL_QA, 3)


def uuids(n):
    return [f"{number:08x}-6f5d-4b3e-9a55-2b5f0a1c9d10" for number in range(n)]


def made_by_langchain(kind, ids=None):
    """A store of two texts under these ids, or under those that LangChain makes up."""
    if kind == "in memory":
        store = InMemoryVectorStore(Letters())
        store.add_texts(["aaa", "bbb"], ids=ids)
        return store
    return _import_community("langchain_community.vectorstores").FAISS.from_texts(
        ["aaa", "bbb"], Letters(), ids=ids
    )


def judged(*doc_ids):
    return [qa | {"relevant_doc_ids": list(doc_ids)} for qa in ALL_QA]


@pytest.mark.parametrize("kind", ["FAISS", "in memory"])
def test_ids_that_langchain_made_up_and_no_judgement_names_are_warned_of(kind):
    store = made_by_langchain(kind)
    with pytest.warns(UserWarning, match=r"2 of 2 documents .*LangChain makes up.*\(doc_001\)"):
        search_all(store, judged("doc_001"), 2)


@pytest.mark.parametrize("kind", ["FAISS", "in memory"])
def test_uuids_that_the_user_gave_are_ids(kind):
    store = made_by_langchain(kind, uuids(2))
    for all_qa in (judged(uuids(5)[4]), judged(), ALL_QA):
        assert caught(lambda all_qa=all_qa: search_all(store, all_qa, 2)) == []
    assert sorted(ids(search_all(store, ALL_QA, 2)["q01"])) == uuids(2)


def test_the_children_of_a_parent_retriever_are_warned_of(letters):
    from langchain_classic.retrievers import ParentDocumentRetriever
    from langchain_core.stores import InMemoryStore
    from langchain_text_splitters import CharacterTextSplitter

    parents = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(letters),
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(separator=" ", chunk_size=9, chunk_overlap=0),
        search_kwargs={"k": 2},
    )
    parents.add_documents([Document("one two three four", metadata={"title": "t"})])
    with pytest.warns(UserWarning, match="behind a ParentDocumentRetriever search the retriever"):
        search_all(parents.vectorstore, judged("doc_001"), 1)


def test_a_corpus_of_one_document_is_searched(letters):
    assert ids(search_all(built(DOCS[:1], letters), ALL_QA, 5)["q01"]) == ["doc_001"]


def test_the_queries_may_be_a_table(store):
    assert search_all(store, pd.DataFrame(ALL_QA), 3) == search_all(store, ALL_QA, 3)


def test_the_queries_may_be_a_table_with_a_row_a_judgement(store):
    table = pd.DataFrame(
        [qa | {"doc_id": doc_id} for qa in ALL_QA for doc_id in ("doc_001", "doc_002")]
    )
    assert search_all(store, table, 3) == search_all(store, ALL_QA, 3)


def test_repr_says_what_was_searched_and_what_the_scores_mean(store):
    assert repr(search_all(store, ALL_QA, 3)) == (
        "Results of 2 queries, k=3; score: squared L2 distance, lower is better; "
        "2 searched, 0 from the cache"
    )


def test_repr_says_what_changed(store):
    search_all(store, ALL_QA, 3)
    add_documents(store, MORE)
    assert repr(search_all(store, ALL_QA, 3)).endswith(
        "2 searched, 0 from the cache; documents since the last search: 2 added (doc_011, doc_012)"
    )


def test_to_frame_has_a_row_a_hit(store):
    results = search_all(store, ALL_QA, 3)
    table = results.to_frame()
    assert table.columns.tolist() == ["query_id", "rank", "doc_id", "title", "score"]
    assert table["query_id"].tolist() == ["q01"] * 3 + ["q02"] * 3
    assert table["rank"].tolist() == [1, 2, 3] * 2
    assert table["doc_id"].tolist() == ids(results["q01"]) + ids(results["q02"])
    assert table["score"].tolist() == [hit["score"] for hits in results.values() for hit in hits]


def test_results_know_the_questions_that_were_searched(store, cache):
    for _ in range(2):  # searched, then from the cache
        results = search_all(store, ALL_QA, 2, cache=cache)
        assert results.questions == {"q01": "What is cut?", "q02": "무엇을 쓰나?"}


def test_results_of_a_retriever_know_their_questions_too(retriever):
    assert search_all(retriever, ALL_QA, 4).questions == {
        qa["query_id"]: qa["question"] for qa in ALL_QA
    }


def test_the_index_has_a_fingerprint(store):
    before = search_all(store, ALL_QA, 3).index
    assert before == search_all(store, ALL_QA, 2).index
    add_documents(store, MORE)
    assert before != search_all(store, ALL_QA, 3).index


# ---------------------------------------------------------------- calls of the model


def test_12_queries_are_one_batch_and_the_probe_on_either_side(lecture, letters, cache):
    store = built(lecture.docs, letters)
    search_all(store, lecture.all_qa, 5, cache=cache)
    assert letters._batches == [[PROBE], [qa["question"] for qa in lecture.all_qa]]
    assert letters._singles == [PROBE]


def test_the_second_time_the_model_is_not_called(lecture, letters, cache):
    store = built(lecture.docs, letters)
    first = search_all(store, lecture.all_qa, 5, cache=cache)
    letters.forget_calls()
    second = search_all(store, lecture.all_qa, 5, cache=cache)
    assert letters.calls == (0, 0)
    assert second == first
    assert (first.searched, first.cached, second.searched, second.cached) == (12, 0, 0, 12)


def test_what_was_learnt_of_the_model_is_kept(store, letters, cache):
    search_all(store, queries(5), 2, cache=cache)
    letters.forget_calls()
    search_all(store, queries(5, "other"), 2, cache=cache)
    assert letters.calls == (1, 0)


def test_only_new_questions_are_embedded(store, letters, cache):
    search_all(store, queries(5), 2, cache=cache)
    letters.forget_calls()
    results = search_all(store, queries(8), 2, cache=cache)
    assert letters._batches == [["question number 5", "question number 6", "question number 7"]]
    assert (results.searched, results.cached) == (3, 5)


def test_a_question_asked_twice_is_embedded_once(store, letters):
    all_qa = [*queries(3), {"query_id": "again", "question": "question number 1"}]
    results = search_all(store, all_qa, 2)
    assert letters._batches[1:] == [["question number 0", "question number 1", "question number 2"]]
    assert results["again"] == results["q1"]
    assert (results.searched, results.cached) == (4, 0)


def test_the_cache_goes_by_the_question_and_not_by_its_id(store, letters, cache):
    search_all(store, [{"query_id": "q01", "question": "What is cut?"}], 2, cache=cache)
    letters.forget_calls()
    results = search_all(store, [{"query_id": "other", "question": "What is cut?"}], 2, cache=cache)
    assert (list(results), letters.calls) == (["other"], (0, 0))


def test_an_id_with_another_question_is_searched_again(store, cache):
    search_all(store, [{"query_id": "q01", "question": "What is cut?"}], 2, cache=cache)
    results = search_all(
        store, [{"query_id": "q01", "question": "What comes first?"}], 2, cache=cache
    )
    assert results.searched == 1


def test_many_queries_are_embedded_in_batches(store, letters):
    results = search_all(store, queries(600), 2)
    assert [len(batch) for batch in letters._batches] == [1, 256, 256, 88]
    assert len(results) == 600


def test_many_queries_come_from_the_cache(store, cache):
    first = search_all(store, queries(1_100), 2, cache=cache)
    second = search_all(store, queries(1_100), 2, cache=cache)
    assert (second, second.cached) == (first, 1_100)


@pytest.mark.usefixtures("classes_are_known")
def test_what_was_embedded_before_a_batch_failed_is_searched_and_kept(cache):
    class Failing(Letters):
        def embed_documents(self, texts):
            if "question number 600" in texts:
                raise RuntimeError("no more")
            return super().embed_documents(texts)

    store = built(DOCS, Failing())
    with pytest.raises(ValueError, match="no more.*is kept"):
        search_all(store, queries(700), 2, cache=cache)
    assert search_all(store, queries(600), 2, cache=cache).cached == 512


def flat_store(n=400, dimensions=512):
    """A store of random vectors; from 250 queries on FAISS multiplies matrices."""
    vectors = np.random.default_rng(0).standard_normal((n, dimensions))
    vectors[n // 2 :] = vectors[0] / 100  # a long tie, near to every query
    docs = [{"doc_id": f"doc_{number:03}", "content": "text"} for number in range(n)]
    model = DeterministicFakeEmbedding(size=dimensions)
    return assemble(to_documents(docs), flat_index(vectors), model)


def test_a_score_does_not_depend_on_the_other_queries():
    store = flat_store()
    together = search_all(store, queries(600), 5)
    for query in queries(600)[::60]:
        index = FaissIndex(store)
        (ranking,) = index.search(index.embed([query["question"]]), 5)
        assert [score for _, score in ranking] == [
            hit["score"] for hit in together[query["query_id"]]
        ]


def test_long_ties_are_followed_in_parts_where_memory_is_short(monkeypatch):
    index = FaissIndex(flat_store())
    vectors = index.embed([query["question"] for query in queries(300)])
    whole = index.search(vectors, 5)
    monkeypatch.setattr(importlib.import_module("rageval_kit.search"), "_CELLS", 1_000)
    assert index.search(vectors, 5) == whole
    assert all([at for at, _ in ranking] == list(range(200, 205)) for ranking in whole)


def test_the_fingerprint_does_not_copy_the_vectors():
    store = flat_store(4_000, 2_048)
    tracemalloc.start()
    FaissIndex(store)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000 * 2_048 * 4


@pytest.mark.usefixtures("classes_are_known")
def test_a_model_that_embeds_queries_otherwise_is_asked_query_by_query(cache):
    model = Prompted(query_prompt="zzzzzzzzzz ")
    store = built(DOCS, model)
    results = search_all(store, queries(5), 4, cache=cache)
    assert model._singles[1:] == [qa["question"] for qa in queries(5)]
    assert model._batches == [[PROBE]]
    for qa in queries(5):
        expected = store.similarity_search_with_score_by_vector(
            model.embed_query(qa["question"]), k=4
        )
        assert ids(results[qa["query_id"]]) == [
            document.metadata["doc_id"] for document, _ in expected
        ]
        assert [hit["score"] for hit in results[qa["query_id"]]] == pytest.approx(
            [s for _, s in expected], abs=2e-5
        )


@pytest.mark.usefixtures("classes_are_known")
def test_a_model_known_to_embed_queries_otherwise_gets_no_batch(cache):
    model = Prompted()
    store = built(DOCS, model)
    search_all(store, queries(5), 4, cache=cache)
    model.forget_calls()
    search_all(store, queries(5, "other"), 4, cache=cache)
    assert model.calls == (0, 5)


class Tilted(Letters):
    """Turn a query by a small angle: its cosine with the document of the same text is known."""

    def __init__(self, cosine):
        super().__init__()
        self.cosine = cosine

    def embed_query(self, text):
        self._singles.append(text)
        vector = np.array(self._vector(text))
        across = np.eye(self.dimensions)[0] - vector[0] * vector
        across /= np.linalg.norm(across)
        return (self.cosine * vector + np.sqrt(1 - self.cosine**2) * across).tolist()


@pytest.mark.parametrize(
    ("cosine", "calls"),
    [(1.0, (2, 1)), (0.99999, (2, 1)), (0.9997, (1, 6)), (0.995, (1, 6)), (0.9, (1, 6))],
)
@pytest.mark.usefixtures("classes_are_known")
def test_a_model_whose_prompt_changes_little_is_asked_query_by_query(cosine, calls):
    model = Tilted(cosine)
    search_all(built(DOCS, model), queries(5), 2)
    assert model.calls == calls  # batches and single texts, the probe on either side among them


def test_one_query_alone_is_embedded_as_a_query():
    model = Prompted(query_prompt="zzzzzzzzzz ")
    store = built(DOCS, model)
    search_all(store, queries(1), 4)
    assert model.calls == (0, 1)


# ---------------------------------------------------------------- k and the cache


def test_a_smaller_k_is_served_from_a_deeper_entry(store, letters, cache):
    deep = search_all(store, ALL_QA, 4, cache=cache)
    letters.forget_calls()
    results = search_all(store, ALL_QA, 2, cache=cache)
    assert letters.calls == (0, 0)
    assert results == {query_id: hits[:2] for query_id, hits in deep.items()}
    assert (results.k, results.cached) == (2, 2)


def test_a_deeper_k_is_searched_again(store, cache):
    search_all(store, ALL_QA, 2, cache=cache)
    results = search_all(store, ALL_QA, 4, cache=cache)
    assert (results.searched, results.cached) == (2, 0)
    assert [len(hits) for hits in results.values()] == [4, 4]


def test_the_deeper_entry_stays_after_a_smaller_search(store, cache):
    search_all(store, ALL_QA, 4, cache=cache)
    search_all(store, ALL_QA, 2, cache=cache)
    assert search_all(store, ALL_QA, 4, cache=cache).cached == 2


def test_a_shallow_ranking_that_another_session_writes_late_does_not_replace_a_deep_one():
    cache = Cache(":memory:")
    cache.store("index", {"What is cut?": [(2, 0.1), (0, 0.5)]}, 2)
    cache.store("index", {"What is cut?": [(2, 0.1)]}, 1)
    kept = cache.rankings("index", ["What is cut?"], 2, size=3)
    assert kept == {"What is cut?": [(2, 0.1), (0, 0.5)]}


def test_a_deeper_search_is_no_change(store, cache):
    search_all(store, ALL_QA, 2, cache=cache)
    assert search_all(store, ALL_QA, 4, cache=cache).changed == ""


def test_a_k_above_the_size_of_the_corpus_is_cached(store, cache):
    first = search_all(store, ALL_QA, 100, cache=cache)
    second = search_all(store, ALL_QA, 100, cache=cache)
    assert (second, second.cached) == (first, 2)


def test_editing_a_hit_does_not_reach_the_cache(store, cache):
    results = search_all(store, ALL_QA, 2, cache=cache)
    expected = json.loads(json.dumps(results))
    results["q01"][0]["doc_id"] = "edited"
    results["q01"].pop()
    assert search_all(store, ALL_QA, 2, cache=cache) == expected


def test_the_folder_of_the_cache_is_made(store, tmp_path):
    search_all(store, ALL_QA, 2, cache=tmp_path / "new" / "폴더" / "cache.db")
    assert (tmp_path / "new" / "폴더" / "cache.db").exists()


def test_the_cache_may_be_given_as_text(store, tmp_path):
    search_all(store, ALL_QA, 2, cache=str(tmp_path / "cache.db"))
    assert search_all(store, ALL_QA, 2, cache=tmp_path / "cache.db").cached == 2


def test_a_file_and_the_memory_are_two_caches(store, tmp_path):
    search_all(store, ALL_QA, 2)
    assert search_all(store, ALL_QA, 2, cache=tmp_path / "cache.db").cached == 0


def test_two_stores_share_a_file(store, tmp_path):
    other = built(MORE, Letters())
    search_all(store, ALL_QA, 2, cache=tmp_path / "cache.db")
    search_all(other, ALL_QA, 2, cache=tmp_path / "cache.db")
    assert search_all(store, ALL_QA, 2, cache=tmp_path / "cache.db").cached == 2
    assert search_all(other, ALL_QA, 2, cache=tmp_path / "cache.db").cached == 2


def test_no_pickle_is_in_the_cache_file(store, tmp_path):
    search_all(store, ALL_QA, 2, cache=tmp_path / "cache.db")
    data = (tmp_path / "cache.db").read_bytes()
    assert data.startswith(b"SQLite format 3\x00")
    assert b"\x80\x04\x95" not in data


# ---------------------------------------------------------------- changes are noticed


def test_nothing_changed_at_first(store, cache):
    assert search_all(store, ALL_QA, 3, cache=cache).changed == ""


def test_nothing_changed_the_second_time(store, cache):
    search_all(store, ALL_QA, 3, cache=cache)
    assert search_all(store, ALL_QA, 3, cache=cache).changed == ""


def test_the_same_index_built_again_is_not_searched_again(letters, cache):
    search_all(built(DOCS, letters), ALL_QA, 3, cache=cache)
    assert search_all(built(DOCS, letters), ALL_QA, 3, cache=cache).cached == 2


def test_added_documents_are_noticed_and_said(store, cache):
    search_all(store, ALL_QA, 3, cache=cache)
    add_documents(store, MORE)
    results = search_all(store, ALL_QA, 6, cache=cache)
    assert results.changed == "documents since the last search: 2 added (doc_011, doc_012)"
    assert results.searched == 2
    assert {"doc_011", "doc_012"} <= set(ids(results["q01"]))


def test_the_documents_of_the_lecture_that_are_added_later_are_noticed(
    lecture_ko, embeddings, tmp_path
):
    store = build_vectorstore(lecture_ko.docs[:10], embeddings)
    before = search_all(store, lecture_ko.all_qa, 3, cache=tmp_path / "cache.db")
    add_documents(store, lecture_ko.docs[10:])
    after = search_all(store, lecture_ko.all_qa, 3, cache=tmp_path / "cache.db")
    assert after.changed == "documents since the last search: 2 added (doc_011, doc_012)"
    assert "doc_011" not in ids(before["q11"])
    assert ids(after["q11"])[0] == "doc_011"


def test_documents_that_langchain_added_are_noticed(store, cache):
    search_all(store, ALL_QA, 3, cache=cache)
    store.add_documents(to_documents(MORE), ids=["doc_011", "doc_012"])
    assert "2 added (doc_011, doc_012)" in search_all(store, ALL_QA, 3, cache=cache).changed


def test_removed_documents_are_noticed_and_said(store, cache):
    search_all(store, ALL_QA, 4, cache=cache)
    store.delete(["doc_003"])
    results = search_all(store, ALL_QA, 4, cache=cache)
    assert results.changed == "documents since the last search: 1 removed (doc_003)"
    assert sorted(ids(results["q01"])) == ["doc_001", "doc_002", "doc_004"]


def test_a_changed_text_is_noticed_and_said(letters, cache):
    search_all(built(DOCS, letters), ALL_QA, 3, cache=cache)
    docs = [DOCS[0], DOCS[1], DOCS[2] | {"content": "Another text."}, DOCS[3]]
    results = search_all(built(docs, letters), ALL_QA, 4, cache=cache)
    assert results.changed == "documents since the last search: 1 changed (doc_003)"
    assert (results.searched, results.cached) == (2, 0)


def test_a_text_edited_in_the_store_is_noticed(store, cache):
    search_all(store, ALL_QA, 4, cache=cache)
    store.similarity_search("Texts are cut into tokens.", k=1)[0].page_content = "Tokens\nEdited."
    results = search_all(store, ALL_QA, 4, cache=cache)
    assert results.changed == "documents since the last search: 1 changed (doc_003)"
    assert "Edited." in [hit["content"] for hit in results["q01"]]


def test_a_title_edited_in_the_store_is_noticed(store, cache):
    search_all(store, ALL_QA, 4, cache=cache)
    store.similarity_search("Texts are cut into tokens.", k=1)[0].metadata["title"] = "Words"
    results = search_all(store, ALL_QA, 4, cache=cache)
    assert results.changed == "documents since the last search: 1 changed (doc_003)"


def test_several_changes_are_said_at_once(letters, cache):
    search_all(built(DOCS, letters), ALL_QA, 3, cache=cache)
    docs = [DOCS[0], DOCS[1] | {"content": "Another text."}, DOCS[3], MORE[0]]
    assert search_all(built(docs, letters), ALL_QA, 3, cache=cache).changed == (
        "documents since the last search: "
        "1 added (doc_011), 1 removed (doc_003), 1 changed (doc_002)"
    )


def test_many_changes_are_counted(letters, cache):
    docs = [{"doc_id": f"d{i:02}", "title": "", "content": f"text {i}"} for i in range(20)]
    search_all(built(docs[:8], letters), ALL_QA, 3, cache=cache)
    assert search_all(built(docs, letters), ALL_QA, 3, cache=cache).changed == (
        "documents since the last search: 12 added (d08, d09, d10, d11, d12 and 7 more)"
    )


def test_another_model_is_noticed_and_said(cache):
    one, other = Letters("one"), Letters("other")
    search_all(built(DOCS, one), ALL_QA, 3, cache=cache)
    results = search_all(built(DOCS, other), ALL_QA, 3, cache=cache)
    assert results.searched == 2
    assert results.changed == (
        "embeddings were Letters(model=one, dimensions=32), now Letters(model=other, dimensions=32)"
    )


def test_a_changed_query_prompt_is_noticed_and_said(cache):
    model = Prompted(query_prompt="query: ")
    store = built(DOCS, model)
    search_all(store, ALL_QA, 3, cache=cache)
    model.query_prompt = "zzzzzzzzzzzzzzzz "
    results = search_all(store, ALL_QA, 3, cache=cache)
    assert (results.searched, results.cached) == (2, 0)
    assert "settings" in results.changed


SETTINGS = "keyword_weight token_pooling max_tokens author_prefix headers_in_text".split()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_changed_setting_of_any_name_is_searched_again(cache, name):
    class Weighted(Letters):
        def embed_query(self, text):
            return super().embed_query(text if getattr(self, name) < 1 else "zzzzzzzz")

    model = Weighted()
    setattr(model, name, 0)
    store = built(DOCS, model)
    before = search_all(store, CUT, 3, cache=cache)
    setattr(model, name, 5)
    after = search_all(store, CUT, 3, cache=cache)
    assert (after.searched, after.cached) == (1, 0)
    assert after != before
    assert "settings" in after.changed


@pytest.mark.parametrize("name", ["api_key", "timeout"])
def test_a_secret_or_a_timeout_may_change(store, letters, cache, name):
    for value in ("one", "other"):
        setattr(letters, name, value)
        results = search_all(store, ALL_QA, 3, cache=cache)
    assert results.cached == 2


@pytest.mark.usefixtures("classes_are_known")
def test_a_model_that_becomes_asymmetric_is_noticed(cache):
    model = Prompted(query_prompt="")
    store = built(DOCS, model)
    search_all(store, ALL_QA, 3, cache=cache)
    model.query_prompt = "zzzzzzzzzzzzzzzz "
    model.forget_calls()
    search_all(store, ALL_QA, 3, cache=cache)
    assert model._singles == [PROBE, *(qa["question"] for qa in ALL_QA)]


def test_other_vectors_of_the_same_texts_are_noticed(cache):
    class Retrained(Letters):
        def _vector(self, text):
            return super()._vector(text)[:: self._direction]

    model = Retrained()
    for model._direction in (1, -1):
        results = search_all(built(DOCS, model), ALL_QA, 3, cache=cache)
    assert (results.searched, results.cached) == (2, 0)
    assert "other vectors" in results.changed


def test_another_order_of_the_documents_is_noticed(letters, cache):
    search_all(built(DOCS, letters), ALL_QA, 3, cache=cache)
    results = search_all(built(DOCS[::-1], letters), ALL_QA, 3, cache=cache)
    assert results.searched == 2
    assert "order" in results.changed


def test_an_earlier_index_is_still_in_the_cache(letters, cache):
    before = search_all(built(DOCS, letters), ALL_QA, 3, cache=cache)
    search_all(built(DOCS + MORE, letters), ALL_QA, 3, cache=cache)
    again = search_all(built(DOCS, letters), ALL_QA, 3, cache=cache)
    assert (again, again.cached, again.changed) == (before, 2, "")


# ---------------------------------------------------------------- ties


def copies(n, text="the same text"):
    return [{"doc_id": f"copy_{i:03}", "title": "", "content": text} for i in range(n)]


def in_order(n):
    return [f"copy_{i:03}" for i in range(n)]


@pytest.fixture(params=["L2", "inner product"])
def copies_between(request, letters):
    """Sixty copies with another document before, in the middle and behind; by either metric."""
    others = [{"doc_id": f"other_{i}", "title": "", "content": f"{'xyz'[i]}" * 9} for i in range(3)]
    docs = [others[0], *copies(30), others[1], *copies(60)[30:], others[2]]
    if request.param == "L2":
        return built(docs, letters)
    documents = to_documents(docs)
    strategies = _import_community("langchain_community.vectorstores.utils").DistanceStrategy
    return _import_community("langchain_community.vectorstores").FAISS.from_texts(
        [document.page_content for document in documents],
        letters,
        metadatas=[document.metadata for document in documents],
        ids=[document.id for document in documents],
        distance_strategy=strategies.MAX_INNER_PRODUCT,
    )


@pytest.mark.parametrize("k", [1, 5, 20, 59])
def test_copies_come_in_the_order_of_the_corpus_in_a_batch(copies_between, k):
    results = search_all(copies_between, queries(40, "the same text"), k)
    assert {tuple(ids(hits)) for hits in results.values()} == {tuple(in_order(k))}


@pytest.mark.parametrize("k", [1, 5, 20, 59])
def test_copies_come_in_the_order_of_the_corpus_for_one_query(copies_between, k):
    assert ids(search_all(copies_between, queries(1, "the same text"), k)["q0"]) == in_order(k)


def test_sixty_copies_and_no_other_document(letters):
    assert ids(search_all(built(copies(60), letters), ALL_QA, 10)["q01"]) == in_order(10)


def test_copies_have_one_score(copies_between):
    hits = search_all(copies_between, queries(40, "the same text"), 60)["q7"]
    assert len({hit["score"] for hit in hits}) == 1


def test_inner_products_are_higher_when_better(letters):
    strategies = _import_community("langchain_community.vectorstores.utils").DistanceStrategy
    store = _import_community("langchain_community.vectorstores").FAISS.from_texts(
        ["aaa", "aab", "bbb"],
        letters,
        metadatas=[{"doc_id": text} for text in ("aaa", "aab", "bbb")],
        distance_strategy=strategies.MAX_INNER_PRODUCT,
    )
    results = search_all(store, [{"query_id": "q", "question": "aaaa"}], 3)
    assert ids(results["q"]) == ["aaa", "aab", "bbb"]
    assert [hit["score"] for hit in results["q"]] == sorted(
        (hit["score"] for hit in results["q"]), reverse=True
    )
    assert (results.score_name, results.lower_is_better) == ("inner product", False)


class Scattered(Letters):
    """Put every text in a direction of its own in 512 dimensions: scores take every value."""

    def __init__(self):
        super().__init__(dimensions=512)

    def _vector(self, text):
        vector = np.random.default_rng(list(text.encode())).normal(size=self.dimensions)
        return (vector / np.linalg.norm(vector)).tolist()


@pytest.mark.parametrize("k", [5, 60])
def test_copies_keep_their_order_whatever_the_score(k):
    store = built(copies(60), Scattered())
    results = search_all(store, queries(1000), k)
    wrong = [query_id for query_id, hits in results.items() if ids(hits) != in_order(k)]
    assert wrong == []


@pytest.mark.parametrize("length", [0.001, 1000])
def test_what_is_noise_goes_by_the_length_of_the_vectors(length):
    class Long(Scattered):
        def _vector(self, text):
            return (length * np.array(super()._vector(text))).tolist()

    # Copies are one tie at any length, and other documents are none.
    results = search_all(built([*copies(20), *DOCS, *MORE], Long()), queries(40), 26)
    for hits in results.values():
        assert [doc_id for doc_id in ids(hits) if doc_id.startswith("copy")] == in_order(20)
        assert len({hit["score"] for hit in hits}) == 7


class Angles(Letters):
    """Read a text as an angle in millionths, and give that direction."""

    def _vector(self, text):
        angle = float(text) / 1e6
        return [np.cos(angle), np.sin(angle)]


# At the angle between query and documents here, a millionth more is 1.6 millionths more distance.
FAR = 927295


def at_angles(angles):
    """A store of documents at these angles, in millionths; d00 comes first in the corpus."""
    docs = [
        {"doc_id": f"d{i:02}", "title": "", "content": f"{angle}"} for i, angle in enumerate(angles)
    ]
    return built(docs, Angles())


def far_queries(n):
    return [{"query_id": f"q{i}", "question": f"{FAR + i}"} for i in range(n)]


@pytest.mark.parametrize("n", [1, 40], ids=["single", "batch"])
def test_scores_that_differ_by_float_noise_are_ties(n):
    # The last is nearest to the query by a millionth, and a tie reaches far past the hits fetched.
    results = search_all(at_angles(i / 40 for i in range(40)), far_queries(n), 5)
    assert ids(results["q0"]) == ["d00", "d01", "d02", "d03", "d04"]


def test_scores_that_differ_by_more_are_no_ties():
    results = search_all(at_angles(i * 20 for i in range(40)), far_queries(1), 5)
    assert ids(results["q0"]) == ["d39", "d38", "d37", "d36", "d35"]


@pytest.mark.parametrize("n", [1, 40], ids=["single", "batch"])
def test_near_scores_that_differ_by_more_than_noise_stay_apart(n):
    # Each is 6.4 millionths nearer than the one before: three times the noise.
    results = search_all(at_angles(i * 4 for i in range(40)), far_queries(n), 5)
    assert {tuple(ids(hits)) for hits in results.values()} == {("d39", "d38", "d37", "d36", "d35")}
    assert len({hit["score"] for hit in results["q0"]}) == 5


@pytest.mark.parametrize("n", [1, 40], ids=["single", "batch"])
def test_a_tie_reaches_no_further_than_noise_from_its_first(n):
    # Neighbours are half the noise apart, the ends of the chain 40 times as far.
    results = search_all(at_angles(i * 0.6 for i in range(80)), far_queries(n), 80)
    for hits in results.values():
        scores = [hit["score"] for hit in hits]
        assert scores == sorted(scores)
        assert len(set(scores)) > 20
        assert max(int(doc_id[1:]) for doc_id in ids(hits)[:5]) >= 78
        assert min(int(doc_id[1:]) for doc_id in ids(hits)[:5]) >= 70


@pytest.mark.parametrize("k", [2, 3, 20])
def test_a_tie_that_begins_at_rank_k_is_fetched_to_its_end(k):
    # k - 1 documents lie nearer, far from each other; then 60 are equal but for noise, the last of
    # the corpus nearest.
    nearer = [100 * (k - i) for i in range(k - 1)]
    store = at_angles([*(i / 60 for i in range(60)), *nearer])
    found = ids(search_all(store, far_queries(1), k)["q0"])
    assert found == [*(f"d{60 + i}" for i in range(k - 1)), "d00"]


def test_ties_are_grouped_by_their_first():
    scores = np.array([[0.0, 0.5, 0.9, 1.4, 1.5, 9.0], [0.0, 0.0, 3.0, 3.5, 4.5, 4.5]])
    ties, shared = group_ties(scores, np.array([1.0, 0.5]))
    assert ties.tolist() == [[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2]]
    assert shared.tolist() == [[0, 0, 0, 1.4, 1.4, 9], [0, 0, 3, 3, 4.5, 4.5]]


def test_falling_scores_are_grouped_alike():
    ties, shared = group_ties(np.array([[9.0, 8.5, 8.0, 7.4]]), np.array([1.0]))
    assert (ties.tolist(), shared.tolist()) == ([[0, 0, 0, 1]], [[9, 9, 9, 7.4]])


def test_a_batch_gives_what_single_searches_give(tmp_path):
    store = built([*copies(20), *DOCS, *MORE], Scattered())
    batch = search_all(store, queries(60), 22, cache=tmp_path / "cache.db")
    single = {
        qa["query_id"]: ids(search_all(store, [qa], 22)[qa["query_id"]]) for qa in queries(60)
    }
    assert {query_id: ids(hits) for query_id, hits in batch.items()} == single


def test_a_normalised_store_compares_directions():
    class Longer(Letters):
        def _vector(self, text):
            return (3 * np.array(super()._vector(text))).tolist()

    faiss_store = _import_community("langchain_community.vectorstores").FAISS
    texts = ["aaa", "aab", "bbb"]
    store = faiss_store.from_texts(
        texts, Longer(), metadatas=[{"doc_id": text} for text in texts], normalize_L2=True
    )
    hits = search_all(store, [{"query_id": "q", "question": "aaaa"}], 3)["q"]
    assert ids(hits) == texts
    assert [hit["score"] for hit in hits] == pytest.approx([0, 2 - 4 / 5**0.5, 2], abs=2e-5)


def test_a_store_that_compares_directions_is_another_index(cache):
    class Longer(Letters):
        def embed_query(self, text):
            return (3 * np.array(super().embed_query(text))).tolist()

    stores = [built(DOCS, Longer()) for _ in range(2)]
    stores[1]._normalize_L2 = True  # its documents have length 1 already
    with pytest.warns(UserWarning, match="a question's has 3"):
        first, second = (search_all(store, CUT, 1, cache=cache) for store in stores)
    assert (second.searched, second.cached) == (1, 0)
    assert second["q01"][0]["score"] < first["q01"][0]["score"]


class Zeros(Letters):
    def _vector(self, text):
        return [0.0] * self.dimensions if "nothing" in text else super()._vector(text)


@pytest.mark.parametrize("n", [1, 3])
def test_a_question_whose_vector_is_zero_is_refused_by_name_and_not_kept(cache, n):
    store, all_qa = built(DOCS, Zeros()), queries(n, "about nothing")
    with pytest.raises(
        ValueError, match=r"All numbers are 0 in the vector of the question about nothing number 0"
    ):
        search_all(store, all_qa, 2, cache=cache)
    store.embedding_function = Letters()  # the server is well again
    assert search_all(store, all_qa, 2, cache=cache).searched == n


def langchain_made(vectors, model, strategy="EUCLIDEAN_DISTANCE", **options):
    """A store that LangChain made of these vectors, under the ids a, b, c, ..."""
    names = list("abcdefg"[: len(vectors)])
    strategies = _import_community("langchain_community.vectorstores.utils").DistanceStrategy
    return _import_community("langchain_community.vectorstores").FAISS.from_embeddings(
        list(zip(names, vectors, strict=True)),
        model,
        metadatas=[{"doc_id": name} for name in names],
        distance_strategy=strategies[strategy],
        **options,
    )


def test_a_stored_document_whose_vector_is_zero_is_refused_by_name():
    store = langchain_made([[1, 0], [0, 0], [0, 1]], Plane())
    with pytest.raises(ValueError, match=r"All numbers are 0 in the vector of the document b\b"):
        search_all(store, CUT, 2)


# ---------------------------------------------------------------- what is called cosine


class Plane(Letters):
    """Two dimensions: every question is (1, 0.2), times a length."""

    def __init__(self, length=1.0):
        super().__init__(dimensions=2)
        self._length = length

    def _vector(self, text):
        return [self._length, 0.2 * self._length]


APART = [[1, 0], [0, 1], [3, 3]]


def test_a_cosine_that_is_none_is_warned_of():
    # By cosine a, c, b.
    store = langchain_made(APART, Plane(), "COSINE")
    with pytest.warns(UserWarning, match=r"COSINE.*L2.*\(1 to 4\.243\).*normalize_L2=True"):
        results = search_all(store, CUT, 3)
    assert ids(results["q01"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("vectors", "strategy", "options"),
    [
        (APART, "COSINE", {"normalize_L2": True}),
        (APART, "EUCLIDEAN_DISTANCE", {}),
        (APART, "MAX_INNER_PRODUCT", {}),
        ([[2, 0], [0, 2]], "COSINE", {}),
    ],
    ids=["normalised", "distances", "inner products", "one length"],
)
def test_a_store_that_means_what_it_says_is_not_warned_of(vectors, strategy, options):
    store = langchain_made(vectors, Plane(), strategy, **options)
    assert caught(lambda: search_all(store, CUT, 2)) == []


def test_a_normalised_cosine_has_the_order_of_the_cosine():
    store = langchain_made(APART, Plane(), "COSINE", normalize_L2=True)
    assert ids(search_all(store, CUT, 3)["q01"]) == ["a", "c", "b"]


def test_questions_longer_than_the_stored_vectors_of_length_1_are_warned_of(tmp_path):
    made = langchain_made([[3, 0], [0, 2]], Plane(5), normalize_L2=True)
    assert caught(lambda: search_all(made, CUT, 2)) == []
    made.save_local(tmp_path)
    store = type(made).load_local(tmp_path, Plane(5), allow_dangerous_deserialization=True)
    with pytest.warns(
        UserWarning, match=r"length 1 and a question's has 5\.099.*load_local"
    ) as said:
        search_all(store, queries(300), 2)
    assert len(said) == 1


@pytest.mark.parametrize("strategy", ["EUCLIDEAN_DISTANCE", "MAX_INNER_PRODUCT"])
def test_questions_of_the_length_of_the_stored_vectors_are_not_warned_of(strategy):
    unit_length = 1 / np.hypot(1, 0.2)
    store = langchain_made([[1, 0], [0, 1]], Plane(unit_length), strategy)
    assert caught(lambda: search_all(store, CUT, 2)) == []


# ---------------------------------------------------------------- dying, sharing and breaking


class Dying(Letters):
    """Fail in the third batch of queries."""

    def embed_documents(self, texts):
        if len(self._batches) == 3 and texts[0].startswith("question"):
            raise RuntimeError("the kernel died")
        return super().embed_documents(texts)


@pytest.mark.usefixtures("classes_are_known")
def test_a_search_that_dies_in_the_third_batch_keeps_the_first_two(cache):
    model = Dying()
    store = built(DOCS, model)
    with pytest.raises(ValueError, match=r"88 questions \(question number 512.*the kernel died"):
        search_all(store, queries(600), 2, cache=cache)
    model.forget_calls()
    results = search_all(store, queries(600), 2, cache=cache)
    assert [len(batch) for batch in model._batches] == [88]
    assert (results.searched, results.cached) == (88, 512)


def write_and_count(path, word):
    """Search more and more queries; return how many the last search searched and found."""
    store = built(DOCS, Letters())
    for n in range(50, 550, 50):
        found = search_all(store, queries(n, word), 2, cache=path)
    return found.searched, found.cached


PROCESS = f"""
import sys, time
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from pathlib import Path
from test_search import DOCS, Letters, built, queries, search_all, write_and_count

path = Path(sys.argv[1])
letters = Letters()
print(search_all(built(DOCS, letters), queries(20, "early"), 2, cache=path).cached, *letters.calls)
path.with_name("ready").touch()
while not path.with_name("start").exists():
    time.sleep(0.001)
print(*write_and_count(path, "other"))
"""


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    """Search 20 queries here, then in a new process, and then both write to the file at once.

    A class of one's own: found by the vectors of the questions, not by a probe. Return the file, what the other process printed and what the search here counted.
    """
    path = tmp_path_factory.mktemp("shared") / "cache.db"
    search_all(built(DOCS, Letters()), queries(20, "early"), 2, cache=path)
    command = [sys.executable, "-c", PROCESS, str(path)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not path.with_name("ready").exists() and other.poll() is None:
        time.sleep(0.01)
    path.with_name("start").touch()
    here = write_and_count(path, "question")
    printed, error = other.communicate(timeout=60)
    assert other.returncode == 0, error
    return path, printed.splitlines(), here


def test_a_new_process_finds_the_results_in_the_file(two_processes):
    _, printed, _ = two_processes
    assert printed[0] == "20 0 20"


def test_two_processes_write_one_file_at_once(two_processes):
    _, printed, here = two_processes
    assert (printed[1], here) == ("50 450", (50, 450))


@pytest.mark.parametrize("word", ["question", "other"])
def test_what_two_processes_wrote_is_all_there(two_processes, word, monkeypatch):
    monkeypatch.undo()
    path, *_ = two_processes
    assert search_all(built(DOCS, Letters()), queries(500, word), 2, cache=path).cached == 500


def test_four_sessions_make_one_new_file_at_once(tmp_path):
    failed = []

    def open_and_close(path, barrier):
        barrier.wait()
        try:
            Cache(path).close()
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")

    for number in range(25):
        arguments = (tmp_path / f"{number}.db", threading.Barrier(4))
        threads = [threading.Thread(target=open_and_close, args=arguments) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []


def test_a_file_that_is_no_cache_is_named(store, tmp_path):
    (tmp_path / "notes.txt").write_text("these are notes\n" * 100, encoding="utf-8")
    with pytest.raises(ValueError, match=r"notes\.txt cannot be used as a cache .*Delete the file"):
        search_all(store, ALL_QA, 2, cache=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text("utf-8").startswith("these are notes")


def test_a_database_of_another_program_is_named_and_left_alone(store, tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(
        ValueError, match=r"other\.db is an SQLite file, but not a cache of this version"
    ):
        search_all(store, ALL_QA, 2, cache=tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


@pytest.fixture
def written_cache(store, tmp_path):
    search_all(store, queries(300), 4, cache=tmp_path / "cache.db")
    return tmp_path / "cache.db"


def test_a_truncated_cache_is_named(store, written_cache):
    data = written_cache.read_bytes()
    written_cache.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"cache\.db cannot be used as a cache"):
        search_all(store, queries(300), 4, cache=written_cache)


def test_a_cache_broken_inside_is_named(store, written_cache):
    data = written_cache.read_bytes()
    written_cache.write_bytes(data[:4096] + b"x" * (len(data) - 4096))
    with pytest.raises(ValueError, match=r"cache\.db cannot be used as a cache"):
        search_all(store, queries(300), 4, cache=written_cache)


def test_an_empty_file_becomes_a_cache(store, tmp_path):
    (tmp_path / "cache.db").touch()
    search_all(store, ALL_QA, 2, cache=tmp_path / "cache.db")
    assert search_all(store, ALL_QA, 2, cache=tmp_path / "cache.db").cached == 2


# ---------------------------------------------------------------- other stores and retrievers


class WordRetriever(BaseRetriever):
    """Rank documents by the words they share with the question, as BM25 does."""

    documents: list[Document]
    k: int = 4

    def _get_relevant_documents(self, query, *, run_manager):
        words = set(query.lower().split())

        def shared(document):
            return len(words & set(document.page_content.lower().split()))

        return sorted(self.documents, key=shared, reverse=True)[: self.k]


class WordStore(VectorStore):
    """A store without scores."""

    def __init__(self, documents):
        self.retriever = WordRetriever(documents=documents, k=100)

    def similarity_search(self, query, k=4, **kwargs):
        return self.retriever.invoke(query)[:k]

    @classmethod
    def from_texts(cls, texts, embedding, metadatas=None, **kwargs):
        raise NotImplementedError


@pytest.fixture
def in_memory(letters):
    store = InMemoryVectorStore(letters)
    store.add_documents(to_documents(DOCS))
    return store


@pytest.fixture
def retriever():
    return WordRetriever(documents=to_documents(DOCS))


def test_an_in_memory_store_is_searched(in_memory):
    results = search_all(in_memory, CUT, 3)
    expected = in_memory.similarity_search_with_score("how texts are cut", k=3)
    assert [(hit["doc_id"], hit["score"]) for hit in results["q01"]] == [
        (document.metadata["doc_id"], score) for document, score in expected
    ]
    assert sorted(hit["content"] for hit in results["q01"]) == sorted(
        doc["content"] for doc in DOCS if doc["doc_id"] in ids(results["q01"])
    )


def test_an_in_memory_store_has_scores_with_their_direction(in_memory):
    results = search_all(in_memory, ALL_QA, 3)
    assert (results.score_name, results.lower_is_better) == ("score of InMemoryVectorStore", False)
    assert json.loads(json.dumps(results)) == results


def test_a_store_without_scores_is_searched():
    results = search_all(WordStore(to_documents(DOCS)), CUT, 2)
    assert ids(results["q01"])[0] == "doc_003"
    assert len(results["q01"]) == 2
    assert "score" not in results["q01"][0]


def test_a_retriever_is_searched(retriever):
    results = search_all(retriever, CUT, 3)
    assert results["q01"][0] == DOCS[2]
    assert len(results["q01"]) == 3


def test_a_retriever_gives_no_scores(retriever):
    results = search_all(retriever, CUT, 3)
    assert {tuple(hit) for hit in results["q01"]} == {("doc_id", "title", "content")}
    assert (results.score_name, results.lower_is_better, results.index) == (None, None, None)


def test_a_retrievers_table_has_no_scores(retriever):
    assert search_all(retriever, CUT, 3).to_frame()["score"].isna().all()


def test_repr_of_a_retrievers_results(retriever):
    assert repr(search_all(retriever, CUT, 3)).startswith("Results of 1 query, k=3; no scores;")


def test_a_faiss_store_as_retriever_finds_the_same(store):
    found = search_all(store.as_retriever(search_kwargs={"k": 3}), ALL_QA, 3)
    assert {query_id: ids(hits) for query_id, hits in found.items()} == {
        query_id: ids(hits) for query_id, hits in search_all(store, ALL_QA, 3).items()
    }


@pytest.mark.parametrize(("k", "warned"), [(3, False), (4, False), (5, True)])
def test_a_retriever_that_gives_fewer_hits_than_k_is_warned_of(retriever, k, warned):
    said = caught(lambda: search_all(retriever, CUT, k))
    assert ["at most 4 hits" in message for message in said] == [True] * warned


def test_more_hits_than_were_asked_for_are_cut(retriever):
    assert len(search_all(retriever, CUT, 2)["q01"]) == 2


def test_a_retriever_that_finds_nothing_gives_an_empty_list():
    results = search_all(WordRetriever(documents=[]), CUT, 3)
    assert results == {"q01": []}
    assert results.to_frame().empty


def test_a_retriever_is_asked_every_time(retriever):
    search_all(retriever, CUT, 3)
    again = search_all(retriever, CUT, 3)
    assert (again.searched, again.cached) == (1, 0)


@pytest.mark.parametrize("name", ["retriever", "in_memory"])
def test_a_cache_for_what_cannot_be_cached_is_warned_of(request, tmp_path, name):
    searched = request.getfixturevalue(name)
    with pytest.warns(
        UserWarning, match=f"A {type(searched).__name__} cannot be fingerprinted"
    ) as caught:
        search_all(searched, CUT, 3, cache=tmp_path / "cache.db")
    assert caught[0].filename == __file__
    assert not (tmp_path / "cache.db").exists()


def test_fewer_hits_than_k_from_an_approximate_index_are_warned_of(letters):
    store = built(
        [{"doc_id": f"d{n}", "content": "x" * (n % 3 + 1) + str(n)} for n in range(60)], letters
    )
    vectors = store.index.reconstruct_n(0, 60)
    quantizer = faiss.IndexFlatL2(32)
    store.index = faiss.IndexIVFFlat(quantizer, 32, 12)
    store.index.train(vectors)
    store.index.add(vectors)
    said = caught(lambda: search_all(store, CUT, 50))
    assert any("Fewer than 50 hits for q01" in message and "nprobe" in message for message in said)
    store.index.nprobe = 12
    assert caught(lambda: search_all(store, CUT, 50)) == []


def test_an_id_outside_the_metadata_is_taken():
    retriever = WordRetriever(documents=[Document("some text", id="d1")])
    assert search_all(retriever, CUT, 1)["q01"] == [
        {"doc_id": "d1", "title": "", "content": "some text"}
    ]


# ---------------------------------------------------------------- bad input


def test_a_document_without_doc_id_is_refused_with_the_cure():
    retriever = WordRetriever(documents=[Document("some text", metadata={"source": "a.pdf"})])
    with pytest.raises(ValueError, match=r"has no doc_id \(metadata: source; id: None\)") as caught:
        search_all(retriever, CUT, 1)
    assert 'metadata={"doc_id": "doc_001"}' in str(caught.value)


def test_a_document_whose_doc_id_is_a_number_is_refused():
    retriever = WordRetriever(documents=[Document("some text", metadata={"doc_id": 7})])
    with pytest.raises(ValueError, match="doc_id"):
        search_all(retriever, CUT, 1)


@pytest.mark.parametrize("k", [0, -1, True, False, 2.5, 2.0, "3", None])
def test_a_k_that_is_no_positive_integer_is_refused(store, k):
    with pytest.raises(ValueError, match=f"k must be a positive integer such as 5, found {k!r}"):
        search_all(store, ALL_QA, k)


def test_a_numpy_integer_is_a_k(store):
    assert len(search_all(store, ALL_QA, np.int64(2))["q01"]) == 2


@pytest.mark.parametrize("field", ["query_id", "question"])
def test_a_missing_field_is_named_where_it_is_missing(store, field):
    broken = {name: value for name, value in ALL_QA[1].items() if name != field}
    with pytest.raises(KeyError, match=f"all_qa, entry 2: the field {field} is missing"):
        search_all(store, [ALL_QA[0], broken], 2)


@pytest.mark.parametrize("field", ["query_id", "question"])
@pytest.mark.parametrize("value", [7, None, float("nan"), ["text"]])
def test_a_field_that_is_no_text_is_named(store, field, value):
    with pytest.raises(
        TypeError, match=f"all_qa, entry 2: {field} must be a text, found {type(value).__name__}"
    ):
        search_all(store, [ALL_QA[0], ALL_QA[1] | {field: value}], 2)


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_named(store, question):
    with pytest.raises(ValueError, match="entry 2: the question is empty"):
        search_all(store, [ALL_QA[0], ALL_QA[1] | {"question": question}], 2)


def test_a_query_id_twice_is_named(store):
    with pytest.raises(ValueError, match="query_id appears twice: q01"):
        search_all(store, [*ALL_QA, ALL_QA[0] | {"question": "Another?"}], 2)


def test_no_query_is_refused(store):
    with pytest.raises(ValueError, match="all_qa is empty"):
        search_all(store, [], 2)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ("data/lecture/ko", "str"),
        (DOCS, "documents"),
        (ALL_QA, "queries"),
        (None, "None"),
        (7, "int"),
        (Letters(), "an embedding model"),
        ({"q01": [{"doc_id": "doc_001"}]}, "results"),
    ],
    ids=["path", "documents", "queries", "None", "number", "model", "results"],
)
def test_something_that_cannot_be_searched_is_named(wrong, found):
    with pytest.raises(TypeError, match=rf"vectorstore must be .*build_vectorstore.*found {found}"):
        search_all(wrong, ALL_QA, 2)


def test_swapped_arguments_are_called_swapped(store):
    with pytest.raises(TypeError, match="swapped"):
        search_all(ALL_QA, store, 2)


def test_documents_in_place_of_queries_are_named(store):
    with pytest.raises(TypeError, match=r"all_qa must be .*documents"):
        search_all(store, DOCS, 2)


@pytest.mark.parametrize("embeddings", [None, len])
def test_a_store_without_an_embedding_model_is_named(store, embeddings):
    store.embedding_function = embeddings
    with pytest.raises(TypeError, match=r"embedding_function must be .*load_embeddings"):
        search_all(store, ALL_QA, 2)


def test_a_store_in_which_an_add_failed_halfway_is_named(store):
    with pytest.raises(ValueError):
        store.add_documents(to_documents(DOCS[:1]), ids=["doc_001"])
    with pytest.raises(ValueError, match=r"vector without a document \(position 4\).*Rebuild"):
        search_all(store, ALL_QA, 2)


@pytest.mark.parametrize("reply", [None, "a text", 7, ["a text"], [None], {"doc_id": "d1"}])
def test_a_model_that_gives_no_documents_is_named(reply):
    from langchain_core.runnables import RunnableLambda

    with pytest.raises(TypeError, match=r"RunnableLambda gave .*list of LangChain documents"):
        search_all(RunnableLambda(lambda question: reply), ALL_QA, 2)


def test_a_bad_query_is_refused_before_anything_is_embedded(store, letters):
    with pytest.raises(ValueError):
        search_all(store, [*ALL_QA, ALL_QA[0]], 2)
    assert letters.calls == (0, 0)


@pytest.mark.parametrize("n", [1, 5])
def test_queries_of_another_width_than_the_index_are_refused(store, letters, n):
    letters.dimensions = 16
    with pytest.raises(
        ValueError,
        match=r"16 numbers for the text .*; a vector of 32 numbers .*rebuild",
    ):
        search_all(store, queries(n), 2)


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_query_with_nan_or_infinity_is_named(n, value):
    class Broken(Letters):
        def _vector(self, text):
            vector = super()._vector(text)
            return [value, *vector[1:]] if text == "question number 0" else vector

    with pytest.raises(
        ValueError, match="NaN or infinite numbers for the question question number 0"
    ):
        search_all(built(DOCS, Broken()), queries(n), 2)


def test_a_vector_too_few_is_refused(store, letters, monkeypatch):
    search_all(store, queries(5), 2)
    monkeypatch.setattr(
        Letters, "embed_documents", lambda self, texts: [self._vector(text) for text in texts[1:]]
    )
    with pytest.raises(ValueError, match="4 vectors for 5 questions"):
        search_all(store, queries(5, "other"), 2)
