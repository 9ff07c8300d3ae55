from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.workers.frames import (
    BYTES,
    HEADER,
    JSON,
    LARGEST_BYTES,
    FrameReader,
    bytes_frame,
    header_of,
    message_frame,
    message_in,
    receive,
)

Values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=20,
)
Messages = st.dictionaries(st.text(st.characters(), max_size=20), Values, max_size=5)
Frames = st.lists(Messages.map(message_frame) | st.binary(max_size=300).map(bytes_frame), max_size=6)
TOO_LONG = st.integers(LARGEST_BYTES + 1, 2**32 - 1)
UNKNOWN = st.integers(2, 255)


def taken_apart(*pieces: bytes) -> list[tuple[int, bytes]]:
    """The frames that come out when bytes arrive in these pieces."""
    reader = FrameReader()
    found: list[tuple[int, bytes]] = []
    for piece in pieces:
        reader.feed(piece)
        found += reader.frames()
    return found


@given(Messages)
def test_a_message_comes_out_as_it_went_in(message: dict[str, Any]) -> None:
    ((form, content),) = taken_apart(message_frame(message))
    assert (form, message_in(form, content)) == (JSON, message)


@given(st.lists(st.binary(max_size=300), max_size=4))
def test_bytes_come_out_as_they_went_in(parts: list[bytes]) -> None:
    assert taken_apart(bytes_frame(*parts)) == [(BYTES, b"".join(parts))]


@given(Frames, st.data())
def test_frames_may_be_cut_at_any_byte(frames: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    expected = [(frame[HEADER.size - 1], frame[HEADER.size :]) for frame in frames]
    assert taken_apart(*pieces) == expected


@given(Messages, st.data())
def test_a_message_that_breaks_off_anywhere_is_none(message: dict[str, Any], data: st.DataObject) -> None:
    frame = message_frame(message)
    here, there = socket.socketpair()
    with here, there:
        here.sendall(frame[: data.draw(st.integers(0, len(frame) - 1))])
        here.shutdown(socket.SHUT_WR)
        assert receive(there) is None


@given(Messages)
def test_whoever_stops_between_two_frames_finds_the_other_later(message: dict[str, Any]) -> None:
    reader = FrameReader()
    reader.feed(message_frame(message) + bytes_frame(b"second"))
    assert next(reader.frames()) == (JSON, message_frame(message)[HEADER.size :])
    assert list(reader.frames()) == [(BYTES, b"second")]


@given(TOO_LONG | st.just(LARGEST_BYTES + 1), st.sampled_from([JSON, BYTES]))
def test_a_frame_that_claims_to_be_too_long_is_refused_before_it_is_waited_for(size: int, form: int) -> None:
    with pytest.raises(ValueError, match=f"a frame of {size:,} bytes; 268,435,456 is the most"):
        taken_apart(HEADER.pack(size, form))


@given(st.integers(0, LARGEST_BYTES), UNKNOWN)
def test_a_frame_of_an_unknown_format_is_refused(size: int, form: int) -> None:
    with pytest.raises(ValueError, match=f"unknown format {form}$"):
        taken_apart(HEADER.pack(size, form))


@given(st.integers(0, LARGEST_BYTES), st.sampled_from([JSON, BYTES]))
def test_a_header_tells_size_and_format(size: int, form: int) -> None:
    assert header_of(HEADER.pack(size, form)) == (size, form)


def test_what_came_before_a_broken_frame_still_comes_out() -> None:
    reader = FrameReader()
    reader.feed(bytes_frame(b"fine") + HEADER.pack(0, 9))
    frames = reader.frames()
    assert next(frames) == (BYTES, b"fine")
    with pytest.raises(ValueError, match="unknown format 9"):
        next(frames)


def test_nothing_longer_than_the_largest_frame_is_sent() -> None:
    half = bytes(LARGEST_BYTES // 2)
    with pytest.raises(ValueError, match="a frame of 268,435,457 bytes"):
        bytes_frame(half, half, b"x")


@pytest.mark.parametrize("content", [b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_message_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        message_in(JSON, content)


def test_bytes_are_no_message() -> None:
    with pytest.raises(ValueError, match="bytes instead of a message"):
        message_in(BYTES, b"{}")
