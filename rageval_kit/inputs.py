"""Read all_qa and results in any of their forms into flat arrays, checked and in ranked order.

A judgement is (row of the query, doc_id, grade); a hit is (row of the query, rank, doc_id). Rows
number the queries of all_qa in their order, ranks count from 0.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.messages import count, name_some, warn_user
from rageval_kit.records import Records, as_records, relevant_grades

ResultsLike: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]] | pd.DataFrame
Values: TypeAlias = Any  # a numpy array or a pandas extension array: ids keep the form they came in


class Judgements(NamedTuple):
    """What all_qa says, a judgement an entry."""

    query_ids: pd.Index
    rows: np.ndarray
    docs: np.ndarray
    grades: np.ndarray


class Hits(NamedTuple):
    """What the search found, a hit an entry, by row and rank."""

    rows: np.ndarray
    ranks: np.ndarray
    docs: np.ndarray

    def keep(self, mask: np.ndarray) -> "Hits":
        """Return the hits of the mask and close the gaps that the others leave."""
        rows = self.rows[mask]
        return Hits(rows, ranks_in_blocks(rows), self.docs[mask])


# ---------------------------------------------------------------- all_qa


def read_judgements(all_qa: Records) -> Judgements:
    """Flatten all_qa, in its lecture form or as a table of qrels."""
    if isinstance(all_qa, pd.DataFrame) and "relevant_doc_ids" not in all_qa:
        return _read_qrels(all_qa)
    queries = as_records(all_qa, "all_qa")
    if not queries:
        raise ValueError("all_qa is empty: there is no query to evaluate.")
    for position, qa in enumerate(queries, start=1):
        if "query_id" not in qa:
            raise KeyError(
                f"all_qa, entry {position}: no query_id (found {', '.join(map(str, qa))})."
            )
    query_ids = _index([qa["query_id"] for qa in queries])
    _refuse_strange_ids(query_ids.to_numpy(), "query_id", "all_qa")
    if not query_ids.is_unique:
        twice = query_ids[query_ids.duplicated()].unique().tolist()
        raise ValueError(
            f"all_qa holds the same query_id twice: {name_some(twice)}. Give each query its own id."
        )
    grades = [relevant_grades(qa) for qa in queries]
    docs = _objects([doc_id for of_query in grades for doc_id in of_query])
    _refuse_strange_ids(docs, "relevant_doc_ids", "all_qa")
    return Judgements(
        query_ids,
        np.repeat(np.arange(len(queries)), [len(of_query) for of_query in grades]),
        docs,
        np.array([grade for of_query in grades for grade in of_query.values()], dtype=float),
    )


def _read_qrels(qrels: pd.DataFrame) -> Judgements:
    _want_columns(
        qrels,
        ("query_id", "doc_id"),
        "all_qa as a table needs query_id and relevant_doc_ids, or query_id and doc_id",
    )
    if qrels.empty:
        raise ValueError("all_qa is an empty table: there is no judgement.")
    rows, query_ids = pd.factorize(qrels["query_id"])
    if (rows < 0).any():
        raise ValueError(
            "all_qa: query_id is missing (NaN) in some rows. Read ids as text: dtype=str."
        )
    docs = _objects(qrels["doc_id"].to_numpy())
    _refuse_strange_ids(_objects(query_ids), "query_id", "all_qa")
    _refuse_strange_ids(docs, "doc_id", "all_qa")
    grades = (
        np.ones(len(qrels)) if "relevance" not in qrels else _numbers(qrels, "relevance", "all_qa")
    )
    return Judgements(_index(query_ids), rows, docs, grades)


def largest_relevant(all_qa: Records) -> int:
    """Return the largest number of relevant documents that a query has, at least 1."""
    judged = read_judgements(all_qa)
    return max(1, int(np.bincount(judged.rows[judged.grades > 0], minlength=1).max()))


# ---------------------------------------------------------------- results

_HALF = 1 << 16


def read_hits(results: ResultsLike, judged: Judgements, depth: int | None) -> Hits:
    """Flatten the first ``depth`` hits (None: all) of the judged queries, best first.

    Queries without results are named in a warning, and so are results without a query.
    """
    if isinstance(results, pd.DataFrame):
        return _read_table(results, judged, depth)
    if not isinstance(results, Mapping):
        raise TypeError(
            f"results must be {{query_id: [hit, ...]}} or a DataFrame, found {type(results).__name__}. "
            "search_all(...) returns what is wanted."
        )
    _compare_queries(judged, _objects(list(results)))
    rankings = [
        _as_list(results.get(query_id, []), query_id)[:depth] for query_id in judged.query_ids
    ]
    lengths = [len(ranking) for ranking in rankings]
    try:
        docs = _objects(list(map(itemgetter("doc_id"), chain.from_iterable(rankings))))
    except (TypeError, KeyError):
        raise _not_a_hit(judged.query_ids, rankings) from None
    _refuse_strange_ids(docs, "doc_id", "results")
    _refuse_missing_scores(judged.query_ids, rankings)
    rows = np.repeat(np.arange(len(rankings)), lengths)
    return Hits(rows, ranks_in_blocks(rows), docs)


def _as_list(ranking: Any, query_id: Any) -> Sequence[Any]:
    if not isinstance(ranking, (list, tuple)):
        raise TypeError(
            f'results, {query_id}: a list of hits was wanted, such as [{{"doc_id": "doc_001"}}], best first; '
            f"found {type(ranking).__name__} {str(ranking)[:60]}. Write [] for a query that found nothing."
        )
    return ranking


def lower_is_better(results: ResultsLike) -> bool | None:
    """Return the direction of the scores where the results know it: those of `search_all`, and their table."""
    if isinstance(results, pd.DataFrame):
        return results.attrs.get("lower_is_better")
    return getattr(results, "lower_is_better", None)


def asked_depth(results: ResultsLike) -> int:
    """Return how many hits a query were asked for, where the results know it, else 0."""
    return 0 if isinstance(results, pd.DataFrame) else getattr(results, "k", 0)


def as_rankings(results: ResultsLike) -> Mapping[Any, Sequence[Mapping[str, Any]]]:
    """Return results as the lecture's dict of lists, checked and in the order that the metrics use."""
    if isinstance(results, pd.DataFrame):
        return _as_lists(results)
    queries = list(results) if isinstance(results, Mapping) else []
    read_hits(results, _nothing_judged(queries), depth=None)  # refuses what is no list of hits
    return results


