"""Where a pipeline loses: the steps in order, the outcome of each query, and what the failures share."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rageval_kit.accuracy import answer_accuracy, ground_truths
from rageval_kit.comparison import resampled_means
from rageval_kit.documents import Docs, as_docs
from rageval_kit.grounding import Answers, faithfulness_frame
from rageval_kit.judgements import AllQA, as_queries, relevant_grades
from rageval_kit.language import content_words, occurs
from rageval_kit.messages import as_cutoff, name_some
from rageval_kit.metrics import per_query
from rageval_kit.rankings import ResultsLike, as_rankings, knowledge

DEFAULT_THRESHOLDS = {
    "Recall@20": 0.8,  # below: the pool misses documents
    "Recall@20 - Recall@10": 0.1,  # above: documents are ranked too low
    "MRR@10": 0.5,  # below: the first relevant document comes late
    "HitRate@10": 0.9,  # below: too many total failures
    "accuracy": 0.5,  # below, with a good Recall@10: generation
    "Recall@10": 0.9,  # from here on, a wrong answer is the generator's fault
    "faithfulness": 0.5,  # below: answers do not stand on their sources
}
_RESAMPLES = 2_000
_ROUNDING = 1e-9  # a mean of thirds is not quite 0.8


class _Step(NamedTuple):
    look_at: str
    bad_above: bool
    meaning: str
    try_next: str


_POOL = _Step(
    "Recall@20",
    False,
    "the candidate pool misses documents",
    "another embedding model, another chunking, hybrid dense + sparse search, query rewriting",
)
_GAP = _Step(
    "Recall@20 - Recall@10",
    True,
    "documents are found but ranked too low",
    "a cross-encoder reranker",
)
_FIRST = _Step(
    "MRR@10", False, "the first relevant document comes late", "reranker scores, metadata boosts"
)
_FAILURES = _Step(
    "HitRate@10",
    False,
    "total failures: list them with failures(...) and look for a pattern",
    "query expansion, more data, the model's token limit",
)
_ACCURACY = _Step(
    "accuracy",
    False,
    "generation, not retrieval, where Recall@10 is high",
    "prompt, context format, another model",
)
_FAITHFULNESS = _Step(
    "faithfulness",
    False,
    "answers do not stand on their sources",
    "prompt, context format, another model",
)


def diagnose(
    all_qa: AllQA,
    results: ResultsLike,
    answers: Answers | None = None,
    thresholds: Mapping[str, float] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Go through the pipeline in order, and say at which step it loses first.

    Args:
        all_qa, results: see `relevance_matrix`; results of depth 20 for all steps.
        answers: from `generate_answers`; None leaves generation out. Accuracy is the token F1 of
            `answer_accuracy`, faithfulness the keyword screen of `faithfulness`.
        thresholds: in place of some of `DEFAULT_THRESHOLDS`.
        seed: of the bootstrap intervals.

    Returns:
        A row a step: ``value`` with its 95 % interval ``low, high``, ``threshold``, ``verdict`` (ok, problem,
        or cannot tell and why), ``meaning``, ``try_next``. ``.attrs["look_here_first"]`` is the first step
        with a problem, or None.
    """
    limits = _limits(thresholds)
    rng = np.random.default_rng(seed)
    measured = _retrieval_values(all_qa, results) | _answer_values(all_qa, results, answers)
    rows = {}
    for step in (_POOL, _GAP, _FIRST, _FAILURES, _ACCURACY, _FAITHFULNESS):
        values, why_not = measured[step.look_at]
        rows[step.look_at] = _row(step, values, why_not, limits[step.look_at], rng)
    _blame_retrieval_first(rows, measured, limits)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("look_at")
    problems = table.index[table["verdict"] == "problem"]
    table.attrs = {"look_here_first": problems[0] if len(problems) else None, "thresholds": limits}
    return table


def _limits(thresholds: Mapping[str, float] | None) -> dict[str, float]:
    unknown = set(thresholds or {}) - DEFAULT_THRESHOLDS.keys()
    if unknown:
        known = ", ".join(DEFAULT_THRESHOLDS)
        raise ValueError(
            f"No threshold is called {name_some(sorted(unknown))}; there are: {known}."
        )
    return {**DEFAULT_THRESHOLDS, **(thresholds or {})}


_Values = dict[str, tuple[np.ndarray, str]]  # values of the queries, or none and why not


