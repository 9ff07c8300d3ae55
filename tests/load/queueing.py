"""A target made of arithmetic: a queue with known capacity, and a driver that asks it without any time passing."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from agentdyno.load.driver import Levers
from agentdyno.load.plan.schedule import build_schedule
from agentdyno.load.windows.collect import WindowBuilder
from agentdyno.load.windows.records import OUTCOME_CODES, UNSENT
from agentdyno.model.load import Arrivals, Objective, Outcome, Step, Window

from .unsent import empty_records

_NS = 1e9
_FAULTS = {
    "refuse": Outcome.HTTP_ERROR,
    "reset": Outcome.RESET,
    "errors": Outcome.HTTP_ERROR,
    "half_open": Outcome.TIMEOUT,
    "truncated": Outcome.TRUNCATED,
    "stream_error": Outcome.STREAM_ERROR,
}


@dataclass
class QueueModel:
    """``slots`` requests are served at once, ``service_s`` each (up to ``jitter`` of it longer or shorter): the
    capacity is ``slots / service_s``. Everything else is off unless it is set.

    ``law`` (single, contention, coherency) makes the throughput in closed loop follow the scalability law exactly.
    ``limit_per_s`` refuses what comes faster; ``max_words`` refuses longer inputs; ``needs_bytes`` of memory are
    needed; after a fault errors go on for ``heals_s``. ``drift_per_s`` is by how much of itself the service time
    grows in a second; ``leak_bytes`` are lost with each request.
    """

    slots: int = 10
    service_s: float = 0.05
    jitter: float = 0.0
    error_rate: float = 0.0
    law: tuple[float, float, float] | None = None
    limit_per_s: float | None = None
    keeps_retry_after: bool = True
    max_words: int | None = None
    needs_bytes: int = 0
    rss_bytes: float = 100e6
    leak_bytes: float = 0.0
    drift_per_s: float = 0.0
    heals_s: float = 0.0
    seed: int = 0
    fault: str = ""
    healing: bool = False
    memory: int | None = None
    struck: Mapping[str, int] = field(default_factory=dict)

    @property
    def capacity(self) -> float:
        return self.slots / self.service_s

    def levers(self) -> Levers:
        return Levers(
            set_memory=self.set_memory,
            memory_in_use=lambda: int(self.rss_bytes),
            set_fault=self.set_fault,
            fault_struck=self.struck.get,
        )

    def set_memory(self, limit: int | None) -> int | None:
        self.memory = limit
        return limit

    def set_fault(self, name: str) -> None:
        self.healing = bool(self.fault) and not name
        self.fault = name


@dataclass
class QueueDriver:
    """``client_per_s`` is the most that the client can send; ``client_lag_s`` is what each request leaves late."""

    model: QueueModel
    window_s: float = 0.5
    connections: int = 100_000
    timeout_s: float = 30.0
    objectives: tuple[Objective, ...] = ()
    client_per_s: float | None = None
    client_lag_s: float = 20e-6
    name: str = "model"
    simulated: bool = True
    began_ns: int | None = None
    steps: list[Step] = field(default_factory=list)
    next_index: int = 0
    starts_s: float = 0.0
    lost_bytes: float = 0.0

    def open(self) -> None: ...

    def close(self) -> None: ...

    def observed(self) -> Mapping[str, object]:
        return {"connections": self.connections}

    def run(self, step: Step) -> Iterator[Window]:
        self.steps.append(step)
        draw = random.Random(self.model.seed * 1_000_003 + step.seed)
        rows = self._closed(step, draw) if step.arrivals is Arrivals.CLOSED else self._open(step, draw)
        builder = WindowBuilder(step, self.window_s, self.next_index, self.starts_s, self.objectives)
        builder.simulated = True
        records = empty_records(len(rows))
        for place, name in enumerate(("due", "sent", "done", "outcome", "blocked")):
            records[name] = np.array([row[place] for row in rows])
        records["first_byte"] = records["first_content"] = np.where(records["sent"] >= 0, records["done"], -1)
        builder.add(records, np.zeros(0, dtype=np.int64))
        began_s, lost_bytes = self.starts_s, self.lost_bytes
        self.lost_bytes += self.model.leak_bytes * len(rows)
        for window in builder.finish():
            middle_s = window.starts_s - began_s + window.duration_s / 2
            before = sum(1 for row in rows if row[0] < middle_s * _NS)
            rss = self.model.rss_bytes + lost_bytes + self.model.leak_bytes * before
            yield replace(window, client_cpu=0.3, target_rss_bytes=rss)
        self.next_index, self.starts_s = builder.next_index, self.starts_s + step.duration_s

    def _open(self, step: Step, draw: random.Random) -> list[tuple[int, int, int, int, int]]:
        due = build_schedule(step, 1).due_ns / _NS
        slots, rows = [0.0] * self.model.slots, []
        flights: list[float] = []
        free_at, ends = 0.0, step.duration_s + step.drain_s
        tokens, last = 1.0, 0.0
        for at in due.tolist():
            # ``max``: the client sends one after the other, each at its time at the earliest.
            sent = max(at + self.client_lag_s, free_at)
            while flights and flights[0] <= sent:
                heapq.heappop(flights)
            # Who comes while others wait for a connection waits behind them.
            blocked = len(flights) >= self.connections or (self.client_per_s is None and free_at > at + 0.001)
            if len(flights) >= self.connections:
                sent = max(sent, heapq.heappop(flights))
            if sent > ends or (self.client_per_s is not None and sent > step.duration_s):
                rows.append((round(at * _NS), -1, -1, UNSENT, int(blocked)))
                continue
            free_at = sent + 1.0 / self.client_per_s if self.client_per_s else sent
            if self.model.limit_per_s is not None:
                tokens = min(tokens + (sent - last) * self.model.limit_per_s, 2.0)
                last = sent
                if tokens < 1.0 and step.honour_retry_after and self.model.keeps_retry_after:
                    sent += (1.0 - tokens) / self.model.limit_per_s
                    tokens, last, free_at, blocked = 1.0, sent, sent, True
                if tokens < 1.0:
                    rows.append(_row(at, sent, sent + 0.001, Outcome.RATE_LIMITED, blocked))
                    continue
                tokens -= 1.0
            outcome = self._outcome(step, at, draw)
            if outcome is not Outcome.OK:
                done = sent + (self.timeout_s if outcome is Outcome.TIMEOUT else 0.001)
                done = min(done, ends)
            else:
                start = max(sent, slots[0])
                done = start + self._service(self.starts_s + at, draw)
                heapq.heapreplace(slots, done)
                if done - sent > self.timeout_s or done > ends:
                    outcome, done = Outcome.TIMEOUT, min(sent + self.timeout_s, ends)
            heapq.heappush(flights, done)
            rows.append(_row(at, sent, done, outcome, blocked))
        return rows

    def _closed(self, step: Step, draw: random.Random) -> list[tuple[int, int, int, int, int]]:
        stage = step.stages[0]
        slots, rows = [0.0] * self.model.slots, []
        users = [0.0] * stage.concurrency
        while users[0] < stage.duration_s:
            at = users[0]
            sent = at + self.client_lag_s
            outcome = self._outcome(step, at, draw)
            if outcome is not Outcome.OK:
                done = sent + 0.001
            elif self.model.law is not None:
                single, contention, coherency = self.model.law
                n = stage.concurrency
                done = at + (1.0 + contention * (n - 1) + coherency * n * (n - 1)) / single
            else:
                done = max(sent, slots[0]) + self._service(self.starts_s + at, draw)
                heapq.heapreplace(slots, done)
            heapq.heapreplace(users, done)
            rows.append(_row(at, sent, done, outcome, False))
        return rows

    def _service(self, at_s: float, draw: random.Random) -> float:
        model = self.model
        spread = 1.0 + model.jitter * draw.uniform(-1.0, 1.0) if model.jitter else 1.0
        return model.service_s * spread * (1.0 + model.drift_per_s * at_s)

    def _outcome(self, step: Step, at: float, draw: random.Random) -> Outcome:
        model = self.model
        if model.fault in _FAULTS:
            return _FAULTS[model.fault]
        if model.healing and at < model.heals_s:
            return Outcome.HTTP_ERROR
        if model.memory is not None and model.memory < model.needs_bytes:
            return Outcome.RESET
        words = step.requests.removeprefix("words:")
        if model.max_words is not None and words.isdecimal() and int(words) > model.max_words:
            return Outcome.HTTP_ERROR
        return Outcome.HTTP_ERROR if model.error_rate and draw.random() < model.error_rate else Outcome.OK


def _row(due: float, sent: float, done: float, outcome: Outcome, blocked: bool) -> tuple[int, int, int, int, int]:
    return round(due * _NS), round(sent * _NS), round(done * _NS), OUTCOME_CODES[outcome], int(blocked)
