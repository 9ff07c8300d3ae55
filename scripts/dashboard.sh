#!/usr/bin/env bash
# Builds the dashboard from dashboard/ into src/agentdyno/web/static. The types of what the API answers come from the
# service itself: its routes say openapi.json, and that says dashboard/src/api/types.ts.
# Usage: scripts/dashboard.sh            writes openapi.json and the types, and builds
#        scripts/dashboard.sh --check    checks types, runs the unit tests, and fails where the committed files
#                                        are not what the source gives
#        scripts/dashboard.sh --install  installs what building and testing it takes, and builds nothing
set -euo pipefail
cd "$(dirname "$0")/.."

built="src/agentdyno/web/static"
described="dashboard/openapi.json"
types="dashboard/src/api/types.ts"
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

# Writes the description of the API to $1, and the types that follow from it to $2.
describe_api() {
    if ! [ -x .venv/bin/python ]; then
        echo "The service describes its API: scripts/install.sh dev installs it." >&2
        exit 2
    fi
    .venv/bin/python scripts/openapi.py >"$1"
    node dashboard/types.mjs "$1" "$2"
}

# Fails where the committed $1 is not $2.
must_equal() {
    diff -rq "$1" "$2" >"$work/differences" && return
    head -n 5 "$work/differences" >&2
    echo "$1 is not what $3. Run scripts/dashboard.sh and commit what it writes." >&2
    exit 1
}

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
    describe_api "$described" "$types"
    (cd dashboard && node_modules/.bin/tsc --noEmit && node_modules/.bin/vite build --logLevel warn)
    echo "Built $built"
    ;;
--install) ;;
--check)
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
    describe_api "$work/openapi.json" "$work/types.ts"
    must_equal "$described" "$work/openapi.json" "the routes of src/agentdyno/web say"
    must_equal "$types" "$work/types.ts" "follows from $described"
    unit_tests "$work/tests"
    (cd dashboard && node_modules/.bin/tsc --noEmit \
        && node_modules/.bin/vite build --logLevel warn --outDir "$work/static" --emptyOutDir)
    must_equal "$built" "$work/static" "dashboard/ builds to"
    ;;
*)
    echo "usage: scripts/dashboard.sh [--check|--install]" >&2
    exit 2
    ;;
esac
