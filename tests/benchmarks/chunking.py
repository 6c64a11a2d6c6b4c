"""Reproduce a published chunking experiment: recall, precision, IoU and precision-omega of passages.

Smith and Troynikov, Evaluating Chunking Strategies for Retrieval (Chroma, July 2024): five corpora,
472 questions with 790 excerpts. Every figure of the eight chunkings of the report, and of eight more,
is computed from recorded places and recorded hits, without a model, and compared to six digits. The
exit status is 1 if one differs.

    python tests/benchmarks/chunking.py --data chunking --golden chunking.json

The folder holds the corpora (``*.md.gz``), ``questions.jsonl.gz``, ``ranges.json.gz`` (where the
splitter cut each chunk, and where the authors' code believes it to stand) and ``retrieved.json.gz``
(the five chunks that each question's exact search brings, by model). ``--embeddings`` also searches
the chunkings by characters anew, with the default embedding.
"""

import argparse
import gzip
import hashlib
import json
import sys
from pathlib import Path

import pandas as pd
from langchain_text_splitters import RecursiveCharacterTextSplitter

from rageval_kit import (
    build_vectorstore,
    load_embeddings,
    passage_scores,
    precision_omega,
    search_all,
    split_documents,
)
from rageval_kit.chunks import place

CORPORA = ["state_of_the_union", "wikitexts", "finance", "chatlogs", "pubmed"]
EIGHT = [
    f"{name} cl100k"
    for name in "R800/400 T800/400 R400/200 T400/200 R400/0 T400/0 R200/0 T200/0".split()
]
OMEGA = {  # figure: (which places, strict)
    "published_definition": ("first_occurrence", False),
    "true_ranges_touching_counts": ("true", False),
    "true_ranges_strict": ("true", True),
}
COLUMNS = {"recall": "Recall", "precision": "Precision", "iou": "IoU"}


