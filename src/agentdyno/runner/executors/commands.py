"""Executing trials that are commands: started and timed by a small process, many at a time while they are short."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from agentdyno.errors import RunError
from agentdyno.model.plan import Trial
from agentdyno.model.result import Environment
from agentdyno.model.sample import Failure, FailureKind, Sample, Status
from agentdyno.runner.bench.arm import make_sample
from agentdyno.runner.executor import Facts, TrialStep
from agentdyno.sandbox import LimitedProcess, stopwatch
from agentdyno.sandbox.process import cause_of_death
from agentdyno.settings.commands import WARMUP_RUNS

SHELL_RUNS = 50
"""Starts of an empty shell from which comes what is taken off the times of what it runs."""
_ANOTHER_PROGRAM = ("true",)
_SHELL_FOUND_NOTHING = 127
MOST_IN_FLIGHT = 64


@dataclass(frozen=True, slots=True)
class CommandJob:
    """One command: what is started, what runs before each run (``prepare``), before the first (``setup``) and after
    the last (``cleanup``), as words. ``shell`` is the same shell with nothing to do, where one reads the command.

    ``input`` and ``output`` are paths, ``None`` for nothing; ``shown`` output goes to our error output instead.
    """

    arm_id: str
    label: str
    argv: tuple[str, ...]
    prepare: tuple[str, ...] | None = None
    setup: tuple[str, ...] | None = None
    cleanup: tuple[str, ...] | None = None
    shell: tuple[str, ...] | None = None
    warmup: int = WARMUP_RUNS.default
    ignore_failure: bool = False
    input: str | None = None
    output: str | None = None
    shown: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """How one run of a command went; ``status`` is as the stopwatch says it."""

    started_ms: int
    wall_s: float
    user_s: float
    system_s: float
    rss_bytes: int
    status: int
    prepared: int

    @classmethod
    def of(cls, row: Sequence[Any]) -> _Run:
        return cls(row[0], row[1] / 1e9, *row[2:])


_NO_SHELL = _Run(0, 0.0, 0.0, 0.0, 0, 0, 0)


class CommandExecutor:
    """The ``Executor`` of commands. Setups and warm-ups of all commands come first where commands take turns
    (``interleaved``); else those of a command come before its first run.

    It says itself how many trials are worth having in flight: as many as fill the time in which the stopwatch answers
    once. While that measures, nothing else happens here.
    """

    environment: Environment | None = None

    def __init__(self, jobs: Mapping[str, CommandJob], *, interleaved: bool = True) -> None:
        self._jobs = dict(jobs)
        self._places = {arm_id: place for place, arm_id in enumerate(jobs)}
        self._interleaved = interleaved
        self._begun: set[str] = set()
        self._waiting: deque[Trial] = deque()
        self._finished: deque[TrialStep] = deque()
        self._shells: dict[tuple[str, ...], _Run] = {}
        self._process: LimitedProcess | None = None
        self._socket: socket.socket | None = None
        self._asked = False
        self.window = 1
        self.facts = Facts()

    def open(self) -> None:
        """Starts the stopwatch, takes the shell's own time, and begins every command that takes turns."""
        try:
            self._start()
            for job in self._jobs.values():
                cost = self._shells.get(job.shell or ())
                if cost is not None:
                    self.facts.observed.setdefault(job.arm_id, {})["shell_s"] = cost.wall_s
                if self._interleaved:
                    self._begin(job)
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-S", str(Path(stopwatch.__file__)), str(theirs.fileno())]
        shown = os.dup(2) if any(job.shown for job in self._jobs.values()) else None
        try:
            self._process = LimitedProcess(command, pass_fds=(theirs.fileno(), *(() if shown is None else (shown,))))
        finally:
            theirs.close()
            if shown is not None:
                os.close(shown)
        self._socket, self._asked = ours, False
        self._process.drain_in_background()
        for job in self._jobs.values():
            if job.shell is not None and job.shell not in self._shells:
                self._shells[job.shell] = self._shell_cost(job.shell)
        self._tell([_message(job, shown) for job in self._jobs.values()])

    def submit(self, trial: Trial) -> None:
        self._waiting.append(trial)

    def wait(self) -> TrialStep:
        """Has as many performed as fit into one answer, and gives one of them."""
        if not self._finished:
            self._perform()
        return self._finished.popleft()

    def close(self) -> None:
        """Cleans up after every command that was begun, and ends what still runs."""
        if self._process is None or self._socket is None:
            return
        try:
            if self._asked:  # interrupted: what runs is ended, and another process cleans up
                self._socket.close()
                self._process.close()
                if any(self._jobs[arm_id].cleanup is not None for arm_id in self._begun):
                    self._start()
            for arm_id in [*self._begun]:
                self._clean_up(self._jobs[arm_id])
        finally:
            self._begun.clear()
            self._socket.close()
            self._process.close()
            self._process = None

    def _perform(self) -> None:
        first = self._jobs[self._waiting[0].arm_id]
        if first.arm_id not in self._begun:
            for arm_id in [*self._begun]:  # one after the other: the one before is over
                self._clean_up(self._jobs[arm_id])
            self._begin(first)
        # A command that is not begun yet ends the batch.
        batch = [trial for trial in self._waiting if trial.arm_id in self._begun]
        rows = self._do([self._places[trial.arm_id] for trial in batch])
        for run in rows:
            self._finished.append(TrialStep(self._sample(self._waiting.popleft(), run)))
        longest_s = max((run.wall_s for run in rows), default=0.0)
        self.window = max(1, min(MOST_IN_FLIGHT, int(stopwatch.BATCH_S / max(longest_s, 1e-4))))

    def _begin(self, job: CommandJob) -> None:
        """Setup and warm-ups; raises ``RunError`` where one fails."""
        self._begun.add(job.arm_id)
        if job.setup is not None:
            self._around(job, job.setup, "setup")
        left = job.warmup
        while left:
            runs = self._do([self._places[job.arm_id]] * left)
            for run in runs:
                problem = _problem(job, run)
                if problem is not None:
                    raise problem
            left -= len(runs)

    def _around(self, job: CommandJob, words: Sequence[str], what: str) -> None:
        rows = self._ask({"around": self._places[job.arm_id], "argv": list(words)})
        if rows[0].status:
            raise RunError(
                f"{what} of {job.label!r} {_ending(rows[0].status)}",
                where=what,
                remedy="Run it by hand, or see what it says with --output inherit.",
            )

    def _clean_up(self, job: CommandJob) -> None:
        self._begun.discard(job.arm_id)
        if job.cleanup is None or self._process is None or self._process.returncode is not None:
            return
        try:
            self._around(job, job.cleanup, "cleanup")
        except RunError as error:
            self.facts.teardown_failures.append((job.arm_id, Failure(FailureKind.EXIT, error.message, "teardown")))

    def _shell_cost(self, shell: tuple[str, ...]) -> _Run:
        """What an empty shell adds to times. Each start comes after another program, as those that are timed do:
        right after itself a shell starts quicker."""
        empty = CommandJob("", "the shell", shell, ignore_failure=True)
        self._tell([_message(replace(empty, argv=_ANOTHER_PROGRAM)), _message(empty)])
        every: list[_Run] = []
        while len(every) < 2 * SHELL_RUNS:
            every += self._do([place % 2 for place in range(len(every), 2 * SHELL_RUNS)])
        runs = every[1::2]
        return _Run(
            0,
            added_time([run.wall_s for run in runs]),
            added_time([run.user_s for run in runs]),
            added_time([run.system_s for run in runs]),
            0,
            0,
            0,
        )

    def _sample(self, trial: Trial, run: _Run) -> Sample:
        job = self._jobs[trial.arm_id]
        shell = self._shells.get(job.shell or (), _NO_SHELL)
        problem = _problem(job, run)
        if problem is not None:
            if self.facts.fatal is None:
                self.facts.fatal = problem
            late = run.status == stopwatch.TOO_LATE
            status, kind = (Status.TIMEOUT, FailureKind.TIMEOUT) if late else (Status.ERROR, FailureKind.EXIT)
            failure = Failure(kind, problem.message)
            return make_sample(trial, status, run.started_ms, failure=failure)
        user_s, system_s = max(0.0, run.user_s - shell.user_s), max(0.0, run.system_s - shell.system_s)
        readings = {
            "duration_s": max(0.0, run.wall_s - shell.wall_s),
            "cpu_s": user_s + system_s,
            "user_s": user_s,
            "system_s": system_s,
        }
        if run.rss_bytes:
            readings["peak_rss_bytes"] = float(run.rss_bytes)
        details = {"exit_code": run.status} if run.status else {}
        return make_sample(trial, Status.OK, run.started_ms, readings=readings, details=details)

    def _tell(self, jobs: list[dict[str, Any]]) -> None:
        self._ask({"jobs": jobs})

    def _do(self, places: list[int]) -> list[_Run]:
        return self._ask({"do": places})

    def _ask(self, message: dict[str, Any]) -> list[_Run]:
        assert self._socket is not None
        payload = json.dumps(message).encode("utf-8", "surrogatepass")
        self._asked = True
        try:
            self._socket.sendall(stopwatch.HEADER.pack(len(payload)) + payload)
            reply = stopwatch.receive(self._socket)
        except OSError:
            reply = None
        self._asked = False
        if reply is None:
            raise RunError("the process that times commands has been killed", remedy="`dyno resume` goes on.")
        if "refused" in reply:
            raise RunError(str(reply["refused"]), remedy="Check --input and --output.")
        return [_Run.of(row) for row in reply.get("done", ())]


