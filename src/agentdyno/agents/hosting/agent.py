"""Python agents in processes of their own: what kills a process costs the case that was in it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.hosting.answer import OUTPUT_LIMIT_BYTES
from agentdyno.agents.hosting.failures import failure_from_plain
from agentdyno.agents.hosting.timed_peer import TimedPeer
from agentdyno.agents.simulated_models import addresses, any_simulated, marked
from agentdyno.contracts import CASE_ENVIRON, CaseFailed, outside_the_case
from agentdyno.errors import DynoError, PluginError, RunError, SpecError
from agentdyno.model.case import Case, Response
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.sample import FailureKind, Status
from agentdyno.model.suite import AgentUse
from agentdyno.registry.local import Target, parse_reference
from agentdyno.sandbox.process import cause_of_death, gpu_use
from agentdyno.workers.bootstrap import TOO_OLD
from agentdyno.workers.clock_check import Doubts
from agentdyno.workers.frames import Message
from agentdyno.workers.peer import Peer, PeerConfused, PeerFlooded, PeerLost
from agentdyno.workers.spawn import WorkerStart, spawn

if TYPE_CHECKING:
    from agentdyno.agents.recording.recording import AgentRecording

NO_TELEMETRY = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
"""Keeps frameworks from telling their makers about every run, unless the user's environment says otherwise."""
_CONFUSED = "something else than its answer came over its process's connection, to which only the bench may write"
_ERRORS: dict[str, type[DynoError]] = {kind.__name__: kind for kind in (PluginError, RunError, SpecError)}


@dataclass(frozen=True, slots=True)
class HostLimits:
    """``workers`` processes at most; each may use ``memory_bytes`` and print ``output_bytes`` per case, and take
    ``load_s`` seconds to load its agent."""

    workers: int = 1
    memory_bytes: int | None = None
    output_bytes: int = OUTPUT_LIMIT_BYTES
    load_s: float = 120.0


