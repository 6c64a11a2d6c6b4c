"""Exact or fast: indexes of FAISS's index_factory, what they find of an exact search, and what they cost."""

import subprocess
import sys
import warnings

import faiss
import numpy as np
import pandas as pd
import pytest
from conftest import Letters, hits, scored
from faiss.contrib.evaluation import knn_intersection_measure

from rageval_kit import (
    add_documents,
    agreement,
    build_vectorstore,
    find_duplicates,
    index_costs,
    load_vectorstore,
    save_vectorstore,
    search_all,
)
from rageval_kit.indexes import one_thread, unwritten_settings
from rageval_kit.vectorstore import assemble, to_documents

WIDTH = 16
APPROXIMATE = [
    "HNSW8",
    "IVF4,Flat",
    "IVF4_HNSW8,Flat",
    "PQ4x4",
    "SQ8",
    "PCA8,Flat",
    "PCA8,IVF4,PQ4x4",
]

pytestmark = [
    pytest.mark.usefixtures("new_session", "letters_are_known"),
    pytest.mark.filterwarnings("ignore:index=.* was trained", "ignore:Fewer than"),
]


class Points(Letters):
    """A text is the seed of its vector: no two are near each other by their letters."""

    def __init__(self):
        super().__init__(dimensions=WIDTH)

    def _vector(self, text):
        vector = np.random.default_rng(list(text.encode())).normal(size=WIDTH)
        return (vector / np.linalg.norm(vector)).tolist()


DOCS = [{"doc_id": f"d{n:03}", "title": "", "content": f"page {n}"} for n in range(300)]
ALL_QA = [{"query_id": f"q{n}", "question": f"which {n}?"} for n in range(40)]


@pytest.fixture
def points(classes_are_known):
    return Points()


_trained = {}


def build(points, index, docs=DOCS):
    """A store of one's own; what takes long to train is trained once."""
    if (index, docs[0]["doc_id"], len(docs)) not in _trained:
        made = build_vectorstore(docs, points, index=index).index
        _trained[index, docs[0]["doc_id"], len(docs)] = faiss.serialize_index(made)
    kept = _trained[index, docs[0]["doc_id"], len(docs)]
    return assemble(to_documents(docs), faiss.deserialize_index(kept), points)


def caught(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in seen]


# ---------------------------------------------------------------- building


@pytest.mark.parametrize("index", APPROXIMATE)
def test_the_same_documents_give_the_same_index_and_results(points, index):
    stores = [build_vectorstore(DOCS, points, index=index) for _ in range(2)]
    one, other = (search_all(store, ALL_QA, 10) for store in stores)
    assert one == other
    assert one.index == other.index


@pytest.mark.parametrize("index", APPROXIMATE)
def test_the_scores_are_squared_l2_distances_lower_is_better(points, index):
    found = search_all(build(points, index), ALL_QA, 5)
    assert (found.score_name, found.lower_is_better) == ("squared L2 distance", True)
    for ranking in found.values():
        scores = [hit["score"] for hit in ranking]
        assert scores == sorted(scores)


def test_an_index_that_looks_at_everything_finds_what_the_exact_one_finds(points):
    store = build(points, "IVF4,Flat")
    store.index.nprobe = 4
    assert search_all(store, ALL_QA, 10) == search_all(build(points, "Flat"), ALL_QA, 10)


@pytest.mark.parametrize("index", APPROXIMATE)
def test_the_results_are_those_of_faiss_itself(points, index):
    store = build(points, index)
    questions = np.array([points.embed_query(qa["question"]) for qa in ALL_QA], np.float32)
    scores, positions = store.index.search(questions, 7)
    for row, ranking in enumerate(search_all(store, ALL_QA, 7).values()):
        assert {hit["doc_id"] for hit in ranking} == {
            f"d{at:03}" for at in positions[row] if at >= 0
        }
        assert [hit["score"] for hit in ranking] == pytest.approx(
            [score for score, at in zip(scores[row], positions[row], strict=True) if at >= 0],
            abs=1e-5,
        )


def test_too_few_documents_to_train_are_refused_with_the_cure(points):
    with pytest.raises(ValueError, match="IVF500,Flat.* 500 centroids.* 300 documents.*IVF7,Flat"):
        build(points, "IVF500,Flat")


