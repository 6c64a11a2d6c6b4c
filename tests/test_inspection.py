"""check_results and check_scores: what they find, one test each, what evaluate warns of, and clean data."""

import uuid

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, caught, hits, query, scored

from rageval_kit import (
    Results,
    abstention_curve,
    check_results,
    check_scores,
    evaluate,
    fold,
    hit_rate,
    load_dataset,
    mrr,
    per_query,
    save_run,
    search_all,
)

DOCS = [{"doc_id": doc_id, "title": "", "content": f"text {doc_id}"} for doc_id in "ABCDE"]


ALL_QA = [query(["A"], "q1"), query(["B"], "q2")]
CLEAN = {"q1": scored(("A", 0.9), ("C", 0.1)), "q2": scored(("B", 0.8), ("D", 0.2))}


def findings(results, docs=DOCS, all_qa=ALL_QA):
    """(severity, kind, where) of every finding."""
    table = check_results(all_qa, results, docs).to_frame()
    return list(table[["severity", "kind", "where"]].itertuples(index=False, name=None))


def sentence(results, docs=DOCS, all_qa=ALL_QA):
    """The one finding, as a sentence."""
    report = check_results(all_qa, results, docs)
    (only,) = [*report.errors, *report.warnings]
    return only


def score_findings(**rows):
    """The kind and place of what check_scores finds; rows are metric={k: value}."""
    report = check_scores(pd.DataFrame(rows).T)
    return [(finding.kind, finding.where) for finding in report.findings]


# ---------------------------------------------------------------- clean data

FORMS_OF_CLEAN = {
    "dict": CLEAN,
    "Results": Results(CLEAN, k=2, lower_is_better=False),
    "table": Results(CLEAN, k=2, lower_is_better=False).to_frame(),
    "table by score": Results(CLEAN, k=2, lower_is_better=False).to_frame().drop(columns="rank"),
    "shuffled table": Results(CLEAN, k=2).to_frame().iloc[[3, 0, 2, 1]],
    "without scores": {"q1": hits("A", "C"), "q2": hits("B", "D")},
    "scores of None": {
        "q1": scored(("A", None), ("C", None)),
        "q2": scored(("B", None), ("D", None)),
    },
    "distances": {"q1": scored(("A", 0.1), ("C", 0.9)), "q2": scored(("B", 0.2), ("D", 0.8))},
    "known distances": Results(
        {"q1": scored(("A", 0.1), ("C", 0.9)), "q2": scored(("B", 0.2), ("D", 0.8))}, 2, "", True
    ),
}


@pytest.mark.parametrize("results", FORMS_OF_CLEAN.values(), ids=FORMS_OF_CLEAN.keys())
def test_clean_results_have_no_finding(results):
    assert findings(results) == []


def test_clean_results_print_ok(capsys):
    check_results(ALL_QA, CLEAN, DOCS)
    assert (
        capsys.readouterr().out
        == "[OK] results of 2 queries, at most 2 hits each: 0 errors, 0 warnings\n"
    )


def test_clean_results_give_no_warning():
    assert caught(lambda: check_results(ALL_QA, CLEAN, DOCS)) == []


@pytest.mark.parametrize("docs", [None, pd.DataFrame(DOCS)], ids=["no docs", "table of docs"])
def test_docs_may_be_left_out_or_a_table(docs):
    assert findings(CLEAN, docs) == []


def test_integer_ids_have_no_finding():
    docs = [{"doc_id": 1}, {"doc_id": 2}]
    assert findings({1: hits(1, 2), 2: hits(2, 1)}, docs, [query([1], 1), query([2], 2)]) == []


def test_a_query_without_relevant_document_is_no_finding():
    assert findings(CLEAN, all_qa=[query(["A"], "q1"), query([], "q2")]) == []


def test_the_order_of_the_queries_does_not_matter():
    assert findings(dict(reversed(CLEAN.items()))) == []


def test_the_lecture_has_no_finding(lecture_search):
    docs, all_qa, results = lecture_search
    assert findings(results, docs, all_qa) == []


def test_the_table_of_the_lecture_has_no_finding(lecture_search):
    docs, all_qa, results = lecture_search
    assert findings(results.to_frame(), docs, all_qa) == []


def test_the_scores_of_the_lecture_have_no_finding(lecture_search):
    _, all_qa, results = lecture_search
    assert len(check_scores(evaluate(all_qa, results, ks=range(1, 6))).findings) == 0


