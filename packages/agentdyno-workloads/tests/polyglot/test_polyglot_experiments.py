"""The polyglot experiments, their specs and their reports, against a server without latency."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from tests.command import Bench

from agentdyno import Findings, Report, RunResult, SpecError, Verdict, run_spec
from agentdyno.model import Status
from agentdyno.model.metric import Provenance
from agentdyno_workloads.polyglot.experiments import PolyglotMulti, PolyglotSingle
from agentdyno_workloads.polyglot.judging import language_rows
from agentdyno_workloads.polyglot.page import page
from agentdyno_workloads.polyglot.programs import RUNTIMES, RUST
from agentdyno_workloads.polyglot.report import PolyglotReporter

SPECS = ("single", "multi", "runtimes", "runtimes_sweep")
TOKENS = 6


def measured(folder: Path, experiment: str, name: str, params: Mapping[str, object]) -> RunResult:
    return run_spec(
        {
            "name": name,
            "experiments": [{"experiment": experiment, "name": "zero_latency", "params": params}],
            "iterations": {"warmup": 0, "measured": 1},
            "isolation": "inline",
            "inner_loops": 1,
            "tags": ["polyglot"],
            "output_dir": str(folder / "runs"),
        },
        store=f"sqlite:///{folder / 'dyno.db'}",
    )


@pytest.fixture(scope="module")
def single(rust_programs: str, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    params = {"language": ["python", "rust"], "endpoint": "zero", "max_tokens": TOKENS, "programs": rust_programs}
    return measured(tmp_path_factory.mktemp("single"), "polyglot_single", "single", params)


@pytest.fixture(scope="module")
def runtimes(rust_programs: str, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    params = {
        **{"language": "rust", "runtime": list(RUNTIMES[RUST]), "endpoints": "zero,zero"},
        **{"max_tokens": TOKENS, "programs": rust_programs},
    }
    return measured(tmp_path_factory.mktemp("runtimes"), "polyglot_multi", "runtimes", params)


def test_one_agent_is_measured_by_the_bench_in_both_languages(single: RunResult) -> None:
    assert [arm.params["language"] for arm in single.arms] == ["python", "rust"]
    for arm in single.arms:
        assert arm.statuses == {Status.OK: 1}
        readings = arm.samples[0].readings
        assert readings["result.output_tokens"] == 2 * TOKENS, "two answers, counted by the proxy"
        assert 0 < readings["result.ttft_s"] < readings["result.case_s"]
        # What is left of a case beside its calls, which the proxy times: where a busy proxy waits, less than nothing.
        assert readings["result.client_s"] < readings["result.case_s"]
        assert readings["result.start_s"] > 0
        assert readings["result.cpu_per_token_s"] > 0
        assert readings["result.peak_rss_bytes"] > 1_000_000
        rate = 2 * TOKENS / readings["result.case_s"]
        assert readings["result.tokens_per_s"] == pytest.approx(rate), "tokens over wall time"
        assert arm.observed["model"] == "simulated/zero"
        assert arm.metrics["result.case_s"].provenance is Provenance.SIMULATED
    assert single.arms[0].observed["runtime"] == "asyncio"
    assert single.arms[1].observed["runtime"] == "tokio-default"
    assert single.arms[1].observed["build"] == "debug", "a build that is none to be measured says so"


def test_each_runtime_serves_two_agents_and_says_that_it_did(runtimes: RunResult) -> None:
    assert [arm.observed["runtime"] for arm in runtimes.arms] == list(RUNTIMES[RUST])
    for arm in runtimes.arms:
        assert arm.statuses == {Status.OK: 1}
        readings = arm.samples[0].readings
        ratio = readings["result.sequential_s"] / readings["result.concurrent_s"]
        assert readings["result.speedup"] == pytest.approx(ratio)
        assert readings["result.efficiency"] == pytest.approx(ratio / 2)
        assert arm.observed["servers"] == 2


def test_reports_lie_where_each_language_has_them(single: RunResult, tmp_path: Path) -> None:
    written = PolyglotReporter().write(Report((single,), Findings()), tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in written} == {
        "metrics.json",
        "comparison_report.md",
        "python/zero_latency/metrics.json",
        "python/zero_latency/comparison_report.md",
        "rust/zero_latency/data/metrics.json",
        "rust/zero_latency/reports/comparison_report.md",
    }
    whole = json.loads((tmp_path / "metrics.json").read_text())
    assert [item["language"] for item in whole["configurations"]] == ["python", "rust"]
    assert {item["metric"] for item in whole["languages"]} >= {"start_s", "ttft_s", "tokens_per_s", "cpu_per_token_s"}
    rust = json.loads((tmp_path / "rust/zero_latency/data/metrics.json").read_text())
    (configuration,) = rust["configurations"]
    assert (configuration["language"], configuration["phase"]) == ("rust", "zero_latency")
    text = (tmp_path / "comparison_report.md").read_text()
    assert "**Simulated:**" in text
    assert "## Python against Rust" in text
    assert "| start-up | " in text


def test_a_pair_of_arms_is_judged_by_the_bench(single: RunResult) -> None:
    rows = {row.metric: row for row in language_rows(single)}
    for name, row in rows.items():
        own, other = (arm.samples[0].readings[f"result.{name}"] for arm in single.arms)
        assert (row.python, row.rust) == (own, other)
        assert row.ratio == pytest.approx(other / own)
        assert row.verdict in (None, Verdict.INCONCLUSIVE), "one run tells nothing"
        assert row.client is None, "there is no other server to hold it against"


def test_the_page_shows_every_run_and_what_was_published(single: RunResult, runtimes: RunResult) -> None:
    text = "\n".join(page({"single": single, "runtimes": runtimes}))
    assert single.run_id in text
    assert runtimes.run_id in text
    for runtime in RUNTIMES[RUST]:
        assert f"| {runtime} | " in text
    assert "Too few runs to tell runtimes apart." in text
    assert "| async-std | 50.0 % | 94.0 |" in text
    medians = np.median([arm.samples[0].readings["result.peak_rss_bytes"] for arm in single.arms[:1]])
    assert f"| peak memory | {medians / 2**20:.4g} MiB |" in text


@pytest.mark.parametrize("name", SPECS)
def test_a_shipped_spec_can_be_planned_quickly(name: str, bench: Bench) -> None:
    done = bench.dyno("run", f"workload:polyglot/{name}", "--quick", "--dry-run")
    assert done.code == 0, done.err
    assert "Nothing was run" in done.err


def test_the_sweep_of_runtimes_has_the_runs_of_its_requirement(bench: Bench) -> None:
    assert "150 arms, 750 trials" in bench.dyno("run", "workload:polyglot/runtimes_sweep", "--dry-run").err
    only = bench.dyno("run", "workload:polyglot/runtimes_sweep", "--only", "gpu_layers", "--dry-run")
    assert "45 arms, 225 trials" in only.err


def test_where_no_rust_is_built_the_run_says_what_to_install(bench: Bench) -> None:
    asked = ("run", "workload:polyglot/single", "--quick", "--only", "zero_latency", "-p", "language=rust")
    done = bench.dyno(*asked, "-p", "programs=nowhere")
    assert done.code != 0
    said = " ".join((done.out + done.err).split())
    assert "the agent in Rust on tokio-default is not built" in said
    assert "scripts/rust_agents.sh" in said
    assert "apt-get install cargo" in said


@pytest.mark.parametrize(
    ("experiment", "given", "said"),
    [
        (PolyglotSingle, {"language": "python", "runtime": "smol"}, "python has no runtime 'smol'"),
        (PolyglotSingle, {"num_ctx": 512}, "only Ollama takes num_ctx"),
        (PolyglotSingle, {"cases": 0}, "0 cases cannot be asked"),
        (PolyglotMulti, {"agents": 0}, "0 agents cannot work"),
        (PolyglotMulti, {"endpoints": " , "}, "no endpoint is named"),
        (PolyglotMulti, {"num_gpu": 80, "agent": "ollama:gemma3", "endpoints": "zero"}, "only Ollama takes num_gpu"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_starts(
    experiment: type[PolyglotSingle] | type[PolyglotMulti], given: dict[str, object], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        experiment(**given)  # type: ignore[arg-type]
