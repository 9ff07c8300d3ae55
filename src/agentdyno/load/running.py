"""One scenario against one target: the scenario says what to do, the driver does it, windows come out as they end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import cast

from agentdyno.findings.figures.histograms import quantile
from agentdyno.findings.stress.judge_steps import merge_windows
from agentdyno.load.driver import Driver
from agentdyno.load.scenarios.base import Scenario, ScenarioSettings, resolve_params
from agentdyno.model.load import Step, Window

_LEAST_PATIENCE_S = 2.0
_PATIENCE = 5.0


class _Closable(Iterator[Window]):
    """What a driver's iterator may be: a generator, which can be closed, or any other."""

    def close(self) -> None: ...


def run_scenario(
    scenario: Scenario,
    driver: Driver,
    settings: ScenarioSettings | None = None,
    *,
    on_step: Callable[[Step], None] | None = None,
) -> Iterator[Window]:
    """The windows of all steps of a scenario, in order. The driver is open already, and stays open.

    ``on_step`` is called with each step before it begins. After the first step, answers are waited for as long as the
    step lasted, five times as long as answers took in the first, or 2 s, whichever is most, and never longer than the
    step itself says: a target that is ten times overloaded is not waited for to the end.

    No step begins once ``max_requests`` or ``max_s`` of the options would be passed. Closing the iterator stops the
    step that runs, and whatever the scenario did to the target (memory, faults) is undone.
    """
    settings = settings or ScenarioSettings(resolve_params(scenario, "standard", {}))
    asked, passed_s, patience_s = 0, 0.0, math.inf
    with closing(scenario.steps(settings)) as steps:
        step = next(steps, None)
        while step is not None:
            if asked >= settings.options.max_requests or passed_s + step.duration_s > settings.options.max_s:
                return
            step = replace(step, drain_s=min(step.drain_s, max(patience_s, step.duration_s)))
            if on_step is not None:
                on_step(step)
            windows: list[Window] = []
            running = driver.run(step)
            try:
                for window in running:
                    windows.append(window)
                    yield window
            finally:
                if hasattr(running, "close"):
                    cast(_Closable, running).close()
            outcome = merge_windows(windows)
            if math.isinf(patience_s):
                patience_s = max(_LEAST_PATIENCE_S, _PATIENCE * (quantile(outcome.latency, 0.99) or math.inf))
            asked += sum(window.asked for window in windows)
            passed_s += step.duration_s
            try:
                step = steps.send(outcome)
            except StopIteration:
                return
