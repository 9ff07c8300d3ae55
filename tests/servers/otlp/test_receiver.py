"""The receiver over real HTTP: what is well is 200, what is not is 4xx, and it goes on afterwards."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from agentdyno.servers.otlp.receiver import JSON, MOST_BYTES, PROTOBUF, OtlpReceiver

from .traces import protobuf, request, span

DOCUMENT = request(span("a1", 1, 2), span("b2", 1, 3), resource={"dyno.case": "one"})


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as running:
        yield running


def post(
    receiver: OtlpReceiver, body: bytes, kind: str = PROTOBUF, path: str = "/v1/traces", **headers: str
) -> tuple[int, bytes]:
    connection = HTTPConnection(urlsplit(receiver.url).netloc, timeout=30)
    try:
        told = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request("POST", path, body, told)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (PROTOBUF, protobuf(DOCUMENT)),
        (JSON, json.dumps(DOCUMENT).encode()),
        (f"{JSON}; charset=utf-8", json.dumps(DOCUMENT).encode()),
    ],
)
def test_traces_are_taken_in_protobuf_and_json(receiver: OtlpReceiver, kind: str, body: bytes) -> None:
    assert post(receiver, body, kind)[0] == 200
    assert post(receiver, gzip.compress(body), kind, Content_Encoding="gzip")[0] == 200
    found = receiver.take(lambda item: item.resource.get("dyno.case") == "one")
    assert [item.span_id for item in found] == ["00000000000000a1", "00000000000000b2"] * 2
    assert receiver.take(lambda _: True) == []
    assert receiver.counts.spans == 4


def test_metrics_and_logs_are_accepted_and_forgotten(receiver: OtlpReceiver) -> None:
    assert post(receiver, b"anything", path="/v1/metrics")[0] == 200
    assert post(receiver, b"anything", path="/v1/logs")[0] == 200
    assert receiver.counts.spans == 0


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (protobuf(DOCUMENT)[:-3], PROTOBUF, 400),
        (b"\xff" * 64, PROTOBUF, 400),
        (b"{", JSON, 400),
        (b"[" * 100_000, JSON, 400),
        (b"[]", JSON, 400),
        (b'{"resourceSpans": 5}', JSON, 400),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": 1}]}]}]}', JSON, 400),
        (b"x", "text/plain", 415),
        (b"", "", 415),
    ],
)
def test_what_is_no_trace_is_refused_and_the_next_is_taken(
    receiver: OtlpReceiver, body: bytes, kind: str, status: int
) -> None:
    found, told = post(receiver, body, kind)
    assert found == status
    assert json.loads(told)["message"]
    assert post(receiver, protobuf(DOCUMENT))[0] == 200
    assert (receiver.counts.refused, receiver.counts.requests) == (1, 1)


def test_a_bomb_of_gzip_and_broken_gzip_are_refused(receiver: OtlpReceiver) -> None:
    bomb = gzip.compress(b"\0" * (MOST_BYTES + 1024), 9)
    assert post(receiver, bomb, Content_Encoding="gzip")[0] == 413
    assert post(receiver, bomb[:100], Content_Encoding="gzip")[0] == 400
    assert post(receiver, b"no gzip", Content_Encoding="gzip")[0] == 400
    assert post(receiver, b"", Content_Encoding="br")[0] == 415


def test_lengths_that_are_too_large_missing_or_wrong_are_refused_without_reading(receiver: OtlpReceiver) -> None:
    for length, status in ((str(MOST_BYTES + 1), b"413"), ("9" * 30, b"413"), ("-5", b"400"), (None, b"411")):
        with socket.create_connection(("127.0.0.1", urlsplit(receiver.url).port or 0), timeout=30) as raw:
            header = b"" if length is None else f"Content-Length: {length}\r\n".encode()
            raw.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n")
            assert raw.recv(64).split()[1] == status


def test_a_client_that_breaks_off_does_no_harm(receiver: OtlpReceiver) -> None:
    with socket.create_connection(("127.0.0.1", urlsplit(receiver.url).port or 0), timeout=30) as raw:
        raw.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(64).split()[1] == b"400"
    assert post(receiver, protobuf(DOCUMENT))[0] == 200


def test_other_paths_and_methods_are_refused(receiver: OtlpReceiver) -> None:
    assert post(receiver, b"", path="/")[0] == 404
    connection = HTTPConnection(urlsplit(receiver.url).netloc, timeout=30)
    connection.request("GET", "/v1/traces")
    assert connection.getresponse().status == 405
    connection.close()
