"""Plots of any data: numbers that a notebook made itself, drawn as all plots of the kit are.

Each takes a table or a dict and draws what stands in it: the reader sees the data, not the drawing.
Names of rows, columns and groups are written in the plot; so is what colour means.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.drawing import (
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
    Words,
    along,
    draw_differences,
    finish,
    new_axes,
    not_drawn,
    pale,
    place_words,
    size_of,
    want_few,
    write,
    write_key,
)
from rageval_kit.fonts import drawable, drawable_names, font_families, label
from rageval_kit.messages import count, is_number, name_some, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARK = 11  # of plot_points: how wide a mark is, in points
_MOST = 1e100  # of a number that is drawn: an axis must have room above it

# Of bars: a colour and its hatch.
_Fill: TypeAlias = tuple[str, str]
_FILLS = ((BLUE, ""), (ORANGE, "//"), (RED, "xx"), (GREEN, ".."), (PINK, "--"), (SKY, "\\\\"))
_ON_HATCH = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # behind text upon a hatch


# ---------------------------------------------------------------- points


def plot_points(
    tables: pd.DataFrame | Mapping[str, pd.DataFrame],
    x: str,
    y: str,
    words: str | None = None,
    joined: bool = False,
    curve: tuple[str, Callable[[np.ndarray], Any]] | None = None,
    ax: Ax = None,
    title: str | None = None,
) -> "Axes":
    """Draw a point a row, one column against another, each table with its colour and marker.

    ``plot_points({"good": good.T, "bad": bad.T}, "Recall", "Precision", words="k", joined=True)``
    draws two tables of `evaluate` as curves.

    Args:
        tables: a table, or named ones.
        x, y, words: each the name of a column or of the index. ``words`` are written beside their
            points, the first with its name before it, the others as far as there is room; points
            that cover each other share theirs, as 4, 5 or 4–7.
        joined: join the points of a table by a line, in its order.
        curve: a name and a function of x, drawn behind the points.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: tables is neither a table nor a dict of tables.
        ValueError: there is no such column, or nothing to draw.

    >>> sizes = pd.DataFrame({"queries": [60, 240], "width": [0.25, 0.125]})
    >>> halves = ("root", lambda n: 0.125 * np.sqrt(240 / n))
    >>> [text.get_text() for text in plot_points(sizes, "queries", "width", curve=halves).texts]
    ['root']
    """
    strange = [name for name in (x, y, words) if not isinstance(name, str | None)]
    if strange or x is None or y is None:
        found = shown(strange[0]) if strange else "None"
        raise TypeError(f"plot_points: x, y and words are names of columns; found {found}.")
    named = _points_of(tables, list(dict.fromkeys([x, y, words or x])))
    ax = new_axes(ax, (9, 5))

    # The points, each table's in its own look; nothing is to be written upon them.
    taken, colours = [], []
    looks = zip(named.values(), cycle(COLOURS), cycle(MARKERS), strict=False)
    for its, colour, marker in looks:
        (line,) = ax.plot(its[x], its[y], marker, color=colour, linewidth=WIDTH, markersize=_MARK)
        line.set_linestyle("-" if joined else "none")
        taken.append(along(line.get_xydata()) if joined else line.get_xydata())
        colours.append(colour)
    behind: list[Words] = []
    if curve is not None:
        name, points = _curve_over(curve, np.concatenate([its[x] for its in named.values()]))
        ax.plot(*points.T, color="#808080", linewidth=WIDTH, zorder=0)
        taken.append(points)
        behind.append(Words(drawable(name, "curve"), list(map(tuple, points[100::20]))))

    # What must be written has its place first; how near points are is known once all is drawn.
    ax.set(xlabel=drawable(x, "x"), ylabel=drawable(y, "y"))
    ax.margins(0.14)
    finish(ax, title).figure.canvas.figure.draw_without_rendering()
    words_there: list[Words] = []
    for (name, its), colour in zip(named.items(), colours, strict=True):
        words_there += _words_at(ax, name, its, x, y, words, colour)
    words_there += behind
    place_words(ax, sorted(words_there, key=lambda its: not its.needed), np.vstack(taken))
    return ax


def _points_of(tables: Any, columns: list[str]) -> dict[str, pd.DataFrame]:
    """Return the columns of each table, of the rows that have them, or refuse."""
    named = tables if isinstance(tables, Mapping) else {"": tables}
    points = {}
    for name, table in named.items():
        if not isinstance(table, pd.DataFrame):
            raise not_drawn("plot_points", 'a table, or a dict such as {"name": table}', table)
        its = table if table.index.name in table.columns else table.reset_index()
        missing = [column for column in columns if list(its.columns).count(column) != 1]
        if missing:
            found = f"no {missing[0]!r}, or it twice; there are {name_some(list(its.columns))}"
            raise ValueError(f"plot_points draws one column against another; found {found}.")

        # What has no x or no y is left out.
        its = its[columns].dropna(subset=columns[:2])
        for column in columns[:2]:
            its[column] = _finite("plot_points", its[column], column)
        points[str(name)] = its
    if not points:
        raise ValueError("plot_points draws named tables; found none.")
    return points


def _curve_over(curve: Any, across: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the name of a curve, and points along it over what is drawn."""
    if not (isinstance(curve, tuple) and len(curve) == 2 and callable(curve[1])):
        wanted = 'curve=("d = 2 - 2 cos", lambda cos: 2 - 2 * cos), a name and a function of x'
        raise not_drawn("plot_points", wanted, curve)
    x = np.linspace(across.min(), across.max(), 200)
    try:
        y = np.broadcast_to(np.asarray(curve[1](x), dtype=float), x.shape)
    except (TypeError, ValueError) as error:
        found = f"the curve {shown(curve[0])} does not: {error}"
        raise ValueError(f"plot_points: a curve gives a number for each x; {found}.") from None
    _finite("plot_points", y, f"the curve {curve[0]}")
    return str(curve[0]), np.column_stack([x, y])


