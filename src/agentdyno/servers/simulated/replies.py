"""Answers in progress: streamed, in one piece, without an end, or never."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns

from agentdyno.servers.simulated.admission import FAULT_MESSAGE
from agentdyno.servers.simulated.answer_bytes import Frames
from agentdyno.servers.simulated.connection import ServerConnection
from agentdyno.servers.simulated.fault_plan import Fault
from agentdyno.servers.simulated.script import Script
from agentdyno.servers.simulated.send_log import RequestRecord, SendLog
from agentdyno.servers.simulated.slots import Ticket

TRICKLE_NS = 10_000_000
"""Between the frames of a stream that has no content, at least."""
PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n"


@dataclass(slots=True)
class SimulatedExchange:
    """One request and what is to be done with it. ``ticket`` is its slot, where slots are limited."""

    connection: ServerConnection
    frames: Frames
    script: Script
    record: RequestRecord
    log: SendLog
    truncate_clean: bool = False
    ticket: Ticket | None = None

    def send_head(self) -> None:
        connection = self.connection
        coding = (("transfer-encoding", "chunked"),) if connection.chunked else ()
        named = ("x-dyno-request", self.record.request_id)
        connection.send(connection.head(200, ("content-type", self.frames.content_type), named, *coding))
        if opening := self.frames.opening():
            connection.send_chunk(opening)

    def close(self, outcome: str, end_ns: int, due_ns: int) -> None:
        """Ends the record, and frees the slot at the time at which it was due to be free."""
        self.log.close(self.record, outcome, end_ns)
        if self.ticket is not None:
            self.ticket.leave(due_ns)


class LateHead:
    """Sends the head of a stream that is kept back; an entry of the timetable."""

    __slots__ = ("_exchange",)

    def __init__(self, exchange: SimulatedExchange) -> None:
        self._exchange = exchange

    def fire(self, due_ns: int) -> int:  # noqa: ARG002
        if self._exchange.connection.reply is not None:
            self._exchange.send_head()
        return 0


class TokenStream:
    """A streamed answer: an entry of the timetable that sends one token each time it fires."""

    __slots__ = ("_connection", "_exchange", "_frames", "_index", "_log", "_record", "_script", "_until")

    def __init__(self, exchange: SimulatedExchange) -> None:
        self._exchange = exchange
        self._connection, self._frames, self._script = exchange.connection, exchange.frames, exchange.script
        self._record, self._log = exchange.record, exchange.log
        self._index = 0
        count = self._frames.count
        self._until = count if self._script.fault is None else min(self._script.fault_at, count)
        self._connection.reply = self

    def fire(self, due_ns: int) -> int:
        if self._connection.reply is not self:
            return 0
        index = self._index
        if index < self._until:
            frame = self._frames.token(index)
            now_ns = perf_counter_ns()
            self._record.token_ns.append(now_ns)
            self._connection.send_chunk(frame)
            self._log.lag.add(now_ns - due_ns)
            self._index = index + 1
            if index + 1 < self._until or self._script.fault is not None:
                gaps = self._script.gaps_ns
                return due_ns + (gaps[0] if len(gaps) == 1 else gaps[index])
        self._end(due_ns)
        return 0

    def abandon(self) -> None:
        now_ns = perf_counter_ns()
        self._record.output_tokens = self._index
        self._exchange.close("disconnected", now_ns, now_ns)

    def _end(self, due_ns: int) -> None:
        record, connection, fault = self._record, self._connection, self._script.fault
        record.output_tokens = self._index if fault is not None else len(self._script.tokens)
        record.end_ns = perf_counter_ns()
        if fault is Fault.RESET:
            connection.reset()
        elif fault is Fault.TRUNCATED and not (self._exchange.truncate_clean and connection.chunked):
            connection.close()
        else:
            last = b""
            if fault is None:
                last = self._frames.ending(record)
            elif fault is Fault.STREAM_ERROR:
                last = self._frames.error(FAULT_MESSAGE)
            connection.send_last(last)
            connection.finish()
        self._exchange.close("ok" if fault is None else fault.value, record.end_ns, due_ns)


class WholeAnswer:
    """An answer in one piece, sent when its last token would have been due."""

    __slots__ = ("_exchange",)

    def __init__(self, exchange: SimulatedExchange) -> None:
        self._exchange = exchange
        exchange.connection.reply = self

    def fire(self, due_ns: int) -> int:
        exchange = self._exchange
        record, connection, fault = exchange.record, exchange.connection, exchange.script.fault
        if connection.reply is not self:
            return 0
        record.output_tokens = len(exchange.script.tokens)
        now_ns = record.end_ns = perf_counter_ns()
        headers = (("content-type", "application/json"), ("x-dyno-request", record.request_id))
        if fault is Fault.STREAM_ERROR:
            connection.respond(200, exchange.frames.error(FAULT_MESSAGE), *headers)
        elif fault is None:
            connection.respond(200, exchange.frames.whole(record), *headers)
        else:
            body = exchange.frames.whole(record)
            connection.send(
                connection.head(200, *headers, ("content-length", str(len(body)))) + body[: len(body) // 2]
            )
            if fault is Fault.RESET:
                connection.reset()
            else:
                connection.close()
        exchange.log.lag.add(now_ns - due_ns)
        exchange.close("ok" if fault is None else fault.value, now_ns, due_ns)
        return 0

    def abandon(self) -> None:
        now_ns = perf_counter_ns()
        self._exchange.close("disconnected", now_ns, now_ns)


class Silence:
    """No answer at all, until the client leaves. It needs no slot."""

    __slots__ = ("_exchange",)

    def __init__(self, exchange: SimulatedExchange) -> None:
        self._exchange = exchange
        exchange.connection.reply = self

    def abandon(self) -> None:
        self._exchange.log.close(self._exchange.record, Fault.TIMEOUT.value, perf_counter_ns())


class Trickle:
    """A stream of frames without content, until the client leaves. It needs no slot."""

    __slots__ = ("_exchange",)

    def __init__(self, exchange: SimulatedExchange) -> None:
        self._exchange = exchange
        exchange.connection.reply = self
        exchange.send_head()

    def fire(self, due_ns: int) -> int:
        connection = self._exchange.connection
        if connection.reply is not self:
            return 0
        connection.send_chunk(self._exchange.frames.nothing())
        return due_ns + max(TRICKLE_NS, self._exchange.script.gaps_ns[0])

    def abandon(self) -> None:
        self._exchange.log.close(self._exchange.record, Fault.ENDLESS.value, perf_counter_ns())
