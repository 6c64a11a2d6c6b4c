"""An experiment as others want it: Markdown, HTML, LaTeX, and flat numbers for a tracker."""

import re
from collections.abc import Callable
from html import escape
from math import isfinite
from typing import Any, NamedTuple

import pandas as pd

from rageval_kit.experiment_table import OF_COST, Experiment, as_experiment
from rageval_kit.messages import is_number, printable
from rageval_kit.wording import say, say_count, to_say

_LONGEST = 240  # letters of a name in a key; MLflow takes 250 in all
_MARKS = re.compile(r"[\\`*|$~#]|\b_|_\b|\](?=[(\[:])")  # of Markdown, a link's end among them
_NO_KEY = re.compile(r"[^\w. -]+")  # what MLflow's keys cannot hold, "/" aside


def to_markdown(result: Experiment) -> str:
    """Return the table as Markdown, the best bold, and ≈ before what cannot be told from it.

    Means stand with their 95 % intervals. Columns of which nothing is known are left out.

    >>> all_qa = [{"query_id": f"q{i}", "relevant_doc_ids": ["A"]} for i in range(40)]
    >>> first = {f"q{i}": [{"doc_id": "B"}, {"doc_id": "A"}] for i in range(40)}
    >>> second = {f"q{i}": [{"doc_id": "A"}, {"doc_id": "B"}] for i in range(40)}
    >>> from rageval_kit import experiment
    >>> result = experiment({"old": first, "new": second}, all_qa, k=2, metrics=["RR"])
    >>> print(to_markdown(result))
    | system | MRR@2 | difference | p after Holm | verdict |
    |---|---:|---:|---:|---|
    | old | 0.500 [0.500, 0.500] |  |  | baseline |
    | **new** | **1.000 [1.000, 1.000]** | +0.500 [+0.500, +0.500] | 0.0001 | better |
    <BLANKLINE>
    Best of 2 by MRR@2: new; 1.000 on queries held out, 0.000 less than on those that chose.
    Difference to old; 40 queries, 95 % intervals; ≈: not told from the best.

    Raises:
        TypeError: it is no experiment's result.
    """
    report = _report(result, _in_markdown, lambda text: f"**{text}**", "≈ ")
    rules = ["---" if is_text else "---:" for is_text in report.are_texts]
    lines = [" | ".join(report.header), *map(" | ".join, report.rows)]
    table = [f"| {line} |" for line in lines]
    return "\n".join([table[0], f"|{'|'.join(rules)}|", *table[1:], "", *report.notes])


def to_html(result: Experiment) -> str:
    """Return the table as HTML, in the form of `to_markdown`; names and errors are texts in it.

    Raises:
        TypeError: it is no experiment's result.
    """
    report = _report(result, _in_html, lambda text: f"<b>{text}</b>", "≈ ")
    header = "".join(f"<th>{cell}</th>" for cell in report.header)
    rows = ["".join(f"<td>{cell}</td>" for cell in row) for row in report.rows]
    lines = "\n".join(f"<tr>{row}</tr>" for row in rows)
    notes = "<br>".join(report.notes)
    table = f"<thead><tr>{header}</tr></thead>\n<tbody>\n{lines}\n</tbody>"
    return f'<table class="tex2jax_ignore">\n{table}\n</table>\n<p>{notes}</p>'


