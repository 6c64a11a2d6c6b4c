"""Building a FAISS store, adding to it, and saving and loading it without pickle."""

import hashlib
import json
import os
import warnings
from datetime import UTC, date, datetime
from pathlib import Path

import faiss
import numpy as np
import pandas as pd
import pytest
from conftest import Letters
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

from rageval_kit import (
    add_documents,
    build_vectorstore,
    load_vectorstore,
    save_vectorstore,
    search_all,
)
from rageval_kit.vectors import as_vectors, unit
from rageval_kit.vectorstore import _import_community, to_documents

DOCS = [
    {"doc_id": "doc_001", "title": "트랜스포머", "content": "어텐션을 쓴다."},
    {"doc_id": "doc_002", "title": "RAG", "content": "Retrieval comes first."},
    {"doc_id": "doc_003", "title": "Tokens", "content": "Texts are cut into tokens."},
]
MORE = [{"doc_id": "doc_004", "title": "Chunks", "content": "Long texts are cut."}]
ALL_QA = [
    {"query_id": "q01", "question": "What comes first?"},
    {"query_id": "q02", "question": "무엇을 쓰나?"},
]


class Breaking(Letters):
    """A text with "broken" in it gets a NaN, one with "endless" an infinity."""

    def _vector(self, text):
        odd = {"broken": np.nan, "endless": np.inf}
        vector = super()._vector(text)
        return [odd.get(text.split("\n")[-1], vector[0]), *vector[1:]]


@pytest.fixture
def store(letters):
    return build_vectorstore(DOCS, letters)


def stored(store):
    """The documents of the store, in the order of its vectors."""
    return [
        store.docstore.search(store.index_to_docstore_id[row]) for row in range(store.index.ntotal)
    ]


def first(store, question):
    return search_all(store, [{"query_id": "q", "question": question}], 1)["q"][0]["doc_id"]


# ---------------------------------------------------------------- building


def test_doc_id_and_title_are_in_the_metadata(store):
    assert stored(store)[0].metadata == {"doc_id": "doc_001", "title": "트랜스포머"}


def test_the_text_is_title_line_break_and_content(store):
    assert stored(store)[1].page_content == "RAG\nRetrieval comes first."


def test_the_id_in_the_store_is_the_doc_id(store):
    assert [document.metadata["title"] for document in store.get_by_ids(["doc_003"])] == ["Tokens"]


def test_documents_keep_their_order(letters):
    ids = [f"doc_{number}" for number in (7, 3, 9, 1, 200, 150)]
    store = build_vectorstore(
        [{"doc_id": doc_id, "title": "t", "content": doc_id} for doc_id in ids], letters
    )
    assert [document.metadata["doc_id"] for document in stored(store)] == ids


def test_vectors_are_those_of_the_embeddings(store, letters):
    vectors = store.index.reconstruct_n(0, 3)
    expected = letters.embed_documents([document.page_content for document in stored(store)])
    assert vectors == pytest.approx(np.array(expected), abs=1e-6)


def test_scores_are_squared_l2_distances(store, letters):
    query = np.array(letters.embed_query("tokens"))
    distances = np.square(store.index.reconstruct_n(0, 3) - query).sum(axis=1)
    found = store.similarity_search_with_score("tokens", k=3)
    assert [score for _, score in found] == pytest.approx(sorted(distances), abs=1e-5)


@pytest.mark.parametrize("title", [None, ""])
def test_without_a_title_the_text_is_the_content(letters, title):
    store = build_vectorstore([{"doc_id": "d", "title": title, "content": "only text"}], letters)
    assert (stored(store)[0].page_content, stored(store)[0].metadata["title"]) == ("only text", "")


def test_a_title_that_is_left_out_is_empty(letters):
    store = build_vectorstore([{"doc_id": "d", "content": "only text"}], letters)
    assert stored(store)[0].metadata == {"doc_id": "d", "title": ""}


def test_the_documents_may_be_a_table(letters):
    assert stored(build_vectorstore(pd.DataFrame(DOCS), letters)) == stored(
        build_vectorstore(DOCS, letters)
    )


def test_a_missing_title_in_a_table_is_not_the_text_nan(letters):
    table = pd.DataFrame([DOCS[0], {"doc_id": "d", "title": None, "content": "only text"}])
    assert stored(build_vectorstore(table, letters))[1].page_content == "only text"


