"""Loading a dataset: both forms, every refusal, tables in place of lists, the lecture's data."""

import json
import re
import unicodedata

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, caught

from rageval_kit import (
    build_vectorstore,
    load_dataset,
    load_embeddings,
    search_all,
    validate_dataset,
)
from rageval_kit.documents import as_docs
from rageval_kit.judgements import as_queries, relevant_grades

DOCS = [
    {"doc_id": "doc_001", "title": "트랜스포머", "content": "어텐션을 쓴다."},
    {"doc_id": "doc_002", "title": "RAG", "content": "Retrieval comes first."},
]
ALL_QA = [
    {
        "query_id": "q01",
        "question": "무엇을 쓰나?",
        "relevant_doc_ids": ["doc_001"],
        "ground_truth": "어텐션",
    },
    {
        "query_id": "q02",
        "question": "What comes first?",
        "relevant_doc_ids": ["doc_002"],
        "ground_truth": "Retrieval",
    },
]
BEIR_DOCS = [
    {"_id": "d1", "title": "하나", "text": "첫째 글"},
    {"_id": "d2", "title": "Two", "text": "second text"},
]
BEIR_QUERIES = [{"_id": "q1", "text": "첫째?"}, {"_id": "q2", "text": "second?"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"


def write_lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records),
        encoding="utf-8",
    )


@pytest.fixture
def own(tmp_path):
    """Write a folder in the kit's own form."""
    write_lines(tmp_path / "corpus.jsonl", DOCS)
    write_lines(tmp_path / "queries.jsonl", ALL_QA)
    return tmp_path


@pytest.fixture
def beir(tmp_path):
    """Write a folder in BEIR's form, judged in qrels/test.tsv."""
    write_lines(tmp_path / "corpus.jsonl", BEIR_DOCS)
    write_lines(tmp_path / "queries.jsonl", BEIR_QUERIES)
    write_qrels(tmp_path, "test", QRELS)
    return tmp_path


def write_qrels(folder, split, text):
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels" / f"{split}.tsv").write_text(text, encoding="utf-8")


def refusal(folder, error=ValueError, **options):
    with pytest.raises(error) as caught:
        load_dataset(folder, **options)
    return str(caught.value)


# ---------------------------------------------------------------- the kit's own form


def test_own_form_gives_two_lists_of_dicts(own):
    docs, all_qa = load_dataset(own)
    assert docs == DOCS
    assert all_qa == ALL_QA


def test_own_form_gives_named_parts(own):
    dataset = load_dataset(own)
    assert dataset.docs == DOCS
    assert dataset.all_qa == ALL_QA


def test_the_folder_may_be_given_as_text(own):
    assert load_dataset(str(own)).docs == DOCS


def test_own_form_keeps_fields_that_the_kit_does_not_know(own):
    write_lines(own / "corpus.jsonl", [DOCS[0] | {"added_later": True}])
    assert load_dataset(own).docs[0]["added_later"] is True


def test_own_form_keeps_grades(own):
    write_lines(
        own / "queries.jsonl", [ALL_QA[0] | {"relevant_doc_ids": {"doc_001": 2, "doc_002": 0}}]
    )
    assert load_dataset(own).all_qa[0]["relevant_doc_ids"] == {"doc_001": 2, "doc_002": 0}


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_byte_order_mark_is_left_out(own, name):
    (own / name).write_bytes(b"\xef\xbb\xbf" + (own / name).read_bytes())
    assert load_dataset(own) == (DOCS, ALL_QA)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_windows_line_ends_are_read(own, name):
    (own / name).write_bytes((own / name).read_bytes().replace(b"\n", b"\r\n"))
    assert load_dataset(own) == (DOCS, ALL_QA)


def test_blank_lines_are_skipped(own):
    (own / "corpus.jsonl").write_text(
        "\n" + (own / "corpus.jsonl").read_text("utf-8") + "  \n\n", encoding="utf-8"
    )
    assert load_dataset(own).docs == DOCS


def test_the_last_line_needs_no_line_end(own):
    (own / "corpus.jsonl").write_bytes((own / "corpus.jsonl").read_bytes().rstrip(b"\n"))
    assert load_dataset(own).docs == DOCS


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85"])
def test_a_line_separator_inside_a_text_does_not_end_the_line(own, character):
    text = f"one{character}two"
    write_lines(own / "corpus.jsonl", [DOCS[0] | {"content": text}])
    assert load_dataset(own).docs[0]["content"] == text


