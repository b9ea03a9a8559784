#!/bin/sh
# The contract, then the way from the machine to the cause. Usage: test.sh PLUGIN-FILE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
plugin=$1
dtkb=${DTKB:-dtkb}
export DTKB_PLUGIN_PATH=${plugin%/*}

"$dtkb" kb check "$here/clocksource.xml" --json
"$dtkb" plugin check "$plugin" --pack "$here/clocksource.xml"

# The log alone makes the cause strong; the fact moves it up or down.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:" >"$log"
report=$("$dtkb" diagnose "$log" --pack "$here/clocksource.xml" --probe clocksource --json) || [ $? -eq 1 ]
for word in '"clocksource-fallback"' '"clocksource.slow"'; do
    case $report in
    *"$word"*) echo "$word is in the report" ;;
    *) echo "$word is not in the report: $report" >&2; exit 1 ;;
    esac
done
