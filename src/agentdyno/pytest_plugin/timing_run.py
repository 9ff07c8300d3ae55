"""The timings of a session as one run of the store: each test is an arm, stored as soon as the test has ended."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.errors import NotComparable, RunError, StoreError
from agentdyno.findings.comparison.ask import compare_operands
from agentdyno.findings.engine.match import Operand
from agentdyno.model import (
    Arm,
    Comparison,
    Phase,
    RunResult,
    RunStatus,
    RunWarning,
    Sample,
    Spec,
    Status,
    Verdict,
)
from agentdyno.model.form import CUT_SHORT, INTERRUPTED
from agentdyno.model.identity import experiment_arm_id, new_run_id
from agentdyno.runs.closing import close_result, run_status
from agentdyno.runs.environment import capture_environment, capture_vcs
from agentdyno.runs.kinds import EXPERIMENT
from agentdyno.runs.normalising import Normaliser
from agentdyno.runs.ownership import owned
from agentdyno.runs.place import make_folder, now_ms, run_folder
from agentdyno.runs.recording import copied_where_gone
from agentdyno.store import Store
from agentdyno.workbench.location import output_root

TIMINGS = "pytest-timings"
"""The tag of these runs."""
_LOOKED_THROUGH = 500
_LEFT_OPEN = 50
"""Newest runs among which those of killed sessions are looked for."""


@dataclass(slots=True)
class TimingRun:
    """One run for all timed tests of a session, begun with the first of them."""

    url: str
    root: Path
    tool: str
    header: RunResult | None = None
    _store: Store | None = None
    _observed: dict[str, dict[str, object]] = field(default_factory=dict)
    _normaliser: Normaliser = field(default_factory=Normaliser)
    _beside_others: bool = False
    _owning: ExitStack = field(default_factory=ExitStack)

    def take(self, timing: Mapping[str, object]) -> None:
        """Stores what one test has measured."""
        experiment, params = str(timing["experiment"]), _mapping(timing["params"])
        arm_id = experiment_arm_id(experiment, params)
        if arm_id in self._observed:  # the test was run again: the first timing stays
            return
        if self.header is None or self._store is None:
            self.header, self._store = self._begin()
        run_id, store = self.header.run_id, self._store
        samples = [self._normaliser.take(sample) for sample in _samples(arm_id, timing)]
        with copied_where_gone(store, run_folder(self.header.spec, run_id), run_id):
            store.runs.add_arm(run_id, Arm(arm_id, str(timing["name"]), experiment, params), len(samples))
            for sample in samples:
                store.runs.append(run_id, sample)
            store.runs.commit()
        self._observed[arm_id] = {**_mapping(timing["observed"]), **_mapping(timing["extra"])}
        self._beside_others |= bool(timing["beside_others"])

    def close(self, *, interrupted: bool) -> RunResult | None:
        """The closed run; ``None`` where nothing was timed."""
        if self.header is None or self._store is None:
            return None
        stored = replace(
            self._store.runs.load(self.header.run_id),
            stopped_because=INTERRUPTED if interrupted else None,
            warnings=(_BESIDE_OTHERS,) if self._beside_others else (),
        )
        with copied_where_gone(self._store, run_folder(stored.spec, stored.run_id), stored.run_id):
            closed = _closed(self._store, stored, self._observed, self._normaliser)
        self._owning.close()
        self._store.close()
        return closed

    def _begin(self) -> tuple[RunResult, Store]:
        store = Store.open(self.url)
        name = f"pytest {self.root.name}"
        spec = Spec(name, (), tags=(TIMINGS,), output_dir=str(output_root(self.url)), base_dir=str(self.root))
        header = RunResult(
            run_id=new_run_id(),
            kind=EXPERIMENT,
            name=name,
            status=RunStatus.RUNNING,
            started_at=now_ms(),
            finished_at=None,
            seed=spec.seed,
            spec=spec,
            environment=capture_environment(),
            vcs=capture_vcs(self.root),
            tags=spec.tags,
            origin={"tool": "pytest", "version": self.tool, "file": "", "sha256": ""},
        )
        folder = run_folder(spec, header.run_id)
        make_folder(folder)
        _close_what_was_killed(store)
        self._owning.enter_context(owned(folder, header.run_id, leased=False))
        store.runs.begin(header, (), {})
        return header, store


def _closed(
    store: Store, stored: RunResult, observed: Mapping[str, Mapping[str, object]], normaliser: Normaliser
) -> RunResult:
    folder = run_folder(stored.spec, stored.run_id)
    stored = replace(stored, finished_at=now_ms())
    closed = normaliser.added_to(close_result(stored, metrics={}, observed=observed, folder=folder), whole=True)
    closed = replace(closed, status=run_status(closed))
    store.runs.finish(closed, folder=folder)
    return closed


def _close_what_was_killed(store: Store) -> None:
    """Sessions that were killed have left their runs open: what they stored is kept, as partial."""
    for row in store.runs.newest(_LEFT_OPEN):
        if TIMINGS not in row.tags or row.status is not RunStatus.RUNNING:
            continue
        stored = replace(store.runs.load(row.run_id), stopped_because=CUT_SHORT)
        with suppress(RunError), owned(run_folder(stored.spec, row.run_id), row.run_id, leased=False):
            _closed(store, stored, {}, Normaliser())


_BESIDE_OTHERS = RunWarning(
    "beside-others",
    "other tests ran at the same time: only one process measured at a time, but the others used the CPUs",
    "Time with `pytest -n 0`, or leave one CPU free.",
)


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}


def _samples(arm_id: str, timing: Mapping[str, object]) -> Iterator[Sample]:
    rows = timing["samples"]
    began, loops = int(str(timing["began_ms"])), int(str(timing["loops"]))
    for place, row in enumerate(rows if isinstance(rows, Sequence) else ()):
        readings = {name: float(value) for name, value in row.items()}
        yield Sample(arm_id, Phase.MEASURED, place, Status.OK, began, readings, inner_loops=loops)


def worse_than(reference: str, result: RunResult, url: str) -> tuple[Comparison | None, str]:
    """The timings beside those of a run, or of a git revision whose timings are stored; and what to say of it."""
    with Store.open(url) as store:
        try:
            baseline = _baseline(store, reference, result)
        except StoreError as error:
            return None, f"timings are not compared: {error.message}; {error.remedy or ''}".rstrip("; ")
        before = store.runs.load(baseline)
        operands = [Operand(item.run_id[:13], item, item.arms) for item in (before, result)]
        try:
            found = compare_operands(operands[0], operands[1], store)
        except NotComparable as error:
            return None, f"timings are not compared: {error.message}"
    worse = [arm.name for arm in found.arms if any(row.verdict is Verdict.WORSE for row in arm.metrics)]
    told = f"worse: {', '.join(worse)}" if worse else f"none is worse ({found.verdict})"
    return found, f"timings beside {baseline[:13]}: {told}; dyno compare {baseline[:13]} {result.run_id[:13]}"


def _baseline(store: Store, reference: str, result: RunResult) -> str:
    """A run by its id, else the newest timings that were made at the commit of a git revision."""
    commit = _commit(reference)
    if commit is None:
        return store.runs.find(reference)
    for row in store.runs.newest(_LOOKED_THROUGH):
        if TIMINGS in row.tags and row.run_id != result.run_id and row.status is RunStatus.COMPLETE:
            header = store.runs.load(row.run_id, samples=False)
            if header.vcs is not None and header.vcs.commit == commit and not header.vcs.dirty:
                return row.run_id
    raise StoreError(
        f"no timings of {reference} ({commit[:10]}) are stored",
        remedy=f"check {reference} out and run pytest there once, into the same store",
    )


def _commit(reference: str) -> str | None:
    import subprocess

    command = ["git", "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    except OSError:
        return None
    return done.stdout.strip() or None