@pytest.mark.parametrize(
    "doc_id", ["09081824", "830e2936", "1", "1.0", "nan", "true", "a b", "#1", "<d1>", "문서 1"]
)
def test_own_form_keeps_ids_as_text(own, doc_id):
    write_lines(own / "corpus.jsonl", [DOCS[0] | {"doc_id": doc_id}])
    write_lines(
        own / "queries.jsonl", [ALL_QA[0] | {"query_id": doc_id, "relevant_doc_ids": [doc_id]}]
    )
    docs, all_qa = load_dataset(own)
    assert docs[0]["doc_id"] == doc_id
    assert (all_qa[0]["query_id"], all_qa[0]["relevant_doc_ids"]) == (doc_id, [doc_id])


# ---------------------------------------------------------------- BEIR's form


def test_beir_documents_get_the_names_of_the_kit(beir):
    assert load_dataset(beir).docs == [
        {"doc_id": "d1", "title": "하나", "content": "첫째 글"},
        {"doc_id": "d2", "title": "Two", "content": "second text"},
    ]


def test_beir_queries_get_their_grades(beir):
    assert load_dataset(beir).all_qa == [
        {"query_id": "q1", "question": "첫째?", "relevant_doc_ids": {"d1": 2.0, "d2": 0.0}}
    ]


def test_beir_documents_without_title_have_an_empty_one(beir):
    write_lines(beir / "corpus.jsonl", [{"_id": "d1", "text": "first text"}])
    assert load_dataset(beir).docs == [{"doc_id": "d1", "title": "", "content": "first text"}]


def test_beir_reads_the_test_split_if_none_is_named(beir):
    write_qrels(beir, "train", "query-id\tcorpus-id\tscore\nq2\td2\t1\n")
    assert [qa["query_id"] for qa in load_dataset(beir).all_qa] == ["q1"]


def test_a_beir_query_that_no_split_judges_is_named(beir):
    with pytest.warns(
        UserWarning, match=r"1 query of queries\.jsonl left out, not judged.*: q2\. Judge"
    ):
        assert [qa["query_id"] for qa in load_dataset(beir).all_qa] == ["q1"]


def test_a_beir_query_of_another_split_is_not_named(beir):
    write_qrels(beir, "train", "query-id\tcorpus-id\tscore\nq2\td2\t1\n")
    assert caught(lambda: load_dataset(beir)) == []


def test_beir_reads_the_split_that_is_named(beir):
    write_qrels(beir, "train", "query-id\tcorpus-id\tscore\nq2\td2\t1\n")
    assert [qa["query_id"] for qa in load_dataset(beir, split="train").all_qa] == ["q2"]


def test_beir_reads_the_only_split_whatever_its_name(beir):
    (beir / "qrels" / "test.tsv").rename(beir / "qrels" / "dev.tsv")
    assert [qa["query_id"] for qa in load_dataset(beir).all_qa] == ["q1"]


def test_beir_queries_keep_the_order_of_their_file(beir):
    write_qrels(beir, "test", "query-id\tcorpus-id\tscore\nq2\td2\t1\nq1\td1\t1\n")
    assert [qa["query_id"] for qa in load_dataset(beir).all_qa] == ["q1", "q2"]


def test_qrels_may_come_without_a_header(beir):
    write_qrels(beir, "test", "q1\td1\t1\n")
    assert load_dataset(beir).all_qa[0]["relevant_doc_ids"] == {"d1": 1.0}


def test_qrels_may_have_a_byte_order_mark_and_windows_line_ends(beir):
    (beir / "qrels" / "test.tsv").write_bytes(
        b"\xef\xbb\xbf" + QRELS.replace("\n", "\r\n").encode()
    )
    assert load_dataset(beir).all_qa[0]["relevant_doc_ids"] == {"d1": 2.0, "d2": 0.0}


def test_qrels_may_have_fractional_grades(beir):
    write_qrels(beir, "test", "q1\td1\t0.5\n")
    assert load_dataset(beir).all_qa[0]["relevant_doc_ids"] == {"d1": 0.5}


