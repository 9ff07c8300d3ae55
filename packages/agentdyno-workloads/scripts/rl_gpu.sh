#!/usr/bin/env bash
# Trains an architecture of gpt2-medium's size from random weights on a GPU: GRPO against GSPO against PPO, two turns.
# Needs a Python with agentdyno, agentdyno-workloads and a CUDA build of torch; NVML (nvidia-ml-py) adds utilisation.
# Usage: PYTHON=.venv/bin/python packages/agentdyno-workloads/scripts/rl_gpu.sh [EPISODES] [SEEDS] [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../../.."
python="${PYTHON:-.venv/bin/python}"
episodes="${1:-400}"
seeds="${2:-3}"
folder="${3:-.dyno/rl-gpu}"
"$python" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else "torch sees no GPU here")'
mkdir -p "$folder"
export DYNO_STORE="sqlite:///$(cd "$folder" && pwd)/dyno.db"
"$python" -m agentdyno.cli.main run workload:rl/gpu --episodes "$episodes" --iterations "$seeds" --output-dir "$folder/runs"
