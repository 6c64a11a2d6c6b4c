"""Reranking: every kind of scorer, each pair scored once and kept at once, and what is refused."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from conftest import caught, ids
from langchain_classic.retrievers.document_compressors import (
    CrossEncoderReranker,
    DocumentCompressorPipeline,
    EmbeddingsFilter,
)
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from pydantic import Field

from rageval_kit import Results, build_bm25, evaluate, fuse, rerank, search_all
from rageval_kit.reranking import _PROBES

DOCS = [
    {"doc_id": "A", "title": "", "content": "green pears"},
    {"doc_id": "B", "title": "Fruit", "content": "red apples"},
    {"doc_id": "C", "title": "", "content": "red buses"},
    {"doc_id": "D", "title": "", "content": "late buses"},
]
ALL_QA = [
    {"query_id": "q1", "question": "red apples", "relevant_doc_ids": ["B"]},
    {"query_id": "q2", "question": "late red buses", "relevant_doc_ids": ["D"]},
]
FOUND = {"q1": DOCS, "q2": DOCS}
N_PROBES = len(_PROBES)


@pytest.fixture(autouse=True)
def _new(new_session):
    """Let no test find what another has scored."""


def shared(question, text):
    return len(set(question.split()) & set(text.split()))


class Scorer:
    """Count shared words, and keep the pairs that were asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, pairs):
        self.asked += pairs
        return [shared(*pair) for pair in pairs]

    @property
    def pairs(self):
        """Those that are no probe."""
        return [pair for pair in self.asked if pair[1] not in _PROBES]


class Encoder(BaseCrossEncoder):
    """As LangChain's HuggingFaceCrossEncoder: numpy's float32."""

    def score(self, text_pairs):
        return np.array([shared(*pair) for pair in text_pairs], dtype=np.float32)


class Compressor(BaseDocumentCompressor):
    """As LangChain's rerankers of a service: the best first, with a relevance_score."""

    top_n: int = 100
    scores: bool = True
    asked: list = Field(default_factory=list)

    def compress_documents(self, documents, query, callbacks=None):
        self.asked.append(query)
        best = sorted(documents, key=lambda doc: -shared(query, doc.page_content))[: self.top_n]
        if not self.scores:
            return best
        return [
            Document(
                page_content=doc.page_content,
                metadata=doc.metadata | {"relevance_score": float(shared(query, doc.page_content))},
            )
            for doc in best
        ]


# ---------------------------------------------------------------- the new order


@pytest.mark.parametrize(
    "scorer",
    [
        Scorer(),
        Encoder(),
        Compressor(),
        lambda pairs: [shared(*pair) for pair in pairs],
        lambda pairs: (shared(*pair) for pair in pairs),
        lambda pairs: np.array([shared(*pair) for pair in pairs]),
    ],
    ids=["object", "cross-encoder", "compressor", "function", "generator", "array"],
)
def test_every_kind_of_scorer_gives_the_same_order(scorer):
    results = rerank(FOUND, ALL_QA, scorer, depth=4, k=3)
    assert ids(results["q1"]) == ["B", "C", "A"]
    assert ids(results["q2"]) == ["C", "D", "B"]
    assert [hit["score"] for hit in results["q1"]] == [2.0, 1.0, 0.0]
    assert results.lower_is_better is False


def test_a_text_is_title_line_break_and_content():
    scorer = Scorer()
    rerank({"q1": DOCS}, ALL_QA[:1], scorer, depth=2, k=2)
    assert scorer.pairs == [("red apples", "green pears"), ("red apples", "Fruit\nred apples")]


def test_hits_behind_the_depth_are_neither_scored_nor_returned():
    results = rerank(FOUND, ALL_QA, scorer := Scorer(), depth=2, k=2)
    assert ids(results["q2"]) == ["B", "A"]
    assert len(scorer.pairs) == 4


def test_equal_scores_keep_the_old_order():
    results = rerank({"q1": DOCS[::-1]}, ALL_QA[:1], lambda pairs: [1] * len(pairs), 4, 4)
    assert ids(results["q1"]) == ["D", "C", "B", "A"]


def test_the_old_score_gives_way_to_the_new_one():
    found = {"q1": [{**doc, "score": 0.1} for doc in DOCS]}
    assert rerank(found, ALL_QA[:1], Scorer(), 4, 1)["q1"] == [{**DOCS[1], "score": 2.0}]
    ranked = rerank(found, ALL_QA[:1], Compressor(scores=False), 4, 1)
    assert ranked["q1"] == [DOCS[1]]
    assert ranked.score_name is None


def test_results_know_the_scorer_and_the_search():
    found = Results(FOUND, k=4, score_name="BM25", index="abc", questions={"q1": "red apples"})
    results = rerank(found, ALL_QA, Scorer(), depth=4, k=2)
    assert (results.k, results.score_name, results.index) == (2, "score of Scorer", "abc")
    assert results.questions == {"q1": "red apples"}


def test_a_query_that_found_nothing_stays_empty():
    for scorer in (Scorer(), Compressor()):
        results = rerank({"q1": DOCS, "q2": []}, ALL_QA, scorer, 4, 2)
        assert results["q2"] == []


