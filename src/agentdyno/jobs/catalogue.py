"""What may be asked for from outside: the agents and suites that are registered here, and nothing else."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.agents.references import locate, scheme_of
from agentdyno.agents.resolve import COMMAND_KEYS, SAMPLING, parse_agent
from agentdyno.agents.versioning import version_of
from agentdyno.errors import DynoError, SpecError, nearest
from agentdyno.model import AgentUse, Workspace
from agentdyno.model.identity import digest
from agentdyno.model.parameter import json_type
from agentdyno.pricing import PriceBook
from agentdyno.registry.installed import installed
from agentdyno.runs.lineup import Entrant, Maker
from agentdyno.runs.suite.forecast import has_price
from agentdyno.specs import LoadedSuite, load_suite, load_workspace
from agentdyno.store.boards.identities import agent_digest, derived_uid
from agentdyno.workbench.listing import workload_files

_MODEL_SCHEMES = ("openai", "ollama")
_SAMPLING_TYPES = {"stop": "string|array", "reasoning_effort": "string"}
_NEVER = frozenset({*COMMAND_KEYS, "paid", "url", "base_url", "env", "headers", "tools", "command", "python"})
_NEVER_PARTS = frozenset(
    {*("url", "uri", "host", "path", "file", "folder", "dir", "cwd", "cmd", "command", "module", "import", "env")}
    | {*("key", "token", "secret", "password", "header", "headers")}
)
"""Words in a key that stand for a place, code or a secret: such values are the owner's to choose, no caller's."""
_LONGEST_TEXT = 10_000
_STAND_IN = "http://127.0.0.1:9"
"""Where the bundled model would be; agents are made here to be described, never asked."""


@dataclass(frozen=True, slots=True)
class RegisteredAgent:
    """An agent of dyno.yaml or of an installed package.

    ``digest`` is of its definition and its code, equal on every machine that has the same. ``allowed`` are the keys
    of its configuration that a caller may set, with their JSON types (``string|array`` where there are several).
    """

    name: str
    version: str
    digest: str
    use: AgentUse
    uid: str
    description: str = ""
    paid: bool = False
    allowed: Mapping[str, str] = field(default_factory=dict)

    @property
    def uses(self) -> str:
        return self.use.uses

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"

    def configured(self, configuration: Mapping[str, object]) -> AgentUse:
        """The agent with some of its configuration replaced; where a version is declared, that makes another one."""
        if not configuration:
            return self.use
        version = self.use.version
        if version:
            version = f"{version}+{digest(dict(configuration), 6)}"
        return replace(self.use, version=version, config={**self.use.config, **configuration})


@dataclass(frozen=True, slots=True)
class RegisteredSuite:
    """A suite of dyno.yaml, or one that is shipped. ``cases`` is a number over all ``benchmarks``, also a number."""

    suite_id: str
    name: str
    digest: str
    version: str
    description: str
    path: Path
    benchmarks: int
    cases: int
    uid: str = ""
    category: str = ""
    loaded: LoadedSuite | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is registered in one folder. ``broken`` says why an agent or suite is not there, by its name."""

    workspace: Workspace
    agents: Mapping[str, RegisteredAgent]
    suites: Mapping[str, RegisteredSuite]
    broken: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path, environ: Mapping[str, str]) -> Catalogue:
        """Reads dyno.yaml in ``folder`` or above it, its suites, and what is installed.

        An entry that cannot be loaded is in ``broken``; a dyno.yaml that cannot be read is a ``SpecError``.
        """
        workspace = load_workspace(folder)
        broken: dict[str, str] = {}
        prices = PriceBook(workspace.prices, workspace.compute_price_per_cpu_hour)
        agents: dict[str, RegisteredAgent] = {}
        for key in [*workspace.agents, *(name for name in installed("agents") if name not in workspace.agents)]:
            try:
                use = workspace.agents.get(key) or parse_agent(key, workspace.agents, folder.absolute())
                agents[key] = _agent(use, prices, environ)
            except DynoError as error:
                broken[key] = str(error)
        suites: dict[str, RegisteredSuite] = {}
        named = [(item, Path(workspace.base_dir) / item) for item in workspace.suites]
        shipped = [(item.name, item.path) for item in workload_files("suites")]
        for name, path in [*named, *shipped]:
            try:
                suite = _suite(path)
            except DynoError as error:
                broken[name] = str(error)
                continue
            if suite.suite_id in suites:
                broken[name] = f"its id {suite.suite_id} is that of {suites[suite.suite_id].path}"
                continue
            suites[suite.suite_id] = suite
        return cls(workspace, agents, suites, broken)

    @property
    def offers(self) -> frozenset[tuple[str, str]]:
        """Digests of every agent with every suite: what a worker with this catalogue can run."""
        return frozenset(
            (agent.digest, suite.digest) for agent in self.agents.values() for suite in self.suites.values()
        )

    def find_agent(self, reference: str) -> RegisteredAgent:
        """By name, ``name@version`` or UUID; anything else is a ``SpecError`` with the nearest names."""
        reference = reference.strip()
        if reference in self.agents:
            return self.agents[reference]
        wanted = _uuid(reference)
        found = {
            agent.digest: agent
            for agent in self.agents.values()
            if reference in (agent.name, agent.label) or agent.uid == wanted
        }
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            labels = " or ".join(agent.label for agent in found.values())
            raise SpecError(f"{reference} has {len(found)} versions", where="agent_id", remedy=f"Say {labels}.")
        self._explain_broken(reference, "agent_id")
        known = {*self.agents, *(agent.label for agent in self.agents.values() if "@" in reference)}
        raise SpecError(
            f"no agent {_shown(reference)} is registered", where="agent_id", remedy=nearest(reference, known)
        )

    def find_suite(self, reference: str) -> RegisteredSuite:
        """By id, name, ``id@version`` or UUID; anything else is a ``SpecError`` with the nearest ids."""
        reference = reference.strip()
        if reference in self.suites:
            return self.suites[reference]
        wanted = _uuid(reference)
        for suite in self.suites.values():
            if reference in (suite.name, suite.digest, f"{suite.suite_id}@{suite.version}") or suite.uid == wanted:
                return suite
        self._explain_broken(reference, "suite_id")
        raise SpecError(
            f"no suite {_shown(reference)} is registered", where="suite_id", remedy=nearest(reference, self.suites)
        )

    def _explain_broken(self, reference: str, where: str) -> None:
        if reference in self.broken:
            raise SpecError(f"{reference} cannot be loaded: {self.broken[reference]}", where=where)

    def agent_of(self, agent_digest: str) -> RegisteredAgent | None:
        return next((item for item in self.agents.values() if item.digest == agent_digest), None)

    def suite_of(self, suite_digest: str) -> RegisteredSuite | None:
        return next((item for item in self.suites.values() if item.digest == suite_digest), None)


