# The mpi probe in real jobs of four ranks: all well; one rank missing, killed, stopped. Each is named by those that are left, in time.
load ../cli/common

setup() {
    command -v mpirun >/dev/null || skip "no mpirun"
    export TMPDIR=$BATS_TEST_TMPDIR OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Of a build with AddressSanitizer: Open MPI leaks, in modules that it has unloaded by the end, which no suppression can name; its processes
    # would end with an error for it. And one test puts a library before all others.
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0
    unset DTKB_KB DTKB_PACK_PATH
    cd "$BATS_TEST_TMPDIR"
    PROBE=("$DTKB" probe mpi --json -o 'rank-%r.json')
}

# Nothing of a job may be left: its processes carry our own mark in their environment.
teardown() {
    sleep 0.2
    for pid in $(marked 'dtkb|mpirun|sleep'); do
        echo "left: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
        kill -KILL "$pid"
        left=1
    done
    [ -z "${left:-}" ]
}

# marked WORD [RANK]: processes of this test whose command line has the word, of that rank.
marked() {
    for pid in $(pgrep -f -- "$1"); do
        grep -qzx "JOB_OF_TEST=$BATS_TEST_TMPDIR" "/proc/$pid/environ" 2>/dev/null || continue
        [ -z "${2:-}" ] || grep -qzx "OMPI_COMM_WORLD_RANK=$2" "/proc/$pid/environ" 2>/dev/null || continue
        echo "$pid"
    done
    return 0
}

# job ARGUMENT...: mpirun, at most 20 s.
job() {
    JOB_OF_TEST=$BATS_TEST_TMPDIR timeout 20 mpirun "$@" >job.log 2>&1 || true
}

# strike SIGNAL WORD RANK: once the collectives run.
strike() {
    for _ in $(seq 100); do
        sleep 0.05
        [ -n "$(marked dtkb-mpi-rank "$3")" ] || continue
        sleep 0.5
        kill "-$1" "$(marked "$2" "$3" | head -1)"
        return
    done
}

reason() { jq -r '.probes[0] | "\(.status): \(.reason)"' "rank-$1.json"; }
fact() { jq -r --arg name "$2" '.facts[] | select(.name == $name) | .value' "rank-$1.json"; }

# named RANKS TEXT FACT: each of these ranks gives the fault, and the fact names rank(s) $4.
named() {
    for rank in $1; do
        [[ "$(reason "$rank")" == "fault: "*"$2"* ]] || { reason "$rank"; cat job.log; return 1; }
        [ "$(fact "$rank" "$3")" = "$4" ]
    done
}

@test "four ranks: every collective verified, one report a rank" {
    job -np 4 "${PROBE[@]}"
    for rank in 0 1 2 3; do
        [ "$(reason $rank)" = "ok: " ]
        for collective in allreduce broadcast allgather reducescatter sendrecv; do
            [ "$(fact $rank mpi.$collective.status)" = ok ]
            for bytes in 8 65536 4194304; do
                jq -e --arg name mpi.$collective.$bytes.seconds '.facts[] | select(.name == $name) | .value > 0' rank-$rank.json
            done
        done
        [ "$(fact $rank mpi.world.size)" = 4 ]
        [ "$(jq -c '[.job.rank, .job.world_size]' rank-$rank.json)" = "[$rank,4]" ]
    done
}

@test "without a launcher it says how to start it, and starts a job when told the number of ranks" {
    "${PROBE[@]}"
    [[ "$(reason 0)" == "skipped: no launcher started this process"* ]]
    [ "$(jq .job rank-0.json)" = null ]
    "${PROBE[@]}" --set mpi.ranks=3
    [ "$(reason 0)" = "ok: " ]
    [ "$(fact 0 mpi.world.size)" = 3 ]
    run "${PROBE[@]}" --set mpi.ranks=3 --set mpi.trial=OMPI_MCA_pml=nosuch
    expect_status 1
    [[ "$(reason 0)" == "fault: MPI_Init failed"* ]]
}

@test "a change on trial reaches MPI in a job whose ranks have had their MPI_Init" {
    job -np 4 sh -c "'$DTKB' probe mpi --json -o first-%r.json && '$DTKB' probe mpi --json -o rank-%r.json --set mpi.trial=OMPI_MCA_pml=ob1"
    for rank in 0 1 2 3; do
        [ "$(reason $rank)" = "ok: " ]
    done
    job -np 2 "${PROBE[@]}" --set mpi.trial=OMPI_MCA_btl=self,tcp,OMPI_MCA_pml=nosuch
    named 0 "MPI_Init failed" mpi.init.status failed # rank 0 started it, and tells the others
    [[ "$(reason 1)" == "fault: "*"MPI_Init failed"* ]]
}

@test "a setting that MPI refuses on all ranks is a fault on all, not an aborted job" {
    OMPI_MCA_pml=nosuch job -np 3 -x OMPI_MCA_pml "${PROBE[@]}"
    named "0 1 2" "MPI_Init failed" mpi.init.status failed
}

