"""Pool what several searches find, let it be judged, and put the judgements into all_qa.

Judged are pairs of a query and a document, on the scale that TREC's tracks and model judges share.
"""

import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.comparison import Runs, as_generator, names_of
from rageval_kit.documents import Docs, as_docs, field_text, one_line
from rageval_kit.files import as_path, no_formula, write_whole
from rageval_kit.forms import ending, read_table, want_package
from rageval_kit.judgements import (
    AllQA,
    Judgements,
    as_queries,
    is_grade,
    is_relevant,
    read_judgements,
    refuse_strange_pairs,
    relevant_grades,
    want_columns,
)
from rageval_kit.messages import as_cutoff, name_some, shown, warn_user, wrong_type
from rageval_kit.records import Table
from rageval_kit.relevance import Relevance, match
from rageval_kit.wording import to_say

# What each grade says of a document; who only tells relevant from not gives 3 and 0.
GRADES = {
    0: to_say("not about the question"),
    1: to_say("about its subject, without an answer"),
    2: to_say("answers a part of it, or not clearly"),
    3: to_say("answers it"),
}

_PAIR = ["query_id", "doc_id"]
_WANTED = "a pool needs query_id, question and doc_id, see pool_results"


def pool_results(runs: Runs, all_qa: AllQA, k: int = 10, seed: int = 0) -> pd.DataFrame:
    """Return what is to be judged: the first k hits of every run, together, without what is judged.

    The documents of a query come in random order, so that a judge sees neither rank nor search. A
    pool of one search finds nothing that this search does not: take several that differ.

    Args:
        runs: ``{"name": results, ...}``, one or more.
        all_qa: the queries, and what is judged already (a plain list judges what it lists).
        k: how deep each run is read.
        seed: of the order; the same seed gives the same pool.

    Returns:
        A row a query and document: ``query_id, question, doc_id``, query by query.

    >>> all_qa = [{"query_id": "q1", "question": "Why?", "relevant_doc_ids": ["A"]}]
    >>> runs = {"old": {"q1": [{"doc_id": "A"}, {"doc_id": "B"}]}, "new": {"q1": [{"doc_id": "C"}]}}
    >>> pool_results(runs, all_qa, k=2)["doc_id"].tolist()
    ['B', 'C']

    Raises:
        TypeError: runs is not a dict from names to results.
        ValueError: there is no run; or as `relevance_matrix`.
    """
    k, rng = as_cutoff(k), as_generator(seed)
    names_of(runs)
    judged = read_judgements(all_qa)

    # Of each run the hits that nobody judged.
    found = []
    for results in runs.values():
        found.append(unjudged_hits(match(judged, results, k, [k], {"duplicates": "unique"})))

    return as_pool(judged, pd.concat(found).drop_duplicates(["row", "doc_id"]), rng)


def unjudged_hits(matrix: Relevance) -> pd.DataFrame:
    """Return each hit that nobody judged once: ``row, doc_id, rank``, rank from 0."""
    hits = matrix.found
    new = ~matrix.judged[hits.rows, hits.ranks]
    columns = {"row": hits.rows[new], "doc_id": hits.docs[new], "rank": hits.ranks[new]}
    return pd.DataFrame(columns).drop_duplicates(["row", "doc_id"])


