# dtkb probe rendezvous: what is wrong with the place where ranks meet, what is tried instead, and what that proves.
load ../cli/common

setup() {
    unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR SLURM_STEP_ID OMPI_COMM_WORLD_RANK TORCHELASTIC_USE_AGENT_STORE
    cd "$BATS_TEST_TMPDIR"
    # A port that nobody has, below those that outgoing connections take.
    export MASTER_PORT
    MASTER_PORT=$(python3 -c '
import random, socket
while True:
    port = random.randrange(15000, 19000)
    try:
        with socket.socket() as s, socket.socket() as t:
            s.bind(("", port)), t.bind(("", port + 1))
        print(port)
        break
    except OSError:
        pass')
}

teardown() { [ -z "${holder:-}" ] || kill "$holder" 2>/dev/null || true; }

# hold PORT: another process listens there.
hold() {
    python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_INET)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", int(sys.argv[1])))
s.listen()
print("there", flush=True)
time.sleep(100)' "$1" >held 3>&- &
    holder=$!
    for _ in $(seq 100); do
        [ -s held ] && return
        sleep 0.05
    done
    return 1
}

# ranks COUNT SIZE OPTION...: that many ranks of a job of SIZE on this host, reports in rank-N.json.
ranks() {
    local pids=() rank
    for rank in $(seq 0 $(($1 - 1))); do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$2 LOCAL_WORLD_SIZE=$2 "$DTKB" probe rendezvous --json -o "rank-$rank.json" "${@:3}" 3>&- &
        pids+=($!)
    done
    wait "${pids[@]}" || true
}
reason() { jq -r '.probes[0] | "\(.status): \(.reason)"' "rank-$1.json"; }
trials() { jq -r '.trials[]? | "\(.change) \(.works) \(.confirmed) \(.proves | join(","))"' "rank-$1.json"; }

@test "four ranks meet" {
    ranks 2 2
    [[ "$(reason 1)" == "skipped: MASTER_ADDR is not set"* ]]
    MASTER_ADDR=localhost ranks 4 4
    for rank in 0 1 2 3; do
        [ "$(reason $rank)" = "ok: " ]
    done
}

@test "without a launcher this process is a job of its own, unless the address is another host's" {
    run "$DTKB" probe rendezvous --json
    expect_status 0
    [ "$(field '.probes[0].status')" = ok ]
    MASTER_ADDR=198.51.100.7 run "$DTKB" probe rendezvous --json
    [[ "$(field '.probes[0] | "\(.status): \(.reason)"')" == "skipped: MASTER_ADDR=198.51.100.7 is another host"* ]]
}

@test "a port that is taken: another one is tried, which proves it" {
    hold "$MASTER_PORT"
    run "$DTKB" probe rendezvous --try --json
    expect_status 1
    [[ "$(field '.probes[0].reason')" == "rank 0 cannot listen at port $MASTER_PORT: another process"* ]]
    [ "$(field '.causes[0] | .id + " " + .verified')" = "master-port-in-use yes" ]
    [ "$(field '.trials[0] | "\(.change) \(.works) \(.confirmed) \(.replaces)"')" = "MASTER_PORT=$((MASTER_PORT + 1)) true 2 $MASTER_PORT" ]
}

@test "a port that is taken, by all ranks of a job, which try the same at the same time" {
    hold "$MASTER_PORT"
    MASTER_ADDR=127.0.0.1 ranks 3 3 --try
    for rank in 0 1 2; do
        [[ "$(reason $rank)" == "fault: rank 0 cannot listen at port $MASTER_PORT"* ]]
        [ "$(trials $rank)" = "MASTER_PORT=$((MASTER_PORT + 1)) true 2 master-port-in-use" ]
    done
}

@test "the log of a job that met a taken port, while it is still taken" {
    echo "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: $MASTER_PORT, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use" >train.log
    hold "$MASTER_PORT"
    run "$DTKB" diagnose --probe none --try --json train.log
    expect_status 1
    [ "$(field '.causes[0] | .id + " " + .verified')" = "master-port-in-use yes" ]
    kill "$holder"
    wait "$holder" 2>/dev/null || true
    run "$DTKB" diagnose --probe none --try --json train.log
    [ "$(field '.causes[0] | .id + " " + .verified')" = "master-port-in-use untested" ]
}

@test "an address that leads elsewhere: those of rank 0's host are tried" {
    MASTER_ADDR=198.51.100.7 ranks 2 2 --try
    for rank in 0 1; do
        [[ "$(reason $rank)" == "fault: "*"ranks 0,1"*"198.51.100.7"* ]] || { reason $rank; return 1; }
        [ "$(jq -r '.trials[-1] | "\(.change | startswith("MASTER_ADDR=")) \(.works) \(.confirmed)"' rank-$rank.json)" = "true true 2" ]
        [ "$(jq -r '.causes[] | select(.id == "master-address-wrong") | .verified' rank-$rank.json)" = yes ]
    done
}

@test "a name that does not resolve, and what is no port" {
    MASTER_ADDR=no-such-host.invalid ranks 2 2
    [[ "$(reason 1)" == "fault: MASTER_ADDR 'no-such-host.invalid' does not resolve for ranks 0,1" ]]
    MASTER_PORT=70000 run "$DTKB" probe rendezvous --json
    [ "$(field '.probes[0].reason')" = "MASTER_PORT is '70000', which is no port" ]
}

@test "a missing rank is named, and merged reports say so" {
    MASTER_ADDR=127.0.0.1 ranks 2 3 --set rendezvous.arrive=1
    for rank in 0 1; do
        [[ "$(reason $rank)" == "fault: the ranks did not meet: rank 2 never arrived"* ]]
    done
    run "$DTKB" merge --json rank-0.json rank-1.json
    [ "$(field '.joined.missing_ranks | tostring')" = "[2]" ]
}

@test "ranks whose MASTER_PORT differs are named" {
    MASTER_ADDR=127.0.0.1 RANK=0 LOCAL_RANK=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 "$DTKB" probe rendezvous --json -o rank-0.json 3>&- &
    MASTER_ADDR=127.0.0.1 RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_PORT=$((MASTER_PORT + 1)) \
        "$DTKB" probe rendezvous --json -o rank-1.json || true
    wait $! || true
    for rank in 0 1; do
        [[ "$(reason $rank)" == *"rank 0 has MASTER_PORT=$MASTER_PORT, rank 1 has MASTER_PORT=$((MASTER_PORT + 1))"* ]]
    done
}

@test "where torchrun's agent holds the store, its port is not taken from it" {
    hold "$MASTER_PORT"
    export TORCHELASTIC_USE_AGENT_STORE=True
    MASTER_ADDR=127.0.0.1 ranks 2 2
    [ "$(reason 0) $(reason 1)" = "ok:  ok: " ]
    kill "$holder"
    wait "$holder" 2>/dev/null || true
    MASTER_ADDR=127.0.0.1 ranks 2 2
    [[ "$(reason 1)" == "fault: nobody answers ranks 0,1 at 127.0.0.1"* ]]
}
