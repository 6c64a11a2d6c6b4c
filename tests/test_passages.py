"""Gold passages: read, matched with the hits of any chunking, cut to one context, scored."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from conftest import caught, hits, ids, scored

from rageval_kit import (
    Results,
    build_vectorstore,
    cut_results,
    evaluate,
    explain,
    match_passages,
    passage_scores,
    per_query,
    precision_omega,
    search_all,
    split_documents,
    validate_dataset,
)
from rageval_kit.formulas import METRICS

TEXT = "aaaaaaaaaaBBBBBBBBBBccccccccccDDDDDDDDDDeeeeeeeeeeffffffffff"
TWO = [[10, 20], [30, 40]]


def chunks_of(*spans, doc_id="d", text=TEXT):
    """Chunks d1, d2, ... of a document that stand at these spans."""
    return [
        {
            "doc_id": f"{doc_id}{number}",
            "title": "",
            "content": text[start:end],
            "source_id": doc_id,
            "start": start,
            "end": end,
        }
        for number, (start, end) in enumerate(spans, start=1)
    ]


def asking_for(*spans, query_id="q1", doc_id="d"):
    passages = [{"doc_id": doc_id, "start": start, "end": end} for start, end in spans]
    return [{"query_id": query_id, "relevant_passages": passages}]


def asking_text(*texts, doc_id="d"):
    passages = [{"doc_id": doc_id, "text": text} for text in texts]
    return [{"query_id": "q1", "question": "?", "relevant_passages": passages}]


def found(chunks, all_qa, *ranking, **options):
    return ids(match_passages({"q1": hits(*ranking)}, chunks, all_qa, **options).results["q1"])


FOUR = chunks_of([0, 20], [15, 35], [30, 50], [45, 60])


# ---------------------------------------------------------------- three published examples, by hand

OTHER = chunks_of([0, 20], doc_id="other", text="x" * 20)
TOUCHING = [*chunks_of([0, 10], [10, 30], [30, 60]), *OTHER]
TINY = {
    # name: (chunks, ranking, recall, precision, IoU, omega, omega of strict)
    "both excerpts": (FOUR, ["d1", "d3"], "1", "1/2", "1/2", "2/5", "2/5"),
    "overlap twice": (FOUR, ["d2", "d1"], "3/4", "3/8", "1/3", "2/5", "2/5"),
    "another document": (TOUCHING, ["d1", "d2", "other1"], "1/2", "1/5", "1/6", "1/3", "2/5"),
}


@pytest.mark.parametrize("name", TINY)
def test_the_published_examples(name):
    chunks, ranking, *wanted = TINY[name]
    all_qa = asking_for(*TWO)
    scores = passage_scores({"q1": hits(*ranking)}, chunks, all_qa).loc["q1"]
    omegas = [precision_omega(chunks, all_qa, strict).iloc[0, 0] for strict in (False, True)]
    measured = [scores["Recall"], scores["Precision"], scores["IoU"], *omegas]
    assert measured == pytest.approx([float(Fraction(value)) for value in wanted], abs=1e-12)


def test_passages_of_two_documents_and_passages_that_overlap_count_each_character_once():
    chunks = [*FOUR, *chunks_of([0, 10], [10, 20], doc_id="other", text="x" * 20)]
    passages = [*asking_for([10, 20], [15, 30])[0]["relevant_passages"],
                {"doc_id": "other", "start": 5, "end": 15}]  # fmt: skip
    all_qa = [{"query_id": "q1", "relevant_passages": passages}]
    scores = passage_scores({"q1": hits("d1", "other1")}, chunks, all_qa).loc["q1"]
    assert scores.tolist() == pytest.approx([15 / 30, 15 / 30, 15 / 45])
    assert precision_omega(chunks, all_qa, strict=True).iloc[0, 0] == pytest.approx(30 / 55)


def test_scores_of_a_query_without_passages_are_nan_and_of_one_without_hits_0():
    all_qa = [*asking_for(*TWO), {"query_id": "q2", "relevant_passages": []}]
    scores = passage_scores({"q1": [], "q2": hits("d1")}, FOUR, all_qa)
    assert scores.loc["q1"].tolist() == [0, 0, 0]
    assert scores.loc["q2"].isna().all()
    assert precision_omega(FOUR, all_qa)["Precision-omega"].isna().tolist() == [False, True]
    assert scores.attrs == {"evaluated": 1, "excluded": 1}


def test_a_query_without_results_scores_0_and_is_named():
    with pytest.warns(UserWarning, match="no results for 1 query .*q1"):
        scores = passage_scores({}, FOUR, asking_for(*TWO))
    assert scores.loc["q1"].tolist() == [0, 0, 0]


# ---------------------------------------------------------------- matching

PASSAGES = asking_for(*TWO)
B, D = "d:10-20", "d:30-40"


def test_a_hit_that_holds_a_passage_stands_under_its_name():
    assert found(FOUR, PASSAGES, "d4", "d1", "d3") == ["d4", B, D]


def test_the_queries_that_come_back_have_the_passages_as_relevant_documents():
    gold = match_passages({"q1": hits("d1")}, FOUR, PASSAGES).all_qa
    assert gold == [{**PASSAGES[0], "relevant_doc_ids": [B, D]}]


def test_the_queries_are_the_same_for_every_chunking():
    docs = [{"doc_id": "d", "title": "", "content": "Pay by May.\n\nNo refund.\n\nAsk us."}]
    all_qa = asking_text("by May", "No refund.\nAsk")
    golds = []
    for size in (8, 15, 100):
        chunks = split_documents(docs, size)
        golds.append(match_passages({"q1": []}, chunks, all_qa).all_qa)
    assert golds[0] == golds[1] == golds[2]
    assert golds[0][0]["relevant_doc_ids"] == ["d:4-10", "d:13-28"]


def test_half_a_passage_in_each_of_two_hits_is_the_whole():
    halves = chunks_of([0, 15], [15, 60])
    all_qa = asking_for([10, 20])
    assert found(halves, all_qa, "d1", "d2", coverage=0.51) == ["d1", B]
    assert found(halves, all_qa, "d1", "d2", coverage=0.5) == [B, "d2"]
    assert found(halves, all_qa, "d1", coverage=1) == ["d1"]


def test_what_two_hits_share_counts_once():
    sharing = chunks_of([0, 14], [8, 14], [10, 18])
    all_qa = asking_for([10, 20])
    assert found(sharing, all_qa, "d1", "d2", coverage=0.8) == ["d1", "d2"]
    assert found(sharing, all_qa, "d1", "d2", "d3", coverage=0.8) == ["d1", "d2", B]


def test_a_passage_is_found_once():
    assert found(FOUR, PASSAGES, "d1", "d2") == [B, D]
    assert found(FOUR, asking_for([15, 20]), "d1", "d2") == ["d:15-20", "d2"]


def test_a_hit_that_finds_two_passages_takes_two_ranks():
    whole = chunks_of([0, 60], [0, 5])
    matched = match_passages({"q1": hits("d2", "d1")}, whole, PASSAGES)
    assert ids(matched.results["q1"]) == ["d2", B, D]
    assert evaluate(*matched, ks=3).loc["Recall", 3] == 1


def test_white_space_that_no_chunk_holds_does_not_count():
    text = "Pay by May.\n\n\n\nNo refund."
    chunks = split_documents([{"doc_id": "d", "content": text}], 12)
    assert [chunk["content"] for chunk in chunks] == ["Pay by May.", "No refund."]
    all_qa = asking_text(text)
    assert found(chunks, all_qa, "d#1", "d#2", coverage=1) == ["d#1", f"d:0-{len(text)}"]


@pytest.mark.parametrize("span", [[60, 70], [5, 9], [3, 5]])
def test_a_passage_of_which_no_chunk_holds_a_letter_is_never_found(span):
    chunks = chunks_of([0, 3], [12, 60])
    assert found(chunks, asking_for(span), "d1", "d2", coverage=1e-12) == ["d1", "d2"]


def test_passages_may_stand_in_a_table_or_an_array():
    table = pd.DataFrame(PASSAGES)
    table["relevant_passages"] = [np.array(table["relevant_passages"][0], dtype=object)]
    assert found(FOUR, table, "d1") == [B]


def test_any_form_of_results_is_matched():
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["d4", "d1"], "rank": [1, 2]})
    assert ids(match_passages(table, FOUR, PASSAGES).results["q1"]) == ["d4", B]


def test_matched_results_know_what_was_searched_but_no_depth_in_ranks():
    results = Results({"q1": scored(("d4", 0.1), ("d1", 0.2))}, 2, "distance", True, "index")
    matched = match_passages(results, chunks_of([0, 60], [0, 0], [0, 0], [1, 2]), PASSAGES).results
    assert (matched.k, matched.score_name, matched.index) == (0, "distance", "index")
    assert matched["q1"] == scored(("d4", 0.1), (B, 0.2), (D, 0.2))


def test_results_given_are_left_as_they_are():
    results = {"q1": hits("d1")}
    match_passages(results, FOUR, PASSAGES)
    assert results == {"q1": hits("d1")}


def test_every_metric_runs_on_what_comes_back_and_none_passes_1():
    whole = chunks_of([0, 60], [5, 25], [25, 45])
    matched = match_passages({"q1": hits("d2", "d1", "d3")}, whole, PASSAGES)
    table = per_query(*matched, ks=(1, 2, 3, 10), metrics=list(METRICS))
    ours = table.drop(columns=[name for name in table if name.startswith("Unique")])
    assert ours.to_numpy().max() <= 1
    assert table["nDCG@10"].tolist() == [1.0]
    assert "d:10-20, d:30-40" in str(explain(*matched, "q1", "nDCG", k=3))


def test_passages_are_found_through_a_real_search(embeddings):
    docs = [
        {
            "doc_id": "fees",
            "title": "",
            "content": "Tuition is due in May.\n\nLate payment costs 5.",
        },
        {"doc_id": "sport", "title": "", "content": "The pool opens at six.\n\nBring a towel."},
    ]
    all_qa = [
        {"query_id": "q1", "question": "When does the swimming pool open?",
         "relevant_passages": [{"doc_id": "sport", "text": "opens at six"}]},
        {"query_id": "q2", "question": "What does paying late cost?",
         "relevant_passages": [{"doc_id": "fees", "text": "Late payment costs 5."}]},
    ]  # fmt: skip
    for size in (25, 1_000):
        chunks = split_documents(docs, size)
        results = search_all(build_vectorstore(chunks, embeddings), all_qa, 2)
        assert evaluate(*match_passages(results, chunks, all_qa), ks=1).loc["HitRate", 1] == 1


# ---------------------------------------------------------------- cutting


def placed(*lengths):
    """Hits d1, d2, ... of these lengths, one behind the other."""
    start, ranking = 0, []
    for number, length in enumerate(lengths, start=1):
        place = {"source_id": "d", "start": start, "end": start + length}
        ranking.append({"doc_id": f"d{number}", "content": "x" * length, **place})
        start += length
    return ranking


def test_results_are_cut_after_so_many_hits():
    cut = cut_results(Results({"q1": hits("A", "B", "C"), "q2": []}, 3), hits=2)
    assert cut == {"q1": hits("A", "B"), "q2": []}
    assert cut.k == 2


def test_results_are_cut_within_the_hit_that_crosses_the_border():
    cut = cut_results(Results({"q1": placed(10, 10, 10)}, 3), characters=15)
    assert [(hit["start"], hit["end"], hit["content"]) for hit in cut["q1"]] == [
        (0, 10, "x" * 10), (10, 15, "x" * 5),
    ]  # fmt: skip
    assert cut.k == 0


def test_a_hit_that_fills_the_room_is_the_last():
    assert ids(cut_results({"q1": placed(10, 10, 10)}, characters=20)["q1"]) == ["d1", "d2"]


def test_a_hit_that_was_cut_finds_only_what_is_left_of_it():
    results = {"q1": [dict(chunk) for chunk in chunks_of([0, 60])]}
    cut = cut_results(results, characters=25)
    matched = match_passages(cut, chunks_of([0, 60]), PASSAGES)
    assert ids(matched.results["q1"]) == [B]
    assert passage_scores(cut, chunks_of([0, 60]), PASSAGES).loc["q1"].tolist() == pytest.approx(
        [10 / 20, 10 / 25, 10 / 35]
    )


def test_rankings_too_short_for_the_characters_are_named():
    results = Results({"q1": placed(10, 10), "q2": placed(10), "q3": placed(30, 30)}, 2)
    with pytest.warns(UserWarning, match=r"1 query .*40 characters \(q1\): search deeper than k=2"):
        cut_results(results, characters=40)


@pytest.mark.parametrize("how", [{}, {"hits": 1, "characters": 5}])
def test_a_cut_by_both_or_neither_is_refused(how):
    with pytest.raises(ValueError, match="one of the two"):
        cut_results({"q1": placed(10)}, **how)


@pytest.mark.parametrize("how", [{"hits": 0}, {"characters": 2.5}, {"characters": True}])
def test_a_cut_at_no_number_is_refused(how):
    with pytest.raises(ValueError, match="must be a positive integer"):
        cut_results({"q1": placed(10)}, **how)


@pytest.mark.parametrize(
    "place", [{}, {"start": 0}, {"start": 5, "end": 1}, {"start": None, "end": 3}]
)
def test_hits_without_a_place_cannot_be_cut_by_characters(place):
    with pytest.raises(
        KeyError, match="q1, rank 1: the hit A has no start and end.*split_documents"
    ):
        cut_results({"q1": [{"doc_id": "A", **place}]}, characters=5)


# ---------------------------------------------------------------- refusals of matching


def refused(error, match, chunks=FOUR, all_qa=PASSAGES, results=None, **options):
    with pytest.raises(error, match=match):
        match_passages(results or {"q1": hits("d1")}, chunks, all_qa, **options)


def test_a_hit_that_is_none_of_the_chunks_is_refused():
    refused(ValueError, "q1, rank 2: the hit 'e9' is not found among the chunks.*store",
            results={"q1": hits("d1", "e9")})  # fmt: skip


@pytest.mark.parametrize(
    "place",
    [
        {"start": 20},
        {"end": 36},
        {"source_id": "e"},
        {"source_id": ["d"]},
        {"start": None},
        {"end": {}},
        {"end": float("nan")},
    ],
)
def test_hits_of_another_chunking_are_refused(place):
    results = {
        "q1": [*hits("d1"), {"doc_id": "d2", "source_id": "d", "start": 15, "end": 35, **place}]
    }
    facts = "rank 2: the hit d2 stands at .*, the chunk of this id at d:15-35.*two chunkings"
    refused(ValueError, facts, results=results)


def test_a_chunk_twice_in_a_ranking_is_refused():
    refused(ValueError, "q1: the chunk 'd1' appears twice", results={"q1": hits("d1", "d1")})


@pytest.mark.parametrize("coverage", [0, -1, 1.01, None, "0.5", float("nan"), True])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    refused(ValueError, "coverage is a share above 0 and at most 1", coverage=coverage)


@pytest.mark.parametrize(
    "change",
    [{"end": 19}, {"start": -1}, {"start": "0"}, {"source_id": 3}, {"content": "Pay"}],
)
def test_a_chunk_whose_place_does_not_hold_its_content_is_refused(change):
    refused(ValueError, "d1: source_id .* are no place of its content", [{**FOUR[0], **change}])


def test_documents_that_are_no_chunks_are_refused():
    refused(KeyError, "source_id is missing", [{"doc_id": "d1", "content": "Pay."}])


def test_queries_without_passages_are_refused():
    refused(KeyError, "q1: relevant_passages is missing .*relevant_doc_ids",
            all_qa=[{"query_id": "q1", "relevant_doc_ids": ["d"]}])  # fmt: skip


# ---------------------------------------------------------------- what validation says of passages

DOCS = [
    {"doc_id": "A", "title": "Fees", "content": "Pay by May. No refund. Pay by card."},
    {"doc_id": "B", "title": "Sport", "content": "The “pool” opens\nat six."},
]


def report_on(*passages, **fields):
    qa = {"query_id": "q1", "question": "When?", "relevant_passages": list(passages), **fields}
    return validate_dataset(DOCS, [qa]).findings


@pytest.mark.parametrize(
    "passage",
    [
        {"doc_id": "A", "text": "No refund."},
        {"doc_id": "A", "start": 0, "end": 6},
        {"doc_id": "A", "start": 0, "end": 6, "text": "Pay by"},
        {"doc_id": "B", "text": 'the "pool" opens at six'.replace("the", "The")},
    ],
)
def test_a_passage_that_stands_in_its_document_once_is_sound(passage):
    assert report_on(passage) == []


@pytest.mark.parametrize(
    ("passage", "facts"),
    [
        ({"doc_id": "A", "text": "No refunds."}, ["'No refunds.'", "A", "not found"]),
        ({"doc_id": "A", "text": "Pay by"}, ["appears there 2 times", "0, 23", "start and end"]),
        ({"doc_id": "Z", "text": "No refund."}, ["'Z' is not found"]),
        ({"doc_id": "A", "text": " "}, ["not empty"]),
        ({"doc_id": "A"}, ["not empty", "None"]),
        ({"doc_id": "A", "text": "\u200b"}, ["not empty"]),
        ({"doc_id": "A", "start": 5, "end": 500}, ["end 500", "35"]),
        ({"doc_id": "A", "start": 5, "end": 5}, ["whole numbers", "5 and 5"]),
        ({"doc_id": "A", "start": 5}, ["whole numbers", "5 and None"]),
        ({"doc_id": "A", "start": 0, "end": 6, "text": "refund"}, ["'Pay by'", "'refund'"]),
        ({"text": "No refund."}, ["a dict with doc_id and text"]),
        ("No refund.", ["a dict with doc_id and text", "'No refund.'"]),
    ],
)
def test_a_passage_that_is_wrong_is_named_with_the_cure(passage, facts):
    (finding,) = report_on(passage)
    assert (finding.severity, finding.kind) == ("error", "passage")
    assert "q1: relevant_passages, entry 1" in str(finding)
    for fact in facts:
        assert fact in str(finding)


def test_each_wrong_passage_is_a_finding():
    assert len(report_on({"doc_id": "Z", "text": "x"}, {"doc_id": "A", "text": "x"})) == 2


@pytest.mark.parametrize("passages", ["No refund.", {"doc_id": "A"}, None])
def test_passages_that_are_no_list_are_named(passages):
    (finding,) = report_on(relevant_passages=passages)
    assert "a list of dicts" in finding.what
    assert "q1: relevant_passages" in finding.where


def test_a_query_needs_passages_or_relevant_documents():
    assert "relevant_doc_ids is missing" in str(
        validate_dataset(DOCS, [{"query_id": "q", "question": "?"}])
    )


def test_a_text_that_stands_twice_is_not_taken_for_its_first_place():
    refused(ValueError, "appears there 2 times", split_documents(DOCS, 100),
            asking_text("Pay by", doc_id="A"))  # fmt: skip


def test_warnings_of_the_metrics_name_queries_without_results():
    matched = match_passages({}, FOUR, PASSAGES)
    assert any("no results for 1 query" in text for text in caught(lambda: evaluate(*matched)))
