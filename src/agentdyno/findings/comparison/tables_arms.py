"""Two arms in a sentence: how many times as fast, with the interval."""

from __future__ import annotations

from agentdyno.model import ArmComparison, Comparison, MetricComparison, Verdict
from agentdyno.show.wording import one_line, times_faster

DURATION = "duration_s"
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
    size = times_faster(row.ratio, row.interval)
    if row.verdict in (Verdict.BETTER, Verdict.WORSE):
        return f"{name} is {size} than {first}."
    if row.verdict is Verdict.SAME:
        return f"{name} is as fast as {first} (within {row.threshold:.0%})."
    return f"{name} and {first} cannot be told apart yet: {size}{_more(row)}."


def _more(row: MetricComparison) -> str:
    return f", {row.more_samples:,} more runs each would decide" if row.more_samples else ""
