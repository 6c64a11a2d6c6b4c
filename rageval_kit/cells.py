"""What stands in a cell: an id, a text, or a list that was written as text."""

import json
import re
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

from rageval_kit.messages import shown

_NUMPY = re.compile(r"\barray\(|,\s*dtype=[\w.<>']+\s*\)|(?<=\])\)")
_GRADE = re.compile(r"""(['"])(.*?)\1\s*:\s*(-?[\d.]+)""")  # of a dict as Python writes it
_QUOTED = re.compile(r"""(\[|\(|array\(|\s)+['"].*['"]\s*(,\s*dtype=\w+|[\])]|\s)+""", re.DOTALL)
_PART = re.compile(
    r"""(?P<bracket>[\[\]()])
      | '(?P<single>(?:[^'\\]|\\.)*)'
      | "(?P<double>(?:[^"\\]|\\.)*)"
      | (?P<comma>,)
      | (?P<bare>[^\s,\[\]()'"][^,\[\]()'"]*)""",
    re.VERBOSE | re.DOTALL,
)


def is_missing(value: Any) -> bool:
    """Say whether a cell is empty: None, NaN, pandas' NA, or a text of blanks."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(_is_nan(value))


def _is_nan(value: Any) -> bool:
    return isinstance(value, Real) and value != value


def as_text(value: Any, where: str) -> str:
    """Return a cell as a text; "" if it is empty. Of several answers the first.

    >>> as_text(30, "row 1"), as_text(["30,000 won", "30000"], "row 1"), as_text(None, "row 1")
    ('30', '30,000 won', '')

    Raises:
        TypeError: it is an object that is no text.
    """
    if isinstance(value, str):  # nearly every cell
        return value if value.strip() else ""
    value = _plain(value)
    if isinstance(value, Mapping) and "text" in value:  # SQuAD's answers
        value = value["text"]
    if isinstance(value, list):
        value = value[0] if value else None
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column of integers with a gap
    if isinstance(value, (list, Mapping)):
        raise TypeError(f"{where}: a text was wanted, found {shown(value)}. Write it as one text.")
    return str(value)


def _plain(value: Any) -> Any:
    """Return numpy's arrays and numbers, tuples and sets as Python's own lists and numbers."""
    if isinstance(value, (str, Mapping)):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value


def as_list(value: Any, where: str, of_ids: bool) -> Any:
    """Return a cell as a list, as written in JSON, Python or numpy's form; [] if it is empty.

    A list of ids may also be parted by ``;``. A dict, or an object of JSON, stays one.

    >>> as_list("['doc_001' 'doc_004']", "row 1", True), as_list("001; 1e5", "row 1", True)
    (['doc_001', 'doc_004'], ['001', '1e5'])
    >>> as_list("[see below] 7 days; then 14", "row 1", False)
    ['[see below] 7 days; then 14']

    Raises:
        ValueError: the list was cut by ``...`` when it was printed.
    """
    value = _plain(value)
    if is_missing(value):
        return []
    if not isinstance(value, str):
        return value if isinstance(value, (list, Mapping)) else [value]

    text = value.strip()
    if text[0] in "[({a":  # a list, a dict, an array
        read = _read_list(text, where, of_ids)
        if read is not None:
            return read
    return [part.strip() for part in text.split(";") if part.strip()] if of_ids else [value]


def _read_list(text: str, where: str, of_ids: bool) -> Any:
    """Return the list or dict that a text is, None if it is just a text."""
    try:
        read = json.loads(text, parse_int=str, parse_float=str)
        return read if isinstance(read, (list, dict)) else None
    except (ValueError, RecursionError):
        pass
    if of_ids and text.startswith("{") and (grades := _GRADE.findall(text)):
        return {doc_id: grade for _, doc_id, grade in grades}
    return _parse_list(text, where) if _is_list(text, of_ids) else None


def _is_list(text: str, of_ids: bool) -> bool:
    """Say whether a text is a list; that of passages has quotes, since a passage has brackets."""
    if not re.match(r"(\[|\(|array\()", text) or text[-1] not in "])":
        return False
    return of_ids or _QUOTED.fullmatch(text) is not None


def _parse_list(text: str, where: str) -> list[Any]:
    """Read a list as Python or numpy print it; parts without quotes may be parted by blanks."""
    if "array(" in text:
        text = _NUMPY.sub("", text)
    by_commas = bool(re.sub(r"'[^']*'|\"[^\"]*\"", "", text).count(","))
    whole: list[Any] = []
    open_lists = [whole]
    for part in _PART.finditer(text):
        if part["bracket"] in ("[", "("):
            inner: list[Any] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif part["bracket"]:
            open_lists = open_lists[:-1] or [whole]
        elif part["bare"]:
            bare = part["bare"].strip()
            open_lists[-1] += [bare] if by_commas else bare.split()
        elif not part["comma"]:
            quoted = part["single"] if part["single"] is not None else part["double"]
            open_lists[-1].append(re.sub(r"\\(.)", _unescaped, quoted, flags=re.DOTALL))

    if _holds_dots(whole):
        raise ValueError(
            f"{where}: the list {shown(text)} was cut by ... when it was printed. Write the table "
            "again from the data: to_parquet, or json.dumps of each list."
        )
    return whole[0] if len(whole) == 1 and isinstance(whole[0], list) else whole


def _unescaped(letter: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(letter[1], letter[1])


def _holds_dots(parts: list[Any]) -> bool:
    return any(part in ("...", "…") for part in flat(parts))


def as_number(value: Any, name: str, where: str) -> float:
    """Return a cell as a finite number, an int where it is whole; ``name`` is what it is.

    Raises:
        ValueError: it is something else.
    """
    try:
        number = float(as_text(value, where).replace(",", ""))
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e300:
        cure = "Write 1 for relevant, 0 for not." if name == "grade" else "Correct it."
        raise ValueError(f"{where}: the {name} must be a number, found {shown(value)}. {cure}")
    return int(number) if number.is_integer() else number


def flat(parts: Any) -> Iterator[Any]:
    """Yield the members of a list and of the lists within it.

    >>> list(flat(["doc_001", ["doc_002"]]))
    ['doc_001', 'doc_002']
    """
    for part in parts:
        if isinstance(part, (list, tuple)):
            yield from flat(list(part))
        else:
            yield part
