from __future__ import annotations

import asyncio
import functools
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentdyno.contracts import Experiment, ExperimentContext
from agentdyno.model import FailureKind, Phase, Sample, Status
from agentdyno.runner.bench.arm import Bench
from agentdyno.runner.bench.failures import StageFailed, classify
from agentdyno.runner.bench.job import CodeReference, InstrumentJob
from tests.runner.building import SUBJECTS, job, outcome, trial


@contextmanager
def prepared(target: Any, **rest: Any) -> Iterator[Bench]:
    bench = Bench(job("target", **rest), target)
    try:
        bench.prepare()
        yield bench
    finally:
        bench.close()


def execute(target: Any, **rest: Any) -> Sample:
    with prepared(target, **rest) as bench:
        return bench.execute(trial(1))


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_setup_comes_first_teardown_last_and_each_is_told_its_phase(tmp_path: Path) -> None:
    log = tmp_path / "log"
    stages: list[str] = []
    bench = Bench(job("Logged", log=str(log), warmup=2, inner_loops=3))
    bench.prepare(stages.append)
    warmups = len(lines(log)) - 1
    samples = [bench.execute(trial(7)), bench.execute(trial(8))]
    assert bench.close() is None
    assert lines(log) == [
        "setup warmup 0",
        *["execute warmup 0"] * warmups,
        *["execute measured 7"] * 3,
        *["execute measured 8"] * 3,
        "teardown measured 8",
    ]
    assert stages[:5] == ["load", "setup", "warmup", "warmup", "warmup"]
    assert set(stages[5:]) <= {"warmup"}
    assert len(bench.warmup_s) == 2
    assert [item.inner_loops for item in samples] == [3, 3]
    assert set(samples[0].readings) == {
        "duration_s",
        "cpu_s",
        "involuntary_switches",
        "rss_bytes",
        "peak_rss_bytes",
        "result.random",
        "result.rng",
        "result.seed",
    }
    assert samples[0].readings["duration_s"] > 0


def test_async_experiments_keep_one_event_loop_from_setup_to_teardown(tmp_path: Path) -> None:
    log = tmp_path / "log"
    bench = Bench(job("LoggedAsync", log=str(log), inner_loops=2))
    bench.prepare()
    before = len(lines(log))
    assert bench.execute(trial(1)).readings["result.seed"] == 1001
    assert len(lines(log)) - before == 2
    assert bench.close() is None
    assert (lines(log)[0], lines(log)[-1]) == ("setup", "teardown")


def test_each_trial_starts_from_its_own_seed_whatever_ran_before() -> None:
    def draw() -> dict[str, float]:
        return {"random": random.random(), "numpy": np.random.rand()}

    with prepared(draw, inner_loops=2) as first, prepared(draw, inner_loops=2) as second:
        once = [first.execute(trial(i)) for i in (1, 2, 3)]
        again = second.execute(trial(3))
    names = ("result.random", "result.numpy")
    assert [once[2].readings[name] for name in names] == [again.readings[name] for name in names]
    assert once[1].readings["result.random"] != once[2].readings["result.random"]
    assert once[1].readings["result.numpy"] != once[2].readings["result.numpy"]


def test_setup_and_the_context_are_seeded_too(tmp_path: Path) -> None:
    class Seeded(Experiment):
        def setup(self, context: ExperimentContext) -> None:
            self.drawn = [random.random(), context.rng.random(), float(np.random.rand())]

        def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
            return {"drawn": self.drawn, "rng": context.rng.random()}

    same = [execute(Seeded, seed=5, inner_loops=1) for _ in range(2)]
    other = execute(Seeded, seed=2**40, inner_loops=1)
    assert same[0].output == same[1].output != other.output
    assert same[0].readings["result.rng"] == other.readings["result.rng"] == random.Random(1001).random()


def test_what_is_observed_is_kept_in_a_form_that_can_be_stored() -> None:
    bench = Bench(job("Observing"))
    bench.prepare()
    bench.execute(trial(4))
    assert bench.observed() == {"journal": "wal", "kinds": ["a", "b"], "thing": "x", "last": 4, "ratio": None}
    bench.close()


def instrument(name: str) -> InstrumentJob:
    return InstrumentJob(name, CodeReference(name, files=(SUBJECTS,)))


def test_quiet_instruments_watch_timed_trials_and_loud_ones_have_trials_of_their_own() -> None:
    bench = Bench(job("answer", instruments=(instrument("quiet"), instrument("loud")), inner_loops=5))
    bench.prepare()
    timed = bench.execute(trial(0))
    loud = bench.execute(trial(0, phase=Phase.INSTRUMENTED, instrument="loud"))
    bench.close()
    assert timed.readings["quiet.seen"] == 1
    assert "duration_s" in timed.readings
    assert not any(name.startswith("loud") for name in timed.readings)
    assert timed.details == {"quiet": {"words": "calm"}}
    assert loud.readings == {"loud.seen": 2.5, "result.value": 42, "result.pid": timed.readings["result.pid"]}
    assert (timed.inner_loops, loud.inner_loops) == (5, 1)


