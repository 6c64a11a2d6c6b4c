"""Odd input for every public name, and the judge of what comes of it.

``case(seed, number)`` makes one call: mostly a right one with one or two oddities, so that deep code
is reached, now and then pure garbage or swapped arguments. ``judge(case)`` makes the call and accepts

* a right value, where the oracle (oracle.py, plain Python from the definitions) can know it, or
* the kit's own sentence: an exception that a ``raise`` of the package raised, with a text that says
  what is wrong. A refusal of what is right is wrong too.

A parameter is made by its name: ``KINDS`` says how. So a new public function is called as soon as it
is in ``__all__``; one without an expectation (``EXPECT``), or with a parameter that has no kind, fails
the test.
"""

import contextlib
import copy
import dis
import functools
import hashlib
import inspect
import io
import itertools
import json
import linecache
import math
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oracle
import pandas as pd
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from oracle import Refused, Unknown

import rageval_kit

PACKAGE = str(Path(rageval_kit.__file__).parent)
METRIC_FUNCTIONS = {
    "hit_rate": "HitRate", "mrr": "RR", "ndcg": "nDCG", "precision": "Precision", "recall": "Recall",
}  # fmt: skip
N_SECONDS = 20  # a call on a handful of documents that takes longer hangs


# ---------------------------------------------------------------- what is made anew for every call


class Lazy(NamedTuple):
    """A value that is made when the call is: an iterator, a store, a file."""

    make: Callable[..., Any]
    arguments: tuple[Any, ...]


def lazy(function):
    """Let a function return a recipe in place of what it makes."""

    @functools.wraps(function)
    def recipe(*arguments):
        return Lazy(function, arguments)

    return recipe


def realise(value):
    """Return the value as the call gets it: a copy, and recipes carried out."""
    if isinstance(value, Lazy):
        return value.make(*[realise(argument) for argument in value.arguments])
    if type(value) is dict:
        return {key: realise(member) for key, member in value.items()}
    if type(value) in (list, tuple):
        return type(value)(realise(member) for member in value)
    if isinstance(value, (pd.DataFrame, pd.Series, np.ndarray)):
        return value.copy()
    return value


class Known(dict):
    """Results as the oracle sees them: a dict of lists with a direction and the depth asked for."""

    k = 0
    lower_is_better = None


def view(value):
    """Return what the oracle reads in place of a recipe."""
    if isinstance(value, Lazy):
        seen = VIEWS.get(value.make.__name__)
        if seen is None:
            raise Unknown(f"a {value.make.__name__}")
        return seen(*[view(argument) for argument in value.arguments])
    return view_within(value)


def view_within(value):
    if isinstance(value, Lazy):
        return object()
    if type(value) is dict:
        return {key: view_within(member) for key, member in value.items()}
    if type(value) in (list, tuple):
        return type(value)(view_within(member) for member in value)
    return value


def shown(value):
    """Return Python that makes the value, as far as that can be written down."""
    if isinstance(value, Lazy):
        return f"{value.make.__name__}({', '.join(map(shown, value.arguments))})"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {shown(v)}" for key, v in value.items()) + "}"
    if type(value) in (list, tuple, set):
        inside = ", ".join(map(shown, value))
        if type(value) is tuple:
            return f"({inside},)" if value else "()"
        return f"[{inside}]" if type(value) is list else f"{{{inside}}}" if value else "set()"
    if isinstance(value, pd.DataFrame):
        rows = [list(row) for row in value.itertuples(index=False, name=None)]
        text = f"pd.DataFrame({shown(rows)}, columns={list(value.columns)!r}"
        if not isinstance(value.index, pd.RangeIndex):
            text += f", index={list(value.index)!r}"
        types = zip(map(repr, value.columns), map(str, value.dtypes), strict=True)
        odd = [f"{c}: {t!r}" for c, t in types if t in ("category", "Int64", "string")]
        text += ")" + (f".astype({{{', '.join(odd)}}})" if odd else "")
        return f"with_attrs({text}, {dict(value.attrs)!r})" if value.attrs else text
    if isinstance(value, (pd.Series, np.ndarray)):
        prefix = "pd.Series" if isinstance(value, pd.Series) else "np.array"
        return f"{prefix}({value.tolist()!r})"
    if isinstance(value, float) and value != value:
        return "nan"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return repr(value)


def with_attrs(table, attrs):
    table.attrs = attrs
    return table


def same(one, other):
    """Say whether two values are equal, NaN and tables included."""
    if isinstance(one, pd.DataFrame):
        return (
            type(other) is type(one)
            and list(map(str, one.columns)) == list(map(str, other.columns))
            and one.index.equals(other.index)
            and same(one.to_numpy().tolist(), other.to_numpy().tolist())
        )
    if isinstance(one, (pd.Series, np.ndarray)):
        return type(one) is type(other) and same(one.tolist(), other.tolist())
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and len(one) == len(other)
            and all(
                same(list(pair[0]), list(pair[1]))
                for pair in zip(one.items(), other.items(), strict=True)
            )
        )
    if isinstance(one, (list, tuple)):
        return (
            isinstance(other, (list, tuple))
            and len(one) == len(other)
            and all(map(same, one, other))
        )
    if not isinstance(one, (str, bytes, int, float, complex, set, frozenset)):
        return type(one) is type(other)  # an object without parts that a call could change
    return one == other or (one != one and other != other)


# ---------------------------------------------------------------- recipes


@lazy
def iterator(values):
    return (value for value in values) if isinstance(values, (list, tuple)) else values


@lazy
def documents(records):
    return [as_document(record) for record in records] if isinstance(records, list) else records


def as_document(record):
    if not isinstance(record, dict):
        return record
    record = dict(record)
    content = record.pop("content", "")
    try:
        return Document(page_content=content, metadata=record)
    except Exception:  # LangChain refuses it: not the kit's matter
        return Document(page_content="", metadata={})


