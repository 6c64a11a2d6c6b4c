"""The policies, the averages and the metrics beyond the five: worked figures, and trec_eval on random cases."""

import functools
import math
import random
import re
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from conftest import hits, merged, query, scores_of

from rageval_kit import (
    Results,
    caption,
    check_results,
    evaluate,
    mrr,
    ndcg,
    per_query,
    validate_dataset,
)

quiet = pytest.mark.filterwarnings("ignore::UserWarning")


def cell(metric, relevant, ranking, **policies):
    """The one number of one query, such as that of AP@3."""
    return per_query([query(relevant)], {"q1": hits(*ranking)}, metrics=[metric], **policies).iloc[
        0, 0
    ]


def mean(metric, all_qa, results, **options):
    """The one average, such as that of Recall@3."""
    return evaluate(all_qa, results, metrics=[metric], **options).iloc[0, 0]


# ---------------------------------------------------------------- nine documents, four queries: policies.json

CORPUS = [f"D{i}" for i in range(1, 10)]
ALL_QA = [
    query(["D1", "D2", "D3"], "q1"),
    query(["D4"], "q2"),
    query(["D5", "D6"], "q3"),
    query([], "q4"),
]
RESULTS = {
    "q1": hits("D7", "D1", "D8", "D2", "D3"),
    "q2": hits("D8", "D7", "D4", "D9", "D1"),
    "q3": hits("D9", "D8", "D7", "D6", "D5"),
    "q4": hits("D1", "D2", "D3"),
}
EXPECTED = {
    "Recall@3": {"q1": "1/3", "q2": "1", "q3": "0"},
    "Recall@5": {"q1": "1", "q2": "1", "q3": "1"},
    "RR@3": {"q1": "1/2", "q2": "1/3", "q3": "0"},
    "RR@5": {"q1": "1/2", "q2": "1/3", "q3": "1/4"},
}
FIRST_RELEVANT_RANK = {3: {"q1": 2, "q2": 3, "q3": None}, 5: {"q1": 2, "q2": 3, "q3": 4}}
AVERAGES = {
    3: {"mean_recall": 0.444444, "pooled_recall": 0.333333, "mrr": 0.277778},
    5: {"mean_recall": 1.0, "pooled_recall": 1.0, "mrr": 0.361111},
}


@pytest.mark.parametrize("column", EXPECTED)
@pytest.mark.parametrize("query_id", ["q1", "q2", "q3"])
def test_value_of_a_query_is_the_exact_fraction(column, query_id):
    table = per_query(ALL_QA, RESULTS, metrics=[column])
    assert table.loc[query_id, column] == float(Fraction(EXPECTED[column][query_id]))


@pytest.mark.parametrize("column", EXPECTED)
def test_the_query_without_relevant_document_is_excluded(column):
    table = per_query(ALL_QA, RESULTS, metrics=[column])
    assert table.index[table[column].isna()].tolist() == ["q4"]


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("query_id", ["q1", "q2", "q3"])
def test_first_relevant_rank_is_1_over_the_reciprocal_rank(k, query_id):
    value = mrr(ALL_QA, RESULTS, ks=k).loc[query_id, f"RR@{k}"]
    assert (round(1 / value) if value else None) == FIRST_RELEVANT_RANK[k][query_id]


@pytest.mark.parametrize(("query_id", "expected"), [("q1", 1), ("q2", 1), ("q3", 0)])
def test_relevant_hits_in_the_first_3(query_id, expected):
    assert (
        per_query(ALL_QA, RESULTS, metrics=["Precision@3"]).loc[query_id, "Precision@3"]
        == expected / 3
    )


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("function", [per_query, evaluate])
def test_counts_of_evaluated_and_excluded(function, k):
    attrs = function(ALL_QA, RESULTS, ks=k).attrs
    assert (attrs["evaluated"], attrs["excluded"]) == (3, 1)


@pytest.mark.parametrize("k", [3, 5])
def test_mean_recall(k):
    assert round(mean(f"Recall@{k}", ALL_QA, RESULTS), 6) == AVERAGES[k]["mean_recall"]


@pytest.mark.parametrize("k", [3, 5])
def test_pooled_recall(k):
    assert (
        round(mean(f"Recall@{k}", ALL_QA, RESULTS, average="pooled"), 6)
        == AVERAGES[k]["pooled_recall"]
    )


@pytest.mark.parametrize("k", [3, 5])
def test_mean_reciprocal_rank(k):
    assert round(mean(f"MRR@{k}", ALL_QA, RESULTS), 6) == AVERAGES[k]["mrr"]


EMPTY_RANKING = [query(["D1"])], {"q1": []}
ALL_EXCLUDED = [query([])], {"q1": hits("D1", "D2", "D3")}
averages = pytest.mark.parametrize("average", ["macro", "pooled"])


