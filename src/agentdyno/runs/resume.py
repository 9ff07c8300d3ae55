"""Going on with a run that was interrupted or killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.model import Progress, RunResult, RunStatus
from agentdyno.model.result import LOAD_KIND
from agentdyno.runs.experiment.prepare import prepare
from agentdyno.runs.experiment.sides import Say
from agentdyno.runs.pipeline import Runner
from agentdyno.store import Store


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
    run_id = store.runs.find(reference)
    header = store.runs.load(run_id, samples=False)
    if header.status is RunStatus.COMPLETE and not retry_errors:
        raise RunError(
            f"run {run_id} is complete: there is nothing to resume",
            remedy="`dyno run` starts a new one; --retry-errors repeats failed samples.",
        )
    if header.suite is not None:
        from agentdyno.runs.suite.kind import SuiteRunner
        from agentdyno.runs.suite.prepare import SuiteOptions
        from agentdyno.runs.suite.resume import resume_suite
        from agentdyno.specs import load_workspace

        workspace = load_workspace(Path.cwd())
        options = SuiteOptions(max_cost_usd=max_cost_usd, environ=os.environ)
        suite_runner = SuiteRunner(store, output_root, on_progress)
        return resume_suite(suite_runner, header, workspace, options, retry_errors=retry_errors, say=say)
    if header.kind == LOAD_KIND:
        from agentdyno.runs.load.kind import LoadRunner
        from agentdyno.runs.load.prepare import preparing_load
        from agentdyno.specs import load_workspace
        from agentdyno.specs.load.build import LoadedLoad, load_of

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
