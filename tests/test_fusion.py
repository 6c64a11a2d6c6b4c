"""Fusion: ranx's figures, the worked example, ties, what is missing, and what is refused."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, hits, ids, scored
from langchain_classic.retrievers import EnsembleRetriever

from rageval_kit import Results, build_bm25, fuse, search_all

sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
import fusion as against_ranx

RECORDED = json.loads((Path(against_ranx.__file__).with_suffix(".json")).read_text("utf-8"))

DENSE = {"q1": scored(("A", 0.9), ("B", 0.8), ("C", 0.1))}
BM25 = {"q1": scored(("B", 7.0), ("D", 5.0), ("A", 3.0))}


def fused(*runs, k=10, **options):
    """The fusion of the one query of runs that are called a, b, c, ...: doc_id -> score."""
    named = {name: {"q1": run} for name, run in zip("abc", runs, strict=False)}
    return {hit["doc_id"]: hit["score"] for hit in fuse(named, k, **options)["q1"]}


# ---------------------------------------------------------------- the numbers


@pytest.mark.parametrize("method", against_ranx.METHODS)
def test_scores_are_those_that_ranx_gave(method):
    runs = against_ranx.random_runs(5)
    theirs = RECORDED["scores"][method]
    assert against_ranx.largest_difference(against_ranx.by_kit(runs, method), theirs) < 1e-12


def test_reciprocal_ranks_by_hand():
    assert fused(hits("A", "B"), hits("B", "C")) == {
        "B": 1 / 62 + 1 / 61,
        "A": 1 / 61,
        "C": 1 / 62,
    }


def test_scores_between_0_and_1_by_hand():
    found = fused(DENSE["q1"], BM25["q1"], method="min_max")
    assert found == pytest.approx({"B": 0.875 + 1, "A": 1 + 0, "D": 0.5, "C": 0})
    assert list(found) == ["B", "A", "D", "C"]


def test_distances_are_turned_round():
    near = scored(("A", 0.2), ("B", 0.7), ("C", 1.2))
    assert fused(near, method="min_max") == pytest.approx({"A": 1, "B": 0.5, "C": 0})


def test_the_known_direction_counts_before_the_order():
    run = Results({"q1": scored(("A", 0.5))} | {"q2": scored(("B", 0.5), ("C", 0.5))}, k=2)
    run.lower_is_better = True
    assert fuse({"a": run}, 2, "min_max")["q2"] == scored(("B", 0.0), ("C", 0.0))


def test_weights_multiply_the_points():
    found = fused(hits("A"), hits("B"), weights={"a": 1, "b": 3})
    assert found == {"B": 3 / 61, "A": 1 / 61}


def test_a_weight_of_0_leaves_the_documents_and_takes_the_points():
    assert fused(hits("A"), hits("B"), weights={"a": 0, "b": 1}) == {"B": 1 / 61, "A": 0.0}


def test_one_run_keeps_its_order():
    assert list(fused(hits("C", "A", "B"))) == ["C", "A", "B"]


def test_equal_sums_are_ordered_by_the_best_rank_and_then_by_the_first_run():
    assert list(fused(hits("A", "B"), hits("C", "D"))) == ["A", "C", "B", "D"]
    three = [hits("A", "B", "C"), hits("B", "C", "A"), hits("C", "A", "B")]
    assert len(set(fused(*three).values())) == 1
    assert list(fused(*three)) == ["A", "B", "C"]


def test_k_cuts_the_fusion_and_not_the_runs():
    assert ids(fuse({"a": DENSE, "b": BM25}, k=1)["q1"]) == ["B"]
    assert fuse({"a": DENSE, "b": BM25}, k=1).k == 1


# ---------------------------------------------------------------- what is known


def test_hits_keep_what_any_run_knows_of_the_document():
    dense = {"q1": [{"doc_id": "A", "score": 0.9}]}
    lexical = {"q1": [{"doc_id": "A", "title": "Fruit", "content": "Apples.", "score": 3.0}]}
    (hit,) = fuse({"dense": dense, "bm25": lexical}, k=1)["q1"]
    assert hit == {"doc_id": "A", "title": "Fruit", "content": "Apples.", "score": 2 / 61}


def test_results_know_what_was_fused_and_the_questions():
    first = Results(DENSE, k=3, questions={"q1": "Which?"}, folded={"A#1": "A"})
    results = fuse({"dense": first, "bm25": BM25}, k=3)
    assert results.score_name == "rrf of dense, bm25"
    assert results.lower_is_better is False
    assert results.questions == {"q1": "Which?"}
    assert results.folded == {"A#1": "A"}


@pytest.mark.parametrize("form", ["dict", "table", "ids", "pytrec"])
def test_runs_come_in_any_form(form):
    run = {
        "dict": BM25,
        "table": pd.DataFrame([{"query_id": "q1", **hit} for hit in BM25["q1"]]),
        "ids": {"q1": ["B", "D", "A"]},
        "pytrec": {"q1": {"A": 3.0, "B": 7.0, "D": 5.0}},
    }[form]
    assert ids(fuse({"dense": DENSE, "bm25": run}, k=4)["q1"]) == ["B", "A", "D", "C"]


def test_runs_are_not_changed():
    before = json.dumps([DENSE, BM25])
    fuse({"dense": DENSE, "bm25": BM25}, k=2, method="min_max")
    assert json.dumps([DENSE, BM25]) == before


# ---------------------------------------------------------------- what is missing


def test_a_query_that_a_run_lacks_is_an_error_that_names_both():
    with pytest.raises(ValueError, match=r"'bm25' lacks 1 query: q2.*missing_queries"):
        fuse({"dense": {**DENSE, "q2": hits("A")}, "bm25": BM25}, k=2)


def test_a_query_that_a_run_lacks_may_count_as_nothing_found():
    runs = {"bm25": BM25, "dense": {**DENSE, "q2": hits("A")}}
    results = fuse(runs, k=2, missing_queries="empty")
    assert list(results) == ["q1", "q2"]
    assert results["q2"] == scored(("A", 1 / 61))


def test_a_ranking_that_is_empty_has_found_nothing():
    assert fused(hits("A"), []) == {"A": 1 / 61}
    assert fused(scored(("A", 2.0), ("B", 1.0)), [], method="min_max") == {"A": 1.0, "B": 0.0}
    assert fused([], []) == {}


def test_equal_scores_are_worth_nothing():
    assert fused(scored(("A", 2.0), ("B", 2.0)), method="min_max") == {"A": 0.0, "B": 0.0}
    assert fused(scored(("A", 2.0)), method="min_max") == {"A": 0.0}


@pytest.mark.filterwarnings("error")
def test_scores_and_weights_of_numpy_are_numbers():
    run = scored(("A", np.float32(3)), ("B", np.float32(2)), ("C", np.float16(1)))
    assert fused(run, method="min_max", weights={"a": np.float32(2)}) == {"A": 2, "B": 1, "C": 0}


def test_a_k_deeper_than_a_search_is_warned_of():
    runs = {"dense": Results(DENSE, k=3), "bm25": Results(BM25, k=100)}
    with pytest.warns(UserWarning, match="k=10 is deeper than the search of the run 'dense'.*k=3"):
        fuse(runs, 10)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("runs", "options", "error", "facts"),
    [
        ({}, {}, ValueError, "found none"),
        ([DENSE, BM25], {}, TypeError, "dict of named runs"),
        (DENSE, {}, TypeError, "dict of named runs"),
        ({"a": None}, {}, TypeError, "The run 'a'"),
        ({1: DENSE}, {}, TypeError, "name must be a text"),
        ({"a": DENSE}, {"k": 0}, ValueError, "k must be"),
        ({"a": DENSE}, {"method": "RRF"}, ValueError, "'rrf', 'min_max'"),
        ({"a": DENSE}, {"method": None}, ValueError, "'rrf', 'min_max'"),
        ({"a": DENSE}, {"missing_queries": "zero"}, ValueError, "'error', 'empty'"),
        ({"a": DENSE}, {"weights": [1]}, TypeError, "weights must be a dict"),
        ({"a": DENSE}, {"weights": {"b": 1}}, KeyError, "name no run: b"),
        ({"a": DENSE, "b": BM25}, {"weights": {"a": 1}}, KeyError, "lack a run"),
        ({"a": DENSE}, {"weights": {"a": -1}}, ValueError, "'a' must be 0 or more"),
        ({"a": DENSE}, {"weights": {"a": float("nan")}}, ValueError, "'a' must be 0 or more"),
        ({"a": DENSE}, {"weights": {"a": True}}, ValueError, "'a' must be 0 or more"),
        ({"a": DENSE}, {"weights": {"a": 0}}, ValueError, "All weights are 0"),
        ({"a": {"q1": hits("A", "A")}}, {}, ValueError, "'a': q1: .*'A' appears twice.*rank 2"),
        ({"a": {"q1": hits("A")}}, {"method": "min_max"}, ValueError, "'a', q1, rank 1.*rrf"),
        ({"a": {"q1": scored(("A", float("inf")))}}, {"method": "min_max"}, ValueError, "inf"),
        ({"a": {"q1": scored(("A", float("nan")))}}, {}, ValueError, "'a'.*NaN"),
        ({"a": DENSE, "b": {"q1": hits(1, 2)}}, {}, TypeError, "doc_id is .*integer"),
        ({"a": DENSE, "b": {1: hits("A")}}, {"missing_queries": "empty"}, TypeError, "query_id"),
        ({"a": {"q1": hits("\u00e9")}, "b": {"q1": hits("e\u0301")}}, {}, ValueError, "Unicode"),
    ],
)  # fmt: skip
def test_odd_runs_are_refused_with_what_was_found(runs, options, error, facts):
    with pytest.raises(error, match=facts):
        fuse(runs, **{"k": 2, **options})


def test_scores_that_rise_and_fall_do_not_tell_their_direction():
    run = {"q1": scored(("A", 1.0), ("B", 2.0)), "q2": scored(("A", 2.0), ("B", 1.0))}
    with pytest.raises(ValueError, match=r"'a'.*lower_is_better = True"):
        fuse({"a": run}, 2, "min_max")
    assert ids(fuse({"a": run}, 2)["q1"]) == ["A", "B"]


def test_langchains_ensemble_retriever_gives_the_same_order_by_doc_id():
    first = [{"doc_id": f"d{n}", "content": "red " * (n % 5) + f"w{n}"} for n in range(12)]
    retrievers = [build_bm25(docs) for docs in (first, first[::-2])]
    for retriever in retrievers:
        retriever.k = 12
    both = EnsembleRetriever(retrievers=retrievers, weights=[0.5, 0.5], id_key="doc_id")
    all_qa = [{"query_id": "q1", "question": "red w7 w9"}]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not all documents share a term
        runs = {
            name: search_all(its, all_qa, 12) for name, its in zip("ab", retrievers, strict=True)
        }
    found = [document.metadata["doc_id"] for document in both.invoke("red w7 w9")]
    assert ids(fuse(runs, 12)["q1"]) == found
