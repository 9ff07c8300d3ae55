"""How an agent, or a benchmark of code, went over time, and what became worse."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING

from agentdyno.errors import NotComparable, SpecError, StoreError, nearest
from agentdyno.findings.engine.severity import ANY_METRIC
from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.history.judge import history, metric_history
from agentdyno.findings.history.judge_health import regression_report
from agentdyno.findings.history.judge_series import DAY_MS, points_from
from agentdyno.findings.history.judge_thresholds import known_thresholds
from agentdyno.findings.history.judge_watched import OverTime, judge_series, of_unknown_form, over_time
from agentdyno.findings.history.model import NO_CHANGE, History, HistoryPoint
from agentdyno.findings.history.model_regression import Regression, RegressionReport
from agentdyno.findings.record.ask import Records, like_with_like
from agentdyno.findings.record.ask_labels import is_agent
from agentdyno.model import Direction, RunWarning, known_metric
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.settings.judging import INCLUDE_PARTIAL
from agentdyno.store import Store
from agentdyno.store.rows import AgentExecutionRow, ArmSeriesRow, SeriesRow

if TYPE_CHECKING:
    from agentdyno.findings.record.ask_spread import RecordSpreads
    from agentdyno.model.record import AgentRecord

POINTS = 1_000
"""Executions that a history looks back at."""
THRESHOLD = 0.10
_OF_AGENTS = ("suite", "benchmark", "baseline")
_TOLD_BY_OTHERS = ("throughput_per_s",)
"""Of an experiment what is its time seen from the other side."""


@dataclass(frozen=True, slots=True)
class _Within:
    """Which executions a history is made of; ``None`` leaves a bound open."""

    suite: str | None
    benchmark: str | None
    days: int | None


class Histories:
    """Asks one store; with ``partial`` also about runs that were quick, limited or cut short.

    ``policy`` is the project's: versions are compared by its families. ``thresholds`` are, too: they say from which
    change on a metric counts where neither a question nor the suite does.
    """

    def __init__(
        self,
        store: Store,
        *,
        workspace: str = "default",
        now_ms: int | None = None,
        partial: bool = False,
        policy: GatePolicy = DEFAULT_POLICY,
        thresholds: Mapping[str, float] | None = None,
    ) -> None:
        self._store = store
        self._thresholds = thresholds
        self._policy = policy
        self._partial = partial
        self._records = Records(store, whole=not partial)
        self._workspace = workspace
        self._now_ms = now_ms

    def of(
        self,
        subject: str,
        metric: str | None = None,
        *,
        suite: str | None = None,
        benchmark: str | None = None,
        days: int | None = None,
        baseline: str | None = None,
    ) -> History:
        """The series of one metric of an agent, or of an experiment (``NAME``, or the name of one of its arms).

        The level of the ``baseline`` version of the agent is drawn beside it.
        """
        rows = self._store.boards.agents()
        known = {row.name for row in rows}
        if is_agent(rows, subject):
            return self._of_agent(subject, metric or "overall", _Within(suite, benchmark, days), baseline)
        _require_no_agent(subject, (suite, benchmark, baseline), known)
        return _experiment_history(metric or "duration_s", self._arm_rows(subject, days))

    def regressions(
        self,
        agent: str,
        *,
        baseline: str | None = None,
        threshold: Mapping[str, float] | float | None = None,
        suite: str | None = None,
        days: int | None = None,
    ) -> RegressionReport:
        """The newest version against the baseline, and every watched metric over time; of an experiment, the latter.

        ``threshold`` is one number, or one by metric (``ANY_METRIC`` for the others); without it ``thresholds_of``.
        """
        known = self._store.boards.agents()
        if not is_agent(known, agent) and (self._arms_called(agent) or (not known and self._experiments())):
            _require_no_agent(agent, (suite, None, baseline), self._agents())
            return self._of_code(self._arm_rows(agent, days), known_thresholds(threshold, self._thresholds))
        threshold = known_thresholds(threshold, self.thresholds_of(agent, suite) if threshold is None else None)
        name, version = self._records.agent_named(agent)
        watched = self._over_time(name, suite, days, threshold)
        found, better, warnings, labels = self._by_version((name, version), baseline, threshold, suite)
        return regression_report(
            name,
            *labels,
            [*found, *watched.worse],
            [*better, *watched.better],
            suite=watched.suite,
            warnings=[*warnings, *watched.warnings],
            judged=bool(labels[0]) or watched.judged,
        )

    def _over_time(self, name: str, suite: str | None, days: int | None, threshold: Mapping[str, float]) -> OverTime:
        rows = self._series(name, suite, None, days)
        return replace(over_time(name, rows, threshold), suite=self._suite_name(rows))

    def _of_code(self, rows: Sequence[ArmSeriesRow], threshold: Mapping[str, float]) -> RegressionReport:
        """What became worse in the runs of one arm: every metric that has a direction, over time."""
        named = [name for name in rows[-1].metrics if name not in _TOLD_BY_OTHERS]
        series = [item for name in named if (item := _experiment_history(name, rows)).higher_is_better is not None]
        found = judge_series(series, threshold)
        return regression_report(
            rows[-1].name, "", "", found.worse, found.better, warnings=found.warnings, judged=found.judged
        )

    def thresholds_of(self, agent: str, suite: str | None = None) -> dict[str, float]:
        """What files declare: the suite as the agent's newest run of it had it, else the project."""
        found = self._records.suite_of(agent, suite)
        declared = {} if found is None else found.thresholds
        return {**({} if ANY_METRIC in declared else self._thresholds or {}), **declared}

    def _by_version(
        self, agent: tuple[str, str | None], baseline: str | None, threshold: Mapping[str, float], suite: str | None
    ) -> tuple[list[Regression], list[Regression], list[RunWarning], tuple[str, str]]:
        """The detector that sets the newest version against the baseline, where both have cases here."""
        from agentdyno.findings.history.judge_held import (
            judge_versions,  # a series alone does without all that judges
        )

        name, version = agent
        try:
            current = self._records.newest(f"{name}@{version}" if version else name, suite)
            before = self._baseline_of(current, baseline)
            if before is None:
                remedy = "`dyno baseline set AGENT@VERSION` chooses one."
                note = RunWarning("no-baseline", f"{current.agent} has no earlier version to be held against", remedy)
                return [], [], [note], ("", current.agent)
            if before.agent == current.agent:
                note = RunWarning("is-baseline", f"{current.agent} is the newest version and the baseline itself")
                return [], [], [note], ("", current.agent)
            found = judge_versions(before, current, self._spreads(before, current), self._policy, threshold)
        except NotComparable as error:
            if baseline is not None:
                raise
            return [], [], [RunWarning("no-version-check", error.message, error.remedy or "")], ("", "")
        return found.worse, found.better, found.cautions, (before.agent, current.agent)

    @cached_property
    def _spreads(self) -> RecordSpreads:
        from agentdyno.findings.record.ask_spread import RecordSpreads

        return RecordSpreads(self._store)

    def _baseline_of(self, current: AgentRecord, baseline: str | None) -> AgentRecord | None:
        """The version that was asked for, else the one that was set, else the version before this one."""
        if baseline is not None:
            asked = baseline if "@" in baseline else f"{current.name}@{baseline}"
            return self._records.newest(asked, current.suite_id)
        from agentdyno.findings.baseline.ask import find_baseline

        chosen = find_baseline(self._store, current.name, current.suite_id, self._workspace)
        if chosen is not None:
            return chosen
        known = self._store.boards.agent_executions(current.name, None, current.suite_id)
        older = [
            row
            for row in like_with_like(known, whole=not self._partial)
            if row.run_id and row.status == "success" and _is_before(row, current)
        ]
        if not older:
            return None
        return self._records.newest(f"{current.name}@{older[0].version}", current.suite_id)

    def _of_agent(self, agent: str, metric: str, within: _Within, baseline: str | None) -> History:
        name, version = self._records.agent_named(agent)
        rows = self._series(name, within.suite, within.benchmark, within.days)
        points = points_from(rows, metric, benchmark=within.benchmark or "")
        level = None
        if baseline is not None:
            wanted = self._records.agent_named(baseline if "@" in baseline else f"{name}@{baseline}")[1]
            values = [point.value for point in points if point.version == wanted]
            if not values:
                known = sorted({point.version for point in points})
                raise StoreError(f"{name} has no {metric} at version {wanted}", remedy=nearest(str(wanted), known))
            level = median(values)
        if version is not None:
            points = [point for point in points if point.version == version]
        suite, benchmark = self._suite_name(rows), within.benchmark or ""
        found = metric_history(name, metric, points, suite=suite, benchmark=benchmark, baseline=level)
        unknown = [f"{warning.message}." for warning in of_unknown_form(rows)]
        said = unknown if points else [self._left_out(name, within)]
        note = found.note or (NO_CHANGE if unknown and found.is_steady else "")
        return replace(found, note=" ".join(filter(None, [note, *said])))

    def _left_out(self, name: str, within: _Within) -> str:
        """That there are runs which only ``--include-partial`` shows; "" where there are none."""
        if self._partial:
            return ""
        asked, since = self._records.suite_named(within.suite), self._since(within.days)
        boards = self._store.boards
        rows = boards.series(name, suite=asked, benchmark=within.benchmark, since=since, limit=POINTS, partial=True)
        runs = len({row.run_id or str(row.at) for row in rows})
        if not runs:
            return ""
        said = "1 run that was" if runs == 1 else f"{runs} runs that were"
        return f"Not counted: {said} quick, limited or cut short; {INCLUDE_PARTIAL.option}."

    def _series(self, name: str, suite: str | None, benchmark: str | None, days: int | None) -> list[SeriesRow]:
        """Rows of one suite: of the one that was asked for, else of the one that was run last."""
        asked = self._records.suite_named(suite)
        rows = self._store.boards.series(
            name, suite=asked, benchmark=benchmark, since=self._since(days), limit=POINTS, partial=self._partial
        )
        if not rows and benchmark is not None:
            ran = self._store.boards.series(name, suite=asked, limit=POINTS, partial=True)
            known = {row.benchmark for row in ran}
            if benchmark not in known:
                raise SpecError(f"{name} has run no benchmark {benchmark!r}", remedy=nearest(benchmark, known))
        if not rows or suite is not None:
            return rows
        ids = self._suite_ids()
        newest = ids.get(rows[-1].suite, rows[-1].suite)
        return [row for row in rows if ids.get(row.suite, row.suite) == newest]

    def _arms_called(self, subject: str) -> list[ArmSeriesRow]:
        """The arms of an experiment, or the one of that name; none where there is no such thing here.

        After ``:`` a part of an arm's name is enough, as in ``dyno compare``.
        """
        find = self._store.boards.arm_series
        rows = find(experiment=subject, limit=POINTS) or find(arm_name=subject, limit=POINTS)
        if not rows and ":" in subject:  # an arm that has the name of its experiment is one of several
            experiment, _, arm = subject.partition(":")
            names = {row.name for row in find(experiment=experiment, limit=POINTS)}
            meant = {arm} & names or {name for name in names if set(arm.split()) <= set(name.split())}
            rows = [row for name in sorted(meant) for row in find(experiment=experiment, arm_name=name, limit=POINTS)]
        return rows

    def _arm_rows(self, subject: str, days: int | None) -> list[ArmSeriesRow]:
        """The runs of one arm, oldest first; an error where there are none, or several arms are called so."""
        since = self._since(days)
        rows = [
            row for row in self._arms_called(subject) if row.side != "baseline" and (since is None or row.at >= since)
        ]
        if not rows:
            raise StoreError(
                f"neither an agent nor an experiment {subject!r} has a result here",
                remedy=nearest(subject, [*self._agents(), *self._experiments()]),
            )
        names = list(dict.fromkeys(row.name for row in rows))
        if len(names) > 1:
            callable_by = [f"{subject}:{name}" if name == subject else name for name in names]
            listed = "; ".join(callable_by[:8]) + ("; …" if len(names) > 8 else "")
            raise SpecError(f"{subject} has {len(names)} arms", where="history", remedy=f"Name one: {listed}")
        return rows

    def _agents(self) -> set[str]:
        return {row.name for row in self._store.boards.agents()}

    def _experiments(self) -> list[str]:
        return sorted({row.experiment for row in self._store.boards.arm_series(None, None, limit=POINTS)})

    def _suite_ids(self) -> dict[str, str]:
        return {row.digest: row.suite_id for row in self._store.boards.suites()}

    def _suite_name(self, rows: Sequence[SeriesRow]) -> str:
        return self._suite_ids().get(rows[-1].suite, "") if rows else ""

    def _since(self, days: int | None) -> int | None:
        if days is None:
            return None
        now = time.time_ns() // 1_000_000 if self._now_ms is None else self._now_ms
        return now - days * DAY_MS


