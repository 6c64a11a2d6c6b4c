"""The command line: ``python -m rageval_kit`` measures a dataset.

``... check`` looks at the set-up, and ``... course`` writes a class folder.

What the kit needs is imported where it is used, so that ``check`` can say what is missing.
"""

import argparse
import io
import os
import re
import signal
import socket
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import rageval_kit as kit  # a name of it is loaded when it is first used
from rageval_kit.messages import printable

if TYPE_CHECKING:
    import pandas as pd

CLONE = Path(__file__).parent.parent
_COLUMNS = 80  # of a terminal
_BIN = ".venv\\Scripts\\" if os.name == "nt" else ".venv/bin/"
_VENV = f"{'py' if os.name == 'nt' else 'python3'} -m venv .venv"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, or 1 if something is wrong."""
    # A letter that the output cannot show, as ascii and cp949, is printed as an escape.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    options = _parser().parse_args(arguments)
    try:
        status = _COMMANDS[options.command](options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has closed it (| head): nothing is left to say, also at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, TypeError, KeyError, ImportError, OSError) as error:
        _print(f"rageval_kit: {printable(_words(error))}", sys.stderr)
        return 1
    return status


def _words(error: Exception) -> str:
    """Return the error as a sentence, without the number that the system gives it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error.args[0]) if isinstance(error, KeyError) else str(error)


def _install() -> str:
    """Return the cure of a missing package; where there is no virtual environment, make one."""
    first = "" if Path(_BIN).is_dir() else f"{_VENV}, then "
    return f"{first}{_BIN}pip install -r requirements.txt, and run {_BIN}python"


def _print(text: str, file: TextIO | None = None) -> None:
    """Print with lines broken between words to fit a terminal."""
    whole: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    for line in text.splitlines():
        indent = "  " + " " * (len(line) - len(line.lstrip()))
        print(textwrap.fill(line, _COLUMNS, subsequent_indent=indent, **whole), file=file)


def _parser() -> argparse.ArgumentParser:
    what = "Validate a dataset, search it and print HitRate, MRR, nDCG, Precision and Recall."
    parser = argparse.ArgumentParser("python -m rageval_kit", description=what, allow_abbrev=False)
    add = parser.add_argument

    commands = "run (the default), check the set-up, or course: write a class folder to --out"
    bundled = "dataset folder (default: the bundled Korean lecture; data/lecture/en is English)"
    named = "use-multilingual (default), chars, minilm, openai:MODEL, PROVIDER:MODEL"
    cutoffs = "cutoffs: 1 3 5 (default) or 1,3,5"
    allowed = "go on where the dataset has errors, which are shown"
    tables = "write the tables as CSV and the figure as PNG, or the course, to this folder"
    taught = "of the course: ko or en"
    add("command", nargs="?", choices=list(_COMMANDS), default="run", help=commands)
    add("--data", default=str(CLONE / "data" / "lecture" / "ko"), metavar="FOLDER", help=bundled)
    add("--split", help="which qrels/<split>.tsv of a BEIR folder (default: test)")
    add("--embeddings", default="use-multilingual", metavar="NAME", help=named)
    add("--ks", "--k", type=_cutoffs, nargs="+", default=[[1, 3, 5]], metavar="K", help=cutoffs)
    add("--cache", metavar="FILE", help="SQLite file to keep the search results in")
    add("--out", metavar="FOLDER", help=tables)
    add("--allow-errors", action="store_true", help=allowed)
    add("--language", help=taught)
    return parser


def _cutoffs(text: str) -> list[int]:
    """Read ``5`` or ``1,3,5``."""
    try:
        return [int(part) for part in text.strip(",").split(",")]
    except ValueError:
        sentence = f"found {text!r}; write cutoffs as 1 3 5 or 1,3,5"
        raise argparse.ArgumentTypeError(sentence) from None


# ---------------------------------------------------------------- run


