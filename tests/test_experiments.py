"""A grid of systems: the table, the failures, what runs again, and the best on queries held out."""

import functools
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import Letters, caught, hits, query
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from scipy.stats import ttest_rel

import rageval_kit.experiments
from rageval_kit import (
    build_bm25,
    build_vectorstore,
    compare,
    estimate_cost,
    experiment,
    grid,
    load_experiment,
    per_query,
    save_experiment,
    search_all,
    search_folded,
    split_documents,
)
from rageval_kit.experiment_table import held_out
from rageval_kit.rankings import Results

N = 30
ALL_QA = [
    query({f"d{i}": 1}, f"q{i}", question=f"what is {i * 37}?", kind="odd" if i % 2 else "even")
    for i in range(N)
]
DOCS = [{"doc_id": f"d{i}", "title": "", "content": f"it is {i * 37}"} for i in range(N)]


def found_at(*ranks):
    """Results in which the relevant document of query i stands at one of these ranks, in turn."""
    run = {}
    for i in range(N):
        ranking = [f"x{place}" for place in range(9)]
        ranking.insert(ranks[i % len(ranks)] - 1, f"d{i}")
        run[f"q{i}"] = hits(*ranking)
    return run


FIRST, SECOND, MIXED = found_at(1), found_at(2), found_at(1, 2, 3)
COLUMNS = [
    "mean", "low", "high", "difference", "difference_low", "difference_high", "p_holm", "verdict",
    "like_best", "held_out", "optimism", "Recall@10", "Recall@10_low", "Recall@10_high",
    "ms_median", "ms_95", "texts_embedded", "tokens", "money", "index_bytes", "characters_a_query",
    "error",
]  # fmt: skip


@pytest.fixture
def calls():
    return []


@pytest.fixture
def making(calls):
    """The axes of a grid, and a function that notes what it is called with."""

    def make(rank, twice):
        calls.append((rank, twice))
        if rank == 3 and twice:
            raise RuntimeError("out of memory")
        return found_at(rank, 1 + twice)

    return grid(rank=[1, 2, 3], twice=[False, True]), make


# ---------------------------------------------------------------- the table


def test_the_table_has_a_row_a_system_and_a_column_an_axis(making):
    result = experiment(making, ALL_QA)
    assert list(result.table) == ["rank", "twice", *COLUMNS]
    assert result.table["rank"].tolist() == [1, 1, 2, 2, 3, 3]
    assert result.table.index[3] == "rank=2, twice=True"
    assert list(experiment({"a": FIRST}, ALL_QA).table) == COLUMNS


def test_means_intervals_p_and_verdicts_are_those_of_compare():
    runs = {"first": SECOND, "second": FIRST, "third": MIXED}
    table = experiment(runs, ALL_QA, metrics=["nDCG", "RR"], baseline="third").table
    wanted = compare(runs, ALL_QA, 10, baseline="third", metrics=["nDCG"]).loc["nDCG@10"]
    same = ["mean", "difference", "verdict"]
    pd.testing.assert_frame_equal(table[same], wanted[same], check_names=False)
    random = ["low", "high", "difference_low", "difference_high", "p_holm"]
    np.testing.assert_allclose(table[random], wanted[random].astype(float), atol=0.02)
    assert table["MRR@10"].tolist() == pytest.approx([1 / 2, 1, (1 + 1 / 2 + 1 / 3) / 3])


def test_the_family_of_holm_is_all_systems_and_the_first_metric():
    runs = {"base": SECOND, **{f"run {n}": FIRST for n in range(5)}}
    one = experiment({"base": SECOND, "run 0": FIRST}, ALL_QA).table.loc["run 0", "p_holm"]
    assert experiment(runs, ALL_QA).table.loc["run 3", "p_holm"] == pytest.approx(5 * one, rel=0.01)


@pytest.mark.parametrize("column", ["ms_median", "texts_embedded", "money", "index_bytes"])
def test_what_is_not_known_is_nan(column):
    assert experiment({"a": FIRST, "b": SECOND}, ALL_QA).table[column].isna().all()


def test_a_result_shows_the_best_and_what_failed_or_was_left_out(making):
    shown = repr(experiment(making, ALL_QA, one_at_a_time=True))
    for fact in ("4 systems", "30 queries", "nDCG@10: rank=1, twice=False", "2 combinations"):
        assert fact in shown
    assert "1 failed" in repr(experiment(making, ALL_QA))


