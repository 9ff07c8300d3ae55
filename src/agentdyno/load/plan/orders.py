"""What a client process is told: the target once, and each step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentdyno.load.plan.conversations import RecordedConversations
from agentdyno.load.plan.schedule import concurrency_at
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Step
from agentdyno.settings.load import CONNECTIONS, MAX_REQUESTS, REQUEST_TIMEOUT
from agentdyno.settings.load_requests import METHOD, TURNS

_AT_A_TIME = 4096
"""Entries of the schedule that are Python objects at once."""


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What one client process is and whom it asks. ``connections`` is its own share, ``cpu`` the core it is bound to
    (``None``: any). ``server_name`` is for TLS, which is used where ``tls`` is set. ``kernel_stamps``: what arrives
    is stamped by the kernel, which must be able to (``stamped.has_kernel_stamps``). ``answers`` names how those of a
    plain address are read (``wire.endpoints.ANSWERS``); without it any body will do there."""

    process: int
    processes: int
    hosts: tuple[str, ...]
    port: int
    dialect: Dialect
    method: str = METHOD.default
    tls: bool = False
    server_name: str = ""
    ca_file: str = ""
    insecure: bool = False
    connections: int = CONNECTIONS.default
    timeout_s: float = REQUEST_TIMEOUT.default
    max_bytes: int = 32 * 1024 * 1024
    cpu: int | None = None
    kernel_stamps: bool = False
    answers: str = ""


@dataclass(frozen=True, slots=True)
class JourneyOrder:
    """Which journey the entries of a schedule begin, and what its calls are made of. With ``conversations`` these
    are held again, each once, and the step ends when the last of them has."""

    reference: str
    base_dir: str
    target: LoadTarget
    options: LoadOptions
    key: str | None = None
    conversations: RecordedConversations | None = None


@dataclass(frozen=True, slots=True)
class StepOrder:
    """One client's part of a step: when each of its requests is due (ns since the start), or how many are in flight.

    ``wire`` are the requests as bytes; ``None`` means those of the step before. ``max_requests`` is this client's
    ceiling. With ``turns`` above 1 the next request of the set is due ``think_ns`` of it after the answer to one,
    until a conversation has had so many. With a ``journey`` the entries are journeys that begin, not requests."""

    step: Step
    due_ns: NDArray[np.int64]
    stage: NDArray[np.int16]
    request: NDArray[np.int32]
    wire: tuple[bytes, ...] | None = None
    max_requests: int = MAX_REQUESTS.default
    turns: int = TURNS.default
    think_ns: NDArray[np.int64] | None = None
    journey: JourneyOrder | None = None

    @property
    def closed(self) -> bool:
        return self.step.arrivals is Arrivals.CLOSED

    def entries(self) -> Iterator[tuple[int, int, int]]:
        """(due, request, stage), in order; times are ns since the start."""
        for at in range(0, min(len(self.due_ns), self.max_requests), _AT_A_TIME):
            part = slice(at, min(at + _AT_A_TIME, self.max_requests))
            yield from zip(
                self.due_ns[part].tolist(), self.request[part].tolist(), self.stage[part].tolist(), strict=True
            )

    def in_flight(self, at_s: float, process: int, processes: int) -> int:
        """This client's share of the requests that a closed loop keeps in flight."""
        wanted = concurrency_at(self.step, at_s)
        return wanted // processes + (1 if process < wanted % processes else 0)

    def stage_at(self, at_s: float) -> int:
        end_s = 0.0
        for number, stage in enumerate(self.step.stages):
            end_s += stage.duration_s
            if at_s < end_s:
                return number
        return len(self.step.stages) - 1

    def connections_wanted(self, processes: int) -> int:
        """How many connections one client opens before the start: what is surely needed, or a little for the first
        requests of an open loop, so that these do not wait for handshakes that are no part of the load."""
        if self.closed:
            most = max(max(stage.concurrency, stage.concurrency_to or 0) for stage in self.step.stages[:1])
            return math.ceil(most / processes)
        first = self.step.stages[0]
        return math.ceil(min(64.0, 2.0 + first.rate * 0.05) / processes)
