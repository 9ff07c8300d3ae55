"""Arm ids, digests and trial keys: stored runs are found and gone on with by these."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from agentdyno import AgentUse, Suite
from agentdyno.specs import load_suite, plan_suite

from .asking import Project
from .golden import DATA, check, check_json
from .plain import rounded

EXPERIMENTS: dict[str, tuple[str, ...]] = {
    "cartesian": ("cartesian.yaml",),
    "cartesian-sides": ("cartesian.yaml", "--against", "size=50"),
    "cartesian-changed": ("cartesian.yaml", "-p", "size=5", "--iterations", "1", "--seed", "0"),
    "zipped": ("zipped.yaml",),
    "drawn": ("drawn.yaml",),
    "drawn-quick": ("drawn.yaml", "--quick"),
    "several": ("several.yaml",),
    "registered": ("registered.yaml",),
    "a-name": ("busy", "-p", "rounds=[1,2]", "--iterations", "1"),
}
SUITES: dict[str, tuple[str, ...]] = {
    "minimal": ("minimal.yaml",),
    "many": ("many.yaml",),
    "many-quick": ("many.yaml", "--quick"),
    "many-chosen": ("many.yaml", "--benchmark", "sums", "--case", "b", "--epochs", "2"),
    "many-sides": ("many.yaml", "--agent", "work.py@echo", "--against", "rules", "--limit", "3"),
    "agents": ("agents.yaml",),
}
LOADS: dict[str, tuple[str, ...]] = {
    "rate": ("rate.yaml",),
    "rate-quick": ("rate.yaml", "--quick"),
    "scenarios": ("scenarios.yaml",),
    "stages": ("stages.yaml",),
    "limit": ("limit.yaml",),
}


@pytest.fixture
def specs(project: Project) -> Project:
    shutil.copytree(DATA / "specs", project.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return project


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_planned_as_before(name: str, specs: Project) -> None:
    plan = json.loads(specs.text("run", *EXPERIMENTS[name], "--dry-run", "--json"))
    lines = [*_arms(plan["arms"]), "", *map(_trial, plan["trials"])]
    check(f"identities/{name}.txt", "\n".join(lines))
    check_json(f"identities/{name}.spec.json", rounded(plan["spec"]))


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_is_planned_as_before(name: str, specs: Project) -> None:
    plan = json.loads(specs.text("run", *SUITES[name], "--dry-run", "--json"))
    check(f"identities/{name}.txt", "\n".join(_arms(plan["arms"])))
    check_json(f"identities/{name}.suite.json", rounded({"expected": plan["expected"], **plan["suite"]}))


@pytest.mark.parametrize("name", ["minimal", "many"])
def test_the_trials_of_a_suite_are_those_of_before(name: str, specs: Project) -> None:
    suite: Suite = load_suite(specs.folder / f"{name}.yaml").suite
    agents = [(AgentUse("echo", "work.py@echo"), "1"), (AgentUse("gpt", "openai:gpt-5-mini"), "5")]
    lines = [f"suite {suite.digest}", *(f"benchmark {item.digest} {item.benchmark_id}" for item in suite.benchmarks)]
    for by_case in (False, True):
        plan = plan_suite(suite, agents, seed=11, paid={"gpt": True}, by_case=by_case)
        lines += ["", "case by case" if by_case else "epoch by epoch"]
        lines += [f"{arm.arm_id} warm-ups {plan.warmups[arm.arm_id]} {arm.name}" for arm in plan.arms]
        lines += [f"{trial.key} seed {trial.seed}" for trial in plan.trials]
    check(f"identities/{name}.trials.txt", "\n".join(lines))


@pytest.mark.parametrize("name", LOADS)
def test_a_load_is_planned_as_before(name: str, specs: Project) -> None:
    plan = json.loads(specs.text("run", *LOADS[name], "--dry-run", "--json"))
    check_json(f"identities/load-{name}.json", rounded(plan))


def test_a_load_file_is_written_as_before(project: Project) -> None:
    said = project.text(
        *("load", "http://127.0.0.1:9/v1", "--model", "m", "--shape", "ramp", "--rate", "10", "--to", "200"),
        *("--duration", "60", "--header", "x-a: b", "--tag", "nightly", "--slo", "ttft<1s", "--print-spec"),
    )
    check("identities/load.yaml", said)


def _arms(arms: list[dict[str, Any]]) -> list[str]:
    return [
        " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in row["arm"].items())
        + f" measured={row['measured']}"
        for row in arms
    ]


def _trial(trial: dict[str, Any]) -> str:
    key = "/".join(str(trial[name]) for name in ("arm_id", "phase", "iteration", "case_id", "instrument"))
    return f"{key} seed {trial['seed']} process {trial['process']}"
