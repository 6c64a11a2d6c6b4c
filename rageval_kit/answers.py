"""Generate answers from retrieved documents, and keep every finished one."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.cache import open_cache
from rageval_kit.documents import refuse_odd_columns, text_of
from rageval_kit.identity import model_settings, own_state, token
from rageval_kit.judgements import AllQA, as_index, as_queries, refuse_strange_ids
from rageval_kit.language import split_sentences, without_thoughts
from rageval_kit.messages import as_cutoff, name_some, printable, show_progress, wrong_type
from rageval_kit.prompts import ANSWER_PROMPT
from rageval_kit.rankings import Hit, ResultsLike, as_rankings
from rageval_kit.vectors import as_vectors
from rageval_kit.wording import say

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

Answers: TypeAlias = pd.DataFrame | Mapping[Any, str]


def generate_answers(
    model: Any,
    all_qa: AllQA,
    results: ResultsLike,
    k: int = 5,
    cache: str | Path | None = None,
    prompt: str | None = None,
) -> pd.DataFrame:
    """Answer every question from its first k documents.

    A finished answer is kept under the model, the prompt, the question and the documents: after a
    failure midway the same call goes on where it stopped, and asks nothing twice. A function or a
    class of your own could change unseen: its answers are kept for the very object, while Python
    runs.

    Args:
        model: a LangChain chat model or LLM, such as ``ChatOpenAI(model=...)``, which gets the
            prompt; or any Runnable (`ExtractiveAnswerer` is one), which gets ``question``,
            ``context`` (the documents as text) and ``documents`` (the hits).
        all_qa: dicts with ``query_id`` and ``question``.
        results: the hits with their ``content``, from `search_all`.
        k: how many documents an answer sees.
        cache: path of an SQLite file; None keeps the answers in memory while Python runs.
        prompt: with ``{question}`` and ``{context}``, for chat models and LLMs; ``{fence}`` is the
            mark around each document, which stands in no document. None means `ANSWER_PROMPT`, in
            the language of `set_language`.

    Returns:
        A row a query, indexed by query_id: ``question``, ``answer`` (all that was replied: what
        measures answers leaves out ``<think>...</think>``), ``doc_ids`` (what it saw, in order)
        and, where all_qa has it, ``ground_truth``.

    Raises:
        KeyError: results has no entry for a query, a query has no question, or a hit no content.
        ValueError: a query_id appears twice, or the prompt lacks {question} or {context}.
        TypeError: the model cannot be asked, or arguments are swapped.
    """
    k, prompt = as_cutoff(k), say(ANSWER_PROMPT) if prompt is None else prompt
    want_askable(model, prompt, ("question", "context"))
    queries = as_queries(all_qa, ("question",))
    rankings = as_rankings(results, ("content",)).only([qa["query_id"] for qa in queries])

    # An answer is known by its model and by all that the model was given.
    key_of, as_prompt = keys_of(model), takes_text(model)
    answers, seen = [], []
    with open_cache(cache) as stored:
        for qa in show_progress(queries, "answering", "query"):
            hits = rankings[qa["query_id"]][:k]
            context, fence = _fenced(hits, qa["question"])
            inputs = {"question": qa["question"], "context": context, "documents": hits}
            given = fill(prompt, {**inputs, "fence": fence}) if as_prompt else inputs

            answer = stored.answer(key_of(given))
            if answer is None:
                with naming(qa["query_id"]):
                    answer = as_text(model.invoke(given))
                stored.keep_answer(key_of(given), answer)
            answers.append(answer)
            seen.append([hit["doc_id"] for hit in hits])

    table = pd.DataFrame(queries, columns=["query_id", "question"]).set_index("query_id")
    table["answer"], table["doc_ids"] = answers, seen
    if any("ground_truth" in qa for qa in queries):
        table["ground_truth"] = [qa.get("ground_truth") for qa in queries]
    return table


def _fenced(hits: Sequence[Hit], question: str) -> tuple[str, str]:
    """Return the documents as one text, each between two marks, and what the marks hold."""
    documents = [(printable(str(hit["doc_id"])), text_of(hit)) for hit in hits]
    fence = fence_for([question, *(part for document in documents for part in document)])
    parts = [
        f"<document {fence}: {doc_id}>\n{text}\n</document {fence}>" for doc_id, text in documents
    ]
    return "\n\n".join(parts), fence


def answer_rows(answers: Answers) -> list[tuple[Any, str, list[str] | None]]:
    """Return (query_id, answer, doc_ids seen or None) of each answer, in either of its forms.

    What a reasoning model thought before it answered is left out.

    Raises:
        KeyError: the table has no column answer.
        TypeError: answers has another form, or an answer is not a text.
        ValueError: a query_id appears twice.
    """
    if isinstance(answers, pd.DataFrame):
        rows = _table_rows(answers)
    elif isinstance(answers, Mapping):
        rows = [(query_id, answer, None) for query_id, answer in answers.items()]
    else:
        raise wrong_type("answers", "a table of generate_answers or {query_id: text}", answers)

    for query_id, answer, seen in rows:
        if not isinstance(answer, str):
            where = f"answers, {name_some([query_id])}: the answer"
            raise wrong_type(where, 'a text, "" for none', answer)
        if seen is not None and not isinstance(seen, (list, tuple)):
            raise wrong_type(f"answers, {query_id}: doc_ids", "a list", seen)
    return [(query_id, without_thoughts(answer), seen) for query_id, answer, seen in rows]


def _table_rows(answers: pd.DataFrame) -> list[tuple[Any, Any, Any]]:
    refuse_odd_columns(answers, "answers")
    if "answer" not in answers:
        raise KeyError(f"answers needs a column answer; found {', '.join(map(str, answers))}.")
    index = as_index(answers.get("query_id", answers.index))
    refuse_strange_ids(index.to_numpy(), "query_id", "answers")
    refuse_repeats(index, "answers: a query_id")
    seen = answers["doc_ids"] if "doc_ids" in answers else [None] * len(answers)
    return list(zip(index, answers["answer"], seen, strict=True))


def refuse_repeats(index: pd.Index, what: str) -> None:
    """Refuse a table in which a query has two rows."""
    if not index.is_unique:
        twice = name_some(index[index.duplicated()].unique().tolist())
        raise ValueError(f"{what} appears twice: {twice}. Keep one of each.")


# ---------------------------------------------------------------- what a model is asked


def want_askable(model: Any, prompt: str, fields: Sequence[str]) -> None:
    """Refuse a model that cannot be asked (its name, its class), a prompt that lacks {question}."""
    if not hasattr(model, "invoke") or isinstance(model, type):
        raise wrong_type("model", "a LangChain chat model or Runnable", model)
    if not isinstance(prompt, str):
        raise wrong_type("prompt", "a text", prompt)
    for field in fields:
        if "{" + field + "}" not in prompt:
            raise ValueError(f"The prompt must hold {{{field}}}, which is replaced. Add it.")


def takes_text(model: Any) -> bool:
    """Say whether it is a language model, if only with_retry() or bind(), and not a chain."""
    from langchain_core.language_models import BaseLanguageModel
    from langchain_core.runnables.base import RunnableBindingBase

    while isinstance(model, RunnableBindingBase):
        model = model.bound
    return isinstance(model, BaseLanguageModel)


def fill(prompt: str, values: Mapping[str, Any]) -> str:
    """Put the values into the prompt; a brace in a value or elsewhere in the prompt stays a brace.

    >>> fill('{question} {"a": 1}', {"question": "What is {context}?", "context": "..."})
    'What is {context}? {"a": 1}'
    """
    fields = re.compile("{(" + "|".join(map(re.escape, values)) + ")}")
    return fields.sub(lambda found: str(values[found[1]]), prompt)


def fill_fenced(prompt: str, fenced: Mapping[str, str], **plain: str) -> str:
    """Fill a prompt whose ``{fence}`` is a mark that stands in none of the fenced texts."""
    return fill(prompt, {**fenced, **plain, "fence": fence_for(list(fenced.values()))})


def fence_for(texts: Sequence[str]) -> str:
    """Return a mark to put around texts: it stands in none of them, so none can end its fence.

    >>> fence_for(["The fee is 3."])
    '22e29adf'
    """
    fence = ""
    while any(fence in text.lower() for text in texts):
        fence = hashlib.sha256(repr([fence, *texts]).encode()).hexdigest()[:8]
    return fence


def as_text(reply: Any) -> str:
    """Return the text of a model's reply: a message, or a text already."""
    text = reply if isinstance(reply, str) else getattr(reply, "text", None)
    if text is None:
        found = f"The model replied with {type(reply).__name__}; a text or a message was wanted"
        raise TypeError(f"{found}. End the chain with a model or with StrOutputParser().")
    return str(text)


