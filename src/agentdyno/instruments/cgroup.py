"""The CPU limits that a control group puts on this process, version 2 and version 1.

A limit may be set on any group between the process and the top, so every reader looks at all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agentdyno.instruments.host import ROOT, parse_int, read_int, read_text

_MOUNT = "sys/fs/cgroup"


@dataclass(frozen=True, slots=True)
class Throttling:
    """Scheduler periods so far, those in which the group was stopped, and seconds spent stopped."""

    periods: int
    throttled_periods: int
    throttled_s: float


def cpu_quota(root: Path = ROOT) -> float | None:
    """The tightest limit in CPUs (1.5 is one and a half), or ``None`` where there is none."""
    limits = [limit for folder in _cpu_groups(root) if (limit := _limit(root, folder)) is not None]
    return min(limits, default=None)


def throttling(root: Path = ROOT) -> Throttling | None:
    """Counters summed over this process's group and the ones above it; ``None`` where nothing counts."""
    found = [counted for folder in _cpu_groups(root) if (counted := _counters(root, folder)) is not None]
    if not found:
        return None
    return Throttling(
        sum(one.periods for one in found),
        sum(one.throttled_periods for one in found),
        sum(one.throttled_s for one in found),
    )


def _limit(root: Path, folder: str) -> float | None:
    version_2 = (read_text(root, f"{folder}/cpu.max") or "").split()
    if version_2:
        quota = parse_int(version_2[0])
        period = parse_int(version_2[1]) if len(version_2) > 1 else 100_000
    else:
        quota = read_int(root, f"{folder}/cpu.cfs_quota_us")
        period = read_int(root, f"{folder}/cpu.cfs_period_us")
    return quota / period if quota and quota > 0 and period else None


def _counters(root: Path, folder: str) -> Throttling | None:
    lines = (line.split() for line in (read_text(root, f"{folder}/cpu.stat") or "").splitlines())
    values = {parts[0]: number for parts in lines if len(parts) == 2 and (number := parse_int(parts[1])) is not None}
    if "nr_throttled" not in values:
        return None
    if "throttled_usec" in values:
        stopped_s = values["throttled_usec"] / 1e6
    else:
        stopped_s = values.get("throttled_time", 0) / 1e9
    return Throttling(values.get("nr_periods", 0), values["nr_throttled"], stopped_s)


def _cpu_groups(root: Path) -> Iterator[str]:
    """Folders, relative to ``root``, of the groups that may limit this process's CPU, innermost first."""
    seen = set()
    for line in (read_text(root, "proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            mounts = [_MOUNT, f"{_MOUNT}/unified"]
        elif "cpu" in controllers.split(","):
            mounts = [f"{_MOUNT}/{controllers}", f"{_MOUNT}/cpu"]
        else:
            continue
        for mount in mounts:
            for folder in _upward(mount, path):
                real = (root / folder).resolve()
                # Inside a container the path may be the host's, of which only the mount itself is visible.
                if real not in seen and real.is_dir():
                    seen.add(real)
                    yield folder


def _upward(mount: str, path: str) -> Iterator[str]:
    inner = PurePosixPath(path.lstrip("/"))
    if ".." in inner.parts:
        inner = PurePosixPath()
    for step in (inner, *inner.parents):
        yield mount if step == PurePosixPath() else f"{mount}/{step}"
