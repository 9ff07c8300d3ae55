#!/usr/bin/env bash
# Installs Rust, with cargo, and Go from the system's packages where they are not found; tests build agents in both
# languages.
set -euo pipefail
missing=()
command -v rustc > /dev/null || missing+=(rustc)
command -v cargo > /dev/null || missing+=(cargo)
command -v go > /dev/null || missing+=(golang-go)
[ ${#missing[@]} -eq 0 ] && exit 0
command -v apt-get > /dev/null || {
    echo "Tests of agents in other languages need rustc, cargo and go, and there is no apt-get here to install them with." >&2
    echo "Install ${missing[*]} by hand, so that they are on PATH." >&2
    exit 2
}
become=""
[ "$(id -u)" -eq 0 ] || become="sudo"
echo "Installing ${missing[*]} ..." >&2
$become apt-get update -qq > /dev/null
DEBIAN_FRONTEND=noninteractive $become apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
