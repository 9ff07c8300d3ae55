"""The simulated server over TLS."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.servers.simulated.server import Behaviour, RunningServer, SimulatedServer, simulated_server

from .certificates import loopback_certificate
from .talking import OPENAI, chat, encoded, read_to_end


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return loopback_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def secure(certificate: Path) -> Iterator[RunningServer]:
    with simulated_server(Behaviour(output_tokens=6), certificate=certificate) as running:
        yield running


def ask_securely(server: RunningServer, certificate: Path, body: object) -> bytes:
    """What comes until the server closes."""
    trusting = ssl.create_default_context(cafile=certificate)
    plain = socket.create_connection((server.host, server.port), timeout=30)
    with plain, trusting.wrap_socket(plain, server_hostname=server.host) as link:
        link.sendall(encoded(body, OPENAI, "connection: close"))
        return read_to_end(link)


def test_it_answers_in_tls_and_tells_its_log(secure: RunningServer, certificate: Path) -> None:
    secure.reset()
    assert secure.url == f"https://127.0.0.1:{secure.port}"
    assert b"data: [DONE]" in ask_securely(secure, certificate, chat())
    head, _, body = ask_securely(secure, certificate, chat(stream=False)).partition(b"\r\n\r\n")
    assert b"x-dyno-simulated: 1" in head
    assert json.loads(body)["usage"]["completion_tokens"] == 6
    assert [served.outcome for served in secure.log()] == ["ok", "ok"]
    assert secure.stats().tokens == 12


def test_a_large_answer_is_complete(secure: RunningServer, certificate: Path) -> None:
    body = chat(dyno={"fault": "big_chunk", "big_chunk_bytes": 1_000_000})
    assert b"x" * 1_000_000 in ask_securely(secure, certificate, body)


def test_a_reset_is_one_in_tls_too(secure: RunningServer, certificate: Path) -> None:
    async def talk() -> None:
        trusting = ssl.create_default_context(cafile=certificate)
        reader, writer = await asyncio.open_connection(secure.host, secure.port, ssl=trusting)
        writer.write(encoded(chat(dyno={"reset_rate": 1, "itl_s": 0.01})))
        try:
            await reader.read()
        finally:
            writer.close()

    with pytest.raises(ConnectionResetError):
        asyncio.run(talk())


def test_who_does_not_know_the_certificate_does_not_get_through(secure: RunningServer) -> None:
    plain = socket.create_connection((secure.host, secure.port), timeout=30)
    with plain, pytest.raises(ssl.SSLCertVerificationError):
        ssl.create_default_context().wrap_socket(plain, server_hostname=secure.host)


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="certificate cannot be used"):
        SimulatedServer(certificate=tmp_path / "absent.pem")
    (tmp_path / "empty.pem").write_text("nothing\n")
    with pytest.raises(SpecError, match="certificate cannot be used"):
        SimulatedServer(certificate=tmp_path / "empty.pem")
