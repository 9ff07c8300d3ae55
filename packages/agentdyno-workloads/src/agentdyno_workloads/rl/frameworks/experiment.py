"""The experiment: one framework trains ToolDesk in one turn, and is measured and evaluated from outside."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.rl.frameworks.environments import framework_named, integration_lines, interpreter_of
from agentdyno_workloads.rl.frameworks.process import TrainingProcess
from agentdyno_workloads.rl.rollout import evaluate
from agentdyno_workloads.rl.tooldesk import ToolDesk

FEATURES = (
    "multi_turn",
    "tool_masking",
    "resume",
    "multi_process_rollout",
    "custom_reward",
    "deterministic_seed",
)
METRICS = {
    metric.name: metric
    for metric in (
        Metric("reward", "ratio", Direction.HIGHER, machine_dependent=False),
        Metric("samples_per_s", "/s", Direction.HIGHER),
        Metric("samples_per_cpu_s", "/s", Direction.HIGHER),
        Metric("all_processes_bytes", "bytes", Direction.LOWER),
        Metric("first_update_s", "s", Direction.LOWER),
        Metric("integration_lines", "", Direction.LOWER, machine_dependent=False),
        Metric("features_working", "", Direction.HIGHER, machine_dependent=False),
    )
}


class RlFramework(Experiment):
    """Trains ToolDesk (one turn) with one framework in an environment of its own, evaluated from outside it."""

    metrics: ClassVar = METRICS

    def __init__(
        self,
        framework: Literal["own", "trl", "rllib", "custom"] = "own",
        samples: int = 4096,
        stub: bool = False,
        learning_rate: float = 3e-3,
        features: bool = True,
        environment: str = "",
    ) -> None:
        self.framework = framework_named(framework)
        if samples < 1:
            raise SpecError("a training has 1 sample or more", where="params.samples", remedy="Give 1 or more.")
        super().__init__({"framework": framework, "samples": samples, "stub": stub, "environment": environment})
        self.learning_rate, self.features, self.task = learning_rate, features, ToolDesk(1)

    def execute_once(self, context: ExperimentContext) -> Iterator[dict[str, Any]]:
        """One sample. It is yielded so that no warm-up ever trains a second time."""
        folder = Path(context.artifacts_dir) / f"training-{context.iteration}"
        folder.mkdir(parents=True, exist_ok=True)
        stub = bool(self.params["stub"])
        python = interpreter_of(self.framework, stub=stub, environment=str(self.params["environment"]))
        job = {
            "samples": self.params["samples"],
            "seed": context.seed % 2**31,
            "learning_rate": self.learning_rate,
            "folder": str(folder),
            "stub": stub,
        }
        with TrainingProcess(self.framework, python, job, folder) as process:
            sample = self._train(process, context)
            prompts = self.task.prompts(held_out=True)
            parts = evaluate(process, self.task, prompts, np.random.default_rng([context.seed, 2]))
            sample |= {"reward": float(parts.mean()), "all_processes_bytes": process.peak_bytes}
            if self.features and context.iteration == 0:  # they do not depend on the seed
                tried = {name: process.ask(ask="feature", name=name) for name in FEATURES}
                works = {name: {"works": item["works"], "detail": item["detail"]} for name, item in tried.items()}
                sample |= {
                    "features_working": sum(item["works"] is True for item in tried.values()),
                    "features": works,
                }
        yield {**sample, "integration_lines": integration_lines(self.framework)}

    def _train(self, process: TrainingProcess, context: ExperimentContext) -> dict[str, Any]:
        first = ready = began_cpu = 0.0
        while True:
            event = process.next_event()
            now = time.perf_counter()
            if event["event"] == "ready":
                ready, began_cpu = now, process.cpu_s()
                context.observe(what=self.framework.what, parameters=event["parameters"])
            elif event["event"] == "update" and not first:
                first = now
            elif event["event"] == "trained":
                cpu_s, samples = process.cpu_s() - began_cpu, int(event["samples"])
                break
        return {
            "samples": samples,
            "training_s": now - ready,
            "training_cpu_s": cpu_s,
            "samples_per_s": samples / (now - ready),
            "samples_per_cpu_s": samples / cpu_s if cpu_s > 0 else None,
            "first_update_s": first - process.started,
        }
