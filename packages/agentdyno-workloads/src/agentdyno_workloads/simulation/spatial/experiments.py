"""The indexes side by side: everything at once, one operation at a time, their memory, and how they grow."""

from __future__ import annotations

import tracemalloc
from typing import Any, ClassVar, Literal

import numpy as np

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.simulation.spatial import INDEXES, make_index
from agentdyno_workloads.simulation.spatial.work import (
    OPERATIONS,
    IndexTask,
    Operation,
    make_task,
    perform,
    prove,
    timed,
)
from agentdyno_workloads.simulation.timing import growth
from agentdyno_workloads.simulation.worlds import World

IndexName = Literal["brute", "hash_grid", "kd_tree", "quad_tree", "scipy"]


class SpatialComprehensive(Experiment):
    """Every operation of one index in one world: build, discs, nearest, rectangles, moves."""

    metrics: ClassVar = {
        **{f"{operation}_s": Metric(f"{operation}_s", "s", Direction.LOWER) for operation in OPERATIONS},
        "answers": Metric("answers", ""),
        "index_bytes": Metric("index_bytes", "bytes", Direction.LOWER),
    }

    def __init__(
        self,
        index: IndexName = "hash_grid",
        world: World = "uniform",
        points: int = 1000,
        queries: int = 200,
        radius: float = 5.0,
        seed: int = 42,
    ) -> None:
        super().__init__({"index": index, "world": world, "points": points, "queries": queries, "radius": radius})
        self.task = make_task(world, points, queries, radius, seed=seed)

    def setup(self, context: ExperimentContext) -> None:
        self.index = prove(self.params["index"], self.task)
        context.observe(index=type(self.index).__name__)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        figures: dict[str, Any] = {}
        answers = 0
        for operation in OPERATIONS:
            figures[f"{operation}_s"], found = timed(operation, self.index, self.task)
            answers += found
        return {**figures, "answers": answers, "index_bytes": self.index.bytes()}


class SpatialIndexProfiler(Experiment):
    """One operation of one index, so that its time is the sample itself."""

    metrics: ClassVar = {"per_s": Metric("per_s", "/s", Direction.HIGHER)}

    def __init__(
        self,
        index: IndexName = "hash_grid",
        operation: Operation = "radius",
        world: World = "uniform",
        points: int = 10_000,
        queries: int = 1000,
        radius: float = 5.0,
        seed: int = 42,
    ) -> None:
        super().__init__(
            {"index": index, "operation": operation, "world": world, "points": points, "queries": queries}
        )
        self.task = make_task(world, points, queries, radius, seed=seed)

    def setup(self, context: ExperimentContext) -> None:
        self.index = prove(self.params["index"], self.task)
        self.expected = perform(self.params["operation"], self.index, self.task)
        self.index.build(self.task.x, self.task.y)
        context.observe(index=type(self.index).__name__)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        from time import perf_counter

        began = perf_counter()
        found = perform(self.params["operation"], self.index, self.task)
        took_s = perf_counter() - began
        if self.params["operation"] not in ("batch_update", "incremental_update", "move_and_query") and (
            found != self.expected
        ):
            raise AssertionError(f"{found} answers, {self.expected} the time before")
        done = self.task.points if self.params["operation"] in ("build", "batch_update") else self.task.ask_x.size
        return {"per_s": done / took_s, "answers": found}


class SpatialMemoryProfiler(Experiment):
    """What an index occupies, and the most that building it and asking it takes on the way."""

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            Metric("index_bytes", "bytes", Direction.LOWER),
            Metric("bytes_per_point", "bytes", Direction.LOWER),
            Metric("build_peak_bytes", "bytes", Direction.LOWER),
            Metric("query_peak_bytes", "bytes", Direction.LOWER),
        )
    }

    def __init__(
        self, index: IndexName = "hash_grid", world: World = "uniform", points: int = 10_000, queries: int = 1000
    ) -> None:
        super().__init__({"index": index, "world": world, "points": points})
        self.task = make_task(world, points, queries, 5.0)

    def setup(self, context: ExperimentContext) -> None:
        context.observe(index=type(prove(self.params["index"], self.task)).__name__)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        """Memory is traced here, so that the time of this experiment says nothing about the index."""
        index = make_index(self.params["index"], radius_hint=self.task.radius)
        tracemalloc.start()
        try:
            index.build(self.task.x, self.task.y)
            _, build_peak = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            perform("radius", index, self.task)
            _, query_peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return {
            "index_bytes": index.bytes(),
            "bytes_per_point": index.bytes() / self.task.points,
            "build_peak_bytes": build_peak,
            "query_peak_bytes": max(0, query_peak - before),
        }


class SpatialPerformanceAnalyzer(Experiment):
    """How one operation grows with the number of points, for every index, and which is fastest at each size."""

    def __init__(
        self,
        operation: Operation = "radius",
        world: World = "uniform",
        sizes: list[int] | None = None,
        queries_per_point: float = 1.0,
        radius: float = 5.0,
        indexes: list[str] | None = None,
    ) -> None:
        self.sizes = sorted(sizes or [100, 1000, 10_000])
        self.names = list(indexes or [name for name in INDEXES if name != "brute"])
        if len(set(self.sizes)) < 2:
            raise SpecError("one size shows no growth", where="params.sizes", remedy="Give two or more.")
        for name in self.names:
            make_index(name)
        super().__init__({"operation": operation, "world": world, "sizes": self.sizes, "indexes": self.names})
        self.tasks: dict[int, IndexTask] = {
            size: make_task(world, size, max(1, round(size * queries_per_point)), radius) for size in self.sizes
        }
        self.best: dict[int, str] = {}

    def setup(self, context: ExperimentContext) -> None:
        self.built = {(name, size): prove(name, task) for name in self.names for size, task in self.tasks.items()}
        context.observe(indexes=self.names)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        """Every index at every size, in an order drawn anew."""
        pairs = list(self.built)
        context.rng.shuffle(pairs)
        times = {
            (name, size): timed(self.params["operation"], self.built[name, size], self.tasks[size])[0]
            for name, size in pairs
        }
        figures: dict[str, Any] = {f"{name}_{size}_s": took for (name, size), took in sorted(times.items())}
        for name in self.names:
            law = growth(self.sizes, [times[name, size] for size in self.sizes])
            figures[f"{name}_exponent"] = law.exponent
            if law.interval is not None:
                figures[f"{name}_exponent_low"], figures[f"{name}_exponent_high"] = law.interval
        for size in self.sizes:
            self.best[size] = min(self.names, key=lambda name: times[name, size])
        context.observe(**{f"fastest_at_{size}": name for size, name in self.best.items()})
        if "scipy" in self.names and "hash_grid" in self.names:
            for size in self.sizes:
                figures[f"grid_over_scipy_{size}"] = times["hash_grid", size] / max(times["scipy", size], 1e-12)
        assert all(np.isfinite(value) for value in figures.values())
        return figures
