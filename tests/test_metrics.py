"""The metric functions: the form of what they return, the cutoffs, the policies, and what other kits get wrong."""

import copy
import unicodedata
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import hits, query, ranks_of

from rageval_kit import Results, evaluate, hit_rate, mrr, ndcg, per_query, precision, recall

SINGLE = [
    (hit_rate, "HitRate"),
    (mrr, "RR"),
    (ndcg, "nDCG"),
    (precision, "Precision"),
    (recall, "Recall"),
]
NAMES = [name for _, name in SINGLE]
FUNCTIONS = [function for function, _ in SINGLE]
EVERY = [*FUNCTIONS, per_query, evaluate]

single = pytest.mark.parametrize(("function", "name"), SINGLE, ids=NAMES)
tables = pytest.mark.parametrize(
    "function", [*FUNCTIONS, per_query], ids=lambda function: function.__name__
)
every = pytest.mark.parametrize("function", EVERY, ids=lambda function: function.__name__)


def value(function, relevant, ranking, k, **policies):
    """The one number of one query at one cutoff."""
    return function([query(relevant)], {"q1": hits(*ranking)}, ks=k, **policies).iloc[0, 0]


# q2 comes before q1, to see that no one sorts; q3 has no relevant document.
ALL_QA = [query(["B"], "q2"), query(["A", "C"], "q1"), query([], "q3")]
RESULTS = {"q1": hits("A", "x", "C"), "q2": hits("x", "B", "y"), "q3": hits("A", "B")}


# ---------------------------------------------------------------- the form of a table


@single
def test_columns_are_the_metric_at_each_k(function, name):
    assert function(ALL_QA, RESULTS, ks=(1, 3, 5)).columns.tolist() == [
        f"{name}@1",
        f"{name}@3",
        f"{name}@5",
    ]


@single
def test_default_cutoffs_are_1_3_5(function, name):
    assert function(ALL_QA, RESULTS).columns.tolist() == [f"{name}@1", f"{name}@3", f"{name}@5"]


@single
def test_order_of_ks_is_kept(function, name):
    assert function(ALL_QA, RESULTS, ks=(5, 1, 3)).columns.tolist() == [
        f"{name}@5",
        f"{name}@1",
        f"{name}@3",
    ]


@single
def test_order_of_ks_does_not_change_a_column(function, name):
    one, other = function(ALL_QA, RESULTS, ks=(5, 1, 3)), function(ALL_QA, RESULTS, ks=(1, 3, 5))
    pd.testing.assert_frame_equal(one[other.columns], other)


@single
def test_one_k_may_be_an_int(function, name):
    pd.testing.assert_frame_equal(
        function(ALL_QA, RESULTS, ks=3), function(ALL_QA, RESULTS, ks=(3,))
    )


@single
def test_a_column_does_not_depend_on_the_other_ks(function, name):
    alone, among = function(ALL_QA, RESULTS, ks=2), function(ALL_QA, RESULTS, ks=(1, 2, 10))
    pd.testing.assert_series_equal(alone[f"{name}@2"], among[f"{name}@2"])


@tables
def test_a_k_given_twice_is_one_column(function):
    assert function(ALL_QA, RESULTS, ks=(3, 1, 3)).columns.is_unique


@every
@pytest.mark.parametrize(
    "ks",
    [
        [1, 3],
        (1, 3),
        range(1, 4, 2),
        np.array([1, 3]),
        pd.Series([1, 3]),
        [np.int64(1), np.int32(3)],
    ],
    ids=["list", "tuple", "range", "array", "Series", "numpy integers"],
)
def test_ks_may_be_any_sequence_of_integers(function, ks):
    pd.testing.assert_frame_equal(
        function(ALL_QA, RESULTS, ks=ks), function(ALL_QA, RESULTS, ks=(1, 3))
    )


@every
def test_ks_may_be_a_generator(function):
    pd.testing.assert_frame_equal(
        function(ALL_QA, RESULTS, ks=(k for k in (1, 3))), function(ALL_QA, RESULTS, ks=(1, 3))
    )


@every
def test_k_may_be_a_numpy_integer(function):
    pd.testing.assert_frame_equal(
        function(ALL_QA, RESULTS, ks=np.int64(3)), function(ALL_QA, RESULTS, ks=3)
    )


@tables
def test_rows_are_the_queries_in_the_order_of_all_qa(function):
    assert function(ALL_QA, RESULTS).index.tolist() == ["q2", "q1", "q3"]


@tables
def test_index_is_called_query_id(function):
    assert function(ALL_QA, RESULTS).index.name == "query_id"


