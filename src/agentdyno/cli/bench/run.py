"""``dyno run``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.service.remote import server_option
from agentdyno.cli.shared import (
    gate_options,
    json_option,
    open_store,
    print_json,
    print_tables,
    say,
    store_option,
    store_url,
    tolerance_option,
)

if TYPE_CHECKING:
    from agentdyno.runs.experiment.prepare import PreparedExperiment
    from agentdyno.runs.kind import Prepared, Source

SUITE_ONLY = {
    "agents": "--agent",
    "epochs": "--epochs",
    "limit": "--limit",
    "cases": "--case",
    "benchmarks": "--benchmark",
    "concurrency": "--concurrency",
    "retries": "--retries",
    "max_cost": "--max-cost",
    "cache": "--cache",
    "until_decided": "--until-decided",
}
EXPERIMENT_ONLY = {
    "gate": "--gate",
    "strict": "--strict",
    "params": "--param",
    "iterations": "--iterations",
    "instruments": "--instrument",
    "imports": "--import",
    "isolation": "--isolation",
    "order": "--order",
    "processes": "--processes",
    "parallelism": "--parallelism (suites have --concurrency)",
}


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno run spec.yaml --quick\n"
    "  dyno run my_bench.py@my_new_benchmark -p param1=200 --iterations 20\n"
    "  dyno run retrieval -p documents=[100,1000] -p index=scan\n"
    "  dyno run spec.yaml --against main             another git revision\n"
    "  dyno run spec.yaml --against size=100         other parameters\n"
    "  dyno run spec.yaml --against python3.13       another interpreter\n"
    "  dyno run                                      the suites of dyno.yaml\n"
    "  dyno run suite.yaml --agent agent.py@answer --agent openai:gpt-5-mini --epochs 5\n"
    "  dyno run workload:comprehensive/comprehensive --quick --max-cost 2\n"
    "  dyno run suite.yaml --against main --until-decided --max-cost 5\n"
    "  dyno run my-suite --agent my-agent --server https://dyno.example.org"
)
@click.argument("what", metavar="[FILE|FILE.py@NAME|workload:NAME/SPEC|EXPERIMENT]", required=False)
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; a list is a sweep.")
@click.option("--iterations", type=click.IntRange(min=1), help="Measured samples per arm.")
@click.option("--warmup", type=click.IntRange(min=0), help="Calls before measuring.")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="AGENT",
    help="An agent to run; repeatable. Of an experiment: its parameter agent.",
)
@click.option("--epochs", type=click.IntRange(min=1), help="Suites: times that each case is put to each agent.")
@click.option("--limit", type=click.IntRange(min=1), help="Suites: number of cases, spread over the benchmarks.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Suites: only this case; repeatable.")
@click.option("--benchmark", "benchmarks", multiple=True, metavar="ID", help="Suites: only this one; repeatable.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Suites: calls at the same time.")
@click.option("--retries", type=click.IntRange(min=0), help="Suites: repeats after errors of the infrastructure.")
@click.option(
    "--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="DOLLARS", help="Suites: spend no more."
)
@click.option("--cache", is_flag=True, help="Suites: reuse answers of earlier runs (not measured again).")
@click.option("--yes", is_flag=True, help="Suites: do not ask before spending.")
@click.option("--quick", is_flag=True, help="Apply the file's `quick:` overrides.")
@click.option(
    "--against", metavar="REF", help="Measure a baseline too: git revision, agent, name=value, interpreter."
)
@click.option("--until-decided", is_flag=True, help="Suites: stop as soon as the two sides are told apart.")
@click.option("--dry-run", is_flag=True, help="Show what would run, and run nothing.")
@click.option("--instrument", "instruments", multiple=True, metavar="NAME", help="Add an instrument.")
@click.option("--import", "imports", multiple=True, metavar="FILE|MODULE", help="Load local code first.")
@click.option("--seed", type=int, help="Seed of order and randomness.")
@click.option("--isolation", type=click.Choice(["process", "inline"]), help="Where trials run.")
@click.option("--order", type=click.Choice(["interleaved", "sequential"]), help="How arms take turns.")
@click.option("--processes", type=click.IntRange(min=1), help="Fresh processes per arm, one after the other.")
@click.option("--parallelism", type=click.IntRange(min=1), help="Trials at the same time.")
@click.option("--timeout", "timeout_s", type=float, metavar="SECONDS", help="Limit of one trial, or of one case.")
@click.option("--time-budget", "time_budget_s", type=float, metavar="SECONDS", help="Limit of the run.")
@click.option("--tag", "tags", multiple=True, help="A tag for the result.")
@click.option("--notes", help="A note for the result.")
@click.option("--output-dir", help="Where the run's folder goes.")
@click.option("--format", "formats", metavar="LIST", help="Reports to write: md,html,csv,json,png,junit.")
@tolerance_option
@gate_options
@server_option
@store_option
@json_option
def command(what: str | None, **options: Any) -> int:
    """Measure what a suite, a spec file, a file's function or class, or a registered experiment says.

    Without an argument: the suites of dyno.yaml.
    """
    return run(what, options)


def run(what: str | None, options: dict[str, Any]) -> int:
    """The command, callable from others (``dyno demo``)."""
    if options.get("server"):
        from agentdyno.cli.service.remote_run import run_remotely

        return run_remotely(what, options)
    if options.get("key_file"):
        raise click.UsageError("--key-file means nothing without --server")
    return max(_run_found(kind, path, what or "", options) for kind, path in find_kinds(what))


def _run_found(kind: str, path: Path | None, what: str, options: dict[str, Any]) -> int:
    """Ours have views of their own; any other kind is shown as its plan and its samples."""
    if kind == "experiment" or path is None:
        _refuse(options, {key: value for key, value in SUITE_ONLY.items() if key != "agents"}, "an experiment")
        return run_experiment(what, options)
    if kind == "suite":
        from agentdyno.cli.bench.suite_run import run_suite

        _refuse(options, EXPERIMENT_ONLY, "a suite")
        return run_suite(path, options)
    _refuse(options, SUITE_ONLY | EXPERIMENT_ONLY | {"against": "--against"}, f"a {kind} run")
    if kind == "load":
        from agentdyno.cli.bench.load import run_load_file

        return run_load_file(path, options)
    from agentdyno.cli.bench.kind_run import run_kind

    return run_kind(kind, path, options)


def find_kinds(what: str | None) -> list[tuple[str, Path | None]]:
    """What the argument names, as the kind of run and its file; without an argument the suites of dyno.yaml.

    An experiment that no file describes has none.
    """
    from agentdyno.cli.bench.suite_run import workspace_suites
    from agentdyno.runs.kinds import kind_of
    from agentdyno.specs import read_document

    if what is None:
        return [("suite", path) for path in workspace_suites()]
    if what.startswith("workload:"):
        from agentdyno.workbench.listing import find_workload

        path = find_workload(what)
    elif what.endswith((".yaml", ".yml", ".json")):
        path = Path(what)
    else:
        return [("experiment", None)]
    return [(kind_of(read_document(path)), path)]


def _refuse(options: dict[str, Any], names: Mapping[str, str], kind: str) -> None:
    """An option that would change nothing is a mistake that the user wants to hear of."""
    for name, spelled in names.items():
        if options.get(name):
            raise click.UsageError(f"{spelled} means nothing for {kind}")


def run_experiment(what: str, options: dict[str, Any]) -> int:
    from agentdyno.cli.outcome import exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.experiment.resolve import import_paths
    from agentdyno.runs.kind import Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.runs.pipeline import start
    from agentdyno.workbench.reporting import check_formats
    from agentdyno.workbench.running import output_root

    as_json, store = bool(options.get("as_json")), options.get("store")
    kind = kind_named("experiment")
    request = kind.read(experiment_source(what, bool(options.get("quick"))), make_changes(options))
    spec = request.spec
    formats = check_formats(",".join(filter(None, (options.get("formats"), *spec.reports))), import_paths(spec))
    with kind.prepare(request, Tools(say=say)) as prepared:
        if options.get("dry_run"):
            show_plan(prepared, as_json)
            return 0
        with open_store(store) as opened:
            say(prepared.announced.line)
            with ProgressLine() as progress:
                tools = Tools(opened, output_root(store_url(store)), say=say, on_progress=progress)
                result = start(kind, prepared, tools)
            findings = finish(result, opened, formats, options.get("tolerance", 0.03), as_json=as_json)
    return exit_code(result, findings, gate=bool(options.get("gate")), strict=bool(options.get("strict")))


def experiment_source(what: str, quick: bool) -> Source:
    """What the argument names: a spec file, a shipped one, or one experiment with every default."""
    from agentdyno.runs.kind import Source
    from agentdyno.workbench.listing import find_workload

    if what.startswith("workload:"):
        return Source(find_workload(what), quick=quick)
    if what.endswith((".yaml", ".yml", ".json")):
        return Source(Path(what), quick=quick)
    if Path(what).is_file() and what.endswith(".py"):
        from agentdyno.errors import SpecError

        raise SpecError(
            f"{what} is a file of Python code; say what to run in it",
            remedy=f"Write {what}@NAME, where NAME is a registered experiment, a class or a function.",
        )
    return Source(name=what)


def make_changes(options: dict[str, Any]) -> dict[str, Any]:
    """The settings that the command line changes, by name."""
    from agentdyno.specs import parse_param

    names = (
        *("iterations", "warmup", "seed", "isolation", "order", "processes", "parallelism"),
        *("timeout_s", "time_budget_s", "notes", "output_dir", "against"),
    )
    values: dict[str, Any] = {name: options.get(name) for name in names}
    values |= {name: tuple(options.get(name) or ()) for name in ("instruments", "imports", "tags")}
    params = dict(parse_param(item) for item in options.get("params") or ())
    agents = list(options.get("agents") or ())
    if agents:
        # An experiment that puts a model on the bench names it by a parameter.
        params.setdefault("agent", agents[0] if len(agents) == 1 else agents)
    return {**values, "params": params}


def show_plan(prepared: Prepared[PreparedExperiment], as_json: bool) -> None:
    from agentdyno.findings.run.tables_plans import plan_table
    from agentdyno.model import Phase
    from agentdyno.runs.pipeline import planned_counts

    counts = planned_counts(prepared.plan)
    if as_json:
        arms = [{"arm": arm, "measured": counts[arm.arm_id]} for arm in prepared.plan.arms]
        print_json({"name": prepared.spec.name, "arms": arms, "trials": prepared.plan.trials, "spec": prepared.spec})
        return
    extra = sum(trial.phase is Phase.INSTRUMENTED for trial in prepared.plan.trials)
    print_tables(plan_table(prepared.plan, counts))
    say(f"{prepared.announced.line}; {extra} of them in instrumented passes. Nothing was run.")
