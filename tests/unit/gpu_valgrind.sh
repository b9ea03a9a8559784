#!/usr/bin/env bash
# gpu_valgrind.sh HELPER PLUGINS FAKES: the GPU probes under valgrind on the stand-ins: no invalid access, nothing lost.
set -uo pipefail
helper=$1 plugins=$2 fakes=$3
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT

# The helper's list of the job's environment lives as long as the process.
cat >"$out/suppressions" <<'END'
{
   environment-list
   Memcheck:Leak
   match-leak-kinds: definite
   fun:calloc
   fun:call_from_environment
}
END

failed=0
# run PROBE RESULT [VARIABLE=VALUE...]
run() {
    local probe=$1 wanted=$2
    shift 2
    local deadline=$(($(awk '{print int($1 * 1000)}' /proc/uptime) + 90000))
    env "$@" TMPDIR="$out" LD_LIBRARY_PATH="$fakes/driver:$fakes/nccl-current" DTKB_FD=3 DTKB_TIMEOUT_MS=90000 DTKB_DEADLINE_MS=$deadline \
        valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --suppressions="$out/suppressions" "$helper" run "$plugins/libdtkb-probe-$probe.so" "$probe" 3>"$out/wire" 2>"$out/errors"
    local status=$?
    if [ $status -ne 0 ] || ! grep -q "\"result\": *\"$wanted\"" "$out/wire"; then
        echo "$probe $*: status $status, expected $wanted"
        cat "$out/errors"
        tail -3 "$out/wire"
        failed=1
    fi
}
run cuda ok FAKE_GPU_COUNT=2
run cuda fault FAKE_GPU_BUSY=1
run cuda fault FAKE_GPU_BAD_PAIR=0,1
run nccl ok FAKE_GPU_COUNT=2
run nccl fault FAKE_GPU_COUNT=4 FAKE_GPU_BAD_PAIR=1,2
run nccl fault FAKE_NCCL_WRONG=1:3
exit $failed
