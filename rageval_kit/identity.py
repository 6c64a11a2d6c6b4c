"""What a model is known by: every setting that could change its vectors or answers, and no secret.

The one rule for embeddings and for language models. In doubt a setting counts: a wrong guess then
costs a search, never a stale result.
"""

import os
import re
from collections.abc import Mapping
from numbers import Real
from typing import Any


def model_settings(model: object) -> dict[str, Any]:
    """Return the public settings of a model, so that a changed one is noticed.

    A prompt put before queries, for example, changes what a search finds and is in no vector of the
    index. Two kinds are left out, and may change unnoticed: secrets (``SecretStr``, fields that are
    called ``api_key``, ``password``, ..., credentials in a URL), and what only steers the requests
    (``timeout``, ``max_retries``, ...). What is no text, number or collection counts by its class.

    Args:
        model: LangChain embeddings or a language model; its fields, else its attributes, are read.

    >>> class Model:
    ...     def __init__(self):
    ...         self.prompt, self.max_tokens, self.timeout = "query: ", 50, 60
    ...         self.api_key, self.url = "sk-123", "https://me:password@host/v1"
    >>> model_settings(Model())
    {'prompt': 'query: ', 'max_tokens': 50, 'url': 'https://host/v1'}
    """
    fields = getattr(type(model), "model_fields", None) or getattr(model, "__dict__", {})
    public = [field for field in fields if not field.startswith("_")]
    return _settings({field: getattr(model, field, None) for field in public})


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
    return type(value).__qualname__


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

_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_PARAMETER = re.compile(r"(?<=[?&])([\w-]+)=[^&#\s]*&?")
_TOKEN = re.compile(r"\b(Bearer|Basic) [\w.~+/=-]{16,}")
