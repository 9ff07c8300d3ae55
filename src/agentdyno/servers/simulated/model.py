"""A simulated model for programs that need one: how long it takes and how much it says, and nothing else."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import RunningServer, simulated_server


class SimulatedModel:
    """``with SimulatedModel() as model:`` serves a simulated model at ``model.openai_url`` (``…/v1``) and, in
    Ollama's protocol, at ``model.url``. It runs in a process of its own and ends with the block.

    The first token comes after ``ttft_s`` seconds, each further one ``itl_s`` later, ``output_tokens`` in all;
    ``slots`` requests are served at once, or any number without it. With both times at zero it answers at once.
    """

    def __init__(
        self, *, ttft_s: float = 0.0, itl_s: float = 0.0, output_tokens: int = 20, slots: int | None = None
    ) -> None:
        self._behaviour = Behaviour(ttft_s=ttft_s, itl_s=itl_s, output_tokens=output_tokens, slots=slots)
        self._stack = ExitStack()
        self._server: RunningServer | None = None

    def __enter__(self) -> Self:
        self._server = self._stack.enter_context(simulated_server(self._behaviour))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        return self._running.url

    @property
    def openai_url(self) -> str:
        return self._running.openai_url

    @property
    def _running(self) -> RunningServer:
        if self._server is None:
            raise RuntimeError("use it in a with block")
        return self._server