def test_an_instrument_that_fails_is_named_and_does_not_pass_for_the_experiment(tmp_path: Path) -> None:
    file = tmp_path / "watching.py"
    file.write_text(
        "from contextlib import contextmanager\n"
        "@contextmanager\ndef bad(readings):\n    yield\n    raise OSError('sensor')\n"
        "bad.perturbs = False\n"
    )
    bench = Bench(job("nothing", instruments=(InstrumentJob("bad", CodeReference("bad", files=(str(file),))),)))
    bench.prepare()
    executed = bench.execute(trial())
    bench.close()
    assert executed.failure is not None
    assert outcome(executed) == ("error", "exception", "execute")
    assert "the instrument bad failed: OSError: sensor" in executed.failure.message


class Failing(Experiment):
    """Fails in one stage, and keeps what was called."""

    def __init__(self, stage: str, error: BaseException) -> None:
        super().__init__()
        self.stage, self.error = stage, error
        calls.clear()
        self._at("load")

    def setup(self, context: ExperimentContext) -> None:
        self._at("setup")

    def execute_once(self, context: ExperimentContext) -> None:
        self._at("warmup" if context.phase is Phase.WARMUP else "execute")

    def teardown(self, context: ExperimentContext) -> None:
        self._at("teardown")

    def _at(self, stage: str) -> None:
        calls.append(stage)
        if stage == self.stage:
            raise self.error


calls: list[str] = []


@pytest.mark.parametrize(
    ("stage", "called"),
    [
        ("load", ["load"]),
        ("setup", ["load", "setup", "teardown"]),
        ("warmup", ["load", "setup", "warmup", "teardown"]),
    ],
)
def test_a_failure_before_the_first_trial_names_its_stage_and_is_torn_down(stage: str, called: list[str]) -> None:
    bench = Bench(job("target", stage=stage, error=ValueError("deliberate")), Failing)
    with pytest.raises(StageFailed) as caught:
        bench.prepare()
    assert not bench.ready
    assert bench.close() is None
    assert (caught.value.status, caught.value.failure.where) == (Status.ERROR, stage)
    assert caught.value.failure.message == "ValueError: deliberate"
    assert calls == called


def test_a_failing_teardown_is_reported_and_happens_once() -> None:
    bench = Bench(job("target", stage="teardown", error=SystemExit(2)), Failing)
    bench.prepare()
    failure = bench.close()
    assert failure is not None
    assert (failure.kind, failure.where, failure.message) == (FailureKind.EXIT, "teardown", "called sys.exit(2)")
    assert bench.close() is None
    assert calls.count("teardown") == 1


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (ValueError("no"), ("error", "exception", "execute"), "ValueError: no"),
        (ValueError(), ("error", "exception", "execute"), "ValueError"),
        (ValueError("ends with:"), ("error", "exception", "execute"), "ValueError: ends with:"),
        (SystemExit("bye"), ("error", "exit", "execute"), "called sys.exit('bye')"),
        (GeneratorExit(), ("error", "exception", "execute"), "GeneratorExit"),
        (MemoryError(), ("limit", "memory", "execute"), "the memory limit was reached (memory_limit_mb)"),
        (MemoryError("array"), ("limit", "memory", "execute"), "MemoryError: array"),
        (asyncio.CancelledError(), ("error", "exception", "execute"), "CancelledError"),
        (
            Unprintable(),
            ("error", "exception", "execute"),
            "Unprintable: <Unprintable that cannot be printed: RuntimeError>",
        ),
        (ValueError("x" * 10**6), ("error", "exception", "execute"), "ValueError: " + "x" * 1988),
        (SystemExit("x" * 10**6), ("error", "exit", "execute"), "called sys.exit('" + "x" * 1983),
    ],
)
def test_whatever_the_measured_code_raises_belongs_to_its_sample(
    error: BaseException, expected: tuple[str, str, str], message: str
) -> None:
    def maybe() -> None:
        if armed:
            raise error

    armed = False
    with prepared(maybe) as bench:
        armed = True
        failed = bench.execute(trial(1))
        armed = False
        fine = bench.execute(trial(2))
    assert outcome(failed) == expected
    assert failed.failure is not None
    assert failed.failure.message == message
    assert failed.readings == {}
    assert fine.status is Status.OK


