"""What the machines of a cluster are told about experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agentdyno.agents.versioning import with_imports
from agentdyno.errors import SpecError
from agentdyno.model import Isolation
from agentdyno.runner.bench.job import ArmJob, CodeReference, Launch
from agentdyno.runs.cluster.files import ShippedFiles
from agentdyno.runs.cluster.order import WorkOrder, is_local
from agentdyno.runs.experiment.prepare import PreparedExperiment


def experiment_order(
    prepared: PreparedExperiment, jobs: Mapping[str, ArmJob], begun: Mapping[str, int]
) -> tuple[WorkOrder, ShippedFiles]:
    """Raises ``SpecError`` for what only this machine has."""
    spec = prepared.spec
    if spec.isolation is Isolation.INLINE:
        raise SpecError(
            "trials in the very process of the runner cannot run on other machines",
            where=spec.source,
            remedy="Remove `isolation: inline`, or `--executor`.",
        )
    listed = tuple(_movable(job) for job in jobs.values())
    files = {path for job in listed for code in _codes(job) for path in _files(code, job.launch)}
    order = WorkOrder(listed[0].run_id, jobs=listed, concurrency=spec.parallelism, begun=begun)
    return order, ShippedFiles.of(path for path in files if is_local(path))


def comparisons(prepared: PreparedExperiment) -> dict[str, str]:
    """Each arm to the comparison that it belongs to: its two sides, or all arms of its experiment."""
    partners = prepared.partners
    return {
        arm.arm_id: min(arm.arm_id, partners[arm.arm_id]) if arm.arm_id in partners else arm.experiment
        for arm in prepared.plan.arms
    }


def _movable(job: ArmJob) -> ArmJob:
    """With real paths, so that they are found again below another folder; without what is installed here."""
    launch = job.launch
    paths = tuple(str(path) for item in launch.sys_path if is_local(path := Path(item).resolve()))
    cwd = None if launch.cwd is None else str(Path(launch.cwd).resolve())
    instruments = tuple(replace(item, code=_resolved(item.code)) for item in job.instruments)
    launch = replace(launch, sys_path=paths, cwd=cwd)
    return replace(job, code=_resolved(job.code), instruments=instruments, launch=launch, reference_s=0.0)


def _resolved(code: CodeReference) -> CodeReference:
    return replace(code, files=tuple(str(Path(file).resolve()) for file in code.files))


def _codes(job: ArmJob) -> list[CodeReference]:
    return [job.code, *(instrument.code for instrument in job.instruments)]


def _files(code: CodeReference, launch: Launch) -> list[Path]:
    found = [path for file in code.files for path in with_imports(Path(file))]
    for module in (code.module, *code.imports):
        found += _imported(module, launch) if module else []
    return found


def _imported(module: str, launch: Launch) -> list[Path]:
    """A file, or a module that lies where the arm's processes look first."""
    if module.endswith(".py"):
        return with_imports(Path(module))
    for folder in launch.sys_path:
        place = Path(folder).joinpath(*module.split("."))
        if place.with_suffix(".py").is_file():
            return with_imports(place.with_suffix(".py"))
        if (place / "__init__.py").is_file():
            return sorted(place.rglob("*.py"))
    return []
