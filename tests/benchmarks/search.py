"""How long search_all takes against bare FAISS with the same embedding, and the second time, from the cache.

    python tests/benchmarks/search.py --queries 1000 10000 --documents 5000 50000

Bare FAISS is `embed_documents` of all questions, one array, and one `index.search`: no fingerprint, no rule for ties, no
hits to read and nothing kept. The embedding is LangChain's fake, random numbers seeded by the text, which costs next to
nothing (0.1 ms a text): with a real one both sides take longer by the same, so that the first ratio falls towards 1 and
the second rises. Documents are random vectors of the same kind.

* The two take turns in every repeat, each time with questions that were never asked; medians count. CPU seconds (of all
  threads) stand beside those on the clock, which say how busy the machine was.
* The hits must be those of bare FAISS, and the second time no text may be embedded.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding

sys.path.insert(0, str(Path(__file__).parents[2]))  # the kit that this file belongs to
sys.path.insert(0, str(Path(__file__).parent))

from speed import machine

from rageval_kit import search_all
from rageval_kit.vectorstore import assemble, flat_index, to_documents

DIMENSIONS = 512
WORDS = "a document of some forty words, as a chunk has them, with its number among them " * 3


def make_store(n_documents):
    """Return LangChain's store of random vectors, with LangChain's own fake model."""
    vectors = np.random.default_rng(20261130).standard_normal((n_documents, DIMENSIONS))
    docs = [
        {"doc_id": f"doc_{number:06}", "title": f"Title {number}", "content": f"{number}: {WORDS}"}
        for number in range(n_documents)
    ]
    model = DeterministicFakeEmbedding(size=DIMENSIONS)
    return assemble(to_documents(docs), flat_index(vectors), model)


@contextlib.contextmanager
def counted_texts():
    """Count the texts that are embedded."""
    embed, texts = DeterministicFakeEmbedding._get_embedding, []
    DeterministicFakeEmbedding._get_embedding = lambda *a, **k: texts.append(1) or embed(*a, **k)
    try:
        yield texts
    finally:
        DeterministicFakeEmbedding._get_embedding = embed


def bare(store, all_qa, k):
    questions = [qa["question"] for qa in all_qa]
    vectors = np.array(store.embedding_function.embed_documents(questions), dtype=np.float32)
    return store.index.search(vectors, k)[1]


def timed(call):
    """Return what is returned, and the seconds on the clock and of all CPUs."""
    start, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, np.array([time.perf_counter() - start, time.process_time() - cpu])


def measure(store, n_queries, options):
    """Return the median seconds of bare FAISS, of the kit, of its second run and of one question."""
    turns = []
    for repeat in range(options.repeats):
        all_qa = [
            {"query_id": f"q{number}", "question": f"{n_queries}, {repeat}: question {number}"}
            for number in range(n_queries)
        ]
        turns.append(take_turns(store, all_qa, options.k, kit_first=repeat % 2))
    return {name: np.median([turn[name] for turn in turns], axis=0) for name in turns[0]}


def take_turns(store, all_qa, k, kit_first):
    """Return the seconds of each, by name, after a look at what came back."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results.sqlite")
        if not kit_first:
            found, seconds["bare"] = timed(lambda: bare(store, all_qa, k))
        first, seconds["first"] = timed(lambda: search_all(store, all_qa, k, cache=path))
        if kit_first:
            found, seconds["bare"] = timed(lambda: bare(store, all_qa, k))
        with counted_texts() as texts:
            second, seconds["second"] = timed(lambda: search_all(store, all_qa, k, cache=path))
            _, seconds["one"] = timed(lambda: search_all(store, all_qa[:1], k, cache=path))

    # Two scores may be one tie, which the kit orders by itself.
    wanted = [[f"doc_{at:06}" for at in row] for row in found.tolist()]
    hits = [[hit["doc_id"] for hit in ranking] for ranking in first.values()]
    same = np.mean([one == other for one, other in zip(hits, wanted, strict=True)])
    if same < 0.99 or second != first or texts:
        raise SystemExit(f"{same:.1%} as bare FAISS; {len(texts)} texts embedded the second time.")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--documents", type=int, nargs="+", default=[5_000, 50_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()

    print("Each cell: on the clock / CPU.\n")
    print("| queries | documents | bare FAISS, s | search_all | its second run | one question, s |")
    print("|---:|---:|---:|---:|---:|---:|")
    for n_documents in options.documents:
        store = make_store(n_documents)
        for n_queries in options.queries:
            its = measure(store, n_queries, options)
            first = "{:.2f} / {:.2f} times".format(*its["first"] / its["bare"])
            second = "{:.0f} / {:.0f} times faster".format(*its["first"] / its["second"])
            raw, one = ("{:.2f} / {:.2f}".format(*its[name]) for name in ("bare", "one"))
            cells = [f"{n_queries:,}", f"{n_documents:,}", raw, first, second, one]
            print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