def test_a_missing_content_in_a_table_is_not_the_text_nan(letters):
    table = pd.DataFrame([DOCS[0], {"doc_id": "d", "title": "Title", "content": None}])
    assert stored(build_vectorstore(table, letters))[1].page_content == "Title"


def test_documents_are_embedded_in_batches(letters):
    build_vectorstore(
        [{"doc_id": f"d{i}", "title": "", "content": f"text {i}"} for i in range(150)], letters
    )
    assert [len(batch) for batch in letters._batches] == [64, 64, 22]
    assert [text for batch in letters._batches for text in batch] == [
        f"text {i}" for i in range(150)
    ]


def test_a_short_corpus_shows_no_progress_bar(letters, capsys):
    build_vectorstore(DOCS, letters)
    assert capsys.readouterr() == ("", "")


def test_the_documents_are_not_changed(letters):
    docs = [dict(doc) for doc in DOCS]
    build_vectorstore(docs, letters)
    assert docs == DOCS


def test_langchains_own_search_works_on_the_store(store):
    assert [
        document.metadata["doc_id"]
        for document in store.similarity_search("Texts are cut into tokens", k=1)
    ] == ["doc_003"]


def test_langchains_retriever_works_on_the_store(store):
    found = store.as_retriever(search_kwargs={"k": 2}).invoke("Retrieval")
    assert found[0].metadata["doc_id"] == "doc_002"
    assert len(found) == 2


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "docs", [[], pd.DataFrame(columns=["doc_id", "title", "content"])], ids=["list", "table"]
)
def test_an_empty_corpus_is_refused(letters, docs):
    with pytest.raises(ValueError, match="The corpus is empty"):
        build_vectorstore(docs, letters)


def test_a_repeated_id_is_refused(letters):
    with pytest.raises(ValueError, match=r"'doc_001' appears twice .*entry 4"):
        build_vectorstore([*DOCS, DOCS[0]], letters)


@pytest.mark.parametrize("doc_id", [7, 7.5, None, float("nan")])
def test_an_id_that_is_no_text_is_refused(letters, doc_id):
    with pytest.raises(
        TypeError,
        match=f"docs, entry 2: doc_id must be a text, found {type(doc_id).__name__} {doc_id}",
    ):
        build_vectorstore([DOCS[0], DOCS[1] | {"doc_id": doc_id}], letters)


def test_the_cure_for_an_id_that_is_a_number_names_both_sides(letters):
    with pytest.raises(TypeError, match="found int 7.*here and in relevant_doc_ids"):
        build_vectorstore([DOCS[0] | {"doc_id": 7}], letters)


def test_an_empty_id_is_refused(letters):
    with pytest.raises(ValueError, match="docs, entry 1: the doc_id is empty"):
        build_vectorstore([DOCS[0] | {"doc_id": " "}], letters)


def test_a_document_without_id_is_refused(letters):
    with pytest.raises(KeyError, match="docs, entry 2: the field doc_id is missing"):
        build_vectorstore([DOCS[0], {"title": "t", "content": "x"}], letters)


@pytest.mark.parametrize(("title", "content"), [("", ""), (" ", "\n"), (None, None)])
def test_a_document_without_any_text_is_refused(letters, title, content):
    with pytest.raises(ValueError, match="doc_009 has neither a title nor a content"):
        build_vectorstore(
            [*DOCS, {"doc_id": "doc_009", "title": title, "content": content}], letters
        )


def test_a_document_whose_content_has_another_name_is_refused(letters):
    with pytest.raises((KeyError, ValueError), match="content"):
        build_vectorstore(
            [{"doc_id": "d", "title": "Title", "text": "would be left out in silence"}], letters
        )


@pytest.mark.parametrize("content", ["broken", "endless"])
def test_a_vector_with_nan_or_infinity_is_refused(content):
    with pytest.raises(ValueError, match="NaN or infinite numbers for the document doc_009"):
        build_vectorstore([*DOCS, {"doc_id": "doc_009", "content": content}], Breaking())


def test_a_vector_too_few_is_refused():
    class Forgetful(Letters):
        def embed_documents(self, texts):
            return super().embed_documents(texts)[1:]

    with pytest.raises(
        ValueError, match=r"2 vectors for 3 documents \(doc_001, doc_002, doc_003\)"
    ):
        build_vectorstore(DOCS, Forgetful())


