"""Where a pipeline loses: the steps in order, each query's outcome, and what failures share."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rageval_kit.accuracy import answer_accuracy, has_truth
from rageval_kit.answers import Answers
from rageval_kit.comparison import as_generator, resampled_means
from rageval_kit.documents import Docs, as_docs, field_text, one_line, refuse_odd_columns, text_of
from rageval_kit.grounding import faithfulness_frame
from rageval_kit.judgements import (
    AllQA,
    Judgements,
    is_relevant,
    numbers,
    read_judgements,
    want_columns,
)
from rageval_kit.language import content_words, equal_text_key, normalised, occurs, script_of
from rageval_kit.messages import as_cutoff, is_number, shown, wrong_type
from rageval_kit.metrics import as_columns, matrix_for, per_query, values_of
from rageval_kit.rankings import Hit, ResultsLike, as_rankings, direction, knowledge
from rageval_kit.relevance import Relevance, match
from rageval_kit.wording import say, to_say

DEFAULT_THRESHOLDS = {
    "Recall@20": 0.8,  # below: the pool misses documents
    "Recall@20 - Recall@10": 0.1,  # above: documents are ranked too low
    "MRR@10": 0.5,  # below: the first relevant document comes late
    "HitRate@10": 0.9,  # below: too many total failures
    "accuracy": np.nan,  # none: an F1 means nothing by itself; below a given one: generation
    "Recall@10": 0.9,  # from here on, a wrong answer is the generator's fault
    "faithfulness": 0.5,  # below: answers do not stand on their sources
}
_RESAMPLES = 2_000
_ROUNDING = 1e-9  # a mean of thirds is not quite 0.8


class _Step(NamedTuple):
    look_at: str
    problem_if: str  # the value is below, or above its threshold
    meaning: str
    try_next: str


_STEPS = (
    _Step(
        "Recall@20",
        "below",
        to_say("the candidate pool misses documents"),
        to_say(
            "another embedding model, another chunking, hybrid dense + sparse search, query "
            "rewriting"
        ),
    ),
    _Step(
        "Recall@20 - Recall@10",
        "above",
        to_say("documents are found but ranked too low"),
        to_say("a cross-encoder reranker"),
    ),
    _Step(
        "MRR@10",
        "below",
        to_say("the first relevant document comes late"),
        to_say("reranker scores, metadata boosts"),
    ),
    _Step(
        "HitRate@10",
        "below",
        to_say("total failures: list them with failures(...) and look for a pattern"),
        to_say("query expansion, more data, the model's token limit"),
    ),
    _Step(
        "accuracy",
        "below",
        to_say("generation, not retrieval, where Recall@10 is high"),
        to_say("prompt, context format, another model"),
    ),
    _Step(
        "faithfulness",
        "below",
        to_say("answers do not stand on their sources"),
        to_say("prompt, context format, another model"),
    ),
)

_COLUMNS = ["value", "low", "high", "threshold", "verdict", "meaning", "try_next"]

# The values of the queries, one at least; or, in words, why there is none.
_Values: TypeAlias = np.ndarray | str


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
        thresholds: in place of some of `DEFAULT_THRESHOLDS`. Accuracy has none of its own, for a
            right answer in other words may have an F1 of 0.1: give one that answers to the same
            questions have reached, such as those of another answerer.
        seed: of the bootstrap intervals.

    Returns:
        A row a step: ``value`` with its 95 % interval ``low, high``, ``threshold``, ``verdict``
        (ok, problem, or cannot tell and why), ``meaning``, ``try_next``.
        ``.attrs["look_here_first"]`` is the first step with a problem, or None.

    Raises:
        ValueError: a threshold or the seed is no such number.
        TypeError, KeyError: all_qa, results or answers have another form, or are swapped.
    """
    limits = _limits(thresholds)
    rng = as_generator(seed)
    judged = read_judgements(all_qa)
    measured = _retrieval_values(judged, results) | _answer_values(judged, results, answers)

    names = [step.look_at for step in _STEPS]
    rows = [_row(step, measured[step.look_at], limits[step.look_at], rng) for step in _STEPS]
    table = pd.DataFrame(rows, columns=_COLUMNS, index=names).rename_axis("look_at")
    _blame_retrieval_first(table, measured["Recall@10"], limits["Recall@10"])

    problems = table.index[table["verdict"] == say("problem")]
    table.attrs = {"look_here_first": problems[0] if len(problems) else None, "thresholds": limits}
    return table


