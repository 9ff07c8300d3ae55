"""Tables of a history and of the regressions of an agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.history.charts import history_title
from agentdyno.findings.history.model import NO_CHANGE, History, HistoryChange, HistoryDrift, HistoryPoint
from agentdyno.findings.history.model_regression import Detector, Regression, RegressionReport, Severity
from agentdyno.findings.history.tables_plot import history_plot
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, change, count, label, one_line, percent, show, when, with_interval

__all__ = ["history_plot", "history_tables", "regression_tables"]

MOST_CASES = 5
"""Cases of a regression that a table names."""
_TONES = {
    Severity.CRITICAL: Tone.BAD,
    Severity.HIGH: Tone.BAD,
    Severity.MEDIUM: Tone.WARN,
    Severity.LOW: Tone.PLAIN,
}
_KINDS = {
    "drift": "drift",
    "rising-variance": "scatter",
    "error-creep": "creep",
    "several-small-drops": "small drops",
}


def history_tables(history: History) -> list[Table]:
    """The changes of level, oldest first, and what the reader has to know of the series."""
    notes = history_notes(history)
    if not history.changes:
        return [Table(history_title(history), (), (), notes)]
    columns = (
        Column("since"),
        Column("from → to", Align.RIGHT),
        Column("change", Align.RIGHT),
        Column("version", wrap=True, priority=1),
        Column("verdict", wrap=True),
        Column("with it", wrap=True, priority=2, below=True),
    )
    rows = [
        (
            Cell(when(item.at)),
            Cell(f"{show(item.before, history.unit)} → {show(item.after, history.unit)}"),
            Cell(NOTHING if item.relative is None else change(1 + item.relative)),
            Cell(_versions(item)),
            verdict_of(item),
            Cell(_with_it(item), Tone.MUTED),
        )
        for item in history.changes
    ]
    return [_without_empty(Table(history_title(history), columns, tuple(rows), notes))]


def history_notes(history: History) -> tuple[str, ...]:
    """How long the series is, where it stands, and what the history itself has to say."""
    notes = []
    points = history.points
    if points:
        span = (
            f" from {when(points[0].at)} to {when(points[-1].at)}" if len(points) > 1 else f" of {when(points[0].at)}"
        )
        now = f"{count(len(points), 'point')}{span}"
        level = history.now
        if level is not None:
            ends = None if level.low is None or level.high is None else (level.low, level.high)
            now += (
                f"; now {with_interval(level.value, ends, history.unit)}{'' if level.confirmed else ', provisional'}"
            )
        if history.baseline is not None:
            now += f", baseline {show(history.baseline, history.unit)}"
            if history.baseline and level is not None:
                now += f" ({change(1 + (level.value - history.baseline) / abs(history.baseline))})"
        notes += [f"{now}.", *_cases_note(points)]
    if history.drift is not None:
        notes.append(_drift_note(history, history.drift))
    if history.is_steady and not history.note:
        notes.append(NO_CHANGE)
    if any(not item.confirmed for item in history.changes):
        notes.append("Provisional: seen in the last few points only; later ones confirm or withdraw it.")
    if history.note:
        notes.append(one_line(history.note))
    return tuple(notes)


def _cases_note(points: Sequence[HistoryPoint]) -> list[str]:
    """Of how many cases the points are, and that some have no score."""
    known = [point for point in points if point.cases]
    if not known:
        return []
    fewest, most = min(point.cases for point in known), max(point.cases for point in known)
    told = f"of {count(most, 'case')}" if fewest == most else f"of {fewest:,} to {count(most, 'case')}"
    short = [point for point in known if point.scored < point.cases]
    if short:
        least = min(short, key=lambda point: point.scored / point.cases)
        worst = f"at worst {least.scored:,} of {least.cases:,} scored"
        told += f"; {count(len(short), 'point')} with cases without a score, {worst}"
    return [f"Each point is {told}."]


def _drift_note(history: History, drift: HistoryDrift) -> str:
    """What a slope comes to, and whether that is for the better."""
    up = drift.after > drift.before
    moved = f"{show(drift.before, history.unit)} → {show(drift.after, history.unit)}"
    share = f", {change(drift.after / drift.before)}" if drift.before > 0.0 else ""
    points = len(history.points) - drift.index
    way = "rises" if up else "falls"
    return f"Drift: {way} steadily over {points} points, {moved}{share}{_drift_word(history, drift)}."


def _drift_word(history: History, drift: HistoryDrift) -> str:
    if history.higher_is_better is None:
        return ""
    return ": better" if (drift.after > drift.before) == history.higher_is_better else ": worse"


def verdict_of(item: HistoryChange) -> Cell:
    """A sign and words; what is not comparable is neither better nor worse."""
    doubt = "" if item.confirmed else ", provisional"
    if not item.comparable:
        return Cell(f"◆ not comparable{doubt}", Tone.MUTED)
    if item.better is None:
        return Cell(f"◆ changed{doubt}")
    return Cell(f"✓ better{doubt}", Tone.GOOD) if item.better else Cell(f"✗ worse{doubt}", Tone.BAD)


def regression_tables(report: RegressionReport) -> list[Table]:
    """Health and action, then the regressions, the worst first, then the improvements."""
    found = [_summary(report)]
    if report.regressions:
        found.append(_findings("Regressions", report.regressions))
    if report.improvements:
        found.append(_findings("Improvements", report.improvements))
    return found


def _summary(report: RegressionReport) -> Table:
    notes = [one_line(report.action)]
    if report.baseline or report.current:
        pair = " → ".join(one_line(name) for name in (report.baseline, report.current) if name)
        notes.append(f"{pair}{f' on {one_line(report.suite)}' if report.suite else ''}.")
    notes += [f"{one_line(item.message).rstrip('.')}. {one_line(item.remedy)}".strip() for item in report.warnings]
    return Table(f"{one_line(report.agent)}: {health_text(report)}", (), (), tuple(notes))


def health_text(report: RegressionReport) -> str:
    return "health not known" if report.health is None else f"health {report.health} of 100"


def _findings(title: str, findings: Sequence[Regression]) -> Table:
    worse = any(not item.improvement for item in findings)
    columns = (
        Column("severity" if worse else "size"),
        Column("what", wrap=True),
        Column("where", wrap=True),
        Column("from → to", Align.RIGHT),
        Column("worse" if worse else "better", Align.RIGHT),
        Column("since", priority=1),
        Column("cases", wrap=True, priority=2, below=True),
        Column("why", wrap=True, priority=3, below=True),
    )
    rows = [
        (
            Cell(_severity(item), Tone.GOOD if item.improvement else _TONES[item.severity]),
            Cell(f"{label(item.metric)}{f' ({_KINDS[item.kind]})' if item.kind in _KINDS else ''}"),
            Cell(one_line(item.benchmark or item.category) or "all"),
            Cell(f"{show(item.baseline, item.unit)} → {show(item.current, item.unit)}"),
            Cell(_amount(item)),
            Cell(when(item.since).partition(" ")[0]),
            Cell(_cases(item), Tone.MUTED),
            Cell(_why(item), Tone.MUTED),
        )
        for item in findings
    ]
    doubtful = any(not item.confirmed for item in findings)
    notes = ("? provisional: few points show it, and later ones confirm or withdraw it.",) if doubtful else ()
    return _without_empty(Table(title, columns, tuple(rows), notes))


def _without_empty(table: Table) -> Table:
    """The table without the columns that say nothing in any row."""
    kept = [place for place in range(len(table.columns)) if any(row[place].text for row in table.rows)]
    columns = tuple(table.columns[place] for place in kept)
    return replace(table, columns=columns, rows=tuple(tuple(row[place] for place in kept) for row in table.rows))


def _severity(item: Regression) -> str:
    return item.severity.value + ("" if item.confirmed else " ?")


def _amount(item: Regression) -> str:
    size = abs(item.amount)
    if item.relative:
        return percent(size)
    return f"{100 * size:.3g} points" if item.unit == "ratio" else show(size, item.unit)


def _cases(item: Regression) -> str:
    names = [
        one_line(key.case_id if item.benchmark else f"{key.benchmark}/{key.case_id}") for key in item.impact.cases
    ]
    return ", ".join(names[:MOST_CASES]) + (f" and {len(names) - MOST_CASES} more" if len(names) > MOST_CASES else "")


def _why(item: Regression) -> str:
    parts = [one_line(item.explanation), one_line(item.impact.text)]
    if item.version and item.detector is not Detector.PATTERN:
        parts.append(f"version {one_line(item.version)}")
    return "; ".join(filter(None, parts))


def _with_it(item: HistoryChange) -> str:
    """What else changed; versions have a column of their own."""
    return ", ".join(part for part in one_line(item.cause).split(", ") if not part.startswith("version "))


def _versions(item: HistoryChange) -> str:
    before, after = one_line(item.version_before, 20), one_line(item.version_after, 20)
    return after or NOTHING if before == after or not before else f"{before} → {after}"


def sections(found: Conclusions) -> Iterator[Section]:
    """What became worse, then how each metric went."""
    for report in found.regressions:
        severe = any(item.severity in (Severity.HIGH, Severity.CRITICAL) for item in report.regressions)
        quiet = Tone.GOOD if report.health is not None else Tone.PLAIN
        tone = Tone.BAD if severe else Tone.WARN if report.regressions else quiet
        lead = Lead(health_text(report), one_line(report.action), tone)
        yield Section(f"{one_line(report.agent)}: regressions", lead, tuple(regression_tables(report)))
    for number, item in enumerate(found.histories, start=1):
        yield _history(item, number)


def _history(item: History, number: int) -> Section:
    from agentdyno.findings.history.charts import history_chart

    worse = sum(change.better is False and change.comparable for change in item.changes)
    better = sum(change.better is True and change.comparable for change in item.changes)
    text = (
        f"{count(len(item.points), 'point')}, {count(len(item.changes), 'change')}: {worse} worse, {better} better."
    )
    drifting = "" if item.drift is None else _drift_word(item, item.drift)
    if item.drift is not None:
        text += f" A drift{drifting}."
    lead = Lead(label(item.metric), text, Tone.BAD if worse or drifting == ": worse" else Tone.PLAIN)
    caption = f"{history_title(item)}: every run, the level of each regime, and where it changed."
    picture = Picture(f"history-{number}", caption, partial(history_chart, item), wide=True)
    pictures = (picture,) if item.points else ()
    return Section(history_title(item), lead, tuple(history_tables(item)), pictures, item)
