"""How well benchmarking itself does, from what a store holds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agentdyno.errors import DynoError, NotComparable
from agentdyno.findings.history.judge_versions import judge_rows, version_rows
from agentdyno.findings.profile.ask import ProfileQuestion, Profiles
from agentdyno.findings.record.ask import Records
from agentdyno.findings.record.ask_spread import known_spread
from agentdyno.findings.success.judge import (
    DAY_MS,
    agents_benchmarked,
    degradation_incidents,
    optimization_opportunities,
    regression_detection,
)
from agentdyno.findings.success.model import Opportunities, Replayed, SuccessReport
from agentdyno.model.form import WHOLE
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.store import Store
from agentdyno.store.rows import AgentExecutionRow

WINDOW_DAYS = 30
KNOWN_WORSE = "known:worse"
KNOWN_SAME = "known:same"
"""Tags of a run of which somebody knows how it is beside the run before it."""
MOST_PAIRS = 20
"""Pairs of runs of one agent that are judged again, the newest: an answer must not take longer with every run."""


@dataclass(frozen=True, slots=True)
class _StoredRun:
    run_id: str
    version: str
    at: int


class Successes:
    """Asks one store. ``registered`` are agents that can be run here, whether they ever were or not."""

    def __init__(
        self,
        store: Store,
        *,
        registered: Sequence[str] = (),
        now_ms: int | None = None,
        policy: GatePolicy = DEFAULT_POLICY,
    ) -> None:
        self._store = store
        self._registered = registered
        self._now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        self._policy = policy
        self._records = Records(store, whole=True)

    def report(self, days: int = WINDOW_DAYS) -> SuccessReport:
        """The four figures of the last ``days`` days."""
        agents = self._store.boards.agents()
        names = sorted({row.name for row in agents})
        since = self._now_ms - days * DAY_MS
        fresh = [row.name for row in agents if row.last_success_at is not None and row.last_success_at > since]
        replayed = [item for name in names for item in self._replayed(name)]
        opportunities = [found for name in sorted(set(fresh)) if (found := self._opportunities(name)) is not None]
        return SuccessReport(
            days=days,
            until=self._now_ms,
            metrics=(
                agents_benchmarked([*names, *self._registered], fresh),
                regression_detection(replayed),
                optimization_opportunities(opportunities),
                degradation_incidents(replayed, until=self._now_ms, days=days),
            ),
        )

    def _replayed(self, name: str) -> Iterator[Replayed]:
        """The newest pairs of runs that follow each other on one version of a suite, judged again."""
        pairs = []
        for runs in self._runs(name).values():
            pairs += [(before, after) for before, after in pairwise(runs)]
        pairs.sort(key=lambda pair: pair[1].at)
        for before, after in pairs[-MOST_PAIRS:]:
            tags = self._store.runs.load(after.run_id, samples=False).tags
            same = before.version == after.version or KNOWN_SAME in tags
            expected = True if KNOWN_WORSE in tags else False if same else None
            worse = self._is_worse(name, before, after)
            if worse is not None:
                yield Replayed(name, after.at, worse, expected, before.version != after.version)

    def _is_worse(self, name: str, before: _StoredRun, after: _StoredRun) -> bool | None:
        """What the judge says; ``None`` where the two do not compare, or their cases are gone."""
        try:
            first, second = (self._record(run, name) for run in (before, after))
            rows = version_rows(first, second, known_spread(self._store, first, second), self._policy)
            return bool(judge_rows(rows, first, second)[0])
        except NotComparable:
            return None

    def _record(self, run: _StoredRun, name: str) -> AgentRecord:
        for record in self._records.of_run(run.run_id):
            if (record.name, record.version) == (name, run.version):
                return record
        raise NotComparable(f"run {run.run_id} has no cases of {name}")

    def _runs(self, name: str) -> dict[str, list[_StoredRun]]:
        """Whole runs that succeeded, by version of the suite, the oldest first."""
        found: dict[str, dict[str, _StoredRun]] = {}
        failed: set[str] = set()
        for row in reversed(self._store.boards.agent_executions(name)):
            if not _counts(row):
                failed.add(row.run_id)
            else:
                own = found.setdefault(row.suite, {})
                own[row.run_id] = _StoredRun(row.run_id, row.version, row.created_at)
        return {suite: [run for run in runs.values() if run.run_id not in failed] for suite, runs in found.items()}

    def _opportunities(self, name: str) -> Opportunities | None:
        """The newest version's profile beside that of the version before, on the suite that was run last."""
        runs = max(self._runs(name).values(), key=lambda own: own[-1].at if own else 0, default=[])
        if not runs:
            return None
        earlier = [run for run in runs if run.version != runs[-1].version]
        if not earlier:
            return None
        try:
            before, after = (self._shown(run, name) for run in (earlier[-1], runs[-1]))
        except DynoError:
            return None
        return Opportunities(name, len(before), len(before - after))

    def _shown(self, run: _StoredRun, name: str) -> set[tuple[str, str]]:
        report = Profiles(self._store).report(ProfileQuestion(run.run_id, agent=f"{name}@{run.version}"))
        return {(item.rule, item.category) for own in report.profiles for item in own.optimization_opportunities}


def _counts(row: AgentExecutionRow) -> bool:
    return bool(row.run_id) and row.status == "success" and not row.simulated and row.form in WHOLE
