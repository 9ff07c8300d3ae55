"""A case as a conversation with a chat model: the messages it becomes, turn by turn, and the answer it gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from agentdyno.agents.endpoints.chat_model import ChatReply
from agentdyno.agents.hosting.recorder import recording
from agentdyno.contracts import CaseFailed
from agentdyno.errors import SpecError
from agentdyno.model.case import Case, Message, Response, as_messages, as_text

PLACEHOLDER = "{input}"
FROM_CASE = "from_case"


@dataclass(frozen=True, slots=True)
class Prompting:
    """How inputs become messages.

    ``prompt`` is a template with ``{input}``, used for every input that is no list of messages, those of the
    examples included. ``few_shot`` are ``{"input": …, "output": …}`` pairs or messages.
    """

    system: str | None = None
    prompt: str | None = None
    few_shot: tuple[Mapping[str, object], ...] = ()

    def __post_init__(self) -> None:
        if self.prompt is not None and PLACEHOLDER not in self.prompt:
            raise SpecError("the prompt has no {input}: every case would be asked the same", where="prompt")
        for index, example in enumerate(self.few_shot):
            if not isinstance(example, Mapping) or not ({"input", "output"} <= set(example) or "role" in example):
                raise SpecError(
                    "an example has an input and an output, or a role and content", where=f"few_shot[{index}]"
                )

    def opening(self) -> list[Message]:
        """What every conversation begins with."""
        messages: list[Message] = [] if self.system is None else [{"role": "system", "content": self.system}]
        for example in self.few_shot:
            if "role" in example:
                messages.append(dict(example))
            else:
                messages += self.question(example["input"])
                messages.append({"role": "assistant", "content": as_text(example["output"])})
        return messages

    def question(self, value: object) -> list[Message]:
        """An input as messages."""
        given = as_messages(value)
        if given is not None:
            return given
        text = as_text(value)
        return [{"role": "user", "content": self.prompt.replace(PLACEHOLDER, text) if self.prompt else text}]


def schema_for(case: Case, schema: object) -> Mapping[str, object] | None:
    """The schema of the answer: the configured one, or the case's where the configuration says ``from_case``."""
    found = case.metadata.get("schema") if schema == FROM_CASE else schema
    return found if isinstance(found, Mapping) else None


async def converse(
    case: Case, prompting: Prompting, chat: Callable[[Sequence[Message]], Awaitable[ChatReply]]
) -> Response:
    """Plays the case's turns, or its input, one after the other; the output is the last answer."""
    with recording() as recorder:
        messages = prompting.opening()
        output: object = None
        for turn in case.turns or (case.input,):
            question = prompting.question(turn)
            for message in question:
                recorder.event("message", str(message.get("role")), message.get("content"))
            messages += question
            try:
                reply = await chat(messages)
            except CaseFailed as failed:
                failed.response = failed.response or recorder.response(None)
                raise
            for call in reply.tool_calls:
                recorder.event("tool_call", call.name, call.arguments)
            output = answer_of(reply)
            # Nobody has run the tools, so a call is remembered as text: as a call it would want a result.
            messages.append({"role": "assistant", "content": as_text(output)})
        return recorder.response(output)


def answer_of(reply: ChatReply) -> object:
    """The text, or the calls where the model wants tools and says nothing."""
    if reply.text or not reply.tool_calls:
        return reply.text
    return {"tool_calls": [{"name": call.name, "arguments": call.arguments} for call in reply.tool_calls]}
