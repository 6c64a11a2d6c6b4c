"""HitRate, MRR, nDCG, Precision, Recall and a few more, as DataFrames: the functions that a user calls.

What a metric computes stands in formulas.py, a line or two each.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np
import pandas as pd

from rageval_kit.findings import ranking_findings, score_findings
from rageval_kit.formulas import ALWAYS_DEFINED, FORMULAS, NAMES_OF_MEANS, THE_FIVE, Formula
from rageval_kit.inputs import ResultsLike, asked_depth, largest_relevant, lower_is_better
from rageval_kit.messages import as_cutoff, count, warn_user
from rageval_kit.records import Records
from rageval_kit.relevance import Policies, Relevance, relevance_matrix

Cutoffs: TypeAlias = int | Sequence[int]
Metrics: TypeAlias = Sequence[str | Formula]


def hit_rate(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return whether anything relevant stands in the first k: 1 or 0. Also called Success@k.

    Args:
        all_qa, results: see `relevance_matrix`.
        ks: the cutoffs, positive integers.
        policies: see `Policies`.

    Returns:
        A row a query, a column a cutoff: ``HitRate@1, HitRate@3, ...``; ``.mean()`` is the average
        over the evaluated queries, and ``.attrs`` holds the policies and the counts.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002"}, {"doc_id": "doc_001"}, {"doc_id": "doc_003"}]}
    >>> hit_rate(all_qa, results, ks=(1, 3))
              HitRate@1  HitRate@3
    query_id
    q01             0.0        1.0
    """
    return per_query(all_qa, results, ks, ["HitRate"], **policies)


