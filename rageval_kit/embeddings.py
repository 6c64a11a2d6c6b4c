"""Turn a short name into a LangChain Embeddings object, and keep the vectors of any in a file.

Every LangChain ``Embeddings`` object works in place of what `load_embeddings` returns; the names
here are a convenience, and the first two run without a network or a key.
"""

import os
import warnings
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rageval_kit.cache import open_cache
from rageval_kit.messages import as_cutoff, is_number, name_some, shown, wrong_type
from rageval_kit.vectors import BATCH, CHARACTERS

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from rageval_kit.embedding_cache import CachedEmbeddings
    from rageval_kit.short_embeddings import ShortEmbeddings

DEFAULT_EMBEDDINGS = "use-multilingual"

# The models that run offline, and their classes.
_OFFLINE = {
    DEFAULT_EMBEDDINGS: "SentenceEncoderEmbeddings",
    "chars": "CharacterEmbeddings",
    "e5-small": "E5Embeddings",
    "minilm": "MiniLMEmbeddings",
    "static:wordllama": "WordLlamaEmbeddings",
}
_NAMES = (*_OFFLINE, "openai:text-embedding-3-small")


def load_embeddings(name: str = DEFAULT_EMBEDDINGS, **settings: Any) -> "Embeddings":
    """Return the embeddings called ``name``.

    Args:
        name: one of

            * ``"use-multilingual"``: universal-sentence-encoder-multilingual, 512 dimensions,
              length 1, Korean and English in one space, offline;
            * ``"chars"``: hashed character n-grams, a lexical baseline for any language, offline;
            * ``"e5-small"``: multilingual-e5-small in 4 bits, 384 dimensions, length 1, Korean and
              English, offline, with the extra e5. On data/campus better than the default in Korean
              and worse in English; tens of times slower, about a second a page;
            * ``"static:wordllama"``: a vector a word piece, and their mean: English, 256 dimensions
              that may be cut, offline, with the extra static; the quickest;
            * ``"minilm"``: all-MiniLM-L6-v2, English, 384 dimensions, offline, with the extra
              minilm;
            * ``"openai:MODEL"``: OpenAI's, or any server that speaks its protocol (set
              OPENAI_BASE_URL; a server on your own machine needs no key). A request waits 60
              seconds for its answer and is tried again up to 4 times;
            * ``"PROVIDER:MODEL"``: whatever LangChain's ``init_embeddings`` knows.
        settings: passed on to LangChain's class of the provider, such as ``dimensions=256`` of
            OpenAI. The models that run offline have none; `shorten` cuts the vectors of any.

    >>> len(load_embeddings().embed_query("어텐션이란 무엇인가?"))
    512

    Raises:
        TypeError: the name is not a text, or a setting is not known.
        ValueError: the name is not known, a setting has a wrong value, or an OpenAI model is asked
            for and no key is set.
        ImportError: the provider's package is not installed.
    """
    if not isinstance(name, str):
        raise wrong_type("name", f'a name such as "{DEFAULT_EMBEDDINGS}"', name)

    # The models that run offline.
    if name in _OFFLINE:
        if settings:
            raise TypeError(
                f"load_embeddings({name!r}) has no settings, found {name_some(list(settings))}. "
                f"To cut its vectors: shorten(load_embeddings({name!r}), 256)."
            )
        return getattr(import_module("rageval_kit.local_embeddings"), _OFFLINE[name])()

    # A provider and its model.
    if not all(name.partition(":")):
        near = get_close_matches(name, _NAMES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"No embeddings are called {name!r}.{hint} "
            f'Choose {", ".join(map(repr, _NAMES))} or "provider:model".'
        )
    return _load_from_provider(name, settings)


def _load_from_provider(name: str, settings: dict[str, Any]) -> "Embeddings":
    """Return the embeddings of a provider, or say what it refuses."""
    provider, _, model = name.partition(":")
    if "model" in settings:
        raise TypeError(f"model={shown(settings['model'])}: the model is in the name, {name!r}.")
    if "dimensions" in settings:
        as_cutoff(settings["dimensions"], "dimensions")

    # An error of the provider's class gets the name before it.
    make = _openai_embeddings if provider == "openai" else _of_provider
    try:
        return make(provider, model, settings)
    except ImportError as error:
        raise ImportError(f"load_embeddings({name!r}): {str(error).strip()}.") from error
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"load_embeddings({name!r}): {_reason(error)}") from error


def _of_provider(provider: str, model: str, settings: dict[str, Any]) -> "Embeddings":
    from langchain_classic.embeddings import init_embeddings
    from langchain_core.embeddings import Embeddings

    with warnings.catch_warnings():
        # It advises the package langchain, which brings an agent framework for this one function.
        warnings.filterwarnings("ignore", message=".*init_embeddings.* was deprecated")
        # With a provider given it is never the Runnable of its type hint.
        return cast(Embeddings, init_embeddings(model, provider=provider, **settings))


