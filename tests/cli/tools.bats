# What other tools use: the MCP server, the Python package, the manual.
load common

ask() { printf '%s\n' "$@" | "$DTKB" mcp; }

@test "mcp: initialise, list, call, read" {
    run ask '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
        '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' \
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"diagnose","arguments":{"log":"[rank0]: RuntimeError: Distributed package doesn'"'"'t have NCCL built in\nrank 0 exit code 1"}}}' \
        '{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"dtkb://taxonomy"}}'
    expect_status 0
    [ "${#lines[@]}" -eq 4 ]
    [ "$(jq -r .result.serverInfo.name <<<"${lines[0]}")" = dtkb ]
    [ "$(jq -r '[.result.tools[].name] | sort | join(" ")' <<<"${lines[1]}")" = "diagnose explain probe search show" ]
    [ "$(jq -r '.result.content[0].text | fromjson | .verdict' <<<"${lines[2]}")" = fault ]
    [ "$(jq -r '.result.contents[0].text | fromjson | .schema' <<<"${lines[3]}")" = dtkb.taxonomy/1 ]
}

@test "mcp: errors are errors, and malformed requests don't end it" {
    run ask 'this is not json' '[]' '{"id":1}' '{"jsonrpc":"2.0","id":2,"method":"nosuch"}' \
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nosuch"}}' \
        '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"show","arguments":{"id":"nosuch"}}}' \
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"search","arguments":{}}}' \
        '{"jsonrpc":"2.0","id":6,"method":"ping"}'
    expect_status 0
    [ "${#lines[@]}" -eq 8 ]
    [ "$(jq .error.code <<<"${lines[0]}")" = -32700 ]
    [ "$(jq .error.code <<<"${lines[3]}")" = -32601 ]
    [ "$(jq .error.code <<<"${lines[4]}")" = -32602 ]
    [ "$(jq .result.isError <<<"${lines[5]}")" = true ]
    [ "$(jq .result.isError <<<"${lines[6]}")" = true ]
    [ "$(jq -c .result <<<"${lines[7]}")" = "{}" ]
}

python() { PYTHONPATH=$ROOT/tools/python PYTHONDONTWRITEBYTECODE=1 DTKB_LIBRARY=$(dirname "$DTKB")/../lib/libdtkb.so.0 python3 "$@"; }

@test "python: diagnose, search, errors" {
    run python - "$CASES/real/badif.log" <<'PY'
import sys, dtkb
report = dtkb.diagnose(open(sys.argv[1]).read())
assert report["verdict"] == "fault", report["verdict"]
assert dtkb.search("libcudart", limit=2)["hits"], "nothing found"
assert "What to do" in dtkb.Engine().diagnose(path=sys.argv[1], form="text")
try:
    dtkb.show("nosuch")
except dtkb.Error as error:
    assert "nosuch" in str(error) and error.status
else:
    raise SystemExit("no error")
print("fine")
PY
    expect_status 0
    [ "$output" = fine ]
}

@test "python: the excepthook adds the diagnosis after the traceback" {
    run python -c 'import dtkb; dtkb.install_excepthook(); raise RuntimeError("Default process group has not been initialized, please make sure to call init_process_group.")'
    expect_status 1
    [[ "$output" == *"Traceback"*"---- dtkb ----"*"What to do"* ]]
}

@test "python: torch's error file carries the diagnosis" {
    /usr/bin/python3 -c 'import torch.distributed' 2>/dev/null || skip "python3-torch is not installed"
    cat >"$BATS_TEST_TMPDIR/train.py" <<'PY'
import dtkb
dtkb.install_elastic_hook()
from torch.distributed.elastic.multiprocessing.errors import record
@record
def main():
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="env://")
main()
PY
    TORCHELASTIC_ERROR_FILE=$BATS_TEST_TMPDIR/error.json PYTHONPATH=$ROOT/tools/python DTKB_LIBRARY=$(dirname "$DTKB")/../lib/libdtkb.so.0 \
        run env -u RANK -u WORLD_SIZE PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$BATS_TEST_TMPDIR/train.py"
    [ "$status" -ne 0 ]
    [ "$(jq -r .dtkb.verdict "$BATS_TEST_TMPDIR/error.json")" = fault ]
}

@test "the README's recipes parse and name options that exist" {
    run /usr/bin/python3 -B "$ROOT/tests/cli/recipes.py" "$ROOT/README.md" "$DTKB"
    expect_status 0
    [ "$output" = fine ]
}
