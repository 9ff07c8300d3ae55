"""Where trials run, as a user spells it."""

from __future__ import annotations

from agentdyno.errors import SpecError, nearest
from agentdyno.settings.run import EXECUTOR

RAY = "ray"
SCHEME = "ray://"


def is_remote(executor: str) -> bool:
    """Whether trials run elsewhere. Raises ``SpecError`` for what is no executor."""
    if executor == EXECUTOR.default:
        return False
    if executor == RAY or (executor.startswith(SCHEME) and len(executor) > len(SCHEME)):
        return True
    raise SpecError(
        f"no executor is called {executor!r}",
        where="--executor",
        remedy=nearest(executor.partition(":")[0], (EXECUTOR.default, RAY)) + " Or give ray://HOST:PORT.",
    )
