"""Measure the retrieval step of RAG: build, search, validate, evaluate.

LangChain, FAISS, scikit-learn and matplotlib are imported only where they are used.
"""

from rageval_kit.accuracy import answer_accuracy, judge_agreement, judge_answers
from rageval_kit.answers import ExtractiveAnswerer, generate_answers
from rageval_kit.comparison import compare, differences
from rageval_kit.dataset import load_dataset
from rageval_kit.diagnosis import (
    abstention_curve,
    common_traits,
    diagnose,
    failures,
    outcomes,
    threshold_for,
)
from rageval_kit.duplicates import (
    duplicate_index,
    find_duplicates,
    fold,
    search_folded,
    unread_tails,
)
from rageval_kit.embeddings import load_embeddings
from rageval_kit.explanation import explain
from rageval_kit.files import load_qrels, load_run, save_qrels, save_run
from rageval_kit.grounding import faithfulness, faithfulness_frame
from rageval_kit.inspection import check_results, check_scores
from rageval_kit.metrics import caption, evaluate, hit_rate, mrr, ndcg, per_query, precision, recall
from rageval_kit.rankings import Results
from rageval_kit.relevance import relevance_matrix
from rageval_kit.search import search_all
from rageval_kit.validation import validate_dataset
from rageval_kit.vectorstore import (
    add_documents,
    build_vectorstore,
    load_vectorstore,
    save_vectorstore,
)

__all__ = [
    "ExtractiveAnswerer",
    "Results",
    "abstention_curve",
    "add_documents",
    "answer_accuracy",
    "build_vectorstore",
    "caption",
    "check_results",
    "check_scores",
    "common_traits",
    "compare",
    "diagnose",
    "differences",
    "duplicate_index",
    "evaluate",
    "explain",
    "failures",
    "faithfulness",
    "faithfulness_frame",
    "find_duplicates",
    "fold",
    "generate_answers",
    "hit_rate",
    "judge_agreement",
    "judge_answers",
    "load_dataset",
    "load_embeddings",
    "load_qrels",
    "load_run",
    "load_vectorstore",
    "mrr",
    "ndcg",
    "outcomes",
    "per_query",
    "precision",
    "recall",
    "relevance_matrix",
    "save_qrels",
    "save_run",
    "save_vectorstore",
    "search_all",
    "search_folded",
    "threshold_for",
    "unread_tails",
    "validate_dataset",
]
