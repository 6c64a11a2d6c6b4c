"""Session 19, hybrid search: ranks are added by document, and whoever adds otherwise goes wrong."""

from collections import Counter
from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made

Rankings: TypeAlias = list[list[str]]
Texts: TypeAlias = list[list[tuple[str, str]]]  # rankings of (doc_id, text)

# ---------------------------------------------------------------- 19-1: fusion by ranks


def rrf(rankings: Rankings, constant: int) -> dict[str, float]:
    points: dict[str, float] = {}
    for ranking in rankings:
        for rank, doc_id in enumerate(ranking, start=1):
            points[doc_id] = points.get(doc_id, 0) + 1 / (constant + rank)
    return points


def rrf_ranks_from_0(rankings: Rankings, constant: int) -> dict[str, float]:
    return rrf(rankings, constant - 1)


def rrf_without_constant(rankings: Rankings, constant: int) -> dict[str, float]:
    return rrf(rankings, 0)


def rrf_best_rank(rankings: Rankings, constant: int) -> dict[str, float]:
    each = [rrf([ranking], constant) for ranking in rankings]
    return {doc_id: max(its.get(doc_id, 0) for its in each) for doc_id in rrf(rankings, constant)}


def rrf_of_shared(rankings: Rankings, constant: int) -> dict[str, float]:
    shared = set(rankings[0]).intersection(*rankings[1:])
    return {d: points for d, points in rrf(rankings, constant).items() if d in shared}


def _rankings(random: Random) -> tuple[Rankings, int]:
    doc_ids = [f"D{number}" for number in range(1, 8)]
    return [random.sample(doc_ids, random.randint(3, 5)) for _ in range(2)], 60


# ---------------------------------------------------------------- 19-2: who is first?

Ranks: TypeAlias = dict[str, tuple[int, int]]  # by document: its rank in each of two searches


def _first(ranks: Ranks, constant: int) -> str:
    return max(ranks, key=lambda name: sum(1 / (constant + rank) for rank in ranks[name]))


def first_with_60_and_with_0(ranks: Ranks) -> list[str]:
    return [_first(ranks, 60), _first(ranks, 0)]


def first_by_best_rank(ranks: Ranks) -> list[str]:
    return [min(ranks, key=lambda name: min(ranks[name]))] * 2


def first_by_sum_of_ranks(ranks: Ranks) -> list[str]:
    return [min(ranks, key=lambda name: sum(ranks[name]))] * 2


def first_the_other_way_round(ranks: Ranks) -> list[str]:
    return first_with_60_and_with_0(ranks)[::-1]


def _two_documents(random: Random) -> tuple[Ranks]:
    one, both = random.sample("AB", 2)
    near = random.randint(3, 6)
    ranks = {one: (1, random.randint(15, 20)), both: (near, near + random.randint(0, 1))}
    return (dict(sorted(ranks.items())),)


# ---------------------------------------------------------------- 19-3: points, added up by text


def judge_of_copies(rankings: Texts) -> str:
    # Each ranking holds a document once, and a document has one text.
    pairs = {pair for ranking in rankings for pair in ranking}
    text_of = dict(pairs)
    repeated = any(len(dict(ranking)) < len(ranking) for ranking in rankings)
    if repeated or len(text_of) < len(pairs):
        return "document_twice"
    if len(set(text_of.values())) == len(text_of):
        return "no_copy"

    # Who is first, by document and by text, if anybody is alone there?
    by_document = rrf([[doc_id for doc_id, _ in ranking] for ranking in rankings], 60)
    by_text = rrf([[text for _, text in ranking] for ranking in rankings], 60)
    for points in (by_document, by_text):
        best = sorted(points.values())[-2:]
        if len(best) == 2 and best[1] - best[0] < 1e-9:
            return "tie"
    winner = max(by_document, key=lambda doc_id: by_document[doc_id])
    top = max(by_text, key=lambda text: by_text[text])
    return "same_winner" if text_of[winner] == top else RIGHT


def copies_that_win() -> Texts:
    return [[("D1", "a"), ("D2", "b"), ("D3", "b")], [("D1", "a"), ("D2", "b"), ("D3", "b")]]


def rankings_without_copy() -> Texts:
    return [[("D1", "a"), ("D2", "b")], [("D1", "a"), ("D2", "b")]]


def copies_that_win_anyway() -> Texts:
    return [[("D1", "a"), ("D2", "a"), ("D3", "b")], [("D1", "a"), ("D3", "b")]]


def rankings_with_a_tie() -> Texts:
    return [[("D1", "a"), ("D2", "b"), ("D3", "b")], [("D2", "b"), ("D1", "a"), ("D3", "b")]]


def rankings_with_a_document_twice() -> Texts:
    return [[("D1", "a"), ("D2", "b"), ("D2", "b")], [("D1", "a"), ("D3", "b")]]


# ---------------------------------------------------------------- 19-4: two means, and the ceiling

Values: TypeAlias = dict[str, tuple[float, float]]  # by query: nDCG of dense and of BM25


def means_and_ceiling(values: Values) -> list[float]:
    n = len(values)
    dense, words = (sum(its[side] for its in values.values()) / n for side in (0, 1))
    return [dense, words, sum(map(max, values.values())) / n]


def ceiling_of_means(values: Values) -> list[float]:
    dense, words, _ = means_and_ceiling(values)
    return [dense, words, max(dense, words)]


def ceiling_is_the_middle(values: Values) -> list[float]:
    dense, words, _ = means_and_ceiling(values)
    return [dense, words, (dense + words) / 2]


def without_the_zeros(values: Values) -> list[float]:
    both = {query_id: pair for query_id, pair in values.items() if max(pair) > 0}
    return means_and_ceiling(both)


def shares_of_wins(values: Values) -> list[float]:
    counts = Counter((dense > words) - (dense < words) for dense, words in values.values())
    return [counts[1] / len(values), counts[-1] / len(values), 1.0]


def _values(random: Random) -> tuple[Values]:
    steps = (0.0, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    pairs: list[Any] = [(random.choice(steps), random.choice(steps)) for _ in range(5)]
    pairs.append((0.0, 0.0))
    random.shuffle(pairs)
    return ({f"q{number}": pair for number, pair in enumerate(pairs, start=1)},)


EXERCISES: dict[str, Exercise] = {
    "19-1": Function(
        given=_rankings,
        right=rrf,
        mistakes={
            "ranks_from_0": rrf_ranks_from_0,
            "without_constant": rrf_without_constant,
            "best_rank_only": rrf_best_rank,
            "shared_only": rrf_of_shared,
        },
        decimals=6,
    ),
    "19-2": Exercise(
        given=_two_documents,
        right=first_with_60_and_with_0,
        mistakes={
            "best_rank": first_by_best_rank,
            "sum_of_ranks": first_by_sum_of_ranks,
            "other_way_round": first_the_other_way_round,
        },
    ),
    "19-3": Made(
        given=lambda random: (),
        right=copies_that_win,
        mistakes={
            "no_copy": rankings_without_copy,
            "same_winner": copies_that_win_anyway,
            "tie": rankings_with_a_tie,
            "document_twice": rankings_with_a_document_twice,
        },
        rule=judge_of_copies,
    ),
    "19-4": Exercise(
        given=_values,
        right=means_and_ceiling,
        mistakes={
            "ceiling_of_means": ceiling_of_means,
            "ceiling_is_the_middle": ceiling_is_the_middle,
            "without_zeros": without_the_zeros,
            "shares_of_wins": shares_of_wins,
        },
    ),
}
