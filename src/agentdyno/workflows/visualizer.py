"""Pictures of a benchmark of workflows, as PNG files: distributions and intervals, on absolute scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.extras import need_extra
from agentdyno.show.axes import ACCENT, INK, LINES, MUTED, box, number_axis, png, strip, style
from agentdyno.workflows.metrics import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Summary = Mapping[str, Mapping[str, object]]
_COMPARED = (
    ("success_rate", "success rate", ""),
    ("execution_time_s", "execution time", "s"),
    ("steps_executed", "steps executed", ""),
    ("cpu_s", "CPU time", "s"),
    ("memory_mb", "peak memory", "MB"),
    ("tokens", "tokens", ""),
    ("cost_usd", "cost", "$"),
)


class BenchmarkVisualizer:
    """Draws rows and summary of ``BenchmarkMetrics``. What is unknown for every model is left out of a picture."""

    def __init__(self, rows: Sequence[Row], summary: Summary) -> None:
        self._rows = rows
        self._summary = summary
        self._models = list(summary)

    def create(self, folder: Path, benchmark_id: str) -> dict[str, str]:
        """Writes the pictures into ``folder``; their paths by name."""
        pictures: dict[str, Callable[[], Figure]] = {
            "execution_time": self._execution_time,
            "success_rate": self._success_rate,
            "smart_resume": self._smart_resume,
            "resource_usage": self._resource_usage,
            "model_comparison": self._comparison,
        }
        written = {}
        for name, draw in pictures.items():
            path = folder / f"{name}_{benchmark_id}.png"
            path.write_bytes(png(draw()))
            written[name] = str(path)
        return written

    def _figure(self, columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
        need_extra("plots", "a picture")
        from matplotlib.figure import Figure

        height = (0.9 + 0.45 * max(2, len(self._models))) * rows
        figure = Figure(figsize=(4.4 * columns, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        return figure, [item for line in axes for item in line]

    def _names(self, axes: Axes, labelled: bool = True) -> None:
        axes.set_yticks(range(len(self._models)), self._models if labelled else [""] * len(self._models))
        axes.set_ylim(len(self._models) - 0.5, -0.5)

    def _values(self, model: str, name: str) -> list[float]:
        own = [row for row in self._rows if row["model"] == model]
        return [float(value) for row in own if isinstance(value := row[name], (int, float))]

    def _spread(self, axes: Axes, name: str, title: str, labelled: bool = True) -> None:
        """Boxes with every value as a point."""
        every: list[float] = []
        for at, model in enumerate(self._models):
            values = self._values(model, name)
            every += values
            if values:
                box(axes, values, at, 0.5)
                strip(axes, values, at, 0.3)
        style(axes, "x")
        self._names(axes, labelled)
        axes.set_title(title if every else f"{title}: unknown", fontsize=9, color=INK, loc="left")
        if every:
            number_axis(axes, "x", [0.0, *every], log=False)
        axes.set_xlim(left=0)

    def _execution_time(self) -> Figure:
        figure, (axes,) = self._figure(1)
        self._spread(axes, "execution_time_s", "Execution time, planner and steps (s)")
        return figure

    def _success_rate(self) -> Figure:
        figure, (axes,) = self._figure(1)
        for at, model in enumerate(self._models):
            rate, around = self._summary[model]["success_rate"], self._summary[model]["success_rate_interval"]
            if isinstance(rate, (int, float)) and isinstance(around, list):
                axes.plot([100 * value for value in around], [at, at], color=MUTED, linewidth=1.5)
                axes.plot([100 * rate], [at], marker="o", color=ACCENT)
            else:
                axes.text(2, at, "no check: unknown", va="center", fontsize=8, color=MUTED)
        style(axes, "x")
        self._names(axes)
        axes.set_xlim(0, 100)
        axes.set_title(
            "Success by the check of the final state (%, with 95 % interval)", fontsize=9, loc="left", color=INK
        )
        return figure

    def _smart_resume(self) -> Figure:
        figure, parts = self._figure(3)
        self._spread(parts[0], "completed_steps_detected", "Completed steps detected (share)")
        self._spread(parts[1], "steps_skipped_ratio", "Steps skipped (share of the plan)", labelled=False)
        self._spread(parts[2], "time_saved_s", "Time saved against a full rerun (s)", labelled=False)
        for axes in parts[:2]:
            axes.set_xlim(0, 1.05)
        return figure

    def _resource_usage(self) -> Figure:
        figure, parts = self._figure(2)
        self._spread(parts[0], "memory_mb", "Peak memory of the processes of a step (MB)")
        self._spread(parts[1], "cpu_percent", "CPU while steps ran (% of one)", labelled=False)
        return figure

    def _comparison(self) -> Figure:
        """Every quantity on its own absolute scale from 0 on: nothing is normalised to the best of those present."""
        figure, parts = self._figure(4, 2)
        for axes, (name, title, unit) in zip(parts, _COMPARED, strict=False):
            known = []
            for at, model in enumerate(self._models):
                given = self._summary[model][name]
                value = given.get("median") if isinstance(given, Mapping) else given
                if isinstance(value, (int, float)):
                    known.append(float(value))
                    axes.barh([at], [value], height=0.5, color=LINES[at % len(LINES)])
                else:
                    axes.text(0, at, " unknown", va="center", fontsize=8, color=MUTED)
            style(axes, "x")
            self._names(axes, axes in (parts[0], parts[4]))
            axes.set_title(f"{title} ({unit})" if unit else title, fontsize=9, loc="left", color=INK)
            axes.set_xlim(0, max([*known, 1e-9]) * 1.1 if name != "success_rate" else 1.0)
        parts[-1].set_visible(False)
        return figure
