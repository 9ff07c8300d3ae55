"""Frameworks that need nothing installed: they train for real in processes of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentdyno import ExperimentContext, PluginError, SpecError
from agentdyno_workloads.rl.frameworks import environments
from agentdyno_workloads.rl.frameworks.environments import (
    FRAMEWORKS,
    framework_named,
    integration_lines,
    interpreter_of,
)
from agentdyno_workloads.rl.frameworks.experiment import FEATURES, RlFramework
from agentdyno_workloads.rl.frameworks.process import FrameworkFailed


def trained(folder: Path, name: Any, iteration: int = 0, **params: Any) -> dict[str, Any]:
    experiment = RlFramework(framework=name, stub=True, **{"samples": 128, **params})
    context = ExperimentContext(seed=7, iteration=iteration, artifacts_dir=folder)
    (sample,) = experiment.execute_once(context)
    return {**sample, "observed": context.observed}


def test_ours_trains_and_every_feature_that_it_claims_has_been_tried(tmp_path: Path) -> None:
    sample = trained(tmp_path, "own")
    works = {name: row["works"] for name, row in sample["features"].items()}
    assert works == dict.fromkeys(FEATURES, True) | {"multi_process_rollout": None}
    assert sample["features_working"] == 5
    assert (sample["samples"], sample["observed"]["parameters"]) == (128, 34_587)
    assert sample["samples_per_cpu_s"] > 0
    assert sample["all_processes_bytes"] > 2**20
    assert 0 <= sample["reward"] <= 1


def test_the_one_by_hand_trains_too_and_features_are_tried_with_the_first_seed_only(tmp_path: Path) -> None:
    sample = trained(tmp_path, "custom", iteration=1)
    assert "features" not in sample
    assert sample["samples"] == 128
    assert sample["first_update_s"] > 0


def test_a_framework_that_dies_is_an_error_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no such module: trl')")
    monkeypatch.setattr(environments.TrainingFramework, "integration", broken)
    with pytest.raises(FrameworkFailed, match="own ended with status 1: no such module: trl"):
        trained(tmp_path, "own")


def test_an_unknown_framework_is_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError) as caught:
        framework_named("rlib")
    assert caught.value.remedy == "Did you mean rllib?"


def test_an_environment_that_cannot_be_made_is_told_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def offline(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        failed = "pip" in command
        return subprocess.CompletedProcess(
            command, int(failed), "", "ERROR: No matching distribution found for trl\n"
        )

    monkeypatch.setattr(subprocess, "run", offline)
    with pytest.raises(PluginError, match="the environment of trl cannot be made: ERROR: No matching") as caught:
        interpreter_of(FRAMEWORKS["trl"], stub=False)
    assert "pip install -r" in (caught.value.remedy or "")
    with pytest.raises(SpecError, match="there is no interpreter at"):
        interpreter_of(FRAMEWORKS["trl"], stub=False, environment=str(tmp_path / "none"))


def test_lines_of_integration_are_counted_from_the_files_that_run() -> None:
    counts = {name: integration_lines(item) for name, item in FRAMEWORKS.items()}
    assert all(20 < count < 150 for count in counts.values())
    assert counts["own"] == min(counts.values())


def test_requirements_are_pinned() -> None:
    for item in FRAMEWORKS.values():
        if item.pinned is not None:
            assert all("==" in line for line in item.pinned.read_text().split())
