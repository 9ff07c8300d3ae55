"""What a store and its host know of the noise between runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentdyno.findings.record.ask_spread import ArmSpreads, known_spread
from agentdyno.model import ArmResult, RunResult, RunStatus, Vcs
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, QuantitySpread, RunSpread
from agentdyno.runs.host_state import CalibratedSpread, host_id, keep_spread, read_state
from agentdyno.runs.learning import known_ways, learn_ways
from agentdyno.runs.normalising import interpreter_key
from agentdyno.store import Store
from agentdyno.workbench.importing import save_imported

from ...given_results import Factory
from ...store.builders import ENVIRONMENT, run_id
from ...store.suite_builders import SUITE, arm_of, suite_header
from ..records import record

HOST = "0123456789abcdef"
NOTHING: Mapping[str, float] = {}
BENCHMARKS = [item.benchmark_id for item in SUITE.benchmarks]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("DYNO_STATE", str(tmp_path / "state"))
    with Store.open(tmp_path / "dyno.db") as opened:
        yield opened


class Runs:
    """Stored runs of one agent each, with given medians."""

    def __init__(self, store: Store, make: Factory) -> None:
        self.store, self.make, self.count = store, make, 0
        self.last: RunResult = suite_header()

    def add(
        self,
        agent: str,
        duration_s: float,
        more: Mapping[str, float] = NOTHING,
        *,
        planned: int = 1,
        host: str = HOST,
    ) -> str:
        self.count += 1
        environment = replace(ENVIRONMENT, host_id=host)
        started = replace(suite_header(), run_id=run_id(self.count), environment=environment)
        arms = [arm_of(name, agent) for name in BENCHMARKS]
        self.store.runs.begin(started, arms, {arm.arm_id: planned for arm in arms})
        medians = {"duration_s": duration_s, **more}
        metrics = {name: self.make.summary(name, [value]) for name, value in medians.items()}
        closed = [
            ArmResult(
                arm.arm_id, arm.name, "suite", benchmark=arm.benchmark, agent=agent, planned=planned, metrics=metrics
            )
            for arm in arms
        ]
        self.last = replace(
            started, arms=tuple(closed), status=RunStatus.COMPLETE, finished_at=started.started_at + 1
        )
        self.store.runs.finish(self.last)
        return started.run_id

    def several(self, agent: str, values: Sequence[float]) -> list[str]:
        return [self.add(agent, value) for value in values]


def of_run(agent: str, stored: str) -> AgentRecord:
    """What an agent did in a stored run; only who and where matters here."""
    name, _, version = agent.rpartition("@")
    made = record(version, [], categories=dict.fromkeys(BENCHMARKS, "accuracy"))
    benchmarks = tuple(replace(item, run_id=stored) for item in made.benchmarks)
    return replace(made, agent=agent, name=name, benchmarks=benchmarks)


@pytest.fixture
def stored(store: Store, make: Factory) -> Runs:
    return Runs(store, make)


BEFORE = [1.0, 1.1, 0.9, 1.2, 1.05]


def test_the_agents_own_runs_tell_first(stored: Runs) -> None:
    before = stored.several("quick@1", BEFORE)
    stored.several("other@1", [1.0, 9.0, 3.0, 5.0])
    now = stored.add("quick@2", 1.4)
    spread = known_spread(stored.store, of_run("quick@1", before[-1]), of_run("quick@2", now))
    assert spread.host_id == HOST
    found = spread.quantities["duration_s"]
    assert (found.source, found.degrees, found.baseline_runs, found.candidate_runs) == ("own", 4, 5, 1)
    assert found.log_sd == pytest.approx(np.std(np.log(BEFORE), ddof=1))
    assert math.log(1.4 / 1.05) - found.offset == pytest.approx(math.log(1.4) - np.mean(np.log(BEFORE)))
    assert set(spread.quantities) == {"duration_s"}


def test_without_runs_of_its_own_all_repeated_runs_of_the_host_tell(stored: Runs) -> None:
    stored.several("other@1", [1.0, 1.3, 0.8])
    stored.several("third@1", [5.0, 6.0, 4.0, 5.5])
    before, now = stored.add("quick@1", 1.0), stored.add("quick@2", 1.4)
    found = known_spread(stored.store, of_run("quick@1", before), of_run("quick@2", now)).quantities["duration_s"]
    squares = 2 * np.var(np.log([1.0, 1.3, 0.8]), ddof=1) + 3 * np.var(np.log([5.0, 6.0, 4.0, 5.5]), ddof=1)
    assert (found.source, found.degrees, found.baseline_runs) == ("pooled", 5, 1)
    assert found.log_sd == pytest.approx(math.sqrt(squares / 5))


def test_else_the_calibration_of_the_host_tells(stored: Runs) -> None:
    before, now = stored.add("quick@1", 1.0, {"cpu_s": 0.5}), stored.add("quick@2", 1.4, {"cpu_s": 0.5})
    sides = of_run("quick@1", before), of_run("quick@2", now)
    assert known_spread(stored.store, *sides).quantities == {}
    keep_spread(interpreter_key(), CalibratedSpread({"duration_s": 0.2}, 12, 1))
    assert known_spread(stored.store, *sides).quantities == {}  # this is not the host that they ran on
    here = [stored.add(agent, 1.0, {"cpu_s": 0.5}, host=host_id()) for agent in ("quick@1", "quick@2")]
    sides = of_run("quick@1", here[0]), of_run("quick@2", here[1])
    (found,) = known_spread(stored.store, *sides).quantities.values()
    assert (found.source, found.degrees, found.log_sd) == ("calibrated", 11, 0.2)


def test_hosts_never_mix(stored: Runs) -> None:
    """What another machine measured tells nothing here, however many runs it made of the same agent."""
    for value in BEFORE:
        stored.add("quick@1", value, host="fedcba9876543210")
    before, now = stored.add("quick@1", 1.0), stored.add("quick@2", 1.4)
    assert known_spread(stored.store, of_run("quick@1", before), of_run("quick@2", now)).quantities == {}


def test_two_runs_of_one_version_are_held_against_the_others_of_it(stored: Runs) -> None:
    others = stored.several("quick@1", BEFORE)
    first, second = stored.add("quick@1", 3.0), stored.add("quick@1", 4.0)
    sides = of_run("quick@1", first), of_run("quick@1", second)
    found = known_spread(stored.store, *sides).quantities["duration_s"]
    assert found.log_sd == pytest.approx(np.std(np.log(BEFORE), ddof=1))
    assert found == QuantitySpread(found.log_sd, len(others) - 1, "own")  # one run a side, as they are


def normalised_cpu(value: float) -> dict[str, float]:
    ways = {f"normalised.{way}_cpu_s": value for way in ("interpreted", "memory", "none")}
    return {**normalised(1.0), "cpu_s": 2 * value, "cpu_norm_s": value, **ways}


def test_cpu_time_has_a_spread_of_its_normalised_figure(stored: Runs) -> None:
    before = [stored.add("quick@1", 1.0, normalised_cpu(value)) for value in BEFORE]
    now = stored.add("quick@2", 1.4, normalised_cpu(1.3))
    found = known_spread(stored.store, of_run("quick@1", before[-1]), of_run("quick@2", now)).quantities["cpu_norm_s"]
    assert found.log_sd == pytest.approx(np.std(np.log(BEFORE), ddof=1))
    assert (found.degrees, found.baseline_runs, found.candidate_runs) == (4, 5, 1)


def test_runs_of_another_size_are_not_repeats_of_this_one(stored: Runs) -> None:
    for value in BEFORE:
        stored.add("quick@1", value, planned=7)
    before, now = stored.several("quick@1", [1.0])[0], stored.add("quick@2", 1.4)
    found = known_spread(stored.store, of_run("quick@1", before), of_run("quick@2", now)).quantities["duration_s"]
    assert (found.source, found.baseline_runs) == ("pooled", 1)


def test_nothing_is_known_across_hosts_or_without_one(stored: Runs) -> None:
    before = stored.several("quick@1", BEFORE)[-1]
    for host in ("", "fedcba9876543210"):
        now = stored.add("quick@2", 1.4, host=host)
        assert known_spread(stored.store, of_run("quick@1", before), of_run("quick@2", now)) == UNKNOWN_SPREAD
    assert known_spread(None, of_run("quick@1", before), of_run("quick@2", before)) == UNKNOWN_SPREAD


def normalised(value: float, standard_s: float = 1e-4) -> dict[str, float]:
    return {
        "duration_norm_s": value,
        "normalised.interpreted_s": value,
        "normalised.memory_s": 3.0,
        "normalised.none_s": 3.0,
        "reference.interpreted_standard_s": standard_s,
        "reference.memory_standard_s": 2e-4,
    }


def test_normalised_times_have_a_spread_where_they_rest_on_one_standard(stored: Runs) -> None:
    before = [stored.add("quick@1", value, normalised(1.0)) for value in BEFORE]
    now = stored.add("quick@2", 1.4, normalised(1.3))
    moved = stored.add("quick@3", 1.4, normalised(1.3, 5e-4))
    found = known_spread(stored.store, of_run("quick@1", before[-1]), of_run("quick@2", now)).quantities
    assert found["duration_norm_s"].log_sd == 0.005
    assert found["duration_s"].log_sd == pytest.approx(np.std(np.log(BEFORE), ddof=1))
    across = known_spread(stored.store, of_run("quick@1", before[-1]), of_run("quick@3", moved)).quantities
    assert "duration_norm_s" not in across


def test_what_steadies_a_subject_is_learned_from_its_runs(stored: Runs) -> None:
    arms = [arm_of(BENCHMARKS[0], "quick@9"), arm_of(BENCHMARKS[0], "other@1")]
    for value in (1.0, 1.4, 0.8, 1.3, 0.9):
        stored.add("quick@1", value, normalised(value))
        learn_ways(stored.store, stored.last)
    assert known_ways(arms) == {}
    stored.add("quick@1", 1.2, normalised(1.2))
    learn_ways(stored.store, stored.last)
    assert known_ways(arms) == {arms[0].arm_id: "memory"}
    stored.add("quick@1", 0.7, normalised(0.7))
    learn_ways(stored.store, stored.last)
    assert known_ways(arms) == {arms[0].arm_id: "memory"}


def by_the_usual_way(raw: float, usual: float) -> dict[str, float]:
    """A run in which neither the memory nor the run queue tells anything about the time."""
    return {**normalised(usual), "normalised.memory_s": raw, "normalised.none_s": raw}


def test_times_are_left_as_they_are_no_longer_than_runs_bear_it_out(stored: Runs) -> None:
    """What was learned on a day on which nothing helped gives way when the machine changes its speed."""
    arms = [arm_of(BENCHMARKS[0], "quick@9")]
    for value in (1.0, 1.2, 0.85, 1.15, 0.9, 1.1):
        stored.add("quick@1", value, by_the_usual_way(value, value))
        learn_ways(stored.store, stored.last)
    assert known_ways(arms) == {arms[0].arm_id: "raw"}
    for value in (2.0, 1.9, 2.1, 2.0, 1.0, 2.0):
        told = by_the_usual_way(value, 1.0)
        del told["duration_norm_s"]  # no run keeps it while times are left as they are
        stored.add("quick@1", value, told)
        learn_ways(stored.store, stored.last)
    assert known_ways(arms) == {arms[0].arm_id: "interpreted"}
    kept = read_state().ways
    for value in (1.0, 3.0, 1.5):
        stored.add("quick@1", value, by_the_usual_way(1.0, value))
        learn_ways(stored.store, stored.last)
    assert read_state().ways == kept


@pytest.mark.parametrize(("agent", "same"), [("quick@2", False), ("quick@1", True)])
def test_a_machine_that_ran_at_another_speed_for_one_side_makes_times_as_they_are_less_certain(
    stored: Runs, agent: str, same: bool
) -> None:
    told = [(value, {"reference.interpreted_s": 1e-4, "cpu_s": value}) for value in (0.95, *BEFORE)]
    before = [stored.add("quick@1", value, more) for value, more in told]
    slower = {"reference.interpreted_s": 1.7e-4, "cpu_s": 1.7, "peak_rss_bytes": 1e6}
    now = stored.add(agent, 1.7, slower)
    found = known_spread(stored.store, of_run("quick@1", before[-1]), of_run(agent, now)).quantities
    assert found["duration_s"].speeds_apart == pytest.approx(math.log(1.7))
    assert found["cpu_s"].speeds_apart == pytest.approx(math.log(1.7))
    again = stored.add(agent, 1.7, {**slower, "reference.interpreted_s": 1.05e-4})
    if not same:  # else the mean of its version's runs is what it is held against
        return
    found = known_spread(stored.store, of_run("quick@1", before[-1]), of_run(agent, again)).quantities
    assert found["duration_s"].speeds_apart == 0.0, "closer than readings are anyway"


def test_normalised_times_know_the_speed_of_the_machine_already(stored: Runs) -> None:
    told = {**normalised(1.0), "reference.interpreted_s": 1e-4}
    before = [stored.add("quick@1", value, {**told, "duration_norm_s": 1.0}) for value in BEFORE]
    now = stored.add("quick@2", 1.7, {**normalised(1.0), "reference.interpreted_s": 1.7e-4})
    found = known_spread(stored.store, of_run("quick@1", before[-1]), of_run("quick@2", now)).quantities
    assert found["duration_norm_s"].speeds_apart == 0.0
    assert found["duration_s"].speeds_apart > 0.5


def test_how_well_a_subject_is_normalised_is_not_known_from_others(stored: Runs) -> None:
    for value in (1.0, 1.01, 0.99, 1.0, 1.02, 1.01):
        stored.add("other@1", value, {**normalised(value), "reference.interpreted_s": 1e-4})
    before = stored.add("quick@1", 1.0, {**normalised(1.0), "reference.interpreted_s": 1e-4})
    now = stored.add("quick@2", 1.7, {**normalised(1.2), "reference.interpreted_s": 1.7e-4})
    found = known_spread(stored.store, of_run("quick@1", before), of_run("quick@2", now)).quantities
    assert found["duration_norm_s"].source == "pooled"
    assert found["duration_norm_s"].speeds_apart == pytest.approx(math.log(1.7))


class Experiments:
    """Stored runs of one experiment each, with given medians; the number of a commit is its version."""

    def __init__(self, store: Store, make: Factory) -> None:
        self.store, self.make, self.count = store, make, 0

    def run(self, value: float, commit: str = "1", *, host: str = HOST, stored: bool = True) -> RunResult:
        self.count += 1
        medians = {"duration_s": value, "result.pages_per_s": 1 / value}
        metrics = {name: self.make.summary(name, [number]) for name, number in medians.items()}
        arm = ArmResult("a", "sort n=9", "sort", params={"n": 9}, planned=30, metrics=metrics)
        made = self.make.result(arms=(arm,), environment=replace(ENVIRONMENT, host_id=host))
        made = replace(made, run_id=run_id(self.count), vcs=Vcs(commit, "main", dirty=False))
        if stored:
            save_imported(self.store, made)
        return made

    def known(self, first: RunResult, second: RunResult) -> RunSpread:
        return ArmSpreads(self.store, first, second)(first.arms[0], second.arms[0])


def test_arms_are_held_against_their_own_runs_commit_by_commit(store: Store, make: Factory) -> None:
    runs = Experiments(store, make)
    before = [runs.run(value) for value in BEFORE]
    now = runs.run(1.4, "2")
    found = runs.known(before[-1], now).quantities
    for name in ("duration_s", "result.pages_per_s"):  # whatever depends on the machine
        assert found[name].log_sd == pytest.approx(np.std(np.log(BEFORE), ddof=1))
        assert (found[name].degrees, found[name].baseline_runs, found[name].candidate_runs) == (4, 5, 1)
    compared = math.log(1.4 / BEFORE[-1]) - found["duration_s"].offset
    assert compared == pytest.approx(math.log(1.4) - np.mean(np.log(BEFORE)))


def test_a_result_that_the_store_does_not_hold_is_compared_as_well(store: Store, make: Factory) -> None:
    runs = Experiments(store, make)
    before = [runs.run(value) for value in BEFORE]
    now = runs.run(1.4, "2", stored=False)
    assert runs.known(before[-1], now).quantities["duration_s"].degrees == 4
    elsewhere = runs.run(1.4, "2", host="fedcba9876543210", stored=False)
    assert runs.known(before[-1], elsewhere) == UNKNOWN_SPREAD
    assert ArmSpreads(None, now, now)(now.arms[0], now.arms[0]) == UNKNOWN_SPREAD


def test_two_runs_of_one_commit_are_held_against_the_others_of_it(store: Store, make: Factory) -> None:
    runs = Experiments(store, make)
    for value in BEFORE:
        runs.run(value)
    found = runs.known(runs.run(2.0), runs.run(3.0)).quantities["duration_s"]
    assert found == QuantitySpread(found.log_sd, 4, "own")
    assert found.log_sd == pytest.approx(np.std(np.log(BEFORE), ddof=1))
