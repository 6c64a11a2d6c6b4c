"""The formulas: each takes the relevance matrix and returns the metric at every cutoff at once.

For n queries and K ranks that is a numerator and a denominator of shape (n, K), or what broadcasts
to it: the value at cutoff k is in column k - 1, and it is 0 where the denominator is 0.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from rageval_kit.relevance import Relevance

Fraction: TypeAlias = tuple[np.ndarray, np.ndarray | float]
Formula: TypeAlias = Callable[[Relevance], Fraction]


def hit_rate_formula(m: Relevance) -> Fraction:
    """Say whether anything relevant has come by rank k."""
    return np.maximum.accumulate(m.hits, axis=1).astype(float), 1.0


def reciprocal_rank_formula(m: Relevance) -> Fraction:
    """Take the largest 1 / rank of a relevant document: that of the first."""
    return np.maximum.accumulate(m.hits / m.ranks, axis=1), 1.0


def ndcg_formula(m: Relevance) -> Fraction:
    """Divide the discounted gain of the ranking by that of the ideal ranking."""
    discount = 1 / np.log2(m.ranks + 1)
    return np.cumsum(m.gains * discount, axis=1), np.cumsum(m.ideal * discount, axis=1)


def precision_formula(m: Relevance) -> Fraction:
    """Divide the relevant documents in the first k by k."""
    return np.cumsum(m.hits, axis=1), m.ranks


def recall_formula(m: Relevance) -> Fraction:
    """Divide the relevant documents in the first k by all relevant documents."""
    return np.cumsum(m.hits, axis=1), m.n_relevant[:, None]


def average_precision_formula(m: Relevance) -> Fraction:
    """Add up the precision at the rank of each relevant document, and divide by all relevant documents."""
    precision_at_rank = np.cumsum(m.hits, axis=1) / m.ranks
    return np.cumsum(m.hits * precision_at_rank, axis=1), m.n_relevant[:, None]


def r_precision_formula(m: Relevance) -> Fraction:
    """Take the precision at rank R = |G|; the last column has looked at all R ranks."""
    return np.cumsum(m.hits & (m.ranks <= m.n_relevant[:, None]), axis=1), m.n_relevant[:, None]


def f1_formula(m: Relevance) -> Fraction:
    """Simplify 2 P R / (P + R), with P = hits / k and R = hits / |G|, to 2 hits / (k + |G|)."""
    return 2 * np.cumsum(m.hits, axis=1), m.ranks + m.n_relevant[:, None]


def judged_formula(m: Relevance) -> Fraction:
    """Divide what someone judged by what came back, in the first k."""
    return np.cumsum(m.judged, axis=1), np.minimum(m.ranks, m.n_returned[:, None])


def unique_formula(m: Relevance) -> Fraction:
    """Count the different documents in the first k."""
    return np.cumsum(m.new, axis=1).astype(float), 1.0


FORMULAS: dict[str, Formula] = {
    "HitRate": hit_rate_formula,
    "RR": reciprocal_rank_formula,
    "nDCG": ndcg_formula,
    "Precision": precision_formula,
    "Recall": recall_formula,
    "AP": average_precision_formula,
    "R-precision": r_precision_formula,
    "F1": f1_formula,
    "Judged": judged_formula,
    "Unique": unique_formula,
}
THE_FIVE = ("HitRate", "RR", "nDCG", "Precision", "Recall")
# The field has a name of its own for the mean of these over queries.
NAMES_OF_MEANS = {"RR": "MRR", "AP": "MAP"}
# Nothing about these hangs on the relevant documents, so no query is left out.
ALWAYS_DEFINED = ("Judged", "Unique")
