"""Look results over, or a table of scores, before they are believed."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rageval_kit.documents import Docs, Record, as_records, want_fields
from rageval_kit.findings import Finding, Report, order_findings, print_report, same_ranking
from rageval_kit.formulas import METRICS
from rageval_kit.invariants import metric_called, score_findings
from rageval_kit.judgements import (
    AllQA,
    Judgements,
    is_relevant,
    read_judgements,
    refuse_strange_ids,
)
from rageval_kit.language import equal_text_key
from rageval_kit.messages import is_number, name_some, shown, wrong_type
from rageval_kit.metrics import as_columns, summarise
from rageval_kit.rankings import Results, ResultsLike, as_rankings, direction
from rageval_kit.relevance import (
    FOLD_BOTH,
    FOLDED_AWAY,
    Relevance,
    changed_questions,
    folded_away,
    match,
)
from rageval_kit.strangers import find_rule, stranger_findings
from rageval_kit.wording import say, say_count, say_some, to_say

_CHANCE = 0.05  # of the queries: so many meet a thing by accident


def check_results(all_qa: AllQA, results: ResultsLike, docs: Docs | None = None) -> Report:
    """Look for what cannot and should not be in results, print the verdict and return the report.

    Errors: scores against the order of the ranking, a document twice in a ranking, a hit or a
    relevant_doc_id that is in no document, a question that is not the one searched, and averages
    that no ranking can have. Warnings: fewer hits than asked for, k above the corpus size, most
    hits unjudged, the same ranking for every query, queries without results.

    Args:
        all_qa, results: see `relevance_matrix`.
        docs: the corpus, for the checks that need it; None leaves them out.

    >>> all_qa = [{"query_id": "q01", "relevant_doc_ids": ["doc_001"]}]
    >>> hits = [{"doc_id": "doc_002", "score": 0.3}, {"doc_id": "doc_001", "score": 0.9}]
    >>> report = check_results(all_qa, {"q01": hits}, docs=[{"doc_id": "doc_001"}])
    [FAIL] results of 1 query, at most 2 hits each: 1 error, 1 warning
      error: q01: hits that are in no document: doc_002. Give check_results the docs that were
      searched.
      warning: results: k=2 is above the corpus size 1. Choose a smaller k: the last ranks can only
      be empty.
    """
    judged, rankings = read_judgements(all_qa), as_rankings(results)
    depth = max([rankings.k, *map(len, rankings.values())], default=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what it warns of is a finding below
        plain = dict(rankings)  # hits alone: what is known of the search is looked at below
        matrix = match(judged, plain, max(depth, 1), [], {"duplicates": "position"})

    findings = [
        *order_findings(matrix.found, matrix.query_ids, rankings.lower_is_better),
        *same_ranking(matrix.found, matrix.query_ids),
        *_repeats(matrix),
        *_queries(judged, rankings),
        *_own_documents(matrix),
        *_ties(matrix),
        *(_corpus(matrix, rankings, depth, docs) if docs is not None else ()),
        *(stranger_findings(matrix.found, judged, matrix.judged) if docs is None else ()),
        *_scores(matrix),
    ]
    checked = say(
        "results of {queries}, at most {hits} each",
        queries=say_count(len(rankings), "query"),
        hits=say_count(depth, "hit"),
    )
    report = Report(findings, checked)
    print_report(report)
    return report


def _repeats(matrix: Relevance) -> Iterator[Finding]:
    for row in np.flatnonzero(matrix.n_repeats).tolist():
        docs = pd.Series(matrix.docs(row))
        repeated = docs[docs.duplicated()].unique().tolist()
        what = say(
            "documents that appear more than once in the ranking: {docs}", docs=say_some(repeated)
        )
        cure = say('Fold chunks and copies to their source document, or choose duplicates="unique"')
        yield Finding("error", "repeated document", str(matrix.query_ids[row]), what, cure)


def _queries(judged: Judgements, rankings: Results) -> Iterator[Finding]:
    missing = [query_id for query_id in judged.query_ids if not rankings.get(query_id)]
    if missing:
        queries = say_count(len(missing), "query")
        what = say("no results for {queries}: the score is 0", queries=queries)
        cure = say("Search them, or say that they found nothing")
        yield Finding("warning", "no results", say_some(missing), what, cure)
    unknown = [query_id for query_id in rankings if query_id not in judged.query_ids]
    if unknown:
        queries = say_count(len(unknown), "query")
        what = say("results of {queries} not in all_qa are left out", queries=queries)
        cure = say("Evaluate with the queries that were searched")
        yield Finding("warning", "unknown query", say_some(unknown), what, cure)
    changed = changed_questions(judged, rankings.questions)
    if changed:
        what = say("all_qa asks another question than the one that was searched")
        yield Finding("error", "question", say_some(changed), what, say("Search again"))
    lost = folded_away(judged, rankings.folded)
    if lost:
        what, cure = say(FOLDED_AWAY), say(FOLD_BOTH)
        yield Finding("error", "folded away", say_some(lost), what, cure)


def _own_documents(matrix: Relevance) -> Iterator[Finding]:
    """Find queries that come back as their own best document, as those of ArguAna do."""
    first = matrix.found.ranks == 0
    rows, docs = matrix.found.rows[first], matrix.found.docs[first]
    own = (docs == matrix.query_ids.to_numpy()[rows]) & ~matrix.hits[rows, 0]
    if own.sum() > _CHANCE * len(rows):  # numbers may meet by chance
        what = say(
            "the query itself stands at rank 1 of {n:,} of {all:,} rankings",
            n=int(own.sum()),
            all=len(rows),
        )
        cure = say("Leave out the hit whose doc_id is the query_id: the text is in the corpus too")
        yield Finding("warning", "own document", say_some(docs[own].tolist()), what, cure)


def _ties(matrix: Relevance) -> Iterator[Finding]:
    """Find scores so coarse that the order of equal ones decides: they may be float16's."""
    found = matrix.found
    is_hit = matrix.hits[found.rows, found.ranks]
    _, first = np.unique(found.rows[is_hit], return_index=True)
    at = np.flatnonzero(is_hit)[first]  # of each query, its first relevant hit

    # Whether another document, which is not relevant, has the same score in the same ranking.
    others = set(zip(found.rows[~is_hit], found.scores[~is_hit], strict=True))
    tied = [(found.rows[i], found.scores[i]) in others for i in at]
    if sum(tied) > _CHANCE * len(at):
        names = matrix.query_ids[found.rows[at[tied]]].tolist()
        what = say(
            "{n:,} of {all:,} first relevant hits have the score of another hit, so that the order "
            "of ties decides ({different:,} different scores among {scores:,})",
            n=sum(tied),
            all=len(at),
            different=len(np.unique(found.scores)),
            scores=len(found.scores),
        )
        cure = say("Keep scores in float32 at least, unrounded; copies in the corpus tie too")
        yield Finding("warning", "ties", say_some(names), what, cure)