# ---------------------------------------------------------------- what an answer is known by


def keys_of(model: Any) -> Callable[[Any], str]:
    """Return a function: the key under which is kept what the model replies to what it is given.

    The model is looked at once: a recording counts its replies.
    """
    identity = _identity(model)
    return lambda given: hashlib.sha256(repr([*identity, given]).encode()).hexdigest()


@contextmanager
def naming(query_id: Any) -> Iterator[None]:
    """Note on an error of the model at which query it came; its kind stays."""
    try:
        yield
    except Exception as error:
        kept = "What was finished before is kept: the same call goes on from here"
        error.add_note(f"The model failed at the query {printable(str(query_id))}. {kept}.")
        raise


def _identity(model: Any) -> list[Any]:
    """Return what the model is known by: models that could answer differently have two identities.

    LangChain's classes are known by their settings, as far as these can be written down. All else
    is known as this one object: its code may be edited, and it may hold what no one sees.
    """
    from langchain_core.language_models import BaseLanguageModel
    from langchain_core.load import dumps

    name, settings = type(model).__qualname__, model_settings(model)
    if type(model).__module__.startswith("langchain"):
        shown = dumps(model)
        is_whole = '"not_implemented"' not in shown
        shows_all = is_whole or " at 0x" not in repr(model)  # an object that shows but its address
        if isinstance(model, BaseLanguageModel) and shows_all:
            return [name, settings]
        if is_whole:  # a chain
            return [name, shown]
        return [name, settings, token(model)]
    return [name, own_state(model), token(model)]


