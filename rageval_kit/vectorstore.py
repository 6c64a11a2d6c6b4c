"""Build, save and load a FAISS vectorstore through LangChain.

The only file that imports ``langchain_community`` and knows how its store keeps things. The text of
a document in the store is its title, a line break, and its content; ``doc_id`` and ``title``
are in the metadata, and of a chunk where it stands in its source.
"""

import base64
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

from rageval_kit.documents import (
    Docs,
    as_docs,
    doc_id_of,
    one_line,
    place_fields,
    text_of,
)
from rageval_kit.files import as_path, make_folder, write_whole
from rageval_kit.identity import model_name
from rageval_kit.indexes import (
    empty_index,
    fill_index,
    flat_index,
    keeps_vectors,
    one_thread,
    unwritten_settings,
)
from rageval_kit.messages import count, describe, name_some, show_progress, warn_user, wrong_type
from rageval_kit.vectors import (
    EmbeddingError,
    alike,
    ask,
    batches,
    note_needed,
    probe,
    refuse_zeros,
    unit,
)

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

_BLOCK = 1_000  # stored vectors read together: so many stay in the processor's cache

# The files of a saved store. The settings name the other two, which every save calls anew.
_SETTINGS = "settings.json"
_DATA = re.compile(r"(index|documents)(-[0-9a-f]{16})?\.(npy|jsonl)")
_LEFT_OVER = 3600  # seconds after which no save still runs
_DATE = "__date__"  # the one field of a date in a document's metadata
_LOST = (
    'What was embedded before is lost: cached_embeddings(embeddings, "vectors.sqlite") keeps it.'
)


def build_vectorstore(docs: Docs, embeddings: "Embeddings", index: str = "Flat") -> "FAISS":
    """Embed every document and return LangChain's FAISS store, searched by squared L2 distance.

    Exactly, or by an approximate index, which `agreement` compares with the exact one. How much of
    it a search looks at is set on the index, and is part of what a cached result is known by::

        store = build_vectorstore(docs, embeddings, index="IVF32,Flat")
        store.index.nprobe = 4               # lists of the 32; FAISS's own default is 1
        store = build_vectorstore(docs, embeddings, index="HNSW32")
        store.index.hnsw.efSearch = 64       # candidates; FAISS's own default is 16

    Args:
        docs: dicts with ``doc_id``, ``title``, ``content``, a DataFrame, or LangChain documents;
            the order is kept.
        embeddings: from `load_embeddings`, or any LangChain ``Embeddings`` object.
        index: a text of FAISS's ``index_factory``: ``"Flat"`` is exact, ``"HNSW32"`` a graph,
            ``"IVF32,Flat"`` 32 lists, ``"PQ64"`` 64 bytes a vector, ``"SQ8"`` a byte a number. What
            needs training is trained with the documents. It is built on one thread, so that the
            same documents give the same index.

    Returns:
        The store; its scores are squared L2 distances, **lower is better** (of PQ and SQ8 to what
        they keep of a vector). For vectors of length 1 a distance d is a cosine of 1 - d / 2.

    >>> from rageval_kit.embeddings import load_embeddings
    >>> docs = [{"doc_id": "doc_001", "title": "RAG", "content": "Retrieval comes first."}]
    >>> build_vectorstore(docs, load_embeddings("chars")).index.ntotal
    1

    Raises:
        ValueError: no document, a repeated or empty doc_id, no text, a vector with NaN or of zeros,
            an index that FAISS does not know, or too few documents to train it.
        KeyError: a document has no doc_id or content.
        TypeError: docs is not a list of documents, or a doc_id is not a text.
    """
    documents = to_documents(docs)
    if not documents:
        raise ValueError("The corpus is empty: build_vectorstore needs at least one document.")
    if index == "Flat":
        return assemble(documents, flat_index(embed_documents(documents, embeddings)), embeddings)

    # An index that cannot be made is refused before anything is paid for.
    made = empty_index(index, len(probe(embeddings, "document")))
    fill_index(made, embed_documents(documents, embeddings, made.d), index)
    return assemble(documents, made, embeddings)


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
    taken = {doc_id_of(document) for document in held}
    taken |= set(vectorstore.index_to_docstore_id.values())
    clashing = [str(document.id) for document in documents if document.id in taken]
    if clashing:
        raise ValueError(
            f"doc_ids already in the vectorstore: {name_some(clashing)}. "
            "Leave them out, or rebuild it with build_vectorstore(...)."
        )

    if not documents:
        return
    vectors = embed_documents(documents, vectorstore.embedding_function, width=vectorstore.index.d)
    try:
        with one_thread():
            vectorstore.add_embeddings(
                zip((doc.page_content for doc in documents), vectors.tolist(), strict=True),
                metadatas=[document.metadata for document in documents],
                ids=[str(document.id) for document in documents],
            )
    except RuntimeError as error:
        raise ValueError(
            f"The index ({type(vectorstore.index).__name__}) takes no more vectors: {error}. "
            "Rebuild it with all documents: build_vectorstore(..., index=...)."
        ) from error


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
    named = {"doc_id": doc["doc_id"], "title": one_line(doc, "title")}
    return Document(id=str(doc["doc_id"]), page_content=text, metadata=named | place_fields(doc))


