"""The metrics once more, in plain Python: what the fuzzer holds the kit to.

Written from the definitions (README "The numbers" and the docstrings of relevance.py), one query
and one rank at a time, without numpy, pandas or code of the package. What it cannot say, it says:

* `Refused`: the README gives this input no value, so that the kit must not give one either;
* `Unknown`: the definitions leave open what this input means, so that no value can be judged;
* ``doubts``, a list that every reader appends to: why a refusal would be right too. A refusal where
  there is no doubt is as wrong as a wrong number.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

Grades = dict[Any, float]  # doc_id -> grade


class Refused(Exception):
    """The kit must refuse this input."""


class Unknown(Exception):
    """The definitions do not say what this input means."""


# ---------------------------------------------------------------- the definitions
# docs: a query's ranking after the policy for repeats, best first. Each returns a numerator and a
# denominator: the value is their quotient, 0 where the denominator is 0; a pooled average adds up both.


def is_relevant(doc, grades):
    return grades.get(doc, 0) > 0


def n_relevant(grades):
    return sum(grade > 0 for grade in grades.values())


def found(docs, grades, k):
    return sum(is_relevant(doc, grades) for doc in docs[:k])


def hit_rate(docs, grades, k, policies):
    return (1.0 if found(docs, grades, k) else 0.0), 1.0


def reciprocal_rank(docs, grades, k, policies):
    for rank, doc in enumerate(docs[:k], start=1):
        if is_relevant(doc, grades):
            return 1 / rank, 1.0
    return 0.0, 1.0


def precision(docs, grades, k, policies):
    return found(docs, grades, k), k


def recall(docs, grades, k, policies):
    return found(docs, grades, k), n_relevant(grades)


def f1(docs, grades, k, policies):
    p, r = found(docs, grades, k) / k, found(docs, grades, k) / max(n_relevant(grades), 1)
    if policies.get("pooled"):  # 2 P R / (P + R), as one fraction
        return 2 * found(docs, grades, k), k + n_relevant(grades)
    return (2 * p * r / (p + r) if p + r else 0.0), 1.0


def average_precision(docs, grades, k, policies):
    total = 0.0
    for rank, doc in enumerate(docs[:k], start=1):
        if is_relevant(doc, grades):
            total += found(docs, grades, rank) / rank
    return total, n_relevant(grades)


def r_precision(docs, grades, k, policies):
    return found(docs, grades, n_relevant(grades)), n_relevant(grades)


def ndcg(docs, grades, k, policies):
    # Grades may be so large that a gain is no float: all are divided by the largest, which the
    # quotient does not see. A pooled average adds up over queries, and must not.
    largest = max([grade for grade in grades.values() if grade > 0], default=1.0)
    exponential = policies["gain"] == "exponential"

    def gain(grade):
        if grade <= 0:
            return 0.0
        if policies.get("pooled"):
            try:
                return 2.0**grade - 1 if exponential else grade
            except OverflowError:
                raise Unknown("gains beyond what a float holds") from None
        return 2.0 ** (grade - largest) - 2.0**-largest if exponential else grade / largest

    def dcg(gains):
        return math.fsum(g / math.log2(rank + 1) for rank, g in enumerate(gains[:k], start=1))

    ideal = sorted((gain(grade) for grade in grades.values() if grade > 0), reverse=True)
    return dcg([gain(grades.get(doc, 0)) for doc in docs]), dcg(ideal)


def judged(docs, grades, k, policies):
    return sum(doc in grades for doc in docs[:k]), len(docs[:k])


def unique(docs, grades, k, policies):
    return float(len(set(docs[:k]))), 1.0


def err(docs, grades, k, policies):
    """Chapelle et al. (2009): the expected reciprocal rank at which a user stops, satisfied."""
    largest = max(4, policies["largest_grade"])
    total, goes_on = 0.0, 1.0
    for rank, doc in enumerate(docs[:k], start=1):
        grade = max(grades.get(doc, 0), 0)
        satisfied = 2.0 ** (grade - largest) - 2.0**-largest
        total += goes_on * satisfied / rank
        goes_on *= 1 - satisfied
    return total, 1.0


def rbp(docs, grades, k, policies):
    """Moffat and Zobel (2008): a user who looks at the next rank with probability p."""
    p = policies["p"]
    return (1 - p) * math.fsum(
        p ** (rank - 1) for rank, doc in enumerate(docs[:k], start=1) if is_relevant(doc, grades)
    ), 1.0


METRICS = {
    "HitRate": hit_rate,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "Precision": precision,
    "Recall": recall,
    "AP": average_precision,
    "R-precision": r_precision,
    "F1": f1,
    "Judged": judged,
    "Unique": unique,
    "ERR": err,
    "RBP": rbp,
}
THE_FIVE = ("HitRate", "RR", "nDCG", "Precision", "Recall")
MEANS = {"RR": "MRR", "AP": "MAP"}
NO_RELEVANT_NEEDED = ("Judged", "Unique")  # they have a value for every query
IN_0_TO_1 = ("HitRate", "MRR", "nDCG", "Precision", "Recall", "MAP", "F1", "Judged", "ERR", "RBP")
RISES = ("HitRate", "MRR", "Recall", "MAP", "ERR", "RBP")  # with k it stays or rises


# ---------------------------------------------------------------- names and cutoffs


class Column(NamedTuple):
    """A metric at a cutoff; the metric is None for a function of the user's."""

    metric: str | None
    cutoff: int | str  # R-precision has "R"
    name: str
    p: float = 0.8

    @property
    def label(self):
        return self.name if self.cutoff == "R" else f"{self.name}@{self.cutoff}"


