#!/bin/sh
# Runs the plugin against dtkb's whole contract, and follows its fact to the cause in @NAME@.xml. Usage: test.sh [PLUGIN-FILE]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
plugin=${1:-$here/@FILE@}
dtkb=${DTKB:-dtkb}
export DTKB_PLUGIN_PATH=${plugin%/*}

"$dtkb" kb check "$here/@NAME@.xml" --json
"$dtkb" plugin check "$plugin" --pack "$here/@NAME@.xml"
# A fault found (status 1) would be the machine's, not the plugin's.
facts=$("$dtkb" probe @NAME@ --pack "$here/@NAME@.xml" --json) || [ $? -eq 1 ]
case $facts in
*'"@NAME@.load_per_core"'*) echo "the fact arrives" ;;
*) echo "the fact does not arrive: $facts" >&2; exit 1 ;;
esac