def to_latex(result: Experiment) -> str:
    r"""Return the table as LaTeX with booktabs' rules, in the form of `to_markdown`.

    The document needs ``\usepackage{booktabs}``.

    Raises:
        TypeError: it is no experiment's result.
    """
    report = _report(result, _in_latex, lambda text: rf"\textbf{{{text}}}", r"$\approx$ ")
    kinds = "".join("l" if is_text else "r" for is_text in report.are_texts)
    rows = [" & ".join(row) + r" \\" for row in (report.header, *report.rows)]
    notes = "\n".join(f"% {note}" for note in report.notes)
    body = "\n".join([r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"])
    return f"\\begin{{tabular}}{{{kinds}}}\n{body}\n\\end{{tabular}}\n{notes}"


def flat(result: Experiment) -> dict[str, float]:
    """Return every number that is known, as ``{"system/metric": number}``, for a tracker.

    ``mlflow.log_metrics(flat(result))`` and ``wandb.log(flat(result))`` take it as it is: what
    their keys cannot hold is ``_``.

    >>> all_qa = [{"query_id": f"q{i}", "relevant_doc_ids": ["A"]} for i in range(9)]
    >>> run = {f"q{i}": [{"doc_id": "A"}] for i in range(9)}
    >>> from rageval_kit import experiment
    >>> numbers = flat(experiment({"size=30, new": run}, all_qa, k=1, metrics=["RR"]))
    >>> numbers["size_30_ new/MRR_1"], numbers["size_30_ new/held_out"]
    (1.0, 1.0)

    Raises:
        TypeError: it is no experiment's result.
    """
    table = as_experiment(result).table.rename(columns={"mean": result.record["metrics"][0]})
    numbers, taken = {}, set[str]()
    for system, row in table.drop(columns=list(result.record["axes"])).iterrows():
        key = _key(str(system))
        while key in taken:  # another system's name became the same
            key += "_"
        taken.add(key)
        for column, value in row.items():
            if is_number(value) and isfinite(value):
                numbers[f"{key}/{_key(str(column))}"] = float(value)
    return numbers


def _key(name: str) -> str:
    """Return a name as a part of a key: letters, digits, ``_ - .`` and blanks, no path."""
    return _NO_KEY.sub("_", name[:_LONGEST]).strip(". ") or "_"


# ---------------------------------------------------------------- what the forms share


class _Report(NamedTuple):
    """A table in texts: header and rows, whether a column holds words, and what is said below."""

    header: list[str]
    rows: list[list[str]]
    are_texts: list[bool]
    notes: list[str]


def _report(
    result: Any, as_text: Callable[[str], str], bold: Callable[[str], str], mark: str
) -> _Report:
    """Return the cells and notes of a report.

    Args:
        result: of an experiment.
        as_text: writes a name or an error so that nothing in it acts.
        bold: makes a text bold.
        mark: stands before what cannot be told from the best.
    """
    columns = _columns(as_experiment(result))
    rows = [list(map(as_text, row)) for row in zip(*columns.values(), strict=True)]
    place = list(columns).index(result.record["metrics"][0])

    # The best is bold, in its name and its mean; what is like it has a mark.
    for row, system in zip(rows, result.table.index, strict=True):
        if system == result.best:
            row[0], row[place] = bold(row[0]), bold(row[place])
        elif result.table["like_best"].fillna(False)[system]:
            row[0] = mark + row[0]
    texts = {"system", "verdict", "error", *result.record["axes"]}
    are_texts = [name in texts for name in columns]
    header = [say(_HEADERS[name]) if name in _HEADERS else name for name in columns]
    return _Report(list(map(as_text, header)), rows, are_texts, list(map(as_text, _notes(result))))


# What a reader sees above a column; metrics, axes and prices keep their names.
_HEADERS = {
    "system": to_say("system"),
    "difference": to_say("difference"),
    "p after Holm": to_say("p after Holm"),
    "verdict": to_say("verdict"),
    "error": to_say("error"),
}


def _columns(result: Experiment) -> dict[str, list[str]]:
    """Return the columns of a report as texts; of a grid the axes name the systems."""
    table, metrics = result.table, result.record["metrics"]
    names = {axis: table[axis].map(str).tolist() for axis in result.record["axes"]}
    columns = names or {"system": table.index.tolist()}

    # The first metric and its comparison, the means of the others, ...
    columns[metrics[0]] = _intervals(table, "mean", "low", "high", "{:.3f}")
    ends = ("difference", "difference_low", "difference_high")
    columns["difference"] = _intervals(table, *ends, "{:+.3f}")
    columns["p after Holm"] = _numbers(table["p_holm"], "{:.2g}")
    columns["verdict"] = [verdict.partition(";")[0] for verdict in table["verdict"]]
    for metric in metrics[1:]:
        columns[metric] = _numbers(table[metric], "{:.3f}")

    # ... and what it costs; money has digits behind the point.
    for column in OF_COST:
        form = "{:,.4g}" if column == "money" else "{:,.0f}"
        columns[column] = _numbers(table[column], "{:.1f}" if column.startswith("ms_") else form)
    columns["error"] = table["error"].tolist()
    return {name: cells for name, cells in columns.items() if any(cells)}


def _numbers(values: pd.Series, form: str) -> list[str]:
    return ["" if pd.isna(value) else form.format(value) for value in values]


def _intervals(table: pd.DataFrame, middle: str, low: str, high: str, form: str) -> list[str]:
    written = [_numbers(table[column], form) for column in (middle, low, high)]
    return [
        f"{mean} [{least}, {most}]" if mean else ""
        for mean, least, most in zip(*written, strict=True)
    ]


def _notes(result: Experiment) -> list[str]:
    """Return what is said under the table."""
    metric, place = result.record["metrics"][0], result.table.index.get_loc(result.best)
    held_out, optimism = result.table[["held_out", "optimism"]].to_numpy()[place]
    n = len(result.table)
    best = say("Best of {n} by {metric}: {best}", n=n, metric=metric, best=result.best)
    if isfinite(held_out):
        best += say(
            "; {held_out:.3f} on queries held out, {optimism:.3f} less than on those that chose",
            held_out=held_out,
            optimism=optimism,
        )

    # What the differences are to, and what did not run.
    differences = say(
        "Difference to {baseline}; {queries}, 95 % intervals; ≈: not told from the best.",
        baseline=result.record["baseline"],
        queries=say_count(len(result.all_qa), "query"),
    )
    left = result.record["left_out"]
    notes = [f"{best}.", differences]
    if left:
        notes.append(say("Left out: {combinations}.", combinations=say_count(left, "combination")))
    return notes


def _in_markdown(text: str) -> str:
    """Return a text that nothing acts in: no emphasis, link, table, formula or HTML."""
    escaped = _MARKS.sub(lambda found: "\\" + found[0], printable(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _in_html(text: str) -> str:
    return escape(printable(text))


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in printable(text))


_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "≈": r"$\approx$", "|": r"\textbar{}",
    **{letter: "\\" + letter for letter in "&%$#_{}"},
}  # fmt: skip
