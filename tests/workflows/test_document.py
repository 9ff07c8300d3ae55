"""The names, the calls and the files that the benchmark of workflow models was specified with."""

from __future__ import annotations

import asyncio
import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agentdyno
from agentdyno import NotComparable, SpecError
from agentdyno.workflows import BenchmarkMetrics, BenchmarkRunner, BenchmarkVisualizer

from ..chat_server import Asked, Reply, serving

GIVEN = Path(__file__).parents[1] / "given_documents" / "workflow_models" / "run_example.py.txt"
EXAMPLE = GIVEN.read_text().replace("from flowagent.benchmarking", "from agentdyno.workflows")
QUANT = "python3 kmer_quant.py transcripts.fa reads.fastq quant/abundance.tsv"
GOOD = {
    "steps": [
        {"id": "look", "command": "grep -c '>' transcripts.fa > count.txt", "needs": [], "outputs": ["count.txt"]},
        {"id": "quant", "command": QUANT, "needs": ["look"], "outputs": ["quant/abundance.tsv"]},
    ]
}
WRONG = {"steps": [{"id": "look", "command": "wc -l reads.fastq > lines.txt", "needs": [], "outputs": ["lines.txt"]}]}


def answer(asked: Asked) -> Reply:
    """One of the three models plans well, one plans something else, one does not plan."""
    said: dict[str, object] = {"gpt-4": GOOD, "gpt-4-turbo": WRONG}
    model = asked.body["model"]
    return Reply(json.dumps(said[model]) if model in said else "Kallisto is a fine choice.")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("document")


@pytest.fixture(scope="module")
def printed(place: Path) -> Iterator[str]:
    """What the document's example prints, as it stands but for the name of the package."""
    with serving(answer) as server:
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "PATH": "/usr/bin:/bin", "HOME": str(place)}
        done = subprocess.run(
            [sys.executable, "-c", EXAMPLE], cwd=place, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert len(server.asked) == 9
        yield done.stdout


def written(printed: str, place: Path) -> tuple[str, Path]:
    lines = dict(line.split(": ") for line in printed.splitlines())
    return lines["Benchmark completed"], place / lines["Results saved to"]


def document(folder: Path, name: str) -> Any:
    [path] = folder.glob(f"{name}_*.json")
    return json.loads(path.read_text())


def test_the_example_runs_as_it_is_written(printed: str, place: Path) -> None:
    benchmark_id, folder = written(printed, place)
    assert folder.parent == place / "benchmarks"
    names = {path.name.removesuffix(path.suffix).removesuffix(f"_{benchmark_id}") for path in folder.iterdir()}
    pictures = {"execution_time", "success_rate", "smart_resume", "resource_usage", "model_comparison"}
    assert names == {"metadata", "results", "summary", "visualizations", "data", *pictures}
    for path in document(folder, "visualizations").values():
        assert (place / path).read_bytes().startswith(b"\x89PNG")


def test_success_is_what_the_check_says_and_not_what_a_model_says(printed: str, place: Path) -> None:
    models = document(written(printed, place)[1], "summary")["models"]
    assert {name: row["success_rate"] for name, row in models.items()} == {
        "gpt-3.5-turbo": 0.0,
        "gpt-4": 1.0,
        "gpt-4-turbo": 0.0,
    }
    low, high = models["gpt-4"]["success_rate_interval"]
    assert (low, high) == (pytest.approx(3 / (3 + 1.959964**2)), 1.0)  # Wilson, 3 of 3
    assert models["gpt-4"]["completed_steps_detected"]["median"] == 1.0
    assert models["gpt-4"]["wrongly_skipped"]["median"] == 0.0
    assert models["gpt-4"]["memory_mb"]["median"] > 0


def test_the_models_that_answered_are_on_record(printed: str, place: Path) -> None:
    metadata = document(written(printed, place)[1], "metadata")
    assert metadata["task"] == "rnaseq-kallisto"
    assert metadata["models_answered"] == {name: [name] for name in ("gpt-3.5-turbo", "gpt-4", "gpt-4-turbo")}
    assert (metadata["repetitions"], metadata["description"]) == (3, "RNA-seq workflow benchmark")
    assert "namespaces" in metadata["sandbox"][0] or "bubblewrap" in metadata["sandbox"][0]


def test_the_table_has_a_row_for_each_execution(printed: str, place: Path) -> None:
    [path] = written(printed, place)[1].glob("data_*.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 9
    refused = next(row for row in rows if row["model"] == "gpt-3.5-turbo")
    assert (refused["outcome"], refused["reason"]) == ("plan_refused", "the answer holds no JSON")
    assert {row["success"] for row in rows if row["model"] == "gpt-4"} == {"True"}


def test_the_names_are_those_of_the_package_too() -> None:
    assert agentdyno.BenchmarkRunner is BenchmarkRunner
    assert agentdyno.BenchmarkMetrics is BenchmarkMetrics
    assert agentdyno.BenchmarkVisualizer is BenchmarkVisualizer


def test_two_names_for_one_model_are_refused_as_a_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers everything with the same model, as a proxy or an alias does."""
    monkeypatch.chdir(tmp_path)

    def same(asked: Asked) -> Reply:
        asked.body["model"] = "the-only-one"
        return Reply("no plan")

    with serving(same) as server:
        runner = BenchmarkRunner(environ={"OPENAI_BASE_URL": server.url}, config={"api_key_env": None})
        asked = runner.run_benchmark(prompt="Say something.", models=["first", "second"], repetitions=1)
        results: dict[str, Any] = asyncio.run(asked)
    [reason] = results["refused"]
    assert reason == "first and second are the same model: both answered as the-only-one"
    summary = json.loads(Path(results["files"]["summary"]).read_text())
    assert summary["comparisons"] == {"refused": [reason]}
    assert results["notes"] == ["A free prompt has no data and no check: success is unknown."]
    assert results["summary"]["first"]["success_rate"] is None
    with pytest.raises(NotComparable, match="are the same model"):
        agentdyno.compare_agents("first", "second")


@pytest.mark.parametrize("models", [[], "gpt-4", ["a", "a"]])
def test_models_that_make_no_comparison_are_refused_before_anything_runs(models: Any) -> None:
    with pytest.raises(SpecError):
        asyncio.run(BenchmarkRunner().run_benchmark(prompt="x", models=models))


def test_the_example_script_runs_from_the_command_line(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "examples" / "run_benchmark.py"
    command = [sys.executable, str(script), "--models", "workflow-reference", "--prompt", "text-index"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "workflow-reference: success 100%" in done.stdout
