"""Every shipped spec of the simulation runs, reduced, through the runner that a user has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import agentdyno_workloads.simulation as workload
from agentdyno import RunResult, run_spec

FOLDER = Path(workload.__file__).parent
SPECS = sorted((FOLDER / "specs").glob("*.yaml"))
NAMED = {
    "memory_db_baseline",
    "pragma_profile_baseline",
    "database_profiler_baseline",
    "redis_memory_baseline",
    "observation_baseline",
    "observation_sweep",
    "perception_metrics_baseline",
    "observation_profiler_baseline",
    "spatial_comprehensive_baseline",
    "spatial_index_profiler_baseline",
    "spatial_memory_profiler_baseline",
    "spatial_performance_analyzer_baseline",
    "system_profiler_baseline",
    "comprehensive_profiling_sweep",
}


def quick(name: str, folder: Path, **changes: Any) -> RunResult:
    store = f"sqlite:///{folder / 'dyno.db'}"
    return run_spec(FOLDER / "specs" / f"{name}.yaml", quick=True, store=store, **changes)


@pytest.mark.parametrize("name", [path.stem for path in SPECS])
def test_a_shipped_spec_runs_reduced_without_a_failed_sample(name: str, tmp_path: Path) -> None:
    # In this process, so that the libraries are loaded once; the tests below have processes.
    result = quick(name, tmp_path, isolation="inline")
    assert result.status == "complete"
    for arm in result.arms:
        assert arm.statuses == {"ok": arm.planned}, arm.name
        assert arm.observed, f"{arm.name} does not say what was in force"
    assert [warning for warning in result.warnings if warning.code == "identical-arms"] == []


@pytest.mark.parametrize("name", ["pragma_profile_sweep", "redis_memory_baseline"])
def test_a_spec_with_servers_and_killed_writers_runs_in_processes_too(name: str, tmp_path: Path) -> None:
    result = quick(name, tmp_path)
    assert [arm.statuses for arm in result.arms] == [{"ok": 2}] * len(result.arms)


def test_every_spec_of_the_requirement_is_there() -> None:
    assert {path.stem for path in SPECS} == NAMED | {"pragma_profile_sweep"}


def test_the_table_in_the_readme_names_every_spec_with_its_first_line() -> None:
    table = (FOLDER / "README.md").read_text()
    for path in SPECS:
        first = path.read_text().partition("\n")[0].removeprefix("# ")
        assert f"| `{path.stem}` | {first} |" in table


def test_a_redis_that_is_not_there_fails_the_samples_with_a_remedy(tmp_path: Path) -> None:
    result = quick("redis_memory_baseline", tmp_path, isolation="inline", params={"url": "redis://127.0.0.1:1"})
    (arm,) = result.arms
    assert "ok" not in arm.statuses
    failure = arm.samples[0].failure
    assert failure is not None
    assert "Redis cannot be used" in failure.message
    assert "leave it empty" in failure.message
