"""Keep every vector of an embeddings model in a file: what `cached_embeddings` returns.

LangChain's own ``CacheBackedEmbeddings`` keeps nothing until the last batch is there, and takes one
model for another of the same namespace.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from rageval_kit.cache import Cache, open_cache, session_in
from rageval_kit.identity import is_known, model_name, model_settings
from rageval_kit.messages import is_list, wrong_type
from rageval_kit.vectors import (
    BATCH,
    CHARACTERS,
    EmbeddingError,
    Side,
    ask,
    batches,
    forget_probe,
    probe,
    was_refused,
)


class CachedEmbeddings(Embeddings):
    """An embeddings model, ``inner``, and the file that keeps its vectors."""

    def __init__(
        self,
        inner: Embeddings,
        path: str | Path | None,
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
        if not is_list(texts) or not all(isinstance(text, str) for text in texts):
            raise wrong_type("texts", "a list of texts", texts)
        return self._embed(texts, "document")

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text as a query."""
        if not isinstance(text, str):
            raise wrong_type("text", "a text", text)
        if is_known(self.inner):
            return self._embed([text], "query")[0]
        return self._request([text], "query")[0].tolist()

    def kept(self, texts: Iterable[str]) -> set[str]:
        """Return which texts the file holds of this model, on either side; nobody is asked.

        The model is known by its name and settings here: of a service that answers otherwise since,
        they will be asked for again.
        """
        kinds = [self._kind(side) for side in ("document", "query")]
        with open_cache(self._path) as stored:
            models = [model for kind in kinds for model in stored.models_of(kind)]
            return {text for model in models for text in stored.vectors(model[0], texts, model[1])}

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

        return stored.known_model(self._kind(side), vector), len(vector)

    def _kind(self, side: str) -> str:
        """Return what a model is kept under, with its probe."""
        # A setting may act where the probe does not show it. One's own class may count in public.
        settings = repr(model_settings(self.inner)) if is_known(self.inner) else ""
        return f"{side} of {model_name(self.inner)} {settings}"

    def _ask(
        self, stored: Cache, model: str, width: int, texts: list[str], side: Side
    ) -> dict[str, np.ndarray]:
        """Ask for the vectors and keep them; halve what is refused, until the text is found."""
        try:
            vectors = self._request(texts, side, width)
        except EmbeddingError as error:
            self._probes.clear()
            forget_probe(self.inner)
            if len(texts) == 1 or not was_refused(error.__cause__):
                raise
            half = len(texts) // 2
            parts = (texts[:half], texts[half:])
            first, second = (self._ask(stored, model, width, part, side) for part in parts)
            return first | second

        # All zeros are what a server sends that is not well: asked again the next time.
        found = dict(zip(texts, vectors, strict=True))
        stored.keep_vectors(model, {text: found[text] for text in texts if found[text].any()})
        return found

    def _request(self, texts: list[str], side: Side, width: int | None = None) -> np.ndarray:
        self._wait()
        place = self._path or "memory"
        kept = f"What was embedded before is kept in {place}: the same call goes on from there."
        self.requests += 1
        vectors = ask(self.inner, texts, noun="text", side=side, width=width, kept=kept)
        self.texts += len(texts)
        self.characters += sum(map(len, texts))
        return vectors

    def _wait(self) -> None:
        if self._limiter:
            self._limiter.acquire()


_shared_in: ContextVar[tuple[Path | None] | None] = ContextVar("shared_in", default=None)


@contextmanager
def shared_work(path: Path | None) -> Iterator[None]:
    """Let stores that are built in the block pay for no text twice, and searches for no question.

    Args:
        path: of a file that keeps vectors and hits; None keeps them in memory while Python runs.
    """
    token = _shared_in.set((path,))
    try:
        with nullcontext() if path is None else session_in(path):
            yield
    finally:
        _shared_in.reset(token)


def shared(embeddings: Any) -> Any:
    """Return the model as a block of `shared_work` asks it, and elsewhere as it is.

    One that is not told by its probe, of a class of one's own, stays as it is.
    """
    where = _shared_in.get()
    if where is None or isinstance(embeddings, CachedEmbeddings) or not is_known(embeddings):
        return embeddings
    return CachedEmbeddings(embeddings, where[0], BATCH, CHARACTERS, None)


def _limiter(requests_per_minute: float | None) -> Any:
    from langchain_core.rate_limiters import InMemoryRateLimiter

    if requests_per_minute is None:
        return None
    return InMemoryRateLimiter(
        requests_per_second=requests_per_minute / 60, check_every_n_seconds=0.01, max_bucket_size=1
    )
