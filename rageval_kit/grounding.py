"""Does an answer stand on its sources? The keyword-overlap screen: cheap, and blind to paraphrase."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from rageval_kit.language import Tokenizer, content_words, is_refusal, occurs
from rageval_kit.messages import name_some

Answers: TypeAlias = pd.DataFrame | Mapping[Any, str]

_BANDS = ((0.9, "faithful"), (0.5, "partly from elsewhere"), (0.0, "probably not grounded"))


class Faithfulness(NamedTuple):
    """The result of `faithfulness`: ``score`` is supported / (supported + unsupported), NaN where neither is.

    Attributes:
        score: 0..1, higher is better; NaN for an empty answer, one of stop words alone, or a refusal.
        band: faithful (0.9 and more), partly from elsewhere (0.5 to 0.9), probably not grounded (below
            0.5), or why there is no score: empty answer, no content words, refusal.
        supported, unsupported: the content words (stems) that the sources hold, and those they do not.
    """

    score: float
    band: str
    supported: list[str]
    unsupported: list[str]


def faithfulness(
    answer: str, sources: str | Sequence[str], tokenizer: Tokenizer = content_words
) -> Faithfulness:
    """Return the share of the answer's content words that occur in the sources, and which do.

    A first, cheap screen: a paraphrase ("crash" for "stop abnormally") is not recognised, and a false
    sentence made of the sources' words passes. A judge model sees more, see `judge_answers`.

    Args:
        answer: the generated text.
        sources: the documents that the answer was to be made from.
        tokenizer: turns a text into content words; `kiwi_words` analyses Korean more finely.

    >>> source = "VACUUM은 삭제된 행이 차지하던 저장 공간을 정리하여 다시 쓰게 한다."
    >>> faithfulness("VACUUM은 저장 공간을 정리하는 명령이다. 백업도 만든다.", source)
    Faithfulness(score=0.666..., band='partly from elsewhere', supported=['vacuum', '저장', '공간', '정리'], ...)
    """
    if not isinstance(answer, str):
        raise TypeError(f"The answer must be a text, found {type(answer).__name__}.")
    texts = [sources] if isinstance(sources, str) else sources
    if isinstance(texts, Mapping) or not all(isinstance(text, str) for text in texts):
        raise TypeError(
            'sources must be a text or a list of texts, for example [hit["content"] for hit in hits].'
        )
    if not answer.strip():
        return Faithfulness(float("nan"), "empty answer", [], [])
    text = "\n".join(texts)
    words, known = tokenizer(answer), set(tokenizer(text))
    supported = [word for word in words if word in known or occurs(word, text)]
    unsupported = [word for word in words if word not in supported]
    if is_refusal(answer):
        return Faithfulness(float("nan"), "refusal", supported, unsupported)
    if not words:
        return Faithfulness(float("nan"), "no content words", [], [])
    score = len(supported) / len(words)
    return Faithfulness(
        score, next(band for least, band in _BANDS if score >= least), supported, unsupported
    )


def faithfulness_frame(
    answers: Answers,
    results: Mapping[Any, Sequence[Mapping[str, Any]]],
    tokenizer: Tokenizer = content_words,
) -> pd.DataFrame:
    """Screen every answer: a row a query with ``faithfulness``, ``band``, ``supported``, ``unsupported``.

    Args:
        answers: from `generate_answers` (then only the documents that an answer saw are its sources), or
            ``{query_id: text}`` (then all its hits are).
        results: the hits with their ``content``.
        tokenizer: see `faithfulness`.

    Raises:
        KeyError: there are no results for an answer's query, they lack a document that the answer saw, or a hit
            has no content.
    """
    rows = {}
    for query_id, answer, seen in answer_rows(answers):
        if query_id not in results:
            raise KeyError(
                f"results has no query {query_id!r}, which was answered: give the results it was made from."
            )
        found = faithfulness(answer, _sources(results[query_id], seen, query_id), tokenizer)
        rows[query_id] = (found.score, found.band, found.supported, found.unsupported)
    columns = ["faithfulness", "band", "supported", "unsupported"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("query_id")


def _sources(
    hits: Sequence[Mapping[str, Any]], seen: Sequence[str] | None, query_id: Any
) -> list[str]:
    sources = [hit for hit in hits if seen is None or hit["doc_id"] in seen]
    unknown = sorted(set(seen or ()) - {hit["doc_id"] for hit in sources})
    if unknown:
        raise KeyError(
            f"{query_id}: the answer saw {name_some(unknown)}, which results does not hold: "
            "give the results it was made from."
        )
    if any("content" not in hit for hit in sources):
        raise KeyError(
            f"{query_id}: the hits have no content to compare with. search_all(...) gives it."
        )
    return [f"{hit.get('title') or ''}\n{hit['content']}" for hit in sources]


def answer_rows(answers: Answers) -> list[tuple[Any, str, list[str] | None]]:
    """Return (query_id, answer, doc_ids seen or None) of each answer, in either of its forms."""
    if isinstance(answers, pd.DataFrame):
        if "answer" not in answers:
            raise KeyError(f"answers needs a column answer; found {', '.join(map(str, answers))}.")
        seen = answers["doc_ids"] if "doc_ids" in answers else [None] * len(answers)
        rows = list(zip(answers.index, answers["answer"], seen, strict=True))
    elif isinstance(answers, Mapping):
        rows = [(query_id, answer, None) for query_id, answer in answers.items()]
    else:
        raise TypeError(
            f"answers must be a DataFrame or {{query_id: text}}, found {type(answers).__name__}."
        )
    for query_id, answer, _ in rows:
        if not isinstance(answer, str):
            raise TypeError(
                f'{query_id}: the answer must be a text, found {answer!r}. Write "" for an empty answer.'
            )
    return rows
