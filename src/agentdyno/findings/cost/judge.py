"""What agents cost for what they achieve: rows, frontiers, and what could be saved."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.errors import NotComparable, SpecError
from agentdyno.findings.cost.judge_common_cases import CommonCases, common_cases
from agentdyno.findings.cost.judge_configurations import configuration_rows
from agentdyno.findings.cost.judge_opportunities import opportunities
from agentdyno.findings.cost.judge_spending import Spending, cost_interval, spending_of
from agentdyno.findings.cost.model import CostReport, CostRow
from agentdyno.model.form import RunWarning
from agentdyno.model.identity import derive_seed
from agentdyno.model.record import AgentRecord

WITH_SPEED = "accuracy × speed score"
ACCURACY_ALONE = "accuracy"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an agent stands towards a frontier, and in what share of the draws it is on it."""

    on: bool
    probability: float | None


def cost_report(records: Sequence[AgentRecord], *, volume: int = 1000, seed: int = 0) -> CostReport:
    """What each agent of a suite costs, who is beaten by nobody, which configurations pay, what could be saved.

    ``volume`` is the number of tasks that savings are stated for. Raises ``NotComparable`` for no records and for
    records of different suites; everything else that does not compare is a warning and a ``None``.

    The performance in "performance per dollar" is accuracy × speed score where every agent has both and all ran on
    one machine, else accuracy alone, so that the figures of one report compare.
    """
    if volume < 1:
        raise SpecError(f"expected a volume of at least 1 task, got {volume}")
    if not records:
        raise NotComparable("there is no agent with results", remedy="`dyno run` a suite first.")
    suites = sorted({record.suite_id for record in records})
    if len(suites) > 1:
        raise NotComparable(
            f"the agents were measured on different suites: {', '.join(suites)}", remedy="Choose one with --suite."
        )
    whole = [spending_of(record) for record in records]
    rows = _rows(whole, seed)
    names = dict.fromkeys(item.benchmark_id for record in records for item in record.benchmarks)
    if len(names) == 1:  # the suite is its one benchmark: the same draws, so that both say the same
        benchmark_rows = [replace(row, benchmark=name) for name in names for row in rows if row.tasks]
    else:
        benchmark_rows = [row for name in names for row in _rows(_within(records, name), derive_seed(seed, name))]
    speedy = rows[0].performance.startswith(WITH_SPEED)
    return CostReport(
        suite=records[0].suite_name or records[0].suite_id,
        volume=volume,
        rows=tuple(rows),
        benchmark_rows=tuple(benchmark_rows),
        configurations=configuration_rows(whole, volume, with_speed=speedy),
        opportunities=opportunities(whole, volume),
        warnings=tuple(cost_cautions(whole)),
    )


def _within(records: Sequence[AgentRecord], benchmark: str) -> list[Spending]:
    found = [spending_of(record, benchmark) for record in records]
    return [item for item in found if item.tasks]


def _rows(items: Sequence[Spending], seed: int) -> list[CostRow]:
    basis = _basis(items)
    rows = [_row(item, basis, derive_seed(seed, place, item.record.arm_agent)) for place, item in enumerate(items)]
    priced = priced_group(items)
    for place, found in _frontier(items, priced, "accuracy", seed).items():
        rows[place] = replace(
            rows[place], on_accuracy_frontier=found.on, accuracy_frontier_probability=found.probability
        )
    for place, found in _frontier(items, latency_group(items, priced), "latency", seed).items():
        rows[place] = replace(
            rows[place], on_latency_frontier=found.on, latency_frontier_probability=found.probability
        )
    return rows


