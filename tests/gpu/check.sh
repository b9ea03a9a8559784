#!/usr/bin/env bash
# check.sh [BUILD_DIR]: on a machine with one NVIDIA GPU or more, builds, runs both GPU probes for real, provokes failures and checks what
# is said about each. Changes nothing on the machine; under four minutes. Ends with "N passed, N failed".
# shellcheck disable=SC2016 # the conditions are jq, not shell
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
. tools/lib.sh

build=${1:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
out=$scratch/report.json
PATH=$PATH:/usr/local/cuda/bin

need_build
need jq command -v jq
install_missing
say "building in $build ..."
configure_and_build "$build" >/dev/null 2>&1 || die "the build failed: ninja -C $build"
dtkb=$build/bin/dtkb
[ -x "$dtkb" ] || die "there is no $dtkb"
[ -e "$build/lib/dtkb/plugins/libdtkb-probe-cuda.so" ] || die "the GPU plugins were left out: $(cat "$build"/lib/dtkb/plugins/*.left-out 2>/dev/null)"

# row RESULT TITLE DETAIL
row() { printf '%-8s %-46s %s\n' "$1" "$2" "$3"; }
skip() { row skipped "$1" "$2"; }

# probe NAME [VARIABLE=VALUE...] [-- OPTION...]: its report goes to $out.
probe() {
    local name=$1 variables=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    [ $# -gt 0 ] && shift
    env "${variables[@]}" timeout 90 "$dtkb" probe "$name" --json "$@" >"$out" 2>"$scratch/errors"
}
fact() { jq -r --arg name "$1" '[.facts[] | select(.name == $name) | .value][0] // "" | tostring' "$out" 2>/dev/null; }
reason() { jq -r '.probes[0] | "\(.status) in \(.seconds * 100 | round / 100) s\(if .reason != "" then ": " + .reason else "" end)"' "$out" 2>/dev/null; }

# check TITLE CONDITION: a jq expression over the report; `facts` are in $f by name.
check() {
    if jq -e "(.facts | map({(.name): .value}) | add // {}) as \$f | .probes[0] as \$p | ($2)" "$out" >/dev/null 2>&1; then
        passed=$((passed + 1))
        row passed "$1" "$(reason | cut -c1-150)"
    else
        failed=$((failed + 1))
        row FAILED "$1" "$(reason) $(head -c 300 "$scratch/errors")"
    fi
}

# ---- healthy ----
probe cuda
check 'cuda: every device works' '$p.status == "ok" and $f["cuda.device.count"] >= 1'
check 'cuda: a kernel ran and no byte was wrong' '[$f | to_entries[] | select(.key | test("^cuda.device.[0-9]+.wrong_bytes$")) | .value] | length > 0 and add == 0'
check 'cuda: the driver is new enough' '$f["cuda.runtime.too_new"] != true and ($f["cuda.driver.version"] | length > 0)'
count=$(fact cuda.device.count)
count=${count:-0}
free=$(fact cuda.device.0.memory_free_bytes)
standin=
[ "$(fact cuda.device.0.name)" = 'Fake GPU' ] && standin=yes
[ "$count" -ge 1 ] || die "no GPU to check on: $(reason)"
row '' "$count x $(fact cuda.device.0.name)" "driver $(fact cuda.driver.version), runtime $(fact cuda.runtime.version)"

probe nccl -- --set nccl.scope=local
check 'nccl: every collective is verified' '$p.status == "ok" and ([$f["nccl.allreduce.status", "nccl.broadcast.status", "nccl.allgather.status", "nccl.reducescatter.status", "nccl.sendrecv.status"]] | all(. == "ok"))'
check 'nccl: library, version and network are told' '($f["nccl.library.path"] | length > 0) and ($f["nccl.library.version"] | test("^2[.]")) and ($f["nccl.network"] // $f["nccl.interface"] | length > 0)'
seconds=$(fact nccl.allreduce.4194304.seconds)
row '' "NCCL $(fact nccl.library.version)" "$(fact nccl.library.path)"
row '' 'all-reduce of 4 MB' "$seconds s, $(fact nccl.allreduce.4194304.busbw_gbytes_per_s) GB/s, $(fact nccl.transports)"

probe nccl RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=127.0.0.1
check 'nccl: a job of one rank' '$p.status == "ok" and $f["nccl.world.size"] == 1'

# ---- provoked ----
probe cuda -- --set cuda.bytes=4000000000000
check 'cuda: an allocation beyond memory' '$p.status == "fault" and $f["cuda.device.0.status"] == "CUDA_ERROR_OUT_OF_MEMORY"'
probe cuda CUDA_VISIBLE_DEVICES=-1
check 'cuda: hidden devices' '$p.status == "fault" and $f["cuda.init.status"] == "CUDA_ERROR_NO_DEVICE" and ($p.reason | contains("CUDA_VISIBLE_DEVICES=-1"))'
check 'cuda: hidden devices have their cause' '[.causes[].id] | index("gpu-none-visible") != null'
probe cuda -- --set cuda.libcuda=/nonexistent
check 'cuda: no driver library' '$p.status == "unavailable" and ($p.reason | contains("libcuda.so.1"))'
probe nccl -- --set nccl.scope=local --set nccl.devices=0,0
check 'nccl: two ranks on one GPU' '$p.status == "fault" and $f["nccl.init.status"] == "ncclInvalidUsage" and ($p.reason | test("two on one GPU"))'
check 'nccl: two ranks on one GPU have their cause' '[.causes[].id] | index("duplicate-gpu") != null'
probe nccl NCCL_SOCKET_IFNAME=dtkbnone0 -- --set nccl.scope=local
check 'nccl: a name that selects no interface' '$p.status == "fault" and ($f["nccl.init.status"] | test("^nccl")) and ($f["nccl.warning"] | test("socket interface"))'
check 'nccl: no interface has its cause' '[.causes[].id] | index("nccl-interface-unusable") != null'
probe nccl NCCL_SOCKET_IFNAME=dtkbnone0 -- --set nccl.scope=local --set nccl.trial=NCCL_SOCKET_IFNAME=
check 'nccl: without that name it works' '$p.status == "ok"'
probe nccl RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 -- --set nccl.meet-seconds=2
check 'nccl: a rank that never arrives' '$p.status == "fault" and $f["nccl.missing_ranks"] == "1" and $p.seconds < 5'

if [ -n "$standin" ]; then
    skip 'nccl: a small /dev/shm' 'a stand-in of NCCL uses none'
elif [ "$count" -lt 2 ]; then
    skip 'nccl: a small /dev/shm' 'one GPU shares no memory with another'
elif ! unshare -m true 2>/dev/null && ! unshare -rm true 2>/dev/null; then
    skip 'nccl: a small /dev/shm' 'no mount namespace can be made here'
else
    flags=-m
    unshare -m true 2>/dev/null || flags=-rm
    NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0 unshare $flags sh -c 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"' sh \
        timeout 90 "$dtkb" probe nccl --json --set nccl.scope=local --set nccl.bisect=0 >"$out" 2>"$scratch/errors"
    check 'nccl: a small /dev/shm' '$p.status == "fault" and ($f["nccl.warning"] | test("/dev/shm|shared memory"; "i"))'
    check 'nccl: a small /dev/shm has its cause' '[.causes[].id] | index("shm-too-small-nccl") != null'
fi
if [ "$count" -lt 2 ]; then
    skip 'nccl: a trial changes the transport' 'one GPU has no peer'
else
    probe nccl -- --set nccl.scope=local --set nccl.trial=NCCL_P2P_DISABLE=1
    check 'nccl: a trial changes the transport' '$p.status == "ok" and ($f["nccl.transports"] | split(",") | index("P2P") == null)'
fi

# ---- beside nccl-tests ----
perf=$(command -v all_reduce_perf || echo /opt/nccl-tests/build/all_reduce_perf)
if [ ! -x "$perf" ]; then
    skip 'nccl: as fast as nccl-tests' 'all_reduce_perf is not here'
else
    theirs=$(timeout 60 "$perf" -b 4M -e 4M -g "$count" -n 20 -w 5 2>/dev/null | awk '$1 == 4194304 {print $6 / 1e6; exit}')
    if awk -v ours="$seconds" -v theirs="$theirs" 'BEGIN {exit !(theirs > 0 && ours > 0 && ours < 10 * theirs)}'; then
        passed=$((passed + 1))
        row passed 'nccl: as fast as nccl-tests' "4 MB: $seconds s here, $theirs s there"
    else
        failed=$((failed + 1))
        row FAILED 'nccl: as fast as nccl-tests' "4 MB: $seconds s here, ${theirs:-no figure} s there"
    fi
fi

# ---- nothing is left behind ----
probe cuda
check 'cuda: all memory was given back' "\$p.status == \"ok\" and \$f[\"cuda.device.0.memory_free_bytes\"] + 67108864 >= ${free:-0}"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