@pytest.mark.parametrize("embeddings", ["use-multilingual", None])
def test_embeddings_that_are_none_are_refused(embeddings):
    with pytest.raises(TypeError, match=r"embeddings must be .*load_embeddings"):
        build_vectorstore(DOCS, embeddings)


def test_documents_that_are_no_list_are_refused(letters):
    with pytest.raises(TypeError, match="docs must be a list of dicts or a DataFrame, found str"):
        build_vectorstore("data/lecture/ko", letters)


# ---------------------------------------------------------------- vectors


def gives(vectors):
    class Odd(Letters):
        def embed_documents(self, texts):
            return vectors

    return Odd()


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (None, "None for 3 documents"),
        (7.5, "7.5.* for 3 documents"),
        ("a text", "a text.* for 3 documents"),
        ({"doc_001": [1.0]}, "for 3 documents"),
        ([], "0 vectors for 3 documents"),
        ([[1.0, 0.0]], "1 vector for 3 documents"),
        ([[1.0]] * 4, "4 vectors for 3 documents"),
        (np.eye(2), "2 vectors for 3 documents"),
        (
            [[1.0, 0.0], [1.0], [1.0, 0.0]],
            "1 number for the document doc_002; a vector of 2 numbers",
        ),
        (
            [[1.0, 0.0], [1.0, 0.0], [1.0] * 3],
            "3 numbers for the document doc_003; a vector of 2 numbers",
        ),
        ([[1.0, 0.0], None, [1.0, 0.0]], "None for the document doc_002"),
        ([[1.0, 0.0], ["a", "b"], [1.0, 0.0]], "list for the document doc_002"),
        ([[1.0, 0.0], [1.0, None], [1.0, 0.0]], "doc_002"),
        ([[1.0, 0.0], [1.0, 0.0], "a text"], "a text.* for the document doc_003"),
        ([1.0, 2.0, 3.0], "for the document doc_001"),
        ([[], [], []], "for the document doc_001"),
        ([None, None, None], "None for the document doc_001"),
        ([[[1.0]], [[1.0]], [[1.0]]], "for the document doc_001"),
        ([[1.0, 1e39], [1.0, 1e39], [1.0, 0.0]], "infinite numbers .* doc_001, doc_002"),
    ],
)
def test_what_is_no_vector_a_document_is_named(vectors, said):
    with pytest.raises(ValueError, match=f"The embeddings gave .*{said}"):
        build_vectorstore(DOCS, gives(vectors))


def test_a_second_batch_of_another_width_is_named():
    class Changing(Letters):
        def embed_documents(self, texts):
            self.dimensions = 32 if len(texts) == 64 else 16
            return super().embed_documents(texts)

    docs = [{"doc_id": f"d{n}", "content": f"text {n}"} for n in range(70)]
    with pytest.raises(ValueError, match="16 numbers for the document d64; a vector of 32 numbers"):
        build_vectorstore(docs, Changing())


def test_vectors_may_be_an_array():
    vectors = as_vectors(np.eye(3, dtype=np.float64), ["a", "b", "c"])
    assert (vectors.shape, vectors.dtype) == ((3, 3), np.float32)


def test_questions_are_called_questions():
    with pytest.raises(ValueError, match=r"1 vector for 2 questions \(Why\?, How\?\)"):
        as_vectors([[1.0]], ["Why?", "How?"], noun="question")


def test_unit_vectors_keep_their_type_and_zeros_stay():
    vectors = unit(np.array([[3, 4], [0, 0]], dtype=np.float32))
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


# ---------------------------------------------------------------- adding


def test_added_documents_stand_behind_the_others(store):
    add_documents(store, MORE)
    assert [document.metadata["doc_id"] for document in stored(store)] == [
        "doc_001",
        "doc_002",
        "doc_003",
        "doc_004",
    ]


def test_added_documents_are_found(store):
    add_documents(store, MORE)
    assert first(store, "Chunks\nLong texts are cut.") == "doc_004"


def test_only_the_added_documents_are_embedded(store, letters):
    letters._batches.clear()
    add_documents(store, MORE)
    assert letters._batches == [["Chunks\nLong texts are cut."]]


def test_adding_equals_building_at_once(store, letters):
    add_documents(store, MORE)
    at_once = build_vectorstore(DOCS + MORE, letters)
    assert stored(store) == stored(at_once)
    assert (store.index.reconstruct_n(0, 4) == at_once.index.reconstruct_n(0, 4)).all()


