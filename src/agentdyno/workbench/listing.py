"""What is there to use: installed and local objects, described without importing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentdyno.errors import SpecError, nearest
from agentdyno.model.parameter import ExperimentInfo
from agentdyno.registry import registered
from agentdyno.registry.installed import installed, package_to_install
from agentdyno.registry.local import find_source
from agentdyno.registry.project import project_objects
from agentdyno.registry.source import describe_file, describe_source


@dataclass(frozen=True, slots=True)
class WorkloadFile:
    """A spec or suite of an installed workload: ``name`` is ``workload:NAME/FILE``, ``package`` what brings it."""

    name: str
    path: Path
    package: str


def list_kind(kind: str, imports: Sequence[str] = ()) -> list[ExperimentInfo]:
    """Every object of one kind by name: one line, parameters, where it comes from.

    ``imports`` are further Python files to look through, beside those of the project.
    """
    found = {}
    for name, item in installed(kind).items():
        target = item.target
        found[name] = describe_source(name, target.module or "", target.name, item.package)
    for name, local in registered(kind).items():
        found.setdefault(name, ExperimentInfo(name, origin=local.origin))
    found = {**_of_project(kind, imports), **found}
    return [found[name] for name in sorted(found)]


def _of_project(kind: str, imports: Sequence[str]) -> dict[str, ExperimentInfo]:
    """What files of the project register: ``imports``, those that dyno.yaml names, those in ``experiments``."""
    from agentdyno.specs.workspace.load import load_workspace, project_files

    workspace = load_workspace(Path.cwd())
    root = Path(workspace.base_dir)
    asked = [_existing(item) for item in imports]
    return {
        name: describe_file(name, item.file, item.attribute, _short(item.file, root))
        for name, item in project_objects(kind, (*asked, *project_files(workspace))).items()
    }


def _existing(text: str) -> Path:
    file = Path(text)
    if not file.is_file():
        raise SpecError(f"no file {text}", where="--import", remedy="Name a Python file that registers something.")
    return file.resolve()


def _short(file: Path, root: Path) -> str:
    return str(file.relative_to(root)) if file.is_relative_to(root) else str(file)


def source_files(kind: str) -> list[Path]:
    """The files that the installed objects of one kind are described from."""
    files = [find_source(item.target.module or "") for item in installed(kind).values()]
    return [file for file in files if file is not None]


def workload_files(kind: str = "*") -> list[WorkloadFile]:
    """The specs and suites (``kind`` says which) in the folders of installed workloads, by name."""
    found = []
    for workload, item in installed("workloads").items():
        source = find_source(item.target.module or "")
        files = sorted(source.parent.glob(f"{kind}/*.yaml")) if source is not None else []
        found += [
            WorkloadFile(f"workload:{workload}/{path.stem}", path, item.package)
            for path in files
            if path.parent.name in ("specs", "suites")
        ]
    return found


def list_files(kind: str) -> list[ExperimentInfo]:
    """``specs`` or ``suites``: those of dyno.yaml first, then what is shipped, each with its first comment."""
    from agentdyno.specs import load_workspace

    named: list[tuple[str, Path, str]] = []
    if kind == "suites":
        workspace = load_workspace(Path.cwd())
        named = [(item, Path(workspace.base_dir) / item, "dyno.yaml") for item in workspace.suites]
    named += [(item.name, item.path, item.package) for item in workload_files(kind)]
    return [ExperimentInfo(name, _first_comment(path), origin=origin) for name, path, origin in named]


def list_agents() -> list[ExperimentInfo]:
    """The agents of dyno.yaml, then those that are installed; schemes need no listing."""
    from agentdyno.specs import load_workspace

    workspace = load_workspace(Path.cwd())
    own = [
        ExperimentInfo(use.name, use.description or use.uses, origin="dyno.yaml") for use in workspace.agents.values()
    ]
    return [*own, *(info for info in list_kind("agents") if info.name not in workspace.agents)]


def _first_comment(path: Path) -> str:
    try:
        first = path.read_text(encoding="utf-8").partition("\n")[0]
    except (OSError, UnicodeDecodeError):
        return "cannot be read"
    return first.lstrip("# ") if first.startswith("#") else ""


def find_workload(reference: str) -> Path:
    """The file of ``workload:NAME/FILE``."""
    known = {item.name: item.path for item in workload_files()}
    if reference in known:
        return known[reference]
    workload = reference.removeprefix("workload:").partition("/")[0]
    package = package_to_install("workloads", workload)
    if package is not None:
        raise SpecError(
            f"no spec {reference}: {workload} comes with {package}, which is not installed",
            remedy=f"Install it: pip install {package}",
        )
    raise SpecError(f"no spec {reference}", remedy=nearest(reference, known))