@lazy
def results(hits, k, lower_is_better, way="made"):
    """Return `Results` as search_all gives them, and as they come out of copying, merging and the rest."""
    name = {True: "squared L2 distance", False: "inner product"}.get(lower_is_better)

    def made(some):
        return rageval_kit.Results(some, k, name, lower_is_better, "ab12cd34" if name else None)

    try:
        half = list(hits)[: len(hits) // 2]
        parts = ({q: hits[q] for q in half}, {q: hits[q] for q in hits if q not in half})
        return {
            "made": lambda: made(hits),
            "copied": lambda: made(hits).copy(),
            "deeply copied": lambda: copy.deepcopy(made(hits)),
            "merged": lambda: made(parts[0]) | made(parts[1]),
            "all of them": lambda: made(hits).only(list(hits)),
            "table": lambda: made(hits).to_frame(),
        }[way]()
    except Exception:  # what is wrong with Results itself is told by its own cases
        return hits


WAYS = ("made", "made", "copied", "deeply copied", "merged", "all of them", "table")


class Mine(Exception):
    """Thrown by what the fuzzer passes in: not the kit's fault."""


class Hashed(Embeddings):
    """Deterministic vectors: a number of hashed words a dimension; queries and documents alike."""

    dimensions = 8

    def __init__(self, fault=""):
        self.fault = fault

    def embed_query(self, text):
        return self.embed_documents([text])[0]

    def embed_documents(self, texts):
        if any(not isinstance(text, str) for text in texts):
            raise TypeError(f"the kit asked to embed {texts!r}")
        return FAULTS[self.fault]([hashed(text) for text in texts])


def hashed(text):
    """Return the text's vector: plain Python, so that the oracle of a search can use it too."""
    vector = [0.0] * Hashed.dimensions
    for word in text.split() or [""]:
        digest = hashlib.md5(word.encode("utf-8", "surrogatepass")).digest()
        vector[digest[0] % Hashed.dimensions] += (digest[1] - 127.5) / 128
    return vector


def thrown(vectors):
    raise Mine("the model's server is down")


FAULTS = {
    "": lambda vectors: vectors,
    "array": np.array,
    "NaN": lambda vectors: [[math.nan] * Hashed.dimensions, *vectors[1:]],
    "infinite": lambda vectors: [[1e39] * Hashed.dimensions, *vectors[1:]],
    "ragged": lambda vectors: [[1.0], *vectors[1:]],
    "too few": lambda vectors: vectors[1:] or [[0.0]],
    "too many": lambda vectors: [*vectors, vectors[0]],
    "none": lambda vectors: [],
    "None": lambda vectors: None,
    "None inside": lambda vectors: [None, *vectors[1:]],
    "texts": lambda vectors: [["x"] * Hashed.dimensions, *vectors[1:]],
    "flat": lambda vectors: [1.0] * len(vectors),
    "width": lambda vectors: [vector[:3] for vector in vectors],
    "zero": lambda vectors: [[0.0] * Hashed.dimensions for _ in vectors],
    "throws": thrown,
}


@lazy
def embeddings(fault):
    return Hashed(fault)


@lazy
def store(docs, fault=""):
    """Return a FAISS store of these documents, built without the kit; afterwards the model may fail."""
    model = Hashed()
    built = faiss_store().from_embeddings(
        [(as_text(doc), hashed(as_text(doc))) for doc in docs],
        model,
        metadatas=[{"doc_id": doc["doc_id"], "title": doc["title"]} for doc in docs],
        ids=[doc["doc_id"] for doc in docs],
    )
    model.fault = fault
    return built


def as_text(doc):
    return f"{doc['title']}\n{doc['content']}".strip()


@functools.cache
def faiss_store():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_community.vectorstores.faiss import FAISS
    return FAISS


@lazy
def anonymous_store(docs):
    """Return a FAISS store that LangChain made without doc_ids."""
    return faiss_store().from_texts([doc["content"] for doc in docs], Hashed())


@lazy
def langchain_store(docs):
    """Return a FAISS store with the doc_id in the metadata only; the ids are LangChain's own."""
    return faiss_store().from_documents(
        [
            Document(page_content=doc["content"], metadata={"doc_id": doc["doc_id"]})
            for doc in docs
        ],
        Hashed(),
    )


@lazy
def emptied_store(docs):
    built = store.__wrapped__(docs)
    built.delete([doc["doc_id"] for doc in docs])
    return built


@lazy
def memory_store(docs, metadata):
    """Return a store of another kind, which is searched query by query."""
    from langchain_core.vectorstores import InMemoryVectorStore

    built = InMemoryVectorStore(Hashed())
    built.add_documents(
        [
            Document(
                page_content=as_text(doc),
                metadata={"doc_id": doc["doc_id"], "title": doc["title"]} if metadata else {},
            )
            for doc in docs
        ]
    )
    return built


@lazy
def retriever(docs, k):
    return store.__wrapped__(docs).as_retriever(search_kwargs={"k": k})


class Odd:
    """A retriever or model that replies with whatever it was given."""

    def __init__(self, reply):
        self.reply = reply

    def invoke(self, _):
        if self.reply == "throws":
            raise Mine("no answer")
        return self.reply


@lazy
def odd_model(reply):
    return Odd(reply)


@lazy
def chat_model(replies):
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    return FakeListChatModel(responses=list(replies))


@lazy
def llm(replies):
    from langchain_core.language_models.fake import FakeListLLM

    return FakeListLLM(responses=list(replies))


@lazy
def extractive(fault):
    return rageval_kit.ExtractiveAnswerer(Hashed(fault))


_numbers = itertools.count()


def fresh(name):
    """Return a path in a folder of its own below the work folder."""
    folder = Path(f"case{next(_numbers)}")
    folder.mkdir()
    return folder / name


@lazy
def new_path(name):
    return fresh(name) if isinstance(name, str) else name


@lazy
def a_file(name, data):
    path = fresh(name)
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return path


@lazy
def a_folder(files):
    folder = fresh("folder")
    folder.mkdir()
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return folder


@lazy
def saved_store(docs, spoiled, data):
    """Return a folder that save_vectorstore wrote, with one of its files replaced."""
    folder = fresh("folder")
    rageval_kit.save_vectorstore(store.__wrapped__(docs), folder)
    for path in folder.iterdir():
        if path.name == spoiled:
            path.write_bytes(data.encode())
    return folder


@lazy
def called(name, arguments):
    """Return what a public function returns for these arguments, as students pass it on."""
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        return getattr(rageval_kit, name)(**arguments)
    return None


@lazy
def axes():
    """Return axes to draw on."""
    return pyplot().subplots()[1]


@functools.cache
def pyplot():
    import matplotlib as mpl

    mpl.use("Agg")  # draws without a screen
    import matplotlib.pyplot as plt

    return plt


@lazy
def generator(seed):
    return np.random.default_rng(seed)


def known_results(hits, k, lower_is_better, way="made"):
    if not isinstance(hits, dict):
        raise Unknown("results of something else than a dict")
    # A table has no row for a query that found nothing.
    seen = Known({query_id: ranking for query_id, ranking in hits.items() if way != "table" or ranking})
    seen.k, seen.lower_is_better = k, lower_is_better
    return seen


VIEWS = {
    "iterator": lambda values: list(values) if isinstance(values, (list, tuple)) else values,
    "documents": documents.__wrapped__,
    "results": known_results,
}


# ---------------------------------------------------------------- one small world a case

SENTENCES = (
    "VACUUM은 저장 공간을 정리하는 작업입니다.",
    "The fee is 30,000 won.",
    "Parking costs 500 won a day, e.g. on Mondays.",
    "담당 부서는 학사지원팀이다.",
    "환불 규정이 없다.",
    "Tokens are the unit of cost.",
    "返金はできません。",
    "Die Größe der Universität beträgt 5 m.",
)
ANSWERS = (*SENTENCES, "모르겠습니다.", "The documents do not say.", "", "The fee.", "500")
ID_FORMS = ("{letter}{number}",) * 8 + (
    "{letter}oc_00{number}",
    "{letter}문서{number}",
    "{letter}é{number}",
    "{number}",
    "{letter} {number}",
    "{letter}\0{number}",
    "{letter}\ud83d{number}",
    "{letter}{number}\t",
    "\ufeff{letter}{number}",
    "{letter}{number}" + "x" * 200,
)


class World:
    """A corpus, its queries, a ranking of each, and answers: what the arguments of one case share."""

    def __init__(self, r):
        doc_form, query_form = r.choice(ID_FORMS), r.choice(ID_FORMS)
        self.doc_ids = [doc_form.format(letter="d", number=n) for n in range(1, r.randint(1, 8) + 1)]
        self.query_ids = [query_form.format(letter="q", number=n) for n in range(1, r.randint(1, 6) + 1)]
        graded = r.random() < 0.4
        self.docs = [
            {
                "doc_id": doc_id,
                "title": r.choice(("", "RAG", f"제목 {number}", "Fees")),
                "content": " ".join(r.choices(SENTENCES, k=r.randint(1, 3))) + r.choice(("", f" {number}.")),
            }
            for number, doc_id in enumerate(self.doc_ids)
        ]
        self.all_qa = [self.query(r, query_id, graded) for query_id in self.query_ids]
        self.k = r.randint(1, 10)
        self.lower_is_better = r.random() < 0.5
        self.hits = {query_id: self.ranking(r) for query_id in self.query_ids}
        self.answers = {query_id: r.choice(ANSWERS) for query_id in self.query_ids}

    def query(self, r, query_id, graded):
        relevant = r.sample(self.doc_ids, min(len(self.doc_ids), r.choice((0, 1, 1, 1, 2, 3))))
        grades = {doc: r.choice((0, 1, 1, 2, 3)) for doc in relevant}
        return {
            "query_id": query_id,
            "question": f"{r.choice(SENTENCES).rstrip('.')} {r.randint(1, 99)}?",
            "relevant_doc_ids": grades if graded else relevant,
            "ground_truth": r.choice(SENTENCES),
        }

    def ranking(self, r):
        """Return hits with scores in their order, some equal, at times fewer than asked for."""
        n = min(len(self.doc_ids), self.k if r.random() < 0.8 else r.randint(0, self.k))
        scores = sorted(round(r.uniform(0, 2), 1) for _ in range(n))
        if not self.lower_is_better:
            scores.reverse()
        by_id = {doc["doc_id"]: doc for doc in self.docs}
        return [
            {**by_id[doc_id], "score": score}
            for doc_id, score in zip(r.sample(self.doc_ids, n), scores, strict=True)
        ]


# ---------------------------------------------------------------- oddities

NAN, INF = math.nan, math.inf
ODD_TEXTS = (
    "", " ", "\n", "\0", "a\0b", "\ud83d", "é", unicodedata.normalize("NFD", "é"), "😀", "日本語の文。二つ目。",
    "Größe", "x" * 20_000, "$5 and $10 <b>", "\u2028", "\ufeffq1", "a\tb", "a b", "q1\r\n", "nan", "None", "1",
    "٣", "d1 ", "D1", "\x85", "['d1', 'd2']", "d1,d2", "=1+1", "$\\frac$", "\x1b[2J",
)  # fmt: skip


def nothing(*_):
    return None


def echo(value=None, *_):
    return value


def length(text, *_):
    return len(str(text))


def throws(*_):
    raise Mine("this function of the user's fails")


GARBAGE = (
    None, None, True, False, 0, 1, -1, 2.5, NAN, INF, 10**12, 10**400, "", "text", b"bytes", [], {}, (),
    set(), [None], [[]], ["text"], [{}], {"a": 1}, {None: None}, {1: [1]}, {"q1": None}, [1, "a"], {1, "a"},
    np.array([]), np.array(5), np.array([1, 2]), np.float64(NAN), np.int64(3), np.bool_(True), np.str_("d1"),
    pd.DataFrame(), pd.DataFrame({"a": [1]}), pd.Series([1.0]), pd.Series(["a"], index=["q1"]), pd.NA, pd.NaT,
    ..., echo, nothing, throws, range(3), iterator([1]), Path("nowhere"), 1j, Document(page_content="x"),
    results({}, 1, None), pd.Timestamp("2026-01-01"), frozenset({"d1"}),
)  # fmt: skip


def garbage(r):
    """Return something that hardly any argument can be."""
    return r.choice(GARBAGE)


def odd_value(r, value):
    """Return something in place of a single value: near it, or far off."""
    if r.random() < 0.35:
        return garbage(r)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return r.choice((garbage(r), r.choice(ODD_TEXTS), [value], str(value)))
    if isinstance(value, str):
        number = "".join(letter for letter in value if letter.isdigit())[:5]
        return r.choice(
            (
                r.choice(ODD_TEXTS), int(number or 0), np.int64(int(number or 0)), unicodedata.normalize("NFD", value),
                f"{value} ", value.upper(), [value], {"id": value}, value.encode("utf-8", "replace"), np.str_(value),
                value + "\ud83d", None, NAN,
            )
        )  # fmt: skip
    return r.choice(
        (
            NAN, INF, -INF, None, True, str(value), 0, -1, 1e308, 10**400, np.float32(0.5), np.int64(3), 0.5, 1023,
            2000, "", np.float64(NAN), pd.NA, [value], -0.0, 5e-324, np.bool_(False),
        )
    )  # fmt: skip


def places(value, found=None):
    """Return (container, key) of everything within nested lists and dicts."""
    found = [] if found is None else found
    if type(value) in (dict, list):
        for key in value if type(value) is dict else range(len(value)):
            found.append((value, key))
            places(value[key], found)
    return found


def spoil(r, value):
    """Change one thing somewhere within nested lists and dicts: what students' data gets wrong."""
    value = copy.deepcopy(value)
    everything = places(value)
    if not everything:
        return garbage(r)
    container, key = r.choice(everything)
    what = r.random()
    if what < 0.15:
        del container[key]
    elif what < 0.3 and type(container) is list:
        container.insert(r.randint(0, len(container)), container[key])  # the same thing twice
    elif what < 0.3:
        container[odd_value(r, key) if r.random() < 0.3 else r.choice(ODD_TEXTS)] = container.pop(key)
    elif what < 0.4 and type(container[key]) is list:
        other = r.choice((tuple, set, np.array, str, pd.Series, dict.fromkeys, iterator, lambda v: [v]))
        try:
            container[key] = other(container[key])
        except (TypeError, ValueError):
            container[key] = None
    elif what < 0.45 and type(container[key]) is dict:
        container[key] = r.choice((list(container[key]), list(container[key].items()), str(container[key])))
    else:
        container[key] = odd_value(r, container[key])
    return value


def spoil_key(r, mapping):
    """Give one key of a dict another form: an integer, None, a list made a tuple."""
    if type(mapping) is not dict or not mapping:
        return garbage(r)
    old = r.choice(list(mapping))
    new = r.choice((3, None, NAN, True, 1.5, ("a",), b"q1", np.int64(1), r.choice(ODD_TEXTS)))
    return {new if key is old else key: value for key, value in mapping.items()}


def renamed(value, names):
    """Return the value with every id of the names in another form, as keys and as values."""
    if type(value) is dict:
        return {renamed(key, names): renamed(member, names) for key, member in value.items()}
    if type(value) in (list, tuple):
        return type(value)(renamed(member, names) for member in value)
    return names.get(value, value) if isinstance(value, str) else value


def as_other_ids(r, w, value):
    """Make ids of documents or queries integers, or of two types, or of another Unicode form."""
    ids = r.choice((w.doc_ids, w.query_ids))
    other = r.choice(
        (
            lambda n, old: n,
            lambda n, old: np.int64(n),
            lambda n, old: old if n else 0,
            lambda n, old: str(n),
            lambda n, old: unicodedata.normalize("NFD", old),
            lambda n, old: f"{old} ",
            lambda n, old: float(n),
        )
    )
    return renamed(value, {old: other(n, old) for n, old in enumerate(ids)})


def in_type(table, column, name):
    """Return the table with a column in another of pandas' types, where pandas can do that."""
    try:
        "".join(map(str, table[column])).encode()  # pandas cannot even copy a category of half a character
        return table.astype({column: name})
    except Exception:
        return table


def upper(name):
    return str(name).upper()


def odd_frame(r, table):
    """Spoil a table as files, merges and filters do."""
    if not isinstance(table, pd.DataFrame):
        return garbage(r)
    table = table.copy()
    if not len(table.columns):
        return table
    column = r.choice(list(table.columns))
    what = r.randrange(14)
    if what == 0:
        return pd.concat([table, table[[column]]], axis=1)
    if what == 1:
        return table.drop(columns=[column])
    if what == 2:
        return table.iloc[:0]
    if what == 3:
        return table.rename(columns={column: odd_value(r, column)} if r.random() < 0.3 else upper)
    if what == 4:
        return pd.concat([table, table.iloc[: r.randint(1, 2)]])  # rows and labels twice
    if what == 5:
        return table.T
    if what == 6:
        return table[column]
    if what == 7:
        return table[[r.random() < 0.7 for _ in range(len(table))]]
    if what == 8:
        table.attrs = r.choice(({}, {"lower_is_better": True}, {"no_relevant": 1}, {"k": "x"}))
        return table
    if what == 9:
        return table.reset_index() if r.random() < 0.5 else table.set_index(column)
    if what == 10:
        return in_type(table, column, r.choice(("category", "string", "str", "Int64", "float", "bool")))
    if what == 11 and pd.api.types.is_numeric_dtype(table[column]):
        table[column] = r.choice((-table[column], table[column] * 2, table[column] + 0.5, table[column] * 0))
        return table
    cells = table[column].astype(object).tolist()
    if cells:
        place = r.randrange(len(cells))
        cells[place] = odd_value(r, cells[place])
        new = pd.Series(cells, index=table.index, dtype=object)
        table[column] = new if r.random() < 0.5 else new.infer_objects()
    return table


def odd_data(r, w, value):
    """Spoil lists and dicts, tables, and what recipes are made of."""
    if r.random() < 0.06:
        return garbage(r)
    if isinstance(value, Lazy):
        first, *others = value.arguments or (None,)
        return value._replace(arguments=(odd_data(r, w, first), *others)) if value.make.__name__ in VIEWS else garbage(r)
    if isinstance(value, pd.DataFrame):
        return odd_frame(r, value)
    what = r.random()
    if what < 0.15:
        return as_other_ids(r, w, value)
    if what < 0.25:
        return spoil_key(r, value)
    return spoil(r, value)


def odd_scalar(r, w, value):
    return odd_value(r, value)


def odd_path(r, w, value):
    return r.choice(
        (
            None, 3, True, "", ".", "missing/file.tsv", "a\0b", "\ud83d.tsv", "x" * 5_000, b"bytes", Path("nowhere"),
            Path("."), [], ":memory:", a_file("x.tsv", ""), a_file("x.gz", "no gzip"), a_file("x", b"\xff\xfe\x00"),
            a_file("x.sqlite", "text"), a_folder({}), Path("missing/folder/x.gz"), a_file("x", "a b c d e f g h"),
        )
    )  # fmt: skip


# ---------------------------------------------------------------- the kinds of arguments


class Kind(NamedTuple):
    """How an argument is made, and how it is spoiled."""

    make: Callable[[random.Random, World], Any]
    spoil: Callable[[random.Random, World, Any], Any] = odd_scalar


def make_docs(r, w):
    form = r.random()
    if form < 0.6:
        return w.docs
    if form < 0.8:
        return pd.DataFrame(w.docs)
    return iterator(w.docs) if form < 0.9 else documents(w.docs)


def make_new_docs(r, w):
    """Return documents that the store does not hold yet, but for one now and then."""
    docs = [doc | {"doc_id": f"new {number}"} for number, doc in enumerate(w.docs, start=1)]
    return docs if r.random() < 0.7 else [*docs, w.docs[0]] if r.random() < 0.3 else pd.DataFrame(docs)


def make_all_qa(r, w):
    form = r.random()
    if form < 0.55:
        return w.all_qa
    if form < 0.65:
        return pd.DataFrame(w.all_qa)
    if form < 0.75:
        return iterator(w.all_qa)
    if form < 0.8:
        return tuple(w.all_qa)
    rows = [
        (qa["query_id"], doc, grade, qa["question"])
        for qa in w.all_qa
        for doc, grade in grades_of(qa).items()
    ]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "question"])
    columns = [["query_id", "doc_id"], ["query_id", "doc_id", "relevance"], list(table.columns)]
    return table[r.choice(columns)] if len(table) else w.all_qa


