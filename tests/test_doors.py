"""The doors: documents, queries and results in any form, what passes them and what they say of the rest."""

import copy

import numpy as np
import pandas as pd
import pytest
from conftest import caught, hits, query, scored
from langchain_core.documents import Document

import rageval_kit
from rageval_kit import (
    Results,
    check_results,
    compare,
    diagnose,
    differences,
    evaluate,
    explain,
    hit_rate,
    mrr,
    ndcg,
    per_query,
    precision,
    recall,
    relevance_matrix,
)
from rageval_kit.documents import as_docs, read_document, stored_id, text_of
from rageval_kit.judgements import as_queries, read_judgements, unanswerable
from rageval_kit.rankings import as_rankings, direction

ALL_QA = [query(["A"], "q1"), query(["B"], "q2")]
RESULTS = {"q1": scored(("A", 0.9), ("C", 0.1)), "q2": scored(("C", 0.8), ("B", 0.2))}
METRICS = [hit_rate, mrr, ndcg, precision, recall, per_query, evaluate]

# ---------------------------------------------------------------- documents


def test_langchain_documents_are_documents():
    document = Document("RAG\nRetrieval first.", metadata={"doc_id": "doc_001", "title": "RAG"})
    assert as_docs([document]) == [
        {"doc_id": "doc_001", "title": "RAG", "content": "Retrieval first."}
    ]


def test_a_document_may_have_a_field_called_query_id():
    docs = [{"doc_id": "doc_001", "content": "Retrieval first.", "query_id": "q7"}]
    assert as_docs(docs) == docs


def test_a_document_is_read_back_as_it_was_written():
    doc = {"doc_id": "doc_001", "title": "RAG", "content": "Retrieval first.\nThen answers."}
    document = Document(text_of(doc), metadata={"doc_id": "doc_001", "title": "RAG"})
    assert read_document(document) == doc


UUID = "0b6f3d2c-6f5d-4b3e-9a55-2b5f0a1c9d10"


@pytest.mark.parametrize(
    ("metadata", "its_own_id", "expected"),
    [
        ({"doc_id": "doc_001"}, "other", "doc_001"),
        ({}, "doc_001", "doc_001"),
        ({}, UUID, UUID),
        ({}, None, None),
        ({"doc_id": 7}, "doc_001", None),
    ],
    ids=[
        "metadata first",
        "its own id",
        "of the form that LangChain makes up",
        "none",
        "an integer",
    ],
)
def test_the_id_of_a_stored_document(metadata, its_own_id, expected):
    assert stored_id(Document("text", metadata=metadata, id=its_own_id)) == expected


@pytest.mark.parametrize(
    "given",
    [
        [{"doc_id": UUID, "content": "text"}],
        [Document("text", id=UUID)],
        [Document("text", metadata={"doc_id": UUID})],
    ],
    ids=["dict", "id", "metadata"],
)
def test_an_id_that_the_user_gave_is_an_id_whatever_it_looks_like(given):
    assert as_docs(given)[0]["doc_id"] == UUID


@pytest.mark.parametrize(
    ("docs", "error", "said"),
    [
        (None, TypeError, "docs must be a list of dicts.*None"),
        ("data/lecture", TypeError, "docs must be.*data/lecture"),
        (["doc_001"], TypeError, "docs, entry 1.*dict"),
        ([{"content": "x"}], KeyError, "entry 1.*doc_id is missing.*content"),
        ([{"doc_id": 1}], TypeError, "doc_id must be a text, found int 1"),
        ([{"doc_id": ["A"]}], TypeError, r"doc_id must be a text, found list \['A'\]"),
        ([{"doc_id": " "}], ValueError, "doc_id is empty"),
        ([{"doc_id": "A"}, {"doc_id": "A"}], ValueError, "'A' appears twice.*entry 2"),
        (ALL_QA, TypeError, "queries.*swapped"),
        (RESULTS, TypeError, "results.*swapped"),
        ([Document("text")], ValueError, "no doc_id.*metadata"),
    ],
    ids=[
        "None", "path", "ids", "no id", "integer", "list", "blank", "twice", "queries", "results",
        "LangChain without id",
    ],
)  # fmt: skip
def test_what_is_no_list_of_documents_is_refused(docs, error, said):
    with pytest.raises(error, match=said):
        as_docs(docs)


# ---------------------------------------------------------------- queries


def test_a_generator_of_queries_is_read_once_and_whole():
    assert len(as_queries(qa for qa in ALL_QA)) == 2
    assert compare({"a": RESULTS, "b": RESULTS}, (qa for qa in ALL_QA), k=2, metrics=["RR"]).loc[
        "MRR@2", "mean"
    ].tolist() == [0.75, 0.75]


