"""Comparing runs: intervals, test, correction and verdicts against SciPy and hand-worked values; what is refused."""

import importlib
import re
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, asking, caught, hits, ranks_of
from scipy import stats

from rageval_kit import Results, caption, compare, differences, evaluate, per_query
from rageval_kit.comparison import holm, queries_needed, randomization_p, resampled_means

sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))

from simulation import QUICK, simulate

MODULE = importlib.import_module("rageval_kit.comparison")  # the package's compare is the function
NOT_FOUND = 11
COLUMNS = [
    "mean", "low", "high", "difference", "difference_low", "difference_high", "p", "p_holm",
    "wins", "ties", "losses", "effect_size", "verdict",
]  # fmt: skip


def a_at(ranks, depth=10):
    """A run in which the relevant document A stands at these ranks, query by query."""
    return {
        f"q{number}": hits(
            *("A" if place == rank else f"x{place}" for place in range(1, depth + 1))
        )
        for number, rank in enumerate(ranks)
    }


def as_frame(run, column="rank"):
    table = ranks_of(run)
    return (
        table if column == "rank" else table.assign(score=1.0 / table["rank"]).drop(columns="rank")
    )


def row(table, metric="MRR@10", run="new"):
    return table.loc[(metric, run)]


def compared(old, new, **arguments):
    """The row of new, for MRR@10: the values of a query are 1 / rank."""
    return row(
        compare({"old": a_at(old), "new": a_at(new)}, asking(len(old)), metrics=["RR"], **arguments)
    )


RNG = np.random.default_rng(7)
OLD = RNG.integers(1, NOT_FOUND + 1, 40)
NEW = np.where(RNG.random(40) < 0.5, OLD, RNG.integers(1, NOT_FOUND + 1, 40))
OTHER = np.where(RNG.random(40) < 0.5, OLD, RNG.integers(1, NOT_FOUND + 1, 40))
RUNS = {"old": a_at(OLD), "new": a_at(NEW), "other": a_at(OTHER)}
ALL_QA = asking(40)
CHANGE = np.where(NEW < NOT_FOUND, 1 / NEW, 0) - np.where(OLD < NOT_FOUND, 1 / OLD, 0)


@pytest.fixture(scope="module")
def table():
    return compare(RUNS, ALL_QA)


# ---------------------------------------------------------------- the form of the table


def test_there_is_a_row_a_metric_and_run(table):
    metrics = ["HitRate@10", "MRR@10", "nDCG@10", "Precision@10", "Recall@10"]
    assert table.index.tolist() == [(metric, run) for metric in metrics for run in RUNS]


def test_the_index_is_named(table):
    assert list(table.index.names) == ["metric", "run"]


def test_the_columns_have_their_order(table):
    assert table.columns.tolist() == COLUMNS


def test_means_are_those_of_evaluate(table):
    for name, results in RUNS.items():
        means = evaluate(ALL_QA, results, 10)[10]
        ours = table.xs(name, level="run")["mean"]
        np.testing.assert_allclose(ours, means, rtol=1e-12)


def test_differences_are_those_of_the_means(table):
    means = table["mean"].unstack()
    np.testing.assert_allclose(
        table["difference"].unstack()["new"], means["new"] - means["old"], atol=1e-12
    )


def test_the_first_run_is_the_baseline(table):
    assert table.xs("old", level="run")["verdict"].unique().tolist() == ["baseline"]


def test_another_baseline_can_be_chosen():
    table = compare(RUNS, ALL_QA, metrics=["RR"], baseline="other")
    assert table["verdict"].eq("baseline").tolist() == [False, False, True]


def test_changing_the_baseline_turns_the_difference_round():
    forth = row(compare(RUNS, ALL_QA, metrics=["RR"]))
    back = row(compare(RUNS, ALL_QA, metrics=["RR"], baseline="new"), run="old")
    np.testing.assert_allclose(
        forth[["difference", "difference_low", "difference_high", "p"]].astype(float),
        [-back["difference"], -back["difference_high"], -back["difference_low"], back["p"]],
        atol=1e-12,
    )


def test_the_baseline_is_not_compared_with_itself(table):
    of_baseline = table.loc[("nDCG@10", "old"), COLUMNS[3:-1]]
    assert of_baseline.isna().all()


def test_metrics_have_cutoffs_of_their_own():
    table = compare(RUNS, ALL_QA, 3, metrics=["nDCG@5", "Recall", "R-precision"])
    assert table.index.unique("metric").tolist() == ["nDCG@5", "Recall@3", "R-precision"]


