#!/usr/bin/env bash
# Builds the agents of workload:polyglot that are written in Rust, once per change of their sources, into
# $DYNO_RUST_AGENTS or the user's cache (~/.cache/agentdyno/rust-agents): release/ to measure, debug/ for tests.
# Crates come from the system's packages where it has them (Debian: unpacked into the cache, nothing is installed), else
# from crates.io.
# Usage: scripts/rust_agents.sh [--debug] [tokio] [async-std] [smol]      (without names: all of them)
set -euo pipefail
cd "$(dirname "$0")/.."

sources="packages/agentdyno-workloads/src/agentdyno_workloads/polyglot/rust"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/agentdyno/rust-agents"
programs="${DYNO_RUST_AGENTS:-$cache}"
profile="release"
runtimes=()
for word in "$@"; do
    case $word in
    --debug) profile="debug" ;;
    tokio | async-std | smol) runtimes+=("$word-runtime") ;;
    *) echo "no runtime $word: known are tokio, async-std and smol" >&2 && exit 2 ;;
    esac
done
[ ${#runtimes[@]} -gt 0 ] || runtimes=(tokio-runtime async-std-runtime smol-runtime)

command -v cargo > /dev/null || {
    echo "Agents in Rust need cargo, and it is not on PATH: apt-get install cargo, or https://rustup.rs" >&2
    exit 2
}
known="$(cd "$sources" && find Cargo.toml Cargo.lock src -type f | sort | xargs cat | sha256sum | cut -c 1-16) ${runtimes[*]}"
stamp="$programs/$profile/.built"
[ "$(cat "$stamp" 2> /dev/null)" = "$known" ] && exit 0

mkdir -p "$cache/build" "$programs/$profile"
exec 9> "$cache/.lock"
flock 9
[ "$(cat "$stamp" 2> /dev/null)" = "$known" ] && exit 0

# Debian's crates as a folder of sources; ROOTS are the packages, what they need comes with them.
roots=(librust-hyper-dev librust-tokio-dev librust-smol-dev librust-async-std-dev librust-serde-json-dev)
crates="$cache/debian/usr/share/cargo/registry"
debian_has() {
    local shown
    shown="$(apt-cache show "${roots[@]}" 2> /dev/null)" && grep -q '^Version: 0\.14\.' <<< "$shown"
}
unpack_debian() {
    [ -e "$cache/debian/.unpacked" ] && return 0
    local downloads="$cache/downloads"
    mkdir -p "$downloads"
    (
        cd "$downloads"
        apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
            "${roots[@]}" | grep '^librust-.*-dev' | sort -u | xargs apt-get -q download > /dev/null 2> "$cache/apt.txt"
    ) || return 1
    for package in "$downloads"/*.deb; do dpkg -x "$package" "$cache/debian"; done
    rm -rf "$downloads"
    touch "$cache/debian/.unpacked"
}

echo "Building agents in Rust (${runtimes[*]}, $profile) ..." >&2
rm -rf "$cache/build/src" "$cache/build/.cargo"
cp -r "$sources/Cargo.toml" "$sources/Cargo.lock" "$sources/src" "$cache/build/"
offline=()
if ! debian_has && command -v apt-get > /dev/null && [ "$(id -u)" -eq 0 ]; then
    apt-get -qq update > /dev/null 2>&1 || true
fi
if debian_has && unpack_debian; then
    mkdir -p "$cache/build/.cargo"
    printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "%s"\n' "$crates" \
        > "$cache/build/.cargo/config.toml"
    offline=(--offline)
fi
flags=()
[ "$profile" = release ] && flags+=(--release)
(cd "$cache/build" && cargo build --quiet "${offline[@]}" "${flags[@]}" --no-default-features \
    --features "$(IFS=,; echo "${runtimes[*]}")") >&2
find "$cache/build/target/$profile" -maxdepth 1 -type f -perm -u+x -exec cp -f {} "$programs/$profile/" \;
echo "$known" > "$stamp"
