"""Which version of an agent is held against which: the newest against its baseline. What is simulated is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentdyno.errors import NotComparable
from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.record.ask import Records, StoredAgent
from agentdyno.model.form import WHOLE
from agentdyno.model.record import AgentRecord
from agentdyno.store import Store
from agentdyno.store.rows import AgentExecutionRow, BaselineRow, SeriesRow


@dataclass(frozen=True, slots=True)
class ChangeSides:
    """Labels of both sides; ``baseline`` is "" where there is none.

    ``run_id`` is the baseline's run where that was set. ``silent``: no execution of the newest version gave a usable
    answer. ``totals``: there is no case to compare, only sums that came from outside.
    """

    name: str
    version: str
    baseline_version: str = ""
    run_id: str = ""
    silent: bool = False
    totals: bool = False

    @property
    def agent(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def baseline(self) -> str:
        return f"{self.name}@{self.baseline_version}" if self.baseline_version else ""


class RealRecords(Records):
    """Records of ``NAME@VERSION`` in a suite by its id, made of what was not simulated.

    ``runs`` holds, by label, the one run that a baseline was set to.
    """

    def __init__(self, store: Store, runs: Mapping[tuple[str, str], str]) -> None:
        super().__init__(store, whole=True)
        self._runs = runs
        self._found: dict[tuple[str, str | None], StoredAgent] = {}
        self._rows: dict[tuple[str, str | None, str | None], list[AgentExecutionRow]] = {}

    def agent_named(self, text: str) -> tuple[str, str | None]:
        name, _, version = text.rpartition("@")
        return name, version

    def suite_named(self, suite: str | None) -> str | None:
        return suite

    def figures_of(self, record: AgentRecord) -> list[ArmFigures]:
        """What a record was made of; it has to be one of these."""
        found = []
        for item in record.benchmarks:
            arms = self._header(item.run_id).arms
            own = (arm.arm_id for arm in arms if (arm.agent, arm.benchmark) == (record.arm_agent, item.benchmark_id))
            found += [self._arm_figures(self._header(item.run_id), arm_id) for arm_id in own]
        return found

    def _executions(self, name: str, version: str | None, suite: str | None) -> list[AgentExecutionRow]:
        key = (name, version, suite)
        if key not in self._rows:
            self._rows[key] = super()._executions(name, version, suite)
        return self._rows[key]

    def _find(self, text: str, suite: str | None) -> StoredAgent:
        if (text, suite) not in self._found:
            self._found[text, suite] = self._look_up(text, suite)
        return self._found[text, suite]

    def _look_up(self, text: str, suite: str | None) -> StoredAgent:
        name, _, version = text.rpartition("@")
        rows = self._executions(name, version, suite)
        run_id = self._runs.get((text, suite or ""))
        answered = [row for row in rows if row.run_id and row.status != "failed" and not row.simulated]
        kept = tuple(row for row in answered if row.run_id == run_id or (run_id is None and row.form in WHOLE))
        if not kept:
            why = f"is not in run {run_id[:13]} any more" if run_id else "has no usable answer of its own here"
            raise NotComparable(f"{text} {why}", remedy="`dyno baseline set AGENT@VERSION` chooses a baseline.")
        return StoredAgent(name, version, kept)


def baseline_runs(baselines: Sequence[BaselineRow]) -> dict[tuple[str, str], str]:
    """The runs that baselines were set to, by label and suite."""
    return {(f"{row.agent}@{row.version}", row.suite_id): row.run_id for row in baselines if row.run_id}


def choose_sides(name: str, rows: Sequence[SeriesRow], chosen: BaselineRow | None) -> ChangeSides:
    """From the executions of an agent in a suite, oldest first and at least one; ``chosen`` is what was set."""
    newest = _newest_version(rows[::-1])
    silent = not any(row.version == newest and row.status != "failed" for row in rows)
    own = [row for row in reversed(rows) if row.run_id and row.status != "failed"]
    if silent or not own:
        version, before = newest, rows[::-1]
    else:
        version, before = _newest_version(own), own
    if chosen is not None:
        previous, run_id = chosen.version, chosen.run_id
    else:
        previous, run_id = version_before(version, (row.version for row in before if row.status == "success")), ""
    return ChangeSides(name, version, previous, run_id, silent, totals=not own and not silent)


def version_before(version: str, newest_first: Iterable[str]) -> str:
    """The first that is of an earlier version, by number or else by its place; "" where there is none."""
    return next((other for other in newest_first if other != version and _is_before(other, version)), "")


def _is_before(other: str, version: str) -> bool:
    """By number; where one has none, every other version that was run is taken for an earlier one."""
    mine, theirs = version_number(version), version_number(other)
    return theirs < mine if mine is not None and theirs is not None else True


def _newest_version(newest_first: Sequence[SeriesRow]) -> str:
    """Of the versions in the newest run the highest; those that are no numbers count as lowest."""
    first = newest_first[0]
    together = [row.version for row in newest_first if row.run_id == first.run_id != ""] or [first.version]
    return max(dict.fromkeys(together), key=lambda version: version_number(version) or ())
