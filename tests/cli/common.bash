# Shared by the command-line tests. DTKB is the program under test, CASES the folder of logs with answers, ROOT the source tree.
: "${DTKB:?set by ctest}" "${ROOT:?set by ctest}"
CASES=$ROOT/tests/cases
unset DTKB_KB DTKB_PACK_PATH DTKB_PLUGIN_PATH NO_COLOR
export XDG_DATA_HOME=${BATS_TEST_TMPDIR:-/nonexistent}/data

# field JQ-FILTER: of the last run's output.
field() { jq -r "$1" <<<"$output"; }

# expect_status N: with the output shown when it is another.
expect_status() {
    [ "$status" -eq "$1" ] || {
        printf 'status %s, wanted %s:\n%s\n' "$status" "$1" "$output"
        return 1
    }
}

# one_line_error WORD...: the last run printed one line on stderr that names every word, and nothing else.
one_line_error() {
    [ "${#lines[@]}" -eq 1 ] || {
        printf 'not one line:\n%s\n' "$output"
        return 1
    }
    for word in "$@"; do
        [[ "$output" == *"$word"* ]] || {
            printf 'the error does not name %s: %s\n' "$word" "$output"
            return 1
        }
    done
}
