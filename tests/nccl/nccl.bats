# dtkb probe nccl on stand-ins with faults: what is found, tried, proven and joined.
load ../cli/common

setup() {
    export TMPDIR=$BATS_TEST_TMPDIR LD_LIBRARY_PATH=$FAKES/driver:$FAKES/nccl-current FAKE_GPU_COUNT=8
    unset CUDA_VISIBLE_DEVICES NCCL_P2P_DISABLE RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
    cd "$BATS_TEST_TMPDIR"
}

# cause ID: how sure, and verified or not.
cause() { field ".causes[] | select(.id == \"$1\") | .verified"; }
# trials: each change with what came of it.
trials() { field '.trials[] | .change + " " + (.works | tostring) + " " + (.confirmed | tostring) + " " + (.proves | join(","))'; }

@test "where all works there is no fault, whatever NCCL prints" {
    run "$DTKB" probe nccl --json
    expect_status 0
    [ "$(field '.verdict + " " + (.similar | length | tostring)')" = "no-fault 0" ]
}

@test "a bad GPU among eight is left out on trial, which proves it" {
    FAKE_NCCL_BAD_GPU=4 run "$DTKB" probe nccl --try --json
    expect_status 1
    [ "$(field '.causes[0].id')" = gpu-one-of-many-bad ]
    [ "$(cause gpu-one-of-many-bad)" = yes ]
    [ "$(trials)" = "CUDA_VISIBLE_DEVICES=0,1,2,3,5,6,7 true 2 gpu-one-of-many-bad" ]
    [ "$(field '.trials[0].before.status + " " + .trials[0].after.status')" = "fault ok" ]
}

@test "of a bad pair one is left out on trial, by the names that the job has for its devices" {
    FAKE_GPU_BAD_PAIR=2,5 CUDA_VISIBLE_DEVICES=7,6,5,4,3,2 run "$DTKB" probe nccl --try --json
    expect_status 1
    [ "$(field '.causes[0].id')" = gpu-pair-bad ]
    [ "$(cause gpu-pair-bad)" = yes ]
    [ "$(trials)" = "CUDA_VISIBLE_DEVICES=7,6,5,4,3 true 2 gpu-pair-bad" ]
    [ "$(field '.trials[0].replaces')" = 7,6,5,4,3,2 ]
}

@test "of a failed job's log: the probe says which GPU, and the trial proves it" {
    cat >train.log <<'LOG'
[rank4]: Traceback (most recent call last):
[rank4]:   File "train.py", line 88, in main
[rank4]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5
[rank4]: everything works fine without GPU 4
LOG
    FAKE_NCCL_BAD_GPU=4 run "$DTKB" diagnose --try --probe none --json train.log
    expect_status 1
    [ "$(field '.causes[0].id')" = gpu-one-of-many-bad ]
    [ "$(cause gpu-one-of-many-bad)" = yes ]
}

# ---- ranks as processes ----

# ranks COUNT: of a job on this host, a GPU each; reports in rank-N.json.
ranks() {
    local pids=() rank
    for rank in $(seq 0 $(($1 - 1))); do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$1 LOCAL_WORLD_SIZE=$1 MASTER_ADDR=127.0.0.1 \
            "$DTKB" probe nccl --json -o "rank-$rank.json" --set nccl.step-seconds=2 --set nccl.init-seconds=2 "${@:2}" 3>&- &
        pids+=($!)
    done
    wait "${pids[@]}" || true
}
reason() { jq -r '.probes[0] | "\(.status): \(.reason)"' "rank-$1.json"; }
fact() { jq -r --arg name "$2" '.facts[] | select(.name == $name) | .value' "rank-$1.json"; }

@test "of eight ranks two that fail together are sought out by all, and named by merged reports" {
    FAKE_GPU_BAD_PAIR=2,5 ranks 8
    for rank in 0 1 2 3 4 5 6 7; do
        [[ "$(reason $rank)" == "fault: all-reduce of 8 bytes over 8 ranks: ncclUnhandledCudaError"*"it fails where ranks 2 ("*") and 5 ("*") are together"* ]] || { reason $rank; return 1; }
        [ "$(fact $rank nccl.bad_ranks)" = 2,5 ]
    done
    [ "$(fact 0 nccl.search.rounds)" -le 6 ]
    run "$DTKB" merge --json rank-*.json
    [ "$(field '.joined.bad_ranks | map(.ranks) | join(" ")')" = 2,5 ]
    [ "$(field '.causes[0].id')" = rank-pair-bad ]
    run "$DTKB" merge rank-*.json
    [[ "$output" == *"collectives fail between the ranks 2 and 5"* ]]
}

@test "one rank that fails with any other is sought out" {
    FAKE_NCCL_BAD_GPU=4 ranks 6
    for rank in 0 4 5; do
        [ "$(fact $rank nccl.bad_ranks)" = 4 ]
    done
    run "$DTKB" merge --json rank-*.json
    [ "$(field '.causes[0].id')" = rank-of-many-bad ]
    run "$DTKB" merge rank-*.json
    [[ "$output" == *"collectives fail with rank 4 and work without it"* ]]
}

@test "two that hang together are sought out, each try within its time" {
    FAKE_GPU_BAD_PAIR=0,3 FAKE_NCCL_BAD_PAIR_HANGS=1 ranks 4
    for rank in 0 1 2 3; do
        [[ "$(reason $rank)" == *"did not finish in time"* ]]
        [ "$(fact $rank nccl.bad_ranks)" = 0,3 ]
        jq -e '.probes[0].seconds < 20' rank-$rank.json
    done
}

@test "what NCCL refuses is no fault of a rank: nobody searches" {
    CUDA_VISIBLE_DEVICES=0 ranks 3
    for rank in 0 1 2; do
        [[ "$(reason $rank)" == *"two on one GPU"* ]]
        [ -z "$(fact $rank nccl.search.rounds)" ]
    done
    FAKE_GPU_BAD_PAIR=0,1 ranks 3 --set nccl.bisect=0
    [[ "$(reason 2)" == *ncclUnhandledCudaError* ]]
    [ -z "$(fact 2 nccl.search.rounds)" ]
}

@test "a trial on all ranks of a job" {
    FAKE_GPU_BAD_PAIR=1,2 ranks 3 --try
    for rank in 0 1 2; do
        [ "$(jq -r '.trials[-1] | "\(.change) \(.works) \(.confirmed)"' rank-$rank.json)" = "NCCL_P2P_DISABLE=1 true 2" ] || { jq -c '.trials[] | [.change, .works, .after]' rank-$rank.json; return 1; }
    done
}

@test "a rank that is stopped is named" {
    FAKE_NCCL_HANG_OP=7 ranks 4 --set nccl.step-seconds=20 --timeout 12 &
    local job=$! victim=
    for _ in $(seq 100); do
        sleep 0.1
        for file in /proc/[0-9]*/environ; do
            grep -qzx RANK=1 "$file" 2>/dev/null && grep -qzx "TMPDIR=$TMPDIR" "$file" && grep -qz 'dtkb-probe-host$' "${file%environ}cmdline" &&
                victim=$(basename "${file%/environ}")
        done
        [ -z "$victim" ] || break
    done
    sleep 1
    kill -STOP "$victim"
    wait $job || true
    kill -KILL "$victim" 2>/dev/null || true
    for rank in 0 2 3; do
        [[ "$(reason $rank)" == "fault: rank 1 gave no sign of life"* ]] || { reason $rank; return 1; }
        [ "$(fact $rank nccl.lost_ranks)" = 1 ]
    done
}
