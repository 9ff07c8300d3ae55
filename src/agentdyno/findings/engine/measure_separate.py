"""What depends on the machine, of separate runs: judged against the spread between runs, or not at all.

Between two runs a machine changes its clock rate and its other work, which moves all cases of a run together: that
many cases agree says nothing. So the unit is the run. The logarithm of the ratio of both runs' figures is held
against the standard deviation that such figures have between runs of unchanged code (``RunSpread``), by Student's
law with the degrees of freedom of that deviation, at 1 %.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agentdyno.findings.engine.between_runs import ALPHA, EXACT, KnownError, added, contrast_runs
from agentdyno.findings.engine.judge import Measured
from agentdyno.findings.engine.measure_inversion import told_ratio, visible_ratio
from agentdyno.findings.engine.measure_scores import cluster_means
from agentdyno.findings.engine.pairing import PairedSide, Pairing
from agentdyno.findings.figures.normalised import CPU_NORMALISED, IN_PLACE_OF, NORMALISED
from agentdyno.model.record import AgentRecord, QuantitySpread, RunSpread

NOT_JUDGED = "separate runs, not judged"
OF_THE_MACHINE = ("speed", "duration_s", "ttft_s", "cpu_s", "peak_rss_bytes")
"""Metrics that a machine has a say in; of efficiency and the overall score only the parts that are among these."""
_TIMES = ("speed", "duration_s", "ttft_s")
_CPU_TIMES = ("cpu_s", CPU_NORMALISED)
BUSY = 0.9
"""The share of a case's time from which its CPU time says the same as its time."""
_FEWEST_PARTS = 4
_SHARED_LUCK = 1.5
_QUARTILES = 1.349
"""The distance of the quartiles of normal values, in standard deviations."""
DEGREES_A_PART = 0.3676
"""How many degrees of freedom each of many normal values gives a deviation that is taken from their quartiles."""
_SOURCES = {
    "own": "its own earlier runs",
    "pooled": "repeated runs on this machine",
    "calibrated": "the calibration of this machine",
}


def comparable_quantity(pairing: Pairing, quantity: str, spread: RunSpread) -> str:
    """The normalised time or CPU time of separate runs where both sides and the spread have it, else as it was."""
    normalised = IN_PLACE_OF.get(quantity, "")
    if pairing.same_run or normalised not in spread.quantities:
        return quantity
    both = (pairing.first.used(normalised) > 0) & (pairing.second.used(normalised) > 0)
    return normalised if both.any() else quantity


def is_busy_throughout(pairing: Pairing, quantity: str) -> bool:
    """Whether ``quantity`` is a CPU time that is all but the whole time of a case on both sides."""
    time = {"cpu_s": "duration_s", CPU_NORMALISED: NORMALISED}.get(quantity)
    if time is None:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [side.used(quantity) / side.used(time) for side in (pairing.first, pairing.second)]
    return all(np.isfinite(share).any() and np.nanmedian(share) >= BUSY for share in shares)


def following_time(found: Measured, time: Measured) -> Measured:
    """CPU time where it tells the time again: it is called changed only where the time is.

    So the two are one question and not two, and neither is corrected for the other. p and interval are those of
    whichever says less. Where the change is outside the interval of the time's, they do not tell the same.
    """
    row, led = found.row, time.row
    if row.p_value is None or led.p_value is None or row.change is None or led.interval is None:
        return found
    if not led.interval[0] <= row.change <= led.interval[1]:
        return found
    if led.p_value > row.p_value:
        row = replace(row, p_value=led.p_value, interval=led.interval)
    seen = [item.detectable for item in (row, led)]
    least = None if None in seen else max(value for value in seen if value is not None)
    method = f"{row.method}; only where the time changed too"
    return replace(found, row=replace(row, detectable=least, method=method), follows=True)


def against_spread(found: Measured, pairing: Pairing, spread: RunSpread) -> Measured:
    """The row judged by runs; with its figures, the reason and no test where the spread is not known."""
    if found.row.quantity in _CPU_TIMES:
        found = _of_the_typical_case(found, pairing)
    row, shift = found.row, found.shift
    if shift is None:
        return found
    known = spread.quantities.get(row.quantity)
    if known is None or known.degrees < 1 or not known.log_sd > 0.0:
        plain = replace(row, interval=None, p_value=None, detectable=None, method="", reason=_reason(pairing))
        return Measured(plain, found.limits)
    known = replace(
        known,
        baseline_runs=max(known.baseline_runs, _runs(pairing.baseline, pairing)),
        candidate_runs=max(known.candidate_runs, _runs(pairing.candidate, pairing)),
    )
    seen = contrast_runs(shift, known, within=_within(found, pairing))
    row = replace(
        row,
        change=math.expm1(seen.log_ratio),
        level=ALPHA,
        p_value=seen.p_value,
        interval=told_ratio(*seen.interval),
        detectable=visible_ratio(seen.detectable),
        method=method_text(known),
        reason="",
    )
    return Measured(row, found.limits, seen.log_ratio, by_runs=True)