def test_a_search_a_fusion_and_a_reranking_in_a_row():
    results = search_all(build_bm25(DOCS), ALL_QA[1:], k=3)
    fused = fuse({"bm25": results, "reversed": {"q2": DOCS[::-1]}}, k=4)
    ranked = rerank(fused, ALL_QA[1:], Scorer(), depth=4, k=2)
    assert evaluate(ALL_QA[1:], ranked, ks=2).loc["Recall", 2] == 1


# ---------------------------------------------------------------- once, and kept at once


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "scores.sqlite"


def test_a_second_call_scores_nothing_but_the_probe(cache):
    first = rerank(FOUND, ALL_QA, Scorer(), 4, 3, cache)
    again = rerank(FOUND, ALL_QA, scorer := Scorer(), 4, 3, cache)
    assert again == first
    assert scorer.pairs == []
    assert (first.searched, again.searched) == (2, 0)


def test_a_larger_depth_scores_only_what_is_new(cache):
    rerank(FOUND, ALL_QA, Scorer(), 2, 2, cache)
    rerank(FOUND, ALL_QA, scorer := Scorer(), 3, 3, cache)
    assert [text for _, text in scorer.pairs] == ["red buses", "red buses"]


def test_equal_pairs_are_scored_once():
    copies = [DOCS[0], {**DOCS[0], "doc_id": "A2"}]
    rerank({"q1": copies}, ALL_QA[:1], scorer := Scorer(), 2, 2)
    assert len(scorer.pairs) == 1


SERVICE = {}


def test_after_a_failure_the_same_call_goes_on(cache, monkeypatch):
    monkeypatch.setattr("rageval_kit.reranking._BATCH", 3)
    monkeypatch.setitem(SERVICE, "is down", True)
    came = []

    def scorer(pairs):
        if SERVICE["is down"] and "late buses" in [text for _, text in pairs]:
            raise ConnectionError("gone")
        came.extend(pairs)
        return [shared(*pair) for pair in pairs]

    failed = r"failed on 3 pairs \(q1 with D.*ConnectionError: gone.*kept"
    with pytest.raises(ValueError, match=failed):
        rerank(FOUND, ALL_QA, scorer, 4, 3, cache)
    assert len(came) == N_PROBES + 3
    with closing(sqlite3.connect(cache)) as file:
        assert file.execute("SELECT count(*) FROM answers").fetchone() == (3,)

    # The pairs that it has noted are none of its settings.
    monkeypatch.setitem(SERVICE, "is down", False)
    rerank(FOUND, ALL_QA, scorer, 4, 3, cache)
    assert len(came) == N_PROBES + 3 + N_PROBES + 5


def test_a_compressor_is_asked_once_a_query(cache):
    first = rerank(FOUND, ALL_QA, one := Compressor(), 4, 3, cache)
    again = rerank(FOUND, ALL_QA, other := Compressor(), 4, 3, cache)
    assert again == first
    assert (len(one.asked), len(other.asked)) == (3, 1)  # the fixed texts, each time
    assert (first.searched, again.searched) == (2, 0)


def test_a_compressor_is_given_ids_of_numpy_as_any_other():
    hits = [{"doc_id": np.int64(n), "content": text} for n, text in enumerate(["late", "red bus"])]
    found = rerank({"q1": hits}, [{"query_id": "q1", "question": "red bus"}], Compressor(), 2, 2)
    assert ids(found["q1"]) == [1, 0]


def test_a_scorer_of_other_code_or_settings_is_another(cache):
    rerank(FOUND, ALL_QA, lambda pairs: [shared(*pair) for pair in pairs], 4, 3, cache)
    turned = rerank(FOUND, ALL_QA, lambda pairs: [-shared(*pair) for pair in pairs], 4, 3, cache)
    assert ids(turned["q1"]) == ["A", "D", "C"]
    few = caught(lambda: rerank(FOUND, ALL_QA, Compressor(top_n=1), 4, 3, cache))
    assert "top_n" in few[0]


def test_a_scorer_that_answers_otherwise_is_another(cache):
    """The code and the settings are the same: what it reads elsewhere tells in the fixed pairs."""
    rerank(FOUND, ALL_QA, reads_elsewhere, 4, 3, cache)
    FACTOR[0] = -1
    try:
        turned = rerank(FOUND, ALL_QA, reads_elsewhere, 4, 3, cache)
    finally:
        FACTOR[0] = 1
    assert ids(turned["q1"]) == ["A", "D", "C"]


FACTOR = [1]


def reads_elsewhere(pairs):
    return [FACTOR[0] * shared(*pair) for pair in pairs]


def test_a_kept_score_that_cannot_be_read_is_scored_again(cache):
    first = rerank(FOUND, ALL_QA, Scorer(), 4, 3, cache)
    for broken in (b"\xff", b"{", b'"x"', b"[1]"):
        with closing(sqlite3.connect(cache)) as file, file:
            file.execute("UPDATE answers SET answer = ?", (broken,))
        assert rerank(FOUND, ALL_QA, Scorer(), 4, 3, cache) == first


