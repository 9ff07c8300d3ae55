"""One agent in one suite, from the store to its row: both sides read, judged, and put into words."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agentdyno.errors import NotComparable
from agentdyno.findings.change.ask_sides import ChangeSides, RealRecords, baseline_runs, choose_sides, version_before
from agentdyno.findings.change.judge import (
    SPARK_POINTS,
    Judged,
    beside_history,
    choose_spark,
    frequent_errors,
    history_finding,
    judge_change,
    judged_by_history,
    p95_seconds,
    since_version,
)
from agentdyno.findings.change.model import BETTER, CASES, INCONCLUSIVE, NO_BASELINE, SAME, WORSE, ChangeRow
from agentdyno.findings.history.ask import POINTS
from agentdyno.findings.history.judge import metric_history
from agentdyno.findings.history.judge_series import points_from
from agentdyno.findings.history.judge_thresholds import known_thresholds
from agentdyno.findings.history.judge_watched import OverTime, over_time
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Regression, Severity
from agentdyno.findings.record.ask import Result
from agentdyno.findings.record.ask_spread import RecordSpreads
from agentdyno.model.form import WHOLE, RunWarning
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.store import Store
from agentdyno.store.answers import Answers
from agentdyno.store.rows import BaselineRow, SeriesRow

MOST_ROWS = 600
"""Executions of an agent in a suite that are read for its row."""
MOST_KEPT = 1_000
"""Comparisons that are kept."""
_RUNS = 2 * SPARK_POINTS


@dataclass(frozen=True, slots=True)
class Pair:
    """An agent, whatever its version, in a suite, whatever its version; ``versions`` that succeeded, newest first.

    ``name`` is its label, which changes when others of its name come; ``key`` stays.
    """

    name: str
    suite_id: str
    suite_name: str
    benchmarks: int
    versions: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True, slots=True)
class ComparedVersions:
    """Two versions that were compared; ``before`` and ``after`` are without their cases, ``p95`` is in seconds."""

    judged: Judged
    before: AgentRecord
    after: AgentRecord
    p95: tuple[float | None, float | None]


Checked: TypeAlias = tuple[list[Regression], list[Regression], list[RunWarning], tuple[str, str]]
"""What became worse, what better, remarks, and the labels of both versions."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A version that was held against its baseline for alerts; ``runs`` are those of both, the newest first."""

    checked: Checked
    runs: tuple[str, str]


class ChangeMemo:
    """What rows and alerts rest on. When an agent has run again, only what rests on that run is made anew."""

    def __init__(self) -> None:
        self.compared: Answers[ComparedVersions] = Answers(MOST_KEPT)
        self.watched: Answers[Watched] = Answers(MOST_KEPT)
        self.seen: Answers[Regression | None] = Answers(MOST_KEPT)


def finished(results: Sequence[Result]) -> Hashable:
    """The stamp of an answer that rests on ``results``; ``None`` where one of their runs is open, or there is none.

    A run that is finished says the same tomorrow. One that is resumed or judged anew is finished anew, so that it is
    another result.
    """
    if not results or any(at is None for _, _, at in results):
        return None
    return tuple(results)