@pytest.mark.parametrize("text_id", ["09081824", "830e2936", "문서 1", "#1"])
def test_beir_keeps_ids_as_text(beir, text_id):
    write_lines(beir / "corpus.jsonl", [{"_id": text_id, "title": "", "text": "x"}])
    write_lines(beir / "queries.jsonl", [{"_id": text_id, "text": "x?"}])
    write_qrels(beir, "test", f"query-id\tcorpus-id\tscore\n{text_id}\t{text_id}\t1\n")
    docs, all_qa = load_dataset(beir)
    assert docs[0]["doc_id"] == text_id
    assert (all_qa[0]["query_id"], all_qa[0]["relevant_doc_ids"]) == (text_id, {text_id: 1.0})


def test_beir_text_may_hold_a_line_separator(beir):
    write_lines(beir / "corpus.jsonl", [{"_id": "d1", "title": "", "text": "one\u2028two"}])
    assert load_dataset(beir).docs[0]["content"] == "one\u2028two"


# ---------------------------------------------------------------- refusals, with file and line


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_file_that_is_not_found_is_named(own, name):
    (own / name).unlink()
    assert str(own / name) in refusal(own, FileNotFoundError)


def test_a_folder_that_is_not_found_is_named(tmp_path):
    assert f"{tmp_path / 'nowhere'} not found" in refusal(tmp_path / "nowhere", FileNotFoundError)


def test_of_a_relative_folder_the_working_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = refusal("data/lecture/ko", FileNotFoundError)
    assert "data/lecture/ko not found" in message
    assert str(tmp_path) in message


def test_a_file_in_place_of_its_folder_is_told_with_the_folder(own):
    message = refusal(own / "corpus.jsonl", NotADirectoryError)
    assert f"is a file. Give its folder: {own}" in message


def test_a_file_outside_of_a_dataset_is_not_told_to_give_its_folder(tmp_path):
    (tmp_path / "x.csv").write_text("a,b")
    message = refusal(tmp_path / "x.csv", NotADirectoryError)
    assert "is a file. Give a folder with corpus.jsonl and queries.jsonl" in message
    assert "load_qrels" in message


@pytest.mark.parametrize("depth", ["ko", "lecture/ko"])
def test_a_folder_above_the_datasets_names_them(tmp_path, depth):
    write_lines(tmp_path / depth / "corpus.jsonl", DOCS)
    message = refusal(tmp_path, FileNotFoundError)
    assert f"Datasets below it: {tmp_path / depth}. Give one of them." in message


@pytest.mark.parametrize("folder", [None, 3, ["data"], DOCS])
def test_what_is_no_path_is_refused(folder):
    assert "source must be a path" in refusal(folder, TypeError)


@pytest.mark.parametrize("folder", ["", "a\0b", "a\ud83d"])
def test_a_path_that_no_folder_can_have_is_refused(folder):
    assert "is empty, too long, or holds a NUL" in refusal(folder)


@pytest.mark.parametrize("line", ["[" * 100_000, "9" * 5_000], ids=["brackets", "digits"])
def test_a_line_that_is_too_much_for_json_is_named(own, line):
    (own / "corpus.jsonl").write_text(f'{{"doc_id": {line}}}', encoding="utf-8")
    assert f"{own / 'corpus.jsonl'}, line 1: not JSON" in refusal(own)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_line_that_is_not_json_is_named(own, name):
    (own / name).write_text('{"doc_id": "doc_001"}\n\n{"doc_id": "doc_002",\n', encoding="utf-8")
    message = refusal(own)
    assert f"{own / name}, line 3: not JSON" in message
    assert "One JSON object a line is wanted" in message


@pytest.mark.parametrize(
    ("line", "found"), [("[1, 2]", "list"), ('"text"', "str"), ("7", "int"), ("null", "NoneType")]
)
def test_a_line_that_is_not_an_object_is_named(own, line, found):
    (own / "corpus.jsonl").write_text(f"{{}}\n{line}\n", encoding="utf-8")
    assert f"{own / 'corpus.jsonl'}, line 2: a JSON object was wanted, found {found}" in refusal(
        own
    )


