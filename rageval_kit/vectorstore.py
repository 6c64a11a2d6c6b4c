"""Build, save and load a FAISS vectorstore through LangChain.

The only file that imports ``langchain_community``. The text of a document in the store is its
title, a line break, and its content; ``doc_id`` and ``title`` are in the metadata.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rageval_kit.documents import Docs, as_docs, one_line, text_of
from rageval_kit.embeddings import embeddings_name
from rageval_kit.messages import name_some, show_progress

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

_BATCH = 64
_INDEX, _DOCUMENTS, _SETTINGS = "index.npy", "documents.jsonl", "settings.json"


def build_vectorstore(docs: Docs, embeddings: "Embeddings") -> "FAISS":
    """Embed every document and return LangChain's FAISS store, exact search by squared L2 distance.

    Args:
        docs: dicts with ``doc_id``, ``title``, ``content`` (or a DataFrame); the order is kept.
        embeddings: from `load_embeddings`, or any LangChain ``Embeddings`` object.

    Returns:
        The store; its scores are squared L2 distances, **lower is better**. For vectors of length 1
        a distance d is a cosine of 1 - d / 2.

    Raises:
        ValueError: no document, a repeated or empty doc_id, no text, or a vector with NaN.
        TypeError: docs is not a list of dicts, or a doc_id is not a text.
    """
    faiss_store = _import_faiss_store()
    documents = to_documents(docs)
    if not documents:
        raise ValueError("The corpus is empty: build_vectorstore needs at least one document.")
    vectors = embed_documents(documents, embeddings)
    return faiss_store.from_embeddings(
        [
            (document.page_content, vector)
            for document, vector in zip(documents, vectors, strict=True)
        ],
        embeddings,
        metadatas=[document.metadata for document in documents],
        ids=[document.id for document in documents],
    )


def add_documents(vectorstore: "FAISS", docs: Docs) -> None:
    """Embed more documents and add them behind those that the store already holds.

    LangChain's own ``add_documents`` adds the vector before it notices a clashing id, and every
    later search fails; here a doc_id that is already in the store is refused first.

    Raises:
        ValueError, TypeError: as `build_vectorstore`, and for a doc_id that the store already holds.
    """
    documents = to_documents(docs)
    clashing = sorted(
        {str(document.id) for document in documents}
        & set(vectorstore.index_to_docstore_id.values())
    )
    if clashing:
        raise ValueError(
            f"doc_ids already in the vectorstore: {name_some(clashing)}. Leave them out, or build it anew."
        )
    if not documents:
        return
    vectors = embed_documents(documents, vectorstore.embedding_function)
    _refuse_other_width(vectors.shape[1], vectorstore)
    vectorstore.add_embeddings(
        [
            (document.page_content, vector)
            for document, vector in zip(documents, vectors, strict=True)
        ],
        metadatas=[document.metadata for document in documents],
        ids=[str(document.id) for document in documents],
    )


def to_documents(docs: Docs) -> list["Document"]:
    """Return the docs as LangChain documents, in the form that `build_vectorstore` embeds."""
    return [_as_document(doc) for doc in as_docs(docs, ("doc_id", "content"))]


def _as_document(doc: Mapping[str, Any]) -> "Document":
    from langchain_core.documents import Document

    text = text_of(doc)
    if not text:
        raise ValueError(
            f"{doc['doc_id']} has neither a title nor a content: there is nothing to embed."
        )
    metadata = {"doc_id": doc["doc_id"], "title": one_line(doc, "title")}
    return Document(id=doc["doc_id"], page_content=text, metadata=metadata)


def embed_documents(documents: list["Document"], embeddings: "Embeddings") -> np.ndarray:
    """Embed in batches, with a progress bar when it takes longer than a few seconds: shape (n, dimensions)."""
    if not hasattr(embeddings, "embed_documents"):
        raise TypeError(
            f"A LangChain Embeddings object is wanted, found {type(embeddings).__name__}: use load_embeddings(...)."
        )
    starts = range(0, len(documents), _BATCH)
    batches = []
    for start in show_progress(starts, "embedding", "batch"):
        batch = documents[start : start + _BATCH]
        vectors = np.asarray(
            embeddings.embed_documents([document.page_content for document in batch]),
            dtype=np.float32,
        )
        _refuse_bad_vectors(vectors, [str(document.id) for document in batch])
        batches.append(vectors)
    return np.concatenate(batches)


def _refuse_bad_vectors(vectors: np.ndarray, names: Sequence[str]) -> None:
    if vectors.ndim != 2 or len(vectors) != len(names):
        raise ValueError(
            f"The embeddings gave an array of shape {vectors.shape} for {len(names)} texts; wanted one vector a text."
        )
    broken = [
        name for name, vector in zip(names, vectors, strict=True) if not np.isfinite(vector).all()
    ]
    if broken:
        raise ValueError(
            f"The embeddings gave NaN or infinite numbers for {name_some(broken)}. "
            "Look at these texts and at the model: such a vector is never found."
        )


def _refuse_other_width(width: int, vectorstore: "FAISS") -> None:
    if width != vectorstore.index.d:
        raise ValueError(
            f"The vectorstore holds vectors of {vectorstore.index.d} dimensions, the embeddings give {width}. "
            "Use the embeddings it was built with, or build it anew."
        )


# ---------------------------------------------------------------- save and load


def save_vectorstore(vectorstore: "FAISS", folder: str | Path) -> None:
    """Write the store to a folder as a FAISS index, JSON lines and JSON: no pickle.

    An existing store in the folder is replaced.
    """
    import faiss

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "embeddings": embeddings_name(vectorstore.embedding_function),
        "dimensions": vectorstore.index.d,
        "normalize_L2": vectorstore._normalize_L2,
        "distance_strategy": vectorstore.distance_strategy.value,
    }
    lines = [
        json.dumps(
            {"id": document.id, "text": document.page_content, "metadata": document.metadata},
            ensure_ascii=False,
        )
        for document in stored_documents(vectorstore)
    ]
    # Through numpy, because FAISS itself cannot open a path with Korean letters on Windows.
    np.save(folder / _INDEX, faiss.serialize_index(vectorstore.index), allow_pickle=False)
    documents = "".join(line + "\n" for line in lines)
    settings["documents_sha256"] = hashlib.sha256(documents.encode("utf-8")).hexdigest()
    (folder / _DOCUMENTS).write_text(documents, encoding="utf-8", newline="\n")
    (folder / _SETTINGS).write_text(json.dumps(settings, indent=1), encoding="utf-8", newline="\n")


def load_vectorstore(folder: str | Path, embeddings: "Embeddings") -> "FAISS":
    """Read a store that `save_vectorstore` wrote; it searches as before, to the last bit.

    Args:
        folder: the folder given to `save_vectorstore`.
        embeddings: the model it was built with, for embedding the queries.

    Raises:
        FileNotFoundError: a file of the store is not there.
        ValueError: the store was built with another model, or its files do not belong together.
    """
    import faiss
    from langchain_core.documents import Document

    faiss_store = _import_faiss_store()
    folder = Path(folder)
    for name in (_INDEX, _DOCUMENTS, _SETTINGS):
        if not (folder / name).exists():
            raise FileNotFoundError(
                f"{folder / name} is not there. Write the store first: save_vectorstore(vectorstore, {str(folder)!r})."
            )
    try:
        settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        index = faiss.deserialize_index(np.load(folder / _INDEX, allow_pickle=False))
        text = (folder / _DOCUMENTS).read_text(encoding="utf-8")
        stored = [json.loads(line) for line in text.split("\n") if line]
    except (ValueError, RuntimeError, EOFError) as error:
        raise ValueError(
            f"{folder} cannot be read as a saved vectorstore ({type(error).__name__}): save it anew."
        ) from error
    if settings["embeddings"] != embeddings_name(embeddings):
        raise ValueError(
            f"{folder} was built with {settings['embeddings']}, and {embeddings_name(embeddings)} was given. "
            "Vectors of two models cannot be compared: load it with the same model, or build it anew."
        )
    if len(stored) != index.ntotal:
        raise ValueError(
            f"{folder} holds {index.ntotal} vectors and {len(stored)} documents: build and save it anew."
        )
    if settings["documents_sha256"] != hashlib.sha256(text.encode("utf-8")).hexdigest():
        raise ValueError(
            f"{folder / _DOCUMENTS} was changed after it was saved, so its documents may not be those of the vectors: "
            "build and save it anew."
        )
    documents = {
        doc["id"]: Document(id=doc["id"], page_content=doc["text"], metadata=doc["metadata"])
        for doc in stored
    }
    store_module = _import_community("langchain_community.vectorstores.utils")
    docstore_module = _import_community("langchain_community.docstore.in_memory")
    return faiss_store(
        embeddings,
        index,
        docstore_module.InMemoryDocstore(documents),
        dict(enumerate(documents)),
        normalize_L2=settings["normalize_L2"],
        distance_strategy=store_module.DistanceStrategy(settings["distance_strategy"]),
    )


def stored_documents(vectorstore: "FAISS") -> list["Document"]:
    """Return the store's documents in the order of their vectors."""
    documents = vectorstore.docstore._dict
    return [
        documents[vectorstore.index_to_docstore_id[position]]
        for position in range(vectorstore.index.ntotal)
    ]


def _import_faiss_store() -> type["FAISS"]:
    store: type[FAISS] = _import_community("langchain_community.vectorstores.faiss").FAISS
    return store


def _import_community(module: str) -> Any:
    import importlib

    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*langchain-community.*sunset", category=DeprecationWarning
        )
        return importlib.import_module(module)
