"""``dyno load``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.shared import json_option, open_store, print_json, say, store_option, store_url

if TYPE_CHECKING:
    from agentdyno.model import RunResult, Workspace
    from agentdyno.runs.kind import RunRequest
    from agentdyno.runs.load.prepare import PreparedLoad
    from agentdyno.specs.load.build import LoadedLoad
    from agentdyno.store import Store

LOAD = "load"
_PLAIN = (
    *("model", "dialect", "api_key_env", "profile", "rate", "concurrency", "arrivals", "burstiness", "trace", "slo"),
    *("processes", "connections", "timeout_s", "window_s", "max_requests", "max_s", "prompt", "prompt_words"),
    *("output_tokens", "turns", "think_s", "method", "ca_file", "duration_s", "shape", "to", "count"),
)
"""Options that stand in a file under the same name."""
_FLAGS = ("find_limit", "insecure", "own_target")


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno load my-agent --scenario spike_load,rate_limiting --profile quick\n"
    "  dyno load my-agent                                  all eight scenarios\n"
    "  dyno load http://127.0.0.1:8000/v1 --model m \\\n"
    '            --slo "ttft_p95<200ms, error_rate<1%" --find-limit\n'
    "  dyno load http://127.0.0.1:8000/v1 --rate 1000 --arrivals poisson \\\n"
    "            --duration 300 --processes 2\n"
    "  dyno load http://127.0.0.1:9000/health --method GET --concurrency 8\n"
    "  dyno load URL --shape ramp --rate 10 --to 200 --duration 60\n"
    "  dyno load URL --trace trace.csv                     what was recorded, again\n"
    "  dyno load URL --rate 50 --print-spec > load.yaml    then: dyno run load.yaml"
)
@click.argument("target", metavar="AGENT|URL|local")
@click.option("--scenario", "scenarios", metavar="LIST", help="Stress scenarios, or all.  [default without a rate]")
@click.option("--profile", type=click.Choice(["quick", "standard", "full"]), help="How long and how hard.")
@click.option("--find-limit", is_flag=True, help="Search the highest rate that meets the objectives.")
@click.option("--slo", metavar="LIST", help='Objectives, such as "ttft_p95<200ms, error_rate<1%".')
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Requests a second: open loop.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Requests in flight: closed loop.")
@click.option(
    "--shape",
    type=click.Choice(["soak", "ramp", "step", "spike", "sawtooth"]),
    help="A usual course, from --rate or --concurrency to --to.",
)
@click.option("--to", type=click.FloatRange(min=0), help="Where a shape goes: its end, or its peak.")
@click.option("--count", type=click.IntRange(min=1), help="Steps or teeth of a shape.  [default: 5]")
@click.option("--duration", "duration_s", type=click.FloatRange(min=0, min_open=True), help="Seconds.  [default: 10]")
@click.option("--arrivals", type=click.Choice(["constant", "poisson", "gamma"]), help="How requests come.")
@click.option("--burstiness", type=float, help="Shape of gamma arrivals: 1 is Poisson, less is burstier.")
@click.option("--trace", type=click.Path(dir_okay=False), help="Replay a trace (CSV or JSONL).")
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of the scenarios.")
@click.option("--model", help="The model to ask for.")
@click.option("--dialect", type=click.Choice(["http", "openai", "ollama", "agent"]), help="How to speak to it.")
@click.option("--api-key-env", metavar="NAME", help="Environment variable with the key.")
@click.option("--prompt", help="What is asked, every time.")
@click.option("--prompt-words", type=click.IntRange(min=1), help="Length of made-up prompts.  [default: 32]")
@click.option("--output-tokens", type=click.IntRange(min=1), help="Longest answer.")
@click.option("--turns", type=click.IntRange(min=1), help="Turns of a conversation.")
@click.option("--think", "think_s", type=click.FloatRange(min=0), help="Seconds before the next turn.")
@click.option("--method", type=click.Choice(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]), help="Plain HTTP.")
@click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", help="Plain HTTP: a header; no secrets.")
@click.option("--body", metavar="JSON", help="Plain HTTP: the body.")
@click.option("--input", "text", metavar="TEXT", help="What an agent is asked.")
@click.option("--processes", type=click.IntRange(min=1), help="Client processes.  [default: 1]")
@click.option("--connections", type=click.IntRange(min=1), help="Connections at once, at most.  [default: 1000]")
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0, min_open=True), help="Of a request, in seconds.")
@click.option("--window", "window_s", type=click.FloatRange(min=0.05), help="Length of a window, in seconds.")
@click.option("--max-requests", type=click.IntRange(min=1), help="No more than this.  [default: 10,000,000]")
@click.option("--max-seconds", "max_s", type=click.FloatRange(min=0, min_open=True), help="No longer than this.")
@click.option("--ca-file", type=click.Path(exists=True, dir_okay=False), help="Certificates to trust.")
@click.option("--insecure", is_flag=True, help="Do not check the certificate.")
@click.option("--i-own-this-target", "own_target", is_flag=True, help="The target is public, and it is yours.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the schedule and the prompts.")
@click.option("--name", help="Name of the run.")
@click.option("--tag", "tags", multiple=True, help="A tag for the result.")
@click.option("--notes", help="A note for the result.")
@click.option("--output-dir", help="Where the run's folder goes.")
@click.option("--format", "formats", metavar="LIST", help="Reports to write: md,html,csv,json,png,prometheus.")
@click.option("--print-spec", is_flag=True, help="Print the file that says the same, and run nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would be sent, and send nothing.")
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
    return run_load(RunRequest(LOAD, loaded.settings, loaded.load), options)


def make_document(target: str, options: dict[str, Any]) -> dict[str, object]:
    """The command line in the form of a file."""
    from agentdyno.specs import parse_param

    load: dict[str, object] = {"target": target}
    load |= {name: options[name] for name in _PLAIN if options.get(name) is not None}
    load |= {name: True for name in _FLAGS if options.get(name)}
    if options.get("scenarios"):
        load["scenarios"] = options["scenarios"]
    if options.get("params"):
        load["params"] = dict(parse_param(item) for item in options["params"])
    if options.get("headers"):
        load["headers"] = dict(_header(item) for item in options["headers"])
    if options.get("body") is not None:
        load["body"] = _json(options["body"])
    if options.get("text") is not None:
        load["input"] = options["text"]
    document: dict[str, object] = {"load": load}
    for name in ("seed", "name", "notes", "output_dir"):
        if options.get(name) is not None:
            document[name] = options[name]
    if options.get("tags"):
        document["tags"] = list(options["tags"])
    return document


def run_load_file(path: Path, options: dict[str, Any]) -> int:
    """``dyno run`` with a file that holds ``load:``."""
    from agentdyno.runs.kind import Source
    from agentdyno.runs.kinds import kind_named

    overrides: dict[str, object] = {
        name: options[name] for name in ("seed", "notes", "output_dir") if options.get(name) is not None
    }
    if options.get("tags"):
        overrides["tags"] = list(options["tags"])
    return run_load(kind_named(LOAD).read(Source(path, quick=bool(options.get("quick"))), overrides), options)


def run_load(request: RunRequest, options: dict[str, Any]) -> int:
    """From the plan to the exit code."""
    from agentdyno.cli.outcome import exit_code, finish
    from agentdyno.runs.kind import Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.specs import load_workspace
    from agentdyno.workbench.reporting import check_formats

    as_json, store = bool(options.get("as_json")), options.get("store")
    formats = check_formats(options.get("formats"))
    workspace = options.get("workspace") or load_workspace(Path.cwd())
    if options.get("dry_run"):
        with kind_named(LOAD).prepare(request, Tools(workspace=workspace, say=say)) as prepared:
            return _show_plan(prepared.work, as_json)
    with open_store(store) as opened:
        result = measure(request, workspace, opened, options)
        findings = finish(result, opened, formats, 0.03, as_json=as_json)
    return exit_code(result, findings, gate=False, strict=False)


def measure(request: RunRequest, workspace: Workspace, store: Store, options: dict[str, Any]) -> RunResult:
    """The run itself, with the live view on a terminal."""
    from agentdyno.cli.bench.load_view import LoadView
    from agentdyno.runs.kind import Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.runs.pipeline import start
    from agentdyno.workbench.running import output_root

    kind, tools = kind_named(LOAD), Tools(store, output_root(store_url(options.get("store"))), workspace, say=say)
    with kind.prepare(request, tools) as prepared:
        say(prepared.announced.line)
        with LoadView([arm.name for arm in prepared.plan.arms]) as view:
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
