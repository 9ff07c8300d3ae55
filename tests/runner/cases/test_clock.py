"""The clock of a case stands still while the bench restarts what an agent runs in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from agentdyno.agents.foreign.agent import ForeignAgent, ProgramSetting
from agentdyno.agents.hosting.agent import HostedAgent
from agentdyno.contracts import CASE_CLOCK, Agent, CaseFailed
from agentdyno.model.case import Case
from agentdyno.model.suite import AgentUse
from agentdyno.runner.cases.call import CaseClock

HOSTED = "import os\n\ndef answer(text):\n    return os._exit(3) if text == 'die' else text\n"
PROGRAM = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        print(json.dumps({"ok": {"protocol": 1}}), flush=True)
    elif "run" in message:
        if "die" in line:
            sys.exit(3)
        print(json.dumps({"id": message["id"], "ok": {"output": "fine"}}), flush=True)
"""


def test_what_the_bench_does_counts_neither_as_time_nor_against_the_limit() -> None:
    ticks = iter([0, 1_000_000_000, 4_000_000_000, 6_000_000_000])

    async def work() -> tuple[float, float, float | None, float]:
        async with asyncio.timeout(1_000) as deadline:
            before = deadline.when()
            clock = CaseClock(deadline, lambda: next(ticks))
            with clock.stopped():
                inside = deadline.when()
            after = deadline.when()
            assert before is not None
            assert after is not None
            return before, after, inside, clock.seconds()

    before, after, inside, seconds = asyncio.run(work())
    assert seconds == 3.0  # six seconds, of which three were the bench's
    assert inside is None
    assert after == before + 3.0


def test_a_limit_that_has_passed_stays_passed() -> None:
    async def work() -> float:
        deadline = asyncio.timeout(0)
        clock = CaseClock(deadline, count(0, 1_000_000_000).__next__)
        with contextlib.suppress(TimeoutError):
            async with deadline:
                try:
                    await asyncio.Event().wait()
                finally:
                    with clock.stopped():
                        pass
        assert deadline.expired()
        return clock.seconds()

    assert asyncio.run(work()) == 2.0


def hosted(folder: Path) -> Agent:
    (folder / "agent.py").write_text(HOSTED)
    return HostedAgent(AgentUse("a", "agent.py@answer", base_dir=str(folder)))


def foreign(folder: Path) -> Agent:
    (folder / "program.py").write_text(PROGRAM)
    return ForeignAgent("a", ("python3", "program.py"), setting=ProgramSetting(cwd=str(folder)))


@pytest.mark.parametrize("kind", [hosted, foreign])
def test_the_start_of_another_process_belongs_to_no_case(kind: object, tmp_path: Path) -> None:
    assert callable(kind)
    running: list[int] = []

    @contextmanager
    def stopped() -> Iterator[None]:
        before = processes()
        yield
        running.append(len(processes() - before))

    def processes() -> set[str]:
        own = Path("/proc/thread-self/children").read_text().split()
        return {pid for pid in own if Path(f"/proc/{pid}").exists()}

    async def work() -> list[int]:
        agent = kind(tmp_path)
        await agent.start()
        CASE_CLOCK.set(stopped)
        try:
            await agent.run(Case("a", "one"))
            assert running == []  # its process is there already
            with pytest.raises(CaseFailed):
                await agent.run(Case("b", "die"))
            running.clear()
            await agent.run(Case("c", "two"))
            return list(running)
        finally:
            await agent.close()

    assert asyncio.run(work()) == [1]