def test_a_metric_may_be_a_function():
    def first_only(m):
        return m.gains[:, :1].repeat(m.gains.shape[1], axis=1), 1.0

    table = compare(RUNS, ALL_QA, metrics=[first_only])
    assert row(table, "first_only@10", "old")["mean"] == np.mean(OLD == 1)


def test_what_was_decided_travels_with_the_table(table):
    wanted = {
        "baseline": "old",
        "resamples": 10_000,
        "seed": 0,
        "comparisons": 10,
        "no_relevant": "exclude",
    }
    assert {name: table.attrs[name] for name in wanted} == wanted


def test_the_runs_are_not_changed():
    runs = {"old": a_at([1, 2, 3]), "new": a_at([3, 2, 1])}
    compare(runs, asking(3))
    assert runs == {"old": a_at([1, 2, 3]), "new": a_at([3, 2, 1])}


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize("cells", [1, 12, 13, 100, 10**9])
def test_drawing_in_parts_equals_one_draw(monkeypatch, cells):
    monkeypatch.setattr(MODULE, "_CELLS", cells)
    values = np.random.default_rng(1).integers(
        0, 9, (13, 2)
    )  # whole numbers, whose sums have no rounding
    drawn = np.random.default_rng(0).integers(0, 13, size=(201, 13))
    np.testing.assert_array_equal(
        resampled_means(values, 201, np.random.default_rng(0)), values[drawn].sum(axis=1) / 13
    )


def test_memory_is_bounded_by_the_cells(monkeypatch):
    monkeypatch.setattr(MODULE, "_CELLS", 100_000)
    values, rng = np.ones((1_000, 1)), np.random.default_rng(0)
    tracemalloc.start()
    resampled_means(values, 5_000, rng)  # 5,000,000 resampled queries
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * 8 * 100_000


def test_every_column_has_the_same_resamples():
    values = np.random.default_rng(1).random((30, 1))
    one, other = resampled_means(np.hstack([values, 8 * values]), 100, np.random.default_rng(0)).T
    np.testing.assert_allclose(8 * one, other, rtol=1e-12)


def scipy_interval(values):
    return stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval


def test_the_interval_of_the_mean_is_scipys_percentile_bootstrap():
    values = per_query(ALL_QA, RUNS["new"], 10, ["RR"])["RR@10"].to_numpy()
    ours = row(compare(RUNS, ALL_QA, metrics=["RR"], resamples=20_000))
    np.testing.assert_allclose(
        [ours["low"], ours["high"]], scipy_interval(values), atol=0.1 * stats.sem(values)
    )


def test_the_interval_of_the_difference_is_scipys_percentile_bootstrap_of_the_pairs():
    ours = row(compare(RUNS, ALL_QA, metrics=["RR"], resamples=20_000))
    wanted = scipy_interval(CHANGE)
    np.testing.assert_allclose(
        [ours["difference_low"], ours["difference_high"]], wanted, atol=0.1 * stats.sem(CHANGE)
    )


def test_an_interval_encloses_its_mean(table):
    assert (table["low"].le(table["mean"]) & table["mean"].le(table["high"])).all()


def test_more_queries_give_a_narrower_interval():
    few, many = compared(OLD, NEW), compared(np.tile(OLD, 4), np.tile(NEW, 4))
    widths = [answer["difference_high"] - answer["difference_low"] for answer in (few, many)]
    assert widths[1] == pytest.approx(widths[0] / 2, rel=0.1)


def test_equal_runs_have_the_same_interval():
    table = compare({"old": a_at(OLD), "new": a_at(OLD)}, ALL_QA, metrics=["RR"])
    assert table["low"].nunique() == table["high"].nunique() == 1


def test_a_further_run_changes_no_interval_and_no_p(table):
    without = compare({name: RUNS[name] for name in ("old", "new")}, ALL_QA)
    columns = ["low", "high", "difference_low", "difference_high", "p"]
    pd.testing.assert_frame_equal(without[columns], table.loc[without.index, columns], rtol=1e-12)


def test_the_order_of_the_runs_changes_nothing(table):
    turned = compare(dict(reversed(RUNS.items())), ALL_QA, baseline="old")
    pd.testing.assert_frame_equal(turned.loc[table.index], table, rtol=1e-12)


def test_the_default_is_deterministic(table):
    pd.testing.assert_frame_equal(compare(RUNS, ALL_QA), table)


