"""Session 15, your own documents: ids, files and gold, and what goes wrong between them."""

from pathlib import PurePosixPath
from random import Random

from rageval_kit.exercises.kinds import Exercise, Function

_FILES = ["fees.md", "library.md", "records/leave.md", "records/grades.md", "campus/bus.md"]

# ---------------------------------------------------------------- 15-1: files that are not there


def missing_files(cell: str, files: list[str]) -> list[str]:
    named = [name.strip() for name in cell.split(";")]
    return [name for name in named if name and name not in files]


def missing_with_blanks(cell: str, files: list[str]) -> list[str]:
    return [name for name in cell.split(";") if name.strip() and name not in files]


def missing_with_empty_ones(cell: str, files: list[str]) -> list[str]:
    return [name.strip() for name in cell.split(";") if name.strip() not in files]


def first_missing(cell: str, files: list[str]) -> list[str]:
    return missing_files(cell, files)[:1]


def found_files(cell: str, files: list[str]) -> list[str]:
    return [name.strip() for name in cell.split(";") if name.strip() in files]


def _cell(random: Random) -> tuple[str, list[str]]:
    names = random.sample([*_FILES, "campus/gym.md", "leave.md"], random.randint(0, 4))
    blanks = random.choice(["; ", ";", " ; "])
    return blanks.join(names) + random.choice(["", ";", "; "]), list(_FILES)


# ---------------------------------------------------------------- 15-2: ids that became numbers


def lost_ids(ids: list[str]) -> list[str]:
    """Return the ids that are others once they were read as numbers."""
    return [one for one in ids if str(int(one)) != one]


def all_ids(ids: list[str]) -> list[str]:
    return list(ids)


def no_ids(ids: list[str]) -> list[str]:
    return []


def lost_ids_as_read(ids: list[str]) -> list[str]:
    return [str(int(one)) for one in lost_ids(ids)]


def kept_ids(ids: list[str]) -> list[str]:
    return [one for one in ids if str(int(one)) == one]


def _ids(random: Random) -> tuple[list[str]]:
    with_zeros = [f"{random.randint(1, 99):03}", f"{random.randint(1, 999):04}"]
    without = [str(random.randint(100, 999)), str(random.randint(1000, 9999))]
    return (random.sample(with_zeros + without, 4),)


# ---------------------------------------------------------------- 15-3: gold that is missing

_Queries = list[tuple[list[str], list[str]]]  # of each query: relevant files, and the first 3 hits


def recall_before_and_after(whole: _Queries, half: _Queries) -> list[float]:
    return [_recall(whole), _recall(half)]


def recall_over_all(whole: _Queries, half: _Queries) -> list[float]:
    return [
        _recall(queries) * sum(map(_has_gold, queries)) / len(queries) for queries in (whole, half)
    ]


def precision_in_its_place(whole: _Queries, half: _Queries) -> list[float]:
    return [
        _mean([len({*gold} & {*hits}) / 3 for gold, hits in queries if gold])
        for queries in (whole, half)
    ]


def recall_pooled(whole: _Queries, half: _Queries) -> list[float]:
    return [
        sum(len({*gold} & {*hits}) for gold, hits in queries)
        / sum(len(gold) for gold, _ in queries)
        for queries in (whole, half)
    ]


def recall_unchanged(whole: _Queries, half: _Queries) -> list[float]:
    return [_recall(whole), _recall(whole)]


def _recall(queries: _Queries) -> float:
    return _mean([len({*gold} & {*hits}) / len(gold) for gold, hits in queries if gold])


def _has_gold(query: tuple[list[str], list[str]]) -> bool:
    return bool(query[0])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _two_golds(random: Random) -> tuple[_Queries, _Queries]:
    """Draw four queries; in the second form only the first file of each is written down."""
    whole: _Queries = [([], random.sample("ABCDE", 3))]
    for number in (1, 2, 3):
        whole.append((random.sample("ABCDE", number), random.sample("ABCDE", 3)))
    return whole, [(gold[:1], hits) for gold, hits in whole]


# ---------------------------------------------------------------- 15-4: error, warning or fine


def findings(files: list[str], rows: dict[str, list[str]]) -> dict[str, str]:
    """Return what the validator says of each row: a file that is not there is an error."""
    return {name: _finding(files, gold) for name, gold in rows.items()}


def findings_by_name(files: list[str], rows: dict[str, list[str]]) -> dict[str, str]:
    names = [PurePosixPath(file).name for file in files]
    bare = {name: [PurePosixPath(file).name for file in gold] for name, gold in rows.items()}
    return findings(names, bare)


def findings_of_empty_as_errors(files: list[str], rows: dict[str, list[str]]) -> dict[str, str]:
    return {name: _finding(files, gold) if gold else "error" for name, gold in rows.items()}


def findings_of_some_as_fine(files: list[str], rows: dict[str, list[str]]) -> dict[str, str]:
    found = findings(files, rows)
    return {name: "fine" if {*gold} & {*files} else found[name] for name, gold in rows.items()}


def _finding(files: list[str], gold: list[str]) -> str:
    return "warning" if not gold else "fine" if {*gold} <= {*files} else "error"


def _rows(random: Random) -> tuple[list[str], dict[str, list[str]]]:
    first, second = random.sample(_FILES, 2)
    kinds = [["leave.md"], [], [first], [second, "campus/gym.md"], [second, first]]
    rows = random.sample(kinds, len(kinds))
    return list(_FILES), {f"{number:03}": gold for number, gold in enumerate(rows, start=1)}


EXERCISES: dict[str, Exercise] = {
    "15-1": Function(
        given=_cell,
        right=missing_files,
        mistakes={
            "blanks_kept": missing_with_blanks,
            "empty_names": missing_with_empty_ones,
            "first_only": first_missing,
            "those_that_are_there": found_files,
        },
    ),
    "15-2": Exercise(
        given=_ids,
        right=lost_ids,
        mistakes={
            "all": all_ids,
            "none": no_ids,
            "as_read": lost_ids_as_read,
            "the_others": kept_ids,
        },
    ),
    "15-3": Exercise(
        given=_two_golds,
        right=recall_before_and_after,
        mistakes={
            "over_all_queries": recall_over_all,
            "precision": precision_in_its_place,
            "pooled": recall_pooled,
            "unchanged": recall_unchanged,
        },
    ),
    "15-4": Exercise(
        given=_rows,
        right=findings,
        mistakes={
            "name_is_enough": findings_by_name,
            "empty_is_an_error": findings_of_empty_as_errors,
            "one_is_enough": findings_of_some_as_fine,
        },
    ),
}
