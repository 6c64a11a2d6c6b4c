"""What is right: for every public name an expectation of the values that a call may return.

Each reads the arguments as they were made (recipes through `view`) and returns a check of the
value. It raises oracle.py's Refused where the kit must refuse, and Unknown where nothing can be
known; ``doubts`` says why a refusal would be right too. A check that finds nothing to look at
returns NotImplemented.
"""

import copy
import itertools
import json
import math
import statistics
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import oracle
import pandas as pd
from fuzz_inputs import (
    METRIC_FUNCTIONS,
    NAN,
    SENTENCES,
    VERDICTS,
    Hashed,
    Lazy,
    a_file,
    all_texts,
    as_text,
    by_field,
    extractive,
    generator,
    hashed,
    odd_model,
    one_token,
    realise,
    same,
    view,
    words_shared,
)
from oracle import Refused, Unknown

import rageval_kit
from rageval_kit.wording import current_language


class Wrong(Exception):
    """The value is not what the definitions say."""


def want(condition, text):
    if not condition:
        raise Wrong(text)


def close(value, expected):
    """Say whether a number is the expected one, NaN included."""
    value = float(value) if not pd.isna(value) else NAN
    return math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-9) or (
        value != value and expected != expected
    )


def want_close(value, expected, where):
    want(close(value, expected), f"{where}: {value!r}, by definition {expected!r}")


def comes_as_table(results):
    """Say whether results are a table, which may lack scores and contents."""
    return oracle.is_table(results) or (
        isinstance(results, Lazy) and results.arguments[-1] == "table"
    )


def refuse_broken(ranked):
    """Refuse rankings with a hit that is none, or with a score that is none."""
    for docs in ranked.values():
        for doc in docs:
            if isinstance(doc, oracle.Broken):
                raise Refused(doc.why)


def doubt_broken(a, doubts):
    """Doubt results in which a hit is none, be it below the cutoff or of another query."""
    try:
        refuse_broken(oracle.rankings(view(a["results"]), doubts))
    except Refused as why:
        doubts.append(str(why))


def policies_in(a):
    return {name: a[name] for name in oracle.CHOICES if name in a}


def plain_list(values):
    return [oracle.plain(value) for value in values]


def as_text_or_doubt(value, doubts, name):
    if not isinstance(value, str):
        raise Refused(f"{name} is {value!r}")
    return value


