from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentdyno import garbage
from agentdyno.contracts import Experiment, ExperimentContext
from agentdyno.model import Limits, Phase, Sample, Status
from agentdyno.runner.executors.inline import InlineExecutor
from agentdyno.runner.schedule import Schedule
from tests.runner.building import job, outcome, plan, run, trial

SOON = Limits(timeout_s=1.0)
"""What does not hang ends long before, beside busy processes too."""


class Spied(Experiment):
    """Does what ``acts`` says for a stage or iteration, and keeps what was called."""

    calls: list[str]
    acts: dict[object, Callable[[], Any]]

    def setup(self, context: ExperimentContext) -> None:
        self._do("setup")

    def execute_once(self, context: ExperimentContext) -> Any:
        return self._do("warmup" if context.phase is Phase.WARMUP else context.iteration)

    def teardown(self, context: ExperimentContext) -> None:
        self._do("teardown")

    def _do(self, what: object) -> Any:
        self.calls.append(str(what))
        return self.acts.get(what, lambda: {"what": what})()


def spied(**acts: Callable[[], Any]) -> type[Spied]:
    named = {int(name[1:]) if name.startswith("i") else name: act for name, act in acts.items()}
    return type("Spied", (Spied,), {"calls": [], "acts": named})


def raises(error: BaseException) -> Callable[[], Any]:
    def act() -> None:
        raise error

    return act


def inline(target: Any, limits: Limits | None = None, **rest: Any) -> InlineExecutor:
    return InlineExecutor({"arm": job("target", limits=limits, inner_loops=1, **rest)}, {"arm": target})


@pytest.fixture
def before() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGALRM)
    yield
    assert signal.getsignal(signal.SIGALRM) is handler


def test_trials_share_one_setup_and_end_with_one_teardown() -> None:
    target = spied()
    with closing(inline(target, warmup=1)) as executor:
        samples = run(executor, trial(1), trial(2))
    assert target.calls == ["setup", "warmup", "warmup", *target.calls[3:-3], "1", "2", "teardown"]
    assert [item.output or item.readings["result.what"] for item in samples] == [1, 2]
    assert [item.key for item in samples] == [trial(1).key, trial(2).key]
    assert len(samples[0].details["warmup_s"]) == 1  # type: ignore[arg-type]
    assert "warmup_s" not in samples[1].details


def test_a_new_process_index_is_a_new_setup() -> None:
    target = spied()
    with closing(inline(target)) as executor:
        run(executor, trial(1), trial(2, process=1))
    assert [call for call in target.calls if call != "warmup"] == ["setup", "1", "teardown", "setup", "2", "teardown"]


def test_what_is_measured_finds_the_collector_of_garbage_as_it_is_anywhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(garbage, "_before", [])  # commands may have run in this process
    found = gc.get_threshold()
    try:
        gc.set_threshold(701, 11, 12)
        garbage.look_seldom(20_000)
        garbage.look_seldom(200_000)
        assert gc.get_threshold()[0] == 200_000
        with closing(inline(spied(i1=lambda: {"threshold": gc.get_threshold()[0]}))) as executor:
            executor.open()
            (sample,) = run(executor, trial(1))
        assert sample.readings["result.threshold"] == 701
        assert gc.get_threshold() == (701, 11, 12)
    finally:
        gc.set_threshold(*found)


def test_what_was_observed_is_told_in_a_form_that_can_be_stored() -> None:
    class Watching(Experiment):
        def execute_once(self, context: ExperimentContext) -> None:
            context.observe(path=Path("x"), names={"b", "a"})

    with closing(inline(Watching)) as executor:
        executor.open()
        run(executor, trial(0))
    observed = executor.facts.observed["arm"]
    assert {"path": "x", "names": ["a", "b"], "cpu": None}.items() <= observed.items()
    assert {"python", "implementation"} <= set(observed)
    assert executor.inner_loops == {"arm": 1}
    assert executor.facts.overhead_s is not None


