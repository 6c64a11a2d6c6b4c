"""The command line: ``python -m rageval_kit`` measures a dataset, ``python -m rageval_kit check`` the set-up."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from rageval_kit.dataset import load_dataset
from rageval_kit.embeddings import DEFAULT_EMBEDDINGS, load_embeddings
from rageval_kit.metrics import evaluate, per_query
from rageval_kit.rankings import Results
from rageval_kit.search import search_all
from rageval_kit.setup_check import LECTURE, check_setup
from rageval_kit.validation import validate_dataset
from rageval_kit.vectorstore import build_vectorstore


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, or 1 if something is wrong."""
    _print_any_letter()
    options = _parser().parse_args(arguments)
    if options.command == "check":
        return check_setup()
    try:
        return _run(options)
    except (ValueError, TypeError, KeyError, ImportError, OSError) as error:
        print(
            f"rageval_kit: {error.args[0] if isinstance(error, KeyError) else error}",
            file=sys.stderr,
        )
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rageval_kit",
        description="Validate a dataset, search it and print HitRate, MRR, nDCG, Precision and Recall.",
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=["run", "check"],
        default="run",
        help="run (the default), or check the set-up",
    )
    parser.add_argument(
        "--data",
        default=str(LECTURE / "ko"),
        help="dataset folder (default: the bundled Korean lecture; data/lecture/en is English)",
    )
    parser.add_argument("--split", help="which qrels/<split>.tsv of a BEIR folder (default: test)")
    parser.add_argument(
        "--embeddings",
        default=DEFAULT_EMBEDDINGS,
        metavar="NAME",
        help="use-multilingual (default), chars, openai:MODEL, PROVIDER:MODEL",
    )
    parser.add_argument(
        "--ks", type=int, nargs="+", default=[1, 3, 5], metavar="K", help="cutoffs (default: 1 3 5)"
    )
    parser.add_argument("--cache", metavar="FILE", help="SQLite file to keep the search results in")
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="write the tables as CSV and the figure as PNG to this folder",
    )
    return parser


def _run(options: argparse.Namespace) -> int:
    if options.out:
        Path(options.out).mkdir(
            parents=True, exist_ok=True
        )  # before the work, in case it cannot be made
    dataset = load_dataset(options.data, options.split)
    print(f"dataset: {options.data}")
    if validate_dataset(*dataset).errors:
        print("Correct the errors first: scores of a broken dataset mislead.", file=sys.stderr)
        return 1
    vectorstore = build_vectorstore(dataset.docs, load_embeddings(options.embeddings))
    results = search_all(vectorstore, dataset.all_qa, max(options.ks), options.cache)
    print(repr(results))
    queries = per_query(dataset.all_qa, results, options.ks)
    summary = evaluate(dataset.all_qa, results, options.ks)
    with pd.option_context("display.width", 200, "display.max_columns", None):
        print(f"\nEvery query:\n{queries.round(3)}")
        counts = f"{summary.attrs['evaluated']} queries, {summary.attrs['excluded']} excluded"
        print(f"\nMean over {counts}:\n{summary.round(4)}")
    if options.out:
        _write(Path(options.out), results, queries, summary)
    return 0


def _write(folder: Path, results: Results, queries: pd.DataFrame, summary: pd.DataFrame) -> None:
    import matplotlib

    matplotlib.use("Agg")  # a figure for a file needs no window
    import matplotlib.pyplot as plt

    from rageval_kit.plots import plot_lines

    results.to_frame().to_csv(folder / "results.csv", index=False, encoding="utf-8-sig")
    queries.to_csv(folder / "per_query.csv", encoding="utf-8-sig")
    summary.to_csv(folder / "summary.csv", encoding="utf-8-sig")
    figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
    plot_lines(summary.T, ax=ax)
    figure.savefig(folder / "metrics.png", dpi=120)
    print(f"\nWritten to {folder}: results.csv, per_query.csv, summary.csv, metrics.png")


def _print_any_letter() -> None:
    """Print '?' for a letter that an old Windows console cannot show, where Python would stop."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
