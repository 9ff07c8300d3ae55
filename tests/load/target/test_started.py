"""What is done to the processes that are started for a target: killed, stopped, left less memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import psutil
import pytest

from agentdyno.load.target.process_faults import FREEZE, KILL, ProcessFaults
from agentdyno.load.target.started import StartedMemory, StartedProcesses
from tests.waiting import wait_until

_MB = 1024 * 1024
WORKER = """
import sys
print("here", flush=True)
for line in sys.stdin:
    try:
        taken = bytearray(int(line))
    except MemoryError:
        print("no", flush=True)
    else:
        print("yes", flush=True)
        del taken
"""


class Worker:
    """A process that takes as much memory as it is told, and says whether it got it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == "here"
        self.pid = self._process.pid

    def takes(self, size: int) -> bool:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{size}\n")
        self._process.stdin.flush()
        return self._line() == "yes"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ended_with(self) -> int:
        return self._process.wait(30)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def started(stack: ExitStack) -> Worker:
    worker = Worker()
    stack.callback(worker.close)
    return worker


def test_only_what_is_started_from_now_on_belongs_to_the_target(stack: ExitStack) -> None:
    started(stack)
    processes = StartedProcesses()
    own = started(stack)
    assert [process.pid for process in processes.all()] == [own.pid]
    assert [process.pid for process in processes.all(direct=True)] == [own.pid]


def test_kill_strikes_when_it_begins_and_when_it_ends(stack: ExitStack) -> None:
    faults = ProcessFaults(StartedProcesses())
    first = started(stack)
    faults.set_fault(KILL)
    assert first.ended_with() == -9
    struck = faults.struck[KILL]
    assert struck >= 1
    second = started(stack)
    faults.set_fault("")
    assert second.ended_with() == -9
    assert faults.struck[KILL] > struck
    third = started(stack)
    assert third.takes(1)


def test_what_is_frozen_goes_on_when_the_fault_ends(stack: ExitStack) -> None:
    faults = ProcessFaults(StartedProcesses())
    worker = started(stack)
    faults.set_fault(FREEZE)
    wait_until(lambda: psutil.Process(worker.pid).status() == psutil.STATUS_STOPPED)
    newcomer = psutil.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    stack.callback(newcomer.communicate)
    stack.callback(newcomer.kill)
    wait_until(lambda: newcomer.status() == psutil.STATUS_STOPPED)
    faults.set_fault("")
    assert faults.struck == {FREEZE: 2}
    assert worker.takes(1)


def test_a_limit_bites_in_every_process_and_in_those_that_come_later(stack: ExitStack) -> None:
    memory = StartedMemory(StartedProcesses())
    stack.callback(memory.close)
    workers = [started(stack), started(stack)]
    used = memory.in_use()
    assert used > 0
    assert memory.set(used + 40 * _MB) is not None
    assert memory.how
    assert not any(worker.takes(100 * _MB) for worker in workers)
    late = started(stack)
    wait_until(lambda: psutil.Process(late.pid).rlimit(psutil.RLIMIT_DATA)[0] > 0)
    assert not late.takes(200 * _MB)
    memory.set(None)
    assert all(worker.takes(100 * _MB) for worker in workers)


def test_one_that_comes_later_is_limited_although_what_is_in_use_was_asked_before(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentdyno.load.target.started._NEWCOMERS_S", 0.7)
    memory = StartedMemory(StartedProcesses())
    stack.callback(memory.close)
    started(stack)
    assert memory.set(memory.in_use() + 40 * _MB) is not None
    late = started(stack)
    memory.in_use()  # gets to know the newcomer before those are looked for that have no limit yet
    wait_until(lambda: psutil.Process(late.pid).rlimit(psutil.RLIMIT_DATA)[0] > 0)
    assert not late.takes(200 * _MB)


def test_nothing_that_is_started_cannot_be_limited() -> None:
    memory = StartedMemory(StartedProcesses())
    assert memory.in_use() == 0
    assert memory.set(100 * _MB) is None