def test_an_experiment_is_loaded_from_its_file_where_it_is_not_at_hand(tmp_path: Path) -> None:
    with closing(InlineExecutor({"arm": job("Logged", log=str(tmp_path / "log"))})) as executor:
        assert run(executor, trial(3))[0].readings["result.seed"] == 1003


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (raises(ValueError("no")), ("error", "exception", "execute")),
        (raises(SystemExit(3)), ("error", "exit", "execute")),
        (raises(MemoryError()), ("limit", "memory", "execute")),
        (object, ("error", "serialisation", "execute")),
        (lambda: threading.Event().wait(), ("timeout", "timeout", "execute")),
    ],
    ids=["raises", "exits", "memory", "object", "hangs"],
)
def test_a_trial_that_goes_wrong_costs_its_own_sample_only(
    act: Callable[[], Any], expected: tuple[str, str, str]
) -> None:
    target = spied(i1=act)
    with closing(inline(target, SOON)) as executor:
        samples = run(executor, trial(0), trial(1), trial(2))
    assert [outcome(item) for item in samples] == [("ok", "", ""), expected, ("ok", "", "")]
    assert target.calls.count("teardown") == target.calls.count("setup") == (1 if expected[0] == "error" else 2)


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("stage", ["setup", "warmup"])
@pytest.mark.parametrize("act", [raises(ValueError("no")), lambda: threading.Event().wait()], ids=["raises", "hangs"])
def test_a_failure_before_the_trial_is_set_up_anew_next_time(stage: str, act: Callable[[], Any]) -> None:
    failing = True

    def at_first() -> Any:
        nonlocal failing
        if failing:
            failing = False
            return act()
        return None

    target = spied(**{stage: at_first})
    with closing(inline(target, SOON, warmup=1)) as executor:
        first, second = run(executor, trial(0), trial(1))
    assert first.failure is not None
    assert first.failure.where == stage
    assert first.status in (Status.ERROR, Status.TIMEOUT)
    assert second.status is Status.OK
    assert target.calls.count("setup") == target.calls.count("teardown") == 2


def test_a_teardown_that_fails_is_reported() -> None:
    with closing(inline(spied(teardown=raises(ValueError("no"))))) as executor:
        run(executor, trial(0))
    [(arm_id, failure)] = executor.facts.teardown_failures
    assert (arm_id, failure.where, failure.message) == ("arm", "teardown", "ValueError: no")


def test_ctrl_c_goes_through_and_teardown_still_runs() -> None:
    target = spied(i1=raises(KeyboardInterrupt()))
    executor = inline(target)
    seen: list[Sample] = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(Schedule(plan(trial(0), trial(1), trial(2)), executor))
    assert target.calls[-2:] == ["1", "teardown"]


def test_ctrl_c_in_teardown_is_not_swallowed() -> None:
    executor = inline(spied(teardown=raises(KeyboardInterrupt())))
    run(executor, trial(0))
    with pytest.raises(KeyboardInterrupt):
        executor.close()


@pytest.mark.usefixtures("before")
def test_a_coroutine_that_timed_out_is_cancelled_before_teardown() -> None:
    calls: list[str] = []

    class Waiting(Experiment):
        async def execute_once(self, context: ExperimentContext) -> None:
            if context.phase is Phase.MEASURED:
                try:
                    await asyncio.Event().wait()
                finally:
                    calls.append("cancelled")

        async def teardown(self, context: ExperimentContext) -> None:
            calls.append("teardown")

    with closing(inline(Waiting, SOON)) as executor:
        assert outcome(run(executor, trial(0))[0]) == ("timeout", "timeout", "execute")
    assert calls == ["cancelled", "teardown"]


def test_warm_up_calls_have_a_time_limit_each_not_all_together() -> None:
    target = spied(warmup=lambda: threading.Event().wait(0.5))
    with closing(inline(target, Limits(timeout_s=2.0), warmup=5)) as executor:
        assert run(executor, trial(0))[0].status is Status.OK


def test_an_alarm_that_somebody_had_set_goes_on_afterwards() -> None:
    rang: list[int] = []
    handler = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    earlier = signal.setitimer(signal.ITIMER_REAL, 1000.0)
    try:
        with closing(inline(spied(), SOON)) as executor:
            run(executor, trial(0))
        left_s, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 900.0 < left_s <= 1000.0
        assert rang == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, *earlier)
        signal.signal(signal.SIGALRM, handler)


def test_outside_the_main_thread_there_is_no_timeout_but_everything_else() -> None:
    samples: list[Sample] = []

    def measure() -> None:
        with closing(inline(spied(), SOON)) as executor:
            samples.extend(run(executor, trial(0)))

    thread = threading.Thread(target=measure)
    thread.start()
    thread.join()
    assert [item.status for item in samples] == [Status.OK]
