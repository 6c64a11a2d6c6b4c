"""What the kit's own tables show, drawn with matplotlib to be read from the back row.

Each function draws on the axes it is given, or on a new figure, and returns the axes; ``title=``
says what is to be seen. In a notebook the cell ends with ``plt.show()``. A text that no installed
font can draw is replaced by an id: ``python -m rageval_kit check`` says how to get a Korean font.
"""

from collections.abc import Collection, Sequence
from itertools import cycle
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rageval_kit.drawing import (  # noqa: F401 - the palette of a notebook
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    MARKERS,
    ORANGE,
    PINK,
    RED,
    SKY,
    WIDTH,
    Ax,
    draw_differences,
    draw_interval,
    finish,
    label_ends,
    new_axes,
    not_drawn,
    want_few,
    write,
)
from rageval_kit.fonts import drawable, drawable_names, label
from rageval_kit.judgements import is_relevant, numbers, relevant_grades
from rageval_kit.messages import count, name_some
from rageval_kit.rankings import Hit, as_rankings
from rageval_kit.relevance import Relevance
from rageval_kit.wording import to_say

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_lines(
    table: pd.DataFrame,
    ylabel: str | None = None,
    ax: Ax = None,
    title: str | None = None,
    log: bool = False,
) -> "Axes":
    """Draw a line a column over the table's index, each labelled at its end.

    ``plot_lines(evaluate(all_qa, results, ks=range(1, 11)))`` draws every metric as k grows. Lines
    that coincide stand side by side, so that each is seen: all but the first are moved up or down
    by the width of a line, and 0.5 may be drawn at 0.49. Read equal values in the table.

    Args:
        table: `evaluate`'s as it is (a row a metric, a column a k), or any other with numbers in
            its cells and its index (a column a line).
        ylabel, title: what to write at the axis (None is *mean over queries*) and above.
        ax: where to draw; None means a new figure.
        log: give each doubling of the index the same width, as for sizes 128, 256, 512.

    Raises:
        TypeError: table is not a DataFrame.
        ValueError: its index or a cell is not a number, there is nothing to draw, or more than 100
            lines, or log is asked for where the index is not above 0.
    """
    from matplotlib.ticker import FixedLocator, NullLocator
    from matplotlib.transforms import ScaledTranslation

    table = _as_lines(table)
    want_few("plot_lines", table.columns, "lines")
    if log and table.index[0] <= 0:
        found = f"the least here is {table.index[0]:g}"
        raise ValueError(f"log=True needs an index above 0; {found}. Leave log out.")
    ax = new_axes(ax, (9, 5))

    # The axes reach from 0, or the lowest value, to a little above the highest.
    low, high = min(0.0, float(table.min().min())), max(float(table.max().max()), 1e-9)
    ends = [low - 0.04 * (high - low), high + 0.08 * (high - low)]
    if any(other.lines for other in ax.get_shared_y_axes().get_siblings(ax)):
        ends += ax.get_ylim()  # panels that share an axis show what is in each of them
    ax.set_ylim(min(ends), max(ends))
    if log:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_locator(FixedLocator(list(table.index), nbins=16))

    # Lines that coincide are moved by their own width, so that all can be seen.
    lines = []
    names, lanes = drawable_names(table, "line"), _lanes(table.to_numpy())
    looks = zip(table, names, lanes, cycle(COLOURS), cycle(MARKERS), strict=False)
    for column, name, lane, colour, marker in looks:
        values = table[column].dropna()
        beside = ScaledTranslation(0, lane * WIDTH / 72, ax.figure.dpi_scale_trans)
        (line,) = ax.plot(values.index, values, color=colour, marker=marker, linewidth=WIDTH)
        line.set(markersize=10, transform=ax.transData + beside, label=name)
        lines.append(line)

    ylabel = label("mean over queries") if ylabel is None else drawable(ylabel, "y")
    ax.set(xlabel=drawable(table.index.name or "", "x"), ylabel=ylabel)
    finish(ax, title)
    label_ends(ax, lines)
    return ax


