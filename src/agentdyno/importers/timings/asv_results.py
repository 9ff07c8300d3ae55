"""The table inside a result file of asv: one row per benchmark, one value per combination of parameters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agentdyno.importers.content import literal
from agentdyno.importers.document import ImportedDocument, Node
from agentdyno.importers.timings.assemble import TimingSeries, measured
from agentdyno.model import Direction, Failure, FailureKind, Metric, Sample, Status, known_metric

_MOST = 100_000


@dataclass(frozen=True, slots=True)
class AsvBenchmark:
    """What ``benchmarks.json`` says of one: the names of its parameters, and the metric that its values are of."""

    version: str
    param_names: tuple[str, ...]
    metric: Metric


@dataclass(frozen=True, slots=True)
class AsvRow:
    """One benchmark of a result file. ``left_out`` values are skipped or outdated, ``aggregated`` ones are medians
    without their samples; ``started_at`` is UTC ms."""

    series: tuple[TimingSeries, ...] = ()
    left_out: int = 0
    aggregated: int = 0
    started_at: int | None = None
    lasted_s: float = 0.0


def read_benchmarks(document: ImportedDocument) -> dict[str, AsvBenchmark]:
    """The benchmarks that asv knows now, by name."""
    found = {}
    for name, node in document.root.items():
        if name == "version":
            continue
        names = tuple(element.text() for element in node.at("param_names").elements())
        version = node.get("version")
        found[name] = AsvBenchmark("" if version is None else str(version.plain()), names, _metric(name, node))
    return found


def _metric(name: str, node: Node) -> Metric:
    kind, given = node.at("type").text(), node.get("unit")
    unit = "" if given is None else given.text()
    if kind.startswith("time") and unit == "seconds":
        return known_metric("duration_s")
    if kind == "peakmemory":
        return known_metric("peak_rss_bytes")
    if kind == "memory":
        return Metric("memory_bytes", "bytes", Direction.LOWER)
    short = name.rsplit(".", 1)[-1].removeprefix("track_")
    return Metric(f"result.{short}", "" if unit == "unit" else unit)


def read_series(root: Node, known: Mapping[str, AsvBenchmark]) -> Iterator[AsvRow]:
    """The rows of ``results``, in the order of the file."""
    columns = [element.text() for element in root.at("result_columns").elements()]
    for needed in ("result", "params"):
        if needed not in columns:
            raise root.at("result_columns").fail(f"has no column {needed!r}")
    for name, node in root.at("results").items():
        cells = node.elements()
        if len(cells) > len(columns):
            raise node.fail(f"has {len(cells)} columns, and only {len(columns)} are named")
        row = {column: cell for column, cell in zip(columns, cells, strict=False) if cell.value is not None}
        yield _row(name, node, row, known.get(name))


def _row(name: str, node: Node, row: Mapping[str, Node], benchmark: AsvBenchmark | None) -> AsvRow:
    if "params" not in row:
        raise node.fail("says nothing about its parameters")
    choices = [[item.text() for item in choice.elements()] for choice in row["params"].elements()]
    size = math.prod(len(choice) for choice in choices)
    if size > _MOST:
        raise row["params"].fail(f"has more than {_MOST} combinations")
    version = row.get("version")
    outdated = benchmark is not None and version is not None and version.plain() != benchmark.version
    if benchmark is None or outdated:
        return AsvRow(left_out=size)
    if len(choices) != len(benchmark.param_names):
        raise row["params"].fail(f"has {len(choices)} parameters, and {name} has {len(benchmark.param_names)}")
    started, lasted = row.get("started_at"), row.get("duration")
    found = AsvRow(
        started_at=None if started is None else started.epoch_ms(),
        lasted_s=0.0 if lasted is None else min(lasted.amount(), 1e9),
    )
    return _filled(found, name, row, benchmark, list(itertools.product(*choices)))


def _filled(
    found: AsvRow, name: str, row: Mapping[str, Node], benchmark: AsvBenchmark, combinations: Sequence[Sequence[str]]
) -> AsvRow:
    values = _cells(row.get("result"), len(combinations))
    series, left_out, aggregated = [], 0, 0
    columns = {key: _cells(row.get(key), len(combinations)) for key in ("samples", "stats_number", "stats_repeat")}
    for place, combination in enumerate(combinations):
        value = values[place]
        if value is not None and isinstance(value.value, float) and math.isnan(value.value):
            left_out += 1  # skipped: it does not apply to these parameters
            continue
        raw = columns["samples"][place]
        samples = _samples(value, raw, columns["stats_number"][place], benchmark.metric, found.started_at)
        observed: dict[str, object] = {}
        repeat = columns["stats_repeat"][place]
        if value is not None and raw is None and repeat is not None:
            aggregated += 1
            observed["repeat"] = repeat.count()
        params = {key: literal(text) for key, text in zip(benchmark.param_names, combination, strict=True)}
        label = f"({', '.join(combination)})" if combination else ""
        metrics = {benchmark.metric.name: benchmark.metric}
        series.append(TimingSeries(name, name + label, params, samples, metrics, observed=observed))
    return replace(found, series=tuple(series), left_out=left_out, aggregated=aggregated)


def _cells(column: Node | None, size: int) -> list[Node | None]:
    """A column as one cell per combination; a column that is absent or null has none."""
    if column is None:
        return [None] * size
    cells = column.elements()
    if len(cells) != size:
        raise column.fail(f"has {len(cells)} values for {size} combinations of parameters")
    return [cell if cell.value is not None else None for cell in cells]


def _samples(
    value: Node | None, raw: Node | None, number: Node | None, metric: Metric, started_at: int | None
) -> list[Sample]:
    """Every recorded value, or the one that asv keeps; asv keeps no message of what failed."""
    at_ms = started_at or 0
    if value is None:
        failure = Failure(FailureKind.EXCEPTION, "failed under asv, which keeps no message")
        return [replace(measured(0, {}, at_ms=at_ms), status=Status.ERROR, failure=failure)]
    single = value.number() if metric.name.startswith("result.") else value.amount()
    loops = 1 if number is None else number.count(1)
    values = [single] if raw is None else raw.amounts()
    if not values and raw is not None:
        raise raw.expected("at least one sample")
    return [measured(i, {metric.name: item}, inner_loops=loops, at_ms=at_ms) for i, item in enumerate(values)]
