"""Make a FAISS index, exact or approximate: what of FAISS a vectorstore and a search must know.

An exact index compares a question with every vector. An approximate one looks at a part of them
(IVF, HNSW), keeps the vectors in fewer bytes (PQ, SQ8), or both, and finds most of the same.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rageval_kit.messages import count, shown, warn_user, wrong_type

_EXAMPLES = '"Flat", "HNSW32", "IVF32,Flat", "PQ64" or "SQ8"'

# What FAISS takes, and then takes the whole of Python down with.
_DEADLY = re.compile(r"(?<!\d)0+(?!\d)|HNSW0*1(?!\d)")

# What FAISS says of training.
_FEW = re.compile(r"WARNING clustering (\d+) points to (\d+) centroids: .* at least (\d+) .*\n?")
_TOO_FEW = re.compile(r"Number of training points \((\d+)\) .* number of clusters \((\d+)\)")


def flat_index(vectors: np.ndarray, metric: int | None = None) -> Any:
    """Return a FAISS index that searches these vectors exactly, by squared L2 distance or else."""
    import faiss

    index = faiss.IndexFlat(vectors.shape[1], faiss.METRIC_L2 if metric is None else metric)
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return index


def empty_index(text: str, width: int) -> Any:
    """Return the index of squared L2 distance that a text of FAISS's ``index_factory`` stands for.

    >>> type(empty_index("HNSW32", 8)).__name__
    'IndexHNSWFlat'

    Raises:
        TypeError: it is no text.
        ValueError: FAISS knows no such index, or not for vectors of so many numbers.
    """
    import faiss

    if not isinstance(text, str):
        raise wrong_type("index", f"a text such as {_EXAMPLES}", text)
    if "LSH" in text:
        raise ValueError(
            f"index={shown(text)}: the scores of LSH are numbers of bits, and no squared L2 "
            f"distances. Choose another, such as {_EXAMPLES}."
        )
    if found := _DEADLY.search(text):
        raise ValueError(
            f"index={shown(text)}: FAISS cannot build it with {found.group()}. Choose a larger "
            f"number there, or another index, such as {_EXAMPLES}."
        )
    try:
        return faiss.index_factory(width, text, faiss.METRIC_L2)
    except (RuntimeError, MemoryError, OverflowError, IndexError) as error:
        raise ValueError(
            f"index={shown(text)} is no index that FAISS can make for vectors of "
            f"{count(width, 'number')} ({_reason(error)}). Choose a text of its index_factory, "
            f"such as {_EXAMPLES}; the number of PQ must divide {width}."
        ) from error


def fill_index(index: Any, vectors: np.ndarray, text: str) -> None:
    """Train the index where it needs it, and put the vectors in.

    On one thread, so that the same vectors give the same index: several threads build a graph
    (HNSW) in another order each time.

    Raises:
        ValueError: there are too few vectors to train it, or it takes none.
    """
    import faiss

    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    try:
        with one_thread(), _warned_of_training(text):
            if not index.is_trained:
                index.train(vectors)
            index.add(vectors)
    except (RuntimeError, MemoryError) as error:
        raise _no_training(text, error) from error

    # Without a map an inverted file (IVF) cannot give a vector back by its position.
    lists = faiss.try_extract_index_ivf(index)
    if lists is not None:
        lists.make_direct_map()


def _no_training(text: str, error: Exception) -> ValueError:
    found = _TOO_FEW.search(str(error))
    if not found:
        return ValueError(
            f"index={shown(text)} cannot be built ({_reason(error)}). Choose another, such as "
            f"{_EXAMPLES}."
        )
    points, centroids = map(int, found.groups())
    return ValueError(
        f"index={shown(text)} is trained to {centroids} centroids, and there are only "
        f"{count(points, 'document')}. Choose fewer (IVF{max(1, points // 39)},Flat; PQ8x4 has 16 "
        'centroids where PQ8 has 256), add documents, or use "Flat", which needs no training.'
    )


def _reason(error: BaseException) -> str:
    """Return what FAISS said, without its function and its line."""
    said = str(error).rsplit(" at /", 1)[-1].partition(": ")[2] or str(error)
    return shown(" ".join(said.split())).strip("'\"")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let FAISS use one thread, and then as many as before."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


@contextmanager
def _warned_of_training(text: str) -> Iterator[None]:
    """Turn FAISS's warnings of too few vectors, a line a k-means on standard error, into one."""
    with tempfile.TemporaryFile() as heard:
        sys.stderr.flush()
        error_output = os.dup(2)
        os.dup2(heard.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(error_output, 2)
            os.close(error_output)
            heard.seek(0)
            said = heard.read().decode("utf-8", "replace")

    # What else was said goes where it would have gone.
    sys.stderr.write(_FEW.sub("", said))
    few = [tuple(map(int, found)) for found in _FEW.findall(said)]
    if few:
        points, centroids, wanted = max(few, key=lambda warned: warned[2])
        warn_user(
            f"index={shown(text)} was trained to {centroids} centroids with "
            f"{count(points, 'document')}; FAISS wants {wanted:,}. With fewer, the centroids are "
            "those of these documents by chance. Choose fewer (a smaller IVF; PQ8x4 in place of "
            "PQ8), or build it from more documents."
        )


# ---------------------------------------------------------------- what an index is


def is_exact(index: Any) -> bool:
    """Say whether an index compares a question with every vector as it is."""
    import faiss

    return isinstance(index, faiss.IndexFlat)


def keeps_vectors(index: Any) -> bool:
    """Say whether an index holds the vectors themselves, and not something shorter."""
    import faiss

    return isinstance(index, (faiss.IndexFlat, faiss.IndexHNSWFlat, faiss.IndexIVFFlat))


def unwritten_settings(index: Any) -> dict[str, Any]:
    """Return what changes a search and is set, but not written with the index by FAISS.

    ``nprobe`` and ``efSearch`` are written.
    """
    import faiss

    lists = faiss.try_extract_index_ivf(index)
    parts = {
        "max_codes": (lists and faiss.downcast_index(lists), 0),
        "polysemous_ht": (lists and faiss.downcast_index(lists), 0),
        "check_relative_distance": (getattr(index, "hnsw", None), True),
        "search_bounded_queue": (getattr(index, "hnsw", None), True),
    }
    values = {name: getattr(part, name, usual) for name, (part, usual) in parts.items()}
    return {name: value for name, value in values.items() if value != parts[name][1]}


def index_bytes(index: Any) -> int:
    """Return the bytes of a FAISS index as it is written to a file."""
    import faiss

    sizes: list[int] = []
    in_pieces = faiss.PyCallbackIOWriter(  # type: ignore[attr-defined]
        lambda piece: sizes.append(len(piece)), 2**20
    )
    faiss.write_index(index, in_pieces)
    return sum(sizes)
