"""Odd input for every public name, as many cases as one likes.

    python tests/benchmarks/fuzz.py --cases 100000 --seed 1

Prints a line a public name with what came of its cases (see tests/fuzz.py), then every fault by its
cause, with the number of cases and a small one as Python. The exit status is 1 if there is a fault.
A single case again: --only NUMBER; some names only: --names mrr,explain.
"""

import argparse
import copy
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests
sys.path.insert(0, str(Path(__file__).parents[2]))  # the kit that this file belongs to

import fuzz
import fuzz_inputs
import pandas as pd

KINDS = ("right", "value", "refused", "own", "unexplained", "wrong", "slow", "fuzzer")
N_TRIES = 300  # to make a case smaller


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one case")
    parser.add_argument("--names", help="public names, parted by commas")
    parser.add_argument("--examples", type=int, default=1, help="a cause")
    options = parser.parse_args()
    names = options.names.split(",") if options.names else None
    numbers = range(options.cases) if options.only is None else [options.only]

    # Every case once, with a line of progress now and then.
    counts, faults, started, told = (
        defaultdict(Counter),
        defaultdict(list),
        time.time(),
        time.time(),
    )
    for done, (number, case, outcome) in enumerate(fuzz.run(options.seed, numbers, names), start=1):
        counts[case.name][outcome.kind] += 1
        if options.only is not None:
            print(f"{case}\n-> {outcome}")
        if outcome.is_fault:
            faults[cause_of(case, outcome)].append((number, case, outcome))
        if time.time() - told > 20:
            told = time.time()
            print(
                f"{done:,} of {len(numbers):,} cases, {len(faults)} faults, {told - started:.0f} s",
                file=sys.stderr,
            )

    print_counts(counts, time.time() - started)
    print_faults(faults, options.examples)
    return 1 if faults else 0


def cause_of(case, outcome):
    """Return what cases of one fault have in common."""
    if outcome.kind == "wrong":
        words = outcome.what.split(":", maxsplit=2)
        said = words[1] if words[0] in ("accepted", "refused what is right") else words[0]
        return (
            outcome.kind,
            case.name,
            words[0][:9] + "".join(c for c in said if not c.isdigit())[-24:],
        )
    return outcome.kind, outcome.where, outcome.what.split(":")[0]


def print_counts(counts, seconds):
    table = (
        pd.DataFrame.from_dict(counts, orient="index")
        .reindex(columns=list(KINDS))
        .fillna(0)
        .astype(int)
    )
    table = table.sort_index()
    table.loc["all"] = table.sum()
    table.insert(0, "cases", table.sum(axis=1))
    print(table.to_string())
    print(f"\n{table.loc['all', 'cases']:,} cases in {seconds:.0f} s")


def print_faults(faults, n_examples):
    """Print the faults by the file of the package they come from, the commonest first."""
    by_file = defaultdict(list)
    for (kind, where, what), found in sorted(faults.items(), key=lambda pair: -len(pair[1])):
        file = (
            "values and refusals that are wrong"
            if kind == "wrong"
            else where.split(":")[0].split(" ")[0]
        )
        by_file[file].append(((kind, where, what), found))

    for file, causes in sorted(by_file.items()):
        print(f"\n## {file}")
        for (kind, where, what), found in causes:
            names = ", ".join(
                f"{name} {n}"
                for name, n in Counter(case.name for _, case, _ in found).most_common(4)
            )
            print(f"\n* **{kind} {what}** `{where}` ({names})")
            for number, case, outcome in sorted(found, key=lambda one: len(str(one[1])))[
                :n_examples
            ]:
                with fuzz.workplace():
                    small = case if kind == "slow" else smaller(case, (kind, where, what))
                print(
                    f"  case {number}: {shortened(outcome.what)}\n  `{shortened(str(small), 600)}`"
                )


def shortened(text, most=200):
    """Return the text as one line, a letter that stands there many times once."""
    text = re.sub(r"(.)\1{30,}", r"\1...\1", text.replace("\n", " "))
    return text if len(text) <= most else f"{text[:most]}..."


# ---------------------------------------------------------------- to make a case smaller


def smaller(case, cause):
    """Take away part after part of the arguments, as long as the fault stays the same."""
    tries = 0
    found = True
    while found and tries < N_TRIES:
        found = False
        for candidate in candidates(case):
            tries += 1
            if tries > N_TRIES:
                break
            try:
                outcome = fuzz.judge(candidate)
            except Exception:  # the smaller arguments cannot even be made
                continue
            if outcome.is_fault and cause_of(candidate, outcome) == cause:
                case, found = candidate, True
                break
    return case


def candidates(case):
    """Yield the case with one part less."""
    must = fuzz_inputs.parameters(case.name)
    for parameter, value in case.arguments.items():
        if not must.get(parameter):
            yield case._replace(
                arguments={p: v for p, v in case.arguments.items() if p != parameter}
            )
        for less in parts_less(value):
            yield case._replace(arguments={**case.arguments, parameter: less})


def parts_less(value):
    """Yield the value with an element, a key, a row or a column less, at any depth."""
    if isinstance(value, fuzz_inputs.Lazy):
        if value.make.__name__ in fuzz_inputs.VIEWS:
            yield value.arguments[0]
        for less in parts_less(value.arguments[0]) if value.arguments else ():
            yield value._replace(arguments=(less, *value.arguments[1:]))
    elif isinstance(value, pd.DataFrame):
        for row in range(len(value)):
            yield value.iloc[[r for r in range(len(value)) if r != row]]
        for column in range(value.shape[1]):
            yield value.iloc[:, [c for c in range(value.shape[1]) if c != column]]
    elif type(value) in (list, tuple):
        for place in range(len(value)):
            yield value[:place] + value[place + 1 :]
        for place, member in enumerate(value):
            for less in parts_less(member):
                yield type(value)([*value[:place], less, *value[place + 1 :]])
    elif type(value) is dict:
        for key in value:
            yield {k: v for k, v in value.items() if k is not key}
        for key, member in value.items():
            for less in parts_less(member):
                yield {**value, key: less}
    elif type(value) is str and len(value) > 3:
        yield copy.copy(value[: len(value) // 2])


if __name__ == "__main__":
    sys.exit(main())