def grades_of(qa):
    relevant = qa["relevant_doc_ids"]
    return relevant if isinstance(relevant, dict) else dict.fromkeys(relevant, 1)


def make_results(r, w):
    hits = {query_id: ranking for query_id, ranking in w.hits.items() if r.random() < 0.95}
    if r.random() < 0.1:
        hits["another query"] = w.ranking(r)
    form = r.random()
    if form < 0.3:
        return hits
    if form < 0.4:
        return {query_id: [{"doc_id": hit["doc_id"]} for hit in ranking] for query_id, ranking in hits.items()}
    if form < 0.7:
        return results(hits, w.k, w.lower_is_better, r.choice(WAYS))
    rows = [
        (query_id, hit["doc_id"], rank, -hit["score"] if w.lower_is_better else hit["score"])
        for query_id, ranking in hits.items()
        for rank, hit in enumerate(ranking, start=1)
    ]
    if r.random() < 0.5:
        r.shuffle(rows)
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank", "score"])
    columns = r.choice((["rank"], ["score"], ["rank", "score"]))
    table = table[["query_id", "doc_id", *columns]]
    if r.random() < 0.1:
        table = in_type(in_type(table, "query_id", "category"), "doc_id", "category")
    return table


def odd_results(r, w, value):
    """Spoil a ranking as searches and students do, or the data in general."""
    if type(value) is dict and value and r.random() < 0.4:
        value = copy.deepcopy(value)
        ranking = value[r.choice(list(value))]
        if isinstance(ranking, list) and ranking:
            what = r.randrange(8)
            if what == 0:
                ranking.append(r.choice(ranking))  # a document twice
            elif what == 1:
                ranking.insert(r.randint(0, len(ranking)), odd_value(r, "d1"))
            elif what == 2:
                ranking[-1] = {"score": 0.5}
            elif what == 3:
                for hit in ranking:
                    hit["score"] = r.random()
            elif what == 4:
                ranking.reverse()
            elif what == 5:
                ranking[:] = [hit["doc_id"] for hit in ranking]
            elif what == 6:
                value[r.choice(list(value))] = [as_document(hit) for hit in ranking]
            else:
                ranking[r.randrange(len(ranking))]["score"] = odd_value(r, 0.5)
            return value
    if type(value) is dict and r.random() < 0.1:  # pytrec's form
        return {q: {hit["doc_id"]: hit.get("score", 1.0) for hit in ranking} for q, ranking in value.items()}
    return odd_data(r, w, value)


def make_answers(r, w):
    if r.random() < 0.6:
        return w.answers
    table = pd.DataFrame({"answer": list(w.answers.values())}, index=pd.Index(list(w.answers), name="query_id"))
    if r.random() < 0.6:
        table["doc_ids"] = [[hit["doc_id"] for hit in w.hits[query_id][:3]] for query_id in w.answers]
    return table


def make_runs(r, w):
    runs = {}
    for name in r.choice((("old", "new"), ("old", "new"), ("old", "new", "third"))):
        hits = {query_id: r.sample(ranking, len(ranking)) for query_id, ranking in w.hits.items()}
        plain = {q: [{"doc_id": hit["doc_id"]} for hit in ranking] for q, ranking in hits.items()}
        runs[name] = plain if r.random() < 0.7 else results(plain, w.k, None)
    return runs


def make_both_kinds(r, w):
    """Return all_qa with a query that has relevant documents and one that has none, where there are two."""
    queries = [dict(qa) for qa in w.all_qa]
    queries[0]["relevant_doc_ids"] = w.doc_ids[:1]
    queries[-1]["relevant_doc_ids"] = []
    return queries if r.random() < 0.7 else pd.DataFrame(queries)


def make_scored_results(r, w):
    hits = {query_id: ranking or [{"doc_id": w.doc_ids[0], "score": 1.0}] for query_id, ranking in w.hits.items()}
    return hits if r.random() < 0.4 else results(hits, w.k, w.lower_is_better, r.choice(WAYS))


def odd_runs(r, w, value):
    if type(value) is not dict or not value or r.random() < 0.2:
        return odd_data(r, w, value)
    name = r.choice(list(value))
    what = r.random()
    if what < 0.15:
        return list(value.values())
    if what < 0.3:
        return {key: value[key] for key in list(value)[:1]}
    return {**value, name: odd_results(r, w, view_or(value[name]))}


def view_or(value):
    return dict(view(value)) if isinstance(value, Lazy) and value.make.__name__ in VIEWS else value


def make_k(r, w):
    return r.choice((1, 2, 3, 5, w.k, 10, 20, np.int64(3)))


ODD_KS = (
    0, -1, True, 2.5, "3", "5", None, NAN, 3.0, 10**6, 10**12, 10**30, b"\x05", (), [], np.array(5), np.array([1, 3]),
    range(1, 4), range(0), np.int64(0), np.bool_(True), [1, True], [1, None], (3, 1, 3), {1, 3}, {"k": 5},
    np.array([1.0]), [[1]], "nDCG", np.float64(5), (0,), (1, 10**6), iterator([1, 2]), pd.Series([1, 3]),
)  # fmt: skip


def odd_k(r, w, value):
    return r.choice(ODD_KS) if r.random() < 0.85 else garbage(r)


def make_ks(r, w):
    return r.choice((5, (1, 3, 5), [1, 10], range(1, 4), np.array([1, 5]), (w.k,), np.int64(2), (20, 1)))


def two_found(matrix):
    found = np.cumsum(matrix.hits, axis=1)
    return (found >= 2).astype(float), 1.0


def only_an_array(matrix):
    return matrix.gains


def wrong_shape(matrix):
    return np.zeros(3), 1.0


NAMES = ("HitRate", "RR", "nDCG", "Precision", "Recall", "AP", "F1", "Judged", "Unique", "MRR", "MAP", "R-precision")
NEW_NAMES = ("ERR", "RBP", "RBP(p=0.5)", "RBP(p=0.8)")  # where the kit has them


def has_metric(name):
    """Say whether this version of the kit knows the metric."""
    try:
        rageval_kit.evaluate(
            [{"query_id": "q", "relevant_doc_ids": ["d"]}], {"q": [{"doc_id": "d"}]}, 1, [name]
        )
    except ValueError:
        return False
    return True


@functools.cache
def metric_names():
    return NAMES + tuple(name for name in NEW_NAMES if has_metric(name))


def make_metric(r, w):
    name = r.choice(metric_names())
    return f"{name}@{r.choice((1, 3, 10))}" if r.random() < 0.4 and name != "R-precision" else name


def odd_metric(r, w, value):
    return r.choice(
        (
            "nDCG@", "nDCG@0", "nDCG@-1", "nDCG@2.5", "nDCG@x", "ndcg", "nDCG@٣", "P@5", "foo", "", "@", "@5",
            "R-precision@5", "RBP(p=2)@10", "RBP(p=x)", "RBP(p=0.5)", "RBP", "ERR@10", "nDCG@5@3", "nDCG@1000000",
            "nDCG@1000000000000", " nDCG", None, 5, two_found, only_an_array, wrong_shape, nothing, throws, echo,
            lambda matrix: (matrix.hits * 1.0, 1.0), ["nDCG"], b"nDCG", "HitRate@1e3",
        )
    )  # fmt: skip


def make_metrics(r, w):
    return [make_metric(r, w) for _ in range(r.randint(1, 4))]


def odd_metrics(r, w, value):
    what = r.random()
    if what < 0.7:
        return [*value, odd_metric(r, w, None)] if isinstance(value, list) else value
    return r.choice((odd_metric(r, w, None), (), tuple(value), iterator(value), {"nDCG"}, garbage(r)))


def choice_of(*values):
    return lambda r, w: r.choice(values)


def make_summary(r, w):
    ks = r.choice(([1, 3, 5], [1], ["1", "3"], [5, 3, 1]))
    names = r.sample(("HitRate", "MRR", "nDCG", "Precision", "Recall", "MAP"), r.randint(1, 4))
    return pd.DataFrame(
        {k: [round(r.random() * (1.2 if r.random() < 0.1 else 1), 2) for _ in names] for k in ks}, index=names
    )


def odd_summary(r, w, value):
    if not isinstance(value, pd.DataFrame) or r.random() < 0.3:
        return garbage(r)
    if r.random() < 0.5:
        return odd_frame(r, value)
    return value.rename(
        index=r.choice((str.lower, {"HitRate": "Hit Rate"}, {value.index[0]: None}, {value.index[0]: value.index[-1]})),
        columns=r.choice((lambda k: f"@{k}", float, lambda k: f"k={k}", lambda k: k)),
    )


def make_table(r, w):
    name = r.choice(("evaluate", "per_query", "mrr"))
    return called(name, {"all_qa": w.all_qa, "results": w.hits, "ks": make_ks(r, w)})


def make_failed(r, w):
    arguments = {"all_qa": w.all_qa, "results": w.hits, "k": r.choice((1, 3, 10))}
    return called("failures", arguments | ({"docs": w.docs} if r.random() < 0.5 else {}))


def odd_called(r, w, value):
    """Return a table as it may come: changed on the way, or something else."""
    if r.random() < 0.3 or not isinstance(value, Lazy):
        return garbage(r)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            table = realise(value)
    except Exception:
        return garbage(r)
    spoiled = odd_frame(r, table)
    if r.random() < 0.5 and isinstance(spoiled, pd.DataFrame):
        spoiled.attrs = dict(table.attrs)
    return spoiled


def make_curve(r, w):
    shares = sorted(round(r.random(), 2) for _ in range(r.randint(1, 5)))
    table = pd.DataFrame(
        {
            "threshold": [NAN, *(0.1 * n for n in range(1, len(shares) + 1))],
            "unanswerable_answered": [0.0, *shares],
            "answerable_refused": [1.0, *reversed(shares)],
        }
    )
    table.attrs = {"lower_is_better": True, "answerable": 3, "n": 5}
    return table


def by_field(hit):
    return hit["doc_id"][:1]


def to_nothing(hit):
    return None


def make_source_of(r, w):
    sources = {doc_id: f"s{number // 2}" for number, doc_id in enumerate(w.doc_ids)}
    return r.choice((sources, {}, dict(list(sources.items())[:2]), by_field))


def odd_source_of(r, w, value):
    return r.choice((None, to_nothing, throws, garbage(r), odd_data(r, w, value), {w.doc_ids[0]: None}, "s1", length))


def make_store(r, w):
    form = r.random()
    if form < 0.75:
        return store(w.docs, "")
    if form < 0.85:
        return langchain_store(w.docs)
    return memory_store(w.docs, True) if form < 0.95 else retriever(w.docs, w.k)


def make_faiss(r, w):
    return store(w.docs, "") if r.random() < 0.9 else langchain_store(w.docs)


def odd_store(r, w, value):
    return r.choice(
        (
            store(w.docs, r.choice(list(FAULTS))), store(w.docs, r.choice(list(FAULTS))), store(w.docs[:1], ""),
            anonymous_store(w.docs), emptied_store(w.docs), memory_store(w.docs, False), memory_store([], True),
            odd_model([Document(page_content="x", metadata={"doc_id": 1})]), odd_model(None), odd_model(["text"]),
            odd_model("throws"), embeddings(""), retriever(w.docs, 1), "vectorstore", garbage(r),
        )
    )  # fmt: skip


def odd_embeddings(r, w, value):
    return r.choice((embeddings(r.choice(list(FAULTS))), store(w.docs, ""), "chars", garbage(r)))


def make_model(r, w):
    return r.choice((extractive(""), chat_model(["An answer.", "모르겠습니다."]), odd_model("An answer."), llm(["x"])))


def odd_model_argument(r, w, value):
    return r.choice(
        (
            odd_model(None), odd_model(5), odd_model(["x"]), odd_model("throws"), odd_model(Document(page_content="x")),
            extractive(r.choice(list(FAULTS))), embeddings(""), "gpt-4o", chat_model(["", "\ud83d"]), odd_model(""),
            garbage(r),
        )
    )  # fmt: skip


VERDICTS = ("correct", "partly", "wrong")


def make_judge(r, w):
    return chat_model([json.dumps({"verdict": r.choice(VERDICTS), "reason": "so"}) for _ in range(r.randint(1, 3))])


