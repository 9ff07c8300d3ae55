"""Resources over time, kept within a bounded number of points."""

from __future__ import annotations

import re
from dataclasses import dataclass

CAP = 2_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A process and its children at ``t_s`` seconds; CPU time and I/O count from any fixed start.

    ``read_bytes`` and ``write_bytes`` are what reached storage, ``None`` where the kernel does not tell.
    """

    t_s: float
    rss_bytes: int
    cpu_s: float
    threads: int
    read_bytes: int | None = None
    write_bytes: int | None = None


class SnapshotSeries:
    """Takes snapshots in order; above ``cap`` every second one is dropped and ``interval_s`` doubles.

    Peaks and means come from all snapshots, also from the dropped ones.
    """

    def __init__(self, first: Snapshot, interval_s: float, cap: int = CAP) -> None:
        self.interval_s = interval_s
        self._cap = max(cap, 2)
        self._kept = [first]
        self._latest = first
        self._rss_peak = first.rss_bytes
        self._threads_peak = first.threads
        self._rss_area = 0.0

    def add(self, snapshot: Snapshot) -> None:
        self._rss_peak = max(self._rss_peak, snapshot.rss_bytes)
        self._threads_peak = max(self._threads_peak, snapshot.threads)
        # Weighted by time, since the distance of the points may change.
        middle = (self._latest.rss_bytes + snapshot.rss_bytes) / 2
        self._rss_area += middle * (snapshot.t_s - self._latest.t_s)
        self._latest = snapshot
        if len(self._kept) >= self._cap:
            self._kept = self._kept[::2]
            self.interval_s *= 2
        self._kept.append(snapshot)

    def numbers(self) -> dict[str, float]:
        """Peaks, time-weighted means and sums from the first snapshot to the latest."""
        first, last = self._kept[0], self._latest
        elapsed_s = last.t_s - first.t_s
        found: dict[str, float] = {
            "rss_peak_bytes": self._rss_peak,
            "rss_mean_bytes": self._rss_area / elapsed_s if elapsed_s > 0 else float(last.rss_bytes),
            "rss_delta_bytes": last.rss_bytes - first.rss_bytes,
            "threads_peak": self._threads_peak,
        }
        if elapsed_s > 0:
            found["cpu_percent_mean"] = max(last.cpu_s - first.cpu_s, 0.0) / elapsed_s * 100
        if first.read_bytes is not None and last.read_bytes is not None:
            found["read_bytes"] = max(last.read_bytes - first.read_bytes, 0)
        if first.write_bytes is not None and last.write_bytes is not None:
            found["write_bytes"] = max(last.write_bytes - first.write_bytes, 0)
        return found

    def columns(self) -> dict[str, list[float | None]]:
        """One list per quantity; ``cpu_percent`` covers the time since the point before, so the first is null.

        Times are seconds and I/O is bytes since the first snapshot. Quantities never seen are left out.
        """
        first = self._kept[0]
        found: dict[str, list[float | None]] = {
            "t_s": [one.t_s - first.t_s for one in self._kept],
            "rss_bytes": [one.rss_bytes for one in self._kept],
            "cpu_percent": [None],
        }
        for before, after in zip(self._kept, self._kept[1:], strict=False):
            elapsed_s = after.t_s - before.t_s
            used_s = max(after.cpu_s - before.cpu_s, 0.0)
            found["cpu_percent"].append(used_s / elapsed_s * 100 if elapsed_s > 0 else None)
        if first.read_bytes is not None:
            found["read_bytes"] = [_since(first.read_bytes, one.read_bytes) for one in self._kept]
        if first.write_bytes is not None:
            found["write_bytes"] = [_since(first.write_bytes, one.write_bytes) for one in self._kept]
        return found


def _since(start: int, now: int | None) -> int | None:
    return None if now is None else max(now - start, 0)


def short_path(path: str) -> str:
    """The last two parts of a file's path; names in angle brackets (``<string>``) stay as they are."""
    if path.startswith("<"):
        return path
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".")]
    return "/".join(parts[-2:])