def _is_before(row: AgentExecutionRow, current: AgentRecord) -> bool:
    """Whether a row is of an earlier version: by number, and where one has none by when it was run."""
    mine, other = version_number(current.version), version_number(row.version)
    if mine is not None and other is not None:
        return other < mine
    return row.version != current.version and row.created_at <= current.finished_at


def _require_no_agent(subject: str, given: Sequence[str | None], known: Collection[str]) -> None:
    """Raises where something was ``given`` of ``_OF_AGENTS``, which an experiment has not."""
    names = [name for name, value in zip(_OF_AGENTS, given, strict=True) if value]
    if names:
        raise SpecError(
            f"no agent {subject!r} has been benchmarked here, and {' and '.join(names)} goes with agents",
            where="history",
            remedy=nearest(subject, known),
        )


def _experiment_history(metric: str, rows: Sequence[ArmSeriesRow]) -> History:
    name = rows[-1].name
    known = [row for row in rows if metric in row.metrics]
    if not known:
        names = sorted({found for row in rows for found in row.metrics})
        raise SpecError(f"{name} has no metric {metric!r}", where="--metric", remedy=nearest(metric, names))
    points = [
        HistoryPoint(
            row.at,
            row.metrics[metric].median,
            version=row.commit[:12],
            run_id=row.run_id,
            n=row.metrics[metric].n,
            machine_id=row.machine_id,
            commit=row.commit,
            low=row.metrics[metric].low,
            high=row.metrics[metric].high,
        )
        for row in known
    ]
    declared = known[-1].metrics[metric]
    direction = declared.direction if declared.direction is not Direction.UNKNOWN else known_metric(metric).direction
    better = None if direction is Direction.UNKNOWN else direction is Direction.HIGHER
    return history(name, metric, points, unit=declared.unit, higher_is_better=better)
