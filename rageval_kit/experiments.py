"""Run a grid of systems over the same queries, honestly: one call, resumed, failures named."""

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, Unpack

import numpy as np

from rageval_kit.comparison import as_baseline
from rageval_kit.experiment_files import WORK, Folder
from rageval_kit.experiment_table import RESAMPLES, Cost, Experiment, Facts, make_table
from rageval_kit.fingerprints import Fingerprints
from rageval_kit.grids import System, Systems, as_systems, is_grid
from rageval_kit.identity import without_credentials
from rageval_kit.judgements import AllQA
from rageval_kit.messages import count, printable, show_progress, warn_user, wrong_type
from rageval_kit.metrics import Metrics
from rageval_kit.rankings import Results
from rageval_kit.relevance import Policies
from rageval_kit.study import Measured, Study, as_study, measure, takes_all_qa, values_by_query
from rageval_kit.vectors import needed

_PACKAGES = ("rageval-kit", "numpy", "pandas", "faiss-cpu", "langchain-core")


def experiment(  # noqa: PLR0913 - the settings of a whole study
    systems: Systems,
    all_qa: AllQA,
    k: int = 10,
    metrics: Metrics = ("nDCG", "Recall"),
    baseline: str | None = None,
    save: str | Path | None = None,
    one_at_a_time: bool = False,
    content: str | None = None,
    timed: int = 20,
    cost: Cost | None = None,
    seed: int = 0,
    **policies: Unpack[Policies],
) -> Experiment:
    """Run several systems over the same queries and say which is better, and at what price.

    A system that fails is a row with its error, and the others go on. With ``save=`` every finished
    system is kept at once: the same call goes on where it was broken off, and runs again only what
    has changed. A system is known by its content, not by its name: vectors, documents and model of
    a FAISS store; the code of ``make`` and of functions, what they were given, and the globals that
    they name. What they read from a file or a server is not seen: name it with ``content``.

    Shared work is done once: stores that are built here embed no text twice, and equal questions to
    equal stores are searched once. Let `functools.cache` stand above a function of yours that
    builds an index which several combinations share.

    Args:
        systems: ``{"name": system}``, where a system is results, a vector store, a retriever, or a
            function that takes all_qa and returns results; or ``(grid(...), make)``, where
            ``make(**settings)`` returns one of these for each combination.
        all_qa: see `relevance_matrix`; with questions, unless all systems are results.
        k: how many hits a query are wanted, and the cutoff of metrics that are named without one.
        metrics: see `per_query`; the first one decides.
        baseline: the name of the system that the others are compared with; None means the first.
        save: a folder, see `save_experiment`; None keeps nothing when Python ends.
        one_at_a_time: run only what differs from the baseline in one axis.
        content: what functions, retrievers and other stores read that the kit cannot see, such as
            ``"handbook 2026-11-30"``; change it when that changes.
        timed: of so many queries, drawn at random, a store or retriever is asked one by one after
            all else, uncached, for the times; 0 leaves them out.
        cost: a function of what is known of a system, a dict of its settings by axis and of
            ``texts_embedded``, ``characters_embedded`` and more, that returns the table of
            `estimate_cost`, of which the most counts, or ``{"tokens": ..., "money": ...}``::

                cost=lambda its: estimate_cost(
                    split_documents(docs, its["size"]), all_qa, its["model"], prices
                )

            It is called after all systems ran, and nothing of it is kept: prices may change.
        seed: of the random numbers.
        policies: see `Policies`.

    Returns:
        An `Experiment`. Its ``table`` has a row a system and, what is not known being NaN:

        * a column an axis;
        * of the first metric ``mean, low, high, difference, difference_low, difference_high,
          p_holm, verdict``, as in `compare`; Holm's correction is over all systems of the table;
        * ``like_best``: whether it cannot be told from the best, where all pairs count;
        * of the best ``held_out``, the mean where half of the queries choose the best system and
          the others measure it (500 splits, either way round), and ``optimism``, by how much it was
          higher on those that chose. The best is "better" only if it is so on queries held out;
        * of each other metric its mean, ``_low`` and ``_high``;
        * ``ms_median`` and ``ms_95`` of a query asked alone; ``texts_embedded``, documents and
          questions that the system needs if it is made alone, through the kit; ``tokens`` and
          ``money`` by ``cost``; ``index_bytes``; ``characters_a_query``, of the first k hits;
        * ``error``: why a system failed, else "".

    >>> all_qa = [{"query_id": f"q{i}", "relevant_doc_ids": ["A"]} for i in range(40)]
    >>> first = {f"q{i}": [{"doc_id": "B"}, {"doc_id": "A"}] for i in range(40)}
    >>> second = {f"q{i}": [{"doc_id": "A"}, {"doc_id": "B"}] for i in range(40)}
    >>> result = experiment({"old": first, "new": second}, all_qa, k=2, metrics=["RR"])
    >>> result
    Experiment of 2 systems over 40 queries; best by MRR@2: new (1.000)
    >>> result.table[["mean", "difference", "verdict", "held_out", "optimism"]]
    MRR@2   mean  difference   verdict  held_out  optimism
    system
    old      0.5         NaN  baseline       NaN       NaN
    new      1.0         0.5    better       1.0       0.0

    Raises:
        ValueError: no system or none that ran, no such baseline, or a wrong argument.
        TypeError, KeyError: systems or all_qa has another form.
    """
    from rageval_kit.embedding_cache import shared_work

    # All that can be wrong with the question is said before any system runs.
    study = as_study(all_qa, k, metrics, policies, content, timed, seed)
    named = as_systems(systems, baseline, one_at_a_time, study.judged.query_ids)
    baseline = as_baseline(baseline, list(named), "system")
    if cost is not None and not callable(cost):
        raise wrong_type("cost", "a function of what is known of a system, or None", cost)
    folder = None if save is None else Folder(save)

    # Every system, or its error.
    with shared_work(folder.path / WORK if folder else None):
        done = _run_all(named, study, folder)
    ran = {name: one.measured for name, one in done.items() if one.measured}
    facts = {name: one.facts for name, one in done.items()}
    if not ran:
        name, failed = next(iter(facts.items()))
        raise ValueError(f"Every system failed. {name}: {failed['error']}")

    # The table, and all that made it.
    values = np.stack([one.values for one in ran.values()], axis=1)
    labels = [column.label_of_mean for column in study.columns]
    table = make_table(values, labels, facts, baseline, seed, cost)
    grid = systems[0] if is_grid(systems) else None  # type: ignore[index]
    record = {
        **_made_with(study),
        "metrics": labels,
        "baseline": baseline,
        "axes": {axis: list(its) for axis, its in grid.axes.items()} if grid else {},
        "left_out": len(grid) - len(named) if grid else 0,
        "systems": facts,
    }
    runs = {name: one.run for name, one in ran.items()}
    result = Experiment(table, runs, record, study.queries)
    if folder:
        folder.finish(result)
    return result


