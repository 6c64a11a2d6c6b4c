"""Tables of hits in ranked order: which rows belong to which query, best first.

Millions of rows are sorted only where they must be; a rank that is missing or twice is refused.
"""

from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.judgements import (
    Judgements,
    as_index,
    as_objects,
    factorize_ids,
    numbers,
    refuse_confusable,
    refuse_other_types,
    refuse_strange_ids,
    want_columns,
)
from rageval_kit.messages import count, name_some, warn_user

WANTED_COLUMNS = "results as a table needs query_id, doc_id, and rank or score"
_MANY = 10  # steps in one direction that are no accident


def ranked_positions(
    table: pd.DataFrame, judged: Judgements, depth: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each hit's row and position in the table, in order, and which queries have any.

    Raises:
        KeyError: a column is missing.
        ValueError: ranks are not 1, 2, 3, ..., or the scores are known to be distances.
    """
    want_columns(table, ("query_id", "doc_id"), "results", WANTED_COLUMNS)
    if table.empty:
        nothing = np.array([], dtype=np.intp)
        return nothing, nothing, compare_queries(judged, as_objects([]))

    # Which query each block of rows belongs to.
    key, by_score = _key(table)
    starts, codes, searched = _query_blocks(table["query_id"], judged)
    is_grouped = np.count_nonzero(codes >= 0) == np.count_nonzero(searched)
    if by_score and is_grouped:
        _warn_of_distances(key, starts)

    # Where the rows are not yet in ranked order, sort them by query and key.
    order = None
    if not is_grouped or not _rises_in_blocks(key, starts):
        rows = np.repeat(codes, np.diff(starts, append=len(table)))
        order = _by_row_and_key(rows, key)
        rows = rows[order]
        starts = block_starts(rows)
        codes = rows[starts]
        if by_score:
            _order_ties_by_doc_id(order, rows, key[order], table["doc_id"].array)
    lengths = np.diff(starts, append=len(table))
    if not by_score:
        ranks = key if order is None else key[order]
        _refuse_gaps(np.repeat(codes, lengths), ranks, judged.query_ids)

    # In the order of all_qa; each cut at the depth, before a document id is touched.
    in_order = np.argsort(codes)[np.count_nonzero(codes < 0) :]
    codes, starts, lengths = codes[in_order], starts[in_order], lengths[in_order]
    if depth is not None:
        lengths = np.minimum(lengths, depth)
    rows = np.repeat(codes.astype(np.intp), lengths)
    positions = np.repeat(starts, lengths) + ranks_in_blocks(rows)
    return rows, positions if order is None else order[positions], searched


def _query_blocks(
    column: pd.Series, judged: Judgements
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where each block of equal query_ids starts, its row, and which queries have any.

    A row of -1 is of no query of all_qa. Rows have 32 bits: of millions, that is memory saved.
    """
    # In the form that is quickest to compare: Python's objects, or Arrow's own.
    is_arrow = "pyarrow" in str(getattr(column.dtype, "storage", column.dtype))
    queries: Any = column.array if is_arrow else np.asarray(column.array, dtype=object)
    try:
        starts = block_starts(queries)
    except (TypeError, ValueError):  # neither texts nor numbers: an NA, an array
        factorize_ids(queries, "results")
        raise

    # A hash a block, not one a row.
    blocks, found = factorize_ids(queries.take(starts), "results")
    searched = compare_queries(judged, found)
    rows = judged.query_ids.get_indexer(as_index(found)).astype(np.int32)
    return starts, rows[blocks], searched


def _key(table: pd.DataFrame) -> tuple[np.ndarray, bool]:
    """Return what the ranking rises by, and whether that is the score, which may be equal."""
    if "rank" in table:
        return numbers(table, "rank", "results"), False
    if "score" not in table:
        raise KeyError("results has neither rank nor score, so the table has no order. Add one.")
    if table.attrs.get("lower_is_better"):
        raise ValueError(
            "results: the scores are distances (lower is better) and would be read as "
            "similarities. Keep the column rank of results.to_frame(), which holds the order; if "
            "you turned the scores round, clear table.attrs."
        )
    return -numbers(table, "score", "results"), True


def block_starts(values: Any) -> np.ndarray:
    """Return where each run of equal neighbours starts."""
    if len(values) == 0:
        return np.array([], dtype=np.intp)
    changes = values[1:] != values[:-1]
    if not isinstance(changes, np.ndarray):  # Arrow's: a missing value differs from its neighbours
        changes = changes.to_numpy(dtype=bool, na_value=True)
    return np.append(0, np.flatnonzero(changes) + 1)


def ranks_in_blocks(rows: np.ndarray) -> np.ndarray:
    """Return 0, 1, 2, ... within each run of equal rows.

    >>> ranks_in_blocks(np.array([0, 0, 0, 3, 3]))
    array([0, 1, 2, 0, 1])
    """
    starts = block_starts(rows)
    return np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))


