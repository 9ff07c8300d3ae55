"""The fault proxy with real sockets: it passes everything, and each fault does what it says, when it says."""

from __future__ import annotations

import socket
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns

import pytest

from agentdyno.errors import RunError, SpecError
from agentdyno.servers.proxy.fault import error_frames, split_at_boundary
from agentdyno.servers.proxy.server import FAULTS, FaultProxy, fault_proxy
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

from ..certificates import loopback_certificate
from ..talking import OLLAMA, OPENAI, ask, chat, connect, encoded, read_to_end, read_until, read_until_reset

BOTH = pytest.mark.parametrize("path", [OPENAI, OLLAMA])


@pytest.fixture(scope="module")
def running(server: RunningServer) -> Iterator[FaultProxy]:
    with fault_proxy(server.url) as proxy:
        yield proxy


@pytest.fixture
def proxy(running: FaultProxy) -> FaultProxy:
    running.set_fault("")
    return running


def raw(proxy: FaultProxy, body: object, path: str = OPENAI) -> bytes:
    with connect(proxy.host, proxy.port) as link:
        link.sendall(encoded(body, path))
        return read_to_end(link)


def wait_until_struck(proxy: FaultProxy, name: str, count: int) -> None:
    for _ in range(100_000):
        if proxy.struck().get(name, 0) >= count:
            return
    raise AssertionError(f"{name} struck {proxy.struck()}")


def asked_twice(link: socket.socket) -> bytes:
    """The second answer on one connection."""
    for _ in range(2):
        link.sendall(encoded(chat()))
        answer = read_until(link, b"0\r\n\r\n")
    return answer


@BOTH
@pytest.mark.parametrize("stream", [True, False])
def test_without_a_fault_everything_passes(proxy: FaultProxy, server: RunningServer, path: str, stream: bool) -> None:
    body = chat(stream=stream)
    server.reset()
    through = ask(proxy.url, path, body)
    assert through.status == 200
    assert through.headers["x-dyno-simulated"] == "1"
    if stream:
        assert len(through.events) == (9 if path == OPENAI else 7)
    assert server.stats().outcomes == {"ok": 1}


def test_the_path_of_the_target_is_kept_and_its_name_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with fault_proxy(f"http://localhost:{port}/v1") as proxy:
            assert proxy.url.endswith("/v1")
            with connect(proxy.host, proxy.port) as link:
                link.sendall(f"GET /v1/models HTTP/1.1\r\nHost: {proxy.host}:{proxy.port}\r\n\r\n".encode())
                taken, _ = listener.accept()
                with taken:
                    assert read_until(taken, b"\r\n\r\n") == (
                        f"GET /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode()
                    )


def test_large_bodies_pass_in_both_directions(proxy: FaultProxy) -> None:
    body = chat("word " * 400_000, stream=False, dyno={"fault": "big_chunk", "big_chunk_bytes": 20_000_000})
    answer = ask(proxy.url, OPENAI, body).json
    assert len(answer["choices"][0]["message"]["content"]) == 20_000_000
    assert answer["usage"]["prompt_tokens"] == 400_000


def test_refuse_refuses_new_connections_and_resets_open_ones_and_can_be_undone(proxy: FaultProxy) -> None:
    for _ in range(3):
        with connect(proxy.host, proxy.port) as link:
            asked_twice(link)
            proxy.set_fault("refuse")
            with pytest.raises(ConnectionResetError):
                read_to_end(link)
        with socket.socket() as late, pytest.raises(ConnectionRefusedError):
            late.connect((proxy.host, proxy.port))
        proxy.set_fault("")
        assert ask(proxy.url, "/health").status == 200


@BOTH
@pytest.mark.parametrize("stream", [True, False])
def test_reset_lets_the_head_pass_and_resets_in_the_body(proxy: FaultProxy, path: str, stream: bool) -> None:
    proxy.set_fault("reset")
    with connect(proxy.host, proxy.port) as link:
        link.sendall(encoded(chat(stream=stream, dyno={"itl_s": 0.01}), path))
        seen = read_until_reset(link)
    assert seen.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"[DONE]" not in seen
    assert b'"done":true' not in seen