def _limits(thresholds: Mapping[str, float] | None) -> dict[str, float]:
    given = {} if thresholds is None else thresholds
    if not isinstance(given, Mapping):
        raise wrong_type("thresholds", 'a dict such as {"MRR@10": 0.6}', given)
    for name, value in given.items():
        if name not in DEFAULT_THRESHOLDS:
            known = ", ".join(DEFAULT_THRESHOLDS)
            raise ValueError(f"No threshold is called {shown(name)}; there are: {known}.")
        if not is_number(value) or value != value:
            raise ValueError(f"The threshold of {name} must be a number, found {shown(value)}.")
    return {**DEFAULT_THRESHOLDS, **given}


def _retrieval_values(judged: Judgements, results: ResultsLike) -> dict[str, _Values]:
    columns = as_columns(["Recall@20", "Recall@10", "RR@10", "HitRate@10"], 20)
    matrix = matrix_for(columns, judged, results, {})
    recall_20, recall_10, rr_10, hit_10 = values_of(columns, matrix)[matrix.n_relevant > 0].T
    measured: dict[str, _Values] = {
        "Recall@20": recall_20,
        "Recall@20 - Recall@10": recall_20 - recall_10,
        "MRR@10": rr_10,
        "HitRate@10": hit_10,
        "Recall@10": recall_10,
    }

    # What lies below the depth of the results is not known.
    depth = max(knowledge(results).get("k", 0), int(matrix.found.ranks.max(initial=-1)) + 1)
    for name in measured:
        if depth < (20 if name.startswith("Recall@20") else 10):
            measured[name] = say("the results have depth {depth}: search with k=20", depth=depth)
        elif not len(recall_10):
            measured[name] = say("no query has a value")
    return measured


def _answer_values(
    judged: Judgements, results: ResultsLike, answers: Answers | None
) -> dict[str, _Values]:
    if answers is None:
        return dict.fromkeys(("accuracy", "faithfulness"), say("no answers were given"))
    screened = faithfulness_frame(answers, as_rankings(results))["faithfulness"].dropna().to_numpy()
    faithful = screened if len(screened) else say("no answer has content words")
    if not any(map(has_truth, judged.queries)):
        return {"accuracy": say("all_qa has no ground_truth"), "faithfulness": faithful}
    f1 = answer_accuracy(answers, judged.queries)["f1"].to_numpy()
    return {"accuracy": f1 if len(f1) else say("there is no answer"), "faithfulness": faithful}


def _row(step: _Step, values: _Values, limit: float, rng: np.random.Generator) -> tuple[Any, ...]:
    """Return a row of the table: the mean, its interval, and what they mean."""
    if isinstance(values, str):
        verdict = say("cannot tell: {why}", why=values)
        return np.nan, np.nan, np.nan, limit, verdict, say("not measured"), ""

    value = float(values.mean())
    low, high = np.percentile(resampled_means(values[:, None], _RESAMPLES, rng), [2.5, 97.5])
    if np.isnan(limit):
        meaning = say("an F1 means nothing by itself: compare answers to the same questions")
        cure = say("judge_answers, or thresholds={'accuracy': what others reach}")
        return value, low, high, limit, say("cannot tell: no threshold"), meaning, cure

    below, above = value < limit - _ROUNDING, value > limit + _ROUNDING
    if {"below": below, "above": above}[step.problem_if]:
        its = say("problem"), say(step.meaning), say(step.try_next)
        return value, low, high, limit, *its
    return value, low, high, limit, say("ok"), say("fine"), ""


def _blame_retrieval_first(table: pd.DataFrame, recall: _Values, limit: float) -> None:
    """Do not call low accuracy a fault of generation where documents were missing."""
    if not isinstance(recall, str) and recall.mean() >= limit - _ROUNDING:
        return
    if table.loc["accuracy", "verdict"] == say("problem"):
        if isinstance(recall, str):
            verdict = say("cannot tell: Recall@10 is not known")
        else:
            verdict = say("cannot tell: Recall@10 is {recall:.2f}", recall=recall.mean())
        meaning = say("answers are wrong, and documents were missing: fix retrieval first")
        row = [verdict, meaning, ""]
        table.loc["accuracy", ["verdict", "meaning", "try_next"]] = row


# ---------------------------------------------------------------- query by query


