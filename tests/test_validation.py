"""Validating: every kind of error and warning, what the report can do, and large datasets."""

import re
import unicodedata

import numpy as np
import pandas as pd
import pytest

from rageval_kit import validate_dataset

DOCS = [
    {"doc_id": "doc_001", "title": "Transformers", "content": "Attention compares tokens."},
    {"doc_id": "doc_002", "title": "RAG", "content": "Retrieval comes first."},
    {"doc_id": "doc_003", "title": "임베딩", "content": "임베딩은 텍스트를 벡터로 바꾼다."},
]
ALL_QA = [
    {"query_id": "q01", "question": "What compares tokens?", "relevant_doc_ids": ["doc_001"]},
    {"query_id": "q02", "question": "What comes first?", "relevant_doc_ids": ["doc_002"]},
    {"query_id": "q03", "question": "임베딩이란?", "relevant_doc_ids": ["doc_003"]},
]
NFC, NFD = unicodedata.normalize("NFC", "문서é"), unicodedata.normalize("NFD", "문서é")


def with_doc(**fields):
    """The documents, with other fields in the second."""
    return [DOCS[0], DOCS[1] | fields, DOCS[2]]


def with_query(**fields):
    """The queries, with other fields in the third."""
    return [ALL_QA[0], ALL_QA[1], ALL_QA[2] | fields]


def without(records, field):
    """The records, without the field in the second."""
    return [
        records[0],
        {name: value for name, value in records[1].items() if name != field},
        *records[2:],
    ]


def error(docs=DOCS, all_qa=ALL_QA):
    """The one error of the report."""
    report = validate_dataset(docs, all_qa)
    assert len(report.errors) == 1, report.errors
    return report.errors[0]


def warning(docs=DOCS, all_qa=ALL_QA):
    """The one warning of a report without errors."""
    report = validate_dataset(docs, all_qa)
    assert report.errors == []
    assert len(report.warnings) == 1, report.warnings
    return report.warnings[0]


# ---------------------------------------------------------------- clean data


def test_clean_data_has_no_errors():
    report = validate_dataset(DOCS, ALL_QA)
    assert len(report) == 0
    assert (report.errors, report.warnings) == ([], [])


def test_clean_data_prints_ok(capsys):
    validate_dataset(DOCS, ALL_QA)
    assert capsys.readouterr().out == "[OK] 3 documents, 3 queries: 0 errors, 0 warnings\n"


def test_the_lecture_is_clean(lecture):
    report = validate_dataset(lecture.docs, lecture.all_qa)
    assert (report.errors, report.warnings) == ([], [])


def test_the_first_ten_documents_of_the_lecture_miss_those_added_later(lecture):
    report = validate_dataset(lecture.docs[:10], lecture.all_qa)
    assert [sentence.split(":")[0] for sentence in report.errors] == [
        "q11 -> doc_011",
        "q12 -> doc_012",
    ]


def test_a_query_id_equal_to_a_document_id_has_no_effect():
    assert len(validate_dataset(DOCS, with_query(query_id="doc_001"))) == 0


@pytest.mark.parametrize(
    "relevant",
    [
        ("doc_003",),
        {"doc_003"},
        {"doc_003": 2},
        {"doc_003": 1, "doc_001": 0},
        {"doc_003": np.float32(0.5)},
        np.array(["doc_003"], dtype=object),
        np.array(["doc_003"]),
    ],
    ids=[
        "tuple",
        "set",
        "grades",
        "zero grade",
        "numpy grade",
        "array of objects",
        "array of text",
    ],
)
def test_relevant_documents_may_be_given_in_every_form(relevant):
    report = validate_dataset(DOCS, with_query(relevant_doc_ids=relevant))
    assert (report.errors, report.warnings) == ([], [])


# ---------------------------------------------------------------- errors: relevant documents


def test_a_relevant_document_that_is_not_in_the_corpus():
    sentence = error(all_qa=with_query(relevant_doc_ids=["doc_999"]))
    assert sentence == (
        "q03 -> doc_999: this relevant_doc_id is in no document. "
        "Correct the id, or add the document to the corpus."
    )


