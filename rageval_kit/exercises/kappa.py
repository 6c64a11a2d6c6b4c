"""Cohen's kappa of two judges, right and wrong: sessions 1, 12 and 17 ask for it."""


def kappa(one: list[object], other: list[object]) -> float:
    """Return the agreement beyond chance, as a share of what chance leaves over."""
    n = len(one)
    equal = sum(a == b for a, b in zip(one, other, strict=True)) / n
    chance = sum(one.count(label) / n * other.count(label) / n for label in {*one, *other})
    return (equal - chance) / (1 - chance)


def agreement(one: list[object], other: list[object]) -> float:
    """Forget chance."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def kappa_not_divided(one: list[object], other: list[object]) -> float:
    """Take chance off, and stop there."""
    n = len(one)
    chance = sum(one.count(label) / n * other.count(label) / n for label in {*one, *other})
    return agreement(one, other) - chance


def kappa_of_equal_chances(one: list[object], other: list[object]) -> float:
    """Take every label for equally likely."""
    chance = 1 / len({*one, *other})
    return (agreement(one, other) - chance) / (1 - chance)


def kappa_of_one_judge(one: list[object], other: list[object]) -> float:
    """Take the shares of one judge twice."""
    chance = sum((one.count(label) / len(one)) ** 2 for label in {*one})
    return (agreement(one, other) - chance) / (1 - chance)
