"""From which change on a metric counts as worse: one number for all, or one for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.engine.severity import ANY_METRIC, DEFAULT_THRESHOLD
from agentdyno.findings.figures.dimensions import DIMENSIONS

LARGEST = 10.0
NAMES = (
    *(*DIMENSIONS, "overall", "pass_rate", "error_rate", "failure_rate", "duration_s", "ttft_s", "cost_usd"),
    *("total_tokens", "cpu_s", "peak_rss_bytes"),
)
"""What may have a threshold of its own; that of a dimension holds for the quantities behind it, too."""


def thresholds_from(texts: Iterable[str], where: str = "--threshold") -> dict[str, float]:
    """``0.2`` is for every metric, ``accuracy=0.05`` for one; of what is said twice the last counts.

    Raises ``SpecError`` for an unknown metric, and for a number that is not above 0 and at most 10.
    """
    found = {ANY_METRIC: DEFAULT_THRESHOLD}
    for text in texts:
        name, equals, number = text.rpartition("=")
        name = name.strip()
        if equals and name not in NAMES:
            raise SpecError(
                f"there is no metric {name!r} to have a threshold", where=where, remedy=nearest(name, NAMES)
            )
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not 0.0 < value <= LARGEST:
            remedy = "Write for example 0.1, which is 10 %, or accuracy=0.05 for one metric."
            raise SpecError(f"{number!r} is no threshold above 0 and up to {LARGEST:g}", where=where, remedy=remedy)
        found[name if equals else ANY_METRIC] = value
    return found


def known_thresholds(given: Mapping[str, float] | float) -> dict[str, float]:
    """The same from a number or a mapping by metric, as Python callers give it."""
    if not isinstance(given, Mapping):
        return thresholds_from([str(given)], "threshold")
    return thresholds_from([f"{name}={value}" if name else str(value) for name, value in given.items()], "threshold")
