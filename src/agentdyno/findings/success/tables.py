"""The four figures as a table."""

from __future__ import annotations

from collections.abc import Iterator

from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.success.model import SuccessMetric, SuccessReport
from agentdyno.findings.success.words import TITLES
from agentdyno.show.section import Lead, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, percent


def success_table(report: SuccessReport) -> Table:
    """One row a figure; how each is counted stands below."""
    columns = (
        Column("figure", heading=True),
        Column("value", Align.RIGHT),
        Column("goal", Align.RIGHT),
        Column("made of", wrap=True),
    )
    rows = tuple(
        (Cell(TITLES[item.name]), _value(item), Cell(percent(item.goal)), Cell(_made_of(item)))
        for item in report.metrics
    )
    notes = [f"{TITLES[item.name]}: {' '.join([item.counted, item.note]).strip()}" for item in report.metrics]
    return Table(f"Benchmarking itself, the last {report.days:,} days", columns, rows, tuple(notes))


def sections(findings: Conclusions) -> Iterator[Section]:
    """For reports."""
    for item in findings.successes:
        judged = [metric for metric in item.metrics if metric.met is not None]
        reached = sum(bool(metric.met) for metric in judged)
        told = (
            f"{reached} of {len(judged)} goals that can be judged are met."
            if judged
            else "Nothing can be judged yet."
        )
        yield Section("Benchmarking itself", Lead("goals", told), (success_table(item),))


def _value(item: SuccessMetric) -> Cell:
    if item.value is None:
        return Cell(NOTHING)
    text = percent(item.value)
    if item.interval is not None:
        text += f" ({percent(item.interval[0])} to {percent(item.interval[1])})"
    return Cell(text, Tone.GOOD if item.met else Tone.BAD)


def _made_of(item: SuccessMetric) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in item.counts.items())
