"""Keep search results and answers in SQLite, under a key that nothing stale can have.

The key of a result is the query's text and the fingerprint of the index that was searched: its vectors, its
documents and its embedding model. After any change the old entries simply have another key.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

Ranking: TypeAlias = list[tuple[int, float]]  # (position in the index, score), best first

_VERSION = 1
_SCHEMA = (
    "CREATE TABLE indexes (fingerprint TEXT PRIMARY KEY, embeddings TEXT)",
    "CREATE TABLE documents (fingerprint TEXT, doc_id TEXT, text_hash TEXT, PRIMARY KEY (fingerprint, doc_id))",
    "CREATE TABLE rankings "
    "(fingerprint TEXT, question TEXT, k INTEGER, ranking TEXT, PRIMARY KEY (question, fingerprint))",
    "CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT)",
    "CREATE TABLE embeddings (settings TEXT PRIMARY KEY, embeds_queries_alike INTEGER)",
    f"PRAGMA user_version = {_VERSION}",
)


class Cache:
    """Rankings by index fingerprint and question, and answers, in a file or (``":memory:"``) for the session."""

    def __init__(self, path: str | Path) -> None:
        # Autocommit: every batch is one explicit transaction, so a kernel that dies loses that batch only.
        # The timeout lets two notebooks write to one file in turn.
        self._db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables and version != _VERSION:
                raise ValueError(
                    f"{path} is an SQLite file, but not a search cache of this version. Give another path."
                )
            for statement in () if tables else _SCHEMA:
                self._db.execute(statement)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def rankings(self, fingerprint: str, questions: Iterable[str], k: int) -> dict[str, Ranking]:
        """Return what is known of the questions to depth k; a deeper entry is cut."""
        found = {}
        for question in questions:
            row = self._db.execute(
                "SELECT ranking FROM rankings WHERE fingerprint = ? AND question = ? AND k >= ?",
                (fingerprint, question, k),
            ).fetchone()
            if row:
                found[question] = [(position, score) for position, score in json.loads(row[0])[:k]]
        return found

    def store(self, fingerprint: str, rankings: Mapping[str, Ranking], k: int) -> None:
        """Keep the rankings of one batch; an entry is replaced only by a deeper one."""
        rows = [
            (fingerprint, question, k, json.dumps(ranking))
            for question, ranking in rankings.items()
        ]
        with self._transaction():
            self._db.executemany(
                "INSERT INTO rankings VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET k = excluded.k, ranking = excluded.ranking WHERE excluded.k > k",
                rows,
            )

    def remember_index(
        self, fingerprint: str, embeddings: str, text_hashes: Mapping[str, str]
    ) -> None:
        """Keep what the index was made of, to say later what changed."""
        with self._transaction():
            new = self._db.execute(
                "INSERT OR IGNORE INTO indexes VALUES (?, ?)", (fingerprint, embeddings)
            ).rowcount
            if new == 1:
                rows = [
                    (fingerprint, doc_id, text_hash) for doc_id, text_hash in text_hashes.items()
                ]
                self._db.executemany("INSERT OR IGNORE INTO documents VALUES (?, ?, ?)", rows)

    def knows_index(self, fingerprint: str) -> bool:
        """Say whether this very index was searched before."""
        return bool(
            self._db.execute(
                "SELECT 1 FROM indexes WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
        )

    def last_index_asked(self, questions: Sequence[str]) -> tuple[str, dict[str, str]] | None:
        """Return embeddings and text hashes of the index that was last asked one of the questions."""
        for question in questions:
            row = self._db.execute(
                "SELECT i.fingerprint, i.embeddings FROM rankings r JOIN indexes i USING (fingerprint) "
                "WHERE r.question = ? ORDER BY r.rowid DESC LIMIT 1",
                (question,),
            ).fetchone()
            if row:
                hashes = self._db.execute(
                    "SELECT doc_id, text_hash FROM documents WHERE fingerprint = ?", row[:1]
                )
                return row[1], dict(hashes.fetchall())
        return None

    def embeds_queries_alike(self, settings: str) -> bool | None:
        """Return whether this model embeds a query as it embeds a document; None if not known yet."""
        row = self._db.execute(
            "SELECT embeds_queries_alike FROM embeddings WHERE settings = ?", (settings,)
        ).fetchone()
        return bool(row[0]) if row else None

    def remember_queries_alike(self, settings: str, alike: bool) -> None:
        """Keep that answer, so that the model is asked only once."""
        self._db.execute("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", (settings, int(alike)))

    def answer(self, key: str) -> str | None:
        """Return the answer that was kept under this key; None if there is none."""
        row = self._db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def keep_answer(self, key: str, answer: str) -> None:
        """Keep one finished answer at once."""
        self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


_session: Cache | None = None


@contextmanager
def open_cache(path: str | Path | None) -> Iterator[Cache]:
    """Open the cache file, made if it is not there; None is a cache in memory that lasts as long as Python.

    Raises:
        ValueError: the file is not a search cache, or cannot be opened.
    """
    if path is None:
        global _session
        _session = _session or Cache(":memory:")
        yield _session
        return
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        cache = Cache(path)
        try:
            yield cache
        finally:
            cache.close()
    except sqlite3.OperationalError as error:
        raise ValueError(
            f"{path} cannot be used as a search cache now ({error}). Is another session writing to it?"
        ) from error
    except sqlite3.DatabaseError as error:
        raise ValueError(
            f"{path} cannot be used as a search cache ({error}). Delete the file or give another path."
        ) from error
