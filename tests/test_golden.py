"""The published worked figures, copied here so that a clone without the golden files can check them."""

from math import log2

import pytest
from conftest import hits, query

from rageval_kit import (
    evaluate,
    hit_rate,
    mrr,
    ndcg,
    per_query,
    precision,
    recall,
    relevance_matrix,
    validate_dataset,
)


def marked(relevance, total_relevant):
    """One query whose ranking has the relevance 0 or 1 at each rank, and total_relevant relevant documents."""
    ranking = [
        f"rel{rank}" if relevant else f"other{rank}" for rank, relevant in enumerate(relevance)
    ]
    found = [doc_id for doc_id in ranking if doc_id.startswith("rel")]
    never_found = [f"missed{i}" for i in range(total_relevant - len(found))]
    return [query(found + never_found)], {"q1": hits(*ranking)}


def at_ranks(*ranks, depth=10):
    """One query that finds all its relevant documents, at these ranks."""
    return marked([rank in ranks for rank in range(1, depth + 1)], len(ranks))


# ---------------------------------------------------------------- lecture.json

TITLES_KO = {
    "doc_001": "트랜스포머 아키텍처",
    "doc_002": "RAG 시스템 개요",
    "doc_003": "벡터 임베딩과 유사도 검색",
    "doc_004": "프롬프트 엔지니어링",
    "doc_005": "파인튜닝과 전이학습",
    "doc_006": "토큰화와 텍스트 전처리",
    "doc_007": "LLM 평가 메트릭",
    "doc_008": "청킹 전략",
    "doc_009": "하이브리드 검색",
    "doc_010": "멀티모달 AI",
    "doc_011": "어텐션 메커니즘의 변형",
    "doc_012": "LLM 양자화 기법",
}


def test_lecture_titles(lecture_ko):
    assert {doc["doc_id"]: doc["title"] for doc in lecture_ko.docs} == TITLES_KO


def test_lecture_documents_added_after_the_first_ten(lecture):
    assert [doc["doc_id"] for doc in lecture.docs if doc["added_later"]] == ["doc_011", "doc_012"]


def test_lecture_queries(lecture):
    assert [qa["query_id"] for qa in lecture.all_qa] == [f"q{i:02d}" for i in range(1, 13)]


def test_lecture_relevant_documents_of_each_query(lecture):
    counts = {qa["query_id"]: len(qa["relevant_doc_ids"]) for qa in lecture.all_qa}
    assert counts == {f"q{i:02d}": 2 if i == 10 else 1 for i in range(1, 13)}


def test_lecture_hit_rate():
    table = hit_rate([query(["doc_001"])], {"q1": hits("doc_001", "doc_005", "doc_002")}, ks=3)
    assert table.loc["q1", "HitRate@3"] == 1


@pytest.mark.parametrize(
    ("first_rank", "expected"), [(1, 1.0), (2, 0.5), (3, 0.333), (5, 0.2), (None, 0.0)]
)
def test_lecture_reciprocal_rank(first_rank, expected):
    all_qa, results = marked([rank == first_rank for rank in range(1, 6)], 1)
    assert round(mrr(all_qa, results, ks=5).loc["q1", "RR@5"], 3) == expected


def test_lecture_ndcg_example():
    all_qa, results = marked([1, 0, 1], 2)
    assert round(ndcg(all_qa, results, ks=3).loc["q1", "nDCG@3"], 3) == 0.920


def test_lecture_dcg_example():
    all_qa, results = marked([1, 0, 1], 2)
    gains = relevance_matrix(all_qa, results, k=3).gains[0]
    assert sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1)) == 1.5


def test_lecture_idcg_example():
    all_qa, results = marked([1, 0, 1], 2)
    ideal = relevance_matrix(all_qa, results, k=3).ideal[0]
    assert round(sum(gain / log2(rank + 1) for rank, gain in enumerate(ideal, start=1)), 3) == 1.631


def eleven_at_rank_1_and_q10_at_1_and_4():
    all_qa = [query([f"doc_{i:03d}"], f"q{i:02d}") for i in range(1, 13)]
    results = {
        qa["query_id"]: hits(*qa["relevant_doc_ids"], "x1", "x2", "x3", "x4") for qa in all_qa
    }
    all_qa[9]["relevant_doc_ids"] = ["doc_010", "doc_003"]
    results["q10"] = hits("doc_010", "x1", "x2", "doc_003", "x3")
    return all_qa, results


