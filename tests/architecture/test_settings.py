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
    ("contracts.py", "ExperimentContext.seed"): "protocol: the worker sets it before an experiment sees it",
    ("model/workflow/task.py", "TaskSetup.seed"): "protocol: what the data of one task are made from",
    ("model/plan.py", "Trial.seed"): "protocol: the seed of one trial, drawn from that of the run",
    ("model/sample.py", "Sample.seed"): "protocol: as recorded",
    ("model/sample.py", "Sample.inner_loops"): "protocol: how many calls one recorded sample is",
    ("model/load.py", "Step.seed"): "protocol: drawn from the seed of the run",
    ("model/result.py", "ScoreSpread.runs"): "runs that were pooled, not those of a command",
    ("model/workspace.py", "Workspace.name"): "the name of a workspace",
    ("load/scenarios/base.py", "ScenarioSettings.seed"): "protocol: drawn from the seed of the run",
    ("load/client/decode.py", "__init__.method"): "the method of the request whose answer is read",
    ("load/client/stream_decode.py", "__init__.method"): "the method of the request whose answer is read",
    ("load/plan/sessions.py", "plan_sessions.count"): "different conversations that are prepared",
    ("load/plan/sessions.py", "build_session_requests.count"): "different conversations that are prepared",
    ("runner/bench/function.py", "BenchmarkResult.inner_loops"): "as measured",
    ("runner/bench/function.py", "benchmark.iterations"): "the decorator's own number, which goes before the spec's",
    ("runner/bench/function.py", "benchmark.warmup"): "the decorator's own number, which goes before the spec's",
    ("specs/dataset/dataset.py", "from_rows.name"): "how rows without an id are called",
    ("workflows/runner.py", "__init__.output_dir"): "where that API puts its files, as it was specified",
    ("pytest_plugin/timing.py", "pedantic.iterations"): "as pytest-benchmark has it",
}
# Statistics have a seed and a level that are arguments, no settings; lists of the API have page sizes.
STATISTICAL, PAGED = ("seed", "alpha"), "limit"

SETTINGS = all_settings()
OPTIONS = {option for setting in SETTINGS for option in setting.option.split()}


def _could_be_its_default(name: str, value: object) -> bool:
    """Whether a setting of that name, or an option so spelled, would take the value: the others mean something else.

    A count of 0 where a setting begins at 1 says that nothing was counted.
    """
    named = [one for one in SETTINGS if name in (one.name, one.form_key, one.asked, *one.option.split())]
    return any(one.problem(value) is None for one in named)


def literal_defaults(tree: ast.Module) -> Iterator[str]:
    """``Spec.seed``, ``run.tolerance``, ``--epochs``: what is named like a setting and has a default written out,
    there or as a constant of the file."""
    constants = dict(_constants(tree))
    for name, shown, default in _defaults(tree):
        if isinstance(default, ast.Name):
            default = constants.get(default.id)
        value = _written(default)
        if value is not None and _could_be_its_default(name, value):
            yield shown


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                yield from zip((ast.unparse(one) for one in names), values, strict=False)


def _defaults(tree: ast.Module) -> Iterator[tuple[str, str, ast.expr | None]]:
    """The name of a field, an argument or an option, how it is shown, and its default."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    yield item.target.id, f"{node.name}.{item.target.id}", _default_of(item.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument, default in _arguments(node.args):
                yield argument.arg, f"{node.name}.{argument.arg}", default
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "option":
            for spelled in node.args:
                if isinstance(spelled, ast.Constant) and spelled.value in OPTIONS:
                    yield str(spelled.value), str(spelled.value), _default_of(node)


def _arguments(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    named = [*arguments.posonlyargs, *arguments.args]
    yield from zip(named[len(named) - len(arguments.defaults) :], arguments.defaults, strict=True)
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)


def _default_of(value: ast.expr | None) -> ast.expr | None:
    """The default of a field, also where it is given as ``Field(3)``, ``Field(default=3)`` or by a function."""
    if not isinstance(value, ast.Call):
        return value
    named = {word.arg: word.value for word in value.keywords}
    made = named.get("default_factory")
    if isinstance(made, ast.Lambda):
        return made.body
    is_field = ast.unparse(value.func).rpartition(".")[2] in ("Field", "field")
    return named.get("default", value.args[0] if is_field and value.args else None)


def _written(default: ast.expr | None) -> object:
    """The number, text or list that is written out. None, false and empty say that nothing was chosen: ``None``."""
    if default is None:
        return None
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return _computed(default)
    if isinstance(value, tuple | list):
        return value if any(item not in (None, "") for item in value) else None
    return None if isinstance(value, bool | dict) or value == "" else value


def _computed(default: ast.expr) -> object:
    """The value of arithmetic with numbers alone, as in ``64 * 2**20``; ``None`` for anything else."""
    parts = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)
    if not all(isinstance(item, parts) for item in ast.walk(default)):
        return None
    value: object = eval(compile(ast.Expression(default), "<default>", "eval"), {"__builtins__": {}})
    return value


def _is_checked(module: Module, found: str) -> bool:
    if module.parts[0] == "settings" or module.parts[0] in OTHER_THINGS:
        return False
    name = found.rpartition(".")[2]
    statistical = module.parts[0] == "findings" and name in STATISTICAL
    paged = module.parts[:2] == ("web", "routes") and name == PAGED
    return not statistical and not paged


def test_no_default_of_a_setting_is_written_outside_settings() -> None:
    wrong = [
        f"{module}: {found}"
        for module in modules()
        for found in literal_defaults(module.tree)
        if _is_checked(module, found) and (str(module), found) not in EXCEPTIONS
    ]
    assert not wrong, "take these defaults from settings/:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def run(*, epochs=3): ...", "run.epochs"),
        ("MANY = 3\ndef run(epochs: int = MANY): ...", "run.epochs"),
        ("FEW, MANY = 1, 3\nclass A:\n    epochs: int = MANY", "A.epochs"),
        ("class A:\n    seed: int = Field(7, ge=0)", "A.seed"),
        ("class A:\n    seed: int = Field(default=7)", "A.seed"),
        ("class A:\n    tags: list[str] = field(default_factory=lambda: ['x'])", "A.tags"),
        ("class A:\n    iterations: int = 2 * 3**2", "A.iterations"),
        ("click.option('--epochs', default=3)", "--epochs"),
    ],
)
def test_a_default_that_is_written_out_is_found(code: str, found: str) -> None:
    assert list(literal_defaults(ast.parse(code))) == [found]


@pytest.mark.parametrize(
    "code",
    [
        "def run(epochs=EPOCHS.default): ...",
        "class A:\n    epochs: int | None = None",
        "class A:\n    epochs: int = 0",  # no suite is run no times: nothing was counted
        "class A:\n    tags: tuple[str, ...] = ()",
        "def run(elsewhere=3): ...",
    ],
)
def test_what_stands_in_settings_or_says_nothing_is_let_through(code: str) -> None:
    assert list(literal_defaults(ast.parse(code))) == []


def test_every_exception_is_needed() -> None:
    found = {(str(module), name) for module in modules() for name in literal_defaults(module.tree)}
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