def _as_lines(table: Any) -> pd.DataFrame:
    """Return a table with a column a line: `evaluate`'s is turned."""
    if not isinstance(table, pd.DataFrame):
        wanted = "a table, such as evaluate(all_qa, results, ks=range(1, 11)) or series.to_frame()"
        raise not_drawn("plot_lines", wanted, table)

    # The numbers to draw over stand in the index, or, as in evaluate's table, in the columns.
    turned = table if _are_numbers(table.index) else table.T
    if not _are_numbers(turned.index) or not turned.columns.is_unique:
        raise ValueError(
            "plot_lines draws over numbers, such as cutoffs, in the index or in the columns, each "
            f"line with a name of its own; found the index {name_some(list(table.index))} and the "
            f"columns {name_some(list(table))}. Leave out what is no number, such as R."
        )
    try:
        values = turned.astype(float).dropna(axis=1, how="all")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"plot_lines draws numbers; in this table: {error}.") from None
    if values.empty or np.isinf(values.to_numpy()).any():
        raise ValueError("plot_lines draws numbers; this table has none, or infinite ones.")
    values.index = pd.Index(pd.to_numeric(pd.Series(values.index)), name=values.index.name)
    return values.sort_index()


def _are_numbers(labels: pd.Index) -> bool:
    return labels.nlevels == 1 and all(pd.to_numeric(pd.Series(labels), errors="coerce").notna())


def _lanes(values: np.ndarray) -> list[int]:
    """Return by how many widths each line is moved: 0, or where it coincides with others 1, -1, ...

    Args:
        values: a row an index, a column a line.

    >>> _lanes(np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.2]]))
    [0, -1, 0]
    """
    near = 0.01 * max(np.nanmax(values) - min(np.nanmin(values), 0), 1e-9)
    lanes: list[int] = []
    for column in values.T:
        # Two lines coincide where they are as good as equal at two neighbouring points.
        alike = np.abs(values[:, : len(lanes)] - column[:, None]) < near
        both = (alike[1:] & alike[:-1]).any(axis=0) | alike.all(axis=0)
        taken = {lane for lane, coincide in zip(lanes, both, strict=True) if coincide}
        lanes.append(next(lane for lane in _LANES if lane not in taken))
    return lanes


_LANES = (0, -1, 1, -2, 2, *range(3, 1000))


def plot_relevance_matrix(matrix: Relevance, ax: Ax = None, title: str | None = None) -> "Axes":
    """Draw the relevance matrix: a row a query, a column a rank, the gain in the cell, 0 left grey.

    Args:
        matrix: of `relevance_matrix`.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: matrix is something else, such as its ``to_frame()``.
        ValueError: it has more than 100 queries or ranks.
    """
    if not isinstance(matrix, Relevance):
        wanted = "relevance_matrix(all_qa, results, k=5) itself, without .to_frame()"
        raise not_drawn("plot_relevance_matrix", wanted, matrix)
    from matplotlib.patches import Rectangle

    want_few("plot_relevance_matrix", matrix.query_ids, "queries")
    want_few("plot_relevance_matrix", matrix.ranks, "ranks")
    n, k = matrix.gains.shape
    ax = new_axes(ax, (1.6 + 0.8 * k, 1.4 + 0.42 * n))

    # A square a rank, blue with the gain in it where the document is relevant.
    for (row, rank), gain in np.ndenumerate(matrix.gains):
        corner, colour = (rank + 0.53, row - 0.47), SKY if gain > 0 else GREY
        ax.add_patch(Rectangle(corner, 0.94, 0.94, color=colour))
        if gain > 0:
            text = ax.text(rank + 1, row, f"{gain:.3g}", fontweight="bold")
            text.set(ha="center", va="center", fontsize=14)

    # A row a query, from top to bottom; ranks far behind the last hit may be left out.
    ax.set(xlim=(0.5, k + 0.5), ylim=(n - 0.5, -0.5), xlabel=label("rank"))
    ax.set_xticks(range(1, k + 1), matrix.ranks.astype(str))
    ax.set_yticks(range(n), drawable_names(matrix.query_ids, "query"))
    finish(ax, title)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def plot_hits(
    hits: Sequence[Hit],
    relevant_doc_ids: Collection[str],
    xlabel: str | None = None,
    ax: Ax = None,
    title: str | None = None,
) -> "Axes":
    """Draw the scores of one query's hits as dots, best on top, the relevant ones in blue.

    Args:
        hits: of one query, with scores: ``results["q01"]``.
        relevant_doc_ids: of that query: a list, or doc_id -> grade.
        xlabel: what the scores are (None is *score*); an arrow says on which side the better are.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: one of them has another form.
        ValueError: there is no hit, or more than 100, or one has no score.
    """
    hits = _scored_hits(hits)
    want_few("plot_hits", hits, "hits")
    grades = relevant_grades({"query_id": "plot_hits", "relevant_doc_ids": relevant_doc_ids})
    ax = new_axes(ax, (9, 1.4 + 0.5 * len(hits)))

    # A dot a hit, with its score beside it. Titles, or doc_ids where no font has the letters.
    names = []
    for rank, hit in enumerate(hits, start=1):
        found = is_relevant(grades.get(hit["doc_id"], 0.0))
        fill, edge = (BLUE, BLUE) if found else (GREY, "#808080")
        ax.plot(hit["score"], rank, "o", markersize=14, color=fill, markeredgecolor=edge)
        words = f"{hit['score']:.3f}" + (f"  {label('relevant')}" if found else "")
        write(ax, words, (hit["score"], rank), (14, 0), va="center")
        doc_id = drawable(hit["doc_id"], f"hit {rank}")
        names.append(f"{rank}. {drawable(hit.get('title') or hit['doc_id'], doc_id)}")

    # An arrow says on which side the better ones are.
    xlabel = label("score") if xlabel is None else drawable(xlabel, label("score"))
    first, last = hits[0]["score"], hits[-1]["score"]
    if first != last:
        better = label("← better") if first < last else label("better →")
        xlabel = f"{better}    {xlabel}" if first < last else f"{xlabel}    {better}"
    ax.set_yticks(range(1, len(hits) + 1), names)
    ax.grid(axis="y", color=GREY)
    ax.margins(x=0.08)
    ax.set(ylim=(len(hits) + 0.6, 0.4), axisbelow=True, xlabel=xlabel)
    return finish(ax, title)


