"""Messages between the runner and its workers: JSON, each with its length in front."""

from __future__ import annotations

import json
import select
import socket
import struct
from typing import Any

_HEADER = struct.Struct("<I")


class Link:
    """One end of a connected pair of sockets."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: dict[str, Any]) -> None:
        payload = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._socket.sendall(_HEADER.pack(len(payload)) + payload)

    def readable(self) -> bool:
        """Whether ``receive`` has something to read, be it the end."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return bool(poller.poll(0))

    def receive(self) -> dict[str, Any] | None:
        """The next message; ``None`` when the other end is gone. Raises ``ValueError`` for what is no message."""
        header = self._read(_HEADER.size)
        payload = self._read(_HEADER.unpack(header)[0]) if header else None
        if payload is None:
            return None
        return _decoded(payload)

    def last_words(self) -> list[dict[str, Any]]:
        """What has arrived and was not read yet. Never waits; to be called when the other end is gone."""
        self._socket.setblocking(False)
        data = bytearray()
        try:
            while chunk := self._socket.recv(1 << 16):
                data += chunk
        except OSError:
            pass
        messages = []
        while len(data) >= _HEADER.size:
            end = _HEADER.size + _HEADER.unpack_from(data)[0]
            if len(data) < end:
                break
            try:
                messages.append(_decoded(bytes(data[_HEADER.size : end])))
            except ValueError:
                break
            del data[:end]
        return messages

    def close_sending(self) -> None:
        """Tells the other end that no further message comes."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()

    def _read(self, size: int) -> bytes | None:
        received = bytearray()
        while len(received) < size:
            try:
                chunk = self._socket.recv(min(size - len(received), 1 << 20))
            except (ConnectionError, TimeoutError):
                return None
            if not chunk:
                return None
            received += chunk
        return bytes(received)


def _decoded(payload: bytes) -> dict[str, Any]:
    try:
        message = json.loads(payload.decode("utf-8", "surrogatepass"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message
