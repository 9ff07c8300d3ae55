"""A model served by Ollama, through its native API, as an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from agentdyno.agents.endpoints.chat_agent import Asking, ChatAgent
from agentdyno.agents.endpoints.chat_model import ChatModel
from agentdyno.agents.endpoints.conversation import Prompting
from agentdyno.errors import SpecError, nearest
from agentdyno.wire.ollama import OLLAMA

OLLAMA_URL = "http://localhost:11434"
NUMBERS = ("num_gpu", "num_ctx", "temperature", "top_p", "top_k", "repeat_penalty")
"""The options that are compared most: GPU layers, context window, and four of sampling."""
_WHOLE = frozenset({"num_gpu", "num_ctx", "top_k"})
_OTHERS = (
    *("seed", "num_predict", "stop", "min_p", "typical_p", "repeat_last_n", "presence_penalty", "frequency_penalty"),
    *("mirostat", "mirostat_tau", "mirostat_eta", "num_keep", "num_batch", "num_thread", "main_gpu", "use_mmap"),
)


class OllamaChat(ChatAgent):
    """Asks a chat model, one call per turn of a case.

    ``options`` are Ollama's: ``num_gpu`` (layers on the GPU), ``num_ctx`` (tokens), ``temperature``, ``top_p``,
    ``top_k``, ``repeat_penalty`` and others. ``keep_alive`` is how long the model stays loaded (``"5m"``, 0, -1).
    ``schema`` constrains the answer: a JSON Schema, or ``from_case`` for the one in the case's metadata; ``format``
    (``"json"``) is sent as it is instead.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str = OLLAMA_URL,
        api_key_env: str | None = None,
        system: str | None = None,
        prompt: str | None = None,
        few_shot: Sequence[Mapping[str, object]] = (),
        options: Mapping[str, object] | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        schema: Mapping[str, object] | str | None = None,
        format: Mapping[str, object] | str | None = None,
        keep_alive: str | int | float | None = None,
        think: bool | str | None = None,
        stream: bool = True,
        version: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        check_options(options or {})
        fields: dict[str, object] = {"format": format, "keep_alive": keep_alive, "think": think}
        extra = {key: value for key, value in fields.items() if value is not None}
        client = ChatModel(
            base_url, model, api_key_env=api_key_env, options=options, environ=environ, dialect=OLLAMA, extra=extra
        )
        config: dict[str, object] = {"api_key_env": api_key_env, "options": dict(options or {}), **extra}
        asking = Asking(Prompting(system, prompt, tuple(few_shot)), tools, schema, stream)
        super().__init__(name, client, asking, config, version)


def check_options(options: Mapping[str, object]) -> None:
    """Ollama ignores an option that it does not know, and a comparison would then be of a thing with itself.

    Names that look like a known one are refused; others pass, as newer versions may have them.
    """
    names = (*NUMBERS, *_OTHERS)
    for name, value in options.items():
        where = f"options.{name}"
        if name not in names and get_close_matches(name, names, n=1, cutoff=0.75):
            raise SpecError(f"Ollama has no option {name}", where=where, remedy=nearest(name, names))
        if name in NUMBERS and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise SpecError(f"{name} is a number, not {value!r}", where=where)
        if name in _WHOLE and not isinstance(value, int):
            raise SpecError(f"{name} is a whole number, not {value!r}", where=where)
