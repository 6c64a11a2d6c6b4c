"""The door for results: what a search returns, and its hits as flat arrays in ranked order.

A hit is (row of the query, rank, doc_id); rows number the queries of all_qa in their order, ranks
count from 0.
"""

from collections.abc import Collection, Coroutine, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.documents import PLACE_FIELDS
from rageval_kit.judgements import (
    Judgements,
    as_index,
    as_objects,
    factorize_ids,
    kind_of_ids,
    refuse_confusable,
    refuse_strange_ids,
    want_columns,
)
from rageval_kit.messages import (
    as_cutoff,
    name_some,
    shown,
    warn_user,
    wrong_type,
)
from rageval_kit.other_tools import as_hits, from_other_tool, refuse_odd_score
from rageval_kit.ranked_tables import (
    WANTED_COLUMNS,
    compare_queries,
    ranked_positions,
    ranks_in_blocks,
)
from rageval_kit.wording import say, say_count

Hit: TypeAlias = dict[str, Any]
ResultsLike: TypeAlias = Mapping[Any, Any] | Sequence[Any] | pd.DataFrame | Any  # another tool's

_WANTED = "{query_id: [hit, ...]} or a DataFrame"
_KNOWN = (
    "k",
    "score_name",
    "lower_is_better",
    "index",
    "searched",
    "changed",
    "questions",
    "folded",
)
_NUMBERS = {float, int, NoneType, np.float32, np.float64}  # quick to see, unlike a class of numbers