def _scored_hits(hits: Any) -> Sequence[Hit]:
    wanted = 'the hits of one query, such as results["q01"]'
    if not isinstance(hits, (list, tuple)):
        raise not_drawn("plot_hits", wanted, hits)
    checked = as_rankings({"hits": list(hits)})["hits"]
    scores = [nan if hit.get("score") is None else hit["score"] for hit in checked]
    without = [h["doc_id"] for h, s in zip(checked, scores, strict=True) if not isfinite(s)]
    if without or not checked:
        found = f"{count(len(checked), 'hit')}, without a score: {name_some(without) or 'none'}"
        raise ValueError(f"plot_hits draws {wanted}, with a score each; found {found}.")
    return checked


def plot_comparison(
    table: pd.DataFrame, metric: str, ax: Ax = None, title: str | None = None
) -> "Axes":
    """Draw the mean of every run and, beside it, its difference to the baseline, with the verdict.

    The verdict is about the difference, on the right: intervals of the means may overlap where one
    run is better. Where several comparisons were made, Holm's p decides, and the interval of one
    may leave out 0 though nothing can be told.

    Args:
        table: of `compare`.
        metric: as it stands in the table: ``"nDCG@10"``.
        ax, title: see `plot_lines`; the two panels are ``ax.child_axes``.

    Raises:
        TypeError, ValueError: table is not `compare`'s, or has no such metric, or more than 100
            runs.
    """
    of_means = ["low", "mean", "high"]
    of_change = ["difference_low", "difference", "difference_high"]
    columns = (*of_means, *of_change, "p_holm", "verdict")
    _refuse_other_table("plot_comparison", "compare(runs, all_qa)", table, columns)
    runs = _runs_of(table, metric)
    want_few("plot_comparison", runs, "runs")
    ax = new_axes(ax, (12, 1.7 + 0.8 * len(runs)))
    ax.set_axis_off()
    means, change = ax.inset_axes((0, 0, 0.45, 1)), ax.inset_axes((0.5, 0, 0.45, 1))

    # Left the means; right what the verdict is about: difference, 0 and the corrected p.
    for row, (_, run) in enumerate(runs.iterrows()):
        draw_interval(means, row, run[of_means], BLACK, "{:.3f}")
    verdicts = draw_differences(change, runs)

    # The names of the runs on the left, the verdicts on the right.
    means.set_yticks(range(len(runs)), drawable_names(runs.index, "run"))
    change.set_yticks(range(len(runs)), verdicts)
    change.yaxis.tick_right()
    change.tick_params(axis="y", length=0)
    change.spines.left.set_visible(False)
    for panel, what in ((means, drawable(metric, "mean")), (change, label("difference"))):
        words = f"{what}, {label('95 % interval')}"
        panel.set(xlabel=words, ylim=(len(runs) - 0.5, -0.7))
        panel.margins(x=0.1)
        panel.locator_params(axis="x", nbins=5)
        finish(panel, None)
    return finish(ax, title)


