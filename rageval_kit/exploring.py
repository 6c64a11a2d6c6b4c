"""Look at two systems of an experiment side by side, in the notebook, query by query."""

from html import escape
from typing import TYPE_CHECKING, Any

from rageval_kit.documents import Docs, as_docs
from rageval_kit.experiment_table import Experiment, as_experiment
from rageval_kit.judgements import is_relevant
from rageval_kit.messages import missing_extra
from rageval_kit.wording import say, say_count, to_say

if TYPE_CHECKING:
    from ipywidgets import VBox

_LETTERS = 160  # of a document

# Whether the first and the second system found anything relevant, the failed ones first.
_SIDES = {
    (True, False): to_say("lost"),
    (False, True): to_say("won"),
    (False, False): to_say("missed by both"),
    (True, True): to_say("found by both"),
}


def explore(result: Experiment, docs: Docs) -> "VBox":
    """Return a form to look at two systems, query by query: those that changed sides first.

    Choose two systems, k and a kind of query. A query is lost where the first system has a relevant
    document in its first k and the second has none, and won the other way round.

    Args:
        result: of `experiment` or `load_experiment`.
        docs: what was searched; an id that is not in it, such as a chunk's, stands alone.

    Returns:
        An ipywidgets box (the extra widgets), shown as the last line of a cell.

    Raises:
        ImportError: ipywidgets is not installed.
        TypeError, ValueError, KeyError: result is no experiment's, or docs are no documents.
    """
    result, documents = as_experiment(result), as_docs(docs, ("doc_id", "content"))
    return _Explorer(result, {doc["doc_id"]: doc for doc in documents}).box


class _Explorer:
    """The widgets, and what happens when one is used."""

    def __init__(self, result: Experiment, docs: dict[Any, Any]) -> None:
        try:
            import ipywidgets as widgets
        except ImportError as error:
            without = " differences(...) shows two runs without it."
            raise missing_extra("explore", "widgets", error, without) from None
        self._result, self._docs = result, docs
        names, base = list(result.runs), result.record["baseline"]
        first = base if base in names else names[0]
        kinds = sorted({str(qa["kind"]) for qa in result.all_qa if "kind" in qa})

        # What is chosen.
        self.first = widgets.Dropdown(options=names, value=first, description=say("first"))
        second = say("second")
        self.second = widgets.Dropdown(options=names, value=result.best, description=second)
        depth = result.record["depth"]
        self.k = widgets.IntSlider(result.record["k"], 1, depth, description="k")
        self._all = say("all kinds")
        self.kind = widgets.Dropdown(options=[self._all, *kinds], description=say("kind"))

        # What is seen.
        self.said, self.shown = widgets.HTML(), widgets.HTML()
        self.queries = widgets.Select(rows=10, layout={"width": "100%"})
        for choice in (self.first, self.second, self.k, self.kind):
            choice.observe(lambda _: self._list(), names="value")
        self.queries.observe(lambda _: self._show(), names="value")
        row = widgets.HBox([self.first, self.second, self.k, self.kind])
        row.layout.flex_flow = "row wrap"
        self.box = widgets.VBox([row, self.said, self.queries, self.shown])
        self._list()

    def _list(self) -> None:
        """List the queries of the chosen kind, those that changed sides first."""
        chosen = [
            qa for qa in self._result.all_qa if self.kind.value in (self._all, str(qa.get("kind")))
        ]
        sides = {qa["query_id"]: self._side(qa) for qa in chosen if _relevant(qa)}
        order = list(_SIDES.values())
        ranked = sorted(sides, key=lambda query_id: order.index(sides[query_id]))

        # How many there are of each, and the list.
        found = list(sides.values())
        numbers = [say("{n:,} {side}", n=found.count(side), side=say(side)) for side in order]
        self.said.value = escape(f"{say_count(len(sides), 'query')}: {', '.join(numbers)}")
        questions = {qa["query_id"]: str(qa.get("question", "")) for qa in chosen}
        options = [(f"{say(sides[q])}: {q} {questions[q]}", q) for q in ranked]
        self.queries.options = options
        self.queries.value = ranked[0] if ranked else None
        self._show()

    def _side(self, qa: dict[str, Any]) -> str:
        found = []
        for name in (self.first.value, self.second.value):
            hits = self._result.runs[name][qa["query_id"]][: self.k.value]
            found.append(any(hit["doc_id"] in _relevant(qa) for hit in hits))
        return _SIDES[found[0], found[1]]

    def _show(self) -> None:
        """Show both rankings of the chosen query; texts are shown as they are, nothing is HTML."""
        qa = next((q for q in self._result.all_qa if q["query_id"] == self.queries.value), None)
        if qa is None:
            self.shown.value = f"<p>{say('No query.')}</p>"
            return
        names = (self.first.value, self.second.value)
        columns = "".join(f"<td>{self._ranking(name, qa)}</td>" for name in names)
        relevant = say("relevant: {docs}", docs=", ".join(sorted(set(map(str, _relevant(qa))))))
        header = f"<h4>{escape(str(qa.get('question', qa['query_id'])))}</h4>"
        wanted = f"<p>{escape(relevant)}</p>"
        table = f'<table style="vertical-align: top"><tr>{columns}</tr></table>'
        self.shown.value = f'<div class="tex2jax_ignore">{header}{wanted}{table}</div>'

    def _ranking(self, name: str, qa: dict[str, Any]) -> str:
        """Return a ranking with a star before what is relevant, and the beginning of each text."""
        lines = [f"<b>{escape(name)}</b>"]
        hits = self._result.runs[name][qa["query_id"]][: self.k.value]
        for rank, hit in enumerate(hits, start=1):
            doc_id, doc = hit["doc_id"], self._docs.get(hit["doc_id"], {})
            star = "★ " if doc_id in _relevant(qa) else ""
            grade = qa["relevant_doc_ids"].get(doc_id)
            judged = say("not judged") if grade is None else say("grade {grade:g}", grade=grade)
            text = f"{doc.get('title', '')} {str(doc.get('content', ''))[:_LETTERS]}"
            lines.append(escape(f"{star}{rank}. {doc_id} ({judged}) {text}"))
        return "<br>".join(lines)


def _relevant(qa: dict[str, Any]) -> set[Any]:
    return {doc_id for doc_id, grade in qa["relevant_doc_ids"].items() if is_relevant(grade)}
