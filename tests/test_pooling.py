"""What several searches find is pooled, judged on paper, and put into all_qa."""

import warnings

import pandas as pd
import pytest
from conftest import hits, query

from rageval_kit import add_judgements, evaluate, load_judged, pool_results, save_pool

DOCS = [
    {"doc_id": doc_id, "title": f"Title of {doc_id}", "content": f"Text of {doc_id}."}
    for doc_id in "ABCDEF"
]
ALL_QA = [query(["A"], "q1", question="Which?"), query({"B": 2, "C": 0}, "q2", question="어느?")]
RUNS = {
    "old": {"q1": hits("A", "B", "C"), "q2": hits("B", "C")},
    "new": {"q1": hits("D", "B"), "q2": hits("E", "F", "B")},
}


def pairs(table):
    return list(zip(table["query_id"], table["doc_id"], strict=True))


# ---------------------------------------------------------------- the pool


def test_the_pool_is_the_union_of_what_is_not_judged():
    pool = pool_results(RUNS, ALL_QA, k=3)
    wanted = {("q1", "B"), ("q1", "C"), ("q1", "D"), ("q2", "E"), ("q2", "F")}
    assert (set(pairs(pool)), len(pool)) == (wanted, 5)


def test_a_run_is_read_to_depth_k():
    assert set(pairs(pool_results(RUNS, ALL_QA, k=1))) == {("q1", "D"), ("q2", "E")}


def test_the_pool_comes_query_by_query_with_its_question():
    pool = pool_results(RUNS, ALL_QA)
    assert pool["query_id"].tolist() == ["q1"] * 3 + ["q2"] * 2
    assert pool["question"].tolist() == ["Which?"] * 3 + ["어느?"] * 2


def test_the_same_seed_gives_the_same_order_whichever_run_comes_first():
    turned = dict(reversed(RUNS.items()))
    assert pool_results(RUNS, ALL_QA).equals(pool_results(turned, ALL_QA))


def test_the_order_tells_nothing_of_the_rank():
    long = {"one": {"q1": hits(*(f"d{rank:02}" for rank in range(40)))}}
    firsts = [pool_results(long, ALL_QA[:1], k=40, seed=s)["doc_id"][0] for s in range(30)]
    assert len(set(firsts)) > 10


def test_all_that_is_judged_leaves_an_empty_pool_of_the_same_form():
    pool = pool_results({"one": {"q1": hits("A")}}, ALL_QA[:1])
    assert (len(pool), list(pool)) == (0, ["query_id", "question", "doc_id"])


def test_a_document_that_a_run_has_twice_is_judged_once():
    pool = pool_results({"one": {"q1": hits("B", "B", "C")}}, ALL_QA[:1], k=2)
    assert sorted(pool["doc_id"]) == ["B", "C"]


@pytest.mark.parametrize(
    ("runs", "error"), [({}, ValueError), (RUNS["old"], TypeError), ([], TypeError)]
)
def test_what_is_no_dict_of_runs_is_refused(runs, error):
    with pytest.raises(error, match="runs"):
        pool_results(runs, ALL_QA)


# ---------------------------------------------------------------- on paper, and back


@pytest.fixture
def pool():
    return pool_results(RUNS, ALL_QA, k=3)


def fill(path, **columns):
    """Fill a sheet in as its judge would, and save it again."""
    if path.suffix == ".csv":
        pd.read_csv(path, dtype=str).assign(**columns).to_csv(path, index=False)
    else:
        pd.read_excel(path, dtype=str).assign(**columns).to_excel(path, index=False)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_pool_goes_to_paper_and_comes_back_judged(pool, tmp_path, form):
    if form == "xlsx":
        pytest.importorskip("openpyxl")
    path = tmp_path / f"pool.{form}"
    save_pool(pool, DOCS, path)
    fill(path, grade=[3, 0, 1, None, 2], judge="안나")
    judged = load_judged(path, pool)
    assert pairs(judged) == [pair for place, pair in enumerate(pairs(pool)) if place != 3]
    assert judged["grade"].tolist() == [3, 0, 1, 2]
    assert set(judged["judge"]) == {"안나"}


