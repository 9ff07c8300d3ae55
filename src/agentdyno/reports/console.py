"""Tables and reports for a terminal of a given width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

from agentdyno.contracts import Report
from agentdyno.findings.catalogue import sections
from agentdyno.findings.run import tables as run_tables
from agentdyno.findings.run.tables import CONSOLE_DETAILS
from agentdyno.findings.standing.model import SuiteFindings, SuiteStanding
from agentdyno.findings.standing.tables_labels import standing_in, with_standings
from agentdyno.model import RunResult
from agentdyno.registry.installed import has_windows
from agentdyno.reports.layout import GAP, Layout, fold, lay_out
from agentdyno.reports.outline import Headline, Notice, facts, headlines, notices
from agentdyno.show.table import Align, Cell, Table, Tone
from agentdyno.show.wording import NOTHING, RUN_ID_LENGTH, count, one_line, plain

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.BAD: "bold red",
    Tone.WARN: "yellow",
    Tone.MUTED: "bright_black",
}
_NARROWEST = 40
MOST_FAILED = 5
"""Failed cases on the first screen."""


def render_console(
    item: Report | Table | Sequence[Table], width: int = 80, color: bool = False, *, brief: bool = False
) -> str:
    """The text of a report or of tables; no line is wider than ``width`` cells (at least 40).

    ``color`` adds ANSI styles. Columns that do not fit are left out, the least important first. A ``brief`` report
    has what fits on a first screen: of a suite the verdict, one table and a few failures, and no footnotes.
    """
    console = _console(max(width, _NARROWEST), color)
    if isinstance(item, Report):
        _print_report(console, with_standings(item), brief)
    else:
        _print_tables(console, (item,) if isinstance(item, Table) else item)
    stream = console.file
    assert isinstance(stream, StringIO)
    lines = stream.getvalue().split("\n")
    return "\n".join(lines if color else [line.rstrip() for line in lines]).strip("\n") + "\n"


def _console(width: int, color: bool) -> Console:
    from rich.console import Console

    return Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def _print_report(console: Console, report: Report, brief: bool) -> None:
    for headline in headlines(report):
        _print_headline(console, headline)
    for notice in notices(report):
        _print_notice(console, notice)
    if notices(report):
        _line(console)
    for section in sections(report.findings):
        if section.plot is not None and section.plot.points:
            from agentdyno.findings.history.tables_plot import history_plot

            _line(console, history_plot(section.plot, console.width))
            _line(console)
        _print_tables(console, section.tables)
    for comparison in report.findings.comparisons:
        from agentdyno.findings.comparison import tables as comparison_tables

        table = comparison_tables.comparison(comparison)
        unjudged = comparison_tables.unjudged(comparison, brief=True)
        _print_tables(console, (replace(table, notes=()), None) if brief else (table, unjudged))
    for result in report.results:
        standing = standing_in(report, result)
        if brief and standing is not None:
            _print_first_screen(console, result, standing)
        else:
            _print_result(console, result, standing, brief)
    if isinstance(report.findings, SuiteFindings) and report.findings.pairs:
        from agentdyno.findings.standing.tables_pairs import judged_pairs_of

        _print_tables(console, judged_pairs_of(report))
    if report.findings.bands and not sections(report.findings):
        # What follows a run's own tables. Profiles are asked for by a command of their own.
        from agentdyno.findings.bands.tables import bands_table

        _print_tables(console, (bands_table(report.findings.bands),))


def _print_first_screen(console: Console, result: RunResult, standing: SuiteStanding) -> None:
    """What a suite's run says at first sight: one table, what tells two agents apart, a few failures."""
    # Only now: a run of an experiment does without them.
    from agentdyno.findings.standing.tables_cases import difference_lines, failed, scorers
    from agentdyno.findings.standing.tables_overview import overview

    cases = sum(len(item.cases) for item in result.suite.benchmarks) if result.suite is not None else 0
    run, executions = result.run_id[:RUN_ID_LENGTH], sum(agent.samples for agent in standing.agents)
    facts_told = f"{count(cases, 'case')}, {count(executions, 'execution')}, took {dict(facts(result))['took']}"
    _line(console, f"{one_line(result.name)}  {run}  {facts_told}", _STYLES[Tone.MUTED])
    if standing.agents:
        _print_table(console, replace(overview(standing), title=""))
    for text in difference_lines(standing):
        _line(console, text)
    _line(console)
    failures = failed(standing, run, MOST_FAILED)
    if failures is not None:
        _print_failures(console, failures, one_agent=len(standing.agents) == 1)
        _line(console)
    _print_tables(console, (scorers(standing),))