def test_the_nearest_id_is_offered():
    docs = with_doc(doc_id="attention-basics")
    all_qa = [ALL_QA[0], ALL_QA[1] | {"relevant_doc_ids": ["atention-basics"]}, ALL_QA[2]]
    assert "; near it: attention-basics." in error(docs, all_qa)


def test_no_id_is_offered_where_none_is_close():
    assert "nearest" not in error(all_qa=with_query(relevant_doc_ids=["something else"]))


def test_every_relevant_document_that_is_not_in_the_corpus_is_an_error():
    report = validate_dataset(DOCS, with_query(relevant_doc_ids=["doc_998", "doc_003", "doc_999"]))
    assert len(report) == 2
    assert [sentence.split(":")[0] for sentence in report.errors] == [
        "q03 -> doc_998",
        "q03 -> doc_999",
    ]


def test_a_judged_document_with_grade_0_must_be_in_the_corpus_too():
    assert "q03 -> doc_999" in error(
        all_qa=with_query(relevant_doc_ids={"doc_003": 1, "doc_999": 0})
    )


@pytest.mark.parametrize(
    ("doc_id", "relevant", "difference"),
    [
        ("1", 1, "type (int and str)"),
        (1, "1", "type (str and int)"),
        ("1", 1.0, "type (float and str)"),
        ("doc_002", "doc_002 ", "white space"),
        ("doc 002", "doc  002", "white space"),
        ("doc_002", "DOC_002", "case"),
        (NFC, NFD, "Unicode form (NFC and NFD)"),
        (NFD, NFC, "Unicode form (NFC and NFD)"),
    ],
)
def test_a_relevant_document_that_looks_like_one_of_the_corpus(doc_id, relevant, difference):
    all_qa = [ALL_QA[0], ALL_QA[1] | {"relevant_doc_ids": [relevant]}, ALL_QA[2]]
    errors = validate_dataset(with_doc(doc_id=doc_id), all_qa).errors
    sentences = [sentence for sentence in errors if sentence.startswith(f"q02 -> {relevant}: ")]
    assert len(sentences) == 1
    assert f"{relevant!r} differs from the corpus's {doc_id!r} only by {difference}" in sentences[0]
    assert "in the same way on both sides" in sentences[0]


@pytest.mark.parametrize("relevant", [7, 7.5, float("nan"), None, True])
def test_a_relevant_document_that_is_no_text(relevant):
    sentence = error(all_qa=with_query(relevant_doc_ids=[relevant]))
    assert (
        f"q03 -> {relevant}: a relevant_doc_id must be a text, found {type(relevant).__name__}"
        in sentence
    )


@pytest.mark.parametrize("grade", ["2", "high", None, float("nan"), float("inf"), True])
def test_a_grade_that_is_no_number(grade):
    sentence = error(all_qa=with_query(relevant_doc_ids={"doc_003": grade}))
    assert sentence.startswith("q03: ")
    assert f"'doc_003': the grade must be a finite number, found {grade!r}" in sentence
    assert "Write 1 for relevant, 0 for not." in sentence


def test_one_relevant_document_in_place_of_a_list():
    sentence = error(all_qa=with_query(relevant_doc_ids="doc_003"))
    assert sentence == (
        "q03: relevant_doc_ids: must be a list or a dict, found str 'doc_003'. Write ['doc_003']."
    )


def test_a_list_written_as_text():
    sentence = error(all_qa=with_query(relevant_doc_ids="['doc_003']"))
    assert "q03: relevant_doc_ids: must be a list or a dict, found str" in sentence
    assert "Write ['doc_003']" in sentence


@pytest.mark.parametrize("relevant", [None, float("nan"), 3])
def test_relevant_documents_that_are_no_list(relevant):
    sentence = error(all_qa=with_query(relevant_doc_ids=relevant))
    assert (
        f"q03: relevant_doc_ids: must be a list or a dict, found {type(relevant).__name__}"
        in sentence
    )


def test_a_list_within_the_list():
    sentence = error(all_qa=with_query(relevant_doc_ids=[["doc_003"]]))
    assert "q03: relevant_doc_ids: holds a list within the list" in sentence
    assert "Write ['doc_003']" in sentence


