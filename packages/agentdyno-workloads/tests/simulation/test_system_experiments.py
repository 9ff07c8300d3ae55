"""The experiments on the simulation itself: its store, its log, and the whole of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentdyno import ExperimentContext, SpecError
from agentdyno_workloads.simulation.simulate import simulate
from agentdyno_workloads.simulation.storage.database_profiler import DatabaseProfiler
from agentdyno_workloads.simulation.storage.memory_db import MemoryDb
from agentdyno_workloads.simulation.system_profiler import SystemProfiler

Subject = MemoryDb | DatabaseProfiler | SystemProfiler


def once(experiment: Subject) -> tuple[dict[str, Any], dict[str, Any]]:
    context = ExperimentContext()
    experiment.setup(context)
    figures = experiment.execute_once(context)
    experiment.teardown(context)
    assert not Path(experiment.folder.name).exists()
    return figures, context.observed


@pytest.mark.parametrize(
    ("mode", "storage", "on_disk"),
    [("disk", "disk", True), ("memory", "memory", False), ("memory_persist", "memory", True)],
)
def test_a_mode_is_observed_where_it_keeps_its_history(mode: Any, storage: str, on_disk: bool) -> None:
    figures, observed = once(MemoryDb(mode, agents=20, steps=5))
    assert (observed["storage"], observed["on_disk"]) == (storage, on_disk)
    assert ("database_bytes" in figures) == on_disk
    assert figures["persist_s"] > 0


def test_all_modes_write_the_same_rows_and_files_of_one_size() -> None:
    modes: tuple[Any, ...] = ("disk", "memory", "memory_persist")
    told = {mode: once(MemoryDb(mode, agents=20, steps=5))[0] for mode in modes}
    assert len({figures["rows"] for figures in told.values()}) == 1
    assert told["disk"]["database_bytes"] == told["memory_persist"]["database_bytes"]


def test_a_history_that_differs_fails_the_sample() -> None:
    experiment, context = MemoryDb("memory", agents=20, steps=5), ExperimentContext()
    experiment.setup(context)
    experiment.config = replace(experiment.config, seed=1)
    with pytest.raises(AssertionError, match="another history"):
        experiment.execute_once(context)
    experiment.teardown(context)


def test_a_mode_that_is_not_in_force_fails_the_sample() -> None:
    experiment, context = MemoryDb("disk", agents=20, steps=5), ExperimentContext()
    experiment.setup(context)
    experiment.config = replace(experiment.config, use_in_memory_db=True)
    with pytest.raises(AssertionError, match="disk kept its history in memory"):
        experiment.execute_once(context)
    experiment.teardown(context)


@pytest.mark.parametrize("storage", ["disk", "memory"])
def test_the_log_writes_what_the_simulation_writes(storage: Any, tmp_path: Path) -> None:
    experiment = DatabaseProfiler(storage, agents=20, steps=6, commit_every=3)
    figures, observed = once(experiment)
    whole = simulate(replace(experiment.config, database=str(tmp_path / "whole.db")))
    assert figures["rows"] == whole.rows
    assert figures["flushes"] == 2
    assert observed["storage"] == storage
    assert ("database_bytes" in figures) == (storage == "disk")


def test_rows_that_go_missing_fail_the_sample() -> None:
    experiment, context = DatabaseProfiler("memory", agents=20, steps=6), ExperimentContext()
    experiment.setup(context)
    del experiment.history[-1]
    with pytest.raises(AssertionError, match="the time before"):
        experiment.execute_once(context)
    experiment.teardown(context)


@pytest.mark.parametrize("log", [True, False])
def test_a_whole_run_is_measured_with_and_without_a_log(log: bool) -> None:
    figures, observed = once(SystemProfiler(agents=20, steps=4, log=log, world=40.0))
    assert ("written_bytes" in figures) == log
    assert figures["agent_steps_per_s"] > 0
    assert figures["step_mean_s"] <= figures["step_p95_s"] * 4
    assert observed["world"] == [40.0, 40.0]


def test_an_index_that_leads_to_another_history_fails_the_sample() -> None:
    experiment, context = SystemProfiler(agents=20, steps=4, index="kd_tree", log=False), ExperimentContext()
    experiment.setup(context)
    assert "KdTree" in str(context.observed["index"])
    experiment.expected = "another"
    with pytest.raises(AssertionError, match="kd_tree gives another history"):
        experiment.execute_once(context)
    experiment.teardown(context)


@pytest.mark.parametrize(
    ("experiment", "name", "value"),
    [
        (MemoryDb, "agents", 0),
        (MemoryDb, "steps", -1),
        (DatabaseProfiler, "batch_rows", 0),
        (DatabaseProfiler, "commit_every", 0),
        (SystemProfiler, "agents", 10**12),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(experiment: Any, name: str, value: int) -> None:
    with pytest.raises(SpecError) as caught:
        experiment(**{name: value})
    assert caught.value.where == f"params.{name}"
    assert caught.value.remedy
