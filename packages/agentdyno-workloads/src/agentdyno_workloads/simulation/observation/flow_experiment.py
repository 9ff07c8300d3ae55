"""How many observations a second: complete pictures of the surroundings of every agent at every step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric
from agentdyno_workloads.simulation.observation import CHANNELS, FieldOfView, StorageName
from agentdyno_workloads.simulation.observation.flow import check_flow, make_flow, prove_flow, run_flow
from agentdyno_workloads.simulation.timing import mean_and_p95


class ObservationFlow(Experiment):
    """A simulation whose agents are all observed, in one storage.

    An observation is the whole float32 array of one agent at one step, all channels, in memory.
    ``observations_per_s`` counts the time of observing, ``with_world_per_s`` that of the simulation's steps as well.
    ``reads`` asks for each step's pictures several times: after the first they come from the cache.
    """

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            Metric("observations_per_s", "/s", Direction.HIGHER),
            Metric("with_world_per_s", "/s", Direction.HIGHER),
            Metric("step_mean_s", "s", Direction.LOWER),
            Metric("step_p95_s", "s", Direction.LOWER),
            Metric("storage_bytes", "bytes", Direction.LOWER),
            Metric("cache_bytes", "bytes", Direction.LOWER),
            Metric("cache_hits", ""),
            Metric("rebuilds", ""),
            Metric("observations", ""),
        )
    }

    def __init__(
        self,
        agents: int = 200,
        radius: int = 6,
        storage: StorageName = "dense",
        steps: int = 100,
        reads: int = 1,
        seed: int = 42,
    ) -> None:
        super().__init__({"agents": agents, "radius": radius, "storage": storage, "steps": steps, "reads": reads})
        self.flow = replace(make_flow(storage, agents, steps, seed, FieldOfView(radius=radius)), reads=reads)

    def setup(self, context: ExperimentContext) -> None:
        """Pictures like those of the slow reference, and those that every run must end with."""
        proven = prove_flow(self.flow)
        self.expected = proven.digest
        context.observe(
            storage=proven.storage,
            channels=list(CHANNELS),
            picture=list(proven.shape[1:]),
            dtype="float32",
            on_demand=proven.stats.rebuilds > 0,
        )

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        """One run from the first step to the last."""
        done = run_flow(self.flow)
        check_flow(self.flow, done, self.expected)
        mean_s, p95_s = mean_and_p95(done.step_s)
        stats = done.stats
        return {
            "observations_per_s": done.per_s,
            "with_world_per_s": stats.pictures / max(sum(done.step_s) + done.world_s, 1e-12),
            "step_mean_s": mean_s,
            "step_p95_s": p95_s,
            "storage_bytes": stats.bytes,
            "cache_bytes": stats.cache_bytes,
            "cache_hits": stats.cache_hits,
            "rebuilds": stats.rebuilds,
            "observations": stats.pictures,
        }
