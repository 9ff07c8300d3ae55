"""A client on another machine as the run sees it."""

from __future__ import annotations

import select
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic, perf_counter_ns

from agentdyno.errors import RunError
from agentdyno.load.client.pipe import Kind, Pipe, RequestBatch, load_value
from agentdyno.load.client.process import ClientHandle, ClientLost, Example
from agentdyno.load.clients.clock import PINGS, ClockOffset, Ping, read_clock
from agentdyno.load.plan.orders import ClientSettings, StepOrder
from agentdyno.model.load import LoadOptions, SelfCheck

SILENT_S = 10.0
"""A client that runs and is not heard of for so long is lost: it tells how far it is five times a second."""
PING_S = 5.0
CHECK_S = 60.0
QUIT_S = 3.0
KEY_MARK = "{key of the target}"
"""Stands for the key in requests on their way to other machines, which put their own in its place."""


@dataclass(frozen=True, slots=True)
class RemoteSetup:
    """What a keeper is told before its client starts. ``contents`` are files by their path here, with their SHA-256
    in ``digests``. ``key_env`` names the variable there that holds the target's key; empty without one."""

    settings: ClientSettings
    contents: Mapping[str, bytes] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    key_env: str = ""


@dataclass(slots=True)
class KeeperLink:
    """The way to one who keeps a client on another machine. ``host`` is that machine, ``loopback`` tells whether
    127.0.0.1 is the same there as here. ``lost`` says why the way is gone, where somebody knows."""

    name: str
    pipe: Pipe
    host: str
    loopback: str
    clock: ClockOffset | None = None
    moved_ns: int = 0
    lost: str = ""

    def ping(self) -> Ping:
        sent_ns = perf_counter_ns()
        self.pipe.post(Kind.PING)
        there_ns: int = load_value(self.wait_for(Kind.PONG, PING_S))
        return Ping(sent_ns, there_ns, perf_counter_ns())

    def read_clock(self) -> ClockOffset:
        """Compares the clocks anew, and keeps by how much they have moved at most since the last time."""
        reading = read_clock(self.ping() for _ in range(PINGS))
        if self.clock is not None:
            self.moved_ns = max(self.moved_ns, abs(reading.offset_ns - self.clock.offset_ns))
        self.clock = reading
        return reading

    def begin_check(self, options: LoadOptions) -> None:
        self.pipe.post(Kind.CHECK, options)

    def end_check(self) -> SelfCheck:
        found = load_value(self.wait_for(Kind.CHECKED, CHECK_S))
        if not isinstance(found, SelfCheck):
            raise RunError(f"{self.name}: {found}", where="--clients")
        return found

    def wait_for(self, wanted: Kind, seconds: float) -> bytes:
        """The next message of a kind; what comes before it is of no use any more. Raises ``ClientLost``."""
        deadline = monotonic() + seconds
        while (left := deadline - monotonic()) > 0.0:
            waiting = select.poll()
            waiting.register(self.pipe.fileno(), select.POLLIN | (select.POLLOUT if self.pipe.waiting else 0))
            waiting.poll(left * 1000)
            self.pipe.flush()
            for kind, data in self.pipe.receive():
                if kind is wanted:
                    return data
                if kind is Kind.LEFT and load_value(data):
                    raise ClientLost(f"{self.name}: {load_value(data)}")
            if self.pipe.ended:
                raise self.broken()
        raise ClientLost(f"{self.name} does not answer for {seconds:g} s")

    def broken(self) -> ClientLost:
        return ClientLost(f"{self.name} was lost: {self.lost or 'the connection has ended'}")

    def close(self) -> None:
        self.pipe.close()


class RemoteClient(ClientHandle):
    """A client that a keeper starts. ``key`` is the target's, which never leaves this machine."""

    def __init__(self, link: KeeperLink, setup: RemoteSetup, key: str | None) -> None:
        super().__init__(setup.settings.process, link.pipe)
        self.link, self._key = link, key
        self._heard_at: float | None = None
        self._closed = False
        self.pipe.post(Kind.SETUP, setup)

    @property
    def name(self) -> str:
        return f"client {self.number} ({self.link.name})"

    def begin(self, order: StepOrder) -> None:
        super().begin(without_key(order, self._key))

    def go(self, start_ns: int) -> None:
        assert self.link.clock is not None, "clocks are compared before the start"
        self._heard_at = monotonic()
        super().go(self.link.clock.there(start_ns))

    @property
    def overdue(self) -> bool:
        return self._heard_at is not None and not self.ended and monotonic() - self._heard_at > SILENT_S

    def receive(self) -> Iterator[RequestBatch | Example]:
        yield from super().receive()
        if self.overdue:
            raise ClientLost(f"{self.name} was lost: nothing was heard of it for {SILENT_S:g} s")

    def take(self, kind: Kind, data: bytes) -> RequestBatch | Example | None:
        if self._heard_at is not None:
            self._heard_at = monotonic()
        if kind is Kind.LEFT:
            raise ClientLost(f"{self.name} was lost: {load_value(data)}")
        return super().take(kind, data)

    def gone(self) -> RunError:
        return self.link.broken()

    def close(self) -> None:
        """Ends the client there; the way to its keeper stays."""
        if self._closed or self.lost:
            return
        self._closed = True
        self.pipe.post(Kind.QUIT)
        try:
            self.link.wait_for(Kind.LEFT, QUIT_S)
        except ClientLost as error:
            self.lost = error.message


def without_key(order: StepOrder, key: str | None) -> StepOrder:
    """The order with a mark in the place of the key."""
    return _exchanged(order, key, KEY_MARK) if key else order


def with_key(order: StepOrder, key: str) -> StepOrder:
    """What ``without_key`` took out, as it is on this machine."""
    return _exchanged(order, KEY_MARK, key)


def _exchanged(order: StepOrder, before: str, after: str) -> StepOrder:
    old, new = f"Bearer {before}\r\n".encode(), f"Bearer {after}\r\n".encode()
    wire = None if order.wire is None else tuple(request.replace(old, new, 1) for request in order.wire)
    journey = None if order.journey is None else replace(order.journey, key=after if order.journey.key else None)
    return replace(order, wire=wire, journey=journey)