def outcomes(all_qa: AllQA, results: ResultsLike, k: int = 10) -> pd.Series:
    """Class every query by what its first k hits hold.

    Returns:
        By query_id: ``"complete"`` (Recall@k is 1), ``"partial"`` (something was found, not all),
        ``"failed"`` (nothing), or ``"excluded"`` (no document is relevant).

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": ["A", "B"]},
    ...           {"query_id": "q2", "relevant_doc_ids": ["C"]}]
    >>> results = {"q1": [{"doc_id": "A"}], "q2": [{"doc_id": "A"}]}
    >>> outcomes(all_qa, results).to_dict()
    {'q1': 'partial', 'q2': 'failed'}
    """
    recall = per_query(all_qa, results, as_cutoff(k), ["Recall"]).iloc[:, 0]
    conditions = [recall.isna(), recall >= 1 - 1e-12, recall > 0]
    classes = np.select(conditions, ["excluded", "complete", "partial"], default="failed")
    return pd.Series(classes, index=recall.index, name="outcome")


class _Asked(NamedTuple):
    """A query with what it found; ``rank`` is that of the first relevant hit, 0 if none came."""

    query_id: Any
    question: str
    kind: str
    relevant: list[str]
    hits: list[Hit]
    rank: int


def failures(
    all_qa: AllQA, results: ResultsLike, k: int = 10, docs: Docs | None = None
) -> pd.DataFrame:
    """List the queries whose first relevant document came late or not at all, and what came before.

    Args:
        all_qa: with ``question`` and, where known, ``kind``.
        results: hits with ``title``, ``content`` and ``score`` where there are.
        k: a query fails if nothing relevant is among its first k, and is late if it is not first.
        docs: the corpus, for the traits that need it: words and languages that it does not have.

    Returns:
        A row a failed or late query, failed first: ``question``, ``first_relevant_rank`` (NaN if
        none in the first k), ``came_instead`` (the hits before it, at most three), and a column of
        True and False a trait: ``long`` (question among the longest quarter), ``unknown words``
        (half of the content words or more, abbreviations included, are in no document), ``copies on
        top`` (equal texts among the first k), ``close second`` (first relevant within 5 % of the
        top score), ``other language`` (no relevant document in the question's script), and
        ``kind: ...``. `common_traits` counts them.

    Raises:
        TypeError, KeyError, ValueError: all_qa, results or docs have another form, or are swapped.
    """
    k = as_cutoff(k)
    matrix = match(read_judgements(all_qa), results, k, [k], {})
    asked = _asked(matrix, as_rankings(results), k)
    asked.sort(key=lambda query: query.rank or np.inf, reverse=True)  # the worst first

    # Each trait of every evaluated query, so that failures can be compared with all.
    lengths = [len(query.question.split()) for query in asked]
    long = np.percentile(lengths, 75) if lengths else 0.0
    kinds = sorted({str(qa["kind"]) for qa in matrix.judgements.queries if "kind" in qa})
    traits = pd.DataFrame({
        "long": [length > long for length in lengths],
        **(_corpus_traits(asked, docs) if docs is not None else {}),
        "copies on top": [_has_copies(query.hits) for query in asked],
        "close second": [query.rank > 1 and _is_close(query) for query in asked],
        **{f"kind: {kind}": [query.kind == kind for query in asked] for kind in kinds},
    })  # fmt: skip

    # The table: those that failed (rank 0) or came late.
    rows = [(q.query_id, q.question, q.rank or np.nan, _came_instead(q)) for q in asked]
    columns = ["query_id", "question", "first_relevant_rank", "came_instead"]
    table = pd.DataFrame(rows, columns=columns).astype({"first_relevant_rank": float}).join(traits)
    table = table[table["first_relevant_rank"] != 1].set_index("query_id")
    shares = traits.mean().to_dict() if asked else {}
    table.attrs = {"k": k, "evaluated": len(asked), "share_of_all": shares}
    return table


def _asked(matrix: Relevance, rankings: Mapping[Any, list[Hit]], k: int) -> list[_Asked]:
    """Return the evaluated queries, each with its first k hits."""
    judged = matrix.judgements
    records = {qa["query_id"]: qa for qa in judged.queries}
    is_one = is_relevant(judged.grades)
    relevant = pd.Series(judged.docs[is_one]).groupby(judged.rows[is_one]).agg(list)

    asked = []
    for row, doc_ids in zip(relevant.index.tolist(), relevant, strict=True):
        query_id = matrix.query_ids[row]
        record = records.get(query_id, {})
        question, kind = str(record.get("question", "")), str(record.get("kind"))
        ranks = matrix.ranks[matrix.hits[row]].tolist()
        hits = rankings.get(query_id, [])[:k]
        asked.append(_Asked(query_id, question, kind, doc_ids, hits, ranks[0] if ranks else 0))
    return asked


