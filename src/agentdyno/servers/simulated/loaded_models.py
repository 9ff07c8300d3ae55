"""Which models a simulated server has in memory, as Ollama tells and is told: ``/api/ps`` and ``/api/generate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentdyno.errors import SpecError
from agentdyno.servers.simulated.answer_bytes import reported_model
from agentdyno.servers.simulated.chat_request import ReceivedChat, ReceivedLoad

DEFAULT_CONTEXT = 4096
"""Tokens; what Ollama gives a model whose request does not say."""


@dataclass(slots=True)
class LoadedModels:
    """By the name that was asked for, with the context each was loaded with. ``offered`` are the only ones there are;
    ``None`` is any."""

    offered: tuple[str, ...] | None = None
    _contexts: dict[str, int] = field(default_factory=dict)

    def serve(self, chat: ReceivedChat) -> bool:
        """Notes a request; whether its model has to be loaded for it: it is not there, or with another context."""
        name, context = _without_tag(chat.model), chat.num_ctx or DEFAULT_CONTEXT
        cold = self._contexts.get(name) != context
        if chat.stays_loaded:
            self._contexts[name] = context
        else:
            self._contexts.pop(name, None)
        return cold

    def obey(self, load: ReceivedLoad) -> str:
        """Loads or unloads a model; the word that Ollama has for it. Raises ``SpecError`` for one not offered."""
        if self.offered is not None and not {load.model, reported_model(load.model)} & set(self.offered):
            raise SpecError(f"model '{load.model}' not found")
        name = _without_tag(load.model)
        if load.stays_loaded:
            self._contexts[name] = load.num_ctx or DEFAULT_CONTEXT
            return "load"
        self._contexts.pop(name, None)
        return "unload"

    def rows(self) -> list[Mapping[str, object]]:
        """The models that are loaded, as ``/api/ps`` lists them. They take no memory."""
        return [
            {"name": name, "model": name, "size": 0, "size_vram": 0, "context_length": context, "simulated": True}
            for name, context in self._contexts.items()
        ]

    def forget(self) -> None:
        self._contexts.clear()


def _without_tag(name: str) -> str:
    return name.removesuffix(":latest")
