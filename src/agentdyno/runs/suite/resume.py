"""Going on with a suite's run that was interrupted or killed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentdyno.errors import RunError
from agentdyno.model import Price, RunResult, Side, Workspace
from agentdyno.model.codec import from_plain
from agentdyno.runs.experiment.sides import Say
from agentdyno.runs.lineup import IN_PROCESS
from agentdyno.runs.suite.kind import SuiteRunner
from agentdyno.runs.suite.prepare import SuiteOptions, preparing
from agentdyno.specs import LoadedSuite
from agentdyno.store import Store


def resume_suite(
    runner: SuiteRunner,
    header: RunResult,
    workspace: Workspace,
    options: SuiteOptions,
    *,
    retry_errors: bool = False,
    say: Say = lambda _: None,
) -> RunResult:
    """Executes the trials without an answer, with the agents as they were: another version would be another arm."""
    store: Store = runner.store
    suite = header.suite
    assert suite is not None, "only runs of suites are resumed here"
    _refuse_functions(header)
    if header.spec.against is not None:  # the baselines, which come first, are found again
        candidates = {arm.agent for arm in header.arms if arm.side is Side.CANDIDATE}
        suite = replace(suite, agents=suite.agents[-len(candidates) :])
    loaded = LoadedSuite(suite, header.spec)
    with preparing(loaded, _as_priced(workspace, header), options, store, say) as prepared:
        planned = {arm.arm_id: arm for arm in prepared.plan.arms}
        known = {arm.arm_id: arm for arm in header.arms}
        if planned.keys() != known.keys():
            changed = sorted({arm.agent or "" for arm_id, arm in known.items() if arm_id not in planned})
            now = sorted({arm.agent or "" for arm_id, arm in planned.items() if arm_id not in known})
            raise RunError(
                f"agents have changed since: {', '.join(changed)} would now be {', '.join(now) or 'missing'}",
                where=f"run {header.run_id[:13]}",
                remedy="Start a new run; the answers of the old one stay as they are.",
            )
        return runner.go_on(header, prepared, retry_errors=retry_errors)


def _as_priced(workspace: Workspace, header: RunResult) -> Workspace:
    """The workspace with the prices that the run began with: one run has one price list."""
    prices, hour = header.pricing.get("prices"), header.pricing.get("compute_price_per_cpu_hour")
    return replace(
        workspace,
        prices={name: from_plain(Price, row) for name, row in prices.items()} if isinstance(prices, Mapping) else {},
        compute_price_per_cpu_hour=float(hour) if isinstance(hour, (int, float)) else None,
    )


def _refuse_functions(header: RunResult) -> None:
    uses = header.suite.agents if header.suite is not None else ()
    here = [use for use in uses if use.uses.startswith(IN_PROCESS)]
    if here:
        raise RunError(
            f"{here[0].name} is a function of the program that started the run",
            where=f"run {header.run_id[:13]}",
            remedy="Only that program can go on: put the function into a file and name it file.py@function.",
        )
