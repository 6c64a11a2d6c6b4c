"""How every plot looks: axes, colours with a second sign, and words that do not touch.

Texts have 14 to 16 points, to be read from the back row; every line has the same width. No plot
says anything by colour alone: a marker, a hatch or a word says it too.
"""

from collections.abc import Iterable, Sequence, Sized
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.fonts import drawable, font_families, label
from rageval_kit.messages import describe
from rageval_kit.wording import is_said

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Ax: TypeAlias = "Axes | None"  # where to draw; None means a new figure
Pair: TypeAlias = tuple[float, float]

# Okabe and Ito's palette, told apart with any kind of colour vision.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, RED, BLACK, GREY = "#56B4E9", "#D55E00", "#000000", "#D9D9D9"
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK)
MARKERS = "os^DvPX*"
WIDTH = 3.5  # of a line, in points
TEXT = 15  # the size of labels, in points
LEVEL = 0.05  # two-sided, as the verdicts of `compare`
_GAP = 1.4 * TEXT  # between labels that stand one above the other


def not_drawn(plot: str, wanted: str, found: Any) -> TypeError:
    """Return the error of a plot that was given something else."""
    return TypeError(f"{plot} draws {wanted}; found {describe(found)}.")


def want_few(plot: str, names: Sized, what: str, most: int = 100) -> None:
    """Refuse more rows than can be read in a plot.

    >>> want_few("plot_bars", range(300), "names")
    Traceback (most recent call last):
    ValueError: plot_bars draws at most 100 names, which can be read; found 300. Draw some of them,
    such as the first 20.
    """
    if len(names) > most:
        found = f"draws at most {most:,} {what}, which can be read; found {len(names):,}"
        raise ValueError(f"{plot} {found}. Draw some of them, such as the first 20.")


def new_axes(ax: Any, size: Pair) -> "Axes":
    """Return the axes that were given, or those of a new figure."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes | None):
        raise TypeError(f"ax must be one matplotlib Axes, such as axes[0]; found {describe(ax)}.")
    return ax or plt.subplots(figsize=size, layout="constrained")[1]


def finish(ax: "Axes", title: str | None, pad: float = 10) -> "Axes":
    """Give the axes their title, sizes and fonts, and return them."""
    if title is not None:
        ax.set_title(drawable(title, ""), pad=pad)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=14, labelfontfamily=font_families())
    for text, size in ((ax.title, 16), (ax.xaxis.label, 14), (ax.yaxis.label, 14)):
        text.set(fontfamily=font_families(), fontsize=size)
    return ax


def dark(colour: str) -> tuple[float, ...]:
    """Return the colour, dark enough to be read as text on white."""
    from matplotlib.colors import to_rgb

    return tuple(0.65 * part for part in to_rgb(colour))


def pale(colour: str) -> tuple[float, ...]:
    """Return the colour, pale enough for black text upon it."""
    from matplotlib.colors import to_rgb

    return tuple(0.5 + 0.5 * part for part in to_rgb(colour))


def write(ax: "Axes", words: str, xy: Pair, shift: Pair, colour: str = BLACK, **style: Any) -> None:
    """Write words beside a point, shifted by points, in the colour darkened enough to be read."""
    style = {"textcoords": "offset points", "color": dark(colour), **style}
    ax.annotate(words, xy, xytext=shift, fontsize=TEXT, fontfamily=font_families(), **style)


# ---------------------------------------------------------------- words that do not touch


def spread(heights: np.ndarray) -> np.ndarray:
    """Return places for labels, each as near to its height as the gap between labels allows.

    >>> spread(np.array([100.0, 0.0, 100.0])).round(1).tolist()
    [110.5, 0.0, 89.5]
    """
    from scipy.optimize import isotonic_regression

    # The least squares from top to bottom.
    order = np.argsort(-heights, kind="stable")
    steps = _GAP * np.arange(len(heights))
    places = np.empty(len(heights))
    places[order] = isotonic_regression(heights[order] + steps, increasing=False).x - steps
    return places


def label_ends(ax: "Axes", lines: Sequence[Any]) -> None:
    """Write each line's name behind its end, with a leader; names do not touch."""
    # Where the lines end, in points; the layout must be known for it.
    ax.figure.canvas.figure.draw_without_rendering()
    ends = [line.get_xydata()[-1] for line in lines]
    pixels = [line.get_transform().transform(end)[1] for line, end in zip(lines, ends, strict=True)]
    heights = np.array(pixels) * 72 / ax.figure.dpi

    places = spread(heights)
    for at in np.argsort(-heights, kind="stable"):
        shift, colour = (30, places[at] - heights[at]), lines[at].get_color()
        leader = {"arrowstyle": "-", "color": colour, "relpos": (0, 0.5), "shrinkA": 0}
        style = {"va": "center", "xycoords": lines[at].get_transform(), "arrowprops": leader}
        write(ax, lines[at].get_label(), ends[at], shift, colour, **style)


# Where words may stand beside a point: how far to each side, the nearest places first.
_SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1))


class Words(NamedTuple):
    """What is to be written, and where it may stand.

    Attributes:
        text: the words.
        points: in data; the words stand beside one of them.
        colour: of the words.
        needed: False, if they are left out where there is no room beside a point.
    """

    text: str
    points: Sequence[Pair]
    colour: str = BLACK
    needed: bool = True


