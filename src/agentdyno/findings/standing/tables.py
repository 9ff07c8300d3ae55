"""Tables of a suite's run: agents on the five dimensions, benchmark by benchmark, what they used, who beats whom."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL, WEIGHTS
from agentdyno.findings.run.tables import failures
from agentdyno.findings.standing.model import AgentStanding, SuiteStanding
from agentdyno.findings.standing.tables_cases import duel, failed, scorers
from agentdyno.findings.standing.tables_labels import agent_labels, of_cases, score_cell
from agentdyno.findings.standing.tables_overview import ended_text, overview, overview_notes
from agentdyno.model import RunResult, Status
from agentdyno.model.metric import money_spent
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, count, one_line, show


def agents(standing: SuiteStanding) -> Table:
    """One row per agent: overall and the five dimensions."""
    labels = agent_labels(standing)
    columns = [Column("agent", wrap=True, heading=True)]
    columns += [Column(name, Align.RIGHT, wrap=True) for name in (OVERALL, *DIMENSIONS)]
    rows = []
    for agent in standing.agents:
        whole = score_cell(agent.scores.get(OVERALL))
        mark = "*" if agent.partial and whole.text != NOTHING else ""
        cells = [
            Cell(labels[agent.agent] + (" (simulated)" if agent.simulated else "")),
            replace(whole, aside=whole.aside + mark) if whole.aside else replace(whole, text=whole.text + mark),
        ]
        cells += [score_cell(agent.scores.get(name)) for name in DIMENSIONS]
        rows.append(tuple(cells))
    return Table("Scores", tuple(columns), tuple(rows), _agent_notes(standing))


def _agent_notes(standing: SuiteStanding) -> tuple[str, ...]:
    weights = ", ".join(f"{name} {100 * weight:.0f} %" for name, weight in WEIGHTS.items())
    notes = [f"Points of 100 with their 95 % interval. Overall: {weights}."]
    if standing.agents:
        notes.append(_accuracy_note(standing))
    missing = [name for name in DIMENSIONS if any(name in agent.missing for agent in standing.agents)]
    if missing:
        why = {"accuracy": "a score of some case", "speed": "", "reliability": "3 epochs"}
        thrifty = "known figures, a success, a target and a limit"
        reasons = [f"{name} needs {why.get(name, thrifty) or 'a target and a limit'}" for name in missing]
        notes.append(f"* partial, without what is unknown in a benchmark: {'; '.join(reasons)}.")
    unasked = [name for name in DIMENSIONS if any(name in agent.not_measured for agent in standing.agents)]
    if unasked:
        notes.append(f"Not scored, because metrics_measured of the suite leaves it out: {', '.join(unasked)}.")
    if any(agent.simulated for agent in standing.agents):
        notes.append("Simulated: from a simulated model, no measurement of a real one.")
    return tuple(notes)


def _accuracy_note(standing: SuiteStanding) -> str:
    """What the accuracies are of: all cases, and where some have no score, how many have one."""
    labels = agent_labels(standing)
    cases = max(agent.cases for agent in standing.agents)
    short = [agent for agent in standing.agents if agent.scored < agent.cases]
    told = [f"{labels[agent.agent]} {of_cases(agent.scored, agent.cases)}" for agent in short]
    return f"Accuracy is of {count(cases, 'case')}" + (f"; {'; '.join(told)}." if told else ".")


def matrix(standing: SuiteStanding) -> Table | None:
    """Accuracy by benchmark and agent; nothing where there is one benchmark only."""
    if len(standing.benchmarks) < 2:
        return None
    labels = agent_labels(standing)
    cells = {(arm.benchmark, arm.agent): arm for arm in standing.arms}
    columns = [Column("benchmark", wrap=True), Column("cases", Align.RIGHT, 1)]
    columns += [Column(labels[agent.agent], Align.RIGHT, wrap=True) for agent in standing.agents]
    rows = []
    for name in standing.benchmarks:
        found = [cells.get((name, agent.agent)) for agent in standing.agents]
        most = max((arm.cases for arm in found if arm is not None), default=0)
        row = [Cell(one_line(name)), Cell(str(most))]
        for arm in found:
            estimate = arm.scores.get("accuracy") if arm is not None else None
            short = "" if arm is None or arm.scored >= arm.cases else f" ({of_cases(arm.scored, arm.cases)})"
            cell = score_cell(estimate)
            row.append(replace(cell, aside=(cell.aside + short).strip()))
        rows.append(tuple(row))
    unscored = any(arm.scored < arm.cases for arm in standing.arms)
    notes = ("Scored n of N: the others have no score; an error is no wrong answer.",) if unscored else ()
    return Table("Accuracy by benchmark", tuple(columns), tuple(rows), notes)


def spending(standing: SuiteStanding) -> Table:
    """What each agent took: time, tokens, money, and how its executions ended."""
    labels = agent_labels(standing)
    columns = (
        Column("agent", wrap=True),
        Column("passed", Align.RIGHT),
        Column("median", Align.RIGHT),
        Column("p95", Align.RIGHT, 3),
        Column("TTFT", Align.RIGHT, 4),
        Column("tokens", Align.RIGHT, 2),
        Column("cost", Align.RIGHT),
        Column("per success", Align.RIGHT, 1),
        Column("not answered", wrap=True, priority=1),
    )
    rows = []
    for agent in standing.agents:
        ended = ended_text(agent)
        rows.append(
            (
                Cell(labels[agent.agent]),
                Cell(f"{agent.passed:,}/{agent.samples:,}"),
                _figure(agent.duration_s, "s"),
                _figure(agent.duration_p95_s, "s"),
                _figure(agent.ttft_s, "s"),
                _figure(agent.total_tokens, ""),
                _cost(agent),
                _figure(agent.cost_per_success_usd, "usd"),
                Cell(ended or NOTHING, Tone.BAD if ended else Tone.MUTED),
            )
        )
    notes = []
    judged = [(labels[agent.agent], agent.judge_cost_usd) for agent in standing.agents]
    paid = [f"{label} {money_spent(cost)}" for label, cost in judged if cost]
    if paid:
        notes.append(f"Judging cost, not counted above: {', '.join(paid)}.")
    return Table("Time and money", columns, tuple(rows), tuple(notes))


def errors(result: RunResult) -> Table | None:
    """What ended without an answer, equal messages counted together; wrong answers are not among them."""
    arms = tuple(
        replace(
            arm, samples=tuple(sample for sample in arm.samples if sample.status not in (Status.OK, Status.FAILED))
        )
        for arm in result.arms
    )
    table = failures(replace(result, arms=arms))
    return None if table is None else replace(table, title="Without an answer")


def suite_tables(
    result: RunResult, standing: SuiteStanding, *, most_failed: int = 10, run: str = "last"
) -> tuple[Table, ...]:
    """Every table of a suite's run, in the order in which they are read."""
    found = (
        replace(overview(standing, intervals=True), notes=overview_notes(standing)),
        agents(standing),
        matrix(standing),
        spending(standing),
        duel(standing),
        failed(standing, run, most_failed),
        scorers(standing),
        errors(result),
    )
    return tuple(table for table in found if table is not None)


def _cost(agent: AgentStanding) -> Cell:
    """The whole cost; where that is not known, the least that it was."""
    if agent.cost_usd is None and agent.known_cost_usd:
        return Cell(f"≥ {money_spent(agent.known_cost_usd)}", Tone.WARN)
    return _figure(None, "usd") if agent.cost_usd is None else Cell(money_spent(agent.cost_usd))


def _figure(value: float | None, unit: str) -> Cell:
    return Cell(show(value, unit), Tone.MUTED if value is None else Tone.PLAIN)
