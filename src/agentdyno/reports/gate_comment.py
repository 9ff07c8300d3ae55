"""A gate as a comment on a pull request: the verdict, the metrics, and the broken cases folded away."""

from __future__ import annotations

import re
import shlex

from agentdyno.findings.gate.model import BrokenCase, GateReport, GateVerdict
from agentdyno.findings.gate.tables import change_words, gate_sides, limit_words, rule_name, verdict_words
from agentdyno.findings.gate.tables_cases import SIGNS, broken_title, right_words
from agentdyno.reports.markdown import escape
from agentdyno.show.wording import count, one_line, show

MARKER = "<!-- agentdyno gate -->"
"""The first line of the comment, by which a workflow finds the one to update."""

_MOST_CHARACTERS = 60_000
_MOST_BROKEN = 30
_MOST_ROWS = 60
_WORDS = {
    GateVerdict.PASS: ("✅", "may pass"),
    GateVerdict.WARN: ("⚠️", "may pass, with a warning"),
    GateVerdict.BLOCK: ("⛔", "is blocked"),
    GateVerdict.INCONCLUSIVE: ("❔", "cannot be decided"),
}
_FENCE = re.compile(r"`+")


def gate_comment(report: GateReport, *others: GateReport, command: str = "") -> str:
    """GitHub Markdown of at most 60,000 characters, of one gate or of several; names and answers are escaped.

    ``command`` is what reproduces it; without one it is made from the baseline.
    """
    reports = (report, *others)
    blocks = [MARKER]
    for item in reports:
        blocks += _blocks(item)
    blocks.append(f"Reproduce it with\n\n{_code(command or _command(report))}")
    text = "\n\n".join(blocks) + "\n"
    if len(text) <= _MOST_CHARACTERS:
        return text
    # The cases are what grows without bound; the verdicts are what must arrive.
    heads = [MARKER, *(block for item in reports for block in _blocks(item)[:2])]
    return "\n\n".join(heads)[: _MOST_CHARACTERS - 100] + "\n\nThe rest is in the report of the workflow.\n"


def _blocks(report: GateReport) -> list[str]:
    sign, words = _WORDS[report.verdict]
    suite = f" on {escape(report.suite)}" if report.suite else ""
    blocks = [
        f"## {sign} {report.verdict.value}: {escape(one_line(report.candidate, 200))} {words}{suite}",
        f"{escape(one_line(report.summary, 1000))}.",
    ]
    if report.broken:
        blocks.append(_fold(broken_title(report), _cases(report)))
    if report.policies:
        blocks.append(_policies(report))
    if report.rows or not report.policies:
        blocks.append(_table(report))
    if report.benchmark_rows:
        blocks.append(_fold("Per benchmark (explains, does not decide)", _benchmarks(report)))
    if report.quarantined:
        title = f"{count(len(report.quarantined), 'quarantined case')}, not judged"
        blocks.append(_fold(title, _quarantined(report)))
    notes = [row for row in report.rows if row.reason][:_MOST_ROWS]
    if notes:
        lines = [f"- {escape(rule_name(row))}: {escape(one_line(row.reason, 400))}" for row in notes]
        blocks.append(_fold("Why", "\n".join(lines)))
    blocks += [f"> {escape(f'{item.message}. {item.remedy}'.rstrip())}" for item in report.warnings[:10]]
    return blocks


def _table(report: GateReport) -> str:
    lines = [
        f"{escape(gate_sides(report))}",
        "",
        "| metric | tier | baseline | candidate | change | allowed | verdict |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in report.rows[:_MOST_ROWS]:
        verdict = escape(verdict_words(row))
        cells = [
            escape(rule_name(row)),
            row.rule.tier.value,
            escape(show(row.row.baseline, row.row.unit)),
            escape(show(row.row.candidate, row.row.unit)),
            escape(change_words(row.row)),
            escape(limit_words(row)),
            f"**{verdict}**" if row.verdict in (GateVerdict.BLOCK, GateVerdict.WARN) else verdict,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if len(report.rows) > _MOST_ROWS:
        lines += ["", f"{len(report.rows) - _MOST_ROWS} more in the report."]
    return "\n".join(lines)


def _policies(report: GateReport) -> str:
    """The rules about cases, each with its sentence: which one blocks has to be read at once."""
    lines = ["| rule | asked | found | verdict | |", "| --- | --- | --- | --- | --- |"]
    for row in report.policies[:_MOST_ROWS]:
        verdict = escape(SIGNS[row.verdict])
        cells = [
            escape(row.rule),
            escape(row.asked),
            escape(row.found),
            f"**{verdict}**" if row.verdict is GateVerdict.BLOCK else verdict,
            escape(one_line(row.reason, 400)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _quarantined(report: GateReport) -> str:
    lines = ["| case | until | reason |", "| --- | --- | --- |"]
    for item in report.quarantined[:_MOST_BROKEN]:
        name = escape(one_line(f"{item.key.benchmark}/{item.key.case_id}", 200))
        lines.append(f"| {name} | {item.until} | {escape(one_line(item.reason, 300))} |")
    left = len(report.quarantined) - _MOST_BROKEN
    return "\n".join([*lines, *(["", f"{left} more."] if left > 0 else [])])


def _benchmarks(report: GateReport) -> str:
    lines = [
        "| benchmark | metric | baseline | candidate | change | cases |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in report.benchmark_rows[:_MOST_ROWS]:
        sides = escape(show(row.baseline, row.unit)), escape(show(row.candidate, row.unit))
        cells = [escape(row.benchmark), escape(row.metric), *sides, escape(change_words(row)), str(row.cases)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cases(report: GateReport) -> str:
    lines = ["| case | right | want | got |", "| --- | --- | --- | --- |"]
    lines += [_case(item) for item in report.broken[:_MOST_BROKEN]]
    notes = []
    if len(report.broken) > _MOST_BROKEN:
        notes.append(f"{len(report.broken) - _MOST_BROKEN} more in the report.")
    if report.fixed:
        notes.append(f"{count(len(report.fixed), 'case')} fixed.")
    return "\n".join(lines) + ("\n\n" + " ".join(notes) if notes else "")


def _case(item: BrokenCase) -> str:
    got = item.got if not item.why else f"{item.got} ({item.why})" if item.got else item.why
    cells = [
        escape(one_line(f"{item.key.benchmark}/{item.key.case_id}", 200)),
        right_words(item),
        escape(one_line(item.want, 200)),
        escape(one_line(got, 300)),
    ]
    return f"| {' | '.join(cells)} |"


def _command(report: GateReport) -> str:
    return f"dyno check --against {shlex.quote(report.policy.against or report.baseline)}"


def _code(text: str) -> str:
    """A fenced block that its content cannot end."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{one_line(text)}\n{fence}"


def _fold(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n\n{body}\n\n</details>"
