"""explain: the text of hand-checked cells, and that its last number is the cell's for every metric."""

import itertools
import math
import random
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import hits, query, ranks_of

from rageval_kit import Results, explain, formulas, per_query, relevance_matrix

METRICS = list(formulas.METRICS)

quiet = pytest.mark.filterwarnings("ignore::UserWarning")


def last_line(*arguments, **options):
    return str(explain(*arguments, **options)).splitlines()[-1]


def last_number(text):
    """The last number that a text shows."""
    return float(re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan", str(text))[-1])


# Three relevant documents with grades, of which the ranking has B at rank 1 and A at rank 4; C is not found.
# x was judged and is not relevant, y and z nobody judged.
ALL_QA = [
    query({"A": 3, "B": 1, "C": 2, "x": 0}, "q1"),
    query(["D"], "q2"),
    query([], "q3"),
    query({"x": 0}, "q4"),
]
RESULTS = {
    "q1": hits("B", "x", "y", "A", "z"),
    "q2": hits("x", "D"),
    "q3": hits("A", "B"),
    "q4": hits("x", "y"),
}


# ---------------------------------------------------------------- the whole text


NDCG_OF_Q1 = (1 + 3 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / math.log2(4))


def test_text_of_ndcg():
    text, _, value = str(explain(ALL_QA, RESULTS, "q1", "nDCG", k=5)).rpartition(" = ")
    assert float(value) == pytest.approx(NDCG_OF_Q1, abs=1e-15)
    assert text == (
        "nDCG@5 of q1\n"
        "\n"
        "     doc_id  gain  discount  gain x discount\n"
        "rank                                        \n"
        "1         B     1         1                1\n"
        "2         x     0    0.6309                0\n"
        "3         y     0       0.5                0\n"
        "4         A     3    0.4307            1.292\n"
        "5         z     0    0.3869                0\n"
        "\n"
        "relevant documents in the whole corpus: 3 (A, B, C)\n"
        "discount = 1 / log2(rank + 1)\n"
        "DCG@5 = 1 x 1 + 3 x 0.4307 = 2.292\n"
        "IDCG@5: all relevant documents of the corpus on the first ranks"
        " = 3 x 1 + 2 x 0.6309 + 1 x 0.5 = 4.762\n"
        "nDCG@5 = DCG@5 / IDCG@5 = 2.292 / 4.762"
    )


def test_text_of_recall():
    assert str(explain(ALL_QA, RESULTS, "q1", "Recall", k=3)) == (
        "Recall@3 of q1\n"
        "\n"
        "     doc_id  gain\n"
        "rank             \n"
        "1         B     1\n"
        "2         x     0\n"
        "3         y     0\n"
        "\n"
        "relevant documents in the whole corpus: 3 (A, B, C)\n"
        "the denominator is every relevant document of the corpus, found or not: 3\n"
        "Recall@3 = relevant in the first 3 / all relevant = 1 / 3 = 0.3333333333333333"
    )


def test_text_of_average_precision():
    assert str(explain(ALL_QA, RESULTS, "q1", "AP", k=4)) == (
        "AP@4 of q1\n"
        "\n"
        "     doc_id  gain  precision at rank\n"
        "rank                                \n"
        "1         B     1                  1\n"
        "2         x     0                0.5\n"
        "3         y     0             0.3333\n"
        "4         A     3                0.5\n"
        "\n"
        "relevant documents in the whole corpus: 3 (A, B, C)\n"
        "the denominator is every relevant document of the corpus, found or not: 3\n"
        "AP@4 = sum of the precision at each relevant rank / all relevant = (1/1 + 2/4) / 3 = 0.5"
    )


def test_it_shows_its_text_in_a_notebook():
    explanation = explain(ALL_QA, RESULTS, "q1")
    assert repr(explanation) == str(explanation)


# ---------------------------------------------------------------- the arithmetic of every metric

HAND_CHECKED = [
    ("HitRate", 4, "HitRate@4, 1 if there is one, else 0 = 1.0"),
    ("RR", 4, "RR@4 = 1 / rank of the first relevant document = 1 / 1 = 1.0"),
    ("Precision", 4, "Precision@4 = relevant in the first 4 / k = 2 / 4 = 0.5"),
    ("Precision", 8, "Precision@8 = relevant in the first 8 / k = 2 / 8 = 0.25"),
    ("Recall", 4, "Recall@4 = relevant in the first 4 / all relevant = 2 / 3 = 0.6666666666666666"),
    (
        "AP",
        1,
        "AP@1 = sum of the precision at each relevant rank / all relevant = (1/1) / 3 = 0.3333333333333333",
    ),
    ("F1", 5, "F1@5 = 2 x Precision x Recall / (Precision + Recall) = 2 x 2 / (5 + 3) = 0.5"),
    ("R-precision", 5, "R-precision = relevant in the first R / R = 1 / 3 = 0.3333333333333333"),
    ("Judged", 4, "Judged@4 = judged / came back = 3 / 4 = 0.75"),
    ("Judged", 8, "Judged@8 = judged / came back = 3 / 5 = 0.6"),
    ("Unique", 4, "Unique@4 = different documents in the first 4 = 4.0"),
]


@pytest.mark.parametrize(
    ("metric", "k", "expected"), HAND_CHECKED, ids=[f"{m}@{k}" for m, k, _ in HAND_CHECKED]
)
def test_last_line(metric, k, expected):
    assert last_line(ALL_QA, RESULTS, "q1", metric, k) == expected


NOTHING_FOUND = {
    "HitRate": "HitRate@3, 1 if there is one, else 0 = 0.0",
    "RR": "RR@3 = 0.0",
    "nDCG": "nDCG@3 = DCG@3 / IDCG@3 = 0 / 1 = 0.0",
    "Precision": "Precision@3 = relevant in the first 3 / k = 0 / 3 = 0.0",
    "Recall": "Recall@3 = relevant in the first 3 / all relevant = 0 / 1 = 0.0",
    "AP": "AP@3 = sum of the precision at each relevant rank / all relevant = (0) / 1 = 0.0",
    "F1": "F1@3 = 2 x Precision x Recall / (Precision + Recall) = 2 x 0 / (3 + 1) = 0.0",
    "R-precision": "R-precision = relevant in the first R / R = 0 / 1 = 0.0",
    "Judged": "Judged@3 = judged / came back = 0 / 2 = 0.0",
}


@pytest.mark.parametrize(("metric", "expected"), NOTHING_FOUND.items(), ids=NOTHING_FOUND.keys())
def test_last_line_where_nothing_relevant_came_back(metric, expected):
    assert last_line([query(["A"])], {"q1": hits("x", "y")}, "q1", metric, k=3) == expected


def test_hit_rate_names_the_ranks():
    assert (
        "relevant documents in the first 5: at rank 1, 4"
        in explain(ALL_QA, RESULTS, "q1", "HitRate").lines
    )


def test_hit_rate_says_that_nothing_was_found():
    lines = explain([query(["A"])], {"q1": hits("x")}, "q1", "HitRate", k=1).lines
    assert "relevant documents in the first 1: nowhere" in lines


def test_reciprocal_rank_says_that_nothing_was_found():
    lines = explain([query(["A"])], {"q1": hits("x")}, "q1", "RR", k=1).lines
    assert "no relevant document in the first 1" in lines


def test_f1_shows_its_two_parts():
    assert "Precision = 2 / 5, Recall = 2 / 3" in explain(ALL_QA, RESULTS, "q1", "F1").lines


def test_r_precision_looks_at_r_ranks():
    assert explain(ALL_QA, RESULTS, "q1", "R-precision", k=1).ranking["doc_id"].tolist() == [
        "B",
        "x",
        "y",
    ]


# ---------------------------------------------------------------- the object


def test_it_knows_its_cell():
    explanation = explain(ALL_QA, RESULTS, "q1", "Recall", k=3)
    assert (explanation.query_id, explanation.column, explanation.value) == (
        "q1",
        "Recall@3",
        1 / 3,
    )


def test_the_ranking_counts_from_1():
    ranking = explain(ALL_QA, RESULTS, "q1", k=3).ranking
    assert (ranking.index.name, ranking.index.tolist()) == ("rank", [1, 2, 3])


def test_the_ranking_holds_the_gains():
    assert explain(ALL_QA, RESULTS, "q1", k=5).ranking["gain"].tolist() == [1, 0, 0, 3, 0]


def test_the_ranking_of_judged_says_what_was_judged():
    ranking = explain(ALL_QA, RESULTS, "q1", "Judged", k=5).ranking
    assert ranking["judged"].tolist() == [True, True, False, True, False]


def test_the_ranking_of_unique_says_what_is_new():
    ranking = explain(
        [query(["A"])], {"q1": hits("A", "x", "A")}, "q1", "Unique", duplicates="position"
    ).ranking
    assert ranking["new"].tolist() == [True, True, False]


def test_the_default_is_ndcg_at_5():
    assert explain(ALL_QA, RESULTS, "q1").column == "nDCG@5"


@pytest.mark.parametrize(
    ("name", "column"), [("nDCG@3", "nDCG@3"), ("MRR@2", "RR@2"), ("MAP", "AP@5"), ("MRR", "RR@5")]
)
def test_metrics_are_named_as_in_per_query(name, column):
    assert explain(ALL_QA, RESULTS, "q1", name).column == column


def test_the_cutoff_of_the_name_goes_before_k():
    assert explain(ALL_QA, RESULTS, "q1", "Recall@1", k=5).value == 1 / 3


# ---------------------------------------------------------------- the policy that applied


@pytest.mark.parametrize(
    ("no_relevant", "said", "value"),
    [
        ("exclude", 'no_relevant="exclude" it is left out of the mean', "nan"),
        ("zero", 'no_relevant="zero" it is counted as 0', "0.0"),
        ("one", 'no_relevant="one" it is counted as 1', "1.0"),
    ],
)
@pytest.mark.parametrize("query_id", ["q3", "q4"])
@pytest.mark.parametrize(
    "metric", ["HitRate", "RR", "nDCG", "Precision", "Recall", "AP", "R-precision", "F1"]
)
def test_no_relevant_document_is_explained_by_the_policy(
    metric, query_id, no_relevant, said, value
):
    text = str(explain(ALL_QA, RESULTS, query_id, metric, no_relevant=no_relevant))
    assert said in text
    assert text.endswith(f" = {value}")


@pytest.mark.parametrize("metric", ["Judged", "Unique"])
@pytest.mark.parametrize("no_relevant", ["exclude", "zero", "one"])
def test_what_does_not_hang_on_relevance_is_not_said_to_follow_the_policy(metric, no_relevant):
    text = str(explain(ALL_QA, RESULTS, "q4", metric, no_relevant=no_relevant))
    assert "no_relevant" not in text


def test_no_relevant_error_refuses():
    with pytest.raises(ValueError, match="No relevant document for q3"):
        explain(ALL_QA, RESULTS, "q3", no_relevant="error")


def test_fewer_hits_than_k_are_explained():
    assert (
        "only 2 of 5 hits came back; the other ranks hold nothing"
        in explain(ALL_QA, RESULTS, "q2").lines
    )


def test_as_many_hits_as_k_need_no_words():
    assert "came back; the other" not in str(explain(ALL_QA, RESULTS, "q1", k=5))


def test_an_empty_ranking_is_explained():
    assert (
        "only 0 of 5 hits came back; the other ranks hold nothing"
        in explain([query(["A"])], {"q1": []}, "q1").lines
    )


REPEATED = {"q1": hits("A", "A", "C")}


def test_a_repeat_is_refused_by_default():
    with pytest.raises(ValueError, match="appears twice in the ranking"):
        explain([query(["A", "C"])], REPEATED, "q1")


def test_a_repeat_that_counts_in_every_slot_is_explained():
    lines = explain([query(["A", "C"])], REPEATED, "q1", "Recall", duplicates="position").lines
    assert (
        'a document appears more than once: with duplicates="position" each of its slots counts'
        in lines
    )
    assert lines[-1].endswith("= 3 / 2 = 1.5")


def test_a_folded_repeat_is_not_in_the_ranking():
    explanation = explain([query(["A", "C"])], REPEATED, "q1", "Recall", k=2, duplicates="unique")
    assert explanation.ranking["doc_id"].tolist() == ["A", "C"]
    assert explanation.lines[-1].endswith("= 2 / 2 = 1.0")


def test_exponential_gain_is_explained():
    explanation = explain(ALL_QA, RESULTS, "q1", "nDCG", k=4, gain="exponential")
    assert 'with gain="exponential" a grade g is worth 2 ** g - 1' in explanation.lines
    assert "DCG@4 = 1 x 1 + 7 x 0.4307 = 4.015" in explanation.lines
    assert explanation.ranking["gain"].tolist() == [1, 0, 0, 7]


def test_exponential_gain_gives_the_value_written_by_hand():
    dcg, idcg = 1 + 7 / math.log2(5), 7 + 3 / math.log2(3) + 1 / math.log2(4)
    value = explain(ALL_QA, RESULTS, "q1", "nDCG", k=4, gain="exponential").value
    assert value == pytest.approx(dcg / idcg, abs=1e-15)


def test_linear_gain_needs_no_words():
    assert "exponential" not in str(explain(ALL_QA, RESULTS, "q1", "nDCG"))


# ---------------------------------------------------------------- what is refused


def test_an_unknown_query_is_named():
    with pytest.raises(KeyError, match="all_qa has no query 'q9'"):
        explain(ALL_QA, RESULTS, "q9")


def test_an_integer_for_a_text_id_is_an_unknown_query():
    with pytest.raises(KeyError, match="all_qa has no query 1"):
        explain([query(["A"], "1")], {"1": hits("A")}, 1)


def test_an_unknown_metric_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match=r"No metric is called 'ndcg@3'\. Did you mean nDCG@3\?"):
        explain(ALL_QA, RESULTS, "q1", "ndcg@3")