# ---------------------------------------------------------------- the offline answerer


class ExtractiveAnswerer:
    """The offline answerer: it copies the sentences nearest to the question, and writes none.

    No language model: it cannot combine, rephrase or decline. It shows what the retrieved documents
    give, and lets a course run without a key.

    Args:
        embeddings: measure nearness, for example those of the vectorstore.
        sentences: how many are copied, in the order of nearness.

    >>> from rageval_kit import load_embeddings
    >>> answerer = ExtractiveAnswerer(load_embeddings("chars"), sentences=1)
    >>> hit = {"doc_id": "d1", "content": "It rains a lot. The capital of France is Paris."}
    >>> answerer.invoke({"question": "Which capital has France?", "documents": [hit]})
    'The capital of France is Paris.'
    """

    def __init__(self, embeddings: "Embeddings", sentences: int = 2) -> None:
        if not hasattr(embeddings, "embed_query"):
            raise wrong_type("embeddings", "an embedding model, load_embeddings()", embeddings)
        self.sentences = as_cutoff(sentences, "sentences")
        self._embeddings = embeddings
        # Of sentences seen: documents come back for other questions.
        self._vectors: dict[str, np.ndarray] = {}

    def __repr__(self) -> str:
        model = type(self._embeddings).__name__
        return f"ExtractiveAnswerer({model}, sentences={self.sentences})"

    def invoke(self, inputs: Mapping[str, Any]) -> str:
        """Return the sentences of ``inputs["documents"]`` nearest to ``inputs["question"]``."""
        if not isinstance(inputs, Mapping) or not isinstance(inputs.get("question"), str):
            raise wrong_type("inputs", "a dict with question (a text) and documents (hits)", inputs)
        found: dict[str, Any] = {"documents": inputs.get("documents")}
        hits = as_rankings(found, ("content",))["documents"]
        sentences = [sentence for hit in hits for sentence in split_sentences(hit["content"])]
        if not sentences:
            return ""

        # In the order of their cosine with the question; a vector of length 0 is near nothing.
        vectors = self._embed(sentences)
        asked = [self._embeddings.embed_query(inputs["question"])]
        (question,) = as_vectors(asked, [inputs["question"]], vectors.shape[1], "question")
        lengths = np.linalg.norm(vectors, axis=1)
        nearness = vectors @ question / np.where(lengths > 0, lengths, 1)
        nearest = np.argsort(-nearness, kind="stable")[: self.sentences]
        return " ".join(sentences[position] for position in nearest)

    def _embed(self, sentences: Sequence[str]) -> np.ndarray:
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._vectors]
        if new:
            vectors = as_vectors(self._embeddings.embed_documents(new), new, noun="sentence")
            self._vectors |= zip(new, vectors, strict=True)
        return np.stack([self._vectors[sentence] for sentence in sentences])
