"""Every index answers as looking at every point does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from agentdyno import SpecError
from agentdyno_workloads.simulation.spatial import INDEXES, SpatialIndex, make_index
from agentdyno_workloads.simulation.spatial.brute import BruteForce
from agentdyno_workloads.simulation.spatial.compressed import compress, ranges

OTHERS = [name for name in INDEXES if name != "brute"]
coordinates = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(-20, 20)).map(lambda pair: (pair[0] / 2, pair[1] / 2)), max_size=80
)


def arrays(points: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    held = np.array(points, dtype=float).reshape(-1, 2)
    return held[:, 0].copy(), held[:, 1].copy()


def built(name: str, points: tuple[np.ndarray, np.ndarray], hint: float | None = None) -> SpatialIndex:
    index = make_index(name, radius_hint=hint)
    index.build(*points)
    return index


def same(first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]) -> None:
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", OTHERS)
@examples(60)
@given(points=coordinates, asked=coordinates, radius=st.sampled_from([0.0, 0.5, 1.0, 2.5, 40.0]))
def test_discs_hold_the_same_points_as_looking_at_all(
    name: str, points: list[tuple[float, float]], asked: list[tuple[float, float]], radius: float
) -> None:
    held, questions = arrays(points), arrays(asked)
    same(built(name, held, 1.0).radius(*questions, radius), built("brute", held).radius(*questions, radius))


@pytest.mark.parametrize("name", OTHERS)
@examples(60)
@given(points=coordinates, asked=coordinates, count=st.integers(1, 5))
def test_the_nearest_are_the_same_and_equal_ones_go_by_place(
    name: str, points: list[tuple[float, float]], asked: list[tuple[float, float]], count: int
) -> None:
    held, questions = arrays(points), arrays(asked)
    same(built(name, held).nearest(*questions, count), built("brute", held).nearest(*questions, count))


@pytest.mark.parametrize("name", OTHERS)
@examples(60)
@given(points=coordinates, corners=coordinates, width=st.sampled_from([0.0, 1.0, 7.5]))
def test_rectangles_are_closed_and_hold_the_same_points(
    name: str, points: list[tuple[float, float]], corners: list[tuple[float, float]], width: float
) -> None:
    held, (left, bottom) = arrays(points), arrays(corners)
    box = (left, bottom, left + width, bottom + width / 2)
    same(built(name, held).rectangle(*box), built("brute", held).rectangle(*box))


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("shape", ["uniform", "clustered", "linear", "one place", "far apart"])
def test_worlds_of_every_shape_are_answered_alike(name: str, shape: str) -> None:
    rng = np.random.default_rng(1)
    held = {
        "uniform": rng.uniform(0, 100, (700, 2)),
        "clustered": rng.normal(0, 0.5, (700, 2)) + rng.integers(0, 4, (700, 1)) * 30.0,
        "linear": np.column_stack([np.linspace(0, 1000, 700), np.zeros(700)]),
        "one place": np.ones((700, 2)),
        "far apart": np.vstack([rng.uniform(0, 1, (350, 2)), rng.uniform(1e6, 1e6 + 1, (350, 2))]),
    }[shape]
    x, y = held[:, 0].copy(), held[:, 1].copy()
    index, oracle = built(name, (x, y), 2.0), built("brute", (x, y))
    same(index.radius(x[:50], y[:50], 2.0), oracle.radius(x[:50], y[:50], 2.0))
    same(index.nearest(x[:20], y[:20], 3), oracle.nearest(x[:20], y[:20], 3))


@pytest.mark.parametrize("name", INDEXES)
def test_points_that_moved_are_found_where_they_are(name: str) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.uniform(0, 50, 300), rng.uniform(0, 50, 300)
    index = built(name, (x, y), 3.0)
    for _ in range(3):
        which = rng.choice(300, 40, replace=False)
        x[which], y[which] = rng.uniform(0, 60, 40), rng.uniform(-10, 50, 40)
        index.update(which.astype(np.int64), x[which], y[which])
        same(index.radius(x, y, 3.0), built("brute", (x, y)).radius(x, y, 3.0))
    assert index.bytes() >= x.nbytes + y.nbytes


@pytest.mark.parametrize("name", INDEXES)
def test_the_input_is_not_held_on_to(name: str) -> None:
    x, y = np.array([1.0, 2.0]), np.array([1.0, 2.0])
    index = built(name, (x, y))
    x[:] = 99.0
    indptr, indices = index.radius(np.array([1.0]), np.array([1.0]), 0.1)
    assert (indptr.tolist(), indices.tolist()) == ([0, 1], [0])


@pytest.mark.parametrize("name", INDEXES)
def test_a_negative_radius_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="radius"):
        built(name, arrays([(0, 0)])).radius(np.zeros(1), np.zeros(1), -1.0)


def test_an_unknown_index_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SpecError, match="no index") as caught:
        make_index("octree")
    assert "hash_grid" in str(caught.value.remedy)


def test_ranges_and_rows() -> None:
    found = ranges(np.array([3, 7, 7, 1]), np.array([5, 7, 9, 2]))
    assert found.tolist() == [3, 4, 7, 8, 1]
    indptr, indices = compress(np.array([1, 0, 1]), np.array([5, 2, 3]), 3, 6)
    assert (indptr.tolist(), indices.tolist()) == ([0, 1, 3, 3], [2, 3, 5])


def test_the_reference_itself_by_hand() -> None:
    index = BruteForce()
    index.build(np.array([0.0, 3.0, 0.0]), np.array([0.0, 4.0, 5.0]))
    indptr, indices = index.radius(np.array([0.0]), np.array([0.0]), 5.0)
    assert (indptr.tolist(), indices.tolist()) == ([0, 3], [0, 1, 2])
    places, distances = index.nearest(np.array([0.0]), np.array([0.0]), 4)
    assert places.tolist() == [[0, 1, 2, -1]]
    assert distances.tolist() == [[0.0, 5.0, 5.0, float("inf")]]
