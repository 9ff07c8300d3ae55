"""The recording proxy of a run: started for the first agent that wants it, replaced when it dies."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import TYPE_CHECKING

from agentdyno.agents.recording.redirects import FULL, Redirect, redirected
from agentdyno.contracts import CASE_LEFT, CaseFailed
from agentdyno.errors import DynoError, RunError
from agentdyno.model.case import Response
from agentdyno.model.sample import FailureKind
from agentdyno.sandbox.process import cause_of_death

if TYPE_CHECKING:
    from agentdyno.servers.proxy.own_cost import OwnCost
    from agentdyno.servers.proxy.recorder import RecordingProxy


@dataclass(slots=True)
class RunRecording:
    """What agents of one run share. ``say`` tells a person a line; ``problem`` is why there is no proxy, where none
    could be started and nobody had asked for one."""

    say: Callable[[str], None] = lambda _: None
    targets: dict[str, str] = field(default_factory=dict)
    full: bool = False
    asked: bool = False
    problem: str = ""
    cost: OwnCost | None = None
    _proxy: RecordingProxy | None = None
    _generation: int = 0
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _left_over: list[str] = field(default_factory=list)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def of(self, redirects: tuple[Redirect, ...], mode: str, *, asked: bool) -> AgentRecording:
        """The part of one agent; before the proxy is started."""
        known = {}
        for item in redirects:
            name = item.target
            while self.targets.setdefault(name, item.origin) != item.origin:
                name += "-other"
            known[item.variable] = replace(item, target=name)
        self.full = self.full or mode == FULL
        self.asked = self.asked or asked
        return AgentRecording(self, tuple(known.values()), mode == FULL)

    def start(self) -> None:
        """Starts the proxy, once. Where it cannot, that is an error if somebody asked for it and else said once."""
        if self._proxy is not None or self.problem:
            return
        try:
            self._proxy = self._started(port=0)
        except DynoError as error:
            if self.asked:
                remedy = " ".join(filter(None, (error.remedy, "`--record off` runs without the recording proxy.")))
                raise RunError(f"the recording proxy cannot start: {error.message}", remedy=remedy) from None
            self.problem = f"{error.message}. {error.remedy or ''}".strip()
            self.say(f"Model calls are not recorded: {self.problem}")
            return
        self.cost = self._proxy.cost
        self.say(told_cost(self.cost))

    @property
    def started(self) -> bool:
        return self._proxy is not None

    @property
    def pid(self) -> int | None:
        return None if self._proxy is None else self._proxy.pid

    def url(self, scope: str, target: str, path: str) -> str:
        assert self._proxy is not None, "started first"
        return self._proxy.url(scope, target, path)

    def next_number(self) -> int:
        return next(self._numbers)

    def forget(self, scope: str) -> None:
        """Nobody will collect the calls of this scope."""
        self._left_over.append(scope)

    async def alive(self) -> int:
        """The number of the proxy that works now; one that has died is replaced, at the same address."""
        async with self._starting:
            proxy = self._proxy
            assert proxy is not None, "started first"
            if not proxy.alive:
                proxy.stop()
                try:
                    self._proxy = await asyncio.to_thread(self._started, port=proxy.port)
                except DynoError as error:
                    raise CaseFailed(
                        FailureKind.EXCEPTION,
                        f"the recording proxy ended and cannot be started again: {error.message}",
                        fatal=True,
                        remedy=error.remedy or "`dyno resume RUN` goes on with another one.",
                    ) from None
                self._generation += 1
            return self._generation

    async def calls(self, watch: CaseWatch, full: bool, response: Response) -> Response:
        """The response with what was recorded. Raises ``CaseFailed`` where the proxy died meanwhile."""
        from agentdyno.agents.recording.merging import with_calls
        from agentdyno.servers.proxy.recorder import ProxyLost

        proxy = self._proxy
        assert proxy is not None, "started first"
        forget, self._left_over = tuple(self._left_over), []
        try:
            if self._generation != watch.generation:
                raise ProxyLost("another one has taken its place")
            found = await proxy.collect(watch.scope, forget)
        except ProxyLost:
            how = await self._how_it_ended(proxy)
            raise CaseFailed(
                FailureKind.EXCEPTION,
                f"the recording proxy between the agent and its model {how} while this case ran: "
                "what the agent asked of its model is not known",
                remedy="The run goes on with a new proxy; `dyno resume RUN --retry-errors` runs this case again.",
                response=response,
            ) from None
        return with_calls(response, found, watch.started_ns, full=full)

    async def _how_it_ended(self, proxy: RecordingProxy) -> str:
        until = time.monotonic() + 1.0
        while proxy.alive and time.monotonic() < until:
            await asyncio.sleep(0.01)  # the connection breaks a moment before the process is gone
        status = proxy.exit_status
        return "ended" if status is None else cause_of_death(status)[1].replace("killed", "was killed")

    def close(self) -> None:
        if self._proxy is not None:
            self._proxy.stop()

    def _started(self, port: int) -> RecordingProxy:
        from agentdyno.servers.proxy.recorder import RecordingProxy

        return RecordingProxy(self.targets, full=self.full, port=port, measured=port == 0)


@dataclass(frozen=True, slots=True)
class CaseWatch:
    """One execution of a case: whose calls, since when, and through which proxy."""

    scope: str
    generation: int
    started_ns: int


@dataclass(frozen=True, slots=True)
class AgentRecording:
    """What one agent needs to be recorded: where its model calls are sent, and what became of them."""

    run: RunRecording
    redirects: tuple[Redirect, ...]
    full: bool = False

    def start(self) -> None:
        self.run.start()

    @property
    def on(self) -> bool:
        """Whether there is a proxy; none where it could not be started."""
        return self.run.started and bool(self.redirects)

    def new_scope(self, kind: str) -> str:
        """``kind`` is ``case`` for a process that answers one case, ``worker`` for one that answers many."""
        return f"{kind}/{self.run.next_number()}"

    def environment(self, environ: Mapping[str, str], scope: str) -> Mapping[str, str]:
        """``environ`` with the proxy's addresses for this scope."""
        if not self.on:
            return environ
        return redirected(environ, self.redirects, lambda target, path: self.run.url(scope, target, path))

    async def record(self, scope: str, answer: Callable[[], Awaitable[Response]]) -> Response:
        """The answer to one case with what the agent asked of its model. Raises ``CaseFailed``."""
        watch = await self._begin(scope)
        try:
            response = await answer()
        except CaseFailed as failure:
            raise await self._failed(watch, failure) from None
        except BaseException:
            self._interrupted(watch)
            raise
        return await self._finish(watch, response)

    async def _begin(self, scope: str) -> CaseWatch:
        """Before a case; what the same worker has left over from another is not its own."""
        return CaseWatch(scope, await self.run.alive() if self.on else 0, perf_counter_ns())

    async def _finish(self, watch: CaseWatch, response: Response) -> Response:
        """The response of the case with what the agent asked of its model. Raises ``CaseFailed``."""
        return await self.run.calls(watch, self.full, response) if self.on else response

    async def _failed(self, watch: CaseWatch, failure: CaseFailed) -> CaseFailed:
        """The failure of the case with what the agent had asked; that of the proxy where it was the one to fail."""
        try:
            failure.response = await self._finish(watch, failure.response or Response())
        except CaseFailed as lost:
            return lost
        return failure

    def _interrupted(self, watch: CaseWatch) -> None:
        """The case was cancelled: what its agent had asked is for whoever counts that, or for nobody."""
        later = CASE_LEFT.get()
        if later is None or not self.on:
            self.run.forget(watch.scope)
        else:
            later(lambda: self._finish(watch, Response()))


def told_cost(cost: OwnCost | None) -> str:
    """One line for the person who runs it."""
    if cost is None:
        return "Model calls are recorded by a proxy; what it adds to a request could not be measured."
    plain, streamed = (f"{1000 * value:.2f} ms" for value in (cost.plain_s, cost.streamed_s))
    return f"Model calls are recorded: the proxy adds about {plain} to a request, {streamed} to a streamed one."
