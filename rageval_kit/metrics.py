"""HitRate, MRR, nDCG, Precision, Recall and more, as DataFrames: the functions that a user calls.

What a metric computes stands in formulas.py, a line or two each.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np
import pandas as pd

from rageval_kit.findings import same_ranking
from rageval_kit.formulas import THE_FIVE, Formula, Metric, find_metric, own_words
from rageval_kit.invariants import score_findings
from rageval_kit.judgements import AllQA, Judgements, read_judgements
from rageval_kit.messages import as_cutoff, count, is_list, shown, warn_user, wrong_type
from rageval_kit.rankings import ResultsLike, knowledge
from rageval_kit.relevance import Policies, Relevance, match, warn_of
from rageval_kit.wording import in_english, say, say_count, to_say

Cutoffs: TypeAlias = int | Sequence[int]
Metrics: TypeAlias = Sequence[str | Formula]

_KS = (1, 3, 5)


def hit_rate(
    all_qa: AllQA,
    results: ResultsLike,
    ks: Cutoffs = _KS,
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return whether anything relevant stands in the first k: 1 or 0. Also called Success@k.

    Args:
        all_qa, results: see `relevance_matrix`.
        ks: the cutoffs, positive integers.
        k: another name for ks.
        policies: ``no_relevant``, ``duplicates``, ``gain``, see `Policies`.

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
    return per_query(all_qa, results, ks, ["HitRate"], k, **policies)


def mrr(
    all_qa: AllQA,
    results: ResultsLike,
    ks: Cutoffs = _KS,
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
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
    return per_query(all_qa, results, ks, ["RR"], k, **policies)


def ndcg(
    all_qa: AllQA,
    results: ResultsLike,
    ks: Cutoffs = _KS,
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
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
    return per_query(all_qa, results, ks, ["nDCG"], k, **policies)


def precision(
    all_qa: AllQA,
    results: ResultsLike,
    ks: Cutoffs = _KS,
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return the relevant documents in the first k, divided by k, also when fewer than k came back.

    Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> precision(all_qa, {"q01": [{"doc_id": "doc_001"}]}, ks=(1, 10))
              Precision@1  Precision@10
    query_id
    q01               1.0           0.1
    """
    return per_query(all_qa, results, ks, ["Precision"], k, **policies)


