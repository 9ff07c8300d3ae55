"""Gates as JUnit XML: one test case per rule, failing where it blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.gate.model import GateReport, GateRow, GateVerdict
from agentdyno.findings.gate.tables import (
    change_words,
    gate_sides,
    limit_words,
    rule_name,
    score_words,
    verdict_words,
)
from agentdyno.show.wording import one_line, plain, show

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MOST_BROKEN = 50
_ANSWERING = ("accuracy", "error_rate", "unscored", "reliability", "pass_hat_3", "overall")


def gate_junit(reports: Sequence[GateReport]) -> str:
    """One suite per gate. Warnings and what is undecided do not fail; they are told in ``system-out``."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name="agentdyno gate")
    for report in reports:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=one_line(": ".join(filter(None, (report.suite, gate_sides(report))))),
            tests=str(len(report.rows)),
            failures=str(sum(row.verdict is GateVerdict.BLOCK for row in report.rows)),
            errors="0",
            skipped="0",
        )
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in (("verdict", report.verdict.value), ("summary", report.summary)):
            ElementTree.SubElement(properties, "property", name=name, value=one_line(value))
        suite.extend([_case(report, row) for row in report.rows])
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(report: GateReport, row: GateRow) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    where = f"{one_line(row.row.benchmark)}: " if row.row.benchmark else ""
    name = f"{where}{one_line(row.rule.metric)}"  # as the policy spells it, for programs
    case = Element("testcase", classname=one_line(f"gate.{report.suite or 'agentdyno'}"), name=name)
    sides = f"{show(row.row.baseline, row.row.unit)} → {show(row.row.candidate, row.row.unit)}"
    if row.verdict is GateVerdict.BLOCK:
        failure = SubElement(case, "failure", type="worse", message=one_line(f"{rule_name(row)}: {row.reason}", 500))
        failure.text = plain("\n".join([sides, *_broken(report, row)])).replace("\r", "\n")
    lines = [
        f"{verdict_words(row)}: {sides}, change {change_words(row.row)}, allowed {limit_words(row)}",
        f"tier: {row.rule.tier.value}",
        row.reason,
    ]
    SubElement(case, "system-out").text = plain("\n".join(filter(None, lines))).replace("\r", "\n")
    return case


def _broken(report: GateReport, row: GateRow) -> list[str]:
    """The cases behind a metric of answers, each on a line."""
    if row.rule.metric not in _ANSWERING:
        return []
    lines = []
    for item in report.broken[:_MOST_BROKEN]:
        told = f"{item.key.benchmark}/{item.key.case_id}: {score_words(item)}"
        if item.want or item.got:
            told += f", want {one_line(item.want, 120)}, got {one_line(item.got, 120)}"
        lines.append(one_line(told))
    return lines