def test_few_documents_to_train_are_warned_of_once_and_not_on_standard_error(points, capfd):
    said = caught(lambda: build_vectorstore(DOCS, points, index="PQ4x4"))
    assert len(said) == 1
    assert all(word in said[0] for word in ("PQ4x4", "16 centroids", "300 documents", "624"))
    assert capfd.readouterr().err == ""


def test_enough_documents_to_train_are_not_warned_of(points):
    assert caught(lambda: build_vectorstore(DOCS, points, index="IVF4,Flat")) == []


def test_the_threads_of_faiss_are_as_many_as_before(points):
    before = faiss.omp_get_max_threads()
    build_vectorstore(DOCS, points, index="HNSW8")
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert faiss.omp_get_max_threads() == before


@pytest.mark.parametrize(
    ("index", "what"),
    [
        ("foo", "'foo'"),
        ("", "index_factory"),
        ("PQ7", "must divide 16"),
        ("IVF99999999999999999,Flat", "IVF9999"),
        ("LSH", "numbers of bits"),
        ("IDMap,Flat", "add_with_ids"),
        # These would end Python, or fail when they are searched.
        ("HNSW0", "with 0"),
        ("IVF4_HNSW1,Flat", "with HNSW1"),
        ("PQ4x0", "with 0"),
        ("IVF0,Flat", "with 0"),
    ],
)
def test_an_index_that_cannot_be_is_refused_by_its_text(points, index, what):
    with pytest.raises(ValueError) as error:
        build(points, index)
    assert what in str(error.value) and "HNSW32" in str(error.value)


def test_an_index_that_cannot_be_costs_no_more_than_one_text(points):
    with pytest.raises(ValueError):
        build(points, "foo")
    assert sum(map(len, points._batches)) == 1


@pytest.mark.parametrize("index", [None, 32, True, ["Flat"]])
def test_an_index_that_is_no_text_is_refused(points, index):
    with pytest.raises(TypeError, match="index must be a text"):
        build_vectorstore(DOCS, points, index=index)


# ---------------------------------------------------------------- adding, saving, duplicates


@pytest.mark.parametrize("index", APPROXIMATE)
def test_documents_are_added_and_found(points, index):
    store = build(points, index, DOCS[:200])
    add_documents(store, DOCS[200:])
    asked = [{"query_id": "q", "question": "page 250"}]
    assert store.index.ntotal == 300
    assert "d250" in [hit["doc_id"] for hit in search_all(store, asked, 30)["q"]]


def test_documents_added_twice_the_same_way_give_the_same_graph(points):
    stores = [build_vectorstore(DOCS[:200], points, index="HNSW8") for _ in range(2)]
    for store in stores:
        add_documents(store, DOCS[200:])
    assert search_all(stores[0], ALL_QA, 5).index == search_all(stores[1], ALL_QA, 5).index


def test_an_index_that_takes_no_more_is_refused_and_left_as_it_was(points):
    store = build(points, "NSG8", DOCS[:200])
    with pytest.raises(ValueError, match="IndexNSGFlat.*[Rr]ebuild"):
        add_documents(store, DOCS[200:])
    assert len(search_all(store, ALL_QA, 5)) == 40


@pytest.mark.parametrize("index", [*APPROXIMATE, "IVF4,PQ4x4fs"])
def test_a_loaded_store_searches_as_before(points, index, tmp_path):
    store = build(points, index)
    faiss.ParameterSpace().set_index_parameter(store.index, *parameter(index))
    save_vectorstore(store, tmp_path)
    loaded = load_vectorstore(tmp_path, points)
    one, other = search_all(store, ALL_QA, 5), search_all(loaded, ALL_QA, 5)
    assert (one, one.index) == (other, other.index)


def parameter(index):
    return (
        ("nprobe", 3) if "IVF" in index else ("efSearch", 40) if "HNSW" in index else ("verbose", 0)
    )


def test_what_faiss_does_not_write_is_said_when_the_store_is_saved(points, tmp_path):
    store = build(points, "IVF4,Flat")
    assert caught(lambda: save_vectorstore(store, tmp_path)) == []
    store.index.max_codes = 50
    (said,) = caught(lambda: save_vectorstore(store, tmp_path))
    assert "max_codes=50" in said and "load_vectorstore" in said