def test_one_axis_at_a_time_varies_from_the_baseline(making, calls):
    result = experiment(making, ALL_QA, baseline="rank=2, twice=True", one_at_a_time=True)
    assert sorted(calls) == [(1, True), (2, False), (2, True), (3, True)]
    assert result.record["left_out"] == 2


def test_values_of_an_axis_have_short_names():
    models = {"small": Letters(dimensions=8), "large": Letters(dimensions=64)}
    systems = (grid(model=models), lambda model: build_vectorstore(DOCS, model))
    table = experiment(systems, ALL_QA, timed=0).table
    assert table["model"].tolist() == ["small", "large"]
    named = grid(model=list(models.values()), how=[len, None, 0.5]).axes
    assert next(iter(named["model"])) == "Letters(model=letters, dimensions=8)"
    assert list(named["how"]) == ["len", "None", 0.5]


def test_the_same_seed_gives_the_same_table():
    runs = {"a": MIXED, "b": SECOND}
    first, second = (experiment(runs, ALL_QA, seed=seed).table for seed in (3, 3))
    pd.testing.assert_frame_equal(first, second)
    assert not first.equals(experiment(runs, ALL_QA, seed=4).table)


# ---------------------------------------------------------------- another engine's figures

# pt.Experiment of PyTerrier 1.1.2 (from_df transformers, [nDCG@5, R@5, RR@5], baseline=0,
# correction="holm") over these rankings: query i has d0 and, by i % 3, d1 and d2 as relevant.
RANKINGS = {
    "a": (
        "70162435 72346015 71506324 05417362 25471603 46017325 12754603 21046537 23610547 72310645 "
        "21630475 05137264 71645023 67324510 62417053 70521436 76134205 40216573 24530761 61032754 "
        "27145036 30154267 06231745 27341056 70543216 45132067 03267145 70142536 10637524 24016537"
    ),
    "b": (
        "51036247 40537162 01256743 31650247 01346725 74025613 34560712 40153627 12703645 70321564 "
        "21506347 10253476 06325471 34021765 02136574 10253746 70162453 01634275 02145763 52430176 "
        "10372465 02436571 02714635 12605473 50741236 42601735 12307465 04271536 05173624 60217345"
    ),
    "c": (
        "40231756 61250347 27041635 05674123 43127506 42657013 47520316 54612703 67240315 24760513 "
        "72634105 03164275 56247310 63405271 13246057 13256704 26315407 34217560 37261504 16503427 "
        "41562703 02751643 74023615 01423756 04765132 60217435 73210654 30627145 23057416 21507364"
    ),
}
MEANS = {
    "nDCG@5": [0.544247648393822, 0.748484490939365, 0.51242770172747],
    "Recall@5": [0.738888888888889, 0.944444444444445, 0.688888888888889],
    "RR@5": [0.536666666666667, 0.695, 0.505],
}
P = {
    "nDCG@5": [0.002443885482561, 0.622682430323708],
    "Recall@5": [0.00399889852952, 0.577204030185102],
    "RR@5": [0.032267530444818, 0.656150095452043],
}
P_HOLM = [0.004887770965122, 0.622682430323708]  # of nDCG@5


def test_means_and_p_values_are_pyterriers():
    all_qa = [query([f"d{j}" for j in range(1 + i % 3)], f"q{i}") for i in range(N)]
    runs = {
        name: {f"q{i}": hits(*[f"d{j}" for j in ids]) for i, ids in enumerate(text.split())}
        for name, text in RANKINGS.items()
    }
    result = experiment(runs, all_qa, k=5, metrics=list(MEANS))
    table = result.table.rename(columns={"mean": "nDCG@5", "MRR@5": "RR@5"})
    for metric, means in MEANS.items():
        assert table[metric].tolist() == pytest.approx(means, abs=1e-12)
        values = [per_query(all_qa, run, 5, [metric])[metric] for run in result.runs.values()]
        p = [ttest_rel(other, values[0]).pvalue for other in values[1:]]
        assert p == pytest.approx(P[metric], abs=1e-12)  # its test is Student's

    # The kit's test shuffles signs, and says nearly the same; Holm's correction is the same.
    assert table["p_holm"].tolist()[1:] == pytest.approx(P_HOLM, abs=0.02)


# ---------------------------------------------------------------- the best


