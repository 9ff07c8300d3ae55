"""The ground truth of a simulated server: when it received each request and when it sent each token."""

from __future__ import annotations

import json
from array import array
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

KEPT_REQUESTS = 50_000
EXACT_US = 1024
"""Lags below this many microseconds are counted to the microsecond, longer ones to about 1 in 1024."""


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request as the server saw it; times are ``perf_counter_ns`` (CLOCK_MONOTONIC: alike in all processes of
    a machine), taken just before the bytes are handed to the kernel.

    ``outcome``: ok, error, reset, truncated, stream_error, rate_limited, context, unauthorised, refused (a request
    that cannot be understood), not_found, overloaded (no place in the queue), timeout (never answered, on purpose),
    endless, html, disconnected (the client left), open (not finished yet). ``started_ns``: when a slot was due to be
    free for it; null while it waits, and where it needed none. ``input_bytes``: length of the request's body.
    """

    request_id: str
    path: str
    model: str
    stream: bool
    status: int
    outcome: str
    input_tokens: int
    output_tokens: int
    received_ns: int
    token_ns: tuple[int, ...]
    end_ns: int | None
    started_ns: int | None = None
    input_bytes: int = 0

    @property
    def ttft_s(self) -> float | None:
        """Request complete to first token sent."""
        return (self.token_ns[0] - self.received_ns) / 1e9 if self.token_ns else None

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ServedRequest:
        known = {name: value for name, value in plain.items() if name != "simulated"}
        return cls(**{**known, "token_ns": tuple(known["token_ns"])})


@dataclass(frozen=True, slots=True)
class ServerStats:
    """Counts since the start or the last reset. Send lag: how much later than due tokens were sent, in seconds;
    null before the first token. ``log_dropped``: finished requests that the log no longer holds. ``queued`` requests
    wait for a slot now, at most ``peak_queued`` did since the start; ``faults_left`` of the plan are still to come.
    """

    requests: int
    outcomes: Mapping[str, int]
    tokens: int
    open: int
    peak_open: int
    send_lag_p50_s: float | None
    send_lag_p99_s: float | None
    send_lag_max_s: float | None
    log_dropped: int
    queued: int = 0
    peak_queued: int = 0
    faults_left: int = 0


class RequestRecord:
    """A request in progress; turns into a ``ServedRequest``."""

    __slots__ = (
        "end_ns",
        "input_bytes",
        "input_tokens",
        "model",
        "outcome",
        "output_tokens",
        "path",
        "received_ns",
        "request_id",
        "started_ns",
        "status",
        "stream",
        "token_ns",
    )

    def __init__(self, request_id: str, path: str, received_ns: int) -> None:
        self.request_id, self.path, self.received_ns = request_id, path, received_ns
        self.model, self.outcome = "", "open"
        self.stream = False
        self.status = self.input_tokens = self.output_tokens = self.input_bytes = 0
        self.token_ns = array("q")
        self.end_ns: int | None = None
        self.started_ns: int | None = None

    def served(self) -> ServedRequest:
        values = {name: getattr(self, name) for name in self.__slots__}
        return ServedRequest(**{**values, "token_ns": tuple(self.token_ns)})

    def line(self) -> bytes:
        values = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({**values, "token_ns": self.token_ns.tolist(), "simulated": True}).encode() + b"\n"


class LagCounts:
    """How late things were, counted in buckets, so that memory does not grow with their number."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self.n = 0
        self.max_ns = 0

    def add(self, lag_ns: int) -> None:
        lag_us = lag_ns // 1000
        if lag_us >= EXACT_US:
            shift = lag_us.bit_length() - 10
            lag_us = lag_us >> shift << shift
        self._counts[lag_us] += 1
        self.n += 1
        if lag_ns > self.max_ns:
            self.max_ns = lag_ns

    def quantile_s(self, share: float) -> float | None:
        """The lag that ``share`` of all stay at or below, rounded down to its bucket."""
        reached, wanted = 0, share * self.n
        for lag_us in sorted(self._counts):
            reached += self._counts[lag_us]
            if reached >= wanted:
                return lag_us / 1e6
        return None


class SendLog:
    """The requests of one server, in the order in which they arrived; the oldest are dropped beyond a limit."""

    def __init__(self, kept_requests: int = KEPT_REQUESTS) -> None:
        self._kept = kept_requests
        self._number = 0
        self.reset()

    def reset(self) -> None:
        """Forgets everything but the numbering of requests."""
        self._records: deque[RequestRecord] = deque(maxlen=self._kept)
        self._outcomes: Counter[str] = Counter()
        self._requests = self._tokens = self._peak_open = 0
        self._open: set[RequestRecord] = set()
        self.lag = LagCounts()

    def open(self, path: str, received_ns: int) -> RequestRecord:
        """Starts the record of a request whose last byte arrived at ``received_ns``."""
        self._number += 1
        self._requests += 1
        record = RequestRecord(f"req-{self._number}", path, received_ns)
        self._records.append(record)
        self._open.add(record)
        self._peak_open = max(self._peak_open, len(self._open))
        return record

    def close(self, record: RequestRecord, outcome: str, end_ns: int) -> None:
        """Ends a record; of one that began before a reset only the record itself is changed."""
        record.outcome, record.end_ns = outcome, end_ns
        if record in self._open:
            self._open.remove(record)
            self._outcomes[outcome] += 1
            self._tokens += record.output_tokens

    def served(self) -> tuple[ServedRequest, ...]:
        return tuple(record.served() for record in self._records)

    def lines(self) -> Iterator[bytes]:
        """One line of JSON per request."""
        return (record.line() for record in self._records)

    def stats(self) -> ServerStats:
        return ServerStats(
            requests=self._requests,
            outcomes=dict(self._outcomes),
            tokens=self._tokens,
            open=len(self._open),
            peak_open=self._peak_open,
            send_lag_p50_s=self.lag.quantile_s(0.5),
            send_lag_p99_s=self.lag.quantile_s(0.99),
            send_lag_max_s=self.lag.max_ns / 1e9 if self.lag.n else None,
            log_dropped=self._requests - len(self._records),
        )
