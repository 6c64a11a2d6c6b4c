"""A LangChain retriever over an index of the kit's: what `build_bm25` returns."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from rageval_kit.messages import as_cutoff, count
from rageval_kit.search import Index


class IndexRetriever(BaseRetriever):
    """Gives the first ``k`` documents of a question; `search_all` asks the index itself."""

    k: int = 4
    _index: Index = PrivateAttr()

    def __init__(self, index: Index, **fields: Any) -> None:
        super().__init__(**fields)
        self._index = index

    def __repr__(self) -> str:
        return f"{self._index.model} of {count(self._index.size, 'document')}, k={self.k}"

    __str__ = __repr__

    def as_index(self) -> Index:
        """Return the index."""
        return self._index

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        asked = self._index.embed([self._index.asked(query)])
        (ranking,) = self._index.search(asked, as_cutoff(self.k))
        return [self._index.stored(at) for at, _ in ranking]
