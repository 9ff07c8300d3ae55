"""What changed against its baseline, and what somebody should look at: the first thing to ask in the morning."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from agentdyno.errors import NotComparable
from agentdyno.findings.change.ask_rows import ChangeMemo, ChangeReader, Checked, Pair, Watched, finished, most_rows
from agentdyno.findings.change.ask_sides import RealRecords
from agentdyno.findings.change.judge import alert_id, alerts_in_order, count_verdicts, in_order
from agentdyno.findings.change.model import Alert, Changes
from agentdyno.findings.change.words import quiet_text
from agentdyno.findings.history.ask import Histories
from agentdyno.findings.history.judge_watched import OverTime
from agentdyno.findings.history.model_regression import Detector, Regression
from agentdyno.findings.record.ask import Result
from agentdyno.model.naming import GIVEN
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.store import Store
from agentdyno.store.answers import Answers
from agentdyno.store.rows import BaselineRow, SeriesRow

DAY_MS = 86_400_000
DAYS = 90
"""Whoever was not benchmarked for so long is not on the list."""
Answer: TypeAlias = "Changes | tuple[Alert, ...]"


class Changing:
    """Asks one store; an answer that was made since the last change of an execution or a baseline is not made again.

    Give several of these the same ``cache`` to share the answers, and the same ``memo`` to compare anew only what has
    run again. ``now_ms`` is the clock unless given. ``policy`` is the project's: its families correct.
    """

    def __init__(
        self,
        store: Store,
        *,
        workspace: str = "default",
        now_ms: int | None = None,
        cache: Answers[Answer] | None = None,
        memo: ChangeMemo | None = None,
        policy: GatePolicy = DEFAULT_POLICY,
    ) -> None:
        self._policy = policy
        self._store = store
        self._workspace = workspace
        self._now_ms = now_ms
        self._cache: Answers[Answer] = Answers() if cache is None else cache
        self._memo = ChangeMemo() if memo is None else memo
        self._looks: dict[object, ChangeReader] = {}

    def changes(self) -> Changes:
        """One row per agent and suite of the last 90 days: its newest version against its baseline, worst first.

        The baseline is the one that was set, else the version before. Simulated results are left out.
        """
        baselines = self._store.boards.baselines(self._workspace)
        made = self._cache.get(*self._question("changes", baselines), lambda: self._changes(baselines))
        assert isinstance(made, Changes)
        return made

    def alerts(self, all: bool = False) -> tuple[Alert, ...]:
        """The regressions of these agents and suites, the worst first; acknowledged ones only with ``all``."""
        baselines = self._store.boards.baselines(self._workspace)
        made = self._cache.get(*self._question("alerts", baselines), lambda: self._alerts(baselines))
        assert isinstance(made, tuple)
        known = self._store.service.acknowledgements()
        told = []
        for alert in made:
            if alert.alert_id not in known:
                told.append(alert)
            elif all:
                who, at, note = known[alert.alert_id]
                told.append(replace(alert, acknowledged_by=who, acknowledged_at=at, note=note))
        return tuple(told)

    def _changes(self, baselines: Sequence[BaselineRow]) -> Changes:
        look = self._look(baselines)
        midnight = self._now() // DAY_MS * DAY_MS
        rows, today = [], []
        for pair in self._pairs():
            series = look.series(pair)
            if not series:
                continue
            rows.append(look.row(pair, series))
            if series[0].at >= midnight and len(series) >= most_rows(pair):  # else these are all that there are
                series = self._store.boards.series(pair.name, suite=pair.suite_id, since=midnight, limit=None)
            today += [row for row in series if row.at >= midnight]
        costs = [row.cost_usd for row in today if row.cost_usd is not None and math.isfinite(row.cost_usd)]
        return Changes(
            rows=tuple(in_order(rows)),
            counts=count_verdicts(rows),
            spent_today_usd=math.fsum(costs) if costs else None,
            runs_today=len({row.run_id for row in today if row.run_id}),
            quiet=quiet_text(rows, DAYS),
            unpriced_today=len(today) - len(costs),
        )

    def _alerts(self, baselines: Sequence[BaselineRow]) -> tuple[Alert, ...]:
        look = self._look(baselines)
        found: list[Alert] = []
        for pair in self._pairs():
            series = look.series(pair)
            if series:
                found += self._pair_alerts(look, pair, series)
        return tuple(alerts_in_order(found))

    def _look(self, baselines: Sequence[BaselineRow]) -> ChangeReader:
        """One for both questions, as long as nothing changes: what was read for one is at hand for the other."""
        when = self._store.boards.generation(), tuple(baselines)
        if when not in self._looks:
            self._looks = {when: ChangeReader(self._store, baselines, self._memo, self._policy)}
        return self._looks[when]

    def _pair_alerts(self, look: ChangeReader, pair: Pair, series: Sequence[SeriesRow]) -> list[Alert]:
        watch = _Watch(self._store, look, pair, series)
        report = watch.regressions(watch.sides.agent, suite=pair.suite_id)
        made = []
        for item in report.regressions:
            runs = watch.runs if item.detector is Detector.VERSION else _runs_at(item, series)
            made.append(Alert(alert_id(pair.key, pair.suite_id, item), pair.name, pair.suite_id, item, *runs))
        return made

    def _pairs(self) -> list[Pair]:
        """Of every agent and suite that met within 90 days, from the summaries, which know nothing simulated."""
        since = self._now() - DAYS * DAY_MS
        met = self._store.boards.matrix_rows()
        suites = {row.digest: row for row in self._store.boards.suites()}
        newest = {row.suite_id: row for row in reversed(suites.values())}
        active: set[tuple[str, str]] = set()
        succeeded: dict[tuple[str, str], dict[str, int]] = {}
        for row in met:
            key = (row.agent, suites[row.suite].suite_id)
            if row.attempt_at >= since:
                active.add(key)
            if row.success_at is not None:
                own = succeeded.setdefault(key, {})
                own[row.agent_version] = max(row.success_at, own.get(row.agent_version, 0))
        keys = {row.name: row.identity.removeprefix(GIVEN) for row in self._store.boards.agents()}
        made = []
        for name, of in sorted(active):
            versions = succeeded.get((name, of), {})
            in_time = tuple(sorted(versions, key=lambda version: -versions[version]))
            made.append(Pair(name, of, newest[of].name, newest[of].benchmarks, in_time, keys[name]))
        return made

    def _question(self, kind: str, baselines: Sequence[BaselineRow]) -> tuple[int, tuple[object, ...]]:
        """The generation, and what the answer depends on besides; the window moves on once a day."""
        day = self._now() // DAY_MS
        return self._store.boards.generation(), (kind, self._workspace, day, tuple(baselines), self._policy.rules)

    def _now(self) -> int:
        return time.time_ns() // 1_000_000 if self._now_ms is None else self._now_ms


class _Watch(Histories):
    """The histories of one agent in one suite, held against the same baseline as its row."""

    def __init__(self, store: Store, look: ChangeReader, pair: Pair, series: Sequence[SeriesRow]) -> None:
        super().__init__(store, policy=look.policy)
        self._records: RealRecords = look.records
        self._spreads = look.spreads
        self._memo = look.memo
        self._look, self._pair, self._rows = look, pair, series
        self.sides = look.sides(pair, series)
        self.runs = ("", "")
        """The run of the newest version and that of its baseline, once they were compared."""

    def _by_version(
        self, agent: tuple[str, str | None], baseline: str | None, threshold: Mapping[str, float], suite: str | None
    ) -> Checked:
        def make() -> Watched:
            checked = super(_Watch, self)._by_version(agent, baseline, threshold, suite)
            return Watched(checked, self.runs)

        question = (agent, self.sides.agent, self.sides.baseline, tuple(threshold.items()), suite, self._policy.rules)
        found = self._memo.watched.get(finished(self._results(suite)), question, make)
        self.runs = found.runs
        return found.checked

    def _over_time(
        self,
        name: str,  # noqa: ARG002
        suite: str | None,  # noqa: ARG002
        days: int | None,  # noqa: ARG002
        threshold: Mapping[str, float],  # noqa: ARG002
    ) -> OverTime:
        """What the row has found in the same history; the suite's thresholds are the ones it is given."""
        return self._look.over_time(self._pair, self.sides.agent, self._rows)

    def _results(self, suite: str | None) -> list[Result]:
        """What both versions did; nothing where one of them cannot be compared."""
        labels = [label for label in (self.sides.agent, self.sides.baseline) if label]
        try:
            found = [self._records.newest_results(label, suite) for label in labels]
        except NotComparable:
            return []
        return [result for results in found for result in results]

    def _baseline_of(self, current: AgentRecord, baseline: str | None) -> AgentRecord | None:  # noqa: ARG002
        if not self.sides.baseline:
            return None
        before = self._records.newest(self.sides.baseline, current.suite_id)
        self.runs = current.run_ids[0], before.run_ids[0]
        return before


def _runs_at(item: Regression, series: Sequence[SeriesRow]) -> tuple[str, str]:
    """The run since which it is so, and the one before it; "" where they are not known."""
    runs = list(dict.fromkeys((row.at, row.run_id) for row in series))
    place = next((index for index, (at, _) in enumerate(runs) if at == item.since), None)
    if place is None:
        return "", ""
    return runs[place][1], next((run_id for _, run_id in reversed(runs[:place]) if run_id != runs[place][1]), "")
