"""Any executable as an agent: the input on standard input or as an argument, the answer on standard output."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.commands.command_line import (
    PLACEHOLDER,
    check_executable,
    command_environment,
    input_text,
    read_answer,
    with_placeholder,
)
from agentdyno.agents.hosting.answer import OUTPUT_LIMIT_BYTES
from agentdyno.agents.simulated_models import addresses, any_simulated, marked
from agentdyno.contracts import CASE_ENVIRON, MAY_BLOCK_S, CaseFailed
from agentdyno.errors import SpecError
from agentdyno.model.case import Case, Response
from agentdyno.model.metric import reported_name
from agentdyno.model.sample import FailureKind, Status
from agentdyno.sandbox.command import CannotStart, Command, Completed, LauncherPool
from agentdyno.sandbox.process import cause_of_death
from agentdyno.workers.reference import QUEUED, READING, References

if TYPE_CHECKING:
    from agentdyno.agents.recording.recording import AgentRecording

CONFIG_VARIABLE = "DYNO_CONFIG"
_E2BIG, _NOT_THERE, _NOT_ALLOWED = 7, 2, 13
_OUT_OF_MEMORY = ("MemoryError", "Cannot allocate memory", "bad_alloc", "out of memory", "memory allocation of")


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """``memory_bytes`` is the private memory of each of its processes, ``cpu_s`` CPU seconds of each, rounded up to
    whole ones; ``output_bytes`` is what it may print on one case. ``None`` is no limit."""

    memory_bytes: int | None = None
    cpu_s: float | None = None
    output_bytes: int = OUTPUT_LIMIT_BYTES


@dataclass(frozen=True, slots=True)
class CommandSetting:
    """``input`` is ``stdin`` or ``argv`` (the last argument, unless one holds ``{input}``). ``env`` are names of
    variables of ``environ`` that the command may see; ``cwd`` is its working folder. With ``recording`` what it asks
    of its model passes a proxy."""

    input: str = "stdin"
    cwd: str = "."
    env: tuple[str, ...] = ()
    environ: Mapping[str, str] | None = None
    recording: AgentRecording | None = None


class CommandAgent:
    """Runs ``argv`` once per case; up to as many at the same time as there are cases in flight.

    A case's input goes to standard input, unless an argument holds ``{input}``: text as it is, other values as
    JSON, the turns of a conversation as a JSON list. Standard output is the answer, without newlines at its end. A
    last line that is a JSON object with nothing but fields of a response (``usage``, ``cost``, ``model``, ``events``,
    ``output``…) is taken for those; what comes before it is the answer unless it gives ``output``. Numbers under
    ``readings`` are kept as what the command reports, never in place of what was measured.

    Failures: exit status other than 0 (``exit``), a signal (``signal``), CPU time beyond the limit (status
    ``timeout``, as it is a limit of time), memory beyond it, where the command says so (``memory``), and too much
    output (``output``). ``config`` reaches the command as JSON in DYNO_CONFIG. The readings of a response are
    ``duration_s`` from the command's start to its end, ``cpu_s`` and ``peak_rss_bytes``, which include children that
    it waited for.
    """

    def __init__(
        self,
        name: str,
        argv: tuple[str, ...],
        *,
        config: Mapping[str, object] | None = None,
        setting: CommandSetting | None = None,
        limits: CommandLimits | None = None,
        version: str = "",
        paid: bool = False,
    ) -> None:
        self.name = name
        self.version = version
        self.config: Mapping[str, object] = dict(config or {})
        self.paid = paid
        setting = setting or CommandSetting()
        if setting.input not in ("stdin", "argv"):
            raise SpecError(f"input is {setting.input!r}", where=f"config of {name}", remedy="Say stdin or argv.")
        self._argv = with_placeholder(tuple(argv), setting.input)
        self._cwd = str(Path(setting.cwd).resolve())
        self._env = command_environment(os.environ if setting.environ is None else setting.environ, setting.env)
        if self.config:
            self._env[CONFIG_VARIABLE] = json.dumps(self.config, ensure_ascii=False, default=str)
        self._limits = limits or CommandLimits()
        self._recording = setting.recording
        self._simulated = False
        self._references = References(0.0)
        self._launchers = LauncherPool()

    def read_references(self, allowance_s: float) -> None:
        """From now on references are read between cases, in this process: commands have none of ours."""
        self._references = References(allowance_s)

    async def start(self) -> None:
        """Raises ``PluginError`` where the command cannot be found or executed."""
        self._references.begin()
        if self._recording is not None:
            self._recording.start()
        check_executable(self._argv[0], self._cwd, self._env.get("PATH", os.defpath), self.name)
        texts = (*self._argv, self._env.get(CONFIG_VARIABLE, ""))
        self._simulated = await any_simulated(addresses(texts, self._env))
        self._launchers.prepare()

    async def run(self, case: Case) -> Response:
        recording = self._recording
        if recording is None or not recording.on:
            return await self._run(case, self._env)
        scope = recording.new_scope("case")
        return await recording.record(scope, lambda: self._run(case, recording.environment(self._env, scope)))

    async def _run(self, case: Case, env: Mapping[str, str]) -> Response:
        text = input_text(case)
        in_argument = any(PLACEHOLDER in item for item in self._argv)
        command = Command(
            tuple(item.replace(PLACEHOLDER, text) for item in self._argv),
            b"" if in_argument else text.encode("utf-8", "surrogatepass"),
            self._cwd,
            {**env, **(CASE_ENVIRON.get() or {})},
            self._limits.memory_bytes,
            self._limits.cpu_s,
            self._limits.output_bytes,
        )
        try:
            completed = await self._launchers.run(command)
        except CannotStart as error:
            raise _not_started(error, self._argv[0], in_argument) from None
        failed = self._failure(completed)
        if failed is not None:
            failed.response = Response(readings=readings_of(completed))
            raise failed
        return self._with_references(self._response(completed), completed)

    def _with_references(self, response: Response, completed: Completed) -> Response:
        """Read only where one case is answered at a time: nothing else is being timed then."""
        readings = {name: value for name, value in response.readings.items() if not name.startswith(READING)}
        if self._references.wanted and MAY_BLOCK_S.get() is not None:
            readings |= self._references.now()
            if completed.queued_s is not None:
                readings[QUEUED] = completed.queued_s
            self._references.worked(completed.duration_s)
        return replace(response, readings=readings)

    async def close(self) -> None:
        await self._launchers.close()

    def _failure(self, completed: Completed) -> CaseFailed | None:
        tail = completed.stderr_tail or None
        limits = self._limits
        if completed.flooded:
            message = f"printed more than {limits.output_bytes / 2**20:g} MiB"
            return CaseFailed(FailureKind.OUTPUT, message, status=Status.LIMIT, output_tail=tail)
        if completed.status == 0:
            return None
        if limits.cpu_s is not None and _used_up(completed, limits.cpu_s):
            message = f"used more than {limits.cpu_s:g} s of CPU time (cpu_limit_s)"
            return CaseFailed(FailureKind.TIMEOUT, message, status=Status.TIMEOUT, output_tail=tail)
        kind, message = cause_of_death(completed.status)
        if kind is FailureKind.EXIT:
            last = completed.stderr_tail.splitlines()[-1:] or [""]
            message = f"exit status {completed.status}" + (f": {last[0][:500]}" if last[0] else "")
        if limits.memory_bytes is not None and _starved(completed, limits.memory_bytes):
            message = f"ran out of its {limits.memory_bytes / 2**20:g} MiB of memory ({message})"
            return CaseFailed(FailureKind.MEMORY, message, status=Status.LIMIT, output_tail=tail)
        return CaseFailed(kind, message, output_tail=tail)

    def _response(self, completed: Completed) -> Response:
        text = completed.stdout.decode("utf-8", "replace")
        response = read_answer(text)
        observed = {"command": list(self._argv), **response.observed}
        if "\ufffd" in text and not _is_utf8(completed.stdout):
            observed["invalid_utf8"] = True
        claims = {reported_name(name): value for name, value in response.readings.items()}
        whole = replace(response, observed=observed, readings={**claims, **readings_of(completed)})
        return marked(whole, self._simulated)


def _not_started(error: CannotStart, program: str, in_argument: bool) -> CaseFailed:
    message = f"{program} cannot be started: {error}"
    if error.errno == _E2BIG or "null byte" in str(error):
        remedy = "Leave {input} out of the command: the input then goes to standard input." if in_argument else ""
        return CaseFailed(FailureKind.EXIT, f"{message} (the input does not fit an argument)", remedy=remedy)
    return CaseFailed(FailureKind.EXIT, message, fatal=error.errno in (_NOT_THERE, _NOT_ALLOWED))


def readings_of(completed: Completed) -> dict[str, float]:
    if completed.flooded:
        return {}
    readings = {
        "duration_s": completed.duration_s,
        "cpu_s": completed.cpu_s,
        "peak_rss_bytes": float(completed.peak_rss_bytes),
    }
    if completed.read_bytes or completed.write_bytes:
        readings.update(read_bytes=float(completed.read_bytes), write_bytes=float(completed.write_bytes))
    return readings


def _used_up(completed: Completed, limit_s: float) -> bool:
    """Whether it ended because of its CPU time; a shell reports the signal that ended its child as 128 + number."""
    if completed.status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        return True
    return completed.status == -signal.SIGKILL and completed.cpu_s >= limit_s


def _starved(completed: Completed, limit_bytes: int) -> bool:
    """Whether memory was what it lacked: it says so, or it was ended while close to the limit."""
    if any(words in completed.stderr_tail for words in _OUT_OF_MEMORY):
        return True
    return completed.status < 0 and completed.peak_rss_bytes >= 0.9 * limit_bytes


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
