"""Session 20, exact or fast: what an index leaves out, what it weighs, and whether it matters."""

from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import NOT_ATTEMPTED, RIGHT, Exercise, Function, Made

# ---------------------------------------------------------------- 20-1: agreement by hand


def agreement(exact: list[str], fast: list[str], k: int) -> float:
    return len(set(exact[:k]) & set(fast[:k])) / k


def agreement_by_place(exact: list[str], fast: list[str], k: int) -> float:
    return sum(a == b for a, b in zip(exact[:k], fast[:k], strict=True)) / k


def agreement_of_uncut(exact: list[str], fast: list[str], k: int) -> float:
    return len(set(exact[:k]) & set(fast)) / k


def agreement_of_union(exact: list[str], fast: list[str], k: int) -> float:
    both, either = set(exact[:k]) & set(fast[:k]), set(exact[:k]) | set(fast[:k])
    return len(both) / len(either)


def agreement_of_whole(exact: list[str], fast: list[str], k: int) -> float:
    return len(set(exact) & set(fast)) / len(exact)


def _two_searches(random: Random) -> tuple[list[str], list[str], int]:
    names = random.sample("ABCDEFGH", 8)
    exact = names[:6]
    return exact, random.sample(names[: random.randint(7, 8)], 6), random.randint(2, 4)


# ---------------------------------------------------------------- 20-2: how many gigabytes


def gigabytes(millions: int, dimensions: int, pieces: int, bits: int) -> list[float]:
    of_a_vector = [4 * dimensions, dimensions, pieces * bits / 8]
    return [size * millions / 1000 for size in of_a_vector]


def gigabytes_of_doubles(millions: int, dimensions: int, pieces: int, bits: int) -> list[float]:
    flat, *packed = gigabytes(millions, dimensions, pieces, bits)
    return [2 * flat, *packed]


def gigabytes_of_8_bytes(millions: int, dimensions: int, pieces: int, bits: int) -> list[float]:
    flat, byte, pq = gigabytes(millions, dimensions, pieces, bits)
    return [flat, 8 * byte, pq]


def gigabytes_of_bits(millions: int, dimensions: int, pieces: int, bits: int) -> list[float]:
    *others, pq = gigabytes(millions, dimensions, pieces, bits)
    return [*others, 8 * pq]


def gigabytes_without_bits(millions: int, dimensions: int, pieces: int, bits: int) -> list[float]:
    return gigabytes(millions, dimensions, pieces, 8)


def _sizes(random: Random) -> tuple[int, int, int, int]:
    dimensions = random.choice([384, 512, 768, 1024])
    return random.randint(2, 20), dimensions, dimensions // random.choice([4, 8]), 4


# ---------------------------------------------------------------- 20-3: agreement is not relevance


def judge_of_agreement(case: dict[str, Any]) -> str:
    if any(value is ... for value in case.values()):
        return NOT_ATTEMPTED
    exact, lists, packed = (case[name] for name in ("exact", "P", "Q"))
    for ranking in (exact, lists, packed):
        if len(ranking) != 4 or len(set(ranking)) != 4:
            return "not_four"
    if case["relevant"] not in exact:
        return "exact_misses"

    # P agrees less with the exact search, and it alone finds the answer.
    if agreement(exact, lists, 4) >= agreement(exact, packed, 4):
        return "agrees_no_less"
    if case["relevant"] not in lists:
        return "not_found"
    return "both_find" if case["relevant"] in packed else RIGHT


def _case(exact: str, p: str, q: str, relevant: str) -> dict[str, Any]:
    return {"exact": list(exact), "P": list(p), "Q": list(q), "relevant": relevant}


# ---------------------------------------------------------------- 20-4: the cheapest that will do

Settings: TypeAlias = dict[str, dict[str, float]]  # distances, agreement, hit_rate by setting