def test_evaluating_the_lecture_gives_no_warning(lecture_search):
    _, all_qa, results = lecture_search
    assert caught(lambda: evaluate(all_qa, results)) == []


# ---------------------------------------------------------------- scores against the order of the ranking

RISING = {"q1": scored(("C", 0.1), ("A", 0.9)), "q2": scored(("D", 0.2), ("B", 0.8))}


def test_similarities_that_rise_are_an_error():
    assert findings(Results(RISING, k=2, lower_is_better=False)) == [("error", "order", "q1, q2")]


def test_similarities_that_rise_are_explained():
    text = sentence(Results(RISING, k=2, lower_is_better=False))
    assert text == (
        "q1, q2: the scores are similarities (higher is better) and rise along the ranking: the worst come first. "
        "Order similarities falling."
    )


def test_distances_that_fall_are_an_error():
    assert findings(Results(CLEAN, k=2, lower_is_better=True)) == [("error", "order", "q1, q2")]


def test_distances_that_fall_are_explained():
    text = sentence(Results(CLEAN, k=2, lower_is_better=True))
    assert text == (
        "q1, q2: the scores are distances (lower is better) and fall along the ranking: the worst come first. "
        "Order distances rising."
    )


def test_scores_that_do_neither_are_an_error():
    mixed = CLEAN | {"q2": scored(("B", 0.5), ("D", 0.9), ("C", 0.1), ("E", 0.1))}
    assert ("error", "order", "q2") in findings(mixed)


def test_one_query_against_the_others_is_an_error():
    all_qa = [*ALL_QA, query(["C"], "q3")]
    assert findings(CLEAN | {"q3": scored(("C", 0.1), ("A", 0.9))}, all_qa=all_qa) == [
        ("error", "order", "q3")
    ]


def test_a_ranking_of_one_hit_has_any_order():
    assert (
        findings(
            Results({"q1": scored(("A", 0.9)), "q2": scored(("B", 0.1))}, k=1, lower_is_better=True)
        )
        == []
    )


def test_a_table_of_distances_without_rank_is_refused_as_by_evaluate():
    results = Results(RISING, k=2, lower_is_better=True)  # in the right order
    with pytest.raises(ValueError, match="scores are distances"):
        findings(results.to_frame().drop(columns="rank"))


def test_a_table_of_distances_with_rank_is_none():
    assert findings(Results(RISING, k=2, lower_is_better=True).to_frame()) == []


# ---------------------------------------------------------------- a metric outside 0..1


def test_a_repeated_document_is_an_error():
    assert findings({"q1": hits("C", "C"), "q2": hits("B", "D")}) == [
        ("error", "repeated document", "q1")
    ]


def test_repeats_that_lift_recall_above_1_are_an_error():
    found = findings({"q1": hits("A", "A"), "q2": hits("B", "B")})
    assert ("error", "range", "Recall@2") in found


def test_repeats_that_lift_ndcg_above_1_are_an_error():
    found = findings({"q1": hits("A", "A"), "q2": hits("B", "B")})
    assert ("error", "range", "nDCG@2") in found


@pytest.mark.parametrize(
    "metric", ["HitRate", "MRR", "nDCG", "Precision", "Recall", "MAP", "F1", "Judged"]
)
@pytest.mark.parametrize("value", [1.01, 2.0, -0.01])
def test_an_average_outside_0_to_1_is_an_error(metric, value):
    assert ("range", f"{metric}@3") in score_findings(**{metric: {3: value}})


@pytest.mark.parametrize("value", [0.0, 1.0, 1 + 1e-12, -1e-12, np.nan])
def test_an_average_of_0_to_1_up_to_rounding_is_none(value):
    assert score_findings(nDCG={3: value}) == []


def test_unique_documents_may_be_many():
    assert score_findings(Unique={3: 3.0, 5: 5.0}) == []


# ---------------------------------------------------------------- averages that no ranking can have


def test_mrr_above_hit_rate_is_an_error():
    assert score_findings(HitRate={3: 0.5}, MRR={3: 0.6}) == [("MRR above HitRate", "k=3")]


def test_mrr_above_hit_rate_is_explained():
    report = check_scores(pd.DataFrame({3: [0.5, 0.6]}, index=["HitRate", "MRR"]))
    assert report.errors == [
        "k=3: MRR 0.6 is above HitRate 0.5, and 1 / rank is at most 1 where something was found. "
        "Average both over the same queries."
    ]


def test_mrr_equal_to_hit_rate_is_none():
    assert score_findings(HitRate={3: 0.5}, MRR={3: 0.5}) == []