def _retrieval_values(all_qa: AllQA, results: ResultsLike) -> _Values:
    table = per_query(
        all_qa, results, metrics=["Recall@10", "Recall@20", "RR@10", "HitRate@10"]
    ).dropna()
    depth = max([knowledge(results).get("k", 0), *map(len, as_rankings(results).values())])
    nothing = np.array([])
    to_20 = f"the results have depth {depth}: search with k=20" if depth < 20 else ""
    to_10 = f"the results have depth {depth}: search with k=20" if depth < 10 else ""
    recall_10, recall_20 = table["Recall@10"].to_numpy(), table["Recall@20"].to_numpy()
    return {
        "Recall@20": (nothing if to_20 else recall_20, to_20),
        "Recall@20 - Recall@10": (nothing if to_20 else recall_20 - recall_10, to_20),
        "MRR@10": (nothing if to_10 else table["RR@10"].to_numpy(), to_10),
        "HitRate@10": (nothing if to_10 else table["HitRate@10"].to_numpy(), to_10),
        "Recall@10": (nothing if to_10 else recall_10, to_10),
    }


def _answer_values(all_qa: AllQA, results: ResultsLike, answers: Answers | None) -> _Values:
    nothing = np.array([])
    if answers is None:
        return {
            "accuracy": (nothing, "no answers were given"),
            "faithfulness": (nothing, "no answers were given"),
        }
    known = ground_truths(all_qa)
    accuracy = answer_accuracy(answers, all_qa)["f1"].to_numpy() if known else nothing
    screened = faithfulness_frame(answers, as_rankings(results))["faithfulness"].dropna().to_numpy()
    return {
        "accuracy": (accuracy, "there is no answer" if known else "all_qa has no ground_truth"),
        "faithfulness": (screened, "no answer has content words"),
    }


def _row(
    step: _Step, values: np.ndarray, why_not: str, limit: float, rng: np.random.Generator
) -> dict[str, Any]:
    if not len(values):
        value, low, high, verdict = (
            np.nan,
            np.nan,
            np.nan,
            f"cannot tell: {why_not or 'no query has a value'}",
        )
    else:
        value = float(values.mean())
        low, high = np.percentile(resampled_means(values[:, None], _RESAMPLES, rng), [2.5, 97.5])
        bad = value > limit + _ROUNDING if step.bad_above else value < limit - _ROUNDING
        verdict = "problem" if bad else "ok"
    meaning = {"problem": step.meaning, "ok": "fine"}.get(verdict, "not measured")
    try_next = step.try_next if verdict == "problem" else ""
    return {
        "value": value,
        "low": low,
        "high": high,
        "threshold": limit,
        "verdict": verdict,
        "meaning": meaning,
        "try_next": try_next,
    }


def _blame_retrieval_first(
    rows: dict[str, dict[str, Any]], measured: _Values, limits: Mapping[str, float]
) -> None:
    """Do not call low accuracy a fault of generation where the documents were not there to answer from."""
    recall, _ = measured["Recall@10"]
    if rows["accuracy"]["verdict"] == "problem" and (
        not len(recall) or recall.mean() < limits["Recall@10"] - _ROUNDING
    ):
        found = f"Recall@10 is {recall.mean():.2f}" if len(recall) else "Recall@10 is not known"
        rows["accuracy"] |= {
            "verdict": "cannot tell: " + found,
            "meaning": "answers are wrong, and documents were missing: mend retrieval first",
            "try_next": "",
        }


# ---------------------------------------------------------------- query by query


def outcomes(all_qa: AllQA, results: ResultsLike, k: int = 10) -> pd.Series:
    """Class every query by what its first k hits hold.

    Returns:
        By query_id: ``"complete"`` (Recall@k is 1), ``"partial"`` (something was found, not all),
        ``"failed"`` (nothing), or ``"excluded"`` (no document is relevant).

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": ["A", "B"]}, {"query_id": "q2", "relevant_doc_ids": ["C"]}]
    >>> results = {"q1": [{"doc_id": "A"}], "q2": [{"doc_id": "A"}]}
    >>> outcomes(all_qa, results).to_dict()
    {'q1': 'partial', 'q2': 'failed'}
    """
    recall = per_query(all_qa, results, as_cutoff(k), ["Recall"]).iloc[:, 0]
    classes = np.select(
        [recall.isna(), recall >= 1 - 1e-12, recall > 0],
        ["excluded", "complete", "partial"],
        default="failed",
    )
    return pd.Series(classes, index=recall.index, name="outcome")