class Results(dict[Any, list[Hit]]):
    """The hits of every query: ``{query_id: [{"doc_id", "title", "content", "score"}, ...]}``.

    A dict of lists, best hit first, that also knows what was searched, and keeps that knowledge
    through `to_frame`, `only`, ``copy`` and ``|``:

    Attributes:
        k: how many hits a query were asked for; 0 where it is not known.
        score_name: what the scores are, e.g. "squared L2 distance"; None without scores.
        lower_is_better: the scores' direction; None where it is not known.
        index: the fingerprint of the index that was searched; None for a store that has none.
        searched, cached: how many queries were searched now, and how many came from the cache.
        changed: what changed since these queries were last cached, in words; "" if nothing did.
        questions: the text that each query was searched with; empty where it is not known.
        folded: of each document or chunk that `fold` took away, the source that it became.
    """

    def __init__(  # noqa: PLR0913 - a search is known by as many things
        self,
        hits: Mapping[Any, list[Hit]],
        k: int = 0,
        score_name: str | None = None,
        lower_is_better: bool | None = None,
        index: str | None = None,
        searched: int = 0,
        changed: str = "",
        questions: Mapping[Any, str] | None = None,
        folded: Mapping[Any, Any] | None = None,
    ) -> None:
        if not isinstance(hits, Mapping):
            raise wrong_type("hits", "a dict {query_id: [hit, ...]}", hits)
        for name, value, kind in (
            ("score_name", score_name, (str, NoneType)),
            ("lower_is_better", lower_is_better, (bool, NoneType)),
            ("index", index, (str, NoneType)),
            ("searched", searched, int),
            ("changed", changed, str),
            ("questions", questions, (Mapping, NoneType)),
            ("folded", folded, (Mapping, NoneType)),
        ):
            if not isinstance(value, kind):
                raise wrong_type(name, "what search_all(...) gives", value)

        # The hits are the dict itself; the rest is known of them.
        super().__init__(hits)
        self.k = 0 if isinstance(k, int) and k == 0 else as_cutoff(k)
        self.score_name = score_name
        self.lower_is_better = lower_is_better
        self.index = index
        self.searched = searched
        self.changed = changed
        self.questions = _Shared(questions or {})
        self.folded = _Shared(folded or {})

    @property
    def cached(self) -> int:
        """How many queries came from the cache."""
        return len(self) - self.searched

    def __repr__(self) -> str:
        parts = [
            say(
                "Results of {queries}, k={k}",
                queries=say_count(len(self), "query"),
                k=self.k or say("unknown"),
            ),
            self._scores(),
            say(
                "{searched} searched, {cached} from the cache",
                searched=self.searched,
                cached=self.cached,
            ),
        ]
        return "; ".join([*parts, self.changed] if self.changed else parts)

    def _scores(self) -> str:
        """Say what the scores are, and which are better."""
        if not self.score_name:
            return say("no scores")
        name = say(self.score_name)
        if self.lower_is_better is None:
            return say("score: {name}", name=name)
        if self.lower_is_better:
            return say("score: {name}, lower is better", name=name)
        return say("score: {name}, higher is better", name=name)

    @property
    def known(self) -> dict[str, Any]:
        """What is known of the search, by name."""
        return {name: getattr(self, name) for name in _KNOWN}

    def with_hits(self, hits: Mapping[Any, list[Hit]], k: int) -> "Results":
        """Return other hits of the same search, such as folded ones."""
        return Results(hits, **self.known | {"k": k})

    def only(self, query_ids: Collection[Any]) -> "Results":
        """Return the hits of these queries.

        >>> Results({"q1": [{"doc_id": "A"}], "q2": []}, k=5).only(["q2"])
        Results of 1 query, k=5; no scores; 0 searched, 1 from the cache

        Raises:
            KeyError: there are no results for one of them.
        """
        if isinstance(query_ids, str) or not isinstance(query_ids, Collection):
            raise wrong_type("query_ids", 'a list such as ["q01", "q02"]', query_ids)
        unknown = [query_id for query_id in query_ids if query_id not in self]
        if unknown:
            raise KeyError(f"results has no entry for {name_some(unknown)}. Search them first.")
        return self._merged({query_id: self[query_id] for query_id in query_ids}, self)

    def copy(self) -> "Results":
        """Return a copy that knows the same."""
        return self._merged(self, self)

    def __or__(self, other: Mapping[Any, list[Hit]]) -> "Results":  # type: ignore[override]
        if not other:
            return self.copy()
        others = as_rankings(other)
        return self._merged({**self, **others}, others)

    def _merged(self, hits: Mapping[Any, list[Hit]], other: "Results") -> "Results":
        """Return hits of two searches; known is what both agree on, and the shallower k."""
        known = {name: value for name, value in self.known.items() if other.known[name] == value}
        return Results(hits, **known | {
            "k": min(self.k, other.k),
            "searched": min(self.searched, len(hits)),
            "changed": self.changed,
            "questions": {**self.questions, **other.questions},
            "folded": {**self.folded, **other.folded},
        })  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return a row a hit: ``query_id, rank, doc_id, title, score``; rank counts from 1."""
        rows = []
        for query_id, hits in as_rankings(self).items():
            for rank, hit in enumerate(hits, start=1):
                title, score = hit.get("title", ""), hit.get("score", np.nan)
                rows.append((query_id, rank, hit["doc_id"], title, score))
        table = pd.DataFrame(rows, columns=["query_id", "rank", "doc_id", "title", "score"])
        table.attrs = dict[Any, Any](self.known)
        return table


class _Shared(dict[Any, Any]):
    """What is not copied again at each step of pandas, which copies attrs deeply."""

    def __deepcopy__(self, memo: Any) -> "_Shared":
        return self


# ---------------------------------------------------------------- as lists of hits


def as_rankings(results: ResultsLike, want: Sequence[str] = ()) -> Results:
    """Return results in any form as the lecture's dict of lists, checked, best hit first.

    Args:
        results: in any of the forms that `relevance_matrix` lists.
        want: the fields that every hit must have beside its doc_id, as texts: ``("content",)``.

    >>> table = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["A", "B"], "rank": [2, 1]})
    >>> as_rankings(table)["q1"]
    [{'doc_id': 'B'}, {'doc_id': 'A'}]

    Raises:
        TypeError: results has another form, or a ranking, a hit or a doc_id in it has.
        ValueError: a score is not a number.
        KeyError: a column or a wanted field is missing.
    """
    known, results = knowledge(results), from_other_tool(results, "results")
    lists: dict[Any, list[Hit]]
    if isinstance(results, pd.DataFrame):
        lists = _as_lists(results)
    elif isinstance(results, Mapping):
        lists = {q: list(as_hits(ranking, f"results, {q}")) for q, ranking in results.items()}
    else:
        raise _no_results(results)

    refuse_strange_ids(list(lists), "query_id", "results")
    for query_id, ranking in lists.items():
        for rank, hit in enumerate(ranking, start=1):
            _check_hit(hit, f"results, {query_id}, rank {rank}", want)
    docs = [hit["doc_id"] for ranking in lists.values() for hit in ranking]
    refuse_strange_ids(docs, "doc_id", "results")
    return Results(lists, **known)


def refuse_repeated_hits(results: Results) -> None:
    """Refuse a document that stands twice in one ranking.

    Raises:
        ValueError: one does.
    """
    for query_id, ranking in results.items():
        seen = set()
        for rank, hit in enumerate(ranking, start=1):
            if hit["doc_id"] in seen:
                cure = "before: fold(results, source_of, k)"
                raise appears_twice(query_id, hit["doc_id"], rank, cure)
            seen.add(hit["doc_id"])


def appears_twice(query_id: Any, doc_id: Any, rank: int, cure: str) -> ValueError:
    """Return the error for a document that stands in a ranking again, at this rank from 1."""
    return ValueError(
        f"{query_id}: the document {doc_id!r} appears twice in the ranking (again at rank {rank}). "
        f"Chunks or copies? Fold each hit to its source document {cure}."
    )


def refuse_unlike_ids(runs: Mapping[str, Results]) -> None:
    """Refuse ids that could never match: texts in one run and integers in another, or twins.

    Raises:
        TypeError: texts and integers, as query_ids or as doc_ids.
        ValueError: ids that differ only by Unicode form.
    """
    docs = {
        name: as_objects([hit["doc_id"] for ranking in run.values() for hit in ranking])
        for name, run in runs.items()
    }
    queries = {name: as_objects(list(run)) for name, run in runs.items()}
    for field, ids in (("query_id", queries), ("doc_id", docs)):
        kinds = {kind_of_ids(its): name for name, its in ids.items() if len(its)}
        if len(kinds) > 1:
            each = ", ".join(f"{kind} in {name!r}" for kind, name in kinds.items())
            raise TypeError(
                f"A {field} is {each}: nothing would match. Make all texts: str(id), or "
                "astype(str) for a column."
            )
        refuse_confusable(list(dict.fromkeys(chain.from_iterable(ids.values()))), field)


def warn_of_depth(runs: Mapping[str, Results], k: int) -> None:
    """Warn of runs whose search asked for fewer than k hits."""
    for name, run in runs.items():
        if 0 < run.k < k:
            warn_user(
                f"k={k} is deeper than the search of the run {name!r}, which asked for k={run.k}: "
                "search deeper, or choose a smaller k."
            )


def knowledge(results: ResultsLike) -> dict[str, Any]:
    """Return what the results know of their search."""
    if isinstance(results, Results):
        return results.known
    attrs: Any = results.attrs if isinstance(results, pd.DataFrame) else {}
    if not isinstance(attrs.get("k", 0), int):  # another tool's
        return {}
    return {name: attrs[name] for name in _KNOWN if name in attrs}


def _no_results(found: Any) -> TypeError:
    """Return the error for what is no results, with the cure for a list of rankings."""
    if isinstance(found, Iterator):
        return TypeError("results is a generator, which can be read only once. Give list(results).")
    if isinstance(found, Coroutine):
        cure = "Write await before the call, or asyncio.run(...) around it"
        return TypeError(f"results is a coroutine: nobody has waited for it. {cure}.")
    if isinstance(found, (list, tuple)) and found and isinstance(found[0], (list, tuple)):
        what = "results is a list of rankings, and whose they are is not known"
        return TypeError(f"{what}. Give them their query_ids: dict(zip(query_ids, results)).")
    return wrong_type("results", _WANTED, found)


def _check_hit(hit: Any, where: str, want: Sequence[str]) -> None:
    if not isinstance(hit, Mapping) or "doc_id" not in hit:
        wanted = 'a hit must be a dict with a doc_id, such as {"doc_id": "doc_001"}'
        raise TypeError(f"{where}: {wanted}; found {shown(hit)}.")
    for field in want:
        if not isinstance(hit.get(field), str):
            raise KeyError(
                f"{where}: the hit {hit['doc_id']} has no {field}. search_all(...) gives it."
            )

    if hit.get("score") is not None:
        refuse_odd_score(hit["score"], where)


def _as_lists(table: pd.DataFrame) -> dict[Any, list[Hit]]:
    want_columns(table, ("query_id", "doc_id"), "results", WANTED_COLUMNS)
    query_ids = as_index(factorize_ids(table["query_id"], "results")[1])
    nothing = np.array([])
    everyone = Judgements(query_ids, nothing.astype(int), as_objects([]), nothing, [])
    rows, positions, _ = ranked_positions(table, everyone, depth=None)

    known = ("doc_id", "title", "content", *PLACE_FIELDS, "score")
    fields = [field for field in known if field in table]
    ranked = table[fields].iloc[positions]
    if "score" in fields and ranked["score"].isna().all():
        ranked = ranked.drop(columns="score")
    lists: dict[Any, list[Hit]] = {query_id: [] for query_id in query_ids}
    for row, hit in zip(rows, ranked.to_dict("records"), strict=True):
        lists[query_ids[row]].append(hit)  # type: ignore[arg-type]
    return lists


# ---------------------------------------------------------------- the direction of scores


def direction(results: Results) -> bool | None:
    """Say whether a lower score is better: as the results know it, else told from their order.

    None where neither tells: no scores, all equal, or some rankings rise and others fall.

    >>> direction(Results({"q1": [{"doc_id": "A", "score": 0.2}, {"doc_id": "B", "score": 0.7}]}))
    True
    """
    if results.lower_is_better is not None:
        return results.lower_is_better
    steps = {step for ranking in results.values() for step in score_steps(ranking)}
    return None if (1 in steps) == (-1 in steps) else 1 in steps


def run_both_ways(results: Results) -> bool:
    """Say whether the scores differ, and yet neither are known to rise or fall nor all do."""
    return direction(results) is None and any(map(any, map(score_steps, results.values())))


def score_steps(ranking: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return how the score changes from each hit to the next: 1 rises, -1 falls, 0 stays."""
    scores = [hit["score"] for hit in ranking if hit.get("score") is not None]
    return [float(later > earlier) - float(later < earlier) for earlier, later in pairwise(scores)]


