"""``dyno compare`` where something else than results is named: it says what to type."""

from __future__ import annotations

import pytest

from agentdyno import compare_agents
from agentdyno.findings.duel.model import Duel

from ...command import Bench


@pytest.mark.parametrize(
    ("operands", "typed"),
    [
        (("a.py@f", "b.py@g"), "dyno run a.py@f --against b.py@g"),
        (("a.py", "last"), "dyno run a.py --against last"),
        (("sleep 0.1", "sleep 0.2"), "dyno time 'sleep 0.1' 'sleep 0.2'"),
        (("last:n=1",), "last:n=1 is one arm; name a second one: dyno compare RUN:ARM RUN:ARM"),
    ],
)
def test_what_was_not_measured_is_answered_with_what_measures_it(
    operands: tuple[str, ...], typed: str, bench: Bench
) -> None:
    done = bench.dyno("compare", *operands)
    assert done.code == 2
    assert typed in " ".join(done.err.split())


SUITE = """
name: Both
scorer: exact
epochs: 1
warmup: 0
benchmarks:
  - {name: letters, dataset: [{id: a, input: a, target: a}, {id: b, input: b, target: b}]}
  - {name: numbers, dataset: [{id: one, input: "1", target: "1"}]}
"""
AGENTS = """
def echo(text):
    return text
def letters(text):
    return text if text.isalpha() else "?"
def silent(text):
    return ""
"""


@pytest.fixture
def ran(loaded_bench: Bench) -> Bench:
    loaded_bench.write("suite.yaml", SUITE)
    loaded_bench.write("agents.py", AGENTS)
    agents = [word for name in ("echo", "letters", "silent") for word in ("--agent", f"agents.py@{name}")]
    assert loaded_bench.dyno("run", "suite.yaml", *agents).code == 0
    return loaded_bench


def test_agents_of_a_run_are_compared_by_their_answers(ran: Bench) -> None:
    found = ran.dyno("compare", "last:letters", "last:echo", "--json").json
    accuracy = next(row for row in found["rows"] if row["metric"] == "accuracy")
    assert (accuracy["baseline"], accuracy["candidate"], accuracy["cases"]) == (pytest.approx(2 / 3), 1.0, 3)
    assert found["flips"]["fixed"] == [{"benchmark": "numbers", "case_id": "one"}]


def test_an_arm_of_an_agent_is_compared_on_its_benchmark(ran: Bench) -> None:
    found = ran.dyno("compare", "last:letters · silent", "last:letters · echo", "--json").json
    accuracy = next(row for row in found["rows"] if row["metric"] == "accuracy")
    assert (accuracy["baseline"], accuracy["candidate"], accuracy["cases"]) == (0.0, 1.0, 2)


def test_three_agents_of_runs_meet_all_against_all(ran: Bench) -> None:
    done = ran.dyno("compare", "last:silent", "last:letters", "last:echo")
    assert done.code == 0, done.err
    assert "All against all" in done.out


def test_an_agent_that_a_run_has_not_is_answered_with_those_it_has(ran: Bench) -> None:
    unknown = ran.dyno("compare", "last:eco", "last:echo")
    assert (unknown.code, "Did you mean echo" in unknown.err) == (3, True)
    whole = ran.dyno("compare", "last", "last:echo")
    assert whole.code == 3
    assert "last has 3 agents" in whole.err


def test_python_compares_agents_of_runs_as_the_command_does(ran: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ran.folder)
    found = compare_agents("last:letters", "last:echo", store=ran.folder / ".dyno" / "dyno.db")
    assert isinstance(found, Duel)
    assert [key.case_id for key in found.flips.fixed] == ["one"]
