"""A document, a question or an id is data: nothing in it acts where the kit shows it."""

import ast
import io
import re
from contextlib import redirect_stdout

import matplotlib
import pandas as pd
import pytest
from conftest import ROOT

from rageval_kit import (
    abstention_curve,
    check_results,
    compare,
    differences,
    evaluate,
    explain,
    faithfulness_frame,
    generate_answers,
    plot_abstention,
    plot_comparison,
    plot_differences,
    plot_hits,
    plot_lines,
    plot_relevance_matrix,
    relevance_matrix,
    validate_dataset,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.cbook import is_math_text
from matplotlib.text import Text

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"
PRICES = "costs $5 and $10"
SCREEN = "q\x1b[2J\x1b]0;title\x07\n[OK] 9 documents"


def dataset(text):
    """Documents, queries and results in which every text and every id is this one."""
    docs = [{"doc_id": text, "title": text, "content": text}, {"doc_id": "d2", "content": "rain"}]
    all_qa = [
        {"query_id": text, "question": text, "relevant_doc_ids": [text], "ground_truth": text},
        {"query_id": "q2", "question": "rain?", "relevant_doc_ids": [], "ground_truth": "none"},
    ]
    hit = {"doc_id": text, "title": text, "content": text, "score": 0.5}
    return docs, all_qa, {text: [hit, {"doc_id": "x", "score": 0.4}], "q2": [hit]}


# ---------------------------------------------------------------- tables


class Copying:
    def invoke(self, inputs):
        return inputs["documents"][0]["content"]


def tables_of(text):
    _, all_qa, results = dataset(text)
    results = {query_id: hits[:1] for query_id, hits in results.items()}
    answers = generate_answers(Copying(), all_qa, results)
    report = check_results(all_qa, results)
    yield from (answers, faithfulness_frame(answers, results), report.to_frame())
    yield from (evaluate(all_qa, results, ks=(1,)), explain(all_qa, results, text, k=1).ranking)


def test_a_table_shows_a_script_as_text():
    for table in tables_of(SCRIPT):
        assert not re.search("<(script|img)", table._repr_html_())


def test_a_table_shows_prices_as_they_are_written_and_no_formula():
    for table in tables_of(PRICES):
        (classes,) = re.findall('<table border="1" class="([^"]*)"', table._repr_html_())
        assert "mathjax_ignore" in classes.split()
    assert PRICES in next(tables_of(PRICES))._repr_html_()


# ---------------------------------------------------------------- reports


def printed_by(call, *arguments):
    with redirect_stdout(io.StringIO()) as screen:
        report = call(*arguments)
    return f"{screen.getvalue()}{report}{report!r}{chr(10).join(report.warnings)}"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_report_or_explanation_moves_the_terminal_or_feigns_a_line():
    docs, all_qa, results = dataset(SCREEN)
    said = printed_by(validate_dataset, docs, all_qa) + printed_by(check_results, all_qa, results)
    for metric in ("nDCG", "RR", "Recall"):
        said += str(explain(all_qa, results, SCREEN, metric, k=2))
    assert re.search(r"q\\x1b\[2J", said)
    assert "\x1b" not in said
    assert "\n[OK] 9" not in said


def test_what_a_terminal_would_obey_is_named_with_its_cure(capsys):
    docs = [
        {"doc_id": "d1", "title": "A", "content": "rain\n\tand \x0c snow"},
        {"doc_id": "d2", "title": "\x1b[31mred", "content": "text"},
    ]
    all_qa = [{"query_id": "q1", "question": "why?", "relevant_doc_ids": ["d1"]}]
    (warning,) = validate_dataset(docs, all_qa).warnings
    assert warning.startswith("d2: control characters in 1 document")
    assert r"re.sub(r'[\x07\x08\x1b\x9b]', '', text)" in warning
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "cp949", "utf-8"])
def test_a_report_prints_to_any_output(encoding):
    screen = io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # as strict as a terminal
    docs = [{"doc_id": "d1", "title": "A", "content": "rain"}]
    all_qa = [{"query_id": "질문 \u2603 \u00e9", "question": "?", "relevant_doc_ids": ["d9"]}]
    with redirect_stdout(screen):
        validate_dataset(docs, all_qa)
        check_results(all_qa, {all_qa[0]["query_id"]: [{"doc_id": "d2"}]}, docs)
    screen.flush()
    printed = screen.buffer.getvalue().decode(encoding)
    assert "[FAIL]" in printed
    assert ("질문" in printed) == (encoding != "ascii")
    assert ("\\u2603" in printed) == (encoding != "utf-8")


# ---------------------------------------------------------------- plots


FORMULAS = ["$x_{$", r"$\frac{1$", PRICES, r"\$a$ $b$", r"$\undefined$", "50 % & #1_2^3"]


def plots_of(text):
    _, all_qa, results = dataset(text)
    hits = results[text]
    line = pd.DataFrame({text: [0.1, 0.2]}, index=pd.Index([1, 2], name=text))
    yield lambda: plot_lines(line, ylabel=text, title=text)
    yield lambda: plot_relevance_matrix(relevance_matrix(all_qa, results, k=2), title=text)
    yield lambda: plot_hits(hits, [text], xlabel=text, title=text)
    yield lambda: plot_abstention(abstention_curve(all_qa, results), title=text)

    runs = {"old": results, text: {text: hits[::-1], "q2": []}}
    compared = compare(runs, all_qa, 2, metrics=["nDCG"], no_relevant="zero").rename(
        index={"nDCG@2": text}, level=0
    )
    compared["verdict"] = text
    yield lambda: plot_comparison(compared, text, title=text)
    yield lambda: plot_differences(differences(runs, all_qa, k=2), title=text)


@pytest.mark.filterwarnings("ignore::UserWarning:rageval_kit")
@pytest.mark.parametrize("text", FORMULAS)
def test_no_label_of_a_plot_is_a_formula(text):
    for draw in plots_of(text):
        ax = draw()
        ax.figure.canvas.draw()
        if ax.get_legend_handles_labels()[0]:
            ax.legend()
        labels = [label.get_text() for label in ax.figure.findobj(Text)]
        assert not any(map(is_math_text, labels))
        assert any(text in label.replace(r"\$", "$") for label in labels)
        plt.close("all")


# ---------------------------------------------------------------- nothing is run that was read


CAN_RUN_A_FILE = {
    "pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "yaml", "eval", "exec",
    "read_pickle", "to_pickle", "load_local", "save_local",
}  # fmt: skip


@pytest.mark.parametrize(
    "path", sorted((ROOT / "rageval_kit").glob("*.py")), ids=lambda path: path.name
)
def test_no_file_is_read_by_what_could_run_it(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None), *(alias.name for alias in node.names)]
        else:
            names = [getattr(node, "id", None), getattr(node, "attr", None)]
        assert not CAN_RUN_A_FILE & {name.partition(".")[0] for name in names if name}
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert node.value.value is False
