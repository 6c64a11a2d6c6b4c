"""Are answers right? Against the ground truth by words, and by a chat model as judge."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rageval_kit.answers import Answers, answer_rows, fill_fenced, want_askable
from rageval_kit.asking import Asking, Request, schema_of
from rageval_kit.documents import Record
from rageval_kit.judgements import AllQA, as_queries, unanswerable
from rageval_kit.judges import VERDICTS
from rageval_kit.language import looks_like_refusal, normalised_tokens
from rageval_kit.messages import name_some
from rageval_kit.prompts import JUDGE_PROMPT, NO_ANSWER
from rageval_kit.wording import say

# ---------------------------------------------------------------- by words


def answer_accuracy(answers: Answers, all_qa: AllQA) -> pd.DataFrame:
    """Return exact match and token F1 of every answer against its ground truth, normalised.

    Normalised are Unicode form, case, punctuation, white space, English articles, and Korean
    particles and endings. F1 is SQuAD's: the harmonic mean of the shares of common tokens. Where
    all_qa says that no document answers a query (``relevant_doc_ids`` is empty), an answer that
    looks like a refusal has 1 in both, any other 0; its ground truth is not read.

    Args:
        answers: from `generate_answers`, or ``{query_id: text}``.
        all_qa: dicts with ``query_id``, ``ground_truth`` and ``relevant_doc_ids``; a query without
            the last counts as answerable.

    Returns:
        A row a query: ``exact_match`` and ``f1``, 0..1, higher is better.

    >>> all_qa = [{"query_id": "q1", "ground_truth": "The fee is 30,000 won."}]
    >>> answer_accuracy({"q1": "It is 30000 won"}, all_qa).loc["q1"].to_dict()
    {'exact_match': 0.0, 'f1': 0.75}

    Raises:
        KeyError: an answer's query is not in all_qa, or is answerable and has no ground truth.
    """
    rows = {}
    for query_id, answer, qa in _answered(answers, all_qa):
        if unanswerable(qa):
            rows[query_id] = (float(looks_like_refusal(answer)),) * 2
        else:
            rows[query_id] = _agreement(answer, qa["ground_truth"])
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["exact_match", "f1"])
    return table.rename_axis("query_id")


def _answered(answers: Answers, all_qa: AllQA) -> list[tuple[Any, str, Record]]:
    """Return each answer with its query, which has a ground truth or is unanswerable."""
    queries = {qa["query_id"]: qa for qa in as_queries(all_qa)}
    answered = answer_rows(answers)
    unknown = [query_id for query_id, _, _ in answered if query_id not in queries]
    if unknown:
        raise KeyError(f"all_qa has no query {name_some(unknown)}: leave out what it does not ask.")

    rows = [(query_id, answer, queries[query_id]) for query_id, answer, _ in answered]
    lacking = [name for name, _, qa in rows if not (has_truth(qa) or unanswerable(qa))]
    if lacking:
        what = f"No ground_truth in all_qa for {name_some(lacking)}"
        raise KeyError(f"{what}: add it, or leave their answers out.")
    return rows


def has_truth(qa: Record) -> bool:
    """Say whether a query has a ground truth; an empty text or a gap in a table (NaN) is none."""
    truth = qa.get("ground_truth")
    return isinstance(truth, str) and bool(truth.strip())


def _agreement(answer: str, truth: str) -> tuple[float, float]:
    ours, wanted = normalised_tokens(answer), normalised_tokens(truth)
    if not ours or not wanted:  # SQuAD's rule
        return float(ours == wanted), float(ours == wanted)
    common = sum((Counter(ours) & Counter(wanted)).values())
    return float(ours == wanted), 2 * common / (len(ours) + len(wanted))


# ---------------------------------------------------------------- by a judge

# A judge that is asked in Korean may say its verdict so.
_KOREAN_VERDICTS = {
    "정답": "correct", "맞음": "correct", "부분 정답": "partly", "일부 정답": "partly",
    "부분적으로 맞음": "partly", "오답": "wrong", "틀림": "wrong",
}  # fmt: skip

_FIELDS = ["verdict", "reason"]
_SCHEMA = schema_of(
    "judgement",
    "The verdict on an answer, and why in one sentence",
    {"verdict": {"type": "string", "enum": list(VERDICTS)}, "reason": {"type": "string"}},
)


def judge_answers(
    model: Any,
    all_qa: AllQA,
    answers: Answers,
    prompt: str | None = None,
    retries: int = 2,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Let a chat model judge every answer against its ground truth.

    The model is asked for structured output where it can give it, else for JSON as its whole reply:
    a verdict within other words could be quoted from the answer. A malformed reply is asked for
    again; if it stays so, the verdict is ``"unreadable"`` and the reason is the last reply, so that
    nothing is lost or counted as wrong.

    A finished verdict is kept as `generate_answers` keeps an answer: after a failure midway the
    same call goes on where it stopped. An unreadable one is asked for again in the next call.

    Args:
        model: a LangChain chat model, such as ``ChatOpenAI(model=...)``.
        all_qa: dicts with ``query_id``, ``question`` and ``ground_truth``.
        answers: from `generate_answers`, or ``{query_id: text}``.
        prompt: with ``{question}``, ``{ground_truth}`` and ``{answer}``; ``{fence}`` is a mark that
            stands in none of them. None means `JUDGE_PROMPT`, in the language of `set_language`.
            Read it: an answer may try to speak to the judge.
        retries: how often a malformed reply is asked for again.
        cache: path of an SQLite file; None keeps the verdicts in memory while Python runs.

    Returns:
        A row a query: ``verdict`` (correct, partly, wrong, unreadable) and ``reason``.

    Raises:
        KeyError: an answer's query is not in all_qa, or is answerable and has no ground truth.
        ValueError: the prompt lacks a field, or retries is not 0 or more.
    """
    prompt = say(JUDGE_PROMPT) if prompt is None else prompt
    want_askable(model, prompt, ("question", "ground_truth", "answer"))
    asking = Asking(model, _SCHEMA, retries, cache)
    answered = _answered(answers, all_qa)
    requests = [
        Request(query_id, _asked(prompt, qa, answer), _verdict_in)
        for query_id, answer, qa in answered
    ]
    replies = asking.ask(requests, "judging", "answer")

    verdicts = [reply.says or ("unreadable", reply.words) for reply in replies]
    query_ids = [query_id for query_id, _, _ in answered]
    return pd.DataFrame(verdicts, columns=_FIELDS, index=pd.Index(query_ids, name="query_id"))


def _asked(prompt: str, qa: Record, answer: str) -> str:
    """Return what the judge is asked about an answer."""
    truth = qa["ground_truth"] if has_truth(qa) else say(NO_ANSWER)
    values = {"question": str(qa.get("question", "")), "ground_truth": truth, "answer": answer}
    return fill_fenced(prompt, values)


def _verdict_in(given: Any) -> tuple[str, str] | None:
    """Return verdict and reason where both are given."""
    found = given if isinstance(given, Mapping) else {}
    verdict, reason = found.get("verdict"), found.get("reason")
    verdict = _KOREAN_VERDICTS.get(verdict, verdict) if isinstance(verdict, str) else None
    return (verdict, reason) if verdict in VERDICTS and isinstance(reason, str) else None
