"""An engineer's afternoon, in fifteen steps and forty lines: what to choose, and at what price."""

import inspect
import re
from itertools import pairwise

import pandas as pd
import pytest
from conftest import ROOT
from langchain_core.cross_encoders import BaseCrossEncoder

from rageval_kit import (
    agreement,
    build_bm25,
    build_vectorstore,
    cached_embeddings,
    estimate_cost,
    evaluate,
    experiment,
    fuse,
    grid,
    load_documents,
    load_embeddings,
    load_questions,
    plot_experiment,
    rerank,
    search_all,
    search_folded,
    shorten,
    split_documents,
    to_markdown,
    validate_dataset,
)

OPENAI, PRICES = "openai:text-embedding-3-small", {"text-embedding-3-small": 0.02}
CAMPUS, HANDBOOK = ROOT / "data" / "campus", ROOT / "data" / "handbook" / "ko"


class LettersInCommon(BaseCrossEncoder):
    """Stands for a cross-encoder, whose weights would have to be downloaded."""

    def score(self, text_pairs):
        """Return how many pairs of neighbouring letters a question and a text share."""
        pairs = [[set(pairwise(text)) for text in both] for both in text_pairs]
        return [len(question & text) for question, text in pairs]


def afternoon(source, questions, abroad, size, folder):
    """Answer which search, which chunks and which index, from two paths."""
    # 1 documents, 2 questions, 3 what is wrong with them, 4 what embedding them would cost
    docs = load_documents(source)
    all_qa = load_questions(questions, docs)
    report = validate_dataset(docs, all_qa)
    price = estimate_cost(docs, all_qa, OPENAI, PRICES).loc["total"]

    # 5 a model that is paid once, 6 its store, 7 by meaning, 8 by words, 9 both, 10 read once more
    model = cached_embeddings(load_embeddings(), folder / "vectors.sqlite")
    store = build_vectorstore(docs, model)
    runs = {"vectors": search_all(store, all_qa, k=100)}
    runs["words"] = search_all(build_bm25(docs), all_qa, k=100)
    runs["both"] = fuse(runs, k=100)
    runs["reranked"] = rerank(runs["both"], all_qa, LettersInCommon(), depth=10, k=10)

    # 11 a faster index, 12 a quarter of the numbers, 13 questions in another language
    runs["HNSW"] = search_all(build_vectorstore(docs, model, index="HNSW32"), all_qa, k=10)
    runs["short"] = search_all(build_vectorstore(docs, shorten(model, 128)), all_qa, k=10)
    abroad = load_questions(abroad, docs)
    means = {"abroad": evaluate(abroad, search_all(store, abroad, k=10), k=10)[10]}

    # 14 which chunks, with words or without: whole documents are the baseline
    def price_of(its):
        return estimate_cost(split_documents(docs, its["size"]), all_qa, OPENAI, PRICES)

    def make(size, hybrid):
        chunks = build_vectorstore(split_documents(docs, size), model)
        found = search_folded(chunks, all_qa, k=100, source_of=lambda hit: hit["source_id"])
        return fuse({"vectors": found, "words": runs["words"]}, k=10) if hybrid else found

    axes = grid(size=[10_000, size], hybrid=[False, True])
    result = experiment((axes, make), all_qa, save=folder / "grid", cost=price_of)

    # 15 the decision, on a page
    (folder / "decision.md").write_text(to_markdown(result), encoding="utf-8")
    plot_experiment(result).figure.savefig(folder / "decision.png", bbox_inches="tight")
    means |= {name: evaluate(all_qa, run, k=10)[10] for name, run in runs.items()}
    same = agreement(runs["vectors"], runs["HNSW"], k=10).mean().item()
    return report, price, pd.DataFrame(means), same, result


def test_it_is_fifteen_steps_in_at_most_forty_lines():
    lines = inspect.getsource(afternoon).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert not any(";" in line for line in lines)
    comments = " ".join(line for line in lines if line.lstrip().startswith("#"))
    assert re.findall(r"\d+", comments) == [str(step) for step in range(1, 16)]


@pytest.mark.filterwarnings("ignore:Fewer than")  # documents share a term with the question
def test_on_campus_words_and_vectors_together_are_better_and_the_price_is_known(
    tmp_path, loaded_once
):
    korean, english = CAMPUS / "ko", CAMPUS / "en"
    questions, abroad = korean / "queries.jsonl", english / "queries.jsonl"
    report, price, means, same, result = afternoon(
        korean / "corpus.jsonl", questions, abroad, 300, tmp_path
    )

    # The data, and the price of whole documents: between a tenth of a cent and a quarter.
    assert (report.errors, len(report.warnings)) == ([], 32)
    assert price["texts"] == 432
    assert 0.0008 < price["money_low"] <= price["money_high"] < 0.0025

    # In Korean words beat vectors, both beat either; English questions find Korean documents, too.
    ndcg = means.loc["nDCG"].round(3).to_dict()
    known = {"vectors": 0.578, "words": 0.687, "both": 0.732, "abroad": 0.430}
    assert {name: ndcg[name] for name in known} == pytest.approx(known, abs=0.001)
    assert max(ndcg, key=ndcg.get) == "both"
    assert means.loc["Recall", "reranked"] == means.loc["Recall", "both"]  # the same ten, reordered
    assert ndcg["short"] < 0.4  # this model was not trained to be cut
    assert 0.99 < same <= 1

    # Whole documents with words: better, also on queries held out, and chunks are like them.
    table = result.table
    assert result.best == "size=10000, hybrid=True"
    assert table["verdict"].str.partition(";")[0].tolist() == [
        "baseline", "better", "cannot tell", "better",
    ]  # fmt: skip
    assert table.loc[result.best, "mean"] == pytest.approx(means.loc["nDCG", "both"])
    assert table.loc[result.best, "held_out"] > 0.7
    assert table["like_best"].tolist() == [False, True, False, True]
    assert table["money"].iloc[0] == pytest.approx(price["money_high"])
    assert table["money"].is_monotonic_increasing  # every chunk has its document's title


@pytest.mark.filterwarnings("ignore:Fewer than")
def test_a_folder_of_markdown_takes_the_same_afternoon(tmp_path, loaded_once):
    abroad = pd.DataFrame({
        "question": ["When does course registration start?", "도서관 말고 기숙사 조용한 시간은?"],
        "relevant_doc_ids": ["학사/수강신청.md", "campus/dormitory.md"],
    })  # fmt: skip
    with pytest.warns(UserWarning, match="no hit for 1 of 13 queries, which score 0: 012"):
        report, price, means, same, result = afternoon(
            HANDBOOK, HANDBOOK / "questions.csv", abroad, 100, tmp_path
        )
    assert (report.errors, len(report.warnings)) == ([], 1)
    assert price["texts"] == 8 + 13

    # Words do not cross languages, vectors do: 012 is Korean, and its document English.
    recall = means.loc["Recall"]
    assert recall["words"] == pytest.approx(11 / 12)
    assert recall.drop("words").eq(1).all()
    assert (means.loc["nDCG", "both"], same) == (1, 1)
    assert means.loc["nDCG", "vectors"] == pytest.approx(0.941, abs=0.001)

    # Thirteen questions tell nothing apart, and the page says so.
    page = (tmp_path / "decision.md").read_text("utf-8")
    assert page.count("cannot tell") == 3
    assert "13 queries" in page
    assert result.table["like_best"].all()
    assert (tmp_path / "decision.png").read_bytes().startswith(b"\x89PNG")
