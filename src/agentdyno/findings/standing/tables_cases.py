"""Tables of cases in a suite's run: those that failed, and those that two agents decide differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentdyno.findings.standing.model import FailedCase, HeadToHead, SuiteStanding
from agentdyno.findings.standing.tables_labels import agent_labels
from agentdyno.findings.standing.words import pair_sentence
from agentdyno.model.case import CaseKey
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, count, one_line, verdict_text

MOST_CHANGED = 12
"""Cases that a head-to-head names on each side."""


def failed(standing: SuiteStanding, run: str, limit: int = 10) -> Table | None:
    """Cases that were not passed, the first of every arm first: what was wanted, what the agent answered, and why
    that is wrong, in the scorer's words.

    ``run`` is how a command names the run.
    """
    if not standing.failed_total:
        return None
    labels = agent_labels(standing)
    columns = (
        Column("case", wrap=True),
        Column("agent", wrap=True),
        Column("ended", wrap=True, priority=1),
        Column("want", wrap=True),
        Column("got", wrap=True),
        Column("why", wrap=True),
    )
    places: Counter[tuple[str, str]] = Counter()
    ranked = []
    for item in standing.failed:
        arm = (item.benchmark, item.agent)
        ranked.append((places[arm], item))
        places[arm] += 1
    shown = [item for _, item in sorted(ranked, key=lambda pair: pair[0])][:limit]
    rows = tuple(
        (
            Cell(one_line(item.case_id)),
            Cell(labels.get(item.agent, one_line(item.agent))),
            Cell(item.status if item.tries == 1 else f"{item.status} {item.bad} of {item.tries}", Tone.BAD),
            Cell(one_line(item.want, 80) or NOTHING),
            Cell(one_line(item.got, 120) or NOTHING),
            Cell(one_line(item.why, 120) or NOTHING, Tone.MUTED),
        )
        for item in shown
    )
    return Table("Failed cases", columns, rows, _where_more(standing, shown, run))


def _where_more(standing: SuiteStanding, shown: Sequence[FailedCase], run: str) -> tuple[str, ...]:
    """The commands that show one of the cases whole, and those that are not listed."""
    notes = []
    if shown:
        notes.append(f"One of them whole: `dyno show {run} --case {shell_word(shown[0].case_id)}`")
    left = standing.failed_total - len(shown)
    if left > 0:
        notes.append(f"{left:,} more: `dyno show {run} --failed`")
    return tuple(notes)


def scorers(standing: SuiteStanding) -> Table | None:
    """Scorers that raised or had no verdict: how often, why, and where; nothing where all could judge."""
    if not standing.scorers:
        return None
    labels = agent_labels(standing)
    several = len(standing.benchmarks) > 1
    columns = (
        Column("scorer", wrap=True),
        Column("agent", wrap=True),
        Column("raised", Align.RIGHT),
        Column("no verdict", Align.RIGHT),
        Column("answers", Align.RIGHT),
        Column("cases", wrap=True, priority=1),
        Column("why", wrap=True, below=True),
    )
    rows = []
    for item in standing.scorers:
        left = item.cases_total - len(item.cases)
        agent = labels.get(item.agent, one_line(item.agent))
        rows.append(
            (
                Cell(one_line(item.scorer)),
                Cell(f"{agent} in {one_line(item.benchmark)}" if several else agent),
                Cell(f"{item.raised:,}", Tone.BAD if item.raised else Tone.MUTED),
                Cell(f"{item.unscored:,}", Tone.WARN if item.unscored else Tone.MUTED),
                Cell(f"{item.answers:,}"),
                Cell(", ".join(map(one_line, item.cases)) + (f" and {left:,} more" if left else "")),
                Cell(one_line(item.why, 300), Tone.MUTED),
            )
        )
    notes = []
    if any(item.raised for item in standing.scorers):
        notes.append("An answer on which a scorer raised has 0 from it and is failed.")
    if any(item.unscored for item in standing.scorers):
        notes.append("No verdict is no value: an answer that needs it has no score.")
    return Table("Scorers that could not judge", columns, tuple(rows), tuple(notes))


def shell_word(text: str) -> str:
    """The text as one word of a command line."""
    import shlex

    return shlex.quote(one_line(text))


def duel(standing: SuiteStanding, most: int = MOST_CHANGED) -> Table | None:
    """The head-to-head that matters most: which cases were fixed, which broke."""
    found = standing.head_to_head
    if found is None or not found.cases:
        return None
    labels = agent_labels(standing)
    first, second = (labels.get(agent, one_line(agent)) for agent in (found.baseline, found.candidate))
    same_agent = found.baseline.rpartition("@")[0] == found.candidate.rpartition("@")[0] != ""
    only_second, only_first = ("fixed", "broken") if same_agent else (f"only {second}", f"only {first}")
    several = len(standing.benchmarks) > 1
    rows = (
        _changed(only_second, found.fixed, Tone.GOOD, several, most),
        _changed(only_first, found.broken, Tone.BAD if same_agent else Tone.PLAIN, several, most),
        (Cell("right in both"), Cell(f"{found.both_right:,}"), Cell("")),
        (Cell("wrong in both"), Cell(f"{found.both_wrong:,}"), Cell("")),
    )
    columns = (Column("", wrap=True), Column("cases", Align.RIGHT), Column("which", wrap=True))
    return Table(f"{first} → {second}", columns, rows, (*duel_notes(found), *_weighing(standing)))


def difference_lines(standing: SuiteStanding, most: int = 5) -> tuple[str, ...]:
    """The head-to-head in a few lines: the cases that only one of both gets right, where there are more than two
    agents who was compared and the verdict, and why its accuracy is not that of the agents where it is not."""
    found = standing.head_to_head
    if found is None or not found.cases:
        return ()
    labels = agent_labels(standing)
    lines = [pair_sentence(found, labels)] if len(standing.agents) > 2 and found.difference is not None else []
    first, second = (labels.get(agent, one_line(agent)) for agent in (found.baseline, found.candidate))
    same_agent = found.baseline.rpartition("@")[0] == found.candidate.rpartition("@")[0] != ""
    told = ("Fixed", "Broken") if same_agent else (f"Only {second} passes", f"Only {first} passes")
    for what, keys in zip(told, (found.fixed, found.broken), strict=True):
        if keys:
            names = ", ".join(one_line(key.case_id) for key in keys[:most])
            lines.append(f"{what}: {names}" + (f" and {len(keys) - most} more" if len(keys) > most else ""))
    return (*lines, *_weighing(standing))


def _weighing(standing: SuiteStanding) -> tuple[str, ...]:
    """A sentence where the head-to-head tells another accuracy than the agents have: benchmarks differ in size."""
    found, many = standing.head_to_head, len(standing.benchmarks)
    if found is None or many < 2:
        return ()
    means = {found.baseline: found.baseline_mean, found.candidate: found.candidate_mean}
    scores = {agent.agent: agent.scores["accuracy"].value for agent in standing.agents}
    if all(_hundred(mean) == _hundred(scores.get(agent)) for agent, mean in means.items()):
        return ()
    return (f"A pair's accuracy is over all its cases together, an agent's is the mean over {many} benchmarks.",)


def _changed(what: str, keys: Sequence[CaseKey], tone: Tone, several: bool, most: int) -> tuple[Cell, ...]:
    names = [one_line(f"{key.benchmark}/{key.case_id}" if several else key.case_id) for key in keys[:most]]
    if len(keys) > most:
        names.append(f"and {len(keys) - most} more")
    return (Cell(what, tone if keys else Tone.PLAIN), Cell(f"{len(keys):,}"), Cell(", ".join(names)))


def duel_notes(found: HeadToHead) -> tuple[str, ...]:
    """The difference in words, how it was tested, and what could have been seen."""
    if found.difference is None:
        return ()
    text = (
        f"{verdict_text(found.verdict)}: accuracy {_hundred(found.baseline_mean)} → {_hundred(found.candidate_mean)} "
        f"on {_share_of_cases(found)}, {100 * found.difference:+.0f} points"
    )
    if found.interval is not None:
        text += f" [{100 * found.interval[0]:+.0f}, {100 * found.interval[1]:+.0f}]"
    p_value = found.p_value if found.adjusted_p is None else found.adjusted_p
    told = "" if p_value is None else f"p = {p_value:.2g}, " if p_value >= 0.001 else "p < 0.001, "
    if told and found.family > 1:
        told = f"{told.removesuffix(', ')} after correction over {found.family} rows, "
    more = "" if found.more_cases is None else f"; about {count(found.more_cases, 'more case')} would decide"
    notes = [f"{text}; {told}{found.method}{more}."]
    if found.detectable is not None:
        notes.append(f"This many cases show a difference from {100 * found.detectable:.0f} points on, 8 times in 10.")
    if found.clusters < found.cases:
        notes.append(f"Cases of one group count together: {count(found.clusters, 'independent group')}.")
    if found.unpaired:
        notes.append(f"{count(found.unpaired, 'case')} without a score on both sides left out.")
    if not found.same_run:
        notes.append("From two runs, not interleaved: what changed in between looks like the agents' difference.")
    return tuple(notes)


def _share_of_cases(found: HeadToHead) -> str:
    if not found.unpaired:
        return count(found.cases, "case")
    return f"{found.cases:,} of {count(found.cases + found.unpaired, 'case')}"


def _hundred(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.0f}"
