#!/usr/bin/env bash
# Installs a C compiler, Rust with cargo, and Go from the system's packages where they are not found: the first compiles
# the reader of streamed answers, tests build agents in the other languages.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=()
command -v cc > /dev/null || missing+=(gcc libc6-dev)
command -v rustc > /dev/null || missing+=(rustc)
command -v cargo > /dev/null || missing+=(cargo)
command -v go > /dev/null || missing+=(golang-go)
[ ${#missing[@]} -eq 0 ] && exit 0
scripts/system_packages.sh "${missing[@]}" || {
    echo "Tests of compiled code and of agents in other languages need cc, rustc, cargo and go." >&2
    exit 2
}
