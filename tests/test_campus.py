"""The campus collection: both languages say the same, the labels are true, and the retrievers differ on it."""

import re
import string
import unicodedata
import warnings
from collections import Counter

import pandas as pd
import pytest
from conftest import ROOT

from rageval_kit import (
    build_vectorstore,
    load_dataset,
    load_embeddings,
    load_run,
    per_query,
    search_all,
    validate_dataset,
)

CAMPUS = ROOT / "data" / "campus"
LABELS = ("edition_of", "near_copy_of", "copy_of")
KINDS = {
    "keyword", "paraphrase", "several-documents", "abbreviation", "typo", "mixed-language", "condition", "in-force",
    "unanswerable",
}  # fmt: skip
LONG = 600
COPIED_RUN = {"en": 5, "ko": 4}  # words, eojeol
HANGUL = re.compile("[가-힣]")


@pytest.fixture(scope="module")
def collection():
    return {language: load_dataset(CAMPUS / language) for language in ("ko", "en")}


@pytest.fixture(scope="module", params=["ko", "en"])
def language(request):
    return request.param


@pytest.fixture(scope="module")
def docs(collection, language):
    return {doc["doc_id"]: doc for doc in collection[language].docs}


@pytest.fixture(scope="module")
def all_qa(collection, language):
    return collection[language].all_qa


@pytest.fixture(scope="module")
def scores(collection, bundled_search):
    """The queries' scores by language and embedding, with their kind."""
    tables, chars = {}, load_embeddings("chars")
    for language, (docs, all_qa) in collection.items():
        by_model = {
            "default": bundled_search(f"campus/{language}", 10)[2],
            "chars": search_all(build_vectorstore(docs, chars), all_qa, 10),
        }
        for name, results in by_model.items():
            table = per_query(all_qa, results, metrics=["HitRate@1", "nDCG@10"])
            tables[language, name] = table.assign(kind=[qa["kind"] for qa in all_qa])
    return tables


def values(records, field):
    return [record.get(field) for record in records]


def words(text):
    """The text's words (en) or eojeol (ko), without case and the punctuation around them."""
    stripped = (word.strip(string.punctuation + "“”‘’·…") for word in text.casefold().split())
    return [word for word in stripped if word]


def runs(text, length):
    found = words(text)
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


def sentences(text):
    return re.split(r"(?<=[.!?])\s+", text)


def without_first_sentence(text):
    return re.split(r"(?<=[.!?])\s+", text, maxsplit=1)[1]


def labelled(docs, label):
    """Pairs of the labelled document and the one it names."""
    return [(doc, docs[doc[label]]) for doc in docs.values() if label in doc]


# ---------------------------------------------------------------- the two languages


@pytest.mark.parametrize("field", ["doc_id", "chapter", *LABELS, "look_alike"])
def test_documents_have_the_same_field_in_both_languages(collection, field):
    assert values(collection["ko"].docs, field) == values(collection["en"].docs, field)


@pytest.mark.parametrize("field", ["query_id", "kind", "relevant_doc_ids", "reworded"])
def test_queries_have_the_same_field_in_both_languages(collection, field):
    assert values(collection["ko"].all_qa, field) == values(collection["en"].all_qa, field)


def test_documents_are_in_their_language(docs, language):
    assert [bool(HANGUL.search(doc["content"])) for doc in docs.values()] == [
        language == "ko"
    ] * len(docs)


def test_ground_truths_are_in_their_language(all_qa, language):
    wrong = [
        qa["query_id"]
        for qa in all_qa
        if bool(HANGUL.search(qa["ground_truth"])) != (language == "ko")
    ]
    assert wrong == []


def test_every_text_is_in_unicode_form_nfc(docs, all_qa):
    texts = [
        value
        for record in (*docs.values(), *all_qa)
        for value in record.values()
        if isinstance(value, str)
    ]
    assert [text for text in texts if not unicodedata.is_normalized("NFC", text)] == []


# ---------------------------------------------------------------- the documents


def test_there_are_at_least_150_documents(docs):
    assert len(docs) >= 150


@pytest.mark.parametrize(
    ("label", "least"), [("edition_of", 12), ("near_copy_of", 8), ("copy_of", 4)]
)
def test_each_label_stands_on_enough_documents(docs, label, least):
    assert sum(label in doc for doc in docs.values()) >= least


