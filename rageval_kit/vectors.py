"""Ask an embeddings model for vectors: in batches, checked, and its failures in a sentence.

What a model answers to one fixed text, its *probe*, is what it is known by: two deployments, two
prompts or two models of one name give it two vectors.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from rageval_kit.identity import (
    is_known,
    model_name,
    model_settings,
    token,
    without_cache,
    without_credentials,
)
from rageval_kit.messages import count, describe, name_some, wrong_type

Side: TypeAlias = Literal["query", "document"]

# A request holds no more: an API takes 300,000 tokens, and a Korean letter may be two.
BATCH, CHARACTERS = 64, 100_000

# A text that is no user's, and long enough for prompts, languages and word lists to show.
PROBE = (
    "The library behind the old harbour lends 37 maps of towns that no longer exist, and asks "
    "what the sea was called there. 옛 항구 뒤의 도서관은 이제 없는 마을의 지도 서른일곱 장을 "
    "빌려주며, 그곳에서 바다를 무엇이라 불렀는지 묻는다."
)

# A service gives one text not quite the same numbers each time: a cosine of 0.9999, as a distance.
_APART = 0.0141


# What searches and stores needed since Python started, whether it was kept or asked for anew.
needed: Counter[str] = Counter()


def note_needed(texts: Sequence[str]) -> None:
    """Count texts that a store or a search needs the vectors of."""
    needed.update(texts=len(texts), characters=sum(map(len, texts)))


class EmbeddingError(ValueError):
    """An embeddings model that failed or gave no vectors, in a sentence."""


# ---------------------------------------------------------------- asking


def ask(
    embeddings: Any,
    texts: Sequence[str],
    names: Sequence[str] = (),
    noun: str = "document",
    side: Side = "document",
    width: int | None = None,
    kept: str = "",
) -> np.ndarray:
    """Return a vector a text: float32 of shape (texts, dimensions), in one request.

    Args:
        embeddings: any LangChain ``Embeddings`` object.
        texts: not more than a request holds, see `batches`.
        names: what an error calls each; its first words where there are none.
        noun: what the texts are.
        side: ``"query"`` asks text by text, as a model wants its questions.
        width: dimensions that are wanted; None where the first vector decides.
        kept: a sentence for an error: what was not lost.

    Raises:
        EmbeddingError: the model failed, or gave no vector, NaN or another width.
        TypeError: it is no embeddings model.
    """
    if not hasattr(embeddings, f"embed_{side}" + "s" * (side == "document")):
        wanted = "a LangChain Embeddings object such as load_embeddings()"
        raise wrong_type("embeddings", wanted, embeddings)
    names = names or [first_words(text) for text in texts]
    if side == "query" and len(texts) > 1:
        several = [
            ask(embeddings, [text], [name], noun, side, width, kept)
            for text, name in zip(texts, names, strict=True)
        ]
        return np.concatenate(several)

    try:
        if side == "query":
            embedded = [embeddings.embed_query(texts[0])]
        else:
            embedded = embeddings.embed_documents(list(texts))
    except EmbeddingError:
        raise  # a wrapper of the kit's has said it
    except Exception as error:
        what = f"{count(len(texts), noun)} ({name_some(names)})"
        raise EmbeddingError(_sentence(embeddings, error, what, kept)) from error
    return as_vectors(embedded, names, width, noun)


def batches(texts: Sequence[str], most: int = BATCH, characters: int = CHARACTERS) -> list[slice]:
    """Return the parts of a list of texts that are a request each, in order.

    By number and by size; a text that is longer than a request holds is one of its own.

    >>> [(part.start, part.stop) for part in batches(["ab", "c", "defg", "h"], 3, characters=4)]
    [(0, 2), (2, 3), (3, 4)]
    """
    parts, start, size = [], 0, 0
    for at, text in enumerate(texts):
        if at > start and (at - start == most or size + len(text) > characters):
            parts.append(slice(start, at))
            start, size = at, 0
        size += len(text)
    return [*parts, slice(start, len(texts))] if texts else []


def first_words(text: str) -> str:
    """Return what names a text that has no id.

    >>> first_words("A text that goes on for longer than a line of an error message should be.")
    '"A text that goes on for longer than a..."'
    """
    words = " ".join(text[:200].split())
    return f'"{words}"' if len(words) <= 40 else f'"{words[:40].rsplit(" ", 1)[0]}..."'


# ---------------------------------------------------------------- failures


def was_refused(error: BaseException | None) -> bool:
    """Say whether a service refused what it was sent: one text may be why, the others are good."""
    return _status(error) in (400, 413, 422)


def _status(error: BaseException | None) -> int | None:
    """Return the HTTP status of a provider's error, whichever client raised it."""
    response = getattr(error, "response", None)
    return getattr(error, "status_code", None) or getattr(response, "status_code", None)


