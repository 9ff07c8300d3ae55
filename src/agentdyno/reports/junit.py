"""JUnit XML, which continuous integration shows as test results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.contracts import Report
from agentdyno.findings.comparison.tables import compared_arm, comparison_title, ground, note
from agentdyno.findings.run.tables import arm_name, failure_samples, has_usable, planned, problems, statuses
from agentdyno.findings.standing.model import HeldCase, SuiteFindings, SuiteStanding
from agentdyno.findings.standing.tables_junit import case_outcomes
from agentdyno.findings.standing.tables_labels import is_suite
from agentdyno.findings.standing.words import too_small
from agentdyno.model import ArmComparison, ArmResult, Comparison, MetricComparison, RunResult, Status, Verdict
from agentdyno.reports.files import write_text
from agentdyno.show.wording import (
    change,
    count,
    label,
    one_line,
    percent,
    plain,
    ratio_text,
    show,
    verdict_text,
    with_interval,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ERRORS = (Status.ERROR, Status.TIMEOUT, Status.LIMIT)
_MOST_ERRORS = 20


class JunitReporter:
    """JUnit XML for continuous integration: arms and judged metrics as test cases (junit.xml)."""

    name = "junit"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        from agentdyno.findings.conclusions import Conclusions
        from agentdyno.findings.gate.tables_junit import gate_junit

        gates = report.findings.gates if isinstance(report.findings, Conclusions) else ()
        text = gate_junit(gates) if gates else render_junit(report)
        return [write_text(output_dir / "junit.xml", text)]


def render_junit(report: Report) -> str:
    """One suite per run with a case per arm, and one suite per comparison with a case per judged metric.

    The run of a suite of agents has a case per agent and case, quarantined ones skipped; before them one per agent
    where the suite asks for an accuracy.
    """
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name="agentdyno")
    for result in report.results:
        cases = _of_suite(result, report) if is_suite(result) else [_arm_case(result, arm) for arm in result.arms]
        _suite(root, result.name, cases, result.run_id)
    for comparison in report.findings.comparisons:
        _suite(root, comparison_title(comparison), _comparison_cases(comparison), "")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, name: str, cases: list[Element], run_id: str) -> None:
    from xml.etree.ElementTree import SubElement

    suite = SubElement(
        root,
        "testsuite",
        name=one_line(name),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
    )
    if run_id:
        SubElement(SubElement(suite, "properties"), "property", name="run_id", value=one_line(run_id))
    suite.extend(cases)


def _case(group: str, name: str, time_s: float | None = None) -> Element:
    from xml.etree.ElementTree import Element

    case = Element("testcase", classname=one_line(group), name=one_line(name))
    if time_s is not None:
        case.set("time", f"{time_s:.9f}")
    return case


def _child(case: Element, tag: str, text: str, message: str = "", kind: str = "") -> None:
    from xml.etree.ElementTree import SubElement

    child = SubElement(case, tag)
    child.text = plain(text).replace("\r", "\n")
    if message:
        child.set("message", one_line(message, 500))
    if kind:
        child.set("type", one_line(kind))


def _arm_case(result: RunResult, arm: ArmResult) -> Element:
    duration = arm.metrics.get("duration_s")
    case = _case(result.name, arm_name(arm), duration.median if duration and duration.n else None)
    if not has_usable(arm):
        told = problems(arm) or "none was taken"
        _child(case, "failure", told, f"no usable sample of {planned(arm)} planned ({told})", "no-usable-sample")
    for (status, kind, message), (times, text) in _errors(arm):
        _child(case, "error", text, f"{message} ({count(times, 'time')})", f"{status}.{kind}")
    lines = [f"{statuses(arm).get(Status.OK, 0)} of {count(planned(arm), 'planned sample')} ok"]
    if problems(arm):
        lines.append(f"not ok: {problems(arm)}")
    for name, metric in sorted(arm.metrics.items()):
        lines.append(f"{label(name)}: {with_interval(metric.median, metric.ci, metric.unit)} (n={metric.n})")
    _child(case, "system-out", "\n".join(lines))
    return case


def _of_suite(result: RunResult, report: Report) -> list[Element]:
    findings = report.findings
    held = findings.held if isinstance(findings, SuiteFindings) else ()
    standings = findings.standings if isinstance(findings, SuiteFindings) else ()
    own = [standing for standing in standings if standing.run_id == result.run_id]
    return [*_minima(result, own), *_answers(result, held)]


def _minima(result: RunResult, standings: Sequence[SuiteStanding]) -> Iterable[Element]:
    """What the suite asks of every agent as a whole."""
    least = None if result.suite is None else result.suite.fail_under
    if least is None:
        return
    for agent in (item for standing in standings for item in standing.agents):
        case, told = _case(f"run.{result.name}", f"fail_under: {agent.agent}"), too_small(agent, least)
        if told:
            _child(case, "failure", told, told, "fail_under")
        yield case


def _answers(result: RunResult, held: Sequence[HeldCase]) -> list[Element]:
    cases = []
    for outcome in case_outcomes(result, held):
        case = _case(outcome.group, outcome.name, outcome.time_s)
        if outcome.tag:
            _child(case, outcome.tag, outcome.text, outcome.message, outcome.kind)
        _child(case, "system-out", outcome.summary)
        cases.append(case)
    return cases


def _errors(arm: ArmResult) -> Iterable[tuple[tuple[str, str, str], tuple[int, str]]]:
    seen: dict[tuple[str, str, str], tuple[int, str]] = {}
    for _, sample in failure_samples((arm,)):
        if sample.status not in _ERRORS:
            continue
        failure = sample.failure
        message = one_line(failure.message, 400) if failure else sample.status.value
        key = (sample.status.value, failure.kind.value if failure else sample.status.value, message)
        text = (failure.traceback or f"{failure.where}: {failure.message}") if failure else ""
        times, first = seen.get(key, (0, text))
        seen[key] = (times + 1, first)
    return list(seen.items())[:_MOST_ERRORS]


def _comparison_cases(comparison: Comparison) -> list[Element]:
    return [
        _metric_case(comparison, arm, row)
        for arm in comparison.arms
        for row in arm.metrics
        if row.verdict is not None
    ]


def _metric_case(comparison: Comparison, arm: ArmComparison, row: MetricComparison) -> Element:
    case = _case(comparison_title(comparison), f"{compared_arm(arm)}: {label(row.metric.name)}")
    sides = f"{show(row.baseline, row.metric.unit)} → {show(row.candidate, row.metric.unit)}"
    if row.verdict is Verdict.WORSE:
        message = f"{label(row.metric.name)} is worse: {sides} ({change(row.ratio)})"
        _child(case, "failure", f"ratio {ratio_text(row.ratio, row.interval)}; {row.reason}", message, "worse")
    lines = [f"{verdict_text(row.verdict)}: {sides}, ratio {ratio_text(row.ratio, row.interval)}"]
    lines += [text for text in (note(row), *ground(comparison)[:2]) if text]
    if row.detectable is not None:
        lines.append(f"smallest change that these samples can show: {percent(row.detectable)}")
    _child(case, "system-out", "\n".join(lines))
    return case
