"""The configuration to use, as measured runs of ``memory_db`` say it.

``python -m agentdyno_workloads.simulation.recommend RUN`` derives it anew from a run of the store and writes it down
beside this file.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

from agentdyno import RunError, RunResult, Verdict, compare
from agentdyno_workloads.simulation.config import SimulationConfig

STORED = Path(__file__).with_name("recommendation.json")
DISK, MEMORY, PERSISTED = "disk", "memory", "memory_persist"


@dataclass(frozen=True, slots=True)
class PersistSaving:
    """How long a run takes with the history in memory and persisted, over with the history on disk.

    ``ratio`` below 1 is faster; ``interval`` is its 95 % interval. ``baseline_s`` and ``candidate_s`` are medians.
    """

    run_id: str
    agents: int
    steps: int
    ratio: float
    interval: tuple[float, float]
    verdict: str
    baseline_s: float
    candidate_s: float
    samples: int

    @property
    def gain(self) -> float:
        """The share of the time that is saved; negative where it takes longer."""
        return 1.0 - self.ratio


@dataclass(frozen=True, slots=True)
class StorageRecommendation:
    """``in_memory`` where every measured size was faster so, beyond doubt; else the history stays on disk."""

    in_memory: bool
    measured: tuple[PersistSaving, ...]
    machine_id: str = ""

    def __str__(self) -> str:
        parts = [
            f"{item.agents} agents × {item.steps} steps: {item.gain:+.1%} "
            f"[{1 - item.interval[1]:+.1%}, {1 - item.interval[0]:+.1%}], run {item.run_id[:13]}"
            for item in self.measured
        ]
        what = "in memory, persisted at the end" if self.in_memory else "on disk"
        return f"Keep the history {what}. Time saved against disk: {'; '.join(parts)}."


def recommendation() -> StorageRecommendation:
    """What the stored measurement says."""
    try:
        plain = json.loads(STORED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RunError(
            "no measurement to recommend from",
            where=str(STORED),
            remedy="Make one: dyno run workload:simulation/memory_db_baseline, then "
            "python -m agentdyno_workloads.simulation.recommend last.",
        ) from None
    measured = tuple(
        PersistSaving(**{**item, "interval": (item["interval"][0], item["interval"][1])})
        for item in plain["measured"]
    )
    return StorageRecommendation(plain["in_memory"], measured, plain["machine_id"])


def configure_for_performance_with_persistence(config: SimulationConfig) -> SimulationConfig:
    """The configuration with its history kept where it is fastest, and permanent when the run ends."""
    database = config.database or "simulation.db"
    best = recommendation().in_memory
    return replace(config, database=database, use_in_memory_db=best, persist_db_on_completion=best)


def get_recommended_config(
    num_agents: int = 30, num_steps: int = 100, database: str = "simulation.db"
) -> SimulationConfig:
    """A configuration of that size, as recommended."""
    config = SimulationConfig(agents=num_agents, steps=num_steps, database=database)
    return configure_for_performance_with_persistence(config)


def derive(result: RunResult, store: str | None = None) -> StorageRecommendation:
    """What a run of ``memory_db`` says, size by size: the arms compared as any two arms are."""
    arms = {(arm.params.get("mode"), arm.params.get("agents"), arm.params.get("steps")): arm for arm in result.arms}
    sizes = sorted(
        {(agents, steps) for _, agents, steps in arms if isinstance(agents, int) and isinstance(steps, int)}
    )
    measured = []
    for agents, steps in sizes:
        disk, kept = arms.get((DISK, agents, steps)), arms.get((PERSISTED, agents, steps))
        if disk is None or kept is None:
            continue
        found = compare(f"{result.run_id}:{disk.arm_id}", f"{result.run_id}:{kept.arm_id}", store=store)
        row = next(item for arm in found.arms for item in arm.metrics if item.metric.name == "duration_s")
        if row.ratio is None or row.interval is None or not all(map(math.isfinite, row.interval)):
            raise RunError(
                f"run {result.run_id} has too few samples to say how sure its gain is",
                where=disk.name,
                remedy="Take more iterations; workload:simulation/memory_db_baseline has enough.",
            )
        measured.append(
            PersistSaving(
                result.run_id,
                agents,
                steps,
                row.ratio,
                row.interval,
                str(row.verdict.value if row.verdict is not None else "unjudged"),
                row.baseline,
                row.candidate,
                row.candidate_n,
            )
        )
    if not measured:
        raise RunError(
            f"run {result.run_id} does not compare {DISK} with {PERSISTED}",
            remedy="Take a run of workload:simulation/memory_db_baseline.",
        )
    better = all(item.verdict == Verdict.BETTER.value for item in measured)
    return StorageRecommendation(better, tuple(measured), result.environment.machine_id)


def main(arguments: Sequence[str] | None = None) -> None:
    """Derives the recommendation from a run and writes it down."""
    from agentdyno import load_run

    parser = argparse.ArgumentParser(prog="python -m agentdyno_workloads.simulation.recommend")
    parser.add_argument("run", help="a run of memory_db: an id, its beginning, or last")
    parser.add_argument("--store", help="the store that holds it")
    given = parser.parse_args(arguments)
    found = derive(load_run(given.run, store=given.store), given.store)
    STORED.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    click.echo(found)


if __name__ == "__main__":
    main()
