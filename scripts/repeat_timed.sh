#!/usr/bin/env bash
# Runs the tests that a busy machine could break again and again, beside two processes that burn a core each:
#
#   scripts/repeat_timed.sh [N] [FURTHER ARGUMENTS OF PYTEST...]       (make test-repeat N=20)
#
# They are those that start processes or browsers, or read a clock: the marker `timed`, which tests/timed.py gives to
# tests by what they use. Every round begins afresh. The first round that fails ends it, with its number and pytest's
# exit code; all else that it says is pytest's own summary of each round.
set -euo pipefail
rounds=${1:-20}
shift || true
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
for round in $(seq "$rounds"); do
    echo "round $round of $rounds"
    began=$SECONDS
    code=0
    scripts/beside_busy.sh .venv/bin/python -m pytest -n 2 --dist worksteal -m timed "$@" || code=$?
    if [ "$code" -ne 0 ]; then
        echo "round $round of $rounds failed" >&2
        exit "$code"
    fi
    echo "round $round of $rounds passed in $((SECONDS - began)) s"
done
