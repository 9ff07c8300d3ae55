"""From the tuning run to ``tuned.json``: the settings whose curve lies highest for each algorithm, and all others.

``python -m agentdyno_workloads.rl.results.tuning RUN [--store URL] [--output FILE]``
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from agentdyno import DynoError, RunError, RunResult, load_run
from agentdyno_workloads.rl.models import STUB
from agentdyno_workloads.rl.results.figures import TrainedArm, trained_arms
from agentdyno_workloads.rl.tuned import TUNED, tuned

CHOSEN_BY = "mean held-out reward over all evaluations and seeds of the tuning run (the area below the curve)"
_NAMES = ("learning_rate", "clip", "beta")


def tuning_document(run: RunResult, kept: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, object]:
    """The choices for the numpy stub with every row they rest on; ``kept`` are those of other models."""
    rows: dict[str, list[dict[str, float]]] = {}
    for arm in trained_arms(run):
        if arm.params.get("stub") is True and arm.finished:
            rows.setdefault(arm.algorithm, []).append(_row(arm))
    if len({len(found) for found in rows.values()}) != 1:
        raise RunError(
            "the algorithms did not have equal budgets in this run",
            where=run.run_id,
            remedy="Run the shipped spec as it is: dyno run workload:rl/tuning.",
        )
    best = {name: max(found, key=lambda row: row["mean_reward"]) for name, found in rows.items()}
    chosen = {name: {key: row[key] for key in _NAMES} for name, row in best.items()}
    return {
        "chosen_by": CHOSEN_BY,
        "run_id": run.run_id,
        "seed": run.seed,
        "not_tuned": "tiny-gpt: the stub's clip and beta, its learning rate chosen by hand",
        "chosen": {**kept, STUB: chosen},
        "rows": rows,
    }


def _row(arm: TrainedArm) -> dict[str, float]:
    means = [float(np.mean(seed.curve.rewards)) for seed in arm.finished]
    finals = [seed.curve.final_reward for seed in arm.finished]
    settings = {name: float(str(arm.observed[name])) for name in _NAMES}
    return {
        **settings,
        "seeds": len(means),
        "mean_reward": round(float(np.mean(means)), 4),
        "final_reward": round(float(np.mean(finals)), 4),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the file and says what was chosen; 2 for a mistake of the user's."""
    parser = argparse.ArgumentParser(prog="python -m agentdyno_workloads.rl.results.tuning")
    parser.add_argument("run", help="the run of workload:rl/tuning")
    parser.add_argument("--store", help="the store that holds it")
    parser.add_argument("--output", type=Path, default=TUNED, help="the file to write")
    given = parser.parse_args(arguments)
    try:
        run = load_run(given.run, store=given.store)
        document = tuning_document(run, {name: item for name, item in tuned().items() if name != STUB})
    except DynoError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    given.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    click.echo(f"{given.output}: {json.dumps(document['chosen'])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