def plain(value):
    """Return a numpy number as Python's."""
    return value.item() if type(value).__module__ == "numpy" and not is_array(value) else value


def is_array(value):
    return type(value).__name__ == "ndarray" and value.shape != ()


def is_table(value):
    return hasattr(value, "columns") and hasattr(value, "itertuples")


def cutoff(k):
    if is_array_of_one(k):
        raise Unknown("an array of no dimension")
    k = plain(k)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise Refused(f"k={k!r} is not a positive integer")
    if k > 10**12:
        raise Refused(f"k={k!r} is beyond all sense")
    return k


def cutoffs(ks, doubts):
    if isinstance(ks, (str, bytes, bytearray, Mapping)) or is_table(ks):
        raise Refused(f"ks={ks!r} is no cutoffs")
    if is_array_of_one(ks):
        doubts.append("an array of no dimension")
    if isinstance(ks, (set, frozenset)):
        doubts.append("ks is a set, which has no order")
    several = [cutoff(k) for k in ks] if isinstance(ks, Iterable) and not is_scalar(ks) else None
    several = [cutoff(ks)] if several is None else list(dict.fromkeys(several))
    if not several:
        raise Refused("ks is empty")
    if max(several) > 10**9:
        doubts.append("a cutoff beyond all sense")
    return several


def is_scalar(value):
    return hasattr(value, "shape") and value.shape == ()  # of numpy: np.int64(3), np.array(3)


def is_array_of_one(value):
    return is_scalar(value) and type(value).__name__ == "ndarray"


RBP_NAME = re.compile(r"RBP\(p=(0?\.[0-9]+)\)")


def columns(metrics, ks, doubts):
    """Return the columns that metrics and cutoffs ask for, each once."""
    no_list = isinstance(metrics, (str, bytes, Mapping)) or is_array_of_one(metrics)
    if no_list or not isinstance(metrics, Iterable):
        raise Refused(f"metrics={metrics!r} is no list of names")
    metrics = list(metrics)
    if not metrics:
        raise Refused("metrics is empty")
    several = cutoffs(ks, doubts)
    asked = [column for metric in metrics for column in columns_of(metric, several, doubts)]
    return list(dict.fromkeys(asked))


def columns_of(metric, several, doubts):
    if callable(metric):
        doubts.append("a function of the user's")
        return [Column(None, k, getattr(metric, "__name__", "?")) for k in several]
    if not isinstance(metric, str):
        raise Refused(f"{metric!r} is no metric")

    name, at, behind = metric.partition("@")
    name = {"MRR": "RR", "MAP": "AP"}.get(name, name)
    p = RBP_NAME.fullmatch(name)
    if at and not (behind.isascii() and behind.isdigit() and int(behind) > 0):
        raise Refused(f"{metric!r}: no positive integer behind the @")
    if name not in METRICS and not p:
        if name.lower() in {known.lower() for known in METRICS} | {
            "p", "r", "success", "hit", "mrr", "map", "rprec", "recip_rank",
        }:  # fmt: skip
            doubts.append(f"{metric!r} may be another name of a metric")
            raise Unknown(metric)
        raise Refused(f"no metric is called {metric!r}")
    if name == "R-precision":
        if at:
            raise Refused("R-precision has no cutoff")
        return [Column(name, "R", name)]
    if p and not 0 < float(p[1]) < 1:
        raise Refused(f"p of {metric!r} is not between 0 and 1")
    several = [int(behind)] if at else several
    if name == "RBP" or p:
        p = float(p[1]) if p else 0.8
        return [Column("RBP", k, f"RBP(p={p:g})", p) for k in several]
    return [Column(name, k, name) for k in several]


