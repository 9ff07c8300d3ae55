"""What a user may name where a result is meant: a file, a run, an arm of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentdyno.errors import NotComparable, nearest
from agentdyno.findings.comparison.ask_result import is_file, read_result, result_named
from agentdyno.findings.engine.match import Operand, compare
from agentdyno.findings.engine.measure_samples import SampleJudging
from agentdyno.findings.record.ask_spread import ArmSpreads
from agentdyno.model import ArmResult, Comparison, RunResult
from agentdyno.model.naming import meant_by, shown_agent, with_shown_arms
from agentdyno.settings.judging import TOLERANCE
from agentdyno.store import Store


@dataclass(slots=True)
class Results:
    """Finds results. ``open_store`` is called only when a name is not a file."""

    open_store: Callable[[], Store]

    def operand(self, text: str) -> Operand:
        """``FILE``, ``RUN`` or ``RUN:ARM`` (also ``FILE:ARM``); ARM is a name, part of one, or an arm id; of a suite
        also an agent, which stands for all its arms."""
        if is_file(text):
            return _whole(text, read_result(Path(text)))
        reference, colon, arm = text.partition(":")
        if colon and is_file(reference):
            return _one_arm(text, read_result(Path(reference)), arm)
        if not colon:
            return _whole(text, self.run(text))
        return _one_arm(text, self.run(reference), arm)

    def run(self, reference: str) -> RunResult:
        """A file or a run of the store, with its samples."""
        return result_named(reference, self.open_store)


def _whole(label: str, result: RunResult) -> Operand:
    return Operand(label, result, result.arms)


def _one_arm(label: str, result: RunResult, wanted: str) -> Operand:
    shown = with_shown_arms(result).arms
    both = zip(result.arms, shown, strict=True)
    exact = [arm for arm, as_read in both if wanted in (arm.name, as_read.name, arm.arm_id)]
    agents = [] if exact else [arm for arm in result.arms if arm.agent and meant_by(result.suite, arm.agent, wanted)]
    names = sorted({shown_agent(result.suite, arm.agent or "") for arm in agents})
    if len(names) == 1:
        return Operand(label, result, tuple(agents), named=True)
    if names:
        raise NotComparable(
            f"{wanted!r} names {len(names)} agents of run {result.run_id[:13]}",
            remedy=f"Say which: {'; '.join(names)}",
        )
    found = exact or [arm for arm in result.arms if _matches(arm, wanted)]
    if len(found) == 1:
        return Operand(label, result, (found[0],), named=True)
    if not found:
        known = [shown_agent(result.suite, arm.agent).rpartition("@")[0] for arm in result.arms if arm.agent]
        remedy = nearest(wanted, dict.fromkeys([*known, *(arm.name for arm in shown)]))
        raise NotComparable(f"run {result.run_id[:13]} has no arm {wanted!r}", remedy=remedy)
    raise NotComparable(
        f"{wanted!r} names {len(found)} arms of run {result.run_id[:13]}",
        remedy="Say which: " + "; ".join(arm.name for arm in found[:8]),
    )


def _matches(arm: ArmResult, wanted: str) -> bool:
    words = wanted.split()
    return arm.arm_id.startswith(wanted) or all(word in arm.name.split() for word in words)


def judging_for(result: RunResult, store: Store | None, tolerance: float = TOLERANCE.default) -> SampleJudging:
    """Tolerance, and the noise floor of the machine that made the result where it has been calibrated."""
    calibration = store.runs.latest_calibration(result.environment.machine_id) if store is not None else None
    return SampleJudging(
        tolerance=tolerance, noise_floor=calibration.noise_floor if calibration is not None else None
    )


def compare_operands(
    baseline: Operand, candidate: Operand, store: Store | None, tolerance: float = TOLERANCE.default
) -> Comparison:
    """Two operands side by side, with what the store knows of the noise between their runs; raises ``NotComparable``
    when they share nothing."""
    spreads = ArmSpreads(store, baseline.result, candidate.result)
    return compare(baseline, candidate, judging_for(candidate.result, store, tolerance), spreads)
