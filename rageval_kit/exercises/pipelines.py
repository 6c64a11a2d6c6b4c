"""Broken pipelines, to be diagnosed from what they give: whoever is to find a fault reads no more.

`broken` breaks a search of real documents in one place, for the lecture; `made_up` draws small ones
for the exercises, with ranks in place of a search.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from langchain_core.language_models import FakeListChatModel

from rageval_kit.answers import ExtractiveAnswerer, generate_answers
from rageval_kit.documents import Record
from rageval_kit.embeddings import load_embeddings
from rageval_kit.fusion import fuse
from rageval_kit.lexical import build_bm25
from rageval_kit.messages import shown
from rageval_kit.rankings import Hit, ResultsLike
from rageval_kit.search import search_all
from rageval_kit.vectorstore import build_vectorstore
from rageval_kit.wording import current_language

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_DEPTH = 20
_DEEP = 50


class Pipeline(NamedTuple):
    """What is seen of a pipeline: what it found, 20 deep, and what it answered."""

    results: Mapping[str, list[Hit]]
    answers: Any  # a table, or a dict of texts


# ---------------------------------------------------------------- of the lecture


def broken(
    name: str, docs: Sequence[Record], all_qa: Sequence[Record], embeddings: "Embeddings"
) -> Pipeline:
    """Search the documents and answer the questions as the pipeline of a name does.

    Args:
        name: ``"ash"``, ``"birch"`` or ``"cedar"``; each is broken in one place.
        docs, all_qa: what it searches, and what it is asked.
        embeddings: of a sound search.

    Raises:
        ValueError: there is no such pipeline.
    """
    if name not in _BREAK:
        raise ValueError(f"No pipeline is called {shown(name)}; there are: {', '.join(_BREAK)}.")
    return _BREAK[name](docs, all_qa, embeddings)


def _ash(docs: Any, all_qa: Any, embeddings: Any) -> Pipeline:
    """Lose the order: sort the hits by title, as for a page."""
    found = search_all(build_vectorstore(docs, embeddings), all_qa, k=_DEPTH)
    by_title = {
        query_id: _as_listed(sorted(hits, key=lambda hit: str(hit["title"])))
        for query_id, hits in found.items()
    }
    return Pipeline(by_title, _copied(all_qa, by_title))


def _birch(docs: Any, all_qa: Any, embeddings: Any) -> Pipeline:
    """Invent the answers, on top of a search that knows the judgements."""
    found = search_all(build_vectorstore(docs, embeddings), all_qa, k=_DEEP)
    best_first = {}
    for qa in all_qa:
        grades, hits = qa["relevant_doc_ids"], found[qa["query_id"]]
        grade_of = {hit["doc_id"]: grades.get(hit["doc_id"], 0) for hit in hits}
        ordered = sorted(hits, key=lambda hit: grade_of[hit["doc_id"]], reverse=True)
        best_first[qa["query_id"]] = _as_listed(ordered)

    careless = FakeListChatModel(responses=_CARELESS[current_language()])
    return Pipeline(best_first, generate_answers(careless, all_qa, best_first, k=5))


# What says nothing of the documents, in the language of the course.
_CARELESS = {
    "en": [
        "Sure, that is no problem at all. Just call whenever it suits you.",
        "Nowadays most people simply tap a few buttons on their phone, and it is free.",
        "Sorry, that has been forbidden for decades and will hardly change soon.",
        "It normally takes two or three weeks, so ask a friendly assistant for help.",
    ],
    "ko": [
        "네, 됩니다. 걱정 마시고 편하신 때에 전화 한 통만 주세요.",
        "요즘은 대부분 앱에서 몇 번 누르면 금방 끝나고 돈도 들지 않습니다.",
        "아쉽지만 예전부터 금지되어 있어 어렵고, 내년에나 바뀔 듯합니다.",
        "보통 두세 주 걸리니 친절한 조교에게 부탁하는 편이 빠릅니다.",
    ],
}


def _cedar(docs: Any, all_qa: Any, embeddings: Any) -> Pipeline:
    """Search a poor pool: compare only words and letters, which no translation shares."""
    by_letters = search_all(build_vectorstore(docs, load_embeddings("chars")), all_qa, k=_DEEP)
    with warnings.catch_warnings():  # that few documents share a word is the fault
        warnings.simplefilter("ignore")
        by_words = search_all(build_bm25(docs), all_qa, k=_DEEP)
    found = fuse({"letters": by_letters, "words": by_words}, k=_DEPTH)
    return Pipeline(found, _copied(all_qa, found))


_BREAK = {"ash": _ash, "birch": _birch, "cedar": _cedar}


def _as_listed(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits as a page shows them: without scores, which would tell their order."""
    fields = ("doc_id", "title", "content")
    return [{field: hit[field] for field in fields} for hit in hits[:_DEPTH]]


def _copied(all_qa: Any, results: ResultsLike) -> pd.DataFrame:
    return generate_answers(ExtractiveAnswerer(load_embeddings("chars")), all_qa, results, k=5)


# ---------------------------------------------------------------- of the exercises

TREES = ("elm", "fir", "oak", "yew")
_QUERIES = 30


def made_up(random: Random) -> tuple[list[dict[str, Any]], dict[str, Pipeline]]:
    """Return questions, and four pipelines that are asked them, each with a fault of its own."""
    all_qa = [
        {
            "query_id": f"q{number:02}",
            "question": f"What is the fee of office {number:02}?",
            "relevant_doc_ids": [f"d{number:02}"],
            "ground_truth": f"{number + 10} dollars, to be paid at the counter before noon",
        }
        for number in range(_QUERIES)
    ]
    faults = random.sample(sorted(_RANKS), len(TREES))
    pipelines = {
        tree: _made_up(random, all_qa, fault) for tree, fault in zip(TREES, faults, strict=True)
    }
    return all_qa, pipelines


# By the fault: from the number of a query to the rank of its document; 0 if it is not found.
_RANKS: dict[str, Callable[[Random, int], int]] = {
    "pool": lambda random, number: 0 if number % 3 == 0 else random.randint(1, 2),
    "order": lambda random, number: random.randint(1, 3) if number % 2 else random.randint(8, 20),
    "first hit": lambda random, number: random.randint(3, 8),
    "failures": lambda random, number: 0 if number % 7 == 0 else 1,
    "answers": lambda random, number: random.randint(1, 2),
}


def _made_up(random: Random, all_qa: Sequence[Record], fault: str) -> Pipeline:
    """Return a pipeline with a fault: ranks drawn for it, and answers that copy or invent."""
    results, answers = {}, {}
    for number, qa in enumerate(all_qa):
        # Documents at random, and the relevant one at its rank.
        doc_ids = [f"x{other:02}" for other in random.sample(range(100), _DEPTH)]
        rank = _RANKS[fault](random, number)
        if rank:
            doc_ids[rank - 1] = qa["relevant_doc_ids"][0]
        contents = [f"The fee of office {doc_id[1:]} is {doc_id} dollars." for doc_id in doc_ids]
        results[qa["query_id"]] = [
            {"doc_id": doc_id, "title": doc_id, "content": content}
            for doc_id, content in zip(doc_ids, contents, strict=True)
        ]

        copied = contents[max(rank - 1, 0)]
        answers[qa["query_id"]] = "Just ask a friendly assistant." if fault == "answers" else copied
    return Pipeline(results, answers)