@test "a wrong sum is told with rank, element and values, on every rank" {
    WRONG_RANK=2 LD_PRELOAD=$WRONG_SUM job -np 4 -x LD_PRELOAD -x WRONG_RANK "${PROBE[@]}"
    # Element 5 of the first large all-reduce: factor 5 + 3 (the third operation), times 1 + 2 + 3 + 4.
    named "0 1 2 3" "all-reduce of 64 KB gave a wrong result on rank 2: element 5 is 81, wanted 80" mpi.init.status ok
    [ "$(fact 2 mpi.allreduce.status)" = wrong-result ]
}

@test "a missing rank is named" {
    job -np 3 "${PROBE[@]}" --set mpi.arrive=2 : -np 1 sleep 15
    named "0 1 2" "rank 3 never arrived" mpi.missing_ranks 3
}

@test "a missing rank 0 is named" {
    job -np 1 sleep 15 : -np 3 "${PROBE[@]}" --set mpi.arrive=2
    named "1 2 3" "rank 0 never arrived" mpi.missing_ranks 0
}

@test "a killed MPI process is named, with its signal and the collective" {
    strike KILL dtkb-mpi-rank 2 &
    job -np 4 "${PROBE[@]}" --set mpi.rounds=400
    wait
    named "0 1 2 3" "rank 2: its MPI process was killed by signal 9" mpi.lost_ranks 2
}

@test "a killed rank is named" {
    strike KILL 'dtkb-probe-host run' 1 &
    job -np 4 "${PROBE[@]}" --set mpi.rounds=400
    wait
    named "0 2 3" "rank 1 ended in " mpi.lost_ranks 1
    [[ "$(reason 1)" == "crashed: "* ]]
}

@test "a stopped MPI process is named" {
    strike STOP dtkb-mpi-rank 3 &
    job -np 4 "${PROBE[@]}" --set mpi.rounds=400
    wait
    named "0 1 2 3" "rank 3: its MPI process is stopped" mpi.lost_ranks 3
}

@test "a stopped rank is named, rank 0 as well" {
    for victim in 3 0; do
        strike STOP 'dtkb-probe-host run' $victim &
        job -np 4 "${PROBE[@]}" --set mpi.rounds=400 --set mpi.silence=1.5
        wait
        others=$(for rank in 0 1 2 3; do [ $rank = $victim ] || echo $rank; done)
        named "$others" "rank $victim gave no sign of life" mpi.lost_ranks $victim
        rm -f rank-*.json
    done
}

@test "merged reports say who is missing, and whose environment differs" {
    "$DTKB" plugin list --json | jq -e '.plugins[] | select(.name == "env")' >/dev/null || skip "no env plugin"
    job -np 4 sh -c "[ \$OMPI_COMM_WORLD_RANK != 2 ] || export NCCL_SOCKET_IFNAME=eth7; exec '$DTKB' probe mpi env --json -o rank-%r.json"
    run "$DTKB" merge --json rank-3.json rank-0.json rank-2.json rank-1.json
    [ "$(field '.joined | [.reports, .world_size, (.without_report | length), ([.ranks[].rank] | join(","))] | join(" ")')" = "4 4 0 0,1,2,3" ]
    [ "$(field '[.differences[].fact] | join(" ")')" = env.var.NCCL_SOCKET_IFNAME ]
    [ "$(field '.differences[0].values | map([.value, .count] | map(tostring) | join(":")) | join(" ")')" = "null:3 eth7:1" ]
    [[ "$(field '.differences[0].values[1].reports[0]')" == "rank 2 on "* ]]
    first=$output
    run "$DTKB" merge --json rank-0.json rank-1.json rank-2.json rank-3.json
    [ "$output" = "$first" ]
    run "$DTKB" merge rank-0.json rank-2.json rank-3.json
    [[ "$output" == *"3 reports of a job of 4 ranks"*"gave no report: rank 1"*"env.var.NCCL_SOCKET_IFNAME"*"eth7 on rank 2 on "* ]]
    job -np 3 "${PROBE[@]}" --set mpi.arrive=1 : -np 1 sleep 15
    run "$DTKB" merge --json rank-0.json rank-1.json rank-2.json
    expect_status 1
    [ "$(field '.joined.missing_ranks | tostring')" = "[3]" ]
    [ "$(field '.probes | map(.status + " " + (.reports | length | tostring)) | join(",")')" = "fault 3" ]
}

@test "a setting that breaks MPI is found by trial, and what was there instead is told" {
    OMPI_MCA_btl=self OMPI_MCA_pml=ob1 job -np 2 -x OMPI_MCA_btl -x OMPI_MCA_pml "${PROBE[@]}" --try
    [[ "$(reason 0)" == "fault: "*"MPI_Init failed"* ]]
    [ "$(jq '[.trials[] | select(.works)] | length' rank-0.json)" = 1 ]
    jq -e '.trials[-1] | .works and .confirmed == 2 and .replaces == "self" and (.change | startswith("OMPI_MCA_btl="))' rank-0.json
}
