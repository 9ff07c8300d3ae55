"""Cases put to agents: what is timed, repeated, limited, judged and recorded."""

from __future__ import annotations

import asyncio
import errno
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from agentdyno.contracts import CaseFailed
from agentdyno.errors import PluginError
from agentdyno.model import (
    Arm,
    Case,
    Event,
    Failure,
    FailureKind,
    Phase,
    Plan,
    Response,
    Sample,
    Status,
    Trial,
    Usage,
)
from agentdyno.model.suite import Constraints
from agentdyno.runner.cases.call import CaseJob, CaseJudgement, Conduct, Priced
from agentdyno.runner.cases.throttle import CpuShare
from agentdyno.runner.executors.cases import CaseExecutor
from agentdyno.runner.rules.stopping import FatalFailure, spent_usd
from agentdyno.runner.schedule import Schedule
from agentdyno.workers.pauses import PauseWatch
from tests.runner.building import next_sample

CASES = {name: Case(name, f"say {name}", name) for name in ("one", "two", "three")}


@dataclass
class Scripted:
    """An agent that does what a function of the case and the number of the call says."""

    answer: Callable[[Case, int], Response]
    name: str = "scripted"
    version: str = "1"
    config: Mapping[str, object] = field(default_factory=dict)
    paid: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)

    async def start(self) -> None:
        self.log.append("start")

    async def run(self, case: Case) -> Response:
        self.calls[case.id] += 1
        self.log.append(case.id)
        await asyncio.sleep(0)
        return self.answer(case, self.calls[case.id])

    async def close(self) -> None:
        self.log.append("close")


async def right_or_wrong(case: Case, response: Response) -> CaseJudgement:
    right = 1.0 if response.output == case.target else 0.0
    return CaseJudgement({"score": right, "correctness": right}, ({"scorer": "exact"},))


def free(response: Response, cpu_s: float | None) -> Priced:
    return Priced(response.cost, "reported" if response.cost is not None else "unknown")


def good(case: Case, _call: int) -> Response:
    return Response(case.target)


def job(agent: Scripted, **changes: object) -> CaseJob:
    return replace(CaseJob(agent, CASES, right_or_wrong, free, warmup=0), **changes)  # type: ignore[arg-type]


@contextmanager
def executing(jobs: Mapping[str, CaseJob], conduct: Conduct | None = None) -> Iterator[CaseExecutor]:
    executor = CaseExecutor(jobs, conduct or Conduct(), {arm_id: f"arm {arm_id}" for arm_id in jobs})
    try:
        executor.open()
        yield executor
    finally:
        executor.close()


def run(jobs: Mapping[str, CaseJob], conduct: Conduct | None = None, epochs: int = 1) -> list[Sample]:
    trials = tuple(
        Trial(arm_id, Phase.MEASURED, epoch, case_id)
        for epoch in range(epochs)
        for case_id in CASES
        for arm_id in jobs
    )
    plan = Plan(tuple(Arm(arm_id, arm_id, "x") for arm_id in jobs), trials)
    with executing(jobs, conduct) as executor:
        parallelism = conduct.concurrency if conduct is not None else 1
        return list(Schedule(plan, executor, [FatalFailure(executor.facts)], parallelism=parallelism))


class StoodStill(PauseWatch):
    """For two seconds in the first call."""

    def seconds_between(self, began_s: float, ended_s: float) -> float:
        del began_s, ended_s
        self._pauses.append((0.0, 0.0))
        return 2.0 if len(self._pauses) == 1 else 0.0


def test_a_call_in_which_the_bench_stood_still_is_made_again_where_it_costs_nothing() -> None:
    again, paid = (
        run({"a": job(Scripted(good, paid=paid))}, Conduct(retries=1, pauses=StoodStill()))[0]
        for paid in (False, True)
    )
    assert (again.status, again.attempts) == (Status.OK, 2)
    assert again.details["attempts"] == [
        {"kind": "disturbed", "message": "the bench itself stood still for 2.0 s", "waited_s": 0.0}
    ]
    assert (paid.status, paid.attempts) == (Status.OK, 1)


def test_every_case_gives_one_sample_with_its_score_and_its_time() -> None:
    agent = Scripted(lambda case, _: Response("one", Usage(10, 5), cost=0.25, api_calls=2))
    samples = {sample.case_id: sample for sample in run({"a": job(agent)})}
    assert {name: sample.status for name, sample in samples.items()} == {
        "one": Status.OK,
        "two": Status.FAILED,
        "three": Status.FAILED,
    }
    one = samples["one"]
    assert one.scores == {"score": 1.0, "correctness": 1.0}
    assert one.output == "one"
    assert one.readings["duration_s"] > 0
    kept = {name: one.readings[name] for name in ("input_tokens", "output_tokens", "total_tokens", "api_calls")}
    assert kept == {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "api_calls": 2}
    assert one.readings["cost_usd"] == 0.25
    assert one.details["cost"] == {"usd": 0.25, "source": "reported"}
    assert agent.log[0] == "start"
    assert agent.log[-1] == "close"


