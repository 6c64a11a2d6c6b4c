"""Embeddings by name: the two that run offline, OpenAI's against a local server, and all others."""

import re
from unicodedata import normalize

import numpy as np
import pytest
from conftest import ROOT
from langchain_core.embeddings import Embeddings
from langchain_openai import OpenAIEmbeddings
from local_openai import KEY, local_openai

from rageval_kit import build_vectorstore, evaluate, load_dataset, load_embeddings, search_all
from rageval_kit.identity import model_name, model_settings
from rageval_kit.vectors import PROBE

OPENAI = "openai:text-embedding-3-small"


def rows(vectors):
    return np.asarray(vectors, dtype=float)


# ---------------------------------------------------------------- the default


def test_the_default_has_512_dimensions(embeddings):
    assert rows(embeddings.embed_documents(["어텐션이란?", "What is attention?"])).shape == (2, 512)


def test_the_default_has_a_name(embeddings):
    assert type(load_embeddings("use-multilingual")) is type(embeddings)


def test_the_default_is_a_langchain_embeddings_object(embeddings):
    assert isinstance(embeddings, Embeddings)


def test_the_default_gives_vectors_of_length_1(embeddings):
    vectors = rows(embeddings.embed_documents(["어텐션", "a", "A longer text, " * 50, "?"]))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_the_default_gives_plain_numbers(embeddings):
    assert {type(number) for number in embeddings.embed_query("어텐션")} == {float}


def test_the_default_embeds_a_query_as_a_document(embeddings):
    text = "트랜스포머는 어텐션을 쓴다."
    assert embeddings.embed_query(text) == pytest.approx(
        embeddings.embed_documents(["x", text])[1], abs=1e-5
    )


def test_the_default_embeds_no_text_as_no_vector(embeddings):
    assert embeddings.embed_documents([]) == []


def test_the_default_is_the_same_every_time(embeddings):
    assert load_embeddings().embed_query("어텐션") == pytest.approx(
        embeddings.embed_query("어텐션"), abs=1e-6
    )


@pytest.mark.parametrize(("part", "field"), [("docs", "title"), ("all_qa", "question")])
def test_the_default_puts_translations_nearer_than_anything_else(embeddings, part, field):
    korean, english = (
        rows(
            embeddings.embed_documents(
                [record[field] for record in getattr(load_dataset(folder), part)]
            )
        )
        for folder in (ROOT / "data/lecture/ko", ROOT / "data/lecture/en")
    )
    assert (korean @ english.T).argmax(axis=1).tolist() == list(range(12))
    assert (korean @ english.T).argmax(axis=0).tolist() == list(range(12))


# ---------------------------------------------------------------- chars


@pytest.fixture(scope="module")
def chars():
    return load_embeddings("chars")


def test_chars_gives_vectors_of_length_1(chars):
    vectors = rows(chars.embed_documents(["어텐션", "attention", "?"]))
    assert vectors.shape == (3, 2048)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


def test_chars_puts_texts_spelled_alike_nearer(chars):
    one, alike, other = rows(
        chars.embed_documents(["토큰화와 전처리", "토큰화의 전처리", "양자화 기법"])
    )
    assert one @ alike > one @ other


def test_chars_finds_as_much_with_questions_in_the_other_unicode_form(chars):
    docs, all_qa = load_dataset(ROOT / "data" / "campus" / "ko")
    store = build_vectorstore(docs, chars)
    decomposed = [qa | {"question": normalize("NFD", qa["question"])} for qa in all_qa]
    for asked in (all_qa, decomposed):
        scores = evaluate(asked, search_all(store, asked, 10), 10, ["nDCG"])
        assert round(scores.loc["nDCG", 10], 3) == 0.503


def test_chars_does_not_know_meanings(chars):
    one, translation = rows(chars.embed_documents(["어텐션 메커니즘", "attention mechanism"]))
    assert abs(one @ translation) < 0.2


def test_chars_embeds_a_query_as_a_document(chars):
    assert chars.embed_query("토큰화") == chars.embed_documents(["토큰화"])[0]


def test_chars_is_the_same_every_time(chars):
    assert load_embeddings("chars").embed_query("토큰화") == chars.embed_query("토큰화")


def test_chars_embeds_no_text_as_no_vector(chars):
    assert chars.embed_documents([]) == []


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "near"), [("use-multilingal", "use-multilingual"), ("char", "chars")]
)
def test_an_unknown_name_gets_a_suggestion(name, near):
    with pytest.raises(
        ValueError, match=re.escape(f"No embeddings are called {name!r}. Did you mean {near!r}?")
    ):
        load_embeddings(name)


def test_an_unknown_name_gets_the_names_there_are():
    with pytest.raises(
        ValueError, match=r"Choose 'use-multilingual', 'chars', .* or \"provider:model\""
    ) as caught:
        load_embeddings("gibberish")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["openai:", ":text-embedding-3-small", ":", ""])
def test_half_a_name_is_not_known(name):
    with pytest.raises(ValueError, match=re.escape(f"No embeddings are called {name!r}.")):
        load_embeddings(name)


@pytest.mark.parametrize("name", [None, 7, ["chars"]])
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(TypeError, match=r"name must be .*use-multilingual"):
        load_embeddings(name)


def test_another_provider_goes_to_langchain():
    with pytest.raises(ImportError, match="langchain-cohere"):
        load_embeddings("cohere:embed-v4.0")


def test_a_provider_that_langchain_does_not_know_is_refused():
    with pytest.raises(ValueError, match="'nosuch'"):
        load_embeddings("nosuch:model")


# ---------------------------------------------------------------- OpenAI


