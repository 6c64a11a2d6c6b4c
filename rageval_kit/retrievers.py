"""Ask any vector store, retriever or function, several questions at once, and keep every answer.

Such a store cannot be looked into: only its user can say that its content is the same. Its hits are
therefore kept under what the user calls the content, the store's class, code and settings, and the
question.
"""

import asyncio
import hashlib
import inspect
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from enum import Enum
from functools import cache, partial
from itertools import islice
from numbers import Real
from pathlib import Path
from types import CodeType
from typing import Any, TypeAlias

from rageval_kit.cache import Cache, open_cache
from rageval_kit.documents import read_document
from rageval_kit.identity import is_installed
from rageval_kit.messages import (
    count,
    describe,
    is_number,
    name_some,
    progress_bar,
    shown,
    warn_user,
    wrong_type,
)
from rageval_kit.rankings import Hit, Results, direction

Ranked: TypeAlias = list[tuple[Hit, float | None]]  # a document, and its score where it has one
Finish: TypeAlias = Callable[[Any], Any]  # waits for what an asynchronous store promises
Found: TypeAlias = tuple[int, Ranked]  # up to which k, and what

# The ways to ask, in the order in which they are tried; only those of a vector store take a k.
_OF_STORES = (
    "similarity_search_with_score",
    "asimilarity_search_with_score",
    "similarity_search",
    "asimilarity_search",
)
_OF_RETRIEVERS = ("invoke", "ainvoke", "__call__")
_TEXTS = ("doc_id", "title", "content")
_ANY_K = 10**12  # a retriever's answer is the same for every k

# By a word of the error that a store raises.
_CURES = {
    "thread": "One that allows no threads: at_once=1.",
    "loop": (
        "One whose connections belong to an event loop of yours cannot be asked from another: "
        "build it with one of its own (pgvector: PGEngine.from_connection_string(...))."
    ),
}


