"""Trainings: they learn, they repeat bit by bit, they go on from a checkpoint, they say when they diverge."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentdyno import ExperimentContext, PluginError, SpecError
from agentdyno_workloads.rl import models
from agentdyno_workloads.rl.catalogue import ALGORITHMS
from agentdyno_workloads.rl.curves import Curve, smoothed
from agentdyno_workloads.rl.experiment import RlAlgorithm
from agentdyno_workloads.rl.training import TrainingDiverged

TIMED = ("training_s", "training_cpu_s", "tokens_per_s")


def trained(folder: Path, seed: int = 5, part: int = 0, **params: Any) -> Generator[dict[str, Any]]:
    folder.mkdir(exist_ok=True)
    experiment = RlAlgorithm(stub=True, **{"episodes": 80, "evaluate_every": 16, **params})
    return experiment.execute_once(ExperimentContext(seed=seed, part=part, artifacts_dir=folder))


def untimed(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in sample.items() if name not in TIMED} for sample in samples]


@pytest.mark.parametrize("name", ["grpo", "gspo", "ppo", "online_dpo"])
def test_learning_beats_the_warm_start_on_held_out_prompts(name: str, tmp_path: Path) -> None:
    samples = list(trained(tmp_path, algorithm=name, episodes=160))
    assert samples[0]["episodes"] == 0
    assert samples[-1]["final_reward"] > samples[0]["reward"] + 0.15


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_seed_gives_the_same_training_bit_by_bit(name: str, tmp_path: Path) -> None:
    first, second = (untimed(list(trained(tmp_path / str(i), algorithm=name, episodes=16))) for i in range(2))
    assert first == second


def test_seeds_differ_from_the_warm_start_on(tmp_path: Path) -> None:
    assert next(trained(tmp_path / "one", seed=5))["reward"] != next(trained(tmp_path / "two", seed=6))["reward"]


def test_a_training_that_was_broken_off_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    whole = untimed(list(trained(tmp_path / "whole")))
    broken = trained(tmp_path / "broken")
    begun = [next(broken) for _ in range(3)]
    broken.close()
    rest = list(trained(tmp_path / "broken", part=3))
    assert untimed(begun + rest) == whole
    assert list((tmp_path / "broken").iterdir()) == [], "a training that has ended needs no checkpoint"


def test_an_evaluation_that_nobody_stored_comes_again_without_training(tmp_path: Path) -> None:
    whole = untimed(list(trained(tmp_path / "whole")))
    broken = trained(tmp_path / "broken")
    for _ in range(3):
        next(broken)
    broken.close()
    assert untimed(list(trained(tmp_path / "broken", part=2))) == whole[2:]


def test_without_its_checkpoint_it_begins_anew_and_tells_what_is_missing(tmp_path: Path) -> None:
    whole = untimed(list(trained(tmp_path / "whole")))
    assert untimed(list(trained(tmp_path / "lost", part=4))) == whole[4:]
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "checkpoint-0.npz").write_bytes(b"no archive")
    assert untimed(list(trained(tmp_path / "damaged", part=4))) == whole[4:]


def test_a_reward_that_is_no_number_ends_the_training_with_its_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentdyno_workloads.rl.tooldesk import ToolDesk

    rewards = ToolDesk.rewards
    calls = iter(range(100))
    monkeypatch.setattr(ToolDesk, "rewards", lambda *given: rewards(*given) * (np.nan if next(calls) >= 5 else 1.0))
    samples: list[dict[str, Any]] = []
    with pytest.raises(TrainingDiverged, match=r"ppo: the loss is nan .* at update \d, episode \d+"):
        samples.extend(trained(tmp_path, algorithm="ppo", evaluate_every=8))
    assert samples


def test_a_curve_is_told_by_where_it_got_and_when() -> None:
    curve = Curve((0, 10, 20, 30, 40), (0, 80, 160, 240, 320), (0, 1, 2, 3, 4), (0.2, 0.8, 0.8, 0.8, 1.0))
    assert smoothed(curve.rewards) == pytest.approx([0.2, 0.5, 0.6, 0.8, 2.6 / 3])
    assert (str(curve.to_target()), str(curve.to_target(0.95))) == ("30", "> 40")
    assert curve.final_reward == 1.0
    straight = Curve((0, 125), (0, 1000), (0, 1), (0.2, 0.7))
    assert straight.gain_per_1000_samples == pytest.approx(0.5)
    assert straight.variation is None


def test_mistakes_name_the_nearest_or_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no algorithm is called 'ppoo'"):
        RlAlgorithm(algorithm="ppoo", stub=True)  # type: ignore[arg-type]
    with pytest.raises(SpecError) as caught:
        RlAlgorithm(model="gpt2-mediun")
    assert caught.value.remedy == "Did you mean gpt2-medium?"
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(PluginError) as missing:
        models.make_policy(models.choose_model("tiny-gpt", stub=False), RlAlgorithm(stub=True).task, 0, "cpu")
    assert "pip install torch" in (missing.value.remedy or "")
    assert "--stub" in (missing.value.remedy or "")


def test_what_is_trained_is_labelled_as_what_it_is() -> None:
    assert models.choose_model("gpt2", stub=True).label.startswith("stub: ")
    assert "random weights" in models.choose_model("gpt2-medium", stub=False).label