def test_a_function_of_the_users_own_is_explained_by_what_it_returned():
    def own_metric(m):
        return m.hits.cumsum(axis=1), 4.0 * len(m.query_ids)

    shown = explain(ALL_QA, RESULTS, "q1", own_metric, k=3)
    n = len(ALL_QA)
    assert shown.value == per_query(ALL_QA, RESULTS, 3, [own_metric]).loc["q1"].item()
    assert f"numerator / denominator = {shown.value * 4 * n:g} / {4 * n}" in shown.lines[-1]


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_a_bad_k_is_refused(k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        explain(ALL_QA, RESULTS, "q1", k=k)


def test_an_unknown_policy_is_refused():
    with pytest.raises(TypeError, match="No policy is called 'ties'"):
        explain(ALL_QA, RESULTS, "q1", ties="doc_id")


@pytest.mark.parametrize("form", [dict, ranks_of], ids=["dict of lists", "table"])
def test_query_ids_of_another_type_are_refused_as_by_per_query(form):
    with pytest.raises(TypeError, match="nothing would match"):
        explain([query(["A"], 1)], form({"1": hits("A")}), 1)


@pytest.mark.parametrize("form", [dict, ranks_of], ids=["dict of lists", "table"])
def test_doc_ids_of_another_type_are_refused_as_by_per_query(form):
    with pytest.raises(TypeError, match="nothing would match"):
        explain([query([1])], form({"q1": hits("1")}), "q1")


def test_results_of_the_wrong_type_are_refused_as_by_per_query():
    with pytest.raises(TypeError, match="results must be"):
        explain(ALL_QA, ["A", "B"], "q1")


def test_a_nan_score_beyond_k_does_not_matter_as_in_per_query():
    results = {"q1": [{"doc_id": "A", "score": 1.0}, {"doc_id": "B", "score": float("nan")}]}
    assert explain([query(["A"])], results, "q1", "RR", k=1).value == 1.0


def test_the_table_of_a_search_without_rank_is_refused():
    found = [{"doc_id": "A", "title": "", "content": "", "score": 0.1}]
    table = Results({"q1": found}, k=1, lower_is_better=True).to_frame().drop(columns="rank")
    with pytest.raises(ValueError, match="scores are distances"):
        explain([query(["A"])], table, "q1")


# ---------------------------------------------------------------- random cells

N_CASES = 180
EVERY = 3  # a case explains every third metric, in turn: 60 cells of each


def random_case(rng):
    """All_qa, results and policies in one of their forms, and a cell: query_id and k."""
    integers = rng.random() < 0.3
    docs = (
        [*range(9, 21)]
        if integers
        else ["d1", "d2", "d10", "A", "b", "문서1", "문서2", "é", "#1", "z 1", "9", "09"]
    )
    query_ids = (
        [*range(1, rng.randint(2, 5))] if integers else [f"q{i}" for i in range(rng.randint(1, 4))]
    )
    policies = {
        "no_relevant": rng.choice(["exclude", "zero", "one"]),
        "duplicates": rng.choice(["error", "unique", "position"]),
        "gain": rng.choice(["linear", "exponential"]),
    }
    grades = rng.choice([(1,), (0, 1), (-1, 0, 1, 2, 3), (0, 0.5, 2.5)])
    judged = {
        q: {d: rng.choice(grades) for d in rng.sample(docs, rng.randint(0, 7))} for q in query_ids
    }
    results = {}
    for query_id in query_ids:
        depth = rng.choice([0, rng.randint(1, 3), rng.randint(4, 10)])
        repeats = policies["duplicates"] != "error"
        results[query_id] = rng.choices(docs, k=depth) if repeats else rng.sample(docs, depth)
        if rng.random() < 0.1:
            del results[query_id]
    return (
        qa_in_some_form(judged, rng),
        results_in_some_form(results, rng),
        policies,
        rng.choice(query_ids),
    )


def qa_in_some_form(judged, rng):
    queries = [query(dict(grades), query_id) for query_id, grades in judged.items()]
    qrels = [
        (query_id, doc_id, float(grade))
        for query_id, grades in judged.items()
        for doc_id, grade in grades.items()
    ]
    rng.shuffle(qrels)
    forms = [queries, pd.DataFrame(queries)]
    if all(judged.values()):  # a query without a judgement has no row in qrels
        forms.append(pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]))
    return rng.choice(forms)


