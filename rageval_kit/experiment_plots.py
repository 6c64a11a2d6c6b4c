"""What an experiment shows: differences, quality against time or money, and by kind of query."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from rageval_kit.data_plots import plot_intervals, plot_marks
from rageval_kit.drawing import (
    BLACK,
    GREEN,
    WIDTH,
    Ax,
    finish,
    new_axes,
    spread,
    write,
)
from rageval_kit.experiment_table import Experiment, as_experiment
from rageval_kit.fonts import drawable, drawable_names, label
from rageval_kit.messages import shown
from rageval_kit.metrics import per_query
from rageval_kit.wording import say, to_say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The column that a price stands in, what it is called, and what gives it.
_PRICES = {
    "time": (
        "ms_median",
        to_say("median milliseconds a query"),
        "timed=20, and systems that are stores",
    ),
    "money": ("money", to_say("money"), "cost="),
}


def plot_experiment(
    result: Experiment,
    kind: Literal["difference", "time", "money", "kind"] = "difference",
    ax: Ax = None,
    title: str | None = None,
) -> "Axes":
    """Draw an experiment.

    * ``"difference"``: the difference of each system to the baseline with its interval, the largest
      first, and the verdict, which Holm's p decides and not the interval;
    * ``"time"`` and ``"money"``: the mean against the price; the efficient ones, than which no
      other is as cheap and better, are joined;
    * ``"kind"``: the mean of the best system and of the baseline (or of the second best) by the
      ``kind`` of the queries, with how many there are.

    Args:
        result: of `experiment` or `load_experiment`.
        kind: which of these.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: it is no experiment's result.
        ValueError: there is no such drawing, or nothing is known that it draws.
    """
    result = as_experiment(result)
    draw = {"difference": _differences, "time": _prices, "money": _prices, "kind": _kinds}
    if not isinstance(kind, str) or kind not in draw:
        choices = ", ".join(map(repr, draw))
        raise ValueError(f"kind={shown(kind)} is not known. Choose one of: {choices}.")
    return draw[kind](result, kind, ax, title)


def _differences(result: Experiment, kind: str, ax: Ax, title: str | None) -> "Axes":
    table = result.table.dropna(subset="difference").sort_values("difference", ascending=False)
    if table.empty:
        raise ValueError("There is no difference to draw: only the baseline ran. Add a system.")

    metric, base = result.record["metrics"][0], result.record["baseline"]
    words = say("{metric}: difference to {baseline}, 95 % interval", metric=metric, baseline=base)
    return plot_intervals(table, words, ax, title)


def _prices(result: Experiment, kind: str, ax: Ax, title: str | None) -> "Axes":
    column, words, source = _PRICES[kind]
    table = result.table.dropna(subset=[column, "mean"]).sort_values(
        [column, "mean"], ascending=[True, False]
    )
    if table.empty:
        raise ValueError(f"No {kind} is known of any system. experiment(..., {source}) gives it.")
    ax = new_axes(ax, (12, max(5, 1.5 + 0.35 * len(table))))

    # Efficient is what is better than everything that is as cheap.
    is_efficient = table["mean"] > table["mean"].cummax().shift(fill_value=-1.0)
    joined = table[is_efficient]
    ax.plot(joined[column], joined["mean"], color=GREEN, linewidth=WIDTH, zorder=1)
    looks = [(GREEN, "o") if efficient else (BLACK, "s") for efficient in is_efficient]
    for price, mean, (colour, marker) in zip(table[column], table["mean"], looks, strict=True):
        ax.plot(price, mean, marker, color=colour, markersize=12)

    ax.set(xlabel=label(words), ylabel=drawable(result.record["metrics"][0], "mean"))
    ax.margins(x=0.08, y=0.12)
    finish(ax, title)
    colours = [colour for colour, _ in looks]
    _label_points(ax, table[column].to_numpy(), table["mean"].to_numpy(), table.index, colours)
    return ax


def _label_points(
    ax: "Axes", across: np.ndarray, up: np.ndarray, names: pd.Index, colours: list[str]
) -> None:
    """Write the names in a column on the right, each with a leader to its point."""
    # Where the points are, in points of the page; the layout must be known for it.
    ax.figure.canvas.figure.draw_without_rendering()
    box, scale = ax.get_window_extent(), 72 / ax.figure.dpi
    heights = ax.transData.transform(np.column_stack([across, up]))[:, 1] * scale
    places = (spread(heights) / scale - box.y0) / box.height

    labels = zip(across, up, places, drawable_names(names, "system"), colours, strict=True)
    for x, y, place, name, colour in labels:
        leader = {"arrowstyle": "-", "color": colour, "relpos": (0, 0.5), "alpha": 0.4}
        style = {"textcoords": "axes fraction", "va": "center", "arrowprops": leader}
        write(ax, name, (x, y), (1.03, place), colour, **style)


def _kinds(result: Experiment, kind: str, ax: Ax, title: str | None) -> "Axes":
    best, other = result.best, result.record["baseline"]
    if other == best or other not in result.runs:
        ranked = result.table["mean"].dropna().sort_values(ascending=False, kind="stable")
        other = next((name for name in ranked.index if name != best), best)
    means = _means_by_kind(result, [best, other])

    # Two marks a kind, joined, with how many queries there are of it.
    names = [f"{kind} ({n:,.0f})" for kind, n in means["n"].items()]
    marks = means[[best, other]].set_axis(names)
    ax = plot_marks(marks, ax=ax, title=title)
    metric = result.record["metrics"][0]
    ax.set_xlabel(label("{metric}, mean over the queries of a kind", metric=metric))
    return finish(ax, None)


def _means_by_kind(result: Experiment, names: list[str]) -> pd.DataFrame:
    """Return the means of some systems by kind of query, and ``n``, how many have a value."""
    kinds = pd.Series({qa["query_id"]: qa.get("kind") for qa in result.all_qa}, dtype=object)
    if kinds.dropna().empty:
        raise ValueError('No query of all_qa has a kind. Add one: {"kind": "several documents"}.')
    values: dict[str, Any] = {}
    record = result.record
    for name in names:
        run, metrics = result.runs[name], record["metrics"][:1]
        table = per_query(result.all_qa, run, record["k"], metrics, **record["policies"])
        values[name] = table.iloc[:, 0]
    by_kind = pd.DataFrame(values).dropna().groupby(kinds)
    return by_kind.mean().assign(n=by_kind.size())
