"""One metric of two agents on the cases that both answered: how much it differs, and whether by more than chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import PLAIN, SAME_WITHIN, Measured, MeasureOptions, VerdictLimits, judge
from agentdyno.findings.engine.measure_overall import dimension_pair, measure_overall
from agentdyno.findings.engine.measure_scores import measure_accuracy, measure_time
from agentdyno.findings.engine.measure_separate import (
    OF_THE_MACHINE,
    against_spread,
    comparable_quantity,
    following_time,
    is_busy_throughout,
)
from agentdyno.findings.engine.measure_totals import measure_cost, measure_per_success, measure_reliability
from agentdyno.findings.engine.pairing import Pairing, pair_records
from agentdyno.findings.figures.claims import MOST_DISTURBED
from agentdyno.findings.figures.dimensions import DIMENSIONS, FRUGAL, OVERALL
from agentdyno.model.metric import Verdict, known_metric
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, RunSpread

QUANTITIES = (
    "duration_s",
    "ttft_s",
    "cost_usd",
    "total_tokens",
    "cpu_s",
    "peak_rss_bytes",
    "error_rate",
    "unscored",
    "pass_hat_3",
)
METRICS = (*DIMENSIONS, OVERALL, *QUANTITIES)
"""What two records can be compared in."""

SHORTEST_S = 0.001
"""Times of agents below this are not compared: each side runs in a process of its own, and where that happens to lie
in memory makes a larger difference than its code."""
_TIMES = {"speed": "duration_s", "duration_s": "duration_s", "ttft_s": "ttft_s"}
_SHARES = ("reliability", "error_rate", "unscored", "pass_hat_3")
_PLAIN = ("accuracy", OVERALL, *_SHARES)
_COSTS = ("cost", "cost_usd")
_NEEDS_NO_SCORE = ("speed", "duration_s", "ttft_s", "error_rate", *_COSTS)


def paired_row(
    baseline: AgentRecord, candidate: AgentRecord, metric: str, benchmark: str = "", *, tolerance: float | None = None
) -> PairedRow:
    """One metric of both agents over the cases they share, judged by itself.

    Cases pair by benchmark, id and digest; what rests on scores also needs equal rubrics. ``benchmark`` "" takes the
    whole suite. ``tolerance`` is a relative change for times, money and resources (0.03 unless given), else plain
    points: without one, any significant difference of scores decides, and three points are the same. The scores of
    both sides rest on the shared cases and the baseline's targets. ``SpecError`` for an unknown metric.
    """
    check_metric(metric)
    pairing = pair_records(baseline, candidate, benchmark)
    return judge([measure(pairing, metric, benchmark, MeasureOptions(tolerance=tolerance))], [""])[0]


def check_metric(metric: str) -> None:
    """``SpecError`` for what two records cannot be compared in."""
    if metric not in METRICS:
        raise SpecError(f"unknown metric {metric!r}", remedy=nearest(metric, METRICS))


def measure(
    pairing: Pairing,
    metric: str,
    benchmark: str = "",
    options: MeasureOptions = PLAIN,
    spread: RunSpread = UNKNOWN_SPREAD,
) -> Measured:
    """The row without its verdict; ``pairing`` holds the cases of ``benchmark`` alone where that is given.

    What depends on the machine is held against ``spread`` where the two sides are of separate runs.
    """
    reason, kept = _usable(pairing, metric)
    if reason:
        return Measured(_refused(metric, benchmark, reason), VerdictLimits.plain(options.tolerance, SAME_WITHIN))
    found = _measure(kept, metric, benchmark, options, spread)
    if not kept.same_run and (metric in OF_THE_MACHINE or _of_the_machine_alone(found)):
        found = against_spread(found, kept, spread)
        if found.by_runs and is_busy_throughout(kept, found.row.quantity):
            found = following_time(found, measure(kept, "speed", benchmark, options, spread))
    if metric in _TIMES:
        found = _unless_disturbed(found, kept)
    scored = metric in (*DIMENSIONS, OVERALL) and (metric not in _COSTS or bool(kept.judged_alike.all()))
    scores = dimension_pair(kept, metric) if scored else (None, None)
    return replace(found, row=replace(found.row, baseline_score=scores[0], candidate_score=scores[1]))


def _measure(pairing: Pairing, metric: str, benchmark: str, options: MeasureOptions, spread: RunSpread) -> Measured:
    if metric == "accuracy":
        return measure_accuracy(pairing, benchmark, options)
    if metric in _TIMES:
        quantity = comparable_quantity(pairing, _TIMES[metric], spread)
        return measure_time(pairing, metric, quantity, benchmark, options.tolerance)
    if metric in _SHARES:
        return measure_reliability(pairing, metric, benchmark, options)
    if metric == OVERALL:
        return measure_overall(pairing, benchmark, options)
    if metric in _COSTS:
        return measure_cost(pairing, metric, benchmark, options)
    parts: tuple[str, ...] = (metric,)
    if metric == "efficiency":
        parts = FRUGAL
        own = [part for part in parts if pairing.same_machine and not _too_short(pairing, part)]
        parts = tuple(dict.fromkeys(["total_tokens", *own]))
        if not pairing.same_run and all(_knows(pairing, "total_tokens")):
            parts = ("total_tokens",)
    parts = tuple(comparable_quantity(pairing, part, spread) for part in parts)
    return measure_per_success(pairing, metric, parts, benchmark, options)


def _unless_disturbed(found: Measured, pairing: Pairing) -> Measured:
    """Times are shown and not judged where the bench stood still in too many executions of one side."""
    worst = max((pairing.baseline, pairing.candidate), key=lambda side: side.disturbed)
    if worst.disturbed <= MOST_DISTURBED:
        return found
    text = f"the bench itself stood still during {worst.disturbed:.0%} of the executions of {worst.agent}"
    row = replace(found.row, p_value=None, verdict=Verdict.INCONCLUSIVE, reason=text)
    return replace(found, row=row, shift=None)


def _knows(pairing: Pairing, quantity: str) -> tuple[bool, bool]:
    """Whether either side knows the quantity of any case."""
    first, second = (not bool(np.isnan(side.used(quantity)).all()) for side in (pairing.first, pairing.second))
    return first, second


def _of_the_machine_alone(found: Measured) -> bool:
    """Whether an efficiency has nothing in it but what depends on the machine."""
    return found.row.metric == "efficiency" and "total_tokens" not in found.row.quantity.split(" · ")


def _usable(pairing: Pairing, metric: str) -> tuple[str, Pairing]:
    """Why the metric does not compare, or the cases on which it does."""
    first, second = pairing.baseline, pairing.candidate
    if first.simulated != second.simulated:
        made_up = first if first.simulated else second
        return f"{made_up.agent} was simulated and the other was not", pairing
    if not pairing.keys:
        text = "no case in common"
        if pairing.changed:
            text += f": {pairing.changed} have the same id and ask something else"
        return text, pairing
    if metric in OF_THE_MACHINE and not pairing.same_machine:
        known = first.machine_id and second.machine_id
        text = "measured on different machines" if known else "not measured on one machine that is known"
        return text, pairing
    if metric in _TIMES and not pairing.same_run and first.proxied != second.proxied:
        recorded = first if first.proxied else second
        return f"model calls of {recorded.agent} went through the recording proxy, those of the other not", pairing
    if _too_short(pairing, _TIMES.get(metric, metric)):
        return f"both take less than {1000 * SHORTEST_S:g} ms, which the luck of a process decides", pairing
    if metric in _NEEDS_NO_SCORE:
        return "", pairing
    if not pairing.judged_alike.any():
        return "answers are judged differently on the two sides: their rubrics differ", pairing
    return "", pairing.only(pairing.judged_alike)


def _too_short(pairing: Pairing, quantity: str) -> bool:
    """Whether it is a time that is too short on both sides to be set side by side."""
    if quantity not in ("duration_s", "ttft_s", "cpu_s"):
        return False
    used = [side.used(quantity) for side in (pairing.first, pairing.second)]
    return all(values.size and not np.isnan(values).all() and np.nanmedian(values) < SHORTEST_S for values in used)


def _refused(metric: str, benchmark: str, reason: str) -> PairedRow:
    higher = metric in _PLAIN and metric not in ("error_rate", "unscored")
    quantity = {"accuracy": "score", "speed": "duration_s", "cost": "cost_usd"}.get(metric, metric)
    unit = "ratio" if metric in (*_PLAIN, "efficiency") else known_metric(quantity).unit
    return PairedRow(metric, benchmark, quantity, unit, higher, metric not in _PLAIN, None, None, reason=reason)