# ---------------------------------------------------------------- all_qa


def records(given, doubts, name="all_qa"):
    """Return docs or all_qa as a list of dicts."""
    if is_table(given):
        if len(set(map(repr, given.columns))) < len(given.columns):
            raise Refused(f"{name} has a column twice")
        named = [isinstance(column, str) for column in given.columns]
        if not all(named):
            doubts.append("a column that is not called by a text")
        return [
            {
                str(column): cell
                for column, cell, is_text in zip(given.columns, row, named, strict=True)
                if is_text
            }
            for row in given.itertuples(index=False, name=None)
        ]
    if isinstance(given, Mapping) and name == "all_qa":
        given = of_grades(given)
    if isinstance(given, (str, bytes, bytearray, Mapping)) or not isinstance(given, Iterable):
        raise Refused(f"{name} is no list of dicts")
    if is_array(given):
        doubts.append(f"{name} is an array")
    try:
        given = list(given)
    except Exception:
        raise Refused(f"{name} is no list of dicts") from None
    # What LangChain calls a document has its doc_id and title in the metadata.
    given = [as_record(entry) for entry in given]
    if not all(isinstance(entry, Mapping) for entry in given):
        raise Refused(f"{name} holds something else than dicts")
    return given


def of_grades(given):
    """Return pytrec's ``{query_id: {doc_id: grade}}`` as a list of dicts; fractions are scores."""
    if not given or not all(isinstance(grades, Mapping) for grades in given.values()):
        raise Refused("all_qa is a dict of something else than dicts")
    for grade in (plain(grade) for grades in given.values() for grade in grades.values()):
        if isinstance(grade, float) and math.isfinite(grade) and grade != int(grade):
            raise Refused(f"the grade {grade!r} is a score")
    return [{"query_id": q, "relevant_doc_ids": dict(grades)} for q, grades in given.items()]


def as_record(entry):
    if hasattr(entry, "page_content"):
        content = entry.page_content
        title = entry.metadata.get("title")
        title = "" if title is None else title
        if isinstance(title, str) and title and content.startswith(f"{title}\n"):
            content = content[len(title) + 1 :]
        return {"doc_id": entry.id, **entry.metadata, "title": title, "content": content}
    return entry


def an_id(value, doubts):
    """Return the id, if it can be one: a text; integers where both sides have them."""
    value = plain(value)
    if isinstance(value, str):
        if not value or value != value.strip() or not value.isprintable():
            doubts.append(f"a strange id {value!r}")
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        doubts.append(f"the id {value!r} is no text")
        return value
    raise Refused(f"{value!r} is no id")


def a_grade(value, doubts):
    if is_array_of_one(value):
        raise Unknown("a grade is an array")
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refused(f"the grade {value!r} is no number")
    try:
        grade = float(value)
    except OverflowError:
        raise Refused("a grade beyond what a float holds") from None
    if not math.isfinite(grade):
        raise Refused(f"the grade {value!r} is not finite")
    if abs(grade) > 1000 or 0 < abs(grade) < 1e-100:
        doubts.append(f"a grade of {grade!r}")
    return grade


def queries(all_qa, doubts):
    """Return all_qa as a dict a query, also where a table has a row a judgement."""
    found = records(all_qa, doubts)
    if (
        not is_table(all_qa)
        or has_column(all_qa, "relevant_doc_ids")
        or not has_column(all_qa, "doc_id")
    ):
        return found
    try:
        judgements_of_table(all_qa, doubts)
    except Refused as why:  # it may be read for its questions alone
        doubts.append(str(why))
        raise Unknown(str(why)) from None
    grouped = {}
    for row in found:
        query_id = an_id(row.pop("query_id"), doubts)
        judged_one = row.pop("doc_id"), row.pop("relevance", 1)
        query = grouped.setdefault(query_id, {"query_id": query_id, "relevant_doc_ids": {}, **row})
        if judged_one[0].__hash__ is None or row != {name: query[name] for name in row}:
            doubts.append("rows of one query that contradict each other")
            raise Unknown("a table of judgements")
        query["relevant_doc_ids"][judged_one[0]] = judged_one[1]
    return list(grouped.values())


