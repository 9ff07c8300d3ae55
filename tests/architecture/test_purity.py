"""What judges takes values and returns values; what runs elsewhere needs the standard library alone; who prints."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from .source import PACKAGE, SOURCE, Module, imported, modules
from .test_layers import part_of

PURE_IMPORTS = frozenset(
    {
        *("__future__", "math", "re", "statistics", "collections", "dataclasses", "functools", "itertools", "enum"),
        *("typing", "numpy", "random", "bisect", "operator", "fractions", "heapq", "string", "textwrap", "json"),
        *("abc", "array", "copy", "difflib", "fnmatch", "hashlib", "types"),
    }
)
PURE_PARTS = ("errors", "model", "settings", "stats", "findings/judge", "findings/model")
IMPURE_CALLS = ("print", "open", "input", "exec", "eval", "compile", "__import__", "hash", "breakpoint")
"""``hash`` too: that of a text is another one in every process."""
NUMBERS = frozenset({"scipy", "importlib"})
"""What statistics import as well: more of them, and their own parts when they are first needed."""
SEEDED = ("Random", "default_rng", "SeedSequence")
STANDARD_LIBRARY_ONLY = ("errors", "contracts", "model", "settings", "registry", "sandbox", "workers", "wire")
STANDARD_LIBRARY_FOLDERS = (("runner", "bench"), ("agents", "hosting"), ("agents", "frameworks"))


def pure_modules() -> Iterator[Module]:
    """What judges, and the numbers that it judges by."""
    for module in modules():
        judges = module.parts[0] == "findings" and part_of(module.name) in ("findings/judge", "findings/model")
        if judges or module.parts[0] == "stats":
            yield module


def test_what_judges_imports_nothing_that_could_look_around() -> None:
    for module in pure_modules():
        for name in imported(module):
            head, _, rest = name.partition(".")
            if head != PACKAGE:
                allowed = PURE_IMPORTS | (NUMBERS if module.parts[0] == "stats" else frozenset())
                assert head in allowed, f"{module} imports {name}"
                continue
            known = rest
            while known and not any(known == other.name for other in modules()):
                known = known.rpartition(".")[0]
            assert known, f"{module} imports {name}"
            assert part_of(known) in PURE_PARTS, f"{module} imports {name}"


def _is_chance(call: ast.Call) -> bool:
    """Whether it draws from a generator that nobody has given a seed: that of a module, or a new one without."""
    owner, _, called = ast.unparse(call.func).rpartition(".")
    if called in SEEDED:
        seeds = [*call.args, *(word.value for word in call.keywords)]
        return not seeds or any(isinstance(seed, ast.Constant) and seed.value is None for seed in seeds)
    return owner in ("random", "np.random", "numpy.random")


@pytest.mark.parametrize(
    "call", ["random.random()", "np.random.normal()", "default_rng()", "np.random.default_rng(None)", "Random()"]
)
def test_chance_without_a_seed_is_found(call: str) -> None:
    assert _is_chance(ast.parse(call, mode="eval").body)  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["default_rng(seed)", "np.random.default_rng([1, 2])", "Random(3)", "rng.random()"])
def test_chance_with_a_seed_may_be(call: str) -> None:
    assert not _is_chance(ast.parse(call, mode="eval").body)  # type: ignore[arg-type]


def test_what_judges_reads_no_clock_no_file_and_no_chance_without_a_seed() -> None:
    for module in pure_modules():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            assert called not in IMPURE_CALLS, f"{module} calls {called}"
            assert not _is_chance(node), f"{module}: {ast.unparse(node)} is seeded by nobody"


def test_what_runs_in_a_foreign_interpreter_needs_the_standard_library_only() -> None:
    for module in modules():
        if module.parts[0] not in STANDARD_LIBRARY_ONLY and module.parts[:2] not in STANDARD_LIBRARY_FOLDERS:
            continue
        for name in imported(module):
            head = name.split(".")[0]
            assert head == PACKAGE or head in sys.stdlib_module_names, f"{module} imports {name}"


def test_a_worker_loads_nothing_outside_the_standard_library() -> None:
    code = (
        "import sys; import agentdyno.runner.bench.worker; import agentdyno.runner.bench.function;"
        "import agentdyno.agents.hosting.worker;"
        "print(sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)"
        " - {'agentdyno', '__main__', '__mp_main__'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_only_the_command_line_prints_or_exits() -> None:
    for module in modules():
        if module.parts[0] == "cli":
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "exit", "quit"), f"{module} calls {node.func.id}"


def test_statistics_know_nothing_of_ours() -> None:
    for module in modules():
        if module.parts[0] == "stats":
            for name in imported(module):
                assert not name.startswith(PACKAGE) or name.startswith(f"{PACKAGE}.stats"), f"{module}: {name}"
