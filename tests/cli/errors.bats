# Bad input: one line that names the thing, the right exit status, no crash.
load common

@test "a missing file" {
    run "$DTKB" diagnose --probe none "$BATS_TEST_TMPDIR/nowhere.log"
    expect_status 2
    one_line_error nowhere.log "No such file"
}

@test "empty input" {
    : >"$BATS_TEST_TMPDIR/empty.log"
    run "$DTKB" diagnose --probe none "$BATS_TEST_TMPDIR/empty.log"
    expect_status 2
    one_line_error empty.log empty
}

@test "a binary file" {
    head -c 100000 /dev/urandom >"$BATS_TEST_TMPDIR/random.bin"
    run "$DTKB" diagnose --probe none "$BATS_TEST_TMPDIR/random.bin"
    expect_status 2
    one_line_error random.bin
}

@test "a directory without logs" {
    mkdir "$BATS_TEST_TMPDIR/none"
    run "$DTKB" diagnose --probe none "$BATS_TEST_TMPDIR/none"
    expect_status 2
    one_line_error none
}

@test "a KB that is no KB" {
    echo "hello" >"$BATS_TEST_TMPDIR/kb.db"
    run "$DTKB" diagnose --kb "$BATS_TEST_TMPDIR/kb.db" --probe none "$CASES/real/crash.log"
    expect_status 3
    one_line_error kb.db
    run "$DTKB" stats --kb "$BATS_TEST_TMPDIR/missing.db"
    expect_status 3
    one_line_error missing.db
}

@test "a KB of a newer schema" {
    cp "$(dirname "$DTKB")/../share/dtkb/kb.db" "$BATS_TEST_TMPDIR/kb.db"
    chmod u+w "$BATS_TEST_TMPDIR/kb.db"
    # user_version is the big-endian number at byte 60 of an SQLite file
    printf '\x7f\xff\xff\xff' | dd of="$BATS_TEST_TMPDIR/kb.db" bs=1 seek=60 conv=notrunc status=none
    run "$DTKB" stats --kb "$BATS_TEST_TMPDIR/kb.db"
    expect_status 3
    one_line_error kb.db newer
}

@test "a KB with damaged pages never crashes" {
    source_kb=$(dirname "$DTKB")/../share/dtkb/kb.db
    size=$(stat -c %s "$source_kb")
    for seed in 1 2 3 4 5 6; do
        cp "$source_kb" "$BATS_TEST_TMPDIR/kb.db"
        chmod u+w "$BATS_TEST_TMPDIR/kb.db"
        for i in $(seq 40); do
            printf '\xff\x00\x41' | dd of="$BATS_TEST_TMPDIR/kb.db" bs=1 seek=$(((i * 7919 * seed * 613) % (size - 200) + 100)) conv=notrunc status=none
        done
        run "$DTKB" diagnose --kb "$BATS_TEST_TMPDIR/kb.db" --probe none --json "$CASES/real/unused.log"
        [ "$status" -le 3 ]
    done
}

@test "a pack with a mistake on line 7" {
    cat >"$BATS_TEST_TMPDIR/bad.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<pack id="bad" version="1">
  <cause id="x-1" symptom="training-evaluation/hang" fix="fix-network-setting">
    <title>t</title>
    <explanation>e</explanation>
    <signature id="s" strength="proof">
      <literl>some literal text</literl>
      <sample>some literal text</sample>
      <near-miss>other</near-miss>
    </signature>
    <remedies><remedy><text>Do.</text></remedy></remedies>
    <links><link url="https://example.org/">x</link></links>
  </cause>
</pack>
XML
    run "$DTKB" kb check "$BATS_TEST_TMPDIR/bad.xml"
    expect_status 1
    [[ "$output" == *bad.xml:7* ]]
    run "$DTKB" diagnose --pack "$BATS_TEST_TMPDIR/bad.xml" --probe none "$CASES/real/crash.log"
    expect_status 2
    one_line_error bad.xml:7
}

@test "wrong usage" {
    run "$DTKB" diagnose --format yaml x
    expect_status 2
    [[ "$output" == *yaml* ]]
    run "$DTKB" diagnose --frobnicate
    expect_status 2
    one_line_error frobnicate
    run "$DTKB" fly
    expect_status 2
    one_line_error fly
    run "$DTKB"
    expect_status 2
    run "$DTKB" diagnose --timeout -3 x
    expect_status 2
    run "$DTKB" show
    expect_status 2
    run "$DTKB" show nothing-such
    expect_status 2
    one_line_error nothing-such
    run "$DTKB" stats -f sarif
    expect_status 2
}

@test "an unwritable output is an error" {
    run "$DTKB" stats -o /nonexistent/folder/file
    expect_status 2
    [ -e /dev/full ] || skip "no /dev/full"
    run bash -c '"$1" taxonomy >/dev/full' _ "$DTKB"
    expect_status 2
}

@test "every verb explains itself with an example" {
    run "$DTKB" --help
    expect_status 0
    for verb in diagnose run probe search show explain stats taxonomy kb plugin mcp collect merge; do
        run "$DTKB" $verb --help
        expect_status 0
        [[ "$output" == *"Example:"* ]]
    done
    run "$DTKB" --version
    [[ "$output" =~ ^dtkb\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}