def cheapest(settings: Settings) -> list[Any]:
    whole = max(settings.values(), key=lambda row: row["distances"])
    by_answers = _first(settings, "hit_rate", whole["hit_rate"] - 0.01)
    by_agreement = _first(settings, "agreement", 0.95)
    return [by_answers, by_agreement, 1 - settings[by_answers]["distances"] / whole["distances"]]


def _first(settings: Settings, column: str, at_least: float) -> str:
    enough = [name for name, row in settings.items() if row[column] >= at_least - 1e-9]
    return min(enough, key=lambda name: settings[name]["distances"])


def cheapest_by_agreement(settings: Settings) -> list[Any]:
    _, by_agreement, _ = cheapest(settings)
    saved = 1 - settings[by_agreement]["distances"] / settings["exact"]["distances"]
    return [by_agreement, by_agreement, saved]


def cheapest_with_no_loss_at_all(settings: Settings) -> list[Any]:
    name = _first(settings, "hit_rate", settings["exact"]["hit_rate"])
    saved = 1 - settings[name]["distances"] / settings["exact"]["distances"]
    return [name, cheapest(settings)[1], saved]


def cheapest_share_spent(settings: Settings) -> list[Any]:
    by_answers, by_agreement, saved = cheapest(settings)
    return [by_answers, by_agreement, 1 - saved]


def cheapest_in_numbers(settings: Settings) -> list[Any]:
    by_answers, by_agreement, saved = cheapest(settings)
    return [by_answers, by_agreement, saved * settings["exact"]["distances"]]


def _settings(random: Random) -> tuple[Settings]:
    agreements = [
        random.randint(350, 450) / 1000,
        random.randint(550, 650) / 1000,
        random.randint(800, 900) / 1000,
        random.randint(955, 990) / 1000,
        1.0,
    ]
    top = random.randint(85, 92) / 100
    hit_rates = [top - 0.15, top - 0.06, top - 0.01, top - 0.01, top]
    distances = [random.randint(50, 70), 120, 250, random.randint(480, 520), 1000]
    names = ["nprobe 1", "nprobe 2", "nprobe 4", "nprobe 8", "exact"]
    rows = zip(names, distances, agreements, hit_rates, strict=True)
    settings: Settings = {
        name: {"distances": d, "agreement": a, "hit_rate": round(h, 2)} for name, d, a, h in rows
    }
    return (settings,)


EXERCISES: dict[str, Exercise] = {
    "20-1": Function(
        given=_two_searches,
        right=agreement,
        mistakes={
            "place_by_place": agreement_by_place,
            "fast_not_cut": agreement_of_uncut,
            "divided_by_union": agreement_of_union,
            "no_cutoff": agreement_of_whole,
        },
    ),
    "20-2": Exercise(
        given=_sizes,
        right=gigabytes,
        mistakes={
            "eight_bytes_a_number": gigabytes_of_doubles,
            "sq8_as_bytes": gigabytes_of_8_bytes,
            "bits_as_bytes": gigabytes_of_bits,
            "a_byte_a_piece": gigabytes_without_bits,
        },
    ),
    "20-3": Made(
        given=lambda random: (),
        right=lambda: _case("ABCD", "AXYZ", "BCDX", "A"),
        mistakes={
            "not_four": lambda: _case("ABC", "AXY", "BCX", "A"),
            "exact_misses": lambda: _case("ABCD", "EXYZ", "ABCD", "E"),
            "agrees_no_less": lambda: _case("ABCD", "ABCX", "BCDX", "A"),
            "not_found": lambda: _case("ABCD", "WXYZ", "BCDX", "A"),
            "both_find": lambda: _case("ABCD", "AXYZ", "ABCD", "A"),
        },
        rule=judge_of_agreement,
    ),
    "20-4": Exercise(
        given=_settings,
        right=cheapest,
        mistakes={
            "agreement_twice": cheapest_by_agreement,
            "no_loss_at_all": cheapest_with_no_loss_at_all,
            "share_spent": cheapest_share_spent,
            "number_not_share": cheapest_in_numbers,
        },
    ),
}
