"""Cases in doubt are tried again, each until it is decided."""

from __future__ import annotations

from agentdyno.model import Arm, Phase, Plan, Sample, Status, Trial
from agentdyno.model.case import CaseKey
from agentdyno.runner.rules.settling import SETTLED, DoubtfulCase, UntilSettled
from agentdyno.stats.pass_rate import pass_rate_test

TEST = pass_rate_test(0.8, 5, 20, 100, 0.005)
PLAN = Plan(arms=(Arm("arm", "facts · mine", "s/facts", {}, benchmark="facts", agent="mine@1"),), trials=())


def sample(case_id: str, right: bool, status: Status | None = None, phase: Phase = Phase.MEASURED) -> Sample:
    return Sample("arm", phase, 0, status or (Status.OK if right else Status.FAILED), 0, case_id=case_id)


def trial(case_id: str) -> Trial:
    return Trial("arm", Phase.MEASURED, 0, case_id)


def rule(**wrong: int) -> UntilSettled:
    made = UntilSettled({CaseKey("facts", name): DoubtfulCase(TEST, 5, count) for name, count in wrong.items()})
    assert made.stop(PLAN) is None
    return made


def test_a_case_is_skipped_once_it_is_settled_and_the_others_go_on() -> None:
    made = rule(a=5, b=1)
    for _ in range(3):
        assert not made.skip(trial("a"))
        made.observe(sample("a", right=False))
    assert (made.skip(trial("a")), made.skip(trial("b")), made.stop(PLAN)) == (True, False, None)


def test_the_run_ends_when_every_case_is_settled() -> None:
    made = rule(a=1)
    for _ in range(11):
        assert made.stop(PLAN) is None
        made.observe(sample("a", right=True))
    assert made.stop(PLAN) == SETTLED


def test_an_answer_that_arrives_late_does_not_open_a_case_again() -> None:
    made = rule(a=1)
    for _ in range(11):
        made.observe(sample("a", right=True))
    made.observe(sample("a", right=False))
    assert made.stop(PLAN) == SETTLED


def test_warm_ups_and_cancelled_tries_count_for_nothing_and_errors_as_wrong() -> None:
    made = rule(a=5)
    for _ in range(9):
        made.observe(sample("a", right=False, status=Status.CANCELLED))
        made.observe(sample("a", right=False, phase=Phase.INSTRUMENTED))
        made.observe(sample("elsewhere", right=False))
    assert made.stop(PLAN) is None
    for _ in range(3):
        made.observe(sample("a", right=False, status=Status.ERROR))
    assert made.stop(PLAN) == SETTLED