def embed_documents(
    documents: Sequence["Document"], embeddings: "Embeddings", width: int | None = None
) -> np.ndarray:
    """Embed in batches, with a progress bar when it takes longer than a few seconds.

    Returns:
        float32 of shape (documents, dimensions); ``width`` are the dimensions that are wanted.

    Raises:
        ValueError: a vector is none, has another width, NaN, or is all zeros.
    """
    from rageval_kit.embedding_cache import shared

    texts = [document.page_content for document in documents]
    names = [str(document.id) for document in documents]
    note_needed(texts)
    embeddings = shared(embeddings)
    done: list[np.ndarray] = []
    for part in show_progress(batches(texts), "embedding", "document", lambda p: p.stop - p.start):
        done.append(ask(embeddings, texts[part], names[part], width=width, kept=_LOST))
        refuse_zeros(np.linalg.norm(done[-1], axis=1), names[part])
        width = done[0].shape[1]
    return np.concatenate(done)


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
    if not keeps_vectors(index):  # FAISS itself falls over some shorter ones that were loaded
        return None
    try:
        for start in range(0, index.ntotal, _BLOCK):
            block = index.reconstruct_n(start, min(_BLOCK, index.ntotal - start))
            lengths.append(np.linalg.norm(block, axis=1))
    except RuntimeError:  # such as an inverted file without a map
        return None
    return np.concatenate(lengths)


def stored_vectors(vectorstore: "FAISS") -> np.ndarray:
    """Return the store's vectors: float32 of shape (documents, dimensions).

    Raises:
        ValueError: the index keeps something shorter, or cannot give them back.
    """
    index = vectorstore.index
    if keeps_vectors(index):
        with suppress(RuntimeError):  # such as an inverted file without a map
            return index.reconstruct_n(0, index.ntotal)
    raise ValueError(
        f"The index of the vectorstore ({type(index).__name__}) does not give its vectors back as "
        'they were. Rebuild it for this function: build_vectorstore(..., index="Flat").'
    )


def kept_settings(vectorstore: "FAISS") -> dict[str, Any]:
    """Return what LangChain's store is told beside its index: arguments of `assemble`."""
    return {
        "normalize_L2": vectorstore._normalize_L2,
        "distance_strategy": vectorstore.distance_strategy,
    }


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

    lost = unwritten_settings(vectorstore.index)
    if lost:
        warn_user(
            f"FAISS does not write {name_some([f'{name}={its}' for name, its in lost.items()])} "
            "with an index: set it again after load_vectorstore(...)."
        )

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
        "probe": _probe_as_text(vectorstore.embedding_function, vectorstore.index.d),
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


def _probe_as_text(embeddings: Any, width: int) -> str | None:
    """Return the vector by which `load_vectorstore` knows the model; None if it cannot be asked."""
    try:
        return base64.b64encode(probe(embeddings, "document", width).tobytes()).decode()
    except (EmbeddingError, TypeError) as error:
        warn_user(f"Saved, but load_vectorstore will know the model by its name only. {error}")
        return None


def load_vectorstore(folder: str | Path, embeddings: "Embeddings") -> "FAISS":
    """Read a store that `save_vectorstore` wrote; it searches as before, to the last bit.

    The model is asked for one vector, which is compared with what the store's own model gave for
    the same text: a name does not tell two deployments, prompts or revisions apart.

    Args:
        folder: the folder given to `save_vectorstore`.
        embeddings: the model it was built with, for embedding the queries.

    Raises:
        FileNotFoundError: a file of the store is not found.
        ValueError: the store was built with another model, or its files do not belong together.
    """
    folder = as_path(folder, "folder")
    model, index, documents, settings = _read_store(folder)
    _refuse_another_model(folder, *model, embeddings)
    return assemble(documents, index, embeddings, **settings)


def _as_probe(settings: Mapping[str, Any]) -> np.ndarray | None:
    """Return the vector that `_probe_as_text` wrote; None in a store that has none."""
    written = settings.get("probe")
    return None if written is None else np.frombuffer(base64.b64decode(written), dtype=np.float32)


def _refuse_another_model(
    folder: Path, name: str, kept: np.ndarray | None, embeddings: "Embeddings"
) -> None:
    """Refuse a model that embeds a document otherwise than the one that the store was built with.

    Args:
        folder: of the store.
        name: of its model.
        kept: its probe; None in a store that has none, whose model is known by its name.
        embeddings: the model that was given.
    """
    given, differs = model_name(embeddings), ""
    if kept is not None:
        its = probe(embeddings, "document")
        differs = "" if alike(kept, its) else _difference(kept, its)
        if differs and name == given:
            differs += " The name is the same: is it another deployment, revision or prompt?"
    if differs or (kept is None and name != given):
        raise ValueError(
            f"{folder} was built with {name}, and {given} was given.{differs} Vectors of two "
            "models cannot be compared: load it with the same model, or rebuild it."
        )


def _difference(one: np.ndarray, other: np.ndarray) -> str:
    if len(one) != len(other):
        return f" One text gets {len(one)} numbers there and {len(other)} here."
    cosine, lengths = unit(one[None])[0] @ unit(other[None])[0], map(np.linalg.norm, (one, other))
    return (
        " One text gets two vectors, their cosine is {:.4f} and their lengths are {:.4g} and "
        "{:.4g}.".format(cosine, *lengths)
    )


def _read_store(
    folder: Path,
) -> tuple[tuple[str, np.ndarray | None], Any, list["Document"], dict[str, Any]]:
    """Return the model's name and probe, the index, the documents and LangChain's settings."""
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
        return (settings["embeddings"], _as_probe(settings)), index, documents, kept
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
