"""Every sample as an OpenMetrics series with its time, for Prometheus to take in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentdyno.contracts import Report
from agentdyno.model import ArmResult, RunResult, Sample
from agentdyno.reports.files import write_text

FILE = "metrics.prom"
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]+")
_UNITS = (("_bytes_per_s", "_bytes_per_second"), ("_per_s", "_per_second"), ("_usd", "_dollars"), ("_s", "_seconds"))


class PrometheusReporter:
    """Writes ``metrics.prom``. ``promtool tsdb create-blocks-from openmetrics metrics.prom`` imports it."""

    def write(self, report: Report, output_dir: Path) -> Sequence[Path]:
        return [write_text(output_dir / FILE, openmetrics(report.results))]


def openmetrics(results: Iterable[RunResult]) -> str:
    """One family a reading, one series an arm and status, one line a sample; times are UTC seconds."""
    families: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for result in results:
        for arm in result.arms:
            for sample in arm.samples:
                if sample.usable:
                    _add(families, result, arm, sample)
    lines = []
    for name in sorted(families):
        lines.append(f"# TYPE {name} gauge")
        for labels, points in families[name].items():
            lines += [f"{name}{{{labels}}} {value!r} {at / 1000:.3f}" for at, value in _ascending(points)]
    return "\n".join([*lines, "# EOF", ""])


def _add(
    families: dict[str, dict[str, list[tuple[int, float]]]], result: RunResult, arm: ArmResult, sample: Sample
) -> None:
    pairs = {"run": result.run_id, "name": result.name, "experiment": arm.experiment, "arm": arm.name}
    if arm.agent:
        pairs["agent"] = arm.agent
    if arm.observed.get("simulated") is True:
        pairs["simulated"] = "true"
    labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in pairs.items())
    for reading, value in sample.readings.items():
        families.setdefault(metric_name(reading), {}).setdefault(labels, []).append(
            (sample.started_at_ms, float(value))
        )


def metric_name(reading: str) -> str:
    """``latency_p99_s`` as ``dyno_latency_p99_seconds``."""
    for ours, theirs in _UNITS:
        if reading.endswith(ours):
            reading = reading.removesuffix(ours) + theirs
            break
    return "dyno_" + _NOT_A_NAME.sub("_", reading).strip("_")


def _ascending(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """In the order of time; of several samples in one millisecond the later ones move on, as no two may share one."""
    found: list[tuple[int, float]] = []
    last = -1
    for at, value in sorted(points, key=lambda point: point[0]):
        last = max(at, last + 1)
        found.append((last, value))
    return found


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
