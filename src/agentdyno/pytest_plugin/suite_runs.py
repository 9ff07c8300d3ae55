"""Runs of marked suites: one for each suite in a session, whichever process makes it."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agentdyno.errors import RunError, SpecError
from agentdyno.model import Benchmark, RunResult, RunStatus, Suite
from agentdyno.model.case import CaseKey
from agentdyno.model.form import INTERRUPTED
from agentdyno.model.identity import digest
from agentdyno.pytest_plugin.judged_run import judge_run
from agentdyno.pytest_plugin.marks import CasePlace, MarkedSuite
from agentdyno.pytest_plugin.verdicts import AgentVerdicts, unmeasured, verdicts_of
from agentdyno.runs.kind import Prepared, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.pipeline import resume, start
from agentdyno.runs.place import now_ms
from agentdyno.runs.suite.prepare import PreparedSuite, candidates_of, suite_request
from agentdyno.runs.suite.sides import Unchanged
from agentdyno.settings.suite import ASK_ABOVE_USD
from agentdyno.specs import LoadedSuite, epochs_of
from agentdyno.specs.suite.load import form_asked
from agentdyno.store import Store
from agentdyno.workbench.check import SuiteCheck
from agentdyno.workbench.location import output_root

log = logging.getLogger("agentdyno.pytest")
TAG = "pytest"
"""Runs made here carry it, and a second tag that names what was asked for."""
RESUMED_WITHIN_MS = 24 * 3600 * 1000
"""A run that was killed longer ago is not taken up again: what it asked may answer otherwise today."""
_LOOKED_THROUGH = 200
"""Newest runs among which an unfinished one is looked for."""


@dataclass(frozen=True, slots=True)
class SuiteVerdicts:
    """What came of one marked suite: the run, and what the rules say of each agent."""

    run: str
    agents: Mapping[str, AgentVerdicts]
    line: str


@dataclass(slots=True)
class SuiteRuns:
    """Makes runs for one session of pytest, which may have several processes: they share ``session``."""

    url: str
    session: str
    against: str | None

    def verdicts(self, marked: MarkedSuite, asked: Iterable[CasePlace]) -> SuiteVerdicts:
        """Runs what the selected tests ask for, unless another process of the session has."""
        with Store.open(self.url) as store:
            tools, places = Tools(store, output_root(self.url), say=log.info), list(asked)
            loaded = _selected(marked.load(), places)
            agents = {place.agent for place in places}
            entrants = [
                item for item in candidates_of(loaded.suite, tools.project, marked.choices) if item.label in agents
            ]
            named = tuple(item.use if item.target is None else item.target for item in entrants)
            tools = replace(tools, choices=replace(marked.choices, agents=named))
            labels = [entrant.label for entrant in entrants]
            key = digest([_asked_of(loaded), labels, self.against or "", loaded.settings.seed], 16)
            file = output_root(self.url).parent / "pytest" / f"{key}.json"
            with _alone(file):
                known = _read(file, self.session)
                if known is not None:
                    return known
                here_only = any(entrant.target is not None for entrant in entrants)
                found = self._measured(loaded, tools, key, None if here_only else _unfinished(store, key))
                _write(file, self.session, found)
                return found

    def _measured(self, loaded: LoadedSuite, tools: Tools, key: str, unfinished: str | None) -> SuiteVerdicts:
        loaded = replace(loaded, settings=replace(loaded.settings, tags=(*loaded.settings.tags, TAG, f"{TAG}:{key}")))
        policy = tools.project.gate
        check = SuiteCheck(loaded, tools, _unasked, self.against, policy=policy)
        try:
            if unfinished is not None:
                result = resume(unfinished, tools)
            else:
                result = self._started(check)
        except Unchanged as same:
            told = f"nothing has changed since {same.sides.label}, so nothing was measured"
            return SuiteVerdicts("", {label: unmeasured(told) for label in same.sides.unchanged}, told)
        if result.stopped_because == INTERRUPTED:
            raise KeyboardInterrupt
        reports = judge_run(check, result)
        agents = verdicts_of(reports, tools.kept_in, result, compared=self.against is not None)
        for warning in result.warnings:
            if warning.code == "unchanged":
                agents.update({label: unmeasured(warning.message) for label in _left_out(check, agents, result)})
        return SuiteVerdicts(result.run_id, agents, _line(result, resumed=unfinished is not None))

    def _started(self, check: SuiteCheck) -> RunResult:
        against = self.against
        if against is not None and check.recorded_baseline(against) is not None:
            against = None
        kind = kind_named(SUITE)
        with kind.prepare(suite_request(check.loaded, against=against), check.tools) as prepared:
            _refuse_dear(prepared, check.tools)
            return start(kind, prepared, check.tools)


def _left_out(check: SuiteCheck, agents: Mapping[str, AgentVerdicts], result: RunResult) -> list[str]:
    entrants = candidates_of(check.loaded.suite, check.workspace, check.tools.choices)
    measured = {arm.agent for arm in result.arms}
    return [item.label for item in entrants if item.label not in agents and item.label not in measured]


@contextmanager
def _unasked(prepared: Prepared[PreparedSuite], tools: Tools) -> Iterator[Tools]:
    """Cases in doubt are tried again without a question: nobody is there to answer."""
    _refuse_dear(prepared, tools)
    yield tools


def _refuse_dear(prepared: Prepared[PreparedSuite], tools: Tools) -> None:
    usd = prepared.announced.usd
    if tools.choices.max_cost_usd is not None or (usd is not None and usd <= ASK_ABOVE_USD):
        return
    if usd is None:
        told = f"the price of {', '.join(prepared.announced.unpriced)} is unknown"
    else:
        told = f"{prepared.announced.calls:,} calls may cost about ${usd:.2f}"
    raise SpecError(
        told, where="@pytest.mark.dyno", remedy="Say how many dollars may be spent: max_cost=5 in the mark."
    )


def _selected(loaded: LoadedSuite, places: Iterable[CasePlace]) -> LoadedSuite:
    """The suite with the cases whose tests are selected; all of them where the rules about all are."""
    wanted = {place.key for place in places}
    if None in wanted:
        return loaded
    part = tuple(
        _part(item, wanted)
        for item in loaded.suite.benchmarks
        if any(CaseKey(item.benchmark_id, case.id) in wanted for case in item.cases)
    )
    if part == loaded.suite.benchmarks:
        return loaded
    suite = replace(loaded.suite, benchmarks=part)
    return LoadedSuite(suite, loaded.settings, form_asked(suite, loaded.suite))


def _part(item: Benchmark, wanted: set[CaseKey | None]) -> Benchmark:
    cases = tuple(case for case in item.cases if CaseKey(item.benchmark_id, case.id) in wanted)
    return item if len(cases) == len(item.cases) else replace(item, cases=cases)


def _asked_of(loaded: LoadedSuite) -> list[object]:
    suite: Suite = loaded.suite
    return [suite.digest, [[item.benchmark_id, epochs_of(suite, item)] for item in suite.benchmarks]]


def _unfinished(store: Store, key: str) -> str | None:
    """The newest run of the same question, if it was killed or interrupted a short while ago."""
    for row in store.runs.newest(_LOOKED_THROUGH):
        if f"{TAG}:{key}" not in row.tags:
            continue
        if now_ms() - row.started_at > RESUMED_WITHIN_MS:
            return None
        if row.status is RunStatus.RUNNING:
            return row.run_id
        header = store.runs.load(row.run_id, samples=False)
        return row.run_id if header.stopped_because == INTERRUPTED else None
    return None


def _line(result: RunResult, *, resumed: bool) -> str:
    calls = sum(count for arm in result.arms for count in arm.statuses.values())
    usd = [arm.totals.get("cost_usd") for arm in result.arms]
    spent = "" if None in usd else f", ${sum(value or 0.0 for value in usd):.2f}" if any(usd) else ", no charge"
    how = " (resumed)" if resumed else ""
    return f"{result.name}: {calls:,} calls{spent}{how}; dyno show {result.run_id[:13]}"


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Other processes wait; the lock is the kernel's, so that it goes with a process that is killed."""
    with ExitStack() as stack:
        with _kept_there(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(file.with_suffix(".lock").open("a"))
            fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _kept_there(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"what the processes of a session tell each other cannot be kept: {error.strerror}",
            where=str(file.parent),
            remedy="Make room there and the folder writable, or name another store with DYNO_STORE.",
        ) from None


def _read(file: Path, session: str) -> SuiteVerdicts | None:
    """What another process of this session has found."""
    try:
        plain = json.loads(file.read_text())
        if plain.get("session") != session:
            return None
        agents = {label: AgentVerdicts.of_plain(item) for label, item in plain["agents"].items()}
        return SuiteVerdicts(plain["run"], agents, plain["line"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # nobody's, or damaged
        return None


def _write(file: Path, session: str, found: SuiteVerdicts) -> None:
    agents = {label: item.plain() for label, item in found.agents.items()}
    plain = {"session": session, "run": found.run, "line": found.line, "agents": agents}
    beside = file.with_suffix(f".{os.getpid()}")
    with _kept_there(file):
        beside.write_text(json.dumps(plain))
        beside.replace(file)
