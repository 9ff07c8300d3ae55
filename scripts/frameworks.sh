#!/usr/bin/env bash
# Creates .venv-frameworks/{core,more,crewai}: environments of agent frameworks, in which tests and benchmarks let agents
# live. They are no dependencies of agentdyno, and crewai wants versions of its own. Each is installed once per change
# of its list, scripts/frameworks-NAME.txt, which `uv pip compile` wrote from the names in its first line.
# Usage: scripts/frameworks.sh [core] [more] [crewai]
set -euo pipefail
cd "$(dirname "$0")/.."

for name in "${@:-core}"; do
    list="scripts/frameworks-$name.txt"
    folder=".venv-frameworks/$name"
    [ -e "$list" ] || {
        echo "no list of frameworks named $name: core, more or crewai" >&2
        exit 2
    }
    [ -e "$folder/.installed" ] && [ "$folder/.installed" -nt "$list" ] && continue
    echo "Installing $list into $folder ..." >&2
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    export UV_COMPILE_BYTECODE=1
    if ! { [ -x .venv/bin/uv ] && VIRTUAL_ENV="$PWD/$folder" .venv/bin/uv pip install --quiet -r "$list"; }; then
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"
    fi
    touch "$folder/.installed"
done