def test_reset_strikes_a_stream_that_had_begun_before(proxy: FaultProxy) -> None:
    with connect(proxy.host, proxy.port) as link:
        link.sendall(encoded(chat(dyno={"itl_s": 0.2, "output_tokens": 50})))
        assert link.recv(65536)
        proxy.set_fault("reset")
        assert b"[DONE]" not in read_until_reset(link)


@BOTH
@pytest.mark.parametrize("stream", [True, False])
def test_truncated_ends_in_the_body_in_an_orderly_way(proxy: FaultProxy, path: str, stream: bool) -> None:
    proxy.set_fault("truncated")
    head, end, body = raw(proxy, chat(stream=stream, dyno={"itl_s": 0.01}), path).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert end
    assert len(body) > 0
    assert not body.endswith(b"0\r\n\r\n")
    assert b"[DONE]" not in body


@BOTH
def test_stream_error_ends_the_stream_with_an_error_object(proxy: FaultProxy, path: str) -> None:
    proxy.set_fault("stream_error")
    *before, error = ask(proxy.url, path, chat(dyno={"itl_s": 0.01})).events
    assert "error" in error
    assert len(before) == 1
    assert "error" not in before[0]


def test_stream_error_of_an_answer_in_one_piece_is_the_error_alone(proxy: FaultProxy) -> None:
    proxy.set_fault("stream_error")
    answer = ask(proxy.url, OPENAI, chat(stream=False))
    assert (answer.status, list(answer.json)) == (200, ["error"])


def test_a_connection_outlives_an_error_in_its_stream(proxy: FaultProxy) -> None:
    with connect(proxy.host, proxy.port) as link:
        proxy.set_fault("stream_error")
        assert b"error" in asked_twice(link)
        proxy.set_fault("")
        assert b"[DONE]" in asked_twice(link)


def test_errors_are_answered_by_the_proxy_and_the_target_does_not_hear_of_them(
    proxy: FaultProxy, server: RunningServer
) -> None:
    server.reset()
    before = proxy.struck().get("errors", 0)
    proxy.set_fault("errors")
    first = ask(proxy.url, OPENAI, chat())
    assert (first.status, first.headers.get("retry-after")) == (503, None)
    proxy.set_fault("errors", status=429, retry_after_s=1.5)
    second = ask(proxy.url, OPENAI, chat("word " * 100_000))
    assert (second.status, second.headers["retry-after"]) == (429, "2")
    assert server.stats().requests == 0
    assert proxy.struck()["errors"] - before == 2
    proxy.set_fault("")
    assert ask(proxy.url, OPENAI, chat()).status == 200


def test_errors_reach_a_connection_that_was_used_before(proxy: FaultProxy) -> None:
    with connect(proxy.host, proxy.port) as link:
        asked_twice(link)
        proxy.set_fault("errors")
        link.sendall(encoded(chat()))
        assert read_until(link, b"}}").startswith(b"HTTP/1.1 503 ")
        proxy.set_fault("")
        assert b"[DONE]" in asked_twice(link)


def test_half_open_accepts_and_never_answers(proxy: FaultProxy, server: RunningServer) -> None:
    server.reset()
    proxy.set_fault("half_open")
    with connect(proxy.host, proxy.port) as link:
        before = proxy.struck().get("half_open", 0)
        link.sendall(encoded(chat()))
        wait_until_struck(proxy, "half_open", before + 1)
        proxy.set_fault("")
        assert ask(proxy.url, OPENAI, chat()).status == 200  # what came in the fault stays unanswered after it
        link.setblocking(False)
        with pytest.raises(BlockingIOError):
            link.recv(1)
    assert server.stats().requests == 1


def test_latency_delays_requests_by_so_much_at_least(proxy: FaultProxy, server: RunningServer) -> None:
    server.reset()
    proxy.set_fault("latency", delay_s=0.15)
    with connect(proxy.host, proxy.port) as link:
        sent_ns = perf_counter_ns()
        link.sendall(encoded(chat()))
        read_until(link, b"0\r\n\r\n")
    (served,) = server.log()
    assert served.received_ns - sent_ns >= 150_000_000


def test_what_is_on_its_way_with_latency_is_not_overtaken(proxy: FaultProxy) -> None:
    body = encoded(chat("word " * 50, stream=False))
    with connect(proxy.host, proxy.port) as link:
        proxy.set_fault("latency", delay_s=0.1)
        before = proxy.struck().get("latency", 0)
        link.sendall(body[:100])
        wait_until_struck(proxy, "latency", before + 1)
        proxy.set_fault("")
        link.sendall(body[100:])
        assert b'"prompt_tokens":50' in read_until(link, b"}")


