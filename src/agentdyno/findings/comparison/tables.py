"""Tables of a comparison: what was judged, what was only seen, and on what ground."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.model import ArmComparison, Comparison, Direction, MetricComparison, Verdict
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import (
    is_returned,
    label,
    marked,
    one_line,
    percent,
    ratio_text,
    show,
    verdict_text,
    verdict_tone,
)

_LISTED = 10

_COLUMNS = (
    Column("arm", wrap=True, heading=True),
    Column("metric", wrap=True),
    Column("baseline", Align.RIGHT, 1),
    Column("candidate", Align.RIGHT, 1),
    Column("ratio [interval]", Align.RIGHT),
    Column("verdict"),
    Column("visible from", Align.RIGHT, 3),
    Column("note", priority=2, wrap=True, below=True),
)


def comparison(value: Comparison) -> Table:
    """One row per judged metric; the notes say how the two sides were measured and what had no partner."""
    return Table(comparison_title(value), _COLUMNS, _rows(value, judged=True), ground(value))


def unjudged(value: Comparison, *, brief: bool = False) -> Table | None:
    """The metrics that are shown and not judged, each with the reason.

    ``brief`` leaves the readings of instruments out, which have no direction and seldom more than one value.
    """
    rows = _rows(value, judged=False, brief=brief)
    return Table("Seen, not judged", _COLUMNS, rows) if rows else None


def comparison_title(value: Comparison) -> str:
    return f"{one_line(value.baseline)} → {one_line(value.candidate)}"


def tally(value: Comparison) -> str:
    """``1 worse, 2 same`` over the judged metrics."""
    seen = [row.verdict for arm in value.arms for row in arm.metrics if row.verdict is not None]
    order = (Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.INCONCLUSIVE)
    parts = [f"{seen.count(verdict)} {verdict.value}" for verdict in order if verdict in seen]
    return ", ".join(parts) or "nothing could be judged"


def ground(value: Comparison) -> tuple[str, ...]:
    """How the sides were measured, the noise floor in force, and the arms without a partner."""
    lines = [_how_measured(value)]
    if value.noise_floor is not None:
        lines.append(f"Noise floor of this machine: {percent(value.noise_floor)}; smaller changes are not judged.")
    else:
        lines.append("Noise floor: not measured on this machine (`dyno doctor --calibrate` measures it).")
    visible = [
        row.detectable for arm in value.arms for row in arm.metrics if row.verdict and row.detectable is not None
    ]
    if visible:
        least, most = percent(min(visible)), percent(max(visible))
        span = least if least == most else f"{least} to {most}, depending on the row"
        lines.append(f"Smallest change that these samples can show: {span}.")
    if not value.arms:
        lines.append("No arm has a partner on the other side.")
    for side, names in (("baseline", value.only_in_baseline), ("candidate", value.only_in_candidate)):
        if names:
            lines.append(f"Only in the {side}: {_listed(names)}.")
    return tuple(lines)


def _how_measured(value: Comparison) -> str:
    if value.paired:
        return "Paired: both sides ran interleaved in one run."
    if any(row.unit == "runs" for arm in value.arms for row in arm.metrics):
        return (
            "Separate runs: what depends on the machine is held against the spread between runs, at 1 %; "
            "times are normalised ones where both sides have them."
        )
    return "Unpaired: the two sides ran at different times, so a drift of the machine counts as a change."


def note(row: MetricComparison) -> str:
    """Why there is no verdict, and what would decide it."""
    parts = []
    if row.reason and row.verdict in (None, Verdict.INCONCLUSIVE):
        parts.append(one_line(row.reason).rstrip("."))
    if row.more_samples is not None and row.verdict is Verdict.INCONCLUSIVE and row.more_samples > 0:
        parts.append(f"{row.more_samples:,} more {row.unit} per side would decide")
    return "; ".join(parts)


def compared_arm(arm: ArmComparison) -> str:
    """The arm's name, with the parameters that differ on purpose."""
    name = one_line(arm.name)
    if not arm.differing:
        return name
    pairs = (
        f"{key} {one_line(str(old), 30)} → {one_line(str(new), 30)}" for key, (old, new) in arm.differing.items()
    )
    return f"{name} ({', '.join(pairs)})"


def _rows(value: Comparison, *, judged: bool, brief: bool = False) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            Cell(compared_arm(arm)),
            Cell(marked(label(row.metric.name), row.metric.provenance)),
            Cell(show(row.baseline, row.metric.unit)),
            Cell(show(row.candidate, row.metric.unit)),
            Cell(ratio_text(row.ratio, row.interval)),
            Cell(verdict_text(row.verdict), verdict_tone(row.verdict)),
            Cell(percent(row.detectable), Tone.MUTED),
            Cell(note(row), Tone.MUTED),
        )
        for arm in value.arms
        for row in arm.metrics
        if (row.verdict is not None) is judged
        and not (brief and row.metric.direction is Direction.UNKNOWN and not is_returned(row.metric.name))
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name) for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"
