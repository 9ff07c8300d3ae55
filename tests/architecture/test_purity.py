"""What judges takes values and returns values; what runs elsewhere needs the standard library alone; who prints."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

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
IMPURE_CALLS = ("print", "open", "input", "exec", "eval")
STANDARD_LIBRARY_ONLY = ("errors", "contracts", "model", "settings", "registry", "sandbox", "workers", "wire")
STANDARD_LIBRARY_FOLDERS = (("runner", "bench"), ("agents", "hosting"), ("agents", "frameworks"))


def pure_modules() -> Iterator[Module]:
    for module in modules():
        if module.parts[0] == "findings" and part_of(module.name) in ("findings/judge", "findings/model"):
            yield module


def test_what_judges_imports_nothing_that_could_look_around() -> None:
    for module in pure_modules():
        for name in imported(module):
            head, _, rest = name.partition(".")
            if head != PACKAGE:
                assert head in PURE_IMPORTS, f"{module} imports {name}"
                continue
            known = rest
            while known and not any(known == other.name for other in modules()):
                known = known.rpartition(".")[0]
            assert known, f"{module} imports {name}"
            assert part_of(known) in PURE_PARTS, f"{module} imports {name}"


def test_what_judges_reads_no_clock_no_file_and_no_chance_without_a_seed() -> None:
    for module in pure_modules():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            assert called not in IMPURE_CALLS, f"{module} calls {called}"
            if called.endswith("default_rng") or called == "random.Random":
                assert node.args or node.keywords, f"{module}: {called} without a seed"


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