def read(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def load(folder):
    """Return the documents and all_qa with its passages as start and end."""
    docs = [
        {
            "doc_id": name,
            "title": "",
            "content": gzip.decompress((folder / f"{name}.md.gz").read_bytes()).decode(),
        }
        for name in CORPORA
    ]
    lines = gzip.decompress((folder / "questions.jsonl.gz").read_bytes()).decode().splitlines()
    all_qa = [
        {
            "query_id": line["query_id"],
            "question": line["question"],
            "relevant_passages": [
                {"doc_id": line["doc_id"], "start": start, "end": end}
                for start, end in line["spans"]
            ],
        }
        for line in map(json.loads, lines)
    ]
    return docs, all_qa


def recorded_chunks(docs, ranges, which):
    """Return the chunks of one chunking, in the order in which recorded hits number them."""
    texts = {doc["doc_id"]: doc["content"] for doc in docs}
    places = [(name, *span) for name in CORPORA for span in ranges["true"][name]]
    if which == "first_occurrence":
        for number, span in ranges["first_occurrence_differs"].items():
            places[int(number)] = (places[int(number)][0], *span)
    return [
        {
            "doc_id": f"{number}",
            "content": texts[source][start:end],
            "source_id": source,
            "start": start,
            "end": end,
        }
        for number, (source, start, end) in enumerate(places)
    ]


class Comparison:
    """Counts figures, and notes those that differ in the sixth digit."""

    def __init__(self):
        self.figures, self.wrong = 0, []

    def add(self, where, measured, published):
        self.figures += 1
        if round(float(measured), 6) != round(float(published), 6):
            self.wrong.append(f"{where}: {measured} != {published}")

    def add_column(self, where, column, published):
        self.add(f"{where} mean", column.mean(), published["mean"])
        self.add(f"{where} sd", column.std(ddof=0), published["sd"])


def check_chunking(name, docs, all_qa, ranges, retrieved, golden, compared):
    """Compare every figure of one chunking, and return its row of the table."""
    chunks = {which: recorded_chunks(docs, ranges, which) for which in ("true", "first_occurrence")}
    texts = [chunk["content"] for chunk in chunks["true"]]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    same = digest == golden["sha256_of_chunk_texts_joined_by_NUL"]
    compared.add(f"{name} texts", same, True)
    compared.add(f"{name} chunks", len(texts), golden["chunks"])
    row = {"chunks": len(texts), "placed elsewhere": misplaced(docs, chunks["true"])}

    # What the chunks allow.
    for figure, (which, strict) in OMEGA.items():
        omega = precision_omega(chunks[which], all_qa, strict)["Precision-omega"]
        compared.add_column(f"{name} {figure}", omega, golden["precision_omega"][figure])
        row.setdefault("omega", omega.mean())

    # What the recorded searches brought.
    for model, by_place in golden["retrieval"].items():
        hits = retrieved[f"{model} {name}"]
        results = {
            qa["query_id"]: [{"doc_id": f"{number}"} for number in its]
            for qa, its in zip(all_qa, hits, strict=True)
        }
        for which, figures in by_place.items():
            scores = passage_scores(results, chunks[which], all_qa)
            for figure, column in COLUMNS.items():
                where = f"{name} {model} {which} {figure}"
                compared.add_column(where, scores[column], figures[figure])
                row[f"{model} {figure}"] = scores[column].mean()
            by_corpus = scores["Recall"].groupby(corpus_of(all_qa)).mean()
            for corpus, recall in figures["recall_mean_by_corpus"].items():
                compared.add(f"{name} {model} {which} {corpus}", by_corpus[corpus], recall)
    return row


def corpus_of(all_qa):
    return {qa["query_id"]: qa["relevant_passages"][0]["doc_id"] for qa in all_qa}


def misplaced(docs, chunks):
    """Count the chunks that `place`, which is given the texts only, puts elsewhere than the splitter."""
    wrong = 0
    for doc in docs:
        ours = [chunk for chunk in chunks if chunk["source_id"] == doc["doc_id"]]
        found = place([chunk["content"] for chunk in ours], doc["content"], doc["doc_id"])
        wrong += sum(
            span != (chunk["start"], chunk["end"]) for span, chunk in zip(found, ours, strict=True)
        )
    return wrong


def split_by_characters(docs, size, overlap):
    splitter = RecursiveCharacterTextSplitter(
        separators=["\n\n", "\n", ".", "?", "!", " ", ""],
        chunk_size=size,
        chunk_overlap=overlap,
        keep_separator=True,
    )
    return split_documents(docs, splitter)


def check_splits(docs, all_qa, golden, compared, embeddings=None):
    """Split by characters here and now; with embeddings also search, and compare the figures."""
    for name in (name for name in golden if name.endswith(" chars")):
        size, overlap = map(int, name.removesuffix(" chars")[1:].split("/"))
        chunks = split_by_characters(docs, size, overlap)
        omega = precision_omega(chunks, all_qa)["Precision-omega"]
        wanted = golden[name]["precision_omega"]["true_ranges_touching_counts"]
        compared.add_column(f"{name} split here", omega, wanted)
        if embeddings:
            store = build_vectorstore(chunks, embeddings)
            scores = passage_scores(search_all(store, all_qa, 5), chunks, all_qa)
            figures = golden[name]["retrieval"]["usem3"]["true"]
            for figure, column in COLUMNS.items():
                compared.add_column(
                    f"{name} searched here {figure}", scores[column], figures[figure]
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True, help="corpora, questions, places, hits")
    parser.add_argument("--golden", type=Path, required=True, help="the file of figures")
    parser.add_argument("--embeddings", action="store_true", help="search anew, a minute or two")
    options = parser.parse_args()

    docs, all_qa = load(options.data)
    ranges = read(options.data / "ranges.json.gz")
    retrieved = read(options.data / "retrieved.json.gz")
    golden = json.loads(options.golden.read_text(encoding="utf-8"))
    compared = Comparison()

    rows = {}
    for name in [*EIGHT, *(other for other in golden["computed"] if other not in EIGHT)]:
        figures = golden["computed"][name]
        rows[name] = check_chunking(name, docs, all_qa, ranges[name], retrieved, figures, compared)
    for name, (mean, sd) in golden["published"]["notebook precision_omega mean, sd"].items():
        figures = golden["computed"][f"{name} cl100k"]["precision_omega"]["published_definition"]
        compared.add(f"{name} report's notebook mean", figures["mean"], mean)
        compared.add(f"{name} report's notebook sd", figures["sd"], sd)
    embeddings = load_embeddings() if options.embeddings else None
    check_splits(docs, all_qa, golden["computed"], compared, embeddings)

    print(pd.DataFrame(rows).T.round(6).to_string())
    print("\n".join(compared.wrong))
    told = f"{len(compared.wrong)} differ" if compared.wrong else "every one is the published one"
    print(f"{compared.figures} figures to six digits: {told}.")
    return 1 if compared.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