@averages
@pytest.mark.parametrize("metric", ["Recall@3", "MRR@3"])
def test_an_empty_ranking_scores_0(metric, average):
    assert mean(metric, *EMPTY_RANKING, average=average) == 0.0


def test_an_empty_ranking_is_evaluated():
    attrs = evaluate(*EMPTY_RANKING, ks=3).attrs
    assert (attrs["evaluated"], attrs["excluded"]) == (1, 0)


@averages
@pytest.mark.parametrize(
    "metric",
    ["HitRate@3", "MRR@3", "nDCG@3", "Precision@3", "Recall@3", "MAP@3", "R-precision", "F1"],
)
def test_the_average_of_none_is_nan(metric, average):
    assert math.isnan(mean(metric, *ALL_EXCLUDED, average=average, ks=3))


def test_the_average_of_none_evaluates_none():
    attrs = evaluate(*ALL_EXCLUDED, ks=3).attrs
    assert (attrs["evaluated"], attrs["excluded"]) == (0, 1)


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
@pytest.mark.parametrize("function", [per_query, evaluate])
def test_a_k_that_is_not_a_positive_integer_is_rejected(function, k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        function(ALL_QA, RESULTS, ks=k)


def test_the_same_query_id_twice_is_rejected():
    with pytest.raises(ValueError, match="query_id appears twice: q1"):
        evaluate([*ALL_QA, query(["D9"], "q1")], RESULTS)


def test_the_same_document_twice_in_a_ranking_is_rejected():
    with pytest.raises(ValueError, match="q2: the document 'D4' appears twice"):
        evaluate(ALL_QA, RESULTS | {"q2": hits("D4", "D8", "D4")})


@quiet
@pytest.mark.parametrize(("duplicates", "expected"), [("unique", 1.0), ("position", 2.0)])
def test_the_same_document_twice_is_taken_when_asked_for(duplicates, expected):
    repeated = RESULTS | {"q2": hits("D4", "D8", "D4")}
    assert (
        per_query(ALL_QA, repeated, metrics=["Recall@3"], duplicates=duplicates).loc["q2"].item()
        == expected
    )


def test_a_relevant_document_that_is_not_in_the_corpus_is_rejected():
    docs = [
        {"doc_id": doc_id, "title": doc_id, "content": f"text of {doc_id}"} for doc_id in CORPUS
    ]
    all_qa = [{"query_id": "q1", "question": "why?", "relevant_doc_ids": ["D44"]}]
    with pytest.raises(ValueError, match="q1 -> D44"):
        validate_dataset(docs, all_qa).raise_if_errors()


def test_a_retrieved_document_that_is_not_in_the_corpus_is_rejected():
    docs = [{"doc_id": doc_id} for doc_id in CORPUS]
    with pytest.raises(ValueError, match="q2: hits that are in no document: D44"):
        check_results(ALL_QA, RESULTS | {"q2": hits("D44", "D4")}, docs).raise_if_errors()


# ---------------------------------------------------------------- macro and pooled

# q1 has 4 relevant documents and finds 1 at rank 1, q2 has 1 and finds it at rank 2.
UNEVEN_QA = [query(["A", "B", "C", "D"], "q1"), query(["E"], "q2")]
UNEVEN = {"q1": hits("A", "x"), "q2": hits("x", "E")}
IDEAL_OF_2 = 1 + 1 / math.log2(3)
MACRO = {
    "HitRate@2": 1.0,
    "MRR@2": (1 + 1 / 2) / 2,
    "nDCG@2": (1 / IDEAL_OF_2 + 1 / math.log2(3)) / 2,
    "Precision@2": (1 / 2 + 1 / 2) / 2,
    "Recall@2": (1 / 4 + 1) / 2,
    "MAP@2": (1 / 4 + 1 / 2) / 2,
    "R-precision": (1 / 4 + 0) / 2,
    "F1@2": (2 / 6 + 2 / 3) / 2,
    "Judged@2": 1 / 2,
    "Unique@2": 2.0,
}
POOLED = {
    "HitRate@2": 1.0,
    "MRR@2": (1 + 1 / 2) / 2,
    "nDCG@2": (1 + 1 / math.log2(3)) / (IDEAL_OF_2 + 1),
    "Precision@2": 2 / 4,
    "Recall@2": 2 / 5,
    "MAP@2": (1 + 1 / 2) / 5,
    "R-precision": 1 / 5,
    "F1@2": (2 + 2) / (6 + 3),
    "Judged@2": 2 / 4,
    "Unique@2": 2.0,
}


@pytest.mark.parametrize(("metric", "expected"), MACRO.items(), ids=MACRO.keys())
def test_macro_average_written_by_hand(metric, expected):
    assert mean(metric, UNEVEN_QA, UNEVEN) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("metric", "expected"), POOLED.items(), ids=POOLED.keys())
def test_pooled_average_written_by_hand(metric, expected):
    assert mean(metric, UNEVEN_QA, UNEVEN, average="pooled") == pytest.approx(expected, abs=1e-15)


