"""Each step at both sides of its threshold, what failures share, and when to refuse."""

import numpy as np
import pandas as pd
import pytest

from rageval_kit import (
    Results,
    abstention_curve,
    common_traits,
    diagnose,
    evaluate,
    failures,
    hit_rate,
    outcomes,
    recall,
    search_all,
    threshold_for,
)
from rageval_kit.diagnosis import DEFAULT_THRESHOLDS

STEPS = ["Recall@20", "Recall@20 - Recall@10", "MRR@10", "HitRate@10", "accuracy", "faithfulness"]


def pipeline(*ranks_of_queries, depth=20):
    """all_qa and results, from the ranks of each query's relevant documents; None: never found."""
    all_qa, results = [], {}
    for number, ranks in enumerate(ranks_of_queries):
        query_id, relevant = f"q{number:03}", {f"r{i}": rank for i, rank in enumerate(ranks)}
        at = {rank: doc_id for doc_id, rank in relevant.items()}
        results[query_id] = [
            {
                "doc_id": at.get(rank, f"x{rank}"),
                "title": "",
                "content": "It is red and blue and green.",
            }
            for rank in range(1, depth + 1)
        ]
        all_qa.append(
            {
                "query_id": query_id,
                "question": "Which?",
                "relevant_doc_ids": list(relevant),
                "ground_truth": "red",
            }
        )
    return all_qa, results


def first_at(**queries):
    """A pipeline of queries with one relevant document: how many have it at which rank."""
    ranks = {f"at_{rank}": rank for rank in range(1, 21)} | {"never": None}
    return pipeline(*[(ranks[name],) for name, number in queries.items() for _ in range(number)])


def answers_of(all_qa, text="red"):
    return {qa["query_id"]: text for qa in all_qa}


def verdict(step, all_qa, results, answers=None, **options):
    return diagnose(all_qa, results, answers, **options).loc[step, "verdict"]


# ---------------------------------------------------------------- the steps


def test_steps_come_in_the_published_order():
    table = diagnose(*first_at(at_1=2))
    assert table.index.tolist() == STEPS
    assert table.columns.tolist() == [
        "value",
        "low",
        "high",
        "threshold",
        "verdict",
        "meaning",
        "try_next",
    ]


@pytest.mark.parametrize(
    ("step", "queries", "value", "said"),
    [
        ("Recall@20", {"at_1": 16, "never": 4}, 0.8, "ok"),
        ("Recall@20", {"at_1": 15, "never": 5}, 0.75, "problem"),
        ("Recall@20 - Recall@10", {"at_1": 18, "at_11": 2}, 0.1, "ok"),
        ("Recall@20 - Recall@10", {"at_1": 17, "at_20": 3}, 0.15, "problem"),
        ("Recall@20 - Recall@10", {"at_1": 92, "at_15": 3, "never": 5}, 0.03, "ok"),
        ("Recall@20 - Recall@10", {"at_1": 70, "at_15": 25, "never": 5}, 0.25, "problem"),
        ("MRR@10", {"at_2": 20}, 0.5, "ok"),
        ("MRR@10", {"at_2": 19, "at_4": 1}, 0.4875, "problem"),
        ("MRR@10", {"at_1": 10, "at_11": 10}, 0.5, "ok"),
        ("HitRate@10", {"at_10": 18, "never": 2}, 0.9, "ok"),
        ("HitRate@10", {"at_10": 17, "at_11": 3}, 0.85, "problem"),
    ],
)
def test_a_step_of_retrieval_at_both_sides_of_its_threshold(step, queries, value, said):
    row = diagnose(*first_at(**queries)).loc[step]
    assert row["value"] == pytest.approx(value, abs=1e-12)
    assert row["threshold"] == DEFAULT_THRESHOLDS[step]
    assert row["verdict"] == said


