"""Build, save and load a FAISS vectorstore through LangChain.

The only file that imports ``langchain_community`` and knows how its store keeps things. The text of
a document in the store is its title, a line break, and its content; ``doc_id`` and ``title`` are in
the metadata.
"""

import hashlib
import io
import json
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np

from rageval_kit.documents import Docs, as_docs, one_line, read_document, text_of
from rageval_kit.files import as_path, make_folder, write_whole
from rageval_kit.identity import model_name
from rageval_kit.messages import count, describe, name_some, show_progress, wrong_type

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

_BATCH = 64  # documents embedded together
_BLOCK = 10_000  # stored vectors read together

# The files of a saved store. The settings name the other two, which every save calls anew.
_SETTINGS = "settings.json"
_DATA = re.compile(r"(index|documents)(-[0-9a-f]{16})?\.(npy|jsonl)")
_LEFT_OVER = 3600  # seconds after which no save still runs
_DATE = "__date__"  # the one field of a date in a document's metadata


def build_vectorstore(docs: Docs, embeddings: "Embeddings") -> "FAISS":
    """Embed every document and return LangChain's FAISS store, exact search by squared L2 distance.

    Args:
        docs: dicts with ``doc_id``, ``title``, ``content``, a DataFrame, or LangChain documents;
            the order is kept.
        embeddings: from `load_embeddings`, or any LangChain ``Embeddings`` object.

    Returns:
        The store; its scores are squared L2 distances, **lower is better**. For vectors of length 1
        a distance d is a cosine of 1 - d / 2.

    >>> from rageval_kit.embeddings import load_embeddings
    >>> docs = [{"doc_id": "doc_001", "title": "RAG", "content": "Retrieval comes first."}]
    >>> build_vectorstore(docs, load_embeddings("chars")).index.ntotal
    1

    Raises:
        ValueError: no document, a repeated or empty doc_id, no text, or a vector with NaN
            or of zeros.
        KeyError: a document has no doc_id or content.
        TypeError: docs is not a list of documents, or a doc_id is not a text.
    """
    documents = to_documents(docs)
    if not documents:
        raise ValueError("The corpus is empty: build_vectorstore needs at least one document.")
    return assemble(documents, flat_index(embed_documents(documents, embeddings)), embeddings)


def add_documents(vectorstore: "FAISS", docs: Docs) -> None:
    """Embed more documents and add them behind those that the store already holds.

    LangChain's own ``add_documents`` adds the vector before it notices a clashing id, and every
    later search fails; here a doc_id that is already in the store is refused first.

    Raises:
        ValueError, KeyError, TypeError: as `build_vectorstore`; for a doc_id that the store already
            holds; and for a store that is not FAISS's.
    """
    refuse_other_stores(vectorstore)
    documents = to_documents(docs)

    # An id may be taken as doc_id, or as LangChain's own id of a document.
    held = stored_documents(vectorstore)
    taken = {read_document(document)["doc_id"] for document in held}
    taken |= set(vectorstore.index_to_docstore_id.values())
    clashing = [str(document.id) for document in documents if document.id in taken]
    if clashing:
        raise ValueError(
            f"doc_ids already in the vectorstore: {name_some(clashing)}. "
            "Leave them out, or rebuild it with build_vectorstore(...)."
        )

    if documents:
        vectors = embed_documents(
            documents, vectorstore.embedding_function, width=vectorstore.index.d
        )
        vectorstore.add_embeddings(
            zip([document.page_content for document in documents], vectors.tolist(), strict=True),
            metadatas=[document.metadata for document in documents],
            ids=[str(document.id) for document in documents],
        )


# ---------------------------------------------------------------- documents and vectors


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
    return Document(id=str(doc["doc_id"]), page_content=text, metadata=metadata)


