"""A default of a setting stands in ``settings/`` and nowhere else; ``settings`` is cheap to import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from ..every_setting import all_settings
from .source import Module, imported, modules

# Packages that have other things of the same names: arguments of statistics, options of scorers and of servers,
# page sizes of lists, requests on the wire.
OTHER_THINGS = frozenset(
    {
        "agents",
        "importers",
        "sandbox",
        "scorers",
        "servers",
        "settings",
        "show",
        "stats",
        "store",
        "wire",
        "workloads",
    }
)
# A function or class that has something else of that name, or that is always told; and why.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("model/workflow/task.py", "TaskSetup.seed"): "protocol: what the data of one task are made from",
    ("workflows/runner.py", "__init__.output_dir"): "where that API puts its files, as it was specified",
    ("pytest_plugin/timing.py", "pedantic.iterations"): "as pytest-benchmark has it",
    ("contracts.py", "ExperimentContext.seed"): "protocol: the worker sets it before an experiment sees it",
    ("model/plan.py", "Trial.seed"): "protocol: the seed of one trial, drawn from that of the run",
    ("model/sample.py", "Sample.seed"): "protocol: as recorded",
    ("model/sample.py", "Sample.inner_loops"): "protocol: how many calls one recorded sample is",
    ("model/load.py", "Step.seed"): "protocol: drawn from the seed of the run",
    ("model/load.py", "Stage.rate"): "a stage that says neither rate nor concurrency is a pause",
    ("model/load.py", "Stage.concurrency"): "a stage that says neither rate nor concurrency is a pause",
    ("specs/load/format.py", "StageModel.rate"): "a stage that says neither rate nor concurrency is a pause",
    ("specs/load/format.py", "StageModel.concurrency"): "a stage that says neither rate nor concurrency is a pause",
    ("model/load.py", "Histogram.count"): "values in a histogram",
    ("model/result.py", "ScoreSpread.runs"): "runs that were pooled, not those of a command",
    ("model/case.py", "Usage.output_tokens"): "tokens that an answer used",
    ("model/workspace.py", "Workspace.name"): "the name of a workspace",
    ("findings/board/model_rows.py", "MatrixRow.cases"): "how many cases a benchmark has",
    ("findings/board/model.py", "MatrixEntry.cases"): "how many cases an accuracy is of",
    ("findings/board/model.py", "LeaderboardEntry.cases"): "how many cases an accuracy is of",
    ("findings/history/model.py", "HistoryPoint.cases"): "how many cases a point is of",
    ("load/scenarios/base.py", "ScenarioSettings.seed"): "protocol: drawn from the seed of the run",
    ("load/scenarios/base.py", "arrivals.name"): "the name of a scenario's parameter",
    ("load/client/decode.py", "__init__.method"): "the method of the request whose answer is read",
    ("load/client/stream_decode.py", "__init__.method"): "the method of the request whose answer is read",
    ("load/plan/prompts.py", "prompt_texts.shared"): "an argument",
    ("runner/bench/job.py", "ArmJob.seed"): "protocol: the seed of one arm",
    ("runner/bench/describe.py", "ask.timeout_s"): "how long a description may take",
    ("runner/bench/function.py", "BenchmarkResult.inner_loops"): "as measured",
    ("runner/bench/function.py", "benchmark.iterations"): "the decorator's own number, which goes before the spec's",
    ("runner/bench/function.py", "benchmark.warmup"): "the decorator's own number, which goes before the spec's",
    ("runner/cases/call.py", "CaseJob.warmup"): "protocol: worked out by the plan",
    ("runs/lineup.py", "Maker.workers"): "processes of one agent",
    ("runs/load/kind.py", "LoadKind.name"): "the name of a kind of runs",
    ("specs/dataset/dataset.py", "from_rows.name"): "how rows without an id are called",
    ("findings/engine/measure_samples.py", "SampleJudging.alpha"): "level of tests of experiments",
    ("findings/engine/measure_samples.py", "_Sides.processes"): "processes that were measured",
    ("findings/duel/model.py", "PairedRow.cases"): "cases that were paired",
    ("findings/figures/traces.py", "ErrorTally.count"): "errors",
    ("findings/run/tables.py", "failures.limit"): "rows of a table",
    ("findings/standing/tables_cases.py", "failed.limit"): "rows of a table",
    ("cli/ask/board.py", "--limit"): "rows of a table",
    ("cli/ask/list.py", "--limit"): "rows of a table",
    ("cli/service/jobs.py", "--limit"): "rows of a table",
    ("cli/service/alerts.py", "--limit"): "rows of a table",
    ("cli/ask/report.py", "--format"): "what dyno report writes",
    ("cli/ask/compare.py", "--output-dir"): "where reports go",
    ("cli/bench/check.py", "--output-dir"): "where reports go",
    ("cli/conclusions.py", "--output-dir"): "where reports go",
    ("cli/service/model.py", "--port"): "of a model's server",
    ("cli/service/model.py", "--host"): "of a model's server",
    ("cli/service/model.py", "--seed"): "of a simulated model",
}
# Statistics are drawn from a seed that is an argument, not a setting; lists of the API and of stores have page sizes.
STATISTICAL, PAGED = "seed", "limit"

NAMES = {name for setting in all_settings() for name in (setting.name, setting.form_key, setting.asked)}
OPTIONS = {option for setting in all_settings() for option in setting.option.split()}


def literal_defaults(module: Module) -> Iterator[str]:
    """``Spec.seed``, ``run.tolerance``, ``--epochs``: what is named like a setting and has a default written out."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
                    continue
                if item.target.id in NAMES and _is_written(_default_of(item.value)):
                    yield f"{node.name}.{item.target.id}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument, default in _arguments(node.args):
                if argument.arg in NAMES and _is_written(default):
                    yield f"{node.name}.{argument.arg}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "option":
            spelled = [item.value for item in node.args if isinstance(item, ast.Constant)]
            if _is_written(_default_of(node)):
                yield from (str(option) for option in spelled if option in OPTIONS)