def _of_the_typical_case(found: Measured, pairing: Pairing) -> Measured:
    """CPU time per success with the change of the typical case, as the spread between runs is one of medians.

    A few tries that were disturbed can make a total a quarter longer in one run of several.
    """
    logs = _case_logs(pairing, found.row.quantity)
    if found.shift is None or not found.row.relative or not logs.size:
        return found
    sides = pairing.first, pairing.second
    levels = [float(np.nanmedian(side.used(found.row.quantity))) for side in sides]
    tries = [float(side.tries.sum() / side.passed.sum()) for side in sides]
    change = float(np.median(logs))
    shift = change + math.log(tries[1] / tries[0])
    baseline, candidate = (level * per for level, per in zip(levels, tries, strict=True))
    row = replace(found.row, baseline=baseline, candidate=candidate, per_try=math.expm1(change))
    return replace(found, row=row, shift=shift)


def _case_logs(pairing: Pairing, quantity: str) -> npt.NDArray[np.float64]:
    """The logarithms of candidate / baseline, by cluster of cases."""
    first, second = pairing.first.used(quantity), pairing.second.used(quantity)
    known = (first > 0) & (second > 0)
    codes = np.unique(pairing.clusters[known], return_inverse=True)[1]
    return cluster_means(np.log(second[known] / first[known]), codes)


def _within(found: Measured, pairing: Pairing) -> KnownError:
    """What else is uncertain: of times how far cases are from changing alike, which tells runs that were disturbed
    more than others. Per success, which cases happened to succeed, which is not in the spread between runs."""
    row = found.row
    sides = pairing.first, pairing.second
    timed = row.metric in _TIMES or row.quantity in _CPU_TIMES
    apart = restless(_case_logs(pairing, row.quantity)) if timed and row.relative else EXACT
    if row.quantity == "cpu_s":
        apart = added((apart, *map(_scattered, sides)))
    always = timed and all(np.array_equal(side.passed, side.tries) for side in sides)
    if found.spread is None or row.metric in _TIMES or always:
        return apart
    return added((apart, KnownError(found.spread / math.sqrt(row.clusters), max(1, row.clusters - 1))))


def _scattered(side: PairedSide) -> KnownError:
    """How sure a run is of its CPU times, which are means of tries: what disturbs a part of them, and moves these
    means, is the same for all cases, so that many cases make it no surer."""
    told = [
        (case.spread["cpu_s"] / case.used["cpu_s"] / math.sqrt(case.tries))
        for case in side.cases
        if case.spread.get("cpu_s") is not None and case.used.get("cpu_s", 0.0) > 0
    ]
    return KnownError(float(np.median(told)), DEGREES_A_PART * len(told)) if told else EXACT


def restless(logs: npt.NDArray[np.float64]) -> KnownError:
    """How sure a run is of its figure by its own parts: from their quartiles, which single outliers do not move, and
    half as much again as of independent parts: what disturbs one disturbs the next. Nothing of fewer than four."""
    if logs.size < _FEWEST_PARTS:
        return EXACT
    low, high = np.quantile(logs, [0.25, 0.75])
    error = _SHARED_LUCK * float(high - low) / _QUARTILES / math.sqrt(logs.size)
    return KnownError(error, DEGREES_A_PART * logs.size)


def _runs(record: AgentRecord, pairing: Pairing) -> int:
    """Where each benchmark is of a run of its own, the figure is the mean of so many runs."""
    return max(1, len({record.benchmark(name).run_id for name in pairing.benchmarks}))


def method_text(known: QuantitySpread) -> str:
    """How a row of separate runs was judged, with the spread and where it comes from."""
    text = f"student t over runs, spread {known.log_sd:.3g} of {_SOURCES[known.source]}"
    if known.speeds_apart:
        text += f"; the machine ran {math.expm1(known.speeds_apart):.0%} faster for one side"
    if known.baseline_runs == known.candidate_runs == 1:
        return text
    return f"{text}; means of {known.baseline_runs} and {known.candidate_runs} runs"


def _reason(pairing: Pairing) -> str:
    first, second = pairing.baseline, pairing.candidate
    other = "--against REF" if first.name == second.name else f"--agent {first.name}"
    return f"{NOT_JUDGED}: `dyno run SUITE --agent {second.name} {other}` measures both interleaved"
