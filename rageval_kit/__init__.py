"""Measure the retrieval step of RAG: build, search, validate, evaluate.

A name is loaded from its module when it is first used, so that ``import rageval_kit`` is cheap and
``python -m rageval_kit check`` answers also where a package is missing.
"""

# ruff: noqa: F401, I001 - the names at the end are imported for type checkers only
# mypy: implicit-reexport
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Every public name, by the module that holds it.
_NAMES = {
    "accuracy": "answer_accuracy judge_answers",
    "answers": "ExtractiveAnswerer generate_answers",
    "approximation": "agreement index_costs",
    "chunks": "split_documents",
    "comparison": "compare differences holm queries_needed randomization_p resampled_means",
    "costs": "estimate_cost",
    "course_data": "data_folder",
    "data_plots": (
        "plot_bars plot_cells plot_intervals plot_limit plot_marks plot_points plot_resamples "
        "plot_strip"
    ),
    "dataset": "load_dataset",
    "diagnosis": (
        "DEFAULT_THRESHOLDS abstention_curve common_traits diagnose failures outcomes threshold_for"
    ),
    "duplicates": "duplicate_index find_duplicates fold fold_judgements search_folded unread_tails",
    "embeddings": "cached_embeddings load_embeddings shorten",
    "experiment_files": "load_experiment save_experiment",
    "experiment_plots": "plot_experiment",
    "experiment_table": "Experiment",
    "experiments": "experiment",
    "explanation": "Explanation explain",
    "exploring": "explore",
    "findings": "Finding Report",
    "fusion": "fuse",
    "grids": "grid",
    "grounding": "faithfulness faithfulness_frame",
    "inspection": "check_results check_scores",
    "judges": "judge_agreement",
    "judging": "judging_form",
    "language": "content_words kiwi_words normalised_tokens occurs split_sentences",
    "lexical": "build_bm25",
    "loading": "load_documents load_pairs load_questions",
    "metrics": "caption evaluate hit_rate mrr ndcg per_query precision recall",
    "passages": "cut_results match_passages passage_scores precision_omega",
    "places": "find_text",
    "plots": (
        "plot_abstention plot_comparison plot_differences plot_hits plot_lines "
        "plot_relevance_matrix"
    ),
    "pooling": "GRADES add_judgements load_judged pool_results save_pool",
    "prompts": "ANSWER_PROMPT JUDGE_PROMPT KINDS RELEVANCE_PROMPT SUGGEST_PROMPT",
    "rankings": "Results",
    "relevance": "Policies Relevance relevance_matrix",
    "reranking": "rerank",
    "reports": "flat to_html to_latex to_markdown",
    "search": "search_all",
    "suggesting": "judge_relevance suggest_questions",
    "trec": "load_qrels load_run save_qrels save_run",
    "unjudged": "pool_to_settle score_bounds",
    "validation": "validate_dataset",
    "vectorstore": "add_documents build_vectorstore load_vectorstore save_vectorstore",
    "wording": "set_language",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Load a public name, or a module such as ``rageval_kit.plots``, when it is first used."""
    home = f"rageval_kit.{_MODULE_OF.get(name, name)}"
    try:
        module = import_module(home)
    except ImportError as error:
        if error.name == home and name not in _MODULE_OF:
            sentence = f"module 'rageval_kit' has no attribute {name!r}"
            raise AttributeError(sentence, name=name, obj=sys.modules[__name__]) from None
        raise _not_loaded(name, error) from error

    # Kept, so that this function is not asked again.
    value = getattr(module, name) if name in _MODULE_OF else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def _not_loaded(name: str, error: ImportError) -> ImportError:
    """Return the error as a sentence: what is missing in which Python, and how to install it."""
    version = sys.version.split()[0]
    reason = str(error)
    if sys.version_info < (3, 11):  # noqa: UP036 - who runs an older one is told so here
        reason = "Python 3.11 or newer is needed"
    return ImportError(
        f"rageval_kit.{name} cannot be loaded: {reason} (this is Python {version}, "
        f"{sys.executable}). Use the Python of the virtual environment, .venv/bin/python (Windows: "
        ".venv\\Scripts\\python), and install what is missing there: "
        ".venv/bin/pip install -r requirements.txt",
        name=error.name,
    )


# The same names again, for type checkers and editors; a test keeps the two equal.
# fmt: off
if TYPE_CHECKING:
    from rageval_kit.accuracy import answer_accuracy, judge_answers
    from rageval_kit.answers import ExtractiveAnswerer, generate_answers
    from rageval_kit.approximation import agreement, index_costs
    from rageval_kit.chunks import split_documents
    from rageval_kit.comparison import (
        compare, differences, holm, queries_needed, randomization_p, resampled_means,
    )
    from rageval_kit.costs import estimate_cost
    from rageval_kit.course_data import data_folder
    from rageval_kit.data_plots import (
        plot_bars, plot_cells, plot_intervals, plot_limit, plot_marks, plot_points, plot_resamples,
        plot_strip,
    )
    from rageval_kit.dataset import load_dataset
    from rageval_kit.diagnosis import (
        DEFAULT_THRESHOLDS, abstention_curve, common_traits, diagnose, failures, outcomes,
        threshold_for,
    )
    from rageval_kit.duplicates import (
        duplicate_index, find_duplicates, fold, fold_judgements, search_folded, unread_tails,
    )
    from rageval_kit.embeddings import cached_embeddings, load_embeddings, shorten
    from rageval_kit.experiment_files import load_experiment, save_experiment
    from rageval_kit.experiment_plots import plot_experiment
    from rageval_kit.experiment_table import Experiment
    from rageval_kit.experiments import experiment
    from rageval_kit.explanation import Explanation, explain
    from rageval_kit.exploring import explore
    from rageval_kit.findings import Finding, Report
    from rageval_kit.fusion import fuse
    from rageval_kit.grids import grid
    from rageval_kit.grounding import faithfulness, faithfulness_frame
    from rageval_kit.inspection import check_results, check_scores
    from rageval_kit.judges import judge_agreement
    from rageval_kit.judging import judging_form
    from rageval_kit.language import (
        content_words, kiwi_words, normalised_tokens, occurs, split_sentences,
    )
    from rageval_kit.lexical import build_bm25
    from rageval_kit.loading import load_documents, load_pairs, load_questions
    from rageval_kit.metrics import (
        caption, evaluate, hit_rate, mrr, ndcg, per_query, precision, recall,
    )
    from rageval_kit.passages import (
        cut_results, match_passages, passage_scores, precision_omega,
    )
    from rageval_kit.places import find_text
    from rageval_kit.plots import (
        plot_abstention, plot_comparison, plot_differences, plot_hits, plot_lines,
        plot_relevance_matrix,
    )
    from rageval_kit.pooling import (
        GRADES, add_judgements, load_judged, pool_results, save_pool,
    )
    from rageval_kit.prompts import (
        ANSWER_PROMPT, JUDGE_PROMPT, KINDS, RELEVANCE_PROMPT, SUGGEST_PROMPT,
    )
    from rageval_kit.rankings import Results
    from rageval_kit.relevance import Policies, Relevance, relevance_matrix
    from rageval_kit.reranking import rerank
    from rageval_kit.reports import flat, to_html, to_latex, to_markdown
    from rageval_kit.search import search_all
    from rageval_kit.suggesting import judge_relevance, suggest_questions
    from rageval_kit.trec import load_qrels, load_run, save_qrels, save_run
    from rageval_kit.unjudged import pool_to_settle, score_bounds
    from rageval_kit.validation import validate_dataset
    from rageval_kit.vectorstore import (
        add_documents, build_vectorstore, load_vectorstore, save_vectorstore,
    )
    from rageval_kit.wording import set_language