@pytest.mark.parametrize("metric", ["HitRate", "MRR", "Recall", "MAP"])
def test_a_metric_that_can_only_rise_and_falls_is_an_error(metric):
    assert score_findings(**{metric: {1: 0.5, 3: 0.4}}) == [("falls with k", metric)]


@pytest.mark.parametrize("metric", ["nDCG", "Precision", "F1"])
def test_a_metric_that_may_fall_and_falls_is_none(metric):
    assert score_findings(**{metric: {1: 0.5, 3: 0.4}}) == []


def test_the_order_of_the_cutoffs_does_not_matter():
    assert score_findings(Recall={10: 0.9, 1: 0.5, 3: 0.6}) == []


def test_a_missing_cell_is_skipped():
    assert score_findings(Recall={1: 0.5, 3: np.nan, 5: 0.4}) == [("falls with k", "Recall")]


def test_cutoffs_that_are_texts_are_ordered_as_numbers():
    assert score_findings(Recall={"1": 0.5, "3": 0.6, "10": 0.7}) == []


def test_cutoffs_that_are_texts_are_checked():
    assert score_findings(Recall={"1": 0.5, "3": 0.7, "10": 0.6}) == [("falls with k", "Recall")]


def test_the_impossible_published_table_is_an_error(capsys):
    published = pd.DataFrame(
        {1: [0.62, 0.62, 0.62], 3: [0.81, 0.55, 1.04]}, index=["HitRate", "MRR", "nDCG"]
    )
    check_scores(published)
    assert capsys.readouterr().out == (
        "[FAIL] 3 metrics at 2 cutoffs: 2 errors, 0 warnings\n"
        "  error: MRR: falls from 0.62 at k=1 to 0.55 at k=3, and can only rise with k. "
        "Is a distance sorted descending?\n"
        "  error: nDCG@3: 1.04 is outside 0..1. "
        "Look for repeated documents, or for a denominator that forgets relevant documents.\n"
    )


def test_a_row_whose_name_is_no_text_is_named_in_words():
    table = pd.DataFrame({1: [0.5, 0.2]}, index=["MRR", {"a": 1}])
    (said,) = check_scores(table).warnings
    assert said.startswith("{'a': 1}: this row was not checked")


def test_an_impossible_published_table_can_stop_the_program():
    published = pd.DataFrame({1: [0.4, 0.5], 3: [0.6, 0.7]}, index=["HitRate", "MRR"])
    with pytest.raises(ValueError, match=r"MRR 0\.7 is above HitRate 0\.6"):
        check_scores(published).raise_if_errors()


def test_distances_sorted_descending_give_a_table_that_could_be_true():
    # One query is found first, one last: nothing falls, and only the order of the scores tells.
    summary = evaluate(ALL_QA, {"q1": hits("A", "C"), "q2": hits("D", "B")}, ks=(1, 2))
    assert len(check_scores(summary).findings) == 0


def test_r_precision_has_no_cutoff_to_compare():
    summary = evaluate(
        ALL_QA, CLEAN, ks=(1, 2), metrics=["R-precision", "Recall", "MRR", "HitRate"]
    )
    assert len(check_scores(summary).findings) == 0


@pytest.mark.parametrize("average", ["macro", "pooled"])
def test_every_metric_of_the_kit_has_no_finding(average):
    metrics = [
        "HitRate",
        "MRR",
        "nDCG",
        "Precision",
        "Recall",
        "MAP",
        "R-precision",
        "F1",
        "Judged",
        "Unique",
    ]
    summary = evaluate(ALL_QA, CLEAN, ks=range(1, 6), metrics=metrics, average=average)
    assert len(check_scores(summary).findings) == 0


# ---------------------------------------------------------------- coverage


def test_fewer_hits_than_the_others_is_a_warning():
    assert findings({"q1": hits("A", "C", "D"), "q2": hits("B")}) == [("warning", "few hits", "q2")]


def test_fewer_hits_than_were_asked_for_is_a_warning():
    assert findings(Results({"q1": hits("A"), "q2": hits("B")}, k=3)) == [
        ("warning", "few hits", "q1, q2")
    ]


def test_fewer_hits_are_explained():
    assert sentence({"q1": hits("A", "C", "D"), "q2": hits("B")}) == (
        "q2: fewer than 3 hits, although the corpus has 5 documents. "
        "Ask the search for k=3: every query must be searched to the same depth."
    )


def test_as_many_hits_as_the_corpus_has_are_enough():
    docs = DOCS[:2]
    assert findings(Results({"q1": hits("A", "B"), "q2": hits("B", "A")}, k=2), docs) == []


