"""A finite capacity: what is served at once, what waits, and what is turned away."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from heapq import heappop, heappush
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.servers.simulated.server import Behaviour, ServedRequest, SimulatedServer
from agentdyno.servers.simulated.slots import Slots, Ticket

from ..talking import OLLAMA, OPENAI, chat, encoded


def test_requests_wait_in_order_and_begin_when_a_slot_was_due_to_be_free() -> None:
    begun: list[tuple[str, int]] = []
    slots = Slots(1)
    first, second, third = (
        slots.enter(lambda at_ns, name=name: begun.append((name, at_ns)), came_ns)  # type: ignore[misc]
        for name, came_ns in (("first", 10), ("second", 20), ("third", 130))
    )
    assert (begun, slots.queued) == ([("first", 10)], 2)
    first.leave(110)
    second.leave(210)
    assert begun == [("first", 10), ("second", 110), ("third", 210)]
    third.leave(310)
    slots.enter(lambda at_ns: begun.append(("fourth", at_ns)), 300)  # it came before the slot was free
    assert begun[-1] == ("fourth", 310)
    assert (slots.queued, slots.peak_queued) == (0, 2)


def test_nobody_is_served_before_it_came() -> None:
    begun: list[int] = []
    slots = Slots(1)
    first = slots.enter(begun.append, 0)
    slots.enter(begun.append, 50)
    first.leave(30)  # seen late: it was free before the second came
    assert begun == [0, 50]


def test_who_leaves_the_queue_is_passed_over_and_makes_room() -> None:
    begun: list[int] = []
    slots = Slots(1, queue_limit=1)
    first = slots.enter(begun.append, 0)
    impatient = slots.enter(begun.append, 1)
    states = [slots.full]
    impatient.leave(2)
    impatient.leave(2)
    assert [*states, slots.full] == [True, False]
    slots.enter(begun.append, 3)
    first.leave(10)
    assert begun == [0, 10]


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 50), st.integers(1, 30)), min_size=1, max_size=40))
def test_never_more_are_served_than_there_are_slots(count: int, arrivals: list[tuple[int, int]]) -> None:
    slots, now_ns = Slots(count), 0
    served: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    tickets: dict[int, Ticket] = {}

    def end_all_until(until_ns: float) -> None:
        while ends and ends[0][0] <= until_ns:
            due_ns, number = heappop(ends)
            tickets[number].leave(due_ns)

    for number, (gap_ns, length_ns) in enumerate(arrivals):
        now_ns += gap_ns
        end_all_until(now_ns)

        def begin(at_ns: int, number: int = number, length_ns: int = length_ns) -> None:
            served.append((at_ns, at_ns + length_ns))
            heappush(ends, (at_ns + length_ns, number))

        tickets[number] = slots.enter(begin, now_ns)
    end_all_until(inf)
    assert len(served) == len(arrivals)
    for at_ns, _ in served:
        assert sum(start <= at_ns < end for start, end in served) <= count


async def send_all(server: SimulatedServer, bodies: list[bytes]) -> list[bytes]:
    """All at once, each on a connection of its own; the answers to their end."""

    async def one(body: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(body)
        try:
            return await reader.read()
        finally:
            writer.close()

    return list(await asyncio.gather(*(one(body) for body in bodies)))


def served_by(behaviour: Behaviour, bodies: list[bytes]) -> tuple[list[bytes], tuple[ServedRequest, ...]]:
    async def talk() -> tuple[list[bytes], tuple[ServedRequest, ...]]:
        async with SimulatedServer(behaviour) as server:
            return await send_all(server, bodies), server.log()

    return asyncio.run(talk())


def closing(stream: bool = True, path: str = OPENAI) -> bytes:
    return encoded(chat(stream=stream), path, "connection: close")


@pytest.mark.parametrize("path", [OPENAI, OLLAMA])
@pytest.mark.parametrize("stream", [True, False])
def test_the_capacity_is_slots_divided_by_the_service_time(path: str, stream: bool) -> None:
    behaviour = Behaviour(slots=3, ttft_s=0.01, itl_s=0.005, output_tokens=3)
    _, log = served_by(behaviour, [closing(stream, path)] * 30)
    started = sorted(served.started_ns or 0 for served in log)
    assert all(later - earlier >= 20_000_000 for earlier, later in zip(started, started[3:], strict=False))
    ends = {start_ns + 20_000_000 for start_ns in started}
    waited = [served.started_ns for served in log if (served.started_ns or 0) > served.received_ns]
    assert waited
    assert ends.issuperset(waited)  # to the nanosecond: no slot is idle while somebody waits
    for served in log:
        assert served.started_ns is not None
        assert (served.token_ns[0] if stream else served.end_ns or 0) >= served.started_ns + 10_000_000


def test_waiting_delays_the_first_token_but_not_the_head() -> None:
    async def talk() -> tuple[bytes, int]:
        async with SimulatedServer(Behaviour(slots=1, ttft_s=1.0, output_tokens=1)) as server:
            first, second = [await asyncio.open_connection(server.host, server.port) for _ in range(2)]
            first[1].write(closing())
            await first[0].readuntil(b"\r\n\r\n")
            second[1].write(closing())
            head = await second[0].readuntil(b"\r\n\r\n")
            queued = server.stats().queued
            for reader, writer in (first, second):
                await reader.read()
                writer.close()
            one, two = server.log()
            assert two.started_ns == (one.started_ns or 0) + 1_000_000_000
            assert two.token_ns[0] >= two.started_ns + 1_000_000_000
            return head, queued

    head, queued = asyncio.run(talk())
    assert head.startswith(b"HTTP/1.1 200 ")
    assert queued == 1


def test_beyond_the_queue_a_request_is_turned_away_with_a_time_to_retry() -> None:
    async def talk() -> list[bytes]:
        async with SimulatedServer(Behaviour(slots=2, queue_limit=3, ttft_s=60, output_tokens=1)) as server:
            links = [await asyncio.open_connection(server.host, server.port) for _ in range(9)]
            for _, writer in links:
                writer.write(closing())
            heads = [await reader.readuntil(b"\r\n\r\n") for reader, _ in links]
            stats = server.stats()
            assert (stats.outcomes, stats.open, stats.queued) == ({"overloaded": 4}, 5, 3)
            for _, writer in links:
                writer.close()
            return heads

    heads = asyncio.run(talk())
    assert Counter(head[9:12] for head in heads) == {b"200": 5, b"503": 4}
    assert all(b"retry-after: 1\r\n" in head for head in heads if head[9:12] == b"503")


def test_a_client_that_leaves_gives_up_its_slot_or_its_place() -> None:
    async def talk() -> None:
        async with SimulatedServer(Behaviour(slots=1, queue_limit=1, ttft_s=30, output_tokens=1)) as server:
            served, waiting = [await asyncio.open_connection(server.host, server.port) for _ in range(2)]
            for reader, writer in (served, waiting):
                writer.write(closing())
                await reader.readuntil(b"\r\n\r\n")
            assert server.stats().queued == 1
            for _, writer in (waiting, served):
                writer.transport.abort()
            while server.stats().open:
                await asyncio.sleep(0)
            assert server.stats().queued == 0
            quick = encoded(chat(dyno={"ttft_s": 0}), OPENAI, "connection: close")
            (answer,) = await send_all(server, [quick])
            assert b"[DONE]" in answer
            assert server.stats().outcomes == {"disconnected": 2, "ok": 1}

    asyncio.run(talk())


def test_a_plain_request_takes_its_service_time_and_a_slot() -> None:
    request = b"GET /plain HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    answers, log = served_by(Behaviour(slots=2, service_s=0.02), [request] * 6)
    for answer in answers:
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["ok"] is True
    started = sorted(served.started_ns or 0 for served in log)
    assert all(later - earlier >= 20_000_000 for earlier, later in zip(started, started[2:], strict=False))


def test_faults_that_are_whole_responses_need_no_slot() -> None:
    async def talk() -> list[bytes]:
        async with SimulatedServer(Behaviour(slots=1, ttft_s=30)) as server:
            reader, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(closing())
            await reader.readuntil(b"\r\n\r\n")
            kinds = ("error", "rate_limited", "html")
            asked = [encoded(chat(dyno={"fault": kind}), OPENAI, "connection: close") for kind in kinds]
            answers = await send_all(server, asked)
            writer.close()
            return answers

    assert [answer[9:12] for answer in asyncio.run(talk())] == [b"500", b"429", b"200"]