@pytest.mark.parametrize(
    ("k", "expected"), [(1, 1.0), (3, 0.9677622660637882), (5, 0.9897679429448374)]
)
def test_lecture_ndcg_over_12_queries(k, expected):
    summary = evaluate(*eleven_at_rank_1_and_q10_at_1_and_4())
    assert summary.loc["nDCG", k] == pytest.approx(expected, abs=1e-15)


def test_lecture_ndcg_of_q10():
    table = ndcg(*eleven_at_rank_1_and_q10_at_1_and_4())
    assert table.loc["q10", "nDCG@5"] == pytest.approx(0.8772153153380493, abs=1e-15)


def test_lecture_mrr_over_12_queries():
    assert evaluate(*eleven_at_rank_1_and_q10_at_1_and_4()).loc["MRR", 5] == 1.0


def test_lecture_precision_example():
    all_qa, results = marked([1, 1, 0, 1, 0], 3)
    assert precision(all_qa, results, ks=5).loc["q1", "Precision@5"] == 0.6


def test_lecture_recall_example():
    all_qa, results = marked([1, 0, 1], 5)
    assert recall(all_qa, results, ks=3).loc["q1", "Recall@3"] == 0.4


def test_lecture_validation_names_the_query_and_the_missing_document(lecture):
    broken = [
        {**qa, "relevant_doc_ids": ["doc_999"]} if qa["query_id"] == "q03" else qa
        for qa in lecture.all_qa
    ]
    report = validate_dataset(lecture.docs, broken)
    assert "q03 -> doc_999" in report.errors[0]


def test_lecture_validation_counts_the_errors(lecture):
    broken = [
        {**qa, "relevant_doc_ids": ["doc_999"]} if qa["query_id"] == "q03" else qa
        for qa in lecture.all_qa
    ]
    assert len(validate_dataset(lecture.docs, broken)) == 1


def test_lecture_validation_of_clean_data_reports_0(lecture):
    assert len(validate_dataset(lecture.docs, lecture.all_qa)) == 0


# ---------------------------------------------------------------- the bundled corpora, really searched


@pytest.fixture
def searched(lecture_search):
    _, all_qa, results = lecture_search
    return all_qa, results


@pytest.mark.parametrize(
    ("k", "expected"), [(1, 1.0), (3, 0.9677622660637882), (5, 0.9897679429448374)]
)
def test_real_lecture_mean_ndcg(searched, k, expected):
    assert evaluate(*searched).loc["nDCG", k] == pytest.approx(expected, abs=1e-15)


def test_real_lecture_ndcg_of_q10(searched):
    assert ndcg(*searched).loc["q10", "nDCG@5"] == pytest.approx(0.8772153153380493, abs=1e-15)


def test_real_lecture_mrr(searched):
    assert evaluate(*searched).loc["MRR", 5] == 1.0


def test_real_lecture_finds_q10_at_ranks_1_and_4(searched):
    gains = relevance_matrix(*searched, k=5).to_frame().loc["q10"]
    assert gains.index[gains > 0].tolist() == [1, 4]


def test_real_lecture_finds_the_other_eleven_at_rank_1(searched):
    gains = relevance_matrix(*searched, k=5).to_frame().drop("q10")
    assert gains[1].tolist() == [1.0] * 11


# ---------------------------------------------------------------- five_metrics.json


@pytest.mark.parametrize("late_rank", [11, 20])
@pytest.mark.parametrize(("k", "expected"), [(5, 0.667), (10, 0.667), (20, 1.0)])
def test_recall_grows_when_a_late_document_comes_within_k(late_rank, k, expected):
    ranking = [
        "chunk_12",
        "chunk_99",
        "chunk_45",
        "chunk_33",
        "chunk_55",
        *(f"other_{rank}" for rank in range(6, 21)),
    ]
    ranking[late_rank - 1] = "chunk_78"
    table = recall(
        [query(["chunk_12", "chunk_45", "chunk_78"])], {"q1": hits(*ranking)}, ks=(5, 10, 20)
    )
    assert round(table.loc["q1", f"Recall@{k}"], 3) == expected


