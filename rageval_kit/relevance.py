"""Results x all_qa -> one relevance matrix. Every policy lives here.

The matrix has a row a query, a column a rank, and in the cell the grade that all_qa gives to the
document which the search put there. Every metric is a line or two on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args

import numpy as np
import pandas as pd

from rageval_kit.findings import Finding, order_findings
from rageval_kit.judgements import (
    AllQA,
    Judgements,
    is_relevant,
    read_judgements,
    refuse_confusable,
    refuse_other_types,
    refuse_repeated,
)
from rageval_kit.messages import as_cutoff, count, name_some, shown, warn_user
from rageval_kit.ranked_tables import ranks_in_blocks
from rageval_kit.rankings import (
    Hits,
    ResultsLike,
    appears_twice,
    knowledge,
    read_hits,
)
from rageval_kit.strangers import stranger_findings
from rageval_kit.wording import in_english, to_say

NoRelevant: TypeAlias = Literal["exclude", "zero", "one", "error"]
Duplicates: TypeAlias = Literal["error", "unique", "position"]
Gain: TypeAlias = Literal["linear", "exponential"]

_SHOWN = 100  # so many ranks have a column of their own, whether something stands there or not
_LARGEST_EXPONENT = 1_000  # of 2 ** grade


class Policies(TypedDict, total=False):
    """What to do where the field does not agree; keyword arguments of every metric function.

    no_relevant: a query with no relevant document is ``"exclude"`` (default) NaN, left out of the
        mean and counted as excluded; ``"zero"`` 0; ``"one"`` 1; ``"error"`` refused.
    duplicates: the same doc_id twice among the first max(ks) hits of a query is ``"error"``
        (default) refused; ``"unique"`` folded: the first stays and the gap is closed;
        ``"position"`` counted in every slot, which inflates the scores, and exists to show it.
    gain: what a relevant document of grade g is worth to nDCG: ``"linear"`` (default,
        trec_eval's) g; ``"exponential"`` 2 ** g - 1. With binary relevance both are 1.
    """

    no_relevant: NoRelevant
    duplicates: Duplicates
    gain: Gain


# Of each policy, what there is to choose, the default first.
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
        ranks: 1, 2, ..., K. Far behind the last hit only the cutoffs that were asked for have a
            column, so that a k of a million costs nothing; formulas count with ranks, not columns.
        grades: the grade of the document at each rank, 0 where nobody judged it: (n, K).
        judged: whether all_qa has a grade for the document at each rank, if only 0: (n, K).
        new: whether a document stands at each rank that stood at none before: (n, K).
        n_repeats: how many hits were a document that stood before, folded away or counted again: n.
        found: the hits in the cells, by row and rank from 0, with their doc_ids and scores.
        judgements: what all_qa says, found or not.
        policies: the policies that applied.
    """

    query_ids: pd.Index
    ranks: np.ndarray
    grades: np.ndarray
    judged: np.ndarray
    new: np.ndarray
    n_repeats: np.ndarray
    found: Hits
    judgements: Judgements
    policies: Policies

    @cached_property
    def hits(self) -> np.ndarray:
        """Whether the document at each rank is relevant: (n, K) of bool."""
        return np.asarray(is_relevant(self.grades))

    @cached_property
    def gains(self) -> np.ndarray:
        """What the document at each rank is worth, under the policy; 0 if not relevant: (n, K)."""
        return _gain(self.grades, self.policies["gain"])

    @cached_property
    def ideal(self) -> np.ndarray:
        """The gains of the relevant documents of the whole corpus, best first, then 0: (n, K)."""
        judged = self.judgements
        relevant = np.flatnonzero(is_relevant(judged.grades))
        best_first = relevant[np.lexsort((-judged.grades[relevant], judged.rows[relevant]))]
        rows, ranks = judged.rows[best_first], ranks_in_blocks(judged.rows[best_first])

        ideal = np.zeros(self.grades.shape)
        within = ranks < len(self.ranks)
        grades = judged.grades[best_first][within]
        ideal[rows[within], ranks[within]] = _gain(grades, self.policies["gain"])
        return ideal

    @cached_property
    def n_relevant(self) -> np.ndarray:
        """How many relevant documents each query has in the whole corpus: n."""
        return self.judgements.n_relevant

    @cached_property
    def n_returned(self) -> np.ndarray:
        """How many of the ranks hold a document: n."""
        return np.bincount(self.found.rows, minlength=len(self.query_ids))

    @property
    def best_grade(self) -> float:
        """The highest grade that all_qa gives to any document."""
        return float(self.judgements.grades.max(initial=0.0))

    @property
    def labels(self) -> pd.Index:
        """The query_ids as the index of a table, in pandas' own type of text."""
        return pd.Index(self.query_ids.tolist(), name="query_id")

    def docs(self, row: int) -> list[Any]:
        """Return the doc_ids of one query, best first."""
        start, end = np.searchsorted(self.found.rows, [row, row + 1])
        return self.found.docs[start:end].tolist()

    def apply_no_relevant(self, values: np.ndarray) -> np.ndarray:
        """Return values (n, ...) with the policy's value where no document is relevant."""
        fill = {"exclude": np.nan, "zero": 0.0, "one": 1.0, "error": np.nan}
        without = (self.n_relevant == 0).reshape(-1, *[1] * (values.ndim - 1))
        return np.where(without, fill[self.policies["no_relevant"]], values)

    def to_frame(self) -> pd.DataFrame:
        """Return the gains as a table: a row a query, a column a rank."""
        return pd.DataFrame(
            self.gains, index=self.labels, columns=pd.Index(self.ranks, name="rank")
        )


def relevance_matrix(
    all_qa: AllQA, results: ResultsLike, k: int, **policies: Unpack[Policies]
) -> Relevance:
    """Mark each of the first k hits of every query with its grade.

    Args:
        all_qa: dicts with ``query_id`` and ``relevant_doc_ids`` (a list, or doc_id -> grade); a
            table of them, or of judgements: ``query_id, doc_id`` and, where graded, ``relevance``;
            pytrec's ``{query_id: {doc_id: grade}}``, ranx's Qrels, ir-measures' list of Qrel. A
            grade of 0 or less is judged and not relevant.
        results: ``{query_id: [hit, ...]}``, where a hit is a dict with a ``doc_id``, a doc_id, a
            LangChain Document, or one of the latter two in a pair with its score. The order of a
            list is the ranking, whatever its scores say: they may be distances. Elsewhere a higher
            score is better, and equal scores are ordered by doc_id, descending: in a table
            ``query_id, doc_id, score`` (with ``rank``, from 1, that decides), in pytrec's
            ``{query_id: {doc_id: score}}``, ranx's Run, ir-measures' list of ScoredDoc. A table is
            one of pandas, polars or pyarrow, or a ``datasets.Dataset``.
        k: the number of ranks K; hits beyond it are not looked at.
        policies: see `Policies`.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001", "doc_004"]}]
    >>> results = {"q01": [{"doc_id": "doc_001"}, {"doc_id": "doc_002"}, {"doc_id": "doc_004"}]}
    >>> relevance_matrix(all_qa, results, k=3).gains
    array([[1., 0., 1.]])

    A query of all_qa without results has a row of 0 and is named in a warning; results of a query
    that is not in all_qa are left out and named.

    Raises:
        ValueError: a query_id appears twice, what a policy refuses, ids that differ only by
            Unicode form, a NaN score, k not a positive integer, a relevant document that `fold`
            took away.
        KeyError: a field or column is missing.
        TypeError: a field has the wrong form, or ids are texts on one side and integers on the
            other.
    """
    k = as_cutoff(k)
    return match(read_judgements(all_qa), results, k, [k], policies)


def match(
    judged: Judgements,
    results: ResultsLike,
    depth: int,
    cutoffs: Sequence[int],
    policies: Mapping[str, Any],
) -> Relevance:
    """Return the relevance matrix of judgements that were read before.

    Args:
        judged: from `read_judgements`.
        results: see `relevance_matrix`.
        depth: how many hits of a query are looked at.
        cutoffs: the ranks that must have a column.
        policies: see `Policies`.
    """
    chosen = complete_policies(policies)
    _warn_of_the_search(judged, results, depth)
    _refuse_folded_away(judged, results)
    found = read_hits(results, judged, None if chosen["duplicates"] == "unique" else depth)
    _warn_of_nothing_found(judged, found)
    refuse_other_types(judged.docs, found.docs, "relevant_doc_ids", "doc_id")
    lower_is_better = knowledge(results).get("lower_is_better")
    with in_english():
        findings = list(order_findings(found, judged.query_ids, lower_is_better))
    warn_of(findings)

    # Which judgement each hit meets, and which hits are a document again.
    judgement, repeated = _match_documents(judged, found)

    # Policy: the same document twice in one ranking.
    n_repeats = np.bincount(found.rows[repeated], minlength=len(judged.query_ids))
    if chosen["duplicates"] == "error" and repeated.any():
        raise _repeated_document(found, repeated, judged.query_ids)
    if chosen["duplicates"] == "unique":  # keep the first of each, close the gaps, then cut
        first, within = ~repeated, ranks_in_blocks(found.rows[~repeated]) < depth
        found, judgement = found.keep(first).keep(within), judgement[first][within]
        repeated = np.zeros(len(judgement), dtype=bool)

    # Policy: a query without a relevant document.
    without = judged.n_relevant == 0
    if chosen["no_relevant"] == "error" and without.any():
        names = name_some(judged.query_ids[without].tolist())
        raise ValueError(
            f'No relevant document for {names}. Judge them, or choose no_relevant="exclude".'
        )

    # Each hit gets the grade of its judgement; -1 says that nobody judged it.
    grades = np.append(judged.grades, 0.0)[judgement]
    if chosen["gain"] == "exponential" and judged.grades.max(initial=0.0) > _LARGEST_EXPONENT:
        raise ValueError(
            f"a grade of {judged.grades.max():g} is too large for 2 ** grade. "
            'Scale the grades, or choose gain="linear".'
        )
    ranks = _ranks(found, judged, depth, cutoffs)
    shape = len(judged.query_ids), len(ranks)
    matrix = Relevance(
        query_ids=judged.query_ids,
        ranks=ranks,
        grades=_matrix(found, grades, shape),
        judged=_matrix(found, judgement >= 0, shape),
        new=_matrix(found, ~repeated, shape),
        n_repeats=n_repeats,
        found=found,
        judgements=judged,
        policies=chosen,
    )

    with in_english():
        findings = list(stranger_findings(found, judged, matrix.judged))
    warn_of(findings)
    return matrix


def warn_of(findings: Sequence[Finding]) -> None:
    """Warn of what was found on the way, and say where more is looked for."""
    for finding in findings:
        warn_user(f"{finding} check_results(all_qa, results, docs) looks for more.")


def complete_policies(policies: Mapping[str, Any]) -> Policies:
    """Return every policy, by default where it was not given, or refuse what is none."""
    for name, value in policies.items():
        if name not in _CHOICES:
            hint = " The cutoff is called k here." if name == "ks" else ""
            policies_are = ", ".join(_CHOICES)
            raise TypeError(f"No policy is called {shown(name)}; there are: {policies_are}.{hint}")
        if not isinstance(value, str) or value not in _CHOICES[name]:
            choices = ", ".join(map(repr, _CHOICES[name]))
            raise ValueError(f"{name}={shown(value)} is not a policy. Choose one of: {choices}.")
    defaults = {name: choices[0] for name, choices in _CHOICES.items()}
    return Policies(**{**defaults, **policies})  # type: ignore[typeddict-item]


def _warn_of_the_search(judged: Judgements, results: ResultsLike, depth: int) -> None:
    """Warn where the search was not put these questions, or not to this depth."""
    known = knowledge(results)
    if 0 < known.get("k", 0) < depth:
        warn_user(
            f"k={depth} is deeper than the search, which asked for k={known['k']}: what lies below "
            "was not looked at. Search deeper, or choose a smaller k."
        )
    changed = changed_questions(judged, known.get("questions") or {})
    if changed:
        warn_user(
            f"results were searched with another question for {name_some(changed)}: "
            "search again with search_all(...)."
        )


def _warn_of_nothing_found(judged: Judgements, found: Hits) -> None:
    """Name the queries that were searched in vain; without a relevant document that is right."""
    came = np.bincount(found.rows, minlength=len(judged.query_ids))
    empty = judged.query_ids[found.searched & (came == 0) & (judged.n_relevant > 0)].tolist()
    if empty:
        queries = f"{len(empty):,} of {count(len(came), 'query')}"
        warn_user(f"no hit for {queries}, which score 0: {name_some(empty)}. Look at the search.")


def _refuse_folded_away(judged: Judgements, results: ResultsLike) -> None:
    lost = folded_away(judged, knowledge(results).get("folded") or {})
    if lost:
        raise ValueError(f"results: {FOLDED_AWAY}: {name_some(lost)}. {FOLD_BOTH}.")


FOLDED_AWAY = to_say("these relevant documents were folded into others, and can no longer be found")
FOLD_BOTH = to_say("Fold the judgements alike: all_qa = fold_judgements(all_qa, source_of)")


def folded_away(judged: Judgements, folded: Mapping[Any, Any]) -> list[str]:
    """Name the relevant documents that are now hits of their source, with a query of each."""
    if not folded:
        return []
    relevant = np.flatnonzero(is_relevant(judged.grades))
    lost = {judged.docs[at]: judged.rows[at] for at in relevant if judged.docs[at] in folded}
    return [f"{judged.query_ids[row]} -> {doc_id}" for doc_id, row in lost.items()]


def changed_questions(judged: Judgements, searched: Mapping[Any, str]) -> list[Any]:
    """Name the queries that were searched with another question than all_qa has now."""
    now = judged.questions if searched else {}
    return [query_id for query_id in now if searched.get(query_id, now[query_id]) != now[query_id]]


def _ranks(found: Hits, judged: Judgements, depth: int, cutoffs: Sequence[int]) -> np.ndarray:
    """Return the ranks that have a column: those of hits and of the ideal, and the cutoffs.

    100 are always there: a short ranking has its empty places too.
    """
    deepest_hit = int(found.ranks.max(initial=-1)) + 1
    largest_ideal = min(max(cutoffs, default=1), int(judged.n_relevant.max(initial=0)))
    width = max(min(depth, _SHOWN), deepest_hit, largest_ideal)
    return np.array([*range(1, width + 1), *sorted({k for k in cutoffs if k > width})])


def _matrix(found: Hits, values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Put a value a hit into its row and rank; cells that hold no hit stay 0."""
    matrix = np.zeros(shape, dtype=values.dtype)
    matrix[found.rows, found.ranks] = values
    return matrix


def _gain(grades: np.ndarray, gain: Gain) -> np.ndarray:
    """Return what grades are worth; one of 0 or less is not relevant and worth nothing."""
    relevant = np.maximum(grades, 0.0)
    return np.exp2(relevant) - 1 if gain == "exponential" else relevant


def _match_documents(judged: Judgements, found: Hits) -> tuple[np.ndarray, np.ndarray]:
    """Return of each hit its judgement's place, -1 if nobody judged it, and whether it repeats.

    Query by query: its few documents stay in the processor's cache, so that this is faster than one
    table of all documents.
    """
    everyone = np.arange(len(judged.query_ids) + 1)
    ours, theirs = (np.searchsorted(rows, everyone).tolist() for rows in (judged.rows, found.rows))
    is_plain = all(isinstance(doc_id, str) for doc_id in [*judged.docs[:1], *found.docs[:1]])

    judgement: list[int] = []
    repeated = np.zeros(len(found.docs), dtype=bool)
    is_twice = False
    for (start, end), (first, last) in zip(pairwise(ours), pairwise(theirs), strict=True):
        docs, hits = judged.docs[start:end].tolist(), found.docs[first:last].tolist()
        places = {doc_id: place for place, doc_id in enumerate(docs, start)}
        judgement.extend(map(places.get, hits, repeat(-1)))
        is_twice = is_twice or len(places) < len(docs)
        if len(set(hits)) < len(hits):
            repeated[first:last] = pd.Index(hits, dtype=object).duplicated()
        is_plain = is_plain and "".join(docs + hits).isascii()

    # Only what is not ASCII can be written in two ways.
    if not is_plain:
        refuse_confusable(list(dict.fromkeys(chain(judged.docs, found.docs))), "doc_id")
    if is_twice:
        refuse_repeated(judged)
    return np.array(judgement, dtype=np.intp), repeated


def _repeated_document(found: Hits, repeated: np.ndarray, query_ids: pd.Index) -> ValueError:
    again = int(np.flatnonzero(repeated)[0])
    cure = (
        'before scoring, or choose duplicates="unique" (keep the first) or duplicates="position" '
        "(count every slot, which inflates the scores)"
    )
    rank = int(found.ranks[again]) + 1
    return appears_twice(query_ids[found.rows[again]], found.docs[again], rank, cure)
