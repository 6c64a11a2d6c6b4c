"""Odd input for every public name: what a student, a file or a merge gets wrong.

`case(seed, number)` makes one call: mostly a right one with one or two oddities, so that deep code
is reached, now and then pure garbage or swapped arguments. A parameter is made by its name:
``KINDS`` says how, so that a new public function is called as soon as it is in ``__all__``. What
must be made anew for every call (an iterator, a store, a file) is a recipe (`Lazy`).
"""

import contextlib
import copy
import functools
import hashlib
import inspect
import io
import itertools
import json
import math
import random
import tempfile
import types
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oracle
import pandas as pd
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from oracle import Unknown

import rageval_kit

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
        return view(value) if value.make.__name__ == "results" else object()
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
    """Return `Results` as search_all gives them, and as they come out of copying, merging, ..."""
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
        found = self.embed_documents([text])
        return found[0] if isinstance(found, (list, np.ndarray)) and len(found) else found

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
    """Return a FAISS store of these documents, built without the kit; its model may then fail."""
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
    return f"{' '.join(doc['title'].split())}\n{doc['content']}".strip()


@functools.cache
def faiss_store():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_community.vectorstores.faiss import FAISS
    return FAISS


@lazy
def splitter(pieces):
    """Return an object that splits every text into these pieces."""
    return types.SimpleNamespace(split_text=lambda text: pieces)


@lazy
def anonymous_store(docs):
    """Return a FAISS store that LangChain made without doc_ids."""
    return faiss_store().from_texts([doc["content"] for doc in docs], Hashed())


@lazy
def langchain_store(docs):
    """Return a FAISS store with the doc_id in the metadata only; the ids are LangChain's own."""
    return faiss_store().from_documents(
        [Document(page_content=doc["content"], metadata={"doc_id": doc["doc_id"]}) for doc in docs],
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


@lazy
def word_store(docs):
    """Return the kit's BM25 of these documents, by words between blanks."""
    return rageval_kit.build_bm25(docs, "words")


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
        if spoiled and path.name.startswith(spoiled):
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


def all_texts(values):
    return all(isinstance(value, str) for value in values)


def all_scored_alike(hits):
    if not all(type(ranking) is list for ranking in hits.values()):
        return False
    try:
        scored = {hit.get("score") is None for ranking in hits.values() for hit in ranking}
    except Exception:
        return False
    return len(scored) < 2


def known_results(hits, k, lower_is_better, way="made"):
    if not isinstance(hits, dict):
        raise Unknown("results of something else than a dict")
    if way == "table" and not (all_texts(hits) and all_scored_alike(hits)):
        raise Unknown("a table of what to_frame refuses, or fills up")
    # A table has no row for a query that found nothing.
    seen = Known(
        {query_id: ranking for query_id, ranking in hits.items() if way != "table" or ranking}
    )
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
    "{letter}{number}" + "x" * 100,
)


class World:
    """A corpus, its queries, a ranking of each, and answers: what the arguments share."""

    def __init__(self, r):
        doc_form, query_form = r.choice(ID_FORMS), r.choice(ID_FORMS)
        self.doc_ids = [
            doc_form.format(letter="d", number=n) for n in range(1, r.randint(1, 8) + 1)
        ]
        self.query_ids = [
            query_form.format(letter="q", number=n) for n in range(1, r.randint(1, 6) + 1)
        ]
        graded = r.random() < 0.4
        self.docs = [
            {
                "doc_id": doc_id,
                "title": r.choice(("", "RAG", f"제목 {number}", "Fees")),
                "content": " ".join(r.choices(SENTENCES, k=r.randint(1, 3)))
                + r.choice(("", f" {number}.")),
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
    "", " ", "\n", "\0", "a\0b", "\ud83d", "é", unicodedata.normalize("NFD", "é"), "😀",
    "日本語の文。二つ目。", "Größe", "x" * 20_000, "$5 and $10 <b>", "\u2028", "\ufeffq1", "a\tb", "a b",
    "q1\r\n", "nan", "None", "1", "٣", "d1 ", "D1", "\x85", "['d1', 'd2']", "d1,d2", "=1+1",
    "$\\frac$", "\x1b[2J",
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
    None, None, True, False, 0, 1, -1, 2.5, NAN, INF, 10**12, 10**400, "", "text", b"bytes", [],
    {}, (), set(), [None], [[]], ["text"], [{}], {"a": 1}, {None: None}, {1: [1]}, {"q1": None},
    [1, "a"], {1, "a"}, np.array([]), np.array(5), np.array([1, 2]), np.float64(NAN), np.int64(3),
    np.bool_(True), np.str_("d1"), pd.DataFrame(), pd.DataFrame({"a": [1]}), pd.Series([1.0]),
    pd.Series(["a"], index=["q1"]), pd.NA, pd.NaT, ..., echo, nothing, throws, range(3),
    iterator([1]), Path("nowhere"), 1j, Document(page_content="x"), results({}, 1, None),
    pd.Timestamp("2026-01-01"), frozenset({"d1"}),
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
                r.choice(ODD_TEXTS), int(number or 0), np.int64(int(number or 0)),
                unicodedata.normalize("NFD", value), f"{value} ", value.upper(), [value],
                {"id": value}, value.encode("utf-8", "replace"), np.str_(value), value + "\ud83d",
                None, NAN, )
        )  # fmt: skip
    return r.choice(
        (
            NAN, INF, -INF, None, True, str(value), 0, -1, 1e308, 10**400, np.float32(0.5),
            np.int64(3), 0.5, 1023, 2000, "", np.float64(NAN), pd.NA, [value], -0.0, 5e-324,
            np.bool_(False), )
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
        container[odd_value(r, key) if r.random() < 0.3 else r.choice(ODD_TEXTS)] = container.pop(
            key
        )
    elif what < 0.4 and type(container[key]) is list:
        other = r.choice(
            (tuple, set, np.array, str, pd.Series, dict.fromkeys, iterator, lambda v: [v])
        )
        try:
            container[key] = other(container[key])
        except (TypeError, ValueError):
            container[key] = None
    elif what < 0.45 and type(container[key]) is dict:
        container[key] = r.choice(
            (list(container[key]), list(container[key].items()), str(container[key]))
        )
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
        "".join(
            map(str, table[column])
        ).encode()  # pandas cannot even copy a category of half a character
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
        return in_type(
            table, column, r.choice(("category", "string", "str", "Int64", "float", "bool"))
        )
    if what == 11 and pd.api.types.is_numeric_dtype(table[column]):
        table[column] = r.choice(
            (-table[column], table[column] * 2, table[column] + 0.5, table[column] * 0)
        )
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
        return (
            value._replace(arguments=(odd_data(r, w, first), *others))
            if value.make.__name__ in VIEWS
            else garbage(r)
        )
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
            None, 3, True, "", ".", "missing/file.tsv", "a\0b", "\ud83d.tsv", "x" * 5_000,
            b"bytes", Path("nowhere"), Path("."), [], ":memory:", a_file("x.tsv", ""),
            a_file("x.gz", "no gzip"), a_file("x", b"\xff\xfe\x00"), a_file("x.sqlite", "text"),
            a_folder({}), Path("missing/folder/x.gz"), a_file("x", "a b c d e f g h"), )
    )  # fmt: skip


