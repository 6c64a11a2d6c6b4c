"""A key is in no file and in nothing that is shown, after a whole session with every failure of a server."""

import traceback

import pytest
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from local_openai import KEY, local_openai

from rageval_kit import (
    build_vectorstore,
    cached_embeddings,
    caption,
    evaluate,
    generate_answers,
    judge_answers,
    load_embeddings,
    load_vectorstore,
    per_query,
    save_run,
    save_vectorstore,
    search_all,
)

FAILURES = [401, 429, 500, "hang", "cut JSON", "too few", "width", "NaN"]


@pytest.fixture
def server(monkeypatch):
    with local_openai(monkeypatch) as server:
        yield server


def shown(*things):
    return [
        text
        for thing in things
        for text in (repr(thing), str(thing), str(getattr(thing, "attrs", "")))
    ]


def files(folder):
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


@pytest.mark.filterwarnings("ignore:results. all 12 queries have the same ranking")
@pytest.mark.parametrize("failure", FAILURES)
def test_a_key_is_nowhere_after_a_session_with_a_failure(
    server, tmp_path, lecture_ko, failure, new_session
):
    docs, all_qa = lecture_ko
    plain = load_embeddings("openai:m")
    if failure == "hang":
        plain = OpenAIEmbeddings(
            model="m", check_embedding_ctx_length=False, timeout=0.2, max_retries=0
        )
    model, cache = cached_embeddings(plain, tmp_path / "vectors.sqlite"), tmp_path / "cache.sqlite"
    said = []

    def failing(call, *arguments, error=ValueError, **options):
        server.failures, server.replies = [failure] * 20, [500]
        with pytest.raises(error) as caught:
            call(*arguments, **options)
        said.extend(traceback.format_exception(caught.value))
        server.failures, server.replies = [], []

    # A session in which every request fails at first.
    failing(build_vectorstore, docs, plain)
    failing(build_vectorstore, docs, model)
    store = build_vectorstore(docs, model)
    failing(search_all, store, all_qa, 3, cache=cache)
    results = search_all(store, all_qa, 3, cache=cache)
    save_vectorstore(store, tmp_path / "store")
    loaded = load_vectorstore(tmp_path / "store", load_embeddings("openai:m"))
    save_run(results, tmp_path / "run.trec")
    chat = ChatOpenAI(model="m", max_retries=0, timeout=5)
    failing(generate_answers, chat, all_qa, results, cache=cache, error=Exception)
    answers = generate_answers(chat, all_qa, results, cache=cache)
    judged = judge_answers(chat, all_qa, answers.head(2), retries=0)

    tables = [
        evaluate(all_qa, results, [1, 3]),
        per_query(all_qa, results, [1, 3]),
        answers,
        judged,
    ]
    said += shown(results, results.__dict__, model, plain, loaded.embedding_function, *tables)
    said += [caption(tables[0])]
    assert not [text for text in said if KEY in text]
    assert not [data for data in files(tmp_path) if KEY.encode() in data]
    assert len(files(tmp_path)) >= 6


def test_settings_of_a_model_are_in_no_file(server, tmp_path):
    canary = "canary-4f1c-never-to-be-read"
    plain = OpenAIEmbeddings(
        model="m",
        check_embedding_ctx_length=False,
        organization=canary,
        default_headers={"X-My": canary},
    )
    model = cached_embeddings(plain, tmp_path / "vectors.sqlite")
    docs = [{"doc_id": "d1", "content": "one"}, {"doc_id": "d2", "content": "two"}]
    store = build_vectorstore(docs, model)
    all_qa = [{"query_id": f"q{n}", "question": f"question {n}"} for n in range(3)]
    search_all(store, all_qa, 1, cache=tmp_path / "cache.sqlite")
    save_vectorstore(store, tmp_path / "saved")
    assert model.requests == 2
    assert not [data for data in files(tmp_path) if canary.encode() in data]
