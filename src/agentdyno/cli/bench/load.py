"""``dyno load``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.options import SCOPES_OF_COMMANDS, settings_options
from agentdyno.cli.shared import json_option, open_store, print_json, say, store_option, store_url
from agentdyno.settings import settings_of
from agentdyno.settings.judging import TOLERANCE
from agentdyno.settings.load_requests import PROMPT_LENGTH
from agentdyno.settings.setting import LOAD, LOAD_FILE, Setting

if TYPE_CHECKING:
    from agentdyno.model import RunResult, Workspace
    from agentdyno.runs.kind import RunRequest
    from agentdyno.runs.load.prepare import PreparedLoad
    from agentdyno.specs.load.build import LoadedLoad
    from agentdyno.store import Store

_KIND = "load"
_ORDER = (
    "scenarios profile find_limit slo rate concurrency shape to count duration_s arrivals burstiness trace "
    "params model dialect api_key_env prompt dataset journey prompt_words output_tokens turns think_s method headers "
    "body text processes clients connections timeout_s window_s max_requests max_s ca_file insecure own_target seed "
    "name tags notes output_dir formats print_spec dry_run"
)


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno load my-agent --scenario spike_load,rate_limiting --profile quick\n"
    "  dyno load my-agent                                  all eight scenarios\n"
    "  dyno load http://127.0.0.1:8000/v1 --model m \\\n"
    '            --slo "ttft_p95<200ms, error_rate<1%" --find-limit\n'
    "  dyno load http://127.0.0.1:8000/v1 --rate 1000 --arrivals poisson \\\n"
    "            --duration 300 --processes 2\n"
    '  dyno load http://127.0.0.1:9000/health --concurrency 8 --slo "p95<50ms"\n'
    "  dyno load URL --shape ramp --rate 10 --to 200 --duration 60\n"
    "  dyno load URL --rate 50 --dataset cases.jsonl       questions of your own\n"
    "  dyno load URL --rate 5 --journey buyer.py@journey   several calls in a row\n"
    "  dyno load URL --trace trace.csv                     what was recorded, again\n"
    "  dyno load URL --rate 50 --print-spec > load.yaml    then: dyno run load.yaml"
)
@click.argument("target", metavar="AGENT|URL|local")
@settings_options(SCOPES_OF_COMMANDS["load"], order=_ORDER)
@store_option
@json_option
def command(target: str, **options: Any) -> int:
    """Put an agent or an endpoint under load: how fast, how many, and where it breaks.

    Latency counts from the time at which a request was due, so that a slow target cannot hide behind a waiting
    client; a run whose own client was too slow says so.
    """
    from agentdyno.runs.kind import RunRequest
    from agentdyno.specs.load.build import parse_load

    loaded = parse_load(make_document(target, options))
    if options["print_spec"]:
        return _print_spec(loaded)
    return run_load(RunRequest(_KIND, loaded.settings, loaded.load), options)


def make_document(target: str, options: dict[str, Any]) -> dict[str, object]:
    """The command line in the form of a file."""
    from agentdyno.specs import parse_param

    load: dict[str, object] = {"target": target}
    load |= _said(options, (*settings_of(LOAD), PROMPT_LENGTH))
    if options.get("params"):
        load["params"] = dict(parse_param(item) for item in options["params"])
    if options.get("headers"):
        load["headers"] = dict(_header(item) for item in options["headers"])
    if options.get("body") is not None:
        load["body"] = _json(options["body"])
    if options.get("text") is not None:
        load["input"] = options["text"]
    return {"load": load, **_said(options, settings_of(LOAD_FILE))}


def _said(options: dict[str, Any], settings: Sequence[Setting[object]]) -> dict[str, object]:
    """What the options say, by the keys of a file."""
    said = {setting.form_key: options.get(setting.asked) for setting in settings}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items() if _is_said(value)}


def _is_said(value: object) -> bool:
    return value is not None and value is not False and value != ()


def run_load_file(path: Path, options: dict[str, Any]) -> int:
    """``dyno run`` with a file that holds ``load:``."""
    from agentdyno.runs.kind import Source
    from agentdyno.runs.kinds import kind_named

    overrides = _said(options, settings_of(LOAD_FILE))
    return run_load(kind_named(_KIND).read(Source(path, quick=bool(options.get("quick"))), overrides), options)


def run_load(request: RunRequest, options: dict[str, Any]) -> int:
    """From the plan to the exit code."""
    from agentdyno.cli.outcome import ReportsAsked, exit_code, finish
    from agentdyno.runs.kind import Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.specs import load_workspace
    from agentdyno.workbench.reporting import check_formats

    as_json, store = bool(options.get("as_json")), options.get("store")
    formats = check_formats(options.get("formats"))
    workspace = options.get("workspace") or load_workspace(Path.cwd())
    if options.get("dry_run"):
        with kind_named(_KIND).prepare(request, Tools(workspace=workspace, say=say)) as prepared:
            return _show_plan(prepared.work, as_json)
    with open_store(store) as opened:
        result = measure(request, workspace, opened, options)
        findings = finish(result, opened, ReportsAsked(formats), TOLERANCE.default, as_json=as_json)
    return exit_code(result, findings, gate=False, strict=False)


def measure(request: RunRequest, workspace: Workspace, store: Store, options: dict[str, Any]) -> RunResult:
    """The run itself, with the live view on a terminal."""
    from agentdyno.cli.bench.load_view import LoadView
    from agentdyno.runs.kind import Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.runs.pipeline import start
    from agentdyno.workbench.location import output_root

    kind, tools = (
        kind_named(_KIND),
        Tools(store, output_root(store_url(options.get("store"))), workspace, say=say),
    )
    with kind.prepare(request, tools) as prepared:
        say(prepared.announced.line)
        planned_s = [job.planned_s for job in prepared.work.jobs]
        with LoadView([arm.name for arm in prepared.plan.arms], planned_s) as view:
            return start(kind, prepared, replace(tools, on_progress=view))


def _show_plan(prepared: PreparedLoad, as_json: bool) -> int:
    if as_json:
        print_json({"name": prepared.settings.name, "load": prepared.load, "arms": prepared.arms})
    else:
        for line in prepared.plan_lines():
            click.echo(line)
        say(f"{prepared.announcement} Nothing was sent.")
    return 0


def _print_spec(loaded: LoadedLoad) -> int:
    import yaml

    from agentdyno.specs.load.build import load_document

    click.echo(yaml.safe_dump(load_document(loaded), sort_keys=False, allow_unicode=True), nl=False)
    return 0


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise click.UsageError(f"--header is NAME:VALUE, not {text[:60]!r}")
    return name.strip(), value.strip()


def _json(text: str) -> object:
    import json

    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"--body is not JSON: {error}") from None
    return value
