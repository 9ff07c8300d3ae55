"""The experiments on indexes: they measure what they say, and an index that errs is found out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agentdyno import ExperimentContext, SpecError
from agentdyno_workloads.simulation.spatial import Floats, Ints, make_index
from agentdyno_workloads.simulation.spatial import work as spatial_work
from agentdyno_workloads.simulation.spatial.experiments import (
    SpatialComprehensive,
    SpatialIndexProfiler,
    SpatialMemoryProfiler,
    SpatialPerformanceAnalyzer,
)
from agentdyno_workloads.simulation.spatial.hash_grid import HashGrid
from agentdyno_workloads.simulation.spatial.work import OPERATIONS, make_task, perform, prove, timed
from agentdyno_workloads.simulation.timing import growth, mean_and_p95

Spatial = SpatialComprehensive | SpatialIndexProfiler | SpatialMemoryProfiler | SpatialPerformanceAnalyzer


def once(experiment: Spatial) -> tuple[dict[str, Any], dict[str, Any]]:
    """What one execution returns, and what was observed."""
    context = ExperimentContext()
    experiment.setup(context)
    figures = experiment.execute_once(context)
    experiment.teardown(context)
    return figures, context.observed


@pytest.mark.parametrize("world", ["uniform", "clustered", "linear", "sparse"])
def test_all_operations_are_timed_in_every_world(world: Any) -> None:
    figures, observed = once(SpatialComprehensive("hash_grid", world, points=80, queries=10))
    assert {f"{operation}_s" for operation in OPERATIONS} < set(figures)
    assert set(figures) == set(SpatialComprehensive.metrics)
    assert all(figures[f"{operation}_s"] > 0 for operation in OPERATIONS)
    assert observed == {"index": "HashGrid"}


def test_every_index_gives_as_many_answers() -> None:
    names: tuple[Any, ...] = ("brute", "hash_grid", "kd_tree", "quad_tree", "scipy")
    told = {name: once(SpatialComprehensive(name, points=120, queries=15))[0]["answers"] for name in names}
    assert len(set(told.values())) == 1, told


@pytest.mark.parametrize("operation", OPERATIONS)
def test_one_operation_is_counted_by_what_it_is_about(operation: Any) -> None:
    figures, _ = once(SpatialIndexProfiler("kd_tree", operation, points=60, queries=7))
    # Neighbours of seven places, five each; the tree of 60 points.
    assert operation != "nearest" or figures["answers"] == 35
    assert operation != "build" or figures["answers"] == 60
    assert figures["per_s"] > 0


def test_memory_is_that_of_the_index_and_of_the_way_there() -> None:
    figures, _ = once(SpatialMemoryProfiler("hash_grid", points=500, queries=20))
    assert figures["bytes_per_point"] == figures["index_bytes"] / 500
    # Two coordinates of eight bytes for each point at the least.
    assert figures["bytes_per_point"] >= 16
    assert figures["build_peak_bytes"] > 0
    assert figures["query_peak_bytes"] > 0


def test_growth_is_told_for_every_index_with_ratios_to_scipy_in_the_same_iteration() -> None:
    figures, observed = once(SpatialPerformanceAnalyzer(sizes=[200, 50, 100]))
    for size in (50, 100, 200):
        ratio = figures[f"hash_grid_{size}_s"] / figures[f"scipy_{size}_s"]
        assert figures[f"grid_over_scipy_{size}"] == pytest.approx(ratio)
        fastest = observed[f"fastest_at_{size}"]
        assert figures[f"{fastest}_{size}_s"] == min(
            figures[f"{name}_{size}_s"] for name in ("hash_grid", "kd_tree", "quad_tree", "scipy")
        )
    assert figures["scipy_exponent_low"] <= figures["scipy_exponent"] <= figures["scipy_exponent_high"]


def test_an_index_that_forgets_a_point_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: HashGrid, cx: Floats, cy: Floats, r: float) -> tuple[Ints, Ints]:
        starts, found = make_index_radius(self, cx, cy, r)
        return np.minimum(starts, found.size - 1), found[:-1]

    make_index_radius = HashGrid.radius
    monkeypatch.setattr(HashGrid, "radius", forgetful)
    with pytest.raises(AssertionError, match="hash_grid answers radius differently"):
        prove("hash_grid", make_task("uniform", 100, 10, 20.0))


def test_an_answer_that_changes_between_iterations_fails_its_sample() -> None:
    experiment, context = SpatialIndexProfiler("scipy", "radius", points=50, queries=5), ExperimentContext()
    experiment.setup(context)
    experiment.expected += 1
    with pytest.raises(AssertionError, match="the time before"):
        experiment.execute_once(context)


def test_questions_and_moves_follow_from_the_seed_and_the_index_is_as_before_after_moving() -> None:
    first, again, other = (make_task("clustered", 100, 10, 5.0, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.ask_x, again.ask_x)
    assert not np.array_equal(first.ask_x, other.ask_x)
    assert first.moved.size == 10
    index = prove("quad_tree", first)
    before = perform("radius", index, first)
    timed("move_and_query", index, first)
    assert perform("radius", index, first) == before


def test_moves_in_parts_ask_every_question_once(monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task("uniform", 100, 33, 5.0)
    index = make_index("brute")
    index.build(task.x, task.y)
    asked: list[int] = []
    real = index.radius

    def counted(x: Floats, y: Floats, r: float) -> tuple[Ints, Ints]:
        asked.append(x.size)
        return real(x, y, r)

    monkeypatch.setattr(index, "radius", counted)
    perform("move_and_query", index, task)
    assert sum(asked) == 33
    assert len(asked) == spatial_work.INCREMENTS


@pytest.mark.parametrize(("name", "value"), [("queries", 0), ("radius", 0.0), ("radius", -1.0)])
def test_questions_that_ask_nothing_are_refused(name: str, value: Any) -> None:
    with pytest.raises(SpecError) as caught:
        SpatialComprehensive(**{name: value})
    assert caught.value.where == f"params.{name}"


def test_one_size_shows_no_growth_and_an_unknown_index_is_named() -> None:
    with pytest.raises(SpecError, match="no growth"):
        SpatialPerformanceAnalyzer(sizes=[100, 100])
    with pytest.raises(SpecError, match="hash_grit"):
        SpatialPerformanceAnalyzer(indexes=["hash_grit"])


def test_a_power_law_is_found_exactly_and_its_interval_is_students() -> None:
    law = growth([10, 100, 1000], [2e-3, 2e-2, 2e-1])
    assert law.exponent == pytest.approx(1.0)
    assert law.factor == pytest.approx(2e-4)
    assert law.interval == pytest.approx((1.0, 1.0))
    assert growth([10, 100], [1.0, 4.0]).interval is None
    from scipy import stats

    sizes, seconds = [10, 20, 40, 80], [1.0, 2.3, 3.9, 9.0]
    line = stats.linregress(np.log(sizes), np.log(seconds))
    half = stats.t.ppf(0.975, 2) * line.stderr
    law = growth(sizes, seconds)
    assert law.exponent == pytest.approx(line.slope)
    assert law.interval == pytest.approx((line.slope - half, line.slope + half))


def test_mean_and_the_ninety_fifth_of_a_hundred() -> None:
    assert mean_and_p95([float(value) for value in range(1, 102)]) == (51.0, 96.0)