@pytest.mark.parametrize("index", ["HNSW8", "IVF4,Flat"])
def test_duplicates_are_found_in_an_index_that_keeps_its_vectors(points, index):
    docs = [*DOCS, {"doc_id": "copy", "title": "", "content": "page 7"}]
    copies = find_duplicates(docs, build(points, index, docs))
    assert copies["doc_id"].tolist() == ["copy"]


@pytest.mark.parametrize("index", ["PQ4x4", "SQ8"])
def test_duplicates_are_not_looked_for_in_an_index_of_shorter_vectors(points, index):
    with pytest.raises(ValueError, match='Rebuild.*index="Flat"'):
        find_duplicates(DOCS, build(points, index))


# ---------------------------------------------------------------- parameters of the search


@pytest.mark.parametrize(
    ("index", "name", "value"),
    [
        ("IVF4,Flat", "nprobe", 4),
        ("IVF4,Flat", "max_codes", 50),
        ("PCA8,IVF4,PQ4x4", "nprobe", 4),
        ("HNSW8", "efSearch", 200),
        ("Flat,RFlat", "k_factor_rf", 5),
    ],
)
def test_a_parameter_of_the_search_is_part_of_what_results_are_known_by(points, index, name, value):
    store = build(points, index)
    first = search_all(store, ALL_QA, 5)
    faiss.ParameterSpace().set_index_parameter(store.index, name, value)
    again = search_all(store, ALL_QA, 5)
    assert first.index != again.index
    assert (again.searched, again.cached) == (40, 0)


def test_an_attribute_of_the_index_is_such_a_parameter(points):
    graph, lists = build(points, "HNSW8"), build(points, "IVF4,Flat")
    before = [search_all(store, ALL_QA, 5).index for store in (graph, lists)]
    graph.index.hnsw.efSearch, lists.index.nprobe = 64, 2
    assert all(
        search_all(store, ALL_QA, 5).index != index
        for store, index in zip((graph, lists), before, strict=True)
    )


def test_settings_at_their_usual_values_are_not_told():
    flat = faiss.index_factory(8, "IVF4,Flat")
    assert unwritten_settings(flat) == {}
    graph = faiss.index_factory(8, "HNSW8")
    graph.hnsw.search_bounded_queue = False
    assert unwritten_settings(graph) == {"search_bounded_queue": False}


def test_a_graph_is_searched_again_for_another_k(points, tmp_path):
    store, cache = build(points, "HNSW8"), tmp_path / "cache.sqlite"
    deep = search_all(store, ALL_QA, 100, cache=cache)
    assert search_all(store, ALL_QA, 10, cache=cache).searched == 40
    assert search_all(store, ALL_QA, 10, cache=cache).searched == 0
    assert search_all(store, ALL_QA, 10) == search_all(build(points, "HNSW8"), ALL_QA, 10)
    assert search_all(store, ALL_QA, 100) == deep


def test_an_exact_index_serves_a_smaller_k_from_a_deeper_search(points):
    store = build(points, "Flat")
    search_all(store, ALL_QA, 100)
    assert search_all(store, ALL_QA, 10).searched == 0


# ---------------------------------------------------------------- agreement


@pytest.mark.parametrize("k", [1, 5, 10])
@pytest.mark.parametrize("index", APPROXIMATE)
def test_the_mean_is_faiss_s_own_intersection_measure(points, index, k):
    exact, fast = build(points, "Flat"), build(points, index)
    questions = np.array([points.embed_query(qa["question"]) for qa in ALL_QA], np.float32)
    expected = knn_intersection_measure(
        exact.index.search(questions, k)[1], fast.index.search(questions, k)[1]
    )
    found = agreement(search_all(exact, ALL_QA, k), search_all(fast, ALL_QA, k), k)
    assert found[f"Agreement@{k}"].mean() == pytest.approx(expected, abs=1e-12)


def test_agreement_at_1_is_1_recall_at_1(points):
    """The share of questions whose nearest neighbour comes first, as the tests of FAISS count it."""
    exact, fast = build(points, "Flat"), build(points, "PQ4x4")
    questions = np.array([points.embed_query(qa["question"]) for qa in ALL_QA], np.float32)
    nearest = exact.index.search(questions, 1)[1]
    expected = (fast.index.search(questions, 1)[1] == nearest).mean()
    found = agreement(search_all(exact, ALL_QA, 1), search_all(fast, ALL_QA, 1), 1)
    assert found["Agreement@1"].mean() == pytest.approx(expected)