def test_a_clock_that_an_agent_of_this_process_replaces_is_not_the_one_that_times_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def freeze(case: Case, _: int) -> Response:
        for name in ("perf_counter", "perf_counter_ns"):
            monkeypatch.setattr(time, name, lambda: 1)
        return good(case, 0)

    samples = run({"a": job(Scripted(freeze))})
    monkeypatch.undo()
    assert all(sample.readings["duration_s"] > 0 for sample in samples)


def test_a_cost_that_only_the_agent_states_is_kept_as_reported_and_counts_against_limits() -> None:
    stated = replace(
        job(Scripted(good), constraints=Constraints(cost_limit_usd=0.1)),
        price=lambda response, _: Priced(None, "reported", 0.25),
    )
    sample = run({"a": stated})[0]
    assert "cost_usd" not in sample.readings
    assert sample.readings["reported.cost_usd"] == 0.25
    assert sample.failure == Failure(FailureKind.COST, "cost $0.25, the limit of a case is $0.1")
    assert spent_usd(sample) == 0.25


def test_an_unknown_cost_is_no_reading() -> None:
    sample = run({"a": job(Scripted(good))})[0]
    assert "cost_usd" not in sample.readings
    assert sample.details["cost"] == {"usd": None, "source": "unknown"}


def test_what_an_agent_raises_is_an_error_and_the_next_case_goes_on() -> None:
    def answer(case: Case, call: int) -> Response:
        if case.id == "two":
            raise ZeroDivisionError("by nothing")
        return good(case, call)

    samples = {sample.case_id: sample for sample in run({"a": job(Scripted(answer))})}
    broken = samples["two"]
    assert (broken.status, broken.scores) == (Status.ERROR, {})
    assert broken.failure is not None
    assert (broken.failure.kind, broken.failure.message) == (FailureKind.EXCEPTION, "ZeroDivisionError: by nothing")
    assert "by nothing" in (broken.failure.traceback or "")
    assert samples["three"].status is Status.OK


def test_an_agent_that_takes_too_long_is_cut_off_and_scores_nothing() -> None:
    class Slow(Scripted):
        async def run(self, case: Case) -> Response:
            if case.id == "one":
                await asyncio.Event().wait()
            return await super().run(case)

    samples = run({"a": job(Slow(good), constraints=Constraints(time_limit_s=0.05))})
    by_case = {sample.case_id: sample for sample in samples}
    assert (by_case["one"].status, by_case["one"].scores) == (Status.TIMEOUT, {"score": 0.0})
    assert by_case["one"].readings["duration_s"] > 0
    assert by_case["two"].status is Status.OK


def test_an_agents_own_timeout_error_is_its_own() -> None:
    def answer(case: Case, call: int) -> Response:
        raise TimeoutError("the database did not answer")

    sample = run({"a": job(Scripted(answer))})[0]
    assert sample.status is Status.ERROR
    assert sample.failure is not None
    assert sample.failure.message == "TimeoutError: the database did not answer"


def test_only_failures_of_the_infrastructure_are_repeated_and_each_is_recorded() -> None:
    def answer(case: Case, call: int) -> Response:
        if case.id == "one" and call < 3:
            raise CaseFailed(FailureKind.RESET, f"reset {call}", retryable=True, retry_after_s=0.0)
        if case.id == "two":
            raise CaseFailed(FailureKind.HTTP_ERROR, "bad request")
        return good(case, call)

    agent = Scripted(answer)
    samples = {sample.case_id: sample for sample in run({"a": job(agent)}, Conduct(retries=2))}
    assert agent.calls == {"one": 3, "two": 1, "three": 1}
    assert (samples["one"].status, samples["one"].attempts) == (Status.OK, 3)
    assert samples["one"].details["attempts"] == [
        {"kind": "reset", "message": "reset 1", "waited_s": 0.0},
        {"kind": "reset", "message": "reset 2", "waited_s": 0.0},
    ]
    assert (samples["two"].status, samples["two"].attempts) == (Status.ERROR, 1)


