"""Runs whose trials give any number of samples: what a resume performs again, and what is then in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agentdyno.contracts import StopRule
from agentdyno.errors import StoreError
from agentdyno.findings.figures.summarise import status_counts
from agentdyno.model import Arm, Phase, Plan, RunResult, Sample, Spec, Status, Trial
from agentdyno.runner.executor import Executor, Facts, TrialStep
from agentdyno.runs import pipeline
from agentdyno.runs.kind import Ended, KindWords, Prepared, RunRequest, Source, Tools
from agentdyno.runs.place import Place
from agentdyno.store import Store

OK, ERROR = Status.OK, Status.ERROR


@dataclass
class Scripted:
    """Trial by trial the statuses of its samples; a trial without any ends without one."""

    script: list[list[Status]]
    performed: list[int]
    facts: Facts = field(default_factory=Facts)
    steps: list[TrialStep] = field(default_factory=list)

    def open(self) -> None: ...

    def submit(self, trial: Trial) -> None:
        self.performed.append(trial.iteration)
        for part, status in enumerate(self.script[trial.iteration]):
            sample = Sample(trial.arm_id, trial.phase, trial.iteration, status, 0, {}, part=part)
            self.steps.append(TrialStep(sample, ended=False))
        self.steps.append(TrialStep(None, trial=trial))

    def wait(self) -> TrialStep:
        return self.steps.pop(0)

    def close(self) -> None: ...


@dataclass
class ScriptedKind:
    script: list[list[Status]]
    performed: list[int] = field(default_factory=list)
    name: str = "scripted"
    findings: tuple[str, ...] = ()
    continuable: bool = False
    words: KindWords = field(default_factory=KindWords)

    def read(self, source: Source, changes: Mapping[str, Any]) -> RunRequest:
        return RunRequest(self.name, Spec("scripted", ()))

    def again(self, header: RunResult, tools: Tools) -> RunRequest:
        return RunRequest(self.name, header.spec)

    @contextmanager
    def prepare(self, request: RunRequest, tools: Tools) -> Iterator[Prepared[None]]:
        trials = tuple(Trial("a", Phase.MEASURED, number) for number in range(len(self.script)))
        yield Prepared(request, Plan((Arm("a", "a", "e"),), trials), None, samples_per_trial=None)

    def executor(self, prepared: Prepared[None], place: Place) -> Executor:
        return Scripted(self.script, self.performed)

    def rules(
        self, prepared: Prepared[None], executor: Executor, tools: Tools, given_up: Callable[[str], bool]
    ) -> list[StopRule]:
        return []

    def close(self, header: RunResult, prepared: Prepared[None], ended: Ended) -> RunResult:
        stored = ended.whole(header)
        return replace(stored, arms=tuple(replace(arm, statuses=status_counts(arm.samples)) for arm in stored.arms))


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> ScriptedKind:
    made = ScriptedKind([])
    monkeypatch.setattr(pipeline, "kind_named", lambda name: made)
    return made


def started(kind: ScriptedKind, tools: Tools) -> None:
    with kind.prepare(kind.read(Source(), {}), tools) as prepared:
        pipeline.start(kind, prepared, tools)


def test_a_trial_that_is_retried_with_fewer_samples_leaves_none_of_the_old_ones(
    store: Store, kind: ScriptedKind, tmp_path: Path
) -> None:
    tools = Tools(store, tmp_path)
    kind.script = [[OK, OK], [OK, OK, ERROR], [OK]]
    started(kind, tools)
    kind.performed.clear()
    kind.script = [[OK], [OK], [OK]]
    result = pipeline.resume("last", tools, retry_errors=True)
    assert kind.performed == [1]
    kept = [(sample.iteration, sample.part, sample.status) for sample in result.arms[0].samples]
    assert kept == [(0, 0, OK), (0, 1, OK), (1, 0, OK), (2, 0, OK)]
    assert result.arms[0].statuses == {"ok": 4}
    assert store.runs.unfinished(result.run_id) == {}


def test_a_trial_that_is_retried_and_has_no_sample_any_more_is_not_retried_again(
    store: Store, kind: ScriptedKind, tmp_path: Path
) -> None:
    tools = Tools(store, tmp_path)
    kind.script = [[OK], [OK, ERROR]]
    started(kind, tools)
    kind.script = [[OK], []]
    for performed in ([1], []):
        kind.performed.clear()
        result = pipeline.resume("last", tools, retry_errors=True)
        assert kind.performed == performed
        assert [(sample.iteration, sample.status) for sample in result.arms[0].samples] == [(0, OK)]


def test_a_trial_that_ended_without_a_sample_is_not_performed_again(
    store: Store, kind: ScriptedKind, tmp_path: Path
) -> None:
    tools = Tools(store, tmp_path)
    kind.script = [[OK], [], [ERROR]]
    started(kind, tools)
    assert kind.performed == [0, 1, 2]
    kind.performed.clear()
    kind.script = [[OK], [OK, OK], [OK]]
    result = pipeline.resume("last", tools, retry_errors=True)
    assert kind.performed == [2]
    assert [sample.iteration for sample in result.arms[0].samples] == [0, 2]


def test_what_a_retried_trial_gave_when_the_store_was_full_takes_the_place_of_the_old_samples_later(
    store: Store, kind: ScriptedKind, tmp_path: Path
) -> None:
    tools = Tools(store, tmp_path)
    kind.script = [[OK], [OK, OK, ERROR], [ERROR]]
    started(kind, tools)
    kind.script = [[OK], [OK], []]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(store.runs), "commit", _refuse)
        with pytest.raises(StoreError, match="the disk is full"):
            pipeline.resume("last", tools, retry_errors=True)
    kind.performed.clear()
    result = pipeline.resume("last", tools, retry_errors=True)
    assert kind.performed == [2]
    assert [(sample.iteration, sample.part) for sample in result.arms[0].samples] == [(0, 0), (1, 0)]
    # Its end never came: it stays as it is, because trials of this kind cannot go on.
    assert store.runs.unfinished(result.run_id) == {"a/measured/1//": 1}
    assert store.runs.recorded(result.run_id).keys() == {"a/measured/0//", "a/measured/2//"}


def _refuse(_repository: object) -> None:
    raise StoreError("the disk is full")