@averages
def test_a_query_without_relevant_document_changes_no_average(average):
    more_qa, more = [*UNEVEN_QA, query([], "q3")], UNEVEN | {"q3": hits("A", "B")}
    pd.testing.assert_frame_equal(
        evaluate(more_qa, more, average=average),
        evaluate(UNEVEN_QA, UNEVEN, average=average),
        check_exact=True,
    )


@averages
def test_judged_counts_a_query_without_relevant_document(average):
    all_qa, results = (
        [query(["A"], "q1"), query({"x": 0}, "q2")],
        {"q1": hits("y"), "q2": hits("x")},
    )
    assert mean("Judged@1", all_qa, results, average=average) == 0.5


def test_the_macro_average_is_the_mean_of_the_table():
    metrics = ["HitRate", "RR", "nDCG", "Precision", "Recall", "AP", "F1", "Judged", "Unique"]
    table, summary = per_query(ALL_QA, RESULTS, 3, metrics), evaluate(ALL_QA, RESULTS, 3, metrics)
    np.testing.assert_array_equal(table.mean().to_numpy(), summary[3].to_numpy())


@pytest.mark.parametrize("no_relevant", ["zero", "one"])
def test_a_pooled_average_has_no_place_for_a_made_up_value(no_relevant):
    with pytest.raises(ValueError, match="pooled average sums over relevant documents"):
        evaluate(ALL_QA, RESULTS, average="pooled", no_relevant=no_relevant)


def test_an_unknown_average_is_refused():
    with pytest.raises(
        ValueError, match=r'average=\'micro\' is not known\. Choose "macro" or "pooled"'
    ):
        evaluate(ALL_QA, RESULTS, average="micro")


# ---------------------------------------------------------------- no_relevant, for every metric

BY_RELEVANCE = [
    "HitRate@3",
    "RR@3",
    "nDCG@3",
    "Precision@3",
    "Recall@3",
    "AP@3",
    "R-precision",
    "F1@3",
]


@pytest.mark.parametrize(
    ("no_relevant", "expected"), [("exclude", np.nan), ("zero", 0.0), ("one", 1.0)]
)
@pytest.mark.parametrize("metric", BY_RELEVANCE)
@pytest.mark.parametrize("relevant", [[], {"D1": 0}, {"D1": -1, "D2": 0}], ids=repr)
def test_no_relevant_document_gives_the_value_of_the_policy(
    relevant, metric, no_relevant, expected
):
    np.testing.assert_equal(cell(metric, relevant, ["D1", "D2"], no_relevant=no_relevant), expected)


@pytest.mark.parametrize("no_relevant", ["exclude", "zero", "one"])
@pytest.mark.parametrize(("metric", "expected"), [("Judged@2", 0.5), ("Unique@2", 2.0)])
def test_what_does_not_hang_on_relevance_follows_no_policy(metric, expected, no_relevant):
    assert cell(metric, {"D1": 0}, ["D1", "D2"], no_relevant=no_relevant) == expected


@pytest.mark.parametrize("metric", [*BY_RELEVANCE, "Judged@3", "Unique@3"])
def test_no_relevant_error_refuses(metric):
    with pytest.raises(ValueError, match="No relevant document for q4"):
        per_query(ALL_QA, RESULTS, metrics=[metric], no_relevant="error")


# ---------------------------------------------------------------- gain


def test_exponential_gain_written_by_hand():
    # Grades 3, 2, 0 at the ranks 2, 1, 3 and a 1 that was not found.
    dcg = (2**2 - 1) / math.log2(2) + (2**3 - 1) / math.log2(3)
    idcg = (2**3 - 1) / math.log2(2) + (2**2 - 1) / math.log2(3) + (2**1 - 1) / math.log2(4)
    value = cell("nDCG@3", {"A": 3, "B": 2, "C": 0, "D": 1}, "BAC", gain="exponential")
    assert value == pytest.approx(dcg / idcg, abs=1e-15)


def test_exponential_gain_of_binary_relevance_is_the_linear_one():
    exponential = ndcg(ALL_QA, RESULTS, gain="exponential")
    np.testing.assert_array_equal(exponential, ndcg(ALL_QA, RESULTS, gain="linear"))


def test_exponential_gain_of_a_fraction():
    assert cell("nDCG@2", {"A": 0.5, "B": 1}, "A", gain="exponential") == pytest.approx(
        (2**0.5 - 1) / (1 + (2**0.5 - 1) / math.log2(3)), abs=1e-15
    )


@pytest.mark.parametrize("grade", [0, -1, -5])
def test_exponential_gain_of_what_is_not_relevant_is_0(grade):
    assert cell("nDCG@2", {"A": grade, "B": 1}, "AB", gain="exponential") == pytest.approx(
        1 / math.log2(3), abs=1e-15
    )


