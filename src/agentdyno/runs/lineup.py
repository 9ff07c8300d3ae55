"""The agents of a run: found, versioned, and made when their limits are known."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentdyno.agents.origin import file_identity, identity_of
from agentdyno.agents.references import locate
from agentdyno.agents.resolve import make_agent, parse_agent
from agentdyno.agents.versioning import AgentVersion, version_of
from agentdyno.contracts import Agent
from agentdyno.errors import SpecError
from agentdyno.model import AgentUse, Side, Workspace
from agentdyno.model.identity import SHORTEST_VERSION, digest
from agentdyno.model.naming import GIVEN, labels_among, with_labels
from agentdyno.specs import agent_use, resolve_agents

if TYPE_CHECKING:
    from agentdyno.agents.recording.recording import AgentRecording
    from agentdyno.runner.bench.job import Launch
    from agentdyno.servers.local_model import LocalModel
    from agentdyno.store import Store

LOCAL = "local"
"""The ``base_url`` of agents that want the bundled model; a server is started for them."""
IN_PROCESS = "python:"
"""How an agent is spelled that only the program has which started the run."""


class AgentObject(Protocol):
    """An object of the program that started the run: ``run`` is given a case and returns, or awaits, its answer."""

    def run(self, case: Any, /) -> Any: ...


Named = str | AgentUse | Callable[..., Any] | AgentObject


@dataclass(frozen=True, slots=True)
class Entrant:
    """An agent that takes part: complete configuration, version, and the object where only this process has it.

    ``use.version`` is the declared one alone: without one, a resume works it out again and sees a changed agent.
    ``launch`` is the environment of an agent that is taken from another revision.
    """

    use: AgentUse
    version: AgentVersion
    target: Any = None
    side: Side | None = None
    launch: Launch | None = None

    @property
    def label(self) -> str:
        return f"{self.use.name}@{self.version.version}"

    @property
    def wants_local_model(self) -> bool:
        return self.use.config.get("base_url") == LOCAL

    def make(self, maker: Maker, memory_limit_bytes: int | None) -> Agent:
        """The agent itself. Its recorded configuration keeps ``local`` where a server's address is put in."""
        if self.target is not None:
            from agentdyno.agents.hosting.callable_agent import CallableAgent

            return CallableAgent(
                self.target, name=self.use.name, version=self.version.version, config=self.use.config
            )
        use = self.use
        if self.wants_local_model and maker.local_url is not None:
            use = replace(use, config={**use.config, "base_url": maker.local_url})
        environ, python = maker.environ, None
        if self.launch is not None:
            environ = {**environ, "PYTHONPATH": os.pathsep.join(self.launch.sys_path)}
            # an agent with an interpreter of its own keeps it, unless interpreters are what is compared
            python = self.launch.python if not use.python or self.launch.label == self.launch.python else None
        return make_agent(
            replace(use, version=self.version.version),
            workers=maker.workers,
            memory_limit_bytes=memory_limit_bytes,
            environ=environ,
            python=python,
            recording=maker.recordings.get(self.label),
        )


@dataclass(frozen=True, slots=True)
class Maker:
    """What agents are made with. ``recordings`` are of those whose model calls pass a proxy, by label."""

    workers: int
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    local_url: str | None = None
    recordings: Mapping[str, AgentRecording] = field(default_factory=dict)


def line_up(named: Sequence[Named], workspace: Workspace, base_dir: Path, python: str = "") -> list[Entrant]:
    """Every agent once, in the order given; the same one twice, or two under one name and version, is refused.

    ``python`` is the interpreter of Python agents that have none of their own.
    """
    entrants: list[Entrant] = []
    for entrant in (found for item in named for found in _entrants(item, workspace, base_dir, python)):
        if any(entrant.label == other.label for other in entrants):
            raise SpecError(
                f"{entrant.label} takes part twice",
                where="agents",
                remedy="Remove one, or give them different names or versions in dyno.yaml.",
            )
        entrants.append(entrant)
    return entrants


def told_apart(entrants: Sequence[Entrant], store: Store | None) -> tuple[AgentUse, ...]:
    """The agents of a run with their versions, and with what they are called among all that the store knows."""
    uses = [replace(item.use, at_version=item.version.version) for item in entrants]
    if store is None:
        return with_labels(uses, labels_among(uses))
    return with_labels(uses, store.runs.labels_with(uses))


def find_agent(reference: str, workspace: Workspace, base_dir: Path, python: str = "") -> AgentUse:
    """The one agent that a user names; of a sweep the first. ``python`` as in ``line_up``."""
    return _in_interpreter(_uses(reference, workspace, base_dir, python)[0], python)


