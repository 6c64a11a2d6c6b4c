"""Know a system again, also in another session: by its code, what it was given and what it reads.

A function is followed through its code, its defaults, what it closes over and the globals that it
names, down to texts, numbers, lists, tables, documents and vectors. Code of installed packages
counts by its version, a model by its settings and its probe. What a file, a server or a network
holds is not seen.
"""

import builtins
import dis
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import packages_distributions, version
from numbers import Number
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.cache import open_cache
from rageval_kit.identity import (
    is_installed,
    is_known,
    model_name,
    model_settings,
    without_cache,
)
from rageval_kit.rankings import Results
from rageval_kit.search import FaissIndex, gives_index
from rageval_kit.vectors import probe
from rageval_kit.vectorstore import is_faiss

_PROTOCOL = 4  # of copying; the same in every Python

# What holds no content of its own: locks, loggers, references.
_EMPTY = ("_thread", "threading", "logging", "weakref")

# How an object was when an experiment left it, and what it counted as before: what a run itself
# moves, such as a counter of calls, is no setting.
_left: dict[int, tuple[str, str]] = {}


class Fingerprints:
    """Hashes of values, of which all that can be seen counts.

    Attributes:
        unseen: what could not be looked into since it was last cleared, such as a client: it counts
            by its class only.
    """

    def __init__(self) -> None:
        self.unseen: list[str] = []
        self._known: dict[int, tuple[Any, str, list[str]]] = {}  # by id; values stay alive
        self._in_model = False

    def of(self, value: Any) -> str:
        """Return a hash of all that is seen of a value.

        >>> hashes = Fingerprints()
        >>> hashes.of([1, "a"]) == hashes.of([1, "a"]), hashes.of([1, "a"]) == hashes.of(["1", "a"])
        (True, False)
        """
        if value is None or isinstance(value, (str, bytes, Number)):
            return _hash(type(value).__name__, repr(value))
        if id(value) in self._known:
            _, known, unseen = self._known[id(value)]
            self.unseen += unseen
            return known

        # Inside itself, a value counts by its class.
        self._known[id(value)] = value, _hash("itself", type(value).__qualname__), []
        before = len(self.unseen)
        now = self._look(value)
        left, counted_as = _left.get(id(value), ("", ""))
        told = counted_as if now == left else now

        # Known behind what is inside it.
        del self._known[id(value)]
        self._known[id(value)] = value, told, self.unseen[before:]
        return told

    def leave(self) -> None:
        """Note how the values are now, so that what a run moved in them is no change."""
        later = Fingerprints()
        for value, counted_as, _ in self._known.values():
            _left.pop(id(value), None)
            now = later.of(value)
            if now != counted_as:
                _left[id(value)] = now, counted_as
                later._known[id(value)] = value, counted_as, []

    # ------------------------------------------------------------ kinds of values

    def _look(self, value: Any) -> str:
        """Return the hash of a value that is more than a text or a number."""
        if isinstance(value, Results):
            return self._all("results", dict(value), value.known)
        if isinstance(value, (Mapping, list, tuple, set, frozenset)):
            return self._collection(value)
        if isinstance(value, (np.ndarray, np.generic, pd.DataFrame, pd.Series, pd.Index)):
            return self._table(value)
        if isinstance(value, (type, ModuleType, partial)) or _is_code(value):
            return self._code(value)
        if is_faiss(value) or gives_index(value):
            index = FaissIndex(value) if is_faiss(value) else value.as_index()
            return self._all("index", index.fingerprint, getattr(value, "embedding_function", None))
        return self._object(value)

    def _collection(self, value: Any) -> str:
        with suppress(TypeError, ValueError, RecursionError):  # more than texts and numbers
            return _hash(type(value).__name__, json.dumps(value))
        if isinstance(value, Mapping):
            return self._all("mapping", *[part for pair in value.items() for part in pair])
        if isinstance(value, (set, frozenset)):
            return _hash("set", *sorted(map(self.of, value)))
        return self._all("list", *value)

    def _all(self, kind: str, *parts: Any) -> str:
        return _hash(kind, *map(self.of, parts))

    def _table(self, value: Any) -> str:
        if isinstance(value, pd.DataFrame):
            return self._all("table", value.index, *[p for pair in value.items() for p in pair])
        values = np.asarray(value)
        if values.dtype == object:
            return self._all("objects", values.tolist())
        return _hash("array", str(values.dtype), str(values.shape), values.tobytes().hex())

    # ------------------------------------------------------------ code

    def _code(self, value: Any) -> str:
        """Return what a function, class or module does; an installed one counts by its version."""
        if isinstance(value, partial):
            return self._all("partial", value.func, value.args, value.keywords)
        if isinstance(value, CodeType):
            names = (value.co_names, value.co_varnames, value.co_freevars)
            return self._all("code", value.co_code, names, value.co_consts)
        is_module = isinstance(value, ModuleType)
        module = value.__name__ if is_module else getattr(value, "__module__", None) or ""
        if _is_settled(module) and not hasattr(value, "__wrapped__"):
            return _hash("installed", module, getattr(value, "__qualname__", ""), _version(module))
        if is_module:
            file = getattr(value, "__file__", None)
            return _hash("module", module, Path(file).read_text("utf-8") if file else "")
        if isinstance(value, type):
            own = [base for base in value.__mro__ if not _is_settled(base.__module__)]
            return self._all("class", value.__qualname__, [_without_dunder(vars(b)) for b in own])
        return self._function(value)

    def _function(self, value: Any) -> str:
        """Return what a function of one's own does, with all that it was given and names."""
        if hasattr(value, "__wrapped__"):  # such as functools.cache's
            return self._all(type(value).__qualname__, value.__wrapped__)
        if isinstance(value, MethodType):
            return self._all("method", value.__func__, value.__self__)
        if not hasattr(value, "__code__"):  # compiled: its name is all that can be seen
            return _hash("compiled", getattr(value, "__qualname__", type(value).__qualname__))

        # A cell is empty until what it holds is defined.
        cells = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        names = sorted(set(_global_names(value.__code__)))
        named = {name: value.__globals__[name] for name in names if name in value.__globals__}
        given = [value.__defaults__, value.__kwdefaults__, cells, named]
        return self._all("function", value.__code__, *given)

    # ------------------------------------------------------------ objects

    def _object(self, value: Any) -> str:
        """Return the hash of an object: of one's own and of LangChain's by its fields."""
        if hasattr(value, "embed_query"):
            return self._model(without_cache(value))
        if hasattr(value, "page_content") and hasattr(value, "metadata"):
            return self._all("document", value.page_content, value.metadata)
        kind = type(value)
        if isinstance(value, (property, staticmethod, classmethod)):
            parts = (getattr(value, name, None) for name in ("fget", "fset", "__func__"))
            return self._all(kind.__qualname__, *parts)
        is_part = kind.__module__.startswith(("rageval_kit", "langchain"))
        if is_part or not _is_settled(kind.__module__):
            return self._all("object", kind, _fields(value))
        return self._foreign(value)

    def _model(self, model: Any) -> str:
        """Return what an embeddings model is known by; in one, a client counts by its class."""
        if is_known(model):
            with open_cache(None) as stored:
                kind = f"query of {model_name(model)} {model_settings(model)!r}"
                return _hash("model", stored.known_model(kind, probe(model, "query")))
        inside, self._in_model = self._in_model, True
        try:
            return self._all("own model", type(model), _fields(model))
        finally:
            self._in_model = inside

    def _foreign(self, value: Any) -> str:
        """Return the hash of what another package's object is copied by, if it can be copied."""
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        if self._in_model or type(value).__module__ in _EMPTY:
            return _hash(kind)
        try:
            made_of = value.__reduce_ex__(_PROTOCOL)
        except Exception:  # a client, a connection, an open file
            self.unseen.append(type(value).__qualname__)
            return _hash(kind)
        if isinstance(made_of, str):
            return _hash(kind, made_of)
        return self._all(kind, *[list(p) if isinstance(p, Iterator) else p for p in made_of])


