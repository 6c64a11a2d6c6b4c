"""Nothing stale, nothing over-eager: every way in which a model may change between two searches."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import Letters
from langchain_classic.chains.hyde.base import HypotheticalDocumentEmbedder
from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.storage import LocalFileStore
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListLLM
from langchain_core.prompts import PromptTemplate
from local_openai import local_openai

from rageval_kit import (
    build_vectorstore,
    load_embeddings,
    load_vectorstore,
    save_vectorstore,
    search_all,
)
from rageval_kit.identity import is_known, model_name
from rageval_kit.vectors import PROBE, alike, probe
from rageval_kit.vectorstore import _import_community

OPENAI = "openai:text-embedding-3-small"
DOCS = [{"doc_id": word, "title": "", "content": word * 3} for word in ("aaaa", "bbbb", "cccc")]
ALL_QA = [{"query_id": "q", "question": "aaaa"}, {"query_id": "r", "question": "c"}]

pytestmark = pytest.mark.usefixtures("new_session")


@pytest.fixture(params=["memory", "file"])
def cache(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "cache.sqlite"


def first(store, cache, all_qa=ALL_QA):
    return search_all(store, all_qa, 3, cache=cache)["q"][0]["doc_id"]


# ---------------------------------------------------------------- the query side changes

B = "bbbbbbbbbbbbbbbbbb"


class Changing(Letters):
    """Put a prefix before a query, which it keeps somewhere."""

    kept_in_class = ""

    def embed_query(self, text):
        return super().embed_query(self.prefix() + text)

    def prefix(self):
        return self.kept_in_class


@dataclass
class Prefix:
    text: str = ""


class Private(Changing):
    _prefix = ""

    def prefix(self):
        return self._prefix


class InObject(Changing):
    def __init__(self):
        super().__init__()
        self.box = Prefix()

    def prefix(self):
        return self.box.text


class InFunction(Changing):
    def __init__(self):
        super().__init__()
        self.f = lambda: ""

    def prefix(self):
        return self.f()


class InArray(Changing):
    def __init__(self):
        super().__init__()
        self.w = np.zeros(1)

    def prefix(self):
        return B if self.w[0] else ""


class InSet(Changing):
    """Replace single words: the probe, which has none of them, cannot see it."""

    def __init__(self):
        super().__init__()
        self.words = set()

    def embed_query(self, text):
        return self._vector(B if text in self.words else text)


def change(model):
    """Change the model where it keeps its prefix."""
    if isinstance(model, Private):
        model._prefix = B
    elif isinstance(model, InObject):
        model.box.text = B
    elif isinstance(model, InFunction):
        model.f = lambda: B
    elif isinstance(model, InArray):
        model.w[0] = 1
    elif isinstance(model, InSet):
        model.words.add("aaaa")
    else:
        type(model).kept_in_class = B


KINDS = [Private, InObject, InFunction, InArray, InSet, Changing]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def changing(request, monkeypatch):
    monkeypatch.setattr(Changing, "kept_in_class", "")
    return request.param()


def test_a_change_anywhere_in_a_class_of_ones_own_is_searched_again(changing, cache):
    store = build_vectorstore(DOCS, changing)
    assert first(store, cache) == "aaaa"
    assert search_all(store, ALL_QA, 3, cache=cache).cached == 2
    change(changing)
    results = search_all(store, ALL_QA, 3, cache=cache)
    assert results["q"][0]["doc_id"] == "bbbb"
    assert results.searched >= 1
    assert "questions otherwise" in results.changed


def test_new_questions_are_right_after_the_change_too(changing, cache):
    store = build_vectorstore(DOCS, changing)
    first(store, cache)
    change(changing)
    new = [{"query_id": "q", "question": "aaaa"}, {"query_id": "s", "question": "aaaa c"}]
    assert first(store, cache, new) == "bbbb"


def test_a_method_that_was_replaced_is_searched_again(cache):
    model = Letters()
    store = build_vectorstore(DOCS, model)
    assert first(store, cache) == "aaaa"
    model.embed_query = lambda text: model._vector(B + text)
    assert first(store, cache) == "bbbb"


def test_a_method_of_a_known_class_that_was_replaced_is_searched_again(cache, monkeypatch):
    model = load_embeddings("chars")
    store = build_vectorstore(DOCS, model)
    assert first(store, cache) == "aaaa"
    monkeypatch.setattr(type(model), "embed_query", lambda self, text: self.embed_documents([B])[0])
    assert first(store, cache) == "bbbb"


def test_a_class_that_was_edited_is_searched_again(cache):
    found = []
    for word in ("aaaa", "bbbb", "aaaa"):  # a notebook's cell, edited and run again

        class Own(Embeddings):
            said = word

            def embed_documents(self, texts):
                return Letters().embed_documents(texts)

            def embed_query(self, text):
                return Letters().embed_query(self.said)

        found.append(first(build_vectorstore(DOCS, Own()), cache))
    assert found == ["aaaa", "bbbb", "aaaa"]


def test_hyde_with_another_prompt_or_model_is_searched_again(cache):
    def hyde(reply):
        return HypotheticalDocumentEmbedder(
            llm_chain=PromptTemplate.from_template("{question}") | FakeListLLM(responses=[reply]),
            base_embeddings=load_embeddings("chars"),
        )

    store = build_vectorstore(DOCS, load_embeddings("chars"))
    found = []
    for reply in ("bbbb bbbb", "cccc cccc"):
        store.embedding_function = hyde(reply)
        found.append(first(store, cache))
    assert found == ["bbbb", "cccc"]


def test_a_query_that_reads_three_words_is_not_taken_for_a_document(cache):
    class ThreeWords(Letters):
        def embed_query(self, text):
            return super().embed_query(" ".join(text.split()[:3]))

    all_qa = [{"query_id": "p", "question": "c"}, {"query_id": "q", "question": f"a a a {B} {B}"}]
    assert first(build_vectorstore(DOCS, ThreeWords()), cache, all_qa) == "aaaa"


# ---------------------------------------------------------------- what may be taken from the cache


def test_a_counter_in_a_model_does_no_harm(cache):
    class Counting(Letters):
        calls = 0

        def embed_query(self, text):
            self.calls += 1
            return super().embed_query(text)

        def embed_documents(self, texts):
            self.calls += 1
            return super().embed_documents(texts)

    store = build_vectorstore(DOCS, Counting())
    found = [search_all(store, ALL_QA, 3, cache=cache) for _ in range(3)]
    assert [results.cached for results in found] == [0, 2, 2]
    assert {results.changed for results in found} == {""}


@pytest.mark.usefixtures("classes_are_known")
def test_a_service_whose_numbers_waver_is_one_model(cache):
    class Wavering(Letters):
        def _vector(self, text):
            noise = np.random.default_rng().normal(scale=1e-5, size=self.dimensions)
            return (np.array(super()._vector(text)) + noise).tolist()

        embed_query = _vector

    store = build_vectorstore(DOCS, Wavering())
    first(store, cache)
    store.embedding_function = Wavering()
    assert search_all(store, ALL_QA, 3, cache=cache).cached == 2


def test_a_known_model_costs_no_more_than_the_probe(monkeypatch, tmp_path):
    with local_openai(monkeypatch) as server:
        store = build_vectorstore(DOCS, load_embeddings(OPENAI))
        search_all(store, ALL_QA, 3, cache=tmp_path / "cache.sqlite")
        store.embedding_function = load_embeddings(OPENAI)  # as in a later session
        server.requests.clear()
        assert search_all(store, ALL_QA, 3, cache=tmp_path / "cache.sqlite").cached == 2
        assert server.inputs == [[PROBE]]


def test_another_deployment_of_the_same_name_is_searched_again(monkeypatch, cache):
    with local_openai(monkeypatch) as server:
        store = build_vectorstore(DOCS, load_embeddings(OPENAI))
        search_all(store, ALL_QA, 3, cache=cache)
        store.embedding_function, server.turned = load_embeddings(OPENAI), True
        results = search_all(store, ALL_QA, 3, cache=cache)
    assert (results.searched, results.cached) == (2, 0)


def test_a_store_that_langchain_made_without_ids_is_the_same_when_rebuilt(cache):
    from langchain_core.documents import Document

    faiss_store = _import_community("langchain_community.vectorstores").FAISS
    documents = [Document(doc["content"], metadata={"doc_id": doc["doc_id"]}) for doc in DOCS]
    for cached in (0, 2):
        results = search_all(
            faiss_store.from_documents(documents, Letters()), ALL_QA, 3, cache=cache
        )
        assert (results.cached, results.changed) == (cached, "")


# ---------------------------------------------------------------- wrappers and their caches


class Passages(Letters):
    """Embed a query unlike a document, as E5 does."""

    def embed_query(self, text):
        return super().embed_query(f"{B} {text}")


def kept_by_langchain(model, folder, **options):
    return CacheBackedEmbeddings.from_bytes_store(
        model, LocalFileStore(str(folder)), namespace="one", key_encoder="sha256", **options
    )


@pytest.mark.parametrize("queries_kept", [False, True])
def test_one_model_is_not_taken_for_another_in_langchains_cache(cache, tmp_path, queries_kept):
    found = []
    for number, model in enumerate([Letters(), Passages()]):
        wrapped = kept_by_langchain(
            model, tmp_path / f"{number}", query_embedding_cache=queries_kept
        )
        found.append(first(build_vectorstore(DOCS, wrapped), cache))
    assert found == ["aaaa", "bbbb"]


def test_questions_do_not_get_into_the_users_own_cache_as_documents(cache, tmp_path):
    model = kept_by_langchain(Passages(), tmp_path / "kept", query_embedding_cache=True)
    store = build_vectorstore(DOCS, model)
    assert first(store, cache) == "bbbb"
    later = kept_by_langchain(Passages(), tmp_path / "kept", query_embedding_cache=True)
    assert later.embed_query("aaaa") == Passages().embed_query("aaaa")
    assert store.similarity_search("aaaa", k=1)[0].metadata["doc_id"] == "bbbb"


def test_nor_into_ones_own_memo(cache):
    class Memo(Embeddings):
        def __init__(self):
            self._memo, self._model = {}, Passages()

        def embed_documents(self, texts):
            for text in texts:
                self._memo.setdefault(text, self._model.embed_documents([text])[0])
            return [self._memo[text] for text in texts]

        def embed_query(self, text):
            return self._memo.setdefault(text, self._model.embed_query(text))

    assert first(build_vectorstore(DOCS, Memo()), cache) == "bbbb"


def test_langchains_cache_of_documents_hands_questions_on_as_a_batch(monkeypatch, tmp_path):
    with local_openai(monkeypatch) as server:
        wrapped = kept_by_langchain(load_embeddings(OPENAI), tmp_path / "kept")
        store = build_vectorstore(DOCS, wrapped)
        kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
        search_all(store, ALL_QA, 3)
        assert server.inputs[-1] == [qa["question"] for qa in ALL_QA]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == kept


def test_a_wrapper_names_what_is_inside(tmp_path):
    class Wrapper(Embeddings):
        def __init__(self, model):
            self._hidden = model

        embed_documents = embed_query = None

    assert model_name(kept_by_langchain(Letters(), tmp_path)) == model_name(Letters())
    assert model_name(Wrapper(Letters())) == "Wrapper(Letters(model=letters, dimensions=32))"


# ---------------------------------------------------------------- saved stores


def test_a_model_that_hides_its_settings_is_refused_for_anothers_store(tmp_path):
    class Hidden(Letters):
        def __init__(self, direction):
            super().__init__()
            self._direction = direction

        def _vector(self, text):
            return super()._vector(text)[:: self._direction]

    save_vectorstore(build_vectorstore(DOCS, Hidden(1)), tmp_path / "store")
    assert load_vectorstore(tmp_path / "store", Hidden(1)).index.ntotal == 3
    with pytest.raises(ValueError, match=r"two vectors, their cosine is 0\..*The name is the same"):
        load_vectorstore(tmp_path / "store", Hidden(-1))


def test_another_deployment_is_refused_for_a_store(tmp_path, monkeypatch):
    with local_openai(monkeypatch) as server:
        save_vectorstore(build_vectorstore(DOCS, load_embeddings(OPENAI)), tmp_path / "store")
        server.turned = True
        with pytest.raises(ValueError, match="is it another deployment"):
            load_vectorstore(tmp_path / "store", load_embeddings(OPENAI))


def test_a_model_of_another_width_is_refused_with_both_numbers(tmp_path):
    save_vectorstore(build_vectorstore(DOCS, Letters()), tmp_path / "store")
    with pytest.raises(ValueError, match="32 numbers there and 16 here"):
        load_vectorstore(tmp_path / "store", Letters(dimensions=16))


def test_the_same_model_under_another_name_is_taken(tmp_path):
    save_vectorstore(build_vectorstore(DOCS, Letters("one")), tmp_path / "store")
    assert load_vectorstore(tmp_path / "store", Letters("other")).index.ntotal == 3


@pytest.mark.parametrize("probe_kept", [7, "x", "AAA=", "no base64"])
def test_a_probe_that_cannot_be_read_is_a_broken_store(tmp_path, probe_kept):
    save_vectorstore(build_vectorstore(DOCS, Letters()), tmp_path / "store")
    settings = json.loads((tmp_path / "store" / "settings.json").read_bytes())
    (tmp_path / "store" / "settings.json").write_text(json.dumps(settings | {"probe": probe_kept}))
    with pytest.raises(ValueError, match="cannot be read as a saved vectorstore"):
        load_vectorstore(tmp_path / "store", Letters())


def test_a_store_without_a_probe_goes_by_the_name(tmp_path):
    save_vectorstore(build_vectorstore(DOCS, Letters("one")), tmp_path / "store")
    settings = json.loads((tmp_path / "store" / "settings.json").read_bytes())
    del settings["probe"]
    (tmp_path / "store" / "settings.json").write_text(json.dumps(settings))
    assert load_vectorstore(tmp_path / "store", Letters("one")).index.ntotal == 3
    with pytest.raises(
        ValueError, match="was built with Letters.model=one.* and Letters.model=other"
    ):
        load_vectorstore(tmp_path / "store", Letters("other"))


def test_a_store_is_saved_when_its_model_cannot_be_asked(tmp_path):
    class Gone(Letters):
        def embed_documents(self, texts):
            raise ConnectionError("the line is down")

    store = build_vectorstore(DOCS, Letters())
    store.embedding_function = Gone()
    with pytest.warns(UserWarning, match="by its name only.*the line is down"):
        save_vectorstore(store, tmp_path / "store")
    assert load_vectorstore(tmp_path / "store", Gone()).index.ntotal == 3
    with pytest.raises(ValueError, match="was built with Gone"):
        load_vectorstore(tmp_path / "store", Letters())


# ---------------------------------------------------------------- what is known of a model


def test_classes_of_langchain_and_the_kit_with_plain_values_are_known(monkeypatch, tmp_path):
    from langchain_openai import AzureOpenAIEmbeddings

    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    azure = AzureOpenAIEmbeddings(azure_endpoint="https://host", api_version="1", api_key="sk-1")
    known = [load_embeddings("chars"), load_embeddings(OPENAI), azure]
    unknown = [Letters(), Changing(), kept_by_langchain(Letters(), tmp_path)]
    assert [is_known(model) for model in known + unknown] == [True] * 3 + [False] * 3


def test_a_subclass_of_a_known_class_is_not_known(monkeypatch):
    from langchain_openai import OpenAIEmbeddings

    class Mine(OpenAIEmbeddings):
        pass

    assert not is_known(Mine(model="m", api_key="sk-1"))


def test_a_class_in_a_file_of_ones_own_is_not_known_whatever_the_file_is_called(
    tmp_path, monkeypatch
):
    (tmp_path / "langchain_test.py").write_text(
        "from conftest import Letters\nclass Mine(Letters): pass"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from langchain_test import Mine

    assert not is_known(Mine())


def test_a_probe_is_asked_once_of_a_known_model_and_each_time_of_ones_own():
    for model, times in ((load_embeddings("chars"), 1), (Letters(), 2)):
        assert (probe(model, "query") is probe(model, "query")) == (times == 1)


def test_alike_compares_directions_and_lengths():
    one = np.array([3.0, 4.0])
    assert alike(one, one + 0.01)
    assert not alike(one, 2 * one)
    assert not alike(one, one[:1])
