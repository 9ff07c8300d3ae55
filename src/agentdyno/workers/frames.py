"""Messages between processes: JSON, each with its length in front. Standard library only."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

HEADER = struct.Struct("<I")
LARGEST_BYTES = 256 * 1024 * 1024
"""What is longer is no message: somebody else has written to the connection."""


def encoded(message: dict[str, Any]) -> bytes:
    payload = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return HEADER.pack(len(payload)) + payload


def decoded(payload: bytes | bytearray) -> dict[str, Any]:
    """Raises ``ValueError`` for what is no message."""
    try:
        message = json.loads(payload.decode("utf-8", "surrogatepass"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message


def send(end: socket.socket, message: dict[str, Any]) -> None:
    """Waits until the other end has room for it."""
    end.sendall(encoded(message))


def receive(end: socket.socket) -> dict[str, Any] | None:
    """Waits for the next message; ``None`` when the other end is gone."""
    header = _read(end, HEADER.size)
    payload = _read(end, size_in(header)) if header is not None else None
    return None if payload is None else decoded(payload)


def size_in(header: bytes | bytearray) -> int:
    size: int = HEADER.unpack(header)[0]
    if size > LARGEST_BYTES:
        raise ValueError(f"a message of {size} bytes")
    return size


def _read(end: socket.socket, size: int) -> bytearray | None:
    received = bytearray()
    while len(received) < size:
        try:
            chunk = end.recv(min(size - len(received), 1 << 20))
        except ConnectionError:
            return None
        if not chunk:
            return None
        received += chunk
    return received
