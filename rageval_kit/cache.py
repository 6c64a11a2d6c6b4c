"""Keep search results, answers and vectors in SQLite, under a key that nothing stale can have.

The key of a result is the query's text and the fingerprint of the index that was searched: its
vectors, its documents and its embedding model. After any change the old entries simply have
another key. A model is known by its probe, the vector of one fixed text: no setting can be read in
the file.
"""

import hashlib
import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rageval_kit.messages import wrong_type
from rageval_kit.vectors import alike

Ranking: TypeAlias = list[tuple[int, float]]  # (position in the index, score), best first

_VERSION = 3
_TOGETHER = 500  # questions read together; an older SQLite takes 999 values
_PATIENCE = 60  # seconds to wait for another session that writes
_FLOAT_NOISE = 1e-4  # between vectors of one text in two batches, as a share of their length
_SCHEMA = (
    "CREATE TABLE indexes (fingerprint TEXT PRIMARY KEY, contents TEXT, asked INTEGER)",
    "CREATE TABLE rankings (fingerprint TEXT, question BLOB, k INTEGER, ranking TEXT, vector BLOB, "
    "PRIMARY KEY (question, fingerprint))",
    "CREATE TABLE answers (key TEXT PRIMARY KEY, answer BLOB)",
    "CREATE TABLE models (kind TEXT, probe BLOB, PRIMARY KEY (kind, probe))",
    "CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB)",
    f"PRAGMA user_version = {_VERSION}",
)