def test_the_held_out_mean_is_worked_out_split_by_split():
    values = np.random.default_rng(1).random((7, 3))
    seen, left, rng = [], [], np.random.default_rng(0)
    for first in rng.permuted(np.tile(np.arange(7) < 3, (50, 1)), axis=1):
        for half in (first, ~first):
            best = values[half].mean(axis=0).argmax()
            seen.append(values[half, best].mean())
            left.append(
                (values[~half, best].mean(), values[~half, best].mean() - values[~half, 1].mean())
            )
    found = held_out(values, 1, np.random.default_rng(0), splits=50)
    assert (found.mean, found.difference) == pytest.approx(np.mean(left, axis=0))
    assert found.optimism == pytest.approx(np.mean(seen) - found.mean)


def test_the_best_of_many_that_are_equal_is_flattered_and_what_is_held_out_is_not():
    rng = np.random.default_rng(5)
    values = rng.random((200, 50))
    found = held_out(values, 0, rng)
    assert values.mean(axis=0).max() > 0.53
    assert found.mean == pytest.approx(0.5, abs=0.02)
    assert found.optimism > 0.04


def test_the_verdict_of_the_best_rests_on_queries_held_out(monkeypatch):
    runs = {"base": SECOND, "new": FIRST}
    assert experiment(runs, ALL_QA).table.loc["new", "verdict"] == "better"
    nothing = rageval_kit.experiment_table.HeldOut(0.5, -0.1, 0.2)
    monkeypatch.setattr("rageval_kit.experiment_table.held_out", lambda *_: nothing)
    table = experiment(runs, ALL_QA).table
    assert table.loc["new", ["verdict", "held_out", "optimism"]].tolist() == [
        "cannot tell: not better on queries held out", 0.5, 0.2,
    ]  # fmt: skip


def test_what_cannot_be_told_from_the_best_is_marked():
    runs = {"a": SECOND, "b": FIRST, "c": dict(FIRST), "d": {**FIRST, "q3": hits("x")}}
    table = experiment(runs, ALL_QA).table
    assert table["like_best"].tolist() == [False, True, True, True]


# ---------------------------------------------------------------- what a system may be, and costs


def test_a_store_is_searched_timed_and_counted():
    store = build_vectorstore(DOCS, Letters())
    row = experiment({"store": store}, ALL_QA, k=5, timed=4).table.loc["store"]
    found = search_all(store, ALL_QA, 5)
    handed = np.mean([sum(len(hit["content"]) for hit in ranking) for ranking in found.values()])
    assert row["characters_a_query"] == pytest.approx(handed)
    assert row["texts_embedded"] == 2 * N
    assert row["index_bytes"] > N * 32 * 4
    assert 0 < row["ms_median"] <= row["ms_95"]


def test_times_can_be_left_out_and_are_taken_uncached(new_session):
    model = Letters()
    store = build_vectorstore(DOCS, model)
    model.forget_calls()
    assert pd.isna(experiment({"a": store}, ALL_QA, timed=0).table.loc["a", "ms_median"])
    untimed = model.calls[1]
    model.forget_calls()
    experiment({"a": store}, ALL_QA, timed=4)
    assert model.calls[1] == untimed + 5  # one to warm up


def test_a_retriever_and_a_function_of_all_qa_are_systems():
    retriever = RunnableLambda(lambda question: [Document("t", metadata={"doc_id": "d1"})])
    result = experiment({"r": retriever, "f": lambda all_qa: MIXED}, ALL_QA, k=1, timed=2)
    assert result.runs["r"]["q3"] == [{"doc_id": "d1"}]
    assert result.table.loc["r", "ms_median"] > 0
    assert result.table.loc["f", "mean"] == pytest.approx(1 / 3)


def test_money_is_what_the_users_function_makes_of_the_facts():
    store = build_vectorstore(DOCS, Letters())

    def cost(facts):
        return {"tokens": facts["characters_embedded"] / 4, "money": facts["texts_embedded"] / 10}

    row = experiment({"a": store}, ALL_QA, timed=0, cost=cost).table.loc["a"]
    assert row["money"] == 2 * N / 10
    assert row["tokens"] * 4 == sum(len(d["content"]) for d in DOCS) + sum(
        len(qa["question"]) for qa in ALL_QA
    )


