"""What is asked of a chat model and what it answers, in no particular dialect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.model.case import Usage
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.exchange import Exchange, consume
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.sse import Piece
from agentdyno.wire.timing import measure


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``options`` are the sampling options under the dialect's own names; ``extra`` are further top-level fields.

    ``schema`` is a JSON Schema that the answer must satisfy. ``response_format`` (OpenAI) or ``format`` in ``extra``
    says it in the dialect's own words instead.
    """

    model: str
    messages: Sequence[Mapping[str, object]]
    options: Mapping[str, object] = field(default_factory=dict)
    tools: Sequence[Mapping[str, object]] | None = None
    schema: Mapping[str, object] | None = None
    stream: bool = True
    include_usage: bool = True
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """``arguments`` are decoded; what is no JSON stays the text that came."""

    id: str
    name: str
    arguments: object


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer, whole or as far as it came (``finished`` is false, or ``error`` says what the server reported).

    ``content_ns`` are the arrivals of the events with content, empty where the answer came in one piece.
    ``server_s`` are durations that the server reports, by name, in seconds.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model: str = ""
    finish_reason: str | None = None
    finished: bool = False
    error: str | None = None
    observed: Mapping[str, object] = field(default_factory=dict)
    server_s: Mapping[str, float] = field(default_factory=dict)
    content_ns: tuple[int, ...] = ()

    def readings(self, sent_ns: int) -> dict[str, float]:
        """``ttft_s``, ``itl_s`` and ``tokens_per_s`` where it was streamed, and ``server.*``."""
        tokens = None
        if self.usage is not None:
            # Reasoning that is counted but not shown arrives in no event.
            tokens = self.usage.output_tokens - (0 if self.reasoning else self.usage.reasoning_tokens)
        timing = measure(sent_ns, self.content_ns, tokens)
        return timing.readings() | {f"server.{name}": value for name, value in self.server_s.items()}


@dataclass(slots=True)
class _PartialCall:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    whole: object = None


@dataclass(slots=True)
class CompletionBuilder:
    """Collects an answer while its pieces are decoded."""

    endpoint: str = ""
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    usage: Usage | None = None
    model: str = ""
    finish_reason: str | None = None
    finished: bool = False
    error: str | None = None
    observed: dict[str, object] = field(default_factory=dict)
    server_s: dict[str, float] = field(default_factory=dict)
    content_ns: list[int] = field(default_factory=list)
    _calls: dict[int, _PartialCall] = field(default_factory=dict)

    def call_delta(self, index: int, call_id: str, name: str, arguments: str) -> None:
        """Part of the tool call number ``index``."""
        call = self._calls.setdefault(index, _PartialCall())
        call.id = call.id or call_id
        call.name = call.name or name
        call.arguments.append(arguments)

    def whole_call(self, call_id: str, name: str, arguments: object) -> None:
        """A tool call that came complete, with decoded arguments."""
        self._calls[self.next_call] = _PartialCall(call_id, name, whole=arguments)

    @property
    def next_call(self) -> int:
        """The index that a further tool call would have."""
        return max(self._calls, default=-1) + 1

    def build(self) -> Completion:
        return Completion(
            text="".join(self.text),
            reasoning="".join(self.reasoning),
            tool_calls=tuple(_tool_call(self._calls[index]) for index in sorted(self._calls)),
            usage=self.usage,
            model=self.model,
            finish_reason=self.finish_reason,
            finished=self.finished,
            error=self.error,
            observed=dict(self.observed),
            server_s=dict(self.server_s),
            content_ns=tuple(self.content_ns),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDialect:
    """How the answers of one kind of endpoint are read; ``path`` is how its address ends.

    ``take`` adds a decoded piece to the builder and says whether it had content; ``take_whole`` adds an answer that
    came in one piece.
    """

    name: str
    path: str
    stream_types: tuple[str, ...]
    pieces: Callable[[bytes], Iterator[Piece]]
    take: Callable[[CompletionBuilder, Piece], bool]
    take_whole: Callable[[CompletionBuilder, object], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDialect(AnswerDialect):
    """How one kind of server is spoken to. ``list_models`` reads the names out of the answer to a GET of
    ``models_path``."""

    models_path: str
    body: Callable[[ChatRequest], dict[str, object]]
    list_models: Callable[[object], tuple[str, ...]]


async def decode(dialect: AnswerDialect, answer: Exchange, *, cut_off: bool = False) -> Completion:
    """The completion in an answer, in slices that leave the event loop free to stamp other streams.

    Raises ``ProtocolError``, except where the answer is known to be ``cut_off``: that gives what can be read of it.
    Whether the model had come to its end is told by ``finished``.
    """
    builder = CompletionBuilder(answer.endpoint)

    def take(piece: Piece) -> None:
        if dialect.take(builder, piece):
            builder.content_ns.append(answer.body.arrival_ns(piece.end - 1))

    try:
        if answer.content_type in dialect.stream_types:
            await consume(dialect.pieces(answer.body.data), take)
        else:
            dialect.take_whole(builder, parse_json(answer.body.data, answer.endpoint))
    except ProtocolError as error:
        error.partial = answer
        if not cut_off:
            raise
    return builder.build()


def decode_now(dialect: AnswerDialect, answer: Exchange, *, cut_off: bool = False) -> Completion:
    """Like ``decode``, in one go: for answers that are decoded after the last stream has ended."""
    step = decode(dialect, answer, cut_off=cut_off)
    try:
        while True:
            step.send(None)
    except StopIteration as done:
        result: Completion = done.value
        return result


def _tool_call(call: _PartialCall) -> ToolCall:
    if not call.arguments:
        return ToolCall(call.id, call.name, call.whole)
    text = "".join(call.arguments)
    try:
        return ToolCall(call.id, call.name, json.loads(text) if text.strip() else {})
    except (ValueError, RecursionError):
        return ToolCall(call.id, call.name, text)