def odd_judge(r, w, value):
    replies = (
        "no JSON", "", "{", '{"verdict": "right"}', '{"verdict": ["correct"], "reason": "x"}', "[]", "null",
        '{"verdict": "correct"}', '```json\n{"verdict": "wrong", "reason": "r"}\n```', "[" * 2_000, '"correct"',
        '{"verdict": {"a": 1}, "reason": "x"}', '{"verdict": "correct", "reason": 5}', "\ud83d", "9" * 5_000,
    )  # fmt: skip
    if r.random() < 0.6:
        return r.choice((chat_model, llm))(r.choices(replies, k=r.randint(1, 3)))
    return odd_model_argument(r, w, value)


def make_verdicts(r, w):
    return pd.DataFrame(
        {"verdict": [r.choice((*VERDICTS, "unreadable")) for _ in w.query_ids], "reason": "x"},
        index=pd.Index(w.query_ids, name="query_id"),
    )


def odd_verdicts(r, w, value):
    return odd_frame(r, value) if isinstance(value, pd.DataFrame) and r.random() < 0.8 else garbage(r)


def one_token(text):
    return ["한"]


def no_list(text):
    return None


def numbers_for_words(text):
    return [1, 2]


def make_sources(r, w):
    return r.choice((SENTENCES[0], [doc["content"] for doc in w.docs], [], ("a", "b")))


def odd_sources(r, w, value):
    return r.choice((w.hits[w.query_ids[0]], w.hits, iterator(["a"]), [None], odd_data(r, w, value), garbage(r)))


JSONL = {
    "corpus.jsonl": '{"doc_id": "d1", "title": "t", "content": "c"}\n',
    "queries.jsonl": '{"query_id": "q1", "question": "?", "relevant_doc_ids": ["d1"]}\n',
}
BEIR = {
    "corpus.jsonl": '{"_id": "d1", "title": "t", "text": "c"}\n{"_id": "d2", "text": "e"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "?"}\n{"_id": "q2", "text": "!"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n",
}


def make_dataset_folder(r, w):
    lines = {
        name: "".join(json.dumps(record, ensure_ascii=r.random() < 0.5) + "\n" for record in records)
        for name, records in (("corpus.jsonl", w.docs), ("queries.jsonl", w.all_qa))
    }
    return a_folder(r.choice((lines, lines, JSONL, BEIR)))


def odd_text_of(r, text):
    """Spoil a file's text: characters, lines, bytes."""
    lines = text.split("\n")
    line = r.randrange(len(lines))
    what = r.randrange(9)
    if what == 0:
        return text[: r.randint(0, len(text))]
    if what == 1:
        lines[line] = r.choice(("", "x", "{}", "[]", "null", "5", "NaN", "{" * 2_000, "9" * 5_000, "a b c", "a\tb"))
    elif what == 2:
        lines.insert(line, lines[line])
    elif what == 3:
        del lines[line]
    elif what == 4:
        return text.replace("\n", r.choice(("\r\n", "\r", "\u2028", "\n\n")))
    elif what == 5:
        return text.replace(r.choice(("\t", " ", '"', ":")), r.choice(("", "  ", "\t", ",")), r.choice((1, -1)))
    elif what == 6:
        return "\ufeff" + text
    elif what == 7:
        return r.choice((b"", b"\xff\xfe", text.encode("utf-16", "surrogatepass"), text.encode("cp949", "ignore")))
    elif text:
        place = r.randrange(len(text))
        text = text[:place] + r.choice("x5-\"{}[]\t\n\0é,.") + text[place + 1 :]
        return text
    return "\n".join(lines)


def odd_file(r, w, value):
    """Spoil the text of a file, or give another path."""
    if not isinstance(value, Lazy) or r.random() < 0.25:
        return odd_path(r, w, value)
    if value.make.__name__ == "a_folder":
        files = dict(value.arguments[0])
        name = r.choice(list(files))
        text = files.pop(name)
        files[r.choice((name, name, name, "other.txt"))] = odd_text_of(r, text) if isinstance(text, str) else text
        return value._replace(arguments=(files,))
    name, text = value.arguments
    return value._replace(arguments=(name, odd_text_of(r, text) if isinstance(text, str) else text))


def make_run_file(r, w):
    lines = [
        f"{query_id} Q0 {hit['doc_id']} {rank} {len(ranking) - rank} run"
        for query_id, ranking in w.hits.items()
        for rank, hit in enumerate(ranking, start=1)
    ]
    return a_file("run.txt", "\n".join(lines or ["q1 Q0 d1 1 0.5 run"]) + "\n")