def test_fewer_hits_cannot_be_told_without_docs():
    assert findings({"q1": hits("A", "C", "D"), "q2": hits("B")}, docs=None) == []


def test_a_hit_that_is_in_no_document_is_an_error():
    assert findings({"q1": hits("A", "X"), "q2": hits("B", "C")}) == [
        ("error", "not in corpus", "q1")
    ]


def test_a_hit_that_is_in_no_document_is_named():
    assert sentence({"q1": hits("A", "X"), "q2": hits("B", "C")}) == (
        "q1: hits that are in no document: X. Give check_results the docs that were searched."
    )


def test_a_hit_that_is_in_no_document_cannot_be_told_without_docs():
    assert findings({"q1": hits("A", "X"), "q2": hits("B", "C")}, docs=None) == []


def test_k_above_the_corpus_size_is_a_warning():
    results = Results({"q1": hits(*"ABCDE"), "q2": hits(*"BACDE")}, k=9)
    assert findings(results) == [("warning", "large k", "results")]


def test_k_of_the_corpus_size_is_none():
    assert findings(Results({"q1": hits(*"ABCDE"), "q2": hits(*"BACDE")}, k=5)) == []


GRADED = [query({"A": 1, "C": 0}, "q1"), query({"B": 1}, "q2")]


def test_most_hits_unjudged_is_a_warning():
    assert findings({"q1": hits("D", "E", "A"), "q2": hits("C", "A", "B")}, all_qa=GRADED) == [
        ("warning", "unjudged", "results")
    ]


def test_most_hits_unjudged_is_explained():
    assert sentence({"q1": hits("D", "E", "A"), "q2": hits("C", "A", "B")}, all_qa=GRADED) == (
        "results: only 2 of 6 hits are judged; the others count as not relevant. "
        'Judge them, or report metrics=["Judged"] beside the scores.'
    )


def test_half_of_the_hits_judged_is_none():
    assert findings({"q1": hits("A", "D"), "q2": hits("B", "E")}, all_qa=GRADED) == []


def test_a_list_of_relevant_documents_is_taken_as_complete():
    assert findings({"q1": hits("D", "E", "A"), "q2": hits("C", "A", "B")}) == []


def test_the_same_ranking_for_every_query_is_a_warning():
    assert findings({"q1": hits("A", "C"), "q2": hits("A", "C")}) == [
        ("warning", "same ranking", "results")
    ]


def test_the_same_documents_in_another_order_are_none():
    assert findings({"q1": hits("A", "C"), "q2": hits("C", "A")}) == []


def test_one_query_has_no_other_to_be_the_same_as():
    assert findings({"q1": hits("A", "C")}, all_qa=ALL_QA[:1]) == []


def test_a_query_without_results_is_a_warning():
    assert findings({"q1": hits("A", "C")}, docs=None) == [("warning", "no results", "q2")]


def test_results_of_an_unknown_query_are_a_warning():
    assert findings(CLEAN | {"q9": scored(("A", 0.9), ("D", 0.1))}) == [
        ("warning", "unknown query", "q9")
    ]


NOTHING = {
    "no query": {},
    "empty rankings": {"q1": [], "q2": []},
    "Results": Results({"q1": [], "q2": []}, k=5),
    "empty table": pd.DataFrame({"query_id": [], "doc_id": [], "rank": []}),
}


@pytest.mark.parametrize("results", NOTHING.values(), ids=NOTHING.keys())
def test_no_hit_at_all_is_an_error(results):
    assert ("error", "empty", "results") in findings(results)


# ---------------------------------------------------------------- forms of results


def test_the_table_of_a_retriever_has_no_finding():
    unscored = {query_id: [{"doc_id": d, "title": "", "content": ""} for d in docs] for query_id, docs in
                {"q1": "AC", "q2": "BD"}.items()}  # fmt: skip
    assert findings(Results(unscored, k=2).to_frame()) == []


def test_a_table_may_have_a_column_called_k():
    table = pd.DataFrame(
        {"query_id": ["q1", "q2"], "doc_id": ["A", "B"], "rank": [1, 1], "k": [5, 5]}
    )
    assert findings(table, docs=None) == []


def test_what_is_no_hit_is_refused_as_by_evaluate():
    with pytest.raises(TypeError, match="a hit must be a dict with a doc_id"):
        check_results(ALL_QA, {"q1": [None, "C"], "q2": ["B", "C"]})


