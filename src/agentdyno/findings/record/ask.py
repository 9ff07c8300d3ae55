"""What agents did, read from the store: the newest results that may be set side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from agentdyno.errors import NotComparable, StoreError, nearest
from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.record.ask_labels import known_agent
from agentdyno.model.form import WHOLE
from agentdyno.settings.judging import INCLUDE_PARTIAL
from agentdyno.store import Store
from agentdyno.store.rows import AgentExecutionRow, Execution, ExecutionFilter

if TYPE_CHECKING:  # who reads no record does without what makes them
    from agentdyno.findings.figures.cases import ArmFigures
    from agentdyno.model import RunResult, Suite
    from agentdyno.model.record import AgentRecord

MOST_OF_AGENT = 300
"""Executions of an agent that are looked through for its newest results."""
MOST_EXECUTIONS = 2_000
"""Executions of a suite that are looked through for the agents that have run it."""
Result: TypeAlias = tuple[str, str, int | None]
"""A run, an arm of it, and when the run was finished (UTC milliseconds); ``None`` where it was not."""
_RUN_IT = "Run them on one suite: dyno run SUITE --agent A --agent B."


@dataclass(frozen=True, slots=True)
class StoredAgent:
    """An agent of the store, with its executions of one version of a suite, newest first."""

    name: str
    version: str
    rows: tuple[AgentExecutionRow, ...]

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


class Records:
    """Reads records. Runs that several agents share are read once.

    Whole runs of a suite come before those that were quick, limited or cut short; with ``whole`` the latter are not
    read at all.
    """

    def __init__(self, store: Store, *, whole: bool = False) -> None:
        self._store = store
        self._whole = whole
        self._headers: dict[str, RunResult] = {}
        self._figures: dict[tuple[str, str, bool], ArmFigures] = {}

    def together(self, agents: Sequence[str], suite: str | None = None) -> list[AgentRecord]:
        """The agents (``NAME`` or ``NAME@VERSION``) on the newest version of a suite that all of them have run.

        A run that holds them all is taken, as its timings were interleaved; else each agent's newest results. Raises
        ``NotComparable`` where they share no suite.
        """
        chosen, shared = self._on_shared_suite(agents, suite)
        return [self._record(item, shared) for item in chosen]

    def results_together(self, agents: Sequence[str], suite: str | None = None) -> list[Result]:
        """What ``together`` makes its records of."""
        chosen, shared = self._on_shared_suite(agents, suite)
        return [result for item in chosen for result in self._results(item, shared)]

    def newest_results(self, agent: str, suite: str | None = None) -> list[Result]:
        """What ``newest`` makes its record of."""
        return self._results(self._alone(agent, suite), ())

    def _alone(self, agent: str, suite: str | None) -> StoredAgent:
        found = self._find(agent, suite)
        return _only(found, {found.rows[0].suite})

    def _results(self, item: StoredAgent, preferred: Sequence[str]) -> list[Result]:
        rows = _chosen(item, preferred).values()
        return [(row.run_id, row.arm_id, self._header(row.run_id).finished_at) for row in rows]

    def _on_shared_suite(self, agents: Sequence[str], suite: str | None) -> tuple[list[StoredAgent], list[str]]:
        """The agents on one version of a suite, and the runs that they share."""
        if len(agents) < 2:
            raise NotComparable("one agent alone cannot be compared", remedy="Name at least two: dyno compare A B.")
        found = [self._find(agent, suite) for agent in agents]
        labels = [item.label for item in found]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise NotComparable(f"{twice} cannot be set against itself", remedy="Name each version once.")
        chosen = self._on_one_suite(found)
        return chosen, _shared_runs(chosen)

    def newest(self, agent: str, suite: str | None = None) -> AgentRecord:
        """One agent's newest results, of the suite it has run last."""
        return self._record(self._alone(agent, suite), ())

    def chosen(self, agents: Sequence[str], suite: str | None = None) -> list[AgentRecord]:
        """The agents that are named; without a name, all that have run the suite."""
        if len(agents) > 1:
            return self.together(agents, suite)
        return [self.newest(agents[0], suite)] if agents else self.every(suite)

    def of_run(self, run_id: str) -> list[AgentRecord]:
        """Every agent of one run, in the order of the run."""
        from agentdyno.findings.record.judge import combined

        header = self._header(run_id)
        labels = list(dict.fromkeys(arm.agent for arm in header.arms if arm.agent))
        figures = {arm.arm_id: self._arm_figures(header, arm.arm_id) for arm in header.arms if arm.agent}
        return [combined([(header, figures)], label) for label in labels]

    def every(self, suite: str | None = None) -> list[AgentRecord]:
        """All agents that have run the newest version of the suite (or of the one that was run last)."""
        newest = self._answered(ExecutionFilter(suite=self.suite_named(suite)))
        if not newest:
            raise StoreError("no agent has run a suite yet", remedy="dyno run SUITE --agent AGENT does.")
        found: dict[tuple[str, str], list[AgentExecutionRow]] = defaultdict(list)
        for row in self._answered(ExecutionFilter(suite=newest[0].suite)):
            found[row.agent, row.agent_version].append(_place(row))
        records, problem = [], None
        for (name, version), rows in found.items():
            try:
                records.append(self._record(StoredAgent(name, version, tuple(rows)), ()))
            except NotComparable as error:  # of some agents, only totals were imported
                problem = error
        if problem is not None and not records:
            raise problem
        return records

    def suite_of(self, agent: str, suite: str | None = None) -> Suite | None:
        """The suite as the agent's newest run of it had it; ``None`` where no run is here."""
        name, version = self.agent_named(agent)
        rows = self._executions(name, version, self.suite_named(suite))
        newest = next((row for row in rows if row.run_id), None)
        return None if newest is None else self._header(newest.run_id).suite

    def figures(self, run_id: str, arm_id: str) -> ArmFigures:
        """What one arm of a run did, with what it answered."""
        return self._arm_figures(self._header(run_id), arm_id, answers=True)

    def _executions(self, name: str, version: str | None, suite: str | None) -> list[AgentExecutionRow]:
        return self._store.boards.agent_executions(name, version, suite, limit=MOST_OF_AGENT)

    def _find(self, text: str, suite: str | None) -> StoredAgent:
        name, version = self.agent_named(text)
        rows = self._executions(name, version, self.suite_named(suite))
        known = [row for row in rows if row.run_id and row.status != "failed"]
        answered = like_with_like(known, whole=self._whole)
        if known and not answered:
            raise no_whole_run(text, known)
        if not answered:
            where = f" of suite {suite}" if suite else ""
            if rows and not any(row.run_id for row in rows):
                message = f"{text} has imported totals and no cases{where}"
                raise NotComparable(message, remedy=self._with_cases(name, suite))
            why = "gave no usable answer in any run" if rows else "has no run"
            raise NotComparable(f"{text} {why}{where}", remedy=f"dyno run SUITE --agent {name} makes one.")
        newest = _newest_version(answered)
        return StoredAgent(name, newest, tuple(row for row in answered if row.version == newest))

    def _with_cases(self, name: str, suite: str | None) -> str:
        """What to do where only totals of an agent are known: how to get its cases, and which versions have some."""
        told = (
            "Agents are compared case by case: import the results with their samples (dyno import FILE), or run this "
            f"version (dyno run SUITE --agent {name})."
        )
        rows = self._store.boards.agent_executions(name, None, self.suite_named(suite), limit=MOST_OF_AGENT)
        known = list(dict.fromkeys(row.version for row in rows if row.run_id and row.status != "failed"))
        known.sort(key=lambda version: version_number(version) or (), reverse=True)
        return f"{told} Versions of {name} that have cases: {', '.join(known[:8])}." if known else told

    def _answered(self, wanted: ExecutionFilter) -> list[Execution]:
        """Executions with usable answers of runs that are here, newest first."""
        rows = self._store.boards.executions(wanted, limit=MOST_EXECUTIONS)
        return like_with_like([row for row in rows if row.run_id and row.status != "failed"], whole=self._whole)

    def agent_named(self, text: str) -> tuple[str, str | None]:
        """Label and version of an agent of the store; the version may be cut short where that is unique.

        It may be called by its label, by where it comes from, and by the name that its runs use.
        """
        rows = self._store.boards.agents()
        if not rows:
            raise StoreError("no agent has been benchmarked here yet", remedy="dyno run SUITE --agent AGENT does.")
        return known_agent(rows, text)

    def suite_named(self, suite: str | None) -> str | None:
        """A suite by id, digest or name: the digest where that was given, else the id, which is all its versions."""
        if suite is None:
            return None
        known = self._store.boards.suites()
        for row in known:
            if suite in (row.suite_id, row.digest, row.name):
                return row.digest if suite == row.digest else row.suite_id
        names = sorted({row.suite_id for row in known})
        raise StoreError(f"no run of a suite {suite!r} is in the store", remedy=nearest(suite, names))

    def _on_one_suite(self, found: Sequence[StoredAgent]) -> list[StoredAgent]:
        """The version of a suite that all have run, the newest one; else versions of one suite."""
        common = set.intersection(*({row.suite for row in item.rows} for item in found))
        if common:
            newest = max(common, key=lambda digest: _least_recent(found, digest))
            return [_only(item, {newest}) for item in found]
        ids = {row.digest: row.suite_id for row in self._store.boards.suites()}
        shared = set.intersection(*({ids.get(row.suite, row.suite) for row in item.rows} for item in found))
        if not shared:
            ran = "; ".join(f"{item.label} ran {ids.get(item.rows[0].suite, item.rows[0].suite)}" for item in found)
            raise NotComparable(f"these agents have run no suite in common: {ran}", remedy=_RUN_IT)
        for item in found:
            if ids.get(item.rows[0].suite) in shared:
                suite_id = ids[item.rows[0].suite]
                break
        else:
            suite_id = sorted(shared)[0]
        chosen = []
        for item in found:
            own = next(row.suite for row in item.rows if ids.get(row.suite) == suite_id)
            chosen.append(_only(item, {own}))
        return chosen

    def _record(self, item: StoredAgent, preferred: Sequence[str]) -> AgentRecord:
        from agentdyno.findings.record.judge import combined

        chosen = _chosen(item, preferred)
        parts: list[tuple[RunResult, Mapping[str, ArmFigures]]] = []
        for run_id in dict.fromkeys(row.run_id for row in chosen.values()):
            header = self._header(run_id)
            arms = [row.arm_id for row in chosen.values() if row.run_id == run_id]
            figures = {arm_id: self._arm_figures(header, arm_id) for arm_id in arms}
            parts.append((header, {arm_id: own for arm_id, own in figures.items() if own.tallies}))
        if not any(figures for _, figures in parts):
            raise NotComparable(
                f"only totals of {item.label} are stored, no case of its own", remedy="Run it here, case by case."
            )
        digests = {row.suite for row in chosen.values()}
        return combined(parts, item.label, digests.pop() if len(digests) == 1 else "")

    def _header(self, run_id: str) -> RunResult:
        if run_id not in self._headers:
            self._headers[run_id] = self._store.runs.load(run_id, samples=False)
        return self._headers[run_id]

    def _arm_figures(self, header: RunResult, arm_id: str, *, answers: bool = False) -> ArmFigures:
        from agentdyno.findings.figures.cases import ArmFigures

        key = (header.run_id, arm_id, answers)
        if key not in self._figures:
            suite = header.suite
            assert suite is not None, "executions belong to runs of suites"
            benchmark = next(arm.benchmark for arm in header.arms if arm.arm_id == arm_id)
            samples = self._store.runs.iter_samples(
                header.run_id, arm_id=arm_id, details=True, measured=True, answers=answers
            )
            own = suite.benchmark(benchmark or "")
            self._figures[key] = ArmFigures.of(own, samples, prints=False, answers=answers)
        return self._figures[key]


