"""Generate answers from retrieved documents, and keep every finished one."""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rageval_kit.cache import open_cache
from rageval_kit.embeddings import embeddings_settings
from rageval_kit.judgements import AllQA, as_queries, read_judgements
from rageval_kit.language import split_sentences
from rageval_kit.messages import as_cutoff, name_some, show_progress
from rageval_kit.rankings import ResultsLike, as_rankings, direction

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

ANSWER_PROMPT = """\
Answer the question from the documents below, and from nothing else. Answer in the language of the \
question, in one to three sentences. If the documents do not say, say that they do not say.

Documents:
{context}

Question: {question}"""


class ExtractiveAnswerer:
    """The offline answerer: it copies the sentences nearest to the question, and writes none of its own.

    No language model: it cannot combine, rephrase or decline. It shows what the retrieved documents
    give, and lets a course run without a key.

    Args:
        embeddings: measure nearness, for example those of the vectorstore.
        sentences: how many are copied, in the order of nearness.
    """

    def __init__(self, embeddings: "Embeddings", sentences: int = 2) -> None:
        self._embeddings = embeddings
        self.sentences = as_cutoff(sentences, "sentences")
        self._vectors: dict[
            str, np.ndarray
        ] = {}  # of sentences seen: documents come back for other questions

    def __repr__(self) -> str:
        model = type(self._embeddings).__name__
        return f"ExtractiveAnswerer({model}, {embeddings_settings(self._embeddings)}, sentences={self.sentences})"

    def invoke(self, inputs: Mapping[str, Any]) -> str:
        """Return the sentences of ``inputs["documents"]`` (hits) nearest to ``inputs["question"]``."""
        candidates = [
            sentence for hit in inputs["documents"] for sentence in split_sentences(hit["content"])
        ]
        if not candidates:
            return ""
        vectors = self._embed(candidates)
        question = np.asarray(self._embeddings.embed_query(inputs["question"]))
        cosine = vectors @ question / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(question))
        return " ".join(
            candidates[position]
            for position in np.argsort(-cosine, kind="stable")[: self.sentences]
        )

    def _embed(self, sentences: Sequence[str]) -> np.ndarray:
        new = list(
            dict.fromkeys(sentence for sentence in sentences if sentence not in self._vectors)
        )
        if new:
            self._vectors |= zip(
                new, np.asarray(self._embeddings.embed_documents(new)), strict=True
            )
        return np.stack([self._vectors[sentence] for sentence in sentences])


