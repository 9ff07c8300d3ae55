"""Going on with a run that was interrupted or killed."""

from __future__ import annotations

from agentdyno.errors import RunError
from agentdyno.model import RunResult, RunStatus
from agentdyno.workbench.prepare import prepare
from agentdyno.workbench.run import Runner
from agentdyno.workbench.sides import Say


def resume(runner: Runner, reference: str, *, retry_errors: bool = False, say: Say = lambda _: None) -> RunResult:
    """Plans the stored spec again and executes the trials that have no sample."""
    run_id = runner.store.find_run(reference)
    header = runner.store.load_run(run_id, samples=False)
    if header.status is RunStatus.COMPLETE and not retry_errors:
        raise RunError(
            f"run {run_id} is complete: there is nothing to resume",
            remedy="`dyno run` starts a new one; --retry-errors repeats failed samples.",
        )
    prepared = prepare(header.spec, say=say)
    planned = {arm.arm_id for arm in prepared.plan.arms}
    known = {arm.arm_id for arm in header.arms}
    if planned != known:
        raise RunError(
            f"the experiments of run {run_id} have changed since: their parameters are no longer the same",
            where=header.spec.source or None,
            remedy="Start a new run; the samples of the old one stay as they are.",
        )
    return runner.go_on(header, prepared, retry_errors=retry_errors)