def _corpus_traits(asked: Sequence[_Asked], docs: Docs) -> dict[str, list[bool]]:
    corpus = {doc["doc_id"]: text_of(doc) for doc in as_docs(docs, ("doc_id", "content"))}
    words = [content_words(query.question) for query in asked]

    # Which of the words occur in the corpus? A word that it repeats is read once.
    vocabulary = " ".join(dict.fromkeys(normalised("\n".join(corpus.values())).split()))
    asked_for = set().union(*words)
    known = {word for word in asked_for if word in vocabulary and occurs(word, vocabulary)}

    unknown_words, other_language = [], []
    for query, its_words in zip(asked, words, strict=True):
        unknown = [word for word in its_words if word not in known]
        unknown_words.append(bool(unknown) and len(unknown) >= len(its_words) / 2)
        ours = script_of(query.question)
        theirs = {script_of(corpus[doc_id]) for doc_id in query.relevant if doc_id in corpus}
        other_language.append(bool(ours and theirs) and ours not in theirs)
    return {"unknown words": unknown_words, "other language": other_language}


def _came_instead(query: _Asked) -> str:
    before = query.hits[: query.rank - 1] if query.rank else query.hits
    return "; ".join(f"{hit['doc_id']} {one_line(hit, 'title')}".strip() for hit in before[:3])


def _has_copies(hits: Sequence[Hit]) -> bool:
    contents = [field_text(hit, "content") for hit in hits]
    texts = [equal_text_key(content) for content in contents if content.strip()]
    return len(set(texts)) < len(texts)


def _is_close(query: _Asked) -> bool:
    top, first = query.hits[0].get("score"), query.hits[query.rank - 1].get("score")
    return top is not None and first is not None and abs(first - top) <= 0.05 * abs(top) + _ROUNDING