def generate_answers(
    model: Any,
    all_qa: AllQA,
    results: Mapping[Any, Sequence[Mapping[str, Any]]],
    k: int = 5,
    cache: str | Path | None = None,
    prompt: str = ANSWER_PROMPT,
) -> pd.DataFrame:
    """Answer every question from its first k documents.

    A finished answer is kept under the model, the prompt, the question and the documents: after a
    failure midway the same call goes on where it stopped, and asks nothing twice. What holds a function
    or class of your own could change unseen: its answers are kept for the very object, while Python runs.

    Args:
        model: a LangChain chat model or LLM, such as ``ChatOpenAI(model=...)``, which gets the prompt; or
            any Runnable (`ExtractiveAnswerer` is one), which gets ``question``, ``context`` (the
            documents as text) and ``documents`` (the hits).
        all_qa: dicts with ``query_id`` and ``question``.
        results: the hits with their ``content``, from `search_all`.
        k: how many documents an answer sees.
        cache: path of an SQLite file; None keeps the answers in memory while Python runs.
        prompt: with ``{question}`` and ``{context}``, for chat models and LLMs.

    Returns:
        A row a query, indexed by query_id: ``question``, ``answer``, ``doc_ids`` (what it saw, in order)
        and, where all_qa has it, ``ground_truth``.

    Raises:
        KeyError: results has no entry for a query, a query has no question, or a hit has no content.
        ValueError: the prompt lacks {question} or {context}.
    """
    k = as_cutoff(k)
    for field in ("{question}", "{context}"):
        if field not in prompt:
            raise ValueError(f"The prompt must hold {field}, which is replaced.")
    refuse_no_model(model)
    queries = as_queries(all_qa, ("question",))
    missing = [qa["query_id"] for qa in queries if qa["query_id"] not in results]
    if missing:
        raise KeyError(
            f"results has no entry for {name_some(missing)}: search them, or leave them out of all_qa."
        )
    identity, rows = _identity(model), {}
    with open_cache(cache) as stored:
        for qa in show_progress(queries, "answering", "query"):
            hits = list(results[qa["query_id"]][:k])
            inputs = {
                "question": qa["question"],
                "context": _context(hits, qa["query_id"]),
                "documents": hits,
            }
            key = _key(identity, prompt if takes_text(model) else "", inputs)
            answer = stored.answer(key)
            if answer is None:
                answer = _ask(model, prompt, inputs)
                stored.keep_answer(key, answer)
            rows[qa["query_id"]] = {
                "question": qa["question"],
                "answer": answer,
                "doc_ids": [hit["doc_id"] for hit in hits],
                **({"ground_truth": qa["ground_truth"]} if "ground_truth" in qa else {}),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("query_id")


def _context(hits: Sequence[Mapping[str, Any]], query_id: Any) -> str:
    for hit in hits:
        if "content" not in hit:
            raise KeyError(
                f"{query_id}: the hit {hit.get('doc_id')} has no content to answer from."
            )
    return "\n\n".join(
        f"[{hit['doc_id']}] {hit.get('title') or ''}\n{hit['content']}" for hit in hits
    )


def refuse_no_model(model: Any) -> None:
    """Refuse what cannot be asked, such as the name of a model."""
    if not hasattr(model, "invoke"):
        raise TypeError(
            f"A LangChain chat model or Runnable is wanted, found {type(model).__name__}."
        )


def _ask(model: Any, prompt: str, inputs: Mapping[str, Any]) -> str:
    return as_text(model.invoke(fill(prompt, inputs) if takes_text(model) else dict(inputs)))


def takes_text(model: Any) -> bool:
    """Say whether the model is a language model, if only with_retry() or bind(), and not a chain that takes a dict."""
    from langchain_core.language_models import BaseLanguageModel
    from langchain_core.runnables.base import RunnableBindingBase

    while isinstance(model, RunnableBindingBase):
        model = model.bound
    return isinstance(model, BaseLanguageModel)


def fill(prompt: str, values: Mapping[str, Any]) -> str:
    """Put the values into the prompt; a brace in a value or elsewhere in the prompt stays a brace."""
    for field in values:
        prompt = prompt.replace("{" + field + "}", f"\0{field}\0")
    for field, value in values.items():
        prompt = prompt.replace(f"\0{field}\0", str(value))
    return prompt


def as_text(reply: Any) -> str:
    """Return the text of a model's reply: a message, or a text already."""
    if isinstance(reply, str):
        return reply
    text = getattr(reply, "text", None)
    if text is None:
        raise TypeError(
            f"The model replied with {type(reply).__name__}; a text or a message was wanted."
        )
    return str(text)


def _identity(model: Any) -> list[Any]:
    """Return what the model is known by: two models that could answer differently have two identities."""
    from langchain_core.language_models import BaseLanguageModel
    from langchain_core.load import dumps

    name, shown = type(model).__name__, dumps(model)
    if (
        '"not_implemented"' not in shown
    ):  # LangChain can write the whole of it down, without its keys
        return [name, shown]
    if isinstance(model, BaseLanguageModel) and " at 0x" not in repr(
        model
    ):  # else it holds what cannot be written
        limits = {
            field: value
            for field, value in vars(model).items()
            if "token" in field and isinstance(value, int)
        }
        return [name, embeddings_settings(model), limits]
    if type(model) is ExtractiveAnswerer:
        return [name, repr(model)]
    # Held on to, so that no other object gets its id.
    return [name, repr(model), _opaque.setdefault(id(model), (model, uuid.uuid4().hex))[1]]


_opaque: dict[int, tuple[Any, str]] = {}


def _key(identity: Sequence[Any], prompt: str, inputs: Mapping[str, Any]) -> str:
    parts = [*identity, prompt, inputs["question"], inputs["context"]]
    return hashlib.sha256(
        json.dumps(parts, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
    ).hexdigest()


# ---------------------------------------------------------------- when to refuse


def abstention_curve(all_qa: AllQA, results: ResultsLike) -> pd.DataFrame:
    """Show what a threshold on the best score does: answer only where the first hit is near enough.

    Args:
        all_qa: answerable queries have a relevant document, unanswerable ones have none; both are needed.
        results: hits with scores, whose direction is known (`search_all`) or told by their order.

    Returns:
        A row a threshold, from answering nothing to answering everything: ``threshold`` (the worst best score
        that is still answered), ``unanswerable_answered`` and ``answerable_refused`` (shares, lower is better).
        ``.attrs["lower_is_better"]`` says on which side of the threshold a question is answered.

    Raises:
        ValueError: one kind is missing, a first hit has no score, or the direction of the scores cannot be told.
    """
    judged = read_judgements(all_qa)
    answerable = np.isin(np.arange(len(judged.query_ids)), judged.rows[judged.grades > 0])
    if answerable.all() or not answerable.any():
        raise ValueError(
            "Both kinds are needed: queries with relevant documents, and queries without."
        )
    rankings = as_rankings(results)
    best = [_best_score(rankings.get(query_id, []), query_id) for query_id in judged.query_ids]
    lower = direction(rankings)
    if lower is None:
        raise ValueError(
            "The scores do not tell whether lower is better: give results of search_all, or two hits "
            "a query and more."
        )
    distance = np.array(best) if lower else -np.array(best)
    rows = [(np.nan, 0.0, 1.0)]
    for limit in np.unique(distance):
        answered = distance <= limit
        threshold = float(limit if lower else -limit)
        rows.append((threshold, answered[~answerable].mean(), 1 - answered[answerable].mean()))
    curve = pd.DataFrame(rows, columns=["threshold", "unanswerable_answered", "answerable_refused"])
    curve.attrs = {
        "lower_is_better": bool(lower),
        "answerable": int(answerable.sum()),
        "n": len(answerable),
    }
    return curve


def _best_score(hits: Sequence[Mapping[str, Any]], query_id: Any) -> float:
    if not hits or hits[0].get("score") is None:
        raise ValueError(
            f"{query_id} has no hit with a score: a threshold needs the score of every query's first hit."
        )
    return float(hits[0]["score"])


def threshold_for(curve: pd.DataFrame, unanswerable_answered: float) -> pd.Series:
    """Return the row of `abstention_curve` that refuses least while at most this share of unanswerable is answered.

    >>> curve = pd.DataFrame({"threshold": [float("nan"), 0.4, 0.9], "unanswerable_answered": [0, 0.1, 1],
    ...                       "answerable_refused": [1, 0.3, 0]})
    >>> float(threshold_for(curve, 0.2)["threshold"])
    0.4
    """
    if not 0 <= unanswerable_answered <= 1:
        raise ValueError(
            f"unanswerable_answered is a share between 0 and 1, found {unanswerable_answered!r}."
        )
    allowed = curve[curve["unanswerable_answered"] <= unanswerable_answered]
    return allowed.iloc[int(allowed["answerable_refused"].to_numpy().argmin())]
