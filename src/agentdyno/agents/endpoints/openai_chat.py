"""An OpenAI-compatible endpoint as an agent: OpenAI, vLLM, llama.cpp, Ollama's own and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.agents.endpoints.chat_agent import Asking, ChatAgent
from agentdyno.agents.endpoints.chat_model import ChatModel
from agentdyno.agents.endpoints.conversation import Prompting

OPENAI_URL = "https://api.openai.com/v1"


class OpenAIChat(ChatAgent):
    """Asks a chat model, one call per turn of a case.

    ``options`` (temperature, max_tokens, top_p, seed, stop…) go into the request as they are. ``schema`` constrains
    the answer: a JSON Schema, or ``from_case`` for the one in the case's metadata; ``response_format`` is sent as it
    is instead. ``api_key_env`` names the environment variable with the key; the key itself is never kept.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str = OPENAI_URL,
        api_key_env: str | None = "OPENAI_API_KEY",
        system: str | None = None,
        prompt: str | None = None,
        few_shot: Sequence[Mapping[str, object]] = (),
        options: Mapping[str, object] | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        schema: Mapping[str, object] | str | None = None,
        response_format: Mapping[str, object] | None = None,
        stream: bool = True,
        include_usage: bool = True,
        version: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        client = ChatModel(
            base_url,
            model,
            api_key_env=api_key_env,
            options=options,
            environ=environ,
            include_usage=include_usage,
            extra={} if response_format is None else {"response_format": dict(response_format)},
        )
        config: dict[str, object] = {
            "api_key_env": api_key_env,
            "options": dict(options or {}),
            "response_format": response_format,
        }
        asking = Asking(Prompting(system, prompt, tuple(few_shot)), tools, schema, stream)
        super().__init__(name, client, asking, config, version)
