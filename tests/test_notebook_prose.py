"""Every figure in a notebook's text is one that the notebook shows: read from the committed file.

**Figures** are the numbers in digits of the markdown cells: ``0.58``, ``12.4 %``, ``1,442``, ``7``.
None are: code spans, code blocks, formulas (``$...$``); numbers within a name (``q05``, ``doc_003``,
``nDCG@10``); the numbering of lists, headings, notebooks and sections; dates, years and clock times,
the minutes of a class. Numbers in words are out of scope.

**Where a figure is found.** In what code cells printed and in their code, comments left out:

* one with decimals, or a percentage, in its own section (``##``), above it or in the code cell that
  follows its text, or quoted in the text above. An integer, which may be a size that holds
  throughout, anywhere in the notebook.
* It is rounded as the text rounds it: 0.58 is found in 0.5783. A percentage may be a share (12.4 %
  in 0.124), the sign is the sentence's ("0.27 behind" in -0.27), and an integer below ten is not
  rounded (3 is not found in 2.7).
* Or it is the result of a calculation, ``3 x 0.0206 = 0.0618``, with x, *, +, -, / and brackets: it
  must come out, and what it starts from must be found like any figure.

**What comes from elsewhere is marked for the reader.** A sentence with a link quotes what is linked
(a link to another notebook does not count). A paragraph from the word *Suppose* on, with a table
that follows it, sets its figures, and the rest of the section may calculate with them.
"""

