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
