"""GitHub Markdown, fit for a comment on a pull request: the verdict first, the rest folded away."""

from __future__ import annotations

import re
from pathlib import Path

from agentdyno.contracts import Report
from agentdyno.findings.catalogue import appendix, sections
from agentdyno.findings.comparison import tables as comparison_tables
from agentdyno.findings.run import tables as run_tables
from agentdyno.findings.standing.model import SuiteStanding
from agentdyno.findings.standing.tables import suite_tables
from agentdyno.findings.standing.tables_labels import judged_pairs_of, standing_in, with_standings
from agentdyno.findings.standing.tables_pairs import pairs_tables
from agentdyno.model import RunResult
from agentdyno.reports.files import write_text
from agentdyno.reports.outline import facts, headlines, notices, title
from agentdyno.show.table import Align, Cell, Table, Tone
from agentdyno.show.wording import RUN_ID_LENGTH, one_line

MOST_ROWS = 100
"""Rows of one table: a comment on a pull request may have 65,536 characters."""

MOST_FAILED = 30
"""Failed cases of a suite that are listed."""

_SPECIAL = re.compile(r"([\\`*{}\[\]|~#!])")
# An underscore inside a word has no meaning in GitHub's dialect; escaping it would only make names ugly.
_LOOSE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_CODE = re.compile(r"`([^`<>&|]+)`")


class MarkdownReporter:
    """Markdown tables for a pull request comment (report.md)."""

    name = "markdown"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        return [write_text(output_dir / "report.md", render_markdown(report))]


def render_markdown(report: Report) -> str:
    """The whole report."""
    report = with_standings(report)
    blocks = [f"## {escape(title(report))}"]
    blocks += [f"**{escape(line.label)}** {escape(line.text)}" for line in headlines(report)]
    blocks += _notices(report)
    blocks += [render_table(table) for section in sections(report.findings) for table in section.tables]
    for comparison in report.findings.comparisons:
        blocks.append(render_table(comparison_tables.comparison(comparison)))
        blocks += _folded(comparison_tables.unjudged(comparison))
    for result in report.results:
        blocks += _result(result, standing_in(report, result))
    blocks += [render_table(table) for table in pairs_tables(judged_pairs_of(report))]
    blocks += [render_table(table) for section in appendix(report.findings) for table in section.tables]
    return "\n\n".join(blocks) + "\n"


def render_table(table: Table) -> str:
    """A heading, the table and its notes; a column without any content is left out."""
    blocks = [f"### {escape(table.title)}"] if table.title else []
    return "\n\n".join(blocks + _body(table))


def _body(table: Table) -> list[str]:
    blocks, notes = [], table.notes
    rows = table.rows
    if len(rows) > MOST_ROWS:
        # What is bad must not be what is left out.
        rows = tuple(sorted(rows, key=lambda row: all(cell.tone is not Tone.BAD for cell in row)))[:MOST_ROWS]
        notes = (*notes, f"{len(table.rows) - MOST_ROWS} more rows in the other report formats.")
    if rows:
        kept = [i for i in range(len(table.columns)) if any(row[i].text for row in rows)]
        lines = [_row([escape(table.columns[i].header) for i in kept])]
        lines.append(_row(["---:" if table.columns[i].align is Align.RIGHT else "---" for i in kept]))
        lines += [_row([_cell(row[i]) for i in kept]) for row in rows]
        blocks.append("\n".join(lines))
    if notes:
        blocks.append("  \n".join(f"<sub>{_note(note)}</sub>" for note in notes))
    return blocks


def escape(text: str) -> str:
    """The text with nothing in it that Markdown, HTML or a mention would act on, on one line."""
    safe = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _LOOSE_UNDERSCORE.sub(r"\\_", _SPECIAL.sub(r"\\\1", safe))
    return re.sub(r"@(?=\w)", "@\u200b", safe)


def _note(text: str) -> str:
    """Escaped, except that commands between backticks stay code."""
    pieces = _CODE.split(text)
    return "".join(f"<code>{piece}</code>" if i % 2 else escape(f"·{piece}·")[1:-1] for i, piece in enumerate(pieces))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = escape(cell.whole)
    return f"**{text}**" if cell.tone is Tone.BAD and text else text


def _notices(report: Report) -> list[str]:
    lines = []
    for notice in notices(report):
        where = f"{escape(notice.arm)}: " if notice.arm else ""
        remedy = f" {_note(notice.remedy)}" if notice.remedy else ""
        lines.append(f"> - {where}{_note(notice.message)}{remedy}")
    return ["\n".join(["> [!WARNING]", *lines])] if lines else []


def _result(result: RunResult, standing: SuiteStanding | None) -> list[str]:
    if standing is not None:
        return _suite(result, standing)
    table = run_tables.summary(result)
    blocks = [f"### {escape(result.name)}", *_body(table)]
    further = run_tables.declared(result)
    if further:
        blocks += [f"#### {further.title}", *_body(further)]
    failed = run_tables.failures(result)
    if failed:
        blocks += [f"#### {failed.title}", *_body(failed)]
    blocks += _folded(run_tables.details(result))
    blocks += _folded(run_tables.configuration(result))
    return [*blocks, _machine(result)]


def _suite(result: RunResult, standing: SuiteStanding) -> list[str]:
    first, *others = suite_tables(result, standing, most_failed=MOST_FAILED, run=result.run_id[:RUN_ID_LENGTH])
    blocks = [f"### {escape(result.name)}", *_body(first)]
    for table in others:
        blocks += [f"#### {escape(table.title)}", *_body(table)]
    blocks += _folded(run_tables.configuration(result))
    return [*blocks, _machine(result)]


def _machine(result: RunResult) -> str:
    rows = "\n".join(_row([key, escape(value)]) for key, value in facts(result))
    return _fold("Run and machine", f"| | |\n| --- | --- |\n{rows}")


def _folded(table: Table | None) -> list[str]:
    return [_fold(escape(table.title), "\n\n".join(_body(table)))] if table else []


def _fold(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"