def test_an_exact_search_agrees_with_itself(points):
    found = search_all(build(points, "Flat"), ALL_QA, 10)
    assert (agreement(found, found, 10)["Agreement@10"] == 1).all()


def test_a_row_a_query_by_its_id_in_the_order_of_the_exact_results():
    table = agreement({"q2": hits("A"), "q1": hits("B")}, {"q1": hits("B"), "q2": hits("C")}, 1)
    assert table.index.tolist() == ["q2", "q1"]
    assert table.index.name == "query_id"
    assert table["Agreement@1"].tolist() == [0, 1]


def test_the_order_within_the_first_k_does_not_count():
    assert agreement({"q": hits("A", "B", "C")}, {"q": hits("C", "B", "A")}, 3).iloc[0, 0] == 1


def test_what_stands_below_k_does_not_count():
    assert agreement({"q": hits("A", "B")}, {"q": hits("C", "A")}, 1).iloc[0, 0] == 0


def test_a_document_tied_with_rank_k_counts_as_found_by_its_own_score():
    exact = {"q": scored(("A", 0.1), ("B", 0.2))}
    assert agreement(exact, {"q": scored(("A", 0.1), ("C", 0.2))}, 2).iloc[0, 0] == 1
    assert agreement(exact, {"q": scored(("A", 0.1), ("C", 0.21))}, 2).iloc[0, 0] == 0.5


def test_a_document_tied_with_rank_k_counts_as_found_where_the_exact_search_went_deeper():
    exact = {"q": scored(("A", 0.1), ("B", 0.2), ("C", 0.2), ("D", 0.3))}
    assert agreement(exact, {"q": hits("C", "A")}, 2).iloc[0, 0] == 1
    assert agreement(exact, {"q": hits("D", "A")}, 2).iloc[0, 0] == 0.5


def test_a_tie_above_rank_k_is_no_excuse():
    exact = {"q": scored(("A", 0.1), ("B", 0.2))}
    assert agreement(exact, {"q": scored(("C", 0.1), ("B", 0.2))}, 2).iloc[0, 0] == 0.5


def test_of_copies_any_counts_as_found(points):
    docs = [{"doc_id": f"c{n}", "title": "", "content": f"page {n // 20}"} for n in range(200)]
    exact, lists = build(points, "Flat", docs), build(points, "IVF2,Flat", docs[::-1])
    lists.index.nprobe = 2
    one, other = (search_all(store, ALL_QA, 5) for store in (exact, lists))
    assert one != other
    assert (agreement(one, other, 5)["Agreement@5"] == 1).all()


def test_a_corpus_smaller_than_k_can_be_found_whole():
    assert agreement({"q": hits("A", "B")}, {"q": hits("B", "A")}, 10).iloc[0, 0] == 1


def test_a_query_without_exact_hits_has_no_share():
    assert np.isnan(
        agreement({"q": [], "p": hits("A")}, {"q": hits("A"), "p": hits("A")}, 1).iloc[0, 0]
    )


def test_a_query_without_other_results_is_0_and_named():
    with pytest.warns(UserWarning, match="1 query.*: q2"):
        table = agreement({"q1": hits("A"), "q2": hits("B")}, {"q1": hits("A")}, 1)
    assert table["Agreement@1"].tolist() == [1, 0]


def test_a_query_without_exact_results_is_left_out_and_named():
    with pytest.warns(UserWarning, match="left out: q2"):
        table = agreement({"q1": hits("A")}, {"q1": hits("A"), "q2": hits("B")}, 1)
    assert table.index.tolist() == ["q1"]


def test_results_of_other_queries_are_refused():
    with pytest.raises(ValueError, match="not one query in common: q1 and q2"):
        agreement({"q1": hits("A")}, {"q2": hits("A")}, 1)


def test_a_k_deeper_than_the_search_is_warned_of(points):
    found = search_all(build(points, "Flat"), ALL_QA, 5)
    with pytest.warns(UserWarning, match="k=10 is deeper.* k=5"):
        agreement(found, found, 10)


