from __future__ import annotations

import os

import pytest

from agentdyno.runner.bench import affinity
from agentdyno.runner.bench.affinity import CpuUse, choose_cpu, uses_one_cpu
from tests.runner.building import job, run, trial
from tests.runner.conftest import Pool

ALLOWED = sorted(os.sched_getaffinity(0))
START = CpuUse(wall_s=10.0, own_s=5.0, children_s=1.0, thread_s=4.0)


def after(wall_s: float, own_s: float, thread_s: float, children_s: float = 0.0) -> CpuUse:
    return CpuUse(10.0 + wall_s, 5.0 + own_s, 1.0 + children_s, 4.0 + thread_s)


@pytest.mark.parametrize(
    ("use", "one"),
    [
        (after(0.010, 0.010, 0.010), True),
        (after(1.0, 0.0, 0.0), True),
        (after(0.010, 0.020, 0.010), False),
        (after(1.0, 2.0, 0.0), False),
        (after(1.0, 1.0, 0.5), False),
        (after(1.0, 1.0, 0.95), True),
        (after(1.0, 0.5, 0.5, children_s=0.001), False),
    ],
)
def test_code_uses_one_cpu_when_neither_other_threads_nor_children_take_part(
    use: CpuUse, one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(affinity, "_has_children", lambda: False)  # other tests' servers are children of this process
    assert uses_one_cpu(START, use) is one


def test_the_cpu_to_stay_on_is_the_last_that_may_be_used() -> None:
    assert choose_cpu() == (ALLOWED[-1] if len(ALLOWED) > 1 else None)


def test_there_is_no_choice_with_a_single_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert choose_cpu() is None


@pytest.mark.parametrize(
    ("name", "pinned"),
    [("facts", True), ("one_thread", True), ("two_threads", False), ("with_child", False), ("KeepsChild", False)],
)
def test_an_arm_is_kept_on_one_cpu_unless_it_needs_more(name: str, pinned: bool, pool: Pool) -> None:
    cpu = ALLOWED[-1]
    executor = pool(job(name, cpu=cpu, inner_loops=1, warmup=1))
    samples = run(executor, trial(0), trial(1))
    assert [item.output["cpus"] for item in samples] == [[cpu] if pinned else ALLOWED] * 2  # type: ignore[index]
    assert executor.facts.observed["arm"]["cpu"] == (cpu if pinned else None)


def test_without_a_cpu_affinity_is_left_alone(pool: Pool) -> None:
    executor = pool(job("facts"))
    assert run(executor, trial(0))[0].output["cpus"] == ALLOWED  # type: ignore[index]
    assert executor.facts.observed["arm"]["cpu"] is None


def test_a_cpu_that_does_not_exist_is_left_aside(pool: Pool) -> None:
    executor = pool(job("facts", cpu=100_000))
    assert run(executor, trial(0))[0].output["cpus"] == ALLOWED  # type: ignore[index]
    assert executor.facts.observed["arm"]["cpu"] is None
