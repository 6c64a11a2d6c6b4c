"""A first all_qa for documents that have none, and grades for a pool, both by a chat model.

What a model says is a suggestion: its passages are looked up in the documents, its grades carry its
name, and `judge_agreement` says how far it judges as people do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.answers import fence_for, fill, fill_fenced, want_askable
from rageval_kit.asking import Asking, Request, schema_of
from rageval_kit.comparison import as_generator
from rageval_kit.documents import Docs, Loaded, Record, as_docs, field_text, text_of
from rageval_kit.messages import as_cutoff, count, is_list, name_some, shown, warn_user, wrong_type
from rageval_kit.places import find_text, written_alike
from rageval_kit.pooling import GRADES, as_judged, read_pool
from rageval_kit.prompts import KINDS, RELEVANCE_PROMPT, SUGGEST_PROMPT
from rageval_kit.vectors import unit
from rageval_kit.wording import say, say_count

_COPIED = 0.5  # of the question, and at least so many characters: then it copies the text
_COPIED_AT_LEAST = 15
_SAME = 0.9  # cosine of character counts from which two documents are versions of one
_NAMES_A_TEXT = re.compile(
    r"\b(the|this|above|given|following|provided) (above )?"
    r"(document|text|passage|article|excerpt|context)s?\b"
    r"|\b(이|위|위의|해당|다음|주어진|제시된) (문서|글|본문|지문|텍스트)|본문에|문서에 따르면",
    re.IGNORECASE,
)


# ---------------------------------------------------------------- questions


def suggest_questions(
    docs: Docs,
    llm: Any,
    n: int = 20,
    seed: int = 0,
    cache: str | Path | None = None,
    kinds: Sequence[str] = tuple(KINDS),
    searches: Mapping[str, Any] | None = None,
    dry_run: bool = False,
) -> list[dict[str, Any]]:
    """Let a chat model write questions about documents that are drawn at random: a first all_qa.

    Each question comes with its answer and the passages that give it. A passage that is not found
    in the document, but for white space and the shape of quotes, is asked for again; where none is
    found in three replies, the question is left out and a warning names it. The reply to a prompt
    is kept at once: after a failure midway the same call goes on where it stopped.

    Such questions are easier than people's: read them, and their ``marks`` first.

    Args:
        docs: the corpus, or its chunks.
        llm: a LangChain chat model, such as ``ChatOpenAI(model=...)``.
        n: how many questions; each kind is asked at most once of a document.
        seed: which documents are drawn; the same seed gives the same prompts.
        cache: path of an SQLite file; None keeps the replies in memory while Python runs.
        kinds: of `KINDS`, in turn.
        searches: ``{"name": vectorstore, ...}``, whatever `search_all` searches: a question whose
            document each of them has at rank 1 is marked, since it tells no two of them apart.
        dry_run: print the first prompt (`SUGGEST_PROMPT`) and what all of them cost, and ask
            nothing; the list is empty then.

    Returns:
        Dicts with ``query_id`` (s001, ...), ``question``, ``kind``, ``ground_truth``,
        ``relevant_doc_ids`` (grade 3; 2 for each of several), ``relevant_passages`` with their
        place, and ``marks``: "copies the text", "speaks of the document", "asked twice", "found
        first by every search" (in every language, since code compares them). Unanswerable ones have
        no document: whether another one answers them, a pool that is judged tells.

    Raises:
        ValueError: n is larger than documents times kinds, or there is no such kind.
        TypeError: llm cannot be asked; docs are none.
    """
    records, n, rng = as_docs(docs, ("doc_id", "content")), as_cutoff(n, "n"), as_generator(seed)
    want_askable(llm, SUGGEST_PROMPT, ())
    if searches is not None and not isinstance(searches, Mapping):
        raise wrong_type("searches", 'a dict such as {"name": vectorstore}', searches)
    drawn = list(_draw(records, n, _as_kinds(kinds), rng))
    asking = Asking(llm, _QUESTION, 2, cache)
    requests = [_question_request(number, *of) for number, of in enumerate(drawn, start=1)]
    if not isinstance(dry_run, bool):
        raise wrong_type("dry_run", "True or False", dry_run)
    if dry_run:
        asking.print_cost(requests)
        return []

    # What was said, and where its passages stand.
    replies = asking.ask(requests, "suggesting", "question")
    queries, left_out = [], []
    for request, (kind, _), reply in zip(requests, drawn, replies, strict=True):
        if reply.says is None:
            left_out.append(f"{request.name} ({kind})")
        else:
            queries.append({"query_id": request.name, "kind": kind, **reply.says})
    if left_out:
        what = "left out: no question whose passages are in the documents came for"
        warn_user(f"{what} {name_some(left_out)}. Ask another model, or take them as they are.")

    for qa, marks in zip(queries, _marks(queries, records, searches or {}), strict=True):
        qa["marks"] = marks
    note = say(
        "{questions} suggested by the model {model}, {lost} left out",
        questions=say_count(len(queries), "question"),
        model=name_of_model(llm),
        lost=say_count(len(left_out), "question"),
    )
    return Loaded(queries, note)


_QUESTION = schema_of(
    "question",
    "A question, its answer, and the passages that give it",
    {
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "passages": {"type": "array", "items": {"type": "string"}},
    },
)


def _as_kinds(kinds: Any) -> list[str]:
    if not is_list(kinds):
        raise wrong_type("kinds", 'a list such as ["keyword", "paraphrase"]', kinds)
    chosen = list(kinds)
    odd = [kind for kind in chosen if not isinstance(kind, str) or kind not in KINDS]
    if odd or not chosen:
        found = f"kinds: {shown(odd[0])} is not one" if odd else "kinds is empty"
        raise ValueError(f"{found}. Choose of: {', '.join(KINDS)}.")
    return list(dict.fromkeys(chosen))


def _draw(
    docs: Sequence[Record], n: int, kinds: Sequence[str], rng: np.random.Generator
) -> Iterator[tuple[str, list[Record]]]:
    """Draw kinds in turn and documents at random, so that no two are asked alike."""
    with_text = [doc for doc in docs if field_text(doc, "content").strip()]
    if n > len(with_text) * len(kinds):
        there = f"{count(len(with_text), 'document')} with a text and {count(len(kinds), 'kind')}"
        raise ValueError(f"n={n:,} is too many for {there}. Choose a smaller n.")
    if "several documents" in kinds and len(with_text) < 2:
        raise ValueError('kinds: "several documents" needs two. Leave it out.')

    order = rng.permutation(len(with_text)).tolist()
    vectors = _vectors(with_text) if "several documents" in kinds else np.empty(0)
    for number in range(n):
        turn, place = divmod(number, len(order))
        row, kind = order[place], kinds[(place + turn) % len(kinds)]
        rows = [row, _neighbour(vectors, row)] if kind == "several documents" else [row]
        yield kind, [with_text[row] for row in rows]


def _vectors(docs: Sequence[Record]) -> np.ndarray:
    """Return the documents as vectors of their characters, of length 1."""
    from rageval_kit.embeddings import load_embeddings

    return unit(np.array(load_embeddings("chars").embed_documents([text_of(doc) for doc in docs])))


def _neighbour(vectors: np.ndarray, row: int) -> int:
    """Return the document that is most alike and, if there is one, no version of this one."""
    alike = vectors @ vectors[row]
    others = np.flatnonzero(np.arange(len(alike)) != row)
    no_versions = others[alike[others] < _SAME]
    among = no_versions if no_versions.size else others
    return int(among[np.argmax(alike[among])])


def _question_request(number: int, kind: str, docs: Sequence[Record]) -> Request:
    texts = [text_of(doc) for doc in docs]
    fence = fence_for(texts)
    documents = "\n\n".join(f"<document {fence}>\n{text}\n</document {fence}>" for text in texts)
    values = {"documents": documents, "kind": say(KINDS[kind]), "fence": fence}

    def read(given: Any) -> dict[str, Any] | None:
        return _read_question(given, docs, kind)

    return Request(f"s{number:03}", fill(say(SUGGEST_PROMPT), values), read)


def _read_question(given: Any, docs: Sequence[Record], kind: str) -> dict[str, Any] | None:
    """Return a question with its answer and where its passages stand; None if one is not found."""
    found = given if isinstance(given, Mapping) else {}
    question, answer, texts = (found.get(field) for field in ("question", "answer", "passages"))
    if not (isinstance(question, str) and question.strip() and isinstance(answer, str)):
        return None
    if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        return None
    if kind == "unanswerable":
        empty: dict[str, Any] = {"relevant_doc_ids": {}, "relevant_passages": []}
        return None if texts else {"question": question.strip(), **empty}

    # Every passage stands in a document, and every document has one.
    passages = [_place(text, docs) for text in texts]
    if None in passages or not answer.strip():
        return None
    placed = [passage for passage in passages if passage is not None]
    if {passage["doc_id"] for passage in placed} != {doc["doc_id"] for doc in docs}:
        return None
    grade = 3 if len(docs) == 1 else 2
    return {
        "question": question.strip(),
        "ground_truth": answer.strip(),
        "relevant_doc_ids": {doc["doc_id"]: grade for doc in docs},
        "relevant_passages": placed,
    }


def _place(text: str, docs: Sequence[Record]) -> dict[str, Any] | None:
    """Return where a passage stands first, as it is written there; None where it does not."""
    for doc in docs if written_alike(text) else ():
        content = field_text(doc, "content")
        for start, end in find_text(text, content)[:1]:
            passage = {"doc_id": doc["doc_id"], "text": content[start:end]}
            return {**passage, "start": start, "end": end}
    return None


def _marks(
    queries: Sequence[Record], docs: Sequence[Record], searches: Mapping[str, Any]
) -> Iterator[list[str]]:
    """Yield for each question what should make one look twice."""
    contents = {doc["doc_id"]: text_of(doc) for doc in docs}
    keys = [" ".join(re.findall(r"\w+", qa["question"].lower())) for qa in queries]
    easy = _found_first(queries, searches)
    for place, (qa, key) in enumerate(zip(queries, keys, strict=True)):
        sources = [contents[doc_id] for doc_id in qa["relevant_doc_ids"]]
        found = {
            "copies the text": any(_copies(qa["question"], text) for text in sources),
            "speaks of the document": _NAMES_A_TEXT.search(qa["question"]) is not None,
            "asked twice": key in keys[:place],
            "found first by every search": qa["query_id"] in easy,
        }
        yield [mark for mark, holds in found.items() if holds]


def _copies(question: str, text: str) -> bool:
    ours, theirs = written_alike(question).lower(), written_alike(text).lower()
    longest = SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match().size
    return longest >= max(_COPIED_AT_LEAST, _COPIED * len(ours))


def _found_first(queries: Sequence[Record], searches: Mapping[str, Any]) -> set[Any]:
    """Return the queries for which every search has a relevant document at rank 1."""
    from rageval_kit.search import search_all

    easy = {qa["query_id"]: qa["relevant_doc_ids"] for qa in queries if qa["relevant_doc_ids"]}
    asked = [qa for qa in queries if qa["query_id"] in easy]
    for store in searches.values() if asked else ():
        results = search_all(store, asked, k=1)
        first = {
            query_id: {hit["doc_id"] for hit in hits[:1]} for query_id, hits in results.items()
        }
        easy = {query_id: docs for query_id, docs in easy.items() if first[query_id] & docs.keys()}
    return set(easy) if searches else set()


# ---------------------------------------------------------------- grades


def judge_relevance(
    pool: pd.DataFrame,
    docs: Docs,
    llm: Any,
    cache: str | Path | None = None,
    prompt: str | None = None,
    retries: int = 2,
    dry_run: bool = False,
) -> pd.DataFrame:
    """Let a chat model grade every query and document of a pool, on the scale of `GRADES`.

    It is a model's opinion, and says so: ``judge`` names it, here and in `add_judgements`. Models
    are kinder than people, above all to texts that models wrote: judge a part yourself, and look at
    `judge_agreement`. The reply to a prompt is kept at once: after a failure midway the same call
    goes on where it stopped; a malformed one is asked for again in the next call too.

    Args:
        pool: from `pool_results`.
        docs: what is judged.
        llm: a LangChain chat model, such as ``ChatOpenAI(model=...)``.
        cache: path of an SQLite file; None keeps the grades in memory while Python runs.
        prompt: with ``{question}`` and ``{document}``; ``{grades}`` is the scale, and ``{fence}`` a
            mark that stands in neither of them. None means `RELEVANCE_PROMPT`, in the language of
            `set_language`.
        retries: how often a malformed reply is asked for again.
        dry_run: print the first prompt and what all of them cost, and ask nothing.

    Returns:
        A row a query and document, in the order of the pool: ``query_id, doc_id, grade`` (0 to 3;
        NA where no reply could be read), ``judge`` ("model: " and its name) and ``reason``.

    Raises:
        KeyError: a document of the pool is not in docs.
        ValueError: the prompt lacks a field, or retries is not 0 or more.
        TypeError: llm cannot be asked; the pool is none.
    """
    prompt = say(RELEVANCE_PROMPT) if prompt is None else prompt
    want_askable(llm, prompt, ("question", "document"))
    pairs, asking = read_pool(pool, docs), Asking(llm, _GRADE, retries, cache)
    requests = [_grade_request(prompt, pair) for pair in pairs]
    if not isinstance(dry_run, bool):
        raise wrong_type("dry_run", "True or False", dry_run)
    if dry_run:
        asking.print_cost(requests)
        pairs, requests = [], []

    replies = asking.ask(requests, "judging", "document")
    said = [reply.says or (None, reply.words) for reply in replies]
    judge = f"model: {name_of_model(llm)}"
    judged = as_judged(
        (pair["query_id"], pair["doc_id"], grade, judge)
        for pair, (grade, _) in zip(pairs, said, strict=True)
    )
    return judged.assign(reason=[reason for _, reason in said])


_GRADE = schema_of(
    "judgement",
    "How well a document answers a question, and why in one sentence",
    {"grade": {"type": "integer", "enum": list(GRADES)}, "reason": {"type": "string"}},
)


def _grade_request(prompt: str, pair: Record) -> Request:
    values = {"question": pair["question"], "document": text_of(pair)}
    scale = "\n".join(f"{grade}: {say(said)}" for grade, said in GRADES.items())
    text = fill_fenced(prompt, values, grades=scale)
    return Request(f"{pair['query_id']} -> {pair['doc_id']}", text, _read_grade)


def _read_grade(given: Any) -> tuple[int, str] | None:
    found = given if isinstance(given, Mapping) else {}
    grade, reason = found.get("grade"), found.get("reason")
    return (
        (grade, reason)
        if type(grade) is int and grade in GRADES and isinstance(reason, str)
        else None
    )


def name_of_model(llm: Any) -> str:
    """Return what a chat model is called: its own name, else its class."""
    while hasattr(llm, "bound"):  # with_retry(), bind()
        llm = llm.bound
    names = (getattr(llm, field, None) for field in ("model_name", "model"))
    return next((name for name in names if isinstance(name, str) and name), type(llm).__name__)