import io
import re
import tokenize
from itertools import pairwise
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*/*.ipynb"))  # exercises have their numbers from a seed

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
FIGURE = re.compile(rf"(?<![A-Za-z_@\d.])(?<!\d,)({NUMBER})(?![\d_]|\.\d)(\s?(?:%|percent))?")
SIDE = rf"\(*{NUMBER}\)*(?:\s*[x×*+/−-]\s*\(*{NUMBER}\)*)*"
CALCULATION = re.compile(rf"(?<![\w.@(]){SIDE}(?:\s*=\s*{SIDE})+")
CODE_BLOCK = re.compile(r"```.*?```", re.DOTALL)
NO_FIGURES = re.compile(
    r"""`[^`\n]*` | \$\$.*?\$\$ | \$[^$\n]+\$                   # code and formulas
    | \*\*(?:In\ class|수업\ 시간):\*\*[^.]*                    # the minutes
    | ^\s*(?:\#+\s*)?\d+\.\s | \*\*\d+\.\*\*                    # the numbering of lists and headings
    | \b(?:[Nn]otebook|[Ss]ection|[Ss]ession)s?\s\d+(?:(?:,\s|\sand\s|\sto\s|\sor\s)\d+)*
    | \b\d\d?\s(?:January|February|March|April|May|June|July|August|September|October|November|December)\b
    | \b(?:19\d\d|20[0-3]\d)(?=\b|년)(?!,\d) | \b\d\d:\d\d\b       # dates, years, clock times
    | \b\d\d?(?:,\s\d\d?)*(?:장|절)(?![가-힣]*\d) | \b\d\d?월(?:\s\d\d?일)?
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
SUPPOSED = re.compile(r"\b(?:Suppose|가령)\b.*?(?=\n\n(?!\|)|\Z)", re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
CITATION = re.compile(r"\]\((?![^)]*\.ipynb)")


def value_of(text):
    return float(text.replace(",", ""))


def decimals_of(text):
    return len(text.partition(".")[2])


def numbers_in(text):
    """All numbers of an output or of code, without their signs."""
    return {value_of(number) for number in re.findall(rf"(?<![A-Za-z_\d.]){NUMBER}", text)}


def shown_by(cell):
    """The numbers of a code cell and of what it printed."""
    tokens = tokenize.generate_tokens(io.StringIO(cell.source).readline)
    texts = [token.string for token in tokens if token.type != tokenize.COMMENT]
    for output in cell.outputs:
        data = output.get("data", {})
        texts.append(
            output.get("text") or ("" if "image/png" in data else data.get("text/plain", ""))
        )
    return numbers_in(" ".join(texts))


def is_found(number, percent, shown):
    """Is there a number that rounds to this one?"""
    value, step = value_of(number), 10 ** -decimals_of(number)
    tolerance = 1e-9 if step == 1 and value < 10 and not percent else step / 2 + 1e-9
    shares = {100 * other for other in shown} if percent else set()
    return any(abs(value - other) <= tolerance for other in shown | shares)


def balanced(side):
    """A side of a calculation without the brackets of the sentence around it."""
    extra = side.count("(") - side.count(")")
    return side.removeprefix("(" * extra) if extra > 0 else side.removesuffix(")" * -extra)


def comes_out(sides):
    """Are neighbours equal, to the decimals of the one that is a bare number?"""
    signs = str.maketrans({"x": "*", "×": "*", "−": "-", ",": None})
    values = [pd.eval(side.translate(signs), engine="python") for side in sides]
    steps = [10 ** -decimals_of(side) if re.fullmatch(NUMBER, side) else 1e-9 for side in sides]
    pairs = zip(pairwise(values), pairwise(steps), strict=True)
    return all(abs(a - b) <= max(step) / 2 + 1e-9 for (a, b), step in pairs)


class Section:
    """What has been shown and quoted up to a place in a notebook, and what was not found there."""

    def __init__(self, everywhere):
        self.everywhere, self.shown, self.quoted = everywhere, set(), set()
        self.counted, self.lost = 0, []

    def begin(self):
        """A new section: of the last one only what the text quoted may be quoted again."""
        self.shown = set()

    def read(self, text, following):
        """Look for every figure of one section's text in what is shown, following cell included."""
        # What is supposed may be calculated with, what is cited stands for itself.
        text = NO_FIGURES.sub(" ` ", text)
        for supposed in SUPPOSED.findall(text):
            self.shown |= numbers_in(supposed)
        sentences = SENTENCE_END.split(SUPPOSED.sub(" ", text))
        text = " ".join(sentence for sentence in sentences if not CITATION.search(sentence))

        # Calculations first: their results are found, what they start from is looked for.
        for match in CALCULATION.finditer(text):
            sides = [balanced(side) for side in re.split(r"\s*=\s*", match[0])]
            if any(re.search(r"[x×*+/−-]", side) for side in sides):
                self.counted += 1
                if not comes_out(sides):
                    self.lost.append(f"{match[0]} does not come out")
                self.quoted |= numbers_in(" ".join(sides[1:]))

        # Then the figures, one by one; what was quoted may be quoted again.
        for match in FIGURE.finditer(text):
            number, percent = match.groups()
            near = self.shown | following | self.quoted
            integer = "." not in number and not percent
            self.counted += 1
            if not is_found(number, percent, near | self.everywhere if integer else near):
                around = text[max(0, match.start() - 50) : match.end() + 30]
                self.lost.append(f"{match[0]} in '{' '.join(around.split())}'")
            self.quoted.add(value_of(number))


def check(notebook):
    """Count the figures of a notebook's text, and list those that it does not show."""
    cells = notebook.cells
    numbers = [shown_by(cell) if cell.cell_type == "code" else set() for cell in cells]
    section = Section(set.union(set(), *numbers))

    for place, cell in enumerate(cells):
        section.shown |= numbers[place]
        if cell.cell_type != "markdown":
            continue
        following = next((its for its in numbers[place + 1 :] if its), set())
        *ended, last = re.split(r"(?m)^(?=##? )", CODE_BLOCK.sub("", cell.source))
        for text in ended:
            section.read(text, set())
            section.begin()
        section.read(last, following)
    return section.counted, section.lost


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_figure_in_the_text_is_shown_by_the_notebook(path):
    counted, lost = check(nbformat.read(path, as_version=4))
    assert counted > 0
    assert not lost, "\n".join(["print these, calculate them, cite them or correct them:", *lost])


# ------------------------------------------------------------------------------------- the checker


def lost_in(*cells):
    """What is lost in a notebook of texts and of code cells, these as (source, printed)."""
    notebook = new_notebook()
    for cell in cells:
        if isinstance(cell, str):
            notebook.cells.append(new_markdown_cell(cell))
        else:
            source, printed = cell
            outputs = [new_output("stream", text=printed)]
            notebook.cells.append(new_code_cell(source, outputs=outputs))
    return check(notebook)[1]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("nDCG is 0.58.", "nDCG  0.5783"),
        ("It is 0.27 behind.", "at_worst  -0.268"),
        ("That is 12.4 % of them.", "share 0.124"),
        ("A rise of 9 percent.", "+9 %"),
        ("They cut 1,442 texts.", "1442 texts"),
        ("(1 + 1/3 + 0) / 3 = 0.444, and 0.444 is the MRR.", "ranks 1, 3 and 0"),
        ("Holm multiplies: 3 x 0.0206 = 0.0618 (three are left).", "3 metrics, p = 0.0206"),
        ("Let `k=77`, q05, doc_003, nDCG@10, $x = 0.5$, notebook 9, in 2026, at 08:00.", ""),
        ("By [Smith](https://example.org) it is 0.77.", ""),
        ("**1.** Suppose that 13 of 100 fail.\n\n(100 - 13) / 100 = 0.87", ""),
        ("nDCG는 0.58이고 [3장](x.ipynb)과 4, 5장에서 본 2026년 9월 3일 값입니다.", "nDCG  0.5783"),
        ("가령 13개가 실패했다고 합시다. (100 - 13) / 100 = 0.87", "100"),
        ("**수업 시간:** 약 35분. 질의는 12개입니다.", "12 queries"),
        ("**1.** Suppose these:\n\n| a | 0.62 |\n|---|---|\n| b | 0.58 |", ""),
    ],
)
def test_a_figure_that_is_shown_calculated_cited_or_supposed_is_found(text, printed):
    assert lost_in(("print(...)", printed), text) == []


@pytest.mark.parametrize(
    ("text", "printed", "named"),
    [
        ("nDCG is 0.59.", "nDCG  0.5783", "0.59"),
        ("There are 3 of them.", "mean 2.7", "3"),
        ("재현율은 0.59입니다.", "Recall  0.5783", "0.59"),
        ("질의는 13개입니다.", "12 queries", "13"),
        ("Only 12.5 % of them.", "share 0.124", "12.5 %"),
        ("3 x 0.0196 = 0.0588", "3 metrics, p = 0.0206", "0.0196"),
        ("3 x 0.0206 = 0.0588", "3 metrics, p = 0.0206", "does not come out"),
        ("As in [notebook 9](09_is_it_better.ipynb) it is 0.77.", "", "0.77"),
        ("By [Smith](https://example.org) it is 0.77. Here it is 0.78.", "", "0.78"),
        ("Suppose that 13 fail.\n\nThen 14 fail.", "", "14"),
        ("<details>\n\n```python\nassert x == 0.77\n```\nIt is 0.77.", "", "0.77"),
    ],
)
def test_a_figure_that_nothing_shows_is_named(text, printed, named):
    (lost,) = lost_in(("print(...)  # 0.77", printed), text)
    assert named in lost


def test_a_figure_with_decimals_is_looked_for_in_its_own_section_and_in_what_was_quoted():
    shown = ("print(score)", "0.578 of 240")
    assert lost_in("## 1. A", shown, "It is 0.578.", "## 2. B", "Remember 0.578, and 240.") == []
    assert lost_in("## 1. A", shown, "## 2. B", "Remember 240.") == []
    assert len(lost_in("## 1. A", shown, "## 2. B", "Remember 0.578.")) == 1
    assert lost_in("## 1. A", "The next cell prints 0.578:", shown) == []