def _run(options: argparse.Namespace) -> int:
    """Load, validate, search, measure and print."""
    # What cannot work is said before the work begins.
    if options.language:
        bundled = f"--data data/lecture/{options.language}"
        raise ValueError(f"--language is of the course. A dataset is chosen by --data: {bundled}.")
    if options.out:
        _make_folder(Path(options.out))
    _want_dataset(Path(options.data))

    from rageval_kit.documents import text_of
    from rageval_kit.validation import find_problems

    docs, all_qa = kit.load_dataset(options.data, options.split)
    report = find_problems(docs, all_qa)
    _print(f"dataset: {options.data}\n{report}")
    if report.errors and not options.allow_errors:
        cure = "Correct the errors first: scores of a broken dataset mislead"
        _print(f"{cure}. To go on all the same: --allow-errors.", sys.stderr)
        return 1

    # A document without a text cannot be embedded, nor found; its judgements count all the same.
    if report.errors:
        docs = [doc for doc in docs if text_of(doc)]

    # The steps of the lecture.
    ks = [k for group in options.ks for k in group]
    vectorstore = kit.build_vectorstore(docs, kit.load_embeddings(options.embeddings))
    results = kit.search_all(vectorstore, all_qa, max(ks), options.cache)
    queries, summary = kit.per_query(all_qa, results, ks), kit.evaluate(all_qa, results, ks)

    _print(repr(results))
    _print_tables(queries.filter(regex=f"@{max(ks)}$"), summary)
    if options.out:
        _write(Path(options.out), results, queries, summary)
    _print(
        f"\nNext: {_BIN}jupyter lab notebooks, and open ko/00_read_before_you_measure.ipynb "
        "(en/: English); or your own data with --data FOLDER, in the form that "
        "data/lecture/README.md describes (load_documents and load_questions read other forms: "
        "README.md)."
    )
    return 0


