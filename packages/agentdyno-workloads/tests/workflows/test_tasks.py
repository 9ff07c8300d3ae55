"""The tasks: data from a seed, a check that only the right state passes, a reference plan that solves each."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentdyno import Case, Dataset, FinalState, NotAsAsked, RunResult, Suite, evaluate
from agentdyno_workloads.workflows.catalogue import TASKS, cases, task_named
from agentdyno_workloads.workflows.presets import REFERENCE
from agentdyno_workloads.workflows.task import TIERS, WorkflowTask
from agentdyno_workloads.workflows.tasks.rna import STAND_IN, make_rnaseq_kallisto

SUITES = Path(importlib.import_module("agentdyno_workloads.workflows").__path__[0]) / "suites"


def made(task: WorkflowTask, folder: Path, seed: int) -> dict[str, str]:
    folder.mkdir()
    function(task, "make")(folder, seed)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def function(task: WorkflowTask, kind: str) -> Any:
    workflow = task.case()["metadata"]["workflow"]  # type: ignore[index]
    module, _, name = workflow[kind].partition(":")
    return getattr(importlib.import_module(module), name)


def test_there_are_tasks_in_three_tiers_and_some_with_traps() -> None:
    assert len(TASKS) >= 12
    assert {task.tier for task in TASKS} == set(TIERS)
    assert sum(bool(task.trap) for task in TASKS) >= 2
    assert sum(len(list(cases(tier))) for tier in TIERS) == len(TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_data_follow_from_the_seed_and_the_beginning_is_not_the_end(task: WorkflowTask, tmp_path: Path) -> None:
    first, again = made(task, tmp_path / "a", 1), made(task, tmp_path / "b", 1)
    assert first == again
    assert first != made(task, tmp_path / "c", 2)
    with pytest.raises(NotAsAsked):
        function(task, "check")(FinalState(tmp_path / "a"), 1)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = tmp_path_factory.mktemp("solved")
    return evaluate(
        SUITES / "all.yaml", [REFERENCE], store=f"sqlite:///{folder / 'store.db'}", output_dir=str(folder / "runs")
    )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_reference_planner_passes(task: WorkflowTask, solved: RunResult) -> None:
    [sample] = [item for arm in solved.arms for item in arm.samples if item.case_id == task.id]
    assert sample.scores["score"] == 1.0, sample.details.get("scoring")
    assert sample.readings["commands.dangerous"] == 0


@pytest.mark.parametrize("tier", TIERS)
def test_a_suite_of_each_tier_has_its_tasks(tier: str, solved: RunResult) -> None:
    assert isinstance(solved.suite, Suite)
    own = [case.id for case in solved.suite.benchmark(tier).cases]
    assert own == [task.id for task in TASKS if task.tier == tier]
    assert (SUITES / f"{tier}.yaml").is_file()


def test_the_stand_in_for_kallisto_counts_reads(tmp_path: Path) -> None:
    make_rnaseq_kallisto(tmp_path, 7)
    command = [sys.executable, str(STAND_IN), "transcripts.fa", "reads.fastq", "quant/abundance.tsv"]
    subprocess.run(command, cwd=tmp_path, check=True)
    function(task_named("rnaseq-kallisto"), "check")(FinalState(tmp_path), 7)


def test_the_tasks_are_a_data_set_that_others_may_use() -> None:
    assert [case.id for case in Dataset(Case(**row) for row in cases()).cases] == [task.id for task in TASKS]  # type: ignore[arg-type]