def test_adding_nothing_changes_nothing(store, letters):
    letters._batches.clear()
    add_documents(store, [])
    assert (store.index.ntotal, letters._batches) == (3, [])


def assert_untouched(store):
    assert [document.metadata["doc_id"] for document in stored(store)] == [
        "doc_001",
        "doc_002",
        "doc_003",
    ]
    assert first(store, "Retrieval comes first.") == "doc_002"
    assert len(store.similarity_search("anything", k=10)) == 3


def test_an_id_that_is_in_the_store_is_refused_and_leaves_it_searchable(store):
    with pytest.raises(ValueError, match="doc_ids already in the vectorstore: doc_002"):
        add_documents(store, [*MORE, DOCS[1]])
    assert_untouched(store)


def langchain_store(letters, *doc_ids, **options):
    """A store that LangChain made: the doc_id is in the metadata, and the ids are made up."""
    return _import_community("langchain_community.vectorstores").FAISS.from_documents(
        [
            Document(page_content=f"hello {doc_id}", metadata={"doc_id": doc_id})
            for doc_id in doc_ids
        ],
        letters,
        **options,
    )


AGAIN = {"doc_id": "doc_001", "title": "", "content": "hello again"}


@pytest.mark.parametrize(
    "form", [dict, lambda doc: to_documents([doc])[0]], ids=["dict", "langchain"]
)
def test_an_id_in_a_store_that_langchain_made_is_refused(letters, form):
    store = langchain_store(letters, "doc_001", "doc_002")
    with pytest.raises(ValueError, match="already in the vectorstore: doc_001"):
        add_documents(store, [form(MORE[0]), form(AGAIN)])
    found = search_all(store, ALL_QA, 5)["q01"]
    assert sorted(hit["doc_id"] for hit in found) == ["doc_001", "doc_002"]


def test_new_documents_are_added_to_a_store_that_langchain_made(letters):
    store = langchain_store(letters, "doc_001", "doc_002", normalize_L2=True)
    add_documents(store, to_documents(MORE))
    found = search_all(store, ALL_QA, 5)["q01"]
    assert sorted(hit["doc_id"] for hit in found) == ["doc_001", "doc_002", "doc_004"]


def test_an_id_under_which_langchain_keeps_a_document_is_refused_too(letters):
    store = langchain_store(letters, "doc_001", ids=["doc_004"])
    with pytest.raises(ValueError, match="already in the vectorstore: doc_004"):
        add_documents(store, MORE)


def test_nothing_is_added_to_a_store_whose_documents_have_no_doc_id(store):
    stored(store)[1].metadata["doc_id"] = 7
    with pytest.raises(ValueError, match="has no doc_id"):
        add_documents(store, MORE)


@pytest.mark.parametrize("kind", ["another store", "None", "documents", "a path"])
def test_what_cannot_be_added_to_is_named(letters, kind):
    wrong = {
        "another store": InMemoryVectorStore(letters),
        "None": None,
        "documents": DOCS,
        "a path": "saved",
    }[kind]
    with pytest.raises(
        TypeError, match=r"vectorstore must be a FAISS store of build_vectorstore"
    ) as said:
        add_documents(wrong, MORE)
    assert ("search_all(...) and evaluate(...) take any store" in str(said.value)) == (
        kind == "another store"
    )


def test_an_id_twice_among_the_added_is_refused_and_leaves_the_store_searchable(store):
    with pytest.raises(ValueError, match="doc_id 'doc_004' appears twice"):
        add_documents(store, MORE + MORE)
    assert_untouched(store)


def test_a_broken_vector_among_the_added_leaves_the_store_searchable(store):
    store.embedding_function = Breaking()
    with pytest.raises(ValueError, match="NaN or infinite numbers for the document doc_009"):
        add_documents(store, [*MORE, {"doc_id": "doc_009", "content": "broken"}])
    assert_untouched(store)


def test_an_added_id_that_is_no_text_is_refused_and_leaves_the_store_searchable(store):
    with pytest.raises(TypeError, match="doc_id must be a text, found int 4"):
        add_documents(store, [MORE[0] | {"doc_id": 4}])
    assert_untouched(store)


def test_vectors_of_another_width_are_refused(store, letters):
    letters.dimensions = 16
    with pytest.raises(
        ValueError, match=r"16 numbers for the document doc_004; a vector of 32 numbers"
    ):
        add_documents(store, MORE)
    letters.dimensions = 32
    assert_untouched(store)


# ---------------------------------------------------------------- saving and loading


