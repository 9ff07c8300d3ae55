"""The recommended configuration follows from a stored run, and changes with it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentdyno import RunError, Verdict, run_spec
from agentdyno_workloads.simulation import recommend
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.recommend import (
    PersistSaving,
    StorageRecommendation,
    configure_for_performance_with_persistence,
    derive,
    get_recommended_config,
    recommendation,
)
from agentdyno_workloads.simulation.run_with_recommended_config import main as run_recommended


def stored(folder: Path, monkeypatch: pytest.MonkeyPatch, *, in_memory: bool) -> None:
    one = {
        "run_id": "01a1e050-a149-7cb7",
        **{"agents": 200, "steps": 100, "ratio": 0.75, "interval": [0.7, 0.8], "verdict": "better"},
        **{"baseline_s": 0.4, "candidate_s": 0.3, "samples": 30},
    }
    file = folder / "recommendation.json"
    file.write_text(json.dumps({"in_memory": in_memory, "measured": [one], "machine_id": "m"}))
    monkeypatch.setattr(recommend, "STORED", file)


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_configuration_is_what_the_measurement_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    stored(tmp_path, monkeypatch, in_memory=in_memory)
    config = configure_for_performance_with_persistence(SimulationConfig(agents=7))
    assert (config.agents, config.database) == (7, "simulation.db")
    assert config.use_in_memory_db is config.persist_db_on_completion is in_memory
    assert get_recommended_config(num_agents=30, num_steps=100).use_in_memory_db is in_memory


def test_the_recommendation_is_told_with_its_gain_interval_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path, monkeypatch, in_memory=True)
    told = str(recommendation())
    assert "in memory, persisted at the end" in told
    assert "200 agents × 100 steps: +25.0% [+20.0%, +30.0%], run 01a1e050-a149" in told


def test_the_shipped_recommendation_can_be_read() -> None:
    shipped = recommendation()
    assert len({(item.agents, item.steps) for item in shipped.measured}) == 2
    for item in shipped.measured:
        assert item.interval[0] <= item.ratio <= item.interval[1]
        assert item.samples >= 6


def test_without_a_measurement_there_is_no_recommendation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recommend, "STORED", tmp_path / "missing.json")
    with pytest.raises(RunError) as caught:
        recommendation()
    assert "memory_db_baseline" in (caught.value.remedy or "")


def test_it_is_derived_from_a_run_size_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = f"sqlite:///{tmp_path / 'dyno.db'}"
    spec = {
        "experiment": "memory_db",
        "params": {"mode": ["disk", "memory_persist"], "agents": [5, 8], "steps": 3},
        "iterations": {"warmup": 0, "measured": 12},
        "isolation": "inline",
    }
    result = run_spec(spec, store=store, output_dir=str(tmp_path / "runs"))
    found = derive(result, store)
    assert [(item.agents, item.steps, item.samples) for item in found.measured] == [(5, 3, 12), (8, 3, 12)]
    assert found.in_memory == all(item.verdict == "better" for item in found.measured)
    assert found.machine_id == result.environment.machine_id
    assert all(item.interval[0] <= item.ratio <= item.interval[1] for item in found.measured)
    monkeypatch.setattr(recommend, "STORED", tmp_path / "recommendation.json")
    recommend.main([result.run_id, "--store", store])
    assert recommendation() == found


def test_a_run_of_something_else_gives_none(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'dyno.db'}"
    spec = {"experiment": "busy", "iterations": {"warmup": 0, "measured": 1}, "isolation": "inline"}
    result = run_spec(spec, store=store, output_dir=str(tmp_path / "runs"))
    with pytest.raises(RunError, match="does not compare disk with memory_persist"):
        derive(result, store)


@pytest.mark.parametrize(
    ("verdicts", "in_memory"),
    [
        ((Verdict.BETTER, Verdict.BETTER), True),
        ((Verdict.BETTER, Verdict.INCONCLUSIVE), False),
        ((Verdict.WORSE, Verdict.BETTER), False),
    ],
)
def test_the_history_is_kept_in_memory_where_every_size_was_faster_so(
    verdicts: tuple[Verdict, ...], in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter(verdicts)

    def compared(baseline: str, candidate: str, *, store: str | None) -> SimpleNamespace:
        assert (baseline[:8], candidate[:8]) == ("run:disk", "run:memo")
        row = SimpleNamespace(
            metric=SimpleNamespace(name="duration_s"),
            **{"ratio": 0.9, "interval": (0.8, 0.95), "verdict": next(told)},
            **{"baseline": 1.0, "candidate": 0.9, "candidate_n": 30},
        )
        return SimpleNamespace(arms=(SimpleNamespace(metrics=(row,)),))

    arms = [
        SimpleNamespace(arm_id=f"{mode}-{agents}", name=mode, params={"mode": mode, "agents": agents, "steps": 9})
        for mode in ("disk", "memory_persist")
        for agents in (10, 20)
    ]
    monkeypatch.setattr(recommend, "compare", compared)
    result = SimpleNamespace(run_id="run", arms=arms, environment=SimpleNamespace(machine_id="m"))
    assert derive(result).in_memory is in_memory  # type: ignore[arg-type]


def test_too_few_samples_give_no_recommendation(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'dyno.db'}"
    spec = {
        "experiment": "memory_db",
        "params": {"mode": ["disk", "memory_persist"], "agents": 5, "steps": 2},
        "iterations": {"warmup": 0, "measured": 2},
        "isolation": "inline",
    }
    result = run_spec(spec, store=store, output_dir=str(tmp_path / "runs"))
    with pytest.raises(RunError, match="too few samples"):
        derive(result, store)


def test_one_size_in_doubt_keeps_the_history_on_disk() -> None:
    measured = PersistSaving("run", 1, 1, 1.25, (1.1, 1.4), "worse", 1.0, 1.25, 10)
    assert measured.gain == pytest.approx(-0.25)
    assert "Keep the history on disk" in str(StorageRecommendation(False, (measured,)))


def test_a_run_with_the_recommended_configuration_leaves_its_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path, monkeypatch, in_memory=True)
    folder = tmp_path / "results"
    assert run_recommended(["--steps", "4", "--agents", "6", "--output", str(folder)]) == 0
    with closing(sqlite3.connect(folder / "simulation.db")) as link:
        assert link.execute("SELECT count(*) FROM steps").fetchone() == (4,)
    assert "4 steps in" in capsys.readouterr().out
    assert run_recommended(["--agents", "0"]) == 2
    assert "error: params.agents" in capsys.readouterr().err
