"""Check the intervals, the test and the verdicts of compare on simulated data, where the truth is known.

    python tests/benchmarks/simulation.py           # 2 to 3 minutes; exit status 1 if a figure is outside its bounds
    python tests/benchmarks/simulation.py --speed   # time and memory: 10,000 queries x 5 runs x 10,000 resamples

What is simulated: a query's relevant document stands at rank 1 to 10 or is not found. HitRate@10 is then 0 or 1, and
nDCG@10 one of eleven values, most often 1, so that both are skewed and full of ties. A second run has the same rank
for half of the queries, and for the others one drawn anew, from the same distribution (the null hypothesis) or from a
better one.

What to expect, and why the bounds are what they are:

* Coverage. A percentile bootstrap covers 95 % as the number of queries grows. It is narrow by the factor
  sqrt((n - 1) / n), uses no t quantile and its ends can only be values that a mean of n queries can have. With 30
  queries it is known to cover a little less: 0.91 is the lower bound there, and 0.86 for the difference of HitRate,
  where the runs differ on four or five of the 30. From 100 queries it must be within two points of 95 %, from 300
  within one and a half.
* False positives. The randomization test is exact where the two runs are exchangeable: at most 5 %, and far less
  where few queries differ, since few signs give few different p: HitRate has the lower bound 0 with 30 queries, and
  0.01 with more. Where only the means are equal and the differences are skewed, 5 % holds as n grows.
* Verdicts. Holm's correction holds the chance of any false verdict in a table at 5 % or less; it is less with metrics
  that rise and fall together. Without it, the chance must be seen to be far higher.
* The best of many, of 20 equal systems over 60 queries. Its mean must be seen to flatter: 0.03 above the truth at
  least. On queries that did not choose it, it is the truth's, within 0.002 and the simulation error. The best is
  called better, any system better or worse, and one told from the best, each in 5 % of the tables at most: Holm's
  correction, and Bonferroni's over all pairs, promise no more.
* Power. With as many queries as the verdict names, drawn from those it was made of, about 80 % of the comparisons
  must come out. The number is a normal approximation: for a large effect, which few queries show, it is too small.
"""

import argparse
import contextlib
import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(
    0, str(Path(__file__).parents[2])
)  # the kit that this file belongs to, installed or not

from rageval_kit import compare
from rageval_kit.comparison import compare_values
from rageval_kit.experiment_table import make_table

NOT_FOUND = 11
RANKS = np.arange(1, NOT_FOUND + 1)
USUAL = (
    np.array([50, 12, 7, 4, 3, 2, 2, 2, 1, 1, 16]) / 100
)  # the chance of each rank, the last: not found
BETTER = np.array([60, 14, 7, 4, 3, 2, 1, 1, 1, 1, 6]) / 100
SAME = 0.5  # the share of queries on which two runs put the relevant document at the same rank
VALUES = {
    "HitRate": (RANKS < NOT_FOUND).astype(float),
    "nDCG": np.where(RANKS < NOT_FOUND, 1 / np.log2(RANKS + 1), 0.0),
}
# Often a little better, seldom much worse: the mean is 0, and the distribution far from symmetric.
SKEWED, CHANCES = np.array([0.1, 0.0, -0.5]), np.array([0.5, 0.4, 0.1])
SIZES = (30, 100, 300)
COVERAGE = {30: (0.91, 0.97), 100: (0.93, 0.97), 300: (0.935, 0.965)}
AT_ONCE = 100  # datasets that share their resamples: many columns, as if each were a run


class Check(NamedTuple):
    """A figure of the table: measured with its simulation error (one standard error), and where it must be."""

    what: str
    queries: int
    measured: float
    error: float
    low: float
    high: float

    @property
    def outside(self):
        return not self.low - 2 * self.error <= self.measured <= self.high + 2 * self.error


def check(what, queries, rates, bounds):
    """Take the mean of independent rates, and its error from how they scatter."""
    return Check(
        what,
        queries,
        float(np.mean(rates)),
        float(np.std(rates, ddof=1) / len(rates) ** 0.5),
        *bounds,
    )


# ---------------------------------------------------------------- data with a known truth


def ranks_of_two(shape, rng, chances=USUAL):
    """Draw the ranks of two runs; chances are those of the second where it differs."""
    first = rng.choice(RANKS, shape, p=USUAL)
    return first, np.where(rng.random(shape) < SAME, first, rng.choice(RANKS, shape, p=chances))


def difference(metric, shape, rng, chances=USUAL):
    first, second = ranks_of_two(shape, rng, chances)
    return VALUES[metric][second - 1] - VALUES[metric][first - 1]


