"""CSV: a row per arm and metric, and a row per raw sample, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path

from agentdyno.contracts import Report
from agentdyno.findings.catalogue import appendix, sections
from agentdyno.findings.run.tables import planned, statuses
from agentdyno.findings.standing.tables_csv import (
    AGENT,
    ANSWER,
    agent_rows,
    answer_values,
    scorer_headers,
    targets_of,
)
from agentdyno.findings.standing.tables_labels import is_suite, with_standings
from agentdyno.model import ArmResult, MetricSummary, RunResult, Sample, Status
from agentdyno.model.identity import canonical_json
from agentdyno.model.suite import slug
from agentdyno.reports.files import write_text
from agentdyno.show.table import Table
from agentdyno.show.wording import plain

Value = str | int | float | None

# A spreadsheet reads a cell that starts with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_ARM = ("run_id", "run", "arm_id", "arm", "side", "experiment", "params")
_FIGURES = (
    *("metric", "unit", "direction", "provenance", "n", "mean", "median", "ci_low", "ci_high", "p95", "p99"),
    *("std", "mad", "cv", "minimum", "maximum", "outliers", "mean_without_outliers"),
)
_SAMPLE = (
    *("phase", "iteration", "case_id", "instrument", "process", "seed", "inner_loops", "attempts"),
    *("status", "started_at_ms", "failure_kind", "failure_where", "failure_message"),
)


_COMPARED = (
    *("baseline", "candidate", "arm", "metric", "unit", "baseline_n", "candidate_n", "counted"),
    *("baseline_median", "candidate_median", "ratio", "ratio_low", "ratio_high", "p_value"),
    *("adjusted_p", "family", "threshold", "detectable", "verdict", "reason", "more_needed", "paired", "method"),
)


class CsvReporter:
    """Figures per arm and metric (summary.csv), raw samples (samples.csv), verdicts (comparison.csv).

    A suite's run adds the scores of its agents (agents.csv). Conclusions give one file per table, as shown.
    """

    name = "csv"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        written = []
        concluded = (*sections(report.findings), *appendix(report.findings))
        for number, table in enumerate((table for part in concluded for table in part.tables if table.rows), start=1):
            name = f"{slug(table.title) or 'table'}-{number}.csv"
            written.append(write_text(output_dir / name, _csv(_table_rows(table))))
        if report.results or not (report.findings.comparisons or concluded):
            written.append(write_text(output_dir / "summary.csv", summary_csv(report)))
            written.append(write_text(output_dir / "samples.csv", samples_csv(report)))
        if any(is_suite(result) for result in report.results):
            written.append(write_text(output_dir / "agents.csv", agents_csv(report)))
        if report.findings.comparisons:
            written.append(write_text(output_dir / "comparison.csv", comparison_csv(report)))
        return written


def _table_rows(table: Table) -> list[Sequence[Value]]:
    """As it is shown: a header and the cells."""
    head: Sequence[Value] = [column.header for column in table.columns]
    return [head, *([cell.whole for cell in row] for row in table.rows)]


def comparison_csv(report: Report) -> str:
    """One row per compared arm and metric, in base units."""
    rows: list[Sequence[Value]] = [_COMPARED]
    for comparison in report.findings.comparisons:
        for arm in comparison.arms:
            for row in arm.metrics:
                low, high = row.interval or (None, None)
                rows.append(
                    (
                        *(comparison.baseline, comparison.candidate, arm.name, row.metric.name, row.metric.unit),
                        *(
                            row.baseline_n,
                            row.candidate_n,
                            row.unit,
                            row.baseline,
                            row.candidate,
                            row.ratio,
                            low,
                            high,
                        ),
                        *(row.p_value, row.adjusted_p, row.family, row.threshold, row.detectable),
                        *(row.verdict and row.verdict.value, row.reason),
                        *(row.more_samples, row.paired, row.method),
                    )
                )
    return _csv(rows)


def summary_csv(report: Report) -> str:
    """One row per arm and metric, in base units; an arm without metrics still has a row."""
    counts = tuple(status.value for status in Status)
    rows: list[Sequence[Value]] = [(*_ARM, "planned", "samples_total", *counts, *_FIGURES)]
    for result in report.results:
        for arm in result.arms:
            seen = statuses(arm)
            head = (*_arm(result, arm), planned(arm), arm.samples_total, *(seen.get(name, 0) for name in counts))
            figures = [_figures(name, metric) for name, metric in sorted(arm.metrics.items())]
            rows += [(*head, *row) for row in figures or [(None,) * len(_FIGURES)]]
    return _csv(rows)


def samples_csv(report: Report) -> str:
    """One row per sample; a column per reading, score and usage, empty where a sample has none.

    Samples of a suite also have their benchmark, agent, target, answer, and where the cost comes from.
    """
    answers = any(is_suite(result) for result in report.results)
    samples = [sample for result in report.results for arm in result.arms for sample in arm.samples]
    readings = _names(sample.readings for sample in samples)
    scores = _names(sample.scores for sample in samples)
    usage = _names(sample.usage for sample in samples)
    extra = (*readings, *(f"score.{name}" for name in scores), *(f"usage.{name}" for name in usage))
    rows: list[Sequence[Value]] = [(*_ARM, *_SAMPLE, *extra, *(ANSWER if answers else ()))]
    for result in report.results:
        wanted = targets_of(result) if answers else {}
        for arm in result.arms:
            head = _arm(result, arm)
            for sample in arm.samples:
                values = (
                    *(sample.readings.get(name) for name in readings),
                    *(sample.scores.get(name) for name in scores),
                    *(sample.usage.get(name) for name in usage),
                )
                told = answer_values(arm, sample, wanted.get((arm.benchmark, sample.case_id))) if answers else ()
                rows.append((*head, *_sample(sample), *values, *told))
    return _csv(rows)


def agents_csv(report: Report) -> str:
    """One row per agent of a suite's run: scores in 0..1 with their intervals, and what each scorer says."""
    told = with_standings(report)
    rows = [row for result in report.results for row in agent_rows(told, result)]
    return _csv([(*AGENT, *scorer_headers(told)), *rows])


