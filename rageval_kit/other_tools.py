"""What other tools hand over, turned into the forms that the kit reads.

Results and judgements as a whole become a DataFrame or a dict: tables of polars, pyarrow and
datasets; lists of ir-measures' ``ScoredDoc`` and ``Qrel``; ranx's ``Run`` and ``Qrels``. Then a
ranking becomes a list of hits: pytrec's ``{doc_id: score}``, doc_ids, LangChain documents.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import pandas as pd

from rageval_kit.documents import as_table, is_langchain, read_document
from rageval_kit.messages import is_number, shown, typed

# ---------------------------------------------------------------- all queries at once


def from_other_tool(given: Any, name: str) -> Any:
    """Return results or all_qa as a dict, a list or a DataFrame; what is neither as it is.

    Raises:
        TypeError: it is a run in place of judgements, or the other way round; or its rows differ.
    """
    # The kit's own forms, which are large, at once.
    if isinstance(given, (dict, pd.DataFrame)):
        return given
    if isinstance(given, Iterator) and name == "all_qa":  # read twice, a run would be empty
        given = list(given)

    # ranx: a Run holds what pytrec takes as one, and Qrels its judgements.
    if hasattr(given, "get_doc_ids_and_scores"):
        if hasattr(given, "qrels") != (name == "all_qa"):
            found = f"{name} must not be ranx's {type(given).__name__}"
            raise TypeError(f"{found}. Are all_qa and results swapped?")
        return given.to_dict()

    # ir-measures: its rows are named tuples.
    if isinstance(given, (list, tuple)) and given and hasattr(given[0], "_fields"):
        for place, row in enumerate(given, start=1):
            if type(row) is not type(given[0]):
                wanted = f"a {type(given[0]).__name__} as in entry 1 was wanted"
                raise TypeError(f"{name}, entry {place}: {wanted}, found {typed(row)}. Fix it.")
        return pd.DataFrame(given, columns=list(given[0]._fields))
    return as_table(given, name)


# ---------------------------------------------------------------- one ranking


def as_hits(ranking: Any, where: str, depth: int | None = None) -> Sequence[Any]:
    """Return the first ``depth`` hits (None: all) of a ranking in any form, best first.

    A list keeps its order, whatever its scores say. A dict has none: the highest score is first,
    and equal scores are ordered by doc_id, descending (trec_eval's rule).

    >>> as_hits({"A": 0.2, "B": 0.7}, "results, q1")
    [{'doc_id': 'B', 'score': 0.7}, {'doc_id': 'A', 'score': 0.2}]
    >>> as_hits([("A", 0.2), ("B", 0.7)], "results, q1", depth=1)
    [{'doc_id': 'A', 'score': 0.2}]

    Raises:
        TypeError: it is no ranking, a score is no number, or a hit has another form than the first.
        ValueError: a score is NaN, or a LangChain document has no doc_id.
    """
    if isinstance(ranking, Mapping):
        return _by_score(ranking, where)[:depth]
    if not isinstance(ranking, (list, tuple)):
        raise TypeError(
            f'{where}: a list of hits was wanted, such as [{{"doc_id": "doc_001"}}], best first; '
            f"found {typed(ranking)}. Write [] for a query that found nothing."
        )

    # The lecture's form, and what is none at all, which is refused where hits are read.
    first = "" if not ranking or type(ranking[0]) is dict else _form(ranking[0])
    if first not in _READ:
        return ranking[:depth]

    # Another tool's: the first hit says which, and all others are alike.
    hits = []
    for rank, hit in enumerate(ranking[:depth], start=1):
        if _form(hit) != first:
            wanted = f"{first} was wanted, as at rank 1"
            found = f"{where}, rank {rank}: {wanted}; found {typed(hit)}"
            raise TypeError(f"{found}. Write all hits of a ranking alike.")
        try:
            hits.append(_READ[first](hit))
        except ValueError as error:  # a document without doc_id
            raise ValueError(f"{where}, rank {rank}: {error}") from None
    return hits


_READ: dict[str, Callable[[Any], dict[str, Any]]] = {
    "a doc_id": lambda hit: {"doc_id": hit},
    "a LangChain document": read_document,
    "a doc_id with a score": lambda hit: {"doc_id": hit[0], "score": hit[1]},
    "a LangChain document with a score": lambda hit: read_document(hit[0]) | {"score": hit[1]},
}


def _form(hit: Any) -> str:
    """Say what a hit is: a key of `_READ`, or "" for a dict and anything that is no hit.

    >>> _form("doc_001"), _form(("doc_001", 0.7)), _form({"doc_id": "doc_001"})
    ('a doc_id', 'a doc_id with a score', '')
    """
    if isinstance(hit, (tuple, list)) and len(hit) == 2 and not isinstance(hit[0], (tuple, list)):
        return f"{_form(hit[0])} with a score"
    if isinstance(hit, (str, Integral)) and not isinstance(hit, bool):
        return "a doc_id"
    return "a LangChain document" if is_langchain(hit) else ""


def _by_score(scores: Mapping[Any, Any], where: str) -> list[dict[str, Any]]:
    for doc_id, score in scores.items():
        if type(score) is not float or score != score:  # nearly every score is one, and is quick
            refuse_odd_score(score, f"{where}, {shown(doc_id)}")
    best_first = sorted(scores.items(), key=lambda hit: (hit[1], str(hit[0])), reverse=True)
    return [{"doc_id": doc_id, "score": score} for doc_id, score in best_first]


def refuse_odd_score(score: Any, where: str) -> None:
    """Refuse what is no number, and NaN."""
    if score is pd.NA or (is_number(score) and score != score):
        raise ValueError(f"{where}: the score is NaN, and the order unknown. Look at the search.")
    if not is_number(score):
        raise TypeError(f"{where}: the score must be a number, found {typed(score)}. Convert it.")
