"""What passed by in one exchange: stamped bytes, kept until somebody has time to read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns

from agentdyno.servers.proxy.request_stream import RequestHead
from agentdyno.wire.chat import AnswerDialect
from agentdyno.wire.endpoints import endpoint_of
from agentdyno.wire.errors import WireError
from agentdyno.wire.message import MessageParser

MOST_KEPT_BYTES = 32 * 1024 * 1024
"""Of one request or answer; of what is longer, only the size is known."""
UNREAD_BYTES = 64 * 1024
"""Kept of an answer that nobody reads: its head is enough."""


@dataclass(slots=True)
class RecordedExchange:
    """One request and what came of it. Times are ``perf_counter_ns``, which all processes of a machine share.

    ``scope`` is whose request it was, ``path`` without its query. ``ended`` says who ended the connection before the
    answer was complete: "" (nobody), ``client``, ``target`` (in an orderly way), ``reset`` or ``not_reached``;
    ``unfinished`` where it went on when somebody asked.
    ``problem`` says in words why the target was not reached.
    """

    scope: str
    upstream: str
    head: RequestHead
    path: str
    started_ns: int
    api: str = ""
    dialect: AnswerDialect | None = None
    connected_ns: int | None = None
    sent_ns: int | None = None
    body: list[bytes] = field(default_factory=list)
    request_bytes: int = 0
    chunks: list[tuple[int, bytes]] = field(default_factory=list)
    response_bytes: int = 0
    ended: str = ""
    problem: str = ""
    malformed: bool = False
    _parser: MessageParser | None = None
    _parsed: int = 0
    _broken: bool = False

    @classmethod
    def begun(cls, scope: str, upstream: str, head: RequestHead, path: str) -> RecordedExchange:
        found = endpoint_of(head.method, path)
        own = cls(scope, upstream, head, path, perf_counter_ns())
        if found is not None:
            own.api, own.dialect = found
        return own

    def asked(self, content: bytes) -> None:
        """Part of the request's body."""
        self.request_bytes += len(content)
        if self.api and self.request_bytes <= MOST_KEPT_BYTES:
            self.body.append(content)

    def answered(self, data: bytes) -> None:
        """Bytes of the answer, head and framing included; the clock first."""
        now = perf_counter_ns()
        self.response_bytes += len(data)
        if self.response_bytes <= (MOST_KEPT_BYTES if self.api else UNREAD_BYTES) or not self.chunks:
            self.chunks.append((now, data))

    @property
    def held_bytes(self) -> int:
        return sum(map(len, self.body)) + sum(len(data) for _, data in self.chunks)

    @property
    def too_large(self) -> bool:
        """Whether parts of it were not kept."""
        return self.request_bytes > MOST_KEPT_BYTES or self.response_bytes > MOST_KEPT_BYTES

    def parsed(self) -> MessageParser:
        """The answer as far as it has come; what cannot be understood of it makes it ``malformed``."""
        parser = self._parser = self._parser or MessageParser(
            self.head.method, self.path, MOST_KEPT_BYTES * 2, any_encoding=True
        )
        waiting, self._parsed = self.chunks[self._parsed :], len(self.chunks)
        for stamped in waiting:
            if self._broken:
                break
            try:
                parser.feed(stamped)
            except WireError:
                self._broken = self.malformed = True
        return parser

    @property
    def complete(self) -> bool:
        """Whether the whole answer has passed. Of what cannot be read, nobody knows before the connection ends."""
        return self.parsed().done

    def close(self, ended: str) -> None:
        """Its connection ended, or another request follows."""
        parser = self.parsed()
        if ended == "target" and not self._broken:
            parser.end(perf_counter_ns())
        if not parser.done:
            self.ended = self.ended or ended