def _made_with(study: Study) -> dict[str, Any]:
    """Return what every system was asked with, as JSON can hold it."""
    return {
        "date": _now(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {package: _version(package) for package in _PACKAGES},
        "queries": Fingerprints().of(study.queries),
        "k": study.k,
        "depth": study.depth,
        "policies": dict(study.policies),
        "content": study.content,
        "timed": study.timed,
        "seed": study.seed,
        "resamples": RESAMPLES,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _version(package: str) -> str | None:
    """Return the version of a package; None for one that runs from its folder, not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# ---------------------------------------------------------------- system by system


class _Done(NamedTuple):
    """What is known of a system, and what came of it; None where it failed."""

    facts: Facts
    measured: Measured | None


def _run_all(
    systems: Mapping[str, System], study: Study, folder: Folder | None
) -> dict[str, _Done]:
    """Run every system that is not known yet, and keep it before the next one runs."""
    hashes = Fingerprints()
    done: dict[str, _Done] = {}
    known: dict[str, tuple[Results, Facts]] = {}  # by fingerprint
    try:
        prints = _fingerprints(systems, study, hashes, warn=folder is not None)
        for name in show_progress(list(systems), "running", "system"):
            system, key = systems[name], prints[name]
            if folder and key not in known and not system.is_results:
                kept = folder.find(key, study.queries)
                known |= {key: kept} if kept else {}

            # Two systems of one fingerprint are one.
            is_new = system.is_results or key not in known
            came = _run(name, system, study) if is_new else _again(name, *known[key], study)
            error = came if isinstance(came, str) else ""
            facts: Facts = {"settings": system.settings, "fingerprint": key, "error": error}
            if isinstance(came, str):
                done[name] = _Done(facts, None)
                continue
            known[key] = came.run, came.facts
            done[name] = _Done({**came.facts, **facts}, came)
            if folder and is_new:
                folder.keep(name, key, came.run, came.facts)
    finally:
        hashes.leave()
    return done


def _run(name: str, system: System, study: Study) -> Measured | str:
    """Make a system and measure it; return its error where it fails."""
    before, started = needed.copy(), _now()
    try:
        came = measure(name, system.build(), study, before)
    except Exception as error:
        words = error.args[0] if isinstance(error, KeyError) and error.args else error
        noted = "\n".join([str(words), *getattr(error, "__notes__", [])])
        said = printable(without_credentials(" ".join(noted.split())))[:500]
        return f"{type(error).__name__}: {said}"
    return came._replace(facts={"date": started, **came.facts})


def _again(name: str, run: Results, facts: Facts, study: Study) -> Measured:
    """Return a run that is known, measured by the judgements as they are now."""
    return Measured(facts, run, values_by_query(name, run, study))


def _fingerprints(
    systems: Mapping[str, System], study: Study, hashes: Fingerprints, warn: bool
) -> dict[str, str]:
    """Return what each system is known by; one that cannot be looked into is new every time."""
    questions = [(qa["query_id"], qa.get("question")) for qa in study.queries]
    asked = [questions, study.k, study.depth, study.timed, study.seed, study.content]
    prints, unseen = {}, {}
    for name, system in systems.items():
        hashes.unseen.clear()
        try:
            judged = study.queries if takes_all_qa(system.told) else None
            prints[name] = hashes.of([system.told, asked, judged])
        except Exception:  # it will fail when it runs, and say why
            hashes.unseen.append("it fails")
        if hashes.unseen and study.content is None:
            prints[name], unseen[name] = token_hex(16), hashes.unseen[0]

    if unseen and warn:
        name, what = next(iter(unseen.items()))
        warn_user(
            f"{count(len(unseen), 'system')} will run anew each time, since it cannot be seen "
            f"whether what is read has changed ({name}: {what}). Say what it is: "
            'content="handbook 2026-11-30", and change that when it changes.'
        )
    return prints
