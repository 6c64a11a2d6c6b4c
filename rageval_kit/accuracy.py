"""Are answers right? Against the ground truth by words, and by a chat model as judge."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.answers import as_text, fill, refuse_no_model
from rageval_kit.documents import as_records
from rageval_kit.grounding import Answers, answer_rows
from rageval_kit.judgements import AllQA
from rageval_kit.language import is_refusal, normalised, strip_ending
from rageval_kit.messages import name_some, show_progress

JUDGE_PROMPT = """\
You compare an answer with the ground truth. Do not use knowledge of your own.

Question: {question}
Ground truth: {ground_truth}
Answer: {answer}

Verdicts: "correct" if the answer says what the ground truth says, in whatever words; "partly" if a part \
of it is missing or an addition is wrong; "wrong" otherwise. If the ground truth is that there is no answer, \
only an answer that says so is correct.
Reply with JSON and nothing else: {"verdict": "correct", "partly" or "wrong", "reason": "one sentence"}"""

_TOKEN = re.compile(r"\d+(?:\.\d+)?|[가-힣]+|[^\W\d_가-힣]+")  # a number, Hangul, other letters
_COPULA = re.compile("(?<=[가-힣])(입니다|이다|이에요|예요)$")

VERDICTS = ("correct", "partly", "wrong")


# ---------------------------------------------------------------- by words


def answer_accuracy(answers: Answers, all_qa: AllQA) -> pd.DataFrame:
    """Return exact match and token F1 of every answer against its ground truth, after normalisation.

    Normalised are Unicode form, case, punctuation, white space, English articles, and Korean particles
    and endings. F1 is SQuAD's: the harmonic mean of the shares of common tokens. Where the ground truth
    is that the documents do not say, an answer that says so has 1 in both, any other 0.

    Args:
        answers: from `generate_answers`, or ``{query_id: text}``.
        all_qa: dicts with ``query_id`` and ``ground_truth``.

    Returns:
        A row a query: ``exact_match`` and ``f1``, 0..1, higher is better.

    Raises:
        KeyError: a query has no ground truth.
    """
    truths = _truths_of(answers, all_qa)
    rows = {
        query_id: _agreement(answer, truths[query_id])
        for query_id, answer, _ in answer_rows(answers)
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["exact_match", "f1"]).rename_axis(
        "query_id"
    )


def _truths_of(answers: Answers, all_qa: AllQA) -> dict[Any, str]:
    truths = ground_truths(all_qa)
    missing = [query_id for query_id, _, _ in answer_rows(answers) if query_id not in truths]
    if missing:
        raise KeyError(
            f"No ground_truth in all_qa for {name_some(missing)}: add it, or leave their answers out."
        )
    return truths


def ground_truths(all_qa: AllQA) -> dict[Any, str]:
    """Return the ground truth of every query that has one; a gap in a table (NaN) is none."""
    truths = {qa["query_id"]: qa.get("ground_truth") for qa in as_records(all_qa, "all_qa")}
    return {
        query_id: truth
        for query_id, truth in truths.items()
        if isinstance(truth, str) and truth.strip()
    }


def _agreement(answer: str, truth: str) -> tuple[float, float]:
    if is_refusal(truth):
        return (1.0, 1.0) if is_refusal(answer) else (0.0, 0.0)
    ours, wanted = normalised_tokens(answer), normalised_tokens(truth)
    if not ours or not wanted:  # SQuAD's rule
        return float(ours == wanted), float(ours == wanted)
    common = sum((Counter(ours) & Counter(wanted)).values())
    return float(ours == wanted), 2 * common / (len(ours) + len(wanted))


def normalised_tokens(text: str) -> list[str]:
    """Return the tokens that answers are compared by.

    >>> normalised_tokens("The fee is 30,000 won."), normalised_tokens("수수료는 30,000원이다.")
    (['fee', 'is', '30000', 'won'], ['수수료', '30000', '원'])
    """
    text = normalised(text)
    tokens = [
        (found[0], text[found.start() - 1 : found.start()].isdigit())
        for found in _TOKEN.finditer(text)
    ]
    return [
        strip_ending(_COPULA.sub("", token), least=1 if after_number else 2)
        for token, after_number in tokens
        if token not in ("a", "an", "the")
    ]


# ---------------------------------------------------------------- by a judge


_SCHEMA = {
    "title": "judgement",
    "description": "The verdict on an answer, and why",
    "type": "object",
    "properties": {
        "verdict": {
            "type": "string",
            "enum": list(VERDICTS),
            "description": "correct, partly or wrong",
        },
        "reason": {"type": "string", "description": "one sentence"},
    },
    "required": ["verdict", "reason"],
    "additionalProperties": False,
}


def judge_answers(
    model: Any,
    all_qa: AllQA,
    answers: Answers,
    prompt: str = JUDGE_PROMPT,
    retries: int = 2,
) -> pd.DataFrame:
    """Let a chat model judge every answer against its ground truth.

    The model is asked for structured output where it can give it, else for JSON in its reply. A
    malformed reply is asked for again; if it stays so, the verdict is ``"unreadable"`` and the reason
    is the last reply, so that nothing is lost or counted as wrong.

    Args:
        model: a LangChain chat model, such as ``ChatOpenAI(model=...)``.
        all_qa: dicts with ``query_id``, ``question`` and ``ground_truth``.
        answers: from `generate_answers`, or ``{query_id: text}``.
        prompt: with ``{question}``, ``{ground_truth}`` and ``{answer}``; `JUDGE_PROMPT` is worth reading.
        retries: how often a malformed reply is asked for again.

    Returns:
        A row a query: ``verdict`` (correct, partly, wrong, unreadable) and ``reason``.
    """
    for field in ("{question}", "{ground_truth}", "{answer}"):
        if field not in prompt:
            raise ValueError(f"The prompt must hold {field}, which is replaced.")
    truths = _truths_of(answers, all_qa)
    questions = {qa["query_id"]: qa.get("question", "") for qa in as_records(all_qa, "all_qa")}
    refuse_no_model(model)
    ask = _asker(model)
    rows = {}
    for query_id, answer, _ in show_progress(answer_rows(answers), "judging", "answer"):
        values = {
            "question": questions[query_id],
            "ground_truth": truths[query_id],
            "answer": answer,
        }
        rows[query_id] = _judge(ask, fill(prompt, values), retries)
    return pd.DataFrame.from_dict(rows, orient="index", columns=["verdict", "reason"]).rename_axis(
        "query_id"
    )


def _asker(model: Any) -> Callable[[str], tuple[Any, str]]:
    """Return a function from a prompt to (what the model gave as an object, its reply as text)."""
    try:
        structured = model.with_structured_output(_SCHEMA, include_raw=True)
    except (NotImplementedError, AttributeError):
        return lambda text: _read_json(as_text(model.invoke(text)))

    from openai import LengthFinishReasonError

    def ask(text: str) -> tuple[Any, str]:
        try:
            reply = structured.invoke(text)
        except (
            LengthFinishReasonError
        ) as cut:  # by the limit of tokens: one malformed reply, not the end of all
            return None, cut.completion.choices[0].message.content or ""
        return reply["parsed"], as_text(reply["raw"]) or str(
            reply["raw"].additional_kwargs.get("refusal") or ""
        )

    return ask


def _read_json(reply: str) -> tuple[Any, str]:
    found = re.search(r"\{.*\}", reply, re.DOTALL)  # models like to put words or a fence around it
    try:
        return json.loads(found[0] if found else reply), reply
    except json.JSONDecodeError:
        return None, reply


def _judge(ask: Callable[[str], tuple[Any, str]], text: str, retries: int) -> tuple[str, str]:
    reply = ""
    for _ in range(retries + 1):
        given, reply = ask(text)
        if (
            isinstance(given, dict)
            and given.get("verdict") in VERDICTS
            and isinstance(given.get("reason"), str)
        ):
            return given["verdict"], given["reason"]
    return "unreadable", reply


def judge_agreement(one: pd.DataFrame, other: pd.DataFrame) -> pd.Series:
    """Return how far two judges agree: ``n``, the share of equal verdicts, and Cohen's kappa.

    Kappa (Cohen, 1960) is agreement beyond chance: 1 full, 0 as by chance. Unreadable verdicts are left
    out and counted as ``left_out``. NaN where both judges gave one verdict throughout.

    >>> one = pd.DataFrame({"verdict": ["correct", "wrong", "wrong", "correct"]}, index=["q1", "q2", "q3", "q4"])
    >>> other = pd.DataFrame({"verdict": ["correct", "wrong", "correct", "correct"]}, index=["q1", "q2", "q3", "q4"])
    >>> float(judge_agreement(one, other)["kappa"])
    0.5
    """
    from sklearn.metrics import cohen_kappa_score

    both = one[["verdict"]].join(other[["verdict"]].add_suffix("_other"), how="inner")
    if both.empty:
        raise ValueError("The two judges have no query in common.")
    readable = both[both["verdict"].isin(VERDICTS) & both["verdict_other"].isin(VERDICTS)]
    equal = readable["verdict"] == readable["verdict_other"]
    one_verdict = len(set(readable["verdict"]) | set(readable["verdict_other"])) < 2
    kappa = (
        np.nan if one_verdict else cohen_kappa_score(readable["verdict"], readable["verdict_other"])
    )
    return pd.Series(
        {
            "n": len(readable),
            "left_out": len(both) - len(readable),
            "agreement": equal.mean(),
            "kappa": kappa,
        }
    )