def three_queries_found_first_at_1_3_and_nowhere():
    all_qa = [query(["A"], f"q{i}") for i in (1, 2, 3)]
    return all_qa, {"q1": hits("A", "x"), "q2": hits("x", "y", "A"), "q3": hits("x", "y", "z")}


@pytest.mark.parametrize(("query_id", "expected"), [("q1", 1.0), ("q2", 0.333), ("q3", 0.0)])
def test_reciprocal_rank_of_three_queries(query_id, expected):
    table = mrr(*three_queries_found_first_at_1_3_and_nowhere(), ks=10)
    assert round(table.loc[query_id, "RR@10"], 3) == expected


def test_mrr_of_three_queries():
    assert (
        round(evaluate(*three_queries_found_first_at_1_3_and_nowhere(), ks=10).loc["MRR", 10], 3)
        == 0.444
    )


def test_ndcg_of_relevant_at_2_and_4():
    all_qa, results = marked([0, 1, 0, 1, 0], 2)
    assert round(ndcg(all_qa, results, ks=5).loc["q1", "nDCG@5"], 3) == 0.651


def test_dcg_of_relevant_at_2_and_4():
    all_qa, results = marked([0, 1, 0, 1, 0], 2)
    gains = relevance_matrix(all_qa, results, k=5).gains[0]
    assert round(sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1)), 3) == 1.062


def test_idcg_of_relevant_at_2_and_4():
    all_qa, results = marked([0, 1, 0, 1, 0], 2)
    ideal = relevance_matrix(all_qa, results, k=5).ideal[0]
    assert round(sum(gain / log2(rank + 1) for rank, gain in enumerate(ideal, start=1)), 3) == 1.631


@pytest.mark.parametrize(
    ("rank", "discount"), [(1, 1.0), (2, 0.631), (3, 0.5), (4, 0.431), (5, 0.387), (10, 0.289)]
)
def test_discount_is_the_ndcg_of_one_relevant_document_at_that_rank(rank, discount):
    all_qa, results = at_ranks(rank)
    assert round(ndcg(all_qa, results, ks=10).loc["q1", "nDCG@10"], 3) == discount


@pytest.mark.parametrize(
    ("ranks", "expected"), [((1, 2, 3), 1.0), ((1, 8, 9), 1.0), ((5, 8, 9), 0.2)]
)
def test_mrr_sees_only_the_first_relevant(ranks, expected):
    assert mrr(*at_ranks(*ranks), ks=10).loc["q1", "RR@10"] == expected


def test_ndcg_is_1_when_all_three_come_first():
    assert ndcg(*at_ranks(1, 2, 3), ks=10).loc["q1", "nDCG@10"] == 1.0


def test_ndcg_is_below_1_when_two_of_three_come_late():
    assert 0.5 < ndcg(*at_ranks(1, 8, 9), ks=10).loc["q1", "nDCG@10"] < 1.0


def test_ndcg_is_low_when_all_three_come_late():
    assert ndcg(*at_ranks(5, 8, 9), ks=10).loc["q1", "nDCG@10"] < 0.5


def test_ndcg_is_below_1_where_the_ideal_of_the_retrieved_alone_would_give_1():
    all_qa, results = marked(
        [1, 0, 0], 5
    )  # a perfect order of what came back, and four never came back
    table = per_query(all_qa, results, ks=3)
    assert table.loc["q1", "Recall@3"] < 1.0
    assert round(table.loc["q1", "nDCG@3"], 3) == 0.469


def test_hit_rate_of_100_queries_of_which_13_fail():
    all_qa = [query(["A"], f"q{i:03d}") for i in range(100)]
    results = {
        qa["query_id"]: hits("x", "y") if i < 13 else hits("x", "A") for i, qa in enumerate(all_qa)
    }
    assert hit_rate(all_qa, results, ks=10)["HitRate@10"].mean() == 0.87


@pytest.mark.parametrize(
    ("found", "hit", "complete"),
    [((), False, False), (("A",), True, False), (("A", "B"), True, True)],
    ids=["total failure", "partial", "complete"],
)
def test_outcome_of_a_query_at_10(found, hit, complete):
    row = per_query([query(["A", "B"])], {"q1": hits("x", *found)}, ks=10).loc["q1"]
    assert (row["HitRate@10"] == 1, row["Recall@10"] == 1) == (hit, complete)
