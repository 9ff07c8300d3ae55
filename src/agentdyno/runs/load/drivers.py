"""The clients that put load on a target, and what a scenario may do to the target besides asking it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.load.driver import Driver, Levers
from agentdyno.model.load import LoadOptions, LoadTarget
from agentdyno.runs.load.target import Subject, load_cases

if TYPE_CHECKING:
    from agentdyno.load.client.driver import ClientSource
    from agentdyno.load.scenarios import Scenario
    from agentdyno.runs.lineup import Entrant
    from agentdyno.runs.load.prepare import PreparedLoad


def driver_for(
    prepared: PreparedLoad,
    options: LoadOptions,
    artifacts: Path | None,
    watched_url: str = "",
    source: ClientSource | None = None,
) -> Driver:
    """The engine's own client for an endpoint; for any other agent one that calls it through its contract.

    The process that listens at ``watched_url`` (else at the target's address) is watched, where it runs here.
    ``source`` has the clients where they are on other machines.
    """
    if prepared.subject.target is not None:
        return _client_of(prepared, prepared.subject.target, options, artifacts, watched_url, source)
    assert prepared.subject.entrant is not None
    return _caller_of(prepared, prepared.subject.entrant, options, artifacts, watched_url)


def _client_of(
    prepared: PreparedLoad,
    target: LoadTarget,
    options: LoadOptions,
    artifacts: Path | None,
    watched_url: str,
    source: ClientSource | None,
) -> Driver:
    """The engine's own client."""
    from agentdyno.load.client.driver import HttpDriver
    from agentdyno.load.plan.material import Materials
    from agentdyno.load.plan.orders import JourneyOrder
    from agentdyno.load.target.process import listening_pid
    from agentdyno.load.target.server_watch import WatchedDriver

    spec = prepared.load
    journey = JourneyOrder(spec.journey, prepared.settings.base_dir, target, options, prepared.key)
    materials = Materials(
        target,
        options,
        key=prepared.key,
        trace=prepared.trace,
        cases=prepared.cases,
        journey=journey if spec.journey else None,
    )
    driver = HttpDriver(target, options, materials, objectives=spec.slo, artifacts=artifacts, source=source)
    # Through a proxy the process behind it is still the one to look at.
    pid = listening_pid(watched_url or target.url)
    return WatchedDriver(driver, pid) if pid is not None else driver


def _caller_of(
    prepared: PreparedLoad, entrant: Entrant, options: LoadOptions, artifacts: Path | None, watched_url: str
) -> Driver:
    """What calls an agent through its contract."""
    from agentdyno.load.calls.driver import AgentDriver
    from agentdyno.load.target.process import listening_pid
    from agentdyno.load.target.server_watch import WatchedDriver

    spec = prepared.load
    cases = load_cases(spec) if prepared.cases is None else prepared.cases.dealt(prepared.settings.seed)
    calls = AgentDriver(
        entrant.make(prepared.maker, None),
        cases,
        options,
        objectives=spec.slo,
        artifacts=artifacts,
        trace=prepared.trace,
        journey=prepared.journey,
    )
    address = watched_url or prepared.subject.address
    pid = listening_pid(address) if address else None
    # An agent that is no server here lives in processes that this one starts for it.
    return WatchedDriver(calls, os.getpid() if pid is None else pid, children_only=pid is None)


def _memory_levers(subject: Subject, stack: ExitStack) -> Levers:
    """Of the process that listens at the target's address; of another agent, of the processes that are started for
    it. Both are looked for when they are first needed: an agent's are known only while it runs."""
    from agentdyno.load.target.memory import MemoryLimit
    from agentdyno.load.target.process import listening_pid
    from agentdyno.load.target.started import StartedMemory, StartedProcesses

    limits: list[MemoryLimit | StartedMemory] = []
    if subject.has_own_processes:
        limits.append(StartedMemory(StartedProcesses()))
        stack.callback(limits[0].close)

    def limit() -> MemoryLimit | StartedMemory | None:
        pid = listening_pid(subject.address) if not limits and subject.address else None
        if pid is not None:
            limits.append(MemoryLimit(pid))
            stack.callback(limits[0].close)
        return limits[0] if limits else None

    def set_memory(left: int | None) -> int | None:
        found = limit()
        return found.set(left) if found is not None else None

    def in_use() -> int:
        found = limit()
        return found.in_use() if found is not None else 0

    return Levers(
        set_memory=set_memory, memory_in_use=in_use, memory_limited_by=lambda: limits[0].how if limits else ""
    )


def levers_for(prepared: PreparedLoad, scenario: Scenario, stack: ExitStack) -> tuple[Subject, Levers]:
    """The target as this scenario reaches it (a proxy in front of it where faults are wanted), and the levers.

    What is started for it ends with ``stack``.
    """
    subject = prepared.subject
    levers = Levers()
    if "process" in scenario.needs:
        return subject, _memory_levers(subject, stack)
    if "proxy" in scenario.needs and subject.address:
        from agentdyno.servers.proxy.server import fault_proxy

        proxy = stack.enter_context(fault_proxy(subject.address))
        subject = subject.at(proxy.url)
        # Connections that were refused are counted nowhere.
        levers = Levers(
            set_fault=proxy.set_fault,
            fault_struck=lambda name: None if name == "refuse" else proxy.struck().get(name, 0),
        )
    elif "proxy" in scenario.needs and subject.has_own_processes:
        from agentdyno.load.target.process_faults import ProcessFaults
        from agentdyno.load.target.started import StartedProcesses

        faults = ProcessFaults(StartedProcesses())
        stack.callback(faults.set_fault, "")
        levers = Levers(set_fault=faults.set_fault, fault_struck=lambda name: faults.struck[name])
    return subject, levers
