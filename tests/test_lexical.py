"""BM25: its numbers, its terms in Korean and English, and that it is kept like FAISS's results."""

import math
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, caught, ids
from langchain_core.documents import Document

from rageval_kit import build_bm25, evaluate, load_dataset, search_all, search_folded
from rageval_kit.language import search_terms

DOCS = [
    {"doc_id": "A", "title": "", "content": "Apples are red, and pears are green."},
    {"doc_id": "B", "title": "", "content": "Buses are late."},
    {"doc_id": "C", "title": "", "content": "The bus to the campus is red."},
]


@pytest.fixture(autouse=True)
def _new(new_session):
    """Let no test find what another has searched."""


def ask(*questions):
    return [{"query_id": f"q{i}", "question": text} for i, text in enumerate(questions, start=1)]


def search(docs, question, tokens="auto", k=10):
    """The hits of one question; what is said of too few is let go."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search_all(build_bm25(docs, tokens), ask(question), k)["q1"]


def by_definition(texts, question, tokenize, k1=1.5, b=0.75):
    """Score every text as the formula says, in plain Python."""
    documents = [Counter(tokenize(text)) for text in texts]
    lengths = [sum(its.values()) for its in documents]
    scores = []
    for its, length in zip(documents, lengths, strict=True):
        score = 0.0
        for term in tokenize(question):
            n = sum(term in other for other in documents)
            idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
            part = k1 * (1 - b + b * length / np.mean(lengths))
            score += idf * its[term] / (its[term] + part)
        scores.append(score)
    return scores


# ---------------------------------------------------------------- the numbers


@pytest.mark.parametrize("tokens", ["auto", "words"])
@pytest.mark.parametrize("language", ["ko", "en"])
def test_scores_are_those_of_the_formula(language, tokens):
    docs, all_qa = load_dataset(ROOT / "data" / "lecture" / language)
    tokenize = {"auto": search_terms, "words": str.split}[tokens]
    texts = [f"{doc['title']}\n{doc['content']}" for doc in docs]
    for qa in all_qa[:10]:
        wanted = dict(
            zip(
                (doc["doc_id"] for doc in docs),
                by_definition(texts, qa["question"], tokenize),
                strict=True,
            )
        )
        found = search(docs, qa["question"], tokens, k=len(docs))
        assert {hit["doc_id"]: hit["score"] for hit in found} == pytest.approx(
            {doc_id: score for doc_id, score in wanted.items() if score > 0}, rel=1e-5
        )


@pytest.mark.parametrize(
    ("language", "tokens", "mean"),
    [("ko", "words", 0.378), ("ko", "auto", 0.687), ("en", "words", 0.316), ("en", "auto", 0.459)],
)
def test_campus_is_found_by_pairs_of_syllables_and_stems(language, tokens, mean):
    docs, all_qa = load_dataset(ROOT / "data" / "campus" / language)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of queries that found fewer
        results = search_all(build_bm25(docs, tokens), all_qa, k=10)
    assert evaluate(all_qa, results, ks=10).loc["nDCG", 10] == pytest.approx(mean, abs=5e-4)


def test_lower_idf_of_okapi_explains_other_published_figures():
    """rank_bm25, behind LangChain's BM25Retriever: 0.374 by blanks, last of equal scores first."""
    docs, all_qa = load_dataset(ROOT / "data" / "campus" / "ko")
    texts = [f"{doc['title']}\n{doc['content']}".split() for doc in docs]
    documents, length = [Counter(text) for text in texts], np.array([len(text) for text in texts])
    n = Counter(term for document in documents for term in document)
    idf = {term: math.log(len(docs) - df + 0.5) - math.log(df + 0.5) for term, df in n.items()}
    floor = 0.25 * np.mean(list(idf.values()))
    idf = {term: value if value >= 0 else floor for term, value in idf.items()}

    results = {}
    for qa in all_qa:
        scores = np.zeros(len(docs))
        for term in qa["question"].split():
            f = np.array([document[term] for document in documents])
            part = 1.5 * (0.25 + 0.75 * length / length.mean())
            scores += idf.get(term, 0) * f * 2.5 / (f + part)
        best = np.argsort(scores)[::-1][:10]
        results[qa["query_id"]] = [docs[at]["doc_id"] for at in best]
    assert evaluate(all_qa, results, ks=10).loc["nDCG", 10] == pytest.approx(0.374, abs=5e-4)