def mrr(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return the reciprocal rank: 1 / rank of the first relevant document in the first k, else 0.

    MRR@k is the mean over the queries (Voorhees, TREC-8 question answering track, 1999). Arguments
    and the form of the result are those of `hit_rate`, with columns ``RR@k``.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002"}, {"doc_id": "doc_001"}, {"doc_id": "doc_003"}]}
    >>> mrr(all_qa, results, ks=(1, 3))
              RR@1  RR@3
    query_id
    q01        0.0   0.5
    """
    return per_query(all_qa, results, ks, ["RR"], **policies)


def ndcg(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return DCG@k / IDCG@k: the discounted gain of the ranking, as a share of the best possible.

    DCG@k = sum of gain / log2(rank + 1) over the first k (Järvelin and Kekäläinen, 2002, with
    trec_eval's discount). IDCG@k is the DCG@k of all relevant documents of the corpus, best first.
    Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> results = {"q01": [{"doc_id": "doc_001"}, {"doc_id": "doc_002"}, {"doc_id": "doc_004"}]}
    >>> ndcg(all_qa, results, ks=(1, 3)).round(3)
              nDCG@1  nDCG@3
    query_id
    q01          1.0    0.92
    """
    return per_query(all_qa, results, ks, ["nDCG"], **policies)


def precision(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return the relevant documents in the first k, divided by k, also when fewer than k came back.

    Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> precision(all_qa, {"q01": [{"doc_id": "doc_001"}]}, ks=(1, 10))
              Precision@1  Precision@10
    query_id
    q01               1.0           0.1
    """
    return per_query(all_qa, results, ks, ["Precision"], **policies)


def recall(
    all_qa: Records, results: ResultsLike, ks: Cutoffs = (1, 3, 5), **policies: Unpack[Policies]
) -> pd.DataFrame:
    """Return the relevant documents in the first k, divided by all relevant documents of the corpus.

    Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> recall(all_qa, {"q01": [{"doc_id": "doc_001"}]}, ks=(1, 10))
              Recall@1  Recall@10
    query_id
    q01            0.5        0.5
    """
    return per_query(all_qa, results, ks, ["Recall"], **policies)


def per_query(
    all_qa: Records,
    results: ResultsLike,
    ks: Cutoffs = (1, 3, 5),
    metrics: Metrics = THE_FIVE,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return several metrics at once: a row a query, a column a metric and cutoff, such as ``nDCG@5``.

    Args:
        all_qa, results: see `relevance_matrix`.
        ks: the cutoffs of every metric that is named without one.
        metrics: names, with a cutoff of their own (``"nDCG@10"``) or without. There are HitRate, RR,
            nDCG, Precision, Recall, AP, R-precision (no cutoff), F1, Judged (the share that someone
            judged of what came back) and Unique (the number of different documents; not 0..1). A
            function of yours stands under its own name: it takes a `Relevance` and returns numerator
            and denominator at every rank, as the formulas of formulas.py do.
        policies: see `Policies`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002"}, {"doc_id": "doc_001"}]}
    >>> per_query(all_qa, results, metrics=["AP@2", "R-precision", "F1@2"]).round(3)
              AP@2  R-precision   F1@2
    query_id
    q01        0.5          0.0  0.667
    """
    columns = as_columns(metrics, ks)
    matrix = matrix_for(columns, all_qa, results, policies)
    fractions = fractions_of(columns, matrix)
    values = {column.label: of_query(column, fractions, matrix) for column in columns}
    table = pd.DataFrame(values, index=matrix.labels)
    table.attrs = _what_was_decided(matrix, results)
    return table


def evaluate(
    all_qa: Records,
    results: ResultsLike,
    ks: Cutoffs = (1, 3, 5),
    metrics: Metrics = THE_FIVE,
    average: Literal["macro", "pooled"] = "macro",
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return averages over the evaluated queries: a row a metric, a column a cutoff.

    Args:
        all_qa, results, ks, metrics, policies: see `per_query`. The average of RR is called MRR, that
            of AP MAP. R-precision stands in a column ``"R"``. A cell that was not asked for is NaN.
        average: ``"macro"`` is the mean over queries; ``"pooled"`` (micro) the sum of the numerators
            over the sum of the denominators, so that a query weighs as much as it has relevant documents.

    >>> all_qa = [
    ...     {"query_id": "q1", "relevant_doc_ids": ["D1", "D2", "D3"]},
    ...     {"query_id": "q2", "relevant_doc_ids": ["D4"]},
    ... ]
    >>> results = {"q1": [{"doc_id": "D1"}], "q2": [{"doc_id": "D4"}]}
    >>> float(evaluate(all_qa, results, metrics=["Recall@3"]).loc["Recall", 3])
    0.6666666666666666
    >>> float(evaluate(all_qa, results, metrics=["Recall@3"], average="pooled").loc["Recall", 3])
    0.5
    """
    if average not in ("macro", "pooled"):
        raise ValueError(f'average={average!r} is not known. Choose "macro" or "pooled".')
    columns = as_columns(metrics, ks)
    matrix = matrix_for(columns, all_qa, results, policies)
    fractions = fractions_of(columns, matrix)
    mean = _macro if average == "macro" else _pooled
    rows = dict.fromkeys(NAMES_OF_MEANS.get(column.name, column.name) for column in columns)
    cutoffs = list(dict.fromkeys(column.cutoff for column in columns))
    summary = pd.DataFrame(
        np.nan, index=pd.Index(rows, name="metric"), columns=pd.Index(cutoffs, name="k")
    )
    for column in columns:
        summary.loc[NAMES_OF_MEANS.get(column.name, column.name), column.cutoff] = mean(
            column, fractions, matrix
        )
    summary.attrs = _what_was_decided(matrix, results) | {"average": average}
    _warn_of_impossible(results, matrix, summary)
    _warn_of_repeats(matrix)
    return summary


def caption(table: pd.DataFrame) -> str:
    """Say in one line, to put under a table or figure, how its numbers were made.

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": ["D1"]}, {"query_id": "q2", "relevant_doc_ids": []}]
    >>> results = {"q1": [{"doc_id": "D1"}], "q2": [{"doc_id": "D1"}]}
    >>> caption(evaluate(all_qa, results))
    'Macro average over 1 query; 1 excluded (no relevant document); a repeated document is refused; linear gain.'

    Raises:
        ValueError: the table does not come from the kit, or lost its ``attrs`` on the way.
    """
    decided = table.attrs
    if "no_relevant" not in decided:
        raise ValueError(
            "This table has no attrs of the kit: pass what evaluate or per_query returned, unchanged."
        )
    evaluated, without = decided["evaluated"], decided["without_relevant"]
    queries = count(evaluated, "query")
    treated = {
        "exclude": "excluded",
        "zero": "counted as 0",
        "one": "counted as 1",
        "error": "refused",
    }
    repeats = {"error": "refused", "unique": "counted once", "position": "counted in every slot"}
    parts = [
        f"{decided['average'].capitalize()} average over {queries}"
        if "average" in decided
        else f"{queries} evaluated",
        f"{without:,} {treated[decided['no_relevant']]} (no relevant document)",
        f"a repeated document is {repeats[decided['duplicates']]}",
        f"{decided['gain']} gain",
    ]
    if decided["index"]:
        parts.append(f"index {decided['index'][:8]}")
    return "; ".join(parts) + "."


# ---------------------------------------------------------------- from names to numbers


class Column(NamedTuple):
    """A metric at a cutoff; R-precision has the cutoff "R"."""

    name: str
    formula: Formula
    cutoff: int | Literal["R"]

    @property
    def label(self) -> str:
        """The column's name in the table of queries, such as ``nDCG@10``."""
        return self.name if self.cutoff == "R" else f"{self.name}@{self.cutoff}"

    @property
    def position(self) -> int:
        """Where the cutoff stands among the ranks of the matrix."""
        return -1 if self.cutoff == "R" else self.cutoff - 1


def as_columns(metrics: Metrics, ks: Cutoffs) -> list[Column]:
    """Return the columns that metrics and cutoffs name, each once."""
    if isinstance(metrics, str) or not isinstance(metrics, Iterable) or not metrics:
        raise ValueError(
            f'metrics must be a list of names such as ["nDCG@10", "Recall"], found {metrics!r}.'
        )
    cutoffs = _cutoffs(ks)
    columns = list(
        dict.fromkeys(column for metric in metrics for column in _columns_of(metric, cutoffs))
    )
    formulas = {column.name: column.formula for column in columns}
    for column in columns:
        if formulas[column.name] is not column.formula:
            raise ValueError(
                f"Two different metrics are called {column.name}: give your function a name of its own."
            )
    return columns


def _columns_of(metric: str | Formula, cutoffs: Sequence[int]) -> list[Column]:
    if callable(metric):
        if not hasattr(metric, "__name__"):
            raise TypeError(
                f"The metric {metric!r} has no name for its column: write it as a function, with def."
            )
        return [Column(metric.__name__, metric, k) for k in cutoffs]
    if not isinstance(metric, str):
        raise TypeError(f'A metric is a name such as "nDCG@10" or a function, found {metric!r}.')
    name, at, cutoff = metric.partition("@")
    name = {mean: of_query for of_query, mean in NAMES_OF_MEANS.items()}.get(name, name)
    if name not in FORMULAS:
        raise _unknown_metric(metric, name, at + cutoff)
    if at and not cutoff.isdecimal():
        raise ValueError(f"{metric!r}: a positive integer must stand behind the @, as in nDCG@10.")
    if name == "R-precision":
        if at:
            raise ValueError(
                f"{metric!r}: R-precision has no cutoff, its rank is the number of relevant documents."
            )
        return [Column(name, FORMULAS[name], "R")]
    return [
        Column(name, FORMULAS[name], k)
        for k in ([as_cutoff(int(cutoff), metric)] if at else cutoffs)
    ]


_OTHER_NAMES = {
    "p": "Precision", "r": "Recall", "success": "HitRate", "hit": "HitRate", "rprec": "R-precision",
    "recip_rank": "RR", "map": "AP", "mrr": "RR",
}  # fmt: skip


def _unknown_metric(metric: str, name: str, at_cutoff: str) -> ValueError:
    names = {known.lower(): known for known in FORMULAS} | _OTHER_NAMES
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    hint = f" Did you mean {names[near[0]]}{at_cutoff}?" if near else ""
    return ValueError(f"No metric is called {metric!r}.{hint} There are: {', '.join(FORMULAS)}.")


def _cutoffs(ks: Cutoffs) -> list[int]:
    several = ks if isinstance(ks, Iterable) and not isinstance(ks, str) else [ks]
    cutoffs = list(dict.fromkeys(as_cutoff(k) for k in several))
    if not cutoffs:
        raise ValueError("ks is empty: give at least one cutoff, such as ks=(1, 3, 5).")
    return cutoffs


def matrix_for(
    columns: Sequence[Column], all_qa: Records, results: ResultsLike, policies: Policies
) -> Relevance:
    """Return the relevance matrix, as deep as the deepest column needs."""
    depth = max((column.cutoff for column in columns if column.cutoff != "R"), default=1)
    if any(column.cutoff == "R" for column in columns):
        depth = max(depth, largest_relevant(all_qa))
    return relevance_matrix(all_qa, results, depth, **policies)


def fractions_of(
    columns: Sequence[Column], matrix: Relevance
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Work out each formula once: numerator and denominator, both (n, K)."""
    shape = matrix.gains.shape
    fractions = {}
    for name, formula in {column.name: column.formula for column in columns}.items():
        try:
            numerator, denominator = formula(matrix)
            if np.shape(numerator) != shape:
                raise ValueError(f"a numerator of shape {np.shape(numerator)}")
            fractions[name] = (
                numerator,
                np.broadcast_to(np.asarray(denominator, dtype=float), shape),
            )
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} must return a numerator of shape {shape}, a row a query and a column a rank, and a "
                f"denominator for it (1.0 if there is none); found: {error}."
            ) from error
    return fractions


def of_query(
    column: Column, fractions: dict[str, tuple[np.ndarray, np.ndarray]], matrix: Relevance
) -> np.ndarray:
    """Return the column's value for every query, with the policy for queries without a relevant document."""
    numerator, denominator = (part[:, column.position] for part in fractions[column.name])
    values = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
    return values if column.name in ALWAYS_DEFINED else matrix.apply_no_relevant(values)


def _macro(
    column: Column, fractions: dict[str, tuple[np.ndarray, np.ndarray]], matrix: Relevance
) -> float:
    return float(pd.Series(of_query(column, fractions, matrix)).mean())


def _pooled(
    column: Column, fractions: dict[str, tuple[np.ndarray, np.ndarray]], matrix: Relevance
) -> float:
    if matrix.policies["no_relevant"] in ("zero", "one"):
        raise ValueError(
            'A pooled average sums over relevant documents: it needs no_relevant="exclude" or "error".'
        )
    numerator, denominator = (part[:, column.position] for part in fractions[column.name])
    pooled = slice(None) if column.name in ALWAYS_DEFINED else matrix.n_relevant > 0
    total = denominator[pooled].sum()
    return float(numerator[pooled].sum() / total) if total else float("nan")


def _warn_of_impossible(results: ResultsLike, matrix: Relevance, summary: pd.DataFrame) -> None:
    """Warn of what cannot be, where looking is cheap; `check_results` looks for more."""
    findings = [] if matrix.policies["duplicates"] == "position" else list(score_findings(summary))
    if not isinstance(results, pd.DataFrame):
        findings += ranking_findings(results, lower_is_better(results))
    searched = asked_depth(results)
    if 0 < searched < len(matrix.ranks):
        warn_user(
            f"k={len(matrix.ranks)} is deeper than the search, which asked for k={searched}: what lies below was not "
            "looked at. Search deeper, or choose a smaller k."
        )
    for finding in findings:
        warn_user(f"{finding} check_results(all_qa, results, docs) looks for more.")


def _warn_of_repeats(matrix: Relevance) -> None:
    """Warn where repeats leave fewer different documents than ranks."""
    k = len(matrix.ranks)
    unique = matrix.new.sum(axis=1)
    short = int(((matrix.n_repeats > 0) & (unique < k)).sum())
    if short:
        warn_user(
            f"fewer than {k} different documents in the first {k} for {count(short, 'query')} (mean over all: "
            f"{unique.mean():.2f}): repeats take the places. Drop copies before indexing, or search deeper and fold."
        )


def _what_was_decided(matrix: Relevance, results: ResultsLike) -> dict[Any, Any]:
    """Return the policies, the counts of queries and the index searched, to travel with the numbers."""
    without = int((matrix.n_relevant == 0).sum())
    excluded = without if matrix.policies["no_relevant"] == "exclude" else 0
    return {
        **dict(matrix.policies),
        "evaluated": len(matrix.query_ids) - excluded,
        "excluded": excluded,
        "without_relevant": without,
        "index": getattr(results, "index", None)
        if not isinstance(results, pd.DataFrame)
        else results.attrs.get("index"),
    }