@pytest.mark.parametrize("column", ["relevance", "grade", "label", "rel", "score"])
def test_the_grades_of_a_table_of_judgements_are_read_whatever_they_are_called(column):
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A", "C"], column: [0, 2]})
    assert read_judgements(table).grades.tolist() == [0, 2]


def test_complex_numbers_are_no_grades():
    qrels = pd.DataFrame({"query_id": ["q1"], "doc_id": ["A"], "relevance": [1 + 0j]})
    with pytest.raises(TypeError, match="relevance must be numbers, found complex"):
        as_queries(qrels)


def test_a_list_is_no_doc_id_where_scores_are_tied():
    table = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": [["A"], "B"], "score": [1.0, 1.0]})
    with pytest.raises(TypeError, match=r"doc_id must be a text, found list \['A'\]"):
        evaluate(ALL_QA[:1], table)


def test_two_columns_of_grades_are_refused():
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A"], "label": [1], "score": [0.3]})
    with pytest.raises(ValueError, match="label or score"):
        recall(table, RESULTS)


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [([], True), ({}, True), ({"A": 0}, True), (["A"], False), ({"A": 0, "B": 1}, False)],
    ids=repr,
)
def test_a_query_is_unanswerable_if_the_dataset_says_so(relevant, expected):
    assert unanswerable(query(relevant)) is expected


@pytest.mark.parametrize(
    ("found", "cure"),
    [
        ("['doc_002']", r"Write \['doc_002'\], a list and not its text"),
        ("['doc_001' 'doc_002']", r"Write \['doc_001', 'doc_002'\], a list"),
        ([["doc_003"]], r"Write \['doc_003'\], one list"),
        ("doc_001, doc_004", r"Write \['doc_001', 'doc_004'\]"),
        ("doc_001", r"Write \['doc_001'\]"),
        (None, r"Write \[\]"),
        (5, r"Write \['5'\]"),
    ],
    ids=repr,
)
def test_the_cure_of_a_bad_list_is_made_from_what_was_found(found, cure):
    with pytest.raises(TypeError, match=cure):
        recall([query(found)], RESULTS)


# ---------------------------------------------------------------- results and what they know

KNOWN = {
    "k": 2,
    "score_name": "cosine",
    "lower_is_better": False,
    "index": "abc",
    "searched": 1,
    "changed": "1 added",
    "questions": {"q1": "Why?", "q2": "How?"},
    "folded": {"A#2": "A"},
}


def test_results_keep_what_they_know_as_a_table():
    assert {name: Results(RESULTS, **KNOWN).to_frame().attrs[name] for name in KNOWN} == KNOWN


@pytest.mark.parametrize(
    "change",
    [
        Results.copy,
        copy.copy,
        lambda results: results | {},
        lambda results: results.only(["q1", "q2"]),
        lambda results: results.with_hits(results, 2),
        as_rankings,
        lambda results: as_rankings(results.to_frame()),
    ],
    ids=["copy", "copy.copy", "or", "only", "with_hits", "as_rankings", "a table and back"],
)
def test_results_keep_what_they_know(change):
    assert change(Results(RESULTS, **KNOWN)).known == KNOWN


def test_some_of_the_results_know_the_search():
    some = Results(RESULTS, **KNOWN).only(["q2"])
    assert list(some) == ["q2"]
    assert (some.k, some.index, some.lower_is_better) == (2, "abc", False)


def test_merged_results_know_what_both_agree_on():
    merged = Results({"q1": hits("A")}, k=5, index="abc") | Results({"q2": []}, k=3, index="xyz")
    assert (merged.k, merged.index, sorted(merged)) == (3, None, ["q1", "q2"])


@pytest.mark.parametrize("query_ids", ["q1", None, 5], ids=repr)
def test_only_wants_a_list_of_query_ids(query_ids):
    with pytest.raises(TypeError, match="query_ids must be a list"):
        Results(RESULTS).only(query_ids)


def test_only_names_a_query_that_was_not_searched():
    with pytest.raises(KeyError, match="no entry for q9"):
        Results(RESULTS).only(["q1", "q9"])


def test_a_table_of_results_brings_its_texts():
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["A", "B"], "rank": [2, 1], "content": "x"})
    assert as_rankings(table, want=("content",))["q1"][0] == {"doc_id": "B", "content": "x"}