@pytest.mark.parametrize(
    ("step", "answer", "value", "said"),
    [
        ("accuracy", "red car tall", 0.5, "ok"),
        ("accuracy", "red car tall wide", 0.4, "problem"),
        ("faithfulness", "red car", 0.5, "ok"),
        ("faithfulness", "red car tall", 1 / 3, "problem"),
    ],
)
def test_an_answers_value_at_both_sides_of_its_threshold(step, answer, value, said):
    all_qa, results = first_at(at_1=4)
    row = diagnose(all_qa, results, answers_of(all_qa, answer), {"accuracy": 0.5}).loc[step]
    assert row["value"] == pytest.approx(value)
    assert row["verdict"] == said


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ({"at_10": 18, "at_11": 2}, "problem"),
        ({"at_10": 17, "at_11": 3}, "cannot tell: Recall@10 is 0.85"),
    ],
)
def test_wrong_answers_are_generations_fault_only_with_a_good_recall(queries, said):
    all_qa, results = first_at(**queries)
    row = diagnose(all_qa, results, answers_of(all_qa, "blue"), {"accuracy": 0.5}).loc["accuracy"]
    assert row["value"] == 0
    assert row["verdict"] == said
    if said != "problem":
        assert (
            row["meaning"] == "answers are wrong, and documents were missing: fix retrieval first"
        )
        assert row["try_next"] == ""


def test_right_answers_are_fine_with_any_recall():
    all_qa, results = first_at(never=4)
    answers = answers_of(all_qa)
    assert verdict("accuracy", all_qa, results, answers, thresholds={"accuracy": 0.5}) == "ok"


@pytest.mark.parametrize("answer", ["red", "blue"])
def test_an_f1_is_not_judged_without_a_threshold(answer):
    all_qa, results = first_at(at_1=4)
    table = diagnose(all_qa, results, answers_of(all_qa, answer))
    row = table.loc["accuracy"]
    assert row["value"] == row["low"] == row["high"] == (answer == "red")
    assert np.isnan(row["threshold"])
    assert row["verdict"] == "cannot tell: no threshold"
    assert row["meaning"].startswith("an F1 means nothing by itself")
    assert "thresholds={'accuracy'" in row["try_next"]
    assert table.attrs["look_here_first"] != "accuracy"


def test_thirds_that_add_up_to_a_threshold_are_no_problem():
    found, missed, late = (1, 2, 3), (1, 2, None), (1, 2, 11)
    assert verdict("Recall@20", *pipeline(found, found, missed, missed, missed)) == "ok"
    assert verdict("Recall@20 - Recall@10", *pipeline(*[found] * 7, *[late] * 3)) == "ok"


def test_a_problem_says_what_it_means_and_what_to_try():
    all_qa, results = first_at(at_4=10, at_11=4, never=6)
    table = diagnose(all_qa, results, answers_of(all_qa, "car tall"))
    assert table.loc["Recall@20", ["meaning", "try_next"]].tolist() == [
        "the candidate pool misses documents",
        "another embedding model, another chunking, hybrid dense + sparse search, query rewriting",
    ]
    assert table.loc["Recall@20 - Recall@10", ["meaning", "try_next"]].tolist() == [
        "documents are found but ranked too low",
        "a cross-encoder reranker",
    ]
    assert table.loc["MRR@10", ["meaning", "try_next"]].tolist() == [
        "the first relevant document comes late",
        "reranker scores, metadata boosts",
    ]
    assert table.loc["HitRate@10", "meaning"].startswith("total failures")
    assert (
        table.loc["HitRate@10", "try_next"] == "query expansion, more data, the model's token limit"
    )
    assert table.loc["faithfulness", "try_next"] == "prompt, context format, another model"


def test_a_step_that_is_fine_says_nothing_to_try():
    all_qa, results = first_at(at_1=4)
    table = diagnose(all_qa, results, answers_of(all_qa), {"accuracy": 0.5})
    assert set(table["verdict"]) == {"ok"}
    assert set(table["meaning"]) == {"fine"}
    assert set(table["try_next"]) == {""}


def test_queries_without_relevant_document_are_left_out():
    all_qa, results = first_at(at_1=4)
    all_qa.append({"query_id": "u", "question": "?", "relevant_doc_ids": []})
    results["u"] = results["q000"]
    assert diagnose(all_qa, results)["value"].tolist()[:4] == [1, 0, 1, 1]


# ---------------------------------------------------------------- intervals


def test_an_interval_holds_the_value():
    all_qa, results = first_at(at_1=6, at_3=3, at_12=2, never=1)
    table = diagnose(all_qa, results, answers_of(all_qa, "red car"))
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert (table.loc[STEPS[:4], "low"] < table.loc[STEPS[:4], "high"]).all()


def test_an_interval_of_equal_values_has_no_width():
    row = diagnose(*first_at(at_2=5)).loc["MRR@10"]
    assert (row["low"], row["high"]) == (0.5, 0.5)