def embed_documents(
    documents: Sequence["Document"], embeddings: "Embeddings", width: int | None = None
) -> np.ndarray:
    """Embed in batches, with a progress bar when it takes longer than a few seconds.

    Returns:
        float32 of shape (documents, dimensions); ``width`` are the dimensions that are wanted.

    Raises:
        ValueError: a vector is none, has another width, NaN, or is all zeros.
    """
    if not hasattr(embeddings, "embed_documents"):
        raise wrong_type(
            "embeddings", "a LangChain Embeddings object such as load_embeddings()", embeddings
        )
    batches: list[np.ndarray] = []
    parts = [documents[start : start + _BATCH] for start in range(0, len(documents), _BATCH)]
    for batch in show_progress(parts, "embedding", "document", len):
        embedded = embeddings.embed_documents([document.page_content for document in batch])
        names = [str(document.id) for document in batch]
        batches.append(as_vectors(embedded, names, width))
        refuse_zeros(np.linalg.norm(batches[-1], axis=1), names)
        width = batches[0].shape[1]
    return np.concatenate(batches)


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
    ValueError: The embeddings gave 1 number for the document doc_002; a vector of 2 numbers ...

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
        raise ValueError(
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
    ValueError: All numbers are 0 in the vector of the document doc_002. Such a vector ...
    """
    zeros = np.flatnonzero(lengths == 0).tolist()
    if zeros:
        raise ValueError(
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


def _no_vectors(embedded: Any, names: Sequence[str], width: int | None, noun: str) -> ValueError:
    """Return the error for the first of the vectors that is none."""
    # Not one a name.
    is_list = hasattr(embedded, "__len__") and not isinstance(embedded, (str, Mapping))
    if not is_list or len(embedded) != len(names):
        found = count(len(embedded), "vector") if is_list else describe(embedded)
        return ValueError(
            f"The embeddings gave {found} for {count(len(names), noun)} ({name_some(names)}); "
            "one vector each was wanted. Look at the model."
        )

    # The first of another width than the others, or without numbers.
    widths = [_width(vector) for vector in embedded]
    width = width or max(widths[0], 1)
    at = next((at for at, its in enumerate(widths) if its != width), 0)
    found = count(widths[at], "number") if widths[at] else describe(embedded[at])
    return ValueError(
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


# ---------------------------------------------------------------- LangChain's store from inside


def is_faiss(vectorstore: Any) -> bool:
    """Say whether it is LangChain's FAISS store."""
    return hasattr(vectorstore, "index_to_docstore_id")


def refuse_other_stores(vectorstore: Any) -> None:
    """Refuse what is not LangChain's FAISS store, whose vectors and documents can be read."""
    wanted = "a FAISS store of build_vectorstore(...)"
    if hasattr(vectorstore, "similarity_search") and not is_faiss(vectorstore):
        raise TypeError(
            f"vectorstore must be {wanted}, whose vectors and documents can be read, found "
            f"{describe(vectorstore)}. search_all(...) and evaluate(...) take any store; for this "
            "function build one of the same documents."
        )
    if not is_faiss(vectorstore):
        raise wrong_type("vectorstore", wanted, vectorstore)


def stored_documents(vectorstore: "FAISS") -> list["Document"]:
    """Return the store's documents in the order of their vectors.

    Raises:
        ValueError: a vector has no document, as after a refused add of LangChain's.
    """
    ids = [vectorstore.index_to_docstore_id.get(at) for at in range(vectorstore.index.ntotal)]
    documents = [vectorstore.docstore.search(str(doc_id)) for doc_id in ids]
    lost = [at for at, document in enumerate(documents) if isinstance(document, str)]
    if lost:
        raise ValueError(
            f"The vectorstore holds {count(len(lost), 'vector')} without a document (position "
            f"{name_some(lost)}): an add failed halfway. Rebuild it, and use add_documents(...)."
        )
    return documents


def stored_lengths(vectorstore: "FAISS") -> np.ndarray | None:
    """Return the length of every stored vector; None where the index cannot give its vectors."""
    index, lengths = vectorstore.index, []
    try:
        for start in range(0, index.ntotal, _BLOCK):
            block = index.reconstruct_n(start, min(_BLOCK, index.ntotal - start))
            lengths.append(np.linalg.norm(block, axis=1))
    except RuntimeError:  # such as an inverted file without a map
        return None
    return np.concatenate(lengths)


def stored_vectors(vectorstore: "FAISS") -> np.ndarray:
    """Return the store's vectors: float32 of shape (documents, dimensions)."""
    return vectorstore.index.reconstruct_n(0, vectorstore.index.ntotal)


def kept_settings(vectorstore: "FAISS") -> dict[str, Any]:
    """Return what LangChain's store is told beside its index: arguments of `assemble`."""
    return {
        "normalize_L2": vectorstore._normalize_L2,
        "distance_strategy": vectorstore.distance_strategy,
    }


def flat_index(vectors: np.ndarray, metric: int | None = None) -> Any:
    """Return a FAISS index that searches these vectors exactly, by squared L2 distance or else."""
    import faiss

    index = faiss.IndexFlat(vectors.shape[1], faiss.METRIC_L2 if metric is None else metric)
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return index


def assemble(
    documents: Sequence["Document"], index: Any, embeddings: "Embeddings", **settings: Any
) -> "FAISS":
    """Return LangChain's store of an index and its documents, which are in the same order."""
    store: type[FAISS] = _import_community("langchain_community.vectorstores.faiss").FAISS
    in_memory = _import_community("langchain_community.docstore.in_memory").InMemoryDocstore
    by_id = {str(document.id): document for document in documents}
    if len(by_id) != index.ntotal:
        raise ValueError(
            f"There are {index.ntotal} vectors and {len(by_id)} documents of different ids: "
            "a file was changed or an id appears twice. Rebuild the vectorstore."
        )
    return store(embeddings, index, in_memory(by_id), dict(enumerate(by_id)), **settings)


def _import_community(module: str) -> Any:
    import importlib

    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*langchain-community.*sunset", category=DeprecationWarning
        )
        return importlib.import_module(module)