@every
def test_every_column_is_float64(function):
    assert set(function(ALL_QA, RESULTS).dtypes) == {np.dtype("float64")}


@tables
@pytest.mark.parametrize("no_relevant", ["zero", "one"])
def test_every_column_is_float64_under_every_policy(function, no_relevant):
    assert set(function(ALL_QA, RESULTS, no_relevant=no_relevant).dtypes) == {np.dtype("float64")}


def test_per_query_has_the_columns_of_all_five_in_order():
    expected = [f"{name}@{k}" for name in NAMES for k in (1, 3)]
    assert per_query(ALL_QA, RESULTS, ks=(1, 3)).columns.tolist() == expected


@single
@pytest.mark.parametrize("no_relevant", ["exclude", "zero", "one"])
def test_per_query_equals_the_single_functions(function, name, no_relevant):
    alone = function(ALL_QA, RESULTS, ks=(1, 2, 3, 10), no_relevant=no_relevant)
    together = per_query(ALL_QA, RESULTS, ks=(1, 2, 3, 10), no_relevant=no_relevant)
    pd.testing.assert_frame_equal(together[alone.columns], alone)


def test_single_functions_carry_the_attrs_of_per_query():
    assert all(
        function(ALL_QA, RESULTS).attrs == per_query(ALL_QA, RESULTS).attrs
        for function in FUNCTIONS
    )


# ---------------------------------------------------------------- evaluate


def test_evaluate_has_a_row_a_metric():
    assert evaluate(ALL_QA, RESULTS).index.tolist() == [
        "HitRate",
        "MRR",
        "nDCG",
        "Precision",
        "Recall",
    ]


def test_evaluate_has_a_column_a_cutoff():
    assert evaluate(ALL_QA, RESULTS, ks=(5, 1)).columns.tolist() == [5, 1]


def test_evaluate_names_its_axes():
    summary = evaluate(ALL_QA, RESULTS)
    assert (summary.index.name, summary.columns.name) == ("metric", "k")


def test_evaluate_calls_the_mean_of_rr_mrr():
    assert evaluate(ALL_QA, RESULTS).loc["MRR", 3] == mrr(ALL_QA, RESULTS)["RR@3"].mean()


@pytest.mark.parametrize("name", ["HitRate", "nDCG", "Precision", "Recall"])
def test_evaluate_is_the_mean_of_per_query(name):
    assert evaluate(ALL_QA, RESULTS).loc[name, 5] == per_query(ALL_QA, RESULTS)[f"{name}@5"].mean()


def test_evaluate_leaves_excluded_queries_out_of_the_mean():
    assert evaluate(ALL_QA, RESULTS).loc["HitRate", 3] == 1.0


def test_evaluate_with_one_int_k():
    assert evaluate(ALL_QA, RESULTS, ks=5).columns.tolist() == [5]


def test_evaluate_passes_policies_on():
    assert evaluate(ALL_QA, RESULTS, no_relevant="zero").loc["HitRate", 3] == pytest.approx(2 / 3)


# ---------------------------------------------------------------- attrs


@every
def test_attrs_hold_the_default_policies(function):
    attrs = function(ALL_QA, RESULTS).attrs
    assert (attrs["no_relevant"], attrs["duplicates"]) == ("exclude", "error")


@every
def test_attrs_hold_the_chosen_policies(function):
    attrs = function(ALL_QA, RESULTS, no_relevant="one", duplicates="unique").attrs
    assert (attrs["no_relevant"], attrs["duplicates"]) == ("one", "unique")


@every
def test_attrs_count_evaluated_and_excluded(function):
    attrs = function(ALL_QA, RESULTS).attrs
    assert (attrs["evaluated"], attrs["excluded"]) == (2, 1)


@every
@pytest.mark.parametrize("no_relevant", ["zero", "one"])
def test_attrs_count_all_as_evaluated_when_none_is_excluded(function, no_relevant):
    attrs = function(ALL_QA, RESULTS, no_relevant=no_relevant).attrs
    assert (attrs["evaluated"], attrs["excluded"]) == (3, 0)


@every
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_attrs_count_a_query_without_results_as_evaluated(function):
    attrs = function(ALL_QA, {"q1": RESULTS["q1"]}).attrs
    assert (attrs["evaluated"], attrs["excluded"]) == (2, 1)


@every
def test_attrs_hold_the_fingerprint_of_the_index_that_was_searched(function):
    assert function(ALL_QA, Results(RESULTS, k=5, index="a1b2c3")).attrs["index"] == "a1b2c3"


