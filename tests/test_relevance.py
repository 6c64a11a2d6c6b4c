"""The relevance matrix: what is in its cells, the policies, the forms of all_qa and results, and what is refused."""

import inspect
import subprocess
import sys
import unicodedata

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, caught, hits, query, ranks_of
from langchain_core.documents import Document

from rageval_kit import (
    Results,
    evaluate,
    hit_rate,
    mrr,
    ndcg,
    per_query,
    precision,
    recall,
    relevance_matrix,
)

EVERY = [hit_rate, mrr, ndcg, precision, recall, per_query, evaluate]

quiet = pytest.mark.filterwarnings("ignore::UserWarning")


def gains(all_qa, results, k=3, **policies):
    return relevance_matrix(all_qa, results, k, **policies).gains.tolist()


def ideal(all_qa, k):
    return relevance_matrix(all_qa, {qa["query_id"]: [] for qa in all_qa}, k).ideal.tolist()


# ---------------------------------------------------------------- the matrix

QA = [query(["A", "C"], "q1"), query(["B"], "q2")]
RESULTS = {"q1": hits("A", "x", "C"), "q2": hits("x", "B", "y")}


def test_a_row_a_query_and_a_column_a_rank():
    assert relevance_matrix(QA, RESULTS, k=5).gains.shape == (2, 5)


def test_a_cell_is_1_where_a_relevant_document_stands():
    assert gains(QA, RESULTS) == [[1, 0, 1], [0, 1, 0]]


def test_nor_are_those_beyond_k_once_repeats_are_folded():
    matrix = relevance_matrix(
        [query(["A", "C"])], {"q1": hits("x", "x", "A", "C")}, k=2, duplicates="unique"
    )
    assert matrix.gains.tolist() == [[0, 1]]
    assert matrix.docs(0) == ["x", "A"]


def test_the_ideal_ranking_is_as_deep_as_the_cutoff_where_few_hits_came_back():
    relevant = [f"d{i}" for i in range(200)]
    value = ndcg([query(relevant)], {"q1": hits("d0")}, ks=150).loc["q1"].item()
    assert value == pytest.approx(1 / (1 / np.log2(np.arange(1, 151) + 1)).sum(), abs=1e-12)


def test_gaps_in_the_ranks_of_a_query_that_is_not_in_all_qa_do_not_matter():
    table = ranks_of({"q1": hits("A", "x"), "q2": hits("x", "B"), "q9": hits("A", "B")})
    table.loc[table["query_id"] == "q9", "rank"] += 1
    said = caught(lambda: gains(QA, table))
    assert ["q9" in message for message in said] == [True]


def test_a_grade_of_1000_is_the_highest_that_2_to_the_grade_can_hold():
    results = {"q1": hits("A")}
    assert gains([query({"A": 1000})], results, gain="exponential")[0][0] == 2.0**1000 - 1
    with pytest.raises(ValueError, match=r"a grade of 1000\.5 is too large"):
        gains([query({"A": 1000.5})], results, gain="exponential")


def test_hits_beyond_k_are_not_looked_at():
    assert gains(QA, RESULTS, k=2) == [[1, 0], [0, 1]]


def test_ranks_beyond_the_ranking_are_0():
    assert gains(QA, RESULTS, k=5) == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 0]]


def test_rows_follow_all_qa_and_not_the_results():
    assert gains(QA[::-1], RESULTS) == [[0, 1, 0], [1, 0, 1]]


def test_a_document_relevant_to_another_query_only_is_0():
    assert gains(QA, {"q1": hits("B", "A"), "q2": hits("A", "C", "B")}) == [[0, 1, 0], [0, 0, 1]]


def test_n_relevant_counts_the_whole_corpus():
    assert relevance_matrix(QA, RESULTS, k=1).n_relevant.tolist() == [2, 1]


def test_ranks_count_from_1():
    assert relevance_matrix(QA, RESULTS, k=3).ranks.tolist() == [1, 2, 3]


def test_hits_are_the_cells_above_0():
    assert relevance_matrix(QA, RESULTS, k=3).hits.tolist() == [
        [True, False, True],
        [False, True, False],
    ]


def test_policies_are_kept_with_the_matrix():
    assert relevance_matrix(QA, RESULTS, k=3, duplicates="unique").policies == {
        "no_relevant": "exclude",
        "duplicates": "unique",
        "gain": "linear",
    }


def test_to_frame_has_the_query_ids_and_ranks():
    frame = relevance_matrix(QA, RESULTS, k=3).to_frame()
    rows, columns = pd.Index(["q1", "q2"], name="query_id"), pd.Index([1, 2, 3], name="rank")
    expected = pd.DataFrame([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], index=rows, columns=columns)
    pd.testing.assert_frame_equal(frame, expected)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", None, (1, 3)], ids=repr)