def test_another_seed_changes_intervals_only_slightly(table):
    other = compare(RUNS, ALL_QA, seed=1)
    moved = (other[["low", "high"]] - table[["low", "high"]]).abs()
    assert moved.to_numpy().max() > 0
    assert (moved.max(axis=1) < 0.1 * (table["high"] - table["low"])).all()


def test_another_seed_changes_no_mean(table):
    other = compare(RUNS, ALL_QA, seed=1)
    exact = ["mean", "difference", "wins", "ties", "losses", "effect_size"]
    pd.testing.assert_frame_equal(other[exact], table[exact])


# ---------------------------------------------------------------- the randomization test


def simulation_error(p, resamples):
    return np.sqrt(p * (1 - p) / resamples)


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.5])
def test_p_is_that_of_scipys_permutation_test(shift):
    rng = np.random.default_rng(3)
    one, other = rng.random(25), rng.random(25) + shift * rng.random(25)
    wanted = stats.permutation_test(
        (other, one), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=20_000, rng=rng,
    ).pvalue  # fmt: skip
    (p,) = randomization_p((other - one)[:, None], 20_000, np.random.default_rng(0))
    assert abs(p - wanted) < 4 * np.sqrt(2) * simulation_error(wanted, 20_000) + 1e-4


TINY = {
    "all alike": [0.1] * 7,
    "one against": [0.3, 0.2, 0.5, -0.1, 0.25],
    "ties among sums": [0.1, 0.2, 0.3, 0.4, -0.3, -0.1],
    "many zeros": [0.0, 0.0, 0.5, 0.5, 0.0, -1.0, 0.5],
    "two": [1.0, -0.5],
}


@pytest.mark.parametrize("differences", TINY.values(), ids=TINY)
def test_p_of_a_tiny_sample_is_the_share_of_all_signs(differences):
    # SciPy goes through all 2 ** n signs where they are fewer than n_resamples.
    wanted = stats.permutation_test(
        (np.array(differences), np.zeros(len(differences))), lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=10_000,
    ).pvalue  # fmt: skip
    (p,) = randomization_p(np.array(differences)[:, None], 100_000, np.random.default_rng(0))
    assert p == pytest.approx(wanted, abs=4 * simulation_error(wanted, 100_000) + 1e-4)


def test_p_in_parts_is_the_same_but_for_simulation_error(monkeypatch):
    (whole,) = randomization_p(CHANGE[:, None], 20_000, np.random.default_rng(0))
    monkeypatch.setattr(MODULE, "_CELLS", 1_000)
    (parts,) = randomization_p(CHANGE[:, None], 20_000, np.random.default_rng(0))
    assert parts == pytest.approx(whole, abs=6 * simulation_error(whole, 20_000))


def test_p_is_never_0():
    (p,) = randomization_p(np.ones((200, 1)), 1_000, np.random.default_rng(0))
    assert p == 1 / 1_001


def test_p_is_two_sided():
    one, other = randomization_p(
        np.stack([CHANGE, -CHANGE], axis=1), 1_000, np.random.default_rng(0)
    )
    assert one == other


def test_p_of_no_difference_is_1():
    assert compared([1, 2, 3], [1, 2, 3])["p"] == 1


# ---------------------------------------------------------------- Holm's correction


HOLM = [
    ([0.02], [0.02]),
    ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
    # times 5, 4, 3, 2, 1
    ([0.011, 0.13, 0.005, 0.04, 0.02], [0.044, 0.13, 0.025, 0.08, 0.06]),
    # the second is lifted to the first: 0.02 * 2 = 0.04, 0.03 * 1
    ([0.03, 0.02], [0.04, 0.04]),
    ([0.6, 0.7], [1.0, 1.0]),
    ([0.01, 0.01, 0.01], [0.03, 0.03, 0.03]),
]


@pytest.mark.parametrize(("p", "corrected"), HOLM)
def test_holm_on_hand_worked_values(p, corrected):
    np.testing.assert_allclose(holm(np.array(p)), corrected, rtol=1e-12)


@pytest.fixture(params=range(5))
def p_and_holm(request):
    p = np.random.default_rng(request.param).random(20) ** 3
    return p, holm(p)


def test_holm_keeps_the_order(p_and_holm):
    p, corrected = p_and_holm
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()


def test_holm_is_between_p_and_1(p_and_holm):
    p, corrected = p_and_holm
    assert ((p <= corrected) & (corrected <= 1)).all()