def judgements(all_qa, doubts):
    """Return ``{query_id: {doc_id: grade}}``, in the order of all_qa."""
    if is_table(all_qa) and not has_column(all_qa, "relevant_doc_ids"):
        return judgements_of_table(all_qa, doubts)
    given = records(all_qa, doubts)
    if not given:
        raise Refused("all_qa is empty")
    judged_queries = {}
    for qa in given:
        if "query_id" not in qa:
            raise Refused("a query without query_id")
        query_id = an_id(qa["query_id"], doubts)
        if query_id in judged_queries:
            raise Refused(f"query_id {query_id!r} twice")
        judged_queries[query_id] = grades_of(qa, doubts)
    return checked_ids(judged_queries)


def grades_of(qa, doubts):
    if "relevant_doc_ids" not in qa:
        raise Refused("a query without relevant_doc_ids")
    given = qa["relevant_doc_ids"]
    if isinstance(given, dict):
        return {an_id(doc, doubts): a_grade(grade, doubts) for doc, grade in given.items()}
    if is_array(given):
        given = given.tolist()
    if isinstance(given, (list, tuple, set, frozenset)):
        return dict.fromkeys([an_id(doc, doubts) for doc in given], 1.0)
    if given is None or isinstance(given, (str, bytes, int, float)):
        raise Refused(f"relevant_doc_ids is {given!r}")
    raise Unknown(f"relevant_doc_ids is a {type(given).__name__}")


def judgements_of_table(table, doubts):
    query_ids, docs = column_of(table, "query_id", "all_qa"), column_of(table, "doc_id", "all_qa")
    if not query_ids:
        raise Refused("all_qa is empty")
    grades = [1.0] * len(docs)
    if {str(name).lower() for name in table.columns} & {"grade", "label", "rel", "score"}:
        doubts.append("a column that may hold grades")
        raise Unknown("grades under another name")
    if has_column(table, "relevance"):
        grades = [a_grade(grade, doubts) for grade in column_of(table, "relevance", "all_qa")]
        if str(the_column(table, "relevance", "all_qa").dtype)[:3] not in ("int", "flo"):
            doubts.append("relevance is a column of objects")
    judged_queries = {}
    ids = [
        (an_id(query_id, doubts), an_id(doc, doubts))
        for query_id, doc in zip(query_ids, docs, strict=True)
    ]
    for field in ("question", "ground_truth"):
        refuse_second(table, field, query_ids, doubts)
    for (query_id, doc), grade in zip(ids, grades, strict=True):
        of_query = judged_queries.setdefault(query_id, {})
        if doc in of_query:
            raise Refused(f"{query_id!r} -> {doc!r} judged twice")
        of_query[doc] = grade
    doubt_names_of_columns(table, doubts)
    return checked_ids(judged_queries)


def refuse_second(table, field, query_ids, doubts):
    """Refuse another text under the same query_id; an empty cell says nothing."""
    first = {}
    texts = (
        column_of(table, field, "all_qa") if has_column(table, field) else [None] * len(query_ids)
    )
    for query_id, text in zip(query_ids, texts, strict=True):
        if text is None or (isinstance(text, float) and text != text):
            continue
        if not isinstance(text, str):
            doubts.append(f"a {field} is no text")
        elif first.setdefault(query_id, text) != text:
            raise Refused(f"a second {field} of {query_id!r}")


def column_of(table, name, of):
    return the_column(table, name, of).tolist()


def doubt_names_of_columns(table, doubts):
    """Doubt a column that nobody asks for and that appears twice, or is not called by a text."""
    if len(set(map(repr, table.columns))) < len(table.columns):
        doubts.append("a column twice")
    if not all(isinstance(name, str) for name in table.columns):
        doubts.append("a column that is not called by a text")


def the_column(table, name, of):
    # By position: a name that is a list cannot be looked up, and neither can its neighbours then.
    places = [
        n for n, other in enumerate(table.columns) if isinstance(other, str) and other == name
    ]
    if len(places) != 1:
        raise Refused(f"{of} has {len(places)} columns {name}")
    return table.iloc[:, places[0]]


