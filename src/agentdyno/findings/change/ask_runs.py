"""Lists of runs with what each came to against its baseline, by the judge of the changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from agentdyno.errors import NotComparable, StoreError
from agentdyno.findings.change.ask_sides import RealRecords, baseline_runs, version_before
from agentdyno.findings.change.judge import judge_change
from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.record.ask_spread import known_spread
from agentdyno.findings.run.ask import findings_for
from agentdyno.model import RunStatus, Side, Verdict
from agentdyno.model.form import WHOLE
from agentdyno.model.policy import GatePolicy
from agentdyno.store import Store
from agentdyno.store.answers import Answers
from agentdyno.store.rows import BaselineRow, RunRow, RunSubject

MOST_SAMPLES = 5_000
"""A run of more samples is judged on its own page, and not in a list: to read them takes too long."""
MOST_KEPT = 5_000
VerdictAnswers: TypeAlias = Answers["Verdict | None"]
"""Verdicts that were found before; a run that has ended says the same tomorrow."""


def kept_verdicts() -> VerdictAnswers:
    return Answers(MOST_KEPT)


class RunVerdicts:
    """Judges the subjects of listed runs: agents against their baselines, a run of two sides by its own comparison.

    The baseline of a version is the one that was set, where that is no later version; else the version before. Only
    whole runs that came to their end are judged.
    """

    def __init__(
        self, store: Store, baselines: Sequence[BaselineRow], policy: GatePolicy, kept: VerdictAnswers
    ) -> None:
        self._store = store
        self._policy = policy
        self._kept = kept
        self._chosen = {(row.agent, row.suite_id): row for row in baselines}
        self._records = RealRecords(store, baseline_runs(baselines))
        self._versions: dict[tuple[str, str], tuple[str, ...]] = {}

    def judged(self, rows: Iterable[RunRow]) -> list[RunRow]:
        """The rows with the verdicts of their subjects."""
        return [self._row(row) for row in rows]

    def _row(self, row: RunRow) -> RunRow:
        if row.status is not RunStatus.COMPLETE or row.samples > MOST_SAMPLES:
            return row
        if row.suite_id:
            if row.form not in WHOLE:
                return row
            return replace(row, subjects=tuple(self._subject(row, item) for item in row.subjects))
        if {Side.BASELINE.value, Side.CANDIDATE.value} <= {item.side for item in row.subjects}:
            found = self._kept.get((row.run_id, row.finished_at), row.run_id, lambda: self._sides(row))
            return replace(
                row,
                subjects=tuple(
                    replace(item, verdict=found, against=Side.BASELINE.value)
                    if item.side == Side.CANDIDATE.value
                    else item
                    for item in row.subjects
                ),
            )
        return row

    def _subject(self, row: RunRow, item: RunSubject) -> RunSubject:
        name, _, version = item.label.rpartition("@")
        baseline = self._baseline(name, version, row.suite_id)
        if not baseline or baseline == item.label:
            return replace(item, against=baseline)
        try:
            results = self._records.newest_results(baseline, row.suite_id)
        except (NotComparable, StoreError):
            return item
        stamp = (row.finished_at, self._policy.rules, tuple(results))
        found = self._kept.get(
            stamp, (row.run_id, item.label), lambda: self._compared(baseline, row.run_id, item.label, row.suite_id)
        )
        return replace(item, verdict=found, against=baseline)

    def _compared(self, baseline: str, run_id: str, label: str, suite_id: str) -> Verdict | None:
        try:
            before = self._records.newest(baseline, suite_id)
            after = next(record for record in self._records.of_run(run_id) if record.agent == label)
            judged = judge_change(before, after, known_spread(self._store, before, after), self._policy)
        except (NotComparable, StoreError, StopIteration):
            return None
        return Verdict(judged.verdict)

    def _sides(self, row: RunRow) -> Verdict | None:
        found = findings_for(self._store.runs.load(row.run_id), self._store, policy=self._policy)
        return next((compared.verdict for compared in found.comparisons), None)

    def _baseline(self, name: str, version: str, suite_id: str) -> str:
        chosen = self._chosen.get((name, suite_id))
        if chosen is not None and not _is_later(chosen.version, version):
            return f"{name}@{chosen.version}"
        before = version_before(version, self._known(name, suite_id))
        return f"{name}@{before}" if before else ""

    def _known(self, name: str, suite_id: str) -> tuple[str, ...]:
        """Versions with a whole run of the suite, the newest run first."""
        if (name, suite_id) not in self._versions:
            rows = self._store.boards.agent_executions(name, None, suite_id)
            usable = (row for row in rows if row.run_id and row.status == "success" and row.form in WHOLE)
            self._versions[name, suite_id] = tuple(dict.fromkeys(row.version for row in usable if not row.simulated))
        return self._versions[name, suite_id]


def _is_later(version: str, than: str) -> bool:
    mine, other = version_number(version), version_number(than)
    return mine is not None and other is not None and mine > other
