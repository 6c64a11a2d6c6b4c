"""Documents split into chunks, each placed where its text stands; their hits keep the place."""

import itertools
import random

import pandas as pd
import pytest
from conftest import ROOT
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import (
    CharacterTextSplitter,
    MarkdownHeaderTextSplitter,
    RecursiveCharacterTextSplitter,
)

from rageval_kit import (
    build_vectorstore,
    fold,
    load_dataset,
    load_vectorstore,
    save_vectorstore,
    search_all,
    split_documents,
)
from rageval_kit.chunks import place

KOREAN = "환불은 5월까지 됩니다.\n\n수수료는 없습니다. 문의는 학사지원팀으로 하세요."


class Gives:
    """A splitter that gives these pieces, whatever the text."""

    def __init__(self, *pieces):
        self.pieces = list(pieces)

    def split_text(self, text):
        return self.pieces


class Bytes:
    """A splitter that cuts between bytes, as one by tokens does: letters are cut in two."""

    def __init__(self, size, overlap=0):
        self.size, self.step = size, size - overlap

    def split_text(self, text):
        data = text.encode()
        starts = range(0, len(data), self.step)
        return [data[at : at + self.size].decode(errors="replace") for at in starts]


class FixedSize:
    """A splitter that cuts every so many characters, and knows where."""

    def __init__(self, size, overlap):
        self.size, self.step = size, size - overlap

    def places(self, text):
        starts = range(0, max(1, len(text) - self.size + self.step), self.step)
        return [(at, min(at + self.size, len(text))) for at in starts]

    def split_text(self, text):
        return [text[start:end] for start, end in self.places(text)]


def document(content, doc_id="A", title="Fees"):
    return {"doc_id": doc_id, "title": title, "content": content}


def spans(chunks):
    return [(chunk["start"], chunk["end"]) for chunk in chunks]


# ---------------------------------------------------------------- splitting


def test_a_chunk_is_a_document_that_knows_its_source_and_place():
    chunks = split_documents([document("Pay by May. No refund.")], 12)
    assert chunks == [
        {**document("Pay by May.", "A#1"), "source_id": "A", "start": 0, "end": 11},
        {**document("No refund.", "A#2"), "source_id": "A", "start": 12, "end": 22},
    ]


@pytest.mark.parametrize(
    "splitter",
    [
        80,
        RecursiveCharacterTextSplitter(chunk_size=120, chunk_overlap=60),
        CharacterTextSplitter(separator=".", chunk_size=100, chunk_overlap=50),
        CharacterTextSplitter(separator=" ", chunk_size=60, chunk_overlap=30),
        Bytes(64),
        Bytes(64, overlap=32),
    ],
    ids=["int", "recursive", "sentences", "words", "bytes", "bytes with overlap"],
)
@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_content_of_a_chunk_is_what_stands_at_its_place(splitter, language):
    docs = load_dataset(ROOT / "data/lecture" / language).docs
    contents = {doc["doc_id"]: doc["content"] for doc in docs}
    chunks = split_documents(docs, splitter)
    assert len(chunks) > len(docs)
    for chunk in chunks:
        assert contents[chunk["source_id"]][chunk["start"] : chunk["end"]] == chunk["content"]
    for doc_id, text in contents.items():
        held = {
            at
            for chunk in chunks
            if chunk["source_id"] == doc_id
            for at in range(chunk["start"], chunk["end"])
        }
        assert not "".join(letter for at, letter in enumerate(text) if at not in held).strip(" .\n")


def test_a_document_that_fits_is_one_chunk():
    assert spans(split_documents([document("Pay by May.")], 1_000)) == [(0, 11)]


def test_other_fields_of_the_document_are_kept():
    (chunk,) = split_documents([{**document("Pay."), "page": 3}], 100)
    assert chunk["page"] == 3


