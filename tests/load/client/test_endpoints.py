"""Plain addresses that turn out to be a model's endpoint, and those that only look like one."""

from __future__ import annotations

import contextlib
import gzip
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import RunError
from agentdyno.load.client.driver import HttpDriver
from agentdyno.model.load import Dialect, LoadOptions, LoadTarget, Window
from agentdyno.servers.simulated.server import Behaviour, simulated_server
from tests.load.server_streams import SERVERS, anthropic, ollama_generate, openai, text_completions
from tests.load.streams import event, whole
from tests.servers.certificates import loopback_certificate

from .test_worker import constant, listening

BODY = {"model": "m", "stream": True, "prompt": "{prompt}"}


def answering(*answers: bytes) -> contextlib.AbstractContextManager[str]:
    """Gives each request the next of the answers, and the last one from then on."""
    left = list(answers)

    def talk(link: socket.socket, number: int) -> None:
        while link.recv(65536):
            link.sendall(left.pop(0) if len(left) > 1 else left[0])

    return listening(talk)


def drive(url: str, **more: object) -> tuple[Window, Mapping[str, object]]:
    target = LoadTarget("plain", Dialect.HTTP, url, body=BODY, **more)  # type: ignore[arg-type]
    driver = HttpDriver(target, LoadOptions(prompt="go", window_s=1.0, timeout_s=10.0))
    driver.open()
    try:
        (window,) = driver.run(constant(100))
        return window, driver.observed()
    finally:
        driver.close()


@pytest.mark.parametrize(
    ("path", "stream", "answers", "source"),
    [
        ("v1/messages", anthropic, "messages", "usage"),
        ("v1/completions", text_completions, "completions", "usage"),
        ("v1/chat/completions", openai, "openai", "usage"),
        ("api/generate", ollama_generate, "ollama.generate", "ollama"),
    ],
)
def test_a_model_s_endpoint_is_read_as_one(path: str, stream: object, answers: str, source: str) -> None:
    assert callable(stream)
    with answering(stream().raw) as url:
        window, observed = drive(url + path)
    assert window.outcomes == {"ok": 10}
    assert observed["answers"] == answers
    assert observed["token_source"] == source == window.token_source
    assert window.ttft.count == 10
    assert (window.output_tokens or 0) > 0


def test_an_error_in_the_middle_of_such_a_stream_is_no_success() -> None:
    good = anthropic()
    broken = replace(
        good,
        pieces=(*good.pieces[:3], b"event: error\n" + event({"type": "error", "error": {"message": "overloaded"}})),
    )
    with answering(good.raw, broken.raw) as url:
        window, _ = drive(url + "v1/messages")
    assert window.outcomes == {"stream_error": 10}
    assert "overloaded" in window.examples["stream_error"]


def test_a_stream_that_breaks_off_at_every_request_is_seen_to_be_one() -> None:
    good = openai()
    with answering(
        replace(good, pieces=(*good.pieces[:3], event({"error": {"message": "out of memory"}}))).raw
    ) as url:
        window, observed = drive(url + "v1/chat/completions")
    assert window.outcomes == {"stream_error": 10}
    assert observed["answers"] == "openai"


def test_a_plain_body_may_be_compressed_and_that_of_a_model_may_not() -> None:
    body = gzip.compress(b"{}")
    answer = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    with answering(answer) as url:
        assert drive(url)[0].outcomes == {"ok": 10}
        with pytest.raises(RunError, match="encoded as gzip"):
            HttpDriver(LoadTarget("chat", Dialect.OPENAI, url + "v1", "m"), LoadOptions()).open()


@pytest.mark.parametrize("path", ["messages", "app/completions", "api/generate"])
@pytest.mark.parametrize("answer", [whole(b'{"ok": true}'), whole(b"[]"), whole(b"done", "HTTP/1.1 200 OK")])
def test_an_address_that_only_ends_like_one_stays_plain(path: str, answer: bytes) -> None:
    with answering(answer) as url:
        window, observed = drive(url + path)
    assert window.outcomes == {"ok": 10}
    assert "answers" not in observed
    assert window.ttft.count == 0


def test_every_dialect_that_is_decoded_can_be_asked_for() -> None:
    """A dialect that no address leads to would be there for tests alone."""
    from agentdyno.wire.endpoints import ANSWERS

    assert {make().answers.name for make in SERVERS.values()} <= set(ANSWERS)


@pytest.mark.parametrize(
    ("status", "body", "message", "remedy"),
    [
        ("405 Method Not Allowed", b"", "status 405\n", "--method"),
        ("404 Not Found", b"no such page", "status 404: no such page\n", "by hand"),
        ("401 Unauthorized", b'{"error": "no key"}', "status 401: no key\n", "--api-key-env"),
    ],
)
def test_a_target_that_refuses_every_request_is_refused_with_its_status(
    status: str, body: bytes, message: str, remedy: str
) -> None:
    with answering(whole(body, f"HTTP/1.1 {status}")) as url, pytest.raises(RunError, match=message) as refused:
        drive(url + "page", method="GET")
    assert remedy in (refused.value.remedy or "")


def test_what_is_wrong_with_tls_is_told_with_what_to_do(tmp_path: Path) -> None:
    certificate = loopback_certificate(tmp_path)
    with simulated_server(Behaviour(), certificate=certificate) as server:
        untrusted = HttpDriver(LoadTarget("tls", Dialect.OPENAI, server.openai_url, "m"), LoadOptions())
        with pytest.raises(RunError, match="is not trusted") as refused:
            untrusted.open()
    assert "--ca-file" in (refused.value.remedy or "")
    with answering(whole(b"ok")) as url, pytest.raises(RunError, match="TLS handshake") as refused:
        drive(url.replace("http:", "https:"))
    assert "http://" in (refused.value.remedy or "")
