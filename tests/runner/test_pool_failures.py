"""What an experiment does wrong costs its own sample, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.model import Limits, Status
from agentdyno.runner.bench.job import CodeReference
from agentdyno.runner.executors import processes as pool_module
from agentdyno.runner.executors.processes import ProcessExecutor
from agentdyno.workers import frames
from tests.runner.building import TIMEOUT_S, is_running, job, outcome, run, trial
from tests.runner.conftest import Pool

MIB = 2**20
TOOK_TOO_LONG = f"took longer than {TIMEOUT_S:g} s (timeout_s)"
LIMITS = {
    "hangs": Limits(timeout_s=TIMEOUT_S),
    "eats_memory": Limits(memory_bytes=512 * MIB),
    "returns_more_than_fits": Limits(memory_bytes=192 * MIB),
    "stops_itself": Limits(timeout_s=TIMEOUT_S),
    "ignores_interrupts": Limits(timeout_s=TIMEOUT_S),
    "writes_to_every_descriptor": Limits(timeout_s=10),
    "becomes_another_program": Limits(timeout_s=10),
    "closes_descriptors": Limits(timeout_s=10),
}
# What happens, the status, kind and message of its sample, and how often teardown runs: once in the worker that
# comes after it, and once in that which it happened to, unless they are one and the same or it did not survive.
SEVEN = [
    ("raises", "error", "exception", "ValueError: deliberate", 1),
    ("hangs", "timeout", "timeout", TOOK_TOO_LONG, 2),
    ("exits", "error", "exit", "ended its process with status 3", 1),
    ("crashes", "error", "signal", "killed by SIGSEGV", 1),
    ("eats_memory", "limit", "memory", "the memory limit was reached (memory_limit_mb)", 2),
    ("returns_object", "error", "serialisation", "the returned value cannot be stored", 1),
    ("floods", "limit", "output", "printed more than 16 MB (output_limit_mb)", 2),
]
MORE = [
    ("calls_sys_exit", "error", "exit", "called sys.exit('enough')", 1),
    (
        "returns_deep",
        "error",
        "serialisation",
        "the returned value cannot be stored: nested deeper than 50 levels",
        1,
    ),
    ("returns_more_than_fits", "limit", "memory", "the memory limit was reached (memory_limit_mb)", 2),
    ("floods_without_end", "limit", "output", "printed more than 16 MB (output_limit_mb)", 2),
    ("stops_itself", "timeout", "timeout", TOOK_TOO_LONG, 1),
    ("ignores_interrupts", "timeout", "timeout", TOOK_TOO_LONG, 1),
    ("interrupts_itself", "error", "exit", "ended its process with status 0", 2),
    ("becomes_another_program", "error", "exit", "ended its process with status 7", 1),
    ("closes_descriptors", "error", "exit", "ended its process with status", 2),
    ("writes_to_every_descriptor", "error", "exit", "broke off its connection and went on running", 1),
    ("starts_daemon_and_exits", "error", "exit", "ended its process with status 3", 1),
]
NAMES = ("way", "status", "kind", "message", "torn_down")


def broken(pool: Pool, way: str, folder: Path, when: str = "execute") -> ProcessExecutor:
    limits = LIMITS.get(way, Limits())
    return pool(
        job("Broken", way=way, folder=str(folder), when=when, limits=limits, inner_loops=1),
        job("answer", "other", limits=limits),
    )


def teardowns(folder: Path) -> int:
    file = folder / "teardown"
    return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.mark.parametrize(NAMES, SEVEN + MORE, ids=[case[0] for case in SEVEN + MORE])
def test_a_trial_that_goes_wrong_costs_its_own_sample_only(
    way: str,
    status: str,
    kind: str,
    message: str,
    torn_down: int,
    pool: Pool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if way in ("stops_itself", "ignores_interrupts", "writes_to_every_descriptor"):
        monkeypatch.setattr(pool_module, "GRACE_S", 0.2)  # they use up all of it
    executor = broken(pool, way, tmp_path)
    samples = run(executor, trial(0), trial(0, "other"), trial(1), trial(1, "other"), trial(2), trial(3))
    executor.close()
    failed = samples.pop(2)
    assert outcome(failed) == (status, kind, "execute")
    assert failed.failure is not None
    assert failed.failure.message.startswith(message)
    assert failed.key == trial(1).key
    assert failed.readings == {}
    assert [item.status for item in samples] == [Status.OK] * 5
    assert [item.key for item in samples[2:]] == [trial(1, "other").key, trial(2).key, trial(3).key]
    assert len({item.readings["result.pid"] for item in samples if item.arm_id == "other"}) == 1
    assert teardowns(tmp_path) == torn_down
    assert executor.facts.teardown_failures == []


@pytest.mark.parametrize(NAMES, SEVEN, ids=[case[0] for case in SEVEN])
def test_a_setup_that_goes_wrong_costs_one_sample_only(
    way: str, status: str, kind: str, message: str, torn_down: int, pool: Pool, tmp_path: Path
) -> None:
    executor = broken(pool, way, tmp_path, when="setup")
    first, second, other = run(executor, trial(0), trial(1), trial(0, "other"))
    executor.close()
    if way == "returns_object":  # what setup returns concerns nobody
        assert outcome(first) == ("ok", "", "")
    else:
        assert outcome(first) == (status, kind, "setup")
        assert first.failure is not None
        assert first.failure.message.startswith(message)
    assert [second.status, other.status] == [Status.OK] * 2
    assert teardowns(tmp_path) == (2 if way == "raises" else torn_down)


def test_a_coroutine_that_timed_out_is_cancelled_before_teardown(pool: Pool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    executor = pool(job("AsyncHang", log=str(log), limits=Limits(timeout_s=TIMEOUT_S)))
    assert outcome(run(executor, trial(1))[0]) == ("timeout", "timeout", "execute")
    assert log.read_text().split() == ["cancelled", "teardown"]


@pytest.mark.parametrize("way", ["raises", "exits", "hangs", "ignores_interrupts", "starts_daemon_and_exits"])
def test_a_teardown_that_goes_wrong_is_reported_and_ended(
    way: str, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way in ("hangs", "ignores_interrupts"):
        monkeypatch.setattr(pool_module, "GRACE_S", 0.2)  # they use up all of it
    executor = pool(job("StuckTeardown", way=way, folder=str(tmp_path), limits=Limits(timeout_s=TIMEOUT_S)))
    assert run(executor, trial(0))[0].status is Status.OK
    executor.close()
    [(arm_id, failure)] = executor.facts.teardown_failures
    messages = {"raises": "ValueError: deliberate", "exits": "ended its process with status 3"}
    messages["starts_daemon_and_exits"] = messages["exits"]
    assert (arm_id, failure.where) == ("arm", "teardown")
    assert failure.message == messages.get(way, TOOK_TOO_LONG)


@pytest.mark.parametrize("way", ["starts_children", "starts_daemon"])
def test_what_an_experiment_started_is_gone_when_it_is_closed(way: str, pool: Pool, tmp_path: Path) -> None:
    executor = broken(pool, way, tmp_path)
    run(executor, trial(1))
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(is_running(pid) for pid in pids)
    executor.close()
    assert len(pids) == (2 if way == "starts_children" else 1)
    assert not any(is_running(pid) for pid in pids)


def test_what_an_experiment_started_is_gone_when_its_process_dies(pool: Pool, tmp_path: Path) -> None:
    run(broken(pool, "starts_daemon_and_exits", tmp_path), trial(1))
    assert not is_running(int((tmp_path / "pids").read_text()))


def test_a_forked_child_that_goes_on_into_the_harness_neither_answers_nor_tears_down(
    pool: Pool, tmp_path: Path
) -> None:
    executor = broken(pool, "forks_and_forgets", tmp_path)
    samples = run(executor, trial(0), trial(1), trial(2))
    executor.close()
    assert [item.key for item in samples] == [trial(0).key, trial(1).key, trial(2).key]
    assert samples[1].output == {"who": "parent"}
    assert samples[0].readings["result.pid"] == samples[2].readings["result.pid"]
    assert teardowns(tmp_path) == 1


@pytest.mark.parametrize("way", ["closes_output", "takes_stdout_away", "leaves_thread"])
def test_an_experiment_may_take_its_output_away_and_leave_threads(
    way: str, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "leaves_thread":
        monkeypatch.setattr(pool_module, "GRACE_S", 0.5)  # it uses up all of it
    executor = broken(pool, way, tmp_path)
    samples = run(executor, trial(0), trial(1), trial(2))
    executor.close()
    assert [item.status for item in samples] == [Status.OK] * 3
    assert samples[0].readings["result.pid"] == samples[2].readings["result.pid"]
    assert teardowns(tmp_path) == 1
    assert executor.facts.teardown_failures == []


def test_after_its_output_is_closed_a_hanging_trial_still_times_out_without_spinning(
    pool: Pool, tmp_path: Path
) -> None:
    file = tmp_path / "closing.py"
    file.write_text(
        "import os, threading\n"
        "def subject(hang=False):\n"
        "    os.closerange(0, 3)\n"
        "    if os.path.exists(__file__ + '.hang'):\n"
        "        threading.Event().wait()\n"
    )
    executor = pool(
        job("subject", code=CodeReference("subject", files=(str(file),)), limits=Limits(timeout_s=TIMEOUT_S))
    )
    selected: list[object] = []
    select = executor._selector.select
    executor._selector.select = lambda timeout=None: selected.append(timeout) or select(timeout)  # type: ignore[method-assign, func-returns-value]
    assert run(executor, trial(0))[0].status is Status.OK
    (tmp_path / "closing.py.hang").touch()
    assert outcome(run(executor, trial(1))[0]) == ("timeout", "timeout", "execute")
    assert len(selected) < 30


def test_the_end_of_what_was_printed_comes_with_a_failure(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "talking.py"
    file.write_text("def subject():\n    print('some words')\n    raise ValueError\n")
    executor = pool(job("subject", code=CodeReference("subject", files=(str(file),))))
    executed = run(executor, trial(0))[0]
    assert executed.failure is not None
    assert executed.failure.where == "warmup"
    assert executed.failure.output_tail == "some words"


@pytest.mark.parametrize(("size", "status"), [(5000, Status.OK), (5001, Status.LIMIT)])
def test_a_trial_and_each_stage_before_it_may_print_exactly_as_much_as_allowed(
    size: int, status: Status, pool: Pool, tmp_path: Path
) -> None:
    file = tmp_path / "talking.py"
    file.write_text(
        "import os\n"
        "os.write(1, b'x' * 4000)\n"
        "class Talking:\n"
        "    def __init__(self, size): self.size = size\n"
        "    def setup(self, context): os.write(1, b'x' * 4000)\n"
        "    def execute_once(self, context): os.write(1, b'x' * self.size * (context.phase == 'measured'))\n"
        "    def teardown(self, context): pass\n"
    )
    code, limits = CodeReference("Talking", files=(str(file),)), Limits(output_bytes=5000)
    executor = pool(job("Talking", code=code, limits=limits, size=size, inner_loops=1))
    assert [item.status for item in run(executor, trial(0), trial(1))] == [status] * 2


def test_code_that_cannot_be_loaded_fails_in_the_stage_of_loading(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import agentdyno\n1 / 0\n")
    executor = pool(job("subject", code=CodeReference("subject", files=(str(file),))))
    executed = run(executor, trial(0))[0]
    assert outcome(executed) == ("error", "exception", "load")
    assert executed.failure is not None
    assert "ZeroDivisionError: division by zero (line 2)" in executed.failure.message


def test_a_job_that_is_too_long_for_a_message_is_the_failure_of_its_trial(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = pool(job("answer", value="x" * 5000))
    monkeypatch.setattr(frames, "LARGEST_BYTES", 4000)
    (sample,) = run(executor, trial(0))
    assert outcome(sample) == ("error", "serialisation", "load")
    assert sample.failure is not None
    assert "cannot be told to its process: a frame of" in sample.failure.message


def test_a_sample_that_is_too_long_for_a_message_is_the_failure_of_its_trial(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "subject_file.py"
    file.write_text(
        "from agentdyno.workers import frames\n"
        "def long(value=''):\n    frames.LARGEST_BYTES = 300\n    raise ValueError('x' * 1000)\n"
    )
    executor = pool(job("long", code=CodeReference("long", files=(str(file),)), inner_loops=1))
    (sample,) = run(executor, trial(0))
    assert outcome(sample) == ("error", "serialisation", "execute")
    assert sample.failure is not None
    assert "cannot be told to its owner: a frame of" in sample.failure.message