def test_an_interval_has_the_width_of_a_share():
    row = diagnose(*first_at(at_1=50, never=50)).loc["HitRate@10"]
    half = 1.96 * np.sqrt(0.5 * 0.5 / 100)
    assert row["low"] == pytest.approx(0.5 - half, abs=0.02)
    assert row["high"] == pytest.approx(0.5 + half, abs=0.02)


def test_intervals_come_from_the_seed():
    data = first_at(at_1=20, at_3=10, at_7=13, never=7)
    assert diagnose(*data, seed=1).equals(diagnose(*data, seed=1))
    assert not diagnose(*data, seed=1).equals(diagnose(*data, seed=2))


# ---------------------------------------------------------------- thresholds


@pytest.mark.parametrize(
    ("step", "threshold", "said"),
    [
        ("Recall@20", 0.6, "ok"),
        ("Recall@20", 0.95, "problem"),
        ("Recall@20 - Recall@10", 0.05, "problem"),
        ("Recall@20 - Recall@10", 0.3, "ok"),
        ("MRR@10", 0.9, "problem"),
        ("HitRate@10", 0.8, "ok"),
        ("accuracy", 0.7, "problem"),
        ("faithfulness", 0.6, "problem"),
    ],
)
def test_a_threshold_can_be_given(step, threshold, said):
    all_qa, results = first_at(at_1=16, at_11=2, never=2)
    table = diagnose(
        all_qa, results, answers_of(all_qa, "red car"), {"Recall@10": 0.5, step: threshold}
    )
    assert table.loc[step, "threshold"] == threshold
    assert table.loc[step, "verdict"] == said
    assert table.attrs["thresholds"] == DEFAULT_THRESHOLDS | {"Recall@10": 0.5, step: threshold}


def test_the_recall_from_which_generation_is_blamed_can_be_given():
    all_qa, results = first_at(at_1=6, never=4)
    wrong = answers_of(all_qa, "blue")
    for recall_10, said in ((0.9, "cannot tell: Recall@10 is 0.60"), (0.6, "problem")):
        thresholds = {"accuracy": 0.5, "Recall@10": recall_10}
        assert verdict("accuracy", all_qa, results, wrong, thresholds=thresholds) == said


def test_an_unknown_threshold_is_refused_and_the_known_named():
    with pytest.raises(
        ValueError,
        match=r"No threshold is called 'Recall@5'; there are: Recall@20, .*, faithfulness",
    ):
        diagnose(*first_at(at_1=2), thresholds={"Recall@5": 0.5})


# ---------------------------------------------------------------- what cannot be told


def test_results_of_depth_10_cannot_tell_the_pool():
    table = diagnose(*pipeline((1,), (2,), depth=10))
    for step in ("Recall@20", "Recall@20 - Recall@10"):
        assert (
            table.loc[step, "verdict"] == "cannot tell: the results have depth 10: search with k=20"
        )
        assert table.loc[step, "meaning"] == "not measured"
        assert table.loc[step, ["value", "low", "high"]].isna().all()
    assert table.loc[["MRR@10", "HitRate@10"], "verdict"].tolist() == ["ok", "ok"]


def test_results_of_depth_5_cannot_tell_anything_about_retrieval():
    all_qa, results = pipeline((1,), (2,), depth=5)
    table = diagnose(all_qa, results, answers_of(all_qa, "blue"), {"accuracy": 0.5})
    said = "cannot tell: the results have depth 5: search with k=20"
    assert table.loc[STEPS[:4], "verdict"].tolist() == [said] * 4
    assert table.loc["accuracy", "verdict"] == "cannot tell: Recall@10 is not known"
    assert table.loc["faithfulness", "verdict"] == "ok"


def test_a_search_to_20_in_a_small_store_is_deep_enough():
    all_qa, results = pipeline((1,), (2,), depth=12)
    assert verdict("Recall@20", all_qa, Results(results, k=20)) == "ok"


def test_a_table_of_results_is_taken():
    all_qa, results = first_at(at_1=2, at_11=2)
    expected = diagnose(all_qa, results)
    pd.testing.assert_frame_equal(diagnose(all_qa, Results(results, k=20).to_frame()), expected)


def test_without_answers_generation_cannot_be_told():
    table = diagnose(*first_at(at_1=2))
    assert (
        table.loc[["accuracy", "faithfulness"], "verdict"].tolist()
        == ["cannot tell: no answers were given"] * 2
    )