def test_langchain_documents_and_tables_are_split_alike():
    lecture = [document(KOREAN), document("Pay by May. No refund.", "B")]
    as_langchain = [
        Document(id=doc["doc_id"], page_content=doc["content"], metadata={"title": "Fees"})
        for doc in lecture
    ]
    wanted = split_documents(lecture, 15)
    assert split_documents(as_langchain, 15) == wanted
    assert split_documents(pd.DataFrame(lecture), 15) == wanted


# ---------------------------------------------------------------- placing


def test_equal_texts_are_placed_one_behind_the_other():
    text = "Same line.\nSame line.\nOther.\nSame line."
    assert place(["Same line.", "Same line.", "Other.", "Same line."], text, "A") == [
        (0, 10), (11, 21), (22, 28), (29, 39),
    ]  # fmt: skip


def test_a_chunk_that_overlaps_ends_behind_the_one_before():
    text = "one two one two three"
    assert place(["one two one", "one two three"], text, "A") == [(0, 11), (8, 21)]


@pytest.mark.parametrize("overlap", [0, 3, 8])
def test_random_texts_of_few_letters_are_placed_where_they_were_cut(overlap):
    rng, splitter = random.Random(7), FixedSize(20, overlap)
    for _ in range(50):
        text = "".join(rng.choice("ab \n") for _ in range(200))
        pieces = splitter.split_text(text)
        wanted = [span for span in splitter.places(text) if text[slice(*span)].strip()]
        assert place([piece for piece in pieces if piece.strip()], text, "A") == wanted


@pytest.mark.parametrize("seed", range(5))
def test_repeated_boilerplate_leaves_room_for_the_chunks_that_follow(seed):
    rng = random.Random(seed)
    notes = ["all rights reserved", "copyright dow jones", "all rights", f"page {seed}"]
    text = " ".join(rng.choice(notes) for _ in range(300))
    splitter = CharacterTextSplitter(separator=" ", chunk_size=60, chunk_overlap=35)
    chunks = split_documents([document(text)], splitter)
    assert [chunk["content"] for chunk in chunks] == splitter.split_text(text)
    gaps = [text[one["end"] : two["start"]] for one, two in itertools.pairwise(chunks)]
    assert not "".join(gaps).strip()


def test_start_index_of_langchain_loses_chunks_that_are_placed_here():
    text = "\n\n".join(f"Item {n % 7}  costs\t{n % 5}. Pay  by\nMay." for n in range(40))
    splitter = CharacterTextSplitter(
        separator=" ", chunk_size=40, chunk_overlap=20, add_start_index=True
    )
    found = [doc.metadata["start_index"] for doc in splitter.create_documents([text])]
    assert -1 in found
    for chunk in split_documents([document(text)], splitter):
        assert text[chunk["start"] : chunk["end"]] == chunk["content"]


def test_white_space_that_the_splitter_changed_is_the_documents_again():
    text = "# Fees\n\nPay by\nMay.\n\n\n# Refund\n\nNone  at all."
    splitter = MarkdownHeaderTextSplitter([("#", "h1")])
    contents = [chunk["content"] for chunk in split_documents([document(text)], splitter)]
    assert contents == ["Pay by\nMay.", "None  at all."]


def test_separators_that_the_splitter_threw_away_are_the_documents_again():
    text = "Who ... knows? We. . do. Pay - by May."
    splitter = CharacterTextSplitter(separator=".", chunk_size=20, chunk_overlap=0)
    pieces = splitter.split_text(text)
    assert any(piece not in text for piece in pieces)
    contents = [chunk["content"] for chunk in split_documents([document(text)], splitter)]
    assert contents == ["Who ... knows? We", "do. Pay - by May"]


@pytest.mark.parametrize(
    ("size", "wanted"),
    [(3, ["가", "나", "다", "라"]), (4, ["가나", "다라"]), (5, ["가나", "나다라"])],
)
def test_a_letter_cut_in_two_stands_whole_in_its_chunks(size, wanted):
    chunks = split_documents([document("가나다라")], Bytes(size))
    assert [chunk["content"] for chunk in chunks] == wanted


