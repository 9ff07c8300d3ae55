"""The recording proxy with real sockets: everything passes, everything is counted, and no key stays."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentdyno.errors import RunError, SpecError
from agentdyno.model.case import Usage
from agentdyno.model.codec import to_plain
from agentdyno.servers.proxy.model_call import ModelCall
from agentdyno.servers.proxy.recorder import ProxyLost, RecordingProxy
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

from ..certificates import loopback_certificate
from ..talking import ask, chat, connect, encoded, read_to_end, read_until

SECRET = "sk-planted-0123456789abcdef"
CHAT = "/chat/completions"
WITH_USAGE = {"stream_options": {"include_usage": True}}


@pytest.fixture(scope="module")
def proxy(server: RunningServer) -> Iterator[RecordingProxy]:
    own = RecordingProxy({"openai": server.url, "ollama": server.url})
    yield own
    own.stop()


def collected(proxy: RecordingProxy, scope: str) -> tuple[ModelCall, ...]:
    return asyncio.run(proxy.collect(scope))


def one_call(proxy: RecordingProxy, scope: str) -> ModelCall:
    (call,) = collected(proxy, scope)
    return call


@pytest.mark.parametrize("stream", [True, False])
def test_a_call_passes_unchanged_and_is_counted(proxy: RecordingProxy, server: RunningServer, stream: bool) -> None:
    server.reset()
    body = chat("how many", stream=stream, **(WITH_USAGE if stream else {}))
    through = ask(proxy.url("case/1", "openai", "/v1"), CHAT, body, x_stainless_retry_count="2")
    (logged,) = server.log()
    assert through.status == 200
    assert through.headers["x-dyno-simulated"] == "1"
    call = one_call(proxy, "case/1")
    assert (call.api, call.status, call.streamed, call.ok) == ("chat.completions", 200, stream, True)
    assert call.usage == Usage(logged.input_tokens, logged.output_tokens)
    assert (call.model, call.model_asked, call.simulated) == ("simulated/tiny", "tiny", True)
    assert (call.finish_reason, call.retry, call.path) == ("stop", 2, "/v1/chat/completions")
    assert ("ttft_s" in call.readings) is stream
    assert call.request_bytes == len(json.dumps(body))
    assert collected(proxy, "case/1") == ()


def test_ollama_and_whatever_is_no_model_call_pass_too(proxy: RecordingProxy) -> None:
    base = proxy.url("worker/3", "ollama")
    assert ask(base, "/api/chat", chat("hi", stream=True)).status == 200
    assert ask(base, "/api/tags").json["models"]
    assert ask(base, "/nowhere").status == 404
    first, *others = collected(proxy, "worker/3")
    assert (first.api, first.ok) == ("ollama.chat", True)
    assert [(call.api, call.method, call.status) for call in others] == [("", "GET", 200), ("", "GET", 404)]


def test_a_path_that_names_no_target_is_refused_in_words(proxy: RecordingProxy) -> None:
    for path in ("/", "/case/1", "/case/1/nobody/v1", "/case//openai/v1", "/elsewhere/1/openai/v1"):
        refused = ask(f"http://127.0.0.1:{proxy.port}", path)
        assert refused.status == 404
        assert "recording proxy" in refused.json["error"]["message"]


def test_several_requests_on_one_connection_are_told_apart(proxy: RecordingProxy) -> None:
    link = http.client.HTTPConnection("127.0.0.1", proxy.port)
    for number in range(5):
        body = json.dumps(chat(f"question {number}", stream=bool(number % 2), **WITH_USAGE))
        link.request("POST", f"/case/{number}/openai/v1/chat/completions", body, {"content-type": "application/json"})
        link.getresponse().read()
    link.close()
    found = [one_call(proxy, f"case/{number}") for number in range(5)]
    assert all(call.ok for call in found)
    assert len({call.request_hash for call in found}) == 5


def test_equal_prompts_share_their_prefixes_and_only_these(proxy: RecordingProxy) -> None:
    said = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "one"}]
    other = {"role": "user", "content": "two"}
    for messages in (said, [*said, other], [said[0], other]):
        ask(proxy.url("case/p", "openai", "/v1"), CHAT, chat(stream=False, messages=messages))
    first, longer, parted = (call.prefixes for call in collected(proxy, "case/p"))
    assert longer[:2] == first
    assert len(longer) == 3
    assert parted[0] == first[0]
    assert parted[1] != first[1]
    assert first[0][1] == len(json.dumps(said[0], sort_keys=True))


def test_a_thousand_calls_under_faults_are_those_of_the_servers_log() -> None:
    faults = dict.fromkeys(("reset", "truncated", "rate_limited", "stream_error", "error", "html"), 40)
    behaviour = Behaviour(output_tokens=(1, 9), itl_s=0.0005, faults=faults, fault_span=900, seed=3)
    with simulated_server(behaviour) as target:
        own = RecordingProxy({"openai": target.url}, measured=False)
        try:
            with ThreadPoolExecutor(10) as pool:
                list(pool.map(lambda number: hundred_calls(own, number), range(10)))
            calls = [collected(own, f"case/{number}") for number in range(10)]
        finally:
            own.stop()
        log = target.log()
    assert [len(found) for found in calls] == [100] * 10
    flat = [call for found in calls for call in found]
    assert Counter(map(outcome, flat)) == Counter(entry.outcome for entry in log)
    assert Counter(entry.outcome for entry in log)["ok"] == 760
    counted = [call.usage for call in flat if call.ok and call.usage is not None]
    logged = [entry for entry in log if entry.outcome == "ok"]
    assert len(counted) == len(logged)
    assert sum(usage.output_tokens for usage in counted) == sum(entry.output_tokens for entry in logged)
    assert sum(usage.input_tokens for usage in counted) == sum(entry.input_tokens for entry in logged)
    assert Counter(call.streamed for call in flat if call.ok) == Counter(entry.stream for entry in logged)


def hundred_calls(proxy: RecordingProxy, number: int) -> None:
    link = http.client.HTTPConnection("127.0.0.1", proxy.port)
    for turn in range(100):
        body = json.dumps(chat(f"{number} asks {turn}", stream=bool(turn % 2), **WITH_USAGE))
        try:
            link.request("POST", f"/case/{number}/openai/v1/chat/completions", body)
            link.getresponse().read()
        except (http.client.HTTPException, OSError):
            link.close()  # a fault; the next request opens another connection
    link.close()


def outcome(call: ModelCall) -> str:
    """In the words of the server's log."""
    if call.ok:
        return "ok"
    if call.ended:
        return {"reset": "reset", "target": "truncated"}[call.ended]
    if call.status == 429:
        return "rate_limited"
    if call.status is not None and call.status >= 400:
        return "error"
    return "html" if "<" in call.broken else "stream_error"