def _words_at(
    ax: "Axes", name: str, its: pd.DataFrame, x: str, y: str, words: str | None, colour: str
) -> list[Words]:
    """Return what is to be written beside a table's points: at the first also its name."""
    texts = [""] * len(its) if words is None else [_short(value) for value in its[words]]
    if words not in (None, x, y):
        texts[0] = f"{words} = {texts[0]}"
    if name:
        texts[0] = ", ".join(filter(None, [drawable(name, "points"), texts[0]]))

    # Points that cover each other share their words: 4, 5 or 4–7.
    points = its[[x, y]].to_numpy(dtype=float)
    are_numbers = words is not None and pd.api.types.is_numeric_dtype(its[words])
    piles = _piles(ax, points) if words is not None else [[at] for at in range(len(texts))]
    joined = [_joined([texts[at] for at in pile], are_numbers) for pile in piles]

    # The first says what the others are; the last has its place before those between.
    order = [at for at in (0, *range(len(piles) - 1, 0, -1)) if joined[at]]
    places = [list(map(tuple, points[pile].tolist())) for pile in piles]
    return [Words(drawable(joined[at], ""), places[at], colour, at == 0) for at in order]


def _piles(ax: "Axes", points: np.ndarray) -> list[list[int]]:
    """Return which points in a row cover each other, none farther from the first than two marks."""
    mark = _MARK * ax.figure.dpi / 72
    pixels = ax.transData.transform(points)
    piles = [[0]]
    for at in range(1, len(points)):
        to_last, to_first = np.hypot(*(pixels[[at - 1, piles[-1][0]]] - pixels[at]).T)
        if to_last < mark and to_first < 2 * mark:
            piles[-1].append(at)
        else:
            piles.append([at])
    return piles