def place_words(ax: "Axes", words: Iterable[Words], taken: np.ndarray) -> None:
    """Write words beside their points, inside the axes, where they touch nothing.

    Args:
        ax: as it will be: the words do not change its layout.
        words: what is to be written, the first with its place first.
        taken: where no words may stand, in data: rows of (x, y), such as points along lines.
    """
    ax.figure.canvas.figure.draw_without_rendering()
    inside, scale = np.asarray(ax.get_window_extent().extents), ax.figure.dpi / 72
    points = ax.transData.transform(taken)
    boxes = np.hstack([points - 5 * scale, points + 5 * scale])  # left, bottom, right, top
    there = [text.get_window_extent().extents for text in ax.texts]
    boxes = np.vstack([boxes, *there])

    for text, its_points, colour, needed in words:
        # The nearest place where the words stand inside and touch nothing; else the least bad.
        half = size_of(ax, text) / 2 + 3 * scale
        places = [
            (point, np.array(side) * (half + far * scale))
            for far, point, side in product(
                (7, 22, 40, 60)[: 4 if needed else 1], its_points, _SIDES
            )
        ]
        centres = [ax.transData.transform(point) + shift for point, shift in places]
        costs = [_touched(centre, half, boxes, inside) for centre in centres]
        best = int(np.argmin(costs))
        if costs[best] > 0 and not needed:
            continue

        # Words that stand farther away have a leader.
        style: dict[str, Any] = {"ha": "center", "va": "center"}
        if best >= len(its_points) * len(_SIDES):
            style["arrowprops"] = {"arrowstyle": "-", "color": colour, "shrinkB": 6}
        point, shift = places[best]
        write(ax, text, point, tuple(shift / scale), colour, **style)
        ax.texts[-1].set_in_layout(False)
        boxes = np.vstack([boxes, [*(centres[best] - half), *(centres[best] + half)]])


def along(points: Any) -> np.ndarray:
    """Return points along a line through points, as rows of (x, y).

    >>> along(np.array([[0.0, 0.0], [40.0, 80.0]]))[[0, 1, -1]].tolist()
    [[0.0, 0.0], [1.0, 2.0], [40.0, 80.0]]
    """
    share = np.linspace(0, 1, 40, endpoint=False)[:, None]
    between = [start + share * (end - start) for start, end in pairwise(points)]
    return np.vstack([*between, points])


def size_of(ax: "Axes", text: str) -> np.ndarray:
    """Return the width and height of words in pixels."""
    write(ax, text, (0.5, 0.5), (0, 0), xycoords="axes fraction")
    box = ax.texts[-1].get_window_extent()
    ax.texts[-1].remove()
    return np.array([box.width, box.height])


def _touched(at: np.ndarray, half: np.ndarray, boxes: np.ndarray, inside: np.ndarray) -> float:
    """Return how many boxes words at a place touch; outside the axes counts for a thousand."""
    low, high = at - half, at + half
    touching = (boxes[:, :2] < high).all(axis=1) & (boxes[:, 2:] > low).all(axis=1)
    outside = (low < inside[:2]).any() or (high > inside[2:]).any()
    return float(touching.sum() + 1000 * outside)


def write_key(ax: "Axes", handles: Sequence[Any], title: str | None) -> "Axes":
    """Write the names of handles above the axes, each beside its sign, the title above them."""
    finish(ax, None)  # the fonts first: what is drawn below may be Korean
    ax.figure.canvas.figure.draw_without_rendering()
    style: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderpad": 0.2}
    style |= {"frameon": False, "columnspacing": 1.2, "handlelength": 1.4}
    style["prop"] = {"family": font_families(), "size": TEXT}

    # In as few rows as fit into the width of the axes.
    for columns in range(len(handles), 0, -1):
        legend = ax.legend(handles=list(handles), ncols=columns, **style)
        legend.set_in_layout(False)  # one too wide would leave no room for the axes
        ax.figure.canvas.figure.draw_without_rendering()
        size = legend.get_window_extent()
        if size.width <= ax.get_window_extent().width:
            break
    legend.set_in_layout(True)
    return finish(ax, title, pad=size.height * 72 / ax.figure.dpi + 0.5 * TEXT + 8)


# ---------------------------------------------------------------- differences


def draw_interval(ax: "Axes", row: int, ends: Iterable[float], colour: str, form: str) -> None:
    """Draw an interval (low, middle, high), the value of its middle written above."""
    low, middle, high = ends
    ax.plot([low, high], [row, row], color=colour, linewidth=WIDTH, solid_capstyle="round")
    ax.plot(middle, row, "o", color=colour, markersize=12)
    write(ax, form.format(middle), (middle, row), (0, 10), colour, ha="center")


def draw_differences(ax: "Axes", table: pd.DataFrame) -> list[str]:
    """Draw a difference a row with its interval and 0; return what can be told of each, in words.

    Args:
        ax: where to draw.
        table: with the columns difference_low, difference and difference_high; ``verdict`` says
            whether it can be told, in any language; else ``p_holm``, else whether the interval
            leaves out 0.
    """
    words = []
    for row, its in enumerate(table.to_dict("records")):
        low, middle, high = (its[f"difference{end}"] for end in ("_low", "", "_high"))
        if np.isnan(middle):
            words.append(label("baseline"))
            continue

        p = its.get("p_holm", np.nan)
        told = low > 0 or high < 0 if np.isnan(p) else p < LEVEL
        if "verdict" in its:
            told = is_said(its["verdict"], "better") or is_said(its["verdict"], "worse")
        if not told:
            colour, verdict = BLACK, label("cannot tell")
        elif middle > 0:
            colour, verdict = BLUE, label("better")
        else:
            colour, verdict = RED, label("worse")
        draw_interval(ax, row, (low, middle, high), colour, "{:+.3f}")
        words.append(verdict + ("" if np.isnan(p) else f"\np_holm = {p:.2g}"))
    ax.axvline(0, color=BLACK, linewidth=1, zorder=0)
    return words
