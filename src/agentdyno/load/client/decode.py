"""What an answer was: read from its stamped bytes when there is time for it, never on the hot path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from agentdyno.load.client.hot import ExchangeEnding, Read
from agentdyno.load.windows.records import OUTCOME_CODES, TOKEN_SOURCE_CODES, UNKNOWN, UNKNOWN_SOURCE
from agentdyno.model.load import Dialect, Outcome, TokenSource
from agentdyno.wire.chat import AnswerDialect as AnswerDialect
from agentdyno.wire.chat import ChatDialect, CompletionBuilder
from agentdyno.wire.errors import ProtocolError, TooLarge
from agentdyno.wire.head import Head
from agentdyno.wire.message import Body, MessageParser
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.ollama import OLLAMA
from agentdyno.wire.openai import OPENAI, error_message

CHAT: Mapping[Dialect, ChatDialect] = {Dialect.OPENAI: OPENAI, Dialect.OLLAMA: OLLAMA}
"""What is asked in words of its own; answers to requests of the user's own making are read by ``wire.endpoints``."""
OK = OUTCOME_CODES[Outcome.OK]
_SHOWN = 300
_RETRY_AFTER = re.compile(rb"\r\nretry-after:[ \t]*([0-9]{1,9}(?:\.[0-9]{1,9})?)[ \t]*\r\n", re.IGNORECASE)
_LIMITED = (b" 429", b" 503")


class Decoded(NamedTuple):
    """``outcome`` and ``source`` are codes of ``records``; ``first_ns`` and ``last_ns`` are the arrivals of the first
    and the last chunk with content; ``gaps`` are between such chunks, in ns. ``text`` says why it failed.
    ``cached_tokens`` are those of the input that the server had kept, known where its usage is."""

    outcome: int
    status: int = 0
    first_ns: int = UNKNOWN
    last_ns: int = UNKNOWN
    chunks: int = 0
    gaps: Sequence[int] = ()
    input_tokens: int = UNKNOWN
    output_tokens: int = UNKNOWN
    source: int = UNKNOWN_SOURCE
    text: str = ""
    cached_tokens: int = UNKNOWN


Result = tuple[int, int, int, int, int, Sequence[int], int, int, int, str, int]
"""``Decoded`` without its names, which cost more to make than the tuple."""


