"""The search for the breaking point, on a target whose capacity is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.findings.figures.histograms import histogram
from agentdyno.findings.stress.judge import scenario_report
from agentdyno.findings.stress.judge_steps import StepJudgement, StepOutcome, merge_windows, shortfall
from agentdyno.findings.stress.model import LimitedBy, ScenarioReport
from agentdyno.load.limit import LimitFound, Search, SearchEnding, find_limit
from agentdyno.model.load import Objective, Stage, Step, Window

from ..properties import examples
from .queueing import QueueDriver, QueueModel
from .stress_runs import arm_of, windows_from


def step_at(level: float, number: int) -> Step:
    return Step(f"{level:g} #{number}", (Stage("s", 1.0, rate=level),), note={"level": level})


def searched(search: Search, verdict: Callable[[float, int], bool | None]) -> tuple[LimitFound, list[float]]:
    """The search's end, and the levels in the order in which they were tried; ``verdict`` of a level and a try."""
    steps = find_limit(search, step_at, lambda outcome, _: verdicts.pop(outcome.step))
    tried: list[float] = []
    verdicts: dict[str, StepJudgement] = {}
    step = next(steps)
    while True:
        level = float(step.note["level"])
        met = verdict(level, tried.count(level))
        tried.append(level)
        verdicts[step.name] = StepJudgement(met, () if met else ("latency_p99",), {}, "slow" if met is None else "")
        window = Window(0, step.name, "s", 0.0, 1.0, asked=1, note=step.note)
        try:
            step = steps.send(merge_windows([window]))
        except StopIteration as stop:
            found: LimitFound = stop.value
            return found, tried


def test_it_doubles_until_it_breaks_confirms_that_and_halves_the_interval() -> None:
    found, tried = searched(Search(1, 1000, whole=True, width=0.3), lambda level, _: level <= 10)
    assert tried == [1, 2, 4, 8, 16, 16, 11, 11, 9]
    assert found.ending is SearchEnding.FOUND
    assert (found.between.held, found.between.broke) == (9, 11)


@given(limit=st.floats(1.0, 5000.0), width=st.floats(0.02, 0.5))
@examples(80)
def test_the_interval_holds_the_limit_and_is_as_narrow_as_asked(limit: float, width: float) -> None:
    found, _ = searched(Search(1.0, 10_000.0, width=width), lambda level, _: level <= limit)
    assert found.ending is SearchEnding.FOUND
    assert found.between.held is not None
    assert found.between.broke is not None
    assert found.between.held <= limit < found.between.broke
    assert (found.between.width or 0.0) <= width


def test_one_noisy_step_does_not_decide() -> None:
    found, tried = searched(
        Search(1, 64, whole=True), lambda level, attempt: not (level == 4 and attempt == 0) and level <= 20
    )
    assert tried[:6] == [1, 2, 4, 4, 4, 8]
    assert (found.between.held, found.between.broke) == (20, 21)


def test_a_target_that_holds_everything_ends_at_the_ceiling() -> None:
    found, tried = searched(Search(1, 100), lambda *_: True)
    assert found.ending is SearchEnding.CEILING
    assert tried[-1] == 100
    assert (found.between.held, found.between.broke) == (100, None)


def test_a_first_level_that_breaks_is_halved_down_to_one_that_holds() -> None:
    found, tried = searched(Search(64, 1000, floor=1, whole=True), lambda level, _: level <= 10)
    assert tried[:4] == [64, 64, 32, 32]
    assert (found.between.held, found.between.broke) == (10, 11)


def test_a_target_that_never_holds_ends_at_the_floor() -> None:
    found, _ = searched(Search(8, 100, floor=2), lambda *_: False)
    assert found.ending is SearchEnding.FLOOR
    assert (found.between.held, found.between.broke) == (None, 2)


def test_the_search_ends_where_the_client_is_the_limit() -> None:
    found, tried = searched(Search(1, 1000), lambda level, _: None if level >= 8 else True)
    assert tried == [1, 2, 4, 8, 8, 8]
    assert found.ending is SearchEnding.CLIENT
    assert (found.between.held, found.between.broke, found.between.client) == (4, None, 8)


def test_a_client_limited_step_is_done_again_and_the_search_goes_on() -> None:
    found, _ = searched(
        Search(1, 64, whole=True), lambda level, attempt: None if level == 4 and attempt < 2 else level <= 20
    )
    assert found.ending is SearchEnding.FOUND
    assert found.between.held == 20


def test_a_search_stops_when_its_steps_are_used_up() -> None:
    found, tried = searched(Search(1, 1e6, max_steps=5), lambda *_: True)
    assert found.ending is SearchEnding.STEPS
    assert len(tried) == 5


@pytest.mark.parametrize(("start", "ceiling"), [(0.0, 10.0), (5.0, 1.0), (1.0, float("inf"))])
def test_a_search_without_a_way_up_is_refused(start: float, ceiling: float) -> None:
    with pytest.raises(SpecError, match="upwards"):
        Search(start, ceiling)


