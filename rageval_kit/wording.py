"""The language of what the kit says: English, unless `set_language` chooses another.

A text stands where it is said, in English, as `say` is given it; the table of another language has
it under that English text. Prompts, which are long, stand beside their Korean. Errors and warnings,
names of columns and of metrics, and values that code compares (error, complete, correct) stay
English.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rageval_kit.korean import KOREAN, KOREAN_COUNTS
from rageval_kit.messages import count, name_some, shown
from rageval_kit.prompts import KOREAN_PROMPTS

TABLES = {"en": {}, "ko": KOREAN | KOREAN_PROMPTS}  # English is its own key
COUNTS = {"ko": KOREAN_COUNTS}  # English has `count`
_language = "en"


def set_language(language: str) -> None:
    """Choose the language of verdicts, findings, captions, meanings, cures, plots and prompts.

    Texts that are there already, in tables and findings, keep theirs. Errors and warnings are in
    English always.

    Args:
        language: ``"en"`` or ``"ko"``.

    Raises:
        ValueError: there is no such language.

    >>> set_language("ko")
    >>> say("ok")
    '정상'
    >>> set_language("en")
    """
    global _language
    if not isinstance(language, str) or language not in TABLES:
        choices = " or ".join(f'"{name}"' for name in TABLES)
        raise ValueError(f"language must be {choices}, found {shown(language)}. Choose one.")
    _language = language


def current_language() -> str:
    """Return the language that was chosen: ``"en"`` or ``"ko"``."""
    return _language


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Say all in a language within the block, and then in the one that was chosen."""
    chosen = current_language()
    set_language(language)
    try:
        yield
    finally:
        set_language(chosen)


def in_english() -> AbstractContextManager[None]:
    """Say all in English within the block: what becomes a part of an error or a warning."""
    return in_language("en")


# ---------------------------------------------------------------- to say


def say(text: str, /, **values: Any) -> str:
    """Return a text in the chosen language, with its values filled in; without any, as it is.

    >>> say("all {n} queries have the same ranking", n=3)
    'all 3 queries have the same ranking'
    """
    said = TABLES[_language].get(text, text)
    return said.format(**values) if values else said


def to_say(text: str) -> str:
    """Mark a text that is said later, such as one of a table of constants, and return it."""
    return text


def say_count(number: int, noun: str) -> str:
    """Return a number of things, as `count` does, in the chosen language.

    >>> set_language("ko")
    >>> say_count(1200, "query")
    '질의 1,200개'
    >>> set_language("en")
    """
    if _language in COUNTS:
        return COUNTS[_language][noun].format(f"{number:,}")
    return count(number, noun)


def say_some(values: Sequence[Any]) -> str:
    """Name the first few of many, as `name_some` does, in the chosen language."""
    first = name_some(values[:5])
    return say("{first} and {n:,} more", first=first, n=len(values) - 5) if values[5:] else first


def is_said(found: Any, text: str) -> bool:
    """Say whether what is found is a text, in any language: tables keep the one of their making.

    >>> is_said("better", "better"), is_said("더 낫다", "better"), is_said("worse", "better")
    (True, True, False)
    """
    return found in (text, *(table.get(text) for table in TABLES.values()))