def queries_and_depth(results: ResultsLike) -> tuple[set[Any], int]:
    """Return the queries that have results, and how many hits the longest ranking has."""
    if isinstance(results, pd.DataFrame):
        query_ids, rows, _ = _queries_and_positions(results)
        return set(query_ids), int(np.bincount(rows).max(initial=0))
    rankings = as_rankings(results)
    return set(rankings), max(map(len, rankings.values()), default=0)


def _nothing_judged(queries: Any) -> Judgements:
    return Judgements(_index(queries), np.array([], dtype=int), _objects([]), np.array([]))


def _queries_and_positions(table: pd.DataFrame) -> tuple[pd.Index, np.ndarray, np.ndarray]:
    """Return the table's queries, and the row and position of every hit, in the order that the metrics use."""
    _want_columns(
        table,
        ("query_id", "doc_id"),
        "results as a table needs query_id, doc_id, and rank or score",
    )
    judged = _nothing_judged(pd.unique(table["query_id"]))
    return judged.query_ids, *_ranked_positions(table, judged, depth=None)


def _as_lists(table: pd.DataFrame) -> dict[Any, list[dict[str, Any]]]:
    query_ids, rows, positions = _queries_and_positions(table)
    hits = [{"doc_id": doc_id} for doc_id in table["doc_id"].array.take(positions)]
    if "score" in table and table["score"].notna().any():
        for hit, score in zip(hits, table["score"].to_numpy()[positions], strict=True):
            hit["score"] = float(score)
    rankings: dict[Any, list[dict[str, Any]]] = {query_id: [] for query_id in query_ids}
    for row, hit in zip(rows, hits, strict=True):
        rankings[query_ids[row]].append(hit)
    return rankings


