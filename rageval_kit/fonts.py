"""Which letters a plot can draw: the Korean font, where there is one, and what to write else.

A text that no installed font can draw would be a row of boxes and a warning; something else is
written instead: the id of a document, or the kit's own words in English.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rageval_kit.wording import in_english, say

# Every font that plots choose from, the first of them that is there, and the name of its file.
_KOREAN_FONTS = {
    "Noto Sans CJK KR": "NotoSansCJKkr-Regular.otf",
    "Noto Sans CJK JP": "NotoSansCJK-Regular.ttc",  # has Hangul; matplotlib knows its first name
    "Noto Sans KR": "NotoSansKR-Regular.ttf",
    "NanumGothic": "NanumGothic.ttf",
    "NanumBarunGothic": "NanumBarunGothic.ttf",
    "Malgun Gothic": "malgun.ttf",
    "Apple SD Gothic Neo": "AppleSDGothicNeo.ttc",
    "AppleGothic": "AppleGothic.ttf",
}


def korean_font() -> str | None:
    """Return the Korean font that plots use, or None where none is installed."""
    from matplotlib import font_manager

    found = _first_of(font_manager.get_font_names())
    if found is None:
        # Matplotlib keeps a list of fonts, and does not see those that were installed since.
        _list_fonts_installed_since(tuple(_KOREAN_FONTS.values()))
        found = _first_of(font_manager.get_font_names())
    return found


def _first_of(installed: Iterable[str]) -> str | None:
    names = set(installed)
    return next((font for font in _KOREAN_FONTS if font in names), None)


@cache  # to look through the folders takes a moment, and is done once
def _list_fonts_installed_since(files: tuple[str, ...]) -> None:
    from matplotlib import font_manager

    for path in font_manager.findSystemFonts():
        if Path(path).name in files:
            font_manager.fontManager.addfont(path)


def font_families() -> list[str]:
    """Return the fonts to draw with: matplotlib's own, and a Korean one behind it."""
    font = korean_font()
    return ["DejaVu Sans"] if font is None else ["DejaVu Sans", font]


def drawable(text: Any, otherwise: str) -> str:
    """Return the text, or what to write where no installed font has its letters."""
    from matplotlib.font_manager import findfont, get_font

    fonts = [get_font(findfont(family)) for family in font_families()]
    shown = str(text)
    if not all(any(font.get_char_index(ord(letter)) for font in fonts) for letter in shown):
        shown = otherwise
    return shown.replace("$", r"\$")  # not the beginning of a formula


def drawable_names(names: Iterable[Any], otherwise: str) -> list[str]:
    """Return the names, or where no font has their letters a word and a number."""
    return [drawable(name, f"{otherwise} {number}") for number, name in enumerate(names, start=1)]


def label(text: str, **values: Any) -> str:
    """Return the kit's own words in the chosen language, or in English where no font has it.

    >>> label("better on {n}", n=12)
    'better on 12'
    """
    with in_english():
        english = say(text, **values)
    return drawable(say(text, **values), english)
