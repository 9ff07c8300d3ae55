"""Charts as matplotlib figures, without pyplot: nothing global is opened or left behind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agentdyno.findings.run.charts_points import ArmValues, Sweep, sweep_title, thin, wants_log
from agentdyno.findings.run.tables_profiles import ProfileSeries
from agentdyno.show.axes import ACCENT, GRID, INK, LINES, MUTED, box, is_constant, legend, number_axis, strip, style
from agentdyno.show.wording import axis_scale, label, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 40
"""Arms that one overview shows."""
_PANEL = (4.6, 2.5)
_MARKERS = "osD^vPXd"
_DASHES = ("-", "--", "-.", ":", "-", "--", "-.", ":")


@contextmanager
def drawing() -> Iterator[None]:
    """Within it figures are made and saved: own fonts and sizes, names never read as formulas."""
    import warnings

    import matplotlib

    settings: dict[Any, Any] = {
        "font.size": 8.5,
        "text.parse_math": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "agentdyno",
        "path.simplify": False,
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A name in a script that the chart's font lacks is still right in an SVG, and no reason to fail.
        warnings.simplefilter("ignore")
        yield


def run_order(data: ArmValues) -> Figure:
    """Every sample in the order in which it ran, with the median and its interval."""
    figure, axes = _panel()
    _run_order(axes, data)
    return figure


def distribution(data: ArmValues) -> Figure:
    """A histogram above a box with every sample."""
    figure = _figure(*_PANEL)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.25))
    _histogram(upper, lower, data)
    return figure


def arm_rows(arms: Sequence[ArmValues]) -> Figure:
    """Run order and distribution of each arm, one row each: for a file that stands alone."""
    figure = _figure(9.2, 2.7 * max(1, len(arms)))
    if not arms:
        _say(figure.subplots(), "no usable sample")
        return figure
    for part, data in zip(_rows(figure, len(arms)), arms, strict=True):
        part.suptitle(_short(data.name, 90), fontsize=9.5, color=INK, x=0.01, ha="left")
        left, right = part.subfigures(1, 2, squeeze=False)[0]
        _run_order(left.subplots(), data)
        upper, lower = right.subplots(2, 1, sharex=True, height_ratios=(3, 1.25))
        _histogram(upper, lower, data)
    return figure


def overview(arms: Sequence[ArmValues]) -> Figure:
    """One row per arm: box, samples, median. At most ``MOST_ROWS`` arms."""
    shown = [data for data in arms[:MOST_ROWS] if data.values]
    figure = _figure(_PANEL[0], 0.7 + 0.29 * max(3, len(shown)))
    axes = figure.subplots()
    if not shown:
        _say(axes, "no usable sample")
        return figure
    everything = [value for data in shown for value in data.values]
    log = wants_log(everything)
    scale, unit = axis_scale(shown[0].unit, _typical(everything))
    for row, data in enumerate(shown):
        values = [value / scale for value in data.values]
        strip(axes, [value for _, value in thin(values, 200)], row + 0.22, 0.16)
        box(axes, values, row - 0.14, 0.3)
    axes.set_yticks(range(len(shown)), [_short(data.name, 28) for data in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    style(axes, grid="x")
    number_axis(axes, "x", [value / scale for value in everything], log=log)
    axes.set_xlabel(_named(label(shown[0].metric), unit, log))
    return figure


def sweep_chart(sweep: Sweep) -> Figure:
    """The median with its interval against the swept parameter, one line per combination of the others."""
    figure = _figure(_PANEL[0], 3.1)
    _sweep(figure.subplots(), sweep)
    return figure


def sweep_rows(found: Sequence[Sweep]) -> Figure:
    """One sweep below the other, with titles: for a file that stands alone."""
    figure = _figure(7.2, 3.8 * len(found))
    for part, sweep in zip(_rows(figure, len(found)), found, strict=True):
        part.suptitle(_short(f"{sweep.experiment}: {sweep_title(sweep)}", 90), fontsize=10, color=INK)
        _sweep(part.subplots(), sweep)
    return figure


def series_chart(series: ProfileSeries) -> Figure:
    """Memory and CPU use of one sample against time."""
    columns = [
        (values, name) for values, name in ((series.rss_bytes, "memory"), (series.cpu_percent, "CPU")) if values
    ]
    figure = _figure(_PANEL[0], 0.7 + 0.95 * len(columns))
    every = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (values, name) in zip(every, columns, strict=True):
        known = [value for value in values if math.isfinite(value)] or [0.0]
        scale, unit = axis_scale("bytes", max(known)) if name == "memory" else (1.0, "%")
        step = max(1, math.ceil(len(values) / 600))
        ys = [value / scale for value in values[::step]]
        axes.plot(series.t_s[::step], ys, color=ACCENT, linewidth=1.3)
        style(axes, grid="y")
        number_axis(axes, "y", [value / scale for value in known], log=False)
        axes.set_ylabel(_named(name, unit, False))
    number_axis(every[-1], "x", list(series.t_s), log=False)
    every[-1].set_xlabel("seconds since the start")
    return figure


def _sweep(axes: Axes, sweep: Sweep) -> None:
    medians = [point.median for line in sweep.lines for point in line.points]
    xs = sorted({point.x for line in sweep.lines for point in line.points})
    scale, unit = axis_scale(sweep.unit, _typical(medians))
    for index, line in enumerate(sweep.lines):
        color = LINES[index % len(LINES)]
        ys = [point.median / scale for point in line.points]
        errors = [point.interval or (point.median, point.median) for point in line.points]
        low = [max(0.0, y - error[0] / scale) for y, error in zip(ys, errors, strict=True)]
        high = [max(0.0, error[1] / scale - y) for y, error in zip(ys, errors, strict=True)]
        axes.errorbar(
            [point.x for point in line.points],
            ys,
            yerr=[low, high],
            color=color,
            ecolor=color,
            marker=_MARKERS[index % len(_MARKERS)],
            linestyle=_DASHES[index % len(_DASHES)],
            markersize=4.5,
            linewidth=1.4,
            capsize=2.5,
            label=_short(line.label, 40) or None,
        )
    style(axes, grid="both")
    number_axis(axes, "x", xs, log=wants_log(xs), exact=True)
    number_axis(axes, "y", [median / scale for median in medians], log=wants_log(medians))
    axes.set_xlabel(_named(one_line(sweep.parameter), "", wants_log(xs)))
    axes.set_ylabel(_named(label(sweep.metric), unit, wants_log(medians)))
    if any(line.label for line in sweep.lines):
        legend(axes)


def _run_order(axes: Axes, data: ArmValues) -> None:
    if not data.values:
        _say(axes, "no usable sample")
        return
    scale, unit = axis_scale(data.unit, _typical(data.values))
    points = thin(data.values)
    if data.interval is not None:
        low, high = data.interval
        axes.axhspan(low / scale, high / scale, color=ACCENT, alpha=0.18, linewidth=0)
    if data.median is not None:
        axes.axhline(data.median / scale, color=ACCENT, linewidth=1.3)
    axes.plot(
        [x for x, _ in points], [y / scale for _, y in points], "o", color=INK, markersize=2.6, alpha=0.7, mew=0
    )
    style(axes, grid="y")
    number_axis(axes, "y", [value / scale for value in data.values], log=wants_log(data.values))
    axes.margins(x=0.03)
    number_axis(axes, "x", [1, len(data.values)], log=False, whole=True)
    axes.set_xlabel("sample, in run order")
    axes.set_ylabel(_named(label(data.metric), unit, wants_log(data.values)))


def _histogram(upper: Axes, lower: Axes, data: ArmValues) -> None:
    if not data.values:
        _say(upper, "no usable sample")
        _say(lower, "")
        return
    import numpy

    scale, unit = axis_scale(data.unit, _typical(data.values))
    values = numpy.asarray(data.values) / scale
    low, high = float(values.min()), float(values.max())
    if is_constant(data.values):
        pad = abs(high) * 0.05 or 1.0
        low, high = low - pad, high + pad
    bins = min(40, max(5, math.isqrt(len(values)) * 2))
    counts, edges = numpy.histogram(values, bins=bins, range=(low, high))
    upper.bar(edges[:-1], counts, numpy.diff(edges), align="edge", color=ACCENT, alpha=0.75, edgecolor=GRID, lw=0.5)
    if data.median is not None:
        upper.axvline(data.median / scale, color=INK, linewidth=1.0, linestyle="--")
    style(upper, grid="y")
    number_axis(upper, "y", [0, int(counts.max())], log=False, whole=True)
    upper.set_ylabel("samples")
    strip(lower, [value / scale for _, value in thin(data.values, 300)], 0.75, 0.5)
    box(lower, list(values), 0.05, 0.55)
    lower.set_ylim(-0.5, 1.2)
    style(lower, grid="")
    lower.set_yticks([])
    number_axis(lower, "x", list(values), log=False)
    lower.set_xlabel(_named(label(data.metric), unit, False))


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _panel() -> tuple[Figure, Axes]:
    figure = _figure(*_PANEL)
    return figure, figure.subplots()


def _rows(figure: Figure, number: int) -> list[Figure]:
    parts = figure.subfigures(number, 1, squeeze=False)
    return [row[0] for row in parts]


def _say(axes: Axes, text: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color=MUTED, transform=axes.transAxes)


def _typical(values: Sequence[float]) -> float:
    ordered = sorted(abs(value) for value in values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def _named(name: str, unit: str, log: bool) -> str:
    inside = ", ".join(part for part in (unit, "log" if log else "") if part)
    return f"{name} ({inside})" if inside else name


def _short(text: str, most: int) -> str:
    """The beginning and the end of a long name: arms of a sweep differ at the end."""
    if len(text) <= most:
        return text
    head = most // 2 - 1
    return f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"