def test_holm_lies_below_bonferroni(p_and_holm):
    p, corrected = p_and_holm
    assert (corrected <= np.minimum(len(p) * p, 1)).all()


def test_the_correction_is_over_all_comparisons_of_the_table(table):
    compared = table[table["verdict"] != "baseline"]
    assert len(compared) == 10
    np.testing.assert_array_equal(compared["p_holm"], holm(compared["p"].to_numpy()))


# ---------------------------------------------------------------- wins, ties, losses, effect size


def test_wins_ties_and_losses_are_counted():
    answer = compared([1, 2, 3, 4, 5, NOT_FOUND], [2, 1, 3, 1, 1, NOT_FOUND])
    assert answer[["wins", "ties", "losses"]].tolist() == [3, 2, 1]


def test_wins_ties_and_losses_add_up_to_the_queries(table):
    assert (
        table[["wins", "ties", "losses"]].sum(axis=1)[table["verdict"] != "baseline"].eq(40).all()
    )


def test_the_effect_size_is_mean_by_standard_deviation():
    assert compared(OLD, NEW)["effect_size"] == pytest.approx(
        CHANGE.mean() / CHANGE.std(ddof=1), rel=1e-12
    )


def test_the_effect_size_of_a_loss_is_negative():
    assert compared(NEW, OLD)["effect_size"] == pytest.approx(
        -compared(OLD, NEW)["effect_size"], rel=1e-12
    )


@pytest.mark.parametrize(("old", "new", "effect"), [(2, 1, np.inf), (1, 2, -np.inf), (2, 2, 0)])
def test_the_effect_size_of_a_constant_difference_has_no_bound(old, new, effect):
    assert compared([old] * 20, [new] * 20)["effect_size"] == effect


def test_a_constant_difference_has_an_interval_of_one_point():
    answer = compared([2] * 20, [1] * 20)
    assert answer[["difference_low", "difference", "difference_high"]].tolist() == [0.5, 0.5, 0.5]


# ---------------------------------------------------------------- the verdict in words


def named_queries(verdict):
    return int(re.match(r"cannot tell; about ([\d,]+) queries could", verdict)[1].replace(",", ""))


def test_better():
    assert compared([2] * 20, [1] * 20)["verdict"] == "better"


def test_worse():
    assert compared([1] * 20, [2] * 20)["verdict"] == "worse"


def test_no_difference_at_all():
    answer = compared(OLD, OLD)
    assert (answer["verdict"], answer["difference"], answer["ties"]) == (
        "cannot tell: no difference was seen",
        0,
        40,
    )


def test_different_queries_and_the_same_mean_show_no_difference():
    assert compared([1, 2] * 10, [2, 1] * 10)["verdict"] == "cannot tell: no difference was seen"


def test_rounding_is_no_difference():
    # The same eight ranks in another order: the differences add up to 0, but for rounding.
    old, new = [5, 1, 7, 3, 3, 6, 6, 2], [1, 3, 6, 7, 3, 2, 5, 6]
    assert sum(1 / rank for rank in old) == pytest.approx(sum(1 / rank for rank in new), abs=1e-12)
    assert [compared(np.roll(old, i), np.roll(new, i))["verdict"] for i in range(8)] == [
        "cannot tell: no difference was seen"
    ] * 8


def test_cannot_tell_names_the_queries_that_could():
    answer = compared(OLD, NEW)
    assert named_queries(answer["verdict"]) == queries_needed(answer["effect_size"])


def test_the_number_is_as_uncertain_as_the_difference():
    answer = compared(OLD, NEW)
    largest = max(abs(answer["difference_low"]), abs(answer["difference_high"]))
    effect = answer["effect_size"] * largest / answer["difference"]
    fewest = max(len(OLD) + 1, queries_needed(effect))
    assert answer["verdict"].endswith(f"(at least {fewest:,})")
    assert fewest < named_queries(answer["verdict"])


def test_the_number_is_for_the_level_that_holms_correction_starts_from(table):
    answer = row(table, "nDCG@10")
    assert named_queries(answer["verdict"]) == queries_needed(answer["effect_size"], 0.05 / 10)


def test_large_numbers_are_grouped():
    answer = compared([1, 2] * 30, [2, 1] * 29 + [1, 1])
    assert re.match(r"cannot tell; about \d{1,3}(,\d{3})+ queries could", answer["verdict"])


