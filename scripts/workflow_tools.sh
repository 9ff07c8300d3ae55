#!/usr/bin/env bash
# Installs tools that workflow tasks use, where they are missing, from the system's packages (Debian and its kin).
# Usage: scripts/workflow_tools.sh            kallisto and salmon, for the RNA-seq tasks
#        scripts/workflow_tools.sh bubblewrap isolation for machines that allow no user namespaces
# What cannot be had is said, and is no failure: the RNA-seq tasks bring a stand-in.
set -uo pipefail
cd "$(dirname "$0")/.."

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(kallisto salmon)
missing=()
for name in "${wanted[@]}"; do
    program="$name"
    [ "$name" = bubblewrap ] && program=bwrap
    command -v "$program" >/dev/null || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || { echo "All there: ${wanted[*]}"; exit 0; }
scripts/system_packages.sh "${missing[@]}" || echo "Cannot be installed here: ${missing[*]}" >&2
exit 0
