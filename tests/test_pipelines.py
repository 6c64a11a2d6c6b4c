"""Pipelines with a fault: `diagnose` finds each, and an unknown one is refused."""

from random import Random

import pytest

from rageval_kit import diagnose
from rageval_kit.exercises.pipelines import broken, made_up
from rageval_kit.exercises.session_14 import first_steps


def test_diagnose_finds_the_faults_that_the_exercise_asks_for():
    all_qa, pipelines = made_up(Random(1))
    found = {name: diagnose(all_qa, *given) for name, given in pipelines.items()}
    first = {name: table.attrs["look_here_first"] for name, table in found.items()}
    assert first == first_steps(all_qa, pipelines)
    assert len(set(first.values())) == 4


def test_an_unknown_pipeline_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="No pipeline is called 'elm'; there are: ash, birch, ced"):
        broken("elm", [], [], None)