def test_results_of_the_wrong_type_are_refused_as_by_evaluate():
    with pytest.raises(TypeError, match="results must be"):
        check_results(ALL_QA, ["A", "B"])


def test_a_nan_score_is_refused_as_by_evaluate():
    with pytest.raises(ValueError, match="q1, rank 1: the score is NaN"):
        check_results(ALL_QA, CLEAN | {"q1": scored(("A", float("nan")), ("C", 0.1))})


@pytest.mark.parametrize(
    "results", [{"q1": hits(1, 2)}, {1: hits("A")}], ids=["doc_id", "query_id"]
)
def test_ids_of_another_type_are_refused_as_by_evaluate(results):
    with pytest.raises(TypeError, match="nothing would match"):
        check_results(ALL_QA, results)


# ---------------------------------------------------------------- the report


def test_errors_can_stop_the_program():
    with pytest.raises(ValueError, match="q1: hits that are in no document: X"):
        check_results(ALL_QA, {"q1": hits("A", "X"), "q2": hits("B", "C")}, DOCS).raise_if_errors()


def test_warnings_do_not_stop_the_program():
    check_results(ALL_QA, {"q1": hits("A", "C"), "q2": hits("A", "C")}, DOCS).raise_if_errors()


def test_len_counts_the_errors():
    assert len(check_results(ALL_QA, {"q1": hits("A", "X"), "q2": hits("B")}, DOCS)) == 1


def test_every_finding_says_what_to_do():
    results = Results(
        {"q1": scored(("X", 0.1), ("A", 0.5), ("A", 0.2)), "q9": scored(("B", 0.1))}, k=7
    )
    table = check_results(GRADED, results, DOCS).to_frame()
    assert len(table) >= 7
    assert (table["cure"].str.len() > 10).all()


def test_the_report_is_printed(capsys):
    check_results(ALL_QA, {"q1": hits("A", "X"), "q2": hits("B", "C")}, DOCS)
    assert capsys.readouterr().out.splitlines()[0] == (
        "[FAIL] results of 2 queries, at most 2 hits each: 1 error, 0 warnings"
    )


def test_check_scores_prints_ok(capsys):
    check_scores(pd.DataFrame({1: [0.5]}, index=["Recall"]))
    assert capsys.readouterr().out == "[OK] 1 metric at 1 cutoff: 0 errors, 0 warnings\n"


# ---------------------------------------------------------------- what evaluate warns of, and what it does not


def test_evaluate_warns_of_a_cutoff_below_which_nothing_was_searched():
    messages = caught(lambda: evaluate(ALL_QA, Results(CLEAN, k=2), ks=(1, 5)))
    assert [message.partition(":")[0] for message in messages] == [
        "k=5 is deeper than the search, which asked for k=2"
    ]


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (Results(RISING, k=3, lower_is_better=False), "q1, q2: the scores are similarities"),
        (Results(CLEAN, k=3, lower_is_better=True), "q1, q2: the scores are distances"),
        (
            CLEAN | {"q2": scored(("B", 0.5), ("D", 0.9), ("C", 0.1))},
            "q2: the scores neither fall nor rise",
        ),
        (CLEAN | {"q2": scored(("B", 0.1), ("D", 0.9))}, "the scores rise here and fall in other"),
        ({"q1": hits("A", "C"), "q2": hits("A", "C")}, "all 2 queries have the same ranking"),
    ],
    ids=[
        "similarities rise",
        "distances fall",
        "neither",
        "one against the others",
        "same ranking",
    ],
)
def test_evaluate_warns(results, said):
    (message,) = caught(lambda: evaluate(ALL_QA, results, ks=(1, 3)))
    assert said in message
    assert message.endswith("check_results(all_qa, results, docs) looks for more.")


@pytest.mark.parametrize("results", FORMS_OF_CLEAN.values(), ids=FORMS_OF_CLEAN.keys())
def test_evaluate_does_not_warn_of_clean_results(results):
    assert caught(lambda: evaluate(ALL_QA, results, ks=(1, 2))) == []


@pytest.mark.parametrize(
    "results",
    [
        {"q1": hits("A", "C", "D"), "q2": hits("B")},
        Results({"q1": hits(*"ABCDE"), "q2": hits(*"BACDE")}, k=9),
        {"q1": hits("A", "X"), "q2": hits("B", "C")},
        {"q1": hits("D", "E", "A"), "q2": hits("C", "A", "B")},
    ],
    ids=["few hits", "large k", "not in corpus", "unjudged"],
)
def test_evaluate_leaves_what_needs_docs_or_judgement_to_check_results(results):
    assert caught(lambda: evaluate(GRADED, results)) == []