# ---------------------------------------------------------------- errors: fields


@pytest.mark.parametrize("field", ["doc_id", "title", "content"])
def test_a_missing_field_of_a_document(field):
    all_qa = [ALL_QA[0], ALL_QA[2]]  # none needs the second document
    sentence = error(without(DOCS, field), all_qa)
    assert sentence.startswith("document 2 (")
    assert (
        f"the field {field} is missing (found {', '.join(without(DOCS, field)[1])}). Add {field}."
        in sentence
    )


@pytest.mark.parametrize("field", ["query_id", "question", "relevant_doc_ids"])
def test_a_missing_field_of_a_query(field):
    sentence = error(all_qa=without(ALL_QA, field))
    assert sentence.startswith("query 2 (")
    assert f"the field {field} is missing" in sentence


def test_a_field_missing_everywhere_is_one_error():
    docs = [{"id": doc["doc_id"], "title": "t", "content": doc["content"]} for doc in DOCS]
    errors = validate_dataset(docs, []).errors
    assert errors[1].startswith("all documents: the field doc_id is missing in every one (found id")
    assert len(errors) == 2


def test_a_field_missing_in_the_only_document_is_named_with_its_place():
    assert error(
        [{"title": "t", "content": "c"}], [ALL_QA[0] | {"relevant_doc_ids": []}]
    ).startswith("document 1 (doc_id None): the field doc_id is missing (found title, content)")


@pytest.mark.parametrize("field", ["title", "content"])
def test_half_a_character(field):
    sentence = error(with_doc(**{field: "an emoji cut in two \ud83d"}))
    assert sentence.startswith("document 2 (doc_id 'doc_002'): ")
    assert f"{field} holds half a character, '\\ud83d'" in sentence


@pytest.mark.parametrize("content", ["", "  \n", None, float("nan"), 7, ["text"]])
def test_a_content_that_is_empty_or_no_text(content):
    sentence = error(with_doc(content=content))
    assert sentence.startswith("document 2 (doc_id 'doc_002'): ")
    assert f"content must be a text that is not empty, found {content!r}" in sentence
    assert "it is judged for q02. Give it a content, or take the document and its judg" in sentence


def test_an_empty_content_that_nobody_judges_is_only_taken_out():
    docs = [*DOCS, {"doc_id": "doc_009", "title": "", "content": ""}]
    (sentence,) = validate_dataset(docs, ALL_QA).errors
    assert "Give it a content, or take the document out." in sentence


def test_an_empty_document_that_is_judged_is_one_finding_with_both_ends():
    report = validate_dataset(with_doc(content=""), [*ALL_QA, {**ALL_QA[1], "query_id": "q77"}])
    (sentence,) = report.errors
    assert ("doc_002" in sentence, "q02, q77" in sentence) == (True, True)


@pytest.mark.parametrize("title", [None, float("nan"), 7])
def test_a_title_that_is_no_text(title):
    assert f"title must be a text that is not empty, found {title!r}" in error(
        with_doc(title=title)
    )


@pytest.mark.parametrize("question", ["", " ", None, float("nan"), 7])
def test_a_question_that_is_empty_or_no_text(question):
    sentence = error(all_qa=with_query(question=question))
    assert sentence.startswith("query 3 (query_id 'q03'): ")
    assert f"question must be a text that is not empty, found {question!r}" in sentence


@pytest.mark.parametrize("field", ["title", "content"])
def test_a_missing_value_of_a_table_with_nullable_text(field):
    table = pd.DataFrame(with_doc(**{field: None})).convert_dtypes()
    assert table[field].isna().tolist() == [False, True, False]
    assert f"{field} must be a text that is not empty, found <NA>" in error(table)


def test_no_document():
    errors = validate_dataset([], ALL_QA).errors
    assert "all documents: there is no document. Load at least one document." in errors


def test_no_query():
    assert error(all_qa=[]) == "all queries: there is no query. Load at least one query."


# ---------------------------------------------------------------- errors: ids


