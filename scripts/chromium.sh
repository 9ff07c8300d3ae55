#!/usr/bin/env bash
# Installs Chromium from the system's packages where no browser is found; the end-to-end tests drive it.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then exit 0; fi
done
command -v apt-get > /dev/null || {
    echo "The tests of the dashboard need Chromium, and there is no apt-get here to install it with." >&2
    echo "Install chromium by hand, so that 'chromium' is on PATH." >&2
    exit 2
}
become=""
[ "$(id -u)" -eq 0 ] || become="sudo"
echo "Installing chromium ..." >&2
$become apt-get update -qq > /dev/null
DEBIAN_FRONTEND=noninteractive $become apt-get install -y -qq --no-install-recommends chromium > /dev/null
