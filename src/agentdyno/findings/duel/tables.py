"""Tables of a head-to-head and of all against all: who is better in what, by how much, and on which cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from agentdyno.findings.board.tables import MOST_RADAR
from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.duel.model import AllAgainstAll, Duel, PairedRow
from agentdyno.findings.duel.words import change_text, p_text, row_name, success_text
from agentdyno.findings.figures.dimensions import DIMENSIONS
from agentdyno.findings.gate.words import broke_words
from agentdyno.model import Verdict
from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import (
    NOTHING,
    agent_names,
    count,
    label,
    one_line,
    show,
    side_by_side,
    verdict_text,
    verdict_tone,
)

MOST_CASES = 12
"""Cases that are named on each side, and rows of disagreements."""
_ROW_COLUMNS = (
    Column("", wrap=True),
    Column("baseline", Align.RIGHT, 1),
    Column("candidate", Align.RIGHT, 1),
    Column("change [95 %]", Align.RIGHT),
    Column("verdict"),
    Column("p", Align.RIGHT, 3),
    Column("effect", Align.RIGHT, 5),
    Column("won:lost", Align.RIGHT, 6),
    Column("visible from", Align.RIGHT, 4),
    Column("note", wrap=True, below=True, priority=7),
)


def duel_tables(found: Duel) -> list[Table]:
    """What was seen of single cases first; then what it means for others: the dimensions, each benchmark where there
    are several, the cases that differ, and what to do."""
    names = agent_names((found.baseline, found.candidate))
    made = [_seen(found, names)] if found.steady_broken or found.steady_fixed else []
    made.append(_dimensions(found, names))
    benchmarks = {row.benchmark for row in found.benchmark_rows}
    if len(benchmarks) > 1:
        made.append(_benchmarks(found))
    if found.flips.cases:
        made.append(_flips(found, names))
    if found.recommendations:
        rows = tuple((Cell(_renamed(text, names)),) for text in found.recommendations)
        made.append(Table("What to do", (Column("", wrap=True),), rows))
    return made


def tournament_tables(found: AllAgainstAll) -> list[Table]:
    """Who beats whom, every pair in numbers, and the cases on which the agents disagree."""
    names = agent_names(found.agents)
    made = [_standings(found, names), _pairs(found, names)]
    if any(case.disagree for case in found.cases):
        made.append(_disagreements(found))
    return made


def duel_title(found: Duel) -> str:
    names = agent_names((found.baseline, found.candidate))
    return f"{names[found.baseline]} → {names[found.candidate]}"


def _seen(found: Duel, names: Mapping[str, str]) -> Table:
    """Cases that one side gets right in every try and the other in none: facts, whatever other cases would show."""
    first, second = names[found.baseline], names[found.candidate]
    same_agent = found.baseline.rpartition("@")[0] == found.candidate.rpartition("@")[0] != ""
    broken, fixed = ("broken", "fixed") if same_agent else (f"only {first}", f"only {second}")
    rows = [
        _named(what, keys, tone if same_agent else Tone.PLAIN)
        for what, keys, tone in ((broken, found.steady_broken, Tone.BAD), (fixed, found.steady_fixed, Tone.GOOD))
        if keys
    ]
    columns = (Column("", wrap=True), Column("cases", Align.RIGHT), Column("which", wrap=True))
    return Table("Seen: right in every try of one, wrong in every one of the other", columns, tuple(rows))


def _dimensions(found: Duel, names: Mapping[str, str]) -> Table:
    rows = tuple(_row(row) for row in found.rows)
    why = _renamed(found.why, names)
    notes = [f"Winner: {names[found.winner]}: {why}." if found.winner is not None else f"{_capital(why)}."]
    tested = [row for row in found.rows if row.adjusted_p is not None]
    if tested:
        cases, units = max((row.cases, row.clusters) for row in tested)
        paired = f"Paired by case, {count(cases, 'case')}"
        if units < cases:
            paired += f" in {count(units, 'independent group')}"
        notes.append(f"{paired}; p is after Holm's correction{_families(tested)}.")
    if found.flips.cases or found.flips.unpaired:
        notes.append(_accuracy_note(found))
    if (told := success_text(found.row("cost"))) is not None:
        notes.append(told)
    if not found.paired:
        notes.append("From separate runs, not interleaved.")
    if any(row.level < 0.05 for row in tested):
        notes.append(
            "Rows of separate runs are held against the spread between runs, at 1 % and with 99 % intervals."
        )
    won = [
        f"{category}: {names.get(winner, one_line(winner))}"
        for category, winner in found.category_winners.items()
        if winner
    ]
    if won:
        notes.append(f"Better accuracy by category: {', '.join(won)}.")
    return Table(duel_title(found), _ROW_COLUMNS, rows, tuple(notes))


def _families(tested: Sequence[PairedRow]) -> str:
    """Over how many rows accuracy and the others were corrected: `` (accuracy over 2 rows, the others over 5)``."""
    critical = {row.family for row in tested if row.metric == "accuracy"}
    others = {row.family for row in tested if row.metric not in ("accuracy", "error_rate")}
    sizes = [max(found) for found in (critical, others) if found]
    if len(sizes) < 2:
        return f" over {count(sizes[0], 'row')}"
    return f": accuracy over {count(sizes[0], 'row')}, the others over {sizes[1]}"


def _accuracy_note(found: Duel) -> str:
    cases = count(found.flips.cases + found.flips.unpaired, "case")
    if not found.flips.unpaired:
        return f"Accuracy is of {cases}."
    return f"Accuracy is of {found.flips.cases:,} of {cases}: the others lack a score or an equal on a side."


def _row(row: PairedRow) -> tuple[Cell, ...]:
    name, (baseline, candidate) = row_name(row), (_level(row, row.baseline), _level(row, row.candidate))
    if row.unit == "usd":
        of, (baseline, candidate) = side_by_side("cost", (row.baseline, row.candidate), row.unit)
        name = name if of == "cost" else f"{of} cases"
    return (
        Cell(name),
        Cell(baseline),
        Cell(candidate),
        Cell(_change(row)),
        Cell(_verdict(row), verdict_tone(row.verdict)),
        Cell(NOTHING if row.p_value is None else p_text(row).removeprefix("p ").removeprefix("= ")),
        Cell(NOTHING if row.effect is None else f"{row.effect:+.2f}"),
        Cell(f"{row.wins}:{row.losses}" if row.wins or row.losses else NOTHING),
        Cell(NOTHING if row.detectable is None else change_text(row, row.detectable).removeprefix("+")),
        Cell(_note(row), Tone.MUTED),
    )


def _change(row: PairedRow) -> str:
    """``+9.4 [+4.7, +14.1] pts``: the unit once, at the end."""
    text = change_text(row, row.change).replace("points", "pts")
    if row.change is None or row.interval is None:
        return text
    value, _, unit = text.partition(" ")
    low, high = (change_text(row, end).partition(" ")[0] for end in row.interval)
    return f"{value} [{low}, {high}] {unit}".rstrip()


def _level(row: PairedRow, value: float | None) -> str:
    """Shares in points of a hundred, an index of several resources as it is."""
    if value is None:
        return NOTHING
    if row.unit == "ratio" and not row.relative:
        return f"{100 * value:.1f}"
    return f"{value:.2f}" if row.unit == "ratio" else show(value, row.unit)


def _verdict(row: PairedRow) -> str:
    if row.verdict is not None:
        return verdict_text(row.verdict)
    return "not compared" if row.change is None else "not judged"


def _note(row: PairedRow) -> str:
    if row.verdict is None or row.verdict is Verdict.INCONCLUSIVE:
        more = "" if row.more_cases is None else f"; about {count(row.more_cases, 'more case')} would decide"
        return one_line(f"{row.reason}{more}")
    return ""


def _benchmarks(found: Duel) -> Table:
    columns = (
        Column("benchmark", wrap=True, heading=True),
        Column("", wrap=True),
        Column("baseline", Align.RIGHT, 2),
        Column("candidate", Align.RIGHT, 1),
        Column("change [95 %]", Align.RIGHT),
        Column("verdict"),
        Column("cases", Align.RIGHT, 3),
    )
    compared = [row for row in found.benchmark_rows if row.verdict is not None]
    rows = tuple((Cell(one_line(row.benchmark)), *_row(row)[:5], Cell(f"{row.cases:,}")) for row in compared)
    left = len(found.benchmark_rows) - len(compared)
    notes = ["Corrected together over all of them; they explain, the rows above decide."]
    if left:
        notes.append(f"{count(left, 'row')} not compared left out.")
    return Table("By benchmark", columns, rows, tuple(notes))


def _flips(found: Duel, names: Mapping[str, str]) -> Table:
    flips = found.flips
    first, second = names[found.baseline], names[found.candidate]
    same_agent = found.baseline.rpartition("@")[0] == found.candidate.rpartition("@")[0] != ""
    only_second, only_first = ("fixed", "broken") if same_agent else (f"only {second}", f"only {first}")
    rows = (
        _named(only_second, flips.fixed, Tone.GOOD),
        _named(only_first, flips.broken, Tone.BAD if same_agent else Tone.PLAIN),
        (Cell("right in both"), Cell(f"{flips.both_right:,}"), Cell("")),
        (Cell("wrong in both"), Cell(f"{flips.both_wrong:,}"), Cell("")),
    )
    columns = (Column("", wrap=True), Column("cases", Align.RIGHT), Column("which", wrap=True))
    notes = (f"{count(flips.unpaired, 'case')} without a score on both sides left out.",) if flips.unpaired else ()
    return Table("Cases decided differently", columns, rows, notes)


def _named(what: str, keys: Sequence[CaseKey], tone: Tone) -> tuple[Cell, ...]:
    several = len({key.benchmark for key in keys}) > 1
    listed = [one_line(f"{key.benchmark}/{key.case_id}" if several else key.case_id) for key in keys[:MOST_CASES]]
    if len(keys) > MOST_CASES:
        listed.append(f"and {len(keys) - MOST_CASES} more")
    return Cell(what, tone if keys else Tone.PLAIN), Cell(f"{len(keys):,}"), Cell(", ".join(listed))


def _standings(found: AllAgainstAll, names: Mapping[str, str]) -> Table:
    """A square of agents, told apart by numbers so that many fit beside each other."""
    places = {agent: place for place, agent in enumerate(found.agents, start=1)}
    results = {(item.baseline, item.candidate): item for item in found.duels}
    columns = (
        Column("agent", wrap=True),
        Column("wins", Align.RIGHT),
        *(Column(str(place), priority=place) for place in places.values()),
    )
    rows = tuple(
        (
            Cell(f"{places[agent]} {names[agent]}", Tone.GOOD if agent == found.winner else Tone.PLAIN),
            Cell(str(found.wins[agent])),
            *(_result(results, agent, other) for other in found.agents),
        )
        for agent in found.agents
    )
    why = _renamed(found.why, names)
    notes = [f"Winner: {names[found.winner]}: {why}." if found.winner is not None else f"{_capital(why)}."]
    notes.append("A row wins or loses against the agent with the number above; ? is not decided.")
    return Table(f"All against all: {one_line(found.suite)}", columns, rows, tuple(notes))


def _result(results: Mapping[tuple[str, str], Duel], agent: str, other: str) -> Cell:
    item = results.get((agent, other)) or results.get((other, agent))
    if agent == other:
        return Cell("·", Tone.MUTED)
    if item is None:
        return Cell(NOTHING, Tone.MUTED)
    if item.winner is None:
        return Cell("?", Tone.WARN)
    return Cell("✓ wins", Tone.GOOD) if item.winner == agent else Cell("✗ loses", Tone.BAD)


def _pairs(found: AllAgainstAll, names: Mapping[str, str]) -> Table:
    columns = (
        Column("baseline → candidate", wrap=True, heading=True),
        Column("accuracy [95 %]", Align.RIGHT),
        Column("time", Align.RIGHT, 3),
        Column("cost", Align.RIGHT, 3),
        Column("winner", wrap=True),
        Column("why", wrap=True, below=True, priority=5),
    )
    rows = []
    for item in found.duels:
        accuracy, speed, cost = (item.row(name) for name in ("accuracy", "speed", "cost"))
        rows.append(
            (
                Cell(f"{names[item.baseline]} → {names[item.candidate]}"),
                Cell(_change(accuracy), verdict_tone(accuracy.verdict)),
                Cell(change_text(speed, speed.change), verdict_tone(speed.verdict)),
                Cell(change_text(cost, cost.change), verdict_tone(cost.verdict)),
                Cell(NOTHING if item.winner is None else names[item.winner]),
                Cell(_renamed(item.why, names), Tone.MUTED),
            )
        )
    tested = sum(row.adjusted_p is not None for item in found.duels for row in item.rows)
    notes = (f"Holm's correction within the families of all {count(tested, 'row')} of all pairs together.",)
    return Table("Pairs", columns, tuple(rows), notes)


def _disagreements(found: AllAgainstAll) -> Table:
    divided = [case for case in found.cases if case.disagree]
    columns = (
        Column("case", wrap=True),
        *(Column(str(place), Align.RIGHT, place) for place in range(1, len(found.agents) + 1)),
    )
    rows = tuple(
        (
            Cell(one_line(f"{case.key.benchmark}/{case.key.case_id}")),
            *(
                Cell(NOTHING if (score := case.scores[agent]) is None else f"{100 * score:.0f}")
                for agent in found.agents
            ),
        )
        for case in divided[:MOST_CASES]
    )
    left = len(divided) - len(rows)
    notes = ["Scores in points, agents by their numbers above."]
    if left > 0:
        notes.append(f"{count(left, 'more case')} on which they disagree.")
    return Table("Cases on which they disagree", columns, rows, tuple(notes))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Sentences of the analysis name agents in full; the longest first, as one name may begin another."""
    for agent in sorted(names, key=len, reverse=True):
        text = text.replace(agent, names[agent])
    return one_line(text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sections(found: Conclusions) -> Iterator[Section]:
    """Head-to-heads, then what came of all against all."""
    for number, duel in enumerate(found.duels, start=1):
        title = f"{one_line(duel.baseline)} → {one_line(duel.candidate)}"
        tone = Tone.PLAIN if duel.winner is None else Tone.GOOD if duel.winner == duel.candidate else Tone.BAD
        word = "no winner" if duel.winner is None else f"{one_line(duel.winner)} wins"
        pictures = [_dumbbell(duel, number)]
        if number == 1:
            pictures += _spreads(found.records)
        yield Section(
            title,
            Lead(word, _lead_text(duel), tone),
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


def _lead_text(duel: Duel) -> str:
    """What was seen, where cases of one agent broke, and then why there is a winner or none."""
    why = one_line(duel.why.removeprefix("no winner: "))
    same_agent = duel.baseline.rpartition("@")[0] == duel.candidate.rpartition("@")[0] != ""
    seen = broke_words(duel.steady_broken) if same_agent else ""
    named = why.startswith((duel.baseline, duel.candidate))
    return f"{one_line(seen)}. {why if named else _capital(why)}" if seen else why


def _dumbbell(duel: Duel, number: int) -> Picture:
    from agentdyno.findings.duel.charts import dumbbell_chart

    caption = "Every dimension of baseline and candidate; filled where the difference is more than chance."
    return Picture(f"head-to-head-{number}", caption, partial(dumbbell_chart, duel), wide=True)


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
