"""A passage is found in a text however the two are written, and never where it does not stand."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_kit import find_text
from rageval_kit.places import PassageFinder, Place

DOCS = [
    {
        "doc_id": "d1",
        "title": "환불",
        "content": "구입한 날부터 7일 안에 환불한다. 그 뒤에는 하지 않는다.",
    },
    {"doc_id": "d2", "title": "", "content": "The fee is 5 won. " * 40 + "The fee is 7 won."},
]


@pytest.mark.parametrize(("needle", "text", "found"), [
    ("a b", "a\r\n\t b", "a\r\n\t b"),
    ("a b", "xa\u00a0\u3000by", "a\u00a0\u3000b"),
    ('"a"', "«a» “a”", "«a»"),
    ("it's 1-2", "it’s 1–2", "it’s 1–2"),
    ("coop", "co\u00adop", "co\u00adop"),
    ("ab", "a\u200bb", "a\u200bb"),
    ("ABC 1", "ＡＢＣ １", "ＡＢＣ １"),
    ("fit", "ﬁt", "ﬁt"),
    ("환불", unicodedata.normalize("NFD", "환불"), unicodedata.normalize("NFD", "환불")),
    (unicodedata.normalize("NFD", "é"), "é", "é"),
    ("  a  ", "xax", "a"),
])  # fmt: skip
def test_a_passage_is_found_however_it_is_written(needle, text, found):
    start, end = find_text(needle, text)[0]
    assert text[start:end] == found


@pytest.mark.parametrize(("needle", "text"), [
    ("Fee", "fee"), ("ab", "a b"), ("7일", "17 일"), ("e", "é"), ("가", "각"),
    ("가", unicodedata.normalize("NFD", "각")),
])  # fmt: skip
def test_another_text_is_not_found(needle, text):
    assert find_text(needle, text) == []


def test_every_place_is_found_also_where_two_overlap():
    assert find_text("aba", "ababa aba") == [(0, 3), (2, 5), (6, 9)]


@pytest.mark.parametrize("needle", ["", " \n", "\u200b"])
def test_an_empty_passage_is_refused(needle):
    with pytest.raises(ValueError, match="is empty"):
        find_text(needle, "text")


@pytest.mark.parametrize(("needle", "text"), [(None, "a"), ("a", ["a"]), (b"a", "a")])
def test_what_is_no_text_is_refused(needle, text):
    with pytest.raises(TypeError, match="must be a text"):
        find_text(needle, text)


LETTERS = st.text(st.sampled_from("ab 가각한-–'’\"“\n\u200b\u0301é\u1100\u1161\u11a8"), max_size=30)


@settings(max_examples=300, deadline=None)
@given(LETTERS, LETTERS, LETTERS)
def test_a_text_is_found_where_it_was_put(before, needle, after):
    text = f"{before}<{needle}>.{after}"
    start = len(before)
    assert (start, start + len(needle) + 2) in find_text(f"<{needle}>", text)


# ---------------------------------------------------------------- in a corpus


def test_a_passage_is_found_in_every_document_that_holds_it():
    finder = PassageFinder(DOCS)
    assert finder.find("환불한다.  그 뒤에는") == [Place("d1", 14, 25)]
    assert len(finder.find("fee is 5")) == 40
    assert finder.find("fee is 6 won") == []


def test_a_passage_that_begins_within_a_word_is_found():
    assert PassageFinder(DOCS).find("입한 날부터 7일 안") == [Place("d1", 1, 12)]


def test_the_nearest_passage_has_most_of_the_words():
    place = PassageFinder(DOCS).nearest("the fee is 7 won!")
    assert (place.doc_id, place.start) == ("d2", 720)
    assert 0.8 < place.similarity < 1


def test_nothing_is_near_a_passage_without_a_word_in_common():
    assert PassageFinder(DOCS).nearest("nothing alike") is None
