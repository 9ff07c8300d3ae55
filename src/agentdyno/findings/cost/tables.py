"""Tables of what agents cost for what they achieve."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.cost.model import ConfigurationRow, CostReport, CostRow
from agentdyno.model.metric import money_spent
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import (
    NOTHING,
    PriceScale,
    agent_names,
    one_line,
    percent,
    price_scale,
    settings,
    show,
)

NEVER = "never succeeded"


def cost_tables(report: CostReport) -> list[Table]:
    """Costs, frontiers, benchmarks, configurations and what could be saved, in the order in which they are read."""
    found = (_costs(report), _frontiers(report), _benchmarks(report), _configurations(report), _opportunities(report))
    return [table for table in found if table is not None]


def _names(report: CostReport) -> dict[str, str]:
    return agent_names(row.agent for row in (*report.rows, *report.benchmark_rows))


def _costs(report: CostReport) -> Table:
    names = _names(report)
    task = price_scale(row.cost_per_task_usd for row in report.rows)
    success = price_scale(row.cost_per_success_usd for row in report.rows)
    columns = (
        Column("agent", wrap=True, heading=True),
        Column("passed", Align.RIGHT),
        Column("cost", Align.RIGHT, 2),
        Column(task.heading("task"), Align.RIGHT, wrap=True),
        Column(success.heading("success"), Align.RIGHT),
        Column("performance per $", Align.RIGHT, wrap=True),
        Column("tokens", Align.RIGHT, 3),
    )
    rows = tuple(
        (
            Cell(names[row.agent] + (" (simulated)" if row.simulated else "")),
            Cell(f"{row.successes:,}/{row.tasks:,}"),
            _spent(row.cost_usd),
            _price(row, task),
            _per_success(row, success),
            _per_dollar(row),
            _figure(row.total_tokens, ""),
        )
        for row in report.rows
    )
    return Table("Cost", columns, rows, _notes(report))


def _notes(report: CostReport) -> tuple[str, ...]:
    basis = next((row.performance.partition(":")[0] for row in report.rows), "")
    notes = []
    if any(row.cost_interval for row in report.rows):
        notes.append("In brackets: the 95 % interval of the cost per success.")
    if any(row.performance_per_dollar is not None for row in report.rows):
        notes.append(f"Performance per $: {basis}, per dollar and task.")
    for warning in report.warnings:
        remedy = f" {one_line(warning.remedy)}" if warning.remedy else ""
        message = one_line(warning.message)
        notes.append(f"! {message[:1].upper()}{message[1:]}.{remedy}")
    return tuple(notes)


def _frontiers(report: CostReport) -> Table | None:
    """Where there is something to choose between."""
    shown = [row for row in report.rows if (row.on_accuracy_frontier, row.on_latency_frontier) != (None, None)]
    if len(shown) < 2:
        return None
    names = _names(report)
    task = price_scale(row.cost_per_task_usd for row in shown)
    columns = (
        Column("agent", wrap=True),
        Column(task.heading("task"), Align.RIGHT, wrap=True),
        Column("accuracy", Align.RIGHT),
        Column("cost/accuracy frontier", Align.RIGHT, wrap=True),
        Column("median", Align.RIGHT),
        Column("cost/latency frontier", Align.RIGHT, wrap=True),
    )
    rows = tuple(
        (
            Cell(names[row.agent] + (" (simulated)" if row.simulated else "")),
            _price(row, task),
            Cell(percent(row.accuracy)),
            _standing(row.on_accuracy_frontier, row.accuracy_frontier_probability),
            _figure(row.duration_s, "s"),
            _standing(row.on_latency_frontier, row.latency_frontier_probability),
        )
        for row in sorted(shown, key=lambda row: (row.cost_per_task_usd or 0.0, -(row.accuracy or 0.0)))
    )
    notes = [
        "On a frontier: no other agent is at least as cheap and as good, and better in one. In brackets: how often, "
        "when the cases are drawn again."
    ]
    return Table("Who is beaten by nobody", columns, rows, tuple(notes))


def _standing(on: bool | None, probability: float | None) -> Cell:
    if on is None:
        return Cell(NOTHING, Tone.MUTED)
    often = "" if probability is None else f" ({_chance(probability)})"
    return Cell(f"yes{often}", Tone.GOOD) if on else Cell(f"no{often}", Tone.MUTED)


def _chance(probability: float) -> str:
    """Never a certainty that so many draws cannot give."""
    if probability > 0.995:
        return "> 99 %"
    return "< 1 %" if probability < 0.005 else f"{100 * probability:.0f} %"


def _benchmarks(report: CostReport) -> Table | None:
    """Cost per success by benchmark and agent; nothing where there is one benchmark only."""
    benchmarks = list(dict.fromkeys(row.benchmark for row in report.benchmark_rows))
    if len(benchmarks) < 2:
        return None
    names = _names(report)
    agents = list(dict.fromkeys(row.agent for row in report.rows))
    known = {(row.benchmark, row.agent): row for row in report.benchmark_rows}
    scale = price_scale(row.cost_per_success_usd for row in report.benchmark_rows)
    columns = (
        Column("benchmark", wrap=True),
        *(Column(names[agent], Align.RIGHT, wrap=True) for agent in agents),
    )
    rows = []
    for benchmark in benchmarks:
        cells = [known.get((benchmark, agent)) for agent in agents]
        rows.append(
            (
                Cell(one_line(benchmark)),
                *(
                    Cell(NOTHING, Tone.MUTED) if row is None else _per_success(row, scale, brief=True)
                    for row in cells
                ),
            )
        )
    return Table(f"Cost {scale.heading('success')} by benchmark", columns, tuple(rows))


def _configurations(report: CostReport) -> Table | None:
    if not report.configurations:
        return None
    names = agent_names(row.agent for row in report.configurations)
    varying = _varying(report.configurations)
    columns = (
        Column("agent", wrap=True),
        Column("configuration", wrap=True),
        Column("efficiency", Align.RIGHT),
        Column("optimal"),
        Column("saves", Align.RIGHT),
        Column("evidence", wrap=True, below=True, priority=4),
    )
    rows = tuple(
        (
            Cell(names[row.agent]),
            Cell(settings({key: row.configuration[key] for key in varying if key in row.configuration}) or NOTHING),
            Cell(NOTHING if row.efficiency is None else f"{row.efficiency:.2f}"),
            Cell("yes", Tone.GOOD) if row.optimal else Cell("no", Tone.MUTED),
            _spent(row.savings_usd),
            Cell(one_line(row.evidence)),
        )
        for row in report.configurations
    )
    notes = [
        "Efficiency: performance per dollar in parts of the best configuration that is not significantly less "
        "accurate than the most accurate; optimal above 0.80."
    ]
    against = list(dict.fromkeys(one_line(row.against) for row in report.configurations if row.against))
    if against:
        notes.append(f"Savings at {report.volume:,} tasks, against {'; '.join(against)}.")
    return Table("Configurations", columns, rows, tuple(notes))


def _varying(rows: tuple[ConfigurationRow, ...]) -> list[str]:
    keys = dict.fromkeys(key for row in rows for key in row.configuration)
    return [key for key in keys if len({str(row.configuration.get(key)) for row in rows}) > 1]


def _opportunities(report: CostReport) -> Table | None:
    if not report.opportunities:
        return None
    columns = (
        Column("saves", Align.RIGHT),
        Column("how", wrap=True),
        Column("evidence", wrap=True),
    )
    rows = tuple(
        (
            _spent(item.savings_usd),
            Cell(one_line(item.text)),
            Cell("; ".join(one_line(part) for part in item.evidence)),
        )
        for item in report.opportunities
    )
    priced = any(item.savings_usd is not None for item in report.opportunities)
    notes = (f"Savings at {report.volume:,} tasks; without an amount where that does not follow.",) if priced else ()
    return Table("What could be saved", columns, rows, notes)


def _price(row: CostRow, scale: PriceScale) -> Cell:
    return Cell(scale.show(row.cost_per_task_usd), Tone.MUTED if row.cost_per_task_usd is None else Tone.PLAIN)


def _per_success(row: CostRow | None, scale: PriceScale, *, brief: bool = False) -> Cell:
    if row is not None and row.never_succeeded:
        return Cell(NEVER, Tone.BAD)
    if row is None or row.cost_per_success_usd is None:
        return Cell(NOTHING, Tone.MUTED)
    interval = None if brief or row.cost_per_success_usd == 0 else row.cost_interval
    return Cell(scale.show(row.cost_per_success_usd, interval))


def _per_dollar(row: CostRow) -> Cell:
    if row.performance_per_dollar is None:
        return Cell("free" if row.cost_per_task_usd == 0 else NOTHING, Tone.MUTED)
    return Cell(show(row.performance_per_dollar, ""))


def _spent(usd: float | None) -> Cell:
    return Cell(NOTHING, Tone.MUTED) if usd is None else Cell(money_spent(usd))


def _figure(value: float | None, unit: str) -> Cell:
    return Cell(show(value, unit), Tone.MUTED if value is None else Tone.PLAIN)


def sections(found: Conclusions) -> Iterator[Section]:
    """One per report, with its scatter plots where there is a frontier."""
    for number, cost in enumerate(found.costs, start=1):
        on = [row for row in cost.rows if row.on_accuracy_frontier]
        names = ", ".join(one_line(row.agent) for row in on[:3]) + (" …" if len(on) > 3 else "")
        text = f"On the frontier of cost and accuracy: {names}." if on else "Too little is known for a frontier."
        pictures = tuple(_scatters(cost, number)) if on else ()
        yield Section("Cost and performance", Lead("cost", text), tuple(cost_tables(cost)), pictures)


def _scatters(report: CostReport, number: int) -> list[Picture]:
    from agentdyno.findings.cost.charts import cost_scatter

    return [
        Picture(
            f"cost-accuracy-{number}", "Cost per task against accuracy.", partial(cost_scatter, report, "accuracy")
        ),
        Picture(
            f"cost-latency-{number}", "Cost per task against duration.", partial(cost_scatter, report, "latency")
        ),
    ]
