#!/usr/bin/env bash
# Measures what docs/results/frameworks.md shows, on this machine: installs the frameworks, runs the specs into a store
# below .dyno and writes the page. About half an hour on two idle cores, without the installation.
# Usage: packages/agentdyno-workloads/scripts/framework_results.sh [--quick]
#   --quick: shows that it works, and writes nothing into the sources
set -euo pipefail
cd "$(dirname "$0")/../../.."
scripts/install.sh dev

folder=".dyno/frameworks"
page="docs/results/frameworks.md"
environments=(core more crewai)
if [ "${1:-}" = "--quick" ]; then
    folder="$folder-quick"
    page="$folder/frameworks.md"
    environments=(core)
fi
scripts/frameworks.sh "${environments[@]}"
mkdir -p "$folder"
export DYNO_STORE="sqlite:///$PWD/$folder/dyno.db"
for spec in overhead cold_start growth concurrency suite faults; do
    .venv/bin/dyno run "workload:frameworks/$spec" "$@"
done
.venv/bin/python -m agentdyno_workloads.frameworks.page --store "$DYNO_STORE" --output "$page"
