"""A pass rate that every single case has to reach, for agents that are right most of the time.

Each case has the tries of the run. Cases in doubt get further ones, and ``stats/pass_rate`` says when that is enough
and how many wrong answers are too many, so that all cases together are seldom blocked without reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.findings.gate.model import GateVerdict, PolicyRow, Tries
from agentdyno.findings.gate.words import case_names, tries_words
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.settings.judging import MOST_REPEATS
from agentdyno.stats.pass_rate import PassRateTest, Requirement, found_from, pass_rate_test

RULE = "require pass_rate"
_MOST_FIRST = 200
"""A case with more tries is judged by its share of wrong ones: so large a test would take long and show no more."""


def requirement_tests(record: AgentRecord, policy: GatePolicy) -> dict[CaseKey, PassRateTest]:
    """How each case of the record is judged; empty where the policy requires no pass rate.

    All cases that were tried are one family.
    """
    required = policy.cases.pass_rate
    tried = [case for case in record.cases if case.tries]
    if required is None or not tried:
        return {}
    level = policy.alpha / 2
    return {
        case.key: pass_rate_test(required, min(case.tries, _MOST_FIRST), MOST_REPEATS, len(tried), level)
        for case in tried
    }


def judge_pass_rate(
    record: AgentRecord, policy: GatePolicy, repeats: Mapping[CaseKey, Tries]
) -> tuple[tuple[PolicyRow, ...], tuple[CaseKey, ...]]:
    """The row of the rule, where there is one; and the cases that need further tries."""
    tests = requirement_tests(record, policy)
    if policy.cases.pass_rate is None:
        return (), ()
    broken: list[CaseKey] = []
    still_open: list[CaseKey] = []
    seen: dict[CaseKey, Tries] = {}
    for case in record.cases:
        if case.key not in tests:
            continue
        now = tries_so_far(Tries(case.passed, case.tries), repeats.get(case.key, Tries()))
        seen[case.key] = now
        state = state_of(tests[case.key], now)
        if state is Requirement.BROKEN:
            broken.append(case.key)
        elif state is Requirement.OPEN:
            still_open.append(case.key)
    return (_row(policy.cases.pass_rate, tests, seen, broken, still_open),), tuple(still_open)


def tries_so_far(first: Tries, again: Tries) -> Tries:
    return Tries(first.passed + again.passed, first.tries + again.tries)


def state_of(test: PassRateTest, now: Tries) -> Requirement:
    """Where a case stands. One with very many tries is judged by its share of wrong ones."""
    if now.tries > test.most:
        return Requirement.BROKEN if now.wrong * test.most >= test.broken * now.tries else Requirement.MET
    return test.state(now.tries, now.wrong)


def _row(
    required: float,
    tests: Mapping[CaseKey, PassRateTest],
    seen: Mapping[CaseKey, Tries],
    broken: Sequence[CaseKey],
    still_open: Sequence[CaseKey],
) -> PolicyRow:
    asked = f"each case right in {100 * required:g} %"
    if broken:
        worst = sorted(broken, key=lambda key: seen[key].passed / seen[key].tries)
        first = worst[0]
        test = tests[first]
        reason = (
            f"right too seldom: {case_names(worst)} ({first.case_id}: right in {tries_words(seen[first])}; "
            f"{test.broken} wrong ones within {test.most} are too many)"
        )
        return PolicyRow(RULE, asked, f"{len(broken)} below", GateVerdict.BLOCK, reason, tuple(worst))
    if still_open:
        reason = f"in doubt, and not tried often enough: {case_names(still_open)}"
        return PolicyRow(RULE, asked, f"{len(still_open)} open", GateVerdict.INCONCLUSIVE, reason, tuple(still_open))
    if not tests:
        return PolicyRow(RULE, asked, "no case", GateVerdict.INCONCLUSIVE, "no case was tried")
    least = min(tests.values(), key=lambda test: test.first)
    sure = found_from(least)
    told = f"no case of {len(tests):,} is right too seldom"
    if sure is not None:
        told += f"; one that is right in {100 * sure:.0f} % would be found 95 times in 100"
    return PolicyRow(RULE, asked, "0 below", GateVerdict.PASS, told)
