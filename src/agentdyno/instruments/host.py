"""What the kernel tells about this machine, read from ``/proc`` and ``/sys``.

Every reader takes the ``root`` below which both lie and answers ``None`` (or nothing) for what is not there:
a fact that cannot be read is absent, never zero.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")
RESOURCES = ("cpu", "memory", "io")
_CPU = "sys/devices/system/cpu"
_CLOCK = "sys/devices/system/clocksource/clocksource0"


def read_text(root: Path, path: str) -> str | None:
    """The stripped text of ``root/path``, or ``None`` when it cannot be read."""
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace").strip()
    except (OSError, ValueError):
        return None


def read_int(root: Path, path: str) -> int | None:
    """The whole number in ``root/path``, or ``None``."""
    return parse_int(read_text(root, path))


def parse_int(text: str | None) -> int | None:
    """The whole number that ``text`` says, or ``None``."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def load_1min(root: Path = ROOT) -> float | None:
    """Tasks running or waiting, averaged over the last minute."""
    try:
        return float((read_text(root, "proc/loadavg") or "").split()[0])
    except (IndexError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Stall:
    """Time in which at least one task waited for a resource.

    ``average_60s`` is the share of the last minute in percent, ``total_s`` counts seconds since the start.
    """

    average_60s: float
    total_s: float


def stalls(root: Path = ROOT) -> dict[str, Stall]:
    """The pressure of each of ``RESOURCES`` that the kernel reports."""
    found = {}
    for resource in RESOURCES:
        text = read_text(root, f"proc/pressure/{resource}") or ""
        match = re.search(r"^some .*avg60=([\d.]+).*total=(\d+)", text, re.MULTILINE)
        if match:
            found[resource] = Stall(float(match[1]), int(match[2]) / 1e6)
    return found


@dataclass(frozen=True, slots=True)
class CpuSeconds:
    """CPU time of the whole machine in seconds; ``steal_s`` is what the hypervisor gave to others."""

    total_s: float
    steal_s: float


def cpu_seconds(root: Path = ROOT) -> CpuSeconds | None:
    """The machine's CPU time since it started, from the first line of ``/proc/stat``."""
    fields = (read_text(root, "proc/stat") or "").partition("\n")[0].split()
    if len(fields) < 9 or fields[0] != "cpu":
        return None
    try:
        # Guest time (fields 9 and 10) is already part of user time.
        ticks = [int(field) for field in fields[1:9]]
    except ValueError:
        return None
    per_second = os.sysconf("SC_CLK_TCK")
    return CpuSeconds(sum(ticks) / per_second, ticks[7] / per_second)


def memory(root: Path = ROOT) -> dict[str, int]:
    """``/proc/meminfo`` in bytes: ``MemTotal``, ``MemAvailable``, ``SwapTotal``, ``SwapFree`` and the others."""
    text = read_text(root, "proc/meminfo") or ""
    return {name: int(size) * 1024 for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}


def _cpuinfo(root: Path) -> dict[str, str]:
    first = (read_text(root, "proc/cpuinfo") or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def cpu_model(root: Path = ROOT) -> str | None:
    """The processor's name; ARM cores that have none are named by implementer and part."""
    info = _cpuinfo(root)
    for key in ("model name", "cpu model", "Model", "Hardware"):
        if info.get(key):
            return re.sub(r"\s+", " ", info[key])
    if "CPU implementer" in info:
        return f"ARM {info['CPU implementer']} {info.get('CPU part', '')}".strip()
    return None


def virtual_machine(root: Path = ROOT) -> bool | None:
    """Whether the processor says that it runs under a hypervisor."""
    flags = _cpuinfo(root).get("flags")
    return None if flags is None else "hypervisor" in flags.split()


def cpu_count(root: Path = ROOT) -> int | None:
    """Logical processors that are online."""
    text = read_text(root, f"{_CPU}/online")
    if text and re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        ranges = (part.partition("-") for part in text.split(","))
        return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)
    return len(re.findall(r"^processor\s*:", read_text(root, "proc/cpuinfo") or "", re.MULTILINE)) or None


def governors(root: Path = ROOT) -> tuple[str, ...]:
    """The frequency governors in use, sorted; empty where the kernel does not scale frequencies."""
    found = {read_text(root, str(path)) for path in _below(root, _CPU, "cpu[0-9]*/cpufreq/scaling_governor")}
    return tuple(sorted(name for name in found if name))


def turbo(root: Path = ROOT) -> bool | None:
    """Whether the processor may exceed its base frequency."""
    no_turbo = read_int(root, f"{_CPU}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = read_int(root, f"{_CPU}/cpufreq/boost")
    return None if boost is None else boost == 1


def smt(root: Path = ROOT) -> bool | None:
    """Whether cores are shared by several hardware threads."""
    active = read_int(root, f"{_CPU}/smt/active")
    return None if active is None else active == 1


def thermal_throttles(root: Path = ROOT) -> int | None:
    """How often a core or its package was slowed down for heat since the start."""
    counts = [read_int(root, str(path)) for path in _below(root, _CPU, "cpu[0-9]*/thermal_throttle/*_throttle_count")]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def on_battery(root: Path = ROOT) -> bool | None:
    """Whether a battery is being discharged and no mains adapter is online; ``None`` without a battery."""
    mains: list[bool] = []
    discharging: list[bool] = []
    for path in _below(root, "sys/class/power_supply", "*/type"):
        supply = str(path.parent)
        kind = read_text(root, str(path))
        if kind == "Battery":
            discharging.append(read_text(root, f"{supply}/status") == "Discharging")
        elif kind in ("Mains", "USB"):
            mains.append(read_int(root, f"{supply}/online") == 1)
    return any(discharging) and not any(mains) if discharging else None


def clock_source(root: Path = ROOT) -> str | None:
    """The hardware that the kernel's monotonic clock reads."""
    return read_text(root, f"{_CLOCK}/current_clocksource")


def clock_sources(root: Path = ROOT) -> tuple[str, ...]:
    """The clock sources that could be chosen."""
    return tuple((read_text(root, f"{_CLOCK}/available_clocksource") or "").split())


def aslr(root: Path = ROOT) -> int | None:
    """Randomisation of addresses: 0 off, 1 partial, 2 full."""
    return read_int(root, "proc/sys/kernel/randomize_va_space")


def container(root: Path = ROOT, variables: Mapping[str, str] | None = None) -> str | None:
    """The kind of container that this process runs in, as far as it can be told."""
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    if variables and "KUBERNETES_SERVICE_HOST" in variables:
        return "kubernetes"
    return None


def _below(root: Path, folder: str, pattern: str) -> Iterator[Path]:
    """Paths relative to ``root``, in a stable order."""
    return (path.relative_to(root) for path in sorted((root / folder).glob(pattern)))