@pytest.mark.parametrize(
    "metric", ["HitRate@3", "RR@3", "Precision@3", "Recall@3", "AP@3", "R-precision", "F1@3"]
)
def test_the_gain_concerns_no_other_metric(metric):
    relevant = {"A": 3, "B": 2, "C": 1}
    assert cell(metric, relevant, "xBA", gain="exponential") == cell(metric, relevant, "xBA")


def test_an_unknown_gain_is_refused():
    with pytest.raises(
        ValueError, match=r"gain='log' is not a policy\. Choose one of: 'linear', 'exponential'"
    ):
        ndcg(ALL_QA, RESULTS, gain="log")


# ---------------------------------------------------------------- the metrics argument


@pytest.mark.parametrize(
    ("metrics", "columns"),
    [
        (["nDCG@10", "RR@10", "Recall@100"], ["nDCG@10", "RR@10", "Recall@100"]),
        (["nDCG", "Recall"], ["nDCG@1", "nDCG@3", "Recall@1", "Recall@3"]),
        (["nDCG@10", "Recall"], ["nDCG@10", "Recall@1", "Recall@3"]),
        (["MRR", "MAP@5"], ["RR@1", "RR@3", "AP@5"]),
        (["R-precision", "F1@2"], ["R-precision", "F1@2"]),
        (["Judged@10", "Unique@10"], ["Judged@10", "Unique@10"]),
        (["RR@3", "MRR@3", "RR"], ["RR@3", "RR@1"]),
        (("nDCG@3",), ["nDCG@3"]),
    ],
    ids=",".join,
)
def test_columns_are_named_as_asked(metrics, columns):
    assert per_query(ALL_QA, RESULTS, ks=(1, 3), metrics=metrics).columns.tolist() == columns


@pytest.mark.parametrize("metric", ["nDCG@2", "RR@2", "Recall@2", "AP@2", "F1@2"])
def test_a_cutoff_in_the_name_is_the_cutoff_of_ks(metric):
    named = per_query(ALL_QA, RESULTS, metrics=[metric])
    pd.testing.assert_frame_equal(
        named, per_query(ALL_QA, RESULTS, ks=2, metrics=[metric.split("@")[0]])
    )


def test_a_column_does_not_depend_on_deeper_ones():
    alone = per_query(ALL_QA, RESULTS, metrics=["AP@2"])
    assert per_query(ALL_QA, RESULTS, metrics=["AP@2", "Recall@100"])["AP@2"].equals(alone["AP@2"])


def test_the_mean_of_rr_is_called_mrr_and_that_of_ap_map():
    summary = evaluate(ALL_QA, RESULTS, ks=3, metrics=["RR", "AP", "MRR@5", "MAP@5"])
    assert summary.index.tolist() == ["MRR", "MAP"]


def test_a_cell_that_was_not_asked_for_is_nan():
    summary = evaluate(ALL_QA, RESULTS, metrics=["nDCG@3", "Recall@5"])
    assert summary.isna().to_numpy().tolist() == [[False, True], [True, False]]


def test_r_precision_stands_in_a_column_r():
    summary = evaluate(ALL_QA, RESULTS, ks=3, metrics=["Recall", "R-precision"])
    assert summary.columns.tolist() == [3, "R"]
    assert summary.loc["R-precision", "R"] == pytest.approx((1 / 3 + 0 + 0) / 3, abs=1e-15)


def test_r_precision_looks_deeper_than_the_cutoffs_of_the_others():
    table = per_query(
        [query(["A", "B", "C"])],
        {"q1": hits("x", "A", "B")},
        ks=1,
        metrics=["HitRate", "R-precision"],
    )
    assert table.loc["q1"].tolist() == [0.0, 2 / 3]


@pytest.mark.parametrize("name", ["", "@10", "(p=0.8)"])
def test_a_name_that_is_none_is_no_metric(name):
    with pytest.raises(ValueError, match="No metric is called"):
        per_query(ALL_QA, RESULTS, metrics=[name])


SUGGESTIONS = {
    "ndcg@10": "nDCG@10",
    "NDCG": "nDCG",
    "P@5": "Precision@5",
    "precision@3": "Precision@3",
    "R@100": "Recall@100",
    "recall": "Recall",
    "Success@5": "HitRate@5",
    "hit_rate@5": "HitRate@5",
    "Hit@5": "HitRate@5",
    "mrr@10": "RR@10",
    "recip_rank": "RR",
    "map@5": "AP@5",
    "f1@3": "F1@3",
    "Rprec": "R-precision",
    "R-Precision": "R-precision",
    "judged@10": "Judged@10",
}


@pytest.mark.parametrize(("name", "suggestion"), SUGGESTIONS.items(), ids=SUGGESTIONS.keys())
def test_an_unknown_name_is_refused_with_a_suggestion(name, suggestion):
    with pytest.raises(
        ValueError, match=f"No metric is called {name!r}. Did you mean {re.escape(suggestion)}\\?"
    ):
        per_query(ALL_QA, RESULTS, metrics=[name])


