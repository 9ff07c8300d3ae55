from __future__ import annotations

import asyncio
import os
import select
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

import agentdyno
from agentdyno.sandbox import LimitedProcess
from agentdyno.workers.peer import Peer, PeerConfused, PeerFlooded, PeerLost
from tests.runner.building import children, descriptors

T = TypeVar("T")
SOURCE = str(Path(agentdyno.__file__).parent.parent)
HEAD = f"""
import os, socket, sys, threading
sys.path.insert(0, {SOURCE!r})
from agentdyno.workers.frames import message_frame, receive, send
end = socket.socket(fileno=int(sys.argv[1]))
"""
ECHO = "\nwhile (message := receive(end)) is not None: send(end, message)\n"


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    open_before, children_before = descriptors(), children()
    yield
    assert children() == children_before
    assert descriptors() == open_before


def _started(text: str) -> tuple[LimitedProcess, socket.socket]:
    """A process that does what ``text`` says with its end of a connection, and our end."""
    ours, theirs = socket.socketpair()
    with theirs:
        fd = theirs.fileno()
        command = [sys.executable, "-c", HEAD + text, str(fd)]
        return LimitedProcess(command, pass_fds=(fd,), output_limit_bytes=1 << 20), ours


def using(text: str, work: Callable[[Peer], Awaitable[T]]) -> T:
    async def whole() -> T:
        peer = Peer(*_started(text))
        try:
            return await work(peer)
        finally:
            await peer.close()

    return asyncio.run(whole())


def test_messages_of_any_size_go_both_ways() -> None:
    messages = [{"a": "é\ud800"}, {"b": "x" * 3_000_000}, {}]

    async def work(peer: Peer) -> list[object]:
        return [await peer.ask(dict(message)) for message in messages]

    assert using(ECHO, work) == messages


def test_what_a_process_said_before_it_ended_counts() -> None:
    before = children()

    async def work(peer: Peer) -> dict[str, Any]:
        asking = asyncio.ensure_future(peer.ask({}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (pid,) = children() - before
        ended = os.pidfd_open(pid)
        select.select([ended], [], [])  # the loop sees nothing until the answer is there and the process is gone
        os.close(ended)
        return await asking

    size = 100_000
    text = (
        "\nreceive(end)\nif os.fork() == 0: threading.Event().wait()  # it keeps the connection open\n"
        f"send(end, {{'last': 'x' * {size}}})\nos._exit(0)\n"
    )
    assert using(text, work) == {"last": "x" * size}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("os._exit(3)", 3),
        ("os.abort()", -6),
        ("os.write(end.fileno(), b'half'); os._exit(1)", 1),
        ("os.write(end.fileno(), message_frame({'a': 'long'})[:-2]); os._exit(1)", 1),
        ("os.write(end.fileno(), b'\\x02\\0\\0\\0\\0[]'); os._exit(0)", 0),
    ],
)
def test_a_process_that_ends_without_an_answer_is_lost(text: str, status: int) -> None:
    async def work(peer: Peer) -> PeerLost:
        with pytest.raises(PeerLost) as caught:
            await peer.ask({})
        return caught.value

    limits = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"
    lost = using(f"\n{limits}\nprint('bye', flush=True)\nreceive(end)\n{text}\n", work)
    assert lost.status == status


@pytest.mark.parametrize(
    "written",
    [
        "send(end, {'early': 1, 'number': 1}); send(end, {'late': 1, 'number': 1})",
        "end.sendall(b'no frame at all' * 9)",
    ],
    ids=["two answers to one question", "no message"],
)
def test_what_is_no_answer_to_the_question_is_taken_for_none(written: str) -> None:
    text = f"""
receive(end)
{written}
while receive(end) is not None: pass
"""

    async def work(peer: Peer) -> None:
        await peer.ask({"op": "first"})
        await peer.ask({"op": "second"})

    with pytest.raises(PeerConfused):
        using(text, work)


def test_output_is_capped_per_question() -> None:
    text = "\nwhile (message := receive(end)) is not None:\n    os.write(1, b'x' * message['n'])\n    send(end, {})\n"

    async def work(peer: Peer) -> None:
        for _ in range(3):
            assert await peer.ask({"n": 600_000}) == {}
        assert peer.is_alive
        with pytest.raises(PeerFlooded) as caught:
            await peer.ask({"n": 2_000_000})
        assert caught.value.tail is not None
        assert not peer.is_alive

    using(text, work)


def test_a_farewell_lets_the_process_end_by_itself(tmp_path: Path) -> None:
    text = f"\nreceive(end)\nopen({str(tmp_path / 'bye')!r}, 'w').close()\n"

    async def work(peer: Peer) -> None:
        await peer.close({"op": "close"})

    using(text, work)
    assert (tmp_path / "bye").exists()
