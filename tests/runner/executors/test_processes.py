"""Workers are kept, replaced and ended as the plan needs them."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.model import Limits, Phase, Status
from agentdyno.runner.bench.job import CodeReference, InstrumentJob, Launch
from agentdyno.runner.executors import processes as pool_module
from agentdyno.runner.schedule import Schedule
from tests.runner.building import SUBJECTS, TIMEOUT_S, is_running, job, outcome, plan, run, trial
from tests.runner.conftest import Pool


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_worker_is_kept_for_all_trials_of_its_arm_and_torn_down_at_the_end(pool: Pool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    executor = pool(job("Logged", log=str(log), inner_loops=1, warmup=1), job("answer", "other"))
    samples = run(executor, trial(0), trial(0, "other"), trial(1), trial(1, "other"), trial(2))
    executor.close()
    measured = [line for line in lines(log) if "warmup" not in line]
    assert measured == [f"execute measured {i}" for i in range(3)] + ["teardown measured 2"]
    assert lines(log)[0] == "setup warmup 0"
    assert [item.readings["result.seed"] for item in samples if item.arm_id == "arm"] == [1000, 1001, 1002]
    assert "warmup_s" in samples[0].details
    assert "warmup_s" not in samples[2].details
    assert executor.facts.overhead_s is not None
    assert executor.facts.overhead_s > 0


def test_what_workers_observe_and_calibrate_is_told_per_arm(pool: Pool) -> None:
    executor = pool(job("Observing"), job("nothing", "fast"))
    run(executor, trial(3), trial(0, "fast"))
    observed = executor.facts.observed["arm"]
    assert {"journal": "wal", "kinds": ["a", "b"], "thing": "x", "last": 3, "ratio": None}.items() <= observed.items()
    assert {"python", "implementation", "cpu"} <= set(executor.facts.observed["fast"])
    loops = executor.inner_loops["fast"]
    assert loops is not None
    assert loops > 100


def test_each_process_index_is_a_fresh_process_with_a_hash_seed_that_depends_on_it_alone(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    executor = pool(job("facts", "a"), job("facts", "b"))
    trials = [trial(i, arm, process=index) for i, index in enumerate((0, 0, 1)) for arm in ("a", "b")]
    samples = run(executor, *trials)
    found = {
        (trial.arm_id, trial.process): (item.readings["result.hash"], item.output)
        for trial, item in zip(trials, samples, strict=True)
    }
    pids = [item.readings["result.pid"] for item in samples]
    assert pids[0] == pids[2]
    assert len(set(pids)) == 4
    assert found["a", 0][0] == found["b", 0][0] != found["a", 1][0] == found["b", 1][0]
    assert [item.process for item in samples] == [0, 0, 0, 0, 1, 1]


def test_a_later_process_reuses_the_loops_that_the_first_one_calibrated(pool: Pool) -> None:
    executor = pool(job("nothing"))
    first, second = run(executor, trial(0), trial(1, process=1))
    assert first.inner_loops == second.inner_loops > 1


def test_a_worker_loads_nothing_heavy(pool: Pool) -> None:
    assert run(pool(job("facts")), trial(0))[0].output["modules"] == []  # type: ignore[index]


def test_a_worker_that_died_while_idle_is_replaced_and_its_missed_teardown_told(pool: Pool) -> None:
    executor = pool(job("answer"))
    first = run(executor, trial(0))[0]
    pid = int(first.readings["result.pid"])
    kill_and_wait(pid)
    second = run(executor, trial(1))[0]
    assert second.status is Status.OK
    assert second.readings["result.pid"] != pid
    [(arm_id, failure)] = executor.facts.teardown_failures
    assert (arm_id, failure.where) == ("arm", "teardown")
    assert failure.message.startswith("killed by SIGKILL")


def test_a_worker_that_dies_while_another_is_waited_for_harms_nobody(pool: Pool, tmp_path: Path) -> None:
    executor = pool(job("answer"), job("Logged", "other", log=str(tmp_path / "log")))
    pid = int(run(executor, trial(0))[0].readings["result.pid"])
    kill_and_wait(pid)
    samples = run(executor, trial(0, "other"), trial(1, "other"), trial(1))
    assert [item.status for item in samples] == [Status.OK] * 3


def kill_and_wait(pid: int) -> None:
    fd = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    select.select([fd], [], [])
    os.close(fd)


def test_no_more_workers_are_kept_than_stated_and_the_longest_idle_goes_first(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "MAX_LIVE", 2)
    stamps = iter(range(1, 100))
    monkeypatch.setattr(time, "time_ns", lambda: next(stamps) * 1_000_000)
    logs = {arm: tmp_path / arm for arm in "abc"}
    executor = pool(*(job("Logged", arm, log=str(log)) for arm, log in logs.items()))
    run(executor, trial(0, "a"), trial(0, "b"), trial(1, "a"), trial(0, "c"))
    assert [lines(logs[arm])[-1].split()[0] for arm in "abc"] == ["execute", "teardown", "execute"]
    run(executor, trial(1, "b"))
    assert [lines(logs[arm])[-1].split()[0] for arm in "abc"] == ["teardown", "execute", "execute"]


def test_several_trials_run_at_once_in_workers_of_their_own(pool: Pool) -> None:
    trials = [trial(i, arm) for i in range(4) for arm in ("a", "b")]
    executor = pool(job("answer", "a", inner_loops=1), job("answer", "b", inner_loops=1))
    samples = list(Schedule(plan(*trials), executor, parallelism=3))
    assert sorted(item.key for item in samples) == sorted(item.key for item in trials)
    assert {item.status for item in samples} == {Status.OK}
    assert len({item.readings["result.pid"] for item in samples}) >= 3


def test_closing_while_trials_run_interrupts_them_and_tears_down(pool: Pool, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    executor = pool(*(job("Broken", f.name, way="hangs", folder=str(f), inner_loops=1) for f in folders))
    pids = [int(run(executor, trial(0, f.name))[0].readings["result.pid"]) for f in folders]
    for folder in folders:
        executor.submit(trial(1, folder.name))
    executor.close()
    assert [lines(folder / "teardown") for folder in folders] == [[str(pid)] for pid in pids]
    assert not any(is_running(pid) for pid in pids)


def test_closing_before_a_worker_is_ready_ends_it(pool: Pool) -> None:
    executor = pool(job("answer"))
    executor.submit(trial(0))
    executor.close()


def test_an_interrupt_while_closing_still_ends_every_process(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = pool(job("answer", "a"), job("answer", "b"))
    pids = [int(item.readings["result.pid"]) for item in run(executor, trial(0, "a"), trial(0, "b"))]

    def impatient(worker: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(executor, "_retire", impatient)
    with pytest.raises(KeyboardInterrupt):
        executor.close()
    assert not any(is_running(pid) for pid in pids)


def test_a_schedule_that_is_left_ends_every_process(pool: Pool) -> None:
    executor = pool(job("answer", inner_loops=1))
    pid = 0
    for item in Schedule(plan(*(trial(i) for i in range(9))), executor, parallelism=2):
        pid = int(item.readings["result.pid"])
        break
    assert not is_running(pid)


def test_noise_on_both_streams_does_not_disturb_the_messages(pool: Pool) -> None:
    executor = pool(job("printing", count=500, inner_loops=2))
    samples = run(executor, *(trial(i) for i in range(5)))
    assert [item.output for item in samples] == [{"printed": True}] * 5


def test_large_samples_arrive_whole(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "watching.py"
    file.write_text(
        "from contextlib import contextmanager\n"
        "@contextmanager\ndef series(readings):\n    yield\n    readings['values'] = list(range(500_000))\n"
        "series.perturbs = False\n"
    )
    series = InstrumentJob("series", CodeReference("series", files=(str(file),)))
    executor = pool(job("answer", instruments=(series,), inner_loops=1))
    first, second = run(executor, trial(0), trial(1))
    assert first.details["series"] == {"values": list(range(500_000))}
    assert second.status is Status.OK


def test_large_parameters_arrive_whole(pool: Pool) -> None:
    code = CodeReference("len", module="builtins")
    assert outcome(run(pool(replace(job("x", code=code), params={"obj": "x" * 3_000_000})), trial(0))[0]) == (
        "error",
        "exception",
        "warmup",
    )


def test_instrumented_trials_carry_no_clock_and_failures_of_theirs_one_loop(pool: Pool, tmp_path: Path) -> None:
    instruments = tuple(InstrumentJob(name, CodeReference(name, files=(SUBJECTS,))) for name in ("loud", "quiet"))
    executor = pool(job("answer", instruments=instruments))
    timed, loud = run(executor, trial(0), trial(0, phase=Phase.INSTRUMENTED, instrument="loud"))
    assert timed.readings["quiet.seen"] == 1
    assert set(loud.readings) == {"loud.seen", "result.value", "result.pid"}
    assert loud.inner_loops == 1
    assert loud.key == trial(0, phase=Phase.INSTRUMENTED, instrument="loud").key


def test_warm_up_calls_have_a_time_limit_each_not_all_together(pool: Pool) -> None:
    limits = Limits(timeout_s=TIMEOUT_S)
    executor = pool(job("SlowWarmup", pause_s=0.55 * TIMEOUT_S, warmup=2, limits=limits, inner_loops=1))
    assert run(executor, trial(0))[0].status is Status.OK


def test_a_worker_imports_from_the_folders_it_is_given_before_all_others(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "subject_under_test.py").write_text(f"def subject():\n    return '{name}'\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "new"), str(tmp_path / "old")]))
    code = CodeReference("subject", module="subject_under_test")
    base = job("x", code=code)
    jobs = [replace(base, arm_id=name, launch=Launch(sys_path=(str(tmp_path / name),))) for name in ("old", "new")]
    old, new = run(pool(*jobs), trial(0, "old"), trial(0, "new"))
    assert (old.output, new.output) == ("old", "new")


def test_files_named_like_standard_modules_in_the_current_folder_do_not_stop_a_worker(
    pool: Pool, tmp_path: Path
) -> None:
    for name in ("json", "contextlib", "dataclasses", "socket", "types", "random"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('the wrong one')\n")
    assert run(pool(job("facts", launch=Launch(cwd=str(tmp_path)))), trial(0))[0].status is Status.OK
