"""Arms of separate runs: what depends on the machine is held against the spread between runs, or not judged at all.

The rule is that of agents (``measure_separate``): the unit is the run, and how many samples a run has says nothing
about what the machine did between the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from agentdyno.findings.engine.between_runs import KnownError, added, contrast_runs
from agentdyno.findings.engine.measure_inversion import visible_ratio
from agentdyno.findings.engine.measure_separate import BUSY, NOT_JUDGED, method_text, restless
from agentdyno.findings.figures.normalised import CPU_NORMALISED, IN_PLACE_OF, NORMALISED
from agentdyno.model import ArmResult, MetricComparison, MetricSummary
from agentdyno.model.record import QuantitySpread, RunSpread
from agentdyno.stats.effects import ratio_interval

INTERLEAVED = "`dyno run SPEC --against REF` measures both interleaved"
TOLD_BY_TIME = "not judged: the CPU was busy throughout, so that duration_s says the same"


def against_runs(
    row: MetricComparison, arms: tuple[ArmResult, ArmResult], spread: RunSpread, alpha: float
) -> MetricComparison:
    """The row with its test over runs; without one, and with the reason, where the spread is not known.

    Times are normalised ones where both arms have them and the spread is of these.
    """
    name = row.metric.name
    if name == "cpu_s" and _is_busy_throughout(arms):
        return replace(row, ratio=row.candidate / row.baseline, reason=TOLD_BY_TIME)
    quantity = _comparable(name, arms, spread)
    if quantity != name:
        first, second = (_middle(arm.metrics, quantity) or 0.0 for arm in arms)
        row = replace(row, baseline=first, candidate=second)
    row = replace(row, unit="runs", ratio=row.candidate / row.baseline)
    known = spread.quantities.get(quantity)
    if known is None or known.degrees < 1 or not known.log_sd > 0.0:
        return replace(row, reason=f"{NOT_JUDGED}: {INTERLEAVED}")
    seen = contrast_runs(math.log(row.candidate / row.baseline), known, alpha, within=_within(arms, quantity, known))
    return replace(
        row,
        baseline_n=known.baseline_runs,
        candidate_n=known.candidate_runs,
        ratio=math.exp(seen.log_ratio),
        interval=ratio_interval(*seen.interval),
        p_value=seen.p_value,
        detectable=visible_ratio(seen.detectable),
        method=f"{method_text(known)}{', of normalised times' if quantity != name else ''}",
    )


def _comparable(name: str, arms: tuple[ArmResult, ArmResult], spread: RunSpread) -> str:
    normalised = IN_PLACE_OF.get(name, "")
    both = all((_middle(arm.metrics, normalised) or 0.0) > 0 for arm in arms)
    return normalised if normalised in spread.quantities and both else name


def _is_busy_throughout(arms: tuple[ArmResult, ArmResult]) -> bool:
    """Whether CPU time is all but the whole of the normalised time: then it is no second question."""
    for arm in arms:
        time_s, cpu_s = (_middle(arm.metrics, name) for name in (NORMALISED, CPU_NORMALISED))
        if not time_s or cpu_s is None or cpu_s < BUSY * time_s:
            return False
    return True


def _middle(metrics: Mapping[str, MetricSummary], name: str) -> float | None:
    return metrics[name].median if name in metrics else None


def _within(arms: tuple[ArmResult, ArmResult], quantity: str, known: QuantitySpread) -> KnownError:
    """How sure each run is of its own figure: the quartiles of its samples tell a run that was disturbed."""
    runs = known.baseline_runs, known.candidate_runs
    found = [_restless(arm, quantity) for arm in arms]
    return added(
        KnownError(error.size / math.sqrt(own), error.degrees) for error, own in zip(found, runs, strict=True)
    )


def _restless(arm: ArmResult, quantity: str) -> KnownError:
    values = [item.readings[quantity] for item in arm.samples if item.usable and item.readings.get(quantity, 0.0) > 0]
    return restless(np.log(values))
