from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

import agentdyno
from agentdyno.sandbox import LimitedProcess
from agentdyno.workers.link import Link
from tests.runner.building import children, descriptors, is_running

WAIT_S = 60.0
SOURCE = str(Path(agentdyno.__file__).parent.parent)
WORKER = f"""
import os, signal, socket, sys, threading
sys.path.insert(0, {SOURCE!r})
from agentdyno.errors import SpecError
from agentdyno.workers import frames, serve as serving
from agentdyno.workers.serve import OperationFailed, die_with, serve

def operation(message, say):
    name = message["do"]
    if name == "error":
        raise SpecError("no such thing", where="a.yaml", remedy="Write another.")
    if name == "failed":
        raise OperationFailed({{"status": "error"}})
    if name == "stages":
        say({{"stage": "one"}})
        say({{"stage": "two"}})
    if name == "memory":
        held = bytearray(1 << 20)
        raise MemoryError
    if name == "fork" and os.fork() == 0:
        return "from the child"
    if name == "print":
        print("printed", end="")
    if name == "raise":
        raise KeyError("nobody expects this")
    if name == "wait":
        say({{"stage": "waiting"}})
        threading.Event().wait()
    if name == "long":
        frames.LARGEST_BYTES = 200
        return "x" * 200
    return name

def out_of_memory(message, say):
    return ["not enough for", message["op"], sys.exc_info()[0] is None]

def close():
    open(sys.argv[2], "a").write(f"closed by {{os.getpid()}}\\n")
    return {{"closed": True}}

"""
SERVE = 'serve(int(sys.argv[1]), {"work": operation}, close=close, out_of_memory=out_of_memory)\n'


@dataclass(frozen=True)
class Served:
    process: LimitedProcess
    link: Link
    log: Path

    def ask(self, name: str) -> object:
        self.link.send({"op": "work", "do": name})
        return self.link.receive()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A worker with one operation, ``work``, that does what it is told to."""
    open_before, children_before = descriptors(), children()
    with ExitStack() as stack:
        ours, theirs = socket.socketpair()
        ours.settimeout(WAIT_S)
        with theirs:
            fd, log = theirs.fileno(), tmp_path / "log"
            command = [sys.executable, "-c", WORKER + SERVE, str(fd), str(log)]
            process = LimitedProcess(command, pass_fds=(fd,))
        stack.callback(process.close)
        yield Served(process=process, link=stack.enter_context(closing(Link(ours))), log=log)
    assert children() == children_before
    assert descriptors() == open_before


def test_a_reply_is_what_was_done_or_an_error_or_a_failure(served: Served) -> None:
    assert served.ask("this") == {"ok": "this"}
    error = {"type": "SpecError", "message": "no such thing", "where": "a.yaml", "remedy": "Write another."}
    assert served.ask("error") == {"error": error}
    assert served.ask("failed") == {"failed": {"status": "error"}}
    assert served.ask("this") == {"ok": "this"}


def test_what_an_operation_says_meanwhile_comes_before_its_reply(served: Served) -> None:
    assert served.ask("stages") == {"stage": "one"}
    assert [served.link.receive(), served.link.receive()] == [{"stage": "two"}, {"ok": "stages"}]


def test_an_operation_without_enough_memory_is_answered_after_it_has_let_go_of_all_it_held(served: Served) -> None:
    assert served.ask("memory") == {"ok": ["not enough for", "work", True]}
    assert served.ask("this") == {"ok": "this"}


def test_a_reply_that_is_too_long_is_told_instead(served: Served) -> None:
    reply = served.ask("long")
    assert isinstance(reply, dict)
    assert reply["error"]["type"] == "RunError"
    assert reply["error"]["message"] == "cannot be told to its owner: a frame of 210 bytes; 200 is the most"


def test_a_forked_child_that_comes_back_neither_answers_nor_closes(served: Served) -> None:
    assert served.ask("fork") == {"ok": "fork"}
    served.link.send({"op": "close"})
    assert served.link.receive() == {"ok": {"closed": True}}
    assert served.process.wait(WAIT_S) == 0
    assert served.log.read_text() == f"closed by {served.process.pid}\n"
    assert served.link.last_words() == []


def test_what_was_printed_is_there_before_the_reply(served: Served) -> None:
    assert served.ask("print") == {"ok": "print"}
    served.process.drain()
    assert served.process.tail() == "printed"


def test_an_interrupt_breaks_the_work_off_and_closes(served: Served) -> None:
    assert served.ask("wait") == {"stage": "waiting"}
    served.process.interrupt()
    assert served.link.receive() == {"ok": {"closed": True}}
    assert served.process.wait(WAIT_S) == 0


def test_an_owner_that_closes_its_end_is_not_answered(served: Served) -> None:
    assert served.ask("this") == {"ok": "this"}
    served.link.close_sending()
    assert served.process.wait(WAIT_S) == 0
    assert served.log.read_text() == f"closed by {served.process.pid}\n"
    assert served.link.last_words() == []


def test_what_nobody_expects_closes_and_ends_the_process_with_its_traceback(served: Served) -> None:
    assert served.ask("raise") == {"ok": {"closed": True}}
    assert served.process.wait(WAIT_S) == 1
    served.process.drain()
    assert "nobody expects this" in (served.process.tail() or "")


OWNER = """
import socket, subprocess, sys
ours, theirs = socket.socketpair()
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], str(theirs.fileno())], pass_fds=(theirs.fileno(),))
ours.recv(1)
print(child.pid, flush=True)
sys.stdin.read()
"""
FOLLOWER = """
end = socket.socket(fileno=int(sys.argv[1]))
die_with(end, watching={watching})
end.send(b"x")
threading.Event().wait()
"""


@pytest.mark.parametrize("watching", [True, False])
def test_a_killed_owner_takes_its_worker_along(watching: bool) -> None:
    text = WORKER + FOLLOWER.format(watching=watching)
    command = [sys.executable, "-c", OWNER, text]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        ended = os.pidfd_open(pid)
        owner.send_signal(signal.SIGKILL)
    assert select.select([ended], [], [], WAIT_S)[0]
    os.close(ended)
    assert not is_running(pid)
