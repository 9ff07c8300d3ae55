"""The Python API of conclusions: each function answers one question about a store, and changes nothing.

``store`` is an open ``Store``, a URL or a path (default: the project's). ``workspace`` says whose baselines count.
Two agents are compared by the ``gate:`` of the dyno.yaml here or above, where there is one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentdyno.findings.board.ask import WINDOW_DAYS, Boards
from agentdyno.findings.board.model import Coverage, Leaderboard, Matrix
from agentdyno.findings.cost.judge import cost_report
from agentdyno.findings.cost.model import CostReport
from agentdyno.findings.duel.ask import compare_agents as compared
from agentdyno.findings.duel.model import AllAgainstAll, Duel
from agentdyno.findings.history.ask import Histories
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import RegressionReport
from agentdyno.findings.profile.ask import ProfileQuestion, Profiles
from agentdyno.findings.profile.model import ProfileReport
from agentdyno.findings.record.ask import Records
from agentdyno.findings.reliability.judge import reliabilities
from agentdyno.findings.reliability.model import Reliability
from agentdyno.importers.inflated import ImportLimits
from agentdyno.settings.result import ROWS
from agentdyno.specs import load_workspace
from agentdyno.store import Store
from agentdyno.workbench.importing import Imported, import_files
from agentdyno.workbench.location import project_store

Where = Store | str | os.PathLike[str] | None


def leaderboard(
    *,
    category: str = "overall",
    metric: str = "all",
    days: int = WINDOW_DAYS,
    limit: int | None = ROWS,
    suite: str | None = None,
    weights: Mapping[str, float] | None = None,
    include_partial: bool = False,
    store: Where = None,
) -> Leaderboard:
    """Agents by what they achieved in the last ``days`` days in a suite: the last that was run, unless it is named.

    ``suite="all"`` compares the agents that share suites over these. Runs that were quick, limited or cut short count
    only with ``include_partial``.
    """
    with _opened(store) as opened:
        boards = Boards(opened, weights or {})
        return boards.leaderboard(
            category=category,
            metric=metric,
            days=days,
            limit=limit,
            suite=boards.suite_digest(suite),
            partial=include_partial,
        )


def matrix(
    *,
    suite: str | None = None,
    category: str | None = None,
    weights: Mapping[str, float] | None = None,
    include_partial: bool = False,
    store: Where = None,
) -> Matrix:
    """Every agent × every dimension, from the last success in each benchmark; suites as in ``leaderboard``."""
    with _opened(store) as opened:
        boards = Boards(opened, weights or {})
        return boards.matrix(suite=boards.suite_digest(suite), category=category, partial=include_partial)


def coverage(*, days: int = WINDOW_DAYS, store: Where = None) -> Coverage:
    """Which agents were benchmarked within ``days`` days, and which were not."""
    with _opened(store) as opened:
        return Boards(opened).coverage(days=days)


def compare_agents(*agents: str, suite: str | None = None, store: Where = None) -> Duel | AllAgainstAll:
    """Two agents (``NAME`` or ``NAME@VERSION``) head to head, the first the baseline; or more, all against all.

    Agents of runs are named ``RUN:AGENT``: ``compare_agents("last:old", "last:new")``.
    """
    with _opened(store) as opened:
        found = compared(opened, agents, suite, load_workspace(Path.cwd()).gate)
    return found.duels[0] if found.duels else found.tournaments[0]


def history(
    subject: str,
    metric: str | None = None,
    *,
    suite: str | None = None,
    benchmark: str | None = None,
    days: int | None = None,
    store: Where = None,
) -> History:
    """How a metric of an agent, or of an experiment, went over time, with the changes that are more than noise."""
    with _opened(store) as opened:
        return Histories(opened).of(subject, metric, suite=suite, benchmark=benchmark, days=days)


def regressions(
    agent: str,
    *,
    baseline: str | None = None,
    threshold: Mapping[str, float] | float | None = None,
    suite: str | None = None,
    workspace: str = "default",
    store: Where = None,
) -> RegressionReport:
    """What became worse: against a baseline, over time, and in patterns of small signs.

    ``threshold`` is one number, or one by metric: ``{"": 0.1, "accuracy": 0.05}``; without it the
    project's, else 0.1.
    """
    here = load_workspace(Path.cwd())
    with _opened(store) as opened:
        asked = Histories(opened, workspace=workspace, policy=here.gate, thresholds=here.thresholds)
        return asked.regressions(agent, baseline=baseline, threshold=threshold, suite=suite)


def cost(*agents: str, suite: str | None = None, volume: int = 1000, store: Where = None) -> CostReport:
    """What these agents, or all of a suite, cost for what they achieve; savings are for ``volume`` tasks."""
    with _opened(store) as opened:
        return cost_report(Records(opened).chosen(agents, suite), volume=volume)


def reliability(*agents: str, suite: str | None = None, store: Where = None) -> tuple[Reliability, ...]:
    """How far these agents, or all of a suite, can be relied on."""
    with _opened(store) as opened:
        return tuple(reliabilities(Records(opened).chosen(agents, suite)))


def profile(
    subject: str = "last",
    *,
    case: str | None = None,
    agent: str | None = None,
    against: str | None = None,
    store: Where = None,
) -> ProfileReport:
    """Where the time and the tokens of a run (``last``, an id) or of an agent's newest run went.

    One profile per agent, of one ``case`` span by span; with ``against``, each beside its baseline.
    """
    with _opened(store) as opened:
        return Profiles(opened).report(ProfileQuestion(subject, agent, case, against=against))


def import_results(
    *files: str | os.PathLike[str], format_name: str | None = None, any_size: bool = False, store: Where = None
) -> list[Imported]:
    """Takes files of other tools into the store, all of them or none; ``any_size``: however large they are."""
    limits = None if any_size else ImportLimits()
    with _opened(store, must_exist=False) as opened:
        return import_files(opened, [Path(file) for file in files], format_name=format_name, limits=limits)


@contextmanager
def _opened(store: Where, *, must_exist: bool = True) -> Iterator[Store]:
    if isinstance(store, Store):
        yield store
        return
    url = project_store(Path.cwd(), os.environ) if store is None else os.fspath(store)
    with Store.open(url, must_exist=must_exist) as opened:
        yield opened
