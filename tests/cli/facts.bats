# Facts of the machine turn an ambiguous log into the right first cause.
load common

setup() {
    cat >"$BATS_TEST_TMPDIR/ambiguous.log" <<'LOG'
node-0:1001:1002 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.3<0>
[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18.1
[rank0]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
LOG
}

# diagnose_after COMMAND: diagnoses after COMMAND changed something for this process and its children only.
diagnose_after() {
    run sh -c "$1"'; exec "$2" diagnose --probe auto --json "$3"' sh "$1" "$DTKB" "$BATS_TEST_TMPDIR/ambiguous.log"
    expect_status 1
}

@test "without a telling fact the log's own word stands" {
    run "$DTKB" diagnose --probe none --json "$BATS_TEST_TMPDIR/ambiguous.log"
    [ "$(field '.causes[0].id')" = nccl-system-error ]
    [ "$(field '[.next[].fact | select(. != null)] | length')" -gt 2 ]
}

@test "few open files" {
    diagnose_after 'ulimit -n 64'
    [ "$(field '.causes[0].id')" = nofile-too-low ]
    [ "$(field '.causes[0].evidence[0].fact.value')" = 64 ]
}

@test "little locked memory" {
    diagnose_after 'ulimit -l 64'
    [ "$(field '.causes[0].id')" = memlock-too-low ]
}

@test "an interface that is not there" {
    diagnose_after 'export NCCL_SOCKET_IFNAME=nosuch7'
    [ "$(field '.causes[0].id')" = nccl-interface-unusable ]
}

@test "a container's small /dev/shm" {
    unshare -m true 2>/dev/null || skip "a mount namespace is not permitted here"
    run unshare -m sh -c 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$1" diagnose --json "$2"' sh "$DTKB" "$BATS_TEST_TMPDIR/ambiguous.log"
    expect_status 1
    [ "$(field '.causes[0].id')" = shm-too-small-nccl ]
    [ "$(field '.causes[0].evidence[0].effect')" = confirms ]
}

@test "a machine where nothing fails is no fault, whatever it lacks" {
    run "$DTKB" probe host net env kernel_log gpu_inventory python_env --json
    [ "$status" -le 1 ]
    [ "$(field '[.probes[] | select(.status == "crashed" or .status == "bad-output" or .status == "timed-out")] | length')" = 0 ]
    [ "$status" -eq 0 ] || [ "$(field '[.probes[] | select(.status == "fault")] | length')" -gt 0 ]
}
