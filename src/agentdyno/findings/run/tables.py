"""Tables of one run: its arms, their further metrics, their configuration and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agentdyno.findings.figures.normalised import SPENT
from agentdyno.model import Direction, Phase, Status
from agentdyno.registry.installed import has_windows
from agentdyno.settings.result import ROWS
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import (
    NOTHING,
    count,
    is_returned,
    marked,
    one_line,
    percent,
    settings,
    shortened,
    show,
    times_faster,
    with_interval,
)

if TYPE_CHECKING:
    from agentdyno.model import ArmResult, MetricComparison, MetricSummary, Plan, RunResult, Sample

CONSOLE_DETAILS = 12
"""Metrics without a direction that are listed per arm where room is short."""

_SUMMARISED = ("duration_s", "cpu_s", "rss_bytes", "peak_rss_bytes", "throughput_per_s")
_PROBLEMS = tuple(status for status in Status if status is not Status.OK)


def statuses(arm: ArmResult) -> Mapping[str, int]:
    """Samples per status; counted from the samples where the result does not carry the counts."""
    if arm.statuses:
        return arm.statuses
    return Counter(sample.status.value for sample in arm.samples if sample.phase is Phase.MEASURED)


def planned(arm: ArmResult) -> int:
    """Measured samples that the plan asked of the arm, never fewer than were taken."""
    return max(arm.planned, sum(statuses(arm).values()))


def has_usable(arm: ArmResult) -> bool:
    """Whether any sample of the arm can enter a statistic."""
    seen = statuses(arm)
    return bool(seen.get(Status.OK, 0) or seen.get(Status.FAILED, 0))


def problems(arm: ArmResult) -> str:
    """``2 error, 1 timeout``, or nothing."""
    seen = statuses(arm)
    return ", ".join(f"{seen[status]} {status.value}" for status in _PROBLEMS if seen.get(status))


def arm_name(arm: ArmResult) -> str:
    """The arm's name with its side, where it has one."""
    name = one_line(arm.name) or arm.arm_id
    return name if arm.side is None or arm.side.value in name else f"{name} ({arm.side.value})"


def failure_samples(arms: Iterable[ArmResult]) -> list[tuple[ArmResult, Sample]]:
    """Every sample that did not end well, of any phase, in order."""
    return [(arm, sample) for arm in arms for sample in arm.samples if sample.status is not Status.OK]


def summary(result: RunResult) -> Table:
    """One row per arm: how many samples, how long, how spread, how much."""
    if has_windows(result.kind):
        return _windows(result)
    troubled = any(problems(arm) for arm in result.arms)
    columns = [
        Column("arm", wrap=True, heading=True),
        Column("ok", Align.RIGHT),
        Column("median [95 % interval]", Align.RIGHT),
        Column("p95", Align.RIGHT, 2),
        Column("CV", Align.RIGHT, 1),
        Column("CPU time", Align.RIGHT, 2),
        Column("peak memory", Align.RIGHT, 3),
        Column("throughput", Align.RIGHT, 4),
    ]
    if troubled:
        columns.insert(2, Column("not ok", wrap=True))
    ratios = _ratios(result)
    if ratios:
        columns.insert(3 + troubled, Column(f"than {shortened(arm_name(result.arms[0]), 24)}", Align.RIGHT, 1))
    rows = []
    for arm in result.arms:
        row = _summary_row(arm)
        if ratios:
            than = ratios.get(arm.arm_id)
            row.insert(3, Cell(NOTHING if than is None else times_faster(than.ratio, than.interval)))
        if troubled:
            row.insert(2, Cell(problems(arm) or NOTHING, Tone.BAD if problems(arm) else Tone.MUTED))
        rows.append(tuple(row))
    return Table("Arms", tuple(columns), tuple(rows), _summary_notes(result))


def _ratios(result: RunResult) -> Mapping[str, MetricComparison]:
    if len(result.arms) < 2:
        return {}
    from agentdyno.findings.engine.match import (
        ratios_to_first,  # loads what compares: runs of one arm need none of it
    )

    return ratios_to_first(result)


_OF_WINDOWS = (
    ("asked", "asked_per_s"),
    ("done", "throughput_per_s"),
    ("p50", "latency_p50_s"),
    ("p99", "latency_p99_s"),
    ("ttft p50", "ttft_p50_s"),
    ("itl p50", "itl_p50_s"),
    ("tokens", "tokens_per_s"),
    ("lag p99", "lag_p99_s"),
    ("unread p99", "unread_p99_s"),
    ("client core", "client_cpu"),
)


