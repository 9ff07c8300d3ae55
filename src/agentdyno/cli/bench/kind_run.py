"""``dyno run`` with a file of a kind that another package brings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentdyno.cli.shared import open_store, print_json, print_tables, say, store_url
from agentdyno.settings.judging import TOLERANCE

if TYPE_CHECKING:
    from agentdyno.runs.kind import Prepared

_SETTINGS = ("seed", "warmup", "timeout_s", "time_budget_s", "notes", "output_dir")
"""Options that may mean something for any kind; which of them do is the kind's to say."""


def run_kind(name: str, path: Path, options: dict[str, Any]) -> int:
    """From the file to the exit code."""
    from agentdyno.cli.bench.suite_run import confirm
    from agentdyno.cli.outcome import ReportsAsked, exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.kind import Source, Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.runs.pipeline import start
    from agentdyno.workbench.location import output_root
    from agentdyno.workbench.reporting import check_formats

    kind, as_json, store = kind_named(name), bool(options.get("as_json")), options.get("store")
    changes = {key: options[key] for key in _SETTINGS if options.get(key) is not None}
    if options.get("tags"):
        changes["tags"] = tuple(options["tags"])
    request = kind.read(Source(path, quick=bool(options.get("quick"))), changes)
    formats = check_formats(options.get("formats"))
    if options.get("dry_run"):
        with kind.prepare(request, Tools(say=say)) as prepared:
            _show_plan(prepared, as_json)
        return 0
    with open_store(store) as opened, ProgressLine() as progress:
        tools = Tools(opened, output_root(store_url(store)), say=say, on_progress=progress)
        with kind.prepare(request, tools) as prepared:
            if prepared.announced.line:
                say(prepared.announced.line)
            confirm(prepared.announced, yes=bool(options.get("yes")))
            result = start(kind, prepared, tools)
        asked = ReportsAsked(formats, verbose=bool(options.get("verbose")))
        findings = finish(result, opened, asked, options.get("tolerance", TOLERANCE.default), as_json=as_json)
    return exit_code(result, findings, gate=False, strict=False)


def _show_plan(prepared: Prepared[Any], as_json: bool) -> None:
    from agentdyno.findings.run.tables import plan_table
    from agentdyno.runs.pipeline import planned_samples

    if as_json:
        print_json({"name": prepared.spec.name, "arms": prepared.plan.arms, "spec": prepared.spec})
        return
    print_tables(plan_table(prepared.plan, planned_samples(prepared)))
    say(f"{prepared.announced.line or prepared.spec.name}. Nothing was run.")