def test_no_answer_cannot_be_told():
    assert verdict("accuracy", *first_at(at_1=2), answers={}) == "cannot tell: there is no answer"


def test_without_ground_truth_only_accuracy_cannot_be_told():
    all_qa, results = first_at(at_1=2)
    bare = [
        {field: qa[field] for field in ("query_id", "question", "relevant_doc_ids")}
        for qa in all_qa
    ]
    table = diagnose(bare, results, answers_of(all_qa))
    assert table.loc["accuracy", "verdict"] == "cannot tell: all_qa has no ground_truth"
    assert table.loc["faithfulness", "verdict"] == "ok"


def test_refusals_alone_cannot_tell_faithfulness():
    all_qa, results = first_at(at_1=2)
    refused = answers_of(all_qa, "The documents do not say.")
    assert (
        verdict("faithfulness", all_qa, results, refused)
        == "cannot tell: no answer has content words"
    )


def test_without_a_relevant_document_nothing_can_be_told():
    all_qa, results = first_at(at_1=2)
    table = diagnose([qa | {"relevant_doc_ids": []} for qa in all_qa], results)
    assert set(table["verdict"][:4]) == {"cannot tell: no query has a value"}
    assert table.attrs["look_here_first"] is None


# ---------------------------------------------------------------- three broken pipelines


def test_a_poor_pool_is_found():
    all_qa, results = first_at(at_1=13, at_2=1, never=6)
    table = diagnose(all_qa, results, answers_of(all_qa, "blue"), {"accuracy": 0.5})
    assert table.attrs["look_here_first"] == "Recall@20"
    assert table.loc[["Recall@20 - Recall@10", "MRR@10"], "verdict"].tolist() == ["ok", "ok"]
    assert table.loc["accuracy", "verdict"] == "cannot tell: Recall@10 is 0.70"


def test_a_good_pool_badly_ranked_is_found():
    all_qa, results = first_at(at_1=4, at_6=7, at_13=5, at_20=3, never=1)
    table = diagnose(all_qa, results, answers_of(all_qa, "blue"))
    assert table.attrs["look_here_first"] == "Recall@20 - Recall@10"
    assert table.loc["Recall@20", "verdict"] == "ok"
    assert table.loc["MRR@10", "verdict"] == "problem"


def test_a_first_document_that_comes_late_is_found():
    table = diagnose(*first_at(at_1=4, at_6=16))
    assert table.attrs["look_here_first"] == "MRR@10"


def test_a_careless_answerer_is_found():
    all_qa, results = first_at(at_1=17, at_2=2, at_12=1)
    careless = answers_of(all_qa, "a yellow car")
    for thresholds, first in ((None, "faithfulness"), ({"accuracy": 0.5}, "accuracy")):
        table = diagnose(all_qa, results, careless, thresholds)
        assert table.attrs["look_here_first"] == first
        assert set(table["verdict"][:4]) == {"ok"}
        assert table.loc["faithfulness", "verdict"] == "problem"


def test_answers_that_are_right_from_elsewhere_are_found():
    all_qa, results = first_at(at_1=10)
    all_qa = [qa | {"ground_truth": "yellow"} for qa in all_qa]
    assert (
        diagnose(all_qa, results, answers_of(all_qa, "yellow")).attrs["look_here_first"]
        == "faithfulness"
    )


def test_a_sound_pipeline_has_nothing_to_look_at():
    all_qa, results = first_at(at_1=10)
    assert diagnose(all_qa, results, answers_of(all_qa)).attrs["look_here_first"] is None


# ---------------------------------------------------------------- outcomes


def test_outcomes():
    all_qa, results = pipeline((1, 2), (1, 11), (11, 12), (3, None), ())
    assert outcomes(all_qa, results).tolist() == [
        "complete",
        "partial",
        "failed",
        "partial",
        "excluded",
    ]
    assert outcomes(all_qa, results).index.tolist() == [qa["query_id"] for qa in all_qa]


def test_outcomes_at_another_cutoff():
    all_qa, results = pipeline((1, 2), (1, 11), (11, 12))
    assert outcomes(all_qa, results, k=1).tolist() == ["partial", "partial", "failed"]
    assert outcomes(all_qa, results, k=12).tolist() == ["complete"] * 3


