"""Does an answer stand on its sources? A screen by words: cheap, and blind to paraphrase."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from rageval_kit.answers import Answers, answer_rows
from rageval_kit.documents import text_of
from rageval_kit.language import (
    Tokenizer,
    content_words,
    language_of,
    looks_like_refusal,
    occurs,
    without_thoughts,
)
from rageval_kit.messages import is_list, name_some, shown, warn_user, wrong_type
from rageval_kit.rankings import Hit, ResultsLike, as_rankings
from rageval_kit.wording import say, to_say

_BANDS = (
    (0.9, to_say("faithful")),
    (0.5, to_say("partly from elsewhere")),
    (0.0, to_say("probably not grounded")),
)


class Faithfulness(NamedTuple):
    """The result of `faithfulness`.

    Attributes:
        score: supported / (supported + unsupported), 0..1, higher is better; NaN for an empty
            answer, one of stop words alone, or a refusal.
        band: faithful (0.9 and more), partly from elsewhere (0.5 to 0.9), probably not grounded
            (below 0.5), or why there is no score: empty answer, no content words, refusal; in the
            language of `set_language`.
        supported, unsupported: the content words (stems) that the sources hold, and the others.
    """

    score: float
    band: str
    supported: list[str]
    unsupported: list[str]


def faithfulness(
    answer: str, sources: str | Sequence[str], tokenizer: Tokenizer = content_words
) -> Faithfulness:
    """Return the share of the answer's content words that occur in the sources, and which do.

    A first, cheap screen: a paraphrase ("crash" for "stop abnormally") is not recognised, and a
    false sentence made of the sources' words passes. A judge model sees more, see `judge_answers`.

    Args:
        answer: the generated text; what a reasoning model thought before it is left out.
        sources: the documents that the answer was to be made from.
        tokenizer: turns a text into content words; `kiwi_words` analyses Korean more finely.

    >>> source = "VACUUM은 삭제된 행이 차지하던 저장 공간을 정리하여 다시 쓰게 한다."
    >>> found = faithfulness("VACUUM은 저장 공간을 정리하는 명령이다. 백업도 만든다.", source)
    >>> found.supported, found.unsupported, round(found.score, 2)
    (['vacuum', '저장', '공간', '정리'], ['백업', '만든다'], 0.67)
    """
    if not isinstance(answer, str):
        raise wrong_type("answer", "a text", answer)
    if not callable(tokenizer):
        raise wrong_type("tokenizer", "a function such as content_words", tokenizer)
    text, answer = _joined(sources), without_thoughts(answer)
    if not answer.strip():
        return Faithfulness(float("nan"), say("empty answer"), [], [])

    # A word is supported as the same word in the sources, or as a part of one.
    words, of_sources = tokenizer(answer), tokenizer(text)
    if not is_list(words) or not is_list(of_sources):
        raise wrong_type("tokenizer", "a function from a text to a list of words", tokenizer)
    known = set(of_sources)
    supported = [word for word in words if word in known or occurs(word, text)]
    unsupported = [word for word in words if word not in supported]

    if looks_like_refusal(answer):
        return Faithfulness(float("nan"), say("refusal"), supported, unsupported)
    if not words:
        return Faithfulness(float("nan"), say("no content words"), [], [])
    score = len(supported) / len(words)
    band = next(band for least, band in _BANDS if score >= least)
    return Faithfulness(score, say(band), supported, unsupported)


def _joined(sources: Any) -> str:
    texts = [sources] if isinstance(sources, str) else sources
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        wanted = 'a text or a list of texts, for example [hit["content"] for hit in hits]'
        raise wrong_type("sources", wanted, sources)
    return "\n".join(texts)


def faithfulness_frame(
    answers: Answers, results: ResultsLike, tokenizer: Tokenizer = content_words
) -> pd.DataFrame:
    """Screen every answer with `faithfulness`.

    Args:
        answers: from `generate_answers` (then only the documents that an answer saw are its
            sources), or ``{query_id: text}`` (then all its hits are).
        results: the hits with their ``content``.
        tokenizer: see `faithfulness`. `content_words` warns where it does not know the language.

    Returns:
        A row a query: ``faithfulness`` (the score), ``band``, ``supported``, ``unsupported``.

    >>> results = {"q1": [{"doc_id": "A", "content": "The parking fee is 30,000 won."}]}
    >>> table = faithfulness_frame({"q1": "The fee is 50,000 won."}, results)
    >>> table.loc["q1", ["band", "supported", "unsupported"]].to_list()
    ['partly from elsewhere', ['fee', 'won'], ['50000']]

    Raises:
        KeyError: there are no results for an answer's query, they lack a document that the answer
            saw, or a hit has no content.
    """
    rankings = as_rankings(results, want=("content",))
    answered = answer_rows(answers)
    unknown = [query_id for query_id, _, _ in answered if query_id not in rankings]
    if unknown:
        found = f"results has no query {name_some(unknown)}, which was answered"
        raise KeyError(f"{found}: give the results it was made from.")
    rows, texts = {}, []
    for query_id, answer, seen in answered:
        sources = _sources(rankings[query_id], seen, query_id)
        rows[query_id] = tuple(faithfulness(answer, sources, tokenizer))
        texts += sources[:1]
    if tokenizer is content_words and language_of(" ".join(texts)) is None:
        warn_user(
            "The sources seem to be in a language without a record in rageval_kit.language: every "
            "word counts, function words too, and in one form only. Pass a tokenizer of your own."
        )

    columns = ["faithfulness", *Faithfulness._fields[1:]]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("query_id")


def _sources(hits: Sequence[Hit], seen: Sequence[str] | None, query_id: Any) -> list[str]:
    sources = [hit for hit in hits if seen is None or hit["doc_id"] in seen]
    if not all(isinstance(doc_id, (str, int)) for doc_id in seen or ()):
        raise TypeError(f"{query_id}: doc_ids must be a list of doc_ids, found {shown(seen)}.")
    unknown = sorted(set(seen or ()) - {hit["doc_id"] for hit in sources})
    if unknown:
        found = f"{query_id}: the answer saw {name_some(unknown)}, which results does not hold"
        raise KeyError(f"{found}: give the results it was made from.")
    return [text_of(hit) for hit in sources]
