"""Tables about single cases: which broke, which rule says what of them, which are quarantined."""

from __future__ import annotations

from agentdyno.findings.gate.model import BrokenCase, GateReport, GateVerdict, PolicyRow, Tries
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import count, one_line

SIGNS = {
    GateVerdict.PASS: "✓ PASS",
    GateVerdict.WARN: "! WARN",
    GateVerdict.BLOCK: "✗ BLOCK",
    GateVerdict.INCONCLUSIVE: "? INCONCLUSIVE",
}
TONES = {
    GateVerdict.PASS: Tone.GOOD,
    GateVerdict.WARN: Tone.WARN,
    GateVerdict.BLOCK: Tone.BAD,
    GateVerdict.INCONCLUSIVE: Tone.WARN,
}


def broken_table(report: GateReport, most: int) -> Table:
    """The cases that were right in every try and are wrong in every one, then those that pass less often."""
    columns = (
        Column("case", wrap=True),
        Column("right", Align.RIGHT),
        Column("score", Align.RIGHT, 2),
        Column("want", wrap=True),
        Column("got", wrap=True),
        Column("why", priority=1, wrap=True, below=True),
    )
    shown = report.broken[:most]
    left = len(report.broken) - len(shown)
    notes = [f"{count(left, 'more broken case')}."] if left else []
    if report.fixed:
        notes.append(f"{count(len(report.fixed), 'case')} that failed before {_verb(len(report.fixed))} now.")
    return Table(broken_title(report), columns, tuple(_case(item) for item in shown), tuple(notes))


def broken_title(report: GateReport) -> str:
    """``2 broken cases: right in every try before, wrong in every one now``; those that only fell are told apart."""
    steady = sum(item.steady for item in report.broken)
    fell = len(report.broken) - steady
    parts = []
    if steady:
        parts.append(f"{count(steady, 'broken case')}: right in every try before, wrong in every one now")
    if fell:
        parts.append(f"{count(fell, 'case')} that fell below the pass threshold, the worst first")
    return "; ".join(parts)


def policy_table(report: GateReport) -> Table:
    """What the rules about cases say, in the order in which they were judged."""
    columns = (
        Column("rule", wrap=True),
        Column("asked", wrap=True, priority=1),
        Column("found", wrap=True),
        Column("verdict"),
        Column("note", wrap=True, below=True, priority=2),
    )
    rows = tuple(
        (
            Cell(one_line(row.rule)),
            Cell(one_line(row.asked), Tone.MUTED),
            Cell(one_line(row.found)),
            Cell(SIGNS[row.verdict], TONES[row.verdict]),
            Cell(one_line(row.reason, 500), Tone.MUTED),
        )
        for row in report.policies
    )
    return Table("Rules about cases", columns, rows)


def quarantine_table(report: GateReport) -> Table:
    columns = (Column("case", wrap=True), Column("right", Align.RIGHT), Column("until"), Column("reason", wrap=True))
    tries = {item.key: item.after for item in report.cases}
    rows = tuple(
        (
            Cell(one_line(f"{item.key.benchmark}/{item.key.case_id}")),
            Cell(tries_short(tries.get(item.key, Tries()))),
            Cell(item.until),
            Cell(one_line(item.reason, 300), Tone.MUTED),
        )
        for item in report.quarantined
    )
    title = f"{count(len(report.quarantined), 'quarantined case')}, not judged"
    return Table(title, columns, rows)


def tries_short(found: Tries) -> str:
    """``4/5``; ``-`` where it was not tried."""
    return f"{found.passed}/{found.tries}" if found.tries else "-"


def right_words(item: BrokenCase) -> str:
    """``5/5 → 0/5``."""
    return f"{tries_short(item.before)} → {tries_short(item.after)}"


def score_words(item: BrokenCase) -> str:
    """``1.00 → 0.20``; ``error`` where no execution gave a score."""
    return f"{item.baseline:.2f} → {'error' if item.candidate is None else f'{item.candidate:.2f}'}"


def policy_words(row: PolicyRow) -> str:
    """``must_pass: must pass and does not: q1``."""
    return one_line(f"{row.rule}: {row.reason}", 500)


def _verb(number: int) -> str:
    return "passes" if number == 1 else "pass"


def _case(item: BrokenCase) -> tuple[Cell, ...]:
    return (
        Cell(f"{one_line(item.key.benchmark)}/{one_line(item.key.case_id)}"),
        Cell(right_words(item), Tone.BAD if item.steady else Tone.WARN),
        Cell(score_words(item)),
        Cell(one_line(item.want, 200)),
        Cell(one_line(item.got, 200)),
        Cell(one_line(item.why, 300), Tone.MUTED),
    )
