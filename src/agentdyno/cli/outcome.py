"""What a finished run shows, and the exit code it earns."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.cli import shared
from agentdyno.contracts import Report
from agentdyno.model import Comparison, Findings, Status, Verdict
from agentdyno.model.form import CUT_SHORT, INTERRUPTED
from agentdyno.model.result import is_rescored

if TYPE_CHECKING:
    from agentdyno.findings.standing.model import HeldCase
    from agentdyno.model import RunResult
    from agentdyno.store import Store


DECIDED = "decided:"
"""How the reason begins for which a run with ``--until-decided`` ends."""


@dataclass(frozen=True, slots=True)
class ReportsAsked:
    """Reports by name; ``folder`` is where they go, the run's own where it is ``None``.

    Who names a folder and no report gets ``benchmark_results.html`` and ``.json``.
    """

    formats: tuple[str, ...] = ()
    folder: str | None = None
    verbose: bool = False
    """Whether the terminal shows every table, rather than the first screen."""

    def __post_init__(self) -> None:
        if self.folder is not None and not self.formats:
            object.__setattr__(self, "formats", ("results_html", "results_json"))


def finish(
    result: RunResult,
    store: Store | None,
    asked: ReportsAsked,
    tolerance: float,
    *,
    as_json: bool,
    held: tuple[HeldCase, ...] = (),
) -> Findings:
    """Prints the result, writes the reports asked for, says where everything is; ``held`` cases are quarantined."""
    from agentdyno.findings.run.ask import findings_for
    from agentdyno.runs.place import run_folder

    findings = findings_for(result, store, tolerance, shared.policy_for(result))
    if held:
        from agentdyno.findings.standing.model import SuiteFindings

        findings = replace(findings, held=held) if isinstance(findings, SuiteFindings) else findings
    report = Report((result,), findings)
    folder = run_folder(result.spec, result.run_id)
    if as_json:
        shared.print_json(result)
    else:
        shared.print_tables(report, brief=not asked.verbose)
    if asked.formats:
        from agentdyno.findings.profile.ask import with_profiles
        from agentdyno.workbench.reporting import write_reports

        report = Report((result,), with_profiles(findings, result, store))
        for path in write_reports(report, asked.formats, folder if asked.folder is None else Path(asked.folder)):
            shared.say(f"Wrote {shown(path)}")
    if not any(warning.code == "no-result-file" for warning in result.warnings):
        shared.say(f"Result: {shown(folder / 'result.json')}")
    if not as_json and not asked.formats:
        shared.say(f"A page with plots: dyno report {result.run_id[:13]} --format html")
    if result.stopped_because and result.stopped_because.startswith(DECIDED):
        shared.say(f"{result.stopped_because[0].upper()}{result.stopped_because[1:]}.")
    elif result.stopped_because and _is_over(result):
        shared.say(f"Stopped early: {result.stopped_because}.")
    elif result.stopped_because:
        again = " --retry-errors" if any(warning.code == "given-up" for warning in result.warnings) else ""
        shared.say(f"Stopped early: {result.stopped_because}. Go on with: dyno resume {result.run_id[:13]}{again}")
    for sentence in below_minimum(result, findings):
        shared.say(sentence)
    return findings


def _is_over(result: RunResult) -> bool:
    """Whether nothing could be gone on with in a run that stopped early: what it was at is gone, or it has judged all
    answers of another one that is not whole."""
    reason = result.stopped_because
    return reason == CUT_SHORT or (is_rescored(result) and reason != INTERRUPTED)


def below_minimum(result: RunResult, findings: Findings) -> list[str]:
    """A sentence for each agent whose accuracy is below what the suite asks for (``fail_under``), or is not known."""
    if result.suite is None or result.suite.fail_under is None:
        return []
    from agentdyno.findings.standing.model import SuiteFindings
    from agentdyno.findings.standing.words import all_too_small

    if not isinstance(findings, SuiteFindings):
        return []
    agents = [agent for standing in findings.standings for agent in standing.agents]
    return all_too_small(agents, result.suite.fail_under)


def exit_code(result: RunResult, findings: Findings, *, gate: bool, strict: bool) -> int:
    """Interrupted, no usable sample, too small an accuracy, then the verdicts when gating."""
    if result.stopped_because == INTERRUPTED:
        return shared.INTERRUPTED
    if any(not (arm.statuses.get(Status.OK) or arm.statuses.get(Status.FAILED)) for arm in result.arms):
        return shared.NO_SAMPLE
    if below_minimum(result, findings):
        return shared.WORSE
    if gate and findings.comparisons:
        return max((gate_code(item, strict=strict) for item in findings.comparisons), key=_severity)
    return shared.PASS


def gate_code(comparison: Comparison, *, strict: bool) -> int:
    """1 when anything is worse, 3 when nothing could be judged, 4 when undecided and strict, else 0."""
    judged = [row for arm in comparison.arms for row in arm.metrics if row.verdict is not None]
    if not judged:
        return shared.NOT_COMPARABLE
    if comparison.verdict is Verdict.WORSE:
        return shared.WORSE
    return shared.UNDECIDED if strict and comparison.verdict is Verdict.INCONCLUSIVE else shared.PASS


def _severity(code: int) -> int:
    return (shared.PASS, shared.UNDECIDED, shared.NOT_COMPARABLE, shared.WORSE).index(code)


def shown(path: Path) -> str:
    """Relative to the current directory where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)
