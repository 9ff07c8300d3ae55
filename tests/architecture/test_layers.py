"""Who may import whom. Lazy and type-checking imports count too, and modules that are named in a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from .source import PACKAGE, Module, by_name, modules, our_imports

# From the top down. A layer may import what is below it; parts of one layer do not know each other. Parts of
# ``findings`` are told apart by the beginning of their file names, so that a slice is one folder.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("cli", "pytest_plugin"),
    ("web",),
    ("jobs",),
    ("workflows",),
    ("workbench",),
    ("findings/ask",),
    ("runs",),
    ("reports",),
    ("store", "specs", "load", "agents", "scorers", "instruments", "importers", "runner"),
    ("findings/tables",),
    ("show",),
    ("registry",),
    ("contracts",),
    ("pricing", "servers"),
    ("wire", "workers"),
    ("sandbox",),
    ("findings/judge",),
    ("findings/model",),
    ("model",),
    ("settings", "stats", "extras"),
    ("errors", "garbage", "version"),
)
DEPTH = {part: depth for depth, layer in enumerate(LAYERS) for part in layer}
TIERS = {
    "ask": "findings/ask",
    "tables": "findings/tables",
    "charts": "findings/tables",
    "conclusions": "findings/tables",
    "catalogue": "findings/tables",
    "judge": "findings/judge",
    "words": "findings/judge",
    "model": "findings/model",
}
WHOLE_FOLDERS = {"engine": "findings/judge", "figures": "findings/judge"}
KINDS = frozenset(module.parts[1] for module in modules() if re.fullmatch(r"runs\.\w+\.kind", module.name))
"""Folders of ``runs`` that are a kind of their own."""
NAMED_AS_WELL = {("model.result", "workbench"): "methods of results that are the Python API, which is above them"}
# Who loads modules under names that are computed, and which.
LOADED_BY_NAME = {
    **dict.fromkeys(("", "model", "reports", "sandbox", "settings", "specs", "stats", "store"), "its own parts"),
    "cli.main": "the command that was typed",
    "web.app": "the routes in its folder",
    "findings.catalogue": "the tables of a slice",
    "model.result": "the Python API",
    "agents.frameworks.detect": "the adapter of the framework that an agent is of",
    "registry.local": "modules of users",
    "pytest_plugin.timing": "what a test of a user names",
    "importers.evals.eval_archive": "one of two packages that unpack",
    "workbench.export.frames": "pandas or polars",
}


def part_of(name: str) -> str:
    """The layer's part that a module belongs to: ``store``, ``findings/judge``."""
    parts = name.split(".")
    if parts[0] != "findings":
        return parts[0]
    if len(parts) > 1 and parts[1] in WHOLE_FOLDERS:
        return WHOLE_FOLDERS[parts[1]]
    if by_name()[name].is_package:
        return "findings"  # a docstring alone
    tier = re.split(r"_", parts[-1])[0]
    assert tier in TIERS, f"findings/{'/'.join(parts[1:])}.py: a slice has no file of this name"
    return TIERS[tier]


def test_imports_point_down_only() -> None:
    wrong = [f"{module} imports {other}" for module in modules() for other in _not_below(module)]
    assert not wrong, "\n".join(wrong)


def _not_below(module: Module) -> Iterator[str]:
    """What a module imports and may not."""
    if not module.name or module.parts[0] == "workloads":
        return
    part = part_of(module.name)
    if part == "findings":  # a folder's docstring
        yield from our_imports(module)
        return
    assert part in DEPTH, f"{part} has no place in the layers"
    for other in sorted(our_imports(module)):
        if not other:  # the package itself: its version and its place
            continue
        their = part_of(other)
        if their == "workloads" or (their != part and DEPTH[their] <= DEPTH[part]):
            yield other


@pytest.mark.parametrize(
    ("name", "other"),
    [("model.case", "store.rows"), ("store.rows", "load.driver"), ("findings.duel.judge", "findings.duel.ask")],
)
def test_an_import_that_points_up_or_aside_would_be_found(
    monkeypatch: pytest.MonkeyPatch, name: str, other: str
) -> None:
    monkeypatch.setattr("tests.architecture.test_layers.our_imports", lambda _: frozenset({other, "errors"}))
    assert list(_not_below(by_name()[name])) == [other]


def modules_named_in(tree: ast.AST) -> Iterator[str]:
    """Modules of ours in texts: ``agentdyno.load.client.worker``, ``agentdyno.cli.main:dyno``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            package, _, rest = node.value.partition(":")[0].partition(".")
            if package == PACKAGE and rest and rest in by_name():
                yield rest


def test_a_module_that_is_named_in_a_text_is_seen() -> None:
    code = 'a = import_module("agentdyno.load.plan")\nb = {"x": "agentdyno.model.case:Case"}\nc = "agentdyno.x"\n'
    assert list(modules_named_in(ast.parse(code))) == ["load.plan", "model.case"]


def test_modules_that_are_named_in_texts_are_below_too() -> None:
    wrong = []
    for module in modules():
        if not module.name or module.parts[0] == "workloads":
            continue
        for other in modules_named_in(module.tree):
            part, their = part_of(module.name), part_of(other)
            if their == "workloads" or (module.name, their) in NAMED_AS_WELL:  # workloads are found like anybody's
                continue
            if their != part and DEPTH[their] <= DEPTH[part]:
                wrong.append(f"{module} names {other}, which is not below it")
    assert not wrong, "\n".join(wrong)


def _loads_by_name(module: Module) -> bool:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
            "import_module",
            "__import__",
        ):
            (asked, *_) = node.args
            if not isinstance(asked, ast.Constant) or str(asked.value).partition(".")[0] == PACKAGE:
                return True
    return False


def test_who_loads_modules_under_computed_names_is_listed() -> None:
    found = {module.name for module in modules() if _loads_by_name(module)}
    assert found == LOADED_BY_NAME.keys(), f"not listed: {found - LOADED_BY_NAME.keys()}"


def test_kinds_of_runs_do_not_know_each_other() -> None:
    assert {"experiment", "suite", "load", "commands"} <= KINDS
    for module in modules():
        if module.parts[0] != "runs" or len(module.parts) < 3 or module.parts[1] not in KINDS:
            continue
        for other in our_imports(module):
            parts = other.split(".")
            known = parts[0] == "runs" and len(parts) > 2 and parts[1] in KINDS
            assert not known or parts[1] == module.parts[1], f"{module} imports {other}"