class AnyStore:
    """A vector store, retriever or function ``question -> documents``, asked question by question.

    Args:
        store: any of them.
        content: what it holds, in its user's words; None: nothing can be kept.
        at_once: how many questions it is asked at a time.

    Raises:
        TypeError: it cannot be asked.
    """

    def __init__(self, store: Any, content: str | None, at_once: int) -> None:
        ways = [way for way in (*_OF_STORES, *_OF_RETRIEVERS) if hasattr(store, way)]
        if isinstance(store, type) or not ways:
            wanted = (
                "a LangChain vector store or retriever, such as build_vectorstore(...), or a "
                "function from a question to documents"
            )
            raise wrong_type("vectorstore", wanted, store)

        self.name = name_of(store)
        self._store, self._content, self._at_once = store, content, at_once
        self._ways, self._takes_k = ways, ways[0] in _OF_STORES
        self._documents: dict[tuple[str, ...], Hit] = {}  # each once, however often it is found
        self._known: dict[str, Found] = {}  # by question
        _warn_of_added_scores(store)
        _warn_of_kept_words(store)

    def search(self, questions: Mapping[Any, str], k: int, cache: str | Path | None) -> Results:
        """Return the first k hits of every question, from the cache where it has them.

        Raises:
            ValueError, TypeError: a question failed, or what came is no list of documents; what
                came for the others is kept.
        """
        if self._content is None and cache is not None:
            warn_user(
                f"A {self.name} cannot be fingerprinted, so its results are not cached: they could "
                "be stale without a sign. Say what it holds, and they are: "
                'search_all(..., content="handbook 2026-11-30").'
            )
        with self._open(cache) as kept:
            new = self._find(questions, k, kept)

        hits = {
            query_id: [_as_hit(*found) for found in self._known[text][1][:k]]
            for query_id, text in questions.items()
        }

        # The direction of its scores is told by their order.
        scored = any("score" in hit for ranking in hits.values() for hit in ranking)
        return Results(
            hits,
            k,
            score_name=f"score of {self.name}" if scored else None,
            lower_is_better=direction(Results(hits)),
            searched=sum(text in new for text in questions.values()),
            questions=questions,
        )

    @contextmanager
    def _open(self, cache: str | Path | None) -> Iterator["_Kept | None"]:
        """Open the cache for this store; None where nothing can be kept."""
        if self._content is None:
            yield None
            return
        with open_cache(cache) as opened, identity_of(self._store) as identity:
            yield _Kept(opened, _hash([self._content, identity]))

    def _find(self, questions: Mapping[Any, str], k: int, kept: "_Kept | None") -> set[str]:
        """Find what is not known of the questions, and return which had to be asked."""
        # Known to this object or to the cache; a question that stands there twice is one.
        missing = []
        for text in dict.fromkeys(questions.values()):
            found = kept.read(text) if kept and not self._knows(text, k) else None
            if found:
                self._known[text] = found
            if not self._knows(text, k):
                missing.append(text)

        # The rest is asked, and each is kept as soon as it comes, also where another one fails.
        failed: dict[str, Exception] = {}
        with progress_bar(len(missing), "searching", "query") as bar:
            for text, came in self._ask_all(missing, k):
                bar.update()
                if isinstance(came, Exception):
                    failed[text] = came
                    continue
                depth = k if self._takes_k else _ANY_K
                self._known[text] = depth, [(self._shared(hit), score) for hit, score in came]
                if kept:
                    kept.keep(text, self._known[text])
        if failed:
            raise self._failure(failed, questions, k, bool(kept))
        return set(missing)

    def _knows(self, text: str, k: int) -> bool:
        return text in self._known and self._known[text][0] >= k

    def _shared(self, document: Hit) -> Hit:
        """Return the one copy of a document, so that hits do not each hold its text."""
        return self._documents.setdefault(tuple(document.values()), document)

    def _failure(
        self, failed: Mapping[str, Exception], questions: Mapping[Any, str], k: int, kept: bool
    ) -> Exception:
        """Return the error of the first question that failed, with what is not lost."""
        query_id, text = next(pair for pair in questions.items() if pair[1] in failed)
        error, others = failed[text], len(failed) - 1
        also = f"So did {count(others, 'other query')}." if others else ""
        n_found = sum(self._knows(text, k) for text in questions.values())
        then = ""
        if kept:
            then = f"{n_found} of {count(len(questions), 'query')} are kept: the same call goes on."
        elif n_found:
            then = (
                f"What {count(n_found, 'query')} found is lost: "
                'cache="results.sqlite" and content="handbook 2026-11-30" keep it.'
            )
        kind = TypeError if isinstance(error, TypeError) else ValueError
        failure = kind(" ".join(filter(None, [f"{query_id}: {error}", also, then])))
        failure.__cause__ = error.__cause__
        return failure

    # ------------------------------------------------------------ asking

    def _ask_all(self, texts: Sequence[str], k: int) -> Iterator[tuple[str, Ranked | Exception]]:
        """Give every question with what came for it, in the order in which it came.

        No other is asked before those that came are taken, and kept: a kill loses only those that
        are on their way. After a failure these still come, and no other is asked.
        """
        from langchain_core.runnables.config import ContextThreadPoolExecutor

        # A store with a batch of its own gets as many questions in one call.
        size, workers = (self._at_once, 1) if _has_batch(self._store) else (1, self._at_once)
        left = iter([texts[start : start + size] for start in range(0, len(texts), size)])

        finish = partial(_finish, loop=_event_loop())

        with ContextThreadPoolExecutor(workers) as pool:

            def ask(batch: Sequence[str]) -> list[tuple[str, Ranked | Exception]]:
                came = [self._read(one) for one in self._ask(batch, k, finish)]
                return list(zip(batch, came, strict=True))

            # One at a time in the caller's own thread: some stores allow no other.
            def start(n: int) -> set[Future[Any]]:
                if workers > 1:
                    return {pool.submit(ask, batch) for batch in islice(left, n)}
                return {_done(ask(batch)) for batch in islice(left, n)}

            running = start(workers)
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for came in (one.result() for one in done):
                    yield from came
                    if any(isinstance(one, Exception) for _, one in came):
                        left = iter([])
                running |= start(len(done))

    def _ask(self, batch: Sequence[str], k: int, finish: Finish) -> list[Any]:
        """Return what came for each question: documents, or the error."""
        if _has_batch(self._store):
            options = {"max_concurrency": self._at_once}
            try:
                came = self._store.batch(list(batch), options, return_exceptions=True)
            except Exception as error:
                return [error] * len(batch)
            return came if len(came) == len(batch) else [came] * len(batch)

        # In the first way that the store has not left unwritten.
        (text,) = batch
        for way in self._ways:
            depth = {"k": k} if way in _OF_STORES else {}
            try:
                return [finish(getattr(self._store, way)(text, **depth))]
            except NotImplementedError as error:
                unwritten = error
            except Exception as error:
                return [error]
        return [unwritten]

    def _read(self, came: Any) -> Ranked | Exception:
        """Return documents and scores, or the error as a sentence."""
        if isinstance(came, Exception):
            said = str(came)
            cures = [cure for word, cure in _CURES.items() if word in said]
            failure = ValueError(
                " ".join([f"The {self.name} failed ({type(came).__name__}: {said[:500]}).", *cures])
            )
            failure.__cause__ = came
            return failure
        try:
            return _as_ranked(came, self.name)
        except (TypeError, ValueError) as error:
            return error


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """Return the loop in which what an asynchronous store promises is waited for.

    In a thread of its own, because a notebook's loop already runs; one for all searches, because a
    store's connections belong to the loop that opened them.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


if hasattr(os, "register_at_fork"):  # a forked process has the loop without its thread
    os.register_at_fork(after_in_child=_event_loop.cache_clear)


def _finish(came: Any, loop: asyncio.AbstractEventLoop) -> Any:
    """Return what came, and wait for what is only promised."""

    async def wait() -> Any:
        return await came

    if not inspect.isawaitable(came):
        return came
    return asyncio.run_coroutine_threadsafe(wait(), loop).result()


def _done(came: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(came)
    return future


def _has_batch(store: Any) -> bool:
    """Say whether a LangChain Runnable has written its own way to answer a batch."""
    from langchain_core.runnables import Runnable

    return isinstance(store, Runnable) and type(store).batch is not Runnable.batch


def _as_ranked(came: Any, name: str) -> Ranked:
    """Read documents, pairs of a document and its score, or hits."""
    if not isinstance(came, (list, tuple)):
        raise _odd_answer(came, name)
    ranked: Ranked = []
    for one in came:
        document, score = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
        if hasattr(document, "page_content") and hasattr(document, "metadata"):
            hit = read_document(document)
        elif isinstance(document, Mapping) and isinstance(document.get("doc_id"), str):
            hit = {field: str(document.get(field, "")) for field in _TEXTS}
            score = document.get("score") if score is None else score
        else:
            raise _odd_answer(came, name)
        if score is not None and (not is_number(score) or score != score):
            raise ValueError(
                f"The {name} gave the score {shown(score)} for {hit['doc_id']}: the order then "
                "means nothing. Look at the search."
            )
        ranked.append((hit, None if score is None else float(score)))
    return ranked


def _odd_answer(came: Any, name: str) -> TypeError:
    return TypeError(
        f"The {name} gave {describe(came)} for a question; a list of LangChain documents was "
        'wanted, or of hits such as {"doc_id": "doc_001"}. Give a vector store, a retriever, or a '
        "function of the question alone that returns one of these."
    )


def _as_hit(document: Hit, score: float | None) -> Hit:
    return dict(document) if score is None else {**document, "score": score}


def warn_of_few(store: Any, results: Results) -> None:
    """Warn of a depth that is less than k, of all queries or of some.

    A retriever has a depth of its own, and an index that is not exact looks at a part of itself.
    """
    deepest = max(map(len, results.values()))
    is_store = hasattr(store, "similarity_search")
    if deepest < results.k:
        more = f'as_retriever(search_kwargs={{"k": {results.k}}})'
        cure = f"ask for more: {more}" if hasattr(store, "invoke") else "let it give more"
        warn_user(
            f"The {name_of(store)} returned at most {count(deepest, 'hit')} a query although "
            f"k={results.k}. If the corpus is larger, {_LOOK_AT_MORE if is_store else cure}."
        )
        return

    short = [query_id for query_id, hits in results.items() if len(hits) < deepest]
    if is_store and short:
        warn_user(
            f"Fewer than {count(deepest, 'hit')} for {name_some(short)}, of the "
            f"{name_of(store)}: {_LOOK_AT_MORE}."
        )


_LOOK_AT_MORE = (
    "an approximate index looked at too few: raise what it looks at (pgvector: hnsw.ef_search, "
    "ivfflat.probes), and see that it takes effect"
)


def name_of(store: Any) -> str:
    """Return the name of a function, or else of the class."""
    return str(getattr(store, "__name__", type(store).__name__))


def _warn_of_added_scores(store: Any) -> None:
    """Warn of LangChain's EnsembleRetriever where it tells documents apart by their text."""
    while hasattr(store, "base_retriever"):  # behind a reranker
        store = store.base_retriever
    is_ensemble = all(hasattr(store, field) for field in ("retrievers", "weights", "id_key"))
    if is_ensemble and store.id_key is None:
        warn_user(
            f"{type(store).__name__} without id_key takes documents of equal text for one, and "
            'adds up their scores. Give it id_key="doc_id" (a field of the documents\' metadata).'
        )


