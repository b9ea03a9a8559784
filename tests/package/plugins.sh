#!/bin/sh
# Plugins of other people: built outside this tree against an installed dtkb, checked, run, and followed to a cause in their pack.
# Usage: plugins.sh BUILD-FOLDER SOURCE-FOLDER
set -eu
build=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
umask 022
unset DTKB_PLUGIN_PATH DTKB_PACK_PATH DTKB_KB

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
dtkb=$work/prefix/bin/dtkb
export CMAKE_PREFIX_PATH="$work/prefix" XDG_DATA_HOME="$work/data" DTKB="$dtkb"
mkdir -p "$work/data/dtkb/plugins" "$work/data/dtkb/packs"

# step LABEL COMMAND...: its output only when it fails.
step() {
    label=$1
    shift
    if "$@" >"$work/step.log" 2>&1; then
        echo "ok: $label"
    else
        echo "failed: $label: $*" >&2
        cat "$work/step.log" >&2
        exit 1
    fi
}

# expect_cause CAUSE FACT PROBE WHERE LINE: a log of that line is diagnosed as the cause; the fact stands WHERE in the report.
expect_cause() {
    cause=$1 fact=$2 probe=$3 where=$4
    echo "$5" >"$work/train.log"
    "$dtkb" diagnose "$work/train.log" --probe "$probe" --json >"$work/report.json" || [ $? -eq 1 ]
    step "$fact reaches $cause" python3 - "$work/report.json" "$cause" "$fact" "$where" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
cause = next(c for c in report["causes"] if c["id"] == sys.argv[2])
facts = report["facts"] if sys.argv[4] == "facts" else [e["fact"] for e in cause["evidence"] if "fact" in e]
assert any(f["name"] == sys.argv[3] for f in facts), facts
END
}

# The worked example.
cp -r "$root/plugins/example" "$work/example"
step "example configures" cmake -S "$work/example" -B "$work/example/build"
step "example builds" cmake --build "$work/example/build"
step "example passes" ctest --test-dir "$work/example/build" --output-on-failure
step "example installs beside the bundled plugins" cmake --install "$work/example/build"
[ -n "$(find "$work/prefix" -name libdtkb-probe-clocksource.so)" ] || { echo "failed: it was installed elsewhere" >&2; exit 1; }
cp "$work/example/clocksource.xml" "$work/data/dtkb/packs"

# What the command line writes to begin with.
warning="UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current system is 2, which is smaller"
for language in c sh python; do
    name=load-$language
    cd "$work"
    step "$language: new" "$dtkb" plugin new "$name" --lang "$language"
    cd "dtkb-probe-$name"
    if [ "$language" = c ]; then
        step "$language: configures" cmake -B build
        step "$language: builds" cmake --build build
        step "$language: passes" ctest --test-dir build --output-on-failure
        cp "build/plugins/libdtkb-probe-$name.so" "$work/data/dtkb/plugins"
    else
        step "$language: passes" sh test.sh
        cp "dtkb-probe-$name"* "$work/data/dtkb/plugins"
    fi
    cp "$name.xml" "$work/data/dtkb/packs"
done

# Installed for the user, they are found without being named, and their facts reach their causes.
step "list" "$dtkb" plugin list
for name in clocksource load-c load-sh load-python; do
    step "$name is installed" "$dtkb" plugin info "$name"
done
expect_cause clocksource-fallback clocksource.slow clocksource evidence \
    "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:"
# Whether the load confirms anything depends on how busy this machine is.
for language in c sh python; do
    expect_cause "load-$language-too-many-workers" "load-$language.load_per_core" "load-$language" facts "$warning"
done