def find_judge(reference: str, workspace: Workspace, base_dir: Path) -> Entrant:
    """The one agent that a scorer asks; a sweep is refused, as answers would depend on which of it was taken."""
    entrants = line_up([reference], workspace, base_dir)
    if len(entrants) > 1:
        raise SpecError(
            f"{reference} stands for {len(entrants)} agents",
            where=f"judge {reference}",
            remedy="Judge with an agent that has no sweep.",
        )
    return entrants[0]


def _uses(item: str | AgentUse, workspace: Workspace, base_dir: Path, python: str) -> Sequence[AgentUse]:
    """An agent that dyno.yaml sweeps stands for all its combinations."""
    asked = agent_use(item, base_dir=str(base_dir)) if isinstance(item, str) else item
    found = resolve_agents([asked], workspace)
    if isinstance(item, str) and found[0] is asked:
        return (parse_agent(item, workspace.agents, base_dir, elsewhere=bool(python)),)  # says what is wrong with it
    if isinstance(item, str) and asked.version:
        return [_at_version(use, asked.version, workspace) for use in found]
    return found


def _at_version(use: AgentUse, version: str, workspace: Workspace) -> AgentUse:
    """An agent without a declared version is at the one of its content: naming another does not make it that one."""
    declared = [item for key, item in workspace.agents.items() if key.partition("@")[0] == use.name.partition("@")[0]]
    if any(item.version for item in declared):
        return use
    bare = replace(use, version=None)
    there = version_of(bare, git=False).version
    if len(version) < SHORTEST_VERSION or not there.startswith(version):
        raise SpecError(
            f"{use.name} is at version {there}, not {version}",
            where=f"{use.name}@{version}",
            remedy=f"Say {use.name}; or declare a version in {workspace.source or 'dyno.yaml'}.",
        )
    return bare


def _entrants(item: Named, workspace: Workspace, base_dir: Path, python: str) -> list[Entrant]:
    if not isinstance(item, (str, AgentUse)):
        return [_of_this_process(item)]
    uses = _uses(item, workspace, base_dir, python)
    declared = {(use.name, use.uses) for use in workspace.agents.values()}
    return [_found(_in_interpreter(use, python), given=(use.name, use.uses) in declared) for use in uses]


def _in_interpreter(use: AgentUse, python: str) -> AgentUse:
    """A Python agent with ``python`` where it has none; a path starts at the current folder."""
    if use.python or not python:
        return use
    path = str(Path.cwd() / python) if Path(python).name != python else python
    inside = replace(use, python=path)
    return inside if locate(inside).scheme == "python" else use


def _found(use: AgentUse, *, given: bool) -> Entrant:
    """``given`` says that dyno.yaml gives it its name. One that is resumed keeps the identity it began with."""
    located = locate(use)
    identity = use.identity or identity_of(use, located, given=given)
    whole = replace(located.use, identity=identity, label="")
    return Entrant(whole, version_of(whole))


def _of_this_process(target: Callable[..., Any] | AgentObject) -> Entrant:
    name = getattr(target, "name", None) or getattr(target, "__name__", None) or type(target).__name__
    subject: Any = target if hasattr(target, "__qualname__") else type(target)
    where = f"{getattr(subject, '__module__', '?')}:{getattr(subject, '__qualname__', name)}"
    try:
        source = inspect.getsource(subject)
    except (OSError, TypeError):
        source = where
    declared = getattr(target, "version", None)
    version = AgentVersion(str(declared) if declared else digest(source, 12))
    use = AgentUse(str(name), IN_PROCESS + where, version.version, identity=_identity_here(subject, str(name), where))
    return Entrant(use, version, target)


def _identity_here(subject: Any, name: str, where: str) -> str:
    """Of what this program has: its module and name; the program itself is told by its file."""
    if getattr(subject, "__name__", name) != name:
        return GIVEN + name
    if not where.startswith("__main__:"):
        return where
    try:
        file = inspect.getsourcefile(subject)
    except TypeError:
        file = None
    return file_identity(Path(file), where.partition(":")[2], Path.cwd()) if file and Path(file).is_file() else where


@dataclass(slots=True)
class LocalServer:
    """The bundled model, started for the first who wants it, and ended with ``stack``."""

    workers: int
    stack: ExitStack
    say: Callable[[str], None]
    _model: LocalModel | None = None

    @property
    def url(self) -> str:
        return self._started().url

    def cpu_s(self) -> float:
        """CPU seconds that it has used so far."""
        return self._started().cpu_s()

    def _started(self) -> LocalModel:
        if self._model is None:
            from agentdyno.servers.local_model import LocalModel

            self.say("Starting the local model ...")
            self._model = self.stack.enter_context(LocalModel(parallel=max(1, self.workers)))
        return self._model
