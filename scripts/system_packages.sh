#!/usr/bin/env bash
# Installs packages of the system (Debian and its kin). Another program that is installing, as a fresh machine often has one
# doing upgrades, is waited for.
# Usage: scripts/system_packages.sh PACKAGE...      exits 2 where there is no apt-get, else with apt-get's own status
set -uo pipefail

command -v apt-get > /dev/null || {
    echo "There is no apt-get here. Install by hand, so that they are on PATH: $*" >&2
    exit 2
}
become=()
[ "$(id -u)" -eq 0 ] || become=(sudo)
said="$(mktemp)"
trap 'rm -f "$said"' EXIT

apt() {
    local until=$((SECONDS + 900)) told=""
    while ! "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=60 "$@" > /dev/null 2> "$said"; do
        if ! grep -qiE 'could not get lock|unable to (acquire|lock)' "$said" || [ "$SECONDS" -ge "$until" ]; then
            cat "$said" >&2
            return 1
        fi
        [ -n "$told" ] || echo "Waiting for another program that installs packages ..." >&2
        told=yes
        sleep 3
    done
}

echo "Installing $* ..." >&2
apt update || echo "The list of packages may be old." >&2
apt install -y --no-install-recommends "$@"
