"""What an agent's processes used beside the time they took, and how far calls ran at once."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentdyno.findings.profile.model import ProfiledExecution, ProfilePhase, ResourceUtilization, SpanTree

_OUTWARD = (ProfilePhase.MODEL, ProfilePhase.TOOL, ProfilePhase.RETRIEVAL)
_MEANS = ("read_bytes", "write_bytes", "gpu_percent", "gpu_memory_bytes")
_STEPS = "workflow.peak_rss_bytes"
"""Of a workflow's steps, whose storage nobody counts."""


@dataclass(slots=True)
class UseOfResources:
    """Sums over executions. CPU time counts where it was measured; other readings likewise."""

    cpu_s: float = 0.0
    cpu_wall_s: float = 0.0
    cpu_executions: int = 0
    peaks: list[float] = field(default_factory=list)
    means: dict[str, list[float]] = field(default_factory=dict)
    overlap_s: float = 0.0
    possible_s: float = 0.0
    of_processes: bool = False

    def add(self, execution: ProfiledExecution, tree: SpanTree) -> float | None:
        """The CPU seconds of the agent's own processes in this execution, where they were measured."""
        readings = execution.readings
        cpu_s = readings.get("cpu_s")
        if cpu_s is not None:
            # The local model's server is not the agent; its CPU time is part of the reading.
            cpu_s = max(0.0, cpu_s - readings.get("server.cpu_s", 0.0))
            self.cpu_s += cpu_s
            self.cpu_wall_s += tree.wall_s
            self.cpu_executions += 1
        if cpu_s is not None and "peak_rss_bytes" in readings and _STEPS not in readings:
            self.of_processes = True
        if "peak_rss_bytes" in readings:
            self.peaks.append(readings["peak_rss_bytes"])
        for name in _MEANS:
            if name in readings:
                self.means.setdefault(name, []).append(readings[name])
        saved_s, possible_s = _overlap(tree)
        self.overlap_s += saved_s
        self.possible_s += possible_s
        return cpu_s

    def result(self, waited_s: float, outward_s: float) -> ResourceUtilization:
        """``waited_s`` is the time that was not own code, ``outward_s`` the part of it with a call under way."""
        highest = max(self.peaks, default=None)
        enough = highest is not None and highest > 0 and len(self.peaks) > 1
        return ResourceUtilization(
            cpu_efficiency=self.cpu_s / self.cpu_wall_s if self.cpu_wall_s > 0 else None,
            memory_efficiency=statistics.median(self.peaks) / highest if enough and highest else None,
            io_efficiency=outward_s / waited_s if waited_s > 0 else None,
            parallelization_score=self.overlap_s / self.possible_s if self.possible_s > 0 else None,
            cpu_s=self.cpu_s / self.cpu_executions if self.cpu_executions else None,
            peak_rss_bytes=highest,
            read_bytes=self._stored("read_bytes"),
            write_bytes=self._stored("write_bytes"),
            gpu_percent=self._mean("gpu_percent"),
            gpu_memory_bytes=self._mean("gpu_memory_bytes"),
        )

    def _stored(self, name: str) -> float | None:
        """A process that is measured tells of storage only where it used it: the others used none."""
        told = self.means.get(name, [])
        executions = max(len(told), self.cpu_executions)
        return math.fsum(told) / executions if told or self.of_processes else None

    def _mean(self, name: str) -> float | None:
        told = self.means.get(name)
        return math.fsum(told) / len(told) if told else None


def _overlap(tree: SpanTree) -> tuple[float, float]:
    """Seconds that running calls at once saved, and could have saved at most; the longest is waited for."""
    around = _around_calls(tree)
    calls = sorted(
        (span.start_s, span.end_s)
        for span in tree.spans
        if span.phase in _OUTWARD and span.index not in around and span.duration_s > 0
    )
    if len(calls) < 2:
        return 0.0, 0.0
    lengths = [end_s - start_s for start_s, end_s in calls]
    whole_s = math.fsum(lengths)
    # Differences of sums that are equal but for rounding are no saving.
    saved_s = whole_s - _covered_s(calls)
    return (saved_s if saved_s > 1e-9 * whole_s else 0.0), whole_s - max(lengths)


def _around_calls(tree: SpanTree) -> set[int]:
    """Calls that other calls were made in: a tool that asks a model takes the time of that call."""
    around: set[int] = set()
    for span in tree.spans:
        above = span.parent if span.phase in _OUTWARD else None
        while above is not None and above not in around:
            around.add(above)
            above = tree.spans[above].parent
    return around


def _covered_s(intervals: Sequence[tuple[float, float]]) -> float:
    """Seconds in at least one of the intervals, which are in the order of their starts."""
    covered_s, until_s = 0.0, 0.0
    for start_s, end_s in intervals:
        covered_s += max(0.0, end_s - max(start_s, until_s))
        until_s = max(until_s, end_s)
    return covered_s