def _not_a_hit(query_ids: pd.Index, rankings: Sequence[Sequence[Any]]) -> TypeError:
    for query_id, ranking in zip(query_ids, rankings, strict=True):
        for rank, hit in enumerate(ranking, start=1):
            if not isinstance(hit, Mapping) or "doc_id" not in hit:
                return TypeError(
                    f"results, {query_id}, rank {rank}: a hit must be a dict with a doc_id, "
                    f'such as {{"doc_id": "doc_001"}}; found {hit!r}.'
                )
    return TypeError("results must hold a list of hits for every query.")


def _refuse_missing_scores(
    query_ids: pd.Index, rankings: Sequence[Sequence[Mapping[str, Any]]]
) -> None:
    scores = [hit.get("score") for hit in chain.from_iterable(rankings)]
    if not pd.isna(_objects(scores)).any():
        return
    for query_id, ranking in zip(query_ids, rankings, strict=True):
        for rank, hit in enumerate(ranking, start=1):
            if hit.get("score") is not None and pd.isna(hit["score"]):
                raise ValueError(
                    f"results, {query_id}, rank {rank}: the score is NaN, so the order means nothing. "
                    "Look at the search."
                )


def _read_table(table: pd.DataFrame, judged: Judgements, depth: int | None) -> Hits:
    rows, positions = _ranked_positions(table, judged, depth)
    docs = _objects(table["doc_id"].array.take(positions))
    _refuse_strange_ids(docs, "doc_id", "results")
    return Hits(rows, ranks_in_blocks(rows), docs)


