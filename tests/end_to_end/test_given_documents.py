"""Every example of the documents that this was made from runs, word for word but for import roots and script names.

``tests/given_documents`` has their code blocks. Those of the agent platform run in ``tests/web/routes`` and
``tests/store``; the commands stand on the page for people who come from there, whose other column is run.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import types
from pathlib import Path

import pytest
import yaml

from agentdyno_workloads.simulation.config import SimulationConfig

from ..command import Bench

ROOT = Path(__file__).parents[2]
GIVEN = ROOT / "tests" / "given_documents"
PAGE = (ROOT / "docs" / "guides" / "coming-from.md").read_text()
SECTIONS = {
    "spec_driven": "Spec-driven experiments",
    "agent_frameworks": "StateSet Agents",
    "llm_and_multi_agent": "Single-agent and multi-agent",
    "workflow_models": "Workflows with many models",
}
RAN_IN = {
    "tests/web/routes/test_requirement_code.py": (
        *("cost.py.txt", "dashboard.tsx.txt", "endpoints.py.txt", "head_to_head.ts.txt", "profile.ts.txt"),
        *("regressions.py.txt", "runner.py.txt", "stress.py.txt", "suite.ts.txt"),
    ),
    "tests/store/test_requirement_sql.py": ("executions.sql.txt", "leaderboard.sql.txt", "matrix.sql.txt"),
    "tests/workflows/test_document.py": ("run_example.py.txt",),
    "tests/end_to_end/test_given_documents.py": (
        *("commands.txt", "in_memory.py.txt", "config_helper.py.txt", "my_new_benchmark.py.txt"),
        *("my_new_benchmark_baseline.yaml", "my_new_benchmark_sweep.yaml", "my_custom_instrument.py.txt"),
        *("instrumentation.yaml", "my_custom_reporter.py.txt", "example_benchmark.py.txt", "workflow_step.yaml"),
        *("result_files.txt", "benchmarks_workflow.yml", "my_benchmark.py.txt"),
    ),
}
_ROOTS = (
    (r"from benchmarks\.core\.\w+ import", "from agentdyno import"),
    (r"from benchmarks\.utils\.config_helper import", "from agentdyno_workloads.simulation.recommend import"),
    (r"from benchmarks\.benchmark_suite import", "from agentdyno import"),
)


def given(document: str, name: str) -> str:
    """A block with the import roots of here."""
    text = (GIVEN / document / name).read_text()
    for there, here in _ROOTS:
        text = re.sub(there, here, text)
    return text


def left_column(title: str) -> str:
    """What the page's table of a document says in code on its left."""
    _, _, rest = PAGE.partition(f"## {title}")
    section, _, _ = rest.partition("\n## ")
    assert section, title
    rows = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| ")]
    return "\n".join(span for row in rows for span in re.findall(r"`([^`]+)`", row))


def test_every_block_is_run_by_a_test() -> None:
    there = {path.name for path in GIVEN.rglob("*.*")}
    named = {name for names in RAN_IN.values() for name in names}
    assert there == named
    for file, names in RAN_IN.items():
        text = (ROOT / file).read_text()
        for name in names:
            assert name.partition(".")[0] in text, (file, name)


COMMANDS = [
    (document, line)
    for document in SECTIONS
    for line in (GIVEN / document / "commands.txt").read_text().splitlines()
    if not re.fullmatch(r"cd \S+|done|for .*; do", line)
]


@pytest.mark.parametrize(("document", "line"), COMMANDS)
def test_a_command_of_a_document_stands_on_the_page(document: str, line: str) -> None:
    """Its script or command, and each of its flags."""
    left = left_column(SECTIONS[document])
    words = line.split("&& ")[-1].split()
    if words[0] in ("python", "pip", "jupyter", "ollama", "cargo", "export"):
        words = words[1:]
    if words[0] == "-m":
        words = words[1:]
    script = re.sub(r"\.(py|ipynb|ps1)$", "", re.split(r"[\\/]", words[0])[-1])
    name = script.partition("=")[0].split(".")[-1].partition("[")[0]
    assert name in left, (name, left)
    if name == "run_benchmarks":
        asked = Path(words[-1]).stem
        known = {path.stem for path in (ROOT / "packages").rglob("simulation/specs/*.yaml")}
        assert words[1] in left
        assert asked in left or asked in known or "--spec" not in words
    for flag in [word for word in words if re.fullmatch(r"--[a-z][a-z-]*", word)]:
        assert flag in left, flag


def test_the_configuration_is_set_as_it_is_written() -> None:
    names: dict[str, object] = {"config": SimulationConfig()}
    exec(given("spec_driven", "in_memory.py.txt"), names)
    config = names["config"]
    assert isinstance(config, SimulationConfig)
    assert config.use_in_memory_db
    assert config.persist_db_on_completion
    exec(given("spec_driven", "config_helper.py.txt"), names)
    made = names["config"]
    assert isinstance(made, SimulationConfig)
    assert (made.agents, made.steps) == (30, 100)


