"""``dyno resume``."""

from __future__ import annotations

import click

from agentdyno.cli.options import settings_options
from agentdyno.cli.shared import json_option, open_store, say, store_option, store_url
from agentdyno.settings.judging import TOLERANCE
from agentdyno.settings.setting import RESUME


@click.command(epilog="\b\nExamples:\n  dyno resume last\n  dyno resume 0198c3a1-7f2b --retry-errors")
@click.argument("run")
@click.option("--retry-errors", is_flag=True, help="Repeat samples that failed, too.")
@settings_options(RESUME)
@store_option
@json_option
def command(run: str, retry_errors: bool, max_cost: float | None, store: str | None, as_json: bool) -> int:
    """Go on with RUN after an interruption or a crash; nothing that is done is repeated."""
    from agentdyno.cli.outcome import ReportsAsked, exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.kind import Choices, Tools
    from agentdyno.runs.pipeline import resume
    from agentdyno.workbench.location import output_root

    with open_store(store, must_exist=True) as opened:
        with ProgressLine() as progress:
            tools = Tools(
                opened,
                output_root(store_url(store)),
                say=say,
                on_progress=progress,
                choices=Choices(max_cost_usd=max_cost),
            )
            result = resume(run, tools, retry_errors=retry_errors)
        findings = finish(result, opened, ReportsAsked(), TOLERANCE.default, as_json=as_json)
    return exit_code(result, findings, gate=False, strict=False)
