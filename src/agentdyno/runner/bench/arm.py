"""One arm in this process: load, set up, warm up, time, tear down."""

from __future__ import annotations

import inspect
import random
import sys
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentdyno.contracts import ExperimentContext, Instrument
from agentdyno.model.plan import Phase, Trial
from agentdyno.model.sample import Failure, Sample, Status
from agentdyno.registry.adapt import adapt
from agentdyno.registry.local import Target, load_import, load_target
from agentdyno.runner.bench.affinity import cpu_use, stay_on, uses_one_cpu
from agentdyno.runner.bench.failures import classify, stage
from agentdyno.runner.bench.job import ArmJob, CodeReference
from agentdyno.runner.bench.readings import (
    involuntary_switches,
    memory_use,
    number_of,
    plain_or_text,
    reset_peak,
    split_output,
)
from agentdyno.runner.bench.timing import (
    TimedCalls,
    calibrate_loops,
    gc_policy,
    time_awaits,
    time_bare_calls,
    time_calls,
)
from agentdyno.workers.reference import QUEUED, References

if TYPE_CHECKING:
    import asyncio


_OVER = object()
CANCEL_S = 1.0
"""How long cancelled coroutines may take to clean up."""


def load_code(kind: str, code: CodeReference, also_known: Collection[str] = ()) -> Any:
    """The object that ``code`` names, after its imports."""
    for item in code.imports:
        load_import(item)
    return load_target(kind, Target(code.name, code.module, code.files), also_known)


