"""``dyno resume``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.options import settings_options
from agentdyno.cli.shared import json_option, open_store, say, store_option, store_url, workspace_here
from agentdyno.settings.judging import TOLERANCE
from agentdyno.settings.setting import RESUME

if TYPE_CHECKING:
    from agentdyno.model import RunResult


@click.command(epilog="\b\nExamples:\n  dyno resume\n  dyno resume 0198c3a1-7f2b --retry-errors")
@click.argument("run", default="last")
@click.option("--retry-errors", is_flag=True, help="Repeat samples that failed, too.")
@settings_options(RESUME)
@store_option
@json_option
def command(run: str, retry_errors: bool, store: str | None, as_json: bool, **options: Any) -> int:
    """Go on with RUN (the last one) after an interruption or a crash; nothing that is done is repeated."""
    from agentdyno.cli.outcome import ReportsAsked, exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.model.result import is_rescored
    from agentdyno.runs.kind import Choices, Tools
    from agentdyno.runs.pipeline import resume
    from agentdyno.workbench.location import output_root

    with open_store(store, must_exist=True) as opened:
        run_id = opened.runs.find(run)
        if is_rescored(opened.runs.load(run_id, samples=False)):
            from agentdyno.cli.bench.rescore import show_rescored
            from agentdyno.workbench.rescore import resume_rescoring

            asked = ReportsAsked(verbose=bool(options.get("verbose")))
            done = resume_rescoring(opened, run_id, workspace_here(), say)
            return show_rescored(done, opened, asked, TOLERANCE.default, as_json=as_json)
        with ProgressLine() as progress:
            tools = Tools(
                opened,
                output_root(store_url(store)),
                say=say,
                on_progress=progress,
                choices=Choices(max_cost_usd=options.get("max_cost"), executor=options.get("executor") or ""),
            )
            result = resume(run_id, tools, retry_errors=retry_errors)
        asked = ReportsAsked(_reports_of(result), verbose=bool(options.get("verbose")))
        findings = finish(result, opened, asked, TOLERANCE.default, as_json=as_json)
    return exit_code(result, findings, gate=False, strict=False)


def _reports_of(result: RunResult) -> tuple[str, ...]:
    """What the run would have written had it not been interrupted: the reports that its spec names."""
    from agentdyno.model import Spec

    if not isinstance(result.spec, Spec) or not result.spec.reports:
        return ()
    from agentdyno.runs.experiment.resolve import import_paths
    from agentdyno.workbench.reporting import check_formats

    return check_formats(",".join(result.spec.reports), import_paths(result.spec))