def make_qrels_file(r, w):
    pairs = [(qa["query_id"], doc, grade) for qa in w.all_qa for doc, grade in grades_of(qa).items()]
    pairs = pairs or [("q1", "d1", 1)]
    if r.random() < 0.5:
        return a_file("qrels.txt", "".join(f"{q} 0 {d} {g}\n" for q, d, g in pairs))
    return a_file("q.tsv", "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in pairs))


def make_saved_store(r, w):
    return saved_store(plain_docs(w), "", "")


def plain_docs(w):
    return [doc | {"doc_id": f"d{number}"} for number, doc in enumerate(w.docs)]


def odd_saved_store(r, w, value):
    if r.random() < 0.3:
        return odd_path(r, w, value)
    names = ("index.npy", "documents.jsonl", "settings.json")
    data = ("", "[]", "null", "{}", "x", '{"id": 1}\n', "\x93NUMPY", '{"embeddings": 1}')
    return saved_store(plain_docs(w), r.choice(names), r.choice(data))


def make_cache(r, w):
    return r.choice((None, None, new_path("cache.sqlite"), new_path("more/cache.sqlite")))


def make_matrix(r, w):
    n, m = r.randint(2, 6), r.randint(1, 3)
    return np.array([[round(r.uniform(-1, 1), 1) for _ in range(m)] for _ in range(n)])


def odd_array(r, w, value):
    if not isinstance(value, np.ndarray) or r.random() < 0.2:
        return garbage(r)
    return r.choice(
        (value.tolist(), value[:0], value * NAN, value.astype(str), value.reshape(-1), value.T, value.astype(int),
         value.astype(object), value[..., None], pd.DataFrame(np.atleast_2d(value)), value * INF)
    )  # fmt: skip


def make_matrix_of_kit(r, w):
    return called("relevance_matrix", {"all_qa": w.all_qa, "results": w.hits, "k": r.randint(1, 5)})


def odd_hits_of_one(r, w, value):
    """Return results in place of the hits of one query, or hits that are spoiled."""
    return r.choice((w.hits, spoil(r, value), spoil(r, value), [], w.docs, garbage(r)))


def make_evaluated(r, w):
    return called("evaluate", {"all_qa": w.all_qa, "results": w.hits, "ks": make_ks(r, w), "metrics": make_metrics(r, w)})


def make_compared(r, w):
    hits = {name: {q: r.sample(ranking, len(ranking)) for q, ranking in w.hits.items()} for name in ("old", "new")}
    return called("compare", {"runs": hits, "all_qa": w.all_qa, "k": 3, "resamples": 500})


def make_compared_queries(r, w):
    hits = {name: {q: r.sample(ranking, len(ranking)) for q, ranking in w.hits.items()} for name in ("old", "new")}
    return called("differences", {"runs": hits, "all_qa": w.all_qa, "k": 3})


KINDS = {
    "docs": Kind(make_docs, odd_data),
    "new_docs": Kind(make_new_docs, odd_data),
    "all_qa": Kind(make_all_qa, odd_data),
    "results": Kind(make_results, odd_results),
    "hits": Kind(lambda r, w: w.hits, odd_results),
    "answers": Kind(make_answers, odd_data),
    "all_qa_of_both_kinds": Kind(make_both_kinds, odd_data),
    "scored_results": Kind(make_scored_results, odd_results),
    "runs": Kind(make_runs, odd_runs),
    "two_runs": Kind(lambda r, w: dict(list(make_runs(r, w).items())[:2]), odd_runs),
    "k": Kind(make_k, odd_k),
    "ks": Kind(make_ks, odd_k),
    "metrics": Kind(make_metrics, odd_metrics),
    "metric": Kind(make_metric, odd_metric),
    "query_id": Kind(lambda r, w: r.choice(w.query_ids)),
    "no_relevant": Kind(choice_of(*oracle.CHOICES["no_relevant"])),
    "duplicates": Kind(choice_of(*oracle.CHOICES["duplicates"])),
    "gain": Kind(choice_of(*oracle.CHOICES["gain"])),
    "average": Kind(choice_of("macro", "pooled")),
    "baseline": Kind(choice_of("old", "new", None)),
    "resamples": Kind(choice_of(50, 200, 1_000), odd_k),
    "seed": Kind(choice_of(0, 1, 7)),
    "thresholds": Kind(choice_of(None, {}, {"MRR@10": 0.7}), odd_data),
    "summary": Kind(make_summary, odd_summary),
    "table": Kind(make_table, odd_called),
    "failed": Kind(make_failed, odd_called),
    "curve": Kind(make_curve, odd_verdicts),
    "unanswerable_answered": Kind(choice_of(0.0, 0.1, 0.5, 1)),
    "source_of": Kind(make_source_of, odd_source_of),
    "vectorstore": Kind(make_faiss, odd_store),
    "any_store": Kind(make_store, odd_store),
    "embeddings": Kind(lambda r, w: embeddings(r.choice(("", "", "array"))), odd_embeddings),
    "threshold": Kind(choice_of(0.95, 0.5, 1)),
    "times": Kind(choice_of(2, 3), lambda r, w, v: r.choice((0, 1, -1, 2.5, "2", None, True, 10**30, NAN))),
    "share": Kind(choice_of(1.0, 0.5, 0.1, 1)),
    "change": Kind(choice_of(None, str.upper, str.lower), lambda r, w, v: r.choice((nothing, throws, "x", length, echo))),
    "rng": Kind(choice_of(0, 3)),
    "answer": Kind(lambda r, w: r.choice(ANSWERS)),
    "sources": Kind(make_sources, odd_sources),
    "tokenizer": Kind(
        lambda r, w: r.choice((str.split, one_token)),
        lambda r, w, v: r.choice((no_list, numbers_for_words, throws, list, echo, garbage(r))),
    ),
    "model": Kind(make_model, odd_model_argument),
    "judge": Kind(make_judge, odd_judge),
    "prompt": Kind(choice_of("{question} {context} {ground_truth} {answer}", "{a} {question}{context}{answer}{ground_truth}")),
    "retries": Kind(choice_of(0, 1, 2), odd_k),
    "verdicts": Kind(make_verdicts, odd_verdicts),
    "cache": Kind(make_cache, odd_path),
    "sentences": Kind(choice_of(1, 2), odd_k),
    "dataset_folder": Kind(make_dataset_folder, odd_file),
    "split": Kind(choice_of(None, "test")),
    "store_folder": Kind(make_saved_store, odd_saved_store),
    "new_folder": Kind(lambda r, w: new_path("store"), odd_path),
    "new_file": Kind(
        lambda r, w: new_path(r.choice(("x.tsv", "x.txt", "x.tsv.gz", "x.gz", "run"))), odd_path
    ),
    "run_file": Kind(make_run_file, odd_file),
    "qrels_file": Kind(make_qrels_file, odd_file),
    "run_name": Kind(choice_of("run", "rageval_kit")),
    "model_name": Kind(
        choice_of("chars"),
        lambda r, w, v: r.choice(
            ("", "foo", "char", "openai:x", "openai:", ":x", ":", "nosuch:model", "cohere:x", "minilm:", garbage(r))
        ),
    ),
    "score_name": Kind(choice_of(None, "inner product")),
    "lower_is_better": Kind(choice_of(None, True, False)),
    "index": Kind(choice_of(None, "ab12cd34")),
    "searched": Kind(choice_of(0, 1)),
    "changed": Kind(choice_of("", "1 added (d4)")),
    "text": Kind(lambda r, w: r.choice((*ANSWERS, *ODD_TEXTS))),
    "stem": Kind(choice_of("remov", "500", "앱", "fee", "größe", "")),
    "p": Kind(lambda r, w: np.array([round(r.random(), 2) for _ in range(r.randint(1, 5))]), odd_array),
    "values": Kind(make_matrix, odd_array),
    "differences": Kind(make_matrix, odd_array),
    "generator": Kind(lambda r, w: generator(r.randint(0, 5))),
    "effect_size": Kind(choice_of(0.2, -0.5, 1, 3.0)),
    "level": Kind(choice_of(0.05, 0.01)),
    "ax": Kind(lambda r, w: r.choice((None, axes()))),
    "title": Kind(choice_of(None, "A title", "제목", "$5 and $10")),
    "ylabel": Kind(choice_of("mean over queries", "평균")),
    "xlabel": Kind(choice_of("score", "거리")),
    "matrix": Kind(make_matrix_of_kit, lambda r, w, v: r.choice((make_table(r, w), w.hits, garbage(r)))),
    "hits_of_one": Kind(lambda r, w: r.choice(list(w.hits.values())), odd_hits_of_one),
    "relevant_doc_ids": Kind(lambda r, w: r.choice(w.all_qa)["relevant_doc_ids"], odd_data),
    "name_in_table": Kind(choice_of("nDCG@3", "MRR@3", "Recall@3"), odd_metric),
    "evaluated": Kind(make_evaluated, odd_called),
    "compared": Kind(make_compared, odd_called),
    "compared_queries": Kind(make_compared_queries, odd_called),
    "questions": Kind(lambda r, w: {qa["query_id"]: qa["question"] for qa in w.all_qa}, odd_data),
}  # fmt: skip
# Where a name alone does not say what is meant.
KIND_OF = {
    ("abstention_curve", "all_qa"): "all_qa_of_both_kinds",
    ("abstention_curve", "results"): "scored_results",
    ("differences", "runs"): "two_runs",
    ("add_documents", "docs"): "new_docs",
    ("search_all", "vectorstore"): "any_store",
    ("search_folded", "vectorstore"): "any_store",
    ("judge_answers", "model"): "judge",
    ("judge_agreement", "one"): "verdicts",
    ("judge_agreement", "other"): "verdicts",
    ("load_dataset", "folder"): "dataset_folder",
    ("load_vectorstore", "folder"): "store_folder",
    ("save_vectorstore", "folder"): "new_folder",
    ("save_run", "path"): "new_file",
    ("save_run", "name"): "run_name",
    ("save_qrels", "path"): "new_file",
    ("load_run", "path"): "run_file",
    ("load_qrels", "path"): "qrels_file",
    ("load_embeddings", "name"): "model_name",
    ("plot_lines", "table"): "evaluated",
    ("plot_comparison", "table"): "compared",
    ("plot_comparison", "metric"): "name_in_table",
    ("plot_differences", "table"): "compared_queries",
    ("plot_hits", "hits"): "hits_of_one",
    ("resampled_means", "rng"): "generator",
    ("randomization_p", "rng"): "generator",
}
# Texts and a dict: there is nothing to call.
CONSTANTS = {"ANSWER_PROMPT", "JUDGE_PROMPT", "DEFAULT_THRESHOLDS"}
# What functions of the kit return, and the type of their policies: nobody makes one by hand, and a dataclass
# or TypedDict looks at nothing. What they can do is tried on those that the functions return.
RETURNED = {"Explanation", "Finding", "Policies", "Relevance", "Report"}
# How often a name is called, beside once: what is read by many, and what takes long.
WEIGHTS = {
    "per_query": 3, "evaluate": 3, "explain": 2, "check_results": 1.5, "compare": 0.4, "diagnose": 0.7,
    "plot_abstention": 0.1, "plot_comparison": 0.1, "plot_differences": 0.1, "plot_hits": 0.1, "plot_lines": 0.1,
    "plot_relevance_matrix": 0.1, "load_embeddings": 0.3, "save_vectorstore": 0.5, "load_vectorstore": 0.5, "search_folded": 0.7,
}  # fmt: skip


# What has many places to go wrong in is spoiled more often than a k or a policy.
DATA = {
    "docs", "all_qa", "results", "hits", "answers", "runs", "vectorstore", "summary", "table", "failed", "curve",
    "sources", "text", "values", "differences", "p", "relevant_doc_ids", "matrix", "folder", "path", "one", "other", "model", "source_of",
}  # fmt: skip


def kind_of(name, parameter):
    """Return the kind of a parameter; KeyError says that fuzz.py has none for it."""
    kind = KIND_OF.get((name, parameter), parameter)
    if kind not in KINDS:
        raise KeyError(f"fuzz.py has no kind for the parameter {parameter} of {name}.")
    return KINDS[kind]


@functools.cache
def parameters(name):
    """Return {parameter: whether it must be given} of a public name."""
    found = {}
    for parameter in inspect.signature(getattr(rageval_kit, name)).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            found |= dict.fromkeys(oracle.CHOICES, False)
        else:
            found[parameter.name] = parameter.default is parameter.empty
    return found


class Case(NamedTuple):
    """One call."""

    name: str
    arguments: dict[str, Any]

    def __str__(self):
        required = [p for p, must in parameters(self.name).items() if must]
        shown_ones = [
            shown(value) if parameter in required else f"{parameter}={shown(value)}"
            for parameter, value in self.arguments.items()
        ]
        return f"{self.name}({', '.join(shown_ones)})"


def callable_names():
    return sorted(set(rageval_kit.__all__) - CONSTANTS - RETURNED)


def case(seed, number, names=None):
    """Return the call of this number; the same seed gives the same call."""
    r = random.Random(f"{seed}/{number}")
    names = names or callable_names()
    name = r.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
    w = World(r)

    # A right call: what must be given, and now and then what may be.
    wanted = [p for p, must in parameters(name).items() if must or r.random() < 0.35]
    takes_cutoffs = name in METRIC_FUNCTIONS or name in ("per_query", "evaluate")
    if takes_cutoffs:  # ks and k mean one thing
        wanted = [parameter for parameter in wanted if parameter not in ("ks", "k")]
        wanted += [[], ["ks"], ["ks"], ["k"]][r.randrange(4)]
    arguments = {parameter: kind_of(name, parameter).make(r, w) for parameter in wanted}

    # Then what goes wrong with it.
    if not arguments:
        return Case(name, arguments)
    if r.random() < 0.05 and len(arguments) > 1:
        one, other = r.sample(list(arguments), 2)
        arguments[one], arguments[other] = arguments[other], arguments[one]
    if r.random() < 0.07:
        return Case(name, {p: v if r.random() < 0.5 else garbage(r) for p, v in arguments.items()})
    weights = [5 if parameter in DATA else 1 for parameter in arguments]
    for _ in range(r.choice((0, 0, 0, 0, 1, 1, 1, 2, 2, 3))):
        parameter = r.choices(list(arguments), weights)[0]
        try:
            arguments[parameter] = kind_of(name, parameter).spoil(r, w, arguments[parameter])
        except Exception:  # what is spoiled or swapped already may have nothing left to spoil
            arguments[parameter] = garbage(r)
    return Case(name, arguments)


# ---------------------------------------------------------------- the judge


class Wrong(Exception):
    """The value is not what the definitions say."""


class Slow(BaseException):
    """The call does not end."""


@dataclass
class Outcome:
    """What came of a call.

    kind: right (checked), value (nothing known to check it by), refused (in the kit's words), own (what
    the fuzzer passed in failed); unexplained, wrong, slow: the faults; fuzzer: a fault of this file.
    """

    kind: str
    what: str = ""
    where: str = ""

    @property
    def is_fault(self):
        return self.kind in ("unexplained", "wrong", "slow", "fuzzer")


@dataclass
class Seen:
    """What a check may look at beside the value: the arguments as the call got them, what was said."""

    value: Any
    arguments: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    printed: str = ""


N_LETTERS = 4_000  # a message that is longer shows the input whole, in place of saying what is wrong with it
EXPLAINED = (ValueError, TypeError, KeyError, ImportError, FileNotFoundError)


def judge(a_case):
    """Make the call and say what came of it."""
    arguments = realise(a_case.arguments)
    before = realise({p: v for p, v in a_case.arguments.items() if not isinstance(v, Lazy)})
    must = parameters(a_case.name)
    positional = [value for p, value in arguments.items() if must.get(p)]
    keywords = {p: value for p, value in arguments.items() if not must.get(p)}

    error = value = None
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # as strict as a terminal
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(screen), alarm():
        warnings.simplefilter("always")
        try:
            value = getattr(rageval_kit, a_case.name)(*positional, **keywords)
            repr(value)
            str(value)
        except (Exception, Slow) as thrown_one:
            error = thrown_one
    screen.flush()
    said = [str(warning.message) for warning in caught]
    seen = Seen(value, arguments, said, screen.buffer.getvalue().decode())

    if isinstance(error, Slow):
        return Outcome("slow", f"no end after {N_SECONDS} s", place_of(error))
    if error is not None and not is_explained(error):
        if is_own(error):
            return Outcome("own")
        name = type(error).__name__
        if isinstance(error, EXPLAINED) and len(str(error)) > N_LETTERS:
            return Outcome("unexplained", f"{name} of {len(str(error)):,} letters: {error}"[:300], place_of(error))
        return Outcome("unexplained", f"{name}: {error}"[:300], place_of(error))
    if strange := strange_warning(caught):
        return strange
    changed = [p for p in before if not same(before[p], arguments[p])]
    if changed:
        return Outcome("wrong", f"the call changed its argument {', '.join(changed)}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = compare_with_expected(a_case, seen, error)
    return strange_warning(caught) or outcome


def strange_warning(caught):
    """Return the fault of a warning that is numpy's or pandas' and not the kit's, if there is one."""
    for warning in caught:
        if warning.filename.startswith(PACKAGE) and warning.category is not UserWarning:
            where = f"{Path(warning.filename).name} {linecache.getline(warning.filename, warning.lineno).strip()}"
            return Outcome("unexplained", f"{warning.category.__name__}: {warning.message}"[:300], where)
    return None


def compare_with_expected(a_case, seen, error):
    """Hold the value, or the refusal, to what the definitions say of the arguments."""
    doubts, must_refuse, check = [], "", None
    try:
        check = EXPECT[a_case.name](a_case.arguments, doubts)
    except Refused as why:
        must_refuse = str(why) or "it must be refused"
    except Unknown as why:
        doubts.append(str(why))

    if error is not None:
        after = AFTER_REFUSAL.get(a_case.name)
        broken = after(a_case.arguments, seen) if after else None
        if broken:
            return Outcome("wrong", broken)
        if check is not None and not doubts:
            return Outcome("wrong", f"refused what is right: {type(error).__name__}: {error}"[:300], place_of(error))
        return Outcome("refused", str(error)[:300], place_of(error))
    if must_refuse:
        return Outcome("wrong", f"accepted: {must_refuse}"[:300])
    if check is None:
        return Outcome("value")
    try:
        return Outcome("value" if check(seen) is NotImplemented else "right")
    except Wrong as why:
        return Outcome("wrong", str(why)[:300])
    except Unknown:
        return Outcome("value")
    except Exception as later:  # what came back fails when it is used
        if is_own(later):
            return Outcome("own")
        if place_of(later) == "outside the package":
            raise
        kind = "refused" if is_explained(later) else "unexplained"
        return Outcome(kind, f"{type(later).__name__}: {later}"[:300], place_of(later))


@contextlib.contextmanager
def alarm():
    """Raise `Slow` when the block does not end; where the system has no such alarm, wait."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_):
        raise Slow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, N_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def frames_of(error):
    trace, found = error.__traceback__, []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def is_explained(error):
    """Say whether a raise of the package raised it, with a text that a reader can use."""
    of_kit = type(error).__module__.startswith("rageval_kit") and isinstance(error, EXPLAINED)
    if type(error) not in EXPLAINED and not of_kit:
        return False
    last = frames_of(error)[-1]
    if not last.tb_frame.f_code.co_filename.startswith(PACKAGE) or not raises_here(last):
        return False
    return is_sentence(error.args[0] if error.args else "")


def raises_here(trace):
    """Say whether the frame stands on a raise, not on something that failed within its text."""
    return any(
        instruction.offset == trace.tb_lasti and instruction.opname == "RAISE_VARARGS"
        for instruction in dis.get_instructions(trace.tb_frame.f_code)
    )


def is_sentence(text):
    """Say whether the text has some length, and an end: of a sentence, or a command behind a colon."""
    if not isinstance(text, str) or not 20 <= len(text.strip()) <= N_LETTERS:
        return False
    last = text.strip().rsplit(". ", maxsplit=1)[-1]
    return text.strip()[-1] in ".?!)" or ": " in last


def is_own(error):
    """Say whether a function, model or store of the fuzzer's is to blame."""
    while error is not None:
        if isinstance(error, Mine):
            return True
        error = error.__cause__ or error.__context__
    return False


def place_of(error):
    """Return where in the package it came from: file, function and line of code."""
    for trace in reversed(frames_of(error)):
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(PACKAGE):
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            return f"{Path(code.co_filename).name} {code.co_name}: {line}"
    return "outside the package"


@contextlib.contextmanager
def workplace():
    """Go to an empty folder, without a key, and leave nothing behind."""
    home, key = Path.cwd(), os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(home)
            if key is not None:
                os.environ["OPENAI_API_KEY"] = key


def run(seed, numbers, names=None):
    """Yield (number, case, outcome) of these numbers, in a folder of their own."""
    with workplace() as folder:
        for number in numbers:
            a_case = case(seed, number, names)
            try:
                outcome = judge(a_case)
            except Exception as error:  # of the fuzzer's own, which must be set right
                last = frames_of(error)[-1]
                where = f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
                outcome = Outcome("fuzzer", f"{type(error).__name__}: {error}"[:300], where)
            yield number, a_case, outcome
            if a_case.name.startswith("plot"):
                pyplot().close("all")
            if number % 200 == 0:
                for path in folder.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


# ---------------------------------------------------------------- what is right
# Of the arguments as they were made (recipes are read through ``view``): a check of the value. Refused and
# Unknown as in oracle.py; a check that finds nothing to look at returns NotImplemented.


def want(condition, text):
    if not condition:
        raise Wrong(text)


def close(value, expected):
    """Say whether a number is the expected one, NaN included."""
    value = float(value) if not pd.isna(value) else NAN
    return math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-9) or (value != value and expected != expected)


def want_close(value, expected, where):
    want(close(value, expected), f"{where}: {value!r}, by definition {expected!r}")


def comes_as_table(results):
    """Say whether results are a table, which may lack scores and contents."""
    return oracle.is_table(results) or (isinstance(results, Lazy) and results.arguments[-1] == "table")


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
    ks = next((a[name] for name in ("ks", "k") if name in a and not not_given(a[name], doubts)), default)
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
    return default if "k" not in a or not_given(a["k"], doubts) else a["k"]


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
        want(found.attrs["excluded"] == excluded, f"attrs say {found.attrs['excluded']} excluded, not {excluded}")
        check_warnings(seen, a, table)
        return NotImplemented if all(values is None for values in expected) else None

    return check


def check_warnings(seen, a, table):
    """A query without results, and a k deeper than the search, are said."""
    ranked = oracle.rankings(view(a["results"]), [], table.queries)
    missing = [q for q, query in table.queries.items() if q not in ranked and oracle.n_relevant(query.grades)]
    if len(missing) <= 5:
        for query_id in missing:
            want(names_it(seen.warnings, query_id), f"no warning names {query_id!r}, not searched")
    deepest = max([column.cutoff for column in table.columns if column.cutoff != "R"], default=0)
    searched = getattr(view(a["results"]), "k", 0)
    real = seen.arguments["results"]
    if 0 < searched < deepest and (hasattr(real, "k") or isinstance(real, pd.DataFrame)):
        want(any(f"k={searched}" in text for text in seen.warnings), f"no warning that the search had k={searched}")


def expect_evaluate(a, doubts):
    if a.get("average", "macro") not in ("macro", "pooled"):
        raise Refused(f"average={a['average']!r}")
    table = table_of(a, doubts, a.get("metrics", oracle.THE_FIVE))
    mean = table.pooled if a.get("average") == "pooled" else table.macro
    if a.get("average") == "pooled" and table.policies["no_relevant"] in ("zero", "one"):
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
            want(found.n_relevant[row] == oracle.n_relevant(query.grades), f"n_relevant of {query_id!r}")
            want(found.n_returned[row] == len(query.docs), f"n_returned of {query_id!r}")
            for rank in range(width):
                grade = max(query.grades.get(query.docs[rank], 0), 0) if rank < len(query.docs) else 0
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
    if not any(oracle.plain(other) == query_id for other in ids if isinstance(oracle.plain(other), (str, int))):
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
            want(any(f"k={searched}" in text for text in seen.warnings), f"no warning that the search had k={searched}")

    return check


def was_called(value):
    return isinstance(value, Lazy) and value.make.__name__ == "called"


def expect_caption(a, doubts):
    if not was_called(a["table"]):
        doubts.append("a table that was changed on the way")

    def check(seen):
        table = seen.arguments["table"]
        want(isinstance(seen.value, str) and seen.value.endswith("."), f"{seen.value!r}")
        want(f"{table.attrs['evaluated']:,} quer" in seen.value, f"{seen.value!r} does not tell the queries")

    return check


def expect_outcomes(a, doubts):
    table = table_of(a, doubts, ["Recall"], default=10)
    if len(table.columns) > 1:
        raise Refused("outcomes takes one cutoff")
    expected = {query_id: oracle.outcome(value) for query_id, value in table.values(table.columns[0]).items()}
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
    if not isinstance(runs, dict) or len(runs) < 2:
        raise Refused("fewer than two runs")
    metrics, k = a.get("metrics", oracle.THE_FIVE), k_of(a, doubts, default_depth(runs))
    resamples = whole_number(a.get("resamples", 10_000), 1, "resamples")
    usual(a.get("seed", 0), doubts, "seed", is_seed)
    baseline = a.get("baseline")
    if baseline is not None and not (isinstance(baseline, str) and baseline in runs):
        raise Refused(f"no run {baseline!r}")
    if any(not isinstance(name, str) for name in runs):
        doubts.append("names of runs that are no texts")

    # The same queries must have been searched for all runs, and to one depth.
    tables = {name: table_of({**a, "results": run, "k": k}, doubts, metrics) for name, run in runs.items()}
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
            row, values, others = seen.value.loc[(label, name)], table.values(column), base.values(column)
            want_close(row["mean"], table.macro(column), f"mean {label} of {name}")
            if table is base:
                continue
            change = [values[q] - others[q] for q in values if values[q] == values[q]]
            want_close(row["difference"], oracle.mean(change), f"difference in {label} of {name}")
            counts = (sum(c > 1e-12 for c in change), sum(c < -1e-12 for c in change))
            want((row["wins"], row["losses"]) == counts, f"wins and losses of {name}, by definition {counts}")
            want(0 < row["p"] <= row["p_holm"] + 1e-12 <= 1 + 1e-9, f"p={row['p']}, p_holm={row['p_holm']}")
        return None if known else NotImplemented

    return check


def doubt_depths(runs, ranked, doubts):
    """Doubt runs of several depths: what was asked for where that is known, else the longest ranking."""
    asked = {getattr(view(runs[name]), "k", 0) or max(map(len, ranked[name].values()), default=0) for name in runs}
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
    oracle.cutoff(k)
    tables = [table_of({**a, "results": run, "k": k}, doubts, [metric]) for run in runs.values()]
    ranked = [oracle.rankings(view(run), doubts, tables[0].queries) for run in runs.values()]
    queries = set(tables[0].queries)
    if (set(ranked[0]) ^ set(ranked[1])) & queries:
        raise Refused("the runs differ in their queries")
    doubt_depths(runs, dict(zip(runs, ranked, strict=True)), doubts)
    if tables[0].columns[0].metric is None:
        raise Unknown("a function of the user's")
    values = [table.values(table.columns[0]) for table in tables]

    def check(seen):
        want(sorted(map(str, seen.value.index)) == sorted(map(str, queries)), f"rows {list(seen.value.index)!r}")
        for query_id, row in zip(plain_list(seen.value.index), seen.value.to_dict("records"), strict=True):
            want_close(row["difference"], values[1][query_id] - values[0][query_id], f"difference of {query_id!r}")

    return check


# ---------------------------------------------------------------- diagnosis


def usual_docs(value, doubts):
    """Return docs as the oracle reads them; doubt what is not usual, and know nothing then."""
    docs = oracle.records(view(value), doubts, "docs")
    usual(
        docs,
        doubts,
        "docs",
        lambda docs: all(
            type(doc["doc_id"]) is str and doc["doc_id"].strip() and type(doc["content"]) is str and doc["content"].strip()
            and isinstance(doc.get("title"), str)
            for doc in docs
        )
        and len({doc["doc_id"] for doc in docs}) == len(docs) > 0,
    )  # fmt: skip
    return docs


def doubt_questions(a, doubts):
    """Doubt a query whose question is no text: who needs it may say so."""
    for qa in oracle.queries(view(a["all_qa"]), doubts):
        if not isinstance(qa.get("question", ""), str) or not qa.get("question", "x").strip():
            doubts.append(f"a question is {qa.get('question')!r}"[:80])


def expect_failures(a, doubts):
    table = table_of({**a, "k": k_of(a, doubts, 10)}, doubts, ["RR"])
    if len(table.columns) > 1:
        raise Refused("failures takes one cutoff")
    doubt_questions(a, doubts)
    doubt_broken(a, doubts)
    if not oracle.is_table(hits := view(a["results"])):
        fields = [hit.get(name, "") for r in hits.values() for hit in r if isinstance(hit, Mapping) for name in ("title", "content")]
        if not all(type(text) is str for text in fields):
            doubts.append("a title or content that is no text")
    if a.get("docs") is not None:
        usual_docs(a["docs"], doubts)
    values = table.values(table.columns[0])
    expected = {query_id: value for query_id, value in values.items() if value == value and value != 1}

    def check(seen):
        found = dict(zip(plain_list(seen.value.index), seen.value["first_relevant_rank"], strict=True))
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
            n = sum(map(bool, failed[trait])) if trait in failed else 0
            want(row["queries"] == n, f"{trait}: {row['queries']} queries, counted {n}")
            want(0 <= row["share"] <= 1 and 0 <= row["share_of_all"] <= 1, f"{trait}: a share outside 0..1")

    return check


def expect_diagnose(a, doubts):
    thresholds = a.get("thresholds")
    usual(thresholds, doubts, "thresholds", lambda t: t is None or all(type(v) is float for v in t.values()))
    usual(a.get("seed", 0), doubts, "seed", is_seed)
    table = table_of(a | {"ks": 1}, doubts, ["Recall@10", "Recall@20", "RR@10", "HitRate@10"])
    doubt_broken(a, doubts)
    if a.get("answers") is not None:
        doubts.append("answers")
    r10, r20, rr, hit = [list(table.values(column).values()) for column in table.columns]
    expected = {
        "Recall@20": r20, "Recall@20 - Recall@10": [b - c for b, c in zip(r20, r10, strict=True)], "MRR@10": rr,
        "HitRate@10": hit,
    }  # fmt: skip

    def check(seen):
        for step, values in expected.items():
            row = seen.value.loc[step]
            mean = oracle.mean([value for value in values if value == value])
            if not pd.isna(row["value"]):
                want_close(row["value"], mean, step)
                bad = mean > row["threshold"] + 1e-9 if "-" in step else mean < row["threshold"] - 1e-9
                want(row["verdict"] == ("problem" if bad else "ok"), f"{step}: {row['verdict']} at {mean}")
            else:
                want(row["verdict"].startswith("cannot tell"), f"{step}: {row['verdict']} without a value")

    return check


def expect_abstention_curve(a, doubts):
    kinds = {q: oracle.n_relevant(grades) > 0 for q, grades in oracle.judgements(view(a["all_qa"]), doubts).items()}
    if len(set(kinds.values())) < 2:
        raise Refused("both kinds of queries are needed")
    hits = view(a["results"])
    refuse_broken(oracle.rankings(hits, doubts))
    if comes_as_table(a["results"]):
        doubts.append("a table")
        raise Unknown("a table")
    rankings = {query_id: hits.get(query_id, []) for query_id in kinds}
    scores = {}
    for query_id, ranking in rankings.items():
        if not ranking or not isinstance(ranking[0], Mapping) or ranking[0].get("score") is None:
            raise Refused(f"{query_id!r} has no hit with a score")
        scores[query_id] = [oracle.plain(hit.get("score")) for hit in ranking if isinstance(hit, Mapping)]
        usual(scores[query_id], doubts, "scores", lambda s: all(type(x) in (int, float) and abs(x) < 1e9 for x in s))

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
            want_close(row["unanswerable_answered"], near[0][0], f"unanswerable at {row['threshold']}")
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
    rows = [oracle.column_of(curve, name, "curve") for name in columns]
    usual(rows, doubts, "curve", lambda rows: all(type(value) in (int, float) for row in rows for value in row))
    usual(rows, doubts, "curve", lambda rows: all(0 <= value <= 1 for row in rows[1:] for value in row))
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
    """Say whether a text names the value; what cannot be printed is shown in some other way."""
    return any(str(value) in text for text in texts) if str(value).isprintable() else bool(texts)


def error_texts(report):
    """Return the errors of a report, and try what a report can do."""
    want(isinstance(report, rageval_kit.Report), "no report came back")
    want(len(report) == len(report.errors), "its length is not the number of errors")
    want(len(report.to_frame()) == len(report.errors) + len(report.warnings), "to_frame has other findings")
    return report.errors


def expect_check_results(a, doubts):
    try:
        judged = oracle.judgements(view(a["all_qa"]), doubts)
        ranked = oracle.rankings(view(a["results"]), doubts)
        if any(isinstance(doc, oracle.Broken) for docs in ranked.values() for doc in docs):
            raise Unknown("a broken hit")
        oracle.matrix(view(a["all_qa"]), view(a["results"]), 10**6, {"duplicates": "position"}, doubts)
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
                want(any(names_it(errors, doc) for doc in twice), f"no error of {twice} in {query_id!r}")
        missing = [query_id for query_id in judged if not ranked.get(query_id)]
        want(not missing or bool(errors or seen.value.warnings), "no word of queries without results")
        want(seen.printed.strip() == str(seen.value).strip(), "what was printed is not the report")

    return check


def expect_check_scores(a, doubts):
    summary = a["summary"]
    if not isinstance(summary, pd.DataFrame):
        raise Refused("no table")
    if any(len(set(map(repr, names))) < len(names) for names in (summary.index, summary.columns)):
        doubts.append("a row or column twice")
        raise Unknown("rows twice")
    known = {"HitRate", "MRR", "nDCG", "Precision", "Recall", "MAP"}
    ks = {column: int(str(column)) for column in summary.columns if str(column).isdecimal()}
    rows = [row for row in summary.index if row in known]
    if len(rows) < len(summary) or len(ks) < summary.shape[1] or not rows or not ks:
        doubts.append("rows or columns that are no metric or cutoff")
    values = {row: {k: oracle.plain(summary.loc[row, column]) for column, k in ks.items()} for row in rows}
    usual(values, doubts, "scores", lambda v: all(type(x) in (int, float) for r in v.values() for x in r.values()))
    facts = oracle.impossible(values)
    understood = bool(rows) and bool(ks)

    def check(seen):
        errors = error_texts(seen.value)
        want(understood or bool(errors or seen.value.warnings), "OK of a table that was not understood")
        if not doubts:
            want(bool(facts) == bool(errors), f"{len(errors)} errors, by definition {facts}")
        for _, metric, k in facts:
            want(any(metric in text and str(k) in text for text in errors), f"no error of {metric}@{k}")

    return check


def expect_validate_dataset(a, doubts):
    try:
        docs = oracle.records(view(a["docs"]), [], "docs")
        queries = oracle.records(view(a["all_qa"]), [])
    except Refused as why:
        raise Unknown(str(why)) from None
    if docs and "query_id" in docs[0] and "doc_id" not in docs[0]:
        raise Refused("queries given as docs")
    if queries and "doc_id" in queries[0] and "query_id" not in queries[0]:
        doubts.append("docs given as queries")
    if isinstance(a["docs"], Lazy):
        doubts.append("documents of LangChain may have no doc_id")
    if oracle.is_table(view(a["all_qa"])) and not oracle.has_column(view(a["all_qa"]), "query_id"):
        doubts.append("a table without query_id")

    def check(seen):
        errors = error_texts(seen.value)
        want(seen.printed.strip() == str(seen.value).strip(), "what was printed is not the report")
        ids = [doc.get("doc_id") for doc in docs]
        want(all(isinstance(value, str) and value.strip() for value in ids) or bool(errors), "no error of an odd doc_id")
        texts = [value for value in ids if isinstance(value, str)]
        want(len(set(texts)) == len(texts) or bool(errors), "no error of a doc_id twice")
        try:
            judged = oracle.judgements(view(a["all_qa"]), [])
        except (Refused, Unknown):
            want(bool(errors) or oracle.is_table(view(a["all_qa"])), "no error, and metrics will refuse it")
            return
        for query_id, grades in judged.items():
            for doc in grades:
                want(doc in texts or bool(errors), f"no error of {query_id!r} -> {doc!r}, which is in no document")

    return check


# ---------------------------------------------------------------- copies


def expect_fold(a, doubts):
    k, hits, source_of = oracle.cutoff(a["k"]), view(a["results"]), a["source_of"]
    ranked = oracle.rankings(hits, doubts)
    refuse_broken(ranked)
    if isinstance(source_of, dict):
        of = lambda hit: source_of.get(hit["doc_id"], hit["doc_id"])  # noqa: E731
        usual(source_of, doubts, "source_of", lambda s: all(type(x) is str for pair in s.items() for x in pair))
    elif source_of is by_field:
        of = by_field
        usual(ranked, doubts, "ids", lambda found: all(type(d) is str for docs in found.values() for d in docs))
    elif callable(source_of) or isinstance(source_of, Lazy):
        doubts.append("a function of the user's")
        raise Unknown("source_of")
    else:
        raise Refused(f"source_of is {source_of!r}")
    folded = {q: oracle.fold([{"doc_id": doc} for doc in docs], of, k) for q, docs in ranked.items()}
    if any(len(docs) < k for docs in folded.values()):
        doubts.append("fewer than k documents remain")

    def check(seen):
        found = {q: [hit["doc_id"] for hit in docs] for q, docs in seen.value.items()}
        expected = {q: [hit["doc_id"] for hit in docs] for q, docs in folded.items()}
        want(found == expected, f"{found!r}, by definition {expected!r}")
        want(seen.value.k == k, f"k={seen.value.k}")

    return check


def store_docs(spec, doubts):
    """Return the documents of a store that works; doubt any other."""
    usual(spec, doubts, "vectorstore", lambda s: s.make.__name__ == "store" and s.arguments[1:] in ((), ("",)))
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
        cosine = math.sumprod(u, v) if hasattr(math, "sumprod") else sum(x * y for x, y in zip(u, v, strict=True))
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
        want(copied.index.ntotal == len(docs) + (times - 1) * n_chosen, f"{copied.index.ntotal} vectors")
        want(set(source_of.values()) <= {doc["doc_id"] for doc in docs}, "a source that is no document")
        want(len(source_of) == (times - 1) * n_chosen, f"{len(source_of)} copies")
        want(seen.arguments["vectorstore"].index.ntotal == len(docs), "the store of the originals was changed")

    return check


def expect_unread_tails(a, doubts):
    usual_docs(a["docs"], doubts)
    usual(a["embeddings"], doubts, "embeddings", lambda e: e.make.__name__ == "embeddings" and e.arguments[0] in ("", "array"))

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
    usual(sources, doubts, "sources", lambda s: isinstance(s, str) or (type(s) in (list, tuple) and all(type(x) is str for x in s)))
    if isinstance(a["sources"], Lazy):
        doubts.append("sources that are read once")
    if "tokenizer" in a:
        usual(a["tokenizer"], doubts, "tokenizer", is_tokenizer)
    return lambda seen: want_screened(*seen.value)


def want_screened(score, band, supported, unsupported):
    want(score != score or 0 <= score <= 1, f"a score of {score}")
    if score == score:
        want_close(score, len(supported) / (len(supported) + len(unsupported)), "score")
        band_of = "faithful" if score >= 0.9 else "partly from elsewhere" if score >= 0.5 else "probably not grounded"
        want(band == band_of, f"{band!r} at {score}")


def answers_of(given, doubts):
    """Return ``{query_id: (answer, doc_ids seen or None)}``."""
    given = view(given)
    if oracle.is_table(given):
        ids = oracle.column_of(given, "query_id", "answers") if oracle.has_column(given, "query_id") else given.index
        if len(set(map(repr, ids))) < len(ids):
            raise Refused("a query_id twice")
        texts = oracle.column_of(given, "answer", "answers")
        seen = oracle.column_of(given, "doc_ids", "answers") if oracle.has_column(given, "doc_ids") else [None] * len(given)
        rows = zip(plain_list(ids), texts, seen, strict=True)
    elif isinstance(given, Mapping):
        rows = ((query_id, text, None) for query_id, text in given.items())
    else:
        raise Refused("no answers")
    found = {}
    for query_id, text, seen in rows:
        as_text_or_doubt(text, doubts, "an answer")
        usual(seen, doubts, "doc_ids", lambda s: s is None or (type(s) is list and all(type(d) is str for d in s)))
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
            answerable = "relevant_doc_ids" not in qa or oracle.n_relevant(oracle.grades_of(qa, [])) > 0
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
    usual(hits, doubts, "hits", lambda h: all(type(hit["content"]) is str for ranking in h.values() for hit in ranking))
    usual(hits, doubts, "hits", lambda h: all(isinstance(hit.get("title", ""), str) for r in h.values() for hit in r))
    usual(ranked, doubts, "hits", lambda r: not any(isinstance(doc, oracle.Broken) for docs in r.values() for doc in docs))

    def check(seen):
        want(plain_list(seen.value.index) == list(answers), f"rows {list(seen.value.index)!r}")
        for row in seen.value.itertuples(index=False, name=None):
            want_screened(*row)

    return check


def is_prompt(value, *fields):
    return isinstance(value, str) and all("{" + name + "}" in value for name in fields)


def expect_generate_answers(a, doubts):
    k = oracle.cutoff(k_of(a, doubts, 5))
    if "prompt" in a and not is_prompt(a["prompt"], "question", "context"):
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
    usual(a["model"], doubts, "model", lambda m: m in (extractive(""), odd_model("An answer.")) or m.make.__name__ in ("chat_model", "llm"))
    usual(ranked, doubts, "hits", lambda r: not any(isinstance(doc, oracle.Broken) for docs in r.values() for doc in docs))
    if comes_as_table(a["results"]):
        doubts.append("a table, which may have no contents")
    else:
        usual(hits, doubts, "hits", lambda h: all(type(hit["content"]) is str for ranking in h.values() for hit in ranking))
    if not queries:
        doubts.append("no queries")

    def check(seen):
        want(plain_list(seen.value.index) == list(queries), f"rows {list(seen.value.index)!r}")
        for query_id, row in zip(queries, seen.value.to_dict("records"), strict=True):
            want(row["doc_ids"] == ranked[query_id][:k], f"{query_id!r} saw {row['doc_ids']!r}")
            want(isinstance(row["answer"], str), f"an answer of {row['answer']!r}")

    return check


def expect_judge_answers(a, doubts):
    if "prompt" in a and not is_prompt(a["prompt"], "question", "ground_truth", "answer"):
        raise Refused("the prompt lacks a field")
    whole_number(a.get("retries", 2), 0, "retries")
    answers, queries = answers_of(a["answers"], doubts), truths_of(a["all_qa"], doubts)
    refuse_without_truth(answers, queries)
    for query_id in answers:
        if not isinstance(queries[query_id].get("question"), str):
            doubts.append("a question is no text")
    usual(a["model"], doubts, "model", lambda m: m.make.__name__ in ("chat_model", "llm"))
    replies = [verdict_of(reply) for reply in a["model"].arguments[0]]

    def check(seen):
        want(plain_list(seen.value.index) == list(answers), f"rows {list(seen.value.index)!r}")
        found = list(seen.value["verdict"])
        want(set(found) <= {*VERDICTS, "unreadable"}, f"verdicts {found}")
        if all(replies):
            want(found == [replies[n % len(replies)] for n in range(len(found))], f"{found}, the judge said {replies}")
        return None if all(replies) else NotImplemented

    return check


def verdict_of(reply):
    try:
        given = json.loads(reply)
        return given["verdict"] if given["verdict"] in VERDICTS and type(given["reason"]) is str else None
    except Exception:
        return None


def expect_judge_agreement(a, doubts):
    tables = a["one"], a["other"]
    for table in tables:
        if not isinstance(table, pd.DataFrame):
            raise Refused("no table of verdicts")
        if not table.index.is_unique:
            raise Refused("a query twice")
    one, other = ({q: v for q, v in zip(t.index, oracle.column_of(t, "verdict", "verdicts"), strict=True)} for t in tables)
    both = [query_id for query_id in one if query_id in other]
    if not both:
        raise Refused("no query in common")
    usual(both, doubts, "ids", lambda ids: all(type(x) is str for x in [*one, *other]))
    usual([one, other], doubts, "verdicts", lambda v: all(type(x) is str for t in v for x in t.values()))
    readable = [q for q in both if one[q] in VERDICTS and other[q] in VERDICTS]
    first, second = [one[q] for q in readable], [other[q] for q in readable]
    agreement = oracle.mean([float(x == y) for x, y in zip(first, second, strict=True)])
    if any(value not in (*VERDICTS, "unreadable") for value in [*one.values(), *other.values()]):
        doubts.append("verdicts that are none")
    if not readable:
        doubts.append("no readable verdict")

    def check(seen):
        want(seen.value["n"] == len(readable), f"n={seen.value['n']}, counted {len(readable)}")
        want(seen.value["left_out"] == len(both) - len(readable), f"left_out={seen.value['left_out']}")
        want_close(seen.value["agreement"], agreement, "agreement")
        want_close(seen.value["kappa"], oracle.kappa(first, second), "kappa")

    return check


def expect_extractive_answerer(a, doubts):
    n = whole_number(a.get("sentences", 2), 1, "sentences")
    if n > 10**9:
        doubts.append("more sentences than there are")
    model = a["embeddings"]
    good = isinstance(model, Lazy) and model.make.__name__ == "embeddings" and model.arguments[0] in ("", "array")
    if not good:
        doubts.append("odd embeddings")

    def check(seen):
        hits = [{"doc_id": "d1", "content": f"{SENTENCES[0]} {SENTENCES[1]}"}, {"doc_id": "d2", "content": SENTENCES[3]}]
        answer = seen.value.invoke({"question": "fee?", "documents": hits})
        if not good:
            return NotImplemented
        want(isinstance(answer, str) and sum(s in answer for s in SENTENCES) == min(n, 3), f"{answer!r} of {n}")
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


def usual_cache(a, doubts):
    usual(a.get("cache"), doubts, "cache", lambda c: c is None or c.make.__name__ == "new_path")


def expect_search_all(a, doubts):
    k, questions = oracle.cutoff(a["k"]), questions_of(a, doubts)
    usual_cache(a, doubts)
    usual(a["vectorstore"], doubts, "vectorstore", lambda s: s.make.__name__ in ("store", "langchain_store", "memory_store", "retriever"))
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
            want(len({hit["doc_id"] for hit in hits}) == len(hits), f"{query_id!r}: a document twice")
            for hit in hits:
                doc = by_id[hit["doc_id"]]
                if a["vectorstore"].make.__name__ != "langchain_store":
                    want((hit["title"], hit["content"]) == (doc["title"], doc["content"]), f"{hit!r} of {doc!r}")
            if not exact:
                continue
            question = hashed(questions[query_id])
            distances = {d: math.dist(question, hashed(as_text(doc))) ** 2 for d, doc in by_id.items()}
            want(len(hits) == min(k, len(by_id)), f"{query_id!r}: {len(hits)} hits")
            for hit in hits:
                want(math.isclose(hit["score"], distances[hit["doc_id"]], rel_tol=1e-4, abs_tol=1e-4), f"{hit!r}")
            nearest = sorted(distances.values())[: len(hits)]
            for hit, distance in zip(hits, nearest, strict=True):
                want(math.isclose(hit["score"], distance, rel_tol=1e-4, abs_tol=1e-4), f"{query_id!r}: not the nearest")

    return check


def expect_search_folded(a, doubts):
    k, source_of = oracle.cutoff(a["k"]), a["source_of"]
    questions = questions_of(a, doubts)
    usual_cache(a, doubts)
    docs = store_docs(a["vectorstore"], doubts)
    if not isinstance(source_of, dict) and not callable(source_of) and not isinstance(source_of, Lazy):
        raise Refused(f"source_of is {source_of!r}")
    usual(source_of, doubts, "source_of", lambda s: s is by_field or all(type(x) is str for pair in s.items() for x in pair))
    if k > 10**6:
        doubts.append("a cutoff beyond all sense")
    sources = {(by_field(doc) if source_of is by_field else source_of.get(doc["doc_id"], doc["doc_id"])) for doc in docs}

    def check(seen):
        want(list(seen.value) == list(questions), f"queries {list(seen.value)!r}")
        for hits in seen.value.values():
            found = [hit["doc_id"] for hit in hits]
            want(len(set(found)) == len(found) == min(k, len(sources)), f"{found!r} of {sources!r}")
            want(set(found) <= sources, f"{found!r} of {sources!r}")

    return check


def expect_build_vectorstore(a, doubts):
    docs = usual_docs(a["docs"], doubts)
    usual(a["embeddings"], doubts, "embeddings", lambda e: e.make.__name__ == "embeddings" and e.arguments[0] in ("", "array"))
    doubt_strange(docs, doubts)

    def check(seen):
        store_ids = [seen.value.index_to_docstore_id[n] for n in range(seen.value.index.ntotal)]
        want(store_ids == [doc["doc_id"] for doc in docs], f"{store_ids!r}")

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
        seen.arguments["vectorstore"].index.ntotal == len(held) + len(docs), "not all documents were added"
    )