# ---------------------------------------------------------------- save and load


def save_vectorstore(vectorstore: "FAISS", folder: str | Path) -> None:
    """Write the store to a folder as a FAISS index, JSON lines and JSON: no pickle.

    A save is whole or has not happened: index and documents are written under new names, and the
    settings, which name them, take the place of the old ones last and at once. Whatever breaks off
    before leaves the old store as it was. Metadata may hold dates and numpy's numbers; these come
    back as Python's.

    Raises:
        TypeError: it is not a FAISS store, or a document's metadata is not JSON.
        OSError: the folder cannot be written.
    """
    import faiss

    refuse_other_stores(vectorstore)
    folder = as_path(folder, "folder")

    # Through numpy, because FAISS itself cannot open a path with Korean letters on Windows.
    packed = io.BytesIO()
    np.save(packed, faiss.serialize_index(vectorstore.index), allow_pickle=False)
    lines = "".join(_as_line(document) + "\n" for document in stored_documents(vectorstore))
    save = token_hex(8)
    files = {
        f"index-{save}.npy": packed.getvalue(),
        f"documents-{save}.jsonl": lines.encode("utf-8", "surrogatepass"),
    }

    kept = kept_settings(vectorstore)
    settings = {
        "embeddings": model_name(vectorstore.embedding_function),
        "dimensions": vectorstore.index.d,
        "normalize_L2": kept["normalize_L2"],
        "distance_strategy": kept["distance_strategy"].value,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    }
    files |= {_SETTINGS: json.dumps(settings, indent=1).encode()}

    # The settings last; then away with what the ones before named.
    make_folder(folder)
    before = _named_files(folder)
    write_whole({folder / name: data for name, data in files.items()})
    _tidy(folder, before)