# ---------------------------------------------------------------- terms


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("수강신청 기간", ["K"]),
        ("수강신청을 언제까지 하나요", ["K"]),
        ("Does the LIBRARY lend laptops?", ["E"]),
        ("library에서 노트북을 빌리는 laptop", ["E", "M"]),
        ("도서관 GPU", ["M"]),
    ],
)
def test_texts_of_both_languages_are_found_word_by_word(question, found):
    docs = [
        {"doc_id": "K", "content": "수강신청은 3월에 시작한다."},
        {"doc_id": "E", "content": "Libraries lend a laptop to students."},
        {"doc_id": "M", "content": "도서관에는 GPU 노트북이 있다."},
    ]
    assert sorted(ids(search(docs, question))) == found


def test_words_that_stand_between_blanks_do_not_match_behind_an_ending():
    docs = [{"doc_id": "K", "content": "수강신청은 3월에 시작한다."}, *DOCS]
    assert search(docs, "수강신청 기간", "words") == []


def test_a_function_makes_the_terms():
    found = search(DOCS, "LATE", lambda text: text.lower().strip(".").split())
    assert ids(found) == ["B"]


def test_kiwi_is_refused_with_the_cure_where_it_is_not_installed():
    try:
        import kiwipiepy  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match=r"Kiwi.*pip install"):
            build_bm25(DOCS, "kiwi")
    else:
        docs = [{"doc_id": "K", "content": "도서관은 아홉 시에 문을 연다."}, *DOCS]
        assert ids(search(docs, "도서관에서는", "kiwi")) == ["K"]


@pytest.mark.parametrize("tokens", ["english", "", "AUTO"])
def test_a_tokenizer_that_is_not_known_is_refused_with_the_choices(tokens):
    with pytest.raises(ValueError, match=r"'auto', 'words', 'kiwi'"):
        build_bm25(DOCS, tokens)


@pytest.mark.parametrize("tokens", [None, 5, ["auto"], str])
def test_what_is_no_tokenizer_is_refused(tokens):
    with pytest.raises(TypeError, match="tokens must be"):
        build_bm25(DOCS, tokens)


@pytest.mark.parametrize("given", ["a text", None, [1, 2], {"a": 1}])
def test_a_function_that_gives_no_texts_is_refused_with_the_document(given):
    with pytest.raises(TypeError, match="document A"):
        build_bm25(DOCS, lambda text: given)


def test_a_term_that_is_no_text_is_named():
    with pytest.raises(TypeError, match="document A must be a text, found int 7"):
        build_bm25(DOCS, lambda text: [*text.split(), 7])


def test_a_set_of_terms_is_the_same_in_each_session():
    one = build_bm25(DOCS, lambda text: set(text.split())).as_index()
    other = build_bm25(DOCS, lambda text: sorted(set(text.split()))).as_index()
    assert one.fingerprint == other.fingerprint
    assert one.asked("is the bus late or red") == other.asked("is the bus late or red")


def test_a_function_that_fails_names_the_document_and_the_error():
    def fail(text):
        return text.split()[10]

    with pytest.raises(ValueError, match=r"document A \(IndexError"):
        build_bm25(DOCS, fail)


def test_a_function_that_fails_on_a_question_names_it():
    def fail(text):
        return text.split() if "late?" not in text else None

    bm25 = build_bm25(DOCS, fail)
    with pytest.raises(TypeError, match='question "Are buses late'):
        search_all(bm25, ask("Are buses late?"), 2)


