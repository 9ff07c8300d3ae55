"""``dyno report``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import LISTED, json_option, open_store, policy_for, print_json, say, store_option, store_url


@click.command(
    epilog="\b\nExamples:\n  dyno report last --format html\n  dyno report last --format md,junit --output-dir out\n"
    "  dyno report last --format ours --import reporters.py"
)
@click.argument("run")
@click.option("--format", "formats", default=["html"], show_default=True, **LISTED)
@click.option("--import", "imports", multiple=True, metavar="FILE", help="Load this file: it registers a format.")
@click.option("--output-dir", help="Where files go. [default: the run's folder]")
@store_option
@json_option
def command(
    run: str, formats: str, imports: tuple[str, ...], output_dir: str | None, store: str | None, as_json: bool
) -> None:
    """Write reports of RUN (an id, `last`, or a result file): md, html, csv, json, png, junit."""
    from agentdyno.cli.outcome import shown
    from agentdyno.contracts import Report
    from agentdyno.findings.comparison.ask_result import result_named
    from agentdyno.findings.profile.ask import with_profiles
    from agentdyno.findings.run.ask import findings_for
    from agentdyno.registry.local import load_import
    from agentdyno.runs.place import run_folder
    from agentdyno.workbench.location import store_exists
    from agentdyno.workbench.reporting import check_formats, write_reports

    for item in imports:  # all of them: a file that is not there is told, whatever the formats
        load_import(item)
    names = check_formats(formats)
    opened = open_store(store) if store_exists(store_url(store)) else None
    try:
        result = result_named(run, lambda: opened or open_store(store, must_exist=True))
        findings = with_profiles(findings_for(result, opened, policy=policy_for(result)), result, opened)
    finally:
        if opened is not None:
            opened.close()
    folder = Path(output_dir) if output_dir else run_folder(result.spec, result.run_id)
    written = write_reports(Report((result,), findings), names, folder)
    if as_json:
        print_json({"run_id": result.run_id, "files": [str(path) for path in written]})
    for path in written:
        say(f"Wrote {shown(path)}")
