"""Time to first token, inter-token latency and rate: the one definition, from arrival stamps alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamTiming:
    """Unknown is ``None``.

    ``ttft_s``: from the last byte of the request being sent to the arrival of the bytes that complete the first event
    with content (text, reasoning or part of a tool call; an event that only names the role has none).
    ``itl_s``: mean gap between events with content, from the first on.
    ``tokens_per_s``: tokens after the first, over the time from the first event with content to the last.
    """

    ttft_s: float | None = None
    itl_s: float | None = None
    tokens_per_s: float | None = None

    def readings(self) -> dict[str, float]:
        """What is known, by metric name."""
        values = {"ttft_s": self.ttft_s, "itl_s": self.itl_s, "tokens_per_s": self.tokens_per_s}
        return {name: value for name, value in values.items() if value is not None}


def measure(sent_ns: int, content_ns: Sequence[int], tokens: int | None = None) -> StreamTiming:
    """From the arrival of each event with content, in order, and the number of tokens in all of them."""
    if not content_ns:
        return StreamTiming()
    first, last = content_ns[0], content_ns[-1]
    span_s = (last - first) / 1e9
    return StreamTiming(
        ttft_s=max(0, first - sent_ns) / 1e9,
        itl_s=span_s / (len(content_ns) - 1) if len(content_ns) > 1 else None,
        tokens_per_s=(tokens - 1) / span_s if tokens is not None and tokens > 1 and span_s > 0 else None,
    )
