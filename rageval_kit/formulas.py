"""The metrics, an entry each: the formula, its words, and what is known of it.

A formula takes the relevance matrix and returns the metric at every cutoff at once. For n queries
and K ranks that is a numerator and a denominator of shape (n, K), or what broadcasts to it: the
value at a cutoff is in the column of that rank, and it is 0 where the denominator is 0. An array
alone is a numerator.

To add a metric, write a formula, the words that `explain` says, and an entry in `METRICS`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rageval_kit.messages import shown
from rageval_kit.relevance import Relevance
from rageval_kit.wording import say, say_some, to_say

Fraction: TypeAlias = tuple[np.ndarray, np.ndarray | float]
Formula: TypeAlias = Callable[..., Fraction | np.ndarray]


class Cell(NamedTuple):
    """One query at one cutoff: what the words of a metric are filled in with.

    Attributes:
        label: the column, such as ``nDCG@10``.
        k: the cutoff; for R-precision the number of relevant documents.
        docs: the doc_ids of the first k hits.
        grades, gains, ideal, judged, new: of ranks 1 to k, see `Relevance`.
        relevant: the relevant documents of the whole corpus.
        best_grade: the highest grade of all_qa.
        numerator, denominator: what the formula gave.
    """

    label: str
    k: int
    docs: list[Any]
    grades: np.ndarray
    gains: np.ndarray
    ideal: np.ndarray
    judged: np.ndarray
    new: np.ndarray
    relevant: list[Any]
    best_grade: float
    numerator: float
    denominator: float

    @property
    def hit_ranks(self) -> list[int]:
        """The ranks of the relevant documents."""
        return [int(rank) for rank in np.flatnonzero(self.grades > 0) + 1]


# More columns for the ranking, and the lines; the last one gets "= value" behind it.
Arithmetic: TypeAlias = tuple[Mapping[str, np.ndarray], list[str]]


@dataclass(frozen=True)
class Metric:
    """What is known of a metric.

    Attributes:
        name: as the field writes it; with a cutoff it is a column, ``nDCG@10``.
        formula: from the relevance matrix (and the parameters) to numerator and denominator.
        words: from a `Cell` (and the parameters) to the arithmetic that `explain` shows.
        mean: the field's own name for its mean over queries, where it has one.
        aliases: what other tools call it.
        rises: whether it can only rise with the cutoff.
        is_share: whether it lies within 0..1.
        needs_relevant: whether it is undefined for a query without a relevant document.
        has_cutoff: whether it is taken at a cutoff; R-precision is not.
        parameters: numbers that stand in the name, ``RBP(p=0.8)``, with their defaults.
    """

    name: str
    formula: Formula
    words: Callable[..., Arithmetic]
    mean: str = ""
    aliases: tuple[str, ...] = ()
    rises: bool = False
    is_share: bool = True
    needs_relevant: bool = True
    has_cutoff: bool = True
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)


# ---------------------------------------------------------------- was something found, how soon


def _hit_rate(m: Relevance) -> Fraction:
    """Say whether anything relevant has come by rank k."""
    return np.maximum.accumulate(m.hits, axis=1).astype(float), 1.0


def _hit_rate_words(cell: Cell) -> Arithmetic:
    if cell.hit_ranks:
        ranks = say_some(cell.hit_ranks)
        first = say("relevant documents in the first {k}: at rank {ranks}", k=cell.k, ranks=ranks)
    else:
        first = say("relevant documents in the first {k}: nowhere", k=cell.k)
    return {}, [first, say("{label}, 1 if there is one, else 0", label=cell.label)]


def _rr(m: Relevance) -> Fraction:
    """Take the largest 1 / rank of a relevant document: that of the first."""
    return np.maximum.accumulate(m.hits / m.ranks, axis=1), 1.0


def _rr_words(cell: Cell) -> Arithmetic:
    if not cell.hit_ranks:
        return {}, [say("no relevant document in the first {k}", k=cell.k), cell.label]
    line = say(
        "{label} = 1 / rank of the first relevant document = 1 / {first}",
        label=cell.label,
        first=cell.hit_ranks[0],
    )
    return {}, [line]


# ---------------------------------------------------------------- is the whole ranking good


def _ndcg(m: Relevance) -> Fraction:
    """Divide the discounted gain of the ranking by that of the ideal ranking."""
    discount = 1 / np.log2(m.ranks + 1)
    return np.cumsum(m.gains * discount, axis=1), np.cumsum(m.ideal * discount, axis=1)


def _ndcg_words(cell: Cell) -> Arithmetic:
    discount = 1 / np.log2(np.arange(len(cell.gains)) + 2)
    dcg, idcg = f"{cell.numerator:.4g}", f"{cell.denominator:.4g}"
    return {"discount": discount, "gain x discount": cell.gains * discount}, [
        "discount = 1 / log2(rank + 1)",
        f"DCG@{cell.k} = {_products(cell.gains, discount)} = {dcg}",
        say(
            "IDCG@{k}: all relevant documents of the corpus on the first ranks = {sum} = {idcg}",
            k=cell.k,
            sum=_products(cell.ideal, discount),
            idcg=idcg,
        ),
        f"{cell.label} = DCG@{cell.k} / IDCG@{cell.k} = {dcg} / {idcg}",
    ]


def _products(gains: np.ndarray, weights: np.ndarray) -> str:
    pairs = zip(gains, weights, strict=True)
    return " + ".join(f"{gain:g} x {weight:.4g}" for gain, weight in pairs if gain > 0) or "0"


def _err(m: Relevance) -> np.ndarray:
    """Add up 1 / rank times the chance that a reader who stops when satisfied stops there."""
    _, stops = _satisfied_and_stops(m.grades, m.best_grade)
    return np.cumsum(stops / m.ranks, axis=1)


def _satisfied_and_stops(grades: np.ndarray, best_grade: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the chances that the document of each rank satisfies, and that a reader stops there.

    The scale of grades ends at the best, and as gdeval's not below 4.
    """
    top = max(best_grade, 4.0)
    satisfied = np.exp2(np.maximum(grades, 0.0) - top) - np.exp2(-top)
    reads_on = np.cumprod(1 - satisfied, axis=-1)
    arrives = np.concatenate([np.ones_like(reads_on[..., :1]), reads_on[..., :-1]], axis=-1)
    return satisfied, arrives * satisfied


