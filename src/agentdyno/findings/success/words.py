"""How each figure is counted, in sentences."""

from __future__ import annotations

TITLES = {
    "agents_benchmarked": "agents benchmarked",
    "regression_detection": "regression detection accuracy",
    "optimization_opportunities": "optimisation opportunities taken",
    "degradation_incidents": "fewer degradation incidents",
}
COUNTED = {
    "agents_benchmarked": (
        "Agents with a whole run that succeeded in these days, of all agents that are registered here or were ever "
        "run; simulated results do not count."
    ),
    "regression_detection": (
        "Stored pairs of runs are judged again, as history --regressions judges them. Two runs of one version of an "
        "agent are known to be unchanged; a run tagged known:worse or known:same is known by its tag, against the "
        "run before it."
    ),
    "optimization_opportunities": (
        "Opportunities that the profile of an agent's version before shows (by rule and category), and those of them "
        "that the profile of its newest version does not show any more."
    ),
    "degradation_incidents": (
        "New versions of agents that are judged worse than the version before, in these days against as many days "
        "before."
    ),
}
