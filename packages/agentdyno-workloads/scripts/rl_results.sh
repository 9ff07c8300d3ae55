#!/usr/bin/env bash
# Trains what docs/results/rl.md shows, on this machine, into a store below .dyno, and writes the page. The settings in
# tuned.json are those of an earlier run of workload:rl/tuning; `--tune` derives them anew first. TRL, RLlib and torch
# get environments of their own from pinned requirements (about 3 GB, once). About half an hour on two idle cores.
# Usage: packages/agentdyno-workloads/scripts/rl_results.sh [--tune | --quick]
#   --quick: shows that it works with the stub and what needs no environment, and writes nothing into the sources
set -euo pipefail
cd "$(dirname "$0")/../../.."
scripts/install.sh dev

folder=".dyno/rl"
page="docs/results/rl.md"
options=()
frameworks=()
if [ "${1:-}" = "--quick" ]; then
    folder="$folder-quick"
    page="$folder/results/rl.md"
    options=(--quick)
    frameworks=(--frameworks own custom --stub)
fi
mkdir -p "$folder"
export DYNO_STORE="sqlite:///$PWD/$folder/dyno.db"
.venv/bin/dyno run workload:rl/tuning "${options[@]}"
if [ "${1:-}" = "--tune" ]; then
    .venv/bin/python -m agentdyno_workloads.rl.results.tuning last
fi
.venv/bin/dyno run workload:rl/algorithms --stub "${options[@]}"
if .venv/bin/python -c 'import torch' 2>/dev/null && [ -z "${options[*]}" ]; then
    .venv/bin/dyno run workload:rl/algorithms --algorithms grpo gspo ppo online_dpo --episodes 240 --iterations 5
fi
.venv/bin/dyno run workload:rl/frameworks "${options[@]}" "${frameworks[@]}"
stores=(--store "$DYNO_STORE")
if [ -f .dyno/rl-gpu/dyno.db ]; then  # of rl_gpu.sh, brought here from a machine with a GPU
    stores+=(--store "sqlite:///$PWD/.dyno/rl-gpu/dyno.db")
fi
.venv/bin/python -m agentdyno_workloads.rl.results.page "${stores[@]}" --output "$page"
