#!/usr/bin/env bash
# Installs Rust, with cargo, and Go from the system's packages where they are not found; tests build agents in both
# languages.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=()
command -v rustc > /dev/null || missing+=(rustc)
command -v cargo > /dev/null || missing+=(cargo)
command -v go > /dev/null || missing+=(golang-go)
[ ${#missing[@]} -eq 0 ] && exit 0
scripts/system_packages.sh "${missing[@]}" || {
    echo "Tests of agents in other languages need rustc, cargo and go." >&2
    exit 2
}