def test_twenty_documents_are_long_in_english(collection):
    lengths = [len(doc["content"].split()) for doc in collection["en"].docs]
    assert sum(length >= LONG for length in lengths) == 20


def test_the_other_documents_have_80_to_250_english_words(collection):
    others = [
        doc for doc in collection["en"].docs if "near_copy_of" not in doc
    ]  # a footer may make these longer
    lengths = {doc["doc_id"]: len(doc["content"].split()) for doc in others}
    assert {doc_id: n for doc_id, n in lengths.items() if n < LONG and not 80 <= n <= 250} == {}


@pytest.mark.parametrize("label", LABELS)
def test_a_label_names_an_existing_other_document(docs, label):
    named = {doc_id: doc[label] for doc_id, doc in docs.items() if label in doc}
    assert {
        doc_id: target for doc_id, target in named.items() if target not in docs or target == doc_id
    } == {}


def test_a_labelled_document_points_to_one_without_a_label(docs):
    targets = [target for label in LABELS for _, target in labelled(docs, label)]
    assert [
        target["doc_id"] for target in targets if any(label in target for label in LABELS)
    ] == []


def test_exact_copies_equal_their_original(docs):
    for copy, original in labelled(docs, "copy_of"):
        assert (copy["title"], copy["content"]) == (original["title"], original["content"])


def test_near_copies_differ_from_their_original(docs):
    assert [
        copy["doc_id"]
        for copy, original in labelled(docs, "near_copy_of")
        if copy["content"] == original["content"]
    ] == []


def test_near_copies_differ_by_one_footer_or_the_first_sentence_only(docs):
    footers = set()
    for copy, original in labelled(docs, "near_copy_of"):
        if copy["content"] != without_first_sentence(original["content"]):
            assert copy["content"].startswith(original["content"]), copy["doc_id"]
            footers.add(copy["content"].removeprefix(original["content"]).strip())
    assert len(footers) == 1


def test_texts_are_equal_only_where_a_copy_is_labelled(docs):
    repeated = Counter(doc["content"] for doc in docs.values())
    assert len(docs) - len(repeated) == sum("copy_of" in doc for doc in docs.values())


def test_older_editions_differ_from_the_one_in_force(docs):
    for old, in_force in labelled(docs, "edition_of"):
        assert old["title"] != in_force["title"]
        assert old["content"] != in_force["content"]


def test_two_to_four_documents_share_the_name_of_a_group_of_look_alikes(docs):
    groups = Counter(doc["look_alike"] for doc in docs.values() if "look_alike" in doc)
    assert groups
    assert {name: n for name, n in groups.items() if not 2 <= n <= 4} == {}


def test_look_alikes_are_neither_copies_nor_older_editions(docs):
    look_alikes = [doc for doc in docs.values() if "look_alike" in doc]
    assert [doc["doc_id"] for doc in look_alikes if any(label in doc for label in LABELS)] == []


# ---------------------------------------------------------------- the queries


def test_there_are_at_least_240_queries(all_qa):
    assert len(all_qa) >= 240


def test_every_kind_of_query_is_there(all_qa):
    assert {qa["kind"] for qa in all_qa} == KINDS


def test_at_least_24_queries_are_unanswerable(all_qa):
    assert sum(qa["kind"] == "unanswerable" for qa in all_qa) >= 24


def test_unanswerable_queries_have_no_grade(all_qa):
    assert [
        qa["query_id"] for qa in all_qa if qa["kind"] == "unanswerable" and qa["relevant_doc_ids"]
    ] == []


def test_every_other_query_has_a_document_of_grade_2(all_qa):
    others = [qa for qa in all_qa if qa["kind"] != "unanswerable"]
    assert [qa["query_id"] for qa in others if 2 not in qa["relevant_doc_ids"].values()] == []


def test_grades_are_1_and_2(all_qa):
    assert {grade for qa in all_qa for grade in qa["relevant_doc_ids"].values()} == {1, 2}


def test_several_documents_means_two_to_five(all_qa):
    numbers = {
        qa["query_id"]: len(qa["relevant_doc_ids"])
        for qa in all_qa
        if qa["kind"] == "several-documents"
    }
    assert {query_id: n for query_id, n in numbers.items() if not 2 <= n <= 5} == {}


