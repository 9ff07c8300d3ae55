"""Sleeping as a kind of run: an arm is a duration, a trial a sleep in two halves, each half a sample.

    name: naps
    sleep: {seconds: [0.01, 0.02], trials: 3, until: awake}

The second half of a sleep also lasts until the file ``until`` is there, if one is named. A sleep that was broken off
in its second half goes on there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentdyno.contracts import StopRule
from agentdyno.errors import SpecError
from agentdyno.findings.figures.summarise import status_counts, summarise
from agentdyno.model import Arm, Entry, Phase, Plan, RunResult, Sample, Spec, Status, Trial
from agentdyno.runner.executor import Executor, Facts, TrialStep
from agentdyno.runs.kind import Announced, Ended, KindWords, Prepared, RunRequest, Source, Tools
from agentdyno.runs.place import Place, now_ms
from agentdyno.specs import read_document

HALVES = 2
LOG = Path("sleeps.log")


@dataclass(frozen=True)
class Bed:
    """What a run of sleeps works with: the seconds of each arm, and the file that wakes sleepers up."""

    seconds: Mapping[str, float]
    until: Path | None = None


class Sleeper:
    """Performs the sleeps, in this process and one at a time."""

    def __init__(self, bed: Bed, begun: Mapping[str, int]) -> None:
        self.facts = Facts()
        self._bed = bed
        self._begun = begun
        self._trial: Trial | None = None
        self._part = 0

    def open(self) -> None:
        self.facts.observed.update((arm_id, {"bed": "soft"}) for arm_id in self._bed.seconds)

    def submit(self, trial: Trial) -> None:
        self._trial, self._part = trial, self._begun.get(trial.key, 0)

    def wait(self) -> TrialStep:
        trial, part = self._trial, self._part
        assert trial is not None
        began, began_ms = time.perf_counter(), now_ms()
        with LOG.open("a") as log:
            log.write(f"{trial.arm_id} {trial.iteration} {part}\n")
        time.sleep(self._bed.seconds[trial.arm_id] / HALVES)
        while part and self._bed.until is not None and not self._bed.until.exists():
            time.sleep(0.01)
        self._part += 1
        readings = {"duration_s": time.perf_counter() - began, "half": float(part)}
        sample = Sample(trial.arm_id, Phase.MEASURED, trial.iteration, Status.OK, began_ms, readings, part=part)
        return TrialStep(sample, ended=self._part == HALVES)

    def close(self) -> None:
        self._trial = None


class SleepKind:
    name = "sleep"
    findings = ()
    continuable = True
    words = KindWords("sleeps")

    def read(self, source: Source, changes: Mapping[str, Any]) -> RunRequest:
        assert source.path is not None
        document: Any = read_document(source.path)
        asked = document[self.name]
        if not isinstance(asked, Mapping) or "seconds" not in asked:
            raise SpecError("a sleep has `seconds`", where=f"{source.path}: sleep", remedy="Write seconds: [0.1].")
        params = {"trials": 1, **asked}
        spec = Spec(document.get("name", "sleep"), (Entry(self.name, params),), source=str(source.path))
        return RunRequest(self.name, replace(spec, **changes))

    def again(self, header: RunResult, tools: Tools) -> RunRequest:
        return RunRequest(self.name, header.spec)

    @contextmanager
    def prepare(self, request: RunRequest, tools: Tools) -> Iterator[Prepared[Bed]]:
        params: Mapping[str, Any] = request.spec.entries[0].params
        seconds = {f"sleep-{value:g}": float(value) for value in params["seconds"]}
        arms = [Arm(arm_id, f"{value:g} s", self.name, {"seconds": value}) for arm_id, value in seconds.items()]
        trials = [Trial(arm_id, Phase.MEASURED, i) for i in range(params["trials"]) for arm_id in seconds]
        until = params.get("until")
        yield Prepared(
            request=request,
            plan=Plan(tuple(arms), tuple(trials)),
            work=Bed(seconds, Path(until) if until else None),
            announced=Announced(f"{len(trials)} sleeps"),
            samples_per_trial=HALVES,
        )

    def executor(self, prepared: Prepared[Bed], place: Place) -> Executor:
        return Sleeper(prepared.work, place.begun)

    def rules(
        self, prepared: Prepared[Bed], executor: Executor, tools: Tools, given_up: Callable[[str], bool]
    ) -> list[StopRule]:
        return []

    def close(self, header: RunResult, prepared: Prepared[Bed], ended: Ended) -> RunResult:
        stored = ended.whole(header)
        arms = (
            replace(
                arm,
                observed=ended.facts.observed[arm.arm_id],
                metrics=summarise(arm.samples),
                statuses=status_counts(arm.samples),
            )
            for arm in stored.arms
        )
        return replace(stored, arms=tuple(arms))
