"""What depends on the machine, of separate runs: judged against the spread between runs, or not at all.

Between two runs a machine changes its clock rate and its other work, which moves all cases of a run together: that
many cases agree says nothing. So the unit is the run. The logarithm of the ratio of both runs' figures is held
against the standard deviation that such figures have between runs of unchanged code (``RunSpread``), by Student's
law with the degrees of freedom of that deviation, at 1 %.
"""

from __future__ import annotations

import math
from dataclasses import replace

from agentdyno.findings.engine.between_runs import ALPHA, contrast_runs
from agentdyno.findings.engine.judge import Measured
from agentdyno.findings.engine.measure_inversion import told_ratio, visible_ratio
from agentdyno.findings.engine.pairing import Pairing
from agentdyno.model.record import AgentRecord, QuantitySpread, RunSpread

NOT_JUDGED = "separate runs, not judged"
OF_THE_MACHINE = ("speed", "duration_s", "ttft_s", "cpu_s", "peak_rss_bytes")
"""Metrics that a machine has a say in; of efficiency and the overall score only the parts that are among these."""
NORMALISED = "duration_norm_s"
_SOURCES = {
    "own": "its own earlier runs",
    "pooled": "repeated runs on this machine",
    "calibrated": "the calibration of this machine",
}


def time_quantity(pairing: Pairing, quantity: str, spread: RunSpread) -> str:
    """The normalised time of separate runs where both sides and the spread have it, else the time as it was."""
    if quantity != "duration_s" or pairing.same_run or NORMALISED not in spread.quantities:
        return quantity
    both = (pairing.first.used(NORMALISED) > 0) & (pairing.second.used(NORMALISED) > 0)
    return NORMALISED if both.any() else quantity


def against_spread(found: Measured, pairing: Pairing, spread: RunSpread) -> Measured:
    """The row judged by runs; with its figures, the reason and no test where the spread is not known."""
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
    seen = contrast_runs(shift, known, within_error=_within_error(found))
    row = replace(
        row,
        change=math.expm1(seen.log_ratio),
        level=ALPHA,
        p_value=seen.p_value,
        interval=told_ratio(*seen.interval),
        detectable=visible_ratio(seen.detectable),
        method=_method(known),
        reason="",
    )
    return Measured(row, found.limits, seen.log_ratio, by_runs=True)


def _within_error(found: Measured) -> float:
    """Per success: which cases happened to succeed is not in the spread between runs."""
    if found.row.metric in ("speed", "duration_s", "ttft_s") or found.spread is None:
        return 0.0
    return found.spread / math.sqrt(found.row.clusters)


def _runs(record: AgentRecord, pairing: Pairing) -> int:
    """Where each benchmark is of a run of its own, the figure is the mean of so many runs."""
    return max(1, len({record.benchmark(name).run_id for name in pairing.benchmarks}))


def _method(known: QuantitySpread) -> str:
    text = f"student t over runs, spread {known.log_sd:.3g} of {_SOURCES[known.source]}"
    if known.baseline_runs == known.candidate_runs == 1:
        return text
    return f"{text}; means of {known.baseline_runs} and {known.candidate_runs} runs"


def _reason(pairing: Pairing) -> str:
    first, second = pairing.baseline, pairing.candidate
    other = "--against REF" if first.name == second.name else f"--agent {first.name}"
    return f"{NOT_JUDGED}: `dyno run SUITE --agent {second.name} {other}` measures both interleaved"
