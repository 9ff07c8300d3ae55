#!/usr/bin/env bash
# Installs Chromium from the system's packages where no browser is found; the end-to-end tests drive it.
set -euo pipefail
cd "$(dirname "$0")/.."
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then exit 0; fi
done
scripts/system_packages.sh chromium || {
    echo "The tests of the dashboard need Chromium." >&2
    exit 2
}