# ---------------------------------------------------------------- hits


def test_hits_hold_title_and_content_and_a_higher_score_is_better():
    docs = [{"doc_id": "A", "title": "Fruit", "content": "Apples are red."}, *DOCS[1:]]
    results = search_all(build_bm25(docs), ask("Which fruit is an apple?"), 1)
    (hit,) = results["q1"]
    assert (hit["doc_id"], hit["title"], hit["content"]) == ("A", "Fruit", "Apples are red.")
    assert (results.score_name, results.lower_is_better) == ("BM25", False)


def test_equal_scores_stand_in_the_order_of_the_documents():
    docs = [{"doc_id": f"d{i}", "content": "red"} for i in (3, 1, 2)]
    assert ids(search([*docs, *DOCS], "red", k=3)) == ["d3", "d1", "d2"]
    assert ids(search([*docs, *DOCS], "red", k=2)) == ["d3", "d1"]


def test_a_document_without_a_term_of_the_question_is_no_hit_and_that_is_said():
    bm25 = build_bm25(DOCS)
    (said,) = caught(lambda: search_all(bm25, ask("Apples?", "Are any red?", "Zebras?"), 2))
    assert "q1" in said
    assert "q3" in said
    assert "q2" not in said
    assert search(DOCS, "Zebras?") == []
    assert search(DOCS, "What is it?") == []  # stop words alone


def test_k_beyond_the_corpus_gives_what_there_is():
    docs = [{"doc_id": f"d{i}", "content": f"red {i}"} for i in range(3)]
    bm25 = build_bm25(docs)
    assert caught(lambda: search_all(bm25, ask("red"), 1000)) == []
    assert len(search(docs, "red", k=1000)) == 3


def test_a_document_without_a_term_is_named():
    docs = [*DOCS, {"doc_id": "D", "content": "..."}]
    (said,) = caught(lambda: build_bm25(docs))
    assert "D" in said
    assert "never found" in said


def test_a_corpus_without_a_term_is_refused():
    with pytest.raises(ValueError, match="No document has a term"):
        build_bm25([{"doc_id": "D", "content": "..."}])


@pytest.mark.parametrize(
    ("docs", "error", "fact"),
    [
        ([], ValueError, "corpus is empty"),
        ([*DOCS, DOCS[0]], ValueError, "appears twice"),
        ([{"doc_id": "A", "title": "", "content": ""}], ValueError, "A has neither"),
        ([{"doc_id": "A"}], KeyError, "content"),
        ([{"doc_id": 1, "content": "red"}], TypeError, "must be a text"),
        (None, TypeError, "docs must be"),
        (ask("red"), TypeError, "docs must be a list of documents"),
    ],
)
def test_odd_documents_are_refused_as_everywhere(docs, error, fact):
    with pytest.raises(error, match=fact):
        build_bm25(docs)


def test_a_table_and_langchain_documents_are_taken():
    documents = [
        Document(page_content=doc["content"], metadata={"doc_id": doc["doc_id"]}) for doc in DOCS
    ]
    for docs in (pd.DataFrame(DOCS), documents):
        assert ids(search(docs, "late buses")) == ["B", "C"]


# ---------------------------------------------------------------- a LangChain retriever


def test_it_is_a_langchain_retriever():
    bm25 = build_bm25(DOCS)
    (document,) = bm25.invoke("late")
    assert document.metadata["doc_id"] == "B"
    assert document.page_content == "Buses are late."
    bm25.k = 1
    assert len(bm25.invoke("red bus")) == 1
    assert repr(bm25) == "BM25(tokens=auto) of 3 documents, k=1"


def test_who_edits_a_document_that_came_edits_no_index():
    bm25 = build_bm25(DOCS)
    bm25.invoke("late")[0].metadata["doc_id"] = "X"
    assert bm25.invoke("late")[0].metadata["doc_id"] == "B"