def failures(
    all_qa: AllQA, results: ResultsLike, k: int = 10, docs: Docs | None = None
) -> pd.DataFrame:
    """List the queries whose first relevant document came late or not at all, with what came instead.

    Args:
        all_qa: with ``question`` and, where known, ``kind``.
        results: hits with ``title``, ``content`` and ``score`` where there are.
        k: a query fails if nothing relevant is among its first k, and is late if it is not first.
        docs: the corpus, for the traits that need it: words and languages that it does not have.

    Returns:
        A row a failed or late query, failed first: ``question``, ``first_relevant_rank`` (NaN if none in the
        first k), ``came_instead`` (the hits before it, at most three), and a column of True and
        False a trait: ``long`` (question among the longest quarter), ``unknown words`` (half of the
        content words or more, abbreviations included, are in no document), ``copies on top`` (equal texts among the
        first k), ``close second`` (first relevant within 5 % of the top score), ``other language``
        (no relevant document in the question's script), and ``kind: ...``. `common_traits` counts them.
    """
    k = as_cutoff(k)
    rankings = as_rankings(results)
    queries = {qa["query_id"]: qa for qa in as_queries(all_qa)}
    rr = per_query(all_qa, results, k, ["RR"]).iloc[:, 0].dropna()
    lengths = {
        query_id: len(str(queries[query_id].get("question", "")).split()) for query_id in rr.index
    }
    long = float(np.percentile(list(lengths.values()), 75)) if lengths else 0.0
    documents = as_docs(docs, ("doc_id", "content")) if docs is not None else []
    corpus = {doc["doc_id"]: f"{doc.get('title', '')}\n{doc['content']}" for doc in documents}
    everything = "\n".join(corpus.values()).lower()
    kinds = sorted({str(qa["kind"]) for qa in queries.values() if "kind" in qa})
    rows, evaluated = {}, {}
    for query_id, value in rr.items():
        qa, hits = queries[query_id], list(rankings.get(query_id, []))[:k]
        rank = round(1 / value) if value > 0 else None
        traits = {
            "long": lengths[query_id] > long,
            **_corpus_traits(qa, corpus, everything),
            "copies on top": _has_copies(hits),
            "close second": rank is not None and rank > 1 and _is_close(hits, rank),
            **{f"kind: {kind}": str(qa.get("kind")) == kind for kind in kinds},
        }
        evaluated[query_id] = traits
        if rank != 1:
            before = hits[: (rank or k + 1) - 1]
            rows[query_id] = {
                "question": qa.get("question", ""),
                "first_relevant_rank": float(rank) if rank else np.nan,
                "came_instead": "; ".join(
                    f"{hit['doc_id']} {hit.get('title') or ''}".strip() for hit in before[:3]
                ),
                **traits,
            }
    columns = ["question", "first_relevant_rank", "came_instead"]
    table = pd.DataFrame.from_dict(
        rows, orient="index", columns=columns if not rows else None
    ).rename_axis("query_id")
    table = table.sort_values(
        "first_relevant_rank", ascending=False, na_position="first", kind="stable"
    )
    shares = pd.DataFrame.from_dict(evaluated, orient="index").mean().to_dict() if evaluated else {}
    table.attrs = {
        "k": k,
        "evaluated": len(rr),
        "share_of_all": {name: float(share) for name, share in shares.items()},
    }
    return table


def _corpus_traits(
    qa: Mapping[str, Any], corpus: Mapping[Any, str], everything: str
) -> dict[str, bool]:
    if not corpus:
        return {}
    question = str(qa.get("question", ""))
    hangul = any("가" <= letter <= "힣" for letter in question)
    relevant = [
        corpus[doc_id]
        for doc_id, grade in relevant_grades(qa).items()
        if grade > 0 and doc_id in corpus
    ]
    same_script = any(any("가" <= letter <= "힣" for letter in text) == hangul for text in relevant)
    words = content_words(question)
    unknown = [word for word in words if not occurs(word, everything)]
    return {
        "unknown words": bool(words) and len(unknown) >= len(words) / 2,
        "other language": bool(relevant) and not same_script,
    }


def _has_copies(hits: Sequence[Mapping[str, Any]]) -> bool:
    texts = [" ".join(str(hit["content"]).split()) for hit in hits if hit.get("content")]
    return len(set(texts)) < len(texts)


def _is_close(hits: Sequence[Mapping[str, Any]], rank: int) -> bool:
    top, first = hits[0].get("score"), hits[rank - 1].get("score")
    return top is not None and first is not None and abs(first - top) <= 0.05 * abs(top) + _ROUNDING


def common_traits(failed: pd.DataFrame) -> pd.DataFrame:
    """Count what the queries of `failures` have in common, beside how common it is among all queries.

    Returns:
        A row a trait, the largest excess first: ``queries`` (how many of the failed or late have it),
        ``share`` of them, ``share_of_all`` evaluated queries, and up to three ``examples``.

    Raises:
        ValueError: the table does not come from `failures`, or lost its ``attrs`` on the way.
    """
    if "share_of_all" not in failed.attrs:
        raise ValueError(
            "This table has no attrs of the kit: pass what failures returned, unchanged."
        )
    rows = {}
    for trait, share_of_all in failed.attrs["share_of_all"].items():
        having = failed.index[failed[trait].astype(bool)] if trait in failed else failed.index[:0]
        share = len(having) / len(failed) if len(failed) else 0.0
        rows[trait] = (len(having), share, share_of_all, ", ".join(map(str, having[:3])))
    table = pd.DataFrame.from_dict(
        rows, orient="index", columns=["queries", "share", "share_of_all", "examples"]
    )
    excess = (table["share"] - table["share_of_all"]).sort_values(ascending=False, kind="stable")
    return table.loc[excess.index].rename_axis("trait")
