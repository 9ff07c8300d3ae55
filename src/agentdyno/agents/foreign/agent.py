"""A program of any language as an agent: started once, given case after case."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.commands.command_line import check_executable, command_environment
from agentdyno.agents.foreign.channel import ProgramStart
from agentdyno.agents.foreign.messages import PROTOCOL, UNKNOWN, ProgramReply, hello_line, response_in, run_line
from agentdyno.agents.foreign.process import CaseInProgram, LineProcess
from agentdyno.agents.hosting.answer import OUTPUT_LIMIT_BYTES
from agentdyno.agents.simulated_models import addresses, any_simulated, marked
from agentdyno.contracts import CASE_ENVIRON, MAY_BLOCK_S, CaseFailed, outside_the_case
from agentdyno.errors import PluginError
from agentdyno.model.case import Case, Response
from agentdyno.model.codec import to_plain
from agentdyno.model.sample import FailureKind, Status
from agentdyno.sandbox.process import cause_of_death, gpu_use
from agentdyno.wire.timing import measure
from agentdyno.workers.peer import PeerFlooded, PeerLost
from agentdyno.workers.reference import References

if TYPE_CHECKING:
    from agentdyno.agents.recording.recording import AgentRecording

PROTOCOL_VARIABLE = "DYNO_PROTOCOL"
"""Tells a program that it is spoken to in lines, and in which version of the protocol."""


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """``programs`` processes at most; each may use ``memory_bytes`` and print ``output_bytes`` between two cases, and
    take ``greeting_s`` seconds to answer its first line."""

    programs: int = 1
    memory_bytes: int | None = None
    output_bytes: int = OUTPUT_LIMIT_BYTES
    greeting_s: float = 30.0


@dataclass(frozen=True, slots=True)
class ProgramSetting:
    """``env`` are names of variables of ``environ`` that the program may see; ``cwd`` is its working folder. With
    ``recording`` what it asks of its model passes a proxy, and each process has one case at a time."""

    cwd: str = "."
    env: tuple[str, ...] = ()
    environ: Mapping[str, str] | None = None
    recording: AgentRecording | None = None


@dataclass(frozen=True, slots=True)
class ProgramUse:
    """What the processes of a program have used so far: CPU time and peak memory of all together, and how long the
    first took from its start to its greeting. ``None`` where the system does not say."""

    start_s: float | None
    cpu_s: float | None
    peak_rss_bytes: float | None


class ForeignAgent:
    """Runs ``argv`` once and speaks with it in lines of JSON (``docs/reference/agent-protocol.md``).

    A program gets one case at a time, or as many as it says that it can take; where more are in flight another
    process of it is started. One that is cancelled, prints too much or dies is replaced; the cases that were in it
    fail with the reason.

    The readings of a response are taken here: ``duration_s`` from the case being written to the arrival of the last
    line, ``ttft_s`` and ``itl_s`` from the arrival of chunks, ``cpu_s`` (one case at a time only, without processes
    that it starts) and ``peak_rss_bytes``. What the program says of itself is kept as reported.
    """

    def __init__(
        self,
        name: str,
        argv: tuple[str, ...],
        *,
        config: Mapping[str, object] | None = None,
        setting: ProgramSetting | None = None,
        limits: ProgramLimits | None = None,
        version: str = "",
        paid: bool = False,
    ) -> None:
        self.name = name
        self.version = version
        self.config: Mapping[str, object] = dict(config or {})
        self.paid = paid
        setting = setting or ProgramSetting()
        self._limits = limits or ProgramLimits()
        env = command_environment(os.environ if setting.environ is None else setting.environ, setting.env)
        env[PROTOCOL_VARIABLE] = str(PROTOCOL)
        self._start = ProgramStart(
            tuple(argv),
            str(Path(setting.cwd).resolve()),
            env,
            self._limits.memory_bytes,
            self._limits.output_bytes,
        )
        self._recording = setting.recording
        self._hello = hello_line(name, self.config)
        self._numbers = count(1)
        self._slots = asyncio.Semaphore(self._limits.programs)
        self._starting = asyncio.Lock()
        self._programs: list[LineProcess] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._simulated = False
        self._references = References(0.0)

    def read_references(self, allowance_s: float) -> None:
        """From now on references are read between cases, in this process: programs have none of ours."""
        self._references = References(allowance_s)

    async def start(self) -> None:
        """Starts the first process; raises ``PluginError`` where it cannot be started or does not greet."""
        self._references.begin()
        if self._recording is not None:
            self._recording.start()
        program = self._start.argv[0]
        check_executable(program, self._start.cwd, self._start.env.get("PATH", os.defpath), self.name)
        texts = (*self._start.argv, json.dumps(to_plain(self.config), default=str))
        self._simulated = await any_simulated(addresses(texts, self._start.env))
        await self._another()

    async def run(self, case: Case) -> Response:
        number = next(self._numbers)
        line = run_line(case, number, CASE_ENVIRON.get())
        async with self._slots:
            process = await self._with_room()
            recording = self._recording
            if recording is None or not recording.on:
                return await self._ask(process, number, line)
            return await recording.record(process.scope, lambda: self._ask(process, number, line))

    async def _ask(self, process: LineProcess, number: int, line: bytes) -> Response:
        try:
            with gpu_use(process.pid) as gpu:
                reply, exchange = await process.ask(number, line)
                used = gpu()
        except PeerFlooded as flooded:
            self._discard(process)
            message = f"printed more than {flooded.limit_bytes / 2**20:g} MiB"
            raise CaseFailed(FailureKind.OUTPUT, message, status=Status.LIMIT, output_tail=flooded.tail) from None
        except PeerLost as lost:
            self._discard(process)
            kind, how = cause_of_death(lost.status)
            raise CaseFailed(kind, how, output_tail=lost.tail) from None
        except asyncio.CancelledError:
            self._give_up(process)
            raise
        response = self._answer(process, exchange, reply)
        return replace(response, readings={**response.readings, **used}) if used else response

    async def close(self) -> None:
        """Lets every process end by itself, then ends it and everything that it has started."""
        programs, self._programs = self._programs, []
        await asyncio.gather(*(program.close(farewell=True) for program in programs), return_exceptions=True)
        if self._closing:
            await asyncio.wait(self._closing)

    @property
    def in_flight(self) -> int:
        """How many cases the program takes at the same time; known once it is started."""
        return max((program.greeting.in_flight for program in self._programs), default=1)

    def used(self) -> ProgramUse:
        """What its running processes have used so far."""
        cpu = [program.used_cpu_s for program in self._programs]
        peaks = [_peak_rss_bytes(program.pid) for program in self._programs]
        starts = [program.start_s for program in self._programs]
        return ProgramUse(starts[0] if starts else None, _total(cpu), _total(peaks))

    def say_unknown(self) -> None:
        """Sends a message of a later protocol, which a program passes over."""
        for program in self._programs:
            program.say(UNKNOWN)

    async def ends_by_itself(self) -> bool:
        """Closes like ``close``; whether no process had to be killed."""
        programs = list(self._programs)
        await self.close()
        return all(program.ended_by_itself for program in programs)

    def _answer(self, process: LineProcess, exchange: CaseInProgram, reply: ProgramReply) -> Response:
        readings = _readings(process, exchange)
        try:
            response = response_in(reply, exchange.streamed)
        except CaseFailed as failed:
            failed.response = Response(readings=readings)
            failed.output_tail = process.tail()
            raise
        tokens = response.usage.output_tokens if response.usage is not None else None
        readings |= measure(exchange.sent_ns, exchange.chunks_ns, tokens).readings()
        if self._references.wanted and MAY_BLOCK_S.get() is not None:
            readings |= self._references.now()
            self._references.worked(readings["duration_s"])
        observed = {"command": list(self._start.argv), **response.observed}
        whole = replace(response, observed=observed, readings={**response.readings, **readings})
        return marked(whole, self._simulated)

    async def _with_room(self) -> LineProcess:
        """A process that can take a case; the one used last, so that as few as possible are kept busy."""
        async with self._starting:
            for process in reversed(self._programs):
                if process.is_usable and process.in_flight < self._most_in(process):
                    return process
            try:
                with outside_the_case():
                    return await self._another()
            except PluginError as error:
                why = f"the program cannot be started any more: {error.message}"
                raise CaseFailed(FailureKind.EXIT, why, fatal=True, remedy=error.remedy or "") from None

    def _most_in(self, process: LineProcess) -> int:
        """One case where its model calls are recorded: a process has one address for all that it asks."""
        return 1 if self._recording is not None and self._recording.on else process.greeting.in_flight

    async def _another(self) -> LineProcess:
        start, scope = self._start, ""
        if self._recording is not None:
            scope = self._recording.new_scope("worker")
            start = replace(start, env=self._recording.environment(start.env, scope))
        try:
            process = LineProcess(start, self._limits.output_bytes, scope)
        except OSError as error:
            raise PluginError(f"{self._start.argv[0]} cannot be started: {error}", where=self.name) from None
        try:
            async with asyncio.timeout(self._limits.greeting_s):
                await process.greet(self._hello)
        except BaseException as error:
            tail = process.tail()
            await process.close()
            failure = self._no_greeting(error, tail)
            if failure is None:
                raise
            raise failure from None
        self._programs.append(process)
        return process

    def _no_greeting(self, error: BaseException, tail: str | None) -> PluginError | None:
        how = (
            'Answer the line {"hello": …} on descriptor 3 or standard input with {"ok": {"protocol": 1}} on '
            "descriptor 4 or standard output; docs/reference/agent-protocol.md has an example in five languages."
        )
        last = f" Its last output: {tail}" if tail else ""
        if isinstance(error, TimeoutError):
            message = f"the program did not answer hello within {self._limits.greeting_s:g} s"
        elif isinstance(error, PeerFlooded):
            message = f"the program printed more than {error.limit_bytes / 2**20:g} MiB and did not answer hello"
        elif isinstance(error, PeerLost):
            message = f"the program {cause_of_death(error.status)[1]} before it answered hello"
            last = f" Its last output: {error.tail}" if error.tail else ""
        elif isinstance(error, ValueError):
            message = f"the program did not answer hello as it should: {error}"
        else:
            return None
        return PluginError(message, where=self.name, remedy=how + last)

    def _give_up(self, process: LineProcess) -> None:
        """After a cancelled case the process may be busy with it for ever: no further case goes there, and it ends as
        soon as no other case is in it."""
        if process in self._programs:
            self._programs.remove(process)
        self._later(process.close_when_idle())

    def _discard(self, process: LineProcess) -> None:
        if process in self._programs:
            self._programs.remove(process)
        self._later(process.close())

    def _later(self, ending: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(ending)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _readings(process: LineProcess, exchange: CaseInProgram) -> dict[str, float]:
    readings = {"duration_s": (exchange.ended_ns - exchange.sent_ns) / 1e9}
    if exchange.cpu_s is not None:
        readings["cpu_s"] = exchange.cpu_s
    readings.update(exchange.stored)
    peak = _peak_rss_bytes(process.pid)
    return readings if peak is None else {**readings, "peak_rss_bytes": peak}


def _total(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _peak_rss_bytes(pid: int) -> float | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) * 1024
    return None