def test_a_bad_k_is_refused(k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        relevance_matrix(QA, RESULTS, k)


# ---------------------------------------------------------------- grades


def test_a_cell_holds_the_grade():
    assert gains([query({"A": 3, "B": 1, "C": 0.5})], {"q1": hits("C", "A", "B")}) == [[0.5, 3, 1]]


@pytest.mark.parametrize("grade", [0, -1, -2.5])
def test_a_grade_of_0_or_less_is_a_gain_of_0(grade):
    assert gains([query({"A": grade, "B": 2})], {"q1": hits("A", "B")}, k=2) == [[0, 2]]


@pytest.mark.parametrize("grade", [0, -1, -2.5])
def test_a_grade_of_0_or_less_is_not_counted_as_relevant(grade):
    assert relevance_matrix(
        [query({"A": grade, "B": 2})], {"q1": hits("A")}, k=1
    ).n_relevant.tolist() == [1]


@pytest.mark.parametrize("grade", [0, -1, -2.5])
def test_a_grade_of_0_or_less_is_not_in_the_ideal(grade):
    assert ideal([query({"A": grade, "B": 2})], k=3) == [[2, 0, 0]]


@pytest.mark.parametrize("grade", [0, -1])
def test_a_query_with_grades_of_0_or_less_only_has_no_relevant_document(grade):
    assert recall([query({"A": grade})], {"q1": hits("A")}).loc["q1"].isna().all()


@pytest.mark.parametrize("grade", [True, "1", None, float("nan"), float("inf")], ids=repr)
def test_a_grade_that_is_not_a_finite_number_is_refused(grade):
    with pytest.raises(
        ValueError, match="q1: relevant_doc_ids, 'A': the grade must be a finite number"
    ):
        gains([query({"A": grade})], {"q1": hits("A")})


def test_numpy_grades_are_taken():
    assert gains(
        [query({"A": np.int64(2), "B": np.float32(0.5)})], {"q1": hits("A", "B")}, k=2
    ) == [[2, 0.5]]


# ---------------------------------------------------------------- the ideal


def test_ideal_is_best_first():
    assert ideal([query({"A": 1, "B": 3, "C": 2})], k=3) == [[3, 2, 1]]


def test_ideal_is_cut_at_k():
    assert ideal([query({"A": 1, "B": 3, "C": 2})], k=2) == [[3, 2]]


def test_ideal_is_filled_up_with_0():
    assert ideal([query({"A": 1, "B": 3})], k=4) == [[3, 1, 0, 0]]


def test_ideal_is_over_documents_that_were_not_found():
    assert relevance_matrix([query(["A", "B", "C"])], {"q1": hits("A")}, k=3).ideal.tolist() == [
        [1, 1, 1]
    ]


def test_ideal_of_a_query_without_relevant_documents_is_0():
    assert ideal([query(["A"], "q1"), query([], "q2"), query(["B"], "q3")], k=2) == [
        [1, 0],
        [0, 0],
        [1, 0],
    ]


def test_ideal_of_each_query_is_its_own():
    assert ideal([query({"A": 1, "B": 2}, "q1"), query({"A": 5}, "q2")], k=2) == [[2, 1], [5, 0]]


def test_ideal_of_interleaved_qrels_is_its_own():
    qrels = pd.DataFrame(
        {"query_id": ["q1", "q2", "q1"], "doc_id": ["A", "A", "B"], "relevance": [1, 5, 2]}
    )
    assert relevance_matrix(qrels, {"q1": [], "q2": []}, k=2).ideal.tolist() == [[2, 1], [5, 0]]


# ---------------------------------------------------------------- no_relevant

UNANSWERABLE = [query(["A"], "q1"), query([], "q2"), query({"B": 0}, "q3")]
OF_UNANSWERABLE = {"q1": hits("A"), "q2": hits("A"), "q3": hits("B")}


@pytest.mark.parametrize(
    ("no_relevant", "expected"), [("exclude", np.nan), ("zero", 0.0), ("one", 1.0)]
)
def test_no_relevant_gives_the_value_of_the_policy(no_relevant, expected):
    values = hit_rate(UNANSWERABLE, OF_UNANSWERABLE, ks=1, no_relevant=no_relevant)["HitRate@1"]
    np.testing.assert_array_equal(values, [1.0, expected, expected])


@pytest.mark.parametrize(
    ("no_relevant", "expected"), [("exclude", 1.0), ("zero", 1 / 3), ("one", 1.0)]
)
def test_no_relevant_in_the_mean(no_relevant, expected):
    assert evaluate(UNANSWERABLE, OF_UNANSWERABLE, ks=1, no_relevant=no_relevant).loc[
        "Recall", 1
    ] == pytest.approx(expected)


def test_no_relevant_error_names_every_such_query():
    with pytest.raises(
        ValueError, match=r'No relevant document for q2, q3\..*no_relevant="exclude"'
    ):
        relevance_matrix(UNANSWERABLE, OF_UNANSWERABLE, k=1, no_relevant="error")


def test_no_relevant_error_names_at_most_five_and_counts_the_rest():
    all_qa = [query([], f"q{i}") for i in range(8)]
    with pytest.raises(ValueError, match="q0, q1, q2, q3, q4 and 3 more"):
        relevance_matrix(all_qa, {qa["query_id"]: [] for qa in all_qa}, k=1, no_relevant="error")


# ---------------------------------------------------------------- duplicates


def score_table_of(results):
    return (
        ranks_of(results)
        .assign(score=lambda table: -table["rank"].astype(float))
        .drop(columns="rank")
    )


forms = pytest.mark.parametrize(
    "form", [dict, ranks_of, score_table_of], ids=["lists", "table by rank", "table by score"]
)
REPEATED = {"q1": hits("A", "x", "A", "C"), "q2": hits("B")}


@forms
def test_a_repeat_is_refused_by_default(form):
    with pytest.raises(ValueError, match="q1: the document 'A' appears twice in the ranking"):
        relevance_matrix(QA, form(REPEATED), k=3)


@forms
def test_the_refusal_names_the_rank_of_the_repeat(form):
    with pytest.raises(ValueError, match="again at rank 3"):
        relevance_matrix(QA, form(REPEATED), k=3)


@forms
def test_a_repeat_beyond_k_is_not_looked_at(form):
    assert gains(QA, form(REPEATED), k=2) == [[1, 0], [1, 0]]


@forms
def test_the_same_document_in_two_rankings_is_no_repeat(form):
    assert gains(QA, form({"q1": hits("A", "B"), "q2": hits("A", "B")}), k=2) == [[1, 0], [0, 1]]


@forms
def test_unique_keeps_the_first_and_closes_the_gap(form):
    assert gains(QA, form(REPEATED), k=3, duplicates="unique") == [[1, 0, 1], [1, 0, 0]]


@forms
def test_unique_folds_before_it_cuts_at_k(form):
    results = {"q1": hits("x", "x", "x", "x", "A", "A", "C"), "q2": hits("B")}
    assert gains(QA, form(results), k=3, duplicates="unique") == [[0, 1, 1], [1, 0, 0]]


@forms
def test_position_counts_every_slot(form):
    assert gains(QA, form(REPEATED), k=4, duplicates="position") == [[1, 0, 1, 1], [1, 0, 0, 0]]


@forms
@pytest.mark.parametrize("duplicates", ["unique", "position"])
def test_without_repeats_the_policy_changes_nothing(form, duplicates):
    assert gains(QA, form(RESULTS), duplicates=duplicates) == gains(QA, form(RESULTS))


def test_unique_folds_hits_that_are_relevant_to_nothing():
    assert gains([query(["A"])], {"q1": hits("x", "x", "A")}, k=2, duplicates="unique") == [[0, 1]]


# ---------------------------------------------------------------- queries on one side only


def this_line():
    return inspect.currentframe().f_back.f_lineno


@pytest.mark.parametrize("function", EVERY, ids=lambda function: function.__name__)
@pytest.mark.parametrize("form", [dict, ranks_of], ids=["dict of lists", "table"])
def test_the_warning_points_at_the_callers_line(function, form):
    results = form({"q1": hits("A")})
    with pytest.warns(UserWarning) as seen:
        line = this_line() + 1
        function(QA, results)
    assert [(warning.filename, warning.lineno) for warning in seen] == [(__file__, line)]


def test_the_warning_of_relevance_matrix_points_at_the_callers_line():
    with pytest.warns(UserWarning) as seen:
        line = this_line() + 1
        relevance_matrix(QA, {}, k=1)
    assert [(warning.filename, warning.lineno) for warning in seen] == [(__file__, line)]


@forms
def test_a_query_without_results_is_named(form):
    assert caught(lambda: relevance_matrix(QA, form({"q1": hits("A")}), k=1)) == [
        "no results for 1 query of all_qa, which score 0: q2."
    ]


@forms
@quiet
def test_a_query_without_results_has_a_row_of_0(form):
    assert gains(QA, form({"q2": hits("B")}), k=2) == [[0, 0], [1, 0]]


@quiet
def test_no_results_at_all_score_0():
    assert evaluate(QA, {}).eq(0.0).all(axis=None)


@quiet
def test_an_empty_table_scores_0():
    empty = pd.DataFrame({"query_id": ["q"], "doc_id": ["A"], "score": [1.0]}).iloc[:0]
    assert evaluate(QA, empty).eq(0.0).all(axis=None)


@quiet
def test_an_empty_table_without_column_types_scores_0():
    # Results of queries that all found nothing become this table, whose columns pandas cannot type.
    empty = Results({"q1": [], "q2": []}, k=5).to_frame()
    assert evaluate(QA, empty).eq(0.0).all(axis=None)


def test_empty_rankings_are_counted_and_named():
    (message,) = caught(lambda: relevance_matrix(QA, {"q1": [], "q2": RESULTS["q2"]}, k=1))
    assert "no hit for 1 of 2 queries, which score 0: q1" in message


def test_a_query_that_nothing_answers_may_find_nothing():
    assert caught(lambda: relevance_matrix([query([], "q1")], {"q1": []}, k=1)) == []


def test_complete_results_give_no_warning():
    assert caught(lambda: relevance_matrix(QA, RESULTS, k=1)) == []


def test_many_queries_without_results_are_counted_and_five_named():
    all_qa = [query(["A"], f"q{i}") for i in range(8)]
    (message,) = caught(lambda: relevance_matrix(all_qa, {}, k=1))
    assert (
        message
        == "no results for 8 queries of all_qa, which score 0: q0, q1, q2, q3, q4 and 3 more."
    )


def test_a_query_that_is_excluded_is_not_said_to_score_0():
    messages = caught(lambda: evaluate([query(["A"], "q1"), query([], "q2")], {}))
    assert not any("q2" in message and "score 0" in message for message in messages)


@forms
def test_results_of_an_unknown_query_are_named(form):
    messages = caught(lambda: relevance_matrix(QA, form(RESULTS | {"q9": hits("A")}), k=1))
    assert messages == ["results of 1 query not in all_qa are left out: q9."]


@quiet
def test_what_stands_in_a_query_that_is_left_out_is_not_looked_at():
    table = pd.DataFrame(
        [("q9", None, 1.0), ("q1", "B", 1.0), ("q1", "A", 2.0), ("q9", 5, 1.0)],
        columns=["query_id", "doc_id", "score"],
    )
    assert relevance_matrix([query(["A"])], table, k=2).gains.tolist() == [[1.0, 0.0]]


@forms
@quiet
def test_results_of_an_unknown_query_are_left_out(form):
    assert gains(QA, form({"q0": hits("A")} | RESULTS | {"q9": hits("A", "B")})) == gains(
        QA, RESULTS
    )


@forms
@quiet
def test_results_of_unknown_queries_are_left_out_of_shuffled_rows(form):
    found = form({"q0": hits("A", "C")} | RESULTS | {"q9": hits("A", "B")})
    found = (
        found.sample(frac=1, random_state=3)
        if isinstance(found, pd.DataFrame)
        else dict(reversed(found.items()))
    )
    assert gains(QA, found) == gains(QA, RESULTS)


@quiet
def test_a_repeat_in_the_results_of_an_unknown_query_does_not_matter():
    assert gains(QA, RESULTS | {"q9": hits("A", "A")}) == gains(QA, RESULTS)


def test_missing_and_unknown_queries_are_both_named():
    messages = caught(lambda: relevance_matrix(QA, {"q1": hits("A"), "q9": hits("A")}, k=1))
    assert [message.rsplit(": ")[-1] for message in messages] == ["q2.", "q9."]


# ---------------------------------------------------------------- forms of all_qa

ALL_FORMS_OF_QA = {
    "list": QA,
    "tuple": tuple(QA),
    "tuples of ids": [query(("A", "C"), "q1"), query(("B",), "q2")],
    "sets of ids": [query({"A", "C"}, "q1"), query(frozenset({"B"}), "q2")],
    "arrays of ids": [
        query(np.array(["A", "C"]), "q1"),
        query(np.array(["B"], dtype=object), "q2"),
    ],
    "an id named twice": [query(["A", "C", "A"], "q1"), query(["B", "B"], "q2")],
    "grades": [query({"A": 1, "C": 1}, "q1"), query({"B": 1, "x": 0}, "q2")],
    "table of all_qa": pd.DataFrame(QA),
    "table of all_qa with an index": pd.DataFrame(QA, index=[7, 7]),
    "table of all_qa with arrays": pd.DataFrame(
        [query(np.array(["A", "C"]), "q1"), query(np.array(["B"]), "q2")]
    ),
    "table of all_qa with grades": pd.DataFrame(
        [query({"A": 1, "C": 1}, "q1"), query({"B": 1}, "q2")]
    ),
    "qrels": pd.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["A", "C", "B"]}),
    "qrels with relevance": pd.DataFrame(
        {"query_id": ["q1", "q1", "q2"], "doc_id": ["A", "C", "B"], "relevance": [1, 1, 1]}
    ),
    "qrels with relevance 0": pd.DataFrame(
        {
            "query_id": ["q1", "q1", "q2", "q2"],
            "doc_id": ["A", "C", "x", "B"],
            "relevance": [1.0, 1.0, 0.0, 1.0],
        }
    ),
    "qrels interleaved": pd.DataFrame({"query_id": ["q1", "q2", "q1"], "doc_id": ["C", "B", "A"]}),
    "qrels categorical": pd.DataFrame(
        {"query_id": ["q1", "q1", "q2"], "doc_id": ["A", "C", "B"]}, dtype="category"
    ),
    "qrels object": pd.DataFrame(
        {"query_id": ["q1", "q1", "q2"], "doc_id": ["A", "C", "B"]}, dtype=object
    ),
}


