"""What could be saved: each opportunity with the numbers that it follows from, and none without them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from agentdyno.findings.cost.judge_common_cases import columns_of, common_columns, known_use
from agentdyno.findings.cost.judge_configurations import accuracy_against, not_worse
from agentdyno.findings.cost.judge_spending import Spending, cost_of
from agentdyno.findings.cost.model import Opportunity
from agentdyno.findings.engine.measure import paired_row
from agentdyno.model.metric import money_per_task, money_spent
from agentdyno.model.record import CaseRecord

WORTH_NAMING = 0.1
"""The share of an agent's cost from which something is worth naming."""
CONCENTRATED = 2.0
"""Cases take this many times their share of the executions where cost is concentrated in them."""
MOSTLY_INPUT = 0.8
ENOUGH_EPOCHS = 3
"""Tries that reliability (pass^3) needs; more tell nothing where every case ends alike in all of them."""
_NAMED = 3


def opportunities(items: Sequence[Spending], volume: int) -> tuple[Opportunity, ...]:
    """The largest savings first, then what has no amount; simulated agents and unknown costs give none.

    Kinds: ``cheaper_agent``, ``unanswered``, ``failing_cases``, ``failed_executions``, ``input_tokens``, ``epochs``.
    """
    real = [item for item in items if item.cost_usd and not item.record.simulated]
    found = [*_cheaper_agents(items, volume)]
    for item in real:
        found += [*_unanswered(item), *_failing_cases(item), *_failed(item, volume), *_prompts(item), *_epochs(item)]
    return tuple(sorted(found, key=lambda one: -(one.savings_usd or 0.0)))


def _cheaper_agents(items: Sequence[Spending], volume: int) -> Iterator[Opportunity]:
    """For each agent, the cheapest other one that is not significantly worse in accuracy."""
    known = [
        item
        for item in items
        if item.cost_usd is not None and item.accuracy is not None and item.successes and not item.record.simulated
    ]
    known.sort(key=lambda item: item.cost_per_task_usd or 0.0)
    columns = [columns_of(item.record) for item in known]
    for place, item in enumerate(known):
        for other, theirs_of in zip(known[:place], columns, strict=False):
            shared = common_columns([columns[place], theirs_of])
            if not shared.keys:
                continue
            own, theirs = (float(cost) for cost in shared.cost_per_task()[0])
            if theirs >= own or theirs > own * (1.0 - WORTH_NAMING):
                continue
            row = paired_row(item.record, other.record, "accuracy")
            if not not_worse(row):
                continue
            yield Opportunity(
                kind="cheaper_agent",
                text=f"{other.record.agent} instead of {item.record.agent}: {_percent(1 - theirs / own)} cheaper",
                evidence=(
                    f"{money_per_task(theirs)} against {money_per_task(own)} on the same "
                    f"{_counted(len(shared.keys), 'case')}",
                    f"accuracy: {accuracy_against(row, item.record.agent)}",
                ),
                agent=item.record.agent,
                savings_usd=(own - theirs) * volume,
            )
            break


def _unanswered(item: Spending) -> Iterator[Opportunity]:
    """Billed executions of cases that never got an answer. Of other cases the cost of one try is not known."""
    lost = [case for case in item.cases if not _answered(case) and cost_of(case) > 0]
    cost = math.fsum(map(cost_of, lost))
    if not lost or cost < WORTH_NAMING * _cost(item):
        return
    ends: dict[str, int] = {}
    for case in lost:
        for status, number in case.statuses.items():
            ends[status] = ends.get(status, 0) + number
    yield Opportunity(
        kind="unanswered",
        text=f"{_percent(cost / _cost(item))} of the cost of {item.record.agent} got no answer at all",
        evidence=(
            f"{_usd(cost)} of {_usd(_cost(item))} for {_counted(len(lost), 'case')} without any answer",
            "ended: " + ", ".join(f"{number} {status}" for status, number in sorted(ends.items())),
            _most_expensive(lost),
        ),
        agent=item.record.agent,
    )