def limit_of(driver: QueueModel | QueueDriver, seed: int = 0, **more: object) -> ScenarioReport:
    slo = more.pop("slo", ())
    assert isinstance(slo, tuple)
    windows, params = windows_from("find_limit", driver, more, slo=slo, seed=seed)
    return scenario_report(arm_of("find_limit", windows, params), windows, slo)


@pytest.mark.parametrize("seed", range(10))
def test_the_breaking_point_of_a_known_capacity_is_found_within_a_tenth(seed: int) -> None:
    model = QueueModel(slots=4 + 3 * seed, service_s=0.02 + 0.01 * seed, jitter=0.3, seed=seed)
    report = limit_of(model, seed)
    assert report.broke
    assert report.breaking_point is not None
    assert report.breaking_point.value == pytest.approx(model.capacity, rel=0.10)
    assert report.breaking_point.interval is not None
    low, high = report.breaking_point.interval
    assert low <= report.breaking_point.value <= high
    assert (high - low) / low <= 0.10


def test_a_latency_objective_is_found_where_the_queue_reaches_it() -> None:
    # Three seconds at f times the capacity put (f - 1) * 3 s on the last request: 0.2 s at f = 1.05.
    model = QueueModel(slots=10, service_s=0.05)
    report = limit_of(model, slo=(Objective("latency", 0.1, 0.99),))
    assert report.breaking_point is not None
    assert report.breaking_point.objective == "latency_p99"
    assert report.breaking_point.value == pytest.approx(model.capacity * 1.017, rel=0.03)


def test_a_throttled_client_is_called_client_limited_and_no_breaking_target() -> None:
    report = limit_of(QueueDriver(QueueModel(slots=100, service_s=0.01), client_per_s=300.0))
    assert not report.broke
    assert report.breaking_point is None
    assert report.limited_by is LimitedBy.CLIENT
    assert report.client_limited
    assert report.score is None
    assert "late" in report.client_reason or "sent" in report.client_reason
    assert {warning.code for warning in report.warnings} == {"client-limited"}


def test_a_client_that_sends_a_little_late_is_the_limit_too() -> None:
    report = limit_of(QueueDriver(QueueModel(service_s=0.05), client_lag_s=0.0062))
    assert report.limited_by is LimitedBy.CLIENT
    fine = limit_of(QueueDriver(QueueModel(service_s=0.2, slots=40), client_lag_s=0.0062))
    assert fine.limited_by is not LimitedBy.CLIENT  # 6.2 ms is less than 10 % of 200 ms


def test_waiting_for_a_connection_is_not_the_clients_fault() -> None:
    driver = QueueDriver(QueueModel(slots=1000, service_s=0.1), connections=20)
    report = limit_of(driver)
    assert report.limited_by is LimitedBy.CONNECTIONS
    assert report.breaking_point is not None
    assert report.breaking_point.value == pytest.approx(20 / 0.1, rel=0.10)


def test_errors_that_set_in_with_the_load_are_named() -> None:
    report = limit_of(QueueModel(error_rate=0.9))
    assert report.limited_by is LimitedBy.ERRORS
    assert report.breaking_point is not None
    assert report.breaking_point.held is None
    assert report.breaking_point.interval is None


def test_concurrency_is_searched_in_closed_loop() -> None:
    # Ten slots serve in waves of 50 ms: the 41st waits for the fifth, and takes five times as long as alone.
    report = limit_of(QueueModel(slots=10, service_s=0.05), axis="concurrency")
    assert report.closed_loop
    assert report.breaking_point is not None
    assert report.breaking_point.axis == "concurrency"
    assert (report.breaking_point.held, report.breaking_point.broke) == (40, 41)
    assert report.law is not None


def timed(latencies: list[float]) -> StepOutcome:
    """A step of windows of a second, each with a hundred answers that took so long."""
    quick = histogram(np.full(100, 1000))
    windows = [
        Window(
            number,
            "s",
            "s",
            float(number),
            1.0,
            asked=100,
            sent=100,
            outcomes={"ok": 100},
            latency=histogram(np.full(100, int(value * 1e9))),
            lag=quick,
        )
        for number, value in enumerate(latencies)
    ]
    return merge_windows(windows)


def test_a_steady_latency_above_the_unloaded_one_is_no_shortfall() -> None:
    base = timed([0.5])
    assert shortfall(timed([0.9, 0.9, 0.9]), base) == pytest.approx(0.0, abs=1e-9)


def test_latency_that_grows_is_what_the_target_is_behind() -> None:
    # Growing by 0.1 s a second is being asked for 10 % more than is served.
    assert shortfall(timed([0.55, 0.65, 0.75]), timed([0.5])) == pytest.approx(1 - 1 / 1.1, abs=0.005)


def test_the_capacity_of_a_slow_agent_is_found_although_its_client_is_some_milliseconds_late() -> None:
    # Four at a time of 100 ms each are 40 a second; 3.75 ms is much less than a tenth of the room below 300 ms.
    driver = QueueDriver(QueueModel(slots=4, service_s=0.1), client_lag_s=0.00375)
    report = limit_of(driver, slo=(Objective("latency", 0.3, 0.95),))
    assert report.limited_by is not LimitedBy.CLIENT
    assert report.breaking_point is not None
    assert report.breaking_point.value == pytest.approx(40.0, rel=0.10)
