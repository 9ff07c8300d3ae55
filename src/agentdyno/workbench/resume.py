"""Going on with a run that was interrupted or killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.model import Progress, RunResult, RunStatus
from agentdyno.store import Store
from agentdyno.workbench.judge import LOAD_KIND
from agentdyno.workbench.prepare import prepare
from agentdyno.workbench.run import Runner
from agentdyno.workbench.sides import Say


def resume(
    store: Store,
    reference: str,
    output_root: Path,
    *,
    retry_errors: bool = False,
    max_cost_usd: float | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    say: Say = lambda _: None,
) -> RunResult:
    """Plans what was stored again and executes the trials that have no sample."""
    run_id = store.find_run(reference)
    header = store.load_run(run_id, samples=False)
    if header.status is RunStatus.COMPLETE and not retry_errors:
        raise RunError(
            f"run {run_id} is complete: there is nothing to resume",
            remedy="`dyno run` starts a new one; --retry-errors repeats failed samples.",
        )
    if header.suite is not None:
        from agentdyno.specs import load_workspace
        from agentdyno.workbench.suite_prepare import SuiteOptions
        from agentdyno.workbench.suite_resume import resume_suite
        from agentdyno.workbench.suite_run import SuiteRunner

        workspace = load_workspace(Path.cwd())
        options = SuiteOptions(max_cost_usd=max_cost_usd, environ=os.environ)
        suite_runner = SuiteRunner(store, output_root, on_progress)
        return resume_suite(suite_runner, header, workspace, options, retry_errors=retry_errors, say=say)
    if header.kind == LOAD_KIND:
        from agentdyno.specs import load_workspace
        from agentdyno.specs.load_build import LoadedLoad, load_of
        from agentdyno.workbench.load_prepare import preparing_load
        from agentdyno.workbench.loading import LoadRunner

        loaded = LoadedLoad(load_of(header.spec), header.spec)
        with preparing_load(loaded, load_workspace(Path.cwd()), say=say) as ready:
            return LoadRunner(store, output_root).go_on(header, ready)
    prepared = prepare(header.spec, say=say)
    planned = {arm.arm_id for arm in prepared.plan.arms}
    known = {arm.arm_id for arm in header.arms}
    if planned != known:
        raise RunError(
            f"the experiments of run {run_id} have changed since: their parameters are no longer the same",
            where=header.spec.source or None,
            remedy="Start a new run; the samples of the old one stay as they are.",
        )
    return Runner(store, output_root, on_progress).go_on(header, prepared, retry_errors=retry_errors)