@pytest.mark.parametrize("all_qa", ALL_FORMS_OF_QA.values(), ids=ALL_FORMS_OF_QA.keys())
def test_every_form_of_all_qa_gives_the_same_numbers(all_qa):
    pd.testing.assert_frame_equal(per_query(all_qa, RESULTS), per_query(QA, RESULTS))


def test_qrels_grades_are_gains():
    qrels = pd.DataFrame(
        {"query_id": ["q1", "q1", "q1"], "doc_id": ["A", "B", "C"], "relevance": [3, 0, -1]}
    )
    assert gains(qrels, {"q1": hits("B", "C", "A")}) == [[0, 0, 3]]


def test_qrels_with_nullable_relevance_are_taken():
    qrels = pd.DataFrame(
        {"query_id": ["q1"], "doc_id": ["A"], "relevance": pd.array([2], dtype="Int64")}
    )
    assert gains(qrels, {"q1": hits("A")}, k=1) == [[2]]


def test_qrels_keep_the_order_of_first_appearance():
    qrels = pd.DataFrame({"query_id": ["q2", "q1", "q2"], "doc_id": ["A", "A", "B"]})
    assert relevance_matrix(qrels, {"q1": [], "q2": []}, k=1).query_ids.tolist() == ["q2", "q1"]