@pytest.mark.parametrize(
    ("other", "error", "what"),
    [
        ({"q": hits(1)}, TypeError, "doc_id is text in 'exact', integer in 'other'"),
        ({1: hits("\u00e9")}, TypeError, "query_id is text in 'exact', integer in 'other'"),
        ({"q": hits("e\u0301")}, ValueError, "NFC and NFD"),
    ],
)
def test_ids_that_could_never_match_are_refused(other, error, what):
    with pytest.raises(error, match=what):
        agreement({"q": hits("\u00e9")}, other, 1)


def test_results_may_be_tables():
    table = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["A", "B"], "rank": [1, 2]})
    assert agreement(table, {"q": hits("B", "C")}, 2).iloc[0, 0] == 0.5


@pytest.mark.parametrize("k", [0, -1, True, 2.5, "3", None])
def test_a_k_that_is_none_is_refused(k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        agreement({"q": hits("A")}, {"q": hits("A")}, k)


@pytest.mark.parametrize("wrong", [None, 5, "q1", [1]])
def test_what_is_no_results_is_refused(wrong):
    for pair in ((wrong, {"q": hits("A")}), ({"q": hits("A")}, wrong)):
        with pytest.raises(TypeError, match="results"):
            agreement(*pair, 1)


# ---------------------------------------------------------------- what an index costs


@pytest.fixture(scope="module")
def costs():
    points = Points()
    stores = {text: build(points, text) for text in ("Flat", "SQ8", "PQ4x4", "HNSW8")}
    return index_costs(stores, ALL_QA, k=5)


def test_costs_are_a_row_a_store_beside_the_exact_one(costs):
    assert costs.index.tolist() == ["Flat", "SQ8", "PQ4x4", "HNSW8"]
    assert costs.loc["Flat", "Agreement@5"] == 1
    assert costs.loc["PQ4x4", "Agreement@5"] < costs.loc["SQ8", "Agreement@5"] <= 1


def test_bytes_are_those_of_the_written_index(points, costs):
    assert costs.loc["Flat", "bytes"] == len(faiss.serialize_index(build(points, "Flat").index))
    assert costs.loc["Flat", "bytes_per_vector"] == pytest.approx(4 * WIDTH, abs=1)
    assert costs.loc["HNSW8", "bytes"] > costs.loc["Flat", "bytes"] > costs.loc["SQ8", "bytes"]


def test_milliseconds_are_measured(costs):
    assert (costs["ms_per_query"] > 0).all()


def test_costs_agree_with_agreement(points, costs):
    exact, fast = (search_all(build(points, text), ALL_QA, 5) for text in ("Flat", "PQ4x4"))
    assert costs.loc["PQ4x4", "Agreement@5"] == agreement(exact, fast, 5)["Agreement@5"].mean()


def test_questions_are_embedded_once_for_all_stores(points):
    stores = {text: build(points, text) for text in ("Flat", "SQ8")}
    points.forget_calls()
    index_costs(stores, ALL_QA, k=5)
    asked = [text for batch in points._batches for text in batch] + points._singles
    assert sum(text.startswith("which") for text in asked) == len(ALL_QA)


def test_costs_at_a_k_beyond_the_corpus_take_no_more_memory(points):
    table = index_costs({"Flat": build(points, "Flat")}, ALL_QA[:2], k=10**12)
    assert table[f"Agreement@{10**12}"].tolist() == [1.0]


def test_the_first_store_must_be_exact(points):
    with pytest.raises(ValueError, match="PQ.*not exact"):
        index_costs({"PQ": build(points, "PQ4x4"), "Flat": build(points, "Flat")}, ALL_QA)


def test_stores_of_other_documents_are_refused(points):
    with pytest.raises(ValueError, match="other documents"):
        index_costs({"Flat": build(points, "Flat"), "few": build(points, "SQ8", DOCS[:99])}, ALL_QA)


@pytest.mark.parametrize("stores", [None, {}, [], {"a": 5}])
def test_what_are_no_stores_is_refused(stores):
    with pytest.raises(TypeError):
        index_costs(stores, ALL_QA)


def test_what_else_stands_on_standard_error_is_not_lost():
    code = (
        "import os, sys\n"
        "from rageval_kit.indexes import _warned_of_training\n"
        "with _warned_of_training('x'):\n"
        "    os.write(2, b'something else')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "something else" in run.stderr
