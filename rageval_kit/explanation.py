"""Why this number: one cell of a metric's table, with the formula filled in."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Unpack

import pandas as pd

from rageval_kit.formulas import Cell, Formula
from rageval_kit.judgements import AllQA, is_relevant, read_judgements
from rageval_kit.messages import printable, shown
from rageval_kit.metrics import TREATMENT, Column, as_columns, fractions_of, matrix_for, values_of
from rageval_kit.rankings import ResultsLike
from rageval_kit.relevance import Policies, Relevance
from rageval_kit.wording import say, say_some


@dataclass(frozen=True, repr=False)
class Explanation:
    """The arithmetic of one cell; prints as text, and its last number is the cell's.

    Attributes:
        query_id, column: the cell, for example ``"q10"`` and ``"nDCG@5"``.
        ranking: a row a rank, with the document, its gain, and what the metric does with it.
        lines: the arithmetic in words, a line a step.
        value: the cell's number.
    """

    query_id: Any
    column: str
    ranking: pd.DataFrame
    lines: list[str]
    value: float

    def __str__(self) -> str:
        table = self.ranking.to_string(float_format=lambda value: f"{value:.4g}").split("\n")
        title = say("{column} of {query_id}", column=self.column, query_id=self.query_id)
        lines = [title, "", *table, "", *self.lines]
        return "\n".join(map(printable, lines))

    __repr__ = __str__


def explain(
    all_qa: AllQA,
    results: ResultsLike,
    query_id: Any,
    metric: str | Formula = "nDCG",
    k: int = 5,
    **policies: Unpack[Policies],
) -> Explanation:
    """Show how one number came about: the ranking, the formula with its numbers, the policy.

    Args:
        all_qa, results: see `relevance_matrix`.
        query_id: the row of the table.
        metric: the name of a metric, with or without a cutoff: ``"nDCG"``, ``"nDCG@10"``; or a
            function of yours.
        k: the cutoff, where the name has none.
        policies: see `Policies`; give those of the table that is to be explained.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> results = {"q01": [{"doc_id": "doc_001"}, {"doc_id": "doc_002"}, {"doc_id": "doc_004"}]}
    >>> print(explain(all_qa, results, "q01", "nDCG", k=3))
    nDCG@3 of q01
    <BLANKLINE>
           doc_id  gain  discount  gain x discount
    rank
    1     doc_001     1         1                1
    2     doc_002     0    0.6309                0
    3     doc_004     1       0.5              0.5
    <BLANKLINE>
    relevant documents in the whole corpus: 2 (doc_001, doc_004)
    discount = 1 / log2(rank + 1)
    DCG@3 = 1 x 1 + 1 x 0.5 = 1.5
    IDCG@3: all relevant documents of the corpus on the first ranks = 1 x 1 + 1 x 0.6309 = 1.631
    nDCG@3 = DCG@3 / IDCG@3 = 1.5 / 1.631 = 0.9197207891481876

    Raises:
        KeyError: no query of all_qa has this query_id.
        ValueError: the metric is not known.
    """
    columns = as_columns([metric], k)
    if len(columns) != 1:
        raise ValueError(f"explain shows one number, found k={shown(k)}. Choose one cutoff.")
    (column,), judged = columns, read_judgements(all_qa)
    if not isinstance(query_id, (str, Integral)) or query_id not in judged.query_ids:
        raise KeyError(f"all_qa has no query {shown(query_id)}. Choose one of its query_ids.")
    matrix = matrix_for([column], judged, results, policies)
    row = judged.query_ids.tolist().index(query_id)
    cell = _cell(column, matrix, row)
    value = float(values_of([column], matrix)[row, 0])

    # The ranking: a row a hit, and what the metric does with it.
    ranking = pd.DataFrame({"doc_id": cell.docs, "gain": cell.gains[: len(cell.docs)]})
    ranking.index = pd.RangeIndex(1, len(cell.docs) + 1, name="rank")

    # The arithmetic; a query that the policy decides has none.
    arithmetic = [column.label]
    if cell.relevant or not column.metric.needs_relevant:
        extra, arithmetic = column.metric.words(cell, **dict(column.parameters))
        ranking = ranking.assign(**{name: of[: len(cell.docs)] for name, of in extra.items()})
    arithmetic[-1] += f" = {value!r}"
    notes = _notes(column, cell, matrix.policies)
    return Explanation(query_id, column.label, ranking, [*notes, *arithmetic], value)


def _cell(column: Column, matrix: Relevance, row: int) -> Cell:
    """Return the row of the matrix, cut at the cutoff; R-precision is cut at R."""
    # G, the relevant documents of the whole corpus, and the cutoff; R-precision's is |G|.
    judged = matrix.judgements
    its_own = (judged.rows == row) & is_relevant(judged.grades)
    relevant = judged.docs[its_own].tolist()
    k = len(relevant) if column.cutoff == "R" else column.cutoff

    # Of the ranks behind the last hit only the cutoff has a column, which holds nothing.
    shown = int((matrix.ranks <= k).sum())
    parts = ("grades", "gains", "ideal", "judged", "new")
    of_ranks = {part: getattr(matrix, part)[row, :shown] for part in parts}
    numerators, denominators = fractions_of([column], matrix)
    return Cell(
        label=column.label,
        k=k,
        docs=matrix.docs(row)[:k],
        relevant=relevant,
        best_grade=matrix.best_grade,
        numerator=float(numerators[row, 0]),
        denominator=float(denominators[row, 0]),
        **of_ranks,
    )


def _notes(column: Column, cell: Cell, policies: Policies) -> list[str]:
    """Say what the arithmetic rests on: G, what came back, and the policy where one applied."""
    # How many documents are relevant; where none is, a policy decides.
    notes = []
    if column.metric.needs_relevant and cell.relevant:
        n, docs = len(cell.relevant), say_some(cell.relevant)
        notes.append(say("relevant documents in the whole corpus: {n} ({docs})", n=n, docs=docs))
    elif column.metric.needs_relevant:
        policy = policies["no_relevant"]
        treated = say("left out of the mean") if policy == "exclude" else say(TREATMENT[policy])
        notes.append(
            say(
                "no document is relevant to this query: with "
                'no_relevant="{policy}" it is {treated}',
                policy=policy,
                treated=treated,
            )
        )

    # What is unusual about the ranking, or about the gain.
    if len(cell.docs) < cell.k:
        n, k = len(cell.docs), cell.k
        notes.append(say("only {n} of {k} hits came back; the other ranks hold nothing", n=n, k=k))
    if len(set(cell.docs)) < len(cell.docs):
        notes.append(
            say(
                'a document appears more than once: with duplicates="position" each of its slots '
                "counts"
            )
        )
    if column.metric.name == "nDCG" and policies["gain"] == "exponential":
        notes.append(say('with gain="exponential" a grade g is worth 2 ** g - 1'))
    return notes
