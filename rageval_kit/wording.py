"""The language of what the kit says: English, unless `set_language` chooses another.

A text stands where it is said, in English, as `say` is given it; the table of another language has
it under that English text. Errors, names of columns and of metrics stay English.
"""

from typing import Any

from rageval_kit.korean import KOREAN
from rageval_kit.messages import shown

TABLES: dict[str, dict[str, str]] = {"en": {}, "ko": KOREAN}  # English is its own key
_language = "en"


def set_language(language: str) -> None:
    """Choose the language of verdicts, findings, captions, meanings, cures, plots and prompts.

    Tables and reports that are there already keep theirs.

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
    if language not in TABLES:
        raise ValueError(f"language is one of {', '.join(TABLES)}; found {shown(language)}.")
    _language = language


def current_language() -> str:
    """Return the language that was chosen: ``"en"`` or ``"ko"``."""
    return _language


def say(text: str, **values: Any) -> str:
    """Return a text in the chosen language, with its values filled in.

    >>> say("all {n} queries have the same ranking", n=3)
    'all 3 queries have the same ranking'
    """
    return TABLES[_language].get(text, text).format(**values)


def is_said(found: Any, text: str) -> bool:
    """Say whether what is found is a text, in any language: tables keep the one of their making.

    >>> is_said("better", "better"), is_said("더 낫다", "better"), is_said("worse", "better")
    (True, True, False)
    """
    return found in (text, *(table.get(text) for table in TABLES.values()))