@pytest.fixture
def folder(tmp_path, store):
    save_vectorstore(store, tmp_path / "saved")
    return tmp_path / "saved"


def file_in(folder, kind):
    """The one file of a saved store that is of this kind: index, documents or settings."""
    (path,) = folder.glob(f"{kind}*")
    return path


def test_a_loaded_store_holds_the_same_documents_and_vectors(folder, store):
    loaded = load_vectorstore(folder, Letters())
    assert stored(loaded) == stored(store)
    assert (loaded.index.reconstruct_n(0, 3) == store.index.reconstruct_n(0, 3)).all()


def test_a_loaded_store_finds_the_same(folder, store, tmp_path):
    loaded = load_vectorstore(folder, Letters())
    found = search_all(loaded, ALL_QA, 3, cache=tmp_path / "one.db")
    assert found == search_all(store, ALL_QA, 3, cache=tmp_path / "two.db")


def test_a_loaded_store_is_the_same_index_to_the_cache(folder, store, tmp_path):
    search_all(store, ALL_QA, 3, cache=tmp_path / "cache.db")
    again = search_all(load_vectorstore(folder, Letters()), ALL_QA, 3, cache=tmp_path / "cache.db")
    assert (again.searched, again.cached) == (0, 2)


def test_the_lecture_is_saved_and_loaded(vectorstore, embeddings, lecture_ko, tmp_path):
    save_vectorstore(vectorstore, tmp_path)
    loaded = load_vectorstore(tmp_path, embeddings)
    found = search_all(loaded, lecture_ko.all_qa, 5, cache=tmp_path / "one.db")
    assert found == search_all(vectorstore, lecture_ko.all_qa, 5, cache=tmp_path / "two.db")


def test_langchains_own_search_works_on_a_loaded_store(folder):
    loaded = load_vectorstore(folder, Letters())
    assert (
        loaded.similarity_search("Retrieval comes first.", k=1)[0].metadata["doc_id"] == "doc_002"
    )


def test_documents_are_added_to_a_loaded_store(folder):
    loaded = load_vectorstore(folder, Letters())
    add_documents(loaded, MORE)
    assert first(loaded, "Chunks\nLong texts are cut.") == "doc_004"


def test_an_id_in_a_loaded_store_is_refused_too(folder):
    with pytest.raises(ValueError, match="doc_ids already in the vectorstore: doc_001"):
        add_documents(load_vectorstore(folder, Letters()), DOCS[:1])


def test_no_pickle_is_written(folder):
    assert not list(folder.rglob("*.pkl"))
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".jsonl", ".npy"]


def test_the_saved_index_is_read_without_pickle(folder):
    assert faiss.deserialize_index(np.load(file_in(folder, "index"))).ntotal == 3


def test_the_saved_documents_can_be_read_by_eye(folder):
    assert "어텐션을 쓴다." in file_in(folder, "documents").read_text("utf-8")
    assert json.loads((folder / "settings.json").read_text("utf-8"))["dimensions"] == 32


@pytest.mark.parametrize("name", ["벡터 저장소", "deep/er", "sp ace"])
def test_the_folder_may_have_any_name(store, tmp_path, name):
    save_vectorstore(store, tmp_path / name)
    assert stored(load_vectorstore(tmp_path / name, Letters())) == stored(store)


def test_the_folder_may_be_given_as_text(store, tmp_path):
    save_vectorstore(store, str(tmp_path / "saved"))
    assert stored(load_vectorstore(str(tmp_path / "saved"), Letters())) == stored(store)


def test_saving_again_replaces_the_store(folder, letters):
    save_vectorstore(build_vectorstore(DOCS[:2], letters), folder)
    assert len(stored(load_vectorstore(folder, Letters()))) == 2


@pytest.mark.parametrize(
    "text", ["one\u2028two", "a\r\nb", "a\nb\n\nc", '"quoted" \\ back', "🙂 각\u1100\u1161"]
)
def test_any_text_comes_back_as_it_was(letters, tmp_path, text):
    store = build_vectorstore([{"doc_id": "d", "title": "t", "content": text}], letters)
    save_vectorstore(store, tmp_path)
    assert stored(load_vectorstore(tmp_path, Letters()))[0].page_content == f"t\n{text}"