def test_a_name_like_no_other_is_refused_with_all_names():
    with pytest.raises(
        ValueError, match=r"No metric is called 'xyz'\. There are: HitRate, RR, nDCG, .*Unique\.$"
    ):
        per_query(ALL_QA, RESULTS, metrics=["xyz"])


@pytest.mark.parametrize("name", ["nDCG@", "nDCG@x", "nDCG@-1", "nDCG@1.5", "nDCG@0", "MRR@"])
def test_a_cutoff_that_is_not_a_positive_integer_is_refused(name):
    with pytest.raises(ValueError, match=f"{name}.* positive integer"):
        per_query(ALL_QA, RESULTS, metrics=[name])


def test_a_cutoff_for_r_precision_is_refused():
    with pytest.raises(ValueError, match="R-precision"):
        per_query(ALL_QA, RESULTS, metrics=["R-precision@5"])


@pytest.mark.parametrize("metrics", ["nDCG@10", [], (), None], ids=repr)
def test_metrics_must_be_a_list_of_names(metrics):
    with pytest.raises((TypeError, ValueError), match=r"metrics (must be|is empty).*nDCG@10"):
        per_query(ALL_QA, RESULTS, metrics=metrics)


@pytest.mark.parametrize("metric", [5, None, ("nDCG", 10)], ids=repr)
def test_a_metric_that_is_neither_name_nor_function_is_refused(metric):
    with pytest.raises((TypeError, ValueError), match="metric"):
        per_query(ALL_QA, RESULTS, metrics=[metric])


# ---------------------------------------------------------------- a function of the user's own


def early_share(m):
    """Count the relevant documents in the first k, double on the first two ranks, over twice all relevant."""
    return np.cumsum(m.hits * np.where(m.ranks <= 2, 2.0, 1.0), axis=1), 2.0 * m.n_relevant[:, None]


def test_a_function_of_the_users_own_stands_under_its_name():
    table = per_query(ALL_QA, RESULTS, ks=(2, 5), metrics=["nDCG@5", early_share])
    assert table.columns.tolist() == ["nDCG@5", "early_share@2", "early_share@5"]


def test_a_function_of_the_users_own_gives_its_fraction():
    table = per_query(ALL_QA, RESULTS, ks=(2, 5), metrics=[early_share])
    assert table.loc["q1"].tolist() == [2 / 6, 4 / 6]


def test_a_function_of_the_users_own_follows_the_policy():
    table = per_query(ALL_QA, RESULTS, ks=5, metrics=[early_share])
    assert table.index[table["early_share@5"].isna()].tolist() == ["q4"]


def test_a_function_of_the_users_own_is_averaged():
    expected = np.mean([4 / 6, 1 / 2, 2 / 4])
    assert evaluate(ALL_QA, RESULTS, ks=5, metrics=[early_share]).loc[
        "early_share", 5
    ] == pytest.approx(expected)


def test_a_function_of_the_users_own_is_pooled():
    summary = evaluate(ALL_QA, RESULTS, ks=5, metrics=[early_share], average="pooled")
    assert summary.loc["early_share", 5] == pytest.approx((4 + 1 + 2) / (6 + 2 + 4), abs=1e-15)


def test_a_denominator_of_0_gives_0():
    def by_nothing(m):
        return m.gains, 0.0

    assert per_query(ALL_QA, RESULTS, ks=2, metrics=[by_nothing]).loc["q1"].item() == 0.0


def test_two_functions_of_the_same_name_are_not_mixed_up():
    twice = [lambda m: (m.gains + 1, 1.0), lambda m: (m.gains + 2, 1.0)]
    with pytest.raises(ValueError, match="<lambda>"):
        per_query(ALL_QA, RESULTS, ks=1, metrics=twice)


def test_a_function_called_as_a_metric_of_the_kit_is_not_mixed_up_with_it():
    def own(m):
        return m.gains + 7, 1.0

    own.__name__ = "Recall"
    with pytest.raises(ValueError, match="Recall"):
        per_query(ALL_QA, RESULTS, ks=1, metrics=["Recall", own])


def test_a_function_without_a_name_is_refused_in_words():
    def scaled(m, factor):
        return m.gains * factor, 1.0

    with pytest.raises((TypeError, ValueError), match="name"):
        per_query(ALL_QA, RESULTS, ks=1, metrics=[functools.partial(scaled, factor=2)])


@pytest.mark.parametrize(
    "formula",
    [
        lambda m: (m.gains.sum(), 1.0),
        lambda m: (m.gains[:, :1], 1.0),
        lambda m: (m.gains, np.ones(7)),
    ],
    ids=["a number", "too few ranks", "a denominator of another shape"],
)
def test_a_function_that_returns_something_else_is_told_what_is_wanted(formula):
    formula.__name__ = "own_metric"
    with pytest.raises(ValueError, match=r"own_metric must return an array of shape \(4, 3\)"):
        per_query(ALL_QA, RESULTS, ks=3, metrics=[formula])