def _joined(texts: list[str], are_numbers: bool) -> str:
    """Return the words of points that cover each other as one text.

    >>> _joined(["k = 4", "5", "6"], True), _joined(["4", "5"], True), _joined(list("abc"), False)
    ('k = 4–6', '4, 5', 'a, b, c')
    """
    if are_numbers and len(texts) > 2:
        return f"{texts[0]}–{texts[-1]}"
    return ", ".join(texts)


def _short(value: Any) -> str:
    """Return a value as it is written: of a number three decimals, without the zeros behind."""
    if not isinstance(value, float | np.floating):
        return str(value)
    return f"{round(value, 3) or value:.6g}"


def _finite(plot: str, values: Any, what: str) -> np.ndarray:
    """Return a row of finite numbers, or refuse."""
    try:
        if np.iscomplexobj(values):
            raise TypeError
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{plot} draws numbers; in {what} are {shown(values)}.") from None
    wrong = numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all()
    if wrong or np.abs(numbers).max() > _MOST:
        raise ValueError(f"{plot} draws finite numbers, at least one; {what}: {shown(values)}.")
    return numbers


# ---------------------------------------------------------------- bars


def plot_bars(
    table: pd.Series | pd.DataFrame,
    axis_label: str = "",
    kinds: pd.Series | None = None,
    ax: Ax = None,
    title: str | None = None,
) -> "Axes":
    """Draw a bar a row, its number written at it; of a table, each bar is divided into its columns.

    Args:
        table: numbers from 0, indexed by name (bars lie) or by number (bars stand); or a table with
            a column a part, such as counts of queries by outcome.
        axis_label: what the numbers are.
        kinds: of a series: a word for each row, with a colour and hatch a word.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: it is neither a series nor a table.
        ValueError: a value is no number from 0, a row has no kind, or there are more than 100
            names (1,000 bars that stand).

    >>> found = pd.DataFrame({"found": [9, 7], "missed": [3, 5]}, index=["dense", "BM25"])
    >>> plot_bars(found, "queries").get_xlabel()
    'queries'
    """
    if isinstance(table, pd.DataFrame):
        if kinds is not None:
            raise ValueError("plot_bars: kinds are of a series; the columns are those of a table.")
        return _draw_parts(table, axis_label, ax, title)
    if not isinstance(table, pd.Series):
        raise not_drawn("plot_bars", 'a series, such as table["score"], or a table', table)
    values = _from_zero(table)
    words, fills = _kinds_of(table, kinds)

    # Over numbers bars stand, beside names they lie.
    stand = pd.api.types.is_numeric_dtype(table.index)
    want_few("plot_bars", table, "bars" if stand else "names", 1000 if stand else 100)
    ax = new_axes(ax, (9, 4) if stand else (9, 1.4 + 0.45 * len(table)))
    places = _finite("plot_bars", table.index, "the index") if stand else range(len(table))
    draw = ax.bar if stand else ax.barh
    draw(places, values, 0.8, **_filled(fills))

    # The number at the end of each bar; of many that stand side by side, of some.
    every = 1 + (len(table) - 1) // 12 if stand else 1
    for place, value, word in list(zip(places, values, words, strict=True))[::every]:
        text = f"{_short(value)}  {word}".rstrip()
        if stand:
            write(ax, text, (place, value), (0, 6), ha="center")
        else:
            write(ax, text, (value, place), (8, 0), va="center")

    name, axis_label = drawable(table.index.name or "", ""), drawable(axis_label, "")
    if stand:
        ax.set(xticks=list(places)[::every], xlabel=name, ylabel=axis_label)
        ax.margins(y=0.14)
    else:
        ax.set_yticks(places, drawable_names(table.index, "row"))
        ax.set(xlabel=axis_label, ylabel=name, ylim=(len(table) - 0.5, -0.5))
    return finish(ax, title)


