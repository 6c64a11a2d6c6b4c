"""The plots, drawn in process: what is drawn, what is written, and that names can be read."""

import warnings
from itertools import combinations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, asking
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.colors import to_rgb

from rageval_kit import (
    Results,
    abstention_curve,
    compare,
    differences,
    drawing,
    evaluate,
    fonts,
    load_dataset,
    per_query,
    plot_abstention,
    plot_comparison,
    plot_differences,
    plot_hits,
    plot_lines,
    plot_relevance_matrix,
    relevance_matrix,
    set_language,
)
from rageval_kit.drawing import BLACK, BLUE, GREY, RED, SKY

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import font_manager


@pytest.fixture(autouse=True)
def strict_plots():
    """Let no warning pass, as of a letter that no font has, and close what was drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    plt.close("all")
    set_language("en")


@pytest.fixture
def korean_font(tmp_path):
    """Install a font whose Hangul syllables are boxes, as wide as those of a real one."""
    letters = [32, *range(0xAC00, 0xD7A4)]
    pen = TTGlyphPen(None)
    for point, step in (((50, 0), pen.moveTo), ((850, 0), pen.lineTo), ((850, 700), pen.lineTo)):
        step(point)
    pen.closePath()
    font = FontBuilder(1000)
    font.setupGlyphOrder([".notdef", "box"])
    font.setupCharacterMap(dict.fromkeys(letters, "box"))
    font.setupGlyf(dict.fromkeys((".notdef", "box"), pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys((".notdef", "box"), (920, 50)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "NanumGothic", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "font.ttf")

    before = list(font_manager.fontManager.ttflist)
    font_manager.fontManager.addfont(str(tmp_path / "font.ttf"))
    font_manager.fontManager._findfont_cached.cache_clear()
    yield
    font_manager.fontManager.ttflist = before
    font_manager.fontManager._findfont_cached.cache_clear()


@pytest.fixture
def no_korean_font(monkeypatch):
    monkeypatch.setattr(fonts, "_KOREAN_FONTS", {})


def texts(ax):
    return [text.get_text() for text in ax.texts]


def labels(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


def boxes(artists):
    """Return where they stand in the figure, once it is laid out."""
    artists = list(artists)
    artists[0].figure.draw_without_rendering()
    return [matplotlib.text.Text.get_window_extent(artist) for artist in artists]


def touching(artists):
    named = zip([artist.get_text() for artist in artists], boxes(artists), strict=True)
    return [(a, b) for (a, first), (b, second) in combinations(named, 2) if first.overlaps(second)]


def contrast(colour):
    """Return the contrast with white: WCAG asks for 4.5 for text."""
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in to_rgb(colour)]
    return 1.05 / (np.dot([0.2126, 0.7152, 0.0722], parts) + 0.05)


def found_at(rank, n=20):
    """Return results with the relevant document A at this rank."""
    rankings = {}
    for i in range(n):
        hits = [{"doc_id": doc_id} for doc_id in ("BCDE" if i % 2 else "BCED")]
        rankings[f"q{i}"] = [*hits[: rank - 1], {"doc_id": "A"}, *hits[rank - 1 :]]
    return rankings


# ---------------------------------------------------------------- lines

KS = range(1, 6)
TABLE = evaluate(asking(20), found_at(3), ks=KS)
PERFECT = evaluate(asking(20), found_at(1), ks=KS)
APART = pd.DataFrame({"up": [0.1, 0.9], "down": [0.8, 0.2]}, index=pd.Index([1, 5], name="k"))


@pytest.mark.parametrize("table", [TABLE, TABLE.T])
def test_the_table_of_evaluate_is_drawn_as_it_is_or_turned(table):
    ax = plot_lines(table)
    assert texts(ax) == ["Recall", "HitRate", "nDCG", "MRR", "Precision"]  # from top to bottom
    for line, metric in zip(ax.lines, TABLE.index, strict=True):
        assert line.get_label() == metric
        assert list(line.get_xdata()) == list(KS)
        assert list(line.get_ydata()) == list(TABLE.loc[metric])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k", "mean over queries")


def test_a_table_read_from_a_file_is_drawn_as_the_one_written(tmp_path):
    TABLE.to_csv(tmp_path / "summary.csv")
    ax = plot_lines(pd.read_csv(tmp_path / "summary.csv", index_col="metric"))
    assert [list(line.get_ydata()) for line in ax.lines] == TABLE.to_numpy().tolist()


def test_cutoffs_are_drawn_in_their_order():
    ax = plot_lines(evaluate(asking(3), found_at(3, 3), ks=(5, 1, 3)))
    assert [list(line.get_xdata()) for line in ax.lines] == [[1, 3, 5]] * 5


def test_every_line_has_the_same_width_and_a_colour_and_marker_of_its_own():
    ax = plot_lines(TABLE)
    assert {line.get_linewidth() for line in ax.lines} == {drawing.WIDTH}
    assert len({line.get_color() for line in ax.lines}) == len(TABLE)
    assert len({line.get_marker() for line in ax.lines}) == len(TABLE)


def test_lines_that_coincide_stand_side_by_side_by_their_width():
    ax = plot_lines(PERFECT.drop(index="Precision"))
    ax.figure.canvas.draw()
    heights = [line.get_transform().transform((1, 1.0))[1] for line in ax.lines]
    steps = np.diff(sorted(heights)) * 72 / ax.figure.dpi
    np.testing.assert_allclose(steps, drawing.WIDTH)
    assert all((line.get_ydata() == 1).all() for line in ax.lines)


def test_lines_that_only_cross_stay_where_they_are():
    ax = plot_lines(APART)
    ax.figure.canvas.draw()
    for line in ax.lines:
        point = line.get_xydata()[0]
        np.testing.assert_allclose(
            line.get_transform().transform(point), ax.transData.transform(point)
        )


def test_a_name_stands_at_the_end_of_its_line_with_a_leader_in_its_colour():
    ax = plot_lines(APART)
    assert {name.get_text(): tuple(name.xy) for name in ax.texts} == {
        "up": (5, 0.9),
        "down": (5, 0.2),
    }
    colours = {line.get_label(): line.get_color() for line in ax.lines}
    for name in ax.texts:
        assert to_rgb(name.arrow_patch.get_edgecolor()) == to_rgb(colours[name.get_text()])


@pytest.mark.parametrize(
    ("table", "title"),
    [
        (TABLE, None),
        (PERFECT, None),
        (PERFECT, "What is to be seen"),
        (evaluate(asking(20), found_at(1), KS, ["HitRate", "RR", "nDCG", "AP", "F1"]), None),
        (pd.DataFrame(np.zeros((4, 7)), columns=list("abcdefg")), None),
        (pd.DataFrame([[0.5, 0.51, 0.52, 0.1, 0.11]] * 3, columns=list("abcde")), None),
        (pd.DataFrame({"negative": [0.1, -0.6], "none": [0.0, -0.55]}), None),
    ],
)
def test_names_do_not_touch_each_other(table, title):
    ax = plot_lines(table, title=title)
    assert len(ax.texts) == (len(table) if table.columns.name == "k" else table.shape[1])
    assert touching(ax.texts) == []


def test_names_do_not_touch_in_a_small_panel():
    figure, axes = plt.subplots(1, 2, figsize=(12, 3.5), layout="constrained")
    for ax, title in zip(axes, ("first", "second"), strict=True):
        assert plot_lines(PERFECT, ax=ax, title=title) is ax
    assert touching([*axes[0].texts, *axes[1].texts]) == []
    assert figure.axes == list(axes)


@pytest.mark.parametrize("language", ["ko", "en"])
def test_names_in_both_languages_do_not_touch(language, korean_font):
    docs, _ = load_dataset(ROOT / "data" / "lecture" / language)
    titles = [doc["title"] for doc in docs[:4]]
    table = pd.DataFrame([[1.0, 1.0, 1.0, 0.3]] * 3, columns=titles, index=[1, 3, 5])
    ax = plot_lines(table, title=titles[0], ylabel=titles[1])
    assert sorted(texts(ax)) == sorted(titles)
    assert (ax.get_title(), ax.get_ylabel()) == (titles[0], titles[1])
    assert touching(ax.texts) == []


def test_a_gap_in_a_line_is_left_out_and_its_name_stands_at_its_last_point():
    table = pd.DataFrame({"a": [0.1, np.nan, 0.3], "b": [0.5, 0.6, np.nan]}, index=[1, 3, 5])
    ax = plot_lines(table)
    assert [list(line.get_xdata()) for line in ax.lines] == [[1, 5], [1, 3]]
    assert {name.get_text(): name.xy[0] for name in ax.texts} == {"a": 5, "b": 3}


def test_many_cutoffs_are_not_all_written():
    ax = plot_lines(pd.DataFrame({"a": np.linspace(0, 1, 100)}, index=range(1, 101)))
    ax.figure.draw_without_rendering()
    assert len(labels(ax.xaxis)) <= 20
    assert touching(ax.get_xticklabels()) == []


@pytest.mark.parametrize(
    ("table", "kind", "facts"),
    [
        (TABLE[3], TypeError, ["a table", "evaluate(", "Series", "to_frame()"]),
        (TABLE.loc["MRR"], TypeError, ["to_frame()"]),
        (found_at(1), TypeError, ["a table", "results"]),
        (None, TypeError, ["a table", "None"]),
        (per_query(asking(2), found_at(1, 2)), ValueError, ["numbers", "q0", "HitRate@1"]),
        (
            evaluate(asking(2), found_at(1, 2), metrics=["nDCG", "R-precision"]),
            ValueError,
            ["numbers", "Leave out", "R"],
        ),
        (pd.DataFrame({"a": ["x", "y"]}), ValueError, ["numbers", "x"]),
        (pd.DataFrame({"a": [np.inf, 1.0]}), ValueError, ["infinite"]),
        (pd.DataFrame({"a": [np.nan]}), ValueError, ["none"]),
        (pd.DataFrame(), ValueError, ["none"]),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), ValueError, ["name of its own"]),
        (compare({"a": found_at(1), "b": found_at(2)}, asking(20)), ValueError, ["numbers"]),
    ],
)
def test_a_table_that_cannot_be_drawn_as_lines_is_refused_in_words(table, kind, facts):
    with pytest.raises(kind) as refusal:
        plot_lines(table)
    for fact in ["plot_lines", *facts]:
        assert fact in str(refusal.value)
    assert plt.get_fignums() == []


# ---------------------------------------------------------------- matrix

GRADED = [
    {"query_id": "q1", "relevant_doc_ids": {"A": 3, "B": 1}},
    {"query_id": "q2", "relevant_doc_ids": {"A": 1}},
]
RANKED = {"q1": [{"doc_id": doc} for doc in "BCA"], "q2": [{"doc_id": doc} for doc in "CDE"]}


def test_the_matrix_is_drawn_with_a_square_a_hit_and_the_gain_in_it():
    ax = plot_relevance_matrix(relevance_matrix(GRADED, RANKED, k=3))
    colours = [matplotlib.colors.to_hex(square.get_facecolor()).upper() for square in ax.patches]
    assert colours == [SKY, GREY, SKY, GREY, GREY, GREY]
    assert {(text.get_position(), text.get_text()) for text in ax.texts} == {
        ((1, 0), "1"),
        ((3, 0), "3"),
    }
    assert (labels(ax.yaxis), labels(ax.xaxis)) == (["q1", "q2"], ["1", "2", "3"])
    assert ax.get_xlabel() == "rank"


def test_gains_under_another_policy_are_written():
    ax = plot_relevance_matrix(relevance_matrix(GRADED, RANKED, k=3, gain="exponential"))
    assert texts(ax) == ["1", "7"]


@pytest.mark.parametrize(
    "matrix", [relevance_matrix(GRADED, RANKED, k=3).to_frame(), RANKED, GRADED, None]
)
def test_what_is_no_matrix_is_refused_in_words(matrix):
    with pytest.raises(TypeError, match=r"relevance_matrix\(all_qa, results, k=5\)"):
        plot_relevance_matrix(matrix)


# ---------------------------------------------------------------- hits

NEAR = [
    {"doc_id": "A", "title": "첫 문서", "content": "", "score": 0.25},
    {"doc_id": "B", "title": "second", "content": "", "score": 0.5},
    {"doc_id": "C", "title": "", "content": "", "score": 0.75},
]


def dots(ax):
    return [(line.get_xdata()[0], line.get_ydata()[0], line.get_color()) for line in ax.lines]


def test_hits_are_dots_from_best_to_worst_and_the_relevant_ones_blue():
    ax = plot_hits(NEAR, ["B", "Z"])
    assert dots(ax) == [(0.25, 1, GREY), (0.5, 2, BLUE), (0.75, 3, GREY)]
    assert texts(ax) == ["0.250", "0.500  relevant", "0.750"]
    assert ax.yaxis_inverted()
    assert touching([*ax.texts, *ax.get_yticklabels()]) == []


def test_an_arrow_says_on_which_side_the_better_scores_are():
    falling = [hit | {"score": -hit["score"]} for hit in NEAR]
    assert plot_hits(NEAR, [], xlabel="distance").get_xlabel() == "← better    distance"
    assert plot_hits(falling, [], xlabel="cosine").get_xlabel() == "cosine    better →"
    assert plot_hits(NEAR[:1], []).get_xlabel() == "score"


def test_a_document_of_grade_0_is_not_relevant():
    ax = plot_hits(NEAR, {"A": 0, "B": 2})
    assert [colour for _, _, colour in dots(ax)] == [GREY, BLUE, GREY]


def test_titles_are_written_where_a_font_has_their_letters(korean_font):
    assert labels(plot_hits(NEAR, []).yaxis) == ["1. 첫 문서", "2. second", "3. C"]


def test_ids_are_written_where_no_font_has_the_letters_without_a_warning(no_korean_font):
    ax = plot_hits(NEAR, [], xlabel="거리", title="제목")
    ax.figure.canvas.draw()
    assert labels(ax.yaxis) == ["1. A", "2. second", "3. C"]
    assert (ax.get_xlabel(), ax.get_title()) == ("← better    score", "")


def test_other_names_without_letters_are_numbered(no_korean_font):
    ax = plot_lines(pd.DataFrame({"가": [0.1, 0.2], "run": [0.3, 0.4]}))
    assert texts(ax) == ["run", "line 1"]
    queries = [{"query_id": "질문", "relevant_doc_ids": ["A"]}]
    assert labels(
        plot_relevance_matrix(relevance_matrix(queries, {"질문": [{"doc_id": "A"}]}, k=1)).yaxis
    ) == ["query 1"]


def test_a_dollar_begins_no_formula():
    ax = plot_hits([NEAR[1] | {"title": r"costs $5 and $\10"}], ["B"], title="$a_b$ $\\")
    ax.figure.canvas.draw()
    assert labels(ax.yaxis) == [r"1. costs \$5 and \$\10"]


@pytest.mark.parametrize(
    ("hits", "kind", "facts"),
    [
        (Results({"q01": NEAR}), TypeError, ["one query", 'results["q01"]', "results"]),
        (NEAR[0], TypeError, ["one query"]),
        (pd.DataFrame(NEAR), TypeError, ["one query", "DataFrame"]),
        (None, TypeError, ["one query", "None"]),
        (["A", "B"], ValueError, ["without a score: A"]),
        ([{"doc_id": "A"}], ValueError, ["without a score: A"]),
        ([NEAR[0] | {"score": np.inf}], ValueError, ["without a score: A"]),
        ([NEAR[0] | {"score": "0.3"}], TypeError, ["'0.3'"]),
        ([], ValueError, ["0 hits"]),
    ],
)
def test_hits_that_cannot_be_drawn_are_refused_in_words(hits, kind, facts):
    with pytest.raises(kind) as refusal:
        plot_hits(hits, ["A"])
    for fact in facts:
        assert fact in str(refusal.value)


@pytest.mark.parametrize("relevant", ["A", None, 3, [["A"]], {"A": "high"}])
def test_relevant_doc_ids_of_another_form_are_refused_in_words(relevant):
    with pytest.raises((TypeError, ValueError), match="relevant_doc_ids"):
        plot_hits(NEAR, relevant)


# ---------------------------------------------------------------- comparison

RUNS = {"base": found_at(2), "up": found_at(1), "down": found_at(3), "same": found_at(2)}
VERDICTS = compare(RUNS, asking(20), metrics=["RR", "nDCG"], resamples=1_000)
UNSURE = compare(
    {"old": found_at(2, 40), "new": found_at(2, 40) | found_at(1, 3) | {"q5": found_at(3)["q5"]}},
    asking(40),
    metrics=["RR"],
    resamples=1_000,
)


def intervals(ax):
    return [tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]


def test_the_means_are_drawn_on_the_left_with_their_intervals():
    means, _ = plot_comparison(VERDICTS, "MRR@10").child_axes
    rows = VERDICTS.loc["MRR@10"]
    assert labels(means.yaxis) == ["base", "up", "down", "same"]
    assert texts(means) == ["0.500", "1.000", "0.333", "0.500"]
    assert intervals(means) == list(zip(rows["low"], rows["high"], strict=True))
    assert means.get_xlabel() == "MRR@10, 95 % interval"


def test_the_differences_are_drawn_on_the_right_with_their_0_and_the_verdict():
    _, change = plot_comparison(VERDICTS, "MRR@10").child_axes
    rows = VERDICTS.loc["MRR@10"].drop(index="base")
    *drawn, zero = intervals(change)
    assert drawn == list(zip(rows["difference_low"], rows["difference_high"], strict=True))
    assert zero == (0, 0)
    assert texts(change) == ["+0.500", "-0.167", "+0.000"]
    assert [label.split("\n")[0] for label in labels(change.yaxis)] == [
        "baseline",
        "better",
        "worse",
        "cannot tell",
    ]
    assert f"p_holm = {rows.loc['up', 'p_holm']:.2g}" in labels(change.yaxis)[1]
    assert change.get_xlabel() == "difference, 95 % interval"


def test_better_is_blue_worse_is_red_and_all_else_black():
    _, change = plot_comparison(VERDICTS, "MRR@10").child_axes
    assert [line.get_color() for line in change.lines[0:6:2]] == [BLUE, RED, BLACK]


def test_where_nothing_can_be_told_the_drawn_difference_is_black_and_reaches_0():
    _, change = plot_comparison(UNSURE, "MRR@10").child_axes
    (low, high), _ = intervals(change)
    assert low <= 0 <= high
    assert labels(change.yaxis)[1].startswith("cannot tell\n")
    assert change.lines[0].get_color() == BLACK


def test_nothing_in_the_comparison_touches():
    ax = plot_comparison(VERDICTS, "nDCG@10", title="Which run is better?")
    for panel in ax.child_axes:
        assert touching([*panel.texts, *panel.get_yticklabels()]) == []
        assert touching(panel.get_xticklabels()) == []
    assert ax.get_title() == "Which run is better?"


def test_two_comparisons_share_a_figure():
    _, axes = plt.subplots(2, 1, figsize=(12, 9))
    for ax, metric in zip(axes, ("MRR@10", "nDCG@10"), strict=True):
        assert plot_comparison(VERDICTS, metric, ax) is ax
        assert ax.child_axes[0].get_xlabel().startswith(metric)


@pytest.mark.parametrize(
    ("table", "metric", "kind", "facts"),
    [
        (VERDICTS, "nDCG", ValueError, ["'nDCG'", "Write 'nDCG@10'"]),
        (VERDICTS, "RR@10", ValueError, ["'RR@10'", "'MRR@10'", "'nDCG@10'"]),
        (VERDICTS, 10, ValueError, ["10", "'MRR@10'"]),
        (VERDICTS.loc["MRR@10"], "MRR@10", ValueError, ["compare(runs, all_qa)", "whole"]),
        (TABLE, "MRR", ValueError, ["compare(runs, all_qa)", "metric"]),
        (RUNS, "MRR@10", TypeError, ["compare(runs, all_qa)", "dict"]),
        (None, "MRR@10", TypeError, ["compare(runs, all_qa)", "None"]),
    ],
)
def test_a_comparison_that_cannot_be_drawn_is_refused_in_words(table, metric, kind, facts):
    with pytest.raises(kind) as refusal:
        plot_comparison(table, metric)
    for fact in facts:
        assert fact in str(refusal.value)


# ---------------------------------------------------------------- differences

TWO = {
    "old": {"q0": found_at(3)["q0"], "q1": found_at(2)["q1"], "q2": found_at(1)["q2"]},
    "new": {"q0": found_at(1)["q0"], "q1": found_at(2)["q1"], "q2": found_at(2)["q2"]},
}
CHANGES = differences(TWO, asking(3), "RR", 3)


@pytest.mark.parametrize("table", [CHANGES, CHANGES.sort_index(), CHANGES.sort_index()[::-1]])
def test_differences_are_bars_from_the_largest_gain_to_the_largest_loss(table):
    ax = plot_differences(table, title="new against old")
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([2 / 3, 0, -1 / 2])
    assert [matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in ax.patches] == [
        BLUE,
        GREY,
        RED,
    ]
    assert texts(ax) == ["better on 1", "equal on 1", "worse on 1"]  # from left to right
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("3 queries, sorted by difference", "difference")
    assert touching([*ax.texts, ax.title]) == []


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (VERDICTS, ValueError),
        (TABLE, ValueError),
        (TWO, TypeError),
        (CHANGES.assign(more=0).rename(columns={"more": frozenset()}), ValueError),
    ],
)
def test_what_is_no_table_of_differences_is_refused_in_words(table, kind):
    with pytest.raises(kind, match=r"plot_differences draws the table of differences\("):
        plot_differences(table)


# ---------------------------------------------------------------- abstention

MIXED = [{"query_id": q, "relevant_doc_ids": ["A"] if q < "q3" else []} for q in ("q1", "q2", "q3")]


def best(sign):
    scores = {"q1": 0.1, "q2": 0.5, "q3": 0.4}
    return {
        q: [{"doc_id": "A", "score": sign * s}, {"doc_id": "B", "score": sign * (s + 1)}]
        for q, s in scores.items()
    }


@pytest.mark.parametrize(
    ("sign", "side"), [(1, "farther than this (distance)"), (-1, "below this (similarity)")]
)
def test_the_abstention_curve_is_drawn_over_the_threshold_that_refuses(sign, side):
    curve = abstention_curve(MIXED, best(sign))
    ax = plot_abstention(curve, title="When to refuse")
    known = curve.dropna().sort_values("threshold")
    for line, column in zip(ax.lines, curve.columns[1:], strict=True):
        assert list(line.get_xdata()) == list(known["threshold"])
        assert list(line.get_ydata()) == list(known[column])
    assert texts(ax) == ["unanswerable answered", "answerable refused"]
    assert ax.get_xlabel() == f"refuse if the best hit is {side}"
    assert ax.get_ylabel() == "share of queries"
    assert touching([*ax.texts, ax.title]) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_the_names_of_the_curves_are_written_inwards(sign):
    ax = plot_abstention(abstention_curve(MIXED, best(sign)))
    middle = np.mean(ax.get_xlim())
    assert [text.get_ha() for text in ax.texts] == [
        "right" if text.xy[0] > middle else "left" for text in ax.texts
    ]


def test_what_is_no_abstention_curve_is_refused_in_words():
    curve = abstention_curve(MIXED, best(1))
    for other, kind in ((TABLE, ValueError), (best(1), TypeError), (curve[:1], ValueError)):
        with pytest.raises(kind, match=r"abstention_curve\(all_qa, results\)"):
            plot_abstention(other)
    curve.attrs = {}
    with pytest.raises(ValueError, match="lower_is_better"):
        plot_abstention(curve)


# ---------------------------------------------------------------- all of them

DRAWN = {
    "lines": lambda **how: plot_lines(TABLE, **how),
    "matrix": lambda **how: plot_relevance_matrix(relevance_matrix(GRADED, RANKED, k=3), **how),
    "hits": lambda **how: plot_hits(NEAR, ["A"], **how),
    "comparison": lambda **how: plot_comparison(VERDICTS, "MRR@10", **how),
    "differences": lambda **how: plot_differences(CHANGES, **how),
    "abstention": lambda **how: plot_abstention(abstention_curve(MIXED, best(1)), **how),
}
every_plot = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)


@every_plot
def test_every_plot_draws_on_the_axes_it_is_given(draw):
    _, ax = plt.subplots()
    assert draw(ax=ax) is ax
    assert len(plt.get_fignums()) == 1


@every_plot
def test_every_plot_takes_a_title_and_has_none_otherwise(draw):
    assert draw(title="what is to be seen").get_title() == "what is to be seen"
    assert draw().get_title() == ""


@every_plot
def test_every_text_can_be_read_from_the_back_row(draw):
    ax = draw(title="what is to be seen")
    ax.figure.draw_without_rendering()
    for panel in [ax, *ax.child_axes]:
        written = [*panel.texts, panel.xaxis.label, panel.yaxis.label, panel.title]
        written += [*panel.get_xticklabels(), *panel.get_yticklabels()]
        for text in filter(lambda text: text.get_text() and text.get_visible(), written):
            assert text.get_fontsize() >= 14, text
            assert text.get_color() == "white" or contrast(text.get_color()) >= 4.5, text


@every_plot
@pytest.mark.parametrize("ax", ["axes", 3, np.array([1, 2])])
def test_axes_of_another_kind_are_refused_in_words(draw, ax):
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes"):
        draw(ax=ax)


def test_the_colours_are_those_of_okabe_and_ito():
    assert len(set(drawing.COLOURS)) == 7
    assert drawing.COLOURS[:3] == (BLUE, RED, drawing.GREEN)


# ---------------------------------------------------------------- the language and its font


def shown_by(ax):
    """Return all that is written on a figure, its numbers left out."""
    found = {text.get_text() for text in ax.figure.findobj(matplotlib.text.Text)}
    return {text for text in found if any(letter.isalpha() for letter in text)}


@every_plot
def test_what_the_kit_writes_is_korean_after_set_language(draw, korean_font):
    english = shown_by(draw())
    set_language("ko")
    korean = shown_by(draw())
    assert any("가" <= letter <= "힣" for text in korean for letter in text)
    assert len(korean) == len(english)


@every_plot
def test_without_a_korean_font_the_kit_writes_english(draw, no_korean_font):
    english = shown_by(draw())
    set_language("ko")
    ax = draw()
    ax.figure.canvas.draw()  # a letter without a font would be a warning
    assert shown_by(ax) == english


@every_plot
@pytest.mark.parametrize("language", ["en", "ko"])
def test_all_that_is_written_stands_in_the_frame(draw, language, korean_font):
    set_language(language)
    ax = draw(title="what is to be seen")
    for panel in [ax, *ax.child_axes]:
        written = [*panel.texts, panel.xaxis.label, panel.yaxis.label, panel.title]
        written = [text for text in written if text.get_text()]
        if not written:
            continue
        for text, box in zip(written, boxes(written), strict=True):
            assert ax.figure.bbox.padded(1).contains(*box.min), text
            assert ax.figure.bbox.padded(1).contains(*box.max), text
        assert touching(written) == []


def test_the_verdict_of_a_korean_table_is_told_by_its_meaning(korean_font):
    set_language("ko")
    table = VERDICTS.assign(
        verdict=VERDICTS["verdict"].map({"better": "더 낫다", "worse": "더 못하다"})
    )
    _, change = plot_comparison(table, "MRR@10").child_axes
    assert [line.get_color() for line in change.lines[0:6:2]] == [BLUE, RED, BLACK]
    verdicts = [label.split("\n")[0] for label in labels(change.yaxis)]
    assert verdicts == ["기준", "더 낫다", "더 못하다", "판단 불가"]


def test_a_korean_font_is_the_second_choice_behind_the_default(korean_font):
    assert fonts.font_families() == ["DejaVu Sans", "NanumGothic"]
    assert fonts.korean_font() == "NanumGothic"


def test_without_a_korean_font_there_is_none(no_korean_font):
    assert fonts.font_families() == ["DejaVu Sans"]
    assert fonts.korean_font() is None


def test_a_font_installed_after_matplotlib_made_its_list_is_found(korean_font, monkeypatch):
    (listed,) = [f for f in font_manager.fontManager.ttflist if "font.ttf" in f.fname]
    monkeypatch.setattr(fonts, "_KOREAN_FONTS", {"NanumGothic": "font.ttf"})
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [listed.fname])
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [])
    fonts._list_fonts_installed_since.cache_clear()
    assert fonts.korean_font() == "NanumGothic"


def test_the_folders_of_fonts_are_looked_through_once(no_korean_font, monkeypatch):
    looked = []
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: looked.append(1) or [])
    fonts._list_fonts_installed_since.cache_clear()
    plot_lines(TABLE, title="제목")
    assert looked == [1]