def whole_number(value, least, name):
    if oracle.is_array_of_one(value):
        raise Unknown(name)
    value = oracle.plain(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise Refused(f"{name} is {value!r}")
    return value


def usual(value, doubts, name, fits):
    """Doubt what is not of the usual kind: it may be refused, and no value is known."""
    try:
        good = fits(value)
    except Exception:
        good = False
    if not good:
        doubts.append(f"{name} is {value!r}"[:80])
        raise Unknown(name)


def is_seed(value):
    return type(value) is int and value >= 0


def is_tokenizer(value):
    return value in (str.split, one_token)


# ---------------------------------------------------------------- metrics


def table_of(a, doubts, metrics, default=(1, 3, 5)):
    """Return the oracle's table of a call with all_qa, results, ks or k, and policies."""
    ks = next(
        (a[name] for name in ("ks", "k") if name in a and not not_given(a[name], doubts)), default
    )
    asked = oracle.columns(view(metrics), view(ks), doubts)
    if any(column.cutoff != "R" and column.cutoff > 10**9 for column in asked):
        doubts.append("a cutoff beyond all sense")
    return oracle.table(view(a["all_qa"]), view(a["results"]), asked, policies_in(a), doubts)


def not_given(k, doubts):
    """Say whether a cutoff is None: the default of some functions, and no cutoff of the others."""
    if k is None:
        doubts.append("k is None")
    return k is None


def k_of(a, doubts, default):
    """Return the one cutoff of functions that take one; a list of one may be refused."""
    if "k" not in a or not_given(a["k"], doubts):
        return default
    if not isinstance(oracle.plain(a["k"]), (int, float)):
        doubts.append("k is no number")
    return a["k"]


def expect_one_metric(metric):
    return lambda a, doubts: expect_per_query({**a, "metrics": [metric]}, doubts)


def expect_per_query(a, doubts):
    table = table_of(a, doubts, a.get("metrics", oracle.THE_FIVE))
    expected = [table.values(column) for column in table.columns]

    def check(seen):
        found = seen.value
        want(isinstance(found, pd.DataFrame), "no DataFrame came back")
        want(plain_list(found.index) == list(table.queries), f"rows {list(found.index)!r}")
        want(found.shape[1] == len(expected), f"columns {list(found.columns)!r}")
        for position, (column, values) in enumerate(zip(table.columns, expected, strict=True)):
            label = found.columns[position]
            want(label == column.label, f"column {label!r}, not {column.label!r}")
            for query_id, value in (values or {}).items():
                row = list(table.queries).index(query_id)
                want_close(found.iloc[row, position], value, f"{label} of {query_id!r}")
        without = sum(not oracle.n_relevant(query.grades) for query in table.queries.values())
        excluded = without if table.policies["no_relevant"] == "exclude" else 0
        want(
            found.attrs["excluded"] == excluded,
            f"attrs say {found.attrs['excluded']} excluded, not {excluded}",
        )
        check_warnings(seen, a, table)
        return NotImplemented if all(values is None for values in expected) else None

    return check


def check_warnings(seen, a, table):
    """A query without results, and a k deeper than the search, are said."""
    ranked = oracle.rankings(view(a["results"]), [], table.queries)
    missing = [
        q
        for q, query in table.queries.items()
        if q not in ranked and oracle.n_relevant(query.grades)
    ]
    if len(missing) <= 5:
        for query_id in missing:
            want(names_it(seen.warnings, query_id), f"no warning names {query_id!r}, not searched")
    deepest = max([column.cutoff for column in table.columns if column.cutoff != "R"], default=0)
    searched = getattr(view(a["results"]), "k", 0)
    real = seen.arguments["results"]
    if 0 < searched < deepest and (hasattr(real, "k") or isinstance(real, pd.DataFrame)):
        want(
            any(f"k={searched}" in text for text in seen.warnings),
            f"no warning that the search had k={searched}",
        )


def expect_evaluate(a, doubts):
    average = a.get("average", "macro")
    if not isinstance(average, str) or average not in ("macro", "pooled"):
        raise Refused(f"average={average!r}")
    table = table_of(a, doubts, a.get("metrics", oracle.THE_FIVE))
    mean = table.pooled if average == "pooled" else table.macro
    if average == "pooled" and table.policies["no_relevant"] in ("zero", "one"):
        raise Refused("a pooled average of queries without a relevant document")
    expected = {column: mean(column) for column in table.columns if column.metric}

    def check(seen):
        for column, value in expected.items():
            name = oracle.MEANS.get(column.name, column.name)
            want(name in seen.value.index, f"no row {name}: {list(seen.value.index)}")
            want(column.cutoff in seen.value.columns, f"no column {column.cutoff!r}")
            want_close(seen.value.loc[name, column.cutoff], value, f"{name}@{column.cutoff}")
        check_warnings(seen, a, table)
        return None if expected else NotImplemented

    return check


def expect_relevance_matrix(a, doubts):
    k = oracle.cutoff(a["k"])
    if k > 10**9:
        doubts.append("a cutoff beyond all sense")
    queries = oracle.matrix(view(a["all_qa"]), view(a["results"]), k, policies_in(a), doubts)
    exponential = a.get("gain") == "exponential"

    def check(seen):
        found = seen.value
        want(plain_list(found.query_ids) == list(queries), f"rows {list(found.query_ids)!r}")
        width = found.gains.shape[1]
        longest = max(len(query.docs) for query in queries.values())
        want(width == k or longest <= width < k, f"{width} ranks, k={k}, {longest} hits")
        for row, (query_id, query) in enumerate(queries.items()):
            want(
                found.n_relevant[row] == oracle.n_relevant(query.grades),
                f"n_relevant of {query_id!r}",
            )
            want(found.n_returned[row] == len(query.docs), f"n_returned of {query_id!r}")
            for rank in range(width):
                grade = (
                    max(query.grades.get(query.docs[rank], 0), 0) if rank < len(query.docs) else 0
                )
                if exponential and grade > 1000:
                    return NotImplemented
                gain = 2.0**grade - 1 if exponential else grade
                want_close(found.gains[row, rank], gain, f"gain of {query_id!r} at rank {rank + 1}")
        found.to_frame()
        return None

    return check


def expect_explain(a, doubts):
    metric = a.get("metric", "nDCG")
    asked = oracle.columns([metric], view(k_of(a, doubts, 5)), doubts)
    if len(asked) > 1:
        raise Refused("explain takes one cutoff")
    if asked[0].metric is None:
        raise Unknown("a function of the user's")
    query_id = oracle.an_id(a["query_id"], doubts)
    ids = [qa.get("query_id") for qa in oracle.queries(view(a["all_qa"]), doubts)]
    if not any(
        oracle.plain(other) == query_id
        for other in ids
        if isinstance(oracle.plain(other), (str, int))
    ):
        raise Refused(f"no query {query_id!r}")
    whole = {**a, "k": asked[0].cutoff if asked[0].cutoff != "R" else 1}
    try:
        value = table_of(whole, doubts, [metric]).values(asked[0])[query_id]
    except Refused as why:
        doubts.append(f"perhaps of another query: {why}")
        raise Unknown(str(why)) from None

    def check(seen):
        want_close(seen.value.value, value, f"{metric} of {query_id!r}")
        said = str(seen.value).rsplit("= ", maxsplit=1)[-1].strip()
        want_close(float(said), value, "the last number of the text")
        searched = getattr(seen.arguments["results"], "k", 0)
        if asked[0].cutoff != "R" and 0 < searched < asked[0].cutoff:
            want(
                any(f"k={searched}" in text for text in seen.warnings),
                f"no warning that the search had k={searched}",
            )

    return check


def was_called(value):
    return (
        isinstance(value, Lazy) and value.make.__name__ == "called" and realise(value) is not None
    )


def expect_caption(a, doubts):
    if not was_called(a["table"]):
        doubts.append("a table that was changed on the way")

    def check(seen):
        table = seen.arguments["table"]
        want(isinstance(seen.value, str) and seen.value.endswith("."), f"{seen.value!r}")
        want(
            f"{table.attrs['evaluated']:,} quer" in seen.value,
            f"{seen.value!r} does not tell the queries",
        )

    return check


def expect_outcomes(a, doubts):
    oracle.cutoff(a.get("k", 10))  # one, and no list of them
    table = table_of(a, doubts, ["Recall"], default=10)
    expected = {
        query_id: oracle.outcome(value)
        for query_id, value in table.values(table.columns[0]).items()
    }
    return lambda seen: want(
        dict(zip(plain_list(seen.value.index), seen.value, strict=True)) == expected,
        f"{seen.value.to_dict()!r}, by definition {expected!r}",
    )


# ---------------------------------------------------------------- runs


def default_depth(runs):
    """Return the cutoff where none is given: 10, or the depth of the shallowest search if less."""
    depths = [getattr(view(run), "k", 0) for run in runs.values()]
    return min([10, *(depth for depth in depths if depth)])


def expect_compare(a, doubts):
    runs = a["runs"]
    if not isinstance(runs, dict) or not runs:
        raise Refused("no run")
    metrics, k = a.get("metrics", oracle.THE_FIVE), k_of(a, doubts, default_depth(runs))
    resamples = whole_number(a.get("resamples", 10_000), 1, "resamples")
    usual(a.get("seed", 0), doubts, "seed", is_seed)
    baseline = a.get("baseline")
    if baseline is not None and not (isinstance(baseline, str) and baseline in runs):
        raise Refused(f"no run {baseline!r}")
    if any(not isinstance(name, str) for name in runs):
        doubts.append("names of runs that are no texts")

    # The same queries must have been searched for all runs, and to one depth.
    tables = {
        name: table_of({**a, "results": run, "k": k}, doubts, metrics) for name, run in runs.items()
    }
    base = tables[baseline if baseline is not None else next(iter(runs))]
    ranked = {name: oracle.rankings(view(run), doubts, base.queries) for name, run in runs.items()}
    if len({frozenset(set(found) & set(base.queries)) for found in ranked.values()}) > 1:
        raise Refused("the runs differ in their queries")
    doubt_depths(runs, ranked, doubts)
    known = [column for column in base.columns if column.metric]
    if any(sum(value == value for value in base.values(column).values()) < 2 for column in known):
        raise Refused("fewer than two queries have a value")
    if len(base.columns) * (len(runs) - 1) / (resamples + 1) >= 0.05:
        doubts.append("too few resamples")

    def check(seen):
        for column, (name, table) in itertools.product(known, tables.items()):
            mean_name = oracle.MEANS.get(column.name, column.name)
            label = mean_name if column.cutoff == "R" else f"{mean_name}@{column.cutoff}"
            row, values, others = (
                seen.value.loc[(label, name)],
                table.values(column),
                base.values(column),
            )
            want_close(row["mean"], table.macro(column), f"mean {label} of {name}")
            if table is base:
                continue
            change = [values[q] - others[q] for q in values if values[q] == values[q]]
            want_close(row["difference"], oracle.mean(change), f"difference in {label} of {name}")
            counts = (sum(c > 1e-12 for c in change), sum(c < -1e-12 for c in change))
            want(
                (row["wins"], row["losses"]) == counts,
                f"wins and losses of {name}, by definition {counts}",
            )
            want(
                0 < row["p"] <= row["p_holm"] + 1e-12 <= 1 + 1e-9,
                f"p={row['p']}, p_holm={row['p_holm']}",
            )
        return None if known else NotImplemented

    return check


def doubt_depths(runs, ranked, doubts):
    """Doubt runs of several depths: as asked for where that is known, else the longest ranking."""
    asked = {
        getattr(view(runs[name]), "k", 0) or max(map(len, ranked[name].values()), default=0)
        for name in runs
    }
    if len(asked) > 1:
        doubts.append(f"the runs have depths {asked}")


def expect_differences(a, doubts):
    runs = a["runs"]
    if not isinstance(runs, dict) or len(runs) != 2:
        raise Refused("not two runs")
    metric = a.get("metric", "nDCG")
    if any(not isinstance(name, str) for name in runs):
        doubts.append("names of runs that are no texts")
    k = k_of(a, doubts, default_depth(runs))
    tables = [table_of({**a, "results": run, "k": k}, doubts, [metric]) for run in runs.values()]
    ranked = [oracle.rankings(view(run), doubts, tables[0].queries) for run in runs.values()]
    queries = set(tables[0].queries)
    if (set(ranked[0]) ^ set(ranked[1])) & queries:
        raise Refused("the runs differ in their queries")
    doubt_depths(runs, dict(zip(runs, ranked, strict=True)), doubts)
    if len(tables[0].columns) > 1:
        raise Refused("differences shows one metric at one cutoff")
    if tables[0].columns[0].metric is None:
        raise Unknown("a function of the user's")
    values = [table.values(table.columns[0]) for table in tables]

    def check(seen):
        want(
            sorted(map(str, seen.value.index)) == sorted(map(str, queries)),
            f"rows {list(seen.value.index)!r}",
        )
        for query_id, row in zip(
            plain_list(seen.value.index), seen.value.to_dict("records"), strict=True
        ):
            want_close(
                row["difference"],
                values[1][query_id] - values[0][query_id],
                f"difference of {query_id!r}",
            )

    return check


# ---------------------------------------------------------------- diagnosis


def are_documents(docs):
    """Say whether each has an id of its own, a title and a content, all texts."""
    texts = [doc[name] for doc in docs for name in ("doc_id", "content")]
    return (
        all(type(text) is str and text.strip() for text in texts)
        and all(isinstance(doc.get("title"), str) for doc in docs)
        and len({doc["doc_id"] for doc in docs}) == len(docs) > 0
    )


def usual_docs(value, doubts):
    """Return docs as the oracle reads them; doubt what is not usual, and know nothing then."""
    docs = oracle.records(view(value), doubts, "docs")
    usual(docs, doubts, "docs", are_documents)
    return docs


def usual_embeddings(model, doubts):
    fits = lambda e: e.make.__name__ == "embeddings" and e.arguments[0] in ("", "array")  # noqa: E731
    usual(model, doubts, "embeddings", fits)


def doubt_questions(a, doubts):
    """Doubt a query whose question is no text: who needs it may say so."""
    for qa in oracle.queries(view(a["all_qa"]), doubts):
        if not isinstance(qa.get("question", ""), str) or not qa.get("question", "x").strip():
            doubts.append(f"a question is {qa.get('question')!r}"[:80])


def doubt_texts(hits, doubts):
    """Doubt a title or content that is no text: who needs it may say so."""
    if oracle.is_table(hits):
        return
    found = [hit for ranking in hits.values() if type(ranking) is list for hit in ranking]
    texts = [
        hit.get(name, "") for hit in found if type(hit) is dict for name in ("title", "content")
    ]
    if not all_texts(texts):
        doubts.append("a title or content that is no text")


def expect_failures(a, doubts):
    table = table_of({**a, "k": k_of(a, doubts, 10)}, doubts, ["RR"])
    if len(table.columns) > 1:
        raise Refused("failures takes one cutoff")
    doubt_questions(a, doubts)
    doubt_broken(a, doubts)
    doubt_texts(view(a["results"]), doubts)
    if a.get("docs") is not None:
        usual_docs(a["docs"], doubts)
    values = table.values(table.columns[0])
    expected = {
        query_id: value for query_id, value in values.items() if value == value and value != 1
    }

    def check(seen):
        found = dict(
            zip(plain_list(seen.value.index), seen.value["first_relevant_rank"], strict=True)
        )
        want(set(found) == set(expected), f"rows {list(found)!r}, by definition {list(expected)!r}")
        for query_id, value in expected.items():
            want_close(found[query_id], 1 / value if value else NAN, f"first rank of {query_id!r}")

    return check


def expect_common_traits(a, doubts):
    if not was_called(a["failed"]):
        doubts.append("a table that was changed on the way")

    def check(seen):
        failed = seen.arguments["failed"]
        for trait, row in seen.value.iterrows():
            marks = oracle.column_of(failed, trait, "failed") if trait in failed else []
            numbers = all(isinstance(mark, (bool, int, float)) and mark in (0, 1) for mark in marks)
            want(numbers, "accepted: marks other than True and False")
            n = sum(marks)
            want(row["queries"] == n, f"{trait}: {row['queries']} queries, counted {n}")
            want(
                0 <= row["share"] <= 1 and 0 <= row["share_of_all"] <= 1,
                f"{trait}: a share outside 0..1",
            )

    return check


def expect_diagnose(a, doubts):
    thresholds = a.get("thresholds")
    usual(
        thresholds,
        doubts,
        "thresholds",
        lambda t: (
            t is None or (all(type(v) is float for v in t.values()) and {*map(type, t)} == {str})
        ),
    )
    usual(a.get("seed", 0), doubts, "seed", is_seed)
    table = table_of(a | {"ks": 1}, doubts, ["Recall@10", "Recall@20", "RR@10", "HitRate@10"])
    doubt_broken(a, doubts)
    if a.get("answers") is not None:
        doubts.append("answers")
    r10, r20, rr, hit = [list(table.values(column).values()) for column in table.columns]
    expected = {
        "Recall@20": r20, "Recall@20 - Recall@10": [b - c for b, c in zip(r20, r10, strict=True)],
        "MRR@10": rr, "HitRate@10": hit,
    }  # fmt: skip

    def check(seen):
        for step, values in expected.items():
            row = seen.value.loc[step]
            mean = oracle.mean([value for value in values if value == value])
            if not pd.isna(row["value"]):
                want_close(row["value"], mean, step)
                bad = (
                    mean > row["threshold"] + 1e-9
                    if "-" in step
                    else mean < row["threshold"] - 1e-9
                )
                want(
                    row["verdict"] == ("problem" if bad else "ok"),
                    f"{step}: {row['verdict']} at {mean}",
                )
            else:
                want(
                    row["verdict"].startswith("cannot tell"),
                    f"{step}: {row['verdict']} without a value",
                )

    return check


def is_mapping(value):
    return isinstance(value, Mapping)


def expect_abstention_curve(a, doubts):
    kinds = {
        q: oracle.n_relevant(grades) > 0
        for q, grades in oracle.judgements(view(a["all_qa"]), doubts).items()
    }
    if len(set(kinds.values())) < 2:
        raise Refused("both kinds of queries are needed")
    hits = view(a["results"])
    refuse_broken(oracle.rankings(hits, doubts))
    if comes_as_table(a["results"]):
        doubts.append("a table")
        raise Unknown("a table")
    rankings = {query_id: hits.get(query_id, []) for query_id in kinds}
    usual(rankings, doubts, "results", lambda found: not any(map(is_mapping, found.values())))
    scores = {}
    for query_id, ranking in rankings.items():
        if not ranking or not isinstance(ranking[0], Mapping) or ranking[0].get("score") is None:
            raise Refused(f"{query_id!r} has no hit with a score")
        scores[query_id] = [
            oracle.plain(hit.get("score")) for hit in ranking if isinstance(hit, Mapping)
        ]
        usual(
            scores[query_id],
            doubts,
            "scores",
            lambda s: all(type(x) in (int, float) and abs(x) < 1e9 for x in s),
        )

    # The direction is known from the search, or told by the order of the scores.
    lower = getattr(hits, "lower_is_better", None)
    rises = {x < y for s in scores.values() for x, y in itertools.pairwise(s) if x != y}
    if len(rises) != 1 and lower is None:
        raise Refused("the direction cannot be told")
    if set(hits) - set(kinds):
        doubts.append("rankings of other queries, which may run the other way")
    if lower is None:
        (lower,) = rises
    elif rises - {lower}:
        doubts.append("scores against their direction")
    expected = oracle.abstention(kinds, {q: s[0] for q, s in scores.items()}, lower)

    def check(seen):
        rows = seen.value.to_dict("records")
        want(len(rows) == len(expected) + 1, f"{len(rows)} rows for {len(expected)} scores")
        for row in rows[1:]:
            near = [shares for limit, shares in expected.items() if close(limit, row["threshold"])]
            want(bool(near), f"threshold {row['threshold']}")
            want_close(
                row["unanswerable_answered"], near[0][0], f"unanswerable at {row['threshold']}"
            )
            want_close(row["answerable_refused"], near[0][1], f"refused at {row['threshold']}")

    return check


def expect_threshold_for(a, doubts):
    curve, most = a["curve"], oracle.plain(a["unanswerable_answered"])
    if not isinstance(most, (int, float)) or not 0 <= most <= 1:
        raise Refused(f"the share is {most!r}")
    if isinstance(most, bool):
        doubts.append("a share of True or False is 1 or 0 to Python")
    columns = ("threshold", "unanswerable_answered", "answerable_refused")
    if not isinstance(curve, pd.DataFrame):
        raise Refused("no curve")
    oracle.doubt_names_of_columns(curve, doubts)
    rows = [oracle.column_of(curve, name, "curve") for name in columns]
    usual(
        rows,
        doubts,
        "curve",
        lambda rows: all(type(value) in (int, float) for row in rows for value in row),
    )
    usual(
        rows,
        doubts,
        "curve",
        lambda rows: all(0 <= value <= 1 for row in rows[1:] for value in row),
    )
    if any(str(oracle.the_column(curve, name, "curve").dtype) != "float64" for name in columns):
        doubts.append("a column of other than floats")
    if any(abs(value) > 1e300 for value in rows[0]):
        doubts.append("an infinite threshold")
    allowed = [row for row in zip(*rows, strict=True) if row[1] <= most]
    if not allowed:
        raise Refused("no row of the curve is allowed")
    if not curve.index.is_unique or "lower_is_better" not in curve.attrs:
        doubts.append("rows twice, or no attrs")
    best = min(row[2] for row in allowed)

    def check(seen):
        want(seen.value["unanswerable_answered"] <= most, "the share is above what is allowed")
        want_close(seen.value["answerable_refused"], best, "answerable_refused")

    return check


# ---------------------------------------------------------------- findings


def names_it(texts, value):
    """Say whether a text names the value, if only by its beginning.

    What cannot be printed is shown in some other way.
    """
    name = str(value)[:50]
    return any(name in text for text in texts) if name.isprintable() else bool(texts)


def error_texts(report):
    """Return the errors of a report, and try what a report can do."""
    want(isinstance(report, rageval_kit.Report), "no report came back")
    want(len(report) == len(report.errors), "its length is not the number of errors")
    want(
        len(report.to_frame()) == len(report.errors) + len(report.warnings),
        "to_frame has other findings",
    )
    return report.errors


def expect_check_results(a, doubts):
    try:
        judged = oracle.judgements(view(a["all_qa"]), doubts)
        ranked = oracle.rankings(view(a["results"]), doubts)
        if any(isinstance(doc, oracle.Broken) for docs in ranked.values() for doc in docs):
            raise Unknown("a broken hit")
        oracle.matrix(
            view(a["all_qa"]), view(a["results"]), 10**6, {"duplicates": "position"}, doubts
        )
        docs = a.get("docs")
        if docs is not None:
            docs = {doc["doc_id"] for doc in usual_docs(docs, doubts)}
    except Refused as why:  # the kit may also report it
        raise Unknown(str(why)) from None

    def check(seen):
        errors = error_texts(seen.value)
        for query_id in judged:
            of_query = ranked.get(query_id, [])
            for doc in of_query:
                if docs is not None and doc not in docs and len(set(of_query) - docs) <= 5:
                    want(names_it(errors, doc), f"no error says that {doc!r} is in no document")
            twice = {doc for doc in of_query if of_query.count(doc) > 1}
            if twice and len(twice) <= 5:
                want(
                    any(names_it(errors, doc) for doc in twice),
                    f"no error of {twice} in {query_id!r}",
                )
        missing = [query_id for query_id in judged if not ranked.get(query_id)]
        want(
            not missing or bool(errors or seen.value.warnings), "no word of queries without results"
        )
        want(seen.printed.strip() == str(seen.value).strip(), "what was printed is not the report")

    return check


def expect_check_scores(a, doubts):
    summary = a["summary"]
    if not isinstance(summary, pd.DataFrame):
        raise Refused("no table")
    if any(len(set(map(repr, names))) < len(names) for names in (summary.index, summary.columns)):
        doubts.append("a row or column twice")
        raise Unknown("rows twice")
    labels = [*summary.index, *summary.columns]
    usual(
        labels, doubts, "labels", lambda given: all(isinstance(x, (str, int, float)) for x in given)
    )
    known = {"HitRate", "MRR", "nDCG", "Precision", "Recall", "MAP"}
    ks = {column: int(str(column)) for column in summary.columns if str(column).isdecimal()}
    rows = [row for row in summary.index if row in known]
    if len(rows) < len(summary) or len(ks) < summary.shape[1] or not rows or not ks:
        doubts.append("rows or columns that are no metric or cutoff")
    values = {
        row: {k: oracle.plain(summary.loc[row, column]) for column, k in ks.items()} for row in rows
    }
    usual(
        values,
        doubts,
        "scores",
        lambda v: all(
            type(x) in (int, float) and not abs(x) > 1e9 for r in v.values() for x in r.values()
        ),
    )
    facts = oracle.impossible(values)
    understood = bool(rows) and bool(ks)

    def check(seen):
        errors = error_texts(seen.value)
        want(
            understood or bool(errors or seen.value.warnings),
            "OK of a table that was not understood",
        )
        if not doubts:
            want(bool(facts) == bool(errors), f"{len(errors)} errors, by definition {facts}")
        for _, metric, k in facts:
            want(
                any(metric in text and str(k) in text for text in errors),
                f"no error of {metric}@{k}",
            )

    return check


def expect_validate_dataset(a, doubts):
    try:
        docs = oracle.records(view(a["docs"]), doubts, "docs")
        queries = oracle.records(view(a["all_qa"]), doubts)
    except Refused as why:
        raise Unknown(str(why)) from None
    if docs and "query_id" in docs[0] and "doc_id" not in docs[0]:
        raise Refused("queries given as docs")
    if queries and "doc_id" in queries[0] and "query_id" not in queries[0]:
        doubts.append("docs given as queries")
    given = view(a["docs"])
    if not oracle.is_table(given) and any(hasattr(doc, "page_content") for doc in given):
        doubts.append("documents of LangChain, which may have no doc_id")
    if oracle.is_table(view(a["all_qa"])) and not oracle.has_column(view(a["all_qa"]), "query_id"):
        doubts.append("a table without query_id")

    def check(seen):
        errors = error_texts(seen.value)
        want(seen.printed.strip() == str(seen.value).strip(), "what was printed is not the report")
        ids = [doc.get("doc_id") for doc in docs]
        want(
            all(isinstance(value, str) and value.strip() for value in ids) or bool(errors),
            "no error of an odd doc_id",
        )
        texts = [value for value in ids if isinstance(value, str)]
        want(len(set(texts)) == len(texts) or bool(errors), "no error of a doc_id twice")
        try:
            judged = oracle.judgements(view(a["all_qa"]), [])
        except (Refused, Unknown):
            want(
                bool(errors) or oracle.is_table(view(a["all_qa"])),
                "no error, and metrics will refuse it",
            )
            return
        for query_id, grades in judged.items():
            for doc in grades:
                want(
                    doc in texts or bool(errors),
                    f"no error of {query_id!r} -> {doc!r}, which is in no document",
                )

    return check


# ---------------------------------------------------------------- copies


def expect_fold(a, doubts):
    by, k = a.get("by", "first"), oracle.cutoff(a["k"])
    if not isinstance(by, str) or by not in ("first", "max", "mean", "sum"):
        raise Refused(f"by={by!r}")
    hits, source_of = view(a["results"]), a["source_of"]
    ranked = oracle.rankings(hits, doubts)
    refuse_broken(ranked)
    if isinstance(source_of, dict):
        of = lambda hit: source_of.get(hit["doc_id"], hit["doc_id"])  # noqa: E731
        usual(
            source_of,
            doubts,
            "source_of",
            lambda s: all(type(x) is str for pair in s.items() for x in pair),
        )
    elif source_of is by_field:
        of = by_field
        usual(
            ranked,
            doubts,
            "ids",
            lambda found: all(type(d) is str for docs in found.values() for d in docs),
        )
    elif callable(source_of) or isinstance(source_of, Lazy):
        doubts.append("a function of the user's")
        raise Unknown("source_of")
    else:
        raise Refused(f"source_of is {source_of!r}")
    folded = {
        q: oracle.fold([{"doc_id": doc} for doc in docs], of, k) for q, docs in ranked.items()
    }
    if any(len(docs) < k for docs in folded.values()):
        doubts.append("fewer than k documents remain")
    if by != "first":
        doubts.append("scores that may be missing, or have no direction or sum")

    def check(seen):
        found = {q: [hit["doc_id"] for hit in docs] for q, docs in seen.value.items()}
        if by != "first":
            want(all(len(set(docs)) == len(docs) <= k for docs in found.values()), f"{found!r}")
            return
        expected = {q: [hit["doc_id"] for hit in docs] for q, docs in folded.items()}
        want(found == expected, f"{found!r}, by definition {expected!r}")
        want(seen.value.k == k, f"k={seen.value.k}")

    return check


def expect_fold_judgements(a, doubts):
    judged, source_of = oracle.judgements(view(a["all_qa"]), doubts), a["source_of"]
    if source_of is not by_field and not isinstance(source_of, dict):
        if callable(source_of) or isinstance(source_of, Lazy):
            raise Unknown("source_of")
        raise Refused(f"source_of is {source_of!r}")
    usual(
        source_of,
        doubts,
        "source_of",
        lambda s: s is by_field or all(type(x) is str for pair in s.items() for x in pair),
    )
    usual(
        judged, doubts, "ids", lambda found: all(type(d) is str for g in found.values() for d in g)
    )

    def check(seen):
        want([qa["query_id"] for qa in seen.value] == list(judged), "other queries")
        for qa in seen.value:
            highest = {}
            for doc, grade in judged[qa["query_id"]].items():
                hit = {"doc_id": doc}
                source = by_field(hit) if source_of is by_field else source_of.get(doc, doc)
                highest[source] = max(grade, highest.get(source, grade))
            want(qa["relevant_doc_ids"] == highest, f"{qa!r}, by definition {highest!r}")

    return check


# ---------------------------------------------------------------- chunks and passages


def chunk_places(a, doubts):
    """Return {chunk: (source, start, end)}, and each source's text as a dict of its characters."""
    chunks = oracle.records(view(a["chunks"]), doubts, "chunks")
    usual(chunks, doubts, "chunks", are_chunks)
    texts = {}
    for chunk in chunks:
        letters = texts.setdefault(chunk["source_id"], {})
        letters.update(zip(range(chunk["start"], chunk["end"]), chunk["content"], strict=True))
    return {chunk["doc_id"]: place_in(chunk) for chunk in chunks}, texts


def are_chunks(chunks):
    return are_documents(chunks) and all(
        type(chunk["source_id"]) is str
        and type(chunk["start"]) is type(chunk["end"]) is int
        and chunk["start"] >= 0
        and chunk["end"] - chunk["start"] == len(chunk["content"])
        for chunk in chunks
    )


def is_span(record, least=0):
    start, end = record["start"], record["end"]
    return type(start) is type(end) is int and start >= 0 and start + least <= end < 10**6


def place_in(record):
    return record["source_id"], record["start"], record["end"]


def gold_passages(a, texts, doubts):
    """Return {query_id: [(source, start, end)]}; doubt what is not as usual."""
    queries = oracle.records(view(a["all_qa"]), doubts)
    if not queries:
        raise Refused("all_qa is empty")
    usual(
        queries,
        doubts,
        "all_qa",
        lambda all_qa: len({qa["query_id"] for qa in all_qa}) == len(all_qa),
    )
    gold = {}
    for qa in queries:
        usual(
            qa,
            doubts,
            "query_id",
            lambda qa: type(qa["query_id"]) is str and qa["query_id"].strip(),
        )
        usual(qa, doubts, "passages", lambda qa: type(qa["relevant_passages"]) is list)
        gold[qa["query_id"]] = [
            a_passage(passage, texts, doubts) for passage in qa["relevant_passages"]
        ]
    return gold


def a_passage(passage, texts, doubts):
    usual(passage, doubts, "a passage", lambda p: type(p) is dict and p["doc_id"] in texts)
    letters = texts[passage["doc_id"]]
    if "start" in passage or "end" in passage:
        usual(passage, doubts, "a passage", lambda p: is_span(p, 1))
        return passage["doc_id"], passage["start"], passage["end"]
    whole = "".join(letters.get(at, " ") for at in range(max(letters) + 1))
    text = passage.get("text")
    once = lambda t: t == t.strip() != "" and t.isprintable() and whole.count(t) == 1  # noqa: E731
    usual(text, doubts, "the text of a passage", once)
    start = whole.find(text)
    if whole.find(text, start + 1) >= 0:
        raise Refused(f"{text!r} stands there twice")
    return passage["doc_id"], start, start + len(text)


def hit_places(a, places, doubts):
    """Return {query_id: [(chunk, place)]} of the hits."""
    hits = view(a["results"])
    ranked = oracle.rankings(hits, doubts)
    refuse_broken(ranked)
    for docs in ranked.values():
        if any(doc not in places for doc in docs):
            raise Refused("a hit is none of the chunks")
        if len(set(docs)) < len(docs):
            raise Refused("a chunk twice in a ranking")
    if not oracle.is_table(hits):
        every = [hit for ranking in hits.values() for hit in ranking]
        as_chunk = lambda hit: "start" not in hit or place_in(hit) == places[hit["doc_id"]]  # noqa: E731
        usual(every, doubts, "hits", lambda every: all(map(as_chunk, every)))
        usual(
            every,
            doubts,
            "hits",
            lambda every: all(not {"source_id", "end"} & {*h} or "start" in h for h in every),
        )
    elif {"source_id", "start", "end"} & set(map(str, hits.columns)):
        doubts.append("places in a table")
    return {q: [(doc, places[doc]) for doc in docs] for q, docs in ranked.items()}


def letters_of(*places):
    return {(source, at) for source, start, end in places for at in range(start, end)}


def expect_match_passages(a, doubts):
    share = oracle.plain(a.get("coverage", 0.5))
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise Refused(f"coverage={share!r}")
    places, texts = chunk_places(a, doubts)
    gold, ranked = gold_passages(a, texts, doubts), hit_places(a, places, doubts)
    expected = {
        q: list(found_by_hand(hits, gold.get(q, []), texts, share)) for q, hits in ranked.items()
    }

    def check(seen):
        found = {q: [hit["doc_id"] for hit in hits] for q, hits in seen.value.results.items()}
        want(found == expected, f"{found!r}, by definition {expected!r}")
        relevant = {qa["query_id"]: qa["relevant_doc_ids"] for qa in seen.value.all_qa}
        named = {q: ["{}:{}-{}".format(*place) for place in its] for q, its in gold.items()}
        want(relevant == named, f"{relevant!r}, by definition {named!r}")

    return check


def found_by_hand(hits, passages, texts, share):
    held, open_ones = set(), list(dict.fromkeys(passages))
    ink = lambda source, at: not texts[source].get(at, " ").isspace()  # noqa: E731
    for chunk, place in hits:
        new = letters_of(place) - held
        held |= new
        completed = []
        for passage in open_ones:
            letters = {letter for letter in letters_of(passage) if ink(*letter)}
            enough = len(letters & held) >= share * len(letters) - 1e-9
            if letters & new and enough:
                completed.append(passage)
        open_ones = [passage for passage in open_ones if passage not in completed]
        yield from ["{}:{}-{}".format(*passage) for passage in completed] or [chunk]


def expect_passage_scores(a, doubts):
    places, texts = chunk_places(a, doubts)
    gold, ranked = gold_passages(a, texts, doubts), hit_places(a, places, doubts)
    if oracle.are_confusable([*gold, *ranked]):
        doubts.append("a query_id in two Unicode forms")
    usual([*gold], doubts, "query_ids", lambda ids: all(str(value).isprintable() for value in ids))

    def check(seen):
        want(list(seen.value.index) == list(gold), f"rows {list(seen.value.index)!r}")
        for query_id, passages in gold.items():
            hits = [place for _, place in ranked.get(query_id, [])]
            wanted, length = letters_of(*passages), sum(end - start for _, start, end in hits)
            held = len(wanted & letters_of(*hits))
            wholes = {
                "Recall": len(wanted),
                "Precision": length,
                "IoU": length + len(wanted) - held,
            }
            for column, whole in wholes.items():
                share = (held / whole if whole else 0.0) if wanted else NAN
                want_close(seen.value.loc[query_id, column], share, f"{query_id} {column}")

    return check


def expect_precision_omega(a, doubts):
    strict = a.get("strict", False)
    usual(strict, doubts, "strict", lambda value: type(value) is bool)
    places, texts = chunk_places(a, doubts)
    gold, reach = gold_passages(a, texts, doubts), not strict

    def check(seen):
        for query_id, passages in gold.items():
            meeting = [
                (source, start, end)
                for source, start, end in places.values()
                if any(
                    s == source and start < its_end + reach and its_start < end + reach
                    for s, its_start, its_end in passages
                )
            ]
            wanted, context = letters_of(*passages), letters_of(*meeting)
            share = len(wanted & context) / len(wanted | context) if wanted else NAN
            want_close(seen.value.loc[query_id, "Precision-omega"], share, query_id)

    return check


def expect_cut_results(a, doubts):
    given = [name for name in ("hits", "characters") if a.get(name) is not None]
    if len(given) != 1:
        raise Refused("both or neither")
    most, hits = oracle.cutoff(a[given[0]]), view(a["results"])
    if most > 10**9:
        doubts.append("a cut beyond all sense")
    ranked = oracle.rankings(hits, doubts)
    refuse_broken(ranked)
    if given == ["hits"]:
        return lambda seen: want(
            {q: [hit["doc_id"] for hit in its] for q, its in seen.value.items()}
            == {q: docs[:most] for q, docs in ranked.items()},
            "other hits",
        )
    usual(
        hits,
        doubts,
        "results",
        lambda found: all(type(hit) is dict for ranking in found.values() for hit in ranking),
    )
    usual(hits, doubts, "results", lambda found: not any(map(is_mapping, found.values())))
    every = [hit for ranking in hits.values() for hit in ranking]
    usual(every, doubts, "hits", lambda every: all(map(is_span, every)))

    def check(seen):
        for query_id, cut in seen.value.items():
            before = hits[query_id]
            room = sum(hit["end"] - hit["start"] for hit in before)
            length = sum(hit["end"] - hit["start"] for hit in cut)
            want(length == min(most, room), f"{query_id}: {length} of {room} characters")
            want([h["doc_id"] for h in cut] == [h["doc_id"] for h in before[: len(cut)]], query_id)

    return check


def expect_split_documents(a, doubts):
    docs, size = usual_docs(a["docs"], doubts), a["splitter"]
    if isinstance(size, Lazy):
        doubts.append("a splitter of its own")
        raise Unknown("splitter")
    size = oracle.cutoff(size)
    ids = [doc["doc_id"] for doc in docs]
    if any("#" in doc_id for doc_id in ids) or size > 10**9:
        doubts.append("ids that a chunk may have, or a size beyond all sense")

    def check(seen):
        texts = {doc["doc_id"]: doc["content"] for doc in docs}
        for chunk in seen.value:
            text = texts[chunk["source_id"]]
            want(text[chunk["start"] : chunk["end"]] == chunk["content"], chunk["doc_id"])
            want(len(chunk["content"]) <= size, f"{chunk['doc_id']} is longer than {size}")
        for doc_id, text in texts.items():
            held = {
                at
                for c in seen.value
                if c["source_id"] == doc_id
                for at in range(c["start"], c["end"])
            }
            left = [letter for at, letter in enumerate(text) if at not in held]
            want(not "".join(left).strip(), f"{doc_id} loses {left!r}")

    return check


def store_docs(spec, doubts):
    """Return the documents of a store that works; doubt any other."""
    usual(
        spec,
        doubts,
        "vectorstore",
        lambda s: s.make.__name__ == "store" and s.arguments[1:] in ((), ("",)),
    )
    return spec.arguments[0]


def expect_find_duplicates(a, doubts):
    threshold = oracle.plain(a.get("threshold", 0.95))
    if not isinstance(threshold, (int, float)) or not 0 < threshold <= 1:
        raise Refused(f"threshold={threshold!r}")
    if isinstance(threshold, bool):
        doubts.append("a threshold of True is 1 to Python")
    stored = store_docs(a["vectorstore"], doubts)
    docs = usual_docs(a["docs"], doubts)
    if {doc["doc_id"] for doc in docs} != {doc["doc_id"] for doc in stored}:
        raise Refused("docs and vectorstore differ")
    texts = {doc["doc_id"]: doc["content"] for doc in docs}
    ids, vectors = [doc["doc_id"] for doc in stored], [unit(hashed(as_text(doc))) for doc in stored]

    # Pairs that are equal or near; one just at the threshold may fall to either side.
    groups, unsure = {doc_id: {doc_id} for doc_id in ids}, False
    for (one, u), (other, v) in itertools.combinations(zip(ids, vectors, strict=True), 2):
        cosine = (
            math.sumprod(u, v)
            if hasattr(math, "sumprod")
            else sum(x * y for x, y in zip(u, v, strict=True))
        )
        unsure |= abs(cosine - threshold) < 1e-5
        if cosine > threshold or oracle.normalised(texts[one]) == oracle.normalised(texts[other]):
            together = groups[one] | groups[other]
            for member in together:
                groups[member] = together
    firsts = {doc_id: next(member for member in ids if member in groups[doc_id]) for doc_id in ids}

    def check(seen):
        if unsure:
            return NotImplemented
        found = dict(zip(seen.value["doc_id"], seen.value["copy_of"], strict=True))
        expected = {doc_id: first for doc_id, first in firsts.items() if doc_id != first}
        want(found == expected, f"{found!r}, by definition {expected!r}")
        return None

    return check


def unit(vector):
    length = math.hypot(*vector)
    return [x / length for x in vector] if length else vector


def expect_duplicate_index(a, doubts):
    times, share = whole_number(a.get("times", 2), 2, "times"), oracle.plain(a.get("share", 1.0))
    if not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise Refused(f"share={share!r}")
    if isinstance(share, bool):
        doubts.append("a share of True is 1 to Python")
    docs = store_docs(a["vectorstore"], doubts)
    if times > 100:
        doubts.append(f"times={times}")
    usual(a.get("rng", 0), doubts, "rng", is_seed)
    usual(a.get("change"), doubts, "change", lambda c: c is None or c in (str.upper, str.lower))

    def check(seen):
        copied, source_of = seen.value
        n_chosen = round(len(docs) * share) if share < 1 else len(docs)
        want(
            copied.index.ntotal == len(docs) + (times - 1) * n_chosen,
            f"{copied.index.ntotal} vectors",
        )
        want(
            set(source_of.values()) <= {doc["doc_id"] for doc in docs},
            "a source that is no document",
        )
        want(len(source_of) == (times - 1) * n_chosen, f"{len(source_of)} copies")
        want(
            seen.arguments["vectorstore"].index.ntotal == len(docs),
            "the store of the originals was changed",
        )

    return check


def expect_unread_tails(a, doubts):
    usual_docs(a["docs"], doubts)
    usual_embeddings(a["embeddings"], doubts)

    def check(seen):
        for row in seen.value.to_dict("records"):
            want(-1 - 1e-6 <= row["cosine"] <= 1 + 1e-6, f"a cosine of {row['cosine']}")
            want(row["unread"] == (row["cosine"] >= 1 - 1e-6), f"{row}")
            want(row["sentences"] > 1, f"{row}")

    return check


# ---------------------------------------------------------------- answers


def expect_faithfulness(a, doubts):
    as_text_or_doubt(a["answer"], doubts, "the answer")
    sources = view(a["sources"])
    usual(
        sources,
        doubts,
        "sources",
        lambda s: (
            isinstance(s, str) or (type(s) in (list, tuple) and all(type(x) is str for x in s))
        ),
    )
    if isinstance(a["sources"], Lazy):
        doubts.append("sources that are read once")
    if "tokenizer" in a:
        usual(a["tokenizer"], doubts, "tokenizer", is_tokenizer)
    return lambda seen: want_screened(*seen.value)


def want_screened(score, band, supported, unsupported):
    want(score != score or 0 <= score <= 1, f"a score of {score}")
    if score == score:
        want_close(score, len(supported) / (len(supported) + len(unsupported)), "score")
        band_of = (
            "faithful"
            if score >= 0.9
            else "partly from elsewhere"
            if score >= 0.5
            else "probably not grounded"
        )
        want(band == band_of, f"{band!r} at {score}")


def answers_of(given, doubts):
    """Return ``{query_id: (answer, doc_ids seen or None)}``."""
    given = view(given)
    if oracle.is_table(given):
        doubt_columns([given], doubts)
        ids = (
            oracle.column_of(given, "query_id", "answers")
            if oracle.has_column(given, "query_id")
            else given.index
        )
        if len(set(map(repr, ids))) < len(ids):
            raise Refused("a query_id twice")
        texts = oracle.column_of(given, "answer", "answers")
        seen = (
            oracle.column_of(given, "doc_ids", "answers")
            if oracle.has_column(given, "doc_ids")
            else [None] * len(given)
        )
        rows = zip(plain_list(ids), texts, seen, strict=True)
    elif isinstance(given, Mapping):
        rows = ((query_id, text, None) for query_id, text in given.items())
    else:
        raise Refused("no answers")
    found = {}
    for query_id, text, seen in rows:
        as_text_or_doubt(text, doubts, "an answer")
        usual(
            seen,
            doubts,
            "doc_ids",
            lambda s: s is None or (type(s) is list and all(type(d) is str for d in s)),
        )
        found[oracle.an_id(query_id, doubts)] = (text, seen)
    return found


def truths_of(all_qa, doubts):
    queries = oracle.queries(view(all_qa), doubts)
    found = {}
    for qa in queries:
        if "query_id" not in qa:
            raise Refused("a query without query_id")
        query_id = oracle.an_id(qa["query_id"], doubts)
        if query_id in found:
            raise Refused(f"{query_id!r} twice")
        found[query_id] = qa
    return found


def refuse_without_truth(answers, queries):
    """Refuse an answer to a query that is not asked, or answerable and without a ground truth."""
    for query_id in answers:
        if query_id not in queries:
            raise Refused(f"no query {query_id!r}")
        qa = queries[query_id]
        truth = qa.get("ground_truth")
        if isinstance(truth, str) and truth.strip():
            continue
        try:
            answerable = (
                "relevant_doc_ids" not in qa or oracle.n_relevant(oracle.grades_of(qa, [])) > 0
            )
        except Refused as why:
            raise Unknown(str(why)) from None
        if answerable:
            raise Refused(f"no ground truth of {query_id!r}")


def expect_answer_accuracy(a, doubts):
    answers, queries = answers_of(a["answers"], doubts), truths_of(a["all_qa"], doubts)
    try:
        oracle.judgements(view(a["all_qa"]), doubts)
    except (Refused, Unknown) as why:  # whether a query is unanswerable may then not be known
        doubts.append(str(why))
    refuse_without_truth(answers, queries)

    def check(seen):
        want(plain_list(seen.value.index) == list(answers), f"rows {list(seen.value.index)!r}")
        for query_id, row in zip(answers, seen.value.to_dict("records"), strict=True):
            answer, truth = answers[query_id][0], queries[query_id].get("ground_truth")
            want(row["exact_match"] in (0, 1) and 0 <= row["f1"] <= 1, f"{row}")
            want(row["f1"] == 1 or row["exact_match"] == 0, f"an exact match with f1 {row['f1']}")
            try:
                answerable = oracle.n_relevant(oracle.grades_of(queries[query_id], [])) > 0
            except (Refused, Unknown):
                continue
            if answerable and oracle.normalised(answer) == oracle.normalised(truth):
                want(row["exact_match"] == 1, f"{query_id!r}: the truth itself is no exact match")
            if not answerable:
                want(row["exact_match"] == row["f1"], f"{query_id!r}: unanswerable, {row}")

    return check


def expect_faithfulness_frame(a, doubts):
    answers = answers_of(a["answers"], doubts)
    usual(answers, doubts, "answers", lambda found: len(found) > 0)
    ranked = oracle.rankings(view(a["results"]), doubts)
    if "tokenizer" in a:
        usual(a["tokenizer"], doubts, "tokenizer", is_tokenizer)
    hits = view(a["results"])
    if comes_as_table(a["results"]):
        doubts.append("a table, which may have no contents")
    for query_id, (_, seen_docs) in answers.items():
        if query_id not in ranked:
            raise Refused(f"no results of {query_id!r}")
        if set(seen_docs or ()) - set(ranked[query_id]):
            raise Refused("the answer saw a document that is not among the hits")
    usual(
        hits,
        doubts,
        "hits",
        lambda h: all(type(hit["content"]) is str for ranking in h.values() for hit in ranking),
    )
    usual(
        hits,
        doubts,
        "hits",
        lambda h: all(isinstance(hit.get("title", ""), str) for r in h.values() for hit in r),
    )
    usual(
        ranked,
        doubts,
        "hits",
        lambda r: not any(isinstance(doc, oracle.Broken) for docs in r.values() for doc in docs),
    )

    def check(seen):
        want(plain_list(seen.value.index) == list(answers), f"rows {list(seen.value.index)!r}")
        for row in seen.value.itertuples(index=False, name=None):
            want_screened(*row)

    return check


def is_prompt(value, *fields):
    return isinstance(value, str) and all("{" + name + "}" in value for name in fields)


def expect_generate_answers(a, doubts):
    k = oracle.cutoff(k_of(a, doubts, 5))
    if a.get("prompt") is not None and not is_prompt(a["prompt"], "question", "context"):
        raise Refused("the prompt lacks a field")
    queries = truths_of(a["all_qa"], doubts)
    ranked, hits = oracle.rankings(view(a["results"]), doubts), view(a["results"])
    for query_id, qa in queries.items():
        if not isinstance(qa.get("question"), str):
            raise Refused(f"no question of {query_id!r}")
        if query_id not in ranked:
            raise Refused(f"no results of {query_id!r}")
        if not qa["question"].strip():
            doubts.append("an empty question")
    usual(a.get("cache"), doubts, "cache", lambda c: c is None or (c.make.__name__ == "new_path"))
    usual(
        a["model"],
        doubts,
        "model",
        lambda m: (
            m in (extractive(""), odd_model("An answer."))
            or m.make.__name__ in ("chat_model", "llm")
        ),
    )
    usual(
        ranked,
        doubts,
        "hits",
        lambda r: not any(isinstance(doc, oracle.Broken) for docs in r.values() for doc in docs),
    )
    if comes_as_table(a["results"]):
        doubts.append("a table, which may have no contents")
    else:
        usual(
            hits,
            doubts,
            "hits",
            lambda h: all(type(hit["content"]) is str for ranking in h.values() for hit in ranking),
        )
    doubt_texts(hits, doubts)
    if not queries:
        doubts.append("no queries")

    def check(seen):
        want(plain_list(seen.value.index) == list(queries), f"rows {list(seen.value.index)!r}")
        for query_id, row in zip(queries, seen.value.to_dict("records"), strict=True):
            want(row["doc_ids"] == ranked[query_id][:k], f"{query_id!r} saw {row['doc_ids']!r}")
            want(isinstance(row["answer"], str), f"an answer of {row['answer']!r}")

    return check


def expect_judge_answers(a, doubts):
    if a.get("prompt") is not None and not is_prompt(
        a["prompt"], "question", "ground_truth", "answer"
    ):
        raise Refused("the prompt lacks a field")
    whole_number(a.get("retries", 2), 0, "retries")
    answers, queries = answers_of(a["answers"], doubts), truths_of(a["all_qa"], doubts)
    refuse_without_truth(answers, queries)
    for query_id in answers:
        if not isinstance(queries[query_id].get("question"), str):
            doubts.append("a question is no text")
    usual(a["model"], doubts, "model", lambda m: m.make.__name__ in ("chat_model", "llm"))
    usual(a.get("cache"), doubts, "cache", lambda c: c is None or c.make.__name__ == "new_path")
    replies = [verdict_of(reply) for reply in a["model"].arguments[0]]

    def check(seen):
        want(plain_list(seen.value.index) == list(answers), f"rows {list(seen.value.index)!r}")
        found = list(seen.value["verdict"])
        want(set(found) <= {*VERDICTS, "unreadable"}, f"verdicts {found}")
        if all(replies):  # a verdict may be kept from a call before, at another place
            want(set(found) <= set(replies), f"{found}, the judge said {replies}")
        return None if all(replies) else NotImplemented

    return check


def verdict_of(reply):
    try:
        given = json.loads(reply)
        return (
            given["verdict"]
            if given["verdict"] in VERDICTS and type(given["reason"]) is str
            else None
        )
    except Exception:
        return None


def doubt_columns(tables, doubts):
    """Doubt a table that has a column twice, or one that is not called by a text."""
    for table in tables:
        if len(set(map(repr, table.columns))) < len(table.columns) or not all_texts(table.columns):
            doubts.append("odd names of columns")


def expect_judge_agreement(a, doubts):
    usual(a.get("seed", 0), doubts, "seed", is_seed)
    tables = a["one"], a["other"]
    if any(isinstance(table, pd.DataFrame) and "verdict" not in table for table in tables):
        doubts.append("grades")
        raise Unknown("grades")
    for table in tables:
        if not isinstance(table, pd.DataFrame):
            raise Refused("no table of verdicts")
        if not table.index.is_unique:
            raise Refused("a query twice")
    one, other = (
        dict(zip(t.index, oracle.column_of(t, "verdict", "verdicts"), strict=True)) for t in tables
    )
    doubt_columns(tables, doubts)
    both = [query_id for query_id in one if query_id in other]
    if not both:
        raise Refused("no query in common")
    usual(both, doubts, "ids", lambda ids: all(type(x) is str for x in [*one, *other]))
    usual(
        [one, other],
        doubts,
        "verdicts",
        lambda v: all(type(x) is str for t in v for x in t.values()),
    )
    readable = [q for q in both if one[q] in VERDICTS and other[q] in VERDICTS]
    first, second = [one[q] for q in readable], [other[q] for q in readable]
    agreement = oracle.mean([float(x == y) for x, y in zip(first, second, strict=True)])
    if any(value not in (*VERDICTS, "unreadable") for value in [*one.values(), *other.values()]):
        doubts.append("verdicts that are none")
    if not readable:
        doubts.append("no readable verdict")

    def check(seen):
        want(seen.value["n"] == len(readable), f"n={seen.value['n']}, counted {len(readable)}")
        want(
            seen.value["left_out"] == len(both) - len(readable),
            f"left_out={seen.value['left_out']}",
        )
        want_close(seen.value["agreement"], agreement, "agreement")
        want_close(seen.value["kappa"], oracle.kappa(first, second), "kappa")

    return check


# ---------------------------------------------------------------- a pool, and its judges


def is_pool(pool, docs=None):
    """Say whether each row has a query, a question and a document that is there, each pair once."""
    pairs = list(zip(pool["query_id"], pool["doc_id"], strict=True))
    known = {doc["doc_id"] for doc in docs} if docs is not None else set(pool["doc_id"])
    is_table = list(pool.columns) == ["query_id", "question", "doc_id"]
    texts = all_texts([*pool["query_id"], *pool["question"], *pool["doc_id"]])
    return is_table and texts and len(set(pairs)) == len(pairs) and set(pool["doc_id"]) <= known


def usual_pool(pool, doubts, docs=None):
    """Doubt what is no usual pool; a table may have columns that even its repr fails on."""
    try:
        good = is_pool(pool, docs)
    except Exception:
        good = False
    if not good:
        doubts.append("an odd pool")
        raise Unknown("pool")


def pairs_of(pool):
    return list(zip(pool["query_id"], pool["doc_id"], strict=True))


def expect_pool_results(a, doubts):
    runs, k = a["runs"], oracle.cutoff(a.get("k", 10))
    if not isinstance(runs, dict) or not runs:
        raise Refused("no runs")
    usual(list(runs), doubts, "names of runs", all_texts)
    usual(a.get("seed", 0), doubts, "seed", is_seed)
    policy = {"duplicates": "unique", "k": min(k, 10**6)}
    tables = [
        table_of({**a, "results": run, **policy}, doubts, ["Judged"]) for run in runs.values()
    ]
    queries = tables[0].queries
    ranked = [oracle.rankings(view(run), doubts, queries) for run in runs.values()]

    def check(seen):
        pairs = pairs_of(seen.value)
        want(len(set(pairs)) == len(pairs), "a pair twice")
        for query_id, doc_id in pairs:
            want(
                any(doc_id in found.get(query_id, ()) for found in ranked),
                f"{doc_id!r} was not found",
            )

    return check


def expect_pool_to_settle(a, doubts):
    usual(a.get("seed", 0), doubts, "seed", is_seed)
    k = oracle.cutoff(a.get("k", 10))
    check = expect_differences({**a, "k": k}, doubts)
    doubts.append("documents that are found twice, or odd metrics")
    return check and (
        lambda seen: want(
            set(seen.value.attrs) == {"ahead", "difference", "at_worst", "unjudged"}, "attrs"
        )
    )


def expect_score_bounds(a, doubts):
    metrics, k = a.get("metrics", oracle.THE_FIVE), a.get("k", 10)
    table = table_of({**a, "k": k}, doubts, metrics)
    doubt_broken(a, doubts)
    if any(column.metric is None for column in table.columns):
        raise Unknown("a function of the user's")

    def check(seen):
        best = seen.value["at_best"].to_numpy() - seen.value["as_irrelevant"].to_numpy()
        want(not (best < -1e-9).any(), f"the best is below what is: {best}")

    return check


def expect_save_pool(a, doubts):
    docs = usual_docs(a["docs"], doubts)
    usual_pool(a["pool"], doubts, docs)
    doubts.append("a path")


def expect_load_judged(a, doubts):
    usual_pool(a["pool"], doubts)
    doubts.append("a file")
    return lambda seen: want(set(pairs_of(seen.value)) <= set(pairs_of(a["pool"])), "other pairs")


def expect_judging_form(a, doubts):
    docs = usual_docs(a["docs"], doubts)
    usual_pool(a["pool"], doubts, docs)
    doubts.append("a path")


def expect_add_judgements(a, doubts):
    judged, queries = a["judged"], oracle.queries(view(a["all_qa"]), doubts)
    if isinstance(judged, pd.DataFrame) and not all_texts(judged.columns):
        doubts.append("odd columns")
        raise Unknown("columns")
    usual(judged, doubts, "judged", lambda t: all_texts([*t["query_id"], *t["doc_id"]]))
    usual(judged, doubts, "grades", lambda t: set(t["grade"]) <= {0, 1, 2, 3})
    doubts.append("all_qa may judge them otherwise")

    def check(seen):
        want([qa["query_id"] for qa in seen.value] == [qa["query_id"] for qa in queries], "queries")
        found = {
            (qa["query_id"], doc) for qa in seen.value for doc in qa.get("relevant_doc_ids", ())
        }
        want(set(pairs_of(judged)) <= found, "a judgement is lost")

    return check


def expect_judge_relevance(a, doubts):
    if a.get("prompt") is not None and not is_prompt(a["prompt"], "question", "document"):
        raise Refused("the prompt lacks a field")
    whole_number(a.get("retries", 2), 0, "retries")
    docs = usual_docs(a["docs"], doubts)
    usual_pool(a["pool"], doubts, docs)
    usual(a["llm"], doubts, "llm", lambda m: m.make.__name__ in ("chat_model", "llm"))
    usual(a.get("dry_run", False), doubts, "dry_run", lambda dry: type(dry) is bool)
    usual_cache(a, doubts)

    def check(seen):
        pairs = [] if a.get("dry_run") else pairs_of(a["pool"])
        want(pairs_of(seen.value) == pairs, "other pairs")
        want(set(seen.value["grade"].dropna()) <= {0, 1, 2, 3}, "other grades")

    return check


def expect_suggest_questions(a, doubts):
    docs = usual_docs(a["docs"], doubts)
    usual(a["llm"], doubts, "llm", lambda m: m.make.__name__ in ("chat_model", "llm"))
    usual_cache(a, doubts)
    doubts.append("n and kinds may be too many")
    contents = {doc["doc_id"]: doc["content"] for doc in docs}

    def check(seen):
        for qa in seen.value:
            for passage in qa["relevant_passages"]:
                found = contents[passage["doc_id"]][passage["start"] : passage["end"]]
                want(found == passage["text"], f"{passage!r} is not there")

    return check


def expect_extractive_answerer(a, doubts):
    n = whole_number(a.get("sentences", 2), 1, "sentences")
    if n > 10**9:
        doubts.append("more sentences than there are")
    model = a["embeddings"]
    good = (
        isinstance(model, Lazy)
        and model.make.__name__ == "embeddings"
        and model.arguments[0] in ("", "array")
    )
    if not good:
        doubts.append("odd embeddings")

    def check(seen):
        hits = [
            {"doc_id": "d1", "content": f"{SENTENCES[0]} {SENTENCES[1]}"},
            {"doc_id": "d2", "content": SENTENCES[3]},
        ]
        answer = seen.value.invoke({"question": "fee?", "documents": hits})
        if not good:
            return NotImplemented
        want(
            isinstance(answer, str) and sum(s in answer for s in SENTENCES) == min(n, 3),
            f"{answer!r} of {n}",
        )
        return None

    return check


# ---------------------------------------------------------------- search and stores


def questions_of(a, doubts):
    questions = {}
    queries = oracle.queries(view(a["all_qa"]), doubts)
    if not queries:
        raise Refused("all_qa is empty")
    for qa in queries:
        if not isinstance(qa.get("query_id"), str) or not isinstance(qa.get("question"), str):
            raise Refused("a query_id or question that is no text")
        if not qa["question"].strip() or qa["query_id"] in questions:
            raise Refused("an empty question, or a query_id twice")
        oracle.an_id(qa["query_id"], doubts)
        questions[str(qa["query_id"])] = qa["question"]
        if "\ud83d" in qa["question"] + qa["query_id"]:
            doubts.append("half a character")
    return questions


def usual_asking(a, doubts):
    content, at_once = a.get("content"), a.get("at_once", 8)
    if content is not None and not (isinstance(content, str) and content.strip()):
        raise Refused(f"content is {content!r}")
    if oracle.cutoff(at_once) > 1_000:
        raise Refused(f"at_once is {at_once!r}")
    usual_cache(a, doubts)


def usual_cache(a, doubts):
    usual(a.get("cache"), doubts, "cache", lambda c: c is None or c.make.__name__ == "new_path")


def expect_search_all(a, doubts):
    k, questions = oracle.cutoff(a["k"]), questions_of(a, doubts)
    usual_asking(a, doubts)
    usual(
        a["vectorstore"],
        doubts,
        "vectorstore",
        lambda s: (
            s.make.__name__
            in ("store", "langchain_store", "memory_store", "retriever", "word_store")
        ),
    )
    exact = a["vectorstore"].make.__name__ == "store"
    docs = a["vectorstore"].arguments[0]
    usual(docs, doubts, "documents", lambda d: len(d) > 0)
    if a["vectorstore"].make.__name__ == "memory_store":
        usual(a["vectorstore"].arguments, doubts, "metadata", lambda given: given[1] is True)
    elif exact:
        store_docs(a["vectorstore"], doubts)
    if k > 10**9:
        doubts.append("a cutoff beyond all sense")
    by_id = {doc["doc_id"]: doc for doc in docs}

    def check(seen):
        want(list(seen.value) == list(questions), f"queries {list(seen.value)!r}")
        want(seen.value.k == k, f"k={seen.value.k}")
        for query_id, hits in seen.value.items():
            want(
                len({hit["doc_id"] for hit in hits}) == len(hits), f"{query_id!r}: a document twice"
            )
            for hit in hits:
                doc = by_id[hit["doc_id"]]
                if a["vectorstore"].make.__name__ != "langchain_store":
                    want(
                        (hit["title"], hit["content"]) == (doc["title"], doc["content"]),
                        f"{hit!r} of {doc!r}",
                    )
            if not exact:
                continue
            question = hashed(questions[query_id])
            distances = {
                d: math.dist(question, hashed(as_text(doc))) ** 2 for d, doc in by_id.items()
            }
            want(len(hits) == min(k, len(by_id)), f"{query_id!r}: {len(hits)} hits")
            for hit in hits:
                want(
                    math.isclose(
                        hit["score"], distances[hit["doc_id"]], rel_tol=1e-4, abs_tol=1e-4
                    ),
                    f"{hit!r}",
                )
            nearest = sorted(distances.values())[: len(hits)]
            for hit, distance in zip(hits, nearest, strict=True):
                want(
                    math.isclose(hit["score"], distance, rel_tol=1e-4, abs_tol=1e-4),
                    f"{query_id!r}: not the nearest",
                )

    return check


def expect_search_folded(a, doubts):
    k, source_of = oracle.cutoff(a["k"]), a["source_of"]
    questions = questions_of(a, doubts)
    usual_asking(a, doubts)
    docs = store_docs(a["vectorstore"], doubts)
    if (
        not isinstance(source_of, dict)
        and not callable(source_of)
        and not isinstance(source_of, Lazy)
    ):
        raise Refused(f"source_of is {source_of!r}")
    usual(
        source_of,
        doubts,
        "source_of",
        lambda s: s is by_field or all(type(x) is str for pair in s.items() for x in pair),
    )
    if k > 10**6:
        doubts.append("a cutoff beyond all sense")
    sources = {
        (by_field(doc) if source_of is by_field else source_of.get(doc["doc_id"], doc["doc_id"]))
        for doc in docs
    }

    def check(seen):
        want(list(seen.value) == list(questions), f"queries {list(seen.value)!r}")
        for hits in seen.value.values():
            found = [hit["doc_id"] for hit in hits]
            want(len(set(found)) == len(found) == min(k, len(sources)), f"{found!r} of {sources!r}")
            want(set(found) <= sources, f"{found!r} of {sources!r}")

    return check


def expect_build_vectorstore(a, doubts):
    docs = usual_docs(a["docs"], doubts)
    usual_embeddings(a["embeddings"], doubts)
    doubt_strange(docs, doubts)
    index = a.get("index", "Flat")
    if index not in ("Flat", "HNSW8", "SQ8", "IVF1,Flat"):
        raise Refused(f"index={index!r}")

    def check(seen):
        store_ids = [seen.value.index_to_docstore_id[n] for n in range(seen.value.index.ntotal)]
        want(store_ids == [doc["doc_id"] for doc in docs], f"{store_ids!r}")

    return check


def expect_build_bm25(a, doubts):
    docs, tokens = usual_docs(a["docs"], doubts), a.get("tokens", "auto")
    if isinstance(tokens, str) and tokens not in ("auto", "words", "kiwi"):
        raise Refused(f"tokens={tokens!r}")
    usual(tokens, doubts, "tokens", lambda t: t in ("auto", "words") or is_tokenizer(t))
    doubt_strange(docs, doubts)
    doubts.append("no document may have a term")

    def check(seen):
        want(seen.value.as_index().size == len(docs), f"{seen.value!r}")
        ids = [document.metadata["doc_id"] for document in seen.value.invoke(docs[0]["content"])]
        want(set(ids) <= {doc["doc_id"] for doc in docs}, f"{ids!r}")
        want(len(set(ids)) == len(ids) <= 4, f"{ids!r}")

    return check


def expect_fuse(a, doubts):
    runs, k, weights = a["runs"], oracle.cutoff(a["k"]), a.get("weights")
    method, missing = a.get("method", "rrf"), a.get("missing_queries", "error")
    if not isinstance(runs, dict) or not runs:
        raise Refused("no runs")
    for choice, choices in ((method, ("rrf", "min_max")), (missing, ("error", "empty"))):
        if not isinstance(choice, str) or choice not in choices:
            raise Refused(f"{choice!r} is none of {choices}")
    usual(list(runs), doubts, "names of runs", all_texts)
    ranked = {name: oracle.rankings(view(run), doubts) for name, run in runs.items()}
    for found in ranked.values():
        refuse_broken(found)
        if any(len(set(docs)) < len(docs) for docs in found.values()):
            raise Refused("a document twice")
    together = [doc for found in ranked.values() for docs in found.values() for doc in docs]
    queries = list(dict.fromkeys(q for found in ranked.values() for q in found))
    oracle.refuse_mixed(together)
    oracle.refuse_mixed(queries)
    if oracle.are_confusable(set(together)) or oracle.are_confusable(set(queries)):
        raise Refused("ids that look alike")
    if missing == "error" and any(q not in found for found in ranked.values() for q in queries):
        raise Refused("a query that a run lacks")
    if weights is not None:
        if not isinstance(weights, dict) or set(weights) != set(runs):
            raise Refused(f"weights are {weights!r}")
        usual(
            weights, doubts, "weights", lambda w: all(type(x) in (int, float) for x in w.values())
        )
        if not all(0 <= x <= 1e300 for x in weights.values()) or not any(weights.values()):
            raise Refused(f"weights are {weights!r}")
    if method == "min_max":
        doubts.append("scores that may be missing, or have no direction")

    def check(seen):
        want(list(seen.value) == queries, f"queries {list(seen.value)!r}")
        for query_id, hits in seen.value.items():
            scores = [hit["score"] for hit in hits]
            want(scores == sorted(scores, reverse=True), f"{scores!r} do not fall")
            want(len({hit["doc_id"] for hit in hits}) == len(hits) <= k, f"{hits!r}")
            if method == "rrf":
                points = {}
                for name, found in ranked.items():
                    for rank, doc in enumerate(found.get(query_id, []), start=1):
                        weight = 1 if weights is None else weights[name]
                        points.setdefault(doc, []).append(weight / (60 + rank))
                want(len(hits) == min(k, len(points)), f"{query_id!r}: {len(hits)} hits")
                for hit in hits:
                    want_close(hit["score"], sum(points[hit["doc_id"]]), hit["doc_id"])

    return check


def expect_rerank(a, doubts):
    k, depth, questions = oracle.cutoff(a["k"]), oracle.cutoff(a["depth"]), questions_of(a, doubts)
    if k > depth:
        raise Refused("k above depth")
    usual_cache(a, doubts)
    usual(a["scorer"], doubts, "scorer", lambda s: s is words_shared)
    hits = view(a["results"])
    usual(
        hits,
        doubts,
        "results",
        lambda found: all(type(hit) is dict for ranking in found.values() for hit in ranking),
    )
    ranked = oracle.rankings(hits, doubts)
    refuse_broken(ranked)
    doubt_texts(hits, doubts)
    doubts.append("hits that may have no content")
    if any(len(set(ranked.get(q, []))) < len(ranked.get(q, [])) for q in questions):
        raise Refused("a document twice")
    if not set(questions) <= set(ranked):
        raise Refused("a query without results")

    def check(seen):
        want(list(seen.value) == list(questions), f"queries {list(seen.value)!r}")
        for query_id, found in seen.value.items():
            texts = {hit["doc_id"]: as_text({"title": "", **hit}) for hit in hits[query_id]}
            scores = [words_shared([(questions[query_id], texts[doc])])[0] for doc in texts]
            best = sorted(scores[:depth], reverse=True)[:k]
            want([hit["score"] for hit in found] == best, f"{found!r}, by definition {best!r}")

    return check


def doubt_strange(docs, doubts):
    for doc in docs:
        oracle.an_id(doc["doc_id"], doubts)
        if any("\ud800" <= letter <= "\udfff" for letter in doc["content"] + doc["title"]):
            doubts.append("half a character")


def expect_add_documents(a, doubts):
    held = [doc["doc_id"] for doc in store_docs(a["vectorstore"], doubts)]
    docs = oracle.records(view(a["docs"]), doubts, "docs")
    if docs:
        docs = usual_docs(a["docs"], doubts)
        doubt_strange(docs, doubts)
    if set(held) & {doc["doc_id"] for doc in docs}:
        raise Refused("a doc_id that the store already holds")
    return lambda seen: want(
        seen.arguments["vectorstore"].index.ntotal == len(held) + len(docs),
        "not all documents were added",
    )


def expect_save_vectorstore(a, doubts):
    docs = store_docs(a["vectorstore"], doubts)
    usual(a["folder"], doubts, "folder", lambda f: f.make.__name__ == "new_path")
    doubt_strange(docs, doubts)

    def check(seen):
        loaded = rageval_kit.load_vectorstore(seen.arguments["folder"], Hashed())
        want(
            list(loaded.index_to_docstore_id.values()) == [doc["doc_id"] for doc in docs],
            "other documents came back",
        )
        one, other = (
            s.index.reconstruct_n(0, len(docs)) for s in (loaded, seen.arguments["vectorstore"])
        )
        want(bool((one == other).all()), "other vectors came back")

    return check


def expect_load_vectorstore(a, doubts):
    usual(
        a["folder"],
        doubts,
        "folder",
        lambda f: f.make.__name__ == "saved_store" and not f.arguments[1],
    )
    numbers = lambda e: e.make.__name__ == "embeddings" and not e.arguments[0]  # noqa: E731
    usual(a["embeddings"], doubts, "embeddings", numbers)
    ids = [doc["doc_id"] for doc in a["folder"].arguments[0]]
    return lambda seen: want(
        list(seen.value.index_to_docstore_id.values()) == ids, "other documents came back"
    )


def expect_load_embeddings(a, doubts):
    name = a.get("name", "use-multilingual")
    if not isinstance(name, str):
        raise Refused(f"the name is {name!r}")
    if "dimensions" in a and name in ("chars", "use-multilingual"):
        raise Refused("settings of a model that has none")
    if name != "chars":
        doubts.append("an odd name")

    def check(seen):
        want(hasattr(seen.value, "embed_documents"), f"{seen.value!r} embeds nothing")
        return None if name == "chars" else NotImplemented

    return check


def expect_cached_embeddings(a, doubts):
    for size in ("batch", "characters"):
        usual(oracle.cutoff(a.get(size, 64)), doubts, size, lambda n: n < 10**12)
    usual(a["path"], doubts, "path", lambda p: p.make.__name__ == "new_path")
    limit = a.get("requests_per_minute")
    usual(limit, doubts, "requests_per_minute", lambda n: n is None or (type(n) is int and n > 0))
    model = a["embeddings"]
    usual_embeddings(model, doubts)

    def check(seen):
        texts = ["one text", "다른 글", "one text"]
        for _ in range(2):
            vectors = np.asarray(seen.value.embed_documents(texts))
            want(np.allclose(vectors, [hashed(text) for text in texts]), "other vectors")
        want(seen.value.texts == 2, f"{seen.value.texts} texts were asked for")

    return check


def expect_shorten(a, doubts):
    dimensions = oracle.cutoff(a["dimensions"])
    usual(dimensions, doubts, "dimensions", lambda n: n < 10**12)
    usual_embeddings(a["embeddings"], doubts)

    def check(seen):
        whole = np.asarray(hashed("one text"))[:dimensions]
        if dimensions > len(hashed("one text")):
            try:
                seen.value.embed_query("one text")
            except ValueError:
                return
            raise Wrong("more numbers than there are")
        length = np.linalg.norm(whole) or 1
        want(np.allclose(seen.value.embed_query("one text"), whole / length), "another vector")

    return check


def expect_agreement(a, doubts):
    k = oracle.cutoff(a["k"])
    exact, other = (oracle.rankings(view(a[name]), doubts) for name in ("exact", "other"))
    for ranked in (exact, other):
        refuse_broken(ranked)
    if not exact.keys() & other.keys():
        raise Refused("no query in common")
    for ids in ([*exact, *other], [d for r in (exact, other) for docs in r.values() for d in docs]):
        oracle.refuse_mixed(ids)
        if oracle.are_confusable(set(ids)):
            raise Refused("ids that look alike")
    if k > 10**9:
        doubts.append("a cutoff beyond all sense")

    def check(seen):
        want(list(seen.value.index) == list(exact), f"queries {list(seen.value.index)!r}")
        for query_id, share in seen.value[f"Agreement@{k}"].items():
            top, theirs = set(exact[query_id][:k]), set(other.get(query_id, [])[:k])
            if not top:
                want_close(share, NAN, query_id)
                continue
            # What is tied with rank k by its score may count as found.
            want(len(top & theirs) / len(top) <= share + 1e-9, f"{query_id}: {share}")
            want(share <= min(1, len(theirs) / len(top)) + 1e-9, f"{query_id}: {share}")

    return check


def expect_index_costs(a, doubts):
    k, _ = oracle.cutoff(a.get("k", 10)), questions_of(a, doubts)
    stores = a["stores"]
    if not isinstance(stores, Mapping) or not stores:
        raise Refused("stores is no dict")
    every = [store_docs(its, doubts) for its in stores.values()]
    usual(every, doubts, "stores", lambda every: all(docs == every[0] != [] for docs in every))
    doubt_strange(every[0], doubts)
    if oracle.are_confusable({doc["doc_id"] for doc in every[0]}):
        doubts.append("ids that look alike")
    if k > 10**9:
        doubts.append("a cutoff beyond all sense")

    def check(seen):
        want(list(seen.value.index) == list(stores), "other stores")
        want(bool((seen.value[f"Agreement@{k}"] == 1).all()), "an exact store finds less")

    return check


def expect_estimate_cost(a, doubts):
    model, prices = a["model"], a.get("prices")
    questions = questions_of(a, doubts)
    docs = usual_docs(a["docs"], doubts)
    doubt_strange(docs, doubts)
    is_model = isinstance(model, Lazy) and model.make.__name__ == "embeddings"
    usual(model, doubts, "model", lambda m: is_model or m in ("openai:text-embedding-3-small", "m"))
    name = "Hashed" if is_model else model.rpartition(":")[2]
    if prices is not None:
        usual(prices, doubts, "prices", lambda p: p[name] >= 0 and type(p[name]) is not bool)

    def check(seen):
        table = seen.value
        characters = sum(len(as_text(doc)) for doc in docs)
        want(
            table.loc["documents", ["texts", "characters"]].tolist() == [len(docs), characters],
            "docs",
        )
        asked = set(questions.values())
        want(table.loc["questions", "characters"] == sum(map(len, asked)), "questions")
        if prices is not None:
            money = table.loc["total", "tokens_high"] * prices[name] / 1e6
            want_close(table.loc["total", "money_high"], money, "money")

    return check


# ---------------------------------------------------------------- files


def lines_of(spec, doubts):
    """Return the lines of the file, as a plain reader sees them."""
    usual(
        spec,
        doubts,
        "path",
        lambda s: s.make.__name__ == "a_file" and not s.arguments[0].endswith(".gz"),
    )
    data = spec.arguments[1]
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("no UTF-8") from None
    if not text.strip():
        raise Refused("an empty file")
    if set(text) & set("\r\0\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\ufeff\xa0"):
        doubts.append("strange white space")
        raise Unknown("white space")
    return [line for line in text.split("\n") if line.strip()]


def expect_load_run(a, doubts):
    rows = [line.split() for line in lines_of(a["path"], doubts)]
    if any(len(row) != 6 for row in rows):
        raise Refused("not six fields a line")
    hits = []
    for query_id, _, doc_id, rank, score, _ in rows:
        try:
            hits.append((query_id, doc_id, float(score)))
        except ValueError:
            raise Refused(f"the score {score!r}") from None
        if hits[-1][2] != hits[-1][2]:
            raise Refused("a score is NaN")
        if not rank.removeprefix("-").isdigit() or "_" in score or math.isinf(hits[-1][2]):
            doubts.append(f"rank {rank!r}, score {score!r}")
    if (
        any(filler not in ("Q0", "0") for _, filler, *_ in rows)
        or len({row[5] for row in rows}) > 1
    ):
        doubts.append("an odd filler or name")
    if len({(q, d) for q, d, _ in hits}) < len(hits):
        doubts.append("a document twice")

    def check(seen):
        found = list(seen.value[["query_id", "doc_id", "score"]].itertuples(index=False, name=None))
        want(same(found, hits), f"{found!r}, in the file {hits!r}"[:300])

    return check


HEADER = ("query-id", "corpus-id", "score")


def expect_load_qrels(a, doubts):
    lines = lines_of(a["path"], doubts)
    separator = "\t" if {line.count("\t") for line in lines} in ({2}, {3}) else None
    rows = [line.strip("\r\n").split(separator) for line in lines]
    if tuple(rows[0]) == HEADER:
        rows = rows[1:]
    elif any(word in HEADER for word in rows[0]):
        doubts.append("an odd header")
        raise Unknown("header")
    if not rows:
        raise Refused("no judgement")
    if len({len(row) for row in rows}) > 1 or len(rows[0]) not in (3, 4):
        raise Refused("not three or four fields a line")
    if tuple(lines[0].split(separator)) == HEADER and len(rows[0]) == 4:
        raise Refused("a header of three fields, lines of four")
    found = {}
    for query_id, *_, doc_id, grade in rows:
        if any(field != field.strip() or not field for field in (query_id, doc_id, grade)):
            doubts.append("a blank at the end of a field, or an empty one")
            raise Unknown("blanks")
        try:
            value = float(grade)
        except ValueError:
            raise Refused(f"the grade {grade!r}") from None
        if not math.isfinite(value) or found.get((query_id, doc_id), value) != value:
            raise Refused(f"the grade {grade!r}, or another one above")
        if "_" in grade:
            doubts.append("a number with _")
        found[query_id, doc_id] = value
    if any(len(row) == 4 and row[1] not in ("0", "Q0") for row in rows):
        doubts.append("an odd filler")

    def check(seen):
        read = {
            (q, d): g
            for q, d, g in seen.value[["query_id", "doc_id", "relevance"]].itertuples(
                index=False, name=None
            )
        }
        want(read == found, f"{read!r}, in the file {found!r}"[:300])

    return check


def expect_save_run(a, doubts):
    usual(a["path"], doubts, "path", lambda p: p.make.__name__ == "new_path")
    usual(
        a.get("name", "x"), doubts, "name", lambda n: n.replace("_", "").isalnum() and n.isascii()
    )
    hits = view(a["results"])
    ranked = oracle.rankings(hits, doubts)
    refuse_broken(ranked)
    ids = [*ranked, *(doc for docs in ranked.values() for doc in docs)]
    doubt_ids(ids, doubts, r"\s")
    if not any(ranked.values()):
        doubts.append("no hit")
    usual(ranked, doubts, "hits", lambda r: all(len(set(docs)) == len(docs) for docs in r.values()))
    doubt_scores(hits, doubts)

    def check(seen):
        if not any(ranked.values()):
            return
        back = oracle.rankings(rageval_kit.load_run(seen.arguments["path"]), [])
        expected = {str(q): list(map(str, docs)) for q, docs in ranked.items() if docs}
        want(back == expected, f"came back as {back!r}, was {expected!r}"[:300])

    return check


def doubt_ids(ids, doubts, _):
    if any(
        not str(value) or str(value).split() != [str(value)] or not str(value).isprintable()
        for value in ids
    ):
        doubts.append("ids with white space")


def doubt_scores(hits, doubts):
    """Doubt scores that run against the ranking: a file of scores cannot hold it as it is."""
    if oracle.is_table(hits):
        doubts.append("a table")
        return
    scores = [
        [oracle.plain(hit.get("score")) for hit in r if isinstance(hit, Mapping)]
        for r in hits.values()
    ]
    usual(
        scores,
        doubts,
        "scores",
        lambda s: all(x is None or type(x) in (int, float) for r in s for x in r),
    )
    falls = any(
        x is not None and y is not None and y < x for s in scores for x, y in itertools.pairwise(s)
    )
    rises = any(
        x is not None and y is not None and y > x for s in scores for x, y in itertools.pairwise(s)
    )
    lower = getattr(hits, "lower_is_better", None)
    if (
        (falls and rises)
        or (lower and falls)
        or (lower is False and rises)
        or any(None in s and set(s) != {None} for s in scores)
    ):
        doubts.append("scores against the ranking")


def expect_save_qrels(a, doubts):
    usual(a["path"], doubts, "path", lambda p: p.make.__name__ == "new_path")
    judged = oracle.judgements(view(a["all_qa"]), doubts)
    grades = {
        (str(q), str(doc)): grade
        for q, of_query in judged.items()
        for doc, grade in of_query.items()
    }
    if any(grade != int(grade) for grade in grades.values()):
        raise Refused("a grade that is no whole number")
    doubt_ids([value for pair in grades for value in pair], doubts, r"\s")
    if not grades:
        doubts.append("no judgement")
    name = a["path"].arguments[0]

    def check(seen):
        if not grades:
            return
        read = rageval_kit.load_qrels(seen.arguments["path"])
        back = {(q, doc): grade for q, doc, grade in read.itertuples(index=False, name=None)}
        want(back == grades, f"came back as {back!r}, was {grades!r}, {name}"[:300])

    return check


def expect_load_dataset(a, doubts):
    if a.get("split") is not None:
        doubts.append("a split")
    usual(a["source"], doubts, "source", lambda f: f.make.__name__ == "a_folder")
    files = a["source"].arguments[0]
    if not {"corpus.jsonl", "queries.jsonl"} <= set(files):
        raise Refused("a file is missing")
    read = [json_lines(files[name], doubts) for name in ("corpus.jsonl", "queries.jsonl")]
    if any("/" in name for name in files):
        doubts.append("BEIR's form")
        raise Unknown("BEIR's form")

    def check(seen):
        docs, all_qa = seen.value
        want(same(docs, read[0]) and same(all_qa, read[1]), "other records than the files hold")

    return check


def expect_data_folder(a, doubts):
    name, language = a["name"], a.get("language")
    within = {"campus": [None, "ko", "en", "runs"], "lecture": [None, "ko", "en"]}
    within["handbook"] = [None, "en", "ko"]
    if not all(isinstance(part, (str, type(None))) for part in (name, language)):
        raise Refused("no text")
    if language not in within.get(name, ()):
        raise Refused("no such folder")

    def check(seen):
        parts = [name] if language is None else [name, language]
        want(seen.value.is_dir(), "no folder")
        want(list(seen.value.parts[-len(parts) :]) == parts, f"found {seen.value}")

    return check


def expect_set_language(a, doubts):
    if not isinstance(a["language"], str) or a["language"] not in ("en", "ko"):
        raise Refused("no such language")

    def check(seen):
        chosen = current_language()
        rageval_kit.set_language("en")  # for the calls that follow
        want(chosen == a["language"], f"the language is {chosen}")

    return check


def json_lines(data, doubts):
    lines = lines_of(a_file("x", data), doubts)
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            raise Refused("no JSON") from None
        if not isinstance(found[-1], dict):
            raise Refused("no object")
        if set(line) & set("NI"):
            doubts.append("perhaps NaN")
    return found


def usual_source(a, doubts, fits):
    """Return the records of a source that is an object with the kit's names, and nothing else."""
    others = {p: v for p, v in a.items() if p != "source" and not (p == "pages" and v is False)}
    usual(others, doubts, "an argument", lambda given: all(v is None for v in given.values()))
    source = a["source"]
    made = isinstance(source, Lazy) and source.make.__name__ in ("a_file", "a_folder")
    if made or isinstance(source, (str, Path)):
        doubts.append("a file")
        raise Unknown("a file")
    records = oracle.records(view(source), doubts, "source")
    usual(records, doubts, "source", fits)
    return records


def expect_load_documents(a, doubts):
    docs = usual_source(a, doubts, are_documents)

    def check(seen):
        fields = ("doc_id", "title", "content")
        expected = [{field: doc[field] for field in fields} for doc in docs]
        for doc, other in zip(seen.value, expected, strict=True):
            want(
                all(doc[field] == other[field] or not other[field].strip() for field in fields),
                f"{doc!r}, was {other!r}",
            )

    return check


def are_plain_questions(queries):
    """Say whether they come back as they are: ids of letters, each question once, gold for one."""
    ids = [qa["query_id"] for qa in queries]
    gold = [doc for qa in queries for doc in qa["relevant_doc_ids"]]
    return (
        all(set(qa) == {"query_id", "question", "relevant_doc_ids", "ground_truth"} for qa in queries)
        and all(type(an_id) is str and an_id.isalnum() for an_id in ids + gold)
        and len(set(ids)) == len(ids)
        and all(type(qa["relevant_doc_ids"]) in (list, dict) for qa in queries)
        and all(type(grade) is int and abs(grade) < 9 for qa in queries
                if type(qa["relevant_doc_ids"]) is dict for grade in qa["relevant_doc_ids"].values())
        and all(type(qa[name]) is str and qa[name].strip() == qa[name] != ""
                for qa in queries for name in ("question", "ground_truth"))
        and not any(letter in qa["ground_truth"] for qa in queries for letter in "[]")
        and bool(gold)
    )  # fmt: skip


def expect_load_questions(a, doubts):
    queries = usual_source(a, doubts, are_plain_questions)

    def check(seen):
        for qa, other in zip(seen.value, queries, strict=True):
            grades = dict.fromkeys(other["relevant_doc_ids"], 1)
            if isinstance(other["relevant_doc_ids"], dict):
                grades = other["relevant_doc_ids"]
            found = qa["relevant_doc_ids"]
            found = found if isinstance(found, dict) else dict.fromkeys(found, 1)
            want({**qa, "relevant_doc_ids": grades} == {**other, "relevant_doc_ids": grades}, qa)
            want(found == grades, f"{found!r}, was {grades!r}")

    return check


def are_pairs(rows):
    return bool(rows) and all(
        set(row) == {"question", "positive"}
        and all(type(text) is str and text.strip() for text in row.values())
        and row["positive"][0] not in "[({"
        for row in rows
    )


def expect_load_pairs(a, doubts):
    rows = usual_source(a, doubts, are_pairs)

    def check(seen):
        texts = list(dict.fromkeys(row["positive"] for row in rows))
        want([doc["content"] for doc in seen.value.docs] == texts, "other texts")
        asked = list(dict.fromkeys(row["question"].strip() for row in rows))
        want([qa["question"] for qa in seen.value.all_qa] == asked, "other questions")
        want("far too good" in " ".join(seen.warnings), "no word about the scores")

    return check


def expect_find_text(a, doubts):
    needle, text = a["needle"], a["text"]
    if not isinstance(needle, str) or not isinstance(text, str):
        raise Refused("no text")
    if not needle.strip():
        raise Refused("nothing to look for")
    if not needle.isprintable():
        doubts.append("letters that nobody sees")
    wanted = unicodedata.normalize("NFKC", needle)

    def check(seen):
        places = [slice(*place) for place in seen.value]
        for place in places if wanted.isascii() else []:
            found = " ".join(unicodedata.normalize("NFKC", text[place]).split())
            want(len(found) == len(" ".join(wanted.split())), f"{found!r} is no {wanted!r}")
        if needle.strip().isalnum() and needle.isascii():
            at = text.find(needle.strip())
            want(at < 0 or at in [place.start for place in places], f"not found at {at}")

    return check


# ---------------------------------------------------------------- results


def expect_results(a, doubts):
    hits = view(a["hits"])
    usual(hits, doubts, "hits", lambda h: type(h) is dict)
    if type(a.get("k")) is not int or a["k"]:  # 0: not known how many were asked for
        oracle.cutoff(a.get("k", 1))
    # It takes the hits as they are, and what is wrong with them is said when they are read.
    try:
        ranked = oracle.rankings(hits, doubts)
        good = not any(isinstance(doc, oracle.Broken) for docs in ranked.values() for doc in docs)
    except Refused:
        good = False
    plain = "object at 0x" not in repr(hits) and "generator" not in repr(hits)
    for parameter in {"hits"} if not good else set(a) - {"hits", "k"}:
        doubts.append(parameter)

    def check(seen):
        made = seen.value
        want(same(made, seen.arguments["hits"]), "other hits than were given")
        for other in (
            made.copy(),
            made | {},
            copy.copy(made),
            copy.deepcopy(made) if good and plain else made,
        ):
            want(
                isinstance(other, rageval_kit.Results) and other.k == made.k,
                f"a copy knows no k: {type(other)}",
            )
            want(same(other, made), "a copy with other hits")
        some = list(hits)[:1]
        part = made.only(some)
        want(list(part) == some and part.k == made.k, f"only({some!r}) is {part!r}")
        table = made.to_frame()
        want(good, "to_frame of hits that are none")
        want(
            list(table["doc_id"]) == [doc for docs in ranked.values() for doc in docs],
            "to_frame has other hits",
        )
        want(table.attrs.get("k") == made.k, "to_frame loses k")

    return check


# ---------------------------------------------------------------- statistics, words, plots


def numbers_in(value, doubts, n_dimensions):
    """Return the numbers of an array; doubt what is no array of finite numbers."""
    fits = lambda a: (  # noqa: E731
        isinstance(a, np.ndarray)
        and a.ndim == n_dimensions
        and a.size
        and a.dtype == float
        and np.isfinite(a).all()
    )
    usual(value, doubts, "the array", fits)
    return value.tolist()


def expect_holm(a, doubts):
    p = numbers_in(a["p"], doubts, 1)
    usual(p, doubts, "p", lambda p: all(0 <= x <= 1 for x in p))
    expected, largest = {}, 0.0
    for n_before, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, (len(p) - n_before) * p[place])
        expected[place] = min(largest, 1.0)
    return lambda seen: (
        [want_close(x, expected[n], f"p {n}") for n, x in enumerate(seen.value)] and None
    )