def test_an_interrupt_is_not_a_result_of_the_measured_code() -> None:
    def interrupted() -> None:
        if armed:
            raise KeyboardInterrupt

    armed = False
    with prepared(interrupted) as bench:
        armed = True
        with pytest.raises(KeyboardInterrupt):
            bench.execute(trial())


@pytest.mark.parametrize("returned", [object(), [[object()]], {"f": lambda: 1}])
def test_an_unserialisable_return_is_an_error_of_its_own_kind(returned: object) -> None:
    assert outcome(execute(lambda: returned)) == ("error", "serialisation", "execute")


def crash() -> None:
    try:
        os.environ["MISSING"]
    except KeyError:
        raise ValueError("deliberate") from None


def chained() -> None:
    try:
        os.environ["MISSING"]
    except KeyError as error:
        raise ValueError("deliberate") from error


async def crash_later() -> None:
    await asyncio.sleep(0)
    crash()


@pytest.mark.parametrize("function", [crash, crash_later])
def test_a_traceback_shows_the_users_frames_and_none_of_the_harness(function: Callable[[], Any]) -> None:
    with pytest.raises(StageFailed) as caught:
        execute(function)
    text = caught.value.failure.traceback
    assert text is not None
    assert text.startswith("Traceback (most recent call last):\n")
    assert text.endswith("ValueError: deliberate\n")
    assert "in crash\n" in text
    assert "agentdyno/runner" not in text
    assert "asyncio" not in text
    assert "MISSING" not in text.split('raise ValueError("deliberate")')[1]


def test_a_traceback_tells_the_cause_too() -> None:
    with pytest.raises(StageFailed) as caught:
        execute(chained)
    text = caught.value.failure.traceback or ""
    assert "KeyError: 'MISSING'" in text
    assert "direct cause" in text


def test_the_traceback_of_endless_recursion_is_short() -> None:
    def deeper() -> None:
        deeper()

    with pytest.raises(StageFailed) as caught:
        execute(deeper)
    text = caught.value.failure.traceback or ""
    assert len(text) <= 8000
    assert "more times]" in text


def test_groups_of_exceptions_are_told() -> None:
    group = ExceptionGroup("several", [ValueError("one"), OSError("two")])
    text = classify(group, "execute")[1].traceback or ""
    assert "ValueError: one" in text
    assert "OSError: two" in text


async def later(value: int = 3) -> dict[str, int]:
    await asyncio.sleep(0)
    return {"value": value}


@functools.wraps(later)
def waits_itself(value: int = 3) -> dict[str, int]:
    return asyncio.run(later(value))


def hands_on(value: int = 3) -> Any:
    return later(value)


@functools.wraps(later)
def hands_on_with_name(value: int = 3) -> Any:
    return later(value)


@pytest.mark.parametrize("function", [later, waits_itself, hands_on, hands_on_with_name])
@pytest.mark.parametrize("warmup", [0, 2])
def test_what_is_to_be_awaited_is_awaited_however_the_function_is_wrapped(
    function: Callable[..., Any], warmup: int
) -> None:
    assert execute(function, value=4, warmup=warmup).readings["result.value"] == 4


def test_tasks_that_an_experiment_left_behind_are_cancelled_at_the_end() -> None:
    cancelled: list[str] = []

    class Serving(Experiment):
        async def setup(self, context: ExperimentContext) -> None:
            self.task = asyncio.get_running_loop().create_task(self._serve())

        async def _serve(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append("server")

        async def execute_once(self, context: ExperimentContext) -> None:
            await asyncio.sleep(0)

    execute(Serving)
    assert cancelled == ["server"]


def test_functions_get_their_parameters_and_classes_keep_them() -> None:
    class Plain:
        def __init__(self, size: int) -> None:
            self.size = size

        def setup(self, context: ExperimentContext) -> None:
            pass

        teardown = setup

        def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
            return {"size": self.size, "params": self.params, "context": context.params}  # type: ignore[attr-defined]

    assert execute(Plain, size=9).output == {"params": {"size": 9}, "context": {"size": 9}}
    assert execute(lambda size: {"size": size}, size=9).readings["result.size"] == 9


def test_without_warm_up_and_with_a_given_number_of_calls_none_goes_unrecorded(tmp_path: Path) -> None:
    file = tmp_path / "counting.py"
    file.write_text("calls = []\ndef count():\n    calls.append(1)\n    return {'calls': len(calls)}\n")
    code = CodeReference("count", files=(str(file),))
    bench = Bench(job("count", code=code, warmup=0, inner_loops=1))
    bench.prepare()
    assert [bench.execute(trial(i)).readings["result.calls"] for i in range(3)] == [1, 2, 3]
    bench.close()
