"""The figures of an experiment: what is drawn, in which order, and that no words touch."""

import matplotlib
import numpy as np
import pytest
from conftest import hits, query

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from test_plots import labels, touching

from rageval_kit import experiment, plot_experiment
from rageval_kit.drawing import BLACK, BLUE, GREEN

N = 40
ALL_QA = [query(["A"], f"q{i}", kind=("easy", "hard")[i % 2]) for i in range(N)]
PRICES = {"base": 3.0, "better": 5.0, "worse and dear": 9.0, "like": 4.0, "model=x, size=120": 1.0}
FOUND = {"base": 2, "better": 1, "worse and dear": 5, "like": 2, "model=x, size=120": 3}


def found_at(rank):
    ranking = [f"x{place}" for place in range(6)]
    ranking.insert(rank - 1, "A")
    return {f"q{i}": hits(*ranking[: 6 - (i % 2) * 5]) for i in range(N)}


@pytest.fixture(scope="module")
def result():
    runs = {name: found_at(rank) for name, rank in FOUND.items()}
    drawn = experiment({**runs, "failed": {}}, ALL_QA, k=6, metrics=["RR"])
    drawn.table["ms_median"] = drawn.table["money"] = [*PRICES.values(), np.nan]
    return drawn


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def words(ax):
    return [text.get_text() for text in ax.texts]


def key(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_differences_are_drawn_the_largest_first_with_the_verdict(result):
    ax = plot_experiment(result)
    assert labels(ax.yaxis) == ["better", "like", "model=x, size=120", "worse and dear"]
    (beside,) = ax.child_axes
    verdicts = [label.partition("\n")[0] for label in labels(beside.yaxis)]
    assert verdicts == ["better", "cannot tell", "worse", "worse"]
    assert [text[0] for text in words(ax)] == ["+", "+", "-", "-"]
    intervals = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2][:1]
    wanted = result.table.loc["better", ["difference_low", "difference_high"]]
    np.testing.assert_allclose(intervals[0], wanted.astype(float))


@pytest.mark.parametrize("kind", ["time", "money"])
def test_the_efficient_are_joined_and_every_system_has_its_name(result, kind):
    ax = plot_experiment(result, kind)
    joined, *points = ax.lines
    assert joined.get_xdata().tolist() == [1.0, 3.0, 5.0]
    assert sorted(words(ax)) == sorted(PRICES)
    colours = {point.get_xdata()[0]: point.get_color() for point in points}
    assert colours == {1.0: GREEN, 3.0: GREEN, 4.0: BLACK, 5.0: GREEN, 9.0: BLACK}


def test_kinds_of_query_show_the_best_and_the_baseline(result):
    ax = plot_experiment(result, "kind")
    assert labels(ax.yaxis) == ["easy (20)", "hard (20)"]
    assert key(ax) == ["better", "base"]
    (blue,) = [line for line in ax.lines if line.get_color() == BLUE]
    assert list(blue.get_xdata()) == [1.0, 1.0]


def test_where_the_best_is_the_baseline_it_is_held_against_the_second_best():
    runs = {"best": found_at(1), "third": found_at(3), "second": found_at(2)}
    ax = plot_experiment(experiment(runs, ALL_QA, k=6, metrics=["RR"]), "kind")
    assert key(ax) == ["best", "second"]


@pytest.mark.parametrize("kind", ["difference", "time", "money", "kind"])
def test_no_words_touch_and_the_title_is_said(result, kind):
    ax = plot_experiment(result, kind, title="What to choose?")
    assert ax.get_title() == "What to choose?"
    ax.figure.draw_without_rendering()
    if ax.texts:
        assert touching([*ax.texts, ax.title]) == []
    if ax.get_legend():
        assert touching([*ax.get_legend().get_texts(), ax.title]) == []
    assert touching(ax.get_yticklabels()) == []
    _, given = plt.subplots()
    assert plot_experiment(result, kind, ax=given) is given


def test_many_systems_have_names_that_do_not_touch():
    runs = {f"model={n}, size=120, hybrid=True": found_at(1 + n % 3) for n in range(16)}
    drawn = experiment(runs, ALL_QA, k=6, metrics=["RR"])
    drawn.table["ms_median"] = np.arange(16.0)
    for kind in ("time", "kind"):
        ax = plot_experiment(drawn, kind)
        ax.figure.draw_without_rendering()
        assert touching(ax.texts or ax.get_yticklabels()) == []


@pytest.mark.parametrize(
    ("arguments", "kind", "facts"),
    [
        (("price",), ValueError, ["'price'", "'money'"]),
        ((3,), ValueError, ["3"]),
        (("time",), ValueError, ["No time is known", "timed=20"]),
        (("money",), ValueError, ["No money is known", "cost="]),
        (("kind",), ValueError, ["kind", "Add one"]),
        (("difference",), ValueError, ["only the baseline"]),
        (("difference", 3), TypeError, ["matplotlib Axes"]),
    ],
)
def test_what_cannot_be_drawn_is_said(arguments, kind, facts):
    without = [{"query_id": qa["query_id"], "relevant_doc_ids": ["A"]} for qa in ALL_QA]
    runs = {"a": found_at(1)} | ({"b": found_at(2)} if len(arguments) > 1 else {})
    drawn = experiment(runs, without, k=6)
    with pytest.raises(kind) as refusal:
        plot_experiment(drawn, *arguments)
    for fact in facts:
        assert fact in str(refusal.value)
    with pytest.raises(TypeError, match=r"what experiment"):
        plot_experiment(drawn.table)
