"""Score four retrievers on the campus collection, and print the Markdown tables of its data card.

python tests/benchmarks/campus_scores.py [--collection data/campus]
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from rageval_kit import (
    build_bm25,
    build_vectorstore,
    fuse,
    load_dataset,
    load_embeddings,
    per_query,
    search_all,
)

CAMPUS = Path(__file__).parents[2] / "data" / "campus"
LANGUAGES = ("ko", "en")
DEPTH = 100  # hits a query that each retriever returns, and that the fusion takes
RESAMPLES = 10_000
LONG = 600  # English words
METRICS = ("HitRate@1", "RR@10", "nDCG@10", "Recall@10")


# ---------------------------------------------------------------- the retrievers: {query_id: [hit, ...]}


def embedded(docs, all_qa, name="use-multilingual"):
    return search_all(build_vectorstore(docs, load_embeddings(name)), all_qa, DEPTH)


def run_all(docs, all_qa):
    default, words = embedded(docs, all_qa), search_all(build_bm25(docs), all_qa, DEPTH)
    return {
        "default embedding": default,
        "`chars`": embedded(docs, all_qa, "chars"),
        "BM25": words,
        "fusion of default and BM25": fuse({"default": default, "BM25": words}, DEPTH),
    }


# ---------------------------------------------------------------- the scores


def interval(values):
    """Return the 95 % percentile-bootstrap interval of the mean; each call draws the same resamples of queries."""
    values = np.asarray(values)
    drawn = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    return np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])


def scores_table(scores):
    rows = {}
    for name, table in scores.items():
        low, high = interval(table["nDCG@10"].dropna())
        rows[name] = [
            *(f"{table[metric].mean():.3f}" for metric in METRICS),
            f"{low:.3f} to {high:.3f}",
        ]
    columns = [metric.replace("RR", "MRR") for metric in METRICS]
    return markdown("retriever", [*columns, "95 % interval of nDCG@10"], rows)


def kinds_table(scores, kinds):
    by_kind = pd.DataFrame(
        {name: table["nDCG@10"].groupby(kinds).mean() for name, table in scores.items()}
    ).dropna()
    queries = kinds.value_counts()
    rows = {
        kind: [str(queries[kind]), *(f"{value:.3f}" for value in row)]
        for kind, row in by_kind.T.items()
    }
    return markdown("kind", ["queries", *by_kind], rows)


# ---------------------------------------------------------------- the counts


def counts_tables(docs, all_qa):
    """Count what the English files hold; all but the words is the same in Korean."""
    words = [len(doc["content"].split()) for doc in docs]
    short = [n for n in words if n < LONG]
    documents = {
        "documents": len(docs),
        "chapters": len({doc["chapter"] for doc in docs}),
        "English words in all": sum(words),
        f"long documents ({LONG} English words and more)": len(words) - len(short),
        "English words of a long document": f"{min(n for n in words if n >= LONG)} to {max(words)}",
        "English words of any other document": f"{min(short)} to {max(short)}",
        "older editions (`edition_of`)": sum("edition_of" in doc for doc in docs),
        "near copies (`near_copy_of`)": sum("near_copy_of" in doc for doc in docs),
        "exact copies (`copy_of`)": sum("copy_of" in doc for doc in docs),
        "look-alikes (`look_alike`)": sum("look_alike" in doc for doc in docs),
        "groups of look-alikes": len({doc["look_alike"] for doc in docs if "look_alike" in doc}),
    }
    grades = Counter(grade for qa in all_qa for grade in qa["relevant_doc_ids"].values())
    judgements = {
        "queries": len(all_qa),
        "answerable": sum(bool(qa["relevant_doc_ids"]) for qa in all_qa),
        "reworded (`reworded`)": sum(qa["reworded"] for qa in all_qa),
        "judgements over 0": grades.total(),
        "of grade 2 (answers)": grades[2],
        "of grade 1 (helps)": grades[1],
    }
    kinds, relevant = Counter(), Counter()
    for qa in all_qa:
        kinds[qa["kind"]] += 1
        relevant[qa["kind"]] += len(qa["relevant_doc_ids"])
    by_kind = {kind: [str(n), f"{relevant[kind] / n:.2f}"] for kind, n in kinds.most_common()}
    return [
        markdown(
            "documents", ["number"], {name: [str(value)] for name, value in documents.items()}
        ),
        markdown(
            "queries and judgements",
            ["number"],
            {name: [str(value)] for name, value in judgements.items()},
        ),
        markdown("kind", ["queries", "relevant documents a query"], by_kind),
    ]


def markdown(corner, columns, rows):
    lines = [
        [corner, *columns],
        ["---", *["---:"] * len(columns)],
        *([name, *cells] for name, cells in rows.items()),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main():
    parser = argparse.ArgumentParser(
        description="Print the tables of the campus collection's data card."
    )
    parser.add_argument(
        "--collection", type=Path, default=CAMPUS, help="folder that holds ko/ and en/"
    )
    collection = parser.parse_args().collection
    print("Counts\n")
    print("\n\n".join(counts_tables(*load_dataset(collection / "en"))))
    for language in LANGUAGES:
        docs, all_qa = load_dataset(collection / language)
        scores = {
            name: per_query(all_qa, run, metrics=METRICS)
            for name, run in run_all(docs, all_qa).items()
        }
        kinds = pd.Series({qa["query_id"]: qa["kind"] for qa in all_qa})
        answerable = int(scores["BM25"]["nDCG@10"].notna().sum())
        print(
            f"\nScores, {language}: mean over the {answerable} answerable queries\n\n{scores_table(scores)}"
        )
        print(f"\nnDCG@10 by kind of query, {language}\n\n{kinds_table(scores, kinds)}")


if __name__ == "__main__":
    main()
