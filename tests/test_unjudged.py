"""What unjudged documents could change, against every way in which they could be judged."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import hits, query

from rageval_kit import add_judgements, evaluate, per_query, pool_to_settle, score_bounds

METRICS = ["nDCG", "Precision", "Recall", "RR", "HitRate", "AP"]


def random_case(seed, n_queries=4, depth=5):
    """Queries of which some documents are judged, with the one grade, and two runs."""
    rng = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(9)]
    all_qa, runs = [], {"one": {}, "two": {}}
    for number in range(n_queries):
        known = rng.choice(docs, size=4, replace=False).tolist()
        grades = {doc_id: int(rng.integers(0, 2)) for doc_id in known} | {known[0]: 1}
        all_qa.append(query(grades, f"q{number}", question="?"))
        for run in runs.values():
            run[f"q{number}"] = hits(*rng.permutation(docs)[:depth].tolist())
    return all_qa, runs


def every_judging(qa, *rankings):
    """The query with its unjudged hits judged in every way."""
    unjudged = sorted(
        {hit["doc_id"] for ranking in rankings for hit in ranking} - qa["relevant_doc_ids"].keys()
    )
    for grades in product((0, 1), repeat=len(unjudged)):
        yield {
            **qa,
            "relevant_doc_ids": {
                **qa["relevant_doc_ids"],
                **dict(zip(unjudged, grades, strict=True)),
            },
        }


def values(all_qa, results, metric, k):
    return per_query(all_qa, results, ks=[k], metrics=[metric]).iloc[:, 0].to_numpy()


# ---------------------------------------------------------------- of a score


@pytest.mark.parametrize("metric", METRICS)
def test_at_best_is_the_best_of_every_judging(metric):
    for seed in range(2):
        all_qa, runs = random_case(seed)
        best = [
            max(
                values([judged], {qa["query_id"]: runs["one"][qa["query_id"]]}, metric, 4)[0]
                for judged in every_judging(qa, runs["one"][qa["query_id"]][:4])
            )
            for qa in all_qa
        ]
        bounds = score_bounds(all_qa, runs["one"], k=4, metrics=[metric]).iloc[0]
        assert bounds["at_best"] == pytest.approx(np.mean(best))


@pytest.mark.parametrize("metric", METRICS)
def test_as_irrelevant_is_what_evaluate_says_and_left_out_that_of_what_is_judged(metric):
    all_qa, runs = random_case(7)
    known = {qa["query_id"]: qa["relevant_doc_ids"] for qa in all_qa}
    condensed = {
        q: [hit for hit in ranking if hit["doc_id"] in known[q]]
        for q, ranking in runs["one"].items()
    }
    bounds = score_bounds(all_qa, runs["one"], k=4, metrics=[metric]).iloc[0]
    assert bounds["as_irrelevant"] == pytest.approx(values(all_qa, runs["one"], metric, 4).mean())
    assert bounds["left_out"] == pytest.approx(values(all_qa, condensed, metric, 4).mean())


def test_a_document_found_again_below_k_does_not_move_up_where_the_unjudged_are_left_out():
    all_qa = [query({"A": 1, "B": 1})]
    results = {"q1": hits("A", "x", "y", "z", "A", "B")}
    bounds = score_bounds(all_qa, results, k=3, metrics=["Recall"])
    assert bounds["left_out"].tolist() == [1.0]  # A, B


def test_the_share_that_is_judged_is_that_of_the_metric():
    all_qa, runs = random_case(3)
    bounds = score_bounds(all_qa, runs["one"], k=4)
    wanted = evaluate(all_qa, runs["one"], metrics=["Judged"], ks=[4]).loc["Judged", 4]
    assert bounds["judged"].tolist() == pytest.approx([wanted] * 5)


def test_where_all_is_judged_the_bounds_are_one():
    all_qa, results = [query({"A": 1, "B": 0})], {"q1": hits("B", "A")}
    bounds = score_bounds(all_qa, results, k=2)
    assert (bounds["judged"] == 1).all()
    assert bounds["as_irrelevant"].equals(bounds["at_best"])
    assert bounds["as_irrelevant"].equals(bounds["left_out"])


def test_a_query_without_a_relevant_document_is_in_no_mean():
    all_qa = [query(["A"]), query([], "q2")]
    bounds = score_bounds(all_qa, {"q1": hits("A"), "q2": hits("B")}, k=1, metrics=["Recall"])
    assert bounds.loc["Recall@1"].tolist() == [1, 1, 1, 1]


def test_several_cutoffs_have_a_row_each():
    all_qa, runs = random_case(5)
    assert score_bounds(all_qa, runs["one"], k=(1, 3), metrics=["nDCG"]).index.tolist() == [
        "nDCG@1",
        "nDCG@3",
    ]


# ---------------------------------------------------------------- of a comparison


def least_difference(all_qa, runs, ahead, other, metric, k):
    """The smallest sum of differences that any judging of the unjudged gives."""
    total = 0.0
    for qa in all_qa:
        q = qa["query_id"]
        both = runs[ahead][q][:k], runs[other][q][:k]
        total += min(
            values([judged], {q: both[0]}, metric, k)[0]
            - values([judged], {q: both[1]}, metric, k)[0]
            for judged in every_judging(qa, *both)
        )
    return total


@pytest.mark.parametrize("metric", ["nDCG", "Precision", "Recall"])
@pytest.mark.parametrize("seed", range(4))
def test_after_the_pool_no_judging_of_the_rest_turns_the_comparison(metric, seed):
    all_qa, runs = random_case(seed, n_queries=5, depth=3)
    pool = pool_to_settle(runs, all_qa, metric, k=3)
    ahead = pool.attrs["ahead"]
    other = next(name for name in runs if name != ahead)
    before = least_difference(all_qa, runs, ahead, other, metric, 3)
    assert pool.attrs["at_worst"] == pytest.approx(before / len(all_qa), abs=1e-9)

    settled = (
        add_judgements(all_qa, pool.assign(grade=0)[["query_id", "doc_id", "grade"]])
        if len(pool)
        else all_qa
    )
    assert pool_to_settle(runs, settled, metric, k=3).empty
    if pool.attrs["difference"] > 0:
        assert least_difference(settled, runs, ahead, other, metric, 3) > 0


def test_it_is_settled_where_all_is_judged():
    all_qa = [query({"A": 1, "B": 0}, question="?")]
    pool = pool_to_settle(
        {"old": {"q1": hits("A", "B")}, "new": {"q1": hits("B", "A")}}, all_qa, k=2
    )
    assert pool.empty
    assert pool.attrs["ahead"] == "old"
    assert pool.attrs["difference"] == pytest.approx(pool.attrs["at_worst"])


def test_a_query_that_both_rank_alike_needs_no_judge():
    all_qa = [query(["A"], "q1", question="?"), query(["A"], "q2", question="?")]
    old = {"q1": hits("X", "Y"), "q2": hits("A", "X")}
    pool = pool_to_settle({"old": old, "new": {**old, "q2": hits("Y", "Z")}}, all_qa, k=2)
    assert set(pool["query_id"]) == {"q2"}


def test_the_run_ahead_may_be_the_second():
    all_qa = [query(["A"], question="?")]
    assert (
        pool_to_settle({"old": {"q1": hits("X")}, "new": {"q1": hits("A")}}, all_qa, k=1).attrs[
            "ahead"
        ]
        == "new"
    )


def test_other_than_two_runs_are_refused():
    all_qa = [query(["A"])]
    with pytest.raises(ValueError, match="exactly two runs, found 3"):
        pool_to_settle({name: {"q1": hits("A")} for name in "abc"}, all_qa)


def test_the_pool_has_the_form_of_a_pool():
    all_qa, runs = random_case(1)
    assert list(pool_to_settle(runs, all_qa)) == ["query_id", "question", "doc_id"]
    assert isinstance(pool_to_settle(runs, all_qa), pd.DataFrame)