def test_what_estimate_cost_says_is_a_cost_and_the_most_counts():
    prices = {"text-embedding-3-small": 0.02}
    texts = {"small": DOCS[:9], "large": DOCS}
    said = []

    def cost(its):
        said.append(its["model"])  # the name on the axis, though a fact is called so too
        return estimate_cost(texts[its["texts"]], ALL_QA, its["model"], prices)

    axes = grid(model=["openai:text-embedding-3-small"], texts=texts)
    table = experiment((axes, lambda model, texts: FIRST), ALL_QA, cost=cost).table
    for name, docs in texts.items():
        total = estimate_cost(docs, ALL_QA, said[0], prices).loc["total"]
        row = table[table["texts"] == name].iloc[0]
        assert (row["tokens"], row["money"]) == (total["tokens_high"], total["money_high"])
    assert said == ["openai:text-embedding-3-small"] * 2

    # Without prices the money is not known.
    tokens = experiment({"a": FIRST}, ALL_QA, cost=lambda its: estimate_cost(DOCS, ALL_QA, "m"))
    assert tokens.table["tokens"].notna().all()
    assert tokens.table["money"].isna().all()


@pytest.mark.parametrize(
    ("cost", "facts"),
    [
        (lambda its: 3, ["cost must return", "estimate_cost", "found 3"]),
        (lambda its: None, ["cost must return", "None"]),
        (lambda its: {"price": 1}, ["cost must return", "price"]),
        (lambda its: {"money": "a"}, ["cost must return", "'a'"]),
        (lambda its: {"money": its["sise"]}, ["KeyError", "'sise'"]),
        (lambda: {"money": 1}, ["TypeError", "1 was given"]),
    ],
)
def test_a_cost_that_fails_loses_no_run(cost, facts):
    with pytest.warns(UserWarning, match="cost failed for 2 systems") as said:
        result = experiment({"a": FIRST, "b": SECOND}, ALL_QA, cost=cost)
    for fact in (*facts, "a: ", "Fix the function", "save="):
        assert fact in str(said[0].message)
    assert result.table["mean"].notna().all()
    assert result.table["money"].isna().all()


def test_a_question_that_is_searched_deeper_counts_once():
    chunks = split_documents([{**doc, "content": doc["content"] * 3} for doc in DOCS], 9)
    store = build_vectorstore(chunks, Letters())

    def make(deep):
        return search_folded(build_vectorstore(chunks, Letters()), ALL_QA, 10, source_of)

    def source_of(hit):
        return hit["source_id"]

    table = experiment((grid(deep=[1]), make), ALL_QA).table
    assert table["texts_embedded"].tolist() == [len(chunks) + N]
    assert search_folded(store, ALL_QA, 10, source_of).k == 10


def test_stores_of_the_same_texts_are_embedded_once(letters_are_known, new_session):
    model = Letters()

    def make(name):
        return search_all(build_vectorstore(DOCS, model), ALL_QA, 10)

    experiment((grid(name=["a", "b", "c"]), make), ALL_QA)
    texts = [text for batch in model._batches for text in batch]
    assert len([text for text in texts if text.startswith("it is")]) == N
    assert len([text for text in texts if text.startswith("what is")]) == N


# ---------------------------------------------------------------- failures


def test_a_system_that_fails_is_a_row_and_the_others_go_on(making):
    table = experiment(making, ALL_QA).table
    failed = table.loc["rank=3, twice=True"]
    assert failed["error"] == "RuntimeError: out of memory"
    assert failed["verdict"] == "failed"
    assert pd.isna(failed["mean"])
    assert table["mean"].count() == 5


@pytest.mark.parametrize(
    ("system", "facts"),
    [
        (lambda question: question.lower(), ["gets all_qa", "search_all(function"]),
        (lambda all_qa: 3, ["results must be", "int 3"]),
        ({"q1": hits("d1")}, ["no results for 29 queries", "q0"]),
        (Results(FIRST, k=5), ["k=5", "10 hits", "again"]),
        ({**FIRST, "q3": hits("A", "A")}, ["q3", "A"]),
        ({**FIRST, "q3": [{"doc_id": 7}]}, ["doc_id", "7"]),
        (lambda all_qa: 1 / 0, ["ZeroDivisionError"]),
        (lambda all_qa: None, ["None", "return missing"]),
        (lambda all_qa: {}["q7"], ["KeyError: q7 A function"]),
        (RunnableLambda(len), ["retriever", "int"]),
        ([1, 2], ["results must be", "list"]),
        (pd.DataFrame({"x": [1]}), ["query_id, doc_id", "found x"]),
    ],
)
def test_what_cannot_be_measured_is_a_row_with_the_reason(system, facts):
    table = experiment({"good": FIRST, "bad": system}, ALL_QA).table
    for fact in facts:
        assert fact in table.loc["bad", "error"]


