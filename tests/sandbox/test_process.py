from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from agentdyno.sandbox import LimitedProcess
from agentdyno.sandbox.process import TAIL_BYTES, environment_of
from tests.runner.building import children, descriptors, is_running
from tests.waiting import wait_until

WAIT_S = 60.0
Start = Callable[..., LimitedProcess]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python on a text, ends it after the test, and proves that nothing is left."""
    open_before, children_before = descriptors(), children()
    with ExitStack() as stack:

        def make(text: str, *arguments: str, **options: Any) -> LimitedProcess:
            process = LimitedProcess([sys.executable, "-c", text, *arguments], **options)
            stack.enter_context(closing(process))
            return process

        yield make
    assert children() == children_before
    assert descriptors() == open_before


def test_all_output_is_counted_and_its_end_kept(start: Start) -> None:
    process = start("import os; os.write(1, b'a' * 300_000); os.write(2, b'z' * 10)")
    assert process.wait(WAIT_S) == 0
    process.drain()
    assert process.output_bytes == 300_010
    assert process.take_tail() == "a" * (TAIL_BYTES - 10) + "z" * 10
    assert process.take_tail() is None
    assert process.output_bytes == 0
    assert not process.output_open


def test_one_drain_of_endless_output_comes_to_an_end(start: Start) -> None:
    process = start("import os\nwhile True: os.write(1, b'x' * 65536)")
    while process.output_bytes < 2**22:
        before = process.output_bytes
        process.drain()
        assert process.output_bytes - before <= 2**20
    assert process.returncode is None


@pytest.mark.parametrize(("limit", "too_much"), [(10, True), (11, False), (None, False)])
def test_output_beyond_its_limit_is_told(start: Start, limit: int | None, too_much: bool) -> None:
    process = start("import os; os.write(1, b'x' * 11)", output_limit_bytes=limit)
    process.wait(WAIT_S)
    process.drain()
    assert process.printed_too_much is too_much


def test_what_has_been_taken_counts_no_more_towards_the_limit(start: Start) -> None:
    process = start("import os; os.write(1, b'x' * 11)", output_limit_bytes=10)
    process.wait(WAIT_S)
    process.drain()
    process.take_tail()
    assert not process.printed_too_much


def test_output_that_is_drained_in_the_background_holds_nobody_up(start: Start) -> None:
    process = start("import os\nfor _ in range(100): os.write(1, b'x' * 65536)\nos.write(1, b' the end')")
    process.drain_in_background()
    assert process.wait(WAIT_S) == 0
    process.close()
    assert (process.tail() or "").endswith("x the end")
    assert process.output_bytes == 100 * 65536 + 8


def test_a_process_may_end_by_itself_when_it_is_asked_to(start: Start) -> None:
    process = start(
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "print(1, flush=True)\n"
        "signal.pause()\n"
    )
    process.wait(WAIT_S, process.output_fd)
    process.terminate()
    assert process.wait(WAIT_S) == 7
    process.terminate()  # nobody is there any more


def test_characters_cut_in_half_do_not_spoil_the_tail(start: Start) -> None:
    process = start("import os; os.write(1, '€'.encode() * 5000 + b'x')")
    process.wait(WAIT_S)
    process.drain()
    tail = process.take_tail()
    assert tail is not None
    assert tail.endswith("€x")


@pytest.mark.parametrize(("text", "code"), [("pass", 0), ("raise SystemExit(3)", 3), ("import os; os.abort()", -6)])
def test_the_exit_status_is_told(start: Start, text: str, code: int) -> None:
    process = start(f"import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); {text}")
    assert process.wait(WAIT_S) == code
    assert process.returncode == code


def test_waiting_ends_with_none_when_the_process_does_not(start: Start) -> None:
    process = start("import threading; threading.Event().wait()")
    assert process.wait(0.05) is None
    assert process.wait(0) is None
    assert process.wait(-1) is None


def test_waiting_ends_early_when_there_is_something_to_read(start: Start) -> None:
    reading, writing = os.pipe()
    process = start("import threading; threading.Event().wait()")
    os.write(writing, b"x")
    assert process.wait(WAIT_S, reading) is None
    os.close(reading)
    os.close(writing)


def test_waiting_outlasts_closed_output(start: Start) -> None:
    process = start("import os, sys; os.close(1); os.close(2); os._exit(5)")
    assert process.wait(WAIT_S) == 5


def test_waiting_reads_what_would_otherwise_block_the_process(start: Start) -> None:
    assert start("import sys; sys.stdout.write('x' * 5_000_000)").wait(WAIT_S) == 0


def test_memory_beyond_the_limit_fails_inside_the_process(start: Start) -> None:
    text = (
        "import resource, sys\n"
        "sys.stdin.read()\n"
        "small = bytearray(64 << 20)\n"
        "try:\n    bytearray(2 << 30)\nexcept MemoryError:\n    sys.exit(42)\n"
    )
    assert start(text, memory_bytes=512 << 20).wait(WAIT_S) == 42


def test_an_interrupt_reaches_the_process_and_not_its_children(start: Start, tmp_path: Path) -> None:
    text = (
        "import os, sys, threading\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n        threading.Event().wait()\n"
        "    except BaseException:\n        open(sys.argv[1], 'w')\n"
        "    os._exit(0)\n"
        "try:\n    print('ready', flush=True)\n    threading.Event().wait()\n"
        "except KeyboardInterrupt:\n    os._exit(9)\n"
    )
    process = start(text, str(tmp_path / "child"))
    process.wait(WAIT_S, process.output_fd)
    process.interrupt()
    assert process.wait(WAIT_S) == 9
    process.interrupt()  # of a process that has ended
    process.close()
    assert not (tmp_path / "child").exists()


SLEEP = "import os, threading\n"
CHILDREN = {
    "child": SLEEP + "pid = os.fork()\nif pid == 0: threading.Event().wait()\nprint(pid, flush=True)\n",
    "own session": SLEEP
    + "pid = os.fork()\nif pid == 0:\n    os.setsid()\n    threading.Event().wait()\nprint(pid, flush=True)\n",
    "another program": SLEEP
    + "import subprocess, sys\n"
    + "text = 'import threading; threading.Event().wait()'\n"
    + "child = subprocess.Popen([sys.executable, '-c', text], start_new_session=True)\n"
    + "print(child.pid, flush=True)\n",
}


@pytest.mark.parametrize("end", ["threading.Event().wait()", "os._exit(0)"], ids=["alive", "ended"])
@pytest.mark.parametrize("kind", CHILDREN)
def test_closing_ends_everything_that_the_process_started(start: Start, kind: str, end: str) -> None:
    process = start(CHILDREN[kind] + end)
    while (tail := process.take_tail()) is None:
        process.wait(WAIT_S, process.output_fd)
    if end == "os._exit(0)":
        assert process.wait(WAIT_S) == 0
    assert is_running(int(tail))
    process.close()
    assert not is_running(int(tail))
    assert not is_running(process.pid)
    process.close()  # twice does no harm


def test_a_stopped_process_is_ended(start: Start) -> None:
    process = start("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")
    process.interrupt()
    process.close()
    assert process.returncode is not None


def test_a_program_that_is_just_being_started_is_not_taken_for_one_without_an_environment() -> None:
    for _ in range(200):
        with subprocess.Popen(["sleep", "1000"], env={"GIVEN": "yes", "PATH": os.environ["PATH"]}) as child:
            seen = environment_of(child.pid)
            child.kill()
        assert seen is None or b"GIVEN=yes" in seen


def test_programs_with_an_empty_environment_and_ended_ones_are_told_apart_from_it() -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(["cat", "/dev/null", "-"], env={}, stdin=subprocess.PIPE, stdout=writing) as child:
        os.close(writing)
        wait_until(lambda: environment_of(child.pid) is not None)
        assert environment_of(child.pid) == b""
        child.kill()
        os.read(reading, 1)  # its end; nobody has waited for it yet
        assert environment_of(child.pid) == b""
    os.close(reading)
    assert environment_of(child.pid) == b""


def test_input_is_empty_and_the_environment_the_one_given(start: Start) -> None:
    text = "import os, sys; print(repr(sys.stdin.read()), os.environ.get('GIVEN'), os.environ.get('HOME'))"
    process = start(text, env={"GIVEN": "yes"})
    process.wait(WAIT_S)
    process.drain()
    assert process.take_tail() == "'' yes None"


def test_a_program_that_does_not_exist_leaves_nothing_open() -> None:
    before = descriptors()
    with pytest.raises(FileNotFoundError):
        LimitedProcess(["/no/such/program"])
    assert descriptors() == before


def test_a_system_without_process_descriptors_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise OSError("not here")

    open_before, children_before = descriptors(), children()
    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(OSError, match="not here"):
        LimitedProcess([sys.executable, "-c", "import threading; threading.Event().wait()"])
    assert descriptors() == open_before
    assert children() == children_before
