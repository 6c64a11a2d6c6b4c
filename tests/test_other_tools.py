"""Results and judgements in the forms of other tools: the same numbers, and what is refused.

The tables of polars, pyarrow and datasets and the classes of ranx are stood for by a class with the
same methods, and tried for real where they are installed.
"""

import warnings
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from conftest import caught, hits, query, scored
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from rageval_kit import (
    Results,
    check_results,
    compare,
    differences,
    evaluate,
    explain,
    failures,
    fold,
    load_run,
    mrr,
    per_query,
    save_qrels,
    save_run,
    validate_dataset,
)
from rageval_kit.documents import as_docs
from rageval_kit.judgements import as_queries, read_judgements
from rageval_kit.rankings import as_rankings

# As ir-measures defines them.
ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])
Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])

GRADES = {"q1": {"A": 2, "C": 1, "D": 0}, "q2": {"B": 1}, "q3": {"E": 1, "A": 3}}
ALL_QA = [query(grades, query_id) for query_id, grades in GRADES.items()]
# Best first; equal scores by doc_id, descending.
SCORES = {
    "q1": {"D": 0.9, "C": 0.5, "B": 0.5, "A": 0.125},
    "q2": {"B": 3.0},
    "q3": {"C": 7.0, "A": 6.0, "B": 5.0},
}
RESULTS = {q: scored(*of_query.items()) for q, of_query in SCORES.items()}
HITS = [(q, d, score) for q, of_query in SCORES.items() for d, score in of_query.items()]
JUDGED = [(q, d, grade) for q, of_query in GRADES.items() for d, grade in of_query.items()]
DOCS = [{"doc_id": doc_id, "title": "", "content": doc_id} for doc_id in "ABCDE"]


def shuffled(rows):
    """The same rows in another order, query by query: a table has none."""
    places = np.random.default_rng(3).permutation(len(rows))
    return sorted((rows[place] for place in places), key=lambda row: row[0])


def columns_of(rows, value):
    names = ["query_id", "doc_id", value]
    return dict(zip(names, map(list, zip(*shuffled(rows), strict=True)), strict=True))


# ---------------------------------------------------------------- stand-ins


class LikePyarrow:
    def __init__(self, columns):
        self.columns = columns

    def to_pydict(self):
        return self.columns


class LikePolars(LikePyarrow):
    to_pydict = property()

    def to_dict(self, *, as_series=True):
        return self.columns if not as_series else None

    def to_dicts(self):
        raise AssertionError("a dict a row is slow")


class LikeDatasets(LikePyarrow):
    to_pydict = property()

    def __init__(self, columns):
        self.columns, self.column_names = columns, list(columns)

    def to_dict(self):
        return self.columns


class LikeRanx:
    def __init__(self, kind, dicts):
        self.dicts = dicts
        setattr(self, kind, dicts)

    def get_doc_ids_and_scores(self):
        raise AssertionError("the ids are lost")

    def to_dict(self):
        return self.dicts


class Retriever(BaseRetriever):
    found: dict

    def _get_relevant_documents(self, question, *, run_manager):
        return [document(doc_id) for doc_id in self.found[question]]


def document(doc_id):
    return Document(f"the text of {doc_id}", metadata={"doc_id": doc_id})


def tables(columns):
    """The real tables, made when they are asked for, and their stand-ins."""
    return {
        "pandas": lambda: pd.DataFrame(columns),
        "pyarrow, stood for": lambda: LikePyarrow(columns),
        "polars, stood for": lambda: LikePolars(columns),
        "datasets, stood for": lambda: LikeDatasets(columns),
        "pyarrow": lambda: pytest.importorskip("pyarrow").table(columns),
        "polars": lambda: pytest.importorskip("polars").DataFrame(columns),
        "datasets": lambda: pytest.importorskip("datasets").Dataset.from_dict(columns),
    }


# ---------------------------------------------------------------- all forms, the same numbers

