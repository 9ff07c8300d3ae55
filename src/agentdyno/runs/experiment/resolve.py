"""Names that a user wrote to code that a worker can load."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentdyno.errors import PluginError
from agentdyno.model import InstrumentUse, Isolation, Spec
from agentdyno.registry import registered
from agentdyno.registry.command_lines import PROGRAM_SCHEMES, command_in
from agentdyno.registry.installed import installed, unknown
from agentdyno.registry.local import Target, loaded_by_path, parse_reference
from agentdyno.registry.project import project_objects
from agentdyno.runner.bench.job import CodeReference, InstrumentJob
from agentdyno.specs.workspace.load import load_workspace, project_files

ALWAYS_ON = "timing"


def experiment_code(reference: str, spec: Spec) -> CodeReference:
    """Where an experiment is: a file, a module, an installed package, this process, a file of the project, or one of
    the imports."""
    if reference.startswith(PROGRAM_SCHEMES):
        raise _is_a_command(reference)
    imports = import_paths(spec)
    target = parse_reference(reference, Path(spec.base_dir))
    if target is not None:
        return _code(target, imports)
    local = registered("experiments").get(reference)
    packages = installed("experiments")
    if local is not None:
        return _code_of_object(reference, local.target, imports, spec.isolation)
    if reference in packages:
        return _code(packages[reference].target, imports)
    project = project_objects("experiments", project_files(load_workspace(Path(spec.base_dir))))
    if reference in project:
        return CodeReference(reference, files=(str(project[reference].file),), imports=imports)
    if imports:
        return CodeReference(reference, files=imports)
    raise _is_a_command(reference) if command_in(reference) else unknown("experiments", reference, project)


def _is_a_command(reference: str) -> PluginError:
    command = command_in(reference)
    return PluginError(
        f"{reference} is a command, and an experiment is Python code",
        remedy=f"Time it with: dyno time {shlex.quote(command)}. As an agent it answers the cases of a suite: "
        f"dyno run SUITE.yaml --agent {shlex.quote(f'cmd:{command}')}",
    )


def short_name(reference: str) -> str:
    """What an experiment or instrument is called in results: the same wherever its file or module lies."""
    for separator in ("@", ":"):
        if separator in reference:
            return reference.rpartition(separator)[2]
    return reference


def instrument_jobs(uses: Sequence[InstrumentUse], spec: Spec) -> tuple[InstrumentJob, ...]:
    """Instruments by code; the clock is always on and needs none."""
    return tuple(
        InstrumentJob(short_name(use.name), _instrument_code(use.name, spec), use.options)
        for use in uses
        if use.name != ALWAYS_ON
    )


def import_paths(spec: Spec) -> tuple[str, ...]:
    """The spec's imports, files as absolute paths."""
    return tuple(
        str((Path(spec.base_dir) / item).resolve()) if item.endswith(".py") else item for item in spec.imports
    )


def _instrument_code(name: str, spec: Spec) -> CodeReference:
    imports = import_paths(spec)
    target = parse_reference(name, Path(spec.base_dir))
    if target is not None:
        return _code(target, imports)
    packages = installed("instruments")
    if name in packages:
        return _code(packages[name].target, imports)
    local = registered("instruments").get(name)
    if local is not None:
        return _code_of_object(name, local.target, imports, spec.isolation)
    project = project_objects("instruments", project_files(load_workspace(Path(spec.base_dir))))
    if name in project:
        return CodeReference(name, files=(str(project[name].file),), imports=imports)
    if imports or any(entry.experiment.partition("@")[2] for entry in spec.entries):
        files = tuple(
            target.files[0]
            for entry in spec.entries
            if (target := parse_reference(entry.experiment, Path(spec.base_dir))) is not None and target.files
        )
        return CodeReference(name, files=(*imports, *dict.fromkeys(files)))
    raise unknown("instruments", name, project)


def _code(target: Target, imports: tuple[str, ...]) -> CodeReference:
    return CodeReference(target.name, target.module, target.files, imports)


def _code_of_object(name: str, target: Any, imports: tuple[str, ...], isolation: Isolation) -> CodeReference:
    """Code for something registered in this process, so that a worker can load it again."""
    subject = inspect.unwrap(target)
    module = str(getattr(subject, "__module__", "__main__"))
    qualified = str(getattr(subject, "__qualname__", name))
    if "<locals>" not in qualified:
        if module != "__main__" and module in sys.modules and not loaded_by_path(module):
            return CodeReference(qualified, module=module, imports=imports)
        file = _source_file(subject)
        if file is not None:
            return CodeReference(name, files=(file,), imports=imports)
    if isolation is Isolation.INLINE:
        return CodeReference(name, imports=imports)
    raise PluginError(
        f"{name} exists only in this process, and a worker process cannot load it",
        remedy="Put it into a file or at the top of a module, or set `isolation: inline`.",
    )


def _source_file(subject: Any) -> str | None:
    try:
        file = inspect.getsourcefile(subject)
    except TypeError:
        return None
    return str(Path(file).resolve()) if file and Path(file).is_file() else None
