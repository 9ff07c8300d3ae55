from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import perf_counter_ns

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.load.client import stamped
from agentdyno.load.client.hot import ExchangeEnding, LoadConnection
from agentdyno.load.client.stamped import (
    SO_TIMESTAMPNS,
    STEP_NS,
    Ancillary,
    ArrivalClock,
    StampedSockets,
    StampedTransport,
    connect_stamped,
    has_kernel_stamps,
)
from tests.load.streams import whole

MS = 1_000_000
WALL_NS = 1_800_000_000_000_000_000
ANSWER = whole(b"ok")


class Clocks:
    """The two clocks of a machine: ``offset_ns`` is what the wall clock is ahead of the steady one."""

    def __init__(self) -> None:
        self.now_ns = 1_000 * MS
        self.offset_ns = WALL_NS

    def stamp(self) -> Ancillary:
        """The kernel's, of something that arrives now."""
        parts = divmod(self.now_ns + self.offset_ns, 1_000 * MS)
        return [(socket.SOL_SOCKET, SO_TIMESTAMPNS, struct.pack("@ll", *parts))]


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return patch(monkeypatch)


def patch(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    made = Clocks()
    monkeypatch.setattr(stamped, "perf_counter_ns", lambda: made.now_ns)
    monkeypatch.setattr(stamped, "time_ns", lambda: made.now_ns + made.offset_ns)
    return made


def test_bytes_that_waited_have_the_time_of_their_arrival(clocks: Clocks) -> None:
    clock = ArrivalClock()
    came_ns, stamp = clocks.now_ns, clocks.stamp()
    clocks.now_ns += 7 * MS
    assert clock.arrival_ns(stamp, clocks.now_ns) == came_ns


@pytest.mark.parametrize(
    "ancillary",
    [[], [(socket.SOL_SOCKET, 29, b"\0" * 16)], [(socket.SOL_SOCKET, SO_TIMESTAMPNS, b"\0" * 4)]],
    ids=["none", "another kind", "too short"],
)
def test_without_a_stamp_the_time_of_reading_stays(clocks: Clocks, ancillary: Ancillary) -> None:
    assert ArrivalClock().arrival_ns(ancillary, clocks.now_ns) == clocks.now_ns


def test_a_stamp_of_the_future_is_not_believed(clocks: Clocks) -> None:
    clock, read_ns = ArrivalClock(), clocks.now_ns
    clocks.now_ns += MS
    stamp = clocks.stamp()
    clocks.now_ns -= MS
    assert clock.arrival_ns(stamp, read_ns) == read_ns


@pytest.mark.parametrize("step_ms", [-3_600_000, -20, 20, 3_600_000])
def test_a_wall_clock_that_is_set_spoils_no_time(clocks: Clocks, step_ms: int) -> None:
    clock = ArrivalClock()
    before, also_before = clocks.stamp(), clocks.stamp()
    clocks.offset_ns += step_ms * MS
    clocks.now_ns += 5 * MS
    assert clock.arrival_ns(before, clocks.now_ns) == clocks.now_ns
    assert clock.arrival_ns(also_before, clocks.now_ns) == clocks.now_ns
    clocks.now_ns += MS
    came_ns, after = clocks.now_ns, clocks.stamp()
    clocks.now_ns += 2 * MS
    assert clock.arrival_ns(after, clocks.now_ns) == came_ns


@given(
    st.sampled_from([-1, 1]),
    st.lists(
        st.tuples(
            st.sampled_from(["arrive", "read", "set"]), st.integers(0, 30 * MS), st.integers(2 * STEP_NS, 100 * MS)
        ),
        max_size=30,
    ),
)
def test_times_lie_between_arrival_and_reading_however_often_the_wall_clock_is_set(
    direction: int, events: list[tuple[str, int, int]]
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        clocks = patch(monkeypatch)
        clock = ArrivalClock()
        waiting: list[tuple[int, Ancillary]] = []
        for what, pause_ns, step_ns in events:
            clocks.now_ns += pause_ns
            if what == "arrive":
                waiting.append((clocks.now_ns, clocks.stamp()))
            elif what == "set":
                clocks.offset_ns += direction * step_ns
            else:
                for came_ns, stamp in waiting:
                    assert came_ns <= clock.arrival_ns(stamp, clocks.now_ns) <= clocks.now_ns
                waiting.clear()


class Owner:
    def __init__(self) -> None:
        self.endings: list[tuple[ExchangeEnding, int]] = []
        self.lost = 0

    def ended(self, link: LoadConnection, ending: ExchangeEnding, now_ns: int) -> None:
        self.endings.append((ending, now_ns))

    def dropped(self, link: LoadConnection) -> None:
        self.lost += 1


class Exchange:
    """A load client's connection over a real socket, and the other end of it."""

    def __init__(self, link: LoadConnection, owner: Owner, peer: socket.socket) -> None:
        self.link, self.owner, self.peer = link, owner, peer

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0)


def exchange(story: Callable[[Exchange], Awaitable[None]]) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            connected = await connect_stamped(loop, *listener.getsockname())
            peer, _ = listener.accept()
        with peer:
            owner = Owner()
            link = LoadConnection(owner, "POST", 1 << 20, {}, verify=False)
            StampedTransport(StampedSockets(loop), connected, link)
            await story(Exchange(link, owner, peer))
            link.abort()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert not link.open
        assert connected.fileno() == -1

    for factory in (asyncio.new_event_loop, uvloop.new_event_loop):
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(run())


def test_a_stamp_before_the_request_or_the_read_before_it_is_not_believed() -> None:
    async def story(now: Exchange) -> None:
        link = now.link
        link.send(b"x")
        sent = link.sent_ns
        link.arrived(ANSWER[:5], sent - 1, sent + 10 * MS)
        assert (link.stamped, link.reads[-1][0]) == (False, sent + 10 * MS)
        link.arrived(ANSWER[5:10], sent + 9 * MS, sent + 20 * MS)
        assert (link.stamped, link.reads[-1][0]) == (False, sent + 20 * MS)
        link.arrived(ANSWER[10:], sent + 21 * MS, sent + 30 * MS)
        assert link.stamped
        assert now.owner.endings == [(ExchangeEnding.COMPLETE, sent + 21 * MS)]

    exchange(story)


def test_an_answer_that_waited_is_stamped_by_the_kernel_where_it_stamps() -> None:
    async def story(now: Exchange) -> None:
        link, stamped_by_kernel = now.link, False
        for _ in range(5_000):  # the kernel begins to stamp soon after the first socket wants it
            link.send(b"x")
            now.peer.recv(1)
            now.peer.send(ANSWER)
            count = len(now.owner.endings)
            await now.until(lambda count=count: len(now.owner.endings) > count)  # type: ignore[misc]
            assert link.sent_ns <= now.owner.endings[-1][1] <= perf_counter_ns()
            stamped_by_kernel = link.stamped
            if stamped_by_kernel:
                break
        assert stamped_by_kernel == has_kernel_stamps()

    exchange(story)


def test_a_request_that_does_not_fit_counts_as_sent_when_its_last_byte_is() -> None:
    async def story(now: Exchange) -> None:
        body = bytes(range(256)) * (64 << 10)
        now.link.send(body)
        began_ns = now.link.sent_ns
        assert now.link.unsent
        now.peer.setblocking(False)
        got = bytearray()

        def all_of_it() -> bool:
            with suppress(BlockingIOError):
                got.extend(now.peer.recv(1 << 20))
            return len(got) == len(body)

        await now.until(all_of_it)
        await now.until(lambda: not now.link.unsent)
        assert got == body
        assert now.link.sent_ns > began_ns

    exchange(story)


def test_a_connection_that_is_closed_or_reset_in_the_middle_ends_its_exchange_once() -> None:
    async def closed(now: Exchange) -> None:
        now.link.send(b"x")
        now.peer.send(ANSWER[:10])
        now.peer.shutdown(socket.SHUT_WR)
        await now.until(lambda: not now.link.open)
        assert [ending for ending, _ in now.owner.endings] == [ExchangeEnding.CLOSED]

    async def reset(now: Exchange) -> None:
        now.link.send(b"x" * 100)
        now.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        now.peer.close()
        await now.until(lambda: not now.link.open)
        assert [ending for ending, _ in now.owner.endings] == [ExchangeEnding.LOST]

    async def unsent(now: Exchange) -> None:
        now.link.send(b"x" * (16 << 20))
        now.link.abort()
        await now.until(lambda: not now.link.open)
        assert not now.link.usable
        assert [ending for ending, _ in now.owner.endings] == [ExchangeEnding.CLOSED]

    for story in (closed, reset, unsent):
        exchange(story)


def test_nothing_is_left_of_a_connection_that_is_refused() -> None:
    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = listener.getsockname()
        with pytest.raises(ConnectionRefusedError):
            await connect_stamped(asyncio.get_running_loop(), *address)

    asyncio.run(run())