def guarded(value: Value) -> Value:
    """Text that a spreadsheet would run gets a leading apostrophe; numbers stay; not finite is empty."""
    if isinstance(value, str):
        # The csv module does not quote a lone carriage return, which would then end the row.
        clean = plain(value).replace("\r\n", "\n").replace("\r", "\n")
        return f"'{clean}" if value.startswith(_FORMULA) else clean
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _csv(rows: Iterable[Sequence[Value]]) -> str:
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([guarded(value) for value in row] for row in rows)
    return stream.getvalue()


def _arm(result: RunResult, arm: ArmResult) -> tuple[Value, ...]:
    side = arm.side.value if arm.side else None
    params = canonical_json(arm.params)
    return (result.run_id, result.name, arm.arm_id, arm.name, side, arm.experiment, params)


def _figures(name: str, metric: MetricSummary) -> tuple[Value, ...]:
    low, high = metric.ci or (None, None)
    return (
        *(name, metric.unit, metric.direction.value, metric.provenance.value, metric.n),
        *(metric.mean, metric.median, low, high, metric.p95, metric.p99, metric.std, metric.mad, metric.cv),
        *(metric.minimum, metric.maximum, metric.outliers, metric.mean_without_outliers),
    )


def _sample(sample: Sample) -> tuple[Value, ...]:
    failure = sample.failure
    told: tuple[Value, ...] = (failure.kind.value, failure.where, failure.message) if failure else (None,) * 3
    return (
        *(sample.phase.value, sample.iteration, sample.case_id, sample.instrument, sample.process, sample.seed),
        *(sample.inner_loops, sample.attempts, sample.status.value, sample.started_at_ms, *told),
    )


def _names(mappings: Iterable[Mapping[str, float | None]]) -> tuple[str, ...]:
    return tuple(sorted({name for mapping in mappings for name in mapping}))