def _openai_embeddings(_: str, model: str, settings: dict[str, Any]) -> "Embeddings":
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    is_own_server = any(os.environ.get(f"OPENAI_{name}") for name in ("BASE_URL", "API_BASE"))
    if not key and not is_own_server and not settings.keys() & {"api_key", "base_url"}:
        raise ValueError(
            "it needs an OpenAI key, and OPENAI_API_KEY is not set. "
            "Set it (Linux, macOS: export OPENAI_API_KEY=...; Windows: setx OPENAI_API_KEY ... and "
            "open a new terminal), or use load_embeddings(), which runs offline."
        )
    from langchain_openai import OpenAIEmbeddings

    # What LangChain does not know would be sent on, and fail in each request.
    fields = OpenAIEmbeddings.model_fields
    known = {*fields, *(field.alias for field in fields.values() if field.alias)}
    for unknown in settings.keys() - known:
        near = get_close_matches(unknown, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else " OpenAIEmbeddings(...) lists them."
        raise TypeError(f"there is no setting {unknown}.{hint}")

    # The length check would download a tokenizer file, and other servers do not take token lists.
    usual: dict[str, Any] = {
        "api_key": key or "no key is needed",
        "check_embedding_ctx_length": False,
        "timeout": 60,
        "max_retries": 4,
    }
    return OpenAIEmbeddings(model=model, **usual | settings)


def _reason(error: Exception) -> str:
    """Return what a class refuses, without the value, which may be a key."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        wrong = error.errors()
        # Pydantic's own path goes on behind the setting, through all that it may be.
        return "; ".join(dict.fromkeys(f"{its['loc'][0]}: {its['msg']}" for its in wrong)) + "."
    said = str(error).strip()
    return said if said.endswith((".", "?")) else f"{said}."


# ---------------------------------------------------------------- kept in a file


def cached_embeddings(
    embeddings: "Embeddings",
    path: str | Path,
    batch: int = BATCH,
    characters: int = CHARACTERS,
    requests_per_minute: float | None = None,
) -> "CachedEmbeddings":
    """Return embeddings that ask the model for what the file does not hold yet, and keep it.

    Each answered request is kept at once, for every store, chunking and later session: after a
    failure the same call goes on where it stopped. A vector is kept under its text, its side
    (document or query) and its model, which is known by what it answers to one fixed text: two
    models in one file are never mixed. Of a model of your own class only documents are kept, since
    its queries may change where that text does not show it.

    Args:
        embeddings: any LangChain ``Embeddings`` object, for example from `load_embeddings`.
        path: of an SQLite file, made if it is not found; the ``cache=`` of `search_all` may be the
            same. Processes and threads may share it.
        batch: how many texts a request holds at most.
        characters: how many characters a request holds at most; a longer text is asked alone.
        requests_per_minute: how many requests are sent at most; None is no limit.

    Returns:
        LangChain ``Embeddings``, which count what they asked the model for: ``texts``,
        ``characters`` and ``requests`` (without one short text a side and session, by which the
        model is known).

    >>> path = getfixture("tmp_path") / "vectors.sqlite"
    >>> embeddings = cached_embeddings(load_embeddings("chars"), path)
    >>> vectors = embeddings.embed_documents(["one", "two", "one"])
    >>> again = embeddings.embed_documents(["two", "three"])
    >>> embeddings.texts, embeddings.characters, embeddings.requests
    (3, 11, 2)

    Raises:
        TypeError: it is no embeddings model, or the path is none.
        ValueError: a limit is not positive, or the file cannot be used. When embedding: the model
            failed; the message names the texts, and a text that a service refuses is found.
    """
    from rageval_kit.embedding_cache import CachedEmbeddings

    _refuse_no_embeddings(embeddings)
    if path is None:
        raise wrong_type("path", 'the path of a file such as "vectors.sqlite"', path)
    limit = requests_per_minute
    if limit is not None and not (is_number(limit) and 0 < limit < float("inf")):
        raise ValueError(f"requests_per_minute must be a positive number, found {shown(limit)}.")

    # A file that cannot be used is said here, and not after the first batch.
    sizes = as_cutoff(batch, "batch"), as_cutoff(characters, "characters")
    with open_cache(path):
        return CachedEmbeddings(embeddings, path, *sizes, limit)


# ---------------------------------------------------------------- cut


def shorten(embeddings: "Embeddings", dimensions: int) -> "ShortEmbeddings":
    """Return embeddings whose vectors are the first ``dimensions`` numbers, of length 1 again.

    An index is then as much smaller and faster. Models that were trained for it (Matryoshka,
    Kusupati et al. 2022: OpenAI's text-embedding-3 and others) lose little; any other can be cut
    too, and loses what `evaluate` shows. `cached_embeddings` may stand inside, so that one whole
    vector is paid for and cut to every size: ``shorten(cached_embeddings(model, path), 256)``.

    Args:
        embeddings: any LangChain ``Embeddings`` object, for example from `load_embeddings`.
        dimensions: how many numbers a vector keeps, at most as many as the model gives.

    >>> short = shorten(load_embeddings(), 256)
    >>> vector = short.embed_query("What comes first?")
    >>> len(vector), round(sum(number**2 for number in vector), 6)
    (256, 1.0)

    Raises:
        TypeError: it is no embeddings model.
        ValueError: dimensions is not a positive integer. When embedding: the model gives fewer.
    """
    from rageval_kit.short_embeddings import ShortEmbeddings

    _refuse_no_embeddings(embeddings)
    return ShortEmbeddings(embeddings, as_cutoff(dimensions, "dimensions"))


def _refuse_no_embeddings(embeddings: object) -> None:
    if not hasattr(embeddings, "embed_query"):
        wanted = "a LangChain Embeddings object such as load_embeddings()"
        raise wrong_type("embeddings", wanted, embeddings)