def _corpus(matrix: Relevance, rankings: Results, depth: int, docs: Docs) -> Iterator[Finding]:
    records = as_records(docs, "docs")
    corpus = _ids_of(records)
    judged, found = matrix.judgements, matrix.found

    # Labels: a relevant document that is not there can never be found.
    relevant = is_relevant(judged.grades)
    lost = sorted({str(doc_id) for doc_id in judged.docs[relevant] if doc_id not in corpus})
    if lost:
        counted = say_count(len(lost), "relevant_doc_id")
        what = say("{counted} in no document: {lost}", counted=counted, lost=say_some(lost))
        cure = say("Correct them: validate_dataset(docs, all_qa) lists each with its query")
        yield Finding("error", "label not in corpus", "all_qa", what, cure)

    # Hits: a document that is not there was searched elsewhere, or has an id of another kind.
    strange = np.array([doc_id not in corpus for doc_id in found.docs], dtype=bool)
    if strange.any():
        rows, ids = found.rows[strange], found.docs[strange].tolist()
        rule = find_rule(ids, rows, corpus)
        different = say_some(list(dict.fromkeys(ids)))
        what = say("hits that are in no document: {ids}", ids=different)
        what += f"; {rule.what}" if rule else ""
        cure = rule.cure if rule else say("Give check_results the docs that were searched")
        where = say_some(matrix.query_ids[np.unique(rows)].tolist())
        yield Finding("error", "not in corpus", where, what, cure)
    else:
        yield from stranger_findings(matrix.found, judged, matrix.judged)
        yield from _copies_first(matrix, records)

    yield from _depth(rankings, depth, len(corpus))


