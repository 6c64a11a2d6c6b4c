"""Files that are a document each: plain texts, Markdown, HTML and PDF, and folders of them.

Nothing of a file is carried out, and no link is followed that leads out of a folder.
"""

import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from rageval_kit.files import nfc, open_text
from rageval_kit.forms import ending, refuse_other_form, want_package, whole
from rageval_kit.messages import show_progress


class Text(NamedTuple):
    """A text with the title it has within; a PDF has one a page."""

    title: str
    pages: list[str]


def read_text_file(path: Path, encoding: str | None) -> Text:
    """Read a text by the ending of its name; errors as `read_table`."""
    refuse_other_form(path)
    text = _TEXTS[ending(path)](path, encoding)
    if not any(page.strip() for page in text.pages):
        scanned = " Is it scanned? Then it needs OCR first." if ending(path) == ".pdf" else ""
        raise ValueError(f"{path} holds no text.{scanned} Take it out, or fill it.")
    return text


def is_text(path: Path) -> bool:
    """Say whether a file is a document of its own, and no table."""
    return ending(path) in _TEXTS


# ---------------------------------------------------------------- a reader a form

_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)??(---|\.\.\.)[ \t]*(\n|$)", re.S)
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})\s*$")


def _plain(path: Path, encoding: str | None) -> Text:
    with open_text(path, encoding) as file:
        return Text("", [file.read()])


def _markdown(path: Path, encoding: str | None) -> Text:
    """Read Markdown as it is written; the title is that of its front matter, or the first heading.

    The heading is looked for outside of code.
    """
    (text,) = _plain(path, encoding).pages
    front = _FRONT_MATTER.match(text)
    if front and (named := re.search(r"^title:[ \t]*(.*\S)", front[0], re.M)):
        return Text(named[1].strip("\"'"), [text])

    fence, above = "", ""
    for line in text[front.end() if front else 0 :].splitlines():
        if mark := re.match(r" {0,3}(```|~~~)", line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence and (heading := _HEADING.match(line)) and heading[1]:
            return Text(heading[1], [text])
        elif not fence and above.strip() and _UNDERLINE.match(line):
            return Text(above.strip(), [text])
        above = line
    return Text("", [text])


def _html(path: Path, encoding: str | None) -> Text:
    (text,) = _plain(path, encoding).pages
    page = _Page()
    with whole(path, "HTML page"):
        page.feed(text)
        page.close()

    # A line a block, white space as a browser shows it.
    lines = (" ".join(line.split()) for line in "".join(page.text).split("\n"))
    title = " ".join("".join(page.heading or page.title).split())
    return Text(title, [re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()])


class _Page(HTMLParser):
    """Gathers what a reader sees of a page: its text, title and first heading."""

    _UNSEEN = frozenset("script style noscript template head svg".split())
    _INLINE = frozenset(
        "a abbr b bdi cite code del dfn em font i img ins kbd mark q s samp small span strong sub "
        "sup td th time u var wbr".split()
    )
    _HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.title: list[str] = []
        self.heading: list[str] = []
        self._unseen, self._into = 0, self.text

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._unseen += tag in self._UNSEEN
        if tag == "body":
            self._unseen = 0  # whose head was never closed
        elif tag == "title" and not self.title:
            self._into = self.title
        elif tag in self._HEADINGS and not self.heading:
            self._into = self.heading
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in self._UNSEEN))
        if tag == "title" or tag in self._HEADINGS:
            self._into = self.text
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._into is self.title:
            self.title.append(data)
        elif not self._unseen:
            self.text.append(data)
            if self._into is self.heading:
                self.heading.append(data)

    def _break(self, tag: str) -> None:
        if not self._unseen:
            self.text.append(" " if tag in ("td", "th") else "" if tag in self._INLINE else "\n")


def _pdf(path: Path, encoding: str | None) -> Text:
    pypdf = want_package("pypdf", "pdf", path)
    with whole(path, "PDF"):
        reader = pypdf.PdfReader(path)
        closed = reader.is_encrypted and not reader.decrypt("")
    if closed:
        raise ValueError(f"{path} is protected by a password. Save it without one.")
    with whole(path, "PDF"):
        pages = show_progress(reader.pages, f"reading {path.name}", "page")
        texts = [page.extract_text() for page in pages]
        title = (reader.metadata or {}).get("/Title")
    return Text(title.strip() if isinstance(title, str) else "", texts)


_TEXTS: dict[str, Callable[[Path, str | None], Text]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _plain,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
}


# ---------------------------------------------------------------- folders


def text_files(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the texts below a folder by their id, in its order, and what else is there.

    The id is the path below the folder, in NFC and with ``/``. Hidden files and folders are passed
    over; so is a link to a folder, whose files come where they are.

    Raises:
        ValueError: a link leads out of the folder.
    """
    inside = Path(os.path.realpath(folder))
    texts: dict[str, Path] = {}
    others: list[str] = []
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        if any(part.startswith(".") for part in below.parts):
            continue
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
            raise ValueError(
                f"{path} is a link that leads out of the folder, to {os.readlink(path)}. Take it "
                "out, or put a copy in its place."
            )
        if path.is_file():
            doc_id = nfc(below.as_posix())
            if is_text(path) and path.stat().st_size:
                texts[doc_id] = path
            else:
                others.append(doc_id if path.stat().st_size else f"{doc_id} (empty)")
    return dict(sorted(texts.items())), others
