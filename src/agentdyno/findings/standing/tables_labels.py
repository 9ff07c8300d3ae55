"""The standings of suites that a report shows, and how scores and agents read in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from agentdyno.contracts import Report
from agentdyno.model.naming import with_shown_arms
from agentdyno.show.table import Cell, Tone
from agentdyno.show.wording import NOTHING, one_line

if TYPE_CHECKING:  # every report asks for standings, and few have a suite's run
    from agentdyno.findings.standing.model import HeadToHead, ScoreEstimate, SuiteStanding
    from agentdyno.model import RunResult

_HASH = 10
"""Characters of a version that is a digest."""


def is_suite(result: RunResult) -> bool:
    return result.kind == "suite" and result.suite is not None


def with_standings(report: Report) -> Report:
    """The report with the standing of every suite among its results; those that it brings along are kept.

    Its results are as people read them.
    """
    report = replace(report, results=tuple(with_shown_arms(result) for result in report.results))
    suites = [result for result in report.results if is_suite(result)]
    if not suites:
        return report
    from agentdyno.findings.standing.judge import standing_of  # numpy, which a report of experiments does without
    from agentdyno.findings.standing.model import SuiteFindings

    given = report.findings if isinstance(report.findings, SuiteFindings) else SuiteFindings()
    known = {standing.run_id: standing for standing in given.standings}
    standings = tuple(known.get(result.run_id) or standing_of(result) for result in suites)
    findings = SuiteFindings(
        warnings=report.findings.warnings,
        comparisons=report.findings.comparisons,
        bands=report.findings.bands,
        standings=standings,
        profiles=given.profiles,
        pairs=given.pairs,
    )
    return replace(report, findings=findings)


def standing_in(report: Report, result: RunResult) -> SuiteStanding | None:
    """The standing of ``result`` among the findings of a report made ``with_standings``."""
    if not is_suite(result):
        return None
    from agentdyno.findings.standing.model import SuiteFindings

    if not isinstance(report.findings, SuiteFindings):
        return None
    return next((item for item in report.findings.standings if item.run_id == result.run_id), None)


def judged_pairs_of(report: Report) -> tuple[HeadToHead, ...]:
    """The pairs of a report on a run with three or more agents; none of any other.

    Only ``SuiteFindings`` has pairs, a class that most reports do without.
    """
    pairs: tuple[HeadToHead, ...] = getattr(report.findings, "pairs", ())
    return pairs


def agent_labels(standing: SuiteStanding) -> dict[str, str]:
    """The agents' names, with the version where two share a name."""
    names = Counter(agent.name for agent in standing.agents)
    return {
        agent.agent: one_line(agent.name if names[agent.name] == 1 else f"{agent.name}@{_version(agent.version)}")
        for agent in standing.agents
    }


def score_cell(estimate: ScoreEstimate | None) -> Cell:
    """A score in points of 100, with its interval aside: ``85`` and ``71–93``."""
    return _points_cell(None, None) if estimate is None else _points_cell(estimate.value, estimate.interval)


def _points_cell(value: float | None, interval: tuple[float, float] | None) -> Cell:
    if value is None:
        return Cell(NOTHING, Tone.MUTED)
    text, between = f"{100 * value:.0f}", _range(interval)
    return Cell(text, aside="" if between == f"{text}–{text}" else between, bar=value)


def points(estimate: ScoreEstimate | None) -> str:
    """``85 71–93``: a score in points of 100 with its interval."""
    return score_cell(estimate).whole


def points_of(value: float | None, interval: tuple[float, float] | None) -> str:
    """The same of a score and its interval in 0..1."""
    return _points_cell(value, interval).whole


def of_cases(scored: int, cases: int) -> str:
    """What an accuracy is of: ``of 30``, or ``scored 20 of 30`` where the others have no score."""
    return f"of {cases:,}" if scored >= cases else f"scored {scored:,} of {cases:,}"


def _range(interval: tuple[float, float] | None) -> str:
    """``71–93``: in points of 100, or nothing."""
    return "" if interval is None else f"{100 * interval[0]:.0f}–{100 * interval[1]:.0f}"


def _version(version: str) -> str:
    return version[:_HASH] if len(version) > _HASH + 2 else version
