"""Read all_qa and results in any of their forms into flat arrays, checked and in ranked order.

A judgement is (row of the query, doc_id, grade); a hit is (row of the query, rank, doc_id). Rows
number the queries of all_qa in their order, ranks count from 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.checks import name_some, warn_user
from rageval_kit.dataset import Records, as_records, relevant_grades

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
        starts, lengths = _blocks(rows)
        return Hits(rows, np.arange(len(rows)) - np.repeat(starts, lengths), self.docs[mask])


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
            raise KeyError(f"all_qa, entry {position}: no query_id (found {', '.join(map(str, qa))}).")
    query_ids = pd.Index(_objects([qa["query_id"] for qa in queries]), name="query_id")
    _refuse_strange_ids(query_ids.to_numpy(), "query_id", "all_qa")
    if not query_ids.is_unique:
        twice = query_ids[query_ids.duplicated()].unique().tolist()
        raise ValueError(f"all_qa holds the same query_id twice: {name_some(twice)}. Give each query its own id.")
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
        qrels, ("query_id", "doc_id"), "all_qa as a table needs query_id and relevant_doc_ids, or query_id and doc_id"
    )
    if qrels.empty:
        raise ValueError("all_qa is an empty table: there is no judgement.")
    rows, query_ids = pd.factorize(qrels["query_id"])
    docs = _objects(qrels["doc_id"].to_numpy())
    _refuse_strange_ids(_objects(query_ids), "query_id", "all_qa")
    _refuse_strange_ids(docs, "doc_id", "all_qa")
    grades = np.ones(len(qrels)) if "relevance" not in qrels else _numbers(qrels, "relevance", "all_qa")
    repeated = qrels.duplicated(["query_id", "doc_id"]).to_numpy()
    if repeated.any():
        where = qrels.loc[repeated, ["query_id", "doc_id"]].head(3).astype(str).agg(" -> ".join, axis=1).tolist()
        raise ValueError(f"all_qa judges the same document of a query twice: {name_some(where)}. Keep one judgement.")
    return Judgements(pd.Index(_objects(query_ids), name="query_id"), rows, docs, grades)


# ---------------------------------------------------------------- results


def read_hits(results: ResultsLike, query_ids: pd.Index, depth: int | None) -> Hits:
    """Flatten the first ``depth`` hits (None: all) of the queries in query_ids, best first.

    Queries without results are named in a warning, and so are results without a query.
    """
    if isinstance(results, pd.DataFrame):
        return _read_table(results, query_ids, depth)
    if not isinstance(results, Mapping):
        raise TypeError(
            f"results must be {{query_id: [hit, ...]}} or a DataFrame, found {type(results).__name__}. "
            "search_all(...) returns what is wanted."
        )
    _compare_queries(query_ids, pd.Index(_objects(list(results))))
    rankings = [results.get(query_id, ())[:depth] for query_id in query_ids]
    lengths = [len(ranking) for ranking in rankings]
    try:
        docs = _objects([hit["doc_id"] for ranking in rankings for hit in ranking])
    except (TypeError, KeyError):
        raise _not_a_hit(query_ids, rankings) from None
    _refuse_strange_ids(docs, "doc_id", "results")
    _refuse_nan_scores(query_ids, rankings)
    starts = np.cumsum([0, *lengths[:-1]])
    return Hits(np.repeat(np.arange(len(rankings)), lengths), np.arange(len(docs)) - np.repeat(starts, lengths), docs)


def _not_a_hit(query_ids: pd.Index, rankings: Sequence[Sequence[Any]]) -> TypeError:
    for query_id, ranking in zip(query_ids, rankings, strict=True):
        for rank, hit in enumerate(ranking, start=1):
            if not isinstance(hit, Mapping) or "doc_id" not in hit:
                return TypeError(
                    f"results, {query_id}, rank {rank}: a hit must be a dict with a doc_id, "
                    f'such as {{"doc_id": "doc_001"}}; found {hit!r}.'
                )
    return TypeError("results must hold a list of hits for every query.")


def _refuse_nan_scores(query_ids: pd.Index, rankings: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    for query_id, ranking in zip(query_ids, rankings, strict=True):
        for rank, hit in enumerate(ranking, start=1):
            score = hit.get("score")
            if score is not None and score != score:
                raise ValueError(
                    f"results, {query_id}, rank {rank}: the score is NaN, so the order means nothing. "
                    "Look at the search."
                )


def _read_table(table: pd.DataFrame, query_ids: pd.Index, depth: int | None) -> Hits:
    _want_columns(table, ("query_id", "doc_id"), "results as a table needs query_id, doc_id, and rank or score")
    if "rank" not in table and "score" not in table:
        raise KeyError("results has neither rank nor score: without one of them the table has no order.")
    descending = "rank" not in table
    order_by = _numbers(table, "score" if descending else "rank", "results")
    queries, docs = table["query_id"].array, table["doc_id"].array
    starts, lengths = _blocks(queries)
    heads = queries.take(starts)
    if pd.isna(heads).any():
        raise ValueError("results: query_id is missing (NaN) in some rows. Read ids as text: dtype=str.")
    found = pd.Index(_objects(heads)).unique()
    _compare_queries(query_ids, found)
    codes = query_ids.get_indexer(pd.Index(_objects(heads)))
    key = -order_by if descending else order_by
    if len(found) < len(heads) or not _rises_in_blocks(key, starts):
        rows = np.repeat(codes, lengths)
        order = _sorted_order(rows, key, docs, ties_by_doc_id=descending, query_ids=query_ids)
        docs = docs.take(order)
        starts, lengths = _blocks(rows[order])
        codes = rows[order][starts] if len(starts) else codes[:0]
    known = codes >= 0
    codes, starts, lengths = codes[known], starts[known], lengths[known]
    if depth is not None:
        lengths = np.minimum(lengths, depth)
    ranks = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = _objects(docs.take(np.repeat(starts, lengths) + ranks))
    _refuse_strange_ids(kept, "doc_id", "results")
    return Hits(np.repeat(codes, lengths), ranks, kept)


def _blocks(values: Values) -> tuple[np.ndarray, np.ndarray]:
    """Return where each run of equal neighbours starts, and how long it is."""
    if len(values) == 0:
        return np.array([], dtype=np.intp), np.array([], dtype=np.intp)
    changes = np.asarray(values[1:] != values[:-1], dtype=bool)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    return starts, np.diff(starts, append=len(values))


def _rises_in_blocks(key: np.ndarray, starts: np.ndarray) -> bool:
    rises = key[1:] > key[:-1]
    rises[starts[1:] - 1] = True  # from the end of one block to the start of the next anything goes
    return bool(rises.all())


def _sorted_order(
    rows: np.ndarray, key: np.ndarray, docs: Values, ties_by_doc_id: bool, query_ids: pd.Index
) -> np.ndarray:
    """Return the order by row, key and, among equal keys, doc_id descending (trec_eval's rule)."""
    order = np.lexsort((key, rows))
    same = (rows[order][1:] == rows[order][:-1]) & (key[order][1:] == key[order][:-1])
    if not same.any():
        return order
    if not ties_by_doc_id:
        row = rows[order][1:][same][0]
        where = query_ids[row] if row >= 0 else "a query that is not in all_qa"
        raise ValueError(f"results: a rank stands twice in the ranking of {where}. Ranks count 1, 2, 3, ...")
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


def _want_columns(table: pd.DataFrame, wanted: Sequence[str], why: str) -> None:
    if not set(wanted) <= set(table):
        raise KeyError(f"{why}; found {', '.join(map(str, table))}.")


def _numbers(table: pd.DataFrame, column: str, what: str) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(table[column]) or pd.api.types.is_bool_dtype(table[column]):
        raise TypeError(
            f"{what}: {column} must be numbers, found {table[column].dtype}. Convert it: pd.to_numeric(...)."
        )
    numbers = table[column].to_numpy(dtype=float, na_value=np.nan)
    if np.isnan(numbers).any():
        where = int(np.flatnonzero(np.isnan(numbers))[0])
        raise ValueError(f"{what}, row {where}: {column} is NaN. Give it a number or take the row out.")
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


def refuse_other_types(ours: np.ndarray, theirs: np.ndarray, in_all_qa: str, in_results: str) -> None:
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


def _compare_queries(query_ids: pd.Index, found: pd.Index) -> None:
    refuse_other_types(query_ids.to_numpy(), found.to_numpy(), "query_id", "query_id")
    refuse_confusable(query_ids.union(found, sort=False).tolist(), "query_id")
    missing = query_ids.difference(found, sort=False).tolist()
    unknown = found.difference(query_ids, sort=False).tolist()
    if missing:
        warn_user(f"{len(missing)} queries have no results and score 0: {name_some(missing)}.")
    if unknown:
        warn_user(f"results of {len(unknown)} queries that are not in all_qa are left out: {name_some(unknown)}.")