# The ranking in which A stands at each rank, and nothing else is relevant; in that of NOT_FOUND it is missing.
RANKINGS = {
    rank: [{"doc_id": "A" if place == rank else f"x{place}"} for place in range(1, NOT_FOUND)]
    for rank in RANKS
}


def as_run(ranks):
    return {f"q{number}": RANKINGS[rank] for number, rank in enumerate(ranks)}


def all_qa_of(n, relevant=("A",)):
    return [{"query_id": f"q{number}", "relevant_doc_ids": list(relevant)} for number in range(n)]


# ---------------------------------------------------------------- intervals and test, many datasets at once


def rows_of(columns, resamples, rng):
    """Compare columns (queries, datasets) with a baseline of zeros, so that each is its own difference."""
    values = np.hstack([np.zeros((len(columns), 1)), columns])
    names = [f"{number}" for number in range(values.shape[1])]
    return pd.DataFrame(
        compare_values(values[:, :, None], names, 0, ["simulated"], resamples, rng)
    )[1:]


def coverage(draw, truth, n, settings, rng):
    """Return the share of intervals that hold the truth: of the mean, and of the difference to the baseline."""
    of_mean, of_difference = [], []
    for _ in range(settings.batches):
        rows = rows_of(draw((n, AT_ONCE), rng), settings.resamples, rng)
        of_mean.append(rows["low"].le(truth + 1e-9) & rows["high"].ge(truth - 1e-9))
        of_difference.append(
            rows["difference_low"].le(truth + 1e-9) & rows["difference_high"].ge(truth - 1e-9)
        )
    return np.mean(of_mean, axis=1), np.mean(of_difference, axis=1)


def false_positives(draw, n, settings, rng):
    return [
        rows_of(draw((n, AT_ONCE), rng), settings.resamples, rng)["p"].lt(0.05).mean()
        for _ in range(settings.batches)
    ]


def interval_checks(settings, rng):
    for n in settings.sizes:
        for metric, values in VALUES.items():
            rates, _ = coverage(
                lambda shape, rng, v=values: rng.choice(v, shape, p=USUAL),
                values @ USUAL,
                n,
                settings,
                rng,
            )
            yield check(f"95 % interval of the mean covers, {metric}", n, rates, COVERAGE[n])
        for metric, values in VALUES.items():
            truth = (1 - SAME) * values @ (BETTER - USUAL)
            _, rates = coverage(
                lambda shape, rng, m=metric: difference(m, shape, rng, BETTER),
                truth,
                n,
                settings,
                rng,
            )
            bounds = (0.86, 0.97) if (metric, n) == ("HitRate", 30) else COVERAGE[n]
            yield check(f"95 % interval of the difference covers, {metric}", n, rates, bounds)


def p_checks(settings, rng):
    skewed_bounds = {30: (0.03, 0.09), 100: (0.04, 0.07), 300: (0.04, 0.06)}
    for n in settings.sizes:
        for metric in VALUES:
            rates = false_positives(
                lambda shape, rng, m=metric: difference(m, shape, rng), n, settings, rng
            )
            lowest = 0.03 if metric == "nDCG" else 0.0 if n == 30 else 0.01
            yield check(f"p < 0.05 although the runs are alike, {metric}", n, rates, (lowest, 0.05))
        rates = false_positives(
            lambda shape, rng: rng.choice(SKEWED, shape, p=CHANCES), n, settings, rng
        )
        yield check(
            "p < 0.05 although the means are equal, skewed differences", n, rates, skewed_bounds[n]
        )


# ---------------------------------------------------------------- verdicts, through compare itself


def null_tables(n_tables, resamples, rng, n=60, n_runs=5):
    """Compare runs that are alike; with two relevant documents the five metrics are five."""
    all_qa = all_qa_of(n, ["A", "B"])
    for seed in range(n_tables):
        first = {doc_id: rng.choice(RANKS, n, p=USUAL) for doc_id in "AB"}
        runs = {}
        for number in range(n_runs):
            redrawn = (rng.random(n) > SAME) & (number > 0)
            places = {
                d: np.where(redrawn, rng.choice(RANKS, n, p=USUAL), ranks)
                for d, ranks in first.items()
            }
            runs[f"run {number}"] = two_relevant(places)
        yield compare(runs, all_qa, 10, resamples=resamples, seed=seed)


def two_relevant(places):
    """Return a run with A and B at their ranks; where both want one rank, B gives way to the next."""
    run = {}
    for number, (a, b) in enumerate(zip(places["A"], places["B"], strict=True)):
        ranking = [f"x{place}" for place in range(1, NOT_FOUND)]
        ranking[a - 1 : a] = ["A"]
        place = b + (a == b)
        if place < NOT_FOUND:
            ranking[place - 1] = "B"
        run[f"q{number}"] = [{"doc_id": doc_id} for doc_id in ranking[: NOT_FOUND - 1]]
    return run