def test_repeats_end_after_the_allowed_number() -> None:
    def answer(case: Case, call: int) -> Response:
        raise CaseFailed(FailureKind.RESET, "reset", retryable=True, retry_after_s=0.0)

    agent = Scripted(answer)
    sample = run({"a": job(agent)}, Conduct(retries=1))[0]
    assert (sample.status, sample.attempts, agent.calls["one"]) == (Status.ERROR, 2, 2)


def test_a_rate_limit_is_waited_for_as_long_as_patience_lasts() -> None:
    def busy(case: Case, call: int) -> Response:
        raise CaseFailed(FailureKind.RATE_LIMITED, "too many", retryable=True, retry_after_s=0.01)

    agent = Scripted(busy)
    sample = run({"a": job(agent)}, Conduct(retries=0, patience_s=0.055))[0]
    assert sample.status is Status.ERROR
    assert sample.failure is not None
    assert sample.failure.kind is FailureKind.RATE_LIMITED
    assert sample.attempts == 6


def test_a_wait_longer_than_patience_holds_up_nobody() -> None:
    def closed(case: Case, call: int) -> Response:
        raise CaseFailed(FailureKind.RATE_LIMITED, "come back tomorrow", retryable=True, retry_after_s=86_400.0)

    agent, healthy = Scripted(closed), Scripted(good, name="healthy")
    samples = run({"a": job(agent), "b": job(healthy)}, Conduct(patience_s=5.0))
    refused = [sample for sample in samples if sample.arm_id == "a"]
    assert [sample.failure.kind for sample in refused if sample.failure] == [FailureKind.RATE_LIMITED] * 3
    assert sum(agent.calls.values()) == 1
    assert [sample.status for sample in samples if sample.arm_id == "b"] == [Status.OK] * 3


@pytest.mark.parametrize(
    ("constraints", "kind"),
    [(Constraints(token_limit=14), FailureKind.TOKENS), (Constraints(cost_limit_usd=0.2), FailureKind.COST)],
)
def test_an_answer_that_used_too_much_is_past_its_limit_and_scores_nothing(
    constraints: Constraints, kind: FailureKind
) -> None:
    agent = Scripted(lambda case, _: Response(case.target, Usage(10, 5), cost=0.25))
    sample = run({"a": job(agent, constraints=constraints)})[0]
    assert (sample.status, sample.scores) == (Status.LIMIT, {"score": 0.0})
    assert sample.failure is not None
    assert sample.failure.kind is kind
    assert sample.output == "one"


def test_what_would_meet_every_case_ends_the_run_with_its_message_and_its_remedy() -> None:
    def refuse(case: Case, call: int) -> Response:
        raise CaseFailed(FailureKind.HTTP_ERROR, "401 from there", fatal=True, remedy="Set KEY.")

    agent = Scripted(refuse)
    trials = tuple(Trial("a", Phase.MEASURED, 0, case_id) for case_id in CASES)
    with executing({"a": job(agent)}) as executor:
        schedule = Schedule(Plan((Arm("a", "a", "x"),), trials), executor, [FatalFailure(executor.facts)])
        samples = list(schedule)
        fatal = executor.facts.fatal
        assert fatal is not None
        assert (fatal.message, fatal.remedy) == ("401 from there", "Set KEY.")
        assert fatal.where == "arm a"
    assert [sample.status for sample in samples] == [Status.CANCELLED]
    assert schedule.stopped_because == "401 from there"
    assert sum(agent.calls.values()) == 1


def test_a_disk_that_is_full_is_no_failure_of_an_agent_and_ends_the_run() -> None:
    def fill(case: Case, call: int) -> Response:
        raise OSError(errno.ENOSPC, "No space left on device", "/runs/journal")

    with executing({"a": job(Scripted(fill))}) as executor:
        executor.submit(Trial("a", Phase.MEASURED, 0, "one"))
        step = executor.wait()
        fatal = executor.facts.fatal
    assert step.sample is not None
    assert step.sample.status is Status.CANCELLED
    assert fatal is not None
    assert (fatal.message, fatal.remedy) == ("/runs/journal: No space left on device", "Make room on that disk.")


def test_an_agent_that_cannot_start_is_named_and_the_others_are_closed() -> None:
    class Broken(Scripted):
        async def start(self) -> None:
            raise PluginError("no such command", remedy="Install it.")

    healthy, broken = Scripted(good), Broken(good, name="broken")
    executor = CaseExecutor({"a": job(healthy), "b": job(broken)}, Conduct(), {})
    with pytest.raises(PluginError, match="agent broken: no such command"):
        executor.open()
    assert healthy.log == ["start", "close"]


def test_warm_up_calls_come_before_the_first_measured_one_and_are_not_recorded() -> None:
    agent = Scripted(good)
    samples = run({"a": job(agent, warmup=3)}, Conduct(concurrency=3))
    assert len(samples) == 3
    assert sum(agent.calls.values()) == 6
    assert agent.log[1:4] == [agent.log[1]] * 3