def _err_words(cell: Cell) -> Arithmetic:
    satisfied, stops = _satisfied_and_stops(cell.grades, cell.best_grade)
    terms = [f"{stops[rank - 1]:.4g} / {rank}" for rank in cell.hit_ranks]
    return {"satisfied": satisfied, "stops here": stops}, [
        f"satisfied = (2 ** grade - 1) / 2 ** {max(cell.best_grade, 4.0):g}",
        say("stops here = satisfied, times the chance that no document above it satisfied"),
        say(
            "{label} = sum of stops here / rank = {sum}",
            label=cell.label,
            sum=" + ".join(terms) or "0",
        ),
    ]


def _rbp(m: Relevance, p: float) -> np.ndarray:
    """Weigh the hits by the chance p ** (rank - 1) that a reader looks so far, times 1 - p."""
    return np.asarray((1 - p) * np.cumsum(m.hits * p ** (m.ranks - 1.0), axis=1))


def _rbp_words(cell: Cell, p: float) -> Arithmetic:
    weight = p ** np.arange(len(cell.grades), dtype=float)
    terms = [f"{weight[rank - 1]:.4g}" for rank in cell.hit_ranks]
    return {"weight": weight}, [
        say("weight = {p:g} ** (rank - 1): the chance that a reader looks so far", p=p),
        say(
            "{label} = (1 - {p:g}) x sum of the weights of relevant documents = "
            "{rest:.4g} x ({sum})",
            label=cell.label,
            p=p,
            rest=1 - p,
            sum=" + ".join(terms) or "0",
        ),
    ]


# ---------------------------------------------------------------- how much of what


def _precision(m: Relevance) -> Fraction:
    """Divide the relevant documents in the first k by k."""
    return np.cumsum(m.hits, axis=1), m.ranks