class HostedAgent:
    """An agent from ``file.py@name`` or ``module:attr``, called as ``CallableAgent`` would, one case per process at a
    time. Processes are started on demand and kept; one that is cancelled, prints too much or dies is replaced.

    The readings of a response are ``duration_s`` (of the agent's code alone), ``cpu_s`` (with children that have
    ended) and ``peak_rss_bytes`` (of the agent's process, what it has loaded included). Times are taken in the
    agent's process; where they cannot be true, seen from here, what is seen from here counts. Processes inherit
    ``environ``; their working folder is that of the agent's relative paths. ``python`` is the interpreter, by
    default this one. With ``recording`` what the agent asks of its model passes a proxy.
    """

    def __init__(
        self,
        use: AgentUse,
        *,
        target: Target | None = None,
        limits: HostLimits | None = None,
        environ: Mapping[str, str] | None = None,
        paid: bool = False,
        python: str | None = None,
        recording: AgentRecording | None = None,
    ) -> None:
        self.name = use.name
        self.version = use.version or ""
        self.config: Mapping[str, object] = dict(use.config)
        self.paid = paid
        self._reference_s = 0.0
        self._limits = limits or HostLimits()
        self._base_dir = str(Path(use.base_dir).resolve())
        found = target or parse_reference(use.uses, Path(self._base_dir))
        if found is None:
            raise PluginError(f"{use.uses!r} is neither file.py@name nor module:attr", where=use.name)
        self._target = found
        self._start = WorkerStart(
            "agentdyno.agents.hosting.worker",
            python or sys.executable,
            self._base_dir,
            # a fixed order of sets, unless somebody chose another
            environ={**NO_TELEMETRY, "PYTHONHASHSEED": "0", **(os.environ if environ is None else environ)},
            memory_bytes=self._limits.memory_bytes,
            output_bytes=self._limits.output_bytes,
        )
        self._recording = recording
        self._slots = asyncio.Semaphore(self._limits.workers)
        self._simulated = False
        self._doubts = Doubts(prompt=self._limits.workers == 1)
        self._spare: list[asyncio.Task[TimedPeer]] = []
        self._closing: set[asyncio.Task[None]] = set()

    def read_references(self, allowance_s: float) -> None:
        """Its processes read references between cases, in any case for ``allowance_s`` seconds together."""
        self._reference_s = allowance_s

    async def start(self) -> None:
        """Loads the agent in its first process; raises ``PluginError`` or ``SpecError`` where it cannot be loaded."""
        if self._recording is not None:
            self._recording.start()
        task = self._starting()
        try:
            await task
        except BaseException:
            await self._discard(task)
            raise
        self._spare.append(task)
        texts = (json.dumps(to_plain(self.config), default=str),)
        self._simulated = await any_simulated(addresses(texts, self._start.environ or {}))

    async def run(self, case: Case) -> Response:
        message = {"op": "run", "case": to_plain(case)}
        if (environ := CASE_ENVIRON.get()) is not None:
            message["environ"] = dict(environ)
        async with self._slots:
            task = self._spare_or_new()
            try:
                if task.done():
                    process = task.result()
                else:
                    with outside_the_case():
                        process = await asyncio.shield(task)
            except asyncio.CancelledError:
                self._spare.append(task)  # goes on loading, for a later case
                raise
            except DynoError as error:
                why = f"the agent cannot be loaded any more: {error.message}"
                raise CaseFailed(FailureKind.EXCEPTION, why, fatal=True, remedy=error.remedy or "") from None
            reusable = False
            try:
                response = await self._recorded(process, message)
                reusable = True
                return response
            except CaseFailed as failed:
                # A process that has run out of memory once is not to be relied on.
                reusable = not process.lost and failed.kind is not FailureKind.MEMORY
                raise
            finally:
                if reusable:
                    self._spare.append(task)
                else:
                    with outside_the_case():
                        await self._discard(task)

    async def _recorded(self, process: TimedPeer, message: Message) -> Response:
        """The answer to a case, with what the agent asked of its model where that is recorded."""
        recording = self._recording
        if recording is None or not recording.on:
            return await self._answered(process, message)
        return await recording.record(process.scope, lambda: self._answered(process, message))

    async def _answered(self, process: TimedPeer, message: Message) -> Response:
        try:
            with gpu_use(process.peer.pid) as gpu:
                reply = await process.ask(message)
                used = gpu()
            response = marked(process.checked(_answer(reply, process.peer.tail())), self._simulated)
            return replace(response, readings={**response.readings, **used}) if used else response
        except PeerFlooded as flooded:
            raise _flooded(flooded) from None
        except PeerConfused as confused:
            raise CaseFailed(FailureKind.SERIALISATION, _CONFUSED, output_tail=confused.tail) from None
        except PeerLost as lost:
            kind, how = cause_of_death(lost.status)
            raise CaseFailed(kind, how, output_tail=lost.tail) from None
        except CaseFailed as failed:
            failed.response = None if failed.response is None else process.checked(failed.response)
            raise

    async def close(self) -> None:
        """Lets every process close its agent, then ends it and everything that it has started."""
        spare, self._spare = self._spare, []
        await asyncio.gather(*(self._discard(task, farewell=True) for task in spare), return_exceptions=True)
        if self._closing:
            await asyncio.wait(self._closing)

    def _spare_or_new(self) -> asyncio.Task[TimedPeer]:
        """The process used last, so that fewer are kept busy; one that still loads rather than yet another."""
        loading = [task for task in self._spare if not task.done()]
        for task in (*(task for task in self._spare[::-1] if task.done()), *loading):
            self._spare.remove(task)
            if not task.done() or _is_usable(task):
                return task
            self._begin_discarding(task)
        return self._starting()

    def _starting(self) -> asyncio.Task[TimedPeer]:
        return asyncio.create_task(self._started())

    async def _started(self) -> TimedPeer:
        start, scope = self._start, ""
        if self._recording is not None:
            scope = self._recording.new_scope("worker")
            start = replace(start, environ=self._recording.environment(start.environ or {}, scope))
        peer = Peer(*spawn(start))
        process = TimedPeer(peer, scope, self._doubts)
        try:
            async with asyncio.timeout(self._limits.load_s):
                await process.calibrate()
                reply = await process.ask(self._load_message())
            if "error" in reply:
                raise _load_error(reply["error"])
            if "failed" in reply:
                raise PluginError(f"cannot be loaded: {reply['failed']['message']}", where=self._where)
        except BaseException as error:
            await process.close()
            failure = self._load_failure(error)
            if failure is None:
                raise
            raise failure from None
        return process

    def _load_message(self) -> Message:
        return {
            "op": "load",
            "name": self.name,
            "target": to_plain(self._target),
            "also_known": [],
            "config": to_plain(self.config),
            "base_dir": self._base_dir,
            "reference_s": self._reference_s / self._limits.workers,
            "tell_interpreter": self._start.python != sys.executable,
        }

    @property
    def _where(self) -> str:
        return self._target.module or ", ".join(self._target.files)

    def _load_failure(self, error: BaseException) -> PluginError | None:
        if isinstance(error, TimeoutError):
            return PluginError(f"takes longer than {self._limits.load_s:g} s to load", where=self._where)
        if isinstance(error, PeerFlooded):
            return PluginError(f"printed more than {error.limit_bytes >> 20} MiB while loading", where=self._where)
        if isinstance(error, PeerLost):
            if TOO_OLD in (error.tail or ""):
                message = f"{self._start.python} is older than Python 3.11"
                return PluginError(message, where=f"python of {self.name}", remedy="Give a newer interpreter.")
            _, how = cause_of_death(error.status)
            remedy = f"Its last output: {error.tail}" if error.tail else None
            return PluginError(f"the process {how} while loading", where=self._where, remedy=remedy)
        return None

    def _begin_discarding(self, task: asyncio.Task[TimedPeer], farewell: bool = False) -> asyncio.Task[None]:
        ending = asyncio.create_task(_ended(task, farewell))
        self._closing.add(ending)
        ending.add_done_callback(self._closing.discard)
        return ending

    async def _discard(self, task: asyncio.Task[TimedPeer], farewell: bool = False) -> None:
        await asyncio.shield(self._begin_discarding(task, farewell))