def _make_folder(folder: Path) -> None:
    """Make the folder, and refuse one that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = "a file has that name" if folder.is_file() else error.strerror or error
        found = f"--out {folder}: this folder cannot be made or written to ({reason})"
        raise ValueError(f"{found}. Name another one, such as --out results.") from None


def _want_dataset(folder: Path) -> None:
    """Refuse what is no dataset: say what it is, and where datasets are."""
    if (folder / "corpus.jsonl").is_file():
        return
    inside = sorted(path.parent for path in folder.glob("*/corpus.jsonl"))
    if not folder.exists():
        found = f"it is not found from {Path.cwd()}. Go to its place, or write its whole path"
    elif folder.is_file():
        found = "it is a file. Name a folder that holds corpus.jsonl and queries.jsonl"
    elif inside:
        found = "its folders are datasets. Choose: " + " or ".join(f"--data {f}" for f in inside)
    else:
        found = (
            "it has no corpus.jsonl. What a dataset is: data/lecture/README.md. load_documents and "
            "load_questions read other forms, in Python: README.md"
        )
    raise ValueError(f"--data {folder} is no dataset: {found}")


def _print_tables(queries: "pd.DataFrame", summary: "pd.DataFrame") -> None:
    """Print every query at the deepest k, which fits a terminal, and the means at every k."""
    import pandas as pd

    counts = f"{summary.attrs['evaluated']} queries, {summary.attrs['excluded']} excluded"
    queries = queries.rename(index=lambda query_id: printable(str(query_id)))
    with pd.option_context("display.width", _COLUMNS, "display.max_columns", None):
        print(f"\nEvery query:\n{queries.round(3)}")
        print(f"\nMean over {counts}:\n{summary.round(4)}")


def _write(
    folder: Path, results: "kit.Results", queries: "pd.DataFrame", summary: "pd.DataFrame"
) -> None:
    import matplotlib

    matplotlib.use("Agg")  # a figure for a file needs no window
    import matplotlib.pyplot as plt

    from rageval_kit.files import write_whole

    texts = {
        "results.csv": _as_csv(results.to_frame().set_index("query_id")),
        "per_query.csv": _as_csv(queries),
        "summary.csv": _as_csv(summary),
    }
    figure = io.BytesIO()
    kit.plot_lines(summary)
    plt.savefig(figure, dpi=120)
    plt.close()

    # Excel reads UTF-8 where a mark says so.
    files = {name: text.encode("utf-8-sig") for name, text in texts.items()}
    files |= {"metrics.png": figure.getvalue()}
    write_whole({folder / name: data for name, data in files.items()})
    _print(f"\nWritten to {folder}: results.csv, per_query.csv, summary.csv, metrics.png")


def _as_csv(table: "pd.DataFrame") -> str:
    """Return a table as CSV for Excel, to which a text that begins with = or + is a formula."""
    from rageval_kit.files import no_formula

    return str(table.map(no_formula).rename(index=no_formula).to_csv())


# ---------------------------------------------------------------- course


def _course(options: argparse.Namespace) -> int:
    """Write the class folder and say what is in it, in its language."""
    from rageval_kit.wording import TABLES, in_language

    if None in (options.language, options.out):
        raise ValueError("course wants both, such as: course --language ko --out class")
    with in_language(options.language if options.language in TABLES else "en"):
        return _write_course(options.language, options.out)


def _write_course(language: str, out: str) -> int:
    """Write the class folder; stopped, leave nothing behind."""
    from rageval_kit.course import make_course
    from rageval_kit.wording import say

    stops = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(stop, signal.default_int_handler) for stop in stops]
    try:
        made = make_course(language, out)
    except KeyboardInterrupt:
        _print(f"rageval_kit: {say('stopped; nothing was written.')}", sys.stderr)
        return 1
    finally:
        for stop, handler in zip(stops, before, strict=True):
            signal.signal(stop, handler)

    # What it holds, and what comes next.
    slides = say("slides {n}", n=made["slides"])
    if not made["slides"]:
        slides = say("no slides, since nbconvert is missing ({cure})", cure=_install())
    written = say(
        "Written to {out}: notebooks {notebooks}, exercises {exercises}, {slides}; all of it also "
        "in rageval_course.zip beside it.",
        out=out,
        **{**made, "slides": slides},
    )
    steps = f"{_VENV}\n  {_BIN}pip install -r requirements.txt\n  {_BIN}python -m rageval_kit check"
    following = say("Next: read README.md in that folder, and on every machine run there:")
    _print(f"{written}\n{following}\n  {steps}")
    return 0


# ---------------------------------------------------------------- check


def _check(options: argparse.Namespace) -> int:
    """Print a line a thing, [OK] or [FAIL] with the cure, and return 1 if anything failed."""
    install = _install()
    needed: list[tuple[str, Callable[[], str], str]] = [
        ("Python", _python, "install Python 3.11, 3.12 or 3.13"),
        *((_parts(wanted)[0], partial(_package, wanted), install) for wanted in _requirements()),
        ("bundled data", _bundled_data, "run from a clone of the project, with its folder data"),
        ("course", _course_here, "unzip rageval_course.zip again, and run in its folder"),
        ("default embeddings", _default_embeddings, install),
        ("Jupyter kernel", _kernel, f"{_BIN}python -m ipykernel install --sys-prefix"),
        ("writable folder", _writable_folder, "go to a folder that you may write to"),
    ]
    failed = [name for name, look, cure in needed if not _passes(name, look, cure, "FAIL")]

    # What the kit can do without.
    _passes("Korean font", _korean_font, _FONT_CURE, "NOTE")
    is_set = bool(os.environ.get("OPENAI_API_KEY", "").strip())
    unset = "not set; only openai:... embeddings need it"
    _print(f"[OK] OPENAI_API_KEY is {'set' if is_set else unset}")

    verdict = f"{len(failed)} of {len(needed)} checks failed: {', '.join(failed)}"
    _print(verdict if failed else f"All {len(needed)} checks passed.")
    return 1 if failed else 0


def _passes(name: str, look: Callable[[], str], cure: str, mark: str) -> bool:
    """Print what was found, or what is wrong with the cure: whatever it is, the next is checked."""
    try:
        line, passed = f"[OK] {name}: {look()}", True
    except Exception as error:
        reason = _words(error).rstrip(".") or repr(error)
        cure = _install() if isinstance(error, ImportError) else cure
        line, passed = f"[{mark}] {name}: {reason}.\n  Cure: {cure}.", False
    _print(line)
    return passed


def _python() -> str:
    found = f"{'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}"
    if sys.version_info < (3, 11):  # noqa: UP036 - who runs an older one is told so here
        raise RuntimeError(f"3.11 or newer is needed, found {found}")
    return found


def _requirements() -> list[str]:
    """Return the kit and what it declares; the kit alone where this Python has not got it."""
    try:
        declared = metadata.requires("rageval-kit") or []
    except metadata.PackageNotFoundError:
        declared = []
    needed = [wanted for wanted in declared if "extra ==" not in wanted or "notebooks" in wanted]
    return ["rageval-kit>=0", *needed]


def _parts(requirement: str) -> list[str]:
    """Return the name and the least version.

    >>> _parts('jupyter>=1.1; extra == "notebooks"')
    ['jupyter', '1.1']
    """
    return requirement.partition(";")[0].strip().split(">=")


def _package(requirement: str) -> str:
    name, least = _parts(requirement)
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        raise ImportError("not installed") from None
    ours, wanted = ([*map(int, re.findall(r"\d+", version))] for version in (found, least))
    if ours < wanted:
        raise ImportError(f"{least} or newer is needed, found {found}")
    return found


def _bundled_data() -> str:
    from rageval_kit.validation import find_problems

    for language in ("ko", "en"):
        report = find_problems(*kit.load_dataset(kit.data_folder("lecture", language)))
        report.raise_if_errors()
    return f"{report.checked}, in Korean and in English"


def _course_here() -> str:
    from rageval_kit.course import look_at_course

    return look_at_course()


def _default_embeddings() -> str:
    # FAISS and LangChain work together, also where there is no network.
    docs = [{"doc_id": "doc_001", "title": "", "content": "어텐션"}]
    with _no_network():
        store = kit.build_vectorstore(docs, kit.load_embeddings())
    return f"{store.index.d} dimensions, indexed by FAISS, with the network cut"


@contextmanager
def _no_network() -> Iterator[None]:
    """Let every connection fail, as on a machine without a network."""

    def cut(*_: object) -> None:
        raise OSError("it asks for the network")

    names = ("connect", "connect_ex")
    for name in names:
        setattr(socket.socket, name, cut)
    try:
        yield
    finally:
        for name in names:  # those of the class that it comes from are there again
            delattr(socket.socket, name)


def _kernel() -> str:
    from jupyter_client.kernelspec import KernelSpecManager

    runs = Path(KernelSpecManager().get_kernel_spec("python3").argv[0])
    if runs.is_absolute() and runs != Path(sys.executable):
        raise RuntimeError(f"python3 runs another Python, {runs}")
    return f"python3 runs {sys.executable}"


def _writable_folder() -> str:
    with tempfile.TemporaryFile(dir=Path.cwd()):
        return str(Path.cwd())


def _korean_font() -> str:
    from rageval_kit.fonts import korean_font

    font = korean_font()
    if font is None:
        raise LookupError("none, so plots write doc_ids in place of Korean titles")
    return font


_FONT_CURE = (
    "sudo apt install fonts-nanum on Debian and Ubuntu (Windows and macOS have a Korean font); "
    "then start Python or the notebook's kernel again"
)


_COMMANDS = {"run": _run, "check": _check, "course": _course}

if __name__ == "__main__":
    # Ctrl-C ends the program as it ends every other: at once, at any time, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