class Bench:
    """Executes trials of one arm. ``prepare`` once, ``execute`` per trial, ``close`` always.

    Where the experiment ``yields`` its samples, ``steps`` takes the place of ``execute``.

    ``target`` is the experiment itself where it is at hand already; otherwise it is loaded from the job's code.
    """

    def __init__(self, job: ArmJob, target: Any = None) -> None:
        self.job = job
        self.context = ExperimentContext(
            run_id=job.run_id,
            arm_id=job.arm_id,
            params=dict(job.params),
            seed=job.seed,
            artifacts_dir=Path(job.artifacts_dir or "."),
        )
        self.inner_loops = job.inner_loops
        self.warmup_s: list[float] = []
        self.cpu: int | None = None
        self.ready = False
        self.yields = False
        self._target = target
        self._loop: asyncio.AbstractEventLoop | None = None
        self._experiment: Any = None
        self._call: Callable[[], Any]
        self._timed: Callable[[int], TimedCalls] | None = None
        self._timed_sync: Callable[[int], TimedCalls]
        self._timed_async: Callable[[int], TimedCalls]
        self._watching: tuple[Instrument, ...] = ()
        self._perturbing: dict[str, Instrument] = {}
        self._set_up = False
        self._references = References(job.reference_s)

    def prepare(self, announce: Callable[[str], None] = lambda _: None) -> None:
        """Loads, sets up, warms up and calibrates; raises ``StageFailed`` naming the stage.

        ``announce`` hears the name of each stage as it begins, and of warm-up again at each batch of its calls: what
        may not take longer or print more than a trial is one of these, not all of them together.
        """
        self.context.phase = Phase.WARMUP
        announce("load")
        with stage("load"):
            self._load()
        announce("setup")
        with stage("setup"):
            seed_everything(self.job.seed, self.context)
            self._set_up = True
            if self._experiment is not None:
                self._finish(self._experiment.setup(self.context))
        if self.yields:  # a trial of many samples is long: none is made in vain, and none is one of a batch
            self.inner_loops = 1
        else:
            self._warm_up(announce)
        self._references.begin()
        self.ready = True

    def _warm_up(self, announce: Callable[[str], None]) -> None:
        with stage("warmup"):
            before = cpu_use(time.perf_counter())
            for _ in range(self.job.warmup):
                announce("warmup")
                self.warmup_s.append(self._time(1).wall_ns / 1e9)
            tried = self.inner_loops is None or self.job.warmup > 0
            if tried:  # with `warmup: 0` and a given number of calls, not a single one goes unrecorded
                calibrated = calibrate_loops(partial(self._time_aloud, announce))
                self.inner_loops = self.inner_loops or calibrated
            one_cpu = uses_one_cpu(before, cpu_use(time.perf_counter()))
        if self.job.cpu is not None and tried and one_cpu and stay_on(self.job.cpu):
            self.cpu = self.job.cpu

    def execute(self, trial: Trial) -> Sample:
        """One sample. Whatever the measured code raises becomes part of it."""
        self._begin(trial)
        sample = self._measure(trial)
        assert sample is not None
        return sample

    def steps(self, trial: Trial, begun: int = 0) -> Iterator[Sample]:
        """The samples of a trial whose experiment yields them; one that failed is the last.

        ``begun`` of them are stored already, from before the run was resumed.
        """
        self._begin(trial)
        self.context.part = begun
        generator = self._call()
        self._timed = partial(time_bare_calls, partial(next, generator, _OVER))
        try:
            for part in count(begun):
                sample = self._measure(trial)
                if sample is None:
                    return
                yield replace(sample, part=part)
                if sample.status is not Status.OK:
                    return
        finally:
            generator.close()

    def _begin(self, trial: Trial) -> None:
        context = self.context
        context.phase, context.iteration, context.seed = trial.phase, trial.iteration, trial.seed
        seed_everything(trial.seed, context)

    def _measure(self, trial: Trial) -> Sample | None:
        """``None`` where an experiment that yields its samples has no more of them."""
        assert self.inner_loops is not None
        loops = 1 if trial.phase is Phase.INSTRUMENTED else self.inner_loops
        raw: dict[str, dict[str, Any]] = {}
        started_at_ms = time.time_ns() // 1_000_000
        try:
            with gc_policy(self.job.gc):
                reset_peak()
                switches, queued_before_s = involuntary_switches(), self._references.queued_s()
                timing = self._watched(self._instruments_for(trial), raw, loops)
                queued_s = self._references.queued_s()
                switches = involuntary_switches() - switches
                memory = memory_use()
            if timing.result is _OVER:
                return None
            readings = timing_readings(timing) | {"involuntary_switches": float(switches)}
            if memory is not None:
                readings |= {"rss_bytes": float(memory.rss_bytes), "peak_rss_bytes": float(memory.peak_rss_bytes)}
            numbers, details = _flatten(raw)
            returned, output = split_output(timing.result)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (whatever it raises belongs to its sample)
            status, failure = classify(error, "execute")
            return make_sample(trial, status, started_at_ms, inner_loops=loops, failure=failure)
        if trial.phase is Phase.INSTRUMENTED:
            readings = {}  # a disturbed clock is no measurement
        elif self._references.wanted:
            numbers |= self._references.now()
            if queued_s is not None and queued_before_s is not None:
                numbers[QUEUED] = (queued_s - queued_before_s) / loops
            self._references.worked(timing.wall_ns / 1e9)
        return make_sample(
            trial,
            Status.OK,
            started_at_ms,
            readings={**readings, **returned, **numbers},
            inner_loops=loops,
            output=output,
            details=details,
        )

    def close(self) -> Failure | None:
        """Tears down; the failure if that failed."""
        failure = None
        try:
            try:
                if self._set_up and self._experiment is not None:
                    self._set_up = False
                    self._finish(self._experiment.teardown(self.context))
            finally:
                self._references.close()
                self._close_loop()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001
            failure = classify(error, "teardown")[1]
        return failure

    def observed(self) -> dict[str, Any]:
        """What the experiment has observed so far, in a form that can be stored."""
        return {str(key): plain_or_text(value) for key, value in self.context.observed.items()}

    def _load(self) -> None:
        target = self._target if self._target is not None else load_code("experiments", self.job.code)
        params = dict(self.job.params)
        if inspect.isclass(inspect.unwrap(target)):
            arguments = _arguments(target, params)
            self._experiment = target(**arguments)
            # What ``param_schema`` names and ``__init__`` does not take is in ``params`` all the same.
            rest = {name: value for name, value in params.items() if name not in arguments}
            own = getattr(self._experiment, "params", None)
            self._experiment.params = {**rest, **own} if isinstance(own, Mapping) else params
            call = self._experiment.execute_once
            bound = partial(call, self.context)
            timed_sync = partial(time_calls, call, self.context)
        else:
            call = getattr(target, "function", target)
            bound = partial(call, **params) if params else call
            timed_sync = partial(time_bare_calls, bound)
        self._call = bound
        self.yields = inspect.isgeneratorfunction(inspect.unwrap(call))
        self._timed_sync = timed_sync
        self._timed_async = lambda loops: self._run(time_awaits(bound, loops))
        if inspect.iscoroutinefunction(call):
            self._timed = self._timed_async
        self._load_instruments()

    def _time_aloud(self, announce: Callable[[str], None], loops: int) -> TimedCalls:
        announce("warmup")
        return self._time(loops)

    def _time(self, loops: int) -> TimedCalls:
        """Times ``loops`` calls. Only the first call of all tells whether its result is to be awaited."""
        if self._timed is not None:
            return self._timed(loops)
        timing = self._timed_sync(loops)
        if not inspect.isawaitable(timing.result):
            self._timed = self._timed_sync
            return timing
        self._finish(timing.result)
        seed_everything(self.context.seed, self.context)  # what the trying call drew, the timed ones draw again
        self._timed = self._timed_async
        return self._timed(loops)

    def _load_instruments(self) -> None:
        watching = []
        for item in self.job.instruments:
            instrument = adapt(load_code("instruments", item.code), item.name, item.options)
            if instrument.perturbs:
                self._perturbing[item.name] = instrument
            else:
                watching.append(instrument)
        self._watching = tuple(watching)

    def _watched(self, instruments: tuple[Instrument, ...], raw: dict[str, dict[str, Any]], loops: int) -> TimedCalls:
        """Times with each instrument around the next one, and nothing else of ours in between."""
        if not instruments:
            return self._time(loops)
        first = instruments[0]
        with first.watch(raw.setdefault(first.name, {}), self.context.artifacts_dir):
            return self._watched(instruments[1:], raw, loops)

    def _instruments_for(self, trial: Trial) -> tuple[Instrument, ...]:
        if trial.phase is Phase.INSTRUMENTED:
            return (self._perturbing[trial.instrument],)
        return self._watching

    def _finish(self, result: Any) -> Any:
        return self._run(_awaiting(result)) if inspect.isawaitable(result) else result

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Runs it to its end. When the waiting is broken off, it is cancelled: teardown must not run beside it."""
        if self._loop is None:
            import asyncio  # costs a fifth of a worker's start, and few experiments need it

            self._loop = asyncio.new_event_loop()
        task = self._loop.create_task(coroutine)
        try:
            return self._loop.run_until_complete(task)
        finally:
            if not task.done():
                _cancel(self._loop, {task})
            elif not task.cancelled():
                task.exception()  # marks it as seen

    def _close_loop(self) -> None:
        loop, self._loop = self._loop, None
        if loop is None:
            return
        import asyncio

        try:
            _cancel(loop, asyncio.all_tasks(loop))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


async def _awaiting(result: Any) -> Any:
    return await result


def _cancel(loop: asyncio.AbstractEventLoop, tasks: set[asyncio.Task[Any]]) -> None:
    """Cancels ``tasks`` and lets them clean up for as long as ``CANCEL_S``."""
    import asyncio

    if not tasks:
        return
    for task in tasks:
        task.cancel()
    done, _ = loop.run_until_complete(asyncio.wait(tasks, timeout=CANCEL_S))
    for task in done:
        if not task.cancelled():
            task.exception()


def _arguments(kind: type, params: Mapping[str, Any]) -> dict[str, Any]:
    """What ``__init__`` takes of ``params``; the rest goes into its ``parameters``, where it has them."""
    taken = inspect.signature(kind).parameters
    if any(item.kind is item.VAR_KEYWORD for item in taken.values()):
        return dict(params)
    arguments = {name: value for name, value in params.items() if name in taken}
    rest = {name: value for name, value in params.items() if name not in taken}
    if rest and "parameters" in taken:
        arguments["parameters"] = {**rest, **(arguments.get("parameters") or {})}
    return arguments


def seed_everything(seed: int, context: ExperimentContext) -> None:
    """Seeds ``random``, numpy where it is loaded, and the context's own generator."""
    random.seed(seed)
    context.rng.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def timing_readings(timing: TimedCalls) -> dict[str, float]:
    """Seconds per call."""
    scale = 1e9 * timing.loops
    return {"duration_s": timing.wall_ns / scale, "cpu_s": timing.cpu_ns / scale}


def make_sample(trial: Trial, status: Status, started_at_ms: int, **rest: Any) -> Sample:
    """A sample of ``trial``."""
    return Sample(
        arm_id=trial.arm_id,
        phase=trial.phase,
        iteration=trial.iteration,
        status=status,
        started_at_ms=started_at_ms,
        case_id=trial.case_id,
        instrument=trial.instrument,
        seed=trial.seed,
        process=trial.process,
        **rest,
    )


def _flatten(raw: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    """Numbers of instruments as ``instrument.key``; the rest as details."""
    numbers: dict[str, float] = {}
    details: dict[str, Any] = {}
    for instrument, readings in raw.items():
        for key, value in readings.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                number = number_of(value)
                if number is not None:
                    numbers[f"{instrument}.{key}"] = number
            else:
                details.setdefault(instrument, {})[key] = value
    return numbers, details
