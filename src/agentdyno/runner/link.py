"""Messages between the runner and its workers: JSON, each with its length in front."""

from __future__ import annotations

import json
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

    def receive(self) -> dict[str, Any] | None:
        """The next message; ``None`` when the other end is gone."""
        header = self._read(_HEADER.size)
        payload = self._read(_HEADER.unpack(header)[0]) if header else None
        if payload is None:
            return None
        message: dict[str, Any] = json.loads(payload.decode("utf-8", "surrogatepass"))
        return message

    def close_sending(self) -> None:
        """Tells the other end that no further message comes."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()

    def _read(self, size: int) -> bytes | None:
        chunks = b""
        while len(chunks) < size:
            try:
                chunk = self._socket.recv(size - len(chunks))
            except ConnectionError:
                return None
            if not chunk:
                return None
            chunks += chunk
        return chunks
