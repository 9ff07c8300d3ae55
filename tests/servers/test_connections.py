"""HTTP as bytes: what is kept open, what is queued, what is refused."""

from __future__ import annotations

import json
import socket

import pytest

from agentdyno.servers.http_message import BadRequest, RequestReader
from agentdyno.servers.simulated.server import RunningServer

from .talking import OPENAI, ask, chat, connect, encoded, read_to_end, read_until

END = b"0\r\n\r\n"


def test_a_connection_serves_one_request_after_the_other(server: RunningServer) -> None:
    with connect(server.host, server.port) as link:
        for number in range(3):
            link.sendall(encoded(chat(f"number {number}", dyno={"echo": True})))
            assert b"number" in read_until(link, END)


def test_requests_sent_ahead_are_answered_in_order(server: RunningServer) -> None:
    bodies = [chat(f"number{number}", stream=False, dyno={"echo": True}) for number in range(500)]
    with connect(server.host, server.port) as link:
        link.sendall(
            b"".join(encoded(body) for body in bodies[:-1]) + encoded(bodies[-1], OPENAI, "connection: close")
        )
        data = read_to_end(link)
    positions = [data.index(f'"number{number}"'.encode()) for number in range(500)]
    assert positions == sorted(positions)
    assert data.count(b"HTTP/1.1 200 OK") == 500


def test_refusals_sent_ahead_do_not_pile_up(server: RunningServer) -> None:
    with connect(server.host, server.port) as link:
        link.sendall(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n" * 3000 + b"GET / HTTP/1.0\r\n\r\n")
        assert read_to_end(link).count(b"HTTP/1.1 404") == 3001


def test_a_request_may_come_byte_by_byte(server: RunningServer) -> None:
    with connect(server.host, server.port) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in encoded(chat("slowly", dyno={"echo": True})):
            link.sendall(bytes([byte]))
        assert b"slowly" in read_until(link, END)


def test_a_body_may_come_in_chunks(server: RunningServer) -> None:
    data = json.dumps(chat("in pieces", dyno={"echo": True})).encode()
    chunks = b"".join(b"%x;x=y\r\n%b\r\n" % (len(data[i : i + 7]), data[i : i + 7]) for i in range(0, len(data), 7))
    head = f"POST {OPENAI} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    with connect(server.host, server.port) as link:
        link.sendall(head + chunks + END)
        assert b" pieces" in read_until(link, END)


def test_a_client_that_asks_for_leave_to_send_gets_it(server: RunningServer) -> None:
    head, _, body = encoded(chat("at last", dyno={"echo": True}), OPENAI, "expect: 100-continue").partition(
        b"\r\n\r\n"
    )
    with connect(server.host, server.port) as link:
        link.sendall(head + b"\r\n\r\n")
        assert read_until(link, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.sendall(body)
        assert b" last" in read_until(link, END)


def test_an_old_client_gets_a_stream_without_chunks(server: RunningServer) -> None:
    request = encoded(chat(dyno={"output_tokens": 2})).replace(b"HTTP/1.1", b"HTTP/1.0")
    with connect(server.host, server.port) as link:
        link.sendall(request)
        head, _, body = read_to_end(link).partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert body.startswith(b"data: ")
    assert body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\ncontent-length: many\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"GET / HTTP/1.1\r\nx: " + b"a" * 70_000, 431),
    ],
)
def test_bytes_that_are_no_request_are_refused_and_the_connection_closed(
    server: RunningServer, data: bytes, status: int
) -> None:
    with connect(server.host, server.port) as link:
        link.sendall(data)
        assert read_to_end(link).startswith(f"HTTP/1.1 {status} ".encode())


def test_unknown_paths_and_methods_are_told_apart(server: RunningServer) -> None:
    assert ask(server.url, "/v2/chat").status == 404
    assert ask(server.url, OPENAI).status == 405
    assert ask(server.url, "/v1/models", b"{}").status == 405
    assert ask(server.url, "/v1/models?page=2").status == 200


def test_a_client_that_leaves_in_the_middle_is_recorded_and_nobody_else_disturbed(server: RunningServer) -> None:
    server.reset()
    with connect(server.host, server.port) as link:
        link.sendall(encoded(chat(dyno={"ttft_s": 0, "itl_s": 60})))
        read_until(link, b'"finish_reason":null}]}\n\n\r\n')
    with connect(server.host, server.port) as other:
        outcomes: list[str] = []
        while outcomes != ["disconnected"]:
            other.sendall(b"GET /dyno/stats HTTP/1.1\r\nhost: x\r\n\r\n")
            outcomes = list(json.loads(read_until(other, b"}").partition(b"\r\n\r\n")[2])["outcomes"])
    (served,) = server.log()
    assert served.outcome == "disconnected"
    assert len(served.token_ns) <= 1


def test_a_client_that_reads_late_gets_everything(server: RunningServer) -> None:
    body = chat(dyno={"output_tokens": 60_000})
    with connect(server.host, server.port, 32_768) as link:
        link.sendall(encoded(body))
        assert ask(server.url, "/health").status == 200  # the server is not held up meanwhile
        data = read_until(link, END)
    assert data.count(b'"delta":{"content":') == 60_000
    assert b"[DONE]" in data


def test_the_reader_gives_requests_only_when_they_are_complete() -> None:
    reader = RequestReader()
    reader.feed(b"POST /x HTTP/1.1\r\nContent-Length: 4\r\n\r\nab")
    assert reader.next() is None
    reader.feed(b"cdGET /y?z HTTP/1.1\r\nConnection: Close\r\n\r\n")
    first, second = reader.next(), reader.next()
    assert first is not None
    assert second is not None
    assert (first.method, first.path, first.body, first.keep_alive) == ("POST", "/x", b"abcd", True)
    assert (second.method, second.path, second.body, second.keep_alive) == ("GET", "/y", b"", False)
    reader.feed(b"broken\r\n\r\n")
    with pytest.raises(BadRequest):
        reader.next()
