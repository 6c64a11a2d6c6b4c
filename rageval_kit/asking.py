"""Ask a chat model for JSON of one form, prompt by prompt: what is finished is never asked again.

A reply that is not in the form is asked for again a few times. A finished one is kept at once,
under the model and all that it was asked: the same call goes on where it stopped.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

from rageval_kit.answers import as_text, keys_of, naming
from rageval_kit.cache import Cache, open_cache
from rageval_kit.language import without_thoughts
from rageval_kit.messages import printable, show_progress
from rageval_kit.wording import say, say_count


class Request(NamedTuple):
    """One prompt.

    Attributes:
        name: what an error calls it, such as its query_id.
        prompt: the text that the model gets.
        read: from the object that the model gave to what it says; None if it is malformed.
    """

    name: Any
    prompt: str
    read: Callable[[Any], Any]


class Reply(NamedTuple):
    """What a reply says, None where it stayed malformed; and its words, "" where it was kept."""

    says: Any
    words: str = ""


def schema_of(title: str, description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has each of these properties, and no other."""
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


class Asking:
    """A chat model, the JSON schema of its replies, and where they are kept.

    The model is asked for structured output where it can give it, else for JSON as its whole reply:
    JSON within other words could be quoted from what it read.

    Args:
        model: a LangChain chat model, see `want_askable`.
        schema: of the JSON object that is wanted.
        retries: how often a malformed reply is asked for again.
        cache: path of an SQLite file; None keeps the replies in memory while Python runs.

    Raises:
        ValueError: retries is not 0 or more.
    """

    def __init__(
        self, model: Any, schema: Mapping[str, Any], retries: Any, cache: str | Path | None
    ) -> None:
        if isinstance(retries, bool) or not isinstance(retries, Integral) or retries < 0:
            raise ValueError(f"retries must be 0, 1, 2, ..., found {retries!r}.")
        self._schema = schema
        self._cache = cache
        self._tries = int(retries) + 1
        self._ask = _asker(model, schema)
        self._key_of = keys_of(model)

    def ask(self, requests: Sequence[Request], what: str, unit: str) -> list[Reply]:
        """Return a reply for each request, in order; ``what, unit`` name the work in its bar."""
        replies = []
        with self._open() as stored:
            for request in show_progress(requests, what, unit):
                says, words = self._kept(stored, request), ""
                for _ in range(self._tries if says is None else 0):
                    with naming(request.name):
                        given, words = self._ask(request.prompt)
                    says = request.read(given)
                    if says is not None:
                        key = self._key_of([self._schema, request.prompt])
                        stored.keep_answer(key, json.dumps(given, ensure_ascii=False))
                        break
                replies.append(Reply(says, words))
        return replies

    def print_cost(self, requests: Sequence[Request]) -> None:
        """Print the first prompt, and what all of them cost; nothing is asked."""
        with self._open() as stored:
            new = [request.prompt for request in requests if self._kept(stored, request) is None]
        if new:
            print(say("The first prompt:"), "", *map(printable, new[0].split("\n")), "", sep="\n")
        print(
            say(
                "To ask: {texts} of {characters:,} characters in all, {requests}, at most {most:,} "
                "where replies are malformed; {replies} kept before. Nothing was asked yet: leave "
                "out dry_run=True to ask.",
                texts=say_count(len(new), "text"),
                characters=sum(map(len, new)),
                requests=say_count(len(new), "request"),
                most=len(new) * self._tries,
                replies=say_count(len(requests) - len(new), "reply"),
            )
        )

    def _open(self) -> AbstractContextManager[Cache]:
        return open_cache(self._cache)

    def _kept(self, stored: Cache, request: Request) -> Any:
        """Return what a kept reply says; one that cannot be read is asked for again."""
        words = stored.answer(self._key_of([self._schema, request.prompt]))
        return None if words is None else request.read(read_json(words))


def _asker(model: Any, schema: Mapping[str, Any]) -> Callable[[str], tuple[Any, str]]:
    """Return a function from a prompt to (what the model gave as an object, its reply as text)."""
    try:
        structured = model.with_structured_output(schema, include_raw=True)
    except (NotImplementedError, AttributeError):
        structured = None

    def ask(text: str) -> tuple[Any, str]:
        if structured is None:
            words = as_text(model.invoke(text))
            return read_json(words), words

        # A reply that the limit of tokens cut off is one malformed reply, and not the end of all.
        try:
            reply = structured.invoke(text)
        except Exception as error:
            cut = getattr(error, "completion", None)
            if cut is None:
                raise
            return None, cut.choices[0].message.content or ""

        # LangChain's parser reads a text less strictly: JSON within words, and half of it.
        raw = reply["raw"]
        words = as_text(raw) or str(raw.additional_kwargs.get("refusal") or "")
        return reply["parsed"] if raw.tool_calls else read_json(words), words

    return ask


def read_json(reply: str) -> Any:
    """Return a reply that is JSON as a whole, but for thoughts before it or a fence around it.

    >>> read_json('<think>Hm.</think> {"verdict": "wrong"}'), read_json('So {"verdict": "wrong"}')
    ({'verdict': 'wrong'}, None)
    """
    # Thoughts are those that the reply begins with: else what is quoted could end them.
    begun = reply.lstrip().startswith("<think>")
    text = (without_thoughts(reply) if begun else reply).strip()
    fenced = re.fullmatch(r"```(?:json)?(.*)```", text, re.DOTALL)
    try:
        found = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None

    # A model that was asked in Korean may name the fields so.
    if isinstance(found, dict):
        return {_KOREAN_FIELDS.get(name, name): value for name, value in found.items()}
    return found


_KOREAN_FIELDS = {
    "판정": "verdict", "이유": "reason", "등급": "grade",
    "질문": "question", "답": "answer", "답변": "answer", "구절": "passages",
}  # fmt: skip
