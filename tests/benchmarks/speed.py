"""How long and how much memory: the kit, pytrec-eval-terrier, ranx, ir-measures and bare numpy, side by side.

    python tests/benchmarks/speed.py --queries 10000 --hits 100

From the same two pandas DataFrames (run: query_id, doc_id, score; qrels: query_id, doc_id, relevance) every engine
makes one DataFrame with a row a query and HitRate, RR, nDCG, Precision and Recall at k = 1, 3, 5, 10. All that lies
between is timed, conversion included: once with the rows grouped by query and sorted by score, once shuffled. Then the
lecture's dict of lists is put against pytrec-eval-terrier with its own dicts.

* Before anything is timed, every engine's table must equal the kit's to 1e-9. That call also warms it up.
* The engines take turns in every repeat, so that a busy moment of the machine meets them alike. Medians count.
  Seconds far above the CPU seconds (of all threads) say that the machine was busy: then measure again.
* Engines that want dicts get them from the fastest conversion that was found (`as_dicts`). ranx refuses the columns
  of pandas 3 (`Run.from_df` asserts object), and its own conversion is slower than this one in any case.
* pandas keeps texts as Python's objects in the default install, and otherwise where pyarrow is installed: run it in both,
  the second time in an environment with the extra `parquet`.
* numba compiles ranx for the length of the ids at the first call, before the clock starts.
* Memory: each engine runs in a process of its own, which imports it, warms it up on 20 queries and builds the data.
  Then the process's highest size is set back to the present one (Linux) and read (ru_maxrss), the engine is called,
  and what the reading has grown by is the engine's peak.
"""

import argparse
import contextlib
import ctypes
import datetime
import gc
import importlib.metadata
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(
    0, str(Path(__file__).parents[2])
)  # the kit that this file belongs to, installed or not

from rageval_kit import per_query

KS = (1, 3, 5, 10)
METRICS = ("HitRate", "RR", "nDCG", "Precision", "Recall")
COLUMNS = [f"{metric}@{k}" for metric in METRICS for k in KS]
KIT = "rageval_kit"
N_DOCUMENTS = 1_000_000
N_JUDGED = 10  # documents a query, half of them among its hits

# ---------------------------------------------------------------- the data