def _from_zero(values: pd.Series) -> np.ndarray:
    numbers = _finite("plot_bars", values, shown(values.name))
    if (numbers < 0).any():
        found = f"found {numbers.min():g} in {shown(values.name)}"
        raise ValueError(f"plot_bars draws numbers from 0; {found}. plot_marks draws any.")
    return numbers


def _kinds_of(table: pd.Series, kinds: pd.Series | None) -> tuple[list[str], list[_Fill]]:
    """Return the word and the fill of each bar: a kind has both."""
    if kinds is None:
        return [""] * len(table), [_FILLS[0]] * len(table)
    if not isinstance(kinds, pd.Series) or not kinds.index.equals(table.index):
        raise ValueError(f"plot_bars: kinds has a word for each row; found {shown(kinds)}.")
    its = list(map(str, kinds))
    names = sorted(set(its))
    words = dict(zip(names, drawable_names(names, "kind"), strict=True))
    fills = dict(zip(names, cycle(_FILLS), strict=False))
    return [words[kind] for kind in its], [fills[kind] for kind in its]


def _filled(fills: Sequence[_Fill]) -> dict[str, Any]:
    """Return how bars look: pale, so that black can be read upon them, with hatches."""
    colours = [colour for colour, _ in fills]
    hatches = [hatch for _, hatch in fills]
    return {"color": list(map(pale, colours)), "edgecolor": colours, "hatch": hatches}


def _draw_parts(table: pd.DataFrame, axis_label: str, ax: Ax, title: str | None) -> "Axes":
    """Draw a bar a row, divided into the columns of a table."""
    if table.empty or not table.columns.is_unique:
        raise ValueError("plot_bars draws a table with rows, each column with its own name.")
    want_few("plot_bars", table, "names")
    parts = np.column_stack([_from_zero(table[column]) for column in table])
    ax = new_axes(ax, (10, 1.8 + 0.7 * len(table)))

    # The parts of all bars, one column after the other.
    names, ends = drawable_names(table.columns, "part"), parts.cumsum(axis=1)
    signs = []
    for values, end, name, fill in zip(parts.T, ends.T, names, cycle(_FILLS), strict=False):
        look = _filled([fill] * len(table))
        signs.append(ax.barh(range(len(table)), values, 0.75, end - values, label=name, **look))

    ax.set_yticks(range(len(table)), drawable_names(table.index, "row"))
    ax.set(xlabel=drawable(axis_label, ""), ylim=(len(table) - 0.5, -0.5))
    write_key(ax, signs, title)
    _number_parts(ax, parts, names)
    return ax


def _number_parts(ax: "Axes", parts: np.ndarray, names: list[str]) -> None:
    """Write each number in its part, or behind the bar, with its name, where it has no room."""
    width = ax.transData.transform((1, 0))[0] - ax.transData.transform((0, 0))[0]
    for row, values in enumerate(parts):
        behind = []
        for value, end, name in zip(values, values.cumsum(), names, strict=True):
            text = _short(value)
            if value * width > size_of(ax, text)[0] + 6:
                middle = (end - value / 2, row)
                write(ax, text, middle, (0, 0), ha="center", va="center", bbox=_ON_HATCH)
            elif value > 0:
                behind.append(f"{text} {name}")
        if behind:
            write(ax, ", ".join(behind), (values.sum(), row), (8, 0), va="center")


# ---------------------------------------------------------------- how values spread