def test_the_verdict_goes_by_the_corrected_p():
    runs = {"old": a_at([2] * 7 + [1] * 20), "new": a_at([1] * 27)}
    alone = row(compare(runs, asking(27), metrics=["RR"]))
    among = row(
        compare(
            runs | {f"{i}": a_at([2] * 7 + [1] * 20) for i in range(5)}, asking(27), metrics=["RR"]
        )
    )
    assert alone["p"] < 0.05 < among["p_holm"]
    assert (alone["verdict"], among["verdict"].partition(";")[0]) == ("better", "cannot tell")


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_as_many_queries_as_there_are_are_not_said_to_suffice(n):
    # All of them are won, but of 2 ** 5 signs two are as extreme: p cannot be below 0.0625.
    assert named_queries(compared([2] * n, [1] * n)["verdict"]) > n


def test_too_few_resamples_for_the_comparisons_are_not_taken_for_too_few_queries():
    # With 20 resamples p is at least 1 / 21, with Holm's correction 4 / 21, however many queries there are.
    runs = {"old": a_at([2] * 200)} | {f"new {i}": a_at([1] * 200) for i in range(4)}
    try:
        verdicts = compare(runs, asking(200), metrics=["RR"], resamples=20)["verdict"]
    except ValueError as error:
        assert "resamples" in str(error)
    else:
        assert not verdicts.str.contains("queries could").any()


@pytest.mark.parametrize(("effect", "n"), [(0.1, 785), (0.2, 197), (0.5, 32), (-0.5, 32), (1.0, 8)])
def test_queries_needed_on_hand_worked_values(effect, n):
    # (1.95996 + 0.84162) ** 2 = 7.8489
    assert queries_needed(effect) == n


def test_a_stricter_level_needs_more_queries():
    assert queries_needed(0.2) < queries_needed(0.2, 0.01) < queries_needed(0.2, 0.001)


# ---------------------------------------------------------------- on simulated data, where the truth is known


def test_coverage_false_positives_and_power_are_within_their_bounds():
    quicker = QUICK._replace(batches=3, tables=20)
    outside = [check for check in simulate(quicker) if check.outside]
    assert outside == []


# ---------------------------------------------------------------- queries that are left out


WITHOUT = [{"query_id": "q2", "relevant_doc_ids": []}]
FOUR = [*asking(2), *WITHOUT, {"query_id": "q3", "relevant_doc_ids": ["A"]}]


def test_queries_without_a_relevant_document_are_left_out():
    runs = {"old": a_at([1, 2, 3, 4]), "new": a_at([2, 2, 1, 1])}
    answer = row(compare(runs, FOUR, metrics=["RR"]))
    assert answer[["wins", "ties", "losses"]].tolist() == [1, 1, 1]
    assert answer["mean"] == evaluate(FOUR, runs["new"], 10).loc["MRR", 10]


def test_policies_are_passed_on():
    runs = {"old": a_at([1, 2, 3, 4]), "new": a_at([2, 2, 1, 1])}
    table = compare(runs, FOUR, metrics=["RR"], no_relevant="zero")
    assert row(table)["mean"] == pytest.approx((0.5 + 0.5 + 0 + 1) / 4)
    assert table.attrs["no_relevant"] == "zero"


def test_a_query_that_is_nan_in_one_run_is_left_out_for_every_run():
    def rank_of_a(m):
        """NaN where A was not found."""
        found = np.maximum.accumulate(m.hits, axis=1)
        return np.where(found, m.hits.argmax(axis=1)[:, None] + 1.0, np.nan), 1.0

    runs = {"old": a_at([1, 2, 3, NOT_FOUND]), "new": a_at([NOT_FOUND, 2, 1, 1])}
    table = compare(runs, asking(4), metrics=[rank_of_a])
    assert table["mean"].tolist() == [2.5, 1.5]


def test_too_few_queries_with_a_value_are_refused():
    with pytest.raises(ValueError, match="RR@10: 1 query with a value"):
        compare({"old": a_at([1]), "new": a_at([2])}, asking(1), metrics=["RR"])


# ---------------------------------------------------------------- forms of runs


@pytest.mark.parametrize("column", ["rank", "score"])
def test_dataframe_runs_give_the_same_table(table, column):
    frames = {name: as_frame(run, column) for name, run in RUNS.items()}
    pd.testing.assert_frame_equal(compare(frames, ALL_QA), table)


