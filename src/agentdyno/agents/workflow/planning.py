"""Asking a planner, which is any agent, for a plan; checking what it answers, and which model it was."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from agentdyno.agents.workflow.plan import PLAN_SCHEMA, PlanRefused, WorkflowPlan, read_plan
from agentdyno.contracts import Agent
from agentdyno.model.case import Case, Event, Response, Usage
from agentdyno.model.codec import to_plain

_MOST_FILES_SHOWN = 60
_INSTRUCTIONS = """{task}

You plan this as shell commands. Another program runs them with bash in the working folder, without network access.
Files in the working folder:
{files}

Answer with JSON only, in this form:
{{"steps": [{{"id": "short-name", "command": "one shell command line", "needs": ["ids of steps that end before"], \
"outputs": ["files that the step makes"]}}]}}"""
_STATE = """

An earlier attempt was interrupted. These steps had ended: {done}. The files above are as that attempt left them.
Plan only what remains to be done."""
_REPAIR = "The plan was refused: {reason}. Answer with the corrected plan, JSON only."


@dataclass(frozen=True, slots=True)
class Planned:
    """What a planner answered. Either ``plan`` or ``refused`` is there. ``repairs`` counts how often it was asked
    again; usage, cost and calls are those of all turns together, ``None`` where unknown."""

    plan: Mapping[str, object] | None
    refused: str | None
    answer: str
    duration_s: float
    repairs: int = 0
    usage: Usage | None = None
    cost: float | None = None
    api_calls: int | None = None
    model: str | None = None
    simulated: bool = False
    events: tuple[Event, ...] = ()
    readings: Mapping[str, float] = field(default_factory=dict)

    @property
    def read(self) -> WorkflowPlan | None:
        return None if self.plan is None else read_plan(self.plan)

    def followed_by(self, other: Planned) -> Planned:
        """Both together; the plan is the first's."""
        usage = None if self.usage is None or other.usage is None else self.usage + other.usage
        return replace(
            self,
            duration_s=self.duration_s + other.duration_s,
            repairs=self.repairs + other.repairs,
            usage=usage,
            cost=_added(self.cost, other.cost),
            api_calls=_added(self.api_calls, other.api_calls),
            events=(*self.events, *other.events),
        )


async def ask_for_plan(
    planner: Agent, case: Case, files: Mapping[str, int], repairs: int = 0, done: tuple[str, ...] | None = None
) -> Planned:
    """Asks once, and up to ``repairs`` times more where the plan is not valid. ``files`` are sizes by path; ``done``
    are the steps of an earlier plan that had ended, where the planner is to go on. Whatever the planner raises is
    raised."""
    text = _asked(case, files) + ("" if done is None else _STATE.format(done=", ".join(done) or "none"))
    asked = replace(case, input=text, turns=(), metadata={**case.metadata, "schema": dict(PLAN_SCHEMA)})
    began = time.perf_counter()
    response = await planner.run(asked)
    together, used = response, 0
    plan, refused = _read(response)
    while refused is not None and used < repairs:
        used += 1
        messages = [
            {"role": "user", "content": text},
            {"role": "assistant", "content": _text(response.output)},
            {"role": "user", "content": _REPAIR.format(reason=refused)},
        ]
        response = await planner.run(replace(asked, input=messages))
        together = _together(together, response)
        plan, refused = _read(response)
    return Planned(
        plan=None if plan is None else plan.to_plain(),
        refused=refused,
        answer=_text(response.output),
        duration_s=time.perf_counter() - began,
        repairs=used,
        usage=together.usage,
        cost=together.cost,
        api_calls=together.api_calls,
        model=together.model,
        simulated=together.simulated,
        events=together.events,
        readings={name: float(value) for name, value in together.readings.items()},
    )


def _asked(case: Case, files: Mapping[str, int]) -> str:
    listed = [f"- {path} ({size:,} bytes)" for path, size in sorted(files.items())]
    if len(listed) > _MOST_FILES_SHOWN:
        listed = [*listed[:_MOST_FILES_SHOWN], f"- and {len(listed) - _MOST_FILES_SHOWN:,} more"]
    return _INSTRUCTIONS.format(task=_text(case.input), files="\n".join(listed) or "- none")


def _read(response: Response) -> tuple[WorkflowPlan | None, str | None]:
    try:
        return read_plan(response.output), None
    except PlanRefused as refused:
        return None, refused.reason


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(to_plain(value), ensure_ascii=False, default=str)


N = TypeVar("N", int, float)


def _added(one: N | None, other: N | None) -> N | None:
    return None if one is None or other is None else one + other


def _together(first: Response, second: Response) -> Response:
    return replace(
        second,
        usage=None if first.usage is None or second.usage is None else first.usage + second.usage,
        cost=_added(first.cost, second.cost),
        api_calls=_added(first.api_calls, second.api_calls),
        simulated=first.simulated or second.simulated,
        events=(*first.events, *second.events),
    )