# ---------------------------------------------------------------- as flat arrays


class Hits(NamedTuple):
    """What the search found, a hit an entry.

    Attributes:
        rows, ranks, docs, scores: of each hit, by row and rank; a score is NaN where there is none.
        searched: of each query, whether the results have an entry for it, if only an empty one.
    """

    rows: np.ndarray
    ranks: np.ndarray
    docs: np.ndarray
    scores: np.ndarray
    searched: np.ndarray

    def keep(self, mask: np.ndarray) -> "Hits":
        """Return the hits of the mask and close the gaps that the others leave."""
        rows = self.rows[mask]
        ranks = ranks_in_blocks(rows)
        return Hits(rows, ranks, self.docs[mask], self.scores[mask], self.searched)


def read_hits(results: ResultsLike, judged: Judgements, depth: int | None) -> Hits:
    """Flatten the first ``depth`` hits (None: all) of the judged queries, best first.

    Queries without results are named in a warning, and so are results without a query.
    """
    results = from_other_tool(results, "results")
    if isinstance(results, pd.DataFrame):
        return _read_table(results, judged, depth)
    if not isinstance(results, Mapping):
        raise _no_results(results)
    refuse_strange_ids(list(results), "query_id", "results")
    searched = compare_queries(judged, as_objects(list(results)))
    rankings = [as_hits(results.get(q, []), f"results, {q}", depth) for q in judged.query_ids]

    # All hits at once; where that fails, hit by hit to say which is wrong.
    ids: list[Any] = []
    given: list[Any] = []
    try:
        for ranking in rankings:
            ids.extend(map(itemgetter("doc_id"), ranking))
            given.extend([hit.get("score") for hit in ranking])
        docs, scores = as_objects(ids), np.array(given, dtype=float)
        n_without = given.count(None)
        sound = set(map(type, given)) <= _NUMBERS and np.isnan(scores).sum() == n_without
    except (TypeError, KeyError, IndexError, AttributeError, ValueError, OverflowError):
        sound = False
    if not sound:
        as_rankings(dict(zip(judged.query_ids, rankings, strict=True)))
    refuse_strange_ids(docs, "doc_id", "results")

    rows = np.repeat(np.arange(len(rankings)), [len(ranking) for ranking in rankings])
    return Hits(rows, ranks_in_blocks(rows), docs, scores, searched)


def _read_table(table: pd.DataFrame, judged: Judgements, depth: int | None) -> Hits:
    rows, positions, searched = ranked_positions(table, judged, depth)
    docs = as_objects(table["doc_id"].array.take(positions))
    refuse_strange_ids(docs, "doc_id", "results")
    scores = np.full(len(table), np.nan)
    if "score" in table and pd.api.types.is_numeric_dtype(table["score"]):
        scores = table["score"].to_numpy(dtype=float, na_value=np.nan)
    return Hits(rows, ranks_in_blocks(rows), docs, scores[positions], searched)
