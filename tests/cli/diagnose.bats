# The main job on real logs: right symptom, right rank, right exit status.
load common

@test "every real failed job: an acceptable symptom first, and the right rank" {
    local wrong=0 index=$CASES/real/index.json
    for i in $(seq 0 $(($(jq length "$index") - 1))); do
        file=$(jq -r ".[$i].file" "$index")
        run "$DTKB" diagnose --probe none --json "$CASES/real/$file"
        if [ "$(jq ".[$i].symptoms | length" "$index")" -eq 0 ]; then
            expect_status 0
            [ "$(field .verdict)" = no-fault ]
            continue
        fi
        expect_status 1
        jq -e --argjson case "$(jq ".[$i]" "$index")" '.symptoms[0].id as $s | $case.symptoms | index($s) != null' <<<"$output" >/dev/null || {
            echo "$file: $(field '.symptoms[0].id')"
            wrong=$((wrong + 1))
        }
        jq -e --argjson case "$(jq ".[$i]" "$index")" '$case.first_failing_rank == null or .first_failing_rank == $case.first_failing_rank' <<<"$output" >/dev/null || {
            echo "$file: rank $(field .first_failing_rank)"
            wrong=$((wrong + 1))
        }
    done
    [ "$wrong" -eq 0 ]
}

@test "the report keeps to its schema" {
    python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
    for log in "$CASES"/real/*.log; do
        "$DTKB" diagnose --probe none --explain-scores --json "$log" >"$BATS_TEST_TMPDIR/report.json" || [ $? -eq 1 ]
        python3 - "$ROOT/engine/report.schema.json" "$BATS_TEST_TMPDIR/report.json" <<'PY'
import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
PY
    done
}

@test "standard input, a directory and several files are read like one file" {
    run "$DTKB" diagnose --probe none --json - <"$CASES/real/badif.log"
    expect_status 1
    from_stdin=$(field '.causes[0].id')
    run "$DTKB" diagnose --probe none --json "$CASES/real/badif.log"
    [ "$(field '.causes[0].id')" = "$from_stdin" ]
    mkdir "$BATS_TEST_TMPDIR/logs"
    cp "$CASES/real/badif.log" "$BATS_TEST_TMPDIR/logs/rank_1.log"
    cp "$CASES/real/twice.log" "$BATS_TEST_TMPDIR/logs/rank_0.log"
    run "$DTKB" diagnose --probe none --json "$BATS_TEST_TMPDIR/logs"
    expect_status 1
    [ "$(field '.causes[0].id')" = "$from_stdin" ]
    [ "$(field '.first_failing_rank')" = 1 ]
    gzip -k "$BATS_TEST_TMPDIR/logs/rank_1.log"
    run "$DTKB" diagnose --probe none --json "$BATS_TEST_TMPDIR/logs/rank_1.log.gz"
    [ "$(field '.causes[0].id')" = "$from_stdin" ]
}

@test "of one file per rank without time stamps, the rank that began it is told and shown first" {
    mkdir "$BATS_TEST_TMPDIR/ranks"
    for rank in 0 2; do
        printf 'step 10 loss 2.1\nTraceback (most recent call last):\n  File "/opt/app/t.py", line 7, in <module>\n    loss.backward()\nRuntimeError: [/opt/gloo/transport/tcp/pair.cc:561] Connection closed by peer [127.0.0.1]:37255\n' >"$BATS_TEST_TMPDIR/ranks/rank_$rank.log"
    done
    printf 'step 10 loss 2.1\nTraceback (most recent call last):\n  File "/opt/app/t.py", line 6, in <module>\n    x = batch["input_ids"]\nKeyError: %s\n' "'input_ids'" >"$BATS_TEST_TMPDIR/ranks/rank_1.log"
    run "$DTKB" diagnose --probe none --json "$BATS_TEST_TMPDIR/ranks"
    expect_status 1
    [ "$(field .first_failing_rank)" = 1 ]
    [ "$(field '.causes[0].evidence[0].rank')" = 1 ]
    printf 'step 10 loss 2.1\n' >"$BATS_TEST_TMPDIR/ranks/rank_1.log"
    run "$DTKB" diagnose --probe none --json "$BATS_TEST_TMPDIR/ranks"
    expect_status 1
    [ "$(field .first_failing_rank)" = 1 ]
    [ "$(field '.causes[0].id')" = rank-gone-silently ]
}

@test "an issue that only shares common words with the log is not called similar" {
    run "$DTKB" diagnose --probe none --json "$CASES/real/badif.log"
    expect_status 1
    jq -e '(.similar | length) > 0 and all(.similar[]; .likeness >= 0.25 and .likeness <= 1)' <<<"$output" >/dev/null
    run "$DTKB" diagnose --probe none --json "$CASES/real/crash.log"
    expect_status 1
    [ "$(field '.similar | length')" -eq 0 ]
    run "$DTKB" diagnose --probe none "$CASES/real/crash.log"
    [[ "$output" != *"Who had it before"* ]]
}

@test "the same input gives the same bytes in json, sarif and junit" {
    for format in json sarif junit markdown html github; do
        "$DTKB" diagnose --probe none -f $format "$CASES/real/unused.log" >"$BATS_TEST_TMPDIR/a" || true
        "$DTKB" diagnose --probe none -f $format "$CASES/real/unused.log" >"$BATS_TEST_TMPDIR/b" || true
        [ -s "$BATS_TEST_TMPDIR/a" ]
        cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
    done
}

@test "sarif of a traceback points to the user's own line" {
    run "$DTKB" diagnose --probe none -f sarif "$CASES/real/nccl.log"
    [ "$(field '.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri')" = file:///opt/app/t.py ]
    [ "$(field '.runs[0].results[0].locations[0].physicalLocation.region.startLine')" = 3 ]
}

@test "text is plain when piped, coloured when asked" {
    run "$DTKB" diagnose --probe none "$CASES/real/badif.log"
    [[ "$output" != *$'\033'* ]]
    [[ "$output" == *"What to do"* ]]
    run "$DTKB" diagnose --probe none --color always "$CASES/real/badif.log"
    [[ "$output" == *$'\033['* ]]
}

@test "a log's own escapes never reach the terminal" {
    printf 'Traceback (most recent call last):\n  File "/opt/app/t.py", line 3, in <module>\nRuntimeError: NCCL error \033]0;owned\007 unhandled system error\n' >"$BATS_TEST_TMPDIR/evil.log"
    run "$DTKB" diagnose --probe none "$BATS_TEST_TMPDIR/evil.log"
    [[ "$output" != *$'\033'* && "$output" != *$'\007'* ]]
}

@test "secrets of a log stay out of every report and bundle" {
    printf '[rank0]: RuntimeError: NCCL error in login token=hf_abcdefghijklmnopqrstuv: unhandled system error\nrank 0 exit code 1\n' >"$BATS_TEST_TMPDIR/secret.log"
    for format in text json markdown html sarif junit github; do
        run "$DTKB" diagnose --probe none -f $format "$BATS_TEST_TMPDIR/secret.log"
        [[ "$output" != *hf_abcdefghij* ]]
    done
    run "$DTKB" collect --probe none "$BATS_TEST_TMPDIR/secret.log" -o "$BATS_TEST_TMPDIR/bundle.json"
    expect_status 0
    ! grep -q hf_abcdefghij "$BATS_TEST_TMPDIR/bundle.json"
}

@test "a bundle answers as the log does" {
    for log in crash unused badif mpislots; do
        rm -f "$BATS_TEST_TMPDIR/bundle.json"
        "$DTKB" collect --probe none "$CASES/real/$log.log" -o "$BATS_TEST_TMPDIR/bundle.json" 2>/dev/null
        "$DTKB" diagnose --probe none --json "$CASES/real/$log.log" >"$BATS_TEST_TMPDIR/a" || true
        "$DTKB" diagnose --json --from "$BATS_TEST_TMPDIR/bundle.json" >"$BATS_TEST_TMPDIR/b" || true
        cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
    done
}

@test "reports merge, and the faulty one decides" {
    "$DTKB" diagnose --probe none --json "$CASES/real/twice.log" >"$BATS_TEST_TMPDIR/0.json"
    "$DTKB" diagnose --probe none --json "$CASES/real/badif.log" >"$BATS_TEST_TMPDIR/1.json" || true
    run "$DTKB" merge --json "$BATS_TEST_TMPDIR/0.json" "$BATS_TEST_TMPDIR/1.json"
    expect_status 1
    [ "$(field '.input | length')" -eq 2 ]
    [ "$(field .verdict)" = fault ]
    echo '{"schema": "other"}' >"$BATS_TEST_TMPDIR/2.json"
    run "$DTKB" merge "$BATS_TEST_TMPDIR/2.json"
    expect_status 2
}

@test "monitoring systems get their exit status" {
    run "$DTKB" diagnose --probe none --nagios "$CASES/real/twice.log"
    expect_status 0
    run "$DTKB" diagnose --probe none --nagios "$CASES/real/badif.log"
    expect_status 2
    run "$DTKB" diagnose --probe none --nagios /nonexistent
    expect_status 3
}

@test "old knowledge is marked old" {
    printf 'NCCL version 2.21.5+cuda12.4\nnode-1:1:9 [0] NCCL WARN Call to connect failed : Connection timed out\n[rank0]: horovod.common.exceptions.HorovodInternalError: ncclCommInitRank failed: unhandled system error\nrank 0 exit code 1\n' >"$BATS_TEST_TMPDIR/new.log"
    run "$DTKB" diagnose --probe none --json "$BATS_TEST_TMPDIR/new.log"
    expect_status 1
    [ "$(field '.versions.nccl')" = 2.21.5+cuda12.4 ]
    [ "$(field '[.similar[] | select(.older_than_here) | .versions[] | select(.component == "nccl" and .detected != null)] | length')" -ge 1 ]
    run "$DTKB" diagnose --probe none "$BATS_TEST_TMPDIR/new.log"
    [[ "$output" == *"(here 2.21.5+cuda12.4)"* && "$output" == *"may be fixed since"* ]]
}

@test "a report is old by the versions in its log, not by the Python in its paths" {
    local entry='source="other" framework="pytorch" kind="report" evidence="full" symptom="training-evaluation/hang"'
    {
        printf '<?xml version="1.0" encoding="UTF-8"?>\n<pack id="zz" version="1">\n'
        printf '<issue id="zz-torch" url="https://example.org/1" %s><log>torch==1.2.0\nRuntimeError: zzflux quagga wombat</log></issue>\n' "$entry"
        printf '<issue id="zz-python" url="https://example.org/2" %s><log>File "/opt/lib/python3.6/x.py", line 1\nRuntimeError: zzflux quagga wombat</log></issue>\n' "$entry"
        printf '</pack>\n'
    } >"$BATS_TEST_TMPDIR/zz.xml"
    printf 'torch==2.9.0\nTraceback (most recent call last):\n  File "/opt/lib/python3.11/x.py", line 1, in f\nRuntimeError: zzflux quagga wombat\n' >"$BATS_TEST_TMPDIR/zz.log"
    run "$DTKB" diagnose --probe none --pack "$BATS_TEST_TMPDIR/zz.xml" --json "$BATS_TEST_TMPDIR/zz.log"
    [ "$(field '.similar[] | select(.id == "zz-torch") | .older_than_here')" = true ]
    [ "$(field '.similar[] | select(.id == "zz-python") | .older_than_here')" = false ]
    [ "$(field '.similar[] | select(.id == "zz-python") | .versions[0].about')" = 3.6 ]
}

@test "sarif and junit keep the rules of their formats" {
    cd "$CASES"
    for log in real/*.log healthy/a*.log noise/p*.log; do
        for probe in none net,host; do
            name=$BATS_TEST_TMPDIR/${probe%%,*}-$(basename "$log")
            "$DTKB" diagnose --probe $probe -f sarif -o "$name.sarif" "$log" || [ $? -eq 1 ]
            "$DTKB" diagnose --probe $probe -f junit -o "$name.xml" "$log" || [ $? -eq 1 ]
        done
    done
    "$DTKB" probe -f junit -o "$BATS_TEST_TMPDIR/probes.xml" || [ $? -eq 1 ]
    run /usr/bin/python3 -B "$ROOT/tests/cli/formats/formats.py" "$BATS_TEST_TMPDIR"/*.sarif "$BATS_TEST_TMPDIR"/*.xml
    expect_status 0
    [ -z "$output" ]
    # The rules are not toothless.
    sed 's/"level": "error"/"level": "fatal"/' "$BATS_TEST_TMPDIR/none-badif.log.sarif" >"$BATS_TEST_TMPDIR/bad.sarif"
    sed 's/failures="[0-9]*"/failures="9"/' "$BATS_TEST_TMPDIR/none-badif.log.xml" >"$BATS_TEST_TMPDIR/bad.xml"
    for bad in bad.sarif bad.xml; do
        run /usr/bin/python3 -B "$ROOT/tests/cli/formats/formats.py" "$BATS_TEST_TMPDIR/$bad"
        expect_status 1
    done
}

@test "of merged ranks the one that began it decides, not those that lost their peer" {
    printf 'torchrun\nRuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:54455\nrank 0 exit code 1\n' >"$BATS_TEST_TMPDIR/0.log"
    printf 'torchrun\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 79.10 GiB total capacity)\nrank 1 exit code 1\n' >"$BATS_TEST_TMPDIR/1.log"
    for rank in 0 1; do
        "$DTKB" diagnose --probe none --json "$BATS_TEST_TMPDIR/$rank.log" >"$BATS_TEST_TMPDIR/$rank.json" || [ $? -eq 1 ]
    done
    alone=$(jq '.causes[] | select(.id == "peer-connection-lost").confidence' "$BATS_TEST_TMPDIR/0.json")
    run "$DTKB" merge --json "$BATS_TEST_TMPDIR/0.json" "$BATS_TEST_TMPDIR/1.json"
    [ "$(field '.causes[0].id')" = gpu-oom ]
    [ "$(field .first_failing_rank)" = 1 ]
    [ "$(field ".causes[] | select(.id == \"peer-connection-lost\").confidence < $alone / 2")" = true ]
}
