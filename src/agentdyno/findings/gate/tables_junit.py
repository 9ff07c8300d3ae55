"""Gates as JUnit XML: one test per rule, failing where it blocks, and one per case, failing where it broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.gate.model import (
    BrokenCase,
    CaseStanding,
    GatedCase,
    GateReport,
    GateRow,
    GateVerdict,
    PolicyRow,
)
from agentdyno.findings.gate.tables import change_words, gate_sides, limit_words, rule_name, verdict_words
from agentdyno.findings.gate.tables_cases import SIGNS, policy_words, right_words
from agentdyno.show.wording import one_line, plain, show

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MOST_BROKEN = 50
_ANSWERING = ("accuracy", "error_rate", "unscored", "reliability", "pass_hat_3", "overall")
_FAILS = (CaseStanding.BROKEN, CaseStanding.REFUSED)
_SKIPPED = (CaseStanding.QUARANTINED, CaseStanding.FAILING)


def gate_junit(reports: Sequence[GateReport]) -> str:
    """One suite per gate: what the rules said, then every case.

    A case fails where it broke, or where a rule about cases blocks because of it. Quarantined cases, and those that
    failed before as well, are skipped with the reason. Warnings and what is undecided do not fail; they are told in
    ``system-out``.
    """
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name="agentdyno gate")
    for report in reports:
        tests = [*_rules(report), *_cases(report)]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=one_line(": ".join(filter(None, (report.suite, gate_sides(report))))),
            tests=str(len(tests)),
            failures=str(sum(test.find("failure") is not None for test in tests)),
            errors="0",
            skipped=str(sum(test.find("skipped") is not None for test in tests)),
        )
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in (("verdict", report.verdict.value), ("summary", report.summary)):
            ElementTree.SubElement(properties, "property", name=name, value=one_line(value))
        suite.extend(tests)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _rules(report: GateReport) -> Iterator[Element]:
    for row in report.policies:
        yield _policy(report, row)
    for metric in report.rows:
        yield _metric(report, metric)


def _policy(report: GateReport, row: PolicyRow) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    test = Element("testcase", classname=_place(report), name=one_line(row.rule))
    if row.verdict is GateVerdict.BLOCK:
        failure = SubElement(test, "failure", type=one_line(row.rule.partition(" ")[0]), message=policy_words(row))
        failure.text = _text([f"{key.benchmark}/{key.case_id}" for key in row.cases[:_MOST_BROKEN]])
    told = f"{SIGNS[row.verdict]}: asked {row.asked}, found {row.found}"
    SubElement(test, "system-out").text = _text([told, row.reason])
    return test


def _metric(report: GateReport, row: GateRow) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    where = f"{one_line(row.row.benchmark)}: " if row.row.benchmark else ""
    name = f"{where}{one_line(row.rule.metric)}"  # as the policy spells it, for programs
    test = Element("testcase", classname=_place(report), name=name)
    sides = f"{show(row.row.baseline, row.row.unit)} → {show(row.row.candidate, row.row.unit)}"
    if row.verdict is GateVerdict.BLOCK:
        failure = SubElement(test, "failure", type="worse", message=one_line(f"{rule_name(row)}: {row.reason}", 500))
        failure.text = _text([sides, *_broken(report, row)])
    lines = [
        f"{verdict_words(row)}: {sides}, change {change_words(row.row)}, allowed {limit_words(row)}",
        f"tier: {row.rule.tier.value}",
        row.reason,
    ]
    SubElement(test, "system-out").text = _text(lines)
    return test


def _cases(report: GateReport) -> Iterator[Element]:
    broken = {item.key: item for item in report.broken}
    for item in report.cases:
        yield _case(report, item, broken.get(item.key))


def _case(report: GateReport, item: GatedCase, broken: BrokenCase | None) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    group = f"{one_line(item.key.benchmark)}.{one_line(report.candidate)}"
    test = Element("testcase", classname=group, name=one_line(item.key.case_id))
    if item.standing in _FAILS:
        told = f"{item.reason}{_answer(broken)}"
        failure = SubElement(test, "failure", type=item.standing.value, message=one_line(told, 500))
        failure.text = _text([item.reason, *([broken.why] if broken is not None else [])])
    elif item.standing in _SKIPPED:
        known = "fails as before: " if item.before.tries and item.standing is CaseStanding.FAILING else ""
        SubElement(test, "skipped", message=one_line(f"{known}{item.reason}", 500))
    SubElement(test, "system-out").text = _text([item.reason])
    return test


def _answer(broken: BrokenCase | None) -> str:
    if broken is None or not (broken.want or broken.got):
        return ""
    return f"; want {one_line(broken.want, 120)}, got {one_line(broken.got, 120)}"


def _broken(report: GateReport, row: GateRow) -> list[str]:
    """The cases behind a metric of answers, each on a line."""
    if row.rule.metric not in _ANSWERING:
        return []
    return [
        one_line(f"{item.key.benchmark}/{item.key.case_id}: right {right_words(item)}{_answer(item)}")
        for item in report.broken[:_MOST_BROKEN]
    ]


def _place(report: GateReport) -> str:
    return one_line(f"gate.{report.suite or 'agentdyno'}")


def _text(lines: Sequence[str]) -> str:
    return plain("\n".join(filter(None, lines))).replace("\r", "\n")