def recall(
    all_qa: AllQA,
    results: ResultsLike,
    ks: Cutoffs = _KS,
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return the relevant documents in the first k, divided by all that the corpus has.

    Arguments and the form of the result are those of `hit_rate`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> recall(all_qa, {"q01": [{"doc_id": "doc_001"}]}, ks=(1, 10))
              Recall@1  Recall@10
    query_id
    q01            0.5        0.5
    """
    return per_query(all_qa, results, ks, ["Recall"], k, **policies)


def per_query(
    all_qa: AllQA,
    results: ResultsLike,
    ks: Cutoffs = _KS,
    metrics: Metrics = THE_FIVE,
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return several metrics at once: a row a query, a column a metric and cutoff, ``nDCG@5``.

    Args:
        all_qa, results: see `relevance_matrix`.
        ks: the cutoffs of every metric that is named without one.
        metrics: names, with a cutoff of their own (``"nDCG@10"``) or without. There are HitRate,
            RR, nDCG, Precision, Recall, AP, R-precision (no cutoff), F1, ERR, RBP (``RBP(p=0.8)``),
            Judged (the share that someone judged of what came back) and Unique (the number of
            different documents; not 0..1). A function of yours stands under its own name: it takes
            a `Relevance` and returns numerator and denominator at every rank, or one array.
        k: another name for ks.
        policies: ``no_relevant``, ``duplicates``, ``gain``, see `Policies`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002"}, {"doc_id": "doc_001"}]}
    >>> per_query(all_qa, results, metrics=["AP@2", "R-precision", "F1@2"]).round(3)
              AP@2  R-precision   F1@2
    query_id
    q01        0.5          0.0  0.667
    """
    columns = as_columns(metrics, _chosen(ks, k))
    matrix = matrix_for(columns, read_judgements(all_qa), results, policies)
    values = values_of(columns, matrix)
    table = pd.DataFrame(values, index=matrix.labels, columns=[c.label for c in columns])
    table.attrs = what_was_decided(matrix, results)
    return table


def evaluate(
    all_qa: AllQA,
    results: ResultsLike,
    ks: Cutoffs = _KS,
    metrics: Metrics = THE_FIVE,
    average: Literal["macro", "pooled"] = "macro",
    k: Cutoffs | None = None,
    **policies: Unpack[Policies],
) -> pd.DataFrame:
    """Return averages over the evaluated queries: a row a metric, a column a cutoff.

    Args:
        all_qa, results, ks, metrics, k, policies: see `per_query`. The average of RR is called MRR,
            that of AP MAP. R-precision stands in a column ``"R"``. A cell that was not asked for is
            NaN.
        average: ``"macro"`` is the mean over queries; ``"pooled"`` (micro) the sum of the
            numerators over the sum of the denominators, so that a query weighs as much as it has
            relevant documents.

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
    if not isinstance(average, str) or average not in ("macro", "pooled"):
        raise ValueError(f'average={shown(average)} is not known. Choose "macro" or "pooled".')
    columns = as_columns(metrics, _chosen(ks, k))
    matrix = matrix_for(columns, read_judgements(all_qa), results, policies)
    summary = summarise(columns, matrix, average)
    summary.attrs = what_was_decided(matrix, results) | {"average": average}

    # What cannot be, where looking is cheap; check_results looks for more.
    with in_english():
        findings = [*same_ranking(matrix.found, matrix.query_ids)]
        if matrix.policies["duplicates"] != "position":
            findings += score_findings(summary)
    warn_of(findings)
    _warn_of_repeats(matrix)
    return summary


def caption(table: pd.DataFrame) -> str:
    """Say in one line, to put under a table or figure, how its numbers were made.

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": ["D1"]},
    ...           {"query_id": "q2", "relevant_doc_ids": []}]
    >>> print(caption(evaluate(all_qa, {"q1": [{"doc_id": "D1"}], "q2": [{"doc_id": "D1"}]})))
    Macro average over 1 query; 1 excluded (no relevant document); a repeated document is refused;
    linear gain.

    Raises:
        TypeError: it is no table.
        ValueError: the table does not come from the kit, or lost its ``attrs`` on the way.
    """
    decided = getattr(table, "attrs", None)
    if decided is None:
        raise wrong_type("table", "what evaluate or per_query returned", table)
    needed = {"evaluated", "without_relevant", "index", *Policies.__annotations__}
    texts = {"no_relevant": TREATMENT, "duplicates": _REPEATS, "gain": _GAINS}
    if not needed <= decided.keys() or any(decided[name] not in texts[name] for name in texts):
        wanted = "pass what evaluate or per_query returned, unchanged"
        raise ValueError(f"This table has no attrs of the kit: {wanted}.")

    queries, n_without = say_count(decided["evaluated"], "query"), decided["without_relevant"]
    treated = say(TREATMENT[decided["no_relevant"]])
    parts = [
        say(_AVERAGES[decided.get("average", "")], queries=queries),
        say("{n:,} {treated} (no relevant document)", n=n_without, treated=treated),
        say(_REPEATS[decided["duplicates"]]),
        say(_GAINS[decided["gain"]]),
    ]
    # Of a comparison each run's, unless all searched one.
    indexes = decided.get("indexes", {})
    if len(set(indexes.values())) < 2:
        indexes = {"": decided["index"]}
    named = [f"{run} {index[:8]}".strip() for run, index in indexes.items() if index]
    if named:
        parts.append(say("index {indexes}", indexes=", ".join(named)))
    return "; ".join(parts) + "."


# What each policy does with a query that has no relevant document.
TREATMENT = {
    "exclude": to_say("excluded"),
    "zero": to_say("counted as 0"),
    "one": to_say("counted as 1"),
    "error": to_say("refused"),
}

# What else a caption says, by what was chosen.
_AVERAGES = {
    "macro": to_say("Macro average over {queries}"),
    "pooled": to_say("Pooled average over {queries}"),
    "": to_say("{queries} evaluated"),
}
_REPEATS = {
    "error": to_say("a repeated document is refused"),
    "unique": to_say("a repeated document is counted once"),
    "position": to_say("a repeated document is counted in every slot"),
}
_GAINS = {"linear": to_say("linear gain"), "exponential": to_say("exponential gain")}


# ---------------------------------------------------------------- from names to columns


class Column(NamedTuple):
    """A metric at a cutoff; R-precision has the cutoff "R"."""

    metric: Metric
    cutoff: int | Literal["R"]
    parameters: tuple[tuple[str, float], ...] = ()

    @property
    def name(self) -> str:
        """The metric as its name writes it, with the parameters: ``RBP(p=0.8)``."""
        given = ",".join(f"{key}={value:g}" for key, value in self.parameters)
        return f"{self.metric.name}({given})" if given else self.metric.name

    @property
    def label(self) -> str:
        """The column's name in the table of queries, such as ``nDCG@10``."""
        return self.name if self.cutoff == "R" else f"{self.name}@{self.cutoff}"

    @property
    def name_of_mean(self) -> str:
        """The row's name in a table of means, such as ``MRR``."""
        return self.metric.mean or self.name

    @property
    def label_of_mean(self) -> str:
        """The name of the mean at its cutoff, such as ``MRR@10``."""
        return self.name_of_mean if self.cutoff == "R" else f"{self.name_of_mean}@{self.cutoff}"


