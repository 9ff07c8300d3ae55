"""From which change on a metric counts as worse: one number for all, or one for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.engine.severity import ANY_METRIC, DEFAULT_THRESHOLD
from agentdyno.findings.figures.dimensions import DIMENSIONS

LARGEST = 10.0
EVERY = "all"
"""In ``dyno.yaml``, the threshold of every metric that has none of its own."""
NAMES = (
    *(*DIMENSIONS, "overall", "pass_rate", "error_rate", "failure_rate", "duration_s", "ttft_s", "cost_usd"),
    *("total_tokens", "cpu_s", "peak_rss_bytes"),
)
"""What may have a threshold of its own; that of a dimension holds for the quantities behind it, too."""


def thresholds_from(
    texts: Iterable[str], where: str = "--threshold", project: Mapping[str, float] | None = None
) -> dict[str, float]:
    """``0.2`` is for every metric, ``accuracy=0.05`` for one; of what is said twice the last counts. ``project`` is
    what ``dyno.yaml`` says, and holds where the texts say nothing; a number for every metric is said of all of them.

    Raises ``SpecError`` for an unknown metric, and for a number that is not above 0 and at most 10.
    """
    found = {ANY_METRIC: DEFAULT_THRESHOLD, **(project or {})}
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
        if not equals and project:
            found = {key: kept for key, kept in found.items() if key not in project}
        found[name if equals else ANY_METRIC] = value
    return found


def project_thresholds(given: Mapping[str, float], where: str = "thresholds") -> dict[str, float]:
    """The same as ``dyno.yaml`` has them: ``all`` is for every metric that is not named. Raises ``SpecError``."""
    named = [f"{name}={value!r}" if name != EVERY else repr(value) for name, value in given.items()]
    found = thresholds_from(named, where)
    return found if EVERY in given else {name: value for name, value in found.items() if name != ANY_METRIC}


def known_thresholds(
    given: Mapping[str, float] | float | None, project: Mapping[str, float] | None = None
) -> dict[str, float]:
    """The same from a number or a mapping by metric, as Python callers give it; ``None`` asks for the project's."""
    if given is None:
        return thresholds_from((), "threshold", project)
    if not isinstance(given, Mapping):
        return thresholds_from([str(given)], "threshold")
    return thresholds_from([f"{name}={value}" if name else str(value) for name, value in given.items()], "threshold")
