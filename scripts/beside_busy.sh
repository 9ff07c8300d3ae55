#!/usr/bin/env bash
# Runs a command beside two processes that burn a core each; they end with it, however it ends.
set -euo pipefail
burn='
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
'
burning=()
trap 'kill "${burning[@]}"' EXIT
for _ in 1 2; do
    "${PYTHON:-python3}" -c "$burn" &
    burning+=($!)
done
"$@"
