"""Session 7, found late or not found: the rank decides, and with it the cure."""

from random import Random
from typing import Any, TypeAlias

from rageval_kit.exercises.kinds import Exercise, Function

Ranks: TypeAlias = list[int | None]  # of the relevant documents; None: not among the hits

# ---------------------------------------------------------------- 07-1: found, late or not found


def fate(ranking: list[str], doc_id: str, k: int) -> str:
    if doc_id not in ranking:
        return "not found"
    rank = ranking.index(doc_id) + 1
    return "found" if rank <= k else "late"


def fate_one_rank_off(ranking: list[str], doc_id: str, k: int) -> str:
    if doc_id not in ranking:
        return "not found"
    return "found" if ranking.index(doc_id) + 1 < k else "late"


def fate_without_cutoff(ranking: list[str], doc_id: str, k: int) -> str:
    return "found" if doc_id in ranking else "not found"


def fate_lost_is_late(ranking: list[str], doc_id: str, k: int) -> str:
    return "found" if doc_id in ranking[:k] else "late"


def fate_late_is_lost(ranking: list[str], doc_id: str, k: int) -> str:
    return "found" if doc_id in ranking[:k] else "not found"


def _ranking_and_document(random: Random) -> tuple[list[str], str, int]:
    ranking = random.sample([f"D{number}" for number in range(1, 10)], 6)
    return ranking, f"D{random.randint(1, 9)}", random.randint(2, 4)


# ---------------------------------------------------------------- 07-2: what a reranker can give


def recall_now_and_at_best(ranks: Ranks, k: int, depth: int) -> tuple[float, float]:
    now = sum(rank is not None and rank <= k for rank in ranks)
    given = sum(rank is not None and rank <= depth for rank in ranks)
    return now / len(ranks), min(given, k) / len(ranks)


def recall_of_what_came(ranks: Ranks, k: int, depth: int) -> tuple[float, float]:
    return recall_now_and_at_best([rank for rank in ranks if rank is not None], k, depth)


def reranker_finds_everything(ranks: Ranks, k: int, depth: int) -> tuple[float, float]:
    return recall_now_and_at_best(ranks, k, depth)[0], min(len(ranks), k) / len(ranks)


def reranker_given_all_hits(ranks: Ranks, k: int, depth: int) -> tuple[float, float]:
    return recall_now_and_at_best(ranks, k, 100)


def precision_in_place_of_recall(ranks: Ranks, k: int, depth: int) -> tuple[float, float]:
    now, best = recall_now_and_at_best(ranks, k, depth)
    return now * len(ranks) / k, best * len(ranks) / k


def _ranks(random: Random) -> tuple[Ranks, int, int]:
    k, depth = 5, 20
    found = sorted(random.sample(range(1, k + 1), random.randint(1, 2)))
    return [*found, random.randint(k + 1, depth), random.randint(depth + 1, 100), None], k, depth


# ---------------------------------------------------------------- 07-3: a cure for each


Seen: TypeAlias = dict[str, tuple[int | None, bool]]  # rank among the hits, and: in the index?


def cures(seen: Seen, k: int) -> dict[str, str]:
    def cure(rank: int | None, in_index: bool) -> str:
        if rank is None:
            return "embedding" if in_index else "index"
        return "nothing" if rank <= k else "reranker"

    return {query_id: cure(*its) for query_id, its in seen.items()}


def reranker_for_all(seen: Seen, k: int) -> dict[str, str]:
    return {q: "nothing" if cure == "nothing" else "reranker" for q, cure in cures(seen, k).items()}


def index_for_all_that_are_missing(seen: Seen, k: int) -> dict[str, str]:
    return {q: "index" if cure == "embedding" else cure for q, cure in cures(seen, k).items()}


def embedding_for_all_that_are_missing(seen: Seen, k: int) -> dict[str, str]:
    return {q: "embedding" if cure == "index" else cure for q, cure in cures(seen, k).items()}


def rank_k_is_late(seen: Seen, k: int) -> dict[str, str]:
    return cures(seen, k - 1)


def _seen(random: Random) -> tuple[Seen, int]:
    k = random.choice([3, 5])
    ranks = [
        k,
        random.randint(1, k - 1),
        random.randint(k + 1, 50),
        None,
        random.choice([None, 2 * k]),
    ]
    fates = [*((rank, True) for rank in ranks), (None, False)]
    random.shuffle(fates)
    return {f"q{number}": its for number, its in enumerate(fates, start=1)}, k


# ---------------------------------------------------------------- 07-4: which search to build on


Curves: TypeAlias = dict[str, dict[int, float]]  # by search: Recall@k by k


def choice(curves: Curves, k: int, depth: int) -> list[Any]:
    alone = max(curves, key=lambda name: curves[name][k])
    before_reranker = max(curves, key=lambda name: curves[name][depth])
    return [alone, before_reranker, curves[before_reranker][depth]]


def choice_at_k(curves: Curves, k: int, depth: int) -> list[Any]:
    return [choice(curves, k, depth)[0]] * 2 + [curves[choice(curves, k, depth)[0]][depth]]


def choice_at_depth(curves: Curves, k: int, depth: int) -> list[Any]:
    return [choice(curves, k, depth)[1]] * 2 + [choice(curves, k, depth)[2]]


def choice_with_ceiling_1(curves: Curves, k: int, depth: int) -> list[Any]:
    return [*choice(curves, k, depth)[:2], 1.0]


def choice_with_ceiling_at_k(curves: Curves, k: int, depth: int) -> list[Any]:
    alone, before_reranker, _ = choice(curves, k, depth)
    return [alone, before_reranker, curves[before_reranker][k]]


def _curves(random: Random) -> tuple[Curves, int, int]:
    early = [random.randint(50, 60), random.randint(61, 66), random.randint(67, 72)]
    late = [random.randint(30, 40), random.randint(45, 60), random.randint(80, 95)]
    names = random.sample("AB", 2)
    curves = {
        name: {k: value / 100 for k, value in zip((3, 5, 20), values, strict=True)}
        for name, values in zip(names, (early, late), strict=True)
    }
    return dict(sorted(curves.items())), 3, 20


EXERCISES: dict[str, Exercise] = {
    "07-1": Function(
        given=_ranking_and_document,
        right=fate,
        mistakes={
            "one_rank_off": fate_one_rank_off,
            "without_cutoff": fate_without_cutoff,
            "lost_is_late": fate_lost_is_late,
            "late_is_lost": fate_late_is_lost,
        },
    ),
    "07-2": Exercise(
        given=_ranks,
        right=recall_now_and_at_best,
        mistakes={
            "what_came_only": recall_of_what_came,
            "reranker_finds": reranker_finds_everything,
            "reranker_given_all": reranker_given_all_hits,
            "divided_by_k": precision_in_place_of_recall,
        },
    ),
    "07-3": Exercise(
        given=_seen,
        right=cures,
        mistakes={
            "reranker_for_all": reranker_for_all,
            "always_the_index": index_for_all_that_are_missing,
            "always_the_embedding": embedding_for_all_that_are_missing,
            "rank_k_is_late": rank_k_is_late,
        },
    ),
    "07-4": Exercise(
        given=_curves,
        right=choice,
        mistakes={
            "at_k_only": choice_at_k,
            "at_depth_only": choice_at_depth,
            "ceiling_is_1": choice_with_ceiling_1,
            "ceiling_at_k": choice_with_ceiling_at_k,
        },
    ),
}