def expect_queries_needed(a, doubts):
    effect, level = oracle.plain(a["effect_size"]), oracle.plain(a.get("level", 0.05))
    if oracle.is_array_of_one(a["effect_size"]) or oracle.is_array_of_one(a.get("level")):
        doubts.append("an array of no dimension")
    usual(effect, doubts, "effect_size", lambda e: type(e) in (int, float) and 1e-6 < abs(e) < 1e6)
    usual(level, doubts, "level", lambda x: type(x) is float and 1e-9 < x < 1)
    normal = statistics.NormalDist()
    z = normal.inv_cdf(1 - level / 2) + normal.inv_cdf(0.8)
    return lambda seen: want(
        seen.value == max(2, math.ceil((z / effect) ** 2)), f"{seen.value}, z={z}"
    )


def numbers_to_resample(a, name, doubts):
    values = numbers_in(a[name], doubts, 2)
    resamples = whole_number(a["resamples"], 1, "resamples")
    usual(a["rng"], doubts, "rng", lambda g: g.make.__name__ == "generator")
    if resamples > 10**6:
        doubts.append("more resamples than memory")
        raise Unknown("resamples")
    return values, resamples


def expect_resampled_means(a, doubts):
    values, resamples = numbers_to_resample(a, "values", doubts)
    drawn = (
        generator.__wrapped__(*a["rng"].arguments)
        .integers(0, len(values), size=(resamples, len(values)))
        .tolist()
    )

    def check(seen):
        want(seen.value.shape == (resamples, len(values[0])), f"shape {seen.value.shape}")
        for row, chosen in list(enumerate(drawn))[:5]:
            for column in range(len(values[0])):
                want_close(
                    seen.value[row, column],
                    oracle.mean([values[n][column] for n in chosen]),
                    f"row {row}",
                )

    return check