def test_a_last_chunk_within_the_one_before_is_placed():
    assert place(["Pay by May.", "May."], "Pay by May. ", "A") == [(0, 11), (7, 11)]


# ---------------------------------------------------------------- refusals


def test_a_chunk_that_stands_nowhere_is_refused():
    with pytest.raises(ValueError, match=r"A: chunk 2 .*Summary.*not found in the document"):
        split_documents([document("Pay by May.")], Gives("Pay by", "Summary: pay"))


def test_chunks_in_another_order_are_refused():
    with pytest.raises(ValueError, match=r"A: chunk 1 .*'Two\.'.*not found before the one behind"):
        split_documents([document("One. Two.")], Gives("Two.", "One."))


def test_a_document_without_text_is_refused():
    with pytest.raises(ValueError, match="B has no text to split: take it out"):
        split_documents([document("Pay."), document(" \n", "B")], 10)


def test_two_documents_of_one_id_are_refused():
    with pytest.raises(ValueError, match="'A' appears twice"):
        split_documents([document("Pay."), document("No.")], 10)


@pytest.mark.parametrize("splitter", [0, -5, 2.5, True, float("nan")])
def test_a_number_that_is_no_size_is_refused(splitter):
    with pytest.raises(ValueError, match="splitter must be a positive integer"):
        split_documents([document("Pay.")], splitter)


@pytest.mark.parametrize("splitter", [None, "800", [800], str.split])
def test_what_is_no_splitter_is_refused(splitter):
    with pytest.raises(TypeError, match="splitter must be a LangChain text splitter.* or a number"):
        split_documents([document("Pay.")], splitter)


@pytest.mark.parametrize("found", ["Pay.", None, [None], [["Pay."]]])
def test_a_splitter_that_gives_no_texts_is_refused(found):
    splitter = Gives()
    splitter.pieces = found
    with pytest.raises(TypeError, match="A: what the splitter makes of it must be a list of texts"):
        split_documents([document("Pay.")], splitter)


# ---------------------------------------------------------------- their hits

CHUNKS = split_documents([document(KOREAN), document("Pay by May. No refund.", "B")], 15)
ASKED = [{"query_id": "q1", "question": "No refund"}]
PLACES = {chunk["doc_id"]: (chunk["source_id"], chunk["start"], chunk["end"]) for chunk in CHUNKS}


def places_in(results):
    return {hit["doc_id"]: (hit["source_id"], hit["start"], hit["end"]) for hit in results["q1"]}


def test_hits_keep_source_start_and_end(letters, new_session):
    results = search_all(build_vectorstore(CHUNKS, letters), ASKED, len(CHUNKS))
    assert places_in(results) == PLACES


def test_hits_from_the_cache_and_from_a_saved_store_keep_them(letters, tmp_path):
    save_vectorstore(build_vectorstore(CHUNKS, letters), tmp_path / "store")
    store = load_vectorstore(tmp_path / "store", letters)
    for _ in range(2):
        results = search_all(store, ASKED, len(CHUNKS), cache=tmp_path / "cache.sqlite")
        assert places_in(results) == PLACES
    assert results.cached == 1


def test_hits_of_another_store_keep_them(letters):
    store = InMemoryVectorStore(letters)
    store.add_documents(
        [
            Document(id=chunk["doc_id"], page_content=chunk["content"], metadata=chunk)
            for chunk in CHUNKS
        ]
    )
    assert places_in(search_all(store, ASKED, len(CHUNKS))) == PLACES


def test_a_document_that_is_no_chunk_has_no_place(letters):
    store = build_vectorstore([document("Pay by May.")], letters)
    (hit,) = search_all(store, ASKED, 1)["q1"]
    assert set(hit) == {"doc_id", "title", "content", "score"}


def test_hits_fold_to_their_sources(letters):
    results = search_all(build_vectorstore(CHUNKS, letters), ASKED, len(CHUNKS))
    folded = fold(results, lambda hit: hit["source_id"], 2)
    assert [hit["doc_id"] for hit in folded["q1"]] == ["B", "A"]
