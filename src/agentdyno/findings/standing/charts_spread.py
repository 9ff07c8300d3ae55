"""How the cases of each agent are distributed in one metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.run.charts_points import thin, wants_log
from agentdyno.model.metric import known_metric
from agentdyno.model.record import AgentRecord
from agentdyno.show.axes import MUTED, box, number_axis, strip, style
from agentdyno.show.wording import agent_names, axis_scale, label, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AGENTS = 30
_MOST_DOTS = 300
_LABEL = 28
_WORDS = {
    "score": "score of a case",
    "cost_usd": "cost per execution",
    "total_tokens": "tokens per execution",
    "input_tokens": "input tokens per execution",
    "output_tokens": "output tokens per execution",
    "ttft_s": "time to first token",
}
_UNITS = {"usd": "$", "ratio": ""}


def spread_chart(records: Sequence[AgentRecord], metric: str = "duration_s") -> Figure:
    """Per agent a box and a dot per case: of ``score``, or of what an execution uses (``duration_s``, ``cost_usd``…).

    At most 30 agents; those of which no case has the metric are left out.
    """
    from matplotlib.figure import Figure

    names = agent_names(record.agent for record in records)
    found = [(names[record.agent], _values(record, metric)) for record in records]
    shown = [(name, values) for name, values in found if values][:MOST_AGENTS]
    figure = Figure(figsize=(6.4, 0.9 + 0.42 * max(3, len(shown))), layout="constrained")
    axes = figure.subplots()
    if not shown:
        axes.set_axis_off()
        text = f"not known of any case: {_WORDS.get(metric, label(metric))}"
        axes.text(0.5, 0.5, text, ha="center", va="center", color=MUTED, transform=axes.transAxes)
        return figure
    # An agent that uses none of it (a free one) must not squeeze the others into a linear axis that starts at 0.
    everything = sorted(value for _, values in shown if any(values) for value in values) or [0.0]
    log = wants_log(everything)
    unit = known_metric(metric).unit
    scale, unit = axis_scale(unit, everything[len(everything) // 2])
    for row, (_, values) in enumerate(shown):
        if log and not any(values):
            axes.annotate("always 0", (0.01, row), xycoords=("axes fraction", "data"), color=MUTED, va="center")
            continue
        scaled = [value / scale for value in values]
        strip(axes, [value for _, value in thin(scaled, _MOST_DOTS)], row + 0.22, 0.2)
        box(axes, scaled, row - 0.14, 0.28)
    style(axes, grid="x")
    number_axis(axes, "x", [value / scale for value in everything], log=log)
    if metric == "score":
        axes.set_xlim(-0.03, 1.03)
    axes.set_yticks(range(len(shown)), [shortened(name, _LABEL) for name, _ in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    inside = ", ".join(part for part in (_UNITS.get(unit, unit), "log" if log else "") if part)
    axes.set_xlabel(_WORDS.get(metric, label(metric)) + (f" ({inside})" if inside else ""))
    return figure


def _values(record: AgentRecord, metric: str) -> list[float]:
    found = [case.score if metric == "score" else case.used.get(metric) for case in record.cases]
    return [value for value in found if value is not None and math.isfinite(value)]