def test_the_sheet_shows_what_a_judge_reads(pool, tmp_path):
    save_pool(pool, DOCS, tmp_path / "pool.csv")
    sheet = pd.read_csv(tmp_path / "pool.csv")
    assert list(sheet) == ["query_id", "question", "doc_id", "title", "content", "grade", "judge"]
    doc_id = sheet["doc_id"][0]
    assert (sheet["title"][0], sheet["content"][0]) == (f"Title of {doc_id}", f"Text of {doc_id}.")
    assert sheet["grade"].isna().all()


def test_ids_of_digits_and_whole_numbers_come_back_as_they_were(tmp_path):
    docs = [{"doc_id": "001", "title": "", "content": "x"}]
    pool = pool_results({"one": {7: hits("001")}}, [query([], 7, question="?")])
    save_pool(pool, docs, tmp_path / "pool.csv")
    fill(tmp_path / "pool.csv", grade=1)
    assert pairs(load_judged(tmp_path / "pool.csv", pool)) == [(7, "001")]


def test_a_text_is_no_formula_to_excel(pool, tmp_path):
    docs = [{**doc, "content": '=HYPERLINK("http://x")'} for doc in DOCS]
    save_pool(pool, docs, tmp_path / "pool.csv")
    assert pd.read_csv(tmp_path / "pool.csv")["content"].str.startswith("'=").all()


def test_an_id_that_excel_changed_is_named(tmp_path):
    docs = [{"doc_id": "001", "title": "", "content": "x"}]
    pool = pool_results({"one": {"q1": hits("001")}}, ALL_QA[:1])
    save_pool(pool, docs, tmp_path / "pool.csv")
    fill(tmp_path / "pool.csv", grade=1, doc_id="1")
    with pytest.raises(ValueError, match=r"row 2: q1 -> 1 is not in the pool.*001.*xlsx"):
        load_judged(tmp_path / "pool.csv", pool)


@pytest.mark.parametrize("grade", ["4", "-1", "good", "1.5", "33"])
def test_a_grade_that_is_none_is_named(pool, tmp_path, grade):
    save_pool(pool, DOCS, tmp_path / "pool.csv")
    fill(tmp_path / "pool.csv", grade=[0, 1, grade, 3, 0])
    with pytest.raises(ValueError, match=f"row 4: the grade must be 0, 1, 2 or 3, found '{grade}'"):
        load_judged(tmp_path / "pool.csv", pool)


