"""What perception costs and shows: numbers of agents, radii, storages and interpolations."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric
from agentdyno_workloads.simulation.observation import CHANNELS, FieldOfView, StorageName
from agentdyno_workloads.simulation.observation.channels import Interpolation
from agentdyno_workloads.simulation.observation.flow import check_flow, make_flow, prove_flow, run_flow
from agentdyno_workloads.simulation.timing import mean_and_p95


class PerceptionMetrics(Experiment):
    """One combination of agents, radius, storage and interpolation; a sweep crosses them.

    ``gamma`` is what memory is multiplied by at each step. ``filled_share`` is the share of numbers other than 0,
    obstacles and known emptiness aside: what a sparse storage gains by.
    """

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            Metric("observations_per_s", "/s", Direction.HIGHER),
            Metric("cells_per_s", "/s", Direction.HIGHER),
            Metric("step_mean_s", "s", Direction.LOWER),
            Metric("step_p95_s", "s", Direction.LOWER),
            Metric("bytes_per_agent", "bytes", Direction.LOWER),
            Metric("picture_bytes", "bytes"),
            Metric("filled_share", ""),
        )
    }

    def __init__(
        self,
        agents: int = 100,
        radius: int = 6,
        storage: StorageName = "dense",
        interpolation: Interpolation = "nearest",
        steps: int = 30,
        gamma: float = 0.9,
        seed: int = 42,
    ) -> None:
        super().__init__({"agents": agents, "radius": radius, "storage": storage, "interpolation": interpolation})
        view = FieldOfView(radius=radius, interpolation=interpolation, gamma=gamma)
        self.flow = make_flow(storage, agents, steps, seed, view)

    def setup(self, context: ExperimentContext) -> None:
        proven = prove_flow(self.flow)
        self.expected = proven.digest
        context.observe(
            storage=proven.storage,
            interpolation=proven.interpolation,
            channels=list(CHANNELS),
            picture=list(proven.shape[1:]),
        )

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        done = run_flow(self.flow)
        check_flow(self.flow, done, self.expected)
        mean_s, p95_s = mean_and_p95(done.step_s)
        numbers = math.prod(done.shape[1:])
        figures: dict[str, Any] = {
            "observations_per_s": done.per_s,
            "cells_per_s": done.per_s * numbers,
            "step_mean_s": mean_s,
            "step_p95_s": p95_s,
            "picture_bytes": 4 * numbers,
            "filled_share": done.filled,
        }
        if done.shape[0]:
            figures["bytes_per_agent"] = done.stats.bytes / done.shape[0]
        return figures
