"""What is there to use: installed and local objects, described without importing them."""

from __future__ import annotations

from pathlib import Path

from agentdyno.model.parameter import ExperimentInfo
from agentdyno.registry import registered
from agentdyno.registry.finding import find_source
from agentdyno.registry.installed import installed
from agentdyno.registry.source import describe_source


def list_kind(kind: str) -> list[ExperimentInfo]:
    """Every object of one kind by name: one line, parameters, where it comes from."""
    found = {}
    for name, item in installed(kind).items():
        target = item.target
        found[name] = describe_source(name, target.module or "", target.name, item.package)
    for name, local in registered(kind).items():
        found.setdefault(name, ExperimentInfo(name, origin=local.origin))
    return [found[name] for name in sorted(found)]


def source_files(kind: str) -> list[Path]:
    """The files that the installed objects of one kind are described from."""
    files = [find_source(item.target.module or "") for item in installed(kind).values()]
    return [file for file in files if file is not None]


def workload_specs() -> list[tuple[str, Path]]:
    """The specs that are shipped with the package, as ``workload:NAME/SPEC``."""
    root = Path(__file__).parent.parent / "workloads"
    return [(f"workload:{path.parent.parent.name}/{path.stem}", path) for path in sorted(root.glob("*/specs/*.yaml"))]


def find_workload(reference: str) -> Path:
    """The file of ``workload:NAME/SPEC``."""
    from agentdyno.errors import SpecError, nearest

    known = dict(workload_specs())
    if reference not in known:
        raise SpecError(f"no spec {reference}", remedy=nearest(reference, known))
    return known[reference]
