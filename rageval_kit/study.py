"""One system of an experiment: ask it for all queries, measure what comes, say what it costs."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rageval_kit.comparison import as_generator, matrices_of
from rageval_kit.experiment_table import Facts
from rageval_kit.files import is_writable
from rageval_kit.identity import model_name, without_cache
from rageval_kit.indexes import index_bytes
from rageval_kit.judgements import (
    AllQA,
    Judgements,
    as_queries,
    read_judgements,
    relevant_grades,
)
from rageval_kit.messages import (
    as_cutoff,
    count,
    name_some,
    shown,
    typed,
    warn_user,
    wrong_type,
)
from rageval_kit.metrics import Column, Metrics, as_columns, values_of
from rageval_kit.rankings import Hit, Results, as_rankings, direction, run_both_ways
from rageval_kit.relevance import Policies, complete_policies
from rageval_kit.search import search_all
from rageval_kit.trec import falling_scores
from rageval_kit.vectors import needed
from rageval_kit.vectorstore import is_faiss, stored_documents

_ASKED = ("similarity_search", "invoke")  # how a store or a retriever is asked one question
_KEPT = ("query_id", "question", "kind")  # of a query, beside its judgements


class Study(NamedTuple):
    """What every system of an experiment is asked, and how its answers are measured.

    Attributes:
        all_qa: as it was given; ``judged`` its judgements, and ``queries`` what a file keeps of it.
        columns, policies: the metrics, the first of which decides, and the policies.
        k, depth: hits that are handed on, and the depth of the search: k, or the deepest cutoff.
        content, timed, seed: see `experiment`.
    """

    all_qa: Any
    judged: Judgements
    queries: list[dict[str, Any]]
    columns: list[Column]
    policies: Policies
    k: int
    depth: int
    content: str | None
    timed: int
    seed: int


def as_study(
    all_qa: AllQA, k: Any, metrics: Metrics, policies: Any, content: Any, timed: Any, seed: Any
) -> Study:
    """Return what the systems are asked, checked before any of them runs."""
    k = as_cutoff(k)
    columns, judged = as_columns(metrics, k), read_judgements(all_qa)
    _refuse_odd_ids(judged.query_ids, "all_qa: query_ids")

    # The settings of the run.
    if content is not None and (not isinstance(content, str) or not content.strip()):
        raise wrong_type("content", 'a text such as "handbook 2026-11-30", or None', content)
    if type(timed) is not int or timed != 0:
        timed = as_cutoff(timed, "timed")
    if isinstance(seed, np.random.Generator):
        raise wrong_type("seed", "a whole number from 0", seed)
    as_generator(seed)

    # What a file keeps of the queries: questions, kinds and judgements.
    queries = []
    for qa in as_queries(all_qa):
        fields = {name: str(qa[name]) for name in _KEPT if name in qa}
        queries.append({**fields, "relevant_doc_ids": relevant_grades(qa)})
    depth = max([k, *(column.cutoff for column in columns if column.cutoff != "R")])
    chosen = complete_policies(policies)
    return Study(all_qa, judged, queries, columns, chosen, k, depth, content, timed, seed)


# ---------------------------------------------------------------- asking and measuring


class Measured(NamedTuple):
    """What came of a system: what is known of it, its run, and its values: (queries, metrics)."""

    facts: Facts
    run: Results
    values: np.ndarray


def measure(name: str, made: Any, study: Study, before: Counter[str]) -> Measured:
    """Ask a system for all queries and measure what comes.

    Args:
        name: of the system, for what is said of it.
        made: results, a store, a retriever or a function of all_qa.
        study: what is asked.
        before: what had been embedded before it was made.

    Raises:
        Exception: whatever the system raises; a ValueError or TypeError of the kit's for results
            that cannot be measured.
    """
    came = _ask(made, study)
    rankings = _as_run(came, study)
    values = values_by_query(name, rankings, study)
    run = _slim(rankings, study)
    scores = {"score_name": run.score_name, "lower_is_better": run.lower_is_better}
    facts = {"k": run.k, "index": run.index, "scored": _is_scored(run), **scores}
    return Measured({**facts, **_costs(made, rankings, study, needed - before)}, run, values)


def values_by_query(name: str, run: Results, study: Study) -> np.ndarray:
    """Return the value of every query and metric: (queries, metrics)."""
    matrices = matrices_of({name: run}, study.judged, study.columns, study.policies)
    return values_of(study.columns, matrices[name])


def takes_all_qa(made: Any) -> bool:
    """Say whether it is a function of all_qa, and neither a store, a retriever nor results."""
    return callable(made) and not _is_store(made) and not isinstance(made, Mapping)


def _is_store(made: Any) -> bool:
    return any(hasattr(made, way) for way in (*_ASKED, "asimilarity_search", "ainvoke"))


def _ask(made: Any, study: Study) -> Any:
    """Return what a system gives for all queries."""
    if _is_store(made):
        return search_all(made, study.all_qa, study.depth, content=study.content)
    if not takes_all_qa(made):
        return made
    try:
        came = made(study.all_qa)
        return came if came is None else as_rankings(came)
    except (TypeError, AttributeError, KeyError) as error:
        error.add_note(
            "A function gets all_qa and returns results; of one that gets a question make such a "
            "one: lambda all_qa: search_all(function, all_qa, k)."
        )
        raise


def _as_run(came: Any, study: Study) -> Results:
    """Return the first hits of every query of all_qa, or refuse what cannot be compared."""
    if came is None:
        raise TypeError("The function returned None, and no system. Is its return missing?")
    rankings, query_ids = as_rankings(came), study.judged.query_ids.tolist()
    missing = [query_id for query_id in query_ids if query_id not in rankings]
    if missing:
        found = f"no results for {count(len(missing), 'query')} of all_qa"
        raise ValueError(f"{found}: {name_some(missing)}. Search all of them.")
    if 0 < rankings.k < study.depth:
        raise ValueError(
            f"It was searched with k={rankings.k}, and {study.depth} hits are wanted. Search it "
            f"again with k={study.depth}."
        )
    left = [query_id for query_id in rankings if query_id not in study.judged.query_ids]
    if left:
        queries = count(len(left), "query")
        warn_user(f"results of {queries} not in all_qa are left out: {name_some(left)}.")

    # Ids that a file can hold.
    cut = {query_id: rankings[query_id][: study.depth] for query_id in query_ids}
    _refuse_odd_ids((hit["doc_id"] for hits in cut.values() for hit in hits), "doc_ids")
    return rankings.with_hits(cut, study.depth)


def _refuse_odd_ids(ids: Iterable[Any], what: str) -> None:
    """Refuse ids that a file cannot hold."""
    for one in ids:
        if not isinstance(one, str):
            found = f"{what} must be texts, found {typed(one)}"
            raise TypeError(f"{found}. Turn them into texts: str(...).")
        if not is_writable(one):
            found = f"{what}: {shown(one)} is empty, or holds NUL or half a character"
            raise ValueError(f"{found}. Rename it.")


def _slim(rankings: Results, study: Study) -> Results:
    """Return a run as a file holds it: doc_ids, and scores where every hit has one.

    As in TREC's form equal scores are stepped apart, in the last digit of a float32.
    """
    lower, scored = direction(rankings), _is_scored(rankings) and not run_both_ways(rankings)
    hits: dict[str, list[Hit]] = {}
    for query_id, ranking in rankings.items():
        hits[query_id] = [{"doc_id": hit["doc_id"]} for hit in ranking]
        falling = falling_scores(ranking, lower) if scored else []
        for hit, score in zip(hits[query_id], falling, strict=False):
            hit["score"] = -score if lower else score
    return Results(
        hits,
        study.depth,
        score_name=rankings.score_name if scored else None,
        lower_is_better=lower,
        index=rankings.index,
        questions=study.judged.questions,
    )


def _is_scored(run: Results) -> bool:
    return all(hit.get("score") is not None for hits in run.values() for hit in hits)


# ---------------------------------------------------------------- what it costs


def _costs(made: Any, rankings: Results, study: Study, texts: Counter[str]) -> Facts:
    """Return what is known of a system beside its hits; None is what is not."""
    facts: Facts = {
        "model": None,
        "milliseconds": None,
        "index_bytes": None,
        "texts_embedded": texts["texts"] or None,
        "characters_embedded": texts["characters"] or None,
        "characters_a_query": _characters(rankings, study.k),
    }
    if is_faiss(made):
        facts["model"] = model_name(made.embedding_function)
        facts["index_bytes"] = index_bytes(made.index)
        facts |= _texts(made, study, texts)
    if study.timed and _is_store(made):
        facts["milliseconds"] = _milliseconds(made, study)
    return facts


def _characters(rankings: Results, k: int) -> float | None:
    """Return how many characters the first k hits of a query hold, in the mean over the queries."""
    contents = [hit.get("content") for hits in rankings.values() for hit in hits[:k]]
    if not all(isinstance(content, str) for content in contents):
        return None
    return sum(len(str(content)) for content in contents) / max(len(rankings), 1)


def _texts(store: Any, study: Study, texts: Counter[str]) -> Facts:
    """Return what a FAISS store embeds when it is made alone: its documents and the questions.

    More was embedded where it was made of more than it holds.
    """
    questions = set(study.judged.questions.values())
    documents = [document.page_content for document in stored_documents(store)]
    sizes = sum(map(len, questions)) + sum(map(len, documents))
    return {
        "texts_embedded": max(texts["texts"], len(questions) + len(documents)),
        "characters_embedded": max(texts["characters"], sizes),
    }


def _milliseconds(store: Any, study: Study) -> list[float] | None:
    """Return the times of some queries, asked one by one and uncached, after one to warm up.

    None where the store cannot be asked so.
    """
    way = next((way for way in _ASKED if hasattr(store, way)), None)
    questions = list(study.judged.questions.values())
    if way is None or not questions:
        return None
    rng = np.random.default_rng(study.seed)
    chosen = rng.permutation(len(questions))[: study.timed]
    try:
        return [_time_of(store, way, questions[at], study.depth) for at in [chosen[0], *chosen]][1:]
    except Exception:  # such as a retriever that answers only asynchronously
        return None


def _time_of(store: Any, way: str, question: str, k: int) -> float:
    """Return the milliseconds that one question takes, its vector not taken from a cache."""
    started = time.perf_counter()
    if is_faiss(store):
        vector = without_cache(store.embedding_function).embed_query(question)
        store.similarity_search_by_vector(vector, k=k)
    else:
        getattr(store, way)(question, **({"k": k} if way == "similarity_search" else {}))
    return 1000 * (time.perf_counter() - started)
