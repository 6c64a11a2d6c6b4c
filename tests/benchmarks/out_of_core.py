"""How long, and in how much memory, per_query takes over more hits than memory should hold, by Dask.

    python tests/benchmarks/out_of_core.py --queries 1000000 --hits 100 [--workers 2] [--folder DIR]

Needs the extra `dask`. A run and judgements are written to Parquet, sorted by query_id, a file for every 10,000
queries. The judgements are the partitions: each brings all of its queries, also those that found nothing and score 0,
and reads of the run what belongs to them. What is timed, each in a process of its own, writes a table of a row a query:

* `dask`: `map_partitions` over all judgements, in worker processes;
* `loop`: the same function, one partition after another, in one process;
* `memory`: one call of per_query on the first files together, a tenth of the hits.

The tables must be equal to 1e-12. Memory is the highest sum of the resident sizes of the process and all it started,
looked at four times a second; pages that processes share count in each. CPU seconds are those of all of them.
"""

import argparse
import contextlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[2]))  # the kit that this file belongs to
sys.path.insert(0, str(Path(__file__).parent))

from speed import machine

from rageval_kit import per_query

KS = (1, 10, 100)
IN_A_FILE = 10_000  # queries
N_DOCUMENTS = 1_000_000
N_JUDGED = 10  # documents a query, half of them among its hits
SHARE_IN_MEMORY = 10  # so many times fewer files for the one call


# ---------------------------------------------------------------- the data


def write(folder, n_queries, n_hits, in_a_file=IN_A_FILE):
    """Write folder/run and folder/qrels, sorted by query_id, in files of so many queries.

    Of 1,000 queries one finds nothing and another has no relevant document.
    """
    doc_ids = pa.array([f"doc_{number:07d}" for number in range(N_DOCUMENTS)])
    for name in ("run", "qrels"):
        Path(folder, name).mkdir()

    for start in range(0, n_queries, in_a_file):
        numbers = np.arange(start, min(start + in_a_file, n_queries))
        rng = np.random.default_rng([20261130, start])
        documents, judged = draw(rng, len(numbers), n_hits)
        grades = rng.integers(0, 4, size=judged.shape)
        grades[numbers % 1_000 == 500] = 0

        query_ids = pa.array([f"q{number:08d}" for number in numbers])
        found = np.flatnonzero(numbers % 1_000 != 0)
        run = {"doc_id": documents[found], "rank": np.tile(np.arange(n_hits) + 1, (len(found), 1))}
        name = f"part-{start // in_a_file:05d}.parquet"
        save(Path(folder, "run", name), query_ids.take(pa.array(found)), doc_ids, run)
        save(
            Path(folder, "qrels", name), query_ids, doc_ids, {"doc_id": judged, "relevance": grades}
        )


