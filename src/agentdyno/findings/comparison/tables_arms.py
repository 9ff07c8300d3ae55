"""Two arms in a sentence: how many times as fast, with the interval."""

from __future__ import annotations

from agentdyno.model import ArmComparison, Comparison, MetricComparison, Verdict
from agentdyno.show.wording import label, one_line, ratio_text, times_faster

DURATION = "duration_s"
_DECIDED = (Verdict.BETTER, Verdict.WORSE)
_MOST = 10
"""Arms that a sentence names."""


def is_of_one_run(value: Comparison) -> bool:
    """Whether arms of one run are held against its first, which then stands on both sides of nothing."""
    named = [arm.name for arm in value.arms]
    return value.candidate in (*named, "the others") and all(
        arm.baseline_arm_id != arm.candidate_arm_id for arm in value.arms
    )


def arms_told(value: Comparison) -> str:
    """One sentence for each arm that is held against the first."""
    told = [_told(arm, one_line(value.baseline)) for arm in value.arms[:_MOST]]
    more = f" {len(value.arms) - _MOST} more are in the table." if len(value.arms) > _MOST else ""
    return " ".join(told) + more


def _told(arm: ArmComparison, first: str) -> str:
    name = one_line(arm.name)
    row = next((row for row in arm.metrics if row.metric.name == DURATION), None)
    if row is None or row.verdict is None:
        return f"{name} was not judged against {first}{f' ({row.reason})' if row is not None else ''}."
    size, besides = times_faster(row.ratio, row.interval), _besides(arm, row.verdict)
    if row.verdict in _DECIDED:
        return f"{name} is {size} than {first}{besides}."
    if row.verdict is Verdict.SAME:
        return f"{name} is as fast as {first} (within {row.threshold:.0%}){besides}."
    return f"{name} and {first} cannot be told apart yet: {size}{_more(row)}{besides}."


def _besides(arm: ArmComparison, said: Verdict) -> str:
    """``; its CPU time is 1.16 [1.04, 1.28] times as much, worse``: what was decided otherwise than the time."""
    others = [
        f"its {label(row.metric.name)} is {ratio_text(row.ratio, row.interval)} times as much, {row.verdict.value}"
        for row in arm.metrics
        if row.verdict is not None and row.metric.name != DURATION and row.verdict in _DECIDED
        if row.verdict is not said
    ]
    return "".join(f"; {text}" for text in others)


def _more(row: MetricComparison) -> str:
    return f", {row.more_samples:,} more runs each would decide" if row.more_samples else ""
