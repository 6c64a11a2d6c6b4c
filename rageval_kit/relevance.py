"""Results x all_qa -> one relevance matrix. Every policy lives here.

The matrix has a row a query, a column a rank, and in the cell the gain of the document that the
search put there: its grade if it is relevant, else 0. Every metric is a line or two on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np
import pandas as pd

from rageval_kit.inputs import (
    Hits,
    Judgements,
    ResultsLike,
    ranks_in_blocks,
    read_hits,
    read_judgements,
    refuse_confusable,
    refuse_other_types,
)
from rageval_kit.messages import as_cutoff, name_some
from rageval_kit.records import Records

NoRelevant: TypeAlias = Literal["exclude", "zero", "one", "error"]
Duplicates: TypeAlias = Literal["error", "unique", "position"]
Gain: TypeAlias = Literal["linear", "exponential"]


class Policies(TypedDict, total=False):
    """What to do where the field does not agree; keyword arguments of every metric function.

    no_relevant: a query with no relevant document is ``"exclude"`` (default) NaN, left out of the
        mean and counted as excluded; ``"zero"`` 0; ``"one"`` 1; ``"error"`` refused.
    duplicates: the same doc_id twice among the first max(ks) hits of a query is ``"error"``
        (default) refused; ``"unique"`` folded: the first stays and the gap is closed;
        ``"position"`` counted in every slot, which inflates the scores, and exists to show it.
    gain: what a relevant document of grade g is worth to nDCG: ``"linear"`` (default, trec_eval's) g;
        ``"exponential"`` 2 ** g - 1. With binary relevance both are 1.
    """

    no_relevant: NoRelevant
    duplicates: Duplicates
    gain: Gain


_DEFAULTS = Policies(no_relevant="exclude", duplicates="error", gain="linear")
_CHOICES: dict[str, tuple[str, ...]] = {
    "no_relevant": get_args(NoRelevant),
    "duplicates": get_args(Duplicates),
    "gain": get_args(Gain),
}


@dataclass(frozen=True)
class Relevance:
    """The relevance matrix and what a metric needs beside it; n queries, K ranks.

    Attributes:
        query_ids: the queries, in the order of all_qa: n.
        gains: the gain of the document at each rank, 0 if it is not relevant: (n, K).
        ideal: the gains of the relevant documents of the whole corpus, best first, then 0: (n, K).
        judged: whether all_qa has a grade for the document at each rank, if only 0: (n, K) of bool.
        new: whether a document stands at each rank that stood at none before: (n, K) of bool.
        n_relevant: how many relevant documents each query has in the whole corpus: n.
        n_returned: how many of the first K ranks hold a document: n.
        n_repeats: how many hits were a document that stood before, folded away or counted again: n.
        policies: the policies that applied.
    """

    query_ids: pd.Index
    gains: np.ndarray
    ideal: np.ndarray
    judged: np.ndarray
    new: np.ndarray
    n_relevant: np.ndarray
    n_returned: np.ndarray
    n_repeats: np.ndarray
    policies: Policies

    @property
    def hits(self) -> np.ndarray:
        """Whether the document at each rank is relevant: (n, K) of bool."""
        return self.gains > 0

    @property
    def ranks(self) -> np.ndarray:
        """The ranks 1, 2, ..., K."""
        return np.arange(1, self.gains.shape[1] + 1)

    @property
    def labels(self) -> pd.Index:
        """The query_ids as the index of a table, in pandas' own type of text."""
        return pd.Index(self.query_ids.tolist(), name="query_id")

    def apply_no_relevant(self, values: np.ndarray) -> np.ndarray:
        """Return values (n, ...) with the policy's value in the rows of queries without a relevant document."""
        fill = {"exclude": np.nan, "zero": 0.0, "one": 1.0, "error": np.nan}[
            self.policies["no_relevant"]
        ]
        without = (self.n_relevant == 0).reshape(-1, *[1] * (values.ndim - 1))
        return np.where(without, fill, values)

    def to_frame(self) -> pd.DataFrame:
        """Return the gains as a table: a row a query, a column a rank."""
        return pd.DataFrame(
            self.gains, index=self.labels, columns=pd.Index(self.ranks, name="rank")
        )


def relevance_matrix(all_qa: Records, results: ResultsLike, k: int, **policies: Any) -> Relevance:
    """Mark each of the first k hits of every query with its gain.

    Args:
        all_qa: dicts with ``query_id`` and ``relevant_doc_ids`` (a list, or doc_id -> grade), or a
            DataFrame of them, or of qrels: ``query_id, doc_id`` and, where graded, ``relevance``.
            A grade of 0 or less is judged and not relevant.
        results: ``{query_id: [hit, ...]}`` in ranked order, or a DataFrame ``query_id, doc_id`` with
            ``rank`` (from 1) or ``score`` (higher is better; equal scores by doc_id descending).
        k: the number of ranks K; hits beyond it are not looked at.
        policies: see `Policies`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> results = {"q01": [{"doc_id": "doc_001"}, {"doc_id": "doc_002"}, {"doc_id": "doc_004"}]}
    >>> relevance_matrix(all_qa, results, k=3).gains
    array([[1., 0., 1.]])

    A query of all_qa without results has a row of 0 and is named in a warning; results of a query
    that is not in all_qa are left out and named.

    Raises:
        ValueError: a query_id twice, what a policy refuses, ids that differ only by Unicode form,
            a NaN score, k not a positive integer.
        KeyError: a field or column is missing.
        TypeError: a field has the wrong form, or ids are texts on one side and integers on the other.
    """
    k = as_cutoff(k)
    chosen = _complete(policies)
    judged = read_judgements(all_qa)
    found = read_hits(results, judged, depth=None if chosen["duplicates"] == "unique" else k)
    refuse_other_types(judged.docs, found.docs, "relevant_doc_ids", "doc_id")
    judged_keys, hit_keys = _pair_keys(judged, found)
    _refuse_repeated_judgements(judged, judged_keys)
    n = len(judged.query_ids)
    repeated = pd.Index(hit_keys).duplicated()
    n_repeats = np.bincount(found.rows[repeated], minlength=n)
    if chosen["duplicates"] == "error" and repeated.any():
        raise _repeated_document(found, repeated, judged.query_ids)
    if chosen["duplicates"] == "unique":
        found, hit_keys = _fold(found, hit_keys, repeated, k)
        repeated = np.zeros(len(hit_keys), dtype=bool)
    n_relevant = np.bincount(judged.rows[judged.grades > 0], minlength=n)
    if chosen["no_relevant"] == "error" and (n_relevant == 0).any():
        names = name_some(judged.query_ids[n_relevant == 0].tolist())
        raise ValueError(
            f'No relevant document for {names}. Judge them, or choose no_relevant="exclude".'
        )
    judgement = pd.Index(judged_keys).get_indexer(pd.Index(hit_keys))  # -1: nobody judged this hit
    grades = np.append(judged.grades, 0.0)[judgement]
    return Relevance(
        query_ids=judged.query_ids,
        gains=_matrix(found, _gain(grades, chosen["gain"]), n, k),
        ideal=_ideal(judged, chosen["gain"], n, k),
        judged=_matrix(found, judgement >= 0, n, k),
        new=_matrix(found, ~repeated, n, k),
        n_relevant=n_relevant,
        n_returned=np.bincount(found.rows, minlength=n),
        n_repeats=n_repeats,
        policies=chosen,
    )


def _matrix(found: Hits, values: np.ndarray, n: int, k: int) -> np.ndarray:
    """Put a value a hit into its row and rank; the cells of ranks that hold no hit stay 0."""
    matrix = np.zeros((n, k), dtype=values.dtype)
    matrix[found.rows, found.ranks] = values
    return matrix


def _gain(grades: np.ndarray, gain: Gain) -> np.ndarray:
    """Return what grades are worth; a grade of 0 or less is not relevant and worth nothing."""
    relevant = np.maximum(grades, 0.0)
    return np.exp2(relevant) - 1 if gain == "exponential" else relevant


def _complete(policies: Mapping[str, Any]) -> Policies:
    for name, value in policies.items():
        if name not in _CHOICES:
            raise TypeError(f"No policy is called {name!r}; there are: {', '.join(_CHOICES)}.")
        if value not in _CHOICES[name]:
            raise ValueError(
                f"{name}={value!r} is not a policy. Choose one of: {', '.join(map(repr, _CHOICES[name]))}."
            )
    return Policies(**{**_DEFAULTS, **policies})  # type: ignore[typeddict-item]


def _pair_keys(judged: Judgements, found: Hits) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for every (query, document) pair, alike for judgements and hits."""
    codes, docs = pd.factorize(np.concatenate([judged.docs, found.docs]))
    refuse_confusable(docs.tolist(), "doc_id")
    rows = np.concatenate([judged.rows, found.rows])
    keys = rows * len(docs) + codes
    return keys[: len(judged.docs)], keys[len(judged.docs) :]


def _refuse_repeated_judgements(judged: Judgements, judged_keys: np.ndarray) -> None:
    repeated = pd.Index(judged_keys).duplicated()
    if repeated.any():
        queries = judged.query_ids[judged.rows[repeated]]
        where = [
            f"{query} -> {doc}" for query, doc in zip(queries, judged.docs[repeated], strict=True)
        ]
        raise ValueError(
            f"all_qa judges the same document of a query twice: {name_some(where)}. Keep one judgement."
        )


def _fold(
    found: Hits, hit_keys: np.ndarray, repeated: np.ndarray, k: int
) -> tuple[Hits, np.ndarray]:
    """Keep the first of each document, close the gaps, then cut at k."""
    folded, keys = found.keep(~repeated), hit_keys[~repeated]
    within = folded.ranks < k
    return folded.keep(within), keys[within]


def _repeated_document(found: Hits, repeated: np.ndarray, query_ids: pd.Index) -> ValueError:
    again = int(np.flatnonzero(repeated)[0])
    return ValueError(
        f"{query_ids[found.rows[again]]}: the document {found.docs[again]!r} stands twice in the ranking "
        f"(again at rank {found.ranks[again] + 1}). Chunks or copies? Fold each hit to its source document "
        'before scoring, or choose duplicates="unique" (keep the first) or duplicates="position" (count every slot, '
        "which inflates the scores)."
    )


def _ideal(judged: Judgements, gain: Gain, n: int, k: int) -> np.ndarray:
    """Return the best possible gains of each query, over every relevant document of the corpus: (n, k)."""
    relevant = np.flatnonzero(judged.grades > 0)
    best_first = relevant[np.lexsort((-judged.grades[relevant], judged.rows[relevant]))]
    rows, grades = judged.rows[best_first], judged.grades[best_first]
    ranks = ranks_in_blocks(rows)
    within = ranks < k
    ideal = np.zeros((n, k))
    ideal[rows[within], ranks[within]] = _gain(grades[within], gain)
    return ideal
