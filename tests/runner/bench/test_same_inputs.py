"""The same trial draws the same numbers, however many calls its batch has."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentdyno.contracts import Experiment, ExperimentContext
from agentdyno.model import Entry, Iterations, Phase, Sample, Spec, Status
from agentdyno.runner.bench.arm import Bench
from agentdyno.store import Store
from tests.experiments import measure
from tests.runner.building import job, run, trial
from tests.runner.conftest import Pool

LOOPS = (1, 2, 9, 1000)


class Drawing(Experiment):
    """Draws from every generator that is seeded, and keeps what the context gave."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[float] = []

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:
        if context.phase is Phase.MEASURED:
            self.drawn.append(context.rng.random())
            return {"rng": self.drawn[-1], "random": random.random(), "numpy": float(np.random.rand())}
        return {"rng": context.rng.random()}


class DrawingAsync(Drawing):
    async def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().execute_once(context)


class DrawingLater(Drawing):
    """Gives something to await without being declared ``async``: one call tells, and is made again."""

    def execute_once(self, context: ExperimentContext) -> Awaitable[dict[str, float]]:  # type: ignore[override]
        return self._wait(partial(super().execute_once, context))

    async def _wait(self, call: Any) -> dict[str, float]:
        await asyncio.sleep(0)
        drawn: dict[str, float] = call()
        return drawn


def executed(kind: type[Experiment], number: int, **rest: Any) -> Sample:
    bench = Bench(job("target", **rest), kind)
    bench.prepare()
    sample = bench.execute(trial(number))
    bench.close()
    assert sample.status is Status.OK
    return sample


def returned(sample: Sample) -> dict[str, float]:
    return {name: value for name, value in sample.readings.items() if name.startswith("result.")}


@pytest.mark.parametrize("kind", [Drawing, DrawingAsync])
@pytest.mark.parametrize("warmup", [0, 3])
def test_what_a_trial_returns_does_not_depend_on_the_size_of_its_batch(kind: type[Experiment], warmup: int) -> None:
    samples = [executed(kind, 5, inner_loops=loops, warmup=warmup) for loops in LOOPS]
    assert [sample.inner_loops for sample in samples] == list(LOOPS)
    luck = random.Random(1005).random()
    numpy = float(np.random.RandomState(1005).rand())
    assert [returned(sample) for sample in samples] == [
        {"result.rng": luck, "result.random": luck, "result.numpy": numpy}
    ] * len(LOOPS)


def test_the_call_that_finds_out_about_awaiting_draws_nothing_from_the_trial() -> None:
    first = executed(DrawingLater, 5, inner_loops=1)
    assert returned(first)["result.rng"] == random.Random(1005).random()


def test_a_batch_goes_on_drawing_so_that_a_smaller_one_sees_the_beginning_of_a_larger_one() -> None:
    small, large = Bench(job("target", inner_loops=3), Drawing), Bench(job("target", inner_loops=20), Drawing)
    for bench in (small, large):
        bench.prepare()
        bench.execute(trial(5))
        bench.close()
    drawn = [bench._experiment.drawn for bench in (small, large)]
    assert drawn[0] == drawn[1][:3]
    assert len(set(drawn[1])) == 20


@pytest.mark.parametrize("kind", [Drawing, DrawingAsync])
def test_calibration_of_whatever_length_leaves_the_numbers_of_the_first_trial_alone(kind: type[Experiment]) -> None:
    calibrated, given = executed(kind, 5), executed(kind, 5, inner_loops=1)
    assert returned(calibrated) == returned(given)


def test_arms_with_other_batches_in_other_processes_return_the_same(pool: Pool, tmp_path: Path) -> None:
    jobs = [job("Logged", f"arm{loops}", log=str(tmp_path / f"log{loops}"), inner_loops=loops) for loops in LOOPS[:3]]
    executor = pool(*jobs)
    samples = run(executor, *(trial(number, item.arm_id, process=number % 2) for number in range(3) for item in jobs))
    found = {(sample.iteration, sample.inner_loops): returned(sample) for sample in samples}
    assert len(found) == 9
    for number in range(3):
        luck = random.Random(1000 + number).random()
        wanted = {"result.rng": luck, "result.random": luck, "result.seed": 1000.0 + number}
        assert [found[number, loops] for loops in LOOPS[:3]] == [wanted] * 3


LUCK = """
from agentdyno import Experiment


class Luck(Experiment):
    def __init__(self, spin: int = 0) -> None:
        super().__init__({"spin": spin})

    def execute_once(self, context):
        for _ in range(self.params["spin"]):
            pass
        return {"drawn": context.rng.random()}
"""


@pytest.mark.parametrize("processes", [None, 2])
def test_equal_runs_return_equal_values_in_every_arm(tmp_path: Path, processes: int | None) -> None:
    """Fast calls in batches that are calibrated anew in every run and for every arm."""
    file = tmp_path / "luck.py"
    file.write_text(LUCK)
    code = f"{file}@Luck"
    runs = []
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
        for _ in range(2):
            spec = Spec(
                name="luck",
                entries=(Entry(code, sweep={"spin": (0, 300)}, iterations=Iterations(measured=4)),),
                seed=42,
                processes=processes,
            )
            runs.append(measure(store, tmp_path / "runs", spec))
    series = [
        [sample.readings["result.drawn"] for sample in arm.samples if sample.phase is Phase.MEASURED]
        for result in runs
        for arm in result.arms
    ]
    assert len(series) == 4
    assert len(set(series[0])) == 4
    assert series == [series[0]] * 4
