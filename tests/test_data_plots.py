"""The plots of any data: what is drawn, what is written, and that words do not touch."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from test_plots import boxes, contrast, korean_font, labels, no_korean_font, strict_plots, touching

from rageval_kit import (
    plot_bars,
    plot_cells,
    plot_intervals,
    plot_limit,
    plot_lines,
    plot_marks,
    plot_points,
    plot_resamples,
    plot_strip,
    set_language,
)
from rageval_kit.drawing import BLACK, BLUE, RED, WIDTH

matplotlib.use("Agg")
import matplotlib.pyplot as plt

__all__ = ["korean_font", "no_korean_font", "strict_plots"]  # fixtures

KS = pd.Index(range(1, 13), name="k")
CURVE = pd.DataFrame(
    {"Recall": np.linspace(0.1, 1, 12), "Precision": np.linspace(0.9, 0.1, 12)}, KS
)
WIDTHS = pd.DataFrame({"queries": [240, 120, 60], "width": [0.12, 0.17, 0.25]})
COUNTS = pd.DataFrame({"found": [90, 40], "late": [1, 30], "lost": [9, 30]}, index=["a", "b"])
ENDS = ["difference_low", "difference", "difference_high"]
CHANGES = pd.DataFrame([[0.1, 0.2, 0.3], [-0.3, -0.2, -0.1], [-0.1, 0.1, 0.3]], columns=ENDS)
MEANS = np.random.default_rng(0).normal(0.07, 0.03, 2_000)

DRAWN = {
    "points": lambda **how: plot_points(
        {"good": CURVE, "bad": CURVE / 2}, "Recall", "Precision", "k", True, **how
    ),
    "curve": lambda **how: plot_points(
        WIDTHS, "queries", "width", "width", curve=("root", lambda n: 1.9 / np.sqrt(n)), **how
    ),
    "standing bars": lambda **how: plot_bars(pd.Series(1 / KS, KS), "RR", **how),
    "bars": lambda **how: plot_bars(COUNTS["found"], "n", pd.Series(["x", "y"], ["a", "b"]), **how),
    "parts": lambda **how: plot_bars(COUNTS, "queries", **how),
    "strip": lambda **how: plot_strip({"a": [0.9, 0.9, 0.95], "b": [0.1, 0.5]}, "cosine", **how),
    "resamples": lambda **how: plot_resamples(MEANS, 0.07, "difference", **how),
    "intervals": lambda **how: plot_intervals(CHANGES, **how),
    "marks": lambda **how: plot_marks(COUNTS, "queries", **how),
    "cells": lambda **how: plot_cells(COUNTS, **how),
    "limit": lambda **how: plot_limit(plot_strip({"a": [0.1, 0.9]}, **how), "threshold", x=0.5),
}
every_plot = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def written(ax):
    all_of_them = [*ax.texts, ax.xaxis.label, ax.yaxis.label, ax.title]
    if ax.get_legend():
        all_of_them += ax.get_legend().get_texts()
    return [text for text in all_of_them if text.get_text()]


# ---------------------------------------------------------------- all of them


@every_plot
def test_every_plot_draws_on_the_axes_it_is_given_under_its_title(draw):
    _, ax = plt.subplots(figsize=(9, 5), layout="constrained")
    assert draw(ax=ax, title="what is to be seen") is ax
    assert ax.get_title() == "what is to be seen"
    assert len(plt.get_fignums()) == 1


@every_plot
@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_words_touch_and_all_stand_in_the_frame(draw, language, korean_font):
    set_language(language)
    ax = draw(title="what is to be seen")
    assert touching(written(ax)) == []
    for text, box in zip(written(ax), boxes(written(ax)), strict=True):
        assert ax.figure.bbox.padded(1).contains(*box.min), text
        assert ax.figure.bbox.padded(1).contains(*box.max), text


@every_plot
def test_every_text_can_be_read_from_the_back_row(draw):
    ax = draw(title="what is to be seen")
    ax.figure.draw_without_rendering()
    for text in [*written(ax), *ax.get_xticklabels(), *ax.get_yticklabels()]:
        assert text.get_fontsize() >= 14, text
        assert contrast(text.get_color()) >= 4.5, text


@every_plot
def test_lines_have_one_width_and_marks_that_mean_something_their_own_shape(draw):
    ax = draw()
    widths = {line.get_linewidth() for line in ax.lines if line.get_linestyle() == "-"}
    assert widths <= {WIDTH, 1}  # 1 is the line at 0
    marks = [line for line in ax.lines if line.get_marker() not in ("None", "", None)]
    looks = {(line.get_color(), line.get_marker()) for line in marks}
    if ax.get_legend() or len(looks) > 3:
        assert len({marker for _, marker in looks}) == len(looks)


@every_plot
def test_what_has_no_letters_in_a_font_is_numbered_without_a_warning(draw, no_korean_font):
    set_language("ko")
    draw(title="제목").figure.canvas.draw()


def test_the_label_of_a_plot_with_a_key_is_drawn_without_a_warning(korean_font):
    plot_marks(COUNTS, "유형별 질의 평균")


def test_names_that_are_too_long_for_one_row_of_a_key_leave_room_for_the_plot():
    long = {name: f"{name}: model=use-multilingual, size=10000, hybrid=True" for name in COUNTS}
    ax = plot_marks(COUNTS.rename(columns=long))
    assert ax.get_window_extent().width > 500


@pytest.mark.parametrize(
    ("draw", "kind", "facts"),
    [
        (lambda: plot_points(3, "a", "b"), TypeError, ["plot_points", "a table"]),
        (lambda: plot_points({}, "a", "b"), ValueError, ["found none"]),
        (lambda: plot_points(CURVE, "Recal", "k"), ValueError, ["'Recal'", "Recall"]),
        (lambda: plot_points(CURVE * np.nan, "Recall", "k"), ValueError, ["finite numbers"]),
        (lambda: plot_points(CURVE, "Recall", "k", curve=3), TypeError, ["a function of x"]),
        (lambda: plot_bars([1, 2]), TypeError, ["a series"]),
        (lambda: plot_bars(-COUNTS), ValueError, ["from 0", "plot_marks"]),
        (lambda: plot_bars(COUNTS["found"], kinds=["x"]), ValueError, ["a word for each row"]),
        (lambda: plot_bars(COUNTS, kinds=COUNTS["found"]), ValueError, ["of a series"]),
        (lambda: plot_strip([1, 2]), TypeError, ["a dict of values"]),
        (lambda: plot_strip({"a": []}), ValueError, ["at least one"]),
        (lambda: plot_strip({"a": ["x"]}), ValueError, ["numbers", "x"]),
        (lambda: plot_resamples([]), ValueError, ["at least one"]),
        (lambda: plot_resamples(MEANS, "x"), ValueError, ["seen", "'x'"]),
        (lambda: plot_intervals(MEANS), TypeError, ["a difference a row"]),
        (lambda: plot_intervals(COUNTS), ValueError, ["difference_low", "found"]),
        (lambda: plot_marks(MEANS), TypeError, ["a mark a column"]),
        (lambda: plot_marks(COUNTS, joined=["z"]), ValueError, ["'z'", "found, late, lost"]),
        (lambda: plot_cells(COUNTS[:0]), ValueError, ["cells"]),
        (lambda: plot_cells([[1]]), TypeError, ["a table"]),
        (lambda: plot_limit(None, "0", x=0), TypeError, ["plot_lines"]),
        (lambda: plot_limit(plot_bars(COUNTS), "0"), ValueError, ["x=... or at y=..."]),
        (lambda: plot_lines(CURVE.set_axis(range(12)), log=True), ValueError, ["above 0"]),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(draw, kind, facts):
    with pytest.raises(kind) as refusal:
        draw()
    for fact in facts:
        assert fact in str(refusal.value)


# ---------------------------------------------------------------- each


def test_each_table_has_its_name_and_first_word_at_its_first_point():
    ax = DRAWN["points"]()
    assert {"good, k = 1", "bad, k = 1"} <= set(texts(ax))
    good, bad = ax.lines
    assert list(good.get_xdata()) == list(CURVE["Recall"])
    assert good.get_marker() != bad.get_marker()


def test_points_that_cover_each_other_share_their_words():
    flat = pd.DataFrame({"Recall": [0.1, 0.5, 0.5, 0.5, 1.0, 1.0], "Precision": 0.2}, KS[:6])
    ax = plot_points({"a": flat, "b": flat / 2}, "Recall", "Precision", words="k")
    assert texts(ax) == ["a, k = 1", "b, k = 1", "5, 6", "2–4", "5, 6", "2–4"]


def test_words_that_are_no_numbers_are_each_written():
    named = pd.DataFrame({"x": [0.5, 0.5, 0.5, 1], "y": 1, "name": ["IVF", "HNSW", "Flat", "SQ8"]})
    ax = plot_points(named, "x", "y", words="name")
    assert texts(ax) == ["name = IVF, HNSW, Flat", "SQ8"]


def test_points_that_stand_apart_have_a_word_each():
    ax = plot_points(WIDTHS, "queries", "width", words="queries")
    assert texts(ax) == ["240", "60", "120"]


@pytest.mark.parametrize(
    "draw",
    [plot_bars, plot_marks, plot_cells, lambda its: plot_bars(its["found"])],
    ids=["parts", "marks", "cells", "bars"],
)
def test_more_names_than_can_be_read_are_refused(draw):
    many = pd.concat([COUNTS] * 150).set_axis([f"name {n}" for n in range(300)])
    with pytest.raises(ValueError, match="draws at most 100 .*; found 300. Draw some of them"):
        draw(many)


def test_bars_that_stand_may_be_many():
    assert len(plot_bars(pd.Series(range(300))).patches) == 300
    with pytest.raises(ValueError, match="plot_bars draws at most 1,000 bars"):
        plot_bars(pd.Series(range(2_000)))


def test_more_groups_or_intervals_than_can_be_read_are_refused():
    with pytest.raises(ValueError, match="plot_strip draws at most 100 groups"):
        plot_strip({str(n): [1] for n in range(101)})
    with pytest.raises(ValueError, match="plot_intervals draws at most 100 rows"):
        plot_intervals(pd.concat([CHANGES] * 50))


def test_points_that_are_not_joined_have_no_line():
    (line,) = plot_points(WIDTHS, "queries", "width").lines
    assert line.get_linestyle() == "None"


def test_a_row_without_a_number_is_left_out():
    (line,) = plot_points(WIDTHS.replace(120, np.nan), "queries", "width").lines
    assert list(line.get_xdata()) == [240, 60]


def test_bars_over_numbers_stand_and_have_their_numbers_above():
    ax = DRAWN["standing bars"]()
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(list(1 / KS))
    assert texts(ax)[:3] == ["1", "0.5", "0.333"]


def test_each_kind_has_a_colour_a_hatch_and_its_word():
    ax = DRAWN["bars"]()
    assert texts(ax) == ["90  x", "40  y"]
    first, second = ax.patches
    assert first.get_facecolor() != second.get_facecolor()
    assert first.get_hatch() != second.get_hatch()


def test_every_part_is_numbered_inside_or_where_it_has_no_room_behind_the_bar():
    ax = plot_bars(COUNTS.assign(late=[1, 5]) * 10)
    assert sorted(texts(ax)) == ["10 late", "300", "400", "50", "90", "900"]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["found", "late", "lost"]
    assert len({bar.get_hatch() for bar in ax.patches}) == 3


def test_dots_of_one_value_stand_side_by_side():
    ax = plot_strip({"a": [0.5] * 5 + [0.9]})
    (line,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert len({*zip(line.get_xdata(), line.get_ydata(), strict=True)}) == 6


def test_very_many_dots_stay_in_their_row():
    ax = plot_strip({"a": [0.5] * 500, "b": [0.1]})
    assert max(abs(ax.lines[1].get_ydata())) <= 0.5


def test_the_middle_of_the_resamples_is_marked_and_what_was_seen():
    low, high = np.percentile(MEANS, [2.5, 97.5])
    ax = DRAWN["resamples"]()
    assert texts(ax) == ["seen: 0.070", f"middle 95 %: {low:.3f} to {high:.3f}"]
    assert [low, high] in [list(line.get_xdata()) for line in ax.lines]
    assert len({bar.get_hatch() for bar in ax.patches}) == 2


@pytest.mark.parametrize(
    ("more", "colours"),
    [
        ({}, [BLUE, RED, BLACK]),
        ({"p_holm": [0.2, 0.01, 0.01]}, [BLACK, RED, BLUE]),
        ({"verdict": ["cannot tell; ...", "worse", "더 낫다"], "p_holm": 0.01}, [BLACK, RED, BLUE]),
    ],
)
def test_an_interval_is_coloured_by_its_verdict_or_p_or_by_itself(more, colours):
    ax = plot_intervals(CHANGES.assign(**more))
    assert [line.get_color() for line in ax.lines[0:6:2]] == colours
    words = {BLUE: "better", RED: "worse", BLACK: "cannot tell"}
    (beside,) = ax.child_axes
    verdicts = [label.partition("\n")[0] for label in labels(beside.yaxis)]
    assert verdicts == [words[colour] for colour in colours]
    assert (0, 0) in [tuple(line.get_xdata()) for line in ax.lines]


def test_only_what_is_joined_has_a_line():
    ax = plot_marks(COUNTS, joined=["late", "lost"])
    lines = [list(line.get_xdata()) for line in ax.lines if line.get_linestyle() == "-"]
    assert lines == [[1, 9], [30, 30]]


def test_cells_hold_texts_in_lines():
    table = pd.DataFrame([["one: 1\nA B", "two " * 12]], ["yes"], ["found", "not found"])
    first, second = texts(plot_cells(table))
    assert first == "one: 1\nA B"
    assert len(second.splitlines()) == 2


def test_a_limit_outside_the_axes_widens_them():
    ax = plot_limit(plot_lines(CURVE / 2), "no metric exceeds 1", y=1)
    assert ax.get_ylim()[0] < 1 < ax.get_ylim()[1]
    assert texts(ax)[-1] == "no metric exceeds 1"
    assert touching(ax.texts) == []


def test_sizes_that_double_are_equally_far_apart():
    sizes = pd.Index([256, 512, 1024, 2048], name="bytes")
    ax = plot_lines(pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.4]}, sizes), log=True)
    ax.figure.draw_without_rendering()
    assert labels(ax.xaxis) == ["256", "512", "1024", "2048"]
    steps = np.diff(ax.transData.transform([(size, 0) for size in sizes])[:, 0])
    np.testing.assert_allclose(steps, steps[0])


# ---------------------------------------------------------------- odd numbers


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: plot_bars(pd.Series([1j])), "plot_bars draws numbers"),
        (lambda: plot_bars(pd.Series([1e308, 1.0])), "plot_bars draws finite numbers"),
        (lambda: plot_bars(pd.Series([1, 2], [np.nan, 1])), "plot_bars draws finite numbers"),
        (lambda: plot_marks(pd.DataFrame({"a": [1e308]})), "plot_marks draws finite numbers"),
        (lambda: plot_strip({"a": [1e308, -1e308]}), "plot_strip draws finite numbers"),
    ],
)
def test_what_no_axis_can_hold_is_refused(draw, said):
    with pytest.raises(ValueError, match=said):
        draw()


@pytest.mark.parametrize("of_x", [lambda x: "x", lambda x: [1, 2], lambda: 1])
def test_a_curve_without_a_number_for_each_x_is_refused(of_x):
    table = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    with pytest.raises(ValueError, match="a curve gives a number for each x; the curve 'n' does"):
        plot_points(table, "a", "b", curve=("n", of_x))


def test_a_row_without_a_kind_has_one_of_its_own():
    kinds = pd.Series(["a", None], index=["x", "y"])
    ax = plot_bars(pd.Series([1, 2], index=["x", "y"]), kinds=kinds)
    assert ax.texts[0].get_text() == "1  a"


def test_values_that_differ_by_rounding_are_one_bar():
    assert plot_resamples([0.1 + 0.2, 0.3] * 5).patches


def test_a_verdict_that_stands_twice_is_refused():
    names = ["difference_low", "difference", "difference_high", "verdict", "verdict"]
    with pytest.raises(ValueError, match="plot_intervals draws the columns"):
        plot_intervals(pd.DataFrame([[1, 2, 3, "better", "worse"]], columns=names))
