"""The whole simulation: how its time, memory and output grow with agents, steps and the size of the world."""

from __future__ import annotations

import resource
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.simulate import Simulation, simulate
from agentdyno_workloads.simulation.timing import mean_and_p95


class SystemProfiler(Experiment):
    """One simulation from start to end: steps a second, CPU, memory, bytes written."""

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            Metric("agent_steps_per_s", "/s", Direction.HIGHER),
            Metric("step_mean_s", "s", Direction.LOWER),
            Metric("step_p95_s", "s", Direction.LOWER),
            Metric("cpu_share", "", Direction.UNKNOWN),
            Metric("peak_memory_bytes", "bytes", Direction.LOWER),
            Metric("written_bytes", "bytes", Direction.LOWER),
        )
    }

    def __init__(
        self,
        agents: int = 200,
        steps: int = 50,
        world: float = 0.0,
        index: Literal["brute", "hash_grid", "kd_tree", "quad_tree", "scipy"] = "hash_grid",
        log: bool = True,
        seed: int = 42,
    ) -> None:
        super().__init__({"agents": agents, "steps": steps, "world": world, "index": index, "log": log})
        self.config = SimulationConfig(agents=agents, steps=steps, width=world, height=world, index=index, seed=seed)

    def setup(self, context: ExperimentContext) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="dyno-system-")
        self.expected = simulate(replace(self.config, index="hash_grid")).history_hash
        context.observe(index=Simulation(self.config).index_name, world=list(self.config.size))
        self.number = 0

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        """One run, its history on disk where ``log`` is set."""
        self.number += 1
        path = Path(self.folder.name) / f"{self.number}.db"
        config = replace(self.config, database=str(path)) if self.params["log"] else self.config
        before = process_time()
        outcome = simulate(config)
        cpu_s = process_time() - before
        if outcome.history_hash != self.expected:
            raise AssertionError(f"{config.index} gives another history")
        took_s = sum(outcome.step_s) + outcome.persist_s
        mean_s, p95_s = mean_and_p95(outcome.step_s)
        figures: dict[str, Any] = {
            "agent_steps_per_s": config.agents * config.steps / took_s,
            "step_mean_s": mean_s,
            "step_p95_s": p95_s,
            "cpu_share": cpu_s / took_s,
            "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        if path.exists():
            figures["written_bytes"] = path.stat().st_size
        return figures

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.folder.cleanup()
