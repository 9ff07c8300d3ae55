"""Two real models at once: the efficiency tells one core from two."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from agentdyno import RunResult, run_spec
from agentdyno.model import ArmResult, Status
from agentdyno.model.metric import Provenance

TOKENS = 16


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short note: reading a long prompt takes this model longer than all of its answer."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "note.txt").write_text("The index is rebuilt on every query. Two runs used the same seed.")
    return folder


def measured(tmp_path: Path, documents: Path, params: Mapping[str, object], iterations: int) -> RunResult:
    return run_spec(
        {
            "experiment": "llm_multi_agent",
            "params": {"agents": 2, "max_tokens": TOKENS, "documents": str(documents), "num_ctx": 512, **params},
            "iterations": {"warmup": 0, "measured": iterations},
            "affinity": "none",
            "inner_loops": 1,
            "output_dir": str(tmp_path / "runs"),
        },
        store=f"sqlite:///{tmp_path / 'dyno.db'}",
    )


def values(arm: ArmResult, name: str) -> list[float]:
    assert {sample.status for sample in arm.samples} == {Status.OK}, [sample.failure for sample in arm.samples]
    return [sample.readings[f"result.{name}"] for sample in arm.samples]


def busy_s() -> float:
    """CPU seconds that everybody on this machine has used."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def own_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def test_two_models_on_one_core_gain_less_than_on_two(tmp_path: Path, documents: Path) -> None:
    """Both placements take turns in one run, so that what else the machine does meets both alike.

    The figures themselves hold only where nobody else computes: beside a third process, two models get two thirds of
    a core and one gets half, so that a second agent truly helps.
    """
    began, busy, own = time.monotonic(), busy_s(), own_s()
    params = {"endpoints": "local,local", "pin": ["one_core", "two_cores"]}
    one, two = measured(tmp_path, documents, params, iterations=3).arms
    others = max(0.0, (busy_s() - busy) - (own_s() - own)) / (time.monotonic() - began)

    assert (one.params["pin"], two.params["pin"]) == ("one_core", "two_cores")
    on_one, on_two = (statistics.median(values(arm, "efficiency")) for arm in (one, two))
    each = " ".join(f"{value:.2f}" for arm in (one, two) for value in values(arm, "efficiency"))
    print(f"efficiency on one core {on_one:.2f}, on two {on_two:.2f} ({each}); others used {others:.2f} cores")
    if len(os.sched_getaffinity(0)) >= 2:
        assert on_one < on_two
    if others < 0.15:
        assert on_one < 0.65, "two models on one core get no more done than one after the other"
        assert on_two >= 0.7 or len(os.sched_getaffinity(0)) < 2
    for arm in (one, two):
        assert arm.observed["endpoints"] == 2
        assert arm.observed["simulated"] is False
        assert Provenance.SIMULATED not in {metric.provenance for metric in arm.metrics.values()}
        assert all(0 < value <= 1 + 1e-9 for value in values(arm, "fairness"))


@pytest.mark.parametrize("slots", [1, 4])
def test_two_agents_share_one_model_with_one_slot_or_four(tmp_path: Path, documents: Path, slots: int) -> None:
    (arm,) = measured(tmp_path, documents, {"endpoints": "local", "slots": slots}, iterations=1).arms
    assert arm.observed["slots"] == slots
    (speedup,), (waited,), (alone,) = (values(arm, name) for name in ("speedup", "ttft_s", "ttft_alone_s"))
    print(f"{slots} slots: speed-up {speedup:.2f}, first token {waited:.2f} s, {alone:.2f} s alone")
    assert speedup > 0
    if slots == 1:
        assert waited > alone, "the second agent waits until the first is answered"
