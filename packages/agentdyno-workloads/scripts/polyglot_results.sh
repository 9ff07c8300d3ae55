#!/usr/bin/env bash
# Measures what docs/results/polyglot.md shows, on this machine: builds the agents in Rust, runs the specs into a store
# below .dyno and writes the page. About fifteen minutes on two idle cores.
# Usage: packages/agentdyno-workloads/scripts/polyglot_results.sh [--quick]
#   --quick: shows that it works, and writes nothing into the sources
set -euo pipefail
cd "$(dirname "$0")/../../.."
scripts/install.sh dev
scripts/rust_agents.sh
.venv/bin/dyno model install

folder=".dyno/polyglot"
page="docs/results/polyglot.md"
if [ "${1:-}" = "--quick" ]; then
    folder="$folder-quick"
    page="$folder/polyglot.md"
fi
mkdir -p "$folder"
export DYNO_STORE="sqlite:///$PWD/$folder/dyno.db"
for spec in single multi runtimes; do
    .venv/bin/dyno run "workload:polyglot/$spec" "$@"
done
.venv/bin/python -m agentdyno_workloads.polyglot.page --store "$DYNO_STORE" --output "$page"