def has_column(table, name):
    return any(isinstance(other, str) and other == name for other in table.columns)


def checked_ids(judged_queries):
    refuse_mixed(list(judged_queries))
    refuse_mixed([doc for grades in judged_queries.values() for doc in grades])
    return judged_queries


def refuse_mixed(ids):
    if len({isinstance(value, str) for value in ids}) > 1:
        raise Refused("texts and integers as ids: nothing would match")


def are_confusable(ids):
    """Say whether two of the ids differ by their Unicode form only."""
    ids = {value for value in ids if isinstance(value, str)}
    return len({unicodedata.normalize("NFC", value) for value in ids}) < len(ids)


# ---------------------------------------------------------------- results


def rankings(results, doubts, wanted=None):
    """Return ``{query_id: [doc_id, ...]}``, best first; a fault of an unwanted one is a doubt."""
    if is_table(results):
        return rankings_of_table(results, doubts, wanted)
    if not isinstance(results, Mapping):
        raise Refused("results is no dict of lists")
    ranked = {}
    for query_id, hits in results.items():
        try:
            ranked[an_id(query_id, doubts)] = docs_of(hits, doubts)
        except (Refused, Unknown) as why:
            if wanted is None or query_id in wanted:
                raise
            doubts.append(f"results of an unjudged query: {why}")
    # All ids, not the wanted alone: an integer among texts shows that something went wrong.
    refuse_mixed(list(ranked))
    return ranked


def docs_of(hits, doubts):
    if isinstance(hits, Mapping):  # pytrec's: no order but that of the scores
        scores = {doc: number(score, "score") for doc, score in hits.items()}
        best_first = sorted(scores, key=lambda doc: (scores[doc], str(doc)), reverse=True)
        return [id_or_broken(doc, doubts) for doc in best_first]
    if not isinstance(hits, (list, tuple)):
        raise Refused(f"hits are a {type(hits).__name__}")
    return [
        doc_of(hit, doubts) if form_of(hit) == form_of(hits[0]) else Broken("of another form")
        for hit in hits
    ]


def form_of(hit):
    """Return what a hit is: an id, a document, either with a score, a dict or nothing of these."""
    if isinstance(hit, (list, tuple)) and len(hit) == 2 and not isinstance(hit[0], (list, tuple)):
        return form_of(hit[0]), "with a score"
    if isinstance(plain(hit), (str, int)) and not isinstance(plain(hit), bool):
        return "id"
    return (
        "document" if hasattr(hit, "page_content") else "dict" if isinstance(hit, Mapping) else ""
    )


def doc_of(hit, doubts):
    """Return the doc_id of a hit, or a `Broken`, which beyond the cutoff may do no harm."""
    form, score = form_of(hit), {}
    if form in (("id", "with a score"), ("document", "with a score")):
        (form, _), (hit, given) = form, hit
        score = {"score": given}
    if form == "document":
        doubts.append("a document of LangChain")
        hit = as_record(hit) | {"score": None} | score  # metadata hold no score
    elif form == "id":
        hit = {"doc_id": hit} | score
    if not isinstance(hit, Mapping) or "doc_id" not in hit:
        return Broken(f"a hit is {hit!r}")
    if is_array_of_one(hit.get("score")):
        doubts.append("a score is an array")
    score = plain(hit.get("score"))
    if isinstance(score, float) and math.isnan(score):
        return Broken("a score is NaN")
    if (score is not None and (isinstance(score, bool) or not isinstance(score, (int, float)))) or (
        score is not None and not abs(score) < 1e300
    ):
        doubts.append(f"a score is {score!r}")
    return id_or_broken(hit["doc_id"], doubts)


class Broken(NamedTuple):
    """In place of a hit that is none."""

    why: str


def id_or_broken(value, doubts):
    try:
        return an_id(value, doubts)
    except Refused as why:
        return Broken(str(why))