def _arguments(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    named = [*arguments.posonlyargs, *arguments.args]
    yield from zip(named[len(named) - len(arguments.defaults) :], arguments.defaults, strict=True)
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)


def _default_of(value: ast.expr | None) -> ast.expr | None:
    """The default of a field, also where it is given as ``Field(default=...)``."""
    if not isinstance(value, ast.Call):
        return value
    return next((item.value for item in value.keywords if item.arg == "default"), None)


def _is_written(default: ast.expr | None) -> bool:
    """Whether a number or a text is written out. None, false and empty say that nothing was chosen."""
    if isinstance(default, ast.UnaryOp | ast.BinOp):
        parts = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)
        return all(isinstance(item, parts) for item in ast.walk(default))
    if isinstance(default, ast.List):
        return any(_is_written(item) for item in default.elts)
    return (
        isinstance(default, ast.Constant) and not isinstance(default.value, bool) and default.value not in (None, "")
    )


def _is_checked(module: Module, found: str) -> bool:
    if module.parts[0] == "settings" or module.parts[0] in OTHER_THINGS:
        return False
    name = found.rpartition(".")[2]
    statistical = module.parts[0] == "findings" and name == STATISTICAL
    paged = module.parts[:2] == ("web", "routes") and name == PAGED
    return not statistical and not paged


@pytest.mark.parametrize("module", modules(), ids=str)
def test_no_default_of_a_setting_is_written_outside_settings(module: Module) -> None:
    wrong = [
        found
        for found in literal_defaults(module)
        if _is_checked(module, found) and (str(module), found) not in EXCEPTIONS
    ]
    assert not wrong, f"{module}: {', '.join(wrong)}: take the default from settings/"


def test_every_exception_is_needed() -> None:
    found = {(str(module), name) for module in modules() for name in literal_defaults(module)}
    assert set(EXCEPTIONS) <= found, f"gone: {set(EXCEPTIONS) - found}"


def test_settings_import_nothing_of_ours_but_errors() -> None:
    for module in modules():
        if module.parts[0] == "settings":
            for name in imported(module):
                allowed = name.split(".")[0] in sys.stdlib_module_names or name.startswith("agentdyno.settings")
                assert allowed or name.startswith("agentdyno.errors"), f"{module} imports {name}"


@pytest.mark.parametrize("command", [("--help",), ("run", "--help"), ("load", "--help"), ("check", "--help")])
def test_help_needs_click_and_settings_alone(command: tuple[str, ...]) -> None:
    code = (
        "import sys, contextlib, io\n"
        "from agentdyno.cli.main import dyno\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        f"    dyno.main({list(command)!r}, standalone_mode=False)\n"
        "ours = {name for name in sys.modules if name.startswith('agentdyno.')}\n"
        "print(*sorted({name.split('.')[1] for name in ours}))\n"
        "print(*sorted({'pydantic', 'yaml', 'numpy', 'sqlalchemy'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages, third_parties = done.stdout.split("\n")[:2]
    assert set(packages.split()) <= {"cli", "errors", "garbage", "settings"}
    assert third_parties == ""
