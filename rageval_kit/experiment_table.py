"""What an experiment says: a row a system, verdicts, and how far the best is flattered.

Intervals, p and verdicts are those of `compare`, worked out once over the whole grid. Choosing the
best of many on the queries that it is then measured on flatters it: how much is seen where half of
the queries choose and the other half measure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.comparison import compare_values, in_parts, randomization_p, with_verdicts
from rageval_kit.messages import count, is_number, shown, warn_user, wrong_type
from rageval_kit.rankings import Results
from rageval_kit.wording import say, say_count

Facts: TypeAlias = dict[str, Any]  # what is known of one system, as JSON can hold it
Cost: TypeAlias = Callable[[Facts], Mapping[str, float] | pd.DataFrame]

RESAMPLES = 10_000
_SPLITS = 500  # of the queries in halves, of which either chooses once
_LEVEL = 0.05

# What the first metric says of each system, as `compare` calls it, ...
OF_METRIC = (
    "mean", "low", "high", "difference", "difference_low", "difference_high", "p_holm", "verdict",
)  # fmt: skip

# ... of the best one among them, ...
OF_BEST = ("like_best", "held_out", "optimism")

# ... and what it costs.
OF_COST = (
    "ms_median", "ms_95", "texts_embedded", "tokens", "money", "index_bytes", "characters_a_query",
)  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class Experiment:
    """What `experiment` returns.

    Attributes:
        table: a row a system; see `experiment`.
        runs: the `Results` of every system that did not fail, by its name. Their hits have a doc_id
            and, where it is known, a score (equal ones stepped apart, as TREC's form wants it); the
            texts are in the documents.
        record: all that made them, as JSON can hold it.
        all_qa: the queries, with their judgements.
    """

    table: pd.DataFrame
    runs: dict[str, Results]
    record: dict[str, Any]
    all_qa: list[dict[str, Any]]

    def __repr__(self) -> str:
        parts = [
            say(
                "Experiment of {systems} over {queries}",
                systems=say_count(len(self.table), "system"),
                queries=say_count(len(self.all_qa), "query"),
            ),
            say(
                "best by {metric}: {best} ({mean:.3f})",
                metric=self.record["metrics"][0],
                best=self.best,
                mean=self.table["mean"].max(),
            ),
        ]
        failed = len(self.table) - len(self.runs)
        if failed:
            parts.append(say("{n} failed", n=failed))
        if self.record["left_out"]:
            left = say_count(self.record["left_out"], "combination")
            parts.append(say("{combinations} left out", combinations=left))
        return "; ".join(parts)

    @property
    def best(self) -> str:
        """The name of the system with the highest mean of the first metric."""
        return str(self.table["mean"].idxmax())


def as_experiment(result: Any, name: str = "result") -> Experiment:
    """Return an experiment's result, or refuse what is none."""
    if not isinstance(result, Experiment):
        raise wrong_type(name, "what experiment(...) or load_experiment(...) returned", result)
    return result


# ---------------------------------------------------------------- the table


def make_table(
    values: np.ndarray,
    labels: Sequence[str],
    systems: Mapping[str, Facts],
    baseline: str,
    seed: int,
    cost: Cost | None,
) -> pd.DataFrame:
    """Return the table of an experiment.

    Args:
        values: of every query: (queries, systems that ran, metrics), NaN where it has none.
        labels: of the metrics; the first one decides.
        systems: what is known of each, with its ``"settings"`` and its ``"error"``.
        baseline: the name of the system that the others are compared with.
        seed: of the random numbers.
        cost: see `experiment`.
    """
    ran = [name for name, facts in systems.items() if not facts["error"]]
    base = ran.index(baseline) if baseline in ran else 0
    rng = np.random.default_rng(seed)
    rows = compare_values(values, ran, base, labels, RESAMPLES, rng)

    # The first metric decides: its comparisons are the family of Holm's correction.
    decided = with_verdicts([row for row in rows if row["metric"] == labels[0]], RESAMPLES)
    decided = decided.droplevel("metric")
    if baseline not in ran:
        decided[[column for column in OF_METRIC if column.startswith(("diff", "p_"))]] = np.nan
        decided["verdict"] = say("cannot tell: the baseline failed")
        warn_user(f"The baseline {baseline!r} failed, so there are no differences to it.")
    complete = values[:, :, 0][~np.isnan(values[:, :, 0]).any(axis=1)]
    best = _of_best(decided, complete, base, rng)

    # A row a system: its settings, the first metric, the means of the others, and what it costs.
    table = pd.DataFrame(index=pd.Index(systems, name="system"))
    for axis in next(iter(systems.values()))["settings"]:
        table[axis] = [facts["settings"][axis] for facts in systems.values()]
    table = table.join(decided[[*OF_METRIC]]).join(best)
    for label in labels[1:]:
        of_label = {row["run"]: row for row in rows if row["metric"] == label}
        for column in ("mean", "low", "high"):
            its = {name: row[column] for name, row in of_label.items()}
            table[label if column == "mean" else f"{label}_{column}"] = pd.Series(its, dtype=float)
    table = table.join(_costs(systems, cost))
    table["verdict"] = [decided["verdict"].get(name, say("failed")) for name in systems]
    table["error"] = [facts["error"] for facts in systems.values()]
    return table.rename_axis(columns=labels[0])


def _of_best(
    decided: pd.DataFrame, values: np.ndarray, base: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Say which systems are like the best, and what the best has on queries held out.

    The verdict of the best rests on the latter: where it is not better there, it cannot be told.
    """
    best = int(decided["mean"].to_numpy().argmax())
    held = held_out(values, base, rng)
    name = decided.index[best]
    if decided.loc[name, "verdict"] == say("better") and not held.difference > 0:
        decided.loc[name, "verdict"] = say("cannot tell: not better on queries held out")

    table = pd.DataFrame(index=decided.index)
    table["like_best"] = pd.array(_like_best(values, best, rng), dtype="boolean")
    table["held_out"] = pd.Series({name: held.mean}, dtype=float)
    table["optimism"] = pd.Series({name: held.optimism}, dtype=float)
    return table


def _like_best(values: np.ndarray, best: int, rng: np.random.Generator) -> np.ndarray:
    """Say which systems cannot be told from the best.

    Which one is the best was not known before: any pair could have been compared, so that all pairs
    count (Bonferroni).
    """
    n_systems = values.shape[1]
    n_pairs = n_systems * (n_systems - 1) // 2
    resamples = max(RESAMPLES, round(2 * n_pairs / _LEVEL))  # twice the least that could tell
    p = randomization_p(values - values[:, [best]], resamples, rng)
    return p * n_pairs >= _LEVEL


def _costs(systems: Mapping[str, Facts], cost: Cost | None) -> pd.DataFrame:
    """Return what the systems cost; what is not known is NaN, and so is what ``cost`` fails on."""
    rows, failed = {}, []
    for name, facts in systems.items():
        rows[name] = known = {column: facts.get(column) for column in OF_COST}
        times = facts.get("milliseconds")
        if times:
            known["ms_median"], known["ms_95"] = np.percentile(times, [50, 95])

        # The function is the user's: if it fails, the runs are not lost.
        if cost is not None and not facts["error"]:
            try:
                known.update(_priced(cost, facts))
            except Exception as error:
                failed.append(f"{name}: {type(error).__name__}: {error}")
    if failed:
        warn_user(
            f"cost failed for {count(len(failed), 'system')}, whose tokens and money are not known "
            f"({failed[0]}). Fix the function and call again: with save= nothing else runs."
        )
    return pd.DataFrame.from_dict(rows, orient="index", columns=[*OF_COST]).astype(float)


def _priced(cost: Cost, facts: Facts) -> dict[str, Any]:
    """Return the tokens and the money that the user's function makes of the facts."""
    given = cost({**facts, **facts["settings"]})  # an axis may be called as a fact: "model"
    if isinstance(given, pd.DataFrame) and "tokens_high" in given:  # of estimate_cost
        total = given.loc["total"].to_dict()
        given = {"tokens": total["tokens_high"], "money": total.get("money_high", np.nan)}
    wanted = 'cost must return {"tokens": 1200, "money": 0.02}, or the table of estimate_cost'
    if not isinstance(given, Mapping) or not set(given) <= {"tokens", "money"}:
        raise TypeError(f"{wanted}, found {shown(given)}")
    for value in given.values():
        if not is_number(value):
            raise TypeError(f"{wanted}, found {shown(value)}")
    return dict(given)


# ---------------------------------------------------------------- the best, on queries held out


class HeldOut(NamedTuple):
    """What the best has on the queries that did not choose it, in the mean over many splits.

    Attributes:
        mean: of the chosen system on the other half of the queries.
        difference: to the baseline there.
        optimism: by how much its mean was higher on the half that chose it.
    """

    mean: float
    difference: float
    optimism: float


def held_out(
    values: np.ndarray, base: int, rng: np.random.Generator, splits: int = _SPLITS
) -> HeldOut:
    """Choose the best system on one half of the queries and measure it on the other, many times.

    No query of the half that measures has a say in the choice, so that the mean there does not
    flatter (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 17). Half of the
    queries choose less well than all of them: ``optimism`` is that of such a choice.

    Args:
        values: of each query and system: (queries, systems).
        base: the position of the baseline.
        rng: random numbers.
        splits: how often.

    >>> values = np.array([[1.0, 0.0], [0.0, 1.0]])  # whichever is chosen, the other query is 0
    >>> held_out(values, 0, np.random.default_rng(0), splits=10)
    HeldOut(mean=0.0, difference=-0.5, optimism=1.0)
    """
    n, half = len(values), len(values) // 2
    if half == 0:
        return HeldOut(np.nan, np.nan, np.nan)
    totals, found = values.sum(axis=0), []

    # Each split is a row of as many ones as there are queries in its first half.
    for size in in_parts(splits, n):
        first = rng.permuted(np.tile(np.arange(n) < half, (size, 1)), axis=1)
        sums = first.astype(float) @ values
        halves = sums / half, (totals - sums) / (n - half)

        # Either half chooses, and the other measures.
        for seen, unseen in (halves, halves[::-1]):
            rows, best = np.arange(size), seen.argmax(axis=1)
            chosen = unseen[rows, best]
            found.append(np.stack([chosen, chosen - unseen[:, base], seen[rows, best] - chosen]))
    return HeldOut(*np.concatenate(found, axis=1).mean(axis=1).tolist())