@pytest.mark.parametrize("encoding", ["cp949", "utf-16"])
def test_a_file_that_is_not_utf_8_is_named_with_the_cure(own, encoding):
    text = (own / "corpus.jsonl").read_text("utf-8")
    (own / "corpus.jsonl").write_text(text, encoding=encoding)
    message = refusal(own)
    assert f"{own / 'corpus.jsonl'} is not UTF-8" in message
    assert f"read_text(encoding='{encoding}')" in message


def test_a_git_lfs_pointer_is_named_with_the_cure(own):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    (own / "corpus.jsonl").write_text(pointer, encoding="utf-8")
    message = refusal(own)
    assert f"{own / 'corpus.jsonl'} is a Git LFS pointer" in message
    assert "git lfs pull" in message


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_an_empty_file_is_named(own, name, text):
    (own / name).write_text(text, encoding="utf-8")
    assert f"{own / name} is empty" in refusal(own)


@pytest.mark.parametrize("field", ["_id", "text"])
@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_field_missing_in_beirs_form_is_named_with_what_was_found(beir, name, field):
    record = {"_id": "d1", "text": "x", "metadata": {}}
    del record[field]
    write_lines(beir / name, [{"_id": "q1", "text": "x"}, record])
    message = refusal(beir)
    assert f"{beir / name}, line 2: no field {field}" in message
    assert ", ".join(record) in message


def test_a_numeric_id_in_beirs_form_is_named_where_it_stands(beir):
    write_lines(beir / "queries.jsonl", [{"_id": 1, "text": "first?"}])
    write_qrels(beir, "test", "1\td1\t1\n")
    assert f"{beir / 'queries.jsonl'}, line 1" in refusal(beir)


def test_a_split_without_a_folder_qrels_is_refused(own):
    message = refusal(own, split="test")
    assert "split='test'" in message
    assert f"{own} has no folder qrels" in message


def test_a_split_that_is_not_there_is_refused_with_those_that_are(beir):
    write_qrels(beir, "train", QRELS)
    message = refusal(beir, split="dev")
    assert "has no dev.tsv" in message
    assert "splits found: test, train" in message


def test_several_splits_without_a_test_split_want_a_choice(beir):
    (beir / "qrels" / "test.tsv").rename(beir / "qrels" / "dev.tsv")
    write_qrels(beir, "train", QRELS)
    message = refusal(beir)
    assert "splits found: dev, train" in message
    assert "split=" in message


def test_a_folder_qrels_without_a_table_is_refused(beir):
    (beir / "qrels" / "test.tsv").unlink()
    assert "splits found: none" in refusal(beir)


@pytest.mark.parametrize("line", ["q1\td1", "q1\t0\td1\t1"])
def test_qrels_with_another_number_of_fields_are_named(beir, line):
    write_qrels(beir, "test", f"query-id\tcorpus-id\tscore\nq1\td1\t1\n{line}\n")
    message = refusal(beir)
    assert f"{beir / 'qrels' / 'test.tsv'}, line 3: 3 fields were wanted" in message


@pytest.mark.parametrize("score", ["high", "1,5"])
def test_qrels_with_a_score_that_is_no_number_are_named(beir, score):
    write_qrels(beir, "test", f"query-id\tcorpus-id\tscore\nq1\td1\t{score}\n")
    assert (
        f"{beir / 'qrels' / 'test.tsv'}, line 2: the relevance {score!r} is not a number"
        in refusal(beir)
    )


def test_qrels_that_hold_only_a_header_are_named(beir):
    write_qrels(beir, "test", "query-id\tcorpus-id\tscore\n")
    assert f"{beir / 'qrels' / 'test.tsv'} holds no judgement, only a header" in refusal(beir)


def test_empty_qrels_are_named(beir):
    write_qrels(beir, "test", "")
    assert f"{beir / 'qrels' / 'test.tsv'} is empty" in refusal(beir)


def test_qrels_for_a_query_that_is_not_there_name_it(beir):
    write_qrels(beir, "test", QRELS + "q9\td1\t1\n")
    message = refusal(beir)
    assert f"{beir / 'qrels' / 'test.tsv'}: 1 query not found in queries.jsonl: q9" in message


def test_qrels_that_judge_a_document_twice_and_differently_are_named(beir):
    write_qrels(beir, "test", "q1\td1\t1\nq1\td1\t0\n")
    assert f"{beir / 'qrels' / 'test.tsv'}, line 2" in refusal(beir)