class ChangeReader:
    """One look at the store: makes rows of pairs, reading every run once."""

    def __init__(self, store: Store, baselines: Sequence[BaselineRow], memo: ChangeMemo, policy: GatePolicy) -> None:
        self._store = store
        self.policy = policy
        self.memo = memo
        self._chosen = {(row.agent, row.suite_id): row for row in baselines}
        self._over_time: dict[tuple[str, str], OverTime] = {}
        self.spreads = RecordSpreads(store)
        self.records = RealRecords(store, baseline_runs(baselines))

    def series(self, pair: Pair) -> list[SeriesRow]:
        return self._store.boards.series(pair.name, suite=pair.suite_id, limit=most_rows(pair))

    def sides(self, pair: Pair, series: Sequence[SeriesRow]) -> ChangeSides:
        found = choose_sides(pair.name, series, self._chosen.get((pair.name, pair.suite_id)))
        # What was run less recently than the rows at hand reach back is known by its version alone.
        before = version_before(found.version, pair.versions)
        if found.baseline or not before:
            return found
        if not found.totals:
            known = self._store.boards.agent_executions(pair.name, None, pair.suite_id)
            usable = (
                row
                for row in known
                if row.run_id and row.status == "success" and not row.simulated and row.form in WHOLE
            )
            before = version_before(found.version, (row.version for row in usable))
        return replace(found, baseline_version=before)

    def row(self, pair: Pair, series: Sequence[SeriesRow]) -> ChangeRow:
        sides = self.sides(pair, series)
        plain = ChangeRow(
            agent=sides.agent,
            name=pair.name,
            version=sides.version,
            suite_id=pair.suite_id,
            suite_name=pair.suite_name,
            baseline=sides.baseline,
            verdict=NO_BASELINE,
            summary=_alone(pair, sides),
            finished_at=series[-1].at,
            run_id=next((row.run_id for row in reversed(series) if row.version == sides.version), ""),
            command=_command("history", pair.name, "--metric", "accuracy", "--suite", pair.suite_id),
        )
        histories = _AgentHistories(plain, series)
        if sides.silent:
            plain = _silent(plain)
            if plain.verdict == WORSE:
                return replace(plain, spark=choose_spark("accuracy", histories.of))
        if sides.silent or not sides.baseline:
            return self._by_history(pair, plain, series)
        if sides.baseline == sides.agent:
            told = replace(plain, verdict=SAME, summary=f"{sides.agent} is the baseline itself.")
            own = [row.at for row in series if row.run_id == sides.run_id != ""]
            # The level since that run; where it is not known which one it was, the newest is the baseline.
            return self._by_history(pair, told, series, after=max(own, default=series[-1].at))
        if sides.totals:
            text = f"Only totals of {sides.agent} are stored: nothing can be compared case by case."
            return self._by_history(pair, replace(plain, verdict=INCONCLUSIVE, summary=text), series)
        try:
            found = self._compared((sides.baseline, sides.agent), pair.suite_id)
        except NotComparable as error:
            return self._by_history(pair, replace(plain, verdict=INCONCLUSIVE, summary=f"{error.message}."), series)
        plain = replace(plain, command=_compare_command(sides, (found.before, found.after), series))
        return self._beside_history(pair, _judged(plain, found, histories), series)

    def _compared(self, agents: tuple[str, str], suite_id: str) -> ComparedVersions:
        def make() -> ComparedVersions:
            before, after = self.records.together(agents, suite_id)
            judged = judge_change(before, after, self.spreads(before, after), self.policy)
            first, second = (p95_seconds(self.records.figures_of(record), judged.keys) for record in (before, after))
            return ComparedVersions(judged, replace(before, cases=()), replace(after, cases=()), (first, second))

        stamp = finished(self.records.results_together(agents, suite_id))
        return self.memo.compared.get(stamp, (agents, suite_id, self.policy.rules), make)

    def _by_history(
        self, pair: Pair, plain: ChangeRow, series: Sequence[SeriesRow], after: int | None = None
    ) -> ChangeRow:
        """What the report on regressions finds in the same executions, those after ``after`` (UTC milliseconds)."""
        rows = self._whole(pair, series)
        finding = history_finding(self._judged_over_time(pair, plain.agent, rows), after=after)
        histories = _AgentHistories(plain, rows)
        if finding is None:
            return replace(plain, spark=choose_spark("accuracy", histories.of))
        return replace(
            judged_by_history(plain, finding),
            spark=choose_spark(finding.metric, histories.of),
            command=_regressions_command(plain),
        )

    def _beside_history(self, pair: Pair, row: ChangeRow, series: Sequence[SeriesRow]) -> ChangeRow:
        """A row that two versions do not make worse while the agent's history did become worse says so: there is an
        alert of it."""
        if row.verdict == WORSE:
            return row
        question = pair.name, pair.suite_id
        finding = self.memo.seen.get(
            hash(tuple(series)), question, lambda: history_finding(self.over_time(pair, row.agent, series))
        )
        if finding is None or finding.improvement:
            return row
        return beside_history(row, finding, _regressions_command(row))

    def over_time(self, pair: Pair, agent: str, series: Sequence[SeriesRow]) -> OverTime:
        """What the history of the pair says, for its row and for its alerts; ``agent`` is its newest version."""
        found = self._over_time.get((pair.name, pair.suite_id))
        return found or self._judged_over_time(pair, agent, self._whole(pair, series))

    def _judged_over_time(self, pair: Pair, agent: str, rows: Sequence[SeriesRow]) -> OverTime:
        """By the thresholds of the suite. Kept are the findings alone: a history has thousands of points."""
        suite = self.records.suite_of(agent, pair.suite_id)
        threshold = known_thresholds({} if suite is None else suite.thresholds)
        found = replace(over_time(pair.name, rows, threshold), suite=pair.suite_id)
        self._over_time[pair.name, pair.suite_id] = found
        return found

    def _whole(self, pair: Pair, series: Sequence[SeriesRow]) -> Sequence[SeriesRow]:
        """The executions that the report on regressions looks back at: more than a row needs, if there are."""
        if len(series) < most_rows(pair):
            return series
        return self._store.boards.series(pair.name, suite=pair.suite_id, limit=POINTS)


