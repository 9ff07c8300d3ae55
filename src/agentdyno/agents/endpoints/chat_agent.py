"""What agents that ask one chat model have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentdyno.agents.endpoints.chat_model import ChatModel, ChatReply
from agentdyno.agents.endpoints.conversation import Prompting, converse, schema_for
from agentdyno.errors import RunError
from agentdyno.model.case import Case, Message, Response
from agentdyno.model.identity import digest


@dataclass(frozen=True, slots=True)
class Asking:
    """How every question is asked. ``schema`` is a JSON Schema, or ``from_case``."""

    prompting: Prompting
    tools: Sequence[Mapping[str, object]] | None = None
    schema: Mapping[str, object] | str | None = None
    stream: bool = True

    def config(self) -> dict[str, object]:
        """What a result shows of it, without what was left at nothing."""
        values = {
            "system": self.prompting.system,
            "prompt": self.prompting.prompt,
            "few_shot": [dict(example) for example in self.prompting.few_shot],
            "tools": [dict(tool) for tool in self.tools or ()],
            "schema": self.schema,
            "stream": self.stream,
        }
        return {key: value for key, value in values.items() if value not in (None, [])}


class ChatAgent:
    """One call of the model per turn of a case. The version is the declared one, or a hash of the configuration."""

    def __init__(
        self, name: str, model: ChatModel, asking: Asking, config: Mapping[str, object], version: str = ""
    ) -> None:
        self.name = name
        self.paid = not model.address.private
        self.config: Mapping[str, object] = {
            "model": model.model,
            "base_url": model.address.endpoint(),
            **{key: value for key, value in config.items() if value not in (None, {})},
            **asking.config(),
        }
        # A local server's port changes from day to day; that makes no other agent.
        told = {key: value for key, value in self.config.items() if self.paid or key != "base_url"}
        self.version = version or digest(told, 12)
        self._model = model
        self._asking = asking

    async def start(self) -> None:
        """Raises ``RunError`` where a key is needed and missing."""
        missing = self._model.missing_key
        if missing is not None:
            raise RunError(
                f"{self._model.address.endpoint()} needs a key, and {missing} is not set",
                where=f"agent {self.name}",
                remedy=f"Set the environment variable {missing}.",
            )

    async def run(self, case: Case) -> Response:
        asking = self._asking
        schema = schema_for(case, asking.schema)

        async def chat(messages: Sequence[Message]) -> ChatReply:
            return await self._model.chat(messages, tools=asking.tools, schema=schema, stream=asking.stream)

        return await converse(case, asking.prompting, chat)

    async def close(self) -> None:
        await self._model.close()
