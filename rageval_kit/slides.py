"""Slides of a notebook, as nbconvert's exporter makes them: one HTML file that asks for no network.

nbconvert's own page loads reveal.js and MathJax from the internet. The page here
(slides.html.j2) shows the same sections with a few lines of its own, and formulas are drawn by
matplotlib.
"""

import base64
import io
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from rageval_kit.fonts import korean_font

# What a question begins with that is to be answered before the cell below it is run.
QUESTIONS = ("**Before you run:**", "**실행하기 전에:**")
_PAGE = Path(__file__).with_name("slides.html.j2")
_NEW_PART = re.compile(rf"^(?=#{{1,3}} |{'|'.join(map(re.escape, QUESTIONS))})", re.MULTILINE)
_FENCE = re.compile(r"(```.*?```)", re.DOTALL)  # a # in it is a comment, and no heading
_CODE_OR_FORMULA = re.compile(
    r"(?P<code>```.*?```|`[^`\n]+`)|\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)",
    re.DOTALL,
)
_SHORT_TEXT = 400  # characters that share a slide with code
_SHORT_CODE = 6  # lines that share a slide with a plot

Cell = dict[str, Any]


def to_slides(notebook: Any, title: str, language: str = "en") -> str:
    """Return a notebook as a page of slides, with its code, outputs, plots and formulas in it.

    Args:
        notebook: as nbformat reads it; it is not changed.
        title: of the page.
        language: of the text, for the browser: ``"ko"`` or ``"en"``.

    Raises:
        ImportError: nbconvert is not installed.
    """
    resources = {"metadata": {"name": title}}
    page, _ = _exporter(language).from_notebook_node(mark_slides(notebook), resources)
    return str(page)


@cache
def _exporter(language: str) -> Any:
    """Return nbconvert's exporter, whose templates take a second to read."""
    from nbconvert import SlidesExporter
    from traitlets.config import Config

    return SlidesExporter(
        raw_template=_PAGE.read_text(encoding="utf-8"),
        language_code=language,
        config=Config({"CSSHTMLHeaderPreprocessor": {"style": "default"}}),
    )


def mark_slides(notebook: Any) -> Any:
    """Return a copy of a notebook whose cells say where a slide begins.

    A heading ``#`` or ``##`` begins a slide; ``###``, a question to answer before the cell is run,
    a cell of code and a long text begin one below it. The output of a cell that is asked about
    comes with the next key. A cell is cut in two where that needs it.
    """
    marked = deepcopy(notebook)
    cells: list[Cell] = []
    for cell in marked["cells"]:
        if cell["cell_type"] == "markdown":
            cells += _texts(cell, cells)
        elif cell["cell_type"] == "code":
            cells += _code_and_output(cell, cells)

    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # a part has one of its own
        if cell["cell_type"] == "markdown":
            cell["source"] = _drawn(cell["source"])
    marked["cells"] = cells
    return marked


def _texts(cell: Cell, before: list[Cell]) -> list[Cell]:
    """Cut a text before its headings and questions, and say what each part begins."""
    parts: list[Cell] = []
    for text in _cut(cell["source"]):
        kind = "subslide"
        if text.startswith(("# ", "## ")):
            kind = "slide"
        elif not parts and before and len(text) <= _SHORT_TEXT and not _NEW_PART.match(text):
            kind = "-"  # below the cell that it is about
        parts.append(_marked(cell, kind, source=text))
    return parts


def _cut(text: str) -> list[str]:
    r"""Cut a text before each heading and question.

    >>> _cut("So it is.\n\n## 2. Why\nBecause.")
    ['So it is.', '## 2. Why\nBecause.']
    """
    fences = _FENCE.split(text)  # every second one is code
    pieces = [""]
    for number, stretch in enumerate(fences):
        first, *others = [stretch] if number % 2 else _NEW_PART.split(stretch)
        pieces[-1] += first
        pieces += others
    return [piece.strip() for piece in pieces if piece.strip()]


def _code_and_output(cell: Cell, before: list[Cell]) -> list[Cell]:
    """Let code begin a slide, but below a short text; cut off an output that comes later."""
    text, begins = "", "-"
    if before and before[-1]["cell_type"] == "markdown":
        text = before[-1]["source"]
        begins = before[-1]["metadata"]["slideshow"]["slide_type"]
    is_asked = text.startswith(QUESTIONS)
    kind = "-" if begins != "-" and len(text) <= _SHORT_TEXT else "subslide"

    is_large = _has_plot(cell) and cell["source"].count("\n") >= _SHORT_CODE
    if not cell["outputs"] or not (is_asked or is_large):
        return [_marked(cell, kind)]
    code = _marked(cell, kind, outputs=[])
    output = _marked(cell, "subslide" if is_large else "fragment", source="")
    output["metadata"]["transient"] = {"remove_source": True}
    return [code, output]


def _marked(cell: Cell, kind: str, **changes: Any) -> Cell:
    """Return a copy of a cell that begins what nbconvert calls so; "-" begins nothing."""
    copy = deepcopy(cell)
    copy.update(changes)
    copy["metadata"]["slideshow"] = {"slide_type": kind}
    return copy


def _has_plot(cell: Cell) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))


# ---------------------------------------------------------------- formulas


def _drawn(text: str) -> str:
    """Return a text with its formulas as drawings; what stands in code is no formula.

    >>> _drawn("It costs `$5` or `$6`.")
    'It costs `$5` or `$6`.'
    >>> _drawn("Let $k$ be 5.")
    'Let <img class="formula" alt="k" src="data:image/svg+xml;base64,..."> be 5.'
    """
    return _CODE_OR_FORMULA.sub(_drawing, text)


def _drawing(found: re.Match[str]) -> str:
    from matplotlib import rc_context
    from matplotlib.mathtext import math_to_image

    if found["code"]:
        return found[0]
    formula = " ".join((found["display"] or found["inline"]).split())
    image = io.BytesIO()
    try:
        with rc_context({"svg.hashsalt": "slides", **_fonts_of(formula)}):
            math_to_image(f"${formula}$", image, format="svg")
    except ValueError:  # matplotlib knows a part of LaTeX; the source can be read
        return f"`{formula}`"

    kind = "display formula" if found["display"] else "formula"
    data = base64.b64encode(image.getvalue()).decode()
    alt = formula.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<img class="{kind}" alt="{alt}" src="data:image/svg+xml;base64,{data}">'


def _fonts_of(formula: str) -> dict[Any, Any]:
    """Return matplotlib's settings to draw a formula; Korean words in it need the Korean font.

    Raises:
        ValueError: there are Korean words and no font.
    """
    if not re.search("[가-힣]", formula):
        return {"mathtext.fontset": "cm"}
    font = korean_font()
    if font is None:
        raise ValueError("Korean words in a formula need a Korean font.")
    upright = {f"mathtext.{style}": font for style in ("rm", "tt", "sf", "cal", "bf", "bfit")}
    return {"mathtext.fontset": "custom", "mathtext.it": "DejaVu Serif:italic", **upright}
