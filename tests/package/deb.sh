#!/usr/bin/env bash
# The .deb on a clean Debian: installed by apt into a fresh minimal root, its dependencies from Debian, and used there.
# Usage: deb.sh BUILD-FOLDER. Needs root, debootstrap and the network once; the bare root is kept in BUILD-FOLDER/debian-root.tar.
set -euo pipefail
build=$(cd "$1" && pwd)
suite=bookworm
source=$(cd "$(dirname "$0")/../.." && pwd)

skip() { echo "skipped: package.deb: $*" >&2; exit 77; }
fail() { echo "failed: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || skip "debootstrap and chroot need root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
command -v dpkg-shlibdeps >/dev/null || skip "dpkg-shlibdeps is not installed (apt-get install dpkg-dev)"

root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
if [ ! -f "$build/debian-root.tar" ]; then
    debootstrap --variant=minbase "$suite" "$root" >"$build/debootstrap.log" 2>&1 || skip "debootstrap failed: $(tail -n 1 "$build/debootstrap.log")"
    tar -C "$root" -cf "$build/debian-root.tar.part" . && mv "$build/debian-root.tar.part" "$build/debian-root.tar"
else
    tar -C "$root" -xf "$build/debian-root.tar"
fi
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/var/tmp/dtkb"

rm -f "$build"/dtkb_*.deb
(cd "$build" && cpack -G DEB) >"$build/cpack.log" 2>&1 || fail "cpack: $(cat "$build/cpack.log")"
cp "$build"/dtkb_*.deb "$root/var/tmp/dtkb/dtkb.deb"
healthy=("$source"/tests/cases/healthy/*.log)
cp "$source/tests/cases/real/badif.log" "${healthy[0]}" "$root/var/tmp/dtkb/"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
# step LABEL WANTED-STATUS PATTERN COMMAND...
step() {
    local label=$1 wanted=$2 pattern=$3 status=0
    shift 3
    inside "$@" >"$root/var/tmp/step.log" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$label: status $status, wanted $wanted: $(tail -n 20 "$root/var/tmp/step.log")"
    grep -qE -- "$pattern" "$root/var/tmp/step.log" || fail "$label: no \"$pattern\" in: $(cat "$root/var/tmp/step.log")"
    echo "ok: $label"
}

inside apt-get update -qq >"$root/var/tmp/update.log" 2>&1 || skip "no Debian archive: $(tail -n 1 "$root/var/tmp/update.log")"
step "apt installs it" 0 "Setting up dtkb" apt-get install -y --no-install-recommends /var/tmp/dtkb/dtkb.deb
inside sh -c 'command -v mpirun || command -v python3' >/dev/null && fail "MPI or Python came with it"
step "version" 0 "^dtkb [0-9]" dtkb --version
step "stats" 0 "1,?131" dtkb stats
step "a failing log" 1 "NCCL_SOCKET_IFNAME|GLOO_SOCKET_IFNAME" dtkb diagnose /var/tmp/dtkb/badif.log
step "a healthy log" 0 "" sh -c 'dtkb diagnose --probe none /var/tmp/dtkb/[!b]*.log'
step "plugins" 0 "net" dtkb plugin list
step "every plugin loads" 0 "^0 others$" sh -c 'echo $(dtkb plugin list --json | grep "\"status\":" | grep -vcE "\"(loadable|left-out)\"") others'
step "documents" 0 "^License: Apache" sh -c 'cat /usr/share/doc/dtkb/copyright; ls /usr/share/doc/dtkb/NOTICE /usr/share/man/man1/dtkb.1.gz'
step "probes run in the helper" 0 '"status": "ok"' sh -c 'dtkb probe host --json || [ $? -eq 1 ]'
step "the library is found by the loader" 0 "libdtkb.so.0" ldconfig -p
step "python" 0 "fault" sh -c 'apt-get install -y -qq --no-install-recommends python3-minimal libpython3-stdlib >/dev/null 2>&1; python3 -c "import dtkb; print(dtkb.diagnose(open(\"/var/tmp/dtkb/badif.log\").read())[\"verdict\"])"'
step "removed without a trace" 0 "^gone$" sh -c 'apt-get purge -y -qq dtkb >/dev/null 2>&1; [ -e /usr/share/dtkb/kb.db ] || [ -e /usr/bin/dtkb ] || echo gone'