def test_the_direction_of_scores_is_told_from_their_order():
    rising, falling = scored(("A", 0.1), ("B", 0.2)), scored(("A", 0.2), ("B", 0.1))
    assert direction(Results({"q1": rising})) is True
    assert direction(Results({"q1": falling})) is False
    assert direction(Results({"q1": rising, "q2": falling})) is None
    assert direction(Results({"q1": falling}, lower_is_better=True)) is True


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"q1": None}, "q1: a list of hits was wanted"),
        ({"q1": [None]}, "q1, rank 1: a hit must be a dict"),
        ({"q1": [{"id": "A"}]}, "q1, rank 1: a hit must be a dict with a doc_id"),
        ({"q1": [{"doc_id": "A", "score": "0.9"}]}, "q1, rank 1: the score must be a number"),
        ({"q1": [{"doc_id": "A", "score": True}]}, "q1, rank 1: the score must be a number"),
        (ALL_QA, "queries.*swapped"),
        ("run.txt", "results must be.*run.txt"),
        (None, "results must be.*None"),
    ],
    ids=[
        "no ranking", "no hit", "another field", "text score", "bool score",
        "all_qa", "path", "None",
    ],
)  # fmt: skip
@pytest.mark.parametrize("function", [as_rankings, lambda results: evaluate(ALL_QA, results)])
def test_what_is_no_result_is_refused(function, results, said):
    with pytest.raises(TypeError, match=said):
        function(results)


def test_what_stands_behind_the_cutoff_is_not_looked_at():
    behind = {"q1": [*hits("A"), {"x": 1}], "q2": hits("B"), "zz": None}
    messages = caught(lambda: evaluate(ALL_QA, behind, ks=1))
    assert messages == ["results of 1 query not in all_qa are left out: zz."]


@pytest.mark.parametrize("column", ["query_id", "doc_id", "score"])
def test_a_column_that_appears_twice_is_refused(column):
    table = Results(RESULTS).to_frame()
    with pytest.raises(ValueError, match=f"results: the column {column} appears twice"):
        mrr(ALL_QA, pd.concat([table, table[column]], axis=1))


# ---------------------------------------------------------------- the search is remembered

SEARCHED = Results(RESULTS, k=2)
DEEP = "k=10 is deeper than the search, which asked for k=2"


@pytest.mark.parametrize(
    "form",
    [
        lambda results: results,
        Results.to_frame,
        Results.copy,
        lambda results: results.only(["q1", "q2"]),
        lambda results: results.to_frame().iloc[:3],
    ],
    ids=["dict", "table", "copy", "only", "some rows"],
)
@pytest.mark.parametrize(
    "call",
    [
        *(lambda results, f=f: f(ALL_QA, results, ks=10) for f in METRICS),
        lambda results: relevance_matrix(ALL_QA, results, 10),
        lambda results: explain(ALL_QA, results, "q1", "Precision", k=10),
        lambda results: compare({"a": results, "b": results}, ALL_QA, k=10),
        lambda results: differences({"a": results, "b": results}, ALL_QA, k=10),
    ],
)
def test_a_k_deeper_than_the_search_is_said_by_every_function(call, form):
    assert any(DEEP in message for message in caught(lambda: call(form(SEARCHED))))


def test_a_diagnosis_deeper_than_the_search_says_so():
    assert any(
        "deeper than the search" in message
        for message in caught(lambda: diagnose(ALL_QA, SEARCHED))
    )


def test_a_comparison_goes_as_deep_as_the_shallowest_search():
    runs = {"a": Results(RESULTS, k=2), "b": Results(RESULTS, k=2)}
    assert caught(lambda: compare(runs, ALL_QA, metrics=["RR"])) == []
    assert compare(runs, ALL_QA, metrics=["RR"]).index[0] == ("MRR@2", "a")


def test_honest_runs_with_short_rankings_are_compared():
    short = {"q1": hits("A"), "q2": hits("C")}
    runs = {"dense": Results(RESULTS, k=2), "lexical": Results(short, k=2)}
    assert compare(runs, ALL_QA, metrics=["HitRate"]).loc["HitRate@2", "mean"].tolist() == [1, 0.5]


def test_a_question_that_was_changed_since_the_search_is_said():
    searched = Results(RESULTS, k=2, questions={"q1": "Why?", "q2": "How?"})
    now = [qa | {"question": "Why?"} for qa in ALL_QA]
    (message,) = caught(lambda: evaluate(now, searched, ks=1))
    assert "another question for q2: search again" in message


def test_a_question_that_was_changed_is_an_error_of_the_results(capsys):
    searched = Results(RESULTS, k=2, questions={"q1": "Why?", "q2": "How?"})
    report = check_results([qa | {"question": "Why?"} for qa in ALL_QA], searched)
    assert [finding.where for finding in report.findings if finding.kind == "question"] == ["q2"]
    assert "[FAIL]" in capsys.readouterr().out


