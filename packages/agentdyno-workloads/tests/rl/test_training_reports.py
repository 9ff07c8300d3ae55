"""The files of a run of trainings: names, censored times, tests, rankings, pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.given_results import Factory

from agentdyno import CensoredValue, RunError
from agentdyno.model import ArmResult, Failure, FailureKind, Phase, Sample, Status
from agentdyno_workloads.rl.results import page
from agentdyno_workloads.rl.results.figures import compare_times, over_seeds, show_times, trained_arms
from agentdyno_workloads.rl.results.frameworks import advice, framework_arms
from agentdyno_workloads.rl.results.rankings import grid_of
from agentdyno_workloads.rl.results.report import RlReporter
from agentdyno_workloads.rl.results.tuning import tuning_document
from agentdyno_workloads.rl.tuned import settings_for, tuned

MAKE = Factory()


def training(arm_id: str, iteration: int, rewards: list[float], failure: Failure | None = None) -> list[Sample]:
    """Evaluations every 100 episodes; with a ``failure`` behind them where it broke off."""
    samples = []
    for part, reward in enumerate(rewards):
        numbers = {"episodes": 100.0 * part, "samples": 800.0 * part, "training_s": 1.0 * part, "reward": reward}
        if part == len(rewards) - 1 and failure is None:
            numbers["final_reward"] = reward
        readings = {f"result.{name}": value for name, value in numbers.items()} | {"peak_rss_bytes": 50.0 * 2**20}
        samples.append(Sample(arm_id, Phase.MEASURED, iteration, Status.OK, 0, readings, part=part))
    if failure is not None:
        samples.append(Sample(arm_id, Phase.MEASURED, iteration, Status.ERROR, 0, part=len(rewards), failure=failure))
    return samples


def arm(name: str, curves: list[list[float]], broken: Failure | None = None, **observed: float) -> ArmResult:
    samples = [s for i, c in enumerate(curves) for s in training(name, i, c, broken if i == 0 else None)]
    seen: dict[str, Any] = {"model": "stub", "learning_rate": 0.006, "clip": 0.2, **observed}
    return ArmResult(
        name,
        f"rl_algorithm algorithm={name}",
        "rl_algorithm",
        {"algorithm": name},
        observed=seen,
        samples=tuple(samples),
    )


FAST = [[0.2, 0.9, 0.9, 0.9, 0.9]] * 4
SLOW = [[0.2, 0.3, 0.4, 0.4, 0.4]] * 4


def test_the_files_have_the_names_that_users_know_and_never_average_what_was_not_reached(tmp_path: Path) -> None:
    run = MAKE.result([arm("grpo", FAST), arm("dpo", SLOW)], "algorithms")
    written = {path.name for path in RlReporter().write(MAKE.report(run), tmp_path)}
    stamped = {name for name in written if name.startswith("grpo_benchmark_results_")}
    assert len(stamped) == 1
    assert written - stamped == {
        "algorithm_comparison.json",
        "algorithm_comparison.md",
        "learning_curves.png",
        "reward_by_samples.png",
        "reward_by_seconds.png",
    }
    document = json.loads((tmp_path / "algorithm_comparison.json").read_text())
    grpo, dpo = document["algorithms"]
    assert dpo["episodes_to_target"][0] == {"value": 400.0, "reached": False, "shown": "> 400"}
    assert (grpo["episodes_to_target_shown"], dpo["episodes_to_target_shown"]) == (
        "300 [300, 300] (4 of 4)",
        "> 400 (0 of 4)",
    )
    assert grpo["figures"]["final_reward"]["mean"] == pytest.approx(0.9)
    assert "episodes_to_target" not in grpo["figures"]
    only = json.loads(next(tmp_path.glob("grpo_benchmark_results_*.json")).read_text())
    assert [item["algorithm"] for item in only["algorithms"]] == ["grpo"]
    text = (tmp_path / "algorithm_comparison.md").read_text()
    assert "| dpo | 0.006 | 0.2 | > 400 (0 of 4) |" in text


def test_pairs_are_compared_by_the_log_rank_test_and_corrected() -> None:
    arms = trained_arms(MAKE.result([arm("grpo", FAST), arm("gspo", FAST), arm("dpo", SLOW)]))
    same, *others = compare_times(arms)
    assert (same.log_rank_p, same.verdict) == (None, "nobody reached the target") or same.adjusted_p == pytest.approx(
        1
    )
    assert all(pair.log_rank_p is not None and pair.log_rank_p < 0.05 for pair in others)
    assert all(pair.adjusted_p is not None and pair.adjusted_p >= (pair.log_rank_p or 0) for pair in others)


def test_a_training_that_diverged_is_told_with_its_step_and_left_out_of_means(tmp_path: Path) -> None:
    broken = Failure(FailureKind.EXCEPTION, "TrainingDiverged: ppo: the loss is nan at update 17, episode 136")
    run = MAKE.result([arm("ppo", [[0.2, 0.1], *FAST], broken)])
    (ppo,) = trained_arms(run)
    assert [value.reached for value in ppo.to_target()] == [False, True, True, True, True]
    estimate = ppo.estimates()["final_reward"]
    assert estimate is not None
    assert estimate.seeds == 4
    RlReporter().write(MAKE.report(run), tmp_path)
    assert "- ppo, seed 0: error: TrainingDiverged" in (tmp_path / "algorithm_comparison.md").read_text()


def test_rankings_that_change_with_the_settings_are_marked(tmp_path: Path) -> None:
    arms = []
    for clip, first in ((0.05, FAST), (0.2, FAST), (0.4, SLOW)):
        arms += [arm("grpo", first, clip=clip), arm("ppo", [[0.2, 0.5, 0.6, 0.6, 0.6]] * 2, clip=clip)]
    run = MAKE.result(arms)
    grid = grid_of(trained_arms(run))
    assert grid is not None
    assert [grid.changed(0.006, clip) for clip in (0.05, 0.2, 0.4)] == [False, False, True]
    RlReporter().write(MAKE.report(run), tmp_path)
    assert "**changed:** ppo 0.60, grpo 0.40" in (tmp_path / "algorithm_comparison.md").read_text()
    assert (tmp_path / "ranking_by_settings.png").exists()


def test_the_median_of_censored_values_is_shown_with_how_many_got_there() -> None:
    values = [CensoredValue(v, reached=True) for v in (100, 200, 300)] + [CensoredValue(1000, reached=False)] * 4
    assert show_times(values) == "> 1000 [100, > 1000] (3 of 7)"
    assert show_times([]) == "-"


def test_one_seed_has_no_interval() -> None:
    one = over_seeds([0.5])
    assert one is not None
    assert (one.show(), one.low) == ("0.5", None)
    assert over_seeds([None, float("nan")]) is None


def framework(name: str, reward: float, speed: float, works: Mapping[str, bool | None]) -> ArmResult:
    readings = {"result.reward": reward, "result.samples_per_cpu_s": speed, "result.integration_lines": 60.0}
    tried = {key: {"works": value, "detail": "tried"} for key, value in works.items()}
    sample = Sample(name, Phase.MEASURED, 0, Status.OK, 0, readings, output={"features": tried})
    return ArmResult(name, name, "rl_framework", {"framework": name}, samples=(sample,))


def test_frameworks_are_scored_by_what_worked_and_advice_says_what_was_measured(tmp_path: Path) -> None:
    own = framework("own", 0.9, 700.0, {"resume": True, "multi_turn": True, "multi_process_rollout": None})
    rllib = framework("rllib", 0.7, 75.0, {"resume": False, "multi_turn": True, "multi_process_rollout": True})
    run = MAKE.result([own, rllib], "frameworks")
    arms = framework_arms(run)
    assert [item.working for item in arms] == [2, 2]
    told = advice(arms)
    assert "- For the most samples per CPU second: own." in told
    assert "- Where resume is needed: own (it worked when tried)." in told
    written = {path.name for path in RlReporter().write(MAKE.report(run), tmp_path)}
    assert written == {"framework_comparison.json", "framework_comparison.md"}
    text = (tmp_path / "framework_comparison.md").read_text()
    assert "| resume | yes | no |" in text
    assert "| multi process rollout | not tried | yes |" in text


def test_every_section_names_its_run_and_pictures_are_drawn(tmp_path: Path) -> None:
    runs = [
        MAKE.result([arm("grpo", FAST), arm("dpo", SLOW)], "algorithms"),
        MAKE.result(
            [arm(n, c, clip=clip) for clip in (0.1, 0.2) for n, c in (("grpo", FAST), ("ppo", SLOW))], "tuning"
        ),
        MAKE.result([framework("own", 0.9, 700.0, {"resume": True})], "frameworks"),
    ]
    text = page.write_page(runs, tmp_path)
    assert text.count(f"Run `{runs[0].run_id}`") == 3
    assert "| dpo | 0.006 | 0.2 | > 400 (0 of 4) |" in text
    assert "differs from the most common one at 0 of 2 places" in text
    assert "| resume | yes |" in text
    assert {path.name for path in tmp_path.iterdir()} == {"rl_curves_stub.png", "rl_ranking.png"}


def test_missing_runs_are_named_with_the_script_that_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_runs", lambda _: iter([MAKE.result([arm("grpo", FAST)], "algorithms")]))
    with pytest.raises(RunError, match="no complete run of frameworks, tuning") as caught:
        page.newest_runs(["sqlite:///one.db"])
    assert "rl_results.sh" in (caught.value.remedy or "")


def test_tuning_chooses_the_highest_curve_and_refuses_unequal_budgets() -> None:
    low = [[0.2, 0.3, 0.3]] * 2
    arms = [arm("grpo", low, clip=0.1, beta=0.0), arm("grpo", FAST, clip=0.2, beta=0.0)]
    arms = [replace(item, params={**item.params, "stub": True}) for item in arms]
    document = tuning_document(MAKE.result(arms, "tuning"), {"tiny-gpt": tuned()["tiny-gpt"]})
    chosen = document["chosen"]
    assert isinstance(chosen, dict)
    assert chosen["numpy"] == {"grpo": {"learning_rate": 0.006, "clip": 0.2, "beta": 0.0}}
    assert "tiny-gpt" in chosen
    other = replace(arm("ppo", FAST, beta=0.0), params={"algorithm": "ppo", "stub": True})
    with pytest.raises(RunError, match="did not have equal budgets"):
        tuning_document(MAKE.result([*arms, other], "tuning"), {})


def test_what_a_user_gives_goes_before_what_was_tuned_and_large_models_take_smaller_steps() -> None:
    given = settings_for("gspo", "numpy", 10, {"learning_rate": None, "clip": 0.3, "beta": None})
    assert (given.loss.clip, given.optimiser.learning_rate) == (0.3, tuned()["numpy"]["gspo"]["learning_rate"])
    assert settings_for("gspo", "gpt2", 10, {}).optimiser.learning_rate == 1e-4
