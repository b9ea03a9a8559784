# The probes as ranks of a job under srun: a Slurm of two nodes on this machine, which lives as long as this file's tests.
load ../cli/common

setup_file() {
    export SLURM_CONF=$BATS_FILE_TMPDIR/slurm.conf
    [ "$(id -u)" = 0 ] && command -v slurmctld slurmd srun >/dev/null || return 0
    local here port
    here=$(hostname -s)
    port=$(python3 -c 'import random; print(random.randrange(14000, 15000, 4))')
    mkdir "$BATS_FILE_TMPDIR"/{state,spool-n1,spool-n2,tmp-n1,tmp-n2}
    cat >"$SLURM_CONF" <<CONF
ClusterName=dtkb-tests
SlurmctldHost=$here(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$BATS_FILE_TMPDIR/state
SlurmdSpoolDir=$BATS_FILE_TMPDIR/spool-%n
TmpFS=$BATS_FILE_TMPDIR/tmp-%n
SlurmctldPidFile=$BATS_FILE_TMPDIR/ctld.pid
SlurmdPidFile=$BATS_FILE_TMPDIR/%n.pid
SlurmctldLogFile=$BATS_FILE_TMPDIR/ctld.log
SlurmdLogFile=$BATS_FILE_TMPDIR/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
NodeName=n[1-2] NodeHostname=$here NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=8 RealMemory=100 State=UNKNOWN
PartitionName=test Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
CONF
    {
        slurmctld && slurmd -N n1 && slurmd -N n2
    } >"$BATS_FILE_TMPDIR/start.log" 2>&1 3>&- || return 0
    for _ in $(seq 50); do
        [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
        sleep 0.2
    done
    timeout 20 srun -N 2 -n 2 true 2>/dev/null && touch "$BATS_FILE_TMPDIR/works"
}

# Until they are gone (or dead and not yet collected): they write to the folder that is removed next.
teardown_file() {
    local file pids=() pid
    for file in "$BATS_FILE_TMPDIR"/{n1,n2,ctld}.pid; do
        [ ! -s "$file" ] || pids+=("$(cat "$file")")
    done
    [ "${#pids[@]}" -gt 0 ] || return 0
    kill "${pids[@]}" || true
    for pid in "${pids[@]}"; do
        for _ in $(seq 100); do
            grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null || break
            sleep 0.1
        done
    done
}

setup() {
    [ -e "$BATS_FILE_TMPDIR/works" ] || skip "no Slurm that works here (slurmctld, slurmd with -N, srun, root): $(tail -n 1 "$BATS_FILE_TMPDIR/start.log" 2>/dev/null)"
    unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
    export TMPDIR=$BATS_TEST_TMPDIR ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # Open MPI leaks, see tests/mpi
    cd "$BATS_TEST_TMPDIR"
}

# ranks OPTION... COMMAND: a job, at most a minute.
ranks() { timeout 60 srun "$@" >job.log 2>&1 || true; }
# The stand-ins for the driver and NCCL, a device for each rank, as on nodes of their own.
on_stand_ins() {
    [ -e "$FAKES/driver" ] || skip "no stand-ins for the driver"
    export LD_LIBRARY_PATH=$FAKES/driver:$FAKES/nccl-current FAKE_GPU_COUNT=8
}
# shellcheck disable=SC2016 # the rank's shell expands it
NCCL='CUDA_VISIBLE_DEVICES=$SLURM_PROCID exec "$DTKB" probe nccl --json -o rank-%r.json'
reason() { jq -r '.probes[0] | "\(.status): \(.reason)"' "rank-$1.json"; }
fact() { jq -r --arg name "$2" '.facts[] | select(.name == $name) | .value' "rank-$1.json"; }

@test "four ranks on two nodes: one report a rank, joined to one job" {
    on_stand_ins
    export DTKB
    ranks -N 2 -n 4 sh -c "$NCCL"
    for rank in 0 1 2 3; do
        [ "$(reason $rank)" = "ok: " ] || { cat job.log; return 1; }
        [ "$(fact $rank nccl.world.size) $(fact $rank nccl.rank)" = "4 $rank" ]
        [ "$(jq -c '[.job.rank, .job.world_size]' rank-$rank.json)" = "[$rank,4]" ]
    done
    run "$DTKB" merge --json rank-*.json
    expect_status 0
    [ "$(field '.joined | [.reports, .world_size, (.without_report | length), ([.ranks[].rank] | join(","))] | join(" ")')" = "4 4 0 0,1,2,3" ]
}

@test "a rank that is killed is named by the others" {
    on_stand_ins
    export DTKB
    FAKE_NCCL_HANG_OP=7 timeout 60 srun -N 2 -n 4 sh -c "$NCCL --set nccl.step-seconds=20" >job.log 2>&1 3>&- &
    local job=$! victim=
    for _ in $(seq 100); do
        sleep 0.1
        for file in /proc/[0-9]*/environ; do
            grep -qzx SLURM_PROCID=2 "$file" 2>/dev/null && grep -qzx "TMPDIR=$BATS_TEST_TMPDIR" "$file" && grep -qz 'dtkb-probe-host$' "${file%environ}cmdline" &&
                victim=$(basename "${file%/environ}")
        done
        [ -z "$victim" ] || break
    done
    sleep 1
    kill -KILL "$victim"
    wait $job || true
    for rank in 0 1 3; do
        [[ "$(reason $rank)" == "fault: rank 2 ended in all-reduce"* ]] || { reason $rank; cat job.log; return 1; }
        [ "$(fact $rank nccl.lost_ranks) $(fact $rank nccl.allreduce.status)" = "2 called-off" ]
    done
    run "$DTKB" merge --json rank-*.json
    [ "$(field '.joined.lost_ranks | tostring')" = "[2]" ]
}

@test "what is missing of Slurm's variables is said" {
    on_stand_ins
    ranks -N 2 -n 2 env -u SLURM_STEP_NUM_TASKS "$DTKB" probe nccl --json -o rank-%r.json
    [[ "$(reason 1)" == "unavailable: SLURM_PROCID=1 and SLURM_STEP_NUM_TASKS=(not set) do not make a job"* ]]
    ranks -N 2 -n 2 env -u SLURM_STEP_NODELIST -u SLURM_LAUNCH_NODE_IPADDR "$DTKB" probe nccl --json -o rank-%r.json
    [[ "$(reason 1)" == "unavailable: rank 1 of 2 does not know where rank 0 is: set MASTER_ADDR" ]]
}

@test "a shell in an allocation is no rank: it looks at its own GPUs" {
    on_stand_ins
    ranks -n 1 "$DTKB" probe nccl --json -o rank-%r.json
    [ "$(reason 0) $(fact 0 nccl.world.size)" = "ok:  8" ]
}

@test "MPI over PMIx: every collective verified" {
    [ -e "$(dirname "$DTKB")/../lib/dtkb/plugins/dtkb-mpi-rank" ] || skip "built without MPI"
    timeout 20 srun --mpi=list 2>&1 | grep -q pmix || skip "this Slurm has no PMIx"
    ranks --mpi=pmix -N 2 -n 4 "$DTKB" probe mpi --json -o rank-%r.json
    for rank in 0 1 2 3; do
        [ "$(reason $rank)" = "ok: " ] || { reason $rank; cat job.log; return 1; }
        [ "$(fact $rank mpi.allreduce.status) $(fact $rank mpi.world.size)" = "ok 4" ]
    done
}

@test "MPI without PMIx or PMI: the cause is named" {
    [ -e "$(dirname "$DTKB")/../lib/dtkb/plugins/dtkb-mpi-rank" ] || skip "built without MPI"
    ranks --mpi=none -N 2 -n 2 "$DTKB" probe mpi --json -o rank-%r.json
    [ "$(jq -r '.probes[0].status' rank-1.json)" = fault ]
    if grep -q "OMPI was not built with SLURM" rank-1.json; then # otherwise each rank becomes a world of its own
        [ "$(jq -r '.causes[0].id' rank-1.json)" = mpi-pmix-srun ] || { jq -c '[.causes[].id]' rank-1.json; return 1; }
    fi
}

@test "a wrong MASTER_ADDR: rank 0's own is tried by all ranks, which proves it" {
    ip -4 -br address 2>/dev/null | grep -v '^lo' | grep -q UP || skip "no interface besides the loopback one"
    MASTER_ADDR=198.51.100.7 ranks -N 2 -n 3 "$DTKB" probe rendezvous --try --json -o rank-%r.json
    for rank in 0 1 2; do
        [[ "$(reason $rank)" == "fault: "*"198.51.100.7"* ]] || { reason $rank; cat job.log; return 1; }
        [ "$(jq -r '.trials[-1] | "\(.change | startswith("MASTER_ADDR=")) \(.works) \(.confirmed)"' rank-$rank.json)" = "true true 2" ]
    done
}
