"""The fusion against ranx: random runs, score by score, to 1e-12. numba compiles for a minute or two at first.

python tests/benchmarks/fusion.py [--queries 200] [--record tests/benchmarks/fusion.json]
"""

import argparse
import json
import random
from importlib.metadata import version
from pathlib import Path

from rageval_kit import Results, fuse

WEIGHTS = {"cosines": 1.0, "words": 0.5, "distances": 2.0}
METHODS = {
    "rrf": ("rrf", None, None),
    "min_max": ("sum", "min-max", None),
    "min_max weighted": ("wsum", "min-max", WEIGHTS),
}


def random_runs(n_queries, seed=0):
    """Runs of unlike depth, over 30 documents; scores without ties, the third are distances."""
    rng = random.Random(seed)
    kinds = {"cosines": (12, -1, 1), "words": (5, 0, 40), "distances": (20, 0, 2)}
    return {
        name: {
            f"q{q}": {
                f"d{doc}": rng.uniform(low, high)
                for doc in rng.sample(range(30), rng.randint(1, most))
            }
            for q in range(n_queries)
        }
        for name, (most, low, high) in kinds.items()
    }


def as_results(name, run):
    """The run as the kit's results; distances are best first from below."""
    lower = name == "distances"
    hits = {
        query_id: [
            {"doc_id": doc_id, "score": score}
            for doc_id, score in sorted(scores.items(), key=lambda pair: pair[1], reverse=not lower)
        ]
        for query_id, scores in run.items()
    }
    return Results(hits, lower_is_better=lower)


def by_ranx(runs, method):
    """ranx's fusion: query_id -> doc_id -> score. It knows no direction: distances go in negative."""
    from ranx import Run
    from ranx import fuse as ranx_fuse

    fusion, norm, weights = METHODS[method]
    turned = {
        name: {
            q: {d: -s if name == "distances" else s for d, s in its.items()}
            for q, its in run.items()
        }
        for name, run in runs.items()
    }
    params = {"weights": [weights[name] for name in runs]} if weights else None
    fused = ranx_fuse(
        [Run(run) for run in turned.values()], norm=norm, method=fusion, params=params
    )
    return {q: dict(its) for q, its in fused.to_dict().items()}


def by_kit(runs, method):
    results = {name: as_results(name, run) for name, run in runs.items()}
    fused = fuse(results, 100, method.split()[0], METHODS[method][2])
    return {q: {hit["doc_id"]: hit["score"] for hit in its} for q, its in fused.items()}


def largest_difference(ours, theirs):
    """The largest difference of a score; infinite where the documents differ."""
    if {q: set(its) for q, its in ours.items()} != {q: set(its) for q, its in theirs.items()}:
        return float("inf")
    return max(abs(score - theirs[q][doc]) for q, its in ours.items() for doc, score in its.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--record", type=Path, help="write ranx's scores of 5 queries")
    arguments = parser.parse_args()
    runs = random_runs(arguments.queries, seed=1)
    for method in METHODS:
        print(f"{method:20}{largest_difference(by_kit(runs, method), by_ranx(runs, method)):.1e}")
    if arguments.record:
        few = random_runs(5)
        scores = {method: by_ranx(few, method) for method in METHODS}
        recorded = {"ranx": version("ranx"), "scores": scores}
        arguments.record.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
