"""What a server's process used while something was asked of it."""

from __future__ import annotations

from time import perf_counter_ns
from types import TracebackType

from agentdyno.load.target.process import TargetWatch, listening_pid
from agentdyno.load.target.target_gpu import GpuProbe, open_gpu_probe


class ServerWatch:
    """``with ServerWatch(url) as watch: …`` then ``watch.figures()``.

    The process is the one that listens at ``url`` on this machine, or ``pid``; elsewhere there are no figures.
    """

    def __init__(self, url: str, *, pid: int | None = None) -> None:
        self.pid = pid or listening_pid(url)
        self._watch: TargetWatch | None = None
        self._gpu: GpuProbe | None = None
        self._from_ns = self._to_ns = 0

    def __enter__(self) -> ServerWatch:
        if self.pid is not None:
            self._gpu = open_gpu_probe()
            self._watch = TargetWatch(self.pid, gpu=self._gpu)
            self._watch.start()
        self._from_ns = perf_counter_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._to_ns = perf_counter_ns()
        if self._watch is not None:
            self._watch.stop()
        if self._gpu is not None:
            self._gpu.close()
            self._gpu = None

    def figures(self) -> dict[str, float]:
        """``server_cpu`` (cores), ``server_rss_bytes``, and on a GPU ``gpu_memory_bytes`` and ``gpu_utilisation``;
        what is unknown is left out."""
        if self._watch is None:
            return {}
        use = self._watch.between(self._from_ns, self._to_ns)
        gpu = self._watch.gpu_between(self._from_ns, self._to_ns)
        known = {
            "server_cpu": use.cpu,
            "server_rss_bytes": use.rss_bytes,
            "gpu_memory_bytes": gpu.memory_bytes,
            "gpu_utilisation": gpu.utilisation,
        }
        return {name: value for name, value in known.items() if value is not None}