def test_qrels_that_judge_a_document_twice_are_refused():
    qrels = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["A", "A"], "relevance": [1, 0]})
    with pytest.raises(ValueError, match="judges the same document of a query twice: q1 -> A"):
        gains(qrels, RESULTS)


def test_qrels_without_a_judgement_are_refused():
    with pytest.raises(ValueError, match="all_qa is an empty table"):
        gains(pd.DataFrame({"query_id": [], "doc_id": []}), RESULTS)


def test_qrels_with_a_relevance_of_text_are_refused():
    qrels = pd.DataFrame({"query_id": ["q1"], "doc_id": ["A"], "relevance": ["1"]})
    with pytest.raises(TypeError, match="all_qa: relevance must be numbers"):
        gains(qrels, RESULTS)


@pytest.mark.parametrize("relevance", [np.nan, np.inf, -np.inf])
def test_qrels_with_a_relevance_that_is_not_finite_are_refused(relevance):
    qrels = pd.DataFrame(
        {"query_id": ["q1", "q1"], "doc_id": ["A", "B"], "relevance": [1.0, relevance]}
    )
    with pytest.raises(ValueError, match="relevance"):
        gains(qrels, {"q1": hits("A")})


@pytest.mark.parametrize("relevance", [1, 0])
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=repr)
def test_qrels_with_a_missing_query_id_are_refused(missing, relevance):
    qrels = pd.DataFrame(
        {"query_id": ["q1", missing], "doc_id": ["A", "B"], "relevance": [1, relevance]}
    )
    with pytest.raises((ValueError, TypeError), match="query_id"):
        gains(qrels, {"q1": hits("A")})


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=repr)
def test_qrels_with_a_missing_doc_id_are_refused(missing):
    qrels = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["A", missing]})
    with pytest.raises((ValueError, TypeError), match="doc_id"):
        gains(qrels, {"q1": hits("A")})


def test_a_table_with_neither_relevant_doc_ids_nor_doc_id_is_refused():
    with pytest.raises(
        KeyError, match="relevant_doc_ids, or query_id and doc_id; found query_id, gold"
    ):
        gains(pd.DataFrame({"query_id": ["q1"], "gold": ["A"]}), RESULTS)


def test_a_query_without_query_id_is_refused():
    with pytest.raises(KeyError, match="all_qa, entry 2: the field query_id is missing"):
        gains([query(["A"]), {"id": "q2", "relevant_doc_ids": ["B"]}], RESULTS)


def test_a_query_without_relevant_doc_ids_is_refused():
    with pytest.raises(KeyError, match="q1: relevant_doc_ids is missing"):
        gains([{"query_id": "q1"}], RESULTS)


@pytest.mark.parametrize(
    "relevant", ["A", "['A', 'B']", None, float("nan"), 5, [["A"]], [("A", "B")]], ids=repr
)
def test_relevant_doc_ids_of_the_wrong_form_are_refused(relevant):
    with pytest.raises(TypeError, match="q1: .*relevant_doc_ids"):
        gains([query(relevant)], RESULTS)