def _warn_of_kept_words(store: Any) -> None:
    """Warn of the hybrid search of LangChain's PGVectorStore, which keeps one question's words."""
    store = getattr(store, "vectorstore", store)  # behind a retriever
    inner = getattr(store, "_PGVectorStore__vs", store)
    if hasattr(getattr(inner, "hybrid_search_config", None), "fts_query"):
        warn_user(
            f"The hybrid search of a {type(store).__name__} keeps the words of its first question "
            "for all others (langchain-postgres 0.0.19). Give each question its own: lambda "
            "question: store.similarity_search(question, k=10, hybrid_search_config="
            "HybridSearchConfig(fts_query=question))."
        )


# ---------------------------------------------------------------- what is kept, and under what


class _Kept:
    """The answers of one store in a cache, where the text of a document stands once."""

    def __init__(self, cache: Cache, identity: str) -> None:
        self._cache, self._identity = cache, identity
        self._documents: dict[str, Hit] = {}  # that stand in the cache, by their keys

    def read(self, text: str) -> Found | None:
        """Return the answer to a question; None if it is not found or cannot be read."""
        try:
            k, ranked = json.loads(self._cache.answer(self._key(text)) or "")
            its = [(self._document(key), score) for key, score in ranked]
        except (TypeError, ValueError, KeyError, RecursionError):
            return None
        sound = all(score is None or type(score) is float for _, score in its)
        return (k, its) if type(k) is int and sound else None

    def keep(self, text: str, found: Found) -> None:
        """Keep the answer to a question at once."""
        k, ranked = found
        keys = [_hash(["document", *document.values()]) for document, _ in ranked]
        documents = {key: document for key, (document, _) in zip(keys, ranked, strict=True)}
        new = {
            key: json.dumps(document)
            for key, document in documents.items()
            if key not in self._documents
        }
        scores = [score for _, score in ranked]
        answer = json.dumps([k, list(zip(keys, scores, strict=True))])
        self._cache.keep_answers(new | {self._key(text): answer})
        self._documents |= documents

    def _key(self, text: str) -> str:
        return _hash(["hits", self._identity, text])

    def _document(self, key: str) -> Hit:
        if key not in self._documents:
            kept = json.loads(self._cache.answer(key) or "")
            self._documents[key] = {field: str(kept[field]) for field in _TEXTS}
        return self._documents[key]