def test_outcomes_follow_hit_and_recall():
    all_qa, results = pipeline(*[(rank, other) for rank in (1, 9, 12) for other in (2, 14, None)])
    hits, found = (
        hit_rate(all_qa, results, 10)["HitRate@10"],
        recall(all_qa, results, 10)["Recall@10"],
    )
    classes = outcomes(all_qa, results)
    assert classes[hits == 0].unique().tolist() == ["failed"]
    assert classes[(hits == 1) & (found < 1)].unique().tolist() == ["partial"]
    assert classes[found == 1].unique().tolist() == ["complete"]


def test_13_failures_of_100_are_a_hit_rate_of_087():
    all_qa, results = first_at(at_1=87, never=13)
    assert (outcomes(all_qa, results) == "failed").sum() == 13
    assert evaluate(all_qa, results, ks=10, metrics=["HitRate"]).loc["HitRate", 10] == 0.87
    assert len(failures(all_qa, results)) == 13


@pytest.mark.parametrize("k", [0, True, 1.5])
@pytest.mark.parametrize("function", [outcomes, failures])
def test_k_must_be_a_positive_integer(function, k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        function(*first_at(at_1=1), k=k)


# ---------------------------------------------------------------- failures


def hit(doc_id, content="", score=None, title=""):
    return {"doc_id": doc_id, "title": title, "content": content or doc_id} | (
        {} if score is None else {"score": score}
    )


def question(text, relevant=("A",), query_id="q", **more):
    return {"query_id": query_id, "question": text, "relevant_doc_ids": relevant, **more}


def traits_of(qa, hits, docs=None, k=10, others=()):
    """The traits of the one failed or late query q that are True."""
    results = {"q": hits} | {other["query_id"]: [hit("A")] for other in others}
    row = failures([qa, *others], results, k=k, docs=docs).loc["q"]
    return {name for name, value in row.items() if value is True or value is np.True_}


def test_failed_queries_come_first_then_the_latest():
    all_qa, results = pipeline((1,), (3,), (None,), (2,), (11,), (7,))
    table = failures(all_qa, results)
    assert table.index.tolist() == ["q002", "q004", "q005", "q001", "q003"]
    assert table["first_relevant_rank"].tolist()[2:] == [7, 3, 2]
    assert table["first_relevant_rank"][:2].isna().all()
    assert table.index.name == "query_id"


def test_a_query_fails_at_the_cutoff():
    all_qa, results = pipeline((3,), (4,))
    assert failures(all_qa, results, k=3)["first_relevant_rank"].isna().to_dict() == {
        "q001": True,
        "q000": False,
    }


def test_what_came_instead_is_named():
    hits = [hit("B", title="Bees"), hit("C", title=None), hit("D"), hit("E"), hit("A")]
    table = failures([question("Which?")], {"q": hits})
    assert table.loc["q", "came_instead"] == "B Bees; C; D"
    assert table.loc["q", "question"] == "Which?"


def test_only_what_came_before_is_named():
    assert (
        failures([question("Which?")], {"q": [hit("B"), hit("A"), hit("C")]}).loc[
            "q", "came_instead"
        ]
        == "B"
    )


def test_of_a_failed_query_the_first_k_are_looked_at():
    assert (
        failures([question("Which?")], {"q": [hit("B"), hit("C"), hit("A")]}, k=2).loc[
            "q", "came_instead"
        ]
        == "B; C"
    )


def test_a_query_that_found_nothing_failed():
    table = failures([question("Which?")], {"q": []})
    assert table.loc["q", "came_instead"] == ""
    assert np.isnan(table.loc["q", "first_relevant_rank"])


def test_a_query_without_relevant_document_is_no_failure():
    table = failures(
        [question("Which?"), question("?", [], "u")], {"q": [hit("B")], "u": [hit("B")]}
    )
    assert table.index.tolist() == ["q"]
    assert table.attrs["evaluated"] == 1


def test_a_long_question():
    others = [question("one two three", query_id=f"o{number}") for number in range(4)]
    assert "long" in traits_of(question("one two three four"), [hit("B")], others=others)
    assert "long" not in traits_of(question("one two three"), [hit("B")], others=others)


DOCS = [
    hit("A", "수강 신청은 포털에서 한다.", title="학사 일정"),
    hit("B", "The library lends books."),
]


@pytest.mark.parametrize("text", ["수강 신청 꿀팁 공유", "LMS 접속?", "광클 수강"])
def test_words_that_no_document_has(text):
    assert "unknown words" in traits_of(question(text), [hit("B")], DOCS)


@pytest.mark.parametrize(
    "text", ["수강 신청 꿀팁", "학사 일정", "포털에서는?", "이것은 있나요?", "Library BOOK"]
)
def test_words_that_a_document_has(text):
    assert "unknown words" not in traits_of(question(text), [hit("B")], DOCS)


def test_copies_on_top():
    assert "copies on top" in traits_of(
        question("?"), [hit("B", "one  text"), hit("C", "one text\n"), hit("A")]
    )
    assert "copies on top" not in traits_of(
        question("?"), [hit("B", "one text"), hit("C", "other text"), hit("A")]
    )


def test_copies_below_the_cutoff_are_not_on_top():
    hits = [hit("B", "one text"), hit("D", "other"), hit("C", "one text")]
    assert "copies on top" not in traits_of(question("?"), hits, k=2)


def test_hits_without_content_are_no_copies():
    assert "copies on top" not in traits_of(
        question("?"), [{"doc_id": "B"}, {"doc_id": "C"}, {"doc_id": "A"}]
    )


@pytest.mark.parametrize(
    ("top", "first", "close"),
    [
        (1.0, 1.05, True),
        (1.0, 1.06, False),
        (0.8, 0.76, True),
        (0.8, 0.75, False),
        (0.0, 0.0, True),
        (-1.0, -1.05, True),
    ],
)
def test_a_close_second(top, first, close):
    assert (
        "close second" in traits_of(question("?"), [hit("B", score=top), hit("A", score=first)])
    ) is close


def test_without_scores_nothing_is_close():
    assert "close second" not in traits_of(question("?"), [hit("B"), hit("A")])


def test_a_failed_query_has_no_close_second():
    assert "close second" not in traits_of(
        question("?"), [hit("B", score=1.0), hit("C", score=1.0)]
    )


@pytest.mark.parametrize(
    ("text", "relevant", "other"),
    [
        ("도서관 책?", ["B"], True),
        ("Which book?", ["B"], False),
        ("Which portal?", ["A"], True),
        ("수강 신청?", ["A"], False),
        ("수강 신청?", ["A", "B"], False),
        ("수강 신청?", {"A": 0, "B": 1}, True),
        ("수강 신청?", ["Z"], False),
    ],
)
def test_another_language_than_every_relevant_document(text, relevant, other):
    assert ("other language" in traits_of(question(text, relevant), [hit("X")], DOCS)) is other


def test_a_corpus_as_a_table_is_taken():
    assert "other language" in traits_of(
        question("도서관 책?", ["B"]), [hit("X")], pd.DataFrame(DOCS)
    )


def test_without_a_corpus_its_traits_are_not_there():
    table = failures([question("?")], {"q": [hit("B")]})
    assert not {"unknown words", "other language"} & set(table.columns)


def test_kinds_are_traits():
    others = [question("?", query_id="o", kind="keyword")]
    table = failures([question("?", kind="typo"), *others], {"q": [hit("B")], "o": [hit("A")]})
    assert table.loc["q", ["kind: keyword", "kind: typo"]].tolist() == [False, True]


def test_no_failures_are_an_empty_table():
    table = failures(*pipeline((1,), (1, None)))
    assert len(table) == 0
    assert table.columns.tolist() == [
        "question",
        "first_relevant_rank",
        "came_instead",
        "long",
        "copies on top",
        "close second",
    ]
    assert table.index.name == "query_id"


def test_results_as_a_table_are_taken():
    all_qa, results = pipeline((1,), (3,), (None,))
    table = failures(all_qa, Results(results, k=20).to_frame())
    assert table["first_relevant_rank"].tolist()[1:] == [3]
    assert table.loc["q001", "came_instead"] == "x1; x2"


def test_judgements_as_a_table_are_taken():
    qrels = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["A", "B"], "relevance": [1, 0]})
    assert failures(qrels, {"q": [hit("B"), hit("A")]}, docs=DOCS).loc["q", "came_instead"] == "B"


