"""An experiment in Markdown, HTML and LaTeX, with names that would like to act, and flat numbers."""

import re
from html.parser import HTMLParser

import pytest
from conftest import hits, query

from rageval_kit import experiment, flat, grid, to_html, to_latex, to_markdown

N = 20
ALL_QA = [query(["A"], f"q{i}") for i in range(N)]
GOOD = {f"q{i}": hits("A", "x") for i in range(N)}
BAD = {f"q{i}": hits("x", "A") for i in range(N)}
ODD = "<script>alert(1)</script> | **$5 & $10** `_x_` [a](b) 100% #1 {~^\\}\x1b"


def run_of(names=("old", "new", "same"), **settings):
    runs = dict(zip(names, (BAD, GOOD, dict(GOOD)), strict=True))
    return experiment(runs, ALL_QA, k=2, metrics=["RR", "Recall"], **settings)


RESULT = run_of()
FORMS = {"markdown": to_markdown, "html": to_html, "latex": to_latex}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@every_form
def test_every_form_has_the_numbers_and_says_what_they_are(form):
    text = form(RESULT)
    for fact in (
        "MRR@2",
        "1.000 [1.000, 1.000]",
        "+0.500",
        "better",
        "Recall@2",
        "Difference to old",
    ):
        assert fact in text
    assert "money" not in text


@pytest.mark.parametrize(
    ("form", "bold", "mark"),
    [
        (to_markdown, "| **new** | **1.000", "| ≈ same |"),
        (to_html, "<td><b>new</b></td><td><b>1.000", "<td>≈ same</td>"),
        (to_latex, r"\textbf{new} & \textbf{1.000", r"$\approx$ same &"),
    ],
)
def test_the_best_is_bold_and_what_is_like_it_marked(form, bold, mark):
    text = form(RESULT)
    assert bold in text
    assert mark in text
    assert "≈ old" not in text


@every_form
def test_a_grid_is_shown_by_its_axes_and_says_what_was_left_out(form):
    systems = (
        grid(good=[False, True], other=["a", "b"]),
        lambda good, other: GOOD if good else BAD,
    )
    text = form(experiment(systems, ALL_QA, k=2, one_at_a_time=True))
    assert "Left out: 1 combination." in text
    assert "good" in text.partition("nDCG")[0]
    assert "system" not in text.partition("nDCG")[0]


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_a_name_is_a_text_in_html():
    page = Tags(to_html(run_of((ODD, "new", "same"))))
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p", "b", "br"}
    assert ODD.replace("\x1b", "\\x1b") in page.texts


def test_a_name_is_a_text_in_markdown():
    text = to_markdown(run_of((ODD, "new", "same")))
    (line,) = [line for line in text.splitlines() if "alert" in line and line.startswith("|")]
    assert len(re.findall(r"(?<!\\)\|", line)) == 7
    assert "<" not in line
    assert not re.search(r"(?<!\\)[*`$]", line)
    assert "[a\\](b)" in line


def test_a_name_is_a_text_in_latex():
    text = to_latex(run_of((ODD, "new", "same")))
    (line,) = [
        line for line in text.splitlines() if "alert" in line and "&" in line and line[0] != "%"
    ]
    assert len(re.findall(r"(?<!\\)&", line)) == 5
    assert not re.search(r"(?<!\\)[%$#_]", line.replace(r"$\approx$", ""))
    assert text.count("{") == text.count("}")


def test_failures_stand_in_the_table():
    runs = {"a": GOOD, "b": lambda all_qa: 1 / 0}
    text = to_markdown(experiment(runs, ALL_QA, k=2))
    assert "| b |  | failed |" in text
    assert "ZeroDivisionError" in text


# ---------------------------------------------------------------- flat


MLFLOW = re.compile(r"^[/\w.\- ]+$")  # mlflow.utils.validation, versions 2 and 3, on any system


def test_flat_gives_every_number_that_is_known():
    numbers = flat(RESULT)
    assert numbers["new/MRR_2"] == 1.0
    assert numbers["new/p_holm"] == RESULT.table.loc["new", "p_holm"]
    assert "old/p_holm" not in numbers
    assert not any("verdict" in key or "money" in key for key in numbers)
    assert all(type(value) is float for value in numbers.values())


def test_keys_are_such_as_mlflow_takes_and_each_is_one():
    names = (ODD, "../a/b", "한국어 모델=1,")
    numbers = flat(run_of(names))
    assert all(MLFLOW.match(key) and len(key) <= 250 for key in numbers)
    assert not any(part in ("", ".", "..") for key in numbers for part in key.split("/"))
    assert {key.count("/") for key in numbers} == {1}
    assert len(flat(run_of(("a=1", "a,1", "a?1")))) == len(flat(RESULT))


@pytest.mark.parametrize("form", [*FORMS.values(), flat])
@pytest.mark.parametrize("other", [RESULT.table, None, GOOD])
def test_what_is_no_experiment_is_refused_in_words(form, other):
    with pytest.raises(TypeError, match=r"what experiment\(\.\.\.\) or load_experiment"):
        form(other)