def _sentence(embeddings: Any, error: Exception, what: str, kept: str) -> str:
    """Say what failed, on which texts, what was kept, and what to do."""
    status, message = _status(error), without_credentials(" ".join(str(error).split()))
    if "encoding_format" in message or "base64" in message:
        cure = _CURES["base64"]
    elif "timeout" in type(error).__name__.lower():
        cure = _CURES["timeout"]
    else:
        cure = _CURES.get(status, "Look at the model or its server, and call again.")
    said = f"{type(error).__name__}: {message[:300]}".strip(": ").rstrip(".")
    return " ".join(
        filter(None, [f"{model_name(embeddings)} failed on {what}: {said}.", kept, cure])
    )


_KEY = "Look at the key (OPENAI_API_KEY for OpenAI), and at what it may use."
_TEXT = "Is a text too long, or empty? Shorten or split it; cached_embeddings(...) finds which."
_CURES: dict[int | str | None, str] = {
    400: _TEXT, 413: _TEXT, 422: _TEXT, 401: _KEY, 403: _KEY,
    404: "Look at the model's name and the server's address.",
    429: (
        "The provider's limit is reached: wait, or ask more slowly with "
        "cached_embeddings(embeddings, path, requests_per_minute=...)."
    ),
    "base64": (
        'The server cannot send base64: OpenAIEmbeddings(..., check_embedding_ctx_length=False, '
        'model_kwargs={"encoding_format": "float"}) asks for plain numbers.'
    ),
    "timeout": "The server did not answer in time: look whether it runs, and call again.",
}  # fmt: skip


# ---------------------------------------------------------------- what a model is known by


def probe(embeddings: Any, side: Side, width: int | None = None) -> np.ndarray:
    """Return the vector of one fixed text: float32 of shape (dimensions,).

    Asked once while Python runs where the model cannot change unseen. A wrapper that keeps vectors
    is passed by: what it has kept may be another model's.
    """
    model = without_cache(embeddings)
    known = (token(model), repr(model_settings(model)), side) if is_known(model) else None
    if known in _probes:
        return _probes[known]
    (vector,) = ask(model, [PROBE], ["that the kit knows a model by"], "text", side, width)
    if known:
        _probes[known] = vector
    return vector


_probes: dict[Any, np.ndarray] = {}


def forget_probe(embeddings: Any) -> None:
    """Ask the model anew at the next time: it failed, and may have failed at its probe already."""
    name = token(without_cache(embeddings))
    for known in [known for known in _probes if known[0] == name]:
        del _probes[known]


def alike(one: np.ndarray, other: np.ndarray, apart: float = _APART) -> bool:
    """Say whether two vectors are of one model and one text, but for a service's noise.

    >>> alike(np.array([1.0, 0.0]), np.array([1.0, 0.01])), alike(np.eye(2)[0], np.eye(2)[1])
    (True, False)
    """
    if one.shape != other.shape:
        return False
    return bool(np.linalg.norm(one - other) <= apart * np.linalg.norm(one))


# ---------------------------------------------------------------- vectors


