"""What a Python agent's process says of its time, beside the seconds from outside; all seconds are given."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import cast

import pytest

from agentdyno.agents.hosting import timed_peer
from agentdyno.agents.hosting.timed_peer import TimedPeer
from agentdyno.model.case import Response
from agentdyno.workers.clock_check import Doubts
from agentdyno.workers.frames import Message
from agentdyno.workers.peer import Peer
from agentdyno.workers.reference import ALLOWANCE_S, SPENT


class Answering:
    """In the place of a process that answers at once."""

    def __init__(self) -> None:
        self.pid, self.message_bytes = os.getpid(), 100

    async def ask(self, message: Message) -> Message:
        return message


class NobodyWaits:
    """In the place of what the kernel counts."""

    counted = True

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def begin(self) -> None:
        pass

    def seconds(self) -> float:
        return 0.0

    def look(self) -> None:
        pass


def counted(
    monkeypatch: pytest.MonkeyPatch, took_s: float, told: Sequence[tuple[float, float]], doubts: Doubts | None = None
) -> list[float]:
    """The durations that count for calls which take ``took_s`` from outside. Of each the process tells how long it
    took and how long it has read references until then."""
    clock = iter([passed_s for _ in told for passed_s in (0.0, took_s)])
    monkeypatch.setattr(timed_peer, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(timed_peer, "Waiting", NobodyWaits)
    peer = TimedPeer(cast(Peer, Answering()), doubts=doubts)
    found = []
    for duration_s, spent_s in told:
        asyncio.run(peer.ask({"op": "run"}))
        readings = {"duration_s": duration_s, SPENT: spent_s}
        found.append(peer.checked(Response("x", readings=readings)).readings["duration_s"])
    return found


def test_references_that_were_read_before_the_question_take_nothing_from_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert counted(monkeypatch, 0.0105, [(0.010, 0.0), (0.010, 0.030)]) == [0.010, 0.010]


def test_references_that_were_read_during_the_question_make_nobody_a_liar(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [(0.001, 0.02 * number) for number in range(1, 7)]
    assert counted(monkeypatch, 0.0225, told) == [0.001] * 6


def test_a_lie_is_replaced_by_the_seconds_outside_without_the_references(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(monkeypatch, 0.5, [(1e-6, 0.010)]) == [pytest.approx(0.490)]


def test_more_seconds_than_passed_outside_are_no_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(monkeypatch, 0.1, [(5.0, 0.015), (-3.0, 0.030)]) == [pytest.approx(0.1), pytest.approx(0.1)]


def test_a_process_that_claims_to_read_references_all_the_time_is_believed_until_their_budget_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = 40
    told = [(1e-6, 0.02 * number) for number in range(1, answers + 1)]
    durations = counted(monkeypatch, 0.02, told, Doubts(prompt=True))
    believed = durations.count(1e-6)
    assert ALLOWANCE_S / 0.02 <= believed <= ALLOWANCE_S / 0.02 + 5
    assert durations[believed:] == [pytest.approx(0.02)] * (answers - believed)
