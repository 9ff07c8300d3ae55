"""Two real models at once, on one core and on two."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Hashable, Mapping
from pathlib import Path

import psutil
import pytest

from agentdyno import RunResult, run_spec
from agentdyno.model import ArmResult, Status
from agentdyno.model.metric import Provenance
from agentdyno_workloads.llm.multi_agent import MultiAgent
from agentdyno_workloads.llm.serving import ServerChoice, Serving, choose

from ..given_work import GivenWork

TOKENS = 16


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short note: reading a long prompt takes this model longer than all of its answer."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "note.txt").write_text("The index is rebuilt on every query. Two runs used the same seed.")
    return folder


def measured(tmp_path: Path, documents: Path, params: Mapping[str, object], isolation: str = "process") -> RunResult:
    return run_spec(
        {
            "experiment": "llm_multi_agent",
            "params": {"agents": 2, "max_tokens": TOKENS, "documents": str(documents), "num_ctx": 512, **params},
            "iterations": {"warmup": 0, "measured": 1},
            "affinity": "none",
            "isolation": isolation,
            "inner_loops": 1,
            "output_dir": str(tmp_path / "runs"),
        },
        store=f"sqlite:///{tmp_path / 'dyno.db'}",
    )


def values(arm: ArmResult, name: str) -> list[float]:
    assert {sample.status for sample in arm.samples} == {Status.OK}, [sample.failure for sample in arm.samples]
    return [sample.readings[f"result.{name}"] for sample in arm.samples]


def test_two_models_on_one_core_gain_less_than_on_two(
    tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The servers and the cores that they may use are real. How long an agent works is given: as long as it takes a
    core that so many of them share."""
    cores: dict[str, Hashable] = {}
    started = MultiAgent._server

    def noting(experiment: MultiAgent, place: ServerChoice, number: int) -> Serving:
        server = started(experiment, place, number)
        cores[server.url] = tuple(psutil.Process(server.pid).cpu_affinity())
        return server

    monkeypatch.setattr(MultiAgent, "_server", noting)
    monkeypatch.setattr("agentdyno_workloads.llm.multi_agent.work", GivenWork(lambda client: cores[client.url]))
    params = {"endpoints": "local,local", "pin": ["one_core", "two_cores"]}
    one, two = measured(tmp_path, documents, params, isolation="inline").arms
    assert (one.params["pin"], two.params["pin"]) == ("one_core", "two_cores")
    assert (values(one, "efficiency"), values(one, "slowdown_max")) == ([0.5], [2.0])
    if len(os.sched_getaffinity(0)) >= 2:
        assert (values(two, "efficiency"), values(two, "slowdown_max")) == ([1.0], [1.0])


def test_two_models_answer_at_once_and_what_is_measured_is_no_simulation(tmp_path: Path, documents: Path) -> None:
    (arm,) = measured(tmp_path, documents, {"endpoints": "local,local", "pin": "two_cores"}).arms
    assert arm.observed["endpoints"] == 2
    assert arm.observed["simulated"] is False
    assert Provenance.SIMULATED not in {metric.provenance for metric in arm.metrics.values()}
    assert all(value > 0 for value in values(arm, "efficiency"))
    assert all(0 < value <= 1 + 1e-9 for value in values(arm, "fairness"))


@pytest.mark.parametrize("slots", [1, 4])
def test_two_agents_share_one_model_with_one_slot_or_four(tmp_path: Path, documents: Path, slots: int) -> None:
    (arm,) = measured(tmp_path, documents, {"endpoints": "local", "slots": slots}).arms
    requested = arm.observed["requested"]
    assert isinstance(requested, dict)
    assert requested["slots"] == slots
    (speedup,), (waited,), (alone,) = (values(arm, name) for name in ("speedup", "ttft_s", "ttft_alone_s"))
    assert min(speedup, waited, alone) > 0


@pytest.mark.parametrize("slots", [1, 4])
def test_the_model_itself_has_so_many_slots(slots: int) -> None:
    """With one, the second agent waits until the first is answered."""
    serving = Serving(choose("local"), {"num_ctx": 512}, slots=slots)
    serving.open()
    try:
        with urllib.request.urlopen(serving.url.removesuffix("/v1") + "/props", timeout=60) as reply:
            assert json.load(reply)["total_slots"] == slots
    finally:
        serving.close()
