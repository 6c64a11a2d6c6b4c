"""Results x all_qa -> one relevance matrix. Every policy lives here.

The matrix has a row a query, a column a rank, and in the cell the gain of the document that the
search put there: its grade if it is relevant, else 0. Every metric is a line or two on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np
import pandas as pd

from rageval_kit.checks import as_cutoff, name_some
from rageval_kit.dataset import Records
from rageval_kit.inputs import (
    Hits,
    Judgements,
    ResultsLike,
    read_hits,
    read_judgements,
    refuse_confusable,
    refuse_other_types,
)

NoRelevant: TypeAlias = Literal["exclude", "zero", "one", "error"]
Duplicates: TypeAlias = Literal["error", "unique", "position"]


class Policies(TypedDict, total=False):
    """What to do where the field does not agree; keyword arguments of every metric function.

    no_relevant: a query with no relevant document is ``"exclude"`` (default) NaN, left out of the
        mean and counted as excluded; ``"zero"`` 0; ``"one"`` 1; ``"error"`` refused.
    duplicates: the same doc_id twice among the first max(ks) hits of a query is ``"error"``
        (default) refused; ``"unique"`` folded: the first stays and the gap is closed;
        ``"position"`` counted in every slot, which inflates the scores, and exists to show it.
    """

    no_relevant: NoRelevant
    duplicates: Duplicates


_DEFAULTS = Policies(no_relevant="exclude", duplicates="error")
_CHOICES: dict[str, tuple[str, ...]] = {"no_relevant": get_args(NoRelevant), "duplicates": get_args(Duplicates)}


@dataclass(frozen=True)
class Relevance:
    """The relevance matrix and what a metric needs beside it; n queries, K ranks.

    Attributes:
        query_ids: the queries, in the order of all_qa: n.
        gains: the document's grade at each rank if it is relevant, else 0: (n, K).
        ideal: the grades of the relevant documents of the whole corpus, best first, then 0: (n, K).
        n_relevant: how many relevant documents each query has in the whole corpus: n.
        policies: the policies that applied.
    """

    query_ids: pd.Index
    gains: np.ndarray
    ideal: np.ndarray
    n_relevant: np.ndarray
    policies: Policies

    @property
    def hits(self) -> np.ndarray:
        """Whether the document at each rank is relevant: (n, K) of bool."""
        return self.gains > 0

    @property
    def ranks(self) -> np.ndarray:
        """The ranks 1, 2, ..., K."""
        return np.arange(1, self.gains.shape[1] + 1)

    def apply_no_relevant(self, values: np.ndarray) -> np.ndarray:
        """Return values (n, ...) with the policy's value in the rows of queries without a relevant document."""
        fill = {"exclude": np.nan, "zero": 0.0, "one": 1.0, "error": np.nan}[self.policies["no_relevant"]]
        return np.where((self.n_relevant == 0)[:, None], fill, values)

    def to_frame(self) -> pd.DataFrame:
        """Return the gains as a table: a row a query, a column a rank."""
        return pd.DataFrame(self.gains, index=self.query_ids, columns=pd.Index(self.ranks, name="rank"))


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
    found = read_hits(results, judged.query_ids, depth=None if chosen["duplicates"] == "unique" else k)
    refuse_other_types(judged.docs, found.docs, "relevant_doc_ids", "doc_id")
    judged_keys, hit_keys = _pair_keys(judged, found)
    if chosen["duplicates"] == "unique":
        found, hit_keys = _fold(found, hit_keys, k)
    elif chosen["duplicates"] == "error":
        _refuse_duplicates(found, hit_keys, judged.query_ids)
    n = len(judged.query_ids)
    gains = np.zeros((n, k))
    gains[found.rows, found.ranks] = _grades_of(hit_keys, judged_keys, judged.grades)
    n_relevant = np.bincount(judged.rows[judged.grades > 0], minlength=n)
    if chosen["no_relevant"] == "error" and (n_relevant == 0).any():
        names = name_some(judged.query_ids[n_relevant == 0].tolist())
        raise ValueError(f'No relevant document for {names}. Judge them, or choose no_relevant="exclude".')
    return Relevance(judged.query_ids, np.maximum(gains, 0.0), _ideal(judged, n, k), n_relevant, chosen)


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


def _fold(found: Hits, hit_keys: np.ndarray, k: int) -> tuple[Hits, np.ndarray]:
    """Keep the first of each document, close the gaps, then cut at k."""
    first = ~pd.Index(hit_keys).duplicated()
    folded, keys = found.keep(first), hit_keys[first]
    within = folded.ranks < k
    return folded.keep(within), keys[within]


def _refuse_duplicates(found: Hits, hit_keys: np.ndarray, query_ids: pd.Index) -> None:
    if pd.Index(hit_keys).is_unique:
        return
    again = int(np.flatnonzero(pd.Index(hit_keys).duplicated())[0])
    raise ValueError(
        f"{query_ids[found.rows[again]]}: the document {found.docs[again]!r} stands twice in the ranking "
        f"(again at rank {found.ranks[again] + 1}). Chunks or copies? Fold each hit to its source document "
        'before scoring, or choose duplicates="unique" (keep the first) or duplicates="position" (count every slot, '
        "which inflates the scores)."
    )


def _grades_of(hit_keys: np.ndarray, judged_keys: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Return the grade of each hit, 0 where nobody judged it."""
    position = pd.Index(judged_keys).get_indexer(pd.Index(hit_keys))
    return np.append(grades, 0.0)[position]  # -1, not judged, is the appended 0


def _ideal(judged: Judgements, n: int, k: int) -> np.ndarray:
    """Return the best possible gains of each query, over every relevant document of the corpus: (n, k)."""
    order = np.lexsort((-judged.grades, judged.rows))
    best = Hits(judged.rows[order], np.zeros(0), judged.docs[order]).keep(judged.grades[order] > 0)
    grades = judged.grades[order][judged.grades[order] > 0]
    within = best.ranks < k
    ideal = np.zeros((n, k))
    ideal[best.rows[within], best.ranks[within]] = grades[within]
    return ideal
