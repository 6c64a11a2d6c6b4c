"""The door for all_qa: queries as dicts, and their judgements as flat arrays.

A judgement is (row of the query, doc_id, grade); rows number the queries in the order of all_qa.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np
import pandas as pd

from rageval_kit.documents import Record, as_records, refuse_odd_columns, want_fields
from rageval_kit.messages import is_number, name_some, shown, typed, warn_user, wrong_type
from rageval_kit.other_tools import from_other_tool
from rageval_kit.wording import in_english, say, to_say

AllQA: TypeAlias = Sequence[Record] | Mapping[Any, Any] | pd.DataFrame | Any  # another tool's

# A table of judgements calls its grades by one of these: the kit, PyTerrier, trec_eval, BEIR.
GRADES = ("relevance", "grade", "label", "rel", "score")
_FEW = 1_000  # different ids are expected; a table for as many as rows takes much memory
_LARGEST_GRADE = 1e300  # a sum of such gains is still a number


def as_queries(all_qa: AllQA, want: Sequence[str] = ()) -> list[Record]:
    """Return the queries as a list of dicts, each with an id of its own.

    Args:
        all_qa: in any of the forms that `relevance_matrix` lists.
        want: the fields that every query must have, as texts that are not empty.

    >>> as_queries([{"query_id": "q01", "question": "Why?"}], want=["question"])
    [{'query_id': 'q01', 'question': 'Why?'}]

    Raises:
        TypeError: all_qa is not a list of queries, or a field is not a text.
        KeyError: a field is missing.
        ValueError: a query_id appears twice, or a field is empty.
    """
    all_qa = as_all_qa(all_qa)
    queries = _grouped_qrels(all_qa) if _is_qrels(all_qa) else as_records(all_qa, "all_qa")
    if not queries:
        raise ValueError("all_qa is empty: there is no query to evaluate.")
    if "query_id" not in queries[0] and "content" in queries[0]:
        raise wrong_type("all_qa", "a list of queries", queries)

    for position, qa in enumerate(queries, start=1):
        where = f"all_qa, entry {position}"
        want_fields(qa, ("query_id", *want), where)
        for field in want:
            if not isinstance(qa[field], str):
                raise TypeError(
                    f"{where}: {field} must be a text, found {typed(qa[field])}. "
                    "validate_dataset(docs, all_qa) lists every such mistake."
                )
            if not qa[field].strip():
                raise ValueError(f"{where}: the {field} is empty. Fill it in or drop the query.")

    query_ids = as_index([qa["query_id"] for qa in queries])
    refuse_strange_ids(query_ids, "query_id", "all_qa")
    if not query_ids.is_unique:
        twice = name_some(query_ids[query_ids.duplicated()].unique().tolist())
        raise ValueError(f"all_qa: a query_id appears twice: {twice}. Give each query its own id.")
    return queries


def as_all_qa(all_qa: AllQA) -> Any:
    """Return all_qa in another tool's form as a list of dicts or a DataFrame; else as it is.

    >>> as_all_qa({"q1": {"A": 2, "B": 0}})  # as pytrec takes judgements
    [{'query_id': 'q1', 'relevant_doc_ids': {'A': 2, 'B': 0}}]

    Raises:
        TypeError: some queries of a dict have judgements, and others something else.
        ValueError: a grade is a fraction, as scores are.
    """
    all_qa = from_other_tool(all_qa, "all_qa")
    is_dict = isinstance(all_qa, Mapping)
    if not is_dict or not any(isinstance(grades, Mapping) for grades in all_qa.values()):
        return all_qa

    for query_id, grades in all_qa.items():
        if not isinstance(grades, Mapping):
            found = f"all_qa, {query_id}: {{doc_id: grade}} was wanted, found {typed(grades)}"
            raise TypeError(f"{found}. Write {{}} for a query that no document answers.")
        _refuse_scores([grade for grade in grades.values() if is_number(grade)])
    return [{"query_id": q, "relevant_doc_ids": dict(grades)} for q, grades in all_qa.items()]


def _refuse_scores(grades: Any) -> None:
    """Refuse fractions where a run looks like judgements: other tools grade in whole numbers."""
    fraction = next((grade for grade in grades if grade % 1 > 0), None)
    if fraction is not None:
        raise ValueError(
            f"all_qa: {fraction:g} looks like a score, not a grade. Are all_qa and results "
            "swapped? Grades that are fractions are given in relevant_doc_ids, or as relevance."
        )


def _is_qrels(all_qa: AllQA) -> TypeGuard[pd.DataFrame]:
    """Say whether it is a table with a row a judgement."""
    is_table = isinstance(all_qa, pd.DataFrame) and "relevant_doc_ids" not in list(all_qa)
    return is_table and {"query_id", "doc_id"} <= set(map(str, all_qa))


def _grouped_qrels(qrels: pd.DataFrame) -> list[Record]:
    """Turn a row a judgement into a dict a query."""
    judged = _read_qrels(qrels)
    refuse_repeated(judged)
    queries: list[Any] = [{"query_id": q, "relevant_doc_ids": {}} for q in judged.query_ids]
    for row, doc_id, grade in zip(judged.rows, judged.docs, judged.grades, strict=True):
        queries[row]["relevant_doc_ids"][doc_id] = grade
    for query, record in zip(queries, judged.queries, strict=False):
        query.update(record)
    return queries


# ---------------------------------------------------------------- the judgements of a query


class JudgementError(TypeError, ValueError):
    """A judgement that cannot be read: where it stands, what is wrong, and the cure.

    As an error it is in English, as a finding in the chosen language: the texts and their values
    are kept apart.
    """

    def __init__(self, where: str, what: str, cure: str, /, **values: Any) -> None:
        with in_english():
            super().__init__(f"{where}: {say(what, **values)}. {say(cure, **values)}.")
        self.where, self.what, self.cure, self.values = where, what, cure, values

    def said(self) -> tuple[str, str, str]:
        """Return where, what and the cure in the chosen language."""
        return self.where, say(self.what, **self.values), say(self.cure, **self.values)


def relevant_grades(qa: Record) -> dict[Any, float]:
    """Return the judged documents of one query with their grades; a plain list means grade 1.

    >>> relevant_grades({"query_id": "q10", "relevant_doc_ids": ["doc_004", "doc_007"]})
    {'doc_004': 1.0, 'doc_007': 1.0}

    Raises:
        KeyError: the query has no ``relevant_doc_ids``.
        JudgementError: it is not a list or a dict, holds something else than ids, or a grade is
            not a finite number.
    """
    where = f"{qa.get('query_id')}: relevant_doc_ids"
    if "relevant_doc_ids" not in qa:
        found = name_some(list(qa))
        raise KeyError(
            f"{where} is missing (found {found}). Give a list of doc_ids, [] if there is none."
        )
    relevant = qa["relevant_doc_ids"]
    if isinstance(relevant, dict):
        if not all(map(is_grade, relevant.values())):
            doc_id, grade = next(pair for pair in relevant.items() if not is_grade(pair[1]))
            what = to_say("the grade must be a finite number, found {found}")
            cure = to_say("Write 1 for relevant, 0 for not")
            raise JudgementError(f"{where}, {shown(doc_id)}", what, cure, found=shown(grade))
        return {doc_id: float(grade) for doc_id, grade in relevant.items()}

    if isinstance(relevant, np.ndarray):
        relevant = relevant.tolist()
    if not isinstance(relevant, (list, tuple, set, frozenset)):
        what = to_say("must be a list or a dict, found {found}")
        cure, meant = _list_meant(relevant)
        raise JudgementError(where, what, cure, found=typed(relevant), meant=meant)
    try:
        return dict.fromkeys(relevant, 1.0)
    except TypeError:  # a list is no key
        what = to_say("holds a list within the list: {found}")
        cure, meant = _list_meant(relevant)
        raise JudgementError(where, what, cure, found=shown(relevant), meant=meant) from None


def _list_meant(found: Any) -> tuple[str, str]:
    """Return the cure, and the list that was probably meant, from what was found.

    >>> _list_meant("['doc_002']")
    ('Write {meant}, a list and not its text', "['doc_002']")
    >>> _list_meant("doc_001, doc_004")
    ('Write {meant}', "['doc_001', 'doc_004']")
    """
    text = found if isinstance(found, str) else str(found)
    if text.lstrip().startswith(("[", "(", "{")):
        ids = shown(re.findall(r"[^\s,;'\"\[\](){}]+", text))
        if text is found:
            return to_say("Write {meant}, a list and not its text"), ids
        return to_say("Write {meant}, one list"), ids
    if isinstance(found, (str, Real)) and found == found:
        parts = [part.strip() for part in re.split("[,;]", text)]
        return to_say("Write {meant}"), shown([part for part in parts if part])
    return to_say("Write {meant}"), "[]"


def is_grade(number: Any) -> bool:
    """Say whether a value is a finite number of a size that can be summed."""
    # Nearly every grade is a small int; the full check of one takes ten times as long.
    if type(number) is int and -9 < number < 9:
        return True
    return is_number(number) and abs(float(number)) < _LARGEST_GRADE  # nor NaN, nor infinite


def unanswerable(qa: Record) -> bool:
    """Say whether all_qa knows that no document answers this query: none is judged relevant.

    >>> unanswerable({"query_id": "q12", "relevant_doc_ids": []}), unanswerable({"query_id": "q1"})
    (True, False)
    """
    return "relevant_doc_ids" in qa and not any(map(is_relevant, relevant_grades(qa).values()))


def is_relevant(grade: Any) -> Any:
    """Say whether a grade, or each of an array, means relevant: 0 and less is judged and is not."""
    return grade > 0


# ---------------------------------------------------------------- all judgements, flat


class Judgements(NamedTuple):
    """What all_qa says, a judgement an entry.

    Attributes:
        query_ids: the queries, in the order of all_qa.
        rows, docs, grades: of each judgement, the row of its query, the doc_id and the grade; in
            the order of the rows.
        queries: all_qa as dicts, where it came so; of a table of judgements only the questions and
            ground truths, if it has any.
    """

    query_ids: pd.Index
    rows: np.ndarray
    docs: np.ndarray
    grades: np.ndarray
    queries: Sequence[Record]

    @property
    def n_relevant(self) -> np.ndarray:
        """How many relevant documents each query has in the whole corpus."""
        return np.bincount(self.rows[is_relevant(self.grades)], minlength=len(self.query_ids))

    def in_order(self) -> "Judgements":
        """Return the judgements in the order of their rows."""
        if (np.diff(self.rows) >= 0).all():
            return self
        order = np.argsort(self.rows, kind="stable")
        rows, docs, grades = (values[order] for values in (self.rows, self.docs, self.grades))
        return self._replace(rows=rows, docs=docs, grades=grades)

    @property
    def questions(self) -> dict[Any, str]:
        """The question of each query that has one."""
        return {qa["query_id"]: qa["question"] for qa in self.queries if "question" in qa}


def read_judgements(all_qa: AllQA) -> Judgements:
    """Flatten all_qa, in its lecture form or as a table of judgements."""
    all_qa = as_all_qa(all_qa)
    if isinstance(all_qa, pd.DataFrame) and "relevant_doc_ids" not in all_qa:
        return _read_qrels(all_qa)
    queries = as_queries(all_qa)

    # Flat: a judgement an entry, with the row of its query.
    ids: list[Any] = []
    grades: list[float] = []
    lengths = []
    for qa in queries:
        of_query = relevant_grades(qa)
        ids.extend(of_query)
        grades.extend(of_query.values())
        lengths.append(len(of_query))

    docs = as_objects(ids)
    if kind_of_ids(docs) not in _KINDS:
        for qa in queries:
            own = list(relevant_grades(qa))
            refuse_strange_ids(own, "relevant_doc_ids", name_some([qa["query_id"]]))
        refuse_strange_ids(docs, "relevant_doc_ids", "all_qa")
    return Judgements(
        query_ids=as_index([qa["query_id"] for qa in queries]),
        rows=np.repeat(np.arange(len(queries)), lengths),
        docs=docs,
        grades=np.array(grades, dtype=float),
        queries=queries,
    )


def _read_qrels(qrels: pd.DataFrame) -> Judgements:
    wanted = "all_qa as a table needs query_id and relevant_doc_ids, or query_id and doc_id"
    want_columns(qrels, ("query_id", "doc_id"), "all_qa", wanted)
    if qrels.empty:
        raise ValueError("all_qa is an empty table: there is no judgement.")

    rows, query_ids = factorize_ids(qrels["query_id"], "all_qa")
    docs = as_objects(qrels["doc_id"].to_numpy())
    refuse_strange_ids(docs, "doc_id", "all_qa")

    queries = _read_questions(qrels, query_ids)
    return Judgements(as_index(query_ids), rows, docs, _grades_of(qrels), queries).in_order()


def _read_questions(qrels: pd.DataFrame, query_ids: np.ndarray) -> list[Record]:
    """Return the question and the ground truth of each query, on which its rows must agree."""
    fields = [field for field in ("question", "ground_truth") if field in qrels]
    queries: dict[Any, Any] = {query_id: {"query_id": query_id} for query_id in query_ids}
    for field in fields:
        filled = qrels[["query_id", field]].dropna()
        for query_id, text in filled.itertuples(index=False, name=None):
            first = queries[query_id].setdefault(field, text)
            if first is not text and not (isinstance(text, type(first)) and first == text):
                raise ValueError(
                    f"all_qa, {query_id}: a second {field} under one query_id, {shown(first)} and "
                    f"{shown(text)}. Give the other a query_id of its own, or correct it."
                )
    return list(queries.values()) if fields else []


def refuse_repeated(judged: Judgements) -> None:
    """Refuse a document that is judged twice for a query."""
    repeated = pd.MultiIndex.from_arrays([judged.rows, judged.docs]).duplicated()
    if repeated.any():
        queries = judged.query_ids[judged.rows[repeated]]
        both = zip(queries, judged.docs[repeated], strict=True)
        twice = name_some([f"{query_id} -> {doc_id}" for query_id, doc_id in both])
        raise ValueError(f"all_qa judges the same document of a query twice: {twice}. Keep one.")


def _grades_of(qrels: pd.DataFrame) -> np.ndarray:
    found = [column for column in GRADES if column in qrels]
    if len(found) > 1:
        raise ValueError(
            f"all_qa: which column holds the grades, {' or '.join(found)}? "
            "Drop the others, or rename the right one to relevance."
        )
    if not found:
        _warn_of_unread_grades(qrels)
        return np.ones(len(qrels))
    grades = numbers(qrels, found[0], "all_qa")
    if found[0] == "score":
        _refuse_scores(grades)
    return grades


def _warn_of_unread_grades(qrels: pd.DataFrame) -> None:
    """Warn of a column that may hold the grades; one that is the same in every row does not."""
    for column in qrels.columns.drop(["query_id", "doc_id"]):
        is_number_column = pd.api.types.is_numeric_dtype(qrels[column].dtype)
        if is_number_column and qrels[column].nunique() > 1:
            warn_user(
                f"all_qa: every row counts as relevant. If the column {column} holds the grades, "
                "rename it to relevance; else drop it."
            )


# ---------------------------------------------------------------- ids and columns


def as_objects(values: Any) -> np.ndarray:
    """Return values as an array of objects, whatever they are."""
    if hasattr(values, "dtype"):
        return np.asarray(values, dtype=object)
    return np.fromiter(values, dtype=object, count=len(values))


def as_index(ids: Any) -> pd.Index:
    """Return query_ids as an index of objects: pandas' own type of text takes longer to make."""
    return pd.Index(as_objects(ids), dtype=object, name="query_id")