# ---------------------------------------------------------------- tables in place of lists


def test_documents_may_be_a_table(lecture_ko):
    table = pd.DataFrame(lecture_ko.docs)
    assert as_docs(table) == lecture_ko.docs


def test_a_table_of_documents_is_indexed_as_the_list_is(lecture_ko):
    embeddings = load_embeddings("chars")
    from_table = build_vectorstore(pd.DataFrame(lecture_ko.docs), embeddings)
    assert (
        from_table.docstore._dict == build_vectorstore(lecture_ko.docs, embeddings).docstore._dict
    )


def test_a_table_of_all_qa_is_searched_as_the_list_is(lecture_ko):
    vectorstore = build_vectorstore(lecture_ko.docs, load_embeddings("chars"))
    assert search_all(vectorstore, pd.DataFrame(lecture_ko.all_qa), 3) == search_all(
        vectorstore, lecture_ko.all_qa, 3
    )


def test_tables_validate_as_the_lists_do(lecture_ko):
    assert (
        len(validate_dataset(pd.DataFrame(lecture_ko.docs), pd.DataFrame(lecture_ko.all_qa))) == 0
    )


def test_ids_of_a_table_read_as_text_stay_text(tmp_path):
    (tmp_path / "docs.csv").write_text(
        "doc_id,title,content\n09081824,a,x\n830e2936,b,y\n", encoding="utf-8"
    )
    table = pd.read_csv(tmp_path / "docs.csv", dtype=str)
    assert [doc["doc_id"] for doc in as_docs(table)] == ["09081824", "830e2936"]


def test_a_table_with_a_row_a_judgement_is_grouped_by_query():
    table = pd.DataFrame(
        {"query_id": ["q1", "q2", "q1"], "doc_id": ["d1", "d1", "d2"], "relevance": [2, 1, 0]}
    )
    assert as_queries(table) == [
        {"query_id": "q1", "relevant_doc_ids": {"d1": 2, "d2": 0}},
        {"query_id": "q2", "relevant_doc_ids": {"d1": 1}},
    ]


def test_a_row_a_judgement_without_relevance_means_grade_1():
    table = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"]})
    assert as_queries(table) == [{"query_id": "q1", "relevant_doc_ids": {"d1": 1.0, "d2": 1.0}}]


def test_a_row_a_judgement_keeps_the_question():
    table = pd.DataFrame(
        {"query_id": ["q1", "q1"], "question": ["왜?", "왜?"], "doc_id": ["d1", "d2"]}
    )
    assert as_queries(table)[0]["question"] == "왜?"


@pytest.mark.parametrize("records", ["docs", b"docs", {"doc_id": "doc_001"}, 7, None])
def test_something_else_than_a_list_or_table_is_refused(records):
    with pytest.raises(TypeError, match="docs must be a list of dicts or a DataFrame, found"):
        as_docs(records)


def test_an_entry_that_is_no_dict_is_named_by_its_position():
    with pytest.raises(TypeError, match="docs, entry 2, must be a dict, found str"):
        as_docs([{"doc_id": "doc_001"}, "doc_002"])


@pytest.mark.parametrize(
    "relevant",
    [
        ["d1", "d2"],
        ("d1", "d2"),
        np.array(["d1", "d2"], dtype=object),
        {"d1": 1, "d2": 1.0},
        {"d1": np.int64(1), "d2": 1},
    ],
    ids=["list", "tuple", "array", "grades", "numpy grades"],
)
def test_relevant_documents_are_read_in_every_form(relevant):
    assert relevant_grades({"query_id": "q1", "relevant_doc_ids": relevant}) == {
        "d1": 1.0,
        "d2": 1.0,
    }


def test_a_set_of_relevant_documents_is_read():
    assert relevant_grades({"query_id": "q1", "relevant_doc_ids": {"d1"}}) == {"d1": 1.0}


def test_a_query_without_relevant_doc_ids_is_refused():
    with pytest.raises(KeyError, match="q1: relevant_doc_ids is missing"):
        relevant_grades({"query_id": "q1", "question": "?"})


def test_one_id_in_place_of_a_list_is_refused_with_the_cure():
    with pytest.raises(TypeError, match=re.escape("Write ['d1'].")):
        relevant_grades({"query_id": "q1", "relevant_doc_ids": "d1"})


