"""``dyno time``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentdyno.cli.options import SCOPES_OF_COMMANDS, gate_options, settings_options, tolerance_option
from agentdyno.cli.shared import (
    LISTED,
    json_option,
    open_store,
    print_json,
    print_tables,
    say,
    store_option,
    store_url,
)

_EXPORTS = ("json", "csv", "markdown")


_ORDER = (
    "warmup runs min_runs max_runs names setup prepare cleanup shell ignore_failure input output timeout_s order "
    "seed tags notes"
)


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno time 'sort words.txt' 'sort --parallel=1 words.txt'\n"
    "  dyno time -w 3 -r 20 'grep -c the words.txt' 'awk /the/ words.txt'\n"
    "  dyno time -p 'rm -rf build' -P threads 1 8 'make -j {threads}'\n"
    "  dyno time -L codec gzip,bzip2,xz '{codec} -kf data.bin'\n"
    "  dyno time -N ./old ./new --export-json timings.json --gate"
)
@click.argument("commands", nargs=-1, required=True, metavar="COMMAND...")
@settings_options(SCOPES_OF_COMMANDS["time"], order=_ORDER)
@click.option("-N", "no_shell", is_flag=True, help="Start the programs themselves: --shell none.")
@click.option("--show-output", is_flag=True, help="Show what commands print: --output inherit.")
@click.option(
    "-P",
    "--parameter-scan",
    "scans",
    nargs=3,
    multiple=True,
    metavar="VAR MIN MAX",
    help="Every number of a range for {VAR}.",
)
@click.option("-D", "--parameter-step-size", "step", metavar="DELTA", help="Steps of --parameter-scan.  [default: 1]")
@click.option(
    "-L",
    "--parameter-list",
    "lists",
    nargs=2,
    multiple=True,
    metavar="VAR VALUES",
    help="Every value of a list for {VAR}; commas divide.",
)
@click.option("--export-json", metavar="FILE", help="Times as hyperfine's JSON file has them.")
@click.option("--export-csv", metavar="FILE", help="One line for each command.")
@click.option("--export-markdown", metavar="FILE", help="A Markdown table.")
@click.option("--format", "formats", **LISTED, help="Reports to write: md,html,csv,json,png,junit.")
@click.option("--dry-run", is_flag=True, help="Show what would run, and run nothing.")
@tolerance_option
@gate_options
@store_option
@json_option
def command(commands: tuple[str, ...], **options: Any) -> int:
    """Time shell commands: in random turns, with CPU time, memory and a verdict. The first is what the others are
    held against."""
    return time_commands(_document(commands, options), options)


def time_commands(document: dict[str, object], options: dict[str, Any]) -> int:
    """From what was asked for to the exit code."""
    from agentdyno.cli.outcome import ReportsAsked, exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.kind import Source, Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.runs.pipeline import start
    from agentdyno.workbench.location import output_root
    from agentdyno.workbench.reporting import check_formats

    kind, as_json, store = kind_named("commands"), bool(options["as_json"]), options["store"]
    request = kind.read(Source(document=document), {})
    formats = check_formats(options["formats"])
    exports = {name: Path(options[f"export_{name}"]) for name in _EXPORTS if options[f"export_{name}"]}
    _open_exports(exports)
    with kind.prepare(request, Tools(say=say)) as prepared:
        if options["dry_run"]:
            _show_plan(prepared, as_json)
            return 0
        with open_store(store) as opened:
            say(prepared.announced.line)
            with ProgressLine() as progress:
                tools = Tools(opened, output_root(store_url(store)), say=say, on_progress=progress)
                result = start(kind, prepared, tools)
            _write_exports(result, exports)
            findings = finish(result, opened, ReportsAsked(formats), options["tolerance"], as_json=as_json)
    return exit_code(result, findings, gate=bool(options["gate"]), strict=bool(options["strict"]))


def _document(commands: tuple[str, ...], options: dict[str, Any]) -> dict[str, object]:
    """The options as a file would have them."""
    from agentdyno.settings import settings_of
    from agentdyno.settings.setting import COMMANDS
    from agentdyno.specs.commands.scan import scanned

    document: dict[str, object] = {"commands": list(commands)}
    for setting in settings_of(COMMANDS):
        value = options.get(setting.asked)
        if value not in (None, (), "", False):
            document[setting.name] = list(value) if isinstance(value, tuple) else value
    if options["no_shell"]:
        if options.get("shell") not in (None, "none"):
            raise click.UsageError("-N and --shell: one of the two")
        document["shell"] = "none"
    if options["show_output"]:
        document["output"] = "inherit"
    if options["step"] is not None and not options["scans"]:
        raise click.UsageError("--parameter-step-size goes with --parameter-scan")
    parameters: dict[str, object] = {}
    for name, low, high in options["scans"]:
        parameters[name] = scanned(name, low, high, options["step"])
    for name, values in options["lists"]:
        parameters[name] = values.split(",")
    if len(parameters) < len(options["scans"]) + len(options["lists"]):
        raise click.UsageError("a parameter is given twice")
    return {**document, "parameters": parameters} if parameters else document


def _open_exports(exports: dict[str, Path]) -> None:
    """A file that cannot be written fails in the first second, not after the last run."""
    from agentdyno.errors import RunError

    for path in exports.values():
        try:
            path.open("a").close()
        except OSError as error:
            raise RunError(f"cannot be written: {error.strerror}", where=str(path)) from None


def _write_exports(result: Any, exports: dict[str, Path]) -> None:
    from agentdyno.cli.outcome import shown
    from agentdyno.reports.command_times import EXPORTS

    for name, path in exports.items():
        path.write_text(EXPORTS[name](result), encoding="utf-8")
        say(f"Wrote {shown(path)}")


def _show_plan(prepared: Any, as_json: bool) -> None:
    from agentdyno.findings.run.tables import plan_table
    from agentdyno.runs.pipeline import planned_samples

    if as_json:
        print_json({"name": prepared.spec.name, "arms": prepared.plan.arms, "spec": prepared.spec})
        return
    print_tables(plan_table(prepared.plan, planned_samples(prepared)))
    say(f"{prepared.announced.line}. Nothing was run.")
