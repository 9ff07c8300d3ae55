#!/usr/bin/env bash
# Measures what docs/results/simulation.md shows, on this machine: runs the specs into a store below .dyno, derives the
# recommended configuration from the run of memory_db, and writes the page. About five minutes on two idle cores.
# Usage: packages/agentdyno-workloads/scripts/simulation_results.sh [--quick]
#   --quick: shows that it works, and writes nothing into the sources
set -euo pipefail
cd "$(dirname "$0")/../../.."
scripts/install.sh dev

folder=".dyno/simulation"
page="docs/results/simulation.md"
if [ "${1:-}" = "--quick" ]; then
    folder="$folder-quick"
    page="$folder/simulation.md"
fi
mkdir -p "$folder"
export DYNO_STORE="sqlite:///$PWD/$folder/dyno.db"
for spec in memory_db observation spatial_performance_analyzer pragma_profile redis_memory system_profiler; do
    .venv/bin/dyno run "workload:simulation/${spec}_baseline" "$@"
    if [ "$spec" = memory_db ] && [ -z "${1:-}" ]; then
        .venv/bin/python -m agentdyno_workloads.simulation.recommend last
    fi
done
.venv/bin/python -m agentdyno_workloads.simulation.results.page --store "$DYNO_STORE" --output "$page"
