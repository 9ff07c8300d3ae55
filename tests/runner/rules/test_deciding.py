"""Stopping once candidate and baseline are told apart."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from agentdyno.model import (
    Arm,
    Benchmark,
    Case,
    Phase,
    Plan,
    Reducer,
    Rubric,
    Sample,
    Side,
    Status,
    Suite,
    Trial,
    Verdict,
)
from agentdyno.runner.executor import Facts, TrialStep
from agentdyno.runner.rules.deciding import UntilDecided
from agentdyno.runner.schedule import Schedule
from agentdyno.stats import Decision

ARMS = {"x old": ("x", Side.BASELINE), "x new": ("x", Side.CANDIDATE)}


def make_suite(count: int, groups: int | None = None, rubric: Rubric | None = None) -> Suite:
    cases = tuple(Case(f"c{i}", i, group=None if groups is None else f"g{i % groups}") for i in range(count))
    return Suite("S", (Benchmark("x", cases, rubric=rubric or Rubric()),))


def make_plan(suite: Suite, epochs: int = 1, arms: dict[str, tuple[str, Side]] | None = None) -> Plan:
    """Cases in their order, baseline first."""
    arms = arms or ARMS
    trials = [
        Trial(arm_id, Phase.MEASURED, epoch, case.id)
        for item in suite.benchmarks
        for case in item.cases
        for epoch in range(epochs)
        for arm_id, (benchmark, _) in arms.items()
        if benchmark == item.benchmark_id
    ]
    made = tuple(Arm(arm_id, arm_id, "s", benchmark=name, side=side) for arm_id, (name, side) in arms.items())
    return Plan(made, tuple(trials))


def rule(count: int = 20, epochs: int = 1, groups: int | None = None, **options: Any) -> UntilDecided:
    suite = make_suite(count, groups, options.pop("rubric", None))
    return UntilDecided.of(suite, make_plan(suite, epochs), **options)


def answer(
    case: int, side: str, score: float | None, status: Status = Status.OK, epoch: int = 0, benchmark: str = "x"
) -> Sample:
    scores = {} if score is None else {"score": score}
    return Sample(f"{benchmark} {side}", Phase.MEASURED, epoch, status, 0, case_id=f"c{case}", scores=scores)


def pair(case: int, old: float, new: float) -> list[Sample]:
    return [answer(case, "old", old), answer(case, "new", new)]


def pairs(values: Iterable[tuple[float, float]]) -> list[Sample]:
    return [sample for case, (old, new) in enumerate(values) for sample in pair(case, old, new)]


def feed(until: UntilDecided, samples: Iterable[Sample]) -> UntilDecided:
    for sample in samples:
        until.observe(sample)
    return until


NOTHING = Plan((), ())


def test_nothing_is_decided_before_anything_is_seen() -> None:
    until = rule()
    assert until.stop(NOTHING) is None
    found = until.outcome
    assert (found.verdict, found.difference, found.p_value) == (Verdict.INCONCLUSIVE, None, 1.0)
    assert (found.cases, found.planned_cases, found.calls, found.planned_calls) == (0, 20, 0, 40)
    assert str(found) == "not decided after 0 of 20 cases"


def test_the_run_ends_with_the_case_that_decides() -> None:
    until = rule(30)
    reasons = []
    for case in range(9):
        feed(until, pair(case, 1.0, 0.0))
        reasons.append(until.stop(NOTHING))
    assert reasons[:7] == [None] * 7
    assert reasons[7] == "decided: candidate is worse, -100 points (95 %: -100 to -13) after 8 of 30 cases"
    assert reasons[8] == reasons[7]
    found = until.outcome
    assert (found.verdict, found.cases, found.observations, found.difference) == (Verdict.WORSE, 8, 8, -1.0)
    assert (found.calls, found.planned_calls, found.saved_calls) == (18, 60, 42)
    assert found.p_value <= 0.05
    assert found.interval.high < 0


def test_half_a_case_is_no_observation() -> None:
    until = feed(rule(), pairs([(1.0, 0.0)] * 7))
    until.observe(answer(7, "old", 1.0))
    assert until.stop(NOTHING) is None
    assert until.outcome.observations == 7
    until.observe(answer(7, "new", 0.0))
    assert until.stop(NOTHING) is not None


def test_a_better_candidate_is_told_so() -> None:
    until = feed(rule(), pairs([(0.0, 1.0)] * 8))
    assert (until.stop(NOTHING) or "").startswith("decided: candidate is better, +100 points")
    assert until.outcome.verdict is Verdict.BETTER


def test_sides_that_do_not_differ_are_the_same_to_within_the_tolerance() -> None:
    until = feed(rule(400), pairs([(1.0, 1.0)] * 200))
    reason = "decided: candidate is the same to within 3 points, 0 points (95 %: -3.0 to +3.0) after 153 of 400 cases"
    assert until.stop(NOTHING) == reason
    assert until.outcome.saved_calls == 800 - 400


def test_epochs_are_averaged_and_a_case_counts_when_all_of_them_are_there() -> None:
    until = rule(10, epochs=2)
    feed(until, [answer(0, "old", 1.0, epoch=e) for e in range(2)])
    until.observe(answer(0, "new", 1.0))
    assert until.outcome.observations == 0
    until.observe(answer(0, "new", 0.0, Status.FAILED, epoch=1))
    assert (until.outcome.observations, until.outcome.difference) == (1, -0.5)


def test_the_rubric_makes_one_score_of_the_epochs() -> None:
    until = rule(10, epochs=2, rubric=Rubric(reducer=Reducer.MAX))
    feed(until, [answer(0, "old", score, epoch=e) for e, score in enumerate((1.0, 0.0))])
    feed(until, [answer(0, "new", score, epoch=e) for e, score in enumerate((0.5, 0.25))])
    assert until.outcome.difference == -0.5


def test_timeouts_and_limits_score_zero_and_errors_leave_a_case_unpaired() -> None:
    until = rule()
    feed(until, [answer(0, "old", 1.0), answer(0, "new", None, Status.TIMEOUT)])
    feed(until, [answer(1, "old", None, Status.LIMIT), answer(1, "new", 1.0)])
    feed(until, [answer(2, "old", None, Status.ERROR), answer(2, "new", 1.0)])
    found = until.outcome
    assert (found.observations, found.difference, found.cases, found.unpaired) == (2, 0.0, 3, 1)


def test_a_case_with_one_scored_epoch_has_a_score() -> None:
    until = rule(10, epochs=2)
    feed(until, [answer(0, "old", 1.0, epoch=e) for e in range(2)])
    feed(until, [answer(0, "new", None, Status.ERROR), answer(0, "new", 0.25, epoch=1)])
    assert until.outcome.difference == -0.75


def test_what_was_cancelled_or_is_no_measured_answer_is_ignored() -> None:
    until = rule()
    until.observe(answer(0, "old", 1.0))
    until.observe(answer(0, "new", None, Status.CANCELLED))
    until.observe(replace(answer(0, "new", 1.0), phase=Phase.WARMUP))
    until.observe(replace(answer(0, "new", 1.0), arm_id="another arm"))
    until.observe(replace(answer(0, "new", 1.0), case_id="another case"))
    assert (until.outcome.observations, until.outcome.calls) == (0, 1)
    until.observe(answer(0, "new", 0.0))
    assert (until.outcome.observations, until.outcome.calls) == (1, 2)


def test_a_group_of_cases_is_one_observation() -> None:
    until = rule(6, groups=2)
    feed(until, [*pair(0, 1.0, 0.0), *pair(2, 1.0, 1.0)])
    assert until.outcome.observations == 0
    feed(until, [answer(4, "old", 1.0), answer(4, "new", None, Status.ERROR)])
    found = until.outcome
    assert (found.observations, found.cases, found.unpaired, found.difference) == (1, 3, 1, -0.5)


def test_cases_count_in_the_order_of_the_plan_whichever_ends_first() -> None:
    late_loss = pairs([(0.0, 0.0), *[(0.0, 1.0)] * 9])
    until = feed(rule(), late_loss[2:])
    assert until.stop(NOTHING) is None
    assert until.outcome.observations == 0
    feed(until, late_loss[:2])
    assert until.outcome == feed(rule(), late_loss).outcome
    assert until.outcome.verdict is Verdict.BETTER


def test_replaying_in_any_order_and_twice_gives_the_same_state() -> None:
    source = random.Random(3)
    samples = pairs([(float(source.random() < 0.9), float(source.random() < 0.5)) for _ in range(40)])
    straight = feed(rule(40, decision=Decision(least=20)), samples)
    assert straight.outcome.verdict is Verdict.WORSE
    assert straight.outcome.cases < 40
    for _ in range(5):
        shuffled = samples[:]
        source.shuffle(shuffled)
        until = feed(rule(40, decision=Decision(least=20)), [*shuffled, *shuffled[:30]])
        assert until.outcome == straight.outcome
        assert until.stop(NOTHING) == straight.stop(NOTHING)


def test_cases_that_wait_for_an_arm_that_was_given_up_are_passed_over() -> None:
    given_up: set[str] = set()
    suite = Suite("S", (make_suite(2).benchmarks[0], Benchmark("y", make_suite(8).benchmarks[0].cases)))
    arms = {**ARMS, "y old": ("y", Side.BASELINE), "y new": ("y", Side.CANDIDATE)}
    until = UntilDecided.of(suite, make_plan(suite, arms=arms), given_up=given_up.__contains__)
    until.observe(answer(0, "old", 1.0))
    for case in range(8):
        for side, score in (("old", 1.0), ("new", 0.0)):
            until.observe(answer(case, side, score, benchmark="y"))
    assert until.stop(NOTHING) is None
    given_up.add("x new")
    assert until.stop(NOTHING) is not None
    assert (until.outcome.verdict, until.outcome.cases) == (Verdict.WORSE, 8)
    until.observe(answer(0, "new", 1.0))  # was under way
    assert until.outcome.calls == 18


def test_benchmarks_with_one_side_do_not_count() -> None:
    suite = Suite("S", (make_suite(4).benchmarks[0], Benchmark("y", make_suite(3).benchmarks[0].cases)))
    until = UntilDecided.of(suite, make_plan(suite, arms={**ARMS, "y new": ("y", Side.CANDIDATE)}))
    assert (until.outcome.planned_cases, until.outcome.planned_calls) == (4, 8)


def test_several_candidates_count_with_their_mean() -> None:
    suite = make_suite(4)
    until = UntilDecided.of(suite, make_plan(suite, arms={**ARMS, "x other": ("x", Side.CANDIDATE)}))
    feed(until, pair(0, 0.0, 1.0))
    assert until.outcome.observations == 0
    until.observe(answer(0, "other", 0.5))
    assert until.outcome.difference == 0.75
    feed(until, [*pair(1, 0.0, 1.0), answer(1, "other", None, Status.ERROR)])
    assert (until.outcome.observations, until.outcome.unpaired) == (1, 1)


def test_a_plan_epoch_by_epoch_is_taken_in_the_order_in_which_it_is_done_with_cases() -> None:
    suite = make_suite(3)
    first = [("c0", 0), ("c1", 0), ("c2", 0), ("c2", 1), ("c0", 1), ("c1", 1)]
    trials = tuple(Trial(arm_id, Phase.MEASURED, epoch, case) for case, epoch in first for arm_id in ARMS)
    until = UntilDecided.of(suite, replace(make_plan(suite), trials=trials))
    assert [cluster.cases for cluster in until.clusters] == [(("x", "c2"),), (("x", "c0"),), (("x", "c1"),)]
    assert until.clusters[0].calls == {"x old": 2, "x new": 2}


class AnyOrder:
    """An executor whose calls end in random order; the candidate is always wrong, the baseline never."""

    def __init__(self) -> None:
        self.flying: list[Trial] = []
        self.rng = random.Random(1)
        self.facts = Facts()

    def open(self) -> None:
        pass

    def submit(self, trial: Trial) -> None:
        self.flying.append(trial)

    def wait(self) -> TrialStep:
        done = self.flying.pop(self.rng.randrange(len(self.flying)))
        side = done.arm_id.removeprefix("x ")
        return TrialStep(answer(int(done.case_id[1:]), side, float(side == "old")))

    def close(self) -> None:
        pass


@pytest.mark.parametrize("parallelism", [1, 4])
def test_a_schedule_ends_when_the_question_is_answered(parallelism: int) -> None:
    suite = make_suite(100)
    plan, until = make_plan(suite), rule(100)
    schedule = Schedule(plan, AnyOrder(), [until], parallelism=parallelism)
    samples = list(schedule)
    assert 16 <= len(samples) <= 16 + 8 * (parallelism - 1)
    assert schedule.stopped_because == str(until.outcome)
    assert until.outcome.cases == 8
    assert until.outcome.saved_calls == 200 - len(samples)
    assert not until.skip(plan.trials[0])


def test_narrow_intervals_are_told_with_a_decimal_and_nothing_has_no_sign() -> None:
    found = rule(1).outcome
    interval = replace(found.interval, low=-0.0001, high=0.0414)
    told = str(replace(found, verdict=Verdict.BETTER, difference=0.0206, interval=interval))
    assert told == "decided: candidate is better, +2.1 points (95 %: 0 to +4.1) after 0 of 1 cases"