def test_every_fault_is_counted(proxy: FaultProxy) -> None:
    before = proxy.struck()
    for name in ("errors", "truncated", "stream_error", "latency"):
        proxy.set_fault(name, delay_s=0.01)
        for _ in range(3):
            with connect(proxy.host, proxy.port) as link:
                link.sendall(encoded(chat(stream=False), OPENAI, "connection: close"))
                assert link.recv(65536)
    after = proxy.struck()
    assert {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)} == {
        "errors": 3,
        "truncated": 3,
        "stream_error": 3,
        "latency": 3,
    }


def test_a_target_that_is_down_resets_the_client() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with fault_proxy(f"http://127.0.0.1:{port}") as proxy, connect(proxy.host, proxy.port) as link:
        link.sendall(encoded(chat()))
        assert read_until_reset(link) == b""


def test_a_target_with_tls_is_spoken_to_in_tls(tmp_path: Path) -> None:
    certificate = loopback_certificate(tmp_path)
    with simulated_server(Behaviour(output_tokens=3), certificate=certificate) as server:
        with fault_proxy(server.url, ca_file=str(certificate)) as proxy:
            assert proxy.url.startswith("http://")
            assert ask(proxy.url, OPENAI, chat()).status == 200
            proxy.set_fault("stream_error")
            assert "error" in ask(proxy.url, OPENAI, chat()).events[-1]
        with fault_proxy(server.url) as distrustful, connect(distrustful.host, distrustful.port) as link:
            link.sendall(encoded(chat()))
            assert read_until_reset(link) == b""
        with fault_proxy(server.url, insecure=True) as trustful:
            assert ask(trustful.url, OPENAI, chat()).status == 200


def test_mistakes_are_told(proxy: FaultProxy) -> None:
    with pytest.raises(SpecError, match="no fault 'latenzy'") as caught:
        proxy.set_fault("latenzy")
    assert "latency" in str(caught.value)
    with pytest.raises(SpecError, match="no address"), fault_proxy("ftp://x"):
        pass
    with pytest.raises(SpecError, match="delay_s"):
        proxy.set_fault("latency", delay_s=-1)
    with pytest.raises(SpecError, match="status"):
        proxy.set_fault("errors", status=200)


def test_a_stranger_cannot_switch_faults(proxy: FaultProxy) -> None:
    with connect("127.0.0.1", proxy._control_port) as link:
        link.sendall(b'{"token": "guessed", "fault": {"name": "refuse"}}\n')
        assert read_to_end(link) == b""
    assert ask(proxy.url, "/health").status == 200


def test_nothing_listens_after_the_block_and_orders_are_refused() -> None:
    with fault_proxy("http://127.0.0.1:9") as proxy:
        pass
    with pytest.raises(urllib.error.URLError):
        ask(proxy.url, "/health")
    with pytest.raises(RunError, match="does not obey"):
        proxy.set_fault("")


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def test_an_error_waits_for_the_whole_first_chunk() -> None:
    whole = STREAM + b"5\r\nhello\r\n"
    for size in range(len(whole)):
        assert split_at_boundary(whole[:size], in_body=False, whole_chunk=True) is None
    assert split_at_boundary(whole + b"3\r\n", in_body=False, whole_chunk=True) == (STREAM, b"5\r\nhello\r\n")


def test_a_first_chunk_that_ends_the_answer_is_left_out() -> None:
    done = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
    assert split_at_boundary(STREAM + done, in_body=False, whole_chunk=True) == (STREAM, b"")
    assert error_frames(STREAM, b"")[0].endswith(b"\n\n\r\n0\r\n\r\n")


def test_a_body_that_ends_with_its_connection_is_not_reused() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n"
    answer, reusable = error_frames(head, b"{}\n")
    assert answer.startswith(head + b'{}\n{"error": ')
    assert not reusable


def test_every_fault_has_a_description() -> None:
    assert set(FAULTS) == {
        "",
        "refuse",
        "reset",
        "latency",
        "errors",
        "half_open",
        "truncated",
        "stream_error",
    }
