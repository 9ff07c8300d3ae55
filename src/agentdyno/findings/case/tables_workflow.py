"""A workflow step by step: a line on the time axis, the command, how it ended, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.findings.case.judge_workflow import ShownStep, workflow_steps
from agentdyno.model import Sample
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import one_line, show

WIDTH = 24
"""Characters of the time axis."""
_TONES = {"done": Tone.GOOD, "failed": Tone.BAD, "skipped": Tone.MUTED, "not run": Tone.MUTED}


def workflow(sample: Sample) -> Table | None:
    """The steps with time from left to right; ``None`` for what is no workflow."""
    steps = workflow_steps(sample)
    if not steps:
        return None
    first = min(step.at_s for step in steps)
    span = max(max(step.at_s + (step.duration_s or 0.0) for step in steps) - first, 1e-9)
    columns = (
        Column("step", wrap=True),
        Column("state"),
        Column(f"{show(span, 's')} from left to right"),
        Column("took", Align.RIGHT),
        Column("exit", Align.RIGHT),
        Column("CPU", Align.RIGHT, 1),
        Column("memory", Align.RIGHT, 1),
        Column("command", wrap=True),
        Column("files and output", wrap=True, priority=1),
    )
    rows = tuple(_row(step, first, span) for step in steps)
    return Table("Workflow", columns, rows, (_note(steps),))


def _note(steps: Sequence[ShownStep]) -> str:
    critical = [step.name for step in steps if step.critical]
    return f"The longest way through the plan (━): {' → '.join(dict.fromkeys(critical))}." if critical else ""


def _row(step: ShownStep, first: float, span: float) -> tuple[Cell, ...]:
    details = step.details or {}
    name = f"{step.name} ({step.start})" if step.start else step.name
    tone = _TONES.get(step.state, Tone.PLAIN)
    return (
        Cell(one_line(name)),
        Cell(step.state, tone),
        Cell(_bar(step, first, span), tone),
        Cell("" if step.duration_s is None else show(step.duration_s, "s")),
        Cell(_text(details.get("exit_code"))),
        Cell(_figure(details.get("cpu_s"), "s")),
        Cell(_figure(details.get("peak_rss_bytes"), "bytes")),
        Cell(one_line(step.command, 300)),
        Cell(one_line(_files(details), 400)),
    )


def _bar(step: ShownStep, first: float, span: float) -> str:
    at = min(WIDTH - 1, int((step.at_s - first) / span * WIDTH))
    if step.duration_s is None:
        return "·" * at + ("○" if step.state == "skipped" else "×")
    length = max(1, round(step.duration_s / span * WIDTH))
    return "·" * at + ("━" if step.critical else "─") * min(length, WIDTH - at)


def _files(details: Mapping[str, object]) -> str:
    parts = []
    for key, word in (("files_read", "read"), ("files_written", "wrote")):
        names = details.get(key)
        if isinstance(names, (list, tuple)) and names:
            parts.append(f"{word} {', '.join(map(str, names[:8]))}")
    if details.get("why"):
        parts.append(str(details["why"]))
    if details.get("output"):
        parts.append(f"printed: {str(details['output']).strip()[-200:]}")
    return "; ".join(parts)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _figure(value: object, unit: str) -> str:
    return show(float(value), unit) if isinstance(value, (int, float)) else ""
