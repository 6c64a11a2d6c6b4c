"""Session 9, copies in the index: two ways to count them, and the cure, to fold."""

from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import Exercise, Function

Names: TypeAlias = dict[str, str]  # from a copy to its original
Pairs: TypeAlias = list[tuple[float, str]]  # cosine, and what the pair is
Rows: TypeAlias = dict[str, dict[str, float]]

# ---------------------------------------------------------------- 09-1: fold a ranking


def fold(ranking: list[str], source_of: Names, k: int) -> list[str]:
    folded: list[str] = []
    for doc_id in ranking:
        source = source_of.get(doc_id, doc_id)
        if source not in folded:
            folded.append(source)
    return folded[:k]


def fold_repeats_stay(ranking: list[str], source_of: Names, k: int) -> list[str]:
    return [source_of.get(doc_id, doc_id) for doc_id in ranking][:k]


def fold_cut_first(ranking: list[str], source_of: Names, k: int) -> list[str]:
    return fold(ranking[:k], source_of, k)


def fold_copies_dropped(ranking: list[str], source_of: Names, k: int) -> list[str]:
    return [doc_id for doc_id in ranking if doc_id not in source_of][:k]


def fold_last_stays(ranking: list[str], source_of: Names, k: int) -> list[str]:
    return fold(ranking[::-1], source_of, len(ranking))[::-1][:k]


def _ranking_with_copies(random: Random) -> tuple[list[str], Names, int]:
    source_of = {f"{letter}#{number}": letter for letter in "ABCDEF" for number in (2, 3)}
    ranking = random.sample([*"ABCDEF", *source_of], 9)
    return ranking, source_of, random.randint(3, 4)


# ---------------------------------------------------------------- 09-2: two ways to count


def recall_both_ways(ranking: list[str], relevant: list[str], k: int) -> list[float]:
    found = [doc_id for doc_id in ranking[:k] if doc_id in relevant]
    return [len(found) / len(relevant), len(set(found)) / len(relevant)]


def ways_swapped(ranking: list[str], relevant: list[str], k: int) -> list[float]:
    return recall_both_ways(ranking, relevant, k)[::-1]


def folded_deeper(ranking: list[str], relevant: list[str], k: int) -> list[float]:
    position, _ = recall_both_ways(ranking, relevant, k)
    unique = list(dict.fromkeys(ranking))[:k]
    return [position, recall_both_ways(unique, relevant, k)[1]]


def divided_by_k(ranking: list[str], relevant: list[str], k: int) -> list[float]:
    return [value * len(relevant) / k for value in recall_both_ways(ranking, relevant, k)]


def never_above_1(ranking: list[str], relevant: list[str], k: int) -> list[float]:
    return [min(value, 1.0) for value in recall_both_ways(ranking, relevant, k)]


def _repeated_ranking(random: Random) -> tuple[list[str], list[str], int]:
    ranking = random.choices("ABCDEF", weights=[4, 3, 2, 1, 1, 1], k=9)
    return ranking, random.sample("ABCDEF", random.randint(2, 3)), random.choice([5, 6])


# ---------------------------------------------------------------- 09-3: read a table of pairs


def price_of_a_threshold(pairs: Pairs) -> list[int]:
    copies = [cosine for cosine, kind in pairs if kind == "copy"]
    editions = [cosine for cosine, kind in pairs if kind == "edition"]
    wrongly_merged = sum(cosine >= min(copies) for cosine in editions)
    missed = sum(cosine <= max(editions) for cosine in copies)
    return [wrongly_merged, missed]


def prices_swapped(pairs: Pairs) -> list[int]:
    return price_of_a_threshold(pairs)[::-1]


def all_pairs_counted(pairs: Pairs) -> list[int]:
    copies = sum(kind == "copy" for _, kind in pairs)
    editions = len(pairs) - copies
    wrongly_merged, missed = price_of_a_threshold(pairs)
    return [copies + wrongly_merged, editions + missed]


def one_threshold_for_both(pairs: Pairs) -> list[int]:
    return [price_of_a_threshold(pairs)[0], 0]


def _pairs(random: Random) -> tuple[Pairs]:
    cosines = random.sample(range(880, 990), 11)
    high = sorted(cosines, reverse=True)
    kinds = ["copy", "copy", "copy", *random.sample(["copy"] * 3 + ["edition"] * 3, 6)]
    kinds += ["edition", "edition"]
    return ([(cosine / 1000, kind) for cosine, kind in zip(high, kinds, strict=True)],)


# ---------------------------------------------------------------- 09-4: decide


def verdict(table: Rows) -> list[Any]:
    return _verdict_by(table, "Recall unique")


def verdict_by_ndcg(table: Rows) -> list[Any]:
    return _verdict_by(table, "nDCG position")


def verdict_by_recall(table: Rows) -> list[Any]:
    return _verdict_by(table, "Recall position")


def verdict_the_wrong_way(table: Rows) -> list[Any]:
    right, change = verdict(table)
    return [right, -change]


def verdict_by_documents(table: Rows) -> list[Any]:
    return _verdict_by(table, "unique docs")


def _verdict_by(table: Rows, column: str) -> list[Any]:
    change = table["new"][column] - table["old"][column]
    return ["better" if change > 0 else "worse", change]


def _old_and_new(random: Random) -> tuple[Rows]:
    recall, ndcg = random.randint(700, 760), random.randint(560, 640)
    old = [recall, ndcg, recall]
    new = [recall + random.randint(60, 150), ndcg + random.randint(20, 59)]
    new += [recall - random.randint(15, 45)]
    names = ["Recall position", "nDCG position", "Recall unique"]
    table = {
        row: {name: value / 1000 for name, value in zip(names, values, strict=True)}
        for row, values in (("old", old), ("new", new))
    }
    table["old"]["unique docs"] = 10.0
    table["new"]["unique docs"] = random.randint(72, 88) / 10
    return (table,)


EXERCISES: dict[str, Exercise] = {
    "09-1": Function(
        given=_ranking_with_copies,
        right=fold,
        mistakes={
            "repeats_stay": fold_repeats_stay,
            "cut_first": fold_cut_first,
            "copies_dropped": fold_copies_dropped,
            "last_stays": fold_last_stays,
        },
    ),
    "09-2": Exercise(
        given=_repeated_ranking,
        right=recall_both_ways,
        mistakes={
            "swapped": ways_swapped,
            "folded_deeper": folded_deeper,
            "divided_by_k": divided_by_k,
            "never_above_1": never_above_1,
        },
    ),
    "09-3": Exercise(
        given=_pairs,
        right=price_of_a_threshold,
        mistakes={
            "swapped": prices_swapped,
            "all_pairs_counted": all_pairs_counted,
            "one_threshold_for_both": one_threshold_for_both,
        },
    ),
    "09-4": Exercise(
        given=_old_and_new,
        right=verdict,
        mistakes={
            "believed_the_ndcg": verdict_by_ndcg,
            "believed_the_recall": verdict_by_recall,
            "old_minus_new": verdict_the_wrong_way,
            "documents_as_a_score": verdict_by_documents,
        },
    ),
}
