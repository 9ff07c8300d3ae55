"""What changed against its baseline, as tables: the worst first, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.findings.change.model import (
    BETTER,
    CASES,
    HISTORY,
    INCONCLUSIVE,
    NO_BASELINE,
    SAME,
    WORSE,
    Alert,
    ChangeRow,
    Changes,
)
from agentdyno.findings.change.words import history_beside_text
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.duel.words import change_text, is_unjudged
from agentdyno.findings.gate.words import case_names
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Severity
from agentdyno.model.metric import money_spent
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, count, label, one_line, show, when

MOST_CASES = 12
"""Broken cases that are named of each agent."""
MOST_ALERTS = 20
"""Alerts that are listed; ``--json`` has all of them."""
_SIGNS = {WORSE: "✗", INCONCLUSIVE: "?", BETTER: "✓", SAME: "=", NO_BASELINE: "·"}
_TONES = {WORSE: Tone.BAD, INCONCLUSIVE: Tone.WARN, BETTER: Tone.GOOD, NO_BASELINE: Tone.MUTED}
_BARS = "▁▂▃▄▅▆▇█"
_SPARK = 16
"""Points of a history that are drawn."""


def changes_tables(changes: Changes, alerts: Sequence[Alert] = ()) -> list[Table]:
    """The cases that were seen to break; a row per agent and suite, with today's spending; then the alerts that
    nobody has acknowledged."""
    made = [_rows(changes)]
    if any(row.steady_broken for row in changes.rows):
        made.insert(0, _broken(changes))
    if alerts:
        made.append(_alerts(alerts))
    return made


def _broken(changes: Changes) -> Table:
    columns = (
        Column("agent", wrap=True),
        Column("suite", wrap=True),
        Column("cases", Align.RIGHT),
        Column("which", wrap=True),
    )
    rows = tuple(
        (
            Cell(one_line(row.agent)),
            Cell(one_line(row.suite_id)),
            Cell(f"{len(row.steady_broken):,}", Tone.BAD),
            Cell(one_line(case_names(row.steady_broken, MOST_CASES))),
        )
        for row in changes.rows
        if row.steady_broken
    )
    return Table("Broke: right in every try of the baseline, wrong in every one now", columns, rows)


def _rows(changes: Changes) -> Table:
    columns = (
        Column("verdict", wrap=True),
        Column("agent", wrap=True),
        Column("suite", wrap=True),
        Column("against", wrap=True, priority=2),
        Column("since", wrap=True, priority=1),
        Column("accuracy", Align.RIGHT),
        Column("time per case", Align.RIGHT),
        Column("cost per case", Align.RIGHT, 1),
        Column("p95", Align.RIGHT, 4),
        Column("broke:fixed", Align.RIGHT, 3),
        Column("history", priority=5),
        Column("run", priority=6),
        Column("open", priority=7, below=True),
    )
    rows = tuple(_row(row) for row in changes.rows)
    notes = [changes.quiet] if changes.quiet else [one_line(changes.rows[0].summary)]
    notes += _not_judged(changes)
    notes += _at_odds(changes)
    notes.append(_today(changes))
    return Table(_title(changes), columns, rows, tuple(notes)) if rows else Table("Changes", (), (), tuple(notes))


def _row(row: ChangeRow) -> tuple[Cell, ...]:
    return (
        Cell(_verdict(row), _TONES.get(row.verdict, Tone.PLAIN)),
        Cell(one_line(row.agent)),
        Cell(one_line(row.suite_id)),
        Cell(_against(row)),
        Cell(one_line(row.since) or NOTHING),
        _change(row.accuracy),
        _change(row.latency),
        _change(row.cost),
        Cell(_p95(row)),
        Cell(f"{len(row.broken)}:{len(row.fixed)}" if row.broken or row.fixed else NOTHING),
        Cell(sparkline(row.spark), Tone.MUTED),
        Cell(when(row.finished_at), Tone.MUTED),
        Cell(one_line(row.command), Tone.MUTED),
    )


def _not_judged(changes: Changes) -> list[str]:
    """Times of separate runs that nothing is known to hold against: who, and what measures both sides interleaved."""
    told: dict[str, list[str]] = {}
    for row in changes.rows:
        if is_unjudged(row.latency):
            told.setdefault(row.latency.reason if row.latency else "", []).append(one_line(row.agent))
    return [f"Time per case of {', '.join(agents)}: {reason}." for reason, agents in told.items()]


def _at_odds(changes: Changes) -> list[str]:
    """What the history of an agent shows and its two versions do not; the first row's summary has said it."""
    return [
        one_line(f"{row.agent}: {history_beside_text(row.finding)}.")
        for row in changes.rows
        if row.finding is not None and row.evidence == CASES and (changes.quiet or row is not changes.rows[0])
    ]