def rankings_of_table(table, doubts, wanted):
    query_ids, docs = column_of(table, "query_id", "results"), column_of(table, "doc_id", "results")
    by_rank = has_column(table, "rank")
    doubt_names_of_columns(table, doubts)
    if not query_ids:
        if not by_rank and not has_column(table, "score"):
            doubts.append("an empty table without rank and score")
        return {}
    if not by_rank and not has_column(table, "score"):
        raise Refused("results has neither rank nor score")
    if not by_rank and table.attrs.get("lower_is_better"):
        raise Refused("distances would be read as similarities")
    key = "rank" if by_rank else "score"
    keys = [number(value, key) for value in column_of(table, key, "results")]
    if str(the_column(table, key, "results").dtype)[:3] not in ("int", "flo"):
        doubts.append(f"{key} is a column of objects")
    if by_rank and has_column(table, "score"):
        doubts.append("rank and score, which may contradict each other")

    # Query by query: by rank, or by score and, where scores are equal, by doc_id, both falling.
    of_queries = {}
    for query_id, doc, value in zip(query_ids, docs, keys, strict=True):
        of_queries.setdefault(an_id(query_id, doubts), []).append(
            (value, id_or_broken(doc, doubts))
        )
    refuse_mixed(list(of_queries))
    ranked = {}
    for query_id, found in of_queries.items():
        if by_rank:
            hits = sorted(found, key=lambda hit: hit[0])
            if [rank for rank, _ in hits] != list(range(1, len(hits) + 1)):
                if wanted is None or query_id in wanted:
                    raise Refused(f"the ranks of {query_id!r} do not count 1, 2, 3, ...")
                doubts.append("ranks of an unjudged query do not count 1, 2, 3, ...")
        else:
            hits = sorted(found, key=lambda hit: (hit[0], str(hit[1])), reverse=True)
            if any(math.isinf(score) for score, _ in hits):
                doubts.append("an infinite score")
        ranked[query_id] = [doc for _, doc in hits]
    return ranked


def number(value, name):
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refused(f"a {name} is {value!r}")
    if value != value:
        raise Refused(f"a {name} is NaN")
    try:
        return float(value)
    except OverflowError:
        raise Refused(f"a {name} beyond what a float holds") from None


# ---------------------------------------------------------------- from inputs to values

DEFAULTS = {"no_relevant": "exclude", "duplicates": "error", "gain": "linear"}
CHOICES = {
    "no_relevant": ("exclude", "zero", "one", "error"),
    "duplicates": ("error", "unique", "position"),
    "gain": ("linear", "exponential"),
}


def policies_of(given):
    for name, value in given.items():
        if not isinstance(value, str) or value not in CHOICES[name]:
            raise Refused(f"{name}={value!r} is no policy")
    return DEFAULTS | given


class Query(NamedTuple):
    """One query of all_qa: its ranking after the policy for repeats, and its grades."""

    docs: list[Any]
    grades: Grades


def matrix(all_qa, results, depth, policies, doubts, depth_of_r=False):
    """Return ``{query_id: Query}``: all_qa and results read, checked to the depth, and folded."""
    policies = policies_of(policies)
    judged_queries = judgements(all_qa, doubts)
    if depth_of_r:
        depth = max(depth, 1, *map(n_relevant, judged_queries.values()))
    ranked = rankings(results, doubts, judged_queries)
    refuse_mixed([*judged_queries, *ranked])
    if are_confusable([*judged_queries, *ranked]):
        raise Refused("query_ids in two Unicode forms")

    found, seen = {}, [doc for grades in judged_queries.values() for doc in grades]
    for query_id, grades in judged_queries.items():
        docs = ranked.get(query_id, [])
        within = docs if policies["duplicates"] == "unique" else docs[:depth]
        broken = [doc for doc in within if isinstance(doc, Broken)]
        if broken:
            raise Refused(broken[0].why)
        if any(isinstance(doc, Broken) for doc in docs):
            doubts.append("a broken hit below the cutoff")
        seen += within
        if policies["duplicates"] == "error" and len(set(within)) < len(within):
            raise Refused(f"{query_id!r}: a document twice")
        if policies["duplicates"] == "unique":
            within = list(dict.fromkeys(within))[:depth]
        if policies["no_relevant"] == "error" and not n_relevant(grades):
            raise Refused(f"{query_id!r} has no relevant document")
        found[query_id] = Query(within, grades)

    refuse_mixed(seen)
    if are_confusable(seen):
        raise Refused("doc_ids in two Unicode forms")
    everything = [doc for docs in ranked.values() for doc in docs if not isinstance(doc, Broken)]
    if are_confusable([*seen, *everything]):
        doubts.append("doc_ids in two Unicode forms below the cutoff")
    if len({isinstance(doc, str) for doc in [*seen, *everything]}) > 1:
        doubts.append("ids of two types below the cutoff")
    return found