# ---------------------------------------------------------------- what they have in common


def typos_and_keywords():
    """Four typos that fail (one is late), a keyword query that fails, and three that do not."""
    kinds = {
        "t1": "typo",
        "t2": "typo",
        "t3": "typo",
        "t4": "typo",
        "k1": "keyword",
        "k2": "keyword",
        "k3": "keyword",
    }
    all_qa = [question("Which?", query_id=query_id, kind=kind) for query_id, kind in kinds.items()]
    results = {
        query_id: [hit("A")] if query_id in ("k2", "k3") else [hit("B")] for query_id in kinds
    }
    return all_qa, results | {"t1": [hit("B"), hit("A")]}


def test_common_traits_count_queries_and_shares():
    table = common_traits(failures(*typos_and_keywords()))
    assert table.columns.tolist() == ["queries", "share", "share_of_all", "examples"]
    assert table.index.name == "trait"
    assert table.loc["kind: typo"].tolist() == [4, 4 / 5, pytest.approx(4 / 7), "t2, t3, t4"]
    assert table.loc["kind: keyword"].tolist() == [1, 1 / 5, pytest.approx(3 / 7), "k1"]
    assert table.loc["long"].tolist() == [0, 0, 0, ""]


def test_common_traits_put_the_largest_excess_first():
    table = common_traits(failures(*typos_and_keywords()))
    excess = table["share"] - table["share_of_all"]
    assert table.index[0] == "kind: typo"
    assert table.index[-1] == "kind: keyword"
    assert excess.is_monotonic_decreasing


