#!/usr/bin/env bash
# Installs what the whole suite needs: the package, Redis, a browser, compilers, bubblewrap, agents in Rust, the dashboard's
# tools, a model.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh dev
scripts/frameworks.sh core
scripts/redis_server.sh
scripts/chromium.sh
scripts/compilers.sh
scripts/workflow_tools.sh bubblewrap
scripts/rust_agents.sh --debug
scripts/dashboard.sh --install
.venv/bin/dyno model install