def want_columns(table: pd.DataFrame, wanted: Sequence[str], name: str, why: str) -> None:
    """Refuse a table that lacks a column, or holds one twice."""
    refuse_odd_columns(table, name)
    if not set(wanted) <= set(table):
        raise KeyError(f"{why}; found {', '.join(map(str, table)) or 'no column'}.")


def numbers(table: pd.DataFrame, column: str, name: str) -> np.ndarray:
    """Return a column of finite numbers."""
    dtype = table[column].dtype
    if dtype.kind in "bc" or not pd.api.types.is_numeric_dtype(dtype):  # True, 1j
        raise TypeError(f"{name}: {column} must be numbers, found {dtype}. Use pd.to_numeric.")

    # A score may be infinite, and ranks first or last; a rank or a grade may not.
    values = table[column].to_numpy(dtype=float, na_value=np.nan)
    broken = np.isnan(values) if column == "score" else ~np.isfinite(values)
    if broken.any():
        where = int(np.flatnonzero(broken)[0])
        found = "NaN" if np.isnan(values[where]) else values[where]
        raise ValueError(f"{name}, row {where}: {column} is {found}. Fix it or take the row out.")
    return values


def refuse_strange_ids(ids: Any, field: str, name: str) -> None:
    """Refuse ids that are not all texts, or all integers."""
    if kind_of_ids(ids) in _KINDS:
        return
    strange = next((value for value in ids if not isinstance(value, str)), ids[0])
    raise TypeError(
        f"{name}: every {field} must be a text, found {typed(strange)}. "
        "Make ids texts on both sides; a table is read so with dtype=str."
    )