# ---------------------------------------------------------------- LangChain's own


def test_langchains_cross_encoder_reranker_and_its_top_n():
    reranker = CrossEncoderReranker(model=Encoder(), top_n=2)
    said = caught(lambda: rerank(FOUND, ALL_QA, reranker, 4, 3))
    assert any("CrossEncoderReranker" in one and "k=3" in one and "q1, q2" in one for one in said)
    results = rerank(FOUND, ALL_QA, reranker, 4, 2)
    assert ids(results["q1"]) == ["B", "C"]
    assert results.score_name is None


def test_langchains_filter_and_pipeline(letters):
    by_vector = EmbeddingsFilter(embeddings=letters, k=4)
    pipeline = DocumentCompressorPipeline(transformers=[by_vector])
    assert ids(rerank(FOUND, ALL_QA, pipeline, 4, 1)["q1"]) == ["B"]


class Returns(BaseDocumentCompressor):
    what: str

    def compress_documents(self, documents, query, callbacks=None):
        return {
            "none": None,
            "texts": [document.page_content for document in documents],
            "twice": [documents[0], documents[0]],
            "new": [Document(page_content="x", metadata={"doc_id": "X"})],
            "nameless": [Document(page_content="x")],
            "nan": [Document(page_content="x", metadata=documents[0].metadata | {"relevance_score": float("nan")})],
        }[self.what]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "error", "facts"),
    [
        ("none", TypeError, "None for .*list of LangChain documents"),
        ("texts", TypeError, "list of LangChain documents"),
        ("twice", ValueError, "twice"),
        ("new", ValueError, "'X'.*not given"),
        ("nameless", ValueError, "None.*not given"),
        ("nan", ValueError, "relevance_score nan"),
    ],
)
def test_a_compressor_that_gives_no_documents_of_its_own_is_refused(what, error, facts):
    with pytest.raises(error, match=facts):
        rerank(FOUND, ALL_QA, Returns(what=what), 4, 3)


# ---------------------------------------------------------------- what is refused


def only_for_ours(odd):
    """A function that gives something odd for the pair of q1 with B."""
    return lambda pairs: [odd if "apples" in text else 1.0 for _, text in pairs]


@pytest.mark.parametrize(
    ("scorer", "error", "facts"),
    [
        (only_for_ours(float("nan")), ValueError, "NaN for q1 with B"),
        (only_for_ours("high"), TypeError, "'high' for q1 with B"),
        (only_for_ours(None), TypeError, "None for q1 with B"),
        (only_for_ours([0.1, 0.9]), TypeError, "for q1 with B; one number"),
        (lambda pairs: [1.0] * 3, ValueError, r"gave 3 scores for 8 pairs \(q1 with A"),
        (lambda pairs: 1.0 if len(pairs) > N_PROBES else [1.0] * 3, ValueError, "gave float 1.0"),
        (lambda pair: 1.0, ValueError, "one each was wanted"),
        (lambda question, text: 1.0, ValueError, "failed on.*TypeError"),
    ],
)
def test_odd_scores_are_refused_with_the_query_and_the_document(scorer, error, facts):
    with pytest.raises(error, match=facts):
        rerank(FOUND, ALL_QA, scorer, 4, 3)


@pytest.mark.parametrize("scorer", [None, "bge", 5, Encoder, build_bm25(DOCS), ALL_QA])
def test_what_cannot_score_is_refused(scorer):
    with pytest.raises(TypeError, match="scorer must be a function"):
        rerank(FOUND, ALL_QA, scorer, 4, 3)


@pytest.mark.parametrize(
    ("change", "error", "facts"),
    [
        ({"k": 5}, ValueError, "k=5 is above depth=4"),
        ({"k": 0}, ValueError, "k must be"),
        ({"depth": 0}, ValueError, "depth must be"),
        ({"results": {"q1": DOCS}}, KeyError, "no entry for q2"),
        ({"results": {"q1": DOCS, "q2": [{"doc_id": "A"}]}}, KeyError, "q2, rank 1.*content"),
        ({"results": {"q1": [*DOCS, DOCS[0]], "q2": []}}, ValueError, "q1.*'A' appears twice"),
        ({"results": ALL_QA, "all_qa": FOUND}, TypeError, "swapped"),
        ({"all_qa": [{"query_id": "q1"}]}, KeyError, "question"),
        ({"cache": 5}, TypeError, "cache must be"),
    ],
)  # fmt: skip
def test_odd_arguments_are_refused(change, error, facts):
    given = {"results": FOUND, "all_qa": ALL_QA, "scorer": Scorer(), "depth": 4, "k": 3, **change}
    with pytest.raises(error, match=facts):
        rerank(**given)


def test_a_depth_below_the_search_and_other_queries_are_said():
    found = Results({**FOUND, "q9": DOCS}, k=4)
    said = caught(lambda: rerank(found, ALL_QA, Scorer(), depth=10, k=3))
    assert "depth=10" in said[1]
    assert "k=4" in said[1]
    assert "q9" in said[0]
