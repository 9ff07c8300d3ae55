"""When requests are due."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.load.plan.schedule import (
    build_schedule,
    check_step,
    concurrency_at,
    expected_requests,
    ramp,
    sawtooth,
    soak,
    spike,
    steps,
)
from agentdyno.model.load import Arrivals, Stage, Step

from ...properties import examples

quick = examples(60)
NS = 10**9
rates = st.floats(0.0, 300.0)
open_stages = st.lists(
    st.builds(Stage, st.just("x"), st.floats(0.01, 3.0), rates, st.none() | rates), min_size=1, max_size=5
)
open_arrivals = st.sampled_from([Arrivals.CONSTANT, Arrivals.POISSON, Arrivals.GAMMA])


def step_of(*stages: Stage, arrivals: Arrivals = Arrivals.POISSON, seed: int = 1, shape: float = 1.0) -> Step:
    return Step("step", stages, arrivals, seed, shape)


def gaps_of(step: Step) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.diff(build_schedule(step, 10).due_ns) / NS


@pytest.mark.parametrize(
    ("rate", "duration_s", "count"), [(100.0, 3.0, 300), (0.1, 30.0, 3), (7.0, 0.1, 1), (3.0, 1.5, 5)]
)
def test_constant_arrivals_are_evenly_spaced_and_exactly_as_many_as_asked(
    rate: float, duration_s: float, count: int
) -> None:
    schedule = build_schedule(step_of(Stage("steady", duration_s, rate), arrivals=Arrivals.CONSTANT), 1)
    assert schedule.due_ns.tolist() == [round(number / rate * NS) for number in range(count)]


def test_constant_arrivals_over_a_ramp_are_where_the_integral_of_the_rate_is_whole() -> None:
    # From 0 to 100 in 2 s: 25 t^2 requests until t, so that number n is due at sqrt(n / 25).
    schedule = build_schedule(step_of(*ramp(0.0, 100.0, 2.0), arrivals=Arrivals.CONSTANT), 1)
    assert len(schedule) == 100
    assert schedule.due_ns / NS == pytest.approx(np.sqrt(np.arange(100) / 25.0), abs=1e-8)


def test_poisson_gaps_have_the_moments_of_the_exponential() -> None:
    gaps = gaps_of(step_of(Stage("steady", 1000.0, 100.0)))
    assert gaps.mean() == pytest.approx(0.01, rel=0.01)
    assert gaps.std() / gaps.mean() == pytest.approx(1.0, abs=0.01)
    assert np.median(gaps) == pytest.approx(0.01 * math.log(2.0), rel=0.015)
    # Independent: no correlation from one gap to the next.
    assert np.corrcoef(gaps[:-1], gaps[1:])[0, 1] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("shape", [0.25, 1.0, 4.0, 25.0])
def test_gamma_gaps_have_a_spread_of_one_over_the_root_of_the_shape(shape: float) -> None:
    gaps = gaps_of(step_of(Stage("steady", 1000.0, 100.0), arrivals=Arrivals.GAMMA, shape=shape))
    assert gaps.mean() == pytest.approx(0.01, rel=0.02)
    assert gaps.std() / gaps.mean() == pytest.approx(1.0 / math.sqrt(shape), rel=0.02)


@pytest.mark.parametrize("arrivals", [Arrivals.POISSON, Arrivals.GAMMA])
def test_the_mean_number_of_requests_is_the_integral_of_the_rate_however_bursty(arrivals: Arrivals) -> None:
    # Even in the few requests of a short ramp, where the first gap counts: 0 to 40 in 0.5 s are 10.
    counts = [
        len(build_schedule(step_of(*ramp(0.0, 40.0, 0.5), arrivals=arrivals, seed=seed, shape=0.3), 1))
        for seed in range(1500)
    ]
    deviation = math.sqrt(10.0 / 0.3 if arrivals is Arrivals.GAMMA else 10.0) * 1.3
    assert np.mean(counts) == pytest.approx(10.0, abs=3.0 * deviation / math.sqrt(1500))
    if arrivals is Arrivals.POISSON:
        assert np.var(counts) == pytest.approx(10.0, rel=0.15)


def test_requests_of_a_ramp_are_as_dense_as_its_rate() -> None:
    schedule = build_schedule(step_of(*ramp(0.0, 2000.0, 10.0)), 1)
    counts, _ = np.histogram(schedule.due_ns / NS, bins=10, range=(0.0, 10.0))
    expected = np.array([100.0 + 200.0 * second for second in range(10)])
    assert (np.abs(counts - expected) < 4.0 * np.sqrt(expected)).all()


@quick
@given(open_stages, open_arrivals, st.integers(-5, 2**65), st.floats(0.1, 20.0))
def test_any_schedule_ascends_stays_inside_and_knows_its_stages(
    stages: list[Stage], arrivals: Arrivals, seed: int, shape: float
) -> None:
    step = Step("step", tuple(stages), arrivals, seed, shape)
    schedule = build_schedule(step, 7)
    due = schedule.due_ns
    assert (np.diff(due) >= 0).all()
    assert ((due >= 0) & (due < math.ceil(step.duration_s * NS) + 1)).all()
    ends = np.cumsum([stage.duration_s for stage in stages])
    starts = ends - [stage.duration_s for stage in stages]
    assert (due / NS <= ends[schedule.stage] + 1e-6).all()
    assert (due / NS >= starts[schedule.stage] - 1e-6).all()
    assert ((schedule.request >= 0) & (schedule.request < 7)).all()
    if arrivals is Arrivals.CONSTANT:
        assert len(schedule) == max(math.ceil(expected_requests(step) - 1e-6), 0)


@quick
@given(open_stages, open_arrivals, st.integers(0, 2**32), st.integers(1, 5))
def test_a_schedule_is_its_seeds_alone_however_many_processes_keep_it(
    stages: list[Stage], arrivals: Arrivals, seed: int, processes: int
) -> None:
    step = Step("step", tuple(stages), arrivals, seed)
    whole = build_schedule(step, 5, sessions=True)
    parts = [build_schedule(step, 5, sessions=True).part(number, processes) for number in range(processes)]
    assert sum(len(part) for part in parts) == len(whole)
    session = np.concatenate([part.session for part in parts if part.session is not None])
    order = np.argsort(session)
    assert session[order].tolist() == list(range(len(whole)))
    for name in ("due_ns", "stage", "request"):
        together = np.concatenate([getattr(part, name) for part in parts])
        assert together[order].tolist() == getattr(whole, name).tolist()


def test_another_seed_is_another_schedule() -> None:
    step = step_of(Stage("steady", 1.0, 100.0))
    assert build_schedule(step, 1).due_ns.tolist() != build_schedule(replace(step, seed=2), 1).due_ns.tolist()


def test_requests_come_back_only_after_all_others() -> None:
    request = build_schedule(step_of(Stage("steady", 1.0, 100.0), arrivals=Arrivals.CONSTANT), 30).request.tolist()
    assert all(sorted(request[first : first + 30]) == list(range(30)) for first in range(71))


def test_a_stage_without_load_between_two_has_no_request() -> None:
    step = step_of(Stage("a", 1.0, 100.0), Stage("pause", 1.0, 0.0), Stage("b", 1.0, 100.0))
    schedule = build_schedule(step, 1)
    assert set(schedule.stage.tolist()) == {0, 2}
    quiet = (schedule.due_ns >= NS) & (schedule.due_ns < 2 * NS)
    assert not quiet.any()


def test_a_closed_loop_has_no_schedule_but_a_concurrency_at_every_moment() -> None:
    stages = (Stage("ramp", 10.0, concurrency=0, concurrency_to=100), Stage("steady", 5.0, concurrency=100))
    step = step_of(*stages, arrivals=Arrivals.CLOSED)
    assert len(build_schedule(step, 1)) == 0
    assert expected_requests(step) == 0.0
    assert [concurrency_at(step, at_s) for at_s in (0.0, 0.25, 5.0, 9.99, 10.0, 14.9)] == [0, 3, 50, 100, 100, 100]
    assert [concurrency_at(step, at_s) for at_s in (-0.1, 15.0, 99.0)] == [0, 0, 0]


def test_the_requests_of_a_step_are_the_sum_of_its_stages() -> None:
    step = step_of(*ramp(10.0, 30.0, 2.0), *soak(5.0, 1.0))
    assert expected_requests(step) == 45.0


def test_a_trace_keeps_its_own_times_and_order_of_requests() -> None:
    step = step_of(Stage("replay", 2.0, 2.0), arrivals=Arrivals.TRACE)
    schedule = build_schedule(step, 4, recorded_ns=np.array([0, NS // 2, NS, 3 * NS]))
    assert schedule.due_ns.tolist() == [0, NS // 2, NS]
    assert schedule.request.tolist() == [0, 1, 2]
    with pytest.raises(SpecError, match="none is given"):
        build_schedule(step, 4)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Step("none", ()), "has no stage"),
        (step_of(Stage("x", 0.0, 1.0)), "must last more than 0"),
        (step_of(Stage("x", math.inf, 1.0)), "must last more than 0"),
        (step_of(Stage("x", 1.0, -1.0)), "requests a second"),
        (step_of(Stage("x", 1.0, 1.0, math.nan)), "requests a second"),
        (step_of(Stage("x", 1.0, concurrency=-1)), "concurrency below 0"),
        (step_of(Stage("x", 1.0, 1.0), shape=0.0), "shape of gamma"),
        (step_of(Stage("x", 7200.0, 1e6)), "7.2e\\+09 requests"),
    ],
)
def test_a_step_that_cannot_be_kept_is_refused(step: Step, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        check_step(step)


def test_an_empty_set_of_requests_is_refused() -> None:
    with pytest.raises(SpecError, match="nothing to send"):
        build_schedule(step_of(Stage("x", 1.0, 1.0)), 0)


levels = st.floats(0.0, 1000.0)
lasting = st.floats(0.01, 100.0)


@quick
@example(893.3170425576351, 0.0, 26, 1.0, 1.0, 1.0)  # rounding must not take the last level below 0
@given(levels, levels, st.integers(1, 20), lasting, lasting, lasting)
def test_every_shape_lasts_as_long_as_it_is_told_and_is_never_negative(
    low: float, high: float, count: int, first_s: float, second_s: float, third_s: float
) -> None:
    shapes = {
        "soak": (soak(low, first_s), first_s),
        "ramp": (ramp(low, high, first_s, hold_s=second_s), first_s + second_s),
        "step": (steps(low, high, count, first_s), first_s),
        "spike": (spike(low, high, first_s, second_s, third_s), first_s + second_s + third_s),
        "sawtooth": (sawtooth(low, high, count, first_s), first_s),
    }
    for stages, duration_s in shapes.values():
        step = Step("shape", stages)
        assert step.duration_s == pytest.approx(duration_s, rel=1e-9)
        assert all(stage.rate >= 0.0 for stage in stages)
        assert expected_requests(step) <= max(low, high) * duration_s * (1.0 + 1e-9)


def test_shapes_say_what_happens_when() -> None:
    assert [(stage.label, stage.rate) for stage in spike(10.0, 100.0, 5.0, 2.0, 8.0)] == [
        ("steady", 10.0),
        ("spike", 100.0),
        ("recovery", 10.0),
    ]
    assert [stage.rate for stage in steps(10.0, 50.0, 5, 10.0)] == [10.0, 20.0, 30.0, 40.0, 50.0]
    assert [(stage.rate, stage.rate_to) for stage in sawtooth(1.0, 9.0, 2, 4.0)] == [(1.0, 9.0), (1.0, 9.0)]
    assert ramp(1.0, 64.0, 3.0, closed=True) == (Stage("ramp", 3.0, concurrency=1, concurrency_to=64),)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: soak(-1.0, 1.0),
        lambda: soak(1.0, 0.0),
        lambda: ramp(1.0, math.nan, 1.0),
        lambda: steps(1.0, 2.0, 0, 1.0),
        lambda: sawtooth(1.0, 2.0, 0, 1.0),
    ],
)
def test_shapes_that_mean_nothing_are_refused(wrong: object) -> None:
    with pytest.raises(SpecError):
        wrong()  # type: ignore[operator]
