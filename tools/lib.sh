# Shared by the scripts of this folder: what is missing, and how to get it. Sourced, not run.
say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# The matcher: Hyperscan is x86 only, Vectorscan is its portable sibling with the same interface.
hs_package() {
    case "$(dpkg --print-architecture 2>/dev/null)" in
        amd64 | i386) echo libhyperscan-dev ;;
        *) echo libvectorscan-dev ;;
    esac
}

# need PACKAGE TEST...: remembers PACKAGE when the test fails.
missing=()
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

need_build() {
    need build-essential sh -c 'command -v cc && command -v make'
    need cmake command -v cmake
    need ninja-build command -v ninja
    need pkg-config command -v pkg-config
    need libsqlite3-dev pkg-config --exists sqlite3
    need "$(hs_package)" pkg-config --exists libhs
    need libpcre2-dev pkg-config --exists libpcre2-8
    need libxml2-dev pkg-config --exists libxml-2.0
    need libjansson-dev pkg-config --exists jansson
    need libarchive-dev pkg-config --exists libarchive
}

need_tests() {
    need libcmocka-dev pkg-config --exists cmocka
    need bats command -v bats
    need jq command -v jq
    need ripgrep command -v rg
    need python3 command -v python3
    need python3-jsonschema /usr/bin/python3 -c "import jsonschema"
    need python3-yaml /usr/bin/python3 -c "import yaml"
    need python3-torch /usr/bin/python3 -c 'import torch.distributed'
    need openmpi-bin command -v mpirun
    need libopenmpi-dev sh -c 'command -v mpicc'
    need iproute2 command -v ip
    need libxml2-utils command -v xmllint
}

# Installs what was found missing: as root or with sudo; otherwise says what to install and stops.
install_missing() {
    [ ${#missing[@]} -eq 0 ] && return 0
    say "installing: ${missing[*]}"
    command -v apt-get >/dev/null || die "please install: ${missing[*]}"
    local as=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "not root and no sudo: please install ${missing[*]}"
        as=(sudo)
    fi
    "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
    missing=()
}

# [targets=NAMES] configure_and_build DIR [CMAKE OPTION...]
configure_and_build() {
    local dir=$1
    shift
    [ -f "$dir/build.ninja" ] && [ $# -eq 0 ] || cmake -S . -B "$dir" -G Ninja "$@" >"${TMPDIR:-/tmp}/dtkb-cmake.$$" 2>&1 || {
        cat "${TMPDIR:-/tmp}/dtkb-cmake.$$" >&2
        die "configuring failed"
    }
    rm -f "${TMPDIR:-/tmp}/dtkb-cmake.$$"
    # shellcheck disable=SC2086  # several names, or none for all
    ninja -C "$dir" ${targets:-} >&2
}