@pytest.mark.parametrize("function", [hit_rate, mrr, per_query, evaluate])
def test_every_metric_warns_of_scores_against_their_order(function):
    run = Results(CLEAN, k=2, lower_is_better=True)
    (message,) = caught(lambda: function(ALL_QA, run, ks=2))
    assert "the worst come first" in message


def test_counting_every_slot_is_not_said_to_be_impossible():
    messages = caught(
        lambda: evaluate(
            ALL_QA, {"q1": hits("A", "A"), "q2": hits("B", "B")}, duplicates="position"
        )
    )
    assert not any("outside 0..1" in message for message in messages)


def test_a_metric_of_the_users_own_may_have_any_size():
    def found_so_far(m):
        return 7 * m.gains.cumsum(axis=1), 1.0

    assert caught(lambda: evaluate(ALL_QA, CLEAN, metrics=[found_so_far])) == []


def test_evaluate_refuses_a_table_of_distances_without_rank():
    table = Results(RISING, k=2, lower_is_better=True).to_frame().drop(columns="rank")
    with pytest.raises(ValueError, match=r"scores are distances.*Keep the column rank"):
        evaluate(ALL_QA, table)


def test_evaluate_takes_a_table_of_distances_with_rank():
    table = Results({"q1": scored(("A", 0.1), ("C", 0.9))}, k=2, lower_is_better=True).to_frame()
    assert evaluate(ALL_QA[:1], table, ks=1).loc["MRR", 1] == 1.0


def test_evaluate_takes_scores_that_were_turned_round():
    table = Results({"q1": scored(("A", 0.1), ("C", 0.9))}, k=2, lower_is_better=True).to_frame()
    turned = table.drop(columns="rank").assign(score=-table["score"])
    turned.attrs = {}
    assert evaluate(ALL_QA[:1], turned, ks=1).loc["MRR", 1] == 1.0


# ---------------------------------------------------------------- attrs


def test_the_table_of_results_says_what_its_scores_mean():
    known = {"lower_is_better": True, "index": "abc", "k": 2, "score_name": "distance"}
    attrs = Results(RISING, **known).to_frame().attrs
    assert {name: attrs[name] for name in known} == known


@pytest.mark.parametrize(
    "form", [lambda results: results, Results.to_frame], ids=["Results", "table"]
)
def test_the_index_that_was_searched_travels_with_the_numbers(form):
    results = form(Results(RISING, k=2, lower_is_better=True, index="abc"))
    assert evaluate(ALL_QA, results, ks=(1, 2)).attrs["index"] == "abc"


def test_results_that_were_not_searched_have_no_index():
    assert evaluate(ALL_QA, CLEAN).attrs["index"] is None


def test_the_fingerprint_of_the_lecture_travels_with_the_numbers(lecture_search):
    _, all_qa, results = lecture_search
    assert evaluate(all_qa, results).attrs["index"] == results.index


# ---------------------------------------------------------------- ids of another kind

GOLD = [query([f"doc_{i:03}"], f"q{i}") for i in range(1, 11)]
KIT_DOCS = [{"doc_id": f"doc_{i:03}", "title": "", "content": f"text {i}"} for i in range(1, 21)]


def returned(rename):
    """Ten right rankings of two documents, under the ids that a store gives them."""
    return {f"q{i}": hits(rename(f"doc_{i:03}"), rename(f"doc_{i + 10:03}")) for i in range(1, 11)}


OTHER_KINDS = {
    "suffix #": (lambda doc_id: f"{doc_id}#0", "suffix"),
    "suffix _chunk_": (lambda doc_id: f"{doc_id}_chunk_3", "suffix"),
    "prefix": (lambda doc_id: f"kb:{doc_id}", "prefix"),
    "number alone": (lambda doc_id: doc_id.removeprefix("doc_"), "prefix"),
    "path": (lambda doc_id: f"data/{doc_id}", "path"),
    "extension": (lambda doc_id: f"{doc_id}.md", "extension"),
    "case": (str.upper, "case"),
    "leading zeros": (lambda doc_id: str(int(doc_id[4:])), "prefix and leading zeros"),
    "white space": (lambda doc_id: f"{doc_id} ", "white space"),
    "all of them": (lambda doc_id: f"kb/{doc_id}.txt#2", "suffix and extension and path"),
}


