"""Tables of a gate: what decided, what explains it, and which cases broke."""

from __future__ import annotations

from collections.abc import Iterator

from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.gate.judge_rules import allowed, spelled
from agentdyno.findings.gate.model import GateReport, GateRow, GateVerdict
from agentdyno.findings.gate.tables_cases import SIGNS, TONES, broken_table, policy_table, quarantine_table
from agentdyno.model.policy import Tier
from agentdyno.show.section import Lead, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, count, label, one_line, show, side_by_side

MOST_BROKEN = 20
"""Broken cases that are listed unless the caller says otherwise."""


def gate_tables(report: GateReport, most_broken: int = MOST_BROKEN) -> list[Table]:
    """What was seen first: the cases that broke, and the rules about cases. Then what it means for others: the judged
    metrics; then, where there are any, figures per benchmark and quarantined cases."""
    tables = [broken_table(report, most_broken)] if report.broken else []
    if report.policies:
        tables.append(policy_table(report))
    tables.append(_metrics(report))
    if report.benchmark_rows:
        tables.append(_benchmarks(report))
    if report.quarantined:
        tables.append(quarantine_table(report))
    return tables


def gate_title(report: GateReport) -> str:
    """``BLOCK: agent@1 → agent@2``."""
    return f"{report.verdict.value}: {gate_sides(report)}"


def gate_sides(report: GateReport) -> str:
    return f"{one_line(report.baseline)} → {one_line(report.candidate)}"


def verdict_words(row: GateRow) -> str:
    """A sign and a word. What does not count, or could not be judged and does not have to be, reads so."""
    if row.rule.tier is Tier.ADVISORY:
        return "shown only"
    if row.exceeded is None and row.verdict is GateVerdict.PASS:
        return "not judged"
    return SIGNS[row.verdict]


def rule_name(row: GateRow) -> str:
    """The metric, and of an experiment the arm before it."""
    metric = label(row.rule.metric)
    return f"{one_line(row.row.benchmark)}: {metric}" if row.row.benchmark else metric


def change_words(row: PairedRow) -> str:
    """``+12.0 %``, or of a score ``-0.042``; ``-`` where it is not known."""
    if row.change is None:
        return NOTHING
    sign = "+" if row.change > 0 else "-" if row.change < 0 else ""
    return f"{sign}{_size(row.change, row)}"


def limit_words(row: GateRow) -> str:
    """How much worse it may be, in the terms of the change."""
    return _size(allowed(row.rule, row.row), row.row)


def _size(amount: float, row: PairedRow) -> str:
    """Scores stand beside scores, so their differences are on the same scale and not in points."""
    return f"{abs(amount):.3f}" if row.unit == "ratio" and not row.relative else spelled(amount, row)


def _metrics(report: GateReport) -> Table:
    columns = (
        Column("metric", wrap=True),
        Column("tier", priority=1),
        Column("baseline", Align.RIGHT),
        Column("candidate", Align.RIGHT),
        Column("change", Align.RIGHT),
        Column("allowed", Align.RIGHT, 2),
        Column("verdict"),
        Column("note", priority=3, wrap=True, below=True),
    )
    rows = tuple(
        (
            Cell(name),
            Cell(row.rule.tier.value, Tone.MUTED),
            Cell(baseline),
            Cell(candidate),
            Cell(change_words(row.row)),
            Cell(limit_words(row)),
            Cell(verdict_words(row), _tone(row)),
            Cell(one_line(row.reason), Tone.MUTED),
        )
        for row in report.rows
        for name, (baseline, candidate) in [_sides(row)]
    )
    return Table(gate_title(report), columns, rows, tuple(_notes(report)))


def _sides(row: GateRow) -> tuple[str, list[str]]:
    return side_by_side(rule_name(row), (row.row.baseline, row.row.candidate), row.row.unit)


def _tone(row: GateRow) -> Tone:
    quiet = row.rule.tier is Tier.ADVISORY or (row.exceeded is None and row.verdict is GateVerdict.PASS)
    return Tone.MUTED if quiet else TONES[row.verdict]


def _notes(report: GateReport) -> list[str]:
    notes = [f"{one_line(report.summary)}."] if report.summary and not report.rows else []
    notes += [
        " ".join(filter(None, (f"{one_line(item.message)}.", one_line(item.remedy)))) for item in report.warnings
    ]
    return notes


def _benchmarks(report: GateReport) -> Table:
    columns = (
        Column("benchmark", wrap=True),
        Column("metric"),
        Column("baseline", Align.RIGHT),
        Column("candidate", Align.RIGHT),
        Column("change", Align.RIGHT),
        Column("cases", Align.RIGHT, 1),
        Column("better", Align.RIGHT, 2),
        Column("worse", Align.RIGHT, 2),
    )
    changed = [row for row in report.benchmark_rows if row.change != 0]
    rows = tuple(
        (
            Cell(one_line(row.benchmark)),
            Cell(label(row.metric)),
            Cell(show(row.baseline, row.unit)),
            Cell(show(row.candidate, row.unit)),
            Cell(change_words(row)),
            Cell(str(row.cases)),
            Cell(str(row.wins)),
            Cell(str(row.losses)),
        )
        for row in changed
    )
    notes = ["These rows explain; the suite as a whole decides."] if rows else []
    if len(changed) < len(report.benchmark_rows):
        notes.append(f"{count(len(report.benchmark_rows) - len(changed), 'row')} without any change left out.")
    return Table("Per benchmark", columns if rows else (), rows, tuple(notes))


def sections(found: Conclusions) -> Iterator[Section]:
    """One per gate that was asked."""
    for report in found.gates:
        word, tone = SIGNS[report.verdict], TONES[report.verdict]
        name = f"{one_line(report.suite)}: " if report.suite else ""
        lead = Lead(word, f"{name}{gate_sides(report)}. {one_line(report.summary)}", tone)
        yield Section(f"Gate: {gate_sides(report)}", lead, tuple(gate_tables(report)))
