"""Cut every vector of an embeddings model to its first numbers: what `shorten` returns."""

from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from rageval_kit.identity import model_name, without_cache
from rageval_kit.messages import count
from rageval_kit.vectors import EmbeddingError, as_vectors, first_words, unit


class ShortEmbeddings(Embeddings):
    """An embeddings model, ``inner``, of whose vectors only the first ``dimensions`` are used."""

    def __init__(self, inner: Embeddings, dimensions: int) -> None:
        self.inner, self.dimensions = inner, dimensions

        # What keeps vectors inside is passed by where the model is asked what it is known by.
        bare = without_cache(inner)
        self._without_cache = None if bare is inner else ShortEmbeddings(bare, dimensions)

    def __repr__(self) -> str:
        return f"shorten({model_name(self.inner)}, {self.dimensions})"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector a text, cut and of length 1 again."""
        return self._cut(self.inner.embed_documents(texts), texts) if texts else []

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text as a query, cut and of length 1 again."""
        return self._cut([self.inner.embed_query(text)], [text])[0]

    def _cut(self, embedded: Any, texts: list[str]) -> list[list[float]]:
        vectors = as_vectors(embedded, [first_words(text) for text in texts], noun="text")
        if vectors.shape[1] < self.dimensions:
            raise EmbeddingError(
                f"shorten(..., {self.dimensions}) wants more numbers than there are: a vector of "
                f"{model_name(self.inner)} has {count(vectors.shape[1], 'number')}. Choose fewer."
            )
        return unit(np.asarray(vectors[:, : self.dimensions])).tolist()