def _runs_of(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the table's rows of one metric, by run."""
    metrics = list(dict.fromkeys(table.index.get_level_values(0)))
    if metric not in metrics:
        meant = [name for name in metrics if name.partition("@")[0] == metric] or metrics
        cure = f"Write {' or '.join(map(repr, meant))}"
        raise ValueError(f"The table has no metric {metric!r}. {cure}, as it stands in its index.")
    return table.loc[[metric]].droplevel(0)


def plot_differences(table: pd.DataFrame, ax: Ax = None, title: str | None = None) -> "Axes":
    """Draw the difference of every query, largest first, and count better, equal and worse.

    Args:
        table: of `differences`.
        ax, title: see `plot_lines`.

    Raises:
        TypeError, ValueError: table is not `differences`'.
    """
    _refuse_other_table("plot_differences", "differences(runs, all_qa)", table, ("difference",))
    ax = new_axes(ax, (9, 4.5))
    change = table["difference"].dropna().sort_values(ascending=False).to_numpy()
    colours = np.where(change > 0, BLUE, np.where(change < 0, RED, GREY))
    ax.bar(range(len(change)), change, color=colours, width=1.0)
    ax.axhline(0, color=BLACK, linewidth=1)

    wins, losses = int((change > 0).sum()), int((change < 0).sum())
    for place, side, words, colour in (
        (0.0, "left", label("better on {n}", n=wins), BLUE),
        (0.5, "center", label("equal on {n}", n=len(change) - wins - losses), BLACK),
        (1.0, "right", label("worse on {n}", n=losses), RED),
    ):
        write(ax, words, (place, 1), (0, 8), colour, ha=side, xycoords="axes fraction")

    words = label("{n} queries, sorted by difference", n=len(change))
    ax.set(xticks=[], xlabel=words, ylabel=label("difference"))
    return finish(ax, title, pad=36)


def plot_abstention(curve: pd.DataFrame, ax: Ax = None, title: str | None = None) -> "Axes":
    """Draw what is lost at each threshold: answered in vain, refused in vain.

    Args:
        curve: of `abstention_curve`.
        ax, title: see `plot_lines`.

    Raises:
        TypeError, ValueError: curve is not `abstention_curve`'s.
    """
    shares = ("unanswerable_answered", "answerable_refused")
    maker = "abstention_curve(all_qa, results)"
    _refuse_other_table("plot_abstention", maker, curve, ("threshold", *shares))
    if "lower_is_better" not in curve.attrs:
        lost = '.attrs["lower_is_better"], which says on which side to refuse'
        raise ValueError(f"The table has lost {lost}. Draw {maker} itself.")
    ax = new_axes(ax, (9, 5))
    lower = curve.attrs["lower_is_better"]
    known = curve.dropna().sort_values("threshold")

    # Each name stands where its line is highest: at one end, written inwards.
    words = (label("unanswerable answered"), label("answerable refused"))
    looks = zip(shares, words, (RED, BLUE), ("-", "--"), (lower, not lower), strict=True)
    for column, name, colour, dashes, right in looks:
        ax.plot(known["threshold"], known[column], dashes, color=colour, linewidth=WIDTH)
        x, y = known[["threshold", column]].iloc[-1 if right else 0]
        write(ax, name, (x, y), (0, 8), colour, ha="right" if right else "left")

    farther = to_say("refuse if the best hit is farther than this (distance)")
    below = to_say("refuse if the best hit is below this (similarity)")
    xlabel = label(farther if lower else below)
    ax.set(ylim=(-0.03, 1.15), xlabel=xlabel, ylabel=label("share of queries"))
    return finish(ax, title)


def _refuse_other_table(plot: str, maker: str, table: Any, columns: Sequence[str]) -> None:
    """Refuse what is not the table that the plot draws."""
    if not isinstance(table, pd.DataFrame):
        raise not_drawn(plot, f"the table of {maker}", table)
    names = [column for column in table.columns if isinstance(column, str)]
    missing = len(names) < table.shape[1] or any(names.count(column) != 1 for column in columns)
    empty = not missing and table[list(columns)].isna().all().any()
    if missing or empty or (table.index.nlevels == 2) != (plot == "plot_comparison"):
        found = name_some([name for name in (*table.index.names, *table) if name is not None])
        raise ValueError(f"{plot} draws the table of {maker}, whole; found one with {found}.")
    for column in columns:
        if column != "verdict":
            numbers(table.dropna(subset=[column]), column, plot)
