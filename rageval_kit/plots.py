"""Every figure of the notebooks, drawn with matplotlib to be read from the back row.

Each function draws on the axes it is given, or on a new figure, and returns the axes. In a notebook
the cell ends with ``plt.show()``.
"""

from collections.abc import Collection, Sequence
from itertools import cycle, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rageval_kit.rankings import Hit
from rageval_kit.relevance import Relevance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

# Okabe and Ito's palette, told apart with any kind of colour vision.
BLUE, ORANGE, GREEN, PINK, SKY, RED, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#000000",
)
GREY = "#D9D9D9"
_COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK)
_KOREAN_FONTS = (
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "NanumGothic",
    "Malgun Gothic",
    "AppleGothic",
    "Apple SD Gothic Neo",
)


def plot_lines(
    table: pd.DataFrame, ylabel: str = "mean over queries", ax: "Axes | None" = None
) -> "Axes":
    """Draw a line a column over the table's index, each labelled at its end.

    ``plot_lines(evaluate(all_qa, results, ks=range(1, 11)).T)`` draws every metric as k grows.
    """
    ax = ax or _new_axes((9, 5))
    ends = table.iloc[-1]
    height = max(float(table.max().max()), 1e-9)
    places = _spread(ends.to_numpy(dtype=float), gap=0.065 * height)
    # Each line is thinner than the one before, so that lines which coincide can all be seen.
    widths = np.linspace(7, 2.5, table.shape[1])
    for (name, values), place, colour, width in zip(
        table.items(), places, cycle(_COLOURS), widths, strict=False
    ):
        ax.plot(
            table.index, values, color=colour, linewidth=width, marker="o", markersize=width + 4
        )
        ax.annotate(
            str(name),
            (table.index[-1], place),
            xytext=(12, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=15,
        )
    ax.set_xticks(list(table.index))
    ax.set_ylim(0, 1.08 * height)
    ax.set_xlabel(str(table.index.name or ""))
    ax.set_ylabel(ylabel)
    _tidy(ax)
    return ax


def plot_relevance_matrix(matrix: Relevance, ax: "Axes | None" = None) -> "Axes":
    """Draw the relevance matrix: a row a query, a column a rank, the gain in the cell, 0 left grey."""
    n, k = matrix.gains.shape
    ax = ax or _new_axes((1.6 + 0.8 * k, 1.4 + 0.42 * n))
    for row, rank in np.argwhere(np.ones((n, k), dtype=bool)):
        gain = matrix.gains[row, rank]
        ax.add_patch(_square(rank, row, BLUE if gain > 0 else GREY))
        if gain > 0:
            ax.text(
                rank + 1,
                row,
                f"{gain:g}",
                ha="center",
                va="center",
                color="white",
                fontsize=14,
                fontweight="bold",
            )
    ax.set_xlim(0.5, k + 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_xticks(matrix.ranks)
    ax.set_yticks(range(n), [str(query_id) for query_id in matrix.query_ids])
    ax.set_xlabel("rank")
    _tidy(ax)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def plot_hits(
    hits: Sequence[Hit],
    relevant_doc_ids: Collection[str],
    xlabel: str = "score",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the hits of one query as bars, best on top, the relevant ones in blue."""
    ax = ax or _new_axes((9, 1.2 + 0.55 * len(hits)))
    for rank, hit in enumerate(hits, start=1):
        relevant = hit["doc_id"] in relevant_doc_ids
        ax.barh(rank, hit["score"], color=BLUE if relevant else GREY, edgecolor="#808080")
        ax.text(
            hit["score"],
            rank,
            f" {hit['score']:.2f}" + ("  relevant" if relevant else ""),
            va="center",
            fontsize=13,
        )
    ax.set_yticks(
        range(1, len(hits) + 1),
        [f"{rank}. {_label(hit)}" for rank, hit in enumerate(hits, start=1)],
    )
    ax.invert_yaxis()
    ax.set_xlabel(xlabel)
    ax.margins(x=0.15)
    _tidy(ax)
    return ax


def plot_comparison(table: pd.DataFrame, metric: str, ax: "Axes | None" = None) -> "Axes":
    """Draw the mean of every run with its 95 % interval, and the verdict beside it, from `compare`'s table."""
    runs = table.loc[metric]
    ax = ax or _new_axes((9, 1.5 + 0.7 * len(runs)))
    for row, (_, run) in enumerate(runs.iterrows()):
        verdict = run["verdict"].partition(";")[0].partition(":")[0]
        colour = {"better": BLUE, "worse": RED}.get(verdict, BLACK)
        ax.plot(
            [run["low"], run["high"]], [row, row], color=colour, linewidth=4, solid_capstyle="round"
        )
        ax.plot(run["mean"], row, "o", color=colour, markersize=12)
        ax.text(
            run["mean"],
            row - 0.22,
            f"{run['mean']:.3f}  {verdict}",
            ha="center",
            color=colour,
            fontsize=14,
        )
    ax.set_yticks(range(len(runs)), [str(name) for name in runs.index])
    ax.set_ylim(len(runs) - 0.5, -0.7)
    ax.set_xlabel(f"{metric}, mean with 95 % interval")
    _tidy(ax)
    return ax


def plot_differences(table: pd.DataFrame, ax: "Axes | None" = None) -> "Axes":
    """Draw the difference of every query, largest first, from the table of `differences`."""
    ax = ax or _new_axes((9, 4.5))
    change = table["difference"].dropna().to_numpy()
    colours = np.where(change > 0, BLUE, np.where(change < 0, RED, GREY))
    ax.bar(range(len(change)), change, color=colours, width=1.0)
    ax.axhline(0, color=BLACK, linewidth=1)
    wins, losses = int((change > 0).sum()), int((change < 0).sum())
    equal = len(change) - wins - losses
    for place, side, words, colour in (
        (0.0, "left", f"better on {wins}", BLUE),
        (0.5, "center", f"equal on {equal}", BLACK),
        (1.0, "right", f"worse on {losses}", RED),
    ):
        ax.text(place, 1.03, words, ha=side, color=colour, fontsize=16, transform=ax.transAxes)
    ax.set_xticks([])
    ax.set_xlabel(f"{len(change)} queries, sorted by difference")
    ax.set_ylabel("difference")
    _tidy(ax)
    return ax


def plot_abstention(curve: pd.DataFrame, ax: "Axes | None" = None) -> "Axes":
    """Draw what is lost at each threshold of `abstention_curve`: answered in vain, refused in vain."""
    ax = ax or _new_axes((9, 5))
    known = curve.dropna()
    unit = (
        "worst best score still answered, "
        + ("lower" if curve.attrs["lower_is_better"] else "higher")
        + " is better"
    )
    right = (
        -1 if curve.attrs["lower_is_better"] else 0
    )  # the end of the table that is drawn on the right
    for column, colour, place in (
        ("unanswerable_answered", RED, -1),
        ("answerable_refused", BLUE, 0),
    ):
        ax.plot(known["threshold"], known[column], color=colour, linewidth=3)
        ax.annotate(
            column.replace("_", " "),
            (known["threshold"].iloc[place], known[column].iloc[place]),
            xytext=(0, 8),
            textcoords="offset points",
            ha="right" if place == right else "left",
            color=colour,
            fontsize=15,
        )
    ax.set_ylim(0, 1.1)
    ax.set_xlabel(unit)
    ax.set_ylabel("share of queries")
    _tidy(ax)
    return ax


def _new_axes(size: tuple[float, float]) -> "Axes":
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.family": _fonts(), "font.size": 14}):
        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def _fonts() -> list[str]:
    """Return the font families: a Korean one behind the default, where one is installed."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *[font for font in _KOREAN_FONTS if font in installed][:1]]


def _label(hit: Hit) -> str:
    """Return the hit's title, or its doc_id where the title has letters that no installed font can draw."""
    title = hit["title"]
    return title if title and (title.isascii() or len(_fonts()) > 1) else hit["doc_id"]


def _square(rank: int, row: int, colour: str) -> "Rectangle":
    from matplotlib.patches import Rectangle

    return Rectangle((rank + 0.53, row - 0.47), 0.94, 0.94, color=colour)


def _tidy(ax: "Axes") -> None:
    ax.spines[["top", "right"]].set_visible(False)
    for label in (ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set_fontsize(14)
        label.set_fontfamily(_fonts())


def _spread(values: np.ndarray, gap: float) -> np.ndarray:
    """Move values down so that labels at them do not touch: at least ``gap`` between neighbours.

    >>> _spread(np.array([1.0, 0.2, 1.0]), gap=0.1)
    array([1. , 0.2, 0.9])
    """
    places = np.array(values, dtype=float)
    order = np.argsort(-places, kind="stable")
    for above, below in pairwise(order):
        places[below] = min(places[below], places[above] - gap)
    return places
