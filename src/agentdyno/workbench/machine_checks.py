"""What the kernel tells about this machine that makes measurements on it unreliable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentdyno.instruments import cgroup, host
from agentdyno.model.findings import Check, Level
from agentdyno.model.metric import format_value

BUSY_LOAD = 0.5
"""Load per CPU above which other programs are in the way."""
LOW_MEMORY = 0.1
SWAP_USED = 0.1
PRESSURE_PERCENT = {"cpu": 10.0, "memory": 1.0, "io": 10.0}
STEAL_SHARE = 0.01
_SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "pit", "xen", "refined-jiffies")
_CPU = "/sys/devices/system/cpu"


def examine_machine(root: Path = host.ROOT) -> Iterator[Check]:
    """The checks that ``proc`` and ``sys`` below ``root`` allow; what they do not tell gives none."""
    yield from _processor(root)
    yield from _frequency(root)
    yield from _contention(root)
    yield from _memory(root)
    yield from _limits(root)
    yield from _clock(root)


def judge(name: str, bad: bool, seen: str, remedy: str, level: Level = Level.WARN) -> Check:
    """A check of ``level`` with its remedy when ``bad``, else one that is OK."""
    return Check(name, level, seen, remedy) if bad else Check(name, Level.OK, seen)


def _processor(root: Path) -> Iterator[Check]:
    count = host.cpu_count(root)
    if count is not None:
        one = count == 1
        yield Check(
            "cpus",
            Level.WARN if one else Level.NOTE if count < 4 else Level.OK,
            f"{count} CPU{'' if one else 's'}",
            "Keep `parallelism: 1` in the spec and stop other programs: there is no spare CPU for them."
            if count < 4
            else "",
        )
    smt = host.smt(root)
    if smt is not None:
        yield judge(
            "smt",
            smt,
            "two threads share a core" if smt else "each core runs one thread",
            f"`echo off | sudo tee {_CPU}/smt/control`",
            Level.NOTE,
        )
    if host.virtual_machine(root):
        yield Check(
            "virtual machine",
            Level.NOTE,
            "neighbours on the same host can slow this machine down unseen",
            "Compare inside one run: `dyno run SPEC --against REF`.",
        )


def _frequency(root: Path) -> Iterator[Check]:
    governors = host.governors(root)
    if governors:
        yield judge(
            "cpu governor",
            governors != ("performance",),
            ", ".join(governors),
            f"`echo performance | sudo tee {_CPU}/cpu*/cpufreq/scaling_governor`",
        )
    turbo = host.turbo(root)
    if turbo is not None:
        intel = host.read_text(root, f"{_CPU[1:]}/intel_pstate/no_turbo") is not None
        yield judge(
            "turbo",
            turbo,
            "on: the frequency depends on heat and on other cores" if turbo else "off",
            f"`echo 1 | sudo tee {_CPU}/intel_pstate/no_turbo`"
            if intel
            else f"`echo 0 | sudo tee {_CPU}/cpufreq/boost`",
        )
    throttles = host.thermal_throttles(root)
    if throttles is not None:
        yield judge(
            "temperature",
            throttles > 0,
            f"slowed down for heat {throttles} times since the start" if throttles else "never slowed down for heat",
            f"Let it cool down; `grep . {_CPU}/cpu*/thermal_throttle/*_count` must not grow during a run.",
        )
    battery = host.on_battery(root)
    if battery is not None:
        yield judge(
            "power",
            battery,
            "on battery" if battery else "on mains",
            "Plug in the power supply, then run `dyno doctor` again.",
        )


def _contention(root: Path) -> Iterator[Check]:
    load, count = host.load_1min(root), host.cpu_count(root)
    if load is not None and count is not None:
        yield judge(
            "load",
            load > BUSY_LOAD * count,
            f"{load:.2f} on {count} CPU{'' if count == 1 else 's'}",
            "Find what runs with `ps aux --sort=-%cpu | head` and stop it.",
        )
    remedies = {
        "cpu": "Find what competes for the CPU with `ps aux --sort=-%cpu | head` and stop it.",
        "memory": "Find what holds memory with `ps aux --sort=-rss | head` and stop it.",
        "io": "Find what reads and writes with `sudo iotop -o` and stop it.",
    }
    for name, stall in host.stalls(root).items():
        yield judge(
            f"{name} pressure",
            stall.average_60s > PRESSURE_PERCENT[name],
            f"tasks waited in {stall.average_60s:.1f} % of the last minute",
            remedies[name],
        )
    cpu = host.cpu_seconds(root)
    if cpu is not None and cpu.total_s > 0:
        share = cpu.steal_s / cpu.total_s
        yield judge(
            "steal",
            share > STEAL_SHARE,
            f"{share:.1%} of CPU time went to other machines on the host since the start",
            "Use a dedicated machine, or compare inside one run: `dyno run SPEC --against REF`.",
        )


def _memory(root: Path) -> Iterator[Check]:
    memory = host.memory(root)
    total, available = memory.get("MemTotal"), memory.get("MemAvailable")
    if total and available is not None:
        yield judge(
            "memory",
            available < LOW_MEMORY * total,
            f"{format_value(available, 'bytes')} of {format_value(total, 'bytes')} available",
            "Find what holds memory with `ps aux --sort=-rss | head` and stop it.",
        )
    swap, free = memory.get("SwapTotal"), memory.get("SwapFree")
    if swap and free is not None:
        yield judge(
            "swap",
            swap - free > SWAP_USED * swap,
            f"{format_value(swap - free, 'bytes')} of {format_value(swap, 'bytes')} in use",
            "`sudo swapoff -a && sudo swapon -a`, once memory is free.",
        )
    aslr = host.aslr(root)
    if aslr is not None:
        yield judge(
            "address layout",
            aslr != 0,
            "random: each process may run at a slightly different speed" if aslr else "fixed",
            "Average over layouts with `processes: 5` in the spec, or `setarch $(uname -m) -R dyno run SPEC`.",
            Level.NOTE,
        )


def _limits(root: Path) -> Iterator[Check]:
    quota = cgroup.cpu_quota(root)
    counted = cgroup.throttling(root)
    if quota is not None:
        yield Check(
            "cpu quota",
            Level.WARN,
            f"limited to {quota:g} CPUs by stopping the process for parts of each period",
            "Give whole CPUs instead, for example `docker run --cpuset-cpus=0-1` without `--cpus`.",
        )
    if counted is not None and counted.periods:
        yield judge(
            "cpu throttling",
            counted.throttled_periods > 0,
            f"stopped in {counted.throttled_periods} of {counted.periods} periods, "
            f"{format_value(counted.throttled_s, 's')} in all",
            "Raise the limit or lift it, for example `docker update --cpus=0 CONTAINER`.",
        )


def _clock(root: Path) -> Iterator[Check]:
    source = host.clock_source(root)
    if source is None:
        return
    better = [name for name in host.clock_sources(root) if name not in _SLOW_CLOCKS]
    chosen = "tsc" if "tsc" in better or not better else better[0]
    yield judge(
        "clock source",
        source in _SLOW_CLOCKS,
        source + (", slow to read" if source in _SLOW_CLOCKS else ""),
        f"`echo {chosen} | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource`"
        if better
        else "Start the kernel with `tsc=reliable`, or put `inner_loops: 1000` into the spec.",
    )