class _AgentHistories:
    """The histories of one agent in one suite, each made once."""

    def __init__(self, row: ChangeRow, series: Sequence[SeriesRow]) -> None:
        self._where = row.name, row.suite_id
        self._series = series
        self._made: dict[str, History] = {}

    def of(self, metric: str) -> History:
        if metric not in self._made:
            name, suite_id = self._where
            self._made[metric] = metric_history(name, metric, points_from(self._series, metric), suite=suite_id)
        return self._made[metric]


def _judged(plain: ChangeRow, found: ComparedVersions, histories: _AgentHistories) -> ChangeRow:
    judged, before, after = found.judged, found.before, found.after
    since = ""
    if judged.verdict in (WORSE, BETTER):
        since = since_version(histories.of(judged.metric), judged.verdict, before, after.version)
    return replace(
        plain,
        verdict=judged.verdict,
        summary=judged.summary,
        finished_at=after.finished_at,
        run_id=after.run_ids[0],
        baseline_run_id=before.run_ids[0],
        since=since,
        accuracy=judged.rows[0],
        latency=judged.rows[1],
        cost=judged.rows[2],
        latency_p95=found.p95,
        broken=judged.broken,
        fixed=judged.fixed,
        steady_broken=judged.steady_broken,
        more_cases=judged.more_cases,
        spark=choose_spark(judged.metric, histories.of),
        errors=frequent_errors(after),
        severity=judged.severity,
        error_rate=judged.error_rate,
        reliability=judged.reliability,
        evidence=CASES,
    )


def most_rows(pair: Pair) -> int:
    """Executions that are read for a row at most."""
    return min(MOST_ROWS, _RUNS * max(1, pair.benchmarks))


def _alone(pair: Pair, sides: ChangeSides) -> str:
    """Why nothing is set against it."""
    if version_before(sides.version, pair.versions):
        return f"Of the versions before {sides.agent} only totals are stored."
    return f"{sides.agent} has no earlier version to be held against."


def _silent(plain: ChangeRow) -> ChangeRow:
    """A version of which no execution gave a usable answer: nothing can be worse, where there was one before."""
    if not plain.baseline or plain.baseline == plain.agent:
        return replace(plain, summary=f"{plain.agent} gave no usable answer.")
    told = f"Worse than {plain.baseline}: {plain.agent} gave no usable answer."
    return replace(plain, verdict=WORSE, severity=Severity.CRITICAL, summary=told, since=plain.version)


def _compare_command(
    sides: ChangeSides, records: tuple[AgentRecord, AgentRecord], series: Sequence[SeriesRow]
) -> str:
    """What prints the same; the runs where the baseline was set to one that is not the newest of its version."""
    newest = next((row.run_id for row in reversed(series) if row.version == sides.baseline_version), "")
    runs = [record.run_ids for record in records]
    if sides.run_id not in ("", newest) and all(len(own) == 1 for own in runs):
        return _command("compare", *(own[0][:13] for own in runs))
    return _command("compare", sides.baseline, sides.agent, "--suite", records[1].suite_id)


def _regressions_command(row: ChangeRow) -> str:
    return _command("history", row.name, "--regressions", "--suite", row.suite_id)


def _command(*words: str) -> str:
    return shlex.join(["dyno", *words])