def expect_save_vectorstore(a, doubts):
    docs = store_docs(a["vectorstore"], doubts)
    usual(a["folder"], doubts, "folder", lambda f: f.make.__name__ == "new_path")
    doubt_strange(docs, doubts)

    def check(seen):
        loaded = rageval_kit.load_vectorstore(seen.arguments["folder"], Hashed())
        want(list(loaded.index_to_docstore_id.values()) == [doc["doc_id"] for doc in docs], "other documents came back")
        one, other = (s.index.reconstruct_n(0, len(docs)) for s in (loaded, seen.arguments["vectorstore"]))
        want(bool((one == other).all()), "other vectors came back")

    return check


def expect_load_vectorstore(a, doubts):
    usual(a["folder"], doubts, "folder", lambda f: f.make.__name__ == "saved_store" and not f.arguments[1])
    usual(a["embeddings"], doubts, "embeddings", lambda e: e.make.__name__ == "embeddings")
    ids = [doc["doc_id"] for doc in a["folder"].arguments[0]]
    return lambda seen: want(list(seen.value.index_to_docstore_id.values()) == ids, "other documents came back")


def expect_load_embeddings(a, doubts):
    name = a.get("name", "use-multilingual")
    if not isinstance(name, str):
        raise Refused(f"the name is {name!r}")
    if name != "chars":
        doubts.append("an odd name")

    def check(seen):
        want(hasattr(seen.value, "embed_documents"), f"{seen.value!r} embeds nothing")
        return None if name == "chars" else NotImplemented

    return check