def plot_strip(
    groups: Mapping[str, Sequence[float]],
    xlabel: str = "",
    ax: Ax = None,
    title: str | None = None,
) -> "Axes":
    """Draw a dot a value, a row a group; dots that would cover each other are moved up and down.

    A dot's height within its row means nothing.

    Args:
        groups: name -> its values.
        xlabel: what the values are.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: groups is no dict.
        ValueError: a group has no values, or one that is no number; more than 100 groups.

    >>> cosines = {"copies": [0.99, 0.97], "others": [0.31, 0.32, 0.90]}
    >>> [name.get_text() for name in plot_strip(cosines, "cosine").get_yticklabels()]
    ['copies', 'others']
    """
    if not isinstance(groups, Mapping):
        raise not_drawn("plot_strip", 'a dict of values, such as {"copies": [0.99, 0.97]}', groups)
    if not groups:
        raise ValueError("plot_strip draws groups of values; found none.")
    want_few("plot_strip", groups, "groups")
    rows = [np.sort(_finite("plot_strip", its, shown(name))) for name, its in groups.items()]
    ax = new_axes(ax, (9, 1.4 + 0.9 * len(rows)))

    # How much of the axes a dot takes is known once they are laid out.
    ax.set_yticks(range(len(rows)), drawable_names(groups, "group"))
    ax.set(xlabel=drawable(xlabel, ""), ylim=(len(rows) - 0.5, -0.5))
    ax.plot([min(its[0] for its in rows), max(its[-1] for its in rows)], [0, 0], linestyle="none")
    ax.margins(x=0.05)
    finish(ax, title)
    wide, high = _size_of_mark(ax)

    # Dots that would cover each other have lanes of their own, within the height of a row.
    looks = zip(rows, cycle(COLOURS), cycle(MARKERS), strict=False)
    for row, (its, colour, marker) in enumerate(looks):
        lanes = _lanes_of_dots(its, wide)
        step = min(high, 0.8 / max(np.ptp(lanes), 1))
        ax.plot(its, row + step * lanes, marker, color=colour, markersize=10, alpha=0.7)
    return ax


def _size_of_mark(ax: "Axes") -> tuple[float, float]:
    """Return how wide and how high a mark is, in data, once the axes are laid out."""
    ax.figure.canvas.figure.draw_without_rendering()
    ends = np.array([ax.get_xlim(), ax.get_ylim()])
    mark = 12 * ax.figure.dpi / 72 / np.array(ax.get_window_extent().size)
    wide, high = mark * np.abs(ends[:, 1] - ends[:, 0])
    return float(wide), float(high)


def _lanes_of_dots(values: np.ndarray, wide: float) -> np.ndarray:
    """Return a lane for each value, 0 where there is room: in one lane no dot covers another.

    >>> _lanes_of_dots(np.array([0.1, 0.1, 0.2, 0.5]), wide=0.2).tolist()
    [0.0, 1.0, -1.0, 0.0]
    """
    lanes = np.array([0, *(sign * lane for lane in range(1, 15) for sign in (1, -1))], dtype=float)
    ends = np.full(len(lanes), -np.inf)  # of the last dot in each
    chosen = []
    for value in values:
        free = ends <= value
        lane = int(np.argmax(free)) if free.any() else int(ends.argmin())
        ends[lane] = value + wide
        chosen.append(lanes[lane])
    return np.array(chosen)