def test_a_repeated_document_id():
    sentence = error([*DOCS, DOCS[0] | {"content": "Another text."}])
    assert sentence == (
        "documents 1, 4: doc_id 'doc_001' appears 2 times. "
        "Give every document an id of its own, or remove the repeats."
    )


def test_a_repeated_query_id():
    sentence = error(all_qa=[*ALL_QA, ALL_QA[1] | {"question": "What else?"}])
    assert "query_id 'q02' appears 2 times. Give every query an id of its own" in sentence
    assert "2, 4" in sentence


@pytest.mark.parametrize("doc_id", [7, 7.0, float("nan"), None, True, "", "  "])
def test_a_document_id_that_is_no_text(doc_id):
    all_qa = [ALL_QA[0], ALL_QA[2]]
    sentence = error(with_doc(doc_id=doc_id), all_qa)
    assert sentence.startswith("document 2: ")
    assert (
        f"doc_id must be a text that is not empty, found {type(doc_id).__name__} {doc_id!r}"
        in sentence
    )


@pytest.mark.parametrize("query_id", [7, 7.0, float("nan"), None, True, "", "  "])
def test_a_query_id_that_is_no_text(query_id):
    sentence = error(all_qa=with_query(query_id=query_id))
    assert sentence.startswith("query 3: ")
    assert (
        f"query_id must be a text that is not empty, found {type(query_id).__name__} {query_id!r}"
        in sentence
    )


UNHASHABLE = [["d"], {"d": 1}, {"d"}, np.array(["d", "e"]), np.array([1.0, np.nan]), b"d", DOCS]


@pytest.mark.parametrize("value", UNHASHABLE, ids=lambda value: type(value).__name__)
def test_an_id_that_is_a_collection(value):
    docs = with_doc(doc_id=value)
    errors = validate_dataset(docs, [ALL_QA[0], ALL_QA[2] | {"query_id": value}]).errors
    assert errors[0].startswith("document 2: doc_id must be a text")
    assert errors[1].startswith("query 2: query_id must be a text")
    assert all("Give it an id." in sentence for sentence in errors)


@pytest.mark.parametrize(
    "value", [[["d"]], [{"d": 1}], [{"d"}], np.array([["d"]]), [np.array(["d"])]]
)
def test_a_relevant_document_that_is_a_collection(value):
    assert "holds a list within the list" in error(all_qa=with_query(relevant_doc_ids=value))


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, 7, ["d"], np.array(["d", "e"]), b"d"])
def test_any_value_in_any_field_is_a_finding_and_no_exception(value):
    docs = [dict.fromkeys(DOCS[0], value), DOCS[1]]
    all_qa = [dict.fromkeys(ALL_QA[0], value), ALL_QA[1]]
    assert len(validate_dataset(docs, all_qa)) >= 4
    assert len(validate_dataset(pd.DataFrame(docs), pd.DataFrame(all_qa))) >= 4


def test_an_id_of_5000_digits_is_a_finding():
    number = 10**5000
    docs = [DOCS[0] | {"doc_id": number}, DOCS[0] | {"doc_id": number}]
    all_qa = [ALL_QA[0] | {"query_id": number, "relevant_doc_ids": [number]}]
    assert "doc_id must be a text" in validate_dataset(docs, all_qa).errors[0]


def test_the_cure_for_a_number_is_the_same_id_as_text():
    assert 'Make it a text: "7".' in error(with_doc(doc_id=7), [ALL_QA[0], ALL_QA[2]])


def test_ids_of_a_table_that_a_missing_one_turned_into_floats():
    table = pd.DataFrame({"doc_id": [1.0, np.nan], "title": ["a", "b"], "content": ["x", "y"]})
    errors = validate_dataset(table, with_query(relevant_doc_ids=["1"])[2:]).errors
    assert "found float 1.0" in errors[0]
    assert "found float nan" in errors[1]
    assert "'1' differs from the corpus's 1.0 only by type (str and float)" in errors[2]


CONFUSABLE = [
    ("id", "id ", "white space"),
    ("an id", "an  id", "white space"),
    ("id", "ID", "case"),
    ("straße", "STRASSE", "case"),
    (NFC, NFD, "Unicode form (NFC and NFD)"),
]