def _chosen(ks: Cutoffs, k: Cutoffs | None) -> Cutoffs:
    """Return the cutoffs, whichever of the two names they were given by."""
    if k is not None and ks is not _KS:
        raise ValueError("k and ks are two names of one thing: give one of them.")
    return ks if k is None else k


def as_columns(metrics: Metrics, ks: Cutoffs) -> list[Column]:
    """Return the columns that metrics and cutoffs name, each once."""
    if not is_list(metrics):
        raise wrong_type("metrics", 'a list of names such as ["nDCG@10", "Recall"]', metrics)
    cutoffs = _cutoffs(ks)
    named = [column for metric in metrics for column in _columns_of(metric, cutoffs)]
    columns = list(dict.fromkeys(named))
    if not columns:
        raise ValueError('metrics is empty: name at least one, such as ["nDCG@10"].')
    labels = pd.Index([column.label for column in columns])
    if not labels.is_unique:
        twice = labels[labels.duplicated()][0]
        raise ValueError(f"Two different metrics are called {twice}: rename your function.")
    return columns


def _columns_of(metric: str | Formula, cutoffs: Sequence[int]) -> list[Column]:
    if callable(metric):
        if not hasattr(metric, "__name__"):
            raise TypeError(f"The metric {shown(metric)} has no name for its column: use def.")
        own = Metric(metric.__name__, metric, own_words, is_share=False)
        return [Column(own, k) for k in cutoffs]
    if not isinstance(metric, str):
        raise TypeError(f'A metric is a name ("nDCG@10") or a function, found {shown(metric)}.')

    named = find_metric(metric)
    if not named.metric.has_cutoff:
        return [Column(named.metric, "R")]
    its_own = [as_cutoff(int(named.cutoff[:20]), metric)] if named.cutoff else cutoffs
    return [Column(named.metric, k, tuple(named.parameters.items())) for k in its_own]


def _cutoffs(ks: Cutoffs) -> list[int]:
    several = list(ks) if is_list(ks) else [ks]  # type: ignore[arg-type]
    cutoffs = list(dict.fromkeys(as_cutoff(k) for k in several))
    if not cutoffs:
        raise ValueError("ks is empty: give at least one cutoff, such as ks=(1, 3, 5).")
    return cutoffs


# ---------------------------------------------------------------- from columns to numbers


def matrix_for(
    columns: Sequence[Column], judged: Judgements, results: ResultsLike, policies: Policies
) -> Relevance:
    """Return the relevance matrix, as deep as the deepest column needs."""
    cutoffs = [column.cutoff for column in columns if column.cutoff != "R"]
    depth = max(cutoffs, default=1)
    if len(cutoffs) < len(columns):
        depth = max(depth, int(judged.n_relevant.max(initial=1)))
    return match(judged, results, depth, cutoffs, policies)


def values_of(columns: Sequence[Column], matrix: Relevance) -> np.ndarray:
    """Return the value of every query and column: (n, columns), NaN where a policy excludes."""
    numerators, denominators = fractions_of(columns, matrix)
    nothing = np.zeros(numerators.shape)
    values = np.divide(numerators, denominators, out=nothing, where=denominators > 0)
    needs_relevant = [column.metric.needs_relevant for column in columns]
    return np.where(needs_relevant, matrix.apply_no_relevant(values), values)


