#!/usr/bin/env bash
# Builds the dashboard from dashboard/ into src/agentdyno/web/static.
# Usage: scripts/dashboard.sh            builds
#        scripts/dashboard.sh --check    checks types, runs the unit tests, and fails where the committed files
#                                        are not what the source builds to
#        scripts/dashboard.sh --install  installs what building and testing it takes, and builds nothing
set -euo pipefail
cd "$(dirname "$0")/.."

built="src/agentdyno/web/static"
# The system's Node where there is one that is new enough, else that of the development environment.
new_enough() { node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null; }
new_enough || PATH="$PWD/.venv/bin:$PATH"
command -v npm >/dev/null && node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || {
    echo "The dashboard is built with Node 20 or newer, and its npm: scripts/install.sh dev installs both." >&2
    exit 2
}

installed="dashboard/node_modules/.package-lock.json"
if ! [ "$installed" -nt dashboard/package-lock.json ]; then
    echo "Installing what the dashboard is built with into dashboard/node_modules ..." >&2
    (cd dashboard && npm ci --no-audit --no-fund --loglevel=error)
    touch "$installed"
fi

# Bundles the tests with the bundler of the build, since Node 20 reads no TypeScript, and runs them in Node's own runner.
unit_tests() {
    (cd dashboard && node_modules/.bin/tsc --noEmit -p tests \
        && node_modules/.bin/rolldown tests/*.test.ts --platform node --format esm --log-level warn -d "$1" >"$1.log") \
        || { cat "$1.log" >&2; return 1; }
    # Silent where all is well: what Node prints is for whoever has to mend something.
    node --test "$1" >"$1.log" 2>&1 || { cat "$1.log" >&2; return 1; }
}

case "${1:-}" in
"")
    (cd dashboard && node_modules/.bin/tsc --noEmit && node_modules/.bin/vite build --logLevel warn)
    echo "Built $built"
    ;;
--install) ;;
--check)
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
    unit_tests "$work/tests"
    (cd dashboard && node_modules/.bin/tsc --noEmit \
        && node_modules/.bin/vite build --logLevel warn --outDir "$work/static" --emptyOutDir)
    if ! diff -rq "$built" "$work/static" >"$work/differences"; then
        head -n 5 "$work/differences" >&2
        echo "$built is not what dashboard/ builds to. Run scripts/dashboard.sh and commit what it writes." >&2
        exit 1
    fi
    ;;
*)
    echo "usage: scripts/dashboard.sh [--check|--install]" >&2
    exit 2
    ;;
esac