@pytest.mark.parametrize(("one", "other", "difference"), CONFUSABLE)
def test_document_ids_that_look_alike(one, other, difference):
    docs = [
        *DOCS,
        {"doc_id": one, "title": "a", "content": "x"},
        {"doc_id": other, "title": "b", "content": "y"},
    ]
    sentence = error(docs)
    assert f"doc_ids: {one!r} and {other!r} differ only by {difference}" in sentence
    assert "Write an id in one way everywhere." in sentence


@pytest.mark.parametrize(("one", "other", "difference"), CONFUSABLE)
def test_query_ids_that_look_alike(one, other, difference):
    all_qa = [ALL_QA[0] | {"query_id": one}, ALL_QA[1] | {"query_id": other}]
    assert f"query_ids: {one!r} and {other!r} differ only by {difference}" in error(all_qa=all_qa)


def test_ids_that_differ_only_by_type():
    docs = [
        *DOCS,
        {"doc_id": 1, "title": "a", "content": "x"},
        {"doc_id": "1", "title": "b", "content": "y"},
    ]
    errors = validate_dataset(docs, ALL_QA).errors
    assert any(
        "doc_ids: 1 and '1' differ only by type (int and str)" in sentence for sentence in errors
    )


@pytest.mark.parametrize(
    "pair", [("09081824", "9081824"), ("830e2936", "inf"), ("a-b", "ab"), ("doc 1", "doc1")]
)
def test_ids_that_a_guessing_reader_would_confuse_are_different(pair):
    docs = [{"doc_id": doc_id, "title": "t", "content": f"text of {doc_id}"} for doc_id in pair]
    all_qa = [
        {"query_id": doc_id, "question": f"{doc_id}?", "relevant_doc_ids": [doc_id]}
        for doc_id in pair
    ]
    assert validate_dataset(docs, all_qa).errors == []


# ---------------------------------------------------------------- warnings


def test_documents_with_equal_text():
    sentence = warning(with_doc(content=DOCS[0]["content"]))
    assert sentence.startswith("doc_001, doc_002: 2 documents have the same content")
    assert "Keep one" in sentence


def test_documents_whose_texts_differ_only_by_unicode_form():
    docs = [DOCS[0] | {"content": "ABC 123 rag"}, DOCS[1] | {"content": "ＡＢＣ 123 rag"}, DOCS[2]]
    assert warning(docs).startswith("doc_001, doc_002: 2 documents have the same content")


def test_documents_whose_texts_differ_only_by_white_space():
    assert "2 documents have the same content" in warning(
        with_doc(content=" Attention  compares\ntokens.")
    )


def test_a_query_asked_twice():
    sentence = warning(all_qa=[*ALL_QA, ALL_QA[0] | {"query_id": "q04"}])
    assert sentence.startswith("q01, q04: the question 'What compares tokens?' is asked 2 times")
    assert "weighs double" in sentence


@pytest.mark.parametrize(
    "relevant", [[], {}, {"doc_003": 0}, {"doc_003": -1}], ids=["list", "dict", "zero", "negative"]
)
def test_a_query_without_a_relevant_document(relevant):
    sentence = warning(all_qa=with_query(relevant_doc_ids=relevant))
    assert sentence.startswith("q03: this query has no relevant document")
    assert "count it as excluded" in sentence
    assert "unanswerable on purpose" in sentence


def test_a_question_that_is_literally_a_document():
    sentence = warning(all_qa=with_query(question=DOCS[1]["content"]))
    assert sentence.startswith("q03: 1 of 3 questions are literally the text of a document")
    assert "q03 is the content of doc_002. Ask as a user would" in sentence


FAQ = [
    {"doc_id": f"f{i}", "title": f"May I {what}?", "content": f"Yes, you may {what} here."}
    for i, what in enumerate(["smoke", "park", "eat"])
]


def asking_for(*questions):
    return [
        {"query_id": f"q{i}", "question": question, "relevant_doc_ids": [f"f{i}"]}
        for i, question in enumerate(questions)
    ]