RUNS = {
    "ids": lambda: {q: list(of_query) for q, of_query in SCORES.items()},
    "a tuple of ids": lambda: {q: tuple(of_query) for q, of_query in SCORES.items()},
    "pytrec": lambda: {q: dict(sorted(s.items())) for q, s in SCORES.items()},
    "pytrec, numpy": lambda: {
        q: {d: np.float64(score) for d, score in s.items()} for q, s in SCORES.items()
    },
    "(id, score)": lambda: {q: list(s.items()) for q, s in SCORES.items()},
    "[id, score], as JSON has it": lambda: {q: [*map(list, s.items())] for q, s in SCORES.items()},
    "(id, distance)": lambda: {
        q: [(d, 9 - score) for d, score in s.items()] for q, s in SCORES.items()
    },
    "documents": lambda: {q: [*map(document, s)] for q, s in SCORES.items()},
    "(document, score)": lambda: {
        q: [(document(d), score) for d, score in s.items()] for q, s in SCORES.items()
    },
    "a retriever": lambda: {q: Retriever(found=SCORES).invoke(q) for q in SCORES},
    "ScoredDoc": lambda: [ScoredDoc(*hit) for hit in shuffled(HITS)],
    "rows of a table": lambda: list(
        pd.DataFrame(columns_of(HITS, "score")).itertuples(index=False)
    ),
    "ranx, stood for": lambda: LikeRanx("run", SCORES),
    "ranx": lambda: pytest.importorskip("ranx").Run(SCORES),
    "ir-measures": lambda: [
        pytest.importorskip("ir_measures").ScoredDoc(*hit) for hit in shuffled(HITS)
    ],
    **tables(columns_of(HITS, "score")),
}
QRELS = {
    "pytrec": lambda: GRADES,
    "Qrel": lambda: [Qrel(*row, "0") for row in JUDGED],
    "a generator of Qrel": lambda: (Qrel(*row, "0") for row in JUDGED),
    "ranx, stood for": lambda: LikeRanx("qrels", GRADES),
    "ranx": lambda: pytest.importorskip("ranx").Qrels(GRADES),
    "ir-measures": lambda: [pytest.importorskip("ir_measures").Qrel(*row) for row in JUDGED],
    **tables(columns_of(JUDGED, "relevance")),
}


def findings_of(all_qa, results):
    """What is found and where; not what scores add to it, which some forms do not have."""
    table = check_results(all_qa, results, DOCS).to_frame()
    without_scores = table[table["kind"] != "ties"]
    return without_scores[["severity", "kind", "where"]].reset_index(drop=True)


def saved(all_qa, results, folder):
    save_run(results, folder / "run")
    return load_run(folder / "run")[["query_id", "doc_id"]]


FUNCTIONS = {
    "evaluate": lambda all_qa, results, _: evaluate(all_qa, results, ks=(1, 2, 5)),
    "per_query": lambda all_qa, results, _: per_query(all_qa, results, 3).sort_index(),
    "compare": lambda all_qa, results, _: compare(
        {"these": results, "others": {q: hits(*sorted(s)) for q, s in SCORES.items()}}, all_qa, k=3
    ),
    "explain": lambda all_qa, results, _: explain(all_qa, results, "q1", "nDCG", k=3).ranking,
    "failures": lambda all_qa, results, _: failures(all_qa, results, 1).sort_index(),
    "check_results": lambda all_qa, results, _: findings_of(all_qa, results),
    "save_run": lambda all_qa, results, folder: saved(all_qa, results, folder).sort_values(
        ["query_id"], kind="stable", ignore_index=True
    ),
}
functions = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())


def assert_same_numbers(function, tmp_path, all_qa, results):
    expected = function(ALL_QA, RESULTS, tmp_path)
    given = function(all_qa, results, tmp_path)
    pd.testing.assert_frame_equal(given, expected, rtol=0, atol=1e-12, check_dtype=False)


@functions
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())
def test_a_run_in_any_form_has_the_same_numbers(function, run, tmp_path):
    assert_same_numbers(function, tmp_path, ALL_QA, run())


@functions
@pytest.mark.parametrize("qrels", QRELS.values(), ids=QRELS.keys())
def test_judgements_in_any_form_have_the_same_numbers(function, qrels, tmp_path):
    assert_same_numbers(function, tmp_path, qrels(), RESULTS)


@pytest.mark.parametrize("qrels", QRELS.values(), ids=QRELS.keys())
def test_judgements_in_any_form_are_written_alike(qrels, tmp_path):
    save_qrels(ALL_QA, tmp_path / "expected")
    save_qrels(qrels(), tmp_path / "given")
    lines = [(tmp_path / name).read_text().splitlines() for name in ("expected", "given")]
    assert sorted(lines[0]) == sorted(lines[1])


def test_pytrec_agrees_on_its_own_forms():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(GRADES, {"ndcg_cut.3", "recip_rank"}).evaluate(SCORES)
    ours = per_query(GRADES, SCORES, 3, ["nDCG"])["nDCG@3"]
    for query_id, values in theirs.items():
        assert ours[query_id] == pytest.approx(values["ndcg_cut_3"], abs=1e-12)


# ---------------------------------------------------------------- what is kept


def test_a_dict_of_scores_is_ordered_by_score_and_equal_ones_by_doc_id_descending():
    ranked = as_rankings({"q1": {"A": 0.5, "C": 0.9, "B": 0.5}})["q1"]
    assert ranked == scored(("C", 0.9), ("B", 0.5), ("A", 0.5))