def plot_resamples(
    values: Sequence[float],
    seen: float | None = None,
    xlabel: str = "",
    ax: Ax = None,
    title: str | None = None,
) -> "Axes":
    """Draw how often values came, as a histogram: the middle 95 % marked, and what was seen.

    Args:
        values: such as the means of many draws of queries, or of many tosses of signs.
        seen: the value of the data themselves; None draws none.
        xlabel: what the values are.
        ax, title: see `plot_lines`.

    Raises:
        ValueError: there are no values, or one is no number.

    >>> ax = plot_resamples(np.random.default_rng(0).normal(size=1000), seen=0.1)
    >>> [text.get_text() for text in ax.texts]
    ['seen: 0.100', 'middle 95 %: -1.904 to 1.827']
    """
    drawn = _finite("plot_resamples", values, "values")
    if seen is not None and not (is_number(seen) and np.isfinite(seen)):
        raise ValueError(f"plot_resamples: seen must be a number; found {shown(seen)}.")
    if np.ptp(drawn) < 1e-9 * np.abs(drawn).max():  # equal, but for how a computer rounds
        drawn = np.full(len(drawn), drawn[0])
    low, high = np.percentile(drawn, [2.5, 97.5])
    ax = new_axes(ax, (9, 4.5))

    # The middle is blue, both ends are grey and hatched.
    counts, edges = np.histogram(drawn, bins=60)
    top, middles = counts.max(), (edges[1:] + edges[:-1]) / 2
    inside = (middles >= low) & (middles <= high)
    for some, colour, hatch in ((inside, BLUE, ""), (~inside, "#808080", "////")):
        bars = ax.bar(middles[some], counts[some], edges[1] - edges[0], color=pale(colour))
        for bar in bars:
            bar.set(edgecolor=colour, linewidth=0, hatch=hatch)

    # Above it what was seen, and above that the middle: the words do not meet.
    if seen is not None:
        ax.plot([seen, seen], [0, 1.1 * top], color=RED, linewidth=WIDTH)
        words = label("seen: {value}", value=f"{seen:.3f}")
        write(ax, words, (seen, 1.1 * top), (0, 4), RED, ha="center")
    height = top * (1.1 if seen is None else 1.34)
    ax.plot([low, high], [height, height], color=BLUE, linewidth=WIDTH)
    words = label("middle 95 %: {low} to {high}", low=f"{low:.3f}", high=f"{high:.3f}")
    write(ax, words, ((low + high) / 2, height), (0, 6), BLUE, ha="center")

    ax.set(ylim=(0, height + 0.2 * top), yticks=[], xlabel=drawable(xlabel, ""))
    finish(ax, title).spines.left.set_visible(False)
    return ax


# ---------------------------------------------------------------- tables, row by row


def plot_intervals(
    table: pd.DataFrame, xlabel: str | None = None, ax: Ax = None, title: str | None = None
) -> "Axes":
    """Draw a difference a row with its 95 % interval, the 0 line, and what can be told.

    Args:
        table: the columns ``difference_low``, ``difference`` and ``difference_high``. What can be
            told is said by ``verdict``, where the table has it, as `compare`'s, or by ``p_holm``,
            or else by whether the interval leaves out 0.
        xlabel: what differs; None is *difference, 95 % interval*.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: it is no table.
        ValueError: it lacks a column, or has nothing to draw, or more than 100 rows.

    >>> ends = {"difference_low": [0.1, -0.2], "difference": [0.3, 0.1], "difference_high": 0.5}
    >>> ax = plot_intervals(pd.DataFrame(ends, index=["240 queries", "60 queries"]))
    >>> [text.get_text() for text in ax.texts]
    ['+0.300', '+0.100']
    """
    if not isinstance(table, pd.DataFrame):
        raise not_drawn("plot_intervals", "a table with a difference a row", table)
    ends = ["difference_low", "difference", "difference_high"]
    names = list(table.columns)
    twice = any(names.count(column) > 1 for column in ("p_holm", "verdict"))
    if table.empty or twice or any(names.count(column) != 1 for column in ends):
        found = f"{count(len(table), 'row')} of {name_some(names)}"
        raise ValueError(f"plot_intervals draws the columns {', '.join(ends)}; found {found}.")
    want_few("plot_intervals", table, "rows")
    known = [*ends, *(["p_holm"] if "p_holm" in table else [])]
    numbers = {column: _finite("plot_intervals", table[column], column) for column in known}
    drawn = table.assign(**numbers)
    ax = new_axes(ax, (11, 1.7 + 0.75 * len(table)))

    # The names on the left, the verdicts on the right.
    verdicts = draw_differences(ax, drawn)
    ax.set_yticks(range(len(table)), drawable_names(table.index, "row"))
    beside = ax.secondary_yaxis("right")
    beside.set_yticks(range(len(table)), verdicts)
    beside.tick_params(axis="y", length=0, labelsize=14, labelfontfamily=font_families())
    beside.spines.right.set_visible(False)

    between = label("difference, 95 % interval")
    xlabel = between if xlabel is None else drawable(xlabel, between)
    ax.set(xlabel=xlabel, ylabel=drawable(table.index.name or "", ""))
    ax.set_ylim(len(table) - 0.5, -0.7)
    ax.margins(x=0.1)
    return finish(ax, title)