def test_another_model_is_refused_with_both_names(folder):
    with pytest.raises(ValueError) as caught:
        load_vectorstore(folder, Letters(dimensions=16))
    assert "Letters(model=letters, dimensions=32)" in str(caught.value)
    assert "Letters(model=letters, dimensions=16)" in str(caught.value)
    assert "rebuild" in str(caught.value)


@pytest.mark.parametrize("kind", ["index", "documents", "settings"])
def test_a_missing_file_is_named(folder, kind):
    path = file_in(folder, kind)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=rf"{path.name} is not found.*save_vectorstore"):
        load_vectorstore(folder, Letters())


def test_files_that_do_not_belong_together_are_refused(folder):
    path = file_in(folder, "documents")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2]), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"{path.name} was changed"):
        load_vectorstore(folder, Letters())


def test_vectors_with_one_bit_changed_are_refused(folder):
    path = file_in(folder, "index")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"{path.name} was changed.*save it again"):
        load_vectorstore(folder, Letters())


@pytest.mark.parametrize("kind", ["index", "documents"])
def test_a_file_of_another_store_is_refused(folder, tmp_path, kind):
    other = [doc | {"content": doc["content"] * 2 + doc["doc_id"]} for doc in DOCS]
    save_vectorstore(build_vectorstore(other, Letters()), tmp_path / "other")
    path = file_in(folder, kind)
    path.write_bytes(file_in(tmp_path / "other", kind).read_bytes())
    with pytest.raises(ValueError, match=f"{path.name} was changed"):
        load_vectorstore(folder, Letters())