def expect_randomization_p(a, doubts):
    differences, resamples = numbers_to_resample(a, "differences", doubts)

    def check(seen):
        want(len(seen.value) == len(differences[0]), f"{len(seen.value)} values of p")
        want(all(1 / (resamples + 1) <= p <= 1 for p in seen.value), f"p {seen.value}")
        for column, p in enumerate(seen.value):
            if not any(row[column] for row in differences):
                want(p == 1, f"p={p} where nothing differs")

    return check


def expect_words(a, doubts):
    text = as_text_or_doubt(a["text"], doubts, "the text")

    def check(seen):
        want(all(type(word) is str and word for word in seen.value), f"{seen.value!r}")
        want(
            len(seen.value) <= 2 * len(unicodedata.normalize("NFKC", text)),
            f"{len(seen.value)} words",
        )

    return check


def expect_kiwi_words(a, doubts):
    as_text_or_doubt(a["text"], doubts, "the text")
    doubts.append("an extra that need not be installed")
    return expect_words(a, doubts)


def expect_split_sentences(a, doubts):
    text = as_text_or_doubt(a["text"], doubts, "the text")

    def check(seen):
        want(
            "".join("".join(seen.value).split()) == "".join(text.split()),
            f"{seen.value!r} of {text!r}",
        )
        want(
            all(sentence.strip() for sentence in seen.value), f"an empty sentence in {seen.value!r}"
        )

    return check


