"""The gate for experiments: a spec measured here, held against a revision, a result file or a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentdyno.errors import SpecError
from agentdyno.findings.comparison.ask import Results, compare_operands
from agentdyno.findings.comparison.ask_result import is_file
from agentdyno.findings.gate.judge_experiments import judge_experiments
from agentdyno.findings.gate.model import GateReport, GateVerdict
from agentdyno.findings.run.ask import findings_for
from agentdyno.model import Comparison, Findings, RunResult, Spec
from agentdyno.model.policy import GatePolicy
from agentdyno.runs.kind import RunRequest, Tools
from agentdyno.runs.kinds import EXPERIMENT, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.store import Store

LOAD_CRITICAL = "latency_p99_s"
"""What blocks a load run where the policy says nothing about it."""
CLIENT_LIMITED = "client-limited"
"""The warning of such a run."""


def check_load(
    name: str, against: str | None, store: Store, policy: GatePolicy, measure: Callable[[], RunResult]
) -> tuple[GateReport, RunResult]:
    """Measures a load run and judges it against an earlier one: a result file, or a run of the store."""
    if against is None:
        raise SpecError(
            f"{name} has no baseline",
            where="dyno check",
            remedy="Name an earlier load run: --against RUN, or --against result.json.",
        )
    before = Results(lambda: store).operand(against)
    result = measure()
    after = Results(lambda: store).operand(result.run_id)
    compared = compare_operands(before, after, store)
    report = judge_experiments(compared, policy, name=name, critical=LOAD_CRITICAL)
    return _without_slow_clients(report, before.result, after.result), result


def _without_slow_clients(report: GateReport, before: RunResult, after: RunResult) -> GateReport:
    """A run whose client was the limit says nothing about the target: it neither passes nor blocks."""
    limited = [
        side
        for side, run in (("baseline", before), ("candidate", after))
        if any(warning.code == CLIENT_LIMITED for warning in run.warnings)
    ]
    if not limited:
        return report
    told = f"the client was the limit in the {' and the '.join(limited)}: nothing is said about the target"
    return replace(report, verdict=GateVerdict.INCONCLUSIVE, summary=told)


def check_spec(spec: Spec, policy: GatePolicy, tools: Tools) -> tuple[GateReport, RunResult]:
    """Measures the spec and judges it. ``spec.against`` is a result file, or what ``dyno run --against`` takes."""
    store, against = tools.kept_in, spec.against or policy.against
    if against is None:
        raise SpecError(
            f"{spec.name} has no baseline",
            where="dyno check",
            remedy="Name one: --against main (a git revision), or --against result.json.",
        )
    if is_file(against):
        before = Results(lambda: store).operand(against)
        result = _measured(replace(spec, against=None), tools)
        after = Results(lambda: store).operand(result.run_id)
        comparison: Comparison = compare_operands(before, after, store)
    else:
        result = _measured(replace(spec, against=against), tools)
        findings: Findings = findings_for(result, store)
        comparison = findings.comparisons[0]
    return judge_experiments(comparison, policy, name=spec.name), result


def _measured(spec: Spec, tools: Tools) -> RunResult:
    kind = kind_named(EXPERIMENT)
    with kind.prepare(RunRequest(EXPERIMENT, spec), tools) as prepared:
        return start(kind, prepared, tools)
