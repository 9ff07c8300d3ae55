"""What makes measurements on this machine unreliable, and what to do about it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agentdyno.instruments import host
from agentdyno.load.client.stream_reader import COMPILED, SETTING, decoder_name
from agentdyno.model.findings import Calibration, Check, Level
from agentdyno.model.metric import format_value
from agentdyno.runs.environment import machine_id
from agentdyno.workbench.machine_checks import examine_machine, judge

COARSE_CLOCK_S = 1e-6
LOW_DISK_BYTES = 1024**3
OLD_CALIBRATION_MS = 30 * 24 * 3600 * 1000
NOISY_FLOOR = 0.1
FALSE_ALARMS = 0.1


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The state of the running Python that measurements depend on."""

    version: str
    final: bool
    debug_build: bool
    optimize: int
    dev_mode: bool
    traced: bool
    clock_resolution_s: float
    clock_monotonic: bool
    load_decoder: str = COMPILED

    @classmethod
    def current(cls) -> Interpreter:
        clock = time.get_clock_info("perf_counter")
        return cls(
            version=".".join(map(str, sys.version_info[:3])),
            final=sys.version_info.releaselevel == "final",
            debug_build=hasattr(sys, "gettotalrefcount"),
            optimize=sys.flags.optimize,
            dev_mode=sys.flags.dev_mode,
            traced=sys.gettrace() is not None or sys.getprofile() is not None or _monitored(),
            clock_resolution_s=clock.resolution,
            clock_monotonic=clock.monotonic,
            load_decoder=decoder_name(),
        )


def examine(
    store: Path | None = None,
    calibration: Calibration | None = None,
    *,
    root: Path = host.ROOT,
    interpreter: Interpreter | None = None,
    now_ms: int | None = None,
) -> list[Check]:
    """Every check that applies here, in the order in which they are best put right.

    ``store`` is the store's file, which need not exist yet; ``root`` is where ``proc`` and ``sys`` lie;
    ``now_ms`` (UTC milliseconds) and ``interpreter`` default to the present ones. What the machine does not
    tell gives no check. Every warning has a remedy to type or to do.
    """
    now = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return [
        *_interpreter(interpreter or Interpreter.current()),
        *examine_machine(root),
        *_storage(store),
        _calibrated(calibration, machine_id(root), now),
    ]


def _interpreter(python: Interpreter) -> Iterator[Check]:
    yield judge(
        "python",
        not python.final,
        f"Python {python.version}" + ("" if python.final else ", a pre-release"),
        "Measure with a released version, for example `uv venv --python 3.13`.",
    )
    if python.debug_build:
        yield Check(
            "debug build",
            Level.WARN,
            "this Python is built for debugging and several times slower",
            "Use a release build, for example `uv venv --python 3.13`.",
        )
    if python.optimize:
        yield Check(
            "optimisation",
            Level.NOTE,
            f"Python runs with -{'O' * python.optimize}: assertions are left out",
            "`unset PYTHONOPTIMIZE`, unless what you ship runs like that too.",
        )
    if python.dev_mode:
        yield Check(
            "development mode",
            Level.WARN,
            "Python checks its memory and warns more, which costs time",
            "`unset PYTHONDEVMODE` and start Python without -X dev.",
        )
    yield judge(
        "tracing",
        python.traced,
        "a debugger, profiler or coverage tool watches every call"
        if python.traced
        else "nothing watches this Python",
        "Start `dyno` itself, not under `coverage run`, a debugger or a profiler.",
    )
    coarse = python.clock_resolution_s > COARSE_CLOCK_S
    yield judge(
        "clock resolution",
        coarse or not python.clock_monotonic,
        format_value(python.clock_resolution_s, "s") + ("" if python.clock_monotonic else ", not monotonic"),
        "Put `inner_loops: 1000` into the spec so that each sample is long enough.",
    )
    yield judge(
        "load decoder",
        python.load_decoder != COMPILED,
        f"{python.load_decoder}: how loads read streamed answers",
        f"For loads of many thousands of answers a second: install a C compiler, install agentdyno again and leave "
        f"{SETTING} unset.",
        Level.NOTE,
    )


def _storage(store: Path | None) -> Iterator[Check]:
    if store is None:
        return
    place = store
    while not place.exists() and place != place.parent:
        place = place.parent
    folder = place.parent if place == store and place.is_file() else place
    writable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK) and os.access(place, os.W_OK)
    yield judge(
        "store",
        not writable,
        f"{store} can be written" if writable else f"{store} cannot be written",
        f"`chmod u+w {place}`, or choose another store with `DYNO_STORE=PATH`."
        if folder.is_dir()
        else f"`{place}` is a file: choose another store with `DYNO_STORE=PATH`.",
    )
    with suppress(OSError):
        yield disk_check(folder, shutil.disk_usage(folder).free)


def disk_check(folder: Path, free_bytes: int) -> Check:
    """Whether the disk of ``folder`` has room for results."""
    return judge(
        "disk",
        free_bytes < LOW_DISK_BYTES,
        f"{format_value(free_bytes, 'bytes')} free for results",
        f"Make room: `du -xh -d 1 {folder} | sort -h` shows what is large.",
    )


def _calibrated(calibration: Calibration | None, machine: str, now_ms: int) -> Check:
    remedy = "`dyno doctor --calibrate`"
    if calibration is None:
        return Check("calibration", Level.WARN, "this machine's own noise has never been measured", remedy)
    if calibration.machine_id != machine:
        return Check("calibration", Level.WARN, "measured on another machine than this one", remedy)
    seen = (
        f"changes below {calibration.noise_floor:.1%} are noise here; "
        f"{calibration.false_alarms} false alarms in {calibration.comparisons} comparisons"
    )
    if calibration.noise_floor > NOISY_FLOOR or calibration.false_alarm_rate > FALSE_ALARMS:
        return Check("calibration", Level.WARN, seen, f"Put right what is listed above, then {remedy}.")
    days = (now_ms - calibration.measured_at) // (24 * 3600 * 1000)
    if now_ms - calibration.measured_at > OLD_CALIBRATION_MS:
        return Check("calibration", Level.NOTE, f"{seen}; measured {days} days ago", remedy)
    return Check("calibration", Level.OK, seen)


def _monitored() -> bool:
    """Whether a tool uses ``sys.monitoring``, which Python has from 3.12 on."""
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(monitoring.get_tool(tool) is not None for tool in range(6))
