"""Requests over real sockets: framing, kept connections, resets, limits and cancellation."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from time import perf_counter_ns
from typing import Any, TypeVar

import pytest
import uvloop

from agentdyno.wire.address import Address
from agentdyno.wire.connection import ClientConnection
from agentdyno.wire.errors import (
    ConnectionRefused,
    ConnectTimeout,
    NameNotFound,
    ProtocolError,
    Reset,
    TlsFailed,
    TooLarge,
    Truncated,
)
from agentdyno.wire.exchange import ExchangeLimits, exchange, partial_answer
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import Request

from .script_server import CLOSE, LAST_CHUNK, RESET, ScriptServer, chunked, response, stream_head

T = TypeVar("T")
Runner = Callable[[Coroutine[Any, Any, T]], T]
CERTIFICATE = Path(__file__).with_name("loopback_certificate.pem")
OK = response(b'"hello"')


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Any:
    return request.param


def get(url: str, body: bytes = b"{}") -> Request:
    return Request(Address.parse(url), "/x", body=body)


def test_an_answer_has_status_headers_body_and_times_in_order(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((response(b"abc", status="201 Created", headers=["X-A: 1"]),)) as server:
            answer = await exchange(get(server.url + "/v1", b"ask"), Pool())
        assert (answer.status, answer.reason, answer.body.data) == (201, "Created", b"abc")
        assert answer.headers.get("x-a") == "1"
        assert answer.content_type == "application/json"
        assert answer.started_ns <= answer.sent_ns <= answer.first_byte_ns <= answer.done_ns
        assert (server.requests[0].target, server.requests[0].body) == ("/v1/x", b"ask")

    run(main())


def test_chunks_are_stamped_as_they_arrive(run: Runner[None]) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        async with ScriptServer((stream_head(), chunked(b"one"), gate, chunked(b"two"), LAST_CHUNK)) as server:
            asking = asyncio.create_task(exchange(get(server.url), Pool()))
            while not server.requests:
                await asyncio.sleep(0)
            await asyncio.sleep(1.0)  # the first chunk has arrived long before the second is sent
            opened_ns = perf_counter_ns()
            gate.set()
            answer = await asking
        assert answer.body.data == b"onetwo"
        assert answer.body.arrival_ns(2) < opened_ns <= answer.body.arrival_ns(3)
        assert answer.done_ns == answer.body.arrival_ns(5)

    run(main())


def test_a_final_chunk_that_comes_byte_by_byte_is_noticed(run: Runner[None]) -> None:
    async def main() -> None:
        gates = [asyncio.Event() for _ in LAST_CHUNK]
        steps = [step for gate, byte in zip(gates, LAST_CHUNK, strict=True) for step in (gate, bytes([byte]))]
        async with ScriptServer((stream_head(), chunked(b"data"), *steps)) as server:
            asking = asyncio.create_task(exchange(get(server.url), Pool()))
            for gate in gates:
                await asyncio.sleep(0.002)
                assert not asking.done()
                gate.set()
            assert (await asking).body.data == b"data"

    run(main())


def test_a_body_may_end_with_the_connection(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((b"HTTP/1.1 200 OK\r\n\r\nall of it", CLOSE)) as server:
            assert (await exchange(get(server.url), Pool())).body.data == b"all of it"

    run(main())


def test_connections_are_kept_and_used_again(run: Runner[None]) -> None:
    async def main() -> None:
        pool = Pool()
        async with ScriptServer((OK,), (stream_head(), chunked(b"x"), LAST_CHUNK), (OK,)) as server:
            answers = [await exchange(get(server.url), pool) for _ in range(3)]
            assert [answer.reused for answer in answers] == [False, True, True]
            assert server.connections == 1
            await pool.close()
            await server.all_closed.wait()
            assert not (await exchange(get(server.url), pool)).reused

    run(main())


def test_a_connection_that_says_close_is_not_kept(run: Runner[None]) -> None:
    async def main() -> None:
        pool = Pool()
        async with ScriptServer((response(b"", headers=["Connection: close"]),)) as server:
            assert not (await exchange(get(server.url), pool)).reused
            assert not (await exchange(get(server.url), pool)).reused

    run(main())


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_a_kept_connection_that_was_dropped_is_replaced_once(run: Runner[None], end: str) -> None:
    async def main() -> None:
        pool = Pool()
        async with ScriptServer((OK,), (end,), (OK,)) as server:
            await exchange(get(server.url), pool)
            answer = await exchange(get(server.url), pool)
            assert (answer.body.data, answer.reused, server.connections) == (b'"hello"', False, 2)

    run(main())


def test_a_kept_connection_that_broke_inside_an_answer_is_not_asked_again(run: Runner[None]) -> None:
    async def main() -> None:
        pool = Pool()
        async with ScriptServer((OK,), (stream_head(), chunked(b"half"), CLOSE)) as server:
            await exchange(get(server.url), pool)
            with pytest.raises(Truncated):
                await exchange(get(server.url), pool)
            assert len(server.requests) == 2

    run(main())


def test_a_kept_connection_that_the_server_closed_meanwhile_is_not_even_tried(run: Runner[None]) -> None:
    async def main() -> None:
        pool = Pool()
        async with ScriptServer((OK, CLOSE), (OK,)) as server:
            await exchange(get(server.url), pool)
            await server.all_closed.wait()
            await exchange(get(server.url), pool)
            assert len(server.requests) == 2

    run(main())


def test_a_fresh_connection_that_is_dropped_is_an_error(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((CLOSE,)) as server:
            with pytest.raises(Reset, match="without an answer") as raised:
                await exchange(get(server.url), Pool())
            assert raised.value.endpoint == server.url + "/x"
            assert len(server.requests) == 1

    run(main())


def test_a_reset_inside_an_answer_keeps_what_had_arrived(run: Runner[None]) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        async with ScriptServer((stream_head(), chunked(b"half"), gate, RESET)) as server:
            asyncio.get_running_loop().call_later(0.02, gate.set)
            with pytest.raises(Reset, match="reset after") as raised:
                await exchange(get(server.url), Pool())
        answer = partial_answer(raised.value)
        assert answer is not None
        assert answer.body.data == b"half"

    run(main())


@pytest.mark.parametrize(
    "script",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", CLOSE),
        (stream_head(), chunked(b"half"), CLOSE),
        (stream_head(), b"64\r\nhalf", CLOSE),
    ],
)
def test_an_answer_that_ends_early_is_truncated(run: Runner[None], script: tuple[bytes | str, ...]) -> None:
    async def main() -> None:
        async with ScriptServer(script) as server:
            with pytest.raises(Truncated) as raised:
                await exchange(get(server.url), Pool())
        answer = partial_answer(raised.value)
        assert answer is not None
        assert answer.body.data == b"half"

    run(main())


def test_what_is_not_http_is_said(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((b"220 mail.example.com ESMTP\r\n",)) as server:
            with pytest.raises(ProtocolError, match="220 mail"):
                await exchange(get(server.url), Pool())
            await server.all_closed.wait()

    run(main())


def test_an_answer_above_the_limit_is_dropped_while_it_arrives(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((stream_head(), *[chunked(b"x" * 1000)] * 500, LAST_CHUNK)) as server:
            with pytest.raises(TooLarge) as raised:
                await exchange(get(server.url), Pool(), ExchangeLimits(max_bytes=20_000))
            await server.all_closed.wait()
        assert raised.value.partial is not None

    run(main())


def test_a_request_larger_than_any_socket_buffer_is_sent_whole(run: Runner[None]) -> None:
    async def main() -> None:
        body = bytes(range(256)) * 60_000
        pool = Pool()
        async with ScriptServer((OK,)) as server:
            answer = await exchange(get(server.url, body), pool)
            assert server.requests[0].body == body
            # Kept only where it is known when the last byte was sent.
            assert (await exchange(get(server.url), pool)).reused
        assert answer.started_ns < answer.sent_ns <= answer.first_byte_ns

    run(main())


def test_a_request_counts_as_sent_when_the_kernel_has_it(run: Runner[None]) -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            address = Address.parse(f"http://127.0.0.1:{listening.getsockname()[1]}")
            connection = await Pool().connect(address)
            peer, _ = listening.accept()
            with peer:
                connection.send(b"all of it")
                # Nothing is awaited in between: an event loop that still holds the bytes has sent nothing.
                assert peer.recv(100, socket.MSG_DONTWAIT) == b"all of it"
                small = connection.sent_ns
                connection.send(b"x" * 20_000_000)
                large = connection.sent_ns
            connection.abort()
        assert (small is None, large) == (False, None)

    run(main())


def test_cancelling_closes_the_socket(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((stream_head(), chunked(b"x"), asyncio.Event())) as server:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(exchange(get(server.url), Pool()), 1.0)
            await server.all_closed.wait()

    run(main())


def test_many_exchanges_at_once_do_not_mix(run: Runner[None]) -> None:
    async def main() -> None:
        pool = Pool()
        async with ScriptServer((stream_head(), chunked(b"a"), chunked(b"b"), LAST_CHUNK)) as server:
            answers = await asyncio.gather(*(exchange(get(server.url), pool) for _ in range(60)))
            assert {answer.body.data for answer in answers} == {b"ab"}
            assert server.connections == 60
            assert len(await asyncio.gather(*(exchange(get(server.url), pool) for _ in range(60)))) == 60
            assert server.connections == 60

    run(main())


def test_a_pool_works_in_one_loop_after_the_other_and_leaves_no_socket(run: Runner[int]) -> None:
    pool = Pool()

    async def main() -> int:
        async with ScriptServer((OK,)) as server:
            await exchange(get(server.url), pool)
            assert (await exchange(get(server.url), pool)).reused
            return server.port

    assert run(main()) != 0
    assert run(main()) != 0


def test_nothing_listening_is_refused(run: Runner[None]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

    async def main() -> None:
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(ConnectionRefused, match="refused") as raised:
                await exchange(get(f"http://{host}:{port}/v1"), Pool())
            assert raised.value.endpoint == f"http://{host}:{port}/v1"

    run(main())


def test_a_name_without_address_is_said(run: Runner[None]) -> None:
    async def main() -> None:
        with pytest.raises(NameNotFound, match=r"no-such-host\.invalid"):
            await exchange(get("http://no-such-host.invalid"), Pool())

    run(main())


def test_a_connection_that_does_not_come_about_times_out(run: Runner[None]) -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        port = full.getsockname()[1]

        async def main() -> None:
            with pytest.raises(ConnectTimeout, match=r"within 0\.05 s"):
                await exchange(get(f"http://127.0.0.1:{port}"), Pool(), ExchangeLimits(connect_timeout_s=0.05))

        run(main())


def test_ipv6_works(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((OK,), host="::1") as server:
            assert (await exchange(get(server.url), Pool())).ok
            assert server.requests[0].headers["host"] == f"[::1]:{server.port}"

    run(main())


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def test_https_works_and_keeps_its_connection(run: Runner[None]) -> None:
    async def main() -> None:
        pool = Pool(ssl_context=ssl.create_default_context(cafile=str(CERTIFICATE)))
        async with ScriptServer((stream_head(), chunked(b"safe"), LAST_CHUNK), ssl_context=server_tls()) as server:
            assert (await exchange(get(server.url, b"x" * 500_000), pool)).body.data == b"safe"
            assert (await exchange(get(server.url), pool)).reused
            await pool.close()
            await server.all_closed.wait()

    run(main())


def test_a_certificate_that_nobody_vouches_for_is_refused(run: Runner[None]) -> None:
    async def main() -> None:
        async with ScriptServer((OK,), ssl_context=server_tls()) as server:
            with pytest.raises(TlsFailed, match="not trusted"):
                await exchange(get(server.url), Pool())

    run(main())


def test_https_to_a_server_without_tls_is_said(run: Runner[None]) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async def main() -> None:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(TlsFailed, match="handshake failed"):
            await exchange(get(f"https://127.0.0.1:{port}"), Pool())
        server.close()

    run(main())


def test_a_connection_wakes_its_reader_only_for_what_may_be_an_end() -> None:
    async def main() -> list[bool]:
        woken = []
        connection = ClientConnection()
        connection.watch(10_000, True)
        for data in (b"1b\r\ndata: a quite normal event\n\n\r\n", b"3\r\n", b"0\r\n\r\n"):
            waiting = asyncio.create_task(connection.activity())
            await asyncio.sleep(0)
            connection.data_received(data)
            await asyncio.sleep(0)
            woken.append(waiting.done())
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        return woken

    assert asyncio.run(main()) == [False, True, True]
