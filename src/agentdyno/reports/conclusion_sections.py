"""One section per conclusion: its headline, tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from agentdyno.findings.board.model import LeaderboardEntry, MatrixEntry
from agentdyno.findings.board.tables import board_labels, coverage_tables, leaderboard_tables, matrix_tables
from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.cost.model import CostReport
from agentdyno.findings.cost.tables import cost_tables
from agentdyno.findings.duel.model import Duel
from agentdyno.findings.duel.tables import duel_tables, tournament_tables
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.findings.gate.model import GateVerdict
from agentdyno.findings.gate.tables import gate_sides, gate_tables
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Severity
from agentdyno.findings.history.tables import health_text, history_tables, history_title, regression_tables
from agentdyno.findings.reliability.tables import reliability_tables
from agentdyno.findings.stress.model import StressReport
from agentdyno.findings.stress.tables import stress_tables
from agentdyno.model.record import AgentRecord
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Tone
from agentdyno.show.wording import count, label, one_line

MOST_RADAR = 6
"""Agents on one radar: more cannot be told apart."""
_GATES = {
    GateVerdict.PASS: ("✓ PASS", Tone.GOOD),
    GateVerdict.WARN: ("! WARN", Tone.WARN),
    GateVerdict.BLOCK: ("✗ BLOCK", Tone.BAD),
    GateVerdict.INCONCLUSIVE: ("? INCONCLUSIVE", Tone.WARN),
}


def concluded_sections(found: Conclusions) -> Iterator[Section]:
    """What decides first."""
    yield from _gates(found)
    yield from _boards(found)
    yield from _duels(found)
    for report in found.regressions:
        severe = any(item.severity in (Severity.HIGH, Severity.CRITICAL) for item in report.regressions)
        quiet = Tone.GOOD if report.health is not None else Tone.PLAIN
        tone = Tone.BAD if severe else Tone.WARN if report.regressions else quiet
        lead = Lead(health_text(report), one_line(report.action), tone)
        yield Section(f"{one_line(report.agent)}: regressions", lead, tuple(regression_tables(report)))
    for number, item in enumerate(found.histories, start=1):
        yield _history(item, number)
    for number, cost in enumerate(found.costs, start=1):
        on = [row for row in cost.rows if row.on_accuracy_frontier]
        names = ", ".join(one_line(row.agent) for row in on[:3]) + (" …" if len(on) > 3 else "")
        text = f"On the frontier of cost and accuracy: {names}." if on else "Too little is known for a frontier."
        pictures = tuple(_scatters(cost, number)) if on else ()
        yield Section("Cost and performance", Lead("cost", text), tuple(cost_tables(cost)), pictures)
    if found.reliabilities:
        yield _reliability(found)
    for stressed in found.stress:
        yield _stress(stressed)


def _gates(found: Conclusions) -> Iterator[Section]:
    for report in found.gates:
        word, tone = _GATES[report.verdict]
        name = f"{one_line(report.suite)}: " if report.suite else ""
        lead = Lead(word, f"{name}{gate_sides(report)}. {one_line(report.summary)}", tone)
        yield Section(f"Gate: {gate_sides(report)}", lead, tuple(gate_tables(report)))


def _boards(found: Conclusions) -> Iterator[Section]:
    for board in found.leaderboards:
        first = board.entries[0] if board.entries else None
        text = f"{count(board.total, 'agent')} in {count(board.days, 'day')}"
        if first is not None:
            text += f". First: {board_labels(board.entries)[first.agent]}"
        pictures = _radar("leaderboard-radar", board.entries)
        yield Section("Leaderboard", Lead("leaderboard", f"{text}."), tuple(leaderboard_tables(board)), pictures)
    for matrix in found.matrices:
        text = f"{count(len(matrix.entries), 'agent')} × {count(len(DIMENSIONS), 'dimension')}."
        pictures = _radar("matrix-radar", matrix.entries)
        yield Section("Comparison matrix", Lead("matrix", text), tuple(matrix_tables(matrix)), pictures)
    for coverage in found.coverages:
        tone = Tone.WARN if coverage.stale else Tone.GOOD
        within = f"benchmarked within {count(coverage.days, 'day')}"
        text = f"{coverage.fresh:,} of {count(coverage.agents, 'agent')} {within}."
        yield Section("Coverage", Lead("coverage", text, tone), tuple(coverage_tables(coverage)))


def _duels(found: Conclusions) -> Iterator[Section]:
    for number, duel in enumerate(found.duels, start=1):
        title = f"{one_line(duel.baseline)} → {one_line(duel.candidate)}"
        tone = Tone.PLAIN if duel.winner is None else Tone.GOOD if duel.winner == duel.candidate else Tone.BAD
        word = "no winner" if duel.winner is None else f"{one_line(duel.winner)} wins"
        pictures = [_dumbbell(duel, number)]
        if number == 1:
            pictures += _spreads(found.records)
        yield Section(
            title,
            Lead(word, one_line(duel.why.removeprefix("no winner: ")), tone),
            tuple(duel_tables(duel)),
            tuple(pictures),
        )
    for item in found.tournaments:
        word = "no winner" if item.winner is None else f"{one_line(item.winner)} wins"
        lead = Lead(
            word, one_line(item.why.removeprefix("no winner: ")), Tone.PLAIN if item.winner is None else Tone.GOOD
        )
        pictures = [*_record_radar(found.records), *_spreads(found.records)]
        yield Section("All against all", lead, tuple(tournament_tables(item)), tuple(pictures))


def _stress(report: StressReport) -> Section:
    from agentdyno.findings.stress.charts import distribution_chart, knee_chart, over_time_chart, scaling_chart

    broke = [one_line(item.scenario) for item in report.scenarios if item.broke]
    held = sum(not item.broke and not item.client_limited for item in report.scenarios)
    score = "not scored" if report.resilience_score is None else f"resilience {report.resilience_score:.0f} of 100"
    text = f"{count(len(report.scenarios), 'scenario')}: {held} held"
    text += f", broke in {', '.join(broke)}." if broke else "."
    pictures: list[Picture] = []
    for item in report.scenarios:
        name = one_line(item.scenario)
        if item.over_time:
            caption = f"{name}: latency and requests over time."
            pictures.append(Picture(f"{name}-over-time", caption, partial(over_time_chart, item), wide=True))
        if len({point.level for point in item.curve}) > 2:
            pictures.append(Picture(f"{name}-knee", f"{name}: latency by level.", partial(knee_chart, item)))
        if item.law is not None:
            pictures.append(Picture(f"{name}-scaling", f"{name}: speed-up.", partial(scaling_chart, item)))
        if item.distributions:
            caption = f"{name}: how times spread."
            pictures.append(Picture(f"{name}-distribution", caption, partial(distribution_chart, item), wide=True))
    lead = Lead(score, text, Tone.BAD if broke else Tone.GOOD if held else Tone.WARN)
    return Section(f"{one_line(report.agent_id)} under load", lead, tuple(stress_tables(report)), tuple(pictures))


def _history(item: History, number: int) -> Section:
    from agentdyno.findings.history.charts import history_chart

    worse = sum(change.better is False and change.comparable for change in item.changes)
    better = sum(change.better is True and change.comparable for change in item.changes)
    text = (
        f"{count(len(item.points), 'point')}, {count(len(item.changes), 'change')}: {worse} worse, {better} better."
    )
    lead = Lead(label(item.metric), text, Tone.BAD if worse else Tone.PLAIN)
    caption = f"{history_title(item)}: every run, the level of each regime, and where it changed."
    picture = Picture(f"history-{number}", caption, partial(history_chart, item), wide=True)
    pictures = (picture,) if item.points else ()
    return Section(history_title(item), lead, tuple(history_tables(item)), pictures, item)


def _reliability(found: Conclusions) -> Section:
    from agentdyno.findings.reliability.charts import pass_curve

    whole = [item for item in found.reliabilities if not item.benchmark]
    text = f"{count(len(whole), 'agent')}: the chance that k tries of a case all succeed."
    drawn = [item for item in whole if len(item.pass_hat) > 1]
    caption = "pass^k: the share of cases that would succeed k times in a row, with 95 % intervals."
    pictures = (Picture("pass-curve", caption, partial(pass_curve, drawn)),) if drawn else ()
    tables = tuple(reliability_tables(found.reliabilities))
    return Section("Reliability", Lead("reliability", text), tables, pictures)


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


def _dumbbell(duel: Duel, number: int) -> Picture:
    from agentdyno.findings.duel.charts import dumbbell_chart

    caption = "Every dimension of baseline and candidate; filled where the difference is more than chance."
    return Picture(f"head-to-head-{number}", caption, partial(dumbbell_chart, duel), wide=True)


def _radar(name: str, entries: Sequence[LeaderboardEntry] | Sequence[MatrixEntry]) -> tuple[Picture, ...]:
    from agentdyno.findings.board.charts import radar_chart

    shown = [entry for entry in entries if entry.scores[OVERALL].score is not None][:MOST_RADAR]
    labels = board_labels(shown)
    scores = {labels[entry.agent]: {name: entry.scores[name].score for name in DIMENSIONS} for entry in shown}
    who = f"The first {len(shown)}" if len(shown) > 1 else "The only agent"
    caption = f"{who} on every dimension, 0 to 100."
    return (Picture(name, caption, partial(radar_chart, scores)),) if shown else ()


def _record_radar(records: Sequence[AgentRecord]) -> list[Picture]:
    """The mean scores of each agent over its benchmarks."""
    from agentdyno.findings.board.charts import radar_chart

    scores: dict[str, dict[str, float | None]] = {}
    for record in records[:MOST_RADAR]:
        own: dict[str, float | None] = {}
        for name in DIMENSIONS:
            values = [value for item in record.benchmarks if (value := item.scores.get(name)) is not None]
            own[name] = sum(values) / len(values) if values else None
        scores[record.agent] = own
    return [Picture("radar", "Every dimension, 0 to 100.", partial(radar_chart, scores))] if scores else []


def _spreads(records: Sequence[AgentRecord]) -> list[Picture]:
    """Distributions of what a case takes, for what is known of every agent."""
    from agentdyno.findings.standing.charts_spread import spread_chart

    found = []
    for metric in ("duration_s", "cost_usd", "total_tokens"):
        if records and all(any(metric in case.used for case in record.cases) for record in records):
            caption = f"{label(metric)} of every case: box from quartile to quartile."
            found.append(Picture(f"distribution-{metric}", caption, partial(spread_chart, records, metric)))
    return found
