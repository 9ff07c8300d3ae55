"""Bytes of any kind on both sides of the recording proxy: they pass unchanged, and it goes on."""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from agentdyno.servers.proxy.model_call import CallReader
from agentdyno.servers.proxy.recorded import RecordedExchange
from agentdyno.servers.proxy.recorder import RecordingProxy
from agentdyno.servers.proxy.request_stream import RequestHead
from tests.properties import examples

from ..talking import connect

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
HEAD = b"POST /case/1/model/v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
answers = st.binary(max_size=400) | st.builds(
    lambda head, parts: head + b"".join(parts),
    st.sampled_from(
        [OK, b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", b"HTTP/1.1 2\r\n\r\n", b"HTTP/1.1 100 C\r\n\r\n"]
    ),
    st.lists(
        st.sampled_from(
            [b"5\r\nhello\r\n", b"zz\r\n", b"-1\r\n", b"0\r\n\r\n", b"data: {}\n\n", b"\r\n", b"\xff" * 9]
        ),
        max_size=8,
    ),
)


class Mirror:
    """A target that keeps what comes, and answers what it is told."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.seen: queue.Queue[bytes] = queue.Queue()
        self.answer = b""
        self.expects = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            with link:
                data = b""
                while len(data) < self.expects and (more := link.recv(65536)):
                    data += more
                self.seen.put(data)
                link.sendall(self.answer)


@pytest.fixture(scope="module")
def mirror() -> Iterator[Mirror]:
    own = Mirror()
    yield own
    own.listener.close()


@pytest.fixture(scope="module")
def proxy(mirror: Mirror) -> Iterator[RecordingProxy]:
    own = RecordingProxy({"model": f"http://127.0.0.1:{mirror.listener.getsockname()[1]}"}, measured=False)
    yield own
    assert own.alive, own.exit_status
    own.stop()


def exchanged(proxy: RecordingProxy, mirror: Mirror, body: bytes, answer: bytes) -> tuple[bytes, bytes]:
    """What the target got of a request with this body, and what the client got of this answer."""
    port = mirror.listener.getsockname()[1]
    sent = HEAD + b"\r\n" + body
    passed = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port + body
    mirror.answer, mirror.expects = answer, len(passed)
    with connect("127.0.0.1", proxy.port) as link:
        link.sendall(sent)
        got = mirror.seen.get(timeout=30)
        data = b""
        while more := link.recv(65536):
            data += more
    assert got == passed
    return got, data


@examples(60, HealthCheck.function_scoped_fixture)
@given(answer=answers)
@example(answer=OK + b"ffffffffffffffff\r\nhello")
@example(answer=OK + b"5\r\nhelloXX\r\n0\r\n\r\n")
@example(answer=b"HTTP/1.1 200 OK\r\n" + b"X-Huge: " + b"a" * 300_000 + b"\r\n\r\nrest")
@example(answer=b"")
def test_whatever_the_target_answers_reaches_the_client_as_it_is(
    proxy: RecordingProxy, mirror: Mirror, answer: bytes
) -> None:
    _, data = exchanged(proxy, mirror, b"", answer)
    assert data == answer
    calls = asyncio.run(proxy.collect("case/1"))
    assert [call.api for call in calls] == ["chat.completions"]
    assert calls[0].response_bytes == len(answer)


@examples(40, HealthCheck.function_scoped_fixture)
@given(raw=st.binary(min_size=1, max_size=400))
@example(raw=b"GET  HTTP/1.1\r\n\r\n")
@example(raw=b"POST /case/1/model/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n")
@example(raw=b"\r\n\r\n\r\n\r\n")
@example(raw=b"A" * 70_000 + b"\r\n\r\n")
def test_whatever_a_client_sends_the_proxy_goes_on(proxy: RecordingProxy, mirror: Mirror, raw: bytes) -> None:
    mirror.answer, mirror.expects = b"", 1
    with connect("127.0.0.1", proxy.port) as link:
        link.sendall(raw)
        link.shutdown(socket.SHUT_WR)
        try:
            while link.recv(65536):
                pass
        except ConnectionResetError:
            pass
    while not mirror.seen.empty():
        mirror.seen.get()
    asyncio.run(proxy.collect("case/1"))
    _, data = exchanged(proxy, mirror, b"", b"HTTP/1.1 204 No Content\r\n\r\n")
    assert data == b"HTTP/1.1 204 No Content\r\n\r\n"
    asyncio.run(proxy.collect("case/1"))


@pytest.mark.parametrize("size", [100_000, 900_000])
def test_a_huge_head_of_a_request_passes(proxy: RecordingProxy, mirror: Mirror, size: int) -> None:
    header = b"X-Huge: " + b"a" * size + b"\r\n"
    port = mirror.listener.getsockname()[1]
    passed = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % port + header + b"\r\n"
    mirror.answer, mirror.expects = b"HTTP/1.1 431 X\r\n\r\n", len(passed)
    with connect("127.0.0.1", proxy.port) as link:
        link.sendall(HEAD + header + b"\r\n")
        assert mirror.seen.get(timeout=30) == passed
    asyncio.run(proxy.collect("case/1"))


@examples(200)
@given(st.binary(max_size=300), st.lists(st.binary(max_size=120), max_size=6), st.booleans())
def test_reading_what_passed_never_fails(body: bytes, chunks: list[bytes], full: bool) -> None:
    head = RequestHead("POST", "/v1/messages", (b"POST /v1/messages HTTP/1.1",), {"x-api-key": "abcdefgh"}, b"\r\n")
    exchange = RecordedExchange.begun("case/1", "model", head, "/v1/messages")
    exchange.asked(body)
    exchange.answered(OK)
    for chunk in chunks:
        exchange.answered(b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunk else chunk)
    exchange.close("target")
    call = CallReader(b"salt", full).read(exchange)
    assert call.status == 200
    assert not call.ok