@pytest.mark.parametrize("full", [False, True])
def test_keys_pass_through_and_stay_nowhere(server: RunningServer, tmp_path: Path, full: bool) -> None:
    own = RecordingProxy({"openai": server.url}, full=full, measured=False)
    try:
        base = own.url("case/1", "openai", "/v1")
        question = f"my key is {SECRET}"
        ask(base, CHAT, chat(question, stream=True, dyno={"echo": True}), authorization=f"Bearer {SECRET}")
        ask(base, CHAT, chat(question, stream=False, dyno={"echo": True}), x_api_key=SECRET)
        ask(base, f"{CHAT}?key={SECRET}", chat(f"{SECRET}"), api_key=SECRET)
        ask(base, f"/models/{SECRET}", authorization=f"Bearer {SECRET}")
        calls = collected(own, "case/1")
        memory = Path(f"/proc/{own.pid}/cmdline").read_bytes() + Path(f"/proc/{own.pid}/environ").read_bytes()
    finally:
        own.stop()
    assert SECRET not in json.dumps([to_plain(call) for call in calls])
    assert SECRET.encode() not in memory
    assert len(calls) == 4
    if full:
        assert calls[0].request["messages"][0]["content"] == "my key is [REDACTED]"  # type: ignore[index]
        assert calls[0].response == {"text": "my key is [REDACTED]"}
    else:
        assert {(call.request, call.response) for call in calls} == {(None, None)}