# ---------------------------------------------------------------- files


def lines_of(spec, doubts):
    """Return the lines of the file, as a plain reader sees them."""
    usual(spec, doubts, "path", lambda s: s.make.__name__ == "a_file" and not s.arguments[0].endswith(".gz"))
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
    if any(filler not in ("Q0", "0") for _, filler, *_ in rows) or len({row[5] for row in rows}) > 1:
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
        read = {(q, d): g for q, d, g in seen.value[["query_id", "doc_id", "relevance"]].itertuples(index=False, name=None)}
        want(read == found, f"{read!r}, in the file {found!r}"[:300])

    return check


def expect_save_run(a, doubts):
    usual(a["path"], doubts, "path", lambda p: p.make.__name__ == "new_path")
    usual(a.get("name", "x"), doubts, "name", lambda n: n.replace("_", "").isalnum() and n.isascii())
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
    if any(not str(value) or str(value).split() != [str(value)] or not str(value).isprintable() for value in ids):
        doubts.append("ids with white space")


def doubt_scores(hits, doubts):
    """Doubt scores that run against the ranking: a file of scores cannot hold it as it is."""
    if oracle.is_table(hits):
        doubts.append("a table")
        return
    scores = [[oracle.plain(hit.get("score")) for hit in r if isinstance(hit, Mapping)] for r in hits.values()]
    usual(scores, doubts, "scores", lambda s: all(x is None or type(x) in (int, float) for r in s for x in r))
    falls = any(x is not None and y is not None and y < x for s in scores for x, y in itertools.pairwise(s))
    rises = any(x is not None and y is not None and y > x for s in scores for x, y in itertools.pairwise(s))
    lower = getattr(hits, "lower_is_better", None)
    if (falls and rises) or (lower and falls) or (lower is False and rises) or any(None in s and set(s) != {None} for s in scores):
        doubts.append("scores against the ranking")


