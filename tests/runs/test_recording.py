"""Samples on their way into the store: when they are safe, and what happens when the store refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import StoreError
from agentdyno.model import Arm, Phase, Plan, Progress, Sample, Status, Trial
from agentdyno.model.sample import DISTURBED
from agentdyno.runner.executor import Facts, TrialStep
from agentdyno.runner.farm.hosts import TimingHosts
from agentdyno.runner.schedule import Schedule
from agentdyno.runs.recording import QUICK_S, UNSAVED, Recording, is_quick

FULL = StoreError("the disk is full", where="dyno.db", remedy="Make room.")


def sample(number: int, duration_s: float = 0.0, details: Mapping[str, object] | None = None) -> Sample:
    readings = {"duration_s": duration_s}
    return Sample("a", Phase.MEASURED, number, Status.OK, 0, readings, "c", details=details or {})


class Scripted:
    """An executor whose samples are known beforehand; ``before`` is called when the next one is asked for."""

    def __init__(self, samples: list[Sample], before: Callable[[int], None] = lambda _: None) -> None:
        self.samples, self.before, self.given = samples, before, 0
        self.facts = Facts()

    def open(self) -> None:
        pass

    def submit(self, trial: Trial) -> None:
        pass

    def wait(self) -> TrialStep:
        self.before(self.given)
        self.given += 1
        return TrialStep(self.samples[self.given - 1])

    def close(self) -> None:
        pass


class Shelf:
    """A store that remembers what was appended and what was committed, and in which thread."""

    def __init__(self) -> None:
        self.runs = self
        self.appended: list[int] = []
        self.committed: list[int] = []
        self.threads: set[str] = set()
        self.refuses = threading.Event()
        self.commits = threading.Condition()

    def append(self, _run_id: str, item: Sample, *, replace: bool = False, ended: bool = True) -> None:
        self.appended.append(item.iteration)

    def commit(self) -> None:
        if self.refuses.is_set():
            raise FULL
        with self.commits:
            self.committed = list(self.appended)
            self.threads.add(threading.current_thread().name)
            self.commits.notify_all()

    def wait_for(self, number: int) -> None:
        with self.commits:
            assert self.commits.wait_for(lambda: len(self.committed) >= number, 30)


def take(executor: Scripted, shelf: Shelf, folder: Path, seen: Callable[[Progress], None] = lambda _: None) -> bool:
    trials = tuple(Trial("a", Phase.MEASURED, i, "c") for i in range(len(executor.samples)))
    schedule = Schedule(Plan((Arm("a", "arm", "x"),), trials), executor)
    return Recording(shelf, "run", folder, seen, shares_commits=True).take(schedule, 0)  # type: ignore[arg-type]


def test_what_took_long_or_cost_money_is_safe_before_the_next_call_begins(tmp_path: Path) -> None:
    shelf = Shelf()
    safe: list[list[int]] = []
    samples = [
        sample(0, QUICK_S),
        sample(1, details={"judge_cost_usd": None}),
        sample(2, QUICK_S),
        sample(3, QUICK_S),
    ]
    take(Scripted(samples, lambda _: safe.append(list(shelf.committed))), shelf, tmp_path)
    assert safe == [[], [0], [0, 1], [0, 1, 2]]
    assert shelf.committed == [0, 1, 2, 3]


def test_quick_answers_share_a_commit_in_a_thread_of_its_own_and_none_is_left_at_the_end(tmp_path: Path) -> None:
    shelf = Shelf()
    executor = Scripted([sample(i) for i in range(50)], lambda i: shelf.wait_for(25) if i == 40 else None)
    assert take(executor, shelf, tmp_path) is False
    assert shelf.committed == list(range(50))
    assert "dyno-writer" in shelf.threads


def test_an_answer_is_quick_when_asking_again_costs_neither_time_nor_money() -> None:
    assert is_quick(sample(0, 0.001))
    assert not is_quick(sample(0, 1.0))
    assert not is_quick(replace(sample(0), readings={"cost_usd": 0.001}))
    assert not is_quick(TimingHosts(lambda _: "", first="here").marked(sample(0, 1.0), "another host"))
    paused = {DISTURBED: {"paused_s": 2.0, "readings": {"duration_s": 1.0}}}
    assert not is_quick(replace(sample(0), readings={}, details=paused)), (
        "its time counts for no figure, and was spent"
    )


def test_when_a_commit_fails_everything_that_is_not_safe_goes_into_a_file(tmp_path: Path) -> None:
    shelf = Shelf()

    def before(number: int) -> None:
        if number == 2:
            shelf.wait_for(2)
            shelf.refuses.set()

    with pytest.raises(StoreError, match="the disk is full; the run stops here") as caught:
        take(Scripted([sample(i) for i in range(8)], before), shelf, tmp_path)
    assert "dyno resume run" in str(caught.value)
    kept = {json.loads(line)["iteration"] for line in (tmp_path / UNSAVED).read_text().splitlines()}
    assert set(shelf.appended[2:]) <= kept
    assert len(kept) >= 1


def test_an_interrupt_keeps_what_was_finished_and_says_so(tmp_path: Path) -> None:
    def before(number: int) -> None:
        if number == 2:
            raise KeyboardInterrupt

    shelf = Shelf()
    executor = Scripted([sample(i) for i in range(5)], before)
    executor.facts.leftover = [TrialStep(sample(4))]
    assert take(executor, shelf, tmp_path) is True
    assert shelf.committed == [0, 1, 4]


def test_progress_counts_right_answers_failures_tokens_and_dollars(tmp_path: Path) -> None:
    seen: list[Progress] = []
    samples = [
        Sample("a", Phase.MEASURED, 0, Status.OK, 0, readings={"total_tokens": 12, "cost_usd": 0.5}, case_id="c"),
        Sample("a", Phase.MEASURED, 1, Status.FAILED, 0, readings={"total_tokens": 3}, case_id="c"),
        Sample("a", Phase.MEASURED, 2, Status.TIMEOUT, 0, case_id="c", details={"judge_cost_usd": 0.25}),
        Sample("a", Phase.MEASURED, 3, Status.OK, 0, case_id="c"),
    ]
    take(Scripted(samples), Shelf(), tmp_path, seen.append)
    assert [item.done for item in seen] == [0, 1, 2, 3, 4]
    last = seen[-1]
    assert (last.errors, last.pass_rate, last.tokens, last.cost_usd) == (1, 0.5, 15, 0.75)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert "dyno-writer" not in {thread.name for thread in threading.enumerate()}


class Remembering(Shelf):
    """A shelf that knows which samples ended their trials."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[int, int, bool]] = []
        self.ended: list[str] = []

    def append(self, _run_id: str, item: Sample, *, replace: bool = False, ended: bool = True) -> None:
        self.kept.append((item.iteration, item.part, ended))

    def end_trial(self, _run_id: str, trial: Trial) -> None:
        self.ended.append(trial.key)

    def recorded(self, _run_id: str) -> dict[str, Status]:
        return {}


