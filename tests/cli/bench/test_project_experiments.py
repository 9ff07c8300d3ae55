"""Experiments in a project's own folder run and are listed by name, without a word about where they are."""

from __future__ import annotations

import pytest

from ...command import Bench

EXPERIMENT = '''
from agentdyno import Experiment, register_experiment


@register_experiment("counting")
class Counting(Experiment):
    """Counts to a number."""

    def __init__(self, to: int = 10) -> None:
        super().__init__({"to": to})

    def execute_once(self, context):
        return {"sum": sum(range(self.params["to"]))}
'''


@pytest.fixture
def project(bench: Bench) -> Bench:
    bench.write("experiments/counting.py", EXPERIMENT)
    return bench


def test_it_is_listed_with_what_it_does_and_takes(project: Bench) -> None:
    found = {item["name"]: item for item in project.dyno("list", "experiments", "--json").json}
    assert found["counting"]["description"] == "Counts to a number."
    assert found["counting"]["origin"] == "experiments/counting.py"
    assert [item["name"] for item in found["counting"]["parameters"]] == ["to"]


def test_it_runs_by_its_name(project: Bench) -> None:
    done = project.dyno("run", "counting", "-p", "to=5", "--iterations", "2", "--json")
    assert done.code == 0, done.err
    (arm,) = done.json["arms"]
    assert arm["metrics"]["result.sum"]["median"] == 10


def test_a_file_elsewhere_is_named_in_dyno_yaml(project: Bench) -> None:
    project.write("other/more.py", EXPERIMENT.replace('"counting"', '"elsewhere"'))
    project.write("dyno.yaml", "imports: [other/*.py]\n")
    assert project.dyno("run", "elsewhere", "--iterations", "2").code == 0
    assert project.dyno("run", "counting", "--iterations", "2").code == 0


def test_a_name_that_is_nearly_right_names_the_nearest(project: Bench) -> None:
    done = project.dyno("run", "countin", "--iterations", "2")
    assert done.code == 2
    assert "Did you mean counting?" in done.err


def test_a_spec_in_a_folder_below_finds_what_the_project_registers(project: Bench) -> None:
    project.write("specs/deep/counting.yaml", "experiment: counting\nparams: {to: 5}\niterations: 2\n")
    done = project.dyno("run", "specs/deep/counting.yaml")
    assert done.code == 0, done.err


INSTRUMENT = """
from contextlib import contextmanager

from agentdyno import register_instrument


@register_instrument("wheel")
@contextmanager
def turning(context):
    yield
    context["turns"] = 3
"""


@pytest.mark.parametrize(("place", "workspace"), [("experiments/wheel.py", ""), ("watching.py", "[watching.py]")])
def test_an_instrument_of_the_project_is_used_by_its_name(project: Bench, place: str, workspace: str) -> None:
    project.write(place, INSTRUMENT)
    if workspace:
        project.write("dyno.yaml", f"imports: {workspace}\n")
    done = project.dyno("run", "counting", "--iterations", "2", "--instrument", "wheel", "--json")
    assert done.code == 0, done.err
    assert done.json["arms"][0]["metrics"]["wheel.turns"]["median"] == 3
    assert "wheel" in {item["name"] for item in project.dyno("list", "instruments", "--json").json}
    wrong = project.dyno("run", "counting", "--iterations", "2", "--instrument", "weel")
    assert wrong.code == 2
    assert "Did you mean wheel?" in wrong.err
