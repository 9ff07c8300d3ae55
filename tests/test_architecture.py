"""Who may import whom. Lazy and TYPE_CHECKING imports count too."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "agentdyno"

# From the top down. A layer may import what is below it; parts of one layer do not know each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("cli",),
    ("web",),
    ("workbench",),
    ("specs", "runner", "load", "agents", "scorers", "store", "reports", "instruments", "importers"),
    ("registry",),
    ("contracts",),
    ("pricing", "servers"),
    ("wire", "sandbox"),
    ("analysis",),
    ("model", "stats"),
    ("errors",),
)
DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}
STANDARD_LIBRARY_ONLY = ("errors.py", "contracts.py", "model", "registry", "sandbox", "wire")
WORKER_MODULES = ("affinity", "bench", "failures", "function", "job", "link", "readings", "timing", "worker")
AGENT_WORKER_MODULES = ("answer", "calling", "failures", "host_worker", "recorder")
PUBLIC_MODULE = "agentdyno"


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> Iterator[str]:
    package = ["agentdyno", *path.relative_to(SOURCE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "agentdyno":
                yield from (f"agentdyno.{alias.name}" for alias in node.names)
            else:
                yield module


def files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down_only(path: Path) -> None:
    part = part_of(path)
    if part in ("__init__", "workloads"):
        return
    assert part in DEPTH, f"{part} has no place in the layers"
    for module in imported_modules(path):
        head, _, rest = module.partition(".")
        if head != "agentdyno" or not rest:
            continue
        other = rest.split(".")[0]
        if other == part or other == "__version__":
            continue
        assert other != "workloads", f"{path.name} imports workloads; nothing may"
        assert DEPTH[other] > DEPTH[part], (
            f"{path.relative_to(SOURCE)} imports agentdyno.{rest}, which is not below it"
        )


def test_workloads_use_public_names_only() -> None:
    for path in sorted((SOURCE / "workloads").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentdyno"):
                own = (node.module or "").startswith("agentdyno.workloads")
                assert own or node.module == PUBLIC_MODULE, f"{path.name} imports {node.module}"


def test_what_runs_in_a_foreign_interpreter_needs_the_standard_library_only() -> None:
    paths = [path for path in files() if path.relative_to(SOURCE).parts[0] in STANDARD_LIBRARY_ONLY]
    paths += [SOURCE / "runner" / f"{name}.py" for name in WORKER_MODULES]
    paths += [SOURCE / "agents" / f"{name}.py" for name in AGENT_WORKER_MODULES]
    for path in paths:
        for module in imported_modules(path):
            head = module.split(".")[0]
            assert head == "agentdyno" or head in sys.stdlib_module_names, f"{path.name} imports {module}"


def test_a_worker_loads_nothing_outside_the_standard_library() -> None:
    code = (
        "import sys; import agentdyno.runner.worker; import agentdyno.runner.function;"
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
    for path in files():
        if part_of(path) == "cli":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "exit", "quit"), (
                    f"{path.relative_to(SOURCE)} calls {node.func.id}"
                )


def test_statistics_know_nothing_of_ours() -> None:
    for path in sorted((SOURCE / "stats").rglob("*.py")):
        for module in imported_modules(path):
            assert not module.startswith("agentdyno") or module.startswith("agentdyno.stats"), (
                f"{path.name}: {module}"
            )