def summarise(
    columns: Sequence[Column], matrix: Relevance, average: Literal["macro", "pooled"] = "macro"
) -> pd.DataFrame:
    """Return the averages: a row a metric, a column a cutoff."""
    if average == "macro":
        means = [pd.Series(values).mean() for values in values_of(columns, matrix).T]
    else:
        means = _pooled(columns, matrix)

    rows = pd.Index(dict.fromkeys(column.name_of_mean for column in columns), name="metric")
    cutoffs = pd.Index(list(dict.fromkeys(column.cutoff for column in columns)), name="k")
    summary = pd.DataFrame(np.nan, index=rows, columns=cutoffs)
    for column, mean in zip(columns, means, strict=True):
        summary.loc[column.name_of_mean, column.cutoff] = mean
    return summary


def fractions_of(columns: Sequence[Column], matrix: Relevance) -> tuple[np.ndarray, np.ndarray]:
    """Return the numerators and the denominators of every query and column: (n, columns) each."""
    # Each formula is worked out once, for all cutoffs.
    formulas = {column.name: column for column in columns}
    at_ranks = {name: _at_every_rank(column, matrix) for name, column in formulas.items()}

    # A column takes what stands at its cutoff; R-precision has looked at all ranks.
    numerators, denominators = [], []
    for column in columns:
        cutoff = matrix.ranks[-1] if column.cutoff == "R" else column.cutoff
        place = np.searchsorted(matrix.ranks, cutoff)
        numerators.append(at_ranks[column.name][0][:, place])
        denominators.append(at_ranks[column.name][1][:, place])
    return np.column_stack(numerators), np.column_stack(denominators)


def _at_every_rank(column: Column, matrix: Relevance) -> tuple[np.ndarray, np.ndarray]:
    """Return what the formula gives: numerator and denominator, both (n, K)."""
    given = column.metric.formula(matrix, **dict(column.parameters))
    numerator, denominator = given if isinstance(given, tuple) and len(given) == 2 else (given, 1.0)

    # One of the user's may have any shape.
    shape = matrix.grades.shape
    try:
        if np.shape(numerator) != shape:
            raise ValueError(f"an array of shape {np.shape(numerator)}")
        denominators = np.broadcast_to(np.asarray(denominator, dtype=float), shape)
        return np.asarray(numerator, dtype=float), denominators
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{column.name} must return an array of shape {shape}, a row a query and a column "
            f"a rank, and a denominator for it if there is one; found: {error}."
        ) from error


def _pooled(columns: Sequence[Column], matrix: Relevance) -> list[float]:
    """Return the sum of the numerators over the sum of the denominators, for each column."""
    if matrix.policies["no_relevant"] in ("zero", "one"):
        wanted = 'no_relevant="exclude" or "error"'
        raise ValueError(f"A pooled average sums over relevant documents: it needs {wanted}.")
    numerators, denominators = fractions_of(columns, matrix)
    means = []
    for place, column in enumerate(columns):
        rows = matrix.n_relevant > 0 if column.metric.needs_relevant else slice(None)
        total = denominators[rows, place].sum()
        means.append(float(numerators[rows, place].sum() / total) if total else float("nan"))
    return means


def _warn_of_repeats(matrix: Relevance) -> None:
    """Warn where repeats leave fewer different documents than ranks."""
    k = int(matrix.ranks[-1])
    unique = matrix.new.sum(axis=1)
    short = int(((matrix.n_repeats > 0) & (unique < k)).sum())
    if short:
        warn_user(
            f"fewer than {k} different documents in the first {k} for {count(short, 'query')} "
            f"(mean over all: {unique.mean():.2f}): repeats take the places. "
            "Drop copies before indexing, or search deeper and fold."
        )


def what_was_decided(matrix: Relevance, results: ResultsLike) -> dict[Any, Any]:
    """Return the policies, the counts of queries and the index, to travel with the numbers."""
    without = int((matrix.n_relevant == 0).sum())
    excluded = without if matrix.policies["no_relevant"] == "exclude" else 0
    return {
        **dict(matrix.policies),
        "evaluated": len(matrix.query_ids) - excluded,
        "excluded": excluded,
        "without_relevant": without,
        "index": knowledge(results).get("index"),
    }
