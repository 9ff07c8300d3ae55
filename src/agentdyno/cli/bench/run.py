"""``dyno run``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.options import SCOPES_OF_COMMANDS, refuse_foreign, settings_options
from agentdyno.cli.service.remote import server_option
from agentdyno.cli.shared import (
    json_option,
    open_store,
    print_json,
    print_tables,
    say,
    store_option,
    store_url,
)
from agentdyno.settings.judging import TOLERANCE

if TYPE_CHECKING:
    from agentdyno.model import RunResult, Spec
    from agentdyno.runs.experiment.prepare import Prepared
    from agentdyno.specs import SettingChanges

_ORDER = (
    "params iterations warmup agents epochs limit cases benchmarks concurrency retries max_cost cache yes quick "
    "against until_decided dry_run instruments imports seed isolation order processes parallelism timeout_s "
    "time_budget_s tags notes output_dir formats tolerance strict gate"
)


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
@settings_options(SCOPES_OF_COMMANDS["run"], order=_ORDER)
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
    suites = find_suites(what)
    if suites:
        from agentdyno.cli.bench.suite_run import run_suite

        refuse_foreign(options, "a suite")
        return max(run_suite(path, options) for path in suites)
    path = find_load(what)
    if path is not None:
        from agentdyno.cli.bench.load import run_load_file

        refuse_foreign(options, "a load run")
        return run_load_file(path, options)
    refuse_foreign(options, "an experiment")
    return run_experiment(what or "", options)


def find_suites(what: str | None) -> list[Path]:
    """The suite files that the argument names; none when it names an experiment."""
    from agentdyno.cli.bench.suite_run import is_suite_file, workspace_suites

    if what is None:
        return workspace_suites()
    if what.startswith("workload:"):
        from agentdyno.workbench.listing import find_workload

        path = find_workload(what)
        return [path] if is_suite_file(path) else []
    return [Path(what)] if what.endswith((".yaml", ".yml", ".json")) and is_suite_file(Path(what)) else []


def find_load(what: str | None) -> Path | None:
    """The file of a load run that the argument names, if it names one."""
    from agentdyno.specs import read_document
    from agentdyno.specs.load.build import is_load

    if what is None:
        return None
    if what.startswith("workload:"):
        from agentdyno.workbench.listing import find_workload

        path = find_workload(what)
    elif what.endswith((".yaml", ".yml", ".json")):
        path = Path(what)
    else:
        return None
    return path if is_load(read_document(path)) else None


def run_experiment(what: str, options: dict[str, Any]) -> int:
    from agentdyno.cli.outcome import exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.experiment.prepare import prepare
    from agentdyno.runs.experiment.resolve import import_paths
    from agentdyno.runs.pipeline import Runner
    from agentdyno.specs import params_of
    from agentdyno.workbench.reporting import check_formats
    from agentdyno.workbench.running import output_root

    as_json, store = bool(options.get("as_json")), options.get("store")
    overrides = make_overrides(options)
    spec = find_spec(what, bool(options.get("quick")), overrides)
    if options.get("against"):
        spec = replace(spec, against=options["against"])
    formats = check_formats(",".join(filter(None, (options.get("formats"), *spec.reports))), import_paths(spec))
    prepared = prepare(spec, overridden=params_of(overrides), say=say)
    if options.get("dry_run"):
        show_plan(prepared, as_json)
        return 0
    with open_store(store) as opened:
        say(announce(prepared))
        with ProgressLine() as progress:
            result: RunResult = Runner(opened, output_root(store_url(store)), progress).start(prepared)
        findings = finish(result, opened, formats, options.get("tolerance", TOLERANCE.default), as_json=as_json)
    return exit_code(result, findings, gate=bool(options.get("gate")), strict=bool(options.get("strict")))


def find_spec(what: str, quick: bool, overrides: SettingChanges) -> Spec:
    """The spec that the argument names: a spec file, a shipped one, or one experiment with every default."""
    from agentdyno.specs import load_spec, spec_for
    from agentdyno.workbench.listing import find_workload

    if what.startswith("workload:"):
        return load_spec(find_workload(what), quick=quick, overrides=overrides)
    if what.endswith((".yaml", ".yml", ".json")):
        return load_spec(Path(what), quick=quick, overrides=overrides)
    if Path(what).is_file() and what.endswith(".py"):
        from agentdyno.errors import SpecError

        raise SpecError(
            f"{what} is a file of Python code; say what to run in it",
            remedy=f"Write {what}@NAME, where NAME is a registered experiment, a class or a function.",
        )
    return spec_for(what, base_dir=Path.cwd(), overrides=overrides)


def make_overrides(options: dict[str, Any]) -> SettingChanges:
    from agentdyno.specs import changes_among, parse_param, spec_changes
    from agentdyno.specs.changes import SPEC_CHANGES

    params = dict(parse_param(item) for item in options.get("params") or ())
    agents = list(options.get("agents") or ())
    if agents:
        # An experiment that puts a model on the bench names it by a parameter.
        params.setdefault("agent", agents[0] if len(agents) == 1 else agents)
    return spec_changes(**{**changes_among(options, SPEC_CHANGES), "params": params})


def announce(prepared: Prepared) -> str:
    """One line before anything is spent."""
    arms, trials = len(prepared.plan.arms), len(prepared.plan.trials)
    against = f", against {prepared.baseline.label}" if prepared.baseline is not None else ""
    order = f", {prepared.spec.order.value}" if arms > 1 else ""
    return f"{prepared.spec.name}: {arms} arm{'s' * (arms > 1)}, {trials} trials{order}{against}"


def show_plan(prepared: Prepared, as_json: bool) -> None:
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
    say(f"{announce(prepared)}; {extra} of them in instrumented passes. Nothing was run.")
