"""The entries of the metrics: each has a formula, words, a line in the README, and a peer it equals."""

import random
import re

import numpy as np
import oracle
import pytest
from conftest import ROOT, hits, query

from rageval_kit import check_scores, evaluate, explain, per_query
from rageval_kit.formulas import METRICS, find_metric

README = (ROOT / "README.md").read_text(encoding="utf-8")
POLICIES = {"no_relevant": "exclude", "duplicates": "error", "gain": "linear", "p": 0.8}


def random_case(seed):
    """A query with grades 0 to 4, and a ranking in which some of its documents stand."""
    draw = random.Random(seed)
    docs = [f"d{i}" for i in range(15)]
    grades = {doc: draw.choice([0, 0, 1, 2, 3, 4]) for doc in draw.sample(docs, 7)} | {"d0": 1}
    return grades, draw.sample(docs, draw.randint(1, 15))


CASES = {f"q{seed}": random_case(seed) for seed in range(100)}
KS = range(1, 16)


def table_of(cases):
    """The value of every metric at every k, a row a case."""
    all_qa = [query(grades, query_id) for query_id, (grades, _) in cases.items()]
    results = {query_id: hits(*ranking) for query_id, (_, ranking) in cases.items()}
    return per_query(all_qa, results, KS, list(METRICS))


@pytest.fixture(scope="module")
def values():
    return table_of(CASES)


def columns(table, metric):
    """The metric's columns, a k each, or the one column of a metric without cutoff."""
    return table.filter(regex=rf"^{re.escape(metric)}(\(.*\))?(@|$)")


# ---------------------------------------------------------------- every entry


@pytest.mark.parametrize("metric", METRICS)
def test_equals_its_definition_in_plain_python(values, metric):
    policies = POLICIES | {"largest_grade": 4}
    ours = columns(values, metric)
    assert ours.shape == (100, 15 if METRICS[metric].has_cutoff else 1)
    for query_id, (grades, ranking) in CASES.items():
        fractions = [oracle.METRICS[metric](ranking, grades, k, policies) for k in KS]
        theirs = [above / below if below else 0 for above, below in fractions[: ours.shape[1]]]
        assert ours.loc[query_id].tolist() == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_the_value_of_a_query_alone_is_that_among_others(values, metric):
    # Not so for ERR where its highest grade is below that of the others: then see below.
    cases = [query_id for query_id, (grades, _) in CASES.items() if max(grades.values()) == 4]
    for query_id in cases[:10]:
        grades, ranking = CASES[query_id]
        alone = per_query([query(grades)], {"q1": hits(*ranking)}, KS, [metric])
        assert alone.loc["q1"].tolist() == columns(values, metric).loc[query_id].tolist()


@pytest.mark.parametrize("metric", METRICS)
def test_its_explanation_ends_with_the_number_of_the_table(metric):
    all_qa = [query(random_case(seed)[0], f"q{seed}") for seed in range(20)]
    results = {f"q{seed}": hits(*random_case(seed)[1]) for seed in range(20)}
    table = per_query(all_qa, results, 5, [metric])
    for query_id in table.index:
        shown = explain(all_qa, results, query_id, metric, k=5)
        assert shown.value == table.loc[query_id].item()
        assert shown.lines[-1].endswith(f" = {shown.value!r}")
        assert "numerator / denominator" not in "".join(shown.lines), "words of its own"


@pytest.mark.parametrize("metric", METRICS)
def test_has_a_line_in_the_readme(metric):
    assert re.search(rf"^\| {metric}\b.* \|", README, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.rises])
def test_rises_with_k_if_it_says_so(values, name):
    assert (np.diff(columns(values, name), axis=1) >= -1e-12).all()


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.is_share])
def test_lies_within_0_and_1_if_it_says_so(values, name):
    assert columns(values, name).stack().between(0, 1).all()


@pytest.mark.parametrize("name", METRICS)
def test_needs_relevant_documents_or_not_as_it_says(name):
    value = per_query([query([])], {"q1": hits("A")}, 5, [name]).iloc[0, 0]
    assert np.isnan(value) == METRICS[name].needs_relevant


@pytest.mark.parametrize("name", METRICS)
def test_every_alias_leads_to_it(name):
    for alias in METRICS[name].aliases:
        with pytest.raises(ValueError, match=f"Did you mean {name}"):
            find_metric(alias)


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.mean])
def test_its_mean_has_the_fields_name(name):
    metric = METRICS[name]
    assert evaluate([query(["A"])], {"q1": hits("A")}, 1, [name]).index.tolist() == [metric.mean]
    assert find_metric(f"{metric.mean}@10").metric is metric