# ---------------------------------------------------------------- kept


def counted(bm25, all_qa, cache, k=2):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = search_all(bm25, all_qa, k, cache)
    return results.searched, results.cached


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "results.sqlite"


def test_a_second_search_comes_from_the_cache_in_another_session_too(cache):
    all_qa = ask("Are buses late?", "What is red?")
    assert counted(build_bm25(DOCS), all_qa, cache) == (2, 0)
    assert counted(build_bm25(DOCS), all_qa, cache) == (0, 2)
    assert counted(build_bm25(DOCS), all_qa, cache, k=1) == (0, 2)
    assert counted(build_bm25(DOCS), all_qa, cache, k=3) == (2, 0)


def test_cached_hits_are_the_same(cache):
    all_qa, bm25 = ask("Are buses late?", "What is red?"), build_bm25(DOCS)
    first = search_all(bm25, all_qa, 2, cache)
    assert search_all(build_bm25(DOCS), all_qa, 2, cache) == first


def test_a_changed_document_is_searched_again_and_said(cache):
    all_qa = ask("Are buses late?")
    counted(build_bm25(DOCS), all_qa, cache)
    docs = [*DOCS[:2], {**DOCS[2], "content": "The bus is late again."}]
    results = search_all(build_bm25([*docs, {"doc_id": "D", "content": "late"}]), all_qa, 2, cache)
    assert results.searched == 1
    assert "1 added (D)" in results.changed
    assert "1 changed (C)" in results.changed


def test_other_terms_of_the_same_documents_are_searched_again(cache):
    all_qa = ask("buses red")
    counted(build_bm25(DOCS, "auto"), all_qa, cache)
    assert counted(build_bm25(DOCS, "words"), all_qa, cache) == (1, 0)


def test_a_function_that_reads_questions_otherwise_is_searched_again(cache):
    """Of the documents it makes the same terms: only the question's tell."""

    def tokenizer(unlike):
        return lambda text: text.lower().replace(unlike, "late").rstrip(".").split()

    all_qa = ask("tardy buses")
    assert counted(build_bm25(DOCS, tokenizer("x")), all_qa, cache) == (1, 0)
    assert counted(build_bm25(DOCS, tokenizer("tardy")), all_qa, cache) == (1, 0)
    assert counted(build_bm25(DOCS, tokenizer("x")), all_qa, cache) == (0, 1)


def test_another_release_of_bm25s_is_searched_again(cache, monkeypatch):
    all_qa = ask("late")
    counted(build_bm25(DOCS), all_qa, cache)
    monkeypatch.setattr("bm25s.__version__", "0.0.1")
    assert counted(build_bm25(DOCS), all_qa, cache) == (1, 0)


def test_a_search_by_words_and_one_by_vectors_share_a_file(cache, letters):
    from rageval_kit import build_vectorstore

    all_qa = ask("late buses")
    dense = search_all(build_vectorstore(DOCS, letters), all_qa, 2, cache)
    results = search_all(build_bm25(DOCS), all_qa, 2, cache)
    assert results.changed == dense.changed == ""
    assert dense.index != results.index


def test_results_know_the_questions_and_the_index():
    bm25 = build_bm25(DOCS)
    results = search_all(bm25, ask("late buses"), 2)
    assert results.questions == {"q1": "late buses"}
    assert results.index == build_bm25(DOCS).as_index().fingerprint


def test_chunks_are_folded_to_their_documents():
    chunks = [
        {"doc_id": f"{doc['doc_id']}#{n}", "content": f"{doc['content']} {n}"}
        for doc in DOCS
        for n in range(3)
    ]
    source_of = {chunk["doc_id"]: chunk["doc_id"].partition("#")[0] for chunk in chunks}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = search_folded(build_bm25(chunks), ask("late buses", "nothing"), 3, source_of)
    assert [ids(ranking) for ranking in found.values()] == [["B", "C"], []]