def test_a_function_that_returns_one_array_needs_no_denominator():
    def gained(m):
        return m.gains.cumsum(axis=1)

    def gained_over_one(m):
        return m.gains.cumsum(axis=1), 1.0

    table = per_query(ALL_QA, RESULTS, ks=3, metrics=[gained, gained_over_one])
    assert table["gained@3"].equals(table["gained_over_one@3"].rename("gained@3"))


# ---------------------------------------------------------------- metrics beyond the five, by hand


@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, 0), (2, 1 / 2), (3, 1 / 2), (4, 1 / 2 + 2 / 4), (9, 1 / 2 + 2 / 4)],
    ids=lambda v: f"{v:g}",
)
def test_average_precision_divides_by_all_relevant_documents(k, expected):
    assert cell(f"AP@{k}", ["A", "B", "C"], "xAyB") == pytest.approx(expected / 3, abs=1e-15)


def test_average_precision_of_one_of_three_found_at_rank_1():
    assert cell("AP@10", ["A", "B", "C"], "A") == pytest.approx(
        1 / 3, abs=1e-15
    )  # 1.0 where it divides by the found


def test_average_precision_of_a_perfect_ranking_cut_short():
    assert cell("AP@2", ["A", "B", "C"], "ABC") == pytest.approx(2 / 3, abs=1e-15)


@pytest.mark.parametrize(
    ("relevant", "ranking", "expected"),
    [
        ("A", "A", 1),
        ("A", "xA", 0),
        ("AB", "xAB", 1 / 2),
        ("ABC", "AxByC", 2 / 3),
        ("ABC", "A", 1 / 3),
        ("AB", "", 0),
    ],
)
def test_r_precision_is_the_precision_at_the_number_of_relevant_documents(
    relevant, ranking, expected
):
    assert cell("R-precision", list(relevant), ranking) == expected


@pytest.mark.parametrize(("k", "expected"), [(1, 0), (2, 2 / 5), (4, 4 / 7), (8, 4 / 11)])
def test_f1_written_by_hand(k, expected):
    assert cell(f"F1@{k}", ["A", "B", "C"], "xAyB") == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("k", "expected"), [(1, 1), (2, 1 / 2), (3, 2 / 3), (4, 3 / 4), (9, 3 / 4)]
)
def test_judged_divides_by_what_came_back(k, expected):
    assert cell(f"Judged@{k}", {"A": 2, "B": 0, "C": -1, "D": 1}, "AxBC") == expected


def test_judged_of_an_empty_ranking_is_0():
    assert cell("Judged@5", ["A"], "") == 0.0


@pytest.mark.parametrize(("k", "expected"), [(1, 1), (3, 3), (5, 4)])
def test_unique_counts_different_documents(k, expected):
    assert cell(f"Unique@{k}", ["A"], "AxyB") == expected


@pytest.mark.parametrize(
    ("duplicates", "expected"), [("position", [1, 1, 2, 2]), ("unique", [1, 2, 2, 2])]
)
def test_unique_of_repeats(duplicates, expected):
    results = {"q1": hits(*"AAxA")}
    table = per_query(
        [query(["A"])], results, ks=(1, 2, 3, 4), metrics=["Unique"], duplicates=duplicates
    )
    assert table.loc["q1"].tolist() == expected


@pytest.mark.parametrize(
    ("metric", "expected"), [("AP@3", 1 / 2), ("R-precision", 1.0), ("F1@3", 2 * 1 / 4)]
)
def test_repeats_that_are_folded_count_once(metric, expected):
    relevant = ["A", "B"] if metric == "AP@3" else ["A"]
    assert cell(metric, relevant, "AAA", duplicates="unique") == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("metric", "expected"), [("AP@3", 3.0), ("F1@3", 6 / 4), ("Judged@3", 1.0)]
)
def test_repeats_that_count_in_every_slot_inflate(metric, expected):
    assert cell(metric, ["A"], "AAA", duplicates="position") == expected


# ---------------------------------------------------------------- trec_eval on random cases

KS = (1, 2, 3, 5, 10, 20)
N_CASES = 400
TOGETHER = 20
MEASURES = {
    f"{name}.{','.join(map(str, KS))}" for name in ("map_cut", "P", "recall", "ndcg_cut")
} | {"Rprec", "map"}


