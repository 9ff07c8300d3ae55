#!/usr/bin/env bash
# Installs what the whole suite needs: compilers, the package, Redis, a browser, bubblewrap, agents in Rust, the
# dashboard's tools, a model.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/compilers.sh
scripts/install.sh dev
scripts/frameworks.sh core
scripts/redis_server.sh
scripts/chromium.sh
scripts/workflow_tools.sh bubblewrap
scripts/rust_agents.sh --debug
scripts/dashboard.sh --install
.venv/bin/dyno model install
