"""``dyno check``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agentdyno.cli.alerting import require_places, tell_alerts
from agentdyno.cli.options import refuse, settings_options
from agentdyno.cli.shared import (
    INTERRUPTED,
    LISTED,
    NO_SAMPLE,
    PASS,
    UNDECIDED,
    WORSE,
    json_option,
    open_store,
    print_json,
    print_tables,
    reports_folder_option,
    say,
    store_option,
    store_url,
    workspace_here,
)
from agentdyno.settings.setting import CHECK
from agentdyno.settings.suite import AGENTS, EPOCHS, MAX_COST, SEND_ALERTS

if TYPE_CHECKING:
    from agentdyno.findings.gate.model import GateReport
    from agentdyno.model import RunResult
    from agentdyno.runs.kind import Prepared, Tools
    from agentdyno.runs.suite.prepare import PreparedSuite
    from agentdyno.store import Store

_OF_SUITES = (AGENTS, EPOCHS, MAX_COST, SEND_ALERTS)


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno check --against main               both sides measured, interleaved\n"
    "  dyno check --against baseline.json      a file that `dyno baseline export` wrote\n"
    "  dyno check suite.yaml --agent my-agent --against my-agent@1.4.0\n"
    "  dyno check spec.yaml --against main     code\n"
    "  dyno check --write-ci                   a GitHub workflow that does it\n"
    "  dyno check --write-ci --install git+https://host/owner/agentdyno@v0.1\n"
    "\b\nExit codes: 0 pass, 1 blocked, 3 not comparable, 4 with --strict: warn or inconclusive."
)
@click.argument("files", nargs=-1, metavar="[SUITE|SPEC]...")
@settings_options(CHECK, order="against agents strict rerun quick epochs max_cost yes")
@click.option("--markdown", type=click.Path(dir_okay=False, path_type=Path), help="Write the comment for a PR.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option("--format", "formats", **LISTED, help="Reports to write: md,html,json,png.")
@reports_folder_option
@click.option("--write-ci", is_flag=True, help="Write .github/workflows/dyno.yml and check nothing.")
@click.option(
    "--install",
    metavar="SOURCE",
    help="With --write-ci, where agentdyno comes from: agentdyno==0.1, a git URL, or a folder of this checkout.",
)
@store_option
@json_option
def command(files: tuple[str, ...], **options: Any) -> int:
    """The gate: measure what is missing, hold it against the baseline: PASS, WARN, BLOCK or INCONCLUSIVE.

    Without a file: the suites of dyno.yaml. What counts is under `gate:` there.
    """
    from agentdyno.workbench.reporting import check_formats

    if options["write_ci"]:
        return _write_ci(files, options)
    if options["install"]:
        raise click.UsageError("--install means nothing without --write-ci")
    names = check_formats(options.get("formats"))
    reports, runs = check_files(files, options)
    _show(reports, runs, {**options, "files": files}, names)
    return exit_code(reports, runs, strict=bool(options["strict"]))


_OF_WRITING = ("write_ci", "install", "as_json", "against")
_NOT_IN_CI = ("markdown", "junit", "output_dir", "store")


def exit_code(reports: Sequence[GateReport], runs: Sequence[RunResult], *, strict: bool) -> int:
    """1 when something is blocked; 4 when something warns or is undecided and ``strict``; else 0."""
    from agentdyno.findings.gate.model import GateVerdict

    verdicts = {report.verdict for report in reports}
    if any(result.stopped_because == "interrupted" for result in runs):
        return INTERRUPTED
    if GateVerdict.BLOCK in verdicts:
        return WORSE
    if any(not any(arm.statuses.get(status) for status in ("ok", "failed")) for run in runs for arm in run.arms):
        return NO_SAMPLE
    undecided = verdicts & {GateVerdict.WARN, GateVerdict.INCONCLUSIVE}
    return UNDECIDED if strict and undecided else PASS


def check_files(files: Sequence[str], options: dict[str, Any]) -> tuple[list[GateReport], list[RunResult]]:
    """Every suite and spec, those of dyno.yaml without any; what was judged, and the runs made for it.

    An interrupted run is the last one.
    """
    reports: list[GateReport] = []
    runs: list[RunResult] = []
    if options.get("send_alerts"):
        require_places(workspace_here())
    with open_store(options.get("store")) as opened:
        for found, made in _checked(files, opened, options):
            reports += found
            runs += made
            if any(result.stopped_because == "interrupted" for result in made):
                break
        if options.get("send_alerts"):
            tell_alerts(opened, workspace_here(), runs)
    return reports, runs


def _checked(
    files: Sequence[str], store: Store, options: dict[str, Any]
) -> Iterator[tuple[list[GateReport], list[RunResult]]]:
    from agentdyno.cli.bench.run import find_kinds

    for item in files or (None,):
        for kind, path in find_kinds(item):
            if kind == "suite" and path is not None:
                yield _check_suite(path, store, options)
                continue
            if kind == "load" and path is not None:
                report, run = _check_load(path, store, options)
            elif kind == "experiment":
                report, run = _check_spec(item or "", store, options)
            else:
                raise click.UsageError(f"dyno check has no gate for a {kind} run")
            yield [report], [run]


def _check_suite(path: Path, store: Store, options: dict[str, Any]) -> tuple[list[GateReport], list[RunResult]]:
    from agentdyno.cli.bench.suite_run import announce, confirm, make_changes
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.kind import Choices, Tools
    from agentdyno.specs import load_suite, suite_changes
    from agentdyno.workbench.check import SuiteCheck
    from agentdyno.workbench.location import output_root

    choices = Choices(
        tuple(options["agents"]),
        options.get("max_cost"),
        python=options.get("interpreter") or "",
        allow_changed_suite=bool(options.get("allow_changed_suite")),
    )

    @contextmanager
    def running(prepared: Prepared[PreparedSuite], tools: Tools) -> Iterator[Tools]:
        say(announce(prepared.work))
        confirm(prepared.announced, yes=bool(options.get("yes")), limited=choices.max_cost_usd is not None)
        with ProgressLine() as progress:
            yield replace(tools, on_progress=progress)

    workspace = options.get("workspace") or workspace_here()
    changes = make_changes({**options, "output_dir": None, "against": None})
    loaded = load_suite(path, quick=bool(options.get("quick")), overrides=suite_changes(**changes))
    tools = Tools(store, output_root(store_url(options.get("store"))), workspace, say=say, choices=choices)
    check = SuiteCheck(
        loaded, tools, running, options.get("against"), rerun=bool(options["rerun"]), policy=workspace.gate
    )
    done = check.check()
    for run_id in done.reused:
        say(f"Already measured: run {run_id[:13]} (--rerun measures again)")
    return list(done.reports), list(done.runs)


def _check_spec(what: str, store: Store, options: dict[str, Any]) -> tuple[GateReport, RunResult]:
    from agentdyno.cli.bench.run import experiment_source
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.kind import Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.workbench.check_spec import check_spec
    from agentdyno.workbench.location import output_root

    refuse(options, _OF_SUITES, "an experiment")
    changes = {"against": options["against"]} if options.get("against") else {}
    request = kind_named("experiment").read(experiment_source(what, bool(options.get("quick"))), changes)
    with ProgressLine() as progress:
        tools = Tools(store, output_root(store_url(options.get("store"))), say=say, on_progress=progress)
        return check_spec(request.spec, workspace_here().gate, tools)


def _check_load(path: Path, store: Store, options: dict[str, Any]) -> tuple[GateReport, RunResult]:
    from agentdyno.cli.bench.load import measure
    from agentdyno.runs.kind import Source
    from agentdyno.runs.kinds import kind_named
    from agentdyno.workbench.check_spec import check_load

    refuse(options, _OF_SUITES, "a load run")
    request = kind_named("load").read(Source(path, quick=bool(options.get("quick"))), {})
    workspace = workspace_here()
    return check_load(
        request.spec.name,
        options.get("against") or workspace.gate.against,
        store,
        workspace.gate,
        lambda: measure(request, workspace, store, options),
    )


def _show(
    reports: Sequence[GateReport], runs: Sequence[RunResult], options: dict[str, Any], formats: Sequence[str]
) -> None:
    from agentdyno.cli.outcome import shown
    from agentdyno.contracts import Report
    from agentdyno.findings.conclusions import Conclusions
    from agentdyno.findings.gate.tables_junit import gate_junit
    from agentdyno.reports.files import write_text
    from agentdyno.reports.gate_comment import gate_comment
    from agentdyno.workbench.reporting import write_reports

    report = Report((), Conclusions(gates=tuple(reports)))
    if options["as_json"]:
        print_json(reports)
    else:
        print_tables(report)
    written = write_reports(report, formats, Path(options["output_dir"]))
    if options.get("markdown") and reports:
        written.append(write_text(options["markdown"], gate_comment(*reports, command=spelled(options))))
    if options.get("junit"):
        written.append(write_text(options["junit"], gate_junit(reports)))
    for path in written:
        say(f"Wrote {shown(path)}")
    for result in runs:
        more = " --case ID shows an answer" if result.suite is not None else " shows it"
        say(f"Run: {result.run_id[:13]} (dyno show {result.run_id[:13]}{more})")


def spelled(options: dict[str, Any]) -> str:
    """The command that asks the same again."""
    words = ["dyno", "check", *options.get("files", ())]
    for name in options.get("agents") or ():
        words += ["--agent", name]
    words += ["--against", options["against"]] if options.get("against") else []
    words += ["--quick"] if options.get("quick") else []
    return shlex.join(words)


def _write_ci(files: Sequence[str], options: dict[str, Any]) -> int:
    from agentdyno.workbench.ci_file import SOURCE, write_ci

    source, against = options["install"] or SOURCE, str(options.get("against") or "")
    path = write_ci(Path.cwd(), files, source, against=against, options=_words_for_ci())
    if options["as_json"]:
        print_json({"file": str(path)})
    else:
        say(f"Wrote {path}. Commit it; every pull request is then checked.")
    return 0


def _words_for_ci() -> list[str]:
    """The other options that were given, which the written command has, too; its reports are where it puts them."""
    context, words = click.get_current_context(), list[str]()
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or not isinstance(option, click.Option) or name in _OF_WRITING:
            continue
        spelled, value = max(option.opts, key=len), context.params[name]
        if name in _NOT_IN_CI:
            raise click.UsageError(f"{spelled} means nothing with --write-ci")
        for item in value if isinstance(value, tuple) else (value,):
            words += [spelled] if option.is_flag else [spelled, str(item)]
    return words