def _print_failures(console: Console, table: Table, *, one_agent: bool) -> None:
    """As a table where every row is one line, else each failure as a few lines: no narrow ribbons of text."""
    who = [] if one_agent else [1]
    for kept in ([0, *who, 2, 3, 4, 5], [0, *who, 3, 4, 5]):
        slim = replace(
            table,
            columns=tuple(table.columns[place] for place in kept),
            rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
        )
        if _is_one_line_each(slim, console.width):
            _print_table(console, slim)
            return
    _line(console, table.title, "bold")
    for row in table.rows:
        name = row[0].text if one_agent else f"{row[0].text}, {row[1].text}"
        _line(console, one_line(f"{name}: {row[2].text}", console.width))
        for column, cell in zip(table.columns[3:], row[3:], strict=True):
            if cell.text != NOTHING:
                _line(console, f"  {column.header:<4}  {one_line(cell.text, console.width - 8)}", _STYLES[cell.tone])
    for note in table.notes:
        _line(console, note, _STYLES[Tone.MUTED])


def _is_one_line_each(table: Table, width: int) -> bool:
    layout = lay_out(table, width)
    if len(layout.widths) < len(table.columns):
        return False
    return all(len(fold(row[i].whole, size)) == 1 for row in table.rows for i, size in layout.widths.items())


def _print_result(console: Console, result: RunResult, standing: SuiteStanding | None, brief: bool) -> None:
    known = dict(facts(result))
    heading = f"{one_line(result.name)}  {result.run_id[:RUN_ID_LENGTH]}"
    _line(console, heading, "bold")
    how = f"imported from {known['imported from']}" if "imported from" in known else known["order"]
    _line(console, f"{known['started']}, took {known['took']}, {how}", _STYLES[Tone.MUTED])
    _line(console)
    if standing is not None:
        from agentdyno.findings.standing.tables import suite_tables

        _print_tables(console, suite_tables(result, standing, run=result.run_id[:RUN_ID_LENGTH]))
        return
    if has_windows(result.kind):  # its section above has said it all
        _print_tables(console, (run_tables.failures(result),))
        return
    summary = run_tables.summary(result)
    found = (
        replace(summary, notes=()) if brief else summary,
        run_tables.declared(result),
        run_tables.details(result, CONSOLE_DETAILS, brief=True),
        run_tables.failures(result),
    )
    _print_tables(console, found)


def _print_headline(console: Console, headline: Headline) -> None:
    from rich.text import Text

    text = Text()
    text.append(headline.label, _STYLES[headline.tone] + " bold")
    text.append(f"  {headline.text}")
    console.print(text)
    _line(console)


def _print_notice(console: Console, notice: Notice) -> None:
    where = f"{notice.arm}: " if notice.arm else ""
    _line(console, f"! {where}{notice.message}", _STYLES[Tone.WARN])
    if notice.remedy:
        from rich.padding import Padding
        from rich.text import Text

        console.print(Padding(Text(notice.remedy, _STYLES[Tone.MUTED]), (0, 0, 0, 2)))


def _print_tables(console: Console, found: Iterable[Table | None]) -> None:
    for table in found:
        if table is not None:
            _print_table(console, table)
            _line(console)


def _line(console: Console, text: str = "", style: str = "") -> None:
    from rich.text import Text

    console.print(Text(plain(text), style, overflow="fold"))


def _print_table(console: Console, table: Table) -> None:
    if table.title:
        _line(console, table.title, "bold")
    if table.rows:
        _print_grid(console, table, lay_out(table, console.width))
    for note in table.notes:
        # Without columns the text under the title is what the table has to say.
        _line(console, note, _STYLES[Tone.MUTED if table.columns else Tone.PLAIN])


def _print_grid(console: Console, table: Table, layout: Layout) -> None:
    headers = tuple(Cell(column.header) for column in table.columns)
    if any(header.text for header in headers):
        _print_row(console, table, layout, headers, header=True)
        _line(console, "─" * min(layout.total, console.width), _STYLES[Tone.MUTED])
    above = None
    for row in table.rows:
        if layout.heading is not None and row[layout.heading].text != above:
            above = row[layout.heading].text
            for line in fold(above, console.width):
                _line(console, line)
        _print_row(console, table, layout, row)
    for index in layout.below:
        _print_below(console, table, index)


def _print_row(console: Console, table: Table, layout: Layout, row: Sequence[Cell], header: bool = False) -> None:
    from rich.text import Text

    folded = {index: fold(row[index].whole, width) for index, width in layout.widths.items()}
    for number in range(max(len(lines) for lines in folded.values())):
        text = Text(" " * layout.indent)
        for position, (index, width) in enumerate(layout.widths.items()):
            lines = folded[index]
            piece = Text(lines[number] if number < len(lines) else "", "bold" if header else _STYLES[row[index].tone])
            piece.align("right" if table.columns[index].align is Align.RIGHT else "left", width)
            text.append(" " * GAP if position else "").append_text(piece)
        text.no_wrap = True
        console.print(text, crop=True)


def _print_below(console: Console, table: Table, index: int) -> None:
    """What a left-out column says, once for all rows of which it says the same."""
    keys = [i for i, column in enumerate(table.columns[:2]) if column.wrap] or [0]
    said: dict[str, list[str]] = {}
    for row in table.rows:
        if row[index].text:
            said.setdefault(row[index].text, []).append(", ".join(row[key].text for key in keys))
    for text, names in said.items():
        who = "; ".join(names) if len(names) <= 2 else f"{len(names)} rows"
        _line(console, f"{who}: {text}", _STYLES[Tone.MUTED])
