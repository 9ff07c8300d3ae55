"""What is read around a timed region besides the clocks, and what the measured code returned."""

from __future__ import annotations

import json
import math
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OUTPUT_CAP = 16 * 1024
"""Characters of a returned value that are kept with its sample."""


class OutputUnserialisable(Exception):
    """The measured code returned something that has no JSON form."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Resident memory of this process in bytes: now, and the peak since ``reset_peak``."""

    rss_bytes: int
    peak_rss_bytes: int


def reset_peak() -> None:
    """Starts the peak of resident memory anew (Linux; elsewhere the peak is that of the whole process)."""
    try:
        with open("/proc/self/clear_refs", "wb", buffering=0) as file:  # noqa: PTH123  (half the cost of pathlib)
            file.write(b"5")
    except OSError:
        pass


def involuntary_switches() -> int:
    """How often this process has been put aside without asking for it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def memory_use() -> MemoryUse | None:
    """Read from the kernel; ``ru_maxrss`` would count what the parent process had before it started this one."""
    try:
        with open("/proc/self/status", "rb", buffering=0) as file:  # noqa: PTH123
            text = file.read(4096)
        return MemoryUse(_kilobytes(text, b"VmRSS:"), _kilobytes(text, b"VmHWM:"))
    except (OSError, ValueError, IndexError):
        return None


def _kilobytes(text: bytes, field: bytes) -> int:
    return int(text.split(field, 1)[1].split(None, 1)[0]) * 1024


def split_output(result: Any) -> tuple[dict[str, float], Any]:
    """Numbers as ``result.<key>`` readings; the rest as plain JSON, capped.

    A dict's numeric items are readings; a bare number is ``result.value``. Numbers of numpy count as numbers.
    """
    if result is None:
        return {}, None
    if not isinstance(result, Mapping):
        number = _number(result)
        return ({"result.value": number}, None) if number is not None else ({}, _plain(result))
    readings: dict[str, float] = {}
    rest: dict[str, Any] = {}
    for key, value in result.items():
        number = _number(value)
        if number is not None:
            readings[f"result.{key}"] = number
        else:
            rest[str(key)] = value
    return readings, _plain(rest) if rest else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return None
    if not isinstance(value, (int, float)):
        item = getattr(value, "item", None)  # numpy scalars and one-element arrays
        if item is None or getattr(value, "ndim", 0) != 0:
            return None
        value = item()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    return None


def _plain(value: Any) -> Any:
    try:
        text = json.dumps(value, default=_fallback)
    except (TypeError, ValueError, RecursionError) as error:
        raise OutputUnserialisable(
            f"the returned value cannot be stored: {error}; return numbers, strings, lists and dicts"
        ) from None
    if len(text) > OUTPUT_CAP:
        return {"truncated": text[:OUTPUT_CAP], "characters": len(text)}
    return json.loads(text, parse_constant=lambda _: None)


def _fallback(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