def test_a_list_written_as_text_is_refused():
    with pytest.raises(
        TypeError, match="q1: relevant_doc_ids: must be a list or a dict, found str"
    ):
        relevant_grades({"query_id": "q1", "relevant_doc_ids": "['d1']"})


def test_a_list_within_the_list_is_refused():
    with pytest.raises(TypeError, match="q1: relevant_doc_ids: holds a list within the list"):
        relevant_grades({"query_id": "q1", "relevant_doc_ids": [["d1"]]})


@pytest.mark.parametrize("grade", ["2", None, float("nan"), float("inf"), True])
def test_a_grade_that_is_no_finite_number_is_refused(grade):
    with pytest.raises(
        ValueError, match="q1: relevant_doc_ids, 'd1': the grade must be a finite number"
    ):
        relevant_grades({"query_id": "q1", "relevant_doc_ids": {"d1": grade}})


# ---------------------------------------------------------------- the bundled lecture data


@pytest.fixture
def lecture_en():
    return load_dataset(ROOT / "data" / "lecture" / "en")


def test_lecture_has_12_documents(lecture):
    assert [doc["doc_id"] for doc in lecture.docs] == [
        f"doc_{number:03}" for number in range(1, 13)
    ]


def test_lecture_has_12_queries(lecture):
    assert [qa["query_id"] for qa in lecture.all_qa] == [f"q{number:02}" for number in range(1, 13)]


def test_lecture_has_translated_titles_in_english(lecture_en):
    titles = [doc["title"] for doc in lecture_en.docs]
    assert all(title.isascii() and title for title in titles)
    assert len(set(titles)) == 12


def test_lecture_documents_have_4_to_8_sentences(lecture):
    counts = {
        doc["doc_id"]: len(re.findall(r"[.?!][\"')]*(?=\s|$)", doc["content"]))
        for doc in lecture.docs
    }
    assert {doc_id: count for doc_id, count in counts.items() if not 4 <= count <= 8} == {}


def test_lecture_has_the_same_documents_in_both_languages(lecture_ko, lecture_en):
    def marks(dataset):
        return [(doc["doc_id"], doc["added_later"]) for doc in dataset.docs]

    assert marks(lecture_ko) == marks(lecture_en)


def test_lecture_has_the_same_labels_in_both_languages(lecture_ko, lecture_en):
    def labels(dataset):
        return [(qa["query_id"], qa["relevant_doc_ids"]) for qa in dataset.all_qa]

    assert labels(lecture_ko) == labels(lecture_en)


def test_lecture_marks_the_last_two_documents_as_added_later(lecture):
    assert [doc["doc_id"] for doc in lecture.docs if doc["added_later"]] == ["doc_011", "doc_012"]


def test_lecture_has_two_relevant_documents_for_q10_and_one_for_the_others(lecture):
    several = {
        qa["query_id"]: len(qa["relevant_doc_ids"])
        for qa in lecture.all_qa
        if len(qa["relevant_doc_ids"]) != 1
    }
    assert several == {"q10": 2}


def test_lecture_answers_every_query(lecture):
    assert all(qa["ground_truth"].strip() for qa in lecture.all_qa)


def test_lecture_is_written_in_its_language(lecture_ko, lecture_en):
    def share_of_korean(dataset):
        text = "".join(
            [doc["content"] for doc in dataset.docs] + [qa["question"] for qa in dataset.all_qa]
        )
        return len(re.findall("[가-힣]", text)) / len(text)

    assert share_of_korean(lecture_ko) > 0.5
    assert share_of_korean(lecture_en) < 0.01  # an example of Korean tokens


@pytest.mark.parametrize(
    "name", ["ko/corpus.jsonl", "ko/queries.jsonl", "en/corpus.jsonl", "en/queries.jsonl"]
)
def test_lecture_files_are_normalised_utf_8(name):
    text = (ROOT / "data" / "lecture" / name).read_bytes().decode("utf-8")
    assert not text.startswith("\ufeff")
    assert unicodedata.is_normalized("NFC", text)


def test_lecture_names_its_licence():
    assert "CC BY 4.0" in (ROOT / "data" / "lecture" / "README.md").read_text("utf-8")