def test_a_list_keeps_its_order_whatever_its_scores_say():
    assert as_rankings({"q1": [("A", 0.1), ("B", 0.9)]})["q1"] == scored(("A", 0.1), ("B", 0.9))


def test_a_langchain_document_brings_its_title_and_text():
    found = Document("RAG\nRetrieval first.", metadata={"doc_id": "A", "title": "RAG"})
    text = {"doc_id": "A", "title": "RAG", "content": "Retrieval first."}
    assert as_rankings({"q1": [found]}, want=("content",))["q1"] == [text]
    assert as_rankings({"q1": [(found, 0.5)]})["q1"] == [text | {"score": 0.5}]


def test_integers_are_doc_ids_where_those_of_all_qa_are():
    assert mrr({"q1": {7: 1}}, {"q1": [3, np.int64(7)]}, 2).loc["q1"].tolist() == [0.5]
    with pytest.raises(TypeError, match="doc_id of results is int 3: nothing would match"):
        mrr({"q1": {"7": 1}}, {"q1": [3, 7]}, 2)


def test_hits_behind_the_cutoff_are_not_looked_at():
    assert evaluate(ALL_QA[1:2], {"q2": ["B", None]}, ks=1).loc["HitRate", 1] == 1


def test_other_results_may_be_merged_into_results():
    assert Results({"q1": hits("A")}) | {"q2": ["B"]} == {"q1": hits("A"), "q2": hits("B")}


def test_chunks_in_another_tools_form_are_folded():
    folded = fold({"q1": ["A#1", "B#1", "A#2"]}, {"A#1": "A", "A#2": "A", "B#1": "B"}, 2)
    assert [hit["doc_id"] for hit in folded["q1"]] == ["A", "B"]


@pytest.mark.parametrize("make", [LikePyarrow, LikePolars, LikeDatasets])
def test_documents_and_queries_may_stand_in_another_tools_table(make):
    columns = {"doc_id": ["A", "B"], "title": ["", ""], "content": ["a", "b"]}
    assert as_docs(make(columns)) == as_docs(pd.DataFrame(columns))
    # A column of dicts holds every key in every row of theirs.
    grades = [{"A": 2, "B": None}, {"A": None, "B": 1}]
    given = make({"query_id": ["q1", "q2"], "question": ["?", "!"], "relevant_doc_ids": grades})
    assert [qa["relevant_doc_ids"] for qa in as_queries(given, ["question"])] == [
        {"A": 2},
        {"B": 1},
    ]


@pytest.mark.parametrize("qrels", [GRADES, [Qrel(*row, "0") for row in JUDGED]])
def test_judgements_of_other_tools_pass_the_validation(qrels, capsys):
    validate_dataset(DOCS, qrels)
    assert "[OK] 5 documents, 3 queries: 0 errors" in capsys.readouterr().out


def test_a_column_that_appears_twice_in_another_tools_table_is_refused():
    table = LikePyarrow(columns_of(HITS, "score"))
    table.column_names = ["query_id", "doc_id", "score", "score"]
    with pytest.raises(ValueError, match="results: the column score appears twice"):
        evaluate(ALL_QA, table)


# ---------------------------------------------------------------- what a table of judgements says

ROWS = pd.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["A", "B", "A"]})


def test_questions_and_ground_truths_of_a_table_of_judgements_are_kept():
    table = ROWS.assign(question=["Why?", "Why?", None], ground_truth=[None, "So.", "No."])
    assert as_queries(table) == [
        {
            "query_id": "q1",
            "relevant_doc_ids": {"A": 1, "B": 1},
            "question": "Why?",
            "ground_truth": "So.",
        },
        {"query_id": "q2", "relevant_doc_ids": {"A": 1}, "ground_truth": "No."},
    ]


@pytest.mark.parametrize("field", ["question", "ground_truth"])
@pytest.mark.parametrize("function", [as_queries, read_judgements])
def test_a_second_question_under_one_query_id_is_refused(field, function):
    with pytest.raises(ValueError, match=f"q1: a second {field} under one query_id, 'a' and 'b'"):
        function(ROWS.assign(**{field: ["a", "b", "c"]}))


def test_a_column_that_may_hold_grades_is_named():
    (message,) = caught(lambda: read_judgements(ROWS.assign(usefulness=[0, 1, 2])))
    assert "every row counts as relevant" in message
    assert "usefulness" in message
    assert "rename it to relevance" in message


