"""Examples that other benchmarks of agents document run as they stand, but for import roots and script names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.servers.simulated.server import Behaviour, simulated_server

from ..command import Bench

QUICK = Behaviour(ttft_s=0.0, itl_s=0.0, output_tokens=3)


@pytest.fixture(scope="module")
def ollamas() -> Iterator[tuple[str, str]]:
    with simulated_server(QUICK) as first, simulated_server(QUICK) as second:
        yield first.url, second.url


def folder_of(bench: Bench) -> Path:
    (folder,) = (bench.folder / ".dyno" / "runs").iterdir()
    return folder


def test_the_single_agent_example(loaded_bench: Bench, ollamas: tuple[str, str]) -> None:
    options = ("--iterations", "5", "--num-gpu", "80", "--num-ctx", "512", "--temperature", "0.8")
    place = ("--agent", "ollama:gemma3:latest", "-p", f"url={ollamas[0]}")
    done = loaded_bench.dyno("run", "workload:llm/single_agent", *place, *options, "--processes", "1")
    assert done.code == 0, done.err
    (row,) = json.loads((folder_of(loaded_bench) / "metrics.json").read_text())["configurations"]
    assert {"num_gpu": 80, "num_ctx": 512, "temperature": 0.8}.items() <= row["params"].items()
    assert row["metrics"]["ttft_s"]["n"] == 5
    assert (folder_of(loaded_bench) / "comparison_report.md").is_file()
    assert "first token" in done.out, "bands are asked for by the spec"


def test_the_multi_agent_example(loaded_bench: Bench, ollamas: tuple[str, str]) -> None:
    options = ("--iterations", "5", "--num-gpu", "80", "--num-ctx", "2048", "--temperature", "1.0")
    place = ("--agent", "ollama:gemma3:latest", "-p", f"endpoints={','.join(ollamas)}", "-p", "scenario=homogeneous")
    done = loaded_bench.dyno("run", "workload:llm/multi_agent", *place, *options, "--processes", "2")
    assert done.code == 0, done.err
    result = json.loads((folder_of(loaded_bench) / "result.json").read_text())
    samples = result["arms"][0]["samples"]
    assert len({sample.get("process", 0) for sample in samples}) == 2
    assert {"result.speedup", "result.efficiency", "result.contention_rate"} <= samples[0]["readings"].keys()
    assert "efficiency" in done.out


def test_a_phase_of_the_multi_agent_sweep(loaded_bench: Bench, ollamas: tuple[str, str]) -> None:
    place = ("-p", f"endpoints={','.join(ollamas)}", "-p", "scenario=homogeneous")
    chosen = ("--only", "temperatures", "--iterations", "1", "--processes", "1")
    done = loaded_bench.dyno("run", "workload:llm/multi_agent_sweep", *place, *chosen)
    assert done.code == 0, done.err
    rows = json.loads((folder_of(loaded_bench) / "metrics.json").read_text())["configurations"]
    assert [row["phase"] for row in rows] == ["temperatures"] * 3
    assert all(row["observed"]["cold"] is True for row in rows)
