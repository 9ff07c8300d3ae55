#!/usr/bin/env bash
# Starts two Ollama servers side by side, on ports 11434 and 11435, and shows that they are two: other processes, and a
# model that one drops stays loaded in the other. Ctrl-C ends both. A port that answers already is used as it is.
# Usage: packages/agentdyno-workloads/scripts/two_ollamas.sh [MODEL] [PORT] [PORT]
#        ONCE=1 ends both when it is shown.
set -euo pipefail
model="${1:-gemma3:latest}"
ports=("${2:-11434}" "${3:-11435}")
python="${PYTHON:-python3}"
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done; wait' EXIT

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
for port in "${ports[@]}"; do
    if answers "$port"; then
        echo "port $port: something answers there already" >&2
        continue
    fi
    command -v ollama >/dev/null || { echo "ollama is missing: see https://ollama.com/download" >&2; exit 2; }
    # Two servers of one user share the folder of the models, which they only read; each keeps its own in memory.
    OLLAMA_HOST="127.0.0.1:$port" ollama serve >"${TMPDIR:-/tmp}/ollama-$port.log" 2>&1 &
    pids+=($!)
    for _ in $(seq 150); do answers "$port" && break; sleep 0.2; done
    answers "$port" || { echo "port $port: no answer after 30 s, see ${TMPDIR:-/tmp}/ollama-$port.log" >&2; exit 1; }
done

"$python" -m agentdyno_workloads.llm.two_servers "http://127.0.0.1:${ports[0]}" "http://127.0.0.1:${ports[1]}" --model "$model"
[ -n "${ONCE:-}" ] && exit 0
echo "Now, in another terminal: dyno run workload:llm/multi_agent --agent ollama:$model" \
    "-p endpoints=http://127.0.0.1:${ports[0]},http://127.0.0.1:${ports[1]}" >&2
wait
