"""Work on many items without keeping the event loop from stamping what arrives meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import perf_counter_ns
from typing import TypeVar

SLICE_NS = 50_000
"""How long one slice of decoding may hold up the other streams."""

T = TypeVar("T")


async def consume(items: Iterable[T], take: Callable[[T], None]) -> None:
    """Calls ``take`` with each item and lets the event loop turn after every 50 µs of it."""
    until = perf_counter_ns() + SLICE_NS
    for item in items:
        take(item)
        if perf_counter_ns() > until:
            await asyncio.sleep(0)
            until = perf_counter_ns() + SLICE_NS