# ---------------------------------------------------------------- ERR and RBP

# The grades and rankings, and what gdeval.pl and cwl_eval print of them.
GRADED = [
    query({"d3": 2, "d9": 4, "d8": 3, "d2": 0, "d5": 3, "d4": 0}, "1"),
    query({"d6": 3, "d10": 2, "d2": 4, "d3": 0, "d9": 4, "d11": 0}, "2"),
    query({"d0": 4, "d4": 3, "d7": 2, "d6": 0, "d8": 1, "d3": 0}, "3"),
]
RUN = {
    "1": hits("d4", "d8", "d3", "d9", "d7", "d11", "d6", "d10"),
    "2": hits("d9", "d0", "d4"),
    "3": hits("d2"),
}


def test_err_equals_gdeval():
    values = per_query(GRADED, RUN, 5, ["ERR"])["ERR@5"]
    assert values.round(5).tolist() == [0.36102, 0.9375, 0.0]


def test_err_by_hand():
    # Grades 4 and 2: satisfied 15/16 and 3/16.
    value = per_query([query({"A": 4, "B": 2})], {"q1": hits("B", "A")}, 2, ["ERR"]).iloc[0, 0]
    assert value == 3 / 16 + (13 / 16) * (15 / 16) / 2


def test_err_is_on_gdevals_scale_to_grade_4_where_no_grade_is_higher():
    assert per_query([query(["A"])], {"q1": hits("A")}, 1, ["ERR"])["ERR@1"].item() == 1 / 16


def test_err_looks_at_the_highest_grade_that_was_judged_found_or_not():
    value = per_query([query({"A": 1, "B": 5})], {"q1": hits("A")}, 1, ["ERR"]).loc["q1"].item()
    assert value == 1 / 32


def test_err_scales_to_the_highest_grade_of_all_qa_above_4():
    all_qa = [query({"A": 5}, "q1"), query({"B": 1}, "q2")]
    values = per_query(all_qa, {"q1": hits("A"), "q2": hits("B")}, 1, ["ERR"])
    assert values["ERR@1"].tolist() == [31 / 32, 1 / 32]


def test_the_explanation_of_err_is_that_of_the_table_and_not_of_the_query_alone():
    all_qa = [query({"A": 5}, "q1"), query({"B": 1}, "q2")]
    results = {"q1": hits("A"), "q2": hits("B")}
    assert explain(all_qa, results, "q2", "ERR", k=1).value == 1 / 32


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_rbp_by_hand(p):
    table = per_query([query(["A", "B"])], {"q1": hits("A", "x", "B")}, 3, [f"RBP(p={p})"])
    assert table.columns.tolist() == [f"RBP(p={p})@3"]
    assert table.iloc[0, 0] == pytest.approx((1 - p) * (1 + p**2), abs=1e-15)


def test_rbp_equals_cwl_eval():
    ranking = hits("x1", "x2", "A", "x3", "x4", "x5")
    value = per_query([query(["A"])], {"q1": ranking}, 6, ["RBP"]).iloc[0, 0]
    assert value == pytest.approx(0.128, abs=1e-15)


def test_rbp_without_a_parameter_has_p_08():
    assert per_query(GRADED, RUN, 10, ["RBP"]).columns.tolist() == ["RBP(p=0.8)@10"]


@pytest.mark.parametrize(
    "name",
    [
        "RBP(p=1)",
        "RBP(p=0)",
        "RBP(p=0.0)",
        "RBP(p=1.5)",
        "RBP(q=0.5)",
        "RBP(p=x)",
        "RBP(p)",
        "nDCG(p=0.8)",
    ],
)
def test_a_bad_parameter_is_refused(name):
    with pytest.raises(ValueError, match=re.escape(name)):
        per_query(GRADED, RUN, metrics=[f"{name}@10"])


def test_metrics_with_other_parameters_stand_side_by_side():
    table = evaluate(GRADED, RUN, 5, ["RBP(p=0.5)", "RBP(p=0.8)"])
    assert table.index.tolist() == ["RBP(p=0.5)", "RBP(p=0.8)"]


def test_a_table_of_a_new_metric_is_checked_as_its_entry_says(capsys):
    report = check_scores(evaluate(GRADED, RUN, (1, 5), ["ERR", "RBP"]).assign(**{"9": 0.0}))
    assert [finding.where for finding in report.findings] == ["ERR", "RBP(p=0.8)"]
