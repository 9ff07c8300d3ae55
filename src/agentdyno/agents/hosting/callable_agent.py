"""Functions and objects of this process as agents."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping

from agentdyno.agents.hosting.answer import collected
from agentdyno.agents.hosting.calling import Call, CaseTurns, callee_of
from agentdyno.agents.hosting.failures import case_failed
from agentdyno.agents.hosting.recorder import recording
from agentdyno.agents.hosting.threads import BlockedTooLong, DaemonThreads
from agentdyno.contracts import MAY_BLOCK_S, CaseFailed
from agentdyno.model.case import Case, Response
from agentdyno.model.sample import FailureKind, Status


class CallableAgent:
    """A plain or async function, a class or an object with ``run(case)``, in this process.

    A function receives the case's input, or the case itself when its parameter is named ``case``; keys of
    ``config`` are its keyword arguments, or those of the class's ``__init__``. The turns of a conversation are one
    call each, with the messages so far in a parameter named ``history``, unless the function takes the case.
    Functions that are not async run on threads of their own, several at the same time. ``start`` and ``close`` of
    an object are called where it has them.
    """

    def __init__(
        self,
        function: object,
        *,
        name: str,
        version: str = "",
        config: Mapping[str, object] | None = None,
        paid: bool = False,
    ) -> None:
        self.name = name
        self.version = version
        self.config: Mapping[str, object] = dict(config or {})
        self.paid = paid
        self._callee = callee_of(function, self.config, name)
        self._is_async = self._callee.is_async
        self._threads = DaemonThreads()

    async def run(self, case: Case) -> Response:
        with recording() as recorder:
            try:
                conversation = CaseTurns(self._callee, case, recorder)
                while (call := conversation.next_call()) is not None:
                    conversation.take(await self._made(call))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                    raise
                failed = case_failed(error, collected(recorder, None))
                raise failed from (None if failed is error else error)
            return collected(recorder, conversation.output)

    async def start(self) -> None:
        await self._hook("start")

    async def close(self) -> None:
        try:
            await self._hook("close")
        finally:
            self._threads.close()

    async def _made(self, call: Call) -> object:
        if self._is_async:
            returned = call()
        elif (limit_s := MAY_BLOCK_S.get()) is not None:
            returned = self._blocking(call, limit_s)
        else:
            returned = await self._threads.run(call)
        return await returned if inspect.isawaitable(returned) else returned

    def _blocking(self, call: Call, limit_s: float) -> object:
        try:
            return self._threads.run_blocking(call, limit_s)
        except BlockedTooLong:
            message = f"took longer than {limit_s:g} s (time limit of a case)"
            raise CaseFailed(FailureKind.TIMEOUT, message, status=Status.TIMEOUT) from None

    async def _hook(self, name: str) -> None:
        hook = getattr(self._callee.subject, name, None)
        if callable(hook) and self._callee.subject is not self._callee.function:
            done = hook()
            if inspect.isawaitable(done):
                await done


def _is_cancelled() -> bool:
    """Whether somebody wants the current task to end; else the agent has raised the error by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
