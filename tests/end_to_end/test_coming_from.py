"""The page for users of other benchmarks: every command, name, endpoint, spec and file that it promises is there.

Commands of the right columns are run: those of the workloads as far as their plan, the others in a project with two
agents and a few runs. Words in capitals stand for names of that project.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings

from ..command import Bench
from ..loaded_commands import Commands, LoadedBench

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "coming-from.md"
WORDS = {
    "SPEC": "spec.yaml",
    "SUITE": "suites/first.yaml",
    "AGENT": "starter",
    "AGENT2": "answer",
    "DIR": "mine",
    "A.json": "one.json",
    "B.json": "two.json",
}
PLANNED_ONLY = ("dyno run workload:", "dyno load")
_SPAN = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"agentdyno(?:_workloads)?(?:\.\w+)+")
_ENDPOINT = re.compile(r"(GET|POST|PUT|DELETE) (/\S+)")


def spans() -> Iterator[str]:
    """What the right column of a table says in code."""
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| import there"):
            yield from _SPAN.findall(line.split(" | ", 1)[1])


def of(*beginnings: str) -> list[str]:
    return list(dict.fromkeys(span for span in spans() if span.startswith(beginnings)))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, loaded_commands: Commands) -> Bench:
    """A starter project with runs of two agents, two of a spec, and two result files."""
    bench = LoadedBench(tmp_path_factory.mktemp("project"), loaded_commands)
    assert bench.dyno("init").code == 0
    bench.write("spec.yaml", "experiment: retrieval\nparams: {documents: 20}\niterations: 6\n")
    for file in ("one.json", "two.json"):
        bench.write(file, bench.dyno("run", "spec.yaml", "--json").out)
    done = bench.dyno("run", "suites/first.yaml", "--agent", "starter", "--agent", "agent.py@answer", "--epochs", "1")
    assert done.code == 0, done.err
    return bench


@pytest.mark.parametrize("line", [span for span in of("dyno ") if not span.startswith("dyno serve")])
def test_a_command_on_the_page_runs(project: Bench, line: str) -> None:
    words = [WORDS.get(word, word) for word in shlex.split(line)[1:]]
    if line.startswith(PLANNED_ONLY):
        words.append("--dry-run")
    if line.startswith("dyno history"):
        words.append("--json")
    done = project.dyno(*words)
    assert done.code == 0, f"{line}\n{done.err}"


@pytest.mark.parametrize("span", of("from agentdyno"))
def test_what_is_imported_on_the_page_can_be(span: str) -> None:
    module, _, names = span.removeprefix("from ").partition(" import ")
    found = import_module(module)
    assert all(hasattr(found, name.strip()) for name in names.split(","))


@pytest.mark.parametrize("name", sorted({name for span in spans() for name in _NAME.findall(span)}))
def test_a_name_on_the_page_is_there(name: str) -> None:
    if find_spec(name.partition(".")[0]) and _is_module(name):
        return
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(module), attribute)


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_endpoints_on_the_page_are_those_of_the_service(tmp_path: Path) -> None:
    paths = create_app(ServiceSettings("sqlite://", tmp_path)).openapi()["paths"]
    known = {(method.upper(), re.sub(r"\{\w+\}", "X", path)) for path, methods in paths.items() for method in methods}
    asked = {
        (found[1], re.sub(r"/[A-Z_]+(?=/|$)", "/X", found[2])) for span in spans() if (found := _ENDPOINT.match(span))
    }
    assert len(asked) > 8
    assert asked <= known


@pytest.mark.parametrize("span", of("examples/", "packages/"))
def test_a_file_on_the_page_is_there(span: str) -> None:
    assert (ROOT / span).is_file()


def test_the_page_lists_the_import_roots() -> None:
    text = PAGE.read_text()
    for root in ("from benchmarks.benchmark_suite", "flowagent.benchmarking", "banterhearts"):
        assert root in text
