"""Load through the agent contract."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType
from typing import cast

import numpy as np
import pytest

from agentdyno.contracts import CaseFailed
from agentdyno.errors import RunError, SpecError
from agentdyno.findings.figures.histograms import mean
from agentdyno.load.calls.driver import AgentDriver
from agentdyno.load.plan.trace import Trace
from agentdyno.load.windows.records import read_raw
from agentdyno.model.case import Case, Response, Usage
from agentdyno.model.load import Arrivals, LoadOptions, Objective, PromptLengths, Sessions, Stage, Step, Window
from agentdyno.model.sample import FailureKind, Status

Answer = Callable[[Case], Awaitable[Response]]


class Subject:
    """An agent that answers as it is told, and remembers what it was asked and how many calls were in progress."""

    name = "subject"
    version = "1"
    config: Mapping[str, object] = {}
    paid = False

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Case] = []
        self.at_once = self.most_at_once = 0
        self.closed = False

    async def start(self) -> None:
        pass

    async def run(self, case: Case) -> Response:
        self.asked.append(case)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(case)
        finally:
            self.at_once -= 1

    async def close(self) -> None:
        self.closed = True


async def at_once(case: Case) -> Response:
    return Response("yes", Usage(3, 4))


async def never(case: Case) -> Response:
    if case.id == "check":
        return Response("here")
    await asyncio.Event().wait()
    return Response()


OPTIONS = LoadOptions(window_s=0.1)
CASES = (Case("check", "first"),)
"""The first case is also what the driver tries the agent with."""


@contextmanager
def driving(
    subject: Subject,
    *,
    cases: tuple[Case, ...] = CASES,
    options: LoadOptions = OPTIONS,
    objectives: tuple[Objective, ...] = (),
    artifacts: Path | None = None,
    trace: Trace | None = None,
) -> Iterator[AgentDriver]:
    driver = AgentDriver(subject, cases, options, objectives=objectives, artifacts=artifacts, trace=trace)
    driver.open()
    subject.asked.clear()
    try:
        yield driver
    finally:
        driver.close()


def constant(rate: float, duration_s: float, *, drain_s: float = 5.0, requests: str = "", obey: bool = False) -> Step:
    stages = (Stage("steady", duration_s, rate),)
    return Step("step", stages, Arrivals.CONSTANT, drain_s=drain_s, requests=requests, honour_retry_after=obey)


def added(windows: list[Window], name: str) -> int:
    return sum(getattr(window, name) for window in windows)


def outcomes(windows: list[Window]) -> dict[str, int]:
    found: dict[str, int] = {}
    for window in windows:
        for name, number in window.outcomes.items():
            found[name] = found.get(name, 0) + number
    return found


def test_every_call_of_the_schedule_is_made_and_counted_once(tmp_path: Path) -> None:
    async def answer(case: Case) -> Response:
        await asyncio.sleep(0.005)
        return Response("yes", Usage(3, 4, cached_tokens=2), readings={"ttft_s": 0.002})

    subject = Subject(answer)
    with driving(subject, objectives=(Objective("latency", 60.0, 0.95),), artifacts=tmp_path) as driver:
        windows = list(driver.run(constant(100.0, 0.3)))
    assert [window.index for window in windows] == [0, 1, 2]
    assert [window.asked for window in windows] == [10, 10, 10]
    assert outcomes(windows) == {"ok": 30}
    assert (added(windows, "input_tokens"), added(windows, "output_tokens"), added(windows, "slo_met")) == (
        90,
        120,
        30,
    )
    assert added(windows, "cached_tokens") == 60
    assert all(mean(window.ttft) == pytest.approx(0.002) for window in windows)
    assert all(window.itl.count == 0 and window.tpot.count == 0 for window in windows)
    assert added(windows, "unsent") == 0
    assert len(subject.asked) == 30
    assert subject.closed
    raw = read_raw(tmp_path / "requests.npy")
    assert sorted(raw["due"].tolist()) == [number * 10_000_000 for number in range(30)]


def test_a_burst_of_work_is_told_as_its_share_of_the_window() -> None:
    """Answers that come all at once keep a client busy for a moment: it is not saturated by that."""

    async def work_once(case: Case) -> Response:
        until_ns = time.thread_time_ns() + 80_000_000
        while time.thread_time_ns() < until_ns:
            pass
        await asyncio.sleep(5.0)
        return Response("yes")

    subject = Subject(at_once)
    step = Step("loop", (Stage("steady", 0.8, concurrency=1),), Arrivals.CLOSED, drain_s=0.0)
    with driving(subject, options=LoadOptions(window_s=0.8)) as driver:
        subject._answer = work_once
        (window,) = driver.run(step)
    assert window.client_cpu is not None
    assert 0.0 < window.client_cpu < 0.5
    assert window.client_held is not None


def test_a_target_that_hangs_holds_up_nothing_but_itself() -> None:
    options = LoadOptions(window_s=0.1, connections=2)
    with driving(Subject(never), cases=(*CASES, Case("hang", "x")), options=options) as driver:
        step = Step("step", (Stage("steady", 1.0, 20.0),), Arrivals.CONSTANT, seed=1, drain_s=0.05)
        windows = list(driver.run(step))
    # Every other call hangs: two of them take both places for good.
    assert added(windows, "asked") == 20
    assert added(windows, "unsent") + sum(outcomes(windows).values()) == 20
    assert outcomes(windows)["timeout"] == 2
    assert added(windows, "unsent") >= 15
    assert windows[0].examples["timeout"] == "no answer until the end of the step"


def test_calls_beyond_the_cap_wait_and_are_late_by_the_targets_fault() -> None:
    async def answer(case: Case) -> Response:
        await asyncio.sleep(0.1)
        return Response("yes")

    subject = Subject(answer)
    with driving(subject, options=LoadOptions(window_s=1.0, connections=1)) as driver:
        (window,) = driver.run(constant(20.0, 1.0))
    assert subject.most_at_once == 1
    assert (window.asked, window.sent + window.unsent) == (20, 20)
    assert window.unsent >= 5
    # The first was not held up by anything; most of the others waited for a place.
    assert 1 <= window.lag.count < window.sent
    assert window.late >= 3


KINDS: tuple[tuple[CaseFailed | Exception, str], ...] = (
    (CaseFailed(FailureKind.HTTP_ERROR, "status 500"), "http_error"),
    (CaseFailed(FailureKind.STREAM_ERROR, "error object"), "stream_error"),
    (CaseFailed(FailureKind.TRUNCATED, "cut"), "truncated"),
    (CaseFailed(FailureKind.RESET, "reset"), "reset"),
    (CaseFailed(FailureKind.RATE_LIMITED, "slow down"), "rate_limited"),
    (CaseFailed(FailureKind.TIMEOUT, "late", status=Status.TIMEOUT), "timeout"),
    (CaseFailed(FailureKind.EXIT, "status 3"), "stream_error"),
    (CaseFailed(FailureKind.MEMORY, "too much", status=Status.LIMIT), "stream_error"),
    (TimeoutError("its own"), "timeout"),
    (ValueError("oops"), "stream_error"),
)


def test_each_way_to_fail_is_counted_in_exactly_its_number() -> None:
    numbers = count()

    async def answer(case: Case) -> Response:
        number = next(numbers)
        if number == 0 or number % 2:  # the try before the load, and every other call
            return Response("yes")
        raise KINDS[number // 2 % len(KINDS)][0]

    with driving(Subject(answer)) as driver:
        windows = list(driver.run(constant(200.0, 0.3)))
    expected: dict[str, int] = {"ok": 30}
    for _, name in KINDS:
        expected[name] = expected.get(name, 0) + 3
    assert outcomes(windows) == expected
    assert added(windows, "completed") <= 30
    texts = {text for window in windows for text in window.examples.values()}
    assert {"status 500", "cut", "reset", "slow down"} <= texts
    assert texts <= {str(failure) for failure, _ in KINDS} | {"ValueError: oops", "TimeoutError: its own"}


def test_a_call_that_takes_too_long_is_a_timeout_even_where_it_will_not_be_cancelled() -> None:
    async def stubborn(case: Case) -> Response:
        if case.id != "check":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0.05)
        return Response("at last")

    options = LoadOptions(window_s=0.1, timeout_s=2.0)  # long enough for those that answer on a busy machine
    with driving(Subject(stubborn), cases=(*CASES, Case("slow", "x")), options=options) as driver:
        windows = list(driver.run(constant(100.0, 0.1)))
    assert outcomes(windows) == {"ok": 5, "timeout": 5}
    assert windows[0].examples["timeout"] == "no answer within 2 s"


def test_an_agent_that_cancels_itself_is_an_error_and_not_a_lost_request() -> None:
    async def answer(case: Case) -> Response:
        if case.id != "check":
            raise asyncio.CancelledError
        return Response("yes")

    with driving(Subject(answer), cases=(*CASES, Case("x", "x"))) as driver:
        windows = list(driver.run(constant(100.0, 0.1)))
    assert outcomes(windows) == {"ok": 5, "stream_error": 5}


def test_a_closed_loop_keeps_exactly_so_many_calls_going() -> None:
    async def answer(case: Case) -> Response:
        await asyncio.sleep(0.005)
        return Response("yes")

    subject = Subject(answer)
    with driving(subject) as driver:
        step = Step("closed", (Stage("steady", 0.3, concurrency=3),), Arrivals.CLOSED)
        windows = list(driver.run(step))
    assert subject.most_at_once == 3
    assert windows[0].in_flight <= 3
    assert added(windows, "asked") == added(windows, "sent") == len(subject.asked) == outcomes(windows)["ok"]
    assert added(windows, "asked") > 3, "each that ends makes room for the next"
    assert added(windows, "late") <= added(windows, "asked")


def test_what_an_agent_does_inside_the_loop_shows_as_lag() -> None:
    async def answer(case: Case) -> Response:
        time.sleep(0.03)
        return Response("yes")

    with driving(Subject(answer)) as driver:
        windows = list(driver.run(constant(100.0, 0.1)))
    assert outcomes(windows) == {"ok": 10}
    assert windows[0].lag.count == 10
    assert windows[0].late >= 8
    assert windows[0].lag.maximum > 0.1


def test_conversations_hold_what_was_said_and_wait_for_the_user() -> None:
    async def answer(case: Case) -> Response:
        return Response("I see")

    subject = Subject(answer)
    options = LoadOptions(window_s=0.5, sessions=Sessions(turns=3, think_s=0.002), prompts=PromptLengths(mean=4.0))
    with driving(subject, options=options) as driver:
        stages = (Stage("steady", 0.2, 50.0), Stage("quiet", 2.0, 0.0))
        windows = list(driver.run(Step("step", stages, Arrivals.CONSTANT)))
    assert added(windows, "asked") == len(subject.asked) == 30
    talks: dict[str, list[list[Mapping[str, str]]]] = {}
    for case in subject.asked:
        messages = cast(list[Mapping[str, str]], case.input)
        talks.setdefault(messages[0]["content"], []).append(messages)
    assert len(talks) == 10
    for turns in talks.values():
        assert [len(messages) for messages in turns] == [1, 3, 5]
        assert turns[2][:3] == turns[1]
        assert [message["role"] for message in turns[2]] == ["user", "assistant"] * 2 + ["user"]
        assert turns[2][1]["content"] == "I see"


@pytest.mark.parametrize("obey", [True, False])
def test_a_wish_to_be_left_alone_is_kept_where_the_step_says_so(obey: bool) -> None:
    numbers = count()
    calls: list[float] = []

    async def answer(case: Case) -> Response:
        calls.append(time.perf_counter())
        if next(numbers) == 1:
            raise CaseFailed(FailureKind.RATE_LIMITED, "later", retry_after_s=0.1)
        return Response("yes")

    with driving(Subject(answer), options=LoadOptions(window_s=0.5)) as driver:
        (window,) = driver.run(constant(60.0, 0.5, obey=obey))
    assert window.outcomes == {"ok": 29, "rate_limited": 1}
    waited = calls[2] - calls[1]
    if obey:
        assert waited >= 0.1
        assert window.lag.count < 30
    else:
        assert window.lag.count == 30


def test_steps_go_on_where_the_one_before_ended() -> None:
    with driving(Subject(at_once)) as driver:
        first = list(driver.run(constant(100.0, 0.1)))
        second = list(driver.run(constant(100.0, 0.2)))
    assert [window.index for window in (*first, *second)] == [0, 1, 2]
    assert second[0].starts_s >= 0.1
    assert second[1].starts_s - second[0].starts_s == pytest.approx(0.1)


def test_closing_the_iterator_stops_the_step_and_keeps_what_was_measured() -> None:
    subject = Subject(at_once)
    with driving(subject, options=LoadOptions(window_s=0.05)) as driver:
        running = cast(Generator[Window], driver.run(constant(200.0, 600.0)))
        windows = [next(running)]
        running.close()
        windows += driver.left
        made = len(subject.asked)
        again = list(driver.run(constant(200.0, 0.05)))
    assert len(windows) >= 2
    assert added(windows, "asked") == outcomes(windows)["ok"] == made
    assert windows[-1].duration_s <= windows[0].duration_s, "the last one ends where the step was stopped"
    assert [window.index for window in (*windows, *again)] == list(range(len(windows) + 1))


def test_an_interrupt_stops_the_step_and_the_windows_so_far_still_come_out() -> None:
    subject = Subject(at_once)
    windows: list[Window] = []
    with driving(subject, options=LoadOptions(window_s=0.05)) as driver:
        running = cast(Generator[Window], driver.run(constant(200.0, 600.0)))
        windows.append(next(running))
        windows.append(running.throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            windows.extend(running)
    assert added(windows, "asked") == outcomes(windows)["ok"] == len(subject.asked)
    assert windows[-1].starts_s < 300.0


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_while_every_call_hangs_ends_the_step() -> None:
    subject = Subject(never)
    windows: list[Window] = []
    before = signal.signal(signal.SIGALRM, interrupt)

    def interrupted(driver: AgentDriver) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        windows.extend(driver.run(constant(200.0, 600.0)))

    try:
        with driving(subject, cases=(*CASES, Case("hang", "x"))) as driver:
            with pytest.raises(KeyboardInterrupt):
                interrupted(driver)
            rest = list(driver.run(constant(200.0, 0.05, drain_s=2.0)))
    finally:
        signal.signal(signal.SIGALRM, before)
    # What had no answer yet is counted nowhere: nobody knows how it would have ended.
    assert set(outcomes(windows)) <= {"ok"}
    assert outcomes(rest) == {"ok": 5, "timeout": 5}


def test_what_the_agent_is_is_observed_and_simulated_answers_are_marked() -> None:
    async def answer(case: Case) -> Response:
        return Response("yes", Usage(1, 1), observed={"quant": "q8"}, model="tiny", simulated=True)

    with driving(Subject(answer)) as driver:
        assert driver.simulated
        assert driver.observed() == {
            "quant": "q8",
            "version": "1",
            "processes": 1,
            "model": "tiny",
            "token_source": "usage",
        }
        assert all(window.simulated for window in driver.run(constant(100.0, 0.1)))


def test_inputs_have_the_length_that_a_step_names() -> None:
    subject = Subject(at_once)
    with driving(subject) as driver:
        list(driver.run(constant(50.0, 0.1, requests="words:77")))
        assert [len(str(case.input).split()) for case in subject.asked] == [77] * 5
        with pytest.raises(SpecError, match="no set of requests"):
            list(driver.run(constant(50.0, 0.1, requests="colours")))


def test_a_trace_is_replayed_with_its_times_and_lengths() -> None:
    trace = Trace(np.array([0, 20_000_000, 30_000_000]), np.array([5, 7, 2]), np.array([-1, -1, -1]))
    subject = Subject(at_once)
    with driving(subject, options=LoadOptions(window_s=1.0), trace=trace) as driver:
        (window,) = driver.run(Step("replay", trace.stages(), Arrivals.TRACE))
    assert window.asked == 3
    assert [len(str(case.input).split()) for case in subject.asked] == [5, 7, 2]


def test_without_cases_prompts_are_made_up() -> None:
    subject = Subject(at_once)
    with driving(subject, cases=(), options=LoadOptions(window_s=0.1, prompts=PromptLengths(mean=9.0))) as driver:
        list(driver.run(constant(50.0, 0.1)))
    assert [len(str(case.input).split()) for case in subject.asked] == [9] * 5
    assert len({str(case.input) for case in subject.asked}) == 5


def failing(error: Exception) -> Subject:
    async def answer(case: Case) -> Response:
        raise error

    return Subject(answer)


def test_an_agent_that_cannot_work_is_one_clear_message_before_any_load() -> None:
    subject = failing(CaseFailed(FailureKind.HTTP_ERROR, "no such model", fatal=True, remedy="Pull it."))
    with pytest.raises(RunError, match="no such model") as raised:
        AgentDriver(subject, CASES, LoadOptions()).open()
    assert (raised.value.remedy, raised.value.where, len(subject.asked)) == ("Pull it.", "agent subject", 1)
    assert subject.closed
    broken = failing(ValueError("oops"))
    with pytest.raises(RunError, match="none of 3 calls before the load: ValueError: oops"):
        AgentDriver(broken, CASES, LoadOptions()).open()
    assert len(broken.asked) == 3


def test_an_agent_that_never_answers_is_given_up_on() -> None:
    async def answer(case: Case) -> Response:
        await asyncio.Event().wait()
        return Response()

    with pytest.raises(RunError, match=r"no answer within 0\.05 s"):
        AgentDriver(Subject(answer), CASES, LoadOptions(timeout_s=0.05)).open()


def test_an_agent_that_fails_now_and_then_may_be_loaded() -> None:
    numbers = count()

    async def answer(case: Case) -> Response:
        if next(numbers) < 2:
            raise CaseFailed(FailureKind.RESET, "reset")
        return Response("yes")

    with driving(Subject(answer)) as driver:
        assert outcomes(list(driver.run(constant(50.0, 0.1)))) == {"ok": 5}


def test_ceilings_and_order_of_calls_are_kept() -> None:
    driver = AgentDriver(Subject(at_once), CASES, LoadOptions(max_requests=10))
    with pytest.raises(RunError, match="not open"):
        list(driver.run(constant(10.0, 0.1)))
    driver.open()
    try:
        with pytest.raises(SpecError, match="asks for 11 requests"):
            list(driver.run(constant(110.0, 0.1)))
    finally:
        driver.close()
        driver.close()