# ---------------------------------------------------------------- the kinds of arguments

METRIC_FUNCTIONS = {
    "hit_rate": "HitRate", "mrr": "RR", "ndcg": "nDCG", "precision": "Precision",
    "recall": "Recall",
}  # fmt: skip


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
    return (
        docs if r.random() < 0.7 else [*docs, w.docs[0]] if r.random() < 0.3 else pd.DataFrame(docs)
    )


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
    if form < 0.85:
        return {qa["query_id"]: grades_of(qa) for qa in w.all_qa}
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


def in_other_form(r, hits):
    """As other tools hand results over; a dict of scores has the order of its scores."""
    write = r.choice(
        (
            lambda ranking: [hit["doc_id"] for hit in ranking],
            lambda ranking: [(hit["doc_id"], hit["score"]) for hit in ranking],
            lambda ranking: {hit["doc_id"]: hit["score"] for hit in ranking},
        )
    )
    return {query_id: write(ranking) for query_id, ranking in hits.items()}


def make_results(r, w):
    hits = {query_id: ranking for query_id, ranking in w.hits.items() if r.random() < 0.95}
    if r.random() < 0.1:
        hits["another query"] = w.ranking(r)
    form = r.random()
    if form < 0.3:
        return hits
    if form < 0.4:
        return {
            query_id: [{"doc_id": hit["doc_id"]} for hit in ranking]
            for query_id, ranking in hits.items()
        }
    if form < 0.65:
        return results(hits, w.k, w.lower_is_better, r.choice(WAYS))
    if form < 0.75:
        return in_other_form(r, hits)
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
        return {
            q: {hit["doc_id"]: hit.get("score", 1.0) for hit in ranking}
            for q, ranking in value.items()
        }
    return odd_data(r, w, value)


def make_answers(r, w):
    if r.random() < 0.6:
        return w.answers
    table = pd.DataFrame(
        {"answer": list(w.answers.values())}, index=pd.Index(list(w.answers), name="query_id")
    )
    if r.random() < 0.6:
        table["doc_ids"] = [
            [hit["doc_id"] for hit in w.hits[query_id][:3]] for query_id in w.answers
        ]
    return table


def make_runs(r, w):
    runs = {}
    for name in r.choice((("old", "new"), ("old", "new"), ("old", "new", "third"))):
        hits = {query_id: r.sample(ranking, len(ranking)) for query_id, ranking in w.hits.items()}
        plain = {q: [{"doc_id": hit["doc_id"]} for hit in ranking] for q, ranking in hits.items()}
        runs[name] = plain if r.random() < 0.7 else results(plain, w.k, None)
    return runs


def make_both_kinds(r, w):
    """Return all_qa with a query that has relevant documents and, if there are two, one without."""
    queries = [dict(qa) for qa in w.all_qa]
    queries[0]["relevant_doc_ids"] = w.doc_ids[:1]
    queries[-1]["relevant_doc_ids"] = []
    return queries if r.random() < 0.7 else pd.DataFrame(queries)


def make_scored_results(r, w):
    hits = {
        query_id: ranking or [{"doc_id": w.doc_ids[0], "score": 1.0}]
        for query_id, ranking in w.hits.items()
    }
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
    0, -1, True, 2.5, "3", "5", None, NAN, 3.0, 10**6, 10**12, 10**30, b"\x05", (), [],
    np.array(5), np.array([1, 3]), range(1, 4), range(0), np.int64(0), np.bool_(True), [1, True],
    [1, None], (3, 1, 3), {1, 3}, {"k": 5}, np.array([1.0]), [[1]], "nDCG", np.float64(5), (0,),
    (1, 10**6), iterator([1, 2]), pd.Series([1, 3]),
)  # fmt: skip


def odd_k(r, w, value):
    return r.choice(ODD_KS) if r.random() < 0.85 else garbage(r)


def make_ks(r, w):
    return r.choice(
        (5, (1, 3, 5), [1, 10], range(1, 4), np.array([1, 5]), (w.k,), np.int64(2), (20, 1))
    )


def two_found(matrix):
    found = np.cumsum(matrix.hits, axis=1)
    return (found >= 2).astype(float), 1.0


