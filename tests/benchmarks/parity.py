"""The kit against pytrec-eval-terrier, ranx and ir-measures: random cases, query by query, to 1e-12.

    python tests/benchmarks/parity.py --cases 100000 --seed 0

The cases are those of tests/test_parity.py: ties, grades from -1, empty rankings, queries that are missing from the
run, rankings of 0 to 40 hits, 1 to 5 queries a case. Many cases go into one call, with query ids of their own. The
kit's values from a table with scores are compared with every engine's, and with its own from other forms of results.
What an engine defines otherwise is left out (NaN in its table); the comments say what and why. The first difference
is printed as Python that reproduces it, and the exit status is 1.
"""

import argparse
import importlib.util
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytrec_eval

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests
sys.path.insert(
    0, str(Path(__file__).parents[2])
)  # the kit that this file belongs to, installed or not

from test_parity import (
    KS,
    MEASURES,
    TREC_NAMES,
    as_lists,
    as_rank_table,
    as_score_table,
    random_case,
    trec_row,
)

from rageval_kit import per_query

TOLERANCE = 1e-12
N_CASES_A_CALL = 25_000  # more than 2 ** 16 queries: a number that 16 bits do not hold
EXPONENTIAL = "nDCG, exponential gain"
METRICS = (*TREC_NAMES, "AP", "R-precision", "F1", "Judged", EXPONENTIAL)
IN_ORDER, SHUFFLED = (
    0,
    1,
)  # seeds: as_score_table and as_rank_table shuffle if the first number drawn is below 0.5


# ---------------------------------------------------------------- (grades, run) -> a row a query, a column a metric@k


