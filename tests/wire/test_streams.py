"""Server-sent events and lines of JSON."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.ndjson import lines, parse_json
from agentdyno.wire.sse import Piece, events

texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)


@given(st.lists(texts.filter(bool), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_events_are_read_whatever_ends_their_lines(data: list[str], newline: str) -> None:
    body, ends = "", []
    for text in data:
        body += f": comment{newline}event: e{newline}data: {text}{newline}{newline}"
        ends.append(len(body.encode()))
    assert list(events(body.encode())) == [Piece(text, end, "e") for text, end in zip(data, ends, strict=True)]


def test_several_lines_of_data_make_one_event() -> None:
    assert [piece.data for piece in events(b"data: a\ndata:b\nid: 3\nretry: 10\n\n\n\ndata:  c\n\n")] == [
        "a\nb",
        " c",
    ]


def test_an_event_without_its_empty_line_has_not_arrived() -> None:
    assert [piece.data for piece in events(b"data: a\n\ndata: b\n")] == ["a"]


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert [piece.data for piece in events(b"\xef\xbb\xbfdata: a\n\n")] == ["a"]


def test_a_field_called_error_is_an_event_of_that_name() -> None:
    assert list(events(b'error: {"message": "x"}\n\n')) == [Piece('{"message": "x"}', 25, "error")]


@given(st.binary(max_size=200))
def test_garbage_is_no_event_or_some_but_never_an_exception(garbage: bytes) -> None:
    assert all(0 < piece.end <= len(garbage) for piece in events(garbage))
    assert all(0 < piece.end <= len(garbage) for piece in lines(garbage))


@given(st.lists(texts.filter(lambda text: text.strip() == text and text)), st.booleans())
def test_lines_are_read_with_or_without_a_last_newline(data: list[str], ended: bool) -> None:
    body = "\n\n".join(data) + ("\n" if ended else "")
    assert [piece.data for piece in lines(body.encode())] == data


def test_a_number_with_more_digits_than_an_integer_here_may_have_is_json_all_the_same() -> None:
    assert parse_json('{"long": %s, "short": 7}' % ("9" * 5000), "") == {"long": math.inf, "short": 7}


@pytest.mark.parametrize("text", ["", "{", "nope", "[" * 100_000, '{"a": 1} x', b"\xff\xfe\x00"])
def test_what_is_no_json_is_a_protocol_error(text: str | bytes) -> None:
    with pytest.raises(ProtocolError, match="not JSON"):
        parse_json(text, "http://h/x")