def _row(item: Spending, basis: str, seed: int) -> CostRow:
    per_task = item.cost_per_task_usd
    value = None if item.accuracy is None else item.accuracy * (item.speed or 0.0 if basis == WITH_SPEED else 1.0)
    why = ""
    if value is None:
        why = "no case has a score"
    elif per_task is None:
        why = "the cost is not known"
    elif per_task == 0:
        why = "it costs nothing"
    per_dollar = value / per_task if value is not None and per_task else None
    return CostRow(
        agent=item.record.agent,
        benchmark=item.benchmark,
        tasks=item.tasks,
        successes=item.successes,
        cost_usd=item.cost_usd,
        cost_per_task_usd=per_task,
        cost_per_success_usd=item.cost_per_success_usd,
        cost_interval=cost_interval(item, seed),
        never_succeeded=item.tasks > 0 and not item.successes,
        accuracy=item.accuracy,
        duration_s=item.duration_s,
        performance_per_dollar=per_dollar if per_dollar is not None and math.isfinite(per_dollar) else None,
        performance=f"{basis}: {why}" if why else basis,
        total_tokens=item.total_tokens,
        simulated=item.record.simulated,
        known_tokens=item.known_tokens,
        counted=item.counted,
    )


def _basis(items: Sequence[Spending]) -> str:
    machines = {item.record.machine_id for item in items}
    known = all(item.speed is not None for item in items if item.accuracy is not None)
    return WITH_SPEED if known and len(machines) == 1 and "" not in machines else ACCURACY_ALONE


def _frontier(items: Sequence[Spending], places: Sequence[int], axis: str, seed: int) -> dict[int, _Place]:
    """By place; nothing for agents without a common case. Nobody beats an agent that is alone."""
    if len(places) == 1:
        return {places[0]: _Place(True, None)}
    if not places:
        return {}
    shared = common_cases([items[place].record for place in places], items[places[0]].benchmark)
    if not shared.keys:
        return {}
    costs, values = shared.cost_per_task(), _gain(shared, axis, None)
    if not (np.isfinite(costs).all() and np.isfinite(values).all()):
        return {}
    on = on_frontier(costs, values)[0]
    shares: list[float] | None = None
    if shared.independent > 1:
        drawn = [(shared.cost_per_task(part), _gain(shared, axis, part)) for part in shared.draws(seed)]
        # A draw without any score, or duration, of an agent says nothing new about it.
        every = [np.where(np.isfinite(part), part, values) for _, part in drawn]
        shares = frontier_shares(np.concatenate([part for part, _ in drawn]), np.concatenate(every))
    return {
        place: _Place(bool(on[number]), None if shares is None else shares[number])
        for number, place in enumerate(places)
    }


def _gain(shared: CommonCases, axis: str, weights: np.ndarray | None) -> np.ndarray:
    """What more is better of."""
    return shared.accuracy(weights) if axis == "accuracy" else -shared.latency(weights)


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


Grid: TypeAlias = npt.NDArray[np.float64]


def frontier(costs: Sequence[float], values: Sequence[float]) -> list[bool]:
    """Of each point whether it lies on the frontier: no other is at least as cheap and as good, and better in one.

    Points that are equal in both lie on it together, or not at all.
    """
    if not len(costs):
        return []
    found = on_frontier(np.asarray(costs, dtype=np.float64), np.asarray(values, dtype=np.float64))
    return [bool(item) for item in found]


def on_frontier(costs: Grid, values: Grid) -> npt.NDArray[np.bool_]:
    """``frontier`` along the last axis, for many sets of points at once. Numbers must be finite."""
    order = np.lexsort((-values, costs), axis=-1)
    cheapest_first = np.take_along_axis(costs, order, axis=-1)
    theirs = np.take_along_axis(values, order, axis=-1)
    best = np.maximum.accumulate(theirs, axis=-1)
    rises = np.ones_like(best, dtype=bool)
    rises[..., 1:] = best[..., 1:] > best[..., :-1]
    # What reaches the best value so far is on the frontier where it costs what the first to reach it costs.
    first = np.maximum.accumulate(np.where(rises, np.arange(best.shape[-1]), 0), axis=-1)
    on = (theirs == best) & (cheapest_first == np.take_along_axis(cheapest_first, first, axis=-1))
    found: npt.NDArray[np.bool_] = np.empty_like(on)
    np.put_along_axis(found, order, on, axis=-1)
    return found


def frontier_shares(costs: Grid, values: Grid) -> list[float]:
    """Per point (last axis) the share of the sets (first axis) in which it lies on the frontier."""
    return [float(share) for share in on_frontier(costs, values).mean(axis=0)]
