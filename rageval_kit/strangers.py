"""Returned ids that nobody knows, and the rule by which they would be known ones.

A store that cuts documents into chunks, a file name in place of an id, a number that a spreadsheet
read: the search may be right, and yet every score is 0.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rageval_kit.findings import Finding
from rageval_kit.judgements import Judgements
from rageval_kit.messages import shown
from rageval_kit.rankings import Hits
from rageval_kit.wording import say, say_count, to_say

_HARDLY_ANY = 0.05  # of the queries have a hit that is known; of an honest run, far more
_EXPLAINS = 0.2  # of the queries have such a hit by the rule
_SEVERAL = 5  # queries without a known hit, and without a rule, are no accident
_LOOKED_AT = 1_000  # hits, and known ids, on which the rules are tried
_AT_ONCE = 3  # rules, as "kb/doc_1.txt#0" has a path, an extension and a suffix


def _without(pattern: str) -> Callable[[str], str]:
    return lambda doc_id: re.sub(pattern, "", doc_id)


# What one side writes and the other does not.
_RULES: dict[str, Callable[[str], str]] = {
    to_say("decimal point"): _without(r"\.0$"),
    to_say("suffix"): _without(r"(?<=.)[\W_]+(?:(?:chunk|part|page|passage|node|p)[\W_]*)?\d+$"),
    to_say("extension"): _without(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$"),
    to_say("path"): _without(r"^.*[/\\](?=.)"),
    to_say("prefix"): _without(r"^[^\W\d_]++(?:[\W_]++|(?=\d))(?=.)"),
    to_say("leading zeros"): _without(r"^0+(?=\d)"),
    to_say("white space"): lambda doc_id: " ".join(doc_id.split()),
    to_say("case"): str.casefold,
}
# Two ids that are alike without these may be two documents: doc_1 and doc_2 have one prefix.
_ONE_SIDED = ("suffix", "prefix")
_Shortened: TypeAlias = tuple[tuple[str, ...], list[str], list[str]]  # the rules, theirs, ours


class Rule(NamedTuple):
    """How a returned id becomes a known one: what they differ by, and an example of each."""

    name: str
    returned: str
    known: str

    @property
    def what(self) -> str:
        """The rule in words, with its example."""
        differ = say(" and ").join(map(say, self.name.split(" and ")))
        returned, known = shown(self.returned), shown(self.known)
        return say(
            "{returned} and {known} differ in {differ}",
            returned=returned,
            known=known,
            differ=differ,
        )

    @property
    def cure(self) -> str:
        """Fold what are chunks; else the ids must be written alike."""
        if self.name == "suffix" and self.returned.startswith(self.known):
            separator = self.returned[len(self.known) :].rstrip("0123456789")
            source = f'hit["doc_id"].rsplit({separator!r}, 1)[0]'
            return say(
                "Fold chunks to their documents: fold(results, lambda hit: {source}, k)",
                source=source,
            )
        return say("Write ids alike in the documents, the store and all_qa, and search again")


def find_rule(returned: Sequence[Any], rows: np.ndarray, known: Collection[Any]) -> Rule | None:
    """Find the rule by which returned ids become known ones; None if it explains few queries.

    Args:
        returned: ids of hits.
        rows: the query of each.
        known: the ids that they should be among.

    >>> find_rule(["A#0", "A#1", "C#0"], np.array([0, 0, 1]), {"A", "B"})
    Rule(name='suffix', returned='A#0', known='A')
    """
    theirs, ours = list(returned[:_LOOKED_AT]), list(islice(known, _LOOKED_AT))
    if not all(isinstance(doc_id, str) for doc_id in theirs + ours):  # integers have one form
        return None

    # One rule before two; of those, the one that explains most queries.
    tried: list[_Shortened] = [((), theirs, ours)]
    n_queries = len(np.unique(rows[: len(theirs)]))
    for _ in range(_AT_ONCE):
        tried = [longer for before in tried for longer in _shortened_once_more(before)]
        best = max((_explained(theirs, ours, known, one) for one in tried), key=len, default={})
        if best and len({rows[place] for place in best}) >= _EXPLAINS * n_queries:
            return next(iter(best.values()))
    return None


def _shortened_once_more(before: _Shortened) -> Iterator[_Shortened]:
    """Apply one more rule to all ids, in the order of the rules, where it changes any."""
    names, theirs, ours = before
    later = list(_RULES)[list(_RULES).index(names[-1]) + 1 :] if names else list(_RULES)
    for name in later:
        after = [*map(_RULES[name], theirs)], [*map(_RULES[name], ours)]
        if after != (theirs, ours):
            yield (*names, name), *after


def _explained(
    theirs: Sequence[str], ours: Sequence[str], known: Collection[Any], by: _Shortened
) -> dict[int, Rule]:
    """Return by which rule each returned id becomes a known one; left out where it does not."""
    names, shorter, our_shorter = by
    became = dict(zip(our_shorter, ours, strict=True))
    both = not set(names) & set(_ONE_SIDED)

    # Either side may have more than the other.
    rules = {}
    for place, (doc_id, short) in enumerate(zip(theirs, shorter, strict=True)):
        meant = short if short in known else became.get(short if both else doc_id)
        if meant is not None:
            rules[place] = Rule(" and ".join(names), doc_id, meant)
    return rules


def stranger_findings(found: Hits, judged: Judgements, is_judged: np.ndarray) -> Iterator[Finding]:
    """Find results of which no hit, or hardly any, is a document that all_qa knows.

    A bad search finds few relevant documents, and that is no fault of the ids: it is one where a
    rule explains them, or where nothing at all is known over several queries.

    Args:
        found, judged, is_judged: ``found``, ``judgements`` and ``judged`` of the relevance matrix.
    """
    has_judgements = np.isin(found.rows, judged.rows)
    n_queries = len(np.unique(found.rows[has_judgements]))
    if np.count_nonzero(is_judged.any(axis=1)) > _HARDLY_ANY * n_queries or not n_queries:
        return

    # What is judged for another query is known too.
    known = dict.fromkeys(judged.docs.tolist())
    is_known = np.fromiter((doc_id in known for doc_id in found.docs), bool, len(found.docs))
    n_known = len(np.unique(found.rows[is_known]))
    if n_known > _HARDLY_ANY * n_queries:
        return

    # By a rule, or not.
    strange = has_judgements & ~is_known
    rule = find_rule(found.docs[strange].tolist(), found.rows[strange], known)
    if n_known:
        what = say("hardly a hit is a document that all_qa judges for any query")
    else:
        what = say("no hit is a document that all_qa judges for any query")
    if rule:
        yield Finding("error", "ids of another kind", "results", f"{what}: {rule.what}", rule.cure)
    elif not n_known and n_queries >= _SEVERAL:
        cure = say("Were the documents searched under the ids that all_qa has?")
        what += say(
            ", over {queries}: {returned} was returned, {known} is judged",
            queries=say_count(n_queries, "query"),
            returned=shown(found.docs[0]),
            known=shown(judged.docs[0]),
        )
        yield Finding("warning", "ids of another kind", "results", what, cure)
