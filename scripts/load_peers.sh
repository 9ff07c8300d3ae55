#!/usr/bin/env bash
# Creates .venv-load/{locust,aiperf,guidellm}: the load generators that benchmarks/load.py runs beside ours, each in an
# environment of its own because they want versions of their own. One that cannot be installed is left out, and the
# benchmark says so. wrk is a package of the system: apt-get install wrk.
set -euo pipefail
cd "$(dirname "$0")/.."

install() {
    local name="$1" folder=".venv-load/$1"
    shift
    [ -e "$folder/.installed" ] && [ "$folder/.installed" -nt "$0" ] && return 0
    echo "Installing $* into $folder ..." >&2
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    if "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; then
        touch "$folder/.installed"
    else
        echo "$name could not be installed; it is left out." >&2
    fi
}

wanted="${*:-locust aiperf guidellm}"
for name in $wanted; do
    case "$name" in
    locust) install locust "locust==2.47.0" ;;
    aiperf) install aiperf "aiperf==0.13.0" ;;
    guidellm) install guidellm "guidellm==0.8.1" ;;
    *)
        echo "no peer named $name: locust, aiperf or guidellm" >&2
        exit 2
        ;;
    esac
done
