"""Read and write run files (TREC) and relevance judgements (TREC and BEIR), packed (.gz) or not.

A run line is ``query_id Q0 doc_id rank score name``. A judgement line is ``query_id 0 doc_id grade``
(TREC) or ``query-id corpus-id score`` parted by tabs, often under a header (BEIR). Ids are read as
texts and kept as they are written: 09081824 and 830e2936 are ids, not numbers.
"""

import csv
import gzip
import io
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.files import read_text
from rageval_kit.judgements import read_judgements
from rageval_kit.rankings import as_rankings, direction

_RUN = ("query_id", "Q0", "doc_id", "rank", "score", "name")
_TREC_QRELS = ("query_id", "0", "doc_id", "relevance")
_BEIR_QRELS = ("query_id", "doc_id", "relevance")
_HEADER = re.compile(
    r"query[-_]?id|corpus[-_]?id|doc[-_]?id|qid|topic|score|relevance|rel|label", re.IGNORECASE
)


def load_run(path: str | Path) -> pd.DataFrame:
    """Read a TREC run.

    Returns:
        ``query_id, doc_id, score``, a row a hit, in the order of the file; the run's name is in
        ``.attrs["name"]``. As in trec_eval the score decides the order (falling; equal scores by
        doc_id descending) and the rank that the file gives is not used.

    Raises:
        FileNotFoundError: the file is not there.
        ValueError: the file cannot be read as a run; the message names file and line.
    """
    table = _read_table(path, read_text(path), _RUN, r"\s+")
    _refuse_wrong_order(path, table, _RUN)
    scores = _numbers(path, table, "score")
    run = pd.DataFrame({"query_id": table["query_id"], "doc_id": table["doc_id"], "score": scores})
    run.attrs = {"name": table["name"].iloc[0]}
    return run.reset_index(drop=True)


def load_qrels(path: str | Path) -> pd.DataFrame:
    """Read relevance judgements in TREC's or BEIR's form, with or without a header.

    Returns:
        ``query_id, doc_id, relevance``, a row a judgement; usable as all_qa in every metric
        function. Grades of 0 and less are judged and not relevant; the same line twice counts once.

    Raises:
        FileNotFoundError: the file is not there.
        ValueError: the file cannot be read as judgements; the message names file and line.
    """
    text = read_text(path)
    lines = [line.strip("\r\n") for line in text.split("\n") if line.strip()]
    # Tabs part the fields only if they do so in every line: ids may hold spaces then.
    by_tabs = {line.count("\t") for line in lines}
    separator = "\t" if by_tabs in ({2}, {3}) else r"\s+"
    fields = re.split(separator, lines[0].strip())
    wanted = _BEIR_QRELS if len(fields) == 3 else _TREC_QRELS
    table = _read_table(path, text, wanted, separator)
    if sum(bool(_HEADER.fullmatch(field.strip())) for field in fields) >= 2:
        _refuse_other_header(path, fields)
        table = table.iloc[1:]
    if table.empty:
        raise ValueError(f"{path} holds no judgement, only a header.")
    _refuse_wrong_order(path, table, wanted)
    grades = _numbers(path, table, "relevance")
    table = table.assign(relevance=grades).drop_duplicates(["query_id", "doc_id", "relevance"])
    again = table.duplicated(["query_id", "doc_id"])
    if again.any():
        line = _first(again)
        query_id, doc_id = table.loc[line, ["query_id", "doc_id"]]
        raise ValueError(
            f"{path}, line {line}: {query_id} -> {doc_id} has another grade above. Keep one of the two."
        )
    qrels = pd.DataFrame(
        {"query_id": table["query_id"], "doc_id": table["doc_id"], "relevance": table["relevance"]}
    )
    return qrels.reset_index(drop=True)


def save_run(results: Any, path: str | Path, name: str = "rageval_kit") -> None:
    """Write results as a TREC run that other tools rank in the same order.

    Distances are written with a minus sign, since tools expect a higher score to be better. Equal
    scores are stepped down in the last digit of a float32, since tools order ties by doc_id.
    Results without scores get ``k, k - 1, ...``.

    Args:
        results: ``{query_id: [hit, ...]}`` or a DataFrame, see `relevance_matrix`.
        path: the file; packed if it ends in .gz.
        name: the run's name, without white space.

    Raises:
        ValueError: an id or the name holds white space, which the form cannot hold.
    """
    _refuse_white_space([name], "name")
    lines = []
    rankings = as_rankings(results)
    for query_id, ranking in rankings.items():
        _refuse_white_space([query_id, *(hit["doc_id"] for hit in ranking)], "id")
        scores = _falling_scores(ranking, direction(rankings))
        for rank, (hit, score) in enumerate(zip(ranking, scores, strict=True), start=1):
            lines.append(f"{query_id} Q0 {hit['doc_id']} {rank} {score!r} {name}\n")
    _write(path, "".join(lines))


def save_qrels(all_qa: Any, path: str | Path) -> None:
    """Write the judgements of all_qa: in BEIR's form if the path ends in .tsv (or .tsv.gz), else in TREC's.

    Raises:
        ValueError: an id holds white space (TREC) or a tab (BEIR), or a grade is not a whole number.
    """
    judged = read_judgements(all_qa)
    queries = judged.query_ids.to_numpy()[judged.rows]
    broken = judged.grades[judged.grades != np.floor(judged.grades)]
    if len(broken):
        raise ValueError(
            f"Grades in a file are whole numbers, found {broken[0]:g}. Scale them first, for example x 10."
        )
    grades = judged.grades.astype(int)
    if Path(path).name.removesuffix(".gz").endswith(".tsv"):
        _refuse_white_space([*queries, *judged.docs], "id", r"[\t\r\n]")
        lines = ["query-id\tcorpus-id\tscore\n"]
        lines += [
            f"{query}\t{doc}\t{grade}\n"
            for query, doc, grade in zip(queries, judged.docs, grades, strict=True)
        ]
    else:
        _refuse_white_space([*queries, *judged.docs], "id")
        lines = [
            f"{query} 0 {doc} {grade}\n"
            for query, doc, grade in zip(queries, judged.docs, grades, strict=True)
        ]
    _write(path, "".join(lines))