class Formed(Protocol):
    """A row that says what its run was."""

    @property
    def form(self) -> str: ...


_Row = TypeVar("_Row", bound=Formed)


def like_with_like(rows: Sequence[_Row], *, whole: bool) -> list[_Row]:
    """The rows of whole runs; where there is none, all of them, unless ``whole`` is a must."""
    found = [row for row in rows if row.form in WHOLE]
    return found if found or whole else list(rows)


def no_whole_run(text: str, rows: Sequence[Formed]) -> NotComparable:
    forms = " and ".join(dict.fromkeys(row.form for row in rows))
    return NotComparable(
        f"{text} has no whole run of the suite: what there is was {forms}",
        remedy=f"Run the whole suite, to the end: dyno run SUITE --agent {text.rpartition('@')[0] or text}. "
        f"Or take it as it is: {INCLUDE_PARTIAL.option}.",
    )


def _place(row: Execution) -> AgentExecutionRow:
    """Where an execution is to be found; the id of its suite is not asked for."""
    where = (row.suite, "", row.benchmark, row.run_id, row.arm_id)
    return AgentExecutionRow(row.agent_version, *where, row.created_at, row.status, row.simulated, row.form)


def _chosen(item: StoredAgent, preferred: Sequence[str]) -> dict[str, AgentExecutionRow]:
    """Per benchmark the newest complete result, else the newest; preferred runs first."""
    order = {run_id: place for place, run_id in enumerate(preferred)}
    rows = sorted(item.rows, key=lambda row: (order.get(row.run_id, len(order)), row.status != "success"))
    chosen: dict[str, AgentExecutionRow] = {}
    for row in rows:
        chosen.setdefault(row.benchmark, row)
    return chosen


def _newest_version(rows: Sequence[AgentExecutionRow]) -> str:
    """Of the versions in the newest run the highest; those that are no numbers count as lowest."""
    versions = dict.fromkeys(row.version for row in rows if row.run_id == rows[0].run_id)
    return max(versions, key=lambda version: version_number(version) or ())


def _only(item: StoredAgent, suites: set[str]) -> StoredAgent:
    return StoredAgent(item.name, item.version, tuple(row for row in item.rows if row.suite in suites))


def _least_recent(found: Sequence[StoredAgent], digest: str) -> int:
    """When the last of the agents had run this version."""
    return min(max(row.created_at for row in item.rows if row.suite == digest) for item in found)


def _shared_runs(found: Sequence[StoredAgent]) -> list[str]:
    """Runs in which all agents took part, the newest first."""
    shared = set.intersection(*({row.run_id for row in item.rows} for item in found))
    order = dict.fromkeys(row.run_id for row in found[0].rows if row.run_id in shared)
    return list(order)