def results_in_some_form(results, rng):
    rows = [
        (query_id, doc_id, rank)
        for query_id, docs in results.items()
        for rank, doc_id in enumerate(docs, start=1)
    ]
    form = rng.choice(["dict", "dict", "dict", "rank", "score", "category"])
    if form == "dict" or not rows:
        return {query_id: hits(*docs) for query_id, docs in results.items()}
    rng.shuffle(rows)
    if form == "score":  # ties in pairs
        rows = [(query_id, doc_id, -(rank // 2) / 8) for query_id, doc_id, rank in rows]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    return (
        table.astype({"query_id": "category", "doc_id": "category"})
        if form == "category"
        else table
    )


@pytest.fixture(scope="module")
def cells():
    """Metric -> (explanation, the cell of per_query) of every case."""
    rng = random.Random(2026)
    found = {metric: [] for metric in METRICS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # queries without results are named, and many here
        for number in range(N_CASES):
            all_qa, results, policies, query_id = random_case(rng)
            k = rng.randint(1, 12)
            metrics = METRICS[number % EVERY :: EVERY]
            table = per_query(all_qa, results, k, metrics, **policies)
            for metric, column in zip(metrics, table.columns, strict=True):
                explanation = explain(all_qa, results, query_id, metric, k, **policies)
                found[metric].append((explanation, table.loc[query_id, column]))
    return found


def same(ours, theirs):
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


every_metric = pytest.mark.parametrize("metric", METRICS)


@every_metric
def test_the_last_number_is_the_cell_of_per_query(cells, metric):
    wrong = [(str(text), cell) for text, cell in cells[metric] if not same(last_number(text), cell)]
    assert wrong == []


@every_metric
def test_the_value_is_the_cell_of_per_query(cells, metric):
    assert all(same(explanation.value, cell) for explanation, cell in cells[metric])


@every_metric
def test_sixty_cells_of_many_values_are_compared(cells, metric):
    values = {round(cell, 9) for _, cell in cells[metric] if not math.isnan(cell)}
    assert len(cells[metric]) == N_CASES / EVERY
    assert len(values) >= {"HitRate": 2, "RR": 4, "Unique": 7}.get(metric, 8)


def worked_out(text):
    """The value of the last line's arithmetic, or None where it shows none."""
    shown = str(text).splitlines()[-1].split(" = ")[-2]
    if not re.fullmatch(r"[\d ()/+x.e-]*\d[\d ()/+x.e-]*", shown):
        return None
    numerator, _, denominator = shown.rpartition(" / ")
    value = eval(denominator.replace("x", "*"))
    return eval(numerator.replace("x", "*")) / value if value else 0.0


@pytest.mark.parametrize(
    "metric", ["RR", "Precision", "Recall", "AP", "R-precision", "F1", "Judged"]
)
def test_the_arithmetic_that_is_shown_gives_the_number(cells, metric):
    pairs = [(worked_out(text), cell) for text, cell in cells[metric]]
    shown = [(value, cell) for value, cell in pairs if value is not None]
    assert len(shown) >= 10
    np.testing.assert_allclose(*zip(*shown, strict=True), rtol=1e-14, atol=0)


def test_the_arithmetic_of_ndcg_gives_the_number_to_four_digits(cells):
    pairs = [(worked_out(text), cell) for text, cell in cells["nDCG"]]
    shown = [(value, cell) for value, cell in pairs if value is not None]
    assert len(shown) >= 25
    np.testing.assert_allclose(*zip(*shown, strict=True), rtol=1.1e-3, atol=0)


def test_the_table_of_ndcg_adds_up_to_the_number(cells):
    for explanation, cell in cells["nDCG"]:
        if "gain x discount" not in explanation.ranking:  # no relevant document
            continue
        idcg = next(line for line in explanation.lines if line.startswith("IDCG")).rsplit(" = ", 1)[
            1
        ]
        assert explanation.ranking["gain x discount"].sum() / float(idcg) == pytest.approx(
            cell, rel=1e-3
        )


@every_metric
def test_the_ranking_is_never_deeper_than_k(cells, metric):
    for explanation, _ in cells[metric]:
        if "@" in explanation.column:
            assert len(explanation.ranking) <= int(explanation.column.split("@")[1])


def test_the_cases_hold_every_kind(cells):
    texts = [str(explanation) for explanation, _ in cells["nDCG"]]
    for said in (
        "left out of the mean",
        "counted as 0",
        "counted as 1",
        "only 0 of",
        "more than once",
        "2 ** g - 1",
    ):
        assert sum(said in text for text in texts) >= 3, said


# ---------------------------------------------------------------- every form of one case

QRELS = pd.DataFrame(
    {"query_id": ["q1", "q1", "q1", "q2"], "doc_id": list("ABCD"), "relevance": [3, 1, 2, 1]}
)
FORMS_OF_QA = {
    "list": ALL_QA,
    "table": pd.DataFrame(ALL_QA),
    "qrels": QRELS,
    "text qrels": QRELS.astype({"doc_id": "str"}),
}
FORMS_OF_RESULTS = {
    "dict": RESULTS,
    "Results": Results(RESULTS, k=5),
    "table by rank": ranks_of(RESULTS),
    "table by score": ranks_of(RESULTS)
    .assign(score=lambda t: -t["rank"].astype(float))
    .drop(columns="rank"),
    "shuffled table": ranks_of(RESULTS).sample(frac=1, random_state=1),
}


@quiet
@pytest.mark.parametrize(("qa", "form"), list(itertools.product(FORMS_OF_QA, FORMS_OF_RESULTS)))
def test_every_form_gives_the_same_text(qa, form):
    explanation = explain(FORMS_OF_QA[qa], FORMS_OF_RESULTS[form], "q1", "nDCG", k=5)
    assert str(explanation) == str(explain(ALL_QA, RESULTS, "q1", "nDCG", k=5))


def test_integer_ids_are_explained():
    explanation = explain([query([10, 30], 1)], {1: hits(10, 99, 30)}, 1, "Recall", k=2)
    assert str(explanation).endswith(
        "Recall@2 = relevant in the first 2 / all relevant = 1 / 2 = 0.5"
    )


def test_a_table_in_another_order_of_queries_shows_each_query_its_own_ranking():
    table = pd.DataFrame(
        {"query_id": ["q2", "q2", "q1"], "doc_id": ["B", "C", "A"], "rank": [1, 2, 1]}
    )
    all_qa = [query(["A"]), {"query_id": "q2", "relevant_doc_ids": ["B"]}]
    assert relevance_matrix(all_qa, table, k=2).docs(0) == ["A"]
    assert "1         A" in str(explain(all_qa, table, "q1", k=2))