def draw(rng, n_queries, n_hits):
    """Return the documents found by every query, and those judged, by their numbers; no number twice in a row."""
    width = n_hits + N_JUDGED // 2
    first = rng.integers(N_DOCUMENTS // 2, size=(n_queries, 1))
    step = rng.integers(1, N_DOCUMENTS // 2 // width, size=(n_queries, 1))
    documents = first + step * np.arange(width)
    hits = rng.permuted(documents[:, :n_hits], axis=1)
    return hits, np.hstack([rng.permuted(hits, axis=1)[:, : N_JUDGED // 2], documents[:, n_hits:]])


def save(path, query_ids, doc_ids, columns):
    """Write a table of a row a pair; columns have a row a query."""
    width = columns["doc_id"].shape[1]
    repeated = pa.array(np.arange(len(query_ids)).repeat(width))
    flat = {name: pa.array(values.ravel()) for name, values in columns.items()}
    flat["doc_id"] = doc_ids.take(flat["doc_id"])
    pq.write_table(pa.table({"query_id": query_ids.take(repeated), **flat}), path)


# ---------------------------------------------------------------- a partition at a time


def score(judged, run, ks=KS):
    """Score the queries that are judged in one partition."""
    first, last = judged["query_id"].min(), judged["query_id"].max()
    its = [("query_id", ">=", first), ("query_id", "<=", last)]
    return per_query(judged, pd.read_parquet(run, filters=its), ks=ks)


def score_all(folder, ks=KS):
    """Return Dask's DataFrame of a row a query.

    Raises:
        ValueError: a query is judged in two partitions.
    """
    qrels = dd.read_parquet(Path(folder, "qrels"))
    refuse_split(qrels)
    meta = per_query({"q": {"d": 1}}, {"q": {"d": 1}}, ks=ks)
    return qrels.map_partitions(score, run=Path(folder, "run"), ks=ks, meta=meta)


def refuse_split(qrels):
    """Refuse a query that is judged in two partitions: it would have two rows, each of a part of its judgements."""
    # Of whole partitions: qrels["query_id"] would let Dask read several files as one.
    ids = qrels.map_partitions(ids_of).compute()
    split = ids[ids.duplicated()]
    if len(split):
        raise ValueError(
            f"{len(split)} queries are judged in two partitions ({', '.join(split[:3])}): each would have two rows. "
            "Write all judgements of a query to one file, sorted by query_id."
        )


def ids_of(judged):
    return judged["query_id"].drop_duplicates()


# ---------------------------------------------------------------- what is timed, each in a process of its own


def by_dask(folder, out, workers):
    with dask.config.set(scheduler="processes", num_workers=workers):
        score_all(folder).to_parquet(out)


def in_a_loop(folder, out, workers):
    out.mkdir()
    for path in sorted(Path(folder, "qrels").iterdir()):
        score(pd.read_parquet(path), Path(folder, "run")).to_parquet(out / path.name)


def in_memory(folder, out, workers):
    files = sorted(Path(folder, "run").iterdir())
    files = files[: max(1, len(files) // SHARE_IN_MEMORY)]
    run = pd.read_parquet(files)
    qrels = pd.read_parquet([Path(folder, "qrels", file.name) for file in files])
    out.mkdir()
    per_query(qrels, run, ks=KS).to_parquet(out / "all.parquet")


WAYS = {"dask": by_dask, "loop": in_a_loop, "memory": in_memory}


def measure(way, folder, workers):
    """Return the table, the seconds on the clock and of all CPUs, and the highest memory in MB."""
    command = [sys.executable, "-W", "ignore", __file__, "--way", way, "--folder", str(folder)]
    start, cpu = time.perf_counter(), children_cpu()
    process = subprocess.Popen([*command, "--workers", str(workers)])
    peak = 0
    while process.poll() is None:
        peak = max(peak, size_of(process.pid))
        time.sleep(0.25)
    if process.returncode:
        raise SystemExit(f"{way} failed.")
    seconds = time.perf_counter() - start, children_cpu() - cpu
    return pd.read_parquet(folder / way), seconds, peak / 1e6


def size_of(pid):
    """Return the resident bytes of a process and all it started."""
    size = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        first = psutil.Process(pid)
        for one in [first, *first.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                size += one.memory_info().rss
    return size


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def refuse_differences(tables):
    """Refuse tables that are not equal to 1e-12, and return the largest difference."""
    largest = 0.0
    for way in ("loop", "memory"):
        other = tables[way]
        ours = tables["dask"].loc[other.index]
        if not ours.isna().equals(other.isna()):
            raise SystemExit(f"dask and {way} exclude different queries.")
        largest = max(largest, float(np.nanmax(np.abs(ours.to_numpy() - other.to_numpy()))))
    if largest > 1e-12 or not tables["dask"].index.sort_values().equals(tables["loop"].index):
        raise SystemExit(f"The tables differ, by up to {largest}.")
    return largest


def report(folder, options):
    start = time.perf_counter()
    write(folder, options.queries, options.hits)
    n_rows = {name: len_of(folder / name) for name in ("run", "qrels")}
    size = sum(file.stat().st_size for file in folder.rglob("*.parquet")) / 1e9
    written = (
        f"{n_rows['run']:,} hits and {n_rows['qrels']:,} judgements of {options.queries:,} queries"
    )
    print(f"{written}: {size:.1f} GB of Parquet, written in {time.perf_counter() - start:.0f} s\n")

    print("| way | queries | on the clock, s | CPU, s | million hits a second | peak memory, MB |")
    print("|---|---:|---:|---:|---:|---:|")
    tables, clock = {}, {}
    for way in WAYS:
        tables[way], seconds, peak = measure(way, folder, options.workers)
        clock[way] = seconds[0]
        speed = n_rows["run"] * len(tables[way]) / options.queries / seconds[0] / 1e6
        cells = [way, f"{len(tables[way]):,}", *(f"{its:.0f}" for its in seconds)]
        print(f"| {' | '.join([*cells, f'{speed:.2f}', f'{peak:,.0f}'])} |", flush=True)

    print(f"\nThe loop takes {clock['loop'] / clock['dask']:.2f} times as long as dask", end=" ")
    print(f"with {options.workers} workers. Largest difference: {refuse_differences(tables)}.\n")
    print(tables["dask"].mean().round(4).to_string())
    print(f"\n{machine()}, dask {dask.__version__}")


def len_of(folder):
    return sum(pq.read_metadata(file).num_rows for file in folder.iterdir())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--hits", type=int, default=100, help="hits a query (default: 100)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, help="an empty one with room (default: a temporary one)"
    )
    parser.add_argument("--way", choices=list(WAYS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        WAYS[options.way](options.folder, options.folder / options.way, options.workers)
        return

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        free, wanted = shutil.disk_usage(folder).free, 40 * options.queries * options.hits
        if free < wanted:
            parser.error(
                f"{free / 1e9:.0f} GB are free in {folder}, and {wanted / 1e9:.0f} are wanted: --folder"
            )
        report(Path(folder), options)


if __name__ == "__main__":
    main()
