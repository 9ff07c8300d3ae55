"""The clients that put load on a target, and what a scenario may do to the target besides asking it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.load.driver import Driver, Levers
from agentdyno.model.load import LoadOptions
from agentdyno.workbench.load_target import Subject, load_cases

if TYPE_CHECKING:
    from agentdyno.load.scenarios import Scenario
    from agentdyno.workbench.load_prepare import PreparedLoad


def driver_for(prepared: PreparedLoad, options: LoadOptions, artifacts: Path | None) -> Driver:
    """The engine's own client for an endpoint; for any other agent one that calls it through its contract."""
    spec, subject = prepared.load, prepared.subject
    if subject.target is not None:
        from agentdyno.load.http_driver import HttpDriver

        return HttpDriver(subject.target, options, objectives=spec.slo, artifacts=artifacts, key=prepared.key)
    from agentdyno.load.agent_driver import AgentDriver

    assert subject.entrant is not None
    agent = subject.entrant.make(prepared.maker, None)
    return AgentDriver(agent, load_cases(spec), options, objectives=spec.slo, artifacts=artifacts)


def levers_for(prepared: PreparedLoad, scenario: Scenario, stack: ExitStack) -> tuple[Subject, Levers]:
    """The target as this scenario reaches it (a proxy in front of it where faults are wanted), and the levers.

    What is started for it ends with ``stack``.
    """
    subject = prepared.subject
    levers = Levers()
    if "proxy" in scenario.needs and subject.target is not None:
        from agentdyno.servers.fault_proxy import fault_proxy

        proxy = stack.enter_context(fault_proxy(subject.target.url))
        subject = subject.at(proxy.url)
        levers = Levers(set_fault=proxy.set_fault)
    return subject, levers
