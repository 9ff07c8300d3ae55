"""Samples from a schedule into the store, with progress on the way."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agentdyno.errors import StoreError
from agentdyno.model import Progress, Sample, Status
from agentdyno.model.codec import encode, from_plain
from agentdyno.runner.budgets import spent_usd
from agentdyno.runner.scheduler import Schedule
from agentdyno.store import Store

log = logging.getLogger("agentdyno.run")
UNSAVED = "unsaved-samples.jsonl"
COMMIT_WITHIN_S = 0.05


class Waiting(Protocol):
    """Something that knows whether the next sample is there already."""

    @property
    def pending(self) -> bool: ...


@dataclass(slots=True)
class Recording:
    """One run's way into the store. ``on_progress`` is called between samples.

    Each sample is committed at once, or, where ``waiting`` says that more are ready, together with them within
    ``COMMIT_WITHIN_S`` seconds.
    """

    store: Store
    run_id: str
    folder: Path
    on_progress: Callable[[Progress], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    waiting: Waiting | None = None
    _open_since: float = 0.0
    _uncommitted: list[Sample] = field(default_factory=list)
    _tally: _Tally = field(default_factory=lambda: _Tally())

    def take(self, schedule: Schedule, done: int) -> bool:
        """Records samples as they come; true when the user interrupted."""
        total = len(schedule.plan.trials)
        started, new = self.clock(), 0
        self.on_progress(Progress(self.run_id, done, total, 0, 0.0, None, "starting"))
        names = {arm.arm_id: arm.name for arm in schedule.plan.arms}
        samples = iter(schedule)
        try:
            for sample in samples:
                self._record(sample)
                new += 1
                self._tally.add(sample)
                elapsed = self.clock() - started
                left = total - done - new - schedule.skipped
                self.on_progress(
                    Progress(
                        self.run_id,
                        done + new,
                        total - schedule.skipped,
                        self._tally.errors,
                        elapsed,
                        elapsed / new * left,
                        names[sample.arm_id],
                        *self._tally.of_agents(),
                    )
                )
        except KeyboardInterrupt:
            log.info("interrupted; closing the run as partial")
            samples.close()  # type: ignore[attr-defined]
            return True
        except BaseException:
            samples.close()  # type: ignore[attr-defined]
            raise
        finally:
            self._commit()
        return False

    def rescue(self) -> None:
        """Samples that could not be saved when they were measured."""
        unsaved = self.folder / UNSAVED
        if not unsaved.is_file():
            return
        recorded = self.store.recorded(self.run_id)
        for line in unsaved.read_text().splitlines():
            sample = from_plain(Sample, json.loads(line))
            if recorded.get(sample.key) not in (Status.OK, Status.FAILED):
                self.store.append(self.run_id, sample, replace=True)
        self.store.commit()
        unsaved.unlink()

    def _record(self, sample: Sample) -> None:
        """Nothing is being measured here (unless trials overlap on purpose), so the commit disturbs nobody."""
        log.debug("sample %s: %s, %s s", sample.key, sample.status, sample.readings.get("duration_s"))
        now = self.clock()
        if not self._uncommitted:
            self._open_since = now
        self._uncommitted.append(sample)
        try:
            self.store.append(self.run_id, sample, replace=True)
            if self.waiting is None or not self.waiting.pending or now - self._open_since >= COMMIT_WITHIN_S:
                self._commit()
        except StoreError as error:
            with (self.folder / UNSAVED).open("a") as unsaved:
                unsaved.writelines(encode(item) + "\n" for item in self._uncommitted)
            self._uncommitted.clear()
            raise StoreError(
                f"{error.message}; the run stops here, what was measured is kept",
                where=error.where,
                remedy=f"{error.remedy or 'Make the store writable.'} Then `dyno resume {self.run_id}`.",
            ) from error

    def _commit(self) -> None:
        if self._uncommitted:
            self.store.commit()
            self._uncommitted.clear()


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