def refuse_strange_pairs(table: pd.DataFrame, name: str) -> None:
    """Refuse a row a query and document whose ids are not all texts, or all integers."""
    for column in ("query_id", "doc_id"):
        refuse_strange_ids(table[column].to_numpy(dtype=object), column, name)


_KINDS = ("text", "integer", "none")


def factorize_ids(column: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the position of each id among the different ones, and these, or refuse them."""
    try:
        positions, ids = pd.factorize(column, size_hint=_FEW)
    except TypeError:  # a list is no id
        positions, ids = np.array([]), column
    if (positions < 0).any():
        raise ValueError(f"{name}: query_id is missing (NaN) in some rows. Read it with dtype=str.")
    ids = as_objects(ids)
    refuse_strange_ids(ids, "query_id", name)
    return positions, ids


def kind_of_ids(ids: Any) -> str:
    """Return what the ids are: text, integer, none (of an empty array), or pandas' other words."""
    inferred = pd.api.types.infer_dtype(ids, skipna=False)
    return {"string": "text", "integer": "integer", "empty": "none"}.get(inferred, inferred)


def refuse_other_types(
    ours: np.ndarray, theirs: np.ndarray, in_all_qa: str, in_results: str
) -> None:
    """Refuse text ids on one side and integers on the other: nothing would ever match."""
    kinds = kind_of_ids(ours[:1]), kind_of_ids(theirs[:1])  # each side was seen to be of one
    if "none" not in kinds and kinds[0] != kinds[1]:
        raise TypeError(
            f"{in_all_qa} of all_qa is {typed(ours[0])}, {in_results} of results is "
            f"{typed(theirs[0])}: nothing would match. "
            "Make both texts: str(id), or astype(str) for a column."
        )


def refuse_confusable(ids: Sequence[Any], field: str) -> None:
    """Refuse ids that look alike and differ in their Unicode form: they would never match."""
    if kind_of_ids(ids[:1]) != "text" or "".join(ids).isascii():
        return

    # The first id of each NFC form stands for it; another one of that form is a twin.
    seen: dict[str, str] = {}
    for value in ids:
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError(
                f"{field} {shown(value)} holds half a character (a lone surrogate), which no file "
                "can keep. Read the ids again, as UTF-8."
            )
        twin = seen.setdefault(unicodedata.normalize("NFC", value), value)
        if twin != value:
            raise ValueError(
                f"{field} {shown(value)} is written in two Unicode forms (NFC and NFD), which look "
                "alike and never match. "
                'Bring all ids to one form: unicodedata.normalize("NFC", id).'
            )