def _failing_cases(item: Spending) -> Iterator[Opportunity]:
    """Cases that were answered and never passed, where they cost more than their share."""
    failing = [case for case in item.cases if not case.passed and _answered(case) and cost_of(case) > 0]
    share = math.fsum(map(cost_of, failing)) / _cost(item)
    of_tasks = sum(case.tries for case in failing) / item.tasks
    if not item.successes or share < max(WORTH_NAMING, CONCENTRATED * of_tasks):
        return
    yield Opportunity(
        kind="failing_cases",
        text=f"{_counted(len(failing), 'case')} that {item.record.agent} never passes: {_percent(share)} of its "
        "cost: give up earlier on such (a token or cost limit), or do not ask them",
        evidence=(
            f"{_usd(share * _cost(item))} of {_usd(_cost(item))} for {_percent(of_tasks)} of the executions",
            _most_expensive(failing),
        ),
        agent=item.record.agent,
    )


def _failed(item: Spending, volume: int) -> Iterator[Opportunity]:
    """The tries of a case share its cost evenly, which is exact where all of them ended alike."""
    wasted = math.fsum(cost_of(case) * (case.tries - case.passed) / case.tries for case in item.cases)
    share = wasted / _cost(item)
    if share < WORTH_NAMING:
        return
    bad = item.tasks - item.successes
    yield Opportunity(
        kind="failed_executions",
        text=f"{_percent(share)} of the cost of {item.record.agent} goes into executions that fail: "
        f"{_usd(wasted / item.tasks * volume)} at {volume:,} tasks",
        evidence=(
            f"{bad:,} of {_counted(item.tasks, 'execution')} failed",
            f"{_usd(wasted)} of {_usd(_cost(item))}, the cost of a case shared evenly by its tries",
        ),
        agent=item.record.agent,
    )


def _prompts(item: Spending) -> Iterator[Opportunity]:
    """Where tokens of input and output are known in every case and nearly all are input."""
    sums = []
    for name in ("input_tokens", "output_tokens"):
        values = [known_use(case, name) for case in item.cases]
        if any(map(math.isnan, values)):
            return
        sums.append(math.fsum(value * case.tries for value, case in zip(values, item.cases, strict=True)))
    total = sum(sums)
    if not total or sums[0] < MOSTLY_INPUT * total:
        return
    yield Opportunity(
        kind="input_tokens",
        text=f"{_percent(sums[0] / total)} of the tokens of {item.record.agent} are its prompts: shorten them, or "
        "let the provider cache what they share",
        evidence=(f"{sums[0] / item.tasks:,.0f} tokens in, {sums[1] / item.tasks:,.0f} out per task",),
        agent=item.record.agent,
    )


def _epochs(item: Spending) -> Iterator[Opportunity]:
    """Where every case ended alike in all its tries, and each had more of them than reliability needs."""
    tries = min((case.tries for case in item.cases), default=0)
    if tries <= ENOUGH_EPOCHS or any(0 < case.passed < case.tries for case in item.cases):
        return
    kept = math.fsum(cost_of(case) * ENOUGH_EPOCHS / case.tries for case in item.cases)
    yield Opportunity(
        kind="epochs",
        text=f"{item.record.agent} answers every case alike each time: {ENOUGH_EPOCHS} epochs tell as much and save "
        f"{_usd(_cost(item) - kept)} per run",
        evidence=(
            f"{_counted(len(item.cases), 'case')}, each with {tries} tries or more, all of a case right or all wrong",
        ),
        agent=item.record.agent,
    )


def _answered(case: CaseRecord) -> bool:
    return bool(case.statuses.get("ok", 0) + case.statuses.get("failed", 0)) or not case.statuses


def _most_expensive(cases: Sequence[CaseRecord]) -> str:
    ranked = sorted(cases, key=lambda case: (-cost_of(case), case.benchmark, case.case_id))[:_NAMED]
    named = ", ".join(f"{case.benchmark}/{case.case_id} {_usd(cost_of(case))}" for case in ranked)
    return f"the most expensive: {named}" if len(cases) > _NAMED else named


def _cost(item: Spending) -> float:
    return item.cost_usd or 0.0


def _usd(value: float) -> str:
    return money_spent(value)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