def test_common_traits_name_every_trait():
    table = common_traits(failures([question("?", kind="typo")], {"q": [hit("B")]}, docs=DOCS))
    assert set(table.index) == {
        "long",
        "unknown words",
        "other language",
        "copies on top",
        "close second",
        "kind: typo",
    }


def test_marks_that_became_texts_are_refused():
    failed = failures(*typos_and_keywords())
    texts = failed.astype(str)
    texts.attrs = failed.attrs
    with pytest.raises(TypeError, match="must be True or False, found '(True|False)'"):
        common_traits(texts)


def test_common_traits_of_no_failures():
    table = common_traits(failures([question("Which?", kind="typo")], {"q": [hit("A")]}))
    assert table.loc["kind: typo"].tolist() == [0, 0, 1, ""]
    assert table["queries"].tolist() == [0] * len(table)


def test_common_traits_of_no_evaluated_query():
    assert common_traits(failures([question("?", [])], {"q": [hit("A")]})).empty


def test_common_traits_of_another_table_are_refused():
    with pytest.raises(
        ValueError, match="This table has no attrs of the kit: pass what failures returned"
    ):
        common_traits(pd.DataFrame({"long": [True]}))


# ---------------------------------------------------------------- when to refuse

# Best distances: answerable 0.1, 0.3, 0.3, 0.7; unanswerable 0.4, 0.7.
ABSTENTION_QA = [
    *({"query_id": f"a{number}", "relevant_doc_ids": ["d1"]} for number in range(4)),
    {"query_id": "u0", "relevant_doc_ids": []},
    {"query_id": "u1", "relevant_doc_ids": {"d1": 0}},
]
DISTANCES = {"a0": 0.1, "a1": 0.3, "a2": 0.3, "a3": 0.7, "u0": 0.4, "u1": 0.7}
BY_DISTANCE = {
    query_id: [{"doc_id": "d1", "score": best}, {"doc_id": "d2", "score": 0.9}]
    for query_id, best in DISTANCES.items()
}
BY_SIMILARITY = {
    query_id: [hit | {"score": 1 - hit["score"]} for hit in hits]
    for query_id, hits in BY_DISTANCE.items()
}


def test_abstention_by_distance():
    curve = abstention_curve(ABSTENTION_QA, BY_DISTANCE)
    assert curve.columns.tolist() == ["threshold", "unanswerable_answered", "answerable_refused"]
    assert np.isnan(curve["threshold"][0])
    assert curve["threshold"][1:].tolist() == [0.1, 0.3, 0.4, 0.7]
    assert curve["unanswerable_answered"].tolist() == [0, 0, 0, 0.5, 1]
    assert curve["answerable_refused"].tolist() == [1, 0.75, 0.25, 0.25, 0]
    assert curve.attrs == {"lower_is_better": True, "answerable": 4, "n": 6}


