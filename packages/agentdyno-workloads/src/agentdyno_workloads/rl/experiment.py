"""The experiment: a trial is one training with one seed, its evaluations are its samples."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.rl.catalogue import algorithm_named
from agentdyno_workloads.rl.checkpoint import Checkpoint, Record, read_checkpoint
from agentdyno_workloads.rl.curves import Curve
from agentdyno_workloads.rl.device import DeviceWatch
from agentdyno_workloads.rl.models import choose_model, make_policy
from agentdyno_workloads.rl.tooldesk import ToolDesk
from agentdyno_workloads.rl.training import Training
from agentdyno_workloads.rl.tuned import settings_for

METRICS = {
    metric.name: metric
    for metric in (
        Metric("reward", "ratio", Direction.HIGHER, machine_dependent=False),
        Metric("final_reward", "ratio", Direction.HIGHER, machine_dependent=False),
        Metric("variation", "ratio", Direction.LOWER, machine_dependent=False),
        Metric("gain_per_1000_samples", "", Direction.HIGHER, machine_dependent=False),
        Metric("training_s", "s", Direction.LOWER),
        Metric("training_cpu_s", "s", Direction.LOWER),
        Metric("tokens_per_s", "/s", Direction.HIGHER),
        Metric("gpu_memory_bytes", "bytes", Direction.LOWER),
    )
}


class RlAlgorithm(Experiment):
    """Trains a policy on ToolDesk with one algorithm and evaluates it on held-out prompts as it learns."""

    metrics: ClassVar = METRICS

    def __init__(
        self,
        algorithm: Literal["grpo", "gspo", "ppo", "dpo", "online_dpo"] = "grpo",
        model: str = "tiny-gpt",
        stub: bool = False,
        episodes: int = 1000,
        turns: Literal[1, 2] = 2,
        evaluate_every: int = 40,
        learning_rate: float | None = None,
        clip: float | None = None,
        beta: float | None = None,
        device: str = "cpu",
    ) -> None:
        algorithm_named(algorithm)
        self.model = choose_model(model, stub=stub)
        if episodes < 1 or evaluate_every < 1:
            raise SpecError("a training has 1 episode or more", where="params.episodes", remedy="Give 1 or more.")
        super().__init__({"algorithm": algorithm, "model": self.model.name, "episodes": episodes, "turns": turns})
        self.task, self.device, self.evaluate_every = ToolDesk(turns), device, evaluate_every
        chosen = {"learning_rate": learning_rate, "clip": clip, "beta": beta}
        self.settings = settings_for(algorithm, self.model.name, episodes, chosen)

    def execute_once(self, context: ExperimentContext) -> Generator[dict[str, Any]]:
        """One training. The first sample is the warm start; each comes with what it took to get there."""
        settings = self.settings
        policy = make_policy(self.model, self.task, context.seed, self.device)
        context.observe(
            model=self.model.label,
            parameters=policy.parameters,
            learning_rate=settings.optimiser.learning_rate,
            clip=settings.loss.clip,
            beta=settings.loss.beta,
            device=self.device,
            device_name=DeviceWatch(self.device).name,
        )
        training = Training(settings, self.task, policy, context.seed)
        path = Path(context.artifacts_dir) / f"checkpoint-{context.iteration}.npz"
        yield from self._samples(training, path, context.part)
        path.unlink(missing_ok=True)

    def _samples(self, training: Training, path: Path, stored: int) -> Iterator[dict[str, Any]]:
        """All samples that are not ``stored`` yet, from the checkpoint on where one is left."""
        records: list[Record] = []
        kept = read_checkpoint(path)
        if kept is not None and len(kept.records) >= stored:
            training.updates, records = kept.updates, kept.records
            training.reference.restore(kept.reference)
            training.policy.restore(kept.policy)
            for number in range(stored, len(records)):
                yield self._sample(records[: number + 1], training)
        else:
            training.warm_start()
        watch = DeviceWatch(self.device)
        for record in self._evaluations(training, records, watch):
            records.append(record)
            Checkpoint(training.updates, training.policy.state(), training.reference.state(), records).write(path)
            if len(records) > stored:
                yield self._sample(records, training)

    def _evaluations(self, training: Training, before: list[Record], watch: DeviceWatch) -> Iterator[Record]:
        if not before:
            yield {**training.evaluate(), **_nothing_yet(), **watch.readings()}
        last = before[-1] if before else _nothing_yet()
        spent = {name: last[name] for name in ("training_s", "training_cpu_s", "tokens")}
        while not training.done:
            due = training.episodes + self.evaluate_every
            rewards = []
            wall, cpu = time.perf_counter(), time.process_time()
            while not training.done and training.episodes < due:
                seen = training.update()
                rewards.append(seen.train_reward)
                spent["tokens"] += seen.tokens
            spent["training_s"] += time.perf_counter() - wall
            spent["training_cpu_s"] += time.process_time() - cpu
            samples = training.episodes * training.settings.samples_per_prompt
            yield {
                **training.evaluate(),
                **spent,
                "episodes": training.episodes,
                "samples": samples,
                "tokens_per_s": spent["tokens"] / spent["training_s"],
                "train_reward": sum(rewards) / len(rewards),
                "loss": seen.loss,
                "gradient_norm": seen.gradient_norm,
                **watch.readings(),
            }

    def _sample(self, records: list[Record], training: Training) -> dict[str, Any]:
        """The newest record; with the figures of the whole curve where it is the last."""
        sample: dict[str, Any] = dict(records[-1])
        if training.done and sample["episodes"] >= training.settings.episodes:
            curve = curve_of(records)
            reached = curve.to_target()
            sample |= {
                "final_reward": curve.final_reward,
                "variation": curve.variation,
                "gain_per_1000_samples": curve.gain_per_1000_samples,
                # No number: a training that never got there must not be averaged as if it had.
                "episodes_to_target": {"value": reached.value, "reached": reached.reached, "shown": str(reached)},
            }
        return sample


def curve_of(records: list[Record]) -> Curve:
    """The learning curve that evaluations make."""
    columns = ([record[name] for record in records] for name in ("episodes", "samples", "training_s", "reward"))
    return Curve(*(tuple(column) for column in columns))


def _nothing_yet() -> Record:
    return {"episodes": 0.0, "samples": 0.0, "tokens": 0.0, "training_s": 0.0, "training_cpu_s": 0.0}