@every
def test_attrs_hold_no_fingerprint_for_a_plain_dict(function):
    assert function(ALL_QA, RESULTS).attrs["index"] is None


@every
def test_attrs_hold_no_fingerprint_for_a_table(function):
    assert function(ALL_QA, ranks_of(RESULTS)).attrs["index"] is None


def test_metrics_of_tables_can_be_put_side_by_side():
    # pandas compares attrs when it joins tables, which fails on attrs that hold an array or an Index.
    one, other = hit_rate(ALL_QA, ranks_of(RESULTS)), recall(ALL_QA, ranks_of(RESULTS))
    assert pd.concat([one, other], axis=1).shape == (3, 6)


# ---------------------------------------------------------------- queries without relevant documents


@tables
def test_an_excluded_query_is_nan(function):
    assert function(ALL_QA, RESULTS).loc["q3"].isna().all()


@tables
def test_only_the_excluded_query_is_nan(function):
    assert function(ALL_QA, RESULTS).drop("q3").notna().all(axis=None)


@tables
def test_count_says_how_many_were_evaluated(function):
    assert set(function(ALL_QA, RESULTS).count()) == {2}


@tables
def test_isna_names_the_excluded(function):
    table = function(ALL_QA, RESULTS)
    assert table.index[table.iloc[:, 0].isna()].tolist() == ["q3"]


@tables
def test_all_excluded_gives_nan(function):
    assert np.isnan(function([query([])], {"q1": hits("A")}).mean()).all()


def test_evaluate_of_all_excluded_is_nan():
    assert evaluate([query([])], {"q1": hits("A")}).isna().all(axis=None)


