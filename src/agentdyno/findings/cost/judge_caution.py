"""What a report of costs cannot say, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agentdyno.findings.cost.judge_common_cases import common_cases
from agentdyno.findings.cost.judge_spending import Spending
from agentdyno.model.result import RunWarning


def priced_group(items: Sequence[Spending]) -> list[int]:
    """Those that may stand on a frontier: cost and accuracy are known, and all are measured, or all simulated."""
    real = any(not item.record.simulated for item in items)
    return [
        place
        for place, item in enumerate(items)
        if item.cost_usd is not None and item.accuracy is not None and not (real and item.record.simulated)
    ]


def latency_group(items: Sequence[Spending], places: Sequence[int]) -> list[int]:
    """Of the places those whose durations compare: one machine's, that of the most agents.

    An agent that never succeeded is left out: being fast and cheap at nothing puts nobody else off the frontier.
    """
    timed = [place for place in places if items[place].duration_s is not None and items[place].successes]
    machines = Counter(items[place].record.machine_id for place in timed if items[place].record.machine_id)
    if not machines:
        return []
    most = machines.most_common(1)[0][0]
    return [place for place in timed if items[place].record.machine_id == most]


def cost_cautions(items: Sequence[Spending]) -> Iterator[RunWarning]:
    """The warnings of a report over whole suites."""
    yield from _unpriced(items)
    yield from _simulated(items)
    never = [item.record.agent for item in items if item.tasks and not item.successes]
    if never:
        yield RunWarning(
            "never_succeeded",
            f"{_names(never)} never succeeded: no cost per success, and no place on the frontier of latency",
        )
    yield from _different(items)


def _unpriced(items: Sequence[Spending]) -> Iterator[RunWarning]:
    unpriced = [item.record.agent for item in items if item.tasks and item.cost_usd is None]
    if unpriced:
        yield RunWarning(
            "unknown_cost",
            f"the cost of {_names(unpriced)} is not known: left out of frontiers and savings",
            "Give the price of its model under `prices:` in dyno.yaml, or let the agent report its cost.",
        )
    empty = [item.record.agent for item in items if not item.tasks]
    if empty:
        yield RunWarning("no_executions", f"nothing was recorded of {_names(empty)}")


def _simulated(items: Sequence[Spending]) -> Iterator[RunWarning]:
    simulated = [item.record.agent for item in items if item.record.simulated]
    if simulated:
        apart = "" if len(simulated) == len(items) else ", and not on the frontiers of measured agents"
        yield RunWarning("simulated", f"the figures of {_names(simulated)} are simulated, no measurement{apart}")


def _different(items: Sequence[Spending]) -> Iterator[RunWarning]:
    if len(items) < 2:
        return
    if len({item.record.suite for item in items}) > 1:
        yield RunWarning("suite_versions", "the agents were measured on different versions of the suite")
    compared = [items[place] for place in priced_group(items)]
    compared = compared if len(compared) > 1 else list(items)
    shared = len(common_cases([item.record for item in compared]).keys)
    most = max(len(item.cases) for item in compared)
    if not shared:
        yield RunWarning(
            "no_common_cases",
            "the agents have no case in common: their costs do not compare",
            "Run them on the same version of the suite.",
        )
    elif shared < most:
        yield RunWarning(
            "few_common_cases", f"the frontiers rest on the {shared:,} cases that all have in common, of {most:,}"
        )
    machines = {item.record.machine_id for item in items}
    if len(machines) > 1 or "" in machines:
        yield RunWarning(
            "different_machines",
            "not all agents ran on one machine: speed does not count, and the frontier of latency is one machine's",
        )


def _names(agents: Sequence[str]) -> str:
    names = list(dict.fromkeys(agents))
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
