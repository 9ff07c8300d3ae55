"""Experiments that yield: every sample comes as it happens, and a trial that was begun goes on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest

from agentdyno.findings.figures.summarise import summarise, whole_trials
from agentdyno.model import Limits, Phase, Sample, Status
from agentdyno.runner.bench.job import ArmJob
from agentdyno.runner.executor import Executor, TrialStep
from agentdyno.runner.executors.inline import InlineExecutor
from agentdyno.runner.executors.processes import ProcessExecutor
from agentdyno.runner.schedule import Schedule

from .building import TIMEOUT_S, job, outcome, plan, run, sample, trial

Make: TypeAlias = Callable[..., Executor]


def in_processes(one: ArmJob, begun: dict[str, int] | None = None) -> Executor:
    return ProcessExecutor({one.arm_id: one}, begun)


def inline(one: ArmJob, begun: dict[str, int] | None = None) -> Executor:
    return InlineExecutor({one.arm_id: one}, begun=begun)


both = pytest.mark.parametrize("make", [in_processes, inline])


def steps_of(executor: Executor, *iterations: int) -> list[TrialStep]:
    return list(Schedule(plan(*(trial(i) for i in iterations)), executor).steps())


def told(steps: list[TrialStep]) -> list[tuple[int, int, float, bool]]:
    """Iteration, part, what was yielded, and whether the trial was over with it."""
    return [
        (step.sample.iteration, step.sample.part, step.sample.readings["result.number"], step.ended)
        for step in steps
        if step.sample is not None
    ]


@both
def test_each_dict_that_is_yielded_is_a_sample_and_the_trial_ends_after_the_last(make: Make) -> None:
    with closing(make(job("Stepping"))) as executor:
        steps = steps_of(executor, 0, 1)
        assert told(steps) == [(i, part, part, False) for i in (0, 1) for part in range(3)]
        assert [(step.sample, step.ended) for step in (steps[3], steps[7])] == [(None, True), (None, True)]
        assert executor.facts.observed["arm"]["seen"] == 2
        first = steps[0].sample
        assert first is not None
        assert first.readings["duration_s"] > 0


@both
def test_draws_go_on_from_sample_to_sample_and_are_the_same_in_every_run(make: Make) -> None:
    draws = []
    for _ in range(2):
        with closing(make(job("Stepping"))) as executor:
            draws.append([s.sample.readings["result.drawn"] for s in steps_of(executor, 0) if s.sample])
    assert draws[0] == draws[1]
    assert len(set(draws[0])) == 3


@both
def test_nothing_is_executed_in_vain_whatever_warm_up_is_asked_for(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with closing(make(job("Stepping", log=str(log), warmup=2))) as executor:
        steps_of(executor, 0)
    assert log.read_text().splitlines() == ["measured 0"]


@both
def test_a_trial_that_was_begun_goes_on_with_its_next_part(make: Make) -> None:
    with closing(make(job("Stepping"), {trial(0).key: 2})) as executor:
        assert told(steps_of(executor, 0, 1)) == [(0, 2, 2, False)] + [(1, part, part, False) for part in range(3)]


@both
def test_what_it_raises_is_the_last_sample_of_its_trial_and_the_next_one_goes_on(make: Make) -> None:
    with closing(make(job("Stepping", at=1))) as executor:
        steps = steps_of(executor, 0, 1)
    failed = [step.sample for step in steps if step.ended and step.sample is not None]
    assert [(item.part, outcome(item)) for item in failed] == [(1, ("error", "exception", "execute"))] * 2
    assert failed[0].failure is not None
    assert "the reward is not a number at step 17" in failed[0].failure.message
    assert len(steps) == 4


@both
def test_the_time_limit_holds_for_each_sample(make: Make) -> None:
    with closing(make(job("Stepping", at=2, how="wait", limits=Limits(timeout_s=TIMEOUT_S)))) as executor:
        last = steps_of(executor, 0)[-1]
    assert last.sample is not None
    assert (last.ended, last.sample.part, last.sample.status) == (True, 2, Status.TIMEOUT)


def test_a_process_that_dies_costs_the_sample_it_was_at() -> None:
    with closing(in_processes(job("Stepping", at=1, how="exit"))) as executor:
        steps = steps_of(executor, 0)
    last = steps[-1].sample
    assert last is not None
    assert (last.part, last.status, len(steps)) == (1, Status.ERROR, 2)


@both
def test_a_function_that_yields_is_an_experiment_of_that_kind_too(make: Make) -> None:
    with closing(make(job("stepping"))) as executor:
        assert [part for _, part, _, _ in told(steps_of(executor, 0))] == [0, 1]


def test_experiments_that_return_are_one_sample_a_trial() -> None:
    with closing(in_processes(job("answer"))) as executor:
        assert [item.part for item in run(executor, trial(0), trial(1))] == [0, 0]


def parts(iteration: int, *rewards: float) -> list[Sample]:
    return [
        Sample(
            "arm",
            Phase.MEASURED,
            iteration,
            Status.OK,
            100 + part,
            {"duration_s": 2.0, "peak_rss_bytes": float(part), "result.reward": reward},
            part=part,
        )
        for part, reward in enumerate(rewards)
    ]


def test_figures_of_an_arm_rest_on_trials_not_on_their_parts() -> None:
    figures = summarise(whole_trials([*parts(0, 0.2, 0.4), *parts(1, 0.6, 1.0)]))
    assert (figures["duration_s"].n, figures["duration_s"].median) == (2, 4.0)
    assert figures["result.reward"].mean == pytest.approx(0.55)
    assert figures["peak_rss_bytes"].maximum == 1.0


def test_samples_of_single_trials_stay_as_they_are() -> None:
    single = [sample(0), sample(1)]
    assert whole_trials(single) is single
