"""Session 14, diagnosis: the steps in order, each query's outcome, and what failures share."""

from random import Random
from typing import Any

from rageval_kit.exercises.kinds import RIGHT, Exercise, Function, Made
from rageval_kit.exercises.pipelines import Pipeline, made_up

# ---------------------------------------------------------------- 14-1: the outcome of a query


def outcome(relevant: list[str], ranking: list[str], k: int) -> str:
    found = set(relevant) & set(ranking[:k])
    if not relevant:
        return "excluded"
    if len(found) == len(relevant):
        return "complete"
    return "partial" if found else "failed"


def outcome_without_excluded(relevant: list[str], ranking: list[str], k: int) -> str:
    return outcome(relevant, ranking, k) if relevant else "complete"


def outcome_that_fails_the_excluded(relevant: list[str], ranking: list[str], k: int) -> str:
    return outcome(relevant, ranking, k) if relevant else "failed"


def outcome_not_cut(relevant: list[str], ranking: list[str], k: int) -> str:
    return outcome(relevant, ranking, len(ranking))


def outcome_by_one(relevant: list[str], ranking: list[str], k: int) -> str:
    by_all = outcome(relevant, ranking, k)
    return "complete" if by_all == "partial" else by_all


def _query(random: Random) -> tuple[list[str], list[str], int]:
    ranking = random.sample("ABCDEFGH", 6)
    return random.sample("ABCDEFGH", random.randint(0, 3)), ranking, random.randint(2, 4)


# ---------------------------------------------------------------- 14-2: four unseen pipelines

_STEPS = ("Recall@20", "Recall@20 - Recall@10", "MRR@10", "HitRate@10", "faithfulness")


def first_steps(all_qa: list[dict[str, Any]], pipelines: dict[str, Pipeline]) -> dict[str, str]:
    return {name: _bad_steps(all_qa, given)[0] for name, given in pipelines.items()}


def last_steps(all_qa: list[dict[str, Any]], pipelines: dict[str, Pipeline]) -> dict[str, str]:
    return {name: _bad_steps(all_qa, given)[-1] for name, given in pipelines.items()}


def steps_without_the_gap(
    all_qa: list[dict[str, Any]], pipelines: dict[str, Pipeline]
) -> dict[str, str]:
    bad = {name: _bad_steps(all_qa, given) for name, given in pipelines.items()}
    return {name: next(step for step in steps if "-" not in step) for name, steps in bad.items()}


def always_accuracy(all_qa: list[dict[str, Any]], pipelines: dict[str, Pipeline]) -> dict[str, str]:
    return dict.fromkeys(pipelines, "accuracy")


def _bad_steps(all_qa: list[dict[str, Any]], pipeline: Pipeline) -> list[str]:
    """Return the steps that are bad, in order: each query has one relevant document."""
    results, answers = pipeline
    ranks = []
    for qa in all_qa:
        doc_ids = [hit["doc_id"] for hit in results[qa["query_id"]]]
        (wanted,) = qa["relevant_doc_ids"]
        ranks.append(doc_ids.index(wanted) + 1 if wanted in doc_ids else 0)
    copied = [
        answers[query_id] in [hit["content"] for hit in results[query_id]] for query_id in answers
    ]

    # The thresholds are those of `diagnose`.
    in_20, in_10 = _share(rank > 0 for rank in ranks), _share(0 < rank <= 10 for rank in ranks)
    mrr = sum(1 / rank for rank in ranks if 0 < rank <= 10) / len(ranks)
    bad = (in_20 < 0.8, in_20 - in_10 > 0.1, mrr < 0.5, in_10 < 0.9, _share(copied) < 0.5)
    return [step for step, is_bad in zip(_STEPS, bad, strict=True) if is_bad]


def _share(marks: Any) -> float:
    marks = list(marks)
    return sum(marks) / len(marks)


# ---------------------------------------------------------------- 14-3: ranks that break one step


def rule_of_the_ranks(ranks: Any) -> str:
    """Judge ten ranks (None: not in 20) of which MRR@10 is to be the first bad step."""
    if len(ranks) != 10:
        return "not_ten"
    found = [rank for rank in ranks if rank is not None]
    if any(isinstance(rank, bool) or rank != int(rank) or not 1 <= rank <= 20 for rank in found):
        return "no_such_rank"

    # In the order of the steps.
    in_10 = [rank for rank in found if rank <= 10]
    if len(found) < 8:
        return "pool_first"
    if len(found) - len(in_10) > 1:
        return "order_first"
    return RIGHT if sum(1 / rank for rank in in_10) < 5 - 1e-9 else "mrr_is_fine"


# ---------------------------------------------------------------- 14-4: which trait is a hint


def telling_trait(failed: int, all_queries: int, traits: dict[str, tuple[int, int]]) -> str:
    """Return the trait that is more common among the failed than among all, by the most."""
    excess = {
        name: of_failed / failed - of_all / all_queries
        for name, (of_failed, of_all) in traits.items()
    }
    return max(excess, key=lambda name: excess[name])


def trait_of_most_failures(failed: int, all_queries: int, traits: dict[str, Any]) -> str:
    return max(traits, key=lambda name: traits[name][0])


def trait_of_most_queries(failed: int, all_queries: int, traits: dict[str, Any]) -> str:
    return max(traits, key=lambda name: traits[name][1])


def trait_that_always_fails(failed: int, all_queries: int, traits: dict[str, Any]) -> str:
    return max(traits, key=lambda name: traits[name][0] / traits[name][1])


def _counted_traits(random: Random) -> tuple[int, int, dict[str, tuple[int, int]]]:
    """Draw how many of 40 failed and of 200 queries have a trait."""
    traits = {
        "unknown words": (random.randint(26, 30), random.randint(125, 135)),
        "other language": (random.randint(20, 24), random.randint(40, 50)),
        "long": (random.randint(8, 12), random.randint(140, 150)),
        "copies on top": (2, 2),
    }
    names = random.sample(sorted(traits), len(traits))
    return 40, 200, {name: traits[name] for name in names}


EXERCISES: dict[str, Exercise] = {
    "14-1": Function(
        given=_query,
        right=outcome,
        mistakes={
            "nothing_to_find_is_complete": outcome_without_excluded,
            "nothing_to_find_is_failed": outcome_that_fails_the_excluded,
            "not_cut": outcome_not_cut,
            "one_is_enough": outcome_by_one,
        },
    ),
    "14-2": Exercise(
        given=made_up,
        right=first_steps,
        mistakes={
            "last_step": last_steps,
            "gap_not_looked_at": steps_without_the_gap,
            "accuracy_of_all": always_accuracy,
        },
    ),
    "14-3": Made(
        given=lambda random: (),
        right=lambda: [4, 4, 4, 4, 4, 4, 4, 4, 4, 4],
        mistakes={
            "not_ten": lambda: [4, 4, 4],
            "no_such_rank": lambda: [0, 4, 4, 4, 4, 4, 4, 4, 4, 4],
            "pool_first": lambda: [3, 3, 3, 3, 3, 3, 3, None, None, None],
            "order_first": lambda: [4, 4, 4, 4, 4, 4, 4, 4, 15, 15],
            "mrr_is_fine": lambda: [1, 1, 1, 1, 1, 1, 1, 1, 1, 2],
        },
        rule=rule_of_the_ranks,
    ),
    "14-4": Exercise(
        given=_counted_traits,
        right=telling_trait,
        mistakes={
            "most_failures": trait_of_most_failures,
            "most_queries": trait_of_most_queries,
            "always_fails": trait_that_always_fails,
        },
    ),
}
