"""Files of pyperf (``-o FILE``), of format version 1.0, which pyperf writes since its release 1.0; gzipped or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.importers.content import outline
from agentdyno.importers.document import ImportedDocument, Node, read_document
from agentdyno.importers.timings.assemble import ImportedArm, Machine, TimingSeries, assemble, measured
from agentdyno.model import Direction, Metric, Phase, RunResult, Sample, known_metric

_METRICS = {
    "second": known_metric("duration_s"),
    "byte": Metric("memory_bytes", "bytes", Direction.LOWER),
    "integer": Metric("result.value"),
}
_RUN_KEYS = {f"benchmarks[].runs[].{key}" for key in ("values", "warmups", "metadata")}
_DETAILS = ("aslr", "cpu_affinity", "cpu_config", "cpu_freq", "load_avg_1min", "python_compiler", "timer")


class PyperfImporter:
    """Benchmarks of pyperf: every value with its process, warm-ups and calibration included."""

    name = "pyperf"
    description = "pyperf JSON files (.json, .json.gz)"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return bool(_RUN_KEYS & outline(head))

    def read(self, path: Path) -> Sequence[RunResult]:
        document = read_document(path)
        return [assemble(_found(document), document)]


@dataclass(frozen=True, slots=True)
class _Scope:
    """Metadata by key; those of a run override its benchmark's, and those the file's."""

    known: Mapping[str, Node] = field(default_factory=dict)

    def within(self, node: Node) -> _Scope:
        own = node.get("metadata")
        return self if own is None else _Scope({**self.known, **dict(own.items())})

    def text(self, key: str) -> str:
        return self.known[key].text() if key in self.known else ""

    def count(self, key: str, default: int, least: int = 0) -> int:
        return self.known[key].count(least) if key in self.known else default


def _found(document: ImportedDocument) -> ImportedArm:
    root = document.root
    version = root.at("version")
    if version.value != "1.0":
        raise version.expected('the format version "1.0"')
    common = _Scope().within(root)
    dates: list[tuple[int, int]] = []
    benchmarks = root.at("benchmarks").elements()
    series = [_series(node, common.within(node), dates) for node in benchmarks]
    return ImportedArm(
        "pyperf",
        common.text("perf_version") or common.text("pyperf_version"),
        document.stem,
        series,
        _machine(_scopes(benchmarks[0], common.within(benchmarks[0]))[0]) if benchmarks else Machine(),
        started_at=min((start for start, _ in dates), default=None),
        finished_at=max((end for _, end in dates), default=None),
        notes=common.text("description"),
    )


def _series(node: Node, scope: _Scope, dates: list[tuple[int, int]]) -> TimingSeries:
    runs, scopes = node.at("runs").elements(), _scopes(node, scope)
    name = scopes[0].text("name")
    if not name:
        raise node.fail("has no name in its metadata")
    unit = scopes[0].text("unit") or "second"
    if unit not in _METRICS:
        raise scopes[0].known["unit"].expected(f"one of {', '.join(_METRICS)}")
    metric = _METRICS[unit]
    warmups: list[Sample] = []
    values: list[Sample] = []
    for process, (run, own) in enumerate(zip(runs, scopes, strict=True)):
        at_ms = _date(own, dates)
        warmups += _numbered(_warmups(run, own, metric.name, at_ms), len(warmups), process, Phase.WARMUP)
        values += _numbered(_values(run, own, metric.name, at_ms), len(values), process, Phase.MEASURED)
    return TimingSeries(
        name, name, samples=(*warmups, *values), metrics={metric.name: metric}, observed=_statement(scope)
    )


def _scopes(benchmark: Node, scope: _Scope) -> list[_Scope]:
    """The metadata of each run of a benchmark; there is at least one."""
    runs = benchmark.at("runs")
    scopes = [scope.within(run) for run in runs.elements()]
    if not scopes:
        raise runs.fail("holds no run")
    return scopes


def _numbered(samples: Iterator[Sample], first: int, process: int, phase: Phase) -> list[Sample]:
    return [
        replace(sample, iteration=iteration, process=process, phase=phase)
        for iteration, sample in enumerate(samples, first)
    ]


def _values(run: Node, scope: _Scope, metric: str, at_ms: int) -> Iterator[Sample]:
    given = run.get("values")
    if given is None:
        return  # a run that only found out how many loops to make
    timed = metric == "duration_s"  # a size is of the whole process, however often it went round
    loops = scope.count("loops", 1, 1) * scope.count("inner_loops", 1, 1) if timed else 1
    peak = {"peak_rss_bytes": float(scope.count("mem_max_rss", 0))} if "mem_max_rss" in scope.known else {}
    for i, value in enumerate(given.amounts()):
        if value == 0:
            raise given.elements()[i].expected("a number above 0")
        yield measured(0, {metric: value, **peak}, inner_loops=loops, at_ms=at_ms)


def _warmups(run: Node, scope: _Scope, metric: str, at_ms: int) -> Iterator[Sample]:
    given = run.get("warmups")
    inner = scope.count("inner_loops", 1, 1)
    for pair in given.elements() if given is not None else ():
        parts = pair.elements()
        if len(parts) != 2:
            raise pair.expected("a pair of loops and value")
        yield measured(0, {metric: parts[1].amount()}, inner_loops=parts[0].count(1) * inner, at_ms=at_ms)


def _date(scope: _Scope, dates: list[tuple[int, int]]) -> int:
    """When the run began, 0 where it does not say; its beginning and end are added to ``dates``."""
    if "date" not in scope.known:
        return 0
    start = scope.known["date"].time_ms()
    lasted_s = scope.known["duration"].amount() if "duration" in scope.known else 0.0
    if lasted_s > 1e9:
        raise scope.known["duration"].expected("a duration in seconds")
    dates.append((start, start + round(lasted_s * 1000)))
    return start


def _statement(scope: _Scope) -> dict[str, object]:
    keys = ("description", "timeit_setup", "timeit_stmt")
    return {key: scope.text(key) for key in keys if key in scope.known}


def _machine(scope: _Scope) -> Machine:
    platform = scope.text("platform")  # such as Linux-6.1.0-x86_64-with-glibc2.36
    parts = re.fullmatch(
        r"([A-Za-z]+)-(.+?)-(x86_64|AMD64|aarch64|arm64|i[3-6]86|ppc64le|riscv64|s390x)\b.*", platform
    )
    details = {key: scope.known[key].plain() for key in _DETAILS if key in scope.known}
    return Machine(
        os=f"{parts[1]} {parts[3]}" if parts else platform.split("-")[0],
        kernel=parts[2] if parts else "",
        cpu_model=scope.text("cpu_model_name"),
        cpu_count=scope.count("cpu_count", 0),
        python=scope.text("python_version").split(" ")[0],
        implementation=scope.text("python_implementation"),
        details={**details, "time_zone": "not in the file, taken as UTC"},
    )