def expect_save_qrels(a, doubts):
    usual(a["path"], doubts, "path", lambda p: p.make.__name__ == "new_path")
    judged = oracle.judgements(view(a["all_qa"]), doubts)
    grades = {(str(q), str(doc)): grade for q, of_query in judged.items() for doc, grade in of_query.items()}
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
    usual(a["folder"], doubts, "folder", lambda f: f.make.__name__ == "a_folder")
    files = a["folder"].arguments[0]
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


# ---------------------------------------------------------------- results


def expect_results(a, doubts):
    hits = view(a["hits"])
    usual(hits, doubts, "hits", lambda h: type(h) is dict)
    oracle.cutoff(a.get("k", 1))
    # It takes the hits as they are, and what is wrong with them is said when they are read.
    try:
        ranked = oracle.rankings(hits, doubts)
        good = not any(isinstance(doc, oracle.Broken) for docs in ranked.values() for doc in docs)
    except Refused:
        good = False
    for parameter in {"hits"} if not good else set(a) - {"hits", "k"}:
        doubts.append(parameter)

    def check(seen):
        made = seen.value
        want(same(made, seen.arguments["hits"]), "other hits than were given")
        for other in (made.copy(), made | {}, copy.copy(made), copy.deepcopy(made) if good else made):
            want(isinstance(other, rageval_kit.Results) and other.k == made.k, f"a copy knows no k: {type(other)}")
            want(same(other, made), "a copy with other hits")
        some = list(hits)[:1]
        part = made.only(some)
        want(list(part) == some and part.k == made.k, f"only({some!r}) is {part!r}")
        table = made.to_frame()
        want(good, "to_frame of hits that are none")
        want(list(table["doc_id"]) == [doc for docs in ranked.values() for doc in docs], "to_frame has other hits")
        want(table.attrs.get("k") == made.k, "to_frame loses k")

    return check


# ---------------------------------------------------------------- statistics, words, plots


def numbers_in(value, doubts, n_dimensions):
    """Return the numbers of an array; doubt what is no array of finite numbers."""
    fits = lambda a: (  # noqa: E731
        isinstance(a, np.ndarray) and a.ndim == n_dimensions and a.size and a.dtype == float and np.isfinite(a).all()
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
    return lambda seen: [want_close(x, expected[n], f"p {n}") for n, x in enumerate(seen.value)] and None


def expect_queries_needed(a, doubts):
    effect, level = oracle.plain(a["effect_size"]), oracle.plain(a.get("level", 0.05))
    usual(effect, doubts, "effect_size", lambda e: type(e) in (int, float) and 1e-6 < abs(e) < 1e6)
    usual(level, doubts, "level", lambda x: type(x) is float and 1e-9 < x < 1)
    normal = statistics.NormalDist()
    z = normal.inv_cdf(1 - level / 2) + normal.inv_cdf(0.8)
    return lambda seen: want(seen.value == max(2, math.ceil((z / effect) ** 2)), f"{seen.value}, z={z}")


def expect_resampled_means(a, doubts):
    values, resamples = numbers_in(a["values"], doubts, 2), whole_number(a["resamples"], 1, "resamples")
    usual(a["rng"], doubts, "rng", lambda g: g.make.__name__ == "generator")
    if resamples > 10**6:
        doubts.append("more resamples than memory")
        raise Unknown("resamples")
    drawn = generator.__wrapped__(*a["rng"].arguments).integers(0, len(values), size=(resamples, len(values))).tolist()

    def check(seen):
        want(seen.value.shape == (resamples, len(values[0])), f"shape {seen.value.shape}")
        for row, chosen in list(enumerate(drawn))[:5]:
            for column in range(len(values[0])):
                want_close(seen.value[row, column], oracle.mean([values[n][column] for n in chosen]), f"row {row}")

    return check


def expect_randomization_p(a, doubts):
    differences, resamples = numbers_in(a["differences"], doubts, 2), whole_number(a["resamples"], 1, "resamples")
    usual(a["rng"], doubts, "rng", lambda g: g.make.__name__ == "generator")
    if resamples > 10**6:
        doubts.append("more resamples than memory")
        raise Unknown("resamples")

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
        want(len(seen.value) <= 2 * len(unicodedata.normalize("NFKC", text)), f"{len(seen.value)} words")

    return check


def expect_kiwi_words(a, doubts):
    as_text_or_doubt(a["text"], doubts, "the text")
    doubts.append("an extra that need not be installed")
    return expect_words(a, doubts)


def expect_split_sentences(a, doubts):
    text = as_text_or_doubt(a["text"], doubts, "the text")

    def check(seen):
        want("".join("".join(seen.value).split()) == "".join(text.split()), f"{seen.value!r} of {text!r}")
        want(all(sentence.strip() for sentence in seen.value), f"an empty sentence in {seen.value!r}")

    return check


def expect_occurs(a, doubts):
    stem, text = (as_text_or_doubt(a[name], doubts, name) for name in ("stem", "text"))
    if not stem:
        doubts.append("an empty stem")

    def check(seen):
        want(isinstance(seen.value, bool), f"{seen.value!r}")
        if stem.isascii() and stem.isalpha() and stem.islower() and stem not in unicodedata.normalize("NFKC", text).lower():
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


EXPECT = {
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
        ("plot_abstention", "plot_comparison", "plot_differences", "plot_hits", "plot_lines", "plot_relevance_matrix"),
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
    "fold": expect_fold,
    "find_duplicates": expect_find_duplicates,
    "duplicate_index": expect_duplicate_index,
    "unread_tails": expect_unread_tails,
    "faithfulness": expect_faithfulness,
    "faithfulness_frame": expect_faithfulness_frame,
    "answer_accuracy": expect_answer_accuracy,
    "generate_answers": expect_generate_answers,
    "judge_answers": expect_judge_answers,
    "judge_agreement": expect_judge_agreement,
    "ExtractiveAnswerer": expect_extractive_answerer,
    "search_all": expect_search_all,
    "search_folded": expect_search_folded,
    "build_vectorstore": expect_build_vectorstore,
    "add_documents": expect_add_documents,
    "save_vectorstore": expect_save_vectorstore,
    "load_vectorstore": expect_load_vectorstore,
    "load_embeddings": expect_load_embeddings,
    "load_run": expect_load_run,
    "load_qrels": expect_load_qrels,
    "save_run": expect_save_run,
    "save_qrels": expect_save_qrels,
    "load_dataset": expect_load_dataset,
    "Results": expect_results,
}


def half_a_file(a, seen):
    made = isinstance(a["path"], Lazy) and a["path"].make.__name__ == "new_path"
    return "refused, and a file was written" if made and seen.arguments["path"].exists() else ""


def half_added(a, seen):
    held = seen.arguments["vectorstore"]
    if hasattr(held, "index_to_docstore_id") and held.index.ntotal != len(held.index_to_docstore_id):
        return "refused, and half of it was added"
    return ""


# What must not be there after a refusal.
AFTER_REFUSAL = {"save_run": half_a_file, "save_qrels": half_a_file, "add_documents": half_added}