def test_a_coroutine_is_called_so():
    async def later(all_qa):
        return FIRST

    waiting = later(ALL_QA)
    error = experiment({"a": FIRST, "b": waiting}, ALL_QA).table.loc["b", "error"]
    waiting.close()
    for fact in ("coroutine", "await", "asyncio.run"):
        assert fact in error


def test_stores_without_questions_say_what_is_missing():
    judged = [{name: qa[name] for name in ("query_id", "relevant_doc_ids")} for qa in ALL_QA]
    store = build_vectorstore(DOCS, Letters())
    error = experiment({"a": FIRST, "store": store}, judged).table.loc["store", "error"]
    assert "the field question is missing" in error


def test_no_secret_stands_in_an_error():
    def fails(all_qa):
        raise ValueError("https://me:hunter2@host/v1?api_key=hunter2 said no")

    assert "hunter2" not in experiment({"a": FIRST, "b": fails}, ALL_QA).table.loc["b", "error"]


def test_where_the_baseline_fails_there_are_no_differences():
    with pytest.warns(UserWarning, match="baseline 'bad' failed"):
        table = experiment({"bad": {}, "a": FIRST, "b": SECOND}, ALL_QA).table
    assert table["difference"].isna().all()
    assert table["verdict"].tolist()[1:] == ["cannot tell: the baseline failed"] * 2


def test_where_all_fail_the_first_error_is_said():
    with pytest.raises(ValueError, match="Every system failed. a: ValueError: no results"):
        experiment({"a": {}, "b": {}}, ALL_QA)


def test_results_of_other_queries_are_named():
    said = caught(lambda: experiment({"a": {**FIRST, "stranger": []}}, ALL_QA))
    assert any("stranger" in message for message in said)


@pytest.mark.parametrize(
    ("arguments", "kind", "facts"),
    [
        ({"systems": ALL_QA}, TypeError, ["systems", "all_qa", "swapped"]),
        ({"systems": {}}, ValueError, ["systems", "none"]),
        ({"systems": FIRST}, ValueError, ["query_ids", "one system", "name"]),
        ({"systems": [FIRST]}, TypeError, ["systems must be", "list"]),
        ({"systems": {"a": Results}}, TypeError, ["systems, a", "class Results"]),
        ({"systems": {"a": None}}, TypeError, ["systems, a", "None"]),
        ({"systems": {3: FIRST}}, TypeError, ["name", "3", "Rename"]),
        ({"systems": (grid(a=[1]), 3)}, TypeError, ["make(**settings)"]),
        ({"systems": grid(a=[1])}, TypeError, ["grid(...), make"]),
        ({"all_qa": FIRST}, TypeError, ["all_qa", "results"]),
        (
            {"all_qa": pd.DataFrame({"query_id": [1], "doc_id": ["A"]})},
            TypeError,
            ["texts", "str("],
        ),
        ({"k": 0}, ValueError, ["k must be"]),
        ({"metrics": ["nDGC"]}, ValueError, ["nDGC", "nDCG"]),
        ({"baseline": "c"}, ValueError, ["'c'", "there are: 'a', 'b'."]),
        (
            {"systems": {"dense": FIRST, "bm25": FIRST}, "baseline": "desne"},
            ValueError,
            ["'desne'", "there are: 'dense', 'bm25'", "Did you mean 'dense'?"],
        ),
        (
            {"systems": (grid(a=[1], b=[2]), lambda a: FIRST)},
            TypeError,
            ["make(a, b)", "found make(a)", "'b'"],
        ),
        (
            {"systems": (grid(a=[1]), lambda size: FIRST)},
            TypeError,
            ["make(a)", "found make(size)", "missing"],
        ),
        ({"systems": (grid(a=[1]), print)}, TypeError, ["make(a)", "'a'"]),
        ({"one_at_a_time": True}, ValueError, ["grid"]),
        ({"one_at_a_time": pd.NA}, TypeError, ["one_at_a_time", "True or False"]),
        ({"content": ""}, TypeError, ["content", "handbook"]),
        ({"cost": 0.02}, TypeError, ["cost", "function"]),
        ({"timed": -1}, ValueError, ["timed"]),
        ({"seed": -1}, ValueError, ["seed"]),
        ({"save": 3}, TypeError, ["save"]),
        ({"duplicates": "all"}, ValueError, ["duplicates", "unique"]),
    ],
)
def test_a_wrong_argument_is_said_before_anything_runs(arguments, kind, facts, calls):
    systems = {"a": lambda all_qa: calls.append(1), "b": FIRST}
    with pytest.raises(kind) as refusal:
        experiment(**{"systems": systems, "all_qa": ALL_QA} | arguments)
    for fact in facts:
        assert fact in str(refusal.value)
    assert calls == []


