#!/usr/bin/env bash
# Creates .venv and installs agentdyno into it, once per change of a pyproject.toml, of constraints.txt or of what is
# compiled. With the extra dev the packages below packages/ are installed beside it, each from its sources.
# Usage: scripts/install.sh [EXTRA[,EXTRA...]]     e.g. scripts/install.sh dev,peers
# VENV names another folder than .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

extras="${1:-}"
venv="${VENV:-.venv}"
targets=(-e ".${extras:+[$extras]}")
sources=(pyproject.toml constraints.txt hatch_build.py src/agentdyno/load/client/_stream_reader.c)
if [[ ",$extras," == *,dev,* ]]; then
    targets+=(-e "./packages/agentdyno-workloads[redis]")
    sources+=(packages/agentdyno-workloads/pyproject.toml)
fi
# Where PYTHONDONTWRITEBYTECODE is set, every start of a command would compile our sources anew (a third of its time).
compile_sources() {
    "$venv/bin/python" -m compileall -q src packages/*/src || true
}
stamp="$venv/.installed-$(printf '%s' "$extras" | tr ',' '-')"
# The stamp names the compiler, so that one that came later compiles what was left out.
cc="$(command -v cc || true)"
if [ -e "$stamp" ] && [ -z "$(find "${sources[@]}" -newer "$stamp")" ] && [ "$cc" = "$(cat "$stamp")" ]; then
    compile_sources
    exit 0
fi

python="${PYTHON:-python3}"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "agentdyno needs Python 3.11 or newer; '$python' is $("$python" --version 2>&1)." >&2
    echo "Point PYTHON at a newer one: make demo PYTHON=python3.12" >&2
    exit 2
}
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
export UV_COMPILE_BYTECODE=1 VIRTUAL_ENV="$PWD/$venv"
echo "Installing agentdyno${extras:+ with $extras} into $venv ..." >&2
# uv installs twice as fast; where it cannot be had or fails, pip does the same work.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check uv 2>/dev/null || true
if ! { [ -x "$venv/bin/uv" ] && "$venv/bin/uv" pip install --quiet -c constraints.txt --reinstall-package agentdyno "${targets[@]}"; }; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt "${targets[@]}"
fi
printf '%s' "$cc" > "$stamp"
compile_sources