def check_configuration(agent: RegisteredAgent, configuration: Mapping[str, object]) -> dict[str, object]:
    """``configuration``, where each key may be set and each value is of the declared type; else ``SpecError``."""
    for key, value in configuration.items():
        where = f"configuration.{_shown(key)}"
        if key not in agent.allowed:
            remedy = nearest(key, agent.allowed) if agent.allowed else f"{agent.name} has nothing that can be set."
            raise SpecError(f"{agent.name} has no setting {_shown(key)!r} that a caller may change", where=where,
                            remedy=remedy)  # fmt: skip
        given, wanted = _type_of(value), agent.allowed[key]
        if given not in wanted.split("|"):
            raise SpecError(f"expected {wanted}, got {given}", where=where, remedy=f"Give a {wanted}.")
        if _length(value) > _LONGEST_TEXT:
            raise SpecError(f"longer than {_LONGEST_TEXT:,} characters", where=where, remedy="Shorten it.")
    return dict(configuration)


def _agent(use: AgentUse, prices: PriceBook, environ: Mapping[str, str]) -> RegisteredAgent:
    located = locate(use)
    use = located.use
    version = version_of(use, git=False)
    entrant = Entrant(use, version)
    agent = entrant.make(Maker(1, environ, _STAND_IN), None)
    mark = digest([use.name, version.version, version.digest, sorted(use.env)], 32)
    uid = str(uuid.UUID(bytes=derived_uid("agent", use.name, version.version, agent_digest(use))))
    return RegisteredAgent(
        name=use.name,
        version=version.version,
        digest=mark,
        use=use,
        uid=uid,
        description=use.description,
        paid=agent.paid or has_price(entrant, prices),
        allowed=_allowed(use),
    )


def _allowed(use: AgentUse) -> dict[str, str]:
    own = {key: _type_of(value) for key, value in use.config.items() if _may_be_set(key, value)}
    if scheme_of(use.uses) in _MODEL_SCHEMES:
        own = {**{key: _SAMPLING_TYPES.get(key, "number") for key in SAMPLING}, **own}
    return dict(sorted(own.items()))


def _may_be_set(key: str, value: object) -> bool:
    """No address, command, place or secret; ``max_tokens`` is a number and may."""
    if key in SAMPLING:
        return True
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", key).lower()))
    return key not in _NEVER and not words & _NEVER_PARTS and _type_of(value) in ("boolean", "number", "string")


def _type_of(value: object) -> str:
    """JSON's names of types; every number is a ``number``."""
    name = json_type(value)
    return "number" if name == "integer" else name


def _length(value: object) -> int:
    if isinstance(value, (list, tuple)):
        return sum(map(_length, value), start=len(value))
    if isinstance(value, Mapping):
        return sum((_length(item) + len(str(key)) for key, item in value.items()), start=len(value))
    return len(value) if isinstance(value, str) else 0


def _suite(path: Path) -> RegisteredSuite:
    loaded = load_suite(path)
    suite = loaded.suite
    mark = suite.digest
    return RegisteredSuite(
        suite_id=suite.suite_id,
        name=suite.name,
        digest=mark,
        version=suite.version,
        description=suite.description,
        path=path,
        benchmarks=len(suite.benchmarks),
        cases=sum(len(item.cases) for item in suite.benchmarks),
        uid=str(uuid.UUID(bytes=derived_uid("suite", suite.suite_id, mark))),
        category=suite.category.value,
        loaded=loaded,
    )


def _uuid(reference: str) -> str | None:
    try:
        return str(uuid.UUID(reference))
    except ValueError:
        return None


def _shown(text: object) -> str:
    """What a caller wrote, short enough for a message."""
    line = str(text)
    return line if len(line) <= 80 else line[:79] + "…"
