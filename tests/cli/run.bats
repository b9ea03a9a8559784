# dtkb run: the job unchanged, the diagnosis after a failure.
load common

@test "exit status, output bytes and stdin are the job's own" {
    run "$DTKB" run --probe none -- sh -c 'cat; exit 0' <<<"hello"
    expect_status 0
    [ "$output" = hello ]
    run "$DTKB" run --probe none -- sh -c 'exit 7'
    expect_status 7
    run "$DTKB" run --probe none -- sh -c 'kill -9 $$'
    expect_status 137
    run "$DTKB" run --probe none -- /nonexistent/program
    expect_status 127
    head -c 3000000 /dev/urandom >"$BATS_TEST_TMPDIR/bytes"
    "$DTKB" run --probe none -- cat "$BATS_TEST_TMPDIR/bytes" | cmp - "$BATS_TEST_TMPDIR/bytes"
}

@test "options of the job are the job's" {
    run "$DTKB" run --probe none -- echo --json -f x
    [ "$output" = "--json -f x" ]
    run "$DTKB" run --probe none echo --json
    [ "$output" = "--json" ]
}

@test "stdout and stderr stay apart, or in order when they go to one place" {
    "$DTKB" run --probe none -- sh -c 'echo out; echo err >&2' >"$BATS_TEST_TMPDIR/o" 2>"$BATS_TEST_TMPDIR/e"
    [ "$(cat "$BATS_TEST_TMPDIR/o")" = out ]
    [ "$(cat "$BATS_TEST_TMPDIR/e")" = err ]
    "$DTKB" run --probe none -- sh -c 'for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2; done' >"$BATS_TEST_TMPDIR/both" 2>&1
    [ "$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/both")" = "o1 e1 o2 e2 o3 e3 o4 e4 o5 e5 o6 e6 o7 e7 o8 e8 " ]
}

@test "a failing job is diagnosed after its output" {
    "$DTKB" run --probe none -- sh -c "cat '$CASES/real/badif.log'; exit 1" >"$BATS_TEST_TMPDIR/o" 2>"$BATS_TEST_TMPDIR/e" && false
    cmp "$BATS_TEST_TMPDIR/o" "$CASES/real/badif.log"
    grep -q "What to do" "$BATS_TEST_TMPDIR/e"
    run "$DTKB" run --probe none -o "$BATS_TEST_TMPDIR/report.json" --json -- sh -c "cat '$CASES/real/badif.log'; exit 1"
    expect_status 1
    [ "$(jq -r .verdict "$BATS_TEST_TMPDIR/report.json")" = fault ]
}

@test "SIGINT and SIGTERM reach the job" {
    for signal in INT TERM; do
        # A shell's background jobs ignore SIGINT; env restores the default.
        env --default-signal=INT "$DTKB" run --probe none -- sh -c "trap 'echo got $signal; exit 9' $signal; echo ready; while :; do sleep 0.05; done" >"$BATS_TEST_TMPDIR/o" 2>/dev/null &
        pid=$!
        for _ in $(seq 100); do
            grep -q ready "$BATS_TEST_TMPDIR/o" && break
            sleep 0.05
        done
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        [ "$status" -eq 9 ]
        grep -q "got $signal" "$BATS_TEST_TMPDIR/o"
    done
}

@test "a silent job is looked at while it goes on" {
    run "$DTKB" run --probe none --stall 0.3 -- sh -c 'echo begin; sleep 1; echo end'
    expect_status 0
    [[ "$output" == *"no output for"* ]]
    [[ "$output" == *"waits in"* ]]
    [[ "$output" == *end ]]
}

@test "a grandchild that keeps the pipe open does not hold us up" {
    start=$SECONDS
    run "$DTKB" run --probe none -- sh -c 'sleep 30 3>&- & echo done'
    expect_status 0
    [ $((SECONDS - start)) -lt 5 ]
}

@test "a real two-rank torch job" {
    /usr/bin/python3 -c 'import torch.distributed' 2>/dev/null || skip "python3-torch is not installed"
    PYTHON=/usr/bin/python3 run "$CASES/jobs/run.sh" crash 2
    plain=$status
    PYTHON=/usr/bin/python3 run "$DTKB" run --probe none -- "$CASES/jobs/run.sh" crash 2
    expect_status "$plain"
    [[ "$output" == *"What to do"* || "$output" == *"kind of trouble"* ]]
}

@test "on a terminal: the job sees one of the same size, and control-C reaches it once" {
    run python3 -B "$ROOT/tests/cli/terminal.py" "$DTKB"
    expect_status 0
    [ "$output" = fine ]
}

@test "a silent job: NCCL's RAS service is asked, and can't hold us up" {
    cat >"$BATS_TEST_TMPDIR/ras.py" <<'PY'
import socket, sys, time
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
one, _ = server.accept()
asked = one.makefile().readline()
one.sendall(b"NCCL version 2.24.3\nasked: " + asked.encode() + b"Job summary \x1b[31m 1 communicator INCOMPLETE\n")
if len(sys.argv) > 2:
    time.sleep(30)
one.sendall(b"x" * 200000)
PY
    for hold in "" hold; do
        rm -f "$BATS_TEST_TMPDIR/port"
        python3 "$BATS_TEST_TMPDIR/ras.py" "$BATS_TEST_TMPDIR/port" $hold 3>&- &
        server=$!
        until [ -s "$BATS_TEST_TMPDIR/port" ]; do sleep 0.05; done
        start=$SECONDS
        NCCL_RAS_ADDR=127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port") run "$DTKB" run --probe none --stall 0.3 -- sleep 1
        kill $server 2>/dev/null || true
        expect_status 0
        [ $((SECONDS - start)) -lt 15 ]
        [[ "$output" == *"NCCL RAS at 127.0.0.1:"* ]]
        [[ "$output" == *"asked: verbose status"* ]]
        [[ "$output" == *"INCOMPLETE"* && "$output" != *$'\e'* ]]
        [ "${#output}" -lt 100000 ]
    done
}
