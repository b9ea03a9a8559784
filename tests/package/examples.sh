#!/bin/sh
# The examples built outside this tree as an embedder builds them, with pkg-config and with CMake, against an installation that is then moved
# elsewhere: knowledge base, helper program, plugins and Python package are found from where the library lies.
# Usage: examples.sh BUILD-FOLDER SOURCE-FOLDER
set -eu
build=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
umask 022
unset DTKB_PLUGIN_PATH DTKB_PACK_PATH DTKB_KB LD_LIBRARY_PATH DTKB_LIBRARY
export XDG_DATA_HOME="$work/data"
log=$root/tests/cases/real/badif.log

fail() { echo "failed: $*" >&2; exit 1; }
# step LABEL WANTED-STATUS WORD COMMAND...
step() {
    label=$1 wanted=$2 word=$3 status=0
    shift 3
    "$@" >"$work/step.log" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || { cat "$work/step.log" >&2; fail "$label: status $status, wanted $wanted: $*"; }
    [ -z "$word" ] || grep -q -- "$word" "$work/step.log" || { cat "$work/step.log" >&2; fail "$label: no \"$word\""; }
    echo "ok: $label"
}
# run_examples LABEL FOLDER: the three programs there answer as they should.
run_examples() {
    step "$1: diagnose" 1 "GLOO_SOCKET_IFNAME" "$2/diagnose" "$log"
    step "$1: watch" 1 "dtkb.report/1" sh -c '"$1/watch" <"$2"' sh "$2" "$log"
    step "$1: search" 0 "dtkb.search/1" "$2/search" "NCCL timeout"
}

cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/moved prefix"
prefix="$work/moved prefix"
libdir=$(dirname "$(find "$prefix" -name libdtkb.so)")
cp -r "$root/engine/examples" "$work/examples"

# With pkg-config. The second file was never told where the first was installed.
if command -v pkg-config >/dev/null; then
    mkdir "$work/pc"
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    [ "$(pkg-config --modversion dtkb)" = "$(sed -n 's/^#define DTKB_VERSION "\(.*\)"/\1/p' "$root/engine/include/dtkb/dtkb.h")" ] || fail "pkg-config: another version"
    for program in diagnose watch; do
        eval "step 'pkg-config: $program.c' 0 '' ${CC:-cc} -std=c11 -Wall -Wextra -Werror '$work/examples/$program.c' -o '$work/pc/$program' \
            $(pkg-config --cflags --libs dtkb) '-Wl,-rpath,$libdir'"
    done
    eval "step 'pkg-config: search.cpp' 0 '' ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror '$work/examples/search.cpp' -o '$work/pc/search' \
        $(pkg-config --cflags --libs dtkb) '-Wl,-rpath,$libdir'"
    run_examples pkg-config "$work/pc"
fi

# With CMake.
cat >"$work/examples/CMakeLists.txt" <<'LISTS'
cmake_minimum_required(VERSION 3.16)
project(embedder LANGUAGES C CXX)
find_package(dtkb 0.1 REQUIRED)
set(CMAKE_CXX_STANDARD 17)
foreach(source diagnose.c watch.c search.cpp)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE dtkb::dtkb)
endforeach()
LISTS
step "cmake: configures" 0 "" cmake -S "$work/examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix"
step "cmake: builds" 0 "" cmake --build "$work/cmake"
run_examples cmake "$work/cmake"

# The moved installation itself, with nothing set; a pack of the installation is read, too.
dtkb="$prefix/bin/dtkb"
mkdir -p "$prefix/share/dtkb/packs"
cp "$root/plugins/example/clocksource.xml" "$prefix/share/dtkb/packs"
step "moved: diagnose" 1 "GLOO_SOCKET_IFNAME" "$dtkb" diagnose --probe none "$log"
step "moved: its knowledge base" 0 "$prefix/share/dtkb/kb.db" "$dtkb" kb info
step "moved: its packs" 0 "clocksource" "$dtkb" explain clocksource-fallback
step "moved: its plugins" 0 "$prefix/lib.*/dtkb/plugins/libdtkb-probe-net.so" "$dtkb" plugin list --json
step "moved: its helper program" 0 '"status": "ok"' sh -c '"$1" probe host --json || [ $? -eq 1 ]' sh "$dtkb"
step "moved: its Python package" 0 "^fault$" env PYTHONPATH="$prefix/share/dtkb/python" python3 -B -c \
    'import dtkb, sys; print(dtkb.diagnose(open(sys.argv[1]).read())["verdict"])' "$log"
