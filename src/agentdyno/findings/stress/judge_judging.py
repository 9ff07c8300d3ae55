"""Which objectives a step is held to, by what its scenario was after. The search and the report judge alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agentdyno.findings.stress.judge_levels import lowest
from agentdyno.findings.stress.judge_steps import Judgement, StepOutcome, judge
from agentdyno.model.load import Objective, SelfCheck

RATE, CONCURRENCY, SIZE, MEMORY, RATE_LIMIT = "rate", "concurrency", "size", "memory", "rate_limit"
REFUSED_SHARE = 0.01
HONOURED = "honoured"
"""The role of a step whose requests wait as the target tells them to: late on purpose, and judged by nothing."""


def axis_of(outcome: StepOutcome) -> str:
    """What the step's level counts; ``rate`` where it does not say."""
    return str(outcome.note.get("axis", RATE))


def judge_step(
    outcome: StepOutcome,
    objectives: Sequence[Objective],
    base: StepOutcome | None,
    self_check: SelfCheck | None = None,
) -> Judgement:
    """``base`` is the step at the lowest level. A step of growing inputs is not held to five times the latency of the
    smallest: longer inputs take longer. Where the rate limit is looked for, being refused for it comes first."""
    axis = axis_of(outcome)
    if outcome.role == HONOURED:
        return Judgement(None)
    if axis == CONCURRENCY:
        return judge(outcome, objectives, base, self_check=self_check, open_loop=False)
    if axis == SIZE:
        return judge(outcome, objectives, None, self_check=self_check, open_loop=False)
    found = judge(outcome, objectives, base, self_check=self_check)
    if axis == RATE_LIMIT and outcome.asked and outcome.rate_limited > REFUSED_SHARE * outcome.asked:
        share = outcome.rate_limited / outcome.asked
        values = {**found.values, "rate_limited": (share, REFUSED_SHARE)}
        return replace(found, missed=("rate_limited", *found.missed), values=values)
    return found


def base_of(steps: Sequence[StepOutcome]) -> StepOutcome | None:
    """The step that the others are compared with: the one for it, else the one at the lowest level."""
    normal = next((step for step in steps if step.role == "normal" and step.asked), None)
    return normal or lowest(steps) or next((step for step in steps if step.asked), None)


def judging(
    steps: Sequence[StepOutcome], objectives: Sequence[Objective], self_check: SelfCheck | None = None
) -> Callable[[StepOutcome], Judgement]:
    """Judges any step of a scenario whose steps are all known."""
    base = base_of(steps)
    return lambda outcome: judge_step(outcome, objectives, base, self_check)
