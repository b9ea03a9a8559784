# search, show, explain, stats, taxonomy, kb.
load common

@test "stats are the study's" {
    run "$DTKB" stats --json
    expect_status 0
    [ "$(field .totals.issues)" = 1131 ]
    [ "$(field .totals.faults)" = 637 ]
    [ "$(field .totals.how_to)" = 494 ]
    [ "$(field .totals.threads)" = 1070 ]
    [ "$(field '.symptoms | length')" = 30 ]
    [ "$(field '[.symptoms[].count] | add')" = 637 ]
    [ "$(field '.symptoms[] | select(.id == "training-evaluation/hang").count')" = 44 ]
    [ "$(field '.symptoms[] | select(.id == "communication-setup/setup-failure").count')" = 85 ]
    [ "$(field '.symptoms[] | select(.id == "build-import/import-error").count')" = 31 ]
    [ "$(field '.symptoms[] | select(.id == "training-evaluation/out-of-memory").count')" = 21 ]
}

@test "a search finds the thread" {
    run "$DTKB" search --json "libcudart cannot open shared object"
    expect_status 0
    [[ " $(field '[.hits[:3][].url] | join(" ")') " == *"horovod/issues/1370 "* ]]
}

@test "any text is a valid query" {
    for query in 'NCCL connection refused "unlike' '"' '(' 'a AND' 'OR OR' '*' '-' 'title:' $'\xff\xfe' "'; drop table issue; --" 'NEAR(a b' '^x' 'a:b:c' \
        'RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:54455'; do
        run "$DTKB" search --json "$query"
        [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || { echo "$query: $status $output"; return 1; }
        [[ "$output" != *"syntax error"* ]]
    done
    run "$DTKB" search --json 'NCCL connection refused "unlike'
    expect_status 0
}

@test "filters narrow, and one that matches nothing is an error" {
    run "$DTKB" search --json --framework pytorch --kind fault hang
    expect_status 0
    [ "$(field '[.hits[] | select(.framework != "pytorch")] | length')" -eq 0 ]
    run "$DTKB" search --framework nosuch hang
    expect_status 2
    one_line_error nosuch
    run "$DTKB" search --symptom training-evaluation/nosuch hang
    expect_status 2
}

@test "an issue by id and by URL; unread ones say so" {
    run "$DTKB" show horovod-1370 --json
    expect_status 0
    url=$(field .url)
    [ "$url" = https://github.com/horovod/horovod/issues/1370 ]
    run "$DTKB" show "$url" --json
    [ "$(field .id)" = horovod-1370 ]
    run "$DTKB" show horovod-1370
    [[ "$output" == *"$url"* ]]
}

@test "every cause explains itself" {
    run "$DTKB" explain shm-too-small-nccl
    expect_status 0
    [[ "$output" == *"--shm-size"* ]]
    run "$DTKB" explain nosuch
    expect_status 2
    one_line_error nosuch
}

@test "the taxonomy has its 30 symptoms, each defined" {
    run "$DTKB" taxonomy --json
    expect_status 0
    [ "$(field '[.stages[].symptoms[]] | length')" -eq 30 ]
    [ "$(field '[.stages[].symptoms[] | select((.definition | length) < 20)] | length')" -eq 0 ]
}

@test "documents read well as text too" {
    for verb in stats taxonomy "kb info" "search hang" "show horovod-1370"; do
        run "$DTKB" $verb
        expect_status 0
        [ "${#lines[@]}" -ge 2 ]
        [[ "$output" != "{"* ]]
    done
}

@test "the knowledge is clean, and the KB is built the same twice" {
    run "$DTKB" kb check "$ROOT/kb" --json
    expect_status 0
    "$DTKB" kb build "$ROOT/kb" -o "$BATS_TEST_TMPDIR/a.db"
    "$DTKB" kb build "$ROOT/kb" -o "$BATS_TEST_TMPDIR/b.db"
    cmp "$BATS_TEST_TMPDIR/a.db" "$BATS_TEST_TMPDIR/b.db"
}

@test "a pack's cause is found, explained, and overrides" {
    cat >"$BATS_TEST_TMPDIR/mine.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<pack id="mine" version="1">
  <cause id="frobnicator-offline" symptom="communication-setup/setup-failure" fix="fix-network-setting">
    <title>The frobnicator is offline</title>
    <explanation>Our own gateway.</explanation>
    <signature id="offline" strength="proof">
      <regex>frobnicator (?&lt;name&gt;\S+) is offline</regex>
      <sample>error: frobnicator f-7 is offline</sample>
      <near-miss>frobnicator f-7 is online</near-miss>
    </signature>
    <remedies><remedy><text>Switch it on.</text><command>frob --on</command></remedy></remedies>
    <links><link url="https://example.org/frob">handbook</link></links>
  </cause>
</pack>
XML
    printf 'RANK=0 WORLD_SIZE=2 torchrun train.py\n[rank0]: error: frobnicator f-9 is offline\nrank 0 exit code 1\n' >"$BATS_TEST_TMPDIR/log"
    run "$DTKB" kb check "$BATS_TEST_TMPDIR/mine.xml"
    expect_status 0
    run "$DTKB" diagnose --pack "$BATS_TEST_TMPDIR/mine.xml" --probe none --json "$BATS_TEST_TMPDIR/log"
    expect_status 1
    [ "$(field '.causes[0].id')" = frobnicator-offline ]
    [ "$(field '.causes[0].evidence[0].fields.name')" = f-9 ]
    DTKB_PACK_PATH=$BATS_TEST_TMPDIR run "$DTKB" explain frobnicator-offline
    expect_status 0
}

@test "reports beyond the study are found, shown with their log and counted apart" {
    run "$DTKB" search --json --kind report "ibv_modify_qp failed"
    expect_status 0
    id=$(field '.hits[0].id')
    [[ "$id" == report-* ]]
    run "$DTKB" show "$id"
    expect_status 0
    [[ "$output" == *"The terminal showed"* && "$output" == *ibv_modify_qp* ]]
    run "$DTKB" stats --json
    [ "$(field .totals.reports)" -gt 500 ]
    [ "$(field '.evidence | map(.count) | add')" = 1131 ]
}
