"""Session 16, chunks: what holds a passage, what is read with it, and the way back to documents."""

from random import Random

from rageval_kit.exercises.kinds import Exercise, Function

_Span = tuple[int, int]  # from the first character to the one behind the last

# ---------------------------------------------------------------- 16-1: when a passage is found


def found_at(passage: _Span, hits: list[_Span], coverage: float) -> int:
    """Return the rank of the hit with which enough of the passage is held; 0 if none."""
    wanted, held = set(range(*passage)), set()
    for rank, hit in enumerate(hits, start=1):
        held |= wanted & set(range(*hit))
        if len(held) >= coverage * len(wanted):
            return rank
    return 0


def found_counting_twice(passage: _Span, hits: list[_Span], coverage: float) -> int:
    wanted, held = set(range(*passage)), 0
    for rank, hit in enumerate(hits, start=1):
        held += len(wanted & set(range(*hit)))
        if held >= coverage * len(wanted):
            return rank
    return 0


def found_by_one_hit(passage: _Span, hits: list[_Span], coverage: float) -> int:
    wanted = set(range(*passage))
    for rank, hit in enumerate(hits, start=1):
        if len(wanted & set(range(*hit))) >= coverage * len(wanted):
            return rank
    return 0


def found_if_touched(passage: _Span, hits: list[_Span], coverage: float) -> int:
    wanted = set(range(*passage))
    touching = [rank for rank, hit in enumerate(hits, start=1) if wanted & set(range(*hit))]
    return touching[0] if touching else 0


def found_counting_from_0(passage: _Span, hits: list[_Span], coverage: float) -> int:
    return found_at(passage, hits, coverage) - 1


def _passage_and_hits(random: Random) -> tuple[_Span, list[_Span], float]:
    start = random.randint(20, 40)
    passage = (start, start + 20)
    hits = []
    for _ in range(5):
        first = start + random.randint(-25, 18)
        hits.append((first, first + random.randint(8, 16)))
    return passage, hits, random.choice([0.5, 0.75, 1.0])


# ---------------------------------------------------------------- 16-2: an equal context


def hits_that_fit(lengths: dict[str, list[int]], room: int) -> dict[str, int]:
    """Return how many hits of each chunking are read in the room, the last one cut."""
    return {name: _hits_in(its, room) for name, its in lengths.items()}


def _hits_in(lengths: list[int], room: int) -> int:
    used, number = 0, 0
    for length in lengths:
        if used >= room:
            break
        used, number = used + length, number + 1
    return number


def whole_hits_only(lengths: dict[str, list[int]], room: int) -> dict[str, int]:
    return {
        name: sum(sum(its[:n]) <= room for n in range(1, len(its) + 1))
        for name, its in lengths.items()
    }


def equal_hits(lengths: dict[str, list[int]], room: int) -> dict[str, int]:
    return {name: len(its) for name, its in lengths.items()}


def hits_by_the_mean(lengths: dict[str, list[int]], room: int) -> dict[str, int]:
    return {name: room * len(its) // sum(its) for name, its in lengths.items()}


def _lengths(random: Random) -> tuple[dict[str, list[int]], int]:
    small = [random.randint(60, 90) for _ in range(10)]
    middle = [random.randint(220, 330) for _ in range(10)]
    whole = [random.randint(400, 1200) for _ in range(10)]
    return {"small": small, "middle": middle, "whole": whole}, random.choice([500, 600, 700])


# ---------------------------------------------------------------- 16-3: from chunks to documents

_Hits = list[tuple[str, float]]  # the document of each chunk, and its score, higher is better


def folded(hits: _Hits) -> list[str]:
    """Return the documents by their best chunk."""
    best: dict[str, float] = {}
    for doc, score in hits:
        best[doc] = max(score, best.get(doc, 0.0))
    return sorted(best, key=lambda doc: -best[doc])


def folded_by_sum(hits: _Hits) -> list[str]:
    total: dict[str, float] = {}
    for doc, score in hits:
        total[doc] = total.get(doc, 0.0) + score
    return sorted(total, key=lambda doc: -total[doc])


def folded_by_mean(hits: _Hits) -> list[str]:
    its = {doc: [score for other, score in hits if other == doc] for doc, _ in hits}
    return sorted(its, key=lambda doc: -sum(its[doc]) / len(its[doc]))


def not_folded(hits: _Hits) -> list[str]:
    return [doc for doc, _ in hits]


def folded_by_last(hits: _Hits) -> list[str]:
    last = dict(hits)
    return sorted(last, key=lambda doc: -last[doc])


def _chunks(random: Random) -> tuple[_Hits]:
    docs = ["A", "B", "C", *random.choices("ABC", [4, 2, 1], k=4)]
    random.shuffle(docs)
    scores = sorted((random.randint(30, 95) / 100 for _ in docs), reverse=True)
    return (list(zip(docs, scores, strict=True)),)


# ---------------------------------------------------------------- 16-4: how much is answer


def recall_and_precision(passage: _Span, hits: list[_Span]) -> list[float]:
    """Return the share of the passage that was read, and the share of what was read that is it."""
    wanted = set(range(*passage))
    held = {place for hit in hits for place in range(*hit)} & wanted
    read = sum(end - start for start, end in hits)
    touched = sum(len(wanted & set(range(*hit))) for hit in hits)
    return [len(held) / len(wanted), touched / read]


def exchanged(passage: _Span, hits: list[_Span]) -> list[float]:
    return recall_and_precision(passage, hits)[::-1]


def found_or_not(passage: _Span, hits: list[_Span]) -> list[float]:
    recall, precision = recall_and_precision(passage, hits)
    return [float(recall >= 0.5), precision]


def precision_of_hits(passage: _Span, hits: list[_Span]) -> list[float]:
    wanted = set(range(*passage))
    touching = sum(bool(wanted & set(range(*hit))) for hit in hits)
    return [recall_and_precision(passage, hits)[0], touching / len(hits)]


def _one_context(random: Random) -> tuple[_Span, list[_Span]]:
    start = random.randint(100, 200)
    first = start - random.randint(10, 40)
    width = random.randint(50, 80)
    away = start + random.randint(200, 300)
    length = first + width - start + random.randint(10, 30)
    return (start, start + length), [(first, first + width), (away, away + width)]


EXERCISES: dict[str, Exercise] = {
    "16-1": Function(
        given=_passage_and_hits,
        right=found_at,
        mistakes={
            "counted_twice": found_counting_twice,
            "by_one_hit": found_by_one_hit,
            "touched": found_if_touched,
            "from_zero": found_counting_from_0,
        },
    ),
    "16-2": Exercise(
        given=_lengths,
        right=hits_that_fit,
        mistakes={
            "whole_hits": whole_hits_only,
            "equal_hits": equal_hits,
            "by_the_mean": hits_by_the_mean,
        },
    ),
    "16-3": Exercise(
        given=_chunks,
        right=folded,
        mistakes={
            "sum": folded_by_sum,
            "mean": folded_by_mean,
            "not_folded": not_folded,
            "last": folded_by_last,
        },
    ),
    "16-4": Exercise(
        given=_one_context,
        right=recall_and_precision,
        mistakes={
            "exchanged": exchanged,
            "found_or_not": found_or_not,
            "hits_counted": precision_of_hits,
        },
    ),
}
