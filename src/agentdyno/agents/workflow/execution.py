"""What came of executing a plan: values, and the figures that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.agents.workflow.plan import WorkflowPlan
from agentdyno.model.case import EXECUTOR_SPAN, Event


class StepState(StrEnum):
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class PlanStepOutcome:
    """What became of a step in one start. Times are seconds; ``at_s`` counts from the beginning of the start.

    A skipped step has the figures of the time when it ran. ``why`` says why it failed, ran again, or did not run.
    """

    step: str
    state: StepState
    at_s: float = 0.0
    duration_s: float = 0.0
    cpu_s: float = 0.0
    peak_rss_bytes: int = 0
    status: int | None = None
    output: str = ""
    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class PlanExecution:
    """One start of a plan. ``wall_s`` is from its beginning to the end of its last step."""

    plan: WorkflowPlan
    outcomes: Mapping[str, PlanStepOutcome] = field(default_factory=dict)
    wall_s: float = 0.0
    restarted: bool = False

    def in_state(self, *states: StepState) -> list[PlanStepOutcome]:
        return [item for item in self.outcomes.values() if item.state in states]

    @property
    def succeeded(self) -> bool:
        """Whether every step has ended well, now or before."""
        return len(self.in_state(StepState.DONE, StepState.SKIPPED)) == len(self.plan.steps)

    @property
    def critical_path_s(self) -> float:
        """The least time the steps that ran would have taken with room for all at once."""
        finish: dict[str, float] = {}
        for step in self.plan.steps:
            outcome = self.outcomes.get(step.id)
            ran = outcome is not None and outcome.state in (StepState.DONE, StepState.FAILED)
            own = outcome.duration_s if outcome is not None and ran else 0.0
            finish[step.id] = own + max((finish[need] for need in step.needs), default=0.0)
        return max(finish.values(), default=0.0)

    @property
    def idle_s(self) -> float:
        """Seconds in which no step ran: the executor's own work, and waiting."""
        busy, until = 0.0, 0.0
        for item in sorted(self.in_state(StepState.DONE, StepState.FAILED), key=lambda item: item.at_s):
            end = item.at_s + item.duration_s
            busy += max(0.0, end - max(until, item.at_s))
            until = max(until, end)
        return max(0.0, self.wall_s - busy)

    def critical_steps(self) -> frozenset[str]:
        """The steps on the longest way through the plan, by the time that they took."""
        finish: dict[str, float] = {}
        before: dict[str, str | None] = {}
        for step in self.plan.steps:
            outcome = self.outcomes.get(step.id)
            before[step.id] = max(step.needs, key=lambda need: finish[need], default=None)
            finish[step.id] = (outcome.duration_s if outcome else 0.0) + finish.get(before[step.id] or "", 0.0)
        last: str | None = max(finish, key=lambda name: finish[name], default=None)
        found = set()
        while last is not None:
            found.add(last)
            last = before[last]
        return frozenset(found)


def step_readings(*starts: PlanExecution) -> dict[str, float]:
    """Figures of one start or of several together, by the names under which they are kept.

    Steps that failed or were skipped are those of the last one: what an earlier one met has been made good.
    """
    last = starts[-1]
    ran = [item for start in starts for item in start.in_state(StepState.DONE, StepState.FAILED)]
    return {
        "workflow.steps_planned": float(len(last.plan.steps)),
        "workflow.steps_executed": float(len(ran)),
        "workflow.steps_failed": float(len(last.in_state(StepState.FAILED))),
        "workflow.steps_skipped": float(len(last.in_state(StepState.SKIPPED))),
        "workflow.execution_s": sum(start.wall_s for start in starts),
        "workflow.critical_path_s": sum(start.critical_path_s for start in starts),
        "workflow.idle_s": sum(start.idle_s for start in starts),
        "workflow.cpu_s": sum(item.cpu_s for item in ran),
        "workflow.peak_rss_bytes": float(max((item.peak_rss_bytes for item in ran), default=0)),
    }


def step_events(execution: PlanExecution, begun_s: float, start: str = "") -> list[Event]:
    """The steps as spans of the trajectory, below a span for the start. ``begun_s`` is when that began."""
    around = f"workflow{start}"
    events = [
        Event(
            "span",
            begun_s,
            EXECUTOR_SPAN + (f" ({start.strip('-')})" if start else ""),
            duration_s=execution.wall_s,
            # What is not in a step is the executor's. The CPU time that is known is that of the steps.
            details={"span": around, "phase": "own_code", "restarted": execution.restarted},
        )
    ]
    critical = execution.critical_steps()
    for step in execution.plan.steps:
        outcome = execution.outcomes.get(step.id, PlanStepOutcome(step.id, StepState.NOT_RUN))
        ran = outcome.state in (StepState.DONE, StepState.FAILED)
        details: dict[str, object] = {
            "span": f"{around}/{step.id}",
            "parent": around,
            "phase": "tool",
            "state": outcome.state.value,
            "needs": list(step.needs),
            "outputs": list(step.outputs),
            "critical": step.id in critical,
        }
        if ran:
            details |= {
                "exit_code": outcome.status,
                "cpu_s": outcome.cpu_s,
                "peak_rss_bytes": outcome.peak_rss_bytes,
                "files_read": list(outcome.read[:50]),
                "files_written": list(outcome.written[:50]),
                "output": outcome.output[-2000:],
            }
        elif outcome.state is StepState.SKIPPED:
            details["earlier_duration_s"] = outcome.duration_s
        if outcome.why:
            details["why"] = outcome.why
        at_s = begun_s + (
            outcome.at_s if ran else execution.wall_s if outcome.state is StepState.NOT_RUN else outcome.at_s
        )
        duration_s = outcome.duration_s if ran else None
        events.append(Event("step", at_s, step.id, step.command, duration_s, details))
    return events
