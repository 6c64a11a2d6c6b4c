"""Two judges, people or models: over verdicts on answers, and grades of documents."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from rageval_kit import judge_agreement
from rageval_kit.judges import VERDICTS

# ---------------------------------------------------------------- verdicts


def verdicts(*given):
    return pd.DataFrame({"verdict": given}, index=[f"q{number}" for number in range(len(given))])


def test_kappa_by_hand():
    # Cohen's form: agreement 35/50; by chance 0.5 * 0.6 + 0.5 * 0.4.
    one = ["correct"] * 25 + ["wrong"] * 25
    other = ["correct"] * 20 + ["wrong"] * 5 + ["correct"] * 10 + ["wrong"] * 15
    found = judge_agreement(verdicts(*one), verdicts(*other))
    assert found["n"] == 50
    assert found["agreement"] == pytest.approx(0.7)
    assert found["kappa"] == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_kappa_is_sklearns():
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = rng.choice(VERDICTS, size=(2, 30))
        expected = cohen_kappa_score(one, other)
        assert judge_agreement(verdicts(*one), verdicts(*other))["kappa"] == pytest.approx(expected)


def test_full_agreement_is_1():
    one = verdicts("correct", "wrong", "partly")
    found = judge_agreement(one, one)
    assert found[["n", "left_out", "agreement", "kappa"]].tolist() == [3, 0, 1, 1]
    assert found["differ"] == []


def test_full_disagreement_is_below_0():
    assert (
        judge_agreement(verdicts("correct", "wrong"), verdicts("wrong", "correct"))["kappa"] == -1
    )


def test_agreement_by_chance_is_0():
    one, other = (
        verdicts("correct", "correct", "wrong", "wrong"),
        verdicts("correct", "wrong", "correct", "wrong"),
    )
    assert judge_agreement(one, other)["kappa"] == pytest.approx(0)


@pytest.mark.filterwarnings("error")
def test_kappa_of_one_verdict_throughout_is_not_defined():
    found = judge_agreement(verdicts("correct", "correct"), verdicts("correct", "correct"))
    assert found["agreement"] == 1
    assert np.isnan(found["kappa"])


def test_one_judge_with_one_verdict_has_a_kappa():
    assert (
        judge_agreement(verdicts("correct", "correct"), verdicts("correct", "wrong"))["kappa"] == 0
    )


def test_unreadable_verdicts_are_left_out_and_counted():
    one = verdicts("correct", "wrong", "unreadable", "wrong", "unreadable")
    other = verdicts("correct", "wrong", "wrong", "unreadable", "unreadable")
    found = judge_agreement(one, other)
    assert found[["n", "left_out", "agreement", "kappa"]].tolist() == [2, 3, 1, 1]


@pytest.mark.filterwarnings("error")
def test_without_a_readable_pair_nothing_is_defined():
    found = judge_agreement(verdicts("unreadable"), verdicts("correct"))
    assert (found["n"], found["left_out"]) == (0, 1)
    assert np.isnan(found["agreement"])
    assert np.isnan(found["kappa"])


def test_only_queries_of_both_judges_count():
    one, other = verdicts("correct", "wrong", "wrong"), verdicts("correct", "wrong")
    assert judge_agreement(one, other[::-1])["n"] == 2


def test_judges_of_other_queries_are_refused():
    with pytest.raises(ValueError, match="The two judges have no query in common"):
        judge_agreement(verdicts("correct"), verdicts("correct").rename({"q0": "other"}))


def test_a_query_that_a_judge_has_twice_is_named():
    twice = verdicts("correct", "wrong").rename({"q1": "q0"})
    with pytest.raises(ValueError, match="one: a query appears twice: q0"):
        judge_agreement(twice, verdicts("correct"))


@pytest.mark.parametrize(
    "table",
    [
        None,
        pd.DataFrame({"f1": [1.0]}),
        pd.DataFrame({"query_id": ["q1"], "grade": [1]}),
        {"q1": "correct"},
    ],
)
def test_what_is_no_table_of_verdicts_is_refused(table):
    with pytest.raises(TypeError, match="other must be a table with verdict"):
        judge_agreement(verdicts("correct"), table)


# ---------------------------------------------------------------- the interval, and where


def test_the_interval_holds_kappa_and_is_narrower_with_more_queries():
    rng = np.random.default_rng(1)
    widths = []
    for n in (30, 300):
        one = rng.choice(VERDICTS, size=n)
        other = np.where(rng.random(n) < 0.7, one, rng.choice(VERDICTS, size=n))
        found = judge_agreement(verdicts(*one), verdicts(*other))
        assert found["kappa_low"] < found["kappa"] < found["kappa_high"]
        widths.append(found["kappa_high"] - found["kappa_low"])
    assert widths[1] < widths[0] / 2


def test_the_interval_is_that_of_sklearns_kappa_over_queries_drawn_anew():
    rng = np.random.default_rng(2)
    one, other = rng.choice(VERDICTS[:2], size=(2, 40))
    other = np.where(rng.random(40) < 0.5, one, other)
    found = judge_agreement(verdicts(*one), verdicts(*other))
    drawn = rng.integers(0, 40, size=(2_000, 40))
    kappas = [cohen_kappa_score(one[rows], other[rows]) for rows in drawn[:500]]
    assert [found["kappa_low"], found["kappa_high"]] == pytest.approx(
        np.percentile(kappas, [2.5, 97.5]), abs=0.08
    )


def test_the_same_seed_gives_the_same_interval():
    one, other = verdicts(*"correct wrong wrong partly".split()), verdicts(*["wrong"] * 4)
    assert judge_agreement(one, other).equals(judge_agreement(one, other))


@pytest.mark.filterwarnings("error")
def test_one_query_has_no_interval():
    found = judge_agreement(grades({("q1", "A"): 3, ("q1", "B"): 0}), grades(PAIRS))
    assert found["n"] == 2
    assert np.isnan(found["kappa_low"])


def test_the_queries_in_which_they_differ_are_named():
    one, other = verdicts("correct", "wrong", "partly"), verdicts("correct", "correct", "wrong")
    assert judge_agreement(one, other)["differ"] == ["q1", "q2"]


# ---------------------------------------------------------------- grades


PAIRS = {("q1", "A"): 3, ("q1", "B"): 1, ("q2", "A"): 0, ("q2", "C"): 2, ("q3", "A"): 0}


def grades(given):
    rows = [(query_id, doc_id, grade) for (query_id, doc_id), grade in given.items()]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"], dtype=object)
    return table.astype({"grade": "Int64"})


@pytest.mark.parametrize(("label", "weights"), [("kappa", None), ("weighted_kappa", "linear")])
def test_kappa_of_grades_is_sklearns(label, weights):
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 4, size=(2, 60))
    pairs = [(f"q{n // 6}", f"d{n}") for n in range(60)]
    found = judge_agreement(*(grades(dict(zip(pairs, said, strict=True))) for said in (one, other)))
    assert found[label] == pytest.approx(cohen_kappa_score(one, other, weights=weights))


def test_the_farthest_apart_comes_first():
    other = grades(PAIRS | {("q1", "A"): 2, ("q2", "A"): 3})
    found = judge_agreement(grades(PAIRS), other)
    assert (found["n"], found["differ"]) == (5, ["q2", "q1"])


def test_what_one_judge_left_open_is_left_out():
    found = judge_agreement(grades(PAIRS), grades(PAIRS | {("q2", "C"): None}))
    assert (found["n"], found["left_out"], found["kappa"]) == (4, 1, 1)


def test_the_order_of_the_rows_does_not_matter():
    other = grades(PAIRS | {("q1", "A"): 2})
    found = judge_agreement(grades(PAIRS), other[::-1])
    assert found.equals(judge_agreement(grades(PAIRS), other))


def test_a_pair_that_a_judge_has_twice_is_named():
    table = grades(PAIRS)
    with pytest.raises(ValueError, match="other: a query and document appears twice.*q1"):
        judge_agreement(table, pd.concat([table, table[:1]]))


def test_verdicts_and_grades_are_not_compared():
    with pytest.raises(TypeError, match="other must be a table with grades"):
        judge_agreement(grades(PAIRS), verdicts("correct"))


def test_grades_that_are_texts_are_refused():
    with pytest.raises(TypeError, match="grade must be numbers.*to_numeric"):
        judge_agreement(grades(PAIRS).astype({"grade": str}), grades(PAIRS))
