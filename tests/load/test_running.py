"""The parameters of scenarios, and how one is run: seeds, ceilings, stopping."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentdyno.errors import SpecError
from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import (
    FIND_LIMIT,
    SCENARIOS,
    ScenarioSettings,
    resolve_params,
    scenario_named,
    share_params,
)
from agentdyno.load.scenarios.failure_recovery import FAULTS
from agentdyno.model.load import Arrivals, LoadOptions, Step, Window
from agentdyno.servers.proxy.fault import FAULTS as PROXY_FAULTS

from .queueing import QueueDriver, QueueModel
from .stress_runs import windows_from


class TestParameters:
    def test_every_scenario_has_a_value_for_every_parameter_in_every_profile(self) -> None:
        for scenario in (*SCENARIOS.values(), FIND_LIMIT):
            for profile in ("quick", "standard", "full"):
                values = resolve_params(scenario, profile, {})
                for parameter in scenario.parameters:
                    assert parameter.problem(values[parameter.name]) is None, (scenario.name, parameter.name)

    def test_the_usual_rate_scales_what_depends_on_it(self) -> None:
        values = resolve_params(SCENARIOS["high_load"], "quick", {}, rate=7.0)
        assert (values["normal_rate"], values["request_rate"]) == (7.0, 70.0)
        given_too = resolve_params(SCENARIOS["high_load"], "quick", {"request_rate": 9}, rate=7.0)
        assert given_too["request_rate"] == 9

    def test_an_unknown_name_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(SpecError, match="Did you mean request_rate"):
            resolve_params(SCENARIOS["high_load"], "quick", {"requst_rate": 5})
        with pytest.raises(SpecError, match="Did you mean spike_load"):
            scenario_named("spike_lod")
        with pytest.raises(SpecError, match="Did you mean standard"):
            resolve_params(SCENARIOS["high_load"], "standart", {})

    @pytest.mark.parametrize(
        ("name", "value"), [("request_rate", -1), ("request_rate", "many"), ("arrivals", "burst")]
    )
    def test_a_value_of_the_wrong_kind_is_refused(self, name: str, value: object) -> None:
        with pytest.raises(SpecError, match=name):
            resolve_params(SCENARIOS["high_load"], "quick", {name: value})

    def test_faults_and_shares_are_checked_before_anything_runs(self) -> None:
        with pytest.raises(SpecError, match="Did you mean half_open"):
            resolve_params(SCENARIOS["failure_recovery"], "quick", {"faults": ["half_opn"]})
        with pytest.raises(SpecError, match="above 0"):
            resolve_params(SCENARIOS["memory_pressure"], "quick", {"shares": [1.5, 0]})
        assert resolve_params(SCENARIOS["failure_recovery"], "quick", {"faults": "reset, latency"})

    def test_every_fault_is_one_of_the_proxys(self) -> None:
        assert set(FAULTS) == set(PROXY_FAULTS) - {""}

    def test_parameters_go_to_the_scenarios_that_have_them(self) -> None:
        chosen = [SCENARIOS["high_load"], SCENARIOS["spike_load"]]
        shared = share_params(chosen, {"normal_rate": 5, "spike_rate": 9, "high_load.normal_rate": 6})
        assert shared == {"high_load": {"normal_rate": 6}, "spike_load": {"normal_rate": 5, "spike_rate": 9}}
        with pytest.raises(SpecError, match="Did you mean spike_rate"):
            share_params(chosen, {"spike_rte": 1})

    def test_the_quick_set_takes_under_forty_seconds_of_load(self) -> None:
        total = 0.0
        for name in SCENARIOS:
            model = QueueModel(max_words=3000, limit_per_s=100.0 if name == "rate_limiting" else None)
            windows, _ = windows_from(name, model, profile="quick")
            total += sum(window.duration_s for window in windows)
        assert total < 40.0


class TestRunning:
    def test_the_same_seed_asks_the_same(self) -> None:
        def steps(seed: int) -> list[Step]:
            driver = QueueDriver(QueueModel())
            values = resolve_params(FIND_LIMIT, "quick", {})
            list(run_scenario(FIND_LIMIT, driver, ScenarioSettings(values, seed=seed)))
            return driver.steps

        assert steps(1) == steps(1)
        assert steps(1)[0].seed != steps(2)[0].seed

    def test_no_step_begins_beyond_the_ceilings(self) -> None:
        values = resolve_params(FIND_LIMIT, "quick", {})
        for options, most in ((LoadOptions(max_s=9.0), 9.0), (LoadOptions(max_requests=50), 20.0)):
            driver = QueueDriver(QueueModel(slots=1000))
            windows = list(run_scenario(FIND_LIMIT, driver, ScenarioSettings(values, options=options)))
            assert sum(window.duration_s for window in windows) <= most

    def test_closing_it_closes_the_drivers_step(self) -> None:
        closed: list[str] = []

        class Endless(QueueDriver):
            def run(self, step: Step) -> Iterator[Window]:
                try:
                    yield from super().run(step)
                    yield Window(99, step.name, "s", 0.0, 1.0)
                finally:
                    closed.append(step.name)

        running = run_scenario(
            SCENARIOS["high_load"],
            Endless(QueueModel()),
            ScenarioSettings(resolve_params(SCENARIOS["high_load"], "quick", {})),
        )
        next(running)
        running.close()  # type: ignore[attr-defined]
        assert closed == ["normal"]

    def test_a_target_far_above_its_capacity_is_not_waited_for_to_the_end(self) -> None:
        driver = QueueDriver(QueueModel(slots=1, service_s=0.1))
        values = resolve_params(SCENARIOS["high_load"], "quick", {"normal_rate": 5.0, "find_breaking_point": False})
        seen: list[Step] = []
        list(run_scenario(SCENARIOS["high_load"], driver, ScenarioSettings(values), on_step=seen.append))
        assert [(step.name, step.drain_s) for step in seen] == [
            ("normal", 30.0),
            ("high", pytest.approx(2.0, abs=1.0)),
        ]
        assert seen[1].arrivals is Arrivals.POISSON