@pytest.mark.parametrize("doc_id", [None, float("nan"), 1.0, b"A", True], ids=repr)
def test_a_relevant_doc_id_that_is_no_text_is_refused(doc_id):
    with pytest.raises(TypeError, match="every relevant_doc_ids must be a text"):
        gains([query([doc_id])], RESULTS)


@pytest.mark.parametrize(
    "query_id", [None, float("nan"), 1.0, b"q1", True, ("q1",), ["q1"]], ids=repr
)
def test_a_query_id_that_is_no_text_is_refused(query_id):
    with pytest.raises(TypeError, match="every query_id must be a text"):
        gains([query(["A"], query_id)], RESULTS)


@pytest.mark.parametrize("all_qa", [None, "q1", 5, {"q1": ["A"]}], ids=repr)
def test_all_qa_of_the_wrong_type_is_refused(all_qa):
    with pytest.raises(TypeError, match="all_qa must be a list of dicts or a DataFrame"):
        gains(all_qa, RESULTS)


def test_an_entry_of_all_qa_of_the_wrong_type_is_refused():
    with pytest.raises(TypeError, match="all_qa, entry 2.* must be a dict, found str"):
        gains([query(["A"]), "q2"], RESULTS)


def test_a_query_id_twice_is_refused():
    with pytest.raises(ValueError, match="query_id appears twice: q1"):
        gains([query(["A"]), query(["B"])], RESULTS)


# ---------------------------------------------------------------- forms of results


def test_a_list_keeps_its_order_against_its_scores():
    ranking = [{"doc_id": "x", "score": 0.1}, {"doc_id": "A", "score": 0.9}]
    assert gains([query(["A"])], {"q1": ranking}, k=2) == [[0, 1]]


def test_a_ranking_may_be_a_tuple():
    assert gains([query(["A"])], {"q1": tuple(hits("x", "A"))}, k=2) == [[0, 1]]


def test_search_results_are_taken():
    assert gains(QA, Results(RESULTS, k=3)) == gains(QA, RESULTS)


def test_search_results_as_a_table_give_the_same_numbers():
    results = Results(
        {
            query_id: [{**hit, "title": ""} for hit in ranking]
            for query_id, ranking in RESULTS.items()
        },
        k=3,
    )
    pd.testing.assert_frame_equal(per_query(QA, results.to_frame()), per_query(QA, results))


@forms
def test_every_form_of_results_gives_the_same_numbers(form):
    pd.testing.assert_frame_equal(per_query(QA, form(RESULTS)), per_query(QA, RESULTS))


@pytest.mark.parametrize("form", [ranks_of, score_table_of], ids=["rank", "score"])
@pytest.mark.parametrize("seed", range(5))
def test_shuffled_rows_give_the_same_numbers(form, seed):
    table = form(RESULTS).sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(per_query(QA, table), per_query(QA, RESULTS))


@pytest.mark.parametrize("form", [ranks_of, score_table_of], ids=["rank", "score"])
def test_interleaved_queries_give_the_same_numbers(form):
    table = form(RESULTS).iloc[[0, 3, 1, 4, 2, 5]]
    pd.testing.assert_frame_equal(per_query(QA, table), per_query(QA, RESULTS))


@pytest.mark.parametrize("form", [ranks_of, score_table_of], ids=["rank", "score"])
def test_rows_in_reverse_give_the_same_numbers(form):
    pd.testing.assert_frame_equal(per_query(QA, form(RESULTS).iloc[::-1]), per_query(QA, RESULTS))


@pytest.mark.parametrize("form", [ranks_of, score_table_of], ids=["rank", "score"])
def test_the_index_of_the_table_does_not_matter(form):
    table = form(RESULTS).set_axis([0] * 6)
    pd.testing.assert_frame_equal(per_query(QA, table), per_query(QA, RESULTS))


def test_rank_is_used_when_there_is_a_score_too():
    table = ranks_of({"q1": hits("A", "x")}).assign(score=[0.1, 0.9])
    assert gains([query(["A"])], table, k=2) == [[1, 0]]


def test_a_higher_score_comes_first():
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A", "x", "B"], "score": [0.5, 0.9, -3.0]})
    assert gains([query({"A": 1, "B": 2})], table) == [[0, 1, 2]]


def test_integer_scores_are_taken():
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["x", "A"], "score": [1, 2]})
    assert gains([query(["A"])], table, k=2) == [[1, 0]]


def test_infinite_scores_are_ordered():
    table = pd.DataFrame(
        {"query_id": "q1", "doc_id": ["A", "x", "B"], "score": [-np.inf, np.inf, 0.0]}
    )
    assert gains([query({"A": 1, "B": 2})], table) == [[0, 2, 1]]


def test_nullable_scores_are_taken():
    table = pd.DataFrame(
        {"query_id": "q1", "doc_id": ["x", "A"], "score": pd.array([0.1, 0.2], dtype="Float64")}
    )
    assert gains([query(["A"])], table, k=2) == [[1, 0]]


@pytest.mark.parametrize("dtype", ["object", "str", "category"])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)], ids=str)
def test_equal_scores_are_ordered_by_doc_id_descending(order, dtype):
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["d1", "d2", "d10"], "score": 0.5}).iloc[
        list(order)
    ]
    table["doc_id"] = table["doc_id"].astype(dtype)
    assert gains([query({"d2": 3, "d10": 2, "d1": 1})], table) == [[3, 2, 1]]


def test_equal_scores_of_categories_in_another_order_are_ordered_by_doc_id():
    doc_ids = pd.Categorical(["d1", "d2", "d3"], categories=["d3", "d1", "d2"], ordered=True)
    table = pd.DataFrame({"query_id": "q1", "doc_id": doc_ids, "score": 0.5})
    assert gains([query({"d3": 3, "d2": 2, "d1": 1})], table) == [[3, 2, 1]]


def test_equal_scores_of_integer_ids_are_ordered_as_their_text():
    # trec_eval knows texts only: "9" comes before "10".
    table = pd.DataFrame({"query_id": 1, "doc_id": [10, 9], "score": 0.5})
    assert gains([query({9: 2, 10: 1}, 1)], table, k=2) == [[2, 1]]