def test_forms_of_runs_can_be_mixed(table):
    pd.testing.assert_frame_equal(compare(RUNS | {"new": as_frame(RUNS["new"])}, ALL_QA), table)


def test_all_qa_may_be_qrels(table):
    qrels = pd.DataFrame({"query_id": [qa["query_id"] for qa in ALL_QA], "doc_id": "A"})
    pd.testing.assert_frame_equal(compare(RUNS, qrels), table)


def test_integer_ids_are_taken():
    all_qa = [{"query_id": number, "relevant_doc_ids": [7]} for number in range(8)]
    runs = {"old": {n: hits(8, 7) for n in range(8)}, "new": {n: hits(7, 8) for n in range(8)}}
    assert row(compare(runs, all_qa, 2, metrics=["RR"]), "MRR@2")["verdict"] == "better"


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("runs", [{}, [RUNS["old"], RUNS["new"]]], ids=["none", "list"])
def test_no_named_run_is_refused(runs):
    with pytest.raises((TypeError, ValueError), match="dict of named runs"):
        compare(runs, ALL_QA)


def test_an_unknown_baseline_is_refused_and_the_runs_named():
    with pytest.raises(ValueError, match=r"'olf'.*'old', 'new', 'other'. Did you mean 'old'"):
        compare(RUNS, ALL_QA, baseline="olf")


@pytest.mark.parametrize("form", [dict, as_frame], ids=["dict", "DataFrame"])
def test_runs_of_other_queries_are_refused_and_the_queries_named(form):
    shorter = {
        query_id: ranking
        for query_id, ranking in RUNS["new"].items()
        if query_id not in ("q3", "q17")
    }
    with pytest.raises(ValueError, match="'old' and 'new' differ in 2 queries: q3, q17"):
        compare({"old": RUNS["old"], "new": form(shorter)}, ALL_QA)


@pytest.mark.parametrize("form", [dict, as_frame], ids=["dict", "DataFrame"])
def test_runs_of_another_depth_are_refused_and_the_depths_named(form):
    with pytest.raises(ValueError, match="'old' has 10 hits a query and 'new' has 5"):
        compare({"old": RUNS["old"], "new": form(a_at(NEW, depth=5))}, ALL_QA)


def test_runs_may_differ_in_depth_beyond_k():
    compare({"old": RUNS["old"], "new": a_at(NEW, depth=20)}, ALL_QA, k=10)


def test_runs_of_another_depth_are_refused_where_a_metric_looks_deeper_than_k():
    with pytest.raises(ValueError, match="10 hits a query"):
        compare(
            {"old": RUNS["old"], "new": a_at(NEW, depth=20)}, ALL_QA, k=10, metrics=["Recall@20"]
        )


def test_one_short_ranking_is_no_other_depth():
    compare({"old": RUNS["old"], "new": RUNS["new"] | {"q5": hits("A")}}, ALL_QA)


@pytest.mark.filterwarnings("ignore:results of 1 query not in all_qa")
def test_queries_that_are_not_in_all_qa_do_not_matter():
    with_more = compare(
        RUNS | {"new": RUNS["new"] | {"stranger": hits("A")}}, ALL_QA, metrics=["RR"]
    )
    pd.testing.assert_frame_equal(with_more, compare(RUNS, ALL_QA, metrics=["RR"]))


@pytest.mark.parametrize("k", [0, True, "10", 2.5])
def test_a_bad_k_is_refused(k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        compare(RUNS, ALL_QA, k)


@pytest.mark.parametrize("resamples", [0, -1])
def test_no_resamples_are_refused_in_words(resamples):
    with pytest.raises(ValueError, match="resamples"):
        compare(RUNS, ALL_QA, resamples=resamples)


def test_a_run_of_the_wrong_form_is_refused_in_words():
    with pytest.raises(TypeError, match="results is a list of rankings"):
        compare({"old": RUNS["old"], "new": list(RUNS["new"].values())}, ALL_QA)


def test_a_table_without_query_id_is_refused_in_words():
    with pytest.raises(KeyError, match="results as a table needs query_id"):
        compare(
            {"old": RUNS["old"], "new": as_frame(RUNS["new"]).rename(columns={"query_id": "qid"})},
            ALL_QA,
        )


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="Did you mean nDCG"):
        compare(RUNS, ALL_QA, metrics=["NDCG"])


# ---------------------------------------------------------------- differences: where two runs differ