@pytest.mark.parametrize("docs", [None, KIT_DOCS], ids=["all_qa", "docs"])
@pytest.mark.parametrize(("rename", "rule"), OTHER_KINDS.values(), ids=OTHER_KINDS.keys())
def test_ids_of_another_kind_are_one_error_with_their_rule(rename, rule, docs):
    (said,) = check_results(GOLD, returned(rename), docs).errors
    assert f"{rename('doc_001')!r} and 'doc_001' differ in {rule}." in said


@pytest.mark.parametrize("function", [evaluate, per_query, mrr])
def test_metrics_warn_once_of_ids_of_another_kind(function):
    (message,) = caught(lambda: function(GOLD, returned("{}#0".format), ks=1))
    assert "'doc_001#0' and 'doc_001' differ in suffix" in message


def test_the_cure_for_a_suffix_gives_the_right_scores():
    run = returned("{}_chunk_3".format)
    (said,) = check_results(GOLD, run).errors
    cure = said.partition("documents: ")[2].rstrip(".")
    folded = eval(cure, {"fold": fold, "results": run, "k": 2})  # as a reader would run it
    assert mrr(GOLD, folded, ks=1)["RR@1"].mean() == 1.0


def test_judged_chunks_of_which_documents_came_back_are_said_too():
    all_qa = [query([f"doc_{i:03}#0", f"doc_{i:03}#1"], f"q{i}") for i in range(1, 11)]
    (said,) = check_results(all_qa, returned(str)).errors
    assert "differ in suffix" in said


def test_ids_that_a_store_made_up_are_said_without_a_rule():
    run = {f"q{i}": hits(str(uuid.UUID(int=i)), str(uuid.UUID(int=99 + i))) for i in range(1, 11)}
    (said,) = check_results(GOLD, run).warnings
    for fact in ("over 10 queries", str(uuid.UUID(int=1)), "'doc_001' is judged"):
        assert fact in said
    assert len(caught(lambda: evaluate(GOLD, run, ks=1))) == 1


def test_ids_that_a_store_made_up_are_one_error_with_docs():
    run = {f"q{i}": hits(str(uuid.UUID(int=i)), str(uuid.UUID(int=99 + i))) for i in range(1, 11)}
    assert findings(run, KIT_DOCS, GOLD) == [
        ("error", "not in corpus", "q1, q2, q3, q4, q5 and 5 more")
    ]


def test_a_bad_search_is_no_fault_of_the_ids():
    # Every document is of the kind that all_qa judges; one query in ten meets one that is judged.
    bad = {f"q{i}": hits(f"doc_{i + 10:03}", f"doc_{i + 9:03}") for i in range(1, 11)}
    assert caught(lambda: evaluate(GOLD, bad, ks=(1, 2))) == []
    assert findings(bad, KIT_DOCS, GOLD) == []


def test_few_queries_that_find_nothing_known_are_no_finding():
    run = {f"q{i}": hits(f"doc_{i + 10:03}") for i in range(1, 4)}
    assert caught(lambda: evaluate(GOLD[:3], run, ks=1)) == []


def test_chunks_beside_their_documents_are_no_ids_of_another_kind():
    run = {f"q{i}": hits(f"doc_{i:03}", f"doc_{i:03}#2") for i in range(1, 11)}
    assert caught(lambda: evaluate(GOLD, run, ks=(1, 2))) == []


def test_unanswerable_queries_do_not_count_as_unknown():
    all_qa = [*GOLD[:1], *(query([], f"q{i}") for i in range(2, 11))]
    assert caught(lambda: evaluate(all_qa, returned(str), ks=1)) == []


# ---------------------------------------------------------------- the query as its own document


def test_a_query_that_is_its_own_best_document_is_a_warning():
    run = {f"q{i}": hits(f"q{i}", f"doc_{i:03}") for i in range(1, 11)}
    (said,) = check_results(GOLD, run).warnings
    assert "the query itself stands at rank 1 of 10 of 10 rankings" in said
    assert "Leave out the hit whose doc_id is the query_id" in said


def test_a_query_whose_own_document_is_relevant_is_none():
    all_qa = [query([f"q{i}"], f"q{i}") for i in range(10)]
    run = {f"q{i}": hits(f"q{i}", f"q{i + 1}") for i in range(10)}
    assert findings(run, None, all_qa) == []


def test_numbers_that_meet_once_are_none():
    all_qa = [query([i + 100], i) for i in range(40)]
    run = {i: hits(i + 100 if i else 0, i + 101) for i in range(40)}
    assert findings(run, None, all_qa) == []


# ---------------------------------------------------------------- ties


