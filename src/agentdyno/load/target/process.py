"""The process behind a target on this machine: which one it is, and how much CPU and memory it takes meanwhile."""

from __future__ import annotations

import ipaddress
import threading
from array import array
from bisect import bisect_left, bisect_right
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from agentdyno.sandbox.gpu import GpuProbe

if TYPE_CHECKING:
    import psutil

INTERVAL_S = 0.1
CHILDREN_EVERY = 10
"""Samples between two looks for new child processes: that look reads every process of the machine."""
PORTS = {"http": 80, "https": 443}


class Use(NamedTuple):
    """CPU as a share of one core (2.0 is two cores), resident memory in bytes; null where unknown."""

    cpu: float | None
    rss_bytes: float | None


class GpuUse(NamedTuple):
    """GPU memory of the processes in bytes, and the utilisation (0 to 1) of the GPUs that they are on."""

    memory_bytes: float | None
    utilisation: float | None


class ListeningSocket(Protocol):
    """A socket as psutil shows it; ``laddr`` is empty, or has an ``ip`` and a ``port``."""

    @property
    def status(self) -> str: ...

    @property
    def laddr(self) -> Any: ...


NOTHING, NO_GPU = Use(None, None), GpuUse(None, None)


def listening_pid(url: str) -> int | None:
    """The process that listens where ``url`` points to; ``None`` where that is not this machine's loopback address,
    nobody listens, or the process is another user's. Of a parent and its workers it is the parent."""
    import psutil

    parts = urlsplit(url)
    port = parts.port or PORTS.get(parts.scheme)
    if port is None or not is_loopback(parts.hostname or ""):
        return None
    try:
        links = [link for link in psutil.net_connections("tcp") if _listens(link, port)]
        pids = {link.pid for link in links if link.pid}
        found = [psutil.Process(pid) for pid in pids]
        # a socket that several processes share is told of one of them only
        found += [parent for process in found for parent in process.parents() if _listens_itself(parent, port)]
        return min(found, key=lambda process: process.create_time()).pid if found else None
    except (psutil.Error, OSError):
        return None


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class TargetWatch:
    """Looks at a process and its children ten times a second, in a thread that costs next to nothing.

    ``start`` it before the load and ``stop`` it after; ``between`` may be asked at any time. Times are
    ``perf_counter_ns``, which all processes of a machine share.
    """

    def __init__(
        self, pid: int, *, interval_s: float = INTERVAL_S, gpu: GpuProbe | None = None, children_only: bool = False
    ) -> None:
        """``children_only``: the process itself is not the target, what it started is."""
        import psutil

        self.pid = pid
        self._children_only = children_only
        self._psutil, self._interval_s, self._gpu = psutil, interval_s, gpu
        self._members: dict[int, psutil.Process] = {}
        self._cpu_s: dict[int, float] = {}
        self._at_ns, self._rss, self._cpu_ns = array("q"), array("q"), array("q")
        self._gpu_at_ns, self._gpu_bytes, self._gpu_share = array("q"), array("d"), array("d")
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self.sample()
        self._thread = threading.Thread(target=self._watch, name="dyno-target-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            self.sample()

    @property
    def alive(self) -> bool:
        """Whether the process was there when it was last looked at."""
        return bool(self._members) if self._children_only else self.pid in self._members

    def sample(self) -> None:
        """Looks once."""
        with self._lock:
            if len(self._at_ns) % CHILDREN_EVERY == 0:
                self._find_members()
            rss = 0
            for pid, process in list(self._members.items()):
                try:
                    with process.oneshot():
                        times, rss_of_one = process.cpu_times(), process.memory_info().rss
                except self._psutil.Error:
                    del self._members[pid]
                    continue
                self._cpu_s[pid] = times.user + times.system  # stays when it ends: its time has been used
                rss += rss_of_one
            if self.alive:
                self._at_ns.append(perf_counter_ns())
                self._rss.append(rss)
                self._cpu_ns.append(round(sum(self._cpu_s.values()) * 1e9))
                self._sample_gpu()

    def between(self, from_ns: int, to_ns: int) -> Use:
        """CPU and mean memory from one time to another; null where no more than half of that time was watched."""
        with self._lock:
            at_ns = self._at_ns
            if len(at_ns) < 2 or to_ns <= from_ns:
                return NOTHING
            low_ns, high_ns = max(from_ns, at_ns[0]), min(to_ns, at_ns[-1])
            if 2 * (high_ns - low_ns) <= to_ns - from_ns:
                return NOTHING
            used_ns = self._cpu_at(high_ns) - self._cpu_at(low_ns)
            first, last = bisect_left(at_ns, low_ns), bisect_right(at_ns, high_ns)
            if first == last:  # shorter than the interval: the sample after it
                last = first + 1
            return Use(max(0.0, used_ns / (high_ns - low_ns)), sum(self._rss[first:last]) / (last - first))

    def gpu_between(self, from_ns: int, to_ns: int) -> GpuUse:
        """Mean GPU memory and utilisation; null where there is no GPU, or none of these processes is on it."""
        with self._lock:
            first, last = bisect_left(self._gpu_at_ns, from_ns), bisect_right(self._gpu_at_ns, to_ns)
            if first == last:
                return NO_GPU
            count = last - first
            return GpuUse(sum(self._gpu_bytes[first:last]) / count, sum(self._gpu_share[first:last]) / count)

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval_s):
            self.sample()

    def _find_members(self) -> None:
        try:
            root = self._members.get(self.pid) or self._psutil.Process(self.pid)
            found = [*([] if self._children_only else [root]), *root.children(recursive=True)]
        except self._psutil.Error:
            return
        for process in found:
            self._members.setdefault(process.pid, process)

    def _sample_gpu(self) -> None:
        if self._gpu is None or len(self._at_ns) % CHILDREN_EVERY != 1:
            return
        reading = self._gpu.read(self._members)
        if reading is not None:
            self._gpu_at_ns.append(self._at_ns[-1])
            self._gpu_bytes.append(reading.memory_bytes)
            self._gpu_share.append(reading.utilisation)

    def _cpu_at(self, when_ns: int) -> float:
        """Nanoseconds of CPU time used until then, between two samples in proportion."""
        at_ns, cpu_ns = self._at_ns, self._cpu_ns
        place = bisect_left(at_ns, when_ns)
        if place == 0:
            return cpu_ns[0]
        part = (when_ns - at_ns[place - 1]) / (at_ns[place] - at_ns[place - 1])
        return cpu_ns[place - 1] + part * (cpu_ns[place] - cpu_ns[place - 1])


def _listens(link: ListeningSocket, port: int) -> bool:
    """Whether it takes connections to this port of the loopback address."""
    if link.status != "LISTEN" or not link.laddr or link.laddr.port != port:
        return False
    found = ipaddress.ip_address(link.laddr.ip)
    mapped = getattr(found, "ipv4_mapped", None)
    return found.is_loopback or found.is_unspecified or bool(mapped and mapped.is_loopback)


def _listens_itself(process: psutil.Process, port: int) -> bool:
    import psutil

    try:
        return any(_listens(link, port) for link in process.net_connections("tcp"))
    except (psutil.Error, OSError):
        return False