ASKED = [
    {"query_id": "q1", "question": "Which one?", "relevant_doc_ids": ["A", "B"]},
    {"query_id": "q2", "question": "And which here?", "relevant_doc_ids": {"A": 1, "C": 0}},
    {"query_id": "q3", "question": "None?", "relevant_doc_ids": []},
    {"query_id": "q4", "question": "The last?", "relevant_doc_ids": ["D"]},
]
BEFORE = {
    "q1": hits("A", "B", "C"),
    "q2": hits("C", "B", "A"),
    "q3": hits("A", "B", "C"),
    "q4": hits("D", "A", "B"),
}
AFTER = {
    "q1": hits("C", "A", "B"),
    "q2": hits("A", "C", "B"),
    "q3": hits("C", "B", "A"),
    "q4": hits("D", "B", "A"),
}
BOTH = {"before": BEFORE, "after": AFTER}


def test_the_largest_gain_comes_first_and_undefined_last():
    assert differences(BOTH, ASKED, "RR", 3).index.tolist() == ["q2", "q4", "q1", "q3"]


def test_the_difference_is_the_second_minus_the_first():
    table = differences(BOTH, ASKED, "RR", 3).dropna()
    assert table["difference"].tolist() == pytest.approx([1 - 1 / 3, 0, 1 / 2 - 1])


def test_the_values_are_those_of_per_query():
    table = differences(BOTH, ASKED, k=3)
    for name, results in BOTH.items():
        wanted = per_query(ASKED, results, 3, ["nDCG"])["nDCG@3"]
        pd.testing.assert_series_equal(table[name].sort_index(), wanted, check_names=False)


def test_the_rankings_stand_side_by_side_with_a_star_for_relevant():
    table = differences(BOTH, ASKED, "RR", 3)
    columns = ["ranking of before", "ranking of after"]
    assert table.loc["q1", columns].tolist() == ["A* B* C", "C A* B*"]


def test_a_document_judged_0_has_no_star():
    assert differences(BOTH, ASKED, "RR", 3).loc["q2", "ranking of after"] == "A* C B"


def test_a_document_relevant_to_another_query_has_no_star():
    assert differences(BOTH, ASKED, "RR", 3).loc["q4", "ranking of before"] == "D* A B"


def test_only_the_first_k_are_shown():
    assert differences(BOTH, ASKED, "RR", 2).loc["q1", "ranking of before"] == "A* B*"


def test_the_question_stands_first():
    table = differences(BOTH, ASKED, "RR", 3)
    assert table.columns.tolist() == [
        "question", "before", "after", "difference", "ranking of before", "ranking of after",
    ]  # fmt: skip
    assert table.loc["q2", "question"] == "And which here?"


def test_without_questions_there_is_no_column_of_them():
    all_qa = [{field: value for field, value in qa.items() if field != "question"} for qa in ASKED]
    assert "question" not in differences(BOTH, all_qa, "RR", 3)


def test_tables_give_the_same_differences():
    frames = {name: as_frame(run) for name, run in BOTH.items()}
    pd.testing.assert_frame_equal(
        differences(frames, ASKED, "RR", 3), differences(BOTH, ASKED, "RR", 3)
    )


def test_differences_take_policies():
    assert differences(BOTH, ASKED, "RR", 3, no_relevant="zero").loc["q3", "difference"] == 0


def test_differences_take_integer_ids():
    all_qa = [{"query_id": 1, "relevant_doc_ids": [5]}]
    table = differences({"before": {1: hits(6, 5)}, "after": {1: hits(5, 6)}}, all_qa, "RR", 2)
    assert table.loc[1, ["ranking of before", "ranking of after"]].tolist() == ["6 5*", "5* 6"]


@pytest.mark.parametrize(
    "runs", [{"before": BEFORE}, BOTH | {"third": AFTER}], ids=["one", "three"]
)
def test_differences_want_exactly_two_runs(runs):
    with pytest.raises(ValueError, match=f"exactly two runs, found {len(runs)}"):
        differences(runs, ASKED)


def test_differences_refuse_runs_of_other_queries():
    with pytest.raises(ValueError, match="differ in 1 query: q4"):
        differences(
            {"before": BEFORE, "after": {key: AFTER[key] for key in ("q1", "q2", "q3")}}, ASKED, k=3
        )


# ---------------------------------------------------------------- the edges of the rules


def two_runs(n=12):
    all_qa = [{"query_id": f"q{i}", "relevant_doc_ids": ["A"]} for i in range(n)]
    first = {f"q{i}": hits("A", "B") for i in range(n)}
    second = {f"q{i}": hits("B", "A") for i in range(n)}
    return {"first": first, "second": second}, all_qa