def plot_marks(
    table: pd.DataFrame,
    xlabel: str = "",
    joined: Sequence[str] | None = None,
    ax: Ax = None,
    title: str | None = None,
) -> "Axes":
    """Draw a row a row of the table and a mark a column, with a line between the marks.

    Marks that would cover each other stand one above the other, somewhat off their row.

    Args:
        table: numbers; its columns have names of their own.
        xlabel: what the numbers are.
        joined: the columns that the line joins; None is all.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: it is no table.
        ValueError: a cell is no number, there is no such column, or more than 100 rows.

    >>> kinds = pd.DataFrame({"dense": [0.7, 0.5], "BM25": [0.6, 0.8]}, index=["long", "exact"])
    >>> [name.get_text() for name in plot_marks(kinds, "nDCG@10").get_yticklabels()]
    ['long', 'exact']
    """
    if not isinstance(table, pd.DataFrame):
        raise not_drawn("plot_marks", "a table, a mark a column", table)
    if table.empty or not table.columns.is_unique:
        raise ValueError("plot_marks draws a table with rows, each column with its own name.")
    want_few("plot_marks", table, "rows")
    values = pd.DataFrame({name: _finite("plot_marks", table[name], shown(name)) for name in table})
    if not isinstance(joined, list | tuple | None):
        raise TypeError(f"plot_marks: joined is a list of columns; found {shown(joined)}.")
    strange = [name for name in joined or [] if name not in list(table)]
    if strange:
        there = name_some(list(table.columns))
        raise ValueError(f"plot_marks: no column {shown(strange[0])} to join; there are {there}.")
    ax = new_axes(ax, (10, 1.9 + 0.55 * len(table)))

    # A line a row, and upon it the marks.
    ends = values[list(table if joined is None else joined)]
    for row, (low, high) in enumerate(zip(ends.min(axis=1), ends.max(axis=1), strict=True)):
        ax.plot([low, high], [row, row], color=GREY, linewidth=WIDTH, zorder=1)
    signs = []
    looks = zip(values, drawable_names(table, "mark"), cycle(COLOURS), cycle(MARKERS), strict=False)
    for column, name, colour, marker in looks:
        (marks,) = ax.plot(values[column], range(len(table)), marker, color=colour, label=name)
        marks.set(markersize=12, linestyle="none")
        signs.append(marks)

    ax.set_yticks(range(len(table)), drawable_names(table.index, "row"))
    ax.set(xlabel=drawable(xlabel, ""), ylim=(len(table) - 0.5, -0.5))
    write_key(ax, signs, title)

    # Marks that would cover each other stand one above the other.
    wide, high = _size_of_mark(ax)
    heights = np.empty(values.shape)
    for row, its in enumerate(values.to_numpy()):
        order = its.argsort(kind="stable")
        heights[row, order] = row + 0.8 * high * _lanes_of_dots(its[order], wide)
    for marks, its_heights in zip(signs, heights.T, strict=True):
        marks.set_ydata(its_heights)
    return ax


