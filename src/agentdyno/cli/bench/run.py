"""``dyno run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.options import SCOPES_OF_COMMANDS, refuse_foreign, refuse_one_sided, settings_options
from agentdyno.cli.shared import (
    json_option,
    open_store,
    print_json,
    print_tables,
    say,
    server_option,
    store_option,
    store_url,
)
from agentdyno.settings.judging import TOLERANCE
from agentdyno.settings.result import RESULTS_FOLDER

if TYPE_CHECKING:
    from agentdyno.runs.experiment.prepare import PreparedExperiment
    from agentdyno.runs.kind import Prepared, Source

_ORDER = (
    "params only iterations warmup agents interpreter epochs limit cases benchmarks concurrency retries record "
    "max_cost cache yes quick against until_decided otel bands dry_run instruments imports seed isolation order "
    "processes parallelism executor timeout_s time_budget_s tags notes output_dir output formats tolerance strict "
    "gate fail_under verbose"
)


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="\b\nExamples:\n"
    "  dyno run spec.yaml --quick\n"
    "  dyno run my_bench.py@my_new_benchmark -p param1=200 --iterations 20\n"
    "  dyno run retrieval -p documents=[100,1000] -p index=scan\n"
    "  dyno run spec.yaml --against main             another git revision\n"
    "  dyno run spec.yaml --against size=100         other parameters\n"
    "  dyno run bench.py@new --against bench.py@old  other code\n"
    "  dyno run spec.yaml --against python3.13       another interpreter\n"
    "  dyno run                                      the suites of dyno.yaml\n"
    "  dyno run suite.yaml --agent agent.py@answer --agent openai:gpt-5-mini --epochs 5\n"
    "  dyno run workload:comprehensive/comprehensive --quick --max-cost 2\n"
    "  dyno run suite.yaml --against main --until-decided --max-cost 5\n"
    "  dyno run my-suite --agent my-agent --server https://dyno.example.org",
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
    context = click.get_current_context()
    if what is not None and what.startswith("-"):
        raise click.NoSuchOption(what)
    if context.args:
        from agentdyno.cli.bench.param_options import take_params, take_report

        known = [spelled for item in context.command.params for spelled in item.opts]
        options["own_params"] = take_params(context.args, known)
        report = take_report(options["own_params"])
        if report is not None:
            options["formats"] = ",".join(filter(None, (options.get("formats"), report)))
            options["output"] = options.get("output") or RESULTS_FOLDER
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
    own = options.get("own_params")
    if own and kind != "experiment":
        raise click.NoSuchOption(f"--{next(iter(own))}")
    if kind == "experiment" or path is None:
        refuse_foreign(options, "an experiment")
        return run_experiment(what, options)
    if kind == "suite":
        from agentdyno.cli.bench.suite_run import run_suite

        refuse_foreign(options, "a suite")
        return run_suite(path, options)
    if kind == "load":
        from agentdyno.cli.bench.load import run_load_file

        refuse_foreign(options, "a load run")
        return run_load_file(path, options)
    from agentdyno.cli.bench.kind_run import run_kind

    refuse_one_sided(options, f"a {kind} run")
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


def run_experiment(what: str, options: dict[str, Any]) -> int:
    from agentdyno.cli.outcome import ReportsAsked, exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.experiment.resolve import import_paths
    from agentdyno.runs.kind import Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.runs.pipeline import start
    from agentdyno.workbench.location import output_root
    from agentdyno.workbench.reporting import check_formats

    as_json, store = bool(options.get("as_json")), options.get("store")
    kind = kind_named("experiment")
    source = experiment_source(what, bool(options.get("quick")))
    request = kind.read(source, make_changes(options, source))
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
            asked = ReportsAsked(formats, options.get("output"), bool(options.get("verbose")))
            findings = finish(result, opened, asked, options.get("tolerance", TOLERANCE.default), as_json=as_json)
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


def make_changes(options: dict[str, Any], source: Source | None = None) -> dict[str, object]:
    """The settings that the command line changes, by name; ``source`` is what they are changed of."""
    from agentdyno.specs import changes_among, parse_param
    from agentdyno.specs.changes import SPEC_CHANGES

    params = dict(parse_param(item) for item in options.get("params") or ())
    if options.get("own_params"):
        from agentdyno.cli.bench.param_options import in_singular
        from agentdyno.specs import read_document

        document = read_document(source.path) if source is not None and source.path is not None else {}
        params |= in_singular(options["own_params"], document)
    agents = list(options.get("agents") or ())
    if agents:
        # An experiment that puts a model on the bench names it by a parameter.
        params.setdefault("agent", agents[0] if len(agents) == 1 else agents)
    changes = {**changes_among(options, SPEC_CHANGES), "params": params}
    return changes | {name: options[name] for name in ("against", "bands") if options.get(name)}


def show_plan(prepared: Prepared[PreparedExperiment], as_json: bool) -> None:
    from agentdyno.findings.run.tables import plan_table
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
