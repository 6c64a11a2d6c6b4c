"""What a model is known by: every setting that could change its vectors or answers, and no secret.

The one rule for embeddings and for language models. In doubt a setting counts: a wrong guess then
costs a search, never a stale result. What an embeddings model answers, its probe, is in vectors.py.
"""

import os
import re
import sys
import uuid
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cached_property
from numbers import Real
from typing import Any
from weakref import WeakValueDictionary


def model_name(model: object) -> str:
    """Return a short name that a reader knows the model by; a wrapper's names what is inside.

    >>> from rageval_kit.embeddings import load_embeddings
    >>> model_name(load_embeddings("chars"))
    'CharacterEmbeddings(dimensions=2048)'
    """
    model = without_cache(model)
    shown = {field: getattr(model, field, None) for field in ("model", "model_name", "dimensions")}
    settings = [
        f"{field}={_plain(value)}"
        for field, value in shown.items()
        if isinstance(value, (str, int))
    ]
    settings += [model_name(part) for part in _parts(model) if hasattr(type(part), "embed_query")]
    return f"{type(model).__name__}({', '.join(settings)})"


def without_cache(model: Any) -> Any:
    """Return the model inside wrappers that only keep its vectors: it is known by its own name."""
    while inner := getattr(model, _KEEPERS.get(type(model).__name__, ""), None):
        model = inner
    return model


# Where a wrapper that only keeps vectors has its model: LangChain's, and the kit's; and where one
# that shortens them has itself around the bare model.
_KEEPERS = {
    "CacheBackedEmbeddings": "underlying_embeddings",
    "CachedEmbeddings": "inner",
    "ShortEmbeddings": "_without_cache",
}


def _parts(model: object) -> list[Any]:
    """Return what a model holds, in private fields too."""
    fields = getattr(model, "__dict__", None) or {}
    private = getattr(model, "__pydantic_private__", None) or {}
    return [part for part in (*fields.values(), *private.values()) if part is not model]


def is_known(model: object) -> bool:
    """Say whether settings and a probe tell all that an embeddings model does.

    They do for LangChain's and the kit's classes that hold plain values only, or a model that is
    known itself. A class of one's own may be edited, and an object inside one may treat some texts
    otherwise, where none would see it.
    """
    model = without_cache(model)
    code = (type(model), getattr(type(model), "embed_query", None))
    if not all(_is_settled(getattr(part, "__module__", "")) for part in code):
        return False
    return all(
        _is_plain(value) or name in _TRANSPORT or _is_secret(name) or _is_known_part(value)
        for name, value in _public(model).items()
    )


def _is_known_part(value: object) -> bool:
    return hasattr(type(value), "embed_query") and is_known(value)


def _is_settled(module: str) -> bool:
    """Say whether a module is the kit's, or LangChain's as installed: not edited while Python runs.

    A student's own langchain_test.py is not.
    """
    root = module.partition(".")[0]
    return root == "rageval_kit" or (root.startswith("langchain") and is_installed(module))


def is_installed(module: str) -> bool:
    """Say whether a module is of an installed package; the one that Python runs is not."""
    root = module.partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return root != "__main__" and "-packages" in file


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, Collection) and not isinstance(value, (str, bytes)):
        return isinstance(value, (list, tuple, set, frozenset)) and all(map(_is_plain, value))
    plain = value is None or isinstance(value, (str, bytes, Real, os.PathLike))
    return plain or hasattr(value, "get_secret_value")


def token(model: object) -> str:
    """Return a name for this very object, which no other object ever gets."""
    for name, known in list(_objects.items()):
        if known is model:
            return name
    name = uuid.uuid4().hex
    with suppress(TypeError):  # what cannot be referred to weakly has another name in each call
        _objects[name] = model
    return name


_objects: WeakValueDictionary[str, Any] = WeakValueDictionary()


def model_settings(model: object) -> dict[str, Any]:
    """Return the public settings of a model, so that a changed one is noticed.

    A prompt put before queries, for example, changes what a search finds and is in no vector of the
    index. Two kinds are left out, and may change unnoticed: secrets (``SecretStr``, fields that are
    called ``api_key``, ``password``, ..., credentials in a URL), and what only steers the requests
    (``timeout``, ``max_retries``, ...). An embeddings model inside counts by its own settings; what
    else is no text, number or collection counts by its class.

    Args:
        model: LangChain embeddings or a language model; its fields, else its attributes, are read.

    >>> class Model:
    ...     def __init__(self):
    ...         self.prompt, self.max_tokens, self.timeout = "query: ", 50, 60
    ...         self.api_key, self.url = "sk-123", "https://me:password@host/v1"
    >>> model_settings(Model())
    {'prompt': 'query: ', 'max_tokens': 50, 'url': 'https://host/v1'}
    """
    return _settings(_public(model))