def expect_occurs(a, doubts):
    stem, text = (as_text_or_doubt(a[name], doubts, name) for name in ("stem", "text"))
    if not stem:
        doubts.append("an empty stem")

    def check(seen):
        want(isinstance(seen.value, bool), f"{seen.value!r}")
        if (
            stem.isascii()
            and stem.isalpha()
            and stem.islower()
            and stem not in unicodedata.normalize("NFKC", text).lower()
        ):
            want(not seen.value, f"{stem!r} occurs in {text!r}")

    return check


def drawn(seen):
    """A plot is drawn to the end: what is wrong with a text shows only then."""
    figure = getattr(seen.value, "figure", None)
    want(figure is not None, f"no axes came back: {seen.value!r}")
    try:
        figure.draw_without_rendering()
    except Exception as error:
        raise Wrong(f"it cannot be drawn: {type(error).__name__}: {error}") from None


def expect_plot(a, doubts):
    usual(a.get("ax"), doubts, "ax", lambda ax: ax is None or ax.make.__name__ == "axes")
    # A table of one query, or one in which nothing has a value, may have nothing to draw.
    doubts.append("perhaps nothing to draw")
    for name in ("title", "ylabel", "xlabel"):
        usual(a.get(name), doubts, name, lambda text: text is None or type(text) is str)
    return drawn


