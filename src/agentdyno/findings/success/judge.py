"""The four figures from what was counted."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.findings.success.model import Opportunities, Replayed, SuccessMetric
from agentdyno.findings.success.words import COUNTED
from agentdyno.stats.intervals import wilson

DAY_MS = 86_400_000
GOALS = {
    "agents_benchmarked": 1.0,
    "regression_detection": 0.9,
    "optimization_opportunities": 0.3,
    "degradation_incidents": 0.25,
}


def agents_benchmarked(known: Sequence[str], fresh: Sequence[str]) -> SuccessMetric:
    """The share of the ``known`` agents that are among the ``fresh``."""
    done = len(set(known) & set(fresh))
    counts = {"agents": len(set(known)), "benchmarked": done}
    left = sorted(set(known) - set(fresh))
    note = "" if known else "No agent is known here yet."
    if left:
        note = f"Not benchmarked: {', '.join(left[:5])}{'…' if len(left) > 5 else ''}."
    return _metric("agents_benchmarked", done / counts["agents"] if known else None, counts, note=note)


def regression_detection(replayed: Sequence[Replayed]) -> SuccessMetric:
    """How often the judge says of labelled pairs of runs what is known of them."""
    labelled = [item for item in replayed if item.expected is not None]
    right = sum(item.worse == item.expected for item in labelled)
    changed = [item for item in labelled if item.expected]
    counts = {
        "pairs": len(labelled),
        "right": right,
        "worse": len(changed),
        "worse_found": sum(item.worse for item in changed),
        "unchanged": len(labelled) - len(changed),
        "false_alarms": sum(item.worse for item in labelled if not item.expected),
    }
    if not labelled:
        note = "No pair of runs is labelled: run one version twice, or tag a run that is known to be worse."
        return _metric("regression_detection", None, counts, note=note)
    found = wilson(right, len(labelled))
    note = "" if changed else "No run is tagged known:worse, so only false alarms are counted."
    value = right / len(labelled)
    return _metric("regression_detection", value, counts, (found.low, found.high), note)


def optimization_opportunities(found: Sequence[Opportunities]) -> SuccessMetric:
    """The share of the opportunities that are gone in the version after."""
    total, taken = sum(item.found for item in found), sum(item.taken for item in found)
    counts = {"agents": len(found), "found": total, "taken": taken}
    note = "" if total else "No earlier version of an agent has a profile that shows an opportunity."
    return _metric("optimization_opportunities", taken / total if total else None, counts, note=note)


def degradation_incidents(replayed: Sequence[Replayed], *, until: int, days: int) -> SuccessMetric:
    """By how much fewer new versions were worse than the one before, this window against the window before it."""
    start = until - days * DAY_MS
    versions = [item for item in replayed if item.new_version and item.at <= until]
    now = [item for item in versions if item.at > start]
    before = [item for item in versions if start - days * DAY_MS < item.at <= start]
    incidents = [sum(item.worse for item in part) for part in (now, before)]
    counts = {
        "versions": len(now),
        "incidents": incidents[0],
        "versions_before": len(before),
        "incidents_before": incidents[1],
    }
    if not incidents[1]:
        note = "There was no incident in the window before to have fewer than."
        return _metric("degradation_incidents", None, counts, note=note)
    return _metric("degradation_incidents", 1.0 - incidents[0] / incidents[1], counts)


def _metric(
    name: str,
    value: float | None,
    counts: dict[str, int],
    interval: tuple[float, float] | None = None,
    note: str = "",
) -> SuccessMetric:
    met = None if value is None else value >= GOALS[name]
    return SuccessMetric(name, value, GOALS[name], COUNTED[name], counts, interval, note, met)
