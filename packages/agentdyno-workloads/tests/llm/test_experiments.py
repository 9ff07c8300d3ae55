"""The experiments on models, against simulated servers whose times are known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.command import Bench
from tests.given_work import ALONE_S, TTFT_S, GivenWork

from agentdyno import Findings, Report, RunResult, run_spec
from agentdyno.model import ArmResult, Status
from agentdyno.model.metric import Provenance
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server
from agentdyno_workloads.llm.report import LlmReporter

SPECS = ("single_agent", "single_agent_sweep", "multi_agent", "multi_agent_scaling", "multi_agent_sweep")
ONE_SLOT = Behaviour(ttft_s=0.05, itl_s=0.005, output_tokens=11, slots=1)
"""One answer at a time, 0.1 s each: two agents share such a server's time exactly."""
CALLS_S = 2 * (0.05 + 10 * 0.005)
"""Both calls of one workflow, with nobody else asking."""


@pytest.fixture
def given_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents that ask the same server share its time; how long each of them works is given."""
    monkeypatch.setattr("agentdyno_workloads.llm.multi_agent.work", GivenWork(lambda client: client.url))


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[RunningServer, RunningServer]]:
    with ExitStack() as stack:
        yield (stack.enter_context(simulated_server(ONE_SLOT)), stack.enter_context(simulated_server(ONE_SLOT)))


def measured(tmp_path: Path, experiment: str, params: Mapping[str, object], iterations: int = 2) -> RunResult:
    return run_spec(
        {
            "experiment": experiment,
            "params": params,
            "iterations": {"warmup": 0, "measured": iterations},
            "isolation": "inline",
            "inner_loops": 1,
            "output_dir": str(tmp_path / "runs"),
        },
        store=f"sqlite:///{tmp_path / 'dyno.db'}",
    )


def values(arm: ArmResult, name: str) -> list[float]:
    return [sample.readings[f"result.{name}"] for sample in arm.samples]


def failure(arm: ArmResult) -> str:
    sample = arm.samples[0]
    assert sample.status is Status.ERROR
    assert sample.failure is not None
    return sample.failure.message


def test_one_agent_reports_where_the_time_of_an_answer_goes(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    (arm,) = measured(tmp_path, "llm_single_agent", {"agent": "openai:m", "url": servers[0].openai_url}).arms
    for ttft, answer, tokens in zip(
        values(arm, "ttft_s"), values(arm, "answer_s"), values(arm, "output_tokens"), strict=True
    ):
        assert 0.045 < ttft < answer
        assert answer >= 0.095
        assert tokens == 11
    assert all(rss > 1_000_000 for rss in values(arm, "server_rss_bytes")), "of the process that listens there"
    assert arm.observed["simulated"] is True
    assert arm.observed["model"] == "simulated/m"


def test_every_metric_of_a_simulated_model_is_simulated(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    place = {"agent": "openai:m", "endpoints": servers[0].openai_url, "agents": 1}
    alone: Mapping[str, object] = {"agent": "openai:m", "url": servers[0].openai_url}
    for name, params in (("llm_single_agent", alone), ("llm_multi_agent", place)):
        (arm,) = measured(tmp_path, name, params, iterations=1).arms
        assert arm.metrics
        assert {metric.provenance for metric in arm.metrics.values()} == {Provenance.SIMULATED}


def test_ollamas_options_reach_the_server_and_its_own_durations_come_back(tmp_path: Path) -> None:
    # The tokens come far enough apart for a busy client to see more than one arrive.
    with simulated_server(Behaviour(ttft_s=0.02, itl_s=0.1, output_tokens=5, load_s=0.01)) as server:
        params = {
            "agent": "ollama:gemma3",
            "url": server.url,
            **{"num_gpu": 80, "num_ctx": 512, "temperature": 0.8, "cold": True},
        }
        (arm,) = measured(tmp_path, "llm_single_agent", params, iterations=3).arms
    assert arm.statuses[Status.OK] == 3
    assert {"num_ctx": 512, "cold": True}.items() <= arm.observed.items()
    assert arm.observed["requested"] == {"num_gpu": 80, "temperature": 0.8}, "nobody confirms these"
    assert not {"num_gpu", "temperature"} & arm.observed.keys()
    for name in ("prompt_eval_s", "eval_s", "load_s", "tokens_per_s"):
        assert len(values(arm, name)) == 3, name
    assert values(arm, "load_s") == pytest.approx([0.01] * 3)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"num_gpu": 80}, "takes no num_gpu"),
        ({"num_ctx": 512}, "takes no num_ctx"),
        ({"cold": True}, "cannot be told to unload"),
    ],
)
def test_what_an_openai_server_would_silently_ignore_is_refused(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer], params: dict[str, object], said: str
) -> None:
    given = {"agent": "openai:m", "url": servers[0].openai_url, **params}
    (arm,) = measured(tmp_path, "llm_single_agent", given, iterations=1).arms
    assert said in failure(arm)


def test_each_agent_of_two_endpoints_has_a_server_of_its_own(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    endpoints = ",".join(server.openai_url for server in servers)
    before = [len(server.log()) for server in servers]
    place = {"agent": "openai:m", "endpoints": endpoints, "agents": 2}
    (arm,) = measured(tmp_path, "llm_multi_agent", place, iterations=1).arms
    assert [len(server.log()) - count for server, count in zip(servers, before, strict=True)] == [4, 4], (
        "two calls of one agent, alone and beside the other"
    )
    assert min(values(arm, "sequential_s")) >= 2 * CALLS_S - 0.01
    assert arm.observed["endpoints"] == 2


@pytest.mark.usefixtures("given_work")
def test_two_endpoints_serve_two_agents_twice_as_fast(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    endpoints = ",".join(server.openai_url for server in servers)
    place = {"agent": "openai:m", "endpoints": endpoints, "agents": 2}
    (arm,) = measured(tmp_path, "llm_multi_agent", place, iterations=3).arms
    assert values(arm, "efficiency") == [1.0] * 3
    assert values(arm, "slowdown_max") == [1.0] * 3
    assert values(arm, "contention_events") == [0] * 3
    assert values(arm, "sequential_s") == [2 * ALONE_S] * 3


@pytest.mark.usefixtures("given_work")
def test_one_endpoint_with_one_slot_gains_nothing_from_two_agents(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    place = {"agent": "openai:m", "endpoints": servers[0].openai_url, "agents": 2}
    (arm,) = measured(tmp_path, "llm_multi_agent", place, iterations=3).arms
    assert values(arm, "efficiency") == [0.5] * 3
    assert values(arm, "slowdown_mean") == [2.0] * 3
    assert values(arm, "ttft_alone_s") == [TTFT_S] * 3
    assert values(arm, "ttft_s") == [2 * TTFT_S] * 3
    assert values(arm, "contention_events") == [2] * 3, "each takes twice as long as alone"
    assert values(arm, "contention_rate") == [1.0] * 3


def test_cold_agents_find_their_models_unloaded_alone_and_together(tmp_path: Path) -> None:
    behaviour = Behaviour(ttft_s=0.01, itl_s=0.001, output_tokens=3, load_s=0.2)
    with simulated_server(behaviour) as first, simulated_server(behaviour) as second:
        params = {"agent": "ollama:gemma3", "endpoints": f"{first.url},{second.url}", "cold": True}
        (arm,) = measured(tmp_path, "llm_multi_agent", params, iterations=2).arms
    assert arm.observed["cold"] is True
    # The first of two calls loads the model: the mean of both is at least half of that.
    assert min(values(arm, "ttft_alone_s") + values(arm, "ttft_s")) >= 0.1


def test_agents_cannot_be_cold_where_a_server_cannot_be_told_to_unload(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    params = {"agent": "openai:m", "endpoints": servers[0].openai_url, "cold": True}
    (arm,) = measured(tmp_path, "llm_multi_agent", params, iterations=1).arms
    assert "cannot be told to unload" in failure(arm)


@pytest.mark.usefixtures("given_work")
def test_the_reporter_writes_raw_figures_and_the_configurations_side_by_side(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    place = {"agent": "openai:m", "endpoints": servers[0].openai_url, "agents": [1, 2, 4]}
    result = measured(tmp_path, "llm_multi_agent", place, iterations=2)
    written = LlmReporter().write(Report((result,), Findings()), tmp_path)
    assert [path.name for path in written] == ["metrics.json", "comparison_report.md", "speedup.png"]
    assert (tmp_path / "speedup.png").read_bytes().startswith(b"\x89PNG")

    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["simulated"] is True
    assert [row["params"]["agents"] for row in metrics["configurations"]] == [1, 2, 4]
    speedup = metrics["configurations"][0]["metrics"]["speedup"]
    assert speedup["n"] == 2
    assert speedup["median"] == 1.0, "one agent cannot be faster than itself"

    (law,) = metrics["scaling"]
    assert [agents for agents, _ in law["points"]] == [1, 2, 4]
    assert law["amdahl"]["contention"] > 0.3, "one slot serves one after the other; independent agents would have 0"
    assert law["usl"]["coherency"] >= 0

    text = (tmp_path / "comparison_report.md").read_text()
    assert "**Simulated:**" in text
    assert "## Scaling" in text
    assert "| agents | workflows a second |" in text
    assert "Amdahl: serial share" in text


@pytest.mark.parametrize("name", SPECS)
def test_a_shipped_spec_can_be_planned_quickly(name: str, bench: Bench) -> None:
    done = bench.dyno("run", f"workload:llm/{name}", "--quick", "--dry-run")
    assert done.code == 0, done.err
    assert "Nothing was run" in done.err


def test_the_sweeps_have_the_configurations_of_their_requirement(bench: Bench) -> None:
    assert "27 arms, 135 trials" in bench.dyno("run", "workload:llm/single_agent_sweep", "--dry-run").err
    assert "30 arms, 150 trials" in bench.dyno("run", "workload:llm/multi_agent_sweep", "--dry-run").err


def test_the_phases_of_the_sweep_have_names_and_run_alone(bench: Bench) -> None:
    for phase, arms in (("gpu_layers", 9), ("contexts", 12), ("temperatures", 9)):
        done = bench.dyno("run", "workload:llm/multi_agent_sweep", "--only", phase, "--dry-run")
        assert f"{arms} arms, {5 * arms} trials" in done.err
        assert f"{phase} scenario=" in done.out


@pytest.mark.usefixtures("given_work")
def test_the_report_says_the_phase_of_a_configuration(
    tmp_path: Path, servers: tuple[RunningServer, RunningServer]
) -> None:
    entry = {"experiment": "llm_multi_agent", "params": {"endpoints": servers[0].openai_url}}
    spec = {"experiments": [{**entry, "name": "first phase"}], "iterations": {"warmup": 0, "measured": 1}}
    place = {"output_dir": str(tmp_path / "runs"), "isolation": "inline", "inner_loops": 1}
    result = run_spec({**spec, **place}, store=f"sqlite:///{tmp_path / 'dyno.db'}")
    assert result.arms[0].entry == "first phase"
    LlmReporter().write(Report((result,), Findings()), tmp_path)
    assert json.loads((tmp_path / "metrics.json").read_text())["configurations"][0]["phase"] == "first phase"


def test_the_command_takes_the_model_by_agent_and_writes_both_files(
    tmp_path: Path, bench: Bench, servers: tuple[RunningServer, RunningServer]
) -> None:
    asked = ("run", "workload:llm/single_agent", "--agent", "openai:m", "-p", f"url={servers[0].openai_url}")
    done = bench.dyno(*asked, "--quick", "--processes", "1")
    assert done.code == 0, done.err
    (folder,) = (tmp_path / ".dyno" / "runs").iterdir()
    assert {"metrics.json", "comparison_report.md"} <= {path.name for path in folder.iterdir()}