# How a store was when a search left it, and what it counted as: what a search itself moves, such as
# a counter of calls, is no setting.
_left: dict[int, tuple[str, str]] = {}


@contextmanager
def identity_of(store: Any) -> Iterator[str]:
    """Give a hash of all that decides what a store finds, but for its content."""
    now = _hash(_told(store))
    before, counted_as = _left.get(id(store), ("", ""))
    identity = counted_as if now == before else now
    try:
        yield identity
    finally:
        _left[id(store)] = _hash(_told(store)), identity


def _told(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """Return what a value tells of itself, in lists of texts: class, code, settings and parts.

    Documents are content, and so is a long list.
    """
    if value is None or isinstance(value, (str, bytes, Real)):
        return repr(value)
    if isinstance(value, Enum):
        return [type(value).__qualname__, value.name]
    if hasattr(value, "page_content") or id(value) in inside or len(inside) > 8:
        return type(value).__qualname__

    inside = (*inside, id(value))
    if isinstance(value, Mapping):
        value = [*value.items()]
    if isinstance(value, _COLLECTIONS):
        told = [_told(one, inside) for one in value] if len(value) <= _FEW else []
        return sorted(told, key=repr) if isinstance(value, (set, frozenset)) else told
    return _told_by_code(value, inside) or _told_by_object(value, inside)


def _told_by_code(value: Any, inside: tuple[int, ...]) -> Any:
    """Return what a function or class does, and what it was defined with; None for an object."""
    if isinstance(value, CodeType):
        return [value.co_code.hex(), list(value.co_names), _told(value.co_consts, inside)]
    if isinstance(value, type):
        own = [base for base in value.__mro__ if _is_own(base)]
        return [value.__qualname__, [_told(_fields(vars(base)), inside) for base in own]]
    if isinstance(value, partial):
        return [_told(value.func, inside), _told([value.args, value.keywords], inside)]
    parts = [getattr(value, name) for name in _OF_CODE if hasattr(value, name)]
    return [type(value).__qualname__, _told(parts, inside)] if parts else None


def _told_by_object(value: Any, inside: tuple[int, ...]) -> Any:
    """Return the class and the settings of an object that is the user's or a part of LangChain's.

    So of one made of named fields, such as the options of an index. Any other, such as a client,
    counts by its class; the lists of a vector store are content.
    """
    is_store = hasattr(value, "similarity_search")
    is_part = is_store or hasattr(value, "invoke") or hasattr(value, "embed_query")
    is_fields = any(hasattr(type(value), name) for name in _NAMED_FIELDS)
    if not is_part and not is_fields and not _is_own(type(value)):
        return type(value).__qualname__

    slots = getattr(type(value), "__dataclass_fields__", ())
    named = {name: getattr(value, name, None) for name in slots}
    private = getattr(value, "__pydantic_private__", None) or {}
    fields = _fields({**named, **getattr(value, "__dict__", {}), **private})
    if is_store:
        kinds = (Mapping, *_COLLECTIONS)
        fields = {name: its for name, its in fields.items() if not isinstance(its, kinds)}
    return [_told(type(value), inside), _told(fields, inside)]


_FEW = 100
_NAMED_FIELDS = ("__dataclass_fields__", "__pydantic_fields__")
_COLLECTIONS = (list, tuple, set, frozenset)

# Of functions, methods and class methods, properties, and the cells of a closure.
_OF_CODE = (
    "__code__", "__defaults__", "__kwdefaults__", "__closure__", "__func__", "__self__",
    "fget", "cell_contents",
)  # fmt: skip


def _fields(its: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in its.items() if not name.startswith("__")}


def _is_own(kind: type) -> bool:
    """Say whether a class is the user's: of no installed package and not of Python itself."""
    package = kind.__module__.partition(".")[0]
    return package not in sys.stdlib_module_names and not is_installed(package)


def _hash(told: Any) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]