@pytest.mark.parametrize(
    ("axes", "kind", "facts"),
    [
        ({}, ValueError, ["no axis"]),
        ({"a": []}, ValueError, ["a has no value"]),
        ({"a": "text"}, TypeError, ["grid: a", "list"]),
        ({"a": [1, 1]}, ValueError, ["two values called 1", "dict"]),
        ({"a": [lambda: 1, lambda: 2]}, ValueError, ["<lambda>", "small"]),
        ({"mean": [1]}, ValueError, ["mean", "otherwise"]),
    ],
)
def test_an_axis_that_is_none_is_refused(axes, kind, facts):
    with pytest.raises(kind) as refusal:
        grid(**axes)
    for fact in facts:
        assert fact in str(refusal.value)


# ---------------------------------------------------------------- run again


def test_the_second_run_makes_embeds_and_searches_nothing(tmp_path, calls, new_session):
    model = Letters()

    def make(size):
        calls.append(size)
        chunks = [{**doc, "content": doc["content"][:size]} for doc in DOCS]
        return build_vectorstore(chunks, model)

    systems = (grid(size=[4, 8]), make)
    first = experiment(systems, ALL_QA, save=tmp_path / "monday")
    model.forget_calls()
    second = experiment(systems, ALL_QA, save=tmp_path / "monday")
    assert (calls, model.calls) == ([4, 8], (0, 0))
    pd.testing.assert_frame_equal(first.table, second.table)
    assert first.runs == second.runs


def test_only_what_changed_runs_again(tmp_path, making, calls):
    axes, make = making
    save = tmp_path / "monday"
    experiment((axes, make), ALL_QA, save=save)
    calls.clear()
    experiment((grid(rank=[1, 2, 4], twice=[False, True]), make), ALL_QA, save=save)
    assert calls == [(4, False), (4, True)]


def test_what_failed_runs_again(tmp_path, making, calls):
    experiment(making, ALL_QA, save=tmp_path)
    calls.clear()
    experiment(making, ALL_QA, save=tmp_path)
    assert calls == [(3, True)]


def test_a_system_is_known_by_what_it_is_and_not_by_its_name(tmp_path, calls):
    def one(all_qa):
        calls.append("one")
        return FIRST

    def other(all_qa):
        calls.append("other")
        return SECOND

    experiment({"a": one, "b": other}, ALL_QA, save=tmp_path)
    swapped = experiment({"a": other, "c": one}, ALL_QA, save=tmp_path)
    assert calls == ["one", "other"]
    assert swapped.table["mean"].tolist() == pytest.approx([1 / np.log2(3), 1])


@pytest.mark.parametrize("changed", ["documents", "question", "k", "code", "content"])
def test_what_a_system_reads_is_part_of_what_it_is(tmp_path, calls, changed):
    docs = [dict(doc) for doc in DOCS]

    def make(size):
        calls.append(docs[0]["content"])
        return FIRST

    def edited(size):
        calls.append(docs[0]["content"])
        return MIXED

    def run(function=make, all_qa=ALL_QA, **settings):
        experiment((grid(size=[1]), function), all_qa, save=tmp_path, **settings)
        return len(calls)

    assert (run(), run()) == (1, 1)
    if changed == "documents":
        docs[0]["content"] = "edited"
        assert run() == 2
    elif changed == "question":
        assert run(all_qa=[{**ALL_QA[0], "question": "another?"}, *ALL_QA[1:]]) == 2
    elif changed == "k":
        assert run(k=9) == 2
    elif changed == "code":
        assert run(edited) == 2
    else:
        assert run(content="handbook of May") == 2


def test_other_judgements_need_no_run(tmp_path, making, calls):
    experiment(making, ALL_QA, save=tmp_path)
    calls.clear()
    judged = [{**qa, "relevant_doc_ids": {"x0": 1}} for qa in ALL_QA]
    table = experiment(making, judged, save=tmp_path).table
    assert calls == [(3, True)]
    assert table.loc["rank=1, twice=False", "mean"] == pytest.approx(1 / np.log2(3))


