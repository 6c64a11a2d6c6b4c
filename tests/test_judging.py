"""The form in the notebook: keys and buttons, undo, every click on disk, and two judges."""

import os
import sys

import pytest
from conftest import hits, query

from rageval_kit import judging_form, load_judged, pool_results

pytest.importorskip("ipywidgets")

DOCS = [
    {"doc_id": doc_id, "title": f"Title {doc_id}", "content": f"Text of {doc_id}."}
    for doc_id in "ABCD"
]
ALL_QA = [query([], "q1", question="Which <b>fee</b>?"), query([], "q2", question="얼마?")]
POOL = pool_results({"one": {"q1": hits("A", "B"), "q2": hits("C", "D")}}, ALL_QA)


class Driven:
    """A form, and hands for it."""

    def __init__(self, path, judge="anna", docs=DOCS):
        self.path, self.judge = path, judge
        self.box = judging_form(POOL, docs, path, judge)
        self.progress, self.said, self.shown, row, self.keys = self.box.children
        *self.buttons, self.undo = row.children

    def type(self, text):
        for key in text:
            self.keys.value += key

    @property
    def on_disk(self):
        judged = load_judged(self.path, POOL)
        return judged[judged["judge"] == self.judge]["grade"].tolist()


@pytest.fixture
def form(tmp_path):
    return Driven(tmp_path / "judged.csv")


def test_each_click_is_on_disk_at_once(form):
    for n, grade in enumerate([2, 0, 3, 1], start=1):
        form.buttons[grade].click()
        assert form.on_disk == [2, 0, 3, 1][:n]


def test_keys_do_what_the_buttons_do(form):
    form.type("3x01")
    assert form.on_disk == [3, 0, 1]


def test_keys_that_come_together_count_one_by_one(form):
    form.keys.value = "31"
    assert form.on_disk == [3, 1]


@pytest.mark.parametrize(
    ("values", "grades"),
    [
        (["0", "02"], [0, 2]),
        (["02", "0", "01"], [0, 2, 1]),
        (["02", ""], [0, 2]),
        (["02", "3"], [0, 2, 3]),
    ],
)
def test_a_key_counts_once_however_the_field_changes(form, values, grades):
    for value in values:
        form.keys.value = value
    assert form.on_disk == grades


def test_undo_takes_back_the_last_and_shows_it_again(form):
    form.type("30")
    shown = form.shown.value
    form.type("u")
    assert form.on_disk == [3]
    assert form.shown.value != shown
    form.undo.click()
    assert form.on_disk == []
    assert form.undo.disabled
    form.type("u2")
    assert form.on_disk == [2]


def test_the_bar_shows_how_far_one_is(form):
    assert (form.progress.value, form.progress.max) == (0, 4)
    form.type("30")
    assert (form.progress.value, form.said.value) == (2, "2 of 4 judged")


def test_at_the_end_nothing_more_is_judged(form):
    form.type("0123")
    assert "All is judged" in form.shown.value
    assert all(button.disabled for button in form.buttons)
    form.type("3")
    assert form.on_disk == [0, 1, 2, 3]


def test_who_opens_the_form_again_goes_on(form):
    form.type("30")
    again = Driven(form.path)
    assert again.progress.value == 2
    assert again.shown.value == form.shown.value
    again.type("u1")
    assert form.on_disk == [3, 1]


def test_two_judges_share_a_file_and_do_not_see_each_other(form):
    other = Driven(form.path, "ben")
    form.type("3")
    other.type("01")
    form.type("2")
    assert (form.on_disk, other.on_disk) == ([3, 2], [0, 1])
    assert Driven(form.path, "carla").progress.value == 0


def test_a_text_is_no_html(form):
    assert "Which &lt;b&gt;fee&lt;/b&gt;?" in form.shown.value


def test_the_judge_reads_question_title_and_text(form):
    doc_id = POOL["doc_id"][0]
    assert f"Title {doc_id}" in form.shown.value
    assert f"Text of {doc_id}." in form.shown.value


def test_what_cannot_be_written_is_said_and_has_not_happened(form, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        form.type("3")
    assert "Not saved" in form.said.value
    assert (form.progress.value, form.on_disk) == (0, [])


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(KeyError, match="query_id, doc_id and grade"):
        Driven(tmp_path / "notes.csv")
    with pytest.raises(ValueError, match=r"Name it \.csv"):
        Driven(tmp_path / "judged.xlsx")


@pytest.mark.parametrize("judge", ["", " ", None, 3])
def test_a_judge_has_a_name(tmp_path, judge):
    with pytest.raises(TypeError, match="judge must be a name"):
        Driven(tmp_path / "judged.csv", judge)


def test_without_ipywidgets_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ImportError, match=r"extra widgets.*save_pool"):
        Driven(tmp_path / "judged.csv")
