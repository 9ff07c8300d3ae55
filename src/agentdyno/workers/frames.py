"""One frame between two processes: its length and its format, then JSON or bytes. Standard library only."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from typing import Any

HEADER = struct.Struct("<IB")
"""The number of bytes that follow, and their format."""
JSON, BYTES = 0, 1
LARGEST_BYTES = 256 * 1024 * 1024
"""What is longer is no frame: somebody else has written to the connection."""

Message = dict[str, Any]
"""What a frame of the format JSON holds."""


def message_frame(message: Message) -> bytes:
    """Raises ``ValueError`` for a message that is too long."""
    return _frame(JSON, json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def bytes_frame(*parts: bytes) -> bytes:
    """One frame of all ``parts``. Raises ``ValueError`` where they are too long."""
    return _frame(BYTES, *parts)


def header_of(data: bytes | bytearray) -> tuple[int, int]:
    """The size and the format of the frame that begins with ``data``. Raises ``ValueError`` for what is no frame."""
    size, form = HEADER.unpack_from(data)
    if form not in (JSON, BYTES):
        raise ValueError(f"a frame of the unknown format {form}")
    _check_size(size)
    return size, form


def message_in(form: int, content: bytes | bytearray) -> Message:
    """Raises ``ValueError`` for what is no message."""
    if form != JSON:
        raise ValueError("bytes instead of a message")
    try:
        message = json.loads(content.decode("utf-8", "surrogatepass"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message


def send(end: socket.socket, message: Message) -> None:
    """Waits until the other end has room for it."""
    end.sendall(message_frame(message))


def receive(end: socket.socket) -> Message | None:
    """Waits for the next message; ``None`` when the other end is gone, or silent for longer than the socket waits.

    Raises ``ValueError`` for what is no message.
    """
    header = _read(end, HEADER.size)
    if header is None:
        return None
    size, form = header_of(header)
    content = _read(end, size)
    return None if content is None else message_in(form, content)


class FrameReader:
    """Takes whole frames out of bytes that arrive in pieces of any size."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        self._data += data

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Format and content of each frame that has arrived whole; each comes out once, whoever stops in between.

        Raises ``ValueError`` where what follows is no frame.
        """
        while len(self._data) >= HEADER.size:
            size, form = header_of(self._data)
            end = HEADER.size + size
            if len(self._data) < end:
                return
            with memoryview(self._data) as view:
                content = bytes(view[HEADER.size : end])
            del self._data[:end]
            yield form, content


def _frame(form: int, *parts: bytes) -> bytes:
    size = sum(len(part) for part in parts)
    _check_size(size)
    return b"".join((HEADER.pack(size, form), *parts))


def _check_size(size: int) -> None:
    if size > LARGEST_BYTES:
        raise ValueError(f"a frame of {size:,} bytes; {LARGEST_BYTES:,} is the most")


def _read(end: socket.socket, size: int) -> bytearray | None:
    received = bytearray()
    while len(received) < size:
        try:
            chunk = end.recv(min(size - len(received), 1 << 20))
        except (ConnectionError, TimeoutError):
            return None
        if not chunk:
            return None
        received += chunk
    return received