def _depth(rankings: Results, depth: int, size: int) -> Iterator[Finding]:
    """Find queries that were not searched as deep as the others, or deeper than the corpus."""
    short = {q: hits for q, hits in rankings.items() if len(hits) < min(depth, size)}
    if short:
        what = say(
            "fewer than {depth} hits, although the corpus has {size:,} documents",
            depth=depth,
            size=size,
        )
        cure = say(
            "Ask the search for k={depth}: every query must be searched to the same depth",
            depth=depth,
        )
        scores = [hit.get("score") for ranking in rankings.values() for hit in ranking]
        lower_is_better = direction(rankings)

        # One k for all queries cuts them at one depth; a limit for scores, wherever they end.
        if len({len(hits) for hits in short.values()}) > 1 and lower_is_better is not None:
            known = [score for score in scores if score is not None]
            if lower_is_better:
                ends = to_say("; they end at different depths, and no score is above {limit:.4g}")
            else:
                ends = to_say("; they end at different depths, and no score is below {limit:.4g}")
            what += say(ends, limit=max(known) if lower_is_better else min(known))
            cure = say(
                "A score threshold of the search? Then that many is what it finds; else lower it"
            )
        yield Finding("warning", "few hits", say_some(list(short)), what, cure)
    if depth > size:
        what = say("k={depth} is above the corpus size {size:,}", depth=depth, size=size)
        cure = say("Choose a smaller k: the last ranks can only be empty")
        yield Finding("warning", "large k", "results", what, cure)


def _copies_first(matrix: Relevance, docs: Sequence[Record]) -> Iterator[Finding]:
    """Find documents with copies that win too often: some fusions add up the scores of copies."""
    texts = {doc["doc_id"]: equal_text_key(str(doc.get("content", ""))) for doc in docs}
    times = Counter(texts.values())
    copied = {doc_id for doc_id, text in texts.items() if text and times[text] > 1}
    first = matrix.found.ranks == 0
    ours = np.array([doc_id in copied for doc_id in matrix.found.docs[first]], dtype=bool)

    # As many as there are, or as many as are relevant, could be expected to win.
    relevant = matrix.judgements.docs[is_relevant(matrix.judgements.grades)]
    of_relevant = sum(doc_id in copied for doc_id in relevant) / max(len(relevant), 1)
    share = max(len(copied) / len(texts), of_relevant)
    n, seen = len(ours), int(ours.sum())
    by_chance = n * share + 3 * np.sqrt(n * share * (1 - share))  # three standard deviations
    if seen > max(by_chance, 2 * n * share):
        what = say(
            "documents with copies stand at rank 1 of {seen:,} of {n:,} rankings, and are "
            "{copied:,} of {all:,} documents and {of_relevant:.0%} of the relevant",
            seen=seen,
            n=n,
            copied=len(copied),
            all=len(texts),
            of_relevant=of_relevant,
        )
        cure = say('Does a fusion add their scores? EnsembleRetriever needs id_key="doc_id"')
        yield Finding("warning", "copies first", "results", what, cure)