# ---------------------------------------------------------------- reading


def _read_table(path: str | Path, text: str, names: Sequence[str], separator: str) -> pd.DataFrame:
    """Read fields as texts; the index counts the lines of the file from 1."""
    wanted = f"{len(names)} fields were wanted: {' '.join(names)}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error", pd.errors.ParserWarning
            )  # its word for fields that it would drop
            table = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                header=None,
                names=list(names),
                index_col=False,
                dtype=str,
                keep_default_na=False,
                quoting=csv.QUOTE_NONE,
                skip_blank_lines=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        where = re.search(r"in line (\d+), saw (\d+)", str(error))
        line, found = where.groups() if where else ("1", "more")
        raise ValueError(
            f"{path}, line {line}: {wanted}; found {found}.{_looks_like(text, names)}"
        ) from None
    table.index += 1
    empty = table.isna() | (table == "")
    table = table[~empty.all(axis=1)]
    short = empty.loc[table.index].any(axis=1)
    if short.any():
        line = _first(short)
        found = f"found {(~empty.loc[line]).sum()}"
        raise ValueError(f"{path}, line {line}: {wanted}; {found}.{_looks_like(text, names)}")
    return table.apply(lambda column: column.str.strip())


def _first(broken: pd.Series) -> int:
    return int(broken.index[broken.to_numpy()][0])


def _looks_like(text: str, names: Sequence[str]) -> str:
    fields = len(next(line for line in text.split("\n") if line.strip()).split())
    kinds = {
        3: " It looks like BEIR judgements: load_qrels.",
        4: " It looks like TREC judgements: load_qrels.",
    }
    kinds[6] = " It looks like a run: load_run."
    return "" if fields == len(names) else kinds.get(fields, "")


def _refuse_wrong_order(path: str | Path, table: pd.DataFrame, names: Sequence[str]) -> None:
    order = " ".join(names)
    filler = table.iloc[:, 1].isin(["0", "Q0"]).all()  # in TREC's forms
    if len(names) > 3 and len(table) > 1 and not filler:
        if table["doc_id"].isin(["0", "Q0"]).all():
            raise ValueError(
                f"{path}: the doc_id of every line is {table['doc_id'].iloc[0]}. The order is: {order}."
            )
        if "relevance" in table and (table["relevance"] == "0").all():
            raise ValueError(
                f"{path}: the grade of every line is 0, and the second field is not. The order is: {order}."
            )
    if "rank" in table and not table["rank"].str.fullmatch(r"-?\d+").all():
        line = _first(~table["rank"].str.fullmatch(r"-?\d+"))
        raise ValueError(
            f"{path}, line {line}: the rank {table.loc[line, 'rank']!r} is not a whole number. "
            f"Are rank and score swapped? The order is: {order}."
        )


def _refuse_other_header(path: str | Path, fields: Sequence[str]) -> None:
    initials = [field.strip()[0].lower() for field in fields]  # query or qid, then corpus or doc
    if initials[0] not in "qt" or initials[-2] not in "cd":
        raise ValueError(
            f"{path}: the header says {' '.join(field.strip() for field in fields)}, in another order than is wanted: "
            "query-id corpus-id score. Reorder the columns."
        )


def _numbers(path: str | Path, table: pd.DataFrame, column: str) -> pd.Series:
    numbers = pd.to_numeric(table[column], errors="coerce").astype(float)
    broken = numbers.isna() if column == "score" else numbers.isna() | np.isinf(numbers)
    if broken.any():
        line = _first(broken)
        order = _RUN if column == "score" else _TREC_QRELS if "0" in table else _BEIR_QRELS
        raise ValueError(
            f"{path}, line {line}: the {column} {table.loc[line, column]!r} is not a number. "
            f"The order is: {' '.join(order)}."
        )
    return numbers


# ---------------------------------------------------------------- writing


def _falling_scores(
    ranking: Sequence[Mapping[str, Any]], lower_is_better: bool | None
) -> list[float]:
    if any(hit.get("score") is None for hit in ranking):
        return [float(len(ranking) - position) for position in range(len(ranking))]
    scores = [float(hit["score"]) for hit in ranking]
    rising = len(scores) > 1 and scores[-1] > scores[0]
    if lower_is_better or (lower_is_better is None and rising):
        scores = [-score for score in scores]
    for position in range(1, len(scores)):
        below = float(np.nextafter(np.float32(scores[position - 1]), np.float32(-np.inf)))
        scores[position] = min(scores[position], below)
    return scores


def _refuse_white_space(ids: Sequence[Any], what: str, pattern: str = r"\s") -> None:
    broken = [value for value in ids if re.search(pattern, str(value)) or not str(value)]
    if broken:
        raise ValueError(
            f"The {what} {broken[0]!r} holds white space or is empty, which this form of file cannot hold."
        )


def _write(path: str | Path, text: str) -> None:
    path = Path(path)
    data = text.encode("utf-8")
    # mtime=0: the same results give the same file.
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
