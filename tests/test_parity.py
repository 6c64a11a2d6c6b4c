"""The metrics against trec_eval on random datasets, against a plain loop, and against what must always hold."""

import math
import random
import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from conftest import hits, merged, query, ranks_of, scores_of
from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_kit import per_query

# ---------------------------------------------------------------- trec_eval

KS = (1, 2, 3, 5, 10, 30)
TREC_NAMES = {
    "HitRate": "success",
    "RR": "recip_rank",
    "nDCG": "ndcg_cut",
    "Precision": "P",
    "Recall": "recall",
}
MEASURES = {
    f"{name}.{','.join(map(str, KS))}" for name in TREC_NAMES.values() if name != "recip_rank"
} | {"recip_rank"}

# Ids whose order as texts differs from their order as numbers, from the order of creation and from an
# order that ignores case; trec_eval compares UTF-8 bytes, which is the order of code points.
DOC_IDS = [
    *(f"d{i}" for i in range(1, 31)),
    "D1",
    "a b",
    "é",
    "문서1",
    "문서10",
    "문서2",
    "가",
    "z",
    "#1",
    "~",
]

# trec_eval holds a score as a 32-bit float: 1.0 and 1.0 + 1e-12 are a tie there (tried) and none in
# the kit, which keeps 64 bits. Multiples of 1/8 up to a few hundred are exact in both.
SCORES = [step / 8 for step in range(-40, 400)]

N_DATASETS = 2_000
TOGETHER = 50  # datasets in one call


class Case(NamedTuple):
    """Datasets: doc_id -> grade and doc_id -> score by query, and trec_eval's values for KS."""

    grades: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]
    expected: dict[str, list[float]]


def random_case(rng):
    """The judgements and the run of one dataset."""
    query_ids = [f"q{i}" for i in range(rng.randint(1, 5))]
    # No grade below -1: on -2 pytrec-eval-terrier 0.5.11 ends the interpreter (tried).
    grade_choices = rng.choice([(1,), (0, 1), (0, 1, 2, 3), (-1, 0, 1, 2)])
    score_choices = rng.choice([SCORES, SCORES[:6], SCORES[:1]])  # few ties, many, only ties
    pool = rng.sample(DOC_IDS, rng.choice([3, 8, len(DOC_IDS)]))
    grades, run = {}, {}
    for query_id in query_ids:
        judged = rng.sample(pool, rng.randint(1, min(len(pool), 8)))
        grades[query_id] = {doc_id: rng.choice(grade_choices) for doc_id in judged}
        found = rng.sample(pool, rng.randint(0, len(pool)))
        run[query_id] = {doc_id: rng.choice(score_choices) for doc_id in found}
        if rng.random() < 0.1:
            del run[query_id]
    return grades, run


def trec_eval(grades, run):
    """The values of every query, in the order of per_query's columns. A query that trec_eval drops scores 0."""
    found = pytrec_eval.RelevanceEvaluator(grades, MEASURES).evaluate(run)
    nothing = [0.0] * len(TREC_NAMES) * len(KS)
    return {
        query_id: trec_row(found[query_id]) if query_id in found else nothing for query_id in grades
    }


def trec_row(values):
    row = []
    for name, trec_name in TREC_NAMES.items():
        if name == "RR":  # trec_eval looks at the whole ranking: cut at k here
            row += [
                values["recip_rank"] if values["recip_rank"] * k > 1 - 1e-9 else 0.0 for k in KS
            ]
        else:
            row += [values[f"{trec_name}_{k}"] for k in KS]
    return row