def test_a_save_that_fails_while_it_writes_leaves_the_old_store(folder, store, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_vectorstore(build_vectorstore(MORE, Letters()), folder)
    assert stored(load_vectorstore(folder, Letters())) == stored(store)


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_save_that_breaks_off_between_its_files_leaves_the_old_store(
    folder, store, monkeypatch, done
):
    replace, calls = os.replace, []

    def die(source, target):
        calls.append(target)
        if len(calls) > done:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        save_vectorstore(build_vectorstore(DOCS[::-1], Letters()), folder)
    assert stored(load_vectorstore(folder, Letters())) == stored(store)


def test_a_save_leaves_no_file_of_the_store_before(folder, letters):
    save_vectorstore(build_vectorstore(MORE, letters), folder)
    assert len(list(folder.iterdir())) == 3


def test_what_a_killed_save_left_behind_is_deleted_an_hour_later(folder, store):
    left = [folder / "index-0123456789abcdef.npy", folder / "index-0123456789abcdef.npy.tmp-1a2b"]
    mine = [folder / "index.npy", folder / "documents.jsonl", folder / "notes.txt"]
    for path in left + mine:
        path.write_bytes(b"x")
    save_vectorstore(store, folder)
    assert all(path.exists() for path in left)
    for path in left + mine:
        os.utime(path, (0, 0))
    save_vectorstore(store, folder)
    assert [path.exists() for path in left + mine] == [False, False, True, True, True]


def test_a_store_that_another_session_replaces_while_it_is_read_is_the_new_one(folder, monkeypatch):
    documents, reading = file_in(folder, "documents"), Path.read_bytes

    def read(path):
        if path == documents and path.exists():  # the moment before it is read
            save_vectorstore(build_vectorstore(MORE, Letters()), folder)
        return reading(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert [document.id for document in stored(load_vectorstore(folder, Letters()))] == ["doc_004"]


def as_saved_before(folder):
    """Call the files of a saved store as they were called when they had no names of their own."""
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    for kind, name in (("index", "index.npy"), ("documents", "documents.jsonl")):
        path = file_in(folder, kind).rename(folder / name)
        settings["sha256"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
    settings["sha256"] = {
        name: settings["sha256"][name] for name in ("index.npy", "documents.jsonl")
    }
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")


def test_a_store_that_was_saved_by_an_earlier_version_is_read_and_replaced(folder, store):
    as_saved_before(folder)
    assert stored(load_vectorstore(folder, Letters())) == stored(store)
    save_vectorstore(store, folder)
    assert not (folder / "index.npy").exists()
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("name", ["../secret.npy", "/etc/passwd", "index.pkl", "settings.json"])
def test_settings_that_name_another_file_are_refused(folder, name):
    rewrite(folder, {"sha256": {name: "0"}})
    with pytest.raises(ValueError, match=r"is no file of a store.*Rebuild"):
        load_vectorstore(folder, Letters())


def test_saving_does_not_write_through_a_link(store, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "settings.json").symlink_to(tmp_path / "mine.txt")
    save_vectorstore(store, tmp_path / "saved")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_metadata_that_is_no_json_is_named_and_leaves_the_old_store(folder, store):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    stored(store)[1].metadata["where"] = Path("a")
    with pytest.raises(TypeError, match=r"doc_002: the metadata cannot be written.*Path.*str"):
        save_vectorstore(store, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("value", "comes_back"),
    [
        (date(2024, 3, 1), date(2024, 3, 1)),
        (datetime(2024, 3, 1, 9, 30, tzinfo=UTC), datetime(2024, 3, 1, 9, 30, tzinfo=UTC)),
        (pd.Timestamp("2024-03-01 09:30"), datetime(2024, 3, 1, 9, 30)),
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        (np.True_, True),
        ({"seen": [date(2024, 3, 1), np.int8(1)]}, {"seen": [date(2024, 3, 1), 1]}),
        ({"__date__": 7}, {"__date__": 7}),
    ],
    ids=repr,
)
def test_a_date_or_a_number_of_numpy_in_the_metadata_comes_back(folder, store, value, comes_back):
    stored(store)[1].metadata["its"] = value
    save_vectorstore(store, folder)
    its = stored(load_vectorstore(folder, Letters()))[1].metadata["its"]
    assert (its, type(its)) == (comes_back, type(comes_back))


def test_half_an_emoji_is_saved_and_loaded(letters, tmp_path):
    text = "half \ud83d an emoji"
    save_vectorstore(build_vectorstore([{"doc_id": "d", "content": text}], letters), tmp_path)
    assert stored(load_vectorstore(tmp_path, Letters()))[0].page_content == text


def test_an_id_that_numpy_wrote_may_hold_half_an_emoji(letters):
    docs = [{"doc_id": np.str_("half \ud83d"), "content": "x"}]
    assert stored(build_vectorstore(docs, letters))[0].id == "half \ud83d"


def rewrite(folder, settings=None, lines=None):
    """Change a saved store by hand, and its checksums with it."""
    its = json.loads((folder / "settings.json").read_text("utf-8"))
    if lines is not None:
        path = file_in(folder, "documents")
        path.write_text(lines, "utf-8")
        its["sha256"][path.name] = hashlib.sha256(lines.encode()).hexdigest()
    text = json.dumps(its | (settings or {}))
    (folder / "settings.json").write_text(text, "utf-8")


LINE = '{"id": "d1", "text": "t", "metadata": {}}\n'


@pytest.mark.parametrize(
    "lines",
    [
        "[]\n" * 3,
        '{"text": "t", "metadata": {}}\n' * 3,
        LINE.replace("{}", "[]") * 3,
        LINE.replace('"t"', "7") * 3,
        LINE * 3,
        LINE,
        "null\n" * 3,
        "",
    ],
    ids=["lists", "no id", "metadata a list", "text a number", "one id", "one", "null", "none"],
)
def test_documents_written_by_hand_are_refused_in_words(folder, lines):
    rewrite(folder, lines=lines)
    with pytest.raises(ValueError, match=r"[Rr]ebuild the vectorstore"):
        load_vectorstore(folder, Letters())


@pytest.mark.parametrize("text", ["[]", "null", "{}", "7", '"text"', "{", ""])
def test_settings_of_another_form_are_refused_in_words(folder, text):
    (folder / "settings.json").write_text(text, "utf-8")
    with pytest.raises(ValueError, match="cannot be read as a saved vectorstore"):
        load_vectorstore(folder, Letters())


@pytest.mark.parametrize("settings", [{"distance_strategy": "x"}, {"sha256": []}, {"sha256": {}}])
def test_odd_settings_are_refused_in_words(folder, settings):
    rewrite(folder, settings)
    with pytest.raises(ValueError, match="cannot be read as a saved vectorstore"):
        load_vectorstore(folder, Letters())


@pytest.mark.parametrize("kind", ["index", "documents", "settings"])
def test_a_folder_in_place_of_a_file_is_refused_in_words(folder, kind):
    path = file_in(folder, kind)
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match="cannot be read as a saved vectorstore"):
        load_vectorstore(folder, Letters())


@pytest.mark.parametrize("wrong", [None, DOCS, "a path", Letters()])
def test_what_is_no_store_is_not_saved(tmp_path, wrong):
    with pytest.raises(TypeError, match=r"vectorstore must be a FAISS store"):
        save_vectorstore(wrong, tmp_path)


def test_swapped_arguments_of_saving_and_loading_are_named(store, letters, tmp_path):
    with pytest.raises(TypeError, match="vectorstore must be"):
        save_vectorstore(tmp_path, store)
    with pytest.raises(TypeError, match=r"folder must be a path.*swapped"):
        load_vectorstore(letters, tmp_path)


class Longer(Letters):
    """Vectors of length 3."""

    def _vector(self, text):
        return (3 * np.array(super()._vector(text))).tolist()


def built_by_langchain(**options):
    texts = ["aaa", "aab", "bbb"]
    metadatas = [{"doc_id": text} for text in texts]
    faiss_store = _import_community("langchain_community.vectorstores").FAISS
    return faiss_store.from_texts(texts, Longer(), metadatas=metadatas, ids=texts, **options)


@pytest.fixture
def inner_product_store():
    strategies = _import_community("langchain_community.vectorstores.utils").DistanceStrategy
    return built_by_langchain(distance_strategy=strategies.MAX_INNER_PRODUCT)


@pytest.fixture
def normalized_store():
    return built_by_langchain(normalize_L2=True)


def test_the_metric_is_kept(inner_product_store, tmp_path):
    save_vectorstore(inner_product_store, tmp_path)
    loaded = load_vectorstore(tmp_path, Longer())
    assert loaded.index.metric_type == faiss.METRIC_INNER_PRODUCT
    assert loaded.distance_strategy == inner_product_store.distance_strategy


def test_inner_products_are_kept(inner_product_store, tmp_path):
    save_vectorstore(inner_product_store, tmp_path)
    found = load_vectorstore(tmp_path, Longer()).similarity_search_with_score("aab", k=3)
    assert found == inner_product_store.similarity_search_with_score("aab", k=3)
    assert found[0][1] == pytest.approx(9.0, abs=1e-4)


def test_normalize_l2_is_kept(normalized_store, tmp_path):
    save_vectorstore(normalized_store, tmp_path)
    loaded = load_vectorstore(tmp_path, Longer())
    assert loaded._normalize_L2 is True
    found = loaded.similarity_search_with_score("aab", k=3)
    assert found == normalized_store.similarity_search_with_score("aab", k=3)
    assert found[0][1] == pytest.approx(0.0, abs=1e-5)


# ---------------------------------------------------------------- imports and warnings


# That importing warns of nothing is seen where the main command runs in a new Python.


def test_building_saving_loading_and_searching_warn_of_nothing(letters, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_vectorstore(build_vectorstore(DOCS, letters), tmp_path)
        assert len(search_all(load_vectorstore(tmp_path, letters), ALL_QA, 1)) == 2


def test_the_filter_for_warnings_is_as_before(letters):
    before = list(warnings.filters)
    build_vectorstore(DOCS, letters)
    assert warnings.filters == before


def write_module(folder, name, message):
    (folder / f"{name}.py").write_text(
        f"import warnings\nwarnings.warn({message!r}, DeprecationWarning)\n", "utf-8"
    )


def test_the_sunset_warning_is_silenced(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write_module(
        tmp_path,
        "as_langchain_warns",
        "`langchain-community` is being sunset and is no longer maintained.",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _import_community("as_langchain_warns")


def test_any_other_warning_is_heard(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write_module(tmp_path, "as_others_warn", "`langchain-community` will need Python 3.15.")
    with pytest.warns(DeprecationWarning, match="will need Python"):
        _import_community("as_others_warn")


@pytest.mark.parametrize("kind", ["index", "documents", "settings"])
def test_a_file_of_the_store_that_cannot_be_read_is_refused(folder, kind):
    file_in(folder, kind).write_bytes(b"xx")
    with pytest.raises(ValueError, match="cannot be read as a saved vectorstore"):
        load_vectorstore(folder, Letters())


# ---------------------------------------------------------------- the progress bar


def test_the_bar_counts_documents_and_queries(monkeypatch):
    import tqdm

    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            bars.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    docs = [{"doc_id": f"d{n}", "content": f"text {n}"} for n in range(150)]
    all_qa = [{"query_id": f"q{n}", "question": f"number {n}?"} for n in range(300)]
    search_all(build_vectorstore(docs, Letters()), all_qa, 1)
    assert [(bar.total, bar.n, bar.unit) for bar in bars] == [
        (150, 150, "document"),
        (300, 300, "query"),
    ]
