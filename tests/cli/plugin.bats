# plugin list, info, check, new.
load common

setup() {
    work=$(mktemp -d)
    chmod 755 "$work"
    umask 022
    cd "$work"
}

teardown() {
    rm -rf "$work"
}

@test "list shows the bundled plugins, and json says the same" {
    run "$DTKB" plugin list
    expect_status 0
    [[ "$output" == *"libdtkb-probe-host.so"* ]]
    run "$DTKB" plugin list --json
    expect_status 0
    [ "$(field .schema)" = dtkb.plugins/1 ]
    [ "$(field '[.plugins[] | select(.name == "host")] | length')" = 1 ]
    [ "$(field '.plugins[] | select(.name == "host").status')" = loadable ]
}

@test "a plugin that others can write is listed with its reason, and not run" {
    "$DTKB" plugin new mine --lang sh >/dev/null
    chmod o+w dtkb-probe-mine/dtkb-probe-mine
    run "$DTKB" plugin list --plugin-path dtkb-probe-mine
    expect_status 0
    [[ "$output" == *"untrusted: "*"can be written by everybody"* ]]
    run "$DTKB" probe mine --plugin-path "$work/dtkb-probe-mine"
    expect_status 2
    [[ "$output" == *"probe 'mine' cannot be used: "*"can be written by everybody: chmod go-w"* ]]
}

@test "info shows facts; an unknown name is answered with those there are" {
    run "$DTKB" plugin info host
    expect_status 0
    [[ "$output" == *"facts: host."* ]]
    run "$DTKB" plugin info hots
    expect_status 2
    [[ "$output" == *"there is no plugin 'hots'; there are "*host* ]]
}

@test "a new plugin passes its check with its pack and fails without" {
    run "$DTKB" plugin new mine --lang python
    expect_status 0
    run "$DTKB" plugin check dtkb-probe-mine/dtkb-probe-mine.py --pack dtkb-probe-mine/mine.xml
    expect_status 0
    [[ "$output" == *"keeps the contract."* ]]
    run "$DTKB" plugin check dtkb-probe-mine/dtkb-probe-mine.py
    expect_status 1
    [[ "$output" == *"fact 'mine.load_per_core' is in no vocabulary"* ]]
    run "$DTKB" plugin check dtkb-probe-mine/dtkb-probe-mine.py --json
    expect_status 1
    [ "$(field .schema)" = dtkb.plugin-check/1 ]
    [ "$(field '.clauses[] | select(.id == "facts").result')" = fail ]
}

@test "mistakes are named" {
    for words in "new" "new Big" "new x --lang cobol" "check /nowhere/x.so" "info" "frobnicate"; do
        run "$DTKB" plugin $words
        expect_status 2
    done
    mkdir -p dtkb-probe-x && touch dtkb-probe-x/mine
    run "$DTKB" plugin new x
    expect_status 2
    [[ "$output" == *"not empty"* ]]
    [ "$(ls dtkb-probe-x)" = mine ]
}
