"""Where the time of observing goes: finding neighbours, fading memory, setting cells, putting pictures together."""

from __future__ import annotations

from typing import Any, ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric
from agentdyno_workloads.simulation.observation import FieldOfView, StorageName
from agentdyno_workloads.simulation.observation.channels import Interpolation
from agentdyno_workloads.simulation.observation.flow import check_flow, make_flow, prove_flow, run_flow

PARTS = ("gather", "decay", "scatter", "build")


class ObservationProfiler(Experiment):
    """The parts of a step's observations, each as mean seconds a step.

    ``gather``: who is in whose window. ``decay``: moves and fades the memory, clears the step before. ``scatter``:
    sets what is seen. ``build``: puts pictures together on demand, 0 in the dense storage. ``rest_s`` is what
    no part accounts for, ``world_s`` a step of the simulation itself.
    """

    metrics: ClassVar = {
        **{f"{part}_s": Metric(f"{part}_s", "s", Direction.LOWER) for part in PARTS},
        "rest_s": Metric("rest_s", "s", Direction.LOWER),
        "step_s": Metric("step_s", "s", Direction.LOWER),
        "world_s": Metric("world_s", "s", Direction.LOWER),
    }

    def __init__(
        self,
        agents: int = 200,
        radius: int = 6,
        storage: StorageName = "dense",
        interpolation: Interpolation = "nearest",
        steps: int = 50,
        seed: int = 42,
    ) -> None:
        super().__init__({"agents": agents, "radius": radius, "storage": storage, "interpolation": interpolation})
        self.flow = make_flow(storage, agents, steps, seed, FieldOfView(radius=radius, interpolation=interpolation))

    def setup(self, context: ExperimentContext) -> None:
        proven = prove_flow(self.flow)
        self.expected = proven.digest
        context.observe(storage=proven.storage, interpolation=proven.interpolation, picture=list(proven.shape[1:]))

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        done = run_flow(self.flow)
        check_flow(self.flow, done, self.expected)
        steps, stats = len(done.step_s), done.stats
        parts = {
            "gather_s": stats.gather_s / steps,
            "decay_s": stats.decay_s / steps,
            "scatter_s": stats.scatter_s / steps,
            "build_s": stats.build_s / steps,
        }
        step_s = sum(done.step_s) / steps
        return {
            **parts,
            "rest_s": max(0.0, step_s - sum(parts.values())),
            "step_s": step_s,
            "world_s": done.world_s / steps,
        }