def _verdict(row: ChangeRow) -> str:
    severity = f" ({row.severity.value})" if row.severity is not None else ""
    doubt = ", history worse" if row.finding is not None and row.evidence == CASES else ""
    return f"{_SIGNS[row.verdict]} {row.verdict}{severity}{doubt}"


def _against(row: ChangeRow) -> str:
    """The version, or that it is the history which tells."""
    if row.evidence == HISTORY:
        return "its history"
    return one_line(row.baseline.removeprefix(f"{row.name}@")) or NOTHING


def _change(row: PairedRow | None) -> Cell:
    """By how much; the colour goes by the row's own verdict, which a sign repeats."""
    if row is None or row.change is None:
        return Cell(NOTHING)
    text = change_text(row, row.change).replace("points", "pts")
    verdict = "" if row.verdict is None else row.verdict.value
    if is_unjudged(row):
        return Cell(f"{text} (not judged)", Tone.MUTED)
    sign = f" {_SIGNS[verdict]}" if verdict in (WORSE, BETTER) else ""
    return Cell(f"{text}{sign}", _TONES[verdict] if sign else Tone.PLAIN)


def _p95(row: ChangeRow) -> str:
    if row.latency_p95 == (None, None):
        return NOTHING
    return " → ".join(show(value, "s") for value in row.latency_p95)


def _title(changes: Changes) -> str:
    told = [f"{number} {verdict}" for verdict, number in changes.counts.items() if number]
    return f"Changes: {', '.join(told)}"


def _today(changes: Changes) -> str:
    text = f"Today (UTC): {count(changes.runs_today, 'run')}"
    if changes.spent_today_usd is not None:
        text += f", {money_spent(changes.spent_today_usd)} spent"
    if changes.unpriced_today:
        text += f", the cost of {count(changes.unpriced_today, 'execution')} not known"
    return f"{text}."


def _alerts(alerts: Sequence[Alert]) -> Table:
    columns = (
        Column("severity"),
        Column("agent", wrap=True),
        Column("suite", wrap=True),
        Column("what", wrap=True),
        Column("since", priority=1),
        Column("why", wrap=True, priority=2, below=True),
        Column("alert", priority=3),
    )
    rows = tuple(_alert(alert) for alert in alerts[:MOST_ALERTS])
    left = len(alerts) - MOST_ALERTS
    notes = (f"{count(left, 'more alert')} left out; --json has all.",) if left > 0 else ()
    return Table(f"Alerts: {len(alerts)}", columns, rows, notes)


def _alert(alert: Alert) -> tuple[Cell, ...]:
    item = alert.regression
    grave = item.severity in (Severity.CRITICAL, Severity.HIGH)
    doubt = "" if item.confirmed else " ?"
    return (
        Cell(f"{item.severity.value}{doubt}", Tone.BAD if grave else Tone.WARN),
        Cell(one_line(alert.agent)),
        Cell(one_line(alert.suite_id)),
        Cell(f"{label(item.metric)}{f' in {one_line(item.benchmark)}' if item.benchmark else ''}"),
        Cell(one_line(item.version) or when(item.since).partition(" ")[0]),
        Cell(one_line(item.explanation), Tone.MUTED),
        Cell(alert.alert_id, Tone.MUTED),
    )


def sparkline(history: History | None) -> str:
    """The last points as bars from lowest to highest; a level line where all are equal, "" below two points."""
    if history is None or len(history.points) < 2:
        return ""
    values = [point.value for point in history.points[-_SPARK:]]
    low, high = min(values), max(values)
    if high == low:
        return _BARS[3] * len(values)
    return "".join(_BARS[round((value - low) / (high - low) * (len(_BARS) - 1))] for value in values)
