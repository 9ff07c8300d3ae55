"""Requests as bytes."""

from __future__ import annotations

import pytest

from agentdyno.wire.address import Address
from agentdyno.wire.errors import Unsendable
from agentdyno.wire.request import Request, json_request

ADDRESS = Address.parse("http://localhost:8080/v1")


def test_a_request_is_one_piece_with_its_length() -> None:
    data = json_request(ADDRESS, "/chat", {"text": "ä"}, headers=(("Authorization", "Bearer k"),)).encode()
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat HTTP/1.1\r\nHost: localhost:8080\r\n")
    assert b"\r\nAuthorization: Bearer k" in head
    assert b"\r\nContent-Type: application/json" in head
    assert b"\r\nAccept-Encoding: identity" in head
    assert head.endswith(b"\r\nContent-Length: 14")
    assert body == '{"text": "ä"}'.encode()


def test_a_get_has_no_body_and_no_length() -> None:
    assert b"Content-Length" not in Request(ADDRESS, "/models", "GET").encode()


def test_a_newline_at_the_end_of_a_key_is_dropped() -> None:
    assert b"X-Key: abc\r\n" in Request(ADDRESS, headers=(("X-Key", "abc\n"),)).encode()


def test_framing_cannot_be_overridden() -> None:
    data = Request(ADDRESS, headers=(("content-length", "5"), ("Transfer-Encoding", "chunked"))).encode()
    assert data.count(b"ontent-Length") == 1
    assert b"chunked" not in data


@pytest.mark.parametrize("header", [("X-Key", "a\r\nEvil: 1"), ("X Key", "a"), ("X-Key", "schlüssel€"), ("", "a")])
def test_headers_that_http_cannot_send_are_refused_without_their_value(header: tuple[str, str]) -> None:
    with pytest.raises(Unsendable) as refused:
        Request(ADDRESS, headers=(header,)).encode()
    assert "Evil" not in str(refused.value)
    assert "schlüssel" not in str(refused.value)


def test_a_strange_method_is_refused() -> None:
    with pytest.raises(Unsendable):
        Request(ADDRESS, method="GET /x HTTP/1.1\r\nA:").encode()


@pytest.mark.parametrize("value", [{"x": float("nan")}, {"x": object()}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(Unsendable, match="no JSON form"):
        json_request(ADDRESS, "/chat", value)


def test_half_a_surrogate_pair_does_not_stop_a_request() -> None:
    assert json_request(ADDRESS, "/chat", {"x": "\ud800"}).body == b'{"x": "?"}'
