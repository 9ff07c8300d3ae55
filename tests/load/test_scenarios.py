"""Each scenario against a target made of arithmetic: what it asks, and what its report says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import RunError
from agentdyno.findings.figures.histograms import histogram
from agentdyno.findings.stress.judge import scenario_report, stress_report
from agentdyno.findings.stress.model import LimitedBy, ScenarioReport
from agentdyno.load.driver import Levers
from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import SCENARIOS, ScenarioSettings, resolve_params
from agentdyno.model.load import LoadOptions, Objective, Stage

from ..properties import examples
from .queueing import QueueDriver, QueueModel
from .stress_runs import arm_of, own_load, result_of, windows_from


def report_of(name: str, target: QueueModel | QueueDriver, **params: object) -> ScenarioReport:
    slo = params.pop("slo", ())
    assert isinstance(slo, tuple)
    windows, values = windows_from(name, target, params, slo=slo)
    return scenario_report(arm_of(name, windows, values), windows, slo)


class TestHighLoad:
    def test_a_target_with_capacity_to_spare_stands_ten_times_the_usual_load(self) -> None:
        report = report_of("high_load", QueueModel(slots=40, service_s=0.05))
        assert (report.broke, report.limited_by, report.score) == (False, LimitedBy.NOTHING, 100.0)
        assert report.headline["asked_per_s"] == pytest.approx(500.0, rel=0.03)
        assert report.headline["latency_p50_s"] == pytest.approx(0.05, rel=0.01)

    def test_a_target_that_breaks_is_searched_for_the_rate_at_which_it_does(self) -> None:
        report = report_of("high_load", QueueModel(slots=10, service_s=0.05))
        assert report.broke
        assert report.limited_by is LimitedBy.THROUGHPUT
        assert report.breaking_point is not None
        assert report.breaking_point.value == pytest.approx(200.0, rel=0.10)
        assert report.score is not None
        assert report.score < 80.0

    def test_a_cap_on_connections_that_binds_is_named(self) -> None:
        report = report_of("high_load", QueueModel(slots=10_000, service_s=0.5), concurrent_requests=50)
        assert report.broke
        assert report.limited_by is LimitedBy.CONNECTIONS
        assert report.late > 0

    def test_the_full_profile_is_the_documents(self) -> None:
        values = resolve_params(SCENARIOS["high_load"], "full", {})
        assert (values["request_rate"], values["duration_seconds"], values["concurrent_requests"]) == (1000, 300, 100)
        assert SCENARIOS["high_load"].options(LoadOptions(), values).connections == 100

    def test_errors_at_any_rate_break_it(self) -> None:
        report = report_of("high_load", QueueModel(slots=100, error_rate=0.2))
        assert report.limited_by is LimitedBy.ERRORS
        assert report.score is not None
        assert report.score < 50.0


class TestSustainedLoad:
    def test_a_leak_is_found_with_its_slope(self) -> None:
        # 50 requests a second lose 4,000 bytes each.
        report = report_of("sustained_load", QueueModel(leak_bytes=4000.0))
        assert report.figures["leak"] == 1.0
        assert report.figures["rss_slope_bytes_per_s"] == pytest.approx(200_000.0, rel=0.03)
        low, high = report.figures["rss_slope_low_bytes_per_s"], report.figures["rss_slope_high_bytes_per_s"]
        assert low is not None
        assert high is not None
        assert low <= 200_000.0 * 1.03
        assert high >= 200_000.0 * 0.97
        assert not report.broke

    def test_latency_that_creeps_up_is_drift(self) -> None:
        report = report_of("sustained_load", QueueModel(drift_per_s=0.005))
        assert report.figures["drift"] == 1.0
        # From 1 + 0.005 * 24 to 1 + 0.005 * 119 times the first.
        assert report.figures["latency_drift_share"] == pytest.approx(1.595 / 1.12 - 1.0, rel=0.05)
        assert report.score is not None
        assert report.score < 97.0

    def test_a_steady_target_neither_leaks_nor_drifts(self) -> None:
        report = report_of("sustained_load", QueueModel(jitter=0.3))
        assert (report.figures["leak"], report.figures["drift"]) == (0.0, 0.0)
        assert (report.broke, report.score) == (False, 100.0)

    def test_memory_that_is_not_known_is_a_warning_and_no_leak(self) -> None:
        windows, values = windows_from("sustained_load", QueueModel())
        blind = [replace(window, target_rss_bytes=None) for window in windows]
        report = scenario_report(arm_of("sustained_load", blind, values), blind, ())
        assert "leak" not in report.figures
        assert [warning.code for warning in report.warnings] == ["memory-unknown"]
        assert report.score == 100.0

    def test_a_soak_above_the_capacity_breaks(self) -> None:
        report = report_of("sustained_load", QueueModel(slots=2, service_s=0.05))
        assert report.broke
        assert report.limited_by is LimitedBy.THROUGHPUT


class TestSpikeLoad:
    def test_the_half_life_and_the_time_to_recover_follow_from_the_queue(self) -> None:
        # The spike leaves (400 - 200) * 10 / 200 = 10 s of work; 20 requests a second add a tenth while it is done:
        # the wait of who comes t seconds later is 10 - 0.9 t, half-way at 5.6 s and gone at 11.1 s.
        report = report_of(
            "spike_load",
            QueueModel(slots=10, service_s=0.05),
            normal_rate=20.0,
            spike_rate=400.0,
            arrivals="constant",
        )
        assert not report.broke
        assert report.figures["recovery_half_life_s"] == pytest.approx(10 / 0.9 / 2, abs=0.5)
        assert report.figures["recovery_time_s"] == pytest.approx(10 / 0.9, abs=0.5)
        assert report.figures["peak_latency_p50_s"] == pytest.approx(10.0, rel=0.05)
        assert report.score == pytest.approx(100 * (0.5 + 0.5 * (1 - 11.1 / 30)), abs=1.5)
        assert [label for label, _, _ in report.phases] == ["steady", "spike", "recovery"]

    def test_a_spike_within_the_capacity_is_no_spike_to_the_target(self) -> None:
        report = report_of("spike_load", QueueModel(slots=100, service_s=0.05))
        assert (report.broke, report.score) == (False, 100.0)
        assert report.figures["recovery_time_s"] == 0.0
        assert report.figures["recovery_half_life_s"] == 0.0

    def test_a_target_that_does_not_come_back_broke(self) -> None:
        report = report_of("spike_load", QueueModel(slots=3, service_s=0.05), spike_rate=400.0, normal_rate=50.0)
        assert report.broke
        assert report.figures["recovery_time_s"] is None
        assert report.breaking_point is not None
        assert (report.breaking_point.held, report.breaking_point.broke) == (50.0, 400.0)


class TestMemoryPressure:
    def test_the_least_memory_that_is_enough_is_bracketed(self) -> None:
        report = report_of("memory_pressure", QueueModel(needs_bytes=105_000_000))
        assert report.broke
        assert report.limited_by is LimitedBy.MEMORY
        assert report.breaking_point is not None
        assert report.breaking_point.interval == (100_000_000.0, 110_000_000.0)
        # Four of seven limits held, and it was well again without one.
        assert report.score == pytest.approx(100 * (0.8 * 4 / 7 + 0.2))

    @pytest.mark.parametrize("needs_bytes", [0, 105_000_000])
    def test_a_slow_client_at_a_wider_limit_takes_nothing_from_what_a_tighter_one_said(
        self, needs_bytes: int
    ) -> None:
        model = QueueModel(needs_bytes=needs_bytes)
        windows, values = windows_from("memory_pressure", model)
        late = histogram(np.full(50, 10**9))
        slow = [replace(window, lag=late) if window.note.get("share") == 1.5 else window for window in windows]
        assert slow != windows
        said, undisturbed = (
            stress_report(result_of([arm_of("memory_pressure", seen, values)])).scenarios[0]
            for seen in (slow, windows)
        )
        assert not said.client_limited
        assert (said.broke, said.score, said.evidence) == (
            undisturbed.broke,
            undisturbed.score,
            undisturbed.evidence,
        )

    def test_the_limit_is_lifted_whatever_happens(self) -> None:
        model = QueueModel()
        scenario = SCENARIOS["memory_pressure"]
        values = resolve_params(scenario, "quick", {})
        running = run_scenario(scenario, QueueDriver(model), ScenarioSettings(values, levers=model.levers()))
        assert isinstance(running, Iterator)
        while model.memory is None:
            next(running)
        running.close()  # type: ignore[attr-defined]
        assert model.memory is None

    def test_a_target_that_cannot_be_limited_is_one_clear_message(self) -> None:
        scenario = SCENARIOS["memory_pressure"]
        values = resolve_params(scenario, "quick", {})
        with pytest.raises(RunError, match="process"):
            list(run_scenario(scenario, QueueDriver(QueueModel()), ScenarioSettings(values, levers=Levers())))


class TestConcurrentRequests:
    def test_the_law_that_the_target_follows_is_given_back(self) -> None:
        report = report_of(
            "concurrent_requests", QueueModel(law=(20.0, 0.05, 0.002)), slo=(Objective("latency", 60.0, 0.99),)
        )
        assert not report.broke
        assert report.law is not None
        assert report.law.single == pytest.approx(20.0, rel=0.01)
        assert report.law.contention == pytest.approx(0.05, abs=0.001)
        assert report.law.coherency == pytest.approx(0.002, rel=0.01)
        assert report.law.peak == pytest.approx(math.sqrt(0.95 / 0.002), rel=0.01)
        assert report.closed_loop

    def test_it_says_how_many_in_flight_are_too_many(self) -> None:
        report = report_of("concurrent_requests", QueueModel(slots=10, service_s=0.05))
        assert report.limited_by is LimitedBy.LATENCY
        assert report.breaking_point is not None
        assert report.breaking_point.axis == "concurrency"
        assert report.breaking_point.value == pytest.approx(40.0, abs=3.0)
        assert report.figures["peak_throughput_per_s"] == pytest.approx(200.0, rel=0.03)

    def test_falling_throughput_is_advised_against(self) -> None:
        windows, values = windows_from(
            "concurrent_requests", QueueModel(law=(20.0, 0.05, 0.01)), slo=(Objective("latency", 60.0, 0.99),)
        )
        report = stress_report(result_of([arm_of("concurrent_requests", windows, values)]))
        assert any("Keep at most 10 requests" in advice.text for advice in report.recommendations)


class TestLargeInputs:
    def test_the_longest_input_is_bracketed(self) -> None:
        report = report_of("large_inputs", QueueModel(max_words=3000))
        assert report.limited_by is LimitedBy.SIZE
        point = report.breaking_point
        assert point is not None
        assert point.held is not None
        assert point.broke is not None
        assert point.held <= 3000 < point.broke <= point.held * 1.1
        assert point.unit == "words"

    def test_no_more_is_tried_than_makes_sense(self) -> None:
        scenario, model = SCENARIOS["large_inputs"], QueueModel()
        driver = QueueDriver(model)
        values = resolve_params(scenario, "standard", {})
        list(run_scenario(scenario, driver, ScenarioSettings(values, levers=replace(model.levers(), limited_to=500))))
        assert driver.steps[-1].requests == "words:500"


class TestRateLimiting:
    def test_the_limit_what_comes_through_and_the_promise_are_measured(self) -> None:
        report = report_of("rate_limiting", QueueModel(slots=100, limit_per_s=100.0))
        assert not report.broke
        assert report.limited_by is LimitedBy.RATE_LIMIT
        assert report.breaking_point is not None
        assert report.breaking_point.value == pytest.approx(100.0, rel=0.10)
        assert report.figures["effective_per_s"] == pytest.approx(100.0, rel=0.05)
        assert report.figures["honoured_effective_per_s"] == pytest.approx(100.0, rel=0.05)
        assert report.figures["retry_after_kept_rate"] == pytest.approx(1.0)
        assert report.score == pytest.approx(100.0)
        assert not report.warnings

    def test_a_retry_after_that_does_not_hold_costs_points(self) -> None:
        report = report_of("rate_limiting", QueueModel(slots=100, limit_per_s=100.0, keeps_retry_after=False))
        assert report.figures["retry_after_kept_rate"] == pytest.approx(0.0, abs=0.02)
        assert report.score == pytest.approx(70.0, abs=1.0)

    def test_a_target_without_a_limit_is_not_judged(self) -> None:
        report = report_of("rate_limiting", QueueModel(slots=1000))
        assert report.score is None
        assert "No rate limit" in report.evidence


class TestFailureRecovery:
    def test_the_time_after_each_fault_is_told(self) -> None:
        report = report_of("failure_recovery", QueueModel(heals_s=2.9))
        assert not report.broke
        assert report.figures["recovery_reset_s"] == pytest.approx(3.0)
        assert report.figures["recovery_time_s"] == pytest.approx(3.0)
        assert report.score == pytest.approx(70.0)
        assert report.figures["fault_reset_error_rate"] == 1.0
        assert report.outcomes["truncated"] > 0

    def test_a_target_that_is_well_at_once_has_full_marks(self) -> None:
        assert report_of("failure_recovery", QueueModel()).score == pytest.approx(100.0)

    def test_a_fault_that_is_never_got_over_breaks_it(self) -> None:
        report = report_of("failure_recovery", QueueModel(heals_s=100.0), faults=["half_open"])
        assert report.broke
        assert report.score == 0.0
        assert "half_open" in report.evidence

    def test_a_fault_that_never_struck_is_said_and_not_scored(self) -> None:
        model = QueueModel(heals_s=2.9, struck={"reset": 0, "errors": 12})
        report = report_of("failure_recovery", model, faults=["reset", "errors"])
        assert "recovery_reset_s" not in report.figures
        assert report.figures["struck_errors"] == 12
        assert report.score == pytest.approx(70.0)
        assert report.evidence.endswith("Struck: errors 12 ×. Never struck, and not scored: reset.")

    def test_faults_that_all_missed_say_nothing(self) -> None:
        report = report_of("failure_recovery", QueueModel(struck={"reset": 0}), faults=["reset"])
        assert report.score is None
        assert report.evidence.startswith("No fault reached it.")


def test_load_of_ones_own_shape_is_judged_as_a_whole() -> None:
    stages = (Stage("up", 5.0, rate=10.0, rate_to=100.0), Stage("hold", 5.0, rate=100.0))
    windows, values = windows_from(own_load(*stages), QueueModel())
    report = scenario_report(arm_of("custom", windows, values), windows, ())
    assert not report.broke
    assert report.score is None
    assert [label for label, _, _ in report.phases] == ["up", "hold"]


@pytest.mark.parametrize("name", [*SCENARIOS, "find_limit"])
def test_a_throttled_client_is_never_a_breaking_target(name: str) -> None:
    if name in ("concurrent_requests", "large_inputs"):
        driver = QueueDriver(QueueModel(slots=10_000), client_lag_s=0.01)
    else:
        driver = QueueDriver(QueueModel(slots=10_000, rss_bytes=1e8), client_per_s=30.0)
    report = report_of(name, driver)
    assert not report.broke
    assert report.limited_by is LimitedBy.CLIENT
    assert report.score is None
    assert report.client_reason


@pytest.mark.parametrize("name", ["high_load", "sustained_load", "spike_load", "concurrent_requests"])
@given(first=st.integers(1, 60), second=st.integers(1, 60))
@examples(12)
def test_a_target_with_less_capacity_never_scores_higher(name: str, first: int, second: int) -> None:
    worse, better = (
        report_of(
            name, QueueModel(slots=slots, service_s=0.05), slo=(Objective("latency", 0.5, 0.99),), **_SHORT[name]
        )
        for slots in sorted((first, second))
    )
    assert (worse.score or 0.0) <= (better.score or 0.0) + 1e-9


@given(first=st.floats(0.0, 0.5), second=st.floats(0.0, 0.5))
@examples(10)
def test_a_target_that_fails_more_never_scores_higher(first: float, second: float) -> None:
    better, worse = (
        report_of("high_load", QueueModel(slots=100, error_rate=share), **_SHORT["high_load"]).score or 0.0
        for share in sorted((first, second))
    )
    assert worse <= better + 1e-9


_SHORT: dict[str, dict[str, object]] = {
    "high_load": {"normal_rate": 20.0, "duration_seconds": 3.0, "step_seconds": 1.0, "arrivals": "constant"},
    "sustained_load": {"request_rate": 100.0, "duration_seconds": 6.0, "arrivals": "constant"},
    "spike_load": {
        "normal_rate": 20.0,
        "before_seconds": 2.0,
        "spike_seconds": 2.0,
        "recovery_seconds": 5.0,
        "arrivals": "constant",
    },
    "concurrent_requests": {"step_seconds": 1.0},
}