@pytest.mark.parametrize("key", [None, "", "  "])
def test_openai_without_a_key_says_how_to_set_it(monkeypatch, key):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ValueError) as caught:
        load_embeddings(OPENAI)
    assert "OPENAI_API_KEY is not set" in str(caught.value)
    assert "export OPENAI_API_KEY=" in str(caught.value)
    assert "load_embeddings(), which runs offline" in str(caught.value)


@pytest.fixture
def server(monkeypatch):
    with local_openai(monkeypatch) as server:
        yield server


def test_openai_embeds_a_batch_in_one_request(server):
    texts = [f"글 {number}" for number in range(64)]
    vectors = load_embeddings(OPENAI).embed_documents(texts)
    assert rows(vectors).shape == (64, 8)
    assert server.inputs == [texts]


def test_openai_is_asked_for_the_model_that_was_named(server):
    load_embeddings("openai:some-model").embed_query("글")
    assert [(path, body["model"]) for path, _, body in server.requests] == [
        ("/v1/embeddings", "some-model")
    ]


def test_openai_gets_the_key_in_its_header(server):
    load_embeddings(OPENAI).embed_query("글")
    assert server.requests[0][1]["Authorization"] == f"Bearer {KEY}"


def test_openai_is_sent_texts_and_no_tokens(server):
    load_embeddings(OPENAI).embed_documents(["a short text", "a long text " * 3000])
    assert [type(text) for texts in server.inputs for text in texts] == [str, str]


def test_openai_indexes_and_searches_the_lecture(server, lecture_ko, tmp_path):
    vectorstore = build_vectorstore(lecture_ko.docs, load_embeddings(OPENAI))
    assert len(server.requests) == 1
    search_all(vectorstore, lecture_ko.all_qa, 3, cache=tmp_path / "cache.db")
    questions = [qa["question"] for qa in lecture_ko.all_qa]
    assert server.inputs[1:] == [[PROBE], [PROBE], questions]  # as a query, and as a document


def test_openai_is_not_asked_again_for_cached_results(server, lecture_ko, tmp_path):
    vectorstore = build_vectorstore(lecture_ko.docs, load_embeddings(OPENAI))
    first = search_all(vectorstore, lecture_ko.all_qa, 3, cache=tmp_path / "cache.db")
    server.requests.clear()
    assert search_all(vectorstore, lecture_ko.all_qa, 3, cache=tmp_path / "cache.db") == first
    assert server.requests == []


def test_openai_waits_a_minute_for_an_answer(server):
    load_embeddings(OPENAI).embed_query("글")
    client = load_embeddings(OPENAI).client._client
    assert (client.timeout, client.max_retries) == (60, 4)


def test_openai_is_asked_again_after_a_failure(server):
    server.failures = [429, 500, 503, 429]
    assert len(load_embeddings(OPENAI).embed_query("글")) == 8
    assert len(server.requests) == 5


def test_a_server_that_hangs_is_given_up_and_said(server):
    server.failures = ["hang"]
    model = OpenAIEmbeddings(
        model="m", api_key="none", check_embedding_ctx_length=False, timeout=0.1, max_retries=0
    )
    with pytest.raises(ValueError, match=r"failed on 1 document \(d1\).*did not answer in time"):
        build_vectorstore([{"doc_id": "d1", "content": "text"}], model)


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_a_server_of_ones_own_needs_no_key(server, monkeypatch, name):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv(name, server.url)
    assert len(load_embeddings(OPENAI).embed_query("글")) == 8


def test_a_server_that_refuses_base64_is_said_with_the_cure(server):
    server.base64 = False
    docs = [{"doc_id": "d1", "content": "text"}]
    with pytest.raises(ValueError, match='model_kwargs={"encoding_format": "float"}'):
        build_vectorstore(docs, load_embeddings(OPENAI))
    cured = OpenAIEmbeddings(
        model="m", check_embedding_ctx_length=False, model_kwargs={"encoding_format": "float"}
    )
    assert build_vectorstore(docs, cured).index.ntotal == 1


def test_a_refused_key_is_said_in_a_sentence(server):
    server.refuse = True
    with pytest.raises(ValueError, match=r"text-embedding-3-small.*Look at the key"):
        build_vectorstore([{"doc_id": "d1", "content": "text"}], load_embeddings(OPENAI))


def test_a_search_that_fails_names_the_questions_and_what_was_kept(server, lecture_ko):
    store = build_vectorstore(lecture_ko.docs, load_embeddings(OPENAI))
    server.failures = [None, None, *[500] * 5]  # the probe on either side
    with pytest.raises(ValueError, match=r"failed on 12 questions \(.*searched before is kept"):
        search_all(store, lecture_ko.all_qa, 3)


def test_the_key_is_in_no_text_that_shows_the_model(server):
    model = load_embeddings(OPENAI)
    shown = [repr(model), str(model), model_name(model), str(model_settings(model))]
    assert not any(KEY in text for text in shown)


def test_the_key_is_not_in_the_message_of_a_refused_request(server):
    server.refuse = True
    with pytest.raises(Exception) as caught:
        load_embeddings(OPENAI).embed_query("글")
    assert "Incorrect API key provided" in str(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value)


def test_the_key_is_not_in_the_cache_file(server, lecture_ko, tmp_path):
    vectorstore = build_vectorstore(lecture_ko.docs, load_embeddings(OPENAI))
    search_all(vectorstore, lecture_ko.all_qa, 3, cache=tmp_path / "cache.db")
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("name", ["use-multilingual", "chars"])
def test_half_an_emoji_is_embedded_as_a_question_mark(name, loaded_once):
    model = load_embeddings(name)
    assert model.embed_query("parking \ud83d") == model.embed_query("parking ?")