@pytest.fixture(scope="module")
def cases():
    rng, cases = random.Random(20261130), []
    for _ in range(N_DATASETS // TOGETHER):
        grades, run = merged([random_case(rng) for _ in range(TOGETHER)])
        cases.append(Case(grades, run, trec_eval(grades, run)))
    return cases


def in_trec_order(scores):
    """Best first; equal scores by doc_id descending."""
    return sorted(scores, key=lambda doc_id: (scores[doc_id], doc_id), reverse=True)


def as_lists(run, rng):
    return {query_id: hits(*in_trec_order(scores)) for query_id, scores in run.items()}


def as_score_table(run, rng):
    return maybe_shuffled(scores_of(run), rng)


def as_rank_table(run, rng):
    return maybe_shuffled(ranks_of(as_lists(run, rng)), rng)


def maybe_shuffled(table, rng):
    return table.sample(frac=1, random_state=rng.randrange(1000)) if rng.random() < 0.5 else table


@pytest.fixture(
    scope="module",
    params=[as_lists, as_score_table, as_rank_table],
    ids=["lists", "by score", "by rank"],
)
def compared(request, cases):
    """Every query's values of the kit and of trec_eval, a row a query: shape (queries, metrics, ks)."""
    ours, theirs = [], []
    rng = random.Random(7)
    for case in cases:
        all_qa = [query(grades, query_id) for query_id, grades in case.grades.items()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # queries without results are many here, and named
            table = per_query(all_qa, request.param(case.run, rng), ks=KS, no_relevant="zero")
        ours.append(table.to_numpy())
        theirs.append([case.expected[query_id] for query_id in table.index])
    shape = (-1, len(TREC_NAMES), len(KS))
    return np.concatenate(ours).reshape(shape), np.concatenate(theirs).reshape(shape)


@pytest.mark.parametrize("name", TREC_NAMES)
def test_metric_equals_trec_eval_for_every_query(compared, name):
    ours, theirs = (values[:, list(TREC_NAMES).index(name)] for values in compared)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_every_query_of_every_dataset_is_compared(compared, cases):
    ours, theirs = compared
    assert len(ours) == len(theirs) == sum(len(case.grades) for case in cases)


def test_at_least_2000_datasets_are_compared(cases):
    assert len(cases) * TOGETHER >= 2_000


def test_the_datasets_hold_every_kind_of_case(cases):
    count = Counter()
    for case in cases:
        for query_id, grades in case.grades.items():
            scores = case.run.get(query_id)
            count["graded"] += len({grade for grade in grades.values() if grade > 0}) > 1
            count["grade 0"] += 0 in grades.values()
            count["negative grade"] += min(grades.values()) < 0
            count["nothing relevant"] += max(grades.values()) <= 0
            count["missing query"] += scores is None
            count["empty ranking"] += scores == {}
            count["tie"] += bool(scores) and len(set(scores.values())) < len(scores)
            count["k beyond depth"] += bool(scores) and len(scores) < max(KS)
            count["k within depth"] += bool(scores) and len(scores) >= max(KS)
            count["more relevant than k"] += sum(grade > 0 for grade in grades.values()) > 3
            count["a relevant document in a tie"] += bool(scores) and any(
                grades.get(doc_id, 0) > 0 and Counter(scores.values())[score] > 1
                for doc_id, score in scores.items()
            )
    assert len(count) == 11
    assert min(count.values()) >= 150, count


def test_the_values_compared_are_not_all_0_or_1(compared):
    _, theirs = compared
    assert len(np.unique(theirs.round(9))) > 500


# ---------------------------------------------------------------- what must always hold

ALPHABET = [f"d{i}" for i in range(12)]
EVERY_K = tuple(range(1, 16))
NAMES = ("HitRate", "RR", "nDCG", "Precision", "Recall")
PROPERTY = settings(max_examples=15, deadline=None, derandomize=True, database=None)

gradings = st.dictionaries(
    st.sampled_from(ALPHABET), st.sampled_from([-1, 0, 0.5, 1, 2, 3]), max_size=8
)
rankings = st.lists(st.sampled_from(ALPHABET), unique=True, max_size=12)

# Many queries in one example: a call takes as long for ten as for one.
datasets = st.lists(st.tuples(gradings, rankings), min_size=1, max_size=12)
with_repeats = st.lists(st.sampled_from(ALPHABET), max_size=15)
repeating = st.lists(st.tuples(gradings, with_repeats), min_size=1, max_size=12)


def table_of(dataset, **policies):
    """The values of a dataset given as a list of (grades, ranking): query_ids q0, q1, ..."""
    all_qa = [query(grades, f"q{i}") for i, (grades, _) in enumerate(dataset)]
    results = {f"q{i}": hits(*ranking) for i, (_, ranking) in enumerate(dataset)}
    return per_query(all_qa, results, ks=EVERY_K, **policies)


def of_metric(table, name):
    """The metric's columns as an array: a row a query, a column a k."""
    return table[[f"{name}@{k}" for k in EVERY_K]].to_numpy()


def in_a_loop(grades, ranking, k):
    """The five values of one query, written out slowly."""
    n_relevant = 0
    for grade in grades.values():
        if grade > 0:
            n_relevant += 1
    if n_relevant == 0:
        return [math.nan] * 5
    found, reciprocal_rank, dcg = 0, 0.0, 0.0
    for rank, doc_id in enumerate(ranking, start=1):
        if rank <= k and grades.get(doc_id, 0) > 0:
            found += 1
            dcg += grades[doc_id] * (1 / math.log2(rank + 1))
            if reciprocal_rank == 0:
                reciprocal_rank = 1 / rank
    idcg = 0.0
    for rank, grade in enumerate(sorted(grades.values(), reverse=True), start=1):
        if rank <= k and grade > 0:
            idcg += grade * (1 / math.log2(rank + 1))
    return [float(found > 0), reciprocal_rank, dcg / idcg, found / k, found / n_relevant]


@PROPERTY
@given(dataset=datasets)
def test_every_value_is_that_of_a_plain_loop(dataset):
    table = table_of(dataset)
    looped = [[in_a_loop(grades, ranking, k) for k in EVERY_K] for grades, ranking in dataset]
    for name, theirs in zip(NAMES, np.moveaxis(looped, 2, 0), strict=True):
        # nDCG not to the last bit: the log2 of numpy and that of the C library may round apart.
        rtol = 1e-14 if name == "nDCG" else 0
        np.testing.assert_allclose(of_metric(table, name), theirs, rtol=rtol, atol=0)


@PROPERTY
@given(dataset=datasets, no_relevant=st.sampled_from(["exclude", "zero", "one"]))
def test_every_value_is_from_0_to_1(dataset, no_relevant):
    values = table_of(dataset, no_relevant=no_relevant).stack().to_numpy()
    values = values[~np.isnan(values)]
    assert ((values >= 0) & (values <= 1)).all()


@PROPERTY
@given(dataset=repeating)
def test_every_value_is_from_0_to_1_when_repeats_are_folded(dataset):
    values = table_of(dataset, no_relevant="zero", duplicates="unique").to_numpy()
    assert ((values >= 0) & (values <= 1)).all()


@PROPERTY
@given(dataset=repeating)
def test_folding_equals_taking_the_repeats_out_beforehand(dataset):
    without = [(grades, list(dict.fromkeys(ranking))) for grades, ranking in dataset]
    np.testing.assert_array_equal(table_of(dataset, duplicates="unique"), table_of(without))


@PROPERTY
@given(dataset=datasets)
def test_hit_rate_reciprocal_rank_and_recall_never_fall_as_k_grows(dataset):
    table = table_of(dataset, no_relevant="zero")
    for name in ("HitRate", "RR", "Recall"):
        assert (np.diff(of_metric(table, name), axis=1) >= 0).all(), name


@PROPERTY
@given(dataset=datasets)
def test_reciprocal_rank_is_never_above_the_hit_rate(dataset):
    table = table_of(dataset, no_relevant="zero")
    assert (of_metric(table, "RR") <= of_metric(table, "HitRate")).all()


@PROPERTY
@given(dataset=datasets)
def test_hit_rate_is_1_exactly_where_recall_is_above_0(dataset):
    table = table_of(dataset, no_relevant="zero")
    np.testing.assert_array_equal(of_metric(table, "HitRate") == 1, of_metric(table, "Recall") > 0)


@PROPERTY
@given(dataset=datasets, names=st.permutations(ALPHABET))
def test_renaming_the_documents_changes_nothing(dataset, names):
    new = dict(zip(ALPHABET, names, strict=True))
    renamed = [
        ({new[d]: grade for d, grade in grades.items()}, [new[d] for d in ranking])
        for grades, ranking in dataset
    ]
    pd.testing.assert_frame_equal(table_of(renamed), table_of(dataset), check_exact=True)


@PROPERTY
@given(dataset=datasets, data=st.data())
def test_permuting_the_queries_changes_nothing_but_the_order_of_rows(dataset, data):
    order = data.draw(st.permutations(range(len(dataset))))
    permuted = table_of([dataset[i] for i in order])
    np.testing.assert_array_equal(permuted.to_numpy(), table_of(dataset).to_numpy()[list(order)])


@PROPERTY
@given(dataset=datasets, data=st.data())
def test_the_order_of_the_judgements_changes_nothing(dataset, data):
    shuffled = [
        (dict(data.draw(st.permutations(list(grades.items())))), ranking)
        for grades, ranking in dataset
    ]
    pd.testing.assert_frame_equal(table_of(shuffled), table_of(dataset), check_exact=True)


@PROPERTY
@given(dataset=datasets, k=st.sampled_from(EVERY_K), data=st.data())
def test_permuting_the_first_k_hits_changes_no_metric_at_k_that_counts_hits(dataset, k, data):
    permuted = [
        (grades, [*data.draw(st.permutations(ranking[:k])), *ranking[k:]])
        for grades, ranking in dataset
    ]
    counted = [f"{name}@{k}" for name in ("Precision", "Recall", "HitRate")]
    pd.testing.assert_frame_equal(
        table_of(permuted)[counted], table_of(dataset)[counted], check_exact=True
    )


@PROPERTY
@given(dataset=datasets)
def test_a_perfect_ranking_has_an_ndcg_of_1_at_every_k(dataset):
    perfect = []
    for grades, rest in dataset:
        best = sorted((d for d in grades if grades[d] > 0), key=grades.get, reverse=True)
        perfect.append((grades, best + [d for d in rest if d not in best]))
    values = of_metric(table_of(perfect), "nDCG")
    assert set(values[~np.isnan(values)]) <= {1.0}


@PROPERTY
@given(dataset=datasets)
def test_unjudged_hits_at_the_end_change_nothing(dataset):
    unjudged = [f"unjudged {i}" for i in range(20)]
    longer = [(grades, ranking + unjudged) for grades, ranking in dataset]
    pd.testing.assert_frame_equal(table_of(longer), table_of(dataset), check_exact=True)


@PROPERTY
@given(dataset=datasets, factor=st.sampled_from([2, 4, 0.5]))
def test_scaling_all_grades_changes_nothing(dataset, factor):
    scaled = [
        ({doc_id: grade * factor for doc_id, grade in grades.items()}, ranking)
        for grades, ranking in dataset
    ]
    pd.testing.assert_frame_equal(table_of(scaled), table_of(dataset), check_exact=True)