@every
def test_all_excluded_gives_no_warning(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function([query([])], {"q1": hits("A")})


@tables
@pytest.mark.parametrize(("no_relevant", "expected"), [("zero", 0.0), ("one", 1.0)])
def test_a_query_without_relevant_documents_gets_the_value_of_the_policy(
    function, no_relevant, expected
):
    assert set(function(ALL_QA, RESULTS, no_relevant=no_relevant).loc["q3"]) == {expected}


@every
def test_policy_error_names_the_query_without_relevant_documents(function):
    with pytest.raises(ValueError, match=r"No relevant document for q3\."):
        function(ALL_QA, RESULTS, no_relevant="error")


@every
def test_policy_error_is_silent_when_every_query_has_relevant_documents(function):
    table = function(
        ALL_QA[:2], {query_id: RESULTS[query_id] for query_id in ("q1", "q2")}, no_relevant="error"
    )
    assert table.notna().all(axis=None)


# ---------------------------------------------------------------- what is refused


@every
@pytest.mark.parametrize("k", [0, -1, 2.5, 3.0, True, np.True_, "3", None, float("nan")], ids=repr)
def test_a_bad_k_alone_is_refused(function, k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        function(ALL_QA, RESULTS, ks=k)


@every
@pytest.mark.parametrize("k", [0, -1, 2.5, 3.0, True, "3", None], ids=repr)
def test_a_bad_k_among_good_ones_is_refused(function, k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        function(ALL_QA, RESULTS, ks=(1, k))


@every
def test_the_message_shows_the_bad_k(function):
    with pytest.raises(ValueError, match=r"found -1\."):
        function(ALL_QA, RESULTS, ks=(1, -1))


@every
def test_no_k_at_all_is_refused(function):
    with pytest.raises(ValueError, match="ks is empty"):
        function(ALL_QA, RESULTS, ks=[])


@every
def test_an_unknown_policy_is_refused_and_the_known_are_named(function):
    with pytest.raises(TypeError, match="'no_relevants'; there are: no_relevant, duplicates"):
        function(ALL_QA, RESULTS, no_relevants="zero")


@every
@pytest.mark.parametrize("policy", ["no_relevant", "duplicates"])
def test_an_unknown_value_of_a_policy_is_refused(function, policy):
    with pytest.raises(ValueError, match=f"{policy}='ignore' is not a policy. Choose one of: "):
        function(ALL_QA, RESULTS, **{policy: "ignore"})


@every
def test_an_empty_all_qa_is_refused(function):
    with pytest.raises(ValueError, match="all_qa is empty"):
        function([], RESULTS)


@every
def test_results_in_the_place_of_all_qa_are_refused(function):
    with pytest.raises(TypeError, match="all_qa must be a list of dicts"):
        function(RESULTS, ALL_QA)


# ---------------------------------------------------------------- what a call leaves alone


@every
def test_all_qa_is_not_changed(function):
    all_qa = [query({"B": 2, "C": 0, "D": -1}, "q2"), query(["A", "C", "A"], "q1"), query([], "q3")]
    before = copy.deepcopy(all_qa)
    function(all_qa, RESULTS)
    assert all_qa == before


@every
def test_results_are_not_changed(function):
    results = copy.deepcopy(RESULTS)
    function(ALL_QA, results, duplicates="unique")
    assert results == RESULTS


@every
def test_tables_are_not_changed(function):
    qrels = pd.DataFrame(
        {"query_id": ["q2", "q1", "q3"], "doc_id": ["B", "A", "A"], "relevance": [1, 2, 0]},
        index=[7, 8, 9],
    )
    table = ranks_of(RESULTS).sample(frac=1, random_state=0)
    qrels_before, table_before = qrels.copy(), table.copy()
    function(qrels, table)
    pd.testing.assert_frame_equal(qrels, qrels_before)
    pd.testing.assert_frame_equal(table, table_before)


@every
def test_a_call_leaves_nothing_behind_for_the_next(function):
    first = function(ALL_QA, RESULTS)
    function([query(["Z"], "other")], {"other": hits("y", "z")}, ks=2, no_relevant="one")
    pd.testing.assert_frame_equal(function(ALL_QA, RESULTS), first)


# ---------------------------------------------------------------- what other kits get wrong (FIELD.md)


def test_ideal_is_cut_at_k():
    assert value(ndcg, list("ABCDE"), "ABC", 3) == 1.0  # 0.723 where the ideal is not cut


@every
def test_a_document_returned_three_times_is_refused(function):
    with pytest.raises(ValueError, match="'A' appears twice in the ranking"):
        function([query(["A"])], {"q1": hits("A", "A", "A")}, ks=3)


@every
def test_the_refusal_of_a_repeat_names_both_cures(function):
    with pytest.raises(ValueError, match=r'duplicates="unique".*duplicates="position"'):
        function([query(["A"])], {"q1": hits("A", "A", "A")}, ks=3)


@pytest.mark.parametrize(
    "function", [hit_rate, mrr, ndcg, recall], ids=lambda function: function.__name__
)
def test_a_document_returned_three_times_scores_1_when_folded(function):
    assert value(function, ["A"], "AAA", 3, duplicates="unique") == 1.0


def test_a_document_returned_three_times_is_one_of_three_slots_when_folded():
    assert value(precision, ["A"], "AAA", 3, duplicates="unique") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("function", "inflated"), [(ndcg, 2.13), (recall, 3.0)], ids=["nDCG", "Recall"]
)
def test_a_document_returned_three_times_inflates_by_position(function, inflated):
    assert round(value(function, ["A"], "AAA", 3, duplicates="position"), 2) == inflated


def test_precision_divides_by_k_when_fewer_came_back():
    assert value(precision, ["A"], "A", 10) == 0.1  # 1.0 where it divides by what came back


@tables
def test_an_empty_ranking_scores_0(function):
    assert set(function([query(["A"])], {"q1": []}).loc["q1"]) == {0.0}


def test_reciprocal_rank_is_of_the_first_relevant_only():
    assert value(mrr, ["A", "B"], "AB", 5) == 1.0  # 0.75 where it is averaged over the hits


def test_recall_divides_by_all_relevant_documents():
    assert value(recall, ["A", "B", "C"], "Axy", 3) == pytest.approx(
        1 / 3
    )  # 1.0 where it divides by the found


def test_ideal_is_over_the_whole_corpus():
    assert (
        round(value(ndcg, list("ABCDE"), "Axy", 3), 3) == 0.469
    )  # 1.0 where the ideal is of the retrieved


@every
@pytest.mark.parametrize(("relevant", "found"), [("1", 1), (1, "1")], ids=repr)
def test_ids_as_text_and_as_numbers_are_refused_with_the_cure(function, relevant, found):
    with pytest.raises(TypeError, match=r"nothing would match.*Make both texts"):
        function([query([relevant])], {"q1": hits(found)})


@pytest.mark.parametrize("metric", ["HitRate", "MRR", "nDCG", "Recall"])
def test_a_query_that_finds_nothing_stays_in_the_mean(metric):
    summary = evaluate([query(["A"], "q1"), query(["B"], "q2")], {"q1": hits("A"), "q2": []}, ks=1)
    assert summary.loc[metric, 1] == 0.5  # 1.0 where it is dropped


@pytest.mark.parametrize("metric", ["HitRate", "MRR", "nDCG", "Recall"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_query_absent_from_the_results_stays_in_the_mean(metric):
    summary = evaluate([query(["A"], "q1"), query(["B"], "q2")], {"q1": hits("A")}, ks=1)
    assert summary.loc[metric, 1] == 0.5


@every
def test_a_query_id_equal_to_a_document_id_has_no_effect(function):
    table = function(
        [query(["A"], "A"), query(["B"], "B")], {"A": hits("x", "A"), "B": hits("A", "B")}
    )
    other = function(
        [query(["A"], "q1"), query(["B"], "q2")], {"q1": hits("x", "A"), "q2": hits("A", "B")}
    )
    assert table.to_numpy().tolist() == other.to_numpy().tolist()


@every
@pytest.mark.parametrize(("relevant_form", "found_form"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_the_same_id_in_two_unicode_forms_is_refused_with_the_cure(
    function, relevant_form, found_form
):
    relevant, found = (
        unicodedata.normalize(relevant_form, "문서_1"),
        unicodedata.normalize(found_form, "문서_1"),
    )
    with pytest.raises(ValueError, match=r'NFC and NFD.*unicodedata.normalize\("NFC", id\)'):
        function([query([relevant])], {"q1": hits(found)})


DISTANCES = [
    {"doc_id": "A", "score": 0.1},
    {"doc_id": "x", "score": 0.5},
    {"doc_id": "y", "score": 0.9},
]


def test_distances_of_a_list_do_not_change_its_order():
    assert mrr([query(["A"])], {"q1": DISTANCES}, ks=3).loc["q1", "RR@3"] == 1.0


def test_distances_of_search_results_as_a_table_do_not_change_their_order():
    results = Results(
        {"q1": [{"title": "", "content": "", **hit} for hit in DISTANCES]},
        k=3,
        lower_is_better=True,
    )
    assert mrr([query(["A"])], results.to_frame(), ks=3).loc["q1", "RR@3"] == 1.0


def test_mrr_does_not_fall_as_k_grows():
    assert (mrr(ALL_QA, RESULTS, ks=range(1, 11)).mean().diff().dropna() >= 0).all()


def test_mrr_is_not_above_the_hit_rate():
    summary = evaluate(ALL_QA, RESULTS, ks=range(1, 11))
    assert (summary.loc["MRR"] <= summary.loc["HitRate"]).all()


# ---------------------------------------------------------------- the definitions, one number each


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1.0), (3, 1.0), (9, 1.0)])
def test_hit_rate_is_1_from_the_first_relevant_on(k, expected):
    assert value(hit_rate, ["A", "B"], "xAyB", k) == expected


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 0.5), (3, 0.5), (9, 0.5)])
def test_reciprocal_rank_is_0_until_the_first_relevant(k, expected):
    assert value(mrr, ["A", "B"], "xAyB", k) == expected


