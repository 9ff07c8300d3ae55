"""Which endpoint of a model a request is for, by its path."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentdyno.wire.anthropic import ANTHROPIC
from agentdyno.wire.chat import AnswerDialect
from agentdyno.wire.completions import COMPLETIONS, EMBEDDINGS
from agentdyno.wire.ollama import OLLAMA, OLLAMA_GENERATE
from agentdyno.wire.openai import OPENAI
from agentdyno.wire.responses import RESPONSES

_ENDPOINTS: tuple[tuple[str, str, AnswerDialect], ...] = (
    ("chat.completions", OPENAI.path, OPENAI),
    ("responses", RESPONSES.path, RESPONSES),
    ("ollama.chat", OLLAMA.path, OLLAMA),
    ("ollama.generate", OLLAMA_GENERATE.path, OLLAMA_GENERATE),
    ("messages", ANTHROPIC.path, ANTHROPIC),
    ("completions", COMPLETIONS.path, COMPLETIONS),
    ("embeddings", EMBEDDINGS.path, EMBEDDINGS),
)
ANSWERS: Mapping[str, AnswerDialect] = MappingProxyType({dialect.name: dialect for *_, dialect in _ENDPOINTS})
"""How answers are read, by name."""
_OTHERS = ("/api/embeddings",)
"""What ends like an endpoint and is another one."""


def endpoint_of(method: str, path: str) -> tuple[str, AnswerDialect] | None:
    """The name of the endpoint and how its answers are read; ``None`` for what is no call of a model."""
    bare = path.partition("?")[0].rstrip("/")
    if method != "POST" or bare.endswith(_OTHERS):
        return None
    return next(((name, dialect) for name, end, dialect in _ENDPOINTS if bare.endswith(end)), None)
