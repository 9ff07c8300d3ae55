#!/usr/bin/env bash
# Puts Debian's hyperfine into .venv-load/hyperfine for benchmarks/commands.py, unless one is on the path. Needs no root:
# the package is unpacked and not installed. Where it cannot be had, the benchmark says so.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v hyperfine >/dev/null && exit 0
folder=.venv-load/hyperfine
[ -x "$folder/usr/bin/hyperfine" ] && exit 0
mkdir -p "$folder"
if (cd "$folder" && apt-get download hyperfine >/dev/null 2>&1 && dpkg -x hyperfine_*.deb .); then
    rm -f "$folder"/hyperfine_*.deb
else
    echo "hyperfine could not be had; install it by hand, or set HYPERFINE to the program." >&2
fi
