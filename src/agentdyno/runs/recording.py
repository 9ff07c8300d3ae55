"""Samples from a schedule into the store, with progress on the way."""

from __future__ import annotations

import contextlib
import json
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from agentdyno.errors import StoreError, StoreGone
from agentdyno.model import Progress, RunResult, RunStatus, Sample, Status, Trial
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.model.sample import ELSEWHERE, disturbance_of
from agentdyno.runner.executor import TrialStep
from agentdyno.runner.rules.stopping import spent_usd
from agentdyno.runner.schedule import Schedule
from agentdyno.runs.place import now_ms
from agentdyno.store import Store

log = logging.getLogger("agentdyno.run")
UNSAVED = "unsaved-samples.jsonl"
COMMIT_WITHIN_S = 0.05
QUICK_S = 0.005
"""Seconds of a call that may share a commit with the ones after it, if it cost nothing."""


@dataclass(slots=True)
class Recording:
    """One run's way into the store. ``on_progress`` is called between samples, ``on_sample`` with each as it is
    stored, which is as ``normalise`` made it.

    Each sample is committed before the next trial begins, so that no more than the trials in flight are repeated
    after a crash. Only with ``shares_commits`` samples that come fast and cost nothing share a commit, which a thread
    makes within ``COMMIT_WITHIN_S`` seconds, while other trials run.

    ``repeated`` are the keys of trials that had ended and are performed anew: what was stored of one goes when the
    first step of the new one comes.
    """

    store: Store
    run_id: str
    folder: Path
    on_progress: Callable[[Progress], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    shares_commits: bool = False
    on_sample: Callable[[Sample], None] = lambda _: None
    normalise: Callable[[Sample], Sample] = lambda sample: sample
    repeated: set[str] = field(default_factory=set)
    _uncommitted: list[TrialStep] = field(default_factory=list)
    _writer: _Writer | None = None
    _tally: _Tally = field(default_factory=lambda: _Tally())

    def take(self, schedule: Schedule, done: int) -> bool:
        """Records samples as they come; true when the user interrupted. ``done`` trials had ended before."""
        total = len(schedule.plan.trials)
        started, new = self.clock(), 0
        self.on_progress(Progress(self.run_id, done, total, 0, 0.0, None, "starting"))
        names = {arm.arm_id: arm.name for arm in schedule.plan.arms}
        self._writer = _Writer(self.store.runs.commit) if self.shares_commits else None
        steps = schedule.steps()
        try:
            for step in steps:
                self._take_in(step)
                new += step.ended
                elapsed = self.clock() - started
                left = total - done - new - schedule.skipped
                self.on_progress(
                    Progress(
                        self.run_id,
                        done + new,
                        total - schedule.skipped,
                        self._tally.errors,
                        elapsed,
                        elapsed / new * left if new else None,
                        names[_told(step).arm_id],
                        *self._tally.of_agents(),
                        step.sample,
                    )
                )
        except KeyboardInterrupt:
            log.info("interrupted; closing the run as partial")
            steps.close()
            for step in schedule.executor.facts.leftover:
                self._take_in(step)
            return True
        except BaseException:
            steps.close()
            raise
        finally:
            self._end()
        return False

    def keep(self, samples: Iterable[Sample]) -> None:
        """Records samples that are not measured here, as they come; each of them ends its trial."""
        self._writer = _Writer(self.store.runs.commit) if self.shares_commits else None
        try:
            for sample in samples:
                self.record(TrialStep(sample))
        finally:
            self._end()

    def _take_in(self, step: TrialStep) -> None:
        if step.sample is not None:
            sample = self.normalise(step.sample)
            if sample is not step.sample:
                step = TrialStep(sample, step.ended, step.trial)
        self.record(step)
        if step.sample is not None:
            self.on_sample(step.sample)
            self._tally.add(step.sample)

    def rescue(self) -> None:
        """Samples that could not be saved when they were measured."""
        files = [path for path in _unsaved_files(self.folder, self.run_id) if path.is_file()]
        if not files:
            return
        recorded = self.store.runs.recorded(self.run_id)
        # Where the disk was full in the middle of the first file, what had got into it is in the second one as well.
        for line in dict.fromkeys(chain.from_iterable(path.read_text("utf-8").splitlines() for path in files)):
            try:
                step = _step(json.loads(line))
            except ValueError:  # cut off where the disk was full: that trial is made again
                continue
            key = _told(step).key
            if recorded.get(key) in (Status.OK, Status.FAILED):
                continue
            if recorded.pop(key, None) is not None:  # it was being performed anew
                self.repeated.add(key)
            self._append(step)
        self.store.runs.commit()
        for path in files:
            path.unlink()

    def record(self, step: TrialStep) -> None:
        """Nothing is being measured here (unless trials overlap on purpose), so the commit disturbs nobody."""
        sample = step.sample
        if sample is not None and log.isEnabledFor(logging.DEBUG):
            log.debug("sample %s: %s, %s s", sample.key, sample.status, sample.readings.get("duration_s"))
        self._uncommitted.append(step)
        try:
            self._append(step)
            if self._writer is None:
                self.store.runs.commit()
                self._uncommitted.clear()
            else:
                unsaved = self._writer.appended(at_once=sample is None or not is_quick(sample))
                del self._uncommitted[: len(self._uncommitted) - unsaved]
        except StoreGone:
            raise  # all of it is written, where nobody finds it: see ``keep_copy``
        except StoreError as error:
            raise self._rescued(error) from error

    def _append(self, step: TrialStep) -> None:
        if self.repeated and (told := _told(step)).key in self.repeated:
            self.repeated.discard(told.key)
            self.store.runs.forget_trial(self.run_id, told)
        if step.sample is not None:
            self.store.runs.append(self.run_id, step.sample, replace=True, ended=step.ended)
        elif step.trial is not None:
            self.store.runs.end_trial(self.run_id, step.trial)

    def _end(self) -> None:
        if self._writer is None:
            return
        try:
            self._writer.close()
            self._uncommitted.clear()
        except StoreGone:
            raise
        except StoreError as error:
            raise self._rescued(error) from error
        finally:
            self._writer = None

    def _rescued(self, error: StoreError) -> StoreError:
        """Puts what is not saved into a file, for the resume that follows: beside the result, or, where that disk is
        full as well, among the temporary ones."""
        lines = [f"{encode(_plain(step))}\n" for step in self._uncommitted]
        self._uncommitted.clear()
        kept = f"{len(lines):,} of the last trials could be kept nowhere and will be made again"
        for path in _unsaved_files(self.folder, self.run_id):
            try:
                with path.open("a", encoding="utf-8") as unsaved:
                    unsaved.writelines(lines)
            except OSError:
                continue
            kept = f"what was measured is kept ({path})"
            break
        return StoreError(
            f"{error.message}; the run stops here, {kept}",
            where=error.where,
            remedy=f"{error.remedy or 'Make the store writable.'} Then `dyno resume {self.run_id}`.",
        )


def _unsaved_files(folder: Path, run_id: str) -> tuple[Path, Path]:
    return folder / UNSAVED, Path(tempfile.gettempdir()) / f"dyno-{run_id}-{UNSAVED}"


@contextlib.contextmanager
def copied_where_gone(store: Store, folder: Path, run_id: str) -> Iterator[None]:
    """From the first look at the store to the last: what else is in it is as much at stake as this run."""
    try:
        yield
    except StoreGone as gone:
        raise keep_copy(store, folder, run_id, gone) from gone


def keep_copy(store: Store, folder: Path, run_id: str, gone: StoreGone) -> StoreError:
    """The store as it is open here, in the folder of the run: its own file has lost its name."""
    copy = folder / f"store-{now_ms()}.db"
    try:
        with contextlib.suppress(StoreGone):
            store.runs.commit()
        store.copy_open(copy)
    except (StoreError, OSError) as error:
        return StoreError(
            f"{gone.message}, and no copy of it can be made ({error})",
            where=gone.where,
            remedy="What was measured in this run is lost. Run it again.",
        )
    if store.runs.load(run_id, samples=False).status is not RunStatus.RUNNING:
        told, remedy = "the run has ended", "Put the copy in its place."
    else:
        told = "the run stops here"
        remedy = f"Put the copy in its place, or go on in it: `dyno resume {run_id[:13]} --store {copy}`."
    return StoreError(
        f"{gone.message}; {told}, and everything in the store is kept in {copy}", where=gone.where, remedy=remedy
    )


def _told(step: TrialStep) -> Sample | Trial:
    """What says of which trial and arm a step is."""
    told = step.sample or step.trial
    assert told is not None, "a step without a sample names the trial that it ends"
    return told


def _plain(step: TrialStep) -> dict[str, Any]:
    """A step as a line of ``UNSAVED``: its sample, or the trial that ended without another one."""
    if step.sample is None:
        return {"trial": to_plain(step.trial)}
    plain: dict[str, Any] = to_plain(step.sample)
    return plain if step.ended else {**plain, "ended": False}


def _step(plain: dict[str, Any]) -> TrialStep:
    if "trial" in plain:
        return TrialStep(None, trial=from_plain(Trial, plain["trial"]))
    return TrialStep(from_plain(Sample, plain), plain.get("ended", True))


def is_quick(sample: Sample) -> bool:
    """Whether asking again would cost neither time nor money."""
    if _took_s(sample) >= QUICK_S:
        return False
    return not spent_usd(sample) and "judge_cost_usd" not in sample.details


def _took_s(sample: Sample) -> float:
    """Also where that time counts for no figure: of another host, or of a bench that stood still."""
    disturbed, elsewhere = disturbance_of(sample), sample.details.get(ELSEWHERE)
    times = [sample.readings, disturbed[1] if disturbed else {}, elsewhere if isinstance(elsewhere, Mapping) else {}]
    return max(float(readings.get("duration_s", 0.0)) for readings in times)


class _Writer:
    """Commits at once, or ``COMMIT_WITHIN_S`` seconds later in a thread of its own."""

    def __init__(self, commit: Callable[[], None]) -> None:
        self._commit = commit
        self._wanted = threading.Event()
        self._ended = threading.Event()
        self._saving = threading.Lock()
        self._appended = self._saved = 0
        self._error: StoreError | None = None
        self._thread = threading.Thread(target=self._work, name="dyno-writer", daemon=True)
        self._thread.start()

    def appended(self, *, at_once: bool) -> int:
        """Takes note of one more sample in the store; how many of the last ones are not permanent yet."""
        if self._error is not None:
            raise self._error
        self._appended += 1
        if at_once:
            self._save()
        else:
            self._wanted.set()
        return self._appended - self._saved

    def close(self) -> None:
        """Commits what is left."""
        self._ended.set()
        self._wanted.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        self._save()

    def _work(self) -> None:
        try:
            while not self._ended.is_set():
                self._wanted.wait()
                self._wanted.clear()  # before the pause: `close` sets both, and neither may be missed
                self._ended.wait(COMMIT_WITHIN_S)
                self._save()
        except StoreError as error:
            self._error = error

    def _save(self) -> None:
        with self._saving:
            appended = self._appended  # what comes while the commit is made may miss it
            self._commit()
            self._saved = appended


@dataclass(slots=True)
class _Tally:
    """What progress says beyond counting."""

    errors: int = 0
    passed: int = 0
    judged: int = 0
    tokens: float = 0.0
    cost_usd: float = 0.0

    def add(self, sample: Sample) -> None:
        self.errors += sample.status not in (Status.OK, Status.FAILED)
        if sample.case_id:
            self.judged += 1
            self.passed += sample.status is Status.OK
            self.tokens += sample.readings.get("total_tokens", 0.0)
            self.cost_usd += spent_usd(sample)

    def of_agents(self) -> tuple[float | None, int, float]:
        return self.passed / self.judged if self.judged else None, int(self.tokens), self.cost_usd


def last_progress(result: RunResult) -> Progress:
    """What the end of a run that has ended said, for whoever was not there: its arms hold their samples."""
    tally = _Tally()
    samples = [sample for arm in result.arms for sample in arm.samples]
    for sample in samples:
        tally.add(sample)
    count, took_s = len(samples), ((result.finished_at or result.started_at) - result.started_at) / 1000
    return Progress(result.run_id, count, count, tally.errors, took_s, 0.0, result.arms[-1].name, *tally.of_agents())
