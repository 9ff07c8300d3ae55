"""The one table to read of a suite's run: what each agent passed, what each scorer says, time and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentdyno.findings.figures.dimensions import OVERALL
from agentdyno.findings.standing.model import AgentStanding, ScoreEstimate, ScorerMean, SuiteStanding
from agentdyno.findings.standing.tables_labels import agent_labels, score_cell
from agentdyno.model import Status
from agentdyno.model.metric import money
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, one_line, show

_ENDED = (Status.ERROR, Status.TIMEOUT, Status.LIMIT, Status.CANCELLED)
_ACCURACY = "accuracy"


def overview(standing: SuiteStanding, *, intervals: bool = False) -> Table:
    """One row per agent. A column that is known of no agent is left out, ``overall`` where a dimension is not known.

    Scores are points of 100. With ``intervals`` they have their 95 % interval.
    """
    labels, agents = agent_labels(standing), standing.agents
    scorers = scorer_columns(standing)
    combined = has_combined(standing)
    ended = {agent.agent: ended_text(agent) for agent in agents}
    whole = bool(agents) and all(_is_whole(agent) for agent in agents)
    paid = any(agent.cost_usd is not None or agent.known_cost_usd for agent in agents)
    columns = [Column("agent", wrap=True, heading=True), Column("passed", Align.RIGHT)]
    columns += [Column(_ACCURACY, Align.RIGHT, wrap=True)] if combined else []
    columns += [Column(_header(name, standing), Align.RIGHT, wrap=True) for name in scorers]
    columns += [Column("time", Align.RIGHT)]
    columns += [Column("cost per task", Align.RIGHT, wrap=True)] if paid else []
    columns += [Column(OVERALL, Align.RIGHT, wrap=True)] if whole else []
    columns += [Column("not answered", wrap=True)] if any(ended.values()) else []
    rows = []
    for agent in agents:
        row = [Cell(_name(agent, labels)), _passed(agent)]
        row += [_score(agent.scores.get(_ACCURACY), intervals)] if combined else []
        row += [_score(_said(agent, name), intervals) for name in scorers]
        row += [Cell(show(agent.duration_s, "s"), _tone(agent.duration_s))]
        row += [_cost(agent)] if paid else []
        row += [_score(agent.scores.get(OVERALL), intervals)] if whole else []
        row += [Cell(ended[agent.agent] or NOTHING, Tone.BAD if ended[agent.agent] else Tone.MUTED)]
        rows.append(tuple(row[: len(columns)]))
    return Table("Agents", tuple(columns), tuple(rows))


def scorer_columns(standing: SuiteStanding) -> tuple[str, ...]:
    """The scorers of the suite, in the order of its rubrics."""
    return tuple(dict.fromkeys(item.scorer for agent in standing.agents for item in agent.by_scorer))


def primary_scorers(standing: SuiteStanding) -> tuple[str, ...]:
    """The scorers that weigh most, of those rubrics that have several."""
    several = [arm.by_scorer for arm in standing.arms if len(arm.by_scorer) > 1]
    return tuple(dict.fromkeys(item.scorer for arm in several for item in arm if item.primary))


def has_combined(standing: SuiteStanding) -> bool:
    """Whether accuracy says something that the column of one scorer does not."""
    named = scorer_columns(standing)
    if len(named) != 1:
        return True
    pairs = [(_said(agent, named[0]), agent.scores.get(_ACCURACY)) for agent in standing.agents]
    return any(score_cell(one).text != score_cell(two).text for one, two in pairs)


def ended_text(agent: AgentStanding) -> str:
    """``2 error, 1 timeout``: executions that ended without an answer."""
    return ", ".join(
        f"{agent.statuses[status.value]} {status.value}" for status in _ENDED if agent.statuses.get(status.value)
    )


def overview_notes(standing: SuiteStanding) -> tuple[str, ...]:
    """How several scorers become one accuracy."""
    primary = primary_scorers(standing)
    if not primary:
        return ()
    named = ", ".join(map(one_line, primary))
    return (f"Accuracy is the mean of the scorers by weight; the primary one is {named}.",)


def _header(name: str, standing: SuiteStanding) -> str:
    return f"{one_line(name)} (primary)" if name in primary_scorers(standing) else one_line(name)


def _name(agent: AgentStanding, labels: dict[str, str]) -> str:
    return labels[agent.agent] + (" (simulated)" if agent.simulated else "")


def _passed(agent: AgentStanding) -> Cell:
    rate = agent.pass_rate
    return Cell(f"{agent.passed:,}/{agent.samples:,}", bar=rate)


def _said(agent: AgentStanding, scorer: str) -> ScoreEstimate | None:
    found: Sequence[ScorerMean] = [item for item in agent.by_scorer if item.scorer == scorer]
    return ScoreEstimate(found[0].value, found[0].interval) if found else None


def _score(estimate: ScoreEstimate | None, intervals: bool) -> Cell:
    cell = score_cell(estimate)
    return cell if intervals else replace(cell, aside="")


def _cost(agent: AgentStanding) -> Cell:
    """Per execution; where the whole cost is not known, the least that it was."""
    if not agent.samples:
        return Cell(NOTHING, Tone.MUTED)
    if agent.cost_usd is None and agent.known_cost_usd:
        return Cell(f"≥ {money(agent.known_cost_usd / agent.samples)}", Tone.WARN)
    return Cell(NOTHING, Tone.MUTED) if agent.cost_usd is None else Cell(money(agent.cost_usd / agent.samples))


def _is_whole(agent: AgentStanding) -> bool:
    score = agent.scores.get(OVERALL)
    return score is not None and score.value is not None and not agent.partial and not agent.not_measured


def _tone(value: float | None) -> Tone:
    return Tone.MUTED if value is None else Tone.PLAIN