def test_the_last_line_of_a_judge_counts(pool, tmp_path):
    lines = [
        "query_id,doc_id,grade,judge",
        "q1,B,0,anna",
        "q1,B,3,ben",
        "q1,B,2,anna",
        "q1,C,1,anna",
        "q1,C,,anna",
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    judged = load_judged(tmp_path / "log.csv", pool)
    assert judged.to_numpy().tolist() == [["q1", "B", 2, "anna"], ["q1", "B", 3, "ben"]]


def test_a_file_without_grades_is_refused(pool, tmp_path):
    (tmp_path / "other.csv").write_text("query_id,doc_id\nq1,B\n")
    with pytest.raises(KeyError, match="grade"):
        load_judged(tmp_path / "other.csv", pool)


def test_another_ending_is_refused(pool, tmp_path):
    with pytest.raises(ValueError, match=r"\.csv or \.xlsx"):
        save_pool(pool, DOCS, tmp_path / "pool.txt")


def test_a_document_that_is_not_there_is_named(pool, tmp_path):
    with pytest.raises(KeyError, match="the document D is not found in docs"):
        save_pool(pool, [doc for doc in DOCS if doc["doc_id"] != "D"], tmp_path / "pool.csv")


# ---------------------------------------------------------------- into all_qa


def judged(*rows, judge=None):
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"])
    return table if judge is None else table.assign(judge=judge)


def test_judgements_are_added_and_all_qa_stays_as_it_was():
    before = [dict(qa) for qa in ALL_QA]
    new = add_judgements(ALL_QA, judged(("q2", "E", 3), ("q2", "F", 0)))
    assert new[1]["relevant_doc_ids"] == {"B": 2, "C": 0, "E": 3, "F": 0}
    assert new[0] == ALL_QA[0]
    assert before == ALL_QA


def test_judged_documents_are_judged_to_the_metrics():
    new = add_judgements(ALL_QA, judged(*(("q2", doc_id, 0) for doc_id in "EF")))
    table = evaluate(new, {"q1": hits("A"), "q2": hits("E", "F", "B")}, metrics=["Judged"], ks=[3])
    assert table.loc["Judged", 3] == 1


def test_with_trecs_threshold_the_subject_alone_is_not_relevant():
    table = judged(("q2", "D", 1), ("q2", "E", 2))
    assert add_judgements(ALL_QA, table)[1]["relevant_doc_ids"]["D"] == 1
    new = add_judgements(ALL_QA, table, relevant_from=2)[1]["relevant_doc_ids"]
    assert (new["D"], new["E"]) == (0, 2)


def test_it_says_who_judged():
    new = add_judgements(ALL_QA, judged(("q2", "E", 3), judge="anna"))
    new = add_judgements(new, judged(("q2", "F", 3), judge="model: gpt-4o-mini"))
    assert new[1]["judged_by"] == ["anna", "model: gpt-4o-mini"]
    assert "judged_by" not in new[0]


def test_a_query_that_nobody_judged_before_gets_its_judgements():
    new = add_judgements([{"query_id": "q1", "question": "?"}], judged(("q1", "A", 0)))
    assert new[0]["relevant_doc_ids"] == {"A": 0}


def test_the_same_judgement_twice_is_one():
    new = add_judgements(ALL_QA, judged(("q2", "E", 3), ("q2", "E", 3), ("q2", "B", 2)))
    assert new[1]["relevant_doc_ids"] == {"B": 2, "C": 0, "E": 3}


def test_judges_who_differ_are_named():
    with pytest.raises(ValueError, match="q2 -> E has the grades 3 and 1.*judge_agreement"):
        add_judgements(ALL_QA, judged(("q2", "E", 3), ("q2", "E", 1)))


def test_another_grade_than_that_of_all_qa_is_named():
    with pytest.raises(ValueError, match="another grade for q2 -> B: 2, now 3"):
        add_judgements(ALL_QA, judged(("q2", "B", 3)))


def test_a_document_of_a_list_may_be_given_its_grade():
    assert add_judgements(ALL_QA, judged(("q1", "A", 3)))[0]["relevant_doc_ids"] == {"A": 3}
    with pytest.raises(ValueError, match="q1 -> A: 1, now 0"):
        add_judgements(ALL_QA, judged(("q1", "A", 0)))


def test_a_list_beside_grades_is_warned_of():
    with pytest.warns(UserWarning, match="q1 is a list, without grades"):
        add_judgements(ALL_QA, judged(("q1", "D", 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_judgements(ALL_QA, judged(("q1", "D", 1), ("q2", "D", 3)))


def test_a_grade_that_is_missing_is_named():
    with pytest.raises(ValueError, match="q2 -> E has no grade.*dropna"):
        add_judgements(ALL_QA, judged(("q2", "E", None)))


def test_a_query_that_is_not_there_is_named():
    with pytest.raises(KeyError, match="all_qa has no query q9"):
        add_judgements(ALL_QA, judged(("q9", "E", 1)))


@pytest.mark.parametrize("table", [None, ALL_QA, RUNS])
def test_what_is_no_table_of_judgements_is_refused(table):
    with pytest.raises(TypeError, match="judged must be a table"):
        add_judgements(ALL_QA, table)
