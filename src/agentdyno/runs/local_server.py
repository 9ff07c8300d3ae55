"""The bundled model, for agents and targets that want it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentdyno.runs.kind import Say

if TYPE_CHECKING:
    from agentdyno.servers.local_model import LocalModel


@dataclass(slots=True)
class LocalServer:
    """The bundled model, started for the first who wants it, and ended with ``stack``."""

    workers: int
    stack: ExitStack
    say: Say
    _model: LocalModel | None = None

    @property
    def url(self) -> str:
        return self._started().url

    def cpu_s(self) -> float:
        """CPU seconds that it has used so far."""
        return self._started().cpu_s()

    def _started(self) -> LocalModel:
        if self._model is None:
            from agentdyno.servers.local_model import LocalModel

            self.say("Starting the local model ...")
            self._model = self.stack.enter_context(LocalModel(parallel=max(1, self.workers)))
        return self._model