def test_questions_that_are_titles_are_one_warning_with_their_number():
    sentence = warning(FAQ, asking_for("May I smoke?", "May  I park?", "Is food allowed?"))
    assert sentence.startswith("q0, q1: 2 of 3 questions are literally the text of a document")
    assert "(2 the title): q0 is the title of f0" in sentence


def test_questions_that_are_title_and_content_stand_in_the_same_warning():
    both = "May I park?\nYes, you may park here."
    sentence = warning(FAQ, asking_for("May I smoke?", both, "Yes, you may eat here."))
    for part in ("3 of 3", "1 the title,", "1 the title and content", "1 the content"):
        assert part in sentence


def test_an_empty_title_is_no_text_of_a_question():
    docs = [doc | {"title": ""} for doc in FAQ]
    (sentence,) = validate_dataset(docs, asking_for("a", "b", "c")).warnings
    assert "empty title" in sentence


# ---------------------------------------------------------------- Unicode forms of texts

KOREAN = [{"doc_id": "f0", "title": "", "content": "도서관은 아침 아홉 시에 연다."}]
ASKED = asking_for("도서관은 언제 여나요?")


def in_form(form, records, field):
    return [record | {field: unicodedata.normalize(form, record[field])} for record in records]


@pytest.mark.parametrize(
    ("questions", "documents"), [("NFD", "NFC"), ("NFC", "NFD")], ids=["NFD asked", "NFC asked"]
)
def test_questions_in_one_unicode_form_and_documents_in_the_other(questions, documents):
    docs, all_qa = in_form(documents, KOREAN, "content"), in_form(questions, ASKED, "question")
    sentence = next(line for line in validate_dataset(docs, all_qa).warnings if "Unicode" in line)
    for fact in (f"1 of 1 questions are in Unicode form {questions}", f"in {documents}"):
        assert fact in sentence
    assert "unicodedata.normalize" in sentence


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_one_unicode_form_everywhere_is_no_finding(form):
    docs, all_qa = in_form(form, KOREAN, "content"), in_form(form, ASKED, "question")
    assert not any("Unicode" in line for line in validate_dataset(docs, all_qa).warnings)


def test_a_letter_that_nfc_replaces_by_another_is_no_other_form():
    ohm = [{"doc_id": "f0", "title": "", "content": "저항은 5 \u2126 이다."}]
    assert not any("Unicode" in line for line in validate_dataset(ohm, ASKED).warnings)


def test_empty_titles_are_one_warning():
    docs = [doc | {"title": title} for doc, title in zip(DOCS, ("", "", " \n"), strict=True)]
    assert warning(docs).startswith("corpus: 3 of 3 documents have an empty title")


def test_a_document_judged_twice_in_a_list():
    sentence = warning(all_qa=with_query(relevant_doc_ids=["doc_003", "doc_003"]))
    assert sentence.startswith("q03: a document appears twice in relevant_doc_ids; it counts once")


def test_a_document_judged_twice_in_a_table_with_a_row_a_judgement():
    qrels = pd.DataFrame(
        {"query_id": ["q01", "q01"], "doc_id": ["doc_001", "doc_001"], "relevance": [1, 2]}
    )
    report = validate_dataset(DOCS, qrels)
    assert any(
        "twice" in sentence and "q01" in sentence for sentence in report.errors + report.warnings
    )


def test_warnings_are_not_errors():
    report = validate_dataset(DOCS, with_query(relevant_doc_ids=[]))
    assert len(report) == 0
    report.raise_if_errors()


# ---------------------------------------------------------------- tables


def test_tables_are_validated_as_lists_are():
    report = validate_dataset(
        pd.DataFrame(DOCS), pd.DataFrame(with_query(relevant_doc_ids=["doc_999"]))
    )
    assert [sentence.split(":")[0] for sentence in report.errors] == ["q03 -> doc_999"]


def test_a_table_with_a_row_a_judgement_needs_no_question():
    qrels = pd.DataFrame(
        {"query_id": ["q01", "q01", "q02"], "doc_id": ["doc_001", "doc_002", "doc_999"]}
    )
    report = validate_dataset(DOCS, qrels)
    assert [sentence.split(":")[0] for sentence in report.errors] == ["q02 -> doc_999"]


