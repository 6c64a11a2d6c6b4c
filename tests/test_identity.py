"""What a model is known by: the settings that count, and no secret, which no file holds either."""

import pytest
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from rageval_kit import build_vectorstore, load_embeddings, save_vectorstore, search_all
from rageval_kit.identity import model_name, model_settings, without_credentials

CANARY = "canary-4f1c-never-to-be-read"


class Prompted(Embeddings):
    """A model with settings of any name."""

    def __init__(self, **settings):
        self.__dict__.update(settings)

    def embed_documents(self, texts):
        return [[1.0, 0.0] for _ in texts]

    def embed_query(self, text):
        return [1.0, 0.0]


def settings(**fields):
    return model_settings(Prompted(model="m", **fields))


# ---------------------------------------------------------------- what counts


def test_settings_hold_what_changes_a_vector():
    fields = {
        "dimensions": 2,
        "normalize": True,
        "query_prompt": "query: ",
        "options": {"pool": "mean"},
    }
    assert settings(**fields) == {"model": "m", **fields}


def test_a_setting_that_is_not_set_is_left_out():
    assert settings(query_prompt=None) == {"model": "m"}


def test_a_set_counts_in_one_order_whatever_python_makes_of_it():
    words = "quite a few stop words in a set".split()
    assert settings(stop_words=set(words))["stop_words"] == sorted(set(words))


