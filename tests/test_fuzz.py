"""A few thousand odd calls of every public name; tests/benchmarks/fuzz.py makes more."""

import copy
import random

import fuzz
import fuzz_expected
import fuzz_inputs
import oracle
import pytest

import rageval_kit

N_CASES = 2_000
N_PARTS = 10  # so that a failure names a part, and a part is soon run again


@pytest.mark.parametrize("part", range(N_PARTS))
def test_an_odd_call_gets_a_right_value_or_a_sentence(part):
    numbers = range(part, N_CASES, N_PARTS)
    faults = [
        f"case {number}: {outcome}\n{a_case}"[:2_000]
        for number, a_case, outcome in fuzz.run(2026, numbers)
        if outcome.is_fault
    ]
    assert not faults, "\n\n".join(faults[:5])


@pytest.mark.parametrize("name", rageval_kit.__all__)
def test_every_public_name_is_called_by_the_fuzzer(name):
    if name in fuzz_inputs.CONSTANTS:
        assert not callable(getattr(rageval_kit, name))
    elif name not in fuzz_inputs.RETURNED:
        assert name in fuzz_expected.EXPECT, f"{name} needs an expectation in fuzz_expected.py"
        for parameter in fuzz_inputs.parameters(name):
            fuzz_inputs.kind_of(name, parameter)


def test_the_fuzzer_knows_no_name_that_is_gone():
    assert {*fuzz_expected.EXPECT, *fuzz_inputs.CONSTANTS, *fuzz_inputs.RETURNED} <= set(
        rageval_kit.__all__
    )


def test_the_same_seed_gives_the_same_calls():
    assert [str(fuzz_inputs.case(7, n)) for n in range(50)] == [
        str(fuzz_inputs.case(7, n)) for n in range(50)
    ]


def test_every_metric_of_the_kit_is_in_the_oracle():
    from rageval_kit.formulas import METRICS

    assert set(METRICS) == set(oracle.METRICS)


# ---------------------------------------------------------------- the judge itself

RIGHT = fuzz_inputs.Case(
    "mrr",
    {
        "all_qa": [{"query_id": "q1", "relevant_doc_ids": ["d1"]}],
        "results": {"q1": [{"doc_id": "d2"}, {"doc_id": "d1"}]},
    },
)


def judged(case):
    with fuzz.workplace():
        return fuzz.judge(case)


def with_argument(**changed):
    return RIGHT._replace(arguments={**copy.deepcopy(RIGHT.arguments), **changed})


def test_a_right_value_passes():
    assert judged(RIGHT).kind == "right"


def test_a_wrong_value_is_a_fault(monkeypatch):
    monkeypatch.setattr(rageval_kit, "mrr", rageval_kit.hit_rate)
    assert judged(RIGHT).kind == "wrong"


def test_a_refusal_of_what_is_right_is_a_fault(monkeypatch):
    monkeypatch.setattr(rageval_kit, "mrr", lambda *_, **__: rageval_kit.mrr_of_nothing())
    monkeypatch.setattr(
        rageval_kit,
        "mrr_of_nothing",
        lambda: rageval_kit.relevance_matrix([], {}, 1),
        raising=False,
    )
    assert judged(RIGHT).kind == "wrong"


def test_a_sentence_of_the_kit_passes():
    assert judged(with_argument(results=None)).kind == "refused"


@pytest.mark.parametrize(
    "error", [KeyError("query_id"), TypeError("no"), IndexError("out of it all.")]
)
def test_what_is_raised_outside_the_kit_is_a_fault(monkeypatch, error):
    def fails(all_qa, results, ks=None, k=None, **policies):
        raise error

    monkeypatch.setattr(rageval_kit, "mrr", fails)
    assert judged(RIGHT).kind == "unexplained"


def test_what_fails_within_the_text_of_a_raise_is_a_fault(tmp_path, monkeypatch):
    module = tmp_path / "module.py"
    module.write_text(
        "def fails(*_):\n    raise ValueError(f'found {None + 1}, which is no number.')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(fuzz, "PACKAGE", str(tmp_path))
    import module as outside

    monkeypatch.setattr(rageval_kit, "mrr", outside.fails)
    assert judged(RIGHT).kind == "unexplained"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("q1: the score is NaN, so the order means nothing. Look at the search.", True),
        ("data.tsv is a Git LFS pointer. Fetch the data with: git lfs pull", True),
        ("query_id", False),
        ("the folder has no folder qrels in it", False),
        ("x" * 5_000 + ".", False),
    ],
)
def test_a_message_is_a_sentence(text, is_one):
    assert fuzz.is_sentence(text) == is_one


# ---------------------------------------------------------------- the oracle, by hand

GRADES = {"A": 3.0, "B": 1.0, "C": 0.0}
POLICIES = {"gain": "linear", "largest_grade": 3.0, "p": 0.8}


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("HitRate", 1), ("RR", 1 / 2), ("Precision", 2 / 4), ("Recall", 2 / 2), ("AP",
        (1 / 2 + 2 / 4) / 2), ("F1", 2 * 0.5 / 1.5), ("Judged", 3 / 4), ("Unique", 4),
        ("R-precision", 1 / 2), ("nDCG",
        (3 / 1.584962500721156 + 1 / 2.321928094887362) / (3 + 1 / 1.584962500721156)), ("ERR",
        7 / 16 / 2 + 9 / 16 * 1 / 16 / 4), ("RBP", 0.2 * (0.8 + 0.8**3)), ],
)  # fmt: skip
def test_the_oracle_agrees_with_what_was_worked_out_by_hand(metric, value):
    numerator, denominator = oracle.METRICS[metric](["X", "A", "C", "B"], GRADES, 4, POLICIES)
    assert numerator / denominator == pytest.approx(value, abs=1e-12)


def test_the_oracle_is_plain_python():
    import ast
    from pathlib import Path

    tree = ast.parse(Path(oracle.__file__).read_text("utf-8"))
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert imported <= {"math", "re", "unicodedata", "collections.abc", "itertools", "typing"}


def test_garbage_is_drawn_from_the_seed_alone():
    assert fuzz_inputs.garbage(random.Random(3)) is fuzz_inputs.garbage(random.Random(3))