def verdict_checks(settings, rng):
    anything, without_holm, one_metric = [], [], []
    for table in null_tables(settings.tables, settings.table_resamples, rng):
        compared = table[table["verdict"] != "baseline"]
        anything.append(compared["verdict"].isin(["better", "worse"]).any())
        without_holm.append(compared["p"].lt(0.05).any())
        one_metric.append(compared.loc["nDCG@10", "p"].mul(4).lt(0.05).any())  # Holm's first step
    yield check(
        "a verdict although all are alike, 4 comparisons x 5 metrics", 60, anything, (0.0, 0.05)
    )
    yield check("the same without Holm's correction: any p < 0.05", 60, without_holm, (0.15, 1.0))
    yield check(
        "a verdict although all are alike, 4 comparisons, nDCG", 60, one_metric, (0.01, 0.05)
    )


class Pilot(NamedTuple):
    """Two runs over a few queries, which cannot tell; others are like the first."""

    metric: str
    ranks: list[
        tuple[int, int, int]
    ]  # how many queries have this rank in the old run, and this in the new
    others: int
    bounds: tuple[float, float]


SMALL = [(10, 2, 1), (8, NOT_FOUND, 3), (6, 1, 3), (2, 2, NOT_FOUND), (34, 1, 1)]
PILOTS = {
    "HitRate, small effect": Pilot(
        "HitRate", [(9, NOT_FOUND, 1), (4, 1, NOT_FOUND), (37, 1, 1)], 0, (0.75, 0.85)
    ),
    "nDCG, small effect": Pilot("nDCG", SMALL, 0, (0.75, 0.85)),
    "nDCG, small effect, one of 4 comparisons": Pilot("nDCG", SMALL, 3, (0.75, 0.87)),
    "nDCG, medium effect": Pilot(
        "nDCG", [(4, NOT_FOUND, 2), (1, 1, 4), (3, 1, 1)], 0, (0.70, 0.90)
    ),
    "nDCG, large effect": Pilot("nDCG", [(5, NOT_FOUND, 2), (1, 1, 2), (1, 1, 1)], 0, (0.50, 0.90)),
}


def power_at_named_number(pilot, settings, rng):
    """Draw as many of the pilot's queries as its verdict names; how often does the verdict then say better?"""
    old, new = np.array([(old, new) for times, old, new in pilot.ranks for _ in range(times)]).T
    others = {f"other {number}": old for number in range(pilot.others)}
    verdict = verdict_of_new(
        {"old": old, "new": new} | others, pilot.metric, settings.table_resamples
    )
    named = re.match(r"cannot tell; about ([\d,]+) queries could", verdict)
    if not named:
        raise SystemExit(f"The pilot's verdict is {verdict!r}: nothing to take seriously.")
    n = int(named[1].replace(",", ""))
    found = []
    for _ in range(settings.tables):
        drawn = rng.integers(0, len(old), n)
        runs = {"old": old[drawn], "new": new[drawn]}
        for name in others:  # differ from the old run by chance alone
            runs[name] = np.where(
                rng.random(n) < SAME, runs["old"], old[rng.integers(0, len(old), n)]
            )
        found.append(verdict_of_new(runs, pilot.metric, settings.table_resamples) == "better")
    return n, found


def verdict_of_new(ranks, metric, resamples):
    runs = {name: as_run(of_run) for name, of_run in ranks.items()}
    table = compare(runs, all_qa_of(len(ranks["old"])), 10, metrics=[metric], resamples=resamples)
    return table.loc[(f"{metric}@10", "new"), "verdict"]


def power_checks(settings, rng):
    for name in settings.pilots:
        n, found = power_at_named_number(PILOTS[name], settings, rng)
        yield check(
            f"better, at the number of queries that the verdict named: {name}",
            n,
            found,
            PILOTS[name].bounds,
        )


# ---------------------------------------------------------------- the best of many, through experiment's table


def experiment_tables(n_tables, rng, n=60, n_systems=20):
    """Yield the table of systems that are equal, and what they have in the mean: the truth, nearly."""
    names = [f"system {number}" for number in range(n_systems)]
    systems = {name: {"settings": {}, "error": ""} for name in names}
    for seed in range(n_tables):
        shared = rng.choice(RANKS, (n, 1), p=USUAL)
        redrawn = rng.random((n, n_systems)) > SAME
        ranks = np.where(redrawn, rng.choice(RANKS, (n, n_systems), p=USUAL), shared)
        values = VALUES["nDCG"][ranks - 1]
        yield make_table(values[:, :, None], ["nDCG@10"], systems, names[0], seed, None), values