def _ranked_positions(
    table: pd.DataFrame, judged: Judgements, depth: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the row of the query and the position in the table of each hit, query by query, best first."""
    _want_columns(
        table,
        ("query_id", "doc_id"),
        "results as a table needs query_id, doc_id, and rank or score",
    )
    if table.empty:
        _compare_queries(judged, _objects([]))
        return np.array([], dtype=np.intp), np.array([], dtype=np.intp)
    key, ties_by_doc_id = _key(table)
    queries = table["query_id"].array
    starts, lengths = _blocks(queries)
    blocks, found = pd.factorize(queries.take(starts))  # a hash a block of equal ids, not one a row
    if (blocks < 0).any():
        raise ValueError(
            "results: query_id is missing (NaN) in some rows. Read ids as text: dtype=str."
        )
    found = _objects(found)
    _compare_queries(judged, found)
    codes = judged.query_ids.get_indexer(_index(found))[blocks]  # -1: not in all_qa
    order = None
    if len(found) < len(blocks) or not _rises_in_blocks(key, starts):
        rows = np.repeat(codes, lengths)
        known = np.flatnonzero(rows >= 0)
        order = known[_sorted_order(rows[known], key[known], len(judged.query_ids))]
        order = _ties_in_order(
            order, rows, key, table["doc_id"].array, ties_by_doc_id, judged.query_ids
        )
        starts, lengths = _blocks(rows[order])
        codes = rows[order][starts]
    ours = codes >= 0
    codes, starts, lengths = codes[ours], starts[ours], lengths[ours]
    if depth is not None:
        lengths = np.minimum(lengths, depth)
    rows = np.repeat(codes, lengths)
    positions = np.repeat(starts, lengths) + ranks_in_blocks(rows)
    return rows, positions if order is None else order[positions]


def _key(table: pd.DataFrame) -> tuple[np.ndarray, bool]:
    """Return what the ranking rises by, and whether equal keys are allowed and ordered by doc_id."""
    if "rank" in table:
        return _numbers(table, "rank", "results"), False
    if "score" not in table:
        raise KeyError(
            "results has neither rank nor score: without one of them the table has no order."
        )
    if lower_is_better(table):
        raise ValueError(
            "results: the scores are distances (lower is better) and would be read as similarities. "
            "Keep the column rank of results.to_frame(), which holds the order; if you turned the scores round, "
            "clear table.attrs."
        )
    return -_numbers(table, "score", "results"), True


def _blocks(values: Values) -> tuple[np.ndarray, np.ndarray]:
    """Return where each run of equal neighbours starts, and how long it is."""
    if len(values) == 0:
        return np.array([], dtype=np.intp), np.array([], dtype=np.intp)
    changes = values[1:] != values[:-1]
    if not isinstance(
        changes, np.ndarray
    ):  # pandas' nullable types: a missing value differs from its neighbours
        changes = changes.to_numpy(dtype=bool, na_value=True)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    return starts, np.diff(starts, append=len(values))


def ranks_in_blocks(rows: np.ndarray) -> np.ndarray:
    """Return 0, 1, 2, ... within each run of equal rows.

    >>> ranks_in_blocks(np.array([0, 0, 0, 3, 3]))
    array([0, 1, 2, 0, 1])
    """
    starts, lengths = _blocks(rows)
    return np.arange(len(rows)) - np.repeat(starts, lengths)


def _rises_in_blocks(key: np.ndarray, starts: np.ndarray) -> bool:
    rises = key[1:] > key[:-1]
    rises[starts[1:] - 1] = True  # from the end of one block to the start of the next anything goes
    return bool(rises.all())


def _sorted_order(rows: np.ndarray, key: np.ndarray, n: int) -> np.ndarray:
    """Return the order by row (0..n-1) and key; equal keys come in any order."""
    order = np.arange(len(rows))
    # numpy sorts 16-bit integers by radix, many times faster than wider ones: low half first, then high half
    for shift in (0, 16) if n > _HALF else (0,):
        order = order[np.argsort((rows[order] >> shift).astype(np.uint16), kind="stable")]
    starts, lengths = _blocks(rows[order])
    width = int(lengths.max(initial=0))
    if len(lengths) * width > 4 * len(
        rows
    ):  # a few long rankings among many short ones: a grid would be mostly empty
        return np.lexsort((key, rows))
    # A grid with a row a query sorts all rankings at once; what fills it up behind a ranking falls away again.
    grid = np.full((len(lengths), width), np.inf)
    grid[np.arange(width) < lengths[:, None]] = key[order]
    within = np.argsort(grid, axis=1)
    return order[(starts[:, None] + within)[within < lengths[:, None]]]


def _ties_in_order(
    order: np.ndarray,
    rows: np.ndarray,
    key: np.ndarray,
    docs: Values,
    by_doc_id: bool,
    query_ids: pd.Index,
) -> np.ndarray:
    """Order equal keys by doc_id, descending (trec_eval's rule); equal ranks are refused."""
    rows, key = rows[order], key[order]
    same = (rows[1:] == rows[:-1]) & (key[1:] == key[:-1])
    if not same.any():
        return order
    if not by_doc_id:
        query_id = query_ids[rows[1:][same][0]]
        raise ValueError(
            f"results: a rank stands twice in the ranking of {query_id}. Ranks count 1, 2, 3, ..."
        )
    group = np.concatenate([[0], np.cumsum(~same)])
    tied = np.flatnonzero(np.concatenate([[False], same]) | np.concatenate([same, [False]]))
    by_text, _ = pd.factorize(_objects(docs.take(order[tied])).astype(str), sort=True)
    order[tied] = order[tied][np.lexsort((-by_text, group[tied]))]
    return order


# ---------------------------------------------------------------- checks


def _objects(values: Any) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _index(ids: Any) -> pd.Index:
    # As objects: pandas would convert texts to its own type, which takes longer than all else here.
    return pd.Index(_objects(ids), dtype=object, name="query_id")


def _want_columns(table: pd.DataFrame, wanted: Sequence[str], why: str) -> None:
    if not set(wanted) <= set(table):
        raise KeyError(f"{why}; found {', '.join(map(str, table))}.")


def _numbers(table: pd.DataFrame, column: str, what: str) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(table[column]) or pd.api.types.is_bool_dtype(
        table[column]
    ):
        raise TypeError(
            f"{what}: {column} must be numbers, found {table[column].dtype}. Convert it: pd.to_numeric(...)."
        )
    numbers = table[column].to_numpy(dtype=float, na_value=np.nan)
    broken = ~np.isfinite(numbers) if column == "relevance" else np.isnan(numbers)
    if broken.any():
        where = int(np.flatnonzero(broken)[0])
        found = "NaN" if np.isnan(numbers[where]) else numbers[where]
        raise ValueError(
            f"{what}, row {where}: {column} is {found}. Give it a number or take the row out."
        )
    return numbers


def _refuse_strange_ids(ids: np.ndarray, field: str, what: str) -> None:
    if _kind(ids) in ("text", "integer", "none"):
        return
    strange = next(value for value in ids if not isinstance(value, str))
    raise TypeError(
        f"{what}: every {field} must be a text, found {type(strange).__name__} {strange!r}. "
        "Make ids texts on both sides; a table is read so with dtype=str."
    )


def _kind(ids: np.ndarray) -> str:
    inferred = pd.api.types.infer_dtype(ids, skipna=False)
    return {"string": "text", "integer": "integer", "empty": "none"}.get(inferred, inferred)


def refuse_other_types(
    ours: np.ndarray, theirs: np.ndarray, in_all_qa: str, in_results: str
) -> None:
    """Refuse text ids on one side and integers on the other: nothing would ever match."""
    kinds = {_kind(ours), _kind(theirs)} - {"none"}
    if len(kinds) > 1:
        raise TypeError(
            f"{in_all_qa} of all_qa is {type(ours[0]).__name__} ({ours[0]!r}), {in_results} of results is "
            f"{type(theirs[0]).__name__} ({theirs[0]!r}): nothing would match. "
            "Make both texts: str(id), or astype(str) for a column."
        )


def refuse_confusable(ids: Sequence[Any], field: str) -> None:
    """Refuse ids that look alike and differ in their Unicode form: they would never match."""
    if _kind(_objects(ids)) != "text" or "".join(ids).isascii():
        return
    import unicodedata

    seen: dict[str, str] = {}
    for value in ids:
        twin = seen.setdefault(unicodedata.normalize("NFC", value), value)
        if twin != value:
            raise ValueError(
                f"{field} {value!r} is written in two Unicode forms (NFC and NFD), which look alike and never match. "
                'Bring all ids to one form: unicodedata.normalize("NFC", id).'
            )


def _compare_queries(judged: Judgements, found: np.ndarray) -> None:
    _refuse_strange_ids(found, "query_id", "results")
    refuse_other_types(judged.query_ids.to_numpy(), found, "query_id", "query_id")
    refuse_confusable([*judged.query_ids, *found], "query_id")
    missing = _index(found).get_indexer(judged.query_ids) < 0
    missing[np.setdiff1d(np.arange(len(missing)), judged.rows[judged.grades > 0])] = (
        False  # no relevant document
    )
    unknown = found[judged.query_ids.get_indexer(_index(found)) < 0].tolist()
    if missing.any():
        names = name_some(judged.query_ids[missing].tolist())
        warn_user(
            f"no results for {count(int(missing.sum()), 'query')} of all_qa, which score 0: {names}."
        )
    if unknown:
        warn_user(
            f"results of {count(len(unknown), 'query')} not in all_qa are left out: {name_some(unknown)}."
        )
