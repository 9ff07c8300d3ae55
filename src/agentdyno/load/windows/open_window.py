"""A window of time while its requests come in: counts and histograms, never the requests themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agentdyno.findings.figures.histograms import from_counts
from agentdyno.load.windows.records import (
    OUTCOME_CODES,
    OUTCOMES,
    TOKEN_SOURCE_CODES,
    TOKEN_SOURCES,
    UNKNOWN_SOURCE,
    UNSENT,
    Extras,
    Gaps,
    Records,
)
from agentdyno.model.load import Outcome, TokenSource, Window
from agentdyno.stats.histogram import LogCounts

if TYPE_CHECKING:
    from agentdyno.load.windows.parts import ClientCounts

LATE_NS = 1_000_000
"""A request that was sent later than this after its time is late."""
_OK = OUTCOME_CODES[Outcome.OK]
_CHUNKS = TOKEN_SOURCE_CODES[TokenSource.CHUNKS]
_HISTOGRAMS = ("latency", "service", "ttft", "queued_ttft", "itl", "tpot", "lag", "wait", "unread")


class OpenWindow:
    """``limits_ns`` are what a request must stay within to count as good, by metric; ``None`` without objectives.
    ``clients`` are the names of clients that are counted each on its own too."""

    def __init__(self, limits_ns: Mapping[str, float] | None, clients: Mapping[int, str] | None = None) -> None:
        self._limits_ns = limits_ns
        self._clients = _counts_of(clients) if clients else None
        self._times = {name: LogCounts() for name in _HISTOGRAMS}
        self._outcomes = np.zeros(len(OUTCOMES), dtype=np.int64)
        self._source = -1
        self._tokens: dict[str, int | None] = {"input_tokens": None, "output_tokens": None}
        self._chunks_are_tokens: bool | None = None
        self._statuses: dict[int, int] = {}
        self._cached: int | None = None
        self.asked = self.sent = self.late = self.unsent = self.retried = self.completed = 0
        self.slo_met = self.received_bytes = 0
        self.examples: dict[str, str] = {}

    def add(self, records: Records, gaps: Gaps) -> None:
        """Counts requests that were due in this window; ``gaps`` are those of its successes."""
        unsent = records["outcome"] == UNSENT
        sent = records[~unsent]
        self.asked += int(records.size)
        self.unsent += int(unsent.sum())
        self.sent += int(sent.size)
        self.retried += int(sent["retried"].sum())
        self.received_bytes += int(sent["bytes"].sum())
        self._outcomes += np.bincount(sent["outcome"], minlength=len(OUTCOMES))[: len(OUTCOMES)]
        left = sent[sent["sent"] >= 0]
        lag = left["sent"] - left["due"]
        self.late += int((lag > LATE_NS).sum())
        self._times["lag"].add(lag[left["blocked"] == 0])
        good = sent[sent["outcome"] == _OK]
        refused = sent["status"][(sent["outcome"] != _OK) & ((sent["status"] < 200) | (sent["status"] >= 300))]
        for status, count in zip(*np.unique(refused, return_counts=True), strict=True):
            self._statuses[int(status)] = self._statuses.get(int(status), 0) + int(count)
        self._times["itl"].add(gaps)
        if self._clients is not None:
            self._clients.add(records)
        self._add_tokens(good)
        self._add_times(good)

    def add_extras(self, extras: Extras, records: Records) -> None:
        """What is known of ``records`` beside them."""
        if self._clients is not None:
            self._clients.add_extras(records["process"], extras)
        for name in ("wait", "unread"):
            self._times[name].add(extras[name][extras[name] >= 0])
        cached = extras["cached_tokens"][extras["cached_tokens"] >= 0]
        if cached.size:
            self._cached = (self._cached or 0) + int(cached.sum())

    def build(self, empty: Window) -> Window:
        """``empty`` says which window it is; this fills in what was counted."""
        times = {name: from_counts(counts) for name, counts in self._times.items()}
        counted = zip(OUTCOMES, self._outcomes.tolist(), strict=True)
        return replace(
            empty,
            asked=self.asked,
            sent=self.sent,
            late=self.late,
            unsent=self.unsent,
            completed=self.completed,
            retried=self.retried,
            outcomes={outcome.value: count for outcome, count in counted if count},
            slo_met=None if self._limits_ns is None else self.slo_met,
            latency=times["latency"],
            service=times["service"],
            ttft=times["ttft"],
            queued_ttft=times["queued_ttft"],
            itl=times["itl"],
            tpot=times["tpot"],
            lag=times["lag"],
            wait=times["wait"],
            unread=times["unread"],
            input_tokens=self._tokens["input_tokens"],
            output_tokens=self._tokens["output_tokens"],
            cached_tokens=self._cached,
            statuses={str(status): count for status, count in sorted(self._statuses.items()) if status},
            token_source=TOKEN_SOURCES[self._source] if self._source >= 0 else None,
            chunks_are_tokens=self._chunks_are_tokens,
            received_bytes=self.received_bytes,
            examples=dict(self.examples),
            clients=None if self._clients is None else self._clients.build(),
        )

    def _add_tokens(self, good: Records) -> None:
        for name in self._tokens:
            known = good[name][good[name] >= 0]
            if known.size:
                self._tokens[name] = (self._tokens[name] or 0) + int(known.sum())
        counted = good[(good["output_tokens"] >= 0) & (good["token_source"] != UNKNOWN_SOURCE)]
        if counted.size:
            # The weakest source is the one that the sum can claim.
            self._source = max(self._source, int(counted["token_source"].max()))
        told = counted[(counted["token_source"] != _CHUNKS) & (counted["chunks"] > 0)]
        if told.size:
            # The end-of-text token is counted by some servers and has no text to send.
            alike = bool((np.abs(told["output_tokens"] - told["chunks"]) <= 1).all())
            self._chunks_are_tokens = alike and self._chunks_are_tokens is not False

    def _add_times(self, good: Records) -> None:
        times = request_times(good)
        for name in ("latency", "service", "ttft", "queued_ttft", "tpot"):
            values = times[name]
            self._times[name].add(values[values >= 0])
        if self._limits_ns is not None:
            met = np.ones(good.size, dtype=np.bool_)
            for name, limit_ns in self._limits_ns.items():
                met &= times[name] <= limit_ns
                if name in ("ttft", "queued_ttft"):  # an answer without content never had a first token
                    met &= times[name] >= 0
            self.slo_met += int(met.sum())


def _counts_of(clients: Mapping[int, str]) -> ClientCounts:
    """Loaded where there are such clients only."""
    from agentdyno.load.windows.parts import ClientCounts

    return ClientCounts(clients)


def request_times(records: Records) -> dict[str, NDArray[np.int64]]:
    """Each request's own times in nanoseconds, -1 where there is none; ``itl`` is the mean of its gaps."""
    due, sent, done = records["due"], records["sent"], records["done"]
    first, last = records["first_content"], records["last_content"]
    spoke = first >= 0
    flow = np.where(spoke & (last >= first), last - first, -1)
    tokens, gaps = records["output_tokens"], records["gaps"]
    return {
        "latency": np.where(done >= 0, np.maximum(done - due, 0), -1),
        "service": np.where((done >= 0) & (sent >= 0), np.maximum(done - sent, 0), -1),
        "ttft": np.where(spoke & (sent >= 0), np.maximum(first - sent, 0), -1),
        "queued_ttft": np.where(spoke, np.maximum(first - due, 0), -1),
        "tpot": np.where((flow >= 0) & (tokens >= 2), flow // np.maximum(tokens - 1, 1), -1),
        "itl": np.where((flow >= 0) & (gaps >= 1), flow // np.maximum(gaps, 1), -1),
    }