def test_cases_overlap_up_to_the_concurrency() -> None:
    inside, peak = 0, 0

    class Counting(Scripted):
        async def run(self, case: Case) -> Response:
            nonlocal inside, peak
            inside += 1
            peak = max(peak, inside)
            for _ in range(50):
                await asyncio.sleep(0)
            inside -= 1
            return Response(case.target)

    assert len(run({"a": job(Counting(good))}, Conduct(concurrency=2), epochs=5)) == 15
    assert peak == 2


def test_the_servers_cpu_time_counts_as_the_agents() -> None:
    used = iter(range(100))
    share = CpuShare(lambda: next(used) * 0.5)
    agent = Scripted(lambda case, _: Response(case.target, readings={"cpu_s": 0.25}))
    sample = run({"a": job(agent, server=share)})[0]
    assert (sample.readings["cpu_s"], sample.readings["server.cpu_s"]) == (0.75, 0.5)


def test_trajectories_observations_and_simulation_are_kept() -> None:
    response = Response(
        "one",
        events=(Event("tool_call", 0.1, "search", {"query": "x"}),),
        observed={"temperature": 0.2},
        model="m-1",
        simulated=True,
    )
    with executing({"a": job(Scripted(lambda *_: response))}) as executor:
        executor.submit(Trial("a", Phase.MEASURED, 0, "one"))
        sample = next_sample(executor)
        assert executor.facts.observed == {"a": {"temperature": 0.2, "model": "m-1", "simulated": True}}
    events = sample.details["events"]
    assert isinstance(events, list)
    assert (events[0]["name"], events[0]["content"]) == ("search", {"query": "x"})
    assert (sample.details["model"], sample.details["simulated"]) == ("m-1", True)


def test_secrets_are_taken_out_of_everything_that_is_kept() -> None:
    def redact(value: object) -> object:
        if isinstance(value, str):
            return value.replace("s3cret", "[KEY]")
        if isinstance(value, dict):
            return {key: redact(item) for key, item in value.items()}
        return [redact(item) for item in value] if isinstance(value, list) else value

    def answer(case: Case, call: int) -> Response:
        if case.id == "two":
            raise ValueError("bad key s3cret")
        return Response("s3cret", events=(Event("message", 0.0, "user", "s3cret"),))

    for sample in run({"a": job(Scripted(answer))}, Conduct(redact=redact)):
        assert "s3cret" not in repr(sample)
        assert "[KEY]" in repr(sample)


def test_answers_from_the_cache_are_judged_and_are_no_measurement() -> None:
    class Remembered:
        def __init__(self) -> None:
            self.kept: dict[tuple[str, str, int], Response] = {("a", "one", 0): Response("one", cost=5.0)}

        def get(self, arm_id: str, case: Case, epoch: int) -> Response | None:
            return self.kept.get((arm_id, case.id, epoch))

        def put(self, arm_id: str, case: Case, epoch: int, response: Response) -> None:
            self.kept[arm_id, case.id, epoch] = response

    cache, agent = Remembered(), Scripted(good)
    samples = {sample.case_id: sample for sample in run({"a": job(agent)}, Conduct(cache=cache))}
    assert agent.calls == {"two": 1, "three": 1}
    assert samples["one"].details["cached"] is True
    assert (samples["one"].status, samples["one"].readings) == (Status.OK, {})
    assert set(cache.kept) == {("a", name, 0) for name in CASES}


def test_a_defect_of_a_judge_reaches_the_caller() -> None:
    async def broken(case: Case, response: Response) -> CaseJudgement:
        raise LookupError("a defect")

    with executing({"a": job(Scripted(good), judge=broken)}) as executor:
        executor.submit(Trial("a", Phase.MEASURED, 0, "one"))
        with pytest.raises(LookupError, match="a defect"):
            executor.wait()


def test_closing_ends_calls_that_are_under_way() -> None:
    begun, ended = [], []

    class Endless(Scripted):
        async def run(self, case: Case) -> Response:
            begun.append(case.id)
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(case.id)
            raise AssertionError

    agent = Endless(good)
    with executing({"a": job(agent), "b": job(Scripted(good, name="quick"))}, Conduct(concurrency=2)) as executor:
        executor.submit(Trial("a", Phase.MEASURED, 0, "one"))
        executor.submit(Trial("b", Phase.MEASURED, 0, "one"))
        assert next_sample(executor).arm_id == "b"
    assert (begun, ended) == (["one"], ["one"])
    assert agent.log == ["start", "close"]