def as_vectors(
    embedded: Any, names: Sequence[str], width: int | None = None, noun: str = "document"
) -> np.ndarray:
    """Return what a model gave as float32 of shape (names, width), or say which is wrong.

    Args:
        embedded: a vector a name.
        names: what an error calls each: doc_ids, or the questions themselves.
        width: dimensions that are wanted; None where the first vector decides.
        noun: what the names are.

    >>> as_vectors([[0.6, 0.8], [1.0]], ["doc_001", "doc_002"])
    Traceback (most recent call last):
    rageval_kit.vectors.EmbeddingError: The embeddings gave 1 number for the document doc_002;
    a vector of 2 numbers was wanted. ...

    Raises:
        ValueError: the vectors are too few, of several widths, not of numbers, NaN or infinite.
    """
    # A table of numbers, a row a name, ...
    vectors = _as_numbers(embedded)
    if vectors is None or vectors.ndim != 2 or vectors.shape[1] != (width or vectors.shape[1]):
        raise _no_vectors(embedded, names, width, noun)
    if len(vectors) != len(names) or not vectors.size:
        raise _no_vectors(embedded, names, width, noun)

    # ... and all of them finite.
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
    if broken:
        raise EmbeddingError(
            f"The embeddings gave NaN or infinite numbers for the {noun} "
            f"{name_some([names[position] for position in broken])}. "
            "Look at the text and at the model: such a vector is never found."
        )
    return vectors


def refuse_zeros(lengths: np.ndarray, names: Sequence[str], noun: str = "document") -> None:
    """Refuse a vector of zeros: by distance it stands before every match with a cosine below 0.5.

    Args:
        lengths: of the vectors, one a name.
        names: what an error calls each.
        noun: what the names are.

    >>> refuse_zeros(np.array([1.0, 0.0]), ["doc_001", "doc_002"])
    Traceback (most recent call last):
    rageval_kit.vectors.EmbeddingError: All numbers are 0 in the vector of the document doc_002.
    Such a vector ...
    """
    zeros = np.flatnonzero(lengths == 0).tolist()
    if zeros:
        raise EmbeddingError(
            f"All numbers are 0 in the vector of the {noun} "
            f"{name_some([names[position] for position in zeros])}. Such a vector has no "
            "direction, and by distance stands before every bad match. Look at the text and at the "
            f"model; leave the {noun} out, or embed it again and rebuild."
        )


def _as_numbers(embedded: Any) -> np.ndarray | None:
    try:
        with np.errstate(over="ignore"):  # becomes infinite, which is refused
            return np.asarray(embedded, dtype=np.float32)
    except (TypeError, ValueError):  # of several widths, or not of numbers
        return None


def _no_vectors(
    embedded: Any, names: Sequence[str], width: int | None, noun: str
) -> EmbeddingError:
    """Return the error for the first of the vectors that is none."""
    # Not one a name.
    is_list = hasattr(embedded, "__len__") and not isinstance(embedded, (str, Mapping))
    if not is_list or len(embedded) != len(names):
        found = count(len(embedded), "vector") if is_list else describe(embedded)
        return EmbeddingError(
            f"The embeddings gave {found} for {count(len(names), noun)} ({name_some(names)}); "
            "one vector each was wanted. Look at the model."
        )

    # The first of another width than the others, or without numbers.
    widths = [_width(vector) for vector in embedded]
    width = width or max(widths[0], 1)
    at = next((at for at, its in enumerate(widths) if its != width), 0)
    found = count(widths[at], "number") if widths[at] else describe(embedded[at])
    return EmbeddingError(
        f"The embeddings gave {found} for the {noun} {names[at]}; a vector of "
        f"{count(width, 'number')} was wanted. Embed documents and questions with one model, or "
        "rebuild the vectorstore with this one."
    )


def _width(vector: Any) -> int:
    """Return how many numbers a vector has; 0 if it is none."""
    numbers = _as_numbers(vector)
    return len(numbers) if numbers is not None and numbers.ndim == 1 else 0


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors scaled to length 1; one of zeros stays as it is.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
