"""The other side of a suite's run: the same agents at a git revision, or another agent."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentdyno.agents.commands.command_line import split_command
from agentdyno.agents.references import PROGRAMS, scheme_of
from agentdyno.agents.versioning import version_of
from agentdyno.errors import DynoError, SpecError
from agentdyno.model import AgentUse, RunWarning, Side, Workspace
from agentdyno.runs.baseline import Baseline, baseline_for, has_changed, here
from agentdyno.runs.kind import Say
from agentdyno.runs.lineup import Entrant, line_up
from agentdyno.specs import load_workspace

AGENT = "agent:"


@dataclass(frozen=True, slots=True)
class SuiteSides:
    """Both sides of a run, baselines first. ``spelled`` is the form that a resumed run reads again.

    ``unchanged`` are agents that are the very same on both sides: there is nothing to measure.
    """

    entrants: tuple[Entrant, ...]
    label: str
    spelled: str
    unchanged: tuple[str, ...] = ()


class Unchanged(SpecError):
    """Every agent is the same on both sides."""

    def __init__(self, sides: SuiteSides) -> None:
        self.sides = sides
        super().__init__(
            f"nothing to measure: {', '.join(sides.unchanged)} is the same there and here",
            where=f"--against {sides.label}",
            remedy="Change the agent, or name another revision.",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (Unchanged, (self.sides,))


def unchanged_warnings(sides: SuiteSides) -> tuple[RunWarning, ...]:
    """One for each agent that was left out because nothing of it has changed."""
    return tuple(
        RunWarning("unchanged", f"{label} is the same at {sides.label} and here, so it was not measured")
        for label in sides.unchanged
    )


def two_sides(
    candidates: Sequence[Entrant], against: str, workspace: Workspace, base_dir: Path, say: Say
) -> SuiteSides:
    """Every candidate with its baseline: itself at a git revision, or the one agent that ``against`` names."""
    reference = _agent_named(against, workspace)
    if reference is not None:
        return _against_agent(candidates, reference, workspace)
    home = Path(workspace.base_dir) if workspace.source else base_dir
    baseline = baseline_for(against, here(home), home, say)
    if baseline.moved is None:
        raise SpecError(
            f"{against!r} is neither an agent nor a git revision",
            where="--against",
            remedy="A suite is run against a branch, tag or commit, or against another agent.",
        )
    before = _entrants_at(baseline, workspace, home)
    pairs = [(_twin(item, baseline, before), item) for item in candidates]
    unchanged = tuple(new.label for old, new in pairs if _is_same(old, new, baseline))
    pairs = [(_renamed(old, new, baseline), new) for old, new in pairs if new.label not in unchanged]
    entrants = [replace(old, side=Side.BASELINE) for old, _ in pairs]
    entrants += [replace(new, side=Side.CANDIDATE) for _, new in pairs]
    return SuiteSides(tuple(entrants), baseline.label, baseline.spelled, unchanged)


def names_agent(against: str, workspace: Workspace) -> bool:
    """Whether the text names an agent that can be run here."""
    reference = _agent_named(against, workspace)
    if reference is None:
        return False
    try:
        line_up([reference], workspace, Path.cwd())
    except DynoError:
        return False
    return True


def _agent_named(against: str, workspace: Workspace) -> str | None:
    """The agent that the text names; ``None`` where it is a git revision."""
    from agentdyno.registry import registered
    from agentdyno.registry.installed import installed

    if against.startswith(AGENT):
        return against.removeprefix(AGENT)
    if against.startswith("git:"):
        return None
    known = {*workspace.agents, *registered("agents"), *installed("agents")}
    if against in known or against.rpartition("@")[0] in known:
        return against
    return against if scheme_of(against) != "name" else None


def _against_agent(candidates: Sequence[Entrant], reference: str, workspace: Workspace) -> SuiteSides:
    others = line_up([reference], workspace, Path.cwd())
    mine = [item for item in candidates if item.label not in {other.label for other in others}]
    if not mine:
        return SuiteSides((), reference, AGENT + reference, tuple(item.label for item in candidates))
    entrants = [replace(item, side=Side.BASELINE) for item in others]
    entrants += [replace(item, side=Side.CANDIDATE) for item in mine]
    return SuiteSides(tuple(entrants), reference, AGENT + reference)


def _entrants_at(baseline: Baseline, workspace: Workspace, home: Path) -> dict[str, Entrant]:
    """The agents that dyno.yaml had at the revision, by name; none where it had no usable one."""
    assert baseline.moved is not None
    root, worktree = baseline.moved
    if not workspace.source or not home.resolve().is_relative_to(root.resolve()):
        return {}
    there = worktree / home.resolve().relative_to(root.resolve())
    try:
        old = load_workspace(there)
    except DynoError:
        return {}
    if not old.source or not Path(old.source).resolve().is_relative_to(worktree.resolve()):
        return {}
    found: dict[str, Entrant] = {}
    for name in old.agents:
        try:
            found.update((item.use.name, item) for item in line_up([name], old, there))
        except DynoError:
            continue
    return found


def _twin(candidate: Entrant, baseline: Baseline, before: dict[str, Entrant]) -> Entrant:
    assert baseline.moved is not None
    root, worktree = (path.resolve() for path in baseline.moved)
    if candidate.target is not None:
        raise SpecError(
            f"{candidate.use.name} is a function of this program, which has one revision only",
            where="--against",
            remedy="Put it into a file and name it file.py@function.",
        )
    known = before.get(candidate.use.name)
    use = known.use if known is not None else _moved(candidate.use, root, worktree, baseline.label)
    version = version_of(use, moved=(root, worktree))
    same = replace(use, identity=candidate.use.identity)  # another version of one agent, wherever its file was then
    return Entrant(same, version, launch=baseline.launch)


def _moved(use: AgentUse, root: Path, worktree: Path, label: str) -> AgentUse:
    folder = Path(use.base_dir).resolve()
    if not folder.is_relative_to(root) or folder.is_relative_to(worktree):
        return use
    uses = use.uses
    for item in _files_named(use):
        path = (folder / item).resolve()
        if not path.is_relative_to(root):
            continue
        there, absolute = worktree / path.relative_to(root), Path(item).is_absolute()
        if there.is_file() and absolute:
            uses = uses.replace(item, str(there))  # else the baseline would be the code that is here
        elif not there.is_file() and path.is_file() and not (absolute and scheme_of(uses) in PROGRAMS):
            raise SpecError(
                f"{use.name} does not exist at {label}: there is no {item}",
                where="--against",
                remedy="Name another revision, or set it against another agent.",
            )
    return replace(use, uses=uses, base_dir=str(worktree / folder.relative_to(root)))


def _files_named(use: AgentUse) -> list[str]:
    """What may be files in the spelling of an agent: ``FILE.py@NAME``, or the words of a command."""
    if scheme_of(use.uses) in PROGRAMS:
        return list(split_command(use.uses.partition(":")[2], use.uses))
    file, at, _ = use.uses.rpartition("@")
    return [file] if at and file.endswith(".py") else []


def _is_same(old: Entrant, new: Entrant, baseline: Baseline) -> bool:
    """Same content, dependencies and repository: its answers differ by chance alone.

    An agent may read files while it runs that its content hash does not see, so a changed repository counts.
    """
    if old.version.digest != new.version.digest or baseline.launch.python != sys.executable:
        return False
    return new.version.commit is None or not (new.version.dirty or has_changed(baseline))


def _renamed(old: Entrant, new: Entrant, baseline: Baseline) -> Entrant:
    """Two sides that declare one version are told apart by the commit."""
    if old.label != new.label:
        return old
    commit = baseline.spelled.removeprefix("git:")[:7]
    return replace(old, version=replace(old.version, version=f"{old.version.version}~{commit}"))
