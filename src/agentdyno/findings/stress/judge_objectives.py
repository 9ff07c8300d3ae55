"""Service-level objectives as people write them: ``ttft_p95<200ms, error_rate<1%``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from agentdyno.errors import SpecError, nearest
from agentdyno.model.load import Objective

TIMES = ("latency", "service", "ttft", "queued_ttft", "itl", "tpot")
"""What a limit of time can be put on, as ``Window`` has it."""
SHARES = ("error_rate",)
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0}
_PARTS = {"": 1.0, "%": 1e-2}
_ONE = re.compile(
    r"\s*(?P<name>[A-Za-z_]+?)(?:_(?P<at>p[0-9.]+|mean|avg|median))?\s*<=?\s*"
    r"(?P<number>[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(?P<unit>[A-Za-zµ%]*)\s*"
)
_BARE = re.compile(r"\s*(p[0-9.]+|mean|avg|median)\s*<")
"""A quantile alone is one of latency."""
_EXAMPLE = "Write it like ttft_p95<200ms, latency_p99<2s, error_rate<1%."


def parse_slo(text: str, *, where: str = "slo") -> tuple[Objective, ...]:
    """Objectives separated by commas, semicolons or ``and``; each is ``metric[_pNN|_mean] < number[unit]``.

    A quantile alone (``p95<300ms``) is one of latency.
    Times are in ``s``, ``ms``, ``us`` or ``min`` (seconds without a unit), and at p95 where no quantile is named;
    shares are of 1 or in ``%``. ``SpecError`` names what cannot be read.
    """
    parts = re.split(r"[,;]|\band\b|&&?", text)
    if not any(part.strip() for part in parts):
        raise SpecError("there is no objective here", where=where, remedy=_EXAMPLE)
    found: list[Objective] = []
    for part in parts:
        if not part.strip():
            continue
        objective = _parse_one(part, where)
        if any(other.name == objective.name for other in found):
            raise SpecError(f"{objective.name} is limited twice", where=where)
        found.append(objective)
    return tuple(found)


def format_slo(objectives: Sequence[Objective]) -> str:
    """The text that ``parse_slo`` reads back as the same objectives."""
    return ", ".join(f"{one.name}<{one.limit!r}{'' if one.metric in SHARES else 's'}" for one in objectives)


def request_limits(objectives: Sequence[Objective]) -> Mapping[str, float]:
    """Seconds that one request must stay within to count as good, by metric.

    A quantile is a property of many requests; its limit is asked of each. Where a metric has several limits, the
    largest holds: the tighter ones allow some requests to be above them.
    """
    limits: dict[str, float] = {}
    for objective in objectives:
        if objective.metric in TIMES:
            limits[objective.metric] = max(limits.get(objective.metric, 0.0), objective.limit)
    return limits


def _parse_one(text: str, where: str) -> Objective:
    if _BARE.match(text):
        text = f"latency_{text.strip()}"
    matched = _ONE.fullmatch(text)
    if matched is None:
        remedy = "An objective is an upper limit: write metric < number. " if ">" in text else ""
        raise SpecError(f"{text.strip()!r} is not an objective", where=where, remedy=f"{remedy}{_EXAMPLE}")
    name, at, unit = matched["name"].lower(), matched["at"], matched["unit"]
    if name not in TIMES and name not in SHARES:
        raise SpecError(f"nothing here is called {name}", where=where, remedy=nearest(name, (*TIMES, *SHARES)))
    units = _SECONDS if name in TIMES else _PARTS
    if unit not in units:
        known = ", ".join(known for known in units if known)
        raise SpecError(f"{text.strip()!r}: {unit!r} is no unit of {name}", where=where, remedy=f"Known: {known}.")
    limit = float(matched["number"]) * units[unit]
    if not math.isfinite(limit) or limit <= 0.0 or (name in SHARES and limit > 1.0):
        most = " and at most 100 %" if name in SHARES else ""
        raise SpecError(f"{text.strip()!r}: the limit must be more than 0{most}", where=where)
    if name in SHARES:
        if at is not None:
            raise SpecError(f"{text.strip()!r}: {name} is one number, and has no {at}", where=where)
        return Objective(name, limit)
    return Objective(name, limit, _quantile(at, text, where))


def _quantile(at: str | None, text: str, where: str) -> float | None:
    if at is None:
        return 0.95
    if at in ("mean", "avg"):
        return None
    if at == "median":
        return 0.5
    try:
        percent = float(at[1:])
    except ValueError:
        percent = math.nan
    if not 0.0 < percent <= 100.0:
        raise SpecError(f"{text.strip()!r}: {at} is no quantile", where=where, remedy="Write p50, p95, p99, p99.9.")
    # 99.9 / 100 is not the float that 0.999 is.
    return round(percent / 100.0, 12)
