"""Look results over before their scores are believed."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from rageval_kit.findings import Finding, Rankings, Report, ranking_findings, score_findings
from rageval_kit.inputs import (
    ResultsLike,
    as_rankings,
    asked_depth,
    lower_is_better,
    read_judgements,
)
from rageval_kit.messages import count, name_some
from rageval_kit.metrics import evaluate
from rageval_kit.records import Records, as_records
from rageval_kit.relevance import relevance_matrix


def check_results(all_qa: Records, results: ResultsLike, docs: Records | None = None) -> Report:
    """Look for what cannot be and what should not be in results, print the verdict and return the report.

    Errors: scores against the order of the ranking, a document twice in a ranking, a hit that is in
    no document, and averages that no ranking can have. Warnings: fewer hits than asked for, k above
    the corpus size, most hits unjudged, the same ranking for every query, queries without results.

    Args:
        all_qa, results: see `relevance_matrix`.
        docs: the corpus, for the checks that need it; None leaves them out.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> results = {"q01": [{"doc_id": "doc_002", "score": 0.3}, {"doc_id": "doc_001", "score": 0.9}]}
    >>> report = check_results(all_qa, results, docs=[{"doc_id": "doc_001"}])
    [FAIL] results of 1 query, at most 2 hits each: 1 error, 1 warning
      error: q01: hits that are in no document: doc_002. Give check_results the docs that were searched.
      warning: results: k=2 is above the corpus size 1. Choose a smaller k: the last ranks can only be empty.
    """
    rankings = as_rankings(results)
    queries = [qa["query_id"] for qa in as_records(all_qa, "all_qa")]
    depth = max([asked_depth(results), *map(len, rankings.values())])
    findings = [
        *ranking_findings(rankings, lower_is_better(results)),
        *_repeats(rankings),
        *_coverage(queries, rankings),
        *_corpus(rankings, depth, docs),
        *_scores(all_qa, rankings, depth),
    ]
    report = Report(
        findings, f"results of {count(len(rankings), 'query')}, at most {count(depth, 'hit')} each"
    )
    print(report)
    return report


def check_scores(summary: pd.DataFrame) -> Report:
    """Look for what no table of averages can show, print the verdict and return the report.

    Args:
        summary: a row a metric (HitRate, MRR, nDCG, Precision, Recall, MAP), a column a cutoff: from
            `evaluate`, or copied from a publication.

    >>> published = pd.DataFrame({1: [0.62, 0.62], 3: [0.81, 0.55]}, index=["HitRate", "MRR"])
    >>> report = check_scores(published)
    [FAIL] 2 metrics at 2 cutoffs: 1 error, 0 warnings
      error: MRR: falls from 0.62 at k=1 to 0.55 at k=3, and can only rise with k. Is a distance sorted descending?
    """
    report = Report(
        list(score_findings(summary)),
        f"{count(len(summary), 'metric')} at {count(summary.shape[1], 'cutoff')}",
    )
    print(report)
    return report


def _repeats(rankings: Rankings) -> Iterator[Finding]:
    for query_id, ranking in rankings.items():
        docs = [hit["doc_id"] for hit in ranking]
        repeated = [doc_id for doc_id, count in Counter(docs).items() if count > 1]
        if repeated:
            what = f"documents that stand more than once in the ranking: {name_some(repeated)}"
            cure = 'Fold chunks and copies to their source document, or choose duplicates="unique"'
            yield Finding("error", "repeated document", str(query_id), what, cure)


def _coverage(queries: Sequence[Any], rankings: Rankings) -> Iterator[Finding]:
    missing = [query_id for query_id in queries if not rankings.get(query_id)]
    if missing:
        what = f"no results for {count(len(missing), 'query')}: the score is 0"
        yield Finding(
            "warning",
            "no results",
            name_some(missing),
            what,
            "Search them, or say that they found nothing",
        )
    asked = set(queries)
    unknown = [query_id for query_id in rankings if query_id not in asked]
    if unknown:
        what = f"results of {count(len(unknown), 'query')} not in all_qa are left out"
        yield Finding(
            "warning",
            "unknown query",
            name_some(unknown),
            what,
            "Evaluate with the queries that were searched",
        )


def _corpus(rankings: Rankings, depth: int, docs: Records | None) -> Iterator[Finding]:
    if docs is None:
        return
    corpus = {doc["doc_id"] for doc in as_records(docs, "docs")}
    short = []
    for query_id, ranking in rankings.items():
        strange = [hit["doc_id"] for hit in ranking if hit["doc_id"] not in corpus]
        if strange:
            what = f"hits that are in no document: {name_some(strange)}"
            cure = "Give check_results the docs that were searched"
            yield Finding("error", "not in corpus", str(query_id), what, cure)
        if len(ranking) < min(depth, len(corpus)):
            short.append(query_id)
    if short:
        what = f"fewer than {depth} hits, although the corpus has {len(corpus):,} documents"
        cure = f"Ask the search for k={depth}: every query must be searched to the same depth"
        yield Finding("warning", "few hits", name_some(short), what, cure)
    if depth > len(corpus):
        what = f"k={depth} is above the corpus size {len(corpus):,}"
        yield Finding(
            "warning",
            "large k",
            "results",
            what,
            "Choose a smaller k: the last ranks can only be empty",
        )


def _scores(all_qa: Records, rankings: Rankings, depth: int) -> Iterator[Finding]:
    if not any(rankings.values()):
        yield Finding("error", "empty", "results", "no query has a hit", "Look at the search")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what it warns of is a finding above
        yield from score_findings(
            evaluate(all_qa, rankings, range(1, depth + 1), duplicates="position")
        )
        matrix = relevance_matrix(all_qa, rankings, depth, duplicates="position")
    judged, returned = int(matrix.judged.sum()), int(matrix.n_returned.sum())
    # A list of relevant documents is complete by its meaning; grades that include 0 were given one by one.
    if judged < returned / 2 and _has_grades_of_zero(all_qa):
        what = f"only {judged:,} of {returned:,} hits are judged; the others count as not relevant"
        cure = 'Judge them, or report metrics=["Judged"] beside the scores'
        yield Finding("warning", "unjudged", "results", what, cure)


def _has_grades_of_zero(all_qa: Records) -> bool:
    return bool((read_judgements(all_qa).grades <= 0).any())