@pytest.mark.parametrize(
    ("k", "expected"), [(1, 0.0), (2, 1 / 2), (3, 1 / 3), (4, 2 / 4), (8, 2 / 8)]
)
def test_precision_divides_by_k(k, expected):
    assert value(precision, ["A", "B"], "xAyB", k) == expected


@pytest.mark.parametrize(
    ("k", "expected"), [(1, 0.0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (8, 2 / 3)]
)
def test_recall_divides_by_the_relevant_of_the_corpus(k, expected):
    assert value(recall, ["A", "B", "C"], "xAyB", k) == expected


def test_ndcg_of_a_relevant_at_rank_2_is_its_discount():
    assert value(ndcg, ["A"], "xA", 2) == pytest.approx(1 / np.log2(3), abs=1e-15)


def test_ndcg_gain_is_linear_in_the_grade():
    # DCG 1 + 3 / log2(3), ideal 3 + 1 / log2(3); an exponential gain would give 0.71.
    assert value(ndcg, {"A": 3, "B": 1}, "BA", 2) == pytest.approx(
        (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)), abs=1e-15
    )


def test_ndcg_of_a_k_beyond_the_ranking_uses_the_ideal_at_k():
    assert value(ndcg, ["A", "B"], "A", 10) == pytest.approx(1 / (1 + 1 / np.log2(3)), abs=1e-15)


@pytest.mark.parametrize(
    "function", [hit_rate, mrr, precision, recall], ids=lambda function: function.__name__
)
def test_grades_count_only_as_relevant_or_not(function):
    assert value(function, {"A": 3, "B": 0.5}, "xBA", 3) == value(function, ["A", "B"], "xBA", 3)