def value_of(column, query, policies):
    """Return the metric of one query, with the policy for queries without a relevant document."""
    if not n_relevant(query.grades) and column.metric not in NO_RELEVANT_NEEDED:
        return {"exclude": math.nan, "zero": 0.0, "one": 1.0}[policies["no_relevant"]]
    numerator, denominator = METRICS[column.metric](
        query.docs, query.grades, column.cutoff, policies | {"p": column.p}
    )
    return numerator / denominator if denominator else 0.0


class Table(NamedTuple):
    """All values of a call: by query_id, a value a column; None for a function of the user's."""

    columns: list[Column]
    queries: dict[Any, Query]
    policies: dict[str, Any]

    def values(self, column):
        if column.metric is None:
            return None
        return {
            query_id: value_of(column, query, self.policies)
            for query_id, query in self.queries.items()
        }

    def macro(self, column):
        return mean([value for value in self.values(column).values() if value == value])

    def pooled(self, column):
        if self.policies["no_relevant"] in ("zero", "one"):
            raise Refused("a pooled average has no place for queries without a relevant document")
        parts = [
            METRICS[column.metric](
                query.docs,
                query.grades,
                column.cutoff,
                self.policies | {"p": column.p, "pooled": True},
            )
            for query in self.queries.values()
            if n_relevant(query.grades) or column.metric in NO_RELEVANT_NEEDED
        ]
        total = sum(denominator for _, denominator in parts)
        return math.fsum(numerator for numerator, _ in parts) / total if total else math.nan


def mean(values):
    return math.fsum(values) / len(values) if values else math.nan


def table(all_qa, results, asked, policies, doubts):
    """Return the `Table` of these columns."""
    policies = policies_of(policies)
    depth = max([column.cutoff for column in asked if column.cutoff != "R"], default=1)
    depth_of_r = any(column.cutoff == "R" for column in asked)
    found = matrix(all_qa, results, depth, policies, doubts, depth_of_r)
    grades = [grade for query in found.values() for grade in query.grades.values()]
    return Table(asked, found, policies | {"largest_grade": max(grades, default=0)})


def outcome(recall_value):
    if recall_value != recall_value:
        return "excluded"
    return "complete" if recall_value == 1 else "partial" if recall_value else "failed"


# ---------------------------------------------------------------- beside the metrics


def fold(hits, source_of, k):
    """Return the first hit of every source, under the source's name, cut at k."""
    folded = {}
    for hit in hits:
        source = source_of(hit)
        folded.setdefault(source, {**hit, "doc_id": source})
    return list(folded.values())[:k]


def impossible(summary):
    """Return what no averages can be: (kind, metric, k), of ``{metric: {k: value}}``."""
    facts = set()
    for metric, values in summary.items():
        known = sorted((k, value) for k, value in values.items() if value == value)
        for k, value in known:
            if metric in IN_0_TO_1 and not -1e-9 <= value <= 1 + 1e-9:
                facts.add(("range", metric, k))
        for (_, earlier), (deeper, later) in pairwise(known):
            if metric in RISES and later < earlier - 1e-9:
                facts.add(("falls", metric, deeper))
    for k, value in summary.get("MRR", {}).items():
        if value > summary.get("HitRate", {}).get(k, math.inf) + 1e-9:
            facts.add(("above", "MRR", k))
    return facts


def kappa(one, other):
    """Return Cohen's kappa of two lists of verdicts; NaN where chance explains all."""
    n = len(one)
    labels = set(one) | set(other)
    if len(labels) < 2:
        return math.nan
    agreed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    chance = sum(one.count(label) * other.count(label) for label in labels) / n**2
    return (agreed - chance) / (1 - chance)


def abstention(kinds, best, lower_is_better):
    """Return ``{threshold: (share of unanswerable answered, share of answerable refused)}``."""
    curve = {}
    for limit in best.values():
        answered = {
            query_id: (score <= limit) if lower_is_better else (score >= limit)
            for query_id, score in best.items()
        }
        in_vain = [answered[query_id] for query_id, answerable in kinds.items() if not answerable]
        refused = [not answered[query_id] for query_id, answerable in kinds.items() if answerable]
        curve[limit] = (sum(in_vain) / len(in_vain), sum(refused) / len(refused))
    return curve


def normalised(text):
    """Return the text in one Unicode form and with single blanks: what an exact copy shares."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
