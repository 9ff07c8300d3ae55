"""From where agents come from to what they are called: the shortest texts that tell them apart.

An identity is text, in one of these forms:

- ``src/triage.py@answer`` (a file and what is in it), ``package.module:answer`` (a module and what is in it);
- ``cmd:node bots/agent.mjs``, and the same after ``stdio:`` and ``mcp:`` (a command line);
- ``openai:gpt-5-mini``, ``ollama:qwen3 at example.org`` (a model and its endpoint), ``http://host/path``;
- ``workflow:`` and the identity of its planner;
- ``name:triage``: a name that somebody gave, which stays as it is, wherever the agent moves.

What the agents of a run are called where people read it is made here, too; its arms call them ``name@version``.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentdyno.model.identity import digest

if TYPE_CHECKING:
    from agentdyno.model.result import RunResult
    from agentdyno.model.suite import AgentUse, Suite

_INTERPRETER = re.compile(r"(python[\d.]*|node|bash|sh|ruby|perl|php|deno|bun)$")
GIVEN = "name:"
"""Before a name that somebody gave."""
AT = " at "
"""Between a model and the endpoint that serves it."""
SWEPT = " | "
"""Between where an agent comes from and the settings that a sweep gave it."""


def labels(identities: Iterable[str]) -> dict[str, str]:
    """By identity what it is called among the others: the first of its forms that no other one has.

    No two are called the same, and the order in which they are given does not matter. A name that somebody gave is
    never changed: whoever else would be called so gets a longer label.
    """
    forms = {identity: forms_of(identity) for identity in identities}
    taken = Counter(form for own in forms.values() for form in own)
    return {identity: _label(identity, own, taken) for identity, own in forms.items()}


def _label(identity: str, forms: Sequence[str], taken: Mapping[str, int]) -> str:
    if identity.startswith(GIVEN):
        return forms[0]
    # Where even the whole of it is a name that somebody gave to another, a digest tells them apart.
    return next((form for form in forms if taken[form] == 1), f"{identity} #{digest(identity, 6)}")


def forms_of(identity: str) -> tuple[str, ...]:
    """What an identity may be called, the shortest first; a name that was given is its only one."""
    if identity.startswith(GIVEN):
        return (identity.removeprefix(GIVEN),)
    origin, with_, settings = identity.partition(SWEPT)
    tail = f" {settings}" if with_ else ""
    return tuple(dict.fromkeys([*(form + tail for form in _short_forms(origin)), identity]))


def _short_forms(origin: str) -> list[str]:
    scheme, colon, rest = origin.partition(":")
    if colon and scheme == "workflow":
        return [*_short_forms(rest), origin]
    if colon and scheme in ("mcp", "a2a") and rest.startswith(("http://", "https://")):
        return _short_forms(rest)
    if colon and scheme in ("cmd", "stdio", "mcp"):
        return _of_command(rest)
    if colon and scheme in ("openai", "ollama"):
        model, _, endpoint = rest.partition(AT)
        return [model, f"{scheme}:{model}", f"{model}{AT}{endpoint}"] if endpoint else [model]
    if colon and scheme in ("http", "https"):
        parts = urlsplit(origin)
        return [f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")]
    file, at, name = origin.rpartition("@")
    if at and file.endswith(".py"):
        return [name, *(f"{place}.{name}" for place in _tails(file.removesuffix(".py")))]
    if colon and all(part.isidentifier() for part in scheme.split(".")):
        packages = scheme.split(".")
        longer = (".".join([*packages[-count:], rest]) for count in range(1, len(packages) + 1))
        return [rest.rpartition(".")[2], rest, *longer]
    return []


def _of_command(line: str) -> list[str]:
    """``agent``, ``agent.mjs``, ``bots/agent.mjs``, ``bots/agent.mjs --fast``, ``node bots/agent.mjs --fast``."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if not words:
        return []
    script = next((place for place, word in enumerate(words) if place and not word.startswith("-")), 0)
    runs_script = _INTERPRETER.match(PurePosixPath(words[0]).name) and "." in words[script]
    place = script if runs_script else 0
    file = words[place]
    return [PurePosixPath(file).stem, *_tails(file), shlex.join(words[place:]), line]


def _tails(path: str) -> list[str]:
    """``b``, ``a/b``, ``/a/b``: the ends of a path, the shortest first."""
    parts = PurePosixPath(path).parts
    return [str(PurePosixPath(*parts[-count:])) for count in range(1, len(parts) + 1)]


def shown_agents(suite: Suite | None) -> dict[str, str]:
    """``label@version`` by what the arms say, for agents that are called otherwise than their name."""
    uses = () if suite is None else suite.agents
    return {f"{use.name}@{use.at_version}": f"{use.label}@{use.at_version}" for use in uses if use.label}


def shown_agent(suite: Suite | None, agent: str) -> str:
    """One agent of a run as ``label@version``."""
    return shown_agents(suite).get(agent, agent)


def shown_result(result: RunResult) -> RunResult:
    """A run as people read it: its arms call agents ``label@version``. Stored is what they said before."""
    known = shown_agents(result.suite)
    if not known:
        return result
    arms = (replace(arm, agent=known.get(arm.agent, arm.agent)) if arm.agent else arm for arm in result.arms)
    return replace(result, arms=tuple(arms))


def with_shown_arms(result: RunResult) -> RunResult:
    """The same, for sentences that name an arm: ``adding · triage.answer``."""
    shown = shown_result(result)
    agents = dict.fromkeys(arm.agent for arm in shown.arms if arm.agent)
    names = Counter(agent.rpartition("@")[0] for agent in agents)
    arms = []
    for arm, now in zip(result.arms, shown.arms, strict=True):
        name = (now.agent or "").rpartition("@")[0]
        whole = now.agent if names[name] > 1 else name
        arms.append(arm if now.agent == arm.agent else replace(now, name=f"{arm.benchmark} · {whole}"))
    return replace(shown, arms=tuple(arms))


def meant_by(suite: Suite | None, agent: str, text: str) -> bool:
    """Whether somebody means this agent of a run: by name or label, each alone or with its version."""
    known = (agent, shown_agent(suite, agent))
    return any(text in (name, name.rpartition("@")[0]) for name in known)


def with_labels(uses: Iterable[AgentUse], known: Mapping[str, str]) -> tuple[AgentUse, ...]:
    """Agents with what they are called; ``known`` are labels by identity."""
    return tuple(replace(use, label=_unlike(known.get(use.identity, ""), use.name)) for use in uses)


def labels_among(uses: Iterable[AgentUse]) -> dict[str, str]:
    """By identity what agents are called where there are no others."""
    return labels(use.identity or GIVEN + use.name for use in uses)


def _unlike(label: str, name: str) -> str:
    return "" if label == name else label