def _windows(result: RunResult) -> Table:
    """A load run's arms: what its windows have in the middle."""
    shown = [pair for pair in _OF_WINDOWS if any(pair[1] in arm.metrics for arm in result.arms)]
    columns = (
        Column("scenario", wrap=True, heading=True),
        Column("windows", Align.RIGHT, 1),
        *(Column(header, Align.RIGHT, 0 if place < 4 else 2) for place, (header, _) in enumerate(shown)),
    )
    rows = tuple(
        (
            Cell(arm_name(arm)),
            Cell(f"{len(arm.samples):,}", Tone.MUTED),
            *(_cell(arm.metrics.get(name), "median") for _, name in shown),
        )
        for arm in result.arms
    )
    return Table("Windows", columns, rows, ("Medians over the windows of each scenario.",))


def _summary_row(arm: ArmResult) -> list[Cell]:
    duration = arm.metrics.get("duration_s")
    done, wanted = statuses(arm).get(Status.OK, 0), planned(arm)
    peak = arm.metrics.get("peak_rss_bytes") or arm.metrics.get("rss_bytes")
    return [
        Cell(arm_name(arm)),
        Cell(f"{done}/{wanted}", Tone.PLAIN if done == wanted and wanted else Tone.WARN),
        _median(duration),
        _cell(duration, "p95"),
        Cell(percent(duration.cv) if duration else NOTHING, _spread_tone(duration)),
        _cell(arm.metrics.get("cpu_s"), "median"),
        _cell(peak, "median"),
        _cell(arm.metrics.get("throughput_per_s"), "median"),
    ]


def _summary_notes(result: RunResult) -> tuple[str, ...]:
    lines = []
    for arm in result.arms:
        duration = arm.metrics.get("duration_s")
        if duration and duration.outliers and duration.mean_without_outliers is not None:
            means = [show(value, duration.unit) for value in (duration.mean, duration.mean_without_outliers)]
            told = f"mean {means[0]} with, {means[1]} without" if means[0] != means[1] else "the mean stays as it is"
            lines.append(f"{arm_name(arm)}: {count(duration.outliers, 'outlier')} of {duration.n}; {told}.")
    if len(lines) > 8:
        lines = [*lines[:8], f"{len(lines) - 8} more arms have outliers."]
    if result.overhead_s is not None:
        lines.append(f"The harness itself costs {show(result.overhead_s, 's')} per timed call.")
    spent_s = sum(arm.metrics[SPENT].mean for arm in result.arms if SPENT in arm.metrics)
    if spent_s > 0:
        lines.append(f"Reference readings between samples took {show(spent_s, 's')} in all.")
    return tuple(lines)


def declared(result: RunResult) -> Table | None:
    """The further metrics that have a direction, and scores: what can be judged beside time and memory."""
    columns = (
        Column("arm", wrap=True, heading=True),
        Column("metric", wrap=True),
        Column("better", priority=3),
        Column("median [95 % interval]", Align.RIGHT),
        Column("mean", Align.RIGHT, 2),
        Column("p95", Align.RIGHT, 4),
        Column("n", Align.RIGHT, 1),
    )
    rows: list[tuple[Cell, ...]] = []
    for arm in result.arms:
        for name, metric in _further(arm):
            if metric.direction is Direction.UNKNOWN:
                continue
            rows.append(
                (
                    Cell(arm_name(arm)),
                    Cell(one_line(name)),
                    Cell(metric.direction.value, Tone.MUTED),
                    _median(metric),
                    _cell(metric, "mean"),
                    _cell(metric, "p95"),
                    Cell(str(metric.n)),
                )
            )
        rows += [_score_row(arm, name, value) for name, value in arm.scores.items()]
    return Table("Declared metrics", columns, tuple(rows)) if rows else None


def _score_row(arm: ArmResult, name: str, value: float | None) -> tuple[Cell, ...]:
    score = show(value, "ratio")
    blank = Cell(NOTHING, Tone.MUTED)
    return (
        Cell(arm_name(arm)),
        Cell(f"score {one_line(name)}"),
        Cell("higher", Tone.MUTED),
        Cell(score, Tone.MUTED if value is None else Tone.PLAIN),
        blank,
        blank,
        blank,
    )


def details(result: RunResult, per_arm: int | None = None, *, brief: bool = False) -> Table | None:
    """Metrics without a direction: shown, never judged. At most ``per_arm`` of each arm.

    ``brief`` keeps what the measured code returned and leaves the instruments' readings to other places.
    """
    columns = (
        Column("arm", wrap=True, heading=True),
        Column("metric", wrap=True),
        Column("median", Align.RIGHT),
        Column("minimum", Align.RIGHT, 2),
        Column("maximum", Align.RIGHT, 2),
        Column("n", Align.RIGHT, 1),
    )
    rows, left_out = [], 0
    for arm in result.arms:
        unjudged = [(name, metric) for name, metric in _further(arm) if metric.direction is Direction.UNKNOWN]
        if brief:
            unjudged = [(name, metric) for name, metric in unjudged if is_returned(name)]
        left_out += max(0, len(unjudged) - per_arm) if per_arm is not None else 0
        for name, metric in unjudged[:per_arm]:
            cells = (_cell(metric, "median"), _cell(metric, "minimum"), _cell(metric, "maximum"))
            rows.append((Cell(arm_name(arm)), Cell(one_line(name)), *cells, Cell(str(metric.n))))
    notes = (f"{count(left_out, 'more metric')} in the other report formats.",) if left_out else ()
    return Table("Other readings", columns, tuple(rows), notes) if rows else None


