"""Experiments in the style of older spec-driven frameworks run with nothing changed but their import lines."""

from __future__ import annotations

import pytest

from ..command import Bench

FIRST = """
import time
from typing import Any, Dict, Optional
from agentdyno import Experiment, ExperimentContext, register_experiment

@register_experiment("my_new_benchmark")
class MyNewBenchmark(Experiment):
    def __init__(self, param1: int = 100, param2: str = "default", parameters: Optional[Dict[str, Any]] = None):
        super().__init__(parameters or {})
        self.params.update({"param1": param1, "param2": param2})
        self.setup_data = None

    def setup(self, context: ExperimentContext) -> None:
        self.setup_data = self._prepare()

    def execute_once(self, context: ExperimentContext) -> Dict[str, Any]:
        started = time.time()
        value = self._work()
        return {
            "duration": time.time() - started,
            "result_value": value,
            "param1": self.params["param1"],
            "param2": self.params["param2"],
        }

    def teardown(self, context: ExperimentContext) -> None:
        self.setup_data = None

    def _prepare(self):
        pass

    def _work(self):
        pass
"""

SECOND = """
import random
import time
from typing import Any, Dict, Optional
from agentdyno import Experiment, ExperimentContext, register_experiment

@register_experiment("example_benchmark")
class ExampleBenchmark(Experiment):
    def __init__(self, data_size: int = 1000, iterations: int = 100, parameters: Optional[Dict[str, Any]] = None):
        super().__init__(parameters or {})
        self.params.update({"data_size": data_size, "iterations": iterations})
        self.test_data = None

    def setup(self, context: ExperimentContext) -> None:
        self.test_data = [random.random() for _ in range(self.params["data_size"])]

    def execute_once(self, context: ExperimentContext) -> Dict[str, Any]:
        started = time.time()
        total = 0
        for _ in range(self.params["iterations"]):
            total += sum(self.test_data)
        return {
            "duration": time.time() - started,
            "result_sum": total,
            "data_size": self.params["data_size"],
            "iterations": self.params["iterations"],
        }

    def teardown(self, context: ExperimentContext) -> None:
        self.test_data = None
"""

BASELINE = """
experiment: my_new_benchmark
imports: [my_new_benchmark.py]
params:
  param1: 100
  param2: "test_value"
  parameters:
    custom_setting: true
    test_mode: "baseline"
iterations:
  warmup: 1
  measured: 3
instrumentation:
  - timing
  - psutil
output_dir: benchmarks/results/my_new_benchmark
tags: [custom, baseline]
notes: "Baseline test for my new benchmark"
seed: 42
"""

SWEEP = """
experiment: my_new_benchmark
imports: [my_new_benchmark.py]
params:
  param1: [50, 100, 200, 500]
  param2: ["option1", "option2", "option3"]
  parameters:
    custom_setting: true
iterations:
  warmup: 1
  measured: 2
instrumentation:
  - timing
  - psutil
output_dir: benchmarks/results/my_new_benchmark_sweep
tags: [custom, sweep]
notes: "Parameter sweep for my new benchmark"
seed: 42
"""

INSTRUMENT = """
import time
from contextlib import contextmanager
from typing import Dict, Any

@contextmanager
def my_custom_instrument(context: Dict[str, Any]):
    start_time = time.time()
    try:
        yield
    finally:
        end_time = time.time()
        context["my_custom_metric"] = {
            "duration": end_time - start_time,
            "memory_delta": 0,
        }
"""


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    return loaded_bench


def test_the_first_example_runs_from_its_spec_and_the_result_holds_everything_asked_for(bench: Bench) -> None:
    bench.write("my_new_benchmark.py", FIRST)
    bench.write("baseline.yaml", BASELINE)
    done = bench.dyno("run", "baseline.yaml", "--json")
    assert done.code == 0, done.err
    result = done.json
    (arm,) = result["arms"]
    assert arm["params"] == {
        "param1": 100,
        "param2": "test_value",
        "parameters": {"custom_setting": True, "test_mode": "baseline"},
    }
    assert result["status"] == "complete"
    assert (result["tags"], result["notes"]) == (["custom", "baseline"], "Baseline test for my new benchmark")
    assert arm["metrics"]["duration_s"]["n"] == 3
    assert arm["metrics"]["result.param1"]["median"] == 100
    assert arm["metrics"]["psutil.rss_peak_bytes"]["n"] == 1
    assert len(arm["samples"]) == 4
    assert result["environment"]["machine_id"]
    assert (bench.folder / "benchmarks/results/my_new_benchmark" / result["run_id"] / "result.json").is_file()


def test_lists_under_params_make_a_sweep_of_twelve_arms(bench: Bench) -> None:
    bench.write("my_new_benchmark.py", FIRST)
    bench.write("sweep.yaml", SWEEP)
    done = bench.dyno("run", "sweep.yaml", "--json")
    assert done.code == 0, done.err
    combinations = {(arm["params"]["param1"], arm["params"]["param2"]) for arm in done.json["arms"]}
    assert combinations == {(a, f"option{b}") for a in (50, 100, 200, 500) for b in (1, 2, 3)}
    assert all(arm["statuses"] == {"ok": 2} for arm in done.json["arms"])


def test_the_second_example_runs_by_file_and_name_with_parameters(bench: Bench) -> None:
    bench.write("example_benchmark.py", SECOND)
    arguments = ("example_benchmark.py@example_benchmark", "-p", "data_size=200", "--iterations", "7")
    done = bench.dyno("run", *arguments, "--json")
    assert done.code == 0, done.err
    (arm,) = done.json["arms"]
    assert arm["params"]["data_size"] == 200
    assert arm["params"]["iterations"] == 100
    assert arm["metrics"]["duration_s"]["n"] == 7
    sums = {sample["readings"]["result.result_sum"] for sample in arm["samples"]}
    assert len(sums) == 1, "setup ran once, with the run's seed"


def test_a_context_manager_that_receives_a_dict_is_an_instrument_and_gets_its_own_pass(bench: Bench) -> None:
    bench.write("example_benchmark.py", SECOND)
    bench.write("my_custom_instrument.py", INSTRUMENT)
    done = bench.dyno(
        *("run", "example_benchmark.py@example_benchmark", "--iterations", "2", "--json"),
        *("--instrument", "my_custom_instrument.py@my_custom_instrument"),
    )
    assert done.code == 0, done.err
    (arm,) = done.json["arms"]
    metrics = arm["metrics"]
    assert metrics["my_custom_instrument.my_custom_metric.duration"]["n"] == 1
    assert metrics["duration_s"]["n"] == 2
    instrumented = [sample for sample in arm["samples"] if sample["phase"] == "instrumented"]
    assert [("duration_s" in sample["readings"]) for sample in instrumented] == [False]


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_decorated_function_can_be_named_on_the_command_line(bench: Bench, kind: str) -> None:
    bench.write(
        "bench.py",
        f"""
from agentdyno import benchmark

@benchmark(name="My Custom Benchmark", iterations=12)
{kind} my_benchmark(size: int = 50):
    return {{"metric": sum(range(size))}}
""",
    )
    done = bench.dyno("run", "bench.py@my_benchmark", "-p", "size=[10,20]", "--json")
    assert done.code == 0, done.err
    assert [arm["metrics"]["result.metric"]["median"] for arm in done.json["arms"]] == [45, 190]
    assert {arm["metrics"]["duration_s"]["n"] for arm in done.json["arms"]} == {12}
