"""The final state of a workflow, judged by the check that its task brings: files and programs, never words."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentdyno.contracts import Unscorable
from agentdyno.errors import PluginError, SpecError
from agentdyno.model.case import Case, Response, Score
from agentdyno.model.workflow.task import task_of
from agentdyno.registry.local import load_target, parse_reference
from agentdyno.sandbox.final_state import FinalState, NotAsAsked


class FinalStateScorer:
    """Calls the ``check`` that the case names under ``metadata.workflow`` with the folder that the workflow left.

    The check returns nothing where all is as asked, a number or truth value, or raises ``NotAsAsked`` with what is
    wrong. A plan that was refused scores 0. A task without a check has no score, and says so.
    """

    def check(self, case: Case) -> str | None:
        try:
            _check_of(case)
        except (SpecError, PluginError) as error:
            return error.message
        return None

    async def score(self, case: Case, response: Response) -> Score:
        output = response.output
        if not isinstance(output, Mapping) or "outcome" not in output:
            raise Unscorable("the answer is not that of a workflow: put the agent behind workflow:")
        check = _check_of(case)
        if check is None:
            raise Unscorable("the task has no check")
        if output["outcome"] == "plan_refused":
            return Score({"score": 0.0}, f"no valid plan: {output.get('reason')}")
        folder = Path(str(output.get("folder"))) / "work"
        if not folder.is_dir():
            raise Unscorable(f"the final state is no longer there: {folder}")
        return await asyncio.to_thread(_judged, check, FinalState(folder), task_of(case).seed)


def _judged(check: Callable[..., Any], state: FinalState, seed: int) -> Score:
    try:
        said = check(state, seed) if len(inspect.signature(check).parameters) > 1 else check(state)
    except NotAsAsked as wrong:
        return Score({"score": 0.0}, str(wrong))
    value = 1.0 if said is None else float(said)
    return Score({"score": min(1.0, max(0.0, value))}, "" if value >= 1.0 else f"the check gave {value:g}")


def _check_of(case: Case) -> Callable[..., Any] | None:
    reference = task_of(case).check
    if reference is None:
        return None
    target = parse_reference(reference, Path.cwd())
    if target is None:
        raise SpecError(f"{reference!r} is neither file.py@name nor module:function", where=f"case {case.id}")
    found = load_target("scorers", target)
    if not callable(found):
        raise SpecError(f"{reference} cannot be called", where=f"case {case.id}")
    return found  # type: ignore[no-any-return]
