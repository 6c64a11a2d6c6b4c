"""Keep every vector of an embeddings model in a file: nothing is paid for twice.

LangChain's own ``CacheBackedEmbeddings`` keeps nothing until the last batch is there, and takes one
model for another of the same namespace.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from rageval_kit.cache import Cache, open_cache
from rageval_kit.identity import is_known, model_name, model_settings
from rageval_kit.messages import as_cutoff, is_number, shown, wrong_type
from rageval_kit.vectors import (
    BATCH,
    CHARACTERS,
    EmbeddingError,
    Side,
    ask,
    batches,
    probe,
    was_refused,
)


def cached_embeddings(
    embeddings: Embeddings,
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

    >>> from rageval_kit import load_embeddings
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
    if not hasattr(embeddings, "embed_query"):
        wanted = "a LangChain Embeddings object such as load_embeddings()"
        raise wrong_type("embeddings", wanted, embeddings)
    if path is None:
        raise wrong_type("path", 'the path of a file such as "vectors.sqlite"', path)
    limit = requests_per_minute
    if limit is not None and not (is_number(limit) and 0 < limit < float("inf")):
        raise ValueError(f"requests_per_minute must be a positive number, found {shown(limit)}.")
    sizes = as_cutoff(batch, "batch"), as_cutoff(characters, "characters")
    with open_cache(path):  # a file that cannot be used is said here, and not after the first batch
        return CachedEmbeddings(embeddings, path, *sizes, limit)


class CachedEmbeddings(Embeddings):
    """An embeddings model with its file, from `cached_embeddings`."""

    def __init__(
        self,
        inner: Embeddings,
        path: str | Path,
        batch: int,
        characters: int,
        requests_per_minute: float | None,
    ) -> None:
        self.inner = inner
        self.texts = self.characters = self.requests = 0
        self._path, self._sizes = path, (batch, characters)
        self._probes: dict[tuple[Side, str], np.ndarray] = {}
        self._limiter = _limiter(requests_per_minute)

    def __repr__(self) -> str:
        return f"cached_embeddings({model_name(self.inner)}, {str(self._path)!r})"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector a text, asking for what is not kept."""
        return self._embed(texts, "document")

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text as a query."""
        if is_known(self.inner):
            return self._embed([text], "query")[0]
        return self._request([text], "query")[0].tolist()

    def _embed(self, texts: Sequence[str], side: Side) -> list[list[float]]:
        with open_cache(self._path) as stored:
            model, width = self._model(stored, side)
            vectors = stored.vectors(model, dict.fromkeys(texts), width)
            missing = [text for text in dict.fromkeys(texts) if text not in vectors]
            for part in batches(missing, *self._sizes):
                vectors |= self._ask(stored, model, width, missing[part], side)
        return [vectors[text].tolist() for text in texts]

    def _model(self, stored: Cache, side: Side) -> tuple[str, int]:
        """Return the name of the model in the file, and its dimensions: by its probe."""
        settings = repr(model_settings(self.inner))
        if (side, settings) not in self._probes:
            self._wait()
            self._probes[side, settings] = probe(self.inner, side)
        vector = self._probes[side, settings]

        # A setting may act where the probe does not show it. One's own class may count in public.
        settings = settings if is_known(self.inner) else ""
        kind = f"{side} of {model_name(self.inner)} {settings}"
        return stored.known_model(kind, vector), len(vector)

    def _ask(
        self, stored: Cache, model: str, width: int, texts: list[str], side: Side
    ) -> dict[str, np.ndarray]:
        """Ask for the vectors and keep them; halve what is refused, until the text is found."""
        try:
            vectors = self._request(texts, side, width)
        except EmbeddingError as error:
            if len(texts) == 1 or not was_refused(error.__cause__):
                raise
            half = len(texts) // 2
            parts = (texts[:half], texts[half:])
            first, second = (self._ask(stored, model, width, part, side) for part in parts)
            return first | second

        found = dict(zip(texts, vectors, strict=True))
        stored.keep_vectors(model, found)
        return found

    def _request(self, texts: list[str], side: Side, width: int | None = None) -> np.ndarray:
        self._wait()
        kept = (
            f"What was embedded before is kept in {self._path}: the same call goes on from there."
        )
        self.requests += 1
        vectors = ask(self.inner, texts, noun="text", side=side, width=width, kept=kept)
        self.texts += len(texts)
        self.characters += sum(map(len, texts))
        return vectors

    def _wait(self) -> None:
        if self._limiter:
            self._limiter.acquire()


def _limiter(requests_per_minute: float | None) -> Any:
    from langchain_core.rate_limiters import InMemoryRateLimiter

    if requests_per_minute is None:
        return None
    return InMemoryRateLimiter(
        requests_per_second=requests_per_minute / 60, check_every_n_seconds=0.01, max_bucket_size=1
    )