@pytest.mark.parametrize("column", [[0, 0, 0], ["a", "b", "c"], [None, None, None]])
def test_a_column_that_cannot_hold_grades_is_not_named(column):
    assert caught(lambda: read_judgements(ROWS.assign(iteration=column))) == []


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("ranking", "error", "said"),
    [
        ([*hits("A"), "B"], TypeError, "q1, rank 2: a hit must be a dict with a doc_id.*found 'B'"),
        (["A", *hits("B")], TypeError, "q1, rank 2: a doc_id was wanted, as at rank 1; found dict"),
        (["A", ("B", 0.5)], TypeError, "q1, rank 2: a doc_id was wanted.*found tuple"),
        (["A", None], TypeError, "q1, rank 2: a doc_id was wanted.*found NoneType"),
        ([("A", 0.5), "B"], TypeError, "q1, rank 2: a doc_id with a score was wanted"),
        ([document("A"), "B"], TypeError, "q1, rank 2: a LangChain document was wanted"),
        ([document("A"), Document("x")], ValueError, "q1, rank 2: A document has no doc_id"),
        ([(document("A"), "high")], TypeError, "q1, rank 1: the score must be a number.*'high'"),
        ([("A", "B")], TypeError, "q1, rank 1: the score must be a number, found str 'B'"),
        ([(0.5, "A")], TypeError, "q1, rank 1: a hit must be a dict"),
        ([("A", float("nan"))], ValueError, "q1, rank 1: the score is NaN"),
        ([True], TypeError, "q1, rank 1: a hit must be a dict"),
        ([["A"]], TypeError, "q1, rank 1: a hit must be a dict"),
        ({"A"}, TypeError, "q1: a list of hits was wanted.*best first; found set"),
        ({"A": "0.9"}, TypeError, "q1, 'A': the score must be a number, found str '0.9'"),
        ({"A": None}, TypeError, "q1, 'A': the score must be a number, found NoneType"),
        ({"A": True}, TypeError, "q1, 'A': the score must be a number, found bool"),
        ({"A": float("nan")}, ValueError, "q1, 'A': the score is NaN"),
        ({"doc_id": "A"}, TypeError, "q1, 'doc_id': the score must be a number"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("function", [as_rankings, lambda results: evaluate(ALL_QA[:1], results)])
def test_a_ranking_of_two_forms_is_refused_with_its_place(function, ranking, error, said):
    with pytest.raises(error, match=f"results, {said}"):
        function({"q1": ranking})


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([["A"], ["B"]], r"list of rankings.*dict\(zip\(query_ids, results\)\)"),
        ([[document("A")]], r"list of rankings.*dict\(zip\(query_ids, results\)\)"),
        ((hit for hit in HITS), r"generator.*list\(results\)"),
        ([ScoredDoc(*HITS[0]), HITS[1]], "results, entry 2: a ScoredDoc as in entry 1 was wanted"),
        (LikeRanx("qrels", GRADES), "results must not be ranx's LikeRanx.*swapped"),
    ],
)
def test_what_is_no_run_is_refused(results, said):
    with pytest.raises(TypeError, match=said):
        evaluate(ALL_QA, results)


@pytest.mark.parametrize(
    ("all_qa", "error", "said"),
    [
        (LikeRanx("run", SCORES), TypeError, "all_qa must not be ranx's LikeRanx.*swapped"),
        (SCORES, ValueError, "all_qa: 0.9 looks like a score, not a grade.*swapped"),
        ([ScoredDoc(*hit) for hit in HITS], ValueError, "0.9 looks like a score.*swapped"),
        (pd.DataFrame(HITS, columns=ScoredDoc._fields), ValueError, "looks like a score"),
        ({"q1": {"A": 1}, "q2": ["B"]}, TypeError, "all_qa, q2: {doc_id: grade} was wanted.*list"),
        ({"q1": {"A": "1"}}, TypeError, "q1: relevant_doc_ids, 'A': the grade must be a finite"),
        ({"q1": {"A": float("nan")}}, ValueError, "'A': the grade must be a finite number"),
        ({"q1": {}, "q2": {"": None}}, TypeError, "q2: relevant_doc_ids, '': the grade must be"),
        ([Qrel("q1", "A", 1, "0"), None], TypeError, "all_qa, entry 2: a Qrel as in entry 1"),
    ],
)
def test_what_is_no_judgements_is_refused(all_qa, error, said):
    for function in (read_judgements, lambda all_qa: evaluate(all_qa, RESULTS)):
        with pytest.raises(error, match=said):
            function(all_qa)


def test_judgements_in_place_of_a_run_have_no_order():
    with pytest.raises(KeyError, match="neither rank nor score"):
        evaluate(ALL_QA, [Qrel(*row, "0") for row in JUDGED])


def test_a_run_in_another_form_may_be_given_to_every_function_that_takes_two():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = differences({"old": SCORES, "new": RESULTS}, GRADES, k=3)
    assert table.empty or (table.filter(like="change") == 0).all(axis=None)
