from __future__ import annotations

import pytest

from agentdyno.model import Plan, Sample, Status, Trial
from agentdyno.runner.executor import Facts, TrialStep
from agentdyno.runner.rules.stopping import FailureRate, TimeBudget
from agentdyno.runner.schedule import Schedule
from tests.runner.building import plan, sample, trial


class LoggingExecutor:
    """Performs nothing and writes down what it is asked for; the first trial ends first, or the last."""

    def __init__(self, *, statuses: dict[int, Status] | None = None, last_first: bool = False) -> None:
        self.log: list[str] = []
        self.flying: list[Trial] = []
        self.most_at_once = 0
        self.statuses = statuses or {}
        self.last_first = last_first
        self.broken = ""
        self.facts = Facts()

    def open(self) -> None:
        self.log.append("open")

    def submit(self, trial: Trial) -> None:
        if self.broken == "submit":
            raise RuntimeError("broken")
        self.log.append(f"submit {trial.arm_id}{trial.iteration}")
        self.flying.append(trial)
        self.most_at_once = max(self.most_at_once, len(self.flying))

    def wait(self) -> TrialStep:
        if self.broken == "wait":
            raise RuntimeError("broken")
        done = self.flying.pop(-1 if self.last_first else 0)
        self.log.append(f"end {done.arm_id}{done.iteration}")
        return TrialStep(sample(done.iteration, self.statuses.get(done.iteration, Status.OK), arm_id=done.arm_id))

    def close(self) -> None:
        self.log.append("close")


def six() -> Plan:
    return plan(*(trial(iteration, arm) for iteration in range(3) for arm in ("b", "a")))


def test_one_trial_at_a_time_in_the_order_of_the_plan() -> None:
    executor = LoggingExecutor()
    samples = list(Schedule(six(), executor))
    names = ["b0", "a0", "b1", "a1", "b2", "a2"]
    assert executor.log == [f"{verb} {name}" for name in names for verb in ("submit", "end")] + ["close"]
    assert [item.key for item in samples] == [item.key for item in six().trials]


def test_trials_that_are_done_are_left_out() -> None:
    executor = LoggingExecutor()
    done = {item.key for item in six().trials[:4]}
    schedule = Schedule(six(), executor, done=done)
    assert [item.key for item in schedule] == [item.key for item in six().trials[4:]]
    assert schedule.skipped == 0
    assert schedule.stopped_because is None


def test_a_run_with_everything_done_executes_nothing_and_closes() -> None:
    executor = LoggingExecutor()
    assert list(Schedule(six(), executor, done=[item.key for item in six().trials])) == []
    assert executor.log == ["close"]


def test_a_stop_rule_lets_what_runs_finish_and_says_why_it_stopped() -> None:
    executor = LoggingExecutor()
    now = 0.0
    schedule = Schedule(six(), executor, [TimeBudget(1.0, lambda: now)], parallelism=2)
    seen = []
    for item in schedule:
        seen.append(f"{item.arm_id}{item.iteration}")
        now = 1.0
    assert seen == ["b0", "a0"]
    assert schedule.stopped_because == "the time budget of 1 s is used up (time_budget_s)"
    assert executor.log[-1] == "close"


def test_a_budget_that_is_used_up_at_once_runs_nothing() -> None:
    executor = LoggingExecutor()
    assert list(Schedule(six(), executor, [TimeBudget(0.0, lambda: 0.0)])) == []
    assert executor.log == ["close"]


def test_an_arm_that_is_given_up_is_skipped_and_counted_while_others_go_on() -> None:
    trials = [trial(iteration, arm) for iteration in range(5) for arm in ("good", "bad")]

    class Failing(LoggingExecutor):
        def wait(self) -> TrialStep:
            step = super().wait()
            done = step.sample
            assert done is not None
            return TrialStep(sample(done.iteration, Status.ERROR, arm_id="bad")) if done.arm_id == "bad" else step

    schedule = Schedule(plan(*trials), Failing(), [FailureRate(0.5)])
    seen = [item.arm_id for item in schedule]
    assert (seen.count("good"), seen.count("bad")) == (5, 3)
    assert schedule.skipped == 2
    assert schedule.stopped_because is None