def usual_experiment(a, doubts):
    usual(a["result"], doubts, "result", lambda it: isinstance(it, rageval_kit.Experiment))


def expect_experiment(a, doubts):
    """Much may be refused; where it is not, the means are those of the metric's own function."""
    doubts.append("every argument of a study")

    def check(seen):
        result, (label, *_) = seen.value, seen.value.record["metrics"]
        want(list(result.table.index) == list(result.record["systems"]), "rows")
        for name, run in result.runs.items():
            record = result.record
            table = rageval_kit.per_query(
                result.all_qa, run, record["k"], [label], **record["policies"]
            )
            want_close(result.table.loc[name, "mean"], table.iloc[:, 0].mean(), f"mean of {name}")
        for name in set(result.table.index) - set(result.runs):
            want(result.table.loc[name, "error"] != "", f"{name} failed and says not why")

    return check


def expect_report(a, doubts):
    usual_experiment(a, doubts)
    return lambda seen: want(type(seen.value) in (str, dict), "no text and no numbers")


def expect_of_experiment(a, doubts):
    if "result" in a:
        usual_experiment(a, doubts)
    doubts.append("a path, or documents, or nothing to draw")
    return lambda seen: NotImplemented


def expect_grid(a, doubts):
    if not all(isinstance(values, (list, tuple, dict)) for values in a.values()):
        doubts.append("what is no list")
    doubts.append("names of values")
    return lambda seen: NotImplemented