def test_abstention_by_similarity():
    curve = abstention_curve(ABSTENTION_QA, BY_SIMILARITY)
    assert curve["threshold"][1:].tolist() == pytest.approx([0.9, 0.7, 0.6, 0.3])
    assert curve["unanswerable_answered"].tolist() == [0, 0, 0, 0.5, 1]
    assert curve["answerable_refused"].tolist() == [1, 0.75, 0.25, 0.25, 0]
    assert curve.attrs["lower_is_better"] is False


@pytest.mark.parametrize("results", [BY_DISTANCE, BY_SIMILARITY])
def test_the_curve_counts_what_its_threshold_does(results):
    curve = abstention_curve(ABSTENTION_QA, results)
    sign = 1 if curve.attrs["lower_is_better"] else -1
    for row in curve[1:].itertuples():
        answered = {
            query_id
            for query_id, hits in results.items()
            if sign * hits[0]["score"] <= sign * row.threshold
        }
        assert row.unanswerable_answered == len(answered & {"u0", "u1"}) / 2
        assert row.answerable_refused == 1 - len(answered - {"u0", "u1"}) / 4


def test_abstention_of_a_search_knows_the_direction(vectorstore, lecture_ko):
    all_qa = [
        *lecture_ko.all_qa[:3],
        {"query_id": "u", "question": "김치찌개 끓이는 법?", "relevant_doc_ids": []},
    ]
    curve = abstention_curve(all_qa, search_all(vectorstore, all_qa, k=1))
    assert curve.attrs["lower_is_better"]
    assert threshold_for(curve, 0)["answerable_refused"] == 0


def test_abstention_of_a_table_is_read_by_its_direction(vectorstore, lecture_ko):
    all_qa = [
        *lecture_ko.all_qa[:3],
        {"query_id": "u", "question": "김치찌개 끓이는 법?", "relevant_doc_ids": []},
    ]
    results = search_all(vectorstore, all_qa, k=2)
    assert abstention_curve(all_qa, results.to_frame()).equals(abstention_curve(all_qa, results))


@pytest.mark.parametrize("kept", ["a", "u"])
def test_both_kinds_are_needed(kept):
    all_qa = [qa for qa in ABSTENTION_QA if qa["query_id"].startswith(kept)]
    with pytest.raises(
        ValueError,
        match="Both kinds are needed: queries with relevant documents, and queries without",
    ):
        abstention_curve(all_qa, BY_DISTANCE)


@pytest.mark.parametrize("hits", [[], [{"doc_id": "d1"}]])
def test_a_query_without_score_is_named(hits):
    with pytest.raises(ValueError, match="a1 has no hit with a score"):
        abstention_curve(ABSTENTION_QA, BY_DISTANCE | {"a1": hits})


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="a1, rank 1: the score is NaN"):
        abstention_curve(
            ABSTENTION_QA, BY_DISTANCE | {"a1": [{"doc_id": "d1", "score": float("nan")}]}
        )


def test_scores_of_single_hits_do_not_tell_their_direction():
    with pytest.raises(ValueError, match="The scores do not tell whether lower is better"):
        abstention_curve(
            ABSTENTION_QA, {query_id: hits[:1] for query_id, hits in BY_DISTANCE.items()}
        )


def test_scores_that_rise_and_fall_do_not_tell_their_direction():
    with pytest.raises(ValueError, match="The scores do not tell whether lower is better"):
        abstention_curve(ABSTENTION_QA, BY_DISTANCE | {"a0": BY_SIMILARITY["a0"]})


@pytest.mark.parametrize(
    ("rate", "threshold"), [(0, 0.3), (0.4, 0.3), (0.5, 0.3), (0.99, 0.3), (1, 0.7)]
)
def test_the_threshold_for_a_rate(rate, threshold):
    assert (
        threshold_for(abstention_curve(ABSTENTION_QA, BY_DISTANCE), rate)["threshold"] == threshold
    )


def test_the_threshold_for_no_rate_may_be_to_answer_nothing():
    distances = BY_DISTANCE | {
        "u0": [{"doc_id": "d1", "score": 0.05}, {"doc_id": "d2", "score": 0.9}]
    }
    chosen = threshold_for(abstention_curve(ABSTENTION_QA, distances), 0.2)
    assert np.isnan(chosen["threshold"])
    assert chosen["answerable_refused"] == 1


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), 20])
def test_a_rate_is_a_share(rate):
    with pytest.raises(ValueError, match="unanswerable_answered is a share between 0 and 1"):
        threshold_for(abstention_curve(ABSTENTION_QA, BY_DISTANCE), rate)