def _is_code(value: Any) -> bool:
    is_function = isinstance(value, (FunctionType, MethodType, CodeType))
    return is_function or hasattr(value, "__wrapped__") or type(value).__name__ in _BUILT_IN


_BUILT_IN = ("builtin_function_or_method", "method_descriptor", "wrapper_descriptor")


def _global_names(code: CodeType) -> Iterator[str]:
    """Give the globals that code names, in the functions within it too."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _global_names(const)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _is_settled(module: str) -> bool:
    """Say whether a module is Python's, the kit's or an installed package's: no one edits it."""
    root = module.partition(".")[0]
    standard = root in sys.stdlib_module_names or root == builtins.__name__
    return (standard and root != "__main__") or root == "rageval_kit" or is_installed(module)


@cache
def _version(module: str) -> str:
    """Return the version of the package that holds a module; Python's own for the rest."""
    names = _packages().get(module.partition(".")[0], [])
    return version(names[0]) if names else sys.version.split()[0]


@cache
def _packages() -> Mapping[str, list[str]]:
    """Return the packages that a module's name is found in; reading them takes a second."""
    return packages_distributions()


def _without_dunder(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a class defines, its operators and constructor too, without Python's notes."""
    return {name: its for name, its in fields.items() if name not in _NOTES}


_NOTES = frozenset(
    """__doc__ __module__ __dict__ __weakref__ __annotations__ __qualname__ __firstlineno__
    __static_attributes__ __abstractmethods__ _abc_impl""".split()
)


def _fields(value: Any) -> dict[str, Any]:
    """Return what an object holds, in private fields and slots too."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    fields = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    fields |= getattr(value, "__dict__", None) or {}
    return fields | (getattr(value, "__pydantic_private__", None) or {})


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