EXPECT = {
    **dict.fromkeys(("to_markdown", "to_html", "to_latex", "flat"), expect_report),
    **dict.fromkeys(
        ("plot_experiment", "explore", "save_experiment", "load_experiment"), expect_of_experiment
    ),
    "experiment": expect_experiment,
    "grid": expect_grid,
    "holm": expect_holm,
    "queries_needed": expect_queries_needed,
    "resampled_means": expect_resampled_means,
    "randomization_p": expect_randomization_p,
    "content_words": expect_words,
    "normalised_tokens": expect_words,
    "kiwi_words": expect_kiwi_words,
    "split_sentences": expect_split_sentences,
    "occurs": expect_occurs,
    **dict.fromkeys(
        (
            "plot_abstention",
            "plot_bars",
            "plot_cells",
            "plot_comparison",
            "plot_differences",
            "plot_hits",
            "plot_intervals",
            "plot_limit",
            "plot_lines",
            "plot_marks",
            "plot_points",
            "plot_relevance_matrix",
            "plot_resamples",
            "plot_strip",
        ),
        expect_plot,
    ),
    **{name: expect_one_metric(metric) for name, metric in METRIC_FUNCTIONS.items()},
    "per_query": expect_per_query,
    "evaluate": expect_evaluate,
    "relevance_matrix": expect_relevance_matrix,
    "explain": expect_explain,
    "caption": expect_caption,
    "outcomes": expect_outcomes,
    "compare": expect_compare,
    "differences": expect_differences,
    "failures": expect_failures,
    "common_traits": expect_common_traits,
    "diagnose": expect_diagnose,
    "abstention_curve": expect_abstention_curve,
    "threshold_for": expect_threshold_for,
    "check_results": expect_check_results,
    "check_scores": expect_check_scores,
    "validate_dataset": expect_validate_dataset,
    "split_documents": expect_split_documents,
    "match_passages": expect_match_passages,
    "cut_results": expect_cut_results,
    "passage_scores": expect_passage_scores,
    "precision_omega": expect_precision_omega,
    "fold": expect_fold,
    "fold_judgements": expect_fold_judgements,
    "find_duplicates": expect_find_duplicates,
    "duplicate_index": expect_duplicate_index,
    "unread_tails": expect_unread_tails,
    "faithfulness": expect_faithfulness,
    "faithfulness_frame": expect_faithfulness_frame,
    "answer_accuracy": expect_answer_accuracy,
    "generate_answers": expect_generate_answers,
    "judge_answers": expect_judge_answers,
    "judge_agreement": expect_judge_agreement,
    "pool_results": expect_pool_results,
    "pool_to_settle": expect_pool_to_settle,
    "score_bounds": expect_score_bounds,
    "save_pool": expect_save_pool,
    "load_judged": expect_load_judged,
    "judging_form": expect_judging_form,
    "add_judgements": expect_add_judgements,
    "judge_relevance": expect_judge_relevance,
    "suggest_questions": expect_suggest_questions,
    "ExtractiveAnswerer": expect_extractive_answerer,
    "search_all": expect_search_all,
    "search_folded": expect_search_folded,
    "build_vectorstore": expect_build_vectorstore,
    "build_bm25": expect_build_bm25,
    "fuse": expect_fuse,
    "rerank": expect_rerank,
    "add_documents": expect_add_documents,
    "save_vectorstore": expect_save_vectorstore,
    "load_vectorstore": expect_load_vectorstore,
    "load_embeddings": expect_load_embeddings,
    "shorten": expect_shorten,
    "agreement": expect_agreement,
    "index_costs": expect_index_costs,
    "estimate_cost": expect_estimate_cost,
    "cached_embeddings": expect_cached_embeddings,
    "load_run": expect_load_run,
    "load_qrels": expect_load_qrels,
    "save_run": expect_save_run,
    "save_qrels": expect_save_qrels,
    "data_folder": expect_data_folder,
    "set_language": expect_set_language,
    "load_dataset": expect_load_dataset,
    "load_documents": expect_load_documents,
    "load_questions": expect_load_questions,
    "load_pairs": expect_load_pairs,
    "find_text": expect_find_text,
    "Results": expect_results,
}


def half_a_file(a, seen):
    made = isinstance(a["path"], Lazy) and a["path"].make.__name__ == "new_path"
    return "refused, and a file was written" if made and seen.arguments["path"].exists() else ""


def half_added(a, seen):
    held = seen.arguments["vectorstore"]
    if hasattr(held, "index_to_docstore_id") and held.index.ntotal != len(
        held.index_to_docstore_id
    ):
        return "refused, and half of it was added"
    return ""


# What must not be there after a refusal.
AFTER_REFUSAL = {"save_run": half_a_file, "save_qrels": half_a_file, "add_documents": half_added}
