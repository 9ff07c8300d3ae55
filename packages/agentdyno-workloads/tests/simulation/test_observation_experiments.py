"""The experiments about observations: what they report, and that they notice a wrong picture."""

from __future__ import annotations

import pytest

from agentdyno import Experiment, ExperimentContext, SpecError
from agentdyno_workloads.simulation.observation import CHANNELS, STORAGES
from agentdyno_workloads.simulation.observation.dense import Dense
from agentdyno_workloads.simulation.observation.flow_experiment import ObservationFlow
from agentdyno_workloads.simulation.observation.profiler import PARTS, ObservationProfiler
from agentdyno_workloads.simulation.observation.scene import Scene
from agentdyno_workloads.simulation.perception_metrics import PerceptionMetrics


def run(experiment: Experiment) -> tuple[dict[str, float], ExperimentContext]:
    context = ExperimentContext()
    experiment.setup(context)
    figures = experiment.execute_once(context)
    assert isinstance(figures, dict)
    assert set(figures) == set(experiment.metrics)
    return figures, context


@pytest.mark.parametrize("storage", STORAGES)
def test_the_flow_counts_complete_pictures_and_what_the_cache_did(storage: str) -> None:
    figures, context = run(ObservationFlow(agents=20, radius=3, storage=storage, steps=4, reads=3))  # type: ignore[arg-type]
    assert context.observed["storage"] == storage
    assert context.observed["channels"] == list(CHANNELS)
    assert context.observed["picture"] == [9, 7, 7]
    assert figures["observations"] == 4 * 20
    assert figures["observations_per_s"] > figures["with_world_per_s"] > 0
    assert min(figures["step_mean_s"], figures["step_p95_s"]) > 0
    on_demand = storage != "dense"
    assert figures["rebuilds"] == (80 if on_demand else 0)
    assert figures["cache_hits"] == (160 if on_demand else 0)
    assert figures["cache_bytes"] == (20 * 9 * 49 * 4 if on_demand else 0)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_perception_tells_the_interpolation_from_the_pictures(interpolation: str) -> None:
    figures, context = run(PerceptionMetrics(agents=40, radius=4, interpolation=interpolation, steps=3))  # type: ignore[arg-type]
    assert context.observed["interpolation"] == interpolation
    assert figures["picture_bytes"] == 9 * 81 * 4
    assert figures["bytes_per_agent"] >= figures["picture_bytes"]
    assert 0 < figures["filled_share"] < 0.5


@pytest.mark.parametrize("storage", STORAGES)
def test_the_parts_of_a_step_and_the_rest_make_up_the_step(storage: str) -> None:
    figures, _ = run(ObservationProfiler(agents=20, radius=3, storage=storage, steps=3))  # type: ignore[arg-type]
    parts = sum(figures[f"{part}_s"] for part in PARTS)
    assert parts + figures["rest_s"] == pytest.approx(figures["step_s"], abs=1e-4)
    assert figures["rest_s"] >= 0
    assert (figures["build_s"] > 0) == (storage != "dense")


def test_a_storage_that_shows_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Dense._take_up

    def wrong(self: Dense, scene: Scene) -> None:
        right(self, scene)
        self._planes.block[:, 6] *= 0.5

    monkeypatch.setattr(Dense, "_take_up", wrong)
    with pytest.raises(AssertionError, match="danger at"):
        ObservationFlow(agents=50, radius=6, steps=2).setup(ExperimentContext())


def test_pictures_that_change_between_runs_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment, context = ObservationFlow(agents=20, radius=3, steps=2), ExperimentContext()
    experiment.setup(context)
    monkeypatch.setattr(experiment, "expected", "another digest")
    with pytest.raises(AssertionError, match="other pictures"):
        experiment.execute_once(context)


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"agents": 0}, "params.agents"),
        ({"radius": -1}, "params.radius"),
        ({"steps": 0}, "params.steps"),
        ({"reads": 0}, "params.reads"),
        ({"storage": "dens"}, "params.storage"),
    ],
)
def test_bad_parameters_are_refused_before_anything_runs(wrong: dict[str, object], where: str) -> None:
    with pytest.raises(SpecError) as refused:
        ObservationFlow(**wrong)  # type: ignore[arg-type]
    assert refused.value.where == where