def random_case(rng):
    """Judgements and scores by query; ties, grades, empty rankings and missing queries among them."""
    docs = [*(f"d{i}" for i in range(1, 26)), "문서1", "é", "Z"]
    grades = rng.choice([(1,), (0, 1), (-1, 0, 1, 2, 3)])
    scores = rng.choice([[step / 8 for step in range(200)], [0.5, 1.0, 2.0]])
    qrels, run = {}, {}
    for query_id in (f"q{i}" for i in range(rng.randint(1, 4))):
        qrels[query_id] = {
            doc_id: rng.choice(grades) for doc_id in rng.sample(docs, rng.randint(1, 12))
        }
        run[query_id] = {
            doc_id: rng.choice(scores) for doc_id in rng.sample(docs, rng.choice([0, 3, 12, 25]))
        }
        if rng.random() < 0.1:
            del run[query_id]
    return qrels, run


def as_qa(qrels):
    return [query(grades, query_id) for query_id, grades in qrels.items()]


@pytest.fixture(scope="module")
def cases():
    rng = random.Random(31)
    return [merged([random_case(rng) for _ in range(TOGETHER)]) for _ in range(N_CASES // TOGETHER)]


def compared_with_trec_eval(cases, metrics, trec_names, transform=int, **policies):
    """Every query's values of the kit and of trec_eval, a row a query; what trec_eval drops scores 0."""
    ours, theirs = [], []
    for qrels, run in cases:
        changed = {
            query_id: {d: transform(g) for d, g in grades.items()}
            for query_id, grades in qrels.items()
        }
        expected = pytrec_eval.RelevanceEvaluator(changed, MEASURES).evaluate(run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # missing queries are named, and many here
            table = per_query(
                as_qa(qrels), scores_of(run), KS, metrics, no_relevant="zero", **policies
            )
        ours.append(table.to_numpy())
        theirs += [[expected.get(q, {}).get(name, 0.0) for name in trec_names] for q in table.index]
    return np.concatenate(ours), np.array(theirs)


@pytest.fixture(scope="module")
def beyond_the_five(cases):
    """The kit's AP, F1 and R-precision, and trec_eval's map_cut, P, recall and Rprec."""
    names = [f"{name}_{k}" for name in ("map_cut", "P", "recall") for k in KS]
    ours, theirs = compared_with_trec_eval(cases, ["AP", "F1", "R-precision"], [*names, "Rprec"])
    return np.split(ours, [len(KS), 2 * len(KS)], axis=1), np.split(
        theirs, [len(KS), 2 * len(KS), 3 * len(KS)], axis=1
    )


def test_average_precision_is_trec_evals_map_cut(beyond_the_five):
    (average_precision, _, _), (map_cut, *_) = beyond_the_five
    np.testing.assert_allclose(average_precision, map_cut, rtol=0, atol=1e-12)


def test_r_precision_is_trec_evals_rprec(beyond_the_five):
    (*_, r_precision), (*_, rprec) = beyond_the_five
    np.testing.assert_allclose(r_precision, rprec, rtol=0, atol=1e-12)


def test_f1_is_the_harmonic_mean_of_trec_evals_precision_and_recall(beyond_the_five):
    (_, f1, _), (_, precision, recall, _) = beyond_the_five
    expected = 2 * precision * recall / np.where(precision + recall > 0, precision + recall, 1)
    np.testing.assert_allclose(f1, expected, rtol=0, atol=1e-12)


def test_many_different_values_of_several_hundred_cases_are_compared(cases, beyond_the_five):
    _, theirs = beyond_the_five
    assert len(cases) * TOGETHER == N_CASES
    assert len(np.unique(np.concatenate(theirs, axis=1).round(9))) > 200


def test_average_precision_at_a_deep_k_is_trec_evals_map(cases):
    ours, theirs = compared_with_trec_eval(cases[:5], ["AP@1000"], ["map"])
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_exponential_gain_is_trec_evals_ndcg_of_the_grades_2_to_the_g_minus_1(cases):
    ours, theirs = compared_with_trec_eval(
        cases[:15],
        ["nDCG"],
        [f"ndcg_cut_{k}" for k in KS],
        transform=lambda grade: max(2**grade - 1, 0),
        gain="exponential",
    )
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def without_ties(run):
    """The run with each score its own, in trec_eval's order: ir_measures orders ties in its own way.

    Empty rankings are left out, on which it divides by 0.
    """
    ordered = {
        q: sorted(scores, key=lambda doc_id: (scores[doc_id], doc_id))
        for q, scores in run.items()
        if scores
    }
    return {
        q: {doc_id: float(place) for place, doc_id in enumerate(docs)}
        for q, docs in ordered.items()
    }


def test_judged_is_that_of_ir_measures(cases):
    ir_measures = pytest.importorskip("ir_measures")
    measures = [ir_measures.Judged @ k for k in KS]
    for qrels, run in cases[:8]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # missing queries are named
            table = per_query(as_qa(qrels), scores_of(run), KS, ["Judged"])
        values = {
            (m.query_id, str(m.measure)): m.value
            for m in ir_measures.iter_calc(measures, qrels, without_ties(run))
        }
        theirs = [
            [values.get((query_id, column), 0.0) for column in table] for query_id in table.index
        ]
        np.testing.assert_allclose(table.to_numpy(), theirs, rtol=0, atol=1e-12)


def test_judged_is_counted_by_hand(cases):
    for qrels, run in cases[:8]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = per_query(as_qa(qrels), scores_of(run), 3, ["Judged"])
        for query_id, value in table["Judged@3"].items():
            found = sorted(
                run.get(query_id, {}).items(), key=lambda hit: (hit[1], hit[0]), reverse=True
            )[:3]
            judged = sum(doc_id in qrels[query_id] for doc_id, _ in found)
            assert value == (judged / len(found) if found else 0.0)


# ---------------------------------------------------------------- caption and attrs


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ({}, "Macro average over 3 queries; 1 excluded (no relevant document); "
             "a repeated document is refused; linear gain."),
        ({"no_relevant": "zero"}, "Macro average over 4 queries; 1 counted as 0 (no relevant document); "
                                  "a repeated document is refused; linear gain."),
        ({"no_relevant": "one"}, "Macro average over 4 queries; 1 counted as 1 (no relevant document); "
                                 "a repeated document is refused; linear gain."),
        ({"duplicates": "unique"}, "Macro average over 3 queries; 1 excluded (no relevant document); "
                                   "a repeated document is counted once; linear gain."),
        ({"duplicates": "position"}, "Macro average over 3 queries; 1 excluded (no relevant document); "
                                     "a repeated document is counted in every slot; linear gain."),
        ({"gain": "exponential"}, "Macro average over 3 queries; 1 excluded (no relevant document); "
                                  "a repeated document is refused; exponential gain."),
        ({"average": "pooled"}, "Pooled average over 3 queries; 1 excluded (no relevant document); "
                                "a repeated document is refused; linear gain."),
    ],
    ids=str,
)  # fmt: skip
def test_caption_of_each_policy(policies, expected):
    assert caption(evaluate(ALL_QA, RESULTS, **policies)) == expected


def test_caption_where_queries_without_relevant_documents_are_refused():
    assert caption(
        evaluate(ALL_QA[:3], {q: RESULTS[q] for q in ("q1", "q2", "q3")}, no_relevant="error")
    ) == (
        "Macro average over 3 queries; 0 refused (no relevant document); a repeated document is refused; linear gain."
    )


def test_caption_of_the_table_of_queries():
    assert caption(per_query(ALL_QA, RESULTS)) == (
        "3 queries evaluated; 1 excluded (no relevant document); a repeated document is refused; linear gain."
    )


def test_caption_of_a_single_metric():
    assert caption(ndcg(ALL_QA, RESULTS, gain="exponential")).endswith("exponential gain.")


def test_caption_names_the_index():
    results = Results(RESULTS, k=5, index="0123456789abcdef")
    assert caption(evaluate(ALL_QA, results)).endswith("; linear gain; index 01234567.")


@pytest.mark.parametrize("function", [per_query, evaluate])
def test_caption_is_one_line(function):
    assert "\n" not in caption(function(ALL_QA, RESULTS))


def test_caption_of_a_rounded_table_is_the_same():
    summary = evaluate(ALL_QA, RESULTS)
    assert caption(summary.round(3)) == caption(summary)


@pytest.mark.parametrize(
    "table", [pd.DataFrame(), pd.DataFrame({3: [0.5]}, index=["MRR"])], ids=["empty", "other"]
)
def test_caption_of_a_table_that_lost_its_attrs_is_refused(table):
    with pytest.raises(ValueError, match="no attrs of the kit"):
        caption(table)


@pytest.mark.parametrize("function", [per_query, evaluate])
@pytest.mark.parametrize(
    ("policies", "evaluated", "excluded"),
    [
        ({}, 3, 1),
        ({"no_relevant": "zero"}, 4, 0),
        ({"no_relevant": "one"}, 4, 0),
        ({"duplicates": "unique"}, 3, 1),
    ],
    ids=str,
)
def test_attrs_hold_policies_and_counts(function, policies, evaluated, excluded):
    attrs = function(ALL_QA, RESULTS, **policies).attrs
    decided = {"no_relevant": "exclude", "duplicates": "error", "gain": "linear"} | policies
    expected = {
        **decided,
        "evaluated": evaluated,
        "excluded": excluded,
        "without_relevant": 1,
        "index": None,
    }
    assert {name: attrs[name] for name in expected} == expected


@averages
def test_attrs_hold_the_average(average):
    assert evaluate(ALL_QA, RESULTS, average=average).attrs["average"] == average


def test_attrs_are_the_same_for_a_table_of_results():
    table = pd.DataFrame(
        [
            (q, hit["doc_id"], rank)
            for q, ranking in RESULTS.items()
            for rank, hit in enumerate(ranking, start=1)
        ],
        columns=["query_id", "doc_id", "rank"],
    )
    assert evaluate(ALL_QA, table).attrs == evaluate(ALL_QA, RESULTS).attrs
