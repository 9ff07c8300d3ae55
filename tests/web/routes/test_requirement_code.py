"""The code of the requirement, word for word, run over what agentdyno gives. What it leaves to be written is here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from agentdyno import RunResult, evaluate, leaderboard
from agentdyno.findings.cost.judge import cost_report
from agentdyno.findings.engine.severity import threshold_of, worsening
from agentdyno.findings.record.ask import Records
from agentdyno.load.scenarios import SCENARIOS
from agentdyno.specs import load_suite
from tests.suites import Room
from tests.workbench.answering import Answerer, ids, run

from .asking import Client, Json, Seeded, Told, client_of, new_room
from .test_profiles import told

ROOT = Path(__file__).parents[3]
GIVEN = ROOT / "tests" / "given_documents" / "agent_platform"
Names = dict[str, Any]  # what executed code defines


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    made = new_room(tmp_path_factory.mktemp("profiled"))
    with made.store:
        run(made, Told("steady", "1.0", {"c00": told(0.2)}), count=2, epochs=1)
        found = client_of(made)
        yield found
        found.app.state.services.close()


def executed(name: str, **given: object) -> Names:
    names: Names = dict(given)
    exec(compile((GIVEN / f"{name}.py.txt").read_text(), name, "exec"), names)
    return names


SUMS = """
suite_id: sums
benchmarks:
  - benchmark_id: small
    num_runs: 3
    dataset: {cases: [{id: one, input: 1 + 1, target: "2"}, {id: two, input: 2 + 2, target: "4"}]}
    scoring_rubric: exact