def _ids_of(records: Sequence[Record]) -> set[Any]:
    """Return the doc_ids; integers pass here, as they do in the metrics."""
    for position, doc in enumerate(records, start=1):
        want_fields(doc, ("doc_id",), f"docs, entry {position}")
    ids = [doc["doc_id"] for doc in records]
    refuse_strange_ids(ids, "doc_id", "docs")
    return set(ids)


def _scores(matrix: Relevance) -> Iterator[Finding]:
    if not len(matrix.found.rows):
        what, cure = say("no query has a hit"), say("Look at the search")
        yield Finding("error", "empty", "results", what, cure)
        return
    shares = [name for name, metric in METRICS.items() if metric.is_share and metric.has_cutoff]
    columns = as_columns(shares, matrix.ranks.tolist())
    yield from score_findings(summarise(columns, matrix))

    # A list of relevant documents is complete by its meaning; grades that include 0 were given
    # one by one.
    judged, returned = int(matrix.judged.sum()), len(matrix.found.rows)
    one_by_one = not is_relevant(matrix.judgements.grades).all()
    if judged < returned / 2 and one_by_one:
        what = say(
            "only {judged:,} of {returned:,} hits are judged; the others count as not relevant",
            judged=judged,
            returned=returned,
        )
        cure = say('Judge them, or report metrics=["Judged"] beside the scores')
        yield Finding("warning", "unjudged", "results", what, cure)


# ---------------------------------------------------------------- a table of scores


def check_scores(summary: pd.DataFrame) -> Report:
    """Look for what no table of averages can show, print the verdict and return the report.

    Args:
        summary: a row a metric (HitRate, MRR, nDCG, ...), a column a cutoff: from `evaluate`, or
            copied from a publication. Shares between 0 and 1, not per cent.

    >>> published = pd.DataFrame({1: [0.62, 0.62], 3: [0.81, 0.55]}, index=["HitRate", "MRR"])
    >>> report = check_scores(published)
    [FAIL] 2 metrics at 2 cutoffs: 1 error, 0 warnings
      error: MRR: falls from 0.62 at k=1 to 0.55 at k=3, and can only rise with k. Is a distance
      sorted descending?

    Raises:
        TypeError: it is not a table, or a score is not a number.
        ValueError: no row is a metric, or no column a cutoff.
    """
    wanted = "a table with a row a metric and a column a cutoff, as evaluate returns it"
    if not isinstance(summary, pd.DataFrame):
        raise wrong_type("summary", wanted, summary)
    summary = summary.set_axis([str(name) for name in summary.index])
    _refuse_no_numbers(summary)
    known = [name for name in summary.index if metric_called(name) is not None]
    cutoffs = [k for k in summary if str(k).isdecimal()]
    if not known or not cutoffs:
        rows, columns = name_some(list(summary.index)), name_some(list(summary))
        raise ValueError(
            f"summary must be {wanted}; found rows {rows or 'none'}, columns {columns or 'none'}. "
            f"Metrics are called {', '.join(METRICS)}, MRR and MAP; cutoffs are numbers: 1, 3, 5."
        )

    findings = list(score_findings(summary))
    for name in summary.index.difference(known, sort=False):
        what = say("this row was not checked: no metric is called so")
        cure = say("Rename it, as in MRR")
        findings.append(Finding("warning", "unknown metric", name, what, cure))
    checked = say(
        "{metrics} at {cutoffs}",
        metrics=say_count(len(known), "metric"),
        cutoffs=say_count(len(cutoffs), "cutoff"),
    )
    report = Report(findings, checked)
    print_report(report)
    return report


def _refuse_no_numbers(summary: pd.DataFrame) -> None:
    for name, row in summary.iterrows():
        for k, value in row.items():
            if value is not None and not is_number(value):
                found = f"the score must be a number between 0 and 1, found {shown(value)}"
                raise TypeError(f"{name}, k={k}: {found}. Write 0.62 for 62 %.")