def _precision_words(cell: Cell) -> Arithmetic:
    found = len(cell.hit_ranks)
    return {}, [
        say("the denominator is k = {k}, also where fewer hits came back", k=cell.k),
        say(
            "{label} = relevant in the first {k} / k = {found} / {k}",
            label=cell.label,
            k=cell.k,
            found=found,
        ),
    ]


def _recall(m: Relevance) -> Fraction:
    """Divide the relevant documents in the first k by all relevant documents."""
    return np.cumsum(m.hits, axis=1), m.n_relevant[:, None]


_ALL_RELEVANT = to_say(
    "the denominator is every relevant document of the corpus, found or not: {relevant}"
)


def _recall_words(cell: Cell) -> Arithmetic:
    found, relevant = len(cell.hit_ranks), len(cell.relevant)
    return {}, [
        say(_ALL_RELEVANT, relevant=relevant),
        say(
            "{label} = relevant in the first {k} / all relevant = {found} / {relevant}",
            label=cell.label,
            k=cell.k,
            found=found,
            relevant=relevant,
        ),
    ]


def _average_precision(m: Relevance) -> Fraction:
    """Add up the precision at each relevant rank, and divide by all relevant documents."""
    precision_at_rank = np.cumsum(m.hits, axis=1) / m.ranks
    return np.cumsum(m.hits * precision_at_rank, axis=1), m.n_relevant[:, None]


def _average_precision_words(cell: Cell) -> Arithmetic:
    found = np.cumsum(cell.grades > 0)
    precision_at_rank = found / np.arange(1, len(found) + 1)
    terms = [f"{n}/{rank}" for n, rank in enumerate(cell.hit_ranks, start=1)]
    relevant = len(cell.relevant)
    return {"precision at rank": precision_at_rank}, [
        say(_ALL_RELEVANT, relevant=relevant),
        say(
            "{label} = sum of the precision at each relevant rank / all relevant "
            "= ({sum}) / {relevant}",
            label=cell.label,
            sum=" + ".join(terms) or "0",
            relevant=relevant,
        ),
    ]


def _r_precision(m: Relevance) -> Fraction:
    """Take the precision at rank R = |G|; the last column has looked at all R ranks."""
    in_reach = m.ranks <= m.n_relevant[:, None]
    return np.cumsum(m.hits & in_reach, axis=1), m.n_relevant[:, None]


def _r_precision_words(cell: Cell) -> Arithmetic:
    r = len(cell.relevant)
    return {}, [
        say("R is the number of relevant documents of the corpus: {r}", r=r),
        say(
            "{label} = relevant in the first R / R = {found} / {r}",
            label=cell.label,
            found=len(cell.hit_ranks),
            r=r,
        ),
    ]


def _f1(m: Relevance) -> Fraction:
    """Simplify 2 P R / (P + R), with P = hits / k and R = hits / |G|, to 2 hits / (k + |G|)."""
    return 2 * np.cumsum(m.hits, axis=1), m.ranks + m.n_relevant[:, None]


def _f1_words(cell: Cell) -> Arithmetic:
    found, relevant = len(cell.hit_ranks), len(cell.relevant)
    return {}, [
        f"Precision = {found} / {cell.k}, Recall = {found} / {relevant}",
        f"{cell.label} = 2 x Precision x Recall / (Precision + Recall) "
        f"= 2 x {found} / ({cell.k} + {relevant})",
    ]


# ---------------------------------------------------------------- what came back


def _judged(m: Relevance) -> Fraction:
    """Divide what someone judged by what came back, in the first k."""
    return np.cumsum(m.judged, axis=1), np.minimum(m.ranks, m.n_returned[:, None])


def _judged_words(cell: Cell) -> Arithmetic:
    judged, came = int(cell.judged.sum()), len(cell.docs)
    return {"judged": cell.judged}, [
        say("the denominator is what came back in the first {k}: {came}", k=cell.k, came=came),
        say(
            "{label} = judged / came back = {judged} / {came}",
            label=cell.label,
            judged=judged,
            came=came,
        ),
    ]