"""
ADDER = "def adder(text):\n    return str(sum(int(part) for part in text.split('+')))\n"


def test_the_runner_runs_a_suite_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its agent is one of ours, asked by ``evaluate`` and stored; its report is our leaderboard."""
    Runner = executed("runner", time=time, Benchmark=object, Environment=object)["BenchmarkRunner"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.yaml").write_text(SUMS)
    (tmp_path / "adder.py").write_text(ADDER)
    asked: list[str] = []

    def execute_agent(agent: str, inputs: object, configuration: Mapping[str, str]) -> RunResult:
        asked.append(configuration["store"])
        return evaluate(str(inputs), agent, store=configuration["store"], epochs=1)

    class Ours(Runner):  # type: ignore[misc, valid-type]
        def load_benchmark_suite(self, suite_id: str) -> SimpleNamespace:
            (benchmark,) = load_suite(Path(f"{suite_id}.yaml")).suite.benchmarks
            return SimpleNamespace(
                benchmarks=[
                    SimpleNamespace(
                        id=benchmark.benchmark_id,
                        num_runs=benchmark.epochs,
                        input_data=f"{suite_id}.yaml",
                        expected_outputs=[case.target for case in benchmark.cases],
                    )
                ]
            )

        def __getattr__(self, name: str) -> Any:  # the steps that the requirement only names
            return {
                "setup_environment": lambda benchmark: SimpleNamespace(configuration={"store": "sqlite:///sums.db"}),
                "execute_warmup": lambda agent, benchmark, env: execute_agent(
                    agent, benchmark.input_data, {"store": "sqlite:///warm.db"}
                ),
                "execute_agent": execute_agent,
                "capture_metrics": lambda: {"at": time.process_time()},
                "calculate_delta": lambda before, after: {"cpu_s": after["at"] - before["at"]},
                "validate_output": lambda run, expected: (
                    [sample.output for sample in run.arms[0].samples] == expected
                ),
                "should_terminate_early": lambda result, benchmark: result["status"] == "failed",
                "aggregate_runs": lambda runs: runs,
                "calculate_scores": lambda runs, benchmark: {
                    "accuracy": sum(run["output"].arms[0].scores["accuracy"] * run["validation"] for run in runs) / 3
                },
                "store_results": lambda agent, benchmark, scores: None,  # evaluate has stored them
                "generate_benchmark_report": lambda suite, agent, results: (
                    results,
                    leaderboard(suite=suite, store="sqlite:///sums.db"),
                ),
                "cleanup_environment": lambda env: None,
            }[name]

    results, board = Ours().run_benchmark_suite("sums", "adder.py@adder")
    assert results == [{"accuracy": 1.0}]
    assert asked == ["sqlite:///warm.db"] * 3 + ["sqlite:///sums.db"] * 3
    (entry,) = board.entries
    assert (entry.name, entry.scores["accuracy"].score) == ("adder", 1.0)


def test_the_detector_agrees_with_ours_about_what_became_worse(room: Room) -> None:
    Detector = executed("regressions")["RegressionDetector"]
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", wrong=ids(0, 16)), count=24)
    client = client_of(room)
    ours = client.ok("/benchmarks/agents/a/regressions")
    rows = client.ok("/benchmarks/agents/a/results", timeframe="all")["items"]
    client.app.state.services.close()
    scores = {
        version: {
            row["benchmark_id"]: {"accuracy": row["accuracy_score"]}
            for row in rows
            if row["agent_version"] == version
        }
        for version in ("1.0", "1.1")
    }

    class Detecting(Detector):  # type: ignore[misc, valid-type]
        get_latest_benchmarks = staticmethod(lambda agent, version: scores[version])
        get_baseline_performance = staticmethod(lambda agent: scores["1.0"])
        get_threshold = staticmethod(lambda metric: threshold_of({"accuracy": 0.1}, metric))
        classify_severity = staticmethod(lambda amount, metric: "critical" if amount > 0.5 else "low")
        analyze_impact = staticmethod(lambda benchmark, metric, amount: f"{metric} of {benchmark}")
        calculate_overall_health = staticmethod(lambda found: 100 - 50 * len(found))
        recommend_action = staticmethod(lambda found: "hold" if found else "go on")

        def detect_pattern_regressions(self, now: Json, before: Json) -> list[Json]:
            return []

        def calculate_regression(self, before: float, now: float, metric: str) -> float:
            return worsening(metric, before, now, higher_is_better=True).amount

    found = Detecting().detect_regressions("a", "1.1")
    assert found["has_regressions"] == ours["has_regressions"] is True
    (theirs,) = found["regressions"]
    told = next(item for item in ours["regressions"] if item["metric"] == "accuracy")
    assert set(theirs) <= set(told), "every name of theirs is one of ours"
    assert set(found) <= set(ours)
    assert theirs["baseline_value"] == told["baseline_value"]
    assert 100 * theirs["regression_percentage"] == pytest.approx(told["regression_percentage"])


def test_the_stress_tester_asks_for_scenarios_that_we_have() -> None:
    Tester = executed("stress")["StressTester"]
    named = set(re.findall(r"self\.test_(\w+)\(\)", (GIVEN / "stress.py.txt").read_text()))
    assert named <= set(SCENARIOS)

    class Testing(Tester):  # type: ignore[misc, valid-type]
        def __getattr__(self, name: str) -> Any:
            if name.startswith("test_"):
                return lambda: {"name": name.removeprefix("test_")}
            return lambda *given: name

        def execute_stress_scenario(self, agent: str, scenario: Json) -> Json:
            return {"scenario": SCENARIOS[scenario["name"]], "broke": scenario["name"] == "high_load"}

    found = Testing().run_stress_tests("a")
    assert len(found["stress_test_results"]) == 8
    assert found["stress_test_results"][0]["breaking_point"] == "identify_breaking_point"
    assert {"resilience_score", "scaling_limits", "recommendations"} <= set(found)


def test_the_cost_analyser_works_out_what_ours_does(seeded: Seeded) -> None:
    Analyzer = executed("cost")["CostEfficiencyAnalyzer"]
    report = cost_report(Records(seeded.room.store).chosen(["steady@1.0"], "room"))
    (row,) = report.rows

    class Analysing(Analyzer):  # type: ignore[misc, valid-type]
        get_possible_configurations = staticmethod(lambda: ["small", "large"])
        calculate_configuration_efficiency = staticmethod(lambda config, agent: {"small": 0.9, "large": 0.5}[config])
        estimate_savings = staticmethod(lambda config, agent: 0.25)
        get_cost_data = staticmethod(lambda agent: {"room": 2.0})

        def get_benchmark_results(self, agent: str) -> list[SimpleNamespace]:
            return [
                SimpleNamespace(id="room", name="room", success_count=row.successes, accuracy=row.accuracy, speed=1.0)
            ]

    found = Analysing().analyze_cost_efficiency("steady@1.0")
    assert found["cost_per_task"] == {"room": 2.0 / row.successes}
    assert found["performance_per_dollar"] == {"room": pytest.approx((row.accuracy or 0.0) / 2.0)}
    assert [item["configuration"] for item in found["optimal_configurations"]] == ["small"]


def test_every_endpoint_is_ours_with_its_parameters_and_defaults(seeded: Seeded) -> None:
    router = APIRouter()
    executed("endpoints", router=router, Optional=Optional, List=list)
    document = seeded.client.app.openapi()
    assert len(router.routes) == 5
    for route in router.routes:
        assert isinstance(route, APIRoute)
        operation = document["paths"][route.path][next(iter(route.methods or ())).lower()]
        ours = {item["name"]: item for item in operation["parameters"]}
        for wanted in (*route.dependant.path_params, *route.dependant.query_params):
            assert wanted.name in ours, (route.path, wanted.name)
            default = ours[wanted.name]["schema"].get("default")
            if default is not None and not wanted.field_info.is_required():
                assert default == wanted.default, (route.path, wanted.name)
        if route.dependant.body_params:
            assert operation["requestBody"]["content"]["application/json"]


def test_the_comparator_takes_our_results_and_names_the_same_fields(seeded: Seeded, tmp_path: Path) -> None:
    """Run by the Node of the development environment, which takes the types away by itself."""
    sent = {"json": ["steady@1.0", "weak"], "params": {"suite_id": "room"}}
    ours = seeded.client.send("POST", "/benchmarks/compare", **sent).json()
    results = {
        agent: {item["metric"]: item[f"agent_{side}_score"] for item in ours["detailed_metrics"]}
        for side, agent in (("a", "steady@1.0"), ("b", "weak@1.0"))
    }
    driver = f"""
const known = {json.dumps(results)};
class Ours extends HeadToHeadComparator {{
  getBenchmarkResults(agent) {{ return known[agent]; }}
  calculateSignificance() {{ return 0.5; }}
  generateRecommendations() {{ return []; }}
}}
console.log(JSON.stringify(new Ours().compareAgents("steady@1.0", "weak@1.0", "room")));
"""
    program = tmp_path / "comparator.mts"
    program.write_text((GIVEN / "head_to_head.ts.txt").read_text() + driver)
    node = Path(sys.prefix) / "bin" / "node"
    done = subprocess.run([node, "--no-warnings", program], capture_output=True, text=True, check=True, timeout=60)
    theirs = json.loads(done.stdout)
    assert set(theirs) <= set(ours)
    assert set(theirs["detailed_metrics"][0]) == set(ours["detailed_metrics"][0])
    first, mine = theirs["detailed_metrics"][0], ours["detailed_metrics"][0]
    assert {**first, "winner": None} == {**mine, "winner": None}


def fields_of(interface: str) -> dict[str, Any]:
    """The fields of a TypeScript interface, nested ones as mappings; optional ones are left out."""
    position = 0

    def body() -> dict[str, Any]:
        nonlocal position
        found: dict[str, Any] = {}
        while True:
            match = re.compile(r"\s*(?:(\w+)(\??):\s*(?:(\{)|([^;{]*;))|(\})[^;\n]*;?)").match(interface, position)
            assert match is not None, interface[position : position + 60]
            position = match.end()
            if match[5]:
                return found
            inner = body() if match[3] else {}
            if not match[2]:
                found[match[1]] = inner

    position = interface.index("{") + 1
    return body()


def lacks(wanted: dict[str, Any], answer: Any, where: str = "") -> list[str]:
    """The names of the interface that an answer does not have."""
    if isinstance(answer, list):
        return lacks(wanted, answer[0], where) if answer else []
    return [
        path
        for name, inner in wanted.items()
        for path in ([f"{where}.{name}"] if name not in answer else lacks(inner, answer[name], f"{where}.{name}"))
    ]


def test_the_suite_has_every_field_of_the_interface(seeded: Seeded) -> None:
    wanted = fields_of((GIVEN / "suite.ts.txt").read_text())
    assert {"suite_id", "benchmarks", "baseline_scores", "version", "created_at"} <= set(wanted)
    assert {"metrics_measured", "dataset", "constraints", "scoring_rubric"} <= set(wanted["benchmarks"])
    assert lacks(wanted, seeded.client.ok("/api/suites/room")) == []


def test_the_profile_has_every_field_of_the_interface(profiled: Client) -> None:
    wanted = fields_of((GIVEN / "profile.ts.txt").read_text())
    used = wanted["profile_data"]["resource_utilization"]
    assert {"cpu_efficiency", "memory_efficiency", "io_efficiency", "parallelization_score"} == set(used)
    for profile in profiled.ok("/api/profiles", subject="steady")["profiles"]:
        assert lacks(wanted, profile) == []


def test_every_component_of_the_dashboard_is_there_under_its_name() -> None:
    named = set(re.findall(r"<([A-Z]\w+)", (GIVEN / "dashboard.tsx.txt").read_text())) - {"string"}
    files = (ROOT / "dashboard" / "src").rglob("*.tsx")
    ours = {name for file in files for name in re.findall(r"export function (\w+)", file.read_text())}
    assert named
    assert named <= ours
