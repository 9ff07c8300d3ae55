"""One real run of each kind: what its result file says, and how many modules it takes."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from ..command import Bench, Done
from .golden import DATA, check, check_json
from .observed import SAY_MODULES, check_modules, watched
from .plain import named, replaced, rounded, without_run_ids
from .result_form import result_form

SPEC = """
experiment: probe.py@probe
params: {size: [10, 20]}
iterations: {warmup: 1, measured: 2}
instrumentation: [gc]
processes: 1
seed: 3
tags: [golden]
notes: Two sizes.
"""
PROBE = f"""{SAY_MODULES}

def probe(size: int = 10) -> float:
    say_modules("worker.json")
    return float(size)
"""
AGENT = f"""from agentdyno import Case
{SAY_MODULES}

def answer(case: Case, path: str = "") -> str:
    say_modules(path)
    return str(case.target)
"""
SUITE = """
name: Two cases
scorer: exact
epochs: 1
warmup: 0
dataset: [{id: one, input: a, target: b}, {id: two, input: c, target: d}]
"""


@pytest.fixture
def made(bench: Bench) -> Bench:
    for file in (DATA / "project").iterdir():
        shutil.copy(file, bench.folder)
    return bench


def _result(bench: Bench) -> dict[str, Any]:
    (path,) = (bench.folder / ".dyno" / "runs").glob("*/result.json")
    text = path.read_text(encoding="utf-8").replace(str(bench.folder), "<folder>")
    found: dict[str, Any] = json.loads(text)
    return found


def _succeeded(done: Done) -> None:
    assert done.code == 0, done.err


def test_a_run_of_an_experiment_leaves_the_result_of_before(made: Bench) -> None:
    made.write("probe.py", PROBE.replace("worker.json", str(made.folder / "worker.json")))
    made.write("spec.yaml", SPEC)
    done, modules = watched(made, "run", "spec.yaml")
    _succeeded(done)
    check_json("results/experiment.json", result_form(_result(made)))
    check_modules("run-of-an-experiment", modules)
    check_modules("worker-of-an-experiment", json.loads((made.folder / "worker.json").read_text()))
    check("results/experiment.err.txt", without_run_ids(done.err))


def test_a_run_of_a_suite_leaves_the_result_of_before(made: Bench) -> None:
    done, modules = watched(made, "run", "support.yaml", "--agent", "helper", "--agent", "scout", "--quick")
    _succeeded(done)
    check_json("results/suite.json", result_form(_result(made)))
    check_modules("run-of-a-suite", modules)
    check("results/suite.err.txt", without_run_ids(done.err))


def test_a_run_under_load_leaves_the_result_of_before(made: Bench) -> None:
    arguments = ("--input", "Hello", "--concurrency", "1", "--duration", "0.5", "--window", "0.5")
    done, modules = watched(made, "load", "helper", *arguments)
    _succeeded(done)
    check_json("results/load.json", result_form(_result(made)))
    check_modules("run-of-a-load", modules)


def test_two_cases_take_no_more_modules_than_before(bench: Bench) -> None:
    bench.write("agent.py", AGENT)
    bench.write("suite.yaml", SUITE)
    path = bench.folder / "agent.json"
    bench.write("dyno.yaml", f'agents: {{quick: {{use: "agent.py@answer", config: {{path: "{path}"}}}}}}\n')
    done, modules = watched(bench, "run", "suite.yaml", "--agent", "quick")
    _succeeded(done)
    check_modules("run-of-two-cases", modules)
    check_modules("worker-of-an-agent", json.loads(path.read_text()))


@pytest.mark.parametrize(
    "arguments", [(), ("run",), ("load",), ("board",)], ids=lambda value: "-".join(value) or "dyno"
)
def test_help_takes_no_more_modules_than_before(arguments: tuple[str, ...], bench: Bench) -> None:
    done, modules = watched(bench, *arguments, "--help")
    _succeeded(done)
    check_modules("-".join(("help", *arguments)), modules)


def test_an_agent_is_tried_as_before(made: Bench) -> None:
    done = made.dyno("try", "agent.py@answer", "Hello", "-c", "price=0.5", "--json")
    _succeeded(done)
    clock = named({"started_at_ms": "time", "duration_s": "seconds", "cpu_s": "seconds", "at_s": "seconds"})
    memory = named({"peak_rss_bytes": "bytes"})
    check_json("json/try.json", rounded(replaced(replaced(done.json, clock), memory)))


@pytest.mark.parametrize("kind", ["", "agents", "suites", "datasets", "importers", "specs"])
def test_what_is_there_is_listed_as_before(kind: str, made: Bench) -> None:
    done = made.dyno("list", *([kind] if kind else []), "--json")
    _succeeded(done)
    # Which of our packages it comes in is not a promise.
    check(f"json/list-{kind or 'all'}.json", done.out.replace('"agentdyno-workloads"', '"agentdyno"'))


def test_a_worker_that_finds_no_job_says_so_as_before(made: Bench) -> None:
    done = made.dyno("worker", "--once", "--name", "golden", "--json")
    _succeeded(done)
    check("json/worker.json", done.out)