class Cache:
    """Rankings by index fingerprint and question, and answers, in a file or in memory.

    Threads may share one: each has it alone while it reads or writes.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._lock = threading.RLock()

        # Autocommit: every batch is one explicit transaction, so that a kernel that dies loses that
        # batch only. The timeout lets two notebooks write to one file in turn.
        with self._alone():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            self.close = weakref.finalize(self, self._db.close)  # at the latest when Python ends

        # A file that is a cache already is only read: it needs no lock.
        if not self._has_tables():
            with self._transaction():
                for statement in () if self._has_tables() else _SCHEMA:
                    self._db.execute(statement)

    def _has_tables(self) -> bool:
        """Say whether the file is a cache already; refuse one that is something else."""
        tables = self._read("SELECT count(*) FROM sqlite_master")[0]
        version = self._read("PRAGMA user_version")[0]
        if tables and version != _VERSION:
            raise ValueError(
                f"{self._path} is an SQLite file, but not a cache of this version of the kit. "
                "Give another path, or delete the file if it is an old cache."
            )
        return bool(tables)

    # ------------------------------------------------------------ results

    def rankings(
        self,
        fingerprint: str,
        questions: Iterable[str],
        k: int,
        size: int,
        vectors: Mapping[str, np.ndarray] | None = None,
        exact: bool = True,
    ) -> dict[str, Ranking]:
        """Return what is known of the questions to depth k, in an index of this size.

        A deeper entry is cut, but for an index that is not exact: it may have looked further. One
        that cannot be read is forgotten, to be searched again. With ``vectors`` an entry counts
        only if its question was embedded as it is now.
        """
        found: dict[str, Ranking] = {}
        broken: list[tuple[str, bytes]] = []
        asked = {_bytes(question): question for question in questions}
        keys, depth = list(asked), "k >= ?" if exact else "k = ?"
        for start in range(0, len(keys), _TOGETHER):
            part = keys[start : start + _TOGETHER]
            rows = self._read_all(
                "SELECT question, CAST(ranking AS BLOB), CAST(vector AS BLOB) FROM rankings "
                f"WHERE fingerprint = ? AND {depth} AND question IN ({', '.join('?' * len(part))})",
                (fingerprint, k, *part),
            )
            for key, kept, vector in rows:
                question, ranking = asked[key], _as_ranking(kept, size)
                if ranking is None:
                    broken.append((fingerprint, key))
                elif vectors is None or alike(_as_vector(vector), vectors[question], _FLOAT_NOISE):
                    found[question] = ranking[:k]

        # Forgotten, so that they can be stored again.
        if broken:
            self._write("DELETE FROM rankings WHERE fingerprint = ? AND question = ?", broken)
        return found

    def store(
        self,
        fingerprint: str,
        rankings: Mapping[str, Ranking],
        k: int,
        vectors: Mapping[str, np.ndarray] | None = None,
        exact: bool = True,
    ) -> None:
        """Keep the rankings of one batch.

        An entry is replaced by a deeper one (of an index that is not exact: by one of any other
        depth), and by one of a question that is embedded otherwise.
        """
        rows = [
            (
                fingerprint,
                _bytes(question),
                k,
                json.dumps(ranking),
                vectors and _blob(vectors[question]),
            )
            for question, ranking in rankings.items()
        ]
        self._write(
            "INSERT INTO rankings VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET k = excluded.k, ranking = excluded.ranking, vector = excluded.vector "
            f"WHERE excluded.k {'>' if exact else '!='} k OR excluded.vector IS NOT vector",
            rows,
        )

    # ------------------------------------------------------------ what changed

    def contents_before(self, fingerprint: str, questions: Iterable[str]) -> dict[str, Any] | None:
        """Return the contents of the index that was last asked one of the questions.

        None if there is none, and if this very index was asked before: then nothing changed.
        """
        if self._read("SELECT 1 FROM indexes WHERE fingerprint = ?", (fingerprint,)):
            return None
        for question in questions:
            row = self._read(
                "SELECT CAST(contents AS BLOB) FROM rankings JOIN indexes USING (fingerprint) "
                "WHERE question = ? ORDER BY asked DESC LIMIT 1",
                (_bytes(question),),
            )
            with suppress(ValueError):  # what cannot be read is not compared with
                return json.loads(row[0]) if row else None
        return None

    def was_asked_last(self, fingerprint: str) -> bool:
        """Say whether this index was the last that was asked."""
        last = self._read("SELECT fingerprint FROM indexes ORDER BY asked DESC")
        return bool(last == (fingerprint,))

    def note_asked(self, fingerprint: str, contents: Mapping[str, Any]) -> None:
        """Keep what the index holds, and that it is now the last that was asked.

        Left undone where it would have to wait for another session, or the file is read-only: a
        search whose hits are all known needs no more than to read.
        """
        self._read("PRAGMA busy_timeout = 0")
        with suppress(ValueError):
            self._write(
                "INSERT INTO indexes SELECT ?, ?, coalesce(max(asked), 0) + 1 FROM indexes "
                "WHERE true ON CONFLICT DO UPDATE SET asked = excluded.asked",
                [(fingerprint, json.dumps(contents))],
            )
        self._read(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")

    # ------------------------------------------------------------ answers

    def answer(self, key: str) -> str | None:
        """Return the answer that was kept under this key; None if there is none."""
        row = self._read("SELECT CAST(answer AS BLOB) FROM answers WHERE key = ?", (key,))
        with suppress(UnicodeDecodeError):  # what cannot be read is asked for again
            return row[0].decode("utf-8", "surrogatepass") if row and row[0] is not None else None
        return None

    def keep_answer(self, key: str, answer: str) -> None:
        """Keep one finished answer at once."""
        self.keep_answers({key: answer})

    def keep_answers(self, answers: Mapping[str, str]) -> None:
        """Keep several answers, all or none of them."""
        rows = [(key, _bytes(answer)) for key, answer in answers.items()]
        self._write("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)

    # ------------------------------------------------------------ models and vectors

    def known_model(self, kind: str, probe: np.ndarray) -> str:
        """Return the name under which a model is known here: of the first that answers alike.

        Args:
            kind: models of two kinds are two, whatever they answer; only its hash is kept.
            probe: the vector of the one fixed text.
        """
        kind = _sha256(_bytes(kind)).hex()
        known = [blob for blob in self._probes_of(kind) if alike(_as_vector(blob), probe)]
        if not known:
            self._write("INSERT OR IGNORE INTO models VALUES (?, ?)", [(kind, _blob(probe))])
        return _model_of(kind, (known or [_blob(probe)])[0])

    def models_of(self, kind: str) -> list[tuple[str, int]]:
        """Return the names of the models of this kind, and how many numbers their vectors have."""
        kind = _sha256(_bytes(kind)).hex()
        probes = self._probes_of(kind)
        return [(_model_of(kind, blob), len(_as_vector(blob))) for blob in probes]

    def _probes_of(self, kind: str) -> list[bytes]:
        rows = self._read_all("SELECT CAST(probe AS BLOB) FROM models WHERE kind = ?", (kind,))
        return [blob for (blob,) in rows]

    def vectors(self, model: str, texts: Iterable[str], width: int) -> dict[str, np.ndarray]:
        """Return the vectors of this width that were kept of the texts."""
        found = {}
        for text in texts:
            key = (_sha256(_bytes(model + text)),)
            row = self._read("SELECT CAST(vector AS BLOB) FROM vectors WHERE key = ?", key)
            vector = _as_vector(row[0] if row else None)
            if len(vector) == width and np.isfinite(vector).all():
                found[text] = vector
        return found

    def keep_vectors(self, model: str, vectors: Mapping[str, np.ndarray]) -> None:
        """Keep the vectors of one request at once."""
        rows = [(_sha256(_bytes(model + text)), _blob(vector)) for text, vector in vectors.items()]
        self._write("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    # ------------------------------------------------------------ SQLite, and its errors in words

    def _read(self, sql: str, values: Sequence[Any] = ()) -> Any:
        with self._alone():
            return self._db.execute(sql, values).fetchone()

    def _read_all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._alone():
            return self._db.execute(sql, values).fetchall()

    def _write(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._transaction():
            self._db.executemany(sql, rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._alone():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads out, and say in words what SQLite says."""
        try:
            with self._lock:
                yield
        except (OSError, UnicodeEncodeError, sqlite3.Error) as error:
            # The cure goes by what is wrong: another session, the path or disk, the file itself.
            what = getattr(error, "strerror", None) or str(error)
            if "locked" in what:
                cure = "Is another session writing to it? Try again when it is done."
            elif isinstance(error, (OSError, sqlite3.OperationalError)):
                cure = "Look at the path and the disk, or give another path."
            else:
                cure = "Delete the file or give another path."
            raise ValueError(
                f"{str(self._path)[:1_000]} cannot be used as a cache ({what}). {cure}"
            ) from error