def _named_files(folder: Path) -> set[str]:
    """Return the files that the settings in the folder name; none where they cannot be read."""
    try:
        return set(json.loads((folder / _SETTINGS).read_bytes())["sha256"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _tidy(folder: Path, before: set[str]) -> None:
    """Delete the files that the settings named before, and what killed saves have left behind.

    A file that no settings name may be of a save that still runs, in another session: it stays for
    an hour.
    """
    named = _named_files(folder)
    for path in folder.iterdir():
        its = _DATA.match(path.name)
        if path.name in named or not its:
            continue
        with suppress(OSError):  # another session was quicker, or still reads it
            is_old = its[2] and time.time() - path.lstat().st_mtime > _LEFT_OVER
            if is_old or path.name in before:
                path.unlink()


def _as_line(document: "Document") -> str:
    stored = {
        "id": document.id, "text": document.page_content, "metadata": document.metadata
    }  # fmt: skip
    try:
        return json.dumps(stored, ensure_ascii=False, default=_as_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"{document.id}: the metadata cannot be written as JSON ({error}). "
            "Turn other objects than dates and numbers into texts first: str(...)."
        ) from error


def _as_json(value: Any) -> Any:
    """Return numpy's number as Python's, and a date as JSON can hold it."""
    if isinstance(value, (np.number, np.bool_)):
        return value.item()
    if isinstance(value, date):  # and datetime, which is one
        return {_DATE: value.isoformat()}
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _from_json(fields: dict[str, Any]) -> Any:
    """Return a date that `_as_json` wrote; anything else as it is."""
    written = fields.get(_DATE)
    if len(fields) != 1 or not isinstance(written, str):
        return fields
    return (datetime if "T" in written else date).fromisoformat(written)


def load_vectorstore(folder: str | Path, embeddings: "Embeddings") -> "FAISS":
    """Read a store that `save_vectorstore` wrote; it searches as before, to the last bit.

    Args:
        folder: the folder given to `save_vectorstore`.
        embeddings: the model it was built with, for embedding the queries.

    Raises:
        FileNotFoundError: a file of the store is not found.
        ValueError: the store was built with another model, or its files do not belong together.
    """
    folder = as_path(folder, "folder")
    model, index, documents, settings = _read_store(folder)
    if model != model_name(embeddings):
        raise ValueError(
            f"{folder} was built with {model}, and {model_name(embeddings)} was given. Vectors of "
            "two models cannot be compared: load it with the same model, or rebuild it."
        )
    return assemble(documents, index, embeddings, **settings)


def _read_store(folder: Path) -> tuple[str, Any, list["Document"], dict[str, Any]]:
    """Return the name of the model, the index, the documents and LangChain's settings."""
    import faiss
    from langchain_core.documents import Document

    try:
        settings, files = _read_files(folder)
        strategies = _import_community("langchain_community.vectorstores.utils").DistanceStrategy
        kept = {
            "normalize_L2": settings["normalize_L2"],
            "distance_strategy": strategies(settings["distance_strategy"]),
        }
        index = faiss.deserialize_index(np.load(io.BytesIO(files["index"]), allow_pickle=False))
        lines = files["documents"].decode("utf-8", "surrogatepass").split("\n")[:-1]
        documents = [
            Document(id=doc["id"], page_content=doc["text"], metadata=doc["metadata"])
            for doc in (json.loads(line, object_hook=_from_json) for line in lines)
        ]
        return settings["embeddings"], index, documents, kept
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError, OSError) as error:
        raise ValueError(
            f"{folder} cannot be read as a saved vectorstore ({type(error).__name__}: {error}). "
            "Rebuild the vectorstore and save it again."
        ) from error


def _read_files(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the settings and, by "index" and "documents", the files that they name."""
    settings, files = json.loads(_read(folder / _SETTINGS)), {}
    for name, sha256 in settings["sha256"].items():
        its = _DATA.fullmatch(name)
        if not its:
            raise ValueError(f"{name!r} is no file of a store")

        # Gone, because another session has saved meanwhile? Then that save is the one to read.
        try:
            files[its[1]] = _read(folder / name)
        except FileNotFoundError:
            if name in _named_files(folder):
                raise
            return _read_files(folder)
        if hashlib.sha256(files[its[1]]).hexdigest() != sha256:
            raise ValueError(f"{name} was changed since")
    return settings, files


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"{path} is not found. Write the store first: "
            f"save_vectorstore(vectorstore, {str(path.parent)!r})."
        ) from None
