"""The form that shows two systems side by side, the queries that changed sides first."""

import sys

import pytest
from conftest import hits, query

from rageval_kit import experiment, explore

pytest.importorskip("ipywidgets")

DOCS = [{"doc_id": d, "title": f"Title {d}", "content": f"<b>Text</b> of {d}."} for d in "ABCD"]
ALL_QA = [
    query({"A": 2}, "both", question="found twice?", kind="easy"),
    query({"A": 1}, "won", question="gained?", kind="hard"),
    query({"A": 1}, "lost", question="<i>lost</i>?", kind="hard"),
    query({"A": 1}, "never", question="missed?", kind="easy"),
    query([], "unanswerable", question="none?", kind="easy"),
]
OLD = {"both": "AB", "won": "BA", "lost": "AB", "never": "BC", "unanswerable": "BC"}
NEW = {"both": "AB", "won": "AB", "lost": "BA", "never": "CB", "unanswerable": "BC"}
RUNS = {
    name: {query_id: hits(*docs) for query_id, docs in run.items()}
    for name, run in (("old", OLD), ("new", {**NEW, "never": "CB"}), ("third", OLD))
}


class Driven:
    """The form, and hands for it."""

    def __init__(self):
        result = experiment(RUNS, ALL_QA, k=2)
        self.box = explore(result, DOCS)
        row, self.said, self.queries, self.shown = self.box.children
        self.first, self.second, self.k, self.kind = row.children
        self.k.value, self.second.value = 1, "new"

    @property
    def listed(self):
        return [query_id for _, query_id in self.queries.options]


@pytest.fixture
def form():
    return Driven()


def test_the_lost_come_first_then_the_won_then_those_that_both_missed(form):
    assert form.listed == ["lost", "won", "never", "both"]
    assert form.queries.options[0][0] == "lost: lost <i>lost</i>?"
    for fact in ("4 queries", "1 lost", "1 won", "1 missed by both", "1 found by both"):
        assert fact in form.said.value


def test_a_deeper_k_changes_the_sides(form):
    form.k.value = 2
    assert form.listed == ["never", "both", "won", "lost"]
    assert form.k.max == 2


def test_two_other_systems_can_be_chosen(form):
    form.first.value, form.second.value = "new", "old"
    assert form.listed[:2] == ["won", "lost"]
    form.second.value = "third"
    assert form.listed[:2] == ["won", "lost"]


def test_a_kind_of_query_can_be_chosen(form):
    assert form.kind.options == ("all kinds", "easy", "hard")
    form.kind.value = "easy"
    assert form.listed == ["never", "both"]


def test_both_rankings_are_shown_with_their_judgements(form):
    form.queries.value = "both"
    shown = form.shown.value
    assert shown.count("★ 1. A (grade 2)") == 2
    form.k.value = 2
    form.queries.value = "won"
    assert "★ 2. A (grade 1)" in form.shown.value
    assert "1. B (not judged) Title B" in form.shown.value


def test_texts_are_shown_as_they_are(form):
    assert "&lt;i&gt;lost" in form.shown.value
    assert "&lt;b&gt;Text" in form.shown.value


def test_a_document_that_is_not_there_stands_by_its_id():
    box = explore(experiment(RUNS, ALL_QA, k=2), DOCS[1:])
    assert "relevant: A" in box.children[-1].value
    box.children[2].value = "both"
    assert "★ 1. A (grade 2)  <br>" in box.children[-1].value


def test_without_widgets_the_cure_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ImportError, match="extra widgets"):
        explore(experiment(RUNS, ALL_QA, k=2), DOCS)


@pytest.mark.parametrize("arguments", [(DOCS, None), (None, DOCS), (RUNS, DOCS)])
def test_what_is_no_experiment_is_refused(arguments):
    with pytest.raises(TypeError, match=r"what experiment\(\.\.\.\)"):
        explore(*arguments)