def as_pool(judged: Judgements, pairs: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return a pool of pairs (``row`` of the query, ``doc_id``), shuffled within each query."""
    # Sorted before they are shuffled: the order must not tell which run came first.
    pairs = pairs.sort_values(["row", "doc_id"])
    pairs = pairs.iloc[rng.permutation(len(pairs))].sort_values("row", kind="stable")

    query_ids = judged.query_ids[pairs["row"].to_numpy(dtype=int)].tolist()
    questions = [judged.questions.get(query_id, "") for query_id in query_ids]
    return pd.DataFrame(
        {"query_id": query_ids, "question": questions, "doc_id": pairs["doc_id"].tolist()},
        columns=["query_id", "question", "doc_id"],
        dtype=object,
    )


def read_pool(pool: Any, docs: Docs) -> list[dict[str, Any]]:
    """Return the pairs of a pool with what a judge reads: question, title and content.

    Raises:
        TypeError: the pool is no table.
        KeyError: it lacks a column, or a document is not found.
        ValueError: it holds a pair twice.
    """
    want_pool(pool)
    by_id = {doc["doc_id"]: doc for doc in as_docs(docs, ("doc_id", "content"))}
    lost = [doc_id for doc_id in pool["doc_id"] if doc_id not in by_id]
    if lost:
        found = f"pool: the document {name_some(list(dict.fromkeys(lost)))} is not found in docs"
        raise KeyError(f"{found}. Give the docs that were searched.")

    pairs = []
    for query_id, question, doc_id in pool[["query_id", "question", "doc_id"]].to_numpy():
        doc = by_id[doc_id]
        seen = {"title": one_line(doc, "title"), "content": field_text(doc, "content")}
        pairs.append({"query_id": query_id, "question": question, "doc_id": doc_id, **seen})
    return pairs


def want_pool(pool: Any) -> None:
    """Refuse what is no pool."""
    if not isinstance(pool, pd.DataFrame):
        raise wrong_type("pool", "a table from pool_results", pool)
    want_columns(pool, ("query_id", "question", "doc_id"), "pool", _WANTED)
    odd = [question for question in pool["question"] if not isinstance(question, str)]
    if odd:
        raise wrong_type("pool: a question", "a text", odd[0])
    refuse_strange_pairs(pool, "pool")
    repeated = pool[pool.duplicated(_PAIR)]
    twice = [f"{query_id} -> {doc_id}" for query_id, doc_id in repeated[_PAIR].to_numpy()]
    if twice:
        raise ValueError(f"pool: a query and document appears twice: {name_some(twice)}. Keep one.")


# ---------------------------------------------------------------- on paper, and back


def save_pool(pool: pd.DataFrame, docs: Docs, path: str | Path) -> None:
    """Write a pool for a judge to fill in: as CSV, or as Excel (.xlsx, with the extra excel).

    The column ``grade`` is left empty, for 0 to 3 (`GRADES`), and so is ``judge``, for a name.
    `load_judged` reads it back.

    Args:
        pool: from `pool_results`.
        docs: what the judge reads.
        path: ends in .csv or .xlsx; an existing file is replaced.

    Raises:
        ValueError: another ending; see also `read_pool`'s checks of pool and docs.
        OSError: the file cannot be written.
    """
    path = as_path(path)
    if ending(path) not in (".csv", ".xlsx"):
        raise ValueError(f"{path}: a pool is written as .csv or .xlsx. Choose one of these.")
    columns = ["query_id", "question", "doc_id", "title", "content"]
    table = pd.DataFrame(read_pool(pool, docs), columns=columns).astype(str)

    # To Excel a text that begins with = is a formula; ids are compared, and stay as they are.
    for column in ("question", "title", "content"):
        table[column] = table[column].map(no_formula)
    table["grade"] = table["judge"] = ""

    # Excel reads UTF-8 where a mark says so.
    try:
        data = table.to_csv(index=False).encode("utf-8-sig")
    except UnicodeEncodeError as error:
        raise ValueError(f"The pool holds half a character: {error}. Fix the text.") from None
    if ending(path) == ".xlsx":
        want_package("openpyxl", "excel", path)
        file = BytesIO()
        table.to_excel(file, index=False)
        data = file.getvalue()
    write_whole({path: data})


def load_judged(path: str | Path, pool: pd.DataFrame) -> pd.DataFrame:
    """Read what judges filled in, from `save_pool`'s file or a form's.

    Args:
        path: of a .csv or .xlsx file with ``query_id, doc_id, grade`` and, if known, ``judge``.
        pool: what was to be judged.

    Returns:
        A row a judgement: ``query_id, doc_id, grade, judge``, in the order of the pool. Of several
        rows of one judge, pair by pair, the last counts, so that a judge may change their mind; a
        row without a grade is not judged.

    Raises:
        ValueError: a grade is not 0 to 3; a pair is not one of the pool.
        KeyError: a column is missing.
    """
    want_pool(pool)
    path = as_path(path)
    pairs = {
        tuple(str(name).strip() for name in pair): tuple(pair) for pair in pool[_PAIR].to_numpy()
    }
    table = read_table(path, None)
    if not isinstance(table, Table) or not {*_PAIR, "grade"} <= set(table.columns):
        raise KeyError(f"{path} needs the columns query_id, doc_id and grade, as save_pool writes.")

    # The last word of each judge on each pair.
    grades: dict[tuple[str, Any, Any], int | None] = {}
    for number, row in enumerate(table.rows, start=2):
        where = f"{path}, row {number}"
        pair = tuple(str(row.get(column, "")).strip() for column in _PAIR)
        if pair not in pairs:
            cure = "Is it another pool's? Excel makes 1 of 001 in a CSV: use .xlsx there"
            raise ValueError(f"{where}: {' -> '.join(pair)} is not in the pool. {cure}.")
        judge = str(row.get("judge") or "").strip()
        grades[judge, *pairs[pair]] = _read_grade(row.get("grade"), where)

    # In the order of the pool, judge by judge.
    rows = [
        (query_id, doc_id, grades[judge, query_id, doc_id], judge)
        for judge in dict.fromkeys(judge for judge, _, _ in grades)
        for query_id, doc_id in pool[_PAIR].to_numpy()
        if grades.get((judge, query_id, doc_id)) is not None
    ]
    return as_judged(rows)


def as_judged(rows: Any) -> pd.DataFrame:
    """Return a table of judgements from rows ``query_id, doc_id, grade, judge``."""
    table = pd.DataFrame(rows, columns=[*_PAIR, "grade", "judge"], dtype=object)
    return table.astype({"grade": "Int64"})


def _read_grade(cell: Any, where: str) -> int | None:
    """Return a grade as it was written; None where the cell is empty."""
    text = "" if cell is None else str(cell).strip()
    if text in ("", "nan"):
        return None
    if re.fullmatch(r"[0-3](\.0*)?", text):
        return int(text[0])
    raise ValueError(f"{where}: the grade must be 0, 1, 2 or 3, found {shown(cell)}. Correct it.")


# ---------------------------------------------------------------- into all_qa


def add_judgements(
    all_qa: AllQA, judged: pd.DataFrame, relevant_from: int = 1
) -> list[dict[str, Any]]:
    """Return all_qa with judgements added: ``relevant_doc_ids`` as ``{doc_id: grade}``.

    What all_qa judged before stays. A document of a plain list has the grade 1, which is little
    beside grades to 3 (a warning says so); a new grade, if it is relevant too, takes its place.
    Whose judgements came in stands in ``judged_by``, people and models.

    Args:
        all_qa: the queries; it is not changed.
        judged: ``query_id, doc_id, grade`` and, if known, ``judge``: one grade a pair.
        relevant_from: the least grade that counts as relevant to recall, precision, MRR and hit
            rate; one below it is put in as 0. With 1 a document that is only on the subject
            counts; TREC's tracks count from 2.

    >>> judged = pd.DataFrame({"query_id": ["q1"], "doc_id": ["B"], "grade": [2]})
    >>> add_judgements([{"query_id": "q1", "relevant_doc_ids": {"A": 3}}], judged)
    [{'query_id': 'q1', 'relevant_doc_ids': {'A': 3, 'B': 2}}]

    Raises:
        KeyError: a judged query is not in all_qa, or a column is missing.
        ValueError: a pair has two grades, among judges or with all_qa; a grade is missing.
        TypeError: judged is no table, or a grade is no number.
    """
    relevant_from = as_cutoff(relevant_from, "relevant_from", most=3)
    grades, judges = _one_grade_a_pair(judged)
    queries = [dict(qa) for qa in as_queries(all_qa)]
    known = {qa["query_id"] for qa in queries}
    unknown = [query_id for query_id in grades if query_id not in known]
    if unknown:
        raise KeyError(f"all_qa has no query {name_some(unknown)}: it was judged for another one.")

    ungraded = []
    for qa in queries:
        query_id = qa["query_id"]
        new = {
            doc_id: grade if grade >= relevant_from else min(grade, 0)
            for doc_id, grade in grades.get(query_id, {}).items()
        }
        before: dict[Any, Any] = relevant_grades(qa) if "relevant_doc_ids" in qa else {}
        is_listed = not isinstance(qa.get("relevant_doc_ids"), dict)
        _refuse_other_grades(query_id, before, new, is_listed)

        # A list says that its documents are relevant, but not how much.
        if is_listed and before.keys() - new.keys() and max(new.values(), default=0) > 1:
            ungraded.append(query_id)
        if new:
            qa["relevant_doc_ids"] = {**(before if is_listed else qa["relevant_doc_ids"]), **new}
        if judges.get(query_id):
            qa["judged_by"] = sorted({*qa.get("judged_by", []), *judges[query_id]})
    if ungraded:
        what = f"relevant_doc_ids of {name_some(ungraded)} is a list, without grades"
        warn_user(f"{what}: its documents count 1, new ones up to 3. Give them grades too.")
    return queries


def _refuse_other_grades(
    query_id: Any, before: Mapping[Any, Any], new: Mapping[Any, Any], is_listed: bool
) -> None:
    """Refuse a new grade beside another one; of a list it must be relevant as the list says."""
    same = (lambda old, now: is_relevant(now)) if is_listed else (lambda old, now: old == now)
    unlike = [
        doc_id for doc_id in new if doc_id in before and not same(before[doc_id], new[doc_id])
    ]
    if unlike:
        pairs = [f"{query_id} -> {doc}: {before[doc]:g}, now {new[doc]:g}" for doc in unlike]
        cure = "Keep one of the two: take it out of judged or of all_qa"
        raise ValueError(f"all_qa has another grade for {name_some(pairs)}. {cure}.")


def _one_grade_a_pair(
    judged: Any,
) -> tuple[dict[Any, dict[Any, int | float]], dict[Any, set[str]]]:
    """Return the grades of each query by document, and its judges; refuse judges who differ."""
    if not isinstance(judged, pd.DataFrame):
        raise wrong_type("judged", "a table with query_id, doc_id and grade", judged)
    want_columns(judged, (*_PAIR, "grade"), "judged", "judged needs query_id, doc_id and grade")
    refuse_strange_pairs(judged, "judged")

    grades: dict[Any, dict[Any, int | float]] = {}
    judges: dict[Any, set[str]] = {}
    names = judged["judge"] if "judge" in judged else [""] * len(judged)
    columns = (judged["query_id"], judged["doc_id"], judged["grade"], names)
    for query_id, doc_id, grade, judge in zip(*columns, strict=True):
        pair = f"{query_id} -> {doc_id}"
        if not is_grade(grade):
            what = "has no grade" if pd.isna(grade) else f"has the grade {shown(grade)}"
            cure = "Judge it, or leave it out: judged.dropna(subset='grade')"
            raise ValueError(f"judged: {pair} {what}. {cure}.")
        number = int(grade) if float(grade).is_integer() else float(grade)
        known = grades.setdefault(query_id, {}).setdefault(doc_id, number)
        if known != number:
            both = f"judged: {pair} has the grades {known} and {number}"
            raise ValueError(f"{both}. Let the judges agree on one; judge_agreement shows where.")
        judges.setdefault(query_id, set()).update({judge} - {""} if isinstance(judge, str) else ())
    return grades, judges
