"""A whole load run against the queue model, and the result that it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import ScenarioSettings, custom, resolve_params, scenario_named
from agentdyno.load.scenarios.base import Scenario
from agentdyno.model.codec import to_plain
from agentdyno.model.form import RunStatus
from agentdyno.model.load import LoadOptions, Objective, Stage, Window
from agentdyno.model.plan import Phase
from agentdyno.model.result import ArmResult, Environment, RunResult
from agentdyno.model.sample import Sample, Status
from agentdyno.model.spec import Entry, Spec

from .queueing import QueueDriver, QueueModel

ENVIRONMENT = Environment("m", "linux", "6", "cpu", 2, 1, "3.11", "cpython", "0")


def windows_from(
    scenario: Scenario | str,
    model: QueueModel | QueueDriver,
    params: Mapping[str, object] | None = None,
    *,
    profile: str = "standard",
    slo: tuple[Objective, ...] = (),
    seed: int = 0,
    rate: float | None = None,
) -> tuple[list[Window], dict[str, object]]:
    """Every window of the scenario, and the parameters that it ran with."""
    chosen = scenario_named(scenario) if isinstance(scenario, str) else scenario
    values = resolve_params(chosen, profile, params or {}, rate)
    options = chosen.options(LoadOptions(), values)
    driver = model if isinstance(model, QueueDriver) else QueueDriver(model, connections=options.connections)
    driver = replace(driver, window_s=min(driver.window_s, options.window_s), objectives=slo)
    settings = ScenarioSettings(values, slo, options, driver.model.levers(), seed)
    return list(run_scenario(chosen, driver, settings)), values


def arm_of(name: str, windows: list[Window], params: Mapping[str, object]) -> ArmResult:
    samples = tuple(
        Sample(name, Phase.MEASURED, window.index, Status.OK, 0, details={"window": to_plain(window)})
        for window in windows
    )
    return ArmResult(name, name, name, {"target": "model", **params}, samples=samples, samples_total=len(samples))


def result_of(arms: list[ArmResult], slo: tuple[Objective, ...] = ()) -> RunResult:
    entry = Entry("load", params={"slo": to_plain(slo)})
    return RunResult(
        "r1",
        "load",
        "load",
        RunStatus.COMPLETE,
        0,
        1,
        0,
        Spec("load", entries=(entry,)),
        ENVIRONMENT,
        None,
        arms=tuple(arms),
    )


def own_load(*stages: Stage) -> Scenario:
    return custom(stages)