def _by_row_and_key(rows: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the order by row, -1 last, and within a row by key.

    numpy sorts 16 bits by radix, several times faster than ``np.lexsort((key, rows))`` sorts all.
    """
    order = np.argsort(key)
    order = order[np.argsort(rows.astype(np.uint16)[order], kind="stable")]
    if rows.max() >= 0xFFFF:
        order = order[np.argsort((rows >> 16).astype(np.uint16)[order], kind="stable")]
    return order


def _rises_in_blocks(key: np.ndarray, starts: np.ndarray) -> bool:
    rises = key[1:] > key[:-1]
    rises[starts[1:] - 1] = True  # from the end of one block to the start of the next anything goes
    return bool(rises.all())


def _warn_of_distances(key: np.ndarray, starts: np.ndarray) -> None:
    """Warn of scores that rise from row to row in every query, as distances do, best first."""
    falls, rises = key[1:] < key[:-1], key[1:] > key[:-1]
    falls[starts[1:] - 1] = rises[starts[1:] - 1] = False
    if falls.sum() >= _MANY and not rises.any():
        warn_user(
            "results: the scores rise from row to row in every query, and the highest is taken for "
            "the best. If they are distances (lower is better), give the column rank, as "
            "results.to_frame() does."
        )


def _order_ties_by_doc_id(order: np.ndarray, rows: np.ndarray, key: np.ndarray, docs: Any) -> None:
    """Order equal scores by doc_id, descending (trec_eval's rule), in place; not of strangers."""
    same = (rows[1:] == rows[:-1]) & (key[1:] == key[:-1]) & (rows[1:] >= 0)
    tied = np.flatnonzero(np.append(False, same) | np.append(same, False))
    group = np.append(0, np.cumsum(~same))[tied]
    ids = as_objects(docs.take(order[tied]))
    refuse_strange_ids(ids, "doc_id", "results")
    by_text, _ = pd.factorize(ids.astype(str), sort=True)
    order[tied] = order[tied][np.lexsort((-by_text, group))]


def _refuse_gaps(rows: np.ndarray, ranks: np.ndarray, query_ids: pd.Index) -> None:
    """Refuse ranks that are not 1, 2, 3, ...: a gap closed in silence would raise the scores."""
    broken = (ranks != ranks_in_blocks(rows) + 1) & (rows >= 0)
    if not broken.any():
        return

    # Show the ranks of the first query that has one too many, or too few.
    row = rows[broken][0]
    of_query = [f"{rank:g}" for rank in ranks[rows == row]]
    what = "a rank appears twice" if len(set(of_query)) < len(of_query) else "ranks have gaps"
    cure = (
        "after rows were filtered out, number them again, or drop the column rank and keep a score "
        "that is higher when better"
    )
    if min(ranks[rows == row]) == 0:
        what, cure = "ranks start at 0", 'add 1: results["rank"] + 1'
    raise ValueError(
        f"results, {query_ids[row]}: {what} ({name_some(of_query)}). Ranks count 1, 2, 3, ...; "
        f"{cure}."
    )


# ---------------------------------------------------------------- results against all_qa


def compare_queries(judged: Judgements, found: np.ndarray) -> np.ndarray:
    """Return which queries of all_qa have results; name those that have none, and strangers."""
    refuse_other_types(judged.query_ids.to_numpy(), found, "query_id", "query_id")
    refuse_confusable([*judged.query_ids, *found], "query_id")

    # Queries of all_qa without an entry; those without a relevant document have no score to lose.
    searched = as_index(found).get_indexer(judged.query_ids) >= 0
    missing = ~searched & (judged.n_relevant > 0)
    if missing.any():
        names = name_some(judged.query_ids[missing].tolist())
        queries = count(int(missing.sum()), "query")
        warn_user(f"no results for {queries} of all_qa, which score 0: {names}.")

    # Entries for queries that all_qa does not have.
    unknown = found[judged.query_ids.get_indexer(as_index(found)) < 0].tolist()
    if unknown:
        queries = count(len(unknown), "query")
        warn_user(f"results of {queries} not in all_qa are left out: {name_some(unknown)}.")
    return searched
