"""A metric: its name, unit, direction and provenance, and how a person reads its values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum


class Direction(StrEnum):
    """Which way is better. A metric whose direction is unknown is shown and never judged."""

    HIGHER = "higher"
    LOWER = "lower"
    UNKNOWN = "unknown"


class Provenance(StrEnum):
    """Where a value comes from. Simulated values never pass for measured ones; ``reported`` ones are what an agent
    says of itself: they are shown, and nothing is ranked, scored or decided by them."""

    MEASURED = "measured"
    DERIVED = "derived"
    ESTIMATED = "estimated"
    SIMULATED = "simulated"
    REPORTED = "reported"


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"


class Category(StrEnum):
    SPEED = "speed"
    ACCURACY = "accuracy"
    COST = "cost"
    RELIABILITY = "reliability"
    SCALABILITY = "scalability"
    COMPREHENSIVE = "comprehensive"


@dataclass(frozen=True, slots=True)
class Metric:
    """``machine_dependent`` is true where the value says something about the machine too."""

    name: str
    unit: str = ""
    direction: Direction = Direction.UNKNOWN
    provenance: Provenance = Provenance.MEASURED
    machine_dependent: bool = True

    def format(self, value: float | None) -> str:
        """The value as a person reads it: three or four digits and a fitting unit."""
        return format_value(value, self.unit)


@dataclass(frozen=True, slots=True)
class CensoredValue:
    """A quantity that was waited for: ``value`` where it was ``reached``, else what it is known to exceed.

    It is no number and cannot be averaged: dropping what was never reached, or counting it as if it had been, would
    favour whatever fails. Two groups of them are compared by ``log_rank``.
    """

    value: float
    reached: bool

    def __str__(self) -> str:
        return self.show()

    def show(self, unit: str = "") -> str:
        """``364``, or ``> 1000`` where it was not reached."""
        shown = format_value(self.value, unit)
        return shown if self.reached else f"> {shown}"


_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def format_value(value: float | None, unit: str) -> str:
    """Three or four significant digits with a unit chosen by size; unknown, and no number at all, reads ``-``."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if unit == "s":
        return _scaled(value, _SECONDS)
    if unit == "bytes":
        return _scaled(value, _BYTES)
    if unit == "usd":
        return money(value)
    if unit == "ratio":
        return f"{value:.3f}"
    size = abs(value)
    for scale, suffix in _COUNTS:
        if size >= scale * 10:
            return f"{_digits(value / scale)} {suffix}{unit}".rstrip()
    return f"{_digits(value)} {unit}".rstrip()


CENT = 0.01
"""Dollars below which the price of one task is told for a thousand, or a million, of them."""


def money(usd: float) -> str:
    """Dollars for one task: ``$1.20``, or ``$0.27 per 1,000`` where one costs less than a cent."""
    size, sign = abs(usd), "-" if usd < 0 else ""
    if size == 0 or size >= CENT:
        return f"{sign}${_dollars(size)}"
    if size * 1_000 >= CENT:
        return f"{sign}${_dollars(size * 1_000)} per 1,000"
    return f"{sign}${_dollars(size * 1_000_000)} per 1,000,000"


def money_spent(usd: float) -> str:
    """Dollars of a sum, which is of no task: ``$0.0043`` below a cent, and never with more than two digits then."""
    if not 0 < usd < CENT:
        return money(usd)
    return f"${usd:.2g}" if usd >= CENT / 100 else "under $0.0001"


def money_per_task(usd: float) -> str:
    """In a sentence: ``$0.05 per task``, ``$0.27 per 1,000 tasks``."""
    text = money(usd)
    return f"{text} tasks" if " per " in text else f"{text} per task"


def _dollars(size: float) -> str:
    if size >= 1_000:
        return f"{size:,.0f}"
    if size == 0:
        return "0"
    if size >= 0.1:
        return f"{size:.2f}"
    return f"{size:.3f}".removesuffix("0") if size >= CENT / 10 else f"{size:.1g}"