def test_labels_that_are_in_no_document_are_an_error_of_the_results():
    docs = [{"doc_id": doc_id} for doc_id in "BC"]
    report = check_results(
        [query(["A"], "q1"), query(["B"], "q2")], {"q1": hits("C", "B"), "q2": hits("B", "C")}, docs
    )
    assert [(finding.kind, finding.what[-1]) for finding in report.findings] == [
        ("label not in corpus", "A")
    ]


# ---------------------------------------------------------------- cutoffs


@pytest.mark.parametrize("function", METRICS)
def test_k_is_another_name_for_ks(function):
    pd.testing.assert_frame_equal(function(ALL_QA, RESULTS, k=2), function(ALL_QA, RESULTS, ks=2))


@pytest.mark.parametrize("function", METRICS)
def test_k_and_ks_are_not_both_given(function):
    with pytest.raises(ValueError, match="two names of one thing"):
        function(ALL_QA, RESULTS, k=2, ks=[1])


@pytest.mark.parametrize("function", METRICS)
def test_a_k_far_behind_the_results_costs_nothing_and_counts(function):
    table = function(ALL_QA, RESULTS, ks=(2, 10**6))
    assert relevance_matrix(ALL_QA, RESULTS, 10**6).grades.shape == (2, 101)
    deep, shallow = table.iloc[:, -1].to_numpy(), table.iloc[:, 0].to_numpy()
    assert function is precision or (deep >= shallow - 1e-12).any()


def test_precision_far_behind_the_results_divides_by_k():
    assert precision(ALL_QA, RESULTS, ks=10**6).iloc[0, 0] == 1e-6


def test_many_relevant_documents_of_one_query_cost_nothing():
    many = [query([f"d{i}" for i in range(50_000)], "q1"), *ALL_QA[1:]]
    matrix = relevance_matrix(many, {"q1": hits("d7", "x"), "q2": hits("B")}, 5)
    assert matrix.grades.shape == (2, 5)
    table = per_query(many, {"q1": hits("d7", "x"), "q2": hits("B")}, 5, ["R-precision", "nDCG"])
    assert table.loc["q1", "R-precision"] == 1 / 50_000


# ---------------------------------------------------------------- each is read once


@pytest.fixture
def reads(monkeypatch):
    """How often all_qa and results are read."""
    counts = {"read_judgements": 0, "read_hits": 0}

    def count(module, name):
        function = getattr(module, name)

        def counted(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, counted)

    for name in ("metrics", "comparison", "explanation", "inspection", "relevance"):
        module = getattr(rageval_kit, name)
        for door in counts:
            if hasattr(module, door):
                count(module, door)
    return counts


@pytest.mark.parametrize(
    ("call", "runs"),
    [
        (lambda: evaluate(ALL_QA, RESULTS, 2, ["nDCG", "R-precision"]), 1),
        (lambda: compare(dict.fromkeys("abcde", RESULTS), ALL_QA, k=2), 5),
        (lambda: differences(dict.fromkeys("ab", RESULTS), ALL_QA, k=2), 2),
        (lambda: explain(ALL_QA, RESULTS, "q1"), 1),
        (lambda: check_results(ALL_QA, RESULTS), 1),
    ],
    ids=["evaluate", "compare", "differences", "explain", "check_results"],
)
def test_all_qa_is_read_once_and_each_run_once(call, runs, reads):
    call()
    assert reads == {"read_judgements": 1, "read_hits": runs}


def test_a_score_too_large_for_a_number_is_refused():
    with pytest.raises(TypeError, match="q1, rank 1: the score must be a number"):
        recall(ALL_QA[:1], {"q1": scored(("A", 10**400))})


def test_half_a_character_in_an_id_is_refused():
    with pytest.raises(ValueError, match="half a character"):
        recall([query(["d\ud83d"])], {"q1": hits("d\ud83d")})


@pytest.mark.parametrize("columns", [["doc_id", ["text"]], ["doc_id", 5]], ids=str)
def test_a_column_that_is_called_by_no_text_is_refused(columns):
    with pytest.raises(TypeError, match=r"docs: every column must be called by a text"):
        as_docs(pd.DataFrame([["A", "B"]], columns=columns))


@pytest.mark.parametrize("ks", [{1: [1]}, np.array(5), "5", b"\x05", None], ids=str)
def test_cutoffs_are_integers(ks):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        recall(ALL_QA, RESULTS, ks=ks)


def test_a_long_input_is_not_shown_whole():
    with pytest.raises(ValueError, match="is not a policy") as refused:
        recall(ALL_QA, RESULTS, gain="x" * 20_000)
    assert len(str(refused.value)) < 200
