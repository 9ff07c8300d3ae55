"""The questions that every index is asked, and the proof that its answers are right."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np

from agentdyno import SpecError
from agentdyno_workloads.simulation.spatial import Floats, Ints, SpatialIndex, make_index
from agentdyno_workloads.simulation.worlds import World, make_points

Operation = Literal["build", "radius", "nearest", "rectangle", "batch_update", "incremental_update", "move_and_query"]
OPERATIONS: tuple[Operation, ...] = (
    *("build", "radius", "nearest", "rectangle"),
    *("batch_update", "incremental_update", "move_and_query"),
)
Answer = tuple[Ints, Ints] | tuple[Ints, Floats]
CHECKED = 40
"""Questions whose answers are compared with looking at every point."""
INCREMENTS = 20


@dataclass(frozen=True, slots=True)
class IndexTask:
    """Points, questions and moves, the same for every index: they follow from the world, the number and the seed."""

    x: Floats
    y: Floats
    ask_x: Floats
    ask_y: Floats
    radius: float
    neighbours: int
    moved: Ints
    move_x: Floats
    move_y: Floats

    @property
    def points(self) -> int:
        return int(self.x.size)


def make_task(
    world: World, points: int, queries: int, radius: float, *, neighbours: int = 5, seed: int = 42
) -> IndexTask:
    """Questions are put from where the points are; a tenth of the points moves by up to a radius."""
    if queries < 1:
        raise SpecError(f"{queries} questions measure nothing", where="params.queries", remedy="Give 1 or more.")
    if not radius > 0:
        raise SpecError(f"the radius is {radius:g}", where="params.radius", remedy="Give a number above 0.")
    x, y = make_points(world, points, seed)
    rng = np.random.default_rng([seed, points, 1])
    asked = rng.integers(0, points, queries)
    moved = np.sort(rng.choice(points, max(1, points // 10), replace=False)).astype(np.int64)
    shift = rng.uniform(-radius, radius, (2, moved.size))
    return IndexTask(
        x,
        y,
        x[asked] + rng.normal(0.0, radius / 10, queries),
        y[asked] + rng.normal(0.0, radius / 10, queries),
        radius,
        neighbours,
        moved,
        x[moved] + shift[0],
        y[moved] + shift[1],
    )


def perform(operation: Operation, index: SpatialIndex, task: IndexTask) -> int:
    """One operation on an index that is built already (``build`` builds it again); how many answers or points."""
    half = task.radius
    if operation == "build":
        index.build(task.x, task.y)
        return task.points
    if operation == "radius":
        return int(index.radius(task.ask_x, task.ask_y, task.radius)[1].size)
    if operation == "nearest":
        return int(index.nearest(task.ask_x, task.ask_y, task.neighbours)[0].size)
    if operation == "rectangle":
        box = (task.ask_x - half, task.ask_y - half, task.ask_x + half, task.ask_y + half)
        return int(index.rectangle(*box)[1].size)
    if operation == "batch_update":
        index.update(task.moved, task.move_x, task.move_y)
        return int(index.radius(task.ask_x[:1], task.ask_y[:1], task.radius)[1].size)
    return _piecewise(operation, index, task)


def _piecewise(operation: Operation, index: SpatialIndex, task: IndexTask) -> int:
    """Moves in small parts. ``move_and_query`` asks after every part, as a world does whose agents take turns."""
    found = 0
    asks = np.array_split(np.arange(task.ask_x.size), INCREMENTS)
    for part, ask in zip(np.array_split(np.arange(task.moved.size), INCREMENTS), asks, strict=True):
        if part.size:
            index.update(task.moved[part], task.move_x[part], task.move_y[part])
        if operation == "move_and_query" and ask.size:
            found += int(index.radius(task.ask_x[ask], task.ask_y[ask], task.radius)[1].size)
    if operation == "incremental_update":
        found = int(index.radius(task.ask_x[:1], task.ask_y[:1], task.radius)[1].size)
    return found


def timed(operation: Operation, index: SpatialIndex, task: IndexTask) -> tuple[float, int]:
    """Seconds and answers of one operation; the index is as built again afterwards."""
    began = perf_counter()
    found = perform(operation, index, task)
    took_s = perf_counter() - began
    if operation in ("batch_update", "incremental_update", "move_and_query"):
        index.build(task.x, task.y)
    return took_s, found


def prove(name: str, task: IndexTask) -> SpatialIndex:
    """An index of the points whose answers equal those of looking at every point; ``AssertionError`` otherwise."""
    index, oracle = make_index(name, radius_hint=task.radius), make_index("brute")
    index.build(task.x, task.y)
    oracle.build(task.x, task.y)
    for moved in (False, True):
        if moved:
            for one in (index, oracle):
                one.update(task.moved, task.move_x, task.move_y)
        _compare(name, index, oracle, task)
    index.build(task.x, task.y)
    return index


def _compare(name: str, index: SpatialIndex, oracle: SpatialIndex, task: IndexTask) -> None:
    x, y, r = task.ask_x[:CHECKED], task.ask_y[:CHECKED], task.radius
    pairs: list[tuple[str, Answer, Answer]] = [
        ("radius", index.radius(x, y, r), oracle.radius(x, y, r)),
        ("nearest", index.nearest(x, y, task.neighbours), oracle.nearest(x, y, task.neighbours)),
        (
            "rectangle",
            index.rectangle(x - r, y - r, x + r, y + r),
            oracle.rectangle(x - r, y - r, x + r, y + r),
        ),
    ]
    for question, ours, right in pairs:
        if not all(np.array_equal(a, b) for a, b in zip(ours, right, strict=True)):
            raise AssertionError(f"{name} answers {question} differently from looking at every point")
