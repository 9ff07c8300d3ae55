"""Tables of profiles, and the sections that reports show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from agentdyno.findings.profile.model import (
    PerformanceProfile,
    ProfileComparison,
    ProfilePhase,
    SpanTree,
    TokenAnalysis,
)
from agentdyno.findings.profile.words import phase_words
from agentdyno.model.findings import Findings
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, agent_names, change, count, one_line, percent, show

MOST_SPANS = 60
"""Of one execution, in a table; JSON has them all."""
MOST_TREES = 3
"""Executions of a case that are shown span by span."""
_EFFICIENCIES = ("cpu_efficiency", "memory_efficiency", "io_efficiency", "parallelization_score")
_READINGS = (
    ("cpu_s", "CPU time per execution", "s"),
    ("peak_rss_bytes", "highest peak of memory", "bytes"),
    ("read_bytes", "read from storage per execution", "bytes"),
    ("write_bytes", "written to storage per execution", "bytes"),
    ("gpu_percent", "GPU in use, per cent", ""),
    ("gpu_memory_bytes", "GPU memory", "bytes"),
)
_TOKENS = (
    ("input_tokens", "input"),
    ("output_tokens", "output"),
    ("cached_tokens", "of the input, from the provider's cache"),
    ("reasoning_tokens", "of the output, reasoning"),
    ("repeated_prefix_tokens", "of the input, a prefix sent before"),
    ("wasted_tokens", "wasted"),
    ("unused_tokens", "wasted: results that were not used"),
    ("retried_tokens", "wasted: the same prompt again"),
    ("truncated_tokens", "wasted: cut off at the limit"),
)


def profile_tables(profile: PerformanceProfile) -> list[Table]:
    """Phases, bottlenecks, use of resources, tokens, opportunities, and of one case its spans."""
    if not profile.executions:
        used = _utilisation(profile)
        return [] if used is None else [replace(used, title=f"Use of resources of {_subject(profile)}")]
    tables = [_phases(profile), _bottlenecks(profile), _utilisation(profile), _tokens(profile)]
    tables += [_opportunities(profile), *(_spans(tree) for tree in profile.trees[:MOST_TREES])]
    return [table for table in tables if table is not None]


def _phases(profile: PerformanceProfile) -> Table:
    columns = (
        Column("phase"),
        Column("self time", Align.RIGHT),
        Column("share", Align.RIGHT),
        Column("critical path", Align.RIGHT),
        Column("spans", Align.RIGHT, 1),
    )
    rows = tuple(
        (
            Cell(phase_words(ProfilePhase(phase.phase_name))),
            Cell(_ms(phase.duration_ms)),
            Cell(percent((phase.percentage_of_total or 0.0) / 100)),
            Cell(_ms(phase.critical_ms)),
            Cell(f"{phase.spans:,}"),
        )
        for phase in profile.profile_data.execution_phases
        if phase.duration_ms or phase.spans
    )
    mean = show(profile.wall_s / profile.executions, "s")
    notes = [
        f"Per execution; shares are of the wall time: {mean}, the mean of {count(profile.executions, 'execution')}. "
        "Spans that overlap are counted once: a moment is divided between those that are innermost in it."
    ]
    if profile.cpu_known < profile.executions:
        missing = profile.executions - profile.cpu_known
        notes.append(
            f"CPU time of {count(missing, 'execution')} is not known: there, own code may contain idle time."
        )
    if profile.without_spans:
        notes.append(f"{count(profile.without_spans, 'execution')} told nothing of what happened inside: left out.")
    if profile.unreadable:
        notes.append(f"{count(profile.unreadable, 'event')} with times that make no sense: left out.")
    if profile.beyond_measured:
        notes.append(
            f"In {count(profile.beyond_measured, 'execution')} spans end after the end that the bench measured: "
            "these times are what the agent says."
        )
    if profile.waited_s:
        notes.append(f"Between tries the bench waited {show(profile.waited_s, 's')} in all, outside the wall time.")
    if profile.traced:
        notes.append("The spans come from a pass with tracing on: times include what tracing takes.")
    return Table(f"Phases of {_subject(profile)}", columns, rows, tuple(notes))


def _bottlenecks(profile: PerformanceProfile) -> Table | None:
    found = profile.profile_data.bottlenecks
    if not found:
        return None
    columns = (
        Column("where", wrap=True),
        Column("takes", Align.RIGHT),
        Column("share", Align.RIGHT),
        Column("cause", wrap=True, priority=2),
        Column("evidence", wrap=True, priority=1),
        Column("suggestion", wrap=True, priority=3),
    )
    rows = tuple(
        (
            Cell(one_line(item.location, 80)),
            Cell(_ms(item.impact_ms)),
            Cell(percent(item.share), Tone.WARN if item.share >= 0.3 else Tone.PLAIN),
            Cell(item.cause),
            Cell("; ".join(one_line(text) for text in item.evidence)),
            Cell(item.optimization_suggestion),
        )
        for item in found
    )
    note = f"Time on the critical path per execution, and its share of {_ms(found[0].basis_ms)} wall time."
    return Table("Bottlenecks", columns, rows, (note,))


def _utilisation(profile: PerformanceProfile) -> Table | None:
    used = profile.profile_data.resource_utilization
    rows = [
        (Cell(name), Cell(show(getattr(used, name), "ratio")), Cell(profile.definitions.get(name, "")))
        for name in _EFFICIENCIES
        if getattr(used, name) is not None
    ]
    rows += [
        (Cell(label), Cell(show(getattr(used, name), unit)), Cell(""))
        for name, label, unit in _READINGS
        if getattr(used, name) is not None
    ]
    columns = (Column("what", wrap=True), Column("value", Align.RIGHT), Column("definition", wrap=True, priority=1))
    return Table("Use of resources", columns, tuple(rows)) if rows else None


def _tokens(profile: PerformanceProfile) -> Table | None:
    tokens = profile.profile_data.token_analysis
    rows = [
        (Cell(label), Cell(f"{getattr(tokens, name):,}"), Cell(_part(tokens, name)))
        for name, label in _TOKENS
        if getattr(tokens, name)
    ]
    if not rows:
        return None
    columns = (Column("tokens", wrap=True), Column("number", Align.RIGHT), Column("share", Align.RIGHT))
    notes = [f"Totals of {count(profile.executions, 'execution')}."]
    if tokens.calls:
        notes.append(f"{tokens.calls_with_usage:,} of {count(tokens.calls, 'model call')} told their usage.")
    if tokens.token_efficiency is not None:
        notes.append(f"token_efficiency {tokens.token_efficiency:.3f}: {profile.definitions['token_efficiency']}")
    if tokens.cache_hits is not None:
        notes.append(f"cache_hits {tokens.cache_hits:,}: {profile.definitions['cache_hits']}")
    return Table("Tokens", columns, tuple(rows), tuple(notes))


def _part(tokens: TokenAnalysis, name: str) -> str:
    """``12 % of the input``."""
    value = getattr(tokens, name)
    if name in ("input_tokens", "output_tokens"):
        return ""
    if name in ("cached_tokens", "repeated_prefix_tokens"):
        return f"{percent(value / tokens.input_tokens)} of the input" if tokens.input_tokens else ""
    if name == "reasoning_tokens":
        return f"{percent(value / tokens.output_tokens)} of the output" if tokens.output_tokens else ""
    paid = (tokens.input_tokens or 0) + (tokens.output_tokens or 0)
    return f"{percent(value / paid)} of all" if paid else ""


def _opportunities(profile: PerformanceProfile) -> Table | None:
    found = profile.optimization_opportunities
    if not found:
        return None
    columns = (
        Column("saves at most", Align.RIGHT, wrap=True),
        Column("how", wrap=True),
        Column("effort"),
        Column("evidence", wrap=True, priority=1),
    )
    rows = tuple(
        (
            Cell(f"{_amount(item.saving, item.unit)}, {percent(item.estimated_impact)} {item.basis}"),
            Cell(item.potential_improvement),
            Cell(item.implementation_effort.value),
            Cell("; ".join(one_line(text) for text in item.evidence)),
        )
        for item in found
    )
    note = "Amounts are per execution, if the cause were gone and nothing else changed; they do not add up."
    return Table("What could be saved", columns, rows, (note,))


def _spans(tree: SpanTree) -> Table:
    columns = (
        Column("span", wrap=True),
        Column("phase"),
        Column("at", Align.RIGHT),
        Column("took", Align.RIGHT),
        Column("self", Align.RIGHT, 1),
        Column("critical", Align.RIGHT, 1),
        Column("tokens", Align.RIGHT, 2),
    )
    rows = tuple(
        (
            Cell("· " * span.depth + one_line(span.name or span.kind, 60), Tone.BAD if span.failed else Tone.PLAIN),
            Cell(phase_words(span.phase)),
            Cell(_s(span.start_s), Tone.MUTED),
            Cell(_s(span.duration_s)),
            Cell(_s(span.self_s)),
            Cell(_s(span.critical_s)),
            Cell(_in_out(span.input_tokens, span.output_tokens)),
        )
        for span in tree.spans[:MOST_SPANS]
    )
    notes = [f"Wall time {show(tree.wall_s, 's')}; {show(tree.outside_s, 's')} of it in no span."]
    if len(tree.spans) > MOST_SPANS:
        notes.append(f"{len(tree.spans) - MOST_SPANS:,} more spans: --json has them all.")
    return Table(f"Spans of case {one_line(tree.case_id)}, epoch {tree.iteration + 1}", columns, rows, tuple(notes))


def comparison_table(found: ProfileComparison) -> Table:
    """Both sides per execution, and the change."""
    names = agent_names((found.baseline.agent_id, found.candidate.agent_id))
    columns = (
        Column("what"),
        Column(f"baseline {names[found.baseline.agent_id]}", Align.RIGHT, wrap=True),
        Column(f"candidate {names[found.candidate.agent_id]}", Align.RIGHT, wrap=True),
        Column("change", Align.RIGHT),
    )
    rows = tuple(
        (
            Cell(_quantity(item.name)),
            Cell(show(item.baseline, item.unit)),
            Cell(show(item.candidate, item.unit)),
            Cell(change(item.ratio)),
        )
        for item in found.changes
    )
    notes = (
        f"Means per execution, on {count(found.cases, 'case')} that both sides have spans of. Differences are shown "
        "and not judged: dyno compare judges.",
    )
    return Table("Profiles side by side", columns, rows, notes)


def _quantity(name: str) -> str:
    return phase_words(ProfilePhase(name)) if name in set(ProfilePhase) else name.replace("_", " ")


def _subject(profile: PerformanceProfile) -> str:
    told = one_line(profile.agent_id) + (" (simulated)" if profile.simulated else "")
    return told if profile.case_id is None else f"{told}, case {one_line(profile.case_id)}"


def _lead(profile: PerformanceProfile) -> Lead:
    found = profile.profile_data.bottlenecks
    if not profile.executions:
        return Lead(
            "no spans",
            f"{_subject(profile)} told nothing of what happens inside. Model calls, tools and steps become spans "
            "with the proxy, with --otel, or recorded by itself.",
            Tone.WARN,
        )
    first = f"; the most time is in {one_line(found[0].location)}: {percent(found[0].share)}" if found else ""
    mean = show(profile.wall_s / profile.executions, "s")
    return Lead("profile", f"{_subject(profile)}: {mean} wall time per execution{first} of it.", Tone.PLAIN)


def _pictures(profile: PerformanceProfile, number: int) -> Iterator[Picture]:
    from agentdyno.findings.profile.charts import flame, phase_bars, waterfall

    if not profile.executions:
        return
    yield Picture(f"profile-phases-{number}", "Self time of each phase per execution.", partial(phase_bars, profile))
    for tree in profile.trees[:MOST_TREES]:
        stem = f"{number}-{tree.iteration + 1}"
        yield Picture(f"profile-waterfall-{stem}", "Spans in time.", partial(waterfall, tree), wide=True)
        yield Picture(f"profile-flame-{stem}", "Spans by depth.", partial(flame, tree), wide=True)


def sections(found: Findings) -> Iterator[Section]:
    """One per profile, and one per pair of them."""
    profiles: Sequence[PerformanceProfile] = getattr(found, "profiles", ())
    for number, profile in enumerate(profiles, start=1):
        tables = tuple(profile_tables(profile))
        yield Section("Profile", _lead(profile), tables, tuple(_pictures(profile, number)))
    compared: Sequence[ProfileComparison] = getattr(found, "profile_comparisons", ())
    for number, pair in enumerate(compared, start=len(profiles) + 1):
        text = f"{_subject(pair.candidate)} beside {_subject(pair.baseline)}."
        tables = (comparison_table(pair), *profile_tables(pair.candidate))
        yield Section("Profiles", Lead("side by side", text), tables, tuple(_pictures(pair.candidate, number)))


def _ms(value: float) -> str:
    return _s(value / 1000.0)


def _s(value: float) -> str:
    return show(value, "s") if value else "0 s"


def _amount(value: float, unit: str) -> str:
    return show(value, "s") if unit == "s" else f"{value:,.0f} {unit}"


def _in_out(asked: int | None, written: int | None) -> str:
    return NOTHING if asked is None and written is None else f"{asked or 0:,} + {written or 0:,}"
