"""What the metrics need of each kind of streamed event, and nothing else of it.

The structs name the few fields that count; ``msgspec`` checks the rest of an event to be JSON and throws it away. A
value of another type than a server should send is an error there, and is left to the exact decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from msgspec import Meta, Raw, Struct, ValidationError, field
from msgspec.json import Decoder

from agentdyno.wire.anthropic import ANTHROPIC
from agentdyno.wire.completions import COMPLETIONS
from agentdyno.wire.ollama import OLLAMA, OLLAMA_GENERATE
from agentdyno.wire.openai import OPENAI

Count = Annotated[int, Meta(ge=0)]
Place = list[int]
E = TypeVar("E", bound=Struct)
C = TypeVar("C", bound="Choice")
L = TypeVar("L", bound="LineEnd")


class Said(NamedTuple):
    """``content`` are the places of the events with content, ``finished`` whether one of them ends the answer.
    ``entered`` and ``left`` are tokens, ``None`` where nobody counted; ``cached`` are those of a kept prompt."""

    content: Place
    finished: bool
    entered: int | None = None
    left: int | None = None
    cached: int = 0


NOTHING = Said([], False)


class CachedTokens(Struct, gc=False):
    cached_tokens: Count | None = None


class ChatUsage(Struct, gc=False):
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: CachedTokens | None = None


class ChatDelta(Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[Raw] | None = None


class Choice(Struct, gc=False):
    """Of several answers; ``index`` says of which."""

    index: Count | None = None
    finish_reason: str | None = None


class ChatChoice(Choice, gc=False):
    delta: ChatDelta | None = None


class TextChoice(Choice, gc=False):
    text: str | None = None


class ChoiceEvent(Struct, Generic[C], gc=False):
    choices: list[C] | None = None
    usage: ChatUsage | None = None
    error: object = None
    kind: str | None = field(default=None, name="object")


class UsualChoice(Struct, gc=False):
    """The only one of an answer, as nearly all of them are."""

    delta: ChatDelta
    index: Literal[0] | None = None
    finish_reason: str | None = None


class UsualEvent(Struct, gc=False):
    """As ``ChoiceEvent``; where one would have to be looked at more closely, it is not of this type."""

    choices: Annotated[list[UsualChoice], Meta(max_length=1)] = []
    usage: ChatUsage | None = None
    error: None = None
    kind: str | None = field(default=None, name="object")


class MessageUsage(Struct, gc=False):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None


class MessageBlock(Struct, gc=False):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class MessageStart(Struct, gc=False):
    usage: MessageUsage | None = None


class MessageEvent(Struct, gc=False):
    type: str
    delta: MessageBlock | None = None
    content_block: MessageBlock | None = None
    message: MessageStart | None = None
    usage: MessageUsage | None = None


class OllamaMessage(Struct, gc=False):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[Raw] | None = None


class LineEnd(Struct, gc=False):
    """What every line of an Ollama may have; the last one has the counts."""

    done: bool | None = None
    prompt_eval_count: Count | None = None
    eval_count: Count | None = None
    error: object = None


class OllamaLine(LineEnd, gc=False):
    message: OllamaMessage | None = None


class GeneratedLine(LineEnd, gc=False):
    response: str | None = None
    thinking: str | None = None


def _chat_content(choice: ChatChoice) -> object:
    delta = choice.delta
    return delta is not None and (
        delta.content or delta.reasoning_content or delta.tool_calls or delta.reasoning or delta.refusal
    )


def _text_content(choice: TextChoice) -> object:
    return choice.text


def _choices_reader(has_content: Callable[[C], object]) -> Callable[[Sequence[ChoiceEvent[C]]], Said | None]:
    """What events with choices say; ``None`` where one of them is an error."""

    def read(events: Sequence[ChoiceEvent[C]]) -> Said | None:
        content: Place = []
        finished, usage = False, None
        for place, event in enumerate(events):
            if event.error or event.kind == "error":
                return None
            for choice in event.choices or ():
                if choice.index:  # of several answers (n > 1) only the first counts
                    continue
                # once, whatever the number of choices
                if has_content(choice) and (not content or content[-1] != place):
                    content.append(place)
                if choice.finish_reason:
                    finished = True
            if event.usage is not None:
                usage = _counted(event.usage, usage)
        return _chat_said(content, finished, usage)

    return read


def read_usual(events: Sequence[UsualEvent]) -> Said | None:
    content: Place = []
    finished, usage = False, None
    for place, event in enumerate(events):  # every step counts: it is done for each token that arrives
        if event.kind == "error":
            return None
        if event.choices:
            choice = event.choices[0]
            delta = choice.delta
            if delta.content or delta.reasoning_content or delta.tool_calls or delta.reasoning or delta.refusal:
                content.append(place)
            if choice.finish_reason:
                finished = True
        said = event.usage
        if said is not None and (said.completion_tokens is not None or said.prompt_tokens is not None):
            usage = said
    return _chat_said(content, finished, usage)


def read_messages(events: Sequence[MessageEvent]) -> Said | None:
    content: Place = []
    finished = counted = False
    entered = left = cached = 0
    for place, event in enumerate(events):
        kind, usage = event.type, None
        if kind == "content_block_delta":
            part = event.delta
            if part is not None and (part.text or part.thinking or part.partial_json):
                content.append(place)
        elif kind == "content_block_start":
            part = event.content_block
            if part is not None and (part.text or part.thinking or part.type == "tool_use"):
                content.append(place)
        elif kind == "message_delta":
            usage = event.usage
        elif kind == "message_start":
            usage = None if event.message is None else event.message.usage
        elif kind == "message_stop":
            finished = True
        elif kind == "error" or not kind:
            return None
        if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
            continue
        counted = True
        read = usage.cache_read_input_tokens
        if usage.input_tokens is not None:
            entered = usage.input_tokens + (read or 0) + (usage.cache_creation_input_tokens or 0)
        left = left if usage.output_tokens is None else usage.output_tokens
        cached = cached if read is None else read
    return Said(content, finished, entered, left, cached) if counted else Said(content, finished)


def _message_content(line: OllamaLine) -> object:
    message = line.message
    return message is not None and (message.content or message.thinking or message.tool_calls)


def _generated_content(line: GeneratedLine) -> object:
    return line.response or line.thinking


def _chat_text(events: Sequence[ChoiceEvent[ChatChoice]]) -> str:
    """What the only answer, or the first of several, says."""
    deltas = [choice.delta for event in events for choice in event.choices or () if not choice.index]
    return "".join([delta.content or delta.refusal or "" for delta in deltas if delta is not None])


def _message_text(lines: Sequence[OllamaLine]) -> str:
    return "".join([line.message.content or "" for line in lines if line.message is not None])


def _lines_reader(has_content: Callable[[L], object]) -> Callable[[Sequence[L]], Said | None]:
    """What the lines of an Ollama say; ``None`` where one of them is an error."""

    def read(lines: Sequence[L]) -> Said | None:
        content: Place = []
        end: LineEnd | None = None
        finished = False
        for place, line in enumerate(lines):
            if line.error:
                return None
            if has_content(line):
                content.append(place)
            if line.done:
                finished = True
                end = line if line.eval_count is not None or line.prompt_eval_count is not None else end
        if end is None:
            return Said(content, finished)
        return Said(content, finished, end.prompt_eval_count or 0, end.eval_count or 0)

    return read


def _counted(usage: ChatUsage, before: ChatUsage | None) -> ChatUsage | None:
    """Some servers repeat a growing count in every event: the last one holds."""
    return before if usage.prompt_tokens is None and usage.completion_tokens is None else usage


def _chat_said(content: Place, finished: bool, usage: ChatUsage | None) -> Said:
    if usage is None:
        return Said(content, finished)
    details = usage.prompt_tokens_details
    cached = 0 if details is None else details.cached_tokens or 0
    return Said(content, finished, usage.prompt_tokens or 0, usage.completion_tokens or 0, cached)


@dataclass(frozen=True, slots=True)
class EventShape(Generic[E]):
    """How the events of one kind of endpoint are read: each by itself, and what all of them say together. ``lines``:
    each is a line of JSON, not a server-sent event. ``mark`` is an event that ends an answer and is no JSON.
    ``joined`` is the text of all of them."""

    decoder: Decoder[list[E]]
    sum_up: Callable[[Sequence[E]], Said | None]
    lines: bool = False
    mark: bytes = b""
    usual: tuple[Decoder[list[Any]], Callable[[Sequence[Any]], Said | None]] | None = None
    joined: Callable[[Sequence[E]], str] | None = None

    def read(self, texts: Sequence[bytes]) -> Said | None:
        """What the events say, given the JSON of each; ``None`` or an exception where it is not certain."""
        array, count = _array(texts), len(texts)
        if self.usual is not None:
            decoder, sum_up = self.usual
            try:
                events = decoder.decode(array)
            except ValidationError:
                pass
            else:
                return sum_up(events) if len(events) == count else None
        found = self.decoder.decode(array)
        return self.sum_up(found) if len(found) == count else None

    def text(self, texts: Sequence[bytes]) -> str | None:
        """The text that the events of a good answer hold; ``None`` or an exception where that is not certain."""
        if self.joined is None:
            return None
        found = self.decoder.decode(_array(texts))
        return self.joined(found) if len(found) == len(texts) else None


def _array(texts: Sequence[bytes]) -> bytes:
    """One document of all of them: reading it costs half of what reading each of them does."""
    return b"[" + b",".join(texts) + b"]"


SHAPES: Mapping[str, EventShape[Any]] = {
    OPENAI.name: EventShape(
        Decoder(list[ChoiceEvent[ChatChoice]]),
        _choices_reader(_chat_content),
        mark=b"[DONE]",
        usual=(Decoder(list[UsualEvent]), read_usual),
        joined=_chat_text,
    ),
    COMPLETIONS.name: EventShape(
        Decoder(list[ChoiceEvent[TextChoice]]), _choices_reader(_text_content), mark=b"[DONE]"
    ),
    ANTHROPIC.name: EventShape(Decoder(list[MessageEvent]), read_messages),
    OLLAMA.name: EventShape(
        Decoder(list[OllamaLine]), _lines_reader(_message_content), lines=True, joined=_message_text
    ),
    OLLAMA_GENERATE.name: EventShape(Decoder(list[GeneratedLine]), _lines_reader(_generated_content), lines=True),
}
"""By the name of the dialect, in the order of ``dialects`` in the compiled reader. What is not here is read by the
exact decoder."""
