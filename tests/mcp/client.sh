#!/usr/bin/env bash
# The MCP server with the official Python SDK, installed into BUILD-FOLDER/mcp-venv. Usage: client.sh BUILD-FOLDER
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
venv=$build/mcp-venv
skip() { echo "skipped: mcp: $*" >&2; exit 77; }

if ! "$venv/bin/python" -c 'import mcp' 2>/dev/null; then
    python3 -m venv "$venv" >"$build/mcp-venv.log" 2>&1 || skip "no virtual environment: $(tail -n 1 "$build/mcp-venv.log")"
    "$venv/bin/pip" install -q --disable-pip-version-check 'mcp>=1.10,<3' >"$build/mcp-venv.log" 2>&1 || skip "the SDK could not be installed: $(tail -n 1 "$build/mcp-venv.log")"
fi
exec "$venv/bin/python" -B "$here/client.py" "$build/bin/dtkb" "$here/../cases/real/badif.log"
