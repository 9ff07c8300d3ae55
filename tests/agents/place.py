"""Where agents of a test live, how their processes are found, and what became of their cases."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agentdyno.contracts import Agent, CaseFailed
from agentdyno.model.case import Case, Response
from agentdyno.model.sample import FailureKind, Status

VARIABLE = "AGENTDYNO_TEST"
WAIT_S = 60.0
AnyAgent = TypeVar("AnyAgent", bound=Agent)


@dataclass(frozen=True, slots=True)
class Place:
    """A folder for agents and an environment by which their processes are found."""

    folder: Path
    environ: Mapping[str, str]

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def processes(self) -> list[int]:
        """Processes that carry this test's variable."""
        needle = f"{VARIABLE}={self.environ[VARIABLE]}".encode()
        return [pid for pid in _pids() if needle in _environment(pid)]


async def exists(path: Path) -> None:
    """Waits until a file is there."""
    async with asyncio.timeout(WAIT_S):
        while not path.exists():
            await asyncio.sleep(0.002)


def using(agent: AnyAgent, work: Callable[[AnyAgent], Awaitable[object]]) -> object:
    """What ``work`` gives with an agent that was started, and is closed afterwards."""

    async def whole() -> object:
        try:
            await agent.start()
            return await work(agent)
        finally:
            await agent.close()

    return asyncio.run(whole())


def answers(agent: Agent, *cases: Case) -> list[Response | CaseFailed]:
    """What the agent answers to one case after the other, failures included."""
    results: list[Response | CaseFailed] = []

    async def work(agent: Agent) -> None:
        for item in cases:
            try:
                results.append(await agent.run(item))
            except CaseFailed as error:
                results.append(error)

    using(agent, work)
    return results


def failed(result: object) -> tuple[FailureKind, Status]:
    assert isinstance(result, CaseFailed), result
    return result.kind, result.status


def output(result: object) -> object:
    assert isinstance(result, Response), result
    return result.output


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
