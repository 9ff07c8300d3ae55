#!/usr/bin/env bash
# Installs tools that workflow tasks use, where they are missing, from the system's packages (Debian and its kin).
# Usage: scripts/workflow_tools.sh            kallisto and salmon, for the RNA-seq tasks
#        scripts/workflow_tools.sh bubblewrap isolation for machines that allow no user namespaces
# What cannot be had is said, and is no failure: the RNA-seq tasks bring a stand-in.
set -uo pipefail

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(kallisto salmon)
missing=()
for name in "${wanted[@]}"; do
    program="$name"
    [ "$name" = bubblewrap ] && program=bwrap
    command -v "$program" >/dev/null || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || { echo "All there: ${wanted[*]}"; exit 0; }
if ! command -v apt-get >/dev/null; then
    echo "Not installed, and there is no apt-get here: ${missing[*]}" >&2
    exit 0
fi
sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo -n)
if ! "${sudo[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    "${sudo[@]}" apt-get update >/dev/null 2>&1
    "${sudo[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1 ||
        echo "Cannot be installed here: ${missing[*]}" >&2
fi
exit 0
