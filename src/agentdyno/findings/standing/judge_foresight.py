"""What a suite's run will ask and could show, said before it starts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentdyno.findings.engine.flips import ALPHA
from agentdyno.findings.figures.cases import cluster_of
from agentdyno.findings.standing.model import Foresight
from agentdyno.model import Suite
from agentdyno.stats import minimum_detectable_difference

DISCORDANT = 0.2
"""Share of cases that one of two agents passes and the other does not, where nothing is known yet."""
_FEWEST_FLIPS = 6
"""Cases that must flip, all in one direction, before the exact test says less than 5 %."""


def foresee(suite: Suite, warmups: Sequence[int], spread: float | None = None) -> Foresight:
    """For a run with one agent per entry of ``warmups``, its warm-up calls in each benchmark.

    ``spread`` is the standard deviation of the difference between two agents over cases, where an earlier run told
    it; else 20 % of the cases are taken to go one way or the other. Repeats of a case make its score more certain but
    are no further cases, so that they do not count here.
    """
    cases = sum(len(item.cases) for item in suite.benchmarks)
    executions = sum(len(item.cases) * (item.epochs or suite.epochs) for item in suite.benchmarks)
    clusters = len({(item.benchmark_id, cluster_of(c.id, c.group)) for item in suite.benchmarks for c in item.cases})
    assumed = math.sqrt(DISCORDANT) if spread is None else spread
    detectable = None
    if clusters >= _FEWEST_FLIPS:
        smallest = minimum_detectable_difference(assumed, clusters, alpha=ALPHA)
        detectable = max(smallest, _FEWEST_FLIPS / clusters)
        detectable = detectable if detectable <= 1.0 else None
    basis = (
        f"{100 * DISCORDANT:.0f} % of the cases decided differently by two agents"
        if spread is None
        else f"case scores that differ by {spread:.2f} (standard deviation), as before"
    )
    return Foresight(
        calls=executions * len(warmups),
        warmups=sum(warmups) * len(suite.benchmarks),
        cases=cases,
        clusters=clusters,
        agents=len(warmups),
        detectable=detectable,
        assumption=f"paired by case, 5 % level, 80 % power, {basis}",
    )