def test_equal_scores_are_ordered_within_their_query_and_score_only():
    table = pd.DataFrame(
        {
            "query_id": ["q1", "q2", "q1", "q2", "q1"],
            "doc_id": ["A", "B", "C", "D", "Z"],
            "score": [0.5, 0.5, 0.5, 0.5, 0.1],
        }
    )
    assert gains([query({"A": 1, "C": 2, "Z": 3}, "q1"), query({"B": 1, "D": 2}, "q2")], table) == [
        [2, 1, 3],
        [2, 1, 0],
    ]


def test_zero_and_minus_zero_are_equal_scores():
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A", "B"], "score": [0.0, -0.0]})
    assert gains([query(["B"])], table, k=2) == [[1, 0]]


def test_ranks_from_0_are_refused_with_their_own_cure():
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A", "B"], "rank": [0, 1]})
    with pytest.raises(ValueError, match=r"q1: ranks start at 0 \(0, 1\).*rank.* \+ 1"):
        gains([query(["A"])], table)


def distances(n=12):
    """A table of hits, best first, whose scores are distances."""
    rows = [(f"q{row}", doc_id, place) for row in range(n) for place, doc_id in enumerate("ABC")]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])


def test_distances_without_their_rank_are_warned_of():
    all_qa = [query(["A"], f"q{row}") for row in range(12)]
    with pytest.warns(UserWarning, match="scores rise .* give the column rank"):
        relevance_matrix(all_qa, distances(), 3)


@pytest.mark.parametrize("change", [lambda t: t.assign(score=-t["score"]), lambda t: t[:8]])
def test_falling_scores_and_a_few_that_rise_are_not_warned_of(change):
    all_qa = [query(["A"], f"q{row}") for row in range(12)]
    warned = caught(lambda: relevance_matrix(all_qa, change(distances()), 3))
    assert not any("rise" in message for message in warned)


@pytest.mark.parametrize("ranks", [(4, 9, 10), (1, 2, 4), (30, 10, 20), (-1, 1, 2)], ids=str)
def test_ranks_with_gaps_are_refused_since_closing_them_would_raise_the_scores(ranks):
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["C", "A", "B"], "rank": ranks})
    with pytest.raises(ValueError, match=r"q1: ranks have gaps \(.*number them again"):
        gains([query(["A"])], table)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (0, 2, 1)], ids=str)
def test_a_rank_twice_is_refused(order):
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A", "B", "C"], "rank": [1, 2, 2]}).iloc[
        list(order)
    ]
    with pytest.raises(ValueError, match="q1: a rank appears twice"):
        gains([query(["A"])], table)


def test_the_same_rank_in_two_queries_is_no_repeat():
    table = pd.DataFrame(
        {"query_id": ["q2", "q1", "q2", "q1"], "doc_id": ["B", "A", "x", "y"], "rank": [1, 1, 2, 2]}
    )
    assert gains(QA, table, k=2) == [[1, 0], [1, 0]]


@quiet
def test_the_same_rank_in_two_unknown_queries_is_no_repeat():
    table = pd.DataFrame(
        {"query_id": ["q8", "q1", "q9", "q1"], "doc_id": ["B", "x", "B", "A"], "rank": [1, 1, 1, 2]}
    )
    assert gains([query(["A"])], table, k=2) == [[0, 1]]


# ---------------------------------------------------------------- types of id columns

NAMED = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2", "q2", "q2"],
        "doc_id": list("AxCxBy"),
        "score": [3.0, 2, 1, 3, 2, 1],
    }
)
NUMBERED_QA = [query([10, 30], 1), query([20], 2)]
NUMBERED = pd.DataFrame(
    {
        "query_id": [1, 1, 1, 2, 2, 2],
        "doc_id": [10, 99, 30, 99, 20, 98],
        "score": [3.0, 2, 1, 3, 2, 1],
    }
)


def text_dtype(name):
    """A pandas dtype by name; the test is skipped where pandas or pyarrow does not have it."""
    if "arrow" in name.lower():
        pyarrow = pytest.importorskip("pyarrow")
    if name.startswith("ArrowDtype"):
        return pd.ArrowDtype(
            {"string": pyarrow.string(), "large_string": pyarrow.large_string()}[name.split()[1]]
        )
    if name.startswith("StringDtype"):
        _, storage, missing = name.split()
        try:
            return pd.StringDtype(storage, na_value={"NaN": np.nan, "NA": pd.NA}[missing])
        except TypeError:
            pytest.skip("this pandas has no StringDtype(na_value=...)")
    return name


TEXT_DTYPES = [
    "str",
    "object",
    "category",
    "string",
    "StringDtype python NaN",
    "StringDtype python NA",
    "StringDtype pyarrow NaN",
    "StringDtype pyarrow NA",
    "ArrowDtype string",
    "ArrowDtype large_string",
]
INTEGER_DTYPES = ["int64", "int32", "uint16", "Int64", "object", "category"]


@pytest.mark.parametrize("dtype", TEXT_DTYPES)
@pytest.mark.parametrize("shuffled", [False, True], ids=["grouped", "shuffled"])
def test_text_id_columns_of_results(dtype, shuffled):
    table = NAMED.astype(dict.fromkeys(["query_id", "doc_id"], text_dtype(dtype)))
    table = table.sample(frac=1, random_state=1) if shuffled else table
    assert gains(QA, table) == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("dtype", TEXT_DTYPES)
def test_text_id_columns_with_equal_scores(dtype):
    table = NAMED.assign(score=0.5).astype(dict.fromkeys(["query_id", "doc_id"], text_dtype(dtype)))
    assert gains(QA, table) == [[0, 1, 1], [0, 0, 1]]  # x, C, A and y, x, B


@pytest.mark.parametrize("dtype", TEXT_DTYPES)
def test_text_id_columns_of_qrels(dtype):
    qrels = pd.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["A", "C", "B"]}).astype(
        text_dtype(dtype)
    )
    assert gains(qrels, RESULTS) == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("dtype", TEXT_DTYPES)