def common_traits(failed: pd.DataFrame) -> pd.DataFrame:
    """Count what the queries of `failures` have in common, beside how common it is among all.

    Returns:
        A row a trait, the largest excess first: ``queries`` (how many of the failed or late have
        it), ``share`` of them, ``share_of_all`` evaluated queries, and up to three ``examples``.

    Raises:
        TypeError: it is no table.
        ValueError: the table does not come from `failures`, or lost its ``attrs`` on the way.
    """
    if not isinstance(failed, pd.DataFrame):
        raise wrong_type("failed", "the table that failures(...) returns", failed)
    if "share_of_all" not in failed.attrs:
        raise ValueError(
            "This table has no attrs of the kit: pass what failures returned, as it is."
        )

    refuse_odd_columns(failed, "failed")
    rows = {}
    for trait, share_of_all in failed.attrs["share_of_all"].items():
        having = failed.index[_marks(failed, trait)]
        share = len(having) / len(failed) if len(failed) else 0.0
        rows[trait] = (len(having), share, share_of_all, ", ".join(map(str, having[:3])))
    columns = ["queries", "share", "share_of_all", "examples"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("trait")
    excess = (table["share"] - table["share_of_all"]).sort_values(ascending=False, kind="stable")
    return table.loc[excess.index]


def _marks(failed: pd.DataFrame, trait: str) -> list[bool]:
    """Return which rows of `failures` have a trait."""
    marks = failed[trait].tolist() if trait in failed else [False] * len(failed)
    odd = [mark for mark in marks if not isinstance(mark, (bool, Real)) or mark not in (0, 1)]
    if odd:
        found = f"failed: {trait} must be True or False, found {shown(odd[0])}"
        cure = f'table["{trait}"] == "True" turns the texts of a file back'
        raise TypeError(f"{found}: {cure}.")
    return [bool(mark) for mark in marks]


# ---------------------------------------------------------------- when to refuse


def abstention_curve(all_qa: AllQA, results: ResultsLike) -> pd.DataFrame:
    """Show what a threshold on the best score does: answer only where the first hit is near enough.

    Args:
        all_qa: answerable queries have a relevant document, unanswerable ones have none; both are
            needed.
        results: hits with scores, whose direction is known (`search_all`) or told by their order.

    Returns:
        A row a threshold, from answering nothing to answering everything: ``threshold`` (the worst
        best score that is still answered), ``unanswerable_answered`` and ``answerable_refused``
        (shares, lower is better). ``.attrs["lower_is_better"]`` says on which side of the threshold
        a question is answered.

    >>> all_qa = [{"query_id": "q1", "relevant_doc_ids": ["A"]},
    ...           {"query_id": "q2", "relevant_doc_ids": []}]
    >>> results = {"q1": [{"doc_id": "A", "score": 0.2}, {"doc_id": "B", "score": 0.8}],
    ...            "q2": [{"doc_id": "B", "score": 0.6}]}
    >>> abstention_curve(all_qa, results)
       threshold  unanswerable_answered  answerable_refused
    0        NaN                    0.0                 1.0
    1        0.2                    0.0                 0.0
    2        0.6                    1.0                 0.0

    Raises:
        ValueError: one kind is missing, a first hit has no score, or the direction of the scores
            cannot be told.
    """
    judged, rankings = read_judgements(all_qa), as_rankings(results)
    answerable = judged.n_relevant > 0
    if answerable.all() or not answerable.any():
        both = "queries with relevant documents, and queries without"
        cure = "Add some of the other kind, with relevant_doc_ids [] where no document answers"
        raise ValueError(f"Both kinds are needed: {both}. {cure}.")
    best = np.array([_best_score(rankings, query_id) for query_id in judged.query_ids])
    lower = direction(rankings)
    if lower is None:
        found = "The scores do not tell whether lower is better"
        cure = "order all rankings alike, or give results of search_all"
        raise ValueError(f"{found}: they rise in one place and fall in another, or stay; {cure}.")

    # Each best score is a limit: which share of either kind lies on its near side?
    distances = best if lower else -best
    limits = np.unique(distances)
    kinds = np.sort(distances[answerable]), np.sort(distances[~answerable])
    right, in_vain = (np.searchsorted(kind, limits, side="right") / len(kind) for kind in kinds)
    curve = pd.DataFrame({
        "threshold": [np.nan, *(limits if lower else -limits)],
        "unanswerable_answered": [0.0, *in_vain],
        "answerable_refused": [1.0, *(1 - right)],
    })  # fmt: skip
    n_answerable = int(answerable.sum())
    curve.attrs = {"lower_is_better": lower, "answerable": n_answerable, "n": len(answerable)}
    return curve


def _best_score(rankings: Mapping[Any, list[Hit]], query_id: Any) -> float:
    hits = rankings.get(query_id, [])
    if not hits or hits[0].get("score") is None:
        needed = "a threshold needs the score of every query's first hit"
        raise ValueError(f"{query_id} has no hit with a score: {needed}. Search with search_all().")
    return float(hits[0]["score"])


def threshold_for(curve: pd.DataFrame, unanswerable_answered: float) -> pd.Series:
    """Return the row of `abstention_curve` that refuses least, at most this share answered in vain.

    Args:
        curve: from `abstention_curve`.
        unanswerable_answered: the largest share that is put up with, 0..1.

    >>> curve = pd.DataFrame({"threshold": [float("nan"), 0.4, 0.9],
    ...                       "unanswerable_answered": [0, 0.1, 1],
    ...                       "answerable_refused": [1, 0.3, 0]})
    >>> float(threshold_for(curve, 0.2)["threshold"])
    0.4

    Raises:
        TypeError: curve is no such table: swapped?
        ValueError: the share is not within 0..1, or the curve has no row for it.
    """
    share = unanswerable_answered
    columns = ("threshold", "unanswerable_answered", "answerable_refused")
    if not isinstance(curve, pd.DataFrame):
        raise wrong_type("curve", "what abstention_curve(...) returns, as first argument", curve)
    want_columns(curve, columns, "curve", "curve must be what abstention_curve(...) returns")
    for column in columns:
        numbers(curve.dropna(subset=[column]), column, "curve")
    if not is_number(share) or not 0 <= share <= 1:
        raise ValueError(f"unanswerable_answered is a share between 0 and 1, found {shown(share)}.")

    allowed = curve[curve["unanswerable_answered"] <= share]
    if allowed.empty:
        raise ValueError(f"The curve has no row up to {share}. Pass abstention_curve(...) whole.")
    return allowed.iloc[int(allowed["answerable_refused"].to_numpy().argmin())]
