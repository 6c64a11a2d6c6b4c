"""Kill what writes files (kill -9) at random moments, and count what is left.

    python tests/benchmarks/kills.py [--kills 100] [--sessions 2] [--seed 0] [--stages saving,...]

A row a stage. After a kill what is on disk is

* whole: it can be read and is right, and no more than the batch in flight is paid for again;
* lost: it cannot be read, or more than that is paid for again;
* mixed: it can be read and is wrong.

With two sessions both write to the same place, and are killed one after the other. Embeddings and
answers come from a server of OpenAI's protocol on this machine, which notes what it is asked. The
exit status is 1 if anything was lost or mixed. Processes are forked: not for Windows.
"""

import argparse
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests
sys.path.insert(0, str(Path(__file__).parents[2]))  # the kit that this file belongs to

import faiss
import local_openai
import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

import rageval_kit as rk

VERDICTS = WHOLE, LOST, MIXED = "whole", "lost", "mixed"
N_DOCS, N_QUERIES, N_ASKED, N_SYSTEMS = 1_000, 1_000, 150, 30
A_PROBE = 4  # texts by which a session knows its model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="a stage")
    parser.add_argument("--sessions", type=int, default=2, help="that write at the same time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stages", default=",".join(STAGES))
    options = parser.parse_args()
    stages, rng = options.stages.split(","), random.Random(options.seed)
    if set(stages) - {"saving", "asking", "experimenting"}:
        importlib.import_module("langchain_openai")  # once, before the forks

    with serving() as server:
        found = {
            name: kill_often(STAGES[name], options.kills, options.sessions, rng, server)
            for name in stages
        }
    print(f"{'stage':14}{'kills':>8}" + "".join(f"{verdict:>8}" for verdict in VERDICTS))
    for name, counts in found.items():
        row = "".join(f"{counts[verdict]:8}" for verdict in VERDICTS)
        print(f"{name:14}{options.kills:8}{row}")
    sys.exit(any(counts[LOST] + counts[MIXED] for counts in found.values()))


def kill_often(stage, kills, sessions, rng, server):
    """Return how often each verdict was given."""
    span, counts = None, Counter()
    for _ in range(kills):
        folder = Path(tempfile.mkdtemp())
        server.folder = folder
        if span is None:  # how long it takes when nobody kills it, a saving without end aside
            started = time.time()
            wait_for([in_a_fork(stage.work, folder)], until=started + 1)
            span = time.time() - started
            shutil.rmtree(folder)
            folder.mkdir()

        # Every session at a moment of its own.
        running = [in_a_fork(stage.work, folder) for _ in range(sessions)]
        for process in running:
            time.sleep(rng.uniform(0, span / sessions))
            wait_for([process], until=0)
        verdict = wait_for([in_a_fork(look, stage, folder, sessions)])
        counts[verdict] += 1
        shutil.rmtree(folder)
    return counts


def in_a_fork(function, *arguments):
    """Start a process that calls the function, and return its id; its status is the verdict's."""
    process = os.fork()
    if process:
        return process
    status = VERDICTS.index(LOST)
    try:
        warnings.simplefilter("ignore")
        verdict = function(*arguments)
        status = VERDICTS.index(verdict) if function is look else 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def wait_for(processes, until=None):
    """Wait for processes, and kill those that still run at that time; return the last verdict."""
    for process in processes:
        while True:
            ended, status = os.waitpid(process, 0 if until is None else os.WNOHANG)
            if ended:
                break
            if time.time() >= until:
                os.kill(process, signal.SIGKILL)
            time.sleep(0.001)
    return VERDICTS[os.waitstatus_to_exitcode(status)] if os.WIFEXITED(status) else None


def look(stage, folder, sessions):
    """Do the work again where it was broken off, and say what came of it."""
    before = paid(folder)
    (folder / "paid.txt").unlink(missing_ok=True)
    result = stage.look(folder)
    again = before & paid(folder)
    if not stage.is_right(result):
        return MIXED
    return WHOLE if len(again) <= stage.in_flight * sessions + A_PROBE * sessions else LOST


# ---------------------------------------------------------------- what is paid for


def pay(folder, texts):
    """Note, at once, for which texts a store or a model was asked."""
    with open(folder / "paid.txt", "a") as file:
        file.write("".join(f"{text}\n" for text in texts))


def paid(folder):
    path = folder / "paid.txt"
    return set(path.read_text().splitlines()) if path.exists() else set()


class Paying(local_openai.Handler):
    """Note every text that is to be embedded, and every question, in the folder of the server."""

    def embed(self, body):
        pay(self.server.folder, body["input"])
        super().embed(body)

    def chat(self, body):
        question = body["messages"][-1]["content"].rpartition("Question: ")[2]
        pay(self.server.folder, [question])
        self.server.replies = [f"The answer to {question}"]
        super().chat(body)


class serving:
    """The server, in a thread of the first process."""

    def __enter__(self):
        self.server = local_openai.Server()
        self.server.RequestHandlerClass = Paying
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        os.environ |= {"OPENAI_BASE_URL": self.server.url, "OPENAI_API_KEY": "none"}
        os.environ |= {"NO_PROXY": "127.0.0.1", "TQDM_DISABLE": "1"}
        return self.server

    def __exit__(self, *_):
        self.server.shutdown()


# ---------------------------------------------------------------- the stages