class Client:
    """What cannot be looked into."""

    def __init__(self):
        self.connection = open(__file__)  # noqa: SIM115

    def invoke(self, question):
        return [Document("text", metadata={"doc_id": "d1"})]


def test_what_cannot_be_looked_into_runs_anew_until_its_content_is_named(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        Client, "invoke", lambda self, q: asked.append(q) or [Document("", id="d1")]
    )
    client = Client()
    for settings, n in (({}, 1), ({}, 2), ({"content": "May"}, 3), ({"content": "May"}, 3)):
        said = caught(
            lambda s=settings: experiment({"c": client}, ALL_QA, k=1, timed=0, save=tmp_path, **s)
        )
        assert len(asked) == n * N
        assert any("1 system will run anew" in message for message in said) is not bool(settings)
    client.connection.close()


def test_an_interrupted_run_goes_on(tmp_path, calls, monkeypatch):
    def make(n):
        calls.append(n)
        return found_at(n)

    systems = (grid(n=[1, 2, 3]), make)
    measure = rageval_kit.experiments.measure

    def interrupted(name, *arguments):
        if name == "n=2":
            raise KeyboardInterrupt
        return measure(name, *arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("rageval_kit.experiments.measure", interrupted)
        experiment(systems, ALL_QA, save=tmp_path)
    with pytest.raises(ValueError, match="did not end"):
        load_experiment(tmp_path)
    table = experiment(systems, ALL_QA, save=tmp_path).table
    assert calls == [1, 2, 2, 3]
    pd.testing.assert_frame_equal(table, experiment(systems, ALL_QA).table)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_in_the_middle_keeps_what_was_finished(tmp_path):
    import signal
    import subprocess

    code = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
from rageval_kit import experiment, grid
def make(n):
    print("made", n, flush=True)
    if n == 2 and not os.path.exists(sys.argv[1] + "/went on"):
        open(sys.argv[1] + "/went on", "w").close()
        os.kill(os.getpid(), signal.SIGINT)
    return {f"q{i}": [{"doc_id": "A"}][:n] for i in range(9)}
all_qa = [{"query_id": f"q{i}", "relevant_doc_ids": ["A"]} for i in range(9)]
result = experiment((grid(n=[0, 1, 2, 3]), make), all_qa, k=1, save=sys.argv[1])
print(result.table["mean"].tolist())
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    root = Path(rageval_kit.__file__).parents[1]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
        for _ in range(2)
    )
    assert first.returncode in (-signal.SIGINT, 130)
    assert first.stdout.split("\n") == ["made 0", "made 1", "made 2", ""]
    assert second.stdout.split("\n") == ["made 2", "made 3", "[0.0, 1.0, 1.0, 1.0]", ""]


# ---------------------------------------------------------------- save and load


@pytest.fixture
def saved(tmp_path, making):
    runs = {"store": build_vectorstore(DOCS, Letters()), "bad": {}, "a b": {**FIRST, "q3": []}}
    result = experiment(runs, ALL_QA, save=tmp_path / "monday", seed=2, duplicates="unique")
    return result, tmp_path


def test_a_loaded_experiment_is_equal(saved):
    result, folder = saved
    loaded = load_experiment(folder / "monday")
    pd.testing.assert_frame_equal(loaded.table, result.table)
    assert (loaded.runs, loaded.record, loaded.all_qa) == (
        result.runs,
        result.record,
        result.all_qa,
    )
    assert repr(loaded) == repr(result)
    run, wanted = loaded.runs["store"], result.runs["store"]
    assert (run.k, run.score_name, run.lower_is_better) == (10, "squared L2 distance", True)
    assert run.questions == wanted.questions


def test_saving_afterwards_is_as_saving_meanwhile(saved):
    result, folder = saved
    save_experiment(result, folder / "tuesday")
    for name in ("table.csv", "record.json", "queries.jsonl"):
        texts = [(folder / day / name).read_text("utf-8") for day in ("monday", "tuesday")]
        assert texts[0] == texts[1]
    loaded = load_experiment(folder / "tuesday")
    pd.testing.assert_frame_equal(loaded.table, result.table)