async def _ended(task: asyncio.Task[TimedPeer], farewell: bool) -> None:
    if not task.done():
        task.cancel()
    await asyncio.wait({task})
    if not task.cancelled() and task.exception() is None:
        await task.result().close({"op": "close"} if farewell else None)


def _is_usable(task: asyncio.Task[TimedPeer]) -> bool:
    return not task.cancelled() and task.exception() is None and task.result().peer.is_alive


def _answer(reply: Message, tail: str | None) -> Response:
    if "failed" in reply:
        raise failure_from_plain(reply["failed"], tail)
    if "error" in reply:
        raise CaseFailed(FailureKind.SERIALISATION, reply["error"]["message"], output_tail=tail)
    try:
        reply["ok"]["output"]  # else it is what a process says that ends for something which nobody expected
        return from_plain(Response, reply["ok"])
    except KeyError:
        message = "its process answered with something else"
    except (TypeError, ValueError) as error:
        message = f"the response has a value of another type: {error}"
    raise CaseFailed(FailureKind.SERIALISATION, message, output_tail=tail)


def _flooded(flooded: PeerFlooded) -> CaseFailed:
    message = f"printed more than {flooded.limit_bytes / 2**20:g} MiB"
    return CaseFailed(FailureKind.OUTPUT, message, status=Status.LIMIT, output_tail=flooded.tail)


def _load_error(error: dict[str, str | None]) -> DynoError:
    kind = _ERRORS.get(error["type"] or "", PluginError)
    return kind(error["message"] or "cannot be loaded", where=error["where"], remedy=error["remedy"])
