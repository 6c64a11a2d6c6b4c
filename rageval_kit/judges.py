"""Do two judges agree? People and models, over verdicts on answers or grades of documents."""

from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.answers import refuse_repeats
from rageval_kit.comparison import as_generator, resampled_means
from rageval_kit.documents import refuse_odd_columns
from rageval_kit.judgements import refuse_strange_pairs
from rageval_kit.messages import wrong_type

VERDICTS = ("correct", "partly", "wrong")

_RESAMPLES = 2_000
_WANTED = "a table with verdict (a row a query), or with query_id, doc_id and grade"


def judge_agreement(one: pd.DataFrame, other: pd.DataFrame, seed: int = 0) -> pd.Series:
    """Return how far two judges agree, with Cohen's kappa, its interval, and where they differ.

    Kappa (Cohen, 1960) is agreement beyond chance: 1 full, 0 as by chance. Its 95 % interval is a
    percentile bootstrap over queries, since the documents of one query are not judged independently
    of each other. NaN where both judges gave one verdict throughout.

    Args:
        one, other: verdicts, a row a query, as `judge_answers` returns them; or grades, a row a
            query and document (``query_id, doc_id, grade``), from `load_judged`,
            `judge_relevance` or a form.
        seed: of the random numbers of the interval.

    Returns:
        * ``n``: what both judged; ``left_out``: what one of them left open, or unreadable;
        * ``agreement``: the share of equal verdicts;
        * ``kappa``, ``kappa_low``, ``kappa_high``;
        * ``weighted_kappa``, of grades: 3 against 1 counts twice as much as 3 against 2 (linear);
        * ``differ``: the queries in which they differ, the farthest apart first.

    >>> one = pd.DataFrame({"verdict": ["correct", "wrong", "wrong", "correct"]})
    >>> other = pd.DataFrame({"verdict": ["correct", "wrong", "correct", "correct"]})
    >>> agreement = judge_agreement(one, other)
    >>> agreement["kappa"], agreement["differ"]
    (0.5, [2])

    Raises:
        ValueError: the judges have nothing in common, or one judged the same twice.
        TypeError: a table has another form, or one has verdicts and the other grades.
    """
    rng = as_generator(seed)
    (kind, ours), (its_kind, theirs) = _read(one, "one"), _read(other, "other")
    if kind != its_kind:
        raise wrong_type("other", f"a table with {kind}s, as one is", other)

    # Compared is what both judged, and both with a verdict.
    common = ours.index.intersection(theirs.index, sort=False)
    if common.empty:
        raise ValueError(f"The two judges have no {_unit(kind)} in common.")
    ours, theirs = ours[common], theirs[common]
    readable = (ours.notna() & theirs.notna()).to_numpy()
    ours, theirs, common = ours[readable], theirs[readable], common[readable]

    # A table of counts a query: how often one judge said this and the other that.
    scale = sorted({*ours, *theirs})
    rows, query_ids = pd.factorize(common.get_level_values(0))
    counts = np.zeros((len(query_ids), len(scale), len(scale)))
    for row, one_says, other_says in zip(rows, ours, theirs, strict=True):
        counts[row, scale.index(one_says), scale.index(other_says)] += 1

    whole, unlike = counts.sum(axis=0), 1 - np.eye(len(scale))
    low, high = _interval(counts, unlike, rng)
    agreement: dict[str, Any] = {
        "n": len(common),
        "left_out": int((~readable).sum()),
        "agreement": float(np.trace(whole) / len(common)) if len(common) else np.nan,
        "kappa": float(_kappa(whole, unlike)),
        "kappa_low": low,
        "kappa_high": high,
    }

    # Grades have a distance.
    if kind == "grade":
        unlike = np.abs(np.subtract.outer(scale, scale)).astype(float)
        agreement["weighted_kappa"] = float(_kappa(whole, unlike))
    apart = (counts * unlike).sum(axis=(1, 2))
    farthest = np.argsort(-apart, kind="stable")[: int((apart > 0).sum())]
    agreement["differ"] = [query_ids[row] for row in farthest]
    return pd.Series(agreement, dtype=object)


def _unit(kind: str) -> str:
    return "query" if kind == "verdict" else "query and document"


def _read(table: Any, name: str) -> tuple[str, pd.Series]:
    """Return what a table holds, verdicts or grades, and each by what was judged; NaN for none."""
    if not isinstance(table, pd.DataFrame):
        raise wrong_type(name, _WANTED, table)
    refuse_odd_columns(table, name)
    if "verdict" in table:
        refuse_repeats(table.index, f"{name}: a query")
        return "verdict", table["verdict"].where(table["verdict"].isin(VERDICTS))

    # A grade is one of a query and a document.
    if not {"query_id", "doc_id", "grade"} <= set(table):
        raise wrong_type(
            name, f"{_WANTED} (found {', '.join(map(str, table)) or 'no column'})", table
        )
    refuse_strange_pairs(table, name)
    grades = table.set_index(["query_id", "doc_id"])["grade"]
    refuse_repeats(grades.index, f"{name}: a query and document")
    if not (pd.api.types.is_numeric_dtype(grades) or grades.isna().all()):
        raise TypeError(f"{name}: grade must be numbers, found {grades.dtype}. Use pd.to_numeric.")
    return "grade", grades


def _kappa(counts: np.ndarray, unlike: np.ndarray) -> np.ndarray:
    """Return kappa of tables of counts, (..., n, n); ``unlike``: how much each cell disagrees."""
    shares = counts / np.maximum(counts.sum(axis=(-2, -1), keepdims=True), 1e-300)
    by_chance = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
    seen, expected = (np.sum(unlike * cells, axis=(-2, -1)) for cells in (shares, by_chance))
    nothing = np.full(np.shape(expected), np.nan)
    return 1 - np.divide(seen, expected, out=nothing, where=expected > 0)


def _interval(
    counts: np.ndarray, unlike: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the limits of kappa over queries drawn anew; NaN for fewer than two queries."""
    if len(counts) < 2:
        return np.nan, np.nan
    drawn = resampled_means(counts.reshape(len(counts), -1), _RESAMPLES, rng)
    kappas = _kappa(drawn.reshape(-1, *unlike.shape), unlike)
    # Where all that was drawn had one verdict, kappa says nothing.
    kappas = kappas[~np.isnan(kappas)]
    low, high = np.percentile(kappas, [2.5, 97.5]) if kappas.size else (np.nan, np.nan)
    return float(low), float(high)