def _unique(m: Relevance) -> Fraction:
    """Count the different documents in the first k."""
    return np.cumsum(m.new, axis=1).astype(float), 1.0


def _unique_words(cell: Cell) -> Arithmetic:
    line = say("{label} = different documents in the first {k}", label=cell.label, k=cell.k)
    return {"new": cell.new}, [line]


def own_words(cell: Cell) -> Arithmetic:
    """Explain a function of the user's by what it returned."""
    line = say(
        "{label} = numerator / denominator = {numerator:g} / {denominator:g}",
        label=cell.label,
        numerator=cell.numerator,
        denominator=cell.denominator,
    )
    return {}, [line]


# ---------------------------------------------------------------- the entries

_ENTRIES = (
    Metric("HitRate", _hit_rate, _hit_rate_words, aliases=("hit", "success"), rises=True),
    Metric("RR", _rr, _rr_words, mean="MRR", aliases=("recip_rank",), rises=True),
    Metric("nDCG", _ndcg, _ndcg_words, aliases=("ndcg_cut",)),
    Metric("Precision", _precision, _precision_words, aliases=("p",)),
    Metric("Recall", _recall, _recall_words, aliases=("r",), rises=True),
    Metric("AP", _average_precision, _average_precision_words, mean="MAP", rises=True),
    Metric("R-precision", _r_precision, _r_precision_words, aliases=("rprec",), has_cutoff=False),
    Metric("F1", _f1, _f1_words),
    Metric("ERR", _err, _err_words, rises=True),
    Metric("RBP", _rbp, _rbp_words, rises=True, parameters={"p": 0.8}),
    Metric("Judged", _judged, _judged_words, needs_relevant=False),
    Metric("Unique", _unique, _unique_words, is_share=False, rises=True, needs_relevant=False),
)
METRICS = {metric.name: metric for metric in _ENTRIES}
THE_FIVE = ("HitRate", "RR", "nDCG", "Precision", "Recall")


class Named(NamedTuple):
    """What the written name of a metric says."""

    metric: Metric
    parameters: dict[str, float]
    cutoff: str


def find_metric(written: str) -> Named:
    """Take the written name of a metric apart.

    >>> named = find_metric("RBP(p=0.5)@10")
    >>> named.metric.name, named.parameters, named.cutoff
    ('RBP', {'p': 0.5}, '10')

    Raises:
        ValueError: no metric is called so, or it has no such parameter or cutoff.
    """
    name, at, cutoff = written.partition("@")
    name, _, given = name.partition("(")
    metric = next((m for m in METRICS.values() if name and name in (m.name, m.mean)), None)
    if metric is None:
        raise _unknown(written, name, at + cutoff)
    if at and not metric.has_cutoff:
        raise ValueError(
            f"{written!r}: {name} has no cutoff, its rank is the number of relevant documents."
        )
    if at and not (cutoff.isascii() and cutoff.isdecimal()):
        raise ValueError(f"{shown(written)}: a positive integer goes behind the @, as in nDCG@10.")

    parameters = dict(metric.parameters)
    for part in given.removesuffix(")").split(",") if given else ():
        key, _, value = part.partition("=")
        if key not in parameters or not re.fullmatch(r"0?\.\d+", value) or float(value) == 0:
            takes = ", ".join(f"{key} between 0 and 1" for key in parameters) or "no parameter"
            raise ValueError(f"{shown(written)}: {name} takes {takes}; write RBP(p=0.8).")
        parameters[key] = float(value)
    return Named(metric, parameters, cutoff)


def _unknown(written: str, name: str, at_cutoff: str) -> ValueError:
    known: dict[str, str] = {}
    for metric in METRICS.values():
        names = (metric.name, metric.mean, *metric.aliases)
        known |= {alias.lower(): metric.name for alias in names}
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f" Did you mean {known[near[0]]}{at_cutoff}?" if near else ""
    there = ", ".join(METRICS)
    return ValueError(f"No metric is called {shown(written)}.{hint} There are: {there}.")