def plot_cells(table: pd.DataFrame, ax: Ax = None, title: str | None = None) -> "Axes":
    """Draw a table with what stands in its cells, a colour a row: texts, or counts.

    Args:
        table: such as ``pd.crosstab(qa["relevant"], qa["retrieved"])``. The names of its index and
            columns are written at the axes.
        ax, title: see `plot_lines`.

    Raises:
        TypeError: it is no table.
        ValueError: it has no cells, or more than 100 rows or columns.

    >>> counts = pd.DataFrame([[1, 1], [2, 8]], ["relevant", "other"], ["found", "not found"])
    >>> [text.get_text() for text in plot_cells(counts).texts]
    ['1', '1', '2', '8']
    """
    from matplotlib.patches import Rectangle

    if not isinstance(table, pd.DataFrame):
        raise not_drawn("plot_cells", "a table, such as pd.crosstab(...)", table)
    if table.empty:
        raise ValueError("plot_cells draws the cells of a table; this one has none.")
    want_few("plot_cells", table, "rows")
    want_few("plot_cells", table.columns, "columns")
    rows, columns = table.shape
    ax = new_axes(ax, (1.5 + 3.6 * columns, 1.2 + 1.4 * rows))

    # A square a cell; a long text has several lines.
    for (row, column), value in np.ndenumerate(table.to_numpy(dtype=object)):
        colour = pale(_FILLS[row % len(_FILLS)][0])
        ax.add_patch(Rectangle((column + 0.01, row + 0.01), 0.98, 0.98, color=colour))
        lines = [line for text in _short(value).splitlines() for line in wrap(text, 26)]
        words = "\n".join(drawable(line, "...") for line in lines)
        write(ax, words, (column + 0.5, row + 0.5), (0, 0), ha="center", va="center")

    ax.set_xticks(np.arange(columns) + 0.5, drawable_names(table.columns, "column"))
    ax.set_yticks(np.arange(rows) + 0.5, drawable_names(table.index, "row"))
    across, down = (drawable(name or "", "") for name in (table.columns.name, table.index.name))
    ax.set(xlim=(0, columns), ylim=(rows, 0), xlabel=across, ylabel=down)
    ax.tick_params(length=0)
    finish(ax, title).spines[:].set_visible(False)
    return ax


# ---------------------------------------------------------------- upon any plot


def plot_limit(ax: "Axes", words: str, x: float | None = None, y: float | None = None) -> "Axes":
    """Draw a dotted line across a plot, at one value of x or of y, with words at its end.

    Args:
        ax: of a plot that is drawn: ``ax = plot_lines(...)``.
        words: what the line means: ``"no difference"``.
        x, y: where; one of them is given.

    Raises:
        TypeError: ax is no axes.
        ValueError: neither or both are given, or it is no number.

    >>> ax = plot_strip({"copies": [0.99, 0.97], "others": [0.31, 0.90]}, "cosine")
    >>> plot_limit(ax, "threshold", x=0.95).texts[-1].get_text()
    'threshold'
    """
    if ax is None:
        raise TypeError("plot_limit draws on a plot: ax = plot_lines(...); found None.")
    ax = new_axes(ax, (9, 5))
    given = [at for at in (x, y) if at is not None]
    if len(given) != 1 or not is_number(given[0]) or not np.isfinite(given[0]):
        raise ValueError(f"plot_limit draws at x=... or at y=...; found {shown(x)} and {shown(y)}.")

    # The words stand above the axes, or at the line where no other is.
    words, (at,) = drawable(words, label("limit")), given
    if y is None:
        ax.axvline(at, color=BLACK, linestyle=":", linewidth=2, zorder=0)
        write(ax, words, (at, 1), (0, 4), ha="center", xycoords=ax.get_xaxis_transform())
        ax.set_title(ax.get_title(), fontsize=16, fontfamily=font_families(), pad=36)
        return ax
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, at - 0.04 * (high - low)), max(high, at + 0.08 * (high - low)))
    taken = [along(line.get_xydata()) for line in ax.lines]
    ax.axhline(at, color=BLACK, linestyle=":", linewidth=2, zorder=0)
    left, right = ax.get_xlim()
    points = [(across, at) for across in np.linspace(left, right, 15)]
    place_words(ax, [Words(words, points)], np.vstack([*taken, points]))
    return ax
