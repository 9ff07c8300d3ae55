"""Tables of what a target did under load."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.stress.model import BreakingPoint, LimitedBy, ScenarioReport, StressReport
from agentdyno.findings.stress.words import objectives_words
from agentdyno.model.load import Outcome
from agentdyno.model.metric import format_value
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, count, one_line

_UNITS = {"rate": "/s", "concurrency": "in flight", "size": "words", "memory": "bytes"}
_A_SECOND = {"_bytes_per_s": "bytes", "_s_per_s": "s"}
"""Figures that say by how much something grows in a second."""
_DONE_TO_IT = ("memory_pressure", "failure_recovery")
"""Scenarios that do something to the target besides asking it: without a score that did not come about."""
_MOST_STEPS = 40


def stress_tables(report: StressReport) -> list[Table]:
    """Scenarios, requests, steps of each scenario, what to do, in the order in which they are read."""
    tables = [_scenarios(report), _times(report), _requests(report)]
    tables += [_steps(item) for item in report.scenarios if len(item.curve) > 1]
    figures = _figures(report)
    if figures.rows:
        tables.append(figures)
    if report.recommendations:
        tables.append(_recommendations(report))
    return tables


def breaking_text(point: BreakingPoint | None) -> str:
    """``between 118 and 125 /s``, or the one end that is known."""
    if point is None:
        return NOTHING
    unit = _UNITS.get(point.axis, point.unit)
    if point.interval is not None:
        low, high = (_level(value, point) for value in point.interval)
        return f"{_level(point.value, point)} {unit} [{low}, {high}]".replace("bytes", "").strip()
    return f"{_level(point.value, point)} {unit}".replace("bytes", "").strip()


def _level(value: float, point: BreakingPoint) -> str:
    if point.axis == "memory":
        return format_value(value, "bytes")
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:.3g}"


def _scenarios(report: StressReport) -> Table:
    columns = (
        Column("scenario", heading=True),
        Column("verdict"),
        Column("score", Align.RIGHT),
        Column("breaks at", wrap=True),
        Column("p50", Align.RIGHT, 2),
        Column("p99", Align.RIGHT, 1),
        Column("errors", Align.RIGHT, 1),
        Column("what limited it", wrap=True, below=True, priority=3),
    )
    rows = tuple(
        (
            Cell(one_line(item.scenario) + (" (closed loop)" if item.closed_loop else "")),
            _verdict(item),
            Cell(NOTHING if item.score is None else f"{item.score:.0f}"),
            Cell(breaking_text(item.breaking_point)),
            Cell(format_value(item.headline.get("latency_p50_s"), "s")),
            Cell(format_value(item.headline.get("latency_p99_s"), "s")),
            Cell(_share(item.headline.get("error_rate"))),
            Cell(one_line(item.evidence), Tone.MUTED),
        )
        for item in report.scenarios
    )
    notes = [line for item in report.scenarios if (line := objectives_words(item, report.objectives))]
    notes.append("Latency counts from the time at which a request was due.")
    if report.resilience_score is not None:
        judged = sum(item.score is not None for item in report.scenarios)
        of = "" if judged == len(report.scenarios) else f", from {judged} of {len(report.scenarios)} scenarios"
        notes.insert(0, f"Resilience: {report.resilience_score:.0f} of 100{of}.")
    if report.clients:
        notes.append(f"Asked by {one_line(report.clients)}.")
    if any(item.client_limited for item in report.scenarios):
        notes.append("client-limited: the client was too slow; nothing there is a property of the target.")
    if report.simulated:
        notes.append("Simulated: a simulated server answered; nothing here is a measurement of a model.")
    return Table(f"{one_line(report.agent_id)} under load", columns, rows, tuple(notes))


def _held(item: ScenarioReport) -> bool:
    """Whether it stood what was asked. Where nothing could be done to the target, it stood nothing."""
    idle = item.scenario in _DONE_TO_IT and item.score is None
    return bool(item.asked) and not item.broke and not item.client_limited and not idle


def _verdict(item: ScenarioReport) -> Cell:
    if item.client_limited and not item.broke:
        return Cell("client-limited", Tone.WARN)
    if item.broke:
        return Cell(f"broke ({item.limited_by.value.replace('_', ' ')})", Tone.BAD)
    if not item.asked:
        return Cell("nothing asked", Tone.WARN)
    if not _held(item):
        return Cell("not judged", Tone.WARN)
    if item.limited_by is LimitedBy.NOTHING:
        return Cell("held", Tone.GOOD)
    return Cell(f"limited by {item.limited_by.value.replace('_', ' ')}", Tone.WARN)


_TIMES = (
    ("asked", "asked_per_s", "/s"),
    ("done", "throughput_per_s", "/s"),
    ("good", "goodput_per_s", "/s"),
    ("p50", "latency_p50_s", "s"),
    ("p95", "latency_p95_s", "s"),
    ("ttft p50", "ttft_p50_s", "s"),
    ("ttft p95", "ttft_p95_s", "s"),
    ("ttft p99", "ttft_p99_s", "s"),
    ("itl p50", "itl_p50_s", "s"),
    ("itl p99", "itl_p99_s", "s"),
    ("tpot", "tpot_p50_s", "s"),
    ("tokens", "tokens_per_s", "/s"),
)


def _times(report: StressReport) -> Table:
    """The main step of each scenario: rates, latency, and of streams the times of their pieces."""
    shown = [row for row in _TIMES if any(item.headline.get(row[1]) is not None for item in report.scenarios)]
    columns = (
        Column("scenario", heading=True),
        *(
            Column(header, Align.RIGHT, 0 if place < 5 else 1 + place // 4)
            for place, (header, *_) in enumerate(shown)
        ),
    )
    rows = tuple(
        (
            Cell(one_line(item.scenario)),
            *(Cell(format_value(item.headline.get(name), unit)) for _, name, unit in shown),
        )
        for item in report.scenarios
    )
    return Table("Rates and times", columns, rows, tuple(_token_notes(report)))


def _token_notes(report: StressReport) -> Iterator[str]:
    sources = {"usage": "the server's usage", "ollama": "Ollama's eval_count", "chunks": "counting chunks"}
    told = [sources.get(name, name) for name in dict.fromkeys(item.token_source for item in report.scenarios) if name]
    if told:
        yield f"Tokens are from {' and '.join(told)}."
    cached = sum(item.cached_tokens or 0 for item in report.scenarios)
    if cached:
        yield f"{cached:,} tokens of the inputs came from the server's cache of prompts."
    if any(item.chunks_are_tokens is False for item in report.scenarios):
        yield "A chunk is not one token here: itl is the time between chunks, tpot the time per token."


def _requests(report: StressReport) -> Table:
    classes = [item for item in Outcome if any(row.outcomes.get(item) for row in report.scenarios)]
    columns = (
        Column("scenario"),
        Column("asked", Align.RIGHT),
        Column("late", Align.RIGHT, 1),
        Column("unsent", Align.RIGHT, 1),
        *(Column(item.value.replace("_", " "), Align.RIGHT) for item in classes),
    )
    rows = tuple(
        (
            Cell(one_line(item.scenario)),
            Cell(f"{item.asked:,}"),
            Cell(f"{item.late:,}", Tone.MUTED),
            Cell(f"{item.unsent:,}", Tone.BAD if item.unsent else Tone.MUTED),
            *(Cell(f"{item.outcomes.get(kind, 0):,}") for kind in classes),
        )
        for item in report.scenarios
    )
    notes = [
        f"{one_line(item.scenario)}: failed with status {_statuses(item)}."
        for item in report.scenarios
        if item.statuses
    ]
    return Table("Requests", columns, rows, tuple(notes))


def _statuses(item: ScenarioReport) -> str:
    """``405 × 120, 503 × 3``."""
    return ", ".join(f"{status} × {number:,}" for status, number in item.statuses.items())


def _steps(item: ScenarioReport) -> Table:
    columns = (
        Column("step", wrap=True),
        Column("asked/s", Align.RIGHT),
        Column("done/s", Align.RIGHT),
        Column("p50", Align.RIGHT),
        Column("p99", Align.RIGHT),
        Column("ttft p50", Align.RIGHT, 2),
        Column("errors", Align.RIGHT),
        Column("", priority=1),
    )
    shown = item.curve[:_MOST_STEPS]
    rows = tuple(
        (
            Cell(one_line(point.step)),
            Cell(_rate(point.asked_per_s)),
            Cell(_rate(point.throughput_per_s)),
            Cell(format_value(point.latency_p50_s, "s")),
            Cell(format_value(point.latency_p99_s, "s")),
            Cell(format_value(point.ttft_p50_s, "s")),
            Cell(_share(point.error_rate), Tone.BAD if point.error_rate > 0.01 else Tone.PLAIN),
            _met(point.met, point.client_limited),
        )
        for point in shown
    )
    left = len(item.curve) - len(shown)
    notes = (f"{left} further steps are in the result file.",) if left > 0 else ()
    return Table(f"{one_line(item.scenario)}, step by step", columns, rows, notes)


def _met(met: bool | None, client: bool) -> Cell:
    if client:
        return Cell("client", Tone.WARN)
    return Cell("", Tone.PLAIN) if met is None else Cell("met", Tone.GOOD) if met else Cell("missed", Tone.BAD)


def _figures(report: StressReport) -> Table:
    rows = tuple(
        (
            Cell(one_line(item.scenario)),
            Cell(one_line(_figure_name(name))),
            Cell(_figure(name, value)),
        )
        for item in report.scenarios
        for name, value in item.figures.items()
        if value is not None
    )
    return Table("Figures", (Column("scenario"), Column("figure", wrap=True), Column("value", Align.RIGHT)), rows)


def _figure_name(name: str) -> str:
    """Without the unit, which the value shows."""
    for suffix in (*_A_SECOND, "_per_s", "_bytes", "_s"):
        if name.endswith(suffix):
            name = name.removesuffix(suffix)
            break
    return name.replace("_", " ")


def _figure(name: str, value: float) -> str:
    from agentdyno.model.metric import known_metric

    if name.endswith(("_rate", "_share")):
        return _share(value)
    for suffix, unit in _A_SECOND.items():
        if name.endswith(suffix):
            return f"{format_value(value, unit)}/s"
    return known_metric(name).format(value)


def _recommendations(report: StressReport) -> Table:
    tones = {"high": Tone.BAD, "medium": Tone.WARN}
    columns = (Column("priority"), Column("what to do", wrap=True), Column("evidence", wrap=True, below=True))
    rows = tuple(
        (
            Cell(item.priority, tones.get(item.priority, Tone.PLAIN)),
            Cell(one_line(item.text)),
            Cell(_evidence(item.scenario, item.evidence), Tone.MUTED),
        )
        for item in report.recommendations
    )
    return Table("Recommendations", columns, rows)


def _evidence(scenario: str, evidence: str) -> str:
    name, text = one_line(scenario), one_line(evidence)
    return text if text.startswith(name) else f"{name}: {text}"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1%}" if value else "0"


def sections(found: Conclusions) -> Iterator[Section]:
    """One per load run."""
    for report in found.stress:
        yield _stress(report)


def _stress(report: StressReport) -> Section:
    from agentdyno.findings.stress.charts import distribution_chart, knee_chart, over_time_chart, scaling_chart

    if not report.scenarios:
        nothing = Lead("nothing measured", "the load ended before its first window was over.", Tone.WARN)
        return Section(f"{one_line(report.agent_id)} under load", nothing, ())
    broke = [one_line(item.scenario) for item in report.scenarios if item.broke]
    held = sum(map(_held, report.scenarios))
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