def test_the_target_gets_the_key_and_the_bytes_of_the_request() -> None:
    with answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}") as (port, requests):
        own = RecordingProxy({"openai": f"http://127.0.0.1:{port}"}, measured=False)
        try:
            with connect("127.0.0.1", own.port) as link:
                link.sendall(
                    b"POST /case/7/openai/v1/chat/completions?beta=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    b"X-Odd:  kept  \r\naccept-encoding: br, gzip;q=0.5, zstd\r\n"
                    b"Authorization: Bearer abcdef\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                )
                assert read_until(link, b"{}") == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
        finally:
            own.stop()
    assert requests == [
        f"POST /v1/chat/completions?beta=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
        + b"X-Odd:  kept  \r\naccept-encoding: gzip;q=0.5\r\n"
        b"Authorization: Bearer abcdef\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    ]


def test_a_compressed_answer_passes_as_it_is_and_is_read() -> None:
    value = {"model": "m", "choices": [{"index": 0, "message": {"content": "42"}, "finish_reason": "stop"}]}
    packed = gzip.compress(json.dumps({**value, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}).encode())
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n"
    with answering(head + b"content-length: %d\r\n\r\n" % len(packed) + packed) as (port, _):
        own = RecordingProxy({"openai": f"http://127.0.0.1:{port}"}, measured=False)
        try:
            through = ask(own.url("case/1", "openai", "/v1"), CHAT, chat())
            call = one_call(own, "case/1")
        finally:
            own.stop()
    assert through.body == packed
    assert (call.usage, call.finish_reason, call.ok) == (Usage(9, 1), "stop", True)


def test_an_https_target_is_spoken_to_and_one_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    certificate = loopback_certificate(tmp_path)
    with simulated_server(Behaviour(), certificate=certificate) as target:
        for ca_file, trusted in ((str(certificate), True), ("", False)):
            own = RecordingProxy({"openai": target.url}, ca_file=ca_file, measured=False)
            try:
                with connect("127.0.0.1", own.port) as link:
                    link.sendall(
                        encoded(chat(stream=False), "/case/1/openai/v1/chat/completions", "connection: close")
                    )
                    if trusted:
                        assert b"200 OK" in read_to_end(link)
                    else:
                        with pytest.raises(ConnectionResetError):
                            read_to_end(link)
                call = one_call(own, "case/1")
            finally:
                own.stop()
            assert call.ok is trusted
            assert ("certificate" in call.problem) is not trusted


def test_a_target_that_nobody_answers_at_is_told_and_the_client_sees_a_broken_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    own = RecordingProxy({"openai": f"http://127.0.0.1:{port}"}, measured=False)
    try:
        with connect("127.0.0.1", own.port) as link:
            link.sendall(encoded(chat(), "/case/1/openai/v1/chat/completions"))
            with pytest.raises(ConnectionResetError):
                read_to_end(link)
        call = one_call(own, "case/1")
    finally:
        own.stop()
    assert (call.status, call.ended) == (None, "not_reached")
    assert "refused" in call.problem


def test_a_client_that_leaves_in_the_middle_is_told_from_an_answer_that_broke_off(proxy: RecordingProxy) -> None:
    with connect("127.0.0.1", proxy.port) as link:
        body = chat(dyno={"itl_s": 0.05, "output_tokens": 400})
        link.sendall(encoded(body, "/case/left/openai/v1/chat/completions"))
        assert link.recv(65536)
    call = one_call(proxy, "case/left")
    assert (call.status, call.ended, call.ok) == (200, "client", False)


def test_what_it_costs_is_measured_when_it_starts(proxy: RecordingProxy) -> None:
    assert proxy.cost is not None
    assert proxy.cost.plain_s >= 0
    assert proxy.cost.streamed_s >= 0
    assert collected(proxy, "worker/own-cost")


def test_one_that_cannot_bind_says_why_and_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RunError, match=f"cannot listen on 127.0.0.1:{port}") as refused:
            RecordingProxy({"openai": "http://127.0.0.1:1"}, port=port)
    assert "Another program listens there" in (refused.value.remedy or "")


def test_an_address_that_is_none_is_refused_before_anything_starts() -> None:
    for url in ("ftp://x", "http://", "http://x:99999", "nothing"):
        with pytest.raises(SpecError, match="no address of a model"):
            RecordingProxy({"openai": url})


def test_one_that_was_killed_is_lost_and_another_takes_its_port(server: RunningServer) -> None:
    first = RecordingProxy({"openai": server.url}, measured=False)
    ask(first.url("case/1", "openai", "/v1"), CHAT, chat())
    os.kill(first.pid, signal.SIGKILL)
    with pytest.raises(ProxyLost):
        collected(first, "case/1")
    first.stop()
    assert first.exit_status == -signal.SIGKILL
    second = RecordingProxy({"openai": server.url}, port=first.port, measured=False)
    try:
        assert ask(first.url("case/2", "openai", "/v1"), CHAT, chat()).status == 200
        assert one_call(second, "case/2").ok
    finally:
        second.stop()


class answering:
    """A server that reads one request a connection and sends the same bytes to each."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            with link:
                data = b""
                while not data.endswith((b"0\r\n\r\n", b"}")):
                    data += link.recv(65536)
                self.requests.append(data)
                link.sendall(self._answer)

    def __enter__(self) -> tuple[int, list[bytes]]:
        self._thread.start()
        return self._listener.getsockname()[1], self.requests

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
