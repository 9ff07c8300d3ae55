"""Warnings about executions in which the bench or its subject was stopped: how many, and how figures depend on it."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.findings.figures.claims import Disturbed
from agentdyno.model import ArmResult, RunWarning
from agentdyno.model.metric import format_value
from agentdyno.model.sample import DISTURBED


def stood_still(arm: ArmResult, seen: Disturbed, cases: str) -> RunWarning:
    """What is left out, and what the figure would be with it; ``cases`` names them."""
    told = (
        f"the bench itself stood still for {seen.paused_s:.1f} s, in {seen.executions} of {seen.of} executions"
        f"{cases}: the times of these do not count"
    )
    duration = arm.metrics.get("duration_s")
    if duration is not None and duration.mean is not None and seen.durations_s:
        whole = duration.mean * duration.n + sum(seen.durations_s)
        mean = whole / (duration.n + len(seen.durations_s))
        told += f"; the mean of duration_s is {format_value(duration.mean, 's')}, {format_value(mean, 's')} with them"
    remedy = "Nobody is to stop or suspend the bench while it measures; `dyno run` measures anew."
    return RunWarning(DISTURBED, told, remedy, arm.arm_id)


def stopped_alone(arm: ArmResult, disturbed: Disturbed, cases: str) -> RunWarning:
    """What counts although somebody interfered, and what the figure would be without it; ``cases`` names them."""
    seen = disturbed.alone
    told = (
        f"a process of the subject was stopped for {seen.stopped_s:.1f} s while the bench went on, in"
        f" {seen.executions} of {disturbed.of} executions{cases}: these count, as those of a slow one do"
    )
    duration = arm.metrics.get("duration_s")
    others = duration.n - len(seen.durations_s) if duration is not None else 0
    if duration is not None and duration.mean is not None and seen.durations_s and others > 0:
        mean = (duration.mean * duration.n - sum(seen.durations_s)) / others
        told += (
            f"; the mean of duration_s is {format_value(duration.mean, 's')}, {format_value(mean, 's')} without them"
        )
    return RunWarning(DISTURBED, told, "Where that was not meant, `dyno run` measures anew.", arm.arm_id)


def disturbed_windows(arm: ArmResult) -> list[RunWarning]:
    """Windows of a load in which the bench stood still; the processes that send requests are others, and went on."""
    told = [sample.details.get(DISTURBED) for sample in arm.samples]
    paused = [item["paused_s"] for item in told if isinstance(item, Mapping) and "paused_s" in item]
    if not paused:
        return []
    marked = f"in {len(paused)} of {len(told)} windows, which are marked"
    message = f"the bench itself stood still for {sum(paused):.1f} s, {marked}"
    remedy = "Look whether their figures differ from those of the others; `dyno load` measures anew."
    return [RunWarning(DISTURBED, message, remedy, arm.arm_id)]