def make_tables(n_queries, n_hits, id_dtype, grouped=True):
    """Return qrels and run. No ties: ranx gives them no order. Scores are exact in the 32 bits that trec_eval keeps."""
    rng = np.random.default_rng(20261130)
    first, step = (
        rng.integers(N_DOCUMENTS, size=n_queries),
        rng.integers(1, N_DOCUMENTS // 2 // n_hits, size=n_queries),
    )
    documents = (
        first[:, None] + step[:, None] * np.arange(n_hits + N_JUDGED // 2)
    ) % N_DOCUMENTS  # all different
    hits = rng.permuted(documents[:, :n_hits], axis=1)
    judged = np.hstack([rng.permuted(hits, axis=1)[:, : N_JUDGED // 2], documents[:, n_hits:]])
    grades = rng.integers(0, 4, size=judged.shape)
    grades[:, 0] = np.maximum(grades[:, 0], 1)  # no query without a relevant document
    scores = rng.integers(1, 64, size=hits.shape).cumsum(axis=1)[:, ::-1] / 64
    query_ids = np.array([f"q{number:06d}" for number in range(n_queries)], dtype=object)
    numbers, positions = np.unique(
        np.concatenate([judged.ravel(), hits.ravel()]), return_inverse=True
    )
    doc_ids = np.array([f"doc_{number:07d}" for number in numbers], dtype=object)[positions]
    qrels = {
        "query_id": as_ids(query_ids.repeat(judged.shape[1]), id_dtype),
        "doc_id": as_ids(doc_ids[: judged.size], id_dtype),
        "relevance": grades.ravel(),
    }
    run = {
        "query_id": as_ids(query_ids.repeat(n_hits), id_dtype),
        "doc_id": as_ids(doc_ids[judged.size :], id_dtype),
        "score": scores.ravel(),
    }
    order = np.arange(hits.size) if grouped else rng.permutation(hits.size)
    return pd.DataFrame(qrels), pd.DataFrame(run).take(order).reset_index(drop=True)


def as_ids(values, id_dtype):
    return pd.Series(values, dtype=object).astype(id_dtype)


def as_dicts(table, column, grouped):
    """Return {query_id: {doc_id: value}}."""
    rows, query_ids = pd.factorize(table["query_id"])
    docs, values = table["doc_id"].array, table[column].to_numpy()
    if not grouped:
        order = order_by_row(rows)
        docs, values = docs.take(order), values[order]
    docs, values = np.asarray(docs, dtype=object).tolist(), values.tolist()
    ends = np.bincount(rows).cumsum().tolist()
    blocks = zip(np.asarray(query_ids, dtype=object).tolist(), [0, *ends], ends, strict=False)
    return {
        query_id: dict(zip(docs[start:end], values[start:end], strict=True))
        for query_id, start, end in blocks
    }


def order_by_row(rows):
    """Sort stably by row. numpy sorts 16-bit integers by radix, many times faster than wider ones."""
    order = np.argsort(rows.astype(np.uint16), kind="stable")
    if rows.max() < 1 << 16:
        return order
    return order[np.argsort((rows >> 16).astype(np.uint16)[order], kind="stable")]


def as_lecture(qrels, run):
    """Return all_qa and results as a lecture writes them: lists of dicts."""
    judged, found = as_dicts(qrels, "relevance", grouped=True), as_dicts(run, "score", grouped=True)
    all_qa = [
        {"query_id": query_id, "question": "Which one?", "relevant_doc_ids": grades}
        for query_id, grades in judged.items()
    ]
    results = {
        query_id: [
            {"doc_id": doc_id, "title": "", "content": "", "score": score}
            for doc_id, score in scores.items()
        ]
        for query_id, scores in found.items()
    }
    return all_qa, results


# ---------------------------------------------------------------- the engines: two tables -> one table


def kit(qrels, run, grouped):
    return per_query(qrels, run, ks=KS)


def pytrec(qrels, run, grouped):
    return pytrec_on_dicts(
        as_dicts(qrels, "relevance", grouped=True), as_dicts(run, "score", grouped)
    )


def pytrec_on_dicts(judged, found):
    import pytrec_eval

    trec_names = {"HitRate": "success", "nDCG": "ndcg_cut", "Precision": "P", "Recall": "recall"}
    measures = {f"{name}.{','.join(map(str, KS))}" for name in trec_names.values()} | {"recip_rank"}
    values = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(found)
    names = list(next(iter(values.values())))
    table = pd.DataFrame(
        np.array([list(of_query.values()) for of_query in values.values()]), list(values), names
    )
    table = table.rename(
        columns={f"{name}_{k}": f"{metric}@{k}" for metric, name in trec_names.items() for k in KS}
    )
    for k in KS:  # trec_eval looks at the whole ranking
        table[f"RR@{k}"] = table["recip_rank"].where(table["recip_rank"] * k > 1 - 1e-9, 0.0)
    return table[COLUMNS]


def ranx(qrels, run, grouped):
    from ranx import Qrels, Run, evaluate

    names = {
        "HitRate": "hit_rate",
        "RR": "mrr",
        "nDCG": "ndcg",
        "Precision": "precision",
        "Recall": "recall",
    }
    metrics = {f"{metric}@{k}": f"{names[metric]}@{k}" for metric in METRICS for k in KS}
    judged = Qrels(as_dicts(qrels, "relevance", grouped=True))
    found = Run(as_dicts(run, "score", grouped))
    values = evaluate(
        judged, found, list(metrics.values()), return_mean=False, save_results_in_run=False
    )
    return pd.DataFrame(
        {column: values[name] for column, name in metrics.items()}, index=list(judged.keys())
    )


def ir_measures(qrels, run, grouped):
    from ir_measures import RR, P, R, Success, iter_calc, nDCG

    of = {"HitRate": Success, "RR": RR, "nDCG": nDCG, "Precision": P, "Recall": R}
    columns = {of[metric] @ k: f"{metric}@{k}" for metric in METRICS for k in KS}
    judged, found = as_dicts(qrels, "relevance", grouped=True), as_dicts(run, "score", grouped)
    rows = {query_id: {} for query_id in judged}
    for value in iter_calc(list(columns), judged, found):
        rows[value.query_id][columns[value.measure]] = value.value
    return pd.DataFrame(list(rows.values()), index=list(rows))[COLUMNS]


def bare_numpy(qrels, run, grouped):
    """Make the same table with numpy and pandas' hashing, and check nothing: no policies, no rule for ties.

    It believes what ``grouped`` says of the run, that qrels are grouped by query, that every query has a relevant
    document and that every query of the run is judged.
    """
    depth, grades = max(KS), qrels["relevance"].to_numpy()
    judged_rows, query_ids = pd.factorize(qrels["query_id"])
    if grouped:
        of_hit = run["query_id"].array
        starts = np.flatnonzero(np.append(True, of_hit[1:] != of_hit[:-1]))
        lengths = np.diff(starts, append=len(run))
        queries = pd.Index(query_ids).get_indexer(of_hit.take(starts))
        block, rank = np.nonzero(np.arange(depth) < lengths[:, None])
        best = starts[block] + rank
    else:
        rows = pd.factorize(pd.concat([qrels["query_id"], run["query_id"]]))[0][len(qrels) :]
        order = order_by_row(rows)
        lengths = np.bincount(rows)
        starts = lengths.cumsum() - lengths
        queries = np.arange(len(lengths))
        ranking = np.argsort(as_matrix(-run["score"].to_numpy()[order], lengths, np.inf), axis=1)
        block, rank = np.nonzero(np.arange(depth) < lengths[:, None])
        best = order[starts[block] + ranking[block, rank]]
    docs = pd.factorize(pd.concat([qrels["doc_id"], run["doc_id"].take(best)]))[0]
    pairs = np.concatenate([judged_rows, queries[block]]) * (docs.max() + 1) + docs
    judgement = pd.Index(pairs[: len(qrels)]).get_indexer(pairs[len(qrels) :])
    gains = np.zeros((len(query_ids), depth))
    gains[queries[block], rank] = np.append(grades, 0)[judgement]
    ideal = -np.sort(as_matrix(-grades, np.bincount(judged_rows), 0), axis=1)[:, :depth]
    ranks = np.arange(1, depth + 1)
    discount = 1 / np.log2(ranks + 1)
    idcg = (ideal * discount[: ideal.shape[1]]).cumsum(axis=1)
    hits = (gains > 0).cumsum(axis=1)
    values = {
        "HitRate": hits > 0,
        "RR": np.maximum.accumulate((gains > 0) / ranks, axis=1),
        "nDCG": (gains * discount).cumsum(axis=1) / idcg[:, np.minimum(ranks, idcg.shape[1]) - 1],
        "Precision": hits / ranks,
        "Recall": hits / np.bincount(judged_rows[grades > 0])[:, None],
    }
    table = {
        f"{metric}@{k}": values[metric][:, k - 1].astype(float) for metric in METRICS for k in KS
    }
    return pd.DataFrame(table, index=query_ids)


def as_matrix(values, lengths, fill):
    """Put values grouped by query into a row a query."""
    matrix = np.full((len(lengths), lengths.max()), fill, dtype=np.result_type(values, fill))
    matrix[np.arange(lengths.max()) < lengths[:, None]] = values
    return matrix


ENGINES = {
    KIT: kit,
    "pytrec-eval-terrier": pytrec,
    "ranx": ranx,
    "ir-measures": ir_measures,
    "bare numpy": bare_numpy,
}
MODULES = {"pytrec-eval-terrier": "pytrec_eval", "ranx": "ranx", "ir-measures": "ir_measures"}
OTHERS = tuple(MODULES)
FORMS = ("grouped", "shuffled", "dicts")


def installed(engines):
    """Return the engines that are there, the kit first; name the others in a line."""
    missing = [
        name
        for name in engines
        if name in MODULES and importlib.util.find_spec(MODULES[name]) is None
    ]
    for name in missing:
        print(f"{name} is not installed: left out.\n")
    return list(dict.fromkeys([KIT, *(name for name in engines if name not in missing)]))


def calls(engines, form, n_queries, n_hits, id_dtype):
    """Return a function without arguments for every engine that takes this form; all work on the same data."""
    grouped = form != "shuffled"
    qrels, run = make_tables(n_queries, n_hits, id_dtype, grouped)
    if form == "dicts":
        made = {}
        if KIT in engines:
            all_qa, results = as_lecture(qrels, run)
            made[KIT] = lambda: per_query(all_qa, results, ks=KS)
        if "pytrec-eval-terrier" in engines:
            judged, found = as_dicts(qrels, "relevance", grouped), as_dicts(run, "score", grouped)
            made["pytrec-eval-terrier"] = lambda: pytrec_on_dicts(judged, found)
        return made
    return {name: lambda engine=ENGINES[name]: engine(qrels, run, grouped) for name in engines}


# ---------------------------------------------------------------- time


def median_seconds(of_engine, repeats):
    """Return the seconds on the clock and the seconds of all CPUs, both by engine."""
    clock, cpu = ({name: [] for name in of_engine} for _ in range(2))
    names = list(of_engine)
    for repeat in range(repeats):
        for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
            gc.collect()
            start, cpu_start = time.perf_counter(), time.process_time()
            table = of_engine[name]()
            clock[name].append(time.perf_counter() - start)
            cpu[name].append(time.process_time() - cpu_start)
            del table
    return [
        {name: statistics.median(values) for name, values in seconds.items()}
        for seconds in (clock, cpu)
    ]


def refuse_other_results(of_engine, form):
    """Stop if an engine's table is not the kit's."""
    wanted = of_engine[KIT]()
    for name, call in of_engine.items():
        difference = np.abs(call().loc[wanted.index, wanted.columns].to_numpy() - wanted.to_numpy())
        if list(wanted) != COLUMNS or not (difference <= 1e-9).all():
            raise SystemExit(
                f"{name}, {form}: another result than the kit's, by {difference.max():.3g}."
            )


# ---------------------------------------------------------------- memory


def peak_bytes(engine, form, options):
    """Measure in a new process. nan where the system does not say (Windows)."""
    if importlib.util.find_spec("resource") is None:
        return float("nan")
    size = [
        "--queries",
        str(options.queries),
        "--hits",
        str(options.hits),
        "--id-dtype",
        options.id_dtype,
    ]
    command = [sys.executable, __file__, "--measure-memory", engine, form, *size]
    return float(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    )


def measure_memory(engine, form, options):
    calls([engine], form, 20, options.hits, options.id_dtype)[engine]()
    call = calls([engine], form, options.queries, options.hits, options.id_dtype)[engine]
    gc.collect()
    give_back_unused()
    before = highest_size()
    table = call()
    print(max(highest_size() - before, 1024))  # the system counts in KiB
    del table


def give_back_unused():
    """Return to Linux what building the data left over, and set its record of the highest size to the present size."""
    with contextlib.suppress(ImportError):
        import pyarrow

        pyarrow.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def highest_size():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


# ---------------------------------------------------------------- the report


def report(engines, options):
    kept = "with pyarrow" if importlib.util.find_spec("pyarrow") else "without pyarrow"
    print(
        f"{options.queries:,} queries x {options.hits:,} hits, ids of dtype {options.id_dtype}, {kept}\n"
    )
    # Memory first: a process inherits the highest size of the one that started it, which is still small.
    takers = {
        form: [name for name in engines if form != "dicts" or name in (KIT, OTHERS[0])]
        for form in FORMS
    }
    peaks = {
        form: {name: peak_bytes(name, form, options) for name in takers[form]} for form in FORMS
    }
    print(
        "| rows | engine | seconds | times the kit's | CPU seconds | peak memory, MB | times the kit's |"
    )
    print("|---|---|---:|---:|---:|---:|---:|")
    ratios = []
    for form in FORMS:
        of_engine = calls(takers[form], form, options.queries, options.hits, options.id_dtype)
        refuse_other_results(of_engine, form)
        (seconds, cpu), peak = median_seconds(of_engine, options.repeats), peaks[form]
        del of_engine
        for name in seconds:
            cells = [
                form,
                name,
                f"{seconds[name]:.3f}",
                f"{seconds[name] / seconds[KIT]:.2f}",
                f"{cpu[name]:.3f}",
            ]
            cells += [f"{peak[name] / 1e6:,.0f}", f"{peak[name] / peak[KIT]:.2f}"]
            print(f"| {' | '.join(cells)} |", flush=True)
        ratios.append(ratios_line(form, seconds, cpu, peak))
    print("\n" + "\n".join(ratios))
    print(f"\n{machine()}")


def ratios_line(form, seconds, cpu, peak):
    others = [name for name in OTHERS if name in seconds]
    said = []
    if others:
        fastest = min(others, key=seconds.get)
        times = f"{seconds[fastest] / seconds[KIT]:.1f} times the kit's time ({cpu[fastest] / cpu[KIT]:.1f} in CPU seconds)"
        said.append(
            f"{fastest}, the fastest other, takes {times} and {peak[fastest] / peak[KIT]:.1f} times its memory"
        )
    if "bare numpy" in seconds:
        times, in_cpu = seconds[KIT] / seconds["bare numpy"], cpu[KIT] / cpu["bare numpy"]
        said.append(
            f"the kit takes {times:.2f} times the time of bare numpy ({in_cpu:.2f} in CPU seconds)"
        )
    return f"* {form}: {'; '.join(said) or 'no other engine'}."


def machine():
    memory = "memory unknown"
    with contextlib.suppress(AttributeError, ValueError):
        memory = (
            f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"
        )
    versions = [f"Python {platform.python_version()}"]
    for package in (
        "numpy",
        "pandas",
        "pyarrow",
        "pytrec-eval-terrier",
        "ranx",
        "numba",
        "ir-measures",
    ):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{package} {importlib.metadata.version(package)}")
    size = f"{os.cpu_count()} CPUs ({platform.machine()}), {memory}, {platform.system()}"
    return f"{datetime.date.today().isoformat()}; {size}; {', '.join(versions)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--hits", type=int, default=100, help="hits a query (default: 100)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES), metavar="ENGINE"
    )
    parser.add_argument("--id-dtype", choices=["object", "str", "category"], default="str")
    parser.add_argument("--measure-memory", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure_memory:
        measure_memory(*options.measure_memory, options)
    else:
        report(installed(options.engines), options)


if __name__ == "__main__":
    main()
