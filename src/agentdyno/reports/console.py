"""Tables and reports for a terminal of a given width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentdyno.contracts import Report
from agentdyno.findings.catalogue import sections
from agentdyno.findings.standing.tables_labels import judged_pairs_of, standing_in, with_standings
from agentdyno.registry.installed import has_windows
from agentdyno.reports.console_tables import (
    STYLES,
    breaks_words,
    cut,
    fold,
    lay_out,
    print_line,
    print_table,
    print_tables,
    printed,
    render_tables,
    text_console,
    transposed,
)
from agentdyno.reports.outline import Headline, Notice, facts, headlines, notices
from agentdyno.show.table import Table, Tone
from agentdyno.show.wording import NOTHING, RUN_ID_LENGTH, count, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from agentdyno.findings.standing.model import SuiteStanding
    from agentdyno.model import RunResult

MOST_FAILED = 5
"""Failed cases on the first screen."""


def render_console(
    item: Report | Table | Sequence[Table], width: int = 80, color: bool = False, *, brief: bool = False
) -> str:
    """The text of a report or of tables; no line is wider than ``width`` cells (at least 40).

    ``color`` adds ANSI styles. Columns that do not fit are left out, the least important first. A ``brief`` report
    has what fits on a first screen: of a suite the verdict, one table and a few failures, and no footnotes.
    """
    if isinstance(item, Table):
        return render_tables((item,), width, color)
    if not isinstance(item, Report):
        return render_tables(item, width, color)
    console = text_console(width, color)
    _print_report(console, with_standings(item), brief)
    return printed(console, color)


def _print_report(console: Console, report: Report, brief: bool) -> None:
    for headline in headlines(report):
        _print_headline(console, headline)
    for notice in notices(report):
        _print_notice(console, notice)
    if notices(report):
        print_line(console)
    for section in sections(report.findings):
        if section.plot is not None and section.plot.points:
            from agentdyno.findings.history.tables_plot import history_plot

            print_line(console, history_plot(section.plot, console.width))
            print_line(console)
        print_tables(console, section.tables)
    for comparison in report.findings.comparisons:
        from agentdyno.findings.comparison import tables as comparison_tables

        table = comparison_tables.comparison(comparison)
        unjudged = comparison_tables.unjudged(comparison, brief=True)
        print_tables(console, (replace(table, notes=()), None) if brief else (table, unjudged))
    for result in report.results:
        standing = standing_in(report, result)
        if brief and standing is not None:
            _print_first_screen(console, result, standing)
        else:
            _print_result(console, result, standing, brief)
    if pairs := judged_pairs_of(report):
        from agentdyno.findings.standing.tables_pairs import pairs_tables

        print_tables(console, pairs_tables(pairs))
    if report.findings.bands and not sections(report.findings):
        # What follows a run's own tables. Profiles are asked for by a command of their own.
        from agentdyno.findings.bands.tables import bands_table

        print_tables(console, (bands_table(report.findings.bands),))


def _print_first_screen(console: Console, result: RunResult, standing: SuiteStanding) -> None:
    """What a suite's run says at first sight: one table, what tells two agents apart, a few failures."""
    # Only now: a run of an experiment does without them.
    from agentdyno.findings.standing.tables_cases import difference_lines, failed, scorers
    from agentdyno.findings.standing.tables_overview import overview

    cases = sum(len(item.cases) for item in result.suite.benchmarks) if result.suite is not None else 0
    run, executions = result.run_id[:RUN_ID_LENGTH], sum(agent.samples for agent in standing.agents)
    facts_told = f"{count(cases, 'case')}, {count(executions, 'execution')}, took {dict(facts(result))['took']}"
    print_line(console, f"{one_line(result.name)}  {run}  {facts_told}", STYLES[Tone.MUTED])
    if standing.agents:
        table = replace(overview(standing), title="")
        turned = transposed(table)  # many scorers and few agents
        fits = not breaks_words(table, console.width) or breaks_words(turned, console.width)
        print_table(console, table if fits else turned)
    for text in difference_lines(standing):
        print_line(console, text)
    print_line(console)
    failures = failed(standing, run, MOST_FAILED)
    if failures is not None:
        _print_failures(console, failures, one_agent=len(standing.agents) == 1)
        print_line(console)
    print_tables(console, (scorers(standing),))


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
            print_table(console, slim)
            return
    print_line(console, table.title, "bold")
    for row in table.rows:
        name = row[0].text if one_agent else f"{row[0].text}, {row[1].text}"
        print_line(console, f"{name}: {row[2].text}")
        for column, cell in zip(table.columns[3:], row[3:], strict=True):
            if cell.text != NOTHING:
                print_line(console, f"  {column.header:<4}  {cut(cell.text, console.width - 8)}", STYLES[cell.tone])
    for note in table.notes:
        print_line(console, note, STYLES[Tone.MUTED])


def _is_one_line_each(table: Table, width: int) -> bool:
    layout = lay_out(table, width)
    if len(layout.widths) < len(table.columns):
        return False
    return all(len(fold(row[i].whole, size)) == 1 for row in table.rows for i, size in layout.widths.items())


def _print_result(console: Console, result: RunResult, standing: SuiteStanding | None, brief: bool) -> None:
    known = dict(facts(result))
    heading = f"{one_line(result.name)}  {result.run_id[:RUN_ID_LENGTH]}"
    print_line(console, heading, "bold")
    how = f"imported from {known['imported from']}" if "imported from" in known else known["order"]
    print_line(console, f"{known['started']}, took {known['took']}, {how}", STYLES[Tone.MUTED])
    print_line(console)
    if standing is not None:
        from agentdyno.findings.standing.tables import suite_tables

        print_tables(console, suite_tables(result, standing, run=result.run_id[:RUN_ID_LENGTH]))
        return
    from agentdyno.findings.run import tables as run_tables  # a suite does without them

    if has_windows(result.kind):  # its section above has said it all
        print_tables(console, (run_tables.failures(result),))
        return
    summary = run_tables.summary(result)
    found = (
        replace(summary, notes=()) if brief else summary,
        run_tables.declared(result),
        run_tables.details(result, run_tables.CONSOLE_DETAILS, brief=True),
        run_tables.failures(result),
    )
    print_tables(console, found)


def _print_headline(console: Console, headline: Headline) -> None:
    from rich.text import Text

    text = Text()
    text.append(headline.label, STYLES[headline.tone] + " bold")
    text.append(f"  {headline.text}")
    console.print(text)
    print_line(console)


def _print_notice(console: Console, notice: Notice) -> None:
    where = f"{notice.arm}: " if notice.arm else ""
    print_line(console, f"! {where}{notice.message}", STYLES[Tone.WARN])
    if notice.remedy:
        from rich.padding import Padding
        from rich.text import Text

        console.print(Padding(Text(notice.remedy, STYLES[Tone.MUTED]), (0, 0, 0, 2)))
