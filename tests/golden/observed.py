"""Running the installed command and seeing which modules it has loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from ..command import DYNO, Bench, Done
from .golden import check, check_no_more

_WATCHED = """
import json, runpy, sys
script, out, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "dyno"
try:
    runpy.run_path(script, run_name="__main__")
finally:
    with open(out, "w") as file:
        json.dump(sorted(sys.modules), file)
"""
_PERHAPS = {"charset_normalizer"}
"""Packages that others import where they happen to be installed."""
SAY_MODULES = """
import json
import sys


def say_modules(path):
    with open(path, "w") as file:
        json.dump(sorted(sys.modules), file)
"""
"""Source of a function that writes the modules of its process to a file."""


def watched(bench: Bench, *arguments: str) -> tuple[Done, list[str]]:
    """What the command did, and the modules that it had loaded at its end."""
    out = bench.folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, DYNO, str(out), *arguments],
        cwd=bench.folder,
        env={**bench.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    return Done(done.returncode, done.stdout, done.stderr), json.loads(out.read_text())


def check_modules(name: str, modules: Iterable[str]) -> None:
    """No more of our modules than before, and of others the same packages.

    Folders do not count: an ``__init__`` of one line costs next to nothing, and their number says how the code is
    divided, not how much of it is loaded.
    """
    tops = {module.partition(".")[0] for module in modules}
    ours = [module for module in modules if module.partition(".")[0] in ("agentdyno", "agentdyno_workloads")]
    others = {top for top in tops if top in _installed() and not top.startswith("_")} - _always() - _PERHAPS
    check(f"modules/{name}.packages.txt", "\n".join(sorted(others - {"agentdyno", "agentdyno_workloads"})))
    check_no_more(f"modules/{name}.count.txt", sum(not _is_folder(module) for module in ours))


def _is_folder(module: str) -> bool:
    spec = find_spec(module.partition(".")[0])
    assert spec is not None
    assert spec.submodule_search_locations is not None
    place = Path(spec.submodule_search_locations[0]).joinpath(*module.split(".")[1:])
    return (place / "__init__.py").exists()


@cache
def _installed() -> frozenset[str]:
    """Names that some installed package gives; the standard library and a user's own files are not among them."""
    return frozenset(packages_distributions())


@cache
def _always() -> frozenset[str]:
    """What an interpreter loads here before it does anything."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return frozenset(name.partition(".")[0] for name in done.stdout.split())