NAMES = """
    query_prompt query_instruction prompts task retrieval_instruction keyword_weight token_pooling
    max_tokens author_prefix headers_in_text stop_token pad_token cls_token_id tokenizer keys
    key_field auth_style retry_prompt timeout_token batch_size_prompt monkey passages
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_no_setting_is_dropped_for_a_part_of_its_name(name):
    assert settings(**{name: "one"}) != settings(**{name: "other"})


@pytest.mark.parametrize("name", NAMES)
def test_nor_is_one_inside_a_dict_or_a_list(name):
    one, other = (settings(model_kwargs={"all": [{name: value}]}) for value in (1, 2))
    assert one != other


@pytest.mark.parametrize(
    ("one", "other"), [((1, 2), (2, 1)), ({"a"}, {"b"}), (0.5, 0.25), (True, False)]
)
def test_collections_and_numbers_count(one, other):
    assert settings(words=one) != settings(words=other)


def test_a_path_counts(tmp_path):
    assert settings(weights=tmp_path / "one") != settings(weights=tmp_path / "other")


def test_a_set_is_the_same_in_any_order():
    assert settings(words=set("abcdef")) == settings(words=set("fedcba"))


def test_what_cannot_be_written_down_counts_by_its_class():
    class Pooling:
        pass

    assert settings(parts=[Pooling()]) == settings(parts=[Pooling()])
    assert settings(parts=[Pooling()]) != settings(parts=[Prompted()])


def test_private_attributes_do_not_count():
    assert settings(_calls=3) == {"model": "m"}


def test_openai_counts_by_its_width_and_model(monkeypatch):
    from langchain_openai import OpenAIEmbeddings

    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    models = [
        OpenAIEmbeddings(model="text-embedding-3-small", dimensions=256),
        OpenAIEmbeddings(model="text-embedding-3-small", dimensions=512),
        OpenAIEmbeddings(model="text-embedding-3-large", dimensions=512),
    ]
    shown = {str(model_settings(model)) for model in models}
    assert len(shown) == 3
    assert not any(CANARY in text for text in shown)


def test_chat_models_share_the_rule(monkeypatch):
    from langchain_openai import ChatOpenAI

    monkeypatch.setenv("OPENAI_API_KEY", CANARY)

    def of(**fields):
        return model_settings(ChatOpenAI(model="gpt", **fields))

    assert of(max_tokens=5) != of(max_tokens=500)
    assert of(temperature=0.0) != of(temperature=1.0)
    assert of(timeout=5, max_retries=1) == of(timeout=60, max_retries=9)
    assert CANARY not in str(of())


# ---------------------------------------------------------------- what does not


@pytest.mark.parametrize(
    "name",
    """api_key openai_api_key apiKey API_KEY x_api_key azure_openai_api_key access_key
    HFToken myAPIKey aws_secret_access_key aws_access_key_id subscription_key account_key secret_key api_token
    access_token auth_token hf_token session_token token client_secret secret password db_password
    passwd pwd credentials auth authorization Authorization bearer bearer_token pat cookie
    """.split(),
)
def test_secrets_do_not_count_wherever_they_are(name):
    one, other = (
        settings(**{name: secret}, kwargs={"device": "cpu", name: secret}, all=[{name: secret}])
        for secret in (CANARY, "another")
    )
    assert one == other
    assert CANARY not in str(one)


def test_a_secret_of_pydantic_does_not_count_under_any_name():
    one, other = (
        settings(
            plain=SecretStr(secret), some={"plain": SecretStr(secret)}, two=[SecretStr(secret)]
        )
        for secret in (CANARY, "another")
    )
    assert one == other
    assert CANARY not in str(one)


HEADERS = "Authorization Proxy-Authorization X-API-Key api-key Cookie X-Amz-Security-Token".split()


@pytest.mark.parametrize("name", HEADERS)
def test_secrets_in_headers_do_not_count_and_the_other_headers_do(name):
    one, other = (
        settings(default_headers={name: secret, "X-Model": "large"})
        for secret in (CANARY, "another")
    )
    assert one == other == {"model": "m", "default_headers": {"X-Model": "large"}}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://me:{CANARY}@host:8000/v1", "https://host:8000/v1"),
        (f"https://{CANARY}@host/v1", "https://host/v1"),
        (f"postgresql+psycopg://me:{CANARY}@host/db", "postgresql+psycopg://host/db"),
        (f"https://host/v1?api_key={CANARY}&version=2", "https://host/v1?version=2"),
        (f"https://host/v1?version=2&token={CANARY}", "https://host/v1?version=2&"),
        (f"https://host/v1?sig={CANARY}#top", "https://host/v1?#top"),
        ("https://host/v1?key_field=title", "https://host/v1?key_field=title"),
        (f"Bearer {CANARY}", "Bearer"),
        ("mail me@host: why?", "mail me@host: why?"),
    ],
)
def test_credentials_in_a_text_are_left_out(url, shown):
    assert without_credentials(url) == shown
    assert settings(base_url=url) == {"model": "m", "base_url": shown}


@pytest.mark.parametrize(
    "name",
    """timeout request_timeout max_retries chunk_size batch_size show_progress_bar
    retry_min_seconds verbose streaming""".split(),
)
def test_what_only_steers_the_requests_does_not_count(name):
    assert settings(**{name: 1}) == {"model": "m"}


# ---------------------------------------------------------------- names


def test_names_of_models_are_short(embeddings):
    assert model_name(load_embeddings("chars")) == "CharacterEmbeddings(dimensions=2048)"
    assert "universal-sentence-encoder-multilingual-v3" in model_name(embeddings)
    named = Prompted(model_name="intfloat/e5", other=1)
    assert model_name(named) == "Prompted(model_name=intfloat/e5)"
    assert model_name(Prompted()) == "Prompted()"


def test_a_name_holds_no_credentials():
    assert (
        model_name(Prompted(model=f"https://me:{CANARY}@host/e5"))
        == "Prompted(model=https://host/e5)"
    )


# ---------------------------------------------------------------- no secret in a file


def test_no_secret_is_in_the_cache_or_in_a_saved_store_wherever_the_model_keeps_it(tmp_path):
    places = {
        "model": f"https://me:{CANARY}@host/e5",
        "api_key": CANARY,
        "pat": CANARY,
        "plain": SecretStr(CANARY),
        "url": f"https://me:{CANARY}@host/v1?token={CANARY}&code={CANARY}",
        "params": {"code": CANARY, "key": CANARY},
        "headers": {"Authorization": f"Bearer {CANARY}", "X-Custom": CANARY},
        "pairs": [("Authorization", CANARY)],
        "organisation": CANARY,
        "my_own_name_for_it": CANARY,
        CANARY: 1,
    }
    docs = [{"doc_id": "d1", "title": "", "content": "one"}, {"doc_id": "d2", "content": "two"}]
    store = build_vectorstore(docs, Prompted(**places))
    all_qa = [{"query_id": f"q{n}", "question": f"question {n}"} for n in range(3)]
    search_all(store, all_qa, 1, cache=tmp_path / "cache.sqlite")
    save_vectorstore(store, tmp_path / "saved")

    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 4
    assert not any(CANARY.encode() in data for data in written)
