"""The blocking end of a connection to a worker, for an owner that waits for many with a selector."""

from __future__ import annotations

import select
import socket

from agentdyno.workers.frames import FrameReader, Message, message_in, receive, send


class Link:
    """One end of a connected pair of sockets."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        send(self._socket, message)

    def readable(self) -> bool:
        """Whether ``receive`` has something to read, be it the end."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return bool(poller.poll(0))

    def receive(self) -> Message | None:
        """The next message; ``None`` when the other end is gone. Raises ``ValueError`` for what is no message."""
        return receive(self._socket)

    def last_words(self) -> list[Message]:
        """What has arrived and was not read yet. Never waits; to be called when the other end is gone."""
        self._socket.setblocking(False)
        reader = FrameReader()
        try:
            while chunk := self._socket.recv(1 << 16):
                reader.feed(chunk)
        except OSError:
            pass
        messages = []
        try:
            for form, content in reader.frames():
                messages.append(message_in(form, content))
        except ValueError:  # somebody else has written to the connection: what came before still counts
            pass
        return messages

    def close_sending(self) -> None:
        """Tells the other end that no further message comes."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()
