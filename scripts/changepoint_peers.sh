#!/usr/bin/env bash
# Creates .venv-changepoints with the change-point detectors that benchmarks/changepoints.py runs beside ours. They
# want versions of numpy and scipy of their own, so they do not share .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=".venv-changepoints/.installed"
[ -e "$stamp" ] && [ "$stamp" -nt "$0" ] && exit 0
echo "Installing apache-otava, ruptures and asv into .venv-changepoints ..." >&2
[ -x .venv-changepoints/bin/python ] || "${PYTHON:-python3}" -m venv .venv-changepoints
.venv-changepoints/bin/python -m pip install --quiet --disable-pip-version-check \
    "apache-otava==0.8.0" "ruptures==1.1.10" "asv==0.6.6"
touch "$stamp"
