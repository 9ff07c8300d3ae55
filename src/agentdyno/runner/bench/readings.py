"""What is read around a timed region besides the clocks, and what the measured code returned."""

from __future__ import annotations

import json
import math
import platform
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from agentdyno.model.codec import to_plain

OUTPUT_CAP = 16 * 1024
"""Characters of a returned value that are kept with its sample."""
NUMBERS_CAP = 1000
"""Returned numbers that become readings; what comes after them is kept like other output."""
MAX_DEPTH = 50
"""Levels of lists and dicts in a returned value; everybody who reads it later recurses into them."""


class OutputUnserialisable(Exception):
    """The measured code returned something that has no JSON form."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Resident memory of this process in bytes: now, and the peak since ``reset_peak``."""

    rss_bytes: int
    peak_rss_bytes: int


OpenFile = Callable[..., BinaryIO]
"""``open``, as it was before the measured code was loaded; pathlib costs twice as much."""


def reset_peak(open_file: OpenFile = open) -> None:
    """Starts the peak of resident memory anew (Linux; elsewhere the peak is that of the whole process)."""
    try:
        with open_file("/proc/self/clear_refs", "wb", buffering=0) as file:
            file.write(b"5")
    except OSError:
        pass


def involuntary_switches(usage: Callable[[int], resource.struct_rusage] = resource.getrusage) -> int:
    """How often this process has been put aside without asking for it."""
    return usage(resource.RUSAGE_SELF).ru_nivcsw


def memory_use(open_file: OpenFile = open) -> MemoryUse | None:
    """Read from the kernel; ``ru_maxrss`` would count what the parent process had before it started this one."""
    try:
        with open_file("/proc/self/status", "rb", buffering=0) as file:
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
        number = number_of(result)
        return ({"result.value": number}, None) if number is not None else ({}, _plain(result))
    readings: dict[str, float] = {}
    rest: dict[str, Any] = {}
    for key, value in result.items():
        number = number_of(value)
        if number is not None and len(readings) < NUMBERS_CAP:
            readings[f"result.{key}"] = number
        else:
            rest[str(key)] = value
    return readings, _plain(rest) if rest else None


def number_of(value: Any) -> float | None:
    """``value`` as a finite number, or ``None``; truth values are none."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return None
    if not isinstance(value, (int, float)):
        item = getattr(value, "item", None)  # scalars of numpy and its like
        if not callable(item) or getattr(value, "ndim", None) != 0:
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
        if len(text) > OUTPUT_CAP:
            return {"truncated": text[:OUTPUT_CAP], "characters": len(text)}
        plain = json.loads(text, parse_constant=lambda _: None)
        if _deeper_than(plain, MAX_DEPTH):
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (objects may raise anything while they are turned into lists)
        raise OutputUnserialisable(
            f"the returned value cannot be stored: {text_of(error)}; return numbers, strings, lists and dicts"
        ) from None
    return plain


def _deeper_than(plain: Any, levels: int) -> bool:
    layer = [plain]
    for _ in range(levels):
        layer = [
            inner
            for item in layer
            if isinstance(item, (list, dict))
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return any(isinstance(item, (list, dict)) for item in layer)


def _fallback(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def plain_or_text(value: Any) -> Any:
    """``value`` as plain JSON of bounded size and depth, or else its text."""
    try:
        return _plain(to_plain(value.tolist() if hasattr(value, "tolist") else value))
    except (TypeError, ValueError, RecursionError, OutputUnserialisable):
        return text_of(value)[:OUTPUT_CAP]


def text_of(value: object, spell: Callable[[Any], str] = str) -> str:
    """The text of an object that may not even know how to print itself."""
    try:
        return spell(value)
    except Exception as error:  # noqa: BLE001
        return f"<{type(value).__name__} that cannot be printed: {type(error).__name__}>"


def interpreter() -> dict[str, str]:
    """Which Python this is."""
    return {"python": platform.python_version(), "implementation": platform.python_implementation()}
