"""Search by words: BM25 as a LangChain retriever, which `search_all` asks in batches and caches.

The classic that every dense search is held against. It finds the very word, a code or a name, and
misses whatever says the same in other words. The index and its arithmetic are bm25s's.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rageval_kit.cache import Ranking
from rageval_kit.documents import Docs
from rageval_kit.language import kiwi_terms, search_terms
from rageval_kit.messages import (
    is_list,
    name_some,
    show_progress,
    shown,
    warn_user,
    wrong_type,
)
from rageval_kit.search import Index
from rageval_kit.vectors import first_words
from rageval_kit.vectorstore import to_documents

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rageval_kit.index_retriever import IndexRetriever

Tokens: TypeAlias = str | Callable[[str], Sequence[str]]

# The usual ones, and bm25s's own: Lucene's form of the formula (with k1 = 1.2 in Lucene itself).
_SETTINGS = {"k1": 1.5, "b": 0.75, "method": "lucene"}

_TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "auto": search_terms,
    "words": str.split,
    "kiwi": kiwi_terms,
}


def build_bm25(docs: Docs, tokens: Tokens = "auto") -> "IndexRetriever":
    r"""Count the words of every document and return a LangChain retriever that ranks by BM25.

    A document d scores, summed over the terms t of the question::

        ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + 1.5 * (0.25 + 0.75 * |d| / mean |d|))

    with f times t in d, n of N documents with t, and lengths |d| in terms. Lucene's form of Okapi
    BM25 (Kamphuis et al., ECIR 2020), k1 = 1.5 and b = 0.75: **higher is better**, never below 0.

    Args:
        docs: as `build_vectorstore` takes them; a document's text is its title, a line break, and
            its content.
        tokens: what counts as a term. ``"auto"``: Hangul in pairs of syllables, English without
            stop words and endings, any other word as it is, all in lower case, decided word by
            word. ``"words"``: what stands between blanks, to see how bad that is where endings
            stick to words. ``"kiwi"``: the content words that the Korean analyser Kiwi finds
            (an extra). Or a function from a text to its terms, for questions and documents alike.

    Returns:
        The retriever. ``search_all(bm25, all_qa, k=10)`` asks it in batches and keeps its results:
        after a change of the documents or of their terms it searches again by itself. A document
        that shares no term with the question is no hit. Elsewhere in LangChain ``invoke`` gives the
        first ``bm25.k`` documents, 4 unless set.

    >>> from rageval_kit.search import search_all
    >>> docs = [{"doc_id": "A", "title": "", "content": "Apples are red, and pears are green."},
    ...         {"doc_id": "B", "title": "", "content": "Buses are late."},
    ...         {"doc_id": "C", "title": "", "content": "The bus to the campus is red."}]
    >>> bm25 = build_bm25(docs)
    >>> results = search_all(bm25, [{"query_id": "q1", "question": "Which bus is red?"}], k=2)
    >>> [(hit["doc_id"], hit["score"]) for hit in results["q1"]]
    [('C', 0.3760029), ('B', 0.2211782)]

    Raises:
        ValueError: no document, a repeated or empty doc_id, no text, no document with a term, or
            ``tokens`` is another name.
        KeyError: a document has no doc_id or content.
        TypeError: docs is no list of documents, or ``tokens`` is no tokenizer, or gives no texts.
        ImportError: Kiwi is not installed.
    """
    from rageval_kit.index_retriever import IndexRetriever

    name, tokenize = _as_tokenizer(tokens)
    documents = to_documents(docs)
    if not documents:
        raise ValueError("The corpus is empty: build_bm25 needs at least one document.")
    return IndexRetriever(Bm25Index(documents, name, tokenize))


def _as_tokenizer(tokens: Any) -> tuple[str, Callable[[str], Any]]:
    """Return the name of a tokenizer, for a reader, and the function."""
    if isinstance(tokens, str):
        if tokens not in _TOKENIZERS:
            choices = ", ".join(map(repr, _TOKENIZERS))
            raise ValueError(
                f"tokens={shown(tokens)} is not known. Choose one of: {choices}, or give a "
                "function from a text to its terms."
            )
        _TOKENIZERS[tokens]("")  # says what is not installed
        return tokens, _TOKENIZERS[tokens]
    if not callable(tokens) or isinstance(tokens, type):
        raise wrong_type("tokens", '"auto", or a function from a text to its terms', tokens)
    return str(getattr(tokens, "__name__", type(tokens).__name__)), tokens


class Bm25Index(Index):
    """The terms of documents, counted by bm25s."""

    is_known = True  # a question is kept under its terms
    score_name = "BM25"
    lower_is_better = False
    why_few = "no more documents share a term with the question."

    def __init__(
        self, documents: Sequence["Document"], name: str, tokenize: Callable[[str], Any]
    ) -> None:
        import bm25s

        super().__init__(documents)
        self.model = f"BM25(tokens={name})"
        self._tokenize = tokenize

        # A document without a term can never be found.
        terms = [
            self._terms(document.page_content, f"the document {document.id}")
            for document in show_progress(documents, "reading", "document")
        ]
        empty = [its for its, found in zip(self._doc_ids, terms, strict=True) if not found]
        if len(empty) == len(documents):
            raise ValueError(f"No document has a term (tokens={name}): there is nothing to search.")
        if empty:
            warn_user(f"No term (tokens={name}) in {name_some(empty)}: never found by BM25.")

        self._bm25 = bm25s.BM25(**_SETTINGS, backend="numpy")
        self._bm25.index(terms, create_empty_token=False, show_progress=False)

        # All that decides what a search finds; the terms tell what the tokenizer does.
        digest = hashlib.sha256(repr([bm25s.__version__, _SETTINGS]).encode())
        for content, its in zip(self._contents, terms, strict=True):
            digest.update(json.dumps([content, its]).encode())
        self.fingerprint = digest.hexdigest()[:32]

    def asked(self, question: str) -> str:
        """Return the terms of a question: they alone decide what it finds."""
        if not isinstance(question, str):
            raise wrong_type("question", "a text", question)
        return json.dumps(self._terms(question, f"the question {first_words(question)}"))

    def embed(self, asked: Sequence[str]) -> list[list[str]]:
        """Return the terms of each."""
        return [json.loads(terms) for terms in asked]

    def search(self, vectors: Sequence[Sequence[str]], k: int) -> list[Ranking]:
        """Return the first k that share a term with each, equal scores in the documents' order."""
        rankings = []
        for terms in vectors:
            known = self._bm25.get_tokens_ids(terms)
            scores = self._bm25.get_scores_from_ids(known)

            # Who shares a term, in the order of the documents; of them the first k, ties included.
            found = np.flatnonzero(scores)
            if len(found) > k:
                least = np.partition(scores[found], -k)[-k]
                found = found[scores[found] >= least]
            best = found[np.argsort(-scores[found], kind="stable")][:k]
            rankings.append([(int(at), float(f"{scores[at]:.7g}")) for at in best])
        return rankings

    def _terms(self, text: str, where: str) -> list[str]:
        """Return the terms of a text, and say where what comes is none."""
        try:
            terms = self._tokenize(text)
            if isinstance(terms, (set, frozenset)):  # whose order is another in each session
                terms = sorted(terms)
            terms = list(terms) if is_list(terms) else terms
        except Exception as error:
            raise ValueError(
                f"tokens failed on {where} ({type(error).__name__}: {str(error)[:300]}). "
                "Look at the function."
            ) from error
        if not isinstance(terms, list):
            raise wrong_type(f"tokens: what it gives for {where}", "a list of texts", terms)
        for term in terms:
            if not isinstance(term, str):
                raise wrong_type(f"tokens: each term that it gives for {where}", "a text", term)
        return terms