def rounded(decimals):
    """Ten rankings whose scores differ in the third decimal; the relevant document is first."""
    return {
        f"q{i}": scored(*((f"doc_{i + j:03}", round(0.9 - j / 1000, decimals)) for j in range(5)))
        for i in range(1, 11)
    }


def test_coarse_scores_are_a_warning_that_counts_the_first_relevant_hits():
    (said,) = check_results(GOLD, rounded(2), KIT_DOCS).warnings
    assert "10 of 10 first relevant hits have the score of another hit" in said
    assert "1 different scores among 50" in said


def test_scores_that_differ_are_no_ties():
    assert findings(rounded(3), KIT_DOCS, GOLD) == []


def test_a_tie_of_relevant_documents_decides_nothing():
    run = {"q1": scored(("A", 0.5), ("B", 0.5), ("C", 0.1))}
    assert findings(run, None, [query(["A", "B"], "q1")]) == []


def test_a_tie_of_other_documents_decides_nothing_about_the_first_relevant_hit():
    run = {"q1": scored(("A", 0.9), ("B", 0.5), ("C", 0.5))}
    assert findings(run, None, [query(["A"], "q1")]) == []


# ---------------------------------------------------------------- two directions

TWO_WAYS = {f"q{i}": scored(("A", 0.5 + (0.1 if i % 2 else -0.1)), ("B", 0.5)) for i in range(4)}


@pytest.mark.parametrize(
    "say",
    [
        lambda all_qa, path: check_results(all_qa, TWO_WAYS).raise_if_errors(),
        lambda all_qa, path: save_run(TWO_WAYS, path),
        lambda all_qa, path: abstention_curve(all_qa, TWO_WAYS),
    ],
    ids=["check_results", "save_run", "abstention_curve"],
)
def test_scores_that_rise_here_and_fall_there_are_refused_alike(say, tmp_path):
    all_qa = [query(["A"] if i else [], f"q{i}") for i in range(4)]
    with pytest.raises(ValueError, match=r"rise .* and fall in "):
        say(all_qa, tmp_path / "run.trec")


# ---------------------------------------------------------------- a threshold, copies, folding


def test_a_threshold_that_cut_the_hits_is_named():
    run = {
        "q1": scored(("A", 0.9), ("C", 0.8), ("D", 0.7), ("E", 0.61)),
        "q2": scored(("B", 0.8), ("D", 0.6)),
        "q3": scored(("A", 0.7)),
    }
    (said,) = check_results([*ALL_QA, query(["A"], "q3")], run, DOCS).warnings
    assert "they end at different depths, and no score is below 0.6." in said
    assert "threshold" in said


def test_a_limit_of_distances_is_named_from_the_other_side():
    run = {
        "q1": scored(("A", 0.1), ("C", 0.2), ("D", 0.3)),
        "q2": scored(("B", 0.2), ("D", 0.4)),
        "q3": scored(("A", 0.3)),
    }
    (said,) = check_results([*ALL_QA, query(["A"], "q3")], run, DOCS).warnings
    assert "no score is above 0.4." in said


def test_documents_with_copies_that_win_everywhere_are_a_warning(bundled_store):
    # Reciprocal rank fusion by text, as EnsembleRetriever does it without id_key.
    docs, all_qa = load_dataset(ROOT / "data" / "campus" / "ko")
    single = search_all(bundled_store("campus/ko"), all_qa, 50)
    text_of = {doc["doc_id"]: doc["content"] for doc in docs}
    fused = {}
    for query_id, ranking in single.items():
        scores, ids = {}, {}
        for rank, hit in enumerate(ranking, start=1):
            text = text_of[hit["doc_id"]]
            scores[text] = scores.get(text, 0) + 1 / (60 + rank)
            ids.setdefault(text, hit["doc_id"])
        best = sorted(scores, key=scores.get, reverse=True)[:10]
        fused[query_id] = scored(*((ids[text], scores[text]) for text in best))
    kinds = [finding.kind for finding in check_results(all_qa, fused, docs).findings]
    assert kinds == ["copies first"]
    assert "copies first" not in {f.kind for f in check_results(all_qa, single, docs).findings}


def test_relevant_documents_that_folding_took_away_are_an_error():
    run = fold({"q1": hits("A", "C"), "q2": hits("B", "D")}, {"B": "A"}, k=2)
    (said,) = check_results(ALL_QA, run, DOCS).errors
    assert said.startswith("q2 -> B: these relevant documents were folded into others")
    assert "fold_judgements(all_qa, source_of)" in said