class ExactDecoder:
    """Byte by byte with the parsers in ``wire``: right for everything, and the measure of the other one."""

    def __init__(self, answers: AnswerDialect | None, method: str = "POST", max_bytes: int = 1 << 30) -> None:
        """``answers`` is how they are read; ``None``: any body will do."""
        self._chat = answers
        self._source = token_source(answers)
        self._method, self._max_bytes = method, max_bytes

    def decode(self, reads: Sequence[Read], ending: ExchangeEnding, done_ns: int) -> Decoded:
        """``done_ns`` is when the exchange ended."""
        parser = self._parser()
        broken = ""
        try:
            for read in reads:
                parser.feed(read)
            if ending is ExchangeEnding.CLOSED:
                parser.end(done_ns)
        except (ProtocolError, TooLarge) as error:
            broken = error.message
        status = 0 if parser.head is None else parser.head.status
        builder = CompletionBuilder()
        if 200 <= status < 300 and self._chat is not None:
            broken = self._read(self._chat, builder, parser) or broken
        outcome, text = self._judge(parser, builder, ending, broken)
        return self._result(outcome, status, builder, text)

    def text(self, reads: Sequence[Read]) -> str:
        """What a complete answer says; all of its body where it is no chat."""
        parser = self._parser()
        for read in reads:
            parser.feed(read)
        if self._chat is None or parser.head is None:
            return parser.body().data.decode("utf-8", "replace")
        builder = CompletionBuilder()
        self._read(self._chat, builder, parser)
        return "".join(builder.text)

    def _parser(self) -> MessageParser:
        """Where any body will do, a compressed one does."""
        return MessageParser(self._method, "", self._max_bytes, any_encoding=self._chat is None)

    def _read(self, chat: AnswerDialect, builder: CompletionBuilder, parser: MessageParser) -> str:
        """Adds what the body says, and returns what is wrong with it."""
        assert parser.head is not None
        body = parser.body()
        try:
            if content_type(parser.head) in chat.stream_types:
                self._read_stream(chat, builder, body)
            elif parser.done:
                chat.take_whole(builder, parse_json(body.data, ""))
        except ProtocolError as error:
            # The last line of an answer that was cut off need not be complete.
            return error.message if parser.done else ""
        return ""

    def _read_stream(self, chat: AnswerDialect, builder: CompletionBuilder, body: Body) -> None:
        ends, stamps = body.ends, body.stamps
        at = 0
        for piece in chat.pieces(body.data):
            if chat.take(builder, piece):
                while ends[at] < piece.end:
                    at += 1
                builder.content_ns.append(stamps[at])

    def _judge(
        self, parser: MessageParser, builder: CompletionBuilder, ending: ExchangeEnding, broken: str
    ) -> tuple[Outcome, str]:
        head = parser.head
        if ending is ExchangeEnding.TIMEOUT:
            return Outcome.TIMEOUT, f"not complete in time; {parser.received:,} bytes had come"
        if ending is ExchangeEnding.NO_CONNECTION:
            return Outcome.HTTP_ERROR, "no connection"
        if head is not None and not 200 <= head.status < 300:
            return refusal(head), f"status {head.status}: {_message(parser.body().data)}"
        if builder.error is not None:
            return Outcome.STREAM_ERROR, f"the stream holds an error: {builder.error}"
        if broken:
            return Outcome.STREAM_ERROR, broken
        if not parser.done:
            return self._cut_off(parser, ending)
        if self._chat is not None and not builder.finished:
            return Outcome.TRUNCATED, "the answer has no finish reason and no end mark"
        if ending is ExchangeEnding.SPOILED:
            return Outcome.CHECK_FAILED, ""
        return Outcome.OK, ""

    def _cut_off(self, parser: MessageParser, ending: ExchangeEnding) -> tuple[Outcome, str]:
        if ending is ExchangeEnding.LOST:
            return Outcome.RESET, f"the connection was reset after {parser.received:,} bytes of the answer"
        if parser.received == 0:
            return Outcome.RESET, "the connection was closed without an answer"
        if ending is ExchangeEnding.CLOSED:
            return Outcome.TRUNCATED, f"the answer ended early, after {parser.received:,} bytes"
        return Outcome.STREAM_ERROR, "what came is not an HTTP answer"

    def _result(self, outcome: Outcome, status: int, builder: CompletionBuilder, text: str) -> Decoded:
        content = builder.content_ns
        entered = left = cached = UNKNOWN
        source = UNKNOWN_SOURCE
        if builder.usage is not None and (builder.usage.output_tokens or not content):
            entered, left = builder.usage.input_tokens, builder.usage.output_tokens
            source, cached = self._source, builder.usage.cached_tokens
        elif content:
            left, source = len(content), TOKEN_SOURCE_CODES[TokenSource.CHUNKS]
        return Decoded(
            OUTCOME_CODES[outcome],
            status,
            content[0] if content else UNKNOWN,
            content[-1] if content else UNKNOWN,
            len(content),
            [later - earlier for earlier, later in pairwise(content)],
            entered,
            left,
            source,
            text[:_SHOWN],
            cached,
        )


def token_source(answers: AnswerDialect | None) -> int:
    """The code of where counts of tokens come from that an answer of this kind holds."""
    own = answers is not None and answers.name.startswith(OLLAMA.name)
    return TOKEN_SOURCE_CODES[TokenSource.OLLAMA if own else TokenSource.USAGE]


def refusal(head: Head) -> Outcome:
    """What a status outside of 2xx is."""
    if head.status == 429 or (head.status == 503 and head.headers.get("retry-after") is not None):
        return Outcome.RATE_LIMITED
    return Outcome.HTTP_ERROR


def pause_asked_s(head: bytes) -> float | None:
    """How long the target asks to be left alone, where the head of its answer does."""
    found = _RETRY_AFTER.search(head) if head[8:12] in _LIMITED else None
    return None if found is None else float(found[1])


def content_type(head: Head) -> str:
    """Without parameters, in lower case."""
    return (head.headers.get("content-type") or "").partition(";")[0].strip().lower()


def _message(body: bytes) -> str:
    try:
        said = error_message(parse_json(body, ""))
    except ProtocolError:
        said = ""
    return said or body[:120].decode("utf-8", "replace")
