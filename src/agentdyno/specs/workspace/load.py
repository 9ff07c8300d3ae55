"""``dyno.yaml``: found upward as git finds its folder, and what it says about agents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentdyno.errors import SpecError
from agentdyno.model.workspace import Price, Workspace
from agentdyno.specs.files.problems import FileProblem, got, shorten, spec_error

if TYPE_CHECKING:
    from agentdyno.model.suite import AgentUse

FILE = "dyno.yaml"
_WILDCARD = re.compile(r"[*?[]")


def find_workspace(start: Path) -> Path | None:
    """The ``dyno.yaml`` in ``start`` or the nearest folder above it."""
    here = start.absolute()
    for folder in (here, *here.parents):
        try:
            if (folder / FILE).is_file():
                return folder / FILE
        except OSError:
            continue  # a folder that we may not look into has nothing for us
    return None


def load_workspace(start: Path) -> Workspace:
    """The workspace that ``start`` belongs to; one of defaults where no ``dyno.yaml`` is found."""
    path = find_workspace(start)
    return Workspace(base_dir=str(start.absolute())) if path is None else read_workspace(path)


def read_workspace(path: Path) -> Workspace:
    """The workspace that one file describes. Raises ``SpecError``."""
    from agentdyno.specs.files.read import read_text
    from agentdyno.specs.files.validate import validate_as
    from agentdyno.specs.files.yaml_text import parse_yaml
    from agentdyno.specs.workspace.alerts import alert_channels
    from agentdyno.specs.workspace.format import WorkspaceFile
    from agentdyno.specs.workspace.gate import gate_policy

    source, folder = str(path), path.absolute().parent
    text = read_text(path, source)
    plain = parse_yaml(text, source) if text.strip() else None
    if plain is None:
        plain = {}
    if not isinstance(plain, dict):
        problem = FileProblem("", f"expected a mapping at the top, got {got(plain)}", "Write keys, as in `agents:`.")
        raise spec_error(source, [problem])
    document = validate_as(WorkspaceFile, plain, source)
    prices = {model: Price(**_floats(row)) for model, row in document.get("prices", {}).items()}
    compute = document.get("compute_price_per_cpu_hour")
    return Workspace(
        name=document.get("workspace", "default"),
        agents=_agents(document.get("agents", {}), source, str(folder)),
        suites=_paths("suites", document.get("suites", ()), folder, source),
        imports=_paths("imports", document.get("imports", ()), folder, source),
        run_agents=tuple(dict.fromkeys(document.get("run", {}).get("agents", ()))),
        prices=prices,
        compute_price_per_cpu_hour=None if compute is None else float(compute),
        gate=gate_policy(document.get("gate", {})),
        weights=_floats(document.get("weights", {})),
        alerts=alert_channels(document.get("alerts", {}), source),
        thresholds=_thresholds(document, source),
        store=document.get("store"),
        base_dir=str(folder),
        source=source,
    )


def _thresholds(document: Mapping[str, Any], source: str) -> dict[str, float]:
    if "thresholds" not in document:
        return {}
    from agentdyno.specs.layers import thresholds_of

    return thresholds_of(document, source)


def resolve_agents(uses: Sequence[AgentUse], workspace: Workspace) -> tuple[AgentUse, ...]:
    """``uses`` with what the workspace declares about those that name one of its agents.

    Configuration given beside the name goes first, key by key. A swept agent stands for all its combinations. What
    the workspace does not know stays as it is. A version that it does not have is a ``SpecError``.
    """
    return tuple(found for use in uses for found in _resolve(use, workspace))


def _resolve(use: AgentUse, workspace: Workspace) -> list[AgentUse]:
    wanted = use.uses.removesuffix(f"@{use.version}") if use.version else use.uses
    versions = sorted({key.partition(" ")[0] for key in workspace.agents if key.startswith(f"{wanted}@")})
    for name in [f"{wanted}@{use.version}", wanted] if use.version else [wanted, *versions]:
        declared = [item for key, item in workspace.agents.items() if key == name or key.startswith(f"{name} ")]
        if declared:
            break
    else:
        return [use]
    where = f"{workspace.source}: agents.{wanted}"
    if len(versions) > 1 and not use.version and name in versions:
        remedy = f"Name the version: {' or '.join(versions)}."
        raise SpecError(f"{wanted} has {len(versions)} versions", where=where, remedy=remedy)
    for item in declared:
        if use.version and item.version and item.version != use.version:
            raise SpecError(
                f"{wanted} is at version {shorten(item.version)}, not {shorten(use.version)}",
                where=where,
                remedy=f'Add `"{wanted}@{use.version}":` beside it, or leave the version out.',
            )
    return [_merged(use, item) for item in declared]


def _merged(use: AgentUse, declared: AgentUse) -> AgentUse:
    tail = declared.name.partition(" ")[2]
    own = use.name not in (use.uses, use.uses.removesuffix(f"@{use.version}"))
    return replace(
        declared,
        name=f"{use.name} {tail}".rstrip() if own else declared.name,
        version=use.version or declared.version,
        config={**declared.config, **use.config},
        env=tuple(dict.fromkeys([*declared.env, *use.env])),
        description=use.description or declared.description,
        python=use.python or declared.python,
    )


def _agents(rows: Mapping[str, Any], source: str, base_dir: str) -> dict[str, AgentUse]:
    from agentdyno.specs.workspace.agents import entry_problems, expand_agent

    problems: list[FileProblem] = []
    agents: dict[str, AgentUse] = {}
    for name, row in rows.items():
        key = f"agents.{name}"
        bare, _, version = name.partition("@")
        wrong = [*entry_problems(row, key)]
        if version and row.get("version", version) != version:
            message = f"expected version {shorten(version)} as the name says, got {shorten(row['version'])}"
            wrong.append(FileProblem(f"{key}.version", message, "Remove it."))
        problems += wrong
        for use in [] if wrong else expand_agent(row, base_dir=base_dir, name=bare):
            use = replace(use, version=version) if version else use
            agents[use.name.replace(bare, name, 1)] = use
    if problems:
        raise spec_error(source, problems)
    return agents


def project_files(workspace: Workspace) -> tuple[Path, ...]:
    """The Python files in which what the project registers is looked for.

    Without a ``dyno.yaml`` the project is the folder of the spec and those above it, up to the current one.
    """
    from agentdyno.registry.project import EXPERIMENTS_FOLDER

    folder = Path(workspace.base_dir)
    named = [folder / item for item in workspace.imports]
    here = Path.cwd()
    above = [item for item in folder.parents if item.is_relative_to(here)] if not workspace.source else []
    found = [path for place in (folder, *above) for path in sorted((place / EXPERIMENTS_FOLDER).glob("*.py"))]
    return (*named, *found)


def _paths(key: str, patterns: Sequence[str], folder: Path, source: str) -> tuple[str, ...]:
    """Paths as given, patterns as the files that match, in order and once each."""
    found: list[str] = []
    for i, pattern in enumerate(patterns):
        if not _WILDCARD.search(pattern):
            found.append(pattern)
            continue
        anchor = Path(pattern).anchor
        try:
            if any("**" in part and part != "**" for part in Path(pattern).parts):  # from Python 3.13 on like one *
                raise ValueError("'**' is any folders, and stands alone between two /")
            matches = sorted((Path(anchor) if anchor else folder).glob(pattern.removeprefix(anchor)))
        except (ValueError, NotImplementedError, OSError) as error:
            remedy = f"Write for example {'suites/*.yaml' if key == 'suites' else 'benchmarks/*.py'}."
            raise spec_error(source, [FileProblem(f"{key}[{i}]", f"not a pattern: {error}", remedy)]) from None
        found += [_relative(item, folder) for item in matches if item.is_file()]
    return tuple(dict.fromkeys(found))


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _floats(row: Mapping[str, float]) -> dict[str, float]:
    return {key: float(value) for key, value in row.items()}
