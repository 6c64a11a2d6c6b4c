"""Say what embedding will cost before anything is asked: texts, characters, tokens, money."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import pandas as pd

from rageval_kit.documents import Docs
from rageval_kit.identity import without_cache
from rageval_kit.judgements import AllQA, as_queries
from rageval_kit.messages import is_number, name_some, shown, wrong_type
from rageval_kit.vectorstore import to_documents

# Tokens a character, at least and at most: of Latin letters, digits and blanks; of Korean, Chinese
# and Japanese; of all else. The tokenizers of OpenAI (cl100k_base, o200k_base), Voyage and
# XLM-RoBERTa (E5, BGE, Cohere) stay within on the kit's data; one that knows no Korean, such as
# Llama 2's, takes up to 2.2 tokens a syllable.
_LATIN, _ASIAN, _OTHER = (1 / 5, 1 / 3), (1 / 2, 3 / 2), (1 / 4, 3)
_ASIAN_LETTERS = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]")


def estimate_cost(
    docs: Docs, all_qa: AllQA, model: Any, prices: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return how many texts, characters and tokens will be embedded, and for how much money.

    The model is never called. Tokens are counted where the model is OpenAI's and its tokenizer is
    installed (the extra tiktoken, which brings the file that tiktoken itself would download); else
    they are between a low and a high number: a token is 3 to 5 Latin characters, and a Korean,
    Chinese or Japanese one is half a token to one and a half. ``.attrs["tokens"]`` says which.

    No price is built in, since prices move: look yours up.

    Args:
        docs: the documents, as for `build_vectorstore`.
        all_qa: the queries, as for `search_all`; a question asked twice is embedded once.
        model: its name ("openai:text-embedding-3-small"), or a LangChain ``Embeddings`` object. Of
            `cached_embeddings` the texts are left out that its file holds of this model, if the
            service still answers as it did when they were kept.
        prices: money for a million tokens, by name of the model: ``{"text-embedding-3-small":
            0.02}``; None leaves the money out.

    Returns:
        The rows ``documents``, ``questions`` and ``total``; the columns ``texts``, ``kept`` (that
        cost nothing any more), ``characters``, ``tokens_low``, ``tokens_high`` and, with prices,
        ``money_low`` and ``money_high``. One short text a side, by which the kit knows a model, is
        not counted.

    >>> docs = [{"doc_id": "A", "title": "", "content": "Retrieval comes first. " * 100}]
    >>> all_qa = [{"query_id": "q1", "question": "무엇이 먼저인가?"}]
    >>> cost = estimate_cost(docs, all_qa, "voyageai:voyage-3.5", {"voyage-3.5": 0.06})
    >>> cost[["texts", "kept", "characters", "tokens_low", "tokens_high"]]
               texts  kept  characters  tokens_low  tokens_high
    documents      1     0        2299         459          767
    questions      1     0           9           3           12
    total          2     0        2308         462          779

    Raises:
        TypeError: model is neither a name nor an embeddings model, or prices is no dict.
        KeyError: prices has no such model; or as `build_vectorstore` and `search_all`.
        ValueError: a price is no number from 0 up; or as these.
    """
    name = _name(model)
    price = None if prices is None else _price(prices, name)
    questions = [qa["question"] for qa in as_queries(all_qa, ("query_id", "question"))]
    texts = {
        "documents": [document.page_content for document in to_documents(docs)],
        "questions": list(dict.fromkeys(questions)),
    }

    # What is kept costs nothing, and a text that stands twice is asked for once.
    cache, rows = _cache_in(model), {}
    encoding, counted = _encoding(name)
    for what, its in texts.items():
        kept = cache.kept(its) if cache else set()
        asked = [text for text in (dict.fromkeys(its) if cache else its) if text not in kept]
        low, high = _tokens(asked, encoding)
        rows[what] = {
            "texts": len(asked),
            "kept": len(kept),
            "characters": sum(map(len, asked)),
            "tokens_low": low,
            "tokens_high": high,
        }

    table = pd.DataFrame.from_dict(rows, orient="index")
    table.loc["total"] = table.sum()
    if price is not None:
        table["money_low"] = table["tokens_low"] * price / 1_000_000
        table["money_high"] = table["tokens_high"] * price / 1_000_000
    table.attrs = {"model": name, "tokens": counted}
    return table


# ---------------------------------------------------------------- the model


def _name(model: Any) -> str:
    """Return the name of the model, by which its price is known."""
    if isinstance(model, str) and model.strip():
        return model
    if isinstance(model, type) or not hasattr(model, "embed_query"):
        raise wrong_type("model", 'a name such as "openai:text-embedding-3-small"', model)
    while inner := getattr(without_cache(model), "inner", None):  # of shortened vectors
        model = inner
    model = without_cache(model)
    names = (getattr(model, field, None) for field in ("model", "model_name"))
    return next((name for name in names if isinstance(name, str)), type(model).__name__)


def _cache_in(model: Any) -> Any:
    """Return the cache that the model is, or that is inside it; None if there is none."""
    while model is not None and not hasattr(type(model), "kept"):
        model = getattr(model, "inner", None)
    return model


def _price(prices: Any, name: str) -> float:
    """Return the price of a million tokens, by the model's name with its provider or without."""
    if not isinstance(prices, Mapping):
        raise wrong_type("prices", '{"text-embedding-3-small": 0.02}, by a million tokens', prices)
    found = [its for its in (name, name.rpartition(":")[2]) if its in prices]
    if not found:
        near = get_close_matches(name, [its for its in prices if isinstance(its, str)], n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise KeyError(
            f"prices has no {name}; it has {name_some(list(prices)) or 'none'}.{hint} Give the "
            "price of a million tokens, 0 for a model on your own machine."
        )
    price = prices[found[0]]
    if not is_number(price) or not 0 <= price < float("inf"):
        raise ValueError(
            f"prices[{found[0]!r}] must be a number from 0 up, by a million tokens, found "
            f"{shown(price)}."
        )
    return float(price)


# ---------------------------------------------------------------- tokens


def _encoding(name: str) -> tuple[Any, str]:
    """Return OpenAI's tokenizer of the model if it is installed, else None; and what was done."""
    try:
        import tiktoken

        known = tiktoken.encoding_name_for_model(name.rpartition(":")[2])
        its = f"{known}_offline"  # tiktoken's own would be downloaded
        if its in tiktoken.list_encoding_names():
            return tiktoken.get_encoding(its), f"counted with {known}"
    except (ImportError, KeyError):
        pass
    return None, "between low and high, from the characters"


def _tokens(texts: Sequence[str], encoding: Any) -> tuple[int, int]:
    """Return how many tokens the texts have, at least and at most."""
    if encoding:
        whole = (text.encode("utf-8", "replace").decode() for text in texts)
        tokens = sum(len(encoding.encode_ordinary(text)) for text in whole)
        return tokens, tokens
    return _bounds(texts, 0), _bounds(texts, 1)


def _bounds(texts: Iterable[str], side: int) -> int:
    """Return the tokens at least (side 0) or at most (side 1).

    >>> _bounds(["다섯 글자야"], 0), _bounds(["다섯 글자야"], 1)
    (2, 8)
    """
    tokens = 0.0
    for text in texts:
        asian = len(_ASIAN_LETTERS.findall(text))
        latin = sum(map(str.isascii, text))
        other = len(text) - asian - latin
        tokens += latin * _LATIN[side] + asian * _ASIAN[side] + other * _OTHER[side]
    return math.ceil(tokens) if side else math.floor(tokens)
