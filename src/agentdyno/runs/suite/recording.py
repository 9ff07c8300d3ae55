"""Which agents of a run are recorded by a proxy between them and their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentdyno.agents.recording.redirects import AUTO, COUNTS, OFF, find_redirects
from agentdyno.agents.references import PROGRAMS, locate
from agentdyno.model import AgentUse, RunWarning, Suite
from agentdyno.model.record import AgentRecord
from agentdyno.runs.kind import Say
from agentdyno.runs.lineup import Entrant

if TYPE_CHECKING:
    from agentdyno.agents.recording.recording import AgentRecording, RunRecording


@dataclass(frozen=True, slots=True)
class SuiteRecording:
    """``by_agent`` has the recorded agents, by label; ``run`` is what they share, where there are some."""

    run: RunRecording | None = None
    by_agent: Mapping[str, AgentRecording] = field(default_factory=dict)

    @property
    def wanted(self) -> bool:
        return bool(self.by_agent)

    def warnings(self) -> tuple[RunWarning, ...]:
        """What became of it, for the result."""
        if self.run is None or not self.run.problem:
            return ()
        text = f"model calls were not recorded: {self.run.problem}"
        return (RunWarning("not-recorded", text, "`--record off` says that they need not be."),)

    def close(self) -> None:
        """Ends the proxy, where there is one."""
        if self.run is not None:
            self.run.close()


def suite_recording(
    say: Say,
    entrants: Sequence[Entrant],
    suite: Suite,
    environ: Mapping[str, str],
    compared_with: Sequence[AgentRecord] = (),
) -> SuiteRecording:
    """Decides for every agent; nothing is started.

    Where nobody says what to record, a run that is to be held against others is recorded as they were: the times of
    the two are to be compared.
    """
    run, found = None, {}
    for entrant in entrants:
        mode = entrant.use.record or suite.record
        if mode == AUTO and _held_against_unrecorded(entrant, compared_with):
            mode = OFF
        seen = _seen_by(entrant, environ)
        if mode == OFF or seen is None:
            continue
        asked = mode != AUTO
        redirects = find_redirects(seen, entrant.use.env, asked=asked)
        if redirects:
            from agentdyno.agents.recording.recording import RunRecording  # most agents name no model's address

            run = run or RunRecording(say)
            found[entrant.label] = run.of(redirects, COUNTS if mode == AUTO else mode, asked=asked)
    return SuiteRecording(run, found)


def unrecorded(suite: Suite) -> Suite:
    """The suite of a run that was not recorded: what is missing of it is not, either."""
    agents: tuple[AgentUse, ...] = tuple(replace(use, record=OFF) if use.record else use for use in suite.agents)
    return replace(suite, record=OFF, agents=agents)


def _held_against_unrecorded(entrant: Entrant, records: Sequence[AgentRecord]) -> bool:
    same = [record for record in records if record.name == entrant.use.name] or records
    return any(not record.proxied for record in same)


def _seen_by(entrant: Entrant, environ: Mapping[str, str]) -> Mapping[str, str] | None:
    """The environment that an agent's process gets; ``None`` for an agent that has no process of its own."""
    if entrant.target is not None:
        return None
    located = locate(entrant.use)
    if located.scheme in PROGRAMS:
        from agentdyno.agents.commands.command_line import command_environment

        return command_environment(environ, entrant.use.env)
    return environ if located.scheme == "python" and located.target is not None else None