def added_time(starts: Sequence[float]) -> float:
    """How far such a start moves the median of a time that varies as the starts do.

    Its own median is less than that, as few starts are quick and some very slow: of a sum the median is nearer to the
    mean. The mean itself would follow a single start that other work held up.
    """
    return median(map(sum, combinations(starts, 2))) - median(starts)


def _message(job: CommandJob, shown: int | None = None) -> dict[str, Any]:
    """``shown`` is the descriptor of our error output there."""
    return {
        "argv": list(job.argv),
        "prepare": None if job.prepare is None else list(job.prepare),
        "ignore_failure": job.ignore_failure,
        "input": job.input,
        "output": shown if job.shown else job.output,
        "timeout_s": job.timeout_s,
    }


def _problem(job: CommandJob, run: _Run) -> RunError | None:
    """Why a run counts as failed, with what to do."""
    if run.prepared:
        return RunError(f"what prepares {job.label!r} {_ending(run.prepared)}", remedy="Run it by hand.")
    if run.status == stopwatch.TOO_LATE:
        return RunError(f"{job.label!r} took longer than {job.timeout_s:g} s", remedy="Raise --timeout.")
    if not run.status or (job.ignore_failure and run.status < stopwatch.CANNOT_START):
        return None
    return RunError(f"{job.label!r} {_ending(run.status)}", remedy=_remedy(job, run.status))


def _remedy(job: CommandJob, status: int) -> str:
    if status == stopwatch.CANNOT_START + errno.ENOENT or (job.shell is not None and status == _SHELL_FOUND_NOTHING):
        return (
            "No program of that name is here: check how it is spelled, or give its path. --output inherit shows more."
        )
    if status >= stopwatch.CANNOT_START:
        return "Check that it is a program and that you may run it."
    return "Go on all the same with -i (--ignore-failure); see what it says with --output inherit."


def _ending(status: int) -> str:
    if status >= stopwatch.CANNOT_START:
        return f"cannot be started: {os.strerror(status - stopwatch.CANNOT_START)}"
    return f"ended with exit code {status}" if status > 0 else f"was {cause_of_death(status)[1]}"
