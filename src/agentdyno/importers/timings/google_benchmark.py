"""Files of google-benchmark (``--benchmark_format=json``, ``--benchmark_out``): repetitions and aggregates."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from agentdyno.importers.content import outline, typed
from agentdyno.importers.document import ImportedDocument, Node, read_document
from agentdyno.importers.timings.assemble import Aggregate, ImportedArm, Machine, TimingSeries, assemble, measured
from agentdyno.model import (
    Direction,
    Failure,
    FailureKind,
    Metric,
    MetricSummary,
    RunResult,
    RunWarning,
    Sample,
    Status,
    known_metric,
)

_SECONDS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
_TIMES = {"real_time": "duration_s", "cpu_time": "cpu_s"}
_OWN_KEYS = frozenset(
    {
        *("name", "run_name", "run_type", "family_index", "per_family_instance_index", "label", "threads"),
        *("repetitions", "repetition_index", "iterations", "real_time", "cpu_time", "time_unit"),
        *("aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped", "skip_message"),
    }
)
_CLOCKS = ("real_time", "process_time", "manual_time")
_FITS = ("BigO", "RMS")
_PARTS = re.compile(r"(?:<[^>]*>|[^/<])+|<")


class GoogleBenchmarkImporter:
    """C++ benchmarks of google-benchmark: every repetition, else the aggregates; counters as ``result.<name>``."""

    name = "google-benchmark"
    description = "google-benchmark JSON output (--benchmark_format=json)"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        keys = outline(head)
        return {"context.num_cpus", "context.date"} <= keys

    def read(self, path: Path) -> Sequence[RunResult]:
        document = read_document(path)
        return [assemble(_found(document), document)]


def _found(document: ImportedDocument) -> ImportedArm:
    context = document.root.at("context")
    rows: defaultdict[str, list[Node]] = defaultdict(list)
    skipped = 0
    for row in document.root.at("benchmarks").elements():
        kind = row.get("aggregate_name")
        if kind is not None and kind.text() in _FITS:
            continue  # a curve fitted through the times of other rows
        passed_over = row.get("skipped")
        if passed_over is not None and passed_over.flag():
            skipped += 1
            continue
        rows[_run_name(row)].append(row)
    executable, version = context.get("executable"), context.get("library_version")
    return ImportedArm(
        "google-benchmark",
        "" if version is None else version.text(),
        document.stem if executable is None else PurePosixPath(executable.text()).name or document.stem,
        [_series(name, group) for name, group in rows.items()],
        _machine(context),
        started_at=context.at("date").time_ms(),
        warnings=[RunWarning("left-out", f"{skipped} benchmarks were skipped and have no values")] if skipped else [],
    )


def _run_name(row: Node) -> str:
    """The name without the suffix of an aggregate; releases before 1.5 have no ``run_name``."""
    given = row.get("run_name") or row.at("name")
    return given.text()


def _series(name: str, rows: Sequence[Node]) -> TimingSeries:
    experiment, params = _arguments(name)
    raw = [row for row in rows if row.get("aggregate_name") is None]
    if raw:
        metrics = {metric.name: metric for row in raw for metric in _counters(row)}
        samples = [_sample(i, row) for i, row in enumerate(raw)]
        return TimingSeries(experiment, name, params, samples, metrics)
    return TimingSeries(experiment, name, params, aggregates=_aggregates(rows))


def _sample(iteration: int, row: Node) -> Sample:
    failed = row.get("error_occurred")
    if failed is not None and failed.flag():
        message = row.get("error_message")
        failure = Failure(FailureKind.EXCEPTION, "no message" if message is None else message.text())
        return replace(measured(iteration, {}), status=Status.ERROR, failure=failure)
    readings = {own: row.at(key).amount() / _scale(row) for key, own in _TIMES.items()}
    readings |= {metric.name: row.at(metric.name.removeprefix("result.")).number() for metric in _counters(row)}
    return measured(iteration, readings, inner_loops=row.at("iterations").count(1))


def _scale(row: Node) -> float:
    unit = row.at("time_unit")
    if unit.value not in _SECONDS:
        raise unit.expected(f"one of {', '.join(_SECONDS)}")
    return _SECONDS[unit.text()]


def _counters(row: Node) -> list[Metric]:
    """Numbers that the benchmark itself reports. Only rates of bytes and items are known to be better when higher."""
    return [
        Metric(
            f"result.{key}",
            {"bytes_per_second": "bytes/s", "items_per_second": "/s"}.get(key, ""),
            Direction.HIGHER if key in ("bytes_per_second", "items_per_second") else Direction.UNKNOWN,
        )
        for key, node in row.items()
        if key not in _OWN_KEYS and _is_number(node.value)
    ]


def _is_number(value: object) -> bool:
    """A counter may divide by zero, and is then left out."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and not (isinstance(value, float) and not math.isfinite(value))


def _aggregates(rows: Sequence[Node]) -> dict[str, MetricSummary]:
    """Summaries from the rows for mean, median and so on."""
    kinds = {row.at("aggregate_name").text(): row for row in rows}
    for needed in ("mean", "median"):
        if needed not in kinds:
            raise rows[0].fail(f"is an aggregate, and there is none for the {needed} of {_run_name(rows[0])}")
    mean = kinds["mean"]
    n = (mean.get("repetitions") or mean.at("iterations")).count(1)
    scale = _scale(mean)
    columns = [(key, known_metric(own), scale) for key, own in _TIMES.items()]
    columns += [(metric.name.removeprefix("result."), metric, 1.0) for metric in _counters(mean)]
    return {metric.name: _aggregate(kinds, key, divisor, n).summary(metric) for key, metric, divisor in columns}


def _aggregate(kinds: Mapping[str, Node], key: str, divisor: float, n: int) -> Aggregate:
    def figure(kind: str) -> float | None:
        if kind not in kinds or kinds[kind].get(key) is None:
            return None
        node = kinds[kind].at(key)
        return (node.amount() if key in _TIMES else node.number()) / divisor

    mean, median = figure("mean"), figure("median")
    if mean is None or median is None:
        raise kinds["mean"].fail(f"has a {key} whose mean or median is missing")
    return Aggregate(n, mean, median, figure("stddev"), figure("min"), figure("max"))


def _arguments(name: str) -> tuple[str, dict[str, object]]:
    """``Family/64/size:8/real_time`` as family and typed parameters; nameless arguments are ``arg0``, ``arg1``."""
    parts = _PARTS.findall(name) or [name]
    family, params = [parts[0]], dict[str, object]()
    nameless = 0
    for part in parts[1:]:
        key, colon, value = part.partition(":")
        if colon and key and value and "::" not in part:
            params[key] = typed(value)
        elif isinstance(typed(part), int | float):
            params[f"arg{nameless}"] = typed(part)
            nameless += 1
        elif part in _CLOCKS:
            params["clock"] = part
        else:
            family.append(part)
    return "/".join(family), params


def _machine(context: Node) -> Machine:
    details: dict[str, object] = {}
    for key in ("mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled", "library_build_type", "load_avg"):
        given = context.get(key)
        if given is not None:
            details[key] = given.plain()
    caches = context.get("caches")
    return Machine(
        cpu_count=context.at("num_cpus").count(),
        details=details,
        marks=None if caches is None else caches.plain(),
    )