def test_exact_copies_have_the_grades_of_their_original(docs, all_qa):
    for copy, original in labelled(docs, "copy_of"):
        ids = copy["doc_id"], original["doc_id"]
        graded = [tuple(qa["relevant_doc_ids"].get(doc_id, 0) for doc_id in ids) for qa in all_qa]
        assert [pair for pair in graded if pair[0] != pair[1]] == []


def test_questions_are_unique(all_qa):
    assert [question for question, n in Counter(values(all_qa, "question")).items() if n > 1] == []


def test_reworded_is_true_or_false(all_qa):
    assert {type(value) for value in values(all_qa, "reworded")} == {bool}


def test_mixed_language_questions_mix_in_korean(collection):
    mixed = [qa["question"] for qa in collection["ko"].all_qa if qa["kind"] == "mixed-language"]
    assert [
        question
        for question in mixed
        if not (HANGUL.search(question) and re.search("[A-Za-z]", question))
    ] == []


def test_no_question_repeats_a_sentence_of_a_document(docs, all_qa):
    stated = {" ".join(words(part)) for doc in docs.values() for part in sentences(doc["content"])}
    asked = {
        qa["query_id"]: {" ".join(words(part)) for part in sentences(qa["question"])}
        for qa in all_qa
    }
    assert {query_id: parts & stated for query_id, parts in asked.items() if parts & stated} == {}


def test_no_question_copies_a_run_of_words_from_a_document(docs, all_qa, language):
    length = COPIED_RUN[language]
    stated = set().union(
        *(runs(doc[field], length) for doc in docs.values() for field in ("title", "content"))
    )
    asked = {qa["query_id"]: runs(qa["question"], length) for qa in all_qa}
    assert {
        query_id: copied & stated for query_id, copied in asked.items() if copied & stated
    } == {}


def test_the_validator_finds_no_error(collection, language):
    assert validate_dataset(*collection[language]).errors == []


# ---------------------------------------------------------------- across the languages


@pytest.mark.parametrize(
    ("asked", "searched", "mean"),
    [("ko", "ko", 0.578), ("ko", "en", 0.476), ("en", "ko", 0.4295), ("en", "en", 0.591)],
)
def test_questions_of_one_language_find_documents_of_the_other(
    collection, bundled_store, asked, searched, mean
):
    """The ids are the same, and so are the judgements: nothing is to be warned of."""
    all_qa = collection[asked].all_qa
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = search_all(bundled_store(f"campus/{searched}"), all_qa, 10)
        table = per_query(all_qa, results, metrics=["nDCG@10"])
    assert table["nDCG@10"].mean() == pytest.approx(mean, abs=5e-4)


# ---------------------------------------------------------------- the recorded runs


RUNS = sorted((CAMPUS / "runs").glob("*.trec.gz"))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name.removesuffix(".trec.gz"))
def test_a_recorded_run_has_ten_documents_of_the_collection_for_every_query(collection, path):
    run, (docs, all_qa) = load_run(path), collection["ko"]  # the ids are those of both languages
    assert run.groupby("query_id", sort=False).size().to_dict() == {
        qa["query_id"]: 10 for qa in all_qa
    }
    assert set(run["doc_id"]) <= {doc["doc_id"] for doc in docs}


# ---------------------------------------------------------------- the difficulty


def test_ndcg_of_the_default_embedding_leaves_room_on_both_sides(scores, language):
    assert 0.45 <= scores[language, "default"]["nDCG@10"].mean() <= 0.80


def test_the_default_embedding_often_misses_the_first_rank(scores, language):
    assert scores[language, "default"]["HitRate@1"].mean() < 0.75


def test_the_two_embeddings_differ_visibly(scores, language):
    default, chars = (scores[language, name]["nDCG@10"].mean() for name in ("default", "chars"))
    assert abs(default - chars) >= 0.05


def test_the_two_embeddings_change_places_between_kinds_in_korean(scores):
    by_kind = pd.DataFrame(
        {
            name: scores["ko", name].groupby("kind")["nDCG@10"].mean()
            for name in ("default", "chars")
        }
    ).dropna()
    ahead = by_kind["default"] - by_kind["chars"]
    assert ahead.min() <= -0.05
    assert ahead.max() >= 0.05
