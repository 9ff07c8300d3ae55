"""One agent in one suite, from the store to its row: both sides read, judged, and put into words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentdyno.analysis.changes import (
    SPARK_POINTS,
    Judged,
    frequent_errors,
    judge_change,
    p95_seconds,
    since_version,
    spark_of,
)
from agentdyno.analysis.history import history
from agentdyno.analysis.series import points_from, series_metric
from agentdyno.errors import NotComparable
from agentdyno.model.changes import BETTER, INCONCLUSIVE, NO_BASELINE, SAME, WORSE, ChangeRow
from agentdyno.model.history import History
from agentdyno.model.record import AgentRecord
from agentdyno.model.regression import Severity
from agentdyno.store import Store
from agentdyno.store.rows import BaselineRow, SeriesRow
from agentdyno.workbench.change_sides import RealRecords, Sides, baseline_runs, choose_sides, version_before

MOST_ROWS = 600
"""Executions of an agent in a suite that are read for its row."""
_RUNS = 2 * SPARK_POINTS
_SHOWN = ("accuracy", "overall", "pass_rate", "duration_s")
"""What a history is drawn of where the metric that changed has none."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An agent, whatever its version, in a suite, whatever its version; ``versions`` that succeeded, newest first."""

    name: str
    suite_id: str
    suite_name: str
    benchmarks: int
    versions: tuple[str, ...] = ()


class Look:
    """One look at the store: makes rows of pairs, reading every run once."""

    def __init__(self, store: Store, baselines: Sequence[BaselineRow]) -> None:
        self._store = store
        self._chosen = {(row.agent, row.suite_id): row for row in baselines}
        self.records = RealRecords(store, baseline_runs(baselines))

    def series(self, pair: Pair) -> list[SeriesRow]:
        limit = min(MOST_ROWS, _RUNS * max(1, pair.benchmarks))
        return self._store.series(pair.name, suite=pair.suite_id, limit=limit)

    def sides(self, pair: Pair, series: Sequence[SeriesRow]) -> Sides:
        found = choose_sides(pair.name, series, self._chosen.get((pair.name, pair.suite_id)))
        # What was run less recently than the rows at hand reach back is known by its version alone.
        before = version_before(found.version, pair.versions)
        if found.baseline or not before:
            return found
        if not found.totals:
            known = self._store.agent_executions(pair.name, None, pair.suite_id)
            usable = (row for row in known if row.run_id and row.status == "success" and not row.simulated)
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
            summary=f"{sides.agent} has no earlier version to be held against.",
            finished_at=series[-1].at,
            run_id=next((row.run_id for row in reversed(series) if row.version == sides.version), ""),
            spark=_spark(pair, series),
            command=_command("history", pair.name, "--metric", "accuracy", "--suite", pair.suite_id),
        )
        if sides.silent:
            return _silent(plain)
        if not sides.baseline:
            return plain
        if sides.baseline == sides.agent:
            return replace(plain, verdict=SAME, summary=f"{sides.agent} is the baseline itself.")
        if sides.totals:
            told = f"Only totals of {sides.agent} are stored: nothing can be compared case by case."
            return replace(plain, verdict=INCONCLUSIVE, summary=told)
        try:
            before, after = self.records.together((sides.baseline, sides.agent), pair.suite_id)
            judged = judge_change(before, after)
        except NotComparable as error:
            return replace(plain, verdict=INCONCLUSIVE, summary=f"{error.message}.")
        plain = replace(plain, command=_compare_command(sides, (before, after), series))
        return self._judged(plain, judged, (before, after), series)

    def _judged(
        self, plain: ChangeRow, judged: Judged, records: tuple[AgentRecord, AgentRecord], series: Sequence[SeriesRow]
    ) -> ChangeRow:
        before, after = records
        shown = _history(plain.name, plain.suite_id, series, judged.metric)
        decided = judged.verdict in (WORSE, BETTER)
        first, second = (p95_seconds(self.records.figures_of(record), judged.keys) for record in records)
        return replace(
            plain,
            verdict=judged.verdict,
            summary=judged.summary,
            finished_at=after.finished_at,
            run_id=after.run_ids[0],
            baseline_run_id=before.run_ids[0],
            since=since_version(shown, judged.verdict, before, after.version) if decided else "",
            accuracy=judged.rows[0],
            latency=judged.rows[1],
            cost=judged.rows[2],
            latency_p95=(first, second),
            broken=judged.broken,
            fixed=judged.fixed,
            more_cases=judged.more_cases,
            spark=spark_of(shown) if shown.points else plain.spark,
            errors=frequent_errors(after),
            severity=judged.severity,
            error_rate=judged.error_rate,
        )


def _silent(plain: ChangeRow) -> ChangeRow:
    """A version of which no execution gave a usable answer: nothing can be worse, where there was one before."""
    if not plain.baseline or plain.baseline == plain.agent:
        return replace(plain, summary=f"{plain.agent} gave no usable answer.")
    told = f"Worse than {plain.baseline}: {plain.agent} gave no usable answer."
    return replace(plain, verdict=WORSE, severity=Severity.CRITICAL, summary=told, since=plain.version)


def _spark(pair: Pair, series: Sequence[SeriesRow]) -> History | None:
    """Of the first metric that has a history; ``None`` where none has."""
    for metric in _SHOWN:
        found = _history(pair.name, pair.suite_id, series, metric)
        if found.points:
            return spark_of(found)
    return None


def _history(name: str, suite_id: str, series: Sequence[SeriesRow], metric: str) -> History:
    kind = series_metric(metric)
    return history(
        name,
        metric,
        points_from(series, metric),
        unit=kind.unit,
        higher_is_better=kind.higher_is_better,
        suite=suite_id,
    )


def _compare_command(sides: Sides, records: tuple[AgentRecord, AgentRecord], series: Sequence[SeriesRow]) -> str:
    """What prints the same; the runs where the baseline was set to one that is not the newest of its version."""
    newest = next((row.run_id for row in reversed(series) if row.version == sides.baseline_version), "")
    runs = [record.run_ids for record in records]
    if sides.run_id not in ("", newest) and all(len(own) == 1 for own in runs):
        return _command("compare", *(own[0][:13] for own in runs))
    return _command("compare", sides.baseline, sides.agent, "--suite", records[1].suite_id)


def _command(*words: str) -> str:
    return shlex.join(["dyno", *words])