BROKEN_TABLES = {
    "no query_id": (pd.DataFrame({"doc_id": ["doc_001"], "relevance": [1]}), "query_id is missing"),
    "a query_id is NaN": (
        pd.DataFrame({"query_id": ["q01", np.nan], "doc_id": ["doc_001", "doc_002"]}),
        "query_id is missing \\(NaN\\)",
    ),
    "a doc_id is NaN": (
        pd.DataFrame({"query_id": ["q01", "q02"], "doc_id": ["doc_001", np.nan]}),
        "doc_id must be a text, found float nan",
    ),
    "two columns of grades": (
        pd.DataFrame({"query_id": ["q01"], "doc_id": ["doc_001"], "score": [1], "label": [1]}),
        "which column holds the grades",
    ),
    "grades that are texts": (
        pd.DataFrame({"query_id": ["q01"], "doc_id": ["doc_001"], "relevance": ["high"]}),
        "relevance must be numbers",
    ),
}


@pytest.mark.parametrize(("qrels", "why"), BROKEN_TABLES.values(), ids=BROKEN_TABLES.keys())
def test_a_broken_table_of_judgements_is_one_error(qrels, why):
    sentence = error(all_qa=qrels)
    assert sentence.startswith("table of judgements: ")
    assert re.search(why, sentence)


def test_a_grade_missing_in_a_table_is_an_error():
    qrels = pd.DataFrame(
        {"query_id": ["q01", "q02"], "doc_id": ["doc_001", "doc_002"], "relevance": [1, None]}
    )
    assert "row 1: relevance is NaN" in error(all_qa=qrels)


# ---------------------------------------------------------------- the report


@pytest.fixture
def bad_report():
    """A report of two errors and a warning."""
    docs = with_doc(content="")
    return validate_dataset(
        docs, [*with_query(relevant_doc_ids=["doc_999"]), ALL_QA[0] | {"query_id": "q04"}]
    )


def test_an_id_cannot_feign_a_line_of_the_report():
    doc_id = "d1\n[OK] 1 document, 1 query: 0 errors\x1b[2J\ud83d"
    report = validate_dataset(with_doc(doc_id=doc_id), with_query(relevant_doc_ids=[doc_id + "x"]))
    assert not any(line.startswith("[OK]") for line in str(report).splitlines())
    assert "\x1b" not in str(report)
    assert "q03 -> d1\\n[OK] 1 document, 1 query: 0 errors\\x1b[2J\\ud83dx: " in str(report)
    assert report.to_frame()["where"].str.contains(doc_id, regex=False).any()


def test_everything_is_reported_at_once(bad_report):
    assert (len(bad_report), len(bad_report.errors), len(bad_report.warnings)) == (2, 2, 1)


def test_the_verdict_is_printed_with_every_finding(bad_report):
    assert str(bad_report).splitlines()[0] == "[FAIL] 3 documents, 4 queries: 2 errors, 1 warning"
    for sentence in bad_report.errors:
        assert f"  error: {sentence}" in str(bad_report).splitlines()
    for sentence in bad_report.warnings:
        assert f"  warning: {sentence}" in str(bad_report).splitlines()


def test_validating_prints_the_report(capsys):
    report = validate_dataset(DOCS, with_query(relevant_doc_ids=["doc_999"]))
    assert capsys.readouterr().out == f"{report}\n"


def test_the_report_is_short_as_the_last_value_of_a_cell(bad_report):
    assert repr(bad_report) == "Report(errors=2, warnings=1)"


def test_a_long_report_prints_the_first_twenty_and_counts_the_others():
    all_qa = [
        {"query_id": f"q{i}", "question": f"{i}?", "relevant_doc_ids": ["no such document"]}
        for i in range(1250)
    ]
    lines = str(validate_dataset(DOCS, all_qa)).splitlines()
    assert lines[-1] == "  ... and 1,230 more errors: report.to_frame() lists all"
    assert len(lines) == 22