@pytest.mark.parametrize("last_first", [False, True])
def test_at_most_as_many_trials_run_at_once_as_asked(last_first: bool) -> None:
    executor = LoggingExecutor(last_first=last_first)
    samples = list(Schedule(six(), executor, parallelism=3))
    assert executor.most_at_once == 3
    assert sorted(item.key for item in samples) == sorted(item.key for item in six().trials)
    submitted = [line.removeprefix("submit ") for line in executor.log if line.startswith("submit")]
    assert submitted == ["b0", "a0", "b1", "a1", "b2", "a2"]


def test_nothing_runs_while_the_consumer_has_a_sample() -> None:
    executor = LoggingExecutor()
    for _ in Schedule(six(), executor):
        assert executor.flying == []


def test_the_executor_is_closed_when_the_consumer_breaks_out() -> None:
    executor = LoggingExecutor()
    for _ in Schedule(six(), executor, parallelism=2):
        break
    assert executor.log == ["submit b0", "submit a0", "end b0", "close"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_executor_is_closed_when_the_consumer_raises(error: type[BaseException]) -> None:
    executor = LoggingExecutor()

    def consume() -> None:
        for _ in Schedule(six(), executor):
            raise error

    with pytest.raises(error):
        consume()
    assert executor.log[-1] == "close"
    assert executor.log.count("close") == 1


@pytest.mark.parametrize("broken", ["submit", "wait"])
def test_the_executor_is_closed_when_it_raises_itself(broken: str) -> None:
    executor = LoggingExecutor()
    executor.broken = broken
    with pytest.raises(RuntimeError, match="broken"):
        list(Schedule(six(), executor))
    assert executor.log[-1] == "close"
    assert executor.log.count("close") == 1


def test_the_executor_is_closed_when_a_rule_raises() -> None:
    class BadRule(FailureRate):
        def observe(self, sample: Sample) -> None:
            raise ZeroDivisionError

    executor = LoggingExecutor()
    with pytest.raises(ZeroDivisionError):
        list(Schedule(six(), executor, [BadRule(0.5)]))
    assert executor.log[-1] == "close"


class SeveralSamples(LoggingExecutor):
    """Each trial gives two samples; the end comes with the second one, or by itself."""

    def __init__(self, *, ends_alone: bool) -> None:
        super().__init__()
        self.ends_alone = ends_alone
        self.given = 0

    def wait(self) -> TrialStep:
        trial = self.flying[0]
        self.given += 1
        if self.given == 3 or (self.given == 2 and not self.ends_alone):
            self.flying.pop(0)
        last, alone = trial not in self.flying, self.given == 3
        if last:
            self.given = 0
            self.log.append(f"end {trial.arm_id}{trial.iteration}")
        return TrialStep(None if alone else sample(trial.iteration, arm_id=trial.arm_id), last, trial)


@pytest.mark.parametrize("ends_alone", [False, True])
def test_only_the_end_of_a_trial_frees_its_place(ends_alone: bool) -> None:
    executor = SeveralSamples(ends_alone=ends_alone)
    names = [f"{item.arm_id}{item.iteration}" for item in Schedule(six(), executor)]
    assert names == ["b0", "b0", "a0", "a0", "b1", "b1", "a1", "a1", "b2", "b2", "a2", "a2"]
    in_order = ["b0", "a0", "b1", "a1", "b2", "a2"]
    assert executor.log == [f"{verb} {name}" for name in in_order for verb in ("submit", "end")] + ["close"]
    assert executor.most_at_once == 1


def test_steps_tell_which_samples_end_their_trials() -> None:
    schedule = Schedule(plan(trial(0, "a"), trial(1, "a")), SeveralSamples(ends_alone=True))
    assert [(step.sample is not None, step.ended) for step in schedule.steps()] == 2 * [
        (True, False),
        (True, False),
        (False, True),
    ]
