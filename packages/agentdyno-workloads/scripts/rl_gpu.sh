#!/usr/bin/env bash
# Trains an architecture of gpt2-medium's size from random weights on a GPU: GRPO against GSPO against PPO, two turns.
# PYTHON needs a CUDA build of torch; nvidia-ml-py adds the utilisation. With agentdyno and agentdyno-workloads installed
# beside it this is `dyno run workload:rl/gpu`. Where they are not, the same trainings run straight from the sources
# (numpy and torch are enough), one JSON line per evaluation in FOLDER/evaluations.jsonl.
# Usage: PYTHON=python3 packages/agentdyno-workloads/scripts/rl_gpu.sh [EPISODES] [SEEDS] [FOLDER] [MODEL] [DEVICE]
set -euo pipefail
cd "$(dirname "$0")/../../.."
python="${PYTHON:-python3}"
export EPISODES="${1:-400}" SEEDS="${2:-3}" FOLDER="${3:-.dyno/rl-gpu}" MODEL="${4:-gpt2-medium}" DEVICE="${5:-cuda}"
mkdir -p "$FOLDER"
if "$python" -c 'from importlib.metadata import version; version("agentdyno-workloads")' 2>/dev/null; then
    export DYNO_STORE="sqlite:///$(cd "$FOLDER" && pwd)/dyno.db"
    exec "$python" -m agentdyno.cli.main run workload:rl/gpu --model "$MODEL" --device "$DEVICE" \
        --episodes "$EPISODES" --iterations "$SEEDS" --output-dir "$FOLDER/runs"
fi
export PYTHONPATH="src:packages/agentdyno-workloads/src${PYTHONPATH:+:$PYTHONPATH}"
exec "$python" - <<'PYTHON'
import json
import os
import time
from pathlib import Path

from agentdyno import ExperimentContext
from agentdyno_workloads.rl.experiment import RlAlgorithm

folder = Path(os.environ["FOLDER"])
with (folder / "evaluations.jsonl").open("a") as lines:
    for seed in range(int(os.environ["SEEDS"])):
        for algorithm in ("grpo", "gspo", "ppo"):
            trainer = RlAlgorithm(
                algorithm=algorithm,
                model=os.environ["MODEL"],
                device=os.environ["DEVICE"],
                episodes=int(os.environ["EPISODES"]),
            )
            context = ExperimentContext(seed=seed, iteration=seed, artifacts_dir=folder)
            started = time.perf_counter()
            for sample in trainer.execute_once(context):
                told = {"algorithm": algorithm, "seed": seed, "wall_s": time.perf_counter() - started, **sample}
                lines.write(json.dumps({**told, **context.observed}) + "\n")
                lines.flush()
                print(algorithm, seed, int(sample["episodes"]), round(sample["reward"], 3), flush=True)
PYTHON
