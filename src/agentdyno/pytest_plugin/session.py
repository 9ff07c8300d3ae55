"""One session of pytest: what its tests found, and what is said at the end."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from agentdyno.errors import DynoError
from agentdyno.model import Phase, RunResult, Sample, Verdict
from agentdyno.model.metric import format_value
from agentdyno.model.result import MetricSummary
from agentdyno.pytest_plugin.marks import SKIPPED, CasePlace, TriedCase
from agentdyno.pytest_plugin.suite_runs import SuiteRuns, SuiteVerdicts
from agentdyno.pytest_plugin.timing_run import TimingRun, worse_than
from agentdyno.store import Store
from agentdyno.workbench.location import project_store


@dataclass(slots=True)
class DynoSession:
    """What the plugin keeps while a session lasts. With pytest-xdist there is one in each process, and the one that
    started the others hears of what they found."""

    suites: SuiteRuns
    timings: TimingRun
    found: dict[tuple[object, ...], SuiteVerdicts | DynoError] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    timed: RunResult | None = None
    problem: DynoError | None = None
    """Why timings are no longer stored: nothing that happens to the store may end a session of tests."""
    turns: set[str] = field(default_factory=set)
    """The files by which processes took turns, which nobody needs when all have ended."""

    @classmethod
    def of(cls, config: pytest.Config) -> DynoSession:
        worker: Mapping[str, str] = getattr(config, "workerinput", {})
        session = worker.get("testrunuid") or uuid.uuid4().hex
        against = config.getoption("--dyno-against")
        url = project_store(Path.cwd(), os.environ)
        return cls(SuiteRuns(url, session, against), TimingRun(url, config.rootpath, pytest.__version__))

    def tried(self, place: CasePlace, items: Sequence[pytest.Item]) -> TriedCase:
        """What became of a case. The first test of a suite runs it, for all that are selected."""
        found = self._verdicts(place, items)
        verdicts = found.agents.get(place.agent)
        if verdicts is None:
            return TriedCase("", "", place.agent, found.run, SKIPPED, f"{place.agent} did not take part")
        told, key = verdicts.of(place.key), place.key
        if key is None or place.case is None:
            return TriedCase("", "", place.agent, found.run, told.outcome, told.message)
        return TriedCase(
            key.case_id,
            key.benchmark,
            place.agent,
            found.run,
            told.outcome,
            told.message,
            place.case.input,
            place.case.target,
            told.passed,
            told.tries,
            partial(_samples, self.suites.url, found.run, place),
        )

    def _verdicts(self, place: CasePlace, items: Sequence[pytest.Item]) -> SuiteVerdicts:
        identity = place.marked.identity
        if identity not in self.found:
            try:
                self.found[identity] = self.suites.verdicts(place.marked, _asked(place, items))
            except DynoError as error:
                self.found[identity] = error  # what every further test would meet, without asking again
        found = self.found[identity]
        if isinstance(found, DynoError):
            pytest.fail(str(found), pytrace=False)
        self.lines[found.run] = found.line
        return found

    def told(self, case: TriedCase) -> dict[str, object]:
        """What the process that started this one hears of a test."""
        return {"run": case.run, "line": self.lines.get(case.run, "")}

    def take(self, told: Mapping[str, object]) -> None:
        """What a test has found, here or in another process."""
        if told.get("line"):
            self.lines[str(told["run"])] = str(told["line"])
        if told.get("turns"):
            self.turns.add(str(told["turns"]))
        timing = told.get("timing")
        if not isinstance(timing, Mapping) or self.problem is not None:
            return
        try:
            self.timings.take(timing)
        except DynoError as error:
            self._note(error)

    def _note(self, error: DynoError) -> None:
        self.problem = error
        self.lines["not stored"] = f"timings are not stored: {error}"

    def close(self, *, interrupted: bool) -> bool:
        """Ends the session; whether timings became worse than what they were set against, or could not be stored."""
        for file in self.turns:
            Path(file).unlink(missing_ok=True)
        try:
            result = self.timings.close(interrupted=interrupted) if self.problem is None else None
        except DynoError as error:
            self._note(error)
            result = None
        if result is None:
            return self.problem is not None
        count = len(result.arms)
        self.lines[result.run_id] = f"{count} timing{'s' * (count != 1)}; dyno show {result.run_id[:13]}"
        self.timed = result
        if self.suites.against is None:
            return False
        found, told = worse_than(self.suites.against, result, self.suites.url)
        self.lines[f"{result.run_id} compared"] = told
        return found is not None and found.verdict is Verdict.WORSE

    def summarise(self, terminal: pytest.TerminalReporter) -> None:
        if not self.lines:
            return
        terminal.section("dyno", sep="-")
        for arm in self.timed.arms if self.timed is not None else ():
            figure = arm.metrics["duration_s"]
            terminal.write_line(f"{_seconds(figure.median):>10}  {_within(figure)}  {arm.name}")
        for line in self.lines.values():
            terminal.write_line(line)


def _seconds(value: float | None) -> str:
    return "?" if value is None else format_value(value, "s")


def _within(figure: MetricSummary) -> str:
    if figure.ci is None:
        return f"{figure.n} sample{'s' * (figure.n != 1)}"
    return f"[{', '.join(map(_seconds, figure.ci))}], {figure.n} samples"


def _asked(place: CasePlace, items: Sequence[pytest.Item]) -> list[CasePlace]:
    """The selected tests of the same mark."""
    found = []
    for item in items:
        callspec = getattr(item, "callspec", None)
        for value in callspec.params.values() if callspec is not None else ():
            if isinstance(value, CasePlace) and value.marked.identity == place.marked.identity:
                found.append(value)
    return found


def _samples(url: str, run: str, place: CasePlace) -> Sequence[Sample]:
    if place.key is None or not run:
        return ()
    with Store.open(url, must_exist=True) as store:
        header = store.runs.load(run, samples=False)
        arms = {arm.arm_id for arm in header.arms if (arm.agent, arm.benchmark) == (place.agent, place.key.benchmark)}
        return tuple(
            sample
            for sample in store.runs.find_samples(run, place.key.case_id)
            if sample.arm_id in arms and sample.phase is Phase.MEASURED
        )