def only_an_array(matrix):
    return matrix.gains


def wrong_shape(matrix):
    return np.zeros(3), 1.0


NAMES = (
    "HitRate",
    "RR",
    "nDCG",
    "Precision",
    "Recall",
    "AP",
    "F1",
    "Judged",
    "Unique",
    "MRR",
    "MAP",
    "R-precision",
)
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
            "nDCG@", "nDCG@0", "nDCG@-1", "nDCG@2.5", "nDCG@x", "ndcg", "nDCG@٣", "P@5", "foo", "",
            "@", "@5", "R-precision@5", "RBP(p=2)@10", "RBP(p=x)", "RBP(p=0.5)", "RBP", "ERR@10",
            "nDCG@5@3", "nDCG@1000000", "nDCG@1000000000000", " nDCG", None, 5, two_found,
            only_an_array, wrong_shape, nothing, throws, echo, lambda matrix: (matrix.hits * 1.0,
            1.0), ["nDCG"], b"nDCG", "HitRate@1e3", )
    )  # fmt: skip


def make_metrics(r, w):
    return [make_metric(r, w) for _ in range(r.randint(1, 4))]


def odd_metrics(r, w, value):
    what = r.random()
    if what < 0.7:
        return [*value, odd_metric(r, w, None)] if isinstance(value, list) else value
    return r.choice(
        (odd_metric(r, w, None), (), tuple(value), iterator(value), {"nDCG"}, garbage(r))
    )


def choice_of(*values):
    return lambda r, w: r.choice(values)


def make_summary(r, w):
    ks = r.choice(([1, 3, 5], [1], ["1", "3"], [5, 3, 1]))
    names = r.sample(("HitRate", "MRR", "nDCG", "Precision", "Recall", "MAP"), r.randint(1, 4))
    return pd.DataFrame(
        {k: [round(r.random() * (1.2 if r.random() < 0.1 else 1), 2) for _ in names] for k in ks},
        index=names,
    )