def _scaled(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    size = abs(value)
    for scale, suffix in steps:
        if size >= scale:
            return f"{_digits(value / scale)} {suffix}"
    scale, suffix = steps[-1]
    return f"{_digits(value / scale)} {suffix}"


def _digits(value: float) -> str:
    size = abs(value)
    if size >= 1e9:
        return f"{value:.4g}"
    if size < 10_000 and math.isclose(value, whole := round(value), rel_tol=1e-12):
        return str(whole)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.01:
        return f"{value:.2f}"
    return f"{value:.3g}"


KNOWN_METRICS = {
    metric.name: metric
    for metric in (
        Metric("duration_s", "s", Direction.LOWER),
        Metric("cpu_s", "s", Direction.LOWER),
        Metric("duration_norm_s", "s", provenance=Provenance.DERIVED),
        Metric("cpu_norm_s", "s", provenance=Provenance.DERIVED),
        Metric("rss_bytes", "bytes"),
        Metric("peak_rss_bytes", "bytes", Direction.LOWER),
        Metric("read_bytes", "bytes"),
        Metric("write_bytes", "bytes"),
        Metric("throughput_per_s", "/s", Direction.HIGHER, Provenance.DERIVED),
        Metric("involuntary_switches", "", Direction.UNKNOWN),
        Metric("score", "ratio", Direction.HIGHER, machine_dependent=False),
        Metric("ttft_s", "s", Direction.LOWER),
        Metric("itl_s", "s", Direction.LOWER),
        Metric("tokens_per_s", "/s", Direction.HIGHER),
        Metric("input_tokens", "", Direction.LOWER, machine_dependent=False),
        Metric("output_tokens", "", Direction.LOWER, machine_dependent=False),
        Metric("total_tokens", "", Direction.LOWER, machine_dependent=False),
        Metric("api_calls", "", Direction.LOWER, machine_dependent=False),
        Metric("cost_usd", "usd", Direction.LOWER, machine_dependent=False),
    )
}
_UNIT_SUFFIXES = (
    ("_bytes_per_s", "bytes/s"),
    ("_per_s", "/s"),
    ("_bytes", "bytes"),
    ("_usd", "usd"),
    ("_s", "s"),
)


LARGEST = 1e18
"""No reading is larger: a sum of squares of such numbers is still a number, and so is their sum in any store."""
_NEVER_NEGATIVE = frozenset({"s", "bytes", "usd", "/s", "bytes/s"})
_SAVED = "_saved_s"
"""How names of differences between two times end: nothing may have been saved, and more spent."""


def is_credible(name: str, value: float) -> bool:
    """Whether a reading of this name can have this value: a number, not too large, and none below zero of a quantity
    that starts there."""
    below_zero = name.endswith(_SAVED) or known_metric(name).unit not in _NEVER_NEGATIVE
    return abs(value) <= LARGEST and (value >= 0 or below_zero)


REPORTED_PREFIX = "reported."
"""In front of a name that the bench keeps for its own readings, where an agent gave a number of that name."""


def known_metric(name: str) -> Metric:
    """The built-in metric of that name, else one whose unit follows from its suffix, never judged."""
    known = KNOWN_METRICS.get(name)
    if known is not None:
        return known
    if name.startswith(REPORTED_PREFIX):
        claimed = known_metric(name.removeprefix(REPORTED_PREFIX))
        return replace(claimed, name=name, direction=Direction.UNKNOWN, provenance=Provenance.REPORTED)
    for suffix, unit in _UNIT_SUFFIXES:
        if name.endswith(suffix):
            return Metric(name, unit)
    return Metric(name)


def is_reserved(name: str) -> bool:
    """Whether only the bench itself may give a reading this name: built-in metrics, and every name with a dot.

    A dot divides the origin from the quantity: ``server.load_s``, ``result.rows``, ``pressure.steal_s``.
    """
    return name in KNOWN_METRICS or "." in name


def reported_name(name: str) -> str:
    """Under which name a number is kept that an agent reports of itself."""
    return REPORTED_PREFIX + name if is_reserved(name) and not name.startswith(REPORTED_PREFIX) else name
