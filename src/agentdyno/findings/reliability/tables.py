"""Tables of how far agents can be relied on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.reliability.model import Reliability
from agentdyno.findings.standing.model import ScoreEstimate
from agentdyno.findings.standing.tables_labels import points
from agentdyno.model import Status
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, agent_names, count, label, one_line, percent

MOST_CLASSES = 12
"""Error classes of an agent that are shown."""
MOST_BROKEN = 6
_SHOWN_K = (1, 2, 3, 5, 10, 20)
_SPREADS = ("duration_s", "total_tokens", "cost_usd", "cpu_s", "peak_rss_bytes")


def reliability_tables(found: Sequence[Reliability]) -> list[Table]:
    """pass^k, consistency, errors by class, spread of resources, and other forms of the same questions."""
    if not found:
        return []
    tables = (_shares(found), _errors(found), _spread(found), _perturbed(found))
    return [table for table in tables if table is not None]


def _names(found: Sequence[Reliability]) -> dict[int, str]:
    """By place; with the benchmark where one is meant."""
    names = agent_names(item.agent for item in found)
    return {
        place: names[item.agent]
        + (f" in {one_line(item.benchmark)}" if item.benchmark else "")
        + (" (simulated)" if item.simulated else "")
        for place, item in enumerate(found)
    }


def _shares(found: Sequence[Reliability]) -> Table:
    names = _names(found)
    most = max((k for item in found for k, _ in item.pass_hat), default=1)
    ks = [k for k in _SHOWN_K if k < most] + [most]
    columns = [Column("agent", wrap=True, heading=True), Column("tries", Align.RIGHT, 3)]
    columns += [Column(f"pass^{k}", Align.RIGHT, 0 if k in (1, most) else 2) for k in ks]
    columns += [
        Column(f"pass@{most}", Align.RIGHT, 4),
        Column("consistent", Align.RIGHT, 1),
        Column("flaky", Align.RIGHT, 1),
        Column("errors", Align.RIGHT),
    ]
    rows = []
    for place, item in enumerate(found):
        hats, ats = dict(item.pass_hat), dict(item.pass_at)
        cells = [Cell(names[place]), Cell(f"{item.tries:,}")]
        cells += [_points(hats.get(k)) for k in ks]
        cells += [
            Cell(NOTHING, Tone.MUTED) if most not in ats else Cell(f"{100 * ats[most]:.0f}"),
            _points(item.consistency),
            Cell(f"{item.flaky:,}/{item.cases:,}", Tone.WARN if item.flaky else Tone.PLAIN),
            Cell(percent(item.error_rate), Tone.BAD if item.error_rate else Tone.PLAIN),
        ]
        rows.append(tuple(cells))
    notes = [
        "Points of 100 with their 95 % interval. pass^k: k tries of a case all succeed; pass@k: one of k does. "
        "Consistent: two tries of a case end alike. Flaky: cases that passed sometimes."
    ]
    if most == 1:
        notes.append("One try per case tells nothing of repeats: run with more epochs.")
    return Table("Reliability", tuple(columns), tuple(rows), tuple(notes))


def _points(estimate: ScoreEstimate | None) -> Cell:
    text = points(estimate)
    return Cell(text, Tone.MUTED if text == NOTHING else Tone.PLAIN)


def _errors(found: Sequence[Reliability]) -> Table | None:
    """What did not pass, by how it ended and what it said."""
    names = _names(found)
    columns = (
        Column("agent", wrap=True),
        Column("times", Align.RIGHT),
        Column("ended", wrap=True),
        Column("message", wrap=True),
        Column("cases", wrap=True, priority=2),
    )
    rows = []
    left = 0
    for place, item in enumerate(found):
        left += max(0, len(item.errors) - MOST_CLASSES)
        for one in item.errors[:MOST_CLASSES]:
            wrong = one.status in (Status.OK.value, Status.FAILED.value)
            ended = one.status if not one.kind or one.kind == one.status else f"{one.status}, {one.kind}"
            rows.append(
                (
                    Cell(names[place]),
                    Cell(f"{one.count:,}"),
                    Cell("answered" if one.status == Status.OK.value else ended, Tone.PLAIN if wrong else Tone.BAD),
                    Cell(one_line(one.message, 160) or ("wrong answer" if wrong else NOTHING)),
                    Cell(", ".join(one_line(case) for case in one.cases)),
                )
            )
    if not rows:
        return None
    notes = (f"{left:,} more classes of errors, in the other report formats.",) if left else ()
    return Table("What did not pass", columns, tuple(rows), notes)


def _spread(found: Sequence[Reliability]) -> Table | None:
    metrics = [name for name in _SPREADS if any(name in item.spread for item in found)]
    if not metrics:
        return None
    names = _names(found)
    columns = (
        Column("agent", wrap=True),
        *(Column(label(name), Align.RIGHT, place) for place, name in enumerate(metrics)),
    )
    rows = tuple(
        (
            Cell(names[place]),
            *(
                Cell(f"±{percent(item.spread[name])}") if name in item.spread else Cell(NOTHING, Tone.MUTED)
                for name in metrics
            ),
        )
        for place, item in enumerate(found)
    )
    notes = ("Standard deviation between tries of a case, in per cent of what a try uses: the median over cases.",)
    return Table("Spread between tries", columns, rows, notes)


def _perturbed(found: Sequence[Reliability]) -> Table | None:
    names = _names(found)
    columns = (
        Column("agent", wrap=True),
        Column("pairs", Align.RIGHT),
        Column("original", Align.RIGHT),
        Column("other form", Align.RIGHT),
        Column("change", Align.RIGHT, wrap=True),
        Column("end alike", Align.RIGHT),
        Column("broken", wrap=True, priority=1),
    )
    rows = []
    for place, item in enumerate(found):
        pairs = item.perturbed
        if pairs is None:
            continue
        worse = pairs.interval is not None and pairs.interval[1] < 0
        named = ", ".join(one_line(case) for case in pairs.broken[:MOST_BROKEN])
        more = len(pairs.broken) - MOST_BROKEN
        rows.append(
            (
                Cell(names[place]),
                Cell(f"{pairs.pairs:,}"),
                Cell(f"{100 * pairs.original:.0f}"),
                Cell(f"{100 * pairs.perturbed:.0f}"),
                Cell(_change(pairs.change, pairs.interval), Tone.BAD if worse else Tone.PLAIN),
                Cell(percent(pairs.agreement)),
                Cell((named + (f" and {more:,} more" if more > 0 else "")) or NOTHING),
            )
        )
    if not rows:
        return None
    notes = ("Accuracy in points of 100. Broken: right in the original form, wrong in the other.",)
    return Table("The same questions in another form", columns, tuple(rows), notes)


def _change(change: float, interval: tuple[float, float] | None) -> str:
    text = f"{100 * change:+.0f}"
    return text if interval is None else f"{text} [{100 * interval[0]:+.0f}, {100 * interval[1]:+.0f}]"


def sections(found: Conclusions) -> Iterator[Section]:
    """One for all agents together."""
    if found.reliabilities:
        yield _reliability(found)


def _reliability(found: Conclusions) -> Section:
    from agentdyno.findings.reliability.charts import pass_curve

    whole = [item for item in found.reliabilities if not item.benchmark]
    text = f"{count(len(whole), 'agent')}: the chance that k tries of a case all succeed."
    drawn = [item for item in whole if len(item.pass_hat) > 1]
    caption = "pass^k: the share of cases that would succeed k times in a row, with 95 % intervals."
    pictures = (Picture("pass-curve", caption, partial(pass_curve, drawn)),) if drawn else ()
    tables = tuple(reliability_tables(found.reliabilities))
    return Section("Reliability", Lead("reliability", text), tables, pictures)
