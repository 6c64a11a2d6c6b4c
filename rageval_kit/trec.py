"""Runs (TREC) and relevance judgements (TREC and BEIR) as files, packed (.gz) or not.

A line of a run is ``query_id Q0 doc_id rank score name``. A judgement is
``query_id 0 doc_id grade`` (TREC) or ``query-id corpus-id score`` parted by tabs, often under a
header (BEIR). A file whose name ends in .csv or .tsv holds either as a table with a header, quoted
where needed, and so any id. Ids are read as texts and kept as they are written: 09081824 and
830e2936 are ids, not numbers.
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

from rageval_kit.columns import QRELS, RUN, recognise
from rageval_kit.files import IN_NO_FILE, as_path, read_text, write_whole, wrong_line
from rageval_kit.judgements import AllQA, read_judgements, refuse_repeated
from rageval_kit.messages import name_some, shown, warn_user
from rageval_kit.rankings import Hit, ResultsLike, as_rankings, direction, run_both_ways

_RUN = ("query_id", "Q0", "doc_id", "rank", "score", "name")
_TREC_QRELS = ("query_id", "0", "doc_id", "relevance")
_BEIR_QRELS = ("query_id", "doc_id", "relevance")
_TABLE_OF_RUN = ("query_id", "doc_id", "rank", "score", "name")
_KINDS = {3: "BEIR judgements: load_qrels", 4: "TREC judgements: load_qrels", 6: "a run: load_run"}

# The header of judgements, with or without the column of zeros. In another order it is none, and
# its last word is then refused as a grade.
_HEADER = re.compile(
    r"(query|qid|topic)[\w-]*\s+(\w+\s+)?(corpus|doc)[\w-]*\s+(score|rel|label|grade)\w*", re.I
)
_NOT_IN_TREC = (
    r"[\s\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]|^$",
    "holds white space or a character that is not seen, or is empty: TREC's form cannot hold it. "
    "Save to a path that ends in .csv or .tsv, which hold any id",
)
_JSON = re.compile(r'\s*[\[{]\s*["{]')


# ---------------------------------------------------------------- runs and judgements


def load_run(path: str | Path) -> pd.DataFrame:
    """Read a run in TREC's form; of a .csv or .tsv the columns ``query_id, doc_id, score``.

    Returns:
        ``query_id, doc_id, score``, a row a hit, in the order of the file; the run's name is in
        ``.attrs["name"]``. As in trec_eval the score decides the order (falling; equal scores by
        doc_id descending) and the rank that the file gives is not used.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file cannot be read as a run; the message names file and line.
    """
    text = read_text(path)
    table = _read_columns(path, text, RUN, ("query_id", "doc_id", "score"))
    if table is None:
        table = _read_lines_of_run(path, text)
    if table.empty:
        raise ValueError(f"{path} holds no hit, only a header. Add lines below it.")

    run = table[["query_id", "doc_id"]].assign(score=_numbers(path, table, "score"))
    run.attrs = {"name": table["name"].iloc[0]} if "name" in table else {}
    return run.reset_index(drop=True)


def _read_lines_of_run(path: str | Path, text: str) -> pd.DataFrame:
    table = _read_table(path, text, _RUN, r"\s+")
    swapped = ~table["rank"].str.fullmatch(r"-?\d+")
    if swapped.any():
        line: Any = swapped.idxmax()
        what = f"the rank {table.loc[line, 'rank']!r} is not a whole number."
        raise wrong_line(path, line, f"{what} Are rank and score swapped?", _RUN)
    return table


def load_qrels(path: str | Path) -> pd.DataFrame:
    """Read relevance judgements in TREC's or BEIR's form, with or without a header.

    The columns of a .csv are ``query_id, doc_id, relevance``, or as other tools call them.

    Returns:
        ``query_id, doc_id, relevance``, a row a judgement; usable as all_qa in every metric
        function. Grades of 0 and less are judged and not relevant; the same line twice counts once.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file cannot be read as judgements; the message names file and line.
    """
    text = read_text(path)
    table = _read_columns(path, text, QRELS, _BEIR_QRELS)
    if table is None:
        table = _read_lines_of_qrels(path, text)
    if table.empty:
        raise ValueError(f"{path} holds no judgement, only a header. Add lines below it.")

    # One judgement a query and document.
    table = table.assign(relevance=_numbers(path, table, "relevance"))
    table = table[["query_id", "doc_id", "relevance"]].drop_duplicates()
    again = table.duplicated(["query_id", "doc_id"])
    if again.any():
        line: Any = again.idxmax()
        query_id, doc_id = table.loc[line, ["query_id", "doc_id"]]
        what = f"{query_id} -> {doc_id} has another grade above. Keep one."
        raise wrong_line(path, line, what)
    return table.reset_index(drop=True)


def _read_lines_of_qrels(path: str | Path, text: str) -> pd.DataFrame:
    lines = [line.strip("\r\n") for line in text.split("\n") if line.strip()]

    # Tabs part the fields if they do so in every line, since ids may hold spaces then; but four
    # fields of which the second is 0 are TREC's, whatever parts them.
    fields = [line.split() for line in lines]
    is_trec = all(len(parts) == 4 and parts[1] in ("0", "Q0") for parts in fields)
    by_tabs = not is_trec and {line.count("\t") for line in lines} in ({2}, {3})
    n_fields = len(lines[0].strip().split("\t")) if by_tabs else len(fields[0])
    names = _BEIR_QRELS if n_fields == 3 else _TREC_QRELS

    table = _read_table(path, text, names, "\t" if by_tabs else r"\s+")
    return table.iloc[1:] if _HEADER.fullmatch(lines[0].strip()) else table


def save_run(results: ResultsLike, path: str | Path, name: str = "rageval_kit") -> None:
    """Write results as a run that other tools rank in the same order, in TREC's form.

    TREC's form cannot hold an id with a blank, such as a file's name. A path that ends in .csv or
    .tsv gets a table with a header, which can: ``query_id, doc_id, rank, score, name``.

    Distances are written with a minus sign, since tools expect a higher score to be better. Equal
    scores are stepped down in the last digit of a float32, since tools order ties by doc_id.
    Results without scores get ``k, k - 1, ...``.

    Args:
        results: in any of the forms that `relevance_matrix` lists.
        path: the file; packed if it ends in .gz. It is written whole or not at all.
        name: the run's name.

    Raises:
        ValueError: an id or the name holds what the form cannot hold; or scores rise in one
            ranking and fall in another.
    """
    rankings = as_rankings(results)
    lower_is_better = direction(rankings)
    if run_both_ways(rankings):
        found = "The scores rise in one place and fall in another: which are the better ones?"
        raise ValueError(f"{found} Order all rankings alike, or leave the scores out.")

    rows = []
    for query_id, ranking in rankings.items():
        scores = falling_scores(ranking, lower_is_better)
        for rank, (hit, score) in enumerate(zip(ranking, scores, strict=True), start=1):
            rows.append((query_id, hit["doc_id"], rank, score, name))
    if _column_mark(path):
        _write_columns(path, _TABLE_OF_RUN, rows)
        return

    docs = [hit["doc_id"] for ranking in rankings.values() for hit in ranking]
    _refuse_unwritable([name, *rankings, *docs], *_NOT_IN_TREC)
    _write(path, ["{} Q0 {} {} {!r} {}\n".format(*row) for row in rows])


def save_qrels(all_qa: AllQA, path: str | Path) -> None:
    """Write the judgements of all_qa: to a .tsv in BEIR's form, to a .csv as a table, else TREC's.

    TREC's form cannot hold an id with a blank; the other two, which have a header, hold any.

    A query without a judgement has no line in such a file, and is named in a warning.

    Raises:
        ValueError: an id holds what the form cannot hold, or a grade is not a whole number.
    """
    judged = read_judgements(all_qa)
    refuse_repeated(judged)
    broken = judged.grades[judged.grades != np.floor(judged.grades)]
    if len(broken):
        found = f"Grades in a file are whole numbers, found {broken[0]:g}"
        raise ValueError(f"{found}. Scale them first, for example x 10.")
    without = judged.query_ids.delete(judged.rows).tolist()
    if without:
        warn_user(f"not written, since nothing is judged for them: {name_some(without)}.")

    queries = judged.query_ids.to_numpy()[judged.rows]
    grades = [f"{grade:.0f}" for grade in judged.grades]
    mark = _column_mark(path)
    if mark:
        header = ("query-id", "corpus-id", "score") if mark == "\t" else _BEIR_QRELS
        _write_columns(path, header, list(zip(queries, judged.docs, grades, strict=True)))
        return
    _refuse_unwritable([*queries, *judged.docs], *_NOT_IN_TREC)
    _write(path, list(map("{} 0 {} {}\n".format, queries, judged.docs, grades)))


# ---------------------------------------------------------------- tables with a header


def _column_mark(path: str | Path) -> str | None:
    """Return what parts the columns of a .csv or .tsv (or .csv.gz); None for any other file."""
    name = Path(as_path(path).name.removesuffix(".gz"))
    return {".csv": ",", ".tsv": "\t"}.get(name.suffix)


def _read_columns(
    path: str | Path, text: str, fields: Mapping[str, str], wanted: Sequence[str]
) -> pd.DataFrame | None:
    """Read a .csv or .tsv with a header as texts; the index counts the lines from 1.

    Args:
        path, text: the file, and what it holds.
        fields: what each column may be called.
        wanted: the fields that there must be, with something in every row.

    Returns:
        None for any other file, and for a .tsv that is no such table: its lines are BEIR's or
        TREC's, where a quote is a letter as any other.
    """
    mark = _column_mark(path)
    if mark is None:
        return None
    try:
        return _rows_under_header(path, text, mark, fields, wanted)
    except ValueError:
        if mark == "\t":
            return None
        raise


def _rows_under_header(
    path: str | Path, text: str, mark: str, fields: Mapping[str, str], wanted: Sequence[str]
) -> pd.DataFrame:
    rows: dict[int, list[str]] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        for row in reader:
            if any(map(str.strip, row)):
                rows[reader.line_num] = row
    except csv.Error as error:
        raise wrong_line(path, reader.line_num, f"not CSV ({error}). Fix the quotes.") from None

    # The header says which column is which, in any order.
    first, header = next(iter(rows.items()), (1, []))
    columns = recognise(header, fields, {}, str(path))
    if not set(wanted) <= set(columns):
        what = f"a header with {', '.join(wanted)} was wanted, found {name_some(header)}."
        raise wrong_line(path, first, f"{what} Rename the columns.")

    # Every row holds as many fields, and none of the wanted is empty.
    rows.pop(first, None)
    places = {field: header.index(column) for field, column in columns.items()}
    for line, row in rows.items():
        empty = len(row) == len(header) and any(not row[places[field]] for field in wanted)
        if empty or len(row) != len(header):
            found = "an empty one" if empty else len(row)
            what = f"{len(header)} fields were wanted, found {found}."
            raise wrong_line(path, line, what, header)
    cells = {field: [row[place] for row in rows.values()] for field, place in places.items()}
    return pd.DataFrame(cells, index=list(rows), dtype=object)


def _write_columns(path: str | Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    _refuse_unwritable(
        [str(value) for row in rows for value in row],
        IN_NO_FILE,
        "is empty, or holds NUL or half a character (a lone surrogate), which no text can keep",
    )

    # Quoted where needed, as csv.writer does in Python 3.13: older ones forget a lone \r.
    mark = _column_mark(path) or ""
    needs_quotes = re.compile(rf'[{mark}"\r\n]')

    def cell(value: Any) -> str:
        text = str(value)
        return '"{}"'.format(text.replace('"', '""')) if needs_quotes.search(text) else text

    _write(path, [mark.join(map(cell, row)) + "\n" for row in (header, *rows)])


# ---------------------------------------------------------------- lines of fields


def _read_table(path: str | Path, text: str, names: Sequence[str], separator: str) -> pd.DataFrame:
    """Read fields as texts; the index counts the lines of the file from 1."""
    if _JSON.match(text):
        found = f"{path} holds JSON. A dataset is read by load_dataset(folder)"
        cure = "json.loads(path.read_text()) gives a dict of dicts, which is taken as it is"
        raise ValueError(f"{found}; {cure}.")
    try:
        with warnings.catch_warnings():
            # pandas' word for fields that it would drop
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.StringIO(text), sep=separator, header=None, names=list(names), index_col=False,
                dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE, skip_blank_lines=False,
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        where = re.search(r"in line (\d+), saw (\d+)", str(error))
        line, found = where.groups() if where else ("1", "more")
        raise _wrong_count(path, text, names, line, found) from None

    # Blank lines are none; a line with a field too few has an empty one.
    table.index += 1
    empty = table.isna() | (table == "")
    table = table[~empty.all(axis=1)]
    short = empty.loc[table.index].any(axis=1)
    if short.any():
        first: Any = short.idxmax()
        raise _wrong_count(path, text, names, first, (~empty.loc[first]).sum())

    # TREC's second field, which says nothing, in the place of the doc_id.
    second, docs = table[[names[1], "doc_id"]].isin(["0", "Q0"]).all()
    if len(table) > 1 and docs and not second:
        what = f"the doc_id of every line is {table['doc_id'].iloc[0]}."
        raise wrong_line(path, table.index[0], what, names)
    return table.apply(lambda column: column.str.strip())


def _wrong_count(path: Any, text: str, names: Sequence[str], line: Any, found: Any) -> ValueError:
    n_fields = len(text.lstrip().partition("\n")[0].split())
    other = _KINDS.get(n_fields) if n_fields != len(names) else None
    if n_fields == 1 and "," in text.partition("\n")[0]:
        other = "CSV, whose name must end in .csv"
    looks = f" It looks like {other}." if other else ""
    what = f"{len(names)} fields were wanted, found {found}.{looks}"
    return wrong_line(path, line, what, names)


def _numbers(path: str | Path, table: pd.DataFrame, column: str) -> pd.Series:
    numbers = pd.to_numeric(table[column], errors="coerce").astype(float)
    # A score may be infinite, and ranks first or last; a grade may not.
    broken = numbers.isna() if column == "score" else numbers.isna() | np.isinf(numbers)
    if broken.any():
        line: Any = broken.idxmax()
        what = f"the {column} {table.loc[line, column]!r} is not a number."
        raise wrong_line(path, line, what, table.columns.tolist())
    return numbers


def falling_scores(ranking: Sequence[Hit], lower_is_better: bool | None) -> list[float]:
    """Return scores that fall from each hit to the next, so far as a float32 tells them apart."""
    if any(hit.get("score") is None for hit in ranking):
        return [float(len(ranking) - position) for position in range(len(ranking))]
    scores = [-float(hit["score"]) if lower_is_better else float(hit["score"]) for hit in ranking]
    with np.errstate(over="ignore"):  # what is too large for a float32 is infinite
        for position in range(1, len(scores)):
            below = float(np.nextafter(np.float32(scores[position - 1]), np.float32(-np.inf)))
            scores[position] = min(scores[position], below)
    return scores


def _refuse_unwritable(ids: Sequence[Any], unwritable: str, why: str) -> None:
    """Refuse what would be read back as something else, such as an id with a blank."""
    broken = next((value for value in ids if re.search(unwritable, str(value))), None)
    if broken is not None:
        raise ValueError(f"{shown(broken)} {why}. Or give it another name.")


def _write(path: str | Path, lines: Sequence[str]) -> None:
    data = "".join(lines).encode("utf-8")
    # mtime=0: the same results give the same file.
    path = as_path(path)
    write_whole({path: gzip.compress(data, mtime=0) if path.suffix == ".gz" else data})