class Hashed(Embeddings):
    """A vector of 8 numbers that depends on every letter."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return (np.random.default_rng(list(text.encode())).random(8) - 0.5).tolist()


def docs_of(letter):
    return [{"doc_id": f"{letter}{n}", "content": f"{letter} {n}"} for n in range(N_DOCS)]


def queries(n):
    return [{"query_id": f"q{number}", "question": f"number {number}?"} for number in range(n)]


def save(folder):
    """Save two stores of equal size to one folder in turn, without end."""
    stores = [rk.build_vectorstore(docs_of(letter), Hashed()) for letter in "ab"]
    while True:
        for store in stores:
            rk.save_vectorstore(store, folder / "store")


def load(folder):
    """Return the documents' texts and their vectors; None where the first save did not end."""
    if not (folder / "store" / "settings.json").exists():
        return None
    store = rk.load_vectorstore(folder / "store", Hashed())
    ids = store.index_to_docstore_id.values()
    texts = [store.docstore.search(doc_id).page_content for doc_id in ids]
    return texts, store.index.reconstruct_n(0, store.index.ntotal)


def is_one_store(loaded):
    if loaded is None:
        return True
    texts, vectors = loaded
    whole = [[doc["content"] for doc in docs_of(letter)] for letter in "ab"]
    return texts in whole and np.allclose(vectors, Hashed().embed_documents(texts), atol=1e-6)


def search(folder):
    from langchain_openai import OpenAIEmbeddings

    store = rk.build_vectorstore(docs_of("a"), Hashed())
    store.embedding_function = OpenAIEmbeddings(model="m", check_embedding_ctx_length=False)
    return rk.search_all(store, queries(N_QUERIES), 5, cache=folder / "cache.sqlite")


def is_searched(results):
    """Compare with FAISS itself, as sets of distances: equal ones have an order of the kit's."""
    index = faiss.IndexFlatL2(8)
    index.add(np.array(Hashed().embed_documents([d["content"] for d in docs_of("a")]), "float32"))
    letters = [[ord(letter) % 8 for letter in qa["question"]] for qa in queries(N_QUERIES)]
    asked = np.array([np.bincount(its, minlength=8) for its in letters], "float32")
    distances, _ = index.search(asked, 5)
    found = [[hit["score"] for hit in hits] for hits in results.values()]
    return np.allclose(found, distances, rtol=1e-4, atol=1e-4)


def ask(folder):
    """Ask a store that is no FAISS store: a function."""

    def found(question):
        pay(folder, [question])
        return [Document(question, metadata={"doc_id": question})]

    options = {"cache": folder / "cache.sqlite", "content": "numbers"}
    return rk.search_all(found, queries(N_ASKED), 1, **options)


def is_asked(results):
    right = [(qa["query_id"], qa["question"]) for qa in queries(N_ASKED)]
    return [(query_id, hits[0]["content"]) for query_id, hits in results.items()] == right


def generate(folder):
    from langchain_openai import ChatOpenAI

    all_qa = queries(N_ASKED)
    hits = {qa["query_id"]: [{"doc_id": "d", "content": "text"}] for qa in all_qa}
    model = ChatOpenAI(model="m", timeout=60)
    return rk.generate_answers(model, all_qa, hits, 1, cache=folder / "cache.sqlite")


def is_generated(table):
    return table["answer"].tolist() == [f"The answer to {text}" for text in table["question"]]


def embed(folder):
    from langchain_openai import OpenAIEmbeddings

    model = OpenAIEmbeddings(model="m", check_embedding_ctx_length=False)
    kept = rk.cached_embeddings(model, folder / "vectors.sqlite")
    return rk.build_vectorstore(docs_of("a"), kept)


def is_embedded(store):
    texts = [doc["content"] for doc in docs_of("a")]
    right = [np.bincount([ord(letter) % 8 for letter in text], minlength=8) for text in texts]
    return np.allclose(store.index.reconstruct_n(0, N_DOCS), right)


def made(n):
    """Return the results of a system of a grid, in which n decides how many queries are answered."""
    pay(Path.cwd(), [f"system {n}"])
    time.sleep(0.005)
    return {
        qa["query_id"]: [{"doc_id": "A" if number % (n + 2) else "B"}]
        for number, qa in enumerate(queries(N_ASKED))
    }


def experiment(folder):
    """Run a grid and return its table, in which nothing is timed."""
    os.chdir(folder)
    all_qa = [{**qa, "relevant_doc_ids": ["A"]} for qa in queries(N_ASKED)]
    systems = (rk.grid(n=range(N_SYSTEMS)), made)
    return rk.experiment(systems, all_qa, k=1, metrics=["RR"], save=folder / "saved").table


def is_the_table(table):
    folder = Path(tempfile.mkdtemp())
    try:
        return table.equals(experiment(folder))
    finally:
        shutil.rmtree(folder)


class Stage(NamedTuple):
    """What is killed, how it is done again, when that is right, and the texts of a batch."""

    work: Callable[[Path], Any]
    look: Callable[[Path], Any]
    is_right: Callable[[Any], bool]
    in_flight: int


STAGES = {
    "saving": Stage(save, load, is_one_store, 0),
    "searching": Stage(search, search, is_searched, 256),
    "asking": Stage(ask, ask, is_asked, 8),
    "generating": Stage(generate, generate, is_generated, 1),
    "experimenting": Stage(experiment, experiment, is_the_table, 1),
}
if hasattr(rk, "cached_embeddings"):
    STAGES["embedding"] = Stage(embed, embed, is_embedded, 64)


if __name__ == "__main__":
    main()