def winner_checks(settings, rng):
    flattered, held_out, told, of_best, set_apart = [], [], [], [], []
    for table, values in experiment_tables(settings.tables, rng):
        best = table.loc[table["mean"].idxmax()]
        flattered.append(best["mean"] - values.mean())
        held_out.append(best["held_out"] - values.mean())
        told.append(table["verdict"].isin(["better", "worse"]).any())
        of_best.append(best["verdict"] == "better")
        set_apart.append(not table["like_best"].all())
    of = "20 equal systems"
    yield check(f"the best mean less the truth, {of}", 60, flattered, (0.03, 0.2))
    yield check(f"its mean on queries held out less the truth, {of}", 60, held_out, (-0.002, 0.002))
    yield check(f"the best is called better, {of}", 60, of_best, (0.0, 0.05))
    yield check(f"any verdict, {of}", 60, told, (0.0, 0.05))
    yield check(f"a system is told from the best, {of}", 60, set_apart, (0.0, 0.05))


# ---------------------------------------------------------------- the table


class Settings(NamedTuple):
    """How much is simulated."""

    sizes: tuple[int, ...] = SIZES
    batches: int = 40
    resamples: int = 2_000
    tables: int = 300
    table_resamples: int = 2_000
    pilots: tuple[str, ...] = tuple(PILOTS)


QUICK = Settings(
    sizes=(30, 100),
    batches=6,
    resamples=1_000,
    tables=40,
    table_resamples=1_000,
    pilots=("nDCG, medium effect",),
)


PARTS = (interval_checks, p_checks, verdict_checks, power_checks, winner_checks)


def simulate(settings, seed=0):
    """Yield every check."""
    for number, part in enumerate(PARTS):
        yield from part(settings, np.random.default_rng([seed, number]))


def report(settings, seed):
    print("| simulated | queries | measured | simulation error | must be within | |")
    print("|---|---:|---:|---:|---|---|")
    outside = 0
    for row in simulate(settings, seed):
        outside += row.outside
        cells = [
            row.what,
            f"{row.queries:,}",
            f"{row.measured:.3f}",
            f"{row.error:.3f}",
            f"{row.low:g} to {row.high:g}",
        ]
        print(f"| {' | '.join(cells)} | {'**outside**' if row.outside else 'ok'} |", flush=True)
    print(
        f"\nThe error is one standard error over {settings.batches * AT_ONCE:,} datasets (intervals, p) or "
        f"{settings.tables:,} tables (verdicts); outside means by more than twice the error."
    )
    return outside


def measure_speed(n=10_000, n_runs=5, depth=10, resamples=10_000):
    """Print the seconds and the peak memory of one call of compare, beside the data."""
    sys.path.insert(0, str(Path(__file__).parent))
    from speed import give_back_unused, highest_size

    rng = np.random.default_rng(0)
    query_ids = np.array([f"q{number:06d}" for number in range(n)], dtype=object)
    runs = {}
    for number in range(n_runs):
        ranks = rng.choice(RANKS, n, p=USUAL if number % 2 else BETTER)
        docs = np.where(
            ranks[:, None] == np.arange(1, depth + 1), "A", [f"x{place}" for place in range(depth)]
        )
        columns = {"query_id": query_ids.repeat(depth), "doc_id": docs.ravel().astype(object)}
        runs[f"run {number}"] = pd.DataFrame(
            columns | {"rank": np.tile(np.arange(1, depth + 1), n)}
        )
    all_qa = pd.DataFrame({"query_id": query_ids, "doc_id": "A"})
    compare(
        {name: run.head(50 * depth) for name, run in runs.items()}, all_qa.head(50), resamples=10
    )  # imports
    give_back_unused()
    before, start = highest_size(), time.perf_counter()
    table = compare(runs, all_qa, depth, resamples=resamples)
    seconds, peak = time.perf_counter() - start, highest_size() - before
    print(
        f"{n:,} queries x {n_runs} runs x {resamples:,} resamples, {table.index.levshape[0]} metrics:",
        end=" ",
    )
    print(f"{seconds:.1f} s, {peak / 1e6:,.0f} MB of memory at the peak beyond the data")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="seconds instead of minutes, with larger simulation error",
    )
    parser.add_argument("--speed", action="store_true", help="measure time and memory instead")
    options = parser.parse_args()
    if options.speed:
        return measure_speed()
    start = time.perf_counter()
    outside = report(QUICK if options.quick else Settings(), options.seed)
    print(
        f"\n{outside or 'No'} figure{'s are' if outside > 1 else ' is'} outside. {time.perf_counter() - start:.0f} s."
    )
    return 1 if outside else 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
