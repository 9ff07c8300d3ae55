"""Answers of OpenAI's older endpoints: ``/completions``, streamed or whole, and ``/embeddings``."""

from __future__ import annotations

from agentdyno.wire import fields, openai, sse
from agentdyno.wire.chat import AnswerDialect, CompletionBuilder
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.sse import Piece


def take_event(builder: CompletionBuilder, piece: Piece) -> bool:
    """Adds one event of a completion; whether it had content."""
    return openai.take_event(builder, piece, message=_message)


def take_whole(builder: CompletionBuilder, value: object) -> None:
    """Adds a completion that came in one piece."""
    openai.take_whole(builder, value, message=_message)


def take_vectors(builder: CompletionBuilder, value: object) -> None:
    """Adds an answer to ``/embeddings``: the vectors are not kept, and nothing can be missing at their end."""
    if isinstance(value, dict) and not fields.items(value, "data") and openai.error_message(value):
        builder.error = openai.error_message(value)
        return
    if not isinstance(value, dict) or not fields.items(value, "data"):
        raise ProtocolError("the answer has no data: not embeddings", where=builder.endpoint)
    builder.model = fields.text(value, "model")
    builder.usage = openai.read_usage(fields.mapping(value, "usage"))
    builder.finished = True


def _message(choice: object) -> dict[str, object]:
    """A choice as that of a chat has it."""
    return {"content": fields.text(choice, "text")}


def _no_event(builder: CompletionBuilder, piece: Piece) -> bool:
    raise ProtocolError(f"embeddings are not streamed: {piece.data[:60]!r}", where=builder.endpoint)


COMPLETIONS = AnswerDialect(
    name="completions",
    path="/completions",
    stream_types=("text/event-stream",),
    pieces=sse.events,
    take=take_event,
    take_whole=take_whole,
)
EMBEDDINGS = AnswerDialect(
    name="embeddings",
    path="/embeddings",
    stream_types=("text/event-stream",),
    pieces=sse.events,
    take=_no_event,
    take_whole=take_vectors,
)
