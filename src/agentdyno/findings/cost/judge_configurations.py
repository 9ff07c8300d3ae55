"""Which configurations of a sweep (models, temperatures, contexts…) give the most for their money."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentdyno.findings.cost.judge_common_cases import common_cases
from agentdyno.findings.cost.judge_spending import Spending
from agentdyno.findings.cost.model import ConfigurationRow
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import fewest_clusters
from agentdyno.findings.engine.measure import paired_row
from agentdyno.model.identity import canonical_json
from agentdyno.model.metric import Verdict, money_per_task

OPTIMAL_ABOVE = 0.8
_STEM = re.compile(r"[\w.+-]*")


@dataclass(frozen=True, slots=True)
class _Entrant:
    """One configuration on the cases that the whole sweep has in common; dollars are per task."""

    item: Spending
    accuracy: float
    performance: float
    cost: float


def configuration_rows(items: Sequence[Spending], volume: int, *, with_speed: bool) -> tuple[ConfigurationRow, ...]:
    """A row per configuration of every sweep among the agents.

    A sweep are two or more agents whose configurations have the same keys, or whose names have the same beginning
    (``solver[large]``, ``solver[small]``), and which differ in a value or in the name.

    Efficiency is a configuration's performance per dollar divided by the best one's, 1 at most; the best is sought
    among those that are not significantly worse in accuracy than the most accurate (``not_worse``). Where the best is
    free, free configurations compare by performance alone and those that cost money have an efficiency of 0. A
    configuration is optimal above 0.8, unless it is significantly worse. Savings are against the most expensive one.
    """
    rows: list[ConfigurationRow] = []
    for sweep in sweeps(items):
        rows += _sweep_rows([items[place] for place in sweep], volume, with_speed)
    return tuple(rows)


def sweeps(items: Sequence[Spending]) -> list[list[int]]:
    """Places of the agents that are configurations of one thing."""
    groups: list[list[int]] = []
    for place, item in enumerate(items):
        joined = [group for group in groups if any(_akin(items[other], item) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append(sorted({place, *(other for group in joined for other in group)}))
    return sorted(group for group in groups if len({_identity(items[place]) for place in group}) > 1)


def _akin(first: Spending, second: Spending) -> bool:
    if first.record.simulated != second.record.simulated:
        return False
    keys = set(first.record.configuration)
    if keys and keys == set(second.record.configuration):
        return True
    stems = [_STEM.match(item.record.name) for item in (first, second)]
    names = [found[0] if found else "" for found in stems]
    return names[0] == names[1] != "" and first.record.name != second.record.name


def _identity(item: Spending) -> str:
    return canonical_json([dict(item.record.configuration), item.record.name])


def _sweep_rows(items: Sequence[Spending], volume: int, with_speed: bool) -> list[ConfigurationRow]:
    entrants, unknown = _entrants(items, with_speed)
    by_record = {id(entrant.item): entrant for entrant in entrants}
    if len(entrants) < 2:
        return []
    leader = max(entrants, key=lambda entrant: (entrant.accuracy, -entrant.cost))
    dearest = max(entrants, key=lambda entrant: entrant.cost)
    comparisons = {
        id(entrant.item): paired_row(leader.item.record, entrant.item.record, "accuracy")
        for entrant in entrants
        if entrant is not leader
    }
    rated = [entrant for entrant in entrants if entrant is leader or not_worse(comparisons[id(entrant.item)])]
    rows = []
    for item in items:
        found = by_record.get(id(item))
        if found is None:
            why = unknown[id(item)]
            rows.append(ConfigurationRow(item.record.agent, item.record.configuration, None, False, evidence=why))
            continue
        efficiency = _efficiency(found, rated)
        saves = dearest.cost > found.cost
        rows.append(
            ConfigurationRow(
                agent=item.record.agent,
                configuration=item.record.configuration,
                efficiency=efficiency,
                optimal=efficiency is not None and efficiency > OPTIMAL_ABOVE and found in rated,
                savings_usd=(dearest.cost - found.cost) * volume if saves else None,
                against=f"{dearest.item.record.agent}, the most expensive" if saves else "",
                evidence=_evidence(found, leader, comparisons.get(id(item))),
            )
        )
    return rows


def _entrants(items: Sequence[Spending], with_speed: bool) -> tuple[list[_Entrant], dict[int, str]]:
    """Those whose cost and accuracy are known, and why the others are none."""
    unknown = {id(item): "the cost is not known" for item in items if item.cost_usd is None}
    unknown |= {id(item): "no case has a score" for item in items if item.accuracy is None}
    known = [item for item in items if id(item) not in unknown]
    shared = common_cases([item.record for item in known])
    if not shared.keys:
        return [], unknown
    costs, accuracies = shared.cost_per_task()[0], shared.accuracy()[0]
    entrants = []
    for place, item in enumerate(known):
        accuracy = float(accuracies[place])
        if accuracy != accuracy:
            unknown[id(item)] = "no case that all have in common has a score"
            continue
        performance = accuracy * (item.speed or 0.0) if with_speed else accuracy
        entrants.append(_Entrant(item, accuracy, performance, float(costs[place])))
    return entrants, unknown


def _efficiency(entrant: _Entrant, rated: Sequence[_Entrant]) -> float | None:
    """0..1; ``None`` where nothing that is as accurate as the best achieves anything."""
    free = [other.performance for other in rated if other.cost == 0]
    if free and max(free) > 0:
        return min(1.0, entrant.performance / max(free)) if entrant.cost == 0 else 0.0
    paid = [other.performance / other.cost for other in rated if other.cost > 0]
    best = max(paid, default=0.0)
    if best <= 0:
        return None
    if entrant.cost == 0:
        return 1.0 if entrant.performance > 0 else 0.0
    return min(1.0, entrant.performance / entrant.cost / best)


def not_worse(row: PairedRow) -> bool:
    """Whether the candidate passes for as accurate: not significantly worse in a test that could have shown it.

    Where there are too few cases for any test, only one that is not less accurate at all.
    """
    if row.verdict is None or row.change is None:
        return False
    return row.verdict is not Verdict.WORSE and (row.change >= 0 or row.clusters >= fewest_clusters())


def _evidence(entrant: _Entrant, leader: _Entrant, row: PairedRow | None) -> str:
    text = f"accuracy {100 * entrant.accuracy:.1f} %, {money_per_task(entrant.cost)}"
    if row is None:
        return f"{text}; the most accurate"
    return f"{text}; {accuracy_against(row, leader.item.record.agent)}"


def accuracy_against(row: PairedRow, other: str) -> str:
    """``significantly worse than x@1 (-12.0 points [-20.0, -4.0], p = 0.004)``."""
    if row.verdict is None:
        return f"does not compare with {other}: {row.reason}"
    words = {
        Verdict.WORSE: "significantly worse than",
        Verdict.BETTER: "significantly better than",
        Verdict.SAME: "as accurate as",
        Verdict.INCONCLUSIVE: "no significant difference from",
    }
    figures = [] if row.change is None else [f"{100 * row.change:+.1f} points"]
    if figures and row.interval is not None:
        figures[0] += f" [{100 * row.interval[0]:+.1f}, {100 * row.interval[1]:+.1f}]"
    if row.p_value is not None:
        figures.append(f"p = {row.p_value:.2g}")
    if row.verdict is Verdict.INCONCLUSIVE and row.detectable is not None:
        figures.append(f"{row.cases} cases would show {100 * row.detectable:.0f} points")
    return f"{words[row.verdict]} {other}" + (f" ({', '.join(figures)})" if figures else "")