class Halves(Scripted):
    """Each trial gives two samples and ends by itself."""

    def wait(self) -> TrialStep:
        number, part = divmod(self.given, 3)
        self.given += 1
        if part == 2:
            return TrialStep(None, trial=Trial("a", Phase.MEASURED, number, "c"))
        return TrialStep(replace(self.samples[number], part=part), ended=False)


def test_several_samples_of_a_trial_are_recorded_before_its_end_and_progress_counts_ends(tmp_path: Path) -> None:
    shelf, seen = Remembering(), list[Progress]()
    take(Halves([sample(0), sample(1)]), shelf, tmp_path, seen.append)
    assert shelf.kept == [(0, 0, False), (0, 1, False), (1, 0, False), (1, 1, False)]
    assert shelf.ended == ["a/measured/0/c/", "a/measured/1/c/"]
    assert [(item.done, None if item.sample is None else item.sample.part) for item in seen] == [
        (0, None),
        *[(0, 0), (0, 1), (1, None)],
        *[(1, 0), (1, 1), (2, None)],
    ]


def test_a_sample_that_did_not_end_its_trial_is_rescued_as_such(tmp_path: Path) -> None:
    shelf = Remembering()
    shelf.refuses.set()
    with pytest.raises(StoreError):
        take(Halves([sample(0, QUICK_S)]), shelf, tmp_path)
    shelf.refuses.clear()
    shelf.kept.clear()
    Recording(shelf, "run", tmp_path).rescue()  # type: ignore[arg-type]
    assert shelf.kept == [(0, 0, False)]
    assert not (tmp_path / UNSAVED).exists()


def test_what_is_in_both_files_is_rescued_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that was full in the middle of the first file: the second one, elsewhere, has all of it."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(elsewhere))
    shelf = Remembering()
    shelf.refuses.set()
    with pytest.raises(StoreError):
        take(Halves([sample(0, QUICK_S)]), shelf, tmp_path)
    whole = (tmp_path / UNSAVED).read_text()
    (elsewhere / f"dyno-run-{UNSAVED}").write_text(whole)
    (tmp_path / UNSAVED).write_text(f"{whole}{whole[: len(whole) // 2]}")
    shelf.refuses.clear()
    shelf.kept.clear()
    Recording(shelf, "run", tmp_path).rescue()  # type: ignore[arg-type]
    assert shelf.kept == [(0, 0, False)]
    assert list(elsewhere.iterdir()) == []