def test_the_query_column_and_the_document_column_may_differ_in_dtype(dtype):
    assert gains(QA, NAMED.astype({"query_id": text_dtype(dtype), "doc_id": object})) == [
        [1, 0, 1],
        [0, 1, 0],
    ]


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
@pytest.mark.parametrize("shuffled", [False, True], ids=["grouped", "shuffled"])
def test_integer_id_columns_of_results(dtype, shuffled):
    table = NUMBERED.astype(dict.fromkeys(["query_id", "doc_id"], dtype))
    table = table.sample(frac=1, random_state=1) if shuffled else table
    assert gains(NUMBERED_QA, table) == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_integer_id_columns_of_qrels(dtype):
    qrels = pd.DataFrame({"query_id": [1, 1, 2], "doc_id": [10, 30, 20]}).astype(dtype)
    assert gains(qrels, NUMBERED) == [[1, 0, 1], [0, 1, 0]]


def test_integer_ids_of_lists():
    assert gains(NUMBERED_QA, {1: hits(10, 99, 30), 2: hits(99, 20)}) == [[1, 0, 1], [0, 1, 0]]


def test_numpy_integers_and_python_integers_are_alike():
    assert gains(
        NUMBERED_QA, {np.int64(1): hits(np.int32(10), 99), np.int64(2): hits(20)}, k=2
    ) == [[1, 0], [1, 0]]


def test_numpy_texts_and_python_texts_are_alike():
    assert gains(QA, {np.str_("q1"): hits(np.str_("A")), "q2": hits("B")}, k=1) == [[1], [1]]


def test_categories_that_are_not_used_are_no_queries():
    table = NAMED.astype({"query_id": pd.CategoricalDtype(["q0", "q1", "q2", "q3"])})
    assert caught(lambda: relevance_matrix(QA, table, k=1)) == []


def test_it_works_without_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import pandas as pd; from rageval_kit import per_query\n"
        "table = pd.DataFrame({'query_id': ['q1', 'q1'], 'doc_id': ['x', 'A'], 'score': [1.0, 1.0]})\n"
        "print(per_query([{'query_id': 'q1', 'relevant_doc_ids': ['A']}], table, ks=2).loc['q1', 'RR@2'])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "0.5"


# ---------------------------------------------------------------- int against str

NUMBERS_AS_TEXT_QA = [query(["10", "30"], "1"), query(["20"], "2")]
OF_TEXT_DOCS = {"lists": {1: hits("10"), 2: hits("20")}, "table": NUMBERED.astype({"doc_id": str})}
OF_TEXT_QUERIES = {
    "lists": {"1": hits(10), "2": hits(20)},
    "table": NUMBERED.astype({"query_id": str}),
}


@pytest.mark.parametrize(
    ("all_qa", "of_results", "ours", "theirs"),
    [
        (
            NUMBERED_QA,
            OF_TEXT_DOCS,
            "relevant_doc_ids of all_qa is int",
            "doc_id of results is str",
        ),
        (
            NUMBERS_AS_TEXT_QA,
            OF_TEXT_QUERIES,
            "relevant_doc_ids of all_qa is str",
            "doc_id of results is int",
        ),
        (NUMBERED_QA, OF_TEXT_QUERIES, "query_id of all_qa is int", "query_id of results is str"),
        (
            NUMBERS_AS_TEXT_QA,
            OF_TEXT_DOCS,
            "query_id of all_qa is str",
            "query_id of results is int",
        ),
    ],
    ids=["int doc_ids", "text doc_ids", "int query_ids", "text query_ids"],
)
@pytest.mark.parametrize("form", ["lists", "table"])
def test_ids_that_are_numbers_here_and_texts_there_are_refused(
    all_qa, of_results, ours, theirs, form
):
    with pytest.raises(TypeError, match=f"{ours} .*{theirs} .*Make both texts"):
        gains(all_qa, of_results[form])


def test_integer_qrels_against_text_results_are_refused():
    qrels = pd.DataFrame({"query_id": ["1", "2"], "doc_id": [10, 20]})
    with pytest.raises(TypeError, match="Make both texts"):
        gains(qrels, NUMBERED.astype({"query_id": str, "doc_id": str}))


@pytest.mark.parametrize("dtype", ["object", "category"])
def test_text_ids_against_integer_columns_of_any_kind_are_refused(dtype):
    with pytest.raises(TypeError, match="Make both texts"):
        gains(NUMBERS_AS_TEXT_QA, NUMBERED.astype(dict.fromkeys(["query_id", "doc_id"], dtype)))


def test_text_and_integer_doc_ids_mixed_in_all_qa_are_refused():
    with pytest.raises(TypeError, match="every relevant_doc_ids must be a text, found int 2"):
        gains([query(["A", 2])], {"q1": hits("A")})


def test_text_and_integer_doc_ids_mixed_in_results_are_refused():
    with pytest.raises(TypeError, match="every doc_id must be a text, found int 2"):
        gains([query(["A"])], {"q1": hits("A", 2)})


@pytest.mark.parametrize("odd", [2, None, float("nan"), ("q2",)], ids=repr)
def test_the_type_of_an_odd_query_id_among_the_results_is_named(odd):
    with pytest.raises(TypeError, match=type(odd).__name__):
        gains([query(["A"])], {"q1": hits("A"), odd: hits("A")})


# ---------------------------------------------------------------- missing ids and scores

missing_values = pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=repr)


@pytest.mark.parametrize("dtype", TEXT_DTYPES)
@pytest.mark.parametrize("row", [0, 1, 5], ids=["first row", "within", "last row"])
def test_a_missing_query_id_in_a_table_is_refused(dtype, row):
    table = NAMED.astype(dict.fromkeys(["query_id", "doc_id"], text_dtype(dtype)))
    table.loc[row, "query_id"] = None
    with pytest.raises((ValueError, TypeError), match="query_id is missing"):
        gains(QA, table)


