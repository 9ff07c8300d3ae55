"""The executor's part of a workflow agent's configuration, checked."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.agents.workflow.agent import EXECUTOR, PLANNER, WorkflowSetting
from agentdyno.agents.workflow.faults import StepFault
from agentdyno.errors import SpecError, nearest
from agentdyno.sandbox.isolation import CellIsolation, CellLimits

_MIB = 1024 * 1024
MOST_PARALLEL, MOST_REPAIRS = 32, 5


def read_setting(own: Mapping[str, object], name: str) -> WorkflowSetting:
    """From the keys of the configuration that are the executor's. Raises ``SpecError`` that names the key."""
    where = f"config of {name}"
    least = CellLimits()
    limits = CellLimits(
        time_limit_s=_number(own, "step_time_limit_s", least.time_limit_s, where),
        work_bytes=int(_number(own, "quota_mb", least.work_bytes / _MIB, where) * _MIB),
        memory_bytes=int(_number(own, "step_memory_mb", least.memory_bytes / _MIB, where) * _MIB),
        processes=_whole(own, "step_processes", least.processes, (4, 4096), where),
    )
    resume = own.get("resume", EXECUTOR)
    if resume not in (EXECUTOR, PLANNER):
        raise SpecError(f"resume is {resume!r}", where=where, remedy=nearest(str(resume), (EXECUTOR, PLANNER)))
    idempotence = own.get("idempotence", False)
    if not isinstance(idempotence, bool):
        raise SpecError(f"idempotence is {idempotence!r}", where=where, remedy="Say true or false.")
    return WorkflowSetting(
        isolation=_isolation(own.get("sandbox", CellIsolation.AUTO.value), where),
        parallel=_whole(own, "parallel", WorkflowSetting().parallel, (1, MOST_PARALLEL), where),
        limits=limits,
        repairs=_whole(own, "repairs", 0, (0, MOST_REPAIRS), where),
        fault=None if own.get("fault") is None else StepFault.read(own["fault"], where),
        resume=str(resume),
        idempotence=idempotence,
    )


def _isolation(given: object, where: str) -> CellIsolation:
    known = [item.value for item in CellIsolation]
    if given not in known:
        remedy = f"{nearest(str(given), known)} Commands of a plan are never run without isolation."
        raise SpecError(f"sandbox is {given!r}", where=where, remedy=remedy)
    return CellIsolation(str(given))


def _number(own: Mapping[str, object], key: str, default: float, where: str) -> float:
    value = own.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise SpecError(f"{key} is {value!r}", where=where, remedy="Give a number above 0, or leave it out.")
    return float(value)


def _whole(own: Mapping[str, object], key: str, default: int, bounds: tuple[int, int], where: str) -> int:
    value = own.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not bounds[0] <= value <= bounds[1]:
        remedy = f"Give a whole number from {bounds[0]} to {bounds[1]}."
        raise SpecError(f"{key} is {value!r}", where=where, remedy=remedy)
    return value