def own_state(model: object, seen: frozenset[int] = frozenset()) -> dict[str, Any]:
    """Return all that can be read of an object of one's own: it may change between two calls.

    Private settings too, those of its class, and those of the objects in it that are defined where
    it is itself, in one notebook for example.

    >>> class Style:
    ...     def __init__(self, word):
    ...         self._word = word
    >>> class Model:
    ...     place = "here"
    ...     def __init__(self):
    ...         self.style = Style("short")
    >>> own_state(Model())
    {'place': 'here', 'style': {'_word': 'short'}}
    """
    home, seen = type(model).__module__, seen | {id(model)}
    fields = {
        name: value
        for kind in reversed(type(model).__mro__)
        for name, value in vars(kind).items()
        if kind.__module__ == home and not name.startswith("__") and not callable(value)
    }
    fields |= getattr(model, "__dict__", None) or {}
    fields |= getattr(model, "__pydantic_private__", None) or {}

    # What is worked out from the rest and kept is no setting; what is of one's own is looked into.
    fields = {
        name: own_state(value, seen) if _is_of(value, home) and id(value) not in seen else value
        for name, value in fields.items()
        if not isinstance(getattr(type(model), name, None), cached_property)
    }
    return _settings(fields)


def _is_of(value: object, home: str) -> bool:
    return type(value).__module__ == home


def _public(model: object) -> dict[str, Any]:
    fields = getattr(type(model), "model_fields", None) or getattr(model, "__dict__", {})
    return {field: getattr(model, field, None) for field in fields if not field.startswith("_")}


def _settings(fields: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fields that count, in their order."""
    kept = {}
    for name, value in fields.items():
        secret = _is_secret(str(name)) or hasattr(value, "get_secret_value")
        if value is not None and not secret and _snake_case(str(name)) not in _STEERING:
            kept[str(name)] = _plain(value)
    return kept


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, (str, os.PathLike)):
        return without_credentials(str(value))
    if isinstance(value, Real):
        return value
    if isinstance(value, Mapping):
        return _settings(value)
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value if not hasattr(part, "get_secret_value")]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(part) for part in value), key=repr)
    kind = type(value)
    is_model = hasattr(kind, "embed_query")
    return {kind.__qualname__: model_settings(value)} if is_model else kind.__qualname__


def without_credentials(text: str) -> str:
    """Return a text without what lets one in: a user in a URL, a secret parameter, a bearer token.

    >>> without_credentials("https://me:password@host/v1?token=123&version=2")
    'https://host/v1?version=2'
    """
    text = _TOKEN.sub(r"\1", text)
    if "://" not in text:
        return text
    text = _USER.sub("", text)
    return _PARAMETER.sub(lambda found: "" if _is_secret(found[1]) else found[0], text)


def _is_secret(name: str) -> bool:
    return _SECRET.search(_snake_case(name)) is not None


def _snake_case(name: str) -> str:
    """Return apiKey, API_KEY and Api-Key as api_key."""
    return _HUMP.sub("_", name).replace("-", "_").lower()


_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# Names that are secret as a whole or as an ending: `token` and `hf_token`, but not `stop_token`.
_SECRET = re.compile(
    "(^|_)(api_?key|(access|account|private|secret|subscription)_key|access_key_id"
    "|(access|api|auth|bearer|hf|hub|refresh|security|session)_token|secret|password|passwd|pwd"
    "|passphrase|credentials?|auth|authorization|bearer|cookie)$|^(token|pat|sig|signature)$"
)

# Whole names of what steers the requests, and not what comes back.
_STEERING = frozenset(
    """timeout request_timeout default_timeout max_retries retries retry_min_seconds
    retry_max_seconds max_concurrency rate_limiter chunk_size batch_size show_progress
    show_progress_bar verbose callbacks streaming stream_usage disable_streaming""".split()
)

# Fields of LangChain's classes that only carry requests.
_TRANSPORT = frozenset(
    "client async_client http_client http_async_client rate_limiter callbacks".split()
)

_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_PARAMETER = re.compile(r"(?<=[?&])([\w-]+)=[^&#\s]*&?")
_TOKEN = re.compile(r"\b(Bearer|Basic) [\w.~+/=-]{16,}")