def configuration(result: RunResult) -> Table | None:
    """What each arm was asked to be and what it was observed to be."""
    if not any(arm.params or arm.observed for arm in result.arms):
        return None
    columns = (
        Column("arm", wrap=True, heading=True),
        Column("experiment", priority=1, wrap=True),
        Column("parameters", wrap=True),
        Column("observed", wrap=True),
    )
    rows = tuple(
        (
            Cell(arm_name(arm)),
            Cell(one_line(arm.experiment)),
            Cell(settings(arm.params) or NOTHING),
            Cell(settings(arm.observed) or NOTHING),
        )
        for arm in result.arms
    )
    return Table("Configuration", columns, rows)


def failures(result: RunResult, limit: int = ROWS) -> Table | None:
    """What failed, equal failures counted together, at most ``limit`` rows."""
    groups: dict[tuple[str, str, str, str, str], int] = {}
    for arm, sample in failure_samples(result.arms):
        failure = sample.failure
        key = (
            arm_name(arm),
            sample.status.value,
            failure.kind.value if failure else NOTHING,
            failure.where if failure else sample.phase.value,
            one_line(failure.message, 400) if failure else "",
        )
        groups[key] = groups.get(key, 0) + 1
    if not groups:
        return None
    columns = (
        Column("arm", wrap=True, heading=True),
        Column("status"),
        Column("kind", priority=2),
        Column("where", priority=1),
        Column("times", Align.RIGHT, 1),
        Column("message", wrap=True),
    )
    rows = tuple(
        (
            Cell(arm),
            Cell(status, Tone.MUTED if status == Status.CANCELLED else Tone.BAD),
            Cell(kind),
            Cell(one_line(where)),
            Cell(str(times)),
            Cell(message or NOTHING),
        )
        for (arm, status, kind, where, message), times in list(groups.items())[:limit]
    )
    left_out = len(groups) - len(rows)
    notes = (f"{count(left_out, 'more kind')} of failure in the result file.",) if left_out else ()
    return Table("Failures", columns, rows, notes)


def _further(arm: ArmResult) -> list[tuple[str, MetricSummary]]:
    return [(name, metric) for name, metric in sorted(arm.metrics.items()) if name not in _SUMMARISED]


def _median(metric: MetricSummary | None) -> Cell:
    if metric is None or metric.n == 0:
        return Cell(NOTHING, Tone.MUTED)
    return Cell(marked(with_interval(metric.median, metric.ci, metric.unit), metric.provenance))


def _cell(metric: MetricSummary | None, figure: str) -> Cell:
    if metric is None or metric.n == 0:
        return Cell(NOTHING, Tone.MUTED)
    value = {
        "median": metric.median,
        "mean": metric.mean,
        "p95": metric.p95,
        "minimum": metric.minimum,
        "maximum": metric.maximum,
    }[figure]
    return Cell(marked(show(value, metric.unit), metric.provenance))


def _spread_tone(metric: MetricSummary | None) -> Tone:
    return Tone.WARN if metric is not None and metric.cv is not None and metric.cv > 0.1 else Tone.PLAIN


def plan_table(plan: Plan, measured: Mapping[str, int]) -> Table:
    """One row per arm: calls to warm up, samples, instrumented passes, parameters."""
    passes = dict.fromkeys((arm.arm_id for arm in plan.arms), 0)
    for trial in plan.trials:
        passes[trial.arm_id] += trial.phase is Phase.INSTRUMENTED
    columns = (
        Column("arm", wrap=True, heading=True),
        Column("warm-up", Align.RIGHT),
        Column("measured", Align.RIGHT),
        Column("instrumented", Align.RIGHT),
        Column("parameters", wrap=True, priority=1),
    )
    rows = tuple(
        (
            Cell(arm.name),
            Cell(str(plan.warmups.get(arm.arm_id, 0))),
            Cell(str(measured[arm.arm_id])),
            Cell(str(passes[arm.arm_id])),
            Cell(settings(arm.params)),
        )
        for arm in plan.arms
    )
    return Table("Plan", columns, rows)