def test_the_record_says_all_that_made_it(saved):
    record = json.loads((saved[1] / "monday" / "record.json").read_text("utf-8"))
    assert record["policies"]["duplicates"] == "unique"
    assert (record["seed"], record["k"], record["baseline"]) == (2, 10, "store")
    assert {"numpy", "faiss-cpu", "langchain-core"} <= set(record["versions"])
    kept = record["kept"][record["systems"]["store"]["fingerprint"]]
    assert kept["model"] == "Letters(model=letters, dimensions=32)"
    assert kept["index"] == saved[0].runs["store"].index


def test_ids_with_blanks_and_formulas_survive(tmp_path):
    all_qa = [query({"a file.md": 1}, "first question"), query({"b": 1}, "q2")]
    run = {"first question": hits("a file.md", "=1+2"), "q2": hits("b")}
    result = experiment({"=1+2": run, "'x": run}, all_qa, k=2, save=tmp_path)
    loaded = load_experiment(tmp_path)
    pd.testing.assert_frame_equal(loaded.table, result.table)
    assert loaded.runs == result.runs
    assert "\n'=1+2," in (tmp_path / "table.csv").read_text("utf-8")
    assert [path.suffix for path in (tmp_path / "runs").iterdir()] == [".csv"]


@pytest.mark.parametrize("broken", ["[]", "{", '{"version": 1}', '{"version": 9, "kept": {}}'])
def test_a_broken_record_is_refused_in_words(tmp_path, broken):
    (tmp_path / "record.json").write_text(broken)
    for read in (load_experiment, lambda save: experiment({"a": FIRST}, ALL_QA, save=save)):
        with pytest.raises(ValueError, match=r"cannot be read|another version"):
            read(tmp_path)


def test_no_experiment_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"record.json not found"):
        load_experiment(tmp_path)
    with pytest.raises(TypeError, match=r"what experiment\(\.\.\.\)"):
        save_experiment({"a": FIRST}, tmp_path)


def test_runs_that_left_the_experiment_leave_the_folder(tmp_path):
    experiment({"a": FIRST, "b": SECOND}, ALL_QA, save=tmp_path)
    experiment({"b": SECOND}, ALL_QA, save=tmp_path)
    assert [path.name[:2] for path in (tmp_path / "runs").iterdir()] == ["b-"]


# ---------------------------------------------------------------- another session


def test_another_session_knows_the_systems_again(tmp_path):
    import subprocess

    code = """
import sys
from rageval_kit import experiment, grid
docs, calls = [{"doc_id": "A", "content": "text"}], []
def helper(n): return [{"doc_id": docs[0]["doc_id"] if n else "B"}]
def make(n):
    calls.append(n)
    return {f"q{i}": helper(n) for i in range(9)}
all_qa = [{"query_id": f"q{i}", "relevant_doc_ids": {"A"}} for i in range(9)]
experiment((grid(n=[0, 1]), make), all_qa, k=1, save=sys.argv[1])
print(len(calls))
"""
    root = Path(rageval_kit.__file__).parents[1]
    counts = [
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            capture_output=True, text=True, check=True, cwd=root,
        ).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert counts == ["2", "0"]


def test_a_cached_function_is_known_by_what_it_does(tmp_path, calls):
    @functools.cache
    def index(size):
        calls.append(size)
        return found_at(size)

    systems = (grid(size=[1, 2], hybrid=[False, True]), lambda size, hybrid: index(size))
    for _ in range(2):
        experiment(systems, ALL_QA, save=tmp_path)
    assert calls == [1, 2]


def test_graded_queries_of_a_table_of_judgements_will_do():
    qrels = pd.DataFrame(
        {"query_id": ["q1", "q1", "q2"], "doc_id": list("ABA"), "relevance": [1, 0, 2]}
    )
    result = experiment({"a": {"q1": hits("A"), "q2": hits("A")}}, qrels, k=1)
    assert result.table["mean"].tolist() == [1.0]


def test_bm25_is_known_by_its_documents_and_runs_once(tmp_path):
    def run(docs):
        return experiment(
            {"bm25": build_bm25(docs)}, ALL_QA, k=1, save=tmp_path / "monday", timed=0
        )

    first = run(DOCS)
    assert run(list(DOCS)).record["systems"]["bm25"] == first.record["systems"]["bm25"]
    changed = [{**DOCS[0], "content": "other words"}, *DOCS[1:]]
    assert (
        run(changed).record["systems"]["bm25"]["fingerprint"]
        != (first.record["systems"]["bm25"]["fingerprint"])
    )
