"""Measure the retrieval step of RAG: build, search, validate, evaluate.

LangChain, FAISS, scikit-learn and matplotlib are imported only where they are used.
"""

from rageval_kit.dataset import load_dataset
from rageval_kit.embeddings import load_embeddings
from rageval_kit.metrics import evaluate, hit_rate, mrr, ndcg, per_query, precision, recall
from rageval_kit.relevance import relevance_matrix
from rageval_kit.search import Results, search_all
from rageval_kit.validation import validate_dataset
from rageval_kit.vectorstore import add_documents, build_vectorstore, load_vectorstore, save_vectorstore

__all__ = [
    "Results",
    "add_documents",
    "build_vectorstore",
    "evaluate",
    "hit_rate",
    "load_dataset",
    "load_embeddings",
    "load_vectorstore",
    "mrr",
    "ndcg",
    "per_query",
    "precision",
    "recall",
    "relevance_matrix",
    "save_vectorstore",
    "search_all",
    "validate_dataset",
]
