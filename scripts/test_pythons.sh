#!/usr/bin/env bash
# Every test with each version of Python that is found, each in an environment of its own (.venv-3.12).
# Usage: scripts/test_pythons.sh [pytest's arguments]     VERSIONS="3.12 3.13" names others than 3.11 to 3.13
set -euo pipefail
cd "$(dirname "$0")/.."
# The path of a Python of this version that runs: pyenv's commands are on the PATH for versions that are not active, too.
found() {
    local python
    for python in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
        if "$python" -c "import sys; sys.exit(sys.version_info[:2] != (${1/./, }))" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}

tried=0
for version in ${VERSIONS:-3.11 3.12 3.13}; do
    python="$(found "$version")"
    if [ -z "$python" ]; then
        echo "Python $version: not found" >&2
        continue
    fi
    tried=$((tried + 1))
    PYTHON="$python" VENV=".venv-$version" scripts/install.sh dev
    scripts/redis_server.sh ".venv-$version"
    ".venv-$version/bin/dyno" model install
    echo "== $(".venv-$version/bin/python" --version)" >&2
    ".venv-$version/bin/python" -m pytest -n 2 --dist worksteal "$@"
done
[ "$tried" -gt 0 ] || { echo "No Python of these versions was found." >&2; exit 2; }