def test_to_frame_has_a_row_a_finding(bad_report):
    table = bad_report.to_frame()
    assert table.columns.tolist() == ["severity", "kind", "where", "what", "cure"]
    assert table["severity"].tolist() == ["error", "error", "warning"]


def test_to_frame_says_what_where_and_the_cure():
    row = validate_dataset(DOCS, with_query(relevant_doc_ids=["doc_999"])).to_frame().iloc[0]
    assert row["where"] == "q03 -> doc_999"
    assert row["what"] == "this relevant_doc_id is in no document"
    assert row["cure"] == "Correct the id, or add the document to the corpus"


def test_to_frame_of_clean_data_is_empty_with_its_columns():
    table = validate_dataset(DOCS, ALL_QA).to_frame()
    assert (len(table), table.columns.tolist()) == (
        0,
        ["severity", "kind", "where", "what", "cure"],
    )


def test_raise_if_errors_raises_the_whole_report(bad_report):
    with pytest.raises(ValueError) as caught:
        bad_report.raise_if_errors()
    assert str(caught.value) == str(bad_report)


def test_raise_if_errors_is_silent_on_clean_data():
    validate_dataset(DOCS, ALL_QA).raise_if_errors()


def test_the_data_is_not_changed():
    docs, all_qa = [dict(doc) for doc in DOCS], [dict(qa) for qa in ALL_QA]
    validate_dataset(docs, all_qa)
    assert (docs, all_qa) == (DOCS, ALL_QA)


# ---------------------------------------------------------------- wrong arguments


def test_swapped_arguments_are_told():
    with pytest.raises(TypeError, match=r"docs must be .* found queries .* swapped"):
        validate_dataset(ALL_QA, DOCS)
    with pytest.raises(TypeError, match=r"all_qa must be .* found documents .* swapped"):
        validate_dataset(DOCS, DOCS)


def test_a_query_without_any_of_its_fields_is_reported():
    report = validate_dataset(DOCS, [{"content": "x"}])
    missing = {"query_id", "question", "relevant_doc_ids"}
    assert all(f"the field {field} is missing" in str(report) for field in missing)


def test_swapped_tables_are_told():
    with pytest.raises(TypeError, match=r"docs must be .* found queries .* swapped"):
        validate_dataset(pd.DataFrame(ALL_QA), pd.DataFrame(DOCS))


@pytest.mark.parametrize("wrong", ["corpus.jsonl", DOCS[0], None, 7])
def test_documents_that_are_no_list_are_refused(wrong):
    with pytest.raises(TypeError, match="docs must be a list of dicts or a DataFrame, found"):
        validate_dataset(wrong, ALL_QA)


def test_queries_that_are_no_list_are_refused():
    with pytest.raises(TypeError, match="all_qa must be a list of dicts or a DataFrame, found str"):
        validate_dataset(DOCS, "queries.jsonl")


def test_an_entry_that_is_no_dict_is_named():
    with pytest.raises(TypeError, match="docs, entry 2, must be a dict, found str"):
        validate_dataset([DOCS[0], "doc_002"], ALL_QA)


# ---------------------------------------------------------------- 10,000 documents and queries

N = 10_000


@pytest.fixture(scope="module")
def large():
    docs = [
        {"doc_id": f"doc_{i:06}", "title": f"title {i}", "content": f"text {i} of many"}
        for i in range(N)
    ]
    all_qa = [
        {"query_id": f"q{i:06}", "question": f"what is {i}?", "relevant_doc_ids": [f"doc_{i:06}"]}
        for i in range(N)
    ]
    return docs, all_qa


def test_10_000_clean_documents_and_queries(large):
    report = validate_dataset(*large)
    assert (report.errors, report.warnings) == ([], [])


def test_10_000_relevant_documents_that_are_all_missing(large):
    docs, all_qa = large
    report = validate_dataset(
        docs, [qa | {"relevant_doc_ids": [f"dok_{i:06}"]} for i, qa in enumerate(all_qa)]
    )
    assert len(report) == N
    assert report.errors[-1].startswith(
        "q009999 -> dok_009999: this relevant_doc_id is in no document"
    )