def odd_summary(r, w, value):
    if not isinstance(value, pd.DataFrame) or r.random() < 0.3:
        return garbage(r)
    if r.random() < 0.5:
        return odd_frame(r, value)
    return value.rename(
        index=r.choice(
            (
                str.lower,
                {"HitRate": "Hit Rate"},
                {value.index[0]: None},
                {value.index[0]: value.index[-1]},
            )
        ),
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
    return str(hit["doc_id"])[:1]


def to_nothing(hit):
    return None


def make_source_of(r, w):
    sources = {doc_id: f"s{number // 2}" for number, doc_id in enumerate(w.doc_ids)}
    return r.choice((sources, {}, dict(list(sources.items())[:2]), by_field))


def odd_source_of(r, w, value):
    return r.choice(
        (
            None,
            to_nothing,
            throws,
            garbage(r),
            odd_data(r, w, value),
            {w.doc_ids[0]: None},
            "s1",
            length,
        )
    )


def make_store(r, w):
    form = r.random()
    if form < 0.75:
        return store(w.docs, "")
    if form < 0.85:
        return langchain_store(w.docs) if form < 0.8 else word_store(w.docs)
    return memory_store(w.docs, True) if form < 0.95 else retriever(w.docs, w.k)


def make_faiss(r, w):
    return store(w.docs, "") if r.random() < 0.9 else langchain_store(w.docs)


def odd_store(r, w, value):
    return r.choice(
        (
            store(w.docs, r.choice(list(FAULTS))), store(w.docs, r.choice(list(FAULTS))),
            store(w.docs[:1], ""), anonymous_store(w.docs), emptied_store(w.docs),
            memory_store(w.docs, False), memory_store([], True),
            odd_model([Document(page_content="x", metadata={"doc_id": 1})]), odd_model(None),
            odd_model(["text"]), odd_model("throws"), embeddings(""), retriever(w.docs, 1),
            "vectorstore", garbage(r), )
    )  # fmt: skip


def odd_embeddings(r, w, value):
    return r.choice((embeddings(r.choice(list(FAULTS))), store(w.docs, ""), "chars", garbage(r)))


def make_model(r, w):
    return r.choice(
        (
            extractive(""),
            chat_model(["An answer.", "모르겠습니다."]),
            odd_model("An answer."),
            llm(["x"]),
        )
    )


def odd_model_argument(r, w, value):
    return r.choice(
        (
            odd_model(None), odd_model(5), odd_model(["x"]), odd_model("throws"),
            odd_model(Document(page_content="x")), extractive(r.choice(list(FAULTS))),
            embeddings(""), "gpt-4o", chat_model(["", "\ud83d"]), odd_model(""), garbage(r),
        )
    )  # fmt: skip


VERDICTS = ("correct", "partly", "wrong")


def make_judge(r, w):
    return chat_model(
        [
            json.dumps({"verdict": r.choice(VERDICTS), "reason": "so"})
            for _ in range(r.randint(1, 3))
        ]
    )


def odd_judge(r, w, value):
    replies = (
        "no JSON", "", "{", '{"verdict": "right"}', '{"verdict": ["correct"], "reason": "x"}',
        "[]", "null", '{"verdict": "correct"}',
        '```json\n{"verdict": "wrong", "reason": "r"}\n```', "[" * 2_000, '"correct"',
        '{"verdict": {"a": 1}, "reason": "x"}', '{"verdict": "correct", "reason": 5}', "\ud83d",
        "9" * 5_000,
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
    return (
        odd_frame(r, value) if isinstance(value, pd.DataFrame) and r.random() < 0.8 else garbage(r)
    )


# ---------------------------------------------------------------- a pool, and its judges


def make_pool(r, w):
    rows = [(qa["query_id"], qa["question"], r.choice(w.docs)["doc_id"]) for qa in w.all_qa]
    return pd.DataFrame(rows[: r.randint(0, len(rows))], columns=["query_id", "question", "doc_id"])


def make_judged(r, w):
    pool = make_pool(r, w)
    grades = pd.array([r.randint(0, 3) for _ in range(len(pool))], dtype="Int64")
    judged = pool[["query_id", "doc_id"]].assign(grade=grades)
    return judged.assign(judge="anna") if r.random() < 0.5 else judged


def odd_pool(r, w, value):
    return odd_frame(r, value) if r.random() < 0.8 else garbage(r)


def make_judgements(r, w):
    """Return verdicts, or grades of every query and one document."""
    if r.random() < 0.6:
        return make_verdicts(r, w)
    grades = pd.array([r.choice((0, 1, 2, 3, None)) for _ in w.query_ids], dtype="Int64")
    return pd.DataFrame({"query_id": w.query_ids, "doc_id": w.doc_ids[0], "grade": grades})


def make_judged_file(r, w):
    lines = ["query_id,doc_id,grade,judge"]
    lines += [f"{qa['query_id']},{w.doc_ids[0]},{r.choice('0123')},anna" for qa in w.all_qa]
    return a_file("judged.csv", "\n".join(lines).encode("utf-8", "surrogatepass"))


def make_grader(r, w):
    return chat_model([json.dumps({"grade": r.randint(0, 3), "reason": "so"}) for _ in range(2)])


def odd_grader(r, w, value):
    replies = (
        "no JSON", "", '{"grade": 7, "reason": "x"}', '{"grade": "3", "reason": "x"}', "null",
        '{"grade": [3], "reason": "x"}', '{"grade": 3}', '{"grade": 1e999, "reason": "x"}', "[" * 2_000,
        '{"question": 5, "answer": "", "passages": []}', '{"question": "?", "answer": "a", "passages": [5]}',
        '{"question": "?", "answer": "a", "passages": {"a": 1}}', "\ud83d",
    )  # fmt: skip
    if r.random() < 0.6:
        return r.choice((chat_model, llm))(r.choices(replies, k=r.randint(1, 3)))
    return odd_model_argument(r, w, value)


def make_suggester(r, w):
    passage = r.choice(w.docs)["content"]
    said = {"question": "What is it?", "answer": "It.", "passages": r.choice(([passage], []))}
    return chat_model([json.dumps(said)])


def one_token(text):
    return ["한"]


def no_list(text):
    return None


def numbers_for_words(text):
    return [1, 2]


def words_shared(pairs):
    """Score as a reranker does: the words that a question and a text share."""
    return [len(set(question.split()) & set(text.split())) for question, text in pairs]


def odd_scorer(r, w, value):
    return r.choice(
        (
            throws, nothing, length, echo, list, sum, no_list, lambda pairs: [NAN] * len(pairs),
            lambda pairs: ["high"] * len(pairs), lambda pairs: [1.0], chat_model(["1"]),
            odd_model(None), word_store(w.docs), garbage(r),
        )
    )  # fmt: skip


def make_weights(r, w):
    return r.choice((None, {"old": 1, "new": 0.5}, {"old": 0, "new": 2.0, "third": 1}))


def make_sources(r, w):
    return r.choice((SENTENCES[0], [doc["content"] for doc in w.docs], [], ("a", "b")))


def odd_sources(r, w, value):
    return r.choice(
        (w.hits[w.query_ids[0]], w.hits, iterator(["a"]), [None], odd_data(r, w, value), garbage(r))
    )


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
        name: "".join(
            json.dumps(record, ensure_ascii=r.random() < 0.5) + "\n" for record in records
        )
        for name, records in (("corpus.jsonl", w.docs), ("queries.jsonl", w.all_qa))
    }
    return a_folder(r.choice((lines, lines, JSONL, BEIR)))


def make_source(records_of):
    """Return how a source of documents or questions is made: an object, or a file in some form."""

    def make(r, w):
        records = records_of(w)
        lines = [json.dumps(record, ensure_ascii=r.random() < 0.5) for record in records]
        table = pd.DataFrame(records)
        return r.choice(
            (
                records, records, table, iterator(records), a_file("x.jsonl", "\n".join(lines)),
                a_file("x.json", f"[{', '.join(lines)}]"),
                a_file("x.csv", table.to_csv(index=r.random() < 0.3)),
                a_file("x.tsv", table.to_csv(index=False, sep="\t")),
            )
        )  # fmt: skip

    return make


def odd_source(r, w, value):
    if isinstance(value, Lazy) and value.make.__name__ == "a_file":
        return odd_file(r, w, value)
    return odd_data(r, w, value)


def odd_text_of(r, text):
    """Spoil a file's text: characters, lines, bytes."""
    lines = text.split("\n")
    line = r.randrange(len(lines))
    what = r.randrange(9)
    if what == 0:
        return text[: r.randint(0, len(text))]
    if what == 1:
        lines[line] = r.choice(
            ("", "x", "{}", "[]", "null", "5", "NaN", "{" * 2_000, "9" * 5_000, "a b c", "a\tb")
        )
    elif what == 2:
        lines.insert(line, lines[line])
    elif what == 3:
        del lines[line]
    elif what == 4:
        return text.replace("\n", r.choice(("\r\n", "\r", "\u2028", "\n\n")))
    elif what == 5:
        return text.replace(
            r.choice(("\t", " ", '"', ":")), r.choice(("", "  ", "\t", ",")), r.choice((1, -1))
        )
    elif what == 6:
        return "\ufeff" + text
    elif what == 7:
        return r.choice(
            (
                b"",
                b"\xff\xfe",
                text.encode("utf-16", "surrogatepass"),
                text.encode("cp949", "ignore"),
            )
        )
    elif text:
        place = r.randrange(len(text))
        text = text[:place] + r.choice('x5-"{}[]\t\n\0é,.') + text[place + 1 :]
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
        files[r.choice((name, name, name, "other.txt"))] = (
            odd_text_of(r, text) if isinstance(text, str) else text
        )
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
    pairs = [
        (qa["query_id"], doc, grade) for qa in w.all_qa for doc, grade in grades_of(qa).items()
    ]
    pairs = pairs or [("q1", "d1", 1)]
    if r.random() < 0.5:
        return a_file("qrels.txt", "".join(f"{q} 0 {d} {g}\n" for q, d, g in pairs))
    return a_file(
        "q.tsv", "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in pairs)
    )


def make_saved_store(r, w):
    return saved_store(plain_docs(w), "", "")


def plain_docs(w):
    return [doc | {"doc_id": f"d{number}"} for number, doc in enumerate(w.docs)]


def odd_saved_store(r, w, value):
    if r.random() < 0.3:
        return odd_path(r, w, value)
    names = ("index", "documents", "settings")
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
    others = (
        np.ndarray.tolist, lambda a: a[:0], lambda a: np.full_like(a, NAN),
        lambda a: a.astype(str), np.ravel, np.transpose, lambda a: a.astype(int),
        lambda a: a.astype(object), lambda a: a[..., None], lambda a: np.full_like(a, INF),
        lambda a: pd.DataFrame(np.atleast_2d(a)),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        return r.choice(others)(value)


def make_matrix_of_kit(r, w):
    return called("relevance_matrix", {"all_qa": w.all_qa, "results": w.hits, "k": r.randint(1, 5)})


def odd_hits_of_one(r, w, value):
    """Return results in place of the hits of one query, or hits that are spoiled."""
    return r.choice((w.hits, spoil(r, value), spoil(r, value), [], w.docs, garbage(r)))


def make_evaluated(r, w):
    return called(
        "evaluate",
        {"all_qa": w.all_qa, "results": w.hits, "ks": make_ks(r, w), "metrics": make_metrics(r, w)},
    )


def make_compared(r, w):
    hits = {
        name: {q: r.sample(ranking, len(ranking)) for q, ranking in w.hits.items()}
        for name in ("old", "new")
    }
    return called("compare", {"runs": hits, "all_qa": w.all_qa, "k": 3, "resamples": 500})


def make_experiment(r, w):
    systems = {"old": w.hits, "new": {q: r.sample(its, len(its)) for q, its in w.hits.items()}}
    return called("experiment", {"systems": systems, "all_qa": w.all_qa, "k": 3, "timed": 0})


def make_systems(r, w):
    runs = make_runs(r, w)
    if r.random() < 0.3:
        runs["new"] = r.choice((gives(w.hits), make_store(r, w)))
    return runs


@lazy
def gives(hits):
    """Return a function of all_qa."""
    return lambda all_qa: hits


@lazy
def saved_experiment(made, name, data):
    """Return the folder of an experiment; one of its files holds something else where it is named."""
    folder = Path(tempfile.mkdtemp(dir="."))
    with contextlib.suppress(Exception):
        rageval_kit.save_experiment(made, folder)
    if name:
        (folder / name).write_text(data)
    return folder


def odd_saved_experiment(r, w, value):
    if r.random() < 0.3:
        return odd_path(r, w, value)
    data = ("", "[]", "null", "{}", "x", '{"version": 1, "kept": {}, "systems": {}}', "a,b\n1,2\n")
    name = r.choice(("record.json", "table.csv", "queries.jsonl"))
    return saved_experiment(make_experiment(r, w), name, r.choice(data))


def make_compared_queries(r, w):
    hits = {
        name: {q: r.sample(ranking, len(ranking)) for q, ranking in w.hits.items()}
        for name in ("old", "new")
    }
    return called("differences", {"runs": hits, "all_qa": w.all_qa, "k": 3})


def chunks_in(w, size=15):
    """Return the documents cut every so many characters."""
    return [
        {
            "doc_id": f"{doc['doc_id']}#{start // size + 1}",
            "title": doc["title"],
            "content": doc["content"][start : start + size],
            "source_id": doc["doc_id"],
            "start": start,
            "end": min(start + size, len(doc["content"])),
        }
        for doc in w.docs
        for start in range(0, len(doc["content"]), size)
    ]


def make_chunks(r, w):
    return chunks_in(w) if r.random() < 0.8 else pd.DataFrame(chunks_in(w))


def make_chunk_results(r, w):
    """Return hits of the chunks, with their place or without."""
    fields = r.choice((("doc_id",), ("doc_id", "source_id", "start", "end", "content")))
    chunks = [{field: chunk[field] for field in fields} for chunk in chunks_in(w)]
    hits = {
        query_id: r.sample(chunks, min(len(chunks), r.randint(0, 6))) for query_id in w.query_ids
    }
    if r.random() < 0.2:
        rows = [(q, hit["doc_id"], n) for q in hits for n, hit in enumerate(hits[q], start=1)]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    return results(hits, w.k, None) if r.random() < 0.2 else hits


def make_passage_qa(r, w):
    all_qa = [{**qa, "relevant_passages": make_passages(r, w)} for qa in w.all_qa]
    return all_qa if r.random() < 0.8 else pd.DataFrame(all_qa)


def make_passages(r, w):
    found = []
    for doc in r.sample(w.docs, min(len(w.docs), r.randint(0, 2))):
        start = r.randrange(len(doc["content"]))
        end = min(start + r.randint(1, 30), len(doc["content"]))
        text = doc["content"][start:end]
        place = {"start": start, "end": end} if r.random() < 0.5 else {"text": text}
        found.append({"doc_id": doc["doc_id"], **place})
    return found


def odd_splitter(r, w, value):
    return r.choice(
        (splitter(None), splitter(["x"]), splitter([5]), splitter([]), odd_k(r, w, value))
    )


KINDS = {
    "chunks": Kind(make_chunks, odd_data),
    "chunk_results": Kind(make_chunk_results, odd_results),
    "passage_qa": Kind(make_passage_qa, odd_data),
    "coverage": Kind(choice_of(0.5, 1, 0.01, 0.9)),
    "characters": Kind(choice_of(5, 20, 1_000), odd_k),
    "strict": Kind(choice_of(False, True)),
    "splitter": Kind(choice_of(10, 25, 1_000), odd_splitter),
    "by": Kind(choice_of("first", "first", "max", "mean", "sum")),
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
    "times": Kind(choice_of(2, 3), lambda r, w, v: r.choice((0, 1, -1, 2.5, "2", None, True,
    10**30, NAN))), "share": Kind(choice_of(1.0, 0.5, 0.1, 1)),
    "change": Kind(choice_of(None, str.upper, str.lower), lambda r, w, v: r.choice((nothing,
    throws, "x", length, echo))), "rng": Kind(choice_of(0, 3)),
    "answer": Kind(lambda r, w: r.choice(ANSWERS)),
    "sources": Kind(make_sources, odd_sources),
    "tokenizer": Kind(
        lambda r, w: r.choice((str.split, one_token)),
        lambda r, w, v: r.choice((no_list, numbers_for_words, throws, list, echo, garbage(r))),
    ),
    "tokens": Kind(
        choice_of("auto", "auto", "words", str.split, one_token),
        lambda r, w, v: r.choice(
            (no_list, numbers_for_words, throws, list, echo, "english", "", garbage(r))
        ),
    ),
    "scorer": Kind(choice_of(words_shared), odd_scorer),
    "depth": Kind(choice_of(3, 10, 1), odd_k),
    "method": Kind(choice_of("rrf", "rrf", "min_max")),
    "weights": Kind(make_weights, odd_data),
    "missing_queries": Kind(choice_of("error", "empty")),
    "model": Kind(make_model, odd_model_argument),
    "judge": Kind(make_judge, odd_judge),
    "prompt": Kind(choice_of("{question} {context} {ground_truth} {answer}",
    "{a} {question}{context}{answer}{ground_truth}")), "retries": Kind(choice_of(0, 1, 2), odd_k),
    "verdicts": Kind(make_verdicts, odd_verdicts),
    "judgements": Kind(make_judgements, odd_verdicts),
    "pool": Kind(make_pool, odd_pool),
    "judged": Kind(make_judged, odd_pool),
    "judged_file": Kind(make_judged_file, odd_file),
    "sheet": Kind(lambda r, w: new_path(r.choice(("x.csv", "x.csv", "x.xlsx"))), odd_path),
    "log": Kind(lambda r, w: new_path("judged.csv"), odd_path),
    "judge_name": Kind(choice_of("anna", "벤")),
    "relevant_from": Kind(choice_of(1, 2, 3), odd_k),
    "grader": Kind(make_grader, odd_grader),
    "suggester": Kind(make_suggester, odd_grader),
    "n": Kind(choice_of(1, 2), odd_k),
    "kinds": Kind(choice_of(["keyword"], ["unanswerable", "condition"], ["several documents"])),
    "searches": Kind(choice_of(None)),
    "dry_run": Kind(choice_of(False, False, True)),
    "cache": Kind(make_cache, odd_path),
    "content": Kind(choice_of(None, "handbook 2026-11-30")),
    "at_once": Kind(choice_of(8, 1, 2), odd_k),
    "sentences": Kind(choice_of(1, 2), odd_k),
    "dataset_folder": Kind(make_dataset_folder, odd_file),
    "docs_source": Kind(make_source(lambda w: w.docs), odd_source),
    "qa_source": Kind(make_source(lambda w: w.all_qa), odd_source),
    "pairs_source": Kind(
        make_source(
            lambda w: [
                {"question": qa["question"], "positive": w.docs[0]["content"]} for qa in w.all_qa
            ]
        ),
        odd_source,
    ),
    "doc_id": Kind(choice_of(None, None, "doc_id")),
    "content_column": Kind(choice_of(None, None, "content")),
    "question": Kind(choice_of(None, None, "question")),
    "ground_truth": Kind(choice_of(None, None, "ground_truth")),
    "relevance": Kind(choice_of(None, None, None, "relevance")),
    "relevant": Kind(choice_of(None, None, [], "relevant_doc_ids")),
    "column": Kind(choice_of(None)),
    "encoding": Kind(choice_of(None, None, "utf-8", "cp949")),
    "pages": Kind(choice_of(False, True)),
    "near": Kind(choice_of(None, 0.9, 1)),
    "needle": Kind(lambda r, w: r.choice((*SENTENCES, *ODD_TEXTS, "fee", " "))),
    "split": Kind(choice_of(None, "test")),
    "data_name": Kind(choice_of("campus", "lecture", "handbook", "lectures", "..", "/")),
    "data_language": Kind(choice_of(None, "ko", "en", "runs", "fr", "..", "ko/..")),
    "language": Kind(choice_of("en", "ko", "kr", "KO")),
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
            ("", "foo", "char", "openai:x", "openai:", ":x", ":", "nosuch:model", "cohere:x",
            "minilm:", garbage(r)) ),
    ),
    "dimensions": Kind(choice_of(1, 2, 4), odd_k),
    "faiss_index": Kind(
        choice_of("Flat", "Flat", "HNSW8", "SQ8", "IVF1,Flat"),
        lambda r, w, v: r.choice(("", "foo", "IVF999,Flat", "PQ3", "LSH", "IDMap,Flat", garbage(r))),
    ),
    "stores": Kind(
        lambda r, w: {"Flat": store(w.docs, ""), "again": store(w.docs, "")},
        lambda r, w, v: r.choice(
            ({}, {"Flat": w.docs}, {"a": store(w.docs[:1], ""), **v}, [*v.values()], garbage(r))
        ),
    ),
    "cost_model": Kind(
        lambda r, w: r.choice(("openai:text-embedding-3-small", "m", embeddings(""))),
        lambda r, w, v: r.choice(("", " ", w.docs, store(w.docs, ""), garbage(r))),
    ),
    "prices": Kind(
        choice_of(None, {"text-embedding-3-small": 0.02, "m": 0, "Hashed": 3}),
        lambda r, w, v: r.choice(({}, {"m": -1}, {"m": "1"}, {"m": NAN}, {1: 2}, 0.02, garbage(r))),
    ),
    "batch": Kind(choice_of(1, 2, 64)),
    "requests_per_minute": Kind(choice_of(None, 10**6)),
    "score_name": Kind(choice_of(None, "inner product")),
    "lower_is_better": Kind(choice_of(None, True, False)),
    "index": Kind(choice_of(None, "ab12cd34")),
    "searched": Kind(choice_of(0, 1)),
    "changed": Kind(choice_of("", "1 added (d4)")),
    "text": Kind(lambda r, w: r.choice((*ANSWERS, *ODD_TEXTS))),
    "stem": Kind(choice_of("remov", "500", "앱", "fee", "größe", "")),
    "p": Kind(lambda r, w: np.array([round(r.random(), 2) for _ in range(r.randint(1, 5))]),
    odd_array), "values": Kind(make_matrix, odd_array),
    "differences": Kind(make_matrix, odd_array),
    "generator": Kind(lambda r, w: generator(r.randint(0, 5))),
    "effect_size": Kind(choice_of(0.2, -0.5, 1, 3.0)),
    "level": Kind(choice_of(0.05, 0.01)),
    "ax": Kind(lambda r, w: r.choice((None, axes()))),
    "title": Kind(choice_of(None, "A title", "제목", "$5 and $10")),
    "numbers_table": Kind(lambda r, w: pd.DataFrame(
        {name: [r.random() for _ in range(4)] for name in ("a", "b", "가")}, index=list("pqrs")
    )),
    "interval_table": Kind(lambda r, w: pd.DataFrame(
        np.sort([[r.uniform(-1, 1) for _ in range(3)] for _ in range(4)]),
        columns=["difference_low", "difference", "difference_high"],
    )),
    "column_name": Kind(choice_of("a", "b", "가")),
    "some_numbers": Kind(lambda r, w: [r.gauss(0, 1) for _ in range(r.randint(1, 99))]),
    "named_numbers": Kind(lambda r, w: {
        name: [r.random() for _ in range(r.randint(1, 99))] for name in ("near", "먼", "$5")
    }),
    "a_plot": Kind(lambda r, w: axes()),
    "no_or_yes": Kind(choice_of(False, True)),
    "a_number": Kind(lambda r, w: r.choice((0, 0.5, -1))),
    "plot_words": Kind(choice_of("words", "말", "$5")),
    "none": Kind(choice_of(None)),
    "ylabel": Kind(choice_of("mean over queries", "평균")),
    "xlabel": Kind(choice_of("score", "거리")),
    "matrix": Kind(make_matrix_of_kit, lambda r, w, v: r.choice((make_table(r, w), w.hits,
    garbage(r)))), "hits_of_one": Kind(lambda r, w: r.choice(list(w.hits.values())),
    odd_hits_of_one), "relevant_doc_ids": Kind(lambda r, w: r.choice(w.all_qa)["relevant_doc_ids"],
    odd_data), "name_in_table": Kind(choice_of("nDCG@3", "MRR@3", "Recall@3"), odd_metric),
    "evaluated": Kind(make_evaluated, odd_called),
    "compared": Kind(make_compared, odd_called),
    "compared_queries": Kind(make_compared_queries, odd_called),
    "systems": Kind(make_systems, odd_runs),
    "save": Kind(lambda r, w: new_path("monday"), odd_path),
    "one_at_a_time": Kind(choice_of(False, False, True)),
    "timed": Kind(choice_of(0, 1)),
    "cost": Kind(choice_of(None)),
    "result": Kind(make_experiment, odd_called),
    "experiment_folder": Kind(
        lambda r, w: saved_experiment(make_experiment(r, w), "", ""), odd_saved_experiment
    ),
    "kind": Kind(choice_of("difference", "difference", "time", "money", "kind")),
    "questions": Kind(lambda r, w: {qa["query_id"]: qa["question"] for qa in w.all_qa}, odd_data),
    "folded": Kind(lambda r, w: {f"{doc_id}#2": doc_id for doc_id in w.doc_ids}, odd_data),
}  # fmt: skip
# Where a name alone does not say what is meant.
KIND_OF = {
    **{
        (name, parameter): kind
        for name in ("cut_results", "match_passages", "passage_scores", "precision_omega")
        for parameter, kind in (("results", "chunk_results"), ("all_qa", "passage_qa"))
    },
    ("cut_results", "hits"): "k",
    ("abstention_curve", "all_qa"): "all_qa_of_both_kinds",
    ("abstention_curve", "results"): "scored_results",
    ("differences", "runs"): "two_runs",
    ("add_documents", "docs"): "new_docs",
    ("search_all", "vectorstore"): "any_store",
    ("search_folded", "vectorstore"): "any_store",
    ("judge_answers", "model"): "judge",
    ("judge_agreement", "one"): "judgements",
    ("judge_agreement", "other"): "judgements",
    ("judge_relevance", "llm"): "grader",
    ("suggest_questions", "llm"): "suggester",
    ("save_pool", "path"): "sheet",
    ("load_judged", "path"): "judged_file",
    ("judging_form", "path"): "log",
    ("judging_form", "judge"): "judge_name",
    ("score_bounds", "k"): "ks",
    ("pool_to_settle", "runs"): "two_runs",
    ("load_dataset", "source"): "dataset_folder",
    ("load_documents", "source"): "docs_source",
    ("load_documents", "title"): "column",
    ("load_documents", "content"): "content_column",
    ("load_pairs", "content"): "content_column",
    ("load_questions", "source"): "qa_source",
    ("load_questions", "query_id"): "column",
    ("load_pairs", "source"): "pairs_source",
    ("load_pairs", "query_id"): "column",
    ("load_vectorstore", "folder"): "store_folder",
    ("save_vectorstore", "folder"): "new_folder",
    ("save_experiment", "folder"): "new_folder",
    ("load_experiment", "folder"): "experiment_folder",
    ("save_run", "path"): "new_file",
    ("save_run", "name"): "run_name",
    ("save_qrels", "path"): "new_file",
    ("load_run", "path"): "run_file",
    ("load_qrels", "path"): "qrels_file",
    ("load_embeddings", "name"): "model_name",
    ("data_folder", "name"): "data_name",
    ("data_folder", "language"): "data_language",
    ("set_language", "language"): "language",
    ("cached_embeddings", "path"): "new_file",
    ("build_vectorstore", "index"): "faiss_index",
    ("agreement", "exact"): "results",
    ("agreement", "other"): "results",
    ("estimate_cost", "model"): "cost_model",
    ("plot_lines", "table"): "evaluated",
    ("plot_comparison", "table"): "compared",
    ("plot_comparison", "metric"): "name_in_table",
    ("plot_differences", "table"): "compared_queries",
    ("plot_hits", "hits"): "hits_of_one",
    ("plot_lines", "log"): "no_or_yes",
    ("plot_points", "tables"): "numbers_table",
    **{("plot_points", name): "column_name" for name in ("x", "y", "words")},
    ("plot_points", "joined"): "no_or_yes",
    ("plot_points", "curve"): "none",
    ("plot_bars", "table"): "numbers_table",
    ("plot_bars", "axis_label"): "plot_words",
    ("plot_bars", "kinds"): "none",
    ("plot_strip", "groups"): "named_numbers",
    ("plot_resamples", "values"): "some_numbers",
    ("plot_resamples", "seen"): "a_number",
    ("plot_intervals", "table"): "interval_table",
    ("plot_marks", "table"): "numbers_table",
    ("plot_marks", "joined"): "none",
    ("plot_cells", "table"): "numbers_table",
    ("plot_limit", "ax"): "a_plot",
    ("plot_limit", "words"): "plot_words",
    ("plot_limit", "x"): "a_number",
    ("plot_limit", "y"): "a_number",
    ("resampled_means", "rng"): "generator",
    ("randomization_p", "rng"): "generator",
}
# Texts and a dict: there is nothing to call.
CONSTANTS = {
    "ANSWER_PROMPT", "JUDGE_PROMPT", "DEFAULT_THRESHOLDS", "GRADES", "KINDS", "RELEVANCE_PROMPT",
    "SUGGEST_PROMPT",
}  # fmt: skip
# What functions of the kit return, and the type of their policies: nobody makes one by hand, and a
# dataclass or TypedDict looks at nothing. What they can do is tried on those that come back.
RETURNED = {"Experiment", "Explanation", "Finding", "Policies", "Relevance", "Report"}
# How often a name is called, beside once: what is read by many, and what takes long.
WEIGHTS = {
    "per_query": 3, "evaluate": 3, "explain": 2, "check_results": 1.5, "compare": 0.4,
    "diagnose": 0.7, "plot_abstention": 0.1, "plot_comparison": 0.1, "plot_differences": 0.1,
    "plot_hits": 0.1, "plot_lines": 0.1, "plot_points": 0.1, "plot_bars": 0.1, "plot_strip": 0.1,
    "plot_resamples": 0.1, "plot_intervals": 0.1, "plot_marks": 0.1, "plot_cells": 0.1, "plot_limit": 0.1, "plot_experiment": 0.1, "explore": 0.3, "experiment": 0.6,
    "plot_relevance_matrix": 0.1, "load_embeddings": 0.3,
    "save_vectorstore": 0.5, "judging_form": 0.3, "pool_to_settle": 0.5, "load_vectorstore": 0.5, "search_folded": 0.7,
}  # fmt: skip


# What has many places to go wrong in is spoiled more often than a k or a policy.
DATA = {
    "docs", "all_qa", "results", "hits", "answers", "runs", "vectorstore", "summary", "table",
    "failed", "curve", "sources", "text", "values", "differences", "p", "relevant_doc_ids",
    "matrix", "folder", "path", "source", "one", "other", "model", "source_of", "chunks", "pool",
    "judged", "llm", "exact", "stores", "prices", "tokens", "scorer",
}  # fmt: skip


def kind_of(name, parameter):
    """Return the kind of a parameter; KeyError says that fuzz.py has none for it."""
    kind = KIND_OF.get((name, parameter), parameter)
    if kind not in KINDS:
        raise KeyError(f"fuzz_inputs.py has no kind for the parameter {parameter} of {name}.")
    return KINDS[kind]


@functools.cache
def parameters(name):
    """Return {parameter: whether it must be given} of a public name."""
    found = {}
    for parameter in inspect.signature(getattr(rageval_kit, name)).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            settings = ["dimensions"] if name == "load_embeddings" else oracle.CHOICES
            found |= dict.fromkeys(settings, False)
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
