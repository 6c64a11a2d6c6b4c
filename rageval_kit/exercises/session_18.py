"""Session 18, which model: cut vectors, what is paid for, languages that meet, bytes that fit."""

import math
from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import Exercise, Function

# ---------------------------------------------------------------- 18-1: cut a vector


def shortened(vector: list[float], size: int) -> list[float]:
    kept = vector[:size]
    length = math.sqrt(sum(number * number for number in kept))
    return [number / length for number in kept]


def shortened_only(vector: list[float], size: int) -> list[float]:
    return vector[:size]


def shortened_too_late(vector: list[float], size: int) -> list[float]:
    return shortened(vector, len(vector))[:size]


def shortened_from_the_back(vector: list[float], size: int) -> list[float]:
    return shortened(vector[-size:], size)


def shortened_to_sum_1(vector: list[float], size: int) -> list[float]:
    total = sum(abs(number) for number in vector[:size])
    return [number / total for number in vector[:size]]


def _vector(random: Random) -> tuple[list[float], int]:
    numbers = [random.choice([-1, 1]) * random.randint(1, 9) / 10 for _ in range(8)]
    return numbers, random.randint(2, 5)


# ---------------------------------------------------------------- 18-2: a price before it is paid

# pages, characters a page, tokens a character, money for a million tokens, dimensions
Plan: TypeAlias = tuple[int, int, float, float, int]


def price(pages: int, characters: int, tokens: float, money: float, dimensions: int) -> list[float]:
    paid = pages * characters * tokens / 1_000_000 * money
    return [paid, paid, pages * 4 * (dimensions // 4) / 1e9]


def price_of_an_english_page(
    pages: int, characters: int, tokens: float, money: float, dimensions: int
) -> list[float]:
    return price(pages, characters, 0.25, money, dimensions)


def price_of_short_vectors(
    pages: int, characters: int, tokens: float, money: float, dimensions: int
) -> list[float]:
    paid, _, memory = price(pages, characters, tokens, money, dimensions)
    return [paid, paid / 4, memory]


def price_of_characters(
    pages: int, characters: int, tokens: float, money: float, dimensions: int
) -> list[float]:
    return price(pages, characters, 1.0, money, dimensions)


def price_with_bytes_of_numbers(
    pages: int, characters: int, tokens: float, money: float, dimensions: int
) -> list[float]:
    *paid, memory = price(pages, characters, tokens, money, dimensions)
    return [*paid, memory / 4]


def _plan(random: Random) -> Plan:
    tokens = random.choice([0.8, 0.85, 0.9, 1.1, 1.2])
    pages = random.randint(2, 9) * 1_000_000
    return pages, random.randint(3, 9) * 100, tokens, random.randint(2, 20) / 100, 1024


# ---------------------------------------------------------------- 18-3: four pairs of languages

Pairs: TypeAlias = dict[str, dict[str, float]]  # by model: nDCG of "ko asks en" and the like


def models_for(pairs: Pairs) -> list[Any]:
    korean = max(pairs, key=lambda name: pairs[name]["ko asks ko"])
    both = max(pairs, key=lambda name: pairs[name]["ko asks en"] + pairs[name]["en asks en"])
    return [korean, both, pairs[both]["ko asks ko"] - pairs[both]["ko asks en"]]


def models_by_mean_of_all(pairs: Pairs) -> list[Any]:
    name = max(pairs, key=lambda name: sum(pairs[name].values()))
    return [name, name, pairs[name]["ko asks ko"] - pairs[name]["ko asks en"]]


def models_by_own_language(pairs: Pairs) -> list[Any]:
    name = models_for(pairs)[0]
    return [name, name, pairs[name]["ko asks ko"] - pairs[name]["ko asks en"]]


def models_with_other_questions(pairs: Pairs) -> list[Any]:
    korean, both, _ = models_for(pairs)
    return [korean, both, pairs[both]["en asks en"] - pairs[both]["ko asks en"]]


def models_with_documents_turned(pairs: Pairs) -> list[Any]:
    korean, _, _ = models_for(pairs)
    both = max(pairs, key=lambda name: pairs[name]["en asks ko"] + pairs[name]["ko asks ko"])
    return [korean, both, pairs[both]["ko asks ko"] - pairs[both]["ko asks en"]]


def _pairs(random: Random) -> tuple[Pairs]:
    rows = [(0.68, 0.30, 0.34, 0.46), (0.58, 0.42, 0.50, 0.60), (0.64, 0.60, 0.41, 0.51)]
    columns = ("ko asks ko", "en asks ko", "ko asks en", "en asks en")
    models = [
        {
            name: round(v + random.randint(-9, 9) / 1000, 3)
            for name, v in zip(columns, row, strict=True)
        }
        for row in rows
    ]
    names = random.sample("ABC", 3)
    return (dict(sorted(zip(names, models, strict=True))),)


# ---------------------------------------------------------------- 18-4: what fits into the room

Cuts: TypeAlias = dict[str, dict[int, float]]  # by model: nDCG by number of dimensions


def best_that_fits(cuts: Cuts, room: int) -> list[Any]:
    fitting = [
        (score, name, size)
        for name, its in cuts.items()
        for size, score in its.items()
        if 4 * size <= room
    ]
    score, name, size = max(fitting)
    return [name, size, score]


def best_of_numbers(cuts: Cuts, room: int) -> list[Any]:
    return best_that_fits(cuts, 4 * room)


def best_whole_then_cut(cuts: Cuts, room: int) -> list[Any]:
    name = max(cuts, key=lambda name: max(cuts[name].values()))
    return best_that_fits({name: cuts[name]}, room)


def best_share_kept(cuts: Cuts, room: int) -> list[Any]:
    size = room // 4
    name = max(cuts, key=lambda name: cuts[name][size] / max(cuts[name].values()))
    return [name, size, cuts[name][size]]


def _cuts(random: Random) -> tuple[Cuts, int]:
    def near(*values: int) -> list[float]:
        return [(value + random.randint(-9, 9)) / 1000 for value in values]

    sizes = (64, 128, 256, 512)
    rows = [near(280, 410, 510, 595), near(360, 450, 505), near(230, 240, 245)]
    names = random.sample("ABC", 3)
    models = [dict(zip(sizes, row, strict=False)) for row in rows]
    return dict(sorted(zip(names, models, strict=True))), random.choice([256, 512])


EXERCISES: dict[str, Exercise] = {
    "18-1": Function(
        given=_vector,
        right=shortened,
        mistakes={
            "length_not_1": shortened_only,
            "length_before_cutting": shortened_too_late,
            "from_the_back": shortened_from_the_back,
            "sum_in_place_of_length": shortened_to_sum_1,
        },
    ),
    "18-2": Exercise(
        given=_plan,
        right=price,
        mistakes={
            "four_characters_a_token": price_of_an_english_page,
            "short_vectors_are_cheaper": price_of_short_vectors,
            "characters_for_tokens": price_of_characters,
            "a_byte_a_number": price_with_bytes_of_numbers,
        },
    ),
    "18-3": Exercise(
        given=_pairs,
        right=models_for,
        mistakes={
            "mean_of_all": models_by_mean_of_all,
            "own_language_twice": models_by_own_language,
            "other_questions": models_with_other_questions,
            "documents_turned": models_with_documents_turned,
        },
    ),
    "18-4": Exercise(
        given=_cuts,
        right=best_that_fits,
        mistakes={
            "numbers_for_bytes": best_of_numbers,
            "best_whole": best_whole_then_cut,
            "largest_share": best_share_kept,
        },
    ),
}
