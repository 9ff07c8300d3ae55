"""The page of results: written from runs, each of them named; refused where one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_report import FAST, MAKE, SLOW, arm, framework

from agentdyno import RunError
from agentdyno_workloads.rl.results import page
from agentdyno_workloads.rl.results.tuning import tuning_document
from agentdyno_workloads.rl.tuned import settings_for, tuned


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
    for item in arms:
        item.params["stub"] = True  # type: ignore[index]
    document = tuning_document(MAKE.result(arms, "tuning"), {"tiny-gpt": tuned()["tiny-gpt"]})
    chosen = document["chosen"]
    assert isinstance(chosen, dict)
    assert chosen["numpy"] == {"grpo": {"learning_rate": 0.006, "clip": 0.2, "beta": 0.0}}
    assert "tiny-gpt" in chosen
    other = arm("ppo", FAST, beta=0.0)
    other.params["stub"] = True  # type: ignore[index]
    with pytest.raises(RunError, match="did not have equal budgets"):
        tuning_document(MAKE.result([*arms, other], "tuning"), {})


def test_what_a_user_gives_goes_before_what_was_tuned_and_large_models_take_smaller_steps() -> None:
    given = settings_for("gspo", "numpy", 10, {"learning_rate": None, "clip": 0.3, "beta": None})
    assert (given.loss.clip, given.optimiser.learning_rate) == (0.3, tuned()["numpy"]["gspo"]["learning_rate"])
    assert settings_for("gspo", "gpt2", 10, {}).optimiser.learning_rate == 1e-4
