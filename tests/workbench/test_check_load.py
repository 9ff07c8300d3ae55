"""The gate for load runs: which figure blocks, and whose slowness it may not be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.figures.summarise import summarise
from agentdyno.findings.figures.window_readings import LOAD_METRICS
from agentdyno.findings.gate.model import GatePolicy, GateReport, GateVerdict
from agentdyno.model import Arm, Phase, RunResult, RunStatus, RunWarning, Sample, Status, Workspace
from agentdyno.model.identity import new_run_id
from agentdyno.specs.workspace.load import read_workspace
from agentdyno.store import Store
from agentdyno.workbench.check_spec import check_load

from ..load.stress_runs import result_of

SLOW = RunWarning("client-limited", "the client was the limit in load")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "dyno.db") as opened:
        yield opened


def stored(store: Store, p99_ms: float, *warnings: RunWarning) -> RunResult:
    """A load run of 24 windows around that latency."""
    header = replace(result_of([]), run_id=new_run_id(), status=RunStatus.RUNNING, finished_at=None)
    arm = Arm("spike", "spike_load", "spike_load", {"target": "t"}, agent="t")
    store.runs.begin(header, (arm,), {arm.arm_id: 0})
    for number in range(24):
        readings = {"latency_p99_s": (p99_ms + number % 5 / 10) / 1000, "error_rate": 0.0}
        store.runs.append(header.run_id, Sample(arm.arm_id, Phase.MEASURED, number, Status.OK, number, readings))
    store.runs.commit()
    open_run = store.runs.load(header.run_id)
    arms = tuple(replace(item, metrics=summarise(item.samples, LOAD_METRICS)) for item in open_run.arms)
    closed = replace(open_run, status=RunStatus.COMPLETE, finished_at=1, warnings=tuple(warnings), arms=arms)
    store.runs.finish(closed)
    return closed


def checked(store: Store, before: RunResult, after: RunResult, policy: GatePolicy | None = None) -> GateReport:
    report, measured = check_load("load", before.run_id, store, policy or GatePolicy(), lambda: after)
    assert measured is after
    return report


def test_the_same_latency_passes_and_a_higher_one_blocks(store: Store) -> None:
    before = stored(store, 40.0)
    assert checked(store, before, stored(store, 40.0)).verdict is GateVerdict.PASS
    report = checked(store, before, stored(store, 80.0))
    assert report.verdict is GateVerdict.BLOCK
    assert "latency_p99_s" in report.summary


def test_a_rule_of_the_workspace_goes_first(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "dyno.yaml"
    path.write_text("gate: {metrics: {latency_p99_s: advisory, ttft_p95_s: {tier: supporting, tolerance: 0.2}}}")
    workspace: Workspace = read_workspace(path)
    report = checked(store, stored(store, 40.0), stored(store, 80.0), workspace.gate)
    assert report.verdict is GateVerdict.PASS


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((SLOW,), (), "the baseline"),
        ((), (SLOW,), "the candidate"),
        ((SLOW,), (SLOW,), "the baseline and the candidate"),
    ],
)
def test_a_slow_client_neither_passes_nor_blocks_a_target(
    store: Store, before: tuple[RunWarning, ...], after: tuple[RunWarning, ...], told: str
) -> None:
    report = checked(store, stored(store, 40.0, *before), stored(store, 80.0, *after))
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert f"the client was the limit in {told}:" in report.summary


def test_without_a_baseline_it_says_how_to_name_one(store: Store) -> None:
    with pytest.raises(SpecError, match="no baseline"):
        check_load("load", None, store, GatePolicy(), lambda: stored(store, 40.0))
