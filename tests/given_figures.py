"""Suites whose figures are given: how fast a machine happens to be never decides what a test sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

from agentdyno.contracts import Agent
from agentdyno.model import Case
from agentdyno.model.plan import Trial
from agentdyno.runner.cases.call import CaseCall, CaseJob, Conduct, make_call
from agentdyno.runner.cases.throttle import Throttle
from agentdyno.workers.pauses import PauseWatch

Seconds = Callable[[Case, Agent], float]
"""How long a call is said to have taken."""

CPU_S = 0.0005
PEAK_RSS_BYTES = 50_000_000.0


def an_instant(case: Case, agent: Agent) -> float:
    """The same for everybody, and too short for anybody to be called faster or slower."""
    return 0.0002


def its_pause(case: Case, agent: Agent) -> float:
    """``pause`` of the agent's configuration, a little more for some cases; else an instant."""
    pause = agent.config.get("pause")
    place = int(case.id.rpartition("-")[2]) if case.id.rpartition("-")[2].isdigit() else 0
    return pause * (1 + place % 5 / 50) if isinstance(pause, float) else an_instant(case, agent)


@contextmanager
def given_figures(seconds: Seconds = an_instant) -> Iterator[None]:
    """Suites that run in this process record these figures where they would record what was measured."""

    async def given(
        trial: Trial, case: Case, job: CaseJob, conduct: Conduct, throttle: Throttle, *, alone: bool = False
    ) -> CaseCall:
        call = await make_call(trial, case, job, conduct, throttle, alone=alone)
        if call.duration_s is not None:
            call.duration_s = seconds(case, job.agent)
        if call.response is not None:
            readings = dict(call.response.readings)
            figures = {"duration_s": call.duration_s or 0.0, "cpu_s": CPU_S, "peak_rss_bytes": PEAK_RSS_BYTES}
            readings |= {name: value for name, value in figures.items() if name in readings}
            call.response = replace(call.response, readings=readings)
        return call

    with (
        mock.patch("agentdyno.runner.executors.cases.make_call", given),
        mock.patch.object(PauseWatch, "seconds_between", _never),
        mock.patch.object(PauseWatch, "stopped_between", _never),
    ):
        yield


def _never(watch: PauseWatch, began_s: float, ended_s: float) -> float:
    """A machine that stands still for a second has no part in figures that are given: no call is made again."""
    return 0.0
