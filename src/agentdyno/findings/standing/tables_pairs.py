"""Every pair of agents that was judged, by name."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.findings.standing.model import HeadToHead
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, agent_names, verdict_text, verdict_tone


def pairs_tables(pairs: Sequence[HeadToHead]) -> list[Table]:
    """One row a pair: accuracies, difference with its 95 % interval, verdict about the second one."""
    if not pairs:
        return []
    names = agent_names([agent for pair in pairs for agent in (pair.candidate, pair.baseline)])
    columns = (
        Column("pair", wrap=True),
        Column("accuracy", Align.RIGHT),
        Column("points [95 % interval]", Align.RIGHT),
        Column("verdict"),
        Column("p", Align.RIGHT, 2),
        Column("cases", Align.RIGHT, 1),
    )
    rows = tuple(
        (
            Cell(f"{names[pair.baseline]} → {names[pair.candidate]}"),
            Cell(f"{_points(pair.baseline_mean)} → {_points(pair.candidate_mean)}"),
            Cell(_difference(pair)),
            Cell(verdict_text(pair.verdict), verdict_tone(pair.verdict)),
            Cell(NOTHING if pair.adjusted_p is None else f"{pair.adjusted_p:.2g}", Tone.MUTED),
            Cell(f"{pair.cases:,}", Tone.MUTED),
        )
        for pair in pairs
    )
    return [Table("Pairs that were judged", columns, rows, (f"p is corrected over {len(pairs)} pairs.",))]


def _points(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.0f}"


def _difference(pair: HeadToHead) -> str:
    if pair.difference is None:
        return NOTHING
    text = f"{100 * pair.difference:+.0f}"
    if pair.interval is None:
        return text
    return f"{text} [{100 * pair.interval[0]:+.0f}, {100 * pair.interval[1]:+.0f}]"