@pytest.mark.parametrize("dtype", TEXT_DTYPES)
def test_a_missing_doc_id_in_a_table_is_refused(dtype):
    table = NAMED.astype(dict.fromkeys(["query_id", "doc_id"], text_dtype(dtype)))
    table.loc[1, "doc_id"] = None
    with pytest.raises((ValueError, TypeError), match="doc_id"):
        gains(QA, table)


@pytest.mark.parametrize("column", ["query_id", "doc_id"])
@pytest.mark.parametrize("dtype", ["float64", "Int64"])
def test_a_missing_id_in_an_integer_column_is_refused(column, dtype):
    table = NUMBERED.astype({column: dtype})
    table.loc[1, column] = None
    with pytest.raises((ValueError, TypeError), match=column):
        gains(NUMBERED_QA, table)


@missing_values
def test_a_missing_doc_id_in_a_list_is_refused(missing):
    with pytest.raises(TypeError, match="every doc_id must be a text"):
        gains([query(["A"])], {"q1": hits("A", missing)})


@pytest.mark.parametrize("column", ["score", "rank"])
@pytest.mark.parametrize("dtype", ["float64", "Float64"])
def test_a_missing_score_or_rank_in_a_table_is_refused(column, dtype):
    table = pd.DataFrame(
        {"query_id": "q1", "doc_id": ["A", "B"], column: pd.array([1.0, None], dtype=dtype)}
    )
    with pytest.raises(ValueError, match=f"results, row 1: {column} is NaN"):
        gains([query(["A"])], table)


@pytest.mark.parametrize(
    "score", [float("nan"), np.float32("nan"), pd.NA], ids=["float", "float32", "NA"]
)
def test_a_missing_score_in_a_list_is_refused(score):
    with pytest.raises(ValueError, match="results, q1, rank 2: the score is NaN"):
        gains(
            [query(["A"])], {"q1": [{"doc_id": "A", "score": 0.5}, {"doc_id": "B", "score": score}]}
        )


@pytest.mark.parametrize("column", ["score", "rank"])
@pytest.mark.parametrize("values", [["1", "2"], [True, False]], ids=["text", "bool"])
def test_scores_and_ranks_that_are_no_numbers_are_refused(column, values):
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A", "B"], column: values})
    with pytest.raises(TypeError, match=f"results: {column} must be numbers"):
        gains([query(["A"])], table)


# ---------------------------------------------------------------- Unicode forms

NFC, NFD = unicodedata.normalize("NFC", "문서"), unicodedata.normalize("NFD", "문서")


def test_korean_ids_of_one_form_match():
    assert gains([query([NFC], "질문")], {"질문": hits("다른", NFC)}, k=2) == [[0, 1]]


def test_ids_in_nfd_on_both_sides_match():
    assert gains([query([NFD], NFD)], {NFD: hits("x", NFD)}, k=2) == [[0, 1]]


@forms
@pytest.mark.parametrize(
    ("relevant", "found"), [(NFC, NFD), (NFD, NFC)], ids=["NFC against NFD", "NFD against NFC"]
)
def test_doc_ids_in_two_unicode_forms_are_refused(form, relevant, found):
    with pytest.raises(ValueError, match=r"doc_id .* two Unicode forms"):
        gains([query([relevant])], form({"q1": hits(found)}))


@forms
@pytest.mark.parametrize(
    ("asked", "answered"), [(NFC, NFD), (NFD, NFC)], ids=["NFC against NFD", "NFD against NFC"]
)
def test_query_ids_in_two_unicode_forms_are_refused(form, asked, answered):
    with pytest.raises(ValueError, match=r"query_id .* two Unicode forms"):
        gains([query(["A"], asked)], form({answered: hits("A")}))


def test_doc_ids_in_two_unicode_forms_within_one_ranking_are_refused():
    with pytest.raises(ValueError, match=r"doc_id .* two Unicode forms"):
        gains([query(["A"])], {"q1": hits(NFC, NFD)})


# ---------------------------------------------------------------- results of the wrong form

NOT_HITS = {
    "text": "A",
    "(id, score)": ("A", 0.5),
    "Document": Document(page_content="text", metadata={"doc_id": "A"}),
    "(Document, score)": (Document(page_content="text", metadata={"doc_id": "A"}), 0.5),
    "dict without doc_id": {"id": "A"},
    "None": None,
    "number": 7,
}


@pytest.mark.parametrize("hit", NOT_HITS.values(), ids=NOT_HITS.keys())
def test_what_is_not_a_hit_is_refused_with_place_and_cure(hit):
    with pytest.raises(
        TypeError,
        match=r'results, q2, rank 2: a hit must be a dict with a doc_id, such as \{"doc_id"',
    ):
        gains(QA, {"q1": hits("A"), "q2": [*hits("B"), hit]})


@pytest.mark.parametrize(
    "ranking",
    [None, 5, {"A", "B"}, "A"],
    ids=["None", "number", "set", "text"],
)
def test_what_is_not_a_ranking_is_refused_and_its_query_named(ranking):
    with pytest.raises(TypeError, match=r"q2.*hit"):
        gains(QA, {"q1": hits("A"), "q2": ranking})


@pytest.mark.parametrize(
    ("results", "found"),
    [
        (None, "None"),
        (5, "int"),
        ("q1", "str 'q1'"),
        (hits("A"), r"documents .*swapped"),
        (QA, r"queries .*swapped"),
        ({"q1"}, "set"),
    ],
    ids=["None", "int", "str", "hits", "all_qa", "set"],
)
def test_results_of_the_wrong_type_are_refused(results, found):
    with pytest.raises(TypeError, match="results must be .* or a DataFrame, found " + found):
        gains(QA, results)


@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_a_table_without_an_id_column_is_refused(column):
    with pytest.raises(
        KeyError, match="results as a table needs query_id, doc_id, and rank or score; found"
    ):
        gains(QA, NAMED.drop(columns=column))


def test_a_table_without_an_order_is_refused():
    with pytest.raises(KeyError, match="neither rank nor score"):
        gains(QA, NAMED.drop(columns="score"))
