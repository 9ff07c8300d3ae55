"""What agents cost for what they achieve: rows, frontiers, and what could be saved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agentdyno.errors import NotComparable, SpecError
from agentdyno.findings.cost.judge_caution import cost_cautions, latency_group, priced_group
from agentdyno.findings.cost.judge_common_cases import CommonCases, common_cases
from agentdyno.findings.cost.judge_configurations import configuration_rows
from agentdyno.findings.cost.judge_frontier import frontier_shares, on_frontier
from agentdyno.findings.cost.judge_opportunities import opportunities
from agentdyno.findings.cost.judge_spending import Spending, cost_interval, spending_of
from agentdyno.findings.cost.model import CostReport, CostRow
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
    rows = [_row(item, basis, derive_seed(seed, place, item.record.agent)) for place, item in enumerate(items)]
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
    )


def _basis(items: Sequence[Spending]) -> str:
    machines = {item.record.machine_id for item in items}
    known = all(item.speed is not None for item in items if item.accuracy is not None)
    return WITH_SPEED if known and len(machines) == 1 and "" not in machines else ACCURACY_ALONE


def _frontier(items: Sequence[Spending], places: Sequence[int], axis: str, seed: int) -> dict[int, _Place]:
    """By place; nothing for a single agent and for agents without a common case."""
    if len(places) < 2:
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