def _bytes(text: str) -> bytes:
    """Return a text as SQLite can hold it, half an emoji (a lone surrogate) included."""
    return text.encode("utf-8", "surrogatepass")


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _model_of(kind: str, probe: bytes) -> str:
    return _sha256(kind.encode() + probe).hex()[:32]


def _blob(vector: np.ndarray) -> bytes:
    return np.asarray(vector, dtype=np.float32).tobytes()


def _as_vector(kept: bytes | None) -> np.ndarray:
    """Return a vector that was kept; one of no numbers if it is not found or cannot be one."""
    return np.frombuffer(kept if kept and len(kept) % 4 == 0 else b"", dtype=np.float32)


def _as_ranking(kept: Any, size: int) -> Ranking | None:
    """Return a ranking that was kept; None if it cannot be one of an index of this size."""
    try:
        ranking = [(position, score) for position, score in json.loads(kept)]
    except (TypeError, ValueError, RecursionError):
        return None
    sound = all(
        type(position) is int and 0 <= position < size and type(score) is float
        for position, score in ranking
    )
    return ranking if sound else None


# ---------------------------------------------------------------- opening


_session: Cache | None = None
_session_lock = threading.Lock()


@contextmanager
def open_cache(path: str | Path | None) -> Iterator[Cache]:
    """Open the cache file, made if it is not found; None is a cache in memory while Python runs.

    Raises:
        ValueError: the file is not a cache of the kit, or cannot be opened.
        TypeError: the path is not a path.
    """
    if path is None:
        global _session
        with _session_lock:
            _session = _session or Cache(":memory:")
        yield _session
        return
    _refuse_no_file(path)
    cache = Cache(path)
    try:
        yield cache
    finally:
        cache.close()


@contextmanager
def session_in(path: str | Path) -> Iterator[None]:
    """Let a file keep, in the block, what else is kept in memory while Python runs."""
    global _session
    with open_cache(path) as cache:
        before, _session = _session, cache
        try:
            yield
        finally:
            _session = before


def _refuse_no_file(path: Any) -> None:
    """Refuse what SQLite would take for a cache in memory, or not at all."""
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type("cache", 'the path of a file such as "cache.sqlite", or None', path)
    name = str(path)
    if name.strip() in ("", ":memory:") or "\0" in name:
        raise ValueError(
            f'cache={name!r} is no file. Give a path such as "cache.sqlite", '
            "or None, which keeps results in memory while Python runs."
        )
    if os.path.isdir(path):
        raise ValueError(
            f"{path} cannot be used as a cache: it is a folder. Give the path of a file."
        )