@pytest.fixture
def project(loaded_bench: Bench) -> Bench:
    """A project laid out as the document has it, but that experiments lie where they are found."""
    template = given("spec_driven", "my_new_benchmark.py.txt")
    loaded_bench.write("experiments/my_new_benchmark.py", "import time\n" + template)
    loaded_bench.write("experiments/example_benchmark.py", given("spec_driven", "example_benchmark.py.txt"))
    for name in ("my_new_benchmark_baseline.yaml", "my_new_benchmark_sweep.yaml"):
        loaded_bench.write(f"benchmarks/specs/{name}", given("spec_driven", name))
    return loaded_bench


def test_the_template_of_an_experiment_runs_from_its_spec_and_is_listed(project: Bench) -> None:
    done = project.dyno("run", "benchmarks/specs/my_new_benchmark_baseline.yaml", "--json")
    assert done.code == 0, done.err
    (arm,) = done.json["arms"]
    assert arm["params"]["parameters"] == {"custom_setting": True, "test_mode": "baseline"}
    assert arm["metrics"]["duration_s"]["n"] == 3
    listed = {item["name"] for item in project.dyno("list", "experiments", "--json").json}
    assert {"my_new_benchmark", "example_benchmark"} <= listed


def test_the_template_as_it_stands_says_what_it_lacks(project: Bench) -> None:
    project.write("experiments/my_new_benchmark.py", given("spec_driven", "my_new_benchmark.py.txt"))
    done = project.dyno("run", "benchmarks/specs/my_new_benchmark_baseline.yaml")
    assert done.code == 5
    assert "NameError: name 'time' is not defined" in " ".join(done.out.split())


def test_the_sweep_has_twelve_arms(project: Bench) -> None:
    done = project.dyno("run", "benchmarks/specs/my_new_benchmark_sweep.yaml", "--json")
    assert done.code == 0, done.err
    assert len(done.json["arms"]) == 12


def test_the_example_runs_under_the_custom_instrument_and_into_the_custom_report(project: Bench) -> None:
    project.write(
        "my_custom_instrument.py",
        "def get_memory_usage():\n    return 1\n\n\n" + given("spec_driven", "my_custom_instrument.py.txt"),
    )
    project.write("my_custom_reporter.py", given("spec_driven", "my_custom_reporter.py.txt"))
    project.write(
        "example.yaml",
        "experiment: example_benchmark\nparams: {data_size: 50, iterations: 3}\niterations: 3\n"
        "imports: [my_custom_instrument.py]\nreports: [my_custom_reporter.py@generate_custom_report]\n"
        + given("spec_driven", "instrumentation.yaml"),
    )
    done = project.dyno("run", "example.yaml", "--json")
    assert done.code == 0, done.err
    metrics = done.json["arms"][0]["metrics"]
    assert metrics["my_custom_instrument.my_custom_metric.memory_delta"]["median"] == 0
    assert metrics["result.data_size"]["median"] == 50
    (report,) = (project.folder / ".dyno" / "runs").rglob("custom_report.txt")
    assert "Experiment: example\n" in report.read_text()
    assert re.search(r"Duration: \d+\.\d{3}s", report.read_text())


def test_the_steps_of_workflows_have_their_commands_on_the_page() -> None:
    (step,) = yaml.safe_load(given("spec_driven", "workflow_step.yaml"))
    assert step["run"].split()[-1] in left_column(SECTIONS["spec_driven"])
    whole = yaml.safe_load(given("agent_frameworks", "benchmarks_workflow.yml"))
    left = left_column(SECTIONS["agent_frameworks"])
    for line in " ".join(item.get("run", "") for item in whole["jobs"]["benchmark"]["steps"]).split("python ")[1:]:
        script, *flags = line.split()
        assert script.removeprefix("benchmarks/") in left
        assert all(flag in left for flag in flags if flag.startswith("--"))
    for name in re.findall(r"(\w+)(?:_\*)?\.(?:json|html|md)", given("agent_frameworks", "result_files.txt")):
        assert name in left, name


def test_the_decorator_runs_with_its_await_at_the_top(capsys: pytest.CaptureFixture[str]) -> None:
    text = given("agent_frameworks", "my_benchmark.py.txt")
    code = compile(text, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names = {"expensive_operation": lambda: sum(range(100))}
    asyncio.run(types.FunctionType(code, names)())
    assert capsys.readouterr().out.startswith("Average time: ")
    assert json.loads(json.dumps(names["result"].metadata)) == {"metric": 4950}  # type: ignore[attr-defined]
