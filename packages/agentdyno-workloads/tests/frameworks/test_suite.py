"""The suite measures what its flags choose, of frameworks as of the bench itself; faults have outcomes by name."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.command import Bench

from agentdyno import Experiment, ExperimentContext, SpecError
from agentdyno_workloads.frameworks.faults import FAULTS, FrameworkFaults
from agentdyno_workloads.frameworks.suite import FrameworkSuite

ROOT = Path(__file__).parents[4]
ENVIRONMENTS = str(ROOT / ".venv-frameworks")
IN_ALL = os.environ.get("DYNO_FRAMEWORKS") == "all"


@pytest.fixture(scope="module", autouse=True)
def environments() -> None:
    names = ["core", "more", "crewai"] if IN_ALL else ["core"]
    subprocess.run([ROOT / "scripts" / "frameworks.sh", *names], check=True, capture_output=True)


def executed(experiment: Experiment) -> Iterator[Mapping[str, Any]]:
    context = ExperimentContext()
    experiment.setup(context)
    try:
        yield experiment.execute_once(context)
    finally:
        experiment.teardown(context)


def test_a_bare_loop_has_every_benchmark_of_a_framework() -> None:
    (found,) = executed(FrameworkSuite("bare", environments=ENVIRONMENTS))
    assert found["latency_cpu_s"] > 0
    assert found["streaming_pieces"] == len(f"repeat as final answer: {'w ' * 16} number 1".split())
    assert found["memory_kept"] == 1
    assert found["validation_refused"] == 0
    assert found["configuration_refused"] == 0
    names = {name.rpartition("_cpu_s")[0].removesuffix("_turn").removesuffix("_task") for name in found}
    assert {"validation", "structured_output", "function_calling", "memory", "batch", "configuration"} <= names


def test_flags_choose_and_an_arm_that_none_of_them_concerns_does_nothing() -> None:
    (found,) = executed(FrameworkSuite("bare", latency=True, throughput=True, environments=ENVIRONMENTS))
    assert set(found) == {"latency_s", "latency_cpu_s", "throughput_per_s"}
    (nothing,) = executed(FrameworkSuite("agentdyno", latency=True))
    assert nothing == {}


def test_the_bench_measures_its_own_rewards_per_1000_samples() -> None:
    (found,) = executed(FrameworkSuite("agentdyno", reward=True))
    assert set(found) == {"reward_1000_s", "reward_1000_cpu_s"}


def test_a_bare_loop_recovers_from_nothing_and_hides_an_answer_without_its_end() -> None:
    (found,) = executed(FrameworkFaults("bare", environments=ENVIRONMENTS))
    outcomes = {name: told["outcome"] for name, told in found["faults"].items()}
    assert outcomes == {name: "hidden" if name == "no_finish" else "told" for name in FAULTS}
    assert [name for name, told in found["faults"].items() if told["passed"]] == [
        *("broken_body", "malformed_arguments", "rate_limited_always", "server_error_always")
    ]
    assert all(told["requests"] == 1 for told in found["faults"].values())


@pytest.mark.parametrize(
    ("made", "match"),
    [
        (lambda: FrameworkSuite("langraph"), "no framework 'langraph'"),
        (lambda: FrameworkSuite("bare", model_url="localhost:8081"), "no URL: 'localhost:8081'"),
        (lambda: FrameworkFaults("agentdyno"), "no framework 'agentdyno'"),
        (lambda: FrameworkFaults("bare", limit_s=0), "limit_s is 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(made: Any, match: str) -> None:
    with pytest.raises(SpecError, match=match):
        made()


def test_flags_of_the_command_line_and_report_both(bench: Bench) -> None:
    chosen = ("--latency", "--stub", "--frameworks", "bare", "--environments", ENVIRONMENTS)
    done = bench.dyno(
        "run", "workload:frameworks/suite", *chosen, "--iterations", "2", "--warmup", "0", "--report", "both"
    )
    assert done.code == 0, done.err
    assert "benchmark_results.html" in done.out + done.err
    assert "benchmark_results.json" in done.out + done.err
    wrong = bench.dyno("run", "workload:frameworks/suite", *chosen, "--report", "pdf")
    assert wrong.code == 2
    assert "--report is html or json or both, not pdf" in wrong.err


if IN_ALL:

    def test_every_framework_passes_through_the_suite_and_the_faults(bench: Bench) -> None:
        where = ("-p", f"environments={ENVIRONMENTS}", "--iterations", "1", "--warmup", "0", "--json")
        done = bench.dyno("run", "workload:frameworks/suite", *where)
        assert done.code == 0, done.err
        arms = {arm["params"]["framework"]: arm["metrics"] for arm in done.json["arms"]}
        assert len(arms) == 10
        for name, metrics in arms.items():
            if name != "agentdyno":
                assert metrics["result.memory_kept"]["median"] == 1
                assert ("result.streaming_cpu_s" in metrics) == (name != "smolagents")
        done = bench.dyno("run", "workload:frameworks/faults", *where, "-p", "limit_s=5")
        assert done.code == 0, done.err
        assert len(done.json["arms"]) == 9


def test_the_scripted_model_ends_with_a_run_that_is_killed() -> None:
    program = (
        "import time\n"
        "from agentdyno_workloads.frameworks.framework_process import ScriptedModel\n"
        "print(ScriptedModel().url, flush=True)\n"
        "time.sleep(600)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    url = owner.stdout.readline().strip()
    assert urllib.request.urlopen(f"{url}/models", timeout=60).status == 200
    owner.kill()
    owner.wait()
    owner.stdout.close()
    while answers(url):  # until the kernel has told it
        pass


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/models", timeout=60).close()
    except OSError:
        return False
    return True