def kit(grades, run, form=as_score_table, seed=IN_ORDER):
    all_qa = [
        {"query_id": query_id, "relevant_doc_ids": judged} for query_id, judged in grades.items()
    ]
    results = form(run, random.Random(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # queries without results are many here, and named
        names = [metric for metric in METRICS if metric != EXPONENTIAL]
        table = per_query(all_qa, results, KS, names, no_relevant="zero")
        exponential = per_query(
            all_qa, results, KS, ["nDCG"], no_relevant="zero", gain="exponential"
        )
    return table.join(
        exponential.rename(columns=lambda column: column.replace("nDCG", EXPONENTIAL))
    )


def kit_from_lists(grades, run):
    return kit(grades, run, as_lists)


def kit_from_shuffled_rows(grades, run):
    return kit(grades, run, as_score_table, SHUFFLED)


def kit_by_rank(grades, run):
    return kit(grades, run, as_rank_table)


def pytrec(grades, run):
    # trec_eval has no F1@k (set_F takes the whole ranking), no Judged and no exponential gain. It drops a query that
    # is missing from the run; trec_eval -c counts it as 0, and so does this.
    measures = {f"map_cut.{','.join(map(str, KS))}", "Rprec"}
    found = pytrec_eval.RelevanceEvaluator(grades, MEASURES | measures).evaluate(run)
    columns = [*at_every_k(*TREC_NAMES, "AP"), "R-precision"]
    rows = {
        query_id: [*trec_row(values), *(values[f"map_cut_{k}"] for k in KS), values["Rprec"]]
        for query_id, values in found.items()
    }
    nothing = [0.0] * len(columns)
    return pd.DataFrame([rows.get(query_id, nothing) for query_id in grades], list(grades), columns)


def ranx(grades, run):
    from ranx import Qrels, Run, evaluate

    # ranx sorts by score alone, with a sort that is not stable: queries with a tie have no order and are left out.
    # It has no Judged.
    grades = {
        query_id: judged
        for query_id, judged in grades.items()
        if not has_tie(run.get(query_id, {}))
    }
    run = {query_id: scores for query_id, scores in run.items() if query_id in grades}
    names = {
        "HitRate": "hit_rate", "RR": "mrr", "nDCG": "ndcg", "Precision": "precision", "Recall": "recall",
        "AP": "map", "F1": "f1", EXPONENTIAL: "ndcg_burges",
    }  # fmt: skip
    columns = {f"{name}@{k}": f"{metric}@{k}" for metric, name in names.items() for k in KS}
    columns["r-precision"] = "R-precision"
    if not any(run.values()):  # it cannot take rankings that are all empty
        return pd.DataFrame(columns=list(columns.values()), dtype=float)
    judged = Qrels(grades)
    values = evaluate(judged, Run(run), list(columns), return_mean=False, make_comparable=True)
    return pd.DataFrame(values, list(judged.keys())).rename(columns=columns)


def ir_measures(grades, run):
    from ir_measures import AP, RR, Judged, P, R, Rprec, Success, iter_calc, nDCG

    # Its F (SetF) takes the whole ranking, and its exponential gain is a Perl script that cannot read ids with spaces.
    # Judged divides by zero on an empty ranking: it gets none of these, and gives its default, which is 0.
    of = {
        "HitRate": Success,
        "RR": RR,
        "nDCG": nDCG,
        "Precision": P,
        "Recall": R,
        "AP": AP,
        "Judged": Judged,
    }
    columns = {measure @ k: f"{metric}@{k}" for metric, measure in of.items() for k in KS} | {
        Rprec: "R-precision"
    }
    rows = {query_id: {} for query_id in grades}
    for value in iter_calc(
        list(columns), grades, {query_id: scores for query_id, scores in run.items() if scores}
    ):
        rows[value.query_id][columns[value.measure]] = value.value
    table = pd.DataFrame(list(rows.values()), list(rows))
    # RR@k and Judged@k come from providers that order ties by doc_id ascending; the others from pytrec-eval.
    tied = [query_id for query_id in grades if has_tie(run.get(query_id, {}))]
    table.loc[tied, at_every_k("RR", "Judged")] = np.nan
    return table


ENGINES = {
    "pytrec-eval-terrier": pytrec,
    "ranx": ranx,
    "ir-measures": ir_measures,
    "kit from lists": kit_from_lists,
    "kit from shuffled rows": kit_from_shuffled_rows,
    "kit by rank": kit_by_rank,
}


def at_every_k(*metrics):
    return [f"{metric}@{k}" for metric in metrics for k in KS]


def has_tie(scores):
    return len(set(scores.values())) < len(scores)


# ---------------------------------------------------------------- compare


def cases_in_one(rng, numbers):
    """Return grades and run of several cases, with the case's number in every query_id."""
    grades, run = {}, {}
    for number in numbers:
        case = random_case(rng)
        grades |= {f"{number}-{query_id}": judged for query_id, judged in case.grades.items()}
        run |= {f"{number}-{query_id}": scores for query_id, scores in case.run.items()}
    return grades, run


def differences(ours, theirs):
    """Return the differences of what the engine gave, NaN for what it did not; its columns, a row a query."""
    ours = ours.loc[theirs.index, theirs.columns]
    # What the kit does not give while the engine does is an infinite difference.
    return (ours.fillna(np.inf) - theirs).abs()


def compare(n_cases, seed, engines):
    """Return how many queries there were, and the number of values and the largest difference by metric and engine."""
    rng = random.Random(seed)
    count = pd.DataFrame(0, index=list(METRICS), columns=engines)
    largest = pd.DataFrame(0.0, index=list(METRICS), columns=engines)
    n_queries = 0
    for first in range(0, n_cases, N_CASES_A_CALL):
        grades, run = cases_in_one(rng, range(first, min(first + N_CASES_A_CALL, n_cases)))
        n_queries += len(grades)
        ours = kit(grades, run)
        for engine in engines:
            found = differences(ours, ENGINES[engine](grades, run))
            if (found > TOLERANCE).any(axis=None):
                print_case(grades, run, engine, *found.stack().idxmax())
                raise SystemExit(1)
            by_metric = found.T.groupby(found.columns.str.partition("@").get_level_values(0))
            count[engine] = (
                count[engine].add(by_metric.count().sum(axis=1), fill_value=0).astype(int)
            )
            largest[engine] = largest[engine].combine(
                by_metric.max().max(axis=1), max, fill_value=0.0
            )
        print(
            f"{min(first + N_CASES_A_CALL, n_cases):,} cases compared", file=sys.stderr, flush=True
        )
    return n_queries, count, largest


def print_case(grades, run, engine, query_id, column):
    """Print Python that shows the difference, with no other case in the call."""
    number = query_id.partition("-")[0]
    grades, run = (
        {key: values for key, values in of_query.items() if key.partition("-")[0] == number}
        for of_query in (grades, run)
    )
    print(f"# {column} of {query_id}: the kit and {engine} differ. From the folder above tests/:")
    print('import sys\n\nsys.path.insert(0, "tests/benchmarks")\nfrom parity import ENGINES, kit\n')
    print(f"grades = {grades!r}\nrun = {run!r}")
    print(f"print(kit(grades, run).loc[{query_id!r}, {column!r}])")
    print(f"print(ENGINES[{engine!r}](grades, run).loc[{query_id!r}, {column!r}])")
    alone = differences(kit(grades, run), ENGINES[engine](grades, run)).loc[query_id, column]
    if not alone > TOLERANCE:
        print(
            "# Alone they agree: the difference shows only among the other cases. Run this file with the same seed."
        )


def print_report(n_queries, count, largest):
    print(
        f"{n_queries:,} queries. Values compared, and the largest difference from the kit's table with scores:\n"
    )
    print(f"| metric | {' | '.join(count)} |\n|---|{'---:|' * len(count.columns)}")
    for metric in METRICS:
        cells = [
            f"{count.loc[metric, engine]:,} ({largest.loc[metric, engine]:.1e})"
            if count.loc[metric, engine]
            else ""
            for engine in count
        ]
        print(f"| {metric} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    engines = list(ENGINES)
    for name, module in (("ranx", "ranx"), ("ir-measures", "ir_measures")):
        if importlib.util.find_spec(module) is None:
            print(f"{name} is not installed: left out.")
            engines.remove(name)
    print_report(*compare(options.cases, options.seed, engines))


if __name__ == "__main__":
    main()