def test_resamples_that_could_only_just_not_tell_are_refused():
    runs, all_qa = two_runs()
    with pytest.raises(ValueError, match=r"resamples=19 .*1 comparison.*more than 20"):
        compare(runs, all_qa, k=2, metrics=["RR"], resamples=19)
    assert compare(runs, all_qa, k=2, metrics=["RR"], resamples=20).shape[0] == 2


def test_flipped_sums_that_are_equal_but_for_rounding_count_as_equally_extreme():
    whole = np.array([1.0, 2.0, 3.0, -1.0, 2.0, -3.0, 1.0, 1.0])[:, None]
    p = [
        randomization_p(d, 2_000, np.random.default_rng(0))[0]
        for d in (whole, whole / 10, whole * 0.7)
    ]
    assert p[0] == p[1] == p[2]


@pytest.mark.parametrize("more", ["first", "second"])
def test_queries_that_only_one_run_has_are_refused_whichever_it_is(more):
    runs, all_qa = two_runs()
    runs[more] = dict(runs[more])
    other = "second" if more == "first" else "first"
    runs[other] = {
        query_id: ranking for query_id, ranking in runs[other].items() if query_id != "q7"
    }
    with pytest.raises(ValueError, match=r"differ in 1 query: q7"):
        compare(runs, all_qa, k=2, metrics=["RR"])


# ---------------------------------------------------------------- what came back


def test_runs_asked_for_one_depth_may_return_unlike_many_and_it_is_said():
    short = Results({f"q{i}": hits("A") for i in range(10)}, k=5)
    long = Results({f"q{i}": hits(*"ABCDE") for i in range(10)}, k=5)
    (said,) = caught(lambda: compare({"short": short, "long": long}, asking(10), metrics=["RR"]))
    assert "of 5 asked for: short 1.0, long 5.0" in said


def test_a_run_that_mostly_found_nothing_is_named_once():
    full = {f"q{i}": hits("A") for i in range(40)}
    empty = {f"q{i}": hits("A") if i == 3 else [] for i in range(40)}
    (said,) = caught(lambda: compare({"a": full, "b": empty}, asking(40), k=1, metrics=["RR"]))
    assert said.startswith("The run 'b': no hit for 39 of 40 queries, which score 0: q0, q1, q2")


def test_what_is_odd_about_a_run_is_said_with_its_name():
    strange = {f"q{i}": hits("A#0", "A#1") for i in range(10)}
    right = {f"q{i}": hits("A", "B") for i in range(10)}
    (said,) = caught(lambda: compare({"old": right, "new": strange}, asking(10), 2))
    assert said.startswith("The run 'new': ")
    assert "differ in suffix" in said


def test_a_difference_out_of_reach_is_said_in_words():
    # One change in each direction, which all but cancel each other: millions of queries.
    answer = compared([1, 2, *[1] * 38], [2, 1, *[1] * 38], k=10)
    assert answer["verdict"] == "cannot tell: no difference was seen"
    rows = {"p": 0.9, "p_holm": 0.9, "difference": 1e-4, "effect_size": 1e-3}
    counts = {"wins": 20, "ties": 200, "losses": 20}
    assert MODULE._verdict(rows | counts, 1) == "cannot tell: next to no difference was seen"


def test_one_run_has_its_mean_and_interval():
    alone = compare({"new": RUNS["new"]}, ALL_QA, metrics=["RR"])
    both = compare(RUNS, ALL_QA, metrics=["RR"])
    interval = ["mean", "low", "high"]
    assert row(alone)[interval].tolist() == row(both)[interval].tolist()
    assert list(alone) == COLUMNS
    assert (row(alone)["verdict"], alone.attrs["comparisons"]) == ("baseline", 0)


def test_the_caption_names_the_index_of_every_run():
    runs = {name: Results(run, 10, index=f"{name}-0123456789") for name, run in RUNS.items()}
    said = caption(compare(runs, ALL_QA, metrics=["RR"]))
    assert said.endswith("index old old-0123, new new-0123, other other-01.")


def test_the_caption_names_an_index_that_all_runs_share_once():
    runs = {name: Results(run, 10, index="0123456789") for name, run in RUNS.items()}
    assert caption(compare(runs, ALL_QA, metrics=["RR"])).endswith("; index 01234567.")
